//! Drives a session in the browser: commands in, views and motions out.

use std::cell::{Cell, OnceCell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gloo_timers::future::TimeoutFuture;
use leptos::callback::UnsyncCallback;
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use web_sys::ResizeObserver;

use crate::host::Host;
use crate::motion::Stage;
use crate::ui::{Shape, Theme, Ui};
use deltascope_presentation::command::{Command, Export};
use deltascope_presentation::i18n::{Lang, Text};
use deltascope_presentation::motion::plan::{self, Motion};
use deltascope_presentation::rows::live::PIECES;
use deltascope_presentation::session::keep::Kept;
use deltascope_presentation::session::opening::{self, Opened};
use deltascope_presentation::session::{Change, Session};
use deltascope_presentation::view::{ErrorView, View};
use deltascope_replay::playback::{NO_MOTION_ABOVE, SHORTEST_FLASH_MS};
use deltascope_world::slices::Slices;

/// Along with a live run the screen changes at most so often, in ms.
const LIVE_MS: u32 = 100;
/// While it is not followed, only what is counted changes: so often, in ms.
const COUNT_MS: u32 = 500;
/// Of the time, drawing takes one part and leaves so many to everything else.
const REST_PARTS: f64 = 2.0;
/// With so many facts still to show a motion takes half its time.
const HURRY: u32 = 8;

/// How long after something was asked for the copy of the run is brought up to date, in ms.
const COPY_MS: u32 = 100;

#[wasm_bindgen]
extern "C" {
    // Of the page's own script, which outlives this program.
    #[wasm_bindgen(catch, js_name = deltascopeKeep)]
    fn hand_out(text: &str, is_more: bool, is_whole: bool) -> Result<(), JsValue>;
}

/// How far something is that is opened is told so often, in ms.
const TELL_MS: f64 = 100.0;
/// A slice of what is opened takes so long, in ms: the page answers in between.
const SLICE_MS: f64 = 40.0;
/// The same in a hidden tab, in ms: browsers give its timers one turn a second.
const HIDDEN_MS: f64 = 1_000.0;
/// What is opened in so many ms is there before the screen is drawn.
const SOON_MS: f64 = 80.0;

/// Work in slices, each about as long as the others, whatever the machine and whatever a unit of the work costs.
pub struct Paced<F> {
    slices: Rc<Slices>,
    /// When the slice that is done now ends, in ms.
    end: Rc<Cell<f64>>,
    work: Pin<Box<F>>,
}

impl<F: Future> Paced<F> {
    /// The work, which is given what tells it where a slice ends.
    pub fn of(work: impl FnOnce(Rc<Slices>) -> F) -> Self {
        let end = Rc::new(Cell::new(0.0));
        let ends = Rc::clone(&end);
        let slices = Rc::new(Slices::until(move || now() >= ends.get()));
        Self {
            work: Box::pin(work(Rc::clone(&slices))),
            slices,
            end,
        }
    }

    /// Does one slice.
    pub fn go_on(&mut self) -> Poll<F::Output> {
        let ms = if document().hidden() {
            HIDDEN_MS
        } else {
            SLICE_MS
        };
        self.end.set(now() + ms);
        self.work
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    /// How many units were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.slices.done()
    }
}

type Opens = Pin<Box<dyn Future<Output = Result<Opened, ErrorView>>>>;

/// Whether a command opens something.
fn opens(command: &Command) -> bool {
    matches!(
        command,
        Command::Load(_) | Command::Open(_) | Command::OpenLink(_)
    )
}

/// In ms, by a clock that nobody sets where there is one.
pub(super) fn now() -> f64 {
    window()
        .performance()
        .map_or_else(js_sys::Date::now, |clock| clock.now())
}

/// One session on the page; clones are the same one.
#[derive(Clone)]
pub struct Driver {
    inner: Rc<Inner>,
}

struct Inner {
    session: RefCell<Session>,
    ui: OnceCell<Ui>,
    stage: Stage,
    /// Counts runs: a loop of an older one ends by itself.
    run: Cell<u64>,
    /// Counts what was opened: what an older one brings is not shown.
    opening: Cell<u64>,
    /// When the last flash at high speed was, in ms.
    flashed: Cell<f64>,
    /// Who wants to hear that something was asked for.
    listener: RefCell<Option<Rc<dyn Fn()>>>,
    /// Whether the screen goes along with a live run already.
    keeps_up: Cell<bool>,
    /// A live run has gone on since the screen was drawn last.
    stale: Cell<bool>,
    /// Whether things move; nothing: as the reader's machine says.
    motion: Cell<Option<bool>>,
    /// Nobody looks any more.
    gone: Cell<bool>,
    /// Who follows the size of the stage.
    resized: RefCell<Option<Resized>>,
    /// What is left of the run should the program die.
    kept: RefCell<Kept>,
    /// It is about to be brought up to date.
    copies: Cell<bool>,
}

type Resized = (ResizeObserver, Closure<dyn FnMut()>);

impl Driver {
    /// With the first lesson open.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self::with_session(host, Session::new())
    }

    /// Of a session that is there already.
    #[must_use]
    pub fn with_session(host: Host, session: Session) -> Self {
        Self {
            inner: Rc::new(Inner {
                session: RefCell::new(session),
                ui: OnceCell::new(),
                stage: Stage::new(host),
                run: Cell::new(0),
                opening: Cell::new(0),
                flashed: Cell::new(0.0),
                listener: RefCell::default(),
                keeps_up: Cell::new(false),
                stale: Cell::new(false),
                motion: Cell::new(None),
                gone: Cell::new(false),
                resized: RefCell::default(),
                kept: RefCell::default(),
                copies: Cell::new(false),
            }),
        }
    }

    /// Where it draws.
    #[must_use]
    pub fn host(&self) -> &Host {
        self.inner.stage.host()
    }

    /// Whether things move; nothing: as the reader's machine says.
    pub fn set_motion(&self, motion: Option<bool>) {
        self.inner.motion.set(motion);
    }

    /// Draws one more piece of the board; says whether more are missing.
    #[must_use]
    pub fn build(&self) -> bool {
        let Some(ui) = self.inner.ui.get().filter(|_| !self.inner.gone.get()) else {
            return false;
        };
        let built = ui.built.get_untracked().saturating_add(1);
        ui.built.set(built);
        if built == PIECES {
            self.settle();
        }
        built < PIECES
    }

    /// The board is taken away: what still runs ends by itself.
    pub fn end(&self) {
        self.inner.gone.set(true);
        self.next_run();
        self.inner.stage.cut();
        // Who listens holds the driver.
        self.inner.listener.take();
        if let Some((observer, _)) = self.inner.resized.take() {
            observer.disconnect();
        }
        // A run may be large, and scripts may hold on to the driver.
        self.with(|session| *session = Session::empty());
    }

    /// What leaves the page; a link is whole, with the address of the page.
    ///
    /// # Errors
    /// Says why it cannot, and what to do instead.
    pub fn export(&self, what: Export) -> Result<String, Text> {
        let is_link = what == Export::Link;
        let exported = self.inner.session.borrow_mut().export(what)?;
        if !is_link {
            return Ok(exported);
        }
        let address = window().location().href().unwrap_or_default();
        let page = address.split('#').next().unwrap_or_default();
        Ok(format!("{page}{exported}"))
    }

    /// What the screen shows now.
    #[must_use]
    pub fn view(&self) -> View {
        self.inner.session.borrow_mut().view()
    }

    /// What the components of a board share, as a context, with so many of its pieces; from now on the
    /// driver draws on it.
    pub fn ui(&self, view: View, built: u8, shape: Shape, lang: Lang, theme: Theme) -> Ui {
        let (on, export) = (self.clone(), self.clone());
        let ui = Ui {
            view: RwSignal::new_local(Rc::new(view)),
            lang: RwSignal::new(lang),
            theme: RwSignal::new(theme),
            lessons: RwSignal::new(Arc::new([])),
            on: UnsyncCallback::new(move |command| on.send(command)),
            export: UnsyncCallback::new(move |what| export.export(what)),
            host: StoredValue::new_local(self.host().clone()),
            shape: RwSignal::new(shape),
            built: RwSignal::new(built),
        };
        self.attach(ui);
        provide_context(ui);
        ui
    }

    fn attach(&self, ui: Ui) {
        // Attached once, when the board is mounted.
        let _ = self.inner.ui.set(ui);
        self.copy();
        if ui.built.get_untracked() == PIECES {
            self.settle();
        }
    }

    /// All of the board is there: what lies over it comes.
    fn settle(&self) {
        let driver = self.clone();
        spawn_local(async move {
            // The page is laid out after the task that mounts it.
            tick().await;
            TimeoutFuture::new(0).await;
            if driver.inner.gone.get() {
                return;
            }
            driver.trail();
            driver.follow_size();
        });
    }

    /// Something about the session, without a look at the screen.
    pub fn with<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.inner.session.borrow_mut())
    }

    /// From now on this is called whenever something was asked for.
    pub fn listen(&self, listener: impl Fn() + 'static) {
        self.inner.listener.replace(Some(Rc::new(listener)));
    }

    /// Soon the copy of the run is what the run is now; only the page has one.
    fn copy(&self) {
        if !self.host().is_page() || self.inner.copies.replace(true) {
            return;
        }
        let driver = self.clone();
        spawn_local(async move {
            loop {
                TimeoutFuture::new(COPY_MS).await;
                let copied =
                    driver.with(|session| session.copy(&mut driver.inner.kept.borrow_mut()));
                let Some(copied) = copied else {
                    break;
                };
                // Where nobody keeps it, there is no copy.
                let _ = hand_out(&copied.text, copied.is_more, copied.is_whole);
            }
            driver.inner.copies.set(false);
        });
    }

    fn asked(&self) {
        self.copy();
        let listener = self.inner.listener.borrow().clone();
        if let Some(listener) = listener {
            listener();
        }
    }

    /// A live run has gone on: the screen goes along.
    pub fn keep_up(&self) {
        self.inner.stale.set(true);
        self.copy();
        if !self.inner.keeps_up.replace(true) {
            let driver = self.clone();
            spawn_local(async move {
                driver.catch_up().await;
                driver.inner.keeps_up.set(false);
            });
        }
    }

    /// Until the screen shows what there is, or somebody else draws it.
    async fn catch_up(&self) {
        while !document().hidden() && !self.inner.gone.get() {
            let Some(live) = self.with(|session| session.live_view()) else {
                return;
            };
            let began = js_sys::Date::now();
            let mut rest = COUNT_MS;
            if live.following && live.behind > 0 {
                rest = LIVE_MS;
                // Where nothing is to move by itself, the edge is shown at once.
                let change = self.with(|session| {
                    let mut change = session.live_follow();
                    while self.still() && change == Change::Forward {
                        change = session.live_follow();
                    }
                    change
                });
                if change == Change::Forward {
                    rest = self.forward(live.behind).await;
                } else {
                    self.inner.stage.cut();
                    self.draw().await;
                    self.trail();
                }
            } else if self.inner.stale.get() {
                // What plays is drawn as it plays.
                if !self.with(|session| session.playback().is_playing()) {
                    self.draw().await;
                }
            } else {
                return;
            }
            self.inner.stale.set(false);
            // The browser lays out and paints before it calls back.
            TimeoutFuture::new(0).await;
            let cost = (js_sys::Date::now() - began) * REST_PARTS;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast saturates, and no clock is set back by more than nothing here"
            )]
            TimeoutFuture::new(rest.max(cost as u32)).await;
        }
    }

    /// A command from a button or a key.
    pub fn send(&self, command: Command) {
        let driver = self.clone();
        let watched = self.inner.ui.get().is_some_and(|ui| {
            let watch = ui.shape.try_with_untracked(|shape| shape.watch);
            watch.unwrap_or_default()
        });
        // What a key asks for; there is no button for it.
        if watched && command.changes_the_run() {
            return;
        }
        if opens(&command) {
            spawn_local(async move { driver.opens(command).await });
            return;
        }
        if matches!(command, Command::DismissError) {
            self.stop_opening();
        }
        let change = self.inner.session.borrow_mut().obey(command);
        self.asked();
        spawn_local(async move {
            let run = driver.show(change).await;
            // While it plays it comes to what follows by itself.
            let playing = driver.inner.session.borrow().playback().is_playing();
            if let Change::Follow(to) = change
                && !playing
                && !driver.still()
            {
                driver.follow(to, run).await;
            }
        });
    }

    /// Opens a lesson, a link or files, slice by slice; done when the screen shows it. Meanwhile it says
    /// how far it is, and what is asked for later comes instead of it.
    pub async fn opens(&self, command: Command) {
        self.with(|session| session.before_opening(&command));
        self.asked();
        let turn = self.next_opening();
        let opening = Paced::of(move |slices| -> Opens {
            Box::pin(async move { opening::open(&command, &slices).await })
        });
        self.open(opening, turn).await;
    }

    /// What is on its way to be opened is not wanted any more.
    fn stop_opening(&self) {
        self.next_opening();
        self.with(|session| session.set_opening(None));
    }

    async fn open(&self, mut opening: Paced<Opens>, turn: u64) {
        let began = now();
        let mut drawn = began;
        let opened = loop {
            if let Poll::Ready(opened) = opening.go_on() {
                break opened;
            }
            if now() - began < SOON_MS {
                continue;
            }
            if now() - drawn >= TELL_MS {
                drawn = now();
                self.with(|session| session.set_opening(Some(opening.done())));
                self.draw().await;
            }
            TimeoutFuture::new(0).await;
            if self.inner.opening.get() != turn || self.inner.gone.get() {
                return;
            }
            if self.with(|session| session.is_live()) {
                self.stop_opening();
                return;
            }
        };
        let change = self.with(|session| session.show_opened(opened));
        self.asked();
        self.show(change).await;
    }

    fn next_opening(&self) -> u64 {
        let turn = self.inner.opening.get() + 1;
        self.inner.opening.set(turn);
        turn
    }

    /// A command from a script; done when the screen shows what came of it.
    pub async fn perform(&self, act: Box<dyn FnOnce(&mut Session) -> Change>) {
        let change = act(&mut self.inner.session.borrow_mut());
        self.asked();
        self.show(change).await;
    }

    /// The number of the run that begins with it.
    async fn show(&self, change: Change) -> u64 {
        let run = self.next_run();
        match change {
            Change::Forward => {
                self.forward(0).await;
            }
            Change::Back => self.back().await,
            Change::None | Change::Cut | Change::Follow(_) => {
                if change != Change::None {
                    self.inner.stage.cut();
                }
                self.draw().await;
                if change != Change::None {
                    self.trail();
                }
            }
        }
        if self.inner.session.borrow().playback().is_playing() {
            self.play(run);
        }
        run
    }

    /// Plays on, one fact after the other, until something else happens.
    fn play(&self, run: u64) {
        let driver = self.clone();
        spawn_local(async move {
            while driver.inner.run.get() == run {
                if document().hidden() {
                    driver.inner.session.borrow_mut().pause();
                    break;
                }
                let change = driver.inner.session.borrow_mut().tick();
                if change != Change::Forward {
                    break;
                }
                let ms = driver.forward(0).await;
                TimeoutFuture::new(ms).await;
            }
            if driver.inner.run.get() == run {
                driver.draw().await;
            }
        });
    }

    /// Shows what follows from a click, up to so many facts.
    async fn follow(&self, to: usize, run: u64) {
        while self.inner.run.get() == run {
            if self.inner.session.borrow().playback().cursor() >= to {
                return;
            }
            let change = self.inner.session.borrow_mut().obey(Command::Step(1));
            if change != Change::Forward {
                return;
            }
            let ms = self.forward(0).await;
            TimeoutFuture::new(ms).await;
        }
    }

    /// Puts the next picture on the screen, as a motion, faster where so many facts are behind it; says
    /// how long that takes.
    async fn forward(&self, behind: usize) -> u32 {
        let (view, motion, speed) = {
            let mut session = self.inner.session.borrow_mut();
            let view = session.view();
            let motion = session
                .current()
                .map(|record| plan::plan(&record, &view.picture))
                .unwrap_or_default();
            (view, motion, session.playback().clone())
        };
        let behind = u32::try_from(behind).unwrap_or(u32::MAX / 2);
        let scaled =
            |ms| u64::from(speed.scaled(ms)) * u64::from(HURRY) / u64::from(HURRY + behind);
        let scaled = |ms| u32::try_from(scaled(ms)).unwrap_or(ms).max(16);
        let stage = &self.inner.stage;
        stage.cut();
        if speed.speed() > NO_MOTION_ABOVE {
            self.set(view).await;
            // Whatever the speed, no more flashes a second than eyes can bear.
            let now = js_sys::Date::now();
            if now - self.inner.flashed.get() >= f64::from(SHORTEST_FLASH_MS) {
                self.inner.flashed.set(now);
                stage.flash(&motion.flash, SHORTEST_FLASH_MS);
            }
            return scaled(motion.ms);
        }
        let before = stage.before(&motion);
        self.set(view).await;
        stage.play(before, &motion, self.still(), scaled);
        let Motion { ms, .. } = motion;
        scaled(ms)
    }

    /// Cuts to the picture before, with the way of what is taken back drawn in reverse.
    async fn back(&self) {
        let stage = &self.inner.stage;
        stage.cut();
        let taken_back = {
            let session = self.inner.session.borrow();
            session.taken_back().and_then(|(record, picture)| {
                let flight = plan::plan(&record, &picture).flight?;
                let from = plan::trail_from(&record, &flight, &picture);
                Some((from, stage.landed(&flight)?, flight))
            })
        };
        self.draw().await;
        if let Some((from, landed, flight)) = taken_back {
            stage.reversed(&from, &flight, &landed);
        }
    }

    /// The trail of the fact that the screen was cut to.
    fn trail(&self) {
        let mut session = self.inner.session.borrow_mut();
        let picture = session.picture();
        if let Some(record) = session.current()
            && let Some(flight) = plan::plan(&record, &picture).flight
        {
            let from = plan::trail_from(&record, &flight, &picture);
            self.inner.stage.trail(&from, &flight, self.still());
        }
    }

    /// Whether nothing is to move.
    fn still(&self) -> bool {
        self.inner.motion.get().map_or_else(reduced, |moves| !moves)
    }

    /// What is drawn over the stage stands where its rooms are: in another size it is drawn anew.
    fn follow_size(&self) {
        let Some(layer) = self.host().find("#motion") else {
            return;
        };
        let driver = self.clone();
        // The first call tells the size that it has.
        let first = Cell::new(true);
        let on_resize = Closure::<dyn FnMut()>::new(move || {
            if !first.replace(false) {
                driver.inner.stage.cut();
                driver.trail();
            }
        });
        if let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
            observer.observe(&layer);
            self.inner.resized.replace(Some((observer, on_resize)));
        }
    }

    async fn draw(&self) {
        let view = self.view();
        self.set(view).await;
    }

    async fn set(&self, view: View) {
        if let Some(ui) = self.inner.ui.get().filter(|_| !self.inner.gone.get()) {
            ui.view.set(Rc::new(view));
            // Effects run when the current task is done.
            tick().await;
        }
    }

    fn next_run(&self) -> u64 {
        let run = self.inner.run.get() + 1;
        self.inner.run.set(run);
        run
    }
}

/// Whether the visitor wants nothing to move.
fn reduced() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}
