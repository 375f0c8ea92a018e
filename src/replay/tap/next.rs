//! When an informer's recording goes on in another file, and how that one begins.

use std::io;

use deltascope_world::Time;

use super::call::Call;
use super::ledger::Ledger;
use super::note::Stopped;
use super::record::{self, Recorder};
use super::state::State;

/// Where a recording goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// In the same file, or nowhere.
    Same,
    /// In another one, which begins with the objects that are there.
    There,
    /// In another one, with the list that begins alone: its program was started again, or it had stopped.
    Anew,
}

impl Next {
    /// Where it goes on as a list begins; without one, as it stands. `resumes` says whether one that has stopped may go on.
    #[must_use]
    pub fn of(
        ledger: &Ledger,
        recorder: Option<&Recorder>,
        resumes: bool,
        list: Option<&Call>,
    ) -> Self {
        match (recorder, list) {
            (None, Some(_)) if resumes => Self::Anew,
            (Some(recorder), _) if !recorder.is_steady() => Self::Same,
            (Some(_), Some(list)) if ledger.begins_again(list) => Self::Anew,
            // There may be no room for the list.
            (Some(recorder), Some(_)) if recorder.is_tight() => Self::There,
            (Some(recorder), None) if recorder.is_long() => Self::There,
            _ => Self::Same,
        }
    }
}

/// What ends a file, and what begins the next one.
#[derive(Debug)]
pub struct Turn {
    /// The end.
    pub end: String,
    /// The beginning; `None` if there is no next file until a list begins one.
    pub begin: Option<String>,
}

impl Turn {
    /// Turns to another file, of this number. `list` records in it the list that begins, where that is all it begins with: also
    /// where the objects that are there are too many to hold them and that list. `state` reads what the file so far holds.
    ///
    /// # Errors
    /// Those of `state`, or if the file is no recording any more.
    pub fn to(
        next: Next,
        (at, part): (Time, u32),
        ledger: &Ledger,
        recorder: &mut Option<Recorder>,
        list: Option<Recorder>,
        state: impl FnOnce() -> io::Result<State>,
    ) -> io::Result<Self> {
        let end = match recorder {
            Some(recorder) if next == Next::There => {
                let state = state()?;
                let head = state.head().cloned().ok_or(io::ErrorKind::InvalidData)?;
                let mut notes = vec![ledger.informer()];
                notes.extend(ledger.goes_on(at, part));
                let (end, begin) = recorder.go_on(at, &state, notes, Box::new(|_| head));
                if recorder.stopped().is_none() && !(list.is_some() && recorder.is_half()) {
                    let begin = Some(begin);
                    return Ok(Self { end, begin });
                }
                end
            }
            Some(recorder) => recorder.finish() + &record::stopped(at, Stopped::Next),
            None => String::new(),
        };
        Ok(match list {
            Some(list) => {
                *recorder = Some(list.anew(at, part));
                let begin = Some(String::new());
                Self { end, begin }
            }
            None => Self {
                end: record::stopped(at, Stopped::Full),
                begin: None,
            },
        })
    }
}
