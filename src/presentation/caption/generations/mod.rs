//! Checks the captions against runs of all four generations.
//!
//! `generations.tsv` has a row for each sentence that some generation lacks or that has evidence: the fact, the
//! generations whose informers cause it (`all`, or `none` if only other programs do), the sentence, and its
//! evidence. A sentence needs evidence if some generation lacks it, if it names a release or if it states a rule.
//! The evidence is a check of [`CHECKS`],
//! which looks at the other facts of the same run, a line of client-go that the panel shows beside the
//! sentence, or a recorded run. `API concepts` stands for the documentation of the API server, `own` for
//! what a program or the page does itself.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod checks;
mod run;
mod scenarios;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use deltascope_cache::controller::Generation;

use checks::CHECKS;
use run::Run;
use scenarios::runs;

/// The runs, which take seconds, for all tests.
static RUNS: LazyLock<Vec<Run>> = LazyLock::new(runs);

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/caption/generations.tsv");

/// Words that mark a sentence as a rule: it states what will or will not happen.
const RULES: [&str; 21] = [
    "again",
    "at once",
    "batch",
    "before",
    "BOOKMARK",
    "bookmark",
    "comes",
    "HasSynced",
    "lock",
    "log",
    "lost",
    "never",
    "next",
    "pause",
    "put back",
    "resync",
    "round",
    "stream",
    "until",
    "waits",
    "without",
];

thread_local! {
    /// The sentences that the captions used, with their placeholders.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn note(sentence: &str) {
    SAID.with_borrow_mut(|said| said.push(sentence.to_owned()));
}

/// What the table states of a sentence: its generations and its evidence.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    eras: String,
    held: String,
}

fn table() -> BTreeMap<(String, String), Row> {
    let text = fs::read_to_string(TABLE).unwrap_or_default();
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [fact, eras, sentence, held] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{TABLE}: {line:?} does not have four columns");
            };
            let row = Row {
                eras: eras.to_owned(),
                held: held.to_owned(),
            };
            ((fact.to_owned(), sentence.to_owned()), row)
        });
    rows.collect()
}

fn eras(said: &BTreeSet<Generation>) -> String {
    match said.len() {
        0 => "none".to_owned(),
        4 => "all".to_owned(),
        _ => said
            .iter()
            .map(|one| one.version())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// The generations in which a sentence occurred, and the lines that the panel showed beside it.
#[derive(Default)]
struct Said {
    eras: BTreeSet<Generation>,
    places: BTreeMap<Generation, BTreeSet<String>>,
}

fn said(runs: &[Run]) -> BTreeMap<(String, String), Said> {
    let mut all: BTreeMap<_, Said> = BTreeMap::new();
    for run in runs {
        for (at, record) in run.facts.iter().enumerate() {
            for sentence in &run.said[at] {
                let key = (record.fact.name().to_owned(), sentence.clone());
                let said = all.entry(key).or_default();
                if run.informer {
                    said.eras.insert(run.generation);
                }
                let places = said.places.entry(run.generation).or_default();
                places.insert(run.places[at].clone());
            }
        }
    }
    all
}

/// Whether a sentence needs evidence. A part of a sentence, without a full stop, needs none.
fn needs_to_be_held(eras: &str, sentence: &str) -> bool {
    let whole = sentence.ends_with(['.', ':']) && !sentence.starts_with("Cause:");
    let named = ["1.3", "0.3"]
        .iter()
        .any(|release| sentence.contains(release));
    let rule = RULES.iter().any(|word| sentence.contains(word));
    whole && (eras != "all" || named || rule)
}

#[test]
fn the_table_lists_the_sentences_that_some_generation_lacks() {
    let (said, table) = (said(&RUNS), table());
    let mut wrong = String::new();
    for ((fact, sentence), said) in &said {
        let eras = eras(&said.eras);
        let row = table.get(&(fact.clone(), sentence.clone()));
        let held = row.map(|row| row.held.as_str()).unwrap_or_default();
        let places: Vec<String> = said
            .places
            .values()
            .filter_map(|places| places.iter().find(|place| place.contains(".go:")))
            .cloned()
            .collect();
        let expected = row.map_or("all", |row| row.eras.as_str());
        let here = held.split("; ").all(|by| {
            let line = by.contains(".go:");
            !line || said.places.values().any(|places| places.contains(by))
        });
        let unheld = held.is_empty() && needs_to_be_held(&eras, sentence);
        if expected != eras || unheld || !here {
            wrong += &format!(
                "{fact}\t{eras}\t{sentence}\t{held}\n    # the panel: {}\n",
                places.join("; ")
            );
        }
    }
    for (key, row) in &table {
        let (fact, sentence) = key;
        if !said.contains_key(key) {
            wrong += &format!("no caption of {fact} has: {sentence}\n");
        }
        if row.eras == "all" && row.held.is_empty() {
            wrong += &format!("{fact} needs no row for: {sentence}\n");
        }
    }
    let held = table.values().filter(|row| !row.held.is_empty()).count();
    println!(
        "{} runs, {} sentences, {held} of them with evidence",
        RUNS.len(),
        said.len()
    );
    assert!(wrong.is_empty(), "{TABLE} should have:\n{wrong}");
}

#[test]
fn runs_confirm_what_the_sentences_state() {
    let table = table();
    let mut met: BTreeMap<(&str, Generation), usize> = BTreeMap::new();
    let mut wrong = BTreeMap::new();
    for run in &*RUNS {
        for (at, record) in run.facts.iter().enumerate() {
            for sentence in &run.said[at] {
                let key = (record.fact.name().to_owned(), sentence.clone());
                let held = table
                    .get(&key)
                    .map(|row| row.held.as_str())
                    .unwrap_or_default();
                for by in held.split("; ") {
                    let Some((name, check)) = CHECKS.iter().find(|(name, _)| *name == by) else {
                        continue;
                    };
                    *met.entry((name, run.generation)).or_default() += 1;
                    if let Err(error) = check(run, at) {
                        let place = (*name, sentence.clone());
                        wrong.entry(place).or_insert_with(|| {
                            format!("{}, fact {at} ({:?}): {error}", run.name, record.fact)
                        });
                    }
                }
            }
        }
    }
    println!(
        "{} checks in {} runs",
        met.values().sum::<usize>(),
        RUNS.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, _) in CHECKS {
        let met = met.keys().any(|(of, _)| *of == name);
        assert!(met, "no run needs the check {name:?}");
    }
}

#[test]
fn the_evidence_of_each_sentence_exists() {
    for ((fact, sentence), row) in table() {
        for by in row.held.split("; ").filter(|by| !by.is_empty()) {
            let check = CHECKS.iter().any(|(name, _)| *name == by);
            let vector =
                by.ends_with(".jsonl") && Path::new("tests/conformance").join(by).is_file();
            // The first test checks that the panel shows this line.
            let line = by.starts_with("v0.3") && by.contains(".go:");
            let other = ["API concepts", "own"].contains(&by);
            assert!(
                check || vector || line || other,
                "unknown evidence {by:?} of {fact}: {sentence}"
            );
        }
    }
}
