//! Facts: reports of what happened, named in the past tense.
//!
//! A fact holds everything that the page shows of it, so that the page never reads the cache. They
//! are not called `Event` because watch events and DOM events already have that name.
//!
//! Each component that states facts has its own enum, in its own file. Code that folds facts
//! matches one of these enums without a wildcard, so that the compiler finds every place a new fact
//! affects.

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

// Types used in facts.
pub use crate::lister_watcher::EventType;
pub use crate::object::{ObjectRef, Rv, Shape};

/// Declares the facts of one component, by where they happen, with their names, keys and weights.
macro_rules! facts {
    (
        $(#[$about:meta])*
        pub enum $Owner:ident {
            $(
                $where:literal:
                $(
                    $(#[$doc:meta])*
                    $Fact:ident $({ $( $(#[$field_doc:meta])* $field:ident: $type:ty, )+ })?,
                )+
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $Owner {
            $($( $(#[$doc])* $Fact $({ $( $(#[$field_doc])* $field: $type, )+ })?, )+)+
        }

        impl $Owner {
            /// The names of these facts, in declaration order.
            pub const NAMES: &'static [&'static str] = &[$($(stringify!($Fact)),+),+];

            /// The same, by where they happen.
            pub const PLACES: &'static [(&'static str, &'static [&'static str])] =
                &[$(($where, &[$(stringify!($Fact)),+])),+];

            /// The name of the fact's variant.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($( Self::$Fact $({ $($field: _),+ })? => stringify!($Fact), )+)+
                }
            }

            /// The key of the object that the fact is about, if any.
            #[must_use]
            pub fn key(&self) -> Option<&$crate::key::Key> {
                match self {
                    $($( Self::$Fact $({ $($field),+ })? => {
                        let keys: &[Option<&$crate::key::Key>] = &[$( $(super::Part::key($field)),+ )?];
                        keys.iter().rev().copied().flatten().next()
                    } )+)+
                }
            }

            /// One of each, in declaration order.
            pub(super) fn samples() -> Vec<Self> {
                vec![$($( Self::$Fact $({ $($field: super::Part::sample()),+ })? ),+),+]
            }

            pub(super) fn weight(&self) -> usize {
                match self {
                    $($( Self::$Fact $({ $($field),+ })? => {
                        let weights: &[usize] = &[$( $(super::Part::weight($field)),+ )?];
                        weights.iter().sum()
                    } )+)+
                }
            }
        }
    };
}
use facts;

/// What the API server shows of an object besides its key, version and UID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// `spec.nodeName`; empty if not set.
    pub node: Arc<str>,
    /// `status.phase`; empty if not set.
    pub phase: Arc<str>,
}

/// The actor that caused a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The API server, or the source that replaces it.
    Server,
    /// A program that calls the queue directly, without a reflector.
    Program,
    /// The reflector.
    Reflector,
    /// The reflector's resync timer, which runs concurrently.
    Resync,
    /// The loop that pops and processes.
    ProcessLoop,
    /// The program around the informer, which adds and removes handlers.
    Main,
    /// `pop` of the n-th listener: moves notifications from the sender into its buffer.
    Pop(u8),
    /// `run` of the n-th listener of the shared processor: calls its handler.
    Listener(u8),
    /// The n-th worker of the workqueue.
    Worker(u8),
}

/// The name of a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockName {
    /// The queue's lock.
    #[default]
    Queue,
    /// `blockDeltas`: no delta is processed while a handler is being added.
    BlockDeltas,
}

/// The operation of a client's write request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Create an object.
    Create,
    /// Update an object.
    Update,
    /// Delete an object.
    Delete,
}

/// Who printed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Printer {
    /// The handler with this number.
    Handler(u8),
    /// A handler of the informer beside with this number.
    Beside(u8),
    /// The program itself, outside of all handlers.
    Program,
}

/// A reflector's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// A list, or a page of one.
    List,
    /// A watch; a streaming list is one.
    Watch,
}

impl Request {
    /// The step in which the server answers it.
    #[must_use]
    pub fn step(self) -> Step {
        match self {
            Self::List => Step::ServerList,
            Self::Watch => Step::ServerWatch,
        }
    }

    /// `LIST` or `WATCH`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::List => "LIST",
            Self::Watch => "WATCH",
        }
    }
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

/// Why the server refused a write.
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
    /// The server closed it normally, at its timeout.
    Closed,
    /// The connection broke; events in transit are lost.
    Cut,
    /// The connection broke inside a line, after this many bytes of it.
    CutInLine(u32),
    /// No data arrived for too long, so the client gave up.
    Silent,
    /// An `ERROR` event ended it: HTTP status and reason.
    Failed(u16, Arc<str>),
    /// More than this many objects arrived, so the client closed it for lack of space.
    TooMuch(u32),
}

/// Why the reflector backs off, and what it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffReason {
    /// Connection refused or 429; the next watch starts at the last version.
    WatchEnded,
    /// The version has expired; a list follows.
    Expired,
    /// The watch failed for another reason, or ended at once without an event; a list follows.
    WatchFailed,
    /// The list failed.
    ListFailed,
    /// A streaming list failed and is restarted.
    StreamFailed,
}

/// What the reflector does after a failed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListAgain {
    /// List again after a pause.
    Later,
    /// List the newest state at once: the version has expired.
    Expired,
    /// List the newest state at once: the version is too new for the server.
    TooLarge,
    /// Request the full list at once, without pages: the continue token has expired.
    PageExpired,
}

/// Where the workqueue put a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkPlace {
    /// At the end of the queue.
    Queue,
    /// Only in the dirty set: a worker is processing the key. It is queued again when that worker
    /// is done.
    Dirty,
    /// Nowhere: it is already waiting.
    Duplicate,
}

/// The mode of the process loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProcessMode {
    /// Pops as soon as the queue is not empty.
    #[default]
    Free,
    /// Waits this many ms after each Pop.
    Paced(u32),
    /// Pops only on request.
    Held,
}

/// A notification that a handler receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationRef {
    /// `OnAdd(obj, isInInitialList)`
    Add {
        /// The object.
        object: ObjectRef,
        /// Whether it is in the initial list.
        is_in_initial_list: bool,
    },
    /// `OnUpdate(old, new)`
    Update {
        /// The stored object before the update; `None` if nothing was stored.
        old: Option<ObjectRef>,
        /// The new object.
        new: ObjectRef,
    },
    /// `OnDelete(obj)`
    Delete {
        /// The object, or its tombstone.
        object: ObjectRef,
    },
}

/// Declares `Fact` by its owners, and what each of them answers for its own facts.
macro_rules! owners {
    ($( $(#[$doc:meta])* $Owner:ident($facts:ident), )+) => {
        /// A fact, by the component that states it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Fact {
            $($(#[$doc])* $Owner($facts),)+
        }

        impl Fact {
            /// The names of all facts, grouped by component.
            pub fn names() -> impl Iterator<Item = &'static str> + Clone {
                [$($facts::NAMES),+].into_iter().flatten().copied()
            }

            /// One fact of every kind, about one object, for whoever must cover all kinds.
            #[must_use]
            pub fn samples() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($facts::samples().into_iter().map(Self::$Owner));)+
                all
            }

            /// The names of all facts, by where they happen.
            #[must_use]
            pub fn places() -> Vec<(&'static str, Vec<&'static str>)> {
                let mut places: Vec<(_, Vec<_>)> = Vec::new();
                for (place, names) in [$($facts::PLACES),+].concat() {
                    match places.iter_mut().find(|(known, _)| *known == place) {
                        Some((_, all)) => all.extend(names),
                        None => places.push((place, names.to_vec())),
                    }
                }
                places
            }

            /// The name of the fact's variant.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Owner(fact) => fact.name(),)+
                }
            }

            /// The key of the object that the fact is about, if any.
            #[must_use]
            pub fn key(&self) -> Option<&Key> {
                match self {
                    $(Self::$Owner(fact) => fact.key(),)+
                }
            }

            /// Approximate size of its heap data (lists and texts), in bytes.
            #[must_use]
            pub fn weight(&self) -> usize {
                match self {
                    $(Self::$Owner(fact) => fact.weight(),)+
                }
            }
        }
    };
}

owners! {
    /// Of the API server.
    Server(ServerFact),
    /// Of the reflector.
    Reflector(ReflectorFact),
    /// Of the queue, its lock and Pop.
    Queue(QueueFact),
    /// Of the store and its indices.
    Store(StoreFact),
    /// Of the shared processor and the handlers.
    Handlers(HandlersFact),
    /// Of the workqueue and its workers.
    Work(WorkFact),
    /// Of the program around the informer.
    Run(RunFact),
}

impl Fact {
    /// The type of the delta or entry that this fact reports as queued, if any.
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

/// A field of a fact: which object it names, its size, and what it is like.
///
/// If several fields of a fact name an object, the fact is about the last one.
trait Part: Sized {
    /// One as it may be.
    fn sample() -> Self;

    /// The key of the object that the field names.
    fn key(&self) -> Option<&Key> {
        None
    }

    /// Approximate size of the heap data that it owns alone, in bytes.
    fn weight(&self) -> usize {
        0
    }
}

/// Size of one object in a list.
const EACH: usize = size_of::<ObjectRef>();

macro_rules! plain {
    ($($type:ty = $sample:expr),+ $(,)?) => {
        $(impl Part for $type {
            fn sample() -> Self {
                $sample
            }
        })+
    };
}

plain!(
    bool = true,
    u8 = 1,
    u16 = 403,
    u32 = 3,
    u64 = 800,
    &'static str = "",
    Option<bool> = Some(true),
    Option<ObjectRef> = Some(ObjectRef { rv: "5".into(), ..Part::sample() }),
    Option<Known> = Some(Known::Yes("2".into())),
    Actor = Actor::Reflector,
    ApiErrorKind = ApiErrorKind::Expired,
    BackoffReason = BackoffReason::WatchEnded,
    DeltaType = DeltaType::Updated,
    EventType = EventType::Deleted,
    ListAgain = ListAgain::Expired,
    LockName = LockName::Queue,
    Printer = Printer::Handler(1),
    ProcessMode = ProcessMode::Held,
    Reason = Reason::Text("Forbidden".into()),
    Refusal = Refusal::AlreadyExists,
    Request = Request::Watch,
    Verb = Verb::Create,
    WatchEnd = WatchEnd::Cut,
    WorkPlace = WorkPlace::Queue,
    Vec<Arc<str>> = vec!["app".into(), "node".into()],
);

impl Part for Key {
    fn sample() -> Self {
        Self::from("default/web-1")
    }

    fn key(&self) -> Option<&Key> {
        Some(self)
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

impl Part for ObjectRef {
    fn sample() -> Self {
        Self {
            key: Part::sample(),
            shape: Shape::Object,
            rv: "7".into(),
            uid: "u1".into(),
        }
    }

    fn key(&self) -> Option<&Key> {
        Some(&self.key)
    }

    fn weight(&self) -> usize {
        self.key.len()
    }
}

impl Part for Arc<str> {
    fn sample() -> Self {
        "web".into()
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

impl Part for Body {
    fn sample() -> Self {
        Self::default()
    }

    fn weight(&self) -> usize {
        let labels = self.labels.iter();
        let labels: usize = labels.map(|(key, value)| key.len() + value.len()).sum();
        labels + self.node.len() + self.phase.len()
    }
}

impl Part for Arc<[ObjectRef]> {
    fn sample() -> Self {
        [Part::sample()].into()
    }

    fn weight(&self) -> usize {
        self.len() * EACH
    }
}

impl Part for Vec<(DeltaType, ObjectRef)> {
    fn sample() -> Self {
        vec![
            (DeltaType::Added, Part::sample()),
            (DeltaType::Updated, Part::sample()),
        ]
    }

    fn weight(&self) -> usize {
        self.len() * EACH
    }
}

impl Part for Entry {
    fn sample() -> Self {
        Self::Delta(Part::sample(), Part::sample())
    }

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
    fn sample() -> Self {
        Self::Update {
            old: Part::sample(),
            new: Part::sample(),
        }
    }

    fn key(&self) -> Option<&Key> {
        self.object().key()
    }

    fn weight(&self) -> usize {
        self.object().weight()
    }
}

impl NotificationRef {
    /// The object that the notification is about; for an update, the new one.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        match self {
            Self::Add { object, .. } | Self::Delete { object } => object,
            Self::Update { new, .. } => new,
        }
    }

    /// The handler's method that it calls.
    #[must_use]
    pub fn call(&self) -> &'static str {
        match self {
            Self::Add { .. } => "OnAdd",
            Self::Update { .. } => "OnUpdate",
            Self::Delete { .. } => "OnDelete",
        }
    }

    /// The type of the delta that notifies so.
    #[must_use]
    pub fn delta_type(&self) -> DeltaType {
        match self {
            Self::Add { .. } => DeltaType::Added,
            Self::Update { .. } => DeltaType::Updated,
            Self::Delete { .. } => DeltaType::Deleted,
        }
    }
}

/// The result of looking up a key in KnownObjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Found, with this version.
    Yes(Rv),
    /// Not found.
    No,
    /// The lookup failed.
    Failed,
}

/// One entry of a RealFIFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A change of one object.
    Delta(DeltaType, ObjectRef),
    /// A whole list.
    ReplacedAll {
        /// The list's version.
        rv: Rv,
        /// The list's objects.
        objects: Arc<[ObjectRef]>,
    },
    /// A whole resync.
    SyncAll,
    /// A newer resource version.
    Bookmark {
        /// The version.
        rv: Rv,
    },
}

impl Entry {
    /// The delta type of the entry.
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

/// The number of a fact in its recording, from 0. A run of several weeks exceeds 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub u64);

/// The cause of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Part of the initial state.
    Start,
    /// A spontaneous action of the source, from its traffic or its recording: the action's number,
    /// from 0.
    Source(u32),
    /// An entry of the scenario's script: its number in time order, from 0.
    Script(u32),
    /// An input of the user: its number, from 0.
    Input(u32),
    /// Another fact.
    Fact(FactId),
}

/// A fact with its position in the recording.
#[derive(Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// The fact's number.
    pub id: FactId,
    /// Virtual time of the fact, in ms since the start.
    pub time: u64,
    /// The actor.
    pub actor: Actor,
    /// The cause.
    pub cause: Cause,
    /// The step of the algorithm.
    pub step: Step,
    /// The fact itself.
    pub fact: Fact,
}

// Not derived: a derived clone is inlined, and the page would have one of seven KB for each crate.
impl Clone for FactRecord {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            time: self.time,
            actor: self.actor,
            cause: self.cause,
            step: self.step,
            fact: self.fact.clone(),
        }
    }
}
