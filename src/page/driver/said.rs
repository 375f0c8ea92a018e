//! What is said to a board: the commands of buttons and keys, and the calls of scripts.
//!
//! Until what it needs of the program is there, what is said waits: see [`Line`](super::line::Line). Escape, the end of the board, and
//! another run that nobody said (a tab's, a tap's) end the wait; a run that is connected does not, for what was said after it.

use std::pin::Pin;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::{spawn_local, tick};

use super::line::Turn;
use super::{Driver, Opens};
use crate::later::{self, Part};
use crate::paced::Paced;
use deltascope_presentation::command::Command;
use deltascope_presentation::session::opening::open_or_cut;
use deltascope_presentation::session::{Change, Session};
use deltascope_world::text::Text;

/// What connects, for whoever drives knows no cluster.
type Connects = Pin<Box<dyn Future<Output = Result<(), Text>>>>;

/// A command as it is performed. Boxed, so that it is compiled once.
type Said = Pin<Box<dyn Future<Output = ()>>>;

/// What is done to a session.
type Act = Box<dyn FnOnce(&mut Session) -> Change>;

impl Driver {
    /// Takes a turn, to be kept until all is done: at once, unless something waits already or the part is not there.
    fn turn(&self, needs: Part) -> Turn {
        let line = &self.inner.line;
        if line.is_empty() && later::has(needs) {
            return Turn::NOW;
        }
        let turn = Turn::last(line);
        if self.inner.gone.get() {
            drop(line.leave());
        } else {
            self.wait_for(needs);
        }
        turn
    }

    /// Waits for its turn, and for what it needs: those before it may need less. Returns false if it does not come.
    async fn comes(&self, turn: &Turn, needs: Part) -> bool {
        while turn.comes().await {
            if later::has(needs) {
                return true;
            }
            turn.again();
            self.wait_for(needs);
        }
        false
    }

    /// Has the line wait for a part, unless it waits for one already.
    fn wait_for(&self, part: Part) {
        if later::has(part) {
            return;
        }
        self.waits(true);
        let driver = self.clone();
        spawn_local(async move { driver.bring(part).await });
    }

    /// Fetches what the line waits for. Meanwhile the screen says so, and Escape ends the wait.
    async fn bring(&self, part: Part) {
        if self.inner.brings.replace(true) {
            return;
        }
        let fetched = self.complete(part).await;
        self.inner.brings.set(false);
        if self.inner.line.is_empty() {
            return;
        }
        self.waits(false);
        match fetched {
            Ok(()) => {
                self.misses(None);
                self.inner.line.go();
            }
            Err(missing) => {
                // A command after the one that cannot be done may not be meant without it.
                let _left = self.inner.line.leave();
                self.with(|session| session.say(missing.clone()));
                self.misses(Some(missing));
                self.plays_again();
                tick().await;
            }
        }
    }

    /// Shows whether something waits for a part.
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
        if self.opens(&command) {
            // What waits is told there, and can be ended.
            self.show_stage();
        }
        spawn_local(self.said(Part::of(&command), Box::new(|| command), false));
    }

    /// Performs a command of a script. Returns once the screen shows the result; of a step of a story, once the play to its
    /// moment is over. `needs`: what makes the command, and what obeys it.
    pub(crate) fn say(&self, needs: Part, makes: impl FnOnce() -> Command + 'static) -> Said {
        self.said(needs, Box::new(makes), true)
    }

    fn said(&self, needs: Part, makes: Box<dyn FnOnce() -> Command>, by_script: bool) -> Said {
        let driver = self.clone();
        let turn = self.turn(needs);
        Box::pin(async move {
            if !driver.comes(&turn, needs).await {
                return;
            }
            let command = makes();
            match driver.opens(&command) {
                true => driver.opened(command, turn).await,
                false => driver.does(command, by_script, turn).await,
            }
        })
    }

    /// Whether a command opens a run. A log that is heard beside an informer's run does not.
    fn opens(&self, command: &Command) -> bool {
        command.opens() && !self.with(|session| session.hears(command))
    }

    async fn does(&self, mut command: Command, by_script: bool, turn: Turn) {
        let seeks = matches!(command, Command::Seek(_) | Command::SeekTo(_));
        if by_script && seeks {
            self.inner.seeks.next();
        } else if by_script && !self.sought().await && matches!(command, Command::Step(_)) {
            return;
        }
        // To ask why changes nothing that another command does.
        if !matches!(command, Command::AskWhy(_)) {
            self.ask();
        }
        let mut turn = Some(turn);
        if let Some(far) = self.with(|session| session.needs(&command)) {
            // What comes next takes its place.
            turn.take();
            if !self.compute(&far).await {
                return;
            }
            command = far.instead_of(command);
        }
        let tells = matches!(command, Command::Tell(_) | Command::Answer(_));
        let change = self.with(|session| match by_script {
            true => session.obey_or_say(command),
            false => session.obey(command),
        });
        self.asked();
        let plays_scene = self.with(|session| session.plays_scene());
        let run = self.show_still(change).await;
        drop(turn);
        if tells && plays_scene {
            self.plays(run).await;
        } else {
            self.play_on(run);
        }
    }

    /// Opens a lesson, a link or files, or cuts the run down, slice by slice. Meanwhile the screen shows the progress; a later
    /// opening replaces this one.
    async fn opened(&self, command: Command, turn: Turn) {
        self.show_stage();
        if matches!(command, Command::Smallest(_)) {
            self.sought().await;
        }
        let number = self.inner.opening.next();
        let wanted = self.with(|session| session.before_opening(&command));
        let opening = Paced::of(move |slices| -> Opens {
            Box::pin(async move { open_or_cut(&command, wanted, &slices).await })
        });
        self.asked();
        // As when nothing had to be fetched, what comes next may take its place.
        drop(turn);
        self.open(opening, number).await;
    }

    /// Connects for a script, or says why not. If this has to wait, what is said after it waits for its run, too.
    pub(crate) fn connects(&self, connect: Connects) -> impl Future<Output = ()> + use<> {
        let (driver, turn) = (self.clone(), self.turn(Part::All));
        async move {
            if !driver.comes(&turn, Part::All).await {
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
        let turn = self.inner.seeks.now();
        while self.inner.seeking.get() > 0 {
            TimeoutFuture::new(0).await;
        }
        self.inner.seeks.is(turn)
    }

    /// Does what is no command: it shows another session, or what a cluster sends. It cannot wait, and ends what waits, unless
    /// that waits for this.
    pub async fn act_now(&self, act: Act) {
        if !self.inner.line.is_led() {
            drop(self.inner.line.leave());
        }
        self.end_opening();
        self.ask();
        self.act(act).await;
    }

    async fn act(&self, act: Act) {
        let change = self.with(act);
        self.asked();
        self.show(change).await;
    }
}
