//! The stage as a table: where each key is, and in which version.

use std::sync::Arc;

use crate::strings::{self, spoken};
use crate::view::View;
use deltascope_cache::fact::{Entry, NotificationRef, ObjectRef};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_replay::picture::{HandlerRoom, Picture, QueueKind};
use deltascope_world::text::Lang;

/// At most this many keys are listed.
const KEYS: usize = 200;

/// The table.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TableRows {
    /// The names of the handlers, which have a column each.
    pub handlers: Vec<Arc<str>>,
    /// A row for each key, in order.
    pub keys: Vec<KeyRow>,
    /// How many keys are not listed.
    pub hidden: usize,
}

/// One key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    /// The key.
    pub key: Key,
    /// What is in each place: the API server, the queue, Pop, the Indexer and each handler.
    pub cells: Vec<String>,
}

/// The contents of the table.
#[must_use]
pub fn rows(view: &View, lang: Lang) -> TableRows {
    let picture = &*view.picture;
    let handlers: Vec<_> = picture
        .handlers
        .iter()
        .filter(|one| !one.is_gone())
        .collect();
    let mut keys = SortedMap::<Key, ()>::default();
    let objects = picture.api.objects.keys().chain(picture.store.items.keys());
    let entries = picture.queue.entries.iter().flat_map(objects_of);
    let popped = picture
        .pop
        .processing
        .iter()
        .flat_map(|popped| &popped.deltas);
    let moving = entries.chain(popped.map(|(_, object)| object));
    for key in objects
        .chain(&picture.queue.keys)
        .chain(moving.map(|object| &object.key))
    {
        keys.insert(key.clone(), ());
    }
    TableRows {
        handlers: handlers.iter().map(|one| Arc::clone(&one.name)).collect(),
        hidden: keys.len().saturating_sub(KEYS),
        keys: keys
            .keys()
            .take(KEYS)
            .map(|key| {
                let mut cells = vec![
                    server(picture, key, lang),
                    queue(picture, key),
                    pop(picture, key),
                    picture
                        .store
                        .items
                        .get(key)
                        .map_or_else(String::new, version),
                ];
                cells.extend(handlers.iter().map(|one| handler(one, key, lang)));
                KeyRow {
                    key: key.clone(),
                    cells,
                }
            })
            .collect(),
    }
}

fn version(object: &ObjectRef) -> String {
    object.rv.to_string()
}

fn objects_of(entry: &Entry) -> &[ObjectRef] {
    match entry {
        Entry::Delta(_, object) => std::slice::from_ref(object),
        Entry::ReplacedAll { objects, .. } => objects,
        Entry::SyncAll | Entry::Bookmark { .. } => &[],
    }
}

fn server(picture: &Picture, key: &Key, lang: Lang) -> String {
    let Some(object) = picture.api.objects.get(key) else {
        return String::new();
    };
    let deleted = if object.deleted {
        strings::strings(lang).deleted
    } else {
        ""
    };
    spoken::parts([&*version(&object.object), deleted])
}

fn queue(picture: &Picture, key: &Key) -> String {
    let queue = &picture.queue;
    let plain = queue.kind == QueueKind::Fifo;
    let deltas = queue.deltas.get(key).into_iter().flatten();
    let deltas = deltas.map(|(delta_type, object)| typed(delta_type.as_str(), object, plain));
    let entries = queue.entries.iter().flat_map(|entry| {
        let objects = objects_of(entry).iter().filter(|object| object.key == *key);
        let name = entry.delta_type().as_str();
        objects.map(move |object| typed(name, object, false))
    });
    join(deltas.chain(entries))
}

fn pop(picture: &Picture, key: &Key) -> String {
    let popped = picture
        .pop
        .processing
        .iter()
        .flat_map(|popped| &popped.deltas);
    let plain = picture.queue.kind == QueueKind::Fifo;
    let deltas = popped.filter(|(_, object)| object.key == *key);
    join(deltas.map(|(delta_type, object)| typed(delta_type.as_str(), object, plain)))
}

/// What a handler was told last about a key, and how much more waits for it.
fn handler(handler: &HandlerRoom, key: &Key, lang: Lang) -> String {
    let about = |one: &NotificationRef| one.object().key == *key;
    let last = handler.notifications.iter().rev().find(|one| about(one));
    let last = last.map(|one| typed(one.call(), one.object(), false));
    let waits = handler.pending.iter().chain(&handler.sending);
    let waits = waits.filter(|one| about(one)).count();
    let waits = (waits > 0).then(|| strings::waiting(lang, waits));
    join(last.into_iter().chain(waits))
}

/// `Updated 7`, on one line.
fn typed(name: &str, object: &ObjectRef, plain: bool) -> String {
    let name = if plain { "" } else { name };
    let version = version(object);
    match (name, &*version) {
        ("", _) => version,
        (name, "") => name.to_owned(),
        (name, version) => format!("{name}\u{a0}{version}"),
    }
}

fn join(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<_> = texts.collect();
    spoken::parts(texts.iter().map(|text| &**text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, view};
    use super::*;
    use deltascope_cache::delta::DeltaType;

    #[test]
    fn a_key_is_in_each_place_in_its_version() {
        let add = |rv| NotificationRef::Add {
            object: object("a/web", rv),
            is_in_initial_list: false,
        };
        let mut picture = Picture::default();
        picture.queue.keys.push_back("a/web".into());
        let deltas = [(DeltaType::Added, "7"), (DeltaType::Updated, "8")];
        let deltas = deltas.map(|(delta_type, rv)| (delta_type, object("a/web", rv)));
        picture.queue.deltas.insert("a/web".into(), deltas.into());
        picture
            .store
            .items
            .insert("a/dns".into(), object("a/dns", "3"));
        picture
            .store
            .items
            .insert("a/web".into(), object("a/web", "6"));
        picture.handlers.push(HandlerRoom {
            name: "first".into(),
            notifications: [Arc::new(add("5"))].into(),
            pending: [add("6")].into(),
            ..HandlerRoom::default()
        });
        let table = rows(&view(picture, Vec::new()), Lang::En);
        assert_eq!(table.handlers, ["first".into()]);
        let lines: Vec<_> = table
            .keys
            .iter()
            .map(|row| {
                format!(
                    "{} | {}",
                    row.key,
                    row.cells.join(" | ").replace('\u{a0}', " ")
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                "a/dns |  |  |  | 3 | ",
                "a/web |  | Added 7, Updated 8 |  | 6 | OnAdd 5, 1 waiting",
            ]
        );
    }
}
