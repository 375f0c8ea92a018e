//! The preprocessor for mdBook: runs each fenced block of a book natively, fails the build if an expectation does
//! not hold, and replaces the block by the element with its picture and transcript.
//!
//! Like `cli`, it does its own I/O.

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
mod lesson;
mod lists;
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
use block::{Block, Folder};
use fence::fences;

/// Why a command failed, as a message for the author of the book.
#[derive(Debug)]
struct Failure(String);

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    /// The path of the file, relative to the current folder where possible.
    file: String,
    /// From 1.
    line: usize,
    /// Which block of the file it is, from 0.
    block: usize,
    /// One or more lines.
    message: String,
}

/// Runs the command line.
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
        // Other renderers get pictures and transcripts.
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

/// What is wrong with the blocks of a chapter that is in no book, each with its line.
#[must_use]
pub fn problems(chapter: &str) -> Vec<(usize, String)> {
    let folder = Folder {
        path: Path::new(""),
        depth: None,
    };
    let found = fences(chapter);
    let wrong = found
        .iter()
        .flat_map(|fence| Block::look(fence, &[], folder).1);
    wrong.map(|one| (one.line, one.message)).collect()
}

/// A path relative to the current folder where possible.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    visible::line(&shown.display().to_string()).into_owned()
}

/// The text of a chapter's file as mdBook reads it: without a byte order mark.
fn chapter(path: &Path) -> io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// All problems, one paragraph each.
fn report(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}:{}: {}", problem.file, problem.line, problem.message))
        .collect();
    lines.join("\n")
}

fn print(form: Form, text: &str) -> Result<(), Failure> {
    terminal::print(form, text)
        .map_err(|error| Failure::new(format!("The output cannot be written: {error}.")))
}
