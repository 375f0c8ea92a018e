//! What a handler should have heard, what a controller says that it heard, and where the two part first.
//!
//! Each object is compared by itself, in order: a handler may hear of several objects in any order only where their
//! events came so. A log that ends early says nothing of the rest; one that begins late lacks what came before. An
//! update to the version that was heard last is a resync, and passed over on both sides.

use std::ops::ControlFlow;

use deltascope_cache::fact::{EventType, Fact, HandlersFact, NotificationRef, Shape};
use deltascope_world::Time;

use super::log::Logged;
use super::timeline::Timeline;

/// A notification that the handler of the engine took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    /// The number of facts before its fact.
    pub place: usize,
    /// Its virtual time, in ms.
    pub time: Time,
    /// What it says, as a line of a log would.
    pub call: Call,
}

/// A call of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `Added`: `OnAdd`, `Modified`: `OnUpdate`, `Deleted`: `OnDelete`.
    pub event: EventType,
    /// The object's key.
    pub key: String,
    /// The object's version; empty where it is not known.
    pub rv: String,
    /// Whether the object is a tombstone.
    pub tombstone: bool,
}

/// How the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The controller does not say that it heard it.
    Missing,
    /// The controller says that it heard it, and it should not have.
    Extra,
    /// It heard both about the object, the other one first.
    Order,
    /// It heard of this version in a call of another kind.
    Type,
    /// One is a tombstone, the other is not.
    Tombstone,
}

/// The first difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How they differ.
    pub kind: Kind,
    /// What it should have heard: the index of the notification.
    pub should: Option<usize>,
    /// What it says that it heard instead, or as well: the index in the log.
    pub heard: Option<usize>,
}

/// A log compared with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// How many notifications are alike, up to the first difference of each object.
    pub alike: usize,
    /// The first difference.
    pub first: Option<Difference>,
    /// How many notifications come after the last line, …
    pub after_log: usize,
    /// … and how many lines after the last notification: neither is a difference.
    pub after_run: usize,
}

/// The notifications that a handler took in the first `end` facts.
#[must_use]
pub fn notified(timeline: &Timeline, number: u8, end: usize) -> Vec<Notified> {
    let mut all = Vec::new();
    timeline.each::<()>(0..end, &mut |place, record| {
        if let Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) = &record.fact
            && *handler == number
        {
            let event = match notification {
                NotificationRef::Add { .. } => EventType::Added,
                NotificationRef::Update { .. } => EventType::Modified,
                NotificationRef::Delete { .. } => EventType::Deleted,
            };
            let object = notification.object();
            all.push(Notified {
                place,
                time: record.time,
                call: Call {
                    event,
                    key: object.key.to_string(),
                    rv: object.rv.to_string(),
                    tombstone: object.shape != Shape::Object,
                },
            });
        }
        ControlFlow::Continue(())
    });
    all
}

impl From<&Logged> for Call {
    fn from(line: &Logged) -> Self {
        Self {
            event: line.event,
            key: line.key.clone(),
            rv: line.rv.clone(),
            tombstone: line.tombstone,
        }
    }
}

/// Compares what should have been heard with what a log says.
#[must_use]
pub fn compare(should: &[Call], heard: &[Call]) -> Comparison {
    // All calls of an object, in order, ours first.
    let ours = should.iter().enumerate();
    let ours = ours.map(|(place, call)| (&*call.key, false, place));
    let theirs = heard.iter().enumerate();
    let theirs = theirs.map(|(line, call)| (&*call.key, true, line));
    let mut all: Vec<_> = ours.chain(theirs).collect();
    all.sort_unstable();
    // Which notification a line is, and those that end an object's common part: whether one more is missing or
    // extra shows what came after it.
    let mut alike = vec![None; heard.len()];
    let mut ends = Vec::new();
    let mut differences = Vec::new();
    for object in all.chunk_by(|one, other| one.0 == other.0) {
        let (ours, theirs) = object.split_at(object.partition_point(|(_, is_line, _)| !is_line));
        let (mut our, mut their) = (told(should, ours), told(heard, theirs));
        let pairs = our.iter().zip(&their);
        let same = pairs.take_while(|(our, their)| is_same(&should[**our], &heard[**their]));
        let same = same.count();
        for (our, their) in our.drain(..same).zip(their.drain(..same)) {
            alike[their] = Some(our);
        }
        match (&*our, &*their) {
            ([], []) => {}
            ([first, our @ ..], [line, their @ ..]) => {
                let (one, other) = (&should[*first], &heard[*line]);
                let is_late = their.iter().any(|line| is_same(one, &heard[*line]));
                let is_early = our.iter().any(|our| is_same(&should[*our], other));
                differences.push(Difference {
                    kind: match (is_late, is_early) {
                        (true, true) => Kind::Order,
                        (true, false) => Kind::Extra,
                        (false, false) if !is_version(one, other) => Kind::Missing,
                        (false, false) if one.event == other.event => Kind::Tombstone,
                        (false, false) => Kind::Type,
                        (false, true) => Kind::Missing,
                    },
                    should: Some(*first),
                    heard: Some(*line),
                });
            }
            _ => ends.push((our, their)),
        }
    }
    let last = (
        alike.iter().flatten().max().copied(),
        alike.iter().rposition(Option::is_some),
    );
    let count = alike.iter().flatten().count();
    // The last notification up to each line.
    let mut newest = None;
    let before: Vec<Option<usize>> = alike
        .into_iter()
        .map(|our| {
            let before = newest;
            newest = newest.max(our);
            before
        })
        .collect();
    let (mut after_log, mut after_run) = (0, 0);
    for (our, their) in ends {
        let is_before = |one: &usize, last: Option<usize>| last.is_none_or(|last| *one < last);
        match (our.first(), their.first()) {
            (Some(first), _) if is_before(first, last.0) => differences.push(Difference {
                kind: Kind::Missing,
                should: Some(*first),
                heard: None,
            }),
            (_, Some(first)) if is_before(first, last.1) => differences.push(Difference {
                kind: Kind::Extra,
                should: None,
                heard: Some(*first),
            }),
            _ => {
                after_log += our.len();
                after_run += their.len();
            }
        }
    }
    // A line without a notification comes after the last one that was heard before it.
    let place = |one: &Difference| match (one.should, one.heard) {
        (Some(our), _) => (our, false),
        (None, Some(their)) => {
            let before = before.get(their).copied().flatten();
            (before.unwrap_or_default(), before.is_some())
        }
        (None, None) => (usize::MAX, true),
    };
    Comparison {
        alike: count,
        first: differences.into_iter().min_by_key(place),
        after_log,
        after_run,
    }
}

/// The calls about an object, without resyncs.
fn told(calls: &[Call], object: &[(&str, bool, usize)]) -> Vec<usize> {
    let mut told: Vec<usize> = Vec::new();
    for (_, _, number) in object {
        let call = &calls[*number];
        let before = told.last().map(|before| &calls[*before]);
        let is_resync = call.event == EventType::Modified
            && !call.rv.is_empty()
            && before
                .is_some_and(|before| before.event != EventType::Deleted && before.rv == call.rv);
        if !is_resync {
            told.push(*number);
        }
    }
    told
}

/// Whether both are of one version, as far as both have one.
fn is_version(one: &Call, other: &Call) -> bool {
    one.rv == other.rv || one.rv.is_empty() || other.rv.is_empty()
}

fn is_same(one: &Call, other: &Call) -> bool {
    one.event == other.event && one.tombstone == other.tombstone && is_version(one, other)
}
