//! The caption after the last fact of a run.

use deltascope_replay::picture::{Behind, Picture};

use super::amounts::{entries, keys, objects};
use super::{Span, Words, mono, say, text};
use deltascope_world::text::Lang;

/// What has become of everything: the store beside the API server, what still waits in the queue, and the handlers
/// with notifications left. `words` are those of the last fact.
#[must_use]
pub fn at_end(picture: &Picture, words: Words, lang: Lang) -> Words {
    let stored = objects(lang, picture.store.items.len());
    let (en, zh) = match picture.store.behind {
        _ if !picture.store.present => ("The run ends here.", "运行到此结束。"),
        Behind::Nothing => (
            "The run ends here. The Indexer holds {objects}.",
            "运行到此结束。Indexer 里有 {objects}。",
        ),
        Behind::By(0) => (
            "The run ends here. The Indexer agrees with the API server: {objects}.",
            "运行到此结束。Indexer 与 API server 一致：{objects}。",
        ),
        Behind::By(_) => (
            "The run ends here. The Indexer differs from the API server in {behind}.",
            "运行到此结束。Indexer 与 API server 有 {behind}不一致。",
        ),
        Behind::Unknown => (
            "The run ends here. The Indexer holds {objects}; whether the API server has more is not known.",
            "运行到此结束。Indexer 里有 {objects}；API server 上是否还有变化，未知。",
        ),
    };
    let behind = match picture.store.behind {
        Behind::By(count) => objects(lang, usize::try_from(count).unwrap_or(usize::MAX)),
        Behind::Nothing | Behind::Unknown => String::new(),
    };
    let mut what = say(
        lang,
        en,
        zh,
        &[("objects", text(stored)), ("behind", text(behind))],
    );
    let mut add = |en, zh, values: &[(&str, Vec<Span>)]| {
        if lang == Lang::En {
            what.push(Span::Text(" ".into()));
        }
        what.extend(say(lang, en, zh, values));
    };
    let queue = &picture.queue;
    let waiting = match (queue.keys.len(), queue.entries.len()) {
        (0, 0) => None,
        (0, count) => Some(entries(lang, count)),
        (count, _) => Some(keys(lang, count)),
    };
    if let Some(waiting) = waiting {
        add(
            "The {queue} still holds {waiting}.",
            "{queue} 里还有 {waiting}。",
            &[("queue", text(queue.kind.id())), ("waiting", text(waiting))],
        );
    }
    let busy = picture.handlers.iter().filter(|handler| {
        !handler.removed && (!handler.pending.is_empty() || handler.running.is_some())
    });
    let busy: Vec<&str> = busy.map(|handler| &*handler.name).collect();
    if !busy.is_empty() {
        add(
            "Not everything has reached {handlers}.",
            "{handlers} 还没有处理完。",
            &[("handlers", mono(busy.join(", ")))],
        );
    }
    Words {
        what,
        why: words.what,
    }
}
