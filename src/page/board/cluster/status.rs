//! The state of the connection to a cluster: in the header, in the transport and on a card.

use leptos::prelude::*;

use crate::board::parts::{part, shown, text};
use crate::live::Link;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::cluster::Status;
use deltascope_presentation::command::Command;
use deltascope_presentation::strings;

/// Shows that the page is live, and the state of the connection. A click opens the dialog.
pub(in crate::board) fn badge(open: RwSignal<bool>) -> AnyView {
    let ui = Ui::get();
    let status = Link::get().status;
    let is_on = Memo::new(move |_| status.with(|status| status.is_on()));
    let has_trouble = move || status.with(|status| !status.is_well());
    view! {
        {shown(move || is_on.get(), move || view! {
            <button
                class="chip live-badge"
                class:trouble=has_trouble
                data-testid="live-badge"
                aria-haspopup="dialog"
                title=text(move || {
                    let title = ui.view.with(|view| view.lesson.title.clone());
                    title.get(ui.lang.get()).to_owned()
                })
                on:click=move |_| open.set(true)
            >
                <i class="dot"></i>
                <b translate="no">"LIVE"</b>
                <span class="words">
                    {text(move || status.with(|status| status.words(ui.lang.get())))}
                </span>
                <span class="short" aria-hidden="true">
                    {text(move || status.with(Status::short))}
                </span>
            </button>
        })}
    }
    .into_any()
}

/// What is wrong with the connection, until it works again.
pub(in crate::board) fn trouble() -> AnyView {
    let ui = Ui::get();
    let status = Link::get().status;
    let trouble = Memo::new(move |_| status.with(|status| status.trouble.clone()));
    view! {
        {part(move || {
            let trouble = trouble.get()?;
            Some(
                view! {
                    <div class="problem-card live-trouble" role="status" data-testid="live-trouble">
                        <span>{text(move || trouble.get(ui.lang.get()).to_owned())}</span>
                    </div>
                },
            )
        })}
    }
    .into_any()
}

/// A button that goes to the edge of a live run and follows it.
pub(in crate::board) fn edge() -> AnyView {
    let ui = Ui::get();
    let live = ui.memo(|view| view.live);
    let is_live = Memo::new(move |_| live.get().is_some());
    let following = Memo::new(move |_| live.get().is_some_and(|live| live.following));
    let at_edge = Memo::new(move |_| live.get().is_some_and(|live| live.following && !live.late));
    view! {
        {shown(move || is_live.get(), move || view! {
            <button
                class="edge"
                class:on=move || at_edge.get()
                data-testid="btn-live"
                aria-pressed=text(move || following.get().to_string())
                title=ui.word(|words| words.go_live)
                on:click=move |_| ui.send(Command::GoLive)
            >
                <i class="dot"></i>
                {text(move || match live.get() {
                    // A lag that is only the animation of one fact at a time is not worth a number.
                    Some(live) if live.late || !live.following => {
                        strings::facts_behind(ui.lang.get(), live.behind, live.following)
                    }
                    _ => ui.words().live.to_owned(),
                })}
            </button>
        })}
    }
    .into_any()
}
