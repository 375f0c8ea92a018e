//! The frame of a room.

use leptos::prelude::*;

use super::layout::Layout;
use super::parts::{Live, Text, either, maybe, part, text};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::acting;
use deltascope_presentation::rows::{self, RvText, current, pieces};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::spoken;
use deltascope_presentation::view::story::Lit;
use deltascope_replay::gauge::Freshness;
use deltascope_replay::picture::InformerKind;

/// A room: its heading, extras at the right of the heading, and its content.
#[component]
pub(super) fn Frame(
    room: Panel,
    title: Text,
    /// Whether the room is empty because this program does not use it.
    #[prop(optional)]
    absent: Option<Memo<bool>>,
    /// What to show at the right of the title.
    #[prop(into, optional)]
    side: ViewFn,
    children: Children,
) -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let live =
        ui.memo(move |view| current(view).is_some_and(|record| acting::room(record) == room));
    let id = room.id();
    let tabbed = move || layout.is_tabbed(room);
    let lit = ui.memo(move |view| {
        view.story
            .as_ref()
            .map_or(Lit::Lit, |story| story.lit(room))
    });
    let unused = ui.memo(move |view| {
        rows::is_unused(view, room)
            .then_some(room == Panel::Reflector && view.picture.informer == InformerKind::Client)
    });
    view! {
        <section
            id=format!("room-{id}")
            class=format!("room {id}")
            class:live=move || live.get()
            class:shown=move || layout.shown.get() == room
            class:absent=move || absent.is_some_and(Memo::get)
            class:unused=move || unused.get().is_some()
            class:dimmed=move || lit.get() == Lit::Dimmed && !layout.narrow.get()
            class:folded=move || lit.get() == Lit::Folded && !layout.narrow.get()
            prop:inert=move || lit.get() != Lit::Lit && !layout.narrow.get()
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

/// A name that is shortened where there is little room. The namespace is dropped first, unless it has been cut
/// already (what is left of it is needed). Then the middle of the name is left out, and its end stays. Assistive
/// technology gets `key` in place of the pieces, which it would read as several words.
pub(super) fn name(text: String, key: &str) -> impl IntoView + use<> {
    let (namespace, start, end) = pieces(&text);
    let whole = namespace.is_empty() && start.is_empty() && text == key;
    let key = (!whole).then(|| view! { <span class="heard">{key.to_owned()}</span> });
    let namespace = (!namespace.is_empty())
        .then(|| view! { <span class="ns" aria-hidden="true">{namespace.to_owned()}</span> });
    view! {
        {key}
        {namespace}
        <span class="nm" aria-hidden=(!whole).then_some("true")>
            <span class="n">{start.to_owned()}</span>
            {end.to_owned()}
        </span>
    }
}

/// A version: its last digits, with the whole version as a tooltip and for assistive technology.
pub(super) fn rv(rv: Memo<RvText>) -> AnyView {
    let full = move || rv.with(|rv| rv.full.as_ref().map(ToString::to_string));
    let short = move || text(move || rv.with(|rv| rv.short.clone()));
    view! {
        <span class="v" title=maybe(full) translate="no">
            {either(
                move || rv.with(|rv| rv.full.is_some()),
                move || said(short(), text(move || full().unwrap_or_default())),
                short,
            )}
        </span>
    }
    .into_any()
}

/// The same, or a dash if there is none.
pub(super) fn rv_if_any(version: Memo<RvText>) -> Live<AnyView> {
    let is_none = move || version.with(|rv| rv.short.is_empty());
    either(is_none, || "–", move || rv(version))
}

/// The version in the cache and the one on the server, where they differ; assistive technology says `heard`.
pub(super) fn versions(
    freshness: Freshness,
    [cached, server]: [&RvText; 2],
    heard: [&str; 2],
) -> Option<AnyView> {
    let one = |text: Option<&RvText>| match text {
        Some(text) => rv(Memo::fixed(text.clone())),
        None => "–".into_any(),
    };
    let [cached, server] = rows::versions(freshness, cached, server)?;
    let shown = view! { {one(cached)} " → " {one(server)} };
    let both = view! {
        <span class="heard">{spoken::parts(heard)}</span>
        <span aria-hidden="true">{shown}</span>
    };
    Some(both.into_any())
}

/// A text, and what assistive technology says in its place.
pub(super) fn said(shown: impl IntoView, heard: impl IntoView) -> AnyView {
    view! {
        <span class="heard">{heard}</span>
        <span aria-hidden="true">{shown}</span>
    }
    .into_any()
}

/// Whether something has synced: for the eye by a colour or by being there, for assistive technology in words.
pub(super) fn has_synced(synced: bool) -> AnyView {
    said("HasSynced".to_owned(), spoken::has_synced(synced))
}
