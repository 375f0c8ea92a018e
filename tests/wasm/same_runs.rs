//! The cache and whole worlds in wasm: the same runs as natively, byte for byte.
//!
//! Built for wasm32 it runs under node (`make test-wasm`); natively it runs with the other tests. Both must
//! compute [`DIGEST`] and [`WORLDS`], so the test finds a hash or an order that depends on the pointer width.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fmt::{Debug, Write as _};
use std::sync::Arc;
use std::time::Duration;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope_cache::fact::{Fact, FactRecord, ProcessMode};
use deltascope_cache::index::{
    Indexers, NAMESPACE_INDEX, label_index_func, meta_namespace_index_func,
};
use deltascope_cache::key::Key;
use deltascope_cache::key_func::meta_namespace_key_func;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::queue::{ProcessOutcome, Queue};
use deltascope_cache::store::new_indexer;
use deltascope_replay::lessons;
use deltascope_world::source::Command;
use deltascope_world::source::pod::{self, PodSpec, Write};
use deltascope_world::source::workload::{Options, Workload};
use deltascope_world::virtual_time::Input;
use kube_core::DynamicObject;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test;

/// The number of writes in one run: enough for every pod to come and go a few times.
const WRITES: usize = 400;
/// The number of writes before the consumer pops, so that a key collects several deltas.
const BURST: usize = 7;
/// FNV-1a of the log of the run. It changes with the order or the traffic.
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

/// The number of facts compared of an endless world.
const FACTS: u64 = 2_000;
/// The number of facts between two inputs of the user.
const INPUT_EVERY: u64 = 130;
/// FNV-1a of the facts, as `Debug` writes them: of the sandbox with other seeds and a user's inputs, then of
/// every entry of the menu. After a change of a lesson or a fact, copy the new digests from the test's
/// message; they must be the same natively and in wasm.
const WORLDS: &[(&str, u64)] = &[
    ("seed 1", 0x19b22d28b4b9e702),
    ("seed 2", 0x08118d92c3c4617b),
    ("seed 3", 0x68fdd1ddd8124456),
    ("seed 4", 0x05d14333b70fb7d1),
    ("seed 5", 0xb7457cc6b4dde60d),
    ("seed 6", 0x6d99fab8b70ca74c),
    ("first-look", 0xb47e0f009a804366),
    ("sandbox", 0xd7372cdb3f741176),
    ("deltafifo", 0x9e9c9e9a3712ccb9),
    ("listwatch", 0xb4f8738b1a579fa2),
    ("reflector", 0x0a64aae3dbbfc0be),
    ("indexer", 0x95767118b0ddcc2c),
    ("myinformer", 0xd1f91a6a1e282a68),
    ("sharedinformer-simulate", 0x24c5056f1e365076),
    ("sharedinformer-simulate-two", 0xc9f1483c56b01401),
    ("sharedinformer-listwatch", 0x20a4ab3601771f25),
    ("sharedinformer-indexer", 0x756c0c390bfca5c7),
    ("tombstone", 0x8e935399045f6604),
    ("gone-410", 0x055d2e28c472b09e),
    ("resync-is-not-relist", 0xaae7d7e7788ac4b0),
    ("indexer-run", 0x4be985ee80b7dc8f),
    ("sharedinformerfactory", 0xc5defca1d2ca3acc),
    ("slow-handler", 0x8dfe5cb11e4b78e2),
    ("stale-read", 0x1457187831dbfdcf),
    ("late-handler", 0x7b73f713bb1b3687),
    ("dedup", 0x5d15e4af3cb8a9a0),
    ("realfifo", 0x169bff7e16af0e4f),
    ("half-old-half-new", 0x45371e856e98fd50),
    ("workqueue-dedup", 0x7315262d83b738d0),
    ("pod-lifecycle", 0xc3407eac8afefc0e),
    ("bookmarks", 0x44daf4be26d3f518),
    ("cut", 0xa7b7b351c6c1d549),
    ("expired", 0x09fa1197fcb094a8),
];

#[cfg_attr(not(target_arch = "wasm32"), test)]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test)]
fn whole_worlds_state_the_same_facts_on_every_machine() {
    let mut found: Vec<(String, u64)> = (1..=6)
        .map(|seed| (format!("seed {seed}"), fnv(&sandbox(seed))))
        .collect();
    for (id, _) in lessons::menu() {
        let mut world = lessons::load(&id).unwrap().scenario.build().unwrap();
        let mut log = String::new();
        while world.count() < FACTS && world.step() {}
        for record in world.drain() {
            writeln!(log, "{}", line(&record)).unwrap();
        }
        found.push((id.to_string(), fnv(&log)));
    }
    let digests: std::collections::BTreeSet<u64> =
        found.iter().map(|(_, digest)| *digest).collect();
    assert_eq!(digests.len(), found.len(), "two runs are equal: {found:#?}");
    let table = found
        .iter()
        .fold(String::new(), |mut table, (name, digest)| {
            writeln!(table, "    ({name:?}, {digest:#018x}),").unwrap();
            table
        });
    let expected = WORLDS
        .iter()
        .map(|(name, digest)| ((*name).to_owned(), *digest));
    assert!(expected.eq(found), "the digests are now:\n{table}");
}

/// A record as text, without the type that wraps the fact, so that the digests do not depend on it.
fn line(record: &FactRecord) -> String {
    let fact: &dyn Debug = match &record.fact {
        Fact::Server(fact) => fact,
        Fact::Reflector(fact) => fact,
        Fact::Queue(fact) => fact,
        Fact::Store(fact) => fact,
        Fact::Handlers(fact) => fact,
        Fact::Work(fact) => fact,
        Fact::Run(fact) => fact,
    };
    let FactRecord {
        id,
        time,
        actor,
        cause,
        step,
        ..
    } = record;
    format!(
        "FactRecord {{ id: {id:?}, time: {time:?}, actor: {actor:?}, cause: {cause:?}, step: {step:?}, fact: {fact:?} }}"
    )
}

/// The facts of a sandbox in which a user does a bit of everything; with an even seed the machines take turns
/// at random.
fn sandbox(seed: u64) -> String {
    let mut scenario = lessons::load("sandbox").unwrap().scenario;
    scenario.settings.seed = seed;
    scenario.settings.interleave = seed.is_multiple_of(2);
    scenario.traffic = Some(seed);
    let mut world = scenario.build().unwrap();
    let object = |phase: &str| {
        PodSpec {
            namespace: "mine".to_owned(),
            name: "pod".to_owned(),
            phase: phase.to_owned(),
            ..PodSpec::default()
        }
        .into_object()
    };
    let write = |write| Input::Source(Command::Write(write));
    let inputs = [
        write(Write::Create(object("Pending"))),
        write(Write::Update(object("Running"))),
        Input::KnownObjects(false),
        Input::Source(Command::Cut),
        Input::Mode(ProcessMode::Held),
        write(Write::Delete {
            namespace: "mine".to_owned(),
            name: "pod".to_owned(),
        }),
        Input::Pop,
        Input::Source(Command::Compact),
        Input::Source(Command::Cut),
        Input::KnownObjects(true),
        Input::Mode(ProcessMode::Free),
        // Refused, because the object is gone.
        write(Write::Update(object("Failed"))),
        Input::Mode(ProcessMode::Paced(200)),
    ];
    let mut inputs = inputs.iter().cycle();
    let mut next = INPUT_EVERY;
    while world.count() < FACTS && world.step() {
        if world.count() >= next {
            world.input(inputs.next().unwrap().clone());
            next += INPUT_EVERY;
        }
    }
    assert!(world.count() >= FACTS);
    let mut log = String::new();
    for record in world.drain() {
        writeln!(log, "{}", line(&record)).unwrap();
    }
    log
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
        let (at, write) = workload.next(now, &|name| {
            let mut all = server.iter();
            all.find(|o| key(o) == *name).map(pod::body)
        });
        now = at;
        let (name, exists) = match &write {
            Write::Create(object) | Write::Update(object) => (key(object), true),
            Write::Delete { namespace, name } => (Key::from(format!("{namespace}/{name}")), false),
        };
        workload.note(&name, exists);
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
