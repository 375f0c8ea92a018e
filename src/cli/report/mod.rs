//! What informers cost and what is odd about them: in the terminal, as HTML and as JSON, from a tap or from
//! recordings.

mod html;
mod json;
mod page;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use deltascope_cache::controller::Generation;
use deltascope_replay::invariants::Violation;
use deltascope_replay::tap::finding::{Finding, Poll, Shared, findings, known_bugs};
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
/// How long a look at a tap plays recordings, beside the one that it has begun, …
const LOOK: Duration = Duration::from_millis(100);
/// … and after how many times what this took the next look plays some.
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
    /// The names that came over one connection.
    pub(super) shared: Shared,
    /// Its other requests, by client, verb and resource.
    pub(super) counts: BTreeMap<(Arc<str>, &'static str, String), Count>,
}

impl Observed {
    /// What the tap tells its page, as JSON: what the requests alone show.
    pub(super) fn for_page(&self) -> String {
        let found = findings(&self.informers, &self.polls, &self.shared);
        page::of(self, &found).to_json().to_string()
    }
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
pub(super) struct Played(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By the recording's file.
    bugs: BTreeMap<String, Bugs>,
    /// Until then a look plays nothing.
    rests: Option<Instant>,
}

/// The known bugs in a recording.
#[derive(Debug)]
struct Bugs {
    /// How long the recording was.
    bytes: u64,
    played: Instant,
    found: Vec<(Generation, Violation)>,
}

impl Bugs {
    fn of(path: &str, bytes: u64) -> Self {
        let found = fs::read(path).ok().and_then(|bytes| {
            let (trace, _) = trace::read(path, &bytes);
            Some(known_bugs(&trace?))
        });
        Self {
            bytes,
            played: Instant::now(),
            found: found.unwrap_or_default(),
        }
    }
}

impl Known {
    /// The short recordings that have grown since they were played, and how long they are: first those that were never played,
    /// then those whose turn is longest ago.
    fn grown<'a>(&self, files: impl Iterator<Item = &'a String>) -> Vec<(&'a String, u64)> {
        let sizes = files.filter_map(|path| Some((path, fs::metadata(path).ok()?.len())));
        let played = |path| self.bugs.get(path);
        let mut grown: Vec<_> = sizes
            .filter(|(path, bytes)| played(*path).is_none_or(|known| known.bytes != *bytes))
            .filter(|(_, bytes)| *bytes <= PLAYED)
            .collect();
        grown.sort_by_key(|(path, _)| played(*path).map(|known| known.played));
        grown
    }

    /// Plays recordings that have grown: at the end `all`, until then a few at a time, and then none for a while.
    fn play<'a>(&mut self, files: impl Iterator<Item = &'a String>, all: bool) {
        let began = Instant::now();
        if !all && self.rests.is_some_and(|rests| began < rests) {
            return;
        }
        for (path, bytes) in self.grown(files) {
            self.bugs.insert(path.clone(), Bugs::of(path, bytes));
            if !all && began.elapsed() >= LOOK {
                break;
            }
        }
        self.rests = Some(Instant::now() + began.elapsed() * REST);
    }
}

impl Played {
    /// All that is odd. Recordings are played for it: at the end `all` that have grown.
    pub(super) fn findings(&self, observed: &Observed, all: bool) -> Vec<Finding> {
        let mut found = findings(&observed.informers, &observed.polls, &observed.shared);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.play(observed.informers.iter().map(|ledger| &ledger.file), all);
        for (informer, ledger) in observed.informers.iter().enumerate() {
            let bugs = known.bugs.get(&ledger.file);
            let bugs = bugs.into_iter().flat_map(|bugs| &bugs.found);
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
    fn recordings_that_grow_take_turns_and_rest() {
        let folder = std::env::temp_dir().join(format!("deltascope-played-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = ["a", "b", "c"].map(|name| folder.join(name).display().to_string());
        let write = |number: usize, text: &str| fs::write(&files[number], text).unwrap();
        let mut known = Known::default();
        let lengths = |known: &Known| {
            let length = |file| known.bugs.get(file).map(|bugs| bugs.bytes);
            [length(&files[0]), length(&files[1]), length(&files[2])]
        };
        write(0, "one");
        write(1, "one");
        known.play(files.iter(), true);
        assert_eq!(lengths(&known), [Some(3), Some(3), None]);
        for number in 0..3 {
            write(number, "longer");
        }
        // The first has waited less.
        let first = known.bugs.get_mut(&files[0]).unwrap();
        first.played += Duration::from_secs(9);
        let turns = [2, 1, 0].map(|number: usize| (&files[number], 6));
        assert_eq!(known.grown(files.iter()), turns);
        known.rests = Some(Instant::now() + Duration::from_secs(3_600));
        known.play(files.iter(), false);
        assert_eq!(lengths(&known), [Some(3), Some(3), None], "it rests");
        known.play(files.iter(), true);
        assert_eq!(lengths(&known), [Some(6); 3], "this is the end");
        assert!(known.grown(files.iter()).is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
