//! Handlers and their listeners in a world, and the program that adds and removes them.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::bounds::{MOST_HANDLERS, push_within};
use crate::line::Line;
use crate::{Source, Time, Wait};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::event_handler::{FilteredUpdate, filter_update};
use deltascope_cache::fact::{Actor, Cause, Fact, HandlersFact, NotificationRef, Printer};
use deltascope_cache::informer::initial_notifications;
use deltascope_cache::listener::{HandlerEnd, ListenerId, ProcessorListener};
use deltascope_cache::mutation_detector::{COMPARE_PERIOD, MutationDetector};
use deltascope_cache::object::{Item, Object};
use deltascope_cache::process::Notification;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::settings::{HandlerSettings, InformerKind, label_and_value};
use super::{NOTIFICATIONS, World, ceil_ms, key_of, millis, phase_of};

type Obj = DynamicObject;

/// The mutation detector's period, in virtual ms.
const COMPARE_MS: Time = COMPARE_PERIOD.as_secs() * 1_000;

/// One handler.
#[derive(Clone)]
pub struct Handler {
    /// The settings of the handler.
    pub settings: HandlerSettings,
    /// Whether the process function calls it directly, as in `NewInformer`: it has no listener.
    pub inline: bool,
    pub(super) id: ListenerId,
    pub(super) running: Option<Running>,
    /// Its listener, after its removal.
    left: Option<ProcessorListener<Obj>>,
    /// The last notifications that it received.
    pub notifications: VecDeque<Arc<NotificationRef>>,
    /// Whether it was removed.
    pub removed: bool,
    /// How often it has panicked.
    pub panics: u32,
    /// Whether it took part in resyncs at its removal.
    pub syncing: bool,
}

/// The notification that a handler is processing.
#[derive(Clone)]
pub(super) struct Running {
    notification: Arc<Notification<Obj>>,
    until: Time,
}

impl Handler {
    pub(super) fn new(settings: HandlerSettings, inline: bool, id: ListenerId) -> Self {
        Self {
            settings,
            inline,
            id,
            running: None,
            left: None,
            notifications: VecDeque::new(),
            removed: false,
            panics: 0,
            syncing: false,
        }
    }

    /// The last `HasSynced` of a removed handler.
    pub fn had_synced(&self) -> bool {
        self.left
            .as_ref()
            .is_some_and(ProcessorListener::has_synced)
    }

    /// The notification that it is processing.
    pub fn at_work(&self) -> Option<NotificationRef> {
        self.running
            .as_ref()
            .map(|running| running.notification.to_fact())
    }

    fn remember(&mut self, notification: NotificationRef) {
        push_within(
            &mut self.notifications,
            NOTIFICATIONS,
            Arc::new(notification),
        );
    }

    fn passes(&self, item: &Item<Obj>) -> bool {
        let Some((label, value)) = self.settings.filter.as_deref().map(label_and_value) else {
            return true;
        };
        // A real program's filter has to look into tombstones, too.
        item.as_object()
            .and_then(|object| object.labels().get(label))
            .is_some_and(|has| has == value)
    }

    /// The notification that passes the handler's filter, possibly of another type.
    fn filtered(&self, notification: &Notification<Obj>) -> Option<Notification<Obj>> {
        match notification {
            Notification::Update { old, new } => {
                let old_passes = self.passes(old.as_ref().unwrap_or(new));
                match (filter_update(old_passes, self.passes(new)), old) {
                    (FilteredUpdate::Update, _) => Some(notification.clone()),
                    (FilteredUpdate::Add, _) => Some(Notification::Add {
                        object: new.clone(),
                        is_in_initial_list: false,
                    }),
                    (FilteredUpdate::Delete, Some(old)) => Some(Notification::Delete {
                        object: old.clone(),
                    }),
                    _ => None,
                }
            }
            Notification::Add { object, .. } | Notification::Delete { object } => {
                self.passes(object).then(|| notification.clone())
            }
        }
    }

    /// Whether it calls `HasSynced` on this notification inside `process`.
    pub(super) fn calls_has_synced(&self, notification: &Notification<Obj>) -> bool {
        self.settings.calls_has_synced && self.filtered(notification).is_some()
    }

    fn lines(
        &self,
        notification: &Notification<Obj>,
        type_name: &'static str,
        synced: Option<bool>,
    ) -> Vec<Arc<str>> {
        let (templates, old) = match notification {
            Notification::Add { .. } => (&self.settings.on_add, None),
            Notification::Update { old, .. } => (&self.settings.on_update, old.as_ref()),
            Notification::Delete { .. } => (&self.settings.on_delete, None),
        };
        filled(templates, type_name, notification.object(), old, synced)
    }
}

/// Fills an object's fields into line templates.
pub(super) fn filled(
    templates: &[String],
    type_name: &str,
    item: &Item<Obj>,
    old: Option<&Item<Obj>>,
    synced: Option<bool>,
) -> Vec<Arc<str>> {
    let key = key_of(item);
    let name = key.rsplit('/').next().unwrap_or_default();
    let object = item.as_object();
    let given = match item {
        Item::Tombstone(_) => ["DeletedFinalStateUnknown{", name, "}"].concat(),
        _ => name.to_owned(),
    };
    let rv = object.map_or("", |object| object.resource_version());
    let old = old.and_then(Item::as_object);
    let old_rv = old.map_or("", |object| object.resource_version());
    let phase = object.map(|object| phase_of(object)).unwrap_or_default();
    let answer = synced.map(|synced| synced.to_string());
    let mut values = vec![
        ("{type}", type_name),
        ("{name}", name),
        ("{object}", &*given),
        ("{rv}", rv),
        ("{oldRv}", old_rv),
        ("{phase}", &*phase),
    ];
    values.extend(answer.as_deref().map(|answer| ("{synced}", answer)));
    let line = |template: &String| Line::filled(template, &values).into_text();
    templates.iter().map(line).collect()
}

/// A request to the program around the informer.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Add(HandlerSettings),
    Remove(u8),
}

/// The program around the informer.
#[derive(Clone, Default)]
pub(super) struct Main {
    requests: VecDeque<(Cause, Request)>,
    stage: MainStage,
}

#[derive(Clone, Default)]
enum MainStage {
    #[default]
    Idle,
    Want(Request),
    Act(Request),
    /// The notifications that a new listener still has to receive.
    Initial(ListenerId, VecDeque<Arc<Notification<Obj>>>),
    /// Release `blockDeltas` at this step.
    Unblock(Step),
}

impl Main {
    /// The new listener that is receiving its initial notifications.
    pub(super) fn initial_listener(&self) -> Option<ListenerId> {
        match &self.stage {
            MainStage::Initial(id, _) => Some(*id),
            _ => None,
        }
    }
}

impl<S: Source> World<S> {
    // ---- handlers inside process

    /// Calls a handler, …
    pub(super) fn call_inside(&mut self, number: usize, notification: &Arc<Notification<Obj>>) {
        let Some(handler) = self.handlers.get_mut(number) else {
            return;
        };
        let fact = notification.to_fact();
        handler.remember(fact.clone());
        handler.running = Some(Running {
            notification: Arc::clone(notification),
            until: self.now,
        });
        self.tracker.fact(Step::ProcessNotify, || {
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler: number as u8,
                notification: fact,
            })
        });
    }

    /// … executes it, and returns from it.
    pub(super) fn return_inside(
        &mut self,
        number: usize,
        type_name: &'static str,
        synced: Option<bool>,
    ) {
        let handler = self.handlers.get_mut(number);
        let Some(running) = handler.and_then(|handler| handler.running.take()) else {
            return;
        };
        self.handle(number, &running.notification, type_name, synced);
        self.tracker.fact(Step::ListenerDone, || {
            Fact::Handlers(HandlersFact::NotificationHandled {
                handler: number as u8,
            })
        });
    }

    /// A handler's work: it prints, writes into the object, adds the key to the workqueue.
    fn handle(
        &mut self,
        number: usize,
        notification: &Notification<Obj>,
        type_name: &'static str,
        synced: Option<bool>,
    ) {
        let Some(handler) = self.handlers.get(number) else {
            return;
        };
        let Some(filtered) = handler.filtered(notification) else {
            return;
        };
        let queues = handler.settings.queues;
        let mutates = handler.settings.mutates.clone();
        for line in handler.lines(&filtered, type_name, synced) {
            let by = Printer::Handler(number as u8);
            self.keep_line(by, &line);
            self.tracker.fact(Step::ListenerHandle, || {
                Fact::Handlers(HandlersFact::LinePrinted { by, line })
            });
        }
        if let Some(mutation) = mutates {
            self.write_through(number as u8, filtered.object(), &mutation);
        }
        if queues && let Some(work) = &mut self.work {
            work.queue.add(key_of(filtered.object()), &mut self.tracker);
        }
    }

    /// A handler writes a label into an object that the cache shares.
    fn write_through(&mut self, number: u8, item: &Item<Obj>, mutation: &str) {
        let (Some(old), Some(store)) = (item.plain_object(), self.store.as_mut()) else {
            return;
        };
        let (label, value) = label_and_value(mutation);
        if old.labels().get(label).is_some_and(|has| has == value) {
            return;
        }
        let mut object = Obj::clone(old);
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert(label.to_owned(), value.to_owned());
        let new = Arc::new(object);
        let key = key_of(item);
        // The store may already hold a newer object.
        let shared = store.get_by_key(&key).and_then(Item::plain_object);
        if shared.is_some_and(|shared| Arc::ptr_eq(shared, old)) {
            store.write_through(&key, Item::Object(Arc::clone(&new)));
        }
        if let Some(detector) = self.detector()
            && detector.write_through(old, &new)
        {
            let next = (self.now / COMPARE_MS + 1) * COMPARE_MS;
            self.compare_at.get_or_insert(next);
        }
        self.tracker.fact(Step::ListenerHandle, || {
            Fact::Handlers(HandlersFact::ObjectMutated {
                key,
                handler: number,
            })
        });
    }

    /// The mutation detector as of now. It compares once a second from the start on. While no handler has
    /// written into an object, these comparisons are made up for here, so that a world can come to rest.
    pub(super) fn detector(&mut self) -> Option<&mut MutationDetector<Obj>> {
        let detector = self.detector.as_mut()?;
        detector.catch_up(millis(self.now));
        Some(detector)
    }

    /// The mutation detector compares all objects.
    pub(super) fn compare_objects(&mut self) {
        self.compare_at = None;
        if let Some(detector) = &mut self.detector {
            // A mutation is stated as a fact; client-go panics.
            let _stated = detector.compare_objects(millis(self.now), &mut self.tracker);
            self.tracker.compared();
        }
    }

    // ---- listeners

    pub(super) fn pop_waits(&self, number: u8) -> Wait {
        match self.listener(number) {
            Some(listener) if listener.is_offered() => Wait::Ready,
            _ => Wait::External,
        }
    }

    /// `pop` of a listener.
    pub(super) fn pop(&mut self, number: u8) {
        let id = self.handlers.get(usize::from(number)).map(|h| h.id);
        if let Some(listener) = id.and_then(|id| self.processor.get_mut(id)) {
            listener.receive(&mut self.tracker);
        }
    }

    pub(super) fn listener_waits(&self, number: u8) -> Wait {
        let Some(handler) = self.handlers.get(usize::from(number)) else {
            return Wait::External;
        };
        match &handler.running {
            // The process loop runs this handler.
            _ if handler.inline => Wait::External,
            Some(running) => Wait::Until(running.until),
            None if self
                .listener(number)
                .is_some_and(|listener| listener.is_ready()) =>
            {
                Wait::Ready
            }
            None => Wait::External,
        }
    }

    /// `run` of a listener.
    pub(super) fn listen(&mut self, number: u8) {
        let place = usize::from(number);
        let Some(handler) = self.handlers.get_mut(place) else {
            return;
        };
        if let Some(running) = handler.running.take() {
            let name = running.notification.object().as_object().map(|o| o.name());
            let panics = handler.settings.panics_at.as_deref();
            let is_called = handler.filtered(&running.notification).is_some();
            let end = if is_called && panics.is_some() && panics == name {
                handler.panics += 1;
                HandlerEnd::Panicked("a fault of the handler".into())
            } else {
                let delta_type = match &*running.notification {
                    Notification::Add { .. } => DeltaType::Added,
                    Notification::Update { .. } => DeltaType::Updated,
                    Notification::Delete { .. } => DeltaType::Deleted,
                };
                self.handle(place, &running.notification, delta_type.as_str(), None);
                HandlerEnd::Returned
            };
            let Some(handler) = self.handlers.get_mut(place) else {
                return;
            };
            if let Some(listener) = handler.left.as_mut() {
                listener.done(end, &mut self.tracker);
            } else if let Some(listener) = self.processor.get_mut(handler.id) {
                listener.done(end, &mut self.tracker);
            }
            return;
        }
        let taken = self
            .processor
            .get_mut(handler.id)
            .and_then(|listener| listener.take(&mut self.tracker));
        if let Some(taken) = taken {
            handler.remember(taken.notification.to_fact());
            handler.running = Some(Running {
                notification: taken.notification,
                until: self.now + ceil_ms(taken.rest) + Time::from(handler.settings.latency_ms),
            });
        }
    }

    /// The listener of a handler, until it is removed from the processor.
    pub fn listener(&self, number: u8) -> Option<&ProcessorListener<Obj>> {
        let handler = self.handlers.get(usize::from(number))?;
        self.processor.get(handler.id)
    }

    /// Whether a handler takes part in resyncs.
    pub fn is_syncing(&self, number: u8) -> bool {
        self.handlers
            .get(usize::from(number))
            .is_some_and(|handler| self.processor.is_syncing(handler.id))
    }

    pub(super) fn should_resync(&mut self) -> bool {
        self.settings.informer != InformerKind::Shared
            || self
                .processor
                .should_resync(millis(self.now), &mut self.tracker)
    }

    // ---- the program around the informer

    pub(super) fn ask_main(&mut self, cause: Cause, asked: Fact, request: Request) {
        self.tracker.turn(self.now, Actor::Main);
        let asked = self.tracker.input(cause, Step::SettingChanged, asked);
        self.main.requests.push_back((asked, request));
    }

    /// What was requested and is not done yet.
    fn requests(&self) -> impl Iterator<Item = &Request> {
        let at = match &self.main.stage {
            MainStage::Want(request) | MainStage::Act(request) => Some(request),
            _ => None,
        };
        let waiting = self.main.requests.iter().map(|(_, request)| request);
        at.into_iter().chain(waiting)
    }

    /// The handlers whose addition was requested and is not done yet.
    pub fn asked(&self) -> impl Iterator<Item = &HandlerSettings> {
        self.requests().filter_map(|request| match request {
            Request::Add(settings) => Some(settings),
            Request::Remove(_) => None,
        })
    }

    /// Whether the removal of a handler was requested and is not done yet.
    pub fn is_leaving(&self, number: u8) -> bool {
        self.requests()
            .any(|request| matches!(request, Request::Remove(of) if *of == number))
    }

    /// Whether a handler exists, or will exist, whose removal can be requested.
    pub(super) fn can_remove(&self, number: u8) -> bool {
        let place = usize::from(number);
        let is_there = match self.handlers.get(place) {
            Some(handler) => !handler.removed,
            None => place < self.handlers.len() + self.asked().count(),
        };
        is_there && !self.is_leaving(number)
    }

    pub(super) fn main_waits(&self) -> Wait {
        match &self.main.stage {
            MainStage::Idle if !self.main.requests.is_empty() => Wait::Ready,
            MainStage::Idle => Wait::External,
            MainStage::Want(_) if !self.block_deltas.is_ready_for(Actor::Main) => Wait::Lock,
            MainStage::Initial(id, _)
                if self
                    .processor
                    .get(*id)
                    .is_some_and(|listener| listener.is_offered()) =>
            {
                Wait::External
            }
            _ => Wait::Ready,
        }
    }

    /// Whether the next micro-step states a fact, if that is known beforehand.
    pub(super) fn main_states(&self) -> Option<bool> {
        if self.timer_at().is_some_and(|at| at <= self.now) {
            return None;
        }
        match &self.main.stage {
            MainStage::Idle => Some(false),
            MainStage::Want(_) => self.asking_states(&self.block_deltas, Actor::Main),
            MainStage::Unblock(_) => Some(true),
            MainStage::Act(_) | MainStage::Initial(..) => None,
        }
    }

    pub(super) fn run_main(&mut self) {
        match std::mem::take(&mut self.main.stage) {
            MainStage::Idle => {
                if let Some((cause, request)) = self.main.requests.pop_front() {
                    self.tracker.because(Actor::Main, cause);
                    self.main.stage = MainStage::Want(request);
                }
            }
            MainStage::Want(request) => {
                let step = match &request {
                    Request::Add(_) => Step::HandlerLock,
                    Request::Remove(_) => Step::RemoveLock,
                };
                let taken = self
                    .block_deltas
                    .acquire(Actor::Main, step, &mut self.tracker);
                self.main.stage = if taken {
                    MainStage::Act(request)
                } else {
                    MainStage::Want(request)
                };
            }
            MainStage::Act(Request::Add(settings)) => self.add_handler(settings),
            MainStage::Act(Request::Remove(number)) => {
                self.remove_handler(number);
                self.main.stage = MainStage::Unblock(Step::RemoveUnlock);
            }
            MainStage::Initial(id, mut notifications) => {
                let Some(listener) = self.processor.get_mut(id) else {
                    self.main.stage = MainStage::Unblock(Step::HandlerUnlock);
                    return;
                };
                if let Some(notification) = notifications.pop_front() {
                    // The listener's `pop` has received the previous one.
                    let _has_room = listener.offer(notification, &mut self.tracker);
                    self.main.stage = MainStage::Initial(id, notifications);
                } else {
                    if self.informer.has_synced() {
                        listener.upstream_has_synced(&mut self.tracker);
                    }
                    self.main.stage = MainStage::Unblock(Step::HandlerUnlock);
                }
            }
            MainStage::Unblock(step) => {
                self.block_deltas
                    .release(self.now, Actor::Main, step, &mut self.tracker);
            }
        }
    }

    fn add_handler(&mut self, settings: HandlerSettings) {
        self.main.stage = MainStage::Unblock(Step::HandlerUnlock);
        if self.handlers.len() >= MOST_HANDLERS {
            return;
        }
        let resync = settings.resync_ms.map(millis);
        let Ok(registration) =
            self.informer
                .add_event_handler(&settings.name, resync, &mut self.tracker)
        else {
            return;
        };
        let initial: VecDeque<_> = self
            .store
            .as_ref()
            .map(initial_notifications)
            .unwrap_or_default()
            .into();
        let id = self.processor.add_listener(
            &registration,
            initial.len(),
            |id, name| ProcessorListener::new(id, name),
            millis(self.now),
            &mut self.tracker,
        );
        self.handlers.push(Handler::new(settings, false, id));
        self.main.stage = MainStage::Initial(id, initial);
    }

    fn remove_handler(&mut self, number: u8) {
        let Some(handler) = self.handlers.get_mut(usize::from(number)) else {
            return;
        };
        let syncing = self.processor.is_syncing(handler.id);
        if let Some(mut listener) = self
            .processor
            .remove_listener(handler.id, &mut self.tracker)
        {
            handler.syncing = syncing;
            listener.close();
            // Waiting notifications are dropped; the handler finishes the current one.
            listener.receive(&mut ());
            handler.left = Some(listener);
            handler.removed = true;
        }
    }
}

/// A hash of the parts of an object that must not change while it is shared.
pub(super) fn fingerprint(object: &Obj) -> u64 {
    use std::hash::BuildHasher;
    let state = foldhash::quality::FixedState::with_seed(0);
    state.hash_one((object.labels(), object.data.to_string()))
}
