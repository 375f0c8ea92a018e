//! The preprocessor for mdBook, through its binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mdbook-deltascope"));
    command.args(arguments).current_dir(folder);
    command.output().unwrap()
}

#[test]
fn every_block_of_the_documentation_holds() {
    let checked = run(
        &["check", "README.md", "docs/en", "docs/zh"],
        Path::new(env!("CARGO_MANIFEST_DIR")),
    );
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && told.is_empty(), "\n{told}");
}
