//! What informers cost and what is odd about them: in the terminal, as HTML and as JSON, from a tap or from
//! recordings.

pub(super) mod json;

mod html;
mod page;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use deltascope_replay::tap::finding::{Finding, Poll, findings, known_bugs};
use deltascope_replay::tap::ledger::Ledger;
use deltascope_replay::tap::note;
use deltascope_replay::trace::{self, Trace};
use deltascope_terminal::Form;
use deltascope_world::Time;
use deltascope_world::text::Lang;

use super::args::Report;
use super::replay::read;
use super::{Failure, print};

/// The longest recording in which known bugs are looked for, in bytes: it is played.
const PLAYED: u64 = 8 << 20;

/// What was observed of a controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Wall-clock time at its beginning, in ms since 1970; `None` if unknown.
    pub(super) start: Option<Time>,
    /// How long it was observed, in ms.
    pub(super) lasted: Time,
    /// Its informers.
    pub(super) informers: Vec<Ledger>,
    /// What it reads without a watch.
    pub(super) polls: Vec<Poll>,
    /// Its other requests, by client, verb and resource.
    pub(super) counts: BTreeMap<(Arc<str>, &'static str, String), Count>,
}

/// How often a request was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) times: u64,
    /// How often it failed.
    pub(super) failed: u64,
}

impl Observed {
    /// What the requests alone show.
    fn odd(&self) -> Vec<Finding> {
        findings(&self.informers, &self.polls)
    }

    /// What the tap tells its page, as JSON.
    pub(super) fn for_page(&self) -> String {
        page::of(self, &self.odd()).to_json().to_string()
    }

    /// All that is odd. Recordings are played for it, if they are short.
    fn findings(&self) -> Vec<Finding> {
        let mut found = self.odd();
        for (informer, ledger) in self.informers.iter().enumerate() {
            let path = Path::new(&ledger.file);
            let short = fs::metadata(path).is_ok_and(|file| file.len() <= PLAYED);
            if short
                && let Ok(bytes) = fs::read(path)
                && let (Some(trace), _) = trace::read(&ledger.file, &bytes)
            {
                found.extend(known_bugs(informer, &trace));
            }
        }
        found
    }
}

/// Reports on recordings.
pub(super) fn run(options: &Report, lang: Lang) -> Result<(), Failure> {
    let mut observed = Observed::default();
    for path in &options.files {
        let (name, bytes) = read(path)?;
        let (trace, error) = trace::read(&name, &bytes);
        let Some(trace) = trace else {
            return Err(Failure::of(error.unwrap_or_else(|| unread(&name)).message));
        };
        let mut ledger = ledger(&trace, &bytes);
        ledger.file = path.display().to_string();
        observed.lasted = observed.lasted.max(ledger.until);
        observed.start = match (observed.start, ledger.start) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        observed.informers.push(ledger);
    }
    match &options.output {
        Some(path) => write(path, &observed, lang),
        None => print(Form::Words, &format!("{}\n", table(&observed, lang))),
    }
}

fn unread(name: &str) -> deltascope_world::source::wire::WireError {
    deltascope_world::source::wire::error(
        name,
        None,
        "this is no trace. Give one that `deltascope tap` or `deltascope record` wrote.",
        "这不是运行记录。请给出 `deltascope tap` 或 `deltascope record` 写的文件。",
    )
}

fn ledger(trace: &Trace, bytes: &[u8]) -> Ledger {
    let noted = note::read(bytes);
    let notes = match noted.is_empty() {
        true => note::of(trace),
        false => noted,
    };
    let mut ledger = Ledger::of(&notes);
    ledger.start = trace.start;
    ledger
}

/// The report in the terminal.
pub(super) fn table(observed: &Observed, lang: Lang) -> String {
    words::table(observed, &observed.findings(), lang)
}

/// Writes the report as the file's ending says.
pub(super) fn write(path: &Path, observed: &Observed, lang: Lang) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let text = match ending == "json" {
        true => format!("{:#}\n", json::of(observed)),
        false => html::of(observed, &observed.findings(), path, lang),
    };
    fs::write(path, text).map_err(|error| {
        let shown = path.display();
        Failure::new(
            &format!("Cannot write {shown}: {error}."),
            &format!("无法写入 {shown}：{error}。"),
        )
    })
}
