//! The part that has most commands and the motion, opens any lesson, links and files, cuts runs down and exports them.
//! Its functions are in `embed`.

use leptos::wasm_bindgen::JsValue;
use serde_json::Value;

use crate::host::Host;
use crate::later::part;
use crate::motion::Stage;
use crate::sight;
use crate::ui::Ui;
use deltascope_cache::controller::Generation;
use deltascope_presentation::command::{Command, Export, SvgOptions};
use deltascope_presentation::i18n::{Lang, Text};
use deltascope_presentation::motion::merged::Scene;
use deltascope_presentation::options::Options;
use deltascope_presentation::rows::Names;
use deltascope_presentation::session::smallest::Wanted;
use deltascope_presentation::session::{Change, Session, opening};
use deltascope_replay::lessons::Lesson;

part!(
    /// Kept here once it is there.
    RUNS, runs: Runs
);

type Before = fn(&mut Session, &Command) -> Option<Result<Wanted, Text>>;

type Plays = fn(&Stage, sight::Before, &Scene, (&Names, Lang), &dyn Fn(u32) -> u32) -> u32;

/// Its functions.
pub(crate) struct Runs {
    /// Gives a session all commands.
    pub(crate) complete: fn(&mut Session),
    pub(crate) before: Before,
    pub(crate) open: opening::Open,
    pub(crate) lesson: fn(&str) -> Result<Lesson, Text>,
    pub(crate) export: fn(&mut Session, Export) -> Result<String, Text>,
    pub(crate) seek: fn(&mut Session, &str) -> Change,
    pub(crate) generation: fn(&mut Session, Generation) -> Change,
    pub(crate) compare: fn(&mut Session, &str) -> Change,
    /// What a new value of an attribute does.
    pub(crate) changed: fn(&mut Session, &str, &Options) -> Change,
    pub(crate) inject: fn(&mut Session, &str, Value) -> Change,
    /// The motion of a step, where things were before it, and what plays it.
    pub(crate) scene: fn(&mut Session) -> Scene,
    pub(crate) sees: fn(&Host, &Scene) -> sight::Before,
    pub(crate) plays: Plays,
    /// How a script wants its picture.
    pub(crate) picture: fn(&JsValue, Ui) -> SvgOptions,
}
