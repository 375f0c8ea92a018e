//! What a scene needs to know of the screen, read before anything is drawn: each box that is read after a change lays
//! the page out anew.

use leptos::prelude::window;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, Node};

use crate::host::{Host, anchor_of};
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::decimal;
use deltascope_presentation::motion::merged::Scene;
use deltascope_presentation::motion::plan::{Flight, Look};
use deltascope_presentation::motion::route::{GAP, Rect, Route};
use deltascope_presentation::stage::Panel;

/// Names that a path avoids.
const NAMES: &str = ".head > *, .sub, h4, .obj, .tag, .d, .key, .state, .requests > li, .kv > div, .wire, .value, \
                     .lock, .lst > .n, .lamps > *, .btn";
/// Printed lines, whose words are avoided.
const LINES: &str = ".line";
/// The places of a handler, from which a path keeps away: they are small.
const SLOTS: &str = ".ring i";

/// What goes no farther than this, in px, does not move.
const NEAR: f64 = 4.0;

/// What counts what is in a room.
const COUNTS: &str = ".queue .head .count, .indexer .head .gauge, .lst .load";

/// What the screen shows before it changes: where the things of a scene are, one for each flight, and the counts.
pub struct Before(Vec<Option<Start>>, Vec<Count>);

/// A count, as it was.
pub(crate) struct Count {
    pub(crate) element: Element,
    pub(crate) copy: HtmlElement,
    pub(crate) rect: Rect,
    text: Option<String>,
}

impl Count {
    /// Those in the rooms in which something lands.
    fn all(host: &Host, scene: &Scene) -> Vec<Self> {
        if scene.flights.is_empty() {
            return Vec::new();
        }
        let count = |element: &Element| {
            // What is dimmed would be bright over it.
            (!recedes(element)).then_some(())?;
            Some(Self {
                rect: rect_of(host, element)?,
                text: element.text_content(),
                copy: copy(host, element, false)?.0.dyn_into().ok()?,
                element: element.clone(),
            })
        };
        elements(host, COUNTS).iter().filter_map(count).collect()
    }

    /// When the last thing lands that this counts, in ms at normal speed; `None` if it says the same as before.
    pub(crate) fn lands(&self, ways: &[Way]) -> Option<u32> {
        let of = self.element.closest(".lst, .room").ok().flatten()?;
        let lands = ways.iter().filter(|way| {
            let seen = way.seen.as_ref();
            seen.is_some_and(|seen| !seen.is_door && of.contains(Some(&seen.to)))
        });
        let end = lands.map(|way| way.flight.end()).max()?;
        (self.element.is_connected() && self.element.text_content() != self.text).then_some(end)
    }
}

impl Before {
    /// Records where the things are before the screen changes.
    #[must_use]
    pub fn of(host: &Host, scene: &Scene) -> Self {
        host.measure_scale();
        let start = |flight: &Flight| {
            let (element, anchor, is_door) = first(host, &flight.from)?;
            let rect = end_of(host, &element)?;
            let is_crate = flight.look == Look::Crate;
            // What is not on the screen yet leaves no copy of its room, nor of the empty hand.
            let is_there = *anchor != Anchor::Hand || element.first_element_child().is_some();
            let copied = (!is_door && is_there && (is_crate || flight.ghost))
                .then(|| copy(host, &element, is_crate))
                .flatten();
            let (copy, parts) = copied.unzip();
            let is_pill = matches!(flight.look, Look::Pill(_));
            Some(Start {
                anchor: anchor.clone(),
                spot: Spot { rect, is_door },
                copy,
                colours: is_pill.then(|| colours(&element)).flatten(),
                parts: parts.unwrap_or_default(),
            })
        };
        let starts = scene.flights.iter().map(start).collect();
        Self(starts, Count::all(host, scene))
    }

    /// The counts.
    pub(crate) fn counts(&mut self) -> Vec<Count> {
        std::mem::take(&mut self.1)
    }
}

/// Where a thing was.
pub(crate) struct Start {
    anchor: Anchor,
    pub(crate) spot: Spot,
    /// Of a crate, and of what leaves a ghost, if it was on the screen.
    pub(crate) copy: Option<Element>,
    pub(crate) colours: Option<[String; 2]>,
    /// Of a crate, what is in it: the place in the copy, and on the screen.
    pub(crate) parts: Vec<(Element, Rect)>,
}

impl Start {
    /// Whether the thing is still where it was: a program's call, an object that is put into the queue again.
    fn stands(&self, host: &Host) -> bool {
        self.anchor != Anchor::Hand && shown(host, &self.anchor).is_some()
    }

    /// A stack leaves from above the lines that have come to its place meanwhile.
    fn rise(&mut self, host: &Host) {
        let copy = self.copy.as_ref();
        if !copy.is_some_and(|copy| copy.matches(".col:not(.compact)").unwrap_or_default()) {
            return;
        }
        let lines = elements(host, ".cols > .col.compact");
        let tops = lines.iter().filter_map(|line| Some(rect_of(host, line)?.y));
        let Rect { y, height, .. } = self.spot.rect;
        let up = y + height + GAP - tops.fold(f64::INFINITY, f64::min);
        let room = host
            .find(".room.queue")
            .and_then(|room| rect_of(host, &room));
        let up = up.min(y - room.map_or(0.0, |room| room.y));
        if up > 0.0 {
            let rects = self.parts.iter_mut().map(|(_, rect)| rect);
            rects
                .chain([&mut self.spot.rect])
                .for_each(|rect| rect.y -= up);
        }
    }
}

/// A place on the screen, and whether it is only the way into a room.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) rect: Rect,
    is_door: bool,
}

impl Spot {
    /// The way into a room, so many px inside of it.
    pub(crate) fn inside(self, is_room: bool, px: f64) -> Self {
        match self.is_door || is_room {
            true => Self {
                rect: self.rect.grown(-px),
                is_door: true,
            },
            false => self,
        }
    }
}

/// The way of a flight over the screen.
pub(crate) struct Way<'a> {
    /// Its place among the flights of the scene.
    pub(crate) place: usize,
    pub(crate) flight: &'a Flight,
    /// What is dim meanwhile.
    pub(crate) dims: Vec<Element>,
    /// The room that is not shown, if it comes from there.
    pub(crate) enters: Option<Panel>,
    /// `None` if it is too short to be seen.
    pub(crate) seen: Option<Seen>,
}

/// What is seen of a flight.
pub(crate) struct Seen {
    pub(crate) to: Element,
    pub(crate) is_door: bool,
    pub(crate) route: Route,
    pub(crate) origin: Rect,
    pub(crate) landing: Rect,
    /// Of the target, if a pill flies there.
    pub(crate) colours: Option<[String; 2]>,
    pub(crate) start: Option<Start>,
}

/// The coordinates of the layer, and what is below it.
pub(crate) struct Map {
    pub(crate) layer: HtmlElement,
    rooms: Vec<Rect>,
    pub(crate) names: Vec<Rect>,
    left: f64,
    top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Map {
    pub(crate) fn of(host: &Host) -> Option<Self> {
        let layer: HtmlElement = host.find("#motion")?.dyn_into().ok()?;
        let base = layer.get_bounding_client_rect();
        let scale = host.scale();
        let mut map = Self {
            rooms: Vec::new(),
            names: Vec::new(),
            left: base.x() * scale,
            top: base.y() * scale,
            width: f64::from(layer.offset_width()),
            height: f64::from(layer.offset_height()),
            layer,
        };
        map.rooms = map.rects(host, ".grid .room", rect_of);
        map.names = map.rects(host, NAMES, rect_of);
        map.names.extend(map.rects(host, LINES, end_of));
        let slots = map.rects(host, SLOTS, rect_of).into_iter();
        map.names.extend(slots.map(|slot| slot.grown(GAP)));
        Some(map)
    }

    fn rects(
        &self,
        host: &Host,
        selector: &str,
        of: fn(&Host, &Element) -> Option<Rect>,
    ) -> Vec<Rect> {
        let found = elements(host, selector);
        let rects = found.iter().filter_map(|one| of(host, one));
        rects.map(|rect| self.onto(rect)).collect()
    }

    /// The size of the page's letters, in px.
    pub(crate) fn rem(&self) -> f64 {
        let root = self
            .layer
            .owner_document()
            .and_then(|page| page.document_element());
        let style = root.and_then(|root| window().get_computed_style(&root).ok().flatten());
        let size = style.and_then(|style| style.get_property_value("font-size").ok());
        size.and_then(|size| decimal::hundredths(size.strip_suffix("px")?))
            .map_or(16.0, |size| f64::from(size) / 100.0)
    }

    /// A box on the screen in coordinates of the layer.
    pub(crate) fn onto(&self, rect: Rect) -> Rect {
        Rect {
            x: rect.x - self.left,
            y: rect.y - self.top,
            ..rect
        }
    }

    /// The route between two places.
    pub(crate) fn route(&self, from: Spot, via: &[Rect], to: Spot) -> Route {
        let (begin, end) = between(from, to);
        let boxes = [begin].into_iter().chain(via.iter().copied());
        let boxes = boxes.chain([end]);
        let boxes: Vec<Rect> = boxes.map(|rect| self.onto(rect)).collect();
        Route::through(&boxes, &self.rooms, &self.names)
    }
}

/// The ways of a scene's flights, with what each of them needs to know of the screen.
pub(crate) fn ways<'a>(map: &Map, host: &Host, before: Before, scene: &'a Scene) -> Vec<Way<'a>> {
    // Where things have landed.
    let mut landed: Vec<(Anchor, Rect)> = Vec::new();
    let all = scene.flights.iter().zip(before.0).enumerate();
    let all = all.filter_map(|(place, (flight, mut start))| {
        if let Some(start) = &mut start {
            start.rise(host);
        }
        // Of a way that begins or ends in a room that is not shown, the rest.
        let vias = &flight.via;
        let on_screen = |via: &Vec<Anchor>| first(host, via).is_some();
        let begin = origin(host, flight, start.as_ref(), &landed);
        let last = || {
            let last = vias.iter().rposition(on_screen)?;
            Some((last, first(host, &vias[last])?))
        };
        let end = target(host, &flight.to)
            .map(|to| (vias.len(), to))
            .or_else(last);
        let (end, to, is_door, target) = match end {
            Some((end, (to, _, is_door))) => {
                let rect = within_room(host, &to, end_of(host, &to)?);
                (end, to, is_door, Spot { rect, is_door })
            }
            // It leaves over the edge of the room that is shown.
            None => {
                let (from, _) = begin.as_ref()?;
                let (to, rect) = edge(host, &flight.from, flight.to.first()?, from.rect)?;
                (
                    0,
                    to,
                    true,
                    Spot {
                        rect,
                        is_door: false,
                    },
                )
            }
        };
        let mut enters = None;
        let (begin, (from, begins)) = match begin {
            Some(from) => (0, from),
            None => match vias[..end].iter().position(on_screen) {
                Some(next) => {
                    let (_, anchor, _) = first(host, &vias[next])?;
                    (next + 1, (spot(host, &vias[next])?, anchor))
                }
                None => {
                    let anchor = flight.from.first()?;
                    let (_, rect) = edge(host, &flight.to, anchor, target.rect)?;
                    enters = Some(anchor.room());
                    (
                        end,
                        (
                            Spot {
                                rect,
                                is_door: false,
                            },
                            anchor,
                        ),
                    )
                }
            },
        };
        let mut dims = Vec::new();
        let via = vias[begin..end].iter().filter_map(|via| {
            let (element, anchor, is_door) = first(host, via)?;
            let rect = within_room(host, &element, rect_of(host, &element)?);
            dims.extend(dim(host, anchor));
            // Past the words of a line, which a path through its middle would strike out.
            let at = match anchor {
                Anchor::Line(_) => rect.end(),
                _ => rect.token(),
            };
            (!is_door).then_some(at)
        });
        let via: Vec<Rect> = via.collect();
        let route = map.route(from, &via, target);
        let [origin, landing] = between(from, target).into();
        landed.extend(flight.to.first().map(|anchor| (anchor.clone(), landing)));
        let mut way = Way {
            place,
            flight,
            dims,
            enters,
            seen: None,
        };
        if route.length() >= NEAR {
            let mut start = start.filter(|start| flight.from.contains(&start.anchor));
            if !flight.ghost || start.is_none() {
                way.dims.extend(dim(host, begins));
            }
            if let Some(start) = start
                .as_mut()
                .filter(|start| flight.ghost && start.stands(host))
            {
                start.copy = None;
            }
            if let Some(start) = start.as_ref().filter(|_| flight.look == Look::Crate) {
                let parts = start.parts.iter().enumerate();
                landed.extend(parts.map(|(at, (_, rect))| {
                    let rect = rect.shrunk(start.spot.rect, landing);
                    (Anchor::PoppedDelta(at), rect)
                }));
            }
            let is_pill = matches!(flight.look, Look::Pill(_));
            way.seen = Some(Seen {
                colours: is_pill.then(|| colours(&to)).flatten(),
                to,
                is_door,
                route,
                origin,
                landing,
                start,
            });
        }
        Some(way)
    });
    all.collect()
}

/// While a thing is under way, the place that it comes from is dim.
fn dim(host: &Host, from: &Anchor) -> Option<Element> {
    let dims = matches!(
        from,
        Anchor::Object(_) | Anchor::Line(_) | Anchor::PoppedDelta(_)
    );
    dims.then(|| shown(host, from)).flatten()
}

/// A place on the stage at some moment.
pub struct Place(pub(crate) Spot);

/// The elements that match a selector.
pub(crate) fn elements(host: &Host, selector: &str) -> Vec<Element> {
    let Some(found) = host.find_all(selector) else {
        return Vec::new();
    };
    let all = (0..found.length()).filter_map(|at| found.get(at));
    all.map(JsCast::unchecked_into).collect()
}

/// An element's box in px of the layer, which the page around may have scaled.
pub(crate) fn rect_of(host: &Host, element: &Element) -> Option<Rect> {
    let rect = element.get_bounding_client_rect();
    let (width, scale) = (rect.width(), host.scale());
    // An element of a room that is not shown has no size.
    (width > 0.0).then(|| Rect {
        x: rect.x() * scale,
        y: rect.y() * scale,
        width: width * scale,
        height: rect.height() * scale,
    })
}

/// The box at which a way ends: of a printed line its words, for beside them there is nothing to arrive at; of the
/// requests the side of the newest at which it leaves, so that nothing flies over the room's other words.
fn end_of(host: &Host, element: &Element) -> Option<Rect> {
    let whole = rect_of(host, element)?;
    let classes = element.class_list();
    if classes.contains("requests") {
        // The newest comes first.
        let newest = element.first_element_child();
        let newest = newest.and_then(|newest| rect_of(host, &newest));
        return Some(newest.unwrap_or(whole).start());
    }
    let words = classes
        .contains("line")
        .then(|| element.query_selector(".output .line > span:last-child"));
    let last = words.and_then(|found| rect_of(host, &found.ok().flatten()?));
    Some(last.map_or(whole, |last| Rect {
        // Words that were wrapped fill it.
        width: (last.x + last.width - whole.x).min(whole.width),
        ..whole
    }))
}

/// Moves a box that is scrolled out of its room, or out of the part of it that scrolls, to the edge.
fn within_room(host: &Host, element: &Element, mut rect: Rect) -> Rect {
    let room = element.closest(".split.many > .tree, .split, .room");
    let room = room.ok().flatten();
    if let Some(room) = room.and_then(|room| rect_of(host, &room)) {
        let lowest = (room.y + room.height - rect.height).max(room.y);
        rect.y = rect.y.min(lowest).max(room.y);
        let rightmost = (room.x + room.width - rect.width).max(room.x);
        rect.x = rect.x.min(rightmost).max(room.x);
    }
    rect
}

/// The boxes of all text, in coordinates of the layer.
pub(crate) fn texts(host: &Host, map: &Map) -> Vec<Rect> {
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
pub(crate) fn between(from: Spot, to: Spot) -> (Rect, Rect) {
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
pub(crate) fn first<'a>(host: &Host, anchors: &'a [Anchor]) -> Option<(Element, &'a Anchor, bool)> {
    anchors.iter().find_map(|anchor| {
        Some(match anchor {
            Anchor::Door(room) => (shown(host, &Anchor::Room(*room))?, anchor, true),
            _ => (shown(host, anchor)?, anchor, false),
        })
    })
}

/// A place beside the room of what is shown, at the side of a room that is not shown, and that room's element.
fn edge(host: &Host, shown: &[Anchor], hidden: &Anchor, at: Rect) -> Option<(Element, Rect)> {
    let (element, anchor, _) = first(host, shown)?;
    let room = element.closest(".room").ok().flatten()?;
    let rect = rect_of(host, &room)?;
    let at = at.token();
    let x = match hidden.room() < anchor.room() {
        true => rect.x - at.width,
        false => rect.x + rect.width,
    };
    (hidden.room() != anchor.room()).then_some((room, Rect { x, ..at }))
}

/// The same for the end of a flight: what is not on the screen is behind the edge of its room.
fn target<'a>(host: &Host, anchors: &'a [Anchor]) -> Option<(Element, &'a Anchor, bool)> {
    let room = || {
        let anchor = anchors.first()?;
        Some((shown(host, &Anchor::Room(anchor.room()))?, anchor, true))
    };
    first(host, anchors).or_else(room)
}

/// Where a flight begins: where a thing has landed or was, if that room is still shown, or where it is.
fn origin<'a>(
    host: &Host,
    flight: &'a Flight,
    start: Option<&Start>,
    landed: &[(Anchor, Rect)],
) -> Option<(Spot, &'a Anchor)> {
    flight.from.iter().find_map(|anchor| {
        let last = landed.iter().rev().find(|(at, _)| at == anchor);
        // What is known by its key may have moved to another row; then another thing is where it was. Requests are made now.
        let stays = matches!(
            anchor,
            Anchor::Object(_) | Anchor::Line(_) | Anchor::Item(_) | Anchor::Requests
        );
        let now = || spot(host, std::slice::from_ref(anchor));
        let spot = match (last, start) {
            (Some((_, rect)), _) => Some(Spot {
                rect: *rect,
                is_door: false,
            }),
            _ if stays && let Some(here) = now() => Some(here),
            (_, Some(start)) if start.anchor == *anchor => {
                shown(host, &Anchor::Room(anchor.room())).map(|_| start.spot)
            }
            _ => now(),
        };
        Some((spot?, anchor))
    })
}

/// Whether an element is in a room that the scene of a story is not about.
pub(crate) fn recedes(element: &Element) -> bool {
    matches!(element.closest(".dimmed, .folded"), Ok(Some(_)))
}

/// The place of the first of these anchors that is on the screen.
pub(crate) fn spot(host: &Host, anchors: &[Anchor]) -> Option<Spot> {
    let (element, _, is_door) = first(host, anchors)?;
    let rect = within_room(host, &element, end_of(host, &element)?);
    Some(Spot { rect, is_door })
}

pub(crate) fn shown(host: &Host, anchor: &Anchor) -> Option<Element> {
    let text = anchor.to_string();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let found = host.find(&format!("[data-anchor=\"{text}\"]"));
    let found = found.or_else(|| host.cell(anchor));
    let is_drawn = |element: &Element| rect_of(host, element).is_some();
    if matches!(anchor, Anchor::OutputLine(_)) {
        let output = host.find(&format!("[data-anchor=\"{}\"]", Anchor::LastLine))?;
        output.set_scroll_top(output.scroll_height());
        // A controller's log may be in the place of the lines.
        let last = || output.query_selector(".line:last-of-type").ok().flatten();
        return found.filter(is_drawn).or_else(last).filter(is_drawn);
    }
    found.filter(is_drawn)
}

/// The column that begins with a delta, else the element.
pub(crate) fn column_of(element: &Element, to: &[Anchor]) -> Element {
    let begins = matches!(to.first(), Some(Anchor::Delta { index: 0, .. }));
    let column = begins.then(|| element.closest(".col").ok().flatten());
    column.flatten().unwrap_or_else(|| element.clone())
}

/// Whether an element is too small to show what arrives or leaves: a count or a cell.
pub(crate) fn is_small(element: &Element) -> bool {
    matches!(anchor_of(element), Some(Anchor::More)) || name_of(element).is_some()
}

/// The name of the object in a cell.
pub(crate) fn name_of(cell: &Element) -> Option<String> {
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

/// Ground and border of an element, if it has them.
fn colours(element: &Element) -> Option<[String; 2]> {
    let style = window().get_computed_style(element).ok().flatten()?;
    let value = |name| style.get_property_value(name).unwrap_or_default();
    let ground = value("background-color");
    let border = value("border-top-width") != "0px";
    let is_clear = ground.starts_with("rgba") && ground.ends_with(", 0)");
    (border && !ground.is_empty() && !is_clear).then(|| [ground, value("border-top-color")])
}
