//! The queue's room.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::density::cells;
use super::drops::Drops;
use super::frame::{Frame, has_synced, name, rv};
use super::icons::{self, glyph};
use super::layout::{Layout, size_of};
use super::parts::{Text, list, maybe, part, shown, text};
use super::token::Delta;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::density::{Field, is_queue_dense};
use deltascope_presentation::rows::queue::fit::{Form, Room, Space, space};
use deltascope_presentation::rows::queue::{ColumnRow, CrateRow, EntryRow, QueueRows, rows};
use deltascope_presentation::rows::{Mark, type_class};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::{self, spoken};
use deltascope_replay::picture::{ProcessMode, QueueKind};

/// In an element that shows few rooms, a narrower room has slim tokens.
const SLIM_ROOM: f64 = 330.0;
/// A narrower token is slim, too.
const NARROW: i32 = 108;

/// The room at 1440 by 900, until the first layout.
const USUAL: Room = Room {
    width: 354,
    height: 301,
    slim: false,
    lined: false,
};

#[component]
pub(super) fn Queue() -> impl IntoView {
    let ui = Ui::get();
    let cols_box = NodeRef::<html::Div>::new();
    let size = size_of(cols_box);
    let kind = ui.memo(|view| view.picture.queue.kind);
    let dense = ui.memo(|view| is_queue_dense(&view.picture));
    let panels = Layout::get().panels;
    let slim = Memo::new(move |_| {
        let few = panels.with(|rooms| !rooms.is_empty());
        let flat = kind.get() == QueueKind::RealFifo;
        few && !flat && size.get().0 < SLIM_ROOM
    });
    let space = space_in(ui, size, slim);
    let compact = Memo::new(move |_| space.get().form == Form::Compact);
    let small = Memo::new(move |_| space.get().small > 0);
    let room = Memo::new(move |_| {
        let space = space.get();
        ui.view.with(|view| rows(view, &space))
    });
    let columns = Memo::new(move |_| room.with(|room| room.columns.clone()));
    // In lines, the name of a key is beside its deltas.
    let belt = Memo::new(move |_| match compact.get() {
        true => Vec::new(),
        false => columns.get(),
    });
    let entries = Memo::new(move |_| room.with(|room| room.entries.clone()));
    let hidden = Memo::new(move |_| {
        room.with(|room| (room.hidden_keys + room.hidden_entries, room.hidden_lit))
    });
    let empty = Memo::new(move |_| room.with(|room| room.keys == 0 && room.deltas == 0));
    let flat = move || kind.get() == QueueKind::RealFifo;
    let has_stacks = move || !empty.get() && kind.get() == QueueKind::DeltaFifo;
    // Without it, what is queued seems to be forgotten.
    let held = ui.memo(|view| {
        let pop = &view.picture.pop;
        view.story.is_none() && pop.mode == ProcessMode::Held && pop.asked == 0
    });
    let waited = ui.memo(|view| view.picture.pop.asked > 0);
    let can_pop = move || panels.with(Vec::is_empty) && ui.shape.with(|shape| !shape.watch);
    view! {
        <Frame room=Panel::Queue title=title(ui, kind) side=move || side(ui, room, kind)>
            {shown(move || dense.get(), || cells(Field::Queue, |words| words.queued, None))}
            <Drops place=Anchor::Room(Panel::Queue) />
            <div
                class="cols"
                class:slim=move || slim.get() || space.get().each < NARROW
                class:flat=flat
                class:compact=move || compact.get()
                class:many=move || dense.get()
                node_ref=cols_box
                prop:style=move || sizes(&space.get())
                role=maybe(move || flat().then_some("list"))
                aria-label=maybe(move || {
                    flat().then(|| strings::entries(ui.lang.get(), room.with(|room| room.deltas)))
                })
                title=maybe(move || (has_stacks() && !compact.get()).then(|| ui.words().oldest_bottom))
            >
                {list(columns, place_of, move |row| {
                        view! { <Column row=row compact=compact small=small /> }
                    })}
                {list(entries, |row| row.place, move |row| {
                        view! { <EntryToken row=row compact=compact /> }
                    })}
                {part(move || {
                    let (count, lit) = hidden.get();
                    (count > 0).then(|| more(ui, count, lit, flat()))
                })}
                {shown(move || empty.get(), move || view! {
                    <div class="slot empty-slot">
                        <span>{text(move || match waited.get() {
                            true => ui.words().pop_waits,
                            false => ui.words().empty_queue,
                        })}</span>
                    </div>
                })}
            </div>
            {shown(move || held.get() && !empty.get() && can_pop(), move || view! {
                <p class="held-back" data-testid="held-back">{ui.word(|words| words.held_back)}</p>
            })}
            <ol
                class="belt"
                role="list"
                aria-label=text(move || spoken::keys(ui.lang.get(), room.with(|room| room.keys)))
                aria-hidden=maybe(move || (flat() || compact.get()).then_some("true"))
                hidden=move || dense.get()
                class:flat=move || flat() || compact.get()
                class:narrow=move || small.get()
                prop:style=move || sizes(&space.get())
            >
                {list(belt, place_of, move |row| {
                        view! { <li role="presentation"><InLine row=row /></li> }
                    })}
            </ol>
            {shown(move || has_stacks() && compact.get() && !dense.get(), move || view! {
                <p class="sub oldest">{ui.word(|words| words.oldest_right)}</p>
            })}
        </Frame>
    }
}

/// How much room there is, and what fits into it.
fn space_in(ui: Ui, size: RwSignal<(f64, f64)>, slim: Memo<bool>) -> Memo<Space> {
    Memo::new(move |before: Option<&Space>| {
        let lined = before.is_some_and(Space::is_lined);
        let (width, height) = size.get();
        let room = match width > 0.0 {
            // Sizes are rounded.
            true => Room {
                width: px(width + 0.5),
                height: px(height - 0.5),
                slim: slim.get(),
                lined,
            },
            false => Room { lined, ..USUAL },
        };
        ui.view.with(|view| space(view, room))
    })
}

/// Which queue it is.
fn title(ui: Ui, kind: Memo<QueueKind>) -> Text {
    let telling = ui.memo(|view| view.story.is_some());
    text(move || {
        let kind = kind.get().id();
        // A story speaks of a queue, before it says of which kind.
        match telling.get() {
            true => [strings::room(ui.lang.get(), Panel::Queue), " · ", kind].concat(),
            false => kind.to_owned(),
        }
    })
}

/// Beside its title: what holds of the queue, and how much is in it.
fn side(ui: Ui, room: Memo<QueueRows>, kind: Memo<QueueKind>) -> AnyView {
    let count = move || {
        room.with(|room| match room.kind {
            QueueKind::RealFifo => strings::entries(ui.lang.get(), room.deltas),
            QueueKind::Fifo => strings::places(ui.lang.get(), room.keys, room.deltas),
            QueueKind::DeltaFifo => strings::queued(ui.lang.get(), room.keys, room.deltas),
        })
    };
    view! {
        <span class="side">
            {part(move || {
                let synced = room.with(|room| room.synced);
                let class = if synced { "flag" } else { "heard" };
                view! {
                    <span class=class title=ui.words().queue_synced translate="no">
                        {has_synced(synced)}
                    </span>
                }
            })}
            {part(move || {
                room.with(|room| room.closed)
                    .then(|| view! { <span class="flag">{ui.words().closed}</span> })
            })}
            <span class="count" class:stacks=move || kind.get() == QueueKind::DeltaFifo>{text(count)}</span>
        </span>
    }
    .into_any()
}

/// The place of what does not fit.
fn more(ui: Ui, count: usize, lit: bool, flat: bool) -> AnyView {
    view! {
        <div
            class="more-slot"
            role=if flat { "listitem" } else { "group" }
            class:lit=lit
            data-anchor=Anchor::More.to_string()
            title=strings::more(ui.lang.get(), count)
        >
            {format!("+{count}")}
        </div>
    }
    .into_any()
}

/// A length in whole px.
fn px(length: f64) -> i32 {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "px of a screen; a cast saturates"
    )]
    let length = length.floor() as i32;
    length
}

/// The sizes of the tokens, for style/queue.css.
fn sizes(space: &Space) -> String {
    format!(
        "--each:{};--gap:{};--high:{};--above:{};--small:{};--label:{}",
        space.each, space.gap, space.high, space.above, space.small, space.label
    )
}

/// A key's name and its place in the queue.
#[component]
fn InLine(row: Memo<ColumnRow>) -> impl IntoView {
    let ui = Ui::get();
    let key = row.with_untracked(|row| row.key.clone());
    let anchor = row.with_untracked(ColumnRow::in_line);
    let place = move || strings::place(ui.lang.get(), row.with(|row| row.place));
    let whole = key.clone();
    view! {
        <div
            class="key"
            role="listitem"
            class:lit=move || row.with(|row| row.lit)
            class:next=move || row.with(|row| row.place == 0)
            data-anchor=anchor.to_string()
            title=text(move || spoken::parts([&*key, &*place()]))
        >
            <i class=text(move || row.with(|row| row.mark.class()))></i>
            <span class="n" translate="no">
                {part(move || name(row.with(|row| row.name.clone()), &whole))}
            </span>
            <small>{text(place)}</small>
        </div>
    }
}

/// Identifies a column: which informer's, and which key's.
fn place_of(row: &ColumnRow) -> (usize, Arc<str>) {
    (row.behind, Arc::from(&*row.key))
}

#[component]
fn Column(row: Memo<ColumnRow>, compact: Memo<bool>, small: Memo<bool>) -> impl IntoView {
    let ui = Ui::get();
    let key = row.with_untracked(|row| row.key.clone());
    let stack = Memo::new(move |_| row.with(|row| row.stack.shown.clone()));
    let hidden = Memo::new(move |_| row.with(|row| row.stack.hidden));
    let anchor = row.with_untracked(ColumnRow::column);
    view! {
        <div
            class="col"
            class:compact=move || compact.get()
            role="list"
            data-anchor=anchor.to_string()
            title=text(move || {
                let lang = ui.lang.get();
                row.with(|row| spoken::stack(lang, &row.key, row.count, row.plain))
            })
        >
            {shown(move || compact.get(), move || view! { <InLine row=row /> })}
            {list(stack, |row| row.index, move |row| {
                    let index = row.with_untracked(|row| row.index);
                    let key = key.clone();
                    let anchor = Anchor::Delta { key, index };
                    let oldest = index == 0;
                    view! {
                        <Delta row=row anchor=anchor listed=true small=small testid="delta" />
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
fn EntryToken(row: Memo<EntryRow>, compact: Memo<bool>) -> impl IntoView {
    let ui = Ui::get();
    let place = row.with_untracked(|row| row.place);
    let version = Memo::new(move |_| row.with(|row| row.rv.clone()));
    let about = part(move || {
        row.with(|row| match &row.crate_of {
            Some(list) => listed(list),
            None if row.name.is_empty() => match row.delta_type {
                DeltaType::SyncAll => ui.words().whole_store.into_any(),
                _ => view! { "rv " {rv(version)} }.into_any(),
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
                        (compact.get(), " small"),
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
                    let count = row.crate_of.as_ref().map(|list| list.count);
                    let lang = ui.lang.get();
                    let what = strings::entry(lang, row.delta_type.as_str(), count, row.tombstone);
                    spoken::parts([&*what, &*row.key, &*row.rv.said()])
                })
            })
            translate="no"
        >
            <span class="top">
                {icons::delta(text(move || row.with(|row| glyph(row.delta_type))))}
                <span class="t">
                    {text(move || row.with(|row| row.delta_type.as_str()))}
                    {part(move || row.with(|row| row.tombstone).then_some("?"))}
                </span>
                {part(move || {
                    let count = row.with(|row| row.crate_of.as_ref().map(|list| list.count));
                    count.map(|count| view! { <b>{count}</b> })
                })}
            </span>
            <span class="about of">{about}</span>
            <span class="about at">
                <small>{text(move || strings::place(ui.lang.get(), place))}</small>
                <em>
                    {shown(
                        move || row.with(|row| row.delta_type != DeltaType::Bookmark),
                        move || rv(version),
                    )}
                </em>
            </span>
        </div>
    }
}

/// The objects of a whole list, as many as fit.
fn listed(list: &CrateRow) -> AnyView {
    let hidden = list.hidden();
    let object = |(mark, name): &(Mark, String)| {
        view! {
            <span class="one"><i class=mark.class()></i>{name.clone()}</span>
        }
    };
    view! {
        {list.named.iter().map(object).collect_view()}
        {(hidden > 0).then(|| view! { <span class="one">{format!("+{hidden}")}</span> })}
    }
    .into_any()
}
