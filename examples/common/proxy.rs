//! A real API server behind `kubectl proxy`, which adds the credentials.

use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deltascope::cache::fact::EventType;
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, INITIAL_EVENTS_END, ListPage, ListRequest, ListerWatcher, WatchItem,
    WatchRequest, Watcher,
};
use deltascope::cache::object::Item;
use serde::Deserialize;
use serde_json::Value;

use super::DynamicObject;

/// Lists and watches the objects of one kind.
pub(crate) struct Proxy {
    url: String,
    agent: ureq::Agent,
}

impl Proxy {
    /// `path` is the kind's path, such as `api/v1/namespaces/default/pods`.
    pub(crate) fn new(base: &str, path: &str) -> Result<Self, String> {
        if !base.starts_with("http://") {
            return Err(format!(
                "--proxy {base:?} must begin with http://, as in http://127.0.0.1:8001: \
                 `kubectl proxy` speaks no TLS"
            ));
        }
        // The body of a 4xx response says more than its status.
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        Ok(Self {
            url: format!("{}/{path}", base.trim_end_matches('/')),
            agent: config.build().into(),
        })
    }

    fn get(&self, query: &[(&str, String)]) -> Result<ureq::Body, ApiError> {
        let mut request = self.agent.get(&self.url);
        for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.query(*name, value);
        }
        let response = request.call().map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        if status == 200 {
            return Ok(body);
        }
        let text = body.read_to_string().unwrap_or_default();
        Err(self.refused(status, &text))
    }

    fn unreachable(&self, error: &ureq::Error) -> ApiError {
        let url = &self.url;
        match error {
            ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                let text = format!("nothing answers at {url}: is `kubectl proxy` running?");
                ApiError::new(ApiErrorKind::ConnectionRefused, &text)
            }
            error => ApiError::new(ApiErrorKind::Other, &format!("{url}: {error}")),
        }
    }

    fn refused(&self, code: u16, body: &str) -> ApiError {
        match serde_json::from_str::<Status>(body) {
            Ok(status) => status.into_error(code),
            Err(_) => {
                let text = format!("{} answers {code}: {}", self.url, body.trim());
                ApiError::from_status(code, "", &text, [])
            }
        }
    }
}

impl ListerWatcher<DynamicObject> for Proxy {
    type Watch = Watch;

    fn list(&self, request: &ListRequest) -> Result<ListPage<DynamicObject>, ApiError> {
        let rv_match = request.resource_version_match.map(|m| m.as_str());
        let limit = (request.limit > 0).then(|| request.limit.to_string());
        let mut body = self.get(&[
            ("resourceVersion", request.resource_version.to_string()),
            ("resourceVersionMatch", rv_match.unwrap_or_default().into()),
            ("limit", limit.unwrap_or_default()),
            ("continue", request.continue_token.to_string()),
        ])?;
        let list = serde_json::from_reader::<_, List>(body.as_reader());
        let list = list.map_err(|error| {
            let text = format!("the list from {} cannot be read: {error}", self.url);
            ApiError::new(ApiErrorKind::Other, &text)
        })?;
        Ok(ListPage {
            resource_version: list.metadata.resource_version.into(),
            items: list.items.into_iter().map(Item::object).collect(),
            continue_token: list.metadata.next.into(),
            table: None,
        })
    }

    fn watch(&self, request: &WatchRequest) -> Result<Watch, ApiError> {
        let rv_match = request.resource_version_match.map(|m| m.as_str());
        let yes = |on: bool| if on { "true" } else { "" }.to_owned();
        let seconds = request.timeout.as_secs();
        let body = self.get(&[
            ("watch", yes(true)),
            ("resourceVersion", request.resource_version.to_string()),
            ("resourceVersionMatch", rv_match.unwrap_or_default().into()),
            ("allowWatchBookmarks", yes(request.allow_watch_bookmarks)),
            (
                "sendInitialEvents",
                yes(request.send_initial_events == Some(true)),
            ),
            (
                "timeoutSeconds",
                if seconds > 0 {
                    seconds.to_string()
                } else {
                    String::new()
                },
            ),
        ])?;
        Ok(Watch {
            lines: BufReader::new(Box::new(body.into_reader())),
            stopped: Arc::default(),
        })
    }
}

/// An open watch: one JSON event per line.
pub(crate) struct Watch {
    lines: BufReader<Box<dyn std::io::Read + Send>>,
    stopped: Arc<AtomicBool>,
}

impl Watcher<DynamicObject> for Watch {
    fn next(&mut self) -> WatchItem<DynamicObject> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            _ if self.stopped.load(Ordering::Acquire) => WatchItem::Closed,
            // However the connection ends, the reflector resumes the watch.
            Ok(0) | Err(_) => WatchItem::Closed,
            Ok(_) => event(&line).unwrap_or_else(|error| {
                let text = format!("a line of the watch cannot be read: {error}");
                WatchItem::Error(ApiError::new(ApiErrorKind::Other, &text))
            }),
        }
    }

    /// Takes effect at the next line, or when the server ends the watch.
    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let stopped = Arc::clone(&self.stopped);
        Box::new(move || stopped.store(true, Ordering::Release))
    }
}

fn event(line: &str) -> Result<WatchItem<DynamicObject>, serde_json::Error> {
    let Event { kind, object } = serde_json::from_str(line)?;
    let event = match &*kind {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => {
            let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
            let annotations = object.pointer("/metadata/annotations");
            let end = annotations.and_then(|all| all.get(INITIAL_EVENTS_END));
            return Ok(WatchItem::Bookmark {
                resource_version: text("/metadata/resourceVersion").unwrap_or_default().into(),
                initial_events_end: end.and_then(Value::as_str) == Some("true"),
            });
        }
        _ => {
            let status: Status = serde_json::from_value(object)?;
            let code = status.code;
            return Ok(WatchItem::Error(status.into_error(code)));
        }
    };
    Ok(WatchItem::Event(
        event,
        Item::object(serde_json::from_value(object)?),
    ))
}

#[derive(Deserialize)]
struct List {
    metadata: ListMeta,
    items: Vec<DynamicObject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMeta {
    resource_version: String,
    #[serde(default, rename = "continue")]
    next: String,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    code: u16,
    reason: String,
    message: String,
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Vec<Cause>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: String,
    message: String,
}

impl Status {
    fn into_error(self, code: u16) -> ApiError {
        let causes = self.details.causes.iter();
        let causes = causes.flat_map(|cause| [&*cause.reason, &*cause.message]);
        ApiError::from_status(code, &self.reason, &self.message, causes)
    }
}
