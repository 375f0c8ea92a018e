//! Where Tab stops on the board, and what the arrow keys do there: once in each room, and on other pages once in
//! each row of buttons, so that the board does not hold up the readers of the page around it.
//!
//! In a room the stop is one of its things, the elements with an anchor. ↑, ↓, Home and End make another thing the
//! stop, and Enter or Space asks about it. ← and → step through the run, as everywhere.
//!
//! Buttons come, go and are disabled as a run goes on, so no button is marked as the only stop of its row.
//! Instead, while Tab is pressed, the others are not focusable.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, NodeList};

use super::layout::Layout;
use super::tabs::{DrawerTab, focus_on};
use crate::host::Host;
use crate::memo::effect;
use crate::ui::Ui;
use deltascope_presentation::stage::Panel;

const ROW: &str = "[role=toolbar]";

/// The things in a room. A field of cells has a cursor of its own.
const THINGS: &str = "[data-anchor]:not([data-anchor=\"\"], [hidden] *, .cells *, .strip *)";

/// A room's stop, and the `tabindex` that its element has when it is not the stop.
struct Stop {
    room: Panel,
    thing: HtmlElement,
    before: Option<String>,
}

/// The stops of the rooms.
#[derive(Clone, Default)]
struct Stops(Rc<RefCell<Vec<Stop>>>);

impl Stops {
    /// Gives each room a stop that has none, or whose thing has left it.
    fn keep(&self, host: &Host) {
        for room in Panel::ALL {
            let Some(section) = host.find(&format!("#room-{}", room.id())) else {
                continue;
            };
            let is_there = |stop: &Stop| stop.room == room && section.contains(Some(&stop.thing));
            if self.0.borrow().iter().any(is_there) {
                continue;
            }
            let things = section.query_selector_all(THINGS).ok();
            let things = things.into_iter().flat_map(all);
            let things: Vec<_> = things.filter(|thing| self.is_thing(thing)).collect();
            // What the user can do something with comes first.
            let button = things.iter().find(|thing| thing.tag_name() == "BUTTON");
            if let Some(thing) = button.or(things.first()) {
                self.stop_at(room, thing);
            }
        }
    }

    /// Makes this thing the stop of its room.
    fn stop_at(&self, room: Panel, thing: &HtmlElement) {
        let mut stops = self.0.borrow_mut();
        if let Some(at) = stops.iter().position(|stop| stop.room == room) {
            let old = stops.swap_remove(at);
            let _ = match &old.before {
                Some(before) => old.thing.set_attribute("tabindex", before),
                None => old.thing.remove_attribute("tabindex"),
            };
        }
        stops.push(Stop {
            room,
            thing: thing.clone(),
            before: thing.get_attribute("tabindex"),
        });
        thing.set_tab_index(0);
    }

    fn is_stop(&self, thing: &Element) -> bool {
        self.0.borrow().iter().any(|stop| **stop.thing == **thing)
    }

    /// Whether there is something to ask about. A box that scrolls is a stop of its own.
    fn is_thing(&self, thing: &HtmlElement) -> bool {
        let scrolls = thing.get_attribute("tabindex").as_deref() == Some("0");
        let text = thing.text_content().unwrap_or_default();
        let is_empty = thing.title().is_empty() && text.trim().is_empty();
        !is_empty && (!scrolls || self.is_stop(thing))
    }

    /// The room of a thing, and the things on the screen in it.
    fn around(&self, thing: &Element) -> Option<(Panel, Vec<HtmlElement>)> {
        let (room, section) = room_of(thing)?;
        let things = all(section.query_selector_all(THINGS).ok()?);
        let is_seen = |thing: &HtmlElement| thing.get_bounding_client_rect().width() > 0.0;
        Some((
            room,
            things
                .filter(|thing| self.is_thing(thing) && is_seen(thing))
                .collect(),
        ))
    }
}

fn all(found: NodeList) -> impl Iterator<Item = HtmlElement> {
    (0..found.length()).filter_map(move |place| found.get(place)?.dyn_into().ok())
}

fn room_of(thing: &Element) -> Option<(Panel, Element)> {
    let section = thing.closest(".room").ok().flatten()?;
    let room = Panel::named(section.id().strip_prefix("room-")?)?;
    Some((room, section))
}

/// From now on each room of this board is one stop; on another page each row of buttons, too.
pub(super) fn listen(ui: Ui, layout: Layout) {
    let host = ui.host();
    let stops = Stops::default();
    let (kept, here) = (stops.clone(), host.clone());
    effect(move || {
        ui.view.track();
        ui.built.track();
        let (kept, here) = (kept.clone(), here.clone());
        // Once the things of this step are in place.
        request_animation_frame(move || kept.keep(&here));
    });
    let followed = stops.clone();
    host.listen("focusin", move |event: Event| {
        // A click on a button focuses it, too.
        if let Some(thing) = target(&event)
            && thing.tag_name() == "BUTTON"
            && thing.matches(THINGS).unwrap_or_default()
            && !followed.is_stop(&thing)
            && let Some((room, _)) = room_of(&thing)
        {
            followed.stop_at(room, &thing);
        }
    });
    let is_page = host.is_page();
    host.listen("keydown", move |event: KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() || event.default_prevented() {
            return;
        }
        let Some(target) = target(&event) else {
            return;
        };
        if target.matches(THINGS).unwrap_or_default() {
            on_thing(ui, layout, &stops, &target, &event);
        } else if !is_page && let Some((buttons, at)) = row(&target) {
            if event.key() == "Tab" {
                pass(buttons, at);
            } else if let Some(button) = along(&event.key(), &buttons, at) {
                event.prevent_default();
                let _ = button.focus();
            }
        }
    });
}

fn target(event: &Event) -> Option<HtmlElement> {
    event.target()?.dyn_into().ok()
}

/// Where a key leads along a row.
fn along<'a>(key: &str, row: &'a [HtmlElement], at: usize) -> Option<&'a HtmlElement> {
    match key {
        "ArrowDown" => row.get(at + 1).or(row.first()),
        "ArrowUp" => at.checked_sub(1).map_or(row.last(), |at| row.get(at)),
        "Home" => row.first(),
        "End" => row.last(),
        _ => None,
    }
}

/// A key on a thing: it leads to another thing, or asks about this one.
fn on_thing(ui: Ui, layout: Layout, stops: &Stops, thing: &HtmlElement, event: &KeyboardEvent) {
    let key = event.key();
    if matches!(&*key, "Enter" | " ") {
        // The browser clicks a button by itself.
        if thing.tag_name() != "BUTTON" {
            event.prevent_default();
            thing.click();
            if layout.drawer.open.get_untracked() == Some(DrawerTab::Why) {
                focus_on(ui, "#drawer-panel".to_owned());
            }
        }
        return;
    }
    // In a box that scrolls these keys scroll.
    if !stops.is_stop(thing) {
        return;
    }
    let Some((room, things)) = stops.around(thing) else {
        return;
    };
    let at = things.iter().position(|one| one == thing);
    if let Some(next) = along(&key, &things, at.unwrap_or_default()) {
        event.prevent_default();
        stops.stop_at(room, next);
        let _ = next.focus();
    }
}

/// The buttons of the row that holds this one, and its place among them.
fn row(button: &Element) -> Option<(Vec<HtmlElement>, usize)> {
    let row = button.closest(ROW).ok().flatten()?;
    let found = row.query_selector_all("button:not(:disabled)").ok()?;
    let buttons: Vec<HtmlElement> = all(found)
        // A hidden button takes no focus.
        .filter(|button: &HtmlElement| button.client_height() > 0)
        .collect();
    let at = buttons.iter().position(|one| **one == *button)?;
    Some((buttons, at))
}

/// Makes the browser leave the row: it looks for the next stop after this handler.
fn pass(buttons: Vec<HtmlElement>, at: usize) {
    let others: Vec<HtmlElement> = (0..)
        .zip(buttons)
        .filter_map(|(place, button)| (place != at).then_some(button))
        .collect();
    for button in &others {
        button.set_tab_index(-1);
    }
    request_animation_frame(move || {
        for button in &others {
            let _ = button.remove_attribute("tabindex");
        }
    });
}
