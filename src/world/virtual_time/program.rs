//! Programs without the usual pipeline: they list and watch without a reflector, write to an Indexer without
//! a queue, query it, print; and they run peer informers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::iter;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::bounds::push_within;
use crate::line::Line;
use crate::{Refused, Source, Time};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Cause, EventType, Fact, FactId, HandlersFact, ListAgain, ObjectRef, Printer, Reason,
    ReflectorFact, Request, RunFact, Rv, StoreFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::key_func::{KeyFunc, deletion_handling_meta_namespace_key_func};
use deltascope_cache::lister_watcher::{ListRequest, WatchItem, WatchRequest};
use deltascope_cache::object::{Item, Object};
use deltascope_cache::order::Order;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_cache::store::Indexer;
use deltascope_cache::trace::Trace;

use super::client::Client;
use super::handlers::filled;
use super::reflect::{Answer, REQUEST_MS, Stage};
use super::settings::{InformerKind, Settings, SourceKind};
use super::{Input, OUTPUT_LINES, Printed, Question, World, key_of};

type Obj = DynamicObject;

/// A peer informer: a world of its own. The main world records its requests, its stored objects and its
/// printed lines.
#[derive(Clone)]
pub(super) struct PeerInformer<S: Source> {
    world: World<S>,
    /// Whether it shares the API server: writes by a user then reach it, too.
    same_server: bool,
    /// The stored objects as recorded so far.
    stored: SortedMap<Key, ObjectRef>,
    /// Virtual time of its next action; `None` if it has none by itself.
    due: Option<Time>,
}

impl<S: Source> World<S> {
    /// Adds a peer informer, whose world runs in parallel.
    #[must_use]
    pub(crate) fn with_beside(mut self, world: Self, same_server: bool) -> Self {
        let stored = SortedMap::new();
        self.beside.push(PeerInformer {
            world,
            same_server,
            stored,
            due: Some(0),
        });
        self
    }

    /// The worlds of the peer informers.
    pub fn beside(&self) -> impl Iterator<Item = &Self> {
        self.beside.iter().map(|beside| &beside.world)
    }

    pub(super) fn beside_at(&self) -> Option<Time> {
        self.beside.iter().filter_map(|beside| beside.due).min()
    }

    /// Brings the peer informers to the present, and records their requests, stored objects and printed
    /// lines.
    pub(super) fn run_beside(&mut self) {
        let now = self.now;
        let mut recorded = Vec::new();
        for (place, beside) in (0..).zip(&mut self.beside) {
            let world = &mut beside.world;
            if beside.due.is_none_or(|at| at > now) {
                world.now = now;
                continue;
            }
            loop {
                world.run_beside();
                if world.micro_step() {
                    continue;
                }
                beside.due = world.next_moment();
                match beside.due {
                    Some(next) if next <= now => world.now = next,
                    _ => break,
                }
            }
            world.now = now;
            for record in world.drain() {
                report_beside(place, record.fact, &mut beside.stored, &mut recorded);
            }
        }
        for fact in recorded {
            if let Fact::Handlers(HandlersFact::LinePrinted { by, line }) = &fact {
                self.keep_line(*by, line);
            }
            self.tracker.turn(now, Actor::Program);
            self.tracker.input(Cause::Start, Step::ProgramCall, fact);
        }
    }

    /// Passes an input on to all peers that share the server.
    pub(super) fn input_beside(&mut self, input: &Input<S::Command>) {
        if self.beside.is_empty() || !matches!(input, Input::Source(_)) {
            return;
        }
        self.run_beside();
        for beside in self.beside.iter_mut().filter(|beside| beside.same_server) {
            beside.world.input(input.clone());
            beside.due = Some(self.now);
        }
    }

    // ---- printing

    pub(super) fn keep_line(&mut self, by: Printer, line: &Arc<str>) {
        push_within(&mut self.output, OUTPUT_LINES, Printed::of(by, line));
    }

    fn say(&mut self, cause: Cause, line: Arc<str>) {
        let by = Printer::Program;
        self.keep_line(by, &line);
        self.tracker.turn(self.now, Actor::Program);
        self.tracker.input(
            cause,
            Step::ProgramCall,
            Fact::Handlers(HandlersFact::LinePrinted { by, line }),
        );
    }

    pub(super) fn print(&mut self, cause: Cause, line: &str) {
        const INDICES: &str = "{indices}";
        let store = self.store.as_ref().filter(|_| line.contains(INDICES));
        let indices = store.map(go_indices).unwrap_or_default();
        let line = Line::filled(line, &[(INDICES, &indices)]);
        self.say(cause, line.into_text());
    }

    pub(super) fn ask(&mut self, cause: Cause, question: &Question) {
        let answer = match &self.store {
            Some(store) => store
                .index_keys(&question.index, &question.value)
                .map_err(|error| error.to_string()),
            None => Err("there is no Indexer".to_owned()),
        };
        let line = match answer {
            Ok(keys) if question.json => {
                let keys = keys.into_iter().map(|key| key.to_string().into());
                serde_json::Value::Array(keys.collect()).to_string()
            }
            Ok(keys) => format!("[{}] <nil>", joined(keys)),
            Err(error) if question.json => error,
            Err(error) => format!("[] {error}"),
        };
        let mut bounded = Line::default();
        bounded.push(&line);
        self.say(cause, bounded.into_text());
    }

    /// Prints the lines of the program that waits for the sync.
    pub(super) fn report_sync(&mut self) {
        let cause = self.tracker.synced();
        for line in self.settings.prints.on_sync.clone() {
            self.say(cause, line);
        }
    }

    // ---- an Indexer without a queue

    pub(super) fn write_to_indexer(&mut self, delta_type: DeltaType, item: &Item<Obj>) {
        let Some(store) = &mut self.store else {
            return;
        };
        let tracker = &mut self.tracker;
        let written = match delta_type {
            DeltaType::Deleted => store.delete(item, tracker),
            DeltaType::Updated => store.update(item.clone(), tracker),
            _ => store.add(item.clone(), tracker),
        };
        if let (Ok(()), Some(object)) = (written, item.as_object())
            && delta_type != DeltaType::Deleted
        {
            self.store_rv = object.resource_version().into();
        }
    }

    // ---- List and Watch without a reflector

    /// One micro-step of a program that lists and watches.
    pub(super) fn run_client(&mut self, client: Client) {
        let rv = Rv::default();
        let next = match client {
            Client::List => {
                self.driver.log.asks_list(&ListRequest::default());
                self.tracker.fact(Step::ProgramCall, || {
                    Fact::Reflector(ReflectorFact::ListRequested {
                        rv,
                        rv_match: "",
                        limit: 0,
                        continues: false,
                    })
                });
                Client::Listing(self.now + REQUEST_MS)
            }
            Client::Listing(_) => match self.list_as_client() {
                Ok(()) => Client::Watch,
                Err(reason) => return self.stop(reason),
            },
            Client::Watch => {
                self.driver.log.asks_watch(&WatchRequest::default());
                self.tracker.fact(Step::ProgramCall, || {
                    Fact::Reflector(ReflectorFact::WatchRequested {
                        rv,
                        initial_events: false,
                    })
                });
                Client::Opening(self.now + REQUEST_MS)
            }
            Client::Opening(_) => match self.watch_as_client() {
                Ok(()) => Client::Watching,
                Err(reason) => return self.stop(reason),
            },
            Client::Watching => match self.receive_as_client() {
                Ok(()) => Client::Watching,
                Err(reason) => return self.stop(reason),
            },
        };
        self.driver.stage = Stage::Client(next);
    }

    fn list_as_client(&mut self) -> Result<(), Reason> {
        let answer = self.ask_server(|world| {
            let request = ListRequest::default();
            world.source.list(world.now, &request, &mut world.tracker)
        });
        let page = answer.map_err(|refused| {
            self.refused(refused, |error| {
                Fact::Reflector(ReflectorFact::ListFailed {
                    error,
                    next: ListAgain::Later,
                })
            })
        })?;
        let count = page.items.len() as u32;
        self.driver.log.answered(Answer::Listed(count));
        self.tracker.fact(Step::ProgramCall, || {
            Fact::Reflector(ReflectorFact::ListReceived {
                rv: Arc::clone(&page.resource_version),
                count,
            })
        });
        let cause = self.last_fact();
        let templates = self.settings.prints.on_list.clone();
        for item in &page.items {
            self.say_of(cause, &templates, "", item);
        }
        Ok(())
    }

    fn watch_as_client(&mut self) -> Result<(), Reason> {
        let answer = self.ask_server(|world| {
            let request = WatchRequest::default();
            world.source.watch(world.now, &request, &mut world.tracker)
        });
        answer.map_err(|refused| {
            self.refused(refused, |error| {
                Fact::Reflector(ReflectorFact::WatchFailed { error })
            })
        })?;
        self.driver.log.answered(Answer::Open);
        Ok(())
    }

    fn receive_as_client(&mut self) -> Result<(), Reason> {
        let mut code = 0;
        let item = self.source.receive();
        if let Some(item) = &item {
            self.driver.log.receives(item);
        }
        let (event, object, line) = match item {
            None => return Ok(()),
            Some(WatchItem::Event(event, item)) => {
                (event, item.to_ref(&key_of(&item)), Ok(Some(item)))
            }
            Some(WatchItem::Bookmark {
                resource_version, ..
            }) => (
                EventType::Bookmark,
                ObjectRef::bare(resource_version),
                Ok(None),
            ),
            Some(WatchItem::Error(error)) => {
                code = error.code;
                (
                    EventType::Error,
                    ObjectRef::bare(Rv::default()),
                    Err(error.message),
                )
            }
            Some(WatchItem::Closed) => {
                self.driver.log.closes();
                self.source.hang_up();
                self.tracker.stream_ended();
                self.tracker.fact(Step::ProgramCall, || {
                    Fact::Reflector(ReflectorFact::WatchEnded {
                        relist: false,
                        code,
                    })
                });
                return Err(Reason::WatchOver);
            }
        };
        self.tracker.fact(Step::ProgramCall, || {
            Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object,
                ends_list: false,
            })
        });
        match line {
            Ok(None) => Ok(()),
            Ok(Some(item)) => {
                let templates = self.settings.prints.on_event.clone();
                self.say_of(self.last_fact(), &templates, event.as_str(), &item);
                Ok(())
            }
            Err(reason) => {
                self.driver.log.closes();
                self.source.hang_up();
                self.tracker.fact(Step::ProgramCall, || {
                    Fact::Reflector(ReflectorFact::WatchEnded {
                        relist: false,
                        code,
                    })
                });
                Err(Reason::Text(reason))
            }
        }
    }

    fn last_fact(&self) -> Cause {
        Cause::Fact(FactId(self.tracker.count().saturating_sub(1)))
    }

    fn say_of(&mut self, cause: Cause, templates: &[String], type_name: &str, item: &Item<Obj>) {
        for line in filled(templates, type_name, item, None, None) {
            self.say(cause, line);
        }
    }

    fn ask_server<T>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        self.tracker.turn(self.now, Actor::Server);
        let answer = ask(self);
        self.tracker.turn(self.now, self.driver.actor);
        answer
    }

    /// The reason for a missing answer; states the fact where the server sent an error.
    fn refused(&mut self, refused: Refused, fact: impl FnOnce(Arc<str>) -> Fact) -> Reason {
        match refused {
            Refused::Over(reason) => reason,
            Refused::Api(error) => {
                let reason = Arc::clone(&error.message);
                self.driver
                    .log
                    .answered(Answer::Failed(Arc::clone(&reason)));
                self.tracker.fact(Step::ProgramCall, || fact(error.message));
                Reason::Text(reason)
            }
        }
    }
}

/// Converts a fact of a peer informer; a store fact that changes nothing is dropped.
fn report_beside(
    informer: u8,
    fact: Fact,
    stored: &mut SortedMap<Key, ObjectRef>,
    recorded: &mut Vec<Fact>,
) {
    let mut store =
        |stored: &mut SortedMap<Key, ObjectRef>, key: Key, object: Option<ObjectRef>| {
            if stored.get(&key) == object.as_ref() {
                return;
            }
            match &object {
                Some(object) => stored.insert(key.clone(), object.clone()),
                None => stored.remove(&key),
            };
            recorded.push(Fact::Run(RunFact::BesideStored {
                informer,
                key,
                object,
            }));
        };
    match fact {
        Fact::Store(fact) => match fact {
            StoreFact::ItemStored { object, .. } => store(stored, object.key.clone(), Some(object)),
            StoreFact::ItemRemoved { key, .. } => store(stored, key, None),
            StoreFact::StoreReplaced { items } => {
                let gone = |key: &&Key| items.iter().all(|object| object.key != **key);
                let gone: Vec<Key> = stored.keys().filter(gone).cloned().collect();
                for key in gone {
                    store(stored, key, None);
                }
                for object in items.iter().cloned() {
                    store(stored, object.key.clone(), Some(object));
                }
            }
            StoreFact::IndexEntryRemoved { .. }
            | StoreFact::IndexEntryAdded { .. }
            | StoreFact::IndexFailed { .. }
            | StoreFact::IndexersAdded { .. }
            | StoreFact::IndicesReset
            | StoreFact::StoreVersionMoved { .. } => {}
        },
        Fact::Reflector(fact) => {
            let request = if let ReflectorFact::WatchRequested { .. } = fact {
                Request::Watch
            } else if let ReflectorFact::ListRequested {
                continues: false, ..
            } = fact
            {
                Request::List
            } else {
                return;
            };
            recorded.push(Fact::Run(RunFact::BesideRequested { informer, request }));
        }
        Fact::Handlers(fact) => {
            if let HandlersFact::LinePrinted { line, .. } = fact {
                recorded.push(Fact::Handlers(HandlersFact::LinePrinted {
                    by: Printer::Beside(informer),
                    line,
                }));
            }
        }
        Fact::Server(_) | Fact::Queue(_) | Fact::Work(_) | Fact::Run(_) => {}
    }
}

/// The key function of a world's Indexer.
pub(super) fn key_func(settings: &Settings) -> KeyFunc<Obj> {
    // With a queue the Indexer must use the queue's keys.
    let own = settings.informer == InformerKind::Indexer && settings.source == SourceKind::Program;
    match settings.key_separator.clone().filter(|_| own) {
        None => Arc::new(deletion_handling_meta_namespace_key_func),
        Some(separator) => Arc::new(move |item| {
            let key = deletion_handling_meta_namespace_key_func(item)?;
            Ok(Key::from(key.replacen('/', &separator, 1)))
        }),
    }
}

/// Prints all indices as Go prints a map: ordered by key. It sorts no more than the line has room for.
fn go_indices(store: &Indexer<Obj>) -> Arc<str> {
    let mut text = Line::default();
    let space = |place: usize| if place > 0 { " " } else { "" };
    text.push("map[");
    let indices = store.indices().map(|index| (index.name(), index.entries()));
    // Writing into a line cannot fail.
    for (place, (name, values)) in in_order(indices).enumerate() {
        let _ = write!(text, "{}{name}:map[", space(place));
        for (place, (value, keys)) in in_order(values).enumerate() {
            if text.is_full() {
                break;
            }
            let _ = write!(text, "{}{value}:map[", space(place));
            for (place, (key, ())) in in_order(keys.map(|key| (key, ()))).enumerate() {
                if text.is_full() {
                    break;
                }
                let _ = write!(text, "{}{key}:{{}}", space(place));
            }
            text.push("]");
        }
        text.push("]");
    }
    text.push("]");
    text.into_text()
}

/// The items in the order of their keys, sorted lazily.
fn in_order<K: Ord, T>(items: impl Iterator<Item = (K, T)>) -> impl Iterator<Item = (K, T)> {
    let (mut all, mut first) = (Vec::new(), Vec::new());
    for (place, (key, item)) in items.enumerate() {
        first.push(Reverse((key, place)));
        all.push(Some(item));
    }
    let mut first = BinaryHeap::from(first);
    iter::from_fn(move || {
        let Reverse((key, place)) = first.pop()?;
        Some((key, all.get_mut(place)?.take()?))
    })
}

fn joined(mut keys: Vec<&Key>) -> String {
    Order::Key.sort(&mut keys, |key| key);
    let keys: Vec<&str> = keys.into_iter().map(|key| &**key).collect();
    keys.join(" ")
}
