//! Fills in a sentence in one of the two languages, and sets its spaces.

use super::Sentences;
use super::spans::{Span, plain, typed};
use deltascope_world::text::Lang;

/// `say!(writer, "English", "中文", name = spans, …)`: fills in one or several sentences.
macro_rules! say {
    ($writer:expr, $en:expr, $zh:expr $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::caption::say::say($writer.lang, $en, $zh, &[$((stringify!($name), $value)),*])
    };
}

/// `told!(writer, "What happened", "什么", "Why", "为什么", name = spans, …)`: what happened, and one sentence of why.
macro_rules! told {
    ($writer:expr, $en:expr, $zh:expr, $why_en:expr, $why_zh:expr $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::caption::say::told(
            $writer.lang,
            [$en, $zh],
            [$why_en, $why_zh],
            &[$((stringify!($name), $value)),*],
        )
    };
}

/// Fills in what happened, and why.
pub(super) fn told(
    lang: Lang,
    [en, zh]: [&str; 2],
    [why_en, why_zh]: [&str; 2],
    args: &[(&str, Vec<Span>)],
) -> Sentences {
    (
        say(lang, en, zh, args),
        vec![say(lang, why_en, why_zh, args)],
    )
}

/// Fills a sentence in one of the two languages.
///
/// `{name}` stands for an argument, `` `…` `` for code, `[Added]` for a delta type (or an event's).
/// Arguments are never read as markup.
pub(super) fn say(lang: Lang, en: &str, zh: &str, args: &[(&str, Vec<Span>)]) -> Vec<Span> {
    #[cfg(test)]
    super::generations::note(en);
    let mut rest = lang.pick(en, zh);
    let mut line = Line {
        lang,
        spans: Vec::new(),
        code: None,
    };
    while let Some(at) = rest.find(['{', '`', '[']) {
        let (before, found) = rest.split_at(at);
        line.text(before);
        rest = match found.chars().next() {
            Some('`') => {
                line.toggle_code();
                &found[1..]
            }
            Some('{') => {
                let argument = found.find('}').and_then(|end| {
                    let wanted = &found[1..end];
                    args.iter()
                        .find(|(name, _)| *name == wanted)
                        .map(|(_, spans)| (spans, end))
                });
                match argument {
                    Some((spans, end)) => {
                        line.argument(spans);
                        &found[end + 1..]
                    }
                    // An unknown placeholder stays, so that the tests find it.
                    None => {
                        line.text("{");
                        &found[1..]
                    }
                }
            }
            _ => {
                let known = found.find(']').and_then(|end| {
                    let word = &found[1..end];
                    typed(word).map(|delta_type| (delta_type, word, end))
                });
                match known {
                    Some((delta_type, word, end)) => {
                        line.argument(&[Span::Delta(delta_type, word.into())]);
                        &found[end + 1..]
                    }
                    None => {
                        line.text("[");
                        &found[1..]
                    }
                }
            }
        };
    }
    line.text(rest);
    line.toggle_code_if_open();
    match lang {
        Lang::En => line.spans,
        Lang::Zh => spaced(&line.spans),
    }
}

/// Sets the spaces as Chinese has them: one between Chinese and Latin, none between Chinese and
/// Chinese or around its punctuation. A sentence cannot contain the right spaces, because its arguments
/// may be Chinese or Latin.
fn spaced(spans: &[Span]) -> Vec<Span> {
    let letters: Vec<(usize, char)> = spans
        .iter()
        .enumerate()
        .flat_map(|(index, span)| span.as_str().chars().map(move |letter| (index, letter)))
        .collect();
    let is_text = |index: usize| matches!(spans[index], Span::Text(_));
    let mut words = vec![String::new(); spans.len()];
    for (at, &(index, letter)) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1).copied();
        if letter == ' ' && is_text(index) {
            let chinese = |side: Option<(usize, char)>| side.is_some_and(|(_, c)| is_chinese(c));
            let mark = |side: Option<(usize, char)>| side.is_some_and(|(_, c)| is_mark(c));
            if (chinese(before) && chinese(after)) || mark(before) || mark(after) {
                continue;
            }
        }
        if let Some((owner, last)) = before
            && (is_text(index) || is_text(owner))
            && ((is_chinese(last) && is_latin(letter)) || (is_latin(last) && is_chinese(letter)))
        {
            words[if is_text(owner) { owner } else { index }].push(' ');
        }
        words[index].push(letter);
    }
    spans
        .iter()
        .zip(words)
        .map(|(span, words)| match span {
            Span::Text(_) => Span::Text(words),
            Span::Name(_) | Span::Delta(..) | Span::Code(_) => span.clone(),
        })
        .filter(|span| !span.as_str().is_empty())
        .collect()
}

pub(super) fn is_chinese(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

pub(super) fn is_mark(letter: char) -> bool {
    matches!(letter, '，' | '。' | '：' | '；' | '、' | '（' | '）')
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '…' | '"' | ')' | '(')
}

/// A sentence under construction.
struct Line {
    lang: Lang,
    spans: Vec<Span>,
    /// The code after an opening backtick.
    code: Option<String>,
}

impl Line {
    fn text(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match (&mut self.code, self.spans.last_mut()) {
            (Some(code), _) => code.push_str(words),
            (None, Some(Span::Text(last))) => last.push_str(words),
            (None, _) => self.spans.push(Span::Text(words.into())),
        }
    }

    fn argument(&mut self, spans: &[Span]) {
        if let Some(code) = &mut self.code {
            code.push_str(&plain(spans));
            return;
        }
        for (index, span) in spans.iter().enumerate() {
            match span {
                Span::Text(words) if index == 0 && self.begins_sentence() => {
                    // Words of English: the tables for all letters of the world would be loaded with the page.
                    let mut words = words.to_string();
                    if let Some(first) = words.get_mut(..1) {
                        first.make_ascii_uppercase();
                    }
                    self.text(&words);
                }
                Span::Text(words) => self.text(words),
                Span::Name(_) | Span::Delta(..) | Span::Code(_) => self.spans.push(span.clone()),
            }
        }
    }

    fn begins_sentence(&self) -> bool {
        self.lang == Lang::En
            && match self.spans.last() {
                None => true,
                Some(Span::Text(last)) => last.ends_with(". "),
                Some(_) => false,
            }
    }

    fn toggle_code(&mut self) {
        match self.code.take() {
            Some(code) => self.spans.push(Span::Code(code)),
            None => self.code = Some(String::new()),
        }
    }

    fn toggle_code_if_open(&mut self) {
        if self.code.is_some() {
            self.toggle_code();
        }
    }
}
