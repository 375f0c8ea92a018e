//! The queue's room and Pop's.

use super::colors::Ink;
use super::glyphs::LOCK;
use super::parts::{DASHED_TOKEN, HEAD, STRONG, Side};
use super::pen::{Area, At, Pen, area, count, measure, mono, sans};
use crate::rows::density::{Field, is_queue_dense};
use crate::rows::pop::{self, PoppedRow};
use crate::rows::queue::{self, ColumnRow, EntryRow, Space};
use crate::strings;
use deltascope_cache::delta::DeltaType;
use deltascope_replay::picture::QueueKind;

const DELTA: i32 = 29;
const DELTA_GAP: i32 = 6;
const ENTRY: i32 = 66;
const ENTRY_GAP: i32 = 16;
const MORE: i32 = 48;
const BELT: i32 = 42;
/// Sizes where only some rooms are shown, as in board/queue.rs.
const SLIM: i32 = 90;
const SLIM_GAP: i32 = 6;
const SLIM_ROOM: i32 = 330;

fn size(number: i32) -> usize {
    number.max(0) as usize
}

/// Text on a hatched ground.
fn on_slot(pen: &mut Pen, a: Area, text: &str) {
    let of = sans(120, Ink::INK_2);
    let w = (measure(text, of) + 16).min(a.w - 8);
    let under = area(a.x + (a.w - w) / 2, a.middle() - 10, w, 20);
    pen.rect(under, 6, Ink::CARD, Ink::NONE, "");
    pen.text(a.x + a.w / 2, a.middle(), w - 6, At::Middle, text, of);
}

pub(super) fn queue(pen: &mut Pen, a: Area, unused: bool) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let flat = view.picture.queue.kind == QueueKind::RealFifo;
    let (mut each, mut gap) = (110, 11);
    // As in an element of this width.
    let slim = !pen.options.panels.is_empty() && !flat && a.w < SLIM_ROOM;
    if slim {
        (each, gap) = (SLIM, SLIM_GAP);
    } else if a.w < 352 {
        (each, gap) = (104, 8);
    }
    if queue::is_wide(view) {
        each = 136;
    }
    let places = |w: i32| ((w + gap) / (each + gap)).max(1);
    let high = a.h - HEAD - if flat { 14 } else { BELT };
    let depth = match flat {
        true => ((high + ENTRY_GAP) / (ENTRY + ENTRY_GAP)).clamp(1, 4),
        false => ((high + DELTA_GAP) / (DELTA + DELTA_GAP)).clamp(3, 9),
    };
    let rows = queue::rows(
        view,
        Space {
            columns: size(places(a.w)),
            beside_more: size(places(a.w - MORE - gap)),
            depth: size(depth),
        },
    );
    let length = match rows.kind {
        QueueKind::RealFifo => strings::entries(lang, rows.deltas),
        QueueKind::Fifo => strings::places(lang, rows.keys, rows.deltas),
        QueueKind::DeltaFifo => strings::queued(lang, rows.keys, rows.deltas),
    };
    let flags = [(rows.synced, "HasSynced"), (rows.closed, words.closed)];
    let flags = flags.iter().filter(|(on, _)| *on && !unused);
    let mut sides: Vec<Side> = flags.map(|(_, name)| Side::Flag(name)).collect();
    if !unused {
        sides.push(Side::Count(&length));
    }
    let y = a.y + pen.head(a, rows.kind.as_str(), &sides);
    if unused {
        return y + pen.empty(a.below(y), words.unused) - a.y;
    }
    if is_queue_dense(&view.picture) {
        return y + pen.field(area(a.x, y, a.w, 220), Field::Queue, words.queued) - a.y;
    }
    // The height of the tallest stack.
    let tallest = match flat {
        true => {
            let lines = count(rows.entries.len() + usize::from(rows.hidden_entries > 0));
            let lines = (lines + places(a.w) - 1) / places(a.w);
            lines * (ENTRY + ENTRY_GAP)
        }
        false => {
            let stacks = rows.columns.iter().map(|column| &column.stack);
            let tallest = stacks.map(|stack| stack.shown.len() + usize::from(stack.hidden > 0));
            count(tallest.max().unwrap_or_default()) * (DELTA + DELTA_GAP)
        }
    };
    let needed = HEAD + tallest.max(96) + if flat { 8 } else { BELT };
    let floor = pen.floor.max(a.y + needed) - if flat { 4 } else { BELT - 10 };
    if rows.keys == 0 && rows.deltas == 0 {
        let at = area(a.x, floor - 90, a.w, 82);
        pen.slot(at, false);
        on_slot(pen, at, words.empty_queue);
    }
    pen.line(a.x, floor, a.w, 0, Ink::WIRE, " stroke-width=\"2\"");
    let ground = floor - 10;
    let right = |place: i32| a.right() - each - place * (each + gap);
    for (place, column) in (0..).zip(&rows.columns) {
        stack(pen, area(right(place), ground - DELTA, each, DELTA), column);
        key(pen, area(right(place), floor + 8, each, 20), column);
    }
    for (place, entry) in (0..).zip(&rows.entries) {
        let (line, place) = (place / places(a.w), place % places(a.w));
        let y = ground - ENTRY - line * (ENTRY + ENTRY_GAP);
        self::entry(pen, area(right(place), y, each, ENTRY), entry);
    }
    if rows.hidden_keys > 0 {
        let x = right(count(rows.columns.len()) - 1) - gap - MORE;
        pen.more(
            area(x, ground - 82, MORE, 82),
            rows.hidden_keys,
            rows.hidden_lit,
        );
        pen.text(
            x + MORE / 2,
            floor + 18,
            MORE,
            At::Middle,
            "…",
            sans(110, Ink::INK_3),
        );
    }
    if rows.hidden_entries > 0 {
        let place = count(rows.entries.len());
        let (line, place) = (place / places(a.w), place % places(a.w));
        let y = ground - ENTRY - line * (ENTRY + ENTRY_GAP);
        let x = right(place) + each - MORE;
        pen.more(
            area(x, y, MORE, ENTRY),
            rows.hidden_entries,
            rows.hidden_lit,
        );
    }
    needed
}

/// The stack of a key; `a` is the place of its oldest delta.
fn stack(pen: &mut Pen, mut a: Area, column: &ColumnRow) {
    if column.stack.shown.is_empty() {
        pen.slot(a, column.lit);
        let gone = match column.again {
            true => pen.words.object_ahead,
            false => pen.words.object_gone,
        };
        pen.text(
            a.x + a.w / 2,
            a.middle(),
            a.w - 8,
            At::Middle,
            gone,
            sans(115, Ink::INK_2),
        );
    }
    for row in &column.stack.shown {
        let size = match a.w {
            ..SLIM => 105,
            SLIM..104 => 110,
            104..110 => 115,
            _ => 120,
        };
        pen.delta(a, row, size);
        a.y -= DELTA + DELTA_GAP;
        if row.index == 0 && column.stack.hidden > 0 {
            pen.more(a, column.stack.hidden, false);
            a.y -= DELTA + DELTA_GAP;
        }
    }
}

/// The name of a key and its place, centred.
fn key(pen: &mut Pen, a: Area, column: &ColumnRow) {
    let of = mono(120, Ink::INK).bold_if(column.lit);
    let small = sans(110, Ink::INK_3);
    let place = strings::place(pen.options.lang, column.place);
    let side = measure(&place, small) + 6;
    let w = measure(&column.name, of).min(a.w - side - 15);
    let x = a.x + (a.w - w - side - 15) / 2;
    let cy = a.middle();
    pen.mark(x, cy, 9, column.mark);
    let w = pen.name(x + 15, cy, w, &column.name, of);
    pen.text(x + 15 + w + 6, cy, side, At::Start, &place, small);
}

/// An entry of a RealFIFO.
fn entry(pen: &mut Pen, a: Area, row: &EntryRow) {
    let ink = Ink::of(row.delta_type);
    pen.raw(&["<g>"]);
    let boxed = row.crate_of.as_ref();
    let lang = pen.options.lang;
    let objects = boxed.map(|(count, _)| *count);
    pen.title(&strings::entry(
        lang,
        row.delta_type.as_str(),
        objects,
        row.tombstone,
    ));
    if boxed.is_some() && !row.lit {
        // A second box behind it: the entry is a whole list.
        let behind = area(a.x + 4, a.y - 4, a.w, a.h);
        pen.rect(behind, 8, Ink::CARD, ink, STRONG);
    }
    pen.delta_box(
        a,
        ink,
        row.lit,
        if row.tombstone { DASHED_TOKEN } else { STRONG },
    );
    let whole = row.name.is_empty();
    if whole {
        pen.rect(a.inset(3, 3), 6, Ink::NONE, ink, "");
    }
    let (x, w) = (a.x + 8, a.w - 16);
    let cy = a.y + 16;
    pen.glyph(x - 2, cy, row.delta_type, ink);
    let question = if row.tombstone { "?" } else { "" };
    let name = [row.delta_type.as_str(), question].concat();
    let of = mono(if name.len() > 9 { 105 } else { 120 }, ink);
    pen.text(x + 15, cy, w - 15, At::Start, &name, of);
    let cy = a.y + 35;
    let plain = mono(120, Ink::INK);
    match boxed {
        Some((count, marks)) => {
            for (place, mark) in (0..).zip(marks) {
                pen.mark(x + place * 12, cy, 9, *mark);
            }
            let text = count.to_string();
            pen.text(a.right() - 8, cy, 30, At::End, &text, plain.bold());
        }
        None if !whole => {
            pen.mark(x, cy, 9, row.mark);
            pen.name(x + 15, cy, w - 15, &row.name, plain);
        }
        None => {
            let text = match row.delta_type {
                DeltaType::SyncAll => pen.words.whole_store.to_owned(),
                _ => ["rv ", &row.rv.short].concat(),
            };
            pen.text(x, cy, w, At::Start, &text, plain);
        }
    }
    let cy = a.y + 53;
    let place = strings::place(lang, row.place);
    let mut left = w - pen.text(x, cy, w, At::Start, &place, sans(110, Ink::INK_3));
    left -= 6;
    if row.delta_type != DeltaType::Bookmark {
        let of = mono(115, Ink::INK_2);
        pen.text(a.right() - 8, cy, left, At::End, &row.rv.short, of);
    }
    pen.raw(&["</g>"]);
}

pub(super) fn pop(pen: &mut Pen, a: Area, unused: bool) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let rows = pop::rows(view, 6);
    let mode = strings::mode(lang, rows.mode);
    let flag = [Side::Flag(mode)];
    let mut y = a.y + pen.head(a, "Pop", if unused { &[] } else { &flag });
    if unused {
        return y + pen.empty(a.below(y), words.unused) - a.y;
    }
    let name = |actor| strings::short_actor(lang, actor);
    let state = |holder: Option<_>| holder.map_or_else(|| words.lock_free.to_owned(), name);
    let mut locks = vec![(
        state(rows.lock.holder),
        String::new(),
        rows.lock.holder.is_none(),
        false,
    )];
    if let Some(actor) = rows.lock.waiting.first() {
        let more = rows.lock.waiting.len() - 1;
        let more = if more > 0 {
            ["+", &more.to_string()].concat()
        } else {
            String::new()
        };
        locks.push((
            strings::waits_for_lock(lang, &name(*actor)),
            more,
            false,
            true,
        ));
    }
    if let Some(block) = &rows.block_deltas {
        let waits = block.waiting.first().map(|actor| name(*actor));
        let (free, waiting) = (block.holder.is_none() && waits.is_none(), waits.is_some());
        let of = waits.unwrap_or_else(|| state(block.holder));
        locks.push(("blockDeltas".to_owned(), of, free, waiting));
    }
    for (text, more, free, waiting) in &locks {
        let ink = if *free || *waiting {
            Ink::INK_3
        } else {
            Ink::INK_2
        };
        let cy = y + 8;
        let faded = if *free {
            " stroke-width=\"1.6\" opacity=\".5\""
        } else {
            " stroke-width=\"1.6\""
        };
        pen.path(a.x, cy - 7, LOCK, Ink::NONE, ink, faded);
        let of = mono(if more.is_empty() { 115 } else { 105 }, ink);
        let gap = if more.is_empty() { "" } else { " " };
        pen.runs(
            a.x + 17,
            cy,
            a.w - 17,
            At::Start,
            &[(text, of), (gap, of), (more, of)],
        );
        y += 20;
    }
    y += 8;
    y += pen.sub(a.x, y, a.w, "process( )") - 2;
    let busy = rows.processing.as_ref();
    let inside = match busy {
        Some(popped) => {
            let tokens = count(popped.stack.shown.len()).clamp(1, 6);
            let marks = popped.whole.as_ref().map_or(0, |whole| whole.marks.len());
            28 + tokens * 30 + if marks > 0 { 34 } else { 0 }
        }
        None => 64,
    };
    let after = 22 + 62;
    let slot = (pen.floor - y - after).clamp(inside.max(64), inside.max(150));
    let at = area(a.x, y, a.w, slot);
    match busy {
        Some(popped) => {
            pen.rect(at, 8, Ink::NONE, Ink::GLOW_LINE, DASHED_TOKEN);
            work(pen, at.inset(5, 4), popped);
        }
        None => pen.slot(at, false),
    }
    let needed = y + inside.max(64) + after - a.y;
    y = at.bottom() + 12;
    y += pen.sub(a.x, y, a.w, words.last_popped) - 2;
    match &rows.last {
        Some(popped) => {
            let token = popped.whole.as_ref().map(|whole| &whole.token);
            if let Some(row) = token.or_else(|| popped.stack.shown.first()) {
                pen.delta(area(a.x, y, a.w.min(180), 26), row, 110);
            }
            who(pen, area(a.x, y + 28, a.w, 20), popped);
        }
        None => {
            pen.empty(a.below(y), words.nothing_popped);
        }
    }
    needed
}

/// The item that is being processed: its name, and its deltas with the oldest at the bottom.
fn work(pen: &mut Pen, a: Area, popped: &PoppedRow) {
    who(pen, area(a.x, a.y, a.w, 20), popped);
    let token = popped.whole.as_ref().map(|whole| &whole.token);
    let shown: Vec<_> = token
        .into_iter()
        .chain(&popped.stack.shown)
        .take(6)
        .collect();
    let mut y = a.y + 24 + (count(shown.len()) - 1) * 30;
    for row in shown {
        pen.delta(area(a.x, y, a.w, 26), row, 110);
        y -= 30;
    }
    if let Some(whole) = popped
        .whole
        .as_ref()
        .filter(|whole| !whole.marks.is_empty())
    {
        let y = a.y + 62;
        let in_row = (a.w - 6) / 12;
        for (place, mark) in (0..).zip(&whole.marks).take(size(in_row * 2)) {
            pen.mark(
                a.x + 4 + place % in_row * 12,
                y + place / in_row * 13,
                9,
                *mark,
            );
        }
    }
}

/// The name of the popped item: a key, or the size of a batch.
fn who(pen: &mut Pen, a: Area, popped: &PoppedRow) {
    let lang = pen.options.lang;
    let (cy, small) = (a.middle(), mono(110, Ink::INK_3));
    let mut right = a.right() - 2;
    let rv = popped.whole.as_ref().map(|whole| &whole.rv.short);
    if let Some(rv) = rv.filter(|rv| !rv.is_empty()) {
        right -= pen.text(right, cy, a.w / 2, At::End, &["rv ", rv].concat(), small) + 4;
    }
    if popped.stack.hidden > 0 {
        let more = ["+", &popped.stack.hidden.to_string()].concat();
        right -= pen.text(right, cy, 40, At::End, &more, small) + 4;
    }
    let of = mono(115, Ink::INK);
    let x = a.x + 3;
    match &popped.whole {
        Some(whole) if whole.count > 0 => {
            let text = strings::objects(lang, whole.count);
            pen.text(x, cy, right - x, At::Start, &text, of);
        }
        Some(_) => {}
        None if popped.key.is_empty() => {
            let text = strings::batch(lang, popped.count);
            pen.text(x, cy, right - x, At::Start, &text, of);
        }
        None => {
            pen.mark(x, cy, 9, popped.mark);
            pen.name(x + 14, cy, right - x - 14, &popped.name, of);
        }
    }
}
