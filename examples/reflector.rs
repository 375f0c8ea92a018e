//! A reflector writes to a DeltaFIFO without KnownObjects: the queue knows only the queued objects, so it drops
//! the deletion of an object that was popped already.
//!
//! ```text
//! cargo run --example reflector
//! cargo run --example reflector -- --proxy http://127.0.0.1:8001
//! ```

mod common;

use std::process::ExitCode;
use std::sync::Arc;

use common::{Args, DynamicObject, Lines, Source};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::object::Object;
use deltascope::cache::queue::{ProcessOutcome, Queue};
use deltascope::cache::reflector::StoreCall;
use deltascope::world::source::pod::phase;

fn main() -> ExitCode {
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = Lines::without_end();
    let pods = Source::of(args, "reflector")?;
    let mut queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
    common::reflect(&pods, &pods.over(), |call| {
        write(&mut queue, call)?;
        // The consumer keeps up, so nothing stays in the queue.
        while let Some(taken) = queue.begin_pop(&mut ())? {
            for delta in &taken.deltas {
                if let Some(pod) = delta.object.as_object() {
                    let (kind, phase) = (delta.delta_type, phase(pod));
                    lines.print(format_args!("{kind} : {} : {phase}", pod.name()));
                }
            }
            queue
                .finish_pop(taken, ProcessOutcome::Done, Default::default(), &mut ())
                .1?;
        }
        Ok(())
    });
    Ok(())
}

/// Passes the reflector's calls to a queue without KnownObjects.
fn write(
    queue: &mut DeltaFifo<DynamicObject>,
    call: StoreCall<DynamicObject>,
) -> Result<(), Error> {
    match call {
        StoreCall::Add(pod) => queue.add(pod, &mut ()),
        StoreCall::Update(pod) => queue.update(pod, &mut ()),
        StoreCall::Delete(pod) => queue.delete(pod, None, &mut ()),
        StoreCall::Replace(pods, version) => queue.replace(pods, &version, None, &mut ()),
        StoreCall::Resync => queue.resync(None, &mut ()),
        // The reflector does not make these calls for a DeltaFIFO.
        StoreCall::Bookmark(_) | StoreCall::UpdateResourceVersion(_) => Ok(()),
    }
}
