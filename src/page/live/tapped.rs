//! The tap that serves this page: asks what it knows of its informers, and follows the recording of one.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::fetch::{self, Answer};
use super::is_busy;
use super::together::seen_again;
use crate::animate::now;
use crate::driver::Driver;
use crate::host::tap;
use crate::later::Part;
use crate::paced::Turns;
use crate::ui::{Shelved, Ui};
use deltascope_presentation::command::Command;
use deltascope_presentation::informers::{self, Informers, Row};
use deltascope_presentation::session::live::LiveRun;
use deltascope_replay::growing::{GoesOn, Growing, Grown};
use deltascope_replay::recording::RecordedInput;
use deltascope_replay::tap::note::Stopped;
use deltascope_replay::trace::Trace;
use deltascope_world::Time;
use deltascope_world::fields::Read;
use deltascope_world::source;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::Input;

/// How often the tap is asked, in ms.
const POLL_MS: u32 = 1_000;
/// The same for the recording that is followed.
const FOLLOW_MS: u32 = 250;
/// How often what follows is asked for until the tap counts as gone.
const TRIES: u32 = 10;
/// How long an answer may take, in ms.
const ANSWER_MS: u32 = 10_000;
/// Most bytes of an answer: a line of a recording has 8 MB at most, a report with a thousand informers fewer.
const ANSWER_MOST: usize = 16 << 20;
/// How long inputs are taken before the page gets its turn, in ms.
const SLICE_MS: f64 = 30.0;

/// The tap of this page; copies share it.
#[derive(Clone, Copy)]
pub struct Tapped {
    inner: StoredValue<Rc<Inner>, LocalStorage>,
    /// What it said last.
    pub said: RwSignal<Option<Arc<Informers>>>,
    /// Whether it does not answer any more.
    pub gone: RwSignal<bool>,
}

struct Inner {
    driver: Driver,
    address: String,
    /// What is followed: an earlier one ends.
    turn: Turns,
    is_asked: Cell<bool>,
}

impl Tapped {
    /// The tap, if it serves this page: then its informers are shown.
    #[must_use]
    pub fn begin(driver: &Driver, ui: Ui) -> Option<Self> {
        let inner = Inner {
            driver: driver.clone(),
            address: tap()?,
            turn: Turns::default(),
            is_asked: Cell::new(false),
        };
        let tapped = Self {
            inner: StoredValue::new_local(Rc::new(inner)),
            said: RwSignal::new(None),
            gone: RwSignal::new(false),
        };
        ui.show_shelf(Shelved::Informers);
        Some(tapped)
    }

    /// Begins to ask it, unless it is asked already: as long as its informers are shown.
    pub fn ask_on(self, ui: Ui) {
        let inner = self.inner.get_value();
        if inner.is_asked.replace(true) {
            return;
        }
        // For as long as the page lives.
        let _ = seen_again(&inner.driver);
        spawn_local(async move {
            loop {
                if untrack(|| ui.shows_informers()) && !document().hidden() {
                    self.ask().await;
                }
                TimeoutFuture::new(POLL_MS).await;
            }
        });
    }

    async fn ask(self) {
        let address = self.inner.with_value(|inner| inner.address.clone());
        let said = get(&address).await;
        let said = said.ok();
        let said = said.and_then(|said| serde_json::from_slice::<Value>(&said).ok());
        match said.and_then(|said| Informers::read(said).ok()) {
            Some(said) => {
                self.gone.set(false);
                self.said.set(Some(Arc::new(said)));
            }
            None => self.gone.set(true),
        }
    }

    /// Shows the informer with this recording, live, or a moment of it, which is in this part.
    pub fn follow(self, number: usize, moment: Option<(u32, Time)>) {
        spawn_local(async move {
            // Its newest file may be another one by now.
            self.ask().await;
            let follower = self.follower(number, moment.map(|(part, _)| part));
            follower.follow(moment.map(|(_, at)| at)).await;
        });
    }

    fn follower(self, number: usize, part: Option<u32>) -> Follower {
        let inner = self.inner.get_value();
        let said = self.said.get_untracked();
        let row = said.as_ref().and_then(|said| row_of(said, number));
        let part = part.or(row.map(|row| row.part)).unwrap_or(1);
        let note = row.map(|row| row.note.clone());
        let turn = inner.turn.next();
        Follower {
            tapped: self,
            inner,
            number,
            turn,
            part,
            logged: said.is_some_and(|said| said.logs).then_some(0),
            note: note.unwrap_or_default(),
            begun: false,
            after: None,
            until: 0,
        }
    }
}

/// Follows one recording.
struct Follower {
    tapped: Tapped,
    inner: Rc<Inner>,
    number: usize,
    turn: u64,
    /// The file of it that is read.
    part: u32,
    /// How far its log was read, if there is one.
    logged: Option<usize>,
    note: Text,
    begun: bool,
    /// The file goes on with what was read of another: what is before this time is known.
    after: Option<Time>,
    until: Time,
}

impl Follower {
    async fn follow(mut self, mut at: Option<Time>) {
        let driver = self.inner.driver.clone();
        let name = format!("informers/{}.jsonl", self.number);
        let mut growing = Growing::new(&name);
        let mut from = 0;
        while self.counts() {
            let part = self.part;
            let piece = self.piece(&format!("{name}?part={part}&from={from}")).await;
            if !self.counts() {
                return;
            }
            let piece = match piece {
                Ok(piece) => piece,
                Err(why) => {
                    let newest = self.newest().await;
                    if newest <= self.part || at.is_some() {
                        return self.end(why).await;
                    }
                    // Its file was removed: it begins anew with the newest, unless a moment of it was asked for.
                    (self.part, self.begun, self.after) = (newest, false, None);
                    self.logged = self.logged.map(|_| 0);
                    (growing, from) = (Growing::new(&name), 0);
                    continue;
                }
            };
            from += piece.len();
            if let Err(missing) = driver.complete(Part::All).await {
                return self.end(missing).await;
            }
            let stopped = match growing.read(&piece) {
                Ok(grown) => {
                    let stopped = grown.stopped;
                    self.take(grown).await;
                    stopped
                }
                Err(error) => return self.end(error.message).await,
            };
            self.listen().await;
            if stopped == Some(Stopped::Next) && self.counts() {
                self.part += 1;
                self.logged = self.logged.map(|_| 0);
                self.after = Some(0);
                (growing, from) = (Growing::new(&name), 0);
                continue;
            }
            if !piece.is_empty() && stopped.is_none() {
                continue;
            }
            if let Some(at) = at.take_if(|_| self.begun && self.counts()) {
                driver
                    .act_now(Box::new(move |session| session.live_look(at)))
                    .await;
            }
            if let Some(why) = stopped.filter(|_| self.counts()) {
                return self.end(informers::ended(why)).await;
            }
            TimeoutFuture::new(FOLLOW_MS).await;
            while document().hidden() {
                TimeoutFuture::new(POLL_MS).await;
            }
        }
    }

    /// What follows of the recording. One answer that does not come says little: a laptop may have slept.
    async fn piece(&self, address: &str) -> Result<Vec<u8>, Text> {
        let mut tries = 1;
        loop {
            let piece = get(address).await;
            let is_over = piece.is_ok() || tries == TRIES || !self.counts();
            if is_over || self.newest().await > self.part {
                return piece;
            }
            tries += 1;
            TimeoutFuture::new(POLL_MS).await;
        }
    }

    /// Its newest file, as far as the tap says.
    async fn newest(&self) -> u32 {
        self.tapped.ask().await;
        let said = self.tapped.said.get_untracked();
        let row = said.as_ref().and_then(|said| row_of(said, self.number));
        row.map_or(0, |row| row.part)
    }

    /// Whether this is still what is to be shown.
    fn counts(&self) -> bool {
        let followed = self
            .inner
            .driver
            .with(|session| session.followed_informer());
        self.inner.turn.is(self.turn) && (!self.begun || followed == Some(self.number))
    }

    /// What follows of the log.
    async fn listen(&mut self) {
        while let Some(from) = self.logged.filter(|_| self.begun && self.counts()) {
            let (number, part) = (self.number, self.part);
            let address = format!("informers/{number}.log?part={part}&from={from}");
            let piece = self.piece(&address).await;
            if !self.counts() {
                return;
            }
            let driver = &self.inner.driver;
            match piece {
                // Also where nothing came of it, for the run goes on.
                Ok(piece) => {
                    self.logged = Some(from + piece.len());
                    driver.with(|session| session.listen_to(&piece));
                    if piece.is_empty() {
                        break;
                    }
                }
                // Its file is gone, and it begins anew.
                Err(_) if self.newest().await > part => return,
                Err(why) => {
                    self.logged = None;
                    driver.with(|session| session.listen_no_more(why));
                }
            }
        }
        self.inner.driver.keep_up();
    }

    async fn take(&mut self, grown: Grown) {
        if let Some(head) = grown.head {
            // A file that begins anew does not say what was there.
            match self.begun && grown.goes_on != Some(GoesOn::Anew) {
                false => self.begin(head, grown.goes_on.is_some()).await,
                true => {
                    let streams = head.recording.scenario.settings.streams();
                    self.inner.driver.with(|session| session.follow_on(streams));
                }
            }
        }
        if let (Some(_), Some(GoesOn::At(at))) = (self.after, grown.goes_on) {
            self.after = Some(at);
        }
        let driver = &self.inner.driver;
        if !self.begun {
            return;
        }
        let mut slice = now() + SLICE_MS;
        for RecordedInput { at, input, .. } in grown.inputs {
            if self.after.is_some_and(|after| at < after) {
                continue;
            }
            if let Input::Source(source::Command::Respond(responses)) = input {
                driver.with(|session| session.live_received(at, responses.to_vec()));
            }
            if now() >= slice {
                driver.keep_up();
                TimeoutFuture::new(0).await;
                slice = now() + SLICE_MS;
            }
            if !self.counts() {
                return;
            }
        }
        let mut until = self.until.max(grown.until);
        loop {
            driver.with(|session| session.live_tick(until));
            driver.keep_up();
            if !driver.with(|session| is_busy(session, until)) {
                // The end of a request is only recorded with the next one: where the run waits to ask, its client has
                // asked already.
                let pause = driver.with(|session| match session.live_wanted() {
                    None => session.live_due(),
                    Some(_) => None,
                });
                let Some(over) = pause.filter(|over| *over > until) else {
                    break;
                };
                until = over;
            }
            TimeoutFuture::new(0).await;
            if !self.counts() {
                return;
            }
        }
        self.until = until;
    }

    async fn begin(&mut self, head: Trace, goes_on: bool) {
        let driver = self.inner.driver.clone();
        let (number, note) = (self.number, self.note.clone());
        let run = LiveRun {
            title: head.title,
            scenario: head.recording.scenario,
            start: head.start,
        };
        driver.show_stage();
        // A cluster's connection ends with its run.
        driver.say(Part::Rest, || Command::Disconnect).await;
        driver
            .act_now(Box::new(move |session| {
                session.follow_informer(number, run, note, goes_on)
            }))
            .await;
        if self.logged.is_some() {
            driver.with(|session| session.listen());
        }
        self.begun = true;
    }

    /// The run stays, as far as it has come.
    async fn end(self, why: Text) {
        let driver = &self.inner.driver;
        driver.say(Part::Rest, || Command::Disconnect).await;
        driver.say(Part::Rest, || Command::Wrong(why)).await;
    }
}

fn row_of(said: &Informers, number: usize) -> Option<&Row> {
    said.rows.iter().find(|row| row.recording == number)
}

/// What the tap answers, or why it does not.
async fn get(address: &str) -> Result<Vec<u8>, Text> {
    let answer = fetch::get(address, "*/*", ANSWER_MOST, ANSWER_MS).await;
    let Answer { head, body } = answer.map_err(|_| informers::gone())?;
    if head.status == 200 {
        return Ok(body);
    }
    if head.status == 410 {
        return Err(informers::unheard());
    }
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let said = said["message"].as_str().unwrap_or_default();
    Err(informers::refused(head.status, said))
}
