//! Playback: a pure state machine for the position of the cursor and its pace.

/// The speeds, in percent, slowest first.
pub const SPEEDS: [u32; 6] = [25, 50, 100, 200, 400, 800];
/// Above this speed, in percent, nothing is animated.
pub const NO_MOTION_ABOVE: u32 = 400;
/// The shortest flash, in ms: at most three flashes a second at any speed.
pub const SHORTEST_FLASH_MS: u32 = 334;

/// The position of the cursor, and whether it moves by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playback {
    cursor: usize,
    playing: bool,
    speed: u32,
    /// How much faster than that it plays until it pauses, in percent.
    hurry: u32,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            cursor: 0,
            playing: false,
            speed: 100,
            hurry: 100,
        }
    }
}

impl Playback {
    /// The number of facts shown.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether the cursor moves by itself.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// The speed in percent.
    #[must_use]
    pub fn speed(&self) -> u32 {
        self.speed
    }

    /// Starts playback, unless the cursor is at the end.
    pub fn play(&mut self, known: usize) {
        self.playing = self.cursor < known;
    }

    /// Pauses at the current position.
    pub fn pause(&mut self) {
        self.playing = false;
        self.hurry = 100;
    }

    /// Plays faster until the next pause, by so many percent; below 100 at the chosen speed.
    pub fn hurry(&mut self, percent: u32) {
        self.hurry = percent.max(100);
    }

    /// Sets the speed, in percent, clamped to the range of [`SPEEDS`].
    pub fn set_speed(&mut self, percent: u32) {
        self.speed = percent.clamp(SPEEDS[0], SPEEDS[SPEEDS.len() - 1]);
    }

    /// Moves the cursor by `by` facts, within the known ones.
    pub fn step(&mut self, by: i64, known: usize) {
        let cursor = i64::try_from(self.cursor)
            .unwrap_or(i64::MAX)
            .saturating_add(by)
            .max(0);
        self.seek(usize::try_from(cursor).unwrap_or(usize::MAX), known);
    }

    /// Moves the cursor to a position, within the known facts.
    pub fn seek(&mut self, to: usize, known: usize) {
        self.cursor = to.min(known);
    }

    /// Advances by some facts, at least one; false if playback is paused.
    pub fn tick(&mut self, facts: usize, known: usize) -> bool {
        if !self.playing {
            return false;
        }
        self.seek(self.cursor.saturating_add(facts.max(1)), known);
        if self.cursor >= known {
            self.pause();
        }
        true
    }

    /// Scales a duration of `ms` at normal speed to the current speed.
    #[must_use]
    pub fn scaled(&self, ms: u32) -> u32 {
        let speed = u64::from(self.speed) * u64::from(self.hurry);
        let ms = u64::from(ms) * 10_000 / speed;
        u32::try_from(ms).unwrap_or(u32::MAX).max(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_within_the_known_facts() {
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
        assert!(playback.tick(1, 2) && playback.is_playing());
        assert!(playback.tick(1, 2) && !playback.is_playing());
        assert!(!playback.tick(1, 2));
        playback.play(2);
        assert!(!playback.is_playing());
    }
}
