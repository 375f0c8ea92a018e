//! An element's poster: the picture that stands in its place until the program is loaded, and on paper. It has the
//! element's geometry, so that nothing moves when the run comes alive.

use super::colors::Ink;
use super::glyphs::{BACK, FOLLOW, NEXT, PLAY, RESET, STEP};
use super::parts::STRONG;
use super::pen::{Area, At, Pen, Type, area, count, measure, mono, sans, wrap};
use super::race::lanes;
use super::tale;
use super::work::{place as place_of, typed};
use super::{FEW_GAP, FEW_PAD, finish, in_rows, place};
use crate::command::SvgOptions;
use crate::decimal::decimal;
use crate::options::Controls;
use crate::pseudo;
use crate::rows::race::said;
use crate::rows::{self, acting};
use crate::stage::{Panel, least_width};
use crate::strings;
use crate::view::View;

/// The widths of what an element has around its stage, in px: as in embed/stage.css, 16 to the rem.
const MASTHEAD: i32 = 52;
const TABS: i32 = 45;
/// The height of an element that shows one room at a time.
const NARROW: i32 = 608;
/// The height of the strip, with its upper border; the second one beside one room at a time, and in an element that is
/// no wider than `SMALL`. Few sentences are longer, and make the strip grow.
const SAY: [i32; 2] = [84, 144];
const SMALL: i32 = 512;
/// The widest element whose clock is below its buttons, and the same beside one room at a time.
const STACKED: [i32; 2] = [640, 512];
/// The timeline of an endless run is a multiple of this many steps long.
pub const PIECE: usize = 200;
/// The width of a race's two buttons, and below each other.
const BUTTONS: [i32; 2] = [108, 60];
/// The padding beside both.
const BESIDE: [i32; 2] = [16, 12];

/// The height of an element, as `#measure` of embed/deltascope.js has it where the host sets none.
fn high(panels: &[Panel], controls: Controls, width: i32) -> i32 {
    let below = panels.iter().filter(|room| room.is_below()).count();
    let above = panels.len() - below;
    let two_rows = below > 0 && above > 0;
    // From this width on these rooms are beside each other.
    let fits = match above {
        2 => width > 400,
        3 => width > 656,
        4 => width > 800,
        5 => width > 896,
        _ => !two_rows || width > 400,
    };
    match (controls, panels.is_empty()) {
        (Controls::Full, true) => 768,
        (_, true) => NARROW,
        (Controls::Full, false) if two_rows => 704,
        (Controls::Full, false) => 576,
        _ if !fits => NARROW,
        (Controls::None, _) => 336,
        _ if two_rows => 672,
        _ => 480,
    }
}

/// The height of the transport, with its upper border.
fn transport_high(narrow: bool, width: i32, controls: Controls) -> i32 {
    let stacked = width <= STACKED[usize::from(narrow)];
    let (high, clock) = match (narrow, stacked) {
        (false, false) => (56, 0),
        (false, true) => (88, 11),
        (true, false) => (97, 0),
        (true, true) => (145, 27),
    };
    // Without anything to choose the clock is as high as its letters.
    high - if controls == Controls::Minimal {
        clock
    } else {
        0
    }
}

/// The poster of an element as wide as the options say, with these controls, and its width and height; `height`:
/// what its host sets.
#[must_use]
pub fn poster(
    view: &View,
    options: &SvgOptions,
    controls: Controls,
    height: Option<u32>,
) -> (String, (i32, i32)) {
    let mut pen = Pen::new(view, options);
    let size = draw(&mut pen, controls, height);
    (finish(&pen, size, size), size)
}

/// Draws everything. Returns the width and the height.
pub(super) fn draw(pen: &mut Pen, controls: Controls, height: Option<u32>) -> (i32, i32) {
    let (view, options) = (pen.view, pen.options);
    pen.framed = true;
    let w = (options.width as i32).clamp(160, 4_000);
    let narrow = w - 2 < least_width(&options.panels);
    let h = height.map_or_else(
        || high(&options.panels, controls, w),
        |height| height as i32,
    );
    let rooms = match &*options.panels {
        [] => &Panel::ALL,
        chosen => chosen,
    };
    let bars = usize::from(controls != Controls::None) as i32;
    let races = view.race().is_some();
    // A story's panel is in the place of strip and transport, whatever the controls.
    let story = view.story.clone();
    let bars = bars * i32::from(story.is_none());
    // The sentence of a race is above its lanes.
    let small = narrow || w - 2 <= SMALL;
    let say = SAY[usize::from(small)] * bars * i32::from(!races);
    let play = transport_high(narrow, w, controls) * bars;
    let mut a = area(1, 1, w - 2, h - 2);
    if controls == Controls::Full {
        let title = view.lesson.title.get(options.lang);
        pen.room("header", area(a.x, a.y, a.w, MASTHEAD));
        pen.text(
            a.x + 22,
            a.y + 26,
            a.w - 44,
            At::Start,
            title,
            sans(150, Ink::INK).bold(),
        );
        pen.line(a.x, a.y + MASTHEAD - 1, a.w, 0, Ink::LINE, "");
        a = a.below(a.y + MASTHEAD);
    }
    let shown = match &story {
        Some(story) => tale::shown(story, pen, rooms),
        None => acting::shown(view, rooms),
    };
    pen.dims = !narrow;
    // A story has no way from room to room where there is one room.
    if narrow && !races && (story.is_none() || rooms.len() > 1) {
        let at = area(a.x, a.y, a.w, TABS);
        match story {
            None => tabs(pen, at, rooms, shown),
            Some(_) => tale::map(pen, at, rooms, shown),
        }
        a = a.below(a.y + TABS);
    }
    let told = match story {
        Some(_) => tale::high(pen, a.w, h - 2, narrow),
        None => 0,
    };
    let stage = area(a.x, a.y, a.w, a.h - say - play - told);
    if races {
        let to = stage.inset(8, 8);
        let above = parting(pen, to);
        lanes(pen, to.below(to.y + above));
    } else if narrow {
        let at = stage.inset(8, 8);
        place(pen, &[(shown, at)], at.h, at.h);
    } else {
        in_rows(pen, stage.inset(FEW_PAD, FEW_GAP), rooms, false);
    }
    if told > 0 {
        let at = area(a.x, stage.bottom(), a.w, told);
        tale::tale(pen, at, narrow);
    }
    if say > 0 {
        strip(pen, area(a.x, stage.bottom(), a.w, say), narrow);
    }
    if bars > 0 {
        transport(
            pen,
            area(a.x, a.bottom() - play, a.w, play),
            narrow,
            controls,
        );
    }
    (w, h)
}

/// The tabs of the rooms of which one is shown; that one is in sight.
fn tabs(pen: &mut Pen, a: Area, rooms: &[Panel], shown: Panel) {
    const GAP: i32 = 4;
    let lang = pen.options.lang;
    let acting = rows::current(pen.view).map(acting::room);
    pen.room("tabs", a);
    pen.line(a.x, a.bottom() - 1, a.w, 0, Ink::LINE, "");
    let tabs = rooms.iter().map(|room| {
        let name = match room {
            Panel::Queue => pen.view.picture.queue.kind.id(),
            Panel::Api => strings::source(lang, pen.view.picture.api.source),
            room => strings::room(lang, *room),
        };
        let of = sans(130, Ink::INK_2);
        let of = if *room == shown {
            of.ink(Ink::INK).bold()
        } else {
            of
        };
        let dot = if acting == Some(*room) { 12 } else { 0 };
        (name, of, measure(name, of), dot)
    });
    let tabs: Vec<_> = tabs.collect();
    let wide = |tabs: &[(&str, Type, i32, i32)]| -> i32 {
        tabs.iter().map(|(_, _, w, dot)| w + dot + 20 + GAP).sum()
    };
    let at = rooms.iter().position(|room| *room == shown);
    let at = at.unwrap_or_default();
    // The first ones give way until the one that is shown fits.
    let room_for = a.w - 12 + GAP;
    let first = (0..at).find(|first| wide(&tabs[*first..=at]) <= room_for);
    let mut x = a.x + 6;
    for (place, (name, of, w, dot)) in tabs.iter().enumerate().skip(first.unwrap_or(at)) {
        if x + w + dot + 20 > a.right() {
            break;
        }
        pen.text(x + 10, a.middle(), *w, At::Start, name, *of);
        if *dot > 0 {
            let at = area(x + 15 + w, a.middle() - 3, 7, 7);
            pen.rect(at, 4, Ink::GLOW_LINE, Ink::NONE, "");
        }
        if place == at {
            let line = area(x, a.bottom() - 3, w + dot + 20, 2);
            pen.rect(line, 0, Ink::INK, Ink::NONE, "");
        }
        x += w + dot + 20 + GAP;
    }
}

/// What happened and why, as many lines as there is room for.
fn strip(pen: &mut Pen, a: Area, narrow: bool) {
    let lang = pen.options.lang;
    let said = rows::said(pen.view, lang);
    pen.room("strip", a);
    pen.raw(&["<g data-part=\"strip\">"]);
    pen.rect(a, 0, Ink::CARD, Ink::NONE, "");
    pen.line(a.x, a.y, a.w, 0, Ink::LINE, "");
    let n = usize::from(narrow);
    let top = [9, 8][n];
    let to = area(
        a.x + BESIDE[n],
        a.y + top,
        a.w - 2 * BESIDE[n],
        a.h - 2 * top + 1,
    );
    let mut y = to.y;
    let mut say = |pen: &mut Pen, runs: &[(&str, Type)], line: i32| {
        let fit = (to.bottom() - y) / line;
        let lines = wrap(runs, to.w);
        y += pen.lines(to.below(y), line, At::Start, &lines, fit.max(0) as usize);
    };
    let what = typed(&said.what, sans([150, 140][n], Ink::INK));
    let why = typed(&said.why, sans([125, 135][n], Ink::INK_2));
    say(pen, &what, [19, 18][n]);
    say(pen, &why, [16, 19][n]);
    let (others, minor) = rows::others(pen.view, lang);
    if !others.is_empty() {
        let mut line: Vec<&str> = Vec::new();
        for other in &others {
            line.extend([&*other.text, "   "]);
        }
        let more = ["+", &minor.to_string()].concat();
        line.extend((minor > 0).then_some(&*more));
        let text = line.concat();
        say(pen, &[(&text, sans(120, Ink::INK_2))], 19);
    }
    let (recent, picture) = pen.view.narrated();
    let listing = pseudo::listing(recent, picture);
    let (routine, mut link) = place_of(&listing);
    if let Some(place) = listing.link.as_ref().filter(|_| narrow) {
        link = place.place.to_string();
    }
    let dot = if link.is_empty() || routine.is_empty() {
        ""
    } else {
        " · "
    };
    if to.bottom() - y >= 17 {
        let whence = [routine, dot, &link].concat();
        pen.text(to.x, y + 8, to.w, At::Start, &whence, mono(115, Ink::INK_3));
    }
    pen.raw(&["</g>"]);
}

/// What parts the lanes of a race, beside the way to the next parting. Returns its height, with the gap below.
fn parting(pen: &mut Pen, a: Area) -> i32 {
    const LINE: i32 = 21;
    let parts = pen.view.race().is_some_and(|race| race.moment.parts);
    let said = said(pen.view, pen.options.lang).unwrap_or_default();
    let text = sans(150, Ink::INK);
    let w = a.w - BUTTONS[usize::from(a.w < 544)];
    let lines = wrap(&[(&said, text)], w - 30);
    let high = (count(lines.len()) * LINE + 14).max(52);
    let (ground, border) = match parts {
        true => (Ink::GLOW, Ink::GLOW_LINE),
        false => (Ink::CARD, Ink::LINE),
    };
    let at = area(a.x, a.y, w, high);
    pen.room("said", at);
    pen.rect(at, 8, ground, border, "");
    let top = at.middle() - count(lines.len()) * LINE / 2;
    let to = area(at.x + 16, top, w - 30, at.h);
    pen.lines(to, LINE, At::Start, &lines, lines.len());
    high + 8
}

/// The buttons, the timeline and the clock.
fn transport(pen: &mut Pen, a: Area, narrow: bool, controls: Controls) {
    let view = pen.view;
    let buttons: &[&str] = match controls {
        Controls::Minimal => &[BACK, PLAY, STEP],
        Controls::Transport | Controls::Full | Controls::None => &[RESET, BACK, PLAY, STEP, NEXT],
    };
    pen.room("transport", a);
    pen.line(a.x, a.y, a.w, 0, Ink::LINE, "");
    let n = usize::from(narrow);
    let stacked = a.w + 2 <= STACKED[n];
    let (left, right) = (a.x + BESIDE[n], a.right() - BESIDE[n]);
    // On a narrow screen there is one button more, and together they are as wide as it.
    let all = count(buttons.len()) + i32::from(narrow);
    let (gap, high) = ([3, 6][n], [30, 44][n]);
    let w = match (narrow, stacked) {
        (true, true) => ((right - left + gap) / all - gap).min(72),
        (true, false) => 44,
        (false, _) => 30,
    };
    let mut x = match narrow && stacked {
        true => left + (right - left - all * (w + gap) + gap) / 2,
        false => left,
    };
    let cy = match (narrow, stacked) {
        (true, _) => a.y + 67,
        (false, true) => a.y + 28,
        (false, false) => a.middle(),
    };
    for icon in buttons.iter().chain(narrow.then_some(&FOLLOW)) {
        let is_play = *icon == PLAY;
        let (ground, border, ink) = match is_play {
            true => (Ink::INK, Ink::INK, Ink::PAPER),
            false => (Ink::CARD, Ink::LINE, Ink::INK),
        };
        let button = area(x, cy - high / 2, w - 1, high - 1);
        pen.rect(button, 8, ground, border, "");
        let (x0, y0) = (x + w / 2 - 7, cy - 7);
        match *icon == FOLLOW {
            true => pen.path(x0, y0, icon, Ink::NONE, ink, STRONG),
            false => pen.path(x0, y0, icon, ink, Ink::NONE, ""),
        }
        x += w + gap;
    }
    let at = match (narrow, stacked) {
        (true, true) => (a.y + 93 + a.bottom() - 8) / 2,
        (false, true) => (a.y + 54 + a.bottom() - 6) / 2,
        (_, false) => cy,
    };
    let clock = clock(pen, (left, right), at, narrow, controls);
    let line = match (narrow, stacked) {
        (true, _) => area(left, a.y + 24, right - left, 0),
        (false, true) => area(x + 11, cy, right - x - 11, 0),
        (false, false) => area(x + 11, cy, clock - x - 25, 0),
    };
    timeline(pen, line, view);
}

/// The position in the run, the size of a step and the speed. Returns where they begin.
fn clock(
    pen: &mut Pen,
    (left, right): (i32, i32),
    cy: i32,
    narrow: bool,
    controls: Controls,
) -> i32 {
    let (view, lang) = (pen.view, pen.options.lang);
    let of = mono(if narrow { 120 } else { 125 }, Ink::INK_2);
    let at = strings::position(lang, view.step, view.steps, view.endless, view.time);
    let speed = decimal(f64::from(view.speed) / 100.0);
    let speed = [speed.trim_end_matches('0').trim_end_matches('.'), "×"].concat();
    let size = strings::step_size(lang, view.walking.step_size);
    let chosen: &[&str] = match controls {
        Controls::Minimal => &[],
        Controls::Transport | Controls::Full | Controls::None => &[size, &speed],
    };
    let high = if narrow { 44 } else { 28 };
    let sizes = chosen.iter().map(|text| (measure(text, of) + 18).max(33));
    let wide = sizes.clone().map(|w| w + 6).sum::<i32>();
    let w = measure(&at, of).min(right - left - wide);
    let mut x = match narrow && right - left < STACKED[1] {
        true => left,
        false => right - wide - w,
    };
    let begin = x;
    pen.text(x, cy, w, At::Start, &at, of);
    x += w;
    for (text, w) in chosen.iter().zip(sizes) {
        x += 6;
        let frame = area(x, cy - high / 2, w - 1, high - 1);
        pen.rect(frame, 7, Ink::CARD, Ink::WIRE, "");
        pen.text(x + w / 2, cy, w, At::Middle, text, of.ink(Ink::INK));
        x += w;
    }
    begin
}

/// The timeline with its marks; `line` has its ends, and its middle as `y`.
fn timeline(pen: &mut Pen, line: Area, view: &View) {
    // The timeline of an endless run grows by whole pieces.
    let steps = match view.endless {
        true => (view.steps / PIECE + 1) * PIECE,
        false => view.steps.max(1),
    };
    let along = |step: usize| line.x + 7 + (line.w - 14) * count(step.min(steps)) / count(steps);
    let rail = |from: i32, to: i32| area(from, line.y - 1, to - from, 2);
    pen.rect(rail(line.x, line.right()), 1, Ink::LINE, Ink::NONE, "");
    let done = along(view.step);
    pen.rect(rail(line.x, done), 1, Ink::INK_2, Ink::NONE, "");
    for tick in view.ticks.iter().filter(|tick| tick.at <= view.steps) {
        let at = area(along(tick.at) - 1, line.y - 8, 3, 17);
        pen.rect(at, 1, Ink::of(tick.delta_type), Ink::NONE, "");
    }
    for marker in view.markers.iter().filter(|marker| marker.at <= view.steps) {
        let d = "M0-4l4 4-4 4-4-4z";
        pen.path(
            along(marker.at),
            line.y - 13,
            d,
            Ink::CARD,
            Ink::INK_2,
            STRONG,
        );
    }
    pen.rect(
        area(done - 5, line.y - 7, 10, 18),
        4,
        Ink::INK,
        Ink::NONE,
        "",
    );
}
