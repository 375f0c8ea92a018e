//! The native benchmarks: criterion measures time, a counting allocator measures bytes. Writes the
//! results as JSON into the file that `BENCH_OUT` names, for the table of
//! `tests/browser/bench.mjs`.

use std::cell::RefCell;
use std::time::Duration;

use criterion::{Criterion, SamplingMode};
use deltascope_bench::counting::{Counting, counted, keep_memory, timed};
use deltascope_bench::workload::{MANY, Row, World, cached, pipeline, rows};
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Store sizes for the test that the cost of an event does not depend on the size, and the number
/// of events.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const EVENTS: usize = 100_000;
const REPEATS: usize = 3;

fn main() {
    keep_memory();
    let world = World::default();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(800))
        .without_plots()
        .configure_from_args();
    let rows: Vec<Value> = rows()
        .iter()
        .filter_map(|row| measure(&mut criterion, &world, row))
        .collect();
    let pod = |indexed| {
        let (store, bytes) = counted(|| cached(&world, indexed));
        drop(store);
        bytes.live as f64 / MANY as f64
    };
    // Build the pods first: they do not count as the store's memory.
    world.first();
    let memory = [pod(false), pod(true)];
    let events: Vec<Value> = SIZES
        .iter()
        .map(|&objects| {
            let once = || timed(pipeline(objects, EVENTS)).as_nanos() as f64 / EVENTS as f64;
            let ns = (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min);
            json!({ "objects": objects, "ns": ns })
        })
        .collect();
    let all = json!({ "rows": rows, "memory": memory, "events": events });
    #[allow(
        clippy::disallowed_methods,
        reason = "cargo bench hands its own arguments on"
    )]
    if let Ok(path) = std::env::var("BENCH_OUT")
        && let Err(error) = std::fs::write(&path, all.to_string())
    {
        eprintln!("{path}: {error}; let BENCH_OUT name a file in a folder that exists");
    }
}

/// `None` if the command line excludes the row.
fn measure(criterion: &mut Criterion, world: &World, row: &Row) -> Option<Value> {
    let per_operation = |run: Duration| run.as_nanos() as f64 / row.operations as f64;
    let times = RefCell::new(Vec::new());
    let mut group = criterion.benchmark_group("cache");
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(row.name, |bencher| {
        bencher.iter_custom(|runs| {
            let one = |_| {
                let time = timed((row.prepare)(world));
                times.borrow_mut().push(per_operation(time));
                time
            };
            (0..runs).map(one).sum()
        });
    });
    group.finish();
    let mut times = times.into_inner();
    if times.is_empty() {
        return None;
    }
    times.sort_by(f64::total_cmp);
    let run = (row.prepare)(world);
    let (left, bytes) = counted(run);
    let bytes = bytes.allocated as f64 / row.operations as f64;
    drop(left);
    Some(json!({
        "name": row.name,
        "go": row.go.map(|go| json!({ "median": go.median, "min": go.min, "bytes": go.bytes })),
        "median": times[times.len() / 2],
        "min": times[0],
        "bytes": bytes,
    }))
}
