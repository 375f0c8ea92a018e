//! The part that opens any lesson, links and files, cuts runs down and exports them.

use crate::later::part;
use deltascope_presentation::command::Export;
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
}

impl Runs {
    const ALL: Self = Self {
        open: opening::open_boxed,
        lesson: lessons::load,
        export: Session::export,
    };
}
