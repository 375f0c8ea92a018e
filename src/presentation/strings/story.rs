//! The words around a story.

use super::{room, strings};
use crate::i18n::{Lang, Text};
use crate::story::{Answer, Theme};
use crate::view::story::{Asked, StoryView, Verdict};
use deltascope_cache::controller::Generation;

/// The button for code and sources.
#[must_use]
pub fn more(lang: Lang, story: &StoryView) -> &'static str {
    match story.code {
        Some(_) => strings(lang).story_more,
        None => strings(lang).story_less,
    }
}

/// The number of a scene, from 1, among how many; in a quiz that of a question.
#[must_use]
pub fn scene(lang: Lang, at: usize, of: usize, quiz: bool) -> String {
    match (quiz, lang) {
        (false, Lang::En) => format!("{at} of {of}"),
        (true, Lang::En) => format!("Question {at} of {of}"),
        (false, Lang::Zh) => format!("{at} / {of}"),
        (true, Lang::Zh) => format!("问题 {at} / {of}"),
    }
}

/// A lesson in few words: its theme, how long it takes, and whose generation it shows.
#[must_use]
pub fn about(lang: Lang, theme: Theme, minutes: u32, version: &str) -> String {
    let (theme, minutes) = (theme.title(lang), super::shelf::minutes(lang, minutes));
    format!("{theme} · {minutes} · client-go {version}")
}

/// What to know before one believes a scene: the generation is another one, or the moment is.
#[must_use]
pub fn aside(lang: Lang, story: &StoryView) -> Option<String> {
    if !story.eras.is_empty() {
        let eras = versions(lang, &story.eras);
        return Some(match lang {
            Lang::En => format!(
                "This is told of {eras}. In the generation that you chose, the run may differ."
            ),
            Lang::Zh => format!("这里讲的是 {eras}。你选的实现版本中，运行可能不同。"),
        });
    }
    story.elsewhere.then(|| {
        let text = match lang {
            Lang::En => "You are at another moment of the run. Next goes on with the story.",
            Lang::Zh => "现在显示的是运行中的另一时刻。按“下一步”继续故事。",
        };
        text.to_owned()
    })
}

/// What the run says to an answer.
#[must_use]
pub fn verdict(lang: Lang, asked: &Asked, verdict: &Verdict) -> String {
    let right = answer(lang, &asked.choices, &verdict.right);
    // An order is only seen to be wrong beside the right one.
    if let (Some(false), Some(Some(given @ Answer::Order(_)))) = (verdict.is_right, &asked.given) {
        let given = answer(lang, &asked.choices, given);
        return match lang {
            Lang::En => format!("Not here. Yours: {given}. Right: {right}."),
            Lang::Zh => format!("不对。你的顺序：{given}。正确顺序：{right}。"),
        };
    }
    match (verdict.is_right, lang) {
        (Some(true), Lang::En) => "Right.".to_owned(),
        (Some(true), Lang::Zh) => "答对了。".to_owned(),
        (Some(false), Lang::En) => format!("Not here. Right: {right}."),
        (Some(false), Lang::Zh) => format!("不对。正确答案：{right}。"),
        (None, Lang::En) => format!("It is: {right}."),
        (None, Lang::Zh) => format!("答案：{right}。"),
    }
}

/// The other generations in which a wrong answer would be right.
#[must_use]
pub fn right_in(lang: Lang, generations: &[Generation]) -> Option<String> {
    if generations.is_empty() {
        return None;
    }
    let versions = versions(lang, generations);
    Some(match lang {
        Lang::En => format!("In {versions} it would be right."),
        Lang::Zh => format!("在 {versions} 中则是对的。"),
    })
}

fn versions(lang: Lang, generations: &[Generation]) -> String {
    let versions: Vec<&str> = generations.iter().map(|one| one.version()).collect();
    versions.join(match lang {
        Lang::En => ", ",
        Lang::Zh => "、",
    })
}

/// An answer in words; `choices`: the question's.
#[must_use]
pub fn answer(lang: Lang, choices: &[Text], answer: &Answer) -> String {
    let choice = |at: &usize| {
        let say = choices.get(*at);
        say.map_or("", |say| say.get(lang)).to_owned()
    };
    match answer {
        Answer::Choice(at) => choice(at),
        Answer::Number(number) => number.to_string(),
        Answer::Place(place) => room(lang, *place).to_owned(),
        Answer::Order(items) => items.iter().map(choice).collect::<Vec<_>>().join(" → "),
    }
}
