//! A controller's informers, as the tap tells its page of them: in words, which the tap makes. So the page has none of
//! what they are made of.

use deltascope_replay::tap::note::Stopped;
use deltascope_world::text::Text;
use deltascope_world::{Time, in_fields, text};

in_fields! {
    /// What the page shows.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Informers: "informers" {
        /// The heads of the table's columns.
        pub columns: Vec<Text> = "columns", needed;
        /// Its rows, in the order in which the informers came.
        pub rows: Vec<Row> = "rows", needed;
        /// The findings.
        pub odd: Vec<Odd> = "odd", needed;
        /// Whether the tap reads what the controller logs, …
        pub logs: bool = "logs", needed;
        /// … and what of that could not be used; may be empty.
        pub log: Text = "log", needed;
    }

    /// An informer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Row: "an informer" {
        /// The number of its recording; 0 if there is none.
        pub recording: usize = "recording", needed;
        /// The newest of the files of its recording.
        pub part: u32 = "part", needed;
        /// Its client.
        pub client: String = "client", needed;
        /// The cells.
        pub cells: Vec<Text> = "cells", needed;
        /// What else is to be known of it; may be empty.
        pub remark: Text = "remark", needed;
        /// What its run shows.
        pub note: Text = "note", needed;
    }

    /// A finding.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Odd: "a finding" {
        /// Its words.
        pub words: Text = "words", needed;
        /// The recording that shows it; 0 if there is none.
        pub recording: usize = "recording", needed;
        /// The file of it that has the moment.
        pub part: u32 = "part", needed;
        /// The moment that shows it, in ms.
        pub at: Time = "at", needed;
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
    text!(
        "The tap answers {status}: {said} Choose the informer again.",
        "tap 返回 {status}：{said} 请重新选择该 informer。"
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
    text!(
        "The log is compared no further: {en}.",
        "日志不再比较：{zh}。"
    )
}

/// Why a recording does not go on.
#[must_use]
pub fn stopped(why: Stopped) -> (&'static str, &'static str) {
    match why {
        Stopped::Next => ("the next file goes on with it", "由下一个文件继续"),
        Stopped::Full => ("with more it could not be opened", "再多就无法打开"),
        Stopped::Unlike => (
            "its client asks in a way that no Reflector does",
            "客户端的请求方式与 Reflector 不同",
        ),
        Stopped::Unwritten => ("its file could not be written", "文件无法写入"),
    }
}

/// The recording that is followed does not go on.
#[must_use]
pub fn ended(why: Stopped) -> Text {
    let (en, zh) = stopped(why);
    text!(
        "The recording ends here: {en}. What came later is not in it.",
        "录制到此为止：{zh}。之后的内容不在其中。"
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
