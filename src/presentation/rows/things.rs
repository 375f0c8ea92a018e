//! Everything on the stage that the user can ask about, by its anchor.

use crate::anchor::{Anchor, HandlerPlace};
use crate::caption::short_rv;
use crate::stage::{Panel, WorkPart};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, ObjectRef};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Picture, Popped, QueueKind, SourceKind};

use super::Names;

/// At most this many things of one kind are listed: on the stage the rest is behind a `+N`, too.
const OF_A_KIND: usize = 60;

/// Something on the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// The room of the thing.
    pub room: Panel,
    /// Its place on the stage.
    pub anchor: Anchor,
    /// Its display name; never translated.
    pub name: String,
}

/// All things, room by room; with `only`, those of one object.
#[must_use]
pub fn things<'a>(picture: &'a Picture, names: &'a Names, only: Option<&'a Key>) -> Vec<Thing> {
    let mut list = List {
        names,
        only,
        things: Vec::new(),
        left: 0,
        room: Panel::Api,
    };
    list.api(picture);
    list.queue(picture);
    list.pop(picture);
    list.indexer(picture);
    list.processor(picture);
    list.things
}

struct List<'a> {
    names: &'a Names,
    only: Option<&'a Key>,
    things: Vec<Thing>,
    left: usize,
    room: Panel,
}

impl<'a> List<'a> {
    /// Begins another kind of things, with its own limit.
    fn kind(&mut self, room: Panel) {
        self.room = room;
        self.left = if self.only.is_some() {
            usize::MAX
        } else {
            OF_A_KIND
        };
    }

    /// The first entries of `all`, as many as are listed; with `only`, the entry of that key.
    fn those<T>(
        &self,
        all: &mut dyn Iterator<Item = (&'a Key, T)>,
        one: &dyn Fn(&'a Key) -> Option<(&'a Key, T)>,
    ) -> Vec<(&'a Key, T)> {
        match self.only {
            Some(key) => one(key).into_iter().collect(),
            None => all.take(self.left).collect(),
        }
    }

    fn add(&mut self, key: Option<&Key>, thing: &dyn Fn() -> (Anchor, String)) {
        if self.left == 0 || (self.only.is_some() && self.only != key) {
            return;
        }
        self.left -= 1;
        let (anchor, name) = thing();
        self.things.push(Thing {
            room: self.room,
            anchor,
            name,
        });
    }

    fn api(&mut self, picture: &'a Picture) {
        let names = self.names;
        self.kind(Panel::Api);
        let object = |key| Some((key, picture.api.objects.get(key)?));
        for (key, object) in self.those(&mut picture.api.objects.iter(), &object) {
            self.add(Some(key), &|| {
                (
                    Anchor::Object(key.clone()),
                    named(names, "", &object.object),
                )
            });
        }
        self.kind(Panel::Api);
        let anchor = match picture.api.source {
            SourceKind::Program => Anchor::Call,
            _ => Anchor::Line,
        };
        for line in picture.api.stream.iter().rev() {
            self.add(Some(&line.object.key), &|| {
                let name = named(names, line.event.as_str(), &line.object);
                (anchor(line.number), name)
            });
        }
        self.kind(Panel::Reflector);
        if let Some((event, object)) = &picture.reflector.in_hand {
            self.add(Some(&object.key), &|| {
                (Anchor::Hand, named(names, event.as_str(), object))
            });
        }
    }

    fn queue(&mut self, picture: &'a Picture) {
        let names = self.names;
        self.kind(Panel::Queue);
        let queue = &picture.queue;
        let queued = |key| {
            // A FIFO's key may be queued without its object.
            let is_there = queue.deltas.contains_key(key) || queue.keys.contains(key);
            is_there.then_some((key, ()))
        };
        let all = queue.keys.iter().enumerate();
        // In a FIFO a key can have several places.
        let all = all.filter(|(place, key)| !queue.keys.iter().take(*place).any(|at| at == *key));
        let all = all.map(|(_, key)| key);
        for (key, ()) in self.those(&mut all.map(|key| (key, ())), &queued) {
            self.add(Some(key), &|| {
                let (key, name) = (key.clone(), names.get(key));
                (Anchor::QueuedKey { key, behind: 0 }, name)
            });
            let deltas = picture.queue.deltas.get(key).into_iter().flatten();
            for (index, (delta_type, object)) in deltas.enumerate() {
                self.add(Some(key), &|| {
                    let name = named(names, typed(picture, *delta_type), object);
                    let key = key.clone();
                    (Anchor::Delta { key, index }, name)
                });
            }
        }
        self.kind(Panel::Queue);
        for (place, entry) in picture.queue.entries.iter().enumerate() {
            if self.left == 0 {
                break;
            }
            let (key, name) = of_entry(names, entry);
            self.add(key, &|| (Anchor::Entry(place), name()));
        }
    }

    fn pop(&mut self, picture: &Picture) {
        let names = self.names;
        self.kind(Panel::Pop);
        if let Some(popped) = &picture.pop.processing {
            for (index, (delta_type, object)) in popped.deltas.iter().enumerate() {
                self.add(Some(&object.key), &|| {
                    let name = named(names, typed(picture, *delta_type), object);
                    (Anchor::PoppedDelta(index), name)
                });
            }
        }
        if let Some(Popped { key, deltas, .. }) = &picture.pop.last
            && let Some((delta_type, object)) = deltas.last()
        {
            let key = if key.is_empty() { &object.key } else { key };
            self.add(Some(key), &|| {
                let name = named(names, typed(picture, *delta_type), object);
                (Anchor::LastPopped, name)
            });
        }
    }

    fn indexer(&mut self, picture: &'a Picture) {
        let names = self.names;
        self.kind(Panel::Indexer);
        let item = |key| Some((key, picture.store.items.get(key)?));
        for (key, object) in self.those(&mut picture.store.items.iter(), &item) {
            self.add(Some(key), &|| {
                (Anchor::Item(key.clone()), named(names, "", object))
            });
        }
        self.kind(Panel::Indexer);
        for (index, values) in &picture.store.indices {
            for (value, keys) in values {
                let kept = |key| keys.binary_search(key).is_ok().then_some((key, ()));
                for (key, ()) in self.those(&mut keys.iter().map(|key| (key, ())), &kept) {
                    self.add(Some(key), &|| {
                        let name = format!("{index} = {value} · {}", names.get(key));
                        (Anchor::index_key(index, value, key), name)
                    });
                }
            }
        }
    }

    fn processor(&mut self, picture: &Picture) {
        let names = self.names;
        self.kind(Panel::Processor);
        for (number, handler) in (0..).zip(&picture.handlers) {
            let pending = handler.pending.iter().enumerate();
            let pending =
                pending.map(|(at, notification)| (HandlerPlace::Pending(at), notification));
            let running = handler.running.iter();
            let running = running.map(|notification| (HandlerPlace::Running, notification));
            let sending = handler.sending.iter();
            let sending = sending.map(|notification| (HandlerPlace::Sending, notification));
            for (place, notification) in running.chain(pending).chain(sending) {
                self.add(Some(&notification.object().key), &|| {
                    let name = named(names, notification.call(), notification.object());
                    (
                        Anchor::Handler(number, place),
                        format!("{} · {name}", handler.name),
                    )
                });
            }
        }
        self.kind(Panel::Processor);
        if let Some(work) = &picture.work {
            for key in &work.queue {
                self.add(Some(key), &|| {
                    let anchor = Anchor::Work(WorkPart::Queue, Some(key.clone()));
                    (anchor, names.get(key))
                });
            }
        }
        self.kind(Panel::Processor);
        for (number, printed) in picture.output.iter().enumerate().rev() {
            self.add(None, &|| {
                (Anchor::OutputLine(number), printed.line.to_string())
            });
        }
    }
}

/// The delta type of a queued item; a FIFO's object has none.
fn typed(picture: &Picture, delta_type: DeltaType) -> &'static str {
    match picture.queue.kind {
        QueueKind::Fifo => "",
        _ => delta_type.as_str(),
    }
}

fn named(names: &Names, what: &str, object: &ObjectRef) -> String {
    let mut name = what.to_owned();
    for part in [&*names.get(&object.key), &*short_rv(&object.rv)] {
        if !part.is_empty() {
            if !name.is_empty() {
                name.push_str(" · ");
            }
            name.push_str(part);
        }
    }
    name
}

fn of_entry<'a>(
    names: &'a Names,
    entry: &'a Entry,
) -> (Option<&'a Key>, Box<dyn Fn() -> String + 'a>) {
    match entry {
        Entry::Delta(delta_type, object) => (
            Some(&object.key),
            Box::new(move || named(names, delta_type.as_str(), object)),
        ),
        Entry::ReplacedAll { objects, .. } => (
            None,
            Box::new(|| format!("{} · {}", DeltaType::ReplacedAll.as_str(), objects.len())),
        ),
        Entry::SyncAll => (None, Box::new(|| DeltaType::SyncAll.as_str().to_owned())),
        Entry::Bookmark { rv } => (
            None,
            Box::new(move || format!("{} · {}", DeltaType::Bookmark.as_str(), short_rv(rv))),
        ),
    }
}
