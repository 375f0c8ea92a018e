//! What is selected on the stage, which fact put it there, and which object is followed.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use crate::anchor::{Anchor, INDEX};
use crate::fact_queries;
use deltascope_cache::fact::{
    Actor, Entry, Fact, FactRecord, HandlersFact, LockName, QueueFact, ReflectorFact, ServerFact,
    StoreFact, WorkFact,
};
use deltascope_cache::key::Key;
use deltascope_replay::occurrences::thinned;
use deltascope_replay::picture::{Picture, SourceKind};

use super::{Change, Session};

/// Of an object's old facts so many are looked at: each may lie in another part of the run, which
/// has to be computed again.
const TRIES: usize = 64;
/// What is not of one object is looked for in so many facts.
const LOOK_BACK: usize = 20_000;
/// A followed object has at most so many ticks; more would touch each other.
const TICKS: usize = 200;

/// Something on the stage that was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Where it was: `data-anchor`.
    pub anchor: Arc<str>,
    /// The object that it was about.
    pub key: Option<Key>,
    /// What put it there.
    pub found: Found,
}

/// What put something where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The fact at this place.
    Fact(usize),
    /// It was so from the start.
    Start,
    /// It happened longer ago than is looked for.
    LongAgo,
}

/// The passage of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Which.
    pub key: Key,
    /// How many facts are about it.
    pub count: usize,
    /// Some of them, each as the number of facts up to it, to be marked on the timeline.
    pub ticks: Arc<[u32]>,
}

impl Session {
    /// Selects what is at this place on the stage, or nothing.
    pub(super) fn select(&mut self, anchor: Option<&str>) -> Change {
        let picture = self.picture();
        let cursor = self.playback.cursor();
        self.asked.selection = anchor.and_then(|anchor| {
            let search = Search {
                session: self,
                picture: &picture,
                cursor,
            };
            search.of(anchor).map(Rc::new)
        });
        Change::None
    }

    /// Follows an object through the run, or none.
    pub(super) fn follow(&mut self, key: Option<Key>) -> Change {
        self.asked.followed = key.map(|key| {
            Rc::new(Followed {
                key,
                count: 0,
                ticks: Arc::default(),
            })
        });
        Change::None
    }

    /// What is selected.
    pub(super) fn selection(&self) -> Option<Rc<Selection>> {
        self.asked.selection.clone()
    }

    /// Who is followed, with all of its passage that is known.
    pub(super) fn followed(&mut self) -> Option<Rc<Followed>> {
        let followed = self.asked.followed.as_mut()?;
        let passage = self.landmarks.passages().of(&followed.key);
        if passage.is_empty() {
            return None;
        }
        if passage.len() != followed.count {
            let followed = Rc::make_mut(followed);
            followed.count = passage.len();
            followed.ticks = thinned(passage, TICKS).iter().map(|at| at + 1).collect();
        }
        Some(Rc::clone(followed))
    }
}

/// Looks for the fact behind something on the stage.
struct Search<'a> {
    session: &'a Session,
    picture: &'a Picture,
    cursor: usize,
}

impl Search<'_> {
    fn of(&self, anchor: &str) -> Option<Selection> {
        let (room, place) = anchor.split_once('/')?;
        let (kind, rest) = place.split_once('/').unwrap_or((place, ""));
        let (found, key) = match room {
            "api" if matches!(kind, "stream" | "call") => return self.named(anchor),
            "store" if kind == "index" => return self.named(anchor),
            "api" => self.api(kind, rest)?,
            "reflector" => (self.reflector(kind), self.in_hand(kind)),
            "queue" => self.queue(kind, rest)?,
            "pop" => self.pop(kind, rest)?,
            "store" => self.store(kind, rest)?,
            "handler" => self.handler(kind, rest)?,
            "work" => self.work(kind, rest)?,
            "output" => (self.line(rest), None),
            _ => return None,
        };
        Some(Selection {
            anchor: anchor.into(),
            key,
            found,
        })
    }

    /// What is on the stage now, of the place that an anchor names.
    fn named(&self, anchor: &str) -> Option<Selection> {
        let anchor = Anchor::read(anchor).map(|named| self.as_today(named, anchor))?;
        let (found, key) = match &anchor {
            Anchor::Line(number) | Anchor::Call(number) => {
                let stream = &self.picture.api.stream;
                let line = stream.iter().find(|line| line.number == *number)?;
                (self.put(*number), line.object.key.clone())
            }
            Anchor::IndexKey { index, value, key } => {
                let found = self.index_key(index, value, key)?;
                (found, Key::from(&**key))
            }
        };
        Some(Selection {
            anchor: anchor.to_string().into(),
            key: Some(key),
            found,
        })
    }

    /// Older links name a program's call by the place of its fact, and write names in an index with
    /// their slashes.
    fn as_today<'a>(&self, named: Anchor<'a>, anchor: &'a str) -> Anchor<'a> {
        let api = &self.picture.api;
        match named {
            Anchor::Line(number) if api.feed == SourceKind::Program => {
                let place = usize::try_from(number).unwrap_or(usize::MAX);
                let is_call = |record: &FactRecord| fact_queries::called(&record.fact).is_some();
                let timeline = &self.session.timeline;
                if place >= self.cursor || !timeline.fact(place).is_some_and(|at| is_call(&at)) {
                    return Anchor::Call(number);
                }
                let mut later = 1;
                timeline.each::<()>(place + 1..self.cursor, &mut |_, at| {
                    later += u64::from(is_call(at));
                    ControlFlow::Continue(())
                });
                Anchor::Call(api.sent.saturating_sub(later))
            }
            Anchor::IndexKey { index, value, key }
                if self.index_key(&index, &value, &key).is_none() =>
            {
                let sets = anchor.strip_prefix(INDEX).unwrap_or_default();
                let old = self.picture.store.indices.keys().find_map(|name| {
                    let set = sets.strip_prefix(&**name)?.strip_prefix('/')?;
                    set.match_indices('/').find_map(|(at, _)| {
                        let (value, key) = (&set[..at], &set[at + 1..]);
                        self.index_key(name, value, key)?;
                        let index = Cow::Owned(name.to_string());
                        Some(Anchor::IndexKey {
                            index,
                            value: value.into(),
                            key: key.into(),
                        })
                    })
                });
                old.unwrap_or(Anchor::IndexKey { index, value, key })
            }
            named => named,
        }
    }

    /// What put the line with this number there: so many came after it.
    fn put(&self, number: u64) -> Found {
        let after = self.picture.api.sent.saturating_sub(number + 1);
        self.before_last(after, &|fact| {
            fact_queries::called(fact).is_some()
                || matches!(fact, Fact::Server(ServerFact::EventSent { .. }))
        })
    }

    /// What put a key under a value, where it is or has just left.
    fn index_key(&self, index: &str, value: &str, key: &str) -> Option<Found> {
        let values = self.picture.store.indices.get(index)?;
        let is_there = values
            .get(value)
            .is_some_and(|keys| keys.binary_search_by(|other| (**other).cmp(key)).is_ok());
        let found = self.last_of(key, &|fact| {
            if let Some((i, v, _)) = fact_queries::index_entry(fact) {
                return **i == *index && **v == *value;
            }
            is_there && matches!(fact, Fact::Store(StoreFact::StoreReplaced { .. }))
        });
        (is_there || matches!(found, Found::Fact(_))).then_some(found)
    }

    fn api(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        Some(match kind {
            "object" => {
                // Of another server's objects only its answers tell.
                let told = matches!(
                    self.picture.api.feed,
                    SourceKind::Recorded | SourceKind::Cluster
                );
                let found = self.last_of(rest, &|fact| {
                    if let Fact::Server(ServerFact::ObjectsLearned { objects, .. }) = fact {
                        return objects.iter().any(|object| *object.key == *rest);
                    }
                    let sent = matches!(fact, Fact::Server(ServerFact::EventSent { .. }));
                    fact_queries::written(fact).is_some() || told && sent
                });
                (found, Some(Key::from(rest)))
            }
            _ => {
                let found = self.last(&|fact| {
                    let answered = matches!(
                        fact,
                        Fact::Server(
                            ServerFact::EventSent { .. } | ServerFact::ListAnswered { .. }
                        )
                    );
                    answered || fact_queries::written(fact).is_some()
                });
                (found, None)
            }
        })
    }

    fn reflector(&self, kind: &str) -> Found {
        match kind {
            "lastsync" => self
                .last(&|fact| matches!(fact, Fact::Reflector(ReflectorFact::LastSyncMoved { .. }))),
            "requests" => self.last(&|fact| {
                matches!(
                    fact,
                    Fact::Reflector(
                        ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. }
                    )
                )
            }),
            "hand" => self.last(&|fact| {
                matches!(
                    fact,
                    Fact::Reflector(
                        ReflectorFact::EventReceived { .. }
                            | ReflectorFact::InitialEventKept { .. }
                            | ReflectorFact::BackoffStarted { .. }
                    )
                )
            }),
            _ => self.last_record(&|record| record.actor == Actor::Reflector),
        }
    }

    fn in_hand(&self, kind: &str) -> Option<Key> {
        let (_, object) = self.picture.reflector.in_hand.as_ref()?;
        (kind == "hand").then(|| object.key.clone())
    }

    fn queue(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        let queue = &self.picture.queue;
        Some(match kind {
            "delta" => {
                let (key, index) = rest.rsplit_once('/')?;
                let index: usize = index.parse().ok()?;
                let (delta_type, object) = queue.deltas.get(key)?.get(index)?;
                let found = self.last_of(key, &|fact| {
                    if let Fact::Queue(QueueFact::DeltaAppended {
                        delta_type: of,
                        object: what,
                        ..
                    }) = fact
                    {
                        of == delta_type && what == object
                    } else if let Fact::Queue(QueueFact::FifoItemSet { object: what, .. }) = fact {
                        what == object
                    } else {
                        matches!(fact, Fact::Queue(QueueFact::Requeued { added: true, .. }))
                    }
                });
                (found, Some(Key::from(key)))
            }
            "key" | "column" => {
                // A FIFO's key may have further places.
                let rest = rest.split('#').next().unwrap_or(rest);
                let is_empty = !queue.deltas.contains_key(rest);
                let found = self.last_of(rest, &|fact| {
                    if is_empty {
                        return matches!(
                            fact,
                            Fact::Queue(
                                QueueFact::FifoItemRemoved { .. } | QueueFact::KeyPopped { .. }
                            )
                        );
                    }
                    // A first delta brings its key along.
                    matches!(
                        fact,
                        Fact::Queue(
                            QueueFact::KeyEnqueued { .. }
                                | QueueFact::Requeued { added: true, .. }
                                | QueueFact::DeltaAppended { depth: 1, .. }
                                | QueueFact::FifoItemSet { .. }
                        )
                    )
                });
                (found, Some(Key::from(rest)))
            }
            "entry" => {
                let entry = queue.entries.get(rest.parse::<usize>().ok()?)?;
                let key = match entry {
                    Entry::Delta(_, object) => Some(object.key.clone()),
                    _ => None,
                };
                let appended = |fact: &Fact| {
                    matches!(
                        fact,
                        Fact::Queue(QueueFact::EntryAppended { entry: of, .. }) if of == entry
                    )
                };
                let found = match &key {
                    Some(key) => self.last_of(key, &appended),
                    None => self.last(&appended),
                };
                (found, key)
            }
            _ => return None,
        })
    }

    fn pop(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        let pop = &self.picture.pop;
        let popped = match kind {
            "lock" | "block" => {
                let name = if kind == "lock" {
                    LockName::Queue
                } else {
                    LockName::BlockDeltas
                };
                let found = self.last(&|fact| {
                    matches!(
                        fact,
                        Fact::Queue(
                            QueueFact::LockTaken { lock, .. } | QueueFact::LockReleased { lock, .. },
                        ) if *lock == name
                    )
                });
                return Some((found, None));
            }
            "last" => pop.last.as_ref()?,
            _ => pop.processing.as_ref()?,
        };
        let token = rest.parse().ok().and_then(|at: usize| {
            let (delta_type, object) = popped.deltas.get(at)?;
            let taken = popped.position.is_some_and(|position| at <= position);
            taken.then_some((at, *delta_type, object))
        });
        if let Some((at, delta_type, object)) = token {
            let found = self.last_of(&object.key, &|fact| {
                matches!(
                    fact,
                    Fact::Queue(QueueFact::DeltaTaken {
                        position,
                        delta_type: of,
                        object: what,
                        ..
                    }) if *position as usize == at && *of == delta_type && what == object
                )
            });
            return Some((found, Some(object.key.clone())));
        }
        // Entries have no key of their own.
        if popped.key.is_empty() {
            let one = match (kind, popped.deltas.as_slice()) {
                ("last", [.., one]) | (_, [one]) => Some(one),
                (_, all) => rest.parse().ok().and_then(|at: usize| all.get(at)),
            };
            let found =
                self.last(&|fact| matches!(fact, Fact::Queue(QueueFact::EntriesTaken { .. })));
            return Some((found, one.map(|(_, object)| object.key.clone())));
        }
        let found = self.last_of(&popped.key, &|fact| {
            matches!(fact, Fact::Queue(QueueFact::KeyPopped { .. }))
        });
        Some((found, Some(popped.key.clone())))
    }

    fn store(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        match kind {
            "item" => {
                let found = self.last_of(rest, &|fact| {
                    matches!(
                        fact,
                        Fact::Store(
                            StoreFact::ItemStored { .. }
                                | StoreFact::ItemRemoved { .. }
                                | StoreFact::StoreReplaced { .. }
                        )
                    )
                });
                Some((found, Some(Key::from(rest))))
            }
            _ => {
                let found = self.last(&|fact| {
                    matches!(
                        fact,
                        Fact::Store(
                            StoreFact::ItemStored { .. }
                                | StoreFact::ItemRemoved { .. }
                                | StoreFact::StoreReplaced { .. }
                                | StoreFact::StoreVersionMoved { .. }
                        )
                    )
                });
                Some((found, None))
            }
        }
    }

    fn handler(&self, number: &str, place: &str) -> Option<(Found, Option<Key>)> {
        let number: u8 = number.parse().ok()?;
        let handler = self.picture.handlers.get(usize::from(number))?;
        let told = match place.split_once('/') {
            Some((_, at)) => handler.pending.get(at.parse::<usize>().ok()?),
            None if place == "running" => handler.running.as_ref(),
            None if place == "sending" => handler.sending.as_ref(),
            None => None,
        };
        let Some(told) = told else {
            let added = |fact: &Fact| {
                matches!(
                    fact,
                    Fact::Handlers(HandlersFact::HandlerAdded { handler, .. }) if *handler == number
                )
            };
            return Some((self.last(&added), None));
        };
        let found = self.last_of(&told.object().key, &|fact| {
            let elsewhere = matches!(
                fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. }) if place != "running"
            ) || matches!(
                fact,
                Fact::Handlers(HandlersFact::NotificationSent { .. }) if place != "sending"
            );
            !elsewhere && fact_queries::notification(fact) == Some((number, told))
        });
        Some((found, Some(told.object().key.clone())))
    }

    fn work(&self, kind: &str, key: &str) -> Option<(Found, Option<Key>)> {
        if key.is_empty() {
            return None;
        }
        let found = self.last_of(key, &|fact| match kind {
            "processing" => matches!(fact, Fact::Work(WorkFact::WorkTaken { .. })),
            "delayed" | "failures" => matches!(fact, Fact::Work(WorkFact::WorkDelayed { .. })),
            _ => matches!(fact, Fact::Work(WorkFact::WorkAdded { .. })),
        });
        Some((found, Some(Key::from(key))))
    }

    fn line(&self, number: &str) -> Found {
        let lines = self.picture.output.len();
        let number = number.parse().unwrap_or(lines.saturating_sub(1));
        let after = lines.saturating_sub(number + 1) as u64;
        self.before_last(after, &|fact| {
            matches!(fact, Fact::Handlers(HandlersFact::LinePrinted { .. }))
        })
    }

    /// The one that so many of its kind came after.
    fn before_last(&self, after: u64, kind: &dyn Fn(&Fact) -> bool) -> Found {
        let after = Cell::new(after);
        self.last(&|fact| {
            let is_one = kind(fact);
            let is_later = is_one && after.get() > 0;
            if is_later {
                after.set(after.get() - 1);
            }
            is_one && !is_later
        })
    }

    /// The last fact about an object, or about all of them.
    fn last_of(&self, key: &str, wanted: &dyn Fn(&Fact) -> bool) -> Found {
        let passages = self.session.landmarks.passages();
        for (tried, place) in passages.back(key, self.cursor).enumerate() {
            if tried >= TRIES && place + LOOK_BACK < self.cursor {
                return Found::LongAgo;
            }
            let Some(record) = self.session.timeline.fact(place) else {
                continue;
            };
            if let Fact::Store(StoreFact::StoreReplaced { items }) = &record.fact
                && items.iter().all(|item| &*item.key != key)
            {
                continue;
            }
            if wanted(&record.fact) {
                return Found::Fact(place);
            }
        }
        Found::Start
    }

    fn last(&self, wanted: &dyn Fn(&Fact) -> bool) -> Found {
        self.last_record(&|record| wanted(&record.fact))
    }

    fn last_record(&self, wanted: &dyn Fn(&FactRecord) -> bool) -> Found {
        let from = self.cursor.saturating_sub(LOOK_BACK);
        let found = self
            .session
            .timeline
            .each_back(from..self.cursor, &mut |place, record| {
                if wanted(record) {
                    ControlFlow::Break(Found::Fact(place))
                } else {
                    ControlFlow::Continue(())
                }
            });
        found.unwrap_or(if from == 0 {
            Found::Start
        } else {
            Found::LongAgo
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::collections::BTreeMap;

    use super::*;
    use crate::command::Command;
    use crate::motion::plan::plan;
    use crate::rows::api;
    use crate::rows::live::Panel;
    use crate::rows::things;
    use deltascope_cache::controller::Generation;
    use deltascope_cache::fact::RunFact;
    use deltascope_replay::lessons;
    use deltascope_replay::picture::QueueKind;
    use deltascope_world::source::program::event_of;

    /// What a fact has to say to have put something there.
    type Says = Box<dyn Fn(&Fact) -> bool>;

    /// By its anchor, all that the picture holds: which object it is of, and what put it there.
    fn held(picture: &Picture) -> BTreeMap<String, (Option<Key>, Says)> {
        fn says(is: impl Fn(&Fact) -> bool + 'static) -> Says {
            Box::new(is)
        }
        let is_fifo = picture.queue.kind == QueueKind::Fifo;
        let mut held = BTreeMap::new();
        let mut hold = |anchor: String, key: Option<&Key>, says: Says| {
            held.insert(anchor, (key.cloned(), says));
        };
        for (key, is) in &picture.api.objects {
            let object = is.object.clone();
            let says = says(move |fact| match fact {
                Fact::Server(
                    ServerFact::ObjectCreated { object: of, .. }
                    | ServerFact::ObjectUpdated { object: of, .. }
                    | ServerFact::ObjectDeleted { object: of, .. }
                    | ServerFact::EventSent { object: of, .. },
                ) => *of == object,
                Fact::Server(ServerFact::ObjectsLearned { objects, .. }) => {
                    objects.contains(&object)
                }
                _ => false,
            });
            hold(format!("api/object/{key}"), Some(key), says);
        }
        for line in &picture.api.stream {
            let (line, number) = (line.clone(), line.number);
            let key = line.object.key.clone();
            if picture.api.feed == SourceKind::Program {
                let says = says(move |fact| match fact {
                    Fact::Run(RunFact::Called { object, delta_type }) => {
                        *object == line.object && event_of(*delta_type) == line.event
                    }
                    _ => false,
                });
                hold(format!("api/call/{number}"), Some(&key), says);
            } else {
                let says = says(move |fact| match fact {
                    Fact::Server(ServerFact::EventSent { object, event, .. }) => {
                        *object == line.object && *event == line.event
                    }
                    _ => false,
                });
                hold(format!("api/stream/{number}"), Some(&key), says);
            }
        }
        if let Some((_, object)) = picture.reflector.in_hand.clone() {
            let key = object.key.clone();
            let says = says(move |fact| match fact {
                Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }) => *of == object,
                _ => false,
            });
            hold("reflector/hand".into(), Some(&key), says);
        }
        let queued = picture.queue.keys.iter().chain(picture.queue.deltas.keys());
        for key in queued {
            let says = says(|fact| {
                matches!(
                    fact,
                    Fact::Queue(
                        QueueFact::KeyEnqueued { .. }
                            | QueueFact::Requeued { added: true, .. }
                            | QueueFact::DeltaAppended { depth: 1, .. }
                            | QueueFact::FifoItemSet { .. }
                    )
                )
            });
            hold(format!("queue/key/{key}"), Some(key), says);
        }
        for (key, deltas) in &picture.queue.deltas {
            for (index, (delta_type, object)) in deltas.iter().enumerate() {
                let (delta_type, object) = (*delta_type, object.clone());
                let says = says(move |fact| match fact {
                    Fact::Queue(QueueFact::DeltaAppended {
                        delta_type: of,
                        object: what,
                        ..
                    }) => *of == delta_type && *what == object,
                    Fact::Queue(QueueFact::FifoItemSet { object: what, .. }) => {
                        is_fifo && *what == object
                    }
                    Fact::Queue(QueueFact::Requeued { added, .. }) => *added,
                    _ => false,
                });
                hold(format!("queue/delta/{key}/{index}"), Some(key), says);
            }
        }
        for (place, entry) in picture.queue.entries.iter().enumerate() {
            let entry = entry.clone();
            let key = match &entry {
                Entry::Delta(_, object) => Some(object.key.clone()),
                _ => None,
            };
            let says = says(move |fact| match fact {
                Fact::Queue(QueueFact::EntryAppended { entry: of, .. }) => *of == entry,
                _ => false,
            });
            hold(format!("queue/entry/{place}"), key.as_ref(), says);
        }
        let popped = picture.pop.processing.iter();
        for (at, (delta_type, object)) in popped.flat_map(|one| &one.deltas).enumerate() {
            let (delta_type, object) = (*delta_type, object.clone());
            let key = object.key.clone();
            let says = says(move |fact| match fact {
                Fact::Queue(QueueFact::DeltaTaken {
                    position,
                    delta_type: of,
                    object: what,
                    ..
                }) => *position as usize == at && *of == delta_type && *what == object,
                Fact::Queue(QueueFact::KeyPopped { deltas, .. }) => {
                    deltas.get(at) == Some(&(delta_type, object.clone()))
                }
                Fact::Queue(QueueFact::EntriesTaken { .. }) => true,
                _ => false,
            });
            hold(format!("pop/delta/{at}"), Some(&key), says);
        }
        if let Some((_, object)) = picture.pop.last.iter().flat_map(|one| &one.deltas).last() {
            let says = says(|fact| {
                matches!(
                    fact,
                    Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. })
                )
            });
            hold("pop/last".into(), Some(&object.key), says);
        }
        for (key, object) in &picture.store.items {
            let object = object.clone();
            let says = says(move |fact| match fact {
                Fact::Store(StoreFact::ItemStored { object: of, .. }) => *of == object,
                Fact::Store(StoreFact::StoreReplaced { items }) => items.contains(&object),
                _ => false,
            });
            hold(format!("store/item/{key}"), Some(key), says);
        }
        for (index, values) in &picture.store.indices {
            for (value, key) in values
                .iter()
                .flat_map(|(value, keys)| keys.iter().map(move |key| (value, key)))
            {
                let anchor = Anchor::index_key(index, value, key).to_string();
                let added = Fact::Store(StoreFact::IndexEntryAdded {
                    index: Arc::clone(index),
                    value: Arc::clone(value),
                    key: key.clone(),
                });
                let says = says(move |fact| {
                    *fact == added || matches!(fact, Fact::Store(StoreFact::StoreReplaced { .. }))
                });
                hold(anchor, Some(key), says);
            }
        }
        for (number, handler) in (0..).zip(&picture.handlers) {
            let pending = handler.pending.iter().enumerate();
            let pending = pending.map(|(at, told)| (format!("pending/{at}"), told));
            let running = handler.running.iter().map(|told| ("running".into(), told));
            let sending = handler.sending.iter().map(|told| ("sending".into(), told));
            for (place, told) in running.chain(pending).chain(sending) {
                let (told, is) = (told.clone(), place.clone());
                let key = told.object().key.clone();
                let says = says(move |fact| match fact {
                    Fact::Handlers(HandlersFact::NotificationTaken {
                        handler,
                        notification,
                    }) => is == "running" && *handler == number && *notification == told,
                    Fact::Handlers(HandlersFact::NotificationSent {
                        handler,
                        notification,
                    }) => is == "sending" && *handler == number && *notification == told,
                    Fact::Handlers(HandlersFact::NotificationQueued {
                        handler,
                        notification,
                        ..
                    }) => is.starts_with("pending") && *handler == number && *notification == told,
                    _ => false,
                });
                hold(format!("handler/{number}/{place}"), Some(&key), says);
            }
        }
        for key in picture.work.iter().flat_map(|work| &work.queue) {
            let says = says(|fact| {
                matches!(
                    fact,
                    Fact::Work(WorkFact::WorkAdded { .. } | WorkFact::WorkDone { again: true, .. })
                )
            });
            hold(format!("work/queue/{key}"), Some(key), says);
        }
        for (number, line) in picture.output.iter().enumerate() {
            let line = Arc::clone(line);
            let says = says(move |fact| match fact {
                Fact::Handlers(HandlersFact::LinePrinted { line: of, .. }) => *of == line,
                _ => false,
            });
            hold(format!("output/line/{number}"), None, says);
        }
        held
    }

    #[test]
    fn everything_on_the_stage_was_put_there_by_a_fact_about_it() {
        let mut session = Session::new();
        session.obey(Command::Seek(700));
        let mut asked = 0;
        let runs = lessons::menu().into_iter().map(|(id, _)| Command::Load(id));
        let eras = Generation::ALL.map(|era| Command::Era(era.era().into()));
        for run in runs
            .chain([Command::Load(lessons::FIRST.into())])
            .chain(eras)
        {
            session.obey(run);
            let start = session.timeline.picture(0);
            for step in (1..700).step_by(13) {
                session.obey(Command::Seek(step));
                let picture = session.picture();
                let held = held(&picture);
                for thing in things::things(&picture, &Default::default(), None) {
                    let (key, says) = &held[&thing.anchor];
                    session.obey(Command::Select(Some(thing.anchor.as_str().into())));
                    let selection = session.view().selection;
                    let Some(selection) = selection else {
                        unreachable!("{step}: {thing:?}");
                    };
                    asked += 1;
                    assert_eq!(*selection.anchor, *thing.anchor);
                    assert_eq!(selection.key, *key, "{thing:?}");
                    match selection.found {
                        Found::Fact(place) => {
                            assert!(place < step, "{thing:?}");
                            let record = session.timeline.fact(place).unwrap();
                            assert!(says(&record.fact), "{step}: {thing:?}: {record:?}");
                            // A whole list is about none of its objects.
                            let about = record.fact.key();
                            assert!(about.is_none() || about == key.as_ref(), "{thing:?}");
                        }
                        // The server's objects may be older than the run, and the rest follows.
                        found => {
                            let is = (found, thing.room);
                            assert_eq!(is, (Found::Start, Panel::Api), "{step}: {thing:?}");
                            let key = key.as_ref().unwrap();
                            let (was, is) = (&start.api.objects, &picture.api.objects);
                            assert_eq!(was.get(key), is.get(key), "{step}: {thing:?}");
                        }
                    }
                }
            }
        }
        assert!(asked > 10_000, "{asked}");
    }

    #[test]
    fn a_call_of_a_program_has_one_number_and_old_links_name_it_by_its_fact() {
        let mut session = Session::new();
        session.obey(Command::Load("deltafifo".into()));
        session.obey(Command::Seek(400));
        let all = session.timeline.all_facts();
        let calls = all
            .iter()
            .enumerate()
            .filter(|(_, at)| matches!(at.fact, Fact::Run(RunFact::Called { .. })));
        let calls: Vec<_> = calls.map(|(place, at)| (place, at.clone())).collect();
        assert!(calls.len() > 2);
        let lines: Vec<u64> = session
            .picture()
            .api
            .stream
            .iter()
            .map(|l| l.number)
            .collect();
        assert!(lines.iter().copied().eq(0..calls.len() as u64));
        for (number, (place, call)) in calls.iter().enumerate() {
            let anchor = Anchor::Call(number as u64).to_string();
            for named in [anchor.clone(), format!("api/stream/{place}")] {
                session.obey(Command::Select(Some(named.as_str().into())));
                let selection = session.view().selection.unwrap();
                assert_eq!(selection.found, Found::Fact(*place), "{named}");
                assert_eq!(selection.key.as_ref(), call.fact.key(), "{named}");
                assert_eq!(*selection.anchor, *anchor);
            }
            // What the stage shows, and where the motion of what comes of it begins.
            session.obey(Command::Seek(place + 1));
            let rows = api::rows(&session.view(), 6, 60);
            let row = rows.calls.last().unwrap();
            assert_eq!((row.number, row.lit), (number as u64, true));
            let queued = (place + 1..).find(|at| {
                let fact = &all[*at].fact;
                fact.queued().is_some()
                    || matches!(fact, Fact::Queue(QueueFact::DeleteIgnored { .. }))
            });
            let queued = queued.unwrap();
            session.obey(Command::Seek(queued + 1));
            let motion = plan(&all[queued], &session.picture());
            assert_eq!(motion.flight.unwrap().from, [anchor]);
            session.obey(Command::Seek(400));
        }
    }

    #[test]
    fn a_key_of_an_index_can_be_selected_whatever_the_names_hold() {
        let trace = [
            r#"{"deltascope":1}"#,
            r#"{"scenario":{"settings":{"era":"1.34","knownObjects":true,"store":true,"indices":["app.kubernetes.io/name","app",".spec.nodeName"]},"initial":[{"metadata":{"name":"a","namespace":"default","labels":{"app.kubernetes.io/name":"web","app":"web"}},"spec":{"nodeName":"rack/7/a%2Fb"}}]}}"#,
        ]
        .join("\n");
        let mut session = Session::new();
        let files = vec![("a.jsonl".to_owned(), trace.into_bytes())];
        session.obey(Command::Open(files));
        session.obey(Command::Seek(200));
        let indices = session.picture().store.indices.clone();
        let mut asked = 0;
        for (index, values) in &indices {
            for (value, keys) in values {
                for key in keys {
                    let today = Anchor::index_key(index, value, key).to_string();
                    // As a link of before the names' own slashes were told from the others.
                    let old = format!("store/index/{index}/{value}/{key}");
                    for anchor in [&today, &old] {
                        session.obey(Command::Select(Some(anchor.as_str().into())));
                        let selection = session.view().selection;
                        let Some(selection) = selection else {
                            unreachable!("{anchor}")
                        };
                        assert_eq!(*selection.anchor, *today);
                        assert_eq!(selection.key.as_ref(), Some(key), "{anchor}");
                        let Found::Fact(place) = selection.found else {
                            unreachable!("{anchor}: {:?}", selection.found)
                        };
                        let fact = session.timeline.fact(place).unwrap().fact;
                        let added = Fact::Store(StoreFact::IndexEntryAdded {
                            index: Arc::clone(index),
                            value: Arc::clone(value),
                            key: key.clone(),
                        });
                        assert_eq!(fact, added, "{anchor}");
                        asked += 1;
                    }
                }
            }
        }
        assert_eq!(asked, 6, "{indices:?}");
        for anchor in [
            "store/index",
            "store/index/app",
            "store/index/no/such/thing",
        ] {
            session.obey(Command::Select(Some(anchor.into())));
            assert_eq!(session.view().selection, None, "{anchor}");
        }
    }

    #[test]
    fn a_selection_stays_while_its_fact_does() {
        let mut session = Session::new();
        session.obey(Command::Seek(300));
        let item = things::things(&session.picture(), &Default::default(), None)
            .into_iter()
            .find(|thing| thing.room == Panel::Indexer)
            .unwrap();
        session.obey(Command::Select(Some(item.anchor.as_str().into())));
        let selection = session.view().selection.unwrap();
        let Found::Fact(place) = selection.found else {
            unreachable!("the store begins empty")
        };
        session.obey(Command::Follow(selection.key.clone()));
        let all = session.view().followed.unwrap();
        session.obey(Command::Seek(place + 2));
        session.inject("cut", serde_json::Value::Null);
        assert_eq!(session.view().selection, Some(Rc::clone(&selection)));
        let again = session.view().followed.unwrap();
        let places = session.landmarks.passages().of(&again.key);
        assert_eq!(again.count, places.len());
        assert!(
            again.ticks.iter().eq(thinned(places, TICKS)
                .iter()
                .map(|at| at + 1)
                .collect::<Vec<_>>()
                .iter())
        );
        assert!(all.ticks.contains(&u32::try_from(place + 1).unwrap()));
        session.obey(Command::Seek(place));
        let object = serde_json::json!({ "metadata": { "name": "x" } });
        session.inject("create", object);
        assert_eq!(session.view().selection, None);
        session.obey(Command::Select(Some("no/such thing".into())));
        session.obey(Command::Follow(None));
        let view = session.view();
        assert_eq!((view.selection, view.followed), (None, None));
    }
}
