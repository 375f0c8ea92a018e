//! Many objects as small cells: which cell belongs to which object, and how it looks.
//!
//! With more than [`MANY`] objects, tokens show nothing useful. Instead each object has a cell, at the same place
//! in the field of each room, however often the object is written: nothing moves when something changes.

use crate::view::cells::{Hue, Touched};
use std::collections::VecDeque;
use std::mem::Discriminant;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::acting;
use super::{RvText, current, is_tombstone};
use crate::anchor::Anchor;
use crate::stage::Panel;
use crate::view::View;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, Fact, FactRecord, QueueFact};
use deltascope_cache::key::Key;
use deltascope_replay::gauge::Freshness;
use deltascope_replay::picture::{ApiObject, Behind, Picture, QueueKind};

/// More objects than this are drawn as cells.
pub const MANY: usize = 60;
/// So many keys are looked for in the queue, one by one.
const FEW: usize = 8;
/// A queue's field has room for at least this many cells.
const QUEUED: usize = 64;
/// The greatest width of a cell with its gap, in px.
const LARGEST: u32 = 18;

/// A part of the stage that can be drawn as a field of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The API server's objects.
    Objects,
    /// The store's items.
    Items,
    /// The queued keys or entries.
    Queue,
}

/// The look of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Look {
    /// Its colour.
    pub hue: Hue,
    /// How it is filled.
    pub fill: Fill,
}

/// The fill of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fill {
    /// The cell is empty.
    #[default]
    Nothing,
    /// Full.
    Full,
    /// Struck out: the object was deleted.
    Struck,
    /// A dashed outline: a tombstone.
    Dashed,
    /// An outline: an entry that is not the delta of one object, or an object that the store lacks.
    Whole,
}

/// Whether the objects are drawn as cells.
#[must_use]
pub fn is_dense(picture: &Picture) -> bool {
    picture.api.objects.len().max(picture.store.items.len()) > MANY
}

/// Whether the queue is drawn as cells: a few keys among many objects are not.
#[must_use]
pub fn is_queue_dense(picture: &Picture) -> bool {
    queued(picture) > MANY
}

fn queued(picture: &Picture) -> usize {
    picture.queue.keys.len().max(picture.queue.entries.len())
}

/// How cells are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    /// The width and the height of a cell with its gap, in the screen's px.
    pub pitch: u32,
    /// The gap.
    pub gap: u32,
    /// Cells per row.
    pub columns: usize,
    /// The number of rows.
    pub rows: usize,
}

impl Layout {
    /// The largest cells with which `count` fit into the given width and height in the screen's px; `ratio` of
    /// these are one CSS px.
    #[must_use]
    pub fn fit(width: u32, height: u32, ratio: u32, count: usize) -> Self {
        let ratio = ratio.max(1);
        let of = |pitch: u32| {
            let gap = match pitch / ratio {
                0..3 => 0,
                3..12 => ratio,
                _ => ratio * 2,
            };
            Self {
                pitch,
                gap,
                // The last cell needs no gap.
                columns: ((width + gap) / pitch) as usize,
                rows: ((height + gap) / pitch) as usize,
            }
        };
        let all = (1..=LARGEST * ratio).rev().map(of);
        let mut fitting = all.filter(|layout| layout.cells() >= count);
        fitting.next().unwrap_or_else(|| of(1))
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.columns * self.rows
    }

    /// The top left corner of a cell.
    #[must_use]
    pub fn at(&self, cell: usize) -> (u32, u32) {
        let columns = self.columns.max(1);
        // Smaller than the number of px on a screen.
        let [x, y] = [cell % columns, cell / columns].map(|at| at as u32 * self.pitch);
        (x, y)
    }

    /// The cell at a point.
    #[must_use]
    pub fn cell(&self, x: u32, y: u32) -> Option<usize> {
        let pitch = self.pitch.max(1);
        let (column, row) = ((x / pitch) as usize, (y / pitch) as usize);
        (column < self.columns && row < self.rows).then_some(row * self.columns + column)
    }
}

impl Field {
    /// The anchor of a key in this field.
    #[must_use]
    pub fn anchor(self, key: Key) -> Anchor {
        match self {
            Self::Objects => Anchor::Object(key),
            Self::Items => Anchor::Item(key),
            Self::Queue => Anchor::Column { key, behind: 0 },
        }
    }

    /// How many cells it needs.
    #[must_use]
    pub fn room(self, view: &View) -> usize {
        match self {
            Self::Objects | Self::Items => view.places.len(),
            // In powers of two: with one cell more for each key, the size of the cells would change all the time.
            Self::Queue => queued(&view.picture).next_power_of_two().max(QUEUED),
        }
    }

    /// How many items there are, whether or not they fit.
    #[must_use]
    pub fn total(self, picture: &Picture) -> usize {
        match self {
            Self::Objects => picture.api.objects.len(),
            Self::Items => picture.store.items.len(),
            Self::Queue => queued(picture),
        }
    }

    /// The cell of an anchor in this field.
    #[must_use]
    pub fn cell(self, view: &View, cells: usize, anchor: &Anchor) -> Option<usize> {
        let queue = &view.picture.queue;
        match (self, anchor) {
            (Self::Objects, Anchor::Object(key)) | (Self::Items, Anchor::Item(key)) => {
                view.places.get(key)
            }
            (
                Self::Queue,
                Anchor::Column { key, behind: 0 } | Anchor::QueuedKey { key, behind: 0 },
            ) if queue.entries.is_empty() => {
                let place = queue.keys.iter().position(|at| at == key)?;
                Some(turn(view, cells, place))
            }
            (Self::Queue, Anchor::Entry(place)) if !queue.entries.is_empty() => {
                Some(turn(view, cells, *place))
            }
            _ => None,
        }
    }

    /// The anchor of the item in a cell.
    #[must_use]
    pub fn at(self, view: &View, cells: usize, cell: usize) -> Option<Anchor> {
        let picture = &view.picture;
        let key = match self {
            Self::Objects => {
                let mut here = view.places.at(cell);
                here.find(|key| picture.api.objects.contains_key(*key))
            }
            Self::Items => {
                let mut here = view.places.at(cell);
                here.find(|key| picture.store.items.contains_key(*key))
            }
            Self::Queue => {
                let queue = &picture.queue;
                let first = turn(view, cells, 0);
                let place = (cell + cells).checked_sub(first)? % cells.max(1);
                if !queue.entries.is_empty() {
                    return (place < queue.entries.len()).then_some(Anchor::Entry(place));
                }
                queue.keys.get(place)
            }
        };
        key.map(|key| self.anchor(key.clone()))
    }

    /// The look of an item of this field.
    #[must_use]
    pub fn look(self, picture: &Picture, anchor: &Anchor) -> Look {
        if let Anchor::Entry(place) = anchor {
            return picture
                .queue
                .entries
                .get(*place)
                .map(entry)
                .unwrap_or_default();
        }
        let look = anchor.key().map(|of| match self {
            Self::Objects => {
                let entry = picture.api.objects.get(of);
                entry.map_or_else(Look::default, |entry| {
                    object(picture, of, entry, differs(picture, of))
                })
            }
            Self::Items if picture.store.items.contains_key(of) => {
                stored(picture, of, differs(picture, of))
            }
            Self::Items => Look::default(),
            Self::Queue => key(picture, of),
        });
        look.unwrap_or_default()
    }

    /// The looks of all cells.
    #[must_use]
    pub fn looks(self, view: &View, cells: usize) -> Vec<Look> {
        let mut looks = vec![Look::default(); cells];
        let mut set = |cell: Option<usize>, look: Look| {
            if let Some(place) = cell.and_then(|cell| looks.get_mut(cell))
                && look.fill != Fill::Nothing
            {
                *place = look;
            }
        };
        let picture = &view.picture;
        match self {
            Self::Objects => {
                let objects = &picture.api.objects;
                let differ = picture.store.unlike.all_of(objects.keys());
                let places = view.places.all_of(objects.keys());
                for (((key, entry), place), differs) in objects.iter().zip(places).zip(differ) {
                    set(place, object(picture, key, entry, differs.is_some()));
                }
            }
            Self::Items => {
                let items = &picture.store.items;
                let differ = picture.store.unlike.all_of(items.keys());
                let places = view.places.all_of(items.keys());
                for ((key, place), differs) in items.keys().zip(places).zip(differ) {
                    set(place, stored(picture, key, differs.is_some()));
                }
            }
            Self::Queue => {
                for (place, one) in picture.queue.keys.iter().enumerate() {
                    set(Some(turn(view, cells, place)), key(picture, one));
                }
                for (place, one) in picture.queue.entries.iter().enumerate() {
                    set(Some(turn(view, cells, place)), entry(one));
                }
            }
        }
        looks
    }

    /// The anchor of the current fact, if the fact is about this field.
    #[must_use]
    pub fn lit(self, view: &View) -> Option<Anchor> {
        let record = current(view)?;
        if self == Self::Queue
            && let Fact::Queue(QueueFact::EntryAppended { .. }) = record.fact
        {
            return view
                .picture
                .queue
                .entries
                .len()
                .checked_sub(1)
                .map(Anchor::Entry);
        }
        let room = match self {
            Self::Objects => Panel::Api,
            Self::Items => Panel::Indexer,
            Self::Queue => Panel::Queue,
        };
        let key = record.fact.key().filter(|_| acting::room(record) == room)?;
        Some(self.anchor(key.clone()))
    }

    /// The number of cells of each colour, the most frequent first: a legend may have no room for all. Objects are in
    /// step, not in the store yet, older there or deleted; queued items are counted by type.
    #[must_use]
    pub fn counts(looks: &[Look]) -> Vec<(Hue, usize)> {
        let mut counts: Vec<(Hue, usize)> = Vec::new();
        for look in looks.iter().filter(|look| look.fill != Fill::Nothing) {
            match counts.iter_mut().find(|(hue, _)| *hue == look.hue) {
                Some((_, count)) => *count += 1,
                None => counts.push((look.hue, 1)),
            }
        }
        // No sort: it would be another copy of the library's in the page.
        let most = counts.iter().map(|(_, count)| *count).max();
        if let Some(place) = counts.iter().position(|(_, count)| Some(*count) == most) {
            counts.swap(0, place);
        }
        counts
    }
}

/// The cell of the item at this place of a queue. A popped item leaves its cell, and the others stay where they
/// are.
fn turn(view: &View, cells: usize, place: usize) -> usize {
    let popped = usize::try_from(view.picture.pop.count).unwrap_or_default();
    (popped % cells.max(1) + place) % cells.max(1)
}

/// The previous view: its number of facts, and the last of them.
pub type Before = (usize, Rc<[FactRecord]>);

/// What has changed between this view and the previous one, whichever comes first. None if it is not at hand.
#[must_use]
pub fn touched(view: &View, before: &Before) -> Option<Touched> {
    if let Some(facts) = between(view, before) {
        return Some(Touched::of(|see| {
            facts.iter().for_each(|record| see(&record.fact));
        }));
    }
    let since = view.since.as_ref()?;
    let joint = before.1.last() == Some(&since.after);
    joint.then(|| since.touched.clone())
}

/// The facts between two views, if they are few.
#[must_use]
pub fn between<'a>(view: &'a View, (step, recent): &'a Before) -> Option<&'a [FactRecord]> {
    let (later, facts, other) = if view.step >= *step {
        (view.step - step, &view.recent, recent)
    } else {
        (step - view.step, recent, &view.recent)
    };
    let from = facts.len().checked_sub(later)?;
    // Facts of another run do not join.
    let joint = from.checked_sub(1).and_then(|at| facts.get(at));
    if joint != other.last() {
        return None;
    }
    facts.get(from..)
}

/// The looks of the cells of a field, kept up to date from view to view.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    looks: Vec<Look>,
    before: Before,
    /// The deleted objects that were shown: the oldest goes when another one comes.
    deleted: VecDeque<Key>,
    /// What was known of the server's state, on which all looks depend.
    known: Option<Discriminant<Behind>>,
    /// The keys of the queue, by how many were popped before each.
    queued: Range<usize>,
}

impl Cells {
    /// All looks.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Goes on to this view, with so many cells. Returns those that have changed.
    pub fn show(&mut self, field: Field, view: &View, cells: usize) -> Vec<usize> {
        let picture = &view.picture;
        let known = Some(std::mem::discriminant(&picture.store.behind));
        let same = self.looks.len() == cells && self.known == known;
        let touched = touched(view, &self.before).filter(|_| same);
        let looks = match (field, touched) {
            (Field::Objects | Field::Items, Some(touched)) if !touched.objects => {
                self.few(field, view, &touched)
            }
            (Field::Queue, Some(touched)) if !touched.queue => Vec::new(),
            (Field::Queue, Some(touched)) if can_go_on(picture, &touched) => {
                self.ends(field, view, &touched)
            }
            _ => field.looks(view, cells).into_iter().enumerate().collect(),
        };
        self.looks.resize(cells, Look::default());
        let mut changed = Vec::new();
        for (cell, look) in looks {
            if let Some(known) = self.looks.get_mut(cell)
                && *known != look
            {
                *known = look;
                changed.push(cell);
            }
        }
        self.before = (view.step, Rc::clone(&view.recent));
        self.deleted.clone_from(&picture.api.deleted);
        self.known = known;
        self.queued = queued_at(picture);
        changed
    }

    /// The looks of what has come into a DeltaFIFO at its ends, or has left it there, and of a few keys.
    fn ends(&self, field: Field, view: &View, touched: &Touched) -> Vec<(usize, Look)> {
        let cells = self.looks.len();
        let (was, is) = (&self.queued, queued_at(&view.picture));
        let between = |one: usize, other: usize| one.min(other)..one.max(other);
        let moved = between(was.start, is.start).chain(between(was.end, is.end));
        let keys = touched.keys.iter();
        let keys = keys.filter_map(|key| field.cell(view, cells, &field.anchor(key.clone())));
        let looks = moved.map(|at| at % cells.max(1)).chain(keys).map(|cell| {
            let here = field.at(view, cells, cell);
            let look = here.map(|anchor| field.look(&view.picture, &anchor));
            (cell, look.unwrap_or_default())
        });
        looks.collect()
    }

    /// The looks of the cells of a few keys.
    fn few(&self, field: Field, view: &View, touched: &Touched) -> Vec<(usize, Look)> {
        let mut looks: Vec<(usize, Look)> = Vec::new();
        let mut set = |cell: usize, look: Look| {
            match looks.binary_search_by_key(&cell, |(cell, _)| *cell) {
                // A deleted object may have left its place to another one.
                Ok(at) if look.fill != Fill::Nothing => looks[at].1 = look,
                Ok(_) => {}
                Err(at) => looks.insert(at, (cell, look)),
            }
        };
        // On the way back the one that had gone is there again.
        let deleted = self.deleted.iter().chain(&view.picture.api.deleted);
        for key in touched.keys.iter().chain(deleted) {
            let anchor = field.anchor(key.clone());
            if let Some(cell) = field.cell(view, self.looks.len(), &anchor) {
                set(cell, field.look(&view.picture, &anchor));
            }
        }
        let empty = |(cell, look): &(usize, Look)| (look.fill == Fill::Nothing).then_some(*cell);
        let empty: Vec<usize> = looks.iter().filter_map(empty).collect();
        if !empty.is_empty() {
            for (key, cell) in view.places.among(&empty) {
                let look = field.look(&view.picture, &field.anchor(key.clone()));
                if let Ok(at) = looks.binary_search_by_key(&cell, |(cell, _)| *cell)
                    && look.fill != Fill::Nothing
                {
                    looks[at].1 = look;
                }
            }
        }
        looks
    }
}

/// Whether all that these facts have changed in the queue are its ends and the looks of a few keys.
fn can_go_on(picture: &Picture, touched: &Touched) -> bool {
    picture.queue.kind == QueueKind::DeltaFifo && touched.keys.len() <= FEW
}

fn queued_at(picture: &Picture) -> Range<usize> {
    let popped = usize::try_from(picture.pop.count).unwrap_or_default();
    popped..popped + picture.queue.keys.len()
}

const fn full(hue: Hue) -> Look {
    Look {
        hue,
        fill: Fill::Full,
    }
}

/// Most objects are alike here and there, and need no comparison.
fn differs(picture: &Picture, key: &Key) -> bool {
    picture.store.unlike.contains_key(key)
}

fn object(picture: &Picture, key: &Key, object: &ApiObject, differs: bool) -> Look {
    if object.deleted {
        return Look {
            hue: Hue::Of(DeltaType::Deleted),
            fill: Fill::Struck,
        };
    }
    if !differs {
        return full(Hue::Same);
    }
    match picture.freshness(key) {
        // The server's version is an outline, the store's the fill.
        Freshness::Missing => Look {
            hue: Hue::Of(DeltaType::Added),
            fill: Fill::Whole,
        },
        Freshness::Stale => full(Hue::Of(DeltaType::Updated)),
        Freshness::Same | Freshness::Gone | Freshness::Unknown => full(Hue::Same),
    }
}

/// An item that is in the store.
fn stored(picture: &Picture, key: &Key, differs: bool) -> Look {
    if !differs {
        return full(Hue::Same);
    }
    match picture.freshness(key) {
        Freshness::Gone => Look {
            hue: Hue::Of(DeltaType::Deleted),
            fill: Fill::Struck,
        },
        Freshness::Stale => full(Hue::Of(DeltaType::Updated)),
        Freshness::Same | Freshness::Missing | Freshness::Unknown => full(Hue::Same),
    }
}

fn key(picture: &Picture, key: &str) -> Look {
    let deltas = picture.queue.deltas.get(key);
    match deltas.and_then(|deltas| deltas.last()) {
        Some((delta_type, object)) => Look {
            hue: match picture.queue.kind {
                QueueKind::Fifo => Hue::Same,
                _ => Hue::Of(*delta_type),
            },
            fill: if is_tombstone(object) {
                Fill::Dashed
            } else {
                Fill::Full
            },
        },
        // A FIFO's key without its object.
        None => Look {
            hue: Hue::Same,
            fill: Fill::Dashed,
        },
    }
}

fn entry(entry: &Entry) -> Look {
    let (delta_type, fill) = match entry {
        Entry::Delta(delta_type, object) if is_tombstone(object) => (*delta_type, Fill::Dashed),
        Entry::Delta(delta_type, _) => (*delta_type, Fill::Full),
        Entry::ReplacedAll { .. } => (DeltaType::ReplacedAll, Fill::Whole),
        Entry::SyncAll => (DeltaType::SyncAll, Fill::Whole),
        Entry::Bookmark { .. } => (DeltaType::Bookmark, Fill::Whole),
    };
    Look {
        hue: Hue::Of(delta_type),
        fill,
    }
}

/// The name of an item in a field: its key, or the place of an entry.
#[must_use]
pub fn name(anchor: &Anchor) -> String {
    if let Anchor::Entry(place) = anchor {
        return place.to_string();
    }
    anchor.key().map(ToString::to_string).unwrap_or_default()
}

/// The tooltip of an item in a field: its key and its versions.
#[must_use]
pub fn said(view: &View, anchor: &Anchor) -> String {
    let (api, queue, store) = (&view.picture.api, &view.picture.queue, &view.picture.store);
    let mut text = name(anchor);
    let mut add = |what: &str, rv: &Arc<str>| {
        for part in [" · ", what, " ", &RvText::of(rv).short] {
            text.push_str(part);
        }
    };
    match anchor {
        Anchor::Object(key) => {
            if let Some(object) = api.objects.get(key) {
                add("rv", &object.object.rv);
            }
        }
        Anchor::Item(key) => {
            if let Some(object) = store.items.get(key) {
                add("rv", &object.rv);
            }
        }
        Anchor::Entry(place) => {
            if let Some(entry) = queue.entries.get(*place) {
                return of_entry(entry);
            }
        }
        queued => {
            let deltas = queued.key().and_then(|key| queue.deltas.get(key));
            for (delta_type, object) in deltas.into_iter().flatten() {
                let what = match queue.kind {
                    QueueKind::Fifo => "rv",
                    _ => delta_type.as_str(),
                };
                add(what, &object.rv);
            }
        }
    }
    text
}

fn of_entry(entry: &Entry) -> String {
    let rv = |rv| RvText::of(rv).short;
    match entry {
        Entry::Delta(delta_type, object) => {
            let key = &object.key;
            format!("{key} · {} · rv {}", delta_type.as_str(), rv(&object.rv))
        }
        Entry::ReplacedAll { objects, .. } => {
            format!("{} · {}", DeltaType::ReplacedAll.as_str(), objects.len())
        }
        Entry::SyncAll => DeltaType::SyncAll.as_str().to_owned(),
        Entry::Bookmark { rv: of } => {
            format!("{} · rv {}", DeltaType::Bookmark.as_str(), rv(of))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{object as reference, updates, view};
    use super::*;
    use deltascope_cache::fact::{Body, HandlersFact};

    proptest! {
        #[test]
        fn the_requested_number_of_cells_fits_and_each_cell_is_found(
            width in 40..900_u32, height in 40..700_u32, ratio in 1..3_u32, share in 0.0..1.0_f64,
        ) {
            let most = f64::from(width * height);
            let count = (most * share) as usize;
            let layout = Layout::fit(width, height, ratio, count);
            prop_assert!(layout.cells() >= count);
            prop_assert!(layout.gap < layout.pitch);
            for cell in [0, count / 2, count.saturating_sub(1)] {
                let (x, y) = layout.at(cell);
                if count > 0 {
                    prop_assert_eq!(layout.cell(x, y), Some(cell));
                    let last = layout.pitch - layout.gap;
                    prop_assert!(x + last <= width && y + last <= height);
                }
            }
        }
    }

    fn looks(field: Field, picture: &Picture, keys: &[&str]) -> Vec<(Hue, Fill)> {
        let look = |key: &&str| field.look(picture, &field.anchor((*key).into()));
        keys.iter()
            .map(look)
            .map(|look| (look.hue, look.fill))
            .collect()
    }

    #[test]
    fn the_most_frequent_colour_is_counted_first() {
        let [one, other] = [Hue::Of(DeltaType::Deleted), Hue::Same];
        let counts = Field::counts(&[one, other, other].map(full));
        assert_eq!(counts, [(other, 2), (one, 1)]);
        assert_eq!(Field::counts(&[Look::default()]), []);
    }

    #[test]
    fn a_cell_shows_how_the_store_differs_from_the_server() {
        let mut picture = Picture::default();
        picture.store.present = true;
        for key in ["new", "older", "deleted", "gone"] {
            picture.store.unlike.insert(key.into(), ());
        }
        for (key, on_server, stored) in [
            ("alike", Some(("1", false)), Some("1")),
            ("new", Some(("1", false)), None),
            ("older", Some(("2", false)), Some("1")),
            ("deleted", Some(("3", true)), Some("1")),
            ("gone", None, Some("1")),
        ] {
            if let Some((rv, deleted)) = on_server {
                let object = ApiObject {
                    object: reference(key, rv),
                    body: Body::default(),
                    deleted,
                };
                picture.api.objects.insert(key.into(), Arc::new(object));
            }
            if let Some(rv) = stored {
                picture.store.items.insert(key.into(), reference(key, rv));
            }
        }
        let keys = ["alike", "new", "older", "deleted", "gone"];
        let of = Hue::Of;
        let nothing = (Hue::Same, Fill::Nothing);
        assert_eq!(
            looks(Field::Objects, &picture, &keys),
            [
                (Hue::Same, Fill::Full),
                (of(DeltaType::Added), Fill::Whole),
                (of(DeltaType::Updated), Fill::Full),
                (of(DeltaType::Deleted), Fill::Struck),
                nothing,
            ]
        );
        assert_eq!(
            looks(Field::Items, &picture, &keys),
            [
                (Hue::Same, Fill::Full),
                nothing,
                (of(DeltaType::Updated), Fill::Full),
                (of(DeltaType::Deleted), Fill::Struck),
                (of(DeltaType::Deleted), Fill::Struck),
            ]
        );
    }

    #[test]
    fn a_popped_key_leaves_its_cell_and_the_others_stay() {
        let mut picture = Picture::default();
        for key in ["a", "b", "c"] {
            picture.queue.keys.push_back(key.into());
            picture.queue.deltas.insert(key.into(), updates(key, 1));
        }
        picture.pop.count = 9;
        let cells = 10;
        let before = view(picture.clone(), Vec::new());
        let of = |key: &str| Field::Queue.anchor(key.into());
        let at = |view: &View, key: &str| Field::Queue.cell(view, cells, &of(key));
        assert_eq!(
            ["a", "b", "c"].map(|key| at(&before, key)),
            [Some(9), Some(0), Some(1)]
        );
        assert_eq!(Field::Queue.at(&before, cells, 0), Some(of("b")));
        picture.queue.keys.pop_front();
        picture.queue.deltas.remove("a");
        picture.pop.count += 1;
        let after = view(picture, Vec::new());
        assert_eq!(
            ["a", "b", "c"].map(|key| at(&after, key)),
            [None, Some(0), Some(1)]
        );
        assert_eq!(Field::Queue.at(&after, cells, 9), None);
    }

    #[test]
    fn a_field_has_cells_only_for_its_own_anchors() {
        let mut picture = Picture::default();
        picture.queue.keys.push_back("a".into());
        let (key, behind) = (Key::from("a"), 0);
        let queued = Anchor::QueuedKey { key, behind };
        let cell = |picture: &Picture, of: &Anchor| {
            Field::Queue.cell(&view(picture.clone(), Vec::new()), 10, of)
        };
        assert_eq!(cell(&picture, &queued), Some(0));
        assert_eq!(cell(&picture, &Anchor::Item("a".into())), None);
        assert_eq!(cell(&picture, &Anchor::Entry(0)), None);

        picture.queue.kind = QueueKind::RealFifo;
        picture.queue.keys.clear();
        let entry = Entry::Delta(DeltaType::Added, reference("a", "7"));
        picture.queue.entries = [Entry::SyncAll, entry].into();
        let place = Anchor::Entry(1);
        assert_eq!(cell(&picture, &place), Some(1));
        assert_eq!(cell(&picture, &queued), None);
        let view = view(picture, Vec::new());
        assert_eq!(Field::Queue.at(&view, 10, 1).as_ref(), Some(&place));
        assert_eq!(
            (name(&place), said(&view, &place)),
            ("1".into(), "a · Added · rv 7".into())
        );
        let gone = Anchor::Entry(2);
        assert_eq!(Field::Queue.look(&view.picture, &gone), Look::default());
    }

    #[test]
    fn the_facts_between_two_views_are_known_in_both_directions() {
        let about = |key: &str| Fact::Handlers(HandlersFact::MutationDetected { key: key.into() });
        let facts = |count: usize| {
            let keys = ["a", "b", "c", "d"];
            view(
                Picture::default(),
                keys.iter().take(count).map(|key| about(key)).collect(),
            )
        };
        let shown = |view: &View| (view.step, Rc::clone(&view.recent));
        let (two, four) = (facts(2), facts(4));
        let count = |touched: Option<Touched>| touched.map(|touched| touched.keys.len());
        assert_eq!(count(touched(&four, &shown(&two))), Some(2));
        assert_eq!(count(touched(&two, &shown(&four))), Some(2));
        assert_eq!(count(touched(&two, &shown(&two))), Some(0));
        let other = view(Picture::default(), vec![about("x"), about("y")]);
        assert_eq!(count(touched(&four, &shown(&other))), None);
    }
}
