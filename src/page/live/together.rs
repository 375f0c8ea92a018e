//! The tabs of the page: several sessions, each with its connection. The driver has the session of the one that is
//! shown; the others are parked in their tabs, and go on receiving.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Inner, Link};
use crate::animate::now;
use crate::driver::Driver;
use deltascope_cache::key::Key;
use deltascope_presentation::cluster::owners::{Line, Watched, relations};
use deltascope_presentation::cluster::{Status, Tab, room_beside};
use deltascope_presentation::command::Command;
use deltascope_presentation::i18n::{Lang, Text};
use deltascope_presentation::session::{Change, Session};

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
}

impl Link {
    /// The link of this driver, with one tab that is not connected yet.
    #[must_use]
    pub fn new(driver: &Driver) -> Self {
        let (status, tabs) = (RwSignal::default(), RwSignal::default());
        let all = Rc::new(Together {
            driver: driver.clone(),
            status,
            tabs,
            all: RefCell::default(),
            next: Cell::default(),
            said: Cell::new(0.0),
        });
        all.new_tab(None);
        let after = Rc::downgrade(&all);
        driver.listen(move || {
            if let Some(here) = after.upgrade().and_then(|all| all.here()) {
                here.turn();
            }
        });
        // A page that is left disconnects; one that is only hidden stays connected.
        let leaving = Rc::clone(&all);
        let left = window_event_listener(ev::pagehide, move |_| {
            for one in leaving.all.borrow().iter() {
                one.session().obey(Command::Disconnect);
                one.close();
            }
        });
        let seen = driver.clone();
        let back = window_event_listener(
            ev::Custom::new("visibilitychange"),
            move |_: web_sys::Event| seen.keep_up(),
        );
        on_cleanup(move || {
            left.remove();
            back.remove();
        });
        Self {
            inner: StoredValue::new_local(all),
            status,
            tabs,
        }
    }

    /// The tab that is shown.
    #[must_use]
    pub fn shown(self) -> u64 {
        self.tabs.with_untracked(|tabs| Tab::shown(tabs))
    }

    /// Shows another tab.
    pub fn show(self, id: u64) {
        self.inner.get_value().show(id);
    }

    /// Closes the tab that is shown, unless it is the only one: disconnects it, and drops its run.
    pub fn close(self) {
        self.inner.get_value().close();
    }

    /// The owners of an object of the tab that is shown, and what it owns in any tab, at the moment of its cursor: in
    /// words, with links.
    #[must_use]
    pub fn related(self, key: &Key, lang: Lang) -> Vec<Line> {
        let all = self.inner.get_value();
        let (here, wall) = (self.shown(), all.driver.session().wall());
        let watched = |one: &Rc<Inner>| {
            let session = one.session();
            Watched {
                tab: one.id,
                target: one.target.borrow().clone(),
                objects: match one.id == here {
                    true => Some(session.objects_here()),
                    false => session.objects_then(wall),
                },
            }
        };
        let watched: Vec<Watched> = all.all.borrow().iter().map(watched).collect();
        let is_on = self.status.with_untracked(Status::is_on);
        let tabs = self.tabs.get_untracked();
        relations(key, here, &watched).lines(lang, &tabs, is_on)
    }

    /// Shows an object in a tab, at the moment of the cursor here.
    pub fn show_object(self, id: u64, key: Key) {
        let all = self.inner.get_value();
        let wall = all.driver.session().wall();
        all.show(id);
        all.perform(Box::new(move |session| session.show_object(key, wall)));
    }
}

impl Together {
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

    /// Performs an act in the tab that is shown.
    fn perform(&self, act: Box<dyn FnOnce(&mut Session) -> Change>) {
        let driver = self.driver.clone();
        spawn_local(async move {
            driver.act_now(act).await;
            driver.keep_up();
        });
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
