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

/// The room at this moment, with places for so many deltas in the slot.
#[must_use]
pub fn rows(view: &View, slot: usize) -> PopRows {
    let picture = &view.picture;
    let names = Names::of(view);
    PopRows {
        mode: picture.pop.mode,
        asked: picture.pop.asked,
        holder: picture.lock.holder,
        waiting: picture.lock.waiting.clone(),
        processing: picture
            .pop
            .processing
            .as_ref()
            .map(|popped| in_work(&names, popped, slot)),
        last: last(picture, &names),
    }
}

fn in_work(names: &Names, popped: &Popped, slot: usize) -> PoppedRow {
    let mut all = deltas(popped);
    if let Some(position) = popped.position {
        for row in &mut all {
            row.done = row.index < position;
            row.lit = row.index == position;
        }
        // What is done leaves room for what comes.
        let over = all.len().saturating_sub(slot);
        all.drain(..position.min(over));
    }
    let mut fitted = stack(all, slot);
    // A stack has three places at the least; what is in work is the oldest of those that are left.
    fitted.shown.truncate(slot.max(1));
    fitted.hidden = popped.deltas.len() - fitted.shown.len();
    popped_row(names, popped, fitted)
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
        mark: names.mark(uid),
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
            entries: Vec::new(),
        }
    }

    #[test]
    fn the_slot_follows_what_is_in_work() {
        let mut picture = Picture::default();
        picture.pop.processing = Some(popped(6, Some(4)));
        let work = rows(&view(picture, Vec::new()), 3)
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
        let last = rows(&view(picture, Vec::new()), 3)
            .last
            .unwrap_or_else(|| unreachable!());
        assert_eq!(last.stack.shown[0].index, 2);
        assert_eq!(last.stack.hidden, 2);
    }
}
