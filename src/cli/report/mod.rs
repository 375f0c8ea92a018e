//! What informers cost and what is odd about them: in the terminal, as HTML and as JSON, from a tap or from
//! recordings.

mod html;
mod json;
mod page;
mod words;

use deltascope_world::text;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use deltascope_cache::controller::Generation;
use deltascope_replay::heard::{self, Beside, Differs, Tally};
use deltascope_replay::invariants::Violation;
use deltascope_replay::log::read_calls;
use deltascope_replay::tap::finding::{Finding, Odd, Poll, Refused, Shared, findings, known_bugs};
use deltascope_replay::tap::ledger::Ledger;
use deltascope_replay::tap::note::{self, Note};
use deltascope_replay::trace;
use deltascope_terminal::Form;
use deltascope_world::Time;
use deltascope_world::fields::Put as _;
use deltascope_world::text::{Lang, Text};

use super::args::Report;
use super::replay::read;
use super::{Failure, cannot_read, cannot_write, print};

pub(super) use words::{counted, stopped, table};

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
    pub(super) informers: Vec<Informer>,
    /// What it reads without a watch.
    pub(super) polls: Vec<Poll>,
    /// What it is refused.
    pub(super) refused: Vec<Refused>,
    /// The names that came over one connection.
    pub(super) shared: Shared,
    /// Its other requests, by client, verb and resource.
    pub(super) counts: BTreeMap<(Arc<str>, &'static str, String), Count>,
    /// What the controller logged, if that is read.
    pub(super) log: Option<Counts>,
}

/// An informer, and what is kept of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Informer {
    pub(super) ledger: Ledger,
    /// The number under which the tap gives its recording out; 0 if it does not.
    pub(super) recording: usize,
    /// Its recording: the files that there are, the newest last.
    pub(super) parts: Vec<RecordingFile>,
    /// Whether these stay.
    pub(super) kept: bool,
    /// How many lines its handlers logged.
    pub(super) lines: u64,
    /// Why not all of these are kept.
    pub(super) trouble: Option<Text>,
    /// These lines beside its recording, as far as that was played.
    pub(super) logs: Option<Logs>,
}

/// What is known of the log as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The lines of handlers.
    pub(super) lines: u64,
    /// How many of these belong to no informer, or to more than one.
    pub(super) unclaimed: u64,
    /// How many lines cannot be read, and the first of them.
    pub(super) unread: u64,
    pub(super) first_unread: Option<(u32, Text)>,
}

/// What the controller logged of a recording lies beside it.
pub(super) fn log_of(recording: &Path) -> PathBuf {
    recording.with_extension("log")
}

/// The name of the file that follows another.
pub(super) fn file_name(before: &Path, part: u32) -> String {
    let name = before.file_stem().unwrap_or_default().to_string_lossy();
    let number = format!(".{}", part - 1);
    let first = name.strip_suffix(&number).filter(|_| part > 2);
    let first = first.unwrap_or(&name);
    format!("{first}.{part}.jsonl")
}

/// A file of a recording.
#[derive(Clone, Debug)]
pub(super) struct RecordingFile {
    /// Its number, from 1.
    pub(super) number: u32,
    /// The time at which it begins, in ms.
    pub(super) from: Time,
    pub(super) path: PathBuf,
}

impl Informer {
    /// The newest file of its recording, if that stays; otherwise empty.
    pub(super) fn file(&self) -> String {
        let newest = self.parts.last().filter(|_| self.kept);
        newest.map_or_else(String::new, |part| part.path.display().to_string())
    }

    /// The file that has a moment, if it is still there.
    fn part_at(&self, at: Time) -> Option<&RecordingFile> {
        self.parts.iter().rfind(|part| part.from <= at)
    }
}

/// What was logged of an informer, compared with its recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Logs {
    /// Of all files, but for what is behind or ahead, which is the last one's.
    pub(super) tally: Tally,
    /// The first difference.
    pub(super) first: Option<Differs>,
    /// Whether the beginning is not compared, as its recording is no longer there.
    pub(super) lacks_beginning: bool,
}

impl Observed {
    /// What the tap tells its page, as JSON: what the requests alone show.
    pub(super) fn for_page(&self) -> String {
        page::of(self, &self.found()).written().to_string()
    }

    /// What is odd, as far as no recording has to be played for it.
    pub(super) fn found(&self) -> Vec<Finding> {
        let ledgers: Vec<_> = self.informers.iter().map(|one| &one.ledger).collect();
        findings(&ledgers, &self.polls, &self.refused, &self.shared)
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
    bugs: BTreeMap<PathBuf, Bugs>,
    /// By the recording's number: what was found in files that are no longer kept.
    gone: BTreeMap<usize, Gone>,
    /// Until then a look plays nothing.
    rests: Option<Instant>,
}

#[derive(Debug, Default)]
struct Gone {
    found: Vec<(Generation, Violation)>,
    alike: usize,
    first: Option<Differs>,
}

/// What a recording shows that is played.
#[derive(Debug)]
struct Bugs {
    /// How long it was, and what was logged of it.
    bytes: [u64; 2],
    played: Instant,
    /// The number of its recording.
    recording: usize,
    found: Vec<(Generation, Violation)>,
    /// The log beside it.
    heard: Option<Beside>,
}

impl Bugs {
    fn of(path: &Path, bytes: [u64; 2]) -> Self {
        let mut bugs = Self {
            bytes,
            played: Instant::now(),
            recording: 0,
            found: Vec::new(),
            heard: None,
        };
        let Ok(recorded) = fs::read(path) else {
            return bugs;
        };
        let name = path.display().to_string();
        let (Some(trace), _) = trace::read(&name, &recorded) else {
            return bugs;
        };
        if bytes[0] <= PLAYED {
            bugs.found = known_bugs(&trace);
        }
        let lines = fs::read(log_of(path)).ok();
        let lines = lines.and_then(|lines| read_calls(&name, &lines).ok());
        bugs.heard = lines.and_then(|lines| {
            let goes_on = note::goes_on(&recorded);
            heard::beside(&trace.recording, goes_on, lines).ok()
        });
        bugs
    }
}

/// How long a file is; 0 if it is not there.
fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |is| is.len())
}

impl Known {
    /// The recordings that have grown since they were played, and how long they are: first those that were never played, then those
    /// whose turn is longest ago. Long ones are only played at the end, and only beside a log.
    fn grown<'a>(
        &self,
        files: impl Iterator<Item = &'a PathBuf>,
        all: bool,
    ) -> Vec<(&'a PathBuf, [u64; 2])> {
        let sizes = files.filter_map(|path| {
            let bytes = fs::metadata(path).ok()?.len();
            Some((path, [bytes, size(&log_of(path))]))
        });
        let played = |path| self.bugs.get(path);
        let mut grown: Vec<_> = sizes
            .filter(|(path, bytes)| played(*path).is_none_or(|known| known.bytes != *bytes))
            .filter(|(_, [bytes, logged])| *bytes <= PLAYED || all && *logged > 0)
            .collect();
        grown.sort_by_key(|(path, _)| played(*path).map(|known| known.played));
        grown
    }

    /// Adds up what was found in files that are no longer kept.
    fn let_go(&mut self, observed: &Observed) {
        let mut there = BTreeSet::new();
        for informer in &observed.informers {
            for part in &informer.parts {
                there.insert(&part.path);
                if let Some(bugs) = self.bugs.get_mut(&part.path) {
                    bugs.recording = informer.recording;
                }
            }
        }
        let (stay, gone) = std::mem::take(&mut self.bugs)
            .into_iter()
            .partition(|(path, _)| there.contains(path));
        self.bugs = stay;
        let gone: BTreeMap<PathBuf, Bugs> = gone;
        for bugs in gone.into_values() {
            let sum = self.gone.entry(bugs.recording).or_default();
            // In another file it is the same bug.
            for (generation, bug) in bugs.found {
                if !sum
                    .found
                    .iter()
                    .any(|(_, one)| one.invariant == bug.invariant)
                {
                    sum.found.push((generation, bug));
                }
            }
            if let Some(beside) = bugs.heard {
                sum.alike += beside.tally().alike;
                sum.first = sum.first.take().or_else(|| beside.first());
            }
        }
    }

    /// What an informer's log says, compared with its recordings as far as they were played.
    fn logs_of(&self, informer: &Informer) -> Option<Logs> {
        let mut all: Option<Logs> = None;
        for part in &informer.parts {
            let bugs = self.bugs.get(&part.path);
            let Some(beside) = bugs.and_then(|bugs| bugs.heard.as_ref()) else {
                continue;
            };
            let tally = beside.tally();
            let logs = all.get_or_insert_with(|| Logs {
                lacks_beginning: part.number > 1,
                ..Logs::default()
            });
            logs.tally = Tally {
                alike: logs.tally.alike + tally.alike,
                dropped: logs.tally.dropped + tally.dropped,
                ..tally
            };
            logs.first = logs.first.take().or_else(|| beside.first());
        }
        if let (Some(logs), Some(gone)) = (&mut all, self.gone.get(&informer.recording)) {
            logs.tally.alike += gone.alike;
            logs.first = gone.first.clone().or_else(|| logs.first.take());
        }
        all
    }

    /// Plays recordings that have grown: at the end `all`, until then a few at a time, and then none for a while.
    fn play<'a>(&mut self, files: impl Iterator<Item = &'a PathBuf>, all: bool) {
        let began = Instant::now();
        if !all && self.rests.is_some_and(|rests| began < rests) {
            return;
        }
        for (path, bytes) in self.grown(files, all) {
            let mut bugs = Bugs::of(path, bytes);
            if let Some(earlier) = self.bugs.remove(path).filter(|_| bytes[0] > PLAYED) {
                bugs.found = earlier.found;
            }
            self.bugs.insert(path.clone(), bugs);
            if !all && began.elapsed() >= LOOK {
                break;
            }
        }
        self.rests = Some(Instant::now() + began.elapsed() * REST);
    }
}

impl Played {
    /// All that is odd, also beside the logs. Recordings are played for it: at the end `all` that have grown.
    pub(super) fn findings(&self, observed: &mut Observed, all: bool) -> Vec<Finding> {
        let mut found = observed.found();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let files = observed.informers.iter().flat_map(|one| &one.parts);
        known.play(files.map(|part| &part.path), all);
        known.let_go(observed);
        for (informer, one) in observed.informers.iter_mut().enumerate() {
            one.logs = known.logs_of(one);
            let gone = known.gone.get(&one.recording);
            let gone = gone.into_iter().flat_map(|gone| &gone.found);
            let parts = one.parts.iter();
            let bugs = parts.filter_map(|part| known.bugs.get(&part.path));
            let mut named = Vec::new();
            for (generation, violation) in gone.chain(bugs.flat_map(|bugs| &bugs.found)) {
                // In another file it is the same bug.
                if named.contains(&violation.invariant) {
                    continue;
                }
                named.push(violation.invariant);
                let (at, generation) = (violation.time, *generation);
                let violation = violation.clone();
                let odd = Odd::KnownBug {
                    generation,
                    violation,
                };
                found.push(Finding::new(informer, Some(at), odd));
            }
        }
        let informers = observed.informers.iter().enumerate();
        found.extend(informers.filter_map(|(informer, one)| {
            let first = one.logs.as_ref()?.first.clone()?;
            let at = first.should.as_ref().map(|one| one.time);
            Some(Finding::new(informer, at, Odd::Log(first)))
        }));
        found
    }

    /// What `--report run.json` would write now.
    pub(super) fn json(&self, mut observed: Observed) -> String {
        let found = self.findings(&mut observed, false);
        json::of(&observed, &found).to_string()
    }
}

/// A file that is to be reported on.
struct Reported {
    part: RecordingFile,
    start: Option<Time>,
    /// Whether only its title says what it is of.
    is_guess: bool,
    notes: Vec<Note>,
}

impl Reported {
    fn read(path: &Path) -> Result<Self, Failure> {
        let (name, bytes) = read(path)?;
        let (trace, error) = trace::read(&name, &bytes);
        let Some(trace) = trace else {
            return Err(Failure::of(error.unwrap_or_else(|| unread(&name)).message));
        };
        let mut noted = note::read(&bytes);
        let goes_on = noted.iter().find_map(|note| match note {
            Note::GoesOn { part, at, .. } => Some((*part, *at)),
            _ => None,
        });
        let (number, from) = goes_on.unwrap_or((1, 0));
        let is_guess = noted.is_empty();
        // `record` notes its informer alone.
        if matches!(&*noted, [] | [Note::Informer { .. }]) {
            let informer = noted.pop().unwrap_or_else(|| note::guessed(&trace));
            noted = note::of(informer, &trace);
        }
        Ok(Self {
            part: RecordingFile {
                number,
                from,
                path: path.to_owned(),
            },
            start: trace.start,
            is_guess,
            notes: noted,
        })
    }

    fn informer(&self) -> Option<&Note> {
        let mut notes = self.notes.iter();
        notes.find(|note| matches!(note, Note::Informer { .. }))
    }

    /// Whether it goes on with the recording of which `last` was the last file so far.
    fn goes_on(&self, last: &Self) -> bool {
        let next = last.part.number + 1;
        let name = file_name(&last.part.path, next);
        // However each of them is written.
        let is = |path: &Path| fs::canonicalize(path).ok();
        let path = is(&self.part.path);
        self.part.number == next
            && self.start == last.start
            && self.informer() == last.informer()
            && path.is_some()
            && path == is(&last.part.path.with_file_name(name))
    }
}

/// The informers of some files: those of one recording are one.
fn observed(mut files: Vec<Reported>) -> Observed {
    // The first one's name may come last.
    files.sort_by_key(|file| file.part.number);
    let mut recordings: Vec<Vec<Reported>> = Vec::new();
    for file in files {
        let last = |one: &&mut Vec<Reported>| one.last().is_some_and(|last| file.goes_on(last));
        match recordings.iter_mut().find(last) {
            Some(one) => one.push(file),
            None => recordings.push(vec![file]),
        }
    }
    let mut observed = Observed::default();
    for recording in recordings {
        let mut ledger = Ledger::of(recording.iter().flat_map(|file| &file.notes));
        ledger.start = recording.first().and_then(|file| file.start);
        ledger.is_guess = recording.iter().any(|file| file.is_guess);
        observed.lasted = observed.lasted.max(ledger.until);
        observed.start = match (observed.start, ledger.start) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        observed.informers.push(Informer {
            ledger,
            parts: recording.into_iter().map(|file| file.part).collect(),
            kept: true,
            ..Informer::default()
        });
    }
    observed
}

/// Reports on recordings.
pub(super) fn run(options: &Report, lang: Lang) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &options.files {
        match path.is_dir() {
            true => files.extend(recordings_in(path)?),
            false => files.push(path.clone()),
        }
    }
    let files = files.iter().map(|path| Reported::read(path));
    let mut observed = observed(files.collect::<Result<_, _>>()?);
    let found = Played::default().findings(&mut observed, true);
    match &options.output {
        Some(path) => write(path, &observed, &found, lang),
        None => print(
            Form::Words,
            &format!("{}\n", table(&observed, &found, lang)),
        ),
    }
}

/// The recordings of a folder, as the tap has named them.
fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let shown = folder.display();
    let entries = fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    found.sort();
    match found.is_empty() {
        true => Err(Failure::of(text!(
            "{shown} has no recording (*.jsonl).",
            "{shown} 中没有录制（*.jsonl）。"
        ))),
        false => Ok(found),
    }
}

fn unread(name: &str) -> deltascope_world::source::wire::WireError {
    deltascope_world::source::wire::error(
        name,
        None,
        Text::new(
            "this is no trace. Give one that `deltascope tap` or `deltascope record` wrote.",
            "这不是运行记录。请给出 `deltascope tap` 或 `deltascope record` 写的文件。",
        ),
    )
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
    fs::write(path, text).map_err(|error| cannot_write(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_removed_file_has_shown_is_kept_and_no_more_of_it() {
        let call = |rv: &str| deltascope_replay::log::Call {
            event: deltascope_cache::fact::EventType::Added,
            key: "a".to_owned(),
            rv: rv.to_owned(),
            tombstone: false,
        };
        let first = Differs {
            kind: heard::Kind::Missing,
            should: Some(heard::Notified {
                place: 0,
                time: 0,
                call: call("1"),
            }),
            heard: None,
        };
        let part = |number: u32| RecordingFile {
            number,
            from: 0,
            path: format!("{number}.jsonl").into(),
        };
        let bugs = |path: PathBuf| {
            (
                path,
                Bugs {
                    bytes: [0, 0],
                    played: Instant::now(),
                    recording: 0,
                    found: Vec::new(),
                    heard: Some(Beside::new(false)),
                },
            )
        };
        let mut observed = Observed {
            informers: vec![Informer {
                recording: 7,
                parts: vec![part(1), part(2)],
                ..Informer::default()
            }],
            ..Observed::default()
        };
        let mut known = Known::default();
        known
            .bugs
            .extend([part(1), part(2)].map(|part| bugs(part.path)));
        known.let_go(&observed);
        assert_eq!((known.bugs.len(), known.gone.len()), (2, 0));
        observed.informers[0].parts.remove(0);
        known.let_go(&observed);
        assert_eq!(known.bugs.len(), 1);
        let gone = known.gone.get_mut(&7).unwrap();
        (gone.alike, gone.first) = (5, Some(first.clone()));
        let logs = known.logs_of(&observed.informers[0]).unwrap();
        assert_eq!((logs.tally.alike, logs.first), (5, Some(first)));
    }

    #[test]
    fn recordings_that_grow_take_turns_and_rest() {
        let folder = std::env::temp_dir().join(format!("deltascope-played-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = ["a", "b", "c"].map(|name| folder.join(name));
        let write = |number: usize, text: &str| fs::write(&files[number], text).unwrap();
        let mut known = Known::default();
        let lengths = |known: &Known| {
            let length = |file| known.bugs.get(file).map(|bugs| bugs.bytes[0]);
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
        let turns = [2, 1, 0].map(|number: usize| (&files[number], [6, 0]));
        assert_eq!(known.grown(files.iter(), false), turns);
        known.rests = Some(Instant::now() + Duration::from_secs(3_600));
        known.play(files.iter(), false);
        assert_eq!(lengths(&known), [Some(3), Some(3), None], "it rests");
        known.play(files.iter(), true);
        assert_eq!(lengths(&known), [Some(6); 3], "this is the end");
        assert!(known.grown(files.iter(), false).is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
