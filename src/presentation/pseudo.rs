//! The pseudo-code: every step of the algorithms as a line of one routine, with what it came to.
//!
//! The listing follows from the facts: which routine, which line is running, and the values at the
//! right are those of the current invocation. The wording is ours; the links lead to client-go.

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, EventType, Fact, FactRecord, HandlersFact, Known, ListAgain, Notification, ObjectRef,
    ProcessMode, QueueFact, ReflectorFact, Refusal, RunFact, ServerFact, StoreFact, WatchEnd,
    WorkFact, WorkPlace,
};
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_replay::picture::{Picture, QueueKind, SourceKind};

use super::caption::{answer, short_name, short_rv};
use super::strings;

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
            _ if !picture.machinery.has_queue() => Id::Program,
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
            title: title(id, recent, picture),
            link: first.and_then(|step| link(id, pinned(*step, 0, picture)?)),
            lines: lines(id, None, &SortedMap::new()),
        };
    };
    let context = Context::of(recent, picture);
    let Some((id, line)) = place_of(current, context) else {
        // No step is without a place; the test holds it.
        return Listing {
            title: String::new(),
            link: None,
            lines: Vec::new(),
        };
    };
    let invocation = Invocation::ending_with_last(recent, id, line, context);
    let called = title(id, recent, picture);
    let title = match caller(&recent[..invocation.start], current, id, context) {
        Some(caller) if !id.is_entrance() => {
            format!("{} › {called}", title(caller, recent, picture))
        }
        _ => called,
    };
    Listing {
        title,
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

/// What a routine is called. The steps that all queues share are named after the queue that takes
/// them, and where one routine stands for two, the facts tell which of them it is.
fn title(id: Id, recent: &[FactRecord], picture: &Picture) -> String {
    let asked = recent.last().and_then(|last| {
        recent
            .iter()
            .rev()
            .filter(|record| record.actor == last.actor)
            .find_map(|record| match (&record.fact, id) {
                (Fact::Reflector(ReflectorFact::EventReceived { event, .. }), Id::Add) => {
                    Some((*event == EventType::Modified).then_some(".Update"))
                }
                (Fact::Run(RunFact::Called { delta_type, .. }), Id::Add) => {
                    Some((*delta_type == DeltaType::Updated).then_some(".Update"))
                }
                (Fact::Queue(QueueFact::DeltaTaken { delta_type, .. }), Id::StoreWrite) => {
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

fn link(id: Id, pin: Pin) -> Option<Link> {
    // What a program does with its deltas is its own.
    if matches!(id, Id::OwnProcess | Id::OwnPrint | Id::OwnObject) {
        return None;
    }
    match pin {
        Pin::Line(tag, source, line) => {
            let minor = tag.rsplit_once('.').map_or(tag, |(minor, _)| minor);
            let (folder, file) = source.path();
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
    }
}

// ---- one invocation

/// What the facts of one invocation say, gathered backwards from the last one.
struct Invocation {
    /// The index of its first fact.
    start: usize,
    /// The value of each line that has one.
    values: SortedMap<usize, String>,
}

impl Invocation {
    fn ending_with_last(recent: &[FactRecord], id: Id, current: usize, context: Context) -> Self {
        let routine = id.routine();
        let actor = recent.last().map(|record| record.actor);
        let mut found = Self {
            start: recent.len(),
            values: SortedMap::new(),
        };
        let mut nested: SortedMap<usize, Vec<&Fact>> = SortedMap::new();
        let mut lowest = current;
        let deletions = if id == Id::Replace {
            first_deletion(recent, context)
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
            let Some((of, own)) = place_of(record, context) else {
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
                    nested.or_default(line).push(&record.fact);
                }
            }
            let begins = matches!(record.fact, Fact::Queue(QueueFact::LockTaken { .. }));
            if of == id && begins && record.step != Step::PopRetake {
                break;
            }
        }
        for (line, facts) in nested {
            if let Some(value) = outcome(&facts) {
                found.values.or_insert(line, value);
            }
        }
        found
    }

    fn add(&mut self, line: usize, fact: &Fact, routine: &Routine) {
        let values = match fact {
            Fact::Queue(QueueFact::KeyPopped { deltas, .. }) if routine.title == FIFO_POP.title => {
                let objects = deltas.iter();
                objects.map(|(_, object)| (0, named(object))).collect()
            }
            fact => values(fact),
        };
        for (offset, value) in values {
            if let Some(line) = line.checked_add_signed(offset)
                && line < routine.lines.len()
            {
                self.values.or_insert(line, value);
            }
        }
    }
}

/// Who called the routine, from what the same actor did `before`.
fn caller(before: &[FactRecord], current: &FactRecord, id: Id, context: Context) -> Option<Id> {
    for record in before
        .iter()
        .rev()
        .filter(|record| record.actor == current.actor)
    {
        if matches!(record.fact, Fact::Queue(QueueFact::LockReleased { .. })) {
            return None;
        }
        let (of, _) = place_of(record, context)?;
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
fn first_deletion(recent: &[FactRecord], context: Context) -> Option<(usize, usize)> {
    let actor = recent.last()?.actor;
    let mut first = None;
    for (index, record) in recent.iter().enumerate().rev() {
        if record.actor != actor {
            continue;
        }
        match record.fact {
            Fact::Queue(QueueFact::LockTaken { .. }) => break,
            Fact::Queue(QueueFact::DeletionDetected { .. }) => {
                first = place_of(record, context).map(|(_, line)| (index, line));
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
        .filter(|fact| matches!(fact, Fact::Queue(QueueFact::DeltaAppended { .. })))
        .count();
    if appended > 1 {
        return Some(counted(appended, "object", "objects"));
    }
    // The write says more than the indices that follow it.
    let write = facts.iter().find(|fact| {
        matches!(
            fact,
            Fact::Store(
                StoreFact::ItemStored { .. }
                    | StoreFact::ItemRemoved { .. }
                    | StoreFact::StoreReplaced { .. }
            )
        )
    });
    let mut enqueued = false;
    for fact in write.into_iter().chain(facts) {
        match fact {
            Fact::Queue(QueueFact::KeyEnqueued { .. }) => enqueued = true,
            Fact::Queue(QueueFact::DeltasMerged { .. }) => return Some("merged".into()),
            Fact::Queue(QueueFact::DeltaAppended { depth, .. }) => {
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
        Fact::Server(
            ServerFact::ObjectCreated { object, body: _ }
            | ServerFact::ObjectUpdated {
                object,
                body: _,
                old_rv: _,
            }
            | ServerFact::ObjectDeleted { object, old_rv: _ },
        ) => here(named(object)),
        Fact::Server(ServerFact::WriteRefused {
            verb: _,
            key: _,
            refusal,
        }) => here(
            match refusal {
                Refusal::AlreadyExists => "409 AlreadyExists",
                Refusal::NotFound => "404 NotFound",
                Refusal::Invalid(_) => "422 Invalid",
            }
            .into(),
        ),
        Fact::Server(ServerFact::RefusalsAsked { watch, kind, times }) => {
            let request = if *watch { "WATCH" } else { "LIST" };
            here(match times {
                0 => "taken back".to_owned(),
                _ => format!("{request} → {}", strings::refusal(*kind)),
            })
        }
        Fact::Server(ServerFact::HistoryCompacted { oldest }) => {
            here(format!("oldest {}", version(oldest)))
        }
        Fact::Server(ServerFact::ListAnswered { rv, count })
        | Fact::Reflector(ReflectorFact::ListReceived { rv, count }) => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::Server(ServerFact::ObjectsLearned { rv, objects }) => here(format!(
            "{}, rv {}",
            counted(objects.len(), "object", "objects"),
            version(rv)
        )),
        Fact::Server(ServerFact::RequestDeferred {
            code,
            after_ms,
            attempt: _,
        }) => here(format!("{code}, again in {after_ms} ms")),
        Fact::Server(
            ServerFact::ListRefused { code, reason } | ServerFact::WatchDenied { code, reason },
        ) => here(answer(*code, reason)),
        Fact::Server(ServerFact::WatchAccepted { rv }) => here(format!("open, rv {}", version(rv))),
        Fact::Server(ServerFact::WatchRefused { rv: _, oldest: _ }) => here("410 Gone".into()),
        Fact::Server(ServerFact::ConnectionRefused) => here("refused".into()),
        Fact::Server(ServerFact::EventSent {
            event,
            object,
            ends_list,
        })
        | Fact::Reflector(ReflectorFact::EventReceived {
            event,
            object,
            ends_list,
        }) => {
            let last = if *ends_list {
                "initial-events-end"
            } else {
                short_name(&object.key)
            };
            here(format!("{} {last}", event.as_str()))
        }
        Fact::Server(ServerFact::WatchClosed { end, lost: _ }) => here(match end {
            WatchEnd::Closed => "closed".into(),
            WatchEnd::Cut | WatchEnd::CutInLine(_) => "cut".into(),
            WatchEnd::Silent => "silent".into(),
            WatchEnd::Failed(code, reason) => answer(*code, reason),
            WatchEnd::TooMuch(most) => format!("> {most}"),
        }),

        // ---- the reflector
        Fact::Reflector(
            ReflectorFact::ListRequested { rv, .. } | ReflectorFact::WatchRequested { rv, .. },
        ) => here(format!("rv = {}", version(rv))),
        Fact::Reflector(ReflectorFact::InitialEventsEndMissed { ms, any: _ }) => {
            here(format!("late, {ms} ms"))
        }
        Fact::Reflector(ReflectorFact::PageReceived { count, total }) => {
            here(format!("{count}, {total} in all"))
        }
        Fact::Reflector(
            ReflectorFact::ListFailed { error, next: _ }
            | ReflectorFact::WatchFailed { error }
            | ReflectorFact::StreamFellBack { error }
            | ReflectorFact::ObjectRejected { error }
            | ReflectorFact::WatchErrorReported { error },
        )
        | Fact::Handlers(HandlersFact::HandlerPanicked { handler: _, error }) => {
            here(error.to_string())
        }
        Fact::Reflector(ReflectorFact::InitialEventKept { event, object }) => {
            here(format!("{} {}", event.as_str(), short_name(&object.key)))
        }
        Fact::Reflector(ReflectorFact::InitialEventsEnded { rv, count }) => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::Reflector(ReflectorFact::VersionUnavailable { on }) => here(on.to_string()),
        Fact::Reflector(ReflectorFact::ResyncDue { wanted }) => here(format!("wanted: {wanted}")),
        Fact::Reflector(ReflectorFact::LastSyncMoved { from, to })
        | Fact::Store(StoreFact::StoreVersionMoved { from, to }) => {
            here(format!("{} → {}", version(from), version(to)))
        }
        Fact::Reflector(ReflectorFact::WatchEnded { relist, .. }) => {
            here(if *relist { "list" } else { "watch" }.into())
        }
        Fact::Reflector(ReflectorFact::BackoffStarted { ms, reason: _ }) => {
            here(format!("{ms} ms"))
        }
        Fact::Reflector(ReflectorFact::ReflectorStopped { reason }) => here(reason.to_string()),

        // ---- a program, and the switches
        Fact::Run(RunFact::Called { delta_type, object }) => here(format!(
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
        Fact::Run(RunFact::ModeSet { mode }) => here(match mode {
            ProcessMode::Free => "free".into(),
            ProcessMode::Paced(ms) => format!("paced, {ms} ms"),
            ProcessMode::Held => "held".into(),
        }),
        Fact::Run(RunFact::PopAsked { asked }) => here(format!("pop asked: {asked}")),
        Fact::Run(RunFact::KnownObjectsSet { on }) => {
            here(format!("known objects {}", switch(*on)))
        }

        // ---- the lock
        Fact::Queue(QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. }) => Vec::new(),
        Fact::Queue(QueueFact::LockAwaited { .. }) => here("waits".into()),

        // ---- the queues
        Fact::Queue(QueueFact::KeyFailed { error: _ }) => here("KeyError".into()),
        Fact::Queue(QueueFact::TransformFailed { key: _, error: _ }) => here("error".into()),
        Fact::Queue(QueueFact::Transformed { from: _, to: _ }) => here("another object".into()),
        Fact::Queue(QueueFact::Populated { initial: 0 }) => here("populated".into()),
        Fact::Queue(QueueFact::Populated { initial }) => here(format!("populated, {initial} left")),
        Fact::Queue(QueueFact::DeleteChecked {
            key,
            known,
            pending,
        }) => {
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
        Fact::Queue(QueueFact::DeleteIgnored { key: _ }) => here("true: dropped".into()),
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type,
            object: _,
            depth,
        }) => here(format!("{delta_type}, {}", deltas(*depth as usize))),
        Fact::Queue(QueueFact::DeltasMerged {
            key: _,
            kept: _,
            kept_older,
        }) => here(if *kept_older {
            "the older stays".into()
        } else {
            "the newer stays".into()
        }),
        Fact::Queue(QueueFact::KeyEnqueued { key: _, length }) => {
            here(counted(*length as usize, "key queued", "keys queued"))
        }
        Fact::Queue(QueueFact::ResyncSkipped { key }) => {
            here(format!("{}: skipped", short_name(key)))
        }
        Fact::Queue(QueueFact::AlreadyPresent { key }) => {
            here(format!("{}: dropped", short_name(key)))
        }
        Fact::Queue(
            QueueFact::DeletionDetected { key }
            | QueueFact::FifoItemRemoved { key }
            | QueueFact::FifoKeySkipped { key }
            | QueueFact::Processed { key },
        )
        | Fact::Store(StoreFact::ItemRemoved { key, old: _ }) => here(short_name(key).to_owned()),
        Fact::Queue(QueueFact::FifoItemSet { object, .. }) => here(named(object)),
        Fact::Queue(QueueFact::FifoCleared) | Fact::Store(StoreFact::IndicesReset) => {
            here("emptied".into())
        }
        Fact::Queue(QueueFact::EntryAppended { entry: _, length }) => {
            here(counted(*length as usize, "entry", "entries"))
        }
        Fact::Queue(QueueFact::EntriesTaken {
            count,
            is_in_initial_list: _,
        }) => here(counted(*count as usize, "entry", "entries")),
        Fact::Queue(QueueFact::QueueEmpty) => here("waits".into()),
        Fact::Queue(QueueFact::KeyPopped {
            key,
            deltas: all,
            is_in_initial_list: _,
        }) => here(format!("{}, {}", short_name(key), deltas(all.len()))),
        Fact::Queue(QueueFact::Synced) => here("HasSynced".into()),
        Fact::Queue(QueueFact::ProcessFailed { error: _ }) => here("error".into()),
        Fact::Queue(QueueFact::Requeued { key, added }) => here(format!(
            "{}: {}",
            short_name(key),
            if *added { "put back" } else { "dropped" }
        )),
        Fact::Queue(QueueFact::ProcessWasSlow { key: _, depth, ms }) => {
            here(format!("{ms} ms, {depth} waited"))
        }
        Fact::Queue(QueueFact::QueueClosed) => here("closed".into()),

        // ---- processing and the store
        Fact::Queue(QueueFact::DeltaTaken {
            position: _,
            delta_type,
            object,
            exists,
        }) => {
            let mut values = here(format!("{delta_type} {}", short_name(&object.key)));
            if let Some(exists) = exists {
                values.push((1, format!("exists = {exists}")));
            }
            values
        }
        Fact::Store(StoreFact::ItemStored { object, old }) => here(match old {
            Some(old) => format!("rv {} → {}", version(&old.rv), version(&object.rv)),
            None => named(object),
        }),
        Fact::Store(StoreFact::StoreReplaced { items }) => {
            here(counted(items.len(), "object", "objects"))
        }
        Fact::Store(
            StoreFact::IndexEntryRemoved {
                index,
                value,
                key: _,
                emptied: _,
            }
            | StoreFact::IndexEntryAdded {
                index,
                value,
                key: _,
            },
        ) => here(if value.is_empty() {
            format!("{index}: \"\"")
        } else {
            format!("{index}: {value}")
        }),
        Fact::Store(StoreFact::IndexFailed {
            index,
            key: _,
            error: _,
        }) => here(index.to_string()),
        Fact::Store(StoreFact::IndexersAdded { names }) => here(names.join(", ")),

        Fact::Queue(QueueFact::EntriesProcessed { count }) => {
            here(counted(*count as usize, "entry", "entries"))
        }
        Fact::Queue(QueueFact::ListOpened {
            rv: _,
            count,
            removed,
        }) => here(format!("{count}, {removed} missing")),
        Fact::Queue(QueueFact::ResyncOpened { count }) => {
            here(counted(*count as usize, "object", "objects"))
        }

        // ---- handlers
        Fact::Handlers(HandlersFact::NotificationSent {
            handler: _,
            notification,
        }) => here(function(notification).into()),
        Fact::Handlers(HandlersFact::NotificationWithheld { handler: _, key }) => {
            here(format!("not {}", short_name(key)))
        }
        Fact::Handlers(HandlersFact::HandlerAdded {
            handler: _,
            name: _,
            initial,
        }) => here(format!("{initial} first")),
        Fact::Handlers(HandlersFact::HandlerAsked { name, .. }) => here(name.to_string()),
        Fact::Handlers(
            HandlersFact::RemovalAsked { handler: _ }
            | HandlersFact::HandlerRemoved { handler: _ }
            | HandlersFact::HandlerSynced { handler: _ },
        ) => Vec::new(),
        Fact::Handlers(HandlersFact::SyncingSet {
            handler: _,
            syncing,
        }) => here(format!("syncing = {syncing}")),
        Fact::Handlers(HandlersFact::ResyncCheckSet { ms }) => here(format!("{ms} ms")),
        Fact::Handlers(
            HandlersFact::ObjectMutated { key, handler: _ }
            | HandlersFact::MutationDetected { key },
        )
        | Fact::Work(WorkFact::WorkTaken { worker: _, key } | WorkFact::WorkForgotten { key }) => {
            here(short_name(key).into())
        }
        Fact::Work(WorkFact::WorkAdded { key, place }) => here(format!(
            "{} {}",
            short_name(key),
            match place {
                WorkPlace::Queue => "queued",
                WorkPlace::Dirty => "dirty",
                WorkPlace::Duplicate => "there already",
            }
        )),
        Fact::Work(WorkFact::WorkDone { key, again }) => here(if *again {
            format!("{} again", short_name(key))
        } else {
            short_name(key).into()
        }),
        Fact::Work(WorkFact::WorkDelayed {
            key,
            ms,
            failures: _,
        }) => here(format!("{} in {ms} ms", short_name(key))),
        Fact::Work(WorkFact::Reconciled { worker: _, key, ok }) => {
            here(format!("{}: {ok}", short_name(key)))
        }
        Fact::Work(WorkFact::WorkShutDown { drain }) => here(format!("drain = {drain}")),
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler: _,
            notification,
            pending,
        }) => here(format!("{}, {pending} waiting", function(notification))),
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler: _,
            notification,
        }) => here(format!(
            "{}({})",
            function(notification),
            short_name(match notification {
                Notification::Add { object, .. } | Notification::Delete { object } => &object.key,
                Notification::Update { new, .. } => &new.key,
            })
        )),
        Fact::Run(RunFact::BesideRequested { informer: _, watch }) => here(if *watch {
            "WATCH".to_owned()
        } else {
            "LIST".to_owned()
        }),
        Fact::Run(RunFact::BesideStored {
            informer: _,
            key,
            object: _,
        }) => here(short_name(key).to_owned()),
        Fact::Handlers(HandlersFact::LinePrinted { handler: _, line }) => here(line.to_string()),
        Fact::Handlers(HandlersFact::NotificationHandled { handler: _ }) => Vec::new(),
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
    List,
    WatchList,
    Watch,
    StartResync,
    ShouldResync,
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
    HasSynced,
    RealWrite,
    RealReplace,
    RealResync,
    RealPopBatch,
    HandleDeltas,
    ProcessDeltas,
    ProcessBatch,
    ProcessReplacedAll,
    ProcessSyncAll,
    OwnProcess,
    OwnPrint,
    OwnObject,
    StoreWrite,
    StoreReplace,
    StoreBookmark,
    AddIndexers,
    AddHandler,
    RemoveHandler,
    Distribute,
    Listener,
    Mutations,
    Workqueue,
    Worker,
}

impl Id {
    const ALL: [Self; 44] = [
        Self::ServerWrite,
        Self::ServerRead,
        Self::ListAndWatch,
        Self::List,
        Self::WatchList,
        Self::Watch,
        Self::StartResync,
        Self::ShouldResync,
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
        Self::HasSynced,
        Self::RealWrite,
        Self::RealReplace,
        Self::RealResync,
        Self::RealPopBatch,
        Self::HandleDeltas,
        Self::ProcessDeltas,
        Self::ProcessBatch,
        Self::ProcessReplacedAll,
        Self::ProcessSyncAll,
        Self::OwnProcess,
        Self::OwnPrint,
        Self::OwnObject,
        Self::StoreWrite,
        Self::StoreReplace,
        Self::StoreBookmark,
        Self::AddIndexers,
        Self::AddHandler,
        Self::RemoveHandler,
        Self::Distribute,
        Self::Listener,
        Self::Mutations,
        Self::Workqueue,
        Self::Worker,
    ];

    /// Whether it is what others call a queue or a reflector by; who did is no news then.
    fn is_entrance(self) -> bool {
        !matches!(
            self,
            Self::QueueAction
                | Self::HandleDeltas
                | Self::ProcessDeltas
                | Self::ProcessBatch
                | Self::ProcessReplacedAll
                | Self::ProcessSyncAll
                | Self::OwnProcess
                | Self::OwnPrint
                | Self::OwnObject
                | Self::StoreWrite
                | Self::StoreReplace
                | Self::Distribute
                | Self::Listener
                | Self::ShouldResync
        )
    }

    fn routine(self) -> &'static Routine {
        match self {
            Self::ServerWrite => &SERVER_WRITE,
            Self::ServerRead => &SERVER_READ,
            Self::ListAndWatch => &LIST_AND_WATCH,
            Self::List => &LIST,
            Self::WatchList => &WATCH_LIST,
            Self::Watch => &WATCH,
            Self::StartResync => &START_RESYNC,
            Self::ShouldResync => &SHOULD_RESYNC,
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
            Self::HasSynced => &HAS_SYNCED,
            Self::RealWrite => &REAL_WRITE,
            Self::RealReplace => &REAL_REPLACE,
            Self::RealResync => &REAL_RESYNC,
            Self::RealPopBatch => &REAL_POP_BATCH,
            Self::HandleDeltas => &HANDLE_DELTAS,
            Self::ProcessDeltas => &PROCESS_DELTAS,
            Self::ProcessBatch => &PROCESS_BATCH,
            Self::ProcessReplacedAll => &PROCESS_REPLACED_ALL,
            Self::ProcessSyncAll => &PROCESS_SYNC_ALL,
            Self::OwnProcess => &OWN_PROCESS,
            Self::OwnPrint => &OWN_PRINT,
            Self::OwnObject => &OWN_OBJECT,
            Self::StoreWrite => &STORE_WRITE,
            Self::StoreReplace => &STORE_REPLACE,
            Self::StoreBookmark => &STORE_BOOKMARK,
            Self::AddIndexers => &ADD_INDEXERS,
            Self::AddHandler => &ADD_HANDLER,
            Self::RemoveHandler => &REMOVE_HANDLER,
            Self::Distribute => &DISTRIBUTE,
            Self::Listener => &LISTENER,
            Self::Mutations => &MUTATIONS,
            Self::Workqueue => &WORKQUEUE,
            Self::Worker => &WORKER,
        }
    }
}

/// The process function of a program that asks no store: not processDeltas, but its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProcess {
    /// It writes into a store, by the delta's type.
    Stores,
    /// It has no store.
    Prints,
    /// It gets an object, not deltas.
    Object,
}

impl OwnProcess {
    /// The deltas that were taken tell: processDeltas always asks whether the object exists.
    fn of(recent: &[FactRecord], picture: &Picture) -> Option<Self> {
        if picture.queue.kind == QueueKind::Fifo {
            return Some(Self::Object);
        }
        let asked = recent.iter().rev().find_map(|record| match record.fact {
            Fact::Queue(QueueFact::DeltaTaken { exists, .. }) => Some(exists.is_some()),
            _ => None,
        })?;
        match (asked, picture.store.present) {
            (true, _) => None,
            (false, true) => Some(Self::Stores),
            (false, false) => Some(Self::Prints),
        }
    }
}

/// What a version of the store belongs to, in the order of its pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Update,
    Replace,
    Delete,
    Bookmark,
}

/// What else decides where a fact is shown.
#[derive(Clone, Copy, Debug)]
struct Context {
    own: Option<OwnProcess>,
    /// Whether the queue is a RealFIFO; the steps of its lock are those that all queues share.
    real: bool,
    /// Whether it is a FIFO.
    fifo: bool,
    /// Whether it is popped in batches.
    batches: bool,
    /// Which write the store's version is of; a bookmark if none was made since the last Pop.
    version: Version,
    /// Where the process function at work tells a handler that has no buffer.
    notify: Step,
}

impl Context {
    fn of(recent: &[FactRecord], picture: &Picture) -> Self {
        let real = picture.queue.kind == QueueKind::RealFifo;
        let notify = recent.iter().rev().find_map(|record| match record.step {
            Step::ProcessDelta => Some(Step::ProcessNotify),
            Step::ProcessBatch => Some(Step::ProcessBatchNotify),
            Step::ProcessReplacedAll => Some(Step::ProcessReplacedNotify),
            Step::ProcessSyncAll => Some(Step::ProcessSyncNotify),
            _ => None,
        });
        let version = recent.iter().rev().find_map(|record| match record.step {
            Step::StoreWrite => Some(Version::Update),
            Step::StoreReplace => Some(Version::Replace),
            Step::StoreDelete => Some(Version::Delete),
            Step::RealPopBatch => Some(Version::Bookmark),
            _ => None,
        });
        Self {
            own: OwnProcess::of(recent, picture),
            version: version.unwrap_or(Version::Update),
            real,
            fifo: picture.queue.kind == QueueKind::Fifo,
            batches: real && generation(picture) >= 2,
            notify: notify.unwrap_or(Step::ProcessNotify),
        }
    }

    /// The step that a fact is shown at: a handler without a buffer is called by the process
    /// function itself, so no listener is at work.
    fn step_of(self, record: &FactRecord) -> Step {
        match (record.step, record.actor) {
            (
                Step::ProcessNotify
                | Step::ListenerTake
                | Step::ListenerHandle
                | Step::ListenerDone,
                Actor::ProcessLoop,
            ) => self.notify,
            (Step::ListenerSend, Actor::Main) => Step::HandlerInitial,
            (step, _) => step,
        }
    }
}

/// The generation at work: its place in [`TAGS`].
fn generation(picture: &Picture) -> usize {
    match picture.generation {
        Generation::Classic => 0,
        Generation::InOrder => 1,
        Generation::Batched => 2,
        Generation::Atomic => 3,
    }
}

/// The routine and the line of a fact.
fn place_of(record: &FactRecord, context: Context) -> Option<(Id, usize)> {
    let step = context.step_of(record);
    if context.real
        && let Some(place) = place_in_real_fifo(step, context.batches)
    {
        return Some(place);
    }
    if context.fifo
        && let Some(line) = place_in_fifo_pop(step)
    {
        return Some((Id::FifoPop, line));
    }
    match (step, context.version) {
        (Step::StoreVersion, Version::Bookmark) => return Some((Id::StoreBookmark, 1)),
        (Step::StoreVersion, Version::Replace) => return Some((Id::StoreReplace, 2)),
        _ => {}
    }
    match (place(step)?, context.own, &record.fact) {
        ((Id::ProcessDeltas, line), Some(OwnProcess::Stores), _) => Some((Id::OwnProcess, line)),
        // It has the same lines but for the store's, the last but one.
        ((Id::ProcessDeltas, line), Some(OwnProcess::Prints), _) => {
            Some((Id::OwnPrint, if line > 2 { line - 1 } else { line }))
        }
        ((Id::ProcessDeltas, line), Some(OwnProcess::Object), _) => {
            Some((Id::OwnObject, line.saturating_sub(2)))
        }
        // One step for what comes before and what comes after the lock.
        ((Id::Delete, _), _, Fact::Queue(QueueFact::Populated { .. } | QueueFact::Synced)) => {
            Some((Id::Delete, 3))
        }
        (place, _, _) => Some(place),
    }
}

/// Where RealFIFO has the steps that all queues share, where that is elsewhere.
fn place_in_real_fifo(step: Step, batches: bool) -> Option<(Id, usize)> {
    Some(match step {
        Step::AddLock | Step::DeleteLock => (Id::RealWrite, 1),
        Step::AddUnlock | Step::DeleteUnlock => (Id::RealWrite, 6),
        Step::ReplaceLock => (Id::RealReplace, 1),
        Step::ReplaceUnlock => (Id::RealReplace, 8),
        Step::ResyncLock => (Id::RealResync, 1),
        Step::ResyncUnlock => (Id::RealResync, 5),
        Step::PopLock if batches => (Id::RealPopBatch, 1),
        Step::PopWait if batches => (Id::RealPopBatch, 2),
        Step::PopTake if batches => (Id::RealPopBatch, 3),
        Step::PopProcess if batches => (Id::RealPopBatch, 5),
        Step::PopCountDown if batches => (Id::RealPopBatch, 7),
        Step::PopSlow if batches => (Id::RealPopBatch, 8),
        Step::PopUnlock if batches => (Id::RealPopBatch, 9),
        _ => return None,
    })
}

/// Where FIFO's Pop has the steps that all queues share.
fn place_in_fifo_pop(step: Step) -> Option<usize> {
    Some(match step {
        Step::PopLock => 1,
        Step::PopWait => 2,
        Step::PopCountDown => 4,
        Step::PopUnlock => 7,
        _ => return None,
    })
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
        call(
            "  streaming list on: w = watch_list()",
            &[],
            &[Id::WatchList],
        ),
        line(
            "    refused: list in this round",
            &[Step::ReflectorFallBack],
        ),
        call("  else: list()", &[], &[Id::List]),
        call(
            "  beside the watch: start_resync()",
            &[],
            &[Id::StartResync],
        ),
        call("  watch(w)", &[], &[Id::Watch]),
        line(
            "  on an error: watch_error_handler(err)",
            &[Step::ReflectorWatchError],
        ),
        line(
            "wait, longer after each failure; again",
            &[Step::ReflectorBackoff],
        ),
        line("until it is stopped", &[Step::ReflectorStop]),
    ],
    unordered: Some((2, 7)),
};

static LIST: Routine = Routine {
    title: "Reflector.list",
    lines: &[
        plain("list():"),
        line(
            "  page = server.list(last_sync_rv, or \"0\")",
            &[Step::ReflectorList],
        ),
        line(
            "  while more: append it, ask with its token",
            &[Step::ReflectorPage],
        ),
        line(
            "  failed: at once again, or return err",
            &[Step::ReflectorListFailed],
        ),
        line(
            "  rv_unavailable = expired or too large",
            &[Step::ReflectorUnavailable],
        ),
        call(
            "  queue.replace(list, list.rv)",
            &[],
            &[Id::Replace, Id::RealReplace, Id::FifoWrite],
        ),
        line("  last_sync_rv = list.rv", &[Step::ReflectorListVersion]),
    ],
    unordered: Some((1, 4)),
};

static WATCH_LIST: Routine = Routine {
    title: "Reflector.watchList",
    lines: &[
        plain("watch_list():"),
        line(
            "  w = server.watch(rv, send_initial_events)",
            &[Step::ReflectorStream],
        ),
        line("  for event in w:", &[Step::ReflectorStreamReceive]),
        line(
            "    temporary.add | update | delete(obj)",
            &[Step::ReflectorKeep],
        ),
        line(
            "    until the bookmark that ends the list",
            &[Step::ReflectorStreamEnd],
        ),
        line(
            "  expired, refused or closed: again",
            &[Step::ReflectorStreamAgain],
        ),
        line("  rv_unavailable = false", &[Step::ReflectorStreamUsed]),
        call(
            "  queue.replace(temporary, bookmark.rv)",
            &[],
            &[Id::Replace, Id::RealReplace, Id::FifoWrite],
        ),
        line(
            "  last_sync_rv = bookmark.rv",
            &[Step::ReflectorStreamVersion],
        ),
        plain("  return w  # the same stream goes on"),
    ],
    unordered: Some((1, 5)),
};

static WATCH: Routine = Routine {
    title: "Reflector.watch",
    lines: &[
        plain("watch(w):"),
        line(
            "  if there is no w: w = server.watch(last_rv)",
            &[Step::ReflectorWatch],
        ),
        line(
            "  refused or 429: wait, then watch again",
            &[Step::ReflectorRetry],
        ),
        line("  for event in w:", &[Step::ReflectorReceive]),
        line(
            "    if it is of another type: skip it",
            &[Step::ReflectorReject],
        ),
        call(
            "    queue.add | update | delete(event.obj)",
            &[],
            &[Id::Add, Id::Delete, Id::RealWrite, Id::FifoWrite],
        ),
        line("    last_sync_rv = event.rv", &[Step::ReflectorSetVersion]),
        line(
            "  error, or short and empty: list next",
            &[Step::ReflectorEnd],
        ),
        plain("  else: watch again"),
    ],
    unordered: Some((1, 7)),
};

static START_RESYNC: Routine = Routine {
    title: "Reflector.startResync",
    lines: &[
        plain("start_resync():"),
        plain("  each resync_period:"),
        call(
            "    if should_resync():",
            &[Step::ResyncTimer],
            &[Id::ShouldResync],
        ),
        call("      queue.resync()", &[], &[Id::Resync, Id::RealResync]),
    ],
    unordered: Some((2, 3)),
};

static SHOULD_RESYNC: Routine = Routine {
    title: "sharedProcessor.shouldResync",
    lines: &[
        plain("should_resync():"),
        plain("  for listener in listeners:"),
        line(
            "    listener.syncing = its resync is due",
            &[Step::ResyncCheck],
        ),
        plain("    if it is: due again after its period"),
        plain("  return whether any is due"),
    ],
    unordered: None,
};

static PROGRAM: Routine = Routine {
    title: "program",
    lines: &[
        plain("main():"),
        call(
            "  the program's next call, or its next line",
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
        line("  what was asked for on this page", &[Step::SettingChanged]),
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
        plain("  lock"),
        plain("  while queue is empty: wait"),
        line("  key = queue.pop_front()", &[Step::FifoPopTake]),
        plain("  if left > 0: left = left - 1"),
        line("  if items lacks key: next key", &[Step::FifoPopSkip]),
        call(
            "  process(items.remove(key))",
            &[Step::FifoPopProcess],
            &[Id::OwnObject],
        ),
        plain("  unlock"),
    ],
    unordered: Some((2, 5)),
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
        line("  deltas = take the front", &[Step::PopTake]),
        line("  if left > 0: left = left - 1", &[Step::PopCountDown]),
        call(
            "  process(deltas, is_in_initial_list)",
            &[Step::PopProcess],
            &[
                Id::HandleDeltas,
                Id::ProcessDeltas,
                Id::OwnProcess,
                Id::OwnPrint,
            ],
        ),
        line("  if slow and depth > 10: log it", &[Step::PopSlow]),
        line(
            "  up to 1.32, if ErrRequeue: put it back",
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

static HAS_SYNCED: Routine = Routine {
    title: ".HasSynced",
    lines: &[
        plain("HasSynced():"),
        line("  lock", &[Step::HasSyncedLock]),
        plain("  synced = populated and left == 0"),
        line("  unlock", &[Step::HasSyncedUnlock]),
        plain("  return synced"),
    ],
    unordered: None,
};

static REAL_WRITE: Routine = Routine {
    title: "RealFIFO.Add, Delete, Bookmark",
    lines: &[
        plain("Add | Update | Delete(obj) | Bookmark(rv):"),
        plain("  lock"),
        plain("  unless Bookmark: populated = true"),
        line("  items.push(Added | Updated, obj)", &[Step::RealAdd]),
        line(
            "  items.push(Deleted, obj)  # asks nobody",
            &[Step::RealDelete],
        ),
        line("  items.push(Bookmark, rv)", &[Step::RealBookmark]),
        plain("  unlock"),
    ],
    unordered: Some((2, 5)),
};

static REAL_REPLACE: Routine = Routine {
    title: "RealFIFO.Replace",
    lines: &[
        plain("Replace(list, rv):"),
        plain("  lock"),
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
        plain("  unlock"),
    ],
    unordered: None,
};

static REAL_RESYNC: Routine = Routine {
    title: "RealFIFO.Resync",
    lines: &[
        plain("Resync():"),
        plain("  lock"),
        line("  atomic: items.push(SyncAll)", &[Step::RealSyncAll]),
        plain("  else for known key that is not queued:"),
        line("    items.push(Sync, obj)", &[Step::RealResync]),
        plain("  unlock"),
    ],
    unordered: None,
};

static REAL_POP_BATCH: Routine = Routine {
    title: "RealFIFO.PopBatch",
    lines: &[
        plain("PopBatch(process):"),
        plain("  lock"),
        plain("  while items is empty: wait"),
        line("  batch = the front, each key once", &[Step::RealPopBatch]),
        line("  unlock  # from 1.36 on", &[Step::PopRelease]),
        call(
            "  process(batch, is_in_initial_list)",
            &[],
            &[
                Id::HandleDeltas,
                Id::ProcessDeltas,
                Id::ProcessBatch,
                Id::ProcessReplacedAll,
                Id::ProcessSyncAll,
                Id::OwnProcess,
                Id::OwnPrint,
            ],
        ),
        line("  lock again", &[Step::PopRetake]),
        plain("  left -= len(batch)  # up to 1.35: before"),
        plain("  if slow and depth > 10: log it"),
        plain("  unlock"),
    ],
    unordered: Some((1, 8)),
};

static HANDLE_DELTAS: Routine = Routine {
    title: "sharedIndexInformer.HandleDeltas",
    lines: &[
        plain("handle_deltas(deltas):"),
        line("  lock block_deltas", &[Step::BlockDeltasLock]),
        call(
            "  process_deltas(deltas)",
            &[],
            &[
                Id::ProcessDeltas,
                Id::ProcessBatch,
                Id::ProcessReplacedAll,
                Id::ProcessSyncAll,
            ],
        ),
        line("  unlock block_deltas", &[Step::BlockDeltasUnlock]),
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
            &[],
            &[Id::StoreWrite, Id::StoreReplace],
        ),
        call(
            "    handler.on_update | on_add | on_delete",
            &[Step::ProcessNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: Some((1, 4)),
};

static PROCESS_BATCH: Routine = Routine {
    title: "processDeltasInBatch",
    lines: &[
        plain("process_deltas_in_batch(deltas):"),
        line("  for type, obj in deltas:", &[Step::ProcessBatch]),
        plain("    old, exists = store.get(key)"),
        plain("    note the change, and what to tell"),
        call("  store.transaction(changes)", &[], &[Id::StoreWrite]),
        call(
            "  then tell all of it, in order",
            &[Step::ProcessBatchNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: Some((1, 3)),
};

static PROCESS_REPLACED_ALL: Routine = Routine {
    title: "processReplacedAllInfo",
    lines: &[
        plain("process_replaced_all(list, rv):"),
        line(
            "  removed = what is stored and not in list",
            &[Step::ProcessReplacedAll],
        ),
        plain("  old = store.get(key), for each of list"),
        call(
            "  store.replace(list, rv)",
            &[],
            &[Id::StoreReplace, Id::StoreWrite],
        ),
        plain("  handler.on_delete(tombstone) for removed"),
        call(
            "  handler.on_update | on_add for list",
            &[Step::ProcessReplacedNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: None,
};

static PROCESS_SYNC_ALL: Routine = Routine {
    title: "processDeltas, SyncAll",
    lines: &[
        plain("process_sync_all():"),
        line("  for obj in store.list():", &[Step::ProcessSyncAll]),
        call(
            "    handler.on_update(obj, obj)",
            &[Step::ProcessSyncNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: None,
};

static OWN_PROCESS: Routine = Routine {
    title: "process",
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
    title: "process",
    lines: &[
        plain("process(deltas):"),
        plain("  for type, obj in deltas, oldest first:"),
        plain("    switch type:"),
        call("      print(type, obj)", &[], &[Id::Listener]),
    ],
    unordered: Some((1, 3)),
};

static OWN_OBJECT: Routine = Routine {
    title: "process",
    lines: &[
        plain("process(obj):"),
        call("  store.add | update(obj)", &[], &[Id::StoreWrite]),
        call("  print(obj)", &[], &[Id::Listener]),
    ],
    unordered: None,
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
        plain("Replace(list, rv):"),
        line(
            "  items = the list's; empty all indices",
            &[Step::StoreReplace],
        ),
        plain("  store_rv = rv  # from 1.36 on"),
        call("  index each of items", &[], &[Id::StoreWrite]),
    ],
    unordered: Some((1, 3)),
};

static STORE_BOOKMARK: Routine = Routine {
    title: "Indexer.Bookmark",
    lines: &[plain("Bookmark(rv):"), plain("  store_rv = rv")],
    unordered: None,
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

static ADD_HANDLER: Routine = Routine {
    title: "AddEventHandler",
    lines: &[
        plain("AddEventHandler(handler, resync_period):"),
        line(
            "  not started, period < check: check = period",
            &[Step::HandlerPeriod],
        ),
        line("  if started: lock block_deltas", &[Step::HandlerLock]),
        line("  listeners += handler", &[Step::HandlerAdd]),
        call(
            "  if started: tell it the whole store",
            &[Step::HandlerInitial],
            &[Id::Listener, Id::Distribute],
        ),
        line("  if started: unlock block_deltas", &[Step::HandlerUnlock]),
    ],
    unordered: None,
};

static REMOVE_HANDLER: Routine = Routine {
    title: "RemoveEventHandler",
    lines: &[
        plain("RemoveEventHandler(handle):"),
        line("  lock block_deltas", &[Step::RemoveLock]),
        line(
            "  listeners -= it; its goroutines end",
            &[Step::HandlerRemove],
        ),
        line("  unlock block_deltas", &[Step::RemoveUnlock]),
    ],
    unordered: None,
};

static DISTRIBUTE: Routine = Routine {
    title: "sharedProcessor.distribute",
    lines: &[
        plain("distribute(notification, sync):"),
        plain("  # sync: OnUpdate with old.rv == new.rv"),
        plain("  for listener in listeners:"),
        line(
            "    if sync and not listener.syncing: skip",
            &[Step::Withhold],
        ),
        call(
            "    else: listener.add(notification)",
            &[Step::ListenerSend],
            &[Id::Listener],
        ),
    ],
    unordered: Some((3, 4)),
};

static LISTENER: Routine = Routine {
    title: "processorListener",
    lines: &[
        plain("pop():  # add() waits until it has received"),
        line(
            "  hand it to run, or into the ring buffer",
            &[Step::ListenerPop],
        ),
        plain("run():"),
        line("  for notification, in order:", &[Step::ListenerTake]),
        line(
            "    handler.on_add | on_update | on_delete",
            &[Step::ListenerHandle],
        ),
        line("    # it returned, with no error", &[Step::ListenerDone]),
        line(
            "    if that was the whole first list: synced",
            &[Step::HandlerSync],
        ),
        line(
            "    if it panicked: next one, after 1 s",
            &[Step::HandlerPanic],
        ),
    ],
    unordered: None,
};

static MUTATIONS: Routine = Routine {
    title: "cacheMutationDetector",
    lines: &[
        plain("each second, for obj that was handed out:"),
        line("  if it is not as its copy: panic", &[Step::MutationCheck]),
    ],
    unordered: None,
};

static WORKQUEUE: Routine = Routine {
    title: "workqueue",
    lines: &[
        plain("Add(key):  # nothing, if it is dirty"),
        line(
            "  dirty += key; queue += key, unless taken",
            &[Step::WorkAdd],
        ),
        line(
            "AddAfter(key, delay): Add when it is over",
            &[Step::WorkDelay],
        ),
        line(
            "Get(): queue.pop(); dirty -= it; taken += it",
            &[Step::WorkGet],
        ),
        line(
            "Done(key): taken -= it; dirty: queue += it",
            &[Step::WorkDone],
        ),
        line(
            "AddRateLimited(key): AddAfter, each time later",
            &[Step::WorkRateLimit],
        ),
        line("Forget(key): failures[key] = 0", &[Step::WorkForget]),
        line(
            "ShutDown(): Add does nothing any more",
            &[Step::WorkShutDown],
        ),
    ],
    unordered: Some((1, 7)),
};

static WORKER: Routine = Routine {
    title: "runWorker",
    lines: &[
        plain("work():"),
        call("  while key = queue.get():", &[], &[Id::Workqueue]),
        line("    err = reconcile(key)", &[Step::Reconcile]),
        call(
            "    err: queue.add_rate_limited(key)",
            &[],
            &[Id::Workqueue],
        ),
        call("    else: queue.forget(key)", &[], &[Id::Workqueue]),
        call("    queue.done(key)", &[], &[Id::Workqueue]),
    ],
    unordered: Some((1, 5)),
};

// ---- where client-go has it

/// Where a step is to be found.
enum Pin {
    /// A tag of client-go, a file and its line.
    Line(&'static str, Source, u16),
    /// The API server's side, in the documentation.
    Docs,
}

/// The releases of client-go that stand for the generations.
const TAGS: [&str; 4] = ["v0.32.13", "v0.34.10", "v0.35.7", "v0.36.3"];

/// A file of client-go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Reflector,
    Pager,
    Controller,
    SharedInformer,
    Fifo,
    DeltaFifo,
    RealFifo,
    Store,
    MutationDetector,
    Queue,
    DelayingQueue,
    RateLimitingQueue,
}

impl Source {
    /// Its folder and its name.
    fn path(self) -> (&'static str, &'static str) {
        const CACHE: &str = "tools/cache";
        const WORKQUEUE: &str = "util/workqueue";
        match self {
            Self::Reflector => (CACHE, "reflector.go"),
            Self::Pager => ("tools/pager", "pager.go"),
            Self::Controller => (CACHE, "controller.go"),
            Self::SharedInformer => (CACHE, "shared_informer.go"),
            Self::Fifo => (CACHE, "fifo.go"),
            Self::DeltaFifo => (CACHE, "delta_fifo.go"),
            Self::RealFifo => (CACHE, "the_real_fifo.go"),
            Self::Store => (CACHE, "thread_safe_store.go"),
            Self::MutationDetector => (CACHE, "mutation_detector.go"),
            Self::Queue => (WORKQUEUE, "queue.go"),
            Self::DelayingQueue => (WORKQUEUE, "delaying_queue.go"),
            Self::RateLimitingQueue => (WORKQUEUE, "rate_limiting_queue.go"),
        }
    }
}

/// What the current call was for, where one step stands for the same in two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Add,
    Update,
    Delete,
    Replace,
    Bookmark,
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
                Fact::Reflector(ReflectorFact::ListReceived { .. }) => Some(Self::Replace),
                Fact::Reflector(ReflectorFact::EventReceived { event, .. }) => match event {
                    EventType::Added => Some(Self::Add),
                    EventType::Modified => Some(Self::Update),
                    EventType::Deleted => Some(Self::Delete),
                    EventType::Bookmark => Some(Self::Bookmark),
                    EventType::Error => None,
                },
                Fact::Run(RunFact::Called { delta_type, .. }) => match delta_type {
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
        Fact::Handlers(
            HandlersFact::NotificationQueued { notification, .. }
            | HandlersFact::NotificationTaken { notification, .. },
        ) => return Some(function(notification)),
        Fact::Handlers(
            HandlersFact::LinePrinted { handler, .. }
            | HandlersFact::NotificationHandled { handler }
            | HandlersFact::ObjectMutated { handler, .. },
        ) => *handler,
        _ => return None,
    };
    recent.iter().rev().find_map(|record| match &record.fact {
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) if *handler == number => Some(function(notification)),
        _ => None,
    })
}

/// Where the last fact happened. One step may stand for several statements: the facts choose.
fn pin(recent: &[FactRecord], picture: &Picture, context: Context) -> Option<Pin> {
    let record = recent.last()?;
    let step = context.step_of(record);
    let asked = Asked::by_last(recent);
    let variant = match (step, &record.fact) {
        (Step::ReflectorListFailed, Fact::Reflector(ReflectorFact::ObjectRejected { .. })) => 3,
        (Step::ReflectorListFailed, Fact::Reflector(ReflectorFact::ListFailed { next, .. })) => {
            match next {
                ListAgain::Later => 0,
                ListAgain::Expired | ListAgain::TooLarge => 1,
                ListAgain::PageExpired => 2,
            }
        }
        (
            Step::ReflectorUnavailable,
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: false }),
        )
        | (Step::ReflectorStreamAgain, Fact::Reflector(ReflectorFact::VersionUnavailable { .. })) => {
            1
        }
        (Step::ReflectorStreamAgain, Fact::Reflector(ReflectorFact::BackoffStarted { .. })) => 2,
        (
            Step::ReflectorReceive | Step::ReflectorStreamReceive,
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Error,
                ..
            }),
        ) => 1,
        (
            Step::ReflectorStreamReceive,
            Fact::Reflector(ReflectorFact::InitialEventsEndMissed { .. }),
        ) => 2,
        (Step::ReflectorKeep, Fact::Reflector(ReflectorFact::InitialEventKept { event, .. })) => {
            match event {
                EventType::Modified => 1,
                EventType::Deleted => 2,
                _ => 0,
            }
        }
        // 429 in the stream, or instead of it.
        (Step::ReflectorRetry, Fact::Reflector(ReflectorFact::BackoffStarted { .. })) => {
            u8::from(!watch_failed(recent))
        }
        (
            Step::ReflectorEnd,
            Fact::Reflector(ReflectorFact::WatchEnded {
                relist: true,
                code: 0,
            }),
        ) => {
            if watch_failed(recent) {
                1
            } else {
                2
            }
        }
        (Step::AddLock | Step::AddUnlock | Step::AddKey | Step::RealAdd, _) => match asked {
            Some(Asked::Update) => 1,
            Some(Asked::Bookmark) => 2,
            _ => 0,
        },
        (Step::FifoLock | Step::FifoUnlock, _) => match asked {
            Some(Asked::Delete) => 2,
            Some(Asked::Replace) => 3,
            _ => 0,
        },
        (Step::DeleteKey, Fact::Queue(QueueFact::Populated { .. } | QueueFact::Synced))
        | (Step::DeleteCheck, Fact::Queue(QueueFact::DeleteChecked { known: None, .. }))
        | (Step::ReplaceItem | Step::ResyncKey, Fact::Queue(QueueFact::KeyFailed { .. }))
        | (Step::AddIfNotPresent, Fact::Queue(QueueFact::AlreadyPresent { .. }))
        | (Step::StoreReplace, Fact::Store(StoreFact::IndicesReset))
        | (Step::WorkDone, Fact::Work(WorkFact::WorkDone { again: true, .. }))
        | (Step::WorkShutDown, Fact::Work(WorkFact::WorkShutDown { drain: true })) => 1,
        (Step::DeleteIgnore, _) => u8::from(checked_without_known(recent)),
        // What is queued is looked through first.
        (Step::ReplaceMissing, Fact::Queue(QueueFact::DeletionDetected { key })) => {
            u8::from(picture.queue.deltas.contains_key(key))
        }
        (Step::PopWait, _) => u8::from(picture.queue.closed),
        (Step::PopProcess | Step::BlockDeltasLock | Step::BlockDeltasUnlock, _) => {
            let batch = recent.iter().rev().find_map(|record| match record.fact {
                Fact::Queue(QueueFact::EntriesTaken { count, .. }) => Some(count > 1),
                _ => None,
            });
            // Who comes alone has a function of its own.
            u8::from(batch == Some(step != Step::PopProcess))
        }
        (Step::StoreVersion, _) => context.version as u8,
        (Step::ListenerPop, Fact::Handlers(HandlersFact::NotificationQueued { pending, .. })) => {
            u8::from(*pending > 1)
        }
        // Once the informer has started, the new one is told what the store holds.
        (Step::HandlerAdd, Fact::Handlers(HandlersFact::HandlerAdded { initial, .. })) => {
            u8::from(*initial > 0)
        }
        (Step::WorkAdd, Fact::Work(WorkFact::WorkAdded { place, .. })) => match place {
            WorkPlace::Queue => 0,
            WorkPlace::Dirty => 1,
            WorkPlace::Duplicate => 2,
        },
        (Step::ProcessNotify | Step::ProcessReplacedNotify | Step::ListenerHandle, _) => {
            match handler_function(recent) {
                Some("OnAdd") => 1,
                Some("OnDelete") => 2,
                _ => 0,
            }
        }
        _ => 0,
    };
    pinned(step, variant, picture)
}

/// Whether the last request for a watch was refused.
fn watch_failed(recent: &[FactRecord]) -> bool {
    recent.iter().rev().find_map(|record| match record.fact {
        Fact::Server(ServerFact::WatchRefused { .. })
        | Fact::Reflector(ReflectorFact::WatchFailed { .. }) => Some(true),
        Fact::Server(ServerFact::WatchAccepted { .. })
        | Fact::Reflector(ReflectorFact::EventReceived { .. }) => Some(false),
        _ => None,
    }) == Some(true)
}

/// Whether the last Delete had no known objects to ask.
fn checked_without_known(recent: &[FactRecord]) -> bool {
    recent.iter().rev().find_map(|record| match &record.fact {
        Fact::Queue(QueueFact::DeleteChecked { known, .. }) => Some(known.is_none()),
        _ => None,
    }) == Some(true)
}

/// Where a statement of a step is in the generation at work; in another one, where it has none.
fn pinned(step: Step, variant: u8, picture: &Picture) -> Option<Pin> {
    if place(step).is_some_and(|(id, _)| matches!(id, Id::ServerWrite | Id::ServerRead)) {
        return Some(Pin::Docs);
    }
    let find = |variant| {
        PINS.iter().find(|(of, which, source, _)| {
            // What several queues have is DeltaFIFO's first, and FIFO's last.
            let other = match picture.queue.kind {
                QueueKind::DeltaFifo => false,
                QueueKind::RealFifo => *source == Source::DeltaFifo,
                QueueKind::Fifo => matches!(source, Source::DeltaFifo | Source::RealFifo),
            };
            *of == step && *which == variant && !other
        })
    };
    let now = generation(picture);
    // The nearest statement of this generation comes before the same one of another.
    let here = find(variant).filter(|(_, _, _, lines)| lines[now] != 0);
    let here = here.or_else(|| find(0).filter(|(_, _, _, lines)| lines[now] != 0));
    let (_, _, source, lines) = here.or_else(|| find(variant)).or_else(|| find(0))?;
    let at = (now..TAGS.len())
        .chain((0..now).rev())
        .find(|at| lines[*at] != 0)?;
    Some(Pin::Line(TAGS[at], *source, lines[at]))
}

/// One statement: its step, which of the step's statements it is, its file, and its line under each
/// of [`TAGS`]; 0 where it has none.
type PinRow = (Step, u8, Source, [u16; 4]);

/// All of them, found by the statements' text.
#[rustfmt::skip]
static PINS: &[PinRow] = &[
    (Step::ReflectorFallBack, 0, Source::Reflector, [363, 426, 433, 494]),
    (Step::ReflectorWatchError, 0, Source::Reflector, [316, 361, 370, 430]),
    (Step::ReflectorBackoff, 0, Source::Reflector, [318, 363, 372, 428]),
    (Step::ReflectorStop, 0, Source::Reflector, [319, 364, 373, 434]),
    (Step::ReflectorList, 0, Source::Reflector, [547, 626, 633, 719]),
    (Step::ReflectorPage, 0, Source::Pager, [159, 159, 159, 159]),
    (Step::ReflectorListFailed, 0, Source::Reflector, [569, 648, 655, 747]),
    (Step::ReflectorListFailed, 1, Source::Reflector, [556, 635, 642, 728]),
    (Step::ReflectorListFailed, 2, Source::Pager, [120, 120, 120, 120]),
    (Step::ReflectorListFailed, 3, Source::Reflector, [0, 0, 0, 731]),
    (Step::ReflectorUnavailable, 0, Source::Reflector, [549, 628, 635, 721]),
    (Step::ReflectorUnavailable, 1, Source::Reflector, [587, 665, 672, 764]),
    (Step::ReflectorListVersion, 0, Source::Reflector, [603, 681, 688, 780]),
    (Step::ReflectorStream, 0, Source::Reflector, [677, 764, 771, 863]),
    (Step::ReflectorStreamReceive, 0, Source::Reflector, [807, 902, 909, 1006]),
    (Step::ReflectorStreamReceive, 1, Source::Reflector, [812, 907, 914, 1011]),
    (Step::ReflectorStreamReceive, 2, Source::Reflector, [871, 976, 983, 1085]),
    (Step::ReflectorKeep, 0, Source::Reflector, [834, 938, 945, 1039]),
    (Step::ReflectorKeep, 1, Source::Reflector, [839, 943, 950, 1045]),
    (Step::ReflectorKeep, 2, Source::Reflector, [847, 951, 958, 1054]),
    (Step::ReflectorStreamEnd, 0, Source::Reflector, [854, 958, 965, 1062]),
    (Step::ReflectorStreamAgain, 0, Source::Reflector, [679, 766, 773, 865]),
    (Step::ReflectorStreamAgain, 1, Source::Reflector, [646, 726, 733, 825]),
    (Step::ReflectorStreamAgain, 2, Source::Reflector, [638, 718, 725, 817]),
    (Step::ReflectorStreamUsed, 0, Source::Reflector, [704, 791, 798, 894]),
    (Step::ReflectorStreamVersion, 0, Source::Reflector, [715, 802, 809, 905]),
    (Step::ReflectorWatch, 0, Source::Reflector, [451, 530, 537, 605]),
    (Step::ReflectorRetry, 0, Source::Reflector, [453, 532, 539, 607]),
    (Step::ReflectorRetry, 1, Source::Reflector, [480, 559, 566, 652]),
    (Step::ReflectorReceive, 0, Source::Reflector, [807, 902, 909, 1006]),
    (Step::ReflectorReceive, 1, Source::Reflector, [812, 907, 914, 1011]),
    (Step::ReflectorReject, 0, Source::Reflector, [815, 910, 917, 1014]),
    (Step::ReflectorSetVersion, 0, Source::Reflector, [859, 963, 970, 1075]),
    (Step::ReflectorEnd, 0, Source::Reflector, [470, 549, 556, 642]),
    (Step::ReflectorEnd, 1, Source::Reflector, [462, 541, 548, 616]),
    (Step::ReflectorEnd, 2, Source::Reflector, [495, 574, 581, 667]),
    (Step::ResyncTimer, 0, Source::Reflector, [396, 458, 465, 526]),
    (Step::ResyncCheck, 0, Source::SharedInformer, [837, 914, 921, 1174]),
    (Step::FifoLock, 0, Source::Fifo, [169, 150, 167, 200]),
    (Step::FifoLock, 2, Source::Fifo, [223, 174, 191, 225]),
    (Step::FifoLock, 3, Source::Fifo, [332, 239, 256, 293]),
    (Step::FifoUnlock, 0, Source::Fifo, [170, 151, 168, 201]),
    (Step::FifoUnlock, 2, Source::Fifo, [224, 175, 192, 226]),
    (Step::FifoUnlock, 3, Source::Fifo, [333, 240, 257, 294]),
    (Step::FifoAdd, 0, Source::Fifo, [175, 156, 173, 207]),
    (Step::FifoEnqueue, 0, Source::Fifo, [173, 154, 171, 205]),
    (Step::FifoDelete, 0, Source::Fifo, [226, 177, 194, 229]),
    (Step::FifoReplace, 0, Source::Fifo, [340, 247, 264, 302]),
    (Step::FifoPopTake, 0, Source::Fifo, [298, 209, 226, 261]),
    (Step::FifoPopSkip, 0, Source::Fifo, [304, 215, 232, 269]),
    (Step::FifoPopProcess, 0, Source::Fifo, [309, 220, 237, 274]),
    (Step::AddLock, 0, Source::DeltaFifo, [310, 327, 327, 387]),
    (Step::AddLock, 1, Source::DeltaFifo, [318, 335, 335, 396]),
    (Step::AddLock, 0, Source::RealFifo, [0, 151, 179, 338]),
    (Step::AddLock, 1, Source::RealFifo, [0, 162, 190, 350]),
    (Step::AddKey, 0, Source::DeltaFifo, [312, 329, 329, 389]),
    (Step::AddKey, 1, Source::DeltaFifo, [320, 337, 337, 398]),
    (Step::AddUnlock, 0, Source::DeltaFifo, [311, 328, 328, 388]),
    (Step::AddUnlock, 1, Source::DeltaFifo, [319, 336, 336, 397]),
    (Step::AddUnlock, 0, Source::RealFifo, [0, 152, 180, 339]),
    (Step::AddUnlock, 1, Source::RealFifo, [0, 163, 191, 351]),
    (Step::QueueActionKey, 0, Source::DeltaFifo, [449, 429, 429, 492]),
    (Step::QueueActionTransform, 0, Source::DeltaFifo, [468, 448, 448, 511]),
    (Step::QueueActionAppend, 0, Source::DeltaFifo, [476, 456, 456, 519]),
    (Step::QueueActionDedup, 0, Source::DeltaFifo, [477, 457, 457, 520]),
    (Step::QueueActionEnqueue, 0, Source::DeltaFifo, [481, 461, 461, 524]),
    (Step::DeleteKey, 0, Source::DeltaFifo, [330, 347, 347, 409]),
    (Step::DeleteKey, 1, Source::DeltaFifo, [336, 353, 353, 415]),
    (Step::DeleteLock, 0, Source::DeltaFifo, [334, 351, 351, 413]),
    (Step::DeleteLock, 0, Source::RealFifo, [0, 175, 203, 364]),
    (Step::DeleteCheck, 0, Source::DeltaFifo, [348, 365, 365, 428]),
    (Step::DeleteCheck, 1, Source::DeltaFifo, [338, 355, 355, 418]),
    (Step::DeleteIgnore, 0, Source::DeltaFifo, [353, 370, 370, 433]),
    (Step::DeleteIgnore, 1, Source::DeltaFifo, [341, 358, 358, 421]),
    (Step::DeleteUnlock, 0, Source::DeltaFifo, [335, 352, 352, 414]),
    (Step::DeleteUnlock, 0, Source::RealFifo, [0, 176, 204, 365]),
    (Step::ReplaceLock, 0, Source::DeltaFifo, [637, 556, 556, 620]),
    (Step::ReplaceLock, 0, Source::RealFifo, [0, 244, 340, 605]),
    (Step::ReplaceItem, 0, Source::DeltaFifo, [654, 573, 573, 637]),
    (Step::ReplaceItem, 1, Source::DeltaFifo, [649, 568, 568, 632]),
    (Step::ReplaceMissing, 0, Source::DeltaFifo, [703, 622, 622, 686]),
    (Step::ReplaceMissing, 1, Source::DeltaFifo, [678, 597, 597, 661]),
    (Step::ReplacePopulation, 0, Source::DeltaFifo, [711, 630, 630, 694]),
    (Step::ReplaceUnlock, 0, Source::DeltaFifo, [638, 557, 557, 621]),
    (Step::ReplaceUnlock, 0, Source::RealFifo, [0, 245, 341, 606]),
    (Step::ResyncLock, 0, Source::DeltaFifo, [721, 640, 640, 705]),
    (Step::ResyncLock, 0, Source::RealFifo, [0, 350, 446, 741]),
    (Step::ResyncKey, 0, Source::DeltaFifo, [755, 674, 674, 739]),
    (Step::ResyncKey, 1, Source::DeltaFifo, [751, 670, 670, 735]),
    (Step::ResyncUnlock, 0, Source::DeltaFifo, [722, 641, 641, 706]),
    (Step::ResyncUnlock, 0, Source::RealFifo, [0, 351, 447, 742]),
    (Step::AddIfNotPresent, 0, Source::DeltaFifo, [394, 0, 0, 0]),
    (Step::AddIfNotPresent, 1, Source::DeltaFifo, [390, 0, 0, 0]),
    (Step::HasSyncedLock, 0, Source::DeltaFifo, [298, 315, 315, 347]),
    (Step::HasSyncedLock, 0, Source::RealFifo, [0, 97, 125, 216]),
    (Step::HasSyncedUnlock, 0, Source::DeltaFifo, [299, 316, 316, 348]),
    (Step::HasSyncedUnlock, 0, Source::RealFifo, [0, 98, 126, 217]),
    (Step::PopLock, 0, Source::DeltaFifo, [577, 500, 500, 563]),
    (Step::PopLock, 0, Source::RealFifo, [0, 197, 268, 487]),
    (Step::PopWait, 0, Source::DeltaFifo, [588, 511, 511, 574]),
    (Step::PopWait, 1, Source::DeltaFifo, [585, 508, 508, 571]),
    (Step::PopWait, 0, Source::RealFifo, [0, 208, 279, 498]),
    (Step::PopWait, 1, Source::RealFifo, [0, 205, 276, 495]),
    (Step::PopTake, 0, Source::DeltaFifo, [592, 515, 515, 578]),
    (Step::PopTake, 0, Source::RealFifo, [0, 215, 314, 540]),
    (Step::PopCountDown, 0, Source::DeltaFifo, [595, 518, 518, 581]),
    (Step::PopCountDown, 0, Source::RealFifo, [0, 217, 312, 546]),
    (Step::PopProcess, 0, Source::DeltaFifo, [616, 539, 539, 603]),
    (Step::PopProcess, 0, Source::RealFifo, [0, 235, 331, 581]),
    (Step::PopProcess, 1, Source::RealFifo, [0, 0, 0, 577]),
    (Step::PopSlow, 0, Source::DeltaFifo, [614, 537, 537, 601]),
    (Step::PopSlow, 0, Source::RealFifo, [0, 231, 328, 571]),
    (Step::PopRequeue, 0, Source::DeltaFifo, [618, 0, 0, 0]),
    (Step::PopUnlock, 0, Source::DeltaFifo, [578, 501, 501, 564]),
    (Step::PopUnlock, 0, Source::RealFifo, [0, 198, 269, 488]),
    (Step::QueueClose, 0, Source::DeltaFifo, [276, 288, 288, 320]),
    (Step::QueueClose, 0, Source::RealFifo, [0, 72, 100, 191]),
    (Step::QueueClose, 0, Source::Fifo, [146, 127, 144, 149]),
    (Step::PopLock, 0, Source::Fifo, [284, 195, 212, 247]),
    (Step::PopWait, 0, Source::Fifo, [295, 206, 223, 258]),
    (Step::PopWait, 1, Source::Fifo, [292, 203, 220, 255]),
    (Step::PopCountDown, 0, Source::Fifo, [301, 212, 229, 264]),
    (Step::PopUnlock, 0, Source::Fifo, [285, 196, 213, 248]),
    (Step::RealAdd, 0, Source::RealFifo, [0, 155, 183, 343]),
    (Step::RealAdd, 1, Source::RealFifo, [0, 166, 194, 355]),
    (Step::RealDelete, 0, Source::RealFifo, [0, 179, 207, 369]),
    (Step::RealReplaceDeletes, 0, Source::RealFifo, [0, 294, 390, 614]),
    (Step::RealReplaceItems, 0, Source::RealFifo, [0, 332, 428, 617]),
    (Step::RealReplaceAll, 0, Source::RealFifo, [0, 0, 0, 610]),
    (Step::RealPopulation, 0, Source::RealFifo, [0, 340, 436, 626]),
    (Step::RealResync, 0, Source::RealFifo, [0, 385, 481, 780]),
    (Step::RealSyncAll, 0, Source::RealFifo, [0, 0, 0, 745]),
    (Step::RealBookmark, 0, Source::RealFifo, [0, 0, 0, 592]),
    (Step::RealPopBatch, 0, Source::RealFifo, [0, 0, 286, 510]),
    (Step::BlockDeltasLock, 0, Source::SharedInformer, [639, 716, 727, 945]),
    (Step::BlockDeltasLock, 1, Source::SharedInformer, [0, 0, 0, 955]),
    (Step::BlockDeltasUnlock, 0, Source::SharedInformer, [640, 717, 728, 946]),
    (Step::BlockDeltasUnlock, 1, Source::SharedInformer, [0, 0, 0, 956]),
    (Step::ProcessDelta, 0, Source::Controller, [549, 562, 589, 617]),
    (Step::ProcessNotify, 0, Source::Controller, [558, 571, 598, 644]),
    (Step::ProcessNotify, 1, Source::Controller, [563, 576, 603, 649]),
    (Step::ProcessNotify, 2, Source::Controller, [569, 582, 609, 655]),
    (Step::ProcessBatch, 0, Source::Controller, [0, 0, 647, 701]),
    (Step::ProcessBatchNotify, 0, Source::Controller, [0, 0, 695, 751]),
    (Step::ProcessReplacedAll, 0, Source::Controller, [0, 0, 0, 764]),
    (Step::ProcessReplacedNotify, 0, Source::Controller, [0, 0, 0, 794]),
    (Step::ProcessReplacedNotify, 1, Source::Controller, [0, 0, 0, 796]),
    (Step::ProcessReplacedNotify, 2, Source::Controller, [0, 0, 0, 789]),
    (Step::ProcessSyncAll, 0, Source::Controller, [0, 0, 0, 634]),
    (Step::ProcessSyncNotify, 0, Source::Controller, [0, 0, 0, 636]),
    (Step::StoreWrite, 0, Source::Store, [240, 240, 283, 325]),
    (Step::StoreDelete, 0, Source::Store, [249, 249, 296, 355]),
    (Step::StoreReplace, 0, Source::Store, [285, 285, 332, 396]),
    (Step::StoreReplace, 1, Source::Store, [288, 288, 335, 402]),
    (Step::StoreVersion, 0, Source::Store, [0, 0, 0, 316]),
    (Step::StoreVersion, 1, Source::Store, [0, 0, 0, 397]),
    (Step::StoreVersion, 2, Source::Store, [0, 0, 0, 345]),
    (Step::StoreVersion, 3, Source::Store, [0, 0, 0, 455]),
    (Step::IndexRemove, 0, Source::Store, [182, 182, 197, 214]),
    (Step::IndexAdd, 0, Source::Store, [185, 185, 200, 217]),
    (Step::IndexFail, 0, Source::Store, [164, 164, 179, 196]),
    (Step::AddIndexers, 0, Source::Store, [357, 357, 404, 506]),
    (Step::Withhold, 0, Source::SharedInformer, [788, 865, 872, 1111]),
    (Step::ListenerSend, 0, Source::SharedInformer, [933, 1012, 1019, 1293]),
    (Step::ListenerPop, 0, Source::SharedInformer, [951, 1030, 1037, 1314]),
    (Step::ListenerPop, 1, Source::SharedInformer, [960, 1039, 1046, 1323]),
    (Step::ListenerTake, 0, Source::SharedInformer, [973, 1053, 1060, 1338]),
    (Step::ListenerHandle, 0, Source::SharedInformer, [976, 1065, 1072, 1358]),
    (Step::ListenerHandle, 1, Source::SharedInformer, [978, 1067, 1074, 1360]),
    (Step::ListenerHandle, 2, Source::SharedInformer, [983, 1072, 1079, 1365]),
    (Step::ListenerDone, 0, Source::SharedInformer, [973, 1053, 1060, 1338]),
    (Step::HandlerPanic, 0, Source::SharedInformer, [972, 1061, 1068, 1346]),
    (Step::HandlerSync, 0, Source::SharedInformer, [980, 1069, 1076, 1362]),
    (Step::HandlerAdd, 0, Source::SharedInformer, [612, 689, 690, 911]),
    (Step::HandlerAdd, 1, Source::SharedInformer, [623, 700, 701, 923]),
    (Step::HandlerLock, 0, Source::SharedInformer, [620, 697, 698, 920]),
    (Step::HandlerUnlock, 0, Source::SharedInformer, [621, 698, 699, 921]),
    (Step::HandlerInitial, 0, Source::SharedInformer, [633, 710, 711, 933]),
    (Step::HandlerPeriod, 0, Source::SharedInformer, [603, 680, 681, 902]),
    (Step::RemoveLock, 0, Source::SharedInformer, [700, 777, 784, 1012]),
    (Step::RemoveUnlock, 0, Source::SharedInformer, [701, 778, 785, 1013]),
    (Step::HandlerRemove, 0, Source::SharedInformer, [702, 779, 786, 1014]),
    (Step::MutationCheck, 0, Source::MutationDetector, [146, 147, 147, 147]),
    (Step::WorkAdd, 0, Source::Queue, [257, 240, 249, 249]),
    (Step::WorkAdd, 1, Source::Queue, [253, 236, 245, 245]),
    (Step::WorkAdd, 2, Source::Queue, [241, 224, 233, 233]),
    (Step::WorkGet, 0, Source::Queue, [284, 267, 276, 276]),
    (Step::WorkDone, 0, Source::Queue, [303, 286, 295, 295]),
    (Step::WorkDone, 1, Source::Queue, [305, 288, 297, 297]),
    (Step::WorkDelay, 0, Source::DelayingQueue, [257, 266, 266, 266]),
    (Step::WorkRateLimit, 0, Source::RateLimitingQueue, [138, 138, 138, 138]),
    (Step::WorkForget, 0, Source::RateLimitingQueue, [146, 146, 146, 146]),
    (Step::WorkShutDown, 0, Source::Queue, [319, 303, 317, 317]),
    (Step::WorkShutDown, 1, Source::Queue, [337, 318, 336, 336]),
    (Step::PopRelease, 0, Source::RealFifo, [0, 0, 0, 459]),
    (Step::PopRetake, 0, Source::RealFifo, [0, 0, 0, 460]),
    (Step::AddLock, 2, Source::RealFifo, [0, 0, 0, 589]),
    (Step::AddUnlock, 2, Source::RealFifo, [0, 0, 0, 590]),
];

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "tests"
    )]

    use super::*;
    use crate::caption::samples;
    use deltascope_cache::fact::{Cause, FactId, LockName};
    use deltascope_cache::key::Key;
    use deltascope_replay::lessons;
    use deltascope_replay::timeline::Timeline;

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
        ReflectorFallBack,
        ReflectorWatchError,
        ReflectorBackoff,
        ReflectorStop,
        ReflectorList,
        ReflectorPage,
        ReflectorListFailed,
        ReflectorUnavailable,
        ReflectorListVersion,
        ReflectorStream,
        ReflectorStreamReceive,
        ReflectorKeep,
        ReflectorStreamEnd,
        ReflectorStreamAgain,
        ReflectorStreamUsed,
        ReflectorStreamVersion,
        ReflectorWatch,
        ReflectorRetry,
        ReflectorReceive,
        ReflectorReject,
        ReflectorSetVersion,
        ReflectorEnd,
        ResyncTimer,
        ResyncCheck,
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
        HasSyncedLock,
        HasSyncedUnlock,
        PopLock,
        PopWait,
        PopTake,
        PopCountDown,
        PopRelease,
        PopProcess,
        PopRetake,
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
        BlockDeltasLock,
        BlockDeltasUnlock,
        ProcessDelta,
        ProcessNotify,
        ProcessBatch,
        ProcessBatchNotify,
        ProcessReplacedAll,
        ProcessReplacedNotify,
        ProcessSyncAll,
        ProcessSyncNotify,
        StoreWrite,
        StoreDelete,
        StoreReplace,
        StoreVersion,
        IndexRemove,
        IndexAdd,
        IndexFail,
        AddIndexers,
        HandlerPeriod,
        HandlerLock,
        HandlerAdd,
        HandlerInitial,
        HandlerUnlock,
        RemoveLock,
        HandlerRemove,
        RemoveUnlock,
        Withhold,
        ListenerSend,
        ListenerPop,
        ListenerTake,
        ListenerHandle,
        ListenerDone,
        HandlerSync,
        HandlerPanic,
        MutationCheck,
        WorkAdd,
        WorkDelay,
        WorkRateLimit,
        WorkGet,
        WorkDone,
        WorkForget,
        WorkShutDown,
        Reconcile,
    );

    fn classic() -> Picture {
        Picture {
            generation: Generation::Classic,
            ..Picture::default()
        }
    }

    fn record(id: u64, actor: Actor, step: Step, fact: Fact) -> FactRecord {
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
            shape: deltascope_cache::fact::Shape::Object,
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
                    Fact::Reflector(ReflectorFact::EventReceived {
                        event: EventType::Deleted,
                        object: object("12"),
                        ends_list: false,
                    }),
                ),
                (
                    Step::DeleteLock,
                    Fact::Queue(QueueFact::LockTaken {
                        lock: LockName::Queue,
                        by,
                    }),
                ),
                (
                    Step::DeleteCheck,
                    Fact::Queue(QueueFact::DeleteChecked {
                        key: key.clone(),
                        known: Some(Known::Yes("2".into())),
                        pending: false,
                    }),
                ),
                (
                    Step::QueueActionAppend,
                    Fact::Queue(QueueFact::DeltaAppended {
                        delta_type: DeltaType::Deleted,
                        object: object("12"),
                        depth: 1,
                    }),
                ),
                (
                    Step::QueueActionEnqueue,
                    Fact::Queue(QueueFact::KeyEnqueued { key, length: 3 }),
                ),
                (
                    Step::DeleteUnlock,
                    Fact::Queue(QueueFact::LockReleased {
                        lock: LockName::Queue,
                        by,
                    }),
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
        let mut picture = classic();
        for (kind, generation) in [
            (QueueKind::DeltaFifo, Generation::Classic),
            (QueueKind::RealFifo, Generation::InOrder),
            (QueueKind::RealFifo, Generation::Batched),
            (QueueKind::RealFifo, Generation::Atomic),
            (QueueKind::Fifo, Generation::Classic),
        ] {
            picture.queue.kind = kind;
            picture.generation = generation;
            for &step in STEPS {
                let (id, _) = place(step).unwrap();
                let Some(link) = pinned(step, 0, &picture).and_then(|pin| link(id, pin)) else {
                    let none = matches!(
                        step,
                        Step::ProgramCall | Step::SettingChanged | Step::Reconcile
                    );
                    // The others are DeltaFIFO's alone.
                    assert!(none || kind != QueueKind::DeltaFifo, "{step:?}");
                    continue;
                };
                if link.url == API_CONCEPTS {
                    continue;
                }
                let (address, number) = link.url.split_once("#L").unwrap();
                assert!(number.parse::<u32>().unwrap() > 0);
                let (tag, path) = address
                    .strip_prefix("https://github.com/kubernetes/client-go/blob/")
                    .and_then(|rest| rest.split_once('/'))
                    .unwrap();
                assert!(TAGS.contains(&tag), "{tag}");
                let (_, file) = path.rsplit_once('/').unwrap();
                let short = tag.rsplit_once('.').unwrap().0;
                assert_eq!(link.text, format!("client-go {short} {file}:{number}"));
            }
        }
    }

    /// Under each tag a function and a line.
    type Places<'a> = Vec<Option<(&'a str, u16)>>;

    /// What was gathered from client-go itself: in which lines a function stands, by file, tag and name,
    /// and in which function and line a statement does, by step, number and file.
    #[derive(Default)]
    struct Gathered<'a> {
        files: Vec<(&'a str, &'a str, &'a str)>,
        functions: Vec<(&'a str, &'a str, &'a str, u16, u16)>,
        statements: Vec<([&'a str; 3], Places<'a>)>,
    }

    impl<'a> Gathered<'a> {
        fn read(text: &'a str) -> Self {
            let mut gathered = Self::default();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                match line.split(' ').collect::<Vec<_>>()[..] {
                    ["file", source, path, tag, blob] => {
                        assert_eq!(blob.len(), 40, "{line}");
                        gathered.files.push((source, path, tag));
                    }
                    ["func", name, first, last] => {
                        let (source, _, tag) = *gathered.files.last().unwrap();
                        let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
                        gathered.functions.push((source, tag, name, first, last));
                    }
                    ["at", step, variant, source, ref places @ ..] => {
                        let places = places.iter().map(|place| {
                            let (name, line) = place.split_once(':')?;
                            Some((name, line.parse().unwrap()))
                        });
                        let statement = [step, variant, source];
                        gathered.statements.push((statement, places.collect()));
                    }
                    _ => panic!("{line}"),
                }
            }
            gathered
        }
    }

    #[test]
    fn each_statement_is_pinned_once_where_it_is_in_client_go() {
        let gathered = Gathered::read(include_str!("../../tests/pins.txt"));
        for (source, path, tag) in &gathered.files {
            let of = PINS.iter().map(|(_, _, of, _)| of);
            let mut named = of.filter(|of| format!("{of:?}") == *source);
            let (folder, name) = named.next().unwrap().path();
            assert_eq!(format!("{folder}/{name}"), *path);
            assert!(TAGS.contains(tag), "{tag}");
        }
        assert_eq!(gathered.statements.len(), PINS.len());
        let mut pinned = 0;
        for (index, (step, variant, source, lines)) in PINS.iter().enumerate() {
            assert!(lines.iter().any(|line| *line > 0), "{step:?}");
            let twice = PINS[..index]
                .iter()
                .any(|(of, which, at, _)| (of, which, at) == (step, variant, source));
            assert!(!twice, "{step:?} {variant}");
            let (step, variant) = (format!("{step:?}"), variant.to_string());
            let source = format!("{source:?}");
            let what = [&*step, &*variant, &*source];
            let found = gathered.statements.iter().find(|(of, _)| *of == what);
            let (_, places) = found.unwrap_or_else(|| panic!("{what:?}"));
            assert_eq!(places.len(), TAGS.len(), "{what:?}");
            for ((tag, place), line) in TAGS.iter().zip(places).zip(lines) {
                let Some((function, at)) = *place else {
                    assert_eq!(*line, 0, "{what:?} {tag}");
                    continue;
                };
                assert_eq!(*line, at, "{what:?} {tag}");
                let within = gathered
                    .functions
                    .iter()
                    .any(|(of, under, name, first, last)| {
                        (*of, *under, *name) == (&*source, *tag, function)
                            && (*first..=*last).contains(line)
                    });
                assert!(within, "{what:?} {tag}: {line} is not in {function}");
                pinned += 1;
            }
        }
        assert!(pinned > 600, "{pinned}");
    }

    #[test]
    fn a_step_that_queues_share_is_the_line_that_says_it_in_each() {
        use Step::{
            AddLock, AddUnlock, DeleteLock, DeleteUnlock, PopCountDown, PopLock, PopProcess,
            PopSlow, PopTake, PopUnlock, PopWait, ReplaceLock, ReplaceUnlock, ResyncLock,
            ResyncUnlock,
        };
        let said = |id: Id, line: usize| id.routine().lines[line].text.trim();
        for (step, batches, routine, text) in [
            (AddLock, false, Id::RealWrite, "lock"),
            (DeleteLock, false, Id::RealWrite, "lock"),
            (AddUnlock, false, Id::RealWrite, "unlock"),
            (DeleteUnlock, false, Id::RealWrite, "unlock"),
            (ReplaceLock, false, Id::RealReplace, "lock"),
            (ReplaceUnlock, false, Id::RealReplace, "unlock"),
            (ResyncLock, false, Id::RealResync, "lock"),
            (ResyncUnlock, false, Id::RealResync, "unlock"),
            (PopLock, true, Id::RealPopBatch, "lock"),
            (
                PopWait,
                true,
                Id::RealPopBatch,
                "while items is empty: wait",
            ),
            (
                PopTake,
                true,
                Id::RealPopBatch,
                "batch = the front, each key once",
            ),
            (
                PopProcess,
                true,
                Id::RealPopBatch,
                "process(batch, is_in_initial_list)",
            ),
            (
                PopCountDown,
                true,
                Id::RealPopBatch,
                "left -= len(batch)  # up to 1.35: before",
            ),
            (
                PopSlow,
                true,
                Id::RealPopBatch,
                "if slow and depth > 10: log it",
            ),
            (PopUnlock, true, Id::RealPopBatch, "unlock"),
        ] {
            let (id, line) = place_in_real_fifo(step, batches).unwrap();
            assert_eq!((id, said(id, line)), (routine, text), "{step:?}");
        }
        for (step, text) in [
            (PopLock, "lock"),
            (PopWait, "while queue is empty: wait"),
            (PopCountDown, "if left > 0: left = left - 1"),
            (PopUnlock, "unlock"),
        ] {
            let line = place_in_fifo_pop(step).unwrap();
            assert_eq!(said(Id::FifoPop, line), text, "{step:?}");
        }
        // Nothing else is elsewhere than in DeltaFIFO.
        let elsewhere = STEPS.iter().filter(|step| {
            place_in_real_fifo(**step, true).is_some() || place_in_fifo_pop(**step).is_some()
        });
        assert_eq!(elsewhere.count(), 15);
    }

    #[test]
    fn the_values_are_those_of_the_call() {
        let recent = delete_kept();
        let all = listing(&recent, &classic());
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
    fn before_the_start_a_program_shows_only_what_it_has() {
        for (id, _) in lessons::menu() {
            let lesson = lessons::load(&id).unwrap();
            let picture = Timeline::new(lesson.scenario).unwrap().picture(0);
            let Listing { title, .. } = listing(&[], &picture);
            let no_queue = !picture.machinery.has_queue();
            assert_eq!(title == "program", no_queue, "{id}: {title}");
        }
    }

    #[test]
    fn what_has_not_been_reached_has_no_value() {
        let recent = delete_kept();
        let early = listing(&recent[..2], &classic());
        assert_eq!(early.title, "DeltaFIFO.Delete");
        assert!(early.lines.iter().all(|line| line.value.is_none()));
        assert!(early.lines[2].current);
    }

    #[test]
    fn a_nested_routine_says_who_called_it() {
        let recent = delete_kept();
        let nested = listing(&recent[..5], &classic());
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
        let alone = listing(&recent[3..4], &classic());
        assert_eq!(alone.title, "queueActionLocked");
    }

    #[test]
    fn the_values_of_an_earlier_call_are_not_shown() {
        let mut recent = delete_kept();
        recent.extend(records(
            Actor::Reflector,
            vec![(
                Step::DeleteLock,
                Fact::Queue(QueueFact::LockTaken {
                    lock: LockName::Queue,
                    by: Actor::Reflector,
                }),
            )],
        ));
        let again = listing(&recent, &classic());
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
                Fact::Queue(QueueFact::LockAwaited {
                    lock: LockName::Queue,
                    by: Actor::ProcessLoop,
                    holder: Actor::Reflector,
                }),
            ),
        );
        recent.insert(
            4,
            record(
                91,
                Actor::Server,
                Step::ServerCompact,
                Fact::Server(ServerFact::HistoryCompacted { oldest: "9".into() }),
            ),
        );
        let with = listing(&recent, &classic());
        let without = listing(&delete_kept(), &classic());
        assert_eq!(with, without);
    }

    #[test]
    fn a_loop_shows_the_round_that_is_running() {
        let taken = |position, delta_type| {
            (
                Step::ProcessDelta,
                Fact::Queue(QueueFact::DeltaTaken {
                    position,
                    delta_type,
                    object: object("5"),
                    exists: Some(true),
                }),
            )
        };
        let recent = records(
            Actor::ProcessLoop,
            vec![
                taken(0, DeltaType::Added),
                (
                    Step::StoreWrite,
                    Fact::Store(StoreFact::ItemStored {
                        object: object("5"),
                        old: None,
                    }),
                ),
                taken(1, DeltaType::Updated),
            ],
        );
        let second = listing(&recent, &classic());
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
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type,
                    object: ObjectRef {
                        key: Key::from(name),
                        ..object("5")
                    },
                    depth: 1,
                }),
            )
        };
        let recent = records(
            by,
            vec![
                (
                    Step::ReplaceLock,
                    Fact::Queue(QueueFact::LockTaken {
                        lock: LockName::Queue,
                        by,
                    }),
                ),
                appended("a", DeltaType::Replaced),
                appended("b", DeltaType::Replaced),
                (
                    Step::ReplaceMissing,
                    Fact::Queue(QueueFact::DeletionDetected {
                        key: Key::from("c"),
                    }),
                ),
                appended("c", DeltaType::Deleted),
                (
                    Step::ReplacePopulation,
                    Fact::Queue(QueueFact::Populated { initial: 3 }),
                ),
                (
                    Step::ReplaceUnlock,
                    Fact::Queue(QueueFact::LockReleased {
                        lock: LockName::Queue,
                        by,
                    }),
                ),
            ],
        );
        assert_eq!(
            shown(&listing(&recent, &classic())),
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
        let early = listing(&recent[..1], &classic());
        assert!(early.lines.iter().all(|line| line.value.is_none()));
    }

    #[test]
    fn a_program_that_goes_by_type_has_its_own_process_function() {
        let recent = records(
            Actor::ProcessLoop,
            vec![
                (
                    Step::PopTake,
                    Fact::Queue(QueueFact::KeyPopped {
                        key: Key::from("default/web-1"),
                        deltas: vec![(DeltaType::Added, object("5"))],
                        is_in_initial_list: false,
                    }),
                ),
                (
                    Step::ProcessDelta,
                    Fact::Queue(QueueFact::DeltaTaken {
                        position: 0,
                        delta_type: DeltaType::Added,
                        object: object("5"),
                        exists: None,
                    }),
                ),
                (
                    Step::ListenerHandle,
                    Fact::Handlers(HandlersFact::LinePrinted {
                        handler: 0,
                        line: "Added pod1".into(),
                    }),
                ),
            ],
        );
        let mut picture = classic();
        let alone = listing(&recent, &picture);
        assert_eq!(alone.title, "DeltaFIFO.Pop › process");
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
            let link = listing(&records(actor, facts), &classic()).link;
            link.unwrap().text
        };
        let by = Actor::Reflector;
        let lock = |event, step, fact| {
            let received = Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object: object("5"),
                ends_list: false,
            });
            place(by, vec![(Step::ReflectorReceive, received), (step, fact)])
        };
        let (taken, released) = (
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by,
            }),
            Fact::Queue(QueueFact::LockReleased {
                lock: LockName::Queue,
                by,
            }),
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
            let checked = Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known,
                pending: false,
            });
            let ignored = (
                Step::DeleteIgnore,
                Fact::Queue(QueueFact::DeleteIgnored { key }),
            );
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

        let moved = |step| {
            let (from, to) = ("4".into(), "5".into());
            (
                step,
                Fact::Reflector(ReflectorFact::LastSyncMoved { from, to }),
            )
        };
        let list = Fact::Reflector(ReflectorFact::ListReceived {
            rv: "5".into(),
            count: 1,
        });
        let event = Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Added,
            object: object("5"),
            ends_list: false,
        });
        for (before, step, line) in [
            (list, Step::ReflectorListVersion, 603),
            (event, Step::ReflectorSetVersion, 859),
        ] {
            let at = place(by, vec![(Step::ReflectorReceive, before), moved(step)]);
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
            let taken = Fact::Handlers(HandlersFact::NotificationTaken {
                handler: 0,
                notification,
            });
            let line = Fact::Handlers(HandlersFact::LinePrinted {
                handler: 0,
                line: "x".into(),
            });
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
                Fact::Handlers(HandlersFact::LinePrinted {
                    handler: 0,
                    line: "OnAdd: web-1".into(),
                }),
            )],
        );
        assert_eq!(listing(&recent, &classic()).title, "processDeltas");
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
                        Fact::Reflector(ReflectorFact::EventReceived {
                            event,
                            object: object("5"),
                            ends_list: false,
                        }),
                    ),
                    (
                        Step::AddLock,
                        Fact::Queue(QueueFact::LockTaken {
                            lock: LockName::Queue,
                            by,
                        }),
                    ),
                ],
            )
        };
        let picture = classic();
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
                    Fact::Queue(QueueFact::DeltaTaken {
                        position: 0,
                        delta_type: DeltaType::Deleted,
                        object: object("5"),
                        exists: Some(true),
                    }),
                ),
                (
                    Step::StoreDelete,
                    Fact::Store(StoreFact::ItemRemoved {
                        key: Key::from("default/web-1"),
                        old: None,
                    }),
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
        let mut picture = classic();
        let server = listing(&[], &picture);
        assert_eq!(server.title, "Reflector.ListAndWatch");
        picture.api.feed = SourceKind::Program;
        let program = listing(&[], &picture);
        assert_eq!(program.title, "DeltaFIFO.Add");
        for line in server.lines.iter().chain(&program.lines) {
            assert!(!line.current && line.value.is_none());
        }
        assert!(server.link.is_some() && program.link.is_some());
    }

    #[test]
    fn another_queue_has_its_own_name_and_links() {
        let mut picture = classic();
        picture.queue.kind = QueueKind::RealFifo;
        picture.generation = Generation::Atomic;
        let recent = records(
            Actor::Reflector,
            vec![(
                Step::AddLock,
                Fact::Queue(QueueFact::LockTaken {
                    lock: LockName::Queue,
                    by: Actor::Reflector,
                }),
            )],
        );
        let add = listing(&recent, &picture);
        assert_eq!(add.title, "RealFIFO.Add, Delete, Bookmark");
        assert_eq!(
            add.link.unwrap().text,
            "client-go v0.36 the_real_fifo.go:338"
        );
        picture.queue.kind = QueueKind::Fifo;
        let add = listing(&recent, &picture);
        assert_eq!((add.title.as_str(), add.link), ("FIFO.Add", None));
    }

    #[test]
    fn a_fifo_has_lines_and_links_of_its_own() {
        let script = [
            ("create", "x"),
            ("delete", "x"),
            ("create", "x"),
            ("pop", ""),
        ];
        let script: Vec<_> = (1..)
            .zip(script)
            .map(|(at, (op, name))| match op {
                "pop" => serde_json::json!({"at": at, "op": op}),
                _ => {
                    serde_json::json!({"at": at, "op": op, "object": {"metadata": {"name": name}}})
                }
            })
            .collect();
        let handler = serde_json::json!({"inline": true, "onAdd": ["{name}"]});
        let settings = serde_json::json!({
            "queue": "FIFO", "feed": "program", "mode": "held", "handlers": [handler],
        });
        let lesson = deltascope_replay::lessons::inline(serde_json::json!({
            "settings": settings, "script": script,
        }));
        let mut timeline =
            deltascope_replay::timeline::Timeline::new(lesson.unwrap().scenario).unwrap();
        timeline.extend(1_000);
        let mut picture = timeline.picture(0);
        let facts = timeline.all_facts();
        let mut told = Vec::new();
        for (at, record) in facts.iter().enumerate() {
            picture.apply(record);
            let listing = listing(&facts[..=at], &picture);
            let current = listing.lines.iter().find(|line| line.current).unwrap();
            let line = listing.link.map_or(String::new(), |link| {
                link.text.replace("client-go v0.32 ", "")
            });
            told.push(format!(
                "{} | {} | {} | {line}",
                record.fact.name(),
                listing.title,
                current.text.trim(),
            ));
        }
        let write = "FIFO.Add, Delete, Replace";
        let add = [
            "Called | program | the program's next call, or its next line | ".to_owned(),
            format!("LockTaken | {write} | lock | fifo.go:169"),
            format!("FifoItemSet | {write} | Add: items[key] = obj | fifo.go:175"),
            format!("KeyEnqueued | {write} | Add: enqueue key if it was not there | fifo.go:173"),
            format!("LockReleased | {write} | unlock | fifo.go:170"),
        ];
        let own = "FIFO.Pop › process | print(obj) | ";
        let pop = [
            "PopAsked | this run | what was asked for on this page | ".to_owned(),
            "LockTaken | FIFO.Pop | lock | fifo.go:284".to_owned(),
            "KeyPopped | FIFO.Pop | key = queue.pop_front() | fifo.go:298".to_owned(),
            format!("NotificationTaken | {own}"),
            format!("LinePrinted | {own}"),
            format!("NotificationHandled | {own}"),
            "Processed | FIFO.Pop | process(items.remove(key)) | fifo.go:309".to_owned(),
            "LockReleased | FIFO.Pop | unlock | fifo.go:285".to_owned(),
        ];
        assert_eq!(told[told.len() - pop.len()..], pop);
        let told: Vec<_> = told
            .into_iter()
            .filter(|line| !line.starts_with("Populated") && !line.starts_with("Synced"))
            .collect();
        assert_eq!(told[..add.len()], add);
    }

    #[test]
    fn every_fact_at_every_step_gives_a_listing_that_fits() {
        for fact in samples() {
            for &step in STEPS {
                let recent = records(Actor::Reflector, vec![(step, fact.clone())]);
                let listing = listing(&recent, &classic());
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
