//! Branches of a run: all are kept, each with its parent and the time at which it left the parent.

use std::sync::Arc;

use deltascope_world::Time;

use super::edit::Edit;

/// The most branches: more than anybody compares, and each keeps its own checkpoints.
pub const MOST_BRANCHES: usize = 16;
/// The longest name, in characters.
const MOST_NAME: usize = 40;

/// Why a branch was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// The run that was opened.
    Opened,
    /// The user forked there.
    Forked,
    /// The user restarted the run.
    Reset,
    /// The user acted at a time before other actions of the user.
    Acted,
    /// The user dropped or moved an event or changed a setting; with the key of the object, if there is one.
    Edited(Edit, Option<Arc<str>>),
    /// The run was cut down.
    Smallest,
}

/// One branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The number of the branch, never used again.
    pub id: u32,
    /// The name; empty until the user sets one.
    pub name: Arc<str>,
    /// The branch that it left.
    pub parent: Option<u32>,
    /// The virtual time at which it left the parent, in ms.
    pub time: Time,
    /// Why it was created.
    pub made: Made,
    /// Its distance from the first branch.
    pub depth: usize,
}

/// The branches of an open run, as a tree. Each branch but the current one is stored as a `K`: its run, and
/// the results found along it.
#[derive(Clone, Debug)]
pub struct Branches<K> {
    /// In depth-first order: a branch comes after its parent.
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
    /// All branches, in depth-first order.
    pub fn iter(&self) -> impl Iterator<Item = &Branch> {
        self.list.iter().map(|(branch, _)| branch)
    }

    /// The number of the current branch.
    #[must_use]
    pub fn current(&self) -> u32 {
        self.current
    }

    /// The branch with this number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Branch> {
        self.iter().find(|branch| branch.id == id)
    }

    /// The stored state of a branch that is not current.
    #[must_use]
    pub fn kept(&self, id: u32) -> Option<&K> {
        let found = self.list.iter().find(|(branch, _)| branch.id == id);
        found.and_then(|(_, kept)| kept.as_ref())
    }

    /// Whether another branch fits.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.list.len() < MOST_BRANCHES
    }

    /// Creates a branch that leaves the current one at `time`, and makes it current; false if there is no
    /// room.
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
        // Insert it after the last descendant.
        let after = self.list.iter().skip(place + 1);
        let within = after.take_while(|(other, _)| other.depth >= depth).count();
        self.list.insert(place + 1 + within, (branch, None));
        self.current = self.next;
        self.next += 1;
        true
    }

    /// Switches to another branch: stores the current one's state and returns that of the other.
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

    /// Names a branch; an empty name removes its name.
    pub fn rename(&mut self, id: u32, name: &str) {
        let name: String = name.trim().chars().take(MOST_NAME).collect();
        if let Some(place) = self.place_of(id)
            && let Some((branch, _)) = self.list.get_mut(place)
        {
            branch.name = name.into();
        }
    }

    /// Removes a branch other than the current one; its children move to its parent. False if the branch
    /// cannot be removed.
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
    fn a_branch_comes_after_its_parent() {
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
        // It is the current branch, or it does not exist.
        assert!(!branches.remove(4) && !branches.remove(9));
        assert!(branches.switch(4, ()).is_none() && branches.switch(9, ()).is_none());
        assert!(branches.remove(2));
        assert_eq!(
            tree(&branches),
            [(1, 0, None), (3, 1, Some(1)), (4, 1, Some(1))]
        );
        // The first branch is the opened run and stays.
        assert!(!branches.remove(1));
        branches.rename(3, "  before the cut ");
        assert_eq!(
            branches.get(3).map(|branch| &*branch.name),
            Some("before the cut")
        );
    }

    #[test]
    fn the_number_of_branches_is_limited() {
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
