//! Back-off: pauses between attempts that grow and are randomized.
//!
//! Upstream: `wait.Backoff` of apimachinery, with the parameters of
//! [`reflector.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/reflector.go).

use std::time::Duration;

/// The source of the random part of a pause.
pub trait Jitter: Send + Sync {
    /// A number from 0 (included) to 1 (excluded).
    fn unit(&mut self) -> f64;

    /// A copy that continues with the same numbers.
    fn boxed_clone(&self) -> Box<dyn Jitter>;
}

impl Clone for Box<dyn Jitter> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// No jitter: always 0.
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

/// The parameters of a back-off. The defaults are the reflector's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The first pause.
    pub duration: Duration,
    /// Each pause is this many times as long as the one before. 0 or less: all pauses are equal.
    pub factor: f64,
    /// Up to this many times the pause is added at random.
    pub jitter: f64,
    /// After this many pauses they stop growing.
    pub steps: u32,
    /// The maximum pause, before jitter is added. 0: no limit.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            duration: Duration::from_millis(800),
            factor: 2.0,
            jitter: 1.0,
            // The cap divided by the first pause, rounded up: more than the doublings needed to
            // reach it.
            steps: 38,
            cap: Duration::from_secs(30),
        }
    }
}

/// After this time the back-off restarts with the first pause.
pub const BACKOFF_RESET: Duration = Duration::from_secs(120);

/// Where the time until a reset starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResetSince {
    /// At the last pause (client-go up to 0.35): a reflector that keeps failing stays at the
    /// longest pause.
    LastBackoff,
    /// At the last reset (from 0.36 on): the back-off restarts every two minutes in any case.
    LastReset,
}

/// The state of a back-off.
#[derive(Clone, Copy, Debug)]
pub struct BackoffManager {
    initial: Backoff,
    /// The next pause, and how many times it may still grow.
    duration: Duration,
    steps: u32,
    since: ResetSince,
    start: Duration,
}

impl BackoffManager {
    /// A back-off that starts at `now`.
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

/// Multiplies; saturates if the product exceeds the range of `Duration`.
fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}
