//! Answers queries by label from an informer's Indexer, over HTTP, without a request to the API server.
//!
//! ```text
//! cargo run --example indexer-run
//! curl http://127.0.0.1:8080
//! curl http://127.0.0.1:8080/?app=wiremock
//! ```
//!
//! `--listen ADDR` serves at another address, `--proxy URL` watches a real cluster. Ctrl-C ends the program.

#![allow(clippy::print_stderr, reason = "a program at the command line")]

mod common;

use std::process::ExitCode;

use common::{Args, DynamicObject, Source};
use deltascope::cache::index::label_index_func;
use deltascope::cache::threads::{InformerOptions, Latch, SharedIndexInformer, ThreadSafeStore};
use tiny_http::{Header, Response, Server};

/// The name of the index, and of its label.
const APP: &str = "app";
/// The app that is listed if the query names none.
const NOBODY: &str = "robusta-forwarder";

fn main() -> ExitCode {
    common::main_with(&["--proxy", "--listen"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let mut options = InformerOptions::default();
    let by_app = label_index_func(APP);
    options.config.indexers.insert(APP.into(), by_app);
    let informer: SharedIndexInformer<DynamicObject> =
        SharedIndexInformer::new(Source::of(args, "indexer-run")?, options);
    common::report_watch_errors(&informer)?;
    let stop = Latch::new();
    let _running = informer.spawn(&stop);

    let address = args.listen.as_deref().unwrap_or("127.0.0.1:8080");
    let server = Server::http(address).map_err(|error| {
        format!("cannot listen at {address}: {error}; choose another with --listen ADDR")
    })?;
    eprintln!("listening at http://{}", server.server_addr());
    // An earlier answer could lack pods.
    informer.has_synced_checker().wait();
    for request in server.incoming_requests() {
        let (status, text) = answer(request.url(), &informer.get_indexer());
        let mut response = Response::from_string(text).with_status_code(status);
        if let Ok(json) = Header::from_bytes("Content-Type", "application/json") {
            response.add_header(json);
        }
        // The client may have gone.
        let _gone = request.respond(response);
    }
    Ok(())
}

/// The keys of an app's pods, as JSON.
fn answer(url: &str, store: &ThreadSafeStore<DynamicObject>) -> (u16, String) {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    if path != "/" {
        return (404, r#"{"error":"ask for /?app=NAME"}"#.to_owned());
    }
    let app = query.split('&').find_map(|pair| pair.strip_prefix("app="));
    let app = app.filter(|app| !app.is_empty()).unwrap_or(NOBODY);
    match store.index_keys(APP, app) {
        Ok(mut keys) => {
            keys.sort_unstable();
            let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
            (200, serde_json::json!(keys).to_string())
        }
        Err(error) => (
            500,
            serde_json::json!({ "error": error.to_string() }).to_string(),
        ),
    }
}
