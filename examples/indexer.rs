//! The same as `reflector`, but with KnownObjects: an Indexer that the consumer keeps up to date. So the queue
//! knows the deleted object, and its deletion is queued.
//!
//! ```text
//! cargo run --example indexer
//! cargo run --example indexer -- --proxy http://127.0.0.1:8001
//! ```

mod common;

use std::process::ExitCode;
use std::sync::Arc;

use common::{Args, DynamicObject, Lines, Source};
use deltascope::cache::delta::DeltaType;
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::index::Indexers;
use deltascope::cache::key_func::{
    deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope::cache::object::Object;
use deltascope::cache::queue::{ProcessOutcome, Queue};
use deltascope::cache::reflector::StoreCall;
use deltascope::cache::store::{Indexer, new_indexer};
use deltascope::world::source::pod::phase;

fn main() -> ExitCode {
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = Lines::without_end();
    let pods = Source::of(args, "indexer")?;
    let key_func = Arc::new(deletion_handling_meta_namespace_key_func);
    let mut store: Indexer<DynamicObject> = new_indexer(key_func, Indexers::default());
    let mut queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
    common::reflect(&pods, &pods.over(), |call| {
        write(&mut queue, &store, call)?;
        while let Some(taken) = queue.begin_pop(&mut ())? {
            for delta in &taken.deltas {
                let object = &delta.object;
                match delta.delta_type {
                    DeltaType::Deleted => store.delete(object, &mut ())?,
                    DeltaType::Updated => store.update(object.clone(), &mut ())?,
                    _ => store.add(object.clone(), &mut ())?,
                }
                if let Some(pod) = object.as_object() {
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

/// Passes the reflector's calls to the queue, which looks up objects in the store.
fn write(
    queue: &mut DeltaFifo<DynamicObject>,
    store: &Indexer<DynamicObject>,
    call: StoreCall<DynamicObject>,
) -> Result<(), Error> {
    match call {
        StoreCall::Add(pod) => queue.add(pod, &mut ()),
        StoreCall::Update(pod) => queue.update(pod, &mut ()),
        StoreCall::Delete(pod) => queue.delete(pod, Some(store), &mut ()),
        StoreCall::Replace(pods, version) => queue.replace(pods, &version, Some(store), &mut ()),
        StoreCall::Resync => queue.resync(Some(store), &mut ()),
        // The reflector does not make these calls for a DeltaFIFO.
        StoreCall::Bookmark(_) | StoreCall::UpdateResourceVersion(_) => Ok(()),
    }
}
