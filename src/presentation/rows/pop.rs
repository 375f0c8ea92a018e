//! Pop's room.

use std::sync::Arc;

use super::{DeltaRow, Mark, Names, RvText, Stack, stack};
use crate::view::View;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Actor, Entry};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{LockState, Popped, ProcessMode, QueueKind};

/// At most this many marks of a list's objects are shown.
const MARKS: usize = 24;

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PopRows {
    /// The processing mode.
    pub mode: ProcessMode,
    /// How many requested Pops have not run yet.
    pub asked: u32,
    /// The queue's lock.
    pub lock: LockRow,
    /// The informer's `blockDeltas` lock, while it is held for a handler, or waited for.
    pub block_deltas: Option<LockRow>,
    /// The item that is being processed.
    pub processing: Option<PoppedRow>,
    /// The item that was processed last.
    pub last: Option<PoppedRow>,
}

/// One lock.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LockRow {
    /// The actor that holds it.
    pub holder: Option<Actor>,
    /// The actors that wait for it.
    pub waiting: Vec<Actor>,
}

/// A popped item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoppedRow {
    /// The key; empty for a batch.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// Its deltas, or those of a batch.
    pub stack: Stack,
    /// How many deltas there are.
    pub count: usize,
    /// Its entry, if that is not the delta of one object but a whole list, a resync or a bookmark.
    pub whole: Option<WholeRow>,
}

impl PoppedRow {
    /// Whether a FIFO's object was popped, and not deltas.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.stack.shown.iter().any(|row| row.plain)
    }
}

/// An entry of a RealFIFO that is not the delta of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRow {
    /// Its token, without its version.
    pub token: DeltaRow,
    /// Its version.
    pub rv: RvText,
    /// How many objects it holds.
    pub count: usize,
    /// The marks of some of them.
    pub marks: Vec<Mark>,
}

/// The contents of the room, with places for `slot` deltas in the slot.
#[must_use]
pub fn rows(view: &View, slot: usize) -> PopRows {
    let picture = &view.picture;
    let names = Names::of(view);
    let lock = |lock: &LockState| LockRow {
        holder: lock.holder,
        waiting: lock.waiting.clone(),
    };
    // It matters where a handler comes or goes.
    let block = &picture.block_deltas;
    let taken = block
        .holder
        .is_some_and(|actor| actor != Actor::ProcessLoop);
    let is_blocked = taken || !block.waiting.is_empty();
    PopRows {
        mode: picture.pop.mode,
        asked: picture.pop.asked,
        lock: lock(&picture.lock),
        block_deltas: is_blocked.then(|| lock(block)),
        processing: picture
            .pop
            .processing
            .as_ref()
            .map(|popped| in_work(&names, popped, slot)),
        last: picture.pop.last.as_ref().map(|popped| last(&names, popped)),
    }
}

/// The row of an entry that is not the delta of one object: its type, version and objects.
fn whole(names: &Names, entry: &Entry) -> Option<WholeRow> {
    let none = Arc::default();
    let (delta_type, rv, objects) = match entry {
        Entry::Delta(..) => return None,
        Entry::ReplacedAll { rv, objects } => (DeltaType::ReplacedAll, rv, &objects[..]),
        Entry::SyncAll => (DeltaType::SyncAll, &none, &[][..]),
        Entry::Bookmark { rv } => (DeltaType::Bookmark, rv, &[][..]),
    };
    let shown = objects.iter().take(MARKS);
    Some(WholeRow {
        token: DeltaRow::bare(delta_type),
        rv: RvText::of(rv),
        count: objects.len(),
        marks: shown.map(|object| names.mark(&object.uid)).collect(),
    })
}

fn in_work(names: &Names, popped: &Popped, slot: usize) -> PoppedRow {
    let mut all = deltas(names, popped);
    let count = all.len();
    if let Some(position) = popped.position {
        for row in &mut all {
            row.done = row.index < position;
            row.lit = row.index == position;
        }
        // Processed deltas make room for the next ones.
        let over = all.len().saturating_sub(slot);
        all.drain(..position.min(over));
    }
    // A batch is processed from its oldest entry on.
    let mut fitted = if popped.entries.len() > 1 {
        Stack {
            shown: all,
            hidden: 0,
        }
    } else {
        stack(all, slot)
    };
    // A stack has at least three places; the delta in work is the oldest of those left.
    fitted.shown.truncate(slot.max(1));
    fitted.hidden = count - fitted.shown.len();
    popped_row(names, popped, fitted)
}

fn last(names: &Names, popped: &Popped) -> PoppedRow {
    let mut all = deltas(names, popped);
    let newest = all.split_off(all.len().saturating_sub(1));
    let rest = all.len();
    popped_row(
        names,
        popped,
        Stack {
            shown: newest,
            hidden: rest,
        },
    )
}

fn deltas(names: &Names, popped: &Popped) -> Vec<DeltaRow> {
    // Deltas of one key need not repeat its name.
    let batch = popped.deltas.len() > 1 && !popped.entries.is_empty()
        || names.picture.queue.kind == QueueKind::Fifo;
    popped
        .deltas
        .iter()
        .enumerate()
        .map(|(index, (delta_type, object))| {
            if batch {
                DeltaRow::named(names, index, *delta_type, object)
            } else {
                DeltaRow::of(index, *delta_type, object)
            }
        })
        .collect()
}

fn popped_row(names: &Names, popped: &Popped, stack: Stack) -> PoppedRow {
    let newest = popped.deltas.last().map(|(_, object)| object);
    let batch = popped.entries.len() > 1;
    let key = match newest {
        Some(object) if popped.key.is_empty() && !batch => object.key.clone(),
        _ => popped.key.clone(),
    };
    let whole = match &popped.entries[..] {
        [only] => whole(names, only),
        _ => None,
    };
    PoppedRow {
        name: names.get(&key),
        mark: names.mark(newest.map_or("", |object| &*object.uid)),
        key,
        stack,
        count: popped.deltas.len(),
        whole,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, updates, view};
    use super::*;
    use deltascope_replay::picture::Picture;

    fn popped(count: usize, position: Option<usize>) -> Popped {
        Popped {
            key: "a".into(),
            deltas: updates("a", count),
            position,
            is_in_initial_list: false,
            entries: Vec::new(),
        }
    }

    fn work(popped: Popped) -> PoppedRow {
        let mut picture = Picture::default();
        picture.pop.processing = Some(popped);
        rows(&view(picture, Vec::new()), 3)
            .processing
            .unwrap_or_else(|| unreachable!())
    }

    #[test]
    fn the_slot_follows_the_delta_in_work() {
        let work = work(popped(6, Some(4)));
        let shown: Vec<_> = work
            .stack
            .shown
            .iter()
            .map(|row| (row.index, row.lit))
            .collect();
        assert_eq!(shown, [(3, false), (4, true), (5, false)]);
        assert!(work.stack.shown[0].done);
    }

    #[test]
    fn the_last_one_shows_its_newest_delta() {
        let mut picture = Picture::default();
        picture.pop.last = Some(popped(3, None));
        let last = rows(&view(picture, Vec::new()), 3)
            .last
            .unwrap_or_else(|| unreachable!());
        assert_eq!(last.stack.shown[0].index, 2);
        assert_eq!(last.stack.hidden, 2);
    }

    #[test]
    fn entries_of_a_batch_name_their_objects_and_a_single_entry_has_a_key() {
        let entry = |key: &str| Entry::Delta(DeltaType::Added, object(key, "1"));
        let mut batch = Popped::of_entries(vec![entry("a/x"), entry("a/y")], true);
        batch.position = Some(1);
        let row = work(batch);
        let about = |row: &DeltaRow| row.about.as_ref().map(|(_, name)| name.clone());
        let shown: Vec<_> = row.stack.shown.iter().map(|r| (about(r), r.lit)).collect();
        assert_eq!(
            shown,
            [(Some("x".to_owned()), false), (Some("y".to_owned()), true)]
        );
        assert_eq!((&*row.key, row.count), ("", 2));

        let row = work(Popped::of_entries(vec![entry("a/x")], true));
        assert_eq!((&*row.key, about(&row.stack.shown[0])), ("a/x", None));
    }

    #[test]
    fn a_whole_list_is_one_entry_with_its_objects() {
        let objects = (0..40).map(|n| object(&format!("a/{n}"), "1")).collect();
        let entry = Entry::ReplacedAll {
            rv: "9".into(),
            objects,
        };
        let row = work(Popped::of_entries(vec![entry], true));
        let whole = row.whole.unwrap_or_else(|| unreachable!());
        assert_eq!((whole.count, whole.marks.len()), (40, MARKS));
        assert_eq!(whole.rv.short, "9");
    }
}
