//! A run in words, fact by fact.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use serde_json::{Value, json};

use crate::caption::{self, Voice, Words};
use crate::command::Command;
use crate::decimal::seconds;
use crate::fact_queries;
use crate::lanes::actor_name;
use crate::view::RECENT;
use deltascope_cache::fact::{Cause, Fact, FactRecord, HandlersFact};
use deltascope_replay::picture::Picture;
use deltascope_replay::predicate::Predicate;
use deltascope_replay::timeline::{MAX_FACTS, SEGMENT};
use deltascope_world::source::visible;
use deltascope_world::text::{Lang, Text};
use deltascope_world::{Time, in_lang};

use super::Session;
use crate::view::walking::Said;

/// An exported transcript contains at most this many facts.
const MAX_TRANSCRIBED: usize = 20_000;

/// Where the report ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// At the end of the run; if it is endless, at the cursor.
    End,
    /// After the last fact of this moment.
    Time(Time),
    /// After the first fact that fulfils this predicate.
    Condition(Predicate),
}

/// The part of a run to report, and how.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'a> {
    /// The number of facts to skip …
    pub from: usize,
    /// … and the number of facts up to the end.
    pub to: usize,
    /// The object to report; `None`: all objects.
    pub key: Option<&'a str>,
    /// The language.
    pub lang: Lang,
    /// Whether to write one JSON object per line instead of words.
    pub json: bool,
}

impl Session {
    /// The run in words; only its last part if it is long.
    pub(super) fn transcript(&self, lang: Lang) -> String {
        let end = self.end();
        let mut text = String::new();
        let excerpt = Excerpt {
            from: end.saturating_sub(MAX_TRANSCRIBED),
            to: end,
            key: None,
            lang,
            json: false,
        };
        self.transcribe(&excerpt, &mut |part| {
            text.push_str(part);
            ControlFlow::Continue(())
        });
        text
    }

    fn end(&self) -> usize {
        if self.timeline.is_endless() || self.timeline.is_full() {
            self.playback.cursor()
        } else {
            self.timeline.len()
        }
    }

    /// Goes to the end of the report. Returns the number of facts up to there.
    ///
    /// # Errors
    /// Fails if the predicate never holds.
    pub fn go_until(&mut self, until: &Until) -> Result<usize, Text> {
        let end = match until {
            Until::End => self.end(),
            Until::Time(time) => self.timeline.extend_past(*time),
            Until::Condition(predicate) => self.first(predicate)?,
        };
        self.obey(Command::Seek(end));
        Ok(self.playback.cursor())
    }

    fn first(&mut self, predicate: &Predicate) -> Result<usize, Text> {
        self.obey(Command::Seek(0));
        self.obey(Command::RunUntil(predicate.clone()));
        loop {
            match &self.walking.said {
                Some(Said::Found(at)) => return Ok(*at),
                Some(Said::NotFound(failed)) if failed.goes_on() && failed.to < MAX_FACTS => {
                    self.obey(Command::LookOn)
                }
                _ => return Err(self.failed_search().unwrap_or_default()),
            };
        }
    }

    /// Reports facts line by line; in words, after a heading, and with what has become of all at the end of the run. `say`
    /// can stop it.
    pub fn transcribe(&self, excerpt: &Excerpt, say: &mut dyn FnMut(&str) -> ControlFlow<()>) {
        let timeline = &self.timeline;
        let Excerpt {
            from,
            to,
            key,
            lang,
            json,
        } = *excerpt;
        let places = key.map(|key| self.places(key, from..to));
        let mut picture = timeline.picture(from);
        let naming = self.marking.landmarks.alike().naming();
        if !json && say(&self.heading(excerpt, &picture)).is_break() {
            return;
        }
        let is_included = |place: &usize| {
            let wanted = |places: &Vec<usize>| places.binary_search(place).is_ok();
            places.as_ref().is_none_or(wanted)
        };
        let mut at = from;
        // In pieces, because there may be millions of facts.
        while at < to {
            let next = to.min(at + SEGMENT);
            let before = at.saturating_sub(RECENT).max(from);
            let facts = timeline.facts(before..next);
            for (place, record) in facts.iter().enumerate().skip(at - before) {
                picture.apply(record);
                if !is_included(&(before + place)) {
                    continue;
                }
                let recent = facts.get((place + 1).saturating_sub(RECENT)..=place);
                let words = caption::words(
                    record,
                    recent.unwrap_or_default(),
                    &picture,
                    Voice { lang, naming },
                );
                let wall = self.head.wall(record.time);
                let line = if json {
                    format!("{}\n", fact(before + place, record, &words, wall, &picture))
                } else {
                    let wall = wall.map(|wall| format!("{wall}  ")).unwrap_or_default();
                    format!(
                        "{} s  {wall}{}: {}",
                        seconds(record.time),
                        visible::line(&actor_name(record.actor, &picture, lang)),
                        sentence(&words)
                    )
                };
                if say(&line).is_break() {
                    return;
                }
            }
            at = next;
        }
        let is_end = to == timeline.len() && to > 0 && timeline.is_over();
        if is_end && key.is_none() && !json {
            let _ = say(&sentence(&caption::at_end(
                &picture,
                Words::default(),
                lang,
            )));
        }
    }

    fn heading(&self, excerpt: &Excerpt, picture: &Picture) -> String {
        let lang = excerpt.lang;
        let mut heading = format!(
            "{} ({})\n{}\n\n",
            visible::line(self.lesson.title.get(lang)),
            self.head.era.version(),
            visible::lines(self.lesson.note.get(lang))
        );
        match (excerpt.from, lang) {
            (0, _) => heading.push_str(&sentence(&caption::before_start(picture, lang))),
            (_, Lang::En) => heading.push_str("What came before is left out.\n"),
            (_, Lang::Zh) => heading.push_str("之前的内容省略。\n"),
        }
        if let Some(key) = excerpt.key {
            let key = visible::line(key);
            heading.push_str(&in_lang!(
                lang,
                "This is only about {key}.\n",
                "只讲述与 {key} 有关的内容。\n"
            ));
        }
        heading
    }

    /// The facts of an object: facts about it, facts with a list that contains it, and the lines printed about it.
    #[must_use]
    pub fn places(&self, key: &str, range: Range<usize>) -> Vec<usize> {
        let mut places = Vec::new();
        let mut ids = BTreeSet::new();
        self.timeline.each(range, &mut |place, record| {
            let printed = matches!(
                record.fact,
                Fact::Handlers(
                    HandlersFact::LinePrinted { .. } | HandlersFact::NotificationHandled { .. }
                )
            );
            let follows = matches!(record.cause, Cause::Fact(id) if ids.contains(&id));
            if has(&record.fact, key) || (printed && follows) {
                ids.insert(record.id);
                places.push(place);
            }
            ControlFlow::<()>::Continue(())
        });
        places
    }

    /// The number of facts before the last `ms` milliseconds up to step `to`.
    #[must_use]
    pub fn last_ms(&self, to: usize, ms: Time) -> usize {
        let from = self.timeline.time_at(to).saturating_sub(ms);
        self.timeline.count_before(from).min(to)
    }
}

/// Whether a fact is about an object, or about a list that contains it.
fn has(fact: &Fact, key: &str) -> bool {
    if let Some(objects) = fact_queries::whole(fact) {
        return objects.iter().any(|object| &*object.key == key);
    }
    fact.key().is_some_and(|own| &**own == key)
}

/// A fact as JSON.
fn fact(
    place: usize,
    record: &FactRecord,
    words: &caption::Words,
    wall: Option<String>,
    picture: &Picture,
) -> Value {
    let cause = match record.cause {
        Cause::Start => Value::Null,
        Cause::Source(number) => json!({ "source": number }),
        Cause::Script(number) => json!({ "script": number }),
        Cause::Input(number) => json!({ "input": number }),
        Cause::Fact(id) => json!({ "step": id.0 + 1 }),
    };
    let mut fields = json!({
        "step": place + 1,
        "time": record.time,
        "actor": actor_name(record.actor, picture, Lang::En),
        "fact": record.fact.name(),
        "cause": cause,
        "what": caption::plain(&words.what),
        "why": caption::plain(&words.why),
    });
    let key = record.fact.key().map(|key| Value::from(&**key));
    for (name, value) in [("wallTime", wall.map(Value::from)), ("key", key)] {
        if let (Some(fields), Some(value)) = (fields.as_object_mut(), value) {
            fields.insert(name.to_owned(), value);
        }
    }
    fields
}

pub(super) fn sentence(words: &caption::Words) -> String {
    let (what, why) = (caption::plain(&words.what), caption::plain(&words.why));
    // Shown without line breaks, so that a name in it cannot begin a line of its own.
    let what = visible::line(&what);
    if why.is_empty() {
        format!("{what}\n")
    } else {
        format!("{what} {}\n", visible::line(&why))
    }
}
