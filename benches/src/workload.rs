//! The workloads: operations, their objects, and the cost of the same operations in Go.
//!
//! Objects are built before the clock starts, and the leftovers of a run are dropped after it has
//! stopped. No run here reads a clock.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::index::{
    IndexFunc, Indexers, NAMESPACE_INDEX, label_index_func, meta_namespace_index_func,
};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{KeyFunc, meta_namespace_key_func};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release};
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions};
use deltascope::cache::store::{Indexer, new_indexer};
use k8s_openapi::api::core::v1::{Pod, PodSpec, PodStatus};

#[cfg(not(target_arch = "wasm32"))]
use crate::informer::{CHANGES, informer_row};
#[cfg(target_arch = "wasm32")]
use crate::one_thread::{CHANGES, informer_row};

/// The cost of an operation with client-go v0.36.4, Go 1.27, GOMAXPROCS 2, on two cores: median and
/// minimum of ten runs of Go's own benchmarks, and the allocated bytes.
#[derive(Clone, Copy)]
pub struct Go {
    /// Nanoseconds, median.
    pub median: f64,
    /// Nanoseconds, minimum.
    pub min: f64,
    /// Allocated bytes.
    pub bytes: f64,
}

/// One row of the table.
pub struct Row {
    /// Name of the workload.
    pub name: &'static str,
    /// Go's cost; `None` if Go has no comparable operation.
    pub go: Option<Go>,
    /// Number of operations in a run.
    pub operations: usize,
    /// Builds the data of a run.
    pub prepare: fn(&World) -> Run,
}

/// The timed part. It returns the values that must not be dropped while the clock runs.
pub type Run = Box<dyn FnOnce() -> Left>;

/// The leftovers of a run.
pub type Left = Box<dyn Any>;

/// The objects; each set is built on first use.
#[derive(Default)]
pub struct World {
    first: OnceCell<Rc<Pods>>,
    newer: OnceCell<Rc<Pods>>,
    shifted: OnceCell<Rc<Pods>>,
    events: OnceCell<Rc<Pods>>,
    indexed: OnceCell<Rc<Indexer<Pod>>>,
    keys: OnceCell<Rc<Vec<String>>>,
}

/// Pods, as items for the store.
pub type Pods = Vec<Item<Pod>>;

/// Number of objects.
pub const MANY: usize = 100_000;
/// Number of different keys in the events of the queues.
pub const EVENT_KEYS: usize = 10_000;
/// Number of listed objects when a queue's content is replaced; the deletion of the others was
/// missed.
const LISTED: usize = 99_000;
/// Number of pods in a namespace.
pub const IN_NAMESPACE: usize = MANY / 100;
/// Repetitions of a short read in a run, because a browser's clock is too coarse for one.
pub const REPEATS: usize = 50;
/// Coprime to the number of objects: a stride that visits all of them in an order that CPU caches
/// cannot predict.
pub const STRIDE: usize = 7919;

impl World {
    /// All pods at their first version.
    pub fn first(&self) -> Rc<Pods> {
        Rc::clone(self.first.get_or_init(|| Rc::new(pods(MANY, 1, 0))))
    }

    /// The same pods with another version.
    pub fn newer(&self) -> Rc<Pods> {
        Rc::clone(self.newer.get_or_init(|| Rc::new(pods(MANY, 2, 0))))
    }

    /// The same pods on the next node.
    pub fn shifted(&self) -> Rc<Pods> {
        Rc::clone(self.shifted.get_or_init(|| Rc::new(pods(MANY, 2, 1))))
    }

    /// Changes of a few pods, round by round: one object per event.
    pub fn events(&self) -> Rc<Pods> {
        let events = || {
            let event = |event| Item::object(pod(event % EVENT_KEYS, event / EVENT_KEYS + 1, 0));
            Rc::new((0..MANY).map(event).collect())
        };
        Rc::clone(self.events.get_or_init(events))
    }

    /// A store with all pods and three indices, for reading.
    fn indexed(&self) -> Rc<Indexer<Pod>> {
        let indexed = || Rc::new(filled(store(true), &self.first()));
        Rc::clone(self.indexed.get_or_init(indexed))
    }

    fn keys(&self) -> Rc<Vec<String>> {
        let keys = || Rc::new((0..MANY).map(|i| key(i).to_string()).collect());
        Rc::clone(self.keys.get_or_init(keys))
    }
}

/// All rows, in display order.
pub fn rows() -> Vec<Row> {
    let row = |name, (median, min, bytes), operations, prepare| Row {
        name,
        go: Some(Go { median, min, bytes }),
        operations,
        prepare,
    };
    #[allow(unused_mut, reason = "without threads it is all")]
    let mut rows = vec![
        row(
            "IndexerAddNew 10k, 3 indices",
            (1337., 830., 431.),
            MANY / 10,
            |world| add_new(world, MANY / 10, true),
        ),
        row(
            "IndexerAddNew 100k, 3 indices",
            (2285., 1882., 463.),
            MANY,
            |world| add_new(world, MANY, true),
        ),
        row(
            "IndexerAddNew 10k, no index",
            (247., 222., 155.),
            MANY / 10,
            |world| add_new(world, MANY / 10, false),
        ),
        row(
            "IndexerAddNew 100k, no index",
            (515., 384., 129.),
            MANY,
            |world| add_new(world, MANY, false),
        ),
        row(
            "IndexerUpdateSameIndexValues",
            (1172., 1010., 120.),
            MANY,
            |world| update(world, &world.newer()),
        ),
        row(
            "IndexerUpdateOneIndexValueChanged",
            (1669., 1501., 134.),
            MANY,
            |world| update(world, &world.shifted()),
        ),
        row("IndexerDelete", (1339., 1203., 72.), MANY, delete),
        row("IndexerReplace", (2749., 2093., 411.), MANY, replace),
        row(
            "IndexerByIndex1pct, lent",
            (50., 31., 16.),
            IN_NAMESPACE * REPEATS,
            by_index,
        ),
        row(
            "IndexerByIndex1pct, cloned",
            (50., 31., 16.),
            IN_NAMESPACE * REPEATS,
            by_index_cloned,
        ),
        row(
            "IndexerIndexKeys1pct",
            (114., 96., 16.),
            IN_NAMESPACE * REPEATS,
            index_keys,
        ),
        row("IndexerGet", (594., 422., 24.), MANY, get),
        row("IndexerGetByKey", (148., 41., 0.), MANY, get_by_key),
        row("IndexerList, lent", (26., 16., 16.), MANY * REPEATS, list),
        row("IndexerList, cloned", (26., 16., 16.), MANY, list_cloned),
        row("DeltaFIFOSteady", (291., 220., 120.), MANY, |world| {
            steady(world, delta_fifo())
        }),
        row("DeltaFIFOBurst", (334., 246., 182.), MANY, |world| {
            burst(world, delta_fifo())
        }),
        row("RealFIFOSteady", (366., 289., 168.), MANY, |world| {
            steady(world, real_fifo(Release::V0_34))
        }),
        row("RealFIFOAtomicSteady", (421., 291., 168.), MANY, |world| {
            steady(world, real_fifo(Release::V0_36))
        }),
        row("RealFIFOBurst", (1036., 734., 652.), MANY, |world| {
            burst(world, real_fifo(Release::V0_34))
        }),
        row(
            "RealFIFOBurstPopBatch",
            (431., 336., 386.),
            MANY,
            burst_in_batches,
        ),
        row("DeltaFIFOReplace", (1030., 661., 346.), MANY, |world| {
            replace_known(world, delta_fifo())
        }),
        row("RealFIFOReplace", (535., 379., 298.), MANY, |world| {
            replace_known(world, real_fifo(Release::V0_34))
        }),
    ];
    // Natively this runs with threads; wasm in a browser has none, so there it is one thread.
    rows.extend([
        row(
            "Informer, 1 handler",
            (1871., 1439., 856.),
            CHANGES,
            |world| informer_row(world, Generation::Atomic, 1),
        ),
        row(
            "Informer, 4 handlers",
            (3326., 2937., 788.),
            CHANGES,
            |world| informer_row(world, Generation::Atomic, 4),
        ),
        row(
            "Informer, 16 handlers",
            (8214., 7470., 767.),
            CHANGES,
            |world| informer_row(world, Generation::Atomic, 16),
        ),
    ]);
    // In this generation each Pop takes one event, without batches.
    let in_order = |name, prepare| Row {
        name,
        go: None,
        operations: CHANGES,
        prepare,
    };
    rows.extend([
        in_order("Informer of 1.34, 1 handler", |world| {
            informer_row(world, Generation::InOrder, 1)
        }),
        in_order("Informer of 1.34, 16 handlers", |world| {
            informer_row(world, Generation::InOrder, 16)
        }),
    ]);
    rows
}

/// The store whose bytes per pod are measured, filled pod by pod.
pub fn cached(world: &World, indexed: bool) -> Indexer<Pod> {
    filled(store(indexed), &world.first())
}

/// A queue and a store of `objects` small objects, and `events` changes of them: the cost of an
/// event must not depend on the number of objects.
pub fn pipeline(objects: usize, events: usize) -> Run {
    let mut store: Indexer<Small> = new_indexer(key_func(), indexers(small_node()));
    for i in 0..objects {
        put(&mut store, Item::object(Small::new(i, 0)));
    }
    let event = |event| Item::object(Small::new(event * STRIDE % objects, 1));
    let events: Vec<_> = (0..events).map(event).collect();
    let mut queue = RealFifo::new(RealFifoOptions::new(key_func(), Release::V0_36));
    Box::new(move || {
        for event in events {
            check(queue.update(event, &mut ()));
            let popped = queue.pop(
                |popping| {
                    for entry in &popping.taken.entries {
                        if let deltascope::cache::real_fifo::QueuedDelta::Delta { delta, .. } =
                            entry
                        {
                            check(store.update(delta.object.clone(), &mut ()));
                        }
                    }
                    ProcessOutcome::Done
                },
                || Duration::ZERO,
                &mut (),
            );
            check(popped);
        }
        Box::new((store, queue))
    })
}

// ---- the store

fn add_new(world: &World, count: usize, indexed: bool) -> Run {
    let pods = world.first()[..count].to_vec();
    let mut store = store(indexed);
    Box::new(move || {
        for pod in pods {
            put(&mut store, pod);
        }
        Box::new(store)
    })
}

fn update(world: &World, newer: &Pods) -> Run {
    let mut store = cached(world, true);
    let newer = newer.clone();
    Box::new(move || {
        for pod in newer {
            check(store.update(pod, &mut ()));
        }
        Box::new(store)
    })
}

fn delete(world: &World) -> Run {
    let mut store = cached(world, true);
    let pods = world.first();
    Box::new(move || {
        for pod in &*pods {
            check(store.delete(pod, &mut ()));
        }
        Box::new(store)
    })
}

fn replace(world: &World) -> Run {
    let mut store = cached(world, true);
    let pods = world.first().to_vec();
    Box::new(move || {
        check(store.replace(pods, "2", &mut ()));
        Box::new(store)
    })
}

fn by_index(world: &World) -> Run {
    let store = world.indexed();
    Box::new(move || {
        for _ in 0..REPEATS {
            for item in some(store.by_index(black_box(NAMESPACE_INDEX), "ns-042")) {
                black_box(item);
            }
        }
        Box::new(())
    })
}

fn by_index_cloned(world: &World) -> Run {
    let store = world.indexed();
    Box::new(move || {
        for _ in 0..REPEATS {
            let found = some(store.by_index(black_box(NAMESPACE_INDEX), "ns-042"));
            let cloned: Vec<_> = found.cloned().collect();
            black_box(&cloned);
        }
        Box::new(())
    })
}

fn index_keys(world: &World) -> Run {
    let store = world.indexed();
    Box::new(move || {
        for _ in 0..REPEATS {
            black_box(&some(
                store.index_keys(black_box(NAMESPACE_INDEX), "ns-042"),
            ));
        }
        Box::new(())
    })
}

fn get(world: &World) -> Run {
    let (store, pods) = (world.indexed(), world.first());
    Box::new(move || {
        for k in 0..MANY {
            black_box(some(store.get(&pods[k * STRIDE % MANY])));
        }
        Box::new(())
    })
}

fn get_by_key(world: &World) -> Run {
    let (store, keys) = (world.indexed(), world.keys());
    Box::new(move || {
        for k in 0..MANY {
            black_box(store.get_by_key(&keys[k * STRIDE % MANY]));
        }
        Box::new(())
    })
}

fn list(world: &World) -> Run {
    let store = world.indexed();
    Box::new(move || {
        for _ in 0..REPEATS {
            for item in black_box(&store).list() {
                black_box(item);
            }
        }
        Box::new(())
    })
}

fn list_cloned(world: &World) -> Run {
    let store = world.indexed();
    Box::new(move || Box::new(store.list().cloned().collect::<Vec<_>>()))
}

// ---- the queues

fn steady<Q: Queue<Pod> + 'static>(world: &World, mut queue: Q) -> Run {
    let events = world.events().to_vec();
    Box::new(move || {
        for (event, pod) in events.into_iter().enumerate() {
            offer(&mut queue, event, pod);
            pop(&mut queue);
        }
        Box::new(queue)
    })
}

fn burst<Q: Queue<Pod> + 'static>(world: &World, mut queue: Q) -> Run {
    let events = world.events().to_vec();
    Box::new(move || {
        for (event, pod) in events.into_iter().enumerate() {
            offer(&mut queue, event, pod);
        }
        while queue.depth() > 0 {
            pop(&mut queue);
        }
        Box::new(queue)
    })
}

fn burst_in_batches(world: &World) -> Run {
    let mut queue = real_fifo(Release::V0_35);
    let events = world.events().to_vec();
    Box::new(move || {
        for (event, pod) in events.into_iter().enumerate() {
            offer(&mut queue, event, pod);
        }
        while queue.depth() > 0 {
            check(queue.pop_batch(|taken| done(&taken), || Duration::ZERO, &mut ()));
        }
        Box::new(queue)
    })
}

fn replace_known<Q: Queue<Pod> + 'static>(world: &World, mut queue: Q) -> Run {
    let known = world.indexed();
    let listed = world.newer()[..LISTED].to_vec();
    Box::new(move || {
        let known: &dyn KeyListerGetter<Pod> = &*known;
        check(queue.replace(listed, "2", Some(known), &mut ()));
        Box::new(queue)
    })
}

fn offer<Q: Queue<Pod>>(queue: &mut Q, event: usize, pod: Item<Pod>) {
    check(if event < EVENT_KEYS {
        queue.add(pod, &mut ())
    } else {
        queue.update(pod, &mut ())
    });
}

fn pop<Q: Queue<Pod>>(queue: &mut Q) {
    check(queue.pop(|taken| done(&taken), || Duration::ZERO, &mut ()));
}

fn done<T>(taken: &T) -> ProcessOutcome {
    black_box(taken);
    ProcessOutcome::Done
}

fn delta_fifo() -> DeltaFifo<Pod> {
    DeltaFifo::new(DeltaFifoOptions::new(key_func()))
}

fn real_fifo(release: Release) -> RealFifo<Pod> {
    RealFifo::new(RealFifoOptions::new(key_func(), release))
}

// ---- the objects

fn key_func<O: Object + 'static>() -> KeyFunc<O> {
    Arc::new(meta_namespace_key_func)
}

fn store(indexed: bool) -> Indexer<Pod> {
    let node: IndexFunc<Pod> = Arc::new(|item, values| {
        let pod = item.as_object().and_then(|pod| pod.spec.as_ref());
        if let Some(node) = pod.and_then(|spec| spec.node_name.as_deref()) {
            values.push(node);
        }
        Ok(())
    });
    let indexers = if indexed {
        indexers(node)
    } else {
        Indexers::default()
    };
    new_indexer(key_func(), indexers)
}

fn indexers<O: Object + 'static>(node: IndexFunc<O>) -> Indexers<O> {
    let mut indexers = Indexers::default();
    indexers.insert(NAMESPACE_INDEX.into(), Arc::new(meta_namespace_index_func));
    indexers.insert("node".into(), node);
    indexers.insert("app".into(), label_index_func("app"));
    indexers
}

fn filled(mut store: Indexer<Pod>, pods: &Pods) -> Indexer<Pod> {
    for pod in pods {
        put(&mut store, pod.clone());
    }
    store
}

fn put<O: Object>(store: &mut Indexer<O>, item: Item<O>) {
    check(store.add(item, &mut ()));
}

fn pods(count: usize, rv: usize, shift: usize) -> Pods {
    (0..count)
        .map(|i| Item::object(pod(i, rv, shift)))
        .collect()
}

fn key(i: usize) -> Key {
    Key::join(&namespace(i), &name(i))
}

fn namespace(i: usize) -> String {
    format!("ns-{:03}", i % 100)
}

fn name(i: usize) -> String {
    format!("pod-{i:06}")
}

fn node(i: usize, shift: usize) -> String {
    format!("node-{:04}", (i + shift) % 500)
}

fn labels(i: usize) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("app".to_owned(), format!("app-{:03}", i % 200)),
        ("tier".to_owned(), format!("t-{}", i % 4)),
    ])
}

/// Pod `i` at version `rv`, moved by `shift` nodes.
pub fn pod(i: usize, rv: usize, shift: usize) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = Some(namespace(i));
    pod.metadata.name = Some(name(i));
    pod.metadata.labels = Some(labels(i));
    pod.metadata.resource_version = Some(rv.to_string());
    pod.spec = Some(PodSpec {
        node_name: Some(node(i, shift)),
        ..PodSpec::default()
    });
    pod.status = Some(PodStatus {
        phase: Some("Running".into()),
        ..PodStatus::default()
    });
    pod
}

/// A pod without the other fields of Kubernetes, so that a million of them fit into memory.
struct Small {
    namespace: String,
    name: String,
    rv: String,
    labels: BTreeMap<String, String>,
    node: String,
}

impl Small {
    fn new(i: usize, shift: usize) -> Self {
        Self {
            namespace: namespace(i),
            name: name(i),
            rv: shift.to_string(),
            labels: labels(i),
            node: node(i, shift),
        }
    }
}

impl Object for Small {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        ""
    }

    fn resource_version(&self) -> &str {
        &self.rv
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }
}

fn small_node() -> IndexFunc<Small> {
    Arc::new(|item, values| {
        if let Some(small) = item.as_object() {
            values.push(&small.node);
        }
        Ok(())
    })
}

// ---- helpers

/// The workloads never fail; if one did, its figures would be worthless.
#[allow(clippy::panic, reason = "a benchmark that fails has to stop")]
fn some<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

fn check<T>(result: Result<T, Error>) {
    drop(some(result));
}
