//! The words of the shelf with a number in them.

use deltascope_world::in_lang;
use deltascope_world::text::{Lang, counted};

/// Where the progress is, if the browser keeps it.
#[must_use]
pub fn kept(lang: Lang, is_kept: bool) -> &'static str {
    match (lang, is_kept) {
        (Lang::En, true) => "Your progress stays in this browser.",
        (Lang::En, false) => {
            "This browser cannot keep your progress: its storage is blocked or full. It is lost with this tab."
        }
        (Lang::Zh, true) => "学习进度只保存在本浏览器中。",
        (Lang::Zh, false) => {
            "本浏览器无法保存学习进度：存储被禁用或已满。关闭此标签页后，进度将丢失。"
        }
    }
}

/// `3 min`
#[must_use]
pub fn minutes(lang: Lang, minutes: u32) -> String {
    in_lang!(lang, "{minutes} min", "{minutes} 分钟")
}

/// `5 lessons · 13 min · 2 done`
#[must_use]
pub fn course(lang: Lang, lessons: usize, length: u32, done: usize) -> String {
    let length = minutes(lang, length);
    let mut text = in_lang!(
        lang,
        ("{} · {length}", counted(lessons, "lesson", "lessons")),
        "{lessons} 课 · {length}"
    );
    if done > 0 {
        text.push_str(&in_lang!(lang, " · {done} done", " · 已学 {done} 课"));
    }
    text
}

/// `3 found`
#[must_use]
pub fn found(lang: Lang, count: usize) -> String {
    in_lang!(lang, "{count} found", "找到 {count} 项")
}

/// `Next: Why is there …?`
#[must_use]
pub fn next(lang: Lang, question: &str) -> String {
    in_lang!(lang, "Next: {question}", "下一课：{question}")
}

/// `Scene 5`
#[must_use]
pub fn scene(lang: Lang, scene: usize) -> String {
    in_lang!(lang, "Scene {scene}", "场景 {scene}")
}
