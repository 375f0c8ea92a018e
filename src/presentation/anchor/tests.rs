//! Each anchor has one text, which links, embedding pages and scripts keep.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn index_key(index: &str, value: &str, key: &str) -> Anchor {
    Anchor::IndexKey {
        index: index.into(),
        value: value.into(),
        key: key.into(),
    }
}

/// At least one anchor of each kind, with its text.
fn texts() -> Vec<(Anchor, &'static str)> {
    use Anchor as A;
    let key = || Key::from("default/a");
    let handler = |place| A::Handler(2, place);
    let mut texts = vec![
        (A::ServerGauge, "api/gauge"),
        (A::Object(key()), "api/object/default/a"),
        (A::Line(7), "api/stream/7"),
        (A::Call(2), "api/call/2"),
        (A::Requests, "reflector/requests"),
        (A::LastSync, "reflector/lastsync"),
        (A::Hand, "reflector/hand"),
        (A::Entry(3), "queue/entry/3"),
        (A::More, "queue/more"),
        (A::Lock(LockName::Queue), "pop/lock"),
        (A::Lock(LockName::BlockDeltas), "pop/block"),
        (A::Slot, "pop/slot"),
        (A::PoppedDelta(1), "pop/delta/1"),
        (A::LastPopped, "pop/last"),
        (A::LastDelta, "pop/last/delta"),
        (A::StoreGauge, "store/gauge"),
        (A::Item(key()), "store/item/default/a"),
        (handler(HandlerPlace::Whole), "handler/2"),
        (handler(HandlerPlace::Sending), "handler/2/sending"),
        (handler(HandlerPlace::Running), "handler/2/running"),
        (handler(HandlerPlace::Pending(4)), "handler/2/pending/4"),
        (A::LastLine, "output/last"),
        (A::OutputLine(12), "output/line/12"),
        (A::Beside(BesidePart::Whole), "beside"),
        (A::Beside(BesidePart::Shared), "beside/shared"),
        (A::Beside(BesidePart::Alone), "beside/alone"),
        (A::Beside(BesidePart::Store(None)), "beside/store"),
        (
            A::Beside(BesidePart::Store(Some(key()))),
            "beside/store/default/a",
        ),
        (
            index_key("namespace", "", "default/a"),
            "store/index/namespace//default/a",
        ),
        // Slashes and percent signs in the names of an index and of a value are escaped; the key, which comes last,
        // is not.
        (
            index_key("app.kubernetes.io/name", "50%", "default/a"),
            "store/index/app.kubernetes.io%2Fname/50%25/default/a",
        ),
        (
            A::Delta {
                key: key(),
                index: 0,
            },
            "queue/delta/default/a/0",
        ),
    ];
    for (behind, column, place) in [
        (0, "queue/column/default/a", "queue/key/default/a"),
        (1, "queue/column/default/a#1", "queue/key/default/a#1"),
    ] {
        let key = key();
        texts.push((
            A::QueuedKey {
                key: key.clone(),
                behind,
            },
            place,
        ));
        texts.push((A::Column { key, behind }, column));
    }
    let rooms = [
        ("room/api", "door/api"),
        ("room/reflector", "door/reflector"),
        ("room/queue", "door/queue"),
        ("room/pop", "door/pop"),
        ("room/indexer", "door/indexer"),
        ("room/now", "door/now"),
        ("room/processor", "door/processor"),
    ];
    for (panel, (room, door)) in Panel::ALL.into_iter().zip(rooms) {
        texts.extend([(A::Room(panel), room), (A::Door(panel), door)]);
    }
    let states = [
        "reflector/state/list",
        "reflector/state/stream",
        "reflector/state/watch",
        "reflector/state/relist",
        "reflector/state/backoff",
        "reflector/state/stopped",
    ];
    texts.extend(StateName::ALL.into_iter().map(A::State).zip(states));
    let parts = [
        ("work/queue", "work/queue/default/a"),
        ("work/dirty", "work/dirty/default/a"),
        ("work/processing", "work/processing/default/a"),
        ("work/delayed", "work/delayed/default/a"),
        ("work/failures", "work/failures/default/a"),
    ];
    for (part, (whole, one)) in WorkPart::ALL.into_iter().zip(parts) {
        texts.extend([
            (A::Work(part, None), whole),
            (A::Work(part, Some(key())), one),
        ]);
    }
    texts
}

#[test]
fn each_anchor_has_its_text() {
    let texts = texts();
    for (anchor, text) in &texts {
        assert_eq!(anchor.to_string(), *text);
        assert_eq!(Anchor::read(text).as_ref(), Some(anchor), "{text}");
    }
    let all: BTreeSet<&str> = texts.iter().map(|(_, text)| *text).collect();
    assert_eq!(all.len(), texts.len());
}

#[test]
fn no_other_text_names_an_anchor() {
    for text in [
        "",
        "/",
        "no/such/thing",
        "room",
        "room/kitchen",
        "room/queue/x",
        "api",
        "api/gauge/1",
        "api/object",
        "api/stream/",
        "api/stream/x",
        "api/call/-1",
        "reflector/state/asleep",
        "queue/delta/a",
        "queue/delta/a/x",
        "queue/entry/",
        "pop/last/0",
        "store/index",
        "store/index/app",
        "store/index/app/web",
        "handler/",
        "handler/256",
        "handler/0/",
        "handler/0/asleep",
        "handler/0/running/",
        "handler/0/running/1",
        "handler/0/pending",
        "work",
        "work/idle",
        "output/line",
        "beside/",
        "Room/queue",
    ] {
        assert_eq!(Anchor::read(text), None, "{text}");
    }
}

proptest! {
    // The alphabet holds the characters at which a text can be split.
    #[test]
    fn each_anchor_is_read_back_from_its_text(
        numbers in any::<(u64, u8)>(),
        [at, behind] in any::<[usize; 2]>(),
        names in prop::array::uniform3("[a2F5%/#]{0,6}"),
        queued in "([a2F5%/#]{0,5}[aF%/#])?",
    ) {
        // Add a new kind of anchor here and to `texts`.
        let with_names = |anchor: Anchor| match anchor {
            Anchor::Object(_) => Anchor::Object(names[0].as_str().into()),
            Anchor::Line(_) => Anchor::Line(numbers.0),
            Anchor::Call(_) => Anchor::Call(numbers.0),
            Anchor::Column { .. } => Anchor::Column { key: queued.as_str().into(), behind },
            Anchor::QueuedKey { .. } => Anchor::QueuedKey { key: queued.as_str().into(), behind },
            Anchor::Delta { .. } => Anchor::Delta { key: names[0].as_str().into(), index: at },
            Anchor::Entry(_) => Anchor::Entry(at),
            Anchor::PoppedDelta(_) => Anchor::PoppedDelta(at),
            Anchor::Item(_) => Anchor::Item(names[0].as_str().into()),
            Anchor::IndexKey { .. } => index_key(&names[0], &names[1], &names[2]),
            Anchor::Handler(_, HandlerPlace::Pending(_)) => {
                Anchor::Handler(numbers.1, HandlerPlace::Pending(at))
            }
            Anchor::Handler(_, place) => Anchor::Handler(numbers.1, place),
            Anchor::Work(part, Some(_)) => Anchor::Work(part, Some(names[0].as_str().into())),
            Anchor::OutputLine(_) => Anchor::OutputLine(at),
            Anchor::Beside(BesidePart::Store(Some(_))) => {
                Anchor::Beside(BesidePart::Store(Some(names[0].as_str().into())))
            }
            as_it_is @ (Anchor::Room(_)
            | Anchor::Door(_)
            | Anchor::ServerGauge
            | Anchor::State(_)
            | Anchor::Requests
            | Anchor::LastSync
            | Anchor::Hand
            | Anchor::More
            | Anchor::Lock(_)
            | Anchor::Slot
            | Anchor::LastPopped
            | Anchor::LastDelta
            | Anchor::StoreGauge
            | Anchor::Work(_, None)
            | Anchor::LastLine
            | Anchor::Beside(_)) => as_it_is,
        };
        for (anchor, _) in texts() {
            let anchor = with_names(anchor);
            let text = anchor.to_string();
            prop_assert_eq!(Anchor::read(&text), Some(anchor), "{}", text);
        }
    }
}
