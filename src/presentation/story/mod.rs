//! A lesson's story: its scenes, its questions and its goal, as its file writes them.
//!
//! No answer is written down. A question holds conditions on the run, and `session::ask` computes the answer in the
//! generation that is shown.

pub mod words;

use std::sync::Arc;

use serde_json::Value;

use crate::anchor::Anchor;
use crate::stage::Panel;
use deltascope_cache::controller::Generation;
use deltascope_replay::predicate::Predicate;
use deltascope_world::fields::{Fields, Read, Wrong};
use deltascope_world::named;
use deltascope_world::source::Command;
use deltascope_world::source::scenario::Entry;
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};
use deltascope_world::virtual_time::{Input, era};

/// The story of a lesson.
#[derive(Clone, Debug)]
pub struct Story {
    /// The theme that the shelf lists it under.
    pub theme: Theme,
    /// How long it takes, in minutes.
    pub minutes: u32,
    /// The generations in which it is true as told.
    pub eras: Vec<Generation>,
    /// Symptoms and names by which one searches.
    pub search: [Vec<Arc<str>>; 2],
    /// Whether a room stays invisible until a scene lights it.
    pub unfold: bool,
    /// Whether what it has no words for is hidden; it is for whoever is new.
    pub plain: bool,
    /// The scenes, in order; at least one.
    pub scenes: Vec<Scene>,
    /// What the learner is to bring about at the end.
    pub goal: Option<Goal>,
    /// What one must change in one's own code.
    pub code: Option<Code>,
    /// Where client-go says so.
    pub sources: Vec<Source>,
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The moment that it shows: a marker, or the start.
    pub at: At,
    /// The rooms that are lit.
    pub rooms: Vec<Panel>,
    /// What has a ring around it.
    pub ring: Vec<Anchor>,
    /// What happened, and what to take from it.
    pub say: Text,
    /// What is asked before the story goes on.
    pub ask: Option<Question>,
}

/// A moment of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// Before the first fact.
    Start,
    /// A marker of the lesson.
    Marker(Arc<str>),
}

/// A question about what comes after a scene's moment.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question.
    pub text: Text,
    /// The moment that decides it; `None`: that of the next scene.
    pub until: Option<At>,
    /// Why the right answer is right, in the story's generations; empty if the file does not say.
    pub because: Text,
    /// What is asked for.
    pub kind: Kind,
}

impl Question {
    /// The belief behind a wrong answer, named as one, and where it fails; `None` if there is none for it.
    #[must_use]
    pub fn belief(&self, answer: &Answer) -> Option<Text> {
        let found = match (&self.kind, answer) {
            (Kind::Choice(choices), Answer::Choice(one)) => &choices.get(*one)?.belief,
            (Kind::Number { beliefs, .. }, Answer::Number(number)) => {
                &beliefs.iter().find(|(is, _)| is == number)?.1
            }
            (Kind::Place { beliefs, .. }, Answer::Place(room)) => {
                &beliefs.iter().find(|(of, _)| of == room)?.1
            }
            (Kind::Order { belief, .. }, Answer::Order(_)) => belief,
            (_, Answer::Choice(_) | Answer::Number(_) | Answer::Place(_) | Answer::Order(_)) => {
                return None;
            }
        };
        (*found != Text::default()).then(|| {
            text!(
                (
                    "{}",
                    thought(&found.en, ". ", "You may think: “", &["you may think"])
                ),
                (
                    "{}",
                    thought(
                        &found.zh,
                        "。",
                        "也许你以为：“",
                        &["也许你", "你也许", "你可能"]
                    )
                )
            )
        })
    }
}

/// What one believes, named as that and in quotes, and where it fails; as it is where its author has named it.
fn thought(text: &str, end: &str, before: &str, named: &[&str]) -> String {
    let said = text.to_lowercase();
    if named.iter().any(|named| said.starts_with(named)) {
        return text.to_owned();
    }
    let at = text.find(end);
    let (is, fails) = text.split_at(at.map_or(text.len(), |at| at + end.trim_end().len()));
    [before, is, "”", fails].concat()
}

/// What a question asks for.
#[derive(Clone, Debug)]
pub enum Kind {
    /// One of some answers.
    Choice(Vec<Choice>),
    /// A number.
    Number {
        /// What is counted.
        answer: Measure,
        /// What is wrong with some numbers.
        beliefs: Vec<(u64, Text)>,
    },
    /// The room that the first fact with this condition is in.
    Place {
        /// The condition.
        fact: Predicate,
        /// The rooms to choose from.
        rooms: Vec<Panel>,
        /// What is wrong with some rooms.
        beliefs: Vec<(Panel, Text)>,
    },
    /// The order in which these happen first.
    Order {
        /// What happens, and the fact that shows it.
        items: Vec<(Text, Predicate)>,
        /// What is wrong with any other order.
        belief: Text,
    },
}

impl Kind {
    /// What there is to choose from, or to be put in order, where the lesson says it.
    #[must_use]
    pub fn labels(&self) -> Vec<Text> {
        match self {
            Self::Choice(choices) => choices.iter().map(|one| one.say.clone()).collect(),
            Self::Order { items, .. } => items.iter().map(|(say, _)| say.clone()).collect(),
            Self::Number { .. } | Self::Place { .. } => Vec::new(),
        }
    }

    /// The answers there are to choose from; of all numbers and orders, those that have a belief.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        match self {
            Self::Choice(choices) => (0..choices.len()).map(Answer::Choice).collect(),
            Self::Place { rooms, .. } => rooms.iter().copied().map(Answer::Place).collect(),
            Self::Number { beliefs, .. } => {
                beliefs.iter().map(|(is, _)| Answer::Number(*is)).collect()
            }
            // As written: no order in which they happen.
            Self::Order { items, .. } => vec![Answer::Order((0..items.len()).collect())],
        }
    }
}

named! {
    /// How a question is answered.
    pub enum Form {
        /// By choosing.
        Choice = "choice",
        /// With a number.
        Number = "number",
        /// With a room.
        Place = "place",
        /// By putting items in order.
        Order = "order",
    }
}

/// An answer to choose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The answer.
    pub say: Text,
    /// What makes it right.
    pub when: Vec<Condition>,
    /// The belief behind it, and where that fails.
    pub belief: Text,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The choice of this number, from 0.
    Choice(usize),
    /// A number.
    Number(u64),
    /// A room.
    Place(Panel),
    /// The items, by their numbers, in the order in which they happen.
    Order(Vec<usize>),
}

/// A condition on a run.
#[derive(Clone, Debug)]
pub enum Condition {
    /// So many facts fulfil this; `None`: at least one.
    Fact(Predicate, Option<usize>),
    /// This path of `getState()` leads to this value.
    State(Arc<str>, Value),
}

/// A number of a run.
#[derive(Clone, Debug)]
pub enum Measure {
    /// How many facts fulfil this.
    Count(Predicate),
    /// What this path of `getState()` leads to.
    State(Arc<str>),
}

/// What a learner is to bring about.
#[derive(Clone, Debug)]
pub struct Goal {
    /// What it is.
    pub text: Text,
    /// When it is reached.
    pub when: Vec<Condition>,
    /// Hints, each of which says more than the one before.
    pub hints: Vec<Text>,
    /// A way to reach it.
    pub solution: Vec<Entry>,
    /// What an attempt lacks that has not reached it: the first that holds since the last scene's moment.
    pub missed: Vec<Remark>,
    /// What to take from it, once it is reached.
    pub done: Option<Text>,
    /// What to know of one way to reach it, in the same manner.
    pub also: Vec<Remark>,
}

impl Goal {
    /// The rooms in which its solution acts, the first one first.
    #[must_use]
    pub fn tools(&self) -> Vec<Panel> {
        let mut rooms = Vec::new();
        for entry in &self.solution {
            rooms.extend(room_of(&entry.input).filter(|room| !rooms.contains(room)));
        }
        rooms
    }
}

/// The room in which a reader does this; `None`: above the stage, or nowhere.
fn room_of(input: &Input<Command>) -> Option<Panel> {
    match input {
        Input::Pop | Input::Mode(_) => Some(Panel::Pop),
        Input::AddHandler(_) | Input::RemoveHandler(_) => Some(Panel::Processor),
        Input::Source(Command::Respond(_)) => None,
        Input::Source(_) => Some(Panel::Api),
        Input::KnownObjects(_) | Input::Print(_) | Input::Ask(_) => None,
    }
}

/// What is said of a run, if it holds.
#[derive(Clone, Debug)]
pub struct Remark {
    /// What must hold.
    pub when: Vec<Condition>,
    /// What is said.
    pub say: Text,
}

/// Go code: wrong, and right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// What to change, and why.
    pub say: Text,
    /// What to change.
    pub wrong: Arc<str>,
    /// What to change it into.
    pub right: Arc<str>,
}

/// A place in client-go's sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub title: Arc<str>,
    /// Its address.
    pub url: Arc<str>,
}

impl Source {
    /// Its file and line: `delta_fifo.go:576`.
    #[must_use]
    pub fn place(&self) -> String {
        let file = self.url.rsplit('/').next().unwrap_or_default();
        file.replace("#L", ":")
    }
}

named! {
    /// A theme of the shelf, in its order.
    pub enum Theme {
        /// The first minute.
        FirstLook = "first-look",
        /// The queue.
        Queue = "queue",
        /// The store and its indices.
        Cache = "cache",
        /// The reflector.
        ListWatch = "list-watch",
        /// The handlers.
        Handlers = "handlers",
        /// Faults.
        Faults = "faults",
        /// client-go's versions.
        Generations = "generations",
    }
}

impl Theme {
    /// Its name for readers.
    #[must_use]
    pub fn title(self, lang: Lang) -> &'static str {
        let (en, zh) = match self {
            Self::FirstLook => ("First look", "初识"),
            Self::Queue => ("The queue", "队列"),
            Self::Cache => ("The cache and its indices", "缓存与索引"),
            Self::ListWatch => ("List and watch", "List 与 watch"),
            Self::Handlers => ("Handlers", "handler"),
            Self::Faults => ("What goes wrong", "会出什么错"),
            Self::Generations => ("Generations", "实现版本"),
        };
        lang.pick(en, zh)
    }
}

impl Story {
    /// Reads a story.
    ///
    /// # Errors
    /// Says what is wrong with it, and where.
    pub fn read(value: &Value) -> Result<Self, Wrong> {
        <Self as Read>::read(value.clone())
    }

    /// The moment that decides a scene's question.
    #[must_use]
    pub fn until(&self, scene: usize) -> Option<&At> {
        let asked = self.scenes.get(scene)?.ask.as_ref()?;
        let next = || self.scenes.get(scene + 1).map(|next| &next.at);
        asked.until.as_ref().or_else(next)
    }

    /// The first moment of a scene or of an answer that is no marker of the lesson.
    #[must_use]
    pub fn unknown(&self, is_marker: impl Fn(&str) -> bool) -> Option<&Arc<str>> {
        let scenes = self.scenes.iter();
        let moments = scenes.flat_map(|scene| {
            let until = scene.ask.as_ref().and_then(|ask| ask.until.as_ref());
            [Some(&scene.at), until]
        });
        moments.flatten().find_map(|at| match at {
            At::Start => None,
            At::Marker(id) => (!is_marker(id)).then_some(id),
        })
    }

    /// The rooms that are lit by the scenes up to this one.
    #[must_use]
    pub fn unfolded(&self, scene: usize) -> Vec<Panel> {
        let scenes = self.scenes.iter().take(scene + 1);
        let lit: Vec<Panel> = scenes.flat_map(|scene| scene.rooms.clone()).collect();
        let all = Panel::ALL.into_iter();
        all.filter(|room| lit.contains(room)).collect()
    }
}

impl Question {
    /// How it is answered.
    #[must_use]
    pub fn form(&self) -> Form {
        match self.kind {
            Kind::Choice(_) => Form::Choice,
            Kind::Number { .. } => Form::Number,
            Kind::Place { .. } => Form::Place,
            Kind::Order { .. } => Form::Order,
        }
    }
}

// --- reading ------------------------------------------------------------------------------------

/// The fields of an object, read with a function that is finished by [`Fields::done`].
fn object<T>(
    what: &'static str,
    value: Value,
    read: impl FnOnce(&mut Fields) -> Result<T, Wrong>,
) -> Result<T, Wrong> {
    let mut fields = Fields::of(what, value)?;
    let read = read(&mut fields)?;
    fields.done()?;
    Ok(read)
}

/// A text that is read into a type of its own.
struct Typed<T>(T);

macro_rules! typed {
    ($($kind:ty: $text:ident => $read:expr;)*) => {$(
        impl Read for Typed<$kind> {
            fn read(value: Value) -> Result<Self, Wrong> {
                let $text = <Arc<str>>::read(value)?;
                $read.map(Self)
            }
        }
    )*};
}

typed! {
    Theme: text => Theme::named(&text).ok_or_else(|| none_of(&text, &Theme::ALL.map(Theme::id)));
    Form: text => Form::named(&text).ok_or_else(|| none_of(&text, &Form::ALL.map(Form::id)));
    Panel: text => Panel::named(&text).ok_or_else(|| none_of(&text, &Panel::ALL.map(Panel::id)));
    Anchor: text => Anchor::read(&text)
        .ok_or_else(|| format!("{text:?} is no place on the stage, such as queue/column/default/web-0").into());
    Generation: text => era(&text).map_err(Wrong::from);
    Predicate: text => text.parse().map_err(|error: deltascope_replay::predicate::PredicateError| {
        format!("{text:?}: {}", error.words().en).into()
    });
    At: text => Ok(if &*text == "start" { At::Start } else { At::Marker(text) });
}

fn none_of(text: &str, known: &[&str]) -> Wrong {
    let known = known.join(", ");
    format!("{text:?} is none of {known}").into()
}

fn typed<T>(fields: &mut Fields, name: &'static str) -> Result<T, Wrong>
where
    Typed<T>: Read,
{
    fields.need::<Typed<T>>(name).map(|typed| typed.0)
}

fn all<T>(fields: &mut Fields, name: &'static str) -> Result<Vec<T>, Wrong>
where
    Typed<T>: Read,
{
    let read: Vec<Typed<T>> = fields.get(name)?;
    Ok(read.into_iter().map(|typed| typed.0).collect())
}

impl Read for Story {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a story", value, |fields| {
            // The title of the lesson has taken its place, and older lessons still have it.
            let _older: Value = fields.get("question")?;
            let unfold = fields.get::<Option<bool>>("unfold")?.unwrap_or_default();
            let story = Self {
                theme: typed(fields, "theme")?,
                minutes: fields.need("minutes")?,
                eras: all(fields, "eras")?,
                search: match fields.get("search")? {
                    Value::Null => <[Vec<Arc<str>>; 2]>::default(),
                    search => object("search", search, |fields| {
                        Ok([fields.get("en")?, fields.get("zh")?])
                    })?,
                },
                unfold,
                plain: fields.get::<Option<bool>>("plain")?.unwrap_or(unfold),
                scenes: fields.need("scenes")?,
                goal: fields.get("goal")?,
                code: fields.get("code")?,
                sources: fields.get("sources")?,
            };
            if story.eras.is_empty() {
                return Err(Wrong::at(
                    "eras",
                    "a story needs a version, such as \"1.36\"".to_owned(),
                ));
            }
            match story.scenes.last() {
                None => Err(Wrong::at("scenes", "a story needs a scene".to_owned())),
                Some(last) if last.ask.as_ref().is_some_and(|ask| ask.until.is_none()) => {
                    Err(Wrong::at(
                        "scenes",
                        "the last scene's question needs until, a marker that decides it"
                            .to_owned(),
                    ))
                }
                Some(_) => Ok(story),
            }
        })
    }
}

impl Read for Scene {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a scene", value, |fields| {
            Ok(Self {
                at: typed(fields, "at")?,
                rooms: all(fields, "rooms")?,
                ring: all(fields, "ring")?,
                say: fields.need("say")?,
                ask: fields.get("ask")?,
            })
        })
    }
}

impl Read for Question {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a question", value, |fields| {
            let kind: Form = typed(fields, "kind")?;
            let text = fields.need("text")?;
            let because: Option<Text> = fields.get("because")?;
            let until: Option<Typed<At>> = fields.get("until")?;
            let kind = match kind {
                Form::Choice => Kind::Choice(some(fields.need("choices")?, "choices")?),
                Form::Number => Kind::Number {
                    answer: fields.need("answer")?,
                    beliefs: beliefs(fields, |fields| fields.need("is"))?,
                },
                Form::Place => Kind::Place {
                    fact: object("an answer", fields.need("answer")?, |fields| {
                        typed(fields, "fact")
                    })?,
                    rooms: some(all(fields, "rooms")?, "rooms")?,
                    beliefs: beliefs(fields, |fields| typed(fields, "room"))?,
                },
                Form::Order => Kind::Order {
                    items: some(
                        each(fields, "items", "an item", |fields| {
                            Ok((fields.need("say")?, typed(fields, "fact")?))
                        })?,
                        "items",
                    )?,
                    belief: fields.need("belief")?,
                },
            };
            Ok(Self {
                text,
                because: because.unwrap_or_default(),
                until: until.map(|typed| typed.0),
                kind,
            })
        })
    }
}

/// What a question offers, which must not be nothing.
fn some<T>(list: Vec<T>, name: &'static str) -> Result<Vec<T>, Wrong> {
    match list.is_empty() {
        true => Err(format!("a question needs {name}").into()),
        false => Ok(list),
    }
}

/// A list of objects, each of which errors call `one`, read with a function.
fn each<T>(
    fields: &mut Fields,
    name: &'static str,
    one: &'static str,
    read: impl Fn(&mut Fields) -> Result<T, Wrong>,
) -> Result<Vec<T>, Wrong> {
    let values: Vec<Value> = fields.get(name)?;
    let values = values.into_iter().enumerate();
    let read = values.map(|(place, value)| {
        object(one, value, &read).map_err(|error| error.inside_nth(place).inside(name))
    });
    read.collect()
}

fn beliefs<T>(
    fields: &mut Fields,
    of: impl Fn(&mut Fields) -> Result<T, Wrong>,
) -> Result<Vec<(T, Text)>, Wrong> {
    each(fields, "beliefs", "a belief", |fields| {
        Ok((of(fields)?, fields.need("say")?))
    })
}

impl Read for Choice {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a choice", value, |fields| {
            Ok(Self {
                say: fields.need("say")?,
                when: fields.need("when")?,
                belief: fields.get::<Option<Text>>("belief")?.unwrap_or_default(),
            })
        })
    }
}

impl Read for Condition {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a condition", value, |fields| {
            if let Some(path) = fields.get::<Option<Arc<str>>>("path")? {
                return Ok(Self::State(path, fields.need("is")?));
            }
            Ok(Self::Fact(typed(fields, "fact")?, fields.get("count")?))
        })
    }
}

impl Read for Measure {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("an answer", value, |fields| {
            if let Some(path) = fields.get::<Option<Arc<str>>>("path")? {
                return Ok(Self::State(path));
            }
            typed(fields, "fact").map(Self::Count)
        })
    }
}

impl Read for Goal {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a goal", value, |fields| {
            Ok(Self {
                text: fields.need("text")?,
                when: fields.need("when")?,
                hints: fields.get("hints")?,
                solution: fields.get("solution")?,
                missed: fields.get("missed")?,
                done: fields.get("done")?,
                also: fields.get("also")?,
            })
        })
    }
}

impl Read for Remark {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a remark", value, |fields| {
            Ok(Self {
                when: fields.need("when")?,
                say: fields.need("say")?,
            })
        })
    }
}

impl Read for Code {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("code", value, |fields| {
            Ok(Self {
                say: fields.need("say")?,
                wrong: fields.need("wrong")?,
                right: fields.need("right")?,
            })
        })
    }
}

impl Read for Source {
    fn read(value: Value) -> Result<Self, Wrong> {
        object("a source", value, |fields| {
            let title = fields.need("title")?;
            let url: Arc<str> = fields.need("url")?;
            // The page makes a link of it, whoever wrote the story.
            match url.starts_with("https://") {
                true => Ok(Self { title, url }),
                false => Err(Wrong::at(
                    "url",
                    format!("{url:?} does not begin with https://"),
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_belief_is_named_once() {
        for (en, zh, said_en, said_zh) in [
            (
                "It is gone. It is not.",
                "它没了。还在。",
                "You may think: “It is gone.” It is not.",
                "也许你以为：“它没了。”还在。",
            ),
            (
                "It is gone",
                "它没了",
                "You may think: “It is gone”",
                "也许你以为：“它没了”",
            ),
            (
                "You may think it is gone. It is not.",
                "也许你以为它没了。还在。",
                "You may think it is gone. It is not.",
                "也许你以为它没了。还在。",
            ),
            (
                "you may think: “It is gone.” No.",
                "你可能觉得它没了。不对。",
                "you may think: “It is gone.” No.",
                "你可能觉得它没了。不对。",
            ),
        ] {
            let question = Question {
                text: Text::default(),
                until: None,
                because: Text::default(),
                kind: Kind::Order {
                    items: Vec::new(),
                    belief: Text::new(en, zh),
                },
            };
            let said = question.belief(&Answer::Order(Vec::new()));
            assert_eq!(said, Some(Text::new(said_en, said_zh)));
        }
    }
}
