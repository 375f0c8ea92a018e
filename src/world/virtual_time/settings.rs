//! How a world is built, as data.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::bounds::MAX_TEXT;
use crate::deserialize_by_fields;
use crate::fields::{Fields, Read, moment, one_of};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::ProcessMode;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::queue::TransformFunc;
use deltascope_cache::selector::Selector;

use super::handlers::label_and_value;

/// What feeds the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SourceKind {
    /// A simulated API server, through a reflector.
    #[default]
    Server,
    /// A recording of a real API server, through a reflector.
    Recorded,
    /// A real cluster, or what one has told, through a reflector.
    Cluster,
    /// A program that calls the queue itself: no server, no reflector.
    Program,
}

/// What stands behind the reflector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InformerKind {
    /// A DeltaFIFO and a process function, put together by hand as the first programs of the lessons
    /// do; the generation says nothing here.
    #[default]
    Manual,
    /// `NewInformer`: the process loop calls the handlers itself.
    Plain,
    /// A shared informer: every handler has a listener of its own.
    Shared,
    /// No queue: a program writes to an Indexer itself.
    Indexer,
    /// Neither queue nor Indexer: a program lists and watches itself, and prints what it gets.
    Client,
}

/// The queue of what is put together by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ManualQueue {
    /// Everything that happened to a key.
    #[default]
    DeltaFifo,
    /// Its newest object.
    Fifo,
}

impl InformerKind {
    /// Whether there is a queue, and whatever feeds and empties it.
    #[must_use]
    pub fn has_queue(self) -> bool {
        !matches!(self, Self::Indexer | Self::Client)
    }
}

/// What is built, and how it behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What the scheduler's choices follow from, where it has any.
    pub seed: u64,
    /// Let machines take turns at random (from the seed) instead of each running until it blocks.
    pub interleave: bool,
    /// What the reflector's pauses and the timeouts of its watches are spread by, as client-go's are; left
    /// out, they are not.
    pub jitter: Option<u32>,
    /// What feeds the queue.
    pub source: SourceKind,
    /// What stands behind the reflector.
    pub informer: InformerKind,
    /// The queue, where it is put together by hand.
    pub queue: ManualQueue,
    /// What stands between namespace and name in the keys of an Indexer without a queue; a slash
    /// where it is left out.
    pub key_separator: Option<Arc<str>>,
    /// What a program prints that has no handlers.
    pub prints: PrintSettings,
    /// Whose behaviour the informer and its reflector have.
    pub era: Era,
    /// Whether the reflector begins with a streaming list; left out, as the generation does.
    pub watch_list: Option<bool>,
    /// Whether the simulated server refuses streaming lists.
    pub refuses_streaming: bool,
    /// Whether the simulated server never sends the bookmark that ends the initial events of a
    /// streaming list.
    pub withholds_initial_events_end: bool,
    /// The label selector of the reflector's lists and watches, on the simulated server; left out, all
    /// objects are asked for.
    pub selector: Option<Selector>,
    /// The keys of the objects that a list of the simulated server names twice.
    pub repeats: Vec<Arc<str>>,
    /// The most objects of a page of a list; 0: as many as client-go asks for.
    pub page_size: u32,
    /// How often the informer resyncs, in virtual ms; 0: never.
    pub resync_ms: u64,
    /// Whether the queue can ask the Indexer. An informer's queue always can.
    pub known_objects: bool,
    /// Whether the process function keeps an Indexer. An informer's always does.
    pub store: bool,
    /// `EmitDeltaTypeReplaced`. An informer's queue always does.
    pub emit_delta_type_replaced: bool,
    /// The Indexer's indices, by name: `namespace`, `node`, any label, or (with a dot in front) the path
    /// of a field: `.spec.nodeName`.
    pub indices: Vec<Arc<str>>,
    /// What is listed, for the texts of errors, as client-go writes it; left out, `*v1.Pod`.
    pub type_description: Option<Arc<str>>,
    /// How the process loop runs.
    pub mode: ProcessModeText,
    /// What every object goes through before it is queued (`SetTransform`), where there is a queue.
    pub transform: Option<TransformSettings>,
    /// How long `process` takes for each notification, in virtual ms; the queue's lock is held
    /// meanwhile, unless a RealFIFO gives it back while processing.
    pub process_ms: u32,
    /// At what the process function fails.
    pub process_fails: Option<ProcessFailure>,
    /// The process function goes by the delta's type alone, as the first programs of the lessons
    /// do; else it looks whether the object exists, as `processDeltas` does.
    pub by_type: bool,
    /// Who is told.
    pub handlers: Vec<HandlerSettings>,
    /// Whether a mutation detector watches the objects (`KUBE_CACHE_MUTATION_DETECTOR`).
    pub mutation_detector: bool,
    /// The workers at a workqueue, where there is one.
    pub work: Option<WorkSettings>,
}

/// What a transform does; the first that applies comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransformSettings {
    /// It refuses objects with this label and value: `bad=true`.
    pub rejects: Option<Arc<str>>,
    /// It gives every object this label and value: `team=a`.
    pub sets: Option<Arc<str>>,
    /// It appends this to the value of this label: `seen=x`. Twice is not the same as once.
    pub appends: Option<Arc<str>>,
}

impl TransformSettings {
    /// As a queue and a reflector take it.
    pub(super) fn func(&self) -> TransformFunc<DynamicObject> {
        let Self {
            rejects,
            sets,
            appends,
        } = self.clone();
        Arc::new(move |item| {
            // Up to client-go 0.24 it would be given tombstones, too.
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
                // What went through it often would grow for ever.
                if text.len() + value.len() <= MAX_TEXT {
                    text.push_str(value);
                }
            }
            let same = object.labels() == before.labels();
            Ok(if same { item } else { Item::object(object) })
        })
    }
}

/// At what a process function fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFailure {
    /// At objects of this name.
    pub at: Arc<str>,
    /// So many times; after that it goes well.
    pub times: u8,
    /// It asks for what was popped again (`ErrRequeue`), as long as there is somebody to ask: a
    /// DeltaFIFO up to 1.32.
    pub requeue: bool,
}

/// The lines of a program, with `{type}`, `{name}`, `{rv}` and `{phase}` filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintSettings {
    /// For each object of a list that it asked for itself.
    pub on_list: Vec<String>,
    /// For each event of a watch that it asked for itself.
    pub on_event: Vec<String>,
    /// Once its informer has synced.
    pub on_sync: Vec<Arc<str>>,
}

impl Settings {
    /// Whether the queue is a FIFO, which a program feeds.
    #[must_use]
    pub fn has_fifo(&self) -> bool {
        self.informer == InformerKind::Manual
            && self.queue == ManualQueue::Fifo
            && self.source == SourceKind::Program
    }

    /// What cannot be together with a FIFO.
    fn check_fifo(&self) -> Result<(), String> {
        if self.queue == ManualQueue::DeltaFifo {
            return Ok(());
        }
        let no = |what: &str| Err(format!("settings, field \"queue\": a FIFO {what}"));
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

    /// Whether an informer stands behind the reflector.
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

    /// What a cluster has told answers the requests that were made: in another generation the reflector
    /// begins with a streaming list, or with none, as it did.
    pub fn asked_as_before(&mut self) {
        if self.source == SourceKind::Cluster {
            self.watch_list = Some(self.streams());
        }
    }

    /// What is listed, for the texts of errors.
    #[must_use]
    pub fn type_description(&self) -> Arc<str> {
        let given = self.type_description.as_ref().map(Arc::clone);
        given.unwrap_or_else(|| "*v1.Pod".into())
    }

    /// What every object goes through before it is queued.
    #[must_use]
    pub fn transform_func(&self) -> Option<TransformFunc<DynamicObject>> {
        self.transform.as_ref().map(TransformSettings::func)
    }

    /// Whether the queue asks the Indexer from the start.
    #[must_use]
    pub fn knows_objects(&self) -> bool {
        match self.informer {
            InformerKind::Manual => self.known_objects && !self.has_fifo(),
            InformerKind::Indexer | InformerKind::Client => false,
            // The consumer works out what is missing from a list.
            InformerKind::Plain | InformerKind::Shared => self.era.0 != Generation::Atomic,
        }
    }

    /// Whether the store's version is client-go's own.
    #[must_use]
    pub fn keeps_resource_version(&self) -> bool {
        self.is_informer() && self.era.0.keeps_store_resource_version()
    }
}

/// A [`Generation`] as data writes it: `"1.32"`, or any other version of Kubernetes from 1.0 on.
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
        Generation::from_version(&text)
            .map(Self)
            .ok_or_else(|| format!("era {text:?} is not known; write 1.32, 1.34, 1.35 or 1.36"))
    }
}

/// One handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerSettings {
    /// Its name.
    pub name: Arc<str>,
    /// It runs inside `process`; else it has a buffer and a loop of its own. A plain informer's
    /// always does, a shared informer's never.
    pub inline: bool,
    /// How long it takes for each notification, in virtual ms (with a buffer only).
    pub latency_ms: u32,
    /// How often it wants to be told everything again, in virtual ms; left out, as often as the
    /// informer resyncs.
    pub resync_ms: Option<u64>,
    /// It is told only of objects with this label and value: `app=web`.
    pub filter: Option<Arc<str>>,
    /// It panics at objects of this name (with a buffer only).
    pub panics_at: Option<Arc<str>>,
    /// It writes this label and value into every object it is told of: `app=web`. Everybody shares
    /// these objects.
    pub mutates: Option<Arc<str>>,
    /// It adds the keys to the workqueue.
    pub queues: bool,
    /// It asks the queue's `HasSynced` before it prints (inside `process` only): `{synced}` is filled in.
    pub calls_has_synced: bool,
    /// The lines it prints: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in.
    pub on_add: Vec<String>,
    /// The same for an update.
    pub on_update: Vec<String>,
    /// The same for a delete.
    pub on_delete: Vec<String>,
}

/// Workers that take keys from a workqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSettings {
    /// How many.
    pub workers: u8,
    /// How long one takes for a key, in virtual ms.
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

/// A [`ProcessMode`] as data writes it: `"free"`, `"held"`, or a pause in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessModeText(pub ProcessMode);

impl TryFrom<Value> for ProcessModeText {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let pause = value.as_u64().and_then(|ms| ms.try_into().ok());
        match (value.as_str(), pause) {
            (Some("free"), _) => Ok(Self(ProcessMode::Free)),
            (Some("held"), _) => Ok(Self(ProcessMode::Held)),
            (_, Some(ms)) => Ok(Self(ProcessMode::Paced(ms))),
            _ => Err(format!(
                "mode {value} is not known; write \"free\", \"held\" or a pause in ms"
            )),
        }
    }
}

impl Read for SourceKind {
    fn read(value: Value) -> Result<Self, String> {
        let words = [
            ("server", Self::Server),
            ("recorded", Self::Recorded),
            ("cluster", Self::Cluster),
            ("program", Self::Program),
        ];
        one_of(&value, &words)
    }
}

impl Read for InformerKind {
    fn read(value: Value) -> Result<Self, String> {
        let words = [
            ("handMade", Self::Manual),
            ("plain", Self::Plain),
            ("shared", Self::Shared),
            ("indexer", Self::Indexer),
            ("client", Self::Client),
        ];
        one_of(&value, &words)
    }
}

impl Read for ManualQueue {
    fn read(value: Value) -> Result<Self, String> {
        one_of(
            &value,
            &[("DeltaFIFO", Self::DeltaFifo), ("FIFO", Self::Fifo)],
        )
    }
}

impl Read for Era {
    fn read(value: Value) -> Result<Self, String> {
        Arc::read(value)?.try_into()
    }
}

impl Read for ProcessModeText {
    fn read(value: Value) -> Result<Self, String> {
        value.try_into()
    }
}

impl Read for Selector {
    fn read(value: Value) -> Result<Self, String> {
        let text = String::read(value)?;
        Self::parse(&text).map_err(|error| {
            format!("{text:?} is no label selector: {error}; write one, as app=web")
        })
    }
}

impl Read for Settings {
    fn read(value: Value) -> Result<Self, String> {
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
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of("a transform", value)?;
        let mut pair = |name| {
            let pair: Option<Arc<str>> = fields.name(name)?;
            match pair {
                Some(pair) if !pair.contains('=') => Err(format!(
                    "a transform, field {name:?}: {pair:?} is no label with a value; write \"label=value\""
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
    fn read(value: Value) -> Result<Self, String> {
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
    fn read(value: Value) -> Result<Self, String> {
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
    fn read(value: Value) -> Result<Self, String> {
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
    fn read(value: Value) -> Result<Self, String> {
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
