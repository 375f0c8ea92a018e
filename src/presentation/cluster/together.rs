//! Several resources at once, each in a tab of the page.

use super::status::{Phase, Status};
use crate::strings::{self, strings, together};
use crate::view::LiveView;
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

/// The most tabs of a page. Each open watch takes one of the six connections that a browser opens to a server over
/// HTTP/1.1, and one is left for what the page asks besides.
pub(crate) const MOST_TABS: usize = 5;

/// Checks that a page with so many tabs can have one more.
///
/// # Errors
/// There are as many as there can be: what to do.
pub fn room_beside(tabs: usize) -> Result<(), Text> {
    if tabs < MOST_TABS {
        return Ok(());
    }
    Err(text!(
        "{MOST_TABS} tabs are the most: each holds a watch open, a browser opens 6 connections to one server over HTTP/1.1, and one is left for this dialog. Close a tab, or watch this instead of what the tab shows.",
        "最多 {MOST_TABS} 个标签：每个标签占用一个打开的 watch，而浏览器用 HTTP/1.1 时对同一个服务器最多打开 6 个连接，还要留一个给这个对话框。请关闭一个标签，或改为在当前标签中观察。"
    ))
}

/// A tab in the strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its number.
    pub id: u64,
    /// What it watches.
    pub title: Text,
    /// How many objects the cluster has, as far as the tab knows; `None` if its run is none of a cluster.
    pub objects: Option<usize>,
    /// Whether it is shown.
    pub shown: bool,
    /// How many facts it has stated: more than before, if anything has happened.
    pub facts: u64,
    /// How far its cursor is behind, unless it follows what comes.
    pub behind: Option<usize>,
    /// The state of its connection.
    pub status: Status,
}

impl Tab {
    /// The tab with this number, if its connection is in that state.
    #[must_use]
    pub fn new(id: u64, title: Text, live: Option<LiveView>, mut status: Status) -> Self {
        // So that the strip is not redrawn each second.
        if !status.is_stale() {
            status.silent_ms = 0;
        }
        let behind = live.filter(|live| !live.following);
        Self {
            id,
            title,
            objects: None,
            shown: false,
            facts: 0,
            behind: behind.map(|live| live.behind),
            status,
        }
    }

    /// The number of the one that is shown.
    #[must_use]
    pub fn shown(tabs: &[Self]) -> u64 {
        tabs.iter().find(|tab| tab.shown).map_or(0, |tab| tab.id)
    }

    /// Its state in a few words: `12 objects, live`.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let status = &self.status;
        let state = match (status.phase, self.behind) {
            (Phase::Off, _) => strings(lang).tab_off.to_owned(),
            _ if status.trouble.is_some() => strings(lang).tab_trouble.to_owned(),
            _ if !status.is_well() => status.words(lang),
            (_, Some(behind)) => strings::facts_behind(lang, behind, false),
            _ => strings(lang).tab_live.to_owned(),
        };
        match self.objects {
            Some(count) => together::objects(lang, count, &state),
            None => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_keeps_a_connection_for_what_the_page_asks_besides() {
        for tabs in 0..MOST_TABS {
            assert_eq!(room_beside(tabs), Ok(()), "{tabs}");
        }
        let said = room_beside(MOST_TABS).unwrap_err();
        assert!(said.en.contains("5 tabs are the most") && said.en.contains("Close a tab"));
        assert!(said.zh.contains("最多 5 个标签"));
    }

    #[test]
    fn a_tab_says_how_many_objects_there_are_and_whether_it_is_live() {
        let status = |phase, trouble: bool| Status {
            phase,
            silent_ms: 3_000,
            trouble: trouble.then(|| Text::new("no", "否")),
        };
        let live = |following, behind| {
            Some(LiveView {
                following,
                behind,
                ..LiveView::default()
            })
        };
        for (state, live, objects, en, zh) in [
            (
                status(Phase::Watching, false),
                live(true, 4),
                2,
                "2 objects, live",
                "2 个对象，实时",
            ),
            (
                status(Phase::Watching, false),
                live(false, 4),
                1,
                "1 object, 4 facts behind",
                "1 个对象，落后 4 个事实",
            ),
            (
                status(Phase::Waiting(3), false),
                live(true, 0),
                0,
                "0 objects, tries again in 3 s",
                "0 个对象，3 秒后重试",
            ),
            (
                status(Phase::Watching, true),
                live(false, 4),
                0,
                "0 objects, trouble",
                "0 个对象，有问题",
            ),
            (
                status(Phase::Off, false),
                None,
                0,
                "0 objects, disconnected",
                "0 个对象，已断开",
            ),
        ] {
            let mut tab = Tab::new(1, Text::default(), live, state);
            tab.objects = Some(objects);
            assert_eq!((&*tab.words(Lang::En), &*tab.words(Lang::Zh)), (en, zh));
            tab.objects = None;
            assert!(en.ends_with(&format!(", {}", tab.words(Lang::En))));
            assert_eq!(tab.status.silent_ms, 0);
        }
    }
}
