//! Lets what a step has not touched slide to its new place, so that the eye does not lose it.

use std::cell::RefCell;

use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::animate::{Animation, Timing, animate};
use crate::host::Host;
use crate::sight::elements;
use deltascope_presentation::decimal::decimals;

/// What others push aside: objects, items and keys of sets, lines of the stream, and keys of the queue.
const PUSHED: &str = ".room.api .obj, .room.indexer .obj, .room.indexer .tag, .wire, .col, .key";

/// What moves less than this, in px, has not moved.
const LEAST: f64 = 0.5;

/// The elements that are on their way.
#[derive(Default)]
pub struct Slides(RefCell<Vec<Animation>>);

/// Where the elements were before a step.
pub struct Places(Vec<(Element, [f64; 3])>);

impl Places {
    /// Where they are now.
    #[must_use]
    pub fn now(host: &Host) -> Self {
        let mut places = Vec::new();
        if let Some(found) = host.find_all(PUSHED) {
            for at in 0..found.length() {
                let element = found
                    .get(at)
                    .and_then(|node| node.dyn_into::<Element>().ok());
                let Some(element) = element else { continue };
                if let Some(place) = place(&element) {
                    places.push((element, place));
                }
            }
        }
        Self(places)
    }

    /// What is elsewhere now.
    #[must_use]
    pub fn moved(self, host: &Host) -> Vec<Moved> {
        let scale = host.scale();
        let moved = self
            .0
            .into_iter()
            .filter_map(|(element, [x, y, was_wide])| {
                let is_column = element.matches(".col").unwrap_or_default();
                let element = stays(host, element)?;
                let [to_x, to_y, wide] = place(&element)?;
                let by = [(x - to_x) * scale, (y - to_y) * scale];
                // A stack that has become a line has no old place.
                let same = !is_column || (wide - was_wide).abs() < LEAST;
                let moves = by.iter().any(|by| by.abs() > LEAST);
                (same && moves).then_some(Moved { element, by })
            });
        moved.collect()
    }
}

/// An element that is elsewhere than before, and how far away it was, in px.
pub struct Moved {
    element: Element,
    by: [f64; 2],
}

/// The lower left corner, because stacks grow upwards, and the width; none of what is not shown.
fn place(element: &Element) -> Option<[f64; 3]> {
    let rect = element.get_bounding_client_rect();
    (rect.width() > 0.0).then(|| [rect.left(), rect.bottom(), rect.width()])
}

/// The element itself, or of a key in the queue that is now below its deltas, and not beside them, the new one.
fn stays(host: &Host, element: Element) -> Option<Element> {
    if element.is_connected() {
        // What is beside its deltas slides with them.
        let has_own = |element: &Element| element.matches(".col > .key").is_ok_and(|is| !is);
        return Some(element).filter(has_own);
    }
    let anchor = element.get_attribute("data-anchor")?;
    let keys = host.find_all(".belt .key")?;
    let mut keys = (0..keys.length()).filter_map(|at| keys.get(at)?.dyn_into::<Element>().ok());
    keys.find(|key| {
        key.get_attribute("data-anchor")
            .is_some_and(|of| of == anchor)
    })
}

impl Slides {
    /// Ends all of them: everything is in place.
    pub fn cut(&self) {
        for slide in self.0.borrow_mut().drain(..) {
            slide.cancel();
        }
    }

    /// Lets what has moved slide to its new place, for `ms` ms, once what leaves has gone (`at`).
    pub fn play(&self, moved: Vec<Moved>, at: u32, ms: u32) {
        self.cut();
        let mut slides = self.0.borrow_mut();
        for Moved { element, by } in moved {
            let from = decimals("translate(#px,#px)", &by);
            let frames: [&[_]; 2] = [&[("transform", &*from)], &[("transform", "none")]];
            let fill = "backwards";
            slides.push(animate(&element, &frames, Timing { at, ms, fill }));
        }
    }
}

/// Scrolls the Indexer to what a step has changed: to the indices first, else to the items.
pub fn reveal(host: &Host) {
    let find = |selector: &str| host.find(selector);
    // Items drawn as cells stay in place; then only the indices scroll.
    let split = find(".split.many > .tree").or_else(|| find(".split"));
    let Some(split) = split else { return };
    let find = |selector| split.query_selector(selector).ok().flatten();
    let changed = find(".tag.out, .tag.new, .strip > .out, .strip > .lit");
    let Some(changed) = changed.or_else(|| find(".obj.out, .obj.new")) else {
        return;
    };
    let (here, room) = (
        changed.get_bounding_client_rect(),
        split.get_bounding_client_rect(),
    );
    // Below it there is room for the count of what follows, unless that would push it out above. A box that is not shown has no height.
    let count = here.height().min(room.height() - here.height());
    let below = here.bottom() + count - room.bottom();
    let over = below.max(0.0) + (here.top() - room.top()).min(0.0);
    if room.height() > 0.0 && over != 0.0 {
        #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
        let over = over as i32;
        split.set_scroll_top(split.scroll_top() + over);
    }
}

/// Ends the indices with a whole line where not all of them are in sight, and counts the values of which not all is.
pub fn count_below(host: &Host) {
    let tree = host.find(".split:not(.many) > .tree");
    let Some(tree) = tree.and_then(|tree| tree.dyn_into::<HtmlElement>().ok()) else {
        return;
    };
    let Some(split) = tree.parent_element() else {
        return;
    };
    let bottom = split.get_bounding_client_rect().bottom();
    let ends = |element: &Element| element.get_bounding_client_rect().bottom();
    let values = elements(host, ".split:not(.many) .row.v");
    let set = match values
        .last()
        .is_some_and(|last| ends(last) > bottom + LEAST)
    {
        true => elements(host, ".split:not(.many) .tag"),
        false => Vec::new(),
    };
    let high = set
        .first()
        .map_or(0.0, |key| key.get_bounding_client_rect().height());
    let cut = set.into_iter().find(|key| ends(key) > bottom - high);
    let Some(cut) = cut else {
        // Fails only for a malformed name.
        let _ = tree.remove_attribute("data-more");
        return;
    };
    // The name of an index is not left alone.
    let is_first = cut.matches(":first-child > .set > :first-child");
    let whole = cut.closest(".index").ok().flatten();
    let edge = whole
        .filter(|_| is_first.unwrap_or_default())
        .unwrap_or(cut);
    let edge = edge.get_bounding_client_rect().top();
    let below = values.iter().filter(|value| ends(value) > edge).count();
    let _ = tree.set_attribute("data-more", &format!("+{below}"));
    let _ = tree
        .style()
        .set_property("--cut", &decimals("#px", &[bottom - edge]));
}
