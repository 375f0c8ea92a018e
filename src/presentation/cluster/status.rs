//! How a connection is: what it does, and for how long.

use serde_json::Value;

use crate::i18n::{Lang, Text};
use deltascope_world::Time;

/// Longer silence than this is worth a word, in ms: a watch is sent a bookmark about every minute.
pub const SILENCE_MS: u64 = 75_000;

/// How long a run has been going on, by a clock that somebody may set back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// What it showed last, in ms.
    read: f64,
    /// What went by until then, in ms.
    passed: f64,
}

impl Clock {
    /// From this reading on.
    #[must_use]
    pub fn new(read: f64) -> Self {
        Self { read, passed: 0.0 }
    }

    /// At this reading, in ms since the start: a clock that was set back goes on from there.
    pub fn at(&mut self, read: f64) -> Time {
        self.passed += (read - self.read).max(0.0);
        self.read = read;
        self.latest()
    }

    /// At the reading before.
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

/// What the connection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// There is none.
    #[default]
    Off,
    /// A list was asked for.
    Listing,
    /// A watch was asked for.
    Opening,
    /// A watch is open.
    Watching,
    /// Nothing is asked for until so many seconds have passed.
    Waiting(u64),
}

/// How the connection is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it does.
    pub phase: Phase,
    /// For so long nothing was heard, in ms.
    pub silent_ms: u64,
    /// What went wrong last and has not been mended.
    pub trouble: Option<Text>,
}

impl Status {
    /// Whether there is a connection, or one is being sought.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.phase != Phase::Off
    }

    /// Whether it has been silent for longer than it should.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.phase == Phase::Watching && self.silent_ms > SILENCE_MS
    }

    /// Whether nothing is amiss: nobody waits, and what is heard is young.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let waits = matches!(self.phase, Phase::Waiting(_));
        self.trouble.is_none() && !waits && !self.is_stale()
    }

    /// As scripts read it.
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

    /// In as little room as can be: `3 s`.
    #[must_use]
    pub fn short(&self) -> String {
        match self.phase {
            Phase::Waiting(left) => format!("↻ {left} s"),
            _ => format!("{} s", self.silent_ms / 1000),
        }
    }

    /// In a few words: `heard 3 s ago`.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let seconds = self.silent_ms / 1000;
        let (en, zh) = match self.phase {
            Phase::Off => ("not connected".to_owned(), "未连接".to_owned()),
            Phase::Listing => (
                format!("listing, {seconds} s"),
                format!("正在 List，{seconds} 秒"),
            ),
            Phase::Opening => (
                format!("opening a watch, {seconds} s"),
                format!("正在打开 watch，{seconds} 秒"),
            ),
            Phase::Watching if self.is_stale() => (
                format!("silent for {seconds} s"),
                format!("{seconds} 秒没有消息"),
            ),
            Phase::Watching => (
                format!("heard {seconds} s ago"),
                format!("{seconds} 秒前有消息"),
            ),
            Phase::Waiting(left) => (
                format!("tries again in {left} s"),
                format!("{left} 秒后重试"),
            ),
        };
        match lang {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::trouble::failed;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let mut clock = Clock::new(1_000.0);
        let reads = [1_000.0, 1_500.0, 900.0, 1_000.0, 1_000.0, f64::NAN, 1_100.0];
        let seen = reads.map(|read| clock.at(read));
        assert_eq!(seen[..5], [0, 500, 500, 600, 600]);
        assert!(seen.is_sorted());
    }

    #[test]
    fn who_waits_is_not_well() {
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
    fn silence_is_noticed() {
        let mut status = Status {
            phase: Phase::Watching,
            silent_ms: 3_400,
            trouble: None,
        };
        assert_eq!(status.words(Lang::En), "heard 3 s ago");
        status.silent_ms = SILENCE_MS + 1;
        assert_eq!(status.words(Lang::En), "silent for 75 s");
        assert!(status.is_stale());
    }
}
