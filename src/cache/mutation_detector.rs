//! The mutation detector: finds objects that somebody changed although they are shared.
//!
//! Upstream: [`mutation_detector.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/mutation_detector.go),
//! which keeps a copy of each object; here it is a fingerprint.

use std::sync::Arc;
use std::time::Duration;

use super::fact::{Fact, HandlersFact};
use super::key::Key;
use super::key_func::meta_namespace_key_func;
use super::object::{Item, Object};
use super::step::Step;
use super::trace::Trace;

/// How often the objects are compared.
pub const COMPARE_PERIOD: Duration = Duration::from_secs(1);

/// How long objects are watched at least; the oldest ones up to twice as long.
pub const RETAIN_DURATION: Duration = Duration::from_secs(2 * 60);

/// Makes a number of all that must not change in an object.
pub type FingerprintFunc<O> = Arc<dyn Fn(&O) -> u64 + Send + Sync>;

/// An object that is not what it was when it came in.
#[derive(Debug)]
pub struct Mutated<O> {
    /// Its key.
    pub key: Key,
    /// It.
    pub object: Arc<O>,
}

/// Watches every object that comes in, for a few minutes.
pub struct MutationDetector<O> {
    name: Arc<str>,
    fingerprint: FingerprintFunc<O>,
    /// Those that came since the last tick.
    added: Vec<Watched<O>>,
    /// Those that came before it and since `last_rotated` …
    cached: Vec<Watched<O>>,
    /// … and those that came in the period before.
    retained: Vec<Watched<O>>,
    last_rotated: Option<Duration>,
    last_tick: Option<Duration>,
}

struct Watched<O> {
    object: Arc<O>,
    fingerprint: u64,
}

// Derived, these would ask for `O: Clone`.
impl<O> Clone for Watched<O> {
    fn clone(&self) -> Self {
        Self {
            object: Arc::clone(&self.object),
            fingerprint: self.fingerprint,
        }
    }
}

impl<O> Clone for MutationDetector<O> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            fingerprint: Arc::clone(&self.fingerprint),
            added: self.added.clone(),
            cached: self.cached.clone(),
            retained: self.retained.clone(),
            last_rotated: self.last_rotated,
            last_tick: self.last_tick,
        }
    }
}

impl<O: Object> MutationDetector<O> {
    /// Watches nothing yet. `name` says in messages what is cached.
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

    /// Watches an object from now on; tombstones and what has no metadata are not watched.
    pub fn add_object(&mut self, item: &Item<O>) {
        if let Some(object) = item.plain_object() {
            self.added.push(Watched {
                fingerprint: (self.fingerprint)(object),
                object: Arc::clone(object),
            });
        }
    }

    /// An object was written into, and where objects are plain data that made another one of it. Says
    /// whether it is watched.
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

    /// Looks at everything, and gives what was changed since it came or was last found: nothing, if
    /// all is well. To be called every [`COMPARE_PERIOD`].
    ///
    /// Upstream prints the objects and panics.
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

    /// Up to `now` it has looked every [`COMPARE_PERIOD`] since 0, and has found nothing: for a clock
    /// that jumps, where it is known that nobody has written into anything.
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
                // Then only the moments of rotation go on.
                (Some(rotated), Some(last)) if self.is_empty() => {
                    // The first tick at which it is longer ago than is retained.
                    let rotation = (RETAIN_DURATION + COMPARE_PERIOD).as_secs();
                    let times = (now - rotated).as_secs() / rotation;
                    self.last_rotated = Some(rotated + Duration::from_secs(times * rotation));
                    self.last_tick = Some(last + Duration::from_secs((now - last).as_secs()));
                }
                _ => self.tick(next),
            }
        }
    }

    /// Upstream's message for what was found.
    #[must_use]
    pub fn message(&self) -> String {
        format!("cache {} modified", self.name)
    }

    /// How many objects are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.added.len() + self.cached.len() + self.retained.len()
    }

    /// Whether nothing is watched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Retires what has been watched for long, then takes in what is new.
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
