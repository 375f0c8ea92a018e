//! The part that opens any lesson, links and files, cuts runs down and exports them.

use leptos::wasm_bindgen::JsValue;

use crate::embed::api::picture_options;
use crate::later::part;
use crate::ui::Ui;
use deltascope_presentation::command::{Export, SvgOptions};
use deltascope_presentation::i18n::Text;
use deltascope_presentation::session::{Session, opening};
use deltascope_replay::lessons::{self, Lesson};

part!(
    /// Kept here once it is there.
    RUNS, runs: Runs
);

/// Its functions.
pub(crate) struct Runs {
    pub(crate) open: opening::Open,
    pub(crate) lesson: fn(&str) -> Result<Lesson, Text>,
    pub(crate) export: fn(&mut Session, Export) -> Result<String, Text>,
    /// How a script wants its picture.
    pub(crate) picture: fn(&JsValue, Ui) -> SvgOptions,
}

impl Runs {
    const ALL: Self = Self {
        open: opening::open_boxed,
        lesson: lessons::load,
        export: Session::export,
        picture: picture_options,
    };
}
