//! A run in words, for readers without script and on paper: the facts up to the moment that is shown.

use std::collections::BTreeSet;

use deltascope_cache::fact::Actor;
use deltascope_presentation::caption::{self, Span, Voice, Words};
use deltascope_presentation::decimal::decimal;
use deltascope_presentation::i18n::Lang;
use deltascope_presentation::lanes::actor_name;
use deltascope_presentation::session::Session;
use deltascope_presentation::view::RECENT;

/// How many facts are told at the most: a page of print.
const TOLD: usize = 40;

/// What is told of a run.
pub(super) struct Transcript {
    /// What it is called, with its generation, and what it is about.
    pub(super) title: String,
    /// See there.
    pub(super) note: String,
    /// What comes before the list: the start, or how much is left out.
    pub(super) before: String,
    /// What the same actor did at the same moment, in order.
    pub(super) turns: Vec<Turn>,
}

/// What one actor did at one moment.
pub(super) struct Turn {
    /// When: `0.34 s`.
    pub(super) time: String,
    /// Who.
    pub(super) actor: String,
    /// Whether that is a name of the program's, which no machine should translate.
    pub(super) is_name: bool,
    /// What.
    pub(super) facts: Vec<Words>,
}

impl Transcript {
    /// Up to what the session shows.
    pub(super) fn of(session: &mut Session, lang: Lang) -> Self {
        let view = session.view();
        let head = &view.lesson;
        let naming = view.alike.naming();
        let timeline = session.timeline();
        let start = view.step.saturating_sub(TOLD);
        let mut picture = timeline.picture(start);
        let before = match (start, lang) {
            (0, _) => plain(&caption::before_start(&picture, lang), lang),
            (1, Lang::En) => "The first fact is left out.".to_owned(),
            (many, Lang::En) => format!("The first {many} facts are left out."),
            (many, Lang::Zh) => format!("省略最初 {many} 个事实。"),
        };
        let since = start.saturating_sub(RECENT);
        let facts = timeline.facts(since..view.step);
        let mut turns: Vec<Turn> = Vec::new();
        let mut last = None;
        // A reason is told once: on paper all of them are read.
        let mut reasons = BTreeSet::new();
        for (place, record) in facts.iter().enumerate().skip(start - since) {
            picture.apply(record);
            let recent = facts.get((place + 1).saturating_sub(RECENT)..=place);
            let mut words = caption::words(
                record,
                recent.unwrap_or_default(),
                &picture,
                Voice { lang, naming },
            );
            if !reasons.insert(caption::plain(&words.why)) {
                words.why.clear();
            }
            if last.replace((record.time, record.actor)) != Some((record.time, record.actor)) {
                turns.push(Turn {
                    time: seconds(record.time),
                    actor: actor_name(record.actor, &picture, lang),
                    is_name: matches!(
                        record.actor,
                        Actor::Pop(_) | Actor::Listener(_) | Actor::Worker(_)
                    ),
                    facts: Vec::new(),
                });
            }
            if let Some(turn) = turns.last_mut() {
                turn.facts.push(words);
            }
        }
        Self {
            title: format!("{} ({})", head.title.get(lang), head.era),
            note: head.note.get(lang).to_owned(),
            before,
            turns,
        }
    }

    /// What has just happened, in one sentence or two.
    pub(super) fn now(&self, lang: Lang) -> String {
        let last = self.turns.last().and_then(|turn| turn.facts.last());
        last.map_or_else(|| self.before.clone(), |words| plain(words, lang))
    }
}

#[allow(clippy::cast_precision_loss, reason = "a time for the eye")]
fn seconds(ms: u64) -> String {
    format!("{} s", decimal(ms as f64 / 1_000.0))
}

fn plain(words: &Words, lang: Lang) -> String {
    caption::plain(&spans(words, lang))
}

/// The spans of some words, as sentences that others can follow.
pub(super) fn spans(words: &Words, lang: Lang) -> Vec<Span> {
    let mut spans = Vec::new();
    for sentence in [&words.what, &words.why] {
        let Some(last) = sentence.last() else {
            continue;
        };
        if !spans.is_empty() {
            spans.push(Span::Text(gap(lang).to_owned()));
        }
        spans.extend(sentence.iter().cloned());
        // What ends with a line that was printed has no mark.
        let is_code = !matches!(last, Span::Text(_));
        if is_code || !last.as_str().ends_with(['.', '。', '?', '？', '!', '！']) {
            let stop = match lang {
                Lang::En => ".",
                Lang::Zh => "。",
            };
            spans.push(Span::Text(stop.to_owned()));
        }
    }
    spans
}

/// Between two sentences, and after a colon.
pub(super) fn gap(lang: Lang) -> &'static str {
    match lang {
        Lang::En => " ",
        Lang::Zh => "",
    }
}
