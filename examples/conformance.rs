//! Runs recorded scenarios of the real client-go against this crate:
//!
//! ```text
//! cargo run --release --example conformance -- tests/conformance
//! ```
//!
//! Runs every `*.jsonl` file in the given folders. For each failure it prints the file, the line, the expected
//! result and the actual one. Ends with an error if a file failed or none was found.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program at the command line"
)]

#[path = "../tests/conformance/runner/mod.rs"]
mod runner;

use std::path::PathBuf;
use std::process::ExitCode;

use runner::Outcome;

fn main() -> ExitCode {
    let roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        eprintln!("usage: conformance DIR…  (folders with recorded scenarios, *.jsonl)");
        return ExitCode::from(2);
    }
    let files = match runner::collect(&roots) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        match runner::run_file(&file) {
            Outcome::Passed => passed += 1,
            Outcome::Failed(failure) => {
                failed += 1;
                println!("{}:{failure}", file.display());
            }
        }
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
