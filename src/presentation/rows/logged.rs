//! What a controller logged, beside what its handler should have heard.

use crate::view::{HeardRow, HeardView};
use deltascope_replay::heard::Tally;
use deltascope_world::in_lang;
use deltascope_world::text::Lang;

/// How the two compare so far, in a sentence or two.
#[must_use]
pub fn verdict(heard: &HeardView, lang: Lang) -> String {
    let Tally {
        alike,
        behind,
        ahead,
        dropped,
    } = heard.tally;
    let mut words = Vec::new();
    let mut say = |en: String, zh: String| {
        words.push(lang.pick(en, zh));
    };
    if heard.lines == 0 {
        say(
            "No line of the log so far.".to_owned(),
            "日志中还没有内容。".to_owned(),
        );
    } else {
        say(
            format!("{alike} as they should be."),
            format!("{alike} 条与应当收到的一致。"),
        );
    }
    // After a difference the rest says little.
    if heard.first.is_none() && behind > 0 && heard.lines > 0 {
        say(
            format!("The log is {behind} behind."),
            format!("日志落后 {behind} 条。"),
        );
    }
    if heard.first.is_none() && ahead > 0 {
        say(
            format!("The log is {ahead} ahead."),
            format!("日志超前 {ahead} 条。"),
        );
    }
    if heard.goes_on {
        say(
            "What came before this part is not compared.".to_owned(),
            "此部分之前的内容未作比较。".to_owned(),
        );
    }
    words.extend(left_out(dropped, lang));
    if let Some(trouble) = &heard.trouble {
        words.push(trouble.get(lang).to_owned());
    }
    // It stands below.
    if heard.first.is_some() {
        words.push(
            lang.pick("The first difference:", "第一处不同：")
                .to_owned(),
        );
    }
    words.join(lang.pick(" ", ""))
}

/// How many lines of a log are too many to be compared.
pub(crate) fn left_out(dropped: usize, lang: Lang) -> Option<String> {
    (dropped > 0).then(|| {
        in_lang!(
            lang,
            "The log is too long: {dropped} lines are left out.",
            "日志过长，略去 {dropped} 行。"
        )
    })
}

/// What the handler should have heard, and what it says, each in a line.
#[must_use]
pub fn both(heard: &HeardView, lang: Lang) -> Vec<String> {
    let first = heard.first.iter();
    let pair = first.flat_map(|first| {
        let should = first
            .should
            .as_ref()
            .map(|call| in_lang!(lang, "expected call: {call}", "应当收到：{call}"));
        let says = first
            .heard
            .as_ref()
            .map(|(call, line)| in_lang!(lang, "line {line} says: {call}", "第 {line} 行：{call}"));
        [should, says].into_iter().flatten()
    });
    pair.collect()
}

/// Where the log says it.
#[must_use]
pub fn place(row: &HeardRow, lang: Lang) -> String {
    match (row.line, lang) {
        (Some(line), Lang::En) => format!("line {line}"),
        (Some(line), Lang::Zh) => format!("第 {line} 行"),
        (None, _) if row.differs => "≠".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::FirstView;
    use deltascope_world::text::Text;

    #[test]
    fn a_log_that_is_behind_does_not_differ() {
        let mut heard = HeardView {
            tally: Tally {
                alike: 7,
                behind: 2,
                ..Tally::default()
            },
            lines: 9,
            ..HeardView::default()
        };
        assert_eq!(
            verdict(&heard, Lang::En),
            "7 as they should be. The log is 2 behind."
        );
        assert_eq!(
            verdict(&heard, Lang::Zh),
            "7 条与应当收到的一致。日志落后 2 条。"
        );
        assert!(both(&heard, Lang::En).is_empty());
        heard.first = Some(FirstView {
            is: Text::new("missing", "缺"),
            should: Some("OnAdd a 1".to_owned()),
            step: None,
            heard: Some(("OnUpdate a 2".to_owned(), 4)),
        });
        assert_eq!(
            verdict(&heard, Lang::En),
            "7 as they should be. The first difference:"
        );
        assert_eq!(
            both(&heard, Lang::En),
            ["expected call: OnAdd a 1", "line 4 says: OnUpdate a 2"]
        );
        heard = HeardView::default();
        assert_eq!(verdict(&heard, Lang::En), "No line of the log so far.");
    }
}
