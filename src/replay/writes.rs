//! Which write each version of a server comes from.
//!
//! A server numbers its writes, so a run in which one write less happens has other numbers from there
//! on, though the same is written. Two versions are alike where they come from the same write: at the
//! same time, of the same object, with the same content.

use std::ops::ControlFlow;

use indexmap::IndexMap;

use crate::cache::fact::{Body, Fact, FactRecord, Rv};
use crate::cache::key::Key;
use crate::cache::sorted::SortedMap;
use crate::runtime::Time;
use crate::runtime::virtual_time::PROGRAM;

use super::timeline::Timeline;

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Write {
    time: Time,
    what: What,
    /// How many like it there were before, at the same time.
    before: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Put(Key, Body),
    Delete(Key),
    Compact,
}

/// The writes of a run, by the versions that they got.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    seen: usize,
    of: IndexMap<Rv, Write>,
    /// What was written at the same time as the last one, by the object.
    at_once: (Time, IndexMap<Option<Key>, Vec<What>>),
    /// For each line that was printed the version that may stand in it.
    lines: Vec<Rv>,
    /// The version of what each handler works on.
    at_work: SortedMap<u8, Rv>,
}

impl Writes {
    /// Reads on until so many facts are read.
    pub fn go_on(&mut self, timeline: &Timeline, until: usize) {
        timeline.each::<()>(self.seen..until, &mut |_, record| {
            self.add(record);
            ControlFlow::Continue(())
        });
        self.seen = self.seen.max(until);
    }

    fn add(&mut self, record: &FactRecord) {
        let (rv, what) = match &record.fact {
            Fact::ObjectCreated { object, body } | Fact::ObjectUpdated { object, body, .. } => {
                (&object.rv, What::Put(object.key.clone(), body.clone()))
            }
            Fact::ObjectDeleted { object, .. } => (&object.rv, What::Delete(object.key.clone())),
            Fact::HistoryCompacted { oldest } => (oldest, What::Compact),
            Fact::NotificationTaken {
                handler,
                notification,
            } => {
                let rv = notification.object().rv.clone();
                self.at_work.insert(*handler, rv);
                return;
            }
            Fact::EventReceived { object, .. } => {
                self.at_work.insert(PROGRAM, object.rv.clone());
                return;
            }
            Fact::LinePrinted { handler, .. } => {
                let rv = self.at_work.get(handler).cloned();
                self.lines.push(rv.unwrap_or_default());
                return;
            }
            _ => return,
        };
        let (time, at_once) = &mut self.at_once;
        if *time != record.time {
            *time = record.time;
            at_once.clear();
        }
        let key = match &what {
            What::Put(key, _) | What::Delete(key) => Some(key.clone()),
            What::Compact => None,
        };
        let others = at_once.entry(key).or_default();
        let before = others.iter().filter(|other| **other == what).count();
        others.push(what.clone());
        let write = Write {
            time: record.time,
            what,
            before,
        };
        self.of.insert(rv.clone(), write);
    }
}

/// Holds versions of two runs against each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike<'a> {
    runs: Option<[&'a Writes; 2]>,
    /// How many lines each has printed.
    lines: [usize; 2],
}

impl<'a> Alike<'a> {
    /// By what was written; `lines` says how many lines were printed in each.
    #[must_use]
    pub fn new(runs: [&'a Writes; 2], lines: [usize; 2]) -> Self {
        Self {
            runs: Some(runs),
            lines,
        }
    }

    /// Whether two versions come from the same write; where neither comes from one, whether they are equal.
    #[must_use]
    pub fn is_same(self, left: &str, right: &str) -> bool {
        let Some([one, other]) = self.runs else {
            return left == right;
        };
        match (one.of.get(left), other.of.get(right)) {
            (Some(left), Some(right)) => left == right,
            (None, None) => left == right,
            _ => false,
        }
    }

    /// The version that may stand in a line of the one run or the other: so many have been printed since.
    pub(super) fn in_line(self, run: usize, since: usize) -> Rv {
        let line = || {
            let lines = &self.runs?.get(run)?.lines;
            lines.get(self.lines.get(run)?.checked_sub(since + 1)?)
        };
        line().cloned().unwrap_or_default()
    }
}
