//! The listener: the order of its notifications, and what remains after a panic or a close.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::fact::{Fact, HandlersFact, NotificationRef};
use deltascope::cache::listener::{
    HandlerEnd, INITIAL_BUFFER_SIZE, ListenerId, ProcessorListener, REST_AFTER_PANIC,
};
use deltascope::cache::process::Notification;
use deltascope::cache::step::Step;
use proptest::prelude::*;

use super::{Listener, add};
use crate::cache::{Facts, O, cases, pod, rv};

fn listener() -> Listener {
    ProcessorListener::new(ListenerId(3), "h")
}

fn numbered(number: usize) -> Arc<Notification<O>> {
    Arc::new(add(pod("p", &number.to_string()), number.is_multiple_of(3)))
}

fn number(notification: &Notification<O>) -> usize {
    rv(notification.object()).parse().unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Turn {
    Offer,
    Receive,
    Take,
    Done,
}

proptest! {
    #![proptest_config(cases())]

    /// In any order of turns, the handler receives each notification once and in order, the sender
    /// is blocked exactly until `pop` has received, and `HasSynced` waits for the initial list.
    #[test]
    fn notifications_stay_in_order(
        turns in proptest::collection::vec(
            prop_oneof![
                3 => Just(Turn::Offer),
                3 => Just(Turn::Receive),
                2 => Just(Turn::Take),
                2 => Just(Turn::Done),
            ],
            0..200,
        ),
    ) {
        let mut listener = listener();
        let (mut sent, mut taken) = (0, 0);
        let mut offered: Option<usize> = None;
        let mut waiting: VecDeque<usize> = VecDeque::new();
        let mut running = None;
        let mut first_list = 0;
        for turn in turns {
            match turn {
                Turn::Offer => {
                    let result = listener.offer(numbered(sent), &mut ());
                    prop_assert_eq!(result.is_ok(), offered.is_none());
                    if result.is_ok() {
                        offered = Some(sent);
                        first_list += usize::from(sent % 3 == 0);
                        sent += 1;
                    }
                }
                Turn::Receive => {
                    prop_assert_eq!(listener.receive(&mut ()), offered.is_some());
                    waiting.extend(offered.take());
                }
                Turn::Take => {
                    let next = if running.is_none() { waiting.pop_front() } else { None };
                    prop_assert_eq!(listener.is_ready(), next.is_some());
                    let notification = listener.take(&mut ());
                    prop_assert_eq!(notification.as_ref().map(|taken| number(&taken.notification)), next);
                    if let Some(next) = next {
                        prop_assert_eq!(next, taken);
                        taken += 1;
                        running = Some(next);
                    }
                }
                Turn::Done => {
                    listener.done(HandlerEnd::Returned, &mut ());
                    if let Some(done) = running.take() {
                        first_list -= usize::from(done % 3 == 0);
                    }
                }
            }
            prop_assert_eq!(listener.is_offered(), offered.is_some());
            prop_assert_eq!(listener.is_running(), running.is_some());
            prop_assert_eq!(listener.waiting(), waiting.len());
            let notifications: Vec<usize> = listener.notifications().map(|notification| number(notification)).collect();
            prop_assert_eq!(notifications, Vec::from(waiting.clone()));
            prop_assert!(!listener.has_synced());
            let mut asked = listener.clone();
            asked.upstream_has_synced(&mut ());
            prop_assert_eq!(asked.has_synced(), first_list == 0);
        }
    }
}

#[test]
fn the_ring_buffer_doubles() {
    let mut listener = listener();
    // One is next for the handler, the others are in the buffer.
    for sent in 0..=INITIAL_BUFFER_SIZE {
        let wakes = listener.add(numbered(sent), &mut ());
        assert_eq!(wakes, sent == 0, "only the first finds `run` idle");
    }
    assert_eq!(listener.capacity(), INITIAL_BUFFER_SIZE);
    listener.add(numbered(INITIAL_BUFFER_SIZE + 1), &mut ());
    assert_eq!(listener.capacity(), 2 * INITIAL_BUFFER_SIZE);
    for expected in 0..INITIAL_BUFFER_SIZE + 2 {
        let taken = listener.take(&mut ()).unwrap();
        assert_eq!(number(&taken.notification), expected);
        listener.done(HandlerEnd::Returned, &mut ());
    }
    assert!(listener.take(&mut ()).is_none());
    assert_eq!(
        listener.capacity(),
        2 * INITIAL_BUFFER_SIZE,
        "it never shrinks"
    );
}

#[test]
fn a_handler_that_panics_loses_the_notification_and_pauses() {
    let mut listener = listener();
    // The second one is in the initial list, too.
    for number in [0, 1, 3] {
        listener.add(numbered(number), &mut ());
    }
    listener.upstream_has_synced(&mut ());
    assert_eq!(listener.take(&mut ()).unwrap().rest, Duration::ZERO);
    let mut facts = Facts::new();
    listener.done(HandlerEnd::Panicked("boom".into()), &mut facts);
    assert_eq!(
        facts,
        [(
            Step::HandlerPanic,
            Fact::Handlers(HandlersFact::HandlerPanicked {
                handler: 3,
                error: "boom".into()
            })
        )]
    );
    let next = listener.take(&mut ()).unwrap();
    assert_eq!(
        (number(&next.notification), next.rest),
        (1, REST_AFTER_PANIC)
    );
    listener.done(HandlerEnd::Returned, &mut ());
    assert_eq!(listener.take(&mut ()).unwrap().rest, Duration::ZERO);
    listener.done(HandlerEnd::Returned, &mut ());
    assert!(
        !listener.has_synced(),
        "one of the initial list was never handled"
    );

    // After the sync, a panic loses only the notification.
    let mut listener = self::listener();
    listener.add(numbered(0), &mut ());
    listener.upstream_has_synced(&mut ());
    listener.take(&mut ());
    listener.done(HandlerEnd::Returned, &mut facts);
    assert!(listener.has_synced());
    assert_eq!(
        facts.last().unwrap().1,
        Fact::Handlers(HandlersFact::HandlerSynced { handler: 3 })
    );
    listener.add(numbered(1), &mut ());
    listener.take(&mut ());
    listener.done(HandlerEnd::Panicked("boom".into()), &mut ());
    assert!(listener.has_synced());
}

#[test]
fn a_closed_listener_drops_waiting_notifications_and_ends_after_the_current_one() {
    let mut listener = listener();
    for number in 0..3 {
        listener.add(numbered(number), &mut ());
    }
    listener.take(&mut ());
    listener.close();
    assert!(!listener.has_ended());
    assert!(listener.receive(&mut ()), "`pop` drops what waits");
    assert!(!listener.receive(&mut ()));
    assert!(listener.offer(numbered(4), &mut ()).is_ok());
    assert!(!listener.is_offered());
    listener.done(HandlerEnd::Returned, &mut ());
    assert!(listener.has_ended() && listener.take(&mut ()).is_none());
    listener.upstream_has_synced(&mut ());
    assert!(!listener.has_synced(), "a closed listener does not sync");
}

#[test]
fn a_notification_is_sent_then_queued_then_taken_then_handled() {
    let mut listener = listener();
    let mut facts = Facts::new();
    listener.add(numbered(0), &mut facts);
    listener.add(numbered(1), &mut facts);
    listener.take(&mut facts);
    listener.done(HandlerEnd::Returned, &mut facts);
    listener.upstream_has_synced(&mut facts);
    let names: Vec<_> = facts.iter().map(|(_, fact)| fact.name()).collect();
    assert_eq!(
        names,
        [
            "NotificationSent",
            "NotificationQueued",
            "NotificationSent",
            "NotificationQueued",
            "NotificationTaken",
            "NotificationHandled",
            "HandlerSynced"
        ]
    );
    let Fact::Handlers(HandlersFact::NotificationQueued {
        handler: 3,
        pending: 2,
        notification:
            NotificationRef::Add {
                object,
                is_in_initial_list: false,
            },
    }) = &facts[3].1
    else {
        panic!("{:?}", facts[3]);
    };
    assert_eq!(object.key, "p");
}
