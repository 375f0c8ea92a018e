//! A DeltaFIFO on its own: one Pop returns all deltas of an object, oldest first.
//!
//! ```text
//! cargo run --example deltafifo
//! ```

mod common;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use common::Lines;
use deltascope::cache::delta::DeltaType;
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::queue::{ProcessOutcome, Queue};

/// Any type with a name can be queued.
struct Pod {
    name: &'static str,
    value: &'static str,
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();

impl Object for Pod {
    fn namespace(&self) -> &str {
        ""
    }
    fn name(&self) -> &str {
        self.name
    }
    fn uid(&self) -> &str {
        ""
    }
    fn resource_version(&self) -> &str {
        ""
    }
    fn labels(&self) -> &BTreeMap<String, String> {
        &NO_LABELS
    }
}

fn main() -> ExitCode {
    common::main_with(&[], |_| {
        run(&Lines::without_end()).map_err(|e| e.to_string())
    })
}

fn run(lines: &Lines) -> Result<(), Error> {
    let mut queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
    let pod = |value| {
        Item::object(Pod {
            name: "pod1",
            value,
        })
    };
    queue.add(pod("1"), &mut ())?;
    queue.update(pod("1.1"), &mut ())?;
    // The queue only knows pod1 because it is queued; that is enough to queue its deletion.
    queue.delete(pod("1.1"), None, &mut ())?;

    // One Pop returns all three deltas.
    let Some(taken) = queue.begin_pop(&mut ())? else {
        return Ok(());
    };
    for delta in &taken.deltas {
        let Some(pod) = delta.object.as_object() else {
            continue;
        };
        lines.print(format_args!(
            "{} {} value: {}",
            delta.delta_type, pod.name, pod.value
        ));
        match delta.delta_type {
            DeltaType::Added => lines.print("执行新增回调"),
            DeltaType::Updated => lines.print("执行修改回调"),
            DeltaType::Deleted => lines.print("执行删除回调"),
            _ => {}
        }
    }
    queue
        .finish_pop(taken, ProcessOutcome::Done, Default::default(), &mut ())
        .1
}
