//! The Indexer's room.

use std::sync::Arc;

use super::{Mark, Names, RvText, density};
use crate::view::View;
use deltascope_cache::fact::{Fact, ObjectRef, StoreFact};
use deltascope_cache::key::Key;
use deltascope_replay::gauge::Freshness;
use deltascope_replay::picture::Behind;
use deltascope_replay::picture::{Picture, StoreRoom};

/// At most this many items are shown as rows.
const ITEMS: usize = 60;
/// At most this many values of one index are shown.
const VALUES: usize = 60;
/// At most this many keys of one set are shown.
const TAGS: usize = 24;
/// At most this many keys of an answer are written out: nobody reads more.
const ANSWERED: usize = 200;

/// The index of the label `app`, and the value that each of these lessons queries it for.
const APP: &str = "app";
const ASKED: [(&str, &str); 2] = [
    ("indexer-run", "robusta-forwarder"),
    ("sharedinformer-indexer", "l1"),
];

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StoreRows {
    /// Whether the program has a store.
    pub present: bool,
    /// Its version.
    pub rv: RvText,
    /// How far it is behind the server.
    pub behind: Behind,
    /// The items by key.
    pub items: Vec<ItemRow>,
    /// How many items there are.
    pub count: usize,
    /// How many items are not shown.
    pub hidden: usize,
    /// Whether there are so many items that they are cells, not rows.
    pub dense: bool,
    /// The indices.
    pub indices: Vec<IndexRow>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow {
    /// Its key.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its mark.
    pub mark: Mark,
    /// Its version.
    pub rv: RvText,
    /// How it compares with the server's version.
    pub freshness: Freshness,
    /// The server's version; empty if the object is not there.
    pub server: RvText,
    /// Whether the current fact changes it.
    pub change: Change,
}

/// What the current fact does to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Change {
    /// Nothing.
    #[default]
    None,
    /// It fills the place.
    In,
    /// It empties the place.
    Out,
}

impl Change {
    /// Its CSS class.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::None => "",
            Self::In => "new",
            Self::Out => "out",
        }
    }
}

/// One index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its values in order, as many as are shown.
    pub values: Vec<ValueRow>,
    /// How many values are not shown.
    pub hidden: usize,
}

/// One indexed value with its set of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    /// The index.
    pub index: Arc<str>,
    /// The value.
    pub value: Arc<str>,
    /// The keys.
    pub tags: Vec<TagRow>,
    /// How many keys are not shown.
    pub hidden: usize,
    /// How many keys there are.
    pub count: usize,
}

/// One key in one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRow {
    /// The key.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// Whether the current fact changes it.
    pub change: Change,
}

/// The contents of the room.
#[must_use]
pub fn rows(view: &View) -> StoreRows {
    let store = &view.picture.store;
    let names = Names::of(view);
    let touched = Touched::of(view);
    let count = store.items.len();
    let dense = density::is_dense(&view.picture);
    let gone = touched.removed.as_ref();
    let stored = touched.stored.as_ref();
    let stored = stored.filter(|key| store.items.contains_key(*key));
    let wanted = gone.map(|(key, _)| key).or(stored);
    let wanted = wanted.map(|key| store.items.rank(key));
    let all = count + usize::from(gone.is_some());
    let first = wanted.map_or(0, |place| (place + 1).saturating_sub(ITEMS));
    let places = if dense { 0 } else { ITEMS };
    let shown = store.items.iter().skip(first).take(places);
    let mut items: Vec<_> = shown
        .map(|(key, object)| item(view, &names, key, object, touched.item(key)))
        .collect();
    if let Some((key, old)) = gone {
        let place = items.partition_point(|row| row.key < *key);
        items.insert(place, item(view, &names, key, old, Change::Out));
        items.truncate(places);
    }
    StoreRows {
        present: store.present,
        rv: RvText::of(&store.rv),
        behind: store.behind,
        hidden: if dense { 0 } else { all - items.len() },
        items,
        count,
        indices: indices(store, &names, &touched, dense),
        dense,
    }
}

/// The answer of the query box: the keys under a value of an index, as JSON.
///
/// # Errors
/// There is no such index; the text is that of `IndexKeys` in
/// [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go).
pub fn query(picture: &Picture, index: &str, value: &str) -> Result<String, String> {
    let Some(values) = picture.store.indices.get(index) else {
        return Err(format!("Index with name {index} does not exist"));
    };
    let keys = values.get(value).map_or(&[][..], Vec::as_slice);
    let more = keys.len().saturating_sub(ANSWERED);
    let keys = keys.iter().take(ANSWERED);
    let keys: Vec<serde_json::Value> = keys.map(|key| (&**key).into()).collect();
    let mut answer = serde_json::Value::from(keys).to_string();
    if more > 0 {
        answer.pop();
        answer.push_str(&format!(", … +{more}]"));
    }
    Ok(answer)
}

/// The initial query: `index`, or else the index of the label `app` (or the last one if there is none), and its
/// fullest value.
#[must_use]
pub fn first_query(view: &View, index: Option<&str>) -> (String, String) {
    let indices = &view.picture.store.indices;
    let last = indices.keys().last().map_or("", |name| name);
    let app = if indices.contains_key(APP) { APP } else { last };
    let index = index.unwrap_or(app);
    let asked = ASKED.iter().find(|(id, _)| *id == &*view.lesson.id);
    if let (APP, Some((_, value))) = (index, asked) {
        return (index.to_owned(), (*value).to_owned());
    }
    let values = indices.get(index).into_iter().flatten();
    let fullest = values.max_by_key(|(_, keys)| keys.len());
    let value = fullest.map(|(value, _)| value.to_string());
    (index.to_owned(), value.unwrap_or_default())
}

/// The names of the indices.
#[must_use]
pub fn index_names(view: &View) -> Vec<Arc<str>> {
    view.picture.store.indices.keys().cloned().collect()
}

/// The effects of the last operation on the store.
#[derive(Default)]
struct Touched {
    stored: Option<Key>,
    removed: Option<(Key, ObjectRef)>,
    entered: Vec<(Arc<str>, Arc<str>, Key)>,
    left: Option<(Arc<str>, Arc<str>, Key)>,
}

impl Touched {
    /// An operation is the unbroken run of store facts up to now. A removal is shown only while its fact is the
    /// current one.
    fn of(view: &View) -> Self {
        let mut touched = Self::default();
        let mut newest = true;
        for record in view.recent.iter().rev() {
            let Fact::Store(fact) = &record.fact else {
                break;
            };
            match fact {
                StoreFact::ItemStored { object, .. } => {
                    touched.stored = Some(object.key.clone());
                    break;
                }
                StoreFact::ItemRemoved { key, old } => {
                    if let (true, Some(old)) = (newest, old) {
                        touched.removed = Some((key.clone(), old.clone()));
                    }
                    break;
                }
                StoreFact::IndexEntryAdded { index, value, key } => {
                    touched
                        .entered
                        .push((Arc::clone(index), Arc::clone(value), key.clone()));
                    touched.stored.get_or_insert_with(|| key.clone());
                }
                StoreFact::IndexEntryRemoved {
                    index, value, key, ..
                } => {
                    if newest {
                        touched.left = Some((Arc::clone(index), Arc::clone(value), key.clone()));
                    }
                    touched.stored.get_or_insert_with(|| key.clone());
                }
                StoreFact::IndexFailed { key, .. } => {
                    touched.stored.get_or_insert_with(|| key.clone());
                }
                StoreFact::StoreVersionMoved { .. } => {}
                // Each of these is an operation of its own, on more than one object.
                StoreFact::StoreReplaced { .. }
                | StoreFact::IndexersAdded { .. }
                | StoreFact::IndicesReset => break,
            }
            newest = false;
        }
        touched
    }

    fn item(&self, key: &Key) -> Change {
        if self.stored.as_ref() == Some(key) {
            Change::In
        } else {
            Change::None
        }
    }

    fn tag(&self, index: &str, value: &str, key: &Key) -> Change {
        let entered = self
            .entered
            .iter()
            .any(|(i, v, k)| **i == *index && **v == *value && k == key);
        if entered { Change::In } else { Change::None }
    }
}

fn item(view: &View, names: &Names, key: &Key, object: &ObjectRef, change: Change) -> ItemRow {
    let server = view.picture.api.objects.get(key);
    let server = server.filter(|object| !object.deleted);
    ItemRow {
        freshness: match change {
            Change::Out => Freshness::Unknown,
            Change::None | Change::In => view.picture.freshness(key),
        },
        server: server
            .map(|object| RvText::narrow(&object.object.rv))
            .unwrap_or_default(),
        key: key.clone(),
        name: names.get(key),
        mark: names.mark(&object.uid),
        rv: RvText::narrow(&object.rv),
        change,
    }
}

fn indices(store: &StoreRoom, names: &Names, touched: &Touched, dense: bool) -> Vec<IndexRow> {
    let tag = |index: &str, value: &str, key: &Key| TagRow {
        key: key.clone(),
        name: names.get(key),
        mark: names.mark(store.items.get(key).map_or("", |object| &*object.uid)),
        change: touched.tag(index, value, key),
    };
    let row = |name: &Arc<str>, value: &Arc<str>, keys: &Vec<Key>| {
        // In cells, only a key that changes has an element.
        let shown = keys.iter().take(if dense { 0 } else { TAGS });
        let mut tags: Vec<_> = shown.map(|key| tag(name, value, key)).collect();
        if dense {
            let entered = touched.entered.iter();
            let here = entered.filter(|(i, v, _)| i == name && v == value);
            tags.extend(here.map(|(.., key)| tag(name, value, key)));
        }
        ValueRow {
            index: Arc::clone(name),
            value: Arc::clone(value),
            tags,
            hidden: if dense {
                0
            } else {
                keys.len().saturating_sub(TAGS)
            },
            count: keys.len(),
        }
    };
    let mut rows = Vec::new();
    for (name, values) in &store.indices {
        let changed = touched.entered.iter().chain(&touched.left);
        let changed = changed.filter(|(index, ..)| index == name);
        let place = changed.map(|(_, value, _)| values.rank(value)).max();
        let first = place.map_or(0, |place| (place + 1).saturating_sub(VALUES));
        let shown = values.iter().skip(first).take(VALUES);
        rows.push(IndexRow {
            name: Arc::clone(name),
            values: shown.map(|(value, keys)| row(name, value, keys)).collect(),
            hidden: values.len().saturating_sub(VALUES),
        });
    }
    if let Some((index, value, key)) = &touched.left {
        put_back(
            &mut rows,
            index,
            value,
            TagRow {
                change: Change::Out,
                ..tag(index, value, key)
            },
        );
    }
    rows
}

/// Puts a key that has just left a set back where it was, to be struck out; also its value, if that is gone.
fn put_back(rows: &mut [IndexRow], index: &Arc<str>, value: &Arc<str>, tag: TagRow) {
    let Some(row) = rows.iter_mut().find(|row| row.name == *index) else {
        return;
    };
    let place = row.values.partition_point(|other| other.value < *value);
    if row
        .values
        .get(place)
        .is_none_or(|other| other.value != *value)
    {
        row.values.insert(
            place,
            ValueRow {
                index: Arc::clone(index),
                value: Arc::clone(value),
                tags: Vec::new(),
                hidden: 0,
                count: 0,
            },
        );
    }
    let tags = &mut row.values[place].tags;
    let at = tags.partition_point(|other| other.key < tag.key);
    tags.insert(at, tag);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, view};
    use super::*;
    use deltascope_cache::fact::QueueFact;

    fn removed(index: &str, value: &str, emptied: bool) -> Fact {
        Fact::Store(StoreFact::IndexEntryRemoved {
            index: index.into(),
            value: value.into(),
            key: "a".into(),
            emptied,
        })
    }

    fn added(index: &str, value: &str) -> Fact {
        Fact::Store(StoreFact::IndexEntryAdded {
            index: index.into(),
            value: value.into(),
            key: "a".into(),
        })
    }

    fn stored(value: &str) -> Picture {
        let mut picture = Picture::default();
        picture.store.present = true;
        picture.store.items.insert("a".into(), object("a", "2"));
        let keys = [(Arc::from(value), vec![Key::from("a")])].into();
        picture.store.indices.insert("app".into(), keys);
        picture
    }

    fn update() -> Fact {
        Fact::Store(StoreFact::ItemStored {
            object: object("a", "2"),
            old: Some(object("a", "1")),
        })
    }

    fn changes(rows: &StoreRows) -> Vec<(String, Change)> {
        let values = rows.indices.iter().flat_map(|index| &index.values);
        values
            .flat_map(|value| {
                let name = value.value.to_string();
                value.tags.iter().map(move |tag| (name.clone(), tag.change))
            })
            .collect()
    }

    #[test]
    fn a_key_that_leaves_a_set_is_struck_out_for_one_step() {
        let facts = vec![update(), removed("app", "net", true)];
        let mut picture = stored("net");
        picture.store.indices["app"].clear();
        let at = rows(&view(picture, facts.clone()));
        assert_eq!(changes(&at), [("net".to_owned(), Change::Out)]);
        assert_eq!(at.items[0].change, Change::In);

        let facts = [facts, vec![added("app", "tools")]].concat();
        let after = rows(&view(stored("tools"), facts));
        assert_eq!(changes(&after), [("tools".to_owned(), Change::In)]);
    }

    #[test]
    fn a_removed_item_is_struck_out_for_one_step() {
        let fact = Fact::Store(StoreFact::ItemRemoved {
            key: "a".into(),
            old: Some(object("a", "1")),
        });
        let at = rows(&view(Picture::default(), vec![fact.clone()]));
        assert_eq!(at.items[0].change, Change::Out);
        assert_eq!(at.count, 0);
        let after = rows(&view(
            Picture::default(),
            vec![fact, Fact::Queue(QueueFact::QueueEmpty)],
        ));
        assert!(after.items.is_empty());
    }

    #[test]
    fn a_query_answers_like_the_indexer() {
        let picture = stored("web");
        assert_eq!(query(&picture, "app", "web").as_deref(), Ok("[\"a\"]"));
        assert_eq!(query(&picture, "app", "dns").as_deref(), Ok("[]"));
        let error = "Index with name none does not exist".to_owned();
        assert_eq!(query(&picture, "none", "web"), Err(error));
        let mut view = view(picture, Vec::new());
        let asks = |view: &View, index| {
            let (index, value) = first_query(view, index);
            format!("{index} {value}")
        };
        assert_eq!(asks(&view, None), "app web");
        assert_eq!(asks(&view, Some("none")), "none ");
        for (lesson, value) in ASKED {
            std::rc::Rc::make_mut(&mut view.lesson).id = lesson.into();
            assert_eq!(asks(&view, None), format!("app {value}"));
        }
    }
}
