//! Looks whether the goal of a story is reached, and says what an attempt lacks.

use std::rc::Rc;

use super::{Found, Session, Telling, ask};
use crate::story::{Goal, Remark};
use crate::view::story::GoalView;
use deltascope_world::text::Text;

impl Session {
    /// Looks whether the goal is reached at the cursor; it stays reached. Playback pauses there: the moment is to be
    /// seen, not what comes after it. Where a handler is to be called, that is when it has returned. Else says what the attempt
    /// lacks, if one is over.
    pub(super) fn look_at_goal(&mut self) {
        let Some(mut telling) = self.telling.take_if(|one| one.shown && !one.reached) else {
            return;
        };
        let story = Rc::clone(&telling.story);
        let scene = story.scenes.get(telling.scene..).unwrap_or_default();
        if let (Some(goal), [scene]) = (&story.goal, scene) {
            self.look(
                &mut telling,
                goal,
                self.place_of(&scene.at).unwrap_or_default(),
            );
        }
        self.telling = Some(telling);
    }

    /// Whether the screen shows a goal that is not reached yet.
    pub(in super::super) fn aims(&self) -> bool {
        let telling = self
            .telling
            .as_ref()
            .filter(|one| one.shown && !one.reached);
        telling
            .is_some_and(|one| one.story.goal.is_some() && one.scene + 1 == one.story.scenes.len())
    }

    fn look(&mut self, telling: &mut Telling, goal: &Goal, from: usize) {
        let (picture, cursor) = (self.picture(), self.playback.cursor());
        let run = &self.timeline;
        telling.lacks = None;
        let found = &mut telling.found;
        if found.all(&goal.when, run, cursor, &picture) && found.are_over(&goal.when, run, cursor) {
            telling.reached = true;
            let holds = |one: &&Remark| ask::all(&one.when, run, from..cursor, &picture);
            telling.also = goal.also.iter().find(holds).map(|one| one.say.clone());
            self.playback.pause();
        } else if self.has_tried(from) {
            let missed = &mut telling.missed;
            missed.resize_with(goal.missed.len(), || Found::since(from));
            let mut remarks = goal.missed.iter().zip(missed);
            let said = remarks.find_map(|(one, found)| {
                let holds = found.all(&one.when, run, cursor, &picture);
                holds.then(|| one.say.clone())
            });
            telling.lacks = Some(said.unwrap_or_else(unsaid));
        }
    }

    pub(super) fn goal_view(&self, telling: &Telling, goal: &Goal) -> GoalView {
        let from = self.scene_place(telling.scene).unwrap_or_default();
        let (reached, past) = (telling.reached, self.playback.cursor() > from);
        GoalView {
            text: goal.text.clone(),
            reached,
            past,
            acted: !self.timeline.inputs().is_empty(),
            tools: goal.tools(),
            missed: telling.lacks.clone(),
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
}

/// Of a goal whose lesson does not say what is missing.
fn unsaid() -> Text {
    Text::new(
        "What is asked for has not happened.",
        "要求的事情还没有发生。",
    )
}
