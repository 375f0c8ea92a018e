//! What the screen shows of a lesson's story.

use crate::anchor::Anchor;
use crate::stage::Panel;
use crate::story::{Answer, Code, Form, Source};
use deltascope_cache::controller::Generation;
use deltascope_world::text::Text;

/// A scene of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryView {
    /// Which of the runs that were opened it tells.
    pub telling: u64,
    /// The number of the scene, from 0.
    pub index: usize,
    /// How many scenes there are.
    pub of: usize,
    /// In a quiz: the number of the question, from 1, and how many there are.
    pub question: Option<(usize, usize)>,
    /// Whether there is a scene to go back to.
    pub has_before: bool,
    /// Whether there is a scene to go on to.
    pub has_next: bool,
    /// The rooms that are lit.
    pub lit: Vec<Panel>,
    /// The rooms that are visible at all; `None`: all.
    pub unfolded: Option<Vec<Panel>>,
    /// Whether what it has no words for is hidden.
    pub plain: bool,
    /// What has a ring around it.
    pub ring: Vec<Anchor>,
    /// The words.
    pub say: Text,
    /// Whether the facts before its moment are playing. Its words would run ahead of the run.
    pub comes: bool,
    /// Whether these are playing, or those before an answer's moment, until the last motion is over.
    pub plays: bool,
    /// Whether the moment that is shown is another one than the scene's or its answer's.
    pub elsewhere: bool,
    /// Its question.
    pub asked: Option<Asked>,
    /// What is to be brought about; in the last scene.
    pub goal: Option<GoalView>,
    /// What one must change in one's own code; in the last scene.
    pub code: Option<Code>,
    /// Where client-go says so; in the last scene.
    pub sources: Vec<Source>,
    /// Whether the whole story is shown, as a handout.
    pub handout: bool,
    /// The generations in which the story is true as told, if the one that is shown is not among them.
    pub eras: Vec<Generation>,
}

/// How a room is shown in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lit {
    /// The scene is about it.
    Lit,
    /// The scene is about other rooms.
    Dimmed,
    /// No scene has been about it yet.
    Folded,
}

impl StoryView {
    /// How a room is shown.
    #[must_use]
    pub fn lit(&self, room: Panel) -> Lit {
        let unfolded = self.unfolded.as_ref();
        if self.lit.contains(&room) {
            Lit::Lit
        } else if unfolded.is_some_and(|unfolded| !unfolded.contains(&room)) {
            Lit::Folded
        } else {
            Lit::Dimmed
        }
    }

    /// The room to show where one is shown at a time and nothing moves; `acting`: that of the last fact.
    #[must_use]
    pub fn focus(&self, acting: Option<Panel>) -> Panel {
        let ringed = self.ring.first().map(Anchor::room);
        let acting = acting.filter(|room| self.lit.contains(room));
        let first = self.lit.first().copied();
        // After an answer, where the run showed it.
        let decided = self
            .asked
            .as_ref()
            .is_some_and(|asked| asked.verdict.is_some());
        let focus = match decided {
            true => acting.or(ringed),
            false => ringed.or(acting),
        };
        focus.or(first).unwrap_or(Panel::Api)
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// How it is answered.
    pub form: Form,
    /// The question.
    pub text: Text,
    /// The answers to choose from, or the items to be ordered, where the lesson says them.
    pub choices: Vec<Text>,
    /// What each of them stands for, in the same order.
    pub answers: Vec<Answer>,
    /// How many answers were given in this story up to the one that is shown; 0: none.
    pub number: usize,
    /// What was answered; `Some(None)`: the answer was asked for.
    pub given: Option<Option<Answer>>,
    /// What the run says to that, once it has come to that moment.
    pub verdict: Option<Verdict>,
}

/// What the run says to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The right answer.
    pub right: Answer,
    /// Whether the given one is right; `None` if none was given.
    pub is_right: Option<bool>,
    /// The belief behind a wrong answer, and where it fails.
    pub belief: Option<Text>,
    /// Why the right answer is right.
    pub because: Option<Text>,
    /// The generations in which the given answer would be right.
    pub right_in: Vec<Generation>,
}

/// What is to be brought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalView {
    /// What it is.
    pub text: Text,
    /// Whether it has been reached.
    pub reached: bool,
    /// Whether the moment that is shown is after the last scene's, where one acts.
    pub past: bool,
    /// Whether anything has been done to reach it.
    pub acted: bool,
    /// The rooms that one acts in, the first one first.
    pub tools: Vec<Panel>,
    /// What the attempt lacks that is over.
    pub missed: Option<Text>,
    /// What to take from it, once it is reached.
    pub done: Option<Text>,
    /// What to know of the way on which it was reached.
    pub also: Option<Text>,
    /// The hints that were asked for.
    pub hints: Vec<Text>,
    /// Whether there are more.
    pub more_hints: bool,
}
