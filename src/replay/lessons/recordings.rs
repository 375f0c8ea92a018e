//! Recordings of a real API server that ship with the page.
//!
//! The files hold the bytes that Kubernetes 1.36 sent. The page reads them in the same way as a user's files.

use deltascope_world::source::wire::{self, Recorded};

/// A recording that ships with the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Its stable id, as in a link.
    pub id: &'static str,
    /// The title in English and 简体中文.
    pub title: [&'static str; 2],
    /// The files: name and bytes, as if a user had dropped them on the page.
    pub files: &'static [(&'static str, &'static [u8])],
}

impl Bundled {
    /// Reads the recording.
    #[must_use]
    pub fn open(&self) -> Recorded {
        let files: Vec<(String, Vec<u8>)> = self
            .files
            .iter()
            .map(|&(name, bytes)| (name.to_owned(), bytes.to_vec()))
            .collect();
        wire::open(&files)
    }
}

/// The id and the title, in English and Chinese, of each: without its files.
pub(crate) const TITLES: [(&str, [&str; 2]); 4] = [
    ("pod-lifecycle", ["Two pods come and go", "两个 Pod 的一生"]),
    (
        "bookmarks",
        [
            "A quiet watch with bookmarks",
            "没有事件的 watch 与 BOOKMARK",
        ],
    ),
    (
        "cut",
        [
            "A connection that breaks in the middle of a line",
            "在一行中间断开的连接",
        ],
    ),
    (
        "expired",
        [
            "A watch from a version that is too old: 410",
            "从过旧的版本开始 watch：410",
        ],
    ),
];

/// All bundled recordings, in the order of the menu.
#[must_use]
pub fn bundled() -> &'static [Bundled] {
    &BUNDLED
}

/// The files of a recording, which lie beside this one.
macro_rules! files {
    ($($name:literal),+) => {
        &[$(($name, include_bytes!(concat!("recordings/", $name)))),+]
    };
}

static BUNDLED: [Bundled; 4] = [
    bundled_as(
        0,
        files!("watch-pod-lifecycle-list.body", "watch-pod-lifecycle.body"),
    ),
    bundled_as(
        1,
        files!("watch-bookmarks-list.body", "watch-bookmarks.body"),
    ),
    bundled_as(2, files!("watch-cut.body")),
    bundled_as(3, files!("watch-410.body")),
];

const fn bundled_as(place: usize, files: &'static [(&'static str, &'static [u8])]) -> Bundled {
    let (id, title) = TITLES[place];
    Bundled { id, title, files }
}
