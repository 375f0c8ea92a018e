//! The picture of a world, read directly from its machines: the reference for the fold of its facts.

use std::collections::VecDeque;
use std::sync::Arc;

use deltascope::cache::controller::InformerQueue;
use deltascope::cache::delta::DeltaType;
use deltascope::cache::fact::{Body, ObjectRef};
use deltascope::cache::key::Key;
use deltascope::cache::queue::Queue as _;
use deltascope::cache::sorted::{self, SortedMap};
use deltascope::replay::picture::{
    ApiObject, ApiRoom, BesideRoom, HandlerRoom, InformerKind, LockState, Picture, PopRoom,
    QueueKind, QueueRoom, ReflectorRoom, StoreRoom, WorkRoom,
};
use deltascope::world::fill::fill;
use deltascope::world::lock::Lock;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::known::Known;
use deltascope::world::source::{pod, reference, simulator};
use deltascope::world::virtual_time::{HandlerSettings, World};

pub(crate) fn picture_of(world: &World<AnySource>) -> Picture {
    let (api, store) = (api_of(world), store_of(world));
    let mut picture = Picture {
        store: StoreRoom {
            unlike: unlike(&api, &store),
            ..store
        },
        api,
        reflector: reflector_of(world),
        queue: queue_of(world),
        informer: world.settings().informer,
        generation: world.settings().era,
        lock: lock_of(world.lock()),
        block_deltas: lock_of(world.block_deltas()),
        pop: pop_of(world),
        handlers: handlers_of(world),
        asked: world
            .asked()
            .zip(world.handlers().len()..)
            .map(|(settings, number)| HandlerRoom {
                leaving: u8::try_from(number).is_ok_and(|number| world.is_leaving(number)),
                ..asked_of(settings, world)
            })
            .collect(),
        resync_check_ms: world.resync_check_ms(),
        work: work_of(world),
        output: world.output().clone(),
        beside: world.beside().map(beside_of).collect(),
    };
    // How far the store is behind follows from the rest.
    picture.apply_all(&[]);
    picture
}

/// The keys of the objects that are not the same in the store and among the selected ones of the server.
fn unlike(api: &ApiRoom, store: &StoreRoom) -> SortedMap<Key, ()> {
    let selected = api.objects.iter();
    let selected: SortedMap<_, _> = selected
        .filter(|(_, one)| !one.deleted && api.selects(&one.body.labels))
        .map(|(key, one)| (key, (&one.object.rv, &one.object.uid)))
        .collect();
    let stored = |key: &Key| store.items.get(key).map(|one| (&one.rv, &one.uid));
    let keys = api.objects.keys().chain(store.items.keys());
    keys.filter(|key| selected.get(*key).copied() != stored(key))
        .map(|key| (key.clone(), ()))
        .collect()
}

/// Adds the objects that the server is known to have.
fn know<O>(room: &mut ApiRoom, known: &Known<O>, of: impl Fn(&Key, &O) -> ObjectRef) {
    room.rv = Arc::clone(known.rv());
    room.known_from_events = known.is_complete();
    for (key, (object, deleted)) in known.objects() {
        let object = ApiObject {
            object: of(key, object),
            body: Body::default(),
            deleted: *deleted,
        };
        room.objects.insert(key.clone(), object.into());
    }
    room.deleted = known.deleted().cloned().collect();
}

fn api_of(world: &World<AnySource>) -> ApiRoom {
    let mut room = ApiRoom {
        source: world.settings().source,
        ..ApiRoom::default()
    };
    match world.source() {
        AnySource::Server(server) => {
            room.rv = server.rv();
            room.oldest = server.oldest();
            room.history = server.history().collect();
            room.refusals = server.refusals().copied().collect();
            room.selector = world.settings().selector.clone();
            for (key, stored) in server.objects() {
                let object = ApiObject {
                    object: reference(key, &stored.object),
                    body: pod::body(&stored.object),
                    deleted: stored.deleted,
                };
                room.objects.insert(key.clone(), object.into());
            }
            let deleted = server.objects().filter(|(_, stored)| stored.deleted);
            // Versions are unique.
            let deleted: SortedMap<u64, &Key> = deleted
                .map(|(key, stored)| (simulator::version(&stored.object), key))
                .collect();
            room.deleted = deleted.values().map(|key| (*key).clone()).collect();
        }
        AnySource::Recorded(recording) => {
            know(&mut room, recording.known(), |_, one| one.clone());
        }
        AnySource::Live(live) => {
            know(&mut room, live.known(), |key, one| reference(key, one));
        }
        AnySource::Program(_) => {}
    }
    let stream = world.source().stream();
    room.watch = stream.watch().map(Arc::clone);
    room.sends_events = room.watch.is_some() && !stream.is_over();
    room.stream = stream.lines().cloned().collect();
    room.sent = stream.sent();
    room
}

fn lock_of(lock: &Lock) -> LockState {
    LockState {
        holder: lock.holder(),
        waiting: lock.waiting().collect(),
    }
}

fn queue_of(world: &World<AnySource>) -> QueueRoom {
    let known_objects = world.known_objects();
    match world.queue() {
        InformerQueue::Delta(queue) => QueueRoom {
            kind: QueueKind::DeltaFifo,
            keys: queue.list_keys().cloned().collect(),
            deltas: fill(queue.list_keys().filter_map(|key| {
                let deltas = queue.get_by_key(key)?;
                let deltas = deltas
                    .iter()
                    .map(|delta| (delta.delta_type, delta.object.to_ref(key)))
                    .collect();
                Some((key.clone(), deltas))
            })),
            entries: VecDeque::new(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
        InformerQueue::Fifo(queue) => QueueRoom {
            kind: QueueKind::Fifo,
            keys: queue.queue().cloned().collect(),
            deltas: fill(
                queue
                    .list()
                    .into_iter()
                    .map(|(key, item)| (key.clone(), vec![(DeltaType::Added, item.to_ref(key))])),
            ),
            entries: VecDeque::new(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
        InformerQueue::Real(queue) => QueueRoom {
            kind: QueueKind::RealFifo,
            keys: VecDeque::new(),
            deltas: SortedMap::new(),
            entries: queue
                .entries()
                .map(|entry| entry.to_entry(queue.key_func()))
                .collect(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
    }
}

fn store_of(world: &World<AnySource>) -> StoreRoom {
    let mut room = StoreRoom {
        present: world.store().is_some(),
        rv: world.store_rv(),
        keeps_rv: world.settings().keeps_resource_version(),
        indices: world
            .settings()
            .indices
            .iter()
            .map(|name| (Arc::clone(name), SortedMap::new()))
            .collect(),
        ..StoreRoom::default()
    };
    if let Some(store) = world.store() {
        room.items = items_of(world);
        for index in store.indices() {
            let values = fill(index.values().into_iter().map(|(value, keys)| {
                let mut keys: Vec<Key> = keys.into_iter().cloned().collect();
                sorted::sort(&mut keys, Ord::cmp);
                (Arc::clone(value), keys)
            }));
            room.indices.insert(Arc::clone(index.name()), values);
        }
    }
    room
}

fn reflector_of(world: &World<AnySource>) -> ReflectorRoom {
    let driver = world.reflector();
    let reflector = driver.reflector();
    let log = &driver.log;
    ReflectorRoom {
        state: driver.state(),
        last_sync: Arc::clone(reflector.last_sync_resource_version()),
        events: log.events,
        lists: log.lists,
        backoff_ms: log.backoff_ms.unwrap_or_default(),
        relist: reflector.lists_next(),
        in_hand: driver.in_hand.clone(),
        lists_asked: log.lists_asked,
        watches_asked: log.watches_asked,
        requests: log.requests.clone(),
        temporary: reflector
            .temporary_store()
            .map(|kept| fill(kept.map(|(key, item)| (key.clone(), item.to_ref(key))))),
        unavailable: reflector.is_last_sync_resource_version_unavailable(),
        watch_errors: log.watch_errors,
        resyncs: log.resyncs,
    }
}

fn pop_of(world: &World<AnySource>) -> PopRoom {
    let process = world.process();
    PopRoom {
        mode: process.mode,
        asked: process.asked,
        processing: world.processing(),
        last: process.last.clone(),
        count: process.count,
    }
}

fn handlers_of(world: &World<AnySource>) -> Vec<HandlerRoom> {
    world
        .handlers()
        .iter()
        .zip(0..)
        .map(|(handler, number)| {
            let listener = world.listener(number);
            let room = asked_of(&handler.settings, world);
            HandlerRoom {
                inline: handler.inline,
                pending: listener
                    .into_iter()
                    .flat_map(|listener| listener.notifications())
                    .map(|notification| notification.to_fact())
                    .collect(),
                running: handler.at_work(),
                notifications: handler.notifications.clone(),
                sending: listener
                    .and_then(|listener| listener.offered())
                    .map(|notification| notification.to_fact()),
                synced: handler.had_synced()
                    || listener.is_some_and(|listener| listener.has_synced()),
                syncing: handler.syncing || world.is_syncing(number),
                leaving: world.is_leaving(number),
                removed: handler.removed,
                panics: handler.panics,
                ..room
            }
        })
        .collect()
}

fn asked_of(settings: &HandlerSettings, world: &World<AnySource>) -> HandlerRoom {
    HandlerRoom {
        name: Arc::clone(&settings.name),
        latency_ms: settings.latency_ms,
        resync_ms: settings.resync_ms.unwrap_or(world.settings().resync_ms),
        filter: settings.filter.clone().unwrap_or_default(),
        syncing: true,
        ..HandlerRoom::default()
    }
}

fn beside_of(world: &World<AnySource>) -> BesideRoom {
    let log = &world.reflector().log;
    BesideRoom {
        shared: world.settings().informer == InformerKind::Shared,
        handlers: world.settings().handlers.len(),
        lists: log.lists_asked,
        watches: log.watches_asked,
        objects: items_of(world),
    }
}

fn items_of(world: &World<AnySource>) -> SortedMap<Key, ObjectRef> {
    let items = world.store().into_iter().flat_map(|store| store.iter());
    fill(items.map(|(key, item)| (key.clone(), item.to_ref(key))))
}

fn work_of(world: &World<AnySource>) -> Option<WorkRoom> {
    let work = world.work()?;
    let queue = work.queue();
    let dirty = queue.queued().chain(queue.dirty_while_processing());
    let dirty = dirty.map(|key| (key.clone(), ())).collect();
    let failures = work.failures();
    Some(WorkRoom {
        queue: queue.queued().cloned().collect(),
        dirty,
        workers: work.in_work().map(|key| key.cloned()).collect(),
        delayed: queue
            .waiting()
            .map(|(key, at)| (key.clone(), at.as_millis() as u64))
            .collect(),
        failures,
        reconciled: work.reconciled,
        shut_down: queue.is_shutting_down(),
    })
}
