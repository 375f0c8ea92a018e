//! Finds the write that each version of a server comes from.
//!
//! A server numbers its writes. So a run with one write less has other numbers from there on, although the
//! same objects are written. Two versions are alike if they come from the same write: at the same time, of
//! the same object, with the same content.

use std::ops::ControlFlow;

use deltascope_cache::fact::{
    Body, Fact, FactRecord, HandlersFact, Printer, ReflectorFact, Rv, ServerFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::map::Map;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::Time;

use super::timeline::Timeline;

/// A write.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Write {
    time: Time,
    what: Change,
    /// The number of equal writes before it, at the same time.
    before: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Put(Key, Body),
    Delete(Key),
    Compact,
}

/// The writes of a run, by their resource versions.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    seen: usize,
    of: Map<Rv, Write>,
    /// The writes at the time of the last one, by object.
    at_once: (Time, Map<Option<Key>, Vec<Change>>),
    /// The version that each printed line may contain.
    lines: Vec<Rv>,
    /// The version that each printer is working on.
    at_work: SortedMap<Printer, Rv>,
}

impl Writes {
    /// Reads the facts up to this number.
    pub fn read_up_to(&mut self, timeline: &Timeline, until: usize) {
        timeline.each::<()>(self.seen..until, &mut |_, record| {
            self.add(record);
            ControlFlow::Continue(())
        });
        self.seen = self.seen.max(until);
    }

    fn add(&mut self, record: &FactRecord) {
        match &record.fact {
            Fact::Server(fact) => {
                if let Some((rv, what)) = written(fact) {
                    self.written(record.time, rv, what);
                }
            }
            Fact::Reflector(fact) => {
                if let ReflectorFact::EventReceived { object, .. } = fact {
                    self.at_work.insert(Printer::Program, object.rv.clone());
                }
            }
            Fact::Handlers(fact) => {
                if let HandlersFact::NotificationTaken {
                    handler,
                    notification,
                } = fact
                {
                    let rv = notification.object().rv.clone();
                    self.at_work.insert(Printer::Handler(*handler), rv);
                } else if let HandlersFact::LinePrinted { by, .. } = fact {
                    let rv = self.at_work.get(by).cloned();
                    self.lines.push(rv.unwrap_or_default());
                }
            }
            Fact::Queue(_) | Fact::Store(_) | Fact::Work(_) | Fact::Run(_) => {}
        }
    }

    fn written(&mut self, now: Time, rv: &Rv, what: Change) {
        let (time, at_once) = &mut self.at_once;
        if *time != now {
            *time = now;
            at_once.clear();
        }
        let key = match &what {
            Change::Put(key, _) | Change::Delete(key) => Some(key.clone()),
            Change::Compact => None,
        };
        let others = at_once.entry(key).or_default();
        let before = others.iter().filter(|other| **other == what).count();
        others.push(what.clone());
        let write = Write {
            time: now,
            what,
            before,
        };
        self.of.insert(rv.clone(), write);
    }
}

/// The written version and the change.
fn written(fact: &ServerFact) -> Option<(&Rv, Change)> {
    if let ServerFact::ObjectCreated { object, body }
    | ServerFact::ObjectUpdated { object, body, .. } = fact
    {
        Some((&object.rv, Change::Put(object.key.clone(), body.clone())))
    } else if let ServerFact::ObjectDeleted { object, .. } = fact {
        Some((&object.rv, Change::Delete(object.key.clone())))
    } else if let ServerFact::HistoryCompacted { oldest } = fact {
        Some((oldest, Change::Compact))
    } else {
        None
    }
}

/// Compares versions of two runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike<'a> {
    runs: Option<[&'a Writes; 2]>,
    /// The number of lines that each run has printed.
    lines: [usize; 2],
}

impl<'a> Alike<'a> {
    /// Compares versions by their writes; `lines` is the number of lines that each run has printed.
    #[must_use]
    pub fn new(runs: [&'a Writes; 2], lines: [usize; 2]) -> Self {
        Self {
            runs: Some(runs),
            lines,
        }
    }

    /// Whether two versions come from the same write; if neither comes from a write, whether they are equal.
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

    /// The version that a line of a run may contain; `since` is the number of lines printed after it.
    pub(super) fn in_line(self, run: usize, since: usize) -> Rv {
        let line = || {
            let lines = &self.runs?.get(run)?.lines;
            lines.get(self.lines.get(run)?.checked_sub(since + 1)?)
        };
        line().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltascope_cache::fact::{Actor, Cause, EventType, FactId, ObjectRef, Shape};
    use deltascope_cache::step::Step;

    fn object(key: &str, rv: usize) -> ObjectRef {
        ObjectRef {
            key: key.into(),
            shape: Shape::Object,
            rv: rv.to_string().into(),
            uid: "u".into(),
        }
    }

    fn read(facts: impl IntoIterator<Item = (Time, Fact)>) -> Writes {
        let mut writes = Writes::default();
        for (time, fact) in facts {
            writes.add(&FactRecord {
                id: FactId(0),
                time,
                actor: Actor::Server,
                cause: Cause::Start,
                step: Step::ServerWrite,
                fact,
            });
        }
        writes
    }

    /// A server's writes, numbered in order: time, key and phase.
    fn written(all: &[(Time, &str, &str)]) -> Writes {
        read(all.iter().zip(1..).map(|((time, key, phase), rv)| {
            let object = object(key, rv);
            let fact = match *phase {
                "compacted" => Fact::Server(ServerFact::HistoryCompacted { oldest: object.rv }),
                "deleted" => Fact::Server(ServerFact::ObjectDeleted {
                    object,
                    old_rv: "0".into(),
                }),
                phase => Fact::Server(ServerFact::ObjectCreated {
                    object,
                    body: Body {
                        phase: phase.into(),
                        ..Body::default()
                    },
                }),
            };
            (*time, fact)
        }))
    }

    #[test]
    fn two_versions_are_alike_if_they_come_from_the_same_write() {
        let one = [
            (5, "a", "Running"),
            (5, "a", "Failed"),
            (5, "a", "Running"),
            (5, "b", "Running"),
            (9, "a", "Running"),
            (9, "", "compacted"),
            (9, "a", "deleted"),
        ];
        for left_out in 0..one.len() {
            let mut other = one.to_vec();
            other.remove(left_out);
            let runs = [written(&one), written(&other)];
            let alike = Alike::new([&runs[0], &runs[1]], [0; 2]);
            for (left, write) in one.iter().enumerate() {
                let before = |all: &[(Time, &str, &str)], place: usize| {
                    all[..place].iter().filter(|one| *one == write).count()
                };
                for (right, of) in other.iter().enumerate() {
                    let same = of == write && before(&one, left) == before(&other, right);
                    let [left, right] = [left, right].map(|at| (at + 1).to_string());
                    assert_eq!(alike.is_same(&left, &right), same, "{left} {right}");
                }
            }
            // Only the first run has its last version; neither has the one after it.
            for (left, right, same) in [("7", "7", false), ("8", "8", true), ("8", "9", false)] {
                assert_eq!(alike.is_same(left, right), same, "{left} {right}");
            }
        }
    }

    #[test]
    fn a_line_contains_the_version_that_its_printer_is_working_on() {
        let received = |rv| {
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Added,
                object: object("a", rv),
                ends_list: false,
            })
        };
        let printed = || {
            Fact::Handlers(HandlersFact::LinePrinted {
                by: Printer::Program,
                line: "a".into(),
            })
        };
        let facts = [printed(), received(3), printed(), received(4), printed()];
        let writes = read(facts.map(|fact| (0, fact)));
        let none = Writes::default();
        let alike = Alike::new([&writes, &none], [3, 0]);
        let said = [0, 1, 2, 3].map(|since| alike.in_line(0, since).to_string());
        assert_eq!(said, ["4", "3", "", ""]);
    }
}
