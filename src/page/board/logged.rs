//! What a controller logged, in the handlers' room: beside each notification the line that says so.

use std::sync::Arc;

use leptos::prelude::*;

use super::parts::{list, part, text};
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::logged::{both, place, verdict};

/// Fills the place of the output, which says the same without the log.
pub(super) fn logged() -> AnyView {
    let ui = Ui::get();
    let heard = ui.memo(|view| view.heard.as_deref().cloned().unwrap_or_default());
    let rows = Memo::new(move |_| heard.with(|heard| heard.rows.clone()));
    let shown = NodeRef::<leptos::html::Div>::new();
    effect(move || {
        rows.track();
        if let Some(shown) = shown.get() {
            request_animation_frame(move || shown.set_scroll_top(shown.scroll_height()));
        }
    });
    view! {
        <div class="printed logged" data-testid="heard">
            <h3 class="sub" role=ui.heading()>{ui.word(|words| words.heard_log)}</h3>
            <p class="verdict">
                {text(move || heard.with(|heard| verdict(heard, ui.lang.get())))}
            </p>
            <div role="status">
                {part(move || {
                    let lang = ui.lang.get();
                    heard.with(|heard| heard.first.as_ref().map(|first| {
                        let both = both(heard, lang).into_iter();
                        let both = both.map(|line| view! { <p class="mono" translate="no">{line}</p> });
                        view! {
                            <div class="differs">
                                <p><b>{first.is.get(lang).to_owned()}</b></p>
                                {both.collect_view()}
                                {first.step.map(|step| view! {
                                    <button class="other" on:click=move |_| ui.send(Command::Seek(step))>
                                        {ui.words().informers_moment}
                                    </button>
                                })}
                            </div>
                        }
                    }))
                })}
            </div>
            <div
                class="output mono"
                role="list"
                aria-label=ui.word(|words| words.heard_log)
                node_ref=shown
                data-anchor=Anchor::LastLine.to_string()
                tabindex="0"
            >
                {list(rows, |row| (row.number, Arc::clone(&row.call)), move |row| {
                    let call = row.with_untracked(|row| row.call.to_string());
                    view! {
                        <div
                            class="line"
                            class:differs=move || row.with(|row| row.differs)
                            role="listitem"
                            data-testid="heard-line"
                            translate="no"
                        >
                            <span>{call}</span>
                            <small>{text(move || row.with(|row| place(row, ui.lang.get())))}</small>
                        </div>
                    }
                })}
            </div>
        </div>
    }
    .into_any()
}
