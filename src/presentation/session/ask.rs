//! Computes what a question's answer is, and whether a goal is reached, from the run.

use std::ops::{ControlFlow, Range};

use serde_json::Value;

use crate::rows::acting;
use crate::state::value_at;
use crate::story::{Answer, At, Condition, Kind, Measure, Question, Story};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Fact, FactRecord, HandlersFact};
use deltascope_cache::sorted::SortedMap;
use deltascope_replay::lessons::Lesson;
use deltascope_replay::picture::Picture;
use deltascope_replay::predicate::Predicate;
use deltascope_replay::recording::Recording;
use deltascope_replay::timeline::Timeline;
use deltascope_world::text::Text;

use super::OPENING;

/// The right answer, by the facts of a range; `None` if the run does not decide it.
#[must_use]
pub fn right(question: &Question, run: &Timeline, facts: Range<usize>) -> Option<Answer> {
    let picture = run.picture(facts.end);
    match &question.kind {
        Kind::Choice(choices) => {
            let mut holds = choices
                .iter()
                .map(|choice| all(&choice.when, run, facts.clone(), &picture));
            holds.position(|holds| holds).map(Answer::Choice)
        }
        Kind::Number { answer, .. } => match answer {
            Measure::Count(predicate) => {
                let count = count(predicate, run, facts);
                u64::try_from(count).ok().map(Answer::Number)
            }
            Measure::State(path) => value_at(&picture, path)?.as_u64().map(Answer::Number),
        },
        Kind::Place { fact, .. } => {
            first(fact, run, facts).map(|(_, record)| Answer::Place(acting::room(&record)))
        }
        Kind::Order { items, .. } => {
            let places = items.iter().enumerate().map(|(item, (_, fact))| {
                let (place, _) = first(fact, run, facts.clone())?;
                Some((place, item))
            });
            // Two items may be one fact.
            let places = places.map(|place| Some((place?, ())));
            let places = places.collect::<Option<SortedMap<_, _>>>()?;
            Some(Answer::Order(
                places.keys().map(|(_, item)| *item).collect(),
            ))
        }
    }
}

/// The right answer to a scene's question, in a run of its lesson.
#[must_use]
pub(crate) fn answer_of(
    lesson: &Lesson,
    story: &Story,
    scene: usize,
    run: &Timeline,
) -> Option<Answer> {
    let place = |at: &At| match at {
        At::Start => Some(0),
        At::Marker(id) => {
            let rule = lesson.markers.iter().find(|rule| rule.id == *id)?;
            rule.find(run)
        }
    };
    let one = story.scenes.get(scene)?;
    let facts = place(&one.at)?..place(story.until(scene)?)?;
    right(one.ask.as_ref()?, run, facts)
}

/// The right answers to a story's questions, scene by scene, in the lesson's own run.
#[must_use]
pub(crate) fn answers_of(lesson: &Lesson, story: &Story) -> Vec<Option<Answer>> {
    let scenes = 0..story.scenes.len();
    let recording = Recording::of(lesson.scenario.clone());
    let Ok(mut run) = recording.play() else {
        return scenes.map(|_| None).collect();
    };
    run.extend(OPENING);
    scenes
        .map(|scene| answer_of(lesson, story, scene, &run))
        .collect()
}

/// Why the right answer is right; `None` if the question does not say, or not of this generation.
#[must_use]
pub fn because<'a>(story: &Story, question: &'a Question, shown: Generation) -> Option<&'a Text> {
    let is_told = story.eras.contains(&shown) && question.because != Text::default();
    is_told.then_some(&question.because)
}

/// Whether conditions hold, by the facts of a range and the state after them.
#[must_use]
pub fn all(conditions: &[Condition], run: &Timeline, facts: Range<usize>, after: &Picture) -> bool {
    let mut found = Found::since(facts.start);
    found.all(conditions, run, facts.end, after)
}

/// The facts that conditions ask for, as far as a run has been searched: its next facts cost what they are, not what
/// came before them.
#[derive(Debug, Default)]
pub struct Found {
    seen: usize,
    /// For each condition the places of its first facts, as many as decide it.
    places: Vec<Vec<usize>>,
}

impl Found {
    /// Nothing yet, of the facts from this one on.
    #[must_use]
    pub fn since(seen: usize) -> Self {
        Self {
            seen,
            places: Vec::new(),
        }
    }

    /// Whether conditions, always the same ones, hold by the facts up to `end` and the state after them.
    pub fn all(
        &mut self,
        conditions: &[Condition],
        run: &Timeline,
        end: usize,
        after: &Picture,
    ) -> bool {
        self.search(conditions, run, end);
        let mut both = conditions.iter().zip(&self.places);
        both.all(|(condition, places)| {
            let count = places.partition_point(|place| *place < end);
            match condition {
                Condition::Fact(_, None) => count > 0,
                Condition::Fact(_, Some(times)) => count == *times,
                Condition::State(path, is) => value_at(after, path).unwrap_or(Value::Null) == *is,
            }
        })
    }

    /// Whether the calls that conditions ask for are over by the fact before `end`: only then all that they print is
    /// there.
    #[must_use]
    pub fn are_over(&self, conditions: &[Condition], run: &Timeline, end: usize) -> bool {
        let mut both = conditions.iter().zip(&self.places);
        both.all(|(condition, places)| {
            let last = places.iter().rfind(|place| **place < end);
            match (condition, last) {
                (Condition::Fact(predicate, _), Some(call)) if predicate.call.is_some() => {
                    is_over(run, *call..end)
                }
                _ => true,
            }
        })
    }

    /// The run has changed after its first `at` facts.
    pub fn cut(&mut self, at: usize) {
        self.seen = self.seen.min(at);
        for places in &mut self.places {
            places.truncate(places.partition_point(|place| *place < at));
        }
    }

    fn search(&mut self, conditions: &[Condition], run: &Timeline, end: usize) {
        self.places.resize(conditions.len(), Vec::new());
        if end <= self.seen {
            return;
        }
        let mut open: Vec<(&Predicate, usize, &mut Vec<usize>)> = conditions
            .iter()
            .zip(&mut self.places)
            .filter_map(|(condition, places)| match condition {
                Condition::Fact(predicate, times) => {
                    // One more than it may be.
                    let most = times.map_or(1, |times| times.saturating_add(1));
                    Some((predicate, most, places))
                }
                Condition::State(..) => None,
            })
            .collect();
        open.retain(|(_, most, places)| places.len() < *most);
        if !open.is_empty() {
            run.each::<()>(self.seen..end, &mut |place, record| {
                open.retain_mut(|(predicate, most, places)| {
                    if predicate.holds(record, false) {
                        places.push(place);
                    }
                    places.len() < *most
                });
                match open.is_empty() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
        }
        self.seen = end;
    }
}

/// Whether the handler that the first of these facts calls returns in them, or loses what it was called for.
fn is_over(run: &Timeline, facts: Range<usize>) -> bool {
    let mut called = None;
    let end = run.each(facts, &mut |_, record| {
        if let Fact::Handlers(HandlersFact::NotificationTaken { handler, .. }) = &record.fact {
            called = called.or(Some(*handler));
        }
        if let Fact::Handlers(
            HandlersFact::NotificationHandled { handler }
            | HandlersFact::HandlerPanicked { handler, .. }
            | HandlersFact::HandlerRemoved { handler, .. },
        ) = &record.fact
            && called == Some(*handler)
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    end.is_some()
}

fn count(predicate: &Predicate, run: &Timeline, facts: Range<usize>) -> usize {
    let mut count = 0;
    run.each::<()>(facts, &mut |_, record| {
        count += usize::from(predicate.holds(record, false));
        ControlFlow::Continue(())
    });
    count
}

fn first(
    predicate: &Predicate,
    run: &Timeline,
    facts: Range<usize>,
) -> Option<(usize, FactRecord)> {
    run.each(facts, &mut |place, record| {
        if predicate.holds(record, false) {
            ControlFlow::Break((place, record.clone()))
        } else {
            ControlFlow::Continue(())
        }
    })
}
