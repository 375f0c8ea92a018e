//! The built page, file by file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyper::StatusCode;

use super::Failure;
use super::gate::{Refusal, refusal};

/// What browsers have to know of what a build makes; a module or wasm of another type they refuse.
const TYPES: [(&str, &str); 14] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl; charset=utf-8"),
    ("map", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("woff2", "font/woff2"),
];

/// A folder that holds the built page.
#[derive(Debug)]
pub(super) struct Page {
    /// Without links and dots, so that what is found can be seen to lie within.
    folder: PathBuf,
}

/// A file of it.
pub(super) struct Found {
    /// What it is.
    pub(super) media_type: &'static str,
    /// What it holds.
    pub(super) bytes: Vec<u8>,
}

impl Page {
    pub(super) fn open(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display();
        let whole = fs::canonicalize(folder).ok();
        match whole.filter(|folder| folder.join("index.html").is_file()) {
            Some(folder) => Ok(Self { folder }),
            None => Err(Failure::new(
                &format!(
                    "There is no built page in {shown:?} (no index.html). Build it with `make dist`, or name its folder with --dist."
                ),
                &format!(
                    "{shown:?} 中没有构建好的页面（缺 index.html）。请用 `make dist` 构建，或用 --dist 指定其目录。"
                ),
            )),
        }
    }

    /// The file at a path that has been decoded.
    pub(super) fn find(&self, path: &str) -> Result<Found, Refusal> {
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "index.html" } else { path };
        let missing = || {
            refusal(
                StatusCode::NOT_FOUND,
                "There is no such file in the page. Was it built anew? Load the page again.",
                "页面中没有此文件。页面是否重新构建过？请重新加载。",
            )
        };
        // A colon or a backslash means another place to some systems.
        if path.contains([':', '\\']) {
            return Err(missing());
        }
        let file = fs::canonicalize(self.folder.join(path)).map_err(|_| missing())?;
        if !file.starts_with(&self.folder) || !file.is_file() {
            return Err(missing());
        }
        let bytes = fs::read(&file).map_err(|error| unreadable(&error))?;
        let ending = file.extension().and_then(|ending| ending.to_str());
        let media_type = TYPES
            .iter()
            .find(|(name, _)| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(name)))
            .map_or("application/octet-stream", |(_, media_type)| media_type);
        Ok(Found { media_type, bytes })
    }
}

fn unreadable(error: &io::Error) -> Refusal {
    refusal(
        StatusCode::INTERNAL_SERVER_ERROR,
        &format!("The file cannot be read: {error}."),
        &format!("无法读取该文件：{error}。"),
    )
}
