//! Branches of a run: every one is kept, with the one that it left and when.

use std::sync::Arc;

use deltascope_world::Time;

use super::edit::Edit;

/// How many branches there are at the most: more than anybody compares, and each keeps checkpoints
/// of its own.
pub const MOST_BRANCHES: usize = 16;
/// How long a name may be, in characters.
pub const MOST_NAME: usize = 40;

/// What made a branch another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is the run that was opened.
    Opened,
    /// The user forked there.
    Forked,
    /// The user started over.
    Reset,
    /// The user did something there, when other things that he had done came later.
    Acted,
    /// Something was dropped, moved or set; with the key of the object, where there is one.
    Edited(Edit, Option<Arc<str>>),
}

/// One branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Its number, never given again.
    pub id: u32,
    /// Its name; empty as long as nobody gave it one.
    pub name: Arc<str>,
    /// The one that it left.
    pub parent: Option<u32>,
    /// When, in virtual ms.
    pub time: Time,
    /// Why.
    pub made: Made,
    /// How many branches it is away from the first.
    pub depth: usize,
}

/// The branches of what is open, as a tree. Those that are not the current one wait with a `K`: their
/// run, and what was found along it.
#[derive(Clone, Debug)]
pub struct Branches<K> {
    /// In the order of a walk through the tree: a branch stands behind the one that it left.
    list: Vec<(Branch, Option<K>)>,
    current: u32,
    next: u32,
}

impl<K> Default for Branches<K> {
    fn default() -> Self {
        let first = Branch {
            id: 1,
            name: "".into(),
            parent: None,
            time: 0,
            made: Made::Opened,
            depth: 0,
        };
        Self {
            list: vec![(first, None)],
            current: 1,
            next: 2,
        }
    }
}

impl<K> Branches<K> {
    /// All, in the order of a walk through the tree.
    pub fn iter(&self) -> impl Iterator<Item = &Branch> {
        self.list.iter().map(|(branch, _)| branch)
    }

    /// The number of the current one.
    #[must_use]
    pub fn current(&self) -> u32 {
        self.current
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Branch> {
        self.iter().find(|branch| branch.id == id)
    }

    /// What waits of one that is not the current one.
    #[must_use]
    pub fn kept(&self, id: u32) -> Option<&K> {
        let found = self.list.iter().find(|(branch, _)| branch.id == id);
        found.and_then(|(_, kept)| kept.as_ref())
    }

    /// Whether there is room for one more.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.list.len() < MOST_BRANCHES
    }

    /// Leaves the current branch at `time` for a new one, which is the current one from here on;
    /// false when there is no room.
    pub fn leave(&mut self, kept: K, time: Time, made: Made) -> bool {
        if !self.has_room() {
            return false;
        }
        let Some(place) = self.place_of(self.current) else {
            return false;
        };
        let depth = self.depth_at(place) + 1;
        if let Some((_, slot)) = self.list.get_mut(place) {
            *slot = Some(kept);
        }
        let branch = Branch {
            id: self.next,
            name: "".into(),
            parent: Some(self.current),
            time,
            made,
            depth,
        };
        // After its last descendant.
        let after = self.list.iter().skip(place + 1);
        let within = after.take_while(|(other, _)| other.depth >= depth).count();
        self.list.insert(place + 1 + within, (branch, None));
        self.current = self.next;
        self.next += 1;
        true
    }

    /// Goes to another branch: keeps what the current one comes with, and answers what that one
    /// waited with.
    pub fn switch(&mut self, to: u32, kept: K) -> Option<K> {
        let place = self.place_of(to)?;
        let found = self.list.get_mut(place)?.1.take()?;
        let from = self.place_of(self.current)?;
        if let Some((_, slot)) = self.list.get_mut(from) {
            *slot = Some(kept);
        }
        self.current = to;
        Some(found)
    }

    /// Gives a branch a name; an empty one takes it away.
    pub fn rename(&mut self, id: u32, name: &str) {
        let name: String = name.trim().chars().take(MOST_NAME).collect();
        if let Some(place) = self.place_of(id)
            && let Some((branch, _)) = self.list.get_mut(place)
        {
            branch.name = name.into();
        }
    }

    /// Removes a branch that is not the current one; those that left it have left its parent, then.
    /// False when it has to stay.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(place) = self.place_of(id).filter(|_| id != self.current) else {
            return false;
        };
        let depth = self.depth_at(place);
        let Some(parent) = self.list.get(place).and_then(|(branch, _)| branch.parent) else {
            return false;
        };
        self.list.remove(place);
        for (other, _) in self.list.iter_mut().skip(place) {
            if other.depth <= depth {
                break;
            }
            other.depth -= 1;
            if other.parent == Some(id) {
                other.parent = Some(parent);
            }
        }
        true
    }

    fn place_of(&self, id: u32) -> Option<usize> {
        self.iter().position(|branch| branch.id == id)
    }

    fn depth_at(&self, place: usize) -> usize {
        self.list.get(place).map_or(0, |(branch, _)| branch.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(branches: &Branches<()>) -> Vec<(u32, usize, Option<u32>)> {
        branches
            .iter()
            .map(|branch| (branch.id, branch.depth, branch.parent))
            .collect()
    }

    #[test]
    fn a_branch_stands_behind_the_one_that_it_left() {
        let mut branches = Branches::default();
        assert!(branches.leave((), 5, Made::Forked));
        assert!(branches.leave((), 9, Made::Forked));
        assert!(branches.switch(1, ()).is_some());
        assert!(branches.leave((), 7, Made::Acted));
        assert_eq!(
            tree(&branches),
            [
                (1, 0, None),
                (2, 1, Some(1)),
                (3, 2, Some(2)),
                (4, 1, Some(1))
            ]
        );
        assert_eq!(branches.current(), 4);
        // It is the current one, or is not there, or is there already.
        assert!(!branches.remove(4) && !branches.remove(9));
        assert!(branches.switch(4, ()).is_none() && branches.switch(9, ()).is_none());
        assert!(branches.remove(2));
        assert_eq!(
            tree(&branches),
            [(1, 0, None), (3, 1, Some(1)), (4, 1, Some(1))]
        );
        // The first one is what was opened.
        assert!(!branches.remove(1));
        branches.rename(3, "  before the cut ");
        assert_eq!(
            branches.get(3).map(|branch| &*branch.name),
            Some("before the cut")
        );
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut branches = Branches::default();
        while branches.has_room() {
            assert!(branches.leave((), 0, Made::Forked));
        }
        let before = tree(&branches);
        assert_eq!(before.len(), MOST_BRANCHES);
        assert!(!branches.leave((), 0, Made::Forked));
        assert_eq!(tree(&branches), before);
    }
}
