//! The drawer's tab `checks`: the invariants that are checked along the run, and what they found.

use leptos::prelude::*;

use super::parts::part;
use super::tabs::{DrawerState, DrawerTab};
use crate::ui::Ui;
use deltascope_presentation::checks;
use deltascope_presentation::command::Command;
use deltascope_presentation::strings;
use deltascope_replay::invariants::{Invariant, Violation};
use deltascope_replay::smallest::Goal;

#[component]
pub(super) fn Checks() -> impl IntoView {
    let ui = Ui::get();
    let all = ui.memo(|view| deltascope_presentation::view::Checks::clone(&view.checks));
    view! {
        <h3 role=ui.heading()>{ui.word(|words| words.checks)}</h3>
        <p class="checks-note">{ui.word(|words| words.checks_note)}</p>
        <ul class="checks" data-testid="checks">
            {part(move || {
                let checks = all.get();
                Invariant::ALL
                    .iter()
                    .map(|monitor| {
                        let found = checks.violations.iter().find(|one| one.invariant == *monitor);
                        row(ui, *monitor, checks.applying.contains(monitor), found)
                    })
                    .collect_view()
            })}
        </ul>
    }
}

fn row(ui: Ui, monitor: Invariant, applies: bool, found: Option<&Violation>) -> AnyView {
    let (lang, words) = (ui.lang.get(), ui.words());
    let (class, sign, word) = match found {
        Some(found) if found.known => ("known", "!", words.check_known),
        Some(_) => ("broken", "×", words.check_broken),
        None if applies => ("holds", "✓", words.check_holds),
        None => ("off", "–", words.check_off),
    };
    let why = found.map(|found| {
        let explained = ui.view.with_untracked(|view| checks::explain(found, &view.picture, lang));
        let (to, invariant) = (found.at, found.invariant);
        view! {
            <p>{explained}</p>
            {found.known.then(|| view! { <p class="known-of">{checks::known(found).get(lang).to_owned()}</p> })}
            <button
                class="chip"
                data-at=to.to_string()
                on:click=move |_| ui.send(Command::Seek(to))
            >
                {words.check_jump}
                " · "
                <span class="mono">{strings::moment(lang, to, found.time)}</span>
            </button>
            " "
            <button
                class="chip"
                data-testid="check-smallest"
                on:click=move |_| ui.send(Command::Smallest(Some(Goal::Broken(invariant))))
            >
                {words.smallest}
            </button>
        }
    });
    view! {
        <li class=class data-monitor=monitor.id()>
            <span class="sign" role="img" aria-label=word title=word>
                {sign}
            </span>
            <div>
                <b>{checks::title(monitor, lang)}</b>
                {why}
            </div>
        </li>
    }
    .into_any()
}

/// A violation of an invariant, as a tick on the timeline.
pub(super) fn tick(ui: Ui, drawer: DrawerState, found: &Violation, style: String) -> AnyView {
    let lang = ui.lang.get();
    let explained = ui
        .view
        .with_untracked(|view| checks::explain(found, &view.picture, lang));
    let title = format!("{}: {explained}", checks::title(found.invariant, lang));
    let to = found.at;
    view! {
        <button
            class="violation"
            class:known=found.known
            data-testid="violation"
            data-monitor=found.invariant.id()
            aria-label=title.clone()
            title=title
            prop:style=style
            on:click=move |_| {
                ui.send(Command::Seek(to));
                drawer.show(DrawerTab::Checks);
            }
        ></button>
    }
    .into_any()
}
