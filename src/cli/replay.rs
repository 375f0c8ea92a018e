//! `deltascope replay`: what the informer does with a recording, in words.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use crate::lessons::text::Lang;
use crate::replay::predicate::Predicate;
use crate::source::wire::MAX_BYTES;
use crate::terminal::{Form, Out};
use crate::ui::command::Command;
use crate::ui::session::Session;
use crate::ui::session::tell::Until;

use super::args::Replay;
use super::{Failure, cannot_write, note};

/// How far a run is told that has no end.
const ENDLESS_MS: u64 = 60_000;

/// Tells the run, and says afterwards what could not be read.
pub(super) fn run(options: &Replay, lang: Lang) -> Result<(), Failure> {
    let until = match &options.until {
        Some(text) => until(text)?,
        None => Until::End,
    };
    let mut files = Vec::new();
    for path in &options.files {
        files.push(read(path)?);
    }
    let mut session = Session::new();
    let before = session.view().lesson;
    session.obey(Command::Open(files));
    let view = session.view();
    let error = view.error.map(|error| error.message);
    if Rc::ptr_eq(&before, &view.lesson) {
        return Err(Failure::of(error.unwrap_or_default()));
    }
    if let Some(era) = options.era {
        session.obey(Command::Era(era.era().into()));
        if let Some(error) = session.view().error {
            return Err(Failure::of(error.message));
        }
    }
    let mut end = session.go_until(&until).map_err(Failure::of)?;
    if end == 0 && view.endless && until == Until::End {
        end = session
            .go_until(&Until::Time(ENDLESS_MS))
            .map_err(Failure::of)?;
        let seconds = ENDLESS_MS / 1_000;
        note(&match lang {
            Lang::En => {
                format!(
                    "This run has no end: its first {seconds} s are told. --until goes elsewhere."
                )
            }
            Lang::Zh => format!("此运行没有终点：只讲述前 {seconds} 秒。用 --until 指定别处。"),
        });
    }
    tell(&session, end, lang)?;
    // What is there was told first.
    error.map_or(Ok(()), |error| Err(Failure::of(error)))
}

fn tell(session: &Session, end: usize, lang: Lang) -> Result<(), Failure> {
    let mut out = Out::new(Form::Words);
    let mut written = Ok(true);
    session.tell(0..end, lang, &mut |part| {
        written = out.write(part);
        match written {
            Ok(true) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    if written.map_err(|error| cannot_write(&error))? {
        out.flush().map_err(|error| cannot_write(&error))?;
    }
    Ok(())
}

/// A file with its name, or what comes on stdin; a little more than may be read, so that it is told.
pub(super) fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    let (name, read) = if path.as_os_str() == "-" {
        let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
        ("stdin".to_owned(), read)
    } else {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
        (name.to_string_lossy().into_owned(), read)
    };
    match read {
        Ok(_) => Ok((name, bytes)),
        Err(error) => {
            let shown = path.display();
            Err(Failure::new(
                &format!("Cannot read {shown}: {error}."),
                &format!("无法读取 {shown}：{error}。"),
            ))
        }
    }
}

/// A time such as `1500ms`, `12s` or `2m`, or a condition.
fn until(text: &str) -> Result<Until, Failure> {
    if let Some(ms) = super::args::duration_ms(text) {
        return Ok(Until::Time(ms));
    }
    match text.parse::<Predicate>() {
        Ok(_) => Ok(Until::Condition(text.to_owned())),
        Err(error) => {
            let [en, zh] = error.words();
            Err(Failure::usage(
                &format!("--until: {en} Or give a time, such as 1500ms, 12s or 2m."),
                &format!("--until：{zh}也可以给出时间，如 1500ms、12s 或 2m。"),
            ))
        }
    }
}
