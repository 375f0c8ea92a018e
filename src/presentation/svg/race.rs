//! The four generations, a lane each.

use super::colors::Ink;
use super::parts::{DASHED, DASHED_TOKEN, STRONG};
use super::pen::{Area, At, Pen, Type, area, count, measure, mono, sans};
use crate::rows::compare::{Chip, ChipKind};
use crate::rows::race::{CellRow, LaneRow, lanes as rows};

/// The gap between lanes.
const GAP: i32 = 6;
/// Below this width the cells of a lane are below each other.
const STACKED: i32 = 560;
/// The padding of a cell.
const INSET: i32 = 10;
/// The height of a chip, and the gap between chips.
const CHIP: (i32, i32) = (24, 6);

const NAME: Type = mono(115, Ink::INK);
const NOTE: Type = mono(110, Ink::INK_2);

/// Draws the lanes from the top of `a` on, or those that fit where it has a height. Returns where they end.
pub(super) fn lanes(pen: &mut Pen, a: Area) -> i32 {
    let mut y = a.y;
    for row in rows(pen.view, pen.options.lang) {
        let (length, spots) = (pen.out.len(), pen.mark_spots());
        let high = lane(pen, area(a.x, y, a.w, 0), &row);
        if a.h > 0 && y + high > a.bottom() {
            pen.out.truncate(length);
            pen.drop_spots(spots);
            break;
        }
        y += high + GAP;
    }
    y - GAP
}

/// Draws one lane. Returns its height.
fn lane(pen: &mut Pen, a: Area, row: &LaneRow) -> i32 {
    let (length, spots) = (pen.out.len(), pen.mark_spots());
    let (high, lit) = inside(pen, a, row);
    pen.out.truncate(length);
    pen.drop_spots(spots);
    let ground = area(a.x, a.y, a.w, high);
    pen.room("lane", ground);
    let border = if row.own { Ink::INK_2 } else { Ink::LINE };
    pen.rect(ground, 10, Ink::CARD, border, "");
    for one in lit {
        // Beside others it is as high as the lane.
        let h = if one.w < a.w { high } else { one.h };
        let one = area(one.x, one.y, one.w, h).inset(3, 3);
        pen.rect(one, 7, Ink::GLOW, Ink::GLOW_LINE, "");
    }
    inside(pen, a, row);
    high
}

/// Draws what is in a lane. Returns its height, and the cells that differ.
fn inside(pen: &mut Pen, a: Area, row: &LaneRow) -> (i32, Vec<Area>) {
    let stacked = a.w < STACKED;
    let (era, kind) = (mono(150, Ink::INK).bold(), sans(115, Ink::INK_2));
    let (mut x, mut y, mut high) = (a.x + INSET, a.y, 56);
    let after = pen.text(x, y + 18, 70, At::Start, row.era, era) + 8;
    let wide = if stacked {
        pen.text(x + after, y + 18, 100, At::Start, row.kind, kind);
        (x, y, high) = (a.x, y + 30, 30);
        a.w
    } else {
        pen.text(x, y + 40, 74, At::Start, row.kind, kind);
        x = a.x + 88;
        (a.w - 88) / count(row.cells.len()).max(1)
    };
    let mut lit = Vec::new();
    for one in &row.cells {
        let needs = cell(pen, area(x, y, wide, 0).inset(INSET, 0), one);
        if one.differs {
            lit.push(area(x, y, wide, needs));
        }
        if stacked {
            y += needs;
            high += needs;
        } else {
            x += wide;
            high = high.max(needs);
        }
    }
    (high, lit)
}

/// Draws a queue, a store or a handler. Returns its height.
fn cell(pen: &mut Pen, a: Area, row: &CellRow) -> i32 {
    let sign = if row.differs { " ≠" } else { "" };
    let label = sans(115, if row.differs { Ink::INK } else { Ink::INK_3 });
    let runs = [(&*row.label, label), (sign, label.bold())];
    pen.runs(a.x, a.y + 14, a.w, At::Start, &runs);
    let (mut x, mut y) = (a.x, a.y + 26);
    for one in &row.chips {
        let wide = width(one).min(a.w);
        if x > a.x && x + wide > a.right() {
            (x, y) = (a.x, y + CHIP.0 + CHIP.1);
        }
        chip(pen, area(x, y, wide, CHIP.0), one);
        x += wide + CHIP.1;
    }
    if !row.more.is_empty() {
        if x + 40 > a.right() {
            (x, y) = (a.x, y + CHIP.0 + CHIP.1);
        }
        pen.text(x, y + CHIP.0 / 2, 40, At::Start, &row.more, NOTE);
    }
    y + CHIP.0 + 8 - a.y
}

/// The text of a chip.
fn runs(chip: &Chip) -> Vec<(&str, Type)> {
    let mut runs = Vec::new();
    for (text, of) in std::iter::once((&*chip.text, NOTE)).chain(
        chip.about
            .iter()
            .flat_map(|(_, name, rv)| [(&**name, NAME), (&**rv, NOTE)]),
    ) {
        if !text.is_empty() {
            if !runs.is_empty() {
                runs.push((" ", of));
            }
            runs.push((text, of));
        }
    }
    runs
}

/// The width before the text: the glyph and the mark.
fn before(chip: &Chip) -> i32 {
    let mark = chip.about.first().is_some_and(|(mark, ..)| mark.is_some());
    7 + if chip.glyph.is_some() { 17 } else { 0 } + if mark { 12 } else { 0 }
}

fn width(chip: &Chip) -> i32 {
    let text = runs(chip).into_iter();
    before(chip) + text.map(|(text, of)| measure(text, of)).sum::<i32>() + 7
}

fn chip(pen: &mut Pen, a: Area, chip: &Chip) {
    let ink = match (chip.glyph, chip.kind) {
        (Some(delta_type), _) => Ink::of(delta_type),
        (None, ChipKind::Nothing) => Ink::NONE,
        (None, ChipKind::Gap | ChipKind::Gone) => Ink::WIRE,
        (None, _) => Ink::LINE,
    };
    let dashed = chip.tombstone || chip.kind == ChipKind::Gap;
    let radius = if chip.newest { CHIP.0 / 2 } else { 6 };
    let ground = match chip.kind {
        ChipKind::Gap | ChipKind::Nothing => Ink::NONE,
        _ => Ink::CARD,
    };
    pen.rect(
        a,
        radius,
        ground,
        ink,
        match (chip.glyph, dashed) {
            (Some(_), true) => DASHED_TOKEN,
            (Some(_), false) => STRONG,
            (None, true) => DASHED,
            (None, false) => "",
        },
    );
    let mut x = a.x + 7;
    if let Some(delta_type) = chip.glyph {
        pen.small_glyph(x - 1, a.middle(), delta_type, ink);
        x += 17;
    }
    if let Some((Some(mark), ..)) = chip.about.first() {
        pen.mark(x, a.middle(), 8, *mark);
    }
    let mut text = runs(chip);
    if chip.kind == ChipKind::Gone {
        for (_, of) in &mut text {
            *of = of.struck(true);
        }
    }
    let x = a.x + before(chip);
    pen.runs(x, a.middle(), a.right() - 4 - x, At::Start, &text);
}
