//! The scripted server of the subjects `reflector` and `informer`: answers what the script says,
//! and lets the client settle after each step.

use std::collections::VecDeque;
use std::time::Duration;

use deltascope::cache::error::Error;
use deltascope::cache::fact::EventType;
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, INITIAL_EVENTS_END, ListPage, ListRequest, WatchItem, WatchRequest,
};
use deltascope::cache::reflector::{Need, Reflector, StoreCall};
use serde_json::{Value, json};

use super::object::{item, items};
use super::{Members, Pod, Step};

/// A reflector with whatever is around it.
pub(crate) trait Client {
    /// The reflector.
    fn reflector(&mut self) -> &mut Reflector<Pod>;

    /// Carries out a call of the reflector, or of its resync timer.
    fn store(&mut self, call: StoreCall<Pod>) -> Result<(), Error>;

    /// Whether anybody wants the resync that is due now.
    fn should_resync(&mut self, _now: Duration) -> bool {
        true
    }

    /// Does all that can be done without the server and without time.
    fn settle(&mut self, _now: Duration) {}
}

/// What a step was for the server.
pub(crate) enum Played {
    /// Done; what the client had asked for, if the step answers a request.
    Done(Value),
    /// An operation that the server does not know.
    Unknown,
}

/// The server, and the clock.
#[derive(Default)]
pub(crate) struct Server {
    now: Duration,
    running: bool,
    /// What is on its way on the open watch.
    stream: VecDeque<WatchItem<Pod>>,
    /// How often the watch-error handler was called since this was taken.
    watch_errors: usize,
}

/// Each step takes so long.
const STEP: Duration = Duration::from_millis(10);

/// No script waits longer; a resync each second would take for ever.
const LONGEST_ADVANCE: u64 = 10_000_000;

impl Server {
    /// How often the watch-error handler was called since this was asked last.
    pub(crate) fn take_watch_errors(&mut self) -> usize {
        std::mem::take(&mut self.watch_errors)
    }

    /// The time.
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// A step that is none of the server's takes its time, too.
    pub(crate) fn tick(&mut self, client: &mut impl Client) {
        self.advance(STEP, client);
    }

    /// Plays a step, if it is one of the server's. `Stop` stops the reflector and nothing else.
    pub(crate) fn play(
        &mut self,
        step: &mut Step,
        client: &mut impl Client,
    ) -> Result<Played, String> {
        let args = &mut step.args;
        let op = step.op.as_str();
        let known = [
            "Run",
            "List",
            "Watch",
            "WatchEvent",
            "WatchEvents",
            "WatchClose",
            "Advance",
            "Stop",
        ];
        if !known.contains(&op) {
            return Ok(Played::Unknown);
        }
        let either_way = op == "Advance";
        if self.running == (op == "Run") && !either_way {
            return Err(if self.running {
                "it is running already".into()
            } else {
                format!("{op:?} comes before \"Run\"")
            });
        }
        self.advance(STEP, client);
        let mut request = Value::Null;
        match op {
            "List" => {
                let answer = list_answer(args.members("response")?)?;
                let Need::List(asked) = client.reflector().need() else {
                    return Err(asks_otherwise(client, "a list"));
                };
                request = list_request(asked);
                client.reflector().listed(self.now, answer, &mut ());
            }
            "Watch" => {
                let answer = watch_answer(args.members("response")?)?;
                let Need::Watch(asked) = client.reflector().need() else {
                    return Err(asks_otherwise(client, "a watch"));
                };
                request = watch_request(asked);
                client.reflector().watched(self.now, answer, &mut ());
            }
            "WatchEvent" => {
                let event = event(args)?;
                self.send(client, [event])?;
            }
            "WatchEvents" => {
                let events = args
                    .required_list("events")?
                    .into_iter()
                    .map(|value| {
                        let mut event_args = Members::of("events", value)?;
                        let event = event(&mut event_args)?;
                        event_args.finish("the event")?;
                        Ok(event)
                    })
                    .collect::<Result<Vec<_>, String>>()?;
                self.send(client, events)?;
            }
            "WatchClose" => self.send(client, [WatchItem::Closed])?,
            "Advance" => {
                let seconds = args.required("seconds")?;
                let time = seconds
                    .as_f64()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .filter(|time| time.as_secs() <= LONGEST_ADVANCE)
                    .ok_or_else(|| format!("\"seconds\" is no time to wait for: {seconds}"))?;
                self.advance(time, client);
            }
            "Stop" => client.reflector().stop(self.now, &mut ()),
            _ => self.running = true,
        }
        self.settle(client);
        Ok(Played::Done(request))
    }

    fn send(
        &mut self,
        client: &mut impl Client,
        events: impl IntoIterator<Item = WatchItem<Pod>>,
    ) -> Result<(), String> {
        if !matches!(client.reflector().need(), Need::Event) {
            return Err(asks_otherwise(client, "an event"));
        }
        self.stream.extend(events);
        Ok(())
    }

    /// Lets time pass, with a resync whenever one is due.
    fn advance(&mut self, time: Duration, client: &mut impl Client) {
        let end = self.now.saturating_add(time);
        while let Some(at) = client.reflector().resync_at().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let wanted = client.should_resync(self.now);
            if client.reflector().resync_fired(self.now, wanted, &mut ()) {
                let outcome = client.store(StoreCall::Resync);
                client.reflector().resync_done(self.now, outcome, &mut ());
            }
            self.settle(client);
        }
        // A pause within has led beyond it.
        self.now = self.now.max(end);
    }

    /// Until the client needs something of the script.
    fn settle(&mut self, client: &mut impl Client) {
        while self.running {
            let reflector = client.reflector();
            if reflector.take_watch_error().is_some() {
                self.watch_errors += 1;
            }
            if !reflector.is_watching() {
                self.stream.clear();
            }
            match reflector.need() {
                // A back-off elapses at once.
                Need::Wait(moment) => {
                    self.now = self.now.max(*moment);
                    reflector.waited(self.now, &mut ());
                }
                Need::Store(_) => {
                    if let Some(call) = reflector.take_store_call() {
                        let outcome = client.store(call);
                        client.reflector().stored(self.now, outcome, &mut ());
                    }
                }
                Need::Event => match self.stream.pop_front() {
                    Some(item) => reflector.received(self.now, item, &mut ()),
                    None => break,
                },
                Need::List(_) | Need::Watch(_) | Need::Stored | Need::Stopped => break,
            }
        }
        client.settle(self.now);
    }
}

fn asks_otherwise(client: &mut impl Client, scripted: &str) -> String {
    let asks = match client.reflector().need() {
        Need::List(request) => format!("asks for a list: {}", list_request(request)),
        Need::Watch(request) => format!("asks for a watch: {}", watch_request(request)),
        Need::Event => "waits for an event".into(),
        Need::Stopped => "has stopped".into(),
        Need::Store(_) | Need::Stored | Need::Wait(_) => "is busy".into(),
    };
    format!("the script has {scripted}, the reflector {asks}")
}

fn list_request(request: &ListRequest) -> Value {
    let rv_match = request.resource_version_match;
    json!({
        "resourceVersion": *request.resource_version,
        "resourceVersionMatch": rv_match.map_or("", |rv_match| rv_match.as_str()),
        "limit": request.limit,
        "continue": *request.continue_token,
    })
}

fn watch_request(request: &WatchRequest) -> Value {
    let rv_match = request.resource_version_match;
    json!({
        "resourceVersion": *request.resource_version,
        "resourceVersionMatch": rv_match.map_or("", |rv_match| rv_match.as_str()),
        "allowWatchBookmarks": request.allow_watch_bookmarks,
        "sendInitialEvents": request.send_initial_events,
    })
}

fn list_answer(mut response: Members) -> Result<Result<ListPage<Pod>, ApiError>, String> {
    let answer = match response.optional_text("error")? {
        Some(name) => Err(named_error(&name)?),
        None => Ok(ListPage {
            resource_version: response.text("resourceVersion")?.into(),
            items: items(response.required_list("items")?)?,
            continue_token: response
                .optional_text("continue")?
                .unwrap_or_default()
                .into(),
            table: None,
        }),
    };
    response.finish("the response")?;
    Ok(answer)
}

fn watch_answer(mut response: Members) -> Result<Result<(), ApiError>, String> {
    let answer = match response.optional_text("error")? {
        Some(name) => Err(named_error(&name)?),
        None if response.flag("open")? => Ok(()),
        None => return Err("the response is neither open nor an error".into()),
    };
    response.finish("the response")?;
    Ok(answer)
}

fn event(args: &mut Members) -> Result<WatchItem<Pod>, String> {
    let name = args.text("type")?;
    Ok(match name.as_str() {
        "ADDED" => WatchItem::Event(EventType::Added, item(args.required("object")?)?),
        "MODIFIED" => WatchItem::Event(EventType::Modified, item(args.required("object")?)?),
        "DELETED" => WatchItem::Event(EventType::Deleted, item(args.required("object")?)?),
        "BOOKMARK" => bookmark(args.members("object")?)?,
        "ERROR" => {
            let error = named_error(&args.text("error")?)?;
            WatchItem::Error(match args.optional_members("status")? {
                Some(status) => status_error(status, &error)?,
                None => error,
            })
        }
        _ => return Err(format!("unknown event type {name:?}")),
    })
}

/// A bookmark's object has no name, and nothing but version and annotations means anything.
fn bookmark(mut object: Members) -> Result<WatchItem<Pod>, String> {
    let mut metadata = object.members("metadata")?;
    let resource_version = metadata.optional_text("resourceVersion")?;
    let annotations = metadata.optional_members("annotations")?;
    let initial_events_end = match annotations {
        Some(mut annotations) => {
            let end = annotations.optional_text(INITIAL_EVENTS_END)?;
            annotations.finish("the annotations")?;
            end.is_some_and(|end| end == "true")
        }
        None => false,
    };
    metadata.finish("the bookmark's metadata")?;
    object.finish("the bookmark")?;
    Ok(WatchItem::Bookmark {
        resource_version: resource_version.unwrap_or_default().into(),
        initial_events_end,
    })
}

fn named_error(name: &str) -> Result<ApiError, String> {
    use ApiErrorKind as K;
    let (kind, message) = match name {
        "connection-refused" => (K::ConnectionRefused, "connection refused"),
        "expired" => (K::Expired, "too old resource version"),
        "gone" => (K::Gone, "gone"),
        "too-large-resource-version" => (K::TooLarge, "Too large resource version"),
        "too-many-requests" => (K::TooManyRequests, "too many requests"),
        "internal" => (K::InternalError, "internal error"),
        "timeout" => (K::Timeout, "timeout"),
        "forbidden" => (K::Forbidden, "forbidden"),
        "invalid" => (K::Invalid, "invalid"),
        "generic" => (K::Other, "boom"),
        _ => return Err(format!("unknown error {name:?}")),
    };
    Ok(ApiError::new(kind, message))
}

/// In a stream every error is a status: what has none of its own is what its code and reason say.
fn status_error(mut status: Members, named: &ApiError) -> Result<ApiError, String> {
    let code = status.take("code");
    let code = code
        .as_u64()
        .and_then(|code| u16::try_from(code).ok())
        .ok_or_else(|| format!("\"code\" is no HTTP status: {code}"))?;
    let reason = status.optional_text("reason")?.unwrap_or_default();
    status.finish("the status")?;
    let cause = named
        .is_too_large_resource_version()
        .then_some("ResourceVersionTooLarge");
    Ok(ApiError::from_status(code, &reason, &named.message, cause))
}
