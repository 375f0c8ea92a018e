//! What is said to a board: the commands of buttons and keys, and the calls of scripts.
//!
//! Until the rest of the program is there, what is said waits: see [`Line`](super::line::Line). Another run, Escape and the end of the
//! board end the wait; a run that is connected does not, for what was said after it.

use std::pin::Pin;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};

use super::line::Turn;
use super::{Driver, Opens};
use crate::later::{self, Part};
use crate::paced::Paced;
use deltascope_presentation::command::Command;
use deltascope_presentation::i18n::Text;
use deltascope_presentation::session::opening::open_or_cut;
use deltascope_presentation::session::{Change, Session};

/// What connects, for whoever drives knows no cluster.
type Connects = Pin<Box<dyn Future<Output = Result<(), Text>>>>;

/// What is done to a session.
type Act = Box<dyn FnOnce(&mut Session) -> Change>;

impl Driver {
    /// Takes a turn, to be kept until all is done: at once, unless something waits already or the rest is not there.
    fn turn(&self) -> Turn {
        let line = &self.inner.line;
        if line.is_empty() && later::has(Part::Rest) {
            return Turn::NOW;
        }
        let turn = Turn::last(line);
        if self.inner.gone.get() {
            drop(line.leave());
        } else if !later::has(Part::Rest) {
            self.waits(true);
            let driver = self.clone();
            spawn_local(async move { driver.bring().await });
        }
        turn
    }

    /// Fetches what the line waits for. Meanwhile the screen says so, and Escape ends the wait.
    async fn bring(&self) {
        if self.inner.brings.replace(true) {
            return;
        }
        let fetched = self.complete(Part::Rest).await;
        self.inner.brings.set(false);
        if self.inner.line.is_empty() {
            return;
        }
        self.waits(false);
        match fetched {
            Ok(()) => self.inner.line.go(),
            Err(missing) => {
                // A command after the one that cannot be done may not be meant without it.
                let _left = self.inner.line.leave();
                self.with(|session| session.say(missing.clone()));
                self.misses(Some(missing));
                tick().await;
            }
        }
    }

    /// Shows whether something waits for the rest.
    pub(crate) fn waits(&self, waits: bool) {
        let ui = self.inner.ui.get().filter(|_| !self.inner.gone.get());
        if let Some(ui) = ui.filter(|ui| ui.waits.get_untracked() != waits) {
            ui.waits.set(waits);
        }
    }

    /// Shows why a part has not come, or that no more.
    pub(crate) fn misses(&self, missing: Option<Text>) {
        let ui = self.inner.ui.get().filter(|_| !self.inner.gone.get());
        if let Some(ui) =
            ui.filter(|ui| missing.is_some() || ui.missing.with_untracked(Option::is_some))
        {
            ui.missing.set(missing);
        }
    }

    /// Fetches a part for this board.
    ///
    /// # Errors
    /// It cannot be fetched, or the board is gone.
    pub(crate) async fn complete(&self, part: Part) -> Result<(), Text> {
        later::fetched(part).await?;
        if self.inner.gone.get() {
            return Err(later::missing());
        }
        Ok(())
    }

    /// Performs a command of a button or a key.
    pub fn send(&self, command: Command) {
        let driver = self.clone();
        let watched = self.inner.ui.get().is_some_and(|ui| {
            let watch = ui.shape.try_with_untracked(|shape| shape.watch);
            watch.unwrap_or_default()
        });
        // A key's command; there are no buttons for these commands.
        if watched && command.changes_the_run() {
            return;
        }
        if matches!(command, Command::DismissError) {
            self.ask();
            self.stop_opening();
            // What is said of an attribute stays until the rest is there.
            if !later::has(Part::Rest) {
                return;
            }
        }
        if command.opens() && !self.with(|session| session.hears(&command)) {
            let opening = self.opens(command);
            return spawn_local(opening);
        }
        let turn = self.turn();
        if turn.is_now() {
            self.does(command, None);
        } else {
            spawn_local(async move {
                if turn.comes().await {
                    driver.does(command, Some(turn));
                }
            });
        }
    }

    fn does(&self, command: Command, turn: Option<Turn>) {
        // To ask why changes nothing that another command does.
        if !matches!(command, Command::AskWhy(_)) {
            self.ask();
        }
        let Some(far) = self.with(|session| session.needs(&command)) else {
            return self.obey(command, turn);
        };
        // What comes next takes its place.
        drop(turn);
        let driver = self.clone();
        spawn_local(async move {
            if driver.compute(&far).await {
                driver.obey(far.instead_of(command), None);
            }
        });
    }

    fn obey(&self, command: Command, turn: Option<Turn>) {
        let driver = self.clone();
        let change = self.inner.session.borrow_mut().obey(command);
        self.asked();
        spawn_local(async move {
            driver.show(change).await;
            drop(turn);
        });
    }

    /// Opens a lesson, a link or files, or cuts the run down, slice by slice. Returns once the screen shows it. Meanwhile the screen
    /// shows the progress; a later opening replaces this one.
    pub fn opens(&self, command: Command) -> impl Future<Output = ()> + use<> {
        let driver = self.clone();
        // What waits is told there, and can be ended.
        self.show_stage();
        let turn = self.turn();
        async move {
            if !turn.comes().await {
                return;
            }
            if matches!(command, Command::Smallest(_)) {
                driver.sought().await;
            }
            let number = driver.next_opening();
            let wanted = driver.with(|session| session.before_opening(&command));
            let opening = Paced::of(move |slices| -> Opens {
                Box::pin(async move { open_or_cut(&command, wanted, &slices).await })
            });
            driver.asked();
            // As when nothing had to be fetched, what comes next may take its place.
            drop(turn);
            driver.open(opening, number).await;
        }
    }

    /// Connects for a script, or says why not. If this has to wait, what is said after it waits for its run, too.
    pub(crate) fn connects(&self, connect: Connects) -> impl Future<Output = ()> + use<> {
        let (driver, turn) = (self.clone(), self.turn());
        async move {
            if !turn.comes().await {
                return;
            }
            turn.leads();
            if let Err(wrong) = connect.await {
                driver
                    .act(Box::new(move |session| session.say(wrong)))
                    .await;
            }
        }
    }

    /// Waits for the seeks that a script has not awaited: its next call goes on from there. Returns whether no other seek
    /// was asked for meanwhile.
    async fn sought(&self) -> bool {
        let turn = self.inner.seeks.get();
        while self.inner.seeking.get() > 0 {
            TimeoutFuture::new(0).await;
        }
        turn == self.inner.seeks.get()
    }

    fn seeks(&self) {
        self.inner.seeks.set(self.inner.seeks.get() + 1);
    }

    /// Performs a step of a story for a script. Returns once the play to its moment is over.
    pub async fn tells(&self, act: Act) {
        let turn = self.turn();
        if !turn.comes().await {
            return;
        }
        self.sought().await;
        self.ask();
        let change = act(&mut self.inner.session.borrow_mut());
        self.asked();
        let plays = self.with(|session| session.plays_scene());
        if !plays {
            self.show(change).await;
            return;
        }
        let run = self.show_still(change).await;
        drop(turn);
        self.plays(run).await;
    }

    /// Performs a command of a script. Returns once the screen shows the result. One that `seeks` takes the place of an earlier one.
    pub async fn perform(&self, seeks: bool, act: Act) {
        let turn = self.turn();
        if !turn.comes().await {
            return;
        }
        if seeks {
            self.seeks();
        } else {
            self.sought().await;
        }
        self.ask();
        self.act(act).await;
    }

    /// The same for what cannot wait, and ends what waits, unless that waits for this.
    pub async fn act_now(&self, act: Act) {
        if !self.inner.line.is_led() {
            drop(self.inner.line.leave());
        }
        self.end_opening();
        self.ask();
        self.act(act).await;
    }

    async fn act(&self, act: Act) {
        let change = act(&mut self.inner.session.borrow_mut());
        self.asked();
        self.show(change).await;
    }

    /// The same for a command that may have to compute the run far ahead. A seek takes the place of an earlier one.
    pub async fn perform_far(&self, mut command: Command) {
        let turn = self.turn();
        if !turn.comes().await {
            return;
        }
        if matches!(command, Command::Seek(_)) {
            self.seeks();
        } else if !self.sought().await && matches!(command, Command::Step(_)) {
            return;
        }
        self.ask();
        if let Some(far) = self.with(|session| session.needs(&command)) {
            drop(turn);
            if !self.compute(&far).await {
                return;
            }
            command = far.instead_of(command);
        }
        self.act(Box::new(move |session| session.obey_or_say(command)))
            .await;
    }
}
