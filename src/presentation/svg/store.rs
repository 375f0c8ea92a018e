//! The Indexer's room.

use super::colors::Ink;
use super::parts::{HEAD, STRONG, SUB, Side, TAGS, Tag, version};
use super::pen::{Area, At, Pen, area, count, measure, mono, sans, wrap};
use crate::rows::beside::{self, BesideRows};
use crate::rows::density::Field;
use crate::rows::store::{self, Change, IndexRow, StoreRows, ValueRow};
use crate::strings;

/// The height of an item, with its gap.
const ITEM: i32 = 30;
/// The height of an index query, with its answer.
const QUERY: i32 = 81;
/// A value has at most this many lines of tags.
const LINES: i32 = 3;
/// The height of the name of an index.
const NAME: i32 = 20;

/// Removes unchanged rows from the end until `places` are left. Returns how many rows it removed.
fn thin<T>(rows: &mut Vec<T>, places: usize, changes: &dyn Fn(&T) -> bool) -> usize {
    let all = rows.len();
    while rows.len() > places.max(1) {
        let at = rows.iter().rposition(|row| !changes(row));
        rows.remove(at.unwrap_or(rows.len() - 1));
    }
    all - rows.len()
}

pub(super) fn indexer(pen: &mut Pen, a: Area) -> i32 {
    let (view, words, lang) = (pen.view, pen.words, pen.options.lang);
    let rows = store::rows(view);
    if !rows.present {
        let y = a.y + pen.head(a, "Indexer", &[]);
        return y + pen.empty(a.below(y), words.no_store) - a.y;
    }
    let behind = strings::behind(lang, rows.behind);
    let narrow = a.w < 250;
    let rest = if narrow || behind.is_empty() {
        String::new()
    } else {
        [" · ", &behind].concat()
    };
    let before = strings::last_written(lang, view.lesson.keeps_rv);
    let gauge = [Side::Gauge(&rows.rv, &rest, before)];
    pen.head(a, "Indexer", &gauge);
    if narrow {
        let of = mono(115, Ink::INK_3);
        pen.text(a.right(), a.y + HEAD + 7, a.w - 60, At::End, &behind, of);
    }
    let top = a.y + HEAD;
    let below = beside::rows(view);
    let stores = below.as_ref().map_or(0, |rows| rows.stores.len());
    let beside_high = below
        .as_ref()
        .map_or(0, |_| 30 + (2 + count(stores)) * TAGS);
    let two = a.w >= 300;
    let items_w = if two { (a.w * 2 / 5).min(130) } else { a.w };
    let tree_w = if two { a.w - items_w - 14 } else { a.w };
    let wide = area(a.x, 0, tree_w, 0);
    let mut indices = rows.indices.clone();
    // The query is shown only if the whole tree fits, too.
    let whole = tree_high(pen, wide, &indices, LINES) + HEAD + SUB;
    let asks = two && !pen.telling && !indices.is_empty() && whole + QUERY + beside_high <= a.h;
    let bottom = a.bottom() - beside_high - if asks { QUERY } else { 0 };

    // The items.
    pen.sub(a.x, top, if narrow { 56 } else { items_w }, words.items);
    let mut y = top + SUB;
    let high = if two { bottom - y } else { (bottom - y) / 2 };
    y += items(pen, area(a.x, y, items_w, high), &rows, two || a.w < 200);

    // The indices.
    let tree = match two {
        true => area(a.x + items_w + 14, top, tree_w, bottom - top),
        false => area(a.x, y + 8, a.w, bottom - y - 8),
    };
    let mut tree_y = tree.y + pen.sub(tree.x, tree.y, tree.w, words.indices);
    if rows.indices.is_empty() {
        tree_y += pen.empty(tree.below(tree_y), words.no_indices);
    }
    let most = fit(pen, wide, &mut indices, tree.bottom() - tree_y);
    for index in &indices {
        tree_y = self::index(pen, tree.below(tree_y), index, most);
    }
    y = y.max(tree_y);

    if asks {
        query(pen, a.below(y + 16));
        y += QUERY;
    }
    if let Some(below) = below {
        y += 8;
        y += others(pen, a.below(y), &below);
    }
    y - a.y
}

/// The items that fit, in `one` column or two. Returns their height.
fn items(pen: &mut Pen, a: Area, rows: &StoreRows, one: bool) -> i32 {
    let mut y = a.y;
    let columns = if one { 1 } else { 2 };
    let w = (a.w - (columns - 1) * 6) / columns;
    let mut items = rows.items.clone();
    let places = (a.h / ITEM).max(2) * columns;
    let mut hidden = rows.hidden;
    if count(items.len()) > places {
        let places = (places - 1) as usize;
        hidden += thin(&mut items, places, &|row| row.change != Change::None);
    }
    if rows.dense {
        let field = area(a.x, y, a.w, a.h.min(190));
        y += pen.field(field, Field::Items, pen.words.items) + 8;
    }
    for (place, row) in (0..).zip(&items) {
        let x = a.x + place % columns * (w + 6);
        let at = area(x, y + place / columns * ITEM, w, ITEM - 4);
        let differs = version(row.freshness, &row.rv, &row.server);
        let rv = differs.as_ref().unwrap_or(&row.rv.short);
        pen.object(at, (row.mark, &row.name, rv), row.change, row.freshness);
    }
    let mut shown = count(items.len());
    if hidden > 0 {
        let x = a.x + shown % columns * (w + 6);
        pen.more(
            area(x, y + shown / columns * ITEM, w, ITEM - 4),
            hidden,
            false,
        );
        shown += 1;
    }
    y += (shown + columns - 1) / columns * ITEM;
    if items.is_empty() && !rows.dense {
        let at = area(a.x, y, a.w, 60);
        pen.empty_slot(at, pen.words.empty_store);
        y += 68;
    }
    y - a.y
}

/// Makes indices fit into this height. Returns how many lines of tags a value may have.
fn fit(pen: &mut Pen, wide: Area, indices: &mut Vec<IndexRow>, high: i32) -> i32 {
    let changes = |row: &ValueRow| row.tags.iter().any(|tag| tag.change != Change::None);
    // Unchanged rows give way: first lines of tags, then values, then whole indices.
    let mut most = LINES;
    while tree_high(pen, wide, indices, most) > high {
        let count = indices.len();
        let longest = indices.iter_mut().max_by_key(|index| index.values.len());
        let length = longest.as_ref().map_or(0, |index| index.values.len());
        match longest {
            _ if most > 1 && (most > 2 || length < 3) => most -= 1,
            Some(longest) if length > 1 => {
                longest.hidden += thin(&mut longest.values, length - 1, &changes);
            }
            Some(_) if count > 1 => {
                thin(indices, count - 1, &|index| {
                    index.values.iter().any(changes)
                });
            }
            _ => break,
        }
    }
    most
}

/// An index query, with its answer.
fn query(pen: &mut Pen, a: Area) {
    let y = a.y + pen.sub(a.x, a.y, a.w, pen.words.query) - 2;
    let (index, of) = store::first_query(pen.view, None);
    let answer = store::query(&pen.view.picture, &index, &of).unwrap_or_else(|error| error);
    let plain = mono(120, Ink::INK);
    let asked = ["IndexKeys(\"", &index, "\", \"", &of, "\") → "].concat();
    let lines = wrap(&[(&asked, plain), (&answer, plain)], a.w - 16);
    let high = count(lines.len()).min(2) * 17 + 7;
    pen.rect(area(a.x, y, a.w, high), 8, Ink::NONE, Ink::LINE, "");
    pen.lines(
        area(a.x + 8, y + 3, a.w - 16, high),
        17,
        At::Start,
        &lines,
        2,
    );
}

/// What the other informers of the program keep. Returns its height.
fn others(pen: &mut Pen, a: Area, below: &BesideRows) -> i32 {
    let lang = pen.options.lang;
    let mut y = a.y;
    pen.line(a.x, y, a.w, 0, Ink::LINE, "");
    y += 6;
    y += pen.sub(a.x, y, a.w, pen.words.beside);
    for shared in [true, false] {
        let Some((informers, text)) = below.sum(shared) else {
            continue;
        };
        let label = strings::informers(lang, informers, shared);
        pen.tagged(area(a.x, y, a.w, TAGS), &label, &[], 0);
        let x = 92.min(a.w * 2 / 5);
        pen.text(
            a.x + x,
            y + 9,
            a.w - x,
            At::Start,
            &text,
            mono(115, Ink::INK),
        );
        y += TAGS;
    }
    for kept in &below.stores {
        let label = strings::informer_store(lang, kept.number);
        y += pen.tagged(area(a.x, y, a.w, TAGS), &label, &kept.objects, kept.hidden);
    }
    y - a.y
}

/// The height of the tree with at most `most` lines of tags per value.
fn tree_high(pen: &mut Pen, a: Area, indices: &[IndexRow], most: i32) -> i32 {
    let mut high = 0;
    for index in indices {
        let more = index.hidden > 0 || index.values.is_empty();
        high += NAME + 4 + if more { NAME } else { 0 };
        for row in &index.values {
            high += value(pen, a, row, most, None);
        }
    }
    high
}

/// An index with its values. Returns its bottom edge.
fn index(pen: &mut Pen, a: Area, row: &IndexRow, most: i32) -> i32 {
    let of = mono(123, Ink::INK);
    pen.text(a.x, a.y + 9, 14, At::Start, "▾", of);
    pen.text(a.x + 16, a.y + 9, a.w - 16, At::Start, &row.name, of);
    let mut y = a.y + NAME;
    for (place, one) in row.values.iter().enumerate() {
        let high = value(pen, a, one, most, Some(y));
        // The elbow to the value, and the line on to the next one.
        let up = if place == 0 {
            "M6 -3v6q0 6 6 6h3"
        } else {
            "M6 0v3q0 6 6 6h3"
        };
        pen.path(a.x, y, up, Ink::NONE, Ink::WIRE, STRONG);
        if place + 1 < row.values.len() {
            pen.line(a.x + 6, y, 0, high, Ink::WIRE, STRONG);
        }
        y += high;
    }
    let words = pen.words;
    let text = match (row.hidden, row.values.is_empty()) {
        (0, false) => return y + 4,
        (0, true) => words.empty_store.to_owned(),
        (hidden, _) => strings::more(pen.options.lang, hidden),
    };
    pen.text(
        a.x + 20,
        y + 8,
        a.w - 20,
        At::Start,
        &text,
        sans(120, Ink::INK_3),
    );
    y + NAME
}

/// A value with its set of keys at the height `y`; without one it is only measured. Returns its height.
fn value(pen: &mut Pen, a: Area, row: &ValueRow, most: i32, y: Option<i32>) -> i32 {
    let of = mono(123, Ink::INK);
    let label = if row.value.is_empty() {
        "\"\""
    } else {
        &*row.value
    };
    let w = measure(label, of).min((a.w - 20) * 2 / 5);
    let tags: Vec<Tag> = row
        .tags
        .iter()
        .map(|tag| Tag {
            mark: tag.mark,
            name: &tag.name,
            note: "",
            change: tag.change,
        })
        .collect();
    // The keys that are not listed are only counted.
    let listed = row
        .tags
        .iter()
        .filter(|tag| tag.change != Change::Out)
        .count();
    let hidden = row.count.saturating_sub(listed);
    let to = area(a.x + 20 + w + 7, y.unwrap_or_default(), a.w - 27 - w, TAGS);
    let Some(y) = y else {
        return pen.measured(|pen| pen.tags(to, &tags, hidden, most));
    };
    pen.text(a.x + 20, y + 9, w, At::Start, label, of);
    pen.tags(to, &tags, hidden, most)
}
