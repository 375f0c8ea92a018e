//! Recordings of a real API server that ship with the page.
//!
//! The files hold the bytes that Kubernetes 1.36 sent. The page reads them in the same way as a user's files.

use deltascope_world::source::wire::{self, Recorded};

/// A recording that ships with the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Its stable id, as in a link.
    pub id: &'static str,
    /// The title in English.
    pub title_en: &'static str,
    /// The title in 简体中文.
    pub title_zh: &'static str,
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

/// All bundled recordings, in the order of the menu.
#[must_use]
pub fn bundled() -> &'static [Bundled] {
    &BUNDLED
}

static BUNDLED: [Bundled; 4] = [
    Bundled {
        id: "pod-lifecycle",
        title_en: "Two pods come and go",
        title_zh: "两个 Pod 的一生",
        files: &[
            (
                "watch-pod-lifecycle-list.body",
                include_bytes!("recordings/watch-pod-lifecycle-list.body"),
            ),
            (
                "watch-pod-lifecycle.body",
                include_bytes!("recordings/watch-pod-lifecycle.body"),
            ),
        ],
    },
    Bundled {
        id: "bookmarks",
        title_en: "A quiet watch with bookmarks",
        title_zh: "没有事件的 watch 与 BOOKMARK",
        files: &[
            (
                "watch-bookmarks-list.body",
                include_bytes!("recordings/watch-bookmarks-list.body"),
            ),
            (
                "watch-bookmarks.body",
                include_bytes!("recordings/watch-bookmarks.body"),
            ),
        ],
    },
    Bundled {
        id: "cut",
        title_en: "A connection that breaks in the middle of a line",
        title_zh: "在一行中间断开的连接",
        files: &[(
            "watch-cut.body",
            include_bytes!("recordings/watch-cut.body"),
        )],
    },
    Bundled {
        id: "expired",
        title_en: "A watch from a version that is too old: 410",
        title_zh: "从过旧的版本开始 watch：410",
        files: &[(
            "watch-410.body",
            include_bytes!("recordings/watch-410.body"),
        )],
    },
];
