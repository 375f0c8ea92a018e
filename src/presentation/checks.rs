//! The invariants of a run and their violations, in words.

use deltascope_replay::invariants::{Invariant, Violation, ViolationKind};
use deltascope_replay::picture::Picture;

use super::lanes::actor_name;
use deltascope_world::text::{Lang, Text};

/// What an invariant states.
#[must_use]
pub fn title(monitor: Invariant, lang: Lang) -> &'static str {
    let (en, zh) = match monitor {
        Invariant::Past => (
            "The store holds only what the API server once had",
            "存储里只有 API server 曾有过的东西",
        ),
        Invariant::Lost => ("No change is lost", "变更不丢失"),
        Invariant::Queue => (
            "Every queued key has its deltas",
            "队列里的每个 key 都有它的 Delta",
        ),
        Invariant::Lock => (
            "Only who holds the lock changes the queue",
            "只有持锁者能改动队列",
        ),
        Invariant::Index => (
            "The indices show exactly what is stored",
            "索引与存储完全一致",
        ),
        Invariant::Back => (
            "No object goes back to an older version",
            "对象不会退回旧版本",
        ),
        Invariant::Synced => (
            "HasSynced waits for the first list",
            "HasSynced 等到第一个列表",
        ),
        Invariant::Early => (
            "When HasSynced turns true, the first list is stored",
            "HasSynced 变为真时，第一个列表已存好",
        ),
        Invariant::Order => (
            "A handler is called for each object in order",
            "handler 按顺序收到每个对象的变化",
        ),
        Invariant::Notified => (
            "A handler that is done knows what is stored",
            "处理完毕的 handler 知道存储里的一切",
        ),
        Invariant::Shared => ("Shared objects are not modified", "共享的对象不被修改"),
        Invariant::Work => (
            "No key is with two workers",
            "同一个 key 不会在两个 worker 手里",
        ),
    };
    lang.pick(en, zh)
}

/// What a violation shows to be wrong.
#[must_use]
pub fn explain(found: &Violation, picture: &Picture, lang: Lang) -> String {
    let key = found.key.as_ref().map_or("", |key| &**key);
    let say = |en: &str, zh: &str, values: &[&str]| {
        let mut text = lang.pick(en, zh).to_owned();
        for (place, value) in values.iter().enumerate() {
            text = text.replace(["①", "②", "③"][place.min(2)], value);
        }
        text
    };
    let number = found.handler.map(usize::from);
    let handler = number.and_then(|number| picture.handlers.get(number));
    let here = handler.map_or("handler", |handler| &*handler.name);
    match &found.what {
        ViolationKind::IndexCount(index, count) => say(
            "① is stored and stands under ② values of the index ③; it should be one.",
            "① 已存储，却在索引 ③ 里出现在 ② 个值之下；应当只有一个。",
            &[key, &count.to_string(), index],
        ),
        ViolationKind::IndexDangling(index) => say(
            "The index ② names ①, which is not stored.",
            "索引 ② 指向 ①，而存储里没有它。",
            &[key, index],
        ),
        ViolationKind::QueueUneven => say(
            "① is queued without deltas, or has deltas and is not queued: they will never be popped.",
            "① 在队列里却没有 Delta，或有 Delta 却不在队列里：没有人会弹出它们。",
            &[key],
        ),
        ViolationKind::QueueCount(out, had) => say(
            "① came out of the queue where ② had been put in.",
            "放进队列的有 ② 个，取出的却是 ① 个。",
            &[&out.to_string(), &had.to_string()],
        ),
        ViolationKind::LockStolen(actor) => say(
            "A lock went from hand to hand without being free: ①.",
            "锁还没有释放就易手了：①。",
            &[&actor_name(*actor, picture, lang)],
        ),
        ViolationKind::Unlocked(actor) => say(
            "The queue was changed without its lock: ①.",
            "没有持锁就改动了队列：①。",
            &[&actor_name(*actor, picture, lang)],
        ),
        ViolationKind::NeverExisted(rv) => say(
            "The store holds ① at version ②, which the API server never had.",
            "存储里 ① 的版本是 ②，而 API server 从未有过这个版本。",
            &[key, rv],
        ),
        ViolationKind::WentBack(from, to) if key.is_empty() => say(
            "The store's version went back from ① to ②.",
            "存储的版本从 ① 退回到 ②。",
            &[from, to],
        ),
        ViolationKind::WentBack(from, to) => say(
            "① went back from version ② to ③.",
            "① 从版本 ② 退回到 ③。",
            &[key, from, to],
        ),
        ViolationKind::DeleteDropped => say(
            "The delete of ① is lost. The queue holds nothing for it and has no KnownObjects to ask, so it took the object for unknown and dropped the delete; a handler that was notified of ① keeps it for ever.",
            "① 的删除丢失了。队列里没有它的 Delta，也没有 KnownObjects 可问，于是把它当作未知对象，丢掉了删除；已收到 ① 的通知的 handler 会永远留着它。",
            &[key],
        ),
        ViolationKind::Differs { server, here: rv } if found.invariant == Invariant::Lost => {
            match (&**server, &**rv) {
                ("", rv) => say(
                    "All is quiet, and the store still holds ① (②), which the API server has no more.",
                    "一切平静之后，存储里还留着 ①（②），而 API server 上已经没有它。",
                    &[key, rv],
                ),
                (server, "") => say(
                    "All is quiet, and the store lacks ①, which the API server has (②).",
                    "一切平静之后，存储里缺少 ①，而 API server 上有它（②）。",
                    &[key, server],
                ),
                (server, rv) => say(
                    "All is quiet, and the store holds ① at ③; the API server has ②.",
                    "一切平静之后，存储里 ① 的版本是 ③，而 API server 上是 ②。",
                    &[key, server, rv],
                ),
            }
        }
        ViolationKind::Differs { server, here: rv } => {
            let none = lang.pick("nothing", "无");
            let or = |rv: &str| {
                if rv.is_empty() {
                    none.to_owned()
                } else {
                    rv.to_owned()
                }
            };
            say(
                "③ has processed all its notifications and is wrong about ①: ②.",
                "③ 处理完了所有通知，对 ① 的认识却是错的：②。",
                &[key, &format!("{} ≠ {}", or(rv), or(server)), here],
            )
        }
        ViolationKind::Overtaken => say(
            "② was notified of ① before something that had been sent earlier.",
            "② 在更早发出的通知之前就收到了 ① 的通知。",
            &[key, here],
        ),
        ViolationKind::AddedTwice => say(
            "② got OnAdd of ① twice, without OnDelete between.",
            "② 对 ① 收到了两次 OnAdd，其间没有 OnDelete。",
            &[key, here],
        ),
        ViolationKind::NotAddedBefore => say(
            "② got a change of ① without OnAdd before.",
            "② 没有先收到 OnAdd，就收到了 ① 的变化。",
            &[key, here],
        ),
        ViolationKind::TooEarly(_) if found.invariant == Invariant::Early => say(
            "HasSynced is true from here on, and the last of the first list is not stored yet: a program that waited for it and reads the store now misses it.",
            "从这里起 HasSynced 为真，而第一个列表的最后一部分还没有存好：等到它之后马上读存储的程序会看不到。",
            &[],
        ),
        ViolationKind::TooEarly(left) => say(
            "HasSynced is true although ① of the first list are still to come.",
            "HasSynced 已为真，而第一个列表还有 ① 个没有处理。",
            &[&left.to_string()],
        ),
        ViolationKind::Written => say(
            "Somebody wrote into ①. Store, queue and every handler share that object; the indices are not updated, and the next relist overwrites it.",
            "有人改写了 ①。存储、队列和所有 handler 共享这个对象；索引不会得知，下一次 relist 会覆盖它。",
            &[key],
        ),
        ViolationKind::TwoWorkers(_) => say(
            "Two workers have ① at once.",
            "两个 worker 同时拿着 ①。",
            &[key],
        ),
    }
}

/// Of a known violation: in which client-go versions it occurs. Empty for any other.
#[must_use]
pub fn known(found: &Violation) -> Text {
    match found.invariant {
        Invariant::Early => Text::new(
            "Known up to client-go 0.35: the count goes down when the last item is popped. From 0.36 on it goes down when it has been processed.",
            "已知（直到 client-go 0.35）：最后一项弹出时就已计完。从 0.36 起，处理完才计。",
        ),
        Invariant::Lost => Text::new(
            "Known of every DeltaFIFO without KnownObjects; an informer's queue always has them.",
            "已知：没有 KnownObjects 的 DeltaFIFO 都会如此；informer 的队列总是有它。",
        ),
        Invariant::Order => Text::new(
            "Known from client-go 0.33 on: a RealFIFO passes on the delete of an unknown object; 0.36 looks a key that is twice in a list up in the old store, twice.",
            "已知（从 client-go 0.33 起）：RealFIFO 会传递未知对象的删除；0.36 对列表里出现两次的 key，两次都查旧的存储。",
        ),
        Invariant::Shared => Text::new(
            "Known of all generations: nothing prevents it, and only the mutation detector notices.",
            "所有实现版本都已知：没有什么能阻止它，只有 mutation detector 会发现。",
        ),
        _ => Text::default(),
    }
}
