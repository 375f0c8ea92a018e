//! A cluster that plays the script of a lesson, without its pauses.

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

use super::Pod;

/// What will happen: how, and to what.
type Script = VecDeque<(EventType, Arc<Pod>)>;

/// Objects of one kind, and what will happen to them.
pub(crate) struct Cluster {
    at_start: Vec<Arc<Pod>>,
    /// Taken one by one by whoever watches.
    script: Arc<Mutex<Script>>,
    over: Latch,
    version: usize,
}

impl Cluster {
    /// What a lesson shows.
    pub(crate) fn of_lesson(id: &str) -> Result<Self, String> {
        let lesson = lessons::load(id).map_err(|error| error.en.to_string())?;
        Self::of_scenario(&lesson.scenario)
    }

    /// The same, of a part of it.
    pub(crate) fn of_scenario(scenario: &Scenario) -> Result<Self, String> {
        let mut version = 0;
        let mut read = |value: &Value| -> Result<Arc<Pod>, String> {
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
                // The event has the object as it was; the scripts are about one at a time.
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

    /// Set when everything was sent and whoever watches asks for more.
    pub(crate) fn over(&self) -> Latch {
        self.over.clone()
    }
}

impl ListerWatcher<Pod> for Cluster {
    type Watch = Watch;

    fn list(&self, _request: &ListRequest) -> Result<ListPage<Pod>, ApiError> {
        Ok(ListPage {
            resource_version: self.version.to_string().into(),
            items: self.at_start.iter().cloned().map(Item::Object).collect(),
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&self, request: &WatchRequest) -> Result<Watch, ApiError> {
        // From no version on, what is there comes first.
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

/// A watch of the script.
pub(crate) struct Watch {
    first: VecDeque<Arc<Pod>>,
    script: Arc<Mutex<Script>>,
    over: Latch,
    stopped: Latch,
    /// Something was sent, and the watch has not been closed since.
    sent: bool,
}

impl Watcher<Pod> for Watch {
    fn next(&mut self) -> WatchItem<Pod> {
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
            // In a program of one thread nobody is left who would stop it.
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
