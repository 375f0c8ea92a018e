//! What distinguishes the objects of a run: their marks, and names that several may share.

use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::key::Key;
use deltascope_cache::map::Map;
use deltascope_cache::sorted::SortedMap;

use crate::caption::{Naming, short_name};

/// The marks of a run, hashed: UIDs come in no order. They are assigned in turn as objects appear, without those of
/// existing objects. A place in the run has the same marks however it was reached.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Marks(Map<Arc<str>, u8>);

impl Marks {
    /// The mark of a UID.
    #[must_use]
    pub fn get(&self, uid: &str) -> Option<u8> {
        self.0.get(uid).copied()
    }

    /// Assigns a mark to a UID.
    pub fn insert(&mut self, uid: &Arc<str>, mark: u8) {
        self.0.insert(Arc::clone(uid), mark);
    }

    /// Removes the mark of a UID.
    pub fn remove(&mut self, uid: &str) {
        self.0.swap_remove(uid);
    }

    /// Keeps the marks of these UIDs alone.
    pub fn keep<'a>(&mut self, uids: impl Iterator<Item = &'a str>) {
        let marks = std::mem::take(self);
        for uid in uids {
            if let Some((uid, mark)) = marks.0.get_key_value(uid) {
                self.insert(uid, *mark);
            }
        }
    }
}

/// The keys of a run that differ only in their namespace, by the name that they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// The first key of each name, hashed: the names of a list come in no order.
    first: Map<Arc<str>, Key>,
    /// All keys of a name that has more than one.
    more: SortedMap<Arc<str>, Vec<Key>>,
    /// Whether there are keys of more than one namespace.
    several: bool,
}

impl Alike {
    /// Forgets the keys that do not exist.
    pub fn forget(this: &mut Rc<Self>, is_there: &dyn Fn(&Key) -> bool) {
        let known = std::mem::take(this);
        for key in known.more.values().flatten().chain(known.first.values()) {
            if is_there(key) {
                Self::see(this, key);
            }
        }
    }

    /// Whether the run has several keys with this name, which differ in their namespace.
    #[must_use]
    pub(crate) fn is_ambiguous(&self, short: &str) -> bool {
        self.more.get(short).is_some()
    }

    /// Whether a key of the run has this name, at any moment that is known.
    #[must_use]
    pub(crate) fn has(&self, short: &str) -> bool {
        self.first.get(short).is_some()
    }

    /// How captions name the objects of the run.
    #[must_use]
    pub fn naming(&self) -> Naming {
        if self.several {
            Naming::Long
        } else {
            Naming::Short
        }
    }

    /// Adds a key.
    pub fn see(this: &mut Rc<Self>, key: &Key) {
        let short = short_name(key);
        match this.first.get(short) {
            None => {
                let this = Rc::make_mut(this);
                let other = this.first.values().find(|other| !other.is_empty());
                let differs = other.is_some_and(|other| namespace(other) != namespace(key));
                this.several |= differs && !key.is_empty();
                this.first.insert(short.into(), key.clone());
            }
            Some(first) if first == key => {}
            Some(first) => {
                let known = this.more.get(short);
                if known.is_none_or(|keys| !keys.contains(key)) {
                    let first = first.clone();
                    let this = Rc::make_mut(this);
                    this.several = true;
                    let keys = this.more.or_default(short.into());
                    if keys.is_empty() {
                        keys.push(first);
                    }
                    keys.push(key.clone());
                }
            }
        }
    }
}

/// The namespace in a key.
pub(crate) fn namespace(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(namespace, _)| namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_show_namespaces_once_there_are_two() {
        for (keys, naming) in [
            (&[][..], Naming::Short),
            (&["", "node-1", "node-2"], Naming::Short),
            (&["default/web", "", "default/dns"], Naming::Short),
            (&["default/web", "kube/web"], Naming::Long),
            (
                &["default/web", "", "kube/dns", "default/web"],
                Naming::Long,
            ),
        ] {
            let mut alike = Rc::default();
            for key in keys {
                Alike::see(&mut alike, &Key::from(*key));
            }
            assert_eq!(alike.naming(), naming, "{keys:?}");
            Alike::forget(&mut alike, &|key| !key.starts_with("kube/"));
            assert_eq!(alike.naming(), Naming::Short, "{keys:?}");
        }
    }
}
