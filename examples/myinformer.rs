//! An informer made by hand of a reflector, a DeltaFIFO and a store. Its handler receives the old object and the
//! new one.
//!
//! ```text
//! cargo run --example myinformer
//! cargo run --example myinformer -- --proxy http://127.0.0.1:8001
//! ```

mod common;

use std::process::ExitCode;
use std::sync::Arc;

use common::{Args, DynamicObject, Lines, Source};
use deltascope::cache::controller::InformerQueue;
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::index::Indexers;
use deltascope::cache::key_func::{
    deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope::cache::lister_watcher::ListerWatcher;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::{PoppedItems, Process};
use deltascope::cache::queue::ProcessOutcome;
use deltascope::cache::store::{Indexer, new_indexer};
use deltascope::cache::threads::Latch;

/// Lists and watches, keeps a store, and notifies a handler.
struct MyInformer<L, H> {
    source: L,
    queue: InformerQueue<DynamicObject>,
    store: Indexer<DynamicObject>,
    handler: H,
}

impl<L: ListerWatcher<DynamicObject>, H: ResourceEventHandler<DynamicObject>> MyInformer<L, H> {
    fn new(source: L, handler: H) -> Self {
        let key_func = Arc::new(deletion_handling_meta_namespace_key_func);
        let queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
        Self {
            source,
            queue: InformerQueue::Delta(queue),
            store: new_indexer(key_func, Indexers::default()),
            handler,
        }
    }

    fn run(&mut self, stop: &Latch) {
        let (queue, store, handler) = (&mut self.queue, &mut self.store, &self.handler);
        common::reflect(&self.source, stop, |call| {
            queue.write(call, store, &mut ())?;
            while let Some(taken) = queue.begin_pop(&mut ())? {
                let (taken, outcome) = process(taken, store, handler);
                queue.finish_pop(taken, outcome, Default::default(), &mut ())?;
            }
            Ok(())
        });
    }
}

/// Writes each delta into the store, and passes the notification to the handler.
fn process(
    taken: PoppedItems<DynamicObject>,
    store: &mut Indexer<DynamicObject>,
    handler: &impl ResourceEventHandler<DynamicObject>,
) -> (PoppedItems<DynamicObject>, ProcessOutcome) {
    let mut process = Process::new(taken);
    loop {
        match process.next_notification(store, &mut ()) {
            Ok(notification) => notification.deliver(handler),
            Err(outcome) => return (process.into_taken(), outcome),
        }
    }
}

/// A handler that prints pods.
struct Printer(Lines);

impl Printer {
    fn print(&self, function: &str, item: &Item<DynamicObject>) {
        let name = item.as_object().map_or("", |pod| pod.name());
        self.0.print(format_args!("{function}: {name}"));
    }
}

impl ResourceEventHandler<DynamicObject> for Printer {
    fn on_add(&self, pod: &Item<DynamicObject>, _is_in_initial_list: bool) {
        self.print("OnAdd", pod);
    }

    fn on_update(&self, _old: &Item<DynamicObject>, new: &Item<DynamicObject>) {
        self.print("OnUpdate", new);
    }

    fn on_delete(&self, pod: &Item<DynamicObject>) {
        self.print("OnDelete", pod);
    }
}

fn main() -> ExitCode {
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let pods = Source::of(args, "myinformer")?;
    let over = pods.over();
    MyInformer::new(pods, Printer(Lines::without_end())).run(&over);
    Ok(())
}
