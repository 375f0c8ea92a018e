//! What is selected on the stage, which fact put it there, and which object is followed.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use crate::anchor::{Anchor, HandlerPlace, old_index_key};
use crate::fact_queries;
use crate::stage::WorkPart;
use deltascope_cache::fact::{
    Actor, Entry, Fact, FactRecord, HandlersFact, LockName, QueueFact, ReflectorFact, ServerFact,
    StoreFact, WorkFact,
};
use deltascope_cache::key::Key;
use deltascope_replay::occurrences::thinned;
use deltascope_replay::picture::{Picture, Popped, SourceKind};

use super::{Change, Session};
use crate::view::selection::{Followed, Found, Selection};

/// At most this many of an object's old facts are examined: each may be in another segment, which has to be
/// computed again.
const TRIES: usize = 64;
/// A fact that belongs to no single object is searched for in this many facts.
const LOOK_BACK: usize = 20_000;
/// A followed object has at most this many ticks; more would touch each other.
const TICKS: usize = 200;

impl Session {
    /// Selects what is at this place on the stage, or nothing.
    pub(super) fn select(&mut self, anchor: Option<Anchor>) -> Change {
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

    pub(super) fn selection(&self) -> Option<Rc<Selection>> {
        self.asked.selection.clone()
    }

    /// The followed object, with the facts about it as far as they are known.
    pub(super) fn followed(&mut self) -> Option<Rc<Followed>> {
        let followed = self.asked.followed.as_mut()?;
        let passage = self.marking.landmarks.passages().of(&followed.key);
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

/// Searches for the fact that put something on the stage.
struct Search<'a> {
    session: &'a Session,
    picture: &'a Picture,
    cursor: usize,
}

impl Search<'_> {
    fn of(&self, anchor: Anchor) -> Option<Selection> {
        let anchor = self.as_today(anchor);
        let (found, key) = self.found(&anchor)?;
        Some(Selection { anchor, key, found })
    }

    /// Translates anchors of older links, which name a program's call by the place of its fact, and do not escape
    /// the slashes in the names of an index.
    fn as_today(&self, anchor: Anchor) -> Anchor {
        let api = &self.picture.api;
        match anchor {
            Anchor::Line(number) if api.source == SourceKind::Program => {
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
                let old = old_index_key(&index, &value, &key);
                let mut old = old.iter().filter_map(|text| self.of_old(text));
                let found = old.next();
                found.unwrap_or(Anchor::IndexKey { index, value, key })
            }
            anchor => anchor,
        }
    }

    /// The key of an index that an older link names by this text.
    fn of_old(&self, text: &str) -> Option<Anchor> {
        self.picture.store.indices.keys().find_map(|index| {
            let set = text.strip_prefix(&**index)?.strip_prefix('/')?;
            set.match_indices('/').find_map(|(at, _)| {
                let (value, key) = (&set[..at], &set[at + 1..]);
                self.index_key(index, value, key)?;
                Some(Anchor::IndexKey {
                    index: Arc::clone(index),
                    value: value.into(),
                    key: key.into(),
                })
            })
        })
    }

    /// The fact that put the item of an anchor there, and the item's object.
    fn found(&self, anchor: &Anchor) -> Option<(Found, Option<Key>)> {
        let (picture, pop) = (self.picture, &self.picture.pop);
        Some(match anchor {
            Anchor::ServerGauge => (self.server(), None),
            Anchor::Object(key) => (self.object(key), Some(key.clone())),
            Anchor::Line(number) | Anchor::Call(number) => {
                let mut lines = picture.api.stream.iter();
                let line = lines.find(|line| line.number == *number)?;
                (self.put(*number), Some(line.object.key.clone()))
            }
            Anchor::State(_) => {
                let found = self.last_record(&|record| record.actor == Actor::Reflector);
                (found, None)
            }
            Anchor::Requests => (self.requests(), None),
            Anchor::LastSync => (self.last_sync(), None),
            Anchor::Hand => {
                let in_hand = picture.reflector.in_hand.as_ref();
                (self.hand(), in_hand.map(|(_, object)| object.key.clone()))
            }
            Anchor::Column { key, .. } | Anchor::QueuedKey { key, .. } => {
                (self.queued(key), Some(key.clone()))
            }
            Anchor::Delta { key, index } => (self.delta(key, *index)?, Some(key.clone())),
            Anchor::Entry(place) => self.entry(picture.queue.entries.get(*place)?),
            Anchor::Lock(name) => (self.lock(*name), None),
            Anchor::Slot => self.popped(pop.processing.as_ref()?, None),
            Anchor::PoppedDelta(at) => self.popped(pop.processing.as_ref()?, Some(*at)),
            Anchor::LastPopped | Anchor::LastDelta => self.last_popped(pop.last.as_ref()?),
            Anchor::StoreGauge => (self.store(), None),
            Anchor::Item(key) => (self.item(key), Some(key.clone())),
            Anchor::IndexKey { index, value, key } => {
                (self.index_key(index, value, key)?, Some(key.clone()))
            }
            Anchor::Handler(number, place) => self.handler(*number, *place)?,
            Anchor::Work(part, key) => {
                let key = key.as_ref().filter(|key| !key.is_empty())?;
                (self.work(*part, key), Some(key.clone()))
            }
            Anchor::LastLine => (self.printed(picture.output.len().saturating_sub(1)), None),
            Anchor::OutputLine(number) => (self.printed(*number), None),
            Anchor::Room(_) | Anchor::Door(_) | Anchor::More | Anchor::Beside(_) => return None,
        })
    }

    /// The fact of the line with this number, found by counting back from the last one.
    fn put(&self, number: u64) -> Found {
        let after = self.picture.api.sent.saturating_sub(number + 1);
        self.before_last(after, &|fact| {
            fact_queries::called(fact).is_some()
                || matches!(fact, Fact::Server(ServerFact::EventSent { .. }))
        })
    }

    /// The fact that put a key under a value, where the key is or has just left.
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

    fn server(&self) -> Found {
        self.last(&|fact| {
            let answered = matches!(
                fact,
                Fact::Server(ServerFact::EventSent { .. } | ServerFact::ListAnswered { .. })
            );
            answered || fact_queries::written(fact).is_some()
        })
    }

    fn object(&self, key: &Key) -> Found {
        // Objects of another server are only known from its answers.
        let by_answers = matches!(
            self.picture.api.source,
            SourceKind::Recorded | SourceKind::Cluster
        );
        self.last_of(key, &|fact| {
            if let Fact::Server(ServerFact::ObjectsLearned { objects, .. }) = fact {
                return objects.iter().any(|object| object.key == *key);
            }
            let sent = matches!(fact, Fact::Server(ServerFact::EventSent { .. }));
            fact_queries::written(fact).is_some() || by_answers && sent
        })
    }

    fn requests(&self) -> Found {
        self.last(&|fact| {
            matches!(
                fact,
                Fact::Reflector(
                    ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. }
                )
            )
        })
    }

    fn last_sync(&self) -> Found {
        self.last(&|fact| matches!(fact, Fact::Reflector(ReflectorFact::LastSyncMoved { .. })))
    }

    fn hand(&self) -> Found {
        self.last(&|fact| {
            matches!(
                fact,
                Fact::Reflector(
                    ReflectorFact::EventReceived { .. }
                        | ReflectorFact::InitialEventKept { .. }
                        | ReflectorFact::BackoffStarted { .. }
                )
            )
        })
    }

    fn queued(&self, key: &Key) -> Found {
        let is_empty = !self.picture.queue.deltas.contains_key(key);
        self.last_of(key, &|fact| {
            if is_empty {
                return matches!(
                    fact,
                    Fact::Queue(QueueFact::FifoItemRemoved { .. } | QueueFact::KeyPopped { .. })
                );
            }
            // The first delta of a key enqueues the key, too.
            matches!(
                fact,
                Fact::Queue(
                    QueueFact::KeyEnqueued { .. }
                        | QueueFact::Requeued { added: true, .. }
                        | QueueFact::DeltaAppended { depth: 1, .. }
                        | QueueFact::FifoItemSet { .. }
                )
            )
        })
    }

    fn delta(&self, key: &Key, index: usize) -> Option<Found> {
        let (delta_type, object) = self.picture.queue.deltas.get(key)?.get(index)?;
        Some(self.last_of(key, &|fact| {
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
        }))
    }

    fn entry(&self, entry: &Entry) -> (Found, Option<Key>) {
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

    fn lock(&self, name: LockName) -> Found {
        self.last(&|fact| {
            matches!(
                fact,
                Fact::Queue(
                    QueueFact::LockTaken { lock, .. } | QueueFact::LockReleased { lock, .. },
                ) if *lock == name
            )
        })
    }

    /// The item that is processed, or one of its deltas.
    fn popped(&self, popped: &Popped, at: Option<usize>) -> (Found, Option<Key>) {
        let one = at.and_then(|at| popped.deltas.get(at));
        if let (Some(at), Some((delta_type, object))) = (at, one)
            && popped.position.is_some_and(|position| at <= position)
        {
            let found = self.last_of(&object.key, &|fact| {
                matches!(
                    fact,
                    Fact::Queue(QueueFact::DeltaTaken {
                        position,
                        delta_type: of,
                        object: what,
                        ..
                    }) if *position as usize == at && of == delta_type && what == object
                )
            });
            return (found, Some(object.key.clone()));
        }
        let one = match popped.deltas.as_slice() {
            [one] => Some(one),
            _ => one,
        };
        self.taken(popped, one.map(|(_, object)| &object.key))
    }

    fn last_popped(&self, popped: &Popped) -> (Found, Option<Key>) {
        let one = popped.deltas.last();
        self.taken(popped, one.map(|(_, object)| &object.key))
    }

    /// The fact that took an item out of the queue.
    fn taken(&self, popped: &Popped, of_entry: Option<&Key>) -> (Found, Option<Key>) {
        // Batches have no key of their own.
        if popped.key.is_empty() {
            let found =
                self.last(&|fact| matches!(fact, Fact::Queue(QueueFact::EntriesTaken { .. })));
            return (found, of_entry.cloned());
        }
        let found = self.last_of(&popped.key, &|fact| {
            matches!(fact, Fact::Queue(QueueFact::KeyPopped { .. }))
        });
        (found, Some(popped.key.clone()))
    }

    fn item(&self, key: &Key) -> Found {
        self.last_of(key, &fact_queries::changes_store)
    }

    fn store(&self) -> Found {
        self.last(&|fact| {
            fact_queries::changes_store(fact)
                || matches!(fact, Fact::Store(StoreFact::StoreVersionMoved { .. }))
        })
    }

    fn handler(&self, number: u8, place: HandlerPlace) -> Option<(Found, Option<Key>)> {
        let handler = self.picture.handlers.get(usize::from(number))?;
        let notification = match place {
            HandlerPlace::Pending(at) => handler.pending.get(at),
            HandlerPlace::Running => handler.running.as_ref(),
            HandlerPlace::Sending => handler.sending.as_ref(),
            HandlerPlace::Whole => None,
        };
        let Some(notification) = notification else {
            let added = |fact: &Fact| {
                matches!(
                    fact,
                    Fact::Handlers(HandlersFact::HandlerAdded { handler, .. }) if *handler == number
                )
            };
            return Some((self.last(&added), None));
        };
        let found = self.last_of(&notification.object().key, &|fact| {
            let elsewhere = matches!(
                fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. })
                    if place != HandlerPlace::Running
            ) || matches!(
                fact,
                Fact::Handlers(HandlersFact::NotificationSent { .. })
                    if place != HandlerPlace::Sending
            );
            !elsewhere && fact_queries::notification(fact) == Some((number, notification))
        });
        Some((found, Some(notification.object().key.clone())))
    }

    fn work(&self, part: WorkPart, key: &Key) -> Found {
        self.last_of(key, &|fact| match part {
            WorkPart::Processing => matches!(fact, Fact::Work(WorkFact::WorkTaken { .. })),
            WorkPart::Delayed | WorkPart::Failures => {
                matches!(fact, Fact::Work(WorkFact::WorkDelayed { .. }))
            }
            WorkPart::Queue | WorkPart::Dirty => {
                matches!(fact, Fact::Work(WorkFact::WorkAdded { .. }))
            }
        })
    }

    fn printed(&self, number: usize) -> Found {
        let lines = self.picture.output.len();
        let after = lines.saturating_sub(number.saturating_add(1)) as u64;
        self.before_last(after, &|fact| {
            matches!(fact, Fact::Handlers(HandlersFact::LinePrinted { .. }))
        })
    }

    /// The last fact of a kind except for `after` later ones.
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

    /// The last such fact about an object, or about all objects.
    fn last_of(&self, key: &str, wanted: &dyn Fn(&Fact) -> bool) -> Found {
        let passages = self.session.marking.landmarks.passages();
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
