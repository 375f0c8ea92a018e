//! A shared informer: one reflector and one store for any number of handlers. The order within a handler is
//! guaranteed; the order between handlers is not.
//!
//! ```text
//! cargo run --example sharedinformer-simulate
//! ```

mod common;

use std::process::ExitCode;

use common::{Args, DynamicObject, Lines, Source};
use deltascope::cache::event_handler::ResourceEventHandlerFuncs;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::threads::{InformerOptions, SharedIndexInformer};

/// Four pods, printed by two handlers.
const LINES: usize = 8;

fn main() -> ExitCode {
    common::main_with(&[], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = Lines::new(LINES);
    let pods = Source::of(args, "sharedinformer-simulate")?;
    let informer = SharedIndexInformer::new(pods, InformerOptions::default());
    for text in ["OnAdd: ", "OnAdd:second "] {
        let added = informer.add_event_handler(printer(&lines, text));
        added.map_err(|error| error.to_string())?;
    }
    // Runs until both handlers have printed all their lines.
    informer
        .run(&lines.enough())
        .map_err(|error| error.to_string())
}

/// A handler that prints added pods.
fn printer(lines: &Lines, text: &'static str) -> ResourceEventHandlerFuncs<DynamicObject> {
    let lines = lines.clone();
    let add = move |pod: &Item<DynamicObject>| {
        if let Some(pod) = pod.as_object() {
            lines.print(format_args!("{text}{}", pod.name()));
        }
    };
    ResourceEventHandlerFuncs {
        add_func: Some(Box::new(add)),
        ..ResourceEventHandlerFuncs::default()
    }
}
