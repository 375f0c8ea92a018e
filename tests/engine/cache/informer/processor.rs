//! The shared processor: which listeners it notifies, and when they resync.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, HandlersFact};
use deltascope::cache::informer::{
    SharedInformerState, determine_resync_period, initial_notifications,
};
use deltascope::cache::listener::{HandlerEnd, ListenerId, ProcessorListener};
use deltascope::cache::process::{Notification, Process, Progress};
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::reflector::StoreCall;
use deltascope::cache::step::Step;
use proptest::prelude::*;

use super::{
    Event, Listener, Parts, SECOND, Shared, add, any_written, call, follow, parts, update,
};
use crate::cache::{Facts, O, cases, pod};

fn seconds(seconds: u32) -> Duration {
    SECOND * seconds
}

#[test]
fn resync_periods_are_rounded_up() {
    struct Case {
        informer: u32,
        started: bool,
        asked: Option<u32>,
        // In milliseconds, to request less than a second.
        requested: u64,
        counts: u64,
        check: u64,
    }
    let case = |informer, started, asked, requested, counts, check| Case {
        informer,
        started,
        asked,
        requested,
        counts,
        check,
    };
    for case in [
        // The informer's default, and a longer period.
        case(20_000, false, None, 20_000, 20_000, 20_000),
        case(20_000, true, None, 20_000, 20_000, 20_000),
        case(20_000, false, Some(30_000), 30_000, 30_000, 20_000),
        case(20_000, true, Some(30_000), 30_000, 30_000, 20_000),
        // Never.
        case(20_000, false, Some(0), 0, 0, 20_000),
        case(20_000, true, Some(0), 0, 0, 20_000),
        // A shorter period: before the start the informer adapts, after it the handler.
        case(20_000, false, Some(10_000), 10_000, 10_000, 10_000),
        case(20_000, true, Some(10_000), 20_000, 20_000, 20_000),
        // At least a second.
        case(20_000, false, Some(300), 1_000, 1_000, 1_000),
        case(20_000, true, Some(300), 20_000, 20_000, 20_000),
        case(500, false, Some(300), 1_000, 1_000, 500),
        case(500, false, None, 1_000, 1_000, 500),
        // An informer without resyncs never resyncs.
        case(0, false, Some(10_000), 10_000, 0, 0),
        case(0, true, Some(300), 1_000, 0, 0),
        case(0, false, None, 0, 0, 0),
    ] {
        let ms = |ms: u32| Duration::from_millis(ms.into());
        let mut shared = Shared::new(ms(case.informer));
        if case.started {
            shared.state.start().unwrap();
        }
        let (_, registration) = shared.add(case.asked.map(ms), Duration::ZERO);
        let what = format!("{} {} {:?}", case.informer, case.started, case.asked);
        let got = [
            registration.requested_resync_period,
            registration.resync_period,
            shared.state.resync_check_period(),
        ]
        .map(|period| period.as_millis() as u64);
        assert_eq!(got, [case.requested, case.counts, case.check], "{what}");
        let lowered = case.check < u64::from(case.informer);
        assert_eq!(
            registration.new_resync_check_period.is_some(),
            lowered,
            "{what}"
        );
        assert_eq!(registration.late, case.started, "{what}");
    }
    assert_eq!(
        determine_resync_period(seconds(5), seconds(20)),
        seconds(20)
    );
}

#[test]
fn a_shorter_check_period_is_stated_and_applies_to_all_listeners() {
    let mut shared = Shared::new(seconds(60));
    let (slow, _) = shared.add(None, Duration::ZERO);
    let mut facts = Facts::new();
    let registration = shared
        .state
        .add_event_handler("fast", Some(seconds(10)), &mut facts)
        .unwrap();
    let processor = &mut shared.processor;
    processor.add_listener(&registration, 7, |_, _| (), Duration::ZERO, &mut facts);
    assert_eq!(
        facts
            .iter()
            .map(|(_, fact)| fact.clone())
            .collect::<Vec<_>>(),
        [
            Fact::Handlers(HandlersFact::ResyncCheckSet { ms: 10_000 }),
            Fact::Handlers(HandlersFact::HandlerAdded {
                handler: 1,
                name: "fast".into(),
                initial: 7
            })
        ]
    );
    assert_eq!(shared.state.start(), Ok(seconds(10)));
    let schedule = shared.processor.resync_schedule(slow).unwrap();
    assert_eq!(schedule.resync_period, seconds(60));
}

#[test]
fn a_period_is_honoured_only_at_checks() {
    // 20 s is due every 20 s; 30 s every 40 s; 0 never. Without checks, no listener is due.
    let mut shared = Shared::new(seconds(20));
    let ids = [None, Some(seconds(30)), Some(Duration::ZERO)]
        .map(|period| shared.add(period, Duration::ZERO).0);
    let mut due: [Vec<u32>; 3] = Default::default();
    for at in (20..=240).step_by(20) {
        let wanted = shared.processor.should_resync(seconds(at), &mut ());
        assert!(wanted, "one of them is always due");
        for (due, id) in due.iter_mut().zip(ids) {
            if shared.processor.is_syncing(id) {
                due.push(at);
            }
        }
    }
    assert_eq!(due[0], (20..=240).step_by(20).collect::<Vec<_>>());
    assert_eq!(due[1], [40, 80, 120, 160, 200, 240]);
    assert!(due[2].is_empty());

    let mut shared = Shared::new(Duration::ZERO);
    let (id, _) = shared.add(Some(seconds(10)), Duration::ZERO);
    assert!(!shared.processor.should_resync(seconds(100), &mut ()));
    assert!(!shared.processor.is_syncing(id));
}

#[test]
fn resyncs_are_withheld_from_listeners_that_are_not_syncing() {
    let mut shared = Shared::new(seconds(10));
    let (never, _) = shared.add(Some(Duration::ZERO), Duration::ZERO);
    let (ten, _) = shared.add(None, Duration::ZERO);
    let receivers = |shared: &Shared, notification: &Notification<O>, facts: &mut Facts| {
        let receivers = shared.processor.distribute(notification, facts);
        receivers.map(|(id, ())| id).collect::<Vec<_>>()
    };
    let same = update(pod("p", "1"), pod("p", "1"));
    let other = update(pod("p", "1"), pod("p", "2"));
    let mut facts = Facts::new();
    // All are syncing until the first check.
    assert_eq!(receivers(&shared, &same, &mut facts), [never, ten]);
    assert!(facts.is_empty());
    assert!(shared.processor.should_resync(seconds(10), &mut facts));
    assert_eq!(
        facts,
        [(
            Step::ResyncCheck,
            Fact::Handlers(HandlersFact::SyncingSet {
                handler: 0,
                syncing: false
            })
        )]
    );
    facts.clear();
    assert_eq!(receivers(&shared, &other, &mut facts), [never, ten]);
    assert!(facts.is_empty());
    assert_eq!(receivers(&shared, &same, &mut facts), [ten]);
    let Fact::Handlers(HandlersFact::NotificationWithheld { handler: 0, key }) = &facts[0].1 else {
        panic!("{facts:?}");
    };
    assert_eq!(*key, "p");
    // A check in which no listener is due.
    assert!(!shared.processor.should_resync(seconds(15), &mut ()));
    assert!(receivers(&shared, &same, &mut facts).is_empty());
    // A new listener is syncing.
    let (late, _) = shared.add(Some(Duration::ZERO), seconds(16));
    assert_eq!(receivers(&shared, &same, &mut facts), [late]);
}

#[test]
fn a_removed_listener_is_not_notified() {
    let mut shared = Shared::new(Duration::ZERO);
    let (first, _) = shared.add(None, Duration::ZERO);
    let (second, _) = shared.add(None, Duration::ZERO);
    let mut facts = Facts::new();
    assert!(
        shared
            .processor
            .remove_listener(first, &mut facts)
            .is_some()
    );
    assert_eq!(
        facts[0].1,
        Fact::Handlers(HandlersFact::HandlerRemoved { handler: 0 })
    );
    facts.clear();
    assert!(
        shared
            .processor
            .remove_listener(first, &mut facts)
            .is_none()
    );
    assert!(facts.is_empty(), "removing twice has no effect");
    let notification = add(pod("p", "1"), false);
    let receivers = shared.processor.distribute_mut(&notification, &mut ());
    assert_eq!(receivers.map(|(id, _)| id).collect::<Vec<_>>(), [second]);
    let (third, _) = shared.add(None, Duration::ZERO);
    assert!(![first, second].contains(&third), "numbers are not reused");
    assert_eq!(shared.processor.stop().count(), 2);
    assert_eq!(shared.processor.listeners().len(), 0);
}

/// A turn in an informer whose goroutines run in any order.
#[derive(Clone, Debug)]
enum Go {
    /// The reflector writes to the queue.
    Write(Event),
    /// The process loop takes its next step, unless it is blocked.
    Process,
    /// `pop` or `run` of the n-th listener takes a step.
    Pop(usize),
    Run(usize),
    AddHandler,
    RemoveHandler(usize),
    ResyncCheck,
}

fn any_go() -> impl Strategy<Value = Go> {
    prop_oneof![
        4 => any_written().prop_map(Go::Write),
        12 => Just(Go::Process),
        6 => (0..4_usize).prop_map(Go::Pop),
        6 => (0..4_usize).prop_map(Go::Run),
        1 => Just(Go::AddHandler),
        1 => (0..4_usize).prop_map(Go::RemoveHandler),
        1 => Just(Go::ResyncCheck),
    ]
}

/// A listener, with the copy that its handler maintains.
struct Following {
    listener: Listener,
    copy: BTreeMap<String, String>,
    running: Option<Arc<Notification<O>>>,
}

impl Following {
    fn run(&mut self) {
        match self.running.take() {
            Some(notification) => {
                follow(&notification, &mut self.copy);
                self.listener.done(HandlerEnd::Returned, &mut ());
            }
            None => self.running = self.listener.take(&mut ()).map(|taken| taken.notification),
        }
    }
}

/// A shared informer that runs one turn at a time.
struct Turns {
    parts: Parts,
    state: SharedInformerState<O>,
    processor: SharedProcessor<Following>,
    process: Option<Process<O>>,
    /// What the process loop still has to send. It is blocked by the first notification that is not
    /// received.
    sending: VecDeque<(ListenerId, Arc<Notification<O>>)>,
    now: Duration,
    version: u32,
}

impl Turns {
    fn new(generation: Generation) -> Self {
        let mut turns = Self {
            parts: parts(generation),
            state: SharedInformerState::new(SECOND),
            processor: SharedProcessor::default(),
            process: None,
            sending: VecDeque::new(),
            now: Duration::ZERO,
            version: 0,
        };
        turns.add_handler();
        turns.state.start().unwrap();
        turns.processor.start();
        turns
    }

    fn go(&mut self, go: Go) {
        match go {
            Go::Write(event) => {
                self.version += 1;
                let call = call(&event, self.version).unwrap();
                self.parts.write(call);
                self.note_sync();
            }
            Go::Process => self.process(),
            Go::Pop(number) => {
                if let Some(following) = self.nth(number) {
                    following.listener.receive(&mut ());
                }
            }
            Go::Run(number) => {
                if let Some(following) = self.nth(number) {
                    following.run();
                }
            }
            // Both take BlockDeltas, which the process loop holds while it processes.
            Go::AddHandler if self.process.is_none() => self.add_handler(),
            Go::RemoveHandler(number) if self.process.is_none() => {
                let id = self.processor.listeners().nth(number).map(|(id, _)| id);
                if let Some(id) = id {
                    self.processor.remove_listener(id, &mut ());
                }
            }
            Go::AddHandler | Go::RemoveHandler(_) => {}
            Go::ResyncCheck => {
                self.now += SECOND;
                if self.processor.should_resync(self.now, &mut ()) {
                    self.parts.write(StoreCall::Resync);
                }
            }
        }
    }

    fn nth(&mut self, number: usize) -> Option<&mut Following> {
        Some(self.processor.listeners_mut().nth(number)?.1)
    }

    fn add_handler(&mut self) {
        let registration = self.state.add_event_handler("h", None, &mut ()).unwrap();
        let initial = if registration.late {
            initial_notifications(&self.parts.store)
        } else {
            Vec::new()
        };
        let make = |id, name: &Arc<str>| Following {
            listener: ProcessorListener::new(id, name),
            copy: BTreeMap::new(),
            running: None,
        };
        let id = self
            .processor
            .add_listener(&registration, initial.len(), make, self.now, &mut ());
        let listener = &mut self.processor.get_mut(id).unwrap().listener;
        for notification in initial {
            listener.add(notification, &mut ());
        }
        if self.state.has_synced() {
            listener.upstream_has_synced(&mut ());
        }
    }

    fn process(&mut self) {
        if let Some((id, notification)) = self.sending.pop_front() {
            let following = self.processor.get_mut(id).unwrap();
            if let Err(notification) = following.listener.offer(notification, &mut ()) {
                self.sending.push_front((id, notification));
            }
            return;
        }
        if self
            .processor
            .listeners()
            .any(|(_, f)| f.listener.is_offered())
        {
            return;
        }
        let Some(process) = &mut self.process else {
            let work = self.parts.queue.begin_pop(&mut ()).unwrap();
            self.process = work.map(Process::new);
            return;
        };
        match process.step(&mut self.parts.store, &mut ()) {
            Progress::Took | Progress::Wrote => {}
            Progress::Notify(notification) => {
                let notification = Arc::new(notification);
                let receivers = self.processor.distribute(&notification, &mut ());
                self.sending
                    .extend(receivers.map(|(id, _)| (id, Arc::clone(&notification))));
            }
            Progress::Done(outcome) => {
                let taken = self.process.take().unwrap().into_taken();
                let queue = &mut self.parts.queue;
                let end = queue.finish_pop(taken, outcome, Duration::ZERO, &mut ());
                end.unwrap();
                self.note_sync();
            }
        }
    }

    /// HasSynced waits for the queue's lock, which the process loop holds up to 0.35.
    fn note_sync(&mut self) {
        if self.process.is_none() && self.parts.queue.has_synced() && !self.state.has_synced() {
            self.state.set_synced();
            for (_, following) in self.processor.listeners_mut() {
                following.listener.upstream_has_synced(&mut ());
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.process.is_none()
            && self.parts.queue.is_empty()
            && self.processor.listeners().all(|(_, following)| {
                following.running.is_none()
                    && !following.listener.is_offered()
                    && following.listener.waiting() == 0
            })
    }
}

proptest! {
    #![proptest_config(cases())]

    /// However late a handler is added and however slow it is: at rest its copy equals the store,
    /// and it has synced if the informer has. No turn waits for ever.
    #[test]
    fn every_handler_ends_up_with_the_store(
        generation in proptest::sample::select(&Generation::ALL[..]),
        goes in proptest::collection::vec(any_go(), 0..200),
    ) {
        let mut turns = Turns::new(generation);
        for go in goes {
            turns.go(go);
        }
        let mut rounds = 0;
        while !turns.is_idle() {
            turns.go(Go::Process);
            let listeners = turns.processor.listeners().len();
            for number in 0..listeners {
                turns.go(Go::Pop(number));
                turns.go(Go::Run(number));
            }
            rounds += 1;
            prop_assert!(rounds < 100_000, "a turn waits for ever");
        }
        let stored = crate::cache::content(&turns.parts.store);
        for (id, following) in turns.processor.listeners() {
            prop_assert_eq!(&following.copy, &stored, "{:?} {:?}", generation, id);
            prop_assert_eq!(following.listener.has_synced(), turns.state.has_synced());
        }
    }
}
