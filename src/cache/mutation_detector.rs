//! The mutation detector: finds shared objects that were modified.
//!
//! Upstream:
//! [`mutation_detector.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/mutation_detector.go),
//! which keeps a copy of each object. Here it is a fingerprint.

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::fact::{Fact, HandlersFact};
use super::key::Key;
use super::key_func::meta_namespace_key_func;
use super::object::{Item, Object};
use super::step::Step;
use super::trace::Trace;

/// Interval between two comparisons.
pub const COMPARE_PERIOD: Duration = Duration::from_secs(1);

/// Minimum time for which an object is watched; the maximum is about twice as long.
pub const RETAIN_DURATION: Duration = Duration::from_secs(2 * 60);

/// Computes a fingerprint of everything in an object that must not change.
pub type FingerprintFunc<O> = Arc<dyn Fn(&O) -> u64 + Send + Sync>;

/// An object that was modified after it was added.
#[derive(Debug)]
pub struct Mutated<O> {
    /// The object's key.
    pub key: Key,
    /// The object.
    pub object: Arc<O>,
}

/// Watches every added object for a few minutes.
#[derive_where(Clone)]
pub struct MutationDetector<O> {
    name: Arc<str>,
    fingerprint: FingerprintFunc<O>,
    /// Objects added since the last tick.
    added: Vec<Watched<O>>,
    /// Objects added before that, since `last_rotated` …
    cached: Vec<Watched<O>>,
    /// … and objects from the period before.
    retained: Vec<Watched<O>>,
    last_rotated: Option<Duration>,
    last_tick: Option<Duration>,
}

#[derive_where(Clone)]
struct Watched<O> {
    object: Arc<O>,
    fingerprint: u64,
}

impl<O: Object> MutationDetector<O> {
    /// A detector without objects. `name` names the cache in messages.
    #[must_use]
    pub fn new(name: &str, fingerprint: FingerprintFunc<O>) -> Self {
        Self {
            name: name.into(),
            fingerprint,
            added: Vec::new(),
            cached: Vec::new(),
            retained: Vec::new(),
            last_rotated: None,
            last_tick: None,
        }
    }

    /// Watches an object from now on. Ignores tombstones and items without metadata.
    pub fn add_object(&mut self, item: &Item<O>) {
        if let Some(object) = item.plain_object() {
            self.added.push(Watched {
                fingerprint: (self.fingerprint)(object),
                object: Arc::clone(object),
            });
        }
    }

    /// Records a write into a shared object, which replaced `old` by `new` because objects here are
    /// plain data. Returns whether the object is watched.
    pub fn write_through(&mut self, old: &Arc<O>, new: &Arc<O>) -> bool {
        let mut found = false;
        for watched in self.watched() {
            if Arc::ptr_eq(&watched.object, old) {
                watched.object = Arc::clone(new);
                found = true;
            }
        }
        found
    }

    /// Compares all objects and returns those that changed since they were added or last reported.
    /// Call it every [`COMPARE_PERIOD`].
    ///
    /// client-go prints the objects and panics.
    pub fn compare_objects(&mut self, now: Duration, trace: &mut impl Trace) -> Vec<Mutated<O>> {
        self.tick(now);
        let mut mutated = Vec::new();
        let fingerprint_of = Arc::clone(&self.fingerprint);
        for watched in self.watched() {
            let fingerprint = fingerprint_of(&watched.object);
            if fingerprint == watched.fingerprint {
                continue;
            }
            watched.fingerprint = fingerprint;
            let object = Arc::clone(&watched.object);
            let key = meta_namespace_key_func(&Item::Object(Arc::clone(&object)))
                .unwrap_or_else(|_| Key::from(""));
            trace.fact(Step::MutationCheck, || {
                Fact::Handlers(HandlersFact::MutationDetected { key: key.clone() })
            });
            mutated.push(Mutated { key, object });
        }
        mutated
    }

    /// Advances to `now` as if it had compared every [`COMPARE_PERIOD`] since 0 and found nothing.
    /// For a clock that jumps, when it is known that no object was modified.
    pub fn catch_up(&mut self, now: Duration) {
        loop {
            let next = match self.last_tick {
                None => Duration::ZERO,
                Some(last) => last + COMPARE_PERIOD,
            };
            if next > now {
                return;
            }
            match (self.last_rotated, self.last_tick) {
                // Without objects, only the rotation times advance.
                (Some(rotated), Some(last)) if self.is_empty() => {
                    // The rotation interval: the first tick that is more than the retain duration
                    // later.
                    let rotation = (RETAIN_DURATION + COMPARE_PERIOD).as_secs();
                    let times = (now - rotated).as_secs() / rotation;
                    self.last_rotated = Some(rotated + Duration::from_secs(times * rotation));
                    self.last_tick = Some(last + Duration::from_secs((now - last).as_secs()));
                }
                _ => self.tick(next),
            }
        }
    }

    /// client-go's message for a modified object.
    #[must_use]
    pub fn message(&self) -> String {
        format!("cache {} modified", self.name)
    }

    /// Number of watched objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.added.len() + self.cached.len() + self.retained.len()
    }

    /// Whether no object is watched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops objects that have been watched for long enough, then takes in the new ones.
    fn tick(&mut self, now: Duration) {
        self.last_tick = Some(now);
        match self.last_rotated {
            None => self.last_rotated = Some(now),
            Some(last) if now.saturating_sub(last) > RETAIN_DURATION => {
                self.retained = std::mem::take(&mut self.cached);
                self.last_rotated = Some(now);
            }
            Some(_) => {}
        }
        self.cached.append(&mut self.added);
    }

    fn watched(&mut self) -> impl Iterator<Item = &mut Watched<O>> {
        let old = self.cached.iter_mut().chain(&mut self.retained);
        old.chain(&mut self.added)
    }
}
