//! The settings of a world, as data.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::bounds::MAX_TEXT;
use crate::deserialize_by_fields;
use crate::fields::{Fields, Read, Wrong, moment, one_of};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::ProcessMode;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::queue::TransformFunc;
use deltascope_cache::selector::Selector;

/// Declares enums with the word of each variant in JSON.
macro_rules! in_words {
    ($(
        $(#[$of:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }
    )*) => {$(
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The word in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl Read for $name {
            fn read(value: Value) -> Result<Self, Wrong> {
                one_of(&value, &[$(($word, Self::$variant)),*])
            }
        }
    )*};
}

in_words! {
    /// The source of the queue's items.
    pub enum SourceKind {
        /// A simulated API server, through a reflector.
        #[default]
        Server = "server",
        /// A recording of a real API server, through a reflector.
        Recorded = "recorded",
        /// A real cluster, or the recorded responses of one, through a reflector.
        Cluster = "cluster",
        /// A program that calls the queue itself: no server, no reflector.
        Program = "program",
    }

    /// The kind of informer behind the reflector.
    pub enum InformerKind {
        /// A DeltaFIFO and a process function, assembled by hand as in the first programs of the lessons; the
        /// generation has no effect here.
        #[default]
        Manual = "handMade",
        /// `NewInformer`: the process loop calls the handlers itself.
        Plain = "plain",
        /// A shared informer: every handler has its own listener.
        Shared = "shared",
        /// No queue: a program writes to an Indexer itself.
        Indexer = "indexer",
        /// Neither queue nor Indexer: a program lists and watches, and prints the results.
        Client = "client",
    }

    /// The queue of a manual assembly.
    pub enum ManualQueue {
        /// A DeltaFIFO: all deltas of a key.
        #[default]
        DeltaFifo = "DeltaFIFO",
        /// A FIFO: the newest object of a key.
        Fifo = "FIFO",
    }
}

impl InformerKind {
    /// Whether there is a queue, with its producer and its process loop.
    #[must_use]
    pub fn has_queue(self) -> bool {
        !matches!(self, Self::Indexer | Self::Client)
    }
}

/// How a world is built, and how it behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The seed of the scheduler's random choices.
    pub seed: u64,
    /// Let machines take turns at random (from the seed) instead of running each until it blocks.
    pub interleave: bool,
    /// The seed of the jitter on the reflector's backoffs and watch timeouts; without one there is no jitter,
    /// unlike in client-go.
    pub jitter: Option<u32>,
    /// The source of the queue's items.
    pub source: SourceKind,
    /// The kind of informer behind the reflector.
    pub informer: InformerKind,
    /// The queue of a manual assembly.
    pub queue: ManualQueue,
    /// The separator of namespace and name in the keys of an Indexer without a queue; a slash by default.
    pub key_separator: Option<Arc<str>>,
    /// The lines printed by a program without handlers.
    pub prints: PrintSettings,
    /// The client-go generation of the informer and its reflector.
    pub era: Era,
    /// Whether the reflector begins with a streaming list; by default as in the generation.
    pub watch_list: Option<bool>,
    /// Whether the simulated server refuses streaming lists.
    pub refuses_streaming: bool,
    /// Whether the simulated server never sends the bookmark that ends the initial events of a
    /// streaming list.
    pub withholds_initial_events_end: bool,
    /// The label selector of the reflector's lists and watches, on the simulated server; `None` selects all
    /// objects.
    pub selector: Option<Selector>,
    /// The keys of the objects that a list of the simulated server repeats.
    pub repeats: Vec<Arc<str>>,
    /// The page size of lists; 0: client-go's default.
    pub page_size: u32,
    /// The resync period, in virtual ms; 0: never.
    pub resync_ms: u64,
    /// Whether the queue uses the Indexer as KnownObjects, in a manual assembly.
    pub known_objects: bool,
    /// Whether the process function keeps an Indexer. An informer always does.
    pub store: bool,
    /// `EmitDeltaTypeReplaced`. An informer's queue always sets it.
    pub emit_delta_type_replaced: bool,
    /// The names of the Indexer's indices: `namespace`, `node`, any label, or (with a leading dot) the path
    /// of a field: `.spec.nodeName`.
    pub indices: Vec<Arc<str>>,
    /// The type in error messages, as client-go writes it; `*v1.Pod` by default.
    pub type_description: Option<Arc<str>>,
    /// The mode of the process loop.
    pub mode: ProcessModeText,
    /// The transform of every object before it is queued (`SetTransform`), where there is a queue.
    pub transform: Option<TransformSettings>,
    /// How long `process` takes for each notification, in virtual ms. It holds the queue's lock meanwhile,
    /// unless a RealFIFO releases it while processing.
    pub process_ms: u32,
    /// The configured failure of the process function.
    pub process_fails: Option<ProcessFailure>,
    /// The process function uses the delta's type alone, as in the first programs of the lessons; else it
    /// checks whether the object exists, as `processDeltas` does.
    pub by_type: bool,
    /// The handlers.
    pub handlers: Vec<HandlerSettings>,
    /// Whether a mutation detector watches the objects (`KUBE_CACHE_MUTATION_DETECTOR`).
    pub mutation_detector: bool,
    /// The workers at a workqueue, where there is one.
    pub work: Option<WorkSettings>,
}

/// The effects of a transform, applied in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransformSettings {
    /// Refuses objects with this label and value: `bad=true`.
    pub rejects: Option<Arc<str>>,
    /// Sets this label and value on every object: `team=a`.
    pub sets: Option<Arc<str>>,
    /// Appends this to the value of this label: `seen=x`. Applying it twice differs from applying it once.
    pub appends: Option<Arc<str>>,
}

impl TransformSettings {
    /// The transform as a function for a queue and a reflector.
    pub(super) fn func(&self) -> TransformFunc<DynamicObject> {
        let Self {
            rejects,
            sets,
            appends,
        } = self.clone();
        Arc::new(move |item| {
            // Up to 0.24, client-go passed tombstones to the transform, too.
            let Item::Object(before) = &item else {
                return Ok(item);
            };
            let has = |pair: &str| {
                let (label, value) = label_and_value(pair);
                before.labels().get(label).is_some_and(|has| has == value)
            };
            if let Some(pair) = rejects.as_deref().filter(|pair| has(pair)) {
                return Err(format!("the transform rejects {pair}"));
            }
            let mut object = DynamicObject::clone(before);
            let labels = object.metadata.labels.get_or_insert_default();
            if let Some((label, value)) = sets.as_deref().map(label_and_value) {
                labels.insert(label.to_owned(), value.to_owned());
            }
            if let Some((label, value)) = appends.as_deref().map(label_and_value) {
                let text = labels.entry(label.to_owned()).or_default();
                // An object that is transformed often would grow forever.
                if text.len() + value.len() <= MAX_TEXT {
                    text.push_str(value);
                }
            }
            let same = object.labels() == before.labels();
            Ok(if same { item } else { Item::object(object) })
        })
    }
}

/// A configured failure of the process function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFailure {
    /// The name of the objects at which it fails.
    pub at: Arc<str>,
    /// How often it fails before it succeeds.
    pub times: u8,
    /// Whether it asks for a requeue (`ErrRequeue`). Only a DeltaFIFO up to 1.32 can do that.
    pub requeue: bool,
}

/// The lines that a program prints, with `{type}`, `{name}`, `{rv}` and `{phase}` filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintSettings {
    /// For each object of the program's own list.
    pub on_list: Vec<String>,
    /// For each event of the program's own watch.
    pub on_event: Vec<String>,
    /// After the program's informer has synced.
    pub on_sync: Vec<Arc<str>>,
}

impl Settings {
    /// Whether the queue is a FIFO, which a program fills.
    #[must_use]
    pub fn has_fifo(&self) -> bool {
        self.informer == InformerKind::Manual
            && self.queue == ManualQueue::Fifo
            && self.source == SourceKind::Program
    }

    /// Refuses settings that a FIFO does not support.
    fn check_fifo(&self) -> Result<(), Wrong> {
        if self.queue == ManualQueue::DeltaFifo {
            return Ok(());
        }
        let no = |what: &str| {
            let message = format!("settings, field \"queue\": a FIFO {what}");
            Err(Wrong::at("queue", message))
        };
        if self.informer != InformerKind::Manual {
            return no("is in no informer; leave \"machinery\" out, or \"queue\"");
        }
        if self.source != SourceKind::Program {
            return no("is filled by a program here; write feed = \"program\"");
        }
        for (on, name) in [
            (self.known_objects, "knownObjects"),
            (self.emit_delta_type_replaced, "emitDeltaTypeReplaced"),
            (self.by_type, "byType"),
            (self.transform.is_some(), "transform"),
            (self.process_fails.is_some(), "processFails"),
        ] {
            if on {
                return no(&format!("goes without {name:?} here; leave that out"));
            }
        }
        Ok(())
    }

    /// Whether a transform rejects objects.
    #[must_use]
    pub fn rejects(&self) -> bool {
        let transform = self.transform.as_ref();
        transform.is_some_and(|transform| transform.rejects.is_some())
    }

    /// Whether it is an informer, not a manual assembly.
    #[must_use]
    pub fn is_informer(&self) -> bool {
        matches!(self.informer, InformerKind::Plain | InformerKind::Shared)
    }

    /// Whether the reflector begins with a streaming list.
    #[must_use]
    pub fn streams(&self) -> bool {
        let by_default = self.is_informer()
            && matches!(self.source, SourceKind::Server | SourceKind::Cluster)
            && self.era.0.watch_list_by_default();
        self.watch_list.unwrap_or(by_default)
    }

    /// Fixes whether the reflector begins with a streaming list. A cluster's recorded responses answer the
    /// original requests, so another generation must send the same ones.
    pub(crate) fn asked_as_before(&mut self) {
        if self.source == SourceKind::Cluster {
            self.watch_list = Some(self.streams());
        }
    }

    /// The type in error messages.
    #[must_use]
    pub fn type_description(&self) -> Arc<str> {
        let given = self.type_description.as_ref().map(Arc::clone);
        given.unwrap_or_else(|| "*v1.Pod".into())
    }

    /// The transform of every object before it is queued.
    #[must_use]
    pub(crate) fn transform_func(&self) -> Option<TransformFunc<DynamicObject>> {
        self.transform.as_ref().map(TransformSettings::func)
    }

    /// Whether the queue uses KnownObjects at the start.
    #[must_use]
    pub(crate) fn knows_objects(&self) -> bool {
        match self.informer {
            InformerKind::Manual => self.known_objects && !self.has_fifo(),
            InformerKind::Indexer | InformerKind::Client => false,
            // The consumer detects objects that are missing from a list.
            InformerKind::Plain | InformerKind::Shared => self.era.0 != Generation::Atomic,
        }
    }

    /// Whether client-go itself keeps a version of the store.
    #[must_use]
    pub fn keeps_resource_version(&self) -> bool {
        self.is_informer() && self.era.0.keeps_store_resource_version()
    }
}

/// The parts of `label=value`.
pub(super) fn label_and_value(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, ""))
}

/// The [`Generation`] of a scenario; in JSON `"1.32"`, or any other version of Kubernetes from 1.0 on.
///
/// A type of its own for its default. A program's informer is of the newest generation; a scenario without `era`
/// stays what it was when the first links were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era(pub Generation);

impl Default for Era {
    fn default() -> Self {
        Self(Generation::Classic)
    }
}

impl TryFrom<Arc<str>> for Era {
    type Error = String;

    fn try_from(text: Arc<str>) -> Result<Self, String> {
        Generation::from_version(&text).map(Self).ok_or_else(|| {
            let versions = Generation::VERSIONS.join(", ");
            format!("era {text:?} is not known; write one of {versions}")
        })
    }
}

/// The settings of a handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerSettings {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it runs inside `process`; else it has a buffer and a loop of its own. A plain informer's
    /// handlers always do, a shared informer's never.
    pub inline: bool,
    /// How long it takes for each notification, in virtual ms (with a buffer only).
    pub latency_ms: u32,
    /// The resync period that it asks for, in virtual ms; by default the informer's.
    pub resync_ms: Option<u64>,
    /// Only objects with this label and value reach it: `app=web`.
    pub filter: Option<Arc<str>>,
    /// It panics on objects of this name (with a buffer only).
    pub panics_at: Option<Arc<str>>,
    /// It writes this label and value into every object that it receives: `app=web`. The cache shares these
    /// objects.
    pub mutates: Option<Arc<str>>,
    /// Whether it adds the keys to the workqueue.
    pub queues: bool,
    /// It calls the queue's `HasSynced` before it prints (inside `process` only): `{synced}` is filled in.
    pub calls_has_synced: bool,
    /// The lines it prints for an add: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in.
    pub on_add: Vec<String>,
    /// The lines it prints for an update.
    pub on_update: Vec<String>,
    /// The lines it prints for a delete.
    pub on_delete: Vec<String>,
}

/// The workers of a workqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSettings {
    /// The number of workers.
    pub workers: u8,
    /// How long a worker takes for a key, in virtual ms.
    pub latency_ms: u32,
    /// How often a key fails before it succeeds.
    pub failures: u32,
}

impl Default for WorkSettings {
    fn default() -> Self {
        Self {
            workers: 1,
            latency_ms: 0,
            failures: 0,
        }
    }
}

/// A [`ProcessMode`] as written in JSON: `"free"`, `"held"`, or a pause in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessModeText(pub ProcessMode);

const FREE: &str = "free";
const HELD: &str = "held";

fn mode_named(text: &str) -> Option<ProcessModeText> {
    match text {
        FREE => Some(ProcessModeText(ProcessMode::Free)),
        HELD => Some(ProcessModeText(ProcessMode::Held)),
        _ => None,
    }
}

impl TryFrom<Value> for ProcessModeText {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let pause = value.as_u64().and_then(|ms| ms.try_into().ok());
        let paced = pause.map(|ms| Self(ProcessMode::Paced(ms)));
        let mode = value.as_str().and_then(mode_named).or(paced);
        mode.ok_or_else(|| {
            format!("mode {value} is not known; write \"free\", \"held\" or a pause in ms")
        })
    }
}

impl From<ProcessModeText> for Value {
    fn from(mode: ProcessModeText) -> Self {
        match mode.0 {
            ProcessMode::Paced(ms) => ms.into(),
            ProcessMode::Free | ProcessMode::Held => mode.to_string().into(),
        }
    }
}

impl fmt::Display for ProcessModeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ProcessMode::Free => f.write_str(FREE),
            ProcessMode::Held => f.write_str(HELD),
            ProcessMode::Paced(ms) => ms.fmt(f),
        }
    }
}

/// Fails if the text is no mode.
impl FromStr for ProcessModeText {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match mode_named(text) {
            Some(mode) => Ok(mode),
            None => text.parse().map(|ms| Self(ProcessMode::Paced(ms))),
        }
    }
}

impl Read for Era {
    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(Arc::read(value)?.try_into()?)
    }
}

impl Read for ProcessModeText {
    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(value.try_into()?)
    }
}

impl Read for Selector {
    fn read(value: Value) -> Result<Self, Wrong> {
        let text = String::read(value)?;
        Self::parse(&text).map_err(|error| {
            format!("{text:?} is no label selector: {error}; write one, as app=web").into()
        })
    }
}

impl Read for Settings {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("settings", value)?;
        let read = Self {
            seed: fields.get("seed")?,
            interleave: fields.get("interleave")?,
            jitter: fields.get("jitter")?,
            source: fields.get("feed")?,
            informer: fields.get("machinery")?,
            queue: fields.get("queue")?,
            key_separator: fields.name("keySeparator")?,
            prints: fields.get("prints")?,
            era: fields.get("era")?,
            watch_list: fields.get("watchList")?,
            refuses_streaming: fields.get("refusesStreaming")?,
            withholds_initial_events_end: fields.get("withholdsInitialEventsEnd")?,
            selector: fields.get("selector")?,
            repeats: fields.name("repeats")?,
            page_size: fields.get("pageSize")?,
            resync_ms: moment(fields.get("resyncMs")?)?,
            known_objects: fields.get("knownObjects")?,
            store: fields.get("store")?,
            emit_delta_type_replaced: fields.get("emitDeltaTypeReplaced")?,
            indices: fields.name("indices")?,
            type_description: fields.name("typeDescription")?,
            mode: fields.get("mode")?,
            transform: fields.get("transform")?,
            process_ms: fields.get("processMs")?,
            process_fails: fields.get("processFails")?,
            by_type: fields.get("byType")?,
            handlers: fields.get("handlers")?,
            mutation_detector: fields.get("mutationDetector")?,
            work: fields.get("work")?,
        };
        fields.done()?;
        read.check_fifo()?;
        Ok(read)
    }
}

impl Read for TransformSettings {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a transform", value)?;
        let mut pair = |name| {
            let pair: Option<Arc<str>> = fields.name(name)?;
            match pair {
                Some(pair) if !pair.contains('=') => Err(Wrong::at(
                    name,
                    format!(
                        "a transform, field {name:?}: {pair:?} is no label with a value; write \"label=value\""
                    ),
                )),
                pair => Ok(pair),
            }
        };
        let read = Self {
            rejects: pair("rejects")?,
            sets: pair("sets")?,
            appends: pair("appends")?,
        };
        fields.done()?;
        Ok(read)
    }
}

impl Read for ProcessFailure {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("what a process function fails at", value)?;
        let read = Self {
            at: fields.need_name("at")?,
            times: fields.get::<Option<u8>>("times")?.unwrap_or(1),
            requeue: fields.get("requeue")?,
        };
        fields.done()?;
        Ok(read)
    }
}

impl Read for PrintSettings {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("what a program prints", value)?;
        let read = Self {
            on_list: fields.lines("onList")?,
            on_event: fields.lines("onEvent")?,
            on_sync: fields.lines("onSync")?,
        };
        fields.done()?;
        Ok(read)
    }
}

impl Read for HandlerSettings {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a handler", value)?;
        let read = Self {
            name: fields.name("name")?,
            inline: fields.get("inline")?,
            latency_ms: fields.get("latencyMs")?,
            resync_ms: fields
                .get::<Option<u64>>("resyncMs")?
                .map(moment)
                .transpose()?,
            filter: fields.name("filter")?,
            panics_at: fields.name("panicsAt")?,
            mutates: fields.name("mutates")?,
            queues: fields.get("queues")?,
            calls_has_synced: fields.get("callsHasSynced")?,
            on_add: fields.lines("onAdd")?,
            on_update: fields.lines("onUpdate")?,
            on_delete: fields.lines("onDelete")?,
        };
        fields.done()?;
        Ok(read)
    }
}

impl Read for WorkSettings {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a workqueue", value)?;
        let read = Self {
            workers: fields.get::<Option<u8>>("workers")?.unwrap_or(1),
            latency_ms: fields.get("latencyMs")?,
            failures: fields.get("failures")?,
        };
        fields.done()?;
        Ok(read)
    }
}

deserialize_by_fields!(Settings, HandlerSettings);
