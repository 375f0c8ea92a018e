//! The tabs of the page: several sessions, each with its connection. The driver has the session of the one that is
//! shown; the others are parked in their tabs, and go on receiving.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Connects, Inner, Link};
use crate::animate::now;
use crate::driver::Driver;
use crate::later::Part;
use deltascope_cache::key::Key;
use deltascope_presentation::cluster::owners::{Line, Watched, relations};
use deltascope_presentation::cluster::{Options, Status, Tab, room_beside};
use deltascope_presentation::command::Command;
use deltascope_presentation::session::{Change, Session};
use deltascope_world::source::proxy::target::Target;
use deltascope_world::text::{Lang, Text};

/// How often the strip is updated, in ms.
const STRIP_MS: f64 = 500.0;

pub(super) struct Together {
    driver: Driver,
    status: RwSignal<Status>,
    tabs: RwSignal<Vec<Tab>>,
    /// Never empty. One of them, which is shown, has no parked session.
    all: RefCell<Vec<Rc<Inner>>>,
    /// The number of the next tab.
    next: Cell<u64>,
    /// When the strip was updated last, in ms.
    said: Cell<f64>,
    /// Listens until the board is gone.
    left: RefCell<Vec<WindowListenerHandle>>,
}

impl Drop for Together {
    fn drop(&mut self) {
        for listener in self.left.take() {
            listener.remove();
        }
    }
}

/// Redraws a live run when a page is shown again that was hidden.
pub(super) fn seen_again(driver: &Driver) -> WindowListenerHandle {
    let driver = driver.clone();
    window_event_listener(
        ev::Custom::new("visibilitychange"),
        move |_: web_sys::Event| driver.keep_up(),
    )
}

/// What the main part of the program knows of the tabs: the rest comes with the part that makes them.
pub(super) trait Tabs {
    /// Shows another tab.
    fn show(&self, id: u64);
    /// Closes the tab that is shown.
    fn close(&self);
    /// All tabs, with their objects at the moment of the cursor here.
    fn watched(&self) -> Vec<Watched>;
    /// Shows an object in a tab, at the moment of the cursor here.
    fn show_object(&self, id: u64, key: Key);
    /// What the tab that is shown watches.
    fn target(&self) -> Option<Rc<Target>>;
    /// Begins a live run, in the tab that is shown or in one beside it.
    fn begin(self: Rc<Self>, target: Target, options: Options, beside: bool) -> Connects;
}

impl Link {
    /// The link of this driver, which is not connected yet.
    #[must_use]
    pub fn new(driver: &Driver) -> Self {
        Self {
            driver: StoredValue::new_local(driver.clone()),
            inner: StoredValue::new_local(None),
            status: RwSignal::default(),
            tabs: RwSignal::default(),
        }
    }

    /// The tabs; the first call makes one.
    pub(super) fn made(self) -> Rc<dyn Tabs> {
        if let Some(all) = self.inner.get_value() {
            return all;
        }
        let all: Rc<dyn Tabs> = Together::new(self.driver.get_value(), self.status, self.tabs);
        self.inner.set_value(Some(Rc::clone(&all)));
        all
    }

    /// The tab that is shown.
    #[must_use]
    pub fn shown(self) -> u64 {
        self.tabs.with_untracked(|tabs| Tab::shown(tabs))
    }

    /// Shows another tab.
    pub fn show(self, id: u64) {
        if let Some(all) = self.inner.get_value() {
            all.show(id);
        }
    }

    /// Closes the tab that is shown, unless it is the only one: disconnects it, and drops its run.
    pub fn close(self) {
        if let Some(all) = self.inner.get_value() {
            all.close();
        }
    }

    /// The owners of an object of the tab that is shown, and what it owns in any tab, at the moment of its cursor: in
    /// words, with links.
    #[must_use]
    pub fn related(self, key: &Key, lang: Lang) -> Vec<Line> {
        let here = self.shown();
        let watched = match self.inner.get_value() {
            Some(all) => all.watched(),
            None => vec![Watched {
                tab: here,
                target: None,
                objects: Some(self.driver.get_value().session().objects_here()),
            }],
        };
        let is_on = self.status.with_untracked(Status::is_on);
        let tabs = self.tabs.get_untracked();
        relations(key, here, &watched).lines(lang, &tabs, is_on)
    }

    /// Shows an object in a tab, at the moment of the cursor here.
    pub fn show_object(self, id: u64, key: Key) {
        if let Some(all) = self.inner.get_value() {
            all.show_object(id, key);
        }
    }
}

impl Tabs for Together {
    fn show(&self, id: u64) {
        let to = self.all.borrow().iter().find(|one| one.id == id).cloned();
        let (Some(from), Some(to)) = (self.here(), to) else {
            return;
        };
        // None: it is shown.
        let Some(session) = to.parked.take() else {
            return;
        };
        let before = self.driver.put(session);
        from.parked.replace(Some(before));
        self.driver.show_stage();
        self.perform(Box::new(Session::show_again));
        self.say(&to);
        self.list();
    }

    fn close(&self) {
        let Some(here) = self.here() else {
            return;
        };
        let next = {
            let all = self.all.borrow();
            let at = all
                .iter()
                .position(|one| one.id == here.id)
                .unwrap_or_default();
            let next = all.get(at + 1).or_else(|| all.get(at.checked_sub(1)?));
            next.map(|next| next.id)
        };
        let Some(next) = next else {
            return;
        };
        here.close();
        self.show(next);
        self.all.borrow_mut().retain(|one| one.id != here.id);
        self.share();
    }

    fn watched(&self) -> Vec<Watched> {
        let wall = self.driver.session().wall();
        let watched = |one: &Rc<Inner>| {
            let (is_shown, session) = (one.is_shown(), one.session());
            Watched {
                tab: one.id,
                target: one.target.borrow().clone(),
                objects: match is_shown {
                    true => Some(session.objects_here()),
                    false => session.objects_then(wall),
                },
            }
        };
        self.all.borrow().iter().map(watched).collect()
    }

    fn show_object(&self, id: u64, key: Key) {
        let wall = self.driver.session().wall();
        self.show(id);
        self.perform(Box::new(move |session| session.show_object(key, wall)));
    }

    fn target(&self) -> Option<Rc<Target>> {
        let here = self.here()?;
        let wire = here.wire.borrow();
        wire.as_ref().map(|wire| Rc::clone(&wire.target))
    }

    fn begin(self: Rc<Self>, target: Target, options: Options, beside: bool) -> Connects {
        Box::pin(async move {
            target.check()?;
            self.driver.complete(Part::All).await?;
            if beside {
                self.add()?;
            }
            let Some(here) = self.here() else {
                return Ok(());
            };
            here.begin(target, &options).await;
            self.share();
            Ok(())
        })
    }
}

impl Together {
    /// With one tab that is not connected yet.
    fn new(driver: Driver, status: RwSignal<Status>, tabs: RwSignal<Vec<Tab>>) -> Rc<Self> {
        let all = Rc::new(Self {
            driver: driver.clone(),
            status,
            tabs,
            all: RefCell::default(),
            next: Cell::default(),
            said: Cell::new(0.0),
            left: RefCell::default(),
        });
        all.new_tab(None);
        let after = Rc::downgrade(&all);
        driver.listen(move || {
            if let Some(here) = after.upgrade().and_then(|all| all.here()) {
                here.turn();
            }
        });
        // A page that is left disconnects; one that is only hidden stays connected.
        let leaving = Rc::downgrade(&all);
        let left = window_event_listener(ev::pagehide, move |_| {
            let all = leaving.upgrade();
            for one in all.iter().flat_map(|all| all.all.borrow().clone()) {
                one.session().obey(Command::Disconnect);
                one.close();
            }
        });
        all.left.replace(vec![left, seen_again(&driver)]);
        all
    }

    /// The tab that is shown.
    pub(super) fn here(&self) -> Option<Rc<Inner>> {
        let all = self.all.borrow();
        all.iter().find(|one| one.is_shown()).cloned()
    }

    fn new_tab(self: &Rc<Self>, session: Option<Session>) -> u64 {
        // No number is used again: the drawer keeps something for each.
        let id = self.next.replace(self.next.get() + 1);
        self.all.borrow_mut().push(Rc::new(Inner {
            id,
            all: Rc::downgrade(self),
            driver: self.driver.clone(),
            parked: RefCell::new(session),
            target: RefCell::default(),
            wire: RefCell::default(),
            timer: RefCell::default(),
        }));
        id
    }

    /// Adds a tab, and shows it.
    pub(super) fn add(self: &Rc<Self>) -> Result<(), Text> {
        room_beside(self.all.borrow().len())?;
        let beside = self.driver.session().beside();
        let id = self.new_tab(Some(beside));
        self.show(id);
        Ok(())
    }

    /// Performs an act in the tab that is shown.
    fn perform(&self, act: Box<dyn FnOnce(&mut Session) -> Change>) {
        let driver = self.driver.clone();
        spawn_local(async move {
            driver.act_now(act).await;
            driver.keep_up();
        });
    }

    /// Divides the memory among the tabs.
    pub(super) fn share(&self) {
        let all = self.all.borrow();
        for one in all.iter() {
            one.session().share(all.len());
        }
        drop(all);
        self.list();
    }

    /// The state of a tab may have changed.
    pub(super) fn say(&self, one: &Inner) {
        if one.is_shown() {
            let status = one.status();
            if self.status.with_untracked(|before| *before != status) {
                self.status.set(status);
                return self.list();
            }
        }
        // The strip shows counts, which a busy cluster changes all the time.
        if now() - self.said.get() >= STRIP_MS {
            self.list();
        }
    }

    /// Updates the strip.
    pub(super) fn list(&self) {
        self.said.set(now());
        let row = |one: &Rc<Inner>| {
            let (shown, status) = (one.is_shown(), one.status());
            let session = one.session();
            let mut row = Tab::new(one.id, session.title().clone(), session.live_view(), status);
            row.shown = shown;
            (row.objects, row.facts) = (session.objects_now(), session.facts_stated());
            row
        };
        let rows: Vec<Tab> = self.all.borrow().iter().map(row).collect();
        if self.tabs.with_untracked(|before| *before != rows) {
            self.tabs.set(rows);
        }
    }
}
