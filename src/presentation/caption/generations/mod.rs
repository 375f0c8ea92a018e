//! What the captions say of each fact in each generation, held to runs of all four of them.
//!
//! `generations.tsv` has a row for each sentence: the fact, the generations whose informers say it (`all`,
//! or `none`: other programs alone), the sentence, and by what it is held. A sentence that not all say, that
//! names a release or states a rule has to be held: by checks of [`CHECKS`], which look at what follows in the
//! same run, or by lines of client-go (those that the panel beside it shows) and recorded runs. What the
//! API server does is held by the `API concepts`; what a program or the page does itself is their `own`.

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

use deltascope_cache::controller::Generation;

use checks::CHECKS;
use run::Run;
use scenarios::runs;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/caption/generations.tsv");

/// What makes a sentence a rule: it says what will, or will not, be.
const RULES: [&str; 22] = [
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
    "nobody",
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
    /// The sentences that were said, before anything is filled in.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn note(sentence: &str) {
    SAID.with_borrow_mut(|said| said.push(sentence.to_owned()));
}

/// A row: by what a sentence is held, in which generations it is said.
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
                panic!("{TABLE}: {line:?} has not four columns");
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

/// Where a sentence was said: in which generations, and beside which lines.
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

/// Parts of sentences have no full stop.
fn needs_to_be_held(eras: &str, sentence: &str) -> bool {
    let whole = sentence.ends_with(['.', ':']) && !sentence.starts_with("Cause:");
    let named = ["1.3", "0.3"]
        .iter()
        .any(|release| sentence.contains(release));
    let rule = RULES.iter().any(|word| sentence.contains(word));
    whole && (eras != "all" || named || rule)
}

#[test]
fn each_sentence_stands_in_the_table_with_its_generations() {
    let runs = runs();
    let (said, table) = (said(&runs), table());
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
        let here = held.split("; ").all(|by| {
            let line = by.contains(".go:");
            !line || said.places.values().any(|places| places.contains(by))
        });
        let unheld = held.is_empty() && needs_to_be_held(&eras, sentence);
        if row.is_none_or(|row| row.eras != eras) || unheld || !here {
            wrong += &format!(
                "{fact}\t{eras}\t{sentence}\t{held}\n    # the panel: {}\n",
                places.join("; ")
            );
        }
    }
    for (fact, sentence) in table.keys() {
        if !said.contains_key(&(fact.clone(), sentence.clone())) {
            wrong += &format!("nobody says of {fact}: {sentence}\n");
        }
    }
    let held = table.values().filter(|row| !row.held.is_empty()).count();
    println!(
        "{} runs, {} sentences, {held} of them held",
        runs.len(),
        table.len()
    );
    assert!(wrong.is_empty(), "{TABLE} should have:\n{wrong}");
}

#[test]
fn what_a_sentence_promises_is_what_follows() {
    let runs = runs();
    let table = table();
    let mut met: BTreeMap<(&str, Generation), usize> = BTreeMap::new();
    let mut wrong = BTreeMap::new();
    for run in &runs {
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
        runs.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, _) in CHECKS {
        let met = met.keys().any(|(of, _)| *of == name);
        assert!(met, "no run has met {name:?}");
    }
}

#[test]
fn what_holds_a_sentence_is_there() {
    for ((fact, sentence), row) in table() {
        for by in row.held.split("; ").filter(|by| !by.is_empty()) {
            let check = CHECKS.iter().any(|(name, _)| *name == by);
            let vector =
                by.ends_with(".jsonl") && Path::new("tests/conformance").join(by).is_file();
            // One that the panel shows, as the first test holds.
            let line = by.starts_with("v0.3") && by.contains(".go:");
            let other = ["API concepts", "own"].contains(&by);
            assert!(
                check || vector || line || other,
                "{by:?} holds {fact}: {sentence}"
            );
        }
    }
}
