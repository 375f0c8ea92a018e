//! What all components of a board share: the current view, language, theme and shape.

use std::rc::Rc;
use std::sync::Arc;

use leptos::callback::{Callable, UnsyncCallback};
use leptos::prelude::*;

use crate::host::Host;
use crate::memo::{Memo, effect_after};
use deltascope_presentation::command::{Command, Export, Tell};
pub use deltascope_presentation::options::Theme;
use deltascope_presentation::options::{Controls, Mode, Options};
use deltascope_presentation::shelf::Course;
use deltascope_presentation::shelf::progress::Progress;
use deltascope_presentation::stage::{Panel, Piece};
use deltascope_presentation::strings::{Strings, strings};
use deltascope_presentation::view::View;
use deltascope_world::text::{Lang, Text};

/// The state that the components share, provided as a context.
///
/// A [`View`] holds `Rc`s, so its signal lives in [`LocalStorage`]. The handles themselves are `Copy` and `Send`,
/// so memos may capture a `Ui`. The driver sets `view` once per step. Rows are memos over it, so a room whose rows
/// are equal is not redrawn.
#[derive(Clone, Copy)]
pub struct Ui {
    /// What the screen shows now.
    pub view: RwSignal<Rc<View>, LocalStorage>,
    /// The language; [`follow`] keeps `<html lang>` and the remembered choice in step with it.
    pub lang: RwSignal<Lang>,
    /// The theme; [`follow`] keeps `data-theme` and the remembered choice in step with it.
    pub theme: RwSignal<Theme>,
    /// The lessons of the menu: id and title.
    pub lessons: RwSignal<Lessons>,
    /// Receives the commands of all buttons, keys and dropped files.
    pub on: UnsyncCallback<Command>,
    /// Exports the run as a link or a file.
    pub export: UnsyncCallback<Export, Result<String, Text>>,
    /// Where the board is mounted.
    pub host: StoredValue<Host, LocalStorage>,
    /// Which parts of the board are shown.
    pub shape: RwSignal<Shape>,
    /// How many of its pieces are drawn.
    pub built: RwSignal<u8>,
    /// What is in the place of the stage.
    pub shelf: RwSignal<Shelved>,
    /// How far the lessons have been told.
    pub progress: RwSignal<Progress>,
    /// Whether the browser keeps what is remembered.
    pub kept: RwSignal<bool>,
    /// Whether a command waits for a part of the program. Beside the view, for to draw that anew takes much of the rest.
    pub waits: RwSignal<bool>,
    /// How many views wait for their part.
    pub fetches: RwSignal<u32>,
    /// Why a part of the program has not come.
    pub missing: RwSignal<Option<Text>>,
}

/// What is in the place of the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shelved {
    /// Nothing. What was shown of the lessons is kept, for a course that was taken goes on.
    No(Browse),
    /// The lessons.
    Lessons(Browse),
    /// A tap's informers.
    Informers,
}

impl Shelved {
    /// What is shown of the lessons, or was.
    #[must_use]
    pub fn lessons(&self) -> Option<&Browse> {
        match self {
            Self::No(lessons) | Self::Lessons(lessons) => Some(lessons),
            Self::Informers => None,
        }
    }

    /// The course that is taken.
    #[must_use]
    pub fn taken(&self) -> Option<Taken> {
        self.lessons()?.taken
    }
}

/// What the shelf shows of the lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Browse {
    /// What is searched for.
    pub query: String,
    /// The course that is taken.
    pub taken: Option<Taken>,
}

/// A course that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Which.
    pub course: Course,
    /// Whether its notes for the teacher are shown.
    pub teaches: bool,
}

/// Which parts of the board are shown: all on the project's own page, a selection on other pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Whether the board is an element of another page.
    pub embedded: bool,
    /// The rooms to show; empty: all.
    pub panels: Vec<Panel>,
    /// Which controls to show.
    pub controls: Controls,
    /// Whether the user may only move through time, and not change the run.
    pub watch: bool,
}

impl Shape {
    /// The shape that an element's options ask for.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        Self {
            embedded: true,
            panels: options.panels.clone(),
            controls: options.controls,
            watch: options.mode == Mode::Watch,
        }
    }

    /// Whether all controls are shown.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.embedded || self.controls == Controls::Full
    }
}

/// The lessons (and the sandbox, and bundled recordings) of the menu: id and title, in order.
pub type Lessons = Arc<[(Arc<str>, Text)]>;

impl Ui {
    /// The `Ui` of the current context. Panics if there is none.
    #[must_use]
    pub fn get() -> Self {
        expect_context::<Self>()
    }

    /// Where the board is mounted.
    #[must_use]
    pub fn host(self) -> Host {
        self.host.get_value()
    }

    /// Whether a piece of the board may be drawn already; tracks it.
    #[must_use]
    pub fn has(self, piece: Piece) -> bool {
        self.built.get() > piece.place()
    }

    /// Sends a command to the driver.
    pub fn send(self, command: Command) {
        self.on.run(command);
    }

    /// Whether the shelf is in the place of the stage; tracks it.
    #[must_use]
    pub fn shelved(self) -> bool {
        self.shelf.with(|shelf| !matches!(shelf, Shelved::No(_)))
    }

    /// Whether the lessons are; tracks it.
    #[must_use]
    pub fn shows_lessons(self) -> bool {
        self.shelf
            .with(|shelf| matches!(shelf, Shelved::Lessons(_)))
    }

    /// Whether a tap's informers are; tracks it.
    #[must_use]
    pub fn shows_informers(self) -> bool {
        self.shelf.with(|shelf| *shelf == Shelved::Informers)
    }

    /// Changes what the shelf shows of the lessons.
    pub fn change_lessons(self, change: impl FnOnce(&mut Browse)) {
        self.shelf.update(|shelf| {
            if let Shelved::Lessons(lessons) = shelf {
                change(lessons);
            }
        });
    }

    /// Goes on in this course, or in none.
    pub fn take(self, course: Option<Course>) {
        let taken = course.map(|course| Taken {
            course,
            teaches: false,
        });
        if self.shelf.with_untracked(Shelved::taken) != taken {
            self.shelf.update(|shelf| {
                if let Shelved::No(lessons) | Shelved::Lessons(lessons) = shelf {
                    lessons.taken = taken;
                }
            });
        }
    }

    /// Shows the shelf in place of the stage or of a handout. Nothing goes on unseen; a cluster does not wait.
    pub fn show_shelf(self, shelved: Shelved) {
        let plays = |view: &Rc<View>| view.playing && view.live.is_none();
        if self.view.with_untracked(plays) {
            self.send(Command::TogglePlay);
        }
        self.leave_paper();
        self.shelf.set(shelved);
    }

    fn leave_paper(self) {
        if self.view.with_untracked(|view| view.on_paper()) {
            self.send(Command::Tell(Tell::Handout(false)));
        }
    }

    /// Shows the board in place of the shelf or of a handout.
    pub fn show_board(self) {
        self.leave_paper();
        self.show_stage();
    }

    /// Shows the stage in place of the shelf.
    pub fn show_stage(self) {
        if untrack(|| self.shelved()) {
            self.shelf
                .update(|shelf| *shelf = Shelved::No(shelf.lessons().cloned().unwrap_or_default()));
        }
    }

    /// The page's words; tracks the language.
    #[must_use]
    pub fn words(self) -> &'static Strings {
        strings(self.lang.get())
    }

    /// A memo over the view. Its readers are notified only when the result changes.
    pub fn memo<T>(self, rows: impl Fn(&View) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |_| rows(&self.view.get()))
    }
}

/// Keeps the board's root element, and on the project's page the remembered choices, in step with language and
/// theme.
pub fn follow(ui: Ui) {
    effect_after(move |before: Option<Lang>| {
        let lang = ui.lang.get();
        set_on_root(ui, "lang", tag(lang));
        if before.is_some() && ui.host().is_page() {
            remember("lang", tag(lang));
        }
        lang
    });
    effect_after(move |before: Option<Theme>| {
        let theme = ui.theme.get();
        set_on_root(ui, "data-theme", theme.id());
        if before.is_some() && ui.host().is_page() {
            remember("theme", theme.id());
        }
        theme
    });
}

/// The remembered language, or the browser's.
#[must_use]
pub fn first_lang() -> Lang {
    let text = remembered("lang").or_else(|| window().navigator().language());
    if text.is_some_and(|text| text.starts_with("zh")) {
        Lang::Zh
    } else {
        Lang::En
    }
}

/// The remembered theme, or the system's.
#[must_use]
pub fn first_theme() -> Theme {
    if let Some(theme) = remembered("theme").and_then(|text| Theme::named(&text)) {
        return theme;
    }
    let query = window().match_media("(prefers-color-scheme: dark)");
    if query.ok().flatten().is_some_and(|query| query.matches()) {
        Theme::Dark
    } else {
        Theme::Light
    }
}

fn tag(lang: Lang) -> &'static str {
    lang.pick("en", "zh-Hans")
}

fn set_on_root(ui: Ui, name: &str, value: &str) {
    if let Some(root) = ui.host().root() {
        // Fails only for a malformed name.
        let _ = root.set_attribute(name, value);
    }
}

/// Remembers how far the lessons have been told.
pub const PROGRESS: &str = "progress";
/// Remembers whether the page opens with the shelf.
pub const SHELF: &str = "shelf";

/// The remembered value of a choice between yes and no.
pub const ON: &str = "on";
/// The other one.
pub const OFF: &str = "off";

/// The remembered value of `name`. Storage may be blocked or full; then a choice lasts until the page is closed.
#[must_use]
pub fn remembered(name: &str) -> Option<String> {
    let storage = window().local_storage().ok().flatten()?;
    storage.get_item(&storage_key(name)).ok().flatten()
}

/// The key under which the browser keeps the value of `name`.
#[must_use]
pub fn storage_key(name: &str) -> String {
    format!("deltascope.{name}")
}

/// Remembers a choice for the next visit. Returns whether the browser keeps it: its storage may be blocked or full.
pub fn remember(name: &str, value: &str) -> bool {
    match window().local_storage() {
        Ok(Some(storage)) => storage.set_item(&storage_key(name), value).is_ok(),
        _ => false,
    }
}

/// Forgets what was remembered.
pub fn forget(name: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.remove_item(&format!("deltascope.{name}"));
    }
}
