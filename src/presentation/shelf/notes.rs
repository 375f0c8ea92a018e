//! Notes for whoever teaches with the lessons: what to ask, what is usually answered, what to show then. All of it is in
//! the lessons' stories; the right answers are those of their runs.

use super::Card;
use crate::session::ask;
use crate::story::{Answer, At, Story};
use crate::strings::story::answer as in_words;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_world::text::{Lang, Text};

/// What a teacher asks in a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// The lesson.
    pub card: Card,
    /// Its questions.
    pub asked: Vec<AskedNote>,
    /// What the class is to bring about, and the hints.
    pub goal: Option<(Text, Vec<Text>)>,
}

/// A question, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedNote {
    /// The number of the scene that asks it, from 1.
    pub scene: usize,
    /// Its words, without which nobody knows what the question is about.
    pub say: Text,
    /// The question.
    pub ask: Text,
    /// What is right, as the lesson's own run decides it.
    pub right: Option<Text>,
    /// Why.
    pub because: Option<Text>,
    /// What is usually answered, and where that fails.
    pub usual: Vec<(Text, Text)>,
    /// The number of the scene that shows it, and its words.
    pub show: Option<(usize, Text)>,
}

impl Notes {
    /// The notes of a lesson; it is played to know the answers.
    #[must_use]
    pub fn of(card: &Card) -> Option<Self> {
        let lesson = lessons::load(&card.id).ok()?;
        let story = Story::read(lesson.story.as_ref()?).ok()?;
        Some(Self {
            card: card.clone(),
            asked: asked(&lesson, &story),
            goal: story.goal.map(|goal| (goal.text, goal.hints)),
        })
    }
}

fn asked(lesson: &Lesson, story: &Story) -> Vec<AskedNote> {
    let answers = ask::answers_of(lesson, story);
    let scenes = story.scenes.iter().zip(answers).enumerate();
    scenes
        .filter_map(|(at, (scene, right))| {
            let asked = scene.ask.as_ref()?;
            let until = story.until(at);
            // The scene at the moment that decides it, or the one after the question.
            let later = story.scenes.iter().enumerate().skip(at + 1);
            let mut later = later.filter(|(_, one)| one.at != At::Start);
            let first = later.clone().next();
            let shown = later.find(|(_, one)| Some(&one.at) == until).or(first);
            let choices = asked.kind.labels();
            let said = |answer: &Answer| {
                let [en, zh] = [Lang::En, Lang::Zh].map(|lang| in_words(lang, &choices, answer));
                Text::new(&en, &zh)
            };
            let usual = asked.kind.answers().into_iter();
            Some(AskedNote {
                scene: at + 1,
                say: scene.say.clone(),
                ask: asked.text.clone(),
                usual: usual
                    .filter(|one| right.as_ref() != Some(one))
                    .filter_map(|one| Some((said(&one), asked.belief(&one)?)))
                    .collect(),
                right: right.as_ref().map(said),
                because: ask::because(story, asked, lesson.scenario.settings.era).cloned(),
                show: shown.map(|(at, one)| (at + 1, one.say.clone())),
            })
        })
        .collect()
}
