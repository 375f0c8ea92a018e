//! What operations cost at least: programs that do nothing but the loads from memory that no layout of a
//! store avoids. First single rows of the benchmarks, then an event, beside the informer with as many objects.
//!
//! `cargo run --release -p deltascope-bench --example floor`

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::key::Key;
use deltascope::cache::object::{Item, Object};
use deltascope_bench::counting::{keep_memory, timed};
use deltascope_bench::informer::{CHANGES, informer};
use deltascope_bench::workload::{
    EVENT_KEYS, IN_NAMESPACE, MANY, Pods, REPEATS as READS, Run, STRIDE, World, pod, rows,
};
use foldhash::fast::FixedState;
use k8s_openapi::api::core::v1::Pod;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const REPEATS: usize = 3;
/// Of a row: it takes milliseconds.
const ROW_REPEATS: usize = 9;

/// How far the program goes; each step includes those before it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Until {
    /// The name of the new object, which is its key.
    Name,
    /// The slot of the key's hash, and the key there.
    Slot,
    /// The old object: its reference count and its version, which is compared with the new one's.
    Old,
    /// The new object in its place; the last reference to the old one is dropped, which reads what
    /// it holds and gives it back to the allocator.
    Drop,
}

fn main() {
    keep_memory();
    println!("ns per operation                    floor  deltascope");
    let world = World::default();
    for (name, floor) in FLOORS {
        let ours = rows().into_iter().find(|row| row.name == name);
        let Some(ours) = ours else { continue };
        let once = |prepare: fn(&World) -> Run| timed(prepare(&world)).as_nanos() as f64;
        let in_turns = (0..ROW_REPEATS).map(|_| (once(floor), once(ours.prepare)));
        let fastest = in_turns.reduce(|(a, b), (c, d)| (a.min(c), b.min(d)));
        let (floor, here) = fastest.unwrap_or_default();
        let operations = ours.operations as f64;
        println!(
            "{name:35} {:5.1} {:11.1}",
            floor / operations,
            here / operations
        );
    }
    println!(
        "\nns per event      name  + slot, key  + old object  + its drop    informer, 1 handler"
    );
    for objects in SIZES {
        let steps = [Until::Name, Until::Slot, Until::Old, Until::Drop].map(|until| {
            fastest(|| {
                let (store, changes) = (Minimal::new(objects), changes(objects));
                timed(|| store.apply(changes, until))
            })
        });
        let informer = fastest(|| {
            let listed = (0..objects).map(|i| Item::object(pod(i, 1, 0))).collect();
            let changes = changes(objects).into_iter().map(Item::Object).collect();
            timed(informer(listed, changes, Generation::Atomic, 1))
        });
        let [name, slot, old, drop] = steps;
        println!("{objects:9} {name:12.0} {slot:12.0} {old:13.0} {drop:11.0} {informer:22.0}");
    }
}

/// A row of the benchmarks, and the least program that does the same: it has the same objects.
type Floor = (&'static str, fn(&World) -> Run);

const FLOORS: [Floor; 9] = [
    ("IndexerAddNew 10k, no index", |world| add(world, MANY / 10)),
    ("IndexerAddNew 100k, no index", |world| add(world, MANY)),
    ("IndexerUpdateSameIndexValues", |world| {
        update(world, &world.newer())
    }),
    ("IndexerUpdateOneIndexValueChanged", |world| {
        update(world, &world.shifted())
    }),
    ("IndexerByIndex1pct, cloned", by_index),
    ("IndexerGet", get),
    ("IndexerList, cloned", clone),
    ("DeltaFIFOSteady", |world| merge(world, 1)),
    ("DeltaFIFOBurst", |world| merge(world, MANY)),
];

/// Each object under its key in a table that never grows.
fn add(world: &World, count: usize) -> Run {
    let pods = world.first()[..count].to_vec();
    let mut store = Table::with_capacity_and_hasher(count, FixedState::default());
    Box::new(move || {
        for pod in objects(pods) {
            black_box(pod.resource_version());
            store.insert(key(&pod), pod);
        }
        Box::new(store)
    })
}

/// Reads the new object's key, version and indexed values, and lets go of the old one.
fn update(world: &World, newer: &Pods) -> Run {
    let mut store = table(world);
    let newer = newer.to_vec();
    Box::new(move || {
        for pod in objects(newer) {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
            let app = pod.labels().get("app").map(|app| app.as_bytes()[0]);
            black_box((pod.resource_version().as_bytes()[0], app));
            black_box(node.map(|node| node.as_bytes()[0]));
            store.insert(key(&pod), pod);
        }
        Box::new(store)
    })
}

/// The objects that an index would find, from a list that holds nothing else.
fn by_index(world: &World) -> Run {
    let found: Pods = world
        .first()
        .chunks(MANY / IN_NAMESPACE)
        .filter_map(|pods| pods.get(42).cloned())
        .collect();
    Box::new(move || {
        for _ in 0..READS {
            black_box(found.to_vec());
        }
        Box::new(found)
    })
}

fn get(world: &World) -> Run {
    let (store, pods) = (table(world), world.first());
    Box::new(move || {
        for k in 0..MANY {
            if let Some(pod) = pods[k * STRIDE % MANY].as_object() {
                black_box(store.get(&key(pod)));
            }
        }
        Box::new(store)
    })
}

fn clone(world: &World) -> Run {
    let pods = world.first();
    Box::new(move || Box::new(pods.to_vec()))
}

/// Collects the changes by key, and takes them after so many changes, the oldest key first.
fn merge(world: &World, waiting: usize) -> Run {
    let events = world.events().to_vec();
    let room = waiting.min(EVENT_KEYS);
    let mut changes = HashMap::with_capacity_and_hasher(room, FixedState::default());
    Box::new(move || {
        let mut queue = VecDeque::with_capacity(room);
        for (event, pod) in (1..).zip(objects(events)) {
            match changes.entry(key(&pod)) {
                Entry::Occupied(mut entry) => {
                    let (_, later): &mut (_, Vec<_>) = entry.get_mut();
                    later.push(pod);
                }
                Entry::Vacant(entry) => {
                    queue.push_back(entry.key().clone());
                    entry.insert((pod, Vec::new()));
                }
            }
            if event % waiting == 0 {
                while let Some(key) = queue.pop_front() {
                    drop(black_box(changes.remove(&key)));
                }
            }
        }
        Box::new(changes)
    })
}

fn table(world: &World) -> Table {
    let pods = objects(world.first().to_vec());
    pods.map(|pod| (key(&pod), pod)).collect()
}

fn objects(pods: Pods) -> impl Iterator<Item = Arc<Pod>> {
    pods.into_iter().filter_map(|pod| match pod {
        Item::Object(pod) => Some(pod),
        _ => None,
    })
}

/// Changes of the objects in an order that no CPU predicts.
fn changes(objects: usize) -> Vec<Arc<Pod>> {
    (0..CHANGES)
        .map(|event| Arc::new(pod(event * STRIDE % objects, 2 + event / objects, 0)))
        .collect()
}

fn fastest(run: impl Fn() -> Duration) -> f64 {
    let times = (0..REPEATS).map(|_| run().as_nanos() as f64 / CHANGES as f64);
    times.fold(f64::INFINITY, f64::min)
}

/// Objects by key, in a table that holds nothing else: a slot has the key and the object's address.
struct Minimal(Table);

type Table = HashMap<Key, Arc<Pod>, FixedState>;

impl Minimal {
    fn new(objects: usize) -> Self {
        let pods = (0..objects).map(|i| Arc::new(pod(i, 1, 0)));
        Self(pods.map(|pod| (key(&pod), pod)).collect())
    }

    /// Returns what is not to be dropped while the clock runs.
    fn apply(mut self, changes: Vec<Arc<Pod>>, until: Until) -> (Self, Vec<Arc<Pod>>) {
        let mut left = Vec::with_capacity(changes.len());
        for new in changes {
            let key = key(&new);
            if until == Until::Name {
                black_box(&key);
                left.push(new);
                continue;
            }
            let Some(place) = self.0.get_mut(&key) else {
                continue;
            };
            if until >= Until::Old {
                black_box(Arc::strong_count(place));
                black_box(place.resource_version() == new.resource_version());
            }
            if until == Until::Drop {
                *place = new;
            } else {
                left.push(new);
            }
        }
        (self, left)
    }
}

fn key(pod: &Pod) -> Key {
    Key::join(pod.namespace(), pod.name())
}
