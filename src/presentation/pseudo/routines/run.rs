//! The surroundings of the cache: the program, and the settings of this run.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static PROGRAM: Routine = Routine {
    title: Title::Of("program"),
    lines: &[
        plain("main():"),
        call(
            "  the program's next call, or its next line",
            &[Step::ProgramCall],
            &[Id::Add, Id::Delete, Id::FifoWrite, Id::RealWrite],
        ),
    ],
    unordered: None,
};

pub(super) static SETTINGS: Routine = Routine {
    title: Title::Of("this run"),
    lines: &[
        plain("settings:"),
        line("  what was asked for on this page", &[Step::SettingChanged]),
    ],
    unordered: None,
};
