//! The shared processor's room.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::frame::Frame;
use super::layout::Layout;
use super::parts::{list, part, shown, text};
use crate::ui::app::Ui;
use crate::ui::memo::Memo;
use crate::ui::rows::live::Room;
use crate::ui::rows::processor::{HandlerRow, RING, rows};
use crate::ui::strings;

/// The room.
#[component]
pub(super) fn Processor() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let handlers = Memo::new(move |_| room.with(|room| room.handlers.clone()));
    let output = Memo::new(move |_| room.with(|room| room.output.clone()));
    // Handlers that run inside process are no listeners of anything.
    let inline = Memo::new(move |_| {
        handlers.with(|rows| !rows.is_empty() && rows.iter().all(|row| row.inline))
    });
    let title = text(move || {
        let words = ui.words();
        if inline.get() {
            words.handlers
        } else {
            words.shared_processor
        }
    });
    let side = move || {
        view! {
            <span class="count">
                {part(move || {
                    (!inline.get())
                        .then(|| strings::listeners(ui.lang.get(), handlers.with(Vec::len)))
                })}
            </span>
        }
    };
    let printed = NodeRef::<html::Div>::new();
    let layout = Layout::get();
    Effect::new(move |_| {
        // Once more when the room comes into sight: what is hidden does not scroll.
        layout.lower_is_processor();
        layout.shown.track();
        output.track();
        if let Some(printed) = printed.get() {
            request_animation_frame(move || printed.set_scroll_top(printed.scroll_height()));
        }
    });
    view! {
        <Frame room=Room::Processor title=title side=side>
            <div class="two">
                <ul class="handlers" tabindex="0">
                    {list(handlers, |row| (row.number, Arc::clone(&row.name)), move |row| {
                            view! { <Handler row=row /> }
                        })}
                    {shown(move || handlers.with(Vec::is_empty), move || view! {
                        <li class="empty">{ui.word(|words| words.no_handlers)}</li>
                    })}
                </ul>
                <div class="printed">
                    <h3 class="sub">{ui.word(|words| words.output)}</h3>
                    <div class="output mono" node_ref=printed data-anchor="output/last" tabindex="0">
                        {list(output, |row| (row.number, Arc::clone(&row.text)), move |row| {
                                let text = row.with_untracked(|row| row.text.to_string());
                                view! {
                                    <div
                                        class="line"
                                        class:lit=move || row.with(|row| row.lit)
                                        data-testid="output-line"
                                        translate="no"
                                    >
                                        {text}
                                    </div>
                                }
                            })}
                        {shown(move || output.with(Vec::is_empty), move || view! {
                            <p class="empty">{ui.word(|words| words.no_output)}</p>
                        })}
                    </div>
                </div>
            </div>
        </Frame>
    }
}

#[component]
fn Handler(row: Memo<HandlerRow>) -> impl IntoView {
    let ui = Ui::get();
    let (number, name, inline) =
        row.with_untracked(|row| (row.number, row.name.to_string(), row.inline));
    let over = move || row.with(|row| row.pending.saturating_sub(RING));
    let busy = move || row.with(|row| row.running.is_some());
    view! {
        <li
            class="lst"
            class:lit=move || row.with(|row| row.lit)
            class:inline=inline
            data-anchor=format!("handler/{number}")
        >
            <span class="n mono" title=name.clone() translate="no">
                {name.clone()}
            </span>
            <span class="ring" aria-hidden="true">
                <i
                    class=text(move || {
                        row.with(|row| format!("run {}", row.running.unwrap_or_default()))
                    })
                    data-anchor=format!("handler/{number}/running")
                    title=text(move || row.with(|row| row.running_name.clone()))
                ></i>
                {(0..RING)
                    .map(|place| {
                        view! {
                            <i
                                class=text(move || {
                                    row.with(|row| {
                                        row.ring.get(place).copied().unwrap_or_default()
                                    })
                                })
                                data-anchor=format!("handler/{number}/pending/{place}")
                            ></i>
                        }
                    })
                    .collect_view()}
                <small>
                    {part(move || {
                        let over = over();
                        (over > 0).then(|| format!("+{over}"))
                    })}
                </small>
            </span>
            <span class="load mono" class:busy=busy>
                {text(move || {
                    if inline {
                        ui.words().inline_handler.to_owned()
                    } else {
                        strings::load(ui.lang.get(), row.with(|row| row.pending), busy())
                    }
                })}
            </span>
        </li>
    }
}
