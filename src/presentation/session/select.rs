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
mod tests;
