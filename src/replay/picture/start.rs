//! The picture of a world in which nothing has happened yet: where a fold of its facts begins.

use std::sync::Arc;

use deltascope_cache::controller::InformerQueue;
use deltascope_cache::fact::ObjectRef;
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::known::Known;
use deltascope_world::source::{pod, reference};
use deltascope_world::virtual_time::World;

use super::{
    ApiObject, ApiRoom, BesideRoom, HandlerRoom, InformerKind, Picture, PopRoom, QueueKind,
    QueueRoom, ReflectorRoom, StoreRoom, WorkRoom, known_object,
};

impl Picture {
    /// The picture of a world before its first fact. Everything later follows from the facts.
    #[must_use]
    pub fn start(world: &World<AnySource>) -> Self {
        let settings = world.settings();
        let (driver, process) = (world.reflector(), world.process());
        let mut picture = Self {
            informer: settings.informer,
            generation: settings.era,
            api: api_of(world),
            reflector: ReflectorRoom {
                state: driver.state(),
                ..ReflectorRoom::default()
            },
            queue: QueueRoom {
                kind: match world.queue() {
                    InformerQueue::Delta(_) => QueueKind::DeltaFifo,
                    InformerQueue::Fifo(_) => QueueKind::Fifo,
                    InformerQueue::Real(_) => QueueKind::RealFifo,
                },
                known_objects: world.known_objects(),
                ..QueueRoom::default()
            },
            pop: PopRoom {
                mode: process.mode,
                ..PopRoom::default()
            },
            store: StoreRoom {
                present: world.store().is_some(),
                rv: world.store_rv(),
                keeps_rv: settings.keeps_resource_version(),
                indices: settings
                    .indices
                    .iter()
                    .map(|name| (Arc::clone(name), SortedMap::new()))
                    .collect(),
                ..StoreRoom::default()
            },
            handlers: world
                .handlers()
                .iter()
                .zip(0..)
                .map(|(handler, number)| HandlerRoom {
                    inline: handler.inline,
                    syncing: world.is_syncing(number),
                    name: Arc::clone(&handler.settings.name),
                    latency_ms: handler.settings.latency_ms,
                    resync_ms: handler.settings.resync_ms.unwrap_or(settings.resync_ms),
                    filter: handler.settings.filter.clone().unwrap_or_default(),
                    ..HandlerRoom::default()
                })
                .collect(),
            resync_check_ms: world.resync_check_ms(),
            work: world.work().map(|work| WorkRoom {
                workers: work.in_work().map(|_| None).collect(),
                ..WorkRoom::default()
            }),
            beside: world.beside().map(beside_of).collect(),
            ..Self::default()
        };
        picture.look_at_all();
        picture.settle();
        picture
    }
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
            room.selector = world.settings().selector.clone();
            for (key, stored) in server.objects() {
                let object = ApiObject {
                    object: reference(key, &stored.object),
                    body: pod::body(&stored.object),
                    deleted: false,
                };
                room.objects.insert(key.clone(), object.into());
            }
        }
        AnySource::Recorded(recording) => room.know(recording.known(), |_, one| one.clone()),
        AnySource::Live(live) => room.know(live.known(), |key, one| reference(key, one)),
        AnySource::Program(_) => {}
    }
    room
}

impl ApiRoom {
    /// Adds the objects that the server is known to have.
    fn know<O>(&mut self, known: &Known<O>, of: impl Fn(&Key, &O) -> ObjectRef) {
        self.rv = Arc::clone(known.rv());
        self.known_from_events = known.is_complete();
        for (key, (object, deleted)) in known.objects() {
            self.objects
                .insert(key.clone(), known_object(&of(key, object), *deleted));
        }
    }
}

fn beside_of(world: &World<AnySource>) -> BesideRoom {
    BesideRoom {
        shared: world.settings().informer == InformerKind::Shared,
        handlers: world.settings().handlers.len(),
        ..BesideRoom::default()
    }
}
