//! The reflector's room.

use super::{Mark, Names, RvText, current};
use crate::stage::{Pipe, PipeState, StateName};
use crate::strings;
use crate::view::View;
use deltascope_cache::fact::{EventType, Fact, ReflectorFact, ServerFact, WatchEnd};
use deltascope_cache::selector::Selector;
use deltascope_replay::picture::{
    Answer, Picture, ReflectorState, RequestKind, RequestLine, SourceKind,
};
use deltascope_world::text::Lang;

/// At most this many marks of the temporary store are shown.
const MARKS: usize = 7;

/// What is counted, as it is labelled.
pub const COUNTED: [&str; 4] = ["events", "relists", "watch errors", "resyncs"];

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReflectorRows {
    /// Whether there is a reflector.
    pub present: bool,
    /// The current state.
    pub on: Option<StateName>,
    /// After the backoff the reflector lists again.
    pub relist_next: bool,
    /// `LastSyncResourceVersion()`.
    pub last_sync: RvText,
    /// The server has said that this version is not available.
    pub unavailable: bool,
    /// Of [`COUNTED`]: events received; lists after the first; calls of the watch-error handler; how often the
    /// resync timer fired.
    pub counts: [u64; 4],
    /// What it has in its hand.
    pub held: Option<Held>,
    /// Its requests, the newest first.
    pub requests: Vec<RequestRow>,
}

/// What a reflector has in its hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The temporary store of a streaming list: the number of objects, and the marks of some.
    Temporary(usize, Vec<Mark>),
    /// Nothing, until the current backoff is over: what is left of it, in ms.
    Waits(u64),
    /// The event that it is handling, and the name of its object.
    Event(EventType, String),
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Such as `LIST rv=0 limit=500`.
    pub text: String,
    /// Its answer.
    pub answer: Answer,
    /// The answer is an error, or ended with one.
    pub failed: bool,
    /// It is a watch that the API server has ended, which the reflector has yet to read.
    pub unread_end: bool,
    /// The current fact is about it.
    pub lit: bool,
}

impl RequestRow {
    /// Its answer, in words.
    #[must_use]
    pub fn said(&self, lang: Lang) -> String {
        match self.unread_end {
            true => lang
                .pick("→ ended, not noticed yet", "→ 已结束，尚未察觉")
                .to_owned(),
            false => strings::answer(lang, &self.answer),
        }
    }
}

/// The connection from the API server to the reflector.
#[must_use]
pub fn pipe(view: &View) -> Pipe {
    let Picture { api, reflector, .. } = &*view.picture;
    let answer = reflector.requests.back().map(|line| &line.answer);
    let backoff = view.backoff.as_ref();
    let facts = backoff.map_or(&view.recent, |(_, before)| before);
    let code = facts.iter().rev().find_map(|record| code(&record.fact));
    let code = code.unwrap_or_default();
    let state = match reflector.state {
        _ if api.source == SourceKind::Program => PipeState::None,
        ReflectorState::Idle | ReflectorState::Stopped => PipeState::None,
        ReflectorState::List | ReflectorState::Watch | ReflectorState::Stream if code > 0 => {
            PipeState::Ended
        }
        ReflectorState::List => match answer {
            Some(Answer::Awaited | Answer::Page(_)) => PipeState::Asked,
            Some(Answer::Listed(_)) => PipeState::None,
            _ => PipeState::Ended,
        },
        ReflectorState::Backoff => PipeState::Waiting,
        ReflectorState::Watch | ReflectorState::Stream => match answer {
            _ if api.sends_events => PipeState::Open,
            Some(Answer::Awaited) => PipeState::Asked,
            _ => PipeState::Ended,
        },
    };
    let whole = reflector.backoff_ms;
    let left_ms = backoff.map_or(0, |(began, _)| {
        whole.saturating_sub(view.time.saturating_sub(*began))
    });
    Pipe {
        state,
        code: match state {
            PipeState::Ended | PipeState::Waiting => code,
            PipeState::None | PipeState::Asked | PipeState::Open => 0,
        },
        left_ms,
        left: (left_ms * 100).checked_div(whole).unwrap_or_default(),
    }
}

/// The HTTP status with which the last request or watch ended; 0 if it has none, or goes on.
fn code(fact: &Fact) -> Option<u16> {
    if let Fact::Server(ServerFact::WatchRefused { .. }) = fact {
        Some(410)
    } else if let Fact::Server(
        ServerFact::WatchDenied { code, .. }
        | ServerFact::ListRefused { code, .. }
        | ServerFact::WatchClosed {
            end: WatchEnd::Failed(code, _),
            ..
        },
    ) = fact
    {
        Some(*code)
    } else {
        matches!(
            fact,
            Fact::Server(
                ServerFact::WatchClosed { .. }
                    | ServerFact::WatchAccepted { .. }
                    | ServerFact::ListAnswered { .. }
                    | ServerFact::ConnectionRefused
            ) | Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. }
            )
        )
        .then_some(0)
    }
}

/// The contents of the room.
#[must_use]
pub fn rows(view: &View) -> ReflectorRows {
    let reflector = &view.picture.reflector;
    let again = lists_before(view) > 0;
    let on = match reflector.state {
        ReflectorState::List if again => Some(StateName::Relist),
        ReflectorState::List => Some(StateName::List),
        ReflectorState::Stream => Some(StateName::Stream),
        ReflectorState::Watch => Some(StateName::Watch),
        ReflectorState::Backoff => Some(StateName::Backoff),
        ReflectorState::Stopped => Some(StateName::Stopped),
        ReflectorState::Idle => None,
    };
    let asked = matches!(
        current(view).map(|record| &record.fact),
        Some(Fact::Reflector(
            ReflectorFact::ListRequested { .. }
                | ReflectorFact::WatchRequested { .. }
                | ReflectorFact::PageReceived { .. }
                | ReflectorFact::ListReceived { .. }
                | ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::WatchEnded { .. }
        ))
    );
    ReflectorRows {
        present: view.picture.api.source != SourceKind::Program,
        on,
        relist_next: reflector.relist && on == Some(StateName::Backoff),
        last_sync: RvText::of(&reflector.last_sync),
        unavailable: reflector.unavailable,
        counts: [
            reflector.events,
            reflector.lists.saturating_sub(1),
            reflector.watch_errors,
            reflector.resyncs,
        ],
        held: held(view),
        requests: reflector
            .requests
            .iter()
            .rev()
            .enumerate()
            .map(|(back, line)| RequestRow {
                text: request(line, view.picture.api.selector.as_ref()),
                unread_end: back == 0
                    && line.answer == Answer::Open
                    && !view.picture.api.sends_events,
                answer: line.answer.clone(),
                failed: matches!(line.answer, Answer::Failed(_) | Answer::Ended(1..)),
                lit: asked && back == 0,
            })
            .collect(),
    }
}

fn held(view: &View) -> Option<Held> {
    let reflector = &view.picture.reflector;
    let names = Names::of(view);
    if let Some(kept) = &reflector.temporary {
        let newest = kept.values().take(MARKS);
        let marks = newest.map(|object| names.mark(&object.uid)).collect();
        return Some(Held::Temporary(kept.len(), marks));
    }
    match pipe(view).left_ms {
        0 => {
            let in_hand = reflector.in_hand.as_ref();
            in_hand.map(|(event, object)| Held::Event(*event, names.get(&object.key)))
        }
        left => Some(Held::Waits(left)),
    }
}

fn request(line: &RequestLine, selector: Option<&Selector>) -> String {
    let mut text = match line.kind {
        RequestKind::List => "LIST",
        RequestKind::Watch => "WATCH",
        RequestKind::Stream => "WATCH sendInitialEvents",
    }
    .to_owned();
    if line.continues {
        text.push_str(" continue");
    } else {
        text.push_str(" rv=");
        text.push_str(if line.rv.is_empty() { "\"\"" } else { &line.rv });
    }
    if !line.rv_match.is_empty() {
        text.push(' ');
        text.push_str(line.rv_match);
    }
    if line.limit > 0 {
        text = format!("{text} limit={}", line.limit);
    }
    if let Some(selector) = selector {
        text = format!("{text} labelSelector={selector}");
    }
    text
}

/// The number of lists before the one under way, if there is one. A list counts as soon as it is received, before
/// its objects are in the queue.
fn lists_before(view: &View) -> u64 {
    let received = view
        .recent
        .iter()
        .rev()
        .find_map(|record| {
            let Fact::Reflector(fact) = &record.fact else {
                return None;
            };
            let received = matches!(fact, ReflectorFact::ListReceived { .. });
            (received || matches!(fact, ReflectorFact::ListRequested { .. })).then_some(received)
        })
        // Both facts are too old for `recent`: the list is being put into the queue.
        .unwrap_or(true);
    view.picture
        .reflector
        .lists
        .saturating_sub(u64::from(received))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, view};
    use super::*;

    fn requested() -> Fact {
        Fact::Reflector(ReflectorFact::ListRequested {
            rv: "0".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        })
    }

    fn received() -> Fact {
        Fact::Reflector(ReflectorFact::ListReceived {
            rv: "4".into(),
            count: 2,
        })
    }

    #[test]
    fn a_second_list_is_a_relist() {
        let mut picture = Picture::default();
        picture.reflector.state = ReflectorState::List;
        assert_eq!(
            rows(&view(picture.clone(), Vec::new())).on,
            Some(StateName::List)
        );
        picture.reflector.lists = 1;
        let first = vec![requested(), received()];
        let replacing = rows(&view(picture.clone(), first.clone()));
        assert_eq!(replacing.on, Some(StateName::List));
        let again = [first, vec![requested()]].concat();
        let again = rows(&view(picture.clone(), again));
        assert_eq!(again.on, Some(StateName::Relist));
        assert_eq!(again.counts[1], 0);
        picture.reflector.lists = 2;
        let both = vec![requested(), received(), requested(), received()];
        let replacing = rows(&view(picture, both));
        assert_eq!(replacing.on, Some(StateName::Relist));
    }

    #[test]
    fn a_program_has_no_reflector() {
        let mut picture = Picture::default();
        picture.api.source = SourceKind::Program;
        assert!(!rows(&view(picture, Vec::new())).present);
    }

    #[test]
    fn requests_show_their_parameters_the_newest_first() {
        let line = |kind, rv: &str, rv_match, limit, continues| RequestLine {
            kind,
            rv: rv.into(),
            rv_match,
            limit,
            continues,
            answer: Answer::Awaited,
        };
        let mut picture = Picture::default();
        picture.reflector.requests = [
            line(RequestKind::List, "0", "", 500, false),
            line(RequestKind::List, "", "", 500, true),
            line(RequestKind::List, "7", "Exact", 0, false),
            line(RequestKind::Watch, "12", "", 0, false),
            line(RequestKind::Stream, "", "NotOlderThan", 0, false),
        ]
        .into();
        let at = rows(&view(picture.clone(), vec![requested()]));
        let texts: Vec<_> = at
            .requests
            .iter()
            .map(|row| (&*row.text, row.lit))
            .collect();
        assert_eq!(
            texts,
            [
                ("WATCH sendInitialEvents rv=\"\" NotOlderThan", true),
                ("WATCH rv=12", false),
                ("LIST rv=7 Exact", false),
                ("LIST continue limit=500", false),
                ("LIST rv=0 limit=500", false),
            ]
        );
        picture.api.selector = Selector::parse("app=web,!b").ok();
        let at = rows(&view(picture, vec![requested()]));
        let oldest = at.requests.last().map(|row| &*row.text);
        assert_eq!(oldest, Some("LIST rv=0 limit=500 labelSelector=app=web,!b"));
    }

    #[test]
    fn a_watch_that_was_cut_is_open_only_until_it_is_read() {
        let mut picture = Picture::default();
        picture.reflector.state = ReflectorState::Watch;
        picture.reflector.requests = [RequestLine {
            kind: RequestKind::Watch,
            rv: "4".into(),
            rv_match: "",
            limit: 0,
            continues: false,
            answer: Answer::Open,
        }]
        .into();
        for (sends, said) in [(true, "→ open"), (false, "→ ended, not noticed yet")] {
            picture.api.sends_events = sends;
            let at = rows(&view(picture.clone(), Vec::new()));
            assert_eq!(at.requests[0].said(Lang::En), said);
        }
    }

    #[test]
    fn the_temporary_store_of_a_streaming_list_is_counted() {
        let mut picture = Picture::default();
        picture.reflector.state = ReflectorState::Stream;
        let kept = [
            ("a".into(), object("a", "1")),
            ("b".into(), object("b", "2")),
        ];
        picture.reflector.temporary = Some(kept.into());
        let at = rows(&view(picture, Vec::new()));
        assert_eq!(at.on, Some(StateName::Stream));
        assert!(matches!(at.held, Some(Held::Temporary(2, marks)) if marks.len() == 2));
    }
}
