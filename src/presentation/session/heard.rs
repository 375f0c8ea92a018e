//! What a controller logged beside what its handler should have heard, in words.

use std::rc::Rc;

use crate::caption::{self, Voice};
use crate::command::Command;
use crate::decimal::seconds;
use crate::rows::logged::left_out;
use crate::view::{FirstView, HeardRow, HeardView, RECENT};
use deltascope_cache::fact::{Cause, EventType, Fact};
use deltascope_replay::heard::{Beside, Differs, Kind, Tally};
use deltascope_replay::log::{self, Call, Calls, Logged};
use deltascope_replay::timeline::Timeline;
use deltascope_world::in_lang;
use deltascope_world::text::{Lang, Text};

use super::transcript::sentence;
use super::{Change, Session};

/// A log compared with the run.
#[derive(Clone, Debug)]
pub struct Heard {
    /// What was found.
    pub words: Text,
    /// Whether the two differ.
    pub differs: bool,
}

/// Most notifications that are shown beside a log: the last ones at the cursor.
const SHOWN: usize = 40;

/// A log that lies beside the run that is open.
pub(super) struct Laid {
    beside: Beside,
    /// The log, as it grows; of one that was dropped all has come.
    grows: Option<Calls>,
    trouble: Option<Text>,
    /// Whether it lies beside a run that begins anew, and was not compared since.
    anew: bool,
    /// What the cursor shows of it.
    shows: fn(&Session, &Laid) -> HeardView,
}

impl Laid {
    /// The run no longer has its first facts.
    pub(super) fn forget(&mut self, gone: usize, timeline: &Timeline) {
        self.beside.forget(gone);
        self.beside.compare_again(timeline);
    }

    /// The same log beside the run from its start.
    pub(super) fn again(mut self) -> Self {
        self.beside.again();
        self.anew = true;
        self
    }

    /// Compares it, if the run has come again to where it was.
    pub(super) fn catch_up(&mut self, timeline: &Timeline) {
        if std::mem::take(&mut self.anew) {
            self.beside.compare(timeline, timeline.len());
        }
    }
}

/// Lays a log beside the run.
pub(super) type Lay = fn(&mut Session, &[(String, Vec<u8>)]) -> Change;

impl Session {
    /// Compares a log with what the first handler takes in the first `end` facts. Whether the run `goes_on` with what was there
    /// before: its first list tells of nothing new then.
    ///
    /// # Errors
    /// The log cannot be read, or the run has no handler.
    pub fn heard(
        &self,
        name: &str,
        bytes: &[u8],
        goes_on: bool,
        end: usize,
    ) -> Result<Heard, Text> {
        let lines = log::read_calls(name, bytes).map_err(|error| error.message)?;
        if self.timeline.picture(end).handlers.is_empty() {
            return Err(no_handler());
        }
        let mut beside = Beside::new(goes_on);
        beside.say(lines);
        beside.compare(&self.timeline, end);
        let (tally, first) = (beside.tally(), beside.first());
        let worded = |lang| {
            let mut words = counted(tally, lang);
            if let Some(left_out) = left_out(tally.dropped, lang) {
                words.push_str(&left_out);
                words.push('\n');
            }
            let Some(first) = &first else {
                return words;
            };
            words.push_str(lang.pick("The first difference. ", "第一处不同。"));
            words.push_str(&kind_of(first, lang));
            words.push('\n');
            if let Some(one) = &first.should {
                let (step, time) = (one.place + 1, seconds(one.time));
                let wall = self.head.wall(one.time).map(|wall| format!(", {wall}"));
                let (call, wall) = (said(&one.call), wall.unwrap_or_default());
                words.push_str(&in_lang!(
                    lang,
                    "  expected call: {call} (fact {step}, {time} s{wall})\n",
                    "  应当收到：{call}（事实 {step}，{time} s{wall}）\n"
                ));
            }
            if let Some(Logged { line, call, .. }) = &first.heard {
                let call = said(call);
                words.push_str(&in_lang!(
                    lang,
                    "  the log has: {call} (line {line})\n",
                    "  日志中收到：{call}（第 {line} 行）\n"
                ));
            }
            if let Some(one) = &first.should {
                for place in self.origins(one.place) {
                    words.push_str(&self.told(place, lang));
                }
            }
            words
        };
        Ok(Heard {
            words: Text::new(&worded(Lang::En), &worded(Lang::Zh)),
            differs: first.is_some(),
        })
    }

    /// Whether a command opens a log of the controller whose informer is shown: it lies beside the run then, and is no run.
    #[must_use]
    pub fn hears(&self, command: &Command) -> bool {
        let Command::Open(files) = command else {
            return false;
        };
        self.lay.is_some() && matches!(files.as_slice(), [(_, bytes)] if log::is_log(bytes))
    }

    /// Lays a log beside the run as far as that has come.
    pub(super) fn lay(&mut self, files: &[(String, Vec<u8>)]) -> Change {
        let Some((name, bytes)) = files.first() else {
            return Change::None;
        };
        match log::read_calls(name, bytes) {
            Ok(lines) => {
                self.lay_beside(None);
                self.hear(lines);
                Change::None
            }
            Err(error) => self.say(error),
        }
    }

    /// Begins to lay a log beside the run as it grows.
    pub fn listen(&mut self) {
        self.lay_beside(Some(Calls::new("log")));
    }

    fn lay_beside(&mut self, grows: Option<Calls>) {
        self.heard = Some(Laid {
            beside: Beside::kept(&self.timeline, self.goes_on, grows.is_some()),
            grows,
            trouble: None,
            anew: false,
            shows: Self::heard_at_cursor,
        });
    }

    /// Takes what follows of the log that grows, and compares it with the run as far as both have come.
    pub fn listen_to(&mut self, bytes: &[u8]) {
        if let Some(laid) = &mut self.heard
            && let Some(calls) = &mut laid.grows
        {
            let lines = calls.read(bytes).unwrap_or_else(|error| {
                laid.trouble = Some(error.message);
                Vec::new()
            });
            self.hear(lines);
        }
    }

    /// Why the log says no more, or not all.
    pub fn listen_no_more(&mut self, why: Text) {
        if let Some(laid) = self.heard.as_mut().filter(|laid| laid.grows.is_some()) {
            laid.trouble = Some(why);
        }
    }

    fn hear(&mut self, lines: Vec<Logged>) {
        if let Some(laid) = &mut self.heard {
            laid.beside.say(lines);
            laid.beside.compare(&self.timeline, self.timeline.len());
        }
    }

    /// What is shown of the log that lies beside the run.
    pub(super) fn heard_view(&self) -> Option<Rc<HeardView>> {
        let laid = self.heard.as_ref()?;
        Some(Rc::new((laid.shows)(self, laid)))
    }

    fn heard_at_cursor(&self, laid: &Laid) -> HeardView {
        let beside = &laid.beside;
        let (should, heard) = (beside.should(), beside.heard());
        let first = beside.first();
        let cursor = self.playback.cursor();
        let end = should.partition_point(|one| one.place < cursor);
        let from = end.saturating_sub(SHOWN);
        let mut lines = vec![None; end - from];
        for (line, like) in beside.found().lines.iter().enumerate() {
            if let Some(place) = like.and_then(|like| like.checked_sub(from))
                && let Some(is) = lines.get_mut(place)
            {
                *is = heard.get(line).map(|line| line.line);
            }
        }
        let differs = first.as_ref().and_then(|first| first.should.as_ref());
        let rows = should[from..end].iter().zip(lines);
        let rows = rows.zip(from..).map(|((one, line), number)| HeardRow {
            number,
            call: said(&one.call).into(),
            line,
            step: one.place + 1,
            differs: differs == Some(one),
        });
        HeardView {
            tally: beside.tally(),
            lines: heard.len(),
            rows: rows.collect(),
            first: first.map(|first| FirstView {
                is: Text::new(&kind_of(&first, Lang::En), &kind_of(&first, Lang::Zh)),
                should: first.should.as_ref().map(|one| said(&one.call)),
                step: first
                    .should
                    .as_ref()
                    .filter(|one| should.contains(one))
                    .map(|one| one.place + 1),
                heard: first.heard.map(|line| (said(&line.call), line.line)),
            }),
            goes_on: beside.lacks_its_beginning(),
            trouble: laid.trouble.clone(),
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
        let naming = self.marking.landmarks.alike().naming();
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

fn no_handler() -> Text {
    Text::new(
        "This run has no handler, so there are no calls to compare. Record with `deltascope record`, which has one.",
        "此运行没有 handler，没有可以比较的通知。请用 `deltascope record` 录制，其中有一个。",
    )
}

/// A call, as Go has it.
#[must_use]
pub fn said(call: &Call) -> String {
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

fn counted(tally: Tally, lang: Lang) -> String {
    let Tally {
        alike,
        behind,
        ahead,
        ..
    } = tally;
    let mut words = in_lang!(
        lang,
        "{alike} notifications are as they should be.\n",
        "{alike} 条通知与应当收到的一致。\n"
    );
    if behind > 0 {
        words.push_str(&in_lang!(
            lang,
            "The run has {behind} more after the last of them; the log may end before.\n",
            "此后运行还有 {behind} 条；日志可能更早结束。\n"
        ));
    }
    if ahead > 0 {
        words.push_str(&in_lang!(
            lang,
            "The log has {ahead} more after the last of them; the run may end before.\n",
            "此后日志还有 {ahead} 条；运行可能更早结束。\n"
        ));
    }
    words
}

/// How a log and a run differ first, in a sentence.
#[must_use]
pub fn kind_of(first: &Differs, lang: Lang) -> String {
    let should = first.should.as_ref().map(|one| &one.call);
    let call = should.or(first.heard.as_ref().map(|line| &line.call));
    let key = call.map_or("", |call| &call.key);
    let (en, zh) = match first.kind {
        Kind::Missing => (
            "the log lacks an expected call",
            "日志中缺少一条应当收到的通知",
        ),
        Kind::Extra => (
            "the log has an unexpected call",
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
    in_lang!(lang, "{key}: {en}.", "{key}：{zh}。")
}

#[cfg(test)]
mod tests {
    use deltascope_replay::heard::MOST;

    use super::*;

    #[test]
    fn a_log_with_too_many_lines_says_how_many_are_left_out() {
        let session = Session::new();
        let line = r#"{"informer":{"type":"ADDED","object":{"metadata":{"name":"a"}}}}"#;
        let log = |lines| format!("{line}\n").repeat(lines).into_bytes();
        let heard = |lines| session.heard("log", &log(lines), false, 0).unwrap().words;
        let says = "The log is too long: 7 lines are left out.";
        assert!(heard(MOST + 7).en.contains(says));
        assert!(!heard(1).en.contains("too long"));
    }
}
