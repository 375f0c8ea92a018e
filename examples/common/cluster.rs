//! A cluster that plays a lesson's script, without its pauses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use deltascope::cache::fact::EventType;
use deltascope::cache::lister_watcher::{
    ApiError, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::Item;
use deltascope::cache::threads::Latch;
use deltascope::replay::lessons;
use deltascope::world::source::scenario::{Act, Scenario};
use serde_json::Value;

use super::DynamicObject;

/// The changes to come: their types and objects.
type Script = VecDeque<(EventType, Arc<DynamicObject>)>;

/// The objects of one kind, and the changes to come.
pub(crate) struct Cluster {
    at_start: Vec<Arc<DynamicObject>>,
    /// The open watch takes the changes one by one.
    script: Arc<Mutex<Script>>,
    over: Latch,
    version: usize,
}

impl Cluster {
    /// The cluster of a lesson.
    pub(crate) fn of_lesson(id: &str) -> Result<Self, String> {
        let lesson = lessons::load(id).map_err(|error| error.en.to_string())?;
        Self::of_scenario(&lesson.scenario)
    }

    /// The cluster of a scenario.
    pub(crate) fn of_scenario(scenario: &Scenario) -> Result<Self, String> {
        let mut version = 0;
        let mut read = |value: &Value| -> Result<Arc<DynamicObject>, String> {
            version += 1;
            let mut value = value.clone();
            if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("resourceVersion".into(), version.to_string().into());
            }
            let object = serde_json::from_value(value);
            object.map(Arc::new).map_err(|error| error.to_string())
        };
        let at_start = scenario.initial.iter().map(&mut read);
        let at_start = at_start.collect::<Result<Vec<_>, _>>()?;
        let at_start_version = at_start.len();
        let mut script = VecDeque::new();
        let mut last: Option<Value> = None;
        for entry in &scenario.script {
            let event = match &entry.act {
                Act::Create { object } => (EventType::Added, object.clone()),
                Act::Update { object } => (EventType::Modified, object.clone()),
                // A DELETED event carries the object's last state. Each script deletes the object that it changed
                // last.
                Act::Delete { object } => {
                    let last = last.take().unwrap_or_else(|| object.clone());
                    (EventType::Deleted, last)
                }
                _ => continue,
            };
            script.push_back((event.0, read(&event.1)?));
            last = Some(event.1);
        }
        Ok(Self {
            at_start,
            script: Arc::new(Mutex::new(script)),
            over: Latch::new(),
            version: at_start_version,
        })
    }

    /// Set once all changes were sent and the watch is asked for more.
    pub(crate) fn over(&self) -> Latch {
        self.over.clone()
    }
}

impl ListerWatcher<DynamicObject> for Cluster {
    type Watch = Watch;

    fn list(&self, _request: &ListRequest) -> Result<ListPage<DynamicObject>, ApiError> {
        Ok(ListPage {
            resource_version: self.version.to_string().into(),
            items: self.at_start.iter().cloned().map(Item::Object).collect(),
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&self, request: &WatchRequest) -> Result<Watch, ApiError> {
        // Without a resource version, a watch begins with the current objects.
        let first = if request.resource_version.is_empty() {
            self.at_start.clone()
        } else {
            Vec::new()
        };
        Ok(Watch {
            first: first.into(),
            script: Arc::clone(&self.script),
            over: self.over.clone(),
            stopped: Latch::new(),
            sent: false,
        })
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        true
    }
}

pub(crate) struct Watch {
    first: VecDeque<Arc<DynamicObject>>,
    script: Arc<Mutex<Script>>,
    over: Latch,
    stopped: Latch,
    /// Whether an event was sent since the last close.
    sent: bool,
}

impl Watcher<DynamicObject> for Watch {
    fn next(&mut self) -> WatchItem<DynamicObject> {
        if let Some(object) = self.first.pop_front() {
            self.sent = true;
            return WatchItem::Event(EventType::Added, Item::Object(object));
        }
        let next = self.script.lock();
        let next = next.unwrap_or_else(PoisonError::into_inner).pop_front();
        if let Some((event, object)) = next {
            self.sent = true;
            return WatchItem::Event(event, Item::Object(object));
        }
        self.over.set();
        if self.sent {
            // In a program with one thread, nothing else could stop the watch.
            self.sent = false;
            return WatchItem::Closed;
        }
        self.stopped.wait();
        WatchItem::Closed
    }

    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let stopped = self.stopped.clone();
        Box::new(move || stopped.set())
    }
}
