//! The page's own words in both languages: fixed words, and those with a number or a name in them. Words about
//! facts are in `caption`; names from client-go are not translated.

pub mod behind;
pub mod shelf;
pub mod spoken;
pub mod story;
mod table;
pub mod together;

pub use super::caption::amounts::{entries, objects};
pub use table::{Later, Strings, strings};

use super::caption;
use super::command::Fault;
use super::decimal::tenths;
use super::stage::{Panel, WorkPart};
use super::view::RaceView;
use super::view::cells::Hue;
use super::view::walking::{End, NotFound, Said};
use super::view::why::Origin;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::Actor;
use deltascope_replay::picture::Behind;
use deltascope_replay::picture::{Answer, ProcessMode, SourceKind};
use deltascope_replay::step_size::StepSize;
use deltascope_world::in_lang;
use deltascope_world::source::Refusals;
use deltascope_world::text;
use deltascope_world::text::{Lang, Text, counted};

/// The title of a room, where it is not a client-go name that depends on the picture.
#[must_use]
pub fn room(lang: Lang, room: Panel) -> &'static str {
    match (room, lang) {
        (Panel::Api, _) => "API server",
        (Panel::Reflector, _) => "Reflector",
        (Panel::Queue, Lang::En) => "Queue",
        (Panel::Queue, Lang::Zh) => "队列",
        (Panel::Pop, _) => "Pop",
        (Panel::Indexer, _) => "Indexer",
        (Panel::Now, _) => strings(lang).now_running,
        (Panel::Processor, _) => strings(lang).handlers,
    }
}

/// The title of the first room, which depends on the source of the run.
#[must_use]
pub fn source(lang: Lang, source: SourceKind) -> &'static str {
    match source {
        SourceKind::Server => room(lang, Panel::Api),
        SourceKind::Recorded => strings(lang).recording,
        SourceKind::Cluster => strings(lang).cluster,
        SourceKind::Program => strings(lang).program,
    }
}

/// What a colour of cells means.
#[must_use]
pub fn cells(lang: Lang, hue: Hue, queued: bool) -> &'static str {
    let (en, zh) = match hue {
        Hue::Of(delta_type) if queued => return delta_type.as_str(),
        Hue::Same if queued => ("without an object", "没有对象"),
        Hue::Of(DeltaType::Added) => ("not stored yet", "尚未存入"),
        Hue::Of(DeltaType::Deleted) => ("deleted", "已删除"),
        Hue::Of(_) => ("older in the store", "存储中较旧"),
        Hue::Same => ("alike", "一致"),
    };
    lang.pick(en, zh)
}

/// The label of a field of cells, with the number of cells of each colour.
#[must_use]
pub fn field(lang: Lang, label: &str, counts: &[(Hue, usize)], queued: bool) -> String {
    let mut text = label.to_owned();
    let mut between = lang.pick(": ", "：");
    for (hue, count) in counts {
        text.push_str(between);
        text.push_str(&format!("{count} {}", cells(lang, *hue, queued)));
        between = lang.pick(", ", "，");
    }
    text
}

/// `3 keys · 5 deltas`
#[must_use]
pub fn queued(lang: Lang, keys: usize, deltas: usize) -> String {
    in_lang!(
        lang,
        (
            "{} · {}",
            counted(keys, "key", "keys"),
            counted(deltas, "delta", "deltas")
        ),
        "{keys} 个 key · {deltas} 个 Delta"
    )
}

/// `3 places · 2 objects`: of a FIFO.
#[must_use]
pub fn places(lang: Lang, places: usize, count: usize) -> String {
    let objects = objects(lang, count);
    in_lang!(
        lang,
        ("{} · {objects}", counted(places, "place", "places")),
        "{places} 个位置 · {objects}"
    )
}

/// `≠ 3 differences now · 5 totals differ`: of what both runs show, and of what they have come to.
#[must_use]
pub fn differences(lang: Lang, count: usize, totals: usize) -> String {
    let now = match (lang, count) {
        (Lang::En, 0) => "nothing differs now".to_owned(),
        (Lang::En, count) => format!("≠ {} now", counted(count, "difference", "differences")),
        (Lang::Zh, 0) => "此刻没有不同".to_owned(),
        (Lang::Zh, count) => format!("此刻 ≠ {count} 处不同"),
    };
    match (lang, totals) {
        (_, 0) => now,
        (Lang::En, 1) => format!("{now} · 1 total differs"),
        (Lang::En, totals) => format!("{now} · {totals} totals differ"),
        (Lang::Zh, totals) => format!("{now} · {totals} 项累计不同"),
    }
}

/// `parting 1 of 2`: which one is shown, or how many there are.
#[must_use]
pub fn partings(lang: Lang, race: &RaceView) -> String {
    let (at, all) = race.partings;
    match (race.moment.parts, all) {
        (true, Some(all)) => in_lang!(lang, "parting {at} of {all}", "第 {at} / {all} 处分歧"),
        (true, None) => in_lang!(lang, "parting {at}", "第 {at} 处分歧"),
        (false, Some(0)) => lang.pick("no parting", "没有分歧").to_owned(),
        (false, Some(all)) => {
            let partings = counted(all, "parting", "partings");
            in_lang!(lang, "{partings}", "{all} 处分歧")
        }
        (false, None) => lang.pick("partings", "分歧").to_owned(),
    }
}

/// `5 objects behind`; empty where there is no server to compare with.
#[must_use]
pub fn behind(lang: Lang, behind: Behind) -> String {
    match (behind, lang) {
        (Behind::Nothing, _) => String::new(),
        (Behind::Unknown, Lang::En) => "behind: not known".to_owned(),
        (Behind::Unknown, Lang::Zh) => "落后多少：未知".to_owned(),
        (Behind::By(count), Lang::En) => format!(
            "{count} {} behind",
            if count == 1 { "object" } else { "objects" }
        ),
        (Behind::By(count), Lang::Zh) => format!("落后 {count} 个对象"),
    }
}

/// What the store's version is, where client-go keeps none: that of the object written last is perhaps not the newest.
#[must_use]
pub fn last_written(lang: Lang, is_kept: bool) -> &'static str {
    match is_kept {
        true => "",
        false => lang.pick("last written: ", "最后写入："),
    }
}

/// The tooltip of the store's gauge.
#[must_use]
pub fn gauge_title(lang: Lang, behind: Behind, is_kept: bool) -> String {
    let words = strings(lang);
    let gauge = [words.behind_is, words.behind_known];
    let gauge = gauge.into_iter().filter(|_| behind != Behind::Nothing);
    let kept = (!is_kept).then_some(words.not_kept);
    gauge.chain(kept).collect::<Vec<_>>().join(" ")
}

/// `2 listeners`
#[must_use]
pub fn listeners(lang: Lang, count: usize) -> String {
    lang.pick(
        counted(count, "listener", "listeners"),
        format!("{count} 个 listener"),
    )
}

/// `1 waiting`: short, because the column is narrow.
#[must_use]
pub fn waiting(lang: Lang, pending: usize) -> String {
    in_lang!(lang, "{pending} waiting", "等待 {pending}")
}

/// `37 more`
#[must_use]
pub fn more(lang: Lang, count: usize) -> String {
    in_lang!(lang, "{count} more", "还有 {count} 个")
}

/// `batch of 12`
#[must_use]
pub fn batch(lang: Lang, count: usize) -> String {
    in_lang!(lang, "batch of {count}", "一批 {count} 个")
}

/// The title of an entry of a RealFIFO: `ReplacedAll · 3 objects`, `Deleted · tombstone`.
#[must_use]
pub fn entry(lang: Lang, name: &str, count: Option<usize>, tombstone: bool) -> String {
    let more = match (count, tombstone) {
        (Some(count), _) => objects(lang, count),
        (None, true) => strings(lang).tombstone.to_owned(),
        _ => return name.to_owned(),
    };
    format!("{name} · {more}")
}

/// The name of a fault in the menu.
#[must_use]
pub fn fault(lang: Lang, fault: Fault) -> String {
    let zh = lang == Lang::Zh;
    match fault {
        Fault::Close if zh => "正常关闭 watch".to_owned(),
        Fault::Close => "close the watch".to_owned(),
        Fault::Bookmark if zh => "发送 BOOKMARK".to_owned(),
        Fault::Bookmark => "send a BOOKMARK".to_owned(),
        Fault::Event(code) if zh => format!("ERROR 事件 {code}"),
        Fault::Event(code) => format!("ERROR event {code}"),
        Fault::List(kind) if zh => format!("下一次 List 失败：{}", caption::refusal(kind)),
        Fault::List(kind) => format!("next LIST fails: {}", caption::refusal(kind)),
    }
}

/// An armed refusal: `next LIST answers 410 Expired`.
#[must_use]
pub fn armed(lang: Lang, refusals: &Refusals) -> String {
    let request = refusals.request.as_str();
    let with = caption::refusal(refusals.kind);
    let times = match refusals.times {
        0 | 1 => String::new(),
        times => format!(" ×{times}"),
    };
    in_lang!(
        lang,
        "next {request}{times} answers {with}",
        "下一次 {request}{times} 得到 {with}"
    )
}

/// The answer to a request: `→ 3 objects`.
#[must_use]
pub fn answer(lang: Lang, answer: &Answer) -> String {
    let zh = lang == Lang::Zh;
    let text = match answer {
        Answer::Awaited => return "…".to_owned(),
        Answer::Page(count) => {
            let page = if zh { "一页：" } else { "page, " };
            format!("{page}{}", objects(lang, *count as usize))
        }
        Answer::Listed(count) => objects(lang, *count as usize),
        Answer::Open => (if zh { "打开" } else { "open" }).to_owned(),
        Answer::Ended(code) => {
            let ended = if zh { "结束" } else { "ended" };
            match code {
                0 => ended.to_owned(),
                code => format!("{ended}, ERROR {code}"),
            }
        }
        Answer::Failed(error) => error.to_string(),
    };
    format!("→ {text}")
}

/// The name of a part of the workqueue: client-go's name where it has one.
#[must_use]
pub fn work_part(lang: Lang, part: WorkPart) -> &'static str {
    match (part, lang) {
        (WorkPart::Queue, _) => "queue",
        (WorkPart::Dirty, _) => "dirty",
        (WorkPart::Processing, _) => "processing",
        (WorkPart::Delayed, Lang::En) => "delayed",
        (WorkPart::Delayed, Lang::Zh) => "延后",
        (WorkPart::Failures, Lang::En) => "retries",
        (WorkPart::Failures, Lang::Zh) => "重试",
    }
}

/// `7 reconciled`
#[must_use]
pub fn reconciled(lang: Lang, count: u64) -> String {
    in_lang!(lang, "{count} reconciled", "已调谐 {count} 次")
}

/// A place in the queue: `next`, `2nd`, `3rd`.
#[must_use]
pub fn place(lang: Lang, place: usize) -> String {
    if place == 0 {
        return strings(lang).next.to_owned();
    }
    let n = place + 1;
    match lang {
        Lang::Zh => format!("第 {n}"),
        Lang::En => {
            let ending = match (n % 10, n % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{n}{ending}")
        }
    }
}

/// The short name of a processing mode.
#[must_use]
pub fn mode(lang: Lang, mode: ProcessMode) -> &'static str {
    match (mode, lang) {
        (ProcessMode::Free, Lang::En) => "free",
        (ProcessMode::Paced(_), Lang::En) => "paced",
        (ProcessMode::Held, Lang::En) => "held",
        (ProcessMode::Free, Lang::Zh) => "自由",
        (ProcessMode::Paced(_), Lang::Zh) => "定速",
        (ProcessMode::Held, Lang::Zh) => "手动",
    }
}

/// The effect of a processing mode.
#[must_use]
pub fn mode_title(lang: Lang, mode: ProcessMode) -> &'static str {
    match (mode, lang) {
        (ProcessMode::Free, Lang::En) => "From here on: pops whenever something is queued",
        (ProcessMode::Paced(_), Lang::En) => "From here on: rests after each Pop",
        (ProcessMode::Held, Lang::En) => "From here on: pops only when asked",
        (ProcessMode::Free, Lang::Zh) => "从此刻起：队列里有东西就 Pop",
        (ProcessMode::Paced(_), Lang::Zh) => "从此刻起：每次 Pop 后歇一会儿",
        (ProcessMode::Held, Lang::Zh) => "从此刻起：点击时才 Pop",
    }
}

/// The short name of an actor that holds the lock or waits for it: the room of Pop is narrow.
#[must_use]
pub fn short_actor(lang: Lang, actor: Actor) -> String {
    match (actor, lang) {
        (Actor::Server, _) => "API server".to_owned(),
        (Actor::Program, Lang::En) => "program".to_owned(),
        (Actor::Program, Lang::Zh) => "程序".to_owned(),
        (Actor::Reflector, _) => "reflector".to_owned(),
        (Actor::ProcessLoop, _) => "Pop".to_owned(),
        (Actor::Resync, _) => "resync".to_owned(),
        (Actor::Main, Lang::En) => "main".to_owned(),
        (Actor::Main, Lang::Zh) => "主程序".to_owned(),
        (Actor::Pop(n) | Actor::Listener(n), _) => format!("listener {}", u16::from(n) + 1),
        (Actor::Worker(n), _) => format!("worker {}", u16::from(n) + 1),
    }
}

/// The number of informers, and whether they are shared.
#[must_use]
pub fn informers(lang: Lang, count: u64, shared: bool) -> String {
    match (lang, shared) {
        (Lang::En, true) => format!("{count} shared"),
        (Lang::En, false) => format!("{count} not shared"),
        (Lang::Zh, true) => format!("{count} 个共享"),
        (Lang::Zh, false) => format!("{count} 个不共享"),
    }
}

/// The name of a store: of the informer with this number, or of the shared informer.
#[must_use]
pub fn informer_store(lang: Lang, number: Option<usize>) -> String {
    match (number, lang) {
        (Some(number), _) => format!("informer {number}"),
        (None, Lang::En) => "shared".to_owned(),
        (None, Lang::Zh) => "共享".to_owned(),
    }
}

/// States that an actor waits for the lock.
#[must_use]
pub fn waits_for_lock(lang: Lang, actor: &str) -> String {
    in_lang!(lang, "{actor} waits", "{actor} 等锁")
}

/// Warns that going to the oldest part of a run takes longer.
#[must_use]
pub fn thinned(lang: Lang, facts: usize) -> String {
    in_lang!(
        lang,
        "The facts before {facts} are thinned to checkpoints: going there computes them again and takes longer.",
        "{facts} 之前的事实只保留检查点：去那里要重新计算，会慢一些。"
    )
}

/// `fact 38 / 62 · t = 14.0 s`: the smallest steps, as a bigger one has as many of them as it takes.
#[must_use]
pub fn position(lang: Lang, step: usize, steps: usize, endless: bool, ms: u64) -> String {
    let steps = if endless {
        "…".to_owned()
    } else {
        steps.to_string()
    };
    let time = tenths(ms);
    in_lang!(
        lang,
        "fact {step} / {steps} · t = {time}",
        "事实 {step} / {steps} · t = {time}"
    )
}

/// `fact 38 · 14.0 s`: a place in the run.
#[must_use]
pub fn moment(lang: Lang, step: usize, ms: u64) -> String {
    let time = tenths(ms);
    in_lang!(lang, "fact {step} · {time}", "事实 {step} · {time}")
}

/// The label of the button that follows an object.
#[must_use]
pub fn follow(lang: Lang, key: &str) -> String {
    in_lang!(lang, "Follow {key}", "跟踪 {key}")
}

/// The name of a step size.
#[must_use]
pub fn step_size(lang: Lang, step_size: StepSize) -> &'static str {
    match (step_size, lang) {
        (StepSize::Event, Lang::En) => "event",
        (StepSize::Event, Lang::Zh) => "事件",
        (StepSize::Pop, _) => "Pop",
        (StepSize::Lock, Lang::En) => "lock",
        (StepSize::Lock, Lang::Zh) => "锁",
        (StepSize::Micro, Lang::En) => "fact",
        (StepSize::Micro, Lang::Zh) => "最小步",
    }
}

/// The tooltip of the button that steps back.
#[must_use]
pub fn back_over(lang: Lang, size: StepSize) -> String {
    let over = match (size, lang) {
        (StepSize::Event, Lang::En) => "one event",
        (StepSize::Event, Lang::Zh) => "一个事件",
        (StepSize::Pop, Lang::En) => "one Pop",
        (StepSize::Pop, Lang::Zh) => "一次 Pop",
        (StepSize::Lock, Lang::En) => "what one lock guarded",
        (StepSize::Lock, Lang::Zh) => "一段持锁的操作",
        (StepSize::Micro, Lang::En) => "one fact",
        (StepSize::Micro, Lang::Zh) => "一个最小步",
    };
    match lang {
        Lang::En => format!("Step back over {over}; what you did after it stays on the timeline"),
        Lang::Zh => format!("后退{over}；你之后的操作还留在时间线上"),
    }
}

/// The result of a search for a predicate.
#[must_use]
pub fn said(lang: Lang, said: &Said) -> String {
    match (said, lang) {
        (Said::Found(at), Lang::En) => format!("Found: fact {at}."),
        (Said::Found(at), Lang::Zh) => format!("找到了：事实 {at}。"),
        (Said::NotFound(failed), lang) => not_found(failed).get(lang).to_owned(),
    }
}

/// Why a search failed: the predicate and how far it was looked for, the part that never held, and what holds the
/// run back.
#[must_use]
pub fn not_found(failed: &NotFound) -> Text {
    let NotFound { what, to, .. } = failed;
    let mut en = format!("{what} was not found");
    let mut zh = format!("没有找到 {what}");
    let how = match failed.end {
        End::Over => text!(
            ": the run ends at fact {to}, and nothing more is due.",
            "：运行在事实 {to} 结束，之后不会再发生任何事。"
        ),
        End::Bound => text!(
            " up to fact {to}, as far as one search looks; the run goes on.",
            "：一次搜索只看到事实 {to}，运行还在继续。"
        ),
        End::Full => text!(
            " up to fact {to}, and no more facts are kept.",
            "：已看到事实 {to}，不再保留更多。"
        ),
        End::Live => text!(
            " so far, up to fact {to}: the cluster has sent no more yet.",
            "：到目前的事实 {to} 为止，集群还没有发来更多内容。"
        ),
    };
    en.push_str(&how.en);
    zh.push_str(&how.zh);
    match &failed.missing {
        Some(missing) if missing == what => {}
        Some(missing) => {
            en.push_str(&format!(" No fact there has {missing}."));
            zh.push_str(&format!("其中没有任何一个事实满足 {missing}。"));
        }
        None => {
            en.push_str(" Each part of it comes, but never all at once.");
            zh.push_str("每个条件都单独出现过，但从未同时满足。");
        }
    }
    if failed.held > 0 {
        let (count, one) = (failed.held, failed.held == 1);
        en.push_str(&format!(
            " The process loop is held, and {count} {} for a Pop: nothing that comes after one can happen. Pop, or set the loop to free.",
            if one { "waits" } else { "wait" },
        ));
        zh.push_str(&format!(
            "处理循环处于手动模式，队列中有 {count} 项等待 Pop，Pop 之后的事都不会发生。请点击“Pop 一次”，或改为自由。"
        ));
    }
    en.push_str(" The run is as it was.");
    zh.push_str("运行保持原样。");
    Text::new(&en, &zh)
}

/// Where a breakpoint stopped playback.
#[must_use]
pub fn stopped(lang: Lang, at: usize) -> String {
    in_lang!(lang, "stopped at fact {at}", "停在事实 {at}")
}

/// The origin of a chain of causes.
#[must_use]
pub fn origin(lang: Lang, origin: Origin) -> String {
    let words = match origin {
        Origin::Start => Text::new("It was set so from the start.", "一开始就是这样设定的。"),
        Origin::Recorded => Text::new("The recording says so.", "录制里就是这样。"),
        Origin::Cluster => Text::new("The cluster said so.", "集群就是这样说的。"),
        Origin::Traffic(n) => text!(
            "The seeded traffic did it: its write {n}.",
            "固定随机种子的流量所为：它的第 {n} 次写入。"
        ),
        Origin::Script(n) => text!(
            "The lesson's script did it: its entry {n}.",
            "由课程的脚本所为：它的第 {n} 条。"
        ),
        Origin::LongAgo => Text::new(
            "It happened too long ago to be looked for.",
            "发生得太早，无法查找。",
        ),
        Origin::Input(n) => text!(
            "You did it: your input {n}.",
            "是你做的：你的第 {n} 个输入。"
        ),
    };
    words.get(lang).to_owned()
}

/// `Watch pods`
#[must_use]
pub fn watch(lang: Lang, resource: &str) -> String {
    in_lang!(lang, "Watch {resource}", "观察 {resource}")
}

/// The number of objects, with advice if there are many.
#[must_use]
pub fn objects_now(lang: Lang, count: u64, many: bool) -> String {
    match (lang, many) {
        (Lang::En, false) if count == 1 => "1 object now.".to_owned(),
        (Lang::En, false) => format!("{count} objects now."),
        (Lang::En, true) => format!("{count} objects now: so many are better watched as metadata."),
        (Lang::Zh, false) => format!("现有 {count} 个对象。"),
        (Lang::Zh, true) => format!("现有 {count} 个对象：这么多最好只看元数据。"),
    }
}

/// `120 facts behind`; `catching up` if there is a backlog that has not become facts yet.
#[must_use]
pub fn facts_behind(lang: Lang, facts: usize, catching_up: bool) -> String {
    match lang {
        Lang::En if catching_up && facts == 0 => "catching up".to_owned(),
        Lang::Zh if catching_up && facts == 0 => "正在追赶".to_owned(),
        Lang::En => format!("{} behind", counted(facts, "fact", "facts")),
        Lang::Zh => format!("落后 {facts} 个事实"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_ordinal_numbers() {
        let places: Vec<_> = [0, 1, 2, 3, 10, 11, 12, 20, 21]
            .map(|n| place(Lang::En, n))
            .into();
        assert_eq!(
            places,
            [
                "next", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd"
            ]
        );
        assert_eq!(place(Lang::Zh, 1), "第 2");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(queued(Lang::En, 1, 2), "1 key · 2 deltas");
        assert_eq!(behind(Lang::En, Behind::By(1)), "1 object behind");
    }

    #[test]
    fn the_time_has_tenths_of_a_second() {
        assert_eq!(
            position(Lang::En, 38, 62, false, 14_000),
            "fact 38 / 62 · t = 14.0 s"
        );
    }
}
