//! What a controller logged beside what its handler should have heard, in words.

use std::rc::Rc;

use crate::caption::{self, Voice};
use crate::command::Command;
use crate::i18n::{Lang, Text};
use crate::view::{HeardView, RECENT};
use deltascope_cache::fact::{Cause, EventType, Fact};
use deltascope_replay::heard::{Call, Comparison, Kind, compare, notified};
use deltascope_replay::log;

use super::live::INFORMER;
use super::transcript::{seconds, sentence};
use super::{Change, Session};

/// A log compared with the run.
#[derive(Clone, Debug)]
pub struct Heard {
    /// What was found.
    pub words: Text,
    /// Whether the two differ.
    pub differs: bool,
    /// The step at which the handler should have heard what differs.
    pub step: Option<usize>,
}

impl Session {
    /// Compares a log with what the first handler takes in the first `end` facts.
    ///
    /// # Errors
    /// The log cannot be read, or the run has no handler.
    pub fn heard(&self, name: &str, bytes: &[u8], end: usize) -> Result<Heard, Text> {
        let lines = log::read_calls(name, bytes).map_err(|error| error.message)?;
        if self.timeline.forgotten() > 0 {
            return Err(Text::new(
                "The beginning of this run is no longer kept, so what the handler should have heard is not known. Compare the log with the whole recording: deltascope replay RECORDING --heard LOG.",
                "此运行的开头已不再保留，因此无法得知 handler 应当收到什么。请把日志与完整的录制比较：deltascope replay 录制文件 --heard 日志文件。",
            ));
        }
        let should = notified(&self.timeline, 0, end);
        if self.timeline.picture(end).handlers.is_empty() {
            return Err(Text::new(
                "This run has no handler, so nothing should have been heard. Record with `deltascope record`, which has one.",
                "此运行没有 handler，也就没有应当收到的通知。请用 `deltascope record` 录制，其中有一个。",
            ));
        }
        let heard: Vec<Call> = lines.iter().map(Call::from).collect();
        let calls: Vec<Call> = should.iter().map(|one| one.call.clone()).collect();
        let found = compare(&calls, &heard);
        let worded = |lang| {
            let mut words = counted(&found, lang);
            if let Some(first) = found.first {
                let one = first.should.and_then(|one| should.get(one));
                let line = first.heard.and_then(|line| lines.get(line));
                let key = one.map(|one| &one.call.key).or(line.map(|line| &line.key));
                words.push_str(&kind_of(first.kind, key.map_or("", |key| key), lang));
                if let Some(one) = one {
                    let (step, time) = (one.place + 1, seconds(one.time));
                    let wall = self.head.wall(one.time).map(|wall| format!(", {wall}"));
                    let (call, wall) = (said(&one.call), wall.unwrap_or_default());
                    words.push_str(&match lang {
                        Lang::En => {
                            format!("  should have heard: {call} (step {step}, {time} s{wall})\n")
                        }
                        Lang::Zh => format!("  应当收到：{call}（第 {step} 步，{time} s{wall}）\n"),
                    });
                }
                if let (Some(line), Some(call)) =
                    (line, first.heard.and_then(|line| heard.get(line)))
                {
                    let (call, line) = (said(call), line.line);
                    words.push_str(&match lang {
                        Lang::En => format!("  says that it heard: {call} (line {line})\n"),
                        Lang::Zh => format!("  日志中收到：{call}（第 {line} 行）\n"),
                    });
                }
                if let Some(one) = one {
                    for place in self.origins(one.place) {
                        words.push_str(&self.told(place, lang));
                    }
                }
            }
            words
        };
        let one = found.first.and_then(|first| should.get(first.should?));
        Ok(Heard {
            words: Text::new(&worded(Lang::En), &worded(Lang::Zh)),
            differs: found.first.is_some(),
            step: one.map(|one| one.place + 1),
        })
    }

    /// Whether a command opens a log of the controller whose informer is shown: it lies beside the run then, and is no run.
    #[must_use]
    pub fn hears(&self, command: &Command) -> bool {
        let Command::Open(files) = command else {
            return false;
        };
        self.lesson.id.starts_with(INFORMER)
            && matches!(files.as_slice(), [(_, bytes)] if log::is_log(bytes))
    }

    /// Lays a log beside the run as far as it has come.
    pub(super) fn hear(&mut self, files: &[(String, Vec<u8>)]) -> Change {
        let Some((name, bytes)) = files.first() else {
            return Change::None;
        };
        match self.heard(name, bytes, self.timeline.len()) {
            Ok(Heard { words, step, .. }) => {
                self.heard = Some(Rc::new(HeardView { words, step }));
                Change::None
            }
            Err(why) => self.fail(why, None),
        }
    }

    /// The fact, and before it what the server or the reflector did that led to it.
    fn origins(&self, place: usize) -> Vec<usize> {
        let mut at = place;
        while let Some(Cause::Fact(id)) = self.timeline.fact(at).map(|record| record.cause)
            && let Some(before) = self.timeline.place_of(id).filter(|before| *before < at)
        {
            at = before;
            let record = self.timeline.fact(at);
            if record
                .is_some_and(|record| matches!(record.fact, Fact::Reflector(_) | Fact::Server(_)))
            {
                return vec![at, place];
            }
        }
        vec![place]
    }

    /// A fact in words, on a line.
    fn told(&self, place: usize, lang: Lang) -> String {
        let facts = self
            .timeline
            .facts((place + 1).saturating_sub(RECENT)..place + 1);
        let naming = self.landmarks.alike().naming();
        let words = facts.last().map(|record| {
            let picture = self.timeline.picture(place + 1);
            caption::words(record, &facts, &picture, Voice { lang, naming })
        });
        let time = seconds(self.timeline.time_at(place + 1));
        words.map_or_else(String::new, |words| {
            format!("  {time} s: {}", sentence(&words))
        })
    }
}

/// A call, as Go has it.
fn said(call: &Call) -> String {
    let name = match call.event {
        EventType::Added => "OnAdd",
        EventType::Modified => "OnUpdate",
        // No other type has an object.
        _ => "OnDelete",
    };
    let tombstone = match call.tombstone {
        true => " DeletedFinalStateUnknown",
        false => "",
    };
    format!("{name} {} {}{tombstone}", call.key, call.rv)
}

fn counted(found: &Comparison, lang: Lang) -> String {
    let Comparison {
        alike,
        after_log,
        after_run,
        ..
    } = *found;
    let mut words = match lang {
        Lang::En => format!("{alike} notifications are as they should be.\n"),
        Lang::Zh => format!("{alike} 条通知与应当收到的一致。\n"),
    };
    if after_log > 0 {
        words.push_str(&match lang {
            Lang::En => format!(
                "The run has {after_log} more after the last of them; the log may end before.\n"
            ),
            Lang::Zh => format!("此后运行还有 {after_log} 条；日志可能更早结束。\n"),
        });
    }
    if after_run > 0 {
        words.push_str(&match lang {
            Lang::En => format!(
                "The log has {after_run} more after the last of them; the run may end before.\n"
            ),
            Lang::Zh => format!("此后日志还有 {after_run} 条；运行可能更早结束。\n"),
        });
    }
    words
}

fn kind_of(kind: Kind, key: &str, lang: Lang) -> String {
    let (en, zh) = match kind {
        Kind::Missing => (
            "the log lacks a call that should have come",
            "日志中缺少一条应当收到的通知",
        ),
        Kind::Extra => (
            "the log has a call that should not have come",
            "日志中多出一条不应收到的通知",
        ),
        Kind::Order => (
            "the log has the calls in another order",
            "日志中同一对象的通知顺序不同",
        ),
        Kind::Type => (
            "the log has another call for the same version",
            "日志中同一版本的调用不同",
        ),
        Kind::Tombstone => (
            "one is a tombstone and the other is not (a handler may log the object inside)",
            "一个是墓碑，另一个不是（handler 也可能只记录了其中的对象）",
        ),
    };
    match lang {
        Lang::En => format!("The first difference. {key}: {en}.\n"),
        Lang::Zh => format!("第一处不同。{key}：{zh}。\n"),
    }
}
