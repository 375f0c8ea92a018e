//! What informers cost and what is odd about them: in the terminal, as HTML and as JSON, from a tap or from
//! recordings.

mod html;
mod json;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use deltascope_cache::controller::Generation;
use deltascope_replay::invariants::Violation;
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

pub(super) use words::{stopped, table};

/// The longest recording in which known bugs are looked for, in bytes: it is played.
const PLAYED: u64 = 8 << 20;
/// A recording that grows is played again after so many times the time that this took.
const REST: u32 = 20;

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

/// What was found in recordings that were played.
#[derive(Debug, Default)]
pub(super) struct Played(Mutex<BTreeMap<String, Bugs>>);

/// The known bugs in a recording.
#[derive(Debug)]
struct Bugs {
    /// How long the recording was.
    bytes: u64,
    played: Instant,
    took: Duration,
    found: Vec<(Generation, Violation)>,
}

impl Bugs {
    fn of(path: &str, bytes: u64) -> Self {
        let played = Instant::now();
        let found = fs::read(path).ok().and_then(|bytes| {
            let (trace, _) = trace::read(path, &bytes);
            Some(known_bugs(&trace?))
        });
        Self {
            bytes,
            played,
            took: played.elapsed(),
            found: found.unwrap_or_default(),
        }
    }

    /// Whether the recording has grown, and it is time to play it again.
    fn is_old(&self, bytes: u64, now: Instant) -> bool {
        let rested = now.saturating_duration_since(self.played) >= self.took * REST;
        bytes != self.bytes && rested
    }
}

impl Played {
    /// All that is odd. Short recordings are played for it, those that still grow from time to time; at the end `all` that have
    /// grown.
    pub(super) fn findings(&self, observed: &Observed, all: bool) -> Vec<Finding> {
        let mut found = findings(&observed.informers, &observed.polls);
        let mut played = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (informer, ledger) in observed.informers.iter().enumerate() {
            let path = &ledger.file;
            let Some(bytes) = fs::metadata(path).ok().map(|file| file.len()) else {
                continue;
            };
            let known = played.get(path);
            let again = match known {
                Some(known) if all => known.bytes != bytes,
                Some(known) => known.is_old(bytes, Instant::now()),
                None => true,
            };
            if again && bytes <= PLAYED {
                played.insert(path.clone(), Bugs::of(path, bytes));
            }
            let bugs = played.get(path).into_iter().flat_map(|bugs| &bugs.found);
            found.extend(bugs.map(|(generation, violation)| Finding::KnownBug {
                informer,
                generation: *generation,
                violation: violation.clone(),
            }));
        }
        found
    }

    /// What `--report run.json` would write now.
    pub(super) fn json(&self, observed: &Observed) -> String {
        json::of(observed, &self.findings(observed, false)).to_string()
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
    let found = Played::default().findings(&observed, true);
    match &options.output {
        Some(path) => write(path, &observed, &found, lang),
        None => print(
            Form::Words,
            &format!("{}\n", table(&observed, &found, lang)),
        ),
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

/// Writes the report as the file's ending says.
pub(super) fn write(
    path: &Path,
    observed: &Observed,
    found: &[Finding],
    lang: Lang,
) -> Result<(), Failure> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let text = match ending == "json" {
        true => format!("{:#}\n", json::of(observed, found)),
        false => html::of(observed, found, path, lang),
    };
    fs::write(path, text).map_err(|error| {
        let shown = path.display();
        Failure::new(
            &format!("Cannot write {shown}: {error}."),
            &format!("无法写入 {shown}：{error}。"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_played_again_when_it_has_grown_and_after_a_rest() {
        let played = Instant::now();
        let bugs = Bugs {
            bytes: 10,
            played,
            took: Duration::from_millis(50),
            found: Vec::new(),
        };
        for (bytes, after, old) in [
            (10, 5_000, false),
            (11, 999, false),
            (11, 1_000, true),
            (9, 1_000, true),
        ] {
            let now = played + Duration::from_millis(after);
            assert_eq!(bugs.is_old(bytes, now), old, "{bytes} {after}");
        }
    }
}
