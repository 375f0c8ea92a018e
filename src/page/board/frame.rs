//! The frame of a room, and rows that keep their elements.

use leptos::prelude::*;

use super::layout::Layout;
use super::parts::{Text, maybe, part, text};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::live;
use deltascope_presentation::rows::{RvText, current};
use deltascope_presentation::stage::Panel;
use deltascope_replay::picture::InformerKind;

/// A room: its heading, what stands at the right of it, and its content.
#[component]
pub(super) fn Frame(
    /// Which room.
    room: Panel,
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
    let unused = ui.memo(move |view| {
        let queues = matches!(room, Panel::Reflector | Panel::Queue | Panel::Pop);
        (queues && !view.picture.informer.has_queue())
            .then_some(room == Panel::Reflector && view.picture.informer == InformerKind::Client)
    });
    view! {
        <section
            id=format!("room-{id}")
            class=format!("room {id}")
            class:live=move || live.get()
            class:absent=move || absent.is_some_and(Memo::get)
            class:unused=move || unused.get().is_some()
            data-testid=format!("room-{id}")
            data-anchor=Anchor::Room(room).to_string()
            part=format!("room room-{id}")
            role=maybe(move || if tabbed() { Some("tabpanel") } else { ui.within() })
            aria-labelledby=text(move || {
                if tabbed() { format!("tab-{id}") } else { format!("title-{id}") }
            })
        >
            <div class="head">
                <h2 id=format!("title-{id}") role=ui.heading()>{title}</h2>
                {part(move || side.run())}
            </div>
            {part(move || {
                let words = ui.words();
                unused.get().map(|asks| {
                    let text = if asks { words.unused_reflector } else { words.unused };
                    view! { <p class="empty not-here">{text}</p> }
                })
            })}
            {children()}
        </section>
    }
}

/// A name. Where there is no room for its namespace, that goes (unless it has been cut already, for
/// what is left of it is needed); then the middle of the name gives way to its end.
pub(super) fn name(text: String) -> impl IntoView {
    // So many letters at its end tell most pods of one owner apart.
    const END: usize = 5;
    let (namespace, name) = match text.rfind('/') {
        Some(at) if !text.contains('…') => text.split_at(at + 1),
        _ => ("", &*text),
    };
    let middle = name.chars().count().saturating_sub(END);
    let middle = name.char_indices().nth(middle).map_or(0, |(at, _)| at);
    let (start, end) = name.split_at(middle);
    let namespace =
        (!namespace.is_empty()).then(|| view! { <span class="ns">{namespace.to_owned()}</span> });
    view! {
        {namespace}
        <span class="nm"><span class="n">{start.to_owned()}</span>{end.to_owned()}</span>
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
