//! The four generations in place of the stage, at one virtual time. The cursor of this run follows it.

use std::rc::Rc;

use crate::command::Command;
use crate::view::RaceView;
use deltascope_cache::controller::Generation;
use deltascope_replay::race::{MOST_FACTS, Race};
use deltascope_world::text::Text;
use deltascope_world::{Time, text};

use super::messages::{cannot_run, full, hand_made};
use super::{Beside, Change, Session};

/// The race.
pub(super) struct Racing {
    race: Race,
    /// The time that the lanes show; `None` before the first fact.
    time: Option<Time>,
    /// Where that put the cursor. If it is elsewhere by now, the time follows it.
    cursor: usize,
    /// Whether all partings are known.
    counted: bool,
    /// This run has changed since the race was computed.
    pub(super) stale: bool,
    shown: Option<Rc<RaceView>>,
}

impl Session {
    /// Shows the four generations; where nothing differs, at their next parting, or else at their first.
    pub(super) fn race_from_parting(&mut self) -> Change {
        let change = self.begin_race();
        let first = self.race_mut().and_then(|racing| {
            let Racing { race, time, .. } = racing;
            let is_same = !race.at(*time).differs_somewhere();
            is_same
                .then(|| {
                    race.next_parting(*time)
                        .or_else(|| race.partings().first().copied())
                })
                .flatten()
        });
        if first.is_some() {
            self.race_to(first);
        }
        change
    }

    /// Shows the four generations at the time of the cursor.
    pub(super) fn begin_race(&mut self) -> Change {
        self.playback.pause();
        self.beside = None;
        match self.racing() {
            Ok(racing) => {
                self.beside = Some(Beside::Four(racing));
                self.leave_story();
            }
            Err(message) => return self.say(message),
        }
        Change::Cut
    }

    fn racing(&self) -> Result<Racing, Text> {
        if !self.head.can_choose {
            return Err(hand_made());
        }
        let cursor = self.playback.cursor();
        if cursor > MOST_FACTS {
            return Err(too_late());
        }
        let first = self.first_run();
        let mut runs = Vec::new();
        for generation in Generation::ALL {
            let played = self.play_in(&first, generation, MOST_FACTS);
            runs.push(played.map_err(|reason| cannot_run(&reason))?.0);
        }
        let mut race = Race::new(runs);
        Ok(Racing {
            counted: race.count_partings(),
            race,
            time: self.time_of_cursor(),
            cursor,
            stale: false,
            shown: None,
        })
    }

    /// The race, if there is one.
    pub(super) fn race(&self) -> Option<&Racing> {
        match self.beside.as_ref()? {
            Beside::Two(_) => None,
            Beside::Four(racing) => Some(racing),
        }
    }

    fn race_mut(&mut self) -> Option<&mut Racing> {
        match self.beside.as_mut()? {
            Beside::Two(_) => None,
            Beside::Four(racing) => Some(racing),
        }
    }

    fn time_of_cursor(&self) -> Option<Time> {
        let cursor = self.playback.cursor();
        (cursor > 0).then(|| self.timeline.time_at(cursor))
    }

    /// Obeys a command in the race's own way, if it has one.
    pub(super) fn obey_racing(&mut self, command: &Command) -> Option<Change> {
        let time = self.race()?.time;
        Some(match command {
            Command::Step(by) => self.race_by(*by, false),
            Command::Walk { on, coarser } => self.race_by(if *on { 1 } else { -1 }, *coarser),
            // The lanes are the same, so they are not computed anew.
            Command::Generation(generation) => {
                let beside = self.beside.take();
                self.choose(*generation);
                self.notice = None;
                self.beside = beside;
                self.race_to(time);
                Change::Cut
            }
            Command::PlayUntil(_) => {
                self.beside = None;
                return None;
            }
            _ => return None,
        })
    }

    /// Goes on by moments, or by partings, or back.
    fn race_by(&mut self, by: i64, partings: bool) -> Change {
        self.playback.pause();
        self.follow_cursor();
        for _ in 0..by.unsigned_abs() {
            let Some(Racing { race, time, .. }) = self.race_mut() else {
                return Change::Cut;
            };
            let to = match (by > 0, partings) {
                (true, false) => race.next(*time),
                // Beyond the last parting, as far as the lanes were compared.
                (true, true) => race
                    .next_parting(*time)
                    .or_else(|| race.seen().filter(|seen| Some(*seen) > *time)),
                (false, false) => race.previous(*time),
                (false, true) => race.previous_parting(*time),
            };
            if to == *time || by > 0 && to.is_none() {
                break;
            }
            self.race_to(to);
        }
        Change::Cut
    }

    fn race_to(&mut self, time: Option<Time>) {
        self.go_to_time(time);
        let cursor = self.playback.cursor();
        if let Some(racing) = self.race_mut() {
            (racing.cursor, racing.time, racing.shown) = (cursor, time, None);
        }
    }

    fn go_to_time(&mut self, time: Option<Time>) {
        let known = self.timeline.len();
        let to = time.map_or(0, |time| self.timeline.extend_past(time));
        if self.timeline.len() > known {
            self.marked();
        }
        self.playback.seek(to, self.timeline.len());
    }

    /// One tick of playback. It pauses where lanes part.
    pub(super) fn race_tick(&mut self) -> Change {
        self.follow_cursor();
        let is_playing = self.playback.is_playing();
        let Some(racing) = self.race_mut().filter(|_| is_playing) else {
            return Change::None;
        };
        let Some(next) = racing.race.next(racing.time) else {
            let is_full = racing.race.is_full();
            self.playback.pause();
            return match is_full {
                true => self.say(full(MOST_FACTS)),
                false => Change::None,
            };
        };
        let parts = racing.race.parts_at(next);
        let since = self.playback.cursor();
        self.race_to(Some(next));
        if parts {
            self.playback.pause();
        }
        if let Some(at) = self.first_break(since..self.playback.cursor()) {
            self.stop_at_breaks(at);
        }
        self.stop_at_place(since);
        Change::Forward
    }

    /// Moves the lanes to the cursor, if something else has moved that.
    fn follow_cursor(&mut self) {
        let (cursor, time) = (self.playback.cursor(), self.time_of_cursor());
        if let Some(racing) = self.race_mut().filter(|one| one.cursor != cursor) {
            (racing.cursor, racing.time, racing.shown) = (cursor, time, None);
        }
    }

    /// The four generations at the time of the race.
    pub(super) fn race_view(&mut self) -> Option<Rc<RaceView>> {
        self.follow_cursor();
        if self.race()?.stale || self.playback.cursor() > MOST_FACTS {
            match self.racing() {
                Ok(other) => self.beside = Some(Beside::Four(other)),
                Err(message) => {
                    self.beside = None;
                    self.say(message);
                }
            }
        }
        let own = self.timeline.scenario().settings.era;
        let own = Generation::ALL.iter().position(|one| *one == own);
        let Racing {
            race,
            time,
            shown,
            counted,
            ..
        } = self.race_mut()?;
        let view = shown.get_or_insert_with(|| {
            let moment = race.at(*time);
            let partings = race.partings();
            let so_far = partings.partition_point(|one| Some(*one) <= *time);
            Rc::new(RaceView {
                moment,
                partings: (so_far, counted.then_some(partings.len())),
                own: own.unwrap_or_default(),
                goes_on: race.next(*time).is_some(),
            })
        });
        Some(Rc::clone(view))
    }

    /// The time of the race, in ms, if there is one.
    pub(super) fn race_time(&self) -> Option<Time> {
        let racing = self.race()?;
        Some(racing.time.unwrap_or_default())
    }
}

fn too_late() -> Text {
    text!(
        "The four generations are compared within the first {MOST_FACTS} facts of a run. Go back, or compare with one generation.",
        "四个实现版本只在运行的前 {MOST_FACTS} 个事实内对照。请后退，或只与一个实现版本比较。"
    )
}
