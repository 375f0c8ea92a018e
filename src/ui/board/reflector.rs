//! The reflector's room.

use leptos::prelude::*;

use super::frame::{Frame, rv};
use super::parts::{either, maybe, part, text};
use crate::ui::app::Ui;
use crate::ui::memo::Memo;
use crate::ui::rows::live::Room;
use crate::ui::rows::reflector::{StateName, rows};

/// The room.
#[component]
pub(super) fn Reflector() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let present = Memo::new(move |_| room.with(|room| room.present));
    view! {
            <Frame
                room=Room::Reflector
                title=text(|| "Reflector")
                absent=Memo::new(move |_| !present.get())
            >
                {either(
    move || present.get(),
    move || view! {
                    <ol class="states">
                        {StateName::ALL
                            .into_iter()
                            .map(|state| {
                                let on = Memo::new(move |_| room.with(|room| room.on == Some(state)));
                                let note = part(move || {
                                    room.with(|room| match state {
                                        StateName::Backoff if on.get() => {
                                            Some(format!("{:.1} s", seconds(room.backoff_ms)))
                                        }
                                        StateName::Relist if room.relist_next => {
                                            Some(ui.words().next.to_owned())
                                        }
                                        _ => on.get().then(|| "●".to_owned()),
                                    })
                                });
                                view! {
                                    <li
                                        class="state"
                                        class:on=move || on.get()
                                        aria-current=maybe(move || on.get().then_some("step"))
                                        data-anchor=format!("reflector/state/{}", state.id())
                                        translate="no"
                                    >
                                        {state.label()}
                                        <span class="note">{note}</span>
                                    </li>
                                }
                            })
                            .collect_view()}
                    </ol>
                    <dl class="kv">
                        <div data-anchor="reflector/lastsync">
                            <dt translate="no">"lastSync"</dt>
                            <dd>
                                {part(move || {
                                    let text = room.with(|room| room.last_sync.clone());
                                    if text.short.is_empty() {
                                        "–".into_any()
                                    } else {
                                        rv(text).into_any()
                                    }
                                })}
                            </dd>
                        </div>
                        <div>
                            <dt translate="no">"events"</dt>
                            <dd>{part(move || room.with(|room| room.events))}</dd>
                        </div>
                        <div>
                            <dt translate="no">"relists"</dt>
                            <dd>{part(move || room.with(|room| room.relists))}</dd>
                        </div>
                    </dl>
                    <p class="hand" data-anchor="reflector/hand">
                        {part(move || {
                            let (stopped, hand) = room
                                .with(|room| (room.stopped, room.in_hand.clone()));
                            if stopped {
                                return view! { <span class="chip">{ui.words().stopped}</span> }
                                    .into_any();
                            }
                            hand.map(|(event, class, name)| {
                                    view! {
                                        <small>{ui.words().in_hand}</small>
                                        <span class=format!("held {class}") translate="no">
                                            <b>{event}</b>
                                            <span>{name}</span>
                                        </span>
                                    }
                                })
                                .into_any()
                        })}
                    </p>
                },
    move || view! { <p class="empty">{ui.word(|words| words.no_reflector)}</p> },
    )}
            </Frame>
        }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a wait of a few seconds, shown with one decimal"
)]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
