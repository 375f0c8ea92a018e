//! The cache in the browser's machine: the same run as natively, down to the order of things.
//!
//! Built for wasm32 it runs under node (`make test-wasm`); natively it runs with the others. Both
//! must find [`DIGEST`], so a hash or an order that depends on the width of a pointer is found here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::delta::DeltaType;
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::index::{
    Indexers, NAMESPACE_INDEX, label_index_func, meta_namespace_index_func,
};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::queue::{ProcessOutcome, Queue};
use deltascope::cache::store::new_indexer;
use deltascope::source::pod::{self, Write};
use deltascope::source::workload::{Options, Workload};
use kube_core::DynamicObject;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test;

/// Writes of one run: enough for every pod to come and go a few times.
const WRITES: usize = 400;
/// What waits before the consumer pops: so that a key collects several deltas.
const BURST: usize = 7;
/// FNV-1a of the log of the run. A change of it is a change of the order or of the traffic.
const DIGEST: u64 = 10_529_645_601_258_393_331;

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test)]
fn a_run_is_the_same_on_every_machine() {
    let log = run(11);
    assert!(log.lines().count() > 100, "{log}");
    assert!(log.contains("Deleted"), "{log}");
    assert_eq!(fnv(&log), DIGEST, "the log of the run:\n{log}");
    assert_ne!(run(12), log, "the seed decides");
}

/// A server's writes through a DeltaFIFO into an indexer; one line for each Pop, then the store.
fn run(seed: u64) -> String {
    let mut workload = Workload::new(seed, Options::default());
    let mut server: Vec<DynamicObject> = Vec::new();
    let mut queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
    let mut indexers = Indexers::default();
    indexers.insert(NAMESPACE_INDEX.into(), Arc::new(meta_namespace_index_func));
    indexers.insert("app".into(), label_index_func("app"));
    let mut store = new_indexer(Arc::new(meta_namespace_key_func), indexers);
    let mut log = String::new();
    let mut now = 0;
    for rv in 1..=WRITES {
        let existing: Vec<_> = server.iter().map(|o| (key(o), pod::body(o))).collect();
        let (at, write) = workload.next(now, &existing);
        now = at;
        match write {
            Write::Create(mut object) => {
                object.metadata.resource_version = Some(rv.to_string());
                server.push(object.clone());
                queue.add(Item::object(object), &mut ()).unwrap();
            }
            Write::Update(mut object) => {
                object.metadata.resource_version = Some(rv.to_string());
                let name = key(&object);
                *server.iter_mut().find(|o| key(o) == name).unwrap() = object.clone();
                queue.update(Item::object(object), &mut ()).unwrap();
            }
            Write::Delete { namespace, name } => {
                let at = server
                    .iter()
                    .position(|o| Object::namespace(o) == namespace && Object::name(o) == name)
                    .unwrap();
                let mut object = server.remove(at);
                object.metadata.resource_version = Some(rv.to_string());
                queue
                    .delete(Item::object(object), Some(&store), &mut ())
                    .unwrap();
            }
        }
        if rv % BURST != 0 {
            continue;
        }
        while let Some(taken) = queue.begin_pop(&mut ()).unwrap() {
            write!(log, "{}:", taken.key).unwrap();
            for delta in &taken.deltas {
                write!(
                    log,
                    " {:?} {:?}",
                    delta.delta_type,
                    delta.object.to_ref(&taken.key).rv
                )
                .unwrap();
                match delta.delta_type {
                    DeltaType::Deleted => store.delete(&delta.object, &mut ()).unwrap(),
                    _ => store.update(delta.object.clone(), &mut ()).unwrap(),
                }
            }
            log.push('\n');
            let (_, result) =
                queue.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
            result.unwrap();
        }
    }
    for (key, item) in store.iter() {
        writeln!(log, "{key} {:?}", item.to_ref(key).rv).unwrap();
    }
    for index in store.indices() {
        writeln!(log, "{} {:?}", index.name(), index.values()).unwrap();
    }
    log
}

fn key(object: &DynamicObject) -> Key {
    meta_namespace_key_func(&Item::object(object.clone())).unwrap()
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
