//! A shared informer over List and Watch: one list for two handlers. The order within a handler is guaranteed; the
//! order between handlers is not.
//!
//! ```text
//! cargo run --example sharedinformer-listwatch
//! cargo run --example sharedinformer-listwatch -- --proxy http://127.0.0.1:8001
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
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = match args.proxy {
        Some(_) => Lines::without_end(),
        None => Lines::new(LINES),
    };
    let pods = Source::of(args, "sharedinformer-listwatch")?;
    let informer = SharedIndexInformer::new(pods, InformerOptions::default());
    common::report_watch_errors(&informer)?;
    for text in ["OnAdd: ", "OnAdd:second "] {
        let added = informer.add_event_handler(printer(&lines, text));
        added.map_err(|error| error.to_string())?;
    }
    // Runs until enough lines are printed; with a real cluster, until Ctrl-C.
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
