//! How much room there is: all rooms at once, the lower two in tabs, or one room at a time.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::Closure;
use web_sys::{MediaQueryList, ResizeObserver};

use super::drawer::DrawerState;
use super::parts::{shown, text};
use crate::ui::app::Ui;
use crate::ui::rows::current;
use crate::ui::rows::live::{self, Room};
use crate::ui::strings;

// The same limits as in style/stage.css; in em, so that larger text counts as less room.
const NARROW: &str = "(max-width: 56.24em)";
const SHORT: &str = "(max-height: 49.99em)";

/// What the components know of the screen.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// One room at a time.
    pub(super) narrow: RwSignal<bool>,
    /// The lower two rooms share one place.
    pub(super) short: RwSignal<bool>,
    /// The room that is shown when there is only one.
    pub(super) shown: RwSignal<Room>,
    /// Which of the lower two is shown when they share their place.
    lower: RwSignal<Room>,
    /// The drawer.
    pub(super) drawer: DrawerState,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self {
            narrow: media(NARROW),
            short: media(SHORT),
            shown: RwSignal::new(Room::Queue),
            lower: RwSignal::new(Room::Now),
            drawer: DrawerState::new(),
        }
    }

    pub(super) fn get() -> Self {
        expect_context::<Self>()
    }

    /// Whether `room` is behind a tab now.
    pub(super) fn is_tabbed(self, room: Room) -> bool {
        let lower = matches!(room, Room::Now | Room::Processor);
        self.narrow.get() || (lower && self.short.get())
    }

    pub(super) fn lower_is_processor(self) -> bool {
        self.lower.get() == Room::Processor
    }
}

/// The tabs of all rooms, where one is shown at a time.
#[component]
pub(super) fn RoomTabs() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    view! {
        {shown(move || layout.narrow.get(), move || view! {
            <nav class="room-nav" aria-label=ui.word(|words| words.rooms)>
                <Tabs class="room-tabs" rooms=&Room::ALL chosen=layout.shown />
            </nav>
        })}
    }
}

/// The tabs of the lower two rooms, where they share one place.
#[component]
pub(super) fn LowerTabs() -> impl IntoView {
    let layout = Layout::get();
    view! {
        {shown(move || layout.short.get() && !layout.narrow.get(), move || view! {
            <Tabs class="lower-tabs" rooms=&[Room::Now, Room::Processor] chosen=layout.lower />
        })}
    }
}

#[component]
fn Tabs(class: &'static str, rooms: &'static [Room], chosen: RwSignal<Room>) -> impl IntoView {
    let ui = Ui::get();
    let live = ui.memo(|view| current(view).map(live::room));
    let kind = ui.memo(|view| view.picture.queue.kind);
    let feed = ui.memo(|view| view.picture.api.feed);
    let list = NodeRef::<html::Div>::new();
    let go = move |room: Room| {
        chosen.set(room);
        let tab = document().get_element_by_id(&format!("tab-{}", room.id()));
        if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = tab.focus();
        }
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        let at = rooms
            .iter()
            .position(|room| *room == chosen.get_untracked());
        let at = at.unwrap_or_default();
        let to = match event.key().as_str() {
            "ArrowRight" => (at + 1) % rooms.len(),
            "ArrowLeft" => (at + rooms.len() - 1) % rooms.len(),
            "Home" => 0,
            "End" => rooms.len() - 1,
            _ => return,
        };
        event.prevent_default();
        go(rooms[to]);
    };
    view! {
        <div
            class=format!("tabs {class}")
            role="tablist"
            aria-label=ui.word(|words| words.rooms)
            node_ref=list
            on:keydown=on_key
        >
            {rooms
                .iter()
                .map(|room| {
                    let room = *room;
                    let on = move || chosen.get() == room;
                    let name = text(move || match room {
                        Room::Queue => kind.get().as_str(),
                        Room::Api => strings::feed(ui.lang.get(), feed.get()),
                        room => strings::room(ui.lang.get(), room),
                    });
                    view! {
                        <button
                            role="tab"
                            id=format!("tab-{}", room.id())
                            aria-controls=format!("room-{}", room.id())
                            aria-selected=text(move || on().to_string())
                            tabindex=text(move || if on() { "0" } else { "-1" })
                            class:acting=move || live.get() == Some(room)
                            on:click=move |_| go(room)
                        >
                            {name}
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// The size of an element in the design's px (16 to the rem), followed as it changes.
pub(super) fn size_of(element: NodeRef<html::Div>) -> RwSignal<(f64, f64)> {
    let size = RwSignal::new((0.0, 0.0));
    Effect::new(move |_| {
        let Some(element) = element.get() else {
            return;
        };
        let measured = element.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || {
            let scale = 16.0 / rem();
            let now = (
                f64::from(measured.client_width()) * scale,
                f64::from(measured.client_height()) * scale,
            );
            if size.get_untracked() != now {
                size.set(now);
            }
        });
        let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else {
            return;
        };
        observer.observe(&element);
        let kept = StoredValue::new_local((observer, on_resize));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    });
    size
}

/// How many boxes of `each` px with gaps of `gap` px fit into `length`; `unknown` before layout.
pub(super) fn fit(length: f64, each: f64, gap: f64, unknown: usize) -> usize {
    if length <= 0.0 {
        return unknown;
    }
    // Half a pixel of slack: sizes are rounded.
    let count = ((length + gap + 0.5) / (each + gap)).floor().max(0.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a cast saturates"
    )]
    let count = (count as usize).min(10_000);
    count
}

/// How many px of the page are one rem.
pub(super) fn rem() -> f64 {
    let root = document().document_element();
    let style = root.and_then(|root| window().get_computed_style(&root).ok().flatten());
    style
        .and_then(|style| style.get_property_value("font-size").ok())
        // The browser's own: another one would be ten KB more to load.
        .map(|size| js_sys::Number::parse_float(&size))
        .filter(|size| *size > 0.0)
        .unwrap_or(16.0)
}

fn media(query: &str) -> RwSignal<bool> {
    let matches = RwSignal::new(false);
    let Ok(Some(list)) = window().match_media(query) else {
        return matches;
    };
    matches.set(list.matches());
    let followed: MediaQueryList = list.clone();
    let on_change = Closure::<dyn FnMut()>::new(move || matches.set(followed.matches()));
    let _ = list.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
    let kept = StoredValue::new_local((list, on_change));
    on_cleanup(move || {
        kept.with_value(|(list, on_change)| {
            let _ = list
                .remove_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
        });
    });
    matches
}
