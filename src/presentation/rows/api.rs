//! The API server's room.

use super::{Mark, Names, RvText, current, density};
use crate::fact_queries;
use crate::view::View;
use deltascope_cache::fact::{Body, EventType, Fact, ServerFact};
use deltascope_cache::key::Key;
use deltascope_replay::gauge::Freshness;
use deltascope_replay::picture::{ApiObject, Delivery, RequestKind, SourceKind};
use deltascope_world::source::Refusals;
use deltascope_world::source::pod::PodSpec;

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiRows {
    /// The source of the run.
    pub source: SourceKind,
    /// The server's version.
    pub rv: RvText,
    /// Whether objects can be written.
    pub can_write: bool,
    /// Whether the watch can be cut.
    pub can_cut: bool,
    /// The objects, as many as fit.
    pub objects: Vec<ObjectRow>,
    /// How many objects there are.
    pub count: usize,
    /// How many objects are not shown.
    pub hidden: usize,
    /// Whether there are so many objects that they are cells, not rows.
    pub dense: bool,
    /// The parameters of the open watch.
    pub watch: Option<String>,
    /// The server has forgotten what happened up to this version, and the reflector has not seen all of it.
    pub forgotten: Option<RvText>,
    /// The refusals that are armed and have not happened yet.
    pub armed: Vec<Refusals>,
    /// The newest lines of the stream, oldest first, as many as fit.
    pub stream: Vec<StreamRow>,
    /// The calls of a program, the newest last, as many as fit.
    pub calls: Vec<CallRow>,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRow {
    /// Its key.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its mark.
    pub mark: Mark,
    /// Its version.
    pub rv: RvText,
    /// How the cache's version compares with it.
    pub freshness: Freshness,
    /// The version in the cache; empty if it is not there.
    pub cached: RvText,
    /// It has been deleted.
    pub gone: bool,
    /// The current fact is about it.
    pub lit: bool,
    /// The initial contents of its form.
    pub draft: PodSpec,
}

/// One event on the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// Its number.
    pub number: u64,
    /// Its type.
    pub event: EventType,
    /// The object's key; empty for a bookmark.
    pub key: Key,
    /// The object's name; empty for a bookmark.
    pub name: String,
    /// The object's version.
    pub rv: RvText,
    /// How far it has been delivered.
    pub delivery: Delivery,
    /// The current fact is about it.
    pub lit: bool,
}

/// One call of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Its number in the run, from 0.
    pub number: u64,
    /// The event that it corresponds to: [`verb`] is its name.
    pub event: EventType,
    /// The key of its object.
    pub key: Key,
    /// The name of its object.
    pub name: String,
    /// The version of its object.
    pub rv: RvText,
    /// The current fact is this call.
    pub lit: bool,
}

/// The contents of the room, with places for this many objects and lines.
#[must_use]
pub fn rows(view: &View, objects: usize, lines: usize) -> ApiRows {
    let api = &view.picture.api;
    let names = Names::of(view);
    let lit = current(view).and_then(|record| {
        if let Fact::Server(ServerFact::WriteRefused { key, .. }) = &record.fact {
            return Some(key);
        }
        fact_queries::written(&record.fact).map(|object| &object.key)
    });
    let dense = density::is_dense(&view.picture);
    let (first, shown) = window(
        api.objects.len(),
        if dense { 1 } else { objects.max(2) },
        lit.and_then(|key| api.objects.get_index_of(key)),
    );
    ApiRows {
        source: api.source,
        rv: RvText::of(&api.rv),
        can_write: view.lesson.can_write,
        can_cut: view.lesson.can_cut && api.source == SourceKind::Server,
        objects: api
            .objects
            .iter()
            .skip(first)
            .take(shown)
            .map(|(key, object)| object_row(view, &names, key, object, lit == Some(key)))
            .collect(),
        count: api.objects.len(),
        hidden: if dense { 0 } else { api.objects.len() - shown },
        dense,
        watch: api.watch.as_ref().map(|rv| query(view, rv)),
        forgotten: forgotten(view),
        armed: api.refusals.iter().copied().collect(),
        stream: stream(view, &names, lines),
        calls: calls(view, &names, lines),
    }
}

fn forgotten(view: &View) -> Option<RvText> {
    let (api, seen) = (&view.picture.api, &view.picture.reflector.last_sync);
    // Only of the simulated server is it known, whose versions are numbers.
    let number = |rv: &str| rv.parse::<u64>().ok();
    let is_older = number(seen)? < number(&api.oldest)?;
    (api.source == SourceKind::Server && is_older).then(|| RvText::of(&api.oldest))
}

/// A name for a new object that the run has at no moment: what the script still creates would be refused otherwise.
#[must_use]
pub fn free_name(view: &View) -> String {
    let mut names = (0_u32..).map(|n| format!("web-{n}"));
    let free = names.find(|name| !view.alike.has(name));
    free.unwrap_or_default()
}

/// Whether a program has called anything.
#[must_use]
pub fn has_called(view: &View) -> bool {
    called_with(view).next().is_some()
}

/// The keys of a program's newest calls.
fn called_with(view: &View) -> impl Iterator<Item = &Key> {
    let api = &view.picture.api;
    let calls = api
        .stream
        .iter()
        .filter(|_| api.source == SourceKind::Program);
    calls.map(|call| &call.object.key)
}

/// The parameters of a watch, those that distinguish a streaming list first.
fn query(view: &View, rv: &str) -> String {
    let last = view.picture.reflector.requests.back();
    let streams = last.is_some_and(|line| line.kind == RequestKind::Stream);
    let mut query = "watch=true".to_owned();
    if let Some(selector) = &view.picture.api.selector {
        query = format!("{query} & labelSelector={selector}");
    }
    if streams {
        query += " & sendInitialEvents=true & resourceVersionMatch=NotOlderThan";
    }
    query += " & allowWatchBookmarks=true";
    // An empty parameter is not sent.
    if !rv.is_empty() {
        query += " & resourceVersion=";
        query += rv;
    }
    query
}

/// The first place and the length of the part of a list that is shown in `room` places: its end, or a part with
/// `wanted`.
fn window(length: usize, room: usize, wanted: Option<usize>) -> (usize, usize) {
    // The last place goes to the `+N`.
    let shown = if length > room { room - 1 } else { length };
    let first = length - shown;
    (wanted.map_or(first, |index| first.min(index)), shown)
}

/// The initial contents of the form for an object, if the object exists, or if the program has called with it:
/// what is deleted can be deleted once more then.
#[must_use]
pub fn draft(view: &View, key: &Key) -> Option<PodSpec> {
    if called_with(view).any(|called| called == key) {
        // A call's fact names its object, without the contents.
        return Some(draft_of(key, &Body::default()));
    }
    let object = view.picture.api.objects.get(key)?;
    (!object.deleted).then(|| draft_of(key, &object.body))
}

fn draft_of(key: &Key, body: &Body) -> PodSpec {
    PodSpec {
        labels: body.labels.clone(),
        node: body.node.to_string(),
        phase: body.phase.to_string(),
        ..PodSpec::of(key)
    }
}

fn object_row(view: &View, names: &Names, key: &Key, object: &ApiObject, lit: bool) -> ObjectRow {
    let cached = view.picture.store.items.get(key);
    ObjectRow {
        freshness: view.picture.freshness(key),
        cached: cached
            .map(|item| RvText::narrow(&item.rv))
            .unwrap_or_default(),
        key: key.clone(),
        name: names.long(key),
        mark: names.mark(&object.object.uid),
        rv: RvText::of(&object.object.rv),
        gone: object.deleted,
        lit,
        draft: draft_of(key, &object.body),
    }
}

fn stream(view: &View, names: &Names, lines: usize) -> Vec<StreamRow> {
    if view.picture.api.source == SourceKind::Program {
        // A program's calls are shown instead of a stream.
        return Vec::new();
    }
    let stream = &view.picture.api.stream;
    let hand = view.picture.reflector.in_hand.as_ref();
    let sent = current(view)
        .is_some_and(|record| matches!(record.fact, Fact::Server(ServerFact::EventSent { .. })));
    let lit = stream.back().filter(|_| sent).map(|line| line.number);
    // The event in the reflector's hand is the newest line that was received.
    let lit = lit.or_else(|| {
        hand.and_then(|_| {
            stream
                .iter()
                .rev()
                .find(|line| line.delivery == Delivery::Received)
                .map(|line| line.number)
        })
    });
    let skip = stream.len().saturating_sub(lines.max(1));
    stream
        .iter()
        .skip(skip)
        .map(|line| StreamRow {
            number: line.number,
            event: line.event,
            key: match line.event {
                EventType::Bookmark | EventType::Error => Key::from(""),
                _ => line.object.key.clone(),
            },
            name: match line.event {
                EventType::Bookmark | EventType::Error => String::new(),
                _ => names.get(&line.object.key),
            },
            rv: RvText::of(&line.object.rv),
            delivery: line.delivery,
            lit: lit == Some(line.number),
        })
        .collect()
}

fn calls(view: &View, names: &Names, lines: usize) -> Vec<CallRow> {
    if view.picture.api.source != SourceKind::Program {
        return Vec::new();
    }
    let called = current(view).is_some_and(|record| fact_queries::called(&record.fact).is_some());
    let calls = &view.picture.api.stream;
    let last = calls.back().filter(|_| called).map(|call| call.number);
    let skip = calls.len().saturating_sub(lines.max(1));
    let calls = calls.iter().skip(skip);
    calls
        .map(|call| CallRow {
            number: call.number,
            event: call.event,
            key: call.object.key.clone(),
            name: names.get(&call.object.key),
            rv: RvText::of(&call.object.rv),
            lit: last == Some(call.number),
        })
        .collect()
}

/// The method that a program calls, in place of a watch event.
#[must_use]
pub fn verb(event: EventType) -> &'static str {
    match event {
        EventType::Added => "Add",
        EventType::Modified => "Update",
        EventType::Deleted => "Delete",
        // No method of a program corresponds to these.
        EventType::Bookmark | EventType::Error => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_end_unless_an_older_item_is_wanted() {
        assert_eq!(window(4, 6, None), (0, 4));
        assert_eq!(window(60, 5, None), (56, 4));
        assert_eq!(window(60, 5, Some(57)), (56, 4));
        assert_eq!(window(60, 5, Some(10)), (10, 4));
    }
}
