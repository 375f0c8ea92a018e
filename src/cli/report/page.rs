//! What the page of a tap shows, in words: the table and the findings.

use deltascope_presentation::informers::{Informers, Odd, Row, stopped};
use deltascope_replay::tap::finding::Finding;
use deltascope_world::bounds::{self, MAX_TEXT};
use deltascope_world::source::visible;
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

use super::{Informer, Observed, words};

/// The heads of the columns that only the page has.
const MORE: [(&str, &str); 2] = [("age", "已运行"), ("client-go", "client-go")];

/// All of it.
pub(super) fn of(observed: &Observed, found: &[Finding]) -> Informers {
    let columns = words::COLUMNS.iter().chain(&MORE);
    let informers = &observed.informers;
    let odd = found.iter().map(|finding| {
        let informer = finding.informer.and_then(|place| informers.get(place));
        let (found, at) = (informer.zip(finding.at), finding.at);
        let found = found.and_then(|(one, at)| Some((one.recording, one.part_at(at)?.number)));
        let (recording, part) = found.unwrap_or_default();
        Odd {
            words: shown(&words::finding(finding, informers)),
            recording,
            part,
            at: at.unwrap_or_default(),
        }
    });
    Informers {
        columns: columns.map(|(en, zh)| Text::new(en, zh)).collect(),
        rows: informers.iter().map(|one| row(observed, one)).collect(),
        odd: odd.collect(),
        logs: observed.log.is_some(),
        log: shown(
            &observed
                .log
                .as_ref()
                .and_then(words::log_trouble)
                .unwrap_or_default(),
        ),
    }
}

fn row(observed: &Observed, informer: &Informer) -> Row {
    let ledger = &informer.ledger;
    let (generation, named) = ledger.generation();
    let version = generation.client_go();
    let began = match (observed.start, ledger.start) {
        (Some(start), Some(began)) => began.saturating_sub(start),
        _ => 0,
    };
    let age = match ledger.open_since() {
        Some(_) => observed.lasted.saturating_sub(began),
        // Its client may have left.
        None => ledger.until,
    };
    let cells = |lang| {
        let age = words::lasting(age, lang);
        let more = [age.trim().to_owned(), words::version(ledger)];
        words::row(ledger, lang).into_iter().chain(more)
    };
    let cells = cells(Lang::En).zip(cells(Lang::Zh));
    let remark = match (informer.recording, ledger.stopped) {
        (0, _) => Text::new("not recorded", "未录制"),
        (_, Some((_, why))) => {
            let (en, zh) = stopped(why);
            text!("recorded only in part: {en}", "只录制了一部分：{zh}")
        }
        (_, None) if ledger.open_since().is_none() => Text::new("does not watch", "未在 watch"),
        (_, None) => Text::default(),
    };
    Row {
        recording: informer.recording,
        client: line(words::client(&ledger.agent)),
        cells: cells.map(|(en, zh)| shown(&Text::new(&en, &zh))).collect(),
        part: informer.parts.last().map_or(1, |part| part.number),
        remark,
        note: note(version, named),
    }
}

fn shown(text: &Text) -> Text {
    Text::new(&line(&text.en), &line(&text.zh))
}

/// A text of others, as the page takes it.
fn line(text: &str) -> String {
    bounds::beginning(&visible::line(text), MAX_TEXT).to_owned()
}

/// What is shown of an informer, and in which generation.
fn note(version: &str, named: bool) -> Text {
    let (en, zh) = match named {
        true => ("as the client itself names it", "由客户端自己报告"),
        false => (
            "the newest version that asks this way",
            "以这种方式请求的最新版本",
        ),
    };
    text!(
        "An informer behind the tap: its requests as they were, its store as it must be with client-go {version} ({en}). Choose another generation above to overrule that.",
        "tap 后面的一个 informer：请求与实际一致，store 按 client-go {version} 推算（{zh}）。可在上方改选其他版本。"
    )
}

#[cfg(test)]
mod tests {
    use deltascope_replay::tap::call::Scope;
    use deltascope_replay::tap::finding;
    use deltascope_replay::tap::note::{Note, Stopped, Why};
    use deltascope_world::fields::{Put as _, Read as _};

    use super::super::RecordingFile;
    use super::*;
    use deltascope_replay::tap::ledger::Ledger;

    /// One with these files: the number of each, and the time at which it begins.
    fn informer(agent: &str, recording: usize, parts: &[(u32, u64)]) -> Informer {
        let scope = Scope {
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            label_selector: "app=\u{202e}a".to_owned(),
            ..Scope::default()
        };
        let version = String::new();
        let mut ledger = Ledger::of(&[
            Note::Informer {
                agent: agent.into(),
                scope,
            },
            Note::List {
                at: 1,
                version: version.clone(),
                limit: 500,
                continues: false,
            },
            Note::Watch {
                at: 2,
                version,
                initial: false,
            },
            Note::Opened { at: 3 },
        ]);
        ledger.start = Some(4_000);
        let part = |(number, from): &(u32, u64)| RecordingFile {
            number: *number,
            from: *from,
            path: "run/a.jsonl".into(),
        };
        Informer {
            ledger,
            recording,
            parts: parts.iter().map(part).collect(),
            ..Informer::default()
        }
    }

    #[test]
    fn an_informer_is_a_row_and_a_finding_leads_to_its_moment() {
        let agent = "kube-scheduler/v1.32.1 (linux/amd64) kubernetes/abc";
        let mut ended = informer(agent, 2, &[(1, 0)]);
        let why = Why::Expired;
        ended.ledger.note(&Note::Ended { at: 9, why });
        // Its first file is no longer there.
        let mut stopped = informer("m", 3, &[(2, 9), (3, 70)]);
        stopped.ledger.stopped = Some((0, Stopped::Full));
        let observed = Observed {
            start: Some(1_000),
            lasted: 64_000,
            informers: vec![
                informer("m\n", 1, &[(1, 0)]),
                ended,
                stopped,
                informer(&"\n".repeat(9_999), 0, &[]),
            ],
            ..Observed::default()
        };
        let list = &observed.informers[0].ledger.lists[0];
        let big = |informer| {
            let odd = finding::Odd::BigList(list.clone());
            Finding::new(informer, Some(list.at), odd)
        };
        let secrets = Finding::new(1, None, finding::Odd::AllSecrets);
        let found = [big(0), big(3), secrets, big(2)];
        let all = of(&observed, &found);
        assert_eq!(Informers::read(all.written()).as_ref(), Ok(&all));
        let en = |row: &Row| {
            row.cells
                .iter()
                .map(|cell| cell.en.to_string())
                .collect::<Vec<_>>()
        };
        let first = [
            "pods · app=\\u{202e}a",
            "0",
            "0 B",
            "0",
            "0.0",
            "newest, limit 500",
            "-",
            "1 min 1 s",
            "0.36?",
        ];
        assert_eq!(en(&all.rows[0]), first);
        assert_eq!(all.columns.len(), first.len());
        assert_eq!(&*all.rows[0].client, "m\\n");
        assert_eq!(&*all.rows[0].cells[7].zh, "1 分 1 秒");
        // It ended after 9 ms, and gets no older.
        assert_eq!(en(&all.rows[1])[6..], ["1 410", "9 ms", "0.32"]);
        let remarks: Vec<_> = all.rows.iter().map(|row| &*row.remark.en).collect();
        let wanted = [
            "",
            "does not watch",
            "recorded only in part: with more it could not be opened",
            "not recorded",
        ];
        assert_eq!(remarks, wanted);
        let shown: Vec<_> = all.odd.iter().map(|odd| (odd.recording, odd.at)).collect();
        assert_eq!(shown, [(1, 1), (0, 1), (0, 0), (0, 1)]);
        let parts: Vec<_> = all.rows.iter().map(|row| row.part).collect();
        assert_eq!(parts, [1, 1, 3, 1]);
        let at = |at| observed.informers[2].part_at(at).map(|part| part.number);
        assert_eq!(
            [at(8), at(9), at(69), at(70)],
            [None, Some(2), Some(2), Some(3)]
        );
    }
}
