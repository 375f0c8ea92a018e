//! A controller's informers in words: the table that the terminal, a report and the tap's page share, and what only
//! the page says of them.

use crate::i18n::{Lang, Text};
use deltascope_replay::tap::ledger::EndKind;
use deltascope_replay::tap::report::{Asked, Informer, List, Report, Seen};
use deltascope_world::Time;
use deltascope_world::source::visible;

/// The heads of the columns.
pub const COLUMNS: [(&str, &str); 7] = [
    ("informer", "informer"),
    ("objects", "对象"),
    ("size", "大小"),
    ("events", "事件"),
    ("events/s", "事件/秒"),
    ("lists", "列表"),
    ("watch ends", "watch 结束"),
];

/// The heads of those that only the page has.
pub const MORE: [(&str, &str); 2] = [("age", "已运行"), ("client-go", "client-go")];

/// A row of the table.
#[must_use]
pub fn cells(informer: &Informer, lang: Lang) -> [String; COLUMNS.len()] {
    let metadata = match informer.scope.metadata_only {
        true => " · metadata",
        false => "",
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is not negative, and a cast saturates"
    )]
    let rate = (informer.events_per_second * 10.0).round() as u64;
    [
        informer.scope.title() + metadata,
        informer.objects.to_string(),
        size(informer.bytes),
        informer.events.to_string(),
        tenths(rate),
        lists(informer, lang),
        ends(informer, lang),
    ]
}

/// An informer on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The number of its recording; 0 if there is none.
    pub recording: usize,
    /// Its client.
    pub client: String,
    /// The cells, as [`COLUMNS`] and [`MORE`] head them.
    pub cells: Vec<String>,
    /// What else is to be known of it.
    pub remark: Option<&'static str>,
}

/// A finding on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    /// Its words.
    pub words: String,
    /// The recording and the moment that show it.
    pub shown: Option<(usize, Time)>,
}

/// The informers, in the order in which they came.
#[must_use]
pub fn rows(report: &Report, lang: Lang) -> Vec<Row> {
    let rows = report.informers.iter().map(|informer| {
        let seen = &informer.generation;
        let version = match seen.named {
            true => seen.version.clone(),
            false => format!("{}?", seen.version),
        };
        let age = lasting(informer.age_ms, lang).trim().to_owned();
        let cells = cells(informer, lang).into_iter().chain([age, version]);
        let (en, zh) = match (informer.recording, informer.recording_stopped) {
            (0, _) => ("not recorded", "未录制"),
            (_, true) => ("recorded up to a moment", "只录制了一部分"),
            (_, false) if informer.open_since_ms.is_none() => ("does not watch", "未在 watch"),
            (_, false) => ("", ""),
        };
        Row {
            recording: informer.recording,
            client: visible::line(client(&informer.agent)).into_owned(),
            cells: cells
                .map(|cell| visible::line(&cell).into_owned())
                .collect(),
            remark: Some(pick(lang, en, zh)).filter(|remark| !remark.is_empty()),
        }
    });
    rows.collect()
}

/// The findings, as they come.
#[must_use]
pub fn odd(report: &Report, lang: Lang) -> Vec<Odd> {
    let found = report.findings.iter().map(|found| {
        let informer = found.informer.and_then(|place| report.informers.get(place));
        let recording = informer.map(|informer| informer.recording);
        Odd {
            words: visible::line(found.words.get(lang)).into_owned(),
            shown: recording.filter(|number| *number > 0).zip(found.at_ms),
        }
    });
    found.collect()
}

/// What is shown of an informer, and in which generation.
#[must_use]
pub fn note(seen: &Seen) -> Text {
    let version = &seen.version;
    let (en, zh) = match seen.named {
        true => ("as the client itself names it", "由客户端自己报告"),
        false => ("the newest that asks so", "以这种方式请求的最新版本"),
    };
    Text::new(
        &format!(
            "An informer behind the tap: its requests as they were, its store as it must be in client-go {version} ({en}). Choose another generation above to overrule that."
        ),
        &format!(
            "tap 后面的一个 informer：请求与实际一致，store 按 client-go {version} 推算（{zh}）。可在上方改选其他版本。"
        ),
    )
}

/// The tap does not answer.
#[must_use]
pub fn gone() -> Text {
    Text::new(
        "The tap does not answer: it ends with its command. What is shown is what it said last. Start it again, and open the address that it prints.",
        "tap 没有应答：它随其命令一起结束。此处显示的是它最后报告的内容。请重新启动 tap，并打开它输出的地址。",
    )
}

/// A link would give the tap away.
#[must_use]
pub fn no_link() -> Text {
    Text::new(
        "This page's address has the tap's token, so there is no link to it. Share the run as a file.",
        "本页地址含有 tap 的令牌，因此不提供链接。请以文件分享此运行。",
    )
}

/// The client as its `User-Agent` begins.
#[must_use]
pub fn client(agent: &str) -> &str {
    match agent.split(' ').next() {
        None | Some("") => "?",
        Some(name) => name,
    }
}

/// How its lists were asked for, and why there was more than one.
fn lists(informer: &Informer, lang: Lang) -> String {
    let first = informer.lists.first().map(|list| how(list, lang));
    let again = informer.list_count.saturating_sub(1);
    let first = first.unwrap_or_else(|| pick(lang, "none", "无").to_owned());
    match again {
        0 => first,
        _ => match lang {
            Lang::En => format!("{first}, {again} again"),
            Lang::Zh => format!("{first}，再列 {again} 次"),
        },
    }
}

/// How a list was asked for, in a word or two.
fn how(list: &List, lang: Lang) -> String {
    let limit = list.limit;
    let how = match list.how {
        Asked::Cached => "rv=0".to_owned(),
        Asked::Whole => pick(lang, "newest, whole", "最新版本、一次取全").to_owned(),
        Asked::Paged => match lang {
            Lang::En => format!("newest, limit {limit}"),
            Lang::Zh => format!("最新版本、limit {limit}"),
        },
        Asked::NotOlder => pick(lang, "not older", "不早于某版本").to_owned(),
        Asked::Streamed => pick(lang, "streamed", "流式").to_owned(),
    };
    match list.pages {
        0 | 1 => how,
        pages => match lang {
            Lang::En => format!("{how}, {pages} pages"),
            Lang::Zh => format!("{how}、{pages} 页"),
        },
    }
}

fn ends(informer: &Informer, lang: Lang) -> String {
    let named = informer.ends.iter().filter(|(_, count)| **count > 0);
    let named = joined(named.map(|(kind, count)| {
        let (en, zh) = match kind {
            EndKind::Closed => ("closed", "服务器关闭"),
            EndKind::HungUp => ("by the client", "客户端关闭"),
            EndKind::Cut => ("cut", "断开"),
            EndKind::Expired => ("410", "410"),
            EndKind::Later => ("later", "稍后再试"),
            EndKind::Failed => ("failed", "失败"),
            EndKind::TooLarge => ("too large", "过大"),
        };
        format!("{count} {}", pick(lang, en, zh))
    }));
    match named.is_empty() {
        true => "-".to_owned(),
        false => named,
    }
}

/// The word in a language.
#[must_use]
pub fn pick<'a>(lang: Lang, en: &'a str, zh: &'a str) -> &'a str {
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
}

/// The parts with commas between them.
#[must_use]
pub fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A size as people say it.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KB", "MB", "GB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let (mut part, mut unit) = (1_000, 0);
    while bytes / part >= 1_000 && unit + 1 < UNITS.len() {
        (part, unit) = (part * 1_000, unit + 1);
    }
    let size = (bytes.saturating_mul(10) + part / 2) / part;
    format!("{} {}", tenths(size), UNITS[unit])
}

/// Not by `{:.1}`: see [`crate::decimal`].
fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

/// How long something took. In Chinese, with the space before it that a sentence needs.
#[must_use]
pub fn lasting(ms: Time, lang: Lang) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(informers: serde_json::Value, findings: serde_json::Value) -> Report {
        let report =
            json!({ "start": "x", "lastedMs": 9, "informers": informers, "findings": findings });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn an_informer_is_a_row() {
        let full = json!({
            "agent": "manager/v0.0.0 (linux/amd64)", "ageMs": 61_000, "recording": 2,
            "scope": { "version": "v1", "plural": "pods", "namespace": "web", "labelSelector": "app=\u{202e}a" },
            "generation": { "version": "1.34", "named": false },
            "objects": 12, "bytes": 38_249, "events": 198, "eventsPerSecond": 19.96,
            "listCount": 3, "lists": [{ "atMs": 0, "how": "paged", "limit": 500, "pages": 2 }],
            "openSinceMs": 5, "ends": { "closed": 0, "expired": 1, "hungUp": 2 },
        });
        let with = |name: &str, value: serde_json::Value| {
            let mut informer = full.clone();
            informer[name] = value;
            informer
        };
        let informers = json!([
            full,
            with("openSinceMs", serde_json::Value::Null),
            with("recordingStopped", true.into()),
            with("recording", 0.into()),
            {},
        ]);
        let report = report(informers, json!([]));
        let en = rows(&report, Lang::En);
        let said = [
            "pods · web · app=\\u{202e}a",
            "12",
            "38.2 KB",
            "198",
            "20.0",
            "newest, limit 500, 2 pages, 2 again",
            "2 by the client, 1 410",
            "1 min 1 s",
            "1.34?",
        ];
        assert_eq!(en[0].cells, said);
        assert_eq!(en[0].cells.len(), COLUMNS.len() + MORE.len());
        assert_eq!((&*en[0].client, en[0].recording), ("manager/v0.0.0", 2));
        let remarks: Vec<_> = en.iter().map(|row| row.remark).collect();
        let wanted = [
            None,
            Some("does not watch"),
            Some("recorded up to a moment"),
            Some("not recorded"),
            Some("not recorded"),
        ];
        assert_eq!(remarks, wanted);
        assert_eq!(
            en[4].cells[1..],
            ["0", "0 B", "0", "0.0", "none", "-", "0 ms", "?"]
        );
        let zh = rows(&report, Lang::Zh);
        assert_eq!(zh[0].cells[5], "最新版本、limit 500、2 页，再列 2 次");
        assert_eq!(zh[0].cells[7], "1 分 1 秒");
    }

    #[test]
    fn a_finding_leads_to_its_moment_where_it_is_recorded() {
        let informers = json!([{ "recording": 0 }, { "recording": 4 }]);
        let finding = |informer: Option<usize>, at: Option<Time>| json!({ "kind": "relists", "informer": informer, "atMs": at, "words": { "en": "once", "zh": "一次" } });
        let findings = json!([
            finding(Some(1), Some(70)),
            finding(Some(1), None),
            finding(Some(0), Some(70)),
            finding(None, Some(70)),
            finding(Some(9), Some(70)),
        ]);
        let odd = odd(&report(informers, findings), Lang::Zh);
        let shown: Vec<_> = odd.iter().map(|odd| odd.shown).collect();
        assert_eq!(shown, [Some((4, 70)), None, None, None, None]);
        assert_eq!(odd[0].words, "一次");
    }

    #[test]
    fn sizes_are_as_people_say_them() {
        for (bytes, said) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 KB"),
            (38_250, "38.3 KB"),
            (1_500_000, "1.5 MB"),
            (2_000_000_000_000, "2000.0 GB"),
        ] {
            assert_eq!(size(bytes), said);
        }
    }
}
