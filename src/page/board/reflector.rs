//! The reflector's room.

use leptos::prelude::*;

use super::drops::Drops;
use super::frame::{Frame, rv_if_any};
use super::layout::Layout;
use super::parts::{either, maybe, part, places, shown, text};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::decimal;
use deltascope_presentation::rows::reflector::{self, COUNTED, Held, ReflectorRows, rows};
use deltascope_presentation::rows::{hue_of, type_class};
use deltascope_presentation::stage::{Panel, PipeState, StateName};
use deltascope_presentation::strings::{behind, spoken};

#[component]
pub(super) fn Reflector() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let present = Memo::new(move |_| room.with(|room| room.present));
    // Where it is not between the rooms.
    let side = move || view! { <Pipe beside=true /> };
    view! {
        <Frame
            room=Panel::Reflector
            title=text(|| "Reflector")
            absent=Memo::new(move |_| !present.get())
            side=side
        >
            {either(
                move || present.get(),
                move || {
                    view! {
                        {states(ui, room)}
                        <h3 class="sub" role=ui.heading()>{ui.word(|words| words.requests)}</h3>
                        {requests(ui, room)}
                        {counts(ui, room)}
                        <p class="hand" role="group" data-anchor=Anchor::Hand.to_string()>
                            {part(move || in_hand(ui, room))}
                        </p>
                        <Drops place=Anchor::Room(Panel::Reflector) />
                    }
                },
                move || view! { <p class="empty">{ui.word(|words| words.no_reflector)}</p> },
            )}
        </Frame>
    }
}

/// Its states, and the one it is in.
fn states(ui: Ui, room: Memo<ReflectorRows>) -> AnyView {
    view! {
        <ol
            class="states"
            role="list"
            aria-label=text(move || spoken::states(ui.lang.get()))
        >
            {StateName::ALL
                .into_iter()
                .map(|state| {
                    let on = move || room.with(|room| room.on == Some(state));
                    let next = move || {
                        state == StateName::Relist && room.with(|room| room.relist_next)
                    };
                    view! {
                        <li
                            class="state"
                            class:on=on
                            class:next=next
                            aria-current=maybe(move || on().then_some("step"))
                            title=text(move || {
                                let next = if next() { ui.words().next } else { "" };
                                spoken::parts([state.label(), next])
                            })
                            data-anchor=Anchor::State(state).to_string()
                            translate="no"
                        >
                            {state.label()}
                        </li>
                    }
                })
                .collect_view()}
        </ol>
    }
    .into_any()
}

/// Its requests, with their answers.
fn requests(ui: Ui, room: Memo<ReflectorRows>) -> AnyView {
    // When only some rooms are shown, the list scrolls.
    let panels = Layout::get().panels;
    let few = Memo::new(move |_| panels.with(|rooms| !rooms.is_empty()));
    let requests = Memo::new(move |_| room.with(|room| room.requests.clone()));
    view! {
        <ol
            role="list"
            class="requests"
            aria-label=ui.word(|words| words.requests)
            data-testid="requests"
            data-anchor=Anchor::Requests.to_string()
            tabindex=maybe(move || few.get().then_some("0"))
        >
            {shown(move || requests.with(Vec::is_empty), move || view! {
                <li class="empty">{ui.word(|words| words.no_requests)}</li>
            })}
            {places(requests, move |row| {
                let asked = move || row.with(|row| row.text.clone());
                let answer = move || row.with(|row| row.said(ui.lang.get()));
                view! {
                    <li
                        class:lit=move || row.with(|row| row.lit)
                        title=text(move || format!("{} {}", asked(), answer()))
                        translate="no"
                    >
                        {text(asked)}
                        " "
                        <em class:Deleted=move || row.with(|row| row.failed)>{text(answer)}</em>
                    </li>
                }
            })}
        </ol>
    }
    .into_any()
}

/// The version that it has come to, and how often it did what.
fn counts(ui: Ui, room: Memo<ReflectorRows>) -> AnyView {
    view! {
        <dl class="kv">
            <div
                data-anchor=Anchor::LastSync.to_string()
                class:unavailable=move || room.with(|room| room.unavailable)
                title=text(move || {
                    room.with(|room| {
                        let gone = if room.unavailable { ui.words().unavailable } else { "" };
                        let is = ui.words().last_sync_is;
                        spoken::parts([is, &*room.last_sync.said(), gone])
                    })
                })
            >
                <dt translate="no">"lastSync"</dt>
                <dd>
                    {rv_if_any(Memo::new(move |_| room.with(|room| room.last_sync.clone())))}
                </dd>
            </div>
            {COUNTED
                .into_iter()
                .enumerate()
                .map(|(place, name)| {
                    let count = text(move || {
                        room.with(|room| room.counts[place].to_string())
                    });
                    row(name, count)
                })
                .collect_view()}
        </dl>
    }
    .into_any()
}

/// What it has in its hand.
fn in_hand(ui: Ui, room: Memo<ReflectorRows>) -> AnyView {
    match room.with(|room| room.held.clone()) {
        Some(Held::Temporary(count, marks)) => {
            let marks = marks.into_iter();
            let marks = marks.map(|mark| view! { <i class=mark.class()></i> });
            view! {
                <small>{ui.words().temporary}</small>
                <span class="held marks" data-testid="temporary-store">
                    {marks.collect_view()}
                    <b>{count}</b>
                </span>
            }
            .into_any()
        }
        Some(Held::Waits(ms)) => view! {
            <span class="held waits">
                {format!("{} {}", ui.words().waiting, decimal::tenths(ms))}
            </span>
        }
        .into_any(),
        Some(Held::Event(event, name)) => view! {
            <small>{ui.words().in_hand}</small>
            <span class=format!("held {}", type_class(hue_of(event))) translate="no">
                <b>{event.as_str()}</b>
                <span class="n">{name}</span>
            </span>
        }
        .into_any(),
        None => ().into_any(),
    }
}

/// The connection from the API server: between the two rooms, or in the heading of the reflector's.
#[component]
pub(super) fn Pipe(#[prop(optional)] beside: bool) -> impl IntoView {
    let ui = Ui::get();
    let pipe = ui.memo(reflector::pipe);
    // Nothing moves by itself while nothing happens.
    let flows = ui.memo(|view| view.playing || view.live.is_some_and(|live| live.following));
    let place = if beside { "pipe" } else { "link api-refl pipe" };
    view! {
        <div
            class=text(move || {
                let state = pipe.with(|pipe| match pipe.state {
                    PipeState::None => "none",
                    PipeState::Asked => "asked",
                    PipeState::Open => "open",
                    PipeState::Ended => "ended",
                    PipeState::Waiting => "waiting",
                });
                let flows = if flows.get() { " flows" } else { "" };
                [place, " ", state, flows].concat()
            })
            role="img"
            aria-label=text(move || {
                let state = pipe.with(|pipe| behind::pipe(ui.lang.get(), pipe));
                spoken::parts(["API server → Reflector", &*state])
            })
            data-testid=(!beside).then_some("pipe")
        >
            {part(move || {
                let pipe = pipe.get();
                let over = matches!(pipe.state, PipeState::Ended | PipeState::Waiting);
                over.then(|| {
                    let sign = match pipe.code {
                        0 => view! { <path d="M-4-4 4 4M4-4-4 4"></path> }.into_any(),
                        code => view! { <text y="4">{code}</text> }.into_any(),
                    };
                    view! {
                        <svg viewBox="-15 -15 30 30" aria-hidden="true" class:Deleted={pipe.code > 0}>
                            <circle r="14"></circle>
                            <circle
                                class="left"
                                r="14"
                                pathLength="100"
                                stroke-dasharray=format!("{} 100", pipe.left)
                            ></circle>
                            {sign}
                        </svg>
                    }
                })
            })}
            {beside.then(|| text(move || pipe.with(|pipe| behind::pipe(ui.lang.get(), pipe))))}
        </div>
    }
}

fn row(name: &'static str, value: super::parts::Text) -> impl IntoView {
    view! {
        <div>
            <dt translate="no">{name}</dt>
            <dd>{value}</dd>
        </div>
    }
}
