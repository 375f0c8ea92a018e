//! The preprocessor for mdBook: runs each fenced block of a book natively, fails the build where one does not
//! hold, and puts the element with its picture and its words in its place.
//!
//! Like `cli` it prints and reads.

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

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use deltascope_terminal::{self as terminal, Answered, Form};
use deltascope_world::source::visible;

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
    let args: Args = match terminal::typed() {
        Ok(args) => args,
        Err(Answered::Help) => return ExitCode::SUCCESS,
        Err(Answered::Wrong) => return ExitCode::from(2),
    };
    let done = match args.command {
        Some(Command::Check(check)) => files::check(&check),
        Some(Command::Install(install)) => install::install(&install),
        // Other renderers get pictures and words.
        Some(Command::Supports { .. }) => Ok(()),
        None if io::stdin().is_terminal() => {
            terminal::note(&Args::command().render_help().to_string());
            return ExitCode::from(2);
        }
        None => book::preprocess(&mut io::stdin().lock()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            terminal::note(&message);
            ExitCode::FAILURE
        }
    }
}

/// A path as whoever is there finds it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    visible::line(&shown.display().to_string()).into_owned()
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

/// Writes to stdout.
fn print(form: Form, text: &str) -> Result<(), Failure> {
    terminal::print(form, text)
        .map_err(|error| Failure::new(format!("The output cannot be written: {error}.")))
}
