//! The words around a story.

use super::{room, strings};
use crate::story::{Answer, Theme};
use crate::view::story::{Asked, StoryView, Verdict};
use deltascope_cache::controller::Generation;
use deltascope_world::in_lang;
use deltascope_world::text::{Lang, Text};

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

/// The release of client-go with this generation.
#[must_use]
pub fn client_go(generation: Generation) -> String {
    ["client-go ", generation.client_go()].concat()
}

/// A generation as people say it and as a link does, which has the number of Kubernetes.
#[must_use]
pub fn in_link(generation: Generation) -> String {
    format!("{} (era={})", client_go(generation), generation.version())
}

/// What a generation is, beside its number and its short name, and for which releases it stands.
#[must_use]
pub fn generation(lang: Lang, generation: Generation) -> String {
    let (also, en, zh) = match generation {
        Generation::Classic => (
            ["and older", "及更早"],
            "with a DeltaFIFO: one Pop takes all deltas of one key",
            "使用 DeltaFIFO：一次 Pop 取走一个 key 的所有 Delta",
        ),
        Generation::InOrder => (
            ["also 0.33", "也代表 0.33"],
            "with a RealFIFO: deltas in the order in which they came, one Pop takes one",
            "使用 RealFIFO：Delta 按到达顺序排列，一次 Pop 取走一个",
        ),
        Generation::Batched => (
            ["", ""],
            "with a RealFIFO: one Pop takes many deltas",
            "使用 RealFIFO：一次 Pop 取走多个 Delta",
        ),
        Generation::Atomic => (
            ["and newer", "及更新"],
            "with a RealFIFO: a whole list is one entry, and is stored in one piece",
            "使用 RealFIFO：整个列表是一个条目，一次性存入",
        ),
    };
    let release = client_go(generation);
    let also = lang.pick(also[0], also[1]);
    match (lang, also) {
        (Lang::En, "") => format!("{release}, {en}"),
        (Lang::Zh, "") => format!("{release}，{zh}"),
        (Lang::En, also) => format!("{release} ({also}), {en}"),
        (Lang::Zh, also) => format!("{release}（{also}），{zh}"),
    }
}

/// A lesson in few words: its theme, how long it takes, and the client-go that it shows.
#[must_use]
pub fn about(lang: Lang, theme: Theme, minutes: u32, generation: Generation) -> String {
    let (theme, minutes) = (theme.title(lang), super::shelf::minutes(lang, minutes));
    format!("{theme} · {minutes} · {}", client_go(generation))
}

/// What to know before one believes a scene: the generation is another one, or the moment is.
#[must_use]
pub fn aside(lang: Lang, story: &StoryView) -> Option<String> {
    if !story.eras.is_empty() {
        let eras = versions(lang, &story.eras);
        return Some(in_lang!(
            lang,
            "This story is about {eras}. In the generation that you chose, the run may differ.",
            "这里讲的是 {eras}。你选的实现版本中，运行可能不同。"
        ));
    }
    story.elsewhere.then(|| {
        let text = lang.pick(
            "You are at another moment of the run. Next goes on with the story.",
            "现在显示的是运行中的另一时刻。按“下一步”继续故事。",
        );
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
        return in_lang!(
            lang,
            "No. Yours: {given}. Right: {right}.",
            "不对。你的顺序：{given}。正确顺序：{right}。"
        );
    }
    let is_order = matches!(verdict.right, Answer::Order(_));
    match (verdict.is_right, lang) {
        // Its buttons are gone by then.
        (Some(true), _) if is_order => in_lang!(lang, "Right: {right}.", "答对了：{right}。"),
        (Some(true), Lang::En) => "Right.".to_owned(),
        (Some(true), Lang::Zh) => "答对了。".to_owned(),
        (Some(false), Lang::En) => format!("No. It is: {right}."),
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
    Some(in_lang!(
        lang,
        "In {versions} it would be right.",
        "在 {versions} 中则是对的。"
    ))
}

fn versions(lang: Lang, generations: &[Generation]) -> String {
    let versions: Vec<&str> = generations.iter().map(|one| one.client_go()).collect();
    let versions = versions.join(lang.pick(", ", "、"));
    ["client-go ", &versions].concat()
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
