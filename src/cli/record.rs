//! `deltascope record`: runs an informer against a cluster, and writes what it received as a trace from which the
//! same run can be replayed.

mod output;

use deltascope_world::text;
use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope_presentation::cluster::{self, Options};
use deltascope_replay::recording::{RecordedInput, Recording};
use deltascope_replay::scramble::{Scramble, scramble_trace};
use deltascope_replay::tap::call::Scope;
use deltascope_replay::tap::note::Note;
use deltascope_replay::timeline::{Numbering, Timeline};
use deltascope_replay::trace::{self, Trace};
use deltascope_terminal as terminal;
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::{Asked, Live, ResponsePart, ServerResponse};
use deltascope_world::source::proxy::discovery::{self, Discovery};
use deltascope_world::source::proxy::exchange::{Deadlines, End, Event, Exchange, Head, Phase};
use deltascope_world::source::proxy::list;
use deltascope_world::source::proxy::request::{self, HttpRequest};
use deltascope_world::source::proxy::target::{Resource, Target};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::{MAX_BYTES, RecordedEvent};
use deltascope_world::text::{Lang, Text};
use deltascope_world::virtual_time::Input;
use deltascope_world::{Time, in_lang};

use super::args::{Part, Record};
use super::http::{Proxy, Unreachable, head_of};
use super::report::counted;
use super::{Exit, Failure, block_on, cannot_print, note, stopped, wall};

use output::{Output, Progress};

/// Who asks.
const AGENT: &str = concat!("deltascope/", env!("CARGO_PKG_VERSION"));
/// Timeout of a small request: `kubectl proxy` opens a connection first.
const ANSWER: Duration = Duration::from_secs(10);
/// How many facts are computed before the connection is polled again.
const SLICE: usize = 10_000;
/// About how many facts are kept (at most half as many more). Nothing here reads them, but the world's checkpoints
/// depend on them.
const KEPT: usize = 20_000;
/// Most bytes of the cluster's responses that are kept.
const WEIGHS: usize = 64 << 20;
/// Most facts of a trace that can be opened from beginning to end.
const OPENS: usize = deltascope_presentation::session::FAR;
/// How often the progress is shown on a terminal, where it replaces itself, in ms.
const SHOWN: Time = 500;
/// How often the progress is shown elsewhere, as a line that stays, in ms.
const LOGGED: Time = 5_000;

/// Records until the end that the options set, Ctrl-C or an error.
pub(super) fn run(options: &Record, lang: Lang) -> Result<(), Failure> {
    block_on(record(options, lang))
}

async fn record(options: &Record, lang: Lang) -> Result<(), Failure> {
    let began = Instant::now();
    let ready = async {
        let target = target(options).await?;
        let wanted = wanted(options);
        if let Some(said) = cluster::left_out(&target, &wanted) {
            note(said.get(lang));
        }
        let scenario = cluster::scenario(&target, &wanted, seed());
        let title = cluster::title(&target);
        Recorder::begin(options, target, scenario, &title, lang)
    };
    let over = async {
        match options.r#for {
            Some(ms) => sleep(Duration::from_millis(ms)).await,
            None => std::future::pending().await,
        }
    };
    let stop = stopped();
    tokio::pin!(stop);
    let mut recorder = tokio::select! {
        recorder = ready => recorder?,
        () = over => {
            let why = options.proxy.down(&"no answer in time");
            return Err(Failure::of(why).with(Exit::Unreachable));
        }
        () = &mut stop => return Ok(()),
    };
    // What it took to find the resource counts, too.
    let ms = Time::try_from(began.elapsed().as_millis()).unwrap_or(Time::MAX);
    recorder.until = options.r#for.map(|all| all.saturating_sub(ms));
    recorder.run(stop).await
}

/// Seeds the jitter of this recording's backoff.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the standard library's only source of randomness, and here it is wanted"
)]
fn seed() -> u32 {
    let [_, _, _, _, seed @ ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes(seed)
}

/// The options as the page's dialog has them.
fn wanted(options: &Record) -> Options {
    let default = Options::default();
    let indices = options.index.join(",");
    Options {
        base: options.proxy.to_string(),
        resource: options.resource.clone(),
        namespace: options.namespace.clone().unwrap_or_default(),
        label_selector: options.selector.clone(),
        field_selector: options.field_selector.clone(),
        metadata_only: match (options.metadata_only, options.full) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        indices: if indices.is_empty() {
            default.indices
        } else {
            cluster::index_names(&indices)
        },
        era: options.era.unwrap_or(default.era),
        resync_ms: options.resync.unwrap_or(default.resync_ms),
    }
}

// --- preparations -------------------------------------------------------------------------------

/// Finds the resource to watch.
async fn target(options: &Record) -> Result<Target, Failure> {
    let wanted = wanted(options);
    let resources = discover(&options.proxy).await?;
    let resource: &Resource = discovery::find(&resources, &wanted.resource).map_err(Failure::of)?;
    let mut target = wanted.target(resource);
    let wrong = |words| Failure::of(words).with(Exit::Usage);
    target.check().map_err(wrong)?;
    if wanted.metadata_only.is_none() {
        // Whole objects if the server does not report a count.
        let count = match request::count(&target) {
            Ok(asked) => get(&options.proxy, &asked).await.ok(),
            Err(_) => None,
        };
        let count =
            count.and_then(|(head, body)| (head.status == 200).then(|| list::count(&body))?);
        target.metadata_only = wanted.is_metadata_only(count);
    }
    Ok(target)
}

async fn discover(proxy: &Proxy) -> Result<Vec<Resource>, Failure> {
    let mut discovery = Discovery::new(&proxy.to_string());
    let (mut denied, mut answers) = (0, false);
    while let Some(ask) = discovery.next_ask() {
        match get(proxy, &ask.request).await {
            Ok((head, body)) => {
                if matches!(head.status, 401 | 403) {
                    denied = head.status;
                }
                discovery.answer(ask.id, Ok((&head, &body)));
                answers = true;
            }
            // There is no proxy; other requests would fail as well.
            Err(lost @ (Lost::Unreachable(_) | Lost::Late)) if !answers => {
                return Err(Failure::of(proxy.down(&lost)).with(Exit::Unreachable));
            }
            Err(lost) => discovery.answer(ask.id, Err(&lost.to_string())),
        }
    }
    let found = discovery.finish();
    match found.errors.first() {
        // An API server answers, and denies access.
        Some(_) if found.resources.is_empty() && denied == 401 => Err(Failure::new(
            "The API server does not take the proxy's credentials (401). Log in again (kubectl get namespaces shows whether it works) and restart kubectl proxy.",
            "API server 不接受代理的凭据（401）。请重新登录（用 kubectl get namespaces 检验）并重启 kubectl proxy。",
        )),
        Some(words) if found.resources.is_empty() && denied > 0 => Err(Failure::of(words.clone())),
        Some(words) if found.resources.is_empty() => {
            Err(Failure::of(proxy.has_no_api(words)).with(Exit::Unreachable))
        }
        _ => Ok(found.resources),
    }
}

/// Why a small request has no answer.
enum Lost {
    Unreachable(Unreachable),
    Late,
    Broken,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(error) => error.fmt(f),
            Self::Late => write!(f, "nothing came for {} s", ANSWER.as_secs()),
            Self::Broken => f.write_str("the answer broke off, or is too long"),
        }
    }
}

/// The complete response to a small request.
async fn get(proxy: &Proxy, asked: &HttpRequest) -> Result<(Head, Bytes), Lost> {
    let answer = async {
        let sent = proxy.send(get_of(asked)).await;
        let (head, body) = sent.map_err(Lost::Unreachable)?.into_parts();
        let body = Limited::new(body, discovery::MAX_BODY).collect().await;
        let body = body.map_err(|_| Lost::Broken)?.to_bytes();
        Ok((head_of(head.status.as_u16(), &head.headers), body))
    };
    timeout(ANSWER, answer).await.unwrap_or(Err(Lost::Late))
}

fn get_of(asked: &HttpRequest) -> Request<Empty<Bytes>> {
    let mut request = Request::new(Empty::new());
    // Both were made of checked input: they are a URL and a header value.
    *request.uri_mut() = asked.url.parse().unwrap_or_default();
    let headers = request.headers_mut();
    if let Ok(accept) = HeaderValue::from_str(&asked.accept) {
        headers.insert(ACCEPT, accept);
    }
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request
}

// --- the connection -----------------------------------------------------------------------------

/// The open request. Dropping it closes its connection.
enum Connection {
    None,
    Sent(Pin<Box<dyn Future<Output = Result<Response<Incoming>, Unreachable>>>>),
    Answered(Incoming),
}

impl Connection {
    fn open(proxy: &Proxy, asked: &HttpRequest) -> Self {
        let (proxy, request) = (proxy.clone(), get_of(asked));
        Self::Sent(Box::pin(async move { proxy.send(request).await }))
    }

    /// Waits for the next event; forever if there is no request. It is cancel-safe.
    async fn next(&mut self) -> Event<Bytes> {
        let (next, event) = match self {
            Self::None => std::future::pending().await,
            Self::Sent(answer) => match answer.await {
                Ok(answer) => {
                    let (head, body) = answer.into_parts();
                    let head = head_of(head.status.as_u16(), &head.headers);
                    (Self::Answered(body), Event::Head(head))
                }
                Err(error) => (Self::None, Event::End(End::Broken(error.to_string()))),
            },
            Self::Answered(body) => loop {
                match body.frame().await {
                    Some(Ok(frame)) => {
                        if let Ok(chunk) = frame.into_data() {
                            return Event::Chunk(chunk);
                        }
                    }
                    Some(Err(error)) => {
                        let why = Unreachable::Http(error).to_string();
                        break (Self::None, Event::End(End::Broken(why)));
                    }
                    None => break (Self::None, Event::End(End::Complete)),
                }
            },
        };
        *self = next;
        event
    }
}

// --- the recorder -------------------------------------------------------------------------------

struct Recorder<'a> {
    options: &'a Record,
    lang: Lang,
    target: Target,
    began: Instant,
    timeline: Timeline,
    exchange: Option<Exchange>,
    connection: Connection,
    out: Output,
    /// When it ends.
    until: Option<Time>,
    /// The beginning of each file: title, scenario and start.
    head: Trace,
    base: Base,
    /// The whole trace, if names are scrambled: all names must be known first.
    kept: Option<Trace>,
    progress: Option<Progress>,
    /// A problem that was reported and still holds.
    trouble: Option<Text>,
    /// Whether a list or a watch has succeeded.
    listed: bool,
    /// How many watch events of objects were received, without bookmarks.
    events: u64,
}

/// Where the current file begins.
#[derive(Default)]
struct Base {
    /// How many facts precede it.
    forgotten: u64,
    /// The numbers of requests in the file.
    numbering: Option<Numbering>,
    /// The file's size once its beginning was written, which holds the cluster's objects of that time.
    size: usize,
}

/// Why a recording ends.
enum Over {
    /// The options ask for its end.
    Asked,
    /// The user pressed Ctrl-C.
    Stopped,
    /// The reader of stdout closed it.
    Unread,
    /// A longer trace could not be opened.
    Full,
}

impl<'a> Recorder<'a> {
    fn begin(
        options: &'a Record,
        target: Target,
        scenario: Scenario,
        title: &Text,
        lang: Lang,
    ) -> Result<Self, Failure> {
        let timeline = Timeline::live(scenario.clone())
            .map_err(|error| Failure::of(text!("{error}", "无法运行：{error}")))?;
        let series = options.rotate.and(options.output.as_deref());
        let out = match series {
            Some(path) => Output::series(path, options.keep)?,
            None => Output::open(options.output.as_deref())?,
        };
        let trace = Trace {
            lesson: "".into(),
            title: title.clone(),
            at: None,
            start: wall(),
            recording: Recording::of(scenario),
        };
        let [out_on_terminal, on_terminal] = terminal::are_terminals();
        // On one terminal the trace and the progress would mix.
        let apart = options.output.is_some() || !out_on_terminal;
        let mut recorder = Self {
            options,
            lang,
            target,
            began: Instant::now(),
            timeline,
            exchange: None,
            connection: Connection::None,
            out,
            base: Base::default(),
            until: options.r#for,
            kept: (!options.scramble.is_empty()).then(|| trace.clone()),
            progress: (options.progress || (on_terminal && apart)).then_some(Progress {
                in_place: on_terminal,
                next: 0,
            }),
            trouble: None,
            listed: false,
            events: 0,
            head: trace,
        };
        let mut head = trace::head(&recorder.head);
        let _ = writeln!(head, "{}", recorder.informer());
        match recorder.write(&head) {
            // If the reader has closed stdout, the next write reports it.
            Ok(_) => Ok(recorder),
            Err(error) => Err(cannot_print(&error)),
        }
    }

    /// Writes at once, unless names are scrambled. Returns false if the reader has closed stdout.
    fn write(&mut self, text: &str) -> io::Result<bool> {
        if self.kept.is_some() {
            self.out.written += text.len();
            return Ok(true);
        }
        self.out.write(text)
    }

    /// The line that says whose informer it is, and of what. A scrambled trace has none.
    fn informer(&self) -> Value {
        let scope = Scope::of(&self.target);
        Note::Informer {
            agent: AGENT.into(),
            scope,
        }
        .line()
    }

    fn now(&self) -> Time {
        Time::try_from(self.began.elapsed().as_millis()).unwrap_or(Time::MAX)
    }

    fn at(&self, time: Time) -> Instant {
        // An `Instant` cannot be arbitrarily far in the future.
        let far = Duration::from_hours(24);
        self.began + Duration::from_millis(time).min(self.began.elapsed() + far)
    }

    async fn run(&mut self, mut stop: Pin<&mut impl Future<Output = ()>>) -> Result<(), Failure> {
        let over = loop {
            if let Some(over) = self.turn() {
                break Ok(over);
            }
            let due = self.at(self.due());
            let responses = tokio::select! {
                biased;
                () = &mut stop => break Ok(Over::Stopped),
                event = self.connection.next() => self.response_event(event),
                () = sleep_until(due) => self.timeout(),
            };
            match self.take(responses) {
                Ok(None) => {}
                Ok(Some(over)) => break Ok(over),
                Err(error) => break Err(cannot_print(&error)),
            }
        };
        self.connection = Connection::None;
        if let Some(progress) = &self.progress {
            progress.end();
        }
        let over = over?;
        self.write_kept().map_err(|error| cannot_print(&error))?;
        self.finish(over)
    }

    /// Writes the trace with scrambled names, now that all names are known.
    fn write_kept(&mut self) -> io::Result<()> {
        let Some(kept) = self.kept.take() else {
            return Ok(());
        };
        let chosen = |part| self.options.scramble.contains(&part);
        let what = Scramble {
            names: chosen(Part::Names),
            labels: chosen(Part::Labels),
        };
        self.out
            .write(&trace::write(&scramble_trace(&kept, what)))?;
        Ok(())
    }

    /// Advances the run to now, and opens the request that the reflector wants.
    fn turn(&mut self) -> Option<Over> {
        let now = self.now();
        let until = self.until.map_or(now, |end| end.min(now));
        while !self.timeline.go_to(until, SLICE) {}
        self.forget();
        if self.until.is_some_and(|end| end <= now) {
            return Some(Over::Asked);
        }
        if self.facts() - self.base.forgotten >= OPENS as u64 {
            return Some(Over::Full);
        }
        let wanted = self.live().and_then(Live::wanted);
        let number = self.exchange.as_ref().map(Exchange::number);
        if number != wanted.as_ref().map(|wanted| wanted.request) {
            self.connection = Connection::None;
            let new = |wanted| Exchange::new(&self.target, &wanted, Deadlines::default(), now);
            self.exchange = wanted.map(new);
        }
        match self
            .exchange
            .as_mut()
            .map(|exchange| (exchange.phase(), exchange))
        {
            Some((Phase::Send, exchange)) => {
                self.connection = Connection::open(&self.options.proxy, &exchange.request());
                exchange.sent(now);
            }
            Some((Phase::Reading, _)) => {}
            _ => self.connection = Connection::None,
        }
        if let Some(exchange) = &self.exchange
            && let Some((what, _)) = exchange.excess()
        {
            let text = cluster::excess(what, None, exchange.looks_every(), &self.target);
            self.troubled(Some(text));
        }
        self.show(now);
        None
    }

    fn live(&self) -> Option<&Live> {
        match self.timeline.source() {
            AnySource::Live(live) => Some(live),
            _ => None,
        }
    }

    /// How many facts there were since the beginning.
    fn facts(&self) -> u64 {
        self.timeline.forgotten() + self.timeline.len() as u64
    }

    fn due(&self) -> Time {
        let dues = [
            self.exchange.as_ref().and_then(Exchange::due),
            self.timeline.next_moment(),
            self.until,
            self.progress.as_ref().map(|progress| progress.next),
        ];
        dues.into_iter().flatten().min().unwrap_or(Time::MAX)
    }

    fn response_event(&mut self, event: Event<Bytes>) -> Vec<ServerResponse> {
        let now = self.now();
        let exchange = self.exchange.as_mut();
        exchange.map_or_else(Vec::new, |exchange| exchange.take(now, event))
    }

    fn timeout(&mut self) -> Vec<ServerResponse> {
        let now = self.now();
        let exchange = self.exchange.as_mut();
        exchange.map_or_else(Vec::new, |exchange| exchange.timeout(now))
    }

    /// Passes responses to the world, and writes them as the world took them.
    fn take(&mut self, mut responses: Vec<ServerResponse>) -> io::Result<Option<Over>> {
        let enough = self.count(&mut responses);
        if !responses.is_empty() {
            let before = self.timeline.forgotten();
            let input = Input::Source(Command::Respond(responses.into()));
            self.timeline.take(self.now(), input);
            if let Some(taken) = self.timeline.inputs().last() {
                let mut text = String::new();
                // The timeline may have forgotten its beginning, which the first file still holds.
                let mut taken = RecordedInput {
                    after: usize::try_from(before)
                        .unwrap_or(usize::MAX)
                        .saturating_add(taken.after),
                    ..taken.clone()
                };
                if let Some(numbering) = self.base.numbering {
                    numbering.input(&mut taken);
                }
                trace::input(&mut text, &taken);
                if self.is_long(text.len()) && self.rotate()? {
                    return Ok(enough.then_some(Over::Asked));
                }
                if self.out.written + text.len() > MAX_BYTES {
                    return Ok(Some(Over::Full));
                }
                if let Some(kept) = &mut self.kept {
                    kept.recording.inputs.push(taken);
                }
                if !self.write(&text)? {
                    return Ok(Some(Over::Unread));
                }
            }
        }
        Ok(enough.then_some(Over::Asked))
    }

    /// Whether to begin another file. A file that is large at its beginning may grow by as much.
    fn is_long(&self, more: usize) -> bool {
        let facts = self.facts() - self.base.forgotten;
        self.options.rotate.is_some_and(|size| {
            let most = size.max(self.base.size * 2).min(MAX_BYTES);
            self.out.written + more > most || facts > OPENS as u64 / 2
        })
    }

    /// Begins another file, with the objects that the cluster had when the watch was last known to be open.
    /// Returns false if that is in the current file.
    fn rotate(&mut self) -> io::Result<bool> {
        self.timeline.forget(0);
        let forgotten = self.timeline.forgotten();
        if forgotten == self.base.forgotten {
            return Ok(false);
        }
        let trace = Trace {
            recording: self.timeline.recording(),
            ..self.head.clone()
        };
        self.out.begin_next()?;
        self.write(&format!("{}{}\n", trace::write(&trace), self.informer()))?;
        self.out.drop_oldest()?;
        self.base = Base {
            forgotten,
            numbering: self.timeline.numbering(),
            size: self.out.written,
        };
        Ok(true)
    }

    /// Counts the events, drops those beyond the limit, and returns whether the limit is reached.
    fn count(&mut self, responses: &mut Vec<ServerResponse>) -> bool {
        let most = self.options.max_events.unwrap_or(u64::MAX);
        let mut kept = 0;
        let wanted = self.live().and_then(Live::wanted);
        let streams = matches!(
            wanted.map(|wanted| wanted.ask),
            Some(Asked::Watch(watch)) if watch.send_initial_events == Some(true)
        );
        for response in &*responses {
            if self.events == most {
                break;
            }
            kept += 1;
            let mut trouble = self.trouble.clone();
            match &response.part {
                // An expired version is no problem: the reflector lists again.
                ResponsePart::Event(RecordedEvent::Error { code: 410, .. }) => continue,
                // Nor is a server without streaming lists: it lists, and watches.
                ResponsePart::Refused(ApiError { code: 422, .. }) if streams => continue,
                ResponsePart::Event(RecordedEvent::Object { .. }) => self.events += 1,
                ResponsePart::Page(_) | ResponsePart::Opened => self.listed = true,
                _ => {}
            }
            match &response.part {
                ResponsePart::Refused(error) if error.kind == ApiErrorKind::ConnectionRefused => {
                    trouble = Some(self.options.proxy.down(&error.message));
                }
                part => cluster::note(&mut trouble, part, &self.target),
            }
            self.troubled(trouble);
        }
        responses.truncate(kept);
        self.events == most
    }

    /// Reports a problem, once.
    fn troubled(&mut self, trouble: Option<Text>) {
        if trouble.is_some() && trouble != self.trouble {
            if let Some(progress) = &self.progress {
                progress.end();
            }
            note(trouble.as_ref().map_or("", |text| text.get(self.lang)));
        }
        self.trouble = trouble;
    }

    fn forget(&mut self) {
        let known = self.timeline.len();
        if known > KEPT + KEPT / 2 {
            self.timeline.forget(KEPT);
        } else if self.timeline.weight() > WEIGHS {
            self.timeline.forget(known / 2);
        }
    }

    fn show(&mut self, now: Time) {
        let Some(progress) = self
            .progress
            .as_mut()
            .filter(|progress| progress.next <= now)
        else {
            return;
        };
        progress.next = now + if progress.in_place { SHOWN } else { LOGGED };
        let heard = self.exchange.as_ref().map(Exchange::last_heard);
        let kb = self.out.written / 1_000;
        let quiet = now.saturating_sub(heard.unwrap_or(now)) / 1_000;
        let so_far = self.so_far();
        let text = in_lang!(
            self.lang,
            "{so_far}, {kb} KB, last data {quiet} s ago (Ctrl-C ends)",
            "{so_far}，{kb} KB，{quiet} 秒前有消息（按 Ctrl-C 结束）"
        );
        if let Some(progress) = &self.progress {
            progress.say(&text);
        }
    }

    /// How many objects there are.
    fn objects(&self) -> usize {
        self.live().map_or(0, |live| live.objects().count())
    }

    /// What was recorded so far.
    fn so_far(&self) -> String {
        let (objects, events) = (self.objects() as u64, self.events);
        let title = cluster::title(&self.target);
        let title = title.get(self.lang);
        in_lang!(
            self.lang,
            (
                "{title}: {}, {}",
                counted(objects, "object"),
                counted(events, "event")
            ),
            "{title}：{objects} 个对象，{events} 个事件"
        )
    }

    /// Says at the end what was recorded, where that mixes with no trace, and what to do with it.
    fn say_all(&self) {
        if let Some(path) = self.out.path() {
            let (so_far, path) = (self.so_far(), path.display().to_string());
            let path = terminal::word(&path);
            let (see, look) = match self.out.went_on() {
                true => ("The last file shows the end", "查看最后一个文件"),
                false => ("See them with", "查看"),
            };
            note(&in_lang!(
                self.lang,
                "{so_far}. {see}: deltascope replay {path}",
                "{so_far}。{look}：deltascope replay {path}"
            ));
        } else if self.progress.is_some() {
            note(&self.so_far());
        }
        if let Some(namespace) = &self.target.namespace
            && self.objects() == 0
            && self.events == 0
            && self.target.label_selector.is_empty()
            && self.target.field_selector.is_empty()
        {
            let name = self.target.resource.name();
            note(&in_lang!(
                self.lang,
                "There are no {name} in {namespace}: is there such a namespace?",
                "{namespace} 中没有 {name}：有这个命名空间吗？"
            ));
        }
    }

    fn finish(&mut self, over: Over) -> Result<(), Failure> {
        match over {
            Over::Unread => return Ok(()),
            _ if self.listed => self.say_all(),
            Over::Full => {}
            Over::Asked | Over::Stopped => self.out.remove(),
        }
        match over {
            Over::Full => Err(Failure::new(
                "The recording ends here: a longer one could not be opened. Watch less (a namespace, a selector, --metadata-only) to record for longer.",
                "录制到此结束：再长就无法打开。缩小范围（命名空间、选择器、--metadata-only）可以录得更久。",
            )),
            Over::Asked if self.listed => Ok(()),
            // What is wrong is said already.
            Over::Asked if self.trouble.is_some() => {
                Err(Failure::new("Nothing is recorded.", "没有录到任何内容。"))
            }
            Over::Asked => Err(Failure::new(
                "The API server did not answer in time: nothing is recorded.",
                "API server 未及时应答：没有录到任何内容。",
            )),
            Over::Stopped | Over::Unread => Ok(()),
        }
    }
}
