//! The API server's room: its objects and its watch stream. `form` writes to it.

mod form;

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::density::cells;
use super::drops::Drops;
use super::frame::{self, Frame, rv, rv_if_any, versions};
use super::layout::{Layout, fit, size_of};
use super::parts::{either, list, maybe, part, refilled, shown, text};
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::fact::EventType;
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::{Command, FAULTS};
use deltascope_presentation::rows::api::{
    ApiRows, CallRow, ObjectRow, StreamRow, draft, has_called, rows, verb,
};
use deltascope_presentation::rows::density::Field;
use deltascope_presentation::rows::reflector::pipe;
use deltascope_presentation::rows::{freshness_class, hue_of, type_class};
use deltascope_presentation::session::typed;
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::{self, Strings, behind, spoken};
use deltascope_replay::picture::{Delivery, SourceKind};
use deltascope_world::source::pod::PodSpec;
use form::PodForm;

// Heights of an object (with a mouse, with a finger), of its gap and of a stream line; keep in step with
// style/api.css.
const OBJECT: f64 = 30.0;
const TOUCHED: f64 = 44.0;
const OBJECT_GAP: f64 = 5.5;
const LINE: f64 = 24.0;
/// How many lines the stream shows when only some rooms are shown: the stream is low then, and scrolls.
const HELD_LINES: usize = 24;

/// The form that is open.
#[derive(Clone, PartialEq)]
enum Form {
    Create,
    Edit(PodSpec),
}

#[component]
pub(super) fn Api() -> impl IntoView {
    let ui = Ui::get();
    let objects_box = NodeRef::<html::Div>::new();
    let stream_box = NodeRef::<html::Div>::new();
    let objects_size = size_of(objects_box);
    let stream_size = size_of(stream_box);
    let layout = Layout::get();
    let all = RwSignal::new(false);
    let capacity = Memo::new(move |_| {
        if all.get() {
            return usize::MAX;
        }
        let each = if layout.narrow.get() { TOUCHED } else { OBJECT };
        fit(objects_size.get().1, each, OBJECT_GAP, 5)
    });
    let program = ui.memo(|view| view.picture.api.source == SourceKind::Program);
    let few = Memo::new(move |_| layout.panels.with(|rooms| !rooms.is_empty()));
    let lines = Memo::new(move |_| {
        // A program's calls are pressed.
        let pressed = program.get() && layout.narrow.get();
        let each = if pressed { TOUCHED } else { LINE };
        let fit = fit(stream_size.get().1, each, 0.0, 6);
        match (few.get(), layout.presenter.on.get()) {
            // Nobody scrolls in front of a class: what is shown is whole.
            (true, true) => fit.max(2),
            (true, false) => fit.max(HELD_LINES),
            (false, _) => fit,
        }
    });
    let room = Memo::new(move |_| {
        let (capacity, lines) = (capacity.get(), lines.get());
        ui.view.with(|view| rows(view, capacity, lines))
    });
    let source = Memo::new(move |_| room.with(|room| room.source));
    // A story asks for writes and faults in its goal, and until then they are words that it has not explained.
    let before_goal = ui.memo(|view| {
        view.story
            .as_ref()
            .is_some_and(|story| story.goal.is_none() || story.comes)
    });
    let chosen = RwSignal::new(None::<Key>);
    let form = RwSignal::new(None::<Form>);
    let run = ui.memo(|view| (Arc::clone(&view.lesson.id), view.anew));
    effect(move || {
        // Another lesson, or all anew: nothing is chosen in it. Only what is read is computed.
        run.with(|_| ());
        form.set(None);
        chosen.set(None);
        all.set(false);
    });
    let target = Memo::new(move |_| {
        let chosen = chosen.get()?;
        let draft = ui.view.with(|view| draft(view, &chosen))?;
        Some((chosen, draft))
    });
    // What to do first, until an object can be written.
    let missing = Memo::new(move |_| {
        let (has_called, all_gone) = ui.view.with(|view| {
            let objects = &view.picture.api.objects;
            let all_gone = !objects.is_empty() && objects.values().all(|object| object.deleted);
            (has_called(view), all_gone)
        });
        let words = ui.words();
        let first = match (program.get(), has_called, all_gone) {
            (true, true, _) => words.choose_call_first,
            (true, false, _) => words.call_first,
            (false, _, true) => words.create_first,
            (false, _, false) => words.choose_first,
        };
        target.with(Option::is_none).then_some(first)
    });
    let title = text(move || strings::source(ui.lang.get(), source.get()));
    let gauge = Memo::new(move |_| room.with(|room| room.rv.clone()));
    let shown_gauge = move || {
        (!program.get()).then(|| {
            view! {
                <span
                    class="gauge"
                    role="group"
                    data-anchor=Anchor::ServerGauge.to_string()
                    title=text(move || {
                        spoken::parts([ui.words().server_rv, &*gauge.with(|rv| rv.said())])
                    })
                >
                    "rv " <b>{rv_if_any(gauge)}</b>
                </span>
            }
        })
    };
    view! {
        <Frame room=Panel::Api title=title side=shown_gauge>
            {shown(
                move || room.with(|room| room.can_write) && !before_goal.get(),
                move || writes(ui, program, target, missing, form),
            )}
            {objects(ui, room, chosen, all, capacity, missing, objects_box)}
            {either(
                move || !program.get(),
                move || stream_title(ui, room),
                move || view! {
                    <h3 class="sub calls-title" role=ui.heading()>{ui.word(|words| words.calls)}</h3>
                    {part(move || {
                        let first = missing.get().filter(|_| room.with(|room| room.can_write) && !before_goal.get());
                        first.map(|first| view! { <p class="empty" data-testid="act-first">{first}</p> })
                    })}
                },
            )}
            <div
                class="stream"
                role="group"
                aria-label=text(move || {
                    let words = ui.words();
                    if program.get() { words.calls } else { words.watch_stream }
                })
                node_ref=stream_box
                tabindex=maybe(move || few.get().then_some("0"))
            >
                <Stream room=room chosen=chosen />
                <Drops place=Anchor::Room(Panel::Api) />
            </div>
            {shown(
                move || room.with(|room| room.can_cut) && !before_goal.get(),
                move || view! { <Faults room=room /> },
            )}
            {part(move || form.get().map(|kind| view! { <PodForm kind=kind form=form program=program /> }))}
        </Frame>
    }
}

/// The buttons that write an object, or call for one.
fn writes(
    ui: Ui,
    program: Memo<bool>,
    target: Memo<Option<(Key, PodSpec)>>,
    missing: Memo<Option<&'static str>>,
    form: RwSignal<Option<Form>>,
) -> AnyView {
    let write = move |event, word: fn(&'static Strings) -> &'static str| {
        text(move || write_word(ui, program.get(), event, word))
    };
    view! {
        <div
            class="btns"
            role=ui.toolbar()
            aria-orientation=ui.upright()
            aria-label=text(move || {
                if program.get() { ui.words().calls } else { ui.words().objects }
            })
        >
            <button
                class="btn"
                data-testid="btn-create"
                aria-expanded=text(move || (form.get() == Some(Form::Create)).to_string())
                on:click=move |_| form.set(Some(Form::Create))
            >
                "+ "
                {write(EventType::Added, |words| words.create)}
            </button>
            <button
                class="btn"
                data-testid="btn-edit"
                disabled=move || missing.get().is_some()
                title=maybe(move || missing.get())
                on:click=move |_| {
                    if let Some((_, draft)) = target.get_untracked() {
                        form.set(Some(Form::Edit(draft)));
                    }
                }
            >
                "~ "
                {write(EventType::Modified, |words| words.edit)}
            </button>
            <button
                class="btn"
                data-testid="btn-delete"
                disabled=move || missing.get().is_some()
                title=maybe(move || missing.get())
                on:click=move |_| {
                    if let Some((key, _)) = target.get_untracked() {
                        ui.send(typed::delete(&key));
                    }
                }
            >
                "× "
                {write(EventType::Deleted, |words| words.delete)}
            </button>
        </div>
    }
    .into_any()
}

/// The server's objects.
fn objects(
    ui: Ui,
    room: Memo<ApiRows>,
    chosen: RwSignal<Option<Key>>,
    all: RwSignal<bool>,
    capacity: Memo<usize>,
    missing: Memo<Option<&'static str>>,
    node: NodeRef<html::Div>,
) -> AnyView {
    let program = Memo::new(move |_| room.with(|room| room.source == SourceKind::Program));
    let can_write = Memo::new(move |_| room.with(|room| room.can_write));
    let hidden = Memo::new(move |_| room.with(|room| room.hidden));
    // A recording of a watch without a list does not say what the server has.
    let unknown = ui.memo(|view| {
        view.picture.api.source == SourceKind::Recorded && !view.picture.api.known_from_events
    });
    let dense = Memo::new(move |_| room.with(|room| room.dense));
    let objects = Memo::new(move |_| room.with(|room| room.objects.clone()));
    let has_goal = ui.memo(|view| {
        view.story
            .as_ref()
            .is_some_and(|story| story.goal.is_some())
    });
    // When it is one's own turn, where one more line fits.
    let hint = Memo::new(move |_| {
        let count = objects.with(Vec::len);
        let fits = count > 0 && count < capacity.get();
        let asked = fits && has_goal.get() && can_write.get() && !dense.get() && !program.get();
        missing.get().filter(|_| asked)
    });
    view! {
        <div
            class="objects"
            class:all=all
            class:absent=move || program.get()
            class:many=move || dense.get()
            node_ref=node
        >
            {either(
                move || dense.get(),
                move || cells(Field::Objects, |words| words.objects, Some(chosen)),
                move || view! {
                    <ul
                        role="list"
                        aria-label=text(move || {
                            spoken::counted(ui.words().objects, room.with(|room| room.count))
                        })
                    >
                        {list(objects, |row| row.key.clone(), move |row| {
                            view! { <Object row=row chosen=chosen enabled=can_write /> }
                        })}
                    </ul>
                },
            )}
            {shown(move || { (hidden.get() > 0 || all.get()) && !dense.get() }, move || view! {
                <button
                    class="more"
                    aria-expanded=text(move || all.get().to_string())
                    title=text(move || {
                        if all.get() { ui.words().show_fewer } else { ui.words().show_all }
                    })
                    on:click=move |_| all.update(|all| *all = !*all)
                >
                    {text(move || {
                        if all.get() {
                            format!("▴ {}", ui.words().show_fewer)
                        } else {
                            format!("+{}", hidden.get())
                        }
                    })}
                </button>
            })}
            {shown(move || objects.with(Vec::is_empty) && !unknown.get() && !dense.get(), move || view! {
                <p class="empty">{ui.word(|words| words.no_objects)}</p>
            })}
            {part(move || hint.get().map(|first| view! { <p class="empty" data-testid="act-first">{first}</p> }))}
        </div>
    }
    .into_any()
}

/// The title of the stream, with the query of the watch.
fn stream_title(ui: Ui, room: Memo<ApiRows>) -> AnyView {
    // A story has words for what it asks of a watch.
    let telling = ui.memo(|view| view.story.is_some());
    let watch = Memo::new(move |_| room.with(|room| room.watch.clone()));
    let pipe = ui.memo(pipe);
    view! {
        <h3
            class="sub stream-title"
            role=ui.heading()
            title=maybe(move || {
                watch.get().map(|query| [&*query, ui.words().bookmarks_are].join("\n"))
            })
        >
            {ui.word(|words| words.watch_stream)}
            " · "
            {part(move || match watch.get().filter(|_| !telling.get()) {
                Some(query) => {
                    view! {
                        <span translate="no">{query.replace('=', "=\u{200b}")}</span>
                    }
                        .into_any()
                }
                None => {
                    let state = pipe.with(|pipe| behind::pipe(ui.lang.get(), pipe));
                    view! { <span>{state}</span> }.into_any()
                }
            })}
            {part(move || {
                let lang = ui.lang.get();
                room.with(|room| {
                    let gone = room.forgotten.as_ref()?;
                    let gone = behind::forgotten(lang, &gone.short);
                    Some(view! { " · " <span data-testid="forgotten">{gone}</span> })
                })
            })}
        </h3>
    }
    .into_any()
}

/// What the server can be made to do, and what it will.
#[component]
fn Faults(room: Memo<ApiRows>) -> impl IntoView {
    let ui = Ui::get();
    view! {
        <h3 class="sub faults-title" role=ui.heading()>{ui.word(|words| words.faults)}</h3>
        <div
            class="btns faults"
            role="group"
            aria-label=ui.word(|words| words.faults)
        >
            <button
                class="btn"
                data-testid="btn-cut"
                on:click=move |_| ui.send(Command::CutWatch)
            >
                {ui.word(|words| words.cut_watch)}
            </button>
            <button
                class="btn"
                data-testid="btn-compact"
                title=ui.word(|words| words.compact_title)
                on:click=move |_| ui.send(Command::Compact)
            >
                {ui.word(|words| words.compact)}
            </button>
            <Menu />
        </div>
        <Armed room=room />
    }
}

/// A menu of faults that the server can be made to show.
#[component]
fn Menu() -> impl IntoView {
    let ui = Ui::get();
    view! {
        <select
            class="btn"
            data-testid="select-fault"
            aria-label=ui.word(|words| words.more_faults)
            on:change=move |event| {
                let chosen = event_target_value(&event);
                let fault = chosen.parse().ok().and_then(|n: usize| FAULTS.get(n));
                if let Some(fault) = fault {
                    ui.send(Command::Fault(*fault));
                }
                // Reset the menu, so that the same fault can be chosen again.
                if let Some(select) = event.target() {
                    let select: web_sys::HtmlSelectElement = select.unchecked_into();
                    select.set_selected_index(0);
                }
            }
        >
            <option value="">{ui.word(|words| words.more_faults)}</option>
            {FAULTS
                .into_iter()
                .enumerate()
                .map(|(place, fault)| {
                    view! {
                        <option value=place.to_string()>
                            {text(move || strings::fault(ui.lang.get(), fault))}
                        </option>
                    }
                })
                .collect_view()}
        </select>
    }
}

/// The requests that the server will refuse; each can be taken back.
#[component]
fn Armed(room: Memo<ApiRows>) -> impl IntoView {
    let ui = Ui::get();
    let armed = Memo::new(move |_| room.with(|room| room.armed.clone()));
    part(move || {
        let (words, lang) = (ui.words(), ui.lang.get());
        let rows = armed.get();
        (!rows.is_empty()).then(|| {
            view! {
                <ul class="armed" aria-label=words.armed>
                    {rows
                        .into_iter()
                        .map(|refusals| {
                            let text = strings::armed(lang, &refusals);
                            view! {
                                <li data-testid="armed">
                                    <span translate="no">{text.clone()}</span>
                                    <button
                                        class="away"
                                        data-testid="btn-disarm"
                                        aria-label=format!("{}: {text}", words.disarm)
                                        title=words.disarm
                                        on:click=move |_| ui.send(Command::Disarm(refusals.request, refusals.kind))
                                    >
                                        "×"
                                    </button>
                                </li>
                            }
                        })
                        .collect_view()}
                </ul>
            }
        })
    })
}

#[component]
fn Object(
    row: Memo<ObjectRow>,
    chosen: RwSignal<Option<Key>>,
    enabled: Memo<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let key = row.with_untracked(|row| row.key.clone());
    let anchor = Anchor::Object(key.clone()).to_string();
    let version = Memo::new(move |_| row.with(|row| row.rv.clone()));
    let whole = key.clone();
    let is_chosen = {
        let key = key.clone();
        Memo::new(move |_| {
            chosen.with(|chosen| chosen.as_ref() == Some(&key)) && row.with(|row| !row.gone)
        })
    };
    let can_choose = move || enabled.get() && row.with(|row| !row.gone);
    let pressed = move |_| {
        if untrack(can_choose) {
            choose(chosen, row.with_untracked(|row| row.key.clone()));
        }
    };
    let title = text(move || {
        row.with(|row| {
            let draft = &row.draft;
            let mut title = row.key.to_string();
            for (what, value) in [
                ("app", draft.app()),
                ("node", &draft.node),
                ("phase", &draft.phase),
            ] {
                if !value.is_empty() {
                    title = format!("{title} · {what}={value}");
                }
            }
            let words = ui.words();
            let state = match (row.gone, enabled.get()) {
                (true, _) => words.deleted,
                (false, true) => words.choose_object,
                (false, false) => "",
            };
            let kept = behind::on_server(ui.lang.get(), row.freshness, &row.cached.said());
            for part in [state, &kept] {
                if !part.is_empty() {
                    title = format!("{title} · {part}");
                }
            }
            title
        })
    });
    let class = text(move || {
        row.with(|row| {
            let mut class = format!("obj {}", freshness_class(row.freshness));
            for (on, name) in [
                (row.gone, " gone"),
                (row.lit, " lit"),
                (is_chosen.get(), " chosen"),
            ] {
                if on {
                    class.push_str(name);
                }
            }
            class
        })
    });
    view! {
        <li>
            <button
                class=class
                aria-pressed=text(move || is_chosen.get().to_string())
                // Not `disabled`: it can still be asked about.
                aria-disabled=maybe(move || (!can_choose()).then_some("true"))
                tabindex="-1"
                data-testid="api-object"
                data-anchor=anchor
                title=title
                translate="no"
                on:click=pressed
            >
                <i class=text(move || row.with(|row| row.mark.class()))></i>
                <span class="n">
                    {part(move || frame::name(row.with(|row| row.name.clone()), &whole))}
                </span>
                <span class="rv">
                    {either(
                        // A deleted object keeps the version of its deletion.
                        move || row.with(|row| !row.gone && row.freshness.differs()),
                        move || part(move || row.with(|row| {
                            let kept = behind::on_server(ui.lang.get(), row.freshness, &row.cached.said());
                            let both = [&row.cached, &row.rv];
                            versions(row.freshness, both, [&*row.rv.said(), &*kept])
                        })),
                        move || view! { "rv " {rv(version)} },
                    )}
                </span>
            </button>
        </li>
    }
}

/// Chooses this object, or none, if it is chosen already.
fn choose(chosen: RwSignal<Option<Key>>, key: Key) {
    chosen.update(|chosen| *chosen = (chosen.as_ref() != Some(&key)).then_some(key));
}

#[component]
fn Stream(room: Memo<ApiRows>, chosen: RwSignal<Option<Key>>) -> impl IntoView {
    let ui = Ui::get();
    let stream = Memo::new(move |_| room.with(|room| room.stream.clone()));
    let calls = Memo::new(move |_| room.with(|room| room.calls.clone()));
    let program = Memo::new(move |_| room.with(|room| room.source == SourceKind::Program));
    let empty = move || stream.with(Vec::is_empty) && calls.with(Vec::is_empty);
    view! {
        <ul
            role="list"
            aria-label=text(move || {
                let words = ui.words();
                let label = if program.get() { words.calls } else { words.watch_stream };
                spoken::counted(label, stream.with(Vec::len) + calls.with(Vec::len))
            })
        >
            {refilled(stream, |one, other| one.number == other.number, move |row| {
                    view! { <Line row=row /> }
                })}
            {list(calls, |row| row.number, move |row| {
                    view! { <Call row=row chosen=chosen /> }
                })}
        </ul>
        {shown(empty, move || view! {
            <p class="empty">
                {text(move || {
                    if program.get() { ui.words().no_calls } else { ui.words().no_events }
                })}
            </p>
        })}
    }
}

#[component]
fn Line(row: Memo<StreamRow>) -> impl IntoView {
    let ui = Ui::get();
    let class = text(move || {
        row.with(|row| {
            let delivery = match row.delivery {
                Delivery::Waiting => " waiting",
                Delivery::Received => "",
                Delivery::Lost => " lost",
            };
            let lit = if row.lit { " lit" } else { "" };
            format!("wire {}{delivery}{lit}", type_class(hue_of(row.event)))
        })
    });
    let state = move || {
        let words = ui.words();
        match row.with(|row| row.delivery) {
            Delivery::Waiting => Some(words.waiting),
            Delivery::Received => None,
            Delivery::Lost => Some(words.lost),
        }
    };
    view! {
        <li
            class=class
            title=text(move || {
                row.with(|row| {
                    let state = state().unwrap_or_default();
                    spoken::parts([row.event.as_str(), &*row.key, &*row.rv.said(), state])
                })
            })
            data-testid="stream-line"
            data-anchor=text(move || Anchor::Line(row.with(|row| row.number)).to_string())
        >
            <b translate="no">{text(move || row.with(|row| row.event.as_str()))}</b>
            <span class="n" translate="no">
                {part(move || row.with(|row| frame::name(row.name.clone(), &row.key)))}
            </span>
            <span class="of" class:long=move || row.with(|row| row.rv.is_long()) translate="no">
                {part(move || row.with(|row| !row.name.is_empty()).then_some("· "))}
                {rv(Memo::new(move |_| row.with(|row| row.rv.clone())))}
            </span>
            {part(move || state().map(|state| view! { <small>{state}</small> }))}
        </li>
    }
}

#[component]
fn Call(row: Memo<CallRow>, chosen: RwSignal<Option<Key>>) -> impl IntoView {
    let ui = Ui::get();
    let (number, key) = row.with_untracked(|row| (row.number, row.key.clone()));
    let is_chosen = {
        let key = key.clone();
        Memo::new(move |_| chosen.with(|chosen| chosen.as_ref() == Some(&key)))
    };
    view! {
        <li>
            <button
                class=text(move || {
                    let class = row.with(|row| type_class(hue_of(row.event)));
                    let lit = if row.with(|row| row.lit) { " lit" } else { "" };
                    let chosen = if is_chosen.get() { " chosen" } else { "" };
                    format!("wire {class}{lit}{chosen}")
                })
                aria-pressed=text(move || is_chosen.get().to_string())
                tabindex="-1"
                data-testid="stream-line"
                data-anchor=Anchor::Call(number).to_string()
                title=text(move || {
                    row.with(|row| {
                        spoken::parts([verb(row.event), &*row.key, &*row.rv.said(), ui.words().choose_call])
                    })
                })
                translate="no"
                on:click=move |_| choose(chosen, key.clone())
            >
                <b>{text(move || row.with(|row| verb(row.event)))}</b>
                <span class="n">
                    {text(move || row.with(|row| row.name.clone()))}
                    {part(move || {
                        let text = row.with(|row| row.rv.clone());
                        (!text.short.is_empty()).then(|| view! { " · " {rv(Memo::fixed(text))} })
                    })}
                </span>
            </button>
        </li>
    }
}

/// The word for a write on the server; a program's is the method that it calls.
fn write_word(
    ui: Ui,
    program: bool,
    event: EventType,
    word: fn(&'static Strings) -> &'static str,
) -> &'static str {
    if program {
        verb(event)
    } else {
        word(ui.words())
    }
}
