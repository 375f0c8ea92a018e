//! What is selected on the stage, which fact put it there, and which object is followed.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use crate::cache::fact::{Actor, Entry, Fact, FactRecord, LockName};
use crate::cache::key::Key;
use crate::replay::passages::thinned;
use crate::replay::picture::{Feed, Picture};

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

    fn api(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        Some(match kind {
            "object" => {
                let found = self.last_of(rest, &|fact| {
                    matches!(
                        fact,
                        Fact::ObjectCreated { .. }
                            | Fact::ObjectUpdated { .. }
                            | Fact::ObjectDeleted { .. }
                            | Fact::Called { .. }
                    )
                });
                (found, Some(Key::from(rest)))
            }
            // A program's calls are numbered by their facts.
            "stream" if self.picture.api.feed == Feed::Program => {
                let place = rest.parse().ok()?;
                let record = self.session.timeline.fact(place)?;
                (Found::Fact(place), record.fact.key().cloned())
            }
            "stream" => {
                let number: u64 = rest.parse().ok()?;
                let stream = &self.picture.api.stream;
                let line = stream.iter().find(|line| line.number == number)?;
                let sent = |fact: &Fact| match fact {
                    Fact::EventSent { event, object, .. } => {
                        *event == line.event && *object == line.object
                    }
                    _ => false,
                };
                (self.last(&sent), Some(line.object.key.clone()))
            }
            _ => {
                let found = self.last(&|fact| {
                    matches!(
                        fact,
                        Fact::ObjectCreated { .. }
                            | Fact::ObjectUpdated { .. }
                            | Fact::ObjectDeleted { .. }
                            | Fact::EventSent { .. }
                            | Fact::ListAnswered { .. }
                    )
                });
                (found, None)
            }
        })
    }

    fn reflector(&self, kind: &str) -> Found {
        match kind {
            "lastsync" => self.last(&|fact| matches!(fact, Fact::LastSyncMoved { .. })),
            "requests" => self.last(&|fact| {
                matches!(
                    fact,
                    Fact::ListRequested { .. } | Fact::WatchRequested { .. }
                )
            }),
            "hand" => self.last(&|fact| {
                matches!(
                    fact,
                    Fact::EventReceived { .. }
                        | Fact::InitialEventKept { .. }
                        | Fact::BackoffStarted { .. }
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
                let found = self.last_of(key, &|fact| match fact {
                    Fact::DeltaAppended {
                        delta_type: of,
                        object: what,
                        ..
                    } => of == delta_type && what == object,
                    Fact::FifoItemSet { object: what, .. } => what == object,
                    Fact::Requeued { added, .. } => *added,
                    _ => false,
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
                            Fact::FifoItemRemoved { .. } | Fact::KeyPopped { .. }
                        );
                    }
                    // A first delta brings its key along.
                    matches!(
                        fact,
                        Fact::KeyEnqueued { .. }
                            | Fact::Requeued { added: true, .. }
                            | Fact::DeltaAppended { depth: 1, .. }
                            | Fact::FifoItemSet { .. }
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
                let appended = |fact: &Fact| match fact {
                    Fact::EntryAppended { entry: of, .. } => of == entry,
                    _ => false,
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
                let found = self.last(&|fact| match fact {
                    Fact::LockTaken { lock, .. } | Fact::LockReleased { lock, .. } => *lock == name,
                    _ => false,
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
            let found = self.last_of(&object.key, &|fact| match fact {
                Fact::DeltaTaken {
                    position,
                    delta_type: of,
                    object: what,
                    ..
                } => *position as usize == at && *of == delta_type && what == object,
                _ => false,
            });
            return Some((found, Some(object.key.clone())));
        }
        // Entries have no key of their own.
        if popped.key.is_empty() {
            let key = match popped.deltas.as_slice() {
                [(_, object)] => Some(object.key.clone()),
                _ => None,
            };
            let found = self.last(&|fact| matches!(fact, Fact::EntriesTaken { .. }));
            return Some((found, key));
        }
        let found = self.last_of(&popped.key, &|fact| matches!(fact, Fact::KeyPopped { .. }));
        Some((found, Some(popped.key.clone())))
    }

    fn store(&self, kind: &str, rest: &str) -> Option<(Found, Option<Key>)> {
        match kind {
            "item" => {
                let found = self.last_of(rest, &|fact| {
                    matches!(
                        fact,
                        Fact::ItemStored { .. }
                            | Fact::ItemRemoved { .. }
                            | Fact::StoreReplaced { .. }
                    )
                });
                Some((found, Some(Key::from(rest))))
            }
            "index" => {
                // Neither indexed values nor keys keep clear of slashes: what is there decides.
                let (index, set) = rest.split_once('/')?;
                set.match_indices('/').find_map(|(at, _)| {
                    let (value, key) = (&set[..at], &set[at + 1..]);
                    let found = self.last_of(key, &|fact| match fact {
                        Fact::IndexEntryAdded {
                            index: i, value: v, ..
                        }
                        | Fact::IndexEntryRemoved {
                            index: i, value: v, ..
                        } => **i == *index && **v == *value,
                        Fact::StoreReplaced { .. } => true,
                        _ => false,
                    });
                    match found {
                        Found::Fact(_) => Some((found, Some(Key::from(key)))),
                        _ => None,
                    }
                })
            }
            _ => {
                let found = self.last(&|fact| {
                    matches!(
                        fact,
                        Fact::ItemStored { .. }
                            | Fact::ItemRemoved { .. }
                            | Fact::StoreReplaced { .. }
                            | Fact::StoreVersionMoved { .. }
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
            let added = |fact: &Fact| match fact {
                Fact::HandlerAdded { handler, .. } => *handler == number,
                _ => false,
            };
            return Some((self.last(&added), None));
        };
        let found = self.last_of(&told.object().key, &|fact| match fact {
            Fact::NotificationTaken {
                handler,
                notification,
            } => place == "running" && *handler == number && notification == told,
            Fact::NotificationSent {
                handler,
                notification,
            } => place == "sending" && *handler == number && notification == told,
            Fact::NotificationQueued {
                handler,
                notification,
                ..
            } => *handler == number && notification == told,
            _ => false,
        });
        Some((found, Some(told.object().key.clone())))
    }

    fn work(&self, kind: &str, key: &str) -> Option<(Found, Option<Key>)> {
        if key.is_empty() {
            return None;
        }
        let found = self.last_of(key, &|fact| match kind {
            "processing" => matches!(fact, Fact::WorkTaken { .. }),
            "delayed" | "failures" => matches!(fact, Fact::WorkDelayed { .. }),
            _ => matches!(fact, Fact::WorkAdded { .. }),
        });
        Some((found, Some(Key::from(key))))
    }

    fn line(&self, number: &str) -> Found {
        let lines = self.picture.output.len();
        let number = number.parse().unwrap_or(lines.saturating_sub(1));
        // So many lines were printed after it.
        let after = std::cell::Cell::new(lines.saturating_sub(number + 1));
        self.last(&|fact| {
            let is_line = matches!(fact, Fact::LinePrinted { .. });
            let skipped = is_line && after.get() > 0;
            if skipped {
                after.set(after.get() - 1);
            }
            is_line && !skipped
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
            let is_about = match &record.fact {
                Fact::StoreReplaced { items } => items.iter().any(|item| &*item.key == key),
                _ => true,
            };
            if is_about && wanted(&record.fact) {
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

    use super::*;
    use crate::cache::controller::Generation;
    use crate::lessons;
    use crate::ui::command::Command;
    use crate::ui::rows::live::Room;
    use crate::ui::rows::things;

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
            for step in (1..700).step_by(13) {
                session.obey(Command::Seek(step));
                let picture = session.picture();
                for thing in things::things(&picture, None) {
                    session.obey(Command::Select(Some(thing.anchor.as_str().into())));
                    let selection = session.view().selection;
                    let Some(selection) = selection else {
                        unreachable!("{step}: {thing:?}");
                    };
                    asked += 1;
                    match selection.found {
                        Found::Fact(place) => {
                            assert!(place < step, "{thing:?}");
                            let record = session.timeline.fact(place).unwrap();
                            if let (Some(key), Some(about)) = (&selection.key, record.fact.key()) {
                                assert_eq!(key, about, "{thing:?}");
                            }
                        }
                        // The server's objects may be older than the run, and the rest follows.
                        found => {
                            let is = (found, thing.room);
                            assert_eq!(is, (Found::Start, Room::Api), "{step}: {thing:?}");
                        }
                    }
                }
            }
        }
        assert!(asked > 10_000, "{asked}");
    }

    #[test]
    fn a_selection_stays_while_its_fact_does() {
        let mut session = Session::new();
        session.obey(Command::Seek(300));
        let item = things::things(&session.picture(), None)
            .into_iter()
            .find(|thing| thing.room == Room::Indexer)
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
