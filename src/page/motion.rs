//! Draws scenes over the stage: things that travel, their paths, their ghosts, and flashes.
//!
//! When a scene begins, the screen shows the new picture already; what arrives is only hidden until it lands. All of
//! it are the browser's animations, so it can be cut short at any time: without them everything is in place.

use std::cell::RefCell;

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, Node, SvgElement};

use crate::animate::{Animation, Timing, animate, now};
use crate::host::{Host, anchor_of};
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::motion::merged::Scene;
use deltascope_presentation::motion::plan::{Flight, Hides, LIGHT_MS, Look, SETTLE_MS, Token};
use deltascope_presentation::motion::route::{GAP, Point, Rect, Route};
use deltascope_presentation::rows::{Names, RvText, type_class};
use deltascope_presentation::svg::glyphs::glyph;
use deltascope_replay::playback::SHORTEST_FLASH_MS;

/// Names that a path avoids.
const NAMES: &str = ".head > *, .sub, h4, .obj, .tag, .d, .key, .state, .requests > li, .kv > div, .wire, .value, \
                     .lock, .lst > .n, .lamps > *, .ring i, .line, .btn";

/// What goes no farther than this, in px, does not move.
const NEAR: f64 = 4.0;

/// The layer above the stage.
pub struct Stage {
    host: Host,
    /// What runs; cutting ends it.
    running: RefCell<Vec<Animation>>,
    /// When the last flashes began or will begin, in ms.
    flashes: RefCell<Vec<f64>>,
}

/// Where the things of a scene are before the screen changes, one for each flight.
pub struct Before(Vec<Option<Start>>);

/// Where a thing was.
struct Start {
    anchor: Anchor,
    spot: Spot,
    copy: Element,
    colours: Option<[String; 2]>,
    /// Of a crate, what is in it: the place in the copy, and on the screen.
    parts: Vec<(Element, Rect)>,
}

/// A place on the screen, and whether it is only the way into a room.
#[derive(Clone, Copy)]
struct Spot {
    rect: Rect,
    is_door: bool,
}

/// A crate under way.
struct Crate {
    parts: Vec<(Element, Rect)>,
    begin: u32,
    end: u32,
}

/// The coordinates of the layer, and what is below it.
struct Map {
    layer: HtmlElement,
    rooms: Vec<Rect>,
    names: Vec<Rect>,
    left: f64,
    top: f64,
}

impl Map {
    fn of(host: &Host) -> Option<Self> {
        let layer: HtmlElement = host.find("#motion")?.dyn_into().ok()?;
        let base = layer.get_bounding_client_rect();
        let scale = host.scale();
        let mut map = Self {
            layer,
            rooms: Vec::new(),
            names: Vec::new(),
            left: base.x() * scale,
            top: base.y() * scale,
        };
        map.rooms = map.rects(host, ".grid .room");
        map.names = map.rects(host, NAMES);
        Some(map)
    }

    fn rects(&self, host: &Host, selector: &str) -> Vec<Rect> {
        let found = elements(host, selector);
        let rects = found.iter().filter_map(|one| rect_of(host, one));
        rects.map(|rect| self.onto(rect)).collect()
    }

    /// A box on the screen in coordinates of the layer.
    fn onto(&self, rect: Rect) -> Rect {
        Rect {
            x: rect.x - self.left,
            y: rect.y - self.top,
            ..rect
        }
    }

    /// The route between two places.
    fn route(&self, from: Spot, via: &[Rect], to: Spot) -> Route {
        let (begin, end) = between(from, to);
        // In a room that is only passed, the way ends in the open.
        let ends = [(from, begin), (to, end)];
        let [begin, end] = ends.map(|(spot, rect)| match spot.is_door {
            true => Rect::default().around(rect.centre()),
            false => rect,
        });
        let boxes = [begin].into_iter().chain(via.iter().copied());
        let boxes = boxes.chain([end]);
        let boxes: Vec<Rect> = boxes.map(|rect| self.onto(rect)).collect();
        Route::through(&boxes, &self.rooms, &self.names)
    }
}

impl Stage {
    /// The stage of this board.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self {
            host,
            running: RefCell::default(),
            flashes: RefCell::default(),
        }
    }

    /// Where the board is mounted.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Ends all motions: the screen shows the picture and nothing else.
    pub fn cut(&self) {
        self.host.measure_scale();
        for running in self.running.borrow_mut().drain(..) {
            running.cancel();
        }
        // A flash that has not begun is no flash.
        let now = now();
        self.flashes.borrow_mut().retain(|at| *at <= now);
        if let Some(layer) = self.host.find("#motion") {
            layer.set_text_content(None);
        }
    }

    /// Records where the things are before the screen changes.
    #[must_use]
    pub fn before(&self, scene: &Scene) -> Before {
        let start = |flight: &Flight| {
            let (element, anchor, is_door) = first(&self.host, &flight.from)?;
            let rect = rect_of(&self.host, &element)?;
            let is_crate = flight.look == Look::Crate;
            let (copy, parts) = copy(&self.host, &element, is_crate)?;
            Some(Start {
                anchor: anchor.clone(),
                spot: Spot { rect, is_door },
                copy,
                colours: colours(&element),
                parts,
            })
        };
        Before(scene.flights.iter().map(start).collect())
    }

    /// Plays a scene, once the screen has changed. `scaled` converts ms to the current speed. Returns when what
    /// leaves has gone, in ms.
    pub fn play(
        &self,
        before: Before,
        scene: &Scene,
        names: &Names,
        scaled: impl Fn(u32) -> u32,
    ) -> u32 {
        let host = &self.host;
        let scaled = |ms: u32| if ms == 0 { 0 } else { scaled(ms) };
        let mut gone = 0;
        if let Some(map) = (!scene.flights.is_empty()).then(|| Map::of(host)).flatten() {
            // Where things have landed.
            let mut landed: Vec<(Anchor, Rect)> = Vec::new();
            let mut crates: Vec<Crate> = Vec::new();
            let last = scene.flights.iter().map(Flight::end).max();
            for (place, (flight, start)) in scene.flights.iter().zip(before.0).enumerate() {
                let (begin, end) = (scaled(flight.at), scaled(flight.end()));
                let later = scene.flights.get(place + 1..).unwrap_or_default();
                let Some((to, _, is_door)) = target(host, &flight.to) else {
                    continue;
                };
                let Some(rect) = rect_of(host, &to) else {
                    continue;
                };
                let target = Spot {
                    rect: within_room(host, &to, rect),
                    is_door,
                };
                let Some((origin, begins)) = origin(host, flight, start.as_ref(), &landed) else {
                    continue;
                };
                let via = flight.via.iter().filter_map(|via| {
                    let (element, anchor, is_door) = first(host, via)?;
                    let rect = within_room(host, &element, rect_of(host, &element)?);
                    self.dim(anchor, end);
                    (!is_door).then(|| rect.token())
                });
                let via: Vec<Rect> = via.collect();
                let route = map.route(origin, &via, target);
                let [origin, landing] = between(origin, target).into();
                landed.extend(flight.to.first().map(|anchor| (anchor.clone(), landing)));
                if route.length() < NEAR {
                    continue;
                }
                let way = draw_way(&map.layer, &route, flight.hue, false);
                let light = begin.saturating_sub(scaled(LIGHT_MS));
                let is_crate = flight.look == Look::Crate;
                let from = start.filter(|start| flight.from.contains(&start.anchor));
                match &from {
                    Some(start) if flight.ghost => ghost(&map, start),
                    _ => self.dim(begins, end),
                }
                let flyer = match &flight.look {
                    Look::Pill(token) => pill(token, flight.hue, names),
                    Look::Label(text) => element("div", "fly-label", text),
                    Look::Crate => from.as_ref().and_then(|start| {
                        let is_cell = name_of(&start.copy);
                        match is_cell {
                            Some(name) => element("div", "fly-label", &name),
                            None => start.copy.clone().dyn_into().ok(),
                        }
                    }),
                };
                let Some(flyer) = flyer else { continue };
                let _ = flyer.class_list().add_1("fly");
                if let Some(hue) = flight.hue {
                    let _ = flyer.class_list().add_1(type_class(hue));
                }
                let style = flyer.style();
                let _ = style.set_property("offset-path", &format!("path('{}')", route.svg()));
                let _ = map.layer.append_child(&flyer);
                let timing = Timing {
                    at: begin,
                    ms: end.saturating_sub(begin).max(1),
                    fill: "both",
                };
                // It stays until what comes after it is there, or until the last thing has left it.
                let mut stays = end;
                if is_crate && let Some(start) = &from {
                    size(&flyer, start.spot.rect);
                    let leaves =
                        |one: &&Flight| matches!(one.from.first(), Some(Anchor::PoppedDelta(_)));
                    let last = later.iter().take_while(|one| one.look != Look::Crate);
                    let last = last.filter(leaves).map(|one| one.at).max();
                    stays = last.map_or(end, &scaled);
                    gone = gone.max(end);
                    // It becomes as small as the place that it goes to.
                    let (was, is) = (start.spot.rect, landing);
                    let fits = (is.width / was.width).min(is.height / was.height).min(1.0);
                    // Not `scale`, which applies to the path as well.
                    let small = decimals("scale(#)", &[fits]);
                    let frames: [&[_]; 2] = [&[("transform", "none")], &[("transform", &*small)]];
                    self.run(animate(&flyer, &frames, timing));
                    for (at, (_, rect)) in start.parts.iter().enumerate() {
                        let (from, to) = (was.centre(), is.centre());
                        let moved = Rect {
                            x: to.x + (rect.x - from.x) * fits,
                            y: to.y + (rect.y - from.y) * fits,
                            width: rect.width * fits,
                            height: rect.height * fits,
                        };
                        landed.push((Anchor::PoppedDelta(at), moved));
                    }
                    crates.push(Crate {
                        parts: start.parts.clone(),
                        begin: end,
                        end: stays,
                    });
                } else if let Look::Pill(_) = flight.look
                    && let Some(next) = later.iter().find(|one| one.to == flight.to)
                {
                    stays = scaled(next.end());
                }
                match flight.hides {
                    Hides::Nothing => {}
                    Hides::Target if is_small(&to) => {}
                    Hides::Target => self.show(&column_of(&to, &flight.to), "0", 0, end),
                    // What left is now inside the target.
                    Hides::Inside if is_door => {}
                    Hides::Inside => {
                        let inside = to.children();
                        for at in 0..inside.length() {
                            if let Some(child) = inside.get_with_index(at) {
                                self.show(&child, "0", 0, if is_crate { stays } else { end });
                            }
                        }
                    }
                }
                if let Some(Anchor::PoppedDelta(at)) = flight.from.first()
                    && let Some(of) = crates.last().filter(|of| of.begin <= begin)
                    && let Some((part, _)) = of.parts.get(*at)
                {
                    self.show(part, "0", begin, of.end.max(end));
                }
                if let Some(way) = way {
                    self.show(&way, "0", 0, light);
                    // Only the last paths stay.
                    if Some(flight.end()) != last {
                        let timing = Timing {
                            at: stays,
                            ms: scaled(SETTLE_MS),
                            fill: "forwards",
                        };
                        let faded: [&[_]; 1] = [&[("opacity", "0")]];
                        self.run(animate(&way, &faded, timing));
                    }
                }
                self.show(&flyer, "1", light, stays);
                let ways: [&[_]; 2] = [&[("offsetDistance", "0%")], &[("offsetDistance", "100%")]];
                self.run(animate(&flyer, &ways, timing));
                if matches!(flight.look, Look::Pill(_)) {
                    let [from, to] = [
                        (origin, from.and_then(|start| start.colours)),
                        (landing, colours(&to)),
                    ]
                    .map(|(rect, colours)| frame(&map, rect, colours));
                    self.run(animate(&flyer, &[&styles(&from), &styles(&to)], timing));
                }
            }
        }
        for (at, anchors) in &scene.flashes {
            self.flash(anchors, scaled(*at), scaled(SETTLE_MS));
        }
        gone
    }

    /// While a thing is under way, the place that it comes from is dim.
    fn dim(&self, from: &Anchor, end: u32) {
        if let Anchor::Object(_) | Anchor::Line(_) | Anchor::PoppedDelta(_) = from
            && let Some(element) = shown(&self.host, from)
        {
            self.show(&element, "0.28", 0, end);
        }
    }

    fn run(&self, animation: Animation) {
        self.running.borrow_mut().push(animation);
    }

    /// Gives an element this opacity from `at` to `end`, in ms from now.
    fn show(&self, element: &Element, opacity: &str, at: u32, end: u32) {
        let frame: &[_] = &[("opacity", opacity)];
        let timing = Timing {
            at,
            ms: end.saturating_sub(at),
            fill: "none",
        };
        self.run(animate(element, &[frame, frame], timing));
    }

    /// Lights up the elements that differ, in `at` ms and for `ms` ms. At any speed, at most three flashes a second:
    /// more would hurt eyes.
    pub fn flash(&self, anchors: &[Anchor], at: u32, ms: u32) {
        // Inside, so that a row's neighbours and a room that scrolls cut nothing of it. The outline is what high contrast
        // shows of it.
        const LIT: &[(&str, &str)] = &[
            (
                "boxShadow",
                "inset 0 0 0 2px var(--glow-line), inset 0 0 0 4px var(--glow)",
            ),
            ("borderRadius", "8px"),
            ("outline", "3px solid transparent"),
            ("outlineOffset", "-3px"),
        ];
        let now = now();
        let begins = now + f64::from(at);
        let shortest = f64::from(SHORTEST_FLASH_MS);
        let mut flashes = self.flashes.borrow_mut();
        flashes.retain(|at| *at > now - shortest);
        // What lights up at the same time is one flash.
        let is_near = |at: &f64| (1.0..shortest).contains(&(begins - at).abs());
        if flashes.iter().any(is_near) {
            return;
        }
        let lit: Vec<Element> = anchors
            .iter()
            .filter_map(|anchor| shown(&self.host, anchor))
            // Highlighting a whole room says nothing.
            .filter(|element| !element.class_list().contains("room"))
            .collect();
        if !lit.is_empty() {
            flashes.push(begins);
        }
        for element in lit {
            let timing = Timing {
                at,
                ms,
                fill: "none",
            };
            self.run(animate(&element, &[LIT, LIT], timing));
        }
    }

    /// Where the first of these anchors is now.
    #[must_use]
    pub fn place(&self, anchors: &[Anchor]) -> Option<Place> {
        spot(&self.host, anchors).map(Place)
    }

    /// Draws the way of a fact that was taken back, in reverse; it had landed there.
    pub fn reversed(&self, from: &[Anchor], flight: &Flight, landed: Place) {
        if let (Some(origin), Some(map)) = (spot(&self.host, from), Map::of(&self.host)) {
            let route = map.route(origin, &[], landed.0).reversed();
            draw_way(&map.layer, &route, flight.hue, true);
        }
    }

    /// Draws the trail of the fact that the screen was cut to: it shows where the new element came from, or was
    /// before. Where nothing may move, an arrow, its words and a light say what a motion would.
    pub fn trail(&self, from: &[Anchor], before: Option<Place>, flight: &Flight, still: bool) {
        let host = &self.host;
        let origin = spot(host, from.get(..1).unwrap_or_default());
        let origin = origin
            .or(before.map(|place| place.0))
            .or_else(|| spot(host, from));
        if let (Some(origin), Some(to), Some(map)) = (origin, spot(host, &flight.to), Map::of(host))
        {
            let route = map.route(origin, &[], to);
            draw_way(&map.layer, &route, flight.hue, still);
            if still {
                say_way(host, &map, from, flight, &route);
            }
        }
    }
}

/// A place on the stage at some moment.
pub struct Place(Spot);

/// The elements that match a selector.
fn elements(host: &Host, selector: &str) -> Vec<Element> {
    let Some(found) = host.find_all(selector) else {
        return Vec::new();
    };
    let all = (0..found.length()).filter_map(|at| found.get(at)?.dyn_into().ok());
    all.collect()
}

/// An element's box in px of the layer, which the page around may have scaled.
fn rect_of(host: &Host, element: &Element) -> Option<Rect> {
    let rect = element.get_bounding_client_rect();
    let scale = host.scale();
    // An element of a room that is not shown has no size.
    (rect.width() > 0.0).then(|| Rect {
        x: rect.x() * scale,
        y: rect.y() * scale,
        width: rect.width() * scale,
        height: rect.height() * scale,
    })
}

/// Moves a box that is scrolled out of its room to the room's edge.
fn within_room(host: &Host, element: &Element, mut rect: Rect) -> Rect {
    let room = element.closest(".room").ok().flatten();
    if let Some(room) = room.and_then(|room| rect_of(host, &room)) {
        let lowest = (room.y + room.height - rect.height).max(room.y);
        rect.y = rect.y.min(lowest).max(room.y);
        let rightmost = (room.x + room.width - rect.width).max(room.x);
        rect.x = rect.x.min(rightmost).max(room.x);
    }
    rect
}

/// Writes beside the way from which room to which it leads.
fn say_way(host: &Host, map: &Map, from: &[Anchor], flight: &Flight, route: &Route) {
    let room = |anchors: &[Anchor]| {
        let (element, ..) = first(host, anchors)?;
        let room = element.closest(".room").ok().flatten()?;
        room.query_selector("h2").ok().flatten()?.text_content()
    };
    let (Some(from), Some(to)) = (room(from), room(&flight.to)) else {
        return;
    };
    if from == to {
        return;
    }
    let Some(words) = element("div", "fly fly-label way", &format!("{from} → {to}")) else {
        return;
    };
    let _ = map.layer.append_child(&words);
    let place = rect_of(host, &words).and_then(|size| free_place(host, map, size, route));
    if let Some(Point { x, y }) = place {
        let at = decimals("translate(#px,#px) translate(-50%,-50%)", &[x, y]);
        let _ = words.style().set_property("transform", &at);
    } else {
        words.remove();
    }
}

/// Where a label of this size beside the way covers no text.
fn free_place(host: &Host, map: &Map, size: Rect, route: &Route) -> Option<Point> {
    let size = size.grown(1.0);
    let texts = texts(host, map);
    let width = f64::from(map.layer.offset_width());
    let height = f64::from(map.layer.offset_height());
    // Try the places nearest to the way first, and its middle before its ends.
    let asides = [0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0];
    let alongs = [0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95];
    let acrosses = [0.0, 0.55, -0.55, 1.0, -1.0];
    let places = asides.into_iter().flat_map(|aside| {
        let places = alongs.into_iter();
        places.flat_map(move |along| acrosses.map(move |across| (aside, along, across)))
    });
    let places = places.map(|(aside, along, across)| {
        let Point { x, y } = route.at(along);
        let x = (x + across * size.width).min(width - size.width / 2.0);
        Point {
            x: x.max(size.width / 2.0),
            y: y + aside * size.height,
        }
    });
    let mut places = places.filter(|at| {
        let here = size.around(*at);
        here.y >= 0.0
            && here.y + here.height <= height
            && texts.iter().all(|text| text.shared(here) == 0.0)
    });
    places.next()
}

/// The boxes of all text, in coordinates of the layer.
fn texts(host: &Host, map: &Map) -> Vec<Rect> {
    // Elements with a text node of their own, even beside child elements.
    let all = elements(host, ".grid :not(#motion *)");
    let texts = all.iter().filter(|element| has_text(element));
    let rects = texts.filter_map(|element| rect_of(host, element));
    rects.map(|rect| map.onto(rect)).collect()
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

/// The boxes that a way connects. Where one end is only the way into a room, or out of it, its box is inside the
/// room, at the side turned to the other end.
fn between(from: Spot, to: Spot) -> (Rect, Rect) {
    let origin = if from.is_door {
        from.rect.door(to.rect.token())
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

/// The first of these anchors that is on the screen, and whether it is only the way into a room.
fn first<'a>(host: &Host, anchors: &'a [Anchor]) -> Option<(Element, &'a Anchor, bool)> {
    anchors.iter().find_map(|anchor| {
        Some(match anchor {
            Anchor::Door(room) => (shown(host, &Anchor::Room(*room))?, anchor, true),
            _ => (shown(host, anchor)?, anchor, false),
        })
    })
}

/// The same for the end of a flight: what is not on the screen is behind the edge of its room.
fn target<'a>(host: &Host, anchors: &'a [Anchor]) -> Option<(Element, &'a Anchor, bool)> {
    let room = || {
        let anchor = anchors.first()?;
        Some((shown(host, &Anchor::Room(anchor.room()))?, anchor, true))
    };
    first(host, anchors).or_else(room)
}

/// Leaves a ghost where a thing was.
fn ghost(map: &Map, start: &Start) {
    if let Some(ghost) = start.copy.dyn_ref::<HtmlElement>() {
        size(ghost, start.spot.rect);
        let Rect { x, y, .. } = map.onto(start.spot.rect);
        let at = decimals("translate(#px,#px)", &[x, y]);
        let _ = ghost.style().set_property("transform", &at);
        let _ = ghost.class_list().add_2("fly", "ghost");
        let _ = map.layer.append_child(ghost);
    }
}

/// Where a flight begins: where a thing has landed or was, or where it is.
fn origin<'a>(
    host: &Host,
    flight: &'a Flight,
    start: Option<&Start>,
    landed: &[(Anchor, Rect)],
) -> Option<(Spot, &'a Anchor)> {
    flight.from.iter().find_map(|anchor| {
        let last = landed.iter().rev().find(|(at, _)| at == anchor);
        let spot = match (last, start) {
            (Some((_, rect)), _) => Some(Spot {
                rect: *rect,
                is_door: false,
            }),
            (_, Some(start)) if start.anchor == *anchor => Some(start.spot),
            _ => spot(host, std::slice::from_ref(anchor)),
        };
        Some((spot?, anchor))
    })
}

/// The place of the first of these anchors that is on the screen.
fn spot(host: &Host, anchors: &[Anchor]) -> Option<Spot> {
    let (element, _, is_door) = first(host, anchors)?;
    let rect = within_room(host, &element, rect_of(host, &element)?);
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
    found.filter(|element| rect_of(host, element).is_some())
}

/// The column that begins with a delta, else the element.
fn column_of(element: &Element, to: &[Anchor]) -> Element {
    let begins = matches!(to.first(), Some(Anchor::Delta { index: 0, .. }));
    let column = begins.then(|| element.closest(".col").ok().flatten());
    column.flatten().unwrap_or_else(|| element.clone())
}

/// Whether an element is too small to show what arrives or leaves: a count or a cell.
fn is_small(element: &Element) -> bool {
    matches!(anchor_of(element), Some(Anchor::More)) || name_of(element).is_some()
}

/// The name of the object in a cell.
fn name_of(cell: &Element) -> Option<String> {
    cell.get_attribute("data-name")
}

/// A copy that no search finds: without test id, anchor, id and focus. Also what is in it, if that may leave it.
fn copy(host: &Host, element: &Element, is_crate: bool) -> Option<(Element, Vec<(Element, Rect)>)> {
    let copy: Element = element.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    let inside = |of: &Element| {
        let all = of.query_selector_all("*").ok();
        let all = all.into_iter().flat_map(|all| {
            (0..all.length()).filter_map(move |at| all.get(at)?.dyn_into::<Element>().ok())
        });
        all.collect::<Vec<_>>()
    };
    let copies = inside(&copy);
    let mut parts = Vec::new();
    if is_crate {
        for (one, copied) in inside(element).iter().zip(&copies) {
            if matches!(anchor_of(one), Some(Anchor::Delta { .. }))
                && let Some(rect) = rect_of(host, one)
            {
                parts.push((copied.clone(), rect));
            }
        }
    }
    strip(&copy);
    copies.iter().for_each(strip);
    Some((copy, parts))
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

/// An element of the layer.
fn element(tag: &str, class: &str, text: &str) -> Option<HtmlElement> {
    let element = document().create_element(tag).ok()?;
    element.set_class_name(class);
    element.set_text_content((!text.is_empty()).then_some(text));
    element.dyn_into().ok()
}

/// An object under way: its type's glyph, its mark, its name and its version.
fn pill(token: &Token, hue: Option<DeltaType>, names: &Names) -> Option<HtmlElement> {
    let pill = element("div", "pill", "")?;
    if let Some(hue) = hue
        && let Some((svg, path)) = drawing("glyph", glyph(hue))
    {
        let _ = svg.set_attribute("viewBox", "0 0 14 14");
        let _ = svg.append_child(&path);
        let _ = pill.append_child(&svg);
    }
    let mark = names.mark(&token.uid).class();
    let name = names.get(&token.key);
    let rv = RvText::narrow(&token.rv).short;
    for (tag, class, text) in [("i", &*mark, ""), ("span", "n", &*name), ("em", "", &*rv)] {
        if let Some(part) = element(tag, class, text) {
            let _ = pill.append_child(&part);
        }
    }
    Some(pill)
}

/// Ground and border of an element, if it has them.
fn colours(element: &Element) -> Option<[String; 2]> {
    let style = window().get_computed_style(element).ok().flatten()?;
    let value = |name| style.get_property_value(name).unwrap_or_default();
    let ground = value("background-color");
    let border = value("border-top-width") != "0px";
    let is_clear = ground.starts_with("rgba") && ground.ends_with(", 0)");
    (border && !ground.is_empty() && !is_clear).then(|| [ground, value("border-top-color")])
}

/// The styles of a pill at one of its ends.
fn frame(map: &Map, rect: Rect, colours: Option<[String; 2]>) -> Vec<(&'static str, String)> {
    let width = rect.width.min(map.layer.offset_width().into()).min(240.0);
    let mut styles = vec![("width", decimals("#px", &[width]))];
    if let Some([ground, border]) = colours {
        styles.push(("backgroundColor", ground));
        styles.push(("borderColor", border));
    }
    styles
}

fn styles<'a>(frame: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let pairs = frame.iter().map(|(name, value)| (*name, &**value));
    pairs.collect()
}

fn size(element: &HtmlElement, rect: Rect) {
    let style = element.style();
    let _ = style.set_property("width", &decimals("#px", &[rect.width]));
    let _ = style.set_property("height", &decimals("#px", &[rect.height]));
}

/// A drawing and a path for it.
fn drawing(class: &str, d: &str) -> Option<(Element, Element)> {
    const SVG: Option<&str> = Some("http://www.w3.org/2000/svg");
    let svg = document().create_element_ns(SVG, "svg").ok()?;
    let _ = svg.set_attribute("class", class);
    let path = document().create_element_ns(SVG, "path").ok()?;
    let _ = path.set_attribute("d", d);
    Some((svg, path))
}

/// Draws a route, without the parts on what it connects.
fn draw_way(
    layer: &HtmlElement,
    route: &Route,
    hue: Option<DeltaType>,
    arrow: bool,
) -> Option<Element> {
    // A shorter still arrow would cover the elements it connects; they are highlighted anyway.
    const SHORT: f64 = 56.0;
    if arrow && route.visible() < SHORT {
        return None;
    }
    let class = hue.map_or("Bookmark", type_class);
    let (svg, path) = drawing(&format!("trail {class}"), &route.svg())?;
    let holes = route.ends().map(|end| {
        let Rect {
            x,
            y,
            width,
            height,
        } = end.grown(GAP);
        decimals("M# #h#v#h#z", &[x, y, width, height, -width])
    });
    let [width, height] = [layer.offset_width(), layer.offset_height()].map(f64::from);
    let all = decimals("M0 0h#v#h#z", &[width, height, -width]);
    let clip = format!("path(evenodd,'{all}{}{}')", holes[0], holes[1]);
    if let Some(svg) = svg.dyn_ref::<SvgElement>() {
        let _ = svg.style().set_property("clip-path", &clip);
    }
    let _ = svg.append_child(&path);
    if arrow && let Some((Point { x, y }, towards)) = route.arrival() {
        let (back, wide) = (
            (towards.x * -9.0, towards.y * -9.0),
            (towards.y * 6.0, towards.x * 6.0),
        );
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
        if let Some((_, head)) = drawing("", &d) {
            let _ = head.set_attribute("class", "head");
            let _ = svg.append_child(&head);
        }
    }
    let _ = layer.append_child(&svg);
    Some(svg)
}
