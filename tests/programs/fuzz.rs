//! A sample of what `make fuzz` does: all known inputs of each surface, and some mutations of them.
#![allow(
    clippy::disallowed_methods,
    reason = "tests; a thread reads, so that what hangs fails"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use deltascope::cache::rng::Rng;

#[path = "../fuzz/surfaces.rs"]
mod surfaces;
#[path = "../fuzz/words.rs"]
mod words;

use surfaces::{SURFACES, Surface};

/// Mutations of each surface.
const MUTATIONS: u64 = 250;
/// Longer than any input takes, also on a busy machine.
const HANGS: Duration = Duration::from_secs(20);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str) -> Vec<Vec<u8>> {
    let files = words::files(&root().join(folder)).into_iter();
    files.map(|(_, bytes)| bytes).collect()
}

fn corpus(surface: &Surface) -> Vec<Vec<u8>> {
    files(&format!("tests/fuzz/corpus/{}", surface.name))
}

/// One of these, changed in up to four places.
fn mutated(longest: usize, seeds: &[Vec<u8>], words: &[String], chance: &mut Rng) -> Vec<u8> {
    let pick = |chance: &mut Rng| {
        let seed = &seeds[chance.below(seeds.len() as u64) as usize];
        &seed[..seed.len().min(longest)]
    };
    let mut input = pick(chance).to_vec();
    for _ in 0..=chance.below(4) {
        let end = input.len() as u64;
        let from = chance.below(end + 1) as usize;
        let to = (from + chance.below(24) as usize).min(input.len());
        let new: Vec<u8> = match chance.below(7) {
            0 => Vec::new(),
            1 => vec![chance.below(256) as u8],
            2 => [&input[from..to], &input[from..to]].concat(),
            3 => WORDS[chance.below(WORDS.len() as u64) as usize].into(),
            4 => words[chance.below(words.len() as u64) as usize]
                .clone()
                .into(),
            5 => {
                let other = pick(chance);
                let from = chance.below(other.len() as u64 + 1) as usize;
                let to = (from + chance.below(64) as usize).min(other.len());
                other[from..to].to_vec()
            }
            _ => {
                input.truncate(to);
                continue;
            }
        };
        input.splice(from..to, new);
    }
    input
}

/// What parsers stumble over.
const WORDS: [&str; 14] = [
    "18446744073709551615",
    "-1",
    "1e400",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\\u0000",
    "\u{202e}",
    "%ff",
    "+4294967295",
    "=",
    "/",
    "\n",
];

#[test]
fn what_others_wrote_is_read_or_refused() {
    let (begins, input_of) = channel();
    let reads = thread::spawn(move || {
        for surface in SURFACES {
            let mut seeds = corpus(surface);
            for input in &seeds {
                begins.send((surface.name, input.clone())).unwrap();
                (surface.read)(input);
            }
            seeds.extend(surface.more.iter().flat_map(|folder| files(folder)));
            let words = words::words(root(), surface);
            let mut chance = Rng::new(7);
            for _ in 0..MUTATIONS {
                let input = mutated(surface.longest, &seeds, &words, &mut chance);
                begins.send((surface.name, input.clone())).unwrap();
                (surface.read)(&input);
            }
        }
    });
    let mut last = None;
    let hangs = loop {
        match input_of.recv_timeout(HANGS) {
            Ok(next) => last = Some(next),
            Err(end) => break end == RecvTimeoutError::Timeout,
        }
    };
    if hangs || reads.join().is_err() {
        let (surface, input) = last.expect("an input");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{surface}.txt"));
        fs::write(&file, input).unwrap();
        let what = if hangs { "hangs" } else { "fails" };
        panic!("{surface} {what} with {}", file.display());
    }
}

#[test]
fn each_surface_has_inputs_and_each_folder_a_surface() {
    let folders = fs::read_dir(root().join("tests/fuzz/corpus")).unwrap();
    let folders: BTreeSet<_> = folders
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: BTreeSet<_> = SURFACES
        .iter()
        .map(|surface| surface.name.to_owned())
        .collect();
    assert_eq!(names, folders);
    assert!(SURFACES.iter().all(|surface| !corpus(surface).is_empty()));
}

/// libFuzzer puts them together.
#[test]
fn each_surface_has_the_words_that_it_reads() {
    for (name, some) in [
        ("attribute", &["lesson", "until"][..]),
        ("block", &["deltascope", "caption", "expect"]),
        ("file", &["kind", "BOOKMARK", "resourceVersion"]),
        ("lesson", &["scenario", "script", "watchList", "addHandler"]),
        ("message", &["runUntil", "switchTo"]),
        ("predicate", &["tombstone", "ItemStored"]),
        ("request", &["sendInitialEvents", "continue"]),
        ("selector", &["in", "notin"]),
    ] {
        let surface = SURFACES
            .iter()
            .find(|surface| surface.name == name)
            .unwrap();
        let words = words::words(root(), surface);
        for word in some {
            assert!(words.iter().any(|one| one == word), "{name}: {word}");
        }
    }
    for surface in SURFACES {
        for known in surface.knows {
            assert!(root().join(known).exists(), "{}: {known}", surface.name);
        }
        assert!(words::words(root(), surface).len() > 10, "{}", surface.name);
    }
}

#[test]
fn a_chapter_is_cut_into_its_blocks() {
    let chapter = "a\n```deltascope lesson=x\nb\n```\nc\n```sh\nd\n```\n```deltascope\n```\n";
    assert_eq!(
        words::blocks(chapter),
        ["```deltascope lesson=x\nb\n```\n", "```deltascope\n```\n"]
    );
}
