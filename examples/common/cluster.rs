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
use deltascope::world::source::Command;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::virtual_time::Input;

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
        Ok(Self::of_scenario(&lesson.scenario))
    }

    /// The cluster of a scenario.
    pub(crate) fn of_scenario(scenario: &Scenario) -> Self {
        let mut version = 0;
        let mut next = |object: &DynamicObject| {
            version += 1;
            let mut object = object.clone();
            object.metadata.resource_version = Some(version.to_string());
            Arc::new(object)
        };
        let at_start: Vec<_> = scenario.initial.iter().map(|one| next(one)).collect();
        let at_start_version = at_start.len();
        let mut script = VecDeque::new();
        let mut last: Option<Arc<DynamicObject>> = None;
        for entry in &scenario.script {
            let Input::Source(Command::Write(write)) = &entry.input else {
                continue;
            };
            let (event, object) = match write {
                Write::Create(object) => (EventType::Added, next(object)),
                Write::Update(object) => (EventType::Modified, next(object)),
                // A DELETED event carries the object's last state. Each script deletes the object that it changed
                // last.
                Write::Delete { namespace, name } => {
                    let last = last.take();
                    let named = || PodSpec::of(&format!("{namespace}/{name}")).into_object();
                    let object = last.map_or_else(named, |last| DynamicObject::clone(&last));
                    (EventType::Deleted, next(&object))
                }
            };
            last = Some(Arc::clone(&object));
            script.push_back((event, object));
        }
        Self {
            at_start,
            script: Arc::new(Mutex::new(script)),
            over: Latch::new(),
            version: at_start_version,
        }
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
