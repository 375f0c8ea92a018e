//! The page's own words in both languages: one struct, so that none can be forgotten in one of
//! them. Words about facts are in `caption`; names out of client-go are not translated.

use super::command::Fault;
use super::i18n::{Lang, Text};
use super::rows::density::Hue;
use super::rows::live::Panel;
use super::rows::processor::WorkPart;
use super::session::walk::{End, NotFound, Said};
use super::session::why::Origin;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::Actor;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope_replay::picture::Behind;
use deltascope_replay::picture::{Answer, ProcessMode, SourceKind};
use deltascope_replay::step_size::StepSize;
use deltascope_world::source::Refusals;

/// Every label, hint and accessible name of the page.
#[derive(Debug)]
#[allow(missing_docs, reason = "each name says which control it labels")]
pub struct Strings {
    pub lesson: &'static str,
    pub open_recording: &'static str,
    pub known_on: &'static str,
    pub known_off: &'static str,
    pub known_title: &'static str,
    pub language: &'static str,
    pub theme_to_dark: &'static str,
    pub theme_to_light: &'static str,
    pub help: &'static str,
    pub close: &'static str,
    pub dismiss: &'static str,
    pub opening: &'static str,
    pub opening_steps: &'static str,
    pub stop_opening: &'static str,
    pub branches: &'static str,
    pub branches_title: &'static str,
    pub fork_here: &'static str,
    pub branch_go: &'static str,
    pub branch_rename: &'static str,
    pub branch_name: &'static str,
    pub branch_remove: &'static str,
    pub server_events: &'static str,
    pub server_events_hint: &'static str,
    pub no_server_events: &'static str,
    pub drop_event: &'static str,
    pub event_earlier: &'static str,
    pub event_later: &'static str,
    pub another_setting: &'static str,
    pub setting: &'static str,
    pub setting_value: &'static str,
    pub branch_with: &'static str,
    pub no_settings: &'static str,
    pub error: &'static str,
    pub drop_here: &'static str,
    pub drop_hint: &'static str,
    pub era_title: &'static str,
    pub more_faults: &'static str,
    pub armed: &'static str,
    pub disarm: &'static str,

    pub stage: &'static str,
    pub rooms: &'static str,
    pub acting: &'static str,
    pub recording: &'static str,
    /// The room of a real cluster.
    pub cluster: &'static str,
    pub program: &'static str,
    pub server_rv: &'static str,
    pub create: &'static str,
    pub edit: &'static str,
    pub delete: &'static str,
    pub objects: &'static str,
    pub no_objects: &'static str,
    pub deleted: &'static str,
    pub show_all: &'static str,
    pub find_object: &'static str,
    pub queued: &'static str,
    pub show_fewer: &'static str,
    pub watch_stream: &'static str,
    pub no_watch: &'static str,
    pub no_events: &'static str,
    pub waiting: &'static str,
    pub lost: &'static str,
    pub calls: &'static str,
    pub no_calls: &'static str,
    pub faults: &'static str,
    pub cut_watch: &'static str,
    pub compact: &'static str,
    pub compact_title: &'static str,
    pub new_object: &'static str,
    pub change_object: &'static str,
    pub namespace: &'static str,
    pub name: &'static str,
    pub app: &'static str,
    pub node: &'static str,
    pub phase: &'static str,
    pub cancel: &'static str,
    pub do_create: &'static str,
    pub do_edit: &'static str,

    pub no_reflector: &'static str,
    pub unused: &'static str,
    pub unused_reflector: &'static str,
    pub requests: &'static str,
    pub no_requests: &'static str,
    pub temporary: &'static str,
    pub unavailable: &'static str,
    pub in_hand: &'static str,

    pub empty_queue: &'static str,
    pub next: &'static str,
    pub oldest_bottom: &'static str,
    pub closed: &'static str,
    pub object_gone: &'static str,
    pub object_ahead: &'static str,
    pub tombstone: &'static str,

    pub mode: &'static str,
    pub pop_one: &'static str,
    pub lock_free: &'static str,
    pub lock_queue: &'static str,
    pub lock_block: &'static str,
    pub last_popped: &'static str,
    pub nothing_popped: &'static str,
    pub process_idle: &'static str,

    pub no_store: &'static str,
    pub beside: &'static str,
    pub beside_title: &'static str,
    pub empty_store: &'static str,
    pub not_kept: &'static str,
    /// What the gauge counts.
    pub behind_is: &'static str,
    /// When it can be known.
    pub behind_known: &'static str,
    pub items: &'static str,
    pub indices: &'static str,
    pub no_indices: &'static str,
    pub query: &'static str,
    pub query_index: &'static str,
    pub query_value: &'static str,

    pub now_running: &'static str,
    pub nothing_runs: &'static str,
    pub lanes: &'static str,
    pub runs: &'static str,
    pub holds_lock: &'static str,
    pub waits: &'static str,

    pub shared_processor: &'static str,
    pub handlers: &'static str,
    pub no_handlers: &'static str,
    pub inline_handler: &'static str,
    pub add_handler: &'static str,
    pub remove_handler: &'static str,
    pub removing: &'static str,
    pub removed: &'static str,
    pub sending: &'static str,
    pub synced: &'static str,
    pub not_synced: &'static str,
    pub no_resync: &'static str,
    pub whole_store: &'static str,
    pub syncing: &'static str,
    pub not_syncing: &'static str,
    pub workqueue: &'static str,
    pub output: &'static str,
    pub no_output: &'static str,

    pub narration: &'static str,
    pub note: &'static str,
    pub transport: &'static str,
    pub reset: &'static str,
    pub reset_title: &'static str,
    pub back: &'static str,
    pub play: &'static str,
    pub play_again: &'static str,
    pub pause: &'static str,
    pub step: &'static str,
    pub next_marker: &'static str,
    pub timeline: &'static str,
    pub wall_clock: &'static str,
    pub speed: &'static str,

    pub drawer: &'static str,
    pub drawer_checks: &'static str,
    pub checks: &'static str,
    pub checks_note: &'static str,
    pub check_holds: &'static str,
    pub check_known: &'static str,
    pub check_broken: &'static str,
    pub check_off: &'static str,
    pub check_jump: &'static str,
    pub compare: &'static str,
    pub compare_title: &'static str,
    pub compare_with: &'static str,
    pub compare_same: &'static str,
    pub compare_summary: &'static str,
    pub drawer_why: &'static str,
    pub drawer_why_title: &'static str,
    pub why_more: &'static str,
    pub why_this_step: &'static str,
    pub why_nothing: &'static str,
    pub drawer_share: &'static str,
    pub drawer_share_title: &'static str,
    pub share_link: &'static str,
    pub share_link_note: &'static str,
    pub share_copy: &'static str,
    pub share_copied: &'static str,
    pub share_selected: &'static str,
    pub share_run: &'static str,
    pub share_run_note: &'static str,
    pub share_trace: &'static str,
    pub share_names: &'static str,
    pub share_labels: &'static str,
    pub share_whole: &'static str,
    pub share_transcript: &'static str,
    pub why_of: &'static str,
    pub why_the_step: &'static str,
    pub why_not_here: &'static str,
    pub thinned: &'static str,
    pub why_is_it_here: &'static str,

    pub until: &'static str,
    pub until_tip: &'static str,
    pub until_title: &'static str,
    pub until_text: &'static str,
    pub until_go: &'static str,
    pub until_play: &'static str,
    pub until_break: &'static str,
    pub until_on: &'static str,
    pub until_delta: &'static str,
    pub until_call: &'static str,
    pub until_key: &'static str,
    pub until_fact: &'static str,
    pub until_violation: &'static str,
    pub breaks: &'static str,
    pub no_breaks: &'static str,
    pub break_remove: &'static str,
    pub break_on: &'static str,
    pub break_any: &'static str,
    pub break_queued: &'static str,
    pub break_popped: &'static str,
    pub break_stored: &'static str,
    pub break_called: &'static str,
    pub grain: &'static str,
    pub key_coarse: &'static str,
    pub key_micro: &'static str,
    pub key_close: &'static str,
    pub key_fork: &'static str,
    pub legend_click: &'static str,

    pub keys_title: &'static str,
    pub key_play: &'static str,
    pub key_step: &'static str,
    pub key_marker: &'static str,
    pub key_row: &'static str,
    pub key_tenths: &'static str,
    pub key_reset: &'static str,
    pub key_help: &'static str,
    pub legend_title: &'static str,
    pub legend_waits: &'static str,
    pub legend_lit: &'static str,
    pub legend_gone: &'static str,
    pub legend_tombstone: &'static str,
    pub legend_marks: &'static str,
    pub legend_timeline: &'static str,
    pub legend_lanes: &'static str,
    pub legend_block: &'static str,
    pub legend_behind: &'static str,
    pub legend_live: &'static str,

    pub cluster_title: &'static str,
    pub cluster_looking: &'static str,
    pub cluster_ways: &'static str,
    pub cluster_then: &'static str,
    pub cluster_copy: &'static str,
    pub cluster_base: &'static str,
    pub cluster_look: &'static str,
    pub cluster_connected: &'static str,
    pub cluster_disconnect: &'static str,
    pub cluster_all: &'static str,
    pub cluster_labels: &'static str,
    pub cluster_fields: &'static str,
    pub cluster_metadata: &'static str,
    pub cluster_indices: &'static str,
    pub cluster_era: &'static str,
    pub cluster_resync: &'static str,
    pub cluster_never: &'static str,
    pub cluster_note: &'static str,
    pub cluster_counting: &'static str,
    pub cluster_uncounted: &'static str,
    pub cluster_redacted: &'static str,
    pub cluster_search: &'static str,
    pub cluster_group: &'static str,
    pub cluster_groups: &'static str,
    pub cluster_custom: &'static str,
    pub cluster_resource: &'static str,
    pub cluster_asking: &'static str,
    pub cluster_nothing: &'static str,
    pub cluster_scoped: &'static str,
    pub go_live: &'static str,
    pub live: &'static str,
}

/// The words of a language.
#[must_use]
pub fn strings(lang: Lang) -> &'static Strings {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

/// The title of a room, where it is not a name out of client-go that depends on the picture.
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
        (Panel::Processor, _) => strings(lang).shared_processor,
    }
}

/// The title of the first room, by what it shows.
#[must_use]
pub fn feed(lang: Lang, feed: SourceKind) -> &'static str {
    match feed {
        SourceKind::Server => room(lang, Panel::Api),
        SourceKind::Recorded => strings(lang).recording,
        SourceKind::Cluster => strings(lang).cluster,
        SourceKind::Program => strings(lang).program,
    }
}

/// What cells of a colour have in common.
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
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}

/// A field of cells: what it is of, and how many look how.
#[must_use]
pub fn field(lang: Lang, label: &str, counts: &[(Hue, usize)], queued: bool) -> String {
    let mut text = label.to_owned();
    let mut between = match lang {
        Lang::En => ": ",
        Lang::Zh => "：",
    };
    for (hue, count) in counts {
        text.push_str(between);
        text.push_str(&format!("{count} {}", cells(lang, *hue, queued)));
        between = match lang {
            Lang::En => ", ",
            Lang::Zh => "，",
        };
    }
    text
}

/// `3 keys · 5 deltas`
#[must_use]
pub fn queued(lang: Lang, keys: usize, deltas: usize) -> String {
    match lang {
        Lang::En => format!(
            "{keys} {} · {deltas} {}",
            plural(keys, "key", "keys"),
            plural(deltas, "delta", "deltas")
        ),
        Lang::Zh => format!("{keys} 个 key · {deltas} 个 Delta"),
    }
}

/// `3 places · 2 objects`: a FIFO.
#[must_use]
pub fn places(lang: Lang, places: usize, count: usize) -> String {
    let objects = objects(lang, count);
    match lang {
        Lang::En => format!("{places} {} · {objects}", plural(places, "place", "places")),
        Lang::Zh => format!("{places} 个位置 · {objects}"),
    }
}

/// `3 differences`
#[must_use]
pub fn differences(lang: Lang, count: usize) -> String {
    match (lang, count) {
        (Lang::En, 0) => "nothing differs".to_owned(),
        (Lang::En, count) => format!("≠ {count} {}", plural(count, "difference", "differences")),
        (Lang::Zh, 0) => "没有不同".to_owned(),
        (Lang::Zh, count) => format!("≠ {count} 处不同"),
    }
}

/// `5 entries`
#[must_use]
pub fn entries(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => format!("{count} {}", plural(count, "entry", "entries")),
        Lang::Zh => format!("{count} 个条目"),
    }
}

/// `5 objects behind`; nothing where there is no server to be behind.
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

/// What the gauge of the store says in full.
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
    match lang {
        Lang::En => format!("{count} {}", plural(count, "listener", "listeners")),
        Lang::Zh => format!("{count} 个 listener"),
    }
}

/// `1 runs · 0 wait`, `0 wait`: the column is narrow.
#[must_use]
pub fn load(lang: Lang, pending: usize, running: bool) -> String {
    match (lang, running) {
        (Lang::En, true) => format!("1 runs · {pending} wait"),
        (Lang::En, false) => format!("{pending} wait"),
        (Lang::Zh, true) => format!("执行 1 · 等待 {pending}"),
        (Lang::Zh, false) => format!("等待 {pending}"),
    }
}

/// `+37 more`
#[must_use]
pub fn more(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => format!("{count} more"),
        Lang::Zh => format!("还有 {count} 个"),
    }
}

/// `batch of 12`
#[must_use]
pub fn batch(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => format!("batch of {count}"),
        Lang::Zh => format!("一批 {count} 个"),
    }
}

/// `3 objects`
#[must_use]
pub fn objects(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => format!("{count} {}", plural(count, "object", "objects")),
        Lang::Zh => format!("{count} 个对象"),
    }
}

/// What an entry of a flat queue is: `ReplacedAll · 3 objects`, `Deleted · tombstone`.
#[must_use]
pub fn entry(lang: Lang, name: &str, count: Option<usize>, tombstone: bool) -> String {
    let more = match (count, tombstone) {
        (Some(count), _) => objects(lang, count),
        (None, true) => strings(lang).tombstone.to_owned(),
        _ => return name.to_owned(),
    };
    format!("{name} · {more}")
}

/// What a fault is called in the menu.
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
        Fault::List(code) if zh => format!("下一次 LIST 失败：{code}"),
        Fault::List(code) => format!("next LIST fails: {code}"),
        Fault::Refuse if zh => "下一次 LIST 失败：拒绝连接".to_owned(),
        Fault::Refuse => "next LIST fails: connection refused".to_owned(),
    }
}

/// What a request is refused with, as a machine says it: `410 Expired`.
#[must_use]
pub fn refusal(kind: ApiErrorKind) -> String {
    let error = ApiError::new(kind, "");
    match error.code {
        0 if kind == ApiErrorKind::ConnectionRefused => "connection refused".to_owned(),
        0 => "error".to_owned(),
        code => [&*code.to_string(), " ", &error.reason].concat(),
    }
}

/// What will be refused: `next LIST answers 410 Expired`.
#[must_use]
pub fn armed(lang: Lang, refusals: &Refusals) -> String {
    let request = if refusals.watch { "WATCH" } else { "LIST" };
    let with = refusal(refusals.kind);
    let times = match refusals.times {
        0 | 1 => String::new(),
        times => format!(" ×{times}"),
    };
    match lang {
        Lang::En => format!("next {request}{times} answers {with}"),
        Lang::Zh => format!("下一次 {request}{times} 得到 {with}"),
    }
}

/// What came of a request: `→ 3 objects`.
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

/// A part of the workqueue, as client-go names what it has names for.
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
    match lang {
        Lang::En => format!("{count} reconciled"),
        Lang::Zh => format!("已调谐 {count} 次"),
    }
}

/// `30 s`, `1.3 s`
#[must_use]
pub fn short_seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) {
        return format!("{} s", ms / 1000);
    }
    seconds(ms)
}

/// `1.3 s`
#[must_use]
pub fn seconds(ms: u64) -> String {
    let tenths = ms / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// The place in the queue: `next`, `2nd`, `3rd`.
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

/// The short name of a mode.
#[must_use]
pub fn mode(lang: Lang, mode: ProcessMode) -> &'static str {
    match (mode, lang) {
        (ProcessMode::Free, Lang::En) => "free",
        (ProcessMode::Paced(_), Lang::En) => "paced",
        (ProcessMode::Held, Lang::En) => "held",
        (ProcessMode::Free, Lang::Zh) => "自由",
        (ProcessMode::Paced(_), Lang::Zh) => "节拍",
        (ProcessMode::Held, Lang::Zh) => "手动",
    }
}

/// What a mode does.
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

/// How the room of Pop, a narrow one, names who holds the lock or waits for it.
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

/// How many informers, and whether they are shared.
#[must_use]
pub fn informers(lang: Lang, count: u64, shared: bool) -> String {
    match (lang, shared) {
        (Lang::En, true) => format!("{count} shared"),
        (Lang::En, false) => format!("{count} not shared"),
        (Lang::Zh, true) => format!("共享（{count} 个 informer）"),
        (Lang::Zh, false) => format!("不共享（{count} 个）"),
    }
}

/// Whose store: of the informer of this number, or of the shared one.
#[must_use]
pub fn informer_store(lang: Lang, number: Option<usize>) -> String {
    match (number, lang) {
        (Some(number), _) => format!("informer {number}"),
        (None, Lang::En) => "shared".to_owned(),
        (None, Lang::Zh) => "共享".to_owned(),
    }
}

/// Who waits for the lock.
#[must_use]
pub fn waits_for_lock(lang: Lang, actor: &str) -> String {
    match lang {
        Lang::En => format!("{actor} waits"),
        Lang::Zh => format!("{actor} 等锁"),
    }
}

/// That going to the oldest part of a run takes longer.
#[must_use]
pub fn thinned(lang: Lang, facts: usize) -> String {
    match lang {
        Lang::En => format!(
            "The facts before {facts} are thinned to checkpoints: going there computes them anew and takes longer."
        ),
        Lang::Zh => format!("{facts} 之前的事实只保留检查点：去那里要重新计算，会慢一些。"),
    }
}

/// `step 38 / 62 · t = 14.0 s`
#[must_use]
pub fn position(lang: Lang, step: usize, steps: usize, endless: bool, ms: u64) -> String {
    let steps = if endless {
        "…".to_owned()
    } else {
        steps.to_string()
    };
    let time = seconds(ms);
    match lang {
        Lang::En => format!("step {step} / {steps} · t = {time}"),
        Lang::Zh => format!("第 {step} / {steps} 步 · t = {time}"),
    }
}

/// `step 38 · 14.0 s`: a moment of the run.
#[must_use]
pub fn moment(lang: Lang, step: usize, ms: u64) -> String {
    let time = seconds(ms);
    match lang {
        Lang::En => format!("step {step} · {time}"),
        Lang::Zh => format!("第 {step} 步 · {time}"),
    }
}

/// What the button says that follows an object.
#[must_use]
pub fn follow(lang: Lang, key: &str) -> String {
    match lang {
        Lang::En => format!("Follow {key}"),
        Lang::Zh => format!("跟踪 {key}"),
    }
}

/// What a size of steps is called.
#[must_use]
pub fn grain(lang: Lang, grain: StepSize) -> &'static str {
    match (grain, lang) {
        (StepSize::Event, Lang::En) => "event",
        (StepSize::Event, Lang::Zh) => "事件",
        (StepSize::Pop, _) => "Pop",
        (StepSize::Lock, Lang::En) => "lock",
        (StepSize::Lock, Lang::Zh) => "锁",
        (StepSize::Micro, Lang::En) => "fact",
        (StepSize::Micro, Lang::Zh) => "最小步",
    }
}

/// What came of running until something.
#[must_use]
pub fn said(lang: Lang, said: &Said) -> String {
    match (said, lang) {
        (Said::Found(at), Lang::En) => format!("Found: step {at}."),
        (Said::Found(at), Lang::Zh) => format!("找到了：第 {at} 步。"),
        (Said::NotFound(failed), lang) => not_found(failed).get(lang).to_owned(),
    }
}

/// Why a search failed: what was looked for and how far, what never came, and what holds it back.
#[must_use]
pub fn not_found(failed: &NotFound) -> Text {
    let NotFound { what, to, .. } = failed;
    let mut en = format!("{what} was not found");
    let mut zh = format!("没有找到 {what}");
    let (how_en, how_zh) = match failed.end {
        End::Over => (
            format!(": the run ends at step {to}, and nothing more is due."),
            format!("：运行在第 {to} 步结束，之后不会再发生任何事。"),
        ),
        End::Bound => (
            format!(" up to step {to}, as far as one search looks; the run goes on."),
            format!("：一次搜索只看到第 {to} 步，运行还在继续。"),
        ),
        End::Full => (
            format!(" up to step {to}, and no more facts are kept."),
            format!("：已看到第 {to} 步，不再保留更多的步。"),
        ),
        End::Live => (
            format!(" so far, up to step {to}: the cluster has told no more yet."),
            format!("：到目前的第 {to} 步为止，集群还没有发来更多内容。"),
        ),
    };
    en.push_str(&how_en);
    zh.push_str(&how_zh);
    match &failed.missing {
        Some(missing) if missing == what => {}
        Some(missing) => {
            en.push_str(&format!(" No fact there has {missing}."));
            zh.push_str(&format!("其中没有任何一步满足 {missing}。"));
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

/// Where a breakpoint stopped the playing.
#[must_use]
pub fn stopped(lang: Lang, at: usize) -> String {
    match lang {
        Lang::En => format!("stopped at step {at}"),
        Lang::Zh => format!("停在第 {at} 步"),
    }
}

/// What began a chain of causes.
#[must_use]
pub fn origin(lang: Lang, origin: Origin) -> String {
    let (en, zh) = match origin {
        Origin::Start => (
            "It was set so from the start.".to_owned(),
            "一开始就是这样设定的。".to_owned(),
        ),
        Origin::Recorded => (
            "The recording says so.".to_owned(),
            "录制里就是这样。".to_owned(),
        ),
        Origin::Cluster => (
            "The cluster said so.".to_owned(),
            "集群就是这样说的。".to_owned(),
        ),
        Origin::Traffic(n) => (
            format!("The seeded traffic did it: its write {n}."),
            format!("固定随机种子的流量所为：它的第 {n} 次写入。"),
        ),
        Origin::Script(n) => (
            format!("The lesson's script did it: its entry {n}."),
            format!("由课程的脚本所为：它的第 {n} 条。"),
        ),
        Origin::LongAgo => (
            "It happened too long ago to be looked for.".to_owned(),
            "发生得太早，无法查找。".to_owned(),
        ),
        Origin::Input(n) => (
            format!("You did it: your input {n}."),
            format!("是你做的：你的第 {n} 个输入。"),
        ),
    };
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}

/// `Watch pods`
#[must_use]
pub fn watch(lang: Lang, resource: &str) -> String {
    match lang {
        Lang::En => format!("Watch {resource}"),
        Lang::Zh => format!("观察 {resource}"),
    }
}

/// How many objects there are, and whether that is many.
#[must_use]
pub fn counted(lang: Lang, count: u64, many: bool) -> String {
    match (lang, many) {
        (Lang::En, false) if count == 1 => "1 object now.".to_owned(),
        (Lang::En, false) => format!("{count} objects now."),
        (Lang::En, true) => format!("{count} objects now: so many are better watched as metadata."),
        (Lang::Zh, false) => format!("现有 {count} 个对象。"),
        (Lang::Zh, true) => format!("现有 {count} 个对象：这么多最好只看元数据。"),
    }
}

/// `120 facts behind`; who catches up may be behind what no facts were made of yet.
#[must_use]
pub fn facts_behind(lang: Lang, facts: usize, catching_up: bool) -> String {
    match lang {
        Lang::En if catching_up && facts == 0 => "catching up".to_owned(),
        Lang::Zh if catching_up && facts == 0 => "正在追赶".to_owned(),
        Lang::En => format!("{facts} {} behind", plural(facts, "fact", "facts")),
        Lang::Zh => format!("落后 {facts} 个事实"),
    }
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

static EN: Strings = Strings {
    lesson: "Lesson",
    open_recording: "Open a file…",
    known_on: "KnownObjects on",
    known_off: "KnownObjects off",
    known_title: "Whether the queue can ask the Indexer which objects it knows. A switch holds from here on; start over (R) to run all of it so",
    language: "Switch the language",
    theme_to_dark: "Switch to the dark theme",
    theme_to_light: "Switch to the light theme",
    help: "Help",
    close: "Close",
    dismiss: "Dismiss",
    opening: "Opening. What is shown stays until then.",
    opening_steps: "{n} steps",
    stop_opening: "Stop opening",
    branches: "Branches",
    branches_title: "Branches: fork, drop or move an event, change a setting",
    fork_here: "Fork here",
    branch_go: "Go to",
    branch_rename: "Rename",
    branch_name: "Name of the branch",
    branch_remove: "Remove the branch",
    server_events: "What the server did around here",
    server_events_hint: "Leave one out or move it: a branch shows what would have happened.",
    no_server_events: "Nothing near.",
    drop_event: "Leave out",
    event_earlier: "Before the one before",
    event_later: "After the one after",
    another_setting: "With another setting, from the start",
    setting: "Setting",
    setting_value: "Value",
    branch_with: "Branch with it",
    no_settings: "This program has no such settings.",
    error: "Error",
    drop_here: "Drop recordings or a trace here",
    drop_hint: "One file, or several that belong together",
    era_title: "The generation of client-go that is at work. Another one runs all of it anew, from the start",
    more_faults: "more faults…",
    armed: "Armed faults",
    disarm: "Take it back",

    stage: "Stage",
    rooms: "Rooms",
    acting: "acts now",
    recording: "Recording",
    cluster: "Cluster",
    program: "Program",
    server_rv: "resourceVersion of the API server",
    create: "create",
    edit: "edit",
    delete: "delete",
    objects: "Objects",
    no_objects: "no objects yet",
    deleted: "deleted",
    show_all: "Show all objects",
    find_object: "Find an object",
    queued: "Queued",
    show_fewer: "Show fewer objects",
    watch_stream: "watch stream",
    no_watch: "no watch is open",
    no_events: "nothing sent yet",
    waiting: "waiting",
    lost: "lost",
    calls: "calls",
    no_calls: "nothing called yet",
    faults: "faults",
    cut_watch: "cut watch",
    compact: "410 (compact)",
    compact_title: "Forget the history: the next watch from an old version is answered with 410 Gone",
    new_object: "Create an object",
    change_object: "Edit the object",
    namespace: "namespace",
    name: "name",
    app: "label app",
    node: "node",
    phase: "phase",
    cancel: "Cancel",
    do_create: "Create",
    do_edit: "Save",

    no_reflector: "No reflector: the program calls the queue itself.",
    unused: "Not part of this program.",
    unused_reflector: "Not part of this program: it lists and watches itself.",
    requests: "requests",
    no_requests: "none yet",
    temporary: "temporary store",
    unavailable: "The server has forgotten this version, or does not have it yet",
    in_hand: "in hand",

    empty_queue: "The queue is empty",
    next: "next",
    oldest_bottom: "Deltas of a key, oldest at the bottom",
    closed: "closed",
    object_gone: "object gone",
    object_ahead: "object ahead",
    tombstone: "tombstone",

    mode: "How the process loop runs, from here on",
    pop_one: "Pop one",
    lock_free: "free",
    lock_queue: "The queue's lock",
    lock_block: "The lock that stops the process loop while a handler is added",
    last_popped: "last popped",
    nothing_popped: "nothing yet",
    process_idle: "nothing in work",

    no_store: "This program has no store.",
    beside: "informers side by side",
    beside_title: "What it takes with sharing and without; below, the stores of the informers beside this one",
    empty_store: "empty",
    not_kept: "rv: not kept by client-go",
    behind_is: "N objects behind: how many objects of what the informer selects the store does not show as the server has them. One that it lacks, has in another version or still has counts once, however often it changed.",
    behind_known: "A cluster, or a recording of one, tells what it has in a list, and then only while a watch is open: without one the number is not known. Of the simulated server the page always knows it; the informer does not.",
    items: "items",
    indices: "indices",
    no_indices: "no indices",
    query: "query",
    query_index: "Index to ask",
    query_value: "Indexed value to ask for",

    now_running: "Now running",
    nothing_runs: "Nothing has run yet.",
    lanes: "Who runs, who waits, who holds the lock",
    runs: "runs",
    holds_lock: "holds the lock",
    waits: "waits",

    shared_processor: "Shared processor",
    handlers: "Handlers",
    no_handlers: "No handlers are registered.",
    inline_handler: "inside process",
    add_handler: "Add a handler",
    remove_handler: "Remove this handler",
    removing: "being removed",
    removed: "removed",
    sending: "sent to it; the sender waits until it is taken",
    synced: "It was told the whole first list",
    not_synced: "It was not told the whole first list yet",
    no_resync: "Wants no resync",
    whole_store: "all items",
    syncing: "Takes part in resyncs now",
    not_syncing: "Takes no part in resyncs now",
    workqueue: "workqueue",
    output: "output",
    no_output: "nothing printed yet",

    narration: "What happens",
    note: "About this lesson",
    transport: "Playback",
    reset: "Start over",
    reset_title: "Start over: what you have set stays, what you did stays on a branch of its own",
    back: "Step back",
    play: "Play",
    play_again: "Play again from the start",
    pause: "Pause",
    step: "Step",
    next_marker: "Next marker",
    timeline: "Timeline",
    wall_clock: "The time of the clock on the wall (UTC)",
    speed: "Speed",

    drawer: "Questions about the run",
    drawer_checks: "Checks",
    checks: "Checks: what holds in every run",
    checks_note: "They are held against every fact of this run. The first violation of each is marked on the timeline.",
    check_holds: "holds",
    check_known: "broken, as this generation is known to do",
    check_broken: "broken",
    check_off: "nothing to check in this program",
    check_jump: "Go there",
    compare: "Side by side",
    compare_title: "Side by side: this run and another one at the same time",
    compare_with: "this run and",
    compare_same: "nothing differs",
    compare_summary: "What both runs have come to",
    drawer_why: "Why",
    drawer_why_title: "Why: the chain of causes",
    why_more: "… and so on: jump to the last one and ask again.",
    why_this_step: "This step, and why it happened",
    why_nothing: "Nothing has happened yet. Step on.",
    drawer_share: "Share",
    drawer_share_title: "Share: a link to this moment, or the run as a file",
    share_link: "A link to this moment",
    share_link_note: "It opens the same run at this moment: the lesson, the generation, and all that you did to it are in the link itself. Nothing is sent anywhere.",
    share_copy: "Copy the link",
    share_copied: "Copied.",
    share_selected: "The browser does not let the page copy. The link is selected: copy it with Ctrl+C.",
    share_run: "The run as a file",
    share_run_note: "A trace is JSON Lines: the scenario and every input. Open it here, or drop it on the page, and the same run is computed again. A transcript says the run in words.",
    share_trace: "Download the trace",
    share_names: "the trace with other names in place of all names, other values of labels, no annotations, and of the rest of an object only what the run shows",
    share_labels: "the trace without labels, annotations and the indices of labels",
    share_whole: "The trace holds the objects whole: with the values of environment variables, arguments and whatever else stands in them. With other names it does not.",
    share_transcript: "Download the transcript",
    why_of: "Why",
    why_the_step: "this step",
    thinned: "oldest thinned",
    why_not_here: "what you chose, which is not on the stage now",
    why_is_it_here: "Why it is here",

    until: "Until",
    until_tip: "Run until, and breakpoints",
    until_title: "Run until",
    until_text: "as text",
    until_go: "Go to it",
    until_play: "Play to it",
    until_break: "Break at it",
    until_on: "Look on",
    until_delta: "delta queued",
    until_call: "handler called",
    until_key: "key",
    until_fact: "fact",
    until_violation: "an invariant breaks",
    breaks: "Breakpoints",
    no_breaks: "None. Playing stops at a breakpoint.",
    break_remove: "Remove the breakpoint",
    break_on: "Break when this key …",
    break_any: "comes up at all",
    break_queued: "is queued as Deleted",
    break_popped: "is popped",
    break_stored: "is stored",
    break_called: "reaches a handler",
    grain: "Size of a step",
    key_coarse: "one size coarser",
    key_micro: "one fact back or on",
    key_close: "close the drawer",
    key_fork: "fork: a branch of its own from here",
    legend_click: "click anything on the stage: why it is there",

    keys_title: "Keys",
    key_play: "play or pause",
    key_step: "one step back or on",
    key_marker: "marker before or after",
    key_row: "along a row of buttons",
    key_tenths: "to that tenth of the run",
    key_reset: "start over; what you have set stays",
    key_help: "this help",
    legend_title: "Signs",
    legend_waits: "hatched: waits for the lock",
    legend_lit: "lit: changed by this step",
    legend_gone: "struck out: gone",
    legend_tombstone: "dashed with ?: a tombstone (DeletedFinalStateUnknown)",
    legend_marks: "small square or disc: one object; recreated, it gets another one",
    legend_timeline: "◇ on the timeline: a marker; coloured ticks: deltas",
    legend_lanes: "lanes: yellow holds the lock, hatched waits for it, grey runs without it",
    legend_block: "thin bar in a lane: the same of blockDeltas, the lock that keeps deltas from being processed while a handler comes or goes",
    legend_behind: "rv · N objects behind: how many objects of what the informer selects the store does not show as the server has them; before 1.36 client-go itself does not keep the store's rv",
    legend_live: "Cluster: watch a real one; all that comes is recorded, also while you look at the past, and Live goes back to the edge",

    cluster_title: "Watch a real cluster",
    cluster_looking: "Looking for a Kubernetes API beside this page …",
    cluster_ways: "Four ways",
    cluster_then: "then open",
    cluster_copy: "Copy",
    cluster_base: "The API is elsewhere on this server",
    cluster_look: "Look again",
    cluster_connected: "Connected:",
    cluster_disconnect: "Disconnect",
    cluster_all: "all namespaces",
    cluster_labels: "label selector",
    cluster_fields: "field selector",
    cluster_metadata: "Metadata only: names, labels, owners; no spec, no status",
    cluster_indices: "more indices: labels, or paths of fields",
    cluster_era: "client-go",
    cluster_resync: "resync every … s",
    cluster_never: "never",
    cluster_note: "Reads only. What comes stays in this page.",
    cluster_counting: "counting …",
    cluster_uncounted: "The server does not say how many there are.",
    cluster_redacted: "Their data is left out as it arrives.",
    cluster_search: "Find: pods, deploy …",
    cluster_group: "Group",
    cluster_groups: "all groups",
    cluster_custom: "custom resources",
    cluster_resource: "Resource",
    cluster_asking: "Asking what there is …",
    cluster_nothing: "There is no such resource.",
    cluster_scoped: "cluster-wide",
    go_live: "To the live edge, and along with it",
    live: "Live",
};

static ZH: Strings = Strings {
    lesson: "课程",
    open_recording: "打开文件…",
    known_on: "KnownObjects 开",
    known_off: "KnownObjects 关",
    known_title: "队列能否向 Indexer 询问它已知的对象。切换从此刻起生效；重新开始（R）可让整个运行都这样",
    language: "切换语言",
    theme_to_dark: "切换到深色主题",
    theme_to_light: "切换到浅色主题",
    help: "帮助",
    close: "关闭",
    dismiss: "关闭",
    opening: "正在打开，完成之前保持当前画面。",
    opening_steps: "{n} 步",
    stop_opening: "停止打开",
    branches: "分支",
    branches_title: "分支：分叉、去掉或移动事件、改设置",
    fork_here: "在此分叉",
    branch_go: "切换到",
    branch_rename: "重命名",
    branch_name: "分支名称",
    branch_remove: "删除分支",
    server_events: "服务器在此前后做的事",
    server_events_hint: "去掉或移动一个：分支会显示那样会发生什么。",
    no_server_events: "附近没有。",
    drop_event: "去掉",
    event_earlier: "移到前一个之前",
    event_later: "移到后一个之后",
    another_setting: "换一个设置（从头计算）",
    setting: "设置",
    setting_value: "值",
    branch_with: "按此设置新建分支",
    no_settings: "这个程序没有这样的设置。",
    error: "错误",
    drop_here: "把录制文件或运行记录拖到这里",
    drop_hint: "一个文件，或属于同一次录制的几个文件",
    era_title: "正在运行的 client-go 实现版本。切换后，整个运行从头重新计算",
    more_faults: "更多故障…",
    armed: "已就绪的故障",
    disarm: "撤销",

    stage: "舞台",
    rooms: "面板",
    acting: "正在动作",
    recording: "录制",
    cluster: "集群",
    program: "程序",
    server_rv: "API server 的 resourceVersion",
    create: "创建",
    edit: "修改",
    delete: "删除",
    objects: "对象",
    no_objects: "还没有对象",
    deleted: "已删除",
    show_all: "显示全部对象",
    find_object: "查找对象",
    queued: "排队中",
    show_fewer: "收起对象",
    watch_stream: "watch 流",
    no_watch: "没有打开的 watch",
    no_events: "还没有发送事件",
    waiting: "等待中",
    lost: "丢失",
    calls: "调用",
    no_calls: "还没有调用",
    faults: "故障",
    cut_watch: "切断 watch",
    compact: "410（压缩）",
    compact_title: "忘掉历史：下一次从旧版本开始的 watch 会得到 410 Gone",
    new_object: "创建对象",
    change_object: "修改对象",
    namespace: "命名空间",
    name: "名称",
    app: "标签 app",
    node: "节点",
    phase: "阶段",
    cancel: "取消",
    do_create: "创建",
    do_edit: "保存",

    no_reflector: "没有 Reflector：程序自己调用队列。",
    unused: "这个程序没有用到。",
    unused_reflector: "这个程序没有用到：它自己 List 和 Watch。",
    requests: "请求",
    no_requests: "还没有",
    temporary: "临时存储",
    unavailable: "API server 已忘记这个版本，或者还没有它",
    in_hand: "手上",

    empty_queue: "队列是空的",
    next: "下一个",
    oldest_bottom: "一个 key 的 Delta，最旧的在最下面",
    closed: "已关闭",
    object_gone: "对象已不在",
    object_ahead: "对象在前面",
    tombstone: "墓碑",

    mode: "处理循环从此刻起怎样运行",
    pop_one: "Pop 一次",
    lock_free: "空闲",
    lock_queue: "队列的锁",
    lock_block: "添加 handler 时挡住处理循环的锁",
    last_popped: "上次 Pop",
    nothing_popped: "还没有",
    process_idle: "没有在处理",

    no_store: "这个程序没有存储。",
    beside: "informer 并排比较",
    beside_title: "共享与不共享各需要什么；下面是旁边的 informer 的存储",
    empty_store: "空",
    not_kept: "rv：client-go 并不保存这个值",
    behind_is: "落后 N 个对象：informer 所选的对象中，有多少个在存储中与 API server 上不一致。存储中缺少、版本不同或仍然保留的对象各算一次，不论它变化了多少次。",
    behind_known: "集群（或其录制）只在 list 中、以及 watch 打开期间告知自己有什么：没有 watch 时，这个数无法得知。模拟的 API server 有什么，页面始终知道；informer 并不知道。",
    items: "items",
    indices: "indices",
    no_indices: "没有索引",
    query: "查询",
    query_index: "要查的索引",
    query_value: "要查的索引值",

    now_running: "正在运行",
    nothing_runs: "还没有运行。",
    lanes: "谁在运行，谁在等待，谁持有锁",
    runs: "运行",
    holds_lock: "持有锁",
    waits: "等待",

    shared_processor: "Shared processor",
    handlers: "Handler",
    no_handlers: "没有注册 handler。",
    inline_handler: "在处理函数里",
    add_handler: "添加 handler",
    remove_handler: "移除这个 handler",
    removing: "正在移除",
    removed: "已移除",
    sending: "已发给它；取走之前发送方一直等待",
    synced: "第一次 List 已全部通知它",
    not_synced: "第一次 List 还没有全部通知它",
    no_resync: "不要 resync",
    whole_store: "全部对象",
    syncing: "现在参加 resync",
    not_syncing: "现在不参加 resync",
    workqueue: "工作队列",
    output: "输出",
    no_output: "还没有输出",

    narration: "发生了什么",
    note: "关于本课",
    transport: "播放",
    reset: "重新开始",
    reset_title: "重新开始：保留你的设置，你的操作留在单独的分支里",
    back: "后退一步",
    play: "播放",
    play_again: "从头再播放",
    pause: "暂停",
    step: "前进一步",
    next_marker: "下一个标记",
    timeline: "时间线",
    wall_clock: "现实时间（UTC）",
    speed: "速度",

    drawer: "关于这次运行的问题",
    drawer_checks: "检查",
    checks: "检查：每次运行都应成立的事",
    checks_note: "逐个事实地检查这次运行。每一项的第一次违反都标在时间线上。",
    check_holds: "成立",
    check_known: "不成立：该实现版本已知如此",
    check_broken: "不成立",
    check_off: "这个程序里没有可检查的",
    check_jump: "跳到那里",
    compare: "并排比较",
    compare_title: "并排比较：这次运行和另一次运行的同一时刻",
    compare_with: "这次运行与",
    compare_same: "没有不同",
    compare_summary: "两次运行到此为止的结果",
    drawer_why: "为什么",
    drawer_why_title: "为什么：起因链",
    why_more: "……还有更早的：跳到最后一个再问。",
    why_this_step: "这一步，以及它为什么发生",
    why_nothing: "还什么都没有发生。请前进一步。",
    drawer_share: "分享",
    drawer_share_title: "分享：指向此刻的链接，或把运行存为文件",
    share_link: "指向此刻的链接",
    share_link_note: "它会在此刻打开同样的运行：课程、实现版本和你的全部操作都在链接里。不会向任何地方发送数据。",
    share_copy: "复制链接",
    share_copied: "已复制。",
    share_selected: "浏览器不允许页面复制。链接已选中：请按 Ctrl+C 复制。",
    share_run: "把运行存为文件",
    share_run_note: "运行记录是 JSON Lines：场景和每个输入。在这里打开或拖到页面上，就会重新计算出同样的运行。文字记录用语言讲述整个运行。",
    share_trace: "下载运行记录",
    share_names: "运行记录（trace）中所有名称都换成别的，标签的值也换掉，去掉注解，对象的其余部分只留运行所显示的",
    share_labels: "运行记录（trace）中去掉标签、注解和标签的索引",
    share_whole: "运行记录（trace）里是完整的对象，包括环境变量的值、启动参数和其中的其他一切。选择替换名称后就不会有。",
    share_transcript: "下载文字记录",
    why_of: "问",
    why_the_step: "这一步",
    thinned: "最旧处已稀疏",
    why_not_here: "所选的对象，此刻不在台上",
    why_is_it_here: "它为什么在这里",

    until: "直到",
    until_tip: "运行到……，以及断点",
    until_title: "运行到",
    until_text: "写成文字",
    until_go: "跳到那里",
    until_play: "播放到那里",
    until_break: "设为断点",
    until_on: "继续找",
    until_delta: "入队的 Delta",
    until_call: "调用 handler",
    until_key: "key",
    until_fact: "事实",
    until_violation: "不变式被破坏",
    breaks: "断点",
    no_breaks: "还没有。播放会停在断点处。",
    break_remove: "删除断点",
    break_on: "断点：当这个 key ……",
    break_any: "出现时",
    break_queued: "以 Deleted 入队时",
    break_popped: "被 Pop 时",
    break_stored: "被存入时",
    break_called: "到达 handler 时",
    grain: "步长",
    key_coarse: "按更大步长移动",
    key_micro: "后退或前进一个最小步",
    key_close: "关闭侧栏",
    key_fork: "分叉：从这里开始自己的分支",
    legend_click: "点击舞台上的任何东西：它为什么在那里",

    keys_title: "按键",
    key_play: "播放或暂停",
    key_step: "后退或前进一步",
    key_marker: "前一个或后一个标记",
    key_row: "在一排按钮中移动",
    key_tenths: "跳到全程的 N/10 处",
    key_reset: "重新开始，保留你的设置",
    key_help: "本帮助",
    legend_title: "图例",
    legend_waits: "斜纹：在等锁",
    legend_lit: "点亮：这一步改变了它",
    legend_gone: "划掉：已离开",
    legend_tombstone: "虚线加 ?：墓碑（DeletedFinalStateUnknown）",
    legend_marks: "小方块或圆点：一个对象；重新创建后会换一个",
    legend_timeline: "时间线上的 ◇：标记；彩色竖线：Delta",
    legend_lanes: "泳道：黄色持有锁，斜纹在等锁，灰色不持锁运行",
    legend_block: "泳道里的细条：同样的含义，但指 blockDeltas，即添加或移除 handler 期间挡住 Delta 处理的锁",
    legend_behind: "rv · 落后 N 个对象：informer 所选的对象中，有多少个在存储中与 API server 上不一致；1.36 之前 client-go 自己并不保存存储的 rv",
    legend_live: "集群：观察一个真实的集群；收到的一切都会录制，回看过去时也一样，按“实时”回到最新处",

    cluster_title: "观察真实的集群",
    cluster_looking: "正在本页旁边寻找 Kubernetes API……",
    cluster_ways: "四种方式",
    cluster_then: "然后打开",
    cluster_copy: "复制",
    cluster_base: "API 在这台服务器的别处",
    cluster_look: "再找一次",
    cluster_connected: "已连接：",
    cluster_disconnect: "断开",
    cluster_all: "全部命名空间",
    cluster_labels: "标签选择器",
    cluster_fields: "字段选择器",
    cluster_metadata: "仅元数据：名称、标签、属主；没有 spec 和 status",
    cluster_indices: "更多索引：标签，或字段路径",
    cluster_era: "client-go",
    cluster_resync: "每隔几秒 resync",
    cluster_never: "从不",
    cluster_note: "只读。收到的内容只留在本页。",
    cluster_counting: "正在计数……",
    cluster_uncounted: "服务器没有说有多少个。",
    cluster_redacted: "它们的 data 在到达时就被丢弃。",
    cluster_search: "查找：pods、deploy……",
    cluster_group: "组",
    cluster_groups: "全部组",
    cluster_custom: "自定义资源",
    cluster_resource: "资源",
    cluster_asking: "正在询问有哪些资源……",
    cluster_nothing: "没有这样的资源。",
    cluster_scoped: "集群范围",
    go_live: "回到实时位置并跟随",
    live: "实时",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_people_do() {
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
    fn one_is_not_many() {
        assert_eq!(queued(Lang::En, 1, 2), "1 key · 2 deltas");
        assert_eq!(behind(Lang::En, Behind::By(1)), "1 object behind");
    }

    #[test]
    fn a_load_says_what_runs_and_what_waits() {
        assert_eq!(load(Lang::En, 0, true), "1 runs · 0 wait");
        assert_eq!(load(Lang::Zh, 2, true), "执行 1 · 等待 2");
        assert_eq!(load(Lang::En, 3, false), "3 wait");
    }

    #[test]
    fn the_time_has_tenths() {
        assert_eq!(
            position(Lang::En, 38, 62, false, 14_000),
            "step 38 / 62 · t = 14.0 s"
        );
    }
}
