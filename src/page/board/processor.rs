//! The shared processor's room.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::drops::Drops;
use super::frame::{Frame, has_synced, name};
use super::later::later;
use super::layout::Layout;
use super::own;
use super::parts::{Text, drawn, list, maybe, part, refilled, shown, text};
use crate::later::Part;
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_presentation::anchor::{Anchor, HandlerPlace};
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal;
use deltascope_presentation::rows::processor::{
    HandlerRow, NotificationLook, ProcessorRows, RING, TOMBSTONE, WorkKey, WorkLine, WorkRows, rows,
};
use deltascope_presentation::stage::{Panel, WorkPart};
use deltascope_presentation::strings::{self, spoken};

#[component]
pub(super) fn Processor() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let handlers = Memo::new(move |_| room.with(|room| room.handlers.clone()));
    let work = Memo::new(move |_| room.with(|room| room.work.clone()));
    let hears = ui.memo(|view| view.heard.is_some());
    let works = move || work.with(Option::is_some);
    // Handlers that run inside process have no listener.
    let inline = Memo::new(move |_| {
        handlers.with(|rows| !rows.is_empty() && rows.iter().all(|row| row.inline))
    });
    let listeners = Memo::new(move |_| {
        let listens = |row: &&HandlerRow| !row.removed;
        let count = handlers.with(|rows| rows.iter().filter(listens).count());
        (!inline.get()).then_some(count)
    });
    let can_add = ui.memo(|view| view.lesson.can_add);
    let side = move || {
        view! {
            <span class="side">
                <span class="count">
                    {text(move || {
                        let lang = ui.lang.get();
                        listeners.get().map_or_else(String::new, |count| strings::listeners(lang, count))
                    })}
                </span>
                {shown(move || can_add.get(), move || view! {
                    <button
                        class="flag"
                        data-testid="btn-add-handler"
                        title=ui.word(|words| words.add_handler)
                        on:click=move |_| ui.send(Command::AddHandler)
                    >
                        "+ handler"
                    </button>
                })}
            </span>
        }
    };
    view! {
        <Frame room=Panel::Processor title=ui.word(|words| words.handlers) side=side>
            <div class="two" class:works=works class:hears=move || hears.get()>
                <ul
                    class="handlers"
                    role="list"
                    aria-label=text(move || {
                        spoken::counted(ui.words().handlers, handlers.with(Vec::len))
                    })
                    tabindex="0"
                >
                    {list(handlers, |row| (usize::from(row.number) * 2 + usize::from(row.inline), Arc::clone(&row.name)), move |row| {
                            view! { <Handler row=row /> }
                        })}
                    {shown(move || handlers.with(Vec::is_empty), move || view! {
                        <li class="empty">{ui.word(|words| words.no_handlers)}</li>
                    })}
                </ul>
                {later(Part::All, move || hears.get(), move || shown(move || hears.get(), own::logged).into_any())}
                {printed(ui, room)}
                {part(move || work.get().map(|work| workqueue(ui, work)))}
            </div>
        </Frame>
    }
}

/// What was printed, down to the last line.
fn printed(ui: Ui, room: Memo<ProcessorRows>) -> AnyView {
    let output = Memo::new(move |_| room.with(|room| room.output.clone()));
    let printed = NodeRef::<html::Div>::new();
    let layout = Layout::get();
    effect(move || {
        // The effect runs again when the room comes into sight, because a hidden element does not scroll.
        layout.lower_is_processor();
        layout.shown.track();
        output.track();
        if let Some(printed) = printed.get() {
            request_animation_frame(move || printed.set_scroll_top(printed.scroll_height()));
        }
    });
    view! {
        <div class="printed">
            <h3 class="sub" role=ui.heading()>{text(move || {
                match output.with(|lines| lines.iter().any(|line| line.by_program)) {
                    true => ui.words().output_of_both,
                    false => ui.words().output,
                }
            })}</h3>
            <div
                class="output mono"
                role=maybe(move || output.with(|lines| !lines.is_empty()).then_some("list"))
                aria-label=maybe(move || {
                    let count = output.with(Vec::len);
                    (count > 0).then(|| spoken::counted(ui.words().output, count))
                })
                node_ref=printed
                data-anchor=Anchor::LastLine.to_string()
                tabindex="0"
            >
                {refilled(output, |one, other| (one.number, &one.text) == (other.number, &other.text), move |row| {
                        view! {
                            <div
                                class="line"
                                role="listitem"
                                title=text(move || row.with(|row| row.text.to_string()))
                                class:lit=move || row.with(|row| row.lit)
                                data-testid="output-line"
                                data-anchor=text(move || {
                                    Anchor::OutputLine(row.with(|row| row.number)).to_string()
                                })
                                translate="no"
                            >
                                {shown(move || row.with(|row| row.by_program), move || view! {
                                    <b class="by">{ui.word(|words| words.by_program)}</b>
                                })}
                                {drawn(move || row.with(|row| Arc::clone(&row.text)), |line| words(line))}
                            </div>
                        }
                    })}
                {shown(move || output.with(Vec::is_empty), move || view! {
                    <p class="empty">{ui.word(|words| words.no_output)}</p>
                })}
            </div>
        </div>
    }
    .into_any()
}

/// A line as words, which are broken only if one alone is too long: names have hyphens.
fn words(line: &str) -> AnyView {
    let word = |(at, word): (usize, &str)| {
        view! { {(at > 0).then_some(" ")} <span>{word.to_owned()}</span> }
    };
    let words = line.split(' ').enumerate().map(word);
    words.collect_view().into_any()
}

#[component]
fn Handler(row: Memo<HandlerRow>) -> impl IntoView {
    let ui = Ui::get();
    let (number, name, inline) =
        row.with_untracked(|row| (row.number, row.name.to_string(), row.inline));
    let removed = Memo::new(move |_| row.with(|row| row.removed));
    let leaving = Memo::new(move |_| row.with(|row| row.leaving));
    let can_remove = ui.memo(|view| view.lesson.can_add);
    view! {
        <li
            class="lst"
            class:lit=move || row.with(|row| row.lit)
            class:inline=inline
            class:gone=move || removed.get()
            data-testid="handler"
            data-anchor=Anchor::Handler(number, HandlerPlace::Whole).to_string()
            aria-label=text(move || {
                let synced = row.with(|row| (!inline).then(|| spoken::has_synced(row.synced)));
                spoken::parts([&*row.with(|row| Arc::clone(&row.name)), &*synced.unwrap_or_default(), &*load(ui, row)])
            })
        >
            <span class="n mono" title=name.clone() translate="no">
                {name.clone()}
            </span>
            {ring(ui, row)}
            {shown(move || can_remove.get() && !removed.get() && !inline, move || view! {
                <button
                    class="away"
                    data-testid="btn-remove-handler"
                    aria-label=text(move || {
                        format!("{}: {}", ui.words().remove_handler, row.with(|row| row.name.clone()))
                    })
                    disabled=move || leaving.get()
                    on:click=move |_| ui.send(Command::RemoveHandler(number.into()))
                >
                    "×"
                </button>
            })}
            <Drops place=Anchor::Handler(number, HandlerPlace::Whole) />
            {lamps(ui, row)}
        </li>
    }
}

/// What waits for the handler, and what it does now.
fn ring(ui: Ui, row: Memo<HandlerRow>) -> AnyView {
    let number = row.with_untracked(|row| row.number);
    let over = move || row.with(|row| row.pending.saturating_sub(RING));
    let place = move |place: HandlerPlace,
                      class: Text,
                      title: Box<dyn Fn(&HandlerRow) -> String + Send + Sync>| {
        let anchor = Anchor::Handler(number, place).to_string();
        let title = Memo::new(move |_| row.with(&title));
        view! {
            <i
                class=class
                data-anchor=anchor
                role=maybe(move || title.with(|title| !title.is_empty()).then_some("listitem"))
                // Without one, the ring's.
                title=maybe(move || Some(title.get()).filter(|title| !title.is_empty()))
            ></i>
        }
    };
    view! {
        <span
            class="ring"
            role="list"
            title=ui.word(|words| words.legend_ring)
            aria-label=text(move || {
                row.with(|row| {
                    let waiting = row.pending + usize::from(row.sending.is_some());
                    let count = waiting + usize::from(row.running.is_some());
                    spoken::notifications(ui.lang.get(), &row.name, count)
                })
            })
        >
            {place(
                HandlerPlace::Running,
                text(move || {
                    row.with(|row| format!("run {}", NotificationLook::class(row.running)))
                }),
                Box::new(|row| row.running_title.clone()),
            )}
            {(0..RING)
                .map(|at| {
                    place(
                        HandlerPlace::Pending(at),
                        text(move || {
                            row.with(|row| NotificationLook::class(row.ring.get(at).copied()))
                        }),
                        Box::new(move |row| row.ring_titles.get(at).cloned().unwrap_or_default()),
                    )
                })
                .collect_view()}
            <small aria-hidden="true">
                {part(move || {
                    let over = over();
                    (over > 0).then(|| format!("+{over}"))
                })}
            </small>
            {place(
                HandlerPlace::Sending,
                text(move || {
                    row.with(|row| format!("send {}", NotificationLook::class(row.sending)))
                }),
                Box::new(move |row| match &*row.sending_title {
                    "" => String::new(),
                    sent => spoken::parts([sent, ui.words().sending]),
                }),
            )}
        </span>
    }
    .into_any()
}

/// Its lamps, and how much it has to do.
fn lamps(ui: Ui, row: Memo<HandlerRow>) -> AnyView {
    let inline = row.with_untracked(|row| row.inline);
    let busy = move || row.with(|row| row.running.is_some());
    view! {
        <span class="lamps">
            {part(move || {
                let words = ui.words();
                row.with(|row| {
                    if inline {
                        return ().into_any();
                    }
                    let lamp = |on: bool, text: AnyView, title: &'static str| {
                        view! { <span class="lamp" class:on=on title=title translate="no">{text}</span> }
                    };
                    let synced = if row.synced { words.synced } else { words.not_synced };
                    let (resync, syncing) = match (row.resync_ms, row.syncing) {
                        (0, _) => ("↻ –".to_owned(), words.no_resync),
                        (ms, on) => (
                            format!("↻ {}", decimal::short_tenths(ms)),
                            if on { words.syncing } else { words.not_syncing },
                        ),
                    };
                    let filter = (!row.filter.is_empty()).then(|| {
                        view! {
                            <span class="lamp filter" translate="no">
                                "▽ "
                                {row.filter.to_string()}
                            </span>
                        }
                    });
                    let panics = (row.panics > 0).then(|| {
                        view! {
                            <span class="lamp Deleted">{format!("panic ×{}", row.panics)}</span>
                        }
                    });
                    view! {
                        {lamp(row.synced, has_synced(row.synced), synced)}
                        {lamp(row.syncing, resync.into_any(), syncing)}
                        {filter}
                        {panics}
                    }
                    .into_any()
                })
            })}
            <span
                class="load mono"
                class:busy=busy
                class:tombstone=move || row.with(HandlerRow::says_tombstone)
                title=maybe(move || row.with(HandlerRow::says_tombstone).then_some(TOMBSTONE))
            >
                {part(move || {
                    if !row.with(HandlerRow::counts) {
                        return load(ui, row).into_any();
                    }
                    let words = ui.words();
                    let runs = busy().then(|| view! { <span class="runs">{words.running}</span> });
                    view! {
                        <b class="handled">{words.handled_now}</b>
                        {runs}
                        {strings::waiting(ui.lang.get(), row.with(|row| row.pending))}
                    }
                    .into_any()
                })}
            </span>
        </span>
    }
    .into_any()
}

fn load(ui: Ui, row: Memo<HandlerRow>) -> String {
    row.with(|row| row.load(ui.lang.get()))
}

fn workqueue(ui: Ui, work: WorkRows) -> impl IntoView {
    let words = ui.words();
    let closed = work
        .shut_down
        .then(|| view! { <span class="flag">{words.closed}</span> });
    view! {
        <div class="work" data-testid="workqueue" tabindex="0">
            <h3 class="sub" role=ui.heading()>
                {words.workqueue}
                " · "
                {strings::reconciled(ui.lang.get(), work.reconciled)}
                {closed}
            </h3>
            {work.lines.into_iter().map(|line| work_line(ui, line)).collect_view()}
            <Drops place=Anchor::Work(WorkPart::Queue, None) />
        </div>
    }
}

fn work_line(ui: Ui, line: WorkLine) -> AnyView {
    let label = strings::work_part(ui.lang.get(), line.part);
    let part = line.part;
    let counted = line.count > 0 && line.part != WorkPart::Processing;
    let all: Vec<&str> = line.keys.iter().map(|key| &*key.key).collect();
    let all = all.join(" ");
    let label = if counted {
        format!("{label} {}", line.count)
    } else {
        label.to_owned()
    };
    let tags = line.keys.into_iter().map(|key| {
        let anchor = Anchor::Work(part, Some(key.key.clone()));
        tag(&anchor, key)
    });
    row(&Anchor::Work(part, None), label, all, tags.collect())
}

/// A line of tags with a label.
pub(super) fn row(anchor: &Anchor, label: String, title: String, tags: Vec<AnyView>) -> AnyView {
    let (name, group, tagged) = (label.clone(), label.clone(), !tags.is_empty());
    view! {
        <div
            class="workline"
            role="group"
            aria-label=group
            translate="no"
            data-anchor=anchor.to_string()
        >
            <span class="n">{name}</span>
            <span
                class="set"
                role=tagged.then_some("list")
                aria-label=tagged.then_some(label)
                title=title
            >
                {tags}
            </span>
        </div>
    }
    .into_any()
}

pub(super) fn tag(anchor: &Anchor, key: WorkKey) -> AnyView {
    view! {
        <span
            role="listitem"
            class=if key.lit { "tag new" } else { "tag" }
            title=key.key.to_string()
            data-anchor=anchor.to_string()
        >
            <i class=key.mark.class()></i>
            <span class="n">{name(key.name, &key.key)}</span>
            <small>{key.note}</small>
        </span>
    }
    .into_any()
}
