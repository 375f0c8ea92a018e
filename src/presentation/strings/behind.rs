//! Words about how the cache keeps up with the server: object by object, the connection, and along the run.

use crate::decimal::tenths;
use crate::stage::{Pipe, PipeState};
use deltascope_replay::gauge::Freshness;
use deltascope_world::in_lang;
use deltascope_world::text::Lang;

/// How the cache's version of an object compares, beside the object on the server; `cached` is said as `rv 5`.
#[must_use]
pub fn on_server(lang: Lang, freshness: Freshness, cached: &str) -> String {
    match (freshness, lang) {
        (Freshness::Unknown, _) => String::new(),
        (Freshness::Same, Lang::En) => "the cache has it".to_owned(),
        (Freshness::Same, Lang::Zh) => "缓存中已有".to_owned(),
        (Freshness::Stale, Lang::En) => format!("the cache has {cached}"),
        (Freshness::Stale, Lang::Zh) => format!("缓存中是 {cached}"),
        (Freshness::Missing, Lang::En) => "not in the cache yet".to_owned(),
        (Freshness::Missing, Lang::Zh) => "尚未进入缓存".to_owned(),
        (Freshness::Gone, Lang::En) => format!("the cache still has {cached}"),
        (Freshness::Gone, Lang::Zh) => format!("缓存中还有 {cached}"),
    }
}

/// The same beside the item in the cache; `server` is the server's version, said as `rv 7`.
#[must_use]
pub fn in_cache(lang: Lang, freshness: Freshness, server: &str) -> String {
    match (freshness, lang) {
        (Freshness::Unknown | Freshness::Missing, _) => String::new(),
        (Freshness::Same, Lang::En) => "as on the server".to_owned(),
        (Freshness::Same, Lang::Zh) => "与 API server 一致".to_owned(),
        (Freshness::Stale, Lang::En) => format!("the server has {server}"),
        (Freshness::Stale, Lang::Zh) => format!("API server 上是 {server}"),
        (Freshness::Gone, Lang::En) => "no longer on the server".to_owned(),
        (Freshness::Gone, Lang::Zh) => "API server 上已没有".to_owned(),
    }
}

/// The state of the connection: `410 · backoff: 0.8 s left`.
#[must_use]
pub fn pipe(lang: Lang, pipe: &Pipe) -> String {
    let text = match (pipe.state, lang) {
        (PipeState::None, Lang::En) => "no watch".to_owned(),
        (PipeState::None, Lang::Zh) => "没有 watch".to_owned(),
        (PipeState::Asked, Lang::En) => "waiting for the response".to_owned(),
        (PipeState::Asked, Lang::Zh) => "等待响应".to_owned(),
        (PipeState::Open, Lang::En) => "open".to_owned(),
        (PipeState::Open, Lang::Zh) => "已打开".to_owned(),
        (PipeState::Ended, Lang::En) => "ended".to_owned(),
        (PipeState::Ended, Lang::Zh) => "已结束".to_owned(),
        (PipeState::Waiting, Lang::En) => format!("backoff: {} left", tenths(pipe.left_ms)),
        (PipeState::Waiting, Lang::Zh) => format!("退避：还剩 {}", tenths(pipe.left_ms)),
    };
    match pipe.code {
        0 => text,
        code => format!("{code} · {text}"),
    }
}

/// What the API server no longer has: `history up to rv 7 is gone`.
#[must_use]
pub fn forgotten(lang: Lang, rv: &str) -> String {
    in_lang!(
        lang,
        "history up to rv {rv} is gone",
        "rv {rv} 及之前的历史已丢弃"
    )
}

/// The label of the line below the timeline.
#[must_use]
pub fn line(lang: Lang, most: u64) -> String {
    in_lang!(
        lang,
        "How many objects the store is behind during the run: at most {most}",
        "整个运行中存储落后的对象数：最多 {most} 个"
    )
}

/// The label of what was dropped in one place.
#[must_use]
pub fn dropped(lang: Lang) -> &'static str {
    lang.pick("Dropped or missed in this step", "这一步中丢弃或错过的")
}

/// What was dropped, as assistive technology says it: `dropped: Deleted web-0`.
#[must_use]
pub fn is_dropped(lang: Lang, missed: bool, what: &str) -> String {
    match (lang, missed) {
        (Lang::En, false) => format!("dropped: {what}"),
        (Lang::En, true) => format!("missed: {what}"),
        (Lang::Zh, false) => format!("丢弃：{what}"),
        (Lang::Zh, true) => format!("错过：{what}"),
    }
}
