//! The mutation detector: which objects it finds, and how long it watches them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deltascope::cache::fact::{Fact, HandlersFact};
use deltascope::cache::mutation_detector::{COMPARE_PERIOD, Mutated, MutationDetector};
use deltascope::cache::object::{Item, Object};

use super::SECOND;
use crate::cache::Facts;

/// An object with interior mutability.
struct Mutable {
    name: String,
    value: AtomicU64,
}

impl Object for Mutable {
    fn namespace(&self) -> &str {
        ""
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        ""
    }

    fn resource_version(&self) -> &str {
        "1"
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        &NONE
    }
}

#[test]
fn a_mutated_object_is_found_once() {
    let mut detector: MutationDetector<Mutable> = MutationDetector::new(
        "pods",
        Arc::new(|o: &Mutable| o.value.load(Ordering::Relaxed)),
    );
    let objects: Vec<Arc<Mutable>> = ["a", "b"]
        .into_iter()
        .map(|name| {
            Arc::new(Mutable {
                name: name.into(),
                value: AtomicU64::new(0),
            })
        })
        .collect();
    for object in &objects {
        detector.add_object(&Item::Object(Arc::clone(object)));
    }
    detector.add_object(&Item::Opaque("no object".into()));
    assert_eq!(detector.len(), 2);
    let mut now = Duration::ZERO;
    let mut found = |detector: &mut MutationDetector<Mutable>| {
        now += COMPARE_PERIOD;
        let mut facts = Facts::new();
        let mutated = detector.compare_objects(now, &mut facts);
        let keys: Vec<String> = mutated
            .iter()
            .map(|Mutated { key, .. }| key.to_string())
            .collect();
        let stated: Vec<String> = facts
            .into_iter()
            .map(|(_, fact)| match fact {
                Fact::Handlers(HandlersFact::MutationDetected { key }) => key.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(keys, stated);
        keys
    };
    assert!(found(&mut detector).is_empty());
    objects[1].value.store(1, Ordering::Relaxed);
    assert_eq!(found(&mut detector), ["b"]);
    assert!(found(&mut detector).is_empty(), "it was already reported");
    assert_eq!(detector.message(), "cache pods modified");
}

#[test]
fn an_object_is_watched_for_two_to_four_minutes() {
    let object = |name: &str| {
        Item::object(Mutable {
            name: name.into(),
            value: AtomicU64::new(0),
        })
    };
    // An object added in second `came`, after the tick, is watched until second `until`. A rotation
    // happens before new objects are taken in.
    for (came, until) in [
        (0, 242),
        (60, 242),
        (119, 242),
        (120, 363),
        (121, 363),
        (500, 726),
    ] {
        let mut ticking: MutationDetector<Mutable> = MutationDetector::new("pods", Arc::new(|_| 0));
        let mut jumping = ticking.clone();
        for tick in 0..800 {
            let now = SECOND * tick;
            ticking.compare_objects(now, &mut ());
            let watched = usize::from(tick > came && tick < until);
            assert_eq!(ticking.len(), watched, "added at {came}, at {tick}");
            if tick == came {
                ticking.add_object(&object("a"));
                jumping.catch_up(now + SECOND / 2);
                jumping.add_object(&object("a"));
            }
            if tick < came || tick % 11 != 0 {
                continue;
            }
            // However rarely `catch_up` is called, the result is the same as with regular ticks;
            // and so is what follows.
            let (mut jumping, mut ticking) = (jumping.clone(), ticking.clone());
            jumping.catch_up(now + SECOND / 2);
            for detector in [&mut jumping, &mut ticking] {
                detector.add_object(&object("b"));
            }
            for more in 1..300 {
                ticking.compare_objects(now + SECOND * more, &mut ());
                if more % 7 == 0 {
                    jumping.catch_up(now + SECOND * more);
                    assert_eq!(jumping.len(), ticking.len(), "at {tick} + {more}");
                }
            }
        }
    }
}
