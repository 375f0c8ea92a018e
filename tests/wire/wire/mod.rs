//! Recorded bodies, as an API server sent them and as users may damage them.

mod reading;
mod transcripts;
mod wrong;

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 2] = ["tests/transcripts", "src/replay/lessons/recordings"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> PathBuf {
    FOLDERS
        .iter()
        .map(|folder| root().join(folder).join(format!("{name}.body")))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no {name}.body"))
}

fn file(name: &str) -> (String, Vec<u8>) {
    (format!("{name}.body"), fs::read(path(name)).unwrap())
}
