//! The queue's room and Pop's.

use super::colors::Ink;
use super::glyphs::LOCK;
use super::parts::{DASHED_TOKEN, HEAD, STRONG, Side};
use super::pen::{Area, At, Pen, area, count, measure, mono, sans};
use crate::anchor::Anchor;
use crate::rows::density::{Field, is_queue_dense};
use crate::rows::pop::{self, PoppedRow};
use crate::rows::queue::fit::{self, Form, Space};
use crate::rows::queue::{self, ColumnRow, CrateRow, EntryRow, QueueRows};
use crate::stage::Panel;
use crate::strings;
use deltascope_cache::delta::DeltaType;
use deltascope_replay::picture::QueueKind;

/// The line with the keys below their stacks.
const BELT: i32 = 42;
/// The same without keys, and with words on how to read it.
const FLAT: i32 = 14;
const WORDS: i32 = 28;
/// A narrower room of few has slim tokens, as in board/queue.rs.
const SLIM_ROOM: i32 = 330;

fn size(number: i32) -> usize {
    number.max(0) as usize
}

pub(super) fn queue(pen: &mut Pen, a: Area, unused: bool) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let flat = view.picture.queue.kind == QueueKind::RealFifo;
    let mut under = if flat { FLAT } else { BELT };
    let few = !pen.options.panels.is_empty();
    let mut room = fit::Room {
        width: a.w,
        height: a.h - HEAD - under,
        // As in an element of this width.
        slim: few && !flat && a.w < SLIM_ROOM,
        lined: false,
    };
    let mut space = fit::space(view, room);
    if space.form == Form::Compact {
        // The keys are beside their deltas.
        let stacks = view.picture.queue.kind == QueueKind::DeltaFifo;
        under = if stacks { WORDS } else { FLAT };
        room.height = a.h - HEAD - under;
        space = fit::space(view, room);
    }
    let belt = !flat && space.form == Form::Full;
    let rows = queue::rows(view, &space);
    let length = match rows.kind {
        QueueKind::RealFifo => strings::entries(lang, rows.deltas),
        QueueKind::Fifo => strings::places(lang, rows.keys, rows.deltas),
        QueueKind::DeltaFifo => strings::queued(lang, rows.keys, rows.deltas),
    };
    let flags = [(rows.synced, "✓ HasSynced"), (rows.closed, words.closed)];
    let telling = pen.telling;
    let flags = flags.iter().filter(|(on, _)| *on && !unused && !telling);
    let mut sides: Vec<Side> = flags.map(|(_, name)| Side::Flag(name)).collect();
    if !unused {
        sides.push(Side::Count(&length));
    }
    let kind = rows.kind.id();
    // A story speaks of a queue, before it says of which kind.
    let title = [strings::room(lang, Panel::Queue), " · ", kind].concat();
    let y = a.y + pen.head(a, if telling { &title } else { kind }, &sides);
    if unused {
        return y + pen.empty(a.below(y), words.unused) - a.y;
    }
    if is_queue_dense(&view.picture) {
        return y + pen.field(area(a.x, y, a.w, 220), Field::Queue, words.queued) - a.y;
    }
    let places = places(&space, &rows);
    let tallest = places.iter().map(|place| place.1 + place.2).max();
    let needed = HEAD + tallest.unwrap_or_default().max(96) + under;
    let floor = pen.floor.max(a.y + needed) - under + 10;
    if rows.keys == 0 && rows.deltas == 0 {
        let at = area(a.x, floor - 90, a.w, 82);
        pen.empty_slot(at, words.empty_queue);
    }
    pen.line(a.x, floor, a.w, 0, Ink::WIRE, " stroke-width=\"2\"");
    if under == WORDS {
        let of = sans(115, Ink::INK_3);
        pen.text(a.right(), floor + 11, a.w, At::End, words.oldest_right, of);
    }
    let ground = floor - 10;
    let at = |(column, lift, high): (i32, i32, i32)| {
        let x = a.right() - space.each - column * (space.each + space.gap);
        area(x, ground - lift - high, space.each, high)
    };
    let mut places = places.into_iter().map(at);
    for (column, at) in rows.columns.iter().zip(&mut places) {
        if belt {
            let oldest = area(at.x, ground - space.high, at.w, space.high);
            stack(pen, oldest, column, &space);
            key(
                pen,
                area(at.x, floor + 8, at.w, 20),
                column,
                space.small > 0,
            );
        } else {
            line(pen, at, column, &space);
        }
    }
    for (entry, at) in rows.entries.iter().zip(&mut places) {
        let w = match entry.crate_of {
            Some(_) => space.across(),
            None => at.w,
        };
        self::entry(pen, area(at.right() - w, at.y, w, at.h), entry, &space);
    }
    if let Some(at) = places.next() {
        pen.more(at, rows.hidden_keys + rows.hidden_entries, rows.hidden_lit);
    }
    needed
}

/// The places of what is shown, one behind the other, and then that of `+N`: each with its column from the right,
/// and its bottom and its height over the ground.
fn places(space: &Space, rows: &QueueRows) -> Vec<(i32, i32, i32)> {
    let pitch = space.high + space.above;
    let height = |lines: usize| count(lines.max(1)) * pitch - space.above;
    let mut places = Vec::new();
    let more = (rows.hidden_keys + rows.hidden_entries > 0).then_some(1);
    if rows.kind == QueueKind::RealFifo {
        let size = |entry: &EntryRow| match &entry.crate_of {
            Some(list) => (space.columns, space.crate_high(list.lines)),
            None => (1, space.high),
        };
        let more = more.map(|wide| (wide, space.high));
        let (mut lift, mut used, mut highest) = (0, 0, 0);
        for (wide, high) in rows.entries.iter().map(size).chain(more) {
            if used + wide > space.columns {
                (lift, used, highest) = (lift + highest + space.above, 0, 0);
            }
            places.push((count(used), lift, high));
            used += wide;
            highest = highest.max(high);
        }
        return places;
    }
    let high = |column: &ColumnRow| column.stack.shown.len() + usize::from(column.stack.hidden > 0);
    if space.form == Form::Full {
        let column = |(place, column)| (place, 0, height(high(column)));
        return (0..).zip(&rows.columns).map(column).collect();
    }
    let (mut column, mut used) = (0, 0);
    let needed = rows
        .columns
        .iter()
        .map(|row| high(row).div_ceil(space.in_line()).max(1));
    for needed in needed.chain(more) {
        if used + needed > space.lines {
            (column, used) = (column + 1, 0);
        }
        places.push((column, count(used) * pitch, height(needed)));
        used += needed;
    }
    places
}

/// A key's line: its name, and its deltas to the left of it, the oldest first.
fn line(pen: &mut Pen, a: Area, column: &ColumnRow, space: &Space) {
    let bottom = a.bottom() - space.high;
    let label = area(a.right() - space.label, bottom, space.label, space.high);
    let of = mono(115, Ink::INK).bold_if(column.lit);
    pen.mark(label.x, label.middle(), 9, column.mark);
    let mut w = label.w - 14;
    if column.place == 0 {
        w -= 12;
        let of = mono(115, Ink::INK_3);
        pen.text(a.right(), label.middle(), 12, At::End, "→", of);
    }
    pen.name(label.x + 14, label.middle(), w, &column.name, of);
    let right = label.x - Space::LABEL_GAP;
    if column.stack.shown.is_empty() {
        let at = area(a.x, bottom, right - a.x, space.high);
        gone(pen, at, column);
    }
    let (side, mut place) = (space.small + Space::SMALL_GAP, 0);
    let mut next = || {
        let in_line = count(space.in_line());
        let (line, column) = (place / in_line, place % in_line);
        place += 1;
        let x = right - space.small - column * side;
        let y = bottom - line * (space.high + space.above);
        area(x, y, space.small, space.high)
    };
    for row in &column.stack.shown {
        pen.small_delta(next(), row);
        if row.index == 0 && column.stack.hidden > 0 {
            pen.more(next(), column.stack.hidden, false);
        }
    }
}

/// The place of a key whose object is not there.
fn gone(pen: &mut Pen, a: Area, column: &ColumnRow) {
    pen.slot(a, column.lit);
    let gone = match column.again {
        true => pen.words.object_ahead,
        false => pen.words.object_gone,
    };
    let of = sans(115, Ink::INK_2);
    pen.text(a.x + a.w / 2, a.middle(), a.w - 8, At::Middle, gone, of);
}

/// The stack of a key; `a` is the place of its oldest delta.
fn stack(pen: &mut Pen, mut a: Area, column: &ColumnRow, space: &Space) {
    let pitch = space.high + space.above;
    if column.stack.shown.is_empty() {
        gone(pen, a, column);
    }
    for row in &column.stack.shown {
        let size = match a.w {
            ..104 => 110,
            104..110 => 115,
            _ => 120,
        };
        if space.small > 0 {
            pen.small_delta(a, row);
        } else {
            pen.delta(a, row, size);
        }
        a.y -= pitch;
        if row.index == 0 && column.stack.hidden > 0 {
            pen.more(a, column.stack.hidden, false);
            a.y -= pitch;
        }
    }
}

/// The name of a key and its place, centred. Below a `narrow` stack that of the next key is in a second line.
fn key(pen: &mut Pen, a: Area, column: &ColumnRow, narrow: bool) {
    let of = mono(120, Ink::INK).bold_if(column.lit);
    let small = sans(110, Ink::INK_3);
    let place = strings::place(pen.options.lang, column.place);
    let side = if narrow {
        0
    } else {
        measure(&place, small) + 6
    };
    let w = measure(&column.name, of).min(a.w - side - 15);
    let x = a.x + (a.w - w - side - 15) / 2;
    let cy = a.middle();
    pen.mark(x, cy, 9, column.mark);
    let w = pen.name(x + 15, cy, w, &column.name, of);
    if !narrow {
        pen.text(x + 15 + w + 6, cy, side, At::Start, &place, small);
    } else if column.place == 0 {
        pen.text(a.x + a.w / 2, cy + 14, a.w, At::Middle, &place, small);
    }
}

/// An entry of a RealFIFO.
fn entry(pen: &mut Pen, a: Area, row: &EntryRow, space: &Space) {
    let ink = Ink::of(row.delta_type);
    pen.raw(&["<g>"]);
    let boxed = row.crate_of.as_ref();
    let lang = pen.options.lang;
    let objects = boxed.map(|list| list.count);
    pen.title(&strings::entry(
        lang,
        row.delta_type.as_str(),
        objects,
        row.tombstone,
    ));
    if boxed.is_some() && !row.lit && space.form == Form::Full {
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
    if space.form == Form::Compact {
        entry_line(pen, a, row);
        pen.raw(&["</g>"]);
        return;
    }
    let whole = row.name.is_empty();
    if whole {
        pen.rect(a.inset(3, 3), 6, Ink::NONE, ink, "");
    }
    let (x, w) = (a.x + 8, a.w - 16);
    let cy = a.y + 16;
    pen.glyph(x - 2, cy, row.delta_type, ink);
    let question = if row.tombstone { "?" } else { "" };
    let name = [row.delta_type.as_str(), question].concat();
    let of = mono(if name.len() > 9 { 110 } else { 120 }, ink);
    let plain = mono(120, Ink::INK);
    if let Some(list) = boxed {
        // The type and the number of objects, and then their names.
        let x = x + 15;
        let name = pen.text(x, cy, w - 15, At::Start, &name, of);
        let number = list.count.to_string();
        pen.text(x + name + 8, cy, 60, At::Start, &number, plain.bold());
        let right = version(pen, a.right() - 8, cy, row);
        let place = strings::place(lang, row.place);
        pen.text(right, cy, 60, At::End, &place, sans(110, Ink::INK_3));
        listed(pen, area(a.x + 8, a.y + 27, w, a.h - 32), list);
        pen.raw(&["</g>"]);
        return;
    }
    pen.text(x + 15, cy, w - 15, At::Start, &name, of);
    let cy = a.y + 35;
    if whole {
        pen.text(x, cy, w, At::Start, &about(pen, row), plain);
    } else {
        pen.mark(x, cy, 9, row.mark);
        pen.name(x + 15, cy, w - 15, &row.name, plain);
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

/// An entry that is a line high: its glyph, its objects and its version.
fn entry_line(pen: &mut Pen, a: Area, row: &EntryRow) {
    let (cy, of) = (a.middle(), mono(110, Ink::INK));
    pen.small_glyph(a.x + 5, cy, row.delta_type, Ink::of(row.delta_type));
    let right = version(pen, a.right() - 6, cy, row);
    let mut x = a.x + 20;
    if let Some(list) = &row.crate_of {
        x += pen.text(x, cy, 40, At::Start, &list.count.to_string(), of.bold()) + 8;
        listed(pen, area(x, a.y, right - x, a.h), list);
    } else if row.name.is_empty() {
        pen.text(x, cy, right - x, At::Start, &about(pen, row), of);
    } else {
        pen.mark(x, cy, 8, row.mark);
        let question = if row.tombstone { "?" } else { "" };
        let name = [&*row.name, question].concat();
        pen.name(x + 11, cy, right - x - 11, &name, of);
    }
}

/// The version of an entry, which ends at `right`. Returns where there is room again.
fn version(pen: &mut Pen, right: i32, cy: i32, row: &EntryRow) -> i32 {
    if row.delta_type == DeltaType::Bookmark || row.rv.short.is_empty() {
        return right;
    }
    let of = mono(110, Ink::INK_2);
    right - pen.text(right, cy, 60, At::End, &row.rv.short, of) - 8
}

/// What an entry says that has no object of its own.
fn about(pen: &Pen, row: &EntryRow) -> String {
    match row.delta_type {
        DeltaType::SyncAll => pen.words.whole_store.to_owned(),
        _ => ["rv ", &row.rv.short].concat(),
    }
}

/// The objects of a whole list, as many as fit, in lines of 17 px.
fn listed(pen: &mut Pen, a: Area, list: &CrateRow) {
    let of = mono(110, Ink::INK);
    let (mut x, mut cy) = (a.x, a.y + 8.max(a.h.min(22) / 2));
    for (mark, name) in &list.named {
        let wide = (measure(name, of) + 20).min(a.w);
        if x > a.x && x + wide > a.right() + 8 && cy + 17 <= a.bottom() {
            (x, cy) = (a.x, cy + 17);
        }
        pen.mark(x, cy, 8, *mark);
        pen.name(x + 11, cy, (a.right() - x - 11).min(wide), name, of);
        x += wide;
    }
    if list.hidden() > 0 {
        let more = ["+", &list.hidden().to_string()].concat();
        pen.text(
            x,
            cy,
            a.right() - x,
            At::Start,
            &more,
            mono(110, Ink::INK_2),
        );
    }
}

pub(super) fn pop(pen: &mut Pen, a: Area, unused: bool) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let rows = pop::rows(view, 6);
    let mode = strings::mode(lang, rows.mode);
    let flag = [Side::Flag(mode)];
    let flag = if unused || pen.plain { &[][..] } else { &flag };
    let mut y = a.y + pen.head(a, "Pop", flag);
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
    if pen.telling {
        locks.clear();
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
        let of = mono(if more.is_empty() { 115 } else { 110 }, ink);
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
    // Above the box: it would cover what failed.
    let above = area(a.x, a.y, a.w, y - 20 - a.y);
    pen.droppable.push((Anchor::Room(Panel::Pop), above));
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
