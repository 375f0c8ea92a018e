//! Owner references across tabs: who owns an object, and what it owns, among the objects that the tabs have.

use std::rc::Rc;
use std::sync::Arc;

use kube_core::DynamicObject;

use super::together::Tab;
use crate::strings;
use crate::strings::together::{absent, beside, momentless, owned_by, owns};
use deltascope_cache::key::Key;
use deltascope_cache::object::Object;
use deltascope_world::source::key_of;
use deltascope_world::source::proxy::target::{Target, group_of};
use deltascope_world::text::Lang;

/// Of the objects that one tab has of an owner, at most this many are listed.
const LISTED: usize = 20;

/// The kind that objects state of which only the metadata are watched.
const METADATA: &str = "PartialObjectMetadata";

/// A tab, and the objects that it has at some moment.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The number of the tab.
    pub tab: u64,
    /// What it watches, if it was ever connected.
    pub target: Option<Rc<Target>>,
    /// Its objects; `None` if the tab does not have that moment.
    pub objects: Option<Vec<Arc<DynamicObject>>>,
}

/// A kind of object, in any version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// Its API group; empty for the core group.
    pub group: String,
    /// Its name: `ReplicaSet`.
    pub name: String,
}

/// An owner, as an owner reference names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The namespace of what it owns, which is its own, unless it has none.
    pub namespace: String,
    /// Where it is.
    pub place: Place,
}

/// Where an owner is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this tab, under this key.
    Found(u64, Key),
    /// This tab watches its kind and does not have it at that moment.
    Absent(u64),
    /// This tab watches its kind, but not at that moment, or it has forgotten that.
    Unknown(u64),
    /// No tab watches its kind.
    Unwatched,
}

/// What an object owns in one tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The tab.
    pub tab: u64,
    /// The kind of these objects.
    pub kind: String,
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub keys: Vec<Key>,
}

/// The owners of an object, and what it owns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Its owners, in its own order.
    pub owners: Vec<Owner>,
    /// What it owns, tab by tab.
    pub owned: Vec<Owned>,
}

/// A relation in words, with links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What no link says.
    pub text: String,
    /// The links.
    pub links: Vec<(String, Act)>,
}

/// What a link does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It shows the object of this key in this tab.
    Show(u64, Key),
    /// It offers to watch this kind in this namespace.
    Watch(Kind, String),
}

impl Relations {
    /// The relations in words. `can_watch`: whether a kind that no tab watches can be watched in another tab.
    #[must_use]
    pub fn lines(&self, lang: Lang, tabs: &[Tab], can_watch: bool) -> Vec<Line> {
        let title = |id: u64| {
            let tab = tabs.iter().find(|tab| tab.id == id);
            tab.map_or("", |tab| tab.title.get(lang))
        };
        let owner = |owner: &Owner| {
            let kind = &owner.kind;
            let mut text = owned_by(lang, &kind.name, &owner.name);
            let mut links = Vec::new();
            match &owner.place {
                Place::Found(tab, key) => {
                    let said = format!("{text} → {}", title(*tab));
                    text.clear();
                    links.push((said, Act::Show(*tab, key.clone())));
                }
                Place::Absent(tab) => text.push_str(&absent(lang, title(*tab))),
                Place::Unknown(tab) => text.push_str(&momentless(lang, title(*tab))),
                Place::Unwatched if can_watch => {
                    let said = format!("{} …", beside(lang, &kind.name));
                    links.push((said, Act::Watch(kind.clone(), owner.namespace.clone())));
                }
                Place::Unwatched => {}
            }
            Line { text, links }
        };
        let owned = |owned: &Owned| {
            let (tab, more) = (owned.tab, owned.count - owned.keys.len());
            let mut text = format!("{} → {}", owns(lang, owned.count, &owned.kind), title(tab));
            if more > 0 {
                text.push_str(&format!(" ({})", strings::more(lang, more)));
            }
            let keys = owned.keys.iter();
            Line {
                text,
                links: keys
                    .map(|key| (key.to_string(), Act::Show(tab, key.clone())))
                    .collect(),
            }
        };
        let owners = self.owners.iter().map(owner);
        owners.chain(self.owned.iter().map(owned)).collect()
    }
}

impl Watched {
    fn objects(&self) -> &[Arc<DynamicObject>] {
        self.objects.as_deref().unwrap_or_default()
    }

    /// The kind of its objects. They state it themselves, except where metadata alone are watched: a file may have been
    /// opened since the tab was connected.
    fn kind(&self) -> Kind {
        let types = self.objects().first().and_then(|one| one.types.as_ref());
        match (types.filter(|types| types.kind != METADATA), &self.target) {
            (Some(types), _) => Kind::of(&types.api_version, &types.kind),
            (None, Some(target)) => Kind {
                group: target.resource.group.clone(),
                name: target.resource.kind.clone(),
            },
            (None, None) => Kind::default(),
        }
    }

    /// Whether it watches this namespace.
    fn covers(&self, namespace: &str) -> bool {
        let only = self.target.as_ref().and_then(|one| one.namespace.as_ref());
        only.is_none_or(|only| only == namespace)
    }
}

impl Kind {
    fn of(api_version: &str, kind: &str) -> Self {
        Self {
            group: group_of(api_version).to_owned(),
            name: kind.to_owned(),
        }
    }
}

/// Whether an owner of this UID, name and namespace is that object. Only a UID tells an object from an earlier one of
/// the same name.
fn is(object: &DynamicObject, uid: &str, name: &str, namespace: &str) -> bool {
    if !uid.is_empty() && !object.uid().is_empty() {
        return object.uid() == uid;
    }
    let own = object.namespace();
    object.name() == name && (own.is_empty() || own == namespace)
}

/// The relations of the object of this key in tab `here`, with the objects of all `tabs`.
#[must_use]
pub fn relations(key: &Key, here: u64, tabs: &[Watched]) -> Relations {
    let own = tabs.iter().find(|one| one.tab == here);
    let found = own.and_then(|own| {
        let object = own.objects().iter().find(|one| key_of(one) == *key)?;
        Some((own.kind(), object))
    });
    let Some((kind, object)) = found else {
        return Relations::default();
    };
    let kinds: Vec<Kind> = tabs.iter().map(Watched::kind).collect();
    let references = object.metadata.owner_references.iter().flatten();
    let owners = references.map(|reference| {
        let kind = Kind::of(&reference.api_version, &reference.kind);
        let namespace = object.namespace();
        let mut place = Place::Unwatched;
        for (one, _) in (tabs.iter().zip(&kinds)).filter(|(_, other)| **other == kind) {
            let mut objects = one.objects().iter();
            let (uid, name) = (&reference.uid, &reference.name);
            if let Some(found) = objects.find(|other| is(other, uid, name, namespace)) {
                place = Place::Found(one.tab, key_of(found));
                break;
            }
            if place == Place::Unwatched && one.covers(namespace) {
                place = match one.objects {
                    Some(_) => Place::Absent(one.tab),
                    None => Place::Unknown(one.tab),
                };
            }
        }
        Owner {
            kind,
            name: reference.name.clone(),
            namespace: namespace.to_owned(),
            place,
        }
    });
    let owns = |other: &&Arc<DynamicObject>| {
        let mut references = other.metadata.owner_references.iter().flatten();
        references.any(|reference| {
            is(object, &reference.uid, &reference.name, other.namespace())
                && Kind::of(&reference.api_version, &reference.kind) == kind
        })
    };
    let owned = tabs.iter().zip(&kinds).filter_map(|(one, kind)| {
        let found: Vec<_> = one.objects().iter().filter(owns).collect();
        (!found.is_empty()).then(|| Owned {
            tab: one.tab,
            kind: kind.name.clone(),
            count: found.len(),
            keys: found.iter().take(LISTED).map(|one| key_of(one)).collect(),
        })
    });
    Relations {
        owners: owners.collect(),
        owned: owned.collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::Status;
    use deltascope_world::source::pod::from_json;
    use deltascope_world::source::proxy::target::Resource;
    use deltascope_world::text::Text;

    const PODS: u64 = 1;
    const SETS: u64 = 2;

    fn object(namespace: &str, name: &str, uid: &str, owners: &Value) -> Arc<DynamicObject> {
        let object = json!({ "apiVersion": "meta.k8s.io/v1", "kind": METADATA,
            "metadata": { "name": name, "namespace": namespace, "uid": uid, "ownerReferences": owners } });
        Arc::new(from_json(object).unwrap())
    }

    fn tab(
        tab: u64,
        of: (&str, &str),
        namespace: &str,
        objects: Vec<Arc<DynamicObject>>,
    ) -> Watched {
        let resource = Resource {
            group: of.0.to_owned(),
            kind: of.1.to_owned(),
            ..Resource::default()
        };
        Watched {
            tab,
            target: Some(Rc::new(Target {
                resource,
                namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
                ..Target::default()
            })),
            objects: Some(objects),
        }
    }

    fn owner(kind: &str, name: &str, uid: &str) -> Value {
        json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid }])
    }

    #[test]
    fn an_owner_is_found_by_its_uid_or_else_by_its_name() {
        let set = |namespace, uid| object(namespace, "web-7d4", uid, &Value::Null);
        let found = |key: &str| Place::Found(SETS, Key::from(key));
        let sets = ("apps", "ReplicaSet");
        for (what, uid, sets, place) in [
            (
                "by its UID",
                "u2",
                tab(SETS, sets, "", vec![set("b", "u1"), set("a", "u2")]),
                found("a/web-7d4"),
            ),
            (
                "an earlier one of the same name is another",
                "u2",
                tab(SETS, sets, "", vec![set("a", "u1")]),
                Place::Absent(SETS),
            ),
            (
                "by its name where a UID is unknown",
                "",
                tab(SETS, sets, "", vec![set("b", "u1"), set("a", "u1")]),
                found("a/web-7d4"),
            ),
            (
                "without a namespace",
                "",
                tab(SETS, sets, "", vec![set("", "u1")]),
                found("web-7d4"),
            ),
            (
                "it does not have that moment",
                "u2",
                Watched {
                    objects: None,
                    ..tab(SETS, sets, "", Vec::new())
                },
                Place::Unknown(SETS),
            ),
            (
                "its namespace is not watched",
                "u2",
                tab(SETS, sets, "b", vec![set("b", "u1")]),
                Place::Unwatched,
            ),
            (
                "a kind of the same name in another group",
                "",
                tab(SETS, ("x.io", "ReplicaSet"), "", vec![set("a", "u1")]),
                Place::Unwatched,
            ),
            (
                "another kind",
                "",
                tab(SETS, ("apps", "StatefulSet"), "", vec![set("a", "u1")]),
                Place::Unwatched,
            ),
        ] {
            let pod = object("a", "web-0", "p", &owner("ReplicaSet", "web-7d4", uid));
            let tabs = [tab(PODS, ("", "Pod"), "", vec![pod]), sets];
            let owners = relations(&Key::from("a/web-0"), PODS, &tabs).owners;
            assert_eq!(owners[0].place, place, "{what}");
            assert_eq!(owners[0].name, "web-7d4", "{what}");
        }
    }

    #[test]
    fn what_an_object_owns_is_found_in_every_tab() {
        let set = object("a", "web-7d4", "u", &Value::Null);
        let pods = |namespace, count: usize, owner: &Value| -> Vec<Arc<DynamicObject>> {
            let pod = |n| object(namespace, &format!("web-{n}"), "p", owner);
            (0..count).map(pod).collect()
        };
        for (what, namespace, count, owner, counted) in [
            ("by UID", "a", 3, owner("ReplicaSet", "web-7d4", "u"), 3),
            ("many", "a", 50, owner("ReplicaSet", "web-7d4", "u"), 50),
            ("by name", "a", 1, owner("ReplicaSet", "web-7d4", ""), 1),
            ("another's", "a", 3, owner("ReplicaSet", "web-7d4", "v"), 0),
            ("elsewhere", "b", 3, owner("ReplicaSet", "web-7d4", ""), 0),
            (
                "another kind's",
                "a",
                3,
                owner("StatefulSet", "web-7d4", "u"),
                0,
            ),
            ("nobody's", "a", 3, Value::Null, 0),
        ] {
            let tabs = [
                tab(SETS, ("apps", "ReplicaSet"), "", vec![Arc::clone(&set)]),
                tab(PODS, ("", "Pod"), "", pods(namespace, count, &owner)),
            ];
            let owned = relations(&Key::from("a/web-7d4"), SETS, &tabs).owned;
            assert_eq!(
                owned.iter().map(|one| one.count).sum::<usize>(),
                counted,
                "{what}"
            );
            if let Some(one) = owned.first() {
                assert_eq!((one.tab, &*one.kind), (PODS, "Pod"), "{what}");
                assert_eq!(one.keys.len(), counted.min(LISTED), "{what}");
            }
        }
        let none = relations(&Key::from("a/gone"), SETS, &[]);
        assert_eq!(none, Relations::default());
    }

    #[test]
    fn a_relation_has_a_link_where_there_is_something_to_show() {
        let title = |id, title| Tab::new(id, Text::new(title, title), None, Status::default());
        let tabs = [title(PODS, "pods"), title(SETS, "sets")];
        let owner = |place| Owner {
            kind: Kind::of("apps/v1", "ReplicaSet"),
            name: "web-7d4".to_owned(),
            namespace: "a".to_owned(),
            place,
        };
        let keys = vec![Key::from("a/web-0"), Key::from("a/web-1")];
        let owned = Owned {
            tab: PODS,
            kind: "Pod".to_owned(),
            count: 30,
            keys: keys.clone(),
        };
        let found = Place::Found(SETS, Key::from("a/web-7d4"));
        let show = |tab, key: &str| Some(Act::Show(tab, Key::from(key)));
        let watch = Some(Act::Watch(
            Kind::of("apps/v1", "ReplicaSet"),
            "a".to_owned(),
        ));
        for (place, can_watch, text, link, act) in [
            (
                found.clone(),
                true,
                "",
                "Owned by ReplicaSet web-7d4 → sets",
                show(SETS, "a/web-7d4"),
            ),
            (
                Place::Absent(SETS),
                true,
                "Owned by ReplicaSet web-7d4, not in the tab sets at that moment",
                "",
                None,
            ),
            (
                Place::Unknown(SETS),
                true,
                "Owned by ReplicaSet web-7d4, and the tab sets does not have that moment",
                "",
                None,
            ),
            (
                Place::Unwatched,
                true,
                "Owned by ReplicaSet web-7d4",
                "Watch ReplicaSet in another tab …",
                watch,
            ),
            (
                Place::Unwatched,
                false,
                "Owned by ReplicaSet web-7d4",
                "",
                None,
            ),
        ] {
            let relations = Relations {
                owners: vec![owner(place)],
                owned: vec![owned.clone()],
            };
            let lines = relations.lines(Lang::En, &tabs, can_watch);
            assert_eq!(lines[0].text, text);
            let first = lines[0].links.first();
            assert_eq!(first.map_or("", |(link, _)| link), link);
            assert_eq!(first.map(|(_, act)| act.clone()), act);
            assert!(
                lines[1]
                    .text
                    .starts_with("Owns 30 objects of kind Pod → pods ("),
                "{}",
                lines[1].text
            );
            let (link, act) = lines[1].links[1].clone();
            assert_eq!((&*link, Some(act)), ("a/web-1", show(PODS, "a/web-1")));
        }
    }

    #[test]
    fn objects_of_a_file_state_their_kind() {
        let pod = Arc::new(from_json(json!({ "metadata": { "name": "web-0" } })).unwrap());
        let before = tab(PODS, ("apps", "ReplicaSet"), "", Vec::new());
        assert_eq!(before.kind(), Kind::of("apps/v1", "ReplicaSet"));
        let objects = Some(vec![pod]);
        assert_eq!(Watched { objects, ..before }.kind(), Kind::of("v1", "Pod"));
        assert_eq!(Watched::default().kind(), Kind::default());
    }
}
