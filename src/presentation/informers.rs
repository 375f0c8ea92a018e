//! A controller's informers, as the tap tells its page of them: in words, which the tap makes. So the page has none of
//! what they are made of.

use serde_json::{Value, json};

use crate::i18n::Text;
use deltascope_replay::tap::note::Stopped;
use deltascope_world::Time;
use deltascope_world::fields::{Fields, Read, Wrong};

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Informers {
    /// The heads of the table's columns.
    pub columns: Vec<Text>,
    /// Its rows, in the order in which the informers came.
    pub rows: Vec<Row>,
    /// The findings.
    pub odd: Vec<Odd>,
    /// Whether the tap reads what the controller logs, …
    pub logs: bool,
    /// … and what of that could not be used; may be empty.
    pub log: Text,
}

/// An informer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The number of its recording; 0 if there is none.
    pub recording: usize,
    /// The newest of the files of its recording.
    pub part: u32,
    /// Its client.
    pub client: String,
    /// The cells.
    pub cells: Vec<Text>,
    /// What else is to be known of it; may be empty.
    pub remark: Text,
    /// What its run shows.
    pub note: Text,
}

/// A finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    /// Its words.
    pub words: Text,
    /// The recording that shows it; 0 if there is none.
    pub recording: usize,
    /// The file of it that has the moment.
    pub part: u32,
    /// The moment that shows it, in ms.
    pub at: Time,
}

impl Informers {
    /// As the page reads it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let text = |text: &Text| json!({ "en": &*text.en, "zh": &*text.zh });
        let texts = |texts: &[Text]| texts.iter().map(text).collect::<Value>();
        let row = |row: &Row| {
            json!({
                "recording": row.recording, "part": row.part, "client": row.client, "cells": texts(&row.cells),
                "remark": text(&row.remark), "note": text(&row.note),
            })
        };
        let odd = |odd: &Odd| json!({ "words": text(&odd.words), "recording": odd.recording, "part": odd.part, "at": odd.at });
        json!({
            "columns": texts(&self.columns),
            "rows": self.rows.iter().map(row).collect::<Value>(),
            "odd": self.odd.iter().map(odd).collect::<Value>(),
            "logs": self.logs,
            "log": text(&self.log),
        })
    }
}

impl Read for Informers {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("informers", value)?;
        Ok(Self {
            columns: fields.need("columns")?,
            rows: fields.need("rows")?,
            odd: fields.need("odd")?,
            logs: fields.need("logs")?,
            log: fields.need("log")?,
        })
    }
}

impl Read for Row {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("an informer", value)?;
        Ok(Self {
            recording: fields.need("recording")?,
            part: fields.need("part")?,
            client: fields.need("client")?,
            cells: fields.need("cells")?,
            remark: fields.need("remark")?,
            note: fields.need("note")?,
        })
    }
}

impl Read for Odd {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a finding", value)?;
        Ok(Self {
            words: fields.need("words")?,
            recording: fields.need("recording")?,
            part: fields.need("part")?,
            at: fields.need("at")?,
        })
    }
}

/// The tap does not answer.
#[must_use]
pub fn gone() -> Text {
    Text::new(
        "The tap does not answer: it ends with its command. What is shown is what it said last. Start it again, and open the address that it prints.",
        "tap 没有应答：它随其命令一起结束。此处显示的是它最后报告的内容。请重新启动 tap，并打开它输出的地址。",
    )
}

/// The tap answers, but not with what was asked for; `said` is why.
#[must_use]
pub fn refused(status: u16, said: &str) -> Text {
    Text::new(
        &format!("The tap answers {status}: {said} Choose the informer again."),
        &format!("tap 返回 {status}：{said} 请重新选择该 informer。"),
    )
}

/// Why the lines of an informer's handlers are not compared.
pub const UNHEARD: (&str, &str) = (
    "another informer has a part of its objects, and nothing says whose their lines are",
    "另有 informer 包含它的部分对象，无法判断日志行属于哪一个",
);

/// What the page says of such an informer's log.
#[must_use]
pub fn unheard() -> Text {
    let (en, zh) = UNHEARD;
    Text::new(
        &format!("The log is compared no further: {en}."),
        &format!("日志不再比较：{zh}。"),
    )
}

/// Why a recording does not go on.
#[must_use]
pub fn stopped(why: Stopped) -> (&'static str, &'static str) {
    match why {
        Stopped::Next => ("the next file goes on with it", "由下一个文件继续"),
        Stopped::Full => ("with more it could not be opened", "再多就无法打开"),
        Stopped::Unlike => (
            "its client asks in a way that no reflector does",
            "客户端的请求方式与 Reflector 不同",
        ),
        Stopped::Unwritten => ("its file could not be written", "文件无法写入"),
    }
}

/// The recording that is followed does not go on.
#[must_use]
pub fn ended(why: Stopped) -> Text {
    let (en, zh) = stopped(why);
    Text::new(
        &format!("The recording ends here: {en}. What came later is not in it."),
        &format!("录制到此为止：{zh}。之后的内容不在其中。"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_reads_what_the_tap_writes() {
        let all = Informers {
            columns: vec![Text::new("size", "大小")],
            rows: vec![Row {
                recording: 3,
                part: 2,
                client: "manager".to_owned(),
                cells: vec![Text::new("a", "一"), Text::default()],
                remark: Text::new("b", "二"),
                note: Text::new("c", "三"),
            }],
            odd: vec![Odd {
                words: Text::new("d", "四"),
                recording: 3,
                part: 1,
                at: 70,
            }],
            logs: true,
            log: Text::new("e", "五"),
        };
        assert_eq!(Informers::read(all.to_json()), Ok(all));
        assert!(Informers::read(json!({ "columns": [] })).is_err());
    }
}
