//! What the tap serves itself, behind its token: the page that shows the informers, the report so far, and the
//! recordings as they grow.

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

use deltascope_world::bounds::MAX_LINE;

use super::super::gate::{Refusal, plain_path, refusal};
use super::super::page::Page;
use super::super::report::{Observed, Played};
use super::watcher::{Recordings, Teller};

/// The tap's own paths, which no API server has.
const OWN: &str = "deltascope/";
/// The report so far, as `--report` writes it, …
const INFORMERS: &str = "informers.json";
/// … and as the page shows it: in words, and no recording is played for it.
const SHOWN: &str = "page.json";
/// A recording: `informers/1.jsonl?from=BYTES`.
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
                "This is the tap's own, which is read with GET.",
                "这是 tap 自己的内容，只能用 GET 读取。",
            ));
        }
        let (path, query) = wanted.split_once('?').unwrap_or((wanted, ""));
        let path = plain_path(path)?;
        match &*path {
            INFORMERS => {
                let played = Arc::clone(&self.played);
                return informers(teller, move |observed| played.json(observed)).await;
            }
            SHOWN => return informers(teller, Observed::for_page).await,
            _ => {}
        }
        if let Some(name) = path.strip_prefix(RECORDINGS) {
            let (path, from) = self.recording(name, query)?;
            return piece(path, from).await;
        }
        let page = self.page.as_ref().ok_or_else(|| {
            refusal(
                StatusCode::NOT_FOUND,
                "This tap has no page: it was compiled without one, and found none in dist. Name its folder with --dist.",
                "此 tap 没有页面：程序中没有打包页面，dist 中也没有。请用 --dist 指定其目录。",
            )
        })?;
        let found = page.find(&path)?;
        let bytes = match &*path {
            "" | "index.html" => says_so(&found.bytes),
            _ => found.bytes,
        };
        Ok(Answer {
            media_type: found.media_type,
            bytes,
        })
    }

    /// The file and the place that a request for a recording names.
    fn recording(&self, name: &str, query: &str) -> Result<(PathBuf, u64), Refusal> {
        let number = name.strip_suffix(".jsonl").and_then(|n| n.parse().ok());
        let path = number.and_then(|number| self.recordings.get(number));
        let path = path.ok_or_else(|| {
            refusal(
                StatusCode::NOT_FOUND,
                "There is no recording of this number: informers.json says which there are.",
                "没有这个编号的录制：informers.json 列出了现有的录制。",
            )
        })?;
        let from = match query {
            "" => Some(0),
            query => query
                .strip_prefix("from=")
                .and_then(|from| from.parse().ok()),
        };
        let from = from.ok_or_else(|| {
            refusal(
                StatusCode::BAD_REQUEST,
                "A recording is asked for from a byte on: ?from=BYTES, a number.",
                "请求录制时用 ?from=BYTES 指定起始字节，须为数字。",
            )
        })?;
        Ok((path, from))
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
    write: impl FnOnce(&Observed) -> String + Send + 'static,
) -> Result<Answer, Refusal> {
    let observed = teller.look().await.unwrap_or_default();
    let text = spawn_blocking(move || write(&observed)).await;
    let text = text.map_err(|error| unread(&io::Error::other(error)))?;
    Ok(Answer {
        media_type: "application/json",
        bytes: text.into(),
    })
}

/// The complete lines of a recording from a byte on, up to some size.
async fn piece(path: PathBuf, from: u64) -> Result<Answer, Refusal> {
    let read = spawn_blocking(move || lines(&path, from)).await;
    let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
    let bytes = read.map_err(|error| unread(&error))?.ok_or_else(|| {
        refusal(
            StatusCode::RANGE_NOT_SATISFIABLE,
            "The recording is not that long: ask from a byte that it has.",
            "录制没有那么长：请从已有的字节开始请求。",
        )
    })?;
    Ok(Answer {
        media_type: "application/jsonl; charset=utf-8",
        bytes: bytes.into(),
    })
}

/// Complete lines of a file; `None` if it is shorter than `from`.
fn lines(path: &Path, from: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
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
        &format!("This cannot be read: {error}."),
        &format!("无法读取：{error}。"),
    )
}

fn with_headers(answer: Answer) -> Response<Bytes> {
    let mut response = Response::new(answer.bytes);
    for (name, value) in [
        (CONTENT_TYPE, answer.media_type),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        // In a frame of another site the page would still have its access to the cluster.
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'self'"),
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
