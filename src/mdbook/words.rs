//! A run in words, for readers without scripts and on paper: the facts up to the moment that the block shows.

use std::collections::BTreeSet;

use deltascope_cache::fact::Actor;
use deltascope_presentation::caption::{self, Span, Voice, Words};
use deltascope_presentation::decimal;
use deltascope_presentation::lanes::actor_name;
use deltascope_presentation::session::Session;
use deltascope_presentation::view::RECENT;
use deltascope_world::text::Lang;

/// Most facts of a transcript: a page in print.
const MOST_FACTS: usize = 40;

/// The transcript of a run.
pub(super) struct Transcript {
    /// The lesson's title with its generation.
    pub(super) title: String,
    /// The lesson's note.
    pub(super) note: String,
    /// The line before the list: the start, or how much is left out.
    pub(super) before: String,
    /// The facts, grouped by actor and time, in order.
    pub(super) turns: Vec<Turn>,
}

/// What one actor did at one time.
pub(super) struct Turn {
    /// When: `0.34 s`.
    pub(super) time: String,
    /// Who.
    pub(super) actor: String,
    /// Whether the actor is a name from the program, which must not be translated.
    pub(super) is_name: bool,
    pub(super) facts: Vec<Words>,
}

impl Transcript {
    /// The facts up to the moment that the session shows.
    pub(super) fn of(session: &mut Session, lang: Lang) -> Self {
        let view = session.view();
        let head = &view.lesson;
        let naming = view.alike.naming();
        let timeline = session.timeline();
        let start = view.step.saturating_sub(MOST_FACTS);
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
        // A reason is given only once: on paper all of them are read.
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
                    time: format!("{} s", decimal::seconds(record.time)),
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
            title: format!("{} ({})", head.title.get(lang), head.era.version()),
            note: head.note.get(lang).to_owned(),
            before,
            turns,
        }
    }

    /// The last fact, in one or two sentences.
    pub(super) fn now(&self, lang: Lang) -> String {
        let last = self.turns.last().and_then(|turn| turn.facts.last());
        last.map_or_else(|| self.before.clone(), |words| plain(words, lang))
    }
}

fn plain(words: &Words, lang: Lang) -> String {
    caption::plain(&spans(words, lang))
}

/// The spans of a fact's words, as sentences that others can follow.
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
        // A sentence that ends with printed output gets no full stop of its own.
        let is_code = !matches!(last, Span::Text(_));
        if is_code || !last.as_str().ends_with(['.', '。', '?', '？', '!', '！']) {
            let stop = lang.pick(".", "。");
            spans.push(Span::Text(stop.to_owned()));
        }
    }
    spans
}

/// The separator between two sentences, and after a colon.
pub(super) fn gap(lang: Lang) -> &'static str {
    lang.pick(" ", "")
}
