//! What distinguishes the objects of a run: their marks, and names that several may share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::key::Key;
use deltascope_cache::map::Map;
use deltascope_cache::sorted::SortedMap;

use crate::caption::{Naming, short_name};

/// The marks of a run, hashed: UIDs come in no order. They are assigned in turn as objects appear, without those of
/// existing objects. A place in the run has the same marks however it was reached.
///
/// A view shares them with the run, which goes on: they grow, but those of what the view shows stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Marks(RefCell<Map<Arc<str>, u8>>);

impl Marks {
    /// The mark of a UID.
    #[must_use]
    pub fn get(&self, uid: &str) -> Option<u8> {
        self.0.borrow().get(uid).copied()
    }

    /// Assigns a mark to a UID.
    pub fn insert(&self, uid: &Arc<str>, mark: u8) {
        self.0.borrow_mut().insert(Arc::clone(uid), mark);
    }

    /// The marks of these UIDs alone.
    #[must_use]
    pub fn only<'a>(&self, uids: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let only = Self::default();
        for uid in uids {
            if let Some(mark) = self.get(uid) {
                only.insert(uid, mark);
            }
        }
        only
    }
}

/// The keys of a run that differ only in their namespace, by the name that they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// The first key of each name, hashed: the names of a list come in no order. It grows under a view, as marks do.
    first: Rc<RefCell<Map<Arc<str>, Key>>>,
    /// All keys of a name that has more than one.
    more: SortedMap<Arc<str>, Vec<Key>>,
    /// Whether there are keys of more than one namespace.
    several: bool,
}

impl Alike {
    /// Forgets the keys that do not exist.
    pub fn forget(this: &mut Rc<Self>, is_there: &dyn Fn(&Key) -> bool) {
        let known = std::mem::take(this);
        let first = known.first.borrow();
        for key in known.more.values().flatten().chain(first.values()) {
            if is_there(key) {
                Self::see(this, key);
            }
        }
    }

    /// The same for a run of its own.
    #[must_use]
    pub fn apart(&self) -> Rc<Self> {
        let first = Rc::new(RefCell::clone(&self.first));
        Rc::new(Self {
            first,
            ..self.clone()
        })
    }

    /// Whether the run has several keys with this name, which differ in their namespace.
    #[must_use]
    pub(crate) fn is_ambiguous(&self, short: &str) -> bool {
        self.more.get(short).is_some()
    }

    /// Whether a key of the run has this name, at any moment that is known.
    #[must_use]
    pub(crate) fn has(&self, short: &str) -> bool {
        self.first.borrow().contains_key(short)
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
        let first = this.first.borrow().get(short).cloned();
        match first {
            None => {
                let shared = Rc::clone(&this.first);
                let mut all = shared.borrow_mut();
                let other = all.values().find(|other| !other.is_empty());
                let differs = other.is_some_and(|other| namespace(other) != namespace(key));
                if differs && !key.is_empty() && !this.several {
                    Rc::make_mut(this).several = true;
                }
                all.insert(short.into(), key.clone());
            }
            Some(first) if first == *key => {}
            Some(first) => {
                let known = this.more.get(short);
                if known.is_none_or(|keys| !keys.contains(key)) {
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
