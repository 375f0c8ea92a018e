//! What the tap serves itself, behind its token: the page that shows the informers, the report so far, and the
//! recordings as they grow.

use deltascope_world::text;
use deltascope_world::text::Text;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode};
use tokio::task::spawn_blocking;

use deltascope_presentation::informers;
use deltascope_world::bounds::MAX_LINE;

use super::super::gate::{Refusal, plain_path, refusal};
use super::super::page::{OTHERS, Page};
use super::super::report::{Observed, Played, log_of};
use super::recordings::Recordings;
use super::teller::Teller;

/// The tap's own paths, which no API server has.
const OWN: &str = "deltascope/";
/// The report so far, as `--report` writes it, …
const INFORMERS: &str = "informers.json";
/// … and as the page shows it: in words, and no recording is played for it.
const SHOWN: &str = "page.json";
/// A recording, and what the controller logged of it: `informers/1.jsonl?part=NUMBER&from=BYTES`, and the same with `.log`. Without
/// a part, the newest.
const RECORDINGS: &str = "informers/";
/// What says to the page that it is a tap's.
const SAYS_SO: &str = "<meta name=\"deltascope-informers\" content=\"page.json\">";
/// Most bytes of a recording in one answer, unless a line is longer.
const PIECE: u64 = 1 << 20;

/// What is served.
pub(super) struct Window {
    page: Option<Page>,
    recordings: Recordings,
    played: Arc<Played>,
}

/// An answer, before its headers.
struct Answer {
    media_type: &'static str,
    bytes: Bytes,
    /// Of a file of the page.
    policy: Option<HeaderValue>,
}

impl Window {
    pub(super) fn new(page: Option<Page>, recordings: Recordings, played: Arc<Played>) -> Self {
        Self {
            page,
            recordings,
            played,
        }
    }

    /// The path of the page behind the token, if there is a page.
    pub(super) fn path(&self) -> &'static str {
        if self.page.is_some() { OWN } else { "" }
    }

    /// The answer to a request for a path of the tap's own; `None` for any other path.
    pub(super) async fn answer(
        &self,
        method: &Method,
        wanted: &str,
        teller: &Teller,
    ) -> Option<Result<Response<Bytes>, Refusal>> {
        let wanted = wanted.strip_prefix(OWN)?;
        Some(self.find(method, wanted, teller).await.map(with_headers))
    }

    async fn find(
        &self,
        method: &Method,
        wanted: &str,
        teller: &Teller,
    ) -> Result<Answer, Refusal> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                Text::new(
                    "This is the tap's own, which is read with GET.",
                    "这是 tap 自己的内容，只能用 GET 读取。",
                ),
            ));
        }
        let (path, query) = wanted.split_once('?').unwrap_or((wanted, ""));
        let path = plain_path(path)?;
        match &*path {
            INFORMERS => {
                let played = Arc::clone(&self.played);
                return informers(teller, move |observed| played.json(observed)).await;
            }
            SHOWN => return informers(teller, |observed| observed.for_page()).await,
            _ => {}
        }
        if let Some(name) = path.strip_prefix(RECORDINGS) {
            return self.piece(&self.recording(name, query)?, teller).await;
        }
        let page = self.page.as_ref().ok_or_else(|| {
            refusal(
                StatusCode::NOT_FOUND,
                Text::new(
                    "This tap has no page: it was compiled without one, and found none in dist. Name its folder with --dist.",
                    "此 tap 没有页面：程序中没有打包页面，dist 中也没有。请用 --dist 指定其目录。",
                ),
            )
        })?;
        let found = page.find(&path)?;
        let policy = found.policy();
        let bytes = match &*path {
            "" | "index.html" => says_so(&found.bytes),
            _ => found.bytes,
        };
        Ok(Answer {
            media_type: found.media_type,
            bytes,
            policy: Some(policy),
        })
    }

    /// The file and the place that a request for a recording, or for its log, names.
    fn recording(&self, name: &str, query: &str) -> Result<Wanted, Refusal> {
        let (mut part, mut from) = (None, 0);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let read = match pair.split_once('=') {
                Some(("from", text)) => text.parse().map(|is| from = is).ok(),
                Some(("part", text)) => text.parse().map(|is| part = Some(is)).ok(),
                _ => None,
            };
            read.ok_or_else(|| {
                refusal(
                    StatusCode::BAD_REQUEST,
                    Text::new(
                        "A recording is asked for from a byte of a part on: ?part=NUMBER&from=BYTES.",
                        "请求录制时用 ?part=NUMBER&from=BYTES 指定部分和起始字节，均须为数字。",
                    ),
                )
            })?;
        }
        let (number, ending) = name.split_once('.').unwrap_or((name, ""));
        let number = number.parse().unwrap_or_default();
        if ending == "log" && self.recordings.is_unheard(number) {
            let why = informers::unheard();
            return Err(refusal(StatusCode::GONE, why));
        }
        let path = self.recordings.get(number, part);
        let path = path.and_then(|path| match ending {
            "jsonl" => Some(path),
            "log" => Some(log_of(&path)),
            _ => None,
        });
        let path = path.ok_or_else(|| {
            refusal(
                StatusCode::NOT_FOUND,
                Text::new(
                    "There is no recording of this number, or no such part of it any more: informers.json says which there are.",
                    "没有这个编号的录制，或其中的这一部分已不再保留：informers.json 列出了现有的录制。",
                ),
            )
        })?;
        Ok(Wanted {
            number,
            part,
            path,
            from,
            is_log: ending == "log",
        })
    }

    /// The complete lines of a recording from a byte on, up to some size. Of one that could not be written, what it cannot say
    /// itself.
    async fn piece(&self, wanted: &Wanted, teller: &Teller) -> Result<Answer, Refusal> {
        let (path, from, is_log) = (wanted.path.clone(), wanted.from, wanted.is_log);
        let read = spawn_blocking(move || lines(&path, from, is_log)).await;
        let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
        let ends = read
            .as_ref()
            .is_ok_and(|read| read.as_ref().is_some_and(Vec::is_empty));
        if (ends || read.is_err()) && !is_log {
            if read.is_err() {
                // The watcher may not know it yet.
                let _known = teller.look().await;
            }
            if let Some(unsaid) = self.recordings.unsaid(wanted.number, wanted.part) {
                return Ok(jsonl(unsaid.into()));
            }
        }
        let bytes = read.map_err(|error| unread(&error))?.ok_or_else(|| {
            refusal(
                StatusCode::RANGE_NOT_SATISFIABLE,
                Text::new(
                    "The recording is not that long: ask from a byte that it has.",
                    "录制没有那么长：请从已有的字节开始请求。",
                ),
            )
        })?;
        Ok(jsonl(bytes.into()))
    }
}

/// A recording, or its log, from a byte on.
struct Wanted {
    number: usize,
    part: Option<u32>,
    path: PathBuf,
    from: u64,
    is_log: bool,
}

fn jsonl(bytes: Bytes) -> Answer {
    Answer {
        media_type: "application/jsonl; charset=utf-8",
        bytes,
        policy: None,
    }
}

/// The page, which is told that it is a tap's.
fn says_so(page: &Bytes) -> Bytes {
    let page = String::from_utf8_lossy(page);
    page.replacen("<title>", &format!("{SAYS_SO}<title>"), 1)
        .into()
}

/// On another thread, for recordings may be played for it: requests do not wait.
async fn informers(
    teller: &Teller,
    write: impl FnOnce(Observed) -> String + Send + 'static,
) -> Result<Answer, Refusal> {
    let observed = teller.look().await.unwrap_or_default();
    let text = spawn_blocking(move || write(observed)).await;
    let text = text.map_err(|error| unread(&io::Error::other(error)))?;
    Ok(Answer {
        media_type: "application/json",
        bytes: text.into(),
        policy: None,
    })
}

/// Complete lines of a file; `None` if it is shorter than `from`.
fn lines(path: &Path, from: u64, is_log: bool) -> io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(path) {
        // Nothing was logged so far.
        Err(error) if is_log && from == 0 && error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(Vec::new()));
        }
        file => file?,
    };
    if file.metadata()?.len() < from {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(from))?;
    let mut read = Vec::new();
    for most in [PIECE, MAX_LINE as u64] {
        file.by_ref().take(most).read_to_end(&mut read)?;
        if let Some(end) = read.iter().rposition(|byte| *byte == b'\n') {
            read.truncate(end + 1);
            return Ok(Some(read));
        }
    }
    // The last line is still being written.
    Ok(Some(Vec::new()))
}

fn unread(error: &io::Error) -> Refusal {
    refusal(
        StatusCode::INTERNAL_SERVER_ERROR,
        text!("This cannot be read: {error}.", "无法读取：{error}。"),
    )
}

fn with_headers(answer: Answer) -> Response<Bytes> {
    let mut response = Response::new(answer.bytes);
    // In a frame of another site the page would still have its access to the cluster.
    let policy = answer.policy.unwrap_or(HeaderValue::from_static(OTHERS));
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
        (CONTENT_TYPE, answer.media_type),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        // The address has the token.
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_an_informer_that_shares_its_lines_is_gone_and_its_recording_is_not() {
        let recordings = Recordings::default();
        for name in ["one", "other"] {
            recordings.add(format!("{name}.jsonl").into());
        }
        recordings.hears_no_more(1);
        let window = Window::new(None, recordings, Arc::default());
        let code = |name: &str| match window.recording(name, "part=1&from=0") {
            Ok(_) => StatusCode::OK,
            Err(refusal) => refusal.status,
        };
        for (name, expected) in [
            ("1.log", StatusCode::GONE),
            ("1.jsonl", StatusCode::OK),
            ("2.log", StatusCode::OK),
            ("3.log", StatusCode::NOT_FOUND),
        ] {
            assert_eq!(code(name), expected, "{name}");
        }
    }
}
