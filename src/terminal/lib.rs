//! Everything that the programs print: nothing else writes to stdout or stderr, and control characters in foreign
//! text never reach a terminal.

pub mod near;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::{Child, Command, Stdio};

use clap::Parser;

use deltascope_world::source::visible;

/// The form of the output. It decides how control characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines for people.
    Words,
    /// JSON, or JSON Lines.
    Json,
    /// A picture as SVG.
    Xml,
}

/// Buffered output to stdout.
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

    /// Writes text, cut only between characters. Returns false if the reader has closed stdout, which is no
    /// failure (`… | head` has what it wanted).
    pub fn write(&mut self, text: &str) -> io::Result<bool> {
        let text = match self.form {
            Form::Words => visible::lines(text),
            Form::Json => visible::json(text),
            Form::Xml => visible::xml(text),
        };
        read(self.to.write_all(text.as_bytes()))
    }

    /// Flushes the buffer. Returns false if the reader has closed stdout.
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

/// Writes to stdout at once. Succeeds even if the reader has closed stdout.
pub fn print(form: Form, text: &str) -> io::Result<()> {
    let mut out = Out::new(form);
    if out.write(text)? {
        out.flush()?;
    }
    Ok(())
}

/// Writes to stderr, in lines.
pub fn note(text: &str) {
    // If stderr is closed, there is no way to report it.
    let _unread = writeln!(io::stderr().lock(), "{}", visible::lines(text));
}

/// Replaces the last line on stderr by a new progress report.
pub fn over(text: &str) {
    // If stderr is closed, there is no way to report it.
    let _unread = write!(io::stderr().lock(), "\r{}\x1b[K", visible::line(text));
}

/// Where a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Printed {
    /// stdout
    Out,
    /// stderr
    Err,
}

/// Has what a command prints read here; [`printed`] takes it.
pub fn piped(command: &mut Command) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
}

/// What a started command prints, to be read: of any kind of child.
#[macro_export]
macro_rules! printed {
    ($child:expr) => {
        ($child.stdout.take(), $child.stderr.take())
    };
}

/// Passes on what a command has printed, as it is: the command's output is its own.
///
/// # Errors
/// It cannot be written.
pub fn pass(to: Printed, bytes: &[u8]) -> io::Result<()> {
    fn all(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
        to.write_all(bytes)?;
        to.flush()
    }
    match to {
        Printed::Out => all(io::stdout().lock(), bytes),
        Printed::Err => all(io::stderr().lock(), bytes),
    }
}

/// A word of a command that is shown, so that a shell takes it as it is.
#[must_use]
pub fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_@%+:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    if !text.contains(visible::is_active) {
        return format!("'{}'", text.replace('\'', r"'\''")).into();
    }
    // What cannot be shown is written by its bytes.
    let mut quoted = String::from("$'");
    for letter in text.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            letter if visible::is_active(letter) => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted.into()
}

/// What a started program prints.
pub type ChildOutput = std::process::ChildStdout;

/// Starts a program whose output is read, and not printed. It reads nothing.
pub fn start_to_read(command: &mut Command) -> io::Result<(Child, ChildOutput)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((child, out))
}

/// What a program prints until it ends. It reads nothing.
pub fn read_all(command: &mut Command) -> io::Result<Vec<u8>> {
    command.stdin(Stdio::null()).output().map(|all| all.stdout)
}

/// Whether stdout and stderr are terminals.
pub fn are_terminals() -> [bool; 2] {
    [io::stdout().is_terminal(), io::stderr().is_terminal()]
}

/// Parses the command line. If it asks for help or is wrong, prints the answer and says which.
pub fn typed<Args: Parser>() -> Result<Args, Answered> {
    Args::try_parse().map_err(|error| {
        let is_active =
            |arg: std::ffi::OsString| arg.to_string_lossy().contains(visible::is_active);
        if std::env::args_os().any(is_active) {
            // clap's message repeats the input, whose control characters cannot be distinguished from clap's own
            // colours.
            note(error.render().to_string().trim_end());
        } else {
            // If it cannot be printed, there is no way to report it.
            let _unread = error.print();
        }
        if error.use_stderr() {
            Answered::Wrong
        } else {
            Answered::Help
        }
    })
}

/// What clap has printed in answer to the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The help, as requested.
    Help,
    /// An error.
    Wrong,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_a_word_as_it_is() {
        let table = [
            ("run/01-pods-all.jsonl", "run/01-pods-all.jsonl"),
            ("录制/é.jsonl", "录制/é.jsonl"),
            ("", "''"),
            ("my run/a.jsonl", "'my run/a.jsonl'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("`x`;\\", r"'`x`;\'"),
            ("~/a", "'~/a'"),
            ("a\n'\\b", r"$'a\012\'\\b'"),
            ("\u{1b}[2J\u{202e}7", r"$'\033[2J\342\200\2567'"),
        ];
        for (text, wanted) in table {
            assert_eq!(word(text), wanted);
            assert!(!word(text).contains(visible::is_active), "{text:?}");
            #[cfg(unix)]
            {
                let said = format!("printf %s {}", word(text));
                let got = read_all(Command::new("bash").args(["-c", &said])).unwrap();
                assert_eq!(String::from_utf8(got).unwrap(), text);
            }
        }
    }
}
