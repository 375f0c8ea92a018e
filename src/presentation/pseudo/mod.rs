//! The pseudo-code: every step of the algorithms as a line of one routine, with its result.
//!
//! The listing follows from the facts: they determine the routine and the current line, and the values
//! on the right are those of the current invocation. The wording is ours; the links lead to client-go.

use std::fmt;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{EventType, Fact, FactRecord, QueueFact, ReflectorFact, RunFact};
use deltascope_cache::sorted::SortedMap;
use deltascope_replay::picture::{Picture, QueueKind, SourceKind};

mod invocation;
mod pins;
mod places;
mod routines;
#[cfg(test)]
mod tests;
mod values;

use invocation::{Invocation, caller};
use pins::{Pin, pin, pinned};
use places::{Context, place_of};
use routines::{Id, Title};

/// Maximum width of a line, in characters. The panel has room for about 66, [`VALUE`] of them for the value.
pub const LINE: usize = 46;
/// Maximum width of a value, in characters.
pub const VALUE: usize = 22;

/// What the panel shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The routine that calls it, if that is known: `DeltaFIFO.Delete`.
    pub caller: Option<String>,
    /// The routine: `queueActionLocked`.
    pub routine: String,
    /// The corresponding place in client-go; `None` if there is none.
    pub link: Option<Link>,
    /// The lines of the routine.
    pub lines: Vec<ListingLine>,
}

/// A place in client-go or, for the API server, in the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Whose it is: `client-go v0.32`.
    pub source: String,
    /// Where in it: `delta_fifo.go:358`.
    pub place: String,
    /// The URL of the place.
    pub url: String,
}

/// One line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// The pseudo-code, at most [`LINE`] characters.
    pub text: &'static str,
    /// The result of the line in this invocation, at most [`VALUE`] characters, without the arrow.
    pub value: Option<String>,
    /// Whether the current fact happened here.
    pub current: bool,
}

impl Listing {
    /// The routine, after its caller if that is known: `DeltaFIFO.Delete › queueActionLocked`.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.caller {
            Some(caller) => format!("{caller} › {}", self.routine),
            None => self.routine.clone(),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source, self.place)
    }
}

/// The listing for the last of `recent` (oldest first); `picture` is the state after it.
#[must_use]
pub fn listing(recent: &[FactRecord], picture: &Picture) -> Listing {
    let Some(current) = recent.last() else {
        let id = match picture.api.source {
            _ if !picture.informer.has_queue() => Id::Program,
            SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => Id::ListAndWatch,
            SourceKind::Program if picture.queue.kind == QueueKind::Fifo => Id::FifoWrite,
            SourceKind::Program => Id::Add,
        };
        let first = id
            .routine()
            .lines
            .iter()
            .find_map(|line| line.steps.first());
        return Listing {
            caller: None,
            routine: title(id, recent, picture),
            link: first.and_then(|step| link(id, pinned(*step, 0, picture)?)),
            lines: lines(id, None, &SortedMap::new()),
        };
    };
    let context = Context::of(recent, picture);
    let Some((id, line)) = place_of(current, context) else {
        // A test checks that every step has a place.
        return Listing {
            caller: None,
            routine: String::new(),
            link: None,
            lines: Vec::new(),
        };
    };
    let invocation = Invocation::ending_with_last(recent, id, line, context);
    let caller = caller(&recent[..invocation.start], current, id, context);
    Listing {
        caller: caller
            .filter(|_| !id.is_entrance())
            .map(|caller| title(caller, recent, picture)),
        routine: title(id, recent, picture),
        link: pin(recent, picture, context).and_then(|pin| link(id, pin)),
        lines: lines(id, Some(line), &invocation.values),
    }
}

fn lines(id: Id, current: Option<usize>, values: &SortedMap<usize, String>) -> Vec<ListingLine> {
    id.routine()
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| ListingLine {
            text: line.text,
            value: values.get(&index).map(|value| cut(value)),
            current: current == Some(index),
        })
        .collect()
}

fn cut(value: &str) -> String {
    if value.chars().count() <= VALUE {
        return value.to_owned();
    }
    value
        .chars()
        .take(VALUE - 1)
        .chain(std::iter::once('…'))
        .collect()
}

/// The title of a routine. A routine that all queues share is named after the picture's queue. Where one
/// routine stands for two methods, the facts determine which of them it is.
fn title(id: Id, recent: &[FactRecord], picture: &Picture) -> String {
    let asked = recent.last().and_then(|last| {
        recent
            .iter()
            .rev()
            .filter(|record| record.actor == last.actor)
            .find_map(|record| match id {
                Id::Add => is_asked_to_update(&record.fact)
                    .map(|update| update.then_some(Title::OfQueue("Update"))),
                Id::StoreWrite => is_delta_of_a_delete(&record.fact)
                    .map(|delete| delete.then_some(Title::Of("Indexer.Delete"))),
                _ => None,
            })
            .flatten()
    });
    match asked.unwrap_or(id.routine().title) {
        Title::Of(name) => name.to_owned(),
        Title::OfQueue(method) => format!("{}.{method}", picture.queue.kind.id()),
    }
}

/// Whether the fact leads to an Update of the queue; `None` if it leads to no call.
fn is_asked_to_update(fact: &Fact) -> Option<bool> {
    if let Fact::Reflector(ReflectorFact::EventReceived { event, .. }) = fact {
        Some(*event == EventType::Modified)
    } else if let Fact::Run(RunFact::Called { delta_type, .. }) = fact {
        Some(*delta_type == DeltaType::Updated)
    } else {
        None
    }
}

/// Whether the delta that is taken is a Deleted; `None` if no delta is taken.
fn is_delta_of_a_delete(fact: &Fact) -> Option<bool> {
    if let Fact::Queue(QueueFact::DeltaTaken { delta_type, .. }) = fact {
        Some(*delta_type == DeltaType::Deleted)
    } else {
        None
    }
}

const API_CONCEPTS: &str =
    "https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes";

fn link(id: Id, pin: Pin) -> Option<Link> {
    // The process function of a program is not part of client-go.
    if matches!(id, Id::OwnProcess | Id::OwnPrint | Id::OwnObject) {
        return None;
    }
    match pin {
        Pin::Line(tag, source, line) => {
            let minor = tag.rsplit_once('.').map_or(tag, |(minor, _)| minor);
            let (folder, file) = source.path();
            Some(Link {
                source: format!("client-go {minor}"),
                place: format!("{file}:{line}"),
                url: format!(
                    "https://github.com/kubernetes/client-go/blob/{tag}/{folder}/{file}#L{line}"
                ),
            })
        }
        Pin::Docs => Some(Link {
            source: "Kubernetes".into(),
            place: "API concepts".into(),
            url: API_CONCEPTS.into(),
        }),
    }
}
