//! How many tokens fit into the queue's room, and in which form: the same on the page and in a picture.

use super::is_wide;
use crate::view::View;
use deltascope_cache::fact::Entry;
use deltascope_replay::picture::{QueueKind, QueueRoom};

/// A full token: its width with a long version, in a narrow room and in a slim one, each with the gap beside it.
const EACH: (i32, i32) = (110, 11);
const EACH_NARROW: (i32, i32) = (104, 8);
const EACH_SLIM: (i32, i32) = (90, 6);
const WIDE: i32 = 140;
/// Stacks get narrower before they turn into lines. The least width of a delta with its type, and of one without, with a
/// long version too, and the gap beside it.
const WORDED: i32 = 96;
const NARROWEST: i32 = 50;
const NARROWEST_WIDE: i32 = 64;
const NARROW_GAP: i32 = 6;
/// A room in which three tokens of the usual width do not fit is narrow.
const NARROW_ROOM: i32 = 352;
/// A full delta and a full entry: the height, and the gap above it.
const DELTA: (i32, i32) = (29, 6);
const ENTRY: (i32, i32) = (66, 14);
/// A compact token: its width, with a long version too, and the gap beside it.
const SMALL: i32 = 46;
const SMALL_WIDE: i32 = 60;
const SMALL_GAP: i32 = 4;
/// The least width of a key's name beside its deltas.
const LABEL: i32 = 54;
/// A line of compact tokens: the height, and the gap above it. The lower one is for long queues.
const LINES: [(i32, i32); 2] = [(22, 4), (18, 2)];
/// The gap between two columns of lines.
const BETWEEN: i32 = 14;
/// What a letter of a listed name takes, and its mark with the gaps.
const LETTER: i32 = 7;
const MARK: i32 = 20;
/// What `+N` takes behind the names.
const MORE: i32 = 34;
/// A line of names; a whole list has at least two of them, and at most six, if there is room.
const NAMES: i32 = 17;
const NAMING: usize = 2;
const MOST_NAMING: usize = 6;
/// A stack shows no fewer deltas.
const LEAST: usize = 3;

/// The form of the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Over each key a stack of deltas, with their types where there is room; entries are boxes.
    #[default]
    Full,
    /// For each key a line of glyphs and versions; an entry is a line high.
    Compact,
}

/// The room for the tokens, in the design's px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// It is one of few rooms in little width.
    pub slim: bool,
    /// The keys were in lines before. They stay so until the queue is empty: a queue that is about as long as the room
    /// is wide would turn with each Pop.
    pub lined: bool,
}

/// What fits into a room. Lengths are in the design's px.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Space {
    /// The form of the tokens.
    pub form: Form,
    /// The width of a column of deltas or of lines, or of an entry.
    pub each: i32,
    /// The gap beside it.
    pub gap: i32,
    /// The height of a delta, of an entry or of a line.
    pub high: i32,
    /// The gap above it.
    pub above: i32,
    /// The width of a delta that shows only its glyph and its version, or 0.
    pub small: i32,
    /// Compact: the width of a key's name.
    pub label: i32,
    /// How many columns there are.
    pub columns: usize,
    /// How many lines a column has.
    pub lines: usize,
    /// How many deltas of a key are shown at most.
    pub depth: usize,
    /// How many lines a whole list has for its names.
    pub naming: usize,
    /// How many keys or entries are shown; if there are more, `+N` fits behind them.
    pub shown: usize,
}

impl Space {
    /// The gap between two compact deltas.
    pub(crate) const SMALL_GAP: i32 = SMALL_GAP;
    /// The gap between a key's name and its deltas.
    pub(crate) const LABEL_GAP: i32 = 6;

    /// The width of all columns.
    #[must_use]
    pub fn across(&self) -> i32 {
        px(self.columns) * (self.each + self.gap) - self.gap
    }

    /// Whether the keys are in lines.
    #[must_use]
    pub fn is_lined(&self) -> bool {
        self.form == Form::Compact && self.label > 0
    }

    /// How many compact deltas fit beside a key's name.
    #[must_use]
    pub fn in_line(&self) -> usize {
        let beside = self.each - self.label - Self::LABEL_GAP;
        fit(beside, self.small, SMALL_GAP).max(1)
    }

    /// How many of these names, of so many letters each, a whole list's entry shows, and in how many lines. `+N`
    /// fits behind them.
    #[must_use]
    pub(super) fn listed(&self, letters: impl ExactSizeIterator<Item = usize>) -> (usize, usize) {
        let width = match self.form {
            Form::Full => self.across() - 18,
            // Beside the glyph, the count and the version.
            Form::Compact => self.across() - 110,
        };
        let (all, mut left, mut lines, mut shown) = (letters.len(), width, 1, 0);
        for letters in letters {
            let wide = (px(letters) * LETTER + MARK).min(width);
            if wide > left && lines < self.naming {
                (left, lines) = (width, lines + 1);
            }
            // Only the last line holds `+N`.
            let is_last = lines == self.naming && shown + 1 < all;
            let needed = (wide + if is_last { MORE } else { 0 }).min(width);
            if needed > left {
                break;
            }
            left -= wide;
            shown += 1;
        }
        (shown, lines)
    }

    /// The height of a whole list's entry with so many lines of names.
    #[must_use]
    pub(crate) fn crate_high(&self, lines: usize) -> i32 {
        match self.form {
            Form::Full => self.high + px(lines.saturating_sub(NAMING)) * NAMES,
            Form::Compact => self.high,
        }
    }
}

/// How many boxes of `each` px fit into `length`.
fn fit(length: i32, each: i32, gap: i32) -> usize {
    usize::try_from((length + gap) / (each + gap)).unwrap_or_default()
}

fn px(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / 1_000)
}

/// What of the queue fits into `room`.
#[must_use]
pub fn space(view: &View, room: Room) -> Space {
    let queue = &view.picture.queue;
    let wide = is_wide(view);
    let (mut each, mut gap) = match (room.slim, room.width < NARROW_ROOM) {
        (true, _) => EACH_SLIM,
        (false, true) => EACH_NARROW,
        (false, false) => EACH,
    };
    if wide {
        each = WIDE;
    }
    let mut columns = fit(room.width, each, gap).max(1);
    let mut small = 0;
    let keys = queue.keys.len();
    if queue.kind != QueueKind::RealFifo && keys > columns && !room.slim {
        let narrow = (room.width + NARROW_GAP) / px(keys) - NARROW_GAP;
        let (worded, least) = match wide {
            true => (WIDE, NARROWEST_WIDE),
            false => (WORDED, NARROWEST),
        };
        if narrow >= least {
            (each, gap, columns) = (narrow, NARROW_GAP, keys);
            small = if narrow < worded { narrow } else { 0 };
        }
    }
    let highest = queue
        .deltas
        .values()
        .map(Vec::len)
        .max()
        .unwrap_or_default();
    // In a low room, so that the newest delta does not stand over the heading.
    let (high, above) = match fit(room.height, DELTA.0, DELTA.1) {
        depth if depth < LEAST && depth < highest => LINES[1],
        _ => DELTA,
    };
    let full = Space {
        each,
        gap,
        high,
        above,
        small,
        columns,
        depth: fit(room.height, high, above).max(LEAST),
        shown: queue.keys.len(),
        ..Space::default()
    };
    if queue.kind == QueueKind::RealFifo {
        entries(queue, room, full)
    } else if keys == 0 || (keys <= columns && !room.lined) {
        full
    } else {
        lines(queue, room, if wide { SMALL_WIDE } else { SMALL })
    }
}

/// The form in which all entries fit, else the one in which most do.
fn entries(queue: &QueueRoom, room: Room, full: Space) -> Space {
    // A whole list has a line of its own.
    let cost = |entry: &Entry| match entry {
        Entry::ReplacedAll { .. } => full.columns,
        Entry::Delta(..) | Entry::SyncAll | Entry::Bookmark { .. } => 1,
    };
    let count = queue.entries.len();
    let lists = queue
        .entries
        .iter()
        .filter(|entry| matches!(entry, Entry::ReplacedAll { .. }))
        .count();
    let boxes = Boxes {
        count,
        each: &|place| queue.entries.get(place).map_or(1, cost),
        largest: if lists > 0 { full.columns } else { 1 },
    };
    let forms = [(Form::Full, ENTRY)]
        .into_iter()
        .chain(LINES.map(|line| (Form::Compact, line)));
    let mut space = full;
    let mut rows = 0;
    for (form, (high, above)) in forms {
        let lines = fit(room.height, high, above).max(1);
        let (shown, used) = boxes.packed(lines, full.columns);
        space = Space {
            form,
            high,
            above,
            lines,
            shown,
            ..full
        };
        rows = used;
        if shown == count {
            break;
        }
    }
    space.naming = 1;
    if space.form == Form::Full {
        let spare = room.height + space.above - px(rows) * (space.high + space.above);
        let more = fit(spare, NAMES, 0) / lists.max(1);
        space.naming = (NAMING + more).min(MOST_NAMING);
    }
    space
}

/// The lines in which all keys and deltas fit, else those in which most do.
fn lines(queue: &QueueRoom, room: Room, small: i32) -> Space {
    let count = queue.keys.len();
    let deltas = |place| {
        let key = queue.keys.get(place);
        let deltas = key.and_then(|key| queue.deltas.get(key));
        deltas.map_or(1, |deltas| deltas.len().max(1))
    };
    let highest = queue.deltas.values().map(Vec::len).max();
    let highest = highest.unwrap_or_default().max(1);
    let most = highest.max(LEAST);
    let mut best = (0, 0);
    let mut found = Space::default();
    for (columns, (high, above)) in [(1, LINES[0]), (1, LINES[1]), (2, LINES[1]), (3, LINES[1])] {
        let each = (room.width - BETWEEN * (px(columns) - 1)) / px(columns);
        let mut space = Space {
            form: Form::Compact,
            each,
            gap: BETWEEN,
            high,
            above,
            small,
            label: LABEL,
            columns,
            lines: fit(room.height, high, above).max(1),
            ..Space::default()
        };
        let (in_line, lines) = (space.in_line(), space.lines);
        // The name gets what the deltas leave.
        space.label = each - Space::LABEL_GAP - px(in_line) * (small + SMALL_GAP) + SMALL_GAP;
        if columns > 1 && in_line < 2 {
            break;
        }
        // A higher stack takes further lines, as long as there are any in its column.
        let least = LEAST.div_ceil(in_line);
        for high in (least..=most.div_ceil(in_line).min(lines.max(least))).rev() {
            space.depth = high * in_line;
            let cost = |deltas: usize| deltas.min(space.depth).div_ceil(in_line).min(lines);
            let boxes = Boxes {
                count,
                each: &|place| cost(deltas(place)),
                largest: cost(highest),
            };
            (space.shown, _) = boxes.packed(columns, lines);
            if space.shown == count {
                break;
            }
        }
        let shown = (0..space.shown).map(deltas);
        let score = (
            space.shown,
            shown.map(|deltas| deltas.min(space.depth)).sum(),
        );
        if score > best {
            (best, found) = (score, space);
        }
        if space.shown == count && space.depth >= highest {
            break;
        }
    }
    found
}

/// Boxes that stand in rows, one behind the other.
struct Boxes<'a> {
    count: usize,
    /// The length of the box at a place.
    each: &'a dyn Fn(usize) -> usize,
    /// The length of the largest.
    largest: usize,
}

impl Boxes<'_> {
    /// How many fit into `most` rows of this length, and in how many rows: all, or as many as leave room for `+N` when
    /// the largest box takes the last place. Looks at no more boxes than fit: there may be thousands.
    fn packed(&self, most: usize, length: usize) -> (usize, usize) {
        let put = |(row, used): (usize, usize), one| match used + one > length {
            true => (row + 1, one),
            false => (row, used + one),
        };
        let (mut end, mut shown) = ((1, 0), 1);
        for place in 0..self.count {
            if put(put(end, self.largest), 1).0 <= most {
                shown = place + 1;
            }
            end = put(end, (self.each)(place));
            if end.0 > most {
                return (shown, most);
            }
        }
        (self.count, end.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{object, updates, view};
    use super::*;
    use deltascope_cache::delta::DeltaType;
    use deltascope_replay::picture::Picture;

    /// The rooms of the page at 1440 by 900, at 1280 by 720, on a phone, and in an element.
    const DESKTOP: Room = room(354, 325);
    const LAPTOP: Room = room(431, 200);
    const PHONE: Room = room(344, 330);
    const ELEMENT: Room = Room {
        slim: true,
        ..room(220, 240)
    };

    const fn room(width: i32, height: i32) -> Room {
        Room {
            width,
            height,
            slim: false,
            lined: false,
        }
    }

    fn queued(stacks: &[usize]) -> View {
        let mut picture = Picture::default();
        for (number, deltas) in stacks.iter().enumerate() {
            let key = format!("default/pod-{number}");
            picture.queue.keys.push_back(key.as_str().into());
            let deltas = updates(&key, *deltas);
            picture.queue.deltas.insert(key.as_str().into(), deltas);
        }
        view(picture, Vec::new())
    }

    fn listed(list: usize, entries: usize) -> View {
        let mut picture = Picture::default();
        picture.queue.kind = QueueKind::RealFifo;
        let objects = (0..list).map(|n| object(&format!("default/pod-{n}"), "1"));
        if list > 0 {
            picture.queue.entries.push_back(Entry::ReplacedAll {
                rv: "9".into(),
                objects: objects.collect(),
            });
        }
        for _ in 0..entries {
            let entry = Entry::Delta(DeltaType::Added, object("default/pod", "1"));
            picture.queue.entries.push_back(entry);
        }
        view(picture, Vec::new())
    }

    /// What is shown: the form, columns, keys or entries, and deltas of the highest stack.
    #[test]
    fn the_form_and_the_number_of_tokens_follow_the_room() {
        use Form::{Compact, Full};
        let many = [1, 2, 6, 3, 2, 1, 4, 2, 1, 3, 2, 5, 1, 2, 3, 2];
        assert_eq!((many.len(), many.iter().sum::<usize>()), (16, 40));
        for (name, stacks, room, expected) in [
            (
                "three keys are stacks",
                &[1, 8, 2][..],
                DESKTOP,
                (Full, 3, 3, 9),
            ),
            (
                "further ones make them narrower",
                &[1; 6],
                DESKTOP,
                (Full, 6, 6, 9),
            ),
            ("seven at 1280 px", &[1; 7], LAPTOP, (Full, 7, 7, 5)),
            (
                "a seventh makes them lines",
                &[1; 7],
                DESKTOP,
                (Compact, 1, 7, 5),
            ),
            (
                "a high stack takes two lines",
                &[9, 1, 1, 1, 1, 1, 1],
                DESKTOP,
                (Compact, 1, 7, 10),
            ),
            (
                "sixteen keys, forty deltas",
                &many,
                DESKTOP,
                (Compact, 2, 16, 6),
            ),
            ("in less height", &many, LAPTOP, (Compact, 2, 16, 6)),
            ("more than fit", &[1; 60], DESKTOP, (Compact, 2, 31, 4)),
            ("a phone", &[2; 9], PHONE, (Compact, 1, 9, 5)),
            (
                "two stacks of an element",
                &[1, 2],
                ELEMENT,
                (Full, 2, 2, 7),
            ),
            (
                "lines of an element",
                &[1, 2, 3],
                ELEMENT,
                (Compact, 1, 3, 3),
            ),
            ("a low room", &[3], room(270, 60), (Full, 2, 1, 3)),
        ] {
            let space = space(&queued(stacks), room);
            let shown = (space.form, space.columns, space.shown, space.depth);
            assert_eq!(shown, expected, "{name}");
        }
        for (name, list, entries, room, expected) in [
            ("boxes", 0, 9, DESKTOP, (Full, 3, 9)),
            ("a list has a line of its own", 7, 9, DESKTOP, (Full, 3, 10)),
            ("forty entries", 0, 40, DESKTOP, (Compact, 3, 40)),
            ("a list and thirty", 7, 30, DESKTOP, (Compact, 3, 31)),
            ("more than fit", 0, 60, LAPTOP, (Compact, 3, 29)),
        ] {
            let space = space(&listed(list, entries), room);
            assert_eq!((space.form, space.columns, space.shown), expected, "{name}");
        }
    }

    #[test]
    fn three_deltas_fit_into_a_low_room() {
        let high = |deltas, height| space(&queued(&[deltas]), room(270, height)).high;
        assert_eq!(
            [high(3, 99), high(3, 98), high(2, 64)],
            [DELTA.0, LINES[1].0, DELTA.0]
        );
    }

    #[test]
    fn stacks_name_their_types_where_there_is_room() {
        let form = |keys, room| {
            let space = space(&queued(&vec![1; keys]), room);
            (space.each, space.small)
        };
        assert_eq!(form(3, LAPTOP), (EACH.0, 0));
        assert_eq!(form(4, LAPTOP), (103, 0));
        assert_eq!(form(5, LAPTOP), (81, 81));
        assert_eq!(form(5, PHONE), (64, 64));
    }

    #[test]
    fn keys_stay_in_lines_until_the_queue_is_empty() {
        let mut room = DESKTOP;
        let forms = [0, 6, 7, 3, 1, 0, 3].map(|keys| {
            let space = space(&queued(&vec![1; keys]), room);
            room.lined = space.is_lined();
            space.form == Form::Compact
        });
        assert_eq!(forms, [false, false, true, true, true, false, false]);
        // Entries are never in lines of keys.
        let entries = space(&listed(0, 40), DESKTOP);
        assert_eq!((entries.form, entries.is_lined()), (Form::Compact, false));
    }

    #[test]
    fn a_long_queue_is_looked_at_no_farther_than_it_is_shown() {
        let looks = std::cell::Cell::new(0);
        let boxes = Boxes {
            count: 10_000,
            each: &|place| {
                looks.set(looks.get() + 1);
                1 + place % 3
            },
            largest: 3,
        };
        assert_eq!(boxes.packed(3, 12), (17, 3));
        assert!(looks.get() <= 3 * 12, "{} looks", looks.get());
        // A stack is no higher than a column.
        let queue = queued(&[&[1_000][..], &[1; 9]].concat());
        let space = space(&queue, DESKTOP);
        assert!(space.depth <= space.lines * space.in_line());
    }

    #[test]
    fn a_whole_list_names_as_many_objects_as_fit() {
        let full = space(&listed(7, 1), DESKTOP);
        let listed = |letters: &[usize]| full.listed(letters.iter().copied());
        assert_eq!((full.form, full.naming), (Form::Full, 6));
        assert_eq!(listed(&[5; 50]), (35, 6));
        assert_eq!(listed(&[5; 12]), (12, 2));
        assert_eq!(listed(&[300, 30, 30]), (3, 3));
        assert_eq!(full.crate_high(6), ENTRY.0 + 4 * NAMES);
        let compact = space(&self::listed(7, 30), DESKTOP);
        assert_eq!(compact.listed([5; 12].into_iter()), (3, 1));
    }
}
