//! A real cluster, in the browser: what the session's reflector wants is sent with `fetch`, and what
//! comes is told to the session, as it comes.

pub mod fetch;
pub mod tabs;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gloo_timers::callback::Timeout;
use leptos::ev;
use leptos::prelude::*;

use crate::driver::{Driver, now};
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope_presentation::cluster::{
    BASES, Clock, Options, Phase, Probe, Status, Tried, base_of, ended, failed, left_out, scenario,
    title, trouble,
};
use deltascope_presentation::command::Command;
use deltascope_presentation::i18n::Text;
use deltascope_presentation::session::Session;
use deltascope_presentation::session::live::LiveRun;
use deltascope_world::Time;
use deltascope_world::source::live::{Asked, ResponsePart, ServerResponse};
use deltascope_world::source::proxy::discovery::{self, Ask, Discovery, Found};
use deltascope_world::source::proxy::exchange::{self, Deadlines, End, Exchange};
use deltascope_world::source::proxy::list;
use deltascope_world::source::proxy::request::{self, HttpRequest};
use deltascope_world::source::proxy::target::Target;
use deltascope_world::source::wire::RecordedEvent;
use fetch::{Answer, Came, Connection, NoAnswer};

/// So long an answer to a small question may take, in ms: kubectl proxy opens a connection meanwhile.
const ANSWER_MS: u32 = 10_000;
/// The same where as many tabs are connected as a browser opens connections.
const CROWDED_MS: u32 = 2_000;
/// So many connections a browser opens to one server over HTTP/1.1.
const CONNECTIONS: usize = 6;
/// The version of a server has some 400 bytes; a page that answers in its place has more.
const VERSION_MOST: usize = 256 * 1024;
/// A server with hundreds of kinds describes them in a few MB, and ten thousand namespaces in 10.
const ANSWER_MOST: usize = 32 * 1024 * 1024;
/// How often the badge counts, in ms.
const STATUS_MS: Time = 500;
/// How much of what is due a page that is out of sight does at once: as much as it did otherwise until
/// its next timer, a second later.
const HIDDEN_SLICES: usize = 30;

/// The one connection of the page; copies are the same one.
#[derive(Clone, Copy)]
pub struct Link {
    inner: StoredValue<Rc<Inner>, LocalStorage>,
    /// How it is.
    pub status: RwSignal<Status>,
}

struct Inner {
    driver: Driver,
    status: RwSignal<Status>,
    wire: RefCell<Option<Wire>>,
    /// The next look at the clock, and when it is.
    timer: RefCell<Option<(Time, Timeout)>>,
}

/// What is on the wire.
struct Wire {
    target: Target,
    clock: Clock,
    exchange: Option<Exchange>,
    connection: Option<Connection>,
    /// The watch that is asked for is open.
    opened: bool,
    /// What is asked for is a watch.
    is_watch: bool,
    trouble: Option<Text>,
    /// For the other tabs.
    _connected: tabs::Connected,
}

impl Link {
    /// Of this driver's session.
    #[must_use]
    pub fn new(driver: &Driver) -> Self {
        let status = RwSignal::new(Status::default());
        let inner = Rc::new(Inner {
            driver: driver.clone(),
            status,
            wire: RefCell::new(None),
            timer: RefCell::new(None),
        });
        let after = Rc::clone(&inner);
        driver.listen(move || after.turn());
        // A page that is left has no use for it; one that is only out of sight goes on.
        let leaving = Rc::clone(&inner);
        let left = window_event_listener(ev::pagehide, move |_| {
            leaving
                .driver
                .with(|session| session.obey(Command::Disconnect));
            leaving.close();
        });
        let seen = Rc::clone(&inner);
        let back = window_event_listener(
            ev::Custom::new("visibilitychange"),
            move |_: web_sys::Event| {
                seen.driver.keep_up();
            },
        );
        on_cleanup(move || {
            left.remove();
            back.remove();
        });
        Self {
            inner: StoredValue::new_local(inner),
            status,
        }
    }

    /// Out of the context.
    #[must_use]
    pub fn get() -> Self {
        expect_context::<Self>()
    }

    /// What is watched, and where.
    #[must_use]
    pub fn target(self) -> Option<Target> {
        let inner = self.inner.get_value();
        let wire = inner.wire.borrow();
        wire.as_ref().map(|wire| wire.target.clone())
    }

    /// Looks for the API and the resource, then begins.
    ///
    /// # Errors
    /// Says what there is not, and what to do; also where it has begun without a part of what was asked for.
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
        self.begin(target, options).await?;
        match said {
            Some(said) => Err(said),
            None => Ok(()),
        }
    }

    /// Begins a run.
    ///
    /// # Errors
    /// It cannot be asked for.
    pub async fn begin(self, target: Target, options: Options) -> Result<(), Text> {
        target.check()?;
        let inner = self.inner.get_value();
        inner.close();
        let run = LiveRun {
            title: title(&target),
            scenario: scenario(&target, &options, seed()),
            start: Some(wall()),
        };
        *inner.wire.borrow_mut() = Some(Wire {
            target,
            clock: Clock::new(now()),
            exchange: None,
            connection: None,
            opened: false,
            is_watch: false,
            trouble: None,
            _connected: tabs::Connected::now(),
        });
        inner
            .driver
            .perform(Box::new(|session| session.connect(run)))
            .await;
        Ok(())
    }
}

impl Inner {
    /// Puts on the wire what is wanted, and takes off what is not.
    fn turn(self: &Rc<Self>) {
        if self.wire.borrow().is_none() {
            return;
        }
        let (is_live, wanted) = self
            .driver
            .with(|session| (session.is_live(), session.live_wanted()));
        if !is_live {
            return self.close();
        }
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
                    let on = move |came| {
                        if let Some(inner) = weak.upgrade() {
                            inner.came(came);
                        }
                    };
                    wire.connection = Some(Connection::open(url, accept, on));
                }
                (Some(exchange), true) if exchange.phase() == exchange::Phase::Reading => {}
                _ => wire.connection = None,
            }
        }
        self.say();
        self.schedule();
    }

    /// Something came of the request that is on the wire.
    fn came(self: &Rc<Self>, came: Came) {
        let told = match &mut *self.wire.borrow_mut() {
            Some(wire) => wire.came(came),
            None => return,
        };
        self.tell(told);
    }

    fn tell(self: &Rc<Self>, told: Vec<ServerResponse>) {
        let Some(now) = self.wire.borrow_mut().as_mut().map(|wire| {
            wire.note(&told);
            wire.now()
        }) else {
            return;
        };
        if !told.is_empty() {
            self.driver.with(|session| session.live_told(now, told));
            self.hold();
        }
        self.turn();
        self.driver.keep_up();
    }

    /// What comes faster than it is worked on waits on the wire, not here.
    fn hold(&self) {
        if let Some(wire) = &mut *self.wire.borrow_mut() {
            let latest = wire.clock.latest();
            wire.hold(self.driver.with(|session| is_busy(session, latest)));
        }
    }

    /// The clock says that something may be due.
    fn tick(self: &Rc<Self>) {
        self.timer.borrow_mut().take();
        let told = match &mut *self.wire.borrow_mut() {
            Some(wire) => {
                // Nothing is read meanwhile: that is no silence.
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
        if told.is_empty() {
            // Nobody waits for a page that is out of sight, and its timers are rare.
            let slices = if document().hidden() {
                HIDDEN_SLICES
            } else {
                1
            };
            self.driver.with(|session| {
                // Time goes by where nothing is due, too.
                session.live_tick(now);
                for _ in 1..slices {
                    if is_busy(session, now) {
                        session.live_tick(now);
                    }
                }
            });
            self.hold();
        }
        self.tell(told);
    }

    fn schedule(self: &Rc<Self>) {
        let (now, answer) = match &mut *self.wire.borrow_mut() {
            Some(wire) => (wire.now(), wire.exchange.as_ref().and_then(Exchange::due)),
            None => return,
        };
        let world = self.driver.with(|session| session.live_due());
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

    /// Tells the badge how it goes.
    fn say(&self) {
        let status = match &mut *self.wire.borrow_mut() {
            Some(wire) => {
                let due = self.driver.with(|session| session.live_due());
                wire.status(due)
            }
            None => Status::default(),
        };
        if self.status.with_untracked(|before| *before != status) {
            self.status.set(status);
        }
    }

    fn close(&self) {
        self.wire.borrow_mut().take();
        self.timer.borrow_mut().take();
        self.say();
    }
}

/// Of the waits of a run.
fn seed() -> u32 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 1, times what fits"
    )]
    let seed = (js_sys::Math::random() * f64::from(u32::MAX)) as u32;
    seed
}

/// What the clock on the wall shows, in ms since 1970.
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

    /// What comes waits, or does no more; it was not silent until now.
    fn hold(&mut self, held: bool) {
        let now = self.now();
        if let (Some(connection), Some(exchange)) = (&self.connection, &mut self.exchange)
            && (connection.hold(held) || held)
        {
            exchange.held(now);
        }
    }

    fn came(&mut self, came: Came) -> Vec<ServerResponse> {
        let now = self.now();
        let Some(exchange) = &mut self.exchange else {
            return Vec::new();
        };
        match came {
            Came::Head(head) => exchange.head(now, &head),
            Came::Chunk(bytes) => exchange.chunk(now, &bytes),
            Came::Complete => {
                self.connection = None;
                exchange.end(now, End::Complete)
            }
            Came::Broken(why) => {
                self.connection = None;
                exchange.end(now, End::Broken(why))
            }
        }
    }

    /// What the badge has to know of it.
    fn note(&mut self, told: &[ServerResponse]) {
        for telling in told {
            match &telling.told {
                ResponsePart::Page(_) => self.trouble = None,
                ResponsePart::Opened => (self.opened, self.trouble) = (true, None),
                ResponsePart::Refused(error) => self.trouble = Some(trouble(error, &self.target)),
                ResponsePart::Later { code, .. } => {
                    self.trouble = Some(deltascope_presentation::cluster::later(*code))
                }
                ResponsePart::Ended(end) => {
                    self.opened = false;
                    // The error that ended it stays to be read until what follows is open.
                    if let Some(end) = ended(end) {
                        self.trouble = Some(end);
                    }
                }
                ResponsePart::Event(RecordedEvent::Error { code, message, .. }) => {
                    self.trouble = Some(failed(*code, message));
                }
                ResponsePart::Event(_) => {}
            }
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
            // Whole seconds: the badge is not drawn for less.
            silent_ms: silent_ms / 1000 * 1000,
            trouble: match &self.exchange {
                Some(exchange) => exchange.excess().map(|(what, count)| {
                    let every = exchange.looks_every();
                    deltascope_presentation::cluster::excess(what, count, every, &self.target)
                }),
                None => None,
            }
            .or_else(|| self.trouble.clone()),
        }
    }
}

// --- small questions -----------------------------------------------------------------------------

/// Where the API is on this page's origin, out of what somebody wrote; empty where nobody did.
///
/// # Errors
/// It is elsewhere.
pub fn here(typed: &str) -> Result<String, Text> {
    if typed.trim().is_empty() {
        return Ok(String::new());
    }
    base_of(typed, &window().location().origin().unwrap_or_default())
}

/// Looks for an API where the user says, and where it usually is.
///
/// # Errors
/// There is none: what was found at each place.
pub async fn find(setting: &str) -> Result<Tried, Vec<Tried>> {
    let mut tried = Vec::new();
    let tabs = tabs::connected().await;
    let bases = [setting].into_iter().chain(BASES);
    for (index, base) in bases.enumerate() {
        // Only the setting can be empty, or be one of the others.
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
        // Elsewhere on this server it is no better.
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

/// All that can be listed and watched, and what could not be learnt.
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

/// How many objects there are; nothing: the server does not say.
///
/// # Errors
/// It does not let them be listed.
pub async fn count(target: &Target) -> Result<Option<u64>, Text> {
    // With selectors no server says how many there are.
    let all = Target {
        label_selector: String::new(),
        field_selector: String::new(),
        ..target.clone()
    };
    let HttpRequest { url, accept } = request::count(&all)?;
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

/// The namespaces, where they can be listed.
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
