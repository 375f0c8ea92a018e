//! The drawer's tab `why`: the chain of causes, each link a jump.

use leptos::prelude::*;

use super::parts::part;
use super::strip::spans;
use crate::ui::app::Ui;
use crate::ui::command::Command;
use crate::ui::session::why::Link;
use crate::ui::strings;

/// The tab.
#[component]
pub(super) fn Why() -> impl IntoView {
    let ui = Ui::get();
    ui.send(Command::AskWhy(true));
    on_cleanup(move || ui.send(Command::AskWhy(false)));
    view! {
        <h3>{ui.word(|words| words.why_this_step)}</h3>
        {part(move || {
            let lang = ui.lang.get();
            let why = ui.view.with(|view| view.why.clone());
            let Some(why) = why else {
                return view! { <p class="empty">{ui.words().why_nothing}</p> }.into_any();
            };
            let origin = match why.origin {
                Some(origin) => strings::origin(lang, origin),
                None => ui.words().why_more.to_owned(),
            };
            view! {
                <ol class="chain" data-testid="chain">
                    {why.links.iter().map(|one| link(ui, one)).collect_view()}
                    <li class="origin" data-testid="origin">{origin}</li>
                </ol>
            }
                .into_any()
        })}
    }
}

fn link(ui: Ui, link: &Link) -> AnyView {
    let lang = ui.lang.get();
    let to = link.at;
    view! {
        <li>
            <button data-at=to.to_string() on:click=move |_| ui.send(Command::Seek(to))>
                <span class="when mono">
                    {strings::moment(lang, to, link.time)}
                    " · "
                    {strings::room(lang, link.room)}
                </span>
                <span>{spans(link.words(lang))}</span>
            </button>
        </li>
    }
    .into_any()
}
