//! Tells the story of the lesson that is open: its scenes, the plays between them, its questions and its goal.

use std::rc::Rc;

use serde_json::Value;

use crate::command::{Command, SvgOptions, Tell};
use crate::handout::{self, Handout, Sheet};
use crate::motion::merged::Merged;
use crate::options::Theme;
use crate::stage::Panel;
use crate::story::{Answer, At, Scene, Story};
use crate::svg;
use crate::view::story::{Asked, StoryView, Verdict};
use deltascope_cache::controller::Generation;
use deltascope_replay::beat::{self, beat};
use deltascope_replay::recording::Recording;
use deltascope_world::text::{Lang, Text};

use super::ask::{self, Found};
use super::messages::{
    no_question, no_scene, no_story, no_story_for, not_told_here, nothing_asked, wrong_story,
};
use super::{Change, OPENING, Session, typed};

mod goal;

/// The play before a scene takes at most this long, and so does what follows on one's own acts, in ms.
const PLAY_MS: u32 = 6_000;

/// How far the story has been told.
pub(super) struct Telling {
    story: Rc<Story>,
    /// Whether the screen shows it, not the microscope.
    shown: bool,
    /// Whether only the scenes that ask something are shown.
    quiz: bool,
    scene: usize,
    /// Where the play before a scene or an answer ends.
    to: Option<usize>,
    /// The answers to the scenes' questions.
    given: Vec<Option<Given>>,
    /// How many answers have been given.
    answers: usize,
    hints: usize,
    reached: bool,
    /// What there is to know of the way that led to the goal.
    also: Option<Text>,
    /// What the goal asks for, as far as the run has been searched, …
    found: Found,
    /// … and what its remarks on an attempt do, and the one that holds.
    missed: Vec<Found>,
    lacks: Option<Text>,
    /// Whether the whole of it is shown, as a handout.
    handout: bool,
    /// The branch of the run that the story was left for, once it went on in the lesson's own.
    left: Option<u32>,
}

#[derive(Clone)]
struct Given {
    /// How many answers had been given with this one.
    number: usize,
    /// `None`: the answer was asked for.
    answer: Option<Answer>,
    /// The generations in which it is right.
    right_in: Vec<Generation>,
}

impl Telling {
    /// Whether a scene is shown on the way from one to the next.
    fn has(&self, scene: usize) -> bool {
        let asks = |scene: &Scene| scene.ask.is_some();
        self.story
            .scenes
            .get(scene)
            .is_some_and(|one| !self.quiz || asks(one))
    }

    /// The scene after this one.
    fn after(&self, scene: usize) -> Option<usize> {
        (scene + 1..self.story.scenes.len()).find(|one| self.has(*one))
    }

    /// The scene before this one.
    fn before(&self, scene: usize) -> Option<usize> {
        (0..scene).rev().find(|one| self.has(*one))
    }

    /// This scene, or the nearest one that is shown, rather a later one.
    fn near(&self, scene: usize) -> usize {
        let this = self.has(scene).then_some(scene);
        let other = this.or_else(|| self.after(scene));
        other.or_else(|| self.before(scene)).unwrap_or(scene)
    }
}

impl Session {
    pub(super) fn tell(&mut self, tell: Tell) -> Change {
        if self.telling.is_none() {
            if let Err(message) = self.begin_story() {
                return self.say(message);
            }
            // What has not begun does not go on.
            if matches!(tell, Tell::Next | Tell::Back) {
                return self.cut_to_scene(0);
            }
        }
        match tell {
            Tell::Show(shown) => self.show_story(shown),
            Tell::Scene(scene) => {
                let change = self.cut_to_scene(scene);
                // Whoever chooses the goal's scene is to try once more.
                if let Some(telling) = self.telling.as_mut().filter(|_| self.error.is_none())
                    && telling.scene + 1 == telling.story.scenes.len()
                {
                    self.anew += 1;
                    telling.hints = 0;
                    telling.reached = false;
                }
                change
            }
            Tell::Next => self.next_scene(),
            Tell::Back => self.scene_before(),
            Tell::Answer(answer) => self.answer(answer),
            Tell::Hint => {
                if let Some(telling) = &mut self.telling {
                    telling.hints += 1;
                }
                Change::None
            }
            Tell::Handout(shown) => self.show_handout(shown),
        }
    }

    fn show_handout(&mut self, shown: bool) -> Change {
        let change = match self.tells() {
            true => Change::None,
            false => self.show_story(true),
        };
        self.playback.pause();
        if let Some(telling) = &mut self.telling {
            telling.handout = shown;
        }
        change
    }

    /// Whether the screen shows the story as a handout.
    pub(super) fn shows_handout(&self) -> bool {
        let telling = self.telling.as_ref();
        telling.is_some_and(|telling| telling.shown && telling.handout)
    }

    /// The story for paper, in the generation that is shown.
    ///
    /// # Errors
    /// Fails if the lesson has no story; the error says so.
    pub(super) fn handout(&mut self, lang: Lang) -> Result<Handout, Text> {
        if self.telling.is_none() {
            self.begin_story()?;
        }
        // The lesson's own run, whatever was done to this one.
        let mut own = Self::empty();
        own.open(self.lesson.clone());
        if own.head.can_choose {
            own.choose(self.head.era);
        }
        own.begin_story()?;
        let story = own
            .telling
            .as_ref()
            .map(|telling| Rc::clone(&telling.story));
        let story = story.ok_or_else(no_story)?;
        let sheets = story.scenes.iter().enumerate().map(|(number, scene)| {
            own.cut_to_scene(number);
            let (at, until) = (own.scene_place(number), own.decided(number));
            let right = scene.ask.as_ref().zip(at.zip(until));
            let right = right.and_then(|(one, (at, to))| ask::right(one, &own.timeline, at..to));
            let options = SvgOptions {
                panels: scene.rooms.clone(),
                theme: Some(Theme::Light),
                lang,
                width: handout::WIDTH,
                strip: false,
            };
            // A generation may not come to each of them.
            let picture = at.map(|_| svg::stage(&own.view(), &options));
            let because = scene.ask.as_ref();
            let because = because.and_then(|one| ask::because(&story, one, own.head.era));
            Sheet {
                picture,
                right,
                because: because.cloned(),
            }
        });
        Ok(Handout {
            sheets: sheets.collect(),
            title: self.head.title.clone(),
            generation: self.head.era,
            story,
        })
    }

    /// Tells the story, or its questions alone, from a scene on, counted from 1; without one, at the moment that
    /// is shown.
    pub(super) fn tell_as(&mut self, quiz: bool, scene: Option<usize>) -> Result<(), Text> {
        if self.lesson.story.is_none() {
            return Err(no_story_for(quiz));
        }
        if self.telling.is_none() {
            self.begin_story()?;
        }
        let Some(telling) = &mut self.telling else {
            return Ok(());
        };
        telling.quiz = quiz;
        let scenes = telling.story.scenes.len();
        if !(0..scenes).any(|scene| telling.has(scene)) {
            telling.quiz = false;
            return Err(no_question());
        }
        let tell = match scene {
            Some(scene) if scene > scenes => return Err(no_scene(scene, scenes)),
            Some(scene) => Tell::Scene(telling.near(scene - 1)),
            None => Tell::Show(true),
        };
        self.obey(Command::Tell(tell));
        self.said_wrong()
    }

    /// Shows the scene of a link, in the run of the link.
    pub(super) fn open_scene(&mut self, scene: usize) {
        if self.own_run().is_none() {
            self.tell(Tell::Scene(scene));
            return;
        }
        if let Err(message) = self.begin_story() {
            self.say(message);
            return;
        }
        self.find_scenes();
        if let Some(telling) = &mut self.telling {
            telling.shown = true;
            telling.scene = scene.min(telling.story.scenes.len() - 1);
        }
    }

    pub(super) fn answer_with(&mut self, given: &Value) -> Change {
        let told = self.telling.as_ref().filter(|telling| telling.shown);
        let scene = told.and_then(|telling| telling.story.scenes.get(telling.scene));
        let Some(asked) = scene.and_then(|scene| scene.ask.as_ref()) else {
            return self.say(nothing_asked());
        };
        match typed::answer(asked, given) {
            Ok(answer) => self.tell(Tell::Answer(answer)),
            Err(message) => self.say(message),
        }
    }

    /// Starts over, a story with its first scene and without its answers.
    pub(super) fn reset(&mut self) -> Change {
        self.anew += 1;
        // A story is told in the lesson's own run, with none of what was set.
        let change = match self.tells() {
            true => self.cut_to_scene(self.telling.as_ref().map_or(0, |one| one.near(0))),
            false => self.start_over(),
        };
        if let Some(telling) = self.telling.as_mut().filter(|_| self.error.is_none()) {
            telling.given.fill(None);
            telling.hints = 0;
            telling.reached = false;
            telling.to = None;
            telling.scene = telling.near(0);
        }
        change
    }

    /// The run has changed after its first `at` facts: what was played up to is another place now.
    pub(super) fn cut_story(&mut self, at: usize) {
        if let Some(telling) = &mut self.telling {
            telling.to = None;
            telling.found.cut(at);
            telling.missed.clear();
        }
    }

    /// Whether the screen shows a story.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.telling.as_ref().is_some_and(|telling| telling.shown)
    }

    /// Whether the play before a scene, or before what decides an answer, is on. Its last motion is part of it.
    #[must_use]
    pub fn plays_scene(&self) -> bool {
        let to = self.scene_end();
        self.playback.is_playing() && to.is_some_and(|to| self.playback.cursor() <= to)
    }

    /// Ends the play whose last motion is over. Returns whether there was one.
    pub(super) fn end_scene(&mut self) -> bool {
        let is_over = self.plays_scene() && self.scene_end() == Some(self.playback.cursor());
        if is_over {
            self.playback.pause();
            self.forget_end();
        }
        is_over
    }

    /// The scene that is shown, from 0.
    pub(super) fn scene_shown(&self) -> Option<usize> {
        let telling = self.telling.as_ref().filter(|telling| telling.shown)?;
        Some(telling.scene)
    }

    /// Where playback ends.
    pub(super) fn scene_end(&self) -> Option<usize> {
        self.telling.as_ref().filter(|one| one.shown)?.to
    }

    fn begin_story(&mut self) -> Result<(), Text> {
        let value = self.lesson.story.clone().ok_or_else(no_story)?;
        let story = Story::read(&value).map_err(|wrong| wrong_story(&wrong.message()))?;
        let is_marker = |id: &str| self.lesson.markers.iter().any(|marker| &*marker.id == id);
        if let Some(id) = story.unknown(is_marker) {
            return Err(wrong_story(&format!("{id:?} is no marker of the lesson")));
        }
        self.telling = Some(Telling {
            given: vec![None; story.scenes.len()],
            answers: 0,
            story: Rc::new(story),
            shown: false,
            quiz: false,
            scene: 0,
            to: None,
            hints: 0,
            reached: false,
            also: None,
            found: Found::default(),
            missed: Vec::new(),
            lacks: None,
            handout: false,
            left: None,
        });
        Ok(())
    }

    fn place_of(&self, at: &At) -> Option<usize> {
        match at {
            At::Start => Some(0),
            At::Marker(id) => {
                let marker = self.markers.iter().find(|marker| marker.id == *id)?;
                Some(marker.at)
            }
        }
    }

    fn scene_place(&self, scene: usize) -> Option<usize> {
        self.place_of(&self.telling.as_ref()?.story.scenes.get(scene)?.at)
    }

    /// Where a scene's question is decided.
    fn decided(&self, scene: usize) -> Option<usize> {
        self.place_of(self.telling.as_ref()?.story.until(scene)?)
    }

    /// Shows the run without its story.
    pub(super) fn leave_story(&mut self) {
        if let Some(telling) = &mut self.telling {
            telling.shown = false;
            telling.to = None;
        }
    }

    fn show_story(&mut self, shown: bool) -> Change {
        self.playback.pause();
        let cursor = self.playback.cursor();
        self.beside = None;
        if shown {
            self.find_scenes();
        }
        let Some(telling) = &self.telling else {
            return Change::None;
        };
        let scenes = 0..telling.story.scenes.len();
        // The last scene that has come.
        let reached = scenes
            .filter(|scene| telling.has(*scene))
            .filter(|scene| self.scene_place(*scene).is_some_and(|at| at <= cursor))
            .max();
        let keeps = telling.has(telling.scene)
            && self
                .scene_place(telling.scene)
                .is_some_and(|at| at <= cursor)
            && (reached == Some(telling.scene) || self.decided(telling.scene) >= Some(cursor));
        if let Some(telling) = &mut self.telling {
            telling.shown = shown;
            telling.to = None;
            if !keeps && shown {
                telling.scene = reached.unwrap_or_default();
            }
        }
        if shown && reached.is_none() {
            let first = self.telling.as_ref().map_or(0, |one| one.near(0));
            return self.cut_to_scene(first);
        }
        Change::Cut
    }

    /// Computes the run so far that all scenes are found.
    fn find_scenes(&mut self) {
        if self.timeline.len() < OPENING {
            self.timeline.extend(OPENING);
            self.marked();
        }
    }

    /// The place of a scene in the lesson's own run, without what the user did. A run that differs is left only if the scene
    /// comes there.
    fn go_to_scene(&mut self, scene: usize) -> Result<usize, Change> {
        let left = match self.begin_own_run() {
            Ok(left) => left,
            Err(message) => return Err(self.say(message)),
        };
        self.find_scenes();
        let Some(place) = self.scene_place(scene) else {
            if let Some(left) = left {
                let own = self.branches.current();
                self.switch(left);
                self.remove_branch(own);
            }
            let eras = self.telling.as_ref().map(|one| one.story.eras.clone());
            return Err(self.say(not_told_here(&eras.unwrap_or_default())));
        };
        if let Some(telling) = &mut self.telling {
            telling.shown = true;
            telling.scene = scene;
            telling.to = None;
            // Whoever comes to its moment is asked anew.
            if let Some(given) = telling.given.get_mut(scene) {
                *given = None;
            }
            // Only the last run of this kind is kept: trying the goal again and again fills nothing.
            if left.is_some()
                && let Some(before) = std::mem::replace(&mut telling.left, left)
                && self
                    .branches
                    .get(before)
                    .is_some_and(|one| one.name.is_empty())
            {
                self.remove_branch(before);
            }
        }
        Ok(place)
    }

    fn cut_to_scene(&mut self, scene: usize) -> Change {
        let last = self
            .telling
            .as_ref()
            .map_or(0, |one| one.story.scenes.len() - 1);
        self.playback.pause();
        match self.go_to_scene(scene.min(last)) {
            Ok(place) => self.land(place),
            Err(change) => change,
        }
    }

    /// Goes to the moment of the scene that is shown, or of its answer, as if the run had been played up to it.
    fn land(&mut self, to: usize) -> Change {
        let telling = self.telling.as_ref();
        // From the scene itself to its answer, else from the one before.
        let own = telling.map(|telling| telling.scene);
        let before = telling.and_then(|telling| telling.before(telling.scene));
        let mut places = [own, before].into_iter().flatten();
        let place = places.find_map(|scene| self.scene_place(scene).filter(|at| *at < to));
        let mut at = place.unwrap_or_default();
        while at < to {
            let facts = self.timeline.facts(at..(at + beat::MOST).min(to));
            let Some(beat) = beat(&facts) else { break };
            let end = (at + beat.facts).min(to);
            self.landed = Some(at..end);
            at = end;
        }
        self.go_to(to)
    }

    fn next_scene(&mut self) -> Change {
        let Some(telling) = &self.telling else {
            return Change::None;
        };
        if let Some(to) = telling
            .to
            .filter(|to| self.playback.cursor() < *to || self.plays_scene())
        {
            return self.arrive(to);
        }
        let Some(next) = telling.after(telling.scene) else {
            return Change::None;
        };
        match self.go_to_scene(next) {
            Ok(place) => self.play_to(place),
            Err(change) => change,
        }
    }

    fn scene_before(&mut self) -> Change {
        let Some(telling) = &self.telling else {
            return Change::None;
        };
        let (scene, cursor) = (telling.scene, self.playback.cursor());
        let before = telling.before(scene).unwrap_or(scene);
        // From an answer to its question, also while it plays.
        let end = telling.to.map_or(cursor, |to| to.max(cursor));
        let is_later = self.scene_place(scene).is_some_and(|at| at < end);
        self.cut_to_scene(if is_later { scene } else { before })
    }

    /// What plays next has no end of a scene's.
    pub(super) fn forget_end(&mut self) {
        if let Some(telling) = &mut self.telling {
            telling.to = None;
        }
    }

    fn arrive(&mut self, to: usize) -> Change {
        self.playback.pause();
        self.forget_end();
        self.land(to)
    }

    /// Plays up to a place, in a time that one can follow.
    fn play_to(&mut self, to: usize) -> Change {
        let from = self.playback.cursor();
        if to <= from {
            return self.arrive(to);
        }
        if let Some(telling) = &mut self.telling {
            telling.to = Some(to);
        }
        self.playback.play(self.timeline.len());
        self.hurry_to(to);
        Change::None
    }

    /// Plays as fast as it takes to be at a place in time.
    pub(super) fn hurry_to(&mut self, to: usize) {
        let from = self.playback.cursor();
        // Measured without the hurry that may still be on.
        self.playback.hurry(100);
        let percent = self.length(from, to).saturating_mul(100) / PLAY_MS;
        self.playback.hurry(percent);
    }

    /// How long playback from one place to another takes, in ms at the chosen speed.
    fn length(&self, from: usize, to: usize) -> u32 {
        let mut picture = self.timeline.picture(from);
        let (mut at, mut ms) = (from, 0_u32);
        while at < to {
            let facts = self.timeline.facts(at..(at + beat::MOST).min(to));
            let Some(beat) = beat(&facts) else { break };
            let mut merged = Merged::default();
            for record in facts.iter().take(beat.facts) {
                picture.apply(record);
                merged.add(record, &picture);
            }
            ms = ms.saturating_add(self.playback.scaled(merged.scene().ms));
            at += beat.facts.max(1);
        }
        ms
    }

    fn answer(&mut self, answer: Option<Answer>) -> Change {
        let Some(telling) = &self.telling else {
            return Change::None;
        };
        let (scene, story) = (telling.scene, Rc::clone(&telling.story));
        if story.scenes.get(scene).is_none_or(|one| one.ask.is_none()) {
            return Change::None;
        }
        // The question is about the lesson's own run, after the scene's moment.
        let place = match self.go_to_scene(scene) {
            Ok(place) => place,
            Err(change) => return change,
        };
        if self.playback.cursor() != place {
            self.go_to(place);
        }
        let Some(to) = self.decided(scene) else {
            return self.say(not_told_here(&story.eras));
        };
        let right_in = match &answer {
            Some(answer) => self.right_in(&story, scene, answer),
            None => Vec::new(),
        };
        if let Some(telling) = &mut self.telling
            && let Some(given) = telling.given.get_mut(scene)
        {
            telling.answers += 1;
            *given = Some(Given {
                number: telling.answers,
                answer,
                right_in,
            });
        }
        self.play_to(to)
    }

    /// The generations in which an answer is right.
    fn right_in(&self, story: &Story, scene: usize, answer: &Answer) -> Vec<Generation> {
        if !self.head.can_choose {
            return Vec::new();
        }
        let all = Generation::ALL.into_iter();
        all.filter(|generation| {
            let recording = Recording::of(self.lesson.scenario.clone());
            let Ok(mut run) = recording.in_generation(*generation).play() else {
                return false;
            };
            run.extend(OPENING);
            ask::answer_of(&self.lesson, story, scene, &run) == Some(answer.clone())
        })
        .collect()
    }

    /// What the screen shows of the story.
    pub(super) fn story_view(&mut self) -> Option<Rc<StoryView>> {
        self.look_at_goal();
        let cursor = self.playback.cursor();
        let telling = self.telling.as_ref().filter(|telling| telling.shown)?;
        let story = Rc::clone(&telling.story);
        let index = telling.scene;
        let scene = story.scenes.get(index)?;
        let is_last = index + 1 == story.scenes.len();
        let (place, decided) = (self.scene_place(index), self.decided(index));
        let plays = self.plays_scene();
        // Before its moment and not on the way there, an answer is not given yet.
        let answers = decided.is_some_and(|to| to <= cursor || telling.to == Some(to));
        let given = telling.given.get(index).cloned().flatten();
        let given = given.filter(|_| answers);
        let asked = scene.ask.as_ref().map(|question| {
            let came = place.zip(decided);
            let came = came.filter(|(_, to)| *to <= cursor && !plays);
            let verdict = given.clone().zip(came).and_then(|(given, (from, to))| {
                let right = ask::right(question, &self.timeline, from..to)?;
                let is_right = given.answer.as_ref().map(|answer| *answer == right);
                let wrong = given.answer.as_ref().filter(|_| is_right == Some(false));
                Some(Verdict {
                    belief: wrong.and_then(|one| question.belief(one)),
                    because: ask::because(&story, question, self.head.era).cloned(),
                    right_in: match wrong {
                        Some(_) => given.right_in.clone(),
                        None => Vec::new(),
                    },
                    right,
                    is_right,
                })
            });
            Asked {
                form: question.form(),
                text: question.text.clone(),
                choices: question.kind.labels(),
                answers: question.kind.answers(),
                number: given.as_ref().map_or(0, |given| given.number),
                given: given.clone().map(|given| given.answer),
                verdict,
            }
        });
        let comes = plays && telling.to == place;
        let is_here = Some(cursor) == place || given.is_some() && Some(cursor) == decided;
        let goal = story.goal.as_ref().filter(|_| is_last);
        let goal = goal.map(|goal| self.goal_view(telling, goal));
        // What an answer leads to happens in the rooms of the next scene, too, and around what that one is about.
        let lit =
            index + usize::from(given.is_some() && !is_last && cursor > place.unwrap_or(cursor));
        let era = self.head.era;
        Some(Rc::new(StoryView {
            telling: self.opened,
            index,
            of: story.scenes.len(),
            question: telling.quiz.then(|| {
                let asked = (0..story.scenes.len()).filter(|scene| telling.has(*scene));
                let asked: Vec<usize> = asked.collect();
                let number = asked.iter().filter(|scene| **scene <= index).count();
                (number, asked.len())
            }),
            has_before: telling.before(index).is_some() || place.is_some_and(|at| at < cursor),
            has_next: telling.after(index).is_some(),
            lit: Panel::ALL
                .into_iter()
                .filter(|room| {
                    let mut scenes = story.scenes.iter().take(lit + 1).skip(index);
                    scenes.any(|one| one.rooms.contains(room))
                })
                .collect(),
            unfolded: story.unfold.then(|| story.unfolded(lit)),
            plain: story.plain,
            ring: story.scenes.get(lit).unwrap_or(scene).ring.clone(),
            say: scene.say.clone(),
            comes,
            plays,
            elsewhere: !plays && !is_here && telling.after(index).is_some(),
            asked,
            goal,
            code: story.code.clone().filter(|_| is_last),
            sources: match is_last {
                true => story.sources.clone(),
                false => Vec::new(),
            },
            handout: telling.handout,
            eras: match story.eras.contains(&era) || !self.head.can_choose {
                true => Vec::new(),
                false => story.eras.clone(),
            },
        }))
    }
}
