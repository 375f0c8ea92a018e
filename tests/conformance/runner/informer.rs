//! The subject `informer`: a reflector, a queue, the process function, a store and listeners, on one
//! thread that lets all of them settle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{Config, Controller, Generation, InformerQueue};
use deltascope::cache::error::Error;
use deltascope::cache::event_handler::{FilteringResourceEventHandler, ResourceEventHandler};
use deltascope::cache::informer::{SharedInformerState, initial_notifications};
use deltascope::cache::key_func::deletion_handling_meta_namespace_key_func;
use deltascope::cache::listener::{HandlerEnd, ListenerId, ProcessorListener};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::process::{Notification, Process};
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{Reflector, StoreCall};
use deltascope::cache::store::Indexer;
use serde_json::{Map, Value, json};

use super::object::{indexers, reference, transformer};
use super::reflector::{BACKOFF, release};
use super::server::{Client, Played, Server};
use super::{Got, Members, Pod, Sets, Step, Subject, index_state, texts, unknown_op};

/// Plays a shared informer, or a plain one.
pub(crate) fn play(minor: u32, mut options: Members) -> Result<Box<dyn Subject>, String> {
    let plain = options.flag("plain")?;
    let atomic_fifo = options.flag("atomicFIFO")?;
    let (generation, release) = mode(minor, atomic_fifo, &mut options)?;
    let config = Config {
        release,
        type_description: "*v1.Pod".into(),
        indexers: indexers(options.texts("indexers")?)?,
        order: Order::Key,
        keeps_store_resource_version: atomic_fifo,
        transform: transformer(options.optional_text("transformer")?.as_deref())?,
        full_resync_period: seconds(&mut options)?.unwrap_or_default(),
        watch_list: options.flag("watchList")?,
        backoff: BACKOFF,
        ..Config::new(generation)
    };
    options.finish("the options")?;
    Ok(if plain {
        Box::new(PlainPlay {
            server: Server::default(),
            client: Plain {
                controller: Controller::new(config),
                seen: Seen::default(),
            },
        })
    } else {
        Box::new(SharedPlay {
            server: Server::default(),
            client: Shared::new(&config),
            registered: BTreeMap::new(),
            synced: BTreeMap::new(),
            left: None,
        })
    })
}

/// Which pipeline to build: the generation as it is named, or as the other options have it; and
/// whose behaviour it is otherwise.
fn mode(
    minor: u32,
    atomic_fifo: bool,
    options: &mut Members,
) -> Result<(Generation, Release), String> {
    let release = release(minor)?;
    let queue = options.optional_text("queue")?;
    if atomic_fifo && release < Release::V0_36 {
        return Err(format!("client-go v0.{minor} has no atomicFIFO"));
    }
    let by_options = match queue.as_deref() {
        Some("DeltaFIFO") => Generation::Classic,
        Some("RealFIFO") | None if atomic_fifo => Generation::Atomic,
        Some("RealFIFO") | None if release < Release::V0_35 => Generation::InOrder,
        Some("RealFIFO") | None => Generation::Batched,
        Some(other) => return Err(format!("unknown queue {other:?}")),
    };
    let named = options.optional_text("generation")?;
    let generation = match &named {
        None => by_options,
        Some(name) => Generation::ALL
            .into_iter()
            .find(|generation| generation.as_str() == name)
            .ok_or_else(|| format!("unknown generation {name:?}"))?,
    };
    if queue.is_some() && generation != by_options {
        return Err(format!(
            "the generation {:?} has another queue",
            generation.as_str()
        ));
    }
    let exists = match generation {
        Generation::Classic => true,
        Generation::InOrder => release == Release::V0_34,
        Generation::Batched => release >= Release::V0_35,
        Generation::Atomic => atomic_fifo,
    };
    if !exists {
        let name = generation.as_str();
        return Err(format!("client-go v0.{minor} has no generation {name:?}"));
    }
    Ok((generation, release))
}

/// `resyncSeconds`.
fn seconds(members: &mut Members) -> Result<Option<Duration>, String> {
    let name = "resyncSeconds";
    match members.take(name) {
        Value::Null => Ok(None),
        value => value
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Some)
            .ok_or_else(|| format!("{name:?} is no number of seconds: {value}")),
    }
}

fn key(item: &Item<Pod>) -> Value {
    deletion_handling_meta_namespace_key_func(item).map_or(Value::Null, |key| json!(key.as_str()))
}

fn value_of(notification: &Notification<Pod>) -> Value {
    match notification {
        Notification::Add {
            object,
            is_in_initial_list,
        } => json!(["add", key(object), reference(object), is_in_initial_list]),
        Notification::Update { old, new } => {
            let old = old.as_ref().map(reference);
            json!(["update", key(new), old, reference(new)])
        }
        Notification::Delete { object } => {
            let inner = match object {
                Item::Tombstone(tombstone) => tombstone.object.as_ref().map(reference),
                other => Some(reference(other)),
            };
            json!(["delete", key(object), inner, object.is_tombstone()])
        }
    }
}

fn content(store: &Indexer<Pod>) -> Value {
    let items: Map<String, Value> = store
        .iter()
        .map(|(key, item)| (key.to_string(), reference(item)))
        .collect();
    Value::Object(items)
}

/// What a step came to; the calls of the watch-error handler count where the file has any.
fn settled(step: &mut Step, result: Value, server: &mut Server) -> Result<Got, String> {
    let watch_errors = server.take_watch_errors();
    let counted = step.states_watch_errors;
    step.settled(result, if counted { watch_errors } else { 0 })
}

// ---- the plain informer

struct PlainPlay {
    server: Server,
    client: Plain,
}

struct Plain {
    controller: Controller<Pod>,
    seen: Seen,
}

/// What its handler was told, and saw around it.
#[derive(Default)]
struct Seen {
    notifications: Vec<Value>,
    store: Vec<Value>,
    has_synced: Vec<bool>,
}

impl Client for Plain {
    fn reflector(&mut self) -> &mut Reflector<Pod> {
        self.controller.reflector_mut()
    }

    fn store(&mut self, call: StoreCall<Pod>) -> Result<(), Error> {
        self.controller.write(call, &mut ())
    }

    fn settle(&mut self, now: Duration) {
        let seen = &mut self.seen;
        let mut handler =
            |notification: Notification<Pod>,
             around: deltascope::cache::controller::Seen<'_, _>| {
                seen.notifications.push(value_of(&notification));
                seen.store.push(content(around.store));
                seen.has_synced.push(around.has_synced);
            };
        while let Ok(true) = self.controller.process(&mut handler, || now, &mut ()) {}
    }
}

impl Subject for PlainPlay {
    fn play(&mut self, step: &mut Step) -> Result<Got, String> {
        let Played::Done(request) = self.server.play(step, &mut self.client)? else {
            return Err(unknown_op(&step.op));
        };
        if step.op == "Stop" {
            self.client.controller.stop(self.server.now(), &mut ());
        }
        let seen = std::mem::take(&mut self.client.seen);
        let notified = !seen.notifications.is_empty();
        let result = if notified {
            json!({
                "request": request,
                "notifications": { "h": seen.notifications },
                "storeSeen": { "h": seen.store },
                "hasSyncedSeen": { "h": seen.has_synced },
            })
        } else {
            json!({ "request": request })
        };
        settled(step, result, &mut self.server)
    }

    fn state(&self) -> Value {
        let controller = &self.client.controller;
        json!({
            "store": content(controller.store()),
            "indices": index_state(controller.store()),
            "hasSynced": controller.has_synced(),
            "lastSyncResourceVersion": **controller.last_sync_resource_version(),
            "storeResourceVersion": controller.store().last_store_sync_resource_version(),
        })
    }

    fn sets(&self, _op: &str) -> Sets {
        Sets {
            result: false,
            state: &["indices"],
        }
    }
}

// ---- the shared informer

struct SharedPlay {
    server: Server,
    client: Shared,
    /// The handlers that can be removed, by name.
    registered: BTreeMap<String, ListenerId>,
    /// Whether each handler has synced, as of the last step that saw it.
    synced: BTreeMap<String, bool>,
    /// The handler that this step removes: its state is told once more.
    left: Option<String>,
}

struct Shared {
    queue: InformerQueue<Pod>,
    store: Indexer<Pod>,
    reflector: Reflector<Pod>,
    state: SharedInformerState<Pod>,
    processor: SharedProcessor<Handled>,
    notes: Notes,
    /// The reflector is made when the informer starts: only then its resync period is certain.
    config: Config<Pod>,
}

/// A listener with its handler.
struct Handled {
    listener: ProcessorListener<Pod>,
    handler: Box<dyn ResourceEventHandler<Pod>>,
}

/// What each handler was told.
type Notes = Rc<RefCell<BTreeMap<String, Vec<Value>>>>;

/// Writes down what it is told.
struct Noting {
    name: String,
    notes: Notes,
}

impl Noting {
    fn note(&self, notification: &Notification<Pod>) {
        let mut notes = self.notes.borrow_mut();
        let list = notes.entry(self.name.clone()).or_default();
        list.push(value_of(notification));
    }
}

impl ResourceEventHandler<Pod> for Noting {
    fn on_add(&self, object: &Item<Pod>, is_in_initial_list: bool) {
        self.note(&Notification::Add {
            object: object.clone(),
            is_in_initial_list,
        });
    }

    fn on_update(&self, old: &Item<Pod>, new: &Item<Pod>) {
        self.note(&Notification::Update {
            old: Some(old.clone()),
            new: new.clone(),
        });
    }

    fn on_delete(&self, object: &Item<Pod>) {
        self.note(&Notification::Delete {
            object: object.clone(),
        });
    }
}

impl Shared {
    fn new(config: &Config<Pod>) -> Self {
        Self {
            queue: config.queue(),
            store: config.store(),
            reflector: Reflector::new(config.reflector_options()),
            state: SharedInformerState::new(config.full_resync_period),
            processor: SharedProcessor::default(),
            notes: Notes::default(),
            config: config.clone(),
        }
    }

    fn run(&mut self) -> Result<(), Error> {
        let full_resync_period = self.state.start()?;
        self.reflector = Reflector::new(
            Config {
                full_resync_period,
                ..self.config.clone()
            }
            .reflector_options(),
        );
        self.processor.start();
        Ok(())
    }

    fn stop(&mut self) {
        self.queue.close(&mut ());
        self.state.stop();
        for (_, mut handled) in self.processor.stop() {
            handled.listener.close();
            handled.listener.receive(&mut ());
        }
    }

    fn add_handler(
        &mut self,
        now: Duration,
        handler: Box<dyn ResourceEventHandler<Pod>>,
        resync_period: Option<Duration>,
    ) -> Result<ListenerId, Error> {
        // The files leave the name out of the error's text.
        let registration = self.state.add_event_handler("", resync_period, &mut ())?;
        let initial = if registration.late {
            initial_notifications(&self.store)
        } else {
            Vec::new()
        };
        let make = |id, name: &Arc<str>| Handled {
            listener: ProcessorListener::new(id, name),
            handler,
        };
        let id = self
            .processor
            .add_listener(&registration, initial.len(), make, now, &mut ());
        if let Some(handled) = self.processor.get_mut(id) {
            for notification in initial {
                handled.listener.add(notification, &mut ());
            }
            if self.state.has_synced() {
                handled.listener.upstream_has_synced(&mut ());
            }
            handled.run();
        }
        Ok(id)
    }
}

impl Handled {
    /// Handles all that waits.
    fn run(&mut self) {
        while let Some(taken) = self.listener.take(&mut ()) {
            taken.notification.deliver(&*self.handler);
            self.listener.done(HandlerEnd::Returned, &mut ());
        }
    }
}

impl Client for Shared {
    fn reflector(&mut self) -> &mut Reflector<Pod> {
        &mut self.reflector
    }

    fn store(&mut self, call: StoreCall<Pod>) -> Result<(), Error> {
        self.queue.write(call, &self.store, &mut ())
    }

    fn should_resync(&mut self, now: Duration) -> bool {
        self.processor.should_resync(now, &mut ())
    }

    fn settle(&mut self, _now: Duration) {
        if !self.processor.is_started() {
            return;
        }
        while let Ok(Some(work)) = self.queue.begin_pop(&mut ()) {
            let mut process = Process::new(work);
            let outcome = loop {
                match process.next_notification(&mut self.store, &mut ()) {
                    Ok(notification) => {
                        let notification = Arc::new(notification);
                        for (_, handled) in self.processor.distribute_mut(&notification, &mut ()) {
                            handled.listener.add(Arc::clone(&notification), &mut ());
                        }
                    }
                    Err(outcome) => break outcome,
                }
            };
            let taken = process.into_taken();
            // The process loop ignores it, too.
            let _ignored = self
                .queue
                .finish_pop(taken, outcome, Duration::ZERO, &mut ());
        }
        if self.queue.has_synced() && !self.state.has_synced() {
            self.state.set_synced();
            for (_, handled) in self.processor.listeners_mut() {
                handled.listener.upstream_has_synced(&mut ());
            }
        }
        for (_, handled) in self.processor.listeners_mut() {
            handled.run();
        }
    }
}

impl SharedPlay {
    fn add_handler(&mut self, args: &mut Members) -> Result<Result<(), Error>, String> {
        let name = args.text("name")?;
        let resync_period = seconds(args)?;
        let filter = args.optional_members("filter")?;
        if self.registered.contains_key(&name) && !self.client.state.is_stopped() {
            return Err(format!("there is a handler {name:?} already"));
        }
        let noting = Noting {
            name: name.clone(),
            notes: Rc::clone(&self.client.notes),
        };
        let handler: Box<dyn ResourceEventHandler<Pod>> = match filter {
            None => Box::new(noting),
            Some(mut filter) => {
                let (label, value) = (filter.text("label")?, filter.text("value")?);
                filter.finish("the filter")?;
                let passes = move |item: &Item<Pod>| {
                    let object = item.as_object();
                    // To Go a label that is not there is an empty one.
                    let of =
                        |object: &Pod| object.labels().get(&label).cloned().unwrap_or_default();
                    object.is_some_and(|object| of(object) == value)
                };
                Box::new(FilteringResourceEventHandler {
                    filter_func: Arc::new(passes),
                    handler: noting,
                })
            }
        };
        let added = self
            .client
            .add_handler(self.server.now(), handler, resync_period);
        Ok(added.map(|id| {
            self.synced.insert(name.clone(), false);
            self.registered.insert(name, id);
        }))
    }

    /// Removing twice is fine.
    fn remove_handler(&mut self, args: &mut Members) -> Result<(), String> {
        let name = args.text("name")?;
        if !self.synced.contains_key(&name) {
            return Err(format!("there was never a handler {name:?}"));
        }
        if let Some(id) = self.registered.remove(&name)
            && let Some(mut handled) = self.client.processor.remove_listener(id, &mut ())
        {
            handled.listener.close();
            handled.listener.receive(&mut ());
        }
        self.left = Some(name);
        Ok(())
    }

    fn add_indexers(&mut self, args: &mut Members) -> Result<Result<(), Error>, String> {
        let names = args.required_list("indexers")?;
        let new = indexers(texts("indexers", names)?)?;
        Ok(match self.client.state.check_add_indexers() {
            Ok(()) => self.client.store.add_indexers(new, &mut ()),
            refused => refused,
        })
    }
}

impl Subject for SharedPlay {
    fn play(&mut self, step: &mut Step) -> Result<Got, String> {
        self.left = None;
        let mut failed = Ok(());
        let request = match step.op.as_str() {
            "AddHandler" | "RemoveHandler" | "AddIndexers" => {
                self.server.tick(&mut self.client);
                let args = &mut step.args;
                match step.op.as_str() {
                    "AddHandler" => failed = self.add_handler(args)?,
                    "RemoveHandler" => self.remove_handler(args)?,
                    _ => failed = self.add_indexers(args)?,
                }
                Value::Null
            }
            // Upstream warns, and does nothing.
            "Run" if self.client.state.has_started() => {
                self.server.tick(&mut self.client);
                Value::Null
            }
            op => {
                if op == "Run" {
                    // Before the server asks for its reflector: that is made here.
                    self.client.run().map_err(|error| error.to_string())?;
                }
                match self.server.play(step, &mut self.client)? {
                    Played::Done(request) => request,
                    Played::Unknown => return Err(unknown_op(&step.op)),
                }
            }
        };
        if step.op == "Stop" {
            self.client.stop();
        }
        for (name, id) in &self.registered {
            if let Some(handled) = self.client.processor.get(*id) {
                let synced = handled.listener.has_synced();
                self.synced.insert(name.clone(), synced);
            }
        }
        let notifications = std::mem::take(&mut *self.client.notes.borrow_mut());
        let mut result = json!({ "request": request, "notifications": notifications });
        let mut error = None;
        if let Err(why) = failed {
            // Either place is right.
            if step.result.get("error").is_some() {
                result["error"] = json!(why.to_string());
            }
            if step.error.is_some() || result.get("error").is_none() {
                error = Some(why);
            }
        }
        let got = settled(step, result, &mut self.server)?;
        Ok(Got { error, ..got })
    }

    fn state(&self) -> Value {
        let client = &self.client;
        let has_synced: Map<String, Value> = self
            .synced
            .iter()
            .filter(|(name, _)| {
                self.registered.contains_key(*name) || self.left.as_ref() == Some(*name)
            })
            .map(|(name, synced)| (name.clone(), json!(synced)))
            .collect();
        json!({
            "store": content(&client.store),
            "indices": index_state(&client.store),
            "storeResourceVersion": client.store.last_store_sync_resource_version(),
            "lastSyncResourceVersion": **client.reflector.last_sync_resource_version(),
            "hasSynced": client.state.has_synced(),
            "handlerHasSynced": has_synced,
            "stopped": client.state.is_stopped(),
        })
    }

    fn sets(&self, _op: &str) -> Sets {
        Sets {
            result: false,
            state: &["indices"],
        }
    }
}
