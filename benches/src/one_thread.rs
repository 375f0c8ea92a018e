//! The shared informer without threads: the same state machines, one after the other, under a fixed
//! time.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{Config, Controller, Generation};
use deltascope::cache::fact::EventType;
use deltascope::cache::informer::SharedInformerState;
use deltascope::cache::listener::{HandlerEnd, ProcessorListener};
use deltascope::cache::lister_watcher::{ListPage, WatchItem};
use deltascope::cache::object::Item;
use deltascope::cache::process::Notification;
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::reflector::Need;
use k8s_openapi::api::core::v1::Pod;

use crate::workload::{Run, World};

/// Number of pods in the initial list.
const LISTED: usize = 10_000;
/// Number of changes that are sent.
pub const CHANGES: usize = 50_000;

/// Measures from the first change until the last handler has received the last change.
pub fn informer_row(world: &World, generation: Generation, handlers: usize) -> Run {
    let events = world.events();
    let mut informer = Informer::new(generation, handlers);
    informer.list(events[..LISTED].to_vec());
    let changes = events[LISTED..LISTED + CHANGES].to_vec();
    Box::new(move || {
        for change in changes {
            informer.change(change);
        }
        assert_eq!(
            informer.received.get(),
            CHANGES * handlers,
            "a handler missed a notification"
        );
        Box::new(informer)
    })
}

struct Informer {
    machine: Controller<Pod>,
    processor: SharedProcessor<ProcessorListener<Pod>>,
    received: Rc<Cell<usize>>,
}

impl Informer {
    fn new(generation: Generation, handlers: usize) -> Self {
        let config = Config {
            watch_list: false,
            ..Config::new(generation)
        };
        let mut state = SharedInformerState::<Pod>::new(Duration::ZERO);
        let mut processor = SharedProcessor::default();
        for _ in 0..handlers {
            let Ok(registration) = state.add_event_handler("handler", None, &mut ()) else {
                continue;
            };
            let listener = |id, name: &Arc<str>| ProcessorListener::new(id, name);
            processor.add_listener(&registration, 0, listener, Duration::ZERO, &mut ());
        }
        Self {
            machine: Controller::new(config),
            processor,
            received: Rc::default(),
        }
    }

    /// Lists the initial objects, up to the open watch.
    fn list(&mut self, items: Vec<Item<Pod>>) {
        let mut page = Some(ListPage {
            resource_version: "1".into(),
            items,
            continue_token: "".into(),
            table: None,
        });
        loop {
            let reflector = self.machine.reflector_mut();
            match reflector.need() {
                Need::Wait(_) => reflector.waited(Duration::ZERO, &mut ()),
                Need::List(_) => match page.take() {
                    Some(page) => reflector.listed(Duration::ZERO, Ok(page), &mut ()),
                    None => return,
                },
                Need::Watch(_) => reflector.watched(Duration::ZERO, Ok(()), &mut ()),
                Need::Store(_) => {
                    self.machine.carry_out(Duration::ZERO, &mut ());
                }
                Need::Event | Need::Stored | Need::Stopped => break,
            }
        }
        self.settle();
        self.received.set(0);
    }

    fn change(&mut self, object: Item<Pod>) {
        let event = WatchItem::Event(EventType::Modified, object);
        let reflector = self.machine.reflector_mut();
        reflector.received(Duration::ZERO, event, &mut ());
        self.machine.carry_out(Duration::ZERO, &mut ());
        self.settle();
    }

    /// Runs until the queue is empty and all handlers were notified.
    fn settle(&mut self) {
        let (machine, processor) = (&mut self.machine, &mut self.processor);
        let mut send = |notification: Notification<Pod>| {
            let notification = Arc::new(notification);
            for (_, listener) in processor.distribute_mut(&notification, &mut ()) {
                listener.add(Arc::clone(&notification), &mut ());
            }
        };
        while let Ok(true) = machine.process(
            |notification, _| send(notification),
            || Duration::ZERO,
            &mut (),
        ) {}
        for (_, listener) in processor.listeners_mut() {
            while let Some(_notification) = listener.take(&mut ()) {
                self.received.set(self.received.get() + 1);
                listener.done(HandlerEnd::Returned, &mut ());
            }
        }
    }
}
