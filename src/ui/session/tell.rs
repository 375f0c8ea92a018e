//! A run in words, fact by fact.

use std::ops::{ControlFlow, Range};

use crate::replay::timeline::{MAX_FACTS, SEGMENT};
use crate::runtime::Time;
use crate::source::visible;
use crate::ui::caption::{self, Voice};
use crate::ui::command::Command;
use crate::ui::decimal::decimal;
use crate::ui::i18n::{Lang, Text};
use crate::ui::lanes::actor_name;
use crate::ui::view::RECENT;

use super::Session;
use super::walk::Said;

/// How many facts a transcript that leaves the page tells at the most.
const TOLD: usize = 20_000;

/// Where what is told ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// At the end of the run, or (it is endless) at the cursor.
    End,
    /// With the end of this moment.
    Time(Time),
    /// With the first fact for which this condition holds.
    Condition(String),
}

impl Session {
    /// The run in words, the last part of it where it is long.
    pub(super) fn transcript(&self, lang: Lang) -> String {
        let end = self.end();
        let mut text = String::new();
        self.tell(end.saturating_sub(TOLD)..end, lang, &mut |part| {
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

    /// How many facts there are until then; goes there.
    ///
    /// # Errors
    /// Says what is wrong with the condition, or that it never holds.
    pub fn go_until(&mut self, until: &Until) -> Result<usize, Text> {
        let end = match until {
            Until::End => self.end(),
            Until::Time(time) => self.timeline.extend_past(*time),
            Until::Condition(text) => self.first(text)?,
        };
        self.obey(Command::Seek(end));
        Ok(self.playback.cursor())
    }

    fn first(&mut self, text: &str) -> Result<usize, Text> {
        self.obey(Command::Seek(0));
        self.obey(Command::RunUntil(text.to_owned()));
        loop {
            if let Some(error) = &self.error {
                return Err(error.message.clone());
            }
            match &self.walking.said {
                Some(Said::Found(at)) => return Ok(*at),
                Some(Said::NotFound(failed)) if failed.goes_on() && failed.to < MAX_FACTS => {
                    self.obey(Command::LookOn)
                }
                _ => return Err(self.failed_search().unwrap_or_default()),
            };
        }
    }

    /// Says these facts in words, line by line, with a heading. Whoever listens can stop it.
    pub fn tell(
        &self,
        range: Range<usize>,
        lang: Lang,
        say: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) {
        let timeline = &self.timeline;
        let Range { start, end } = range;
        let mut picture = timeline.picture(start);
        let naming = self.landmarks.alike().naming();
        let mut heading = format!(
            "{} ({})\n{}\n\n",
            visible::line(self.lesson.title.get(lang)),
            self.head.era,
            visible::lines(self.lesson.note.get(lang))
        );
        if start == 0 {
            heading.push_str(&sentence(&caption::before_start(&picture, lang)));
        } else {
            heading.push_str(match lang {
                Lang::En => "What came before is left out.\n",
                Lang::Zh => "之前的内容省略。\n",
            });
        }
        if say(&heading).is_break() {
            return;
        }
        let mut at = start;
        // In pieces: together they may be millions.
        while at < end {
            let next = end.min(at + SEGMENT);
            let before = at.saturating_sub(RECENT).max(start);
            let facts = timeline.facts(before..next);
            for (place, record) in facts.iter().enumerate().skip(at - before) {
                picture.apply(record);
                let recent = facts.get((place + 1).saturating_sub(RECENT)..=place);
                let words = caption::words(
                    record,
                    recent.unwrap_or_default(),
                    &picture,
                    Voice { lang, naming },
                );
                let line = format!(
                    "{} s  {}: {}",
                    seconds(record.time),
                    visible::line(&actor_name(record.actor, &picture, lang)),
                    sentence(&words)
                );
                if say(&line).is_break() {
                    return;
                }
            }
            at = next;
        }
    }
}

fn sentence(words: &caption::Words) -> String {
    let (what, why) = (caption::plain(&words.what), caption::plain(&words.why));
    // A name in it may not begin a line of its own.
    let what = visible::line(&what);
    if why.is_empty() {
        format!("{what}\n")
    } else {
        format!("{what} {}\n", visible::line(&why))
    }
}

#[allow(clippy::cast_precision_loss, reason = "a time for the eye")]
fn seconds(ms: Time) -> String {
    decimal(ms as f64 / 1_000.0)
}
