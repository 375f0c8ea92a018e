//! The pseudo-code: every step of the algorithms as a line of one routine, with what it came to.
//!
//! The listing follows from the facts: which routine, which line is running, and the values at the
//! right are those of the current invocation. The wording is ours; the links lead to client-go.

use std::collections::BTreeMap;

use crate::cache::delta::DeltaType;
use crate::cache::fact::{
    Actor, BackoffReason, EventType, Fact, FactRecord, Known, Notification, ObjectRef, ProcessMode,
    Refusal, WatchEnd, WorkPlace,
};
use crate::cache::step::Step;
use crate::replay::picture::{Feed, Picture, QueueKind};

use super::caption::{answer, short_name, short_rv};

/// The widest line: the panel holds about 66 letters, and [`VALUE`] of them are the value's.
pub const LINE: usize = 46;
/// The widest value.
pub const VALUE: usize = 22;

/// What the panel shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The routine, and who called it where that is known: `DeltaFIFO.Delete › queueActionLocked`.
    pub title: String,
    /// Where client-go has it.
    pub link: Option<Link>,
    /// Its lines.
    pub lines: Vec<ListingLine>,
}

/// A place in client-go, or in the documentation where it is about the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// `client-go v0.32 delta_fifo.go:358`
    pub text: String,
    /// The address.
    pub url: String,
}

/// One line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// The pseudo-code, at most [`LINE`] letters.
    pub text: &'static str,
    /// What it came to in this invocation, at most [`VALUE`] letters, without the arrow.
    pub value: Option<String>,
    /// Whether the current fact happened here.
    pub current: bool,
}

/// The listing for the last of `recent` (oldest first); `picture` is the state after it.
#[must_use]
pub fn listing(recent: &[FactRecord], picture: &Picture) -> Listing {
    let Some(current) = recent.last() else {
        let id = match picture.api.feed {
            Feed::Server | Feed::Recorded => Id::ListAndWatch,
            Feed::Program => Id::Add,
        };
        let first = id
            .routine()
            .lines
            .iter()
            .find_map(|line| line.steps.first());
        return Listing {
            title: title(id, recent, picture),
            link: first.and_then(|step| link(id, place_in_client_go(*step), picture)),
            lines: lines(id, None, &BTreeMap::new()),
        };
    };
    let own = OwnProcess::of(recent, picture);
    let Some((id, line)) = place_of(current, own) else {
        // No step is without a place; the test holds it.
        return Listing {
            title: String::new(),
            link: None,
            lines: Vec::new(),
        };
    };
    let invocation = Invocation::ending_with_last(recent, id, line, own);
    let called = title(id, recent, picture);
    let title = match caller(&recent[..invocation.start], current, id, own) {
        Some(caller) if !id.is_entrance() => {
            format!("{} › {called}", title(caller, recent, picture))
        }
        _ => called,
    };
    Listing {
        title,
        link: link(id, pin(recent, picture), picture),
        lines: lines(id, Some(line), &invocation.values),
    }
}

fn lines(id: Id, current: Option<usize>, values: &BTreeMap<usize, String>) -> Vec<ListingLine> {
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

/// What a routine is called. The steps that all queues share are named after the queue that takes
/// them, and where one routine stands for two, the facts tell which of them it is.
fn title(id: Id, recent: &[FactRecord], picture: &Picture) -> String {
    let asked = recent.last().and_then(|last| {
        recent
            .iter()
            .rev()
            .filter(|record| record.actor == last.actor)
            .find_map(|record| match (&record.fact, id) {
                (Fact::EventReceived { event, .. }, Id::Add) => {
                    Some((*event == EventType::Modified).then_some(".Update"))
                }
                (Fact::Called { delta_type, .. }, Id::Add) => {
                    Some((*delta_type == DeltaType::Updated).then_some(".Update"))
                }
                (Fact::DeltaTaken { delta_type, .. }, Id::StoreWrite) => {
                    Some((*delta_type == DeltaType::Deleted).then_some("Indexer.Delete"))
                }
                _ => None,
            })
            .flatten()
    });
    let title = asked.unwrap_or(id.routine().title);
    if title.starts_with('.') {
        format!("{}{title}", picture.queue.kind.as_str())
    } else {
        title.to_owned()
    }
}

const API_CONCEPTS: &str =
    "https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes";

fn link(id: Id, pin: Pin, picture: &Picture) -> Option<Link> {
    // The shared steps are pinned to DeltaFIFO's lines.
    if id.routine().title.starts_with('.') && picture.queue.kind != QueueKind::DeltaFifo {
        return None;
    }
    // What a program does with its deltas is its own.
    if matches!(id, Id::OwnProcess | Id::OwnPrint) {
        return None;
    }
    match pin {
        Pin::Line(File(tag, file), line) => {
            let minor = tag.rsplit_once('.').map_or(tag, |(minor, _)| minor);
            let folder = match id {
                Id::Workqueue => "util/workqueue",
                _ => "tools/cache",
            };
            Some(Link {
                text: format!("client-go {minor} {file}:{line}"),
                url: format!(
                    "https://github.com/kubernetes/client-go/blob/{tag}/{folder}/{file}#L{line}"
                ),
            })
        }
        Pin::Docs => Some(Link {
            text: "Kubernetes API concepts".into(),
            url: API_CONCEPTS.into(),
        }),
        Pin::Nowhere => None,
    }
}

// ---- one invocation

/// What the facts of one invocation say, gathered backwards from the last one.
struct Invocation {
    /// The index of its first fact.
    start: usize,
    /// The value of each line that has one.
    values: BTreeMap<usize, String>,
}

impl Invocation {
    fn ending_with_last(
        recent: &[FactRecord],
        id: Id,
        current: usize,
        own_process: Option<OwnProcess>,
    ) -> Self {
        let routine = id.routine();
        let actor = recent.last().map(|record| record.actor);
        let mut found = Self {
            start: recent.len(),
            values: BTreeMap::new(),
        };
        let mut nested: BTreeMap<usize, Vec<&Fact>> = BTreeMap::new();
        let mut lowest = current;
        let deletions = if id == Id::Replace {
            first_deletion(recent)
        } else {
            None
        };
        // Whether an earlier round of a loop has been reached; its values are not shown.
        let mut earlier_round = false;
        for (index, record) in recent.iter().enumerate().rev() {
            // A switch may be moved in the middle of anything.
            if Some(record.actor) != actor
                || record.step == Step::SettingChanged && index + 1 < recent.len()
            {
                continue;
            }
            let Some((of, own)) = place_of(record, own_process) else {
                break;
            };
            let line = if of == id {
                own
            } else if let Some(line) = routine.line_that_calls(of, lowest) {
                match deletions {
                    // Both loops of Replace make the same call; the deletions come last.
                    Some((first, deleting)) if index > first => deleting,
                    _ if id == Id::Replace => routine.line_that_calls(of, 0).unwrap_or(line),
                    _ => line,
                }
            } else {
                break;
            };
            if line > lowest {
                if routine.loops(line) && routine.loops(lowest) {
                    earlier_round = true;
                } else {
                    break;
                }
            }
            lowest = line;
            found.start = index;
            if !(earlier_round && routine.loops(line)) {
                if of == id {
                    found.add(line, &record.fact, routine);
                } else if routine.lines[line].calls.contains(&of) {
                    nested.entry(line).or_default().push(&record.fact);
                }
            }
            if of == id && matches!(record.fact, Fact::LockTaken { .. }) {
                break;
            }
        }
        for (line, facts) in nested {
            if let Some(value) = outcome(&facts) {
                found.values.entry(line).or_insert(value);
            }
        }
        found
    }

    fn add(&mut self, line: usize, fact: &Fact, routine: &Routine) {
        for (offset, value) in values(fact) {
            if let Some(line) = line.checked_add_signed(offset)
                && line < routine.lines.len()
            {
                self.values.entry(line).or_insert(value);
            }
        }
    }
}

/// Who called the routine, from what the same actor did `before`.
fn caller(
    before: &[FactRecord],
    current: &FactRecord,
    id: Id,
    own: Option<OwnProcess>,
) -> Option<Id> {
    for record in before
        .iter()
        .rev()
        .filter(|record| record.actor == current.actor)
    {
        if matches!(record.fact, Fact::LockReleased { .. }) {
            return None;
        }
        let (of, _) = place_of(record, own)?;
        let routine = of.routine();
        if routine.lines.iter().any(|line| line.calls.contains(&id)) {
            return Some(of);
        }
        // The caller's caller: the caller itself has said nothing.
        if of != id && routine.line_that_calls(id, usize::MAX).is_some() {
            return None;
        }
    }
    None
}

/// In a Replace: the index of the first deletion that this call found, and its line.
fn first_deletion(recent: &[FactRecord]) -> Option<(usize, usize)> {
    let actor = recent.last()?.actor;
    let mut first = None;
    for (index, record) in recent.iter().enumerate().rev() {
        if record.actor != actor {
            continue;
        }
        match record.fact {
            Fact::LockTaken { .. } => break,
            Fact::DeletionDetected { .. } => {
                first = place_of(record, None).map(|(_, line)| (index, line));
            }
            _ => {}
        }
    }
    first
}

/// What a call came to: `facts` are those of the routine that was called, newest first.
fn outcome(facts: &[&Fact]) -> Option<String> {
    // In a loop it is called again and again.
    let appended = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::DeltaAppended { .. }))
        .count();
    if appended > 1 {
        return Some(counted(appended, "object", "objects"));
    }
    // The write says more than the indices that follow it.
    let write = facts.iter().find(|fact| {
        matches!(
            fact,
            Fact::ItemStored { .. } | Fact::ItemRemoved { .. } | Fact::StoreReplaced { .. }
        )
    });
    let mut enqueued = false;
    for fact in write.into_iter().chain(facts) {
        match fact {
            Fact::KeyEnqueued { .. } => enqueued = true,
            Fact::DeltasMerged { .. } => return Some("merged".into()),
            Fact::DeltaAppended { depth, .. } => {
                let depth = deltas(*depth as usize);
                return Some(if enqueued {
                    format!("key enqueued, {depth}")
                } else {
                    depth
                });
            }
            _ => {
                if let Some((_, value)) = values(fact).into_iter().find(|(offset, _)| *offset == 0)
                {
                    return Some(value);
                }
            }
        }
    }
    None
}

// ---- values

/// What a fact says at its line, and at lines so far above or below it.
fn values(fact: &Fact) -> Vec<(isize, String)> {
    let here = |value: String| vec![(0, value)];
    match fact {
        // ---- the API server
        Fact::ObjectCreated { object, body: _ }
        | Fact::ObjectUpdated {
            object,
            body: _,
            old_rv: _,
        }
        | Fact::ObjectDeleted { object, old_rv: _ } => here(named(object)),
        Fact::WriteRefused {
            verb: _,
            key: _,
            refusal,
        } => here(
            match refusal {
                Refusal::AlreadyExists => "409 AlreadyExists",
                Refusal::NotFound => "404 NotFound",
                Refusal::Invalid(_) => "422 Invalid",
            }
            .into(),
        ),
        Fact::HistoryCompacted { oldest } => here(format!("oldest {}", version(oldest))),
        Fact::ListAnswered { rv, count } | Fact::ListReceived { rv, count } => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::ListRefused { code, reason } | Fact::WatchDenied { code, reason } => {
            here(answer(*code, reason))
        }
        Fact::WatchAccepted { rv } => here(format!("open, rv {}", version(rv))),
        Fact::WatchRefused { rv: _, oldest: _ } => here("410 Gone".into()),
        Fact::ConnectionRefused => here("refused".into()),
        Fact::EventSent { event, object } | Fact::EventReceived { event, object } => {
            here(format!("{} {}", event.as_str(), short_name(&object.key)))
        }
        Fact::WatchClosed { end, lost: _ } => here(match end {
            WatchEnd::Closed => "closed".into(),
            WatchEnd::Cut | WatchEnd::CutInLine(_) => "cut".into(),
            WatchEnd::Failed(code, reason) => answer(*code, reason),
        }),

        // ---- the reflector
        Fact::ListRequested { rv, .. } | Fact::WatchRequested { rv, .. } => {
            here(format!("rv = {}", version(rv)))
        }
        Fact::PageReceived { count, total } => here(format!("{count}, {total} in all")),
        Fact::ListFailed { error, next: _ }
        | Fact::WatchFailed { error }
        | Fact::StreamFellBack { error }
        | Fact::ObjectRejected { error }
        | Fact::WatchErrorReported { error }
        | Fact::HandlerPanicked { handler: _, error } => here(error.to_string()),
        Fact::InitialEventKept { event, object } => {
            here(format!("{} {}", event.as_str(), short_name(&object.key)))
        }
        Fact::InitialEventsEnded { rv, count } => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::VersionUnavailable { on } => here(on.to_string()),
        Fact::ResyncDue { wanted } => here(format!("wanted: {wanted}")),
        Fact::LastSyncMoved { from, to } | Fact::StoreVersionMoved { from, to } => {
            here(format!("{} → {}", version(from), version(to)))
        }
        Fact::WatchEnded { relist } => here(if *relist { "list" } else { "watch" }.into()),
        Fact::BackoffStarted { ms, reason: _ } => here(format!("{ms} ms")),
        Fact::ReflectorStopped { reason } => here(reason.to_string()),

        // ---- a program, and the switches
        Fact::Called { delta_type, object } => here(format!(
            "{}({})",
            match delta_type {
                DeltaType::Added => "add",
                DeltaType::Updated => "update",
                DeltaType::Deleted => "delete",
                DeltaType::Replaced | DeltaType::ReplacedAll => "replace",
                DeltaType::Sync | DeltaType::SyncAll => "resync",
                DeltaType::Bookmark => "bookmark",
            },
            short_name(&object.key)
        )),
        Fact::ModeSet { mode } => here(match mode {
            ProcessMode::Free => "free".into(),
            ProcessMode::Paced(ms) => format!("paced, {ms} ms"),
            ProcessMode::Held => "held".into(),
        }),
        Fact::PopAsked { asked } => here(format!("pop asked: {asked}")),
        Fact::KnownObjectsSet { on } => here(format!("known objects {}", switch(*on))),

        // ---- the lock
        Fact::LockTaken { .. } | Fact::LockReleased { .. } => Vec::new(),
        Fact::LockAwaited { .. } => here("waits".into()),

        // ---- the queues
        Fact::KeyFailed { error: _ } => here("KeyError".into()),
        Fact::TransformFailed { key: _, error: _ } => here("error".into()),
        Fact::Transformed { from: _, to: _ } => here("another object".into()),
        Fact::Populated { initial: 0 } => here("populated".into()),
        Fact::Populated { initial } => here(format!("populated, {initial} left")),
        Fact::DeleteChecked {
            key,
            known,
            pending,
        } => {
            let dropped = !pending && matches!(known, None | Some(Known::No));
            vec![
                (-3, short_name(key).to_owned()),
                (
                    0,
                    match known {
                        None => "no known objects".into(),
                        Some(Known::No) => "false".into(),
                        Some(Known::Failed) => "error".into(),
                        Some(Known::Yes(rv)) if rv.is_empty() => "true".into(),
                        Some(Known::Yes(rv)) => format!("true (rv {})", short_rv(rv)),
                    },
                ),
                (1, pending.to_string()),
                (2, dropped.to_string()),
            ]
        }
        Fact::DeleteIgnored { key: _ } => here("true: dropped".into()),
        Fact::DeltaAppended {
            delta_type,
            object: _,
            depth,
        } => here(format!("{delta_type}, {}", deltas(*depth as usize))),
        Fact::DeltasMerged {
            key: _,
            kept: _,
            kept_older,
        } => here(if *kept_older {
            "the older stays".into()
        } else {
            "the newer stays".into()
        }),
        Fact::KeyEnqueued { key: _, length } => {
            here(counted(*length as usize, "key queued", "keys queued"))
        }
        Fact::ResyncSkipped { key } => here(format!("{}: skipped", short_name(key))),
        Fact::AlreadyPresent { key } => here(format!("{}: dropped", short_name(key))),
        Fact::DeletionDetected { key }
        | Fact::FifoItemRemoved { key }
        | Fact::FifoKeySkipped { key }
        | Fact::Processed { key }
        | Fact::ItemRemoved { key, old: _ } => here(short_name(key).to_owned()),
        Fact::FifoItemSet { object } => here(named(object)),
        Fact::FifoCleared | Fact::IndicesReset => here("emptied".into()),
        Fact::EntryAppended { entry: _, length } => {
            here(counted(*length as usize, "entry", "entries"))
        }
        Fact::EntriesTaken {
            count,
            is_in_initial_list: _,
        } => here(counted(*count as usize, "entry", "entries")),
        Fact::QueueEmpty => here("waits".into()),
        Fact::KeyPopped {
            key,
            deltas: all,
            is_in_initial_list: _,
        } => here(format!("{}, {}", short_name(key), deltas(all.len()))),
        Fact::Synced => here("HasSynced".into()),
        Fact::ProcessFailed { error: _ } => here("error".into()),
        Fact::Requeued { key, added } => here(format!(
            "{}: {}",
            short_name(key),
            if *added { "put back" } else { "dropped" }
        )),
        Fact::ProcessWasSlow { key: _, depth, ms } => here(format!("{ms} ms, {depth} waited")),
        Fact::QueueClosed => here("closed".into()),

        // ---- processing and the store
        Fact::DeltaTaken {
            position: _,
            delta_type,
            object,
            exists,
        } => {
            let mut values = here(format!("{delta_type} {}", short_name(&object.key)));
            if let Some(exists) = exists {
                values.push((1, format!("exists = {exists}")));
            }
            values
        }
        Fact::ItemStored { object, old } => here(match old {
            Some(old) => format!("rv {} → {}", version(&old.rv), version(&object.rv)),
            None => named(object),
        }),
        Fact::StoreReplaced { items } => here(counted(items.len(), "object", "objects")),
        Fact::IndexEntryRemoved {
            index,
            value,
            key: _,
            emptied: _,
        }
        | Fact::IndexEntryAdded {
            index,
            value,
            key: _,
        } => here(if value.is_empty() {
            format!("{index}: \"\"")
        } else {
            format!("{index}: {value}")
        }),
        Fact::IndexFailed {
            index,
            key: _,
            error: _,
        } => here(index.to_string()),
        Fact::IndexersAdded { names } => here(names.join(", ")),

        Fact::EntriesProcessed { count } => here(counted(*count as usize, "entry", "entries")),
        Fact::ListOpened {
            rv: _,
            count,
            removed,
        } => here(format!("{count}, {removed} missing")),
        Fact::ResyncOpened { count } => here(counted(*count as usize, "object", "objects")),

        // ---- handlers
        Fact::NotificationSent {
            handler: _,
            notification,
        } => here(function(notification).into()),
        Fact::NotificationWithheld { handler: _, key } => here(format!("not {}", short_name(key))),
        Fact::HandlerAdded {
            handler: _,
            name: _,
            initial,
        } => here(format!("{initial} first")),
        Fact::HandlerAsked { name, .. } => here(name.to_string()),
        Fact::RemovalAsked { handler: _ }
        | Fact::HandlerRemoved { handler: _ }
        | Fact::HandlerSynced { handler: _ } => Vec::new(),
        Fact::SyncingSet {
            handler: _,
            syncing,
        } => here(format!("syncing = {syncing}")),
        Fact::ResyncCheckSet { ms } => here(format!("{ms} ms")),
        Fact::ObjectMutated { key, handler: _ }
        | Fact::MutationDetected { key }
        | Fact::WorkTaken { worker: _, key }
        | Fact::WorkForgotten { key } => here(short_name(key).into()),
        Fact::WorkAdded { key, place } => here(format!(
            "{} {}",
            short_name(key),
            match place {
                WorkPlace::Queue => "queued",
                WorkPlace::Dirty => "dirty",
                WorkPlace::Duplicate => "there already",
            }
        )),
        Fact::WorkDone { key, again } => here(if *again {
            format!("{} again", short_name(key))
        } else {
            short_name(key).into()
        }),
        Fact::WorkDelayed {
            key,
            ms,
            failures: _,
        } => here(format!("{} in {ms} ms", short_name(key))),
        Fact::Reconciled { worker: _, key, ok } => here(format!("{}: {ok}", short_name(key))),
        Fact::WorkShutDown { drain } => here(format!("drain = {drain}")),
        Fact::NotificationQueued {
            handler: _,
            notification,
            pending,
        } => here(format!("{}, {pending} waiting", function(notification))),
        Fact::NotificationTaken {
            handler: _,
            notification,
        } => here(format!(
            "{}({})",
            function(notification),
            short_name(match notification {
                Notification::Add { object, .. } | Notification::Delete { object } => &object.key,
                Notification::Update { new, .. } => &new.key,
            })
        )),
        Fact::LinePrinted { handler: _, line } => here(line.to_string()),
        Fact::NotificationHandled { handler: _ } => Vec::new(),
    }
}

fn function(notification: &Notification) -> &'static str {
    match notification {
        Notification::Add { .. } => "OnAdd",
        Notification::Update { .. } => "OnUpdate",
        Notification::Delete { .. } => "OnDelete",
    }
}

fn named(object: &ObjectRef) -> String {
    let name = short_name(&object.key);
    if object.rv.is_empty() {
        name.to_owned()
    } else {
        format!("{name} rv {}", short_rv(&object.rv))
    }
}

fn version(rv: &str) -> String {
    if rv.is_empty() {
        "\"\"".into()
    } else {
        short_rv(rv)
    }
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn deltas(n: usize) -> String {
    counted(n, "delta", "deltas")
}

// ---- the routines

/// One routine.
struct Routine {
    /// Its name; one that begins with a dot is the method of whatever queue it is.
    title: &'static str,
    lines: &'static [Line],
    /// The first and the last line of what does not run strictly downwards: a loop's body.
    unordered: Option<(usize, usize)>,
}

/// One line of a routine.
struct Line {
    text: &'static str,
    /// The steps that it stands for.
    steps: &'static [Step],
    /// The routines that it calls.
    calls: &'static [Id],
}

impl Routine {
    fn loops(&self, line: usize) -> bool {
        self.unordered
            .is_some_and(|(first, last)| (first..=last).contains(&line))
    }

    /// The line through which `other` runs, directly or not: the last such line up to `limit`,
    /// else the first one after it (in a loop, the round before).
    fn line_that_calls(&self, other: Id, limit: usize) -> Option<usize> {
        let calls = |line: &Line| {
            line.calls
                .iter()
                .any(|id| *id == other || id.routine().line_that_calls(other, usize::MAX).is_some())
        };
        let mut found = (0..self.lines.len()).filter(|index| calls(&self.lines[*index]));
        let mut best = found.next()?;
        for index in found {
            if index <= limit {
                best = index;
            }
        }
        Some(best)
    }
}

const fn plain(text: &'static str) -> Line {
    Line {
        text,
        steps: &[],
        calls: &[],
    }
}

const fn line(text: &'static str, steps: &'static [Step]) -> Line {
    Line {
        text,
        steps,
        calls: &[],
    }
}

const fn call(text: &'static str, steps: &'static [Step], calls: &'static [Id]) -> Line {
    Line { text, steps, calls }
}

/// The routines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    ServerWrite,
    ServerRead,
    ListAndWatch,
    WatchList,
    Run,
    Program,
    Settings,
    FifoWrite,
    FifoPop,
    Add,
    QueueAction,
    Delete,
    Replace,
    Resync,
    AddIfNotPresent,
    Pop,
    Close,
    RealWrite,
    RealReplace,
    RealResync,
    RealBookmark,
    RealPopBatch,
    ProcessDeltas,
    OwnProcess,
    OwnPrint,
    StoreWrite,
    StoreReplace,
    AddIndexers,
    Listener,
    Workqueue,
}

impl Id {
    const ALL: [Self; 30] = [
        Self::ServerWrite,
        Self::ServerRead,
        Self::ListAndWatch,
        Self::WatchList,
        Self::Run,
        Self::Program,
        Self::Settings,
        Self::FifoWrite,
        Self::FifoPop,
        Self::Add,
        Self::QueueAction,
        Self::Delete,
        Self::Replace,
        Self::Resync,
        Self::AddIfNotPresent,
        Self::Pop,
        Self::Close,
        Self::RealWrite,
        Self::RealReplace,
        Self::RealResync,
        Self::RealBookmark,
        Self::RealPopBatch,
        Self::ProcessDeltas,
        Self::OwnProcess,
        Self::OwnPrint,
        Self::StoreWrite,
        Self::StoreReplace,
        Self::AddIndexers,
        Self::Listener,
        Self::Workqueue,
    ];

    /// Whether it is what others call a queue or a reflector by; who did is no news then.
    fn is_entrance(self) -> bool {
        match self {
            Self::QueueAction
            | Self::FifoPop
            | Self::RealPopBatch
            | Self::ProcessDeltas
            | Self::OwnProcess
            | Self::OwnPrint
            | Self::StoreWrite
            | Self::StoreReplace
            | Self::Listener => false,
            Self::ServerWrite
            | Self::ServerRead
            | Self::ListAndWatch
            | Self::WatchList
            | Self::Run
            | Self::Program
            | Self::Settings
            | Self::FifoWrite
            | Self::Add
            | Self::Delete
            | Self::Replace
            | Self::Resync
            | Self::AddIfNotPresent
            | Self::Pop
            | Self::Close
            | Self::RealWrite
            | Self::RealReplace
            | Self::RealResync
            | Self::RealBookmark
            | Self::AddIndexers
            | Self::Workqueue => true,
        }
    }

    fn routine(self) -> &'static Routine {
        match self {
            Self::ServerWrite => &SERVER_WRITE,
            Self::ServerRead => &SERVER_READ,
            Self::ListAndWatch => &LIST_AND_WATCH,
            Self::WatchList => &WATCH_LIST,
            Self::Run => &RUN,
            Self::Program => &PROGRAM,
            Self::Settings => &SETTINGS,
            Self::FifoWrite => &FIFO_WRITE,
            Self::FifoPop => &FIFO_POP,
            Self::Add => &ADD,
            Self::QueueAction => &QUEUE_ACTION,
            Self::Delete => &DELETE,
            Self::Replace => &REPLACE,
            Self::Resync => &RESYNC,
            Self::AddIfNotPresent => &ADD_IF_NOT_PRESENT,
            Self::Pop => &POP,
            Self::Close => &CLOSE,
            Self::RealWrite => &REAL_WRITE,
            Self::RealReplace => &REAL_REPLACE,
            Self::RealResync => &REAL_RESYNC,
            Self::RealBookmark => &REAL_BOOKMARK,
            Self::RealPopBatch => &REAL_POP_BATCH,
            Self::ProcessDeltas => &PROCESS_DELTAS,
            Self::OwnProcess => &OWN_PROCESS,
            Self::OwnPrint => &OWN_PRINT,
            Self::StoreWrite => &STORE_WRITE,
            Self::StoreReplace => &STORE_REPLACE,
            Self::AddIndexers => &ADD_INDEXERS,
            Self::Listener => &LISTENER,
            Self::Workqueue => &WORKQUEUE,
        }
    }
}

/// The step that a fact is shown at. A handler without a buffer is called by processDeltas itself,
/// so no listener is at work.
fn step_of(record: &FactRecord) -> Step {
    match (record.step, record.actor) {
        (Step::ListenerTake | Step::ListenerHandle | Step::ListenerDone, Actor::ProcessLoop) => {
            Step::ProcessNotify
        }
        (step, _) => step,
    }
}

/// The process function of a program that asks no store: not processDeltas, but its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProcess {
    /// It writes into a store, by the delta's type.
    Stores,
    /// It has no store.
    Prints,
}

impl OwnProcess {
    /// The deltas that were taken tell: processDeltas always asks whether the object exists.
    fn of(recent: &[FactRecord], picture: &Picture) -> Option<Self> {
        let asked = recent.iter().rev().find_map(|record| match record.fact {
            Fact::DeltaTaken { exists, .. } => Some(exists.is_some()),
            _ => None,
        })?;
        match (asked, picture.store.present) {
            (true, _) => None,
            (false, true) => Some(Self::Stores),
            (false, false) => Some(Self::Prints),
        }
    }
}

/// The routine and the line of a fact.
fn place_of(record: &FactRecord, own: Option<OwnProcess>) -> Option<(Id, usize)> {
    match (place(step_of(record))?, own, &record.fact) {
        ((Id::ProcessDeltas, line), Some(OwnProcess::Stores), _) => Some((Id::OwnProcess, line)),
        // It has the same lines but for the store's, the last but one.
        ((Id::ProcessDeltas, line), Some(OwnProcess::Prints), _) => {
            Some((Id::OwnPrint, if line > 2 { line - 1 } else { line }))
        }
        // One step for what comes before and what comes after the lock.
        ((Id::Delete, _), _, Fact::Populated { .. } | Fact::Synced) => Some((Id::Delete, 3)),
        (place, _, _) => Some(place),
    }
}

/// The routine and the line of a step.
fn place(step: Step) -> Option<(Id, usize)> {
    Id::ALL.into_iter().find_map(|id| {
        let line = id
            .routine()
            .lines
            .iter()
            .position(|line| line.steps.contains(&step))?;
        Some((id, line))
    })
}

static SERVER_WRITE: Routine = Routine {
    title: "API server",
    lines: &[
        plain("write(verb, obj):"),
        line("  if it cannot be done: refuse", &[Step::ServerCheck]),
        line(
            "  apply it to objects[key], at the next rv",
            &[Step::ServerWrite],
        ),
        line("  send the event to each watch", &[Step::ServerSend]),
        line("  forget the oldest history", &[Step::ServerCompact]),
    ],
    unordered: Some((2, 3)),
};

static SERVER_READ: Routine = Routine {
    title: "API server",
    lines: &[
        plain("list(rv):"),
        line("  answer with all objects, at one rv", &[Step::ServerList]),
        plain("watch(rv):"),
        line("  open after rv, or 410 if forgotten", &[Step::ServerWatch]),
        line("  until it is closed or cut", &[Step::ServerClose]),
    ],
    unordered: None,
};

static LIST_AND_WATCH: Routine = Routine {
    title: "Reflector.ListAndWatch",
    lines: &[
        plain("ListAndWatch():"),
        line("  list = server.list(rv)", &[Step::ReflectorList]),
        call(
            "  queue.replace(list, list.rv)",
            &[Step::ReflectorReplace],
            &[Id::Replace, Id::RealReplace, Id::FifoWrite],
        ),
        line("  w = server.watch(last_sync_rv)", &[Step::ReflectorWatch]),
        line("  for event in w:", &[Step::ReflectorReceive]),
        call(
            "    queue.add | update | delete(event.obj)",
            &[Step::ReflectorDispatch],
            &[Id::Add, Id::Delete, Id::RealWrite, Id::RealBookmark],
        ),
        line("    last_sync_rv = event.rv", &[Step::ReflectorSetVersion]),
        line(
            "  expired: list again, else watch again",
            &[Step::ReflectorEnd],
        ),
        line(
            "  wait, longer after each failure",
            &[Step::ReflectorBackoff],
        ),
        line("  until it is stopped", &[Step::ReflectorStop]),
    ],
    unordered: Some((4, 6)),
};

static WATCH_LIST: Routine = Routine {
    title: "Reflector.watchList",
    lines: &[
        plain("watchList():"),
        line(
            "  w = server.watch(rv, sendInitialEvents)",
            &[Step::StreamWatch],
        ),
        line(
            "  for event in w: temporary store += event",
            &[Step::StreamKeep],
        ),
        line(
            "  the bookmark that ends them: it is a list",
            &[Step::StreamEnd],
        ),
        line("  refused: list in this round", &[Step::StreamFallBack]),
    ],
    unordered: Some((1, 4)),
};

static RUN: Routine = Routine {
    title: "Reflector.Run",
    lines: &[
        plain("Run(): again and again"),
        plain("  err = ListAndWatch()"),
        line("  if err: watchErrorHandler(err)", &[Step::ReflectorReport]),
        plain("beside a watch: each resync period"),
        call(
            "  if anybody wants it: queue.resync()",
            &[Step::ReflectorResync],
            &[Id::Resync, Id::RealResync],
        ),
    ],
    unordered: Some((2, 4)),
};

static PROGRAM: Routine = Routine {
    title: "program",
    lines: &[
        plain("main():"),
        call(
            "  queue.add | update | delete(obj)",
            &[Step::ProgramCall],
            &[Id::Add, Id::Delete, Id::FifoWrite, Id::RealWrite],
        ),
    ],
    unordered: None,
};

static SETTINGS: Routine = Routine {
    title: "this run",
    lines: &[
        plain("settings:"),
        line("  a switch of this page was moved", &[Step::SettingChanged]),
    ],
    unordered: None,
};

static FIFO_WRITE: Routine = Routine {
    title: "FIFO.Add, Delete, Replace",
    lines: &[
        plain("Add(obj) | Delete(obj) | Replace(list):"),
        line("  lock", &[Step::FifoLock]),
        line("  Replace: items, queue = the list's", &[Step::FifoReplace]),
        line("  Add: items[key] = obj", &[Step::FifoAdd]),
        line(
            "  Add: enqueue key if it was not there",
            &[Step::FifoEnqueue],
        ),
        line(
            "  Delete: items.remove(key)  # not queue",
            &[Step::FifoDelete],
        ),
        line("  unlock", &[Step::FifoUnlock]),
    ],
    unordered: Some((2, 4)),
};

static FIFO_POP: Routine = Routine {
    title: "FIFO.Pop",
    lines: &[
        plain("Pop(process):"),
        line("  key = queue.pop_front()", &[Step::FifoPopTake]),
        line("  if items lacks key: next key", &[Step::FifoPopSkip]),
        call(
            "  process(items.remove(key))",
            &[Step::FifoPopProcess],
            &[Id::ProcessDeltas, Id::OwnProcess, Id::OwnPrint],
        ),
    ],
    unordered: Some((1, 2)),
};

static ADD: Routine = Routine {
    title: ".Add",
    lines: &[
        plain("Add(obj) | Update(obj):"),
        line("  lock", &[Step::AddLock]),
        line("  populated = true", &[Step::AddKey]),
        call(
            "  queue_action(Added | Updated, obj)",
            &[],
            &[Id::QueueAction, Id::RealWrite],
        ),
        line("  unlock", &[Step::AddUnlock]),
    ],
    unordered: None,
};

static QUEUE_ACTION: Routine = Routine {
    title: "queueActionLocked",
    lines: &[
        plain("queue_action(type, obj):"),
        line("  key = key_of(obj)", &[Step::QueueActionKey]),
        line(
            "  obj = transform(obj)  # not for Sync",
            &[Step::QueueActionTransform],
        ),
        line("  items[key].push(type, obj)", &[Step::QueueActionAppend]),
        line(
            "  if the last two are Deleted: keep one",
            &[Step::QueueActionDedup],
        ),
        line(
            "  if key was not queued: queue.push(key)",
            &[Step::QueueActionEnqueue],
        ),
    ],
    unordered: None,
};

static DELETE: Routine = Routine {
    title: ".Delete",
    lines: &[
        plain("Delete(obj):"),
        line("  key = key_of(obj)", &[Step::DeleteKey]),
        line("  lock", &[Step::DeleteLock]),
        plain("  populated = true"),
        line(
            "  known   = known_objects.get(key) is some",
            &[Step::DeleteCheck],
        ),
        plain("  pending = items contains key"),
        line(
            "  if not known and not pending: return",
            &[Step::DeleteIgnore],
        ),
        call(
            "  queue_action(Deleted, obj)",
            &[],
            &[Id::QueueAction, Id::RealWrite],
        ),
        line("  unlock", &[Step::DeleteUnlock]),
    ],
    // What is stated of the key may come before or after the lock.
    unordered: Some((1, 2)),
};

static REPLACE: Routine = Routine {
    title: ".Replace",
    lines: &[
        plain("Replace(list):"),
        line("  lock", &[Step::ReplaceLock]),
        plain("  for obj in list:"),
        call(
            "    queue_action(Replaced, obj)",
            &[Step::ReplaceItem],
            &[Id::QueueAction],
        ),
        plain("  for key in items, known_objects not in list:"),
        call(
            "    queue_action(Deleted, tombstone(key))",
            &[Step::ReplaceMissing],
            &[Id::QueueAction],
        ),
        line(
            "  if not populated: left = keys queued",
            &[Step::ReplacePopulation],
        ),
        line("  unlock", &[Step::ReplaceUnlock]),
    ],
    unordered: Some((3, 5)),
};

static RESYNC: Routine = Routine {
    title: ".Resync",
    lines: &[
        plain("Resync():"),
        line("  lock", &[Step::ResyncLock]),
        plain("  for key in known_objects:"),
        line("    if items contains key: skip it", &[Step::ResyncKey]),
        call("    else: queue_action(Sync, obj)", &[], &[Id::QueueAction]),
        line("  unlock", &[Step::ResyncUnlock]),
    ],
    unordered: Some((3, 4)),
};

static ADD_IF_NOT_PRESENT: Routine = Routine {
    title: ".AddIfNotPresent",
    lines: &[
        plain("AddIfNotPresent(key, deltas):"),
        plain("  populated = true"),
        line(
            "  if items lacks key: put them at the end",
            &[Step::AddIfNotPresent],
        ),
    ],
    unordered: None,
};

static POP: Routine = Routine {
    title: ".Pop",
    lines: &[
        plain("Pop(process):"),
        line("  lock", &[Step::PopLock]),
        line("  while queue is empty: wait", &[Step::PopWait]),
        line("  key, deltas = take the front", &[Step::PopTake]),
        line("  if left > 0: left = left - 1", &[Step::PopCountDown]),
        call(
            "  process(deltas, is_in_initial_list)",
            &[Step::PopProcess],
            &[
                Id::ProcessDeltas,
                Id::OwnProcess,
                Id::OwnPrint,
                Id::FifoPop,
                Id::RealPopBatch,
            ],
        ),
        line("  if slow and depth > 10: log it", &[Step::PopSlow]),
        line(
            "  if ErrRequeue: put it back at the end",
            &[Step::PopRequeue],
        ),
        line("  unlock", &[Step::PopUnlock]),
    ],
    // A waiting Pop gets the lock again; that it was slow is stated before that it failed.
    unordered: Some((1, 6)),
};

static CLOSE: Routine = Routine {
    title: ".Close",
    lines: &[
        plain("Close():"),
        line("  closed = true; wake everybody", &[Step::QueueClose]),
    ],
    unordered: None,
};

static REAL_WRITE: Routine = Routine {
    title: "RealFIFO.Add, Delete",
    lines: &[
        plain("Add(obj) | Update(obj):"),
        line("  items.push(Added | Updated, obj)", &[Step::RealAdd]),
        plain("Delete(obj):"),
        line(
            "  items.push(Deleted, obj)  # asks nobody",
            &[Step::RealDelete],
        ),
    ],
    unordered: None,
};

static REAL_REPLACE: Routine = Routine {
    title: "RealFIFO.Replace",
    lines: &[
        plain("Replace(list, rv):"),
        line(
            "  atomic: items.push(ReplacedAll, list)",
            &[Step::RealReplaceAll],
        ),
        plain("  else for key missing from list:"),
        line(
            "    items.push(Deleted, tombstone(key))",
            &[Step::RealReplaceDeletes],
        ),
        plain("  for obj in list:"),
        line("    items.push(Replaced, obj)", &[Step::RealReplaceItems]),
        line(
            "  if not populated: left = len(items)",
            &[Step::RealPopulation],
        ),
    ],
    unordered: None,
};

static REAL_RESYNC: Routine = Routine {
    title: "RealFIFO.Resync",
    lines: &[
        plain("Resync():"),
        line("  atomic: items.push(SyncAll)", &[Step::RealSyncAll]),
        plain("  else for known key that is not queued:"),
        line("    items.push(Sync, obj)", &[Step::RealResync]),
    ],
    unordered: None,
};

static REAL_BOOKMARK: Routine = Routine {
    title: "RealFIFO.Bookmark",
    lines: &[
        plain("Bookmark(rv):"),
        line("  items.push(Bookmark, rv)", &[Step::RealBookmark]),
    ],
    unordered: None,
};

static REAL_POP_BATCH: Routine = Routine {
    title: "RealFIFO.PopBatch",
    lines: &[
        plain("PopBatch(process):"),
        line("  batch = the front, each key once", &[Step::RealPopBatch]),
        call(
            "  process(batch)",
            &[],
            &[Id::ProcessDeltas, Id::OwnProcess, Id::OwnPrint],
        ),
    ],
    unordered: None,
};

static PROCESS_DELTAS: Routine = Routine {
    title: "processDeltas",
    lines: &[
        plain("process_deltas(deltas):"),
        line(
            "  for type, obj in deltas, oldest first:",
            &[Step::ProcessDelta],
        ),
        plain("    old, exists = store.get(key)"),
        call(
            "    store.update | add | delete(obj)",
            &[Step::ProcessStore],
            &[Id::StoreWrite, Id::StoreReplace],
        ),
        call(
            "    handler.on_update | on_add | on_delete",
            &[Step::ProcessNotify],
            &[Id::Listener],
        ),
    ],
    unordered: Some((1, 4)),
};

static OWN_PROCESS: Routine = Routine {
    title: "the program's process",
    lines: &[
        plain("process(deltas):"),
        plain("  for type, obj in deltas, oldest first:"),
        plain("    switch type:"),
        call(
            "      store.add | update | delete(obj)",
            &[],
            &[Id::StoreWrite, Id::StoreReplace],
        ),
        call("      print(type, obj)", &[], &[Id::Listener]),
    ],
    unordered: Some((1, 4)),
};

static OWN_PRINT: Routine = Routine {
    title: "the program's process",
    lines: &[
        plain("process(deltas):"),
        plain("  for type, obj in deltas, oldest first:"),
        plain("    switch type:"),
        call("      print(type, obj)", &[], &[Id::Listener]),
    ],
    unordered: Some((1, 3)),
};

static STORE_WRITE: Routine = Routine {
    title: "Indexer.Update",
    lines: &[
        plain("Update(key, obj) | Delete(key):"),
        line("  Update: items[key] = obj", &[Step::StoreWrite]),
        plain("  for index in indices:"),
        line("    if its function fails: panic", &[Step::IndexFail]),
        line(
            "    take key out under the old values",
            &[Step::IndexRemove],
        ),
        line("    put key in under the new values", &[Step::IndexAdd]),
        line("  Delete: items.remove(key)", &[Step::StoreDelete]),
        line("  store_rv = obj.rv  # from 1.36 on", &[Step::StoreVersion]),
    ],
    unordered: Some((3, 5)),
};

static STORE_REPLACE: Routine = Routine {
    title: "Indexer.Replace",
    lines: &[
        plain("Replace(list):"),
        call(
            "  items = the list's; empty all indices",
            &[Step::StoreReplace],
            &[],
        ),
        call("  index each of items", &[], &[Id::StoreWrite]),
    ],
    unordered: Some((1, 2)),
};

static ADD_INDEXERS: Routine = Routine {
    title: "Indexer.AddIndexers",
    lines: &[
        plain("AddIndexers(new):"),
        line(
            "  if no name is taken: add all of them",
            &[Step::AddIndexers],
        ),
        call("  index each of items", &[], &[Id::StoreWrite]),
    ],
    unordered: None,
};

static LISTENER: Routine = Routine {
    title: "processorListener",
    lines: &[
        plain("add(notification):"),
        line(
            "  buffer.push(notification)  # no bound",
            &[Step::ListenerAdd],
        ),
        plain("run():"),
        line(
            "  for notification in buffer, in order:",
            &[Step::ListenerTake],
        ),
        line(
            "    handler.on_add | on_update | on_delete",
            &[Step::ListenerHandle],
        ),
        line("    # it returned, with no error", &[Step::ListenerDone]),
    ],
    unordered: None,
};

static WORKQUEUE: Routine = Routine {
    title: "workqueue",
    lines: &[
        plain("Add(key): if it is not dirty yet"),
        line(
            "  dirty += key; queue += key, unless taken",
            &[Step::WorkAdd],
        ),
        line(
            "AddAfter(key, delay): Add when it is over",
            &[Step::WorkDelay],
        ),
        plain("Get():"),
        line(
            "  key = queue.pop(); dirty -= it, taken += it",
            &[Step::WorkGet],
        ),
        plain("Done(key):"),
        line(
            "  taken -= key; if it is dirty: queue += key",
            &[Step::WorkDone],
        ),
        line("Forget(key): failures[key] = 0", &[Step::WorkForget]),
        line(
            "ShutDown(): Add does nothing any more",
            &[Step::WorkShutDown],
        ),
    ],
    unordered: Some((0, 8)),
};

// ---- where client-go has it

/// Where a step is to be found.
enum Pin {
    /// A line of client-go.
    Line(File, u32),
    /// The API server's side, in the documentation.
    Docs,
    /// Only in this program.
    Nowhere,
}

/// A tag of client-go and a file in its `tools/cache`, or in `util/workqueue`.
#[derive(Clone, Copy)]
struct File(&'static str, &'static str);

const DELTA_FIFO: File = File("v0.32.13", "delta_fifo.go");
const FIFO: File = File("v0.32.13", "fifo.go");
const REFLECTOR: File = File("v0.32.13", "reflector.go");
const CONTROLLER: File = File("v0.32.13", "controller.go");
const SHARED_INFORMER: File = File("v0.32.13", "shared_informer.go");
const STORE: File = File("v0.32.13", "thread_safe_store.go");
// What the classic generation does not have is pinned to the first one that has it.
const IN_ORDER: File = File("v0.34.10", "the_real_fifo.go");
const BATCHED: File = File("v0.35.7", "the_real_fifo.go");
const ATOMIC: File = File("v0.36.3", "the_real_fifo.go");
const WORKQUEUE_FILE: File = File("v0.36.3", "queue.go");
const DELAYING_QUEUE: File = File("v0.36.3", "delaying_queue.go");
const RATE_LIMITING_QUEUE: File = File("v0.36.3", "rate_limiting_queue.go");
const ATOMIC_STORE: File = File("v0.36.3", "thread_safe_store.go");

/// What the current call was for, where one step stands for the same in two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Add,
    Update,
    Delete,
    Replace,
}

impl Asked {
    /// The last call that the actor of the last fact made, or was told of.
    fn by_last(recent: &[FactRecord]) -> Option<Self> {
        let last = recent.last()?;
        recent
            .iter()
            .rev()
            .filter(|record| record.actor == last.actor)
            .find_map(|record| match &record.fact {
                Fact::ListReceived { .. } => Some(Self::Replace),
                Fact::EventReceived { event, .. } => match event {
                    EventType::Added => Some(Self::Add),
                    EventType::Modified => Some(Self::Update),
                    EventType::Deleted => Some(Self::Delete),
                    EventType::Bookmark | EventType::Error => None,
                },
                Fact::Called { delta_type, .. } => match delta_type {
                    DeltaType::Added => Some(Self::Add),
                    DeltaType::Updated => Some(Self::Update),
                    DeltaType::Deleted => Some(Self::Delete),
                    _ => None,
                },
                _ => None,
            })
    }
}

/// The function of the handler that the last fact is about.
fn handler_function(recent: &[FactRecord]) -> Option<&'static str> {
    let number = match &recent.last()?.fact {
        Fact::NotificationQueued { notification, .. }
        | Fact::NotificationTaken { notification, .. } => return Some(function(notification)),
        Fact::LinePrinted { handler, .. } | Fact::NotificationHandled { handler } => *handler,
        _ => return None,
    };
    recent.iter().rev().find_map(|record| match &record.fact {
        Fact::NotificationTaken {
            handler,
            notification,
        } if *handler == number => Some(function(notification)),
        _ => None,
    })
}

/// Where the last fact happened. One step may stand for several statements: the facts choose.
fn pin(recent: &[FactRecord], picture: &Picture) -> Pin {
    let Some(record) = recent.last() else {
        return Pin::Nowhere;
    };
    let step = step_of(record);
    let asked = Asked::by_last(recent);
    let (file, line) = match (step, &record.fact) {
        (Step::ReflectorSetVersion, _) if asked_for_list(recent) => (REFLECTOR, 603),
        (
            Step::ReflectorReceive,
            Fact::EventReceived {
                event: EventType::Error,
                ..
            },
        ) => (REFLECTOR, 812),
        (Step::ReflectorEnd, Fact::WatchEnded { relist }) => {
            let refused = recent.iter().rev().find_map(|record| match record.fact {
                Fact::WatchRefused { .. } => Some(true),
                Fact::WatchAccepted { .. } => Some(false),
                _ => None,
            });
            match (relist, refused) {
                (true, Some(true)) => (REFLECTOR, 462),
                (true, _) => (REFLECTOR, 495),
                // The loop goes round, without an error.
                (false, _) => (REFLECTOR, 470),
            }
        }
        // 429 is waited for inside the loop.
        (
            Step::ReflectorBackoff,
            Fact::BackoffStarted {
                reason: BackoffReason::WatchEnded,
                ..
            },
        ) => (REFLECTOR, 485),

        (Step::FifoLock, _) => match asked {
            Some(Asked::Delete) => (FIFO, 223),
            Some(Asked::Replace) => (FIFO, 332),
            _ => (FIFO, 169),
        },
        (Step::FifoUnlock, _) => match asked {
            Some(Asked::Delete) => (FIFO, 224),
            Some(Asked::Replace) => (FIFO, 333),
            _ => (FIFO, 170),
        },

        (Step::AddLock, _) if asked == Some(Asked::Update) => (DELTA_FIFO, 318),
        (Step::AddUnlock, _) if asked == Some(Asked::Update) => (DELTA_FIFO, 319),
        (Step::AddKey, _) if asked == Some(Asked::Update) => (DELTA_FIFO, 320),
        (Step::DeleteKey, Fact::Populated { .. } | Fact::Synced) => (DELTA_FIFO, 336),
        (Step::DeleteCheck, Fact::DeleteChecked { known: None, .. }) => (DELTA_FIFO, 338),
        (Step::DeleteIgnore, _) if checked_without_known(recent) => (DELTA_FIFO, 341),
        (Step::ReplaceItem | Step::ResyncKey, Fact::KeyFailed { .. }) => match step {
            Step::ResyncKey => (DELTA_FIFO, 751),
            _ => (DELTA_FIFO, 649),
        },
        // What is queued is looked through first.
        (Step::ReplaceMissing, Fact::DeletionDetected { key })
            if picture.queue.deltas.contains_key(key) =>
        {
            (DELTA_FIFO, 678)
        }
        (Step::AddIfNotPresent, Fact::AlreadyPresent { .. }) => (DELTA_FIFO, 390),
        (Step::PopWait, _) if picture.queue.closed => (DELTA_FIFO, 585),

        (Step::RealAdd, _) if asked == Some(Asked::Update) => (IN_ORDER, 166),

        (Step::ProcessNotify, _) => match handler_function(recent) {
            Some("OnAdd") => (CONTROLLER, 563),
            Some("OnDelete") => (CONTROLLER, 569),
            _ => (CONTROLLER, 558),
        },
        (Step::ListenerHandle, _) => match handler_function(recent) {
            Some("OnAdd") => (SHARED_INFORMER, 978),
            Some("OnDelete") => (SHARED_INFORMER, 983),
            _ => (SHARED_INFORMER, 976),
        },
        (Step::StoreReplace, Fact::IndicesReset) => (STORE, 288),
        _ => return place_in_client_go(step),
    };
    Pin::Line(file, line)
}

/// Whether the version to be remembered is a list's.
fn asked_for_list(recent: &[FactRecord]) -> bool {
    let last = recent.iter().rev().find(|record| {
        matches!(
            record.fact,
            Fact::ListReceived { .. } | Fact::EventReceived { .. }
        )
    });
    last.is_some_and(|record| matches!(record.fact, Fact::ListReceived { .. }))
}

/// Whether the last Delete had no known objects to ask.
fn checked_without_known(recent: &[FactRecord]) -> bool {
    recent.iter().rev().find_map(|record| match &record.fact {
        Fact::DeleteChecked { known, .. } => Some(known.is_none()),
        _ => None,
    }) == Some(true)
}

/// Where a step is, as far as it alone can tell.
fn place_in_client_go(step: Step) -> Pin {
    let (file, line) = match step {
        Step::ServerCheck
        | Step::ServerWrite
        | Step::ServerCompact
        | Step::ServerSend
        | Step::ServerList
        | Step::ServerWatch
        | Step::ServerClose => return Pin::Docs,
        Step::ProgramCall | Step::SettingChanged => return Pin::Nowhere,

        Step::ReflectorList => (REFLECTOR, 547),
        Step::ReflectorReplace => (REFLECTOR, 599),
        Step::ReflectorWatch => (REFLECTOR, 451),
        Step::ReflectorReceive => (REFLECTOR, 807),
        Step::ReflectorDispatch => (REFLECTOR, 832),
        Step::ReflectorSetVersion => (REFLECTOR, 859),
        Step::ReflectorEnd => (REFLECTOR, 474),
        Step::ReflectorBackoff => (REFLECTOR, 318),
        Step::ReflectorStop => (REFLECTOR, 425),
        Step::StreamWatch => (REFLECTOR, 677),
        Step::StreamKeep => (REFLECTOR, 834),
        Step::StreamEnd => (REFLECTOR, 697),
        Step::StreamFallBack => (REFLECTOR, 363),
        Step::ReflectorReport => (REFLECTOR, 316),
        Step::ReflectorResync => (REFLECTOR, 396),

        Step::FifoLock => (FIFO, 169),
        Step::FifoAdd => (FIFO, 175),
        Step::FifoEnqueue => (FIFO, 173),
        Step::FifoDelete => (FIFO, 226),
        Step::FifoReplace => (FIFO, 340),
        Step::FifoUnlock => (FIFO, 170),
        Step::FifoPopTake => (FIFO, 298),
        Step::FifoPopSkip => (FIFO, 304),
        Step::FifoPopProcess => (FIFO, 309),

        Step::AddLock => (DELTA_FIFO, 310),
        Step::AddKey => (DELTA_FIFO, 312),
        Step::AddUnlock => (DELTA_FIFO, 311),
        Step::QueueActionKey => (DELTA_FIFO, 449),
        Step::QueueActionTransform => (DELTA_FIFO, 468),
        Step::QueueActionAppend => (DELTA_FIFO, 476),
        Step::QueueActionDedup => (DELTA_FIFO, 477),
        Step::QueueActionEnqueue => (DELTA_FIFO, 481),
        Step::DeleteKey => (DELTA_FIFO, 330),
        Step::DeleteLock => (DELTA_FIFO, 334),
        Step::DeleteCheck => (DELTA_FIFO, 348),
        Step::DeleteIgnore => (DELTA_FIFO, 353),
        Step::DeleteUnlock => (DELTA_FIFO, 335),
        Step::ReplaceLock => (DELTA_FIFO, 637),
        Step::ReplaceItem => (DELTA_FIFO, 654),
        Step::ReplaceMissing => (DELTA_FIFO, 703),
        Step::ReplacePopulation => (DELTA_FIFO, 711),
        Step::ReplaceUnlock => (DELTA_FIFO, 638),
        Step::ResyncLock => (DELTA_FIFO, 721),
        Step::ResyncKey => (DELTA_FIFO, 755),
        Step::ResyncUnlock => (DELTA_FIFO, 722),
        Step::AddIfNotPresent => (DELTA_FIFO, 394),
        Step::PopLock => (DELTA_FIFO, 577),
        Step::PopWait => (DELTA_FIFO, 588),
        Step::PopTake => (DELTA_FIFO, 592),
        Step::PopCountDown => (DELTA_FIFO, 595),
        Step::PopProcess => (DELTA_FIFO, 616),
        Step::PopSlow => (DELTA_FIFO, 614),
        Step::PopRequeue => (DELTA_FIFO, 618),
        Step::PopUnlock => (DELTA_FIFO, 578),
        Step::QueueClose => (DELTA_FIFO, 276),

        Step::RealAdd => (IN_ORDER, 155),
        Step::RealDelete => (IN_ORDER, 179),
        Step::RealReplaceDeletes => (IN_ORDER, 294),
        Step::RealReplaceItems => (IN_ORDER, 332),
        Step::RealReplaceAll => (ATOMIC, 610),
        Step::RealPopulation => (IN_ORDER, 340),
        Step::RealResync => (IN_ORDER, 385),
        Step::RealSyncAll => (ATOMIC, 745),
        Step::RealBookmark => (ATOMIC, 592),
        Step::RealPopBatch => (BATCHED, 286),

        Step::ProcessDelta => (CONTROLLER, 549),
        Step::ProcessStore => (CONTROLLER, 555),
        Step::ProcessNotify => (CONTROLLER, 558),

        Step::StoreWrite => (STORE, 240),
        Step::StoreDelete => (STORE, 249),
        Step::StoreReplace => (STORE, 285),
        Step::StoreVersion => (ATOMIC_STORE, 294),
        Step::IndexRemove => (STORE, 182),
        Step::IndexAdd => (STORE, 185),
        Step::IndexFail => (STORE, 164),
        Step::AddIndexers => (STORE, 357),

        Step::ListenerAdd => (SHARED_INFORMER, 933),
        Step::ListenerTake => (SHARED_INFORMER, 973),
        Step::ListenerHandle => (SHARED_INFORMER, 976),
        Step::ListenerDone => (SHARED_INFORMER, 973),

        Step::WorkAdd => (WORKQUEUE_FILE, 249),
        Step::WorkDelay => (DELAYING_QUEUE, 266),
        Step::WorkGet => (WORKQUEUE_FILE, 276),
        Step::WorkDone => (WORKQUEUE_FILE, 295),
        Step::WorkForget => (RATE_LIMITING_QUEUE, 146),
        Step::WorkShutDown => (WORKQUEUE_FILE, 317),
    };
    Pin::Line(file, line)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "tests"
    )]

    use super::*;
    use crate::cache::fact::{Cause, FactId, LockName};
    use crate::cache::key::Key;
    use crate::ui::caption::samples;

    /// All steps. One that is missing here does not compile.
    macro_rules! steps {
        ($($step:ident),* $(,)?) => {
            const STEPS: &[Step] = &[$(Step::$step),*];

            fn is_listed(step: Step) -> bool {
                match step {
                    $(Step::$step => true),*
                }
            }
        };
    }

    steps!(
        ServerCheck,
        ServerWrite,
        ServerCompact,
        ServerSend,
        ServerList,
        ServerWatch,
        ServerClose,
        ReflectorList,
        ReflectorReplace,
        ReflectorWatch,
        ReflectorReceive,
        ReflectorDispatch,
        ReflectorSetVersion,
        ReflectorEnd,
        ReflectorBackoff,
        ReflectorStop,
        StreamWatch,
        StreamKeep,
        StreamEnd,
        StreamFallBack,
        ReflectorReport,
        ReflectorResync,
        ProgramCall,
        SettingChanged,
        FifoLock,
        FifoAdd,
        FifoEnqueue,
        FifoDelete,
        FifoReplace,
        FifoUnlock,
        FifoPopTake,
        FifoPopSkip,
        FifoPopProcess,
        AddLock,
        AddKey,
        AddUnlock,
        QueueActionKey,
        QueueActionTransform,
        QueueActionAppend,
        QueueActionDedup,
        QueueActionEnqueue,
        DeleteLock,
        DeleteKey,
        DeleteCheck,
        DeleteIgnore,
        DeleteUnlock,
        ReplaceLock,
        ReplaceItem,
        ReplaceMissing,
        ReplacePopulation,
        ReplaceUnlock,
        ResyncLock,
        ResyncKey,
        ResyncUnlock,
        AddIfNotPresent,
        PopLock,
        PopWait,
        PopTake,
        PopCountDown,
        PopProcess,
        PopSlow,
        PopRequeue,
        PopUnlock,
        QueueClose,
        RealAdd,
        RealDelete,
        RealReplaceDeletes,
        RealReplaceItems,
        RealReplaceAll,
        RealPopulation,
        RealResync,
        RealSyncAll,
        RealBookmark,
        RealPopBatch,
        ProcessDelta,
        ProcessStore,
        ProcessNotify,
        StoreWrite,
        StoreDelete,
        StoreReplace,
        StoreVersion,
        IndexRemove,
        IndexAdd,
        IndexFail,
        AddIndexers,
        ListenerAdd,
        ListenerTake,
        ListenerHandle,
        ListenerDone,
        WorkAdd,
        WorkDelay,
        WorkGet,
        WorkDone,
        WorkForget,
        WorkShutDown,
    );

    fn record(id: u32, actor: Actor, step: Step, fact: Fact) -> FactRecord {
        FactRecord {
            id: FactId(id),
            time: 0,
            actor,
            cause: Cause::Start,
            step,
            fact,
        }
    }

    fn records(actor: Actor, facts: Vec<(Step, Fact)>) -> Vec<FactRecord> {
        facts
            .into_iter()
            .zip(0..)
            .map(|((step, fact), id)| record(id, actor, step, fact))
            .collect()
    }

    fn object(rv: &str) -> ObjectRef {
        ObjectRef {
            key: Key::from("default/web-1"),
            shape: crate::cache::fact::Shape::Object,
            rv: rv.into(),
            uid: "u".into(),
        }
    }

    fn shown(listing: &Listing) -> Vec<String> {
        listing
            .lines
            .iter()
            .map(|line| {
                format!(
                    "{}{}{}",
                    if line.current { ">" } else { "" },
                    line.text,
                    line.value
                        .as_ref()
                        .map_or(String::new(), |value| format!(" → {value}"))
                )
            })
            .collect()
    }

    fn delete_kept() -> Vec<FactRecord> {
        let by = Actor::Reflector;
        let key = Key::from("default/web-1");
        records(
            by,
            vec![
                (
                    Step::ReflectorReceive,
                    Fact::EventReceived {
                        event: EventType::Deleted,
                        object: object("12"),
                    },
                ),
                (
                    Step::DeleteLock,
                    Fact::LockTaken {
                        lock: LockName::Queue,
                        by,
                    },
                ),
                (
                    Step::DeleteCheck,
                    Fact::DeleteChecked {
                        key: key.clone(),
                        known: Some(Known::Yes("2".into())),
                        pending: false,
                    },
                ),
                (
                    Step::QueueActionAppend,
                    Fact::DeltaAppended {
                        delta_type: DeltaType::Deleted,
                        object: object("12"),
                        depth: 1,
                    },
                ),
                (
                    Step::QueueActionEnqueue,
                    Fact::KeyEnqueued { key, length: 3 },
                ),
                (
                    Step::DeleteUnlock,
                    Fact::LockReleased {
                        lock: LockName::Queue,
                        by,
                    },
                ),
            ],
        )
    }

    #[test]
    fn every_step_is_one_line_of_one_routine() {
        for &step in STEPS {
            assert!(is_listed(step));
            let places: Vec<_> = Id::ALL
                .into_iter()
                .flat_map(|id| id.routine().lines.iter().map(move |line| (id, line)))
                .flat_map(|(id, line)| line.steps.iter().map(move |step| (id, line.text, *step)))
                .filter(|(_, _, at)| *at == step)
                .collect();
            assert_eq!(places.len(), 1, "{step:?}: {places:?}");
        }
    }

    #[test]
    fn every_line_fits_and_begins_with_a_header() {
        for id in Id::ALL {
            let lines = id.routine().lines;
            assert!(lines.len() <= 10, "{id:?}");
            assert!(!lines[0].text.starts_with(' ') && lines[0].steps.is_empty());
            for line in lines {
                assert!(line.text.chars().count() <= LINE, "{id:?}: {:?}", line.text);
            }
            if let Some((first, last)) = id.routine().unordered {
                assert!(first < last && last < lines.len(), "{id:?}");
            }
        }
    }

    #[test]
    fn every_link_leads_to_a_tag_a_file_and_a_line() {
        for &step in STEPS {
            let (id, _) = place(step).unwrap();
            let Some(link) = link(id, place_in_client_go(step), &Picture::default()) else {
                assert!(matches!(step, Step::ProgramCall | Step::SettingChanged));
                continue;
            };
            if link.url == API_CONCEPTS {
                continue;
            }
            let (address, number) = link.url.split_once("#L").unwrap();
            assert!(number.parse::<u32>().unwrap() > 0);
            let (tag, file) = address
                .strip_prefix("https://github.com/kubernetes/client-go/blob/")
                .and_then(|rest| {
                    let folders = ["/tools/cache/", "/util/workqueue/"];
                    folders.iter().find_map(|folder| rest.split_once(folder))
                })
                .unwrap();
            assert_eq!(tag.split('.').count(), 3, "{tag}");
            let short = tag.rsplit_once('.').unwrap().0;
            assert_eq!(link.text, format!("client-go {short} {file}:{number}"));
        }
    }

    #[test]
    fn the_values_are_those_of_the_call() {
        let recent = delete_kept();
        let all = listing(&recent, &Picture::default());
        assert_eq!(all.title, "DeltaFIFO.Delete");
        assert_eq!(
            shown(&all),
            [
                "Delete(obj):",
                "  key = key_of(obj) → web-1",
                "  lock",
                "  populated = true",
                "  known   = known_objects.get(key) is some → true (rv 2)",
                "  pending = items contains key → false",
                "  if not known and not pending: return → false",
                "  queue_action(Deleted, obj) → key enqueued, 1 delta",
                ">  unlock",
            ]
        );
        let link = all.link.unwrap();
        assert_eq!(link.text, "client-go v0.32 delta_fifo.go:335");
        assert_eq!(
            link.url,
            "https://github.com/kubernetes/client-go/blob/v0.32.13/tools/cache/delta_fifo.go#L335"
        );
    }

    #[test]
    fn what_has_not_been_reached_has_no_value() {
        let recent = delete_kept();
        let early = listing(&recent[..2], &Picture::default());
        assert_eq!(early.title, "DeltaFIFO.Delete");
        assert!(early.lines.iter().all(|line| line.value.is_none()));
        assert!(early.lines[2].current);
    }

    #[test]
    fn a_nested_routine_says_who_called_it() {
        let recent = delete_kept();
        let nested = listing(&recent[..5], &Picture::default());
        assert_eq!(nested.title, "DeltaFIFO.Delete › queueActionLocked");
        assert_eq!(
            shown(&nested)[3..],
            [
                "  items[key].push(type, obj) → Deleted, 1 delta",
                "  if the last two are Deleted: keep one",
                ">  if key was not queued: queue.push(key) → 3 keys queued",
            ]
        );
        // Not known: the call is out of sight.
        let alone = listing(&recent[3..4], &Picture::default());
        assert_eq!(alone.title, "queueActionLocked");
    }

    #[test]
    fn the_values_of_an_earlier_call_are_not_shown() {
        let mut recent = delete_kept();
        recent.extend(records(
            Actor::Reflector,
            vec![(
                Step::DeleteLock,
                Fact::LockTaken {
                    lock: LockName::Queue,
                    by: Actor::Reflector,
                },
            )],
        ));
        let again = listing(&recent, &Picture::default());
        assert!(again.lines.iter().all(|line| line.value.is_none()));
    }

    #[test]
    fn other_actors_do_not_disturb() {
        let mut recent = delete_kept();
        recent.insert(
            3,
            record(
                90,
                Actor::ProcessLoop,
                Step::PopLock,
                Fact::LockAwaited {
                    lock: LockName::Queue,
                    by: Actor::ProcessLoop,
                    holder: Actor::Reflector,
                },
            ),
        );
        recent.insert(
            4,
            record(
                91,
                Actor::Server,
                Step::ServerCompact,
                Fact::HistoryCompacted { oldest: "9".into() },
            ),
        );
        let with = listing(&recent, &Picture::default());
        let without = listing(&delete_kept(), &Picture::default());
        assert_eq!(with, without);
    }

    #[test]
    fn a_loop_shows_the_round_that_is_running() {
        let taken = |position, delta_type| {
            (
                Step::ProcessDelta,
                Fact::DeltaTaken {
                    position,
                    delta_type,
                    object: object("5"),
                    exists: Some(true),
                },
            )
        };
        let recent = records(
            Actor::ProcessLoop,
            vec![
                taken(0, DeltaType::Added),
                (
                    Step::StoreWrite,
                    Fact::ItemStored {
                        object: object("5"),
                        old: None,
                    },
                ),
                taken(1, DeltaType::Updated),
            ],
        );
        let second = listing(&recent, &Picture::default());
        assert_eq!(
            shown(&second),
            [
                "process_deltas(deltas):",
                ">  for type, obj in deltas, oldest first: → Updated web-1",
                "    old, exists = store.get(key) → exists = true",
                "    store.update | add | delete(obj)",
                "    handler.on_update | on_add | on_delete",
            ]
        );
    }

    #[test]
    fn the_two_loops_of_replace_are_told_apart() {
        let by = Actor::Reflector;
        let appended = |name: &str, delta_type| {
            (
                Step::QueueActionAppend,
                Fact::DeltaAppended {
                    delta_type,
                    object: ObjectRef {
                        key: Key::from(name),
                        ..object("5")
                    },
                    depth: 1,
                },
            )
        };
        let recent = records(
            by,
            vec![
                (
                    Step::ReplaceLock,
                    Fact::LockTaken {
                        lock: LockName::Queue,
                        by,
                    },
                ),
                appended("a", DeltaType::Replaced),
                appended("b", DeltaType::Replaced),
                (
                    Step::ReplaceMissing,
                    Fact::DeletionDetected {
                        key: Key::from("c"),
                    },
                ),
                appended("c", DeltaType::Deleted),
                (Step::ReplacePopulation, Fact::Populated { initial: 3 }),
                (
                    Step::ReplaceUnlock,
                    Fact::LockReleased {
                        lock: LockName::Queue,
                        by,
                    },
                ),
            ],
        );
        assert_eq!(
            shown(&listing(&recent, &Picture::default())),
            [
                "Replace(list):",
                "  lock",
                "  for obj in list:",
                "    queue_action(Replaced, obj) → 2 objects",
                "  for key in items, known_objects not in list:",
                "    queue_action(Deleted, tombstone(key)) → c",
                "  if not populated: left = keys queued → populated, 3 left",
                ">  unlock",
            ]
        );
        // While the first loop runs, nothing is said of the second.
        let early = listing(&recent[..1], &Picture::default());
        assert!(early.lines.iter().all(|line| line.value.is_none()));
    }

    #[test]
    fn a_program_that_goes_by_type_has_its_own_process_function() {
        let recent = records(
            Actor::ProcessLoop,
            vec![
                (
                    Step::PopTake,
                    Fact::KeyPopped {
                        key: Key::from("default/web-1"),
                        deltas: vec![(DeltaType::Added, object("5"))],
                        is_in_initial_list: false,
                    },
                ),
                (
                    Step::ProcessDelta,
                    Fact::DeltaTaken {
                        position: 0,
                        delta_type: DeltaType::Added,
                        object: object("5"),
                        exists: None,
                    },
                ),
                (
                    Step::ListenerHandle,
                    Fact::LinePrinted {
                        handler: 0,
                        line: "Added pod1".into(),
                    },
                ),
            ],
        );
        let mut picture = Picture::default();
        let alone = listing(&recent, &picture);
        assert_eq!(alone.title, "DeltaFIFO.Pop › the program's process");
        assert_eq!(alone.link, None);
        assert_eq!(
            shown(&alone),
            [
                "process(deltas):",
                "  for type, obj in deltas, oldest first: → Added web-1",
                "    switch type:",
                ">      print(type, obj) → Added pod1",
            ]
        );
        picture.store.present = true;
        let stored = listing(&recent[..2], &picture);
        assert_eq!(
            shown(&stored)[1..4],
            [
                ">  for type, obj in deltas, oldest first: → Added web-1",
                "    switch type:",
                "      store.add | update | delete(obj)",
            ]
        );
        assert_eq!(stored.link, None);
        // Pop itself is client-go's.
        assert!(listing(&recent[..1], &picture).link.is_some());
    }

    #[test]
    fn where_two_places_are_one_step_the_facts_choose() {
        let place = |actor, facts| {
            let link = listing(&records(actor, facts), &Picture::default()).link;
            link.unwrap().text
        };
        let by = Actor::Reflector;
        let lock = |event, step, fact| {
            let received = Fact::EventReceived {
                event,
                object: object("5"),
            };
            place(by, vec![(Step::ReflectorReceive, received), (step, fact)])
        };
        let (taken, released) = (
            Fact::LockTaken {
                lock: LockName::Queue,
                by,
            },
            Fact::LockReleased {
                lock: LockName::Queue,
                by,
            },
        );
        for (event, first) in [(EventType::Added, 310), (EventType::Modified, 318)] {
            let at = |line| format!("client-go v0.32 delta_fifo.go:{line}");
            assert_eq!(lock(event, Step::AddLock, taken.clone()), at(first));
            assert_eq!(
                lock(event, Step::AddUnlock, released.clone()),
                at(first + 1)
            );
        }

        let checked = |known| {
            let key = Key::from("default/web-1");
            let checked = Fact::DeleteChecked {
                key: key.clone(),
                known,
                pending: false,
            };
            let ignored = (Step::DeleteIgnore, Fact::DeleteIgnored { key });
            let checked = (Step::DeleteCheck, checked);
            (
                place(by, vec![checked.clone()]),
                place(by, vec![checked, ignored]),
            )
        };
        let (asked, dropped) = checked(None);
        assert!(asked.ends_with(":338") && dropped.ends_with(":341"));
        let (asked, dropped) = checked(Some(Known::No));
        assert!(asked.ends_with(":348") && dropped.ends_with(":353"));

        let moved = (
            Step::ReflectorSetVersion,
            Fact::LastSyncMoved {
                from: "4".into(),
                to: "5".into(),
            },
        );
        let list = Fact::ListReceived {
            rv: "5".into(),
            count: 1,
        };
        let event = Fact::EventReceived {
            event: EventType::Added,
            object: object("5"),
        };
        for (before, line) in [(list, 603), (event, 859)] {
            let at = place(by, vec![(Step::ReflectorReceive, before), moved.clone()]);
            assert_eq!(at, format!("client-go v0.32 reflector.go:{line}"));
        }

        let add = Notification::Add {
            object: object("5"),
            is_in_initial_list: false,
        };
        let update = Notification::Update {
            old: None,
            new: object("5"),
        };
        let delete = Notification::Delete {
            object: object("5"),
        };
        for (notification, own, printed) in
            [(add, 563, 978), (update, 558, 976), (delete, 569, 983)]
        {
            let taken = Fact::NotificationTaken {
                handler: 0,
                notification,
            };
            let line = Fact::LinePrinted {
                handler: 0,
                line: "x".into(),
            };
            let facts = vec![(Step::ListenerTake, taken), (Step::ListenerHandle, line)];
            assert_eq!(
                place(Actor::ProcessLoop, facts.clone()),
                format!("client-go v0.32 controller.go:{own}")
            );
            assert_eq!(
                place(Actor::Listener(0), facts),
                format!("client-go v0.32 shared_informer.go:{printed}")
            );
        }
    }

    #[test]
    fn a_handler_without_a_buffer_is_called_by_process_deltas() {
        let recent = records(
            Actor::ProcessLoop,
            vec![(
                Step::ListenerHandle,
                Fact::LinePrinted {
                    handler: 0,
                    line: "OnAdd: web-1".into(),
                },
            )],
        );
        assert_eq!(listing(&recent, &Picture::default()).title, "processDeltas");
    }

    #[test]
    fn one_routine_for_two_is_called_what_it_is() {
        let by = Actor::Reflector;
        let called = |event| {
            records(
                by,
                vec![
                    (
                        Step::ReflectorReceive,
                        Fact::EventReceived {
                            event,
                            object: object("5"),
                        },
                    ),
                    (
                        Step::AddLock,
                        Fact::LockTaken {
                            lock: LockName::Queue,
                            by,
                        },
                    ),
                ],
            )
        };
        let picture = Picture::default();
        assert_eq!(
            listing(&called(EventType::Added), &picture).title,
            "DeltaFIFO.Add"
        );
        assert_eq!(
            listing(&called(EventType::Modified), &picture).title,
            "DeltaFIFO.Update"
        );
        let removed = records(
            Actor::ProcessLoop,
            vec![
                (
                    Step::ProcessDelta,
                    Fact::DeltaTaken {
                        position: 0,
                        delta_type: DeltaType::Deleted,
                        object: object("5"),
                        exists: Some(true),
                    },
                ),
                (
                    Step::StoreDelete,
                    Fact::ItemRemoved {
                        key: Key::from("default/web-1"),
                        old: None,
                    },
                ),
            ],
        );
        assert_eq!(
            listing(&removed, &picture).title,
            "processDeltas › Indexer.Delete"
        );
    }

    #[test]
    fn before_the_first_fact_no_line_is_current() {
        let mut picture = Picture::default();
        let server = listing(&[], &picture);
        assert_eq!(server.title, "Reflector.ListAndWatch");
        picture.api.feed = Feed::Program;
        let program = listing(&[], &picture);
        assert_eq!(program.title, "DeltaFIFO.Add");
        for line in server.lines.iter().chain(&program.lines) {
            assert!(!line.current && line.value.is_none());
        }
        assert!(server.link.is_some() && program.link.is_some());
    }

    #[test]
    fn another_queue_has_its_own_name_and_not_the_links_of_delta_fifo() {
        let mut picture = Picture::default();
        picture.queue.kind = QueueKind::RealFifo;
        let recent = records(
            Actor::Reflector,
            vec![(
                Step::AddLock,
                Fact::LockTaken {
                    lock: LockName::Queue,
                    by: Actor::Reflector,
                },
            )],
        );
        let add = listing(&recent, &picture);
        assert_eq!(add.title, "RealFIFO.Add");
        assert_eq!(add.link, None);
    }

    #[test]
    fn every_fact_at_every_step_gives_a_listing_that_fits() {
        for fact in samples() {
            for &step in STEPS {
                let recent = records(Actor::Reflector, vec![(step, fact.clone())]);
                let listing = listing(&recent, &Picture::default());
                assert!(!listing.title.is_empty());
                let current = listing.lines.iter().filter(|line| line.current).count();
                assert_eq!(current, 1, "{step:?}");
                for value in listing.lines.iter().filter_map(|line| line.value.as_ref()) {
                    assert!(
                        !value.is_empty() && value.chars().count() <= VALUE,
                        "{value}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(cut("1234567890123456789012"), "1234567890123456789012");
        assert_eq!(cut("12345678901234567890123"), "123456789012345678901…");
    }
}
