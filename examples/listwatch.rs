//! List, then Watch without a resource version: the current objects arrive once more, as `ADDED`.
//!
//! ```text
//! cargo run --example listwatch
//! cargo run --example listwatch -- --proxy http://127.0.0.1:8001
//! ```

mod common;

use std::process::ExitCode;

use common::{Args, Lines, Source};
use deltascope::cache::lister_watcher::{
    ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::Object;
use deltascope::world::source::pod::phase;

fn main() -> ExitCode {
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = Lines::without_end();
    let pods = Source::of(args, "listwatch")?;
    let list = pods
        .list(&ListRequest::default())
        .map_err(|e| e.to_string())?;
    for pod in list.items.iter().filter_map(|item| item.as_object()) {
        lines.print(pod.name());
    }
    let mut watch = pods
        .watch(&WatchRequest::default())
        .map_err(|e| e.to_string())?;
    while !lines.enough().is_set() {
        match watch.next() {
            WatchItem::Event(event, item) => {
                let Some(pod) = item.as_object() else {
                    continue;
                };
                let status = phase(pod);
                lines.print(format_args!(
                    "{} : {} , Status: {status}",
                    event.as_str(),
                    pod.name()
                ));
            }
            WatchItem::Bookmark { .. } => {}
            WatchItem::Error(error) => return Err(error.to_string()),
            WatchItem::Closed => break,
        }
    }
    Ok(())
}
