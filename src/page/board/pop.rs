//! Pop's room.

use leptos::html;
use leptos::prelude::*;

use super::drops::Drops;
use super::frame::{Frame, name, rv};
use super::icons::lock as icon;
use super::layout::{fit, size_of};
use super::parts::{either, list, maybe, part, places, shown, text};
use super::token::Delta;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::fact::{Actor, LockName};
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::pop::{LockRow, PopRows, PoppedRow, rows};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::{self, spoken};
use deltascope_replay::picture::ProcessMode;
use deltascope_world::text::Lang;

/// The pause after each Pop while the switch is on, in virtual ms: long enough to see, short enough not to bore.
const PACE: u32 = 1000;

// Heights of a delta in the slot, of the gap after it, and of the line above; keep in step with style/pop.css.
const DELTA: f64 = 26.0;
const GAP: f64 = 4.0;
const WHO: f64 = 24.0;
// The same for a batch, and the height of its crate.
const PACKED: f64 = 20.0;
const PACKED_GAP: f64 = 2.0;
const CRATE: f64 = 10.0;
/// Most deltas that the slot shows.
const SLOT: usize = 6;

#[component]
pub(super) fn Pop() -> impl IntoView {
    let ui = Ui::get();
    let slot = NodeRef::<html::Div>::new();
    let slot_size = size_of(slot);
    let batch = ui.memo(|view| {
        let popped = view.picture.pop.processing.as_ref();
        popped.is_some_and(|popped| popped.deltas.len() > 1 && !popped.entries.is_empty())
    });
    let places = Memo::new(move |_| {
        let height = slot_size.get().1 - WHO;
        let places = if batch.get() {
            fit(height - CRATE, PACKED, PACKED_GAP, 3)
        } else {
            fit(height, DELTA, GAP, 3)
        };
        places.clamp(1, SLOT)
    });
    let room = Memo::new(move |_| {
        let places = places.get();
        ui.view.with(|view| rows(view, places))
    });
    let mode = Memo::new(move |_| room.with(|room| room.mode));
    let last = Memo::new(move |_| room.with(|room| room.last.clone()));
    let held = move || mode.get() == ProcessMode::Held;
    let side = move || {
        view! {
            <span class="gauge mode" title=text(move || strings::mode_title(ui.lang.get(), mode.get()))>
                {text(move || strings::mode(ui.lang.get(), mode.get()))}
            </span>
        }
    };
    view! {
        <Frame room=Panel::Pop title=text(|| "Pop") side=side>
            {modes(ui, mode)}
            <button
                class="btn pop-one"
                data-testid="btn-pop"
                disabled=move || !held()
                title=maybe(move || (!held()).then(|| ui.words().pop_when_held))
                on:click=move |_| ui.send(Command::PopOne)
            >
                {ui.word(|words| words.pop_one)}
                {part(move || {
                    let asked = room.with(|room| room.asked);
                    (asked > 0).then(|| view! { <small class="asked">{asked}</small> })
                })}
            </button>
            {locks(ui, room)}
            <h3 class="sub" role=ui.heading() translate="no">
                "process( )"
            </h3>
            <div
                class="slot work"
                class:busy=move || room.with(|room| room.processing.is_some())
                role="group"
                aria-label="process( )"
                data-anchor=Anchor::Slot.to_string()
                node_ref=slot
            >
                <Work room=Memo::new(move |_| room.with(|room| room.processing.clone())) />
                <Drops place=Anchor::Room(Panel::Pop) />
            </div>
            <h3 class="sub" role=ui.heading()>{ui.word(|words| words.last_popped)}</h3>
            <div
                class="last"
                role="group"
                aria-label=ui.word(|words| words.last_popped)
                data-anchor=Anchor::LastPopped.to_string()>
                {either(
                    move || last.with(Option::is_some),
                    move || view! { <Last popped=last /> },
                    move || view! { <p class="empty">{ui.word(|words| words.nothing_popped)}</p> },
                )}
            </div>
        </Frame>
    }
}

/// The modes of the process loop.
fn modes(ui: Ui, mode: Memo<ProcessMode>) -> AnyView {
    view! {
        <div
            class="segments"
            role=ui.toolbar()
            aria-orientation=ui.upright()
            aria-label=ui.word(|words| words.mode)
        >
            {[ProcessMode::Free, ProcessMode::Paced(PACE), ProcessMode::Held]
                .into_iter()
                .map(|each| {
                    let on = move || {
                        std::mem::discriminant(&mode.get()) == std::mem::discriminant(&each)
                    };
                    view! {
                        <button
                            data-testid=format!("mode-{}", strings::mode(Lang::En, each))
                            aria-pressed=text(move || on().to_string())
                            title=text(move || strings::mode_title(ui.lang.get(), each))
                            on:click=move |_| ui.send(Command::Mode(each))
                        >
                            {text(move || strings::mode(ui.lang.get(), each))}
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
    .into_any()
}

/// The locks: who holds them, and who waits.
fn locks(ui: Ui, room: Memo<PopRows>) -> AnyView {
    let actor_name = move |actor: Actor| strings::short_actor(ui.lang.get(), actor);
    let lock = Memo::new(move |_| room.with(|room| room.lock.clone()));
    let block = Memo::new(move |_| room.with(|room| room.block_deltas.clone()));
    let holder = move |lock: &LockRow| {
        lock.holder
            .map_or_else(|| ui.words().lock_free.to_owned(), actor_name)
    };
    view! {
        <div class="locks">
            <div
                class="lock"
                class:free=move || lock.with(|lock| lock.holder.is_none())
                data-anchor=Anchor::Lock(LockName::Queue).to_string()
                role="group"
                title=text(move || {
                    spoken::parts([ui.words().lock_queue, &*lock.with(holder)])
                })
            >
                {icon()}
                <span>
                    {text(move || lock.with(|lock| match lock.holder {
                        Some(actor) => actor_name(actor),
                        None => ui.words().lock_is_free.to_owned(),
                    }))}
                </span>
            </div>
            {part(move || {
                lock.with(|lock| {
                    let more = lock.waiting.len().saturating_sub(1);
                    lock.waiting
                        .first()
                        .map(|actor| {
                            let text = strings::waits_for_lock(
                                ui.lang.get(),
                                &actor_name(*actor),
                            );
                            view! {
                                <div class="lock wait">
                                    {icon()} <span>{text}</span>
                                    {(more > 0).then(|| format!("+{more}"))}
                                </div>
                            }
                        })
                })
            })}
            {part(move || {
                block.with(|lock| {
                    lock.as_ref()
                        .map(|lock| {
                            let waits = lock.waiting.first().map(|actor| actor_name(*actor));
                            let free = lock.holder.is_none();
                            let class = match (&waits, free) {
                                (Some(_), _) => "lock block wait",
                                (None, true) => "lock block free",
                                _ => "lock block",
                            };
                            let state = waits.unwrap_or_else(|| holder(lock));
                            let title = spoken::parts([ui.words().lock_block, &*state]);
                            view! {
                                <div
                                    class=class
                                    data-anchor=Anchor::Lock(LockName::BlockDeltas).to_string()
                                    role="group"
                                    title=title
                                >
                                    {icon()} <span translate="no">"blockDeltas"</span>
                                    <span class="n">{state}</span>
                                </div>
                            }
                        })
                })
            })}
        </div>
    }
    .into_any()
}

#[component]
fn Work(room: Memo<Option<PoppedRow>>) -> impl IntoView {
    let ui = Ui::get();
    let deltas = Memo::new(move |_| {
        room.with(|popped| {
            popped
                .as_ref()
                .map(|popped| popped.stack.shown.clone())
                .unwrap_or_default()
        })
    });
    let batch = move || {
        room.with(|popped| {
            popped
                .as_ref()
                .is_some_and(|popped| popped.key.is_empty() && popped.whole.is_none())
        })
    };
    view! {
        {shown(move || room.with(Option::is_some), move || who(ui, room))}
        <div
            class="crate"
            class:boxed=batch
            role=maybe(move || room.with(|popped| popped.as_ref().map(|_| "list")))
            aria-label=maybe(move || {
                room.with(|popped| {
                    let popped = popped.as_ref()?;
                    let count = popped.count.max(1);
                    Some(spoken::stack(ui.lang.get(), &popped.key, count, popped.is_plain()))
                })
            })
        >
            {list(deltas, |row| row.index, move |row| {
                    let index = row.with_untracked(|row| row.index);
                    view! { <Delta row=row anchor=Anchor::PoppedDelta(index) listed=true /> }
                })}
            {part(move || {
                room.with(|popped| {
                    let whole = popped.as_ref()?.whole.clone()?;
                    let marks = whole.marks.iter();
                    let marks = marks.map(|mark| view! { <i class=mark.class()></i> });
                    Some(view! {
                        <Delta
                            row=Memo::fixed(whole.token.clone())
                            anchor=Anchor::PoppedDelta(0)
                            listed=true
                        />
                        <span class="marks">{marks.collect_view()}</span>
                    })
                })
            })}
        </div>
    }
}

/// What was popped: a key, or a number of objects.
fn who(ui: Ui, popped: Memo<Option<PoppedRow>>) -> impl IntoView {
    let title = move || {
        popped.with(|popped| {
            let popped = popped.as_ref().filter(|popped| popped.whole.is_none());
            popped.map_or_else(String::new, |popped| popped.key.to_string())
        })
    };
    view! {
        <span class="who" title=text(title)>
            {part(move || popped.with(|popped| Some(thing(ui, popped.as_ref()?))))}
        </span>
    }
}

fn thing(ui: Ui, popped: &PoppedRow) -> AnyView {
    let lang = ui.lang.get();
    let label = match &popped.whole {
        Some(whole) if whole.count > 0 => strings::objects(lang, whole.count),
        None if popped.key.is_empty() => strings::batch(lang, popped.count),
        _ => String::new(),
    };
    let is_key = popped.whole.is_none() && !popped.key.is_empty();
    let key = is_key.then(|| {
        view! {
            <i class=popped.mark.class()></i>
            <span class="n" translate="no">{name(popped.name.clone(), &popped.key)}</span>
        }
    });
    let hidden = popped.stack.hidden;
    let hidden = (hidden > 0).then(|| view! { <small>{format!("+{hidden}")}</small> });
    let version = popped.whole.as_ref().map(|whole| whole.rv.clone());
    let version = version.filter(|rv| !rv.short.is_empty());
    let version = version.map(|text| view! { <small>"rv " {rv(Memo::fixed(text))}</small> });
    view! { {key} {label} {hidden} {version} }.into_any()
}

#[component]
fn Last(popped: Memo<Option<PoppedRow>>) -> impl IntoView {
    let ui = Ui::get();
    let title = move || {
        popped.with(|popped| {
            popped.as_ref().map_or_else(String::new, |popped| {
                format!("{} · {}", popped.key, popped.count)
            })
        })
    };
    let tokens = Memo::new(move |_| {
        popped.with(|popped| {
            let whole = popped.iter().filter_map(|popped| popped.whole.as_ref());
            let shown = popped.iter().flat_map(|popped| &popped.stack.shown);
            whole
                .map(|whole| &whole.token)
                .chain(shown)
                .cloned()
                .collect()
        })
    });
    view! {
        <div class="last-token" title=text(title)>
            {places(tokens, |row| view! { <Delta row=row anchor=Anchor::LastDelta /> })}
            {who(ui, popped)}
        </div>
    }
}
