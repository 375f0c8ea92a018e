//! Drives a session in the browser: commands in, views and motions out.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::Closure;
use web_sys::ResizeObserver;

use super::app::Ui;
use super::command::{Command, Export};
use super::i18n::Text;
use super::motion::plan::{self, Motion};
use super::motion::stage::Stage;
use super::session::{Change, Session};
use super::view::View;
use crate::replay::playback::{NO_MOTION_ABOVE, SHORTEST_FLASH_MS};

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
    /// When the last flash at high speed was, in ms.
    flashed: Cell<f64>,
}

impl Driver {
    /// With the first lesson open.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: Rc::new(Inner {
                session: RefCell::new(Session::new()),
                ui: OnceCell::new(),
                stage: Stage::default(),
                run: Cell::new(0),
                flashed: Cell::new(0.0),
            }),
        }
    }

    /// The same, then what a link holds.
    #[must_use]
    pub fn open(link: Option<String>) -> Self {
        let driver = Self::new();
        if let Some(link) = link {
            let command = Command::OpenLink(link.into());
            driver.inner.session.borrow_mut().obey(command);
        }
        driver
    }

    /// What leaves the page; a link is whole, with the address of the page.
    ///
    /// # Errors
    /// Says why it cannot, and what to do instead.
    pub fn export(&self, what: Export) -> Result<String, Text> {
        let exported = self.inner.session.borrow().export(what)?;
        if what != Export::Link {
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

    /// From now on this is the screen.
    pub fn attach(&self, ui: Ui) {
        // Attached once, when the page is mounted.
        let _ = self.inner.ui.set(ui);
        let driver = self.clone();
        spawn_local(async move {
            // The page is laid out after the task that mounts it.
            tick().await;
            TimeoutFuture::new(0).await;
            driver.trail();
            driver.follow_size();
        });
    }

    /// A command from a button or a key.
    pub fn send(&self, command: Command) {
        let driver = self.clone();
        let change = self.inner.session.borrow_mut().obey(command);
        spawn_local(async move {
            let run = driver.show(change).await;
            // While it plays it comes to what follows by itself.
            let playing = driver.inner.session.borrow().playback().is_playing();
            if let Change::Follow(to) = change
                && !playing
                && !still()
            {
                driver.follow(to, run).await;
            }
        });
    }

    /// A command from a script; done when the screen shows what came of it.
    pub async fn perform(&self, act: Box<dyn FnOnce(&mut Session) -> Change>) {
        let change = act(&mut self.inner.session.borrow_mut());
        self.show(change).await;
    }

    /// The number of the run that begins with it.
    async fn show(&self, change: Change) -> u64 {
        let run = self.next_run();
        match change {
            Change::Forward => {
                self.forward().await;
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
                let ms = driver.forward().await;
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
            let ms = self.forward().await;
            TimeoutFuture::new(ms).await;
        }
    }

    /// Puts the next picture on the screen, as a motion; says how long that takes.
    async fn forward(&self) -> u32 {
        let (view, motion, speed) = {
            let mut session = self.inner.session.borrow_mut();
            let view = session.view();
            let motion = session
                .current()
                .map(|record| plan::plan(&record, &view.picture))
                .unwrap_or_default();
            (view, motion, session.playback().clone())
        };
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
            return speed.scaled(motion.ms);
        }
        let before = stage.before(&motion);
        self.set(view).await;
        stage.play(before, &motion, still(), |ms| speed.scaled(ms));
        let Motion { ms, .. } = motion;
        speed.scaled(ms)
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
            self.inner.stage.trail(&from, &flight, still());
        }
    }

    /// What is drawn over the stage stands where its rooms are: in another size it is drawn anew.
    fn follow_size(&self) {
        let Some(layer) = document().get_element_by_id("motion") else {
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
            // As long as the page.
            on_resize.forget();
        }
    }

    async fn draw(&self) {
        let view = self.view();
        self.set(view).await;
    }

    async fn set(&self, view: View) {
        if let Some(ui) = self.inner.ui.get() {
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

impl Default for Driver {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the visitor wants nothing to move.
fn still() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}
