//! Looks whether the goal of a story is reached, and says what an attempt lacks.

use std::rc::Rc;

use super::{Session, Telling, ask};
use crate::i18n::Text;
use crate::story::{Goal, Remark};
use crate::view::story::GoalView;

impl Session {
    /// Looks whether the goal is reached at the cursor; it stays reached. Playback pauses there: the moment is to be
    /// seen, not what comes after it. Where a handler is to be called, that is when it has returned.
    pub(super) fn look_at_goal(&mut self) {
        let (picture, cursor) = (self.picture(), self.playback.cursor());
        let Some(telling) = self.telling.as_mut().filter(|one| one.shown) else {
            return;
        };
        let story = Rc::clone(&telling.story);
        let is_last = telling.scene + 1 == story.scenes.len();
        let Some(goal) = story.goal.as_ref().filter(|_| is_last && !telling.reached) else {
            return;
        };
        let found = &mut telling.found;
        if found.all(&goal.when, &self.timeline, cursor, &picture)
            && found.are_over(&goal.when, &self.timeline, cursor)
        {
            telling.reached = true;
            let from = self.scene_place(story.scenes.len() - 1).unwrap_or_default();
            let also = self.remark(&goal.also, from);
            if let Some(telling) = &mut self.telling {
                telling.also = also;
            }
            self.playback.pause();
        }
    }

    pub(super) fn goal_view(&self, telling: &Telling, goal: &Goal) -> GoalView {
        let from = self.scene_place(telling.scene).unwrap_or_default();
        let (reached, past) = (telling.reached, self.playback.cursor() > from);
        let is_missed = !reached && self.has_tried(from);
        let missed = is_missed.then(|| self.remark(&goal.missed, from).unwrap_or_else(unsaid));
        GoalView {
            text: goal.text.clone(),
            reached,
            past,
            acted: !self.timeline.inputs().is_empty(),
            tools: goal.tools(),
            missed,
            done: goal.done.clone().filter(|_| reached),
            also: telling.also.clone().filter(|_| reached),
            hints: goal.hints.iter().take(telling.hints).cloned().collect(),
            more_hints: telling.hints < goal.hints.len(),
        }
    }

    /// Whether an attempt is over that began after these facts: time has run since the last act, and has
    /// run out unless it never does.
    fn has_tried(&self, from: usize) -> bool {
        let (run, cursor) = (&self.timeline, self.playback.cursor());
        let acted = run.inputs().last();
        if self.playback.is_playing() {
            return false;
        }
        let is_since = |at| cursor > from && run.time_at(cursor) > at;
        match (acted, run.is_endless()) {
            (acted, true) => is_since(acted.map_or_else(|| run.time_at(from), |act| act.at)),
            (Some(act), false) => cursor == run.len() && is_since(act.at),
            (None, false) => cursor == run.len() && cursor > from,
        }
    }

    /// The first remark that holds since these facts.
    fn remark(&self, remarks: &[Remark], from: usize) -> Option<Text> {
        if remarks.is_empty() {
            return None;
        }
        let (run, cursor) = (&self.timeline, self.playback.cursor());
        let after = run.picture(cursor);
        let holds = |one: &&Remark| ask::all(&one.when, run, from..cursor, &after);
        remarks.iter().find(holds).map(|one| one.say.clone())
    }
}

/// Of a goal whose lesson does not say what is missing.
fn unsaid() -> Text {
    Text::new(
        "What is asked for has not happened.",
        "要求的事情还没有发生。",
    )
}
