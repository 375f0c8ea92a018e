//! Parts of more than one room: frames, headings, marks, tokens, tags.

use super::colors::Ink;
use super::glyphs::glyph;
use super::pen::{Area, At, Pen, Type, area, count, measure, mono, sans, wrap};
use crate::anchor::Anchor;
use crate::rows::density::{Field, Fill, Layout};
use crate::rows::processor::WorkKey;
use crate::rows::reflector;
use crate::rows::store::Change;
use crate::rows::{DeltaRow, Mark, RvText, drops, versions};
use crate::stage::{Panel, PipeState};
use crate::strings;
use crate::view::cells::Hue;
use deltascope_cache::delta::DeltaType;
use deltascope_replay::gauge::Freshness;

/// The height of a heading, with the gap below it.
pub(super) const HEAD: i32 = 28;
/// The height of a heading of a part.
pub(super) const SUB: i32 = 22;
/// The height of an object, with its gap.
pub(super) const OBJECT: i32 = 34;
/// The height of a line of tags.
pub(super) const TAGS: i32 = 22;

/// A dashed line.
pub(super) const DASHED: &str = " stroke-dasharray=\"4 3\"";
/// A dashed line as thick as a token's border.
pub(super) const DASHED_TOKEN: &str = " stroke-dasharray=\"4 3\" stroke-width=\"1.5\"";
/// A line as thick as a token's border.
pub(super) const STRONG: &str = " stroke-width=\"1.5\"";

/// What is at the right of a heading.
pub(super) enum Side<'a> {
    /// A count.
    Count(&'a str),
    /// A word that is left out where it does not fit.
    Flag(&'a str),
    /// A version and its note, and what is said before it if client-go does not keep it: then it is dashed.
    Gauge(&'a RvText, &'a str, &'a str),
}

pub(super) fn hue_of(hue: Hue) -> Ink {
    match hue {
        Hue::Same => Ink::WIRE,
        Hue::Of(delta_type) => Ink::of(delta_type),
    }
}

/// The ground and the border of a part, depending on whether it has just changed.
fn lit(is_lit: bool) -> (Ink, Ink) {
    match is_lit {
        true => (Ink::GLOW, Ink::GLOW_LINE),
        false => (Ink::CARD, Ink::LINE),
    }
}

/// The version of an object, or both where the cache's is another than the server's.
pub(super) fn version(freshness: Freshness, cached: &RvText, server: &RvText) -> Option<String> {
    let one = |text: Option<&RvText>| text.map_or("–".to_owned(), |text| text.short.clone());
    let both = versions(freshness, cached, server)?;
    Some(both.map(one).join(" → "))
}

impl Pen<'_> {
    /// The title of a room and what is at its right. Returns the height.
    pub(super) fn head(&mut self, a: Area, title: &str, sides: &[Side]) -> i32 {
        const TITLE: Type = sans(120, Ink::INK_2).bold();
        let title = title.to_ascii_uppercase();
        let cy = a.y + 8;
        let letters = count(title.chars().count());
        let width = (measure(&title, TITLE) + letters * 6 / 10).min(a.w);
        self.raw(&["<g letter-spacing=\".6\">"]);
        self.text(a.x, cy, a.w, At::Start, &title, TITLE);
        self.raw(&["</g>"]);
        let plain = mono(115, Ink::INK_3);
        let mut right = a.right();
        for side in sides.iter().rev() {
            let left = right - a.x - width - 12;
            let runs: Vec<(&str, Type)> = match side {
                &Side::Count(text) | &Side::Flag(text) => vec![(text, plain)],
                &Side::Gauge(rv, rest, before) => {
                    let short = if rv.short.is_empty() {
                        "–"
                    } else {
                        &rv.short
                    };
                    let plain = plain.ink(Ink::INK_2);
                    let bold = plain.ink(Ink::INK).bold();
                    let mut runs = vec![
                        (before, plain),
                        ("rv ", plain),
                        (short, bold),
                        (rest, plain),
                    ];
                    let wide: i32 = runs.iter().map(|(text, of)| measure(text, *of)).sum();
                    if before.is_empty() || wide > left {
                        runs.remove(0);
                    }
                    runs
                }
            };
            let wide: i32 = runs.iter().map(|(text, of)| measure(text, *of)).sum();
            let is_cut = matches!(side, Side::Flag(_)) && wide > left;
            if left < 30 || wide == 0 || is_cut {
                continue;
            }
            let drawn = self.runs(right, cy, left, At::End, &runs);
            if matches!(side, Side::Gauge(_, _, before) if !before.is_empty()) {
                self.line(right - drawn, cy + 8, drawn, 0, Ink::WIRE, DASHED);
            }
            right -= drawn + 8;
        }
        HEAD
    }

    /// The title of a part of a room. Returns the height.
    pub(super) fn sub(&mut self, x: i32, y: i32, w: i32, text: &str) -> i32 {
        self.text(x, y + 7, w, At::Start, text, sans(115, Ink::INK_3));
        SUB
    }

    /// The text of an empty place. Returns the height.
    pub(super) fn empty(&mut self, a: Area, text: &str) -> i32 {
        self.para(a, 17, 4, text, sans(125, Ink::INK_3)) + 4
    }

    /// The mark of an object.
    pub(super) fn mark(&mut self, x: i32, cy: i32, side: i32, mark: Mark) {
        let at = area(x, cy - side / 2, side, side);
        let ink = Ink::of_mark(mark);
        match mark.look() {
            Some((_, 0)) => self.rect(at, 3, ink, Ink::NONE, ""),
            Some(_) => self.rect(at, side / 2 + 1, ink, Ink::NONE, ""),
            None => self.rect(at.inset(1, 1), 2, Ink::NONE, Ink::WIRE, STRONG),
        }
    }

    /// An empty slot.
    pub(super) fn slot(&mut self, a: Area, is_lit: bool) {
        if is_lit {
            self.rect(a, 8, Ink::GLOW, Ink::GLOW_LINE, STRONG);
            return;
        }
        self.rect(a, 8, Ink::NONE, Ink::WIRE, DASHED_TOKEN);
    }

    /// An empty slot that says so.
    pub(super) fn empty_slot(&mut self, a: Area, text: &str) {
        self.slot(a, false);
        let of = sans(120, Ink::INK_2);
        self.text(a.x + a.w / 2, a.middle(), a.w - 12, At::Middle, text, of);
    }

    /// A ground of thin slanted lines.
    pub(super) fn hatch(&mut self, a: Area, r: i32) {
        self.rect(a, r, Ink::NONE, Ink::NONE, " fill=\"url(#dsg-hatch)\"");
    }

    /// `+37`: how many items do not fit.
    pub(super) fn more(&mut self, a: Area, count: usize, is_lit: bool) {
        self.slot(a, is_lit);
        let ink = if is_lit { Ink::INK } else { Ink::INK_2 };
        let text = ["+", &count.to_string()].concat();
        let x = a.x + a.w / 2;
        self.text(x, a.middle(), a.w, At::Middle, &text, mono(120, ink));
    }

    /// An object with its version. Where they differ, the server's is the outline, the cache's the fill.
    pub(super) fn object(
        &mut self,
        a: Area,
        (mark, name, rv): (Mark, &str, &str),
        change: Change,
        freshness: Freshness,
    ) {
        let (mut ground, mut border) = lit(change == Change::In);
        let is_out = change == Change::Out;
        let mut more = "";
        if is_out {
            (ground, border, more) = (Ink::NONE, Ink::WIRE, DASHED);
        }
        let plain = change != Change::In;
        self.token(a);
        match freshness {
            Freshness::Unknown | Freshness::Same => {}
            Freshness::Stale => border = Ink::of(DeltaType::Updated),
            Freshness::Missing => (border, more) = (Ink::ADDED, DASHED),
            Freshness::Gone => border = Ink::NONE,
        }
        self.rect(a, 8, ground, border, more);
        if freshness == Freshness::Stale && plain {
            self.rect(a.inset(4, 4), 5, Ink::LINE_2, Ink::NONE, "");
        } else if freshness == Freshness::Gone && plain {
            self.hatch(a, 8);
        }
        self.mark(a.x + 9, a.middle(), 9, mark);
        let ink = if is_out { Ink::INK_3 } else { Ink::INK };
        let side = if change == Change::In {
            ink
        } else {
            Ink::INK_3
        };
        let x = a.x + 26;
        let side = mono(115, side).struck(is_out);
        let w = self.text(a.right() - 9, a.middle(), a.w - 50, At::End, rv, side);
        let name_type = mono(125, ink).struck(is_out);
        self.name(x, a.middle(), a.right() - 15 - w - x, name, name_type);
    }

    /// What was dropped in a room, in lines of `w`; drawn from `y` on, or only measured. Returns the height.
    pub(super) fn dropped(&mut self, room: Panel, a: Area, y: Option<i32>) -> i32 {
        let mut used = 0;
        for place in drops::places(self.view, room) {
            used += self.dropped_at(&place, a, y.map(|y| y + used));
        }
        used
    }

    /// Lays over a poster's room what was dropped in it, where it was dropped: nothing moves for it.
    pub(super) fn lay_dropped(&mut self, room: Panel, a: Area) {
        for place in drops::places(self.view, room) {
            let known = self.droppable.iter().find(|(at, _)| *at == place);
            let within = known.map_or(a, |(_, within)| *within);
            let high = self.dropped_at(&place, within, None);
            let y = match room {
                Panel::Queue => a.y + HEAD - 4,
                _ => within.bottom() - high,
            };
            self.room("over", a);
            self.dropped_at(&place, within, Some(y.max(a.y)));
        }
    }

    /// The same as [`Self::dropped`], of one place.
    fn dropped_at(&mut self, place: &Anchor, a: Area, y: Option<i32>) -> i32 {
        let mut used = 0;
        let (rows, hidden) = drops::rows(self.view, place, self.options.lang);
        let more = (hidden > 0).then(|| ["  +", &hidden.to_string()].concat());
        // Over the lamps of a handler there is one line.
        let most = match place {
            Anchor::Handler(..) if self.framed => 1,
            _ => 3,
        };
        for (at, row) in rows.iter().enumerate() {
            let ink = row.hue.map_or(Ink::INK_2, Ink::of);
            let sign = if row.missed { "? " } else { "× " };
            let more = more.as_deref().filter(|_| at + 1 == rows.len());
            let small = sans(110, Ink::INK_2);
            let runs = [
                (sign, mono(115, ink).bold()),
                (&*row.what, mono(115, ink).struck(!row.missed)),
                ("  ", small),
                (&*row.why, small),
                (more.unwrap_or_default(), small),
            ];
            let lines = wrap(&runs, a.w - 16);
            let high = count(lines.len().min(most)) * 16 + 6;
            if let Some(y) = y {
                let wide: i32 = runs.iter().map(|(text, of)| measure(text, *of)).sum();
                let at = area(a.x, y + used + 4, a.w.min(wide + 16), high);
                let border = if row.missed { DASHED_TOKEN } else { STRONG };
                self.rect(at, 8, Ink::CARD, ink, border);
                let to = at.inset(8, 3);
                self.lines(
                    area(to.x, to.y, a.w - 16, to.h),
                    16,
                    At::Start,
                    &lines,
                    most,
                );
            }
            used += high + 4;
        }
        used
    }

    /// The connection from the API server's room to the reflector's: a wire that is `gap` long, and its state.
    pub(super) fn pipe(&mut self, x: i32, y: i32, gap: i32) {
        let pipe = reflector::pipe(self.view);
        let (ink, more) = match pipe.state {
            PipeState::Open => (Ink::ADDED, " stroke-width=\"4\""),
            PipeState::Asked => (Ink::WIRE, " stroke-width=\"4\" stroke-dasharray=\"4 3\""),
            PipeState::None | PipeState::Ended | PipeState::Waiting => {
                (Ink::WIRE, " stroke-width=\"2\" stroke-dasharray=\"3 3\"")
            }
        };
        self.line(x, y, gap, 0, ink, more);
        if !matches!(pipe.state, PipeState::Ended | PipeState::Waiting) {
            return;
        }
        let ink = if pipe.code > 0 {
            Ink::DELETED
        } else {
            Ink::INK
        };
        let x = x + gap / 2;
        let at = area(x - 13, y - 13, 26, 26);
        self.rect(
            at,
            13,
            Ink::CARD,
            if pipe.code > 0 { ink } else { Ink::LINE },
            " stroke-width=\"2.5\"",
        );
        if pipe.left > 0 {
            let share = [
                " pathLength=\"100\" stroke-width=\"2.5\" stroke-dasharray=\"",
                &pipe.left.to_string(),
                " 100\"",
            ]
            .concat();
            self.path(
                x,
                y,
                "M0-13a13 13 0 1 1 0 26a13 13 0 1 1 0-26",
                Ink::NONE,
                Ink::GLOW_LINE,
                &share,
            );
        }
        if pipe.code > 0 {
            // It is over the edges of two rooms, in neither.
            let spots = self.mark_spots();
            let code = pipe.code.to_string();
            self.text(x, y, 24, At::Middle, &code, mono(110, ink).bold());
            self.drop_spots(spots);
        } else {
            self.path(
                x,
                y,
                "M-4-4 4 4M4-4-4 4",
                Ink::NONE,
                ink,
                " stroke-width=\"2.5\"",
            );
        }
    }

    /// Records the place of a token for the tests.
    #[cfg_attr(not(test), allow(unused_variables, clippy::unused_self))]
    fn token(&mut self, a: Area) {
        #[cfg(test)]
        if !self.is_below(a.bottom()) {
            self.spots.push(super::pen::Spot {
                what: "token",
                text: String::new(),
                area: a,
            });
        }
    }

    /// The glyph of a type, from `x` on, centred at the height `cy`.
    pub(super) fn glyph(&mut self, x: i32, cy: i32, delta_type: DeltaType, ink: Ink) {
        let more = " stroke-width=\"2\"";
        self.path(x, cy - 7, glyph(delta_type), Ink::NONE, ink, more);
    }

    /// The same at 80 %.
    pub(super) fn small_glyph(&mut self, x: i32, cy: i32, delta_type: DeltaType, ink: Ink) {
        let (x, y) = (x.to_string(), (cy - 6).to_string());
        self.raw(&["<g transform=\"translate(", &x, " ", &y, ") scale(.8)\">"]);
        let more = " stroke-width=\"2\"";
        self.path(0, 0, glyph(delta_type), Ink::NONE, ink, more);
        self.raw(&["</g>"]);
    }

    /// The ground and the border of a delta.
    pub(super) fn delta_box(&mut self, a: Area, ink: Ink, is_lit: bool, more: &str) {
        self.token(a);
        if is_lit {
            let ring = a.inset(-4, -4);
            self.rect(ring, 11, Ink::GLOW, Ink::GLOW_LINE, STRONG);
        }
        self.rect(a, 8, Ink::CARD, Ink::NONE, "");
        self.rect(a, 8, ink, Ink::NONE, " fill-opacity=\".09\"");
        self.rect(a, 8, Ink::NONE, ink, more);
    }

    /// A delta of a line: its glyph and its version.
    pub(super) fn small_delta(&mut self, a: Area, row: &DeltaRow) {
        let ink = match row.plain {
            true => Ink::WIRE,
            false => Ink::of(row.delta_type),
        };
        self.raw(&["<g>"]);
        self.title(&row.title(self.words.tombstone));
        self.delta_box(
            a,
            ink,
            row.lit,
            if row.tombstone { DASHED_TOKEN } else { STRONG },
        );
        if !row.plain {
            self.small_glyph(a.x + 4, a.middle(), row.delta_type, ink);
        }
        let question = if row.tombstone { "?" } else { "" };
        let rv = [question, &row.rv.short].concat();
        let of = mono(110, Ink::INK_2);
        self.text(a.right() - 4, a.middle(), a.w - 20, At::End, &rv, of);
        self.raw(&["</g>"]);
    }

    /// A delta.
    pub(super) fn delta(&mut self, a: Area, row: &DeltaRow, size: u8) {
        let ink = match (row.done, row.plain) {
            (true, _) => Ink::INK_3,
            (false, true) => Ink::WIRE,
            (false, false) => Ink::of(row.delta_type),
        };
        let more = match (row.done, row.tombstone) {
            (true, _) => " stroke-dasharray=\"1.5 2.5\" stroke-width=\"1.5\"",
            (false, true) => DASHED_TOKEN,
            _ => STRONG,
        };
        self.raw(&["<g>"]);
        self.title(&row.title(self.words.tombstone));
        self.delta_box(a, ink, row.lit, more);
        // A narrow delta has less space between its parts.
        let narrow = a.w < 100;
        let (edge, glyph, side) = if narrow { (4, 14, 4) } else { (5, 18, 7) };
        let (mut x, cy) = (a.x + edge, a.middle());
        if row.plain {
            x += 3;
        } else {
            if narrow {
                self.small_glyph(x, cy, row.delta_type, ink);
            } else {
                self.glyph(x, cy, row.delta_type, ink);
            }
            x += glyph;
        }
        let rv = mono((size - 5).max(110), Ink::INK_2);
        let w = self.text(a.right() - side, cy, a.w / 2, At::End, &row.rv.short, rv);
        let left = a.right() - side - w - x - if w > 0 { 4 - i32::from(narrow) } else { 0 };
        let of = mono(size, ink);
        match &row.about {
            Some((mark, name)) => {
                self.mark(x, cy, 8, *mark);
                let of = of.ink(if row.done { Ink::INK_3 } else { Ink::INK });
                let question = if row.tombstone { "?" } else { "" };
                self.name(x + 12, cy, left - 12, &[name, question].concat(), of);
            }
            None => {
                let mut name = row.delta_type.as_str().to_owned();
                if row.tombstone {
                    name.push('?');
                }
                self.text(x, cy, left, At::Start, &name, of);
            }
        }
        self.raw(&["</g>"]);
    }

    /// Tags in at most `most` lines; `hidden` more are only counted. Returns the height.
    pub(super) fn tags(&mut self, to: Area, tags: &[Tag], hidden: usize, most: i32) -> i32 {
        const MORE: i32 = 34;
        let (mut x, mut row) = (to.x, 0);
        for (place, tag) in tags.iter().enumerate() {
            let name = mono(120, Ink::INK);
            let note = mono(110, Ink::INK_3);
            let noted = if tag.note.is_empty() {
                0
            } else {
                measure(tag.note, note) + 4
            };
            let wide = (measure(tag.name, name) + 21 + noted).min(to.w);
            let left = tags.len() - place - 1 + hidden;
            let mut reserved = if row + 1 == most && left > 0 { MORE } else { 0 };
            if x > to.x && x + wide + reserved > to.right() && row + 1 < most {
                (x, row) = (to.x, row + 1);
                reserved = if row + 1 == most && left > 0 { MORE } else { 0 };
            }
            let y = to.y + row * TAGS;
            if x + wide.min(60) + reserved > to.right() && x > to.x {
                let text = ["+", &(left + 1).to_string()].concat();
                self.text(x + 2, y + 9, MORE, At::Start, &text, mono(115, Ink::INK_2));
                return (row + 1) * TAGS;
            }
            let wide = wide.min(to.right() - x - reserved);
            let a = area(x, y, wide, 18);
            self.token(a);
            let is_out = tag.change == Change::Out;
            let (mut ground, mut border) = lit(tag.change == Change::In);
            if is_out {
                (ground, border) = (Ink::NONE, Ink::WIRE);
            }
            self.rect(a, 5, ground, border, if is_out { DASHED } else { "" });
            self.mark(x + 5, a.middle(), 8, tag.mark);
            let name = match is_out {
                true => name.ink(Ink::INK_3).struck(true),
                false => name,
            };
            self.name(x + 16, a.middle(), wide - 20 - noted, tag.name, name);
            if noted > 0 && noted + 24 < wide {
                self.text(a.right() - 4, a.middle(), noted, At::End, tag.note, note);
            }
            x += wide + 4;
        }
        if hidden > 0 {
            let text = ["+", &hidden.to_string()].concat();
            let y = to.y + row * TAGS + 9;
            self.text(x + 2, y, MORE, At::Start, &text, mono(115, Ink::INK_2));
        }
        (row + 1) * TAGS
    }

    /// A label and one line of tags. Returns the height.
    pub(super) fn tagged(&mut self, a: Area, label: &str, keys: &[WorkKey], hidden: usize) -> i32 {
        let w = 92.min(a.w * 2 / 5);
        self.text(a.x, a.y + 9, w - 6, At::Start, label, mono(115, Ink::INK_2));
        let tags: Vec<Tag> = keys.iter().map(Tag::of).collect();
        self.tags(area(a.x + w, a.y, a.w - w, a.h), &tags, hidden, 1)
    }

    /// Many objects as cells, below the legend of their colours. Returns the height.
    pub(super) fn field(&mut self, a: Area, field: Field, label: &str) -> i32 {
        let (view, lang) = (self.view, self.options.lang);
        let px = |number: i32| number.max(0) as u32;
        let mut layout = Layout::fit(px(a.w), px(a.h - 40), 1, field.room(view));
        layout.rows = layout
            .rows
            .min(field.room(view).div_ceil(layout.columns.max(1)));
        let looks = field.looks(view, layout.cells());
        let queued = field == Field::Queue;
        let heading = strings::field(lang, label, &Field::counts(&looks), queued);
        let y = a.y + self.para(a, 15, 2, &heading, sans(115, Ink::INK_3)) + 6;
        let side = (layout.pitch - layout.gap) as i32;
        let mut seen: Vec<crate::rows::density::Look> = Vec::new();
        for look in &looks {
            if look.fill == Fill::Nothing || seen.contains(look) {
                continue;
            }
            seen.push(*look);
            // Cells that look alike share one path.
            let mut d = String::new();
            let alike = looks.iter().enumerate().filter(|(_, other)| *other == look);
            for (cell, _) in alike {
                let (x, y) = layout.at(cell);
                for part in ["M", &x.to_string(), " ", &y.to_string(), "h"] {
                    d.push_str(part);
                }
                let side = side.to_string();
                match look.fill {
                    Fill::Struck if layout.pitch > 6 => {
                        for part in [&*side, "v", &side, "h-", &side, "zl", &side, " ", &side] {
                            d.push_str(part);
                        }
                    }
                    _ => {
                        for part in [&*side, "v", &side, "h-", &side, "z"] {
                            d.push_str(part);
                        }
                    }
                }
            }
            let ink = hue_of(look.hue);
            match look.fill {
                Fill::Full => self.path(a.x, y, &d, ink, Ink::NONE, ""),
                Fill::Dashed => self.path(a.x, y, &d, Ink::NONE, ink, " stroke-dasharray=\"2 1\""),
                _ => self.path(a.x, y, &d, Ink::NONE, ink, ""),
            }
        }
        let lit = field.lit(view);
        if let Some(cell) = lit.and_then(|lit| field.cell(view, layout.cells(), &lit)) {
            let (x, row) = layout.at(cell);
            let [x, row] = [x, row].map(|at| at as i32);
            let around = area(a.x + x, y + row, side, side).inset(-2, -2);
            self.rect(around, 2, Ink::NONE, Ink::GLOW_LINE, " stroke-width=\"2\"");
        }
        let rows = count(layout.rows);
        y + rows * layout.pitch as i32 - a.y
    }
}

/// A key as a tag.
#[derive(Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) mark: Mark,
    pub(super) name: &'a str,
    pub(super) note: &'a str,
    pub(super) change: Change,
}

impl<'a> Tag<'a> {
    pub(super) fn of(key: &'a WorkKey) -> Self {
        Self {
            mark: key.mark,
            name: &key.name,
            note: &key.note,
            change: if key.lit { Change::In } else { Change::None },
        }
    }
}
