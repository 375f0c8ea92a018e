//! Drives a session in the browser: commands in, views and motions out.

mod line;
mod said;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use gloo_timers::future::TimeoutFuture;
use js_sys::Promise;
use leptos::callback::UnsyncCallback;
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::ResizeObserver;

use crate::animate::now;
use crate::host::{self, Host};
use crate::later::{self, Part};
use crate::motion::Stage;
use crate::paced::{Paced, SLICE_MS, Turns};
use crate::sight::{self, Place};
use crate::slides::{Places, Slides, count_below, reveal};
use crate::ui::{Browse, Shape, Shelved, Theme, Ui};
use deltascope_presentation::command::Export;
use deltascope_presentation::informers;
use deltascope_presentation::motion::merged::Scene;
use deltascope_presentation::motion::pace;
use deltascope_presentation::motion::plan::{self, Flight, SETTLE_MS};
use deltascope_presentation::options::Controls;
use deltascope_presentation::rows::Names;
use deltascope_presentation::session::keep::Kept;
use deltascope_presentation::session::opening::Opened;
use deltascope_presentation::session::{Change, Far, Session};
use deltascope_presentation::stage::PIECES;
use deltascope_presentation::view::{ErrorView, View};
use deltascope_replay::playback::{NO_MOTION_ABOVE, SHORTEST_FLASH_MS};
use deltascope_world::text::{Lang, Text};
use line::Line;

/// How long the board is drawn at once, in ms.
const BUILD_MS: f64 = 16.0;

/// Least time between two redraws while the page follows a live run, in ms.
const LIVE_MS: u32 = 100;
/// The same while it does not follow: then only the counts change.
const COUNT_MS: u32 = 500;
/// How long what is pushed aside takes to its new place, in ms.
const SLIDE_MS: u32 = 300;
/// After a redraw of n ms, everything else gets this many times n ms.
const REST_PARTS: f64 = 2.0;
/// With this many facts still to show, a motion takes half its time.
const HURRY: u32 = 8;

/// How long a race shows each moment, in ms.
const MOMENT_MS: u32 = 600;

/// About one frame, in ms.
const FRAME_MS: u32 = 16;
/// A frame that takes longer is not waited for, in ms.
const LATE_MS: i32 = 100;

/// Delay between a command and the update of the run's copy, in ms.
const COPY_MS: u32 = 100;

#[wasm_bindgen]
extern "C" {
    // Defined by the page's own script, which outlives this program.
    #[wasm_bindgen(catch, js_name = deltascopeKeep)]
    fn hand_out(text: &str, is_more: bool, is_whole: bool) -> Result<(), JsValue>;
}

/// Time between two reports of how far an opening is, in ms.
const PROGRESS_MS: f64 = 100.0;
/// An opening that takes at most this long is done before the screen is drawn, in ms.
const SOON_MS: f64 = 80.0;

type Opens = Pin<Box<dyn Future<Output = Result<Opened, ErrorView>>>>;

/// One session on the page. Clones share it.
#[derive(Clone)]
pub struct Driver {
    inner: Rc<Inner>,
}

struct Inner {
    session: RefCell<Session>,
    ui: OnceCell<Ui>,
    stage: Stage,
    slides: Slides,
    /// The runs of the playback loop: an older loop ends by itself.
    run: Turns,
    /// The openings: the result of an older one is not shown.
    opening: Turns,
    /// What waits for its part of the program, and whether that is being fetched.
    line: Rc<Line>,
    brings: Cell<bool>,
    /// The commands: a later one ends what is computed for an earlier one.
    asked: Turns,
    /// How many seeks are being computed.
    seeking: Cell<usize>,
    /// The seeks: a step from an earlier one does not count any more.
    seeks: Turns,
    /// Called after each command.
    listener: RefCell<Option<Rc<dyn Fn()>>>,
    /// Whether a loop that redraws for a live run is active.
    keeps_up: Cell<bool>,
    /// Whether a live run has grown since the last redraw.
    stale: Cell<bool>,
    /// What was drawn before a redraw for a live run that is under way. What arrives meanwhile waits for the next frame.
    draws: Cell<Option<u64>>,
    /// The views that were drawn.
    drawn: Turns,
    /// Whether motions play; `None`: as the reader's system prefers.
    motion: Cell<Option<bool>>,
    /// Whether the board was removed.
    gone: Cell<bool>,
    /// Observes the size of the stage.
    resized: RefCell<Option<Resized>>,
    /// The copy of the run that survives a crash of this program.
    kept: RefCell<Kept>,
    /// Whether an update of the copy is scheduled.
    copies: Cell<bool>,
}

type Resized = (ResizeObserver, Closure<dyn FnMut()>);

impl Driver {
    /// A driver of a new session, with the first lesson open.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self::with_session(host, Session::new())
    }

    /// A driver of an existing session.
    #[must_use]
    pub fn with_session(host: Host, session: Session) -> Self {
        Self {
            inner: Rc::new(Inner {
                session: RefCell::new(session),
                ui: OnceCell::new(),
                stage: Stage::new(host),
                slides: Slides::default(),
                run: Turns::default(),
                opening: Turns::default(),
                line: Rc::default(),
                brings: Cell::new(false),
                asked: Turns::default(),
                seeking: Cell::new(0),
                seeks: Turns::default(),
                listener: RefCell::default(),
                keeps_up: Cell::new(false),
                stale: Cell::new(false),
                draws: Cell::new(None),
                drawn: Turns::default(),
                motion: Cell::new(None),
                gone: Cell::new(false),
                resized: RefCell::default(),
                kept: RefCell::default(),
                copies: Cell::new(false),
            }),
        }
    }

    /// Where the driver draws.
    #[must_use]
    pub fn host(&self) -> &Host {
        self.inner.stage.host()
    }

    /// Whether motions play; `None`: as the reader's system prefers.
    pub fn set_motion(&self, motion: Option<bool>) {
        self.inner.motion.set(motion);
    }

    /// Draws one more piece of the board. Returns whether more are missing.
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

    /// Draws the rest of the board in slices, so that the browser goes on meanwhile.
    pub(crate) async fn build_all(&self) {
        let mut end = 0.0;
        while self.build() {
            // Effects draw after the current task.
            tick().await;
            // A hidden page's timers run once a second, and nothing waits for it.
            if now() >= end && !document().hidden() {
                TimeoutFuture::new(0).await;
                end = now() + BUILD_MS;
            }
        }
    }

    /// Removes the board. Loops that still run end by themselves.
    pub fn end(&self) {
        self.inner.gone.set(true);
        drop(self.inner.line.leave());
        self.inner.run.next();
        self.inner.stage.cut();
        // The listener may own the driver.
        self.inner.listener.take();
        if let Some((observer, _)) = self.inner.resized.take() {
            observer.disconnect();
        }
        // A run may be large, and scripts may hold on to the driver.
        self.with(|session| *session = Session::empty());
    }

    /// Exports the run. A link includes the address of the page.
    ///
    /// # Errors
    /// Says why the run cannot be exported, and what to do instead.
    pub fn export(&self, what: Export) -> Result<String, Text> {
        match later::has(Part::Seldom) {
            true => self.exported(what),
            false => Err(later::missing()),
        }
    }

    /// The same, which stops the page until what it needs is there.
    ///
    /// # Errors
    /// As above.
    pub fn exported(&self, what: Export) -> Result<String, Text> {
        let is_link = what == Export::Link;
        // Whoever had the link would have the tap.
        if is_link && host::tap().is_some() {
            return Err(informers::no_link());
        }
        let exported = self.session().export(what)?;
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

    /// The state that a board's components share, provided as a context, with `built` pieces of the board drawn.
    /// From now on the driver draws on this board.
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
            shelf: RwSignal::new(Shelved::No(Browse::default())),
            progress: RwSignal::default(),
            kept: RwSignal::new(true),
            waits: RwSignal::new(false),
            fetches: RwSignal::new(0),
            missing: RwSignal::new(None),
        };
        self.attach(ui);
        provide_context(ui);
        ui
    }

    fn attach(&self, ui: Ui) {
        // Fails only the second time; a board is mounted once.
        let _ = self.inner.ui.set(ui);
        self.copy();
        if ui.built.get_untracked() == PIECES {
            self.settle();
        }
    }

    /// Once the whole board is there: draws the trail, and follows the stage's size.
    fn settle(&self) {
        let driver = self.clone();
        spawn_local(async move {
            // The page is laid out after the task that mounts it.
            tick().await;
            TimeoutFuture::new(0).await;
            if driver.inner.gone.get() {
                return;
            }
            reveal(driver.host());
            // With the first frame the rooms learn how much fits into them.
            if !document().hidden() {
                frame().await;
                frame().await;
            }
            if !driver.inner.gone.get() {
                // A motion that has begun meanwhile draws its own.
                if driver.inner.stage.is_clear() {
                    driver.trail(None);
                }
                driver.follow_size();
            }
        });
    }

    /// Reads or changes the session, without redrawing.
    pub fn with<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.inner.session.borrow_mut())
    }

    /// The session, until the caller is done with it.
    #[must_use]
    pub fn session(&self) -> RefMut<'_, Session> {
        self.inner.session.borrow_mut()
    }

    /// Puts another session in the place of the one that is shown, and returns that. Nothing of it goes on. Follow with
    /// [`Self::act_now`].
    pub fn put(&self, session: Session) -> Session {
        self.ask();
        self.stop_opening();
        self.inner.run.next();
        // The copy is one of the run that is shown.
        self.inner.kept.take();
        std::mem::replace(&mut *self.session(), session)
    }

    /// Sets the listener that is called after each command.
    pub fn listen(&self, listener: impl Fn() + 'static) {
        self.inner.listener.replace(Some(Rc::new(listener)));
    }

    /// Schedules an update of the run's copy. Only the project's own page keeps one.
    fn copy(&self) {
        if !self.host().is_page() || self.inner.copies.replace(true) {
            return;
        }
        let driver = self.clone();
        spawn_local(async move {
            loop {
                TimeoutFuture::new(COPY_MS).await;
                while driver.draws() {
                    TimeoutFuture::new(FRAME_MS).await;
                }
                let copied =
                    driver.with(|session| session.copy(&mut driver.inner.kept.borrow_mut()));
                let Some(copied) = copied else {
                    break;
                };
                // Fails where no script keeps a copy.
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

    /// Whether a redraw for a live run is under way.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.inner.draws.get().is_some()
    }

    /// A live run has grown: redraws soon.
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

    /// Redraws until the screen is up to date or cannot be seen.
    async fn catch_up(&self) {
        while !document().hidden() && !self.inner.gone.get() {
            let Some(live) = self.with(|session| session.live_view()) else {
                return;
            };
            let mut began = js_sys::Date::now();
            let stale = self.inner.stale.replace(false);
            let mut rest = COUNT_MS;
            if live.following && live.behind > 0 {
                rest = LIVE_MS;
                // Where motions do not play by themselves, show the edge at once.
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
                    began = self.draw_edge().await;
                }
            } else if stale {
                // While it plays, each step redraws.
                if !self.with(|session| session.playback().is_playing()) {
                    self.draw().await;
                }
            } else {
                return;
            }
            // The browser lays out and paints before this timer fires.
            TimeoutFuture::new(0).await;
            self.inner.draws.set(None);
            let cost = (js_sys::Date::now() - began) * REST_PARTS;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast saturates, and no clock is set back by more than nothing here"
            )]
            TimeoutFuture::new(rest.max(cost as u32)).await;
        }
    }

    /// Cuts to the edge of a live run: computes the view in one frame and draws it in the next. Returns when it would have
    /// begun without the wait between them. The caller says when the browser has drawn it.
    async fn draw_edge(&self) -> f64 {
        let drawn = self.inner.drawn.now();
        self.inner.draws.set(Some(drawn));
        frame_or_late().await;
        let began = js_sys::Date::now();
        // What a command has drawn meanwhile is newer.
        if !self.inner.drawn.is(drawn) {
            return began;
        }
        let view = self.view();
        let computed = js_sys::Date::now() - began;
        frame_or_late().await;
        let began = js_sys::Date::now() - computed;
        if self.inner.drawn.is(drawn) && !self.inner.gone.get() {
            self.inner.slides.cut();
            self.inner.stage.cut();
            self.set(view).await;
            self.trail(None);
        }
        began
    }

    /// Shows the stage, where the shelf is in its place.
    pub fn show_stage(&self) {
        if let Some(ui) = self.inner.ui.get() {
            ui.show_stage();
        }
    }

    /// Cancels the opening, and what waits for its part.
    fn stop_opening(&self) {
        let waited = !self.inner.line.is_empty();
        drop(self.inner.line.leave());
        self.waits(false);
        self.end_opening();
        if waited {
            self.plays_again();
        }
    }

    fn end_opening(&self) {
        self.inner.opening.next();
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
            if now() - drawn >= PROGRESS_MS {
                drawn = now();
                self.with(|session| session.set_opening(Some(opening.done())));
                self.draw().await;
            }
            TimeoutFuture::new(0).await;
            if !self.inner.opening.is(turn) || self.inner.gone.get() {
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

    /// Computes what a command needs, in slices; the screen shows the progress. Returns whether the command still
    /// counts: a later one takes its place.
    async fn compute(&self, far: &Far) -> bool {
        let (asked, turn) = (self.inner.asked.now(), self.inner.opening.now());
        let seeks = usize::from(matches!(far, Far::Place(..)));
        let seeking = &self.inner.seeking;
        seeking.set(seeking.get() + seeks);
        self.with(Session::pause);
        let (began, mut drawn) = (now(), now());
        let mut slice = began + SLICE_MS;
        let mut counts = true;
        while counts && let Some(done) = self.with(|session| session.compute(far)) {
            if now() < slice {
                continue;
            }
            if now() - began > SOON_MS && now() - drawn >= PROGRESS_MS {
                self.with(|session| session.set_opening(Some(done)));
                self.draw().await;
                drawn = now();
            }
            TimeoutFuture::new(0).await;
            slice = now() + SLICE_MS;
            let is_last = self.inner.asked.is(asked) && self.inner.opening.is(turn);
            counts = is_last && !self.inner.gone.get();
        }
        self.with(|session| session.set_opening(None));
        seeking.set(seeking.get() - seeks);
        counts
    }

    /// A command has come: what is computed for an earlier one is not needed any more.
    fn ask(&self) {
        self.inner.asked.next();
        self.misses(None);
    }

    /// Shows a change, and plays on.
    async fn show(&self, change: Change) {
        let run = self.show_still(change).await;
        self.play_on(run);
    }

    /// The same, without playback. Returns the number of the playback loop that begins with it.
    async fn show_still(&self, change: Change) -> u64 {
        let run = self.inner.run.next();
        match change {
            Change::Forward => {
                self.forward(0).await;
            }
            Change::Back => self.back().await,
            Change::None | Change::Cut => {
                // A live redraw that is under way would have cut to the edge. This view is newer, and takes its place.
                let awaited = self.inner.draws.get();
                let is_new = change != Change::None
                    || awaited.is_some_and(|drawn| self.inner.drawn.is(drawn));
                if is_new {
                    self.inner.stage.cut();
                }
                let view = self.view();
                self.slide_to(view).await;
                if is_new {
                    // Another command may have been obeyed meanwhile, and have drawn its trail.
                    self.trace();
                }
            }
        }
        run
    }

    /// Plays on after a wait whose end does nothing else.
    fn plays_again(&self) {
        if self.inner.session.borrow().playback().is_playing() {
            self.play_on(self.inner.run.next());
        }
    }

    /// Plays in the background if the session plays, until a command begins another loop.
    fn play_on(&self, run: u64) {
        if self.inner.session.borrow().playback().is_playing() {
            let driver = self.clone();
            spawn_local(async move { driver.plays(run).await });
        }
    }

    /// Plays one beat after the other, until a command begins another loop.
    async fn plays(&self, run: u64) {
        while self.inner.run.is(run) {
            // What waits is for the moment at which it was said. Whatever ends the wait plays on.
            if !self.inner.line.is_empty() {
                return;
            }
            if document().hidden() {
                self.inner.session.borrow_mut().pause();
                break;
            }
            let change = self.inner.session.borrow_mut().tick();
            if change != Change::Forward {
                break;
            }
            self.told().await;
        }
        if self.inner.run.is(run) {
            self.draw().await;
        }
    }

    /// Shows the next picture until its scene is over and its sentence can have been read.
    async fn told(&self) {
        let scene = self.forward(0).await;
        let reads = |ui: &&Ui| {
            ui.shape
                .with_untracked(|shape| shape.controls != Controls::None)
        };
        let reading = self.inner.ui.get().filter(reads).map_or(0, |ui| {
            ui.view
                .with_untracked(|view| pace::reading(view, ui.lang.get_untracked()))
        });
        let reading = self.with(|session| session.playback().scaled(reading));
        TimeoutFuture::new(scene.max(reading)).await;
    }

    /// Shows the next picture with its scene, faster the more facts are `behind` it. Returns the duration in ms.
    async fn forward(&self, behind: usize) -> u32 {
        let (scene, view, speed) = {
            let mut session = self.inner.session.borrow_mut();
            let mut scene = session.scene();
            let view = session.view();
            if view.race().is_some() {
                scene = Scene {
                    ms: MOMENT_MS,
                    ..Scene::default()
                };
            }
            (scene, view, session.playback().clone())
        };
        let behind = u32::try_from(behind).unwrap_or(u32::MAX / 2);
        let scaled =
            |ms| u64::from(speed.scaled(ms)) * u64::from(HURRY) / u64::from(HURRY + behind);
        let scaled = |ms| u32::try_from(scaled(ms)).unwrap_or(ms).max(16);
        let stage = &self.inner.stage;
        if speed.speed() > NO_MOTION_ABOVE {
            stage.cut();
            self.set(view).await;
            if let Some((_, anchors)) = scene.flashes.last() {
                stage.flash(anchors, 0, SHORTEST_FLASH_MS);
            }
        } else if !self.still() {
            // Where things are is read while nothing has changed.
            let host = stage.host();
            let (before, places) = (sight::Before::of(host, &scene), Places::now(host));
            stage.cut();
            let names = Names::of(&view);
            let lang = self.inner.ui.get().map(|ui| ui.lang.get_untracked());
            let words = (&names, lang.unwrap_or_default());
            let play = |stage: &Stage| stage.play(before, &scene, words, &scaled);
            self.slide_from(places, view, scaled(SLIDE_MS), play).await;
        } else {
            let before = told(&view).and_then(|flight| stage.place(&flight.from));
            stage.cut();
            self.set(view).await;
            let lit = scene.flashes.last();
            let lit = lit.map_or_else(Vec::new, |(_, anchors)| stage.lit(anchors, 0));
            self.trail(before);
            stage.light(&lit, 0, scaled(SETTLE_MS));
        }
        scaled(scene.ms)
    }

    /// Cuts to the previous picture, and draws the way of the fact taken back in reverse.
    async fn back(&self) {
        let stage = &self.inner.stage;
        stage.cut();
        let taken_back = {
            let session = self.inner.session.borrow();
            session.taken_back().and_then(|(record, picture)| {
                let flight = plan::plan(&record, &picture).flight?;
                Some((stage.place(&flight.to)?, flight))
            })
        };
        let view = self.view();
        self.slide_to(view).await;
        if let Some((landed, flight)) = taken_back {
            stage.reversed(&flight, landed);
        }
    }

    /// Draws the trail of the fact that the screen was cut to; its source was there `before`.
    fn trail(&self, before: Option<Place>) {
        let shown = |ui: &Ui| ui.view.with_untracked(|view| told(view));
        let ui = self.inner.ui.get().filter(|_| !self.inner.gone.get());
        if let Some(flight) = ui.and_then(shown) {
            let stage = &self.inner.stage;
            stage.trail(before, &flight, self.still());
        }
    }

    /// Draws the trail anew, where things are now.
    pub(crate) fn trace(&self) {
        if !self.inner.gone.get() {
            // What slides is not where it will be.
            self.inner.slides.cut();
            self.inner.stage.cut();
            self.trail(None);
        }
    }

    /// Whether motions must not play.
    fn still(&self) -> bool {
        self.inner.motion.get().map_or_else(reduced, |moves| !moves)
    }

    /// The layer over the stage is positioned by the stage's rooms, so it is redrawn in another size.
    fn follow_size(&self) {
        let Some(layer) = self.host().find("#motion") else {
            return;
        };
        let driver = self.clone();
        // The first call only reports the current size.
        let first = Cell::new(true);
        let on_resize = Closure::<dyn FnMut()>::new(move || {
            count_below(driver.host());
            if !first.replace(false) && !driver.inner.stage.fits() {
                driver.trace();
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

    /// Shows a view. What it pushes aside slides to its new place.
    async fn slide_to(&self, view: View) {
        if self.still() {
            return self.set(view).await;
        }
        let places = Places::now(self.host());
        self.slide_from(places, view, SLIDE_MS, |_| 0).await;
    }

    /// Shows a view and plays what comes with it, which says when what leaves has gone. Then what the view pushes
    /// aside slides to its new place, for `ms` ms.
    async fn slide_from(
        &self,
        places: Places,
        view: View,
        ms: u32,
        play: impl FnOnce(&Stage) -> u32,
    ) {
        self.inner.slides.cut();
        self.set(view).await;
        // Before anything is painted.
        let moved = places.moved(self.host());
        let gone = play(&self.inner.stage);
        self.inner.slides.play(moved, gone, ms);
    }

    async fn set(&self, view: View) {
        if let Some(ui) = self.inner.ui.get().filter(|_| !self.inner.gone.get()) {
            self.inner.drawn.next();
            ui.view.set(Rc::new(view));
            // Effects run after the current task.
            tick().await;
            reveal(self.host());
            count_below(self.host());
        }
    }
}

/// The flight of the fact that is told.
fn told(view: &View) -> Option<Flight> {
    let (recent, picture) = view.narrated();
    plan::plan(recent.last()?, picture).flight
}

/// Returns when the browser draws next.
async fn frame() {
    let drawn = Promise::new(&mut |done, _| {
        let _ = window().request_animation_frame(&done);
    });
    let _ = JsFuture::from(drawn).await;
}

/// The same, or after [`LATE_MS`]: a browser draws nothing in a hidden page, nor in a frame that is out of sight.
pub(crate) async fn frame_or_late() {
    let mut asked = None;
    let drawn = Promise::new(&mut |done, _| {
        asked = window().request_animation_frame(&done).ok();
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, LATE_MS);
    });
    let _ = JsFuture::from(drawn).await;
    // Where none comes, they would become many.
    if let Some(asked) = asked {
        let _ = window().cancel_animation_frame(asked);
    }
}

/// Whether the reader's system asks for reduced motion.
fn reduced() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}
