//! The state of a connection, and for how long it has been silent.

use deltascope_world::text;
use serde_json::Value;

use deltascope_world::Time;
use deltascope_world::text::{Lang, Text};

/// The page mentions a silence that is longer than this, in ms: a watch gets a bookmark about every minute.
const SILENCE_MS: u64 = 75_000;

/// How long a run has been going on, by a clock that the user may set back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The last reading, in ms.
    read: f64,
    /// The time that had passed at that reading, in ms.
    passed: f64,
}

impl Clock {
    /// Starts at this reading, in ms.
    #[must_use]
    pub fn new(read: f64) -> Self {
        Self { read, passed: 0.0 }
    }

    /// The time since the start at this reading, in ms. If the clock was set back, the time continues from there.
    pub fn at(&mut self, read: f64) -> Time {
        self.passed += (read - self.read).max(0.0);
        self.read = read;
        self.latest()
    }

    /// The time since the start at the last reading, in ms.
    #[must_use]
    pub fn latest(&self) -> Time {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and a cast saturates"
        )]
        let passed = self.passed as Time;
        passed
    }
}

/// What the connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// There is no connection.
    #[default]
    Off,
    /// It has requested a list.
    Listing,
    /// It has requested a watch.
    Opening,
    /// A watch is open.
    Watching,
    /// It pauses before the next request; the seconds left.
    Waiting(u64),
}

/// The state of the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// How long nothing has arrived, in ms.
    pub silent_ms: u64,
    /// The last problem that still exists.
    pub trouble: Option<Text>,
}

impl Status {
    /// Whether there is a connection, or one is being established.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.phase != Phase::Off
    }

    /// Whether it has been silent for too long.
    #[must_use]
    pub(crate) fn is_stale(&self) -> bool {
        self.phase == Phase::Watching && self.silent_ms > SILENCE_MS
    }

    /// Whether the connection is in order: no problem, no pause, no long silence.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let waits = matches!(self.phase, Phase::Waiting(_));
        self.trouble.is_none() && !waits && !self.is_stale()
    }

    /// The state in the form that scripts read.
    #[must_use]
    pub fn to_json(&self, lang: Lang) -> [(String, Value); 3] {
        let phase = match self.phase {
            Phase::Off => "off",
            Phase::Listing => "listing",
            Phase::Opening => "opening",
            Phase::Watching => "watching",
            Phase::Waiting(_) => "waiting",
        };
        let trouble = self.trouble.as_ref().map(|trouble| trouble.get(lang));
        [
            ("phase".to_owned(), phase.into()),
            ("silentMs".to_owned(), self.silent_ms.into()),
            ("trouble".to_owned(), trouble.into()),
        ]
    }

    /// The state in the shortest form: `3 s`.
    #[must_use]
    pub fn short(&self) -> String {
        match self.phase {
            Phase::Waiting(left) => format!("↻ {left} s"),
            _ => format!("{} s", self.silent_ms / 1000),
        }
    }

    /// The state in a few words: `last data 3 s ago`.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let seconds = self.silent_ms / 1000;
        let words = match self.phase {
            Phase::Off => Text::new("not connected", "未连接"),
            Phase::Listing => text!("listing, {seconds} s", "正在 List，{seconds} 秒"),
            Phase::Opening => text!(
                "opening a watch, {seconds} s",
                "正在打开 watch，{seconds} 秒"
            ),
            Phase::Watching if self.is_stale() => {
                text!("silent for {seconds} s", "{seconds} 秒没有消息")
            }
            Phase::Watching => text!("last data {seconds} s ago", "{seconds} 秒前有消息"),
            Phase::Waiting(left) => text!("tries again in {left} s", "{left} 秒后重试"),
        };
        words.get(lang).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::trouble::failed;

    #[test]
    fn time_continues_when_the_clock_is_set_back() {
        let mut clock = Clock::new(1_000.0);
        let reads = [1_000.0, 1_500.0, 900.0, 1_000.0, 1_000.0, f64::NAN, 1_100.0];
        let seen = reads.map(|read| clock.at(read));
        assert_eq!(seen[..5], [0, 500, 500, 600, 600]);
        assert!(seen.is_sorted());
    }

    #[test]
    fn a_connection_that_pauses_is_not_in_order() {
        let status = |phase, trouble: Option<Text>| Status {
            phase,
            trouble,
            ..Status::default()
        };
        assert!(status(Phase::Watching, None).is_well());
        assert!(!status(Phase::Waiting(3), None).is_well());
        assert!(!status(Phase::Watching, Some(failed(500, "no"))).is_well());
    }

    #[test]
    fn a_long_silence_is_reported() {
        let mut status = Status {
            phase: Phase::Watching,
            silent_ms: 3_400,
            trouble: None,
        };
        assert_eq!(status.words(Lang::En), "last data 3 s ago");
        status.silent_ms = SILENCE_MS + 1;
        assert_eq!(status.words(Lang::En), "silent for 75 s");
        assert!(status.is_stale());
    }
}
