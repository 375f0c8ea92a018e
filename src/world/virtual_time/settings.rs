//! The settings of a world, as data.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::bounds::MAX_TEXT;
use crate::fields::{Put, Read, Written, Wrong, moment, one_of};
use crate::{deserialize_by_fields, in_fields, named};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::ProcessMode;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::queue::TransformFunc;
use deltascope_cache::selector::Selector;

named! {
    /// The source of the queue's items.
    #[derive(Default)]
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
    #[derive(Default)]
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
    #[derive(Default)]
    pub enum ManualQueue {
        /// A DeltaFIFO: all deltas of a key.
        #[default]
        DeltaFifo = "DeltaFIFO",
        /// A FIFO: the newest object of a key.
        Fifo = "FIFO",
    }
}

/// Reads and writes them as their names in JSON.
macro_rules! in_words {
    ($($name:ident)*) => {$(
        impl Put for $name {
            fn written(&self) -> Value {
                self.id().into()
            }

            fn put(&self, name: &str, fields: &mut Written) {
                fields.some(name, (*self != Self::default()).then(|| self.written()));
            }
        }

        impl Read for $name {
            fn read(value: Value) -> Result<Self, Wrong> {
                one_of(&value, &Self::ALL.map(|one| (one.id(), one)))
            }
        }
    )*};
}

in_words! { SourceKind InformerKind ManualQueue }

impl InformerKind {
    /// Whether it is an informer, not a manual assembly.
    #[must_use]
    pub fn is_informer(self) -> bool {
        matches!(self, Self::Plain | Self::Shared)
    }

    /// Whether there is a queue, with its producer and its process loop.
    #[must_use]
    pub fn has_queue(self) -> bool {
        !matches!(self, Self::Indexer | Self::Client)
    }
}

in_fields! {
    /// How a world is built, and how it behaves.
    #[derive(Clone, Debug)]
    pub struct Settings: "settings", check {
        /// The seed of the scheduler's random choices.
        pub seed: u64 = "seed", plain;
        /// Let machines take turns at random (from the seed) instead of running each until it blocks.
        pub interleave: bool = "interleave", plain;
        /// The seed of the jitter on the reflector's backoffs and watch timeouts; without one there is no jitter,
        /// unlike in client-go.
        pub jitter: Option<u32> = "jitter", plain;
        /// The source of the queue's items.
        pub source: SourceKind = "feed", plain;
        /// The kind of informer behind the reflector.
        pub informer: InformerKind = "machinery", plain;
        /// The queue of a manual assembly.
        pub queue: ManualQueue = "queue", plain;
        /// The separator of namespace and name in the keys of an Indexer without a queue; a slash by default.
        pub key_separator: Option<Arc<str>> = "keySeparator", word;
        /// The lines printed by a program without handlers.
        pub prints: PrintSettings = "prints", inside;
        /// The client-go generation of the informer and its reflector. A program's is the newest; a scenario without
        /// one stays what it was when the first links were made.
        pub era: Generation = "era", plain or Generation::Classic;
        /// Whether the reflector begins with a streaming list; by default as in the generation.
        pub watch_list: Option<bool> = "watchList", plain;
        /// Whether the simulated server refuses streaming lists.
        pub refuses_streaming: bool = "refusesStreaming", plain;
        /// Whether the simulated server never sends the bookmark that ends the initial events of a
        /// streaming list.
        pub withholds_initial_events_end: bool = "withholdsInitialEventsEnd", plain;
        /// The label selector of the reflector's lists and watches, on the simulated server; `None` selects all
        /// objects.
        pub selector: Option<Selector> = "selector", plain;
        /// The keys of the objects that a list of the simulated server repeats.
        pub repeats: Vec<Arc<str>> = "repeats", name;
        /// The page size of lists; 0: client-go's default.
        pub page_size: u32 = "pageSize", plain;
        /// The resync period, in virtual ms; 0: never.
        pub resync_ms: u64 = "resyncMs", plain;
        /// Whether the queue uses the Indexer as KnownObjects, in a manual assembly.
        pub known_objects: bool = "knownObjects", plain;
        /// Whether the process function keeps an Indexer. An informer always does.
        pub store: bool = "store", plain;
        /// `EmitDeltaTypeReplaced`. An informer's queue always sets it.
        pub emit_delta_type_replaced: bool = "emitDeltaTypeReplaced", plain;
        /// The names of the Indexer's indices: `namespace`, `node`, any label, or (with a leading dot) the path
        /// of a field: `.spec.nodeName`.
        pub indices: Vec<Arc<str>> = "indices", word;
        /// The type in error messages, as client-go writes it; `*v1.Pod` by default.
        pub type_description: Option<Arc<str>> = "typeDescription", word;
        /// The mode of the process loop.
        pub mode: ProcessMode = "mode", plain;
        /// The transform of every object before it is queued (`SetTransform`), where there is a queue.
        pub transform: Option<TransformSettings> = "transform", inside;
        /// How long `process` takes for each notification, in virtual ms. It holds the queue's lock meanwhile,
        /// unless a RealFIFO releases it while processing.
        pub process_ms: u32 = "processMs", plain;
        /// The configured failure of the process function.
        pub process_fails: Option<ProcessFailure> = "processFails", inside;
        /// The process function uses the delta's type alone, as in the first programs of the lessons; else it
        /// checks whether the object exists, as `processDeltas` does.
        pub by_type: bool = "byType", plain;
        /// The handlers.
        pub handlers: Vec<HandlerSettings> = "handlers", inside;
        /// Whether a mutation detector watches the objects (`KUBE_CACHE_MUTATION_DETECTOR`).
        pub mutation_detector: bool = "mutationDetector", plain;
        /// The workers at a workqueue, where there is one.
        pub work: Option<WorkSettings> = "work", plain;
    }

    /// The effects of a transform, applied in this order.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TransformSettings: "a transform", check {
        /// Refuses objects with this label and value: `bad=true`.
        pub rejects: Option<Arc<str>> = "rejects", pair;
        /// Sets this label and value on every object: `team=a`.
        pub sets: Option<Arc<str>> = "sets", pair;
        /// Appends this to the value of this label: `seen=x`. Applying it twice differs from applying it once.
        pub appends: Option<Arc<str>> = "appends", pair;
    }

    /// The lines that a program prints, with `{type}`, `{name}`, `{rv}` and `{phase}` filled in.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PrintSettings: "what a program prints" {
        /// For each object of the program's own list.
        pub on_list: Vec<String> = "onList", lines;
        /// For each event of the program's own watch.
        pub on_event: Vec<String> = "onEvent", lines;
        /// After the program's informer has synced.
        pub on_sync: Vec<Arc<str>> = "onSync", lines;
    }

    /// The settings of a handler.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HandlerSettings: "a handler", check {
        /// Its name.
        pub name: Arc<str> = "name", word;
        /// Whether it runs inside `process`; else it has a buffer and a loop of its own. A plain informer's
        /// handlers always do, a shared informer's never.
        pub inline: bool = "inline", plain;
        /// How long it takes for each notification, in virtual ms (with a buffer only).
        pub latency_ms: u32 = "latencyMs", plain;
        /// The resync period that it asks for, in virtual ms; by default the informer's.
        pub resync_ms: Option<u64> = "resyncMs", plain;
        /// Only objects with this label and value reach it: `app=web`.
        pub filter: Option<Arc<str>> = "filter", pair;
        /// It panics on objects of this name (with a buffer only).
        pub panics_at: Option<Arc<str>> = "panicsAt", name;
        /// It writes this label and value into every object that it receives: `app=web`. The cache shares these
        /// objects.
        pub mutates: Option<Arc<str>> = "mutates", pair;
        /// Whether it adds the keys to the workqueue.
        pub queues: bool = "queues", plain;
        /// It calls the queue's `HasSynced` before it prints (inside `process` only): `{synced}` is filled in.
        pub calls_has_synced: bool = "callsHasSynced", plain;
        /// The lines it prints for an add: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in, for an update also
        /// `{oldRv}`. `{object}` is the name, and says of a tombstone that it is one.
        pub on_add: Vec<String> = "onAdd", lines;
        /// The lines it prints for an update.
        pub on_update: Vec<String> = "onUpdate", lines;
        /// The lines it prints for a delete.
        pub on_delete: Vec<String> = "onDelete", lines;
    }

    /// A configured failure of the process function.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ProcessFailure: "what a process function fails at" {
        /// The name of the objects at which it fails.
        pub at: Arc<str> = "at", needed_name;
        /// How often it fails before it succeeds.
        pub times: u8 = "times", plain or 1;
        /// Whether it asks for a requeue (`ErrRequeue`). Only a DeltaFIFO up to 1.32 can do that.
        pub requeue: bool = "requeue", plain;
    }

    /// The workers of a workqueue.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WorkSettings: "a workqueue" {
        /// The number of workers.
        pub workers: u8 = "workers", plain or 1;
        /// How long a worker takes for a key, in virtual ms.
        pub latency_ms: u32 = "latencyMs", plain;
        /// How often a key fails before it succeeds.
        pub failures: u32 = "failures", plain;
    }
}

impl HandlerSettings {
    fn check(&self) -> Result<(), Wrong> {
        self.resync_ms.map(moment).transpose()?;
        Ok(())
    }
}

impl TransformSettings {
    fn check(&self) -> Result<(), Wrong> {
        for (name, pair) in [
            ("rejects", &self.rejects),
            ("sets", &self.sets),
            ("appends", &self.appends),
        ] {
            if let Some(pair) = pair.as_ref().filter(|pair| !pair.contains('=')) {
                let message = format!(
                    "a transform, field {name:?}: {pair:?} is no label with a value; write \"label=value\""
                );
                return Err(Wrong::at(name, message));
            }
        }
        Ok(())
    }

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

impl Settings {
    /// Whether the queue is a FIFO, which a program fills.
    #[must_use]
    pub fn has_fifo(&self) -> bool {
        self.informer == InformerKind::Manual
            && self.queue == ManualQueue::Fifo
            && self.source == SourceKind::Program
    }

    /// Refuses a resync period that is too long, and settings that a FIFO does not support.
    fn check(&self) -> Result<(), Wrong> {
        moment(self.resync_ms)?;
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
        self.informer.is_informer()
    }

    /// Whether the reflector begins with a streaming list.
    #[must_use]
    pub fn streams(&self) -> bool {
        let by_default = self.is_informer()
            && matches!(self.source, SourceKind::Server | SourceKind::Cluster)
            && self.era.watch_list_by_default();
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
            InformerKind::Plain | InformerKind::Shared => self.era != Generation::Atomic,
        }
    }

    /// Whether client-go itself keeps a version of the store.
    #[must_use]
    pub fn keeps_resource_version(&self) -> bool {
        self.is_informer() && self.era.keeps_store_resource_version()
    }
}

/// The parts of `label=value`.
pub(super) fn label_and_value(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, ""))
}

/// The generation of a version of Kubernetes, from 1.0 on.
///
/// # Errors
/// The text is no such version.
pub fn era(text: &str) -> Result<Generation, String> {
    Generation::from_version(text).ok_or_else(|| {
        let versions = Generation::VERSIONS.join(", ");
        format!("era {text:?} is not known; write one of {versions}")
    })
}

/// The text of a mode: `free`, `held`, or a pause in ms.
#[must_use]
pub fn mode_text(mode: ProcessMode) -> String {
    match mode {
        ProcessMode::Free => "free".to_owned(),
        ProcessMode::Held => "held".to_owned(),
        ProcessMode::Paced(ms) => ms.to_string(),
    }
}

/// The mode of this text.
#[must_use]
pub fn mode(text: &str) -> Option<ProcessMode> {
    mode_named(text).or_else(|| text.parse().ok().map(ProcessMode::Paced))
}

fn mode_named(text: &str) -> Option<ProcessMode> {
    let named = [ProcessMode::Free, ProcessMode::Held];
    named.into_iter().find(|mode| mode_text(*mode) == text)
}

impl Read for Generation {
    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(era(&String::read(value)?)?)
    }
}

impl Read for ProcessMode {
    fn read(value: Value) -> Result<Self, Wrong> {
        let pause = value.as_u64().and_then(|ms| ms.try_into().ok());
        let mode = value.as_str().and_then(mode_named);
        mode.or(pause.map(Self::Paced)).ok_or_else(|| {
            format!("mode {value} is not known; write \"free\", \"held\" or a pause in ms").into()
        })
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

impl Put for Generation {
    fn written(&self) -> Value {
        self.version().into()
    }
}

impl Put for ProcessMode {
    fn written(&self) -> Value {
        match self {
            Self::Paced(ms) => (*ms).into(),
            Self::Free | Self::Held => mode_text(*self).into(),
        }
    }

    fn put(&self, name: &str, fields: &mut Written) {
        fields.some(name, (*self != Self::default()).then(|| self.written()));
    }
}

impl Put for Selector {
    fn written(&self) -> Value {
        self.to_string().into()
    }
}

deserialize_by_fields!(Settings, HandlerSettings);
