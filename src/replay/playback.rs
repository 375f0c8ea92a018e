//! Playing: a pure machine that says where the cursor is and how long it rests there.

/// The slowest and the fastest speed, in percent.
pub const SPEEDS: [u32; 6] = [25, 50, 100, 200, 400, 800];
/// Above this speed nothing travels any more, in percent.
pub const NO_MOTION_ABOVE: u32 = 400;
/// At most three flashes a second, however fast it plays.
pub const SHORTEST_FLASH_MS: u32 = 334;

/// The cursor and whether it moves by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playback {
    cursor: usize,
    playing: bool,
    speed: u32,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            cursor: 0,
            playing: false,
            speed: 100,
        }
    }
}

impl Playback {
    /// How many facts are shown.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether it plays.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// The speed in percent.
    #[must_use]
    pub fn speed(&self) -> u32 {
        self.speed
    }

    /// Starts; at the end there is nothing to play.
    pub fn play(&mut self, known: usize) {
        self.playing = self.cursor < known;
    }

    /// Stops where it is.
    pub fn pause(&mut self) {
        self.playing = false;
    }

    /// Sets the speed, in percent, as near as there is one.
    pub fn set_speed(&mut self, percent: u32) {
        self.speed = percent.clamp(SPEEDS[0], SPEEDS[SPEEDS.len() - 1]);
    }

    /// Moves by so many facts, within what is known.
    pub fn step(&mut self, by: i64, known: usize) {
        let cursor = i64::try_from(self.cursor)
            .unwrap_or(i64::MAX)
            .saturating_add(by)
            .max(0);
        self.seek(usize::try_from(cursor).unwrap_or(usize::MAX), known);
    }

    /// Goes to a place, within what is known.
    pub fn seek(&mut self, to: usize, known: usize) {
        self.cursor = to.min(known);
    }

    /// One tick of playing; false when it has come to the end and stopped.
    pub fn tick(&mut self, known: usize) -> bool {
        if !self.playing {
            return false;
        }
        self.step(1, known);
        self.playing = self.cursor < known;
        true
    }

    /// How long something that takes `ms` at normal speed takes now.
    #[must_use]
    pub fn scaled(&self, ms: u32) -> u32 {
        (ms * 100 / self.speed).max(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_within_what_is_known() {
        // (from, by, known) → cursor
        for (from, by, known, expected) in [
            (0, -1, 5, 0),
            (0, 1, 5, 1),
            (4, 3, 5, 5),
            (5, i64::MIN, 5, 0),
            (2, i64::MAX, 5, 5),
            (3, 1, 0, 0),
        ] {
            let mut playback = Playback::default();
            playback.seek(from, usize::MAX);
            playback.step(by, known);
            assert_eq!(playback.cursor(), expected, "{from} {by} {known}");
        }
    }

    #[test]
    fn playing_stops_at_the_end() {
        let mut playback = Playback::default();
        playback.play(2);
        assert!(playback.tick(2) && playback.is_playing());
        assert!(playback.tick(2) && !playback.is_playing());
        assert!(!playback.tick(2));
        playback.play(2);
        assert!(!playback.is_playing());
    }
}
