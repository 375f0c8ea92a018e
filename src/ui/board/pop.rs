//! Pop's room.

use leptos::html;
use leptos::prelude::*;

use super::frame::{Frame, name};
use super::icons::lock;
use super::layout::{fit, size_of};
use super::parts::{list, part, text};
use super::token::Delta;
use crate::cache::fact::Actor;
use crate::replay::picture::ProcessMode;
use crate::ui::app::Ui;
use crate::ui::command::Command;
use crate::ui::i18n::Lang;
use crate::ui::memo::Memo;
use crate::ui::rows::live::Room;
use crate::ui::rows::pop::{PoppedRow, rows};
use crate::ui::strings;

/// The rest after each Pop that the switch sets, in virtual ms: long enough to see, short enough
/// not to bore.
const PACE: u32 = 1000;

// Heights of a delta in the slot, the gap after it and what stands above, in style/pop.css.
const DELTA: f64 = 26.0;
const GAP: f64 = 4.0;
const WHO: f64 = 24.0;
/// How many deltas the slot shows at most.
const SLOT: usize = 4;

/// The room.
#[component]
pub(super) fn Pop() -> impl IntoView {
    let ui = Ui::get();
    let slot = NodeRef::<html::Div>::new();
    let slot_size = size_of(slot);
    let places = Memo::new(move |_| fit(slot_size.get().1 - WHO, DELTA, GAP, 3).clamp(1, SLOT));
    let room = Memo::new(move |_| {
        let places = places.get();
        ui.view.with(|view| rows(view, places))
    });
    let mode = Memo::new(move |_| room.with(|room| room.mode));
    let held = move || mode.get() == ProcessMode::Held;
    let actor_name = move |actor: Actor| strings::short_actor(ui.lang.get(), actor);
    let side = move || {
        view! { <span class="gauge mode">{text(move || strings::mode(ui.lang.get(), mode.get()))}</span> }
    };
    let locks = Memo::new(move |_| room.with(|room| (room.holder, room.waiting.clone())));
    view! {
        <Frame room=Room::Pop title=text(|| "Pop") side=side>
            <div class="segments" role="group" aria-label=ui.word(|words| words.mode)>
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
            <button
                class="btn pop-one"
                data-testid="btn-pop"
                disabled=move || !held()
                on:click=move |_| ui.send(Command::PopOne)
            >
                {ui.word(|words| words.pop_one)}
                {part(move || {
                    let asked = room.with(|room| room.asked);
                    (asked > 0).then(|| view! { <small class="asked">{asked}</small> })
                })}
            </button>
            <div class="locks">
                <div
                    class="lock"
                    class:free=move || locks.with(|(holder, _)| holder.is_none())
                    data-anchor="pop/lock"
                >
                    {lock()}
                    <span>
                        {text(move || {
                            locks
                                .with(|(holder, _)| *holder)
                                .map_or_else(|| ui.words().lock_free.to_owned(), actor_name)
                        })}
                    </span>
                </div>
                {part(move || {
                    let waiting = locks.with(|(_, waiting)| waiting.clone());
                    let more = waiting.len().saturating_sub(1);
                    waiting
                        .first()
                        .map(|actor| {
                            let text = strings::waits_for_lock(ui.lang.get(), &actor_name(*actor));
                            view! {
                                <div class="lock wait">
                                    {lock()} <span>{text}</span>
                                    {(more > 0).then(|| format!("+{more}"))}
                                </div>
                            }
                        })
                })}
            </div>
            <h3 class="sub" translate="no">
                "process( )"
            </h3>
            <div
                class="slot work"
                class:busy=move || room.with(|room| room.processing.is_some())
                data-anchor="pop/slot"
                node_ref=slot
            >
                <Work room=Memo::new(move |_| room.with(|room| room.processing.clone())) />
            </div>
            <h3 class="sub">{ui.word(|words| words.last_popped)}</h3>
            <div class="last" data-anchor="pop/last">
                {part(move || {
                    let last = room.with(|room| room.last.clone());
                    match last {
                        Some(last) => view! { <Last popped=last /> }.into_any(),
                        None => {
                            view! { <p class="empty">{ui.words().nothing_popped}</p> }.into_any()
                        }
                    }
                })}
            </div>
        </Frame>
    }
}

#[component]
fn Work(room: Memo<Option<PoppedRow>>) -> impl IntoView {
    let deltas = Memo::new(move |_| {
        room.with(|popped| {
            popped
                .as_ref()
                .map(|popped| popped.stack.shown.clone())
                .unwrap_or_default()
        })
    });
    view! {
        {part(move || {
            room.with(|popped| {
                popped
                    .as_ref()
                    .map(|popped| {
                        view! {
                            <span class="who" translate="no" title=popped.key.to_string()>
                                <i class=popped.mark.class()></i>
                                <span class="n">{name(popped.name.clone())}</span>
                                {(popped.stack.hidden > 0)
                                    .then(|| {
                                        view! { <small>{format!("+{}", popped.stack.hidden)}</small> }
                                    })}
                            </span>
                        }
                    })
            })
        })}
        <div class="crate">
            {list(deltas, |row| row.index, move |row| {
                    let anchor = format!("pop/delta/{}", row.with_untracked(|row| row.index));
                    view! { <Delta row=row anchor=anchor /> }
                })}
        </div>
    }
}

#[component]
fn Last(popped: PoppedRow) -> impl IntoView {
    let title = format!("{} · {}", popped.key, popped.count);
    view! {
        <div class="last-token" title=title>
            {popped
                .stack
                .shown
                .into_iter()
                .map(|row| {
                    view! { <Delta row=Memo::fixed(row) anchor="pop/last/delta".to_owned() /> }
                })
                .collect_view()}
            <span class="who" translate="no">
                <i class=popped.mark.class()></i>
                <span class="n">{name(popped.name)}</span>
                {(popped.stack.hidden > 0)
                    .then(|| view! { <small>{format!("+{}", popped.stack.hidden)}</small> })}
            </span>
        </div>
    }
}
