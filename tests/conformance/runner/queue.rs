//! The subjects `fifo`, `deltafifo` and `realfifo`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use deltascope::cache::delta::{Delta, DeltaType, Deltas};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions, Offered, PoppedDeltas};
use deltascope::cache::error::Error;
use deltascope::cache::fifo::{Fifo, FifoOptions, PoppedObject};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::KeyFunc;
use deltascope::cache::object::Item;
use deltascope::cache::order::Order;
use deltascope::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release};
use deltascope::cache::real_fifo::{PoppedBatch, QueuedDelta, RealFifo, RealFifoOptions};
use serde_json::{Map, Value, json};

use super::object::{delta_type, item, items, key_func, plain, reference, transformer};
use super::{Got, Members, Pod, Sets, Step, Subject, unknown_op};

pub(crate) struct Play {
    queue: AnyQueue,
    key_func: KeyFunc<Pod>,
    known: Option<Known>,
    /// The queue itself asks nobody; `known` is the consumer's alone.
    atomic: bool,
    release: Release,
    last_popped: Option<Popped>,
    /// The Pops that found nothing, by what their process function does.
    blocked: VecDeque<Process>,
}

enum AnyQueue {
    Fifo(Fifo<Pod>),
    Delta(DeltaFifo<Pod>),
    Real(RealFifo<Pod>),
}

/// What Pop gave.
enum Popped {
    Object(PoppedObject<Pod>),
    Deltas(PoppedDeltas<Pod>),
    Entries(PoppedBatch<Pod>),
}

/// What the process function does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Ok,
    Error,
    Requeue,
    RequeueError,
}

impl Play {
    pub(crate) fn new(subject: &str, minor: u32, mut options: Members) -> Result<Self, String> {
        let release = match minor {
            ..=24 => Release::V0_24,
            25..=32 => Release::V0_32,
            33..=34 => Release::V0_34,
            35 => Release::V0_35,
            36.. => Release::V0_36,
        };
        let key_func = key_func(&options.text("keyFunc")?)?;
        if let Some(api) = options.optional_text("api")? {
            let own = format!("v0.{minor}");
            if !["v0.24", "v0.36", &own].contains(&api.as_str()) {
                return Err(format!("unknown api {api:?}"));
            }
            if (api == "v0.24") != (release == Release::V0_24) {
                return Err(format!(
                    "the api {api:?} is not that of client-go v0.{minor}"
                ));
            }
        }
        options.generation()?;
        let mut known = None;
        let mut atomic = false;
        let queue = if subject == "fifo" {
            AnyQueue::Fifo(Fifo::new(FifoOptions {
                order: Order::Key,
                release,
                key_func: key_func.clone(),
            }))
        } else {
            known = Known::read(&mut options)?;
            let transformer = transformer(options.optional_text("transformer")?.as_deref())?;
            if subject == "deltafifo" {
                AnyQueue::Delta(DeltaFifo::new(DeltaFifoOptions {
                    key_func: key_func.clone(),
                    emit_delta_type_replaced: options.flag("emitDeltaTypeReplaced")?,
                    transformer,
                    release,
                }))
            } else {
                atomic = options.flag("atomicEvents")?;
                if !atomic && known.is_none() {
                    return Err("\"knownObjects\" is missing".into());
                }
                let defaults = RealFifoOptions::new(key_func.clone(), release);
                let batch_size = match options.take("batchSize") {
                    Value::Null => defaults.batch_size,
                    size => size
                        .as_u64()
                        .and_then(|size| usize::try_from(size).ok())
                        .filter(|size| *size > 0)
                        .ok_or_else(|| format!("\"batchSize\" is no number: {size}"))?,
                };
                AnyQueue::Real(RealFifo::new(RealFifoOptions {
                    transformer,
                    atomic_events: atomic,
                    emit_delta_type_bookmark: options.flag("emitDeltaTypeBookmark")?,
                    unlock_while_processing: options.flag("unlockWhileProcessing")?,
                    batch_size,
                    ..defaults
                }))
            }
        };
        options.finish("the options")?;
        Ok(Self {
            queue,
            key_func,
            known,
            atomic,
            release,
            last_popped: None,
            blocked: VecDeque::new(),
        })
    }

    /// Whether the step exists in this release.
    fn old_api(&self, op: &str) -> Result<(), String> {
        if self.release <= Release::V0_32 {
            return Ok(());
        }
        Err(format!("{op:?} does not exist in this version"))
    }

    fn process(&self, args: &mut Members) -> Result<Process, String> {
        let name = args.text("process")?;
        Ok(match name.as_str() {
            "ok" => Process::Ok,
            "error" => Process::Error,
            "requeue" => {
                self.old_api(&name)?;
                Process::Requeue
            }
            "requeue-error" => {
                self.old_api(&name)?;
                Process::RequeueError
            }
            _ => return Err(format!("unknown process {name:?}")),
        })
    }

    /// A Pop or PopBatch; `None`: it would block.
    fn pop(&mut self, process: Process, batch: bool) -> Option<Got> {
        let known = &mut self.known;
        let live = process == Process::Ok;
        let outcome = || match process {
            Process::Ok => ProcessOutcome::Done,
            Process::Error => ProcessOutcome::Failed("process failed".into()),
            Process::Requeue => ProcessOutcome::Requeue(None),
            Process::RequeueError => ProcessOutcome::Requeue(Some("process failed".into())),
        };
        let mut result = Map::new();
        let mut note = |has_synced: bool, is_in_initial_list: bool| {
            result.insert("hasSyncedDuringProcess".into(), has_synced.into());
            if self.release != Release::V0_24 {
                result.insert("isInInitialList".into(), is_in_initial_list.into());
            }
        };
        let now = || Duration::ZERO;
        let popped = match &mut self.queue {
            AnyQueue::Fifo(queue) => queue
                .pop(
                    |p| {
                        note(p.has_synced, p.is_in_initial_list);
                        outcome()
                    },
                    now,
                    &mut (),
                )
                .map(|popped| popped.map(|(taken, end)| (Popped::Object(taken), end))),
            AnyQueue::Delta(queue) => queue
                .pop(
                    |p| {
                        note(p.has_synced, p.is_in_initial_list);
                        if let Some(known) = known.as_mut().filter(|known| known.live && live) {
                            for delta in &p.taken.deltas {
                                known.apply(&p.taken.key, delta);
                            }
                        }
                        outcome()
                    },
                    now,
                    &mut (),
                )
                .map(|popped| popped.map(|(taken, end)| (Popped::Deltas(taken), end))),
            AnyQueue::Real(queue) => {
                let key_func = &self.key_func;
                let process = |p: deltascope::cache::queue::Processing<'_, PoppedBatch<Pod>>| {
                    note(p.has_synced, p.is_in_initial_list);
                    if let Some(known) = known.as_mut().filter(|known| known.live && live) {
                        for entry in &p.taken.entries {
                            known.apply_entry(entry, key_func);
                        }
                    }
                    outcome()
                };
                let popped = if batch {
                    queue.pop_batch(process, now, &mut ())
                } else {
                    queue.pop(process, now, &mut ())
                };
                popped.map(|popped| popped.map(|(taken, end)| (Popped::Entries(taken), end)))
            }
        };
        let (popped, end) = match popped {
            Ok(Some(popped)) => popped,
            Ok(None) => return None,
            Err(error) => {
                return Some(Got {
                    error: Some(error),
                    ..Got::default()
                });
            }
        };
        match &popped {
            Popped::Object(taken) => {
                result.insert("key".into(), json!(taken.key.as_str()));
                result.insert("rv".into(), reference(&taken.item));
            }
            Popped::Deltas(taken) => {
                result.insert("key".into(), json!(taken.key.as_str()));
                result.insert("deltas".into(), deltas(&taken.deltas));
            }
            Popped::Entries(taken) => {
                let entries = taken
                    .entries
                    .iter()
                    .map(|entry| self.entry(entry))
                    .collect();
                result.insert("deltas".into(), entries);
                if batch {
                    result.insert("batch".into(), taken.batch.into());
                }
            }
        }
        self.last_popped = Some(popped);
        Some(Got {
            result: Value::Object(result),
            error: end.err(),
            ..Got::default()
        })
    }

    fn add_if_not_present(
        &mut self,
        args: &mut Members,
    ) -> Result<(Result<(), Error>, Vec<String>), String> {
        self.old_api("AddIfNotPresent")?;
        let last = args.flag("lastPopped")?;
        if last == args.has("obj") {
            return Err("AddIfNotPresent needs \"obj\" or \"lastPopped\"".into());
        }
        let obj = args.take("obj");
        Ok(match &mut self.queue {
            AnyQueue::Fifo(queue) => {
                let item = match &self.last_popped {
                    Some(Popped::Object(taken)) if last => taken.item.clone(),
                    _ if last => return Err("nothing was popped yet".into()),
                    _ => item(obj)?,
                };
                let texts = plain([&item]);
                (queue.add_if_not_present(item, &mut ()), texts)
            }
            AnyQueue::Delta(queue) => {
                let mut texts = vec!["[]".to_owned()];
                let offered = match (&self.last_popped, obj) {
                    (Some(Popped::Deltas(taken)), _) if last => {
                        Offered::Deltas(taken.deltas.clone())
                    }
                    _ if last => return Err("nothing was popped yet".into()),
                    (_, Value::Array(list)) => Offered::Deltas(read_deltas(list)?),
                    (_, other) => {
                        let item = item(other)?;
                        texts.extend(plain([&item]));
                        Offered::Item(item)
                    }
                };
                (queue.add_if_not_present(offered, &mut ()), texts)
            }
            AnyQueue::Real(_) => return Err(unknown_op("AddIfNotPresent")),
        })
    }

    fn list(&self) -> Result<Value, String> {
        self.old_api("List")?;
        let items: Map<String, Value> = match &self.queue {
            AnyQueue::Fifo(queue) => queue
                .list()
                .into_iter()
                .map(|(key, item)| (key.to_string(), reference(item)))
                .collect(),
            AnyQueue::Delta(queue) => queue
                .list_keys()
                .zip(queue.list())
                .map(|(key, item)| (key.to_string(), reference(item)))
                .collect(),
            AnyQueue::Real(_) => return Err(unknown_op("List")),
        };
        Ok(json!({ "items": items }))
    }

    fn list_keys(&self) -> Result<Value, String> {
        self.old_api("ListKeys")?;
        let keys: Vec<_> = match &self.queue {
            AnyQueue::Fifo(queue) => queue.list_keys().map(|key| json!(key.as_str())).collect(),
            AnyQueue::Delta(queue) => queue.list_keys().map(|key| json!(key.as_str())).collect(),
            AnyQueue::Real(_) => return Err(unknown_op("ListKeys")),
        };
        Ok(json!({ "keys": keys }))
    }

    fn get_by_key(&self, key: &str) -> Result<Value, String> {
        self.old_api("GetByKey")?;
        Ok(match &self.queue {
            AnyQueue::Fifo(queue) => {
                let item = queue.get_by_key(key);
                json!({ "exists": item.is_some(), "rv": item.map(reference) })
            }
            AnyQueue::Delta(queue) => {
                let found = queue.get_by_key(key);
                json!({ "exists": found.is_some(), "deltas": found.map(deltas) })
            }
            AnyQueue::Real(_) => return Err(unknown_op("GetByKey")),
        })
    }

    fn entry(&self, entry: &QueuedDelta<Pod>) -> Value {
        let name = entry.delta_type().as_str();
        match entry {
            QueuedDelta::Delta { key, delta } => {
                json!([name, key.as_str(), reference(&delta.object)])
            }
            QueuedDelta::ReplacedAll(info) => {
                let key = |item| key_of(&self.key_func, item);
                let objects: Vec<_> = info
                    .objects
                    .iter()
                    .map(|item| json!([key(item).as_deref(), reference(item)]))
                    .collect();
                json!([name, null, { "rv": *info.resource_version, "objects": objects }])
            }
            QueuedDelta::SyncAll => json!([name, null, null]),
            QueuedDelta::Bookmark(rv) => json!([name, null, { "rv": **rv }]),
        }
    }
}

impl Subject for Play {
    fn play(&mut self, step: &mut Step) -> Result<Got, String> {
        let args = &mut step.args;
        let mut got = Got::default();
        let known = self
            .known
            .as_ref()
            .filter(|_| !self.atomic)
            .map(|known| known as &dyn KeyListerGetter<Pod>);
        let end = match step.op.as_str() {
            op @ ("Add" | "Update" | "Delete" | "Replace" | "Resync" | "Close") => {
                let (end, texts) = match &mut self.queue {
                    AnyQueue::Fifo(queue) => common(queue, op, args, known),
                    AnyQueue::Delta(queue) => common(queue, op, args, known),
                    AnyQueue::Real(queue) => common(queue, op, args, known),
                }?;
                got.plain = texts;
                end
            }
            "Bookmark" => {
                let AnyQueue::Real(queue) = &mut self.queue else {
                    return Err(unknown_op("Bookmark"));
                };
                if self.release < Release::V0_36 {
                    return Err("\"Bookmark\" does not exist in this version".into());
                }
                queue.bookmark(&args.text("rv")?, &mut ());
                Ok(())
            }
            op @ ("Pop" | "PopBatch") => {
                let batch = op == "PopBatch";
                if batch && !matches!(self.queue, AnyQueue::Real(_)) {
                    return Err(unknown_op(op));
                }
                if batch && self.release < Release::V0_35 {
                    return Err("\"PopBatch\" does not exist in this version".into());
                }
                let process = self.process(args)?;
                got = self
                    .pop(process, batch)
                    .unwrap_or_else(|| json!({ "blocked": true }).into());
                return Ok(got);
            }
            "PopAsync" => {
                let process = self.process(args)?;
                return Ok(self.pop(process, false).unwrap_or_else(|| {
                    self.blocked.push_back(process);
                    json!({ "blocked": true }).into()
                }));
            }
            "AddIfNotPresent" => {
                let (end, texts) = self.add_if_not_present(args)?;
                got.plain = texts;
                end
            }
            "List" => return Ok(self.list()?.into()),
            "ListKeys" => return Ok(self.list_keys()?.into()),
            "GetByKey" => return Ok(self.get_by_key(&args.text("key")?)?.into()),
            op => return Err(unknown_op(op)),
        };
        got.error = end.err();
        if let Some(process) = self.blocked.pop_front() {
            match self.pop(process, false) {
                Some(popped) => {
                    got.result = json!({ "unblocked": {
                        "result": popped.result,
                        "error": popped.error.as_ref().map(ToString::to_string),
                        "errorKind": popped.error.map(|error| error.kind().as_str()),
                    }});
                }
                None => self.blocked.push_front(process),
            }
        }
        Ok(got)
    }

    fn state(&self) -> Value {
        let (synced, closed) = match &self.queue {
            AnyQueue::Fifo(queue) => (queue.has_synced(), queue.is_closed()),
            AnyQueue::Delta(queue) => (queue.has_synced(), queue.is_closed()),
            AnyQueue::Real(queue) => (queue.has_synced(), queue.is_closed()),
        };
        let mut state = Map::new();
        state.insert("hasSynced".into(), synced.into());
        state.insert("closed".into(), closed.into());
        match &self.queue {
            AnyQueue::Fifo(queue) => {
                let items: Map<String, Value> = queue
                    .list()
                    .into_iter()
                    .map(|(key, item)| (key.to_string(), reference(item)))
                    .collect();
                let keys = queue.queue().map(|key| json!(key.as_str())).collect();
                state.insert("queue".into(), keys);
                state.insert("items".into(), items.into());
            }
            AnyQueue::Delta(queue) => {
                let items: Map<String, Value> = queue
                    .list_keys()
                    .map(|key| (key.to_string(), queue.get_by_key(key).map(deltas).into()))
                    .collect();
                let keys = queue.list_keys().map(|key| json!(key.as_str())).collect();
                state.insert("queue".into(), keys);
                state.insert("items".into(), items.into());
            }
            AnyQueue::Real(queue) => {
                let items = queue.entries().map(|entry| self.entry(entry)).collect();
                state.insert("items".into(), items);
            }
        }
        if let Some(known) = self.known.as_ref().filter(|known| known.live) {
            let items: Map<String, Value> = known
                .items
                .iter()
                .map(|(key, item)| (key.to_string(), reference(item)))
                .collect();
            state.insert("known".into(), items.into());
        }
        Value::Object(state)
    }

    fn sets(&self, op: &str) -> Sets {
        Sets {
            result: op == "ListKeys" && matches!(self.queue, AnyQueue::Fifo(_)),
            state: &[],
        }
    }
}

/// The operations that every queue has.
fn common<Q: Queue<Pod>>(
    queue: &mut Q,
    op: &str,
    args: &mut Members,
    known: Option<&dyn KeyListerGetter<Pod>>,
) -> Result<(Result<(), Error>, Vec<String>), String> {
    Ok(match op {
        "Resync" => (queue.resync(known, &mut ()), Vec::new()),
        "Close" => {
            queue.close(&mut ());
            (Ok(()), Vec::new())
        }
        "Replace" => {
            let objects = items(args.required_list("objs")?)?;
            let texts = plain(&objects);
            let rv = args.text("rv")?;
            (queue.replace(objects, &rv, known, &mut ()), texts)
        }
        _ => {
            let item = item(args.required("obj")?)?;
            let texts = plain([&item]);
            let end = match op {
                "Add" => queue.add(item, &mut ()),
                "Update" => queue.update(item, &mut ()),
                _ => queue.delete(item, known, &mut ()),
            };
            (end, texts)
        }
    })
}

fn deltas(deltas: &[Delta<Pod>]) -> Value {
    deltas
        .iter()
        .map(|delta| json!([delta.delta_type.as_str(), reference(&delta.object)]))
        .collect()
}

fn read_deltas(list: Vec<Value>) -> Result<Deltas<Pod>, String> {
    let delta = |entry: Value| match entry {
        Value::Array(mut entry) => {
            let (Some(object), Some(Value::String(name)), None) =
                (entry.pop(), entry.pop(), entry.pop())
            else {
                return Err("a delta is a pair of type and object".to_owned());
            };
            Ok(Delta {
                delta_type: delta_type(&name)?,
                object: item(object)?,
            })
        }
        other => Err(format!("not a delta: {other}")),
    };
    let deltas: Result<Vec<_>, _> = list.into_iter().map(delta).collect();
    deltas.map(Deltas::from)
}

fn key_of(key_func: &KeyFunc<Pod>, item: &Item<Pod>) -> Option<Key> {
    match item {
        Item::Tombstone(tombstone) => Some(tombstone.key.clone()),
        _ => key_func(item).ok(),
    }
}

/// The knownObjects of a file: what they hold, and what they lie about.
struct Known {
    live: bool,
    items: BTreeMap<Key, Item<Pod>>,
    ghosts: BTreeSet<Key>,
    errors: BTreeSet<Key>,
}

impl Known {
    fn read(options: &mut Members) -> Result<Option<Self>, String> {
        let Some(mut known) = options.optional_members("knownObjects")? else {
            return Ok(None);
        };
        let live = match known.text("mode")?.as_str() {
            "live" => true,
            "fixed" => false,
            mode => return Err(format!("unknown mode {mode:?}")),
        };
        let items = known
            .optional_members("items")?
            .unwrap_or_default()
            .members
            .into_iter()
            .map(|(key, object)| Ok((Key::from(key), item(object)?)))
            .collect::<Result<_, String>>()?;
        let keys = |names: Vec<String>| names.into_iter().map(Key::from).collect();
        let ghosts = keys(known.texts("ghostKeys")?);
        let errors = keys(known.texts("errorKeys")?);
        known.finish("knownObjects")?;
        Ok(Some(Self {
            live,
            items,
            ghosts,
            errors,
        }))
    }

    fn apply(&mut self, key: &Key, delta: &Delta<Pod>) {
        if delta.delta_type == DeltaType::Deleted {
            self.items.remove(key);
        } else {
            self.items.insert(key.clone(), delta.object.clone());
        }
    }

    fn apply_entry(&mut self, entry: &QueuedDelta<Pod>, key_func: &KeyFunc<Pod>) {
        match entry {
            QueuedDelta::Delta { key, delta } => self.apply(key, delta),
            QueuedDelta::ReplacedAll(info) => {
                self.items = info
                    .objects
                    .iter()
                    .filter_map(|item| Some((key_of(key_func, item)?, item.clone())))
                    .collect();
            }
            QueuedDelta::SyncAll | QueuedDelta::Bookmark(_) => {}
        }
    }
}

impl KeyListerGetter<Pod> for Known {
    fn list_keys(&self) -> Vec<Key> {
        let keys: BTreeSet<&Key> = self
            .items
            .keys()
            .chain(&self.ghosts)
            .chain(&self.errors)
            .collect();
        keys.into_iter().cloned().collect()
    }

    fn get_by_key(&self, key: &str) -> Result<Option<Item<Pod>>, String> {
        if self.errors.contains(key) {
            return Err("cannot be read".into());
        }
        Ok(self
            .items
            .get(key)
            .filter(|_| !self.ghosts.contains(key))
            .cloned())
    }
}
