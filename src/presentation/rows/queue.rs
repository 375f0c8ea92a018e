//! The queue's room.

pub mod fit;

use std::sync::Arc;

use super::{DeltaRow, Mark, Names, RvText, Stack, current, is_tombstone, stack, uid_of};
use crate::anchor::Anchor;
use crate::view::View;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, Fact, QueueFact};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{QueueKind, QueueRoom};
use fit::Space;

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct QueueRows {
    /// The kind of the queue.
    pub kind: QueueKind,
    /// How many keys are queued.
    pub keys: usize,
    /// How many deltas (or entries) are queued.
    pub deltas: usize,
    /// The columns, the next one first, as many as fit.
    pub columns: Vec<ColumnRow>,
    /// How many more keys are queued behind them.
    pub hidden_keys: usize,
    /// RealFIFO: the entries, the next one first, as many as fit.
    pub entries: Vec<EntryRow>,
    /// How many more entries are queued behind them.
    pub hidden_entries: usize,
    /// Whether the current fact is about something that is not shown.
    pub hidden_lit: bool,
    /// `HasSynced()`.
    pub synced: bool,
    /// `IsClosed()`.
    pub closed: bool,
}

/// One key with its stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRow {
    /// The key.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// Its place in the queue; 0 is next.
    pub place: usize,
    /// FIFO: how many places of the same key are behind this one.
    pub behind: usize,
    /// FIFO: another place of the key is ahead, and its Pop will take the object.
    pub again: bool,
    /// Its deltas.
    pub stack: Stack,
    /// How many deltas there are.
    pub count: usize,
    /// It is of a FIFO: an object in place of the deltas.
    pub plain: bool,
    /// The current fact is about it.
    pub lit: bool,
}

impl ColumnRow {
    /// The anchor of its deltas.
    #[must_use]
    pub fn column(&self) -> Anchor {
        Anchor::Column {
            key: self.key.clone(),
            behind: self.behind,
        }
    }

    /// The anchor of its place in the queue.
    #[must_use]
    pub fn in_line(&self) -> Anchor {
        Anchor::QueuedKey {
            key: self.key.clone(),
            behind: self.behind,
        }
    }
}

/// One entry of a RealFIFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// Its place in the queue; 0 is next.
    pub place: usize,
    /// Its type.
    pub delta_type: DeltaType,
    /// The key of its object; empty if it is not the delta of one object.
    pub key: Key,
    /// The name of its object.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// Its version.
    pub rv: RvText,
    /// It holds a tombstone.
    pub tombstone: bool,
    /// A whole list: its objects.
    pub crate_of: Option<CrateRow>,
    /// The current fact made it.
    pub lit: bool,
}

/// The objects of a whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrateRow {
    /// How many there are.
    pub count: usize,
    /// The marks and the names of the first, as many as fit.
    pub named: Vec<(Mark, String)>,
    /// In how many lines.
    pub lines: usize,
}

impl CrateRow {
    /// How many are not named.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.count - self.named.len()
    }
}

/// Whether a queued version is so long that tokens must be wider.
///
/// Considers everything that is queued, not only what is shown: the width must not change as the window moves.
#[must_use]
pub(crate) fn is_wide(view: &View) -> bool {
    let queue = &view.picture.queue;
    let mut deltas = queue
        .deltas
        .values()
        .flatten()
        .map(|(_, object)| &object.rv);
    let mut entries = queue.entries.iter().map(entry_rv);
    deltas.any(|rv| RvText::would_be_long(rv))
        || entries.any(|rv| rv.is_some_and(|rv| RvText::would_be_long(rv)))
}

/// The contents of the room.
#[must_use]
pub fn rows(view: &View, space: &Space) -> QueueRows {
    let depth = space.depth;
    let queue = &view.picture.queue;
    let names = Names::of(view);
    let fresh = fresh(view);
    let order = &queue.keys;
    let shown = space.shown.min(order.len());
    let shown_entries = space.shown.min(queue.entries.len());
    let lit_place = fresh.as_ref().and_then(|fresh| {
        let mut places = order.iter().enumerate();
        let is_it = |(_, key): &(usize, &Key)| **key == fresh.key;
        // In a FIFO a key can have several places.
        let found = match fresh.last {
            true => places.rfind(is_it),
            false => places.find(is_it),
        };
        found.map(|(place, _)| place)
    });
    let appended = matches!(
        current(view).map(|record| &record.fact),
        Some(Fact::Queue(QueueFact::EntryAppended { .. }))
    );
    // The key of the current fact takes the last place if its own place is hidden.
    let places: Vec<usize> = match lit_place {
        Some(lit) if lit >= shown => (0..shown.saturating_sub(1)).chain([lit]).collect(),
        _ => (0..shown).collect(),
    };
    QueueRows {
        kind: queue.kind,
        keys: queue.keys.len(),
        deltas: count(queue),
        columns: places
            .into_iter()
            .filter_map(|place| Some((place, order.get(place)?)))
            .map(|(place, key)| {
                let fresh = fresh.as_ref().filter(|_| lit_place == Some(place));
                column(view, &names, fresh, key, place, depth)
            })
            .collect(),
        hidden_keys: order.len() - shown,
        entries: queue
            .entries
            .iter()
            .take(shown_entries)
            .enumerate()
            .map(|(place, entry)| {
                let newest = place + 1 == queue.entries.len();
                entry_row(&names, space, (place, entry), appended && newest)
            })
            .collect(),
        hidden_entries: queue.entries.len() - shown_entries,
        hidden_lit: appended && shown_entries < queue.entries.len(),
        synced: queue.synced,
        closed: queue.closed,
    }
}

struct Fresh {
    key: Key,
    delta: bool,
    /// The fact is about the last place of the key.
    last: bool,
}

/// What the current fact put into the queue. A delta stays lit while its key is enqueued.
fn fresh(view: &View) -> Option<Fresh> {
    let fact = &current(view)?.fact;
    let delta = matches!(
        fact,
        Fact::Queue(
            QueueFact::DeltaAppended { .. }
                | QueueFact::FifoItemSet { .. }
                | QueueFact::DeltasMerged { .. }
                | QueueFact::KeyEnqueued { .. }
        )
    );
    let key_only = matches!(
        fact,
        Fact::Queue(
            QueueFact::Requeued { .. }
                | QueueFact::ResyncSkipped { .. }
                | QueueFact::AlreadyPresent { .. }
        )
    );
    let key = fact.key().filter(|_| delta || key_only)?;
    Some(Fresh {
        key: key.clone(),
        delta,
        last: matches!(fact, Fact::Queue(QueueFact::KeyEnqueued { .. })),
    })
}

fn count(queue: &QueueRoom) -> usize {
    if queue.kind == QueueKind::RealFifo {
        return queue.entries.len();
    }
    queue.deltas.values().map(Vec::len).sum()
}

fn entry_rv(entry: &Entry) -> Option<&Arc<str>> {
    match entry {
        Entry::Delta(_, object) => Some(&object.rv),
        Entry::ReplacedAll { rv, .. } | Entry::Bookmark { rv } => Some(rv),
        Entry::SyncAll => None,
    }
}

fn column(
    view: &View,
    names: &Names,
    fresh: Option<&Fresh>,
    key: &Key,
    place: usize,
    depth: usize,
) -> ColumnRow {
    let deltas = view.picture.queue.deltas.get(key);
    let lit = fresh.is_some();
    let queue = &view.picture.queue;
    let is_fifo = queue.kind == QueueKind::Fifo;
    let places = |from: usize, to: usize| {
        let places = is_fifo.then(|| queue.keys.range(from..to));
        places.into_iter().flatten().filter(|at| *at == key).count()
    };
    let behind = places(place + 1, queue.keys.len());
    // If the object is gone, the place ahead has none to take either.
    let again = places(0, place) > 0 && deltas.is_some();
    let deltas = deltas.filter(|_| !again).into_iter().flatten();
    let mut all: Vec<_> = deltas
        .enumerate()
        .map(|(index, (delta_type, object))| match is_fifo {
            true => DeltaRow::named(names, index, *delta_type, object),
            false => DeltaRow::of(index, *delta_type, object),
        })
        .collect();
    if let (true, Some(newest)) = (fresh.is_some_and(|f| f.delta) && lit, all.last_mut()) {
        newest.lit = true;
    }
    let count = all.len();
    ColumnRow {
        key: key.clone(),
        name: names.get(key),
        mark: names.mark(&uid_of(&view.picture, key)),
        place,
        behind,
        again,
        stack: stack(all, depth),
        count,
        plain: is_fifo,
        lit,
    }
}

fn entry_row(names: &Names, space: &Space, (place, entry): (usize, &Entry), lit: bool) -> EntryRow {
    let mut row = EntryRow {
        place,
        delta_type: DeltaType::SyncAll,
        key: Key::from(""),
        name: String::new(),
        mark: Mark::default(),
        rv: entry_rv(entry).map(RvText::of).unwrap_or_default(),
        tombstone: false,
        crate_of: None,
        lit,
    };
    match entry {
        Entry::Delta(delta_type, object) => {
            row.delta_type = *delta_type;
            row.key = object.key.clone();
            row.name = names.get(&object.key);
            row.mark = names.mark(&object.uid);
            row.tombstone = is_tombstone(object);
        }
        Entry::ReplacedAll { objects, .. } => {
            row.delta_type = DeltaType::ReplacedAll;
            let letters = objects
                .iter()
                .map(|object| names.get(&object.key).chars().count());
            let (shown, lines) = space.listed(letters);
            let named = objects
                .iter()
                .take(shown)
                .map(|object| (names.mark(&object.uid), names.get(&object.key)));
            row.crate_of = Some(CrateRow {
                count: objects.len(),
                named: named.collect(),
                lines,
            });
        }
        Entry::SyncAll => {}
        Entry::Bookmark { .. } => row.delta_type = DeltaType::Bookmark,
    }
    row
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, updates, view};
    use super::*;
    use deltascope_replay::picture::Picture;

    fn space(shown: usize) -> Space {
        Space {
            each: 110,
            gap: 11,
            columns: 3,
            depth: 5,
            naming: 2,
            shown,
            ..Space::default()
        }
    }

    fn queued(keys: &[(&str, usize)]) -> Picture {
        let mut picture = Picture::default();
        for (key, deltas) in keys {
            picture.queue.keys.push_back((*key).into());
            picture
                .queue
                .deltas
                .insert((*key).into(), updates(key, *deltas));
        }
        picture
    }

    #[test]
    fn keys_and_deltas_that_do_not_fit_are_counted() {
        let picture = queued(&[("a", 1), ("b", 8), ("c", 1), ("d", 1), ("e", 1)]);
        let rows = rows(&view(picture, Vec::new()), &space(2));
        let shown: Vec<_> = rows.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(shown, ["a", "b"]);
        assert_eq!((rows.keys, rows.deltas, rows.hidden_keys), (5, 12, 3));
        assert_eq!(rows.columns[1].stack.shown.len(), 4);
        assert_eq!(rows.columns[1].stack.hidden, 4);
    }

    #[test]
    fn the_newest_delta_of_the_current_fact_is_lit() {
        let fact = Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Updated,
            object: object("b", "1"),
            depth: 2,
        });
        let rows = rows(&view(queued(&[("a", 2), ("b", 2)]), vec![fact]), &space(2));
        let lit: Vec<_> = rows
            .columns
            .iter()
            .flat_map(|column| column.stack.shown.iter().map(|row| row.lit))
            .collect();
        assert_eq!(lit, [false, false, false, true]);
    }

    #[test]
    fn a_fifo_shows_each_place_of_a_key_and_its_object_once() {
        let mut picture = queued(&[("x", 1), ("y", 0)]);
        picture.queue.kind = QueueKind::Fifo;
        picture.queue.keys.push_back("x".into());
        let fact = Fact::Queue(QueueFact::KeyEnqueued {
            key: "x".into(),
            length: 3,
        });
        let rows = rows(&view(picture, vec![fact]), &space(3));
        let shown: Vec<_> = rows
            .columns
            .iter()
            .map(|column| {
                let objects = column.stack.shown.iter().filter(|row| row.plain).count();
                (
                    column.column().to_string(),
                    column.again,
                    objects,
                    column.lit,
                )
            })
            .collect();
        let place = |anchor: &str, again, objects, lit| (anchor.to_owned(), again, objects, lit);
        assert_eq!(
            shown,
            [
                place("queue/column/x#1", false, 1, false),
                place("queue/column/y", false, 0, false),
                place("queue/column/x", true, 0, true),
            ]
        );
        assert_eq!((rows.keys, rows.deltas), (3, 1));
    }

    #[test]
    fn the_key_that_changes_takes_the_last_place_if_its_own_is_hidden() {
        let fact = Fact::Queue(QueueFact::KeyEnqueued {
            key: "d".into(),
            length: 4,
        });
        let picture = queued(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)]);
        let rows = rows(&view(picture, vec![fact]), &space(2));
        let shown: Vec<_> = rows
            .columns
            .iter()
            .map(|column| (&*column.name, column.place, column.lit))
            .collect();
        assert_eq!(shown, [("a", 0, false), ("d", 3, true)]);
        assert_eq!(rows.hidden_keys, 2);
    }

    #[test]
    fn entries_are_one_row_and_a_whole_list_is_one_crate() {
        let mut picture = Picture::default();
        picture.queue.kind = QueueKind::RealFifo;
        picture.queue.entries = [
            Entry::ReplacedAll {
                rv: "9".into(),
                objects: (0..7).map(|n| object(&format!("a/{n}"), "1")).collect(),
            },
            Entry::Delta(DeltaType::Updated, object("a/x", "10")),
            Entry::Bookmark { rv: "11".into() },
            Entry::SyncAll,
        ]
        .into();
        let fact = Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::SyncAll,
            length: 4,
        });
        let at = rows(&view(picture.clone(), vec![fact]), &space(4));
        let shown: Vec<_> = at
            .entries
            .iter()
            .map(|row| (row.delta_type.as_str(), &*row.name, &*row.rv.short, row.lit))
            .collect();
        assert_eq!(
            shown,
            [
                ("ReplacedAll", "", "9", false),
                ("Updated", "x", "10", false),
                ("Bookmark", "", "11", false),
                ("SyncAll", "", "", true),
            ]
        );
        let crate_of = at.entries[0].crate_of.as_ref();
        let crate_of = crate_of.map(|list| (list.count, list.named.len(), list.hidden()));
        assert_eq!(crate_of, Some((7, 7, 0)));

        let more = (0..40).map(|n| Entry::Bookmark {
            rv: n.to_string().into(),
        });
        picture.queue.entries.extend(more);
        let at = rows(&view(picture, Vec::new()), &space(5));
        assert_eq!((at.entries.len(), at.hidden_entries), (5, 39));
    }

    #[test]
    fn long_versions_make_it_wide() {
        let mut picture = queued(&[("a", 1)]);
        assert!(!is_wide(&view(picture.clone(), Vec::new())));
        let deltas = vec![(DeltaType::Added, object("b", "20471474"))];
        picture.queue.deltas.insert("b".into(), deltas);
        assert!(is_wide(&view(picture, Vec::new())));
    }
}
