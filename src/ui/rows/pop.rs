//! Pop's room.

use super::{DeltaRow, Mark, Names, Stack, stack};
use crate::cache::fact::Actor;
use crate::cache::key::Key;
use crate::replay::picture::{Picture, Popped, ProcessMode};
use crate::ui::view::View;

/// What the room shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PopRows {
    /// How the loop runs.
    pub mode: ProcessMode,
    /// How often Pop was asked for and has not come.
    pub asked: u32,
    /// Who has the lock.
    pub holder: Option<Actor>,
    /// Who waits for it.
    pub waiting: Vec<Actor>,
    /// What is in work.
    pub processing: Option<PoppedRow>,
    /// What was in work last.
    pub last: Option<PoppedRow>,
}

/// Something popped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoppedRow {
    /// The key.
    pub key: Key,
    /// What it is called.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// Its deltas.
    pub stack: Stack,
    /// How many there are.
    pub count: usize,
}

/// How many deltas the slot shows.
const SLOT: usize = 3;

/// The room at this moment.
#[must_use]
pub fn rows(view: &View) -> PopRows {
    let picture = &view.picture;
    let names = Names::of(picture);
    PopRows {
        mode: picture.pop.mode,
        asked: picture.pop.asked,
        holder: picture.lock.holder,
        waiting: picture.lock.waiting.clone(),
        processing: picture
            .pop
            .processing
            .as_ref()
            .map(|popped| in_work(&names, popped)),
        last: last(picture, &names),
    }
}

fn in_work(names: &Names, popped: &Popped) -> PoppedRow {
    let mut all = deltas(popped);
    if let Some(position) = popped.position {
        for row in &mut all {
            row.done = row.index < position;
            row.lit = row.index == position;
        }
        // What is done leaves room for what comes.
        let over = all.len().saturating_sub(SLOT);
        all.drain(..position.min(over));
    }
    popped_row(names, popped, stack(all, SLOT))
}

fn last(picture: &Picture, names: &Names) -> Option<PoppedRow> {
    let popped = picture.pop.last.as_ref()?;
    let mut all = deltas(popped);
    let newest = all.split_off(all.len().saturating_sub(1));
    let rest = all.len();
    Some(popped_row(
        names,
        popped,
        Stack {
            shown: newest,
            hidden: rest,
        },
    ))
}

fn deltas(popped: &Popped) -> Vec<DeltaRow> {
    popped
        .deltas
        .iter()
        .enumerate()
        .map(|(index, (delta_type, object))| DeltaRow::of(index, *delta_type, object))
        .collect()
}

fn popped_row(names: &Names, popped: &Popped, stack: Stack) -> PoppedRow {
    let uid = popped.deltas.last().map_or("", |(_, object)| &*object.uid);
    PoppedRow {
        key: popped.key.clone(),
        name: names.get(&popped.key),
        mark: Mark::of(uid),
        stack,
        count: popped.deltas.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{updates, view};
    use super::*;

    fn popped(count: usize, position: Option<usize>) -> Popped {
        Popped {
            key: "a".into(),
            deltas: updates("a", count),
            position,
            is_in_initial_list: false,
        }
    }

    #[test]
    fn the_slot_follows_what_is_in_work() {
        let mut picture = Picture::default();
        picture.pop.processing = Some(popped(6, Some(4)));
        let work = rows(&view(picture, Vec::new()))
            .processing
            .unwrap_or_else(|| unreachable!());
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
        let last = rows(&view(picture, Vec::new()))
            .last
            .unwrap_or_else(|| unreachable!());
        assert_eq!(last.stack.shown[0].index, 2);
        assert_eq!(last.stack.hidden, 2);
    }
}
