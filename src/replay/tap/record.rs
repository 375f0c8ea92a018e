//! An informer's recording, written as its responses come: a trace that the page and `replay` open.
//!
//! In a replay the engine's own reflector asks, and numbers its requests. So the same reflector goes along here: it says
//! which request it would send next. Where the controller did something else, it gets an answer after which it
//! does the same. That is why the end of a request is only written once the next one shows what followed from it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::Value;

use deltascope_cache::fact::WatchEnd;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind, ListPage, WatchItem};
use deltascope_cache::object::Item;
use deltascope_cache::reflector::{Need, Reflector, ReflectorOptions};
use deltascope_world::Time;
use deltascope_world::bounds::{self, MAX_BYTES, MAX_LINE, MAX_READ, MAX_RESPONSES};
use deltascope_world::source::Command;
use deltascope_world::source::item_of;
use deltascope_world::source::live::{MAX_OBJECTS, Page, ResponsePart, ServerResponse};
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::{Input, RequestKind};

use crate::recording::RecordedInput;
use crate::trace::{self, Trace};

use super::call::Call;
use super::ledger;
use super::note::{Note, Stopped, Why};
use super::state::State;

/// A watch that ends within about this time without an event is ended for the reflector in another way: whether it is
/// a failure depends on a moment.
const BARELY_SHORT: Duration = Duration::from_secs(3);
/// How many answers lead the reflector to any request.
const MOST_ANSWERS: usize = 4;
/// The room for the last line, which says why there are no more: its bytes and its weight.
const LAST: usize = 4 << 10;

/// The reflector that goes along.
#[derive(Clone)]
struct Model {
    reflector: Reflector<DynamicObject>,
    now: Duration,
    /// The number of its request.
    number: u32,
    /// When the watch was opened, and whether an event has come.
    opened: Duration,
    heard: bool,
    open: bool,
}

impl Model {
    fn new(watch_list: bool) -> Self {
        let options = ReflectorOptions {
            watch_list,
            // So a list without a limit is one in place of further pages.
            page_size: 1,
            ..ReflectorOptions::default()
        };
        let mut model = Self {
            reflector: Reflector::new(options),
            now: Duration::ZERO,
            number: 0,
            opened: Duration::ZERO,
            heard: false,
            open: false,
        };
        model.settle();
        model
    }

    /// The request that has no answer yet; none while a watch is open.
    fn wants(&self) -> Option<RequestKind> {
        match self.reflector.need() {
            Need::List(_) => Some(RequestKind::List),
            Need::Watch(watch) => Some(RequestKind::of(watch)),
            _ => None,
        }
    }

    /// Whether it would take the pages of a list that begins now for something else: for further pages, or for the whole list in
    /// their place.
    fn is_amid_pages(&self, limit: u32) -> bool {
        match self.reflector.need() {
            Need::List(list) => !list.continue_token.is_empty() || list.limit == 0 && limit > 0,
            _ => false,
        }
    }

    /// Carries out what needs no server.
    fn settle(&mut self) {
        loop {
            match self.reflector.need() {
                Need::Wait(until) => {
                    self.now = self.now.max(*until);
                    self.reflector.waited(self.now, &mut ());
                }
                Need::Store(_) | Need::Stored => {
                    let _call = self.reflector.take_store_call();
                    self.reflector.stored(self.now, Ok(()), &mut ());
                }
                Need::List(_) | Need::Watch(_) => {
                    self.number += 1;
                    self.open = false;
                    return;
                }
                Need::Event | Need::Stopped => return,
            }
        }
    }

    /// Gives it a part of the response, unless it does not wait for it.
    fn take(&mut self, at: Time, part: &ResponsePart) {
        self.now = self.now.max(Duration::from_millis(at));
        let (now, reflector) = (self.now, &mut self.reflector);
        let waits = !matches!(reflector.need(), Need::Event);
        match part {
            ResponsePart::Page(page) => reflector.listed(now, Ok(page_of(page)), &mut ()),
            ResponsePart::Opened if waits => {
                reflector.watched(now, Ok(()), &mut ());
                (self.opened, self.heard, self.open) = (now, false, true);
            }
            ResponsePart::Refused(error) if waits => match reflector.need() {
                Need::List(_) => reflector.listed(now, Err(error.clone()), &mut ()),
                _ => reflector.watched(now, Err(error.clone()), &mut ()),
            },
            ResponsePart::Event(event) if !waits => {
                if let Ok((_, _, item)) = item_of(event.clone()) {
                    reflector.received(now, item, &mut ());
                    self.heard = true;
                }
            }
            ResponsePart::Ended(_) if !waits => {
                reflector.received(now, WatchItem::Closed, &mut ());
            }
            // The same request will be sent again, or nobody waits for this.
            _ => return,
        }
        self.settle();
    }
}

fn page_of(page: &Page) -> ListPage<DynamicObject> {
    let items = page.items.iter();
    ListPage {
        resource_version: Arc::clone(&page.rv),
        items: items
            .map(|object| Item::Object(Arc::clone(object)))
            .collect(),
        continue_token: Arc::clone(&page.continue_token),
        table: None,
    }
}

/// Makes the head of the trace, once the kind of the objects is known; empty if there was none.
pub type Head = Box<dyn FnOnce(&str) -> Trace + Send>;

/// The recording of one informer.
pub struct Recorder {
    head: Option<Head>,
    model: Model,
    /// Notes that come before the head.
    early: Vec<Note>,
    /// The end of the last request, until it shows what followed.
    pending: Option<(Time, ResponsePart)>,
    /// Whether the client reads on behind an error of its watch. client-go does not; what comes until it has hung up, it does
    /// not take.
    reads_on: bool,
    /// How often the current request was put off.
    attempts: u32,
    /// The objects of the list so far.
    listed: usize,
    /// Whether the initial events of a streaming list come.
    streaming: bool,
    streams: bool,
    /// From so many bytes, or so much weight, on another file should go on.
    long: usize,
    heavy: usize,
    /// The same as it was asked for.
    first_long: usize,
    written: usize,
    /// The memory that it takes once it is read, as its reader estimates it.
    weight: usize,
    answers: usize,
    /// Whether a watch was open behind a whole list.
    watched: bool,
    stopped: Option<Stopped>,
}

impl Recorder {
    /// Begins with the informer's first request, and the note that names it. Whether it begins with a streaming list
    /// decides how a replay asks.
    #[must_use]
    pub fn new(first: &Call, informer: Note, head: Head, long: usize) -> Self {
        let streams = first.want() == Some(RequestKind::Stream);
        let stops =
            matches!(&informer, Note::Informer { agent, .. } if ledger::is_client_go(agent));
        Self::with(streams, !stops, vec![informer], head, long)
    }

    fn with(streams: bool, reads_on: bool, early: Vec<Note>, head: Head, long: usize) -> Self {
        Self {
            reads_on,
            head: Some(head),
            model: Model::new(streams),
            early,
            pending: None,
            attempts: 0,
            listed: 0,
            streaming: false,
            streams,
            first_long: long,
            long: long.min(MAX_BYTES / 2),
            heavy: MAX_READ / 2,
            written: 0,
            weight: 0,
            answers: 0,
            watched: false,
            stopped: None,
        }
    }

    /// It begins anew in this file of its informer, with its next list alone.
    #[must_use]
    pub fn anew(mut self, at: Time, part: u32) -> Self {
        let anew = true;
        self.early.push(Note::GoesOn { at, part, anew });
        self
    }

    /// Why it does not go on, if it does not.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Whether another file should go on: this one is long.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.written > self.long || self.weight > self.heavy || self.answers > MAX_RESPONSES / 2
    }

    /// Whether another file can go on here: a watch is open, or has ended so that nobody has asked since.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.stopped.is_none() && self.head.is_none() && self.model.open && !self.streaming
    }

    /// Whether a later list may be recorded though it has stopped: in a file of its own there may be room for it. A list that
    /// filled its file alone will fill another one.
    #[must_use]
    pub fn may_resume(&self) -> bool {
        match self.stopped {
            Some(Stopped::Unlike) => true,
            Some(Stopped::Full) => self.watched,
            _ => false,
        }
    }

    /// Whether what is there does not fit in a second time.
    #[must_use]
    pub fn is_half(&self) -> bool {
        self.written > MAX_BYTES / 2 || self.weight > MAX_READ / 2
    }

    /// Whether a list of as many objects as there are might not fit in any more.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        self.written > MAX_BYTES / 4 || self.weight > MAX_READ / 4
    }

    /// Goes on in another file, which begins with the objects that are there and with these notes. Returns what ends this file, and
    /// what begins the other.
    pub fn go_on(
        &mut self,
        at: Time,
        state: &State,
        notes: Vec<Note>,
        head: Head,
    ) -> (String, String) {
        let mut next = Self::with(self.streams, self.reads_on, notes, head, self.first_long);
        let (mut end, mut text) = (String::new(), String::new());
        next.begin("", &mut text);
        for input in state.beginning(self.streams, at) {
            if let Input::Source(Command::Respond(responses)) = &input.input {
                for response in responses.iter() {
                    next.model.take(input.at, &response.part);
                }
            }
            next.answers += 1;
            next.write(at, trace::lines(&input), &mut text);
        }
        // One that is long at its beginning may grow by as much.
        next.long = next.long.max(next.written * 2).min(MAX_BYTES / 8 * 7);
        next.heavy = next.heavy.max(next.weight * 2).min(MAX_READ / 8 * 7);
        if next.written >= next.long || next.weight >= next.heavy {
            next.stop(at, Stopped::Full, &mut text);
        }
        next.listed = state.len();
        // What is before this time says what was there: who follows has it, and passes it over.
        let pending = self.pending.take();
        next.pending = pending.map(|(then, part)| (then.max(at), part));
        (next.attempts, next.watched) = (self.attempts, true);
        self.stop(at, Stopped::Next, &mut end);
        *self = next;
        (end, text)
    }

    /// The next request begins. Returns what is to be written.
    pub fn asked(&mut self, at: Time, call: &Call, note: &Note) -> String {
        let mut text = String::new();
        let Some(want) = call.want() else {
            return text;
        };
        if let Call::List(_, list) = call
            && list.continue_token.is_empty()
        {
            self.listed = 0;
            self.lead_to_first_page(at, list.limit, &mut text);
        }
        self.lead_to(at, want, &mut text);
        self.streaming = want == RequestKind::Stream;
        self.note(note, &mut text);
        text
    }

    /// Parts of the response have come. Returns what is to be written.
    pub fn took(&mut self, at: Time, parts: Vec<ResponsePart>, notes: &[Note]) -> String {
        let text = self.took_parts(at, parts, notes);
        self.watched |= self.model.open && !self.streaming;
        text
    }

    fn took_parts(&mut self, at: Time, parts: Vec<ResponsePart>, notes: &[Note]) -> String {
        let mut text = String::new();
        let mut batch = Vec::new();
        for mut part in parts {
            match &mut part {
                ResponsePart::Later { attempt, .. } => {
                    self.attempts += 1;
                    *attempt = self.attempts;
                }
                ResponsePart::Page(page) => {
                    self.listed += page.items.len();
                    if self.listed > MAX_OBJECTS {
                        self.stop(at, Stopped::Full, &mut text);
                    }
                }
                ResponsePart::Event(RecordedEvent::Bookmark {
                    initial_events_end: true,
                    ..
                }) => self.streaming = false,
                _ => {}
            }
            if self.stopped.is_some() {
                return text;
            }
            let failed = |(_, part): &(Time, ResponsePart)| {
                matches!(part, ResponsePart::Event(RecordedEvent::Error { .. }))
            };
            if !self.reads_on && self.pending.as_ref().is_some_and(failed) {
                continue;
            }
            let ends = matches!(
                part,
                ResponsePart::Refused(_)
                    | ResponsePart::Ended(_)
                    | ResponsePart::Event(RecordedEvent::Error { .. })
            );
            if ends {
                self.pending = Some((at, part));
                continue;
            }
            // Its client reads on behind an error: for it that was no end.
            self.pending = None;
            let number = self.model.number;
            self.model.take(at, &part);
            batch.push(ServerResponse {
                request: number,
                part,
            });
        }
        self.answer(at, batch, &mut text);
        let is_too_large = |note: &Note| {
            matches!(
                note,
                Note::Ended {
                    why: Why::TooLarge,
                    ..
                }
            )
        };
        for note in notes {
            self.note(note, &mut text);
            if is_too_large(note) {
                // What follows it would follow an empty list.
                self.stop(at, Stopped::Full, &mut text);
            }
        }
        text
    }

    /// The informer is over: writes what is left.
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        if let Some((at, part)) = self.pending.take() {
            self.say(at, part, &mut text);
        }
        self.begin("", &mut text);
        text
    }

    /// A list begins. If the reflector waits for the pages of another, it gets an answer after which it begins one as well.
    fn lead_to_first_page(&mut self, at: Time, limit: u32, text: &mut String) {
        let mut model = self.model.clone();
        if let Some((then, part)) = &self.pending {
            model.take(*then, part);
        }
        if model.is_amid_pages(limit) {
            let then = self.pending.take().map_or(at, |(then, _)| then);
            self.say(then, not_reached(), text);
        }
    }

    /// Answers the reflector so that its next request is the one that was sent.
    fn lead_to(&mut self, at: Time, want: RequestKind, text: &mut String) {
        if let Some((then, part)) = self.pending.take() {
            let part = self.leading(then, part, want);
            self.say(then, part, text);
        } else if self.model.open {
            // The client has hung up, and nothing else came.
            let part = self.leading(at, ResponsePart::Ended(WatchEnd::Cut), want);
            self.say(at, part, text);
        }
        for _ in 0..MOST_ANSWERS {
            let part = match (self.model.wants(), want) {
                (Some(wanted), want) if wanted == want => return,
                (Some(RequestKind::Watch), _) => refused(410, "Expired"),
                (Some(RequestKind::Stream), RequestKind::List) => refused(422, "Invalid"),
                (Some(RequestKind::List), RequestKind::Stream) => not_reached(),
                (Some(RequestKind::List), RequestKind::Watch)
                    if self.listed == 0 && self.model.number == 1 =>
                {
                    // A watch without a list before it.
                    ResponsePart::Page(Page::default())
                }
                _ => break,
            };
            self.say(at, part, text);
        }
        self.stop(at, Stopped::Unlike, text);
    }

    /// The end of a request, or one in its place after which the reflector does as the controller did.
    fn leading(&self, at: Time, end: ResponsePart, want: RequestKind) -> ResponsePart {
        let model = &self.model;
        let now = model.now.max(Duration::from_millis(at));
        let barely = matches!(end, ResponsePart::Ended(_))
            && !model.heard
            && now.saturating_sub(model.opened) < BARELY_SHORT;
        let leads = |part: &ResponsePart| {
            let mut model = model.clone();
            model.take(at, part);
            model.wants() == Some(want)
        };
        let others = match model.open {
            true => [
                error(429, "TooManyRequests"),
                error(410, "Expired"),
                error(500, "InternalError"),
            ],
            false => [
                not_reached(),
                refused(410, "Expired"),
                refused(422, "Invalid"),
            ],
        };
        if !barely && leads(&end) {
            return end;
        }
        others.into_iter().find(leads).unwrap_or(end)
    }

    /// Writes one answer to the reflector's request.
    fn say(&mut self, at: Time, part: ResponsePart, text: &mut String) {
        let request = self.model.number;
        self.model.take(at, &part);
        self.attempts = 0;
        self.answer(at, vec![ServerResponse { request, part }], text);
    }

    fn answer(&mut self, at: Time, batch: Vec<ServerResponse>, text: &mut String) {
        if batch.is_empty() || self.stopped.is_some() {
            return;
        }
        if self.head.is_some() {
            let kind = batch.iter().find_map(|response| kind_of(&response.part));
            // A watch may open long before its first object.
            let kind = kind.map_or_else(String::new, |types| types.kind.clone());
            self.begin(&kind, text);
        }
        self.answers += 1;
        let input = RecordedInput {
            after: usize::MAX,
            at,
            input: Input::Source(Command::Respond(batch.into())),
        };
        self.write(at, trace::lines(&input), text);
    }

    fn note(&mut self, note: &Note, text: &mut String) {
        if self.stopped.is_some() {
            return;
        }
        if self.head.is_some() {
            self.early.push(note.clone());
            return;
        }
        self.write(note.at(), [note.line()], text);
    }

    fn begin(&mut self, kind: &str, text: &mut String) {
        if let Some(head) = self.head.take() {
            let before = text.len();
            let head = trace::head(&head(kind));
            // Whether it goes on is to be known as soon as there is a scenario.
            let (first, rest) = head.split_once('\n').unwrap_or((&head, ""));
            let _ = writeln!(text, "{first}");
            let (goes_on, early) = std::mem::take(&mut self.early)
                .into_iter()
                .partition(|note| matches!(note, Note::GoesOn { .. }));
            let say = |notes: Vec<Note>, text: &mut String| {
                for note in notes {
                    let _ = writeln!(text, "{}", note.line());
                }
            };
            say(goes_on, text);
            text.push_str(rest);
            say(early, text);
            self.written += text.len() - before;
            let lines = text[before..].lines();
            let values = lines.filter_map(|line| serde_json::from_str(line).ok());
            self.weight += values.map(|value| bounds::weight(&value)).sum::<usize>();
        }
    }

    /// Writes lines, unless the trace could not be opened with them: then it stops.
    fn write(&mut self, at: Time, lines: impl IntoIterator<Item = Value>, text: &mut String) {
        let before = text.len();
        for line in lines {
            let from = text.len();
            let _ = writeln!(text, "{line}");
            self.weight += bounds::weight(&line);
            if text.len() - from > MAX_LINE
                || self.written + text.len() - before > MAX_BYTES - LAST
                || self.weight > MAX_READ - LAST
                || self.answers > MAX_RESPONSES
            {
                text.truncate(before);
                return self.stop(at, Stopped::Full, text);
            }
        }
        self.written += text.len() - before;
    }

    /// Ends the recording, and says so in it.
    fn stop(&mut self, at: Time, why: Stopped, text: &mut String) {
        if self.stopped.is_none() {
            self.begin("", text);
            self.stopped = Some(why);
            text.push_str(&stopped(at, why));
        }
    }
}

/// The line with which a recording says that it does not go on.
#[must_use]
pub fn stopped(at: Time, why: Stopped) -> String {
    format!("{}\n", Note::Stopped { at, why }.line())
}

/// The kind of the objects of a part, if it has any.
#[must_use]
pub fn kind_of(part: &ResponsePart) -> Option<&TypeMeta> {
    let object = match part {
        ResponsePart::Page(page) => page.items.first()?,
        ResponsePart::Event(RecordedEvent::Object { object, .. }) => object,
        _ => return None,
    };
    object.types.as_ref()
}

fn error(code: u16, reason: &str) -> ResponsePart {
    ResponsePart::Event(RecordedEvent::Error {
        code,
        reason: reason.to_owned(),
        message: INSTEAD.to_owned(),
        causes: Vec::new(),
    })
}

fn refused(code: u16, reason: &str) -> ResponsePart {
    ResponsePart::Refused(ApiError::from_status(code, reason, INSTEAD, []))
}

fn not_reached() -> ResponsePart {
    ResponsePart::Refused(ApiError::new(ApiErrorKind::ConnectionRefused, INSTEAD))
}

/// The message of an answer that no server gave.
const INSTEAD: &str = "deltascope tap: after this the reflector asks what the controller asked";

#[cfg(test)]
mod tests;
