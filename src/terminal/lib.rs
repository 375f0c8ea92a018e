//! What the programs print: nothing else writes to stdout or stderr, and nothing of others reaches a terminal as it is.

use std::io::IsTerminal;
use std::io::{self, BufWriter, StdoutLock, Write};

use clap::Parser;

use deltascope_world::source::visible;

/// What is printed, which decides how a character that drives a terminal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines for people.
    Words,
    /// JSON, or JSON Lines.
    Json,
    /// A picture.
    Xml,
}

/// The output, kept together until there is enough of it or it is flushed.
pub struct Out {
    to: BufWriter<StdoutLock<'static>>,
    form: Form,
}

impl Out {
    /// Output of this form, to stdout.
    pub fn new(form: Form) -> Self {
        Self {
            to: BufWriter::new(io::stdout().lock()),
            form,
        }
    }

    /// Writes whole characters. False: nobody reads it any more, which is no failure (`… | head` has what it wanted).
    pub fn write(&mut self, text: &str) -> io::Result<bool> {
        let text = match self.form {
            Form::Words => visible::lines(text),
            Form::Json => visible::json(text),
            Form::Xml => visible::xml(text),
        };
        read(self.to.write_all(text.as_bytes()))
    }

    /// Lets everything out.
    pub fn flush(&mut self) -> io::Result<bool> {
        read(self.to.flush())
    }
}

fn read(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Writes to stdout, at once.
pub fn print(form: Form, text: &str) -> io::Result<()> {
    let mut out = Out::new(form);
    if out.write(text)? {
        out.flush()?;
    }
    Ok(())
}

/// Says something beside the output, in lines.
pub fn note(text: &str) {
    // Nobody is there to be told that nobody can be told.
    let _unread = writeln!(io::stderr().lock(), "{}", visible::lines(text));
}

/// Says how it goes, over what was said so before, on a terminal.
pub fn over(text: &str) {
    // As before.
    let _unread = write!(io::stderr().lock(), "\r{}\x1b[K", visible::line(text));
}

/// Whether stdout and stderr are read by people, now.
pub fn are_terminals() -> [bool; 2] {
    [io::stdout().is_terminal(), io::stderr().is_terminal()]
}

/// What was typed, or an answer that has been given: whether it was asked for (`--help`), or says what is wrong.
pub fn typed<Args: Parser>() -> Result<Args, Answered> {
    Args::try_parse().map_err(|error| {
        let is_active =
            |arg: std::ffi::OsString| arg.to_string_lossy().contains(visible::is_active);
        if std::env::args_os().any(is_active) {
            // It repeats what was typed, which cannot be told from its own colours.
            note(error.render().to_string().trim_end());
        } else {
            // Nobody is there to be told that nobody can be told.
            let _unread = error.print();
        }
        if error.use_stderr() {
            Answered::Wrong
        } else {
            Answered::Help
        }
    })
}

/// What an answer to what was typed is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// How to type it: that was asked for.
    Help,
    /// That it cannot be understood.
    Wrong,
}
