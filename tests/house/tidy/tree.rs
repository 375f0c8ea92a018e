//! The files of the tree that the rules check.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) struct File {
    /// Relative to the crate's folder, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn under(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files with one of these extensions (`""`: none), except recorded data.
pub(super) fn files(endings: &[&str]) -> Vec<File> {
    let found: Vec<File> = paths()
        .into_iter()
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap();
            let ending = name
                .rsplit_once('.')
                .filter(|(stem, _)| !stem.is_empty())
                .map_or("", |(_, ending)| ending);
            endings.contains(&ending)
        })
        .map(|path| File {
            text: read(&path),
            path,
        })
        .collect();
    assert!(
        endings != ["rs"] || found.len() > 10,
        "where are the sources?"
    );
    found
}

pub(super) fn paths() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                // Built, downloaded, or recorded data that is not ours to tidy.
                if ![
                    "target",
                    "dist",
                    "node_modules",
                    ".git",
                    ".trunk",
                    "data",
                    "conformance",
                    "transcripts",
                    // The page, where a book has it.
                    "deltascope",
                ]
                .contains(&name.as_str())
                {
                    folders.push(path);
                }
            } else if name != ".git" {
                found.push(relative(&path));
            }
        }
    }
    found.sort();
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap()
        .to_string_lossy()
        .replace('\\', "/")
}

pub(super) fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
