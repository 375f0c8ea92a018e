//! What an event costs at least: a program that does nothing but the loads from memory that no layout
//! of a store avoids, beside the informer with as many objects.
//!
//! `cargo run --release -p deltascope-bench --example floor`

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deltascope::cache::controller::Generation;
use deltascope::cache::key::Key;
use deltascope::cache::object::{Item, Object};
use deltascope_bench::informer::{CHANGES, informer};
use deltascope_bench::workload::{STRIDE, pod};
use foldhash::fast::FixedState;
use k8s_openapi::api::core::v1::Pod;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const REPEATS: usize = 3;

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
    println!(
        "ns per event      name  + slot, key  + old object  + its drop    informer, 1 handler"
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

#[allow(clippy::disallowed_methods, reason = "a benchmark asks the clock")]
fn timed<R>(run: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    let left = run();
    let time = start.elapsed();
    drop(left);
    time
}

/// Objects by key, in a table that holds nothing else: a slot has the key and the object's address.
struct Minimal(HashMap<Key, Arc<Pod>, FixedState>);

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
