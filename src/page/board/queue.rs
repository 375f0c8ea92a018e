//! The queue's room.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::density::Density;
use super::frame::{Frame, has_synced, name, rv};
use super::icons::glyph;
use super::layout::{Layout, fit, size_of};
use super::parts::{list, maybe, part, shown, text};
use super::token::Delta;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::density::{Field, is_queue_dense};
use deltascope_presentation::rows::queue::{ColumnRow, EntryRow, Space, is_wide, rows};
use deltascope_presentation::rows::type_class;
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::{self, heard};
use deltascope_replay::picture::QueueKind;

// Widths and heights of tokens with their gaps; keep in step with style/queue.css. NARROW is for phones; SLIM is
// for a few rooms in an element, in embed/stage.css.
const DELTA: f64 = 110.0;
const WIDE: f64 = 140.0;
const NARROW: f64 = 104.0;
const MORE: f64 = 52.0;
const DELTA_HEIGHT: f64 = 29.0;
const ENTRY_HEIGHT: f64 = 66.0;
const COLUMN_GAP: f64 = 11.0;
const NARROW_GAP: f64 = 8.0;
const SLIM: f64 = 90.0;
const SLIM_GAP: f64 = 6.0;
const SLIM_ROOM: f64 = 330.0;
const DELTA_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 14.0;

#[component]
pub(super) fn Queue() -> impl IntoView {
    let ui = Ui::get();
    let cols_box = NodeRef::<html::Div>::new();
    let size = size_of(cols_box);
    let wide = ui.memo(is_wide);
    let layout = Layout::get();
    let kind = ui.memo(|view| view.picture.queue.kind);
    let dense = ui.memo(|view| is_queue_dense(&view.picture));
    let slim = Memo::new(move |_| {
        let few = ui.shape.with(|shape| !shape.panels.is_empty());
        let flat = kind.get() == QueueKind::RealFifo;
        few && !flat && !layout.narrow.get() && size.get().0 < SLIM_ROOM
    });
    let space = Memo::new(move |_| {
        let (width, height) = size.get();
        let is_slim = slim.get();
        let (each, gap) = match (wide.get(), layout.narrow.get()) {
            (true, false) if is_slim => (WIDE, SLIM_GAP),
            (false, false) if is_slim => (SLIM, SLIM_GAP),
            (true, false) => (WIDE, COLUMN_GAP),
            (true, true) => (WIDE, NARROW_GAP),
            (false, false) => (DELTA, COLUMN_GAP),
            (false, true) => (NARROW, NARROW_GAP),
        };
        let depth = if kind.get() == QueueKind::RealFifo {
            fit(height, ENTRY_HEIGHT, ENTRY_GAP, 4)
        } else {
            fit(height, DELTA_HEIGHT, DELTA_GAP, 8)
        };
        Space {
            columns: fit(width, each, gap, 3),
            beside_more: fit(width - MORE - gap, each, gap, 2),
            depth,
        }
    });
    let room = Memo::new(move |_| {
        let space = space.get();
        ui.view.with(|view| rows(view, space))
    });
    let columns = Memo::new(move |_| room.with(|room| room.columns.clone()));
    let entries = Memo::new(move |_| room.with(|room| room.entries.clone()));
    let count = move || {
        room.with(|room| match room.kind {
            QueueKind::RealFifo => strings::entries(ui.lang.get(), room.deltas),
            QueueKind::Fifo => strings::places(ui.lang.get(), room.keys, room.deltas),
            QueueKind::DeltaFifo => strings::queued(ui.lang.get(), room.keys, room.deltas),
        })
    };
    let hidden = Memo::new(move |_| {
        room.with(|room| (room.hidden_keys + room.hidden_entries, room.hidden_lit))
    });
    let empty = Memo::new(move |_| room.with(|room| room.keys == 0 && room.deltas == 0));
    let flat = move || kind.get() == QueueKind::RealFifo;
    let title = text(move || kind.get().as_str());
    let side = move || {
        view! {
            <span class="side">
                {part(move || {
                    let synced = room.with(|room| room.synced);
                    let class = if synced { "flag" } else { "heard" };
                    view! {
                        <span class=class translate="no">
                            {has_synced(synced)}
                        </span>
                    }
                })}
                {part(move || {
                    room.with(|room| room.closed)
                        .then(|| view! { <span class="flag">{ui.words().closed}</span> })
                })}
                <span class="count">{text(count)}</span>
            </span>
        }
    };
    let more = part(move || {
        let (count, lit) = hidden.get();
        (count > 0).then(|| {
            view! {
                <div
                    class="more-slot"
                    role=if flat() { "listitem" } else { "group" }
                    class:lit=lit
                    data-anchor=Anchor::More.to_string()
                    title=strings::more(ui.lang.get(), count)
                >
                    {format!("+{count}")}
                </div>
            }
        })
    });
    view! {
        <Frame room=Panel::Queue title=title side=side>
            {shown(move || dense.get(), move || view! {
                <Density field=Field::Queue label=|words| words.queued />
            })}
            <div
                class="cols"
                class:wide=move || wide.get()
                    class:slim=move || slim.get()
                class:flat=flat
                class:many=move || dense.get()
                node_ref=cols_box
                role=maybe(move || flat().then_some("list"))
                aria-label=maybe(move || {
                    flat().then(|| strings::entries(ui.lang.get(), room.with(|room| room.deltas)))
                })
                title=maybe(move || {
                    let stacks = !empty.get() && kind.get() == QueueKind::DeltaFifo;
                    stacks.then(|| ui.words().oldest_bottom)
                })
            >
                {list(columns, place_of, move |row| {
                        view! { <Column row=row /> }
                    })}
                {list(entries, |row| row.place, move |row| {
                        view! { <EntryToken row=row /> }
                    })}
                {more}
                {shown(move || empty.get(), move || view! {
                    <div class="slot empty-slot">
                        <span>{ui.word(|words| words.empty_queue)}</span>
                    </div>
                })}
            </div>
            <ol
                class="belt"
                role="list"
                aria-label=text(move || heard::keys(ui.lang.get(), room.with(|room| room.keys)))
                aria-hidden=maybe(move || flat().then_some("true"))
                hidden=move || dense.get()
                class:wide=move || wide.get()
                class:slim=move || slim.get()
                class:flat=flat
            >
                {list(columns, place_of, move |row| {
                        let key = row.with_untracked(|row| row.key.clone());
                        let anchor = row.with_untracked(ColumnRow::in_line);
                        let whole = key.clone();
                        view! {
                            <li
                                class="key"
                                class:lit=move || row.with(|row| row.lit)
                                data-anchor=anchor.to_string()
                                title=text(move || {
                                    let place = row.with(|row| row.place);
                                    heard::parts([&*key, &*strings::place(ui.lang.get(), place)])
                                })
                            >
                                <i class=text(move || row.with(|row| row.mark.class()))></i>
                                <span class="n" translate="no">
                                    {part(move || name(row.with(|row| row.name.clone()), &whole))}
                                </span>
                                <small>
                                    {text(move || {
                                        strings::place(ui.lang.get(), row.with(|row| row.place))
                                    })}
                                </small>
                            </li>
                        }
                    })}
                {part(move || {
                    let (count, _) = hidden.get();
                    (count > 0 && !flat())
                        .then(|| {
                            view! {
                                <li class="key rest" aria-hidden="true">
                                    <small>"…"</small>
                                </li>
                            }
                        })
                })}
            </ol>
        </Frame>
    }
}

/// Identifies a column: which informer's, and which key's.
fn place_of(row: &ColumnRow) -> (usize, Arc<str>) {
    (row.behind, Arc::from(&*row.key))
}

#[component]
fn Column(row: Memo<ColumnRow>) -> impl IntoView {
    let ui = Ui::get();
    let key = row.with_untracked(|row| row.key.clone());
    let stack = Memo::new(move |_| row.with(|row| row.stack.shown.clone()));
    let hidden = Memo::new(move |_| row.with(|row| row.stack.hidden));
    let anchor = row.with_untracked(ColumnRow::column);
    view! {
        <div
            class="col"
            role="list"
            data-anchor=anchor.to_string()
            title=text(move || {
                let lang = ui.lang.get();
                row.with(|row| heard::stack(lang, &row.key, row.count, row.plain))
            })
        >
            {list(stack, |row| row.index, move |row| {
                    let index = row.with_untracked(|row| row.index);
                    let key = key.clone();
                    let anchor = Anchor::Delta { key, index };
                    let oldest = index == 0;
                    view! {
                        <Delta row=row anchor=anchor listed=true testid="delta" />
                        {oldest
                            .then(|| {
                                view! {
                                    {part(move || {
                                        let hidden = hidden.get();
                                        (hidden > 0)
                                            .then(|| {
                                                view! {
                                                    <div
                                                        class="more-chip"
                                                        role="listitem"
                                                        title=strings::more(ui.lang.get(), hidden)
                                                    >
                                                        {format!("+{hidden}")}
                                                    </div>
                                                }
                                            })
                                    })}
                                }
                            })}
                    }
                })}
            {shown(move || stack.with(Vec::is_empty), move || view! {
                <div class="slot gone-slot" role="listitem" class:lit=move || row.with(|row| row.lit)>
                    {text(move || {
                        let again = row.with(|row| row.again);
                        let words = ui.words();
                        if again { words.object_ahead } else { words.object_gone }
                    })}
                </div>
            })}
        </div>
    }
}

#[component]
fn EntryToken(row: Memo<EntryRow>) -> impl IntoView {
    let ui = Ui::get();
    let place = row.with_untracked(|row| row.place);
    let about = part(move || {
        row.with(|row| match &row.crate_of {
            Some((count, marks)) => view! {
                {marks.iter().map(|mark| view! { <i class=mark.class()></i> }).collect_view()}
                <b>{*count}</b>
            }
            .into_any(),
            None if row.name.is_empty() => match row.delta_type {
                DeltaType::SyncAll => ui.words().whole_store.into_any(),
                _ => view! { "rv " {rv(row.rv.clone())} }.into_any(),
            },
            None => view! {
                <i class=row.mark.class()></i>
                <span class="n">{name(row.name.clone(), &row.key)}</span>
            }
            .into_any(),
        })
    });
    view! {
        <div
            class=text(move || {
                row.with(|row| {
                    let mut class = format!("d entry {}", type_class(row.delta_type));
                    for (on, name) in [
                        (row.lit, " new"),
                        (row.tombstone, " tombstone"),
                        (row.name.is_empty(), " whole"),
                        (row.crate_of.is_some(), " boxed"),
                    ] {
                        if on {
                            class.push_str(name);
                        }
                    }
                    class
                })
            })
            role="listitem"
            data-testid="delta"
            data-anchor=Anchor::Entry(place).to_string()
            title=text(move || {
                row.with(|row| {
                    let count = row.crate_of.as_ref().map(|(count, _)| *count);
                    let lang = ui.lang.get();
                    let what = strings::entry(lang, row.delta_type.as_str(), count, row.tombstone);
                    heard::parts([&*what, &*row.key, &*row.rv.said()])
                })
            })
            translate="no"
        >
            <span class="top">
                <svg
                    width="14"
                    height="14"
                    viewBox="0 0 14 14"
                    fill="none"
                    stroke="currentColor"
                    stroke-width="2"
                    aria-hidden="true"
                >
                    <path d=text(move || row.with(|row| glyph(row.delta_type)))></path>
                </svg>
                <span class="t">
                    {text(move || row.with(|row| row.delta_type.as_str()))}
                    {part(move || row.with(|row| row.tombstone).then_some("?"))}
                </span>
            </span>
            <span class="about">{about}</span>
            <span class="about">
                <small>{text(move || strings::place(ui.lang.get(), place))}</small>
                <em>
                    {part(move || {
                        row.with(|row| {
                            (row.delta_type != DeltaType::Bookmark).then(|| rv(row.rv.clone()))
                        })
                    })}
                </em>
            </span>
        </div>
    }
}
