//! The report in words: a table and the findings, in both languages.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::Request;
use deltascope_presentation::checks;
use deltascope_presentation::informers::stopped as why_stopped;
use deltascope_presentation::session::heard::{kind_of as differs, said};
use deltascope_replay::heard::{Differs, Tally};
use deltascope_replay::invariants::Violation;
use deltascope_replay::tap::finding::{Finding, Odd, Poll, Refused, reasons};
use deltascope_replay::tap::ledger::{Because, EndKind, Hot, How, Ledger, List, WINDOW_MS};
use deltascope_replay::tap::note::{Stopped, Why};
use deltascope_replay::wall;
use deltascope_terminal as terminal;
use deltascope_world::source::visible;
use deltascope_world::text::{Lang, Text};
use deltascope_world::{Time, in_lang, text};

use super::{Counts, Informer, Logs, Observed};

/// Most moments of a finding that are named.
const NAMED: usize = 5;
/// Most findings in the terminal.
const SHOWN: usize = 12;

/// The heads of the columns.
pub(super) const COLUMNS: [(&str, &str); 7] = [
    ("informer", "informer"),
    ("objects", "对象"),
    ("size", "大小"),
    ("events", "事件"),
    ("events/s", "事件/秒"),
    ("lists", "列表"),
    ("watch ends", "watch 结束"),
];

/// A row of the table.
pub(super) fn row(ledger: &Ledger, lang: Lang) -> [String; 7] {
    [
        ledger.scope.title()
            + if ledger.scope.metadata_only {
                " · metadata"
            } else {
                ""
            },
        ledger.objects().to_string(),
        match ledger.bytes() {
            // `record` notes no sizes.
            0 if ledger.objects() > 0 => "-".to_owned(),
            bytes => size(bytes),
        },
        ledger.events.to_string(),
        format!("{:.1}", ledger.rate()),
        lists(ledger, lang),
        ends(ledger, lang),
    ]
}

/// What was observed, in a line.
pub(super) fn summary(observed: &Observed, lang: Lang) -> String {
    let informers = observed.informers.len();
    // A recording that no tap has made says of no connection, nor of a client.
    let known = observed.informers.iter().map(|one| &one.ledger);
    let known = known.filter(|one| !(one.agent.is_empty() && one.connections.is_empty()));
    let agents: BTreeSet<_> = (known.map(|ledger| &ledger.agent))
        .chain(observed.counts.keys().map(|(agent, ..)| agent))
        .chain(observed.polls.iter().map(|poll| &poll.agent))
        .collect();
    let of = |verb: fn(&str) -> bool| -> u64 {
        let counts = observed.counts.iter();
        counts
            .filter(|((_, name, _), _)| verb(name))
            .map(|(_, count)| count.times)
            .sum()
    };
    let (reads, writes) = (of(|verb| verb == "get"), of(|verb| verb != "get"));
    let lasted = lasting(observed.lasted, lang);
    let clients = agents.len();
    let mut text = match lang {
        Lang::En => {
            let of = match clients {
                0 => String::new(),
                _ => format!(" of {}", counted(clients as u64, "client")),
            };
            format!("{}{of} in {lasted}", counted(informers as u64, "informer"))
        }
        Lang::Zh => {
            let lasted = lasted.trim_start();
            let of = match clients {
                0 => String::new(),
                _ => format!(" {clients} 个客户端的"),
            };
            format!("{lasted}内{of} {informers} 个 informer")
        }
    };
    // What is read by name is counted below.
    let lists = observed
        .polls
        .iter()
        .filter(|poll| poll.scope.name.is_none());
    let lists: u64 = lists.map(|poll| poll.count).sum();
    if lists > 0 {
        text.push_str(&in_lang!(
            lang,
            ("; {} that no watch followed", counted(lists, "list")),
            "；{lists} 次 List 之后没有 watch"
        ));
    }
    // A recording holds no other requests.
    if !observed.counts.is_empty() {
        text.push_str(&in_lang!(
            lang,
            ("; {}, {}", counted(reads, "get"), counted(writes, "write")),
            "；{reads} 次 GET，{writes} 次写入"
        ));
    }
    text
}

/// The table in the terminal, with the findings below it.
pub(in super::super) fn table(observed: &Observed, found: &[Finding], lang: Lang) -> String {
    let mut text = summary(observed, lang);
    let head = COLUMNS.map(|(en, zh)| lang.pick(en, zh).to_owned());
    let shown = |cell: String| visible::line(&cell).into_owned();
    let rows: Vec<_> = [head]
        .into_iter()
        .chain((observed.informers.iter()).map(|one| row(&one.ledger, lang).map(shown)))
        .collect();
    if !observed.informers.is_empty() {
        let width = |column: usize| rows.iter().map(|row| wide(&row[column])).max();
        let widths: Vec<usize> = (0..COLUMNS.len()).filter_map(width).collect();
        for row in &rows {
            text.push_str("\n ");
            for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width - wide(cell));
                // Names begin at the left, numbers end at the right, and what is last has no end.
                let cell = match place {
                    0 => format!(" {cell}{pad}"),
                    1..=4 => format!("  {pad}{cell}"),
                    5 => format!("  {cell}{pad}"),
                    _ => format!("  {cell}"),
                };
                text.push_str(&cell);
            }
        }
    }
    // Of one that is not kept, only that it could not be written matters.
    let unwritten = |ledger: &Ledger| matches!(ledger.stopped, Some((_, Stopped::Unwritten)));
    let kept = observed.informers.iter();
    let kept = kept.filter(|one| !one.file().is_empty() || unwritten(&one.ledger));
    for said in kept.filter_map(|one| stopped(&one.ledger)) {
        let _ = write!(text, "\n  {}", visible::line(said.get(lang)));
    }
    for said in all_logs(observed) {
        let _ = write!(text, "\n  {}", visible::line(said.get(lang)));
    }
    for one in found.iter().take(SHOWN) {
        let _ = write!(text, "\n- {}", finding(one, &observed.informers).get(lang));
        if let Some(command) = command(one, observed) {
            let _ = write!(text, "\n    {command}");
        }
    }
    if found.len() > SHOWN {
        let more = found.len() - SHOWN;
        text.push_str(&in_lang!(
            lang,
            "\n- and {more} more: --report has all",
            "\n- 还有 {more} 条：用 --report 查看全部"
        ));
    }
    text
}

/// Where and why an informer's recording ends before it does.
pub(in super::super) fn stopped(ledger: &Ledger) -> Option<Text> {
    let (at, why) = ledger.stopped?;
    let (of, when) = (ledger.scope.title(), when(ledger, at));
    let (en, zh) = why_stopped(why);
    Some(text!(
        "The recording of {of} ends at {when}: {en}. What came later is not in it.",
        "{of} 的录制到 {when} 为止：{zh}。之后的内容不在其中。"
    ))
}

/// What the log says, beside the recordings and as a whole.
pub(super) fn all_logs(observed: &Observed) -> Vec<Text> {
    let mut all = Vec::new();
    for one in &observed.informers {
        let of = one.ledger.scope.title();
        all.extend(one.logs.as_ref().map(|logs| log(&of, logs)));
        all.extend(one.trouble.as_ref().map(|Text { en, zh }| {
            let en = format!("The log of {of} is not compared as a whole: {en}.");
            text!("{en}", "{of} 的日志未能全部比较：{zh}。")
        }));
    }
    all.extend(observed.log.as_ref().and_then(log_trouble));
    all
}

/// What an informer's log says beside its recording.
fn log(of: &str, logs: &Logs) -> Text {
    let Tally {
        alike,
        behind,
        ahead,
        dropped,
    } = logs.tally;
    let first = &logs.first;
    let (mut en, mut zh) = match first {
        Some(_) => (
            format!(
                "The log of {of} differs; {} as they should be.",
                text::counted(alike, "notification is", "notifications are")
            ),
            format!("{of} 的日志存在不同；有 {alike} 条通知与应当收到的一致。"),
        ),
        None => (
            format!(
                "The log of {of} says what it should: {}.",
                text::counted(alike, "notification", "notifications")
            ),
            format!("{of} 的日志与应当收到的一致：{alike} 条通知。"),
        ),
    };
    if first.is_none() && behind > 0 {
        let _ = write!(en, " It does not have the last {behind}: it may be behind.");
        let _ = write!(zh, "日志中没有最后 {behind} 条：可能尚未写到。");
    }
    if first.is_none() && ahead > 0 {
        let lines = if ahead == 1 { "line is" } else { "lines are" };
        let _ = write!(en, " Its last {ahead} {lines} not in the recording.");
        let _ = write!(zh, "日志最后 {ahead} 行不在录制中。");
    }
    if dropped > 0 {
        let _ = write!(
            en,
            " Lines that are not compared, for there are too many: {dropped}."
        );
        let _ = write!(zh, "日志行过多，有 {dropped} 行未比较。");
    }
    if logs.lacks_beginning {
        en.push_str(" Files that were removed may not be compared.");
        zh.push_str("已删除的文件可能未比较。");
    }
    Text::new(&en, &zh)
}

/// What of a log could not be used.
pub(super) fn log_trouble(counts: &Counts) -> Option<Text> {
    let Counts {
        unclaimed,
        unread,
        first_unread,
        lines,
    } = counts;
    let (mut en, mut zh) = (String::new(), String::new());
    if *lines == 0 {
        en.push_str("The log has no line of a handler so far.");
        zh.push_str("日志中还没有 handler 的行。");
    }
    if *unclaimed > 0 {
        let _ = write!(
            en,
            "{unclaimed} of {lines} lines of the log belong to no informer, or to several of the same objects."
        );
        let _ = write!(
            zh,
            "日志的 {lines} 行中有 {unclaimed} 行不属于任何 informer，或同时属于同一资源的多个 informer。"
        );
    }
    if let Some((line, words)) = first_unread {
        let _ = write!(
            en,
            " {unread} lines of it cannot be read; line {line}: {}",
            words.en
        );
        let _ = write!(zh, "有 {unread} 行无法读取；第 {line} 行：{}", words.zh);
    }
    (!en.is_empty()).then(|| Text::new(en.trim(), zh.trim()))
}

/// What shows the moment of a finding, if its informer is recorded.
pub(super) fn command(finding: &Finding, observed: &Observed) -> Option<String> {
    let informer = observed.informers.get(finding.informer?)?;
    let at = finding.at?;
    let file = informer.part_at(at).filter(|_| informer.kept)?;
    let file = file.path.display().to_string();
    // A second later, what follows from it has happened.
    Some(format!(
        "deltascope replay {} --until {}ms",
        terminal::word(&file),
        at + 1_000
    ))
}

/// A finding in a sentence or two, in one line: parts of it are others' texts.
pub(super) fn finding(finding: &Finding, informers: &[Informer]) -> Text {
    let Text { en, zh } = told(finding, informers);
    Text::new(&visible::line(&en), &visible::line(&zh))
}

fn told(finding: &Finding, informers: &[Informer]) -> Text {
    let unknown = Ledger::default();
    let at = |place: usize| informers.get(place).map_or(&unknown, |one| &one.ledger);
    let of = finding.informer.map_or(&unknown, at);
    match &finding.odd {
        Odd::Twice { other, together } => {
            let places = [finding.informer.unwrap_or_default(), *other];
            twice(places.map(|place| (place + 1, at(place))), *together)
        }
        Odd::AllSecrets => all_secrets(of),
        Odd::BigList(list) => big_list(of, list),
        Odd::Relists { lists, count } => relists(of, lists, *count),
        Odd::ShortWatches(watches) => short_watches(of, watches),
        Odd::HotObject { key, hot } => hot_object(of, key, hot),
        Odd::ManagedFields => managed_fields(of),
        Odd::Poll(one) => poll(one, finding.informer.map(|place| place + 1)),
        Odd::Refused(one) => refused(one),
        Odd::KnownBug {
            generation,
            violation,
        } => known_bug(of, *generation, violation),
        Odd::Log(first) => log_differs(of, first),
    }
}

fn twice([(left, one), (right, other)]: [(usize, &Ledger); 2], together: bool) -> Text {
    let what = one.scope.title();
    let [agent, also] = [one, other].map(|of| client(&of.agent));
    let (both_en, both_zh, why_en, why_zh) = match agent == also {
        true => (agent.to_owned(), agent.to_owned(), "", ""),
        false => (
            format!("{agent} and {also}"),
            format!("{agent} 和 {also}"),
            " They have shared a connection: they are one process.",
            "两者用过同一个连接，属于同一个进程。",
        ),
    };
    let (unless_en, unless_zh) = match together {
        true => ("", ""),
        false => (", unless these are two processes", "如果属于同一个进程，"),
    };
    let (en, zh) = match one.scope.metadata_only != other.scope.metadata_only {
        true => (" One of them has only metadata.", "其中一个只有元数据。"),
        false => ("", ""),
    };
    text!(
        "Two informers of {what} in {both_en}, at the same time (nos. {left} and {right}): each holds and receives all of it. Share one{unless_en}.{why_en}{en}",
        "{both_zh} 同时有两个 {what} 的 informer（第 {left} 个和第 {right} 个）：各自保存并接收全部对象。{unless_zh}请共用一个。{why_zh}{zh}"
    )
}

fn all_secrets(of: &Ledger) -> Text {
    let (objects, bytes) = (of.objects(), size(of.bytes()));
    text!(
        "An informer holds every Secret of the cluster: {objects} with {bytes}. Watch one namespace, a selector, or metadata alone.",
        "有一个 informer 保存集群的所有 Secret：{objects} 个，共 {bytes}。请只 watch 一个命名空间、一个选择器，或只要元数据。"
    )
}

fn big_list(of: &Ledger, list: &List) -> Text {
    let (what, objects) = (of.scope.title(), list.objects.unwrap_or_default());
    let when = when(of, list.at);
    text!(
        "{what}: {objects} objects were listed at once and of the newest version ({when}), without resourceVersion=0 and without pages. The server reads all of them from etcd.",
        "{what}：一次列出了 {objects} 个最新版本的对象（{when}），既没有 resourceVersion=0 也没有分页。服务器要从 etcd 读取全部对象。"
    )
}

fn relists(of: &Ledger, lists: &[List], count: u64) -> Text {
    let what = of.scope.title();
    let why = |lang| {
        joined(reasons(lists).iter().map(|(because, n)| {
            let because = because_of(because, lang);
            if *n == 1 {
                because
            } else {
                format!("{because} (×{n})")
            }
        }))
    };
    let moments = moments(of, lists.iter().map(|list| list.at));
    text!(
        (
            "{what} was listed again {}: {}. At {moments}.",
            times(count),
            why(Lang::En)
        ),
        (
            "{what} 重新列出了 {count} 次：{}。时间：{moments}。",
            why(Lang::Zh)
        )
    )
}

fn short_watches(of: &Ledger, watches: &[(Time, Time)]) -> Text {
    let what = of.scope.title();
    let longest = watches.iter().map(|(_, ms)| *ms).max().unwrap_or_default();
    let moments = moments(of, watches.iter().map(|(at, _)| *at));
    let count = watches.len();
    text!(
        (
            "{what}: {} ended within {longest} ms, without an event. Something between client and server may close connections. At {moments}.",
            counted(count as u64, "watch")
        ),
        "{what}：{count} 个 watch 在 {longest} ms 内结束，没有任何事件。客户端与服务器之间可能有东西在关闭连接。时间：{moments}。"
    )
}

fn hot_object(of: &Ledger, key: &str, hot: &Hot) -> Text {
    let what = of.scope.title();
    let rate = f64::from(hot.changes) * 1_000.0 / WINDOW_MS as f64;
    let known = hot.writers.iter().filter(|(by, _)| !by.is_empty());
    let writers = joined(known.map(|(by, n)| format!("{by} (×{n})")));
    let when = when(of, hot.at);
    let Text { en, zh } = match writers.is_empty() {
        true => Text::new("", ""),
        false => text!(", written by {writers}", "，写入者为 {writers}"),
    };
    text!(
        "{what}: {key} changes {rate:.0} times a second ({when}){en}.",
        "{what}：{key} 每秒变更 {rate:.0} 次（{when}）{zh}。"
    )
}

fn managed_fields(of: &Ledger) -> Text {
    let what = of.scope.title();
    let (managed, came) = (of.managed, of.came);
    let part = managed * 100 / came.max(1);
    let (managed, came) = (size(managed), size(came));
    text!(
        "{what}: {managed} of the {came} that came ({part} %) are managed fields. A transform that drops them saves that memory.",
        "{what}：收到的 {came} 中有 {managed}（{part} %）是 managedFields。用 transform 去掉它们可以省下这部分内存。"
    )
}

fn poll(poll: &Poll, informer: Option<usize>) -> Text {
    let Text {
        en: but_en,
        zh: but_zh,
    } = match informer {
        Some(number) => text!(
            "although its informer no. {number} has it: read it from the cache",
            "而它的第 {number} 个 informer 里就有：请从缓存读取"
        ),
        None => Text::new("and does not watch it", "却没有 watch 它"),
    };
    let (what, count) = (poll.scope.title(), poll.count);
    let client = client(&poll.agent);
    let lasted = poll.last.saturating_sub(poll.first);
    let every = lasted / count.saturating_sub(1).max(1);
    text!(
        (
            "{client} reads {what} again and again ({}, every {}), {but_en}.",
            times(count),
            lasting(every, Lang::En)
        ),
        (
            "{client} 反复读取 {what}（{count} 次，每隔{}一次），{but_zh}。",
            lasting(every, Lang::Zh)
        )
    )
}

fn refused(refused: &Refused) -> Text {
    let (client, what) = (client(&refused.agent), refused.scope.title());
    let (code, said) = (refused.error.code, &refused.error.message);
    let (of_en, of_zh, so_en, so_zh) = match refused.request {
        Request::Watch => (
            "the watch of ",
            "watch ",
            "Its informer learns of changes only when it lists again.",
            "informer 只有在重新 List 时才知道变更。",
        ),
        Request::List => (
            "",
            "",
            "Until it is answered, its informer neither syncs nor learns of changes.",
            "在得到应答之前，informer 既不会完成同步，也不知道变更。",
        ),
    };
    text!(
        (
            "{client} is refused {of_en}{what} ({code}, {}): {said}. {so_en}",
            times(refused.count)
        ),
        (
            "{client} 请求 {of_zh}{what} 被拒绝（{code}，{} 次）：{said}。{so_zh}",
            refused.count
        )
    )
}

fn known_bug(of: &Ledger, generation: Generation, violation: &Violation) -> Text {
    let what = of.scope.title();
    let version = generation.client_go();
    let named = of.generation().1;
    let when = when(of, violation.time);
    let key = violation.key.as_ref().map_or("", |key| &**key);
    let title = |lang| checks::title(violation.invariant, lang);
    let (en, zh) = match named {
        true => ("", ""),
        false => (
            " (if that is the client's version: its requests look like it)",
            "（如果客户端是这个版本：其请求与之相符）",
        ),
    };
    text!(
        (
            "{what}: what happened here ({when}) meets a known bug of client-go {version}{en}: \"{}\" does not hold for {key}.",
            title(Lang::En)
        ),
        (
            "{what}：这里发生的事（{when}）会触发 client-go {version} 的已知缺陷{zh}：“{}”对 {key} 不成立。",
            title(Lang::Zh)
        )
    )
}

fn log_differs(of: &Ledger, first: &Differs) -> Text {
    let what = of.scope.title();
    let place = first.heard.as_ref().map(|line| line.line);
    let (mut en, mut zh) = match place {
        Some(line) => (
            format!(
                "The log of {what} differs, from line {line} on, from the calls that its handler should have got."
            ),
            format!("{what} 的日志从第 {line} 行起与 handler 应当收到的不同。"),
        ),
        None => (
            format!("The log of {what} differs from the calls that its handler should have got."),
            format!("{what} 的日志与 handler 应当收到的不同。"),
        ),
    };
    for (text, lang) in [(&mut en, Lang::En), (&mut zh, Lang::Zh)] {
        text.push_str(lang.pick(" ", ""));
        text.push_str(&differs(first, lang));
        if let Some(one) = &first.should {
            let when = when(of, one.time);
            let call = said(&one.call);
            text.push_str(&in_lang!(
                lang,
                " The expected call is {call} ({when}).",
                "应当收到 {call}（{when}）。"
            ));
        }
        if let Some(line) = &first.heard {
            let call = said(&line.call);
            text.push_str(&in_lang!(
                lang,
                " The log says {call}.",
                "日志中是 {call}。"
            ));
        }
    }
    Text::new(&en, &zh)
}

/// The client as its `User-Agent` begins.
pub(super) fn client(agent: &str) -> &str {
    match agent.split(' ').next() {
        None | Some("") => "?",
        Some(name) => name,
    }
}

/// Its version of client-go, and whether that is a guess.
pub(super) fn version(ledger: &Ledger) -> String {
    let (generation, named) = ledger.generation();
    let guess = if named { "" } else { "?" };
    format!("{}{guess}", generation.client_go())
}

/// How its lists were asked for, and why there was more than one.
fn lists(ledger: &Ledger, lang: Lang) -> String {
    let first = ledger.lists.first().map(|list| how(list, lang));
    let again = ledger.list_count.saturating_sub(1);
    let first = first.unwrap_or_else(|| lang.pick("none", "无").to_owned());
    match again {
        0 => first,
        _ => in_lang!(lang, "{first}, {again} again", "{first}，再列 {again} 次"),
    }
}

/// How a list was asked for, in a word or two.
fn how(list: &List, lang: Lang) -> String {
    let how = match list.how {
        How::Cached => "rv=0".to_owned(),
        How::Whole => lang.pick("newest, whole", "最新版本、一次取全").to_owned(),
        How::Paged(limit) => in_lang!(lang, "newest, limit {limit}", "最新版本、limit {limit}"),
        How::NotOlder => lang.pick("not older", "不早于某版本").to_owned(),
        How::Streamed => lang.pick("streamed", "流式").to_owned(),
    };
    match list.pages {
        0 | 1 => how,
        pages => in_lang!(lang, "{how}, {pages} pages", "{how}、{pages} 页"),
    }
}

fn ends(ledger: &Ledger, lang: Lang) -> String {
    let named = EndKind::ALL.into_iter().filter_map(|kind| {
        let (en, zh) = match kind {
            EndKind::Closed => ("closed", "服务器关闭"),
            EndKind::HungUp => ("by the client", "客户端关闭"),
            EndKind::Cut => ("cut", "断开"),
            EndKind::Expired => ("410", "410"),
            EndKind::Later => ("later", "稍后再试"),
            EndKind::Failed => ("failed", "失败"),
            EndKind::TooLarge => ("too large", "过大"),
        };
        let count = ledger.ends_of(kind);
        (count > 0).then(|| format!("{count} {}", lang.pick(en, zh)))
    });
    let named = joined(named);
    match named.is_empty() {
        true => "-".to_owned(),
        false => named,
    }
}

fn because_of(because: &Because, lang: Lang) -> String {
    let text = match because {
        Because::Nothing => lang.pick(
            "nothing had ended, the client asked by itself",
            "没有任何请求结束，客户端自行 relist",
        ),
        Because::Ended(Why::Closed) => lang.pick("a watch had ended", "watch 已结束"),
        Because::Ended(Why::Cut) => lang.pick("the connection had broken", "连接断开"),
        Because::Ended(Why::HungUp) => lang.pick("the client had hung up", "客户端关闭了连接"),
        Because::Ended(Why::Expired) => {
            lang.pick("the version was too old (410)", "版本过旧（410）")
        }
        Because::Ended(Why::TooLarge) => {
            lang.pick("the answer was too large to read", "响应过大，无法读取")
        }
        Because::Ended(Why::Later { code }) => {
            return in_lang!(
                lang,
                "the server asked to come later ({code})",
                "服务器要求稍后再试（{code}）"
            );
        }
        Because::Ended(Why::Failed { code, text }) => {
            return in_lang!(lang, "an error ({code}: {text})", "出错（{code}：{text}）");
        }
    };
    text.to_owned()
}

/// A moment on the clock on the wall, or in the recording.
fn when(of: &Ledger, at: Time) -> String {
    match of.start {
        Some(start) => wall::written(start + at),
        None => format!("{at} ms"),
    }
}

fn moments(of: &Ledger, moments: impl Iterator<Item = Time>) -> String {
    let mut all: Vec<String> = moments.map(|at| when(of, at)).collect();
    if all.len() > NAMED {
        all.truncate(NAMED);
        all.push("…".to_owned());
    }
    all.join(", ")
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

pub(in super::super) fn counted(count: u64, of: &str) -> String {
    let ending = match (count, of) {
        (1, _) => "",
        (_, "watch") => "es",
        _ => "s",
    };
    format!("{count} {of}{ending}")
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// A size as people say it.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KB", "MB", "GB"];
    let (mut number, mut unit) = (bytes as f64, 0);
    while number >= 1_000.0 && unit + 1 < UNITS.len() {
        number /= 1_000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{number:.1} {}", UNITS[unit]),
    }
}

pub(super) fn lasting(ms: Time, lang: Lang) -> String {
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match lang {
        Lang::En if seconds < 1 => format!("{ms} ms"),
        Lang::En if minutes < 1 => format!("{seconds} s"),
        Lang::En => format!("{minutes} min {} s", seconds % 60),
        Lang::Zh if seconds < 1 => format!(" {ms} ms "),
        Lang::Zh if minutes < 1 => format!(" {seconds} 秒"),
        Lang::Zh => format!(" {minutes} 分 {} 秒", seconds % 60),
    }
}

/// How many columns a text takes in a terminal: Chinese characters take two.
fn wide(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if u32::from(c) >= 0x1100 && c != '…' {
                2
            } else {
                1
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use deltascope_replay::tap::note::Note;

    use super::super::RecordingFile;
    use super::*;

    #[test]
    fn texts_of_others_stay_in_their_line() {
        let text = "no\n- forged\r\u{1b}[2J\u{202e}".to_owned();
        let list = |at: Time| Note::List {
            at,
            version: "0".to_owned(),
            limit: 0,
            continues: false,
        };
        let page = |at: Time| Note::Page {
            at,
            objects: Vec::new(),
            more: false,
        };
        let why = Why::Failed { code: 500, text };
        let mut ledger = Ledger::of(&[
            list(0),
            page(1),
            Note::Ended { at: 2, why },
            list(3),
            page(4),
            Note::Stopped {
                at: 5,
                why: Stopped::Full,
            },
        ]);
        ledger.scope.plural = "pods\n- forged".to_owned();
        let observed = Observed {
            informers: vec![Informer {
                ledger,
                parts: vec![RecordingFile {
                    number: 1,
                    from: 0,
                    path: "my run/it's.jsonl".into(),
                }],
                kept: true,
                ..Informer::default()
            }],
            ..Observed::default()
        };
        let found = observed.found();
        for lang in [Lang::En, Lang::Zh] {
            let table = table(&observed, &found, lang);
            let wanted = r"deltascope replay 'my run/it'\''s.jsonl' --until 1003ms";
            assert!(table.contains(wanted), "{table}");
            assert_eq!(table.lines().count(), 6, "{table}");
            assert!(!table.contains("\n- forged") && !table.contains('\u{1b}'));
        }
    }
}
