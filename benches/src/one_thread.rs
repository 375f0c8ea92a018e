//! The shared informer where there are no threads: the same machines, one after the other, under a
//! time that stands still.

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

/// So many pods are listed first.
const LISTED: usize = 10_000;
/// So many changes of them are sent.
pub const CHANGES: usize = 50_000;

/// From the first change to the last that the last handler is told of.
pub fn informer_row(world: &World, generation: Generation, handlers: usize) -> Run {
    let events = world.events();
    let mut informer = Informer::new(generation, handlers);
    informer.list(events[..LISTED].to_vec());
    let changes = events[LISTED..LISTED + CHANGES].to_vec();
    Box::new(move || {
        for change in changes {
            informer.change(change);
        }
        assert_eq!(informer.told.get(), CHANGES * handlers, "not all were told");
        Box::new(informer)
    })
}

struct Informer {
    machine: Controller<Pod>,
    processor: SharedProcessor<ProcessorListener<Pod>>,
    told: Rc<Cell<usize>>,
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
            told: Rc::default(),
        }
    }

    /// The first list, up to the open watch.
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
        self.told.set(0);
    }

    fn change(&mut self, object: Item<Pod>) {
        let event = WatchItem::Event(EventType::Modified, object);
        let reflector = self.machine.reflector_mut();
        reflector.received(Duration::ZERO, event, &mut ());
        self.machine.carry_out(Duration::ZERO, &mut ());
        self.settle();
    }

    /// Until nothing is queued and everybody has been told.
    fn settle(&mut self) {
        let (machine, processor) = (&mut self.machine, &mut self.processor);
        let mut tell = |notice: Notification<Pod>| {
            let notice = Arc::new(notice);
            for (_, listener) in processor.distribute_mut(&notice, &mut ()) {
                listener.add(Arc::clone(&notice), &mut ());
            }
        };
        while let Ok(true) = machine.process(|notice, _| tell(notice), || Duration::ZERO, &mut ()) {
        }
        for (_, listener) in processor.listeners_mut() {
            while let Some(_notice) = listener.take(&mut ()) {
                self.told.set(self.told.get() + 1);
                listener.done(HandlerEnd::Returned, &mut ());
            }
        }
    }
}
