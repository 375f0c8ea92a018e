//! The preprocessor for mdBook: runs each fenced block of a book natively, fails the build where one does not
//! hold, and puts the element with its picture and its words in its place.
//!
//! Like `cli` it prints and reads; the feature `mdbook` turns it on; natively only.

mod args;
mod block;
mod body;
mod book;
mod config;
mod expect;
mod fence;
mod files;
mod html;
mod info;
mod install;
mod near;
mod output;
mod words;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};

/// Why a command did not do what was asked, for whoever builds the book.
#[derive(Debug)]
struct Failure(String);

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    /// The file, as whoever builds the book finds it.
    file: String,
    /// The line in it, from 1.
    line: usize,
    /// Which block of the file it is, from 0.
    block: usize,
    /// What is wrong, in one or more lines.
    message: String,
}

/// Does what the command line says.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Nobody is there to be told that nobody can be told.
            let _unread = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let done = match args.command {
        Some(Command::Check(check)) => files::check(&check),
        Some(Command::Install(install)) => install::install(&install),
        // Other renderers get pictures and words.
        Some(Command::Supports { .. }) => Ok(()),
        None if io::stdin().is_terminal() => {
            note(&Args::command().render_help().to_string());
            return ExitCode::from(2);
        }
        None => book::preprocess(&mut io::stdin().lock()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            note(&message);
            ExitCode::FAILURE
        }
    }
}

/// A path as whoever is there finds it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    shown.display().to_string()
}

/// The text of a chapter's file, as mdBook reads it: what some editors put before it is no text.
fn chapter(path: &Path) -> io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// All problems, a paragraph each.
fn told(problems: &[Problem]) -> String {
    let told: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}:{}: {}", problem.file, problem.line, problem.message))
        .collect();
    told.join("\n")
}

/// Writes to stdout. That nobody reads it any more is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "The output cannot be written: {error}."
        ))),
        _ => Ok(()),
    }
}

/// Says something beside the output.
fn note(text: &str) {
    let mut err = io::stderr().lock();
    // Nobody is there to be told that nobody can be told.
    let _unread = writeln!(err, "{text}");
}
