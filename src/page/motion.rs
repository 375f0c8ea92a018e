//! Draws motions over the stage: a travelling copy, its path, its ghost, and highlights.
//!
//! When a motion begins, the screen shows the new picture already; the element that arrives is only hidden until
//! its copy lands. So a motion can be cut short at any time: everything is in place.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlElement, Node};

use crate::host::{Host, anchor_of};
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::motion::geometry::{Path, Point, beside, climbing, ease};
use deltascope_presentation::motion::plan::{
    Flight, Hides, LIGHT_MS, Look, MOVE_MS, Motion, SETTLE_MS,
};
use deltascope_presentation::rows::type_class;

/// How long neighbours take to close a gap.
const SLIDE_MS: u32 = 300;

/// A trail keeps this distance from the elements it connects, in px.
const GAP: f64 = 4.0;

/// The size of a token, in px.
const TOKEN: (f64, f64) = (110.0, 29.0);

/// The layer above the stage.
#[derive(Clone)]
pub struct Stage {
    inner: Rc<Inner>,
}

struct Inner {
    host: Host,
    /// Numbers the motions: a frame of an older one does nothing.
    turn: Cell<u64>,
    /// Elements whose style a motion has changed; cutting restores them.
    touched: RefCell<Vec<HtmlElement>>,
}

/// The layout of the screen before the fact.
pub struct Before {
    from: Option<(Spot, Element)>,
    slides: Vec<(Anchor, Rect)>,
}

/// Where an element had landed.
pub struct Landed {
    spot: Spot,
}

/// A place on the screen, and whether it is only the way into a room.
#[derive(Clone, Copy)]
struct Spot {
    rect: Rect,
    is_door: bool,
}

#[derive(Clone, Copy)]
struct Rect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Rect {
    /// An element's box in px of the layer, which the page around may have scaled.
    fn of(host: &Host, element: &Element) -> Option<Self> {
        let rect = element.get_bounding_client_rect();
        let scale = host.scale();
        // An element of a room that is not shown has no size.
        (rect.width() > 0.0).then(|| Self {
            x: rect.x() * scale,
            y: rect.y() * scale,
            width: rect.width() * scale,
            height: rect.height() * scale,
        })
    }

    /// The area of this box that a box of `size` would cover with its middle at `at`.
    fn covered(self, at: Point, size: Self) -> f64 {
        let (left, top) = (at.x - size.width / 2.0, at.y - size.height / 2.0);
        let width = (self.x + self.width).min(left + size.width) - self.x.max(left);
        let height = (self.y + self.height).min(top + size.height) - self.y.max(top);
        width.max(0.0) * height.max(0.0)
    }

    /// A box of the size of `other`, inside this room at the edge that is nearest to it.
    fn door(self, other: Self) -> Self {
        let (width, height) = (other.width.min(self.width), other.height.min(self.height));
        let (left, right) = (self.x + GAP, self.x + self.width - width - GAP);
        let (top, bottom) = (self.y + GAP, self.y + self.height - height - GAP);
        let within = |at: f64, least: f64, most: f64| at.min(most).max(least);
        let (mut x, mut y) = (within(other.x, left, right), within(other.y, top, bottom));
        if other.x + other.width <= self.x {
            x = left;
        } else if other.x >= self.x + self.width {
            x = right;
        } else if other.y + other.height <= self.y {
            y = top;
        } else if other.y >= self.y + self.height {
            y = bottom;
        }
        Self {
            x,
            y,
            width,
            height,
        }
    }

    /// This box, or one of a token's size in its middle if it is as large as a room.
    fn token(self) -> Self {
        let (width, height) = TOKEN;
        if self.height < height * 4.0 {
            return self;
        }
        let Point { x, y } = self.centre();
        Self {
            x: x - width / 2.0,
            y: y - height / 2.0,
            width,
            height,
        }
    }

    /// Its middle, without size.
    fn middle(self) -> Self {
        let Point { x, y } = self.centre();
        Self {
            x,
            y,
            width: 0.0,
            height: 0.0,
        }
    }

    fn centre(self) -> Point {
        Point {
            x: self.x + self.width / 2.0,
            y: self.y + self.height / 2.0,
        }
    }
}

impl Stage {
    /// The stage of this board.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self {
            inner: Rc::new(Inner {
                host,
                turn: Cell::new(0),
                touched: RefCell::default(),
            }),
        }
    }

    /// Where the board is mounted.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Ends all motions: the screen shows the picture and nothing else.
    pub fn cut(&self) {
        let host = self.host();
        host.measure_scale();
        self.inner.turn.set(self.inner.turn.get() + 1);
        for element in self.inner.touched.borrow_mut().drain(..) {
            restore(&element);
        }
        if let Some(layer) = layer(host) {
            layer.set_text_content(None);
        }
    }

    /// Records where the elements are before the screen changes.
    #[must_use]
    pub fn before(&self, motion: &Motion) -> Before {
        let host = self.host();
        let from = motion.flight.as_ref().and_then(|flight| {
            let (element, is_door) = first(host, &flight.from)?;
            let rect = Rect::of(host, &element)?;
            Some((Spot { rect, is_door }, copy(&element)?))
        });
        let mut slides = Vec::new();
        if let Some(found) = host.find_all(".room.queue [data-anchor]") {
            for place in 0..found.length() {
                let element = found.get(place).and_then(|n| n.dyn_into::<Element>().ok());
                let Some(element) = element else { continue };
                if let Some(anchor @ (Anchor::Column { .. } | Anchor::QueuedKey { .. })) =
                    anchor_of(&element)
                    && let Some(rect) = Rect::of(host, &element)
                {
                    slides.push((anchor, rect));
                }
            }
        }
        Before { from, slides }
    }

    /// Shows the motion, once the screen has changed. `scaled` converts ms to the current speed; `still` means
    /// that nothing may move.
    pub fn play(&self, before: Before, motion: &Motion, still: bool, scaled: impl Fn(u32) -> u32) {
        let host = self.host();
        let found = motion.flight.as_ref().and_then(|flight| {
            let (to, is_door) = first(host, &flight.to)?;
            let target = Spot {
                rect: within_room(host, &to, Rect::of(host, &to)?),
                is_door,
            };
            let (origin, leaving) = before.from.as_ref()?;
            Some((flight, to, *origin, target, leaving))
        });
        let (Some((flight, to, origin, target, leaving)), Some(layer)) = (found, layer(host))
        else {
            self.flash(&motion.flash, scaled(SETTLE_MS));
            return;
        };
        let shift = onto(host, &layer);
        let exit = flight.exit.as_ref().and_then(|anchor| shown(host, anchor));
        let exit = exit.and_then(|exit| Rect::of(host, &exit));
        let (start, end) = ends(origin, exit, target);
        let (start, end) = (shift(start), shift(end));
        draw_way(&layer, start, end, flight.hue, still);
        let enters = target.is_door;
        let (origin, target) = between(origin, target);
        if still {
            // A still arrow, its words and a highlighted target say the same without moving.
            say_way(host, &layer, &flight.from, flight, start, end);
            self.flash(&flight.to, scaled(SETTLE_MS));
            return;
        }
        self.slide(&before.slides, scaled(SLIDE_MS));
        if flight.ghost {
            let corner = Point {
                x: origin.x,
                y: origin.y,
            };
            place(leaving, shift(corner), origin, "ghost");
            let _ = layer.append_child(leaving);
        }
        let Some((flyer, size)) = look(flight, &to, leaving, origin, target) else {
            return;
        };
        match flight.look {
            Look::Arriving if is_small(&to) => {}
            Look::Arriving | Look::Label(_, Hides::Target) => self.hide(&to),
            // The element that left is now inside the target.
            Look::Leaving if enters => {}
            Look::Leaving | Look::Label(_, Hides::Inside) => {
                let inside = to.children();
                for place in 0..inside.length() {
                    if let Some(child) = inside.get_with_index(place) {
                        self.hide(&child);
                    }
                }
            }
            Look::Label(_, Hides::Nothing) => {}
        }
        let path = Path::between(shift(origin.centre()), shift(target.centre()));
        put(&flyer, path.at(0.0), size);
        let _ = layer.append_child(&flyer);
        self.fly(
            flyer,
            size,
            path,
            flight,
            (scaled(LIGHT_MS), scaled(MOVE_MS), scaled(SETTLE_MS)),
        );
    }

    /// Where the target of a fact is now. Call it before the fact is taken back.
    #[must_use]
    pub fn landed(&self, flight: &Flight) -> Option<Landed> {
        let host = self.host();
        Some(Landed {
            spot: spot(host, &flight.to)?,
        })
    }

    /// Draws the way of a fact that was taken back, in reverse.
    pub fn reversed(&self, from: &[Anchor], flight: &Flight, landed: &Landed) {
        let host = self.host();
        let origin = first(host, from).and_then(|(element, is_door)| {
            let rect = Rect::of(host, &element)?;
            Some(Spot { rect, is_door })
        });
        let (Some(origin), Some(layer)) = (origin, layer(host)) else {
            return;
        };
        let (start, end) = ends(landed.spot, None, origin);
        let shift = onto(host, &layer);
        draw_way(&layer, shift(start), shift(end), flight.hue, true);
    }

    /// Draws the trail of the fact that the screen was cut to: it shows where the new element came from.
    pub fn trail(&self, from: &[Anchor], flight: &Flight, still: bool) {
        let host = self.host();
        let (Some(origin), Some(to), Some(layer)) =
            (spot(host, from), spot(host, &flight.to), layer(host))
        else {
            return;
        };
        let (start, end) = ends(origin, None, to);
        let shift = onto(host, &layer);
        let (start, end) = (shift(start), shift(end));
        draw_way(&layer, start, end, flight.hue, still);
        if still {
            say_way(host, &layer, from, flight, start, end);
        }
    }

    fn fly(
        &self,
        flyer: HtmlElement,
        size: (f64, f64),
        path: Path,
        flight: &Flight,
        (light, travel, settle): (u32, u32, u32),
    ) {
        let turn = self.inner.turn.get();
        let stage = self.clone();
        let landing = flight.to.clone();
        let start: Cell<Option<f64>> = Cell::new(None);
        each_frame(move |now| {
            if stage.inner.turn.get() != turn {
                return false;
            }
            let began = start.get().unwrap_or_else(|| {
                start.set(Some(now));
                now
            });
            let t = (now - began - f64::from(light)) / f64::from(travel.max(1));
            // Not `clamp`: its panic message would pull in float formatting.
            let t = t.min(1.0);
            let t = t.max(0.0);
            put(&flyer, path.at(ease(t)), size);
            if t < 1.0 {
                return true;
            }
            flyer.remove();
            for hidden in stage.inner.touched.borrow_mut().drain(..) {
                restore(&hidden);
            }
            stage.flash(&landing, settle);
            false
        });
    }

    /// Highlights the elements that differ, for `ms` ms.
    pub fn flash(&self, anchors: &[Anchor], ms: u32) {
        let host = self.host();
        let turn = self.inner.turn.get();
        let lit: Vec<HtmlElement> = anchors
            .iter()
            .filter_map(|anchor| shown(host, anchor))
            // Highlighting a whole room says nothing.
            .filter(|element| !element.class_list().contains("room"))
            .filter_map(|element| element.dyn_into().ok())
            .collect();
        for element in &lit {
            let _ = element.class_list().add_1("flash");
        }
        self.inner.touched.borrow_mut().extend(lit.iter().cloned());
        let stage = self.clone();
        let start: Cell<Option<f64>> = Cell::new(None);
        each_frame(move |now| {
            if stage.inner.turn.get() != turn {
                return false;
            }
            let began = start.get().unwrap_or_else(|| {
                start.set(Some(now));
                now
            });
            if now - began < f64::from(ms) {
                return true;
            }
            for element in &lit {
                let _ = element.class_list().remove_1("flash");
            }
            false
        });
    }

    fn hide(&self, element: &Element) {
        if let Ok(element) = element.clone().dyn_into::<HtmlElement>() {
            let _ = element.style().set_property("opacity", "0");
            self.inner.touched.borrow_mut().push(element);
        }
    }

    /// Slides the elements that have moved from their old place to their new one.
    fn slide(&self, before: &[(Anchor, Rect)], ms: u32) {
        let host = self.host();
        for (anchor, was) in before {
            let Some(element) = shown(host, anchor).and_then(|e| e.dyn_into::<HtmlElement>().ok())
            else {
                continue;
            };
            let Some(is) = Rect::of(host, &element) else {
                continue;
            };
            // Columns are aligned at the bottom: a stack that grew has not moved.
            let (dx, dy) = (was.x - is.x, (was.y + was.height) - (is.y + is.height));
            if dx.abs() < 0.5 && dy.abs() < 0.5 {
                continue;
            }
            let style = element.style();
            let _ = style.set_property("transition", "none");
            let _ = style.set_property("transform", &decimals("translate(#px,#px)", &[dx, dy]));
            // Reading the layout makes the browser apply the start position.
            let _ = element.get_bounding_client_rect();
            let _ = style.set_property("transition", &format!("transform {ms}ms ease-in-out"));
            let _ = style.set_property("transform", "none");
            self.inner.touched.borrow_mut().push(element);
        }
    }
}

/// Moves a box that is scrolled out of its room to the room's edge.
fn within_room(host: &Host, element: &Element, mut rect: Rect) -> Rect {
    let room = element.closest(".room").ok().flatten();
    if let Some(room) = room.and_then(|room| Rect::of(host, &room)) {
        let lowest = (room.y + room.height - rect.height).max(room.y);
        rect.y = rect.y.min(lowest).max(room.y);
        let rightmost = (room.x + room.width - rect.width).max(room.x);
        rect.x = rect.x.min(rightmost).max(room.x);
    }
    rect
}

/// Writes beside the way from which room to which it leads.
fn say_way(
    host: &Host,
    layer: &HtmlElement,
    from: &[Anchor],
    flight: &Flight,
    start: Point,
    end: Point,
) {
    let room = |anchors: &[Anchor]| {
        let (element, _) = first(host, anchors)?;
        let room = element.closest(".room").ok().flatten()?;
        room.query_selector("h2").ok().flatten()?.text_content()
    };
    let mut from = from.to_vec();
    from.extend(flight.exit.clone());
    let (Some(from), Some(to)) = (room(&from), room(&flight.to)) else {
        return;
    };
    if from == to {
        return;
    }
    let Ok(words) = document().create_element("div") else {
        return;
    };
    words.set_class_name("fly fly-label way");
    words.set_text_content(Some(&format!("{from} → {to}")));
    let _ = layer.append_child(&words);
    if let (Ok(words), Some(size)) = (
        words.clone().dyn_into::<HtmlElement>(),
        Rect::of(host, &words),
    ) {
        put(
            &words,
            free_place(host, layer, size, start, end),
            (0.0, 0.0),
        );
    }
}

/// Where a label of this size beside the way covers the least text, best none.
fn free_place(host: &Host, layer: &HtmlElement, size: Rect, start: Point, end: Point) -> Point {
    let texts = texts(host, layer);
    let room = layer.get_bounding_client_rect();
    let path = Path::between(start, end);
    let x = beside(start, end);
    let mut best = (f64::MAX, path.at(0.5));
    // Try the places nearest to the way first, and its middle before its ends.
    for aside in [0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0] {
        for (t, across) in [0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95]
            .into_iter()
            .flat_map(|t| [0.0, 0.55, -0.55, 1.0, -1.0].map(|across| (t, across)))
        {
            let mut at = path.at(t);
            if let Some(x) = x {
                at = Point {
                    x,
                    y: start.y + (end.y - start.y) * t,
                };
            }
            at.y += aside * size.height;
            at.x += across * size.width;
            at.x = at.x.min(room.width() - size.width / 2.0);
            at.x = at.x.max(size.width / 2.0);
            let outside = (size.height / 2.0 - at.y).max(at.y + size.height / 2.0 - room.height());
            let covered = texts.iter().map(|text| text.covered(at, size)).sum::<f64>()
                + outside.max(0.0) * size.width;
            if covered < best.0 {
                best = (covered, at);
            }
        }
    }
    best.1
}

/// The boxes of all text, in coordinates of the layer.
fn texts(host: &Host, layer: &HtmlElement) -> Vec<Rect> {
    let shift = onto(host, layer);
    let mut texts = Vec::new();
    let Some(found) = host.find_all(".grid .room *") else {
        return texts;
    };
    for place in 0..found.length() {
        let element = found.get(place).and_then(|n| n.dyn_into::<Element>().ok());
        // Elements with a text node of their own, even beside child elements.
        let Some(element) = element.filter(has_text) else {
            continue;
        };
        if let Some(rect) = Rect::of(host, &element) {
            let Point { x, y } = shift(Point {
                x: rect.x,
                y: rect.y,
            });
            texts.push(Rect { x, y, ..rect });
        }
    }
    texts
}

fn has_text(element: &Element) -> bool {
    let nodes = element.child_nodes();
    (0..nodes.length())
        .filter_map(|place| nodes.get(place))
        .any(|node| {
            let is_text = node.node_type() == Node::TEXT_NODE;
            is_text
                && node
                    .text_content()
                    .is_some_and(|text| !text.trim().is_empty())
        })
}

/// From edge to edge if the boxes are beside or above each other, else from middle to middle.
fn edges(from: Rect, to: Rect) -> (Point, Point) {
    let (mut start, mut end) = (from.centre(), to.centre());
    if from.x + from.width < to.x {
        (start.x, end.x) = (from.x + from.width + GAP, to.x - GAP);
    } else if to.x + to.width < from.x {
        (start.x, end.x) = (from.x - GAP, to.x + to.width + GAP);
    } else if from.y + from.height < to.y {
        (start.y, end.y) = (from.y + from.height + GAP, to.y - GAP);
    } else if to.y + to.height < from.y {
        (start.y, end.y) = (from.y - GAP, to.y + to.height + GAP);
    }
    (start, end)
}

/// The boxes that a way connects. Where one end is only the way into a room, or out of it, its box is inside the
/// room, at the side turned to the other end.
fn between(from: Spot, to: Spot) -> (Rect, Rect) {
    let origin = if from.is_door {
        from.rect.door(to.rect)
    } else {
        from.rect
    };
    let target = if to.is_door {
        to.rect.door(origin.token())
    } else {
        to.rect
    };
    (origin, target)
}

/// The points where a way begins (at the exit of a room, if it has one) and ends.
fn ends(from: Spot, exit: Option<Rect>, to: Spot) -> (Point, Point) {
    let (origin, target) = between(from, to);
    let inside = |spot: Spot, rect: Rect| if spot.is_door { rect.middle() } else { rect };
    let (start, end) = (inside(from, origin), inside(to, target));
    let (mut from, target) = edges(exit.unwrap_or(start), end);
    if to.is_door && from.x < target.x {
        // Straight in, without climbing.
        from.y = target.y;
    }
    (from, target)
}

/// Converts coordinates of the screen to those of the layer.
fn onto(host: &Host, layer: &HtmlElement) -> impl Fn(Point) -> Point + use<> {
    let base = layer.get_bounding_client_rect();
    let scale = host.scale();
    let (left, top) = (base.x() * scale, base.y() * scale);
    move |point| Point {
        x: point.x - left,
        y: point.y - top,
    }
}

fn layer(host: &Host) -> Option<HtmlElement> {
    host.find("#motion")?.dyn_into().ok()
}

/// The first of these anchors that is on the screen, and whether it is only the way into a room.
fn first(host: &Host, anchors: &[Anchor]) -> Option<(Element, bool)> {
    anchors.iter().find_map(|anchor| {
        Some(match anchor {
            Anchor::Door(room) => (shown(host, &Anchor::Room(*room))?, true),
            anchor => (shown(host, anchor)?, false),
        })
    })
}

/// The place of the first of these anchors that is on the screen.
fn spot(host: &Host, anchors: &[Anchor]) -> Option<Spot> {
    let (element, is_door) = first(host, anchors)?;
    let rect = within_room(host, &element, Rect::of(host, &element)?);
    Some(Spot { rect, is_door })
}

fn shown(host: &Host, anchor: &Anchor) -> Option<Element> {
    let text = anchor.to_string();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let found = host.find(&format!("[data-anchor=\"{text}\"]"));
    let mut found = found.or_else(|| host.cell(anchor));
    if *anchor == Anchor::LastLine
        && let Some(output) = &found
    {
        output.set_scroll_top(output.scroll_height());
        let last = output.query_selector(".line:last-of-type");
        found = last.ok().flatten();
    }
    found.filter(|element| Rect::of(host, element).is_some())
}

/// Whether an element is too small to show what arrives or leaves: a count or a cell.
fn is_small(element: &Element) -> bool {
    matches!(anchor_of(element), Some(Anchor::More)) || name_of(element).is_some()
}

/// The name of the object in a cell.
fn name_of(cell: &Element) -> Option<String> {
    cell.get_attribute("data-name")
}

fn restore(element: &HtmlElement) {
    for property in ["opacity", "transform", "transition"] {
        let _ = element.style().remove_property(property);
    }
    let _ = element.class_list().remove_1("flash");
}

/// A copy that no search finds: without test id, anchor, id and focus.
fn copy(element: &Element) -> Option<Element> {
    let copy = element
        .clone_node_with_deep(true)
        .ok()?
        .dyn_into::<Element>()
        .ok()?;
    strip(&copy);
    if let Ok(inner) = copy.query_selector_all("*") {
        for place in 0..inner.length() {
            if let Some(inner) = inner.get(place).and_then(|n| n.dyn_into::<Element>().ok()) {
                strip(&inner);
            }
        }
    }
    if let Some(copy) = copy.dyn_ref::<HtmlElement>() {
        restore(copy);
    }
    Some(copy)
}

fn strip(element: &Element) {
    for name in [
        "id",
        "data-testid",
        "data-anchor",
        "tabindex",
        "role",
        "aria-live",
        "title",
    ] {
        let _ = element.remove_attribute(name);
    }
}

/// The element that travels, and its size.
fn look(
    flight: &Flight,
    to: &Element,
    leaving: &Element,
    origin: Rect,
    target: Rect,
) -> Option<(HtmlElement, (f64, f64))> {
    let label = |text: &str| {
        let label = document().create_element("div").ok()?;
        label.set_class_name("fly-label");
        label.set_text_content(Some(text));
        Some(label)
    };
    let (element, rect) = match &flight.look {
        Look::Arriving if is_small(to) => {
            let text = flight.hue.map_or("", DeltaType::as_str);
            let name = name_of(to).unwrap_or_default();
            (label(format!("{text} {name}").trim())?, None)
        }
        Look::Arriving => (copy(to)?, Some(target)),
        Look::Leaving if is_small(leaving) => (label(&name_of(leaving).unwrap_or_default())?, None),
        Look::Leaving => {
            let copy = leaving.clone_node_with_deep(true).ok()?;
            (copy.dyn_into().ok()?, Some(origin))
        }
        Look::Label(text, _) => (label(text)?, None),
    };
    let element: HtmlElement = element.dyn_into().ok()?;
    let _ = element.class_list().remove_1("ghost");
    let _ = element.class_list().add_1("fly");
    if let Some(hue) = flight.hue {
        let _ = element.class_list().add_1(type_class(hue));
    }
    let size = rect.map_or((0.0, 0.0), |rect| (rect.width, rect.height));
    if let Some(rect) = rect {
        let _ = element
            .style()
            .set_property("width", &decimals("#px", &[rect.width]));
        let _ = element
            .style()
            .set_property("height", &decimals("#px", &[rect.height]));
    }
    Some((element, size))
}

fn place(element: &Element, at: Point, rect: Rect, class: &str) {
    let Some(element) = element.dyn_ref::<HtmlElement>() else {
        return;
    };
    let style = element.style();
    let _ = style.set_property("width", &decimals("#px", &[rect.width]));
    let _ = style.set_property("height", &decimals("#px", &[rect.height]));
    let _ = style.set_property("transform", &decimals("translate(#px,#px)", &[at.x, at.y]));
    let _ = element.class_list().add_2("fly", class);
}

/// Moves an element's middle to a point.
fn put(element: &HtmlElement, at: Point, (width, height): (f64, f64)) {
    let shift = if width > 0.0 {
        decimals(
            "translate(#px,#px)",
            &[at.x - width / 2.0, at.y - height / 2.0],
        )
    } else {
        decimals("translate(#px,#px) translate(-50%,-50%)", &[at.x, at.y])
    };
    let _ = element.style().set_property("transform", &shift);
}

const SVG: &str = "http://www.w3.org/2000/svg";

fn draw_line(layer: &HtmlElement, d: &str, hue: Option<DeltaType>) -> Option<Element> {
    let svg = document().create_element_ns(Some(SVG), "svg").ok()?;
    let class = hue.map_or("Bookmark", type_class);
    let _ = svg.set_attribute("class", &format!("trail {class}"));
    let line = document().create_element_ns(Some(SVG), "path").ok()?;
    let _ = line.set_attribute("d", d);
    let _ = svg.append_child(&line);
    let _ = layer.append_child(&svg);
    Some(svg)
}

fn draw_way(layer: &HtmlElement, from: Point, to: Point, hue: Option<DeltaType>, arrow: bool) {
    // A shorter still arrow would cover the elements it connects; they are highlighted anyway.
    const SHORT: f64 = 56.0;
    if arrow && (to.x - from.x).abs().max((to.y - from.y).abs()) < SHORT {
        return;
    }
    let Some(svg) = draw_line(layer, &climbing(from, to), hue) else {
        return;
    };
    if arrow && let Ok(head) = document().create_element_ns(Some(SVG), "path") {
        let Point { x, y } = to;
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        // The arrowhead points where the way arrives: from the side, or from above or below.
        let (back, wide) = if dx.abs() > GAP * 4.0 {
            ((if dx < 0.0 { 9.0 } else { -9.0 }, 0.0), (0.0, 6.0))
        } else {
            ((0.0, if dy < 0.0 { 9.0 } else { -9.0 }), (6.0, 0.0))
        };
        let d = decimals(
            "M# # L# # L# #",
            &[
                x + back.0 - wide.0,
                y + back.1 - wide.1,
                x,
                y,
                x + back.0 + wide.0,
                y + back.1 + wide.1,
            ],
        );
        let _ = head.set_attribute("d", &d);
        let _ = head.set_attribute("class", "head");
        let _ = svg.append_child(&head);
    }
}

/// Calls `draw` with the time of each frame until it returns false.
fn each_frame(mut draw: impl FnMut(f64) -> bool + 'static) {
    let callback = Closure::once_into_js(move |now: f64| {
        if draw(now) {
            each_frame(draw);
        }
    });
    // Fails only without a window, and then there is nothing to draw on.
    let _ = window().request_animation_frame(callback.unchecked_ref());
}
