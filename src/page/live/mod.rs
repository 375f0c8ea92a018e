//! A real cluster, in the browser: sends the requests of the session's reflector with `fetch`, and passes the
//! responses to the session as they arrive.

pub mod fetch;
pub mod tabs;
pub mod tapped;
mod together;

use std::cell::{RefCell, RefMut};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use serde_json::Value;

use crate::animate::now;
use crate::driver::Driver;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope_presentation::cluster::{
    self, BASES, Clock, Options, Phase, Probe, Status, Tab, Tried, base_of, left_out, scenario,
    title, trouble,
};
use deltascope_presentation::session::Session;
use deltascope_presentation::session::live::LiveRun;
use deltascope_world::Time;
use deltascope_world::source::live::{Asked, ResponsePart, ServerResponse};
use deltascope_world::source::proxy::discovery::{self, Ask, Discovery, Found};
use deltascope_world::source::proxy::exchange::{self, Deadlines, Event, Exchange};
use deltascope_world::source::proxy::list;
use deltascope_world::source::proxy::request::{self, HttpRequest};
use deltascope_world::source::proxy::target::Target;
use deltascope_world::text::Text;
use fetch::{Answer, Connection, NoAnswer};
use together::{Tabs, Together};

/// How long the answer to a small request may take, in ms: kubectl proxy opens a connection first.
const ANSWER_MS: u32 = 10_000;
/// The same if the connected tabs use all of the browser's connections to the server.
const CROWDED_MS: u32 = 2_000;
/// How many connections a browser opens to one server over HTTP/1.1.
const CONNECTIONS: usize = 6;
/// A server's version has about 400 bytes. A page that a web server sends instead has more.
const VERSION_MOST: usize = 256 * 1024;
/// A server with hundreds of kinds describes them in a few MB; ten thousand namespaces take 10 MB.
const ANSWER_MOST: usize = 32 * 1024 * 1024;
/// How often the badge is updated, in ms.
const STATUS_MS: Time = 500;
/// How many slices of due work a hidden page does at once: as much as a visible page does in the second until a
/// hidden page's next timer.
const HIDDEN_SLICES: usize = 100;

/// What [`connect`] returns.
pub type Connects = Pin<Box<dyn Future<Output = Result<(), Text>>>>;

/// Connects as a script asks.
#[must_use]
pub fn connect(link: Link, options: Value) -> Connects {
    Box::pin(async move { link.connect(Options::from_json(options)?).await })
}

/// The connections of the page, each in a tab; copies share them.
#[derive(Clone, Copy)]
pub struct Link {
    driver: StoredValue<Driver, LocalStorage>,
    /// The tabs; none until something is connected.
    inner: StoredValue<Option<Rc<dyn Tabs>>, LocalStorage>,
    /// The state of the connection of the tab that is shown.
    pub status: RwSignal<Status>,
    /// The tabs, in their order.
    pub tabs: RwSignal<Vec<Tab>>,
}

/// A tab: a session and its connection.
struct Inner {
    id: u64,
    all: Weak<Together>,
    driver: Driver,
    /// The session, while another tab is shown: then the driver does not have it.
    parked: RefCell<Option<Session>>,
    /// What was watched last.
    target: RefCell<Option<Rc<Target>>>,
    wire: RefCell<Option<Wire>>,
    /// The next timer, and when it fires.
    timer: RefCell<Option<(Time, Timeout)>>,
}

/// The connection and its requests.
struct Wire {
    target: Rc<Target>,
    clock: Clock,
    exchange: Option<Exchange>,
    connection: Option<Connection>,
    /// Whether the requested watch is open.
    opened: bool,
    /// Whether the request is a watch.
    is_watch: bool,
    trouble: Option<Text>,
    /// Lets the other tabs know that this one is connected.
    _connected: tabs::Connected,
}

impl Link {
    /// The link of the current context. Panics if there is none.
    #[must_use]
    pub fn get() -> Self {
        expect_context::<Self>()
    }

    /// What is being watched, and where.
    #[must_use]
    pub fn target(self) -> Option<Rc<Target>> {
        self.inner.get_value()?.target()
    }

    /// Looks for the API and the resource, then begins a run.
    ///
    /// # Errors
    /// Says what is missing, and what to do; also if the run has begun without a part of what was asked for.
    pub async fn connect(self, mut options: Options) -> Result<(), Text> {
        let base = here(&options.base)?;
        let base = find(&base).await.map_err(|tried| {
            let missing = deltascope_presentation::cluster::missing(&tried);
            let add = |text: &str| match missing.command {
                Some(command) => format!("{text} {command}"),
                None => text.to_owned(),
            };
            Text::new(&add(&missing.what.en), &add(&missing.what.zh))
        })?;
        options.base = base.base.to_string();
        let Found { resources, errors } = discover(&options.base).await;
        if let (true, Some(error)) = (resources.is_empty(), errors.first()) {
            return Err(error.clone());
        }
        let resource = discovery::find(&resources, &options.resource);
        let resource = resource?;
        let mut target = options.target(resource);
        if options.metadata_only.is_none() {
            target.metadata_only = options.is_metadata_only(count(&target).await.ok().flatten());
        }
        let said = left_out(&target, &options);
        self.begin(target, options, false).await?;
        match said {
            Some(said) => Err(said),
            None => Ok(()),
        }
    }

    /// Begins a live run, in the tab that is shown or in one beside it.
    ///
    /// # Errors
    /// The target cannot be expressed as a request, or there is no room for another tab.
    pub async fn begin(self, target: Target, options: Options, beside: bool) -> Result<(), Text> {
        self.made().begin(target, options, beside).await
    }
}

impl Inner {
    /// Whether this tab is shown.
    fn is_shown(&self) -> bool {
        self.parked.borrow().is_none()
    }

    /// The tab's session, wherever it is. Not inlined: it is used often.
    #[inline(never)]
    fn session(&self) -> RefMut<'_, Session> {
        RefMut::filter_map(self.parked.borrow_mut(), Option::as_mut)
            .unwrap_or_else(|_| self.driver.session())
    }

    /// Begins a live run.
    async fn begin(&self, target: Target, options: &Options) {
        self.close();
        let run = LiveRun {
            title: title(&target),
            scenario: scenario(&target, options, seed()),
            start: Some(wall()),
        };
        let target = Rc::new(target);
        self.target.replace(Some(Rc::clone(&target)));
        *self.wire.borrow_mut() = Some(Wire {
            target,
            clock: Clock::new(now()),
            exchange: None,
            connection: None,
            opened: false,
            is_watch: false,
            trouble: None,
            _connected: tabs::Connected::now(),
        });
        self.driver.show_stage();
        self.driver
            .act_now(Box::new(|session| session.connect(run)))
            .await;
    }

    /// Opens the request that the session wants, and aborts any other.
    fn turn(self: &Rc<Self>) {
        if self.wire.borrow().is_none() {
            return;
        }
        if !self.session().is_live() {
            return self.close();
        }
        let wanted = self.session().live_wanted();
        if let Some(wire) = &mut *self.wire.borrow_mut() {
            let now = wire.now();
            let number = wire.exchange.as_ref().map(Exchange::number);
            if number != wanted.as_ref().map(|wanted| wanted.request) {
                wire.connection = None;
                wire.opened = false;
                wire.is_watch =
                    (wanted.as_ref()).is_some_and(|wanted| matches!(wanted.ask, Asked::Watch(_)));
                let new = |wanted| Exchange::new(&wire.target, &wanted, Deadlines::default(), now);
                wire.exchange = wanted.map(new);
            }
            match (&mut wire.exchange, wire.connection.is_some()) {
                (Some(exchange), _) if exchange.phase() == exchange::Phase::Send => {
                    let HttpRequest { url, accept } = exchange.request();
                    exchange.sent(now);
                    let weak = Rc::downgrade(self);
                    let on = move |event| {
                        if let Some(inner) = weak.upgrade() {
                            inner.response_event(event);
                        }
                    };
                    let driver = self.driver.clone();
                    let waits = move || driver.draws();
                    wire.connection = Some(Connection::open(url, accept, waits, on));
                }
                (Some(exchange), true) if exchange.phase() == exchange::Phase::Reading => {}
                _ => wire.connection = None,
            }
        }
        self.say();
        self.schedule();
    }

    /// Handles an event of the open request.
    fn response_event(self: &Rc<Self>, event: Event<Vec<u8>>) {
        let responses = match &mut *self.wire.borrow_mut() {
            Some(wire) => wire.response_event(event),
            None => return,
        };
        self.deliver(responses);
    }

    fn deliver(self: &Rc<Self>, responses: Vec<ServerResponse>) {
        let Some(now) = self.wire.borrow_mut().as_mut().map(|wire| {
            wire.note(&responses);
            wire.now()
        }) else {
            return;
        };
        if !responses.is_empty() {
            self.session().live_received(now, responses);
            self.hold();
        }
        self.turn();
        if self.is_shown() {
            self.driver.keep_up();
        }
    }

    /// While the session is behind, data waits in the connection instead of in memory.
    fn hold(&self) {
        if let Some(wire) = &mut *self.wire.borrow_mut() {
            let latest = wire.clock.latest();
            wire.hold(is_busy(&self.session(), latest));
        }
    }

    /// Handles the timer: something may be due.
    fn tick(self: &Rc<Self>) {
        self.timer.borrow_mut().take();
        let responses = match &mut *self.wire.borrow_mut() {
            Some(wire) => {
                // Nothing is read while the connection is held, so this is not the server's silence.
                if wire.connection.as_ref().is_some_and(Connection::is_held) {
                    wire.hold(true);
                }
                let now = wire.now();
                match &mut wire.exchange {
                    Some(exchange) if exchange.due().is_some_and(|due| due <= now) => {
                        exchange.timeout(now)
                    }
                    _ => Vec::new(),
                }
            }
            None => return,
        };
        let now = self.wire.borrow_mut().as_mut().map_or(0, Wire::now);
        if responses.is_empty() {
            // Nobody watches a hidden page, and its timers are rare.
            let slices = if document().hidden() {
                HIDDEN_SLICES
            } else {
                1
            };
            let mut session = self.session();
            // Virtual time advances even when nothing is due.
            session.live_tick(now);
            for _ in 1..slices {
                if is_busy(&session, now) {
                    session.live_tick(now);
                }
            }
            drop(session);
            self.hold();
        }
        self.deliver(responses);
    }

    fn schedule(self: &Rc<Self>) {
        let (now, answer) = match &mut *self.wire.borrow_mut() {
            Some(wire) => (wire.now(), wire.exchange.as_ref().and_then(Exchange::due)),
            None => return,
        };
        let world = self.session().live_due();
        let dues = [answer, world, Some(now + STATUS_MS)];
        let due = dues
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_default()
            .max(now);
        let timer = &mut *self.timer.borrow_mut();
        if timer.as_ref().is_some_and(|(at, _)| *at <= due) {
            return;
        }
        let weak = Rc::downgrade(self);
        let wait = u32::try_from(due - now).unwrap_or(u32::MAX);
        let timeout = Timeout::new(wait, move || {
            if let Some(inner) = weak.upgrade() {
                inner.tick();
            }
        });
        *timer = Some((due, timeout));
    }

    /// The state of the connection.
    fn status(&self) -> Status {
        match &mut *self.wire.borrow_mut() {
            Some(wire) => wire.status(self.session().live_due()),
            None => Status::default(),
        }
    }

    /// Updates the badge, and the strip of tabs.
    fn say(&self) {
        if let Some(all) = self.all.upgrade() {
            all.say(self);
        }
    }

    fn close(&self) {
        self.wire.borrow_mut().take();
        self.timer.borrow_mut().take();
        self.say();
        if let Some(all) = self.all.upgrade() {
            all.list();
        }
    }
}

/// Seeds the jitter of a run's backoff.
fn seed() -> u32 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 1, times what fits"
    )]
    let seed = (js_sys::Math::random() * f64::from(u32::MAX)) as u32;
    seed
}

/// Wall-clock time, in ms since 1970.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative since 1970, and a cast saturates"
)]
fn wall() -> Time {
    js_sys::Date::now() as Time
}

/// Whether something is due already.
fn is_busy(session: &Session, now: Time) -> bool {
    session.live_due().is_some_and(|due| due <= now)
}

impl Wire {
    /// In ms since the run began.
    fn now(&mut self) -> Time {
        self.clock.at(now())
    }

    /// Holds or resumes the connection. The time while it was held does not count as the server's silence.
    fn hold(&mut self, held: bool) {
        let now = self.now();
        if let (Some(connection), Some(exchange)) = (&self.connection, &mut self.exchange)
            && (connection.hold(held) || held)
        {
            exchange.held(now);
        }
    }

    fn response_event(&mut self, event: Event<Vec<u8>>) -> Vec<ServerResponse> {
        let now = self.now();
        let Some(exchange) = &mut self.exchange else {
            return Vec::new();
        };
        if matches!(event, Event::End(_)) {
            self.connection = None;
        }
        exchange.take(now, event)
    }

    /// Keeps what the badge shows of these responses.
    fn note(&mut self, responses: &[ServerResponse]) {
        for response in responses {
            match &response.part {
                ResponsePart::Opened => self.opened = true,
                ResponsePart::Ended(_) => self.opened = false,
                _ => {}
            }
            cluster::note(&mut self.trouble, &response.part, &self.target);
        }
    }

    fn status(&mut self, due: Option<Time>) -> Status {
        let now = self.now();
        let left = |until: Time| Phase::Waiting(until.saturating_sub(now).div_ceil(1000));
        let phase = match &self.exchange {
            None => left(due.unwrap_or(now)),
            Some(exchange) => match exchange.phase() {
                exchange::Phase::Waiting(until) => left(until),
                _ if self.opened => Phase::Watching,
                _ if self.is_watch => Phase::Opening,
                _ => Phase::Listing,
            },
        };
        let silent_ms = match &self.exchange {
            Some(exchange) => now.saturating_sub(exchange.last_heard()),
            None => 0,
        };
        Status {
            phase,
            // Whole seconds, so that the badge is not redrawn more often.
            silent_ms: silent_ms / 1000 * 1000,
            trouble: match &self.exchange {
                Some(exchange) => exchange.excess().map(|(what, count)| {
                    let every = exchange.looks_every();
                    cluster::excess(what, count, every, &self.target)
                }),
                None => None,
            }
            .or_else(|| self.trouble.clone()),
        }
    }
}

// --- small requests ------------------------------------------------------------------------------

/// The path of the API on this page's origin, from what the user typed; empty if the user typed nothing.
///
/// # Errors
/// The API is on another origin.
pub fn here(typed: &str) -> Result<String, Text> {
    if typed.trim().is_empty() {
        return Ok(String::new());
    }
    base_of(typed, &window().location().origin().unwrap_or_default())
}

/// Looks for an API at `setting`, then at the usual places.
///
/// # Errors
/// There is no API: what was found at each place.
pub async fn find(setting: &str) -> Result<Tried, Vec<Tried>> {
    let mut tried = Vec::new();
    let tabs = tabs::connected().await;
    let bases = [setting].into_iter().chain(BASES);
    for (index, base) in bases.enumerate() {
        // Only the setting can be empty, or the same as a usual place.
        if base.is_empty() || (index > 0 && base == setting) {
            continue;
        }
        let found = probe(base, tabs).await;
        let is_api = matches!(found, Probe::Api(_));
        let is_crowded = matches!(found, Probe::Crowded(_));
        let one = Tried {
            base: Arc::from(base),
            found,
        };
        if is_api {
            return Ok(one);
        }
        tried.push(one);
        // The other places are on the same server.
        if is_crowded {
            break;
        }
    }
    Err(tried)
}

async fn probe(base: &str, tabs: usize) -> Probe {
    let crowded = tabs >= CONNECTIONS;
    let ms = if crowded { CROWDED_MS } else { ANSWER_MS };
    let HttpRequest { url, accept } = request::get(base, "version", request::JSON);
    match fetch::get(&url, &accept, VERSION_MOST, ms).await {
        Ok(Answer { head, body }) => Probe::of(&head, &body),
        Err(NoAnswer::Late) if crowded => Probe::Crowded(tabs),
        Err(NoAnswer::Late) => Probe::Late,
        Err(NoAnswer::Large) => Probe::Page,
        Err(NoAnswer::Broken(_)) => Probe::Gone,
    }
}

/// All resources that can be listed and watched, and the errors of the discovery.
pub async fn discover(base: &str) -> Found {
    let mut discovery = Discovery::new(base);
    while let Some(Ask { id, request }) = discovery.next_ask() {
        let answer = fetch::get(
            &request.url,
            &request.accept,
            discovery::MAX_BODY,
            ANSWER_MS,
        );
        match answer.await {
            Ok(Answer { head, body }) => discovery.answer(id, Ok((&head, &body))),
            Err(why) => discovery.answer(id, Err(&unanswered(&why))),
        }
    }
    discovery.finish()
}

/// How many objects there are; `None` if the server does not say.
///
/// # Errors
/// The server refuses to list them.
pub async fn count(target: &Target) -> Result<Option<u64>, Text> {
    let HttpRequest { url, accept } = request::count(target)?;
    let answer = fetch::get(&url, &accept, ANSWER_MOST, ANSWER_MS).await;
    let Answer { head, body } = answer.map_err(|why| {
        let why = unanswered(&why);
        trouble(
            &ApiError::new(ApiErrorKind::ConnectionRefused, &why),
            target,
        )
    })?;
    if head.status == 200 {
        return Ok(list::count(&body));
    }
    let is_text = head.content_type.starts_with("text/");
    let error = exchange::error_of(head.status, is_text, &body, &target.resource.name());
    Err(trouble(&error, target))
}

/// The namespaces, or none if they cannot be listed.
pub async fn namespaces(base: &str) -> Vec<String> {
    let HttpRequest { url, accept } = request::namespaces(base);
    let answer = fetch::get(&url, &accept, ANSWER_MOST, ANSWER_MS).await;
    let names = answer.ok().filter(|answer| answer.head.status == 200);
    names
        .and_then(|answer| list::names(&answer.body))
        .unwrap_or_default()
}

fn unanswered(why: &NoAnswer) -> String {
    match why {
        NoAnswer::Late => format!("nothing came for {} s", ANSWER_MS / 1000),
        NoAnswer::Large => format!("more than {} MB came", ANSWER_MOST >> 20),
        NoAnswer::Broken(why) => why.clone(),
    }
}
