//! The frame of a room, and rows that keep their elements.

use leptos::prelude::*;

use super::layout::Layout;
use super::parts::{Text, maybe, part, text};
use crate::ui::app::Ui;
use crate::ui::memo::Memo;
use crate::ui::rows::live::{self, Room};
use crate::ui::rows::{RvText, current};

/// A room: its heading, what stands at the right of it, and its content.
#[component]
pub(super) fn Frame(
    /// Which room.
    room: Room,
    /// Its title.
    title: Text,
    /// There is nothing in it: this program does without it.
    #[prop(optional)]
    absent: Option<Memo<bool>>,
    /// What stands at the right of the title.
    #[prop(into, optional)]
    side: ViewFn,
    /// Its content.
    children: Children,
) -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let live = ui.memo(move |view| current(view).is_some_and(|record| live::room(record) == room));
    let id = room.id();
    let tabbed = move || layout.is_tabbed(room);
    view! {
        <section
            id=format!("room-{id}")
            class=format!("room {id}")
            class:live=move || live.get()
            class:absent=move || absent.is_some_and(Memo::get)
            data-testid=format!("room-{id}")
            data-anchor=format!("room/{id}")
            role=maybe(move || tabbed().then_some("tabpanel"))
            aria-labelledby=text(move || {
                if tabbed() { format!("tab-{id}") } else { format!("title-{id}") }
            })
        >
            <div class="head">
                <h2 id=format!("title-{id}")>{title}</h2>
                {part(move || side.run())}
            </div>
            {children()}
        </section>
    }
}

/// A name; where it has a namespace, that gives way first.
pub(super) fn name(text: String) -> impl IntoView {
    let (namespace, name) = match text.rsplit_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), format!("/{name}")),
        None => (None, text),
    };
    view! {
        {namespace.map(|namespace| view! { <span class="ns">{namespace}</span> })}
        <span class="nm">{name}</span>
    }
}

/// A version: its tail, and the whole of it on hover.
pub(super) fn rv(rv: RvText) -> impl IntoView {
    let full = rv.full.map(|full| full.to_string());
    view! {
        <span class="v" title=full translate="no">
            {rv.short}
        </span>
    }
}
