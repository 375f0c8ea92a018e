//! Where a recording is written, and what is said of it meanwhile.

use deltascope_world::text;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use deltascope_terminal::{self as terminal, Form, Out};
use deltascope_world::Time;

use crate::{Failure, cannot_write};

/// Where the trace is written.
pub(super) struct Output {
    to: To,
    pub(super) written: usize,
    series: Option<Series>,
}

/// A series of files, for `--rotate`.
struct Series {
    /// The name without number.
    path: PathBuf,
    /// The number of the current file.
    number: u32,
    /// How many files are kept.
    keep: Option<u32>,
}

impl Series {
    fn path(&self, number: u32) -> PathBuf {
        let stem = self.path.file_stem().map(OsStr::to_os_string);
        let mut name = stem.unwrap_or_default();
        name.push(format!("-{number}"));
        if let Some(ending) = self.path.extension() {
            name.push(".");
            name.push(ending);
        }
        self.path.with_file_name(name)
    }

    /// An error if there is a file of an earlier series: it would go on behind this one's end, or be removed as an old one.
    fn be_new(&self) -> Result<(), Failure> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // What cannot be read cannot be written to either, as the first file says.
        for path in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = folder.join(path.file_name());
            let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            let number = stem
                .rsplit_once('-')
                .and_then(|(_, number)| number.parse().ok());
            let is_one =
                number.is_some_and(|number| self.path(number).file_name() == path.file_name());
            if is_one {
                let shown = path.display();
                return Err(Failure::of(text!(
                    "{shown} is there already, of an earlier recording: name other files, or remove them.",
                    "{shown} 已存在，属于之前的录制：请换一个文件名，或先删除它们。"
                )));
            }
        }
        Ok(())
    }
}

enum To {
    File {
        file: File,
        path: PathBuf,
        /// Whether it was not there before.
        is_new: bool,
    },
    Stdout(Out),
}

/// Creates a file, unless something was recorded there.
fn create(path: &Path) -> Result<To, Failure> {
    if fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() > 0) {
        let shown = path.display();
        return Err(Failure::of(text!(
            "{shown} is there already and is not overwritten: name another file, or remove it.",
            "{shown} 已存在，不会覆盖：请换一个文件名，或先删除它。"
        )));
    }
    let is_new = !path.exists();
    let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
    Ok(To::File {
        file,
        path: path.to_owned(),
        is_new,
    })
}

impl Output {
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let to = match path {
            Some(path) if path.as_os_str() != "-" => create(path)?,
            _ => To::Stdout(Out::new(Form::Json)),
        };
        Ok(Self {
            to,
            written: 0,
            series: None,
        })
    }

    /// Creates the first file of a series, of which there is none yet.
    pub(super) fn series(path: &Path, keep: Option<u32>) -> Result<Self, Failure> {
        let series = Series {
            path: path.to_owned(),
            number: 1,
            keep,
        };
        series.be_new()?;
        let first = Self::open(Some(&series.path(series.number)))?;
        Ok(Self {
            series: Some(series),
            ..first
        })
    }

    /// Creates the next file of the series.
    pub(super) fn begin_next(&mut self) -> io::Result<()> {
        if let Some(series) = &mut self.series {
            series.number += 1;
            let path = series.path(series.number);
            self.to = To::File {
                file: File::create(&path)?,
                path,
                is_new: true,
            };
            self.written = 0;
        }
        Ok(())
    }

    /// The file, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.to {
            To::File { path, .. } => Some(path),
            To::Stdout(_) => None,
        }
    }

    /// Whether others of its series come before this file.
    pub(super) fn went_on(&self) -> bool {
        self.series.as_ref().is_some_and(|series| series.number > 1)
    }

    /// Removes the file, in which nothing is recorded. One that was there before is empty again.
    pub(super) fn remove(&self) {
        if let To::File { file, path, is_new } = &self.to {
            // Whoever may create a file may not always remove it, and not all files can be cut off.
            let _left = match is_new {
                true => fs::remove_file(path),
                false => file.set_len(0),
            };
        }
    }

    /// Removes the oldest file once enough others have content.
    pub(super) fn drop_oldest(&mut self) -> io::Result<()> {
        if let Some(series) = &mut self.series {
            let oldest = series.keep.and_then(|keep| series.number.checked_sub(keep));
            if let Some(oldest) = oldest.filter(|oldest| *oldest > 0) {
                match fs::remove_file(series.path(oldest)) {
                    // Somebody else has removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed?,
                }
            }
        }
        Ok(())
    }

    /// Writes at once: if the program is killed, the file is complete. Returns false if the reader has closed
    /// stdout.
    pub(super) fn write(&mut self, text: &str) -> io::Result<bool> {
        self.written += text.len();
        match &mut self.to {
            To::File { file, .. } => file.write_all(text.as_bytes()).map(|()| true),
            To::Stdout(out) => Ok(out.write(text)? && out.flush()?),
        }
    }
}

/// Reports the progress on stderr.
pub(super) struct Progress {
    /// Whether each report overwrites the last, on a terminal.
    pub(super) in_place: bool,
    /// When the next report is due.
    pub(super) next: Time,
}

impl Progress {
    pub(super) fn say(&self, text: &str) {
        if self.in_place {
            terminal::over(text);
        } else {
            terminal::note(text);
        }
    }

    /// Ends the line, so that the next output has a line of its own.
    pub(super) fn end(&self) {
        if self.in_place {
            terminal::note("");
        }
    }
}
