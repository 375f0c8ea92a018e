//! The API server's room and the reflector's.

use super::colors::Ink;
use super::parts::{DASHED, OBJECT, SUB, Side, version};
use super::pen::{Area, At, Pen, area, count, measure, mono, sans, wrap};
use crate::decimal;
use crate::rows::api;
use crate::rows::density::Field;
use crate::rows::hue_of;
use crate::rows::reflector::{self, COUNTED, Held, ReflectorRows};
use crate::rows::store::Change;
use crate::stage::StateName;
use crate::strings;
use deltascope_cache::fact::EventType;
use deltascope_replay::picture::{Delivery, InformerKind, SourceKind};

/// The height of a line of the stream.
const LINE: i32 = 24;
/// At most this many lines of the stream are shown.
const LINES: i32 = 12;

pub(super) fn api(pen: &mut Pen, a: Area) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    // Reserves room for some lines of the stream.
    let lines = count(view.picture.api.stream.len()).clamp(1, 5) * LINE + 90;
    let places = ((a.h - lines) / OBJECT).clamp(3, 9);
    let rows = api::rows(view, places as usize, 12);
    let title = super::title(pen, crate::stage::Panel::Api);
    let program = rows.source == SourceKind::Program;
    let gauge = [Side::Gauge(&rows.rv, "", "")];
    let mut y = a.y + pen.head(a, &title, if program { &[] } else { &gauge });
    let unknown = rows.source == SourceKind::Recorded && !view.picture.api.known_from_events;
    if rows.dense {
        y += pen.field(area(a.x, y, a.w, 190), Field::Objects, words.objects) + 12;
    } else if !program {
        for row in &rows.objects {
            let change = match (row.lit, row.gone) {
                (_, true) => Change::Out,
                (true, _) => Change::In,
                _ => Change::None,
            };
            // A deleted object keeps the version of its deletion.
            let differs = version(row.freshness, &row.cached, &row.rv).filter(|_| !row.gone);
            let rv = differs.unwrap_or_else(|| ["rv ", &row.rv.short].concat());
            let at = area(a.x, y, a.w, OBJECT - 5);
            pen.object(at, (row.mark, &row.name, &rv), change, row.freshness);
            y += OBJECT;
        }
        if rows.hidden > 0 {
            pen.more(area(a.x, y, a.w, OBJECT - 5), rows.hidden, false);
            y += OBJECT;
        }
        if rows.objects.is_empty() && !unknown {
            y += pen.empty(a.below(y), words.no_objects);
        }
        y += 8;
    }
    if program {
        y += pen.sub(a.x, y, a.w, words.calls);
    } else {
        // As on the page, a line may break after `=`.
        let asked = rows.watch.filter(|_| !pen.telling);
        let asked = asked.map(|query| query.replace('=', "=\u{200b}"));
        let state = || strings::behind::pipe(lang, &reflector::pipe(view));
        let asked = &*asked.unwrap_or_else(state);
        let title = [words.watch_stream, " · ", asked].concat();
        y += pen.para(a.below(y), 15, 4, &title, sans(115, Ink::INK_3)) + 4;
    }
    let armed: Vec<String> = rows
        .armed
        .iter()
        .map(|one| strings::armed(lang, one))
        .collect();
    let bottom = a.bottom() - count(armed.len()) * LINE;
    let fit = ((bottom - y) / LINE).clamp(1, LINES);
    let skip = |length: usize| (count(length) - fit).max(0) as usize;
    for row in rows.stream.iter().skip(skip(rows.stream.len())) {
        let state = match row.delivery {
            Delivery::Waiting => words.waiting,
            Delivery::Received => "",
            Delivery::Lost => words.lost,
        };
        let rv = if row.name.is_empty() {
            &*row.rv.short
        } else {
            &*["· ", &row.rv.short].concat()
        };
        wire(
            pen,
            area(a.x, y, a.w, LINE),
            [row.event.as_str(), &row.name, rv, state],
            row.event,
            row.lit,
        );
        y += LINE;
    }
    for row in rows.calls.iter().skip(skip(rows.calls.len())) {
        let rv = if row.rv.short.is_empty() {
            String::new()
        } else {
            ["· ", &row.rv.short].concat()
        };
        wire(
            pen,
            area(a.x, y, a.w, LINE),
            [api::verb(row.event), &row.name, &rv, ""],
            row.event,
            row.lit,
        );
        y += LINE;
    }
    if rows.stream.is_empty() && rows.calls.is_empty() {
        let empty = if program {
            words.no_calls
        } else {
            words.no_events
        };
        y += pen.empty(a.below(y), empty);
    }
    for text in armed {
        let at = area(a.x, y + 3, a.w, LINE - 4);
        pen.rect(at, 6, Ink::NONE, Ink::DELETED, DASHED);
        pen.line_in(at, &text, mono(110, Ink::INK));
        y += LINE;
    }
    y - a.y
}

/// A line of the stream, or a call: verb, name, version and state.
fn wire(pen: &mut Pen, a: Area, [verb, name, rv, state]: [&str; 4], event: EventType, lit: bool) {
    let lost = state == pen.words.lost;
    let ground = area(a.x - 4, a.y, a.w + 8, a.h);
    if lit {
        pen.rect(ground, 0, Ink::GLOW, Ink::NONE, "");
    } else {
        if state == pen.words.waiting {
            pen.hatch(ground, 0);
        }
        pen.line(a.x, a.bottom(), a.w, 0, Ink::LINE_2, DASHED);
    }
    let ink = match (lit, lost) {
        (true, _) => Ink::INK,
        (_, true) => Ink::INK_3,
        _ => Ink::INK_2,
    };
    let plain = mono(118, ink).struck(lost);
    let bold = plain
        .bold()
        .ink(if lost { ink } else { Ink::of(hue_of(event)) });
    let cy = a.middle();
    let verb_w = if a.w < 190 { 64 } else { 72 };
    pen.text(a.x, cy, verb_w - 2, At::Start, verb, bold);
    let mut right = a.right();
    if !state.is_empty() {
        right -= pen.text(right, cy, a.w / 3, At::End, state, sans(110, Ink::INK_2)) + 6;
    }
    let x = a.x + verb_w;
    let of = measure(rv, plain);
    // If not all of it fits: only the name and the state.
    if x + 40 + of > right {
        pen.name(x, cy, right - x, name, plain);
        return;
    }
    let w = pen.name(x, cy, right - x - of - 6, name, plain);
    let gap = if w > 0 { 6 } else { 0 };
    pen.text(x + w + gap, cy, of, At::Start, rv, plain);
}

pub(super) fn reflector(pen: &mut Pen, a: Area, unused: bool) -> i32 {
    let (view, words) = (pen.view, pen.words);
    let rows = reflector::rows(view);
    let mut y = a.y + pen.head(a, "Reflector", &[]);
    if unused {
        let text = match view.picture.informer {
            InformerKind::Client => words.unused_reflector,
            _ => words.unused,
        };
        y += pen.empty(a.below(y), text) + 6;
    } else if !rows.present {
        return y + pen.empty(a.below(y), words.no_reflector) - a.y;
    } else {
        y += states(pen, a.below(y), &rows) + 4;
        y += pen.sub(a.x, y, a.w, words.requests) - 4;
    }
    let below = if unused {
        0
    } else {
        let hand = if pen.framed { 20 } else { 48 };
        5 * 17 + 14 + if rows.held.is_some() { hand } else { 0 }
    };
    let places = ((a.bottom() - y - below) / 16).clamp(2, 12);
    if rows.requests.is_empty() && !unused {
        y += pen.empty(a.below(y), words.no_requests);
    }
    y += requests(pen, a.below(y), &rows, places);
    if unused {
        return y - a.y;
    }
    // In an element it is a line above the counts.
    if let Some(held) = rows.held.as_ref().filter(|_| pen.framed) {
        hand_line(pen, a.below(y), held);
        y += 20;
    }
    y += 7;
    pen.line(a.x, y, a.w, 0, Ink::LINE_2, "");
    y += 6;
    y += counts(pen, a.below(y), &rows);
    if let Some(held) = rows.held.as_ref().filter(|_| !pen.framed) {
        y += 8;
        hand(pen, a.below(y), held);
        y += SUB + 20;
    }
    y - a.y
}

/// The Reflector's states. Returns their height.
fn states(pen: &mut Pen, a: Area, rows: &ReflectorRows) -> i32 {
    // In a story only those that matter: they would look like a choice.
    let telling = pen.telling;
    let shown = StateName::ALL.into_iter().filter(|state| {
        let next = *state == StateName::Relist && rows.relist_next;
        !telling || next || rows.on == Some(*state)
    });
    let columns = if a.w >= 320 { 3 } else { 2 };
    let w = (a.w - (columns - 1) * 5) / columns;
    for (place, state) in (0..).zip(shown) {
        let at = area(
            a.x + place % columns * (w + 5),
            a.y + place / columns * 29,
            w,
            24,
        );
        let on = rows.on == Some(state);
        let next = state == StateName::Relist && rows.relist_next;
        let (border, ink, more) = match (on, next) {
            (true, _) => (Ink::INK, Ink::INK, " stroke-width=\"1.5\""),
            (_, true) => (Ink::INK_2, Ink::INK_2, DASHED),
            _ => (Ink::LINE, Ink::INK_3, ""),
        };
        let of = mono(110, ink).bold_if(on);
        if telling {
            let lamp = area(at.x, at.middle() - 4, 7, 7);
            pen.rect(lamp, 4, if on { ink } else { Ink::NONE }, border, more);
            pen.text(at.x + 12, at.middle(), w - 12, At::Start, state.label(), of);
            continue;
        }
        pen.rect(at, 7, Ink::NONE, border, more);
        let x = at.x + w / 2;
        pen.text(x, at.middle(), w - 2, At::Middle, state.label(), of);
    }
    if telling { 29 } else { 6 / columns * 29 }
}

/// The newest requests that fit, with the oldest of them first. Returns their height.
fn requests(pen: &mut Pen, a: Area, rows: &ReflectorRows, places: i32) -> i32 {
    let mut shown = Vec::new();
    let mut left = places;
    for row in &rows.requests {
        let ink = if row.lit { Ink::INK } else { Ink::INK_2 };
        let answered = match (row.failed, row.lit) {
            (true, _) => Ink::DELETED,
            (_, true) => Ink::INK,
            _ => Ink::INK_3,
        };
        let answer = row.said(pen.options.lang);
        let text = [&row.text, " "].concat();
        let runs = [(&*text, mono(110, ink)), (&*answer, mono(110, answered))];
        let lines = wrap(&runs, a.w);
        let high = count(lines.len()).min(4);
        if high > left || shown.len() > 5 {
            break;
        }
        left -= high;
        shown.push((lines, high, row.lit));
    }
    let mut y = a.y;
    for (lines, high, lit) in shown.iter().rev() {
        if *lit {
            let ground = area(a.x - 3, y, a.w + 6, high * 16);
            pen.rect(ground, 0, Ink::GLOW, Ink::NONE, "");
        }
        y += pen.lines(a.below(y), 16, At::Start, lines, 4);
    }
    y - a.y
}

/// What it has in its hand, as a line at the right.
fn hand_line(pen: &mut Pen, a: Area, held: &Held) {
    let words = pen.words;
    let of = mono(110, Ink::INK);
    let (label, ink, value, name) = match held {
        Held::Temporary(kept, _) => (words.temporary, Ink::INK, kept.to_string(), ""),
        Held::Waits(ms) => (words.waiting, Ink::INK, decimal::tenths(*ms), ""),
        Held::Event(event, name) => {
            let ink = Ink::of(hue_of(*event));
            (words.in_hand, ink, event.as_str().to_owned(), &**name)
        }
    };
    let runs = [
        (label, sans(115, Ink::INK_3)),
        (" ", of),
        (&*value, of.ink(ink).bold()),
        (" ", of),
        (name, of),
    ];
    pen.runs(a.right(), a.y + 12, a.w, At::End, &runs);
}

/// The version that it has come to, and how often it did what. Returns their height.
fn counts(pen: &mut Pen, a: Area, rows: &ReflectorRows) -> i32 {
    let mut y = a.y;
    let counted = &COUNTED[..if pen.plain { 1 } else { COUNTED.len() }];
    let mut values = vec![rows.last_sync.short.clone()];
    values.extend(rows.counts.iter().map(ToString::to_string));
    for (place, (name, value)) in ["lastSync"].iter().chain(counted).zip(&values).enumerate() {
        let value = if value.is_empty() { "–" } else { value };
        let gone = place == 0 && rows.unavailable;
        let ink = if gone { Ink::DELETED } else { Ink::INK };
        let cy = y + 8;
        let of = mono(115, ink).bold().struck(gone);
        let w = pen.text(a.right(), cy, a.w / 2, At::End, value, of);
        pen.text(a.x, cy, a.w - w - 6, At::Start, name, mono(115, Ink::INK_2));
        y += 17;
    }
    y - a.y
}

/// What it has in its hand, as a box.
fn hand(pen: &mut Pen, a: Area, held: &Held) {
    let words = pen.words;
    let at = area(a.x, a.y + 16, a.w, 26);
    let label = match held {
        Held::Temporary(kept, marks) => {
            pen.rect(at, 7, Ink::NONE, Ink::WIRE, DASHED);
            for (place, mark) in (0..).zip(marks) {
                pen.mark(at.x + 8 + place * 12, at.middle(), 9, *mark);
            }
            let text = kept.to_string();
            let of = mono(110, Ink::INK).bold();
            pen.text(at.right() - 7, at.middle(), 40, At::End, &text, of);
            words.temporary
        }
        Held::Waits(ms) => {
            pen.rect(at, 7, Ink::NONE, Ink::WIRE, "");
            let text = decimal::tenths(*ms);
            pen.line_in(at, &text, mono(110, Ink::INK));
            words.waiting
        }
        Held::Event(event, name) => {
            let ink = Ink::of(hue_of(*event));
            pen.rect(at, 7, Ink::NONE, ink, "");
            let x = at.x + 7;
            let of = mono(110, ink).bold();
            let w = pen.text(x, at.middle(), at.w - 14, At::Start, event.as_str(), of) + 6;
            pen.name(x + w, at.middle(), at.w - 14 - w, name, mono(110, Ink::INK));
            words.in_hand
        }
    };
    pen.sub(a.x, a.y, a.w, label);
}
