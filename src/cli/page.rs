//! The built page, file by file.

use deltascope_world::text;
use deltascope_world::text::Text;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderValue;

use super::Failure;
use super::gate::{Refusal, refusal};

/// Media types of the files that a build makes. Browsers refuse modules and wasm of another type.
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

/// The folder to look for if the user names none and no page is packed.
const FOLDER: &str = "dist";
/// Files that the folder of a build has.
const OURS: [&str; 2] = ["index.html", "deltascope.js"];

/// The policy of what is no page: what only a header can state.
pub(super) const OTHERS: &str = "frame-ancestors 'self'";

/// Where the built page is.
#[derive(Debug)]
pub(super) enum Page {
    /// A folder. The path is canonical, so that it can be checked that a file lies in it.
    Folder(PathBuf),
    /// Files inside this program: path and content.
    Packed(Vec<(String, &'static [u8])>),
}

/// A file of the page.
pub(super) struct Found {
    pub(super) media_type: &'static str,
    pub(super) bytes: Bytes,
}

impl Found {
    /// The policy that it is sent with: that which the page states itself, and one that only a header can state. In a
    /// frame of another site the page would still have its access to the cluster.
    pub(super) fn policy(&self) -> HeaderValue {
        let is_page = self.media_type.starts_with("text/html");
        let text = std::str::from_utf8(&self.bytes).ok().filter(|_| is_page);
        let own = text
            .unwrap_or_default()
            .split_once("http-equiv=content-security-policy content=\"")
            .and_then(|(_, rest)| rest.split_once('"'));
        let both = own.and_then(|(own, _)| HeaderValue::try_from(format!("{own}; {OTHERS}")).ok());
        both.unwrap_or(HeaderValue::from_static(OTHERS))
    }
}

impl Page {
    /// The page to serve: the folder that the user names, else the packed page, else a folder `dist`.
    pub(super) fn open(folder: Option<&Path>, packed: &'static [u8]) -> Result<Self, Failure> {
        let packed = unpacked(packed);
        // The packed page comes first: a folder `dist` may belong to another project, whose scripts must not read
        // the cluster.
        if let (None, Some(files)) = (folder, packed) {
            return Ok(Self::Packed(files));
        }
        let named = folder.unwrap_or(Path::new(FOLDER));
        let whole = fs::canonicalize(named).ok();
        let wanted = if folder.is_some() { &OURS[..1] } else { &OURS };
        let is_page = |whole: &PathBuf| wanted.iter().all(|name| whole.join(name).is_file());
        if let Some(whole) = whole.filter(is_page) {
            return Ok(Self::Folder(whole));
        }
        let shown = named.display();
        match folder {
            None => Err(Failure::new(
                "There is no page here: neither a folder dist with one, nor was one packed into this program. In a checkout, build it with `make dist`; then serve it there, name its folder with --dist, or install the program again (cargo install --path . --features cli), which takes it along.",
                "这里没有页面：既没有含页面的 dist 目录，本程序中也没有打包页面。请在源码目录中用 `make dist` 构建；然后在那里提供服务，或用 --dist 指定其目录，或重新安装程序（cargo install --path . --features cli），安装时会把页面一并打包。",
            )),
            Some(_) => Err(Failure::of(text!(
                "There is no built page in {shown:?} (no index.html). Build it with `make dist`, or name its folder with --dist.",
                "{shown:?} 中没有构建好的页面（缺 index.html）。请用 `make dist` 构建，或用 --dist 指定其目录。"
            ))),
        }
    }

    /// The file at a decoded path.
    pub(super) fn find(&self, path: &str) -> Result<Found, Refusal> {
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "index.html" } else { path };
        let missing = || {
            refusal(
                StatusCode::NOT_FOUND,
                Text::new(
                    "There is no such file in the page. Was it built again? Reload the page.",
                    "页面中没有此文件。页面是否重新构建过？请重新加载。",
                ),
            )
        };
        // On Windows these lead to another place.
        if path.contains([':', '\\']) {
            return Err(missing());
        }
        let bytes = match self {
            Self::Folder(folder) => {
                let file = fs::canonicalize(folder.join(path)).map_err(|_| missing())?;
                if !file.starts_with(folder) || !file.is_file() {
                    return Err(missing());
                }
                Bytes::from(fs::read(&file).map_err(|error| unreadable(&error))?)
            }
            Self::Packed(files) => {
                let found = files.iter().find(|(name, _)| name == path);
                Bytes::from_static(found.ok_or_else(missing)?.1)
            }
        };
        let ending = Path::new(path)
            .extension()
            .and_then(|ending| ending.to_str());
        let media_type = TYPES
            .iter()
            .find(|(name, _)| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(name)))
            .map_or("application/octet-stream", |(_, media_type)| media_type);
        Ok(Found { media_type, bytes })
    }
}

/// The files of a packed page, or `None` if it is empty or malformed.
fn unpacked(packed: &'static [u8]) -> Option<Vec<(String, &'static [u8])>> {
    let end = packed.iter().position(|byte| *byte == b'\n')?;
    let (head, mut rest) = packed.split_at_checked(end)?;
    rest = rest.get(1..)?;
    let names: Vec<(String, usize)> = serde_json::from_slice(head).ok()?;
    let files = names.into_iter().map(|(name, size)| {
        let (bytes, others) = rest.split_at_checked(size)?;
        rest = others;
        Some((name, bytes))
    });
    files.collect()
}

fn unreadable(error: &io::Error) -> Refusal {
    refusal(
        StatusCode::INTERNAL_SERVER_ERROR,
        text!(
            "The file cannot be read: {error}.",
            "无法读取该文件：{error}。"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_page_has_its_files_and_nothing_else() {
        let files = unpacked(b"[[\"a/b.wasm\",3],[\"index.html\",2]]\nabchi").unwrap();
        let page = Page::Packed(files);
        for (path, bytes, media_type) in [
            ("/", "hi", "text/html; charset=utf-8"),
            ("/index.html", "hi", "text/html; charset=utf-8"),
            ("/a/b.wasm", "abc", "application/wasm"),
        ] {
            let found = page.find(path).unwrap();
            assert_eq!(
                (&*found.bytes, found.media_type),
                (bytes.as_bytes(), media_type)
            );
        }
        for path in ["/a", "/a/", "/b.wasm", "/a/../index.html", "/a\\b.wasm"] {
            assert!(page.find(path).is_err(), "{path}");
        }
        for broken in [&b""[..], b"[[\"a\",9]]\nb", b"\n", b"{}"] {
            assert!(unpacked(broken).is_none());
        }
    }
}
