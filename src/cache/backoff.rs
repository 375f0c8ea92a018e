//! How long to wait before the next attempt: longer each time, and never quite the same.
//!
//! Upstream: `wait.Backoff` of apimachinery, with the numbers of
//! [`reflector.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/reflector.go).

use std::time::Duration;

/// Where the random part of a pause comes from.
pub trait Jitter: Send + Sync {
    /// A number from 0 (included) to 1 (excluded).
    fn unit(&mut self) -> f64;

    /// A copy that goes on as this one would.
    fn boxed_clone(&self) -> Box<dyn Jitter>;
}

impl Clone for Box<dyn Jitter> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// No random part: always 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJitter;

impl Jitter for NoJitter {
    fn unit(&mut self) -> f64 {
        0.0
    }

    fn boxed_clone(&self) -> Box<dyn Jitter> {
        Box::new(*self)
    }
}

/// The numbers of a back-off. The default ones are the reflector's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The first pause.
    pub duration: Duration,
    /// Each pause is so many times the one before; not above 0: all are equal.
    pub factor: f64,
    /// Up to so many times the pause is added at random.
    pub jitter: f64,
    /// After so many pauses they stop growing.
    pub steps: u32,
    /// They do not grow beyond this; what is added at random comes on top. 0: no limit.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            duration: Duration::from_millis(800),
            factor: 2.0,
            jitter: 1.0,
            // The cap over the first pause, rounded up: more than the doublings that lead there.
            steps: 38,
            cap: Duration::from_secs(30),
        }
    }
}

/// After so long a time the pauses begin anew.
pub const BACKOFF_RESET: Duration = Duration::from_secs(120);

/// Since when the time until a reset is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResetSince {
    /// Since the last pause was asked for (up to client-go 0.35): whoever fails all the time stays
    /// at the longest pause.
    LastBackoff,
    /// Since the last reset (from 0.36 on): every two minutes it begins anew, come what may.
    LastReset,
}

/// A back-off at work.
#[derive(Clone, Copy, Debug)]
pub struct BackoffManager {
    initial: Backoff,
    /// The next pause, and how often it may still grow.
    duration: Duration,
    steps: u32,
    since: ResetSince,
    start: Duration,
}

impl BackoffManager {
    /// Begins at `now`.
    #[must_use]
    pub fn new(backoff: Backoff, since: ResetSince, now: Duration) -> Self {
        Self {
            initial: backoff,
            duration: backoff.duration,
            steps: backoff.steps,
            since,
            start: now,
        }
    }

    /// The next pause; `unit` is a number from 0 to 1.
    pub fn step(&mut self, now: Duration, unit: f64) -> Duration {
        let reset = now.saturating_sub(self.start) > BACKOFF_RESET;
        if reset {
            self.duration = self.initial.duration;
            self.steps = self.initial.steps;
        }
        if reset || self.since == ResetSince::LastBackoff {
            self.start = now;
        }
        let pause = times(self.duration, 1.0 + unit * self.initial.jitter.max(0.0));
        if self.steps > 0 {
            self.steps -= 1;
            self.grow();
        }
        pause
    }

    fn grow(&mut self) {
        let Backoff { factor, cap, .. } = self.initial;
        if factor <= 0.0 {
            return;
        }
        self.duration = times(self.duration, factor);
        if !cap.is_zero() && self.duration > cap {
            self.duration = cap;
            self.steps = 0;
        }
    }
}

/// Saturates, where the product is no duration.
fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}
