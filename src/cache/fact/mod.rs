//! Facts: what happened, in the past tense.
//!
//! A fact holds everything that the picture, the words and the motion need, so that nothing on the
//! page has to look into the cache. `Event` would be the other word for it, but watch events and
//! DOM events have taken that one.
//!
//! A fact belongs to whoever states it: each owner has an enum, in a file of its own. Whoever folds
//! facts matches one of these enums, without a wildcard, so that the compiler says where a new fact
//! has to be thought of.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::delta::DeltaType;
use crate::key::Key;
use crate::lister_watcher::ApiErrorKind;
use crate::step::Step;

mod handlers;
mod queue;
mod reflector;
mod run;
mod server;
mod store;
mod work;

pub use handlers::HandlersFact;
pub use queue::QueueFact;
pub use reflector::ReflectorFact;
pub use run::RunFact;
pub use server::ServerFact;
pub use store::StoreFact;
pub use work::WorkFact;

// What facts speak of.
pub use crate::lister_watcher::EventType;
pub use crate::object::{ObjectRef, Rv, Shape};

/// Declares one owner's facts, and with them their names, keys and weights.
macro_rules! facts {
    (
        $(#[$about:meta])*
        pub enum $Owner:ident {
            $(
                $(#[$doc:meta])*
                $Fact:ident $({ $( $(#[$field_doc:meta])* $field:ident: $type:ty, )+ })?,
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $Owner {
            $( $(#[$doc])* $Fact $({ $( $(#[$field_doc])* $field: $type, )+ })?, )+
        }

        impl $Owner {
            /// The names of these facts, in the order in which they are declared.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($Fact)),+];

            /// The fact's own name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $( Self::$Fact $({ $($field: _),+ })? => stringify!($Fact), )+
                }
            }

            /// The key of the object that the fact is about, where it is about one.
            #[must_use]
            pub fn key(&self) -> Option<&$crate::key::Key> {
                match self {
                    $( Self::$Fact $({ $($field),+ })? => {
                        let keys: &[Option<&$crate::key::Key>] = &[$( $(super::Part::key($field)),+ )?];
                        keys.iter().rev().copied().flatten().next()
                    } )+
                }
            }

            pub(super) fn weight(&self) -> usize {
                match self {
                    $( Self::$Fact $({ $($field),+ })? => {
                        let weights: &[usize] = &[$( $(super::Part::weight($field)),+ )?];
                        weights.iter().sum()
                    } )+
                }
            }
        }
    };
}
use facts;

/// What the API server shows of an object besides its metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// `spec.nodeName`; empty when there is none.
    pub node: Arc<str>,
    /// `status.phase`; empty when there is none.
    pub phase: Arc<str>,
}

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The API server, or whatever stands in for it.
    Server,
    /// A program that calls the queue itself, where there is no reflector.
    Program,
    /// The reflector.
    Reflector,
    /// The reflector's resync timer, which runs beside it.
    Resync,
    /// The loop that pops and processes.
    ProcessLoop,
    /// Whoever adds and removes handlers: the program around the informer.
    Main,
    /// `pop` of the n-th listener: from the sender into its buffer.
    Pop(u8),
    /// `run` of the n-th listener of the shared processor: calls its handler.
    Listener(u8),
    /// The n-th worker of the workqueue.
    Worker(u8),
}

/// Which lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockName {
    /// The queue's.
    #[default]
    Queue,
    /// `blockDeltas`: no delta is processed while a handler is added.
    BlockDeltas,
}

/// What a client asked the API server to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Make an object.
    Create,
    /// Change an object.
    Update,
    /// Delete an object.
    Delete,
}

/// Why a request has no answer, or the reflector stopped.
#[derive(Clone, PartialEq, Eq)]
pub enum Reason {
    /// The caller stopped the reflector.
    StopRequested,
    /// The recording has no more events.
    RecordingEnds,
    /// The recording has no further list.
    NoFurtherList,
    /// The source is a program, which has no objects to list.
    NothingToList,
    /// The source is a program, which has no events to watch.
    NothingToWatch,
    /// The program's watch was closed.
    WatchOver,
    /// A recording takes no writes.
    ReadOnly,
    /// Nobody watches, so nobody would receive the event of the write.
    NoWatch,
    /// In the server's words.
    Text(Arc<str>),
}

impl Reason {
    /// In English.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::StopRequested => "stop requested",
            Self::RecordingEnds => "the recording ends here",
            Self::NoFurtherList => "the recording holds no further list",
            Self::NothingToList => "a program has nothing to list",
            Self::NothingToWatch => "a program has nothing to watch",
            Self::WatchOver => "the watch is over",
            Self::ReadOnly => "a recording cannot be written to",
            Self::NoWatch => "no watch is open",
            Self::Text(text) => text,
        }
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 409 AlreadyExists.
    AlreadyExists,
    /// 404 NotFound.
    NotFound,
    /// 422 Invalid, with the reason.
    Invalid(Reason),
}

/// How a watch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The server closed it in good order (its timeout).
    Closed,
    /// The connection broke; what was on its way is lost.
    Cut,
    /// The connection broke inside a line; so many bytes of it had come.
    CutInLine(u32),
    /// Nothing came for too long: whoever reads has given it up.
    Silent,
    /// An `ERROR` event ended it: code and reason.
    Failed(u16, Arc<str>),
    /// More objects than so many came: whoever reads has no room for them and has closed it.
    TooMuch(u32),
}

/// Why the reflector did what it did next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffReason {
    /// There is no watch (refused, or 429); the next one starts at the last version.
    WatchEnded,
    /// The version is too old; a list comes next.
    Expired,
    /// The watch failed otherwise, or ended at once without an event; a list comes next.
    WatchFailed,
    /// The list failed.
    ListFailed,
    /// A streaming list failed; it starts over.
    StreamFailed,
}

/// What follows a list that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListAgain {
    /// Another one after a pause.
    Later,
    /// Another one at once, for the newest state: the version has expired.
    Expired,
    /// Another one at once, for the newest state: no server is that far yet.
    TooLarge,
    /// The whole list at once, in one piece: the token for the next page has expired.
    PageExpired,
}

/// Where a key went in a workqueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkPlace {
    /// To the end of the queue.
    Queue,
    /// Only marked dirty: a worker has it, it is queued again when that is done.
    Dirty,
    /// Nowhere: it waits already.
    Duplicate,
}

/// How the process loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProcessMode {
    /// It pops whenever there is something.
    #[default]
    Free,
    /// It rests so many ms after each Pop.
    Paced(u32),
    /// It pops only when asked.
    Held,
}

/// What a handler is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationRef {
    /// `OnAdd(obj, isInInitialList)`
    Add {
        /// The object.
        object: ObjectRef,
        /// Whether it came with the first list.
        is_in_initial_list: bool,
    },
    /// `OnUpdate(old, new)`
    Update {
        /// What was stored before; `None` where nothing is stored.
        old: Option<ObjectRef>,
        /// The object.
        new: ObjectRef,
    },
    /// `OnDelete(obj)`
    Delete {
        /// The object, or its tombstone.
        object: ObjectRef,
    },
}

/// What happened, by whoever states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The API server.
    Server(ServerFact),
    /// The reflector.
    Reflector(ReflectorFact),
    /// The queue, its lock and Pop.
    Queue(QueueFact),
    /// The store and its indices.
    Store(StoreFact),
    /// The shared processor and the handlers.
    Handlers(HandlersFact),
    /// The workqueue and its workers.
    Work(WorkFact),
    /// The program around the informer.
    Run(RunFact),
}

impl Fact {
    /// The names of all facts, owner by owner.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        [
            ServerFact::NAMES,
            ReflectorFact::NAMES,
            QueueFact::NAMES,
            StoreFact::NAMES,
            HandlersFact::NAMES,
            WorkFact::NAMES,
            RunFact::NAMES,
        ]
        .into_iter()
        .flatten()
        .copied()
    }

    /// The fact's own name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Server(fact) => fact.name(),
            Self::Reflector(fact) => fact.name(),
            Self::Queue(fact) => fact.name(),
            Self::Store(fact) => fact.name(),
            Self::Handlers(fact) => fact.name(),
            Self::Work(fact) => fact.name(),
            Self::Run(fact) => fact.name(),
        }
    }

    /// The key of the object that the fact is about, where it is about one.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Server(fact) => fact.key(),
            Self::Reflector(fact) => fact.key(),
            Self::Queue(fact) => fact.key(),
            Self::Store(fact) => fact.key(),
            Self::Handlers(fact) => fact.key(),
            Self::Work(fact) => fact.key(),
            Self::Run(fact) => fact.key(),
        }
    }

    /// What it holds beside itself, in bytes, about: lists and texts.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Server(fact) => fact.weight(),
            Self::Reflector(fact) => fact.weight(),
            Self::Queue(fact) => fact.weight(),
            Self::Store(fact) => fact.weight(),
            Self::Handlers(fact) => fact.weight(),
            Self::Work(fact) => fact.weight(),
            Self::Run(fact) => fact.weight(),
        }
    }

    /// What it put into the queue.
    #[must_use]
    pub fn queued(&self) -> Option<DeltaType> {
        let Self::Queue(fact) = self else { return None };
        if let QueueFact::DeltaAppended { delta_type, .. } = fact {
            Some(*delta_type)
        } else if let QueueFact::EntryAppended { entry, .. } = fact {
            Some(entry.delta_type())
        } else {
            None
        }
    }
}

impl From<ServerFact> for Fact {
    fn from(fact: ServerFact) -> Self {
        Self::Server(fact)
    }
}

impl From<ReflectorFact> for Fact {
    fn from(fact: ReflectorFact) -> Self {
        Self::Reflector(fact)
    }
}

impl From<QueueFact> for Fact {
    fn from(fact: QueueFact) -> Self {
        Self::Queue(fact)
    }
}

impl From<StoreFact> for Fact {
    fn from(fact: StoreFact) -> Self {
        Self::Store(fact)
    }
}

impl From<HandlersFact> for Fact {
    fn from(fact: HandlersFact) -> Self {
        Self::Handlers(fact)
    }
}

impl From<WorkFact> for Fact {
    fn from(fact: WorkFact) -> Self {
        Self::Work(fact)
    }
}

impl From<RunFact> for Fact {
    fn from(fact: RunFact) -> Self {
        Self::Run(fact)
    }
}

/// What a fact is made of: which object it names, and what it weighs.
///
/// Where several parts of a fact name an object, the last is the one that the fact is about.
trait Part {
    /// The key of the object that it names.
    fn key(&self) -> Option<&Key> {
        None
    }

    /// What it holds beside itself and does not share, in bytes, about.
    fn weight(&self) -> usize {
        0
    }
}

/// So much is an object of a list.
const EACH: usize = size_of::<ObjectRef>();

macro_rules! plain {
    ($($type:ty),+ $(,)?) => { $(impl Part for $type {})+ };
}

plain!(
    bool,
    u8,
    u16,
    u32,
    u64,
    &'static str,
    Option<bool>,
    Option<ObjectRef>,
    Option<Known>,
    Actor,
    ApiErrorKind,
    BackoffReason,
    DeltaType,
    EventType,
    ListAgain,
    LockName,
    ProcessMode,
    Reason,
    Refusal,
    Verb,
    WatchEnd,
    WorkPlace,
    Vec<Arc<str>>,
);

impl Part for Key {
    fn key(&self) -> Option<&Key> {
        Some(self)
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

impl Part for ObjectRef {
    fn key(&self) -> Option<&Key> {
        Some(&self.key)
    }

    fn weight(&self) -> usize {
        self.key.len()
    }
}

impl Part for Arc<str> {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl Part for Body {
    fn weight(&self) -> usize {
        let labels = self.labels.iter();
        let labels: usize = labels.map(|(key, value)| key.len() + value.len()).sum();
        labels + self.node.len() + self.phase.len()
    }
}

impl Part for Vec<ObjectRef> {
    fn weight(&self) -> usize {
        self.len() * EACH
    }
}

impl Part for Arc<[ObjectRef]> {
    fn weight(&self) -> usize {
        self.len() * EACH
    }
}

impl Part for Vec<(DeltaType, ObjectRef)> {
    fn weight(&self) -> usize {
        self.len() * EACH
    }
}

impl Part for Entry {
    fn key(&self) -> Option<&Key> {
        match self {
            Self::Delta(_, object) => object.key(),
            Self::ReplacedAll { .. } | Self::SyncAll | Self::Bookmark { .. } => None,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Delta(_, object) => object.weight(),
            Self::ReplacedAll { objects, .. } => objects.weight(),
            Self::SyncAll | Self::Bookmark { .. } => 0,
        }
    }
}

impl Part for NotificationRef {
    fn key(&self) -> Option<&Key> {
        self.object().key()
    }

    fn weight(&self) -> usize {
        self.object().weight()
    }
}

impl NotificationRef {
    /// The object that it is about: the new one of an update.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        match self {
            Self::Add { object, .. } | Self::Delete { object } => object,
            Self::Update { new, .. } => new,
        }
    }
}

/// What KnownObjects says of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It has it, in this version.
    Yes(Rv),
    /// It does not have it.
    No,
    /// It could not tell.
    Failed,
}

/// One entry of a RealFIFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A change of one object.
    Delta(DeltaType, ObjectRef),
    /// A whole list.
    ReplacedAll {
        /// Its version.
        rv: Rv,
        /// Its objects.
        objects: Vec<ObjectRef>,
    },
    /// A whole resync.
    SyncAll,
    /// A newer version.
    Bookmark {
        /// It.
        rv: Rv,
    },
}

impl Entry {
    /// Its type.
    #[must_use]
    pub fn delta_type(&self) -> DeltaType {
        match self {
            Self::Delta(delta_type, _) => *delta_type,
            Self::ReplacedAll { .. } => DeltaType::ReplacedAll,
            Self::SyncAll => DeltaType::SyncAll,
            Self::Bookmark { .. } => DeltaType::Bookmark,
        }
    }
}

/// The number of a fact in its recording, from 0. A run that goes on for weeks has more than 32 bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub u64);

/// Why something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// It was set so from the start.
    Start,
    /// Something that the source did of its own accord, as its traffic or its recording says: its
    /// number, from 0.
    Source(u32),
    /// An entry of the scenario's script: its number in the order of time, from 0.
    Script(u32),
    /// An input of the user: its number, from 0.
    Input(u32),
    /// Another fact.
    Fact(FactId),
}

/// A fact with its place in the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// Its number.
    pub id: FactId,
    /// Virtual milliseconds since the start.
    pub time: u64,
    /// Who.
    pub actor: Actor,
    /// Why.
    pub cause: Cause,
    /// Which step of which algorithm.
    pub step: Step,
    /// What.
    pub fact: Fact,
}
