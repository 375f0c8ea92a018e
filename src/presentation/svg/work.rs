//! What runs now, the shared processor, and the words below the stage.

use super::colors::Ink;
use super::parts::{DASHED, Side, TAGS};
use super::pen::{Area, At, Pen, Type, area, count, measure, mono, sans, wrap};
use crate::anchor::{Anchor, HandlerPlace};
use crate::caption::Span;
use crate::decimal;
use crate::lanes::{self, Kind, Lane};
use crate::pseudo::{self, Listing};
use crate::rows;
use crate::rows::processor::{self, HandlerRow, LineRow, NotificationLook, RING, WorkRows};
use crate::stage::WorkPart;
use crate::strings;

/// The height of a line of code.
const LINE: i32 = 18;

/// A listing's routine without its callers, and the text of its link to client-go.
pub(super) fn place(listing: &Listing) -> (&str, String) {
    let link = listing.link.as_ref();
    (
        &listing.routine,
        link.map(ToString::to_string).unwrap_or_default(),
    )
}

pub(super) fn now(pen: &mut Pen, a: Area) -> i32 {
    let (view, words) = (pen.view, pen.words);
    let listing = pseudo::listing(view.narrated().0, view.narrated().1);
    let routine = &*listing.routine;
    let link = listing.link.as_ref().filter(|_| a.w >= 420);
    let file = link.map_or("", |link| &link.place);
    let dot = if file.is_empty() || routine.is_empty() {
        ""
    } else {
        " · "
    };
    let running = [routine, dot, file].concat();
    let mut y = a.y + pen.head(a, words.now_running, &[Side::Count(&running)]);
    let lanes = lanes::lanes(&view.recent, &view.picture);
    let columns = if lanes.len() > 2 && a.w > 420 { 2 } else { 1 };
    let lane_rows = (count(lanes.len()) + columns - 1) / columns;
    let bottom = a.bottom() - lane_rows * 20 - 8;

    if listing.lines.is_empty() {
        y += pen.empty(a.below(y), words.nothing_runs);
    }
    y += lines(pen, area(a.x, y, a.w, bottom - y), &listing) + 8;
    let needed = y + lane_rows * 20 - a.y;
    y = y.max(pen.floor - lane_rows * 20);
    draw_lanes(pen, a.below(y), &lanes, columns, lane_rows);
    needed
}

/// The lines of a listing that fit around the current one. Returns their height.
fn lines(pen: &mut Pen, a: Area, listing: &Listing) -> i32 {
    let code = mono(if a.w < 420 { 112 } else { 122 }, Ink::INK_2);
    let indent = |text: &str| count(text.len() - text.trim_start().len());
    let letter = measure("0", code);
    // A value is in its column, or after a long line of code, or in a line of its own.
    let columned = |text: &str, value: &str, column: i32| {
        let at = (column * letter).max(measure(text, code) + letter);
        (at + measure(value, code) + 2 * letter <= a.w).then_some(at)
    };
    let mut valued = listing
        .lines
        .iter()
        .filter_map(|line| Some((line.text, line.value.as_deref()?)));
    let column = if valued.all(|(text, value)| columned(text, value, 40).is_some()) {
        40
    } else {
        0
    };
    let value_at = |text: &str, value: &str| columned(text, value, column);
    let high = |line: &pseudo::ListingLine| {
        let value = line.value.as_deref();
        let under = value.is_some_and(|value| value_at(line.text, value).is_none());
        LINE * if under { 2 } else { 1 }
    };
    // The first line stays; of the others a window around the current one is shown.
    let room = a.h.max(3 * LINE);
    let lit = listing
        .lines
        .iter()
        .position(|line| line.current)
        .unwrap_or_default();
    let mut first = 1;
    let fits = |first: usize, last: usize| {
        let shown = listing
            .lines
            .iter()
            .take(1)
            .chain(listing.lines.get(first..=last).into_iter().flatten());
        shown.map(&high).sum::<i32>() <= room
    };
    let ahead = (lit + 2).min(listing.lines.len().saturating_sub(1));
    while first < lit && !fits(first, ahead) {
        first += 1;
    }
    let mut used = 0;
    for (number, line) in listing.lines.iter().enumerate() {
        if number > 0 && number < first {
            continue;
        }
        let tall = high(line);
        if used + tall > room {
            break;
        }
        let y = a.y + used;
        used += tall;
        let of = code.ink(if line.current { Ink::INK } else { Ink::INK_2 });
        if line.current {
            pen.rect(
                area(a.x - 14, y, a.w + 28, tall),
                0,
                Ink::GLOW,
                Ink::NONE,
                "",
            );
            pen.rect(area(a.x - 14, y, 3, tall), 0, Ink::GLOW_LINE, Ink::NONE, "");
        }
        let (cy, x) = (y + LINE / 2, indent(line.text) * letter);
        let value = line.value.as_deref().map(|value| ["→ ", value].concat());
        let at = line
            .value
            .as_deref()
            .and_then(|value| value_at(line.text, value));
        let left = if value.is_some() {
            at.unwrap_or(a.w)
        } else {
            a.w
        };
        pen.text(a.x + x, cy, left - x, At::Start, line.text.trim_start(), of);
        match (value, at) {
            (Some(value), Some(at)) => {
                pen.text(a.x + at, cy, a.w - at, At::Start, &value, of);
            }
            (Some(value), None) => {
                let x = x + 4 * letter;
                pen.text(a.x + x, cy + LINE, a.w - x, At::Start, &value, of);
            }
            _ => {}
        }
    }
    used
}

/// Who is busy, in columns of so many rows.
fn draw_lanes(pen: &mut Pen, a: Area, lanes: &[Lane], columns: i32, lane_rows: i32) {
    let w = (a.w - (columns - 1) * 24) / columns;
    for (place, lane) in (0..).zip(lanes) {
        let at = area(
            a.x + place / lane_rows * (w + 24),
            a.y + place % lane_rows * 20,
            w,
            20,
        );
        let label = 104.min(w * 2 / 5);
        let name = lanes::actor_name(lane.actor, &pen.view.picture, pen.options.lang);
        pen.text(
            at.x,
            at.middle(),
            label - 6,
            At::Start,
            &name,
            mono(112, Ink::INK_2),
        );
        let track = w - label;
        for segment in &lane.segments {
            #[allow(clippy::cast_possible_truncation, reason = "parts of some hundred px")]
            let [from, to] = [segment.from, segment.to].map(|part| (part * track as f32) as i32);
            let (thin, more) = match segment.kind {
                Kind::HoldsBlock | Kind::WaitsBlock => (true, ""),
                Kind::Waits => (false, " fill=\"url(#dsg-waits)\""),
                _ => (false, ""),
            };
            let (top, tall) = if thin { (at.y + 8, 4) } else { (at.y + 5, 10) };
            let bar = area(at.x + label + from, top, (to - from).max(2), tall);
            match segment.kind {
                Kind::Runs => pen.rect(bar, 3, Ink::WIRE, Ink::NONE, more),
                Kind::HoldsLock | Kind::HoldsBlock => {
                    pen.rect(bar, 3, Ink::GLOW_LINE, Ink::LOCK_LINE, more);
                }
                Kind::Waits => pen.rect(bar, 0, Ink::NONE, Ink::NONE, more),
                Kind::WaitsBlock => {
                    pen.rect(bar, 0, Ink::NONE, Ink::NONE, " fill=\"url(#dsg-waits)\"")
                }
            }
        }
    }
}

pub(super) fn processor(pen: &mut Pen, a: Area) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let rows = processor::rows(view);
    let inline = !rows.handlers.is_empty() && rows.handlers.iter().all(|row| row.inline);
    let listens = rows.handlers.iter().filter(|row| !row.removed).count();
    let side = match inline || pen.telling {
        true => String::new(),
        false => strings::listeners(lang, listens),
    };
    let top = a.y + pen.head(a, words.handlers, &[Side::Count(&side)]);
    let two = a.w >= 400;
    let left = if two {
        area(a.x, top, (a.w * 11 / 20).min(300), a.bottom() - top)
    } else {
        a.below(top)
    };
    let mut y = top;
    if rows.handlers.is_empty() {
        y += pen.empty(left, words.no_handlers);
    }
    // If there are too many: the first ones, and the one that the fact is about.
    let most = ((a.h - 60) / 44).clamp(2, 6) as usize;
    let all = rows.handlers.len();
    let shown = if all > most { most - 1 } else { all };
    let mut handlers: Vec<&HandlerRow> = rows.handlers.iter().take(shown).collect();
    let lit = rows.handlers.iter().skip(shown).find(|row| row.lit);
    if let (Some(row), Some(last)) = (lit, handlers.last_mut()) {
        *last = row;
    }
    for row in handlers {
        let at = area(left.x, y, left.w, 44);
        let anchor = Anchor::Handler(row.number, HandlerPlace::Whole);
        pen.droppable.push((anchor, at));
        y += handler(pen, at, row);
    }
    if all > shown {
        pen.more(area(left.x, y + 4, left.w, 24), all - shown, false);
        y += 34;
    }
    let right = a.x + left.w + 20;
    let mut side = top;
    if let Some(work) = &rows.work {
        let to = if two {
            area(right, top, a.right() - right, 0)
        } else {
            area(a.x, y + 10, a.w, 0)
        };
        side = to.y + workqueue(pen, to, work);
        if !two {
            y = side;
        }
    }
    // The output: at the right, or below the rest.
    let beside = two && rows.work.is_none();
    let to = match beside {
        true => area(right, top, a.right() - right, a.bottom() - top),
        false => area(left.x, y + 10, left.w, a.bottom() - y - 10),
    };
    let out = to.y + output(pen, to, &rows.output);
    y.max(out).max(side) - a.y
}

/// The work queue. Returns its height.
fn workqueue(pen: &mut Pen, a: Area, work: &WorkRows) -> i32 {
    let (words, lang) = (pen.words, pen.options.lang);
    let mut y = a.y;
    let closed = if work.shut_down {
        [" · ", words.closed].concat()
    } else {
        String::new()
    };
    let done = strings::reconciled(lang, work.reconciled);
    let title = [words.workqueue, " · ", &done, &closed].concat();
    y += pen.sub(a.x, y, a.w, &title);
    for line in &work.lines {
        let mut label = strings::work_part(lang, line.part).to_owned();
        if line.count > 0 && line.part != WorkPart::Processing {
            label.push(' ');
            label.push_str(&line.count.to_string());
        }
        let hidden = line.count.saturating_sub(line.keys.len());
        y += pen.tagged(area(a.x, y, a.w, TAGS), &label, &line.keys, hidden);
    }
    let at = area(a.x, a.y, a.w, y - a.y);
    pen.droppable
        .push((Anchor::Work(WorkPart::Queue, None), at));
    y - a.y
}

/// The newest lines of the output that fit. Returns their height.
fn output(pen: &mut Pen, a: Area, rows: &[LineRow]) -> i32 {
    let words = pen.words;
    let mut y = a.y + pen.sub(a.x, a.y, a.w, words.output) - 2;
    if rows.is_empty() {
        y += pen.empty(a.below(y), words.no_output);
    }
    let of = mono(115, Ink::INK_2);
    let mut places = ((a.bottom() - y) / 17).clamp(2, 14);
    let mut lines = Vec::new();
    for row in rows.iter().rev() {
        let of = of.ink(if row.lit { Ink::INK } else { Ink::INK_2 });
        let by = if row.by_program { words.by_program } else { "" };
        let wrapped = wrap(&[(by, of.bold_if(true)), (&row.text, of)], a.w);
        let high = count(wrapped.len()).min(3);
        if high > places {
            break;
        }
        places -= high;
        lines.push((wrapped, row.lit, high));
    }
    for (wrapped, lit, high) in lines.iter().rev() {
        if *lit {
            let ground = area(a.x - 3, y, a.w + 6, high * 17);
            pen.rect(ground, 0, Ink::GLOW, Ink::NONE, "");
        }
        y += pen.lines(a.below(y), 17, At::Start, wrapped, 3);
    }
    y - a.y
}

/// A handler: its name, its pending notifications, and its lamps. Returns the height.
fn handler(pen: &mut Pen, a: Area, row: &HandlerRow) -> i32 {
    let lang = pen.options.lang;
    let tall = if row.inline { 32 } else { 44 };
    pen.line(a.x, a.y + tall, a.w, 0, Ink::LINE_2, DASHED);
    let ring = if row.inline { 20 } else { 112 };
    let mut of = mono(125, if row.removed { Ink::INK_3 } else { Ink::INK }).struck(row.removed);
    of = of.bold_if(row.lit);
    let cy = a.y + 13;
    let over = row.pending.saturating_sub(RING);
    let over = if over > 0 {
        ["+", &over.to_string()].concat()
    } else {
        String::new()
    };
    let busy = row.running.is_some();
    let load = row.load(lang);
    let small = mono(110, Ink::INK_3);
    let load_of = small.ink(if busy { Ink::INK } else { Ink::INK_2 });
    let x = a.right() - ring - if row.inline { 104 } else { 24 };
    pen.text(a.x, cy, x - a.x - 6, At::Start, &row.name, of);
    let dot = |pen: &mut Pen, at: Area, r: i32, look: Option<NotificationLook>, more: &str| {
        let ink = look.map_or(Ink::WIRE, |look| Ink::of(look.hue));
        if look.is_some() {
            pen.rect(at, r, ink, Ink::NONE, " fill-opacity=\".18\"");
        }
        // A tombstone is dashed, as in the other rooms.
        let more = match look.is_some_and(|look| look.tombstone) {
            true => super::parts::DASHED_TOKEN,
            false => more,
        };
        pen.rect(at, r, Ink::NONE, ink, more);
    };
    let strong = super::parts::STRONG;
    let at = |place: i32| area(x + place, cy - 7, 14, 14);
    dot(pen, at(0), 7, row.running, strong);
    if row.inline {
        pen.text(a.right(), cy, 98, At::End, &load, load_of);
        return tall;
    }
    for place in 0..RING {
        let look = row.ring.get(place).copied();
        dot(pen, at(19 + count(place) * 18), 5, look, strong);
    }
    pen.text(x + 93, cy, 22, At::Start, &over, mono(110, Ink::INK_2));
    let sending = if row.sending.is_some() {
        strong
    } else {
        super::parts::DASHED_TOKEN
    };
    // A plain story has no words for the empty place.
    if row.sending.is_some() || !pen.plain {
        dot(pen, at(117), 5, row.sending, sending);
    }
    // The lamps.
    let cy = a.y + 33;
    // In a story it stands below what it says, and there is nothing else.
    if pen.telling && row.counts() {
        let words = strings::strings(lang);
        let now = small.ink(if busy { Ink::INK } else { Ink::INK_2 });
        pen.text(x, cy, 24, At::Start, words.handled_now, now.bold_if(busy));
        let waiting = strings::waiting(lang, row.pending);
        pen.text(x + 24, cy, a.right() - x - 24, At::Start, &waiting, now);
        return tall;
    }
    let most = if row.tombstone { a.w } else { a.w / 2 };
    let w = pen.text(a.right(), cy, most, At::End, &load, load_of);
    let resync = match row.resync_ms {
        0 => "↻ –".to_owned(),
        ms => ["↻ ", &decimal::short_tenths(ms)].concat(),
    };
    let filter = if row.filter.is_empty() {
        String::new()
    } else {
        ["▽ ", &row.filter].concat()
    };
    let panics = if row.panics > 0 {
        ["panic ×", &row.panics.to_string()].concat()
    } else {
        String::new()
    };
    let mut x = a.x;
    let right = a.right() - w - 8;
    let lamps = [(row.synced, "HasSynced"), (row.syncing, &*resync)];
    let lamps = &lamps[..if pen.telling { 0 } else { 2 }];
    for (on, text) in lamps.iter().copied() {
        let at = area(x, cy - 4, 7, 7);
        let (fill, stroke) = if on {
            (Ink::ADDED, Ink::ADDED)
        } else {
            (Ink::NONE, Ink::WIRE)
        };
        if x + 30 > right {
            break;
        }
        pen.rect(at, 4, fill, stroke, strong);
        let of = if on { small.ink(Ink::INK_2) } else { small };
        x += 12 + pen.text(x + 12, cy, right - x - 12, At::Start, text, of) + 9;
    }
    for (text, ink) in [(&panics, Ink::DELETED), (&filter, Ink::INK_3)] {
        if !text.is_empty() && !pen.plain && x + 24 < right {
            x += pen.text(x, cy, right - x, At::Start, text, small.ink(ink)) + 9;
        }
    }
    tall
}

pub(super) fn typed(spans: &[Span], of: Type) -> Vec<(&str, Type)> {
    let strong = of.ink(Ink::INK).bold();
    let spans = spans.iter().map(|span| {
        let of = match span {
            Span::Text(_) => of,
            Span::Name(_) => strong,
            Span::Delta(delta_type, _) => strong.ink(Ink::of(*delta_type)),
            Span::Code(_) => of.code(),
        };
        (span.as_str(), of)
    });
    spans.collect()
}

/// The strip. Returns its height.
pub(super) fn strip(pen: &mut Pen, a: Area) -> i32 {
    let (view, lang) = (pen.view, pen.options.lang);
    let said = rows::said(pen.view, pen.options.lang);
    let mut y = a.y;
    let what = sans(if a.w < 900 { 150 } else { 165 }, Ink::INK);
    let lines = wrap(&typed(&said.what, what), a.w);
    y += pen.lines(
        a.below(y),
        what.tenths() * 14 / 100 + 1,
        At::Start,
        &lines,
        6,
    );
    if !said.why.is_empty() {
        let why = sans(if a.w < 900 { 130 } else { 136 }, Ink::INK_2);
        let lines = wrap(&typed(&said.why, why), a.w);
        y += 3 + pen.lines(area(a.x, y + 3, a.w, 0), 19, At::Start, &lines, 8);
    }
    let listing = pseudo::listing(view.narrated().0, view.narrated().1);
    let (routine, link) = place(&listing);
    let small = mono(112, Ink::INK_3);
    let cy = y + 16;
    let at = strings::position(lang, view.step, view.steps, view.endless, view.time);
    let era = [view.lesson.era.client_go(), " · ", &at].concat();
    let w = pen.text(a.right(), cy, a.w, At::End, &era, small);
    let dot = if link.is_empty() || routine.is_empty() {
        ""
    } else {
        " · "
    };
    let left = a.w - w - 16;
    // What is said of four generations is no line of one of them.
    if left > 80 && view.race().is_none() {
        let whence = [routine, dot, &link].concat();
        pen.text(a.x, cy, left, At::Start, &whence, small);
    }
    cy + 10 - a.y
}
