//! One wanted request, from its first attempt to the last byte of the answer.

use serde_json::Value;

use crate::Time;
use crate::source::live::{Asked, MAX_OBJECTS, ResponsePart, ServerResponse, Wanted};
use crate::source::pod::Keep;
use crate::source::wire::{
    LineSplitter, MAX_LINE, RecordedEvent, causes, code, event_in, reason, shortened, text_of,
};
use deltascope_cache::fact::WatchEnd;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};

use super::list::{self, Excess, ListError, ListReader};
use super::request::{self, HttpRequest};
use super::target::Target;

/// How often client-go's REST client retries by itself when a server sends `Retry-After`.
pub const MAX_RETRIES: u32 = 10;
/// The longest `Retry-After` that is respected, in s.
const MAX_WAIT_S: u64 = 3_600;
/// The most bytes read of an error response: a Status has some hundred.
const MAX_ERROR: usize = 1 << 20;
/// The most bytes kept of an error text, as in client-go.
const MAX_TEXT: usize = 2_048;

/// How long silence is tolerated, and how long an exchange waits before it retries too large a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Silence before an answer begins, and inside a list, in ms.
    pub list_ms: Time,
    /// Silence inside a watch that has received a periodic bookmark, so that others are due, in ms.
    pub watch_ms: Time,
    /// Silence inside a watch without bookmarks, in ms beyond its own timeout. A resource without a watch
    /// cache (Events, by default) gets no bookmarks, however long it is quiet.
    pub over_ms: Time,
    /// The interval between two counts of the objects, after there were too many, in ms.
    pub count_ms: Time,
    /// The same interval where no server can count the objects, so that the whole list is requested again, in
    /// ms.
    pub blind_ms: Time,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            // An API server itself ends a list after a minute.
            list_ms: 75_000,
            // A bookmark is due about once a minute: one is missing, and half of the next minute is over.
            watch_ms: 90_000,
            over_ms: 30_000,
            // As long as a reflector's longest backoff; a count costs the server one object.
            count_ms: 30_000,
            blind_ms: 300_000,
        }
    }
}

/// The head of an answer: status and headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// HTTP status.
    pub status: u16,
    /// The header `Content-Type`; empty if missing.
    pub content_type: String,
    /// The header `Retry-After`; empty if missing.
    pub retry_after: String,
    /// The header `Server`; empty if missing.
    pub server: String,
}

/// The `Server` of the responses that `deltascope serve` writes itself, in place of the API server: a line in
/// English and one in Chinese.
pub const SERVE: &str = "deltascope-serve";

/// How an answer, or the attempt to get one, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The body is complete.
    Complete,
    /// The connection broke, or could not be opened; the reason, as far as it is known.
    Broken(String),
}

/// What arrives on the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<B> {
    /// The head of the answer.
    Head(Head),
    /// A part of the body, cut anywhere.
    Chunk(B),
    /// The end of the answer, or of the attempt to get one.
    End(End),
}

/// What the owner of the connection has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Send [`Exchange::request`], then call [`Exchange::sent`].
    Send,
    /// Pass on the answer as it arrives.
    Reading,
    /// Close the connection, and call [`Exchange::timeout`] at this time.
    Waiting(Time),
    /// Close the connection.
    Done,
}

/// A request and its answer so far.
#[derive(Debug)]
pub struct Exchange {
    number: u32,
    watch: bool,
    target: Target,
    request: Result<HttpRequest, String>,
    deadlines: Deadlines,
    /// The requested duration of the watch, in ms.
    watch_for: Time,
    /// Whether a periodic bookmark has arrived, so that others are due.
    bookmarked: bool,
    /// How many more objects can be kept.
    room: usize,
    /// The limit that the answer exceeded, while the exchange waits for a smaller one; …
    excess: Option<Excess>,
    /// … the number of objects at the last count; …
    counted: Option<u64>,
    /// … and whether a count is in progress.
    counting: bool,
    phase: Phase,
    body: Body,
    /// The number of retries.
    retries: u32,
    heard: Time,
    /// The start of the current silence.
    since: Time,
}

/// The part of the answer that is being read.
#[derive(Debug)]
enum Body {
    /// There is no answer yet.
    Awaited,
    List(Box<ListReader>),
    Watch(LineSplitter),
    /// The answer to a count.
    Count(Vec<u8>),
    Error {
        status: u16,
        is_text: bool,
        bytes: Vec<u8>,
    },
}

impl Exchange {
    /// Starts the exchange of a wanted request, which is to be sent now.
    #[must_use]
    pub fn new(target: &Target, wanted: &Wanted, deadlines: Deadlines, now: Time) -> Self {
        let request = request::of(target, &wanted.ask).map_err(|words| words.en.to_string());
        Self::with(target, wanted, request, deadlines, now)
    }

    /// The exchange of a request that somebody else has sent.
    #[must_use]
    pub fn heard(target: &Target, wanted: &Wanted, now: Time) -> Self {
        let request = Ok(HttpRequest::default());
        let mut exchange = Self::with(target, wanted, request, Deadlines::default(), now);
        exchange.sent(now);
        exchange
    }

    fn with(
        target: &Target,
        wanted: &Wanted,
        request: Result<HttpRequest, String>,
        deadlines: Deadlines,
        now: Time,
    ) -> Self {
        let mut exchange = Self {
            number: wanted.request,
            watch: matches!(wanted.ask, Asked::Watch(_)),
            watch_for: match &wanted.ask {
                Asked::Watch(watch) => {
                    Time::try_from(watch.timeout.as_millis()).unwrap_or(Time::MAX)
                }
                Asked::List(_) => 0,
            },
            bookmarked: false,
            room: MAX_OBJECTS.saturating_sub(wanted.has),
            excess: None,
            counted: None,
            counting: false,
            target: target.clone(),
            // A request that cannot be built fails at once.
            phase: if request.is_ok() {
                Phase::Send
            } else {
                Phase::Waiting(now)
            },
            request,
            deadlines,
            body: Body::Awaited,
            retries: 0,
            heard: now,
            since: now,
        };
        if wanted.too_much && exchange.request.is_ok() {
            exchange.wait(now, Excess::Objects);
        }
        exchange
    }

    /// The number of the wanted request.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The request to send.
    #[must_use]
    pub fn request(&self) -> HttpRequest {
        let count = self.counting.then(|| request::count(&self.target).ok());
        let count = count.flatten();
        count.unwrap_or_else(|| self.request.clone().unwrap_or_default())
    }

    /// The exceeded limit, while the exchange waits; and the number of objects at the last count.
    #[must_use]
    pub fn excess(&self) -> Option<(Excess, Option<u64>)> {
        Some((self.excess?, self.counted))
    }

    /// The interval at which it counts or requests the list again, in ms.
    #[must_use]
    pub fn looks_every(&self) -> Time {
        if self.can_count() {
            self.deadlines.count_ms
        } else {
            self.deadlines.blind_ms
        }
    }

    /// Whether the server can count the objects, and their number is the exceeded limit.
    fn can_count(&self) -> bool {
        self.excess == Some(Excess::Objects)
            && self.target.label_selector.is_empty()
            && self.target.field_selector.is_empty()
    }

    /// Waits before the next count or retry. It sends no response: the request has no answer yet.
    fn wait(&mut self, now: Time, excess: Excess) {
        self.excess = Some(excess);
        self.counting = false;
        self.body = Body::Awaited;
        self.phase = Phase::Waiting(now.saturating_add(self.looks_every()));
    }

    /// What has to be done next.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Virtual time of the last byte received; before the first one, of the start.
    #[must_use]
    pub fn last_heard(&self) -> Time {
        self.heard
    }

    /// When to call [`Exchange::timeout`] if nothing arrives before.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let quiet = match (self.phase, &self.body) {
            (Phase::Done, _) => return None,
            (Phase::Waiting(until), _) => return Some(until),
            (_, Body::Watch(_)) if self.bookmarked => self.deadlines.watch_ms,
            (_, Body::Watch(_)) => self
                .watch_for
                .saturating_add(self.deadlines.over_ms)
                .max(self.deadlines.watch_ms),
            _ => self.deadlines.list_ms,
        };
        Some(self.since.saturating_add(quiet))
    }

    /// Postpones the deadline: reading pauses while earlier input is processed, and that is no silence.
    pub fn held(&mut self, now: Time) {
        if self.phase == Phase::Reading {
            self.since = now;
        }
    }

    /// The request has been sent.
    pub fn sent(&mut self, now: Time) {
        if self.phase == Phase::Send {
            self.phase = Phase::Reading;
            self.since = now;
        }
    }

    /// Something has arrived.
    pub fn take(&mut self, now: Time, event: Event<impl AsRef<[u8]>>) -> Vec<ServerResponse> {
        match event {
            Event::Head(head) => self.head(now, &head),
            Event::Chunk(chunk) => self.chunk(now, chunk.as_ref()),
            Event::End(end) => self.end(now, end),
        }
    }

    /// The head of the answer has arrived.
    pub fn head(&mut self, now: Time, head: &Head) -> Vec<ServerResponse> {
        let mut responses = Vec::new();
        if !self.hears(now) || !matches!(self.body, Body::Awaited) {
            return responses;
        }
        self.phase = Phase::Reading;
        let Head {
            status,
            content_type,
            retry_after,
            server: _,
        } = head;
        let media = content_type.split(';').next().unwrap_or_default().trim();
        let media = media.to_ascii_lowercase();
        let status = *status;
        if self.counting {
            match status {
                200 => self.body = Body::Count(Vec::new()),
                // If the user may not count, the request itself will be refused the same way.
                401 | 403 | 404 => self.ask_again(now),
                _ => self.wait(now, Excess::Objects),
            }
        } else if status == 200 && media == "text/html" {
            let mut message = format!("serializer for {media} doesn't exist");
            message.push_str(": this is a web page, not an answer of an API server");
            self.refuse(status, "", &message, &mut responses);
        } else if status == 200 {
            if self.watch {
                self.body = Body::Watch(LineSplitter::new(MAX_LINE));
                self.respond(ResponsePart::Opened, &mut responses);
            } else {
                let reader = ListReader::new(&self.target, self.room);
                self.body = Body::List(Box::new(reader));
            }
        } else if let Some(after_ms) = wait_ms(status, retry_after)
            && self.retries < MAX_RETRIES
        {
            self.retries += 1;
            let (code, attempt) = (status, self.retries);
            self.phase = Phase::Waiting(now.saturating_add(after_ms));
            self.respond(
                ResponsePart::Later {
                    code,
                    after_ms,
                    attempt,
                },
                &mut responses,
            );
        } else {
            self.body = Body::Error {
                status,
                is_text: media.is_empty() || media.starts_with("text/"),
                bytes: Vec::new(),
            };
        }
        responses
    }

    /// A part of the body has arrived, cut anywhere.
    pub fn chunk(&mut self, now: Time, chunk: &[u8]) -> Vec<ServerResponse> {
        self.chunk_with(now, chunk, |_| {})
    }

    /// Like [`chunk`](Self::chunk); `each` gets the bytes of every object of a list, and of every event, that is complete
    /// now, before they are trimmed.
    pub fn chunk_with(
        &mut self,
        now: Time,
        chunk: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Vec<ServerResponse> {
        let mut responses = Vec::new();
        if chunk.is_empty() || !self.hears(now) {
            return responses;
        }
        let keep = self.target.keep();
        match &mut self.body {
            // Without a head there is no body.
            Body::Awaited => {}
            Body::List(reader) => {
                if let Err(error) = reader.push_with(chunk, &mut each) {
                    self.no_list(now, error, &mut responses);
                }
            }
            Body::Count(bytes) if bytes.len() + chunk.len() > MAX_ERROR => {
                self.wait(now, Excess::Objects);
            }
            Body::Count(bytes) => bytes.extend_from_slice(chunk),
            Body::Error { bytes, .. } => {
                let room = MAX_ERROR.saturating_sub(bytes.len()).min(chunk.len());
                bytes.extend_from_slice(&chunk[..room]);
                if room < chunk.len() {
                    self.fail(&mut responses);
                }
            }
            Body::Watch(splitter) => {
                let mut events = Vec::new();
                let mut over = false;
                let fed = splitter.push(chunk, |_, line| {
                    if over || line.trim_ascii().is_empty() {
                        return;
                    }
                    each(line);
                    let event = event(line, keep).unwrap_or_else(|error| undecodable(error.text()));
                    over = matches!(event, RecordedEvent::Error { .. });
                    events.push(event);
                });
                if fed.is_err() && !over {
                    events.push(undecodable(&format!(
                        "the line is longer than {MAX_LINE} bytes"
                    )));
                    over = true;
                }
                for event in events {
                    // The bookmark that ends the initial events does not count: servers without periodic
                    // bookmarks send it, too.
                    let by_time = matches!(
                        event,
                        RecordedEvent::Bookmark {
                            initial_events_end: false,
                            ..
                        }
                    );
                    self.bookmarked |= by_time;
                    self.respond(ResponsePart::Event(event), &mut responses);
                }
                if over {
                    self.phase = Phase::Done;
                }
            }
        }
        responses
    }

    /// The body or the connection has ended; also called if there never was a connection.
    pub fn end(&mut self, now: Time, end: End) -> Vec<ServerResponse> {
        let mut responses = Vec::new();
        let broken = match end {
            // A broken connection does not count as received data.
            End::Broken(why) if self.is_open() => Some(why),
            End::Complete if self.hears(now) => None,
            _ => return responses,
        };
        let body = std::mem::replace(&mut self.body, Body::Awaited);
        match (body, broken) {
            (Body::Count(bytes), None) => match list::count(&bytes) {
                Some(count) if count <= MAX_OBJECTS as u64 => self.ask_again(now),
                count => {
                    self.counted = count.or(self.counted);
                    self.wait(now, Excess::Objects);
                }
            },
            (Body::Awaited | Body::Count(_), _) if self.counting => {
                self.wait(now, Excess::Objects);
            }
            (Body::Awaited | Body::Count(_), why) => {
                let why = why.unwrap_or_else(|| "the answer has no head".to_owned());
                self.no_answer(&why, &mut responses);
            }
            (Body::List(reader), None) => match reader.finish() {
                Ok(page) => {
                    self.respond(ResponsePart::Page(page), &mut responses);
                    self.phase = Phase::Done;
                }
                Err(error) => self.no_list(now, error, &mut responses),
            },
            (Body::List(_), Some(why)) => {
                let message = format!(
                    "unexpected error when reading response body. Please retry. Original error: {}",
                    shortened(&why)
                );
                let error = ApiError::new(ApiErrorKind::Other, &message);
                self.respond(ResponsePart::Refused(error), &mut responses);
                self.phase = Phase::Done;
            }
            (body @ Body::Error { .. }, _) => {
                self.body = body;
                self.fail(&mut responses);
            }
            (Body::Watch(splitter), broken) => {
                self.last_line(splitter, broken.is_some(), &mut responses);
                self.phase = Phase::Done;
            }
        }
        responses
    }

    /// Nothing has arrived until [`Exchange::due`].
    pub fn timeout(&mut self, now: Time) -> Vec<ServerResponse> {
        let mut responses = Vec::new();
        if self.due().is_none_or(|due| now < due) {
            return responses;
        }
        if let Phase::Waiting(_) = self.phase {
            match &self.request {
                Ok(_) if self.can_count() => {
                    self.counting = true;
                    self.phase = Phase::Send;
                    self.since = now;
                }
                Ok(_) => self.ask_again(now),
                Err(why) => {
                    let error = ApiError::new(ApiErrorKind::Other, why);
                    self.respond(ResponsePart::Refused(error), &mut responses);
                    self.phase = Phase::Done;
                }
            }
            return responses;
        }
        let seconds = self.deadlines.list_ms / 1_000;
        if self.counting {
            self.wait(now, Excess::Objects);
            return responses;
        }
        match self.body {
            Body::Watch(_) => {
                self.respond(ResponsePart::Ended(WatchEnd::Silent), &mut responses);
                self.phase = Phase::Done;
            }
            Body::Error { .. } => self.fail(&mut responses),
            Body::Awaited | Body::List(_) | Body::Count(_) => {
                let why = format!("nothing came for {seconds} s");
                self.no_answer(&why, &mut responses);
            }
        }
        responses
    }

    /// Whether input is still read.
    fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Send | Phase::Reading)
    }

    /// Whether input is still read; if so, notes that data arrived.
    fn hears(&mut self, now: Time) -> bool {
        let open = self.is_open();
        if open {
            (self.heard, self.since) = (now, now);
        }
        open
    }

    fn respond(&self, part: ResponsePart, responses: &mut Vec<ServerResponse>) {
        responses.push(ServerResponse {
            request: self.number,
            part,
        });
    }

    /// Sends the wanted request again.
    fn ask_again(&mut self, now: Time) {
        (self.excess, self.counted, self.counting) = (None, None, false);
        self.body = Body::Awaited;
        self.phase = Phase::Send;
        self.since = now;
    }

    /// Handles an unusable list: waits for a smaller one, or reports the error.
    fn no_list(&mut self, now: Time, error: ListError, responses: &mut Vec<ServerResponse>) {
        match error {
            ListError::Excess(excess) => self.wait(now, excess),
            ListError::Bad(why) => self.refuse(200, "", &why, responses),
        }
    }

    fn refuse(
        &mut self,
        code: u16,
        reason: &str,
        message: &str,
        responses: &mut Vec<ServerResponse>,
    ) {
        let error = ApiError::from_status(code, reason, message, []);
        self.respond(ResponsePart::Refused(error), responses);
        self.phase = Phase::Done;
    }

    /// Nobody answered. A page's fetch knows next to nothing of the reason. To the reflector it is a refused
    /// connection, after which a watch continues where it was.
    fn no_answer(&mut self, why: &str, responses: &mut Vec<ServerResponse>) {
        let error = ApiError::new(ApiErrorKind::ConnectionRefused, &shortened(why));
        self.respond(ResponsePart::Refused(error), responses);
        self.phase = Phase::Done;
    }

    /// The answer is an error: a Status, or the page of a proxy in between.
    fn fail(&mut self, responses: &mut Vec<ServerResponse>) {
        let body = std::mem::replace(&mut self.body, Body::Awaited);
        if let Body::Error {
            status,
            is_text,
            bytes,
        } = body
        {
            let error = error_of(status, is_text, &bytes, &self.target.resource.name());
            self.respond(ResponsePart::Refused(error), responses);
        }
        self.phase = Phase::Done;
    }

    /// Handles the unfinished line at the end of the stream.
    fn last_line(&self, splitter: LineSplitter, broken: bool, responses: &mut Vec<ServerResponse>) {
        let mut end = if broken {
            WatchEnd::Cut
        } else {
            WatchEnd::Closed
        };
        if let Some((_, line)) = splitter
            .finish()
            .filter(|(_, line)| !line.trim_ascii().is_empty())
        {
            match event(&line, self.target.keep()) {
                Ok(event) => {
                    let over = matches!(event, RecordedEvent::Error { .. });
                    self.respond(ResponsePart::Event(event), responses);
                    if over {
                        return;
                    }
                }
                Err(Fault::Cut) => {
                    end = WatchEnd::CutInLine(u32::try_from(line.len()).unwrap_or(u32::MAX));
                }
                Err(error) => {
                    return self.respond(ResponsePart::Event(undecodable(error.text())), responses);
                }
            }
        }
        self.respond(ResponsePart::Ended(end), responses);
    }
}

/// Why a line is not an event.
enum Fault {
    /// It ends in the middle.
    Cut,
    /// Something else.
    Bad(String),
}

impl Fault {
    fn text(&self) -> &str {
        match self {
            Self::Cut => "unexpected EOF",
            Self::Bad(text) => text,
        }
    }
}

fn event(line: &[u8], keep: Keep) -> Result<RecordedEvent, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| match error.error_len() {
        None => Fault::Cut,
        Some(_) => Fault::Bad("invalid UTF-8".to_owned()),
    })?;
    let value: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            Fault::Cut
        } else {
            Fault::Bad(reason(&error))
        }
    })?;
    let mut event = event_in(value, keep).map_err(|mistake| {
        // The text may quote the object.
        Fault::Bad(if keep.redacted {
            "unable to decode watch event".to_owned()
        } else {
            format!("unable to decode watch event: {}", mistake.what.en)
        })
    })?;
    if let RecordedEvent::Error { message, .. } = &mut event {
        *message = clipped(message).to_owned();
    }
    Ok(event)
}

/// The event that client-go's watch makes of an undecodable one: an error of its own.
fn undecodable(why: &str) -> RecordedEvent {
    let why = format!("unable to decode an event from the watch stream: {why}");
    RecordedEvent::Error {
        code: 500,
        reason: "InternalError".to_owned(),
        message: format!(
            "an error on the server ({why:?}) has prevented the request from succeeding"
        ),
        causes: vec![
            "UnexpectedServerResponse".to_owned(),
            why,
            "ClientWatchDecoding".to_owned(),
        ],
    }
}

/// The delay before a retry, if the server asks for one.
fn wait_ms(status: u16, retry_after: &str) -> Option<Time> {
    if status != 429 && status < 500 {
        return None;
    }
    // A date is ignored, as in client-go.
    let seconds: i64 = retry_after.trim().parse().ok()?;
    Some(u64::try_from(seconds).unwrap_or_default().min(MAX_WAIT_S) * 1_000)
}

/// The error of a failed request: its Status, or the one that client-go generates without it.
pub fn error_of(status: u16, is_text: bool, body: &[u8], resource: &str) -> ApiError {
    let text = String::from_utf8_lossy(body);
    if let Ok(Value::Object(fields)) = serde_json::from_str(&text)
        && text_of(&fields, "kind") == Some("Status")
    {
        let code = match code(&fields) {
            0 => status,
            code => code,
        };
        let causes = causes(&fields);
        let [reason, message] = ["reason", "message"].map(|name| text_of(&fields, name));
        return ApiError::from_status(
            code,
            reason.unwrap_or_default(),
            clipped(message.unwrap_or_default()),
            causes.iter().map(String::as_str),
        );
    }
    let said = if is_text {
        clipped(text.trim())
    } else {
        "unknown"
    };
    let (reason, message) = generic(status, said);
    let message = format!("{message} (get {resource})");
    ApiError::from_status(status, reason, &message, [said])
}

/// The reason and the message for an HTTP status without a Status.
fn generic(status: u16, said: &str) -> (&'static str, String) {
    let known = |reason, text: &str| (reason, text.to_owned());
    match status {
        400 => known(
            "BadRequest",
            "the server rejected our request for an unknown reason",
        ),
        401 => known(
            "Unauthorized",
            "the server has asked for the client to provide credentials",
        ),
        403 => known("Forbidden", said),
        404 => known(
            "NotFound",
            "the server could not find the requested resource",
        ),
        405 => known(
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
        406 => known(
            "NotAcceptable",
            "the server was unable to respond with a content type that the client supports",
        ),
        409 => known("Conflict", "the server reported a conflict"),
        422 => known(
            "Invalid",
            "the server rejected our request due to an error in our request",
        ),
        429 => known(
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        503 => known(
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => known(
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request",
        ),
        500.. => (
            "InternalError",
            format!("an error on the server ({said:?}) has prevented the request from succeeding"),
        ),
        _ => (
            "",
            format!(
                "the server responded with the status code {status} but did not return more information"
            ),
        ),
    }
}

/// Limits a text from a server.
fn clipped(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
