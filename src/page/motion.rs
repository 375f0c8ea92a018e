//! Draws scenes over the stage: things that travel, their paths, their ghosts, and flashes.
//!
//! When a scene begins, the screen shows the new picture already; what arrives is only hidden until it lands. All of
//! it are the browser's animations, so it can be cut short at any time: without them everything is in place.

use std::cell::{Cell, RefCell};

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, SvgElement};

use crate::animate::{Animation, Timing, animate, now};
use crate::host::Host;
use crate::sight::{
    Before, Count, Map, Place, Seen, Start, Way, column_of, first, is_small, name_of, recedes,
    rect_of, shown, spot, texts, ways,
};
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::motion::merged::Scene;
use deltascope_presentation::motion::plan::{Flight, Hides, LIGHT_MS, Look, SETTLE_MS, Token};
use deltascope_presentation::motion::route::{Point, Rect, Route};
use deltascope_presentation::rows::{Names, RvText, type_class};
use deltascope_presentation::strings;
use deltascope_presentation::svg::glyphs::glyph;
use deltascope_replay::playback::SHORTEST_FLASH_MS;
use deltascope_world::text::Lang;

/// The layer above the stage.
pub struct Stage {
    host: Host,
    /// What runs; cutting ends it.
    running: RefCell<Vec<Animation>>,
    /// When the last flashes began or will begin, in ms.
    flashes: RefCell<Vec<f64>>,
    /// The size of the layer when it was drawn on last.
    size: Cell<(f64, f64)>,
}

/// Where a pill begins or ends, and its colours there.
type End = (Rect, Option<[String; 2]>);

/// A crate under way.
struct Crate {
    parts: Vec<(Element, Rect)>,
    begin: u32,
    end: u32,
}

impl Stage {
    /// The stage of this board.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self {
            host,
            running: RefCell::default(),
            flashes: RefCell::default(),
            size: Cell::default(),
        }
    }

    fn map(&self) -> Option<Map> {
        let map = Map::of(&self.host)?;
        self.size.set((map.width, map.height));
        Some(map)
    }

    /// Whether what is drawn fits the layer's size. A step that shows another room changes the size before it draws.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.host
            .find("#motion")
            .and_then(|layer| layer.dyn_into::<HtmlElement>().ok())
            .is_some_and(|layer| {
                let size = (layer.offset_width(), layer.offset_height());
                (f64::from(size.0), f64::from(size.1)) == self.size.get()
            })
    }

    /// Whether nothing is drawn on the layer.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let layer = self.host.find("#motion");
        layer.is_none_or(|layer| layer.first_child().is_none())
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

    /// Plays a scene, once the screen has changed. `words`: the names of objects and the language;
    /// `scaled` converts ms to the current speed. Returns when what
    /// leaves has gone, in ms.
    pub fn play(
        &self,
        mut before: Before,
        scene: &Scene,
        words: (&Names, Lang),
        scaled: &dyn Fn(u32) -> u32,
    ) -> u32 {
        let host = &self.host;
        let scaled = |ms: u32| if ms == 0 { 0 } else { scaled(ms) };
        let map = (!scene.flights.is_empty()).then(|| self.map()).flatten();
        let counts = before.counts();
        let ways = map
            .as_ref()
            .map_or_else(Vec::new, |map| ways(map, host, before, scene));
        let flashes = scene.flashes.iter().map(|(at, anchors)| {
            let at = scaled(*at);
            (at, self.lit(anchors, at))
        });
        let flashes: Vec<_> = flashes.collect();
        for count in counts {
            if let Some((map, end)) = map.as_ref().zip(count.lands(&ways)) {
                self.hold(map, &count, scaled(end));
            }
        }
        let gone = map.map_or(0, |map| self.fly(&map, ways, scene, words, &scaled));
        for (at, lit) in flashes {
            self.light(&lit, at, scaled(SETTLE_MS));
        }
        gone
    }

    /// Shows a count as it was, until what it counts has landed.
    fn hold(&self, map: &Map, count: &Count, end: u32) {
        let Rect { x, y, width, .. } = map.onto(count.rect);
        // From its end: most counts stand at the right of a heading.
        let at = decimals("translate(#px,#px) translateX(-100%)", &[x + width, y]);
        if let Some(style) = window().get_computed_style(&count.element).ok().flatten() {
            for name in ["font", "color"] {
                let value = style.get_property_value(name).unwrap_or_default();
                let _ = count.copy.style().set_property(name, &value);
            }
        }
        let _ = count.copy.style().set_property("transform", &at);
        let _ = count.copy.class_list().add_1("was");
        let _ = map.layer.append_child(&count.copy);
        self.show(&count.element, "0", 0, end);
        self.show(&count.copy, "1", 0, end);
    }

    fn fly(
        &self,
        map: &Map,
        ways: Vec<Way>,
        scene: &Scene,
        words: (&Names, Lang),
        scaled: &impl Fn(u32) -> u32,
    ) -> u32 {
        let mut gone = 0;
        let mut crates: Vec<Crate> = Vec::new();
        let rem = map.rem();
        let last = scene.flights.iter().map(Flight::end).max();
        for way in ways {
            let flight = way.flight;
            let (begin, end) = (scaled(flight.at), scaled(flight.end()));
            for place in &way.dims {
                self.show(place, "0.28", 0, end);
            }
            let Some(Seen {
                to,
                is_door,
                route,
                origin,
                landing,
                colours,
                start,
            }) = way.seen
            else {
                continue;
            };
            let trail = draw_way(map, &route, flight.hue, false);
            let whence = way.enters.map(|room| {
                let text = ["← ", strings::room(words.1, room)].concat();
                say_way(&self.host, map, &text, &route, true)
            });
            let light = begin.saturating_sub(scaled(LIGHT_MS));
            let is_crate = flight.look == Look::Crate;
            if flight.ghost
                && let Some(start) = &start
            {
                ghost(map, start);
            }
            let Some(flyer) = flyer(flight, start.as_ref(), words) else {
                continue;
            };
            let style = flyer.style();
            let _ = style.set_property("offset-path", &format!("path('{}')", route.svg()));
            let mut large = large(&flyer, rem);
            let _ = map.layer.append_child(&flyer);
            let timing = Timing {
                at: begin,
                ms: end.saturating_sub(begin).max(1),
                fill: "both",
            };
            let later = scene.flights.get(way.place + 1..).unwrap_or_default();
            let mut fits = None;
            let packed = start.as_ref().filter(|one| is_crate && one.copy.is_some());
            let leaves = match packed {
                Some(_) => emptied(later),
                None => followed(flight, later),
            };
            let stays = leaves.map_or(end, scaled);
            if let Some(start) = packed {
                size(&flyer, start.spot.rect);
                gone = gone.max(end);
                large = (start.spot.rect.width, start.spot.rect.height);
                fits = Some(landing.fits(start.spot.rect));
                crates.push(Crate {
                    parts: start.parts.clone(),
                    begin: end,
                    end: stays,
                });
            }
            if !is_door {
                self.hide(flight, &to, end, if is_crate { stays } else { end });
            }
            if let Some(Anchor::PoppedDelta(at)) = flight.from.first()
                && let Some(of) = crates.last().filter(|of| of.begin <= begin)
                && let Some((part, _)) = of.parts.get(*at)
            {
                self.show(part, "0", begin, of.end.max(end));
            }
            if let Some(trail) = trail {
                self.show(&trail, "0", 0, light);
                // Only the last paths stay, if the scene of a story is about where they lead.
                if Some(flight.end()) != last || recedes(&to) {
                    let timing = Timing {
                        at: stays,
                        ms: scaled(SETTLE_MS),
                        fill: "forwards",
                    };
                    let faded: [&[_]; 1] = [&[("opacity", "0")]];
                    for one in [Some(trail), whence.flatten()].into_iter().flatten() {
                        self.run(animate(&one, &faded, timing));
                    }
                }
            }
            self.show(&flyer, "1", light, stays);
            let mut scales = route.scales(large, &map.names);
            if let Some(fits) = fits {
                (scales[0].1, scales[3].1) = (1.0, fits);
            }
            let ends = matches!(flight.look, Look::Pill(_)).then(|| {
                let begins = (origin, start.and_then(|start| start.colours));
                [begins, (landing, colours)]
            });
            let is_pill = ends.is_some();
            let mut frames = frames(map, scales, ends);
            if is_pill {
                hide_letters(&mut frames, &scales, LEGIBLE_PX / (LETTERS * rem));
            }
            let frames: Vec<_> = frames.iter().map(|frame| styles(frame)).collect();
            let frames: Vec<_> = frames.iter().map(Vec::as_slice).collect();
            self.run(animate(&flyer, &frames, timing));
        }
        gone
    }

    /// Hides what arrives until `end`, and what is inside of it until `emptied`.
    fn hide(&self, flight: &Flight, to: &Element, end: u32, emptied: u32) {
        match flight.hides {
            Hides::Nothing => {}
            Hides::Target if is_small(to) => {}
            Hides::Target => self.show(&column_of(to, &flight.to), "0", 0, end),
            // What left is now inside the target.
            Hides::Inside => {
                let inside = to.children();
                for at in 0..inside.length() {
                    if let Some(child) = inside.get_with_index(at) {
                        self.show(&child, "0", 0, emptied);
                    }
                }
            }
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

    /// Lights up the elements that differ, in `at` ms and for `ms` ms.
    pub fn flash(&self, anchors: &[Anchor], at: u32, ms: u32) {
        self.light(&self.lit(anchors, at), at, ms);
    }

    /// What lights up in `at` ms. At any speed, at most three flashes a second: more would hurt eyes.
    pub(crate) fn lit(&self, anchors: &[Anchor], at: u32) -> Vec<Element> {
        let now = now();
        let begins = now + f64::from(at);
        let shortest = f64::from(SHORTEST_FLASH_MS);
        let mut flashes = self.flashes.borrow_mut();
        flashes.retain(|at| *at > now - shortest);
        // What lights up at the same time is one flash.
        let is_near = |at: &f64| (1.0..shortest).contains(&(begins - at).abs());
        if flashes.iter().any(is_near) {
            return Vec::new();
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
        lit
    }

    pub(crate) fn light(&self, lit: &[Element], at: u32, ms: u32) {
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
        let fill = "none";
        for element in lit {
            self.run(animate(element, &[LIT, LIT], Timing { at, ms, fill }));
        }
    }

    /// Where the first of these anchors is now.
    #[must_use]
    pub fn place(&self, anchors: &[Anchor]) -> Option<Place> {
        spot(&self.host, anchors).map(Place)
    }

    /// Draws the way of a fact that was taken back, in reverse; it had landed there.
    pub fn reversed(&self, flight: &Flight, landed: Place) {
        if let (Some(origin), Some(map)) = (spot(&self.host, &flight.from), self.map()) {
            let route = map.route(origin, &[], landed.0).reversed();
            draw_way(&map, &route, flight.hue, true);
        }
    }

    /// Draws the trail of the fact that the screen was cut to: it shows where the new element came from, or was
    /// before. Where nothing may move, an arrow, its words and a light say what a motion would.
    pub fn trail(&self, before: Option<Place>, flight: &Flight, still: bool) {
        let (host, from) = (&self.host, &flight.from);
        let origin = spot(host, from.get(..1).unwrap_or_default());
        let origin = origin
            .or(before.map(|place| place.0))
            .or_else(|| spot(host, from));
        if first(host, &flight.to).is_some_and(|(to, ..)| recedes(&to)) {
            return;
        }
        if let (Some(origin), Some(to), Some(map)) = (origin, spot(host, &flight.to), self.map()) {
            // An arrow that goes only as far as a room's edge would be too short to see.
            let is_room = matches!(*flight.to, [Anchor::Room(_)]);
            let (origin, to) = match still {
                true => (origin.inside(false, INSIDE), to.inside(is_room, INSIDE)),
                false => (origin, to),
            };
            let route = map.route(origin, &[], to);
            let rooms = still.then(|| rooms_of(host, flight)).flatten();
            let drawn = draw_way(&map, &route, flight.hue, still);
            if let (Some(rooms), Some(_)) = (rooms, drawn) {
                let _ = say_way(host, &map, &rooms, &route, false);
            }
        }
    }
}

/// From which room to which a way leads.
fn rooms_of(host: &Host, flight: &Flight) -> Option<String> {
    let room = |anchors: &[Anchor]| {
        let (element, ..) = first(host, anchors)?;
        let room = element.closest(".room").ok().flatten()?;
        room.query_selector("h2").ok().flatten()?.text_content()
    };
    let (from, to) = (room(&flight.from)?, room(&flight.to)?);
    (from != to).then(|| format!("{from} → {to}"))
}

/// Writes that beside the way, and where something `moves`, off it.
fn say_way(host: &Host, map: &Map, text: &str, route: &Route, moves: bool) -> Option<Element> {
    let words = element("div", "fly fly-label way", text)?;
    let _ = map.layer.append_child(&words);
    let place = rect_of(host, &words).and_then(|size| free_place(host, map, size, route, moves));
    if let Some(Point { x, y }) = place {
        let at = decimals("translate(#px,#px) translate(-50%,-50%)", &[x, y]);
        let _ = words.style().set_property("transform", &at);
        return Some(words.into());
    }
    words.remove();
    None
}

/// Where a label of this size beside the way covers nothing that is read.
fn free_place(host: &Host, map: &Map, size: Rect, route: &Route, moves: bool) -> Option<Point> {
    let size = size.grown(1.0);
    let mut taken = texts(host, map);
    taken.extend(&map.names);
    // The head of the arrow.
    taken.extend(route.arrival().map(|(Point { x, y }, towards)| {
        let middle = Point {
            x: x - towards.x * 4.5,
            y: y - towards.y * 4.5,
        };
        Rect::default().around(middle).grown(6.0)
    }));
    // Try the places nearest to the way first, and its middle before its ends. Farther off, the words belong to nothing.
    let asides = [0.0, -1.0, 1.0, -1.5, 1.5, -2.0, 2.0];
    let alongs = [0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0];
    let acrosses = [0.0, 0.55, -0.55];
    let nearest = if moves { 3 } else { 0 };
    let places = asides.into_iter().skip(nearest).flat_map(|aside| {
        let places = alongs.into_iter();
        places.flat_map(move |along| acrosses.map(move |across| (aside, along, across)))
    });
    let places = places.map(|(aside, along, across)| {
        let Point { x, y } = route.seen_at(along);
        let x = (x + across * size.width).min(map.width - size.width / 2.0);
        Point {
            x: x.max(size.width / 2.0),
            y: y + aside * size.height,
        }
    });
    let mut places = places.filter(|at| {
        let here = size.around(*at);
        here.y >= 0.0
            && here.y + here.height <= map.height
            && taken.iter().all(|one| one.shared(here) == 0.0)
    });
    places.next()
}

/// Leaves a ghost where a thing was.
fn ghost(map: &Map, start: &Start) {
    let copy = start.copy.as_ref();
    if let Some(ghost) = copy.and_then(|copy| copy.dyn_ref::<HtmlElement>()) {
        size(ghost, start.spot.rect);
        let Rect { x, y, .. } = map.onto(start.spot.rect);
        let at = decimals("translate(#px,#px)", &[x, y]);
        let _ = ghost.style().set_property("transform", &at);
        let _ = ghost.class_list().add_2("fly", "ghost");
        let _ = map.layer.append_child(ghost);
    }
}

/// An element of the layer.
fn element(tag: &str, class: &str, text: &str) -> Option<HtmlElement> {
    let element = document().create_element(tag).ok()?;
    element.set_class_name(class);
    element.set_text_content((!text.is_empty()).then_some(text));
    element.dyn_into().ok()
}

/// What flies, as it looks.
fn flyer(
    flight: &Flight,
    start: Option<&Start>,
    (names, lang): (&Names, Lang),
) -> Option<HtmlElement> {
    let flyer = match &flight.look {
        Look::Pill(token) => pill(token, flight.hue, names),
        Look::Label(text) => element("div", "fly-label", text),
        Look::Others(count) => {
            let text = ["+", &strings::objects(lang, *count)].concat();
            element("div", "fly-label", &text)
        }
        Look::Crate => match start.and_then(|start| start.copy.as_ref()) {
            Some(copy) => match name_of(copy) {
                Some(name) => element("div", "fly-label", &name),
                None => copy.clone().dyn_into().ok(),
            },
            // It came and went within one step.
            None => flight.from.first().and_then(|from| match from {
                Anchor::Column { key, .. } => element("div", "fly-label", &names.get(key)),
                _ => None,
            }),
        },
    }?;
    let _ = flyer.class_list().add_1("fly");
    if let Some(hue) = flight.hue {
        let _ = flyer.class_list().add_1(type_class(hue));
    }
    Some(flyer)
}

/// When what comes after a thing that landed is there, in the scene's ms: it stays until then.
fn followed(flight: &Flight, later: &[Flight]) -> Option<u32> {
    let replaces = |one: &&Flight| one.to == flight.to;
    if let Look::Pill(_) = flight.look
        && let Some(next) = later.iter().find(replaces)
    {
        return Some(next.end());
    }
    // The same thing goes on from there.
    let goes_on = |one: &&Flight| one.from.first() == flight.to.first() && one.look == flight.look;
    later.iter().find(goes_on).map(|next| next.at)
}

/// When the last thing leaves a crate that landed.
fn emptied(later: &[Flight]) -> Option<u32> {
    let leaves = |one: &&Flight| matches!(one.from.first(), Some(Anchor::PoppedDelta(_)));
    let last = later.iter().take_while(|one| one.look != Look::Crate);
    last.filter(leaves).map(|one| one.at).max()
}

/// Where a thing has what size on its way; at its `ends` a pill has their widths and colours.
fn frames(
    map: &Map,
    scales: [(f64, f64); 4],
    ends: Option<[End; 2]>,
) -> Vec<Vec<(&'static str, String)>> {
    let is_pill = ends.is_some();
    let [begins, lands] = ends.map_or([None, None], |ends| ends.map(Some));
    let frames = scales.into_iter().zip([begins, None, None, lands]);
    let frames = frames.map(|((at, scale), end)| {
        // Not `scale`, which applies to the path as well.
        let mut frame = vec![
            ("offset", decimals("#", &[at])),
            ("offsetDistance", decimals("#%", &[at * 100.0])),
            ("transform", decimals("scale(#)", &[scale])),
        ];
        if is_pill {
            frame.extend(widths(map, end));
        }
        frame
    });
    frames.collect()
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

/// The width of a pill, and at one of its ends its colours; between them it is as narrow as what is in it.
fn widths(map: &Map, end: Option<End>) -> Vec<(&'static str, String)> {
    let (rect, colours) = end.unwrap_or_default();
    let width = rect.width.min(map.width).min(240.0);
    let mut styles = vec![("width", decimals("#px", &[width]))];
    if let Some([ground, border]) = colours {
        styles.push(("backgroundColor", ground));
        styles.push(("borderColor", border));
    }
    styles
}

/// The height of a pill's letters in letters of the page, as in style/motion.css, and the smallest that is read, in px.
const LETTERS: f64 = 0.75;
const LEGIBLE_PX: f64 = 10.0;

/// Hides the letters of a thing in the frames in which it is smaller than this.
fn hide_letters(
    frames: &mut Vec<Vec<(&'static str, String)>>,
    scales: &[(f64, f64); 4],
    least: f64,
) {
    let hidden = |(_, scale): (f64, f64)| scale < least;
    if !scales.iter().any(|one| hidden(*one)) {
        return;
    }
    for (frame, one) in frames.iter_mut().zip(scales) {
        let color = if hidden(*one) {
            "transparent"
        } else {
            "var(--ink)"
        };
        frame.push(("color", color.to_owned()));
    }
    // From the end, so that places stay.
    for at in [2, 0] {
        let [one, other] = [scales[at], scales[at + 1]];
        if hidden(one) != hidden(other) {
            let part = (one.1 - least) / (one.1 - other.1);
            let offset = decimals("#", &[one.0 + (other.0 - one.0) * part]);
            let frame = vec![("offset", offset), ("color", "transparent".to_owned())];
            frames.insert(at + 1, frame);
        }
    }
}

/// About how large a thing is: to measure each would lay the page out anew.
fn large(flyer: &HtmlElement, rem: f64) -> (f64, f64) {
    const LETTER: f64 = 0.45;
    const BESIDE: f64 = 3.5;
    const HIGH: f64 = 1.75;
    let letters = flyer.text_content().map_or(0, |text| text.chars().count());
    let letters = u32::try_from(letters).unwrap_or_default();
    ((f64::from(letters) * LETTER + BESIDE) * rem, HIGH * rem)
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

/// A shorter still arrow, in px, would cover the elements it connects; they are highlighted anyway.
const SHORT: f64 = 56.0;
/// How far a still arrow goes into a room, in px.
const INSIDE: f64 = 84.0;

/// Draws a route, without the parts on what it connects and on the names that it crosses.
fn draw_way(map: &Map, route: &Route, hue: Option<DeltaType>, arrow: bool) -> Option<Element> {
    if arrow && route.visible() < SHORT {
        return None;
    }
    let class = hue.map_or("Bookmark", type_class);
    let (svg, path) = drawing(&format!("trail {class}"), &route.svg())?;
    let mut clip = decimals("M0 0h#v#h#z", &[map.width, map.height, -map.width]);
    for Rect {
        x,
        y,
        width,
        height,
    } in route.holes(&map.names)
    {
        clip += &decimals("M# #h#v#h#z", &[x, y, width, height, -width]);
    }
    let clip = format!("path(evenodd,'{clip}')");
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
    let _ = map.layer.append_child(&svg);
    Some(svg)
}
