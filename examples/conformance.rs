//! Runs recorded scenarios of the real client-go against this crate:
//!
//! ```text
//! cargo run --release --example conformance -- tests/conformance
//! ```
//!
//! Every `*.jsonl` under the folders named is run. A file that fails is printed with its line, what
//! was expected and what came. Ends with an error when a file failed or there is none.

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
