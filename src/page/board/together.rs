//! The strip of tabs under the header, when several resources are watched.

use leptos::html;
use leptos::prelude::*;

use super::layout::Layout;
use super::parts::{along, in_sight, part};
use super::tabs::focus_on;
use crate::live::Link;
use crate::memo::effect_after;
use crate::ui::Ui;
use deltascope_presentation::cluster::{Status, Tab};

/// The id of a tab's element.
pub(super) fn tab_id(id: u64) -> String {
    format!("watched-{id}")
}

/// Does what may show another tab. Each has its own tab of the drawer open.
pub(super) fn turn(layout: Layout, link: Link, act: impl FnOnce()) {
    let from = link.shown();
    act();
    layout.drawer.turn(from, link.shown());
}

#[component]
pub(super) fn Strip() -> impl IntoView {
    let (ui, layout, link) = (Ui::get(), Layout::get(), Link::get());
    let row = NodeRef::<html::Div>::new();
    effect_after(move |before: Option<u64>| {
        let shown = link.tabs.with(|tabs| Tab::shown(tabs));
        // Not at each new count: whoever scrolls the strip looks for another one.
        if before != Some(shown) {
            in_sight(ui, row, &tab_id(shown));
        }
        shown
    });
    let focus = move || focus_on(ui, format!("#{}", tab_id(link.shown())));
    let show = move |id: u64| turn(layout, link, || link.show(id));
    let close = move || {
        turn(layout, link, || link.close());
        // The strip goes with the last tab but one.
        match link.tabs.with_untracked(Vec::len) > 1 {
            true => focus(),
            false if link.status.with_untracked(Status::is_on) => {
                focus_on(ui, ".live-badge".to_owned());
            }
            false => focus_on(ui, ".to-cluster".to_owned()),
        }
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        let tabs = link
            .tabs
            .with_untracked(|tabs| tabs.iter().map(|tab| tab.id).collect::<Vec<_>>());
        let shown = link.shown();
        let at = tabs.iter().position(|id| *id == shown);
        if event.key() == "Delete" {
            close();
        } else if let Some(to) = along(&event, at, tabs.len()) {
            show(tabs[to]);
            focus();
        }
    };
    let tab = move |tab: &Tab| {
        let (id, on, lang) = (tab.id, tab.shown, ui.lang.get());
        let mut class = String::new();
        for (is, name) in [
            (!tab.status.is_well(), "trouble"),
            (!tab.status.is_on(), " off"),
        ] {
            class.push_str(if is { name } else { "" });
        }
        view! {
            <button
                role="tab"
                id=tab_id(id)
                class=class
                aria-controls="watched"
                aria-selected=on.to_string()
                tabindex=if on { "0" } else { "-1" }
                on:click=move |_| show(id)
            >
                <i class="dot"></i>
                <span translate="no">{tab.title.get(lang).to_owned()}</span>
                <small>{tab.words(lang)}</small>
            </button>
        }
        .into_any()
    };
    view! {
        <div class="watched">
            <div
                class="tabs"
                role="tablist"
                aria-label=ui.word(|words| words.cluster_tabs)
                node_ref=row
                on:keydown=on_key
            >
                // Drawn anew in place, so that a tab keeps the focus.
                {part(move || link.tabs.with(|tabs| tabs.iter().map(tab).collect_view()))}
            </div>
            <button
                class="chip round"
                data-testid="tab-close"
                aria-label=ui.word(|words| words.tab_close)
                title=ui.word(|words| words.tab_close)
                on:click=move |_| close()
            >
                "×"
            </button>
        </div>
    }
}
