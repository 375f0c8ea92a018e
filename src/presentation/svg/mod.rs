//! The stage as a self-contained SVG picture, drawn from the same rows as the page's rooms.
//!
//! A pure function without a DOM: for posters in books, exports of an element, and pictures on the command line.

mod colors;
pub mod glyphs;
mod parts;
mod pen;
mod poster;
mod queue;
mod race;
mod server;
mod store;
mod tale;
#[cfg(test)]
mod tests;
mod work;

use crate::command::SvgOptions;
use colors::Ink;
use parts::DASHED;
use pen::{Area, Pen, area, count};

use crate::caption::plain;
use crate::rows::acting;
use crate::rows::{self, current, reflector, store as items};
use crate::stage::Panel;
use crate::strings;
use crate::view::View;
use crate::view::story::Lit;

pub use pen::escape;
pub use poster::{PIECE, poster};

/// The padding around the rooms, and the gap between them.
const PAD: i32 = 16;
const GAP: i32 = 14;
/// The padding within a room.
const INSET: (i32, i32) = (14, 12);
/// The bounds of a row's height.
const HIGH: i32 = 460;
const LOW: i32 = 150;
/// The greatest heights of the two rows that hold all rooms.
const UPPER: i32 = 410;
const LOWER: i32 = 300;
/// From this width on, all rooms are laid out as on the page, in a picture that is at least `GRID_WIDTH` wide.
const GRID: i32 = 1100;
const GRID_WIDTH: i32 = 1360;

/// The same lengths where only some rooms are shown, as for an element in style/chosen.css.
const FEW_PAD: i32 = 12;
const FEW_GAP: i32 = 10;
const FEW_INSET: (i32, i32) = (10, 10);
/// The same in a poster, with the border.
const FRAMED_INSET: (i32, i32) = (11, 11);
/// The height of the lower row, in a poster.
const BELOW: i32 = 184;
/// From this width on the Indexer gets more of the width that is left.
const FEW_WIDE: i32 = 960;

/// The weight with which a room of a row shares the width that is left.
fn share(room: Panel, row: &[Panel], few: Option<i32>) -> i32 {
    let has = |room| row.contains(&room);
    match (room, few) {
        (Panel::Api, None) => 12,
        (Panel::Reflector, None) => 2,
        (Panel::Queue, None) => 20,
        (Panel::Indexer, None) => 18,
        (Panel::Now | Panel::Processor, None) => 10,
        (Panel::Queue, Some(_)) => 30,
        (Panel::Api | Panel::Indexer, Some(width))
            if !has(Panel::Reflector) && !has(Panel::Pop) =>
        {
            match (room, width >= FEW_WIDE, has(Panel::Api)) {
                (Panel::Api, false, _) => 1,
                (Panel::Api, true, _) => 4,
                (_, false, true) => 2,
                _ => 10,
            }
        }
        (Panel::Indexer, Some(_)) => 2,
        _ => 1,
    }
}

impl Pen<'_> {
    /// How a room is shown: that of a story's scene.
    fn lit(&self, room: Panel) -> Lit {
        let story = self.view.story.as_ref().filter(|_| self.dims);
        story.map_or(Lit::Lit, |story| story.lit(room))
    }

    /// Whether only some rooms are shown.
    fn is_few(&self) -> bool {
        self.framed || !self.options.panels.is_empty()
    }

    /// The padding within a room.
    fn within(&self) -> (i32, i32) {
        match (self.framed, self.is_few()) {
            (true, _) => FRAMED_INSET,
            (false, true) => FEW_INSET,
            (false, false) => INSET,
        }
    }
}

/// The stage at the view's cursor, as SVG.
#[must_use]
pub fn stage(view: &View, options: &SvgOptions) -> String {
    let mut pen = Pen::new(view, options);
    let (w, h) = draw(&mut pen);
    let scaled = options.panels.is_empty() && (options.width == 0 || options.width >= 1_100);
    let shown = match (scaled, options.width) {
        (true, 0) => 1_200,
        (_, 0) => 750,
        (_, width) => width.min(4_000) as i32,
    };
    let high = i64::from(h) * i64::from(shown) / i64::from(w.max(1));
    finish(&pen, (w, h), (shown, high as i32))
}

/// Draws everything. Returns the width and the height.
fn draw(pen: &mut Pen) -> (i32, i32) {
    let options = pen.options;
    let wanted = match (options.width, options.panels.is_empty()) {
        (0, true) => 1_200,
        (0, false) => 750,
        (width, _) => width.min(4_000) as i32,
    };
    let all = options.panels.is_empty();
    let pad = match (wanted < 560, all) {
        (true, _) => 10,
        (false, true) => PAD,
        (false, false) => FEW_PAD,
    };
    let grid = all && wanted >= GRID;
    let w = if grid {
        wanted.max(GRID_WIDTH)
    } else {
        wanted.max(320)
    };
    let a = area(pad, pad, w - 2 * pad, 0);
    let y = match grid {
        _ if pen.view.race().is_some() => race::lanes(pen, a),
        true => on_grid(pen, a),
        false => {
            let chosen: Vec<Panel> = Panel::ALL
                .into_iter()
                .filter(|room| all || options.panels.contains(room))
                .collect();
            in_rows(pen, a, &chosen, wanted < 560)
        }
    };
    let mut h = y + pad;
    if options.strip {
        // Drawn before its ground, whose height depends on it.
        let to = area(pad + 4, h + 12, w - 2 * pad - 8, 0);
        let at = pen.out.len();
        pen.room("strip", area(0, h, w, 4_000));
        let high = work::strip(pen, to);
        let words = pen.out.split_off(at);
        let ground = area(0, h, w, high + 20);
        pen.rect(area(0, h, w, 12), 0, Ink::CARD, Ink::NONE, "");
        pen.rect(ground, 12, Ink::CARD, Ink::NONE, "");
        pen.line(0, h, w, 0, Ink::LINE, "");
        pen.out.push_str(&words);
        h = ground.bottom();
    }
    (w, h)
}

/// The layout of the page at 1440 by 900.
fn on_grid(pen: &mut Pen, a: Area) -> i32 {
    let left = a.w - 4 * GAP - 164 - 148;
    let api = (left * 22 / 100).min(300);
    let indexer = (left * 39 / 100).max(330);
    let widths = [api, 164, left - api - indexer, 148, indexer];
    let mut x = a.x;
    let columns = widths.map(|w| {
        let at = area(x, a.y, w, 0);
        x += w + GAP;
        at
    });
    let upper = [Panel::Reflector, Panel::Queue, Panel::Pop, Panel::Indexer];
    let upper: Vec<(Panel, Area)> = upper.into_iter().zip(columns.into_iter().skip(1)).collect();
    let wide = |first: usize, last: usize| {
        let (first, last) = (columns[first], columns[last]);
        area(first.x, 0, last.right() - first.x, 0)
    };
    let mut lower = vec![(Panel::Now, wide(1, 2)), (Panel::Processor, wide(3, 4))];
    let high = tallest(pen, &upper, UPPER);
    let low = tallest(pen, &lower, LOWER);
    for (_, at) in &mut lower {
        at.y = a.y + high + GAP;
    }
    let all = high + GAP + low;
    place(pen, &[(Panel::Api, columns[0])], all, all);
    place(pen, &upper, high, UPPER);
    place(pen, &lower, low, LOWER);
    // The wires.
    let wires = if rows::is_unused(pen.view, Panel::Queue) {
        0
    } else {
        4
    };
    let ends = columns.iter().zip(columns.iter().skip(1)).zip(&upper);
    for ((from, to), (room, _)) in ends.take(wires) {
        if pen.lit(*room) == Lit::Folded {
            continue;
        }
        let y = if from.x == columns[2].x {
            a.y + high - 80
        } else {
            a.y + 96
        };
        if from.x == columns[0].x {
            pen.pipe(from.right(), y, to.x - from.right());
            continue;
        }
        pen.line(
            from.right(),
            y,
            to.x - from.right(),
            0,
            Ink::WIRE,
            " stroke-width=\"2\"",
        );
    }
    a.y + high + GAP + low
}

/// As many rooms side by side as fit, in the order of the data's path; of their own height, unless `a` has one.
fn in_rows(pen: &mut Pen, a: Area, rooms: &[Panel], stacked: bool) -> i32 {
    let few = pen.is_few();
    let gap = if few { FEW_GAP } else { GAP };
    let mut rows: Vec<Vec<Panel>> = Vec::new();
    let mut left = 0;
    for room in rooms {
        let needs = room.least_drawn(few);
        // Now and the processor are wide and go below the others.
        let fits = needs + gap <= left && !stacked;
        match rows.last_mut() {
            Some(row)
                if fits && (!few || row.iter().all(|one| one.is_below() == room.is_below())) =>
            {
                row.push(*room);
            }
            _ => {
                rows.push(vec![*room]);
                left = a.w + gap;
            }
        }
        left -= needs + gap;
    }
    let mut y = a.y;
    let all = rows.len();
    for row in rows {
        let share = |room: Panel| share(room, &row, few.then_some(a.w));
        let needed: i32 = row.iter().map(|room| room.least_drawn(few)).sum();
        let shares: i32 = row.iter().map(|room| share(*room)).sum();
        let between = gap * (count(row.len()) - 1);
        let spare = a.w - needed - between;
        let mut x = a.x;
        let mut placed: Vec<(Panel, Area)> = Vec::new();
        for room in &row {
            let w = room.least_drawn(few) + spare * share(*room) / shares.max(1);
            placed.push((*room, area(x, y, w, 0)));
            x += w + gap;
        }
        // The last room takes the px that rounding left over.
        if let Some((_, last)) = placed.last_mut() {
            last.w = a.right() - last.x;
        }
        let (high, most) = match (pen.framed, row.iter().any(|room| room.is_below())) {
            (false, _) => (tallest(pen, &placed, HIGH), HIGH),
            (true, _) if all == 1 => (a.h, a.h),
            (true, true) => (BELOW, BELOW),
            (true, false) => (a.h - BELOW - 2 * gap, a.h - BELOW - 2 * gap),
        };
        place(pen, &placed, high, most);
        if pen.framed {
            // An element has no wires between its rooms, and a gap around what breaks its rows.
            y += high + 2 * gap;
            continue;
        }
        for (from, to) in placed.iter().zip(placed.iter().skip(1)) {
            let is_wired = !rows::is_unused(pen.view, Panel::Queue) && pen.lit(to.0) != Lit::Folded;
            if to.0 <= Panel::Indexer && is_wired {
                let (x, gap) = (from.1.right(), to.1.x - from.1.right());
                if (from.0, to.0) == (Panel::Api, Panel::Reflector) {
                    pen.pipe(x, y + 84, gap);
                } else {
                    pen.line(x, y + 84, gap, 0, Ink::WIRE, " stroke-width=\"2\"");
                }
            }
        }
        y += high + gap;
    }
    y - gap
}

/// The height that the tallest of these rooms needs, at most `most`.
fn tallest(pen: &mut Pen, rooms: &[(Panel, Area)], most: i32) -> i32 {
    let mut high = LOW;
    let (beside, above) = pen.within();
    for (room, at) in rooms {
        pen.floor = 0;
        let to = area(0, 0, at.w, most).inset(beside, above);
        let needs = pen.measured(|pen| inside(pen, *room, to));
        high = high.max(needs + 2 * above);
    }
    high.min(most)
}

/// Draws rooms of one height. Their contents are chosen for the height `most`, as when [`tallest`] measured them.
fn place(pen: &mut Pen, rooms: &[(Panel, Area)], high: i32, most: i32) {
    let (beside, above) = pen.within();
    for (room, at) in rooms {
        let at = area(at.x, at.y, at.w, high);
        pen.room(room.id(), at);
        let lit = pen.lit(*room);
        // What no scene has been about yet has its place and its name.
        let folded = lit == Lit::Folded;
        if folded && *room == Panel::Now {
            continue;
        }
        if folded || lit == Lit::Dimmed {
            pen.raw(&["<g opacity=\".65\">"]);
        }
        if pen.framed {
            pen.begin_part(room.id());
        }
        let is_live = lit == Lit::Lit
            && current(pen.view).is_some_and(|record| acting::room(record) == *room);
        let absent = rows::is_unused(pen.view, *room)
            || *room == Panel::Reflector && !reflector::rows(pen.view).present
            || *room == Panel::Indexer && !items::rows(pen.view).present;
        let (ground, border) = match (absent, is_live) {
            _ if folded => (Ink::NONE, Ink::LINE),
            (_, true) => (Ink::CARD, Ink::GLOW_LINE),
            (true, _) => (Ink::NONE, Ink::WIRE),
            _ => (Ink::CARD, Ink::LINE),
        };
        if is_live {
            pen.rect(
                at.inset(-2, -2),
                13,
                Ink::NONE,
                Ink::GLOW,
                " stroke-width=\"4\"",
            );
        }
        // In a poster the border is within the box, as on the page.
        let inner = i32::from(pen.framed);
        let edge = area(at.x, at.y, at.w - inner, at.h - inner);
        let dashes = if absent || folded { DASHED } else { "" };
        pen.rect(edge, 12, ground, border, dashes);
        let within = at.inset(beside, above);
        pen.floor = within.bottom();
        let within = area(within.x, within.y, within.w, most - 2 * above);
        if folded {
            pen.head(within, &title(pen, *room), &[]);
        } else {
            inside(pen, *room, within);
        }
        if pen.framed {
            pen.raw(&["</g>"]);
            pen.floor = 0;
        }
        if folded || lit == Lit::Dimmed {
            pen.raw(&["</g>"]);
        }
    }
}

/// The title of a room.
fn title(pen: &Pen, room: Panel) -> String {
    let (lang, picture) = (pen.options.lang, &pen.view.picture);
    match room {
        Panel::Api => strings::source(lang, picture.api.source).to_owned(),
        // A story speaks of a queue, before it says of which kind.
        Panel::Queue if pen.telling => {
            let kind = picture.queue.kind.id();
            [strings::room(lang, room), " · ", kind].concat()
        }
        Panel::Queue => picture.queue.kind.id().to_owned(),
        _ => strings::room(lang, room).to_owned(),
    }
}

/// The content of a room, and below it, or over it in a poster, what was dropped there. Returns the height.
fn inside(pen: &mut Pen, room: Panel, a: Area) -> i32 {
    if pen.framed {
        pen.droppable.clear();
        let needed = content(pen, room, a);
        pen.lay_dropped(room, a);
        return needed;
    }
    let floor = pen.floor;
    let high = pen.dropped(room, a, None);
    if floor > 0 {
        pen.floor -= high;
    }
    let needed = content(pen, room, area(a.x, a.y, a.w, a.h - high));
    if floor > 0 {
        pen.dropped(room, a, Some(floor - high));
    }
    needed + high
}

fn content(pen: &mut Pen, room: Panel, a: Area) -> i32 {
    let unused = rows::is_unused(pen.view, room);
    match room {
        Panel::Api => server::api(pen, a),
        Panel::Reflector => server::reflector(pen, a, unused),
        Panel::Queue => queue::queue(pen, a, unused),
        Panel::Pop => queue::pop(pen, a, unused),
        Panel::Indexer => store::indexer(pen, a),
        Panel::Now => work::now(pen, a),
        Panel::Processor => work::processor(pen, a),
    }
}

/// The `<svg>` element around what was drawn.
fn finish(pen: &Pen, (w, h): (i32, i32), shown: (i32, i32)) -> String {
    let options = pen.options;
    let mut head = Pen::new(pen.view, options);
    let [wide, high] = [w, h].map(|side| side.to_string());
    head.raw(&[
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dsg\" role=\"img\" xml:space=\"preserve\" viewBox=\"0 0 ",
        &wide,
        " ",
        &high,
        "\" width=\"",
        &shown.0.to_string(),
        "\" height=\"",
        &shown.1.to_string(),
        "\" fill=\"none\">",
    ]);
    head.title(pen.view.lesson.title.get(options.lang));
    let said = rows::said(pen.view, pen.options.lang);
    let mut description = plain(&said.what);
    if !said.why.is_empty() {
        description.push(' ');
        description.push_str(&plain(&said.why));
    }
    head.raw(&["<desc>"]);
    head.escape(&description);
    head.raw(&["</desc>"]);
    let mut ground = Pen::new(pen.view, options);
    for (id, d, ink, side) in [
        ("dsg-hatch", "M0 7L7 0", Ink::LINE_2, "7"),
        ("dsg-waits", "M0 5L5 0", Ink::WIRE, "5"),
    ] {
        ground.raw(&[
            "<pattern id=\"",
            id,
            "\" width=\"",
            side,
            "\" height=\"",
            side,
            "\" patternUnits=\"userSpaceOnUse\">",
        ]);
        ground.path(0, 0, d, Ink::NONE, ink, " stroke-width=\"1.5\"");
        ground.raw(&["</pattern>"]);
    }
    if pen.framed {
        let more = " transform=\"translate(.5 .5)\"";
        ground.rect(area(0, 0, w - 1, h - 1), 12, Ink::PAPER, Ink::LINE, more);
    } else {
        ground.rect(area(0, 0, w, h), 12, Ink::PAPER, Ink::NONE, "");
    }
    let mut out = head.out;
    pen.style_with(&ground, &mut out);
    if options.theme.is_none() {
        out.push_str("<g id=\"light\"/><g id=\"dark\"/>");
    }
    out.push_str(&ground.out);
    out.push_str("<g transform=\"translate(.5 .5)\">");
    out.push_str(&pen.out);
    out.push_str("</g></svg>\n");
    out
}
