//! The report as data: the JSON that `--report` writes, and that the tap tells its page. The page reads what it shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use deltascope_world::Time;
use deltascope_world::text::Text;

use crate::wall;

use super::call::Scope;
use super::ledger::{Because, EndKind, How, Ledger};
use super::note::Why;

/// The whole report. Times are in ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Report {
    /// Wall-clock time at its beginning.
    #[serde(skip_deserializing)]
    pub start: Option<String>,
    /// How long was observed.
    pub lasted_ms: Time,
    /// The informers.
    pub informers: Vec<Informer>,
    /// What is odd.
    pub findings: Vec<Found>,
    /// The other requests.
    #[serde(skip_deserializing)]
    pub requests: Vec<Value>,
    /// What is read without a watch.
    #[serde(skip_deserializing)]
    pub polls: Vec<Value>,
}

/// An informer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Informer {
    /// The client's `User-Agent`.
    pub agent: Arc<str>,
    /// The objects.
    pub scope: Scope,
    /// Wall-clock time of its moment 0.
    #[serde(skip_deserializing)]
    pub start: Option<String>,
    /// The time of its last note.
    #[serde(skip_deserializing)]
    pub until_ms: Time,
    /// How long it has been there.
    pub age_ms: Time,
    /// The file of its recording; empty if there is none.
    #[serde(skip_deserializing)]
    pub file: String,
    /// The number under which the tap gives its recording out; 0 if it does not.
    pub recording: usize,
    /// Whether the recording does not go on.
    pub recording_stopped: bool,
    /// The generation of client-go.
    pub generation: Seen,
    /// How many objects it has.
    pub objects: usize,
    /// The bytes of these, as they came.
    pub bytes: u64,
    /// The bytes of all objects that came.
    #[serde(skip_deserializing)]
    pub bytes_received: u64,
    /// How many of these were managed fields.
    #[serde(skip_deserializing)]
    pub managed_fields_bytes: u64,
    /// Events of objects.
    pub events: u64,
    /// Bookmarks.
    #[serde(skip_deserializing)]
    pub bookmarks: u64,
    /// Events a second, along its life.
    pub events_per_second: f64,
    /// How many lists there were.
    pub list_count: u64,
    /// The first of them.
    pub lists: Vec<List>,
    /// How many watches were opened.
    #[serde(skip_deserializing)]
    pub watches: u64,
    /// Since when a watch is open.
    pub open_since_ms: Option<Time>,
    /// How many ends there were, by their kind.
    pub ends: BTreeMap<EndKind, u64>,
    /// The first ends, one by one.
    #[serde(skip_deserializing)]
    pub last_ends: Vec<End>,
}

/// The generation of client-go that an informer's requests show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The version of Kubernetes.
    pub version: String,
    /// Whether the client itself says so.
    pub named: bool,
}

/// A list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct List {
    /// When it was asked for.
    #[serde(skip_deserializing)]
    pub at_ms: Time,
    /// How it was asked for.
    pub how: Asked,
    /// Most objects of a page; 0: no limit.
    pub limit: u32,
    /// What preceded it: an end, or nothing; `null` for the first one.
    #[serde(skip_deserializing)]
    pub because: Value,
    /// How many objects came.
    #[serde(skip_deserializing)]
    pub objects: Option<usize>,
    /// In how many pages.
    pub pages: u32,
}

/// How a list is asked for: see [`How`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "as in How")]
pub enum Asked {
    #[default]
    Cached,
    Whole,
    Paged,
    NotOlder,
    Streamed,
}

/// The end of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct End {
    /// When.
    pub at_ms: Time,
    /// Why.
    pub why: Why,
}

/// Something odd.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Found {
    /// The name of its kind.
    #[serde(skip_deserializing)]
    pub kind: &'static str,
    /// The place of the informer that it is about, if it is about one.
    pub informer: Option<usize>,
    /// The moment of its evidence in the informer's recording.
    pub at_ms: Option<Time>,
    /// The finding, with its evidence.
    pub words: Text,
    /// The evidence.
    #[serde(skip_deserializing)]
    pub evidence: Value,
}

impl Informer {
    /// What a ledger says, `lasted` after the beginning of what is observed, which was at `start` on the wall's clock.
    #[must_use]
    pub fn of(ledger: &Ledger, start: Option<Time>, lasted: Time) -> Self {
        let (generation, named) = ledger.generation();
        let began = match (start, ledger.start) {
            (Some(start), Some(began)) => began.saturating_sub(start),
            _ => 0,
        };
        let ends = ledger.ends.iter().map(|(at, why)| End {
            at_ms: *at,
            why: why.clone(),
        });
        Self {
            agent: Arc::clone(&ledger.agent),
            scope: ledger.scope.clone(),
            start: ledger.start.map(wall::written),
            until_ms: ledger.until,
            age_ms: lasted.saturating_sub(began),
            file: ledger.file.clone(),
            recording: ledger.recording,
            recording_stopped: ledger.stopped,
            generation: Seen {
                version: generation.version().to_owned(),
                named,
            },
            objects: ledger.objects(),
            bytes: ledger.bytes(),
            bytes_received: ledger.came,
            managed_fields_bytes: ledger.managed,
            events: ledger.events,
            bookmarks: ledger.bookmarks,
            events_per_second: ledger.rate(),
            list_count: ledger.list_count,
            lists: ledger.lists.iter().map(List::of).collect(),
            watches: ledger.watches,
            open_since_ms: ledger.open_since(),
            ends: EndKind::ALL
                .into_iter()
                .map(|kind| (kind, ledger.ends_of(kind)))
                .collect(),
            last_ends: ends.collect(),
        }
    }
}

impl List {
    /// A list, as a ledger has it.
    #[must_use]
    pub fn of(list: &super::ledger::List) -> Self {
        let (how, limit) = match list.how {
            How::Cached => (Asked::Cached, 0),
            How::Whole => (Asked::Whole, 0),
            How::Paged(limit) => (Asked::Paged, limit),
            How::NotOlder => (Asked::NotOlder, 0),
            How::Streamed => (Asked::Streamed, 0),
        };
        let because = match &list.because {
            None => Value::Null,
            Some(Because::Nothing) => "nothing".into(),
            Some(Because::Ended(why)) => serde_json::to_value(why).unwrap_or_default(),
        };
        Self {
            at_ms: list.at,
            how,
            limit,
            because,
            objects: list.objects,
            pages: list.pages,
        }
    }
}
