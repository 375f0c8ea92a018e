//! The subject `reflector`.

use std::time::Duration;

use deltascope::cache::backoff::Backoff;
use deltascope::cache::error::Error;
use deltascope::cache::key_func::deletion_handling_meta_namespace_key_func;
use deltascope::cache::object::Item;
use deltascope::cache::order::Order;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{Reflector, ReflectorOptions, StoreCall};
use serde_json::{Value, json};

use super::object::{reference, transformer};
use super::server::{Client, Played, Server};
use super::{Got, Members, Pod, Sets, Step, Subject, unknown_op};

pub(crate) struct Play {
    server: Server,
    client: Recorder,
}

/// The reflector, over a store that writes every call down.
struct Recorder {
    reflector: Reflector<Pod>,
    calls: Vec<Value>,
    failing: Option<String>,
}

impl Play {
    pub(crate) fn new(minor: u32, mut options: Members) -> Result<Self, String> {
        options.generation()?;
        let release = release(minor)?;
        let bookmark_store = options.flag("bookmarkStore")?;
        if bookmark_store && release < Release::V0_36 {
            return Err("\"bookmarkStore\" does not exist in this version".into());
        }
        let failing = options.optional_text("failingStoreOp")?;
        if let Some(op) = &failing
            && !STORE_OPS.contains(&op.as_str())
        {
            return Err(format!("unknown failingStoreOp {op:?}"));
        }
        let reflector_options = ReflectorOptions {
            type_description: "*v1.Pod".into(),
            watch_list: options.flag("watchList")?,
            page_size: u32::try_from(options.number("pageSize")?)
                .map_err(|_| "\"pageSize\" is too large")?,
            resync_period: Duration::from_secs(options.number("resyncSeconds")?),
            max_internal_error_retry: Duration::from_secs(
                options.number("maxInternalErrorRetrySeconds")?,
            ),
            bookmark_store,
            update_resource_version_store: options.flag("updateResourceVersionStore")?
                || bookmark_store,
            transformer: transformer(options.optional_text("transformer")?.as_deref())?,
            release,
            order: Order::Key,
            backoff: BACKOFF,
            ..ReflectorOptions::default()
        };
        options.finish("the options")?;
        Ok(Self {
            server: Server::default(),
            client: Recorder {
                reflector: Reflector::new(reflector_options),
                calls: Vec::new(),
                failing,
            },
        })
    }
}

/// The recorder's: nothing depends on it.
pub(crate) const BACKOFF: Backoff = Backoff {
    duration: Duration::from_millis(1),
    factor: 1.0,
    jitter: 0.0,
    steps: 0,
    cap: Duration::ZERO,
};

/// The calls that can be made to fail.
const STORE_OPS: [&str; 6] = ["Add", "Update", "Delete", "Replace", "Resync", "Bookmark"];

/// Whose behaviour it is.
pub(crate) fn release(minor: u32) -> Result<Release, String> {
    Ok(match minor {
        30..=32 => Release::V0_32,
        33 | 34 => Release::V0_34,
        35 => Release::V0_35,
        36.. => Release::V0_36,
        _ => return Err(format!("v0.{minor} is too old for this subject")),
    })
}

impl Client for Recorder {
    fn reflector(&mut self) -> &mut Reflector<Pod> {
        &mut self.reflector
    }

    fn store(&mut self, call: StoreCall<Pod>) -> Result<(), Error> {
        let key = |item: &Item<Pod>| {
            deletion_handling_meta_namespace_key_func(item)
                .map_or(Value::Null, |key| json!(key.as_str()))
        };
        let one = |item: &Item<Pod>| vec![key(item), reference(item)];
        let (name, args) = match &call {
            StoreCall::Add(item) => ("Add", one(item)),
            StoreCall::Update(item) => ("Update", one(item)),
            StoreCall::Delete(item) => ("Delete", one(item)),
            StoreCall::Replace(items, rv) => {
                let items = items.iter().map(|item| json!(one(item))).collect();
                ("Replace", vec![json!(**rv), items])
            }
            StoreCall::Resync => ("Resync", Vec::new()),
            StoreCall::Bookmark(rv) => ("Bookmark", vec![json!(**rv)]),
            StoreCall::UpdateResourceVersion(rv) => ("UpdateResourceVersion", vec![json!(**rv)]),
        };
        let call = [json!(name)].into_iter().chain(args).collect();
        self.calls.push(call);
        if self.failing.as_deref() == Some(name) {
            return Err(Error::Process("store failed".into()));
        }
        Ok(())
    }
}

impl Subject for Play {
    fn play(&mut self, step: &mut Step) -> Result<Got, String> {
        let Played::Done(request) = self.server.play(step, &mut self.client)? else {
            return Err(unknown_op(&step.op));
        };
        let result = json!({
            "request": request,
            "storeCalls": std::mem::take(&mut self.client.calls),
        });
        step.settled(result, self.server.take_watch_errors())
    }

    fn state(&self) -> Value {
        let reflector = &self.client.reflector;
        json!({ "lastSyncResourceVersion": **reflector.last_sync_resource_version() })
    }

    fn sets(&self, _op: &str) -> Sets {
        Sets {
            result: false,
            state: &[],
        }
    }
}
