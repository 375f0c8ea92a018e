//! The texts of stories, and their marked words, each of which says what it is.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, Node, PointerEvent};

use super::parts::{maybe, part, shown, text};
use crate::later::{Part, Stands, stands};
use crate::memo::effect;
use crate::ui::Ui;
use deltascope_presentation::story::words::{Piece, pieces};
use deltascope_presentation::terms::{Term, find};
use deltascope_world::text::{Lang, Text};

/// What is said keeps this distance from the edges of the window, in px.
const EDGE_PX: f64 = 8.0;

/// A text with its terms marked.
pub(super) fn words(text: &Text, lang: Lang) -> AnyView {
    let pieces = pieces(text.get(lang)).into_iter().map(|piece| {
        let text = piece.text().to_owned();
        match piece {
            Piece::Plain(_) => text.into_any(),
            Piece::Term(_) => marked(text),
            Piece::Emphasis(_) => view! { <em>{text}</em> }.into_any(),
            Piece::Code(_) => view! { <code translate="no">{text}</code> }.into_any(),
        }
    });
    view! { <p>{pieces.collect_view()}</p> }.into_any()
}

/// A marked word. It says what it is once the rest of the program is there, which has the glossary.
fn marked(word: String) -> AnyView {
    part(move || {
        let is_there = stands(Part::Rest) == Stands::There;
        match is_there.then(|| find(&word)).flatten() {
            Some(term) => known(term, word.clone()),
            None => view! { <b class="term">{word.clone()}</b> }.into_any(),
        }
    })
    .into_any()
}

/// A word that says what it is: while it is pointed at or has the focus, or once it was pressed, until it is pressed
/// again, something else is, or Escape. In the top layer, for its panel may scroll.
#[inline(never)]
fn known(term: &'static Term, word: String) -> AnyView {
    let ui = Ui::get();
    let open = RwSignal::new(false);
    // Pressed: stays when the mouse leaves.
    let stays = RwSignal::new(false);
    let focused = RwSignal::new(false);
    let whole = NodeRef::<html::Span>::new();
    let says = NodeRef::<html::Span>::new();
    let id = format!("term-{}", term.name(Lang::En));
    let describes = id.clone();
    let set = move |is: bool, pressed: bool| {
        open.set(is);
        stays.set(is && pressed);
    };
    let put = move || {
        if let Some((whole, says)) = whole.get_untracked().zip(says.get_untracked()) {
            place(&whole, &says);
        }
    };
    effect(move || {
        if let Some(says) = says.get() {
            // Without this method it stands in the text.
            let _ = says.show_popover();
            put();
        }
    });
    // The word is drawn anew with its text: keys stay in the panel.
    on_cleanup(move || {
        let is_focused = focused.try_get_untracked() == Some(true);
        if let Some(host) = ui.host.try_get_value().filter(|_| is_focused) {
            host.focus_still(".tale");
        }
    });
    let press = move || set(!stays.get_untracked(), true);
    let is_mouse = |event: &PointerEvent| event.pointer_type() == "mouse";
    view! {
        <span
            class="marked"
            node_ref=whole
            on:pointerenter=move |event| if is_mouse(&event) { open.set(true) }
            on:pointerleave=move |event| if is_mouse(&event) && !stays.get_untracked() && !focused.get_untracked() { open.set(false) }
            on:focusin=move |_| {
                focused.set(true);
                open.set(true);
            }
            on:focusout=move |_| {
                focused.set(false);
                set(false, false);
            }
        >
            <b
                class="term"
                role="button"
                tabindex="0"
                aria-expanded=text(move || open.get().to_string())
                aria-describedby=maybe(move || open.get().then(|| describes.clone()))
                // The focus, or the mouse, has opened it: the first press lets it stay.
                on:click=move |_| press()
                on:keydown=move |event: KeyboardEvent| {
                    if matches!(&*event.key(), "Enter" | " ") {
                        event.prevent_default();
                        press();
                    }
                }
            >
                {word}
            </b>
            {shown(move || open.get(), move || {
                let host = ui.host();
                host.listen_first("keydown", move |event: KeyboardEvent| {
                    if event.key() == "Escape" {
                        event.prevent_default();
                        set(false, false);
                    }
                });
                host.listen_first("pointerdown", move |event: Event| {
                    let target = event.target().and_then(|target| target.dyn_into::<Node>().ok());
                    let whole = whole.get_untracked();
                    if !whole.is_some_and(|whole| whole.contains(target.as_ref())) {
                        set(false, false);
                    }
                });
                host.listen_first("scroll", move |_: Event| put());
                let scrolled = window_event_listener_untyped("scroll", move |_| put());
                on_cleanup(move || scrolled.remove());
                view! {
                    <span
                        class="term-says"
                        id=id.clone()
                        role="tooltip"
                        aria-live="off"
                        popover="manual"
                        node_ref=says
                        data-testid="term-says"
                    >
                        {text(move || term.says(ui.lang.get()))}
                    </span>
                }
            })}
        </span>
    }
    .into_any()
}

/// Puts what is said above its word, or below where there is no room.
fn place(word: &Element, says: &HtmlElement) {
    let (there, own) = (
        word.get_bounding_client_rect(),
        says.get_bounding_client_rect(),
    );
    let wide = window()
        .inner_width()
        .ok()
        .and_then(|wide| wide.as_f64())
        .unwrap_or_default();
    let left = there.left().min(wide - own.width() - EDGE_PX).max(EDGE_PX);
    let above = there.top() - own.height();
    let top = if above < EDGE_PX {
        there.bottom()
    } else {
        above
    };
    let style = says.style();
    for (name, px) in [("left", left), ("top", top)] {
        // Fails only for a malformed value.
        let _ = style.set_property(name, &format!("{px}px"));
    }
}
