//! The tabs of the drawer: which there are, which is open, and where the focus goes.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;

use super::icons;
use super::parts::focus;
use crate::later::{Part, has};
use crate::ui::Ui;
use deltascope_presentation::strings::Strings;
use deltascope_world::named;

named! {
    /// A tab of the drawer, in the order on screen.
    pub(super) enum DrawerTab {
        /// Why something is so: its chain of causes.
        Why = "why",
        /// Run until a condition, and breakpoints.
        Until = "until",
        /// The branches of the run.
        Branches = "branches",
        /// The invariants that are checked along the run.
        Checks = "checks",
        /// The stage as a table.
        Table = "table",
        /// Links and files.
        Share = "share",
    }
}

impl DrawerTab {
    /// Whether its button waits until somebody asks for all.
    pub(super) fn is_rare(self) -> bool {
        matches!(self, Self::Until | Self::Checks | Self::Table)
    }

    pub(super) fn word(self, words: &Strings) -> &'static str {
        match self {
            Self::Why => words.drawer_why,
            Self::Until => words.until,
            Self::Branches => words.branches,
            Self::Checks => words.drawer_checks,
            Self::Table => words.drawer_table,
            Self::Share => words.drawer_share,
        }
    }

    /// The tooltip of its button.
    pub(super) fn title(self, words: &Strings) -> &'static str {
        match self {
            Self::Why => words.drawer_why_title,
            Self::Until => words.until_tip,
            Self::Branches => words.branches_title,
            Self::Checks => words.checks,
            Self::Table => words.table_title,
            Self::Share => words.drawer_share_title,
        }
    }

    pub(super) fn icon(self) -> &'static str {
        match self {
            Self::Why => icons::WHY,
            Self::Until => icons::UNTIL,
            Self::Branches => icons::BRANCHES,
            Self::Checks => icons::CHECKS,
            Self::Table => icons::TABLE,
            Self::Share => icons::SHARE,
        }
    }
}

/// Which tab is open, and where the focus goes when the drawer closes.
#[derive(Clone, Copy)]
pub(super) struct DrawerState {
    /// The tab that is open.
    pub(super) open: RwSignal<Option<DrawerTab>>,
    /// The tab that was open last, and what was open when another resource was shown, by the number of the tab of each.
    last: StoredValue<(DrawerTab, Vec<Option<DrawerTab>>)>,
    opener: StoredValue<Option<web_sys::HtmlElement>, LocalStorage>,
    ui: Ui,
}

impl DrawerState {
    pub(super) fn new() -> Self {
        Self {
            ui: Ui::get(),
            open: RwSignal::new(None),
            last: StoredValue::new((DrawerTab::Why, Vec::new())),
            opener: StoredValue::new_local(None),
        }
    }

    /// Another resource is shown, in tab `to`: opens what was open there.
    pub(super) fn turn(self, from: u64, to: u64) {
        if from == to {
            return;
        }
        let [from, to] = [from, to].map(|tab| usize::try_from(tab).unwrap_or_default());
        let now = self.open.get_untracked();
        let mut next = None;
        self.last.update_value(|(_, kept)| {
            kept.resize(kept.len().max(from + 1).max(to + 1), None);
            kept[from] = now;
            next = kept[to];
        });
        if next != now {
            self.open.set(next);
        }
    }

    /// Shows a tab and leaves the focus where it is.
    pub(super) fn show(self, tab: DrawerTab) {
        let from = focused(self.ui);
        let is_new = from
            .as_ref()
            .is_some_and(|from| !is_inside(from) && from.tag_name() != "BODY");
        if is_new || self.open.get_untracked().is_none() {
            self.opener.set_value(from);
        }
        self.last.update_value(|last| last.0 = tab);
        // What it shows may not have come: then this asks for it again.
        if self.open.get_untracked() != Some(tab) || !has(Part::Seldom) {
            self.open.set(Some(tab));
        }
    }

    /// The tab that was open last.
    pub(super) fn last(self) -> DrawerTab {
        self.last.with_value(|last| last.0)
    }

    /// What the button of a tab does: it shows the tab and focuses it, or closes the drawer if the tab was shown.
    pub(super) fn toggle(self, tab: DrawerTab) {
        if self.open.get_untracked() == Some(tab) {
            self.close();
        } else {
            self.show(tab);
            focus_tab(self.ui, tab);
        }
    }

    /// Closes the drawer and returns the focus to where it was.
    pub(super) fn close(self) {
        let inside = focused(self.ui).is_some_and(|focused| is_inside(&focused));
        self.open.set(None);
        let opener = self.opener.try_update_value(Option::take).flatten();
        if inside && let Some(opener) = opener {
            let _ = opener.focus();
        }
    }
}

/// Focuses what `selector` finds in the drawer once the screen has changed: the element that had the focus may
/// have been drawn anew.
pub(super) fn focus_on(ui: Ui, selector: String) {
    let host = ui.host();
    spawn_local(async move {
        // The element exists once the effects of the command, and those of its changes, have run.
        for _ in 0..3 {
            leptos::task::tick().await;
        }
        focus(host.find(&selector));
    });
}

fn focused(ui: Ui) -> Option<web_sys::HtmlElement> {
    ui.host().active_element()?.dyn_into().ok()
}

fn is_inside(element: &web_sys::HtmlElement) -> bool {
    let drawer = element.closest("#drawer");
    drawer.is_ok_and(|drawer| drawer.is_some())
}

pub(super) fn focus_tab(ui: Ui, tab: DrawerTab) {
    focus_on(ui, format!("#drawer-tab-{}", tab.id()));
}
