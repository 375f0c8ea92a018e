//! The drawer: a panel over the lower rooms, or over the Indexer if the question is about one of those, whose tabs
//! answer questions about the run. It is not modal: the stage goes on beside it.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;

use super::icons;
use super::layout::Layout;
use super::parts::{part, shown, text};
use super::{branches, checks, compare, share, table, until, why};
use crate::ui::Ui;
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::Strings;

/// A tab of the drawer. To add one: a variant, and a line in each of the functions below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawerTab {
    /// Why something is so: its chain of causes.
    Why,
    /// Run until a condition, and breakpoints.
    Until,
    /// The branches of the run.
    Branches,
    /// The invariants that are checked along the run.
    Checks,
    /// The stage as a table.
    Table,
    /// Links and files.
    Share,
}

impl DrawerTab {
    /// All tabs, in the order on screen.
    const ALL: &[Self] = &[
        Self::Why,
        Self::Until,
        Self::Branches,
        Self::Checks,
        Self::Table,
        Self::Share,
    ];

    /// The name in ids and test ids.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::Until => "until",
            Self::Branches => "branches",
            Self::Checks => "checks",
            Self::Table => "table",
            Self::Share => "share",
        }
    }

    fn word(self, words: &Strings) -> &'static str {
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
    fn title(self, words: &Strings) -> &'static str {
        match self {
            Self::Why => words.drawer_why_title,
            Self::Until => words.until_tip,
            Self::Branches => words.branches_title,
            Self::Checks => words.checks,
            Self::Table => words.table_title,
            Self::Share => words.drawer_share_title,
        }
    }

    fn icon(self) -> &'static str {
        match self {
            Self::Why => icons::WHY,
            Self::Until => icons::UNTIL,
            Self::Branches => icons::BRANCHES,
            Self::Checks => icons::CHECKS,
            Self::Table => icons::TABLE,
            Self::Share => icons::SHARE,
        }
    }

    fn view(self) -> AnyView {
        match self {
            Self::Why => why::Why().into_any(),
            Self::Until => until::Until().into_any(),
            Self::Branches => branches::Branches().into_any(),
            Self::Checks => checks::Checks().into_any(),
            Self::Table => table::Table().into_any(),
            Self::Share => share::Share().into_any(),
        }
    }
}

/// Which tab is open, and where the focus goes when the drawer closes.
#[derive(Clone, Copy)]
pub(super) struct DrawerState {
    /// The tab that is open.
    pub(super) open: RwSignal<Option<DrawerTab>>,
    /// The tab that was open last.
    last: StoredValue<DrawerTab>,
    opener: StoredValue<Option<web_sys::HtmlElement>, LocalStorage>,
    ui: Ui,
}

impl DrawerState {
    pub(super) fn new() -> Self {
        Self {
            ui: Ui::get(),
            open: RwSignal::new(None),
            last: StoredValue::new(DrawerTab::Why),
            opener: StoredValue::new_local(None),
        }
    }

    /// Shows a tab and leaves the focus where it is.
    pub(super) fn show(self, panel: DrawerTab) {
        let from = focused(self.ui);
        let is_new = from
            .as_ref()
            .is_some_and(|from| !is_inside(from) && from.tag_name() != "BODY");
        if is_new || self.open.get_untracked().is_none() {
            self.opener.set_value(from);
        }
        self.last.set_value(panel);
        if self.open.get_untracked() != Some(panel) {
            self.open.set(Some(panel));
        }
    }

    /// What the button of a tab does: it shows the tab and focuses it, or closes the drawer if the tab was shown.
    pub(super) fn toggle(self, panel: DrawerTab) {
        if self.open.get_untracked() == Some(panel) {
            self.close();
        } else {
            self.show(panel);
            focus_tab(self.ui, panel);
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

/// The buttons that open the tabs. Where there is little room, one button stands for all.
#[component]
pub(super) fn Tools() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let drawer = layout.drawer;
    let button = move |panel: DrawerTab| {
        let on = move || drawer.open.get() == Some(panel);
        view! {
            <button
                data-testid=format!("btn-{}", panel.id())
                aria-label=text(move || panel.word(ui.words()))
                title=text(move || panel.title(ui.words()))
                aria-expanded=text(move || on().to_string())
                aria-controls="drawer"
                class:on=on
                on:click=move |_| drawer.toggle(panel)
            >
                {icons::drawn(panel.icon())}
            </button>
        }
    };
    view! {
        <div class="tools" role="group" aria-label=ui.word(|words| words.drawer)>
            {shown(move || !layout.narrow.get(), compare::Toggle)}
            {part(move || {
                if layout.narrow.get() {
                    let on = move || drawer.open.get().is_some();
                    view! {
                        <button
                            data-testid="btn-drawer"
                            aria-label=ui.word(|words| words.drawer)
                            title=ui.word(|words| words.drawer)
                            aria-expanded=text(move || on().to_string())
                            aria-controls="drawer"
                            class:on=on
                            on:click=move |_| {
                                drawer.toggle(
                                    drawer
                                        .open
                                        .get_untracked()
                                        .unwrap_or_else(|| drawer.last.get_value()),
                                );
                            }
                        >
                            "⋯"
                        </button>
                    }
                        .into_any()
                } else {
                    DrawerTab::ALL.iter().map(|panel| button(*panel)).collect_view().into_any()
                }
            })}
        </div>
    }
}

#[component]
pub(super) fn Drawer() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let drawer = layout.drawer;
    // Never over the room that the question is about.
    let aside = ui.memo(|view| {
        let room = view.selection.as_ref().map(|one| one.anchor.room());
        matches!(room, Some(Panel::Now | Panel::Processor))
    });
    let on_key = move |event: web_sys::KeyboardEvent| {
        let Some(open) = drawer.open.get_untracked() else {
            return;
        };
        let at = DrawerTab::ALL.iter().position(|panel| *panel == open);
        let (at, count) = (at.unwrap_or_default(), DrawerTab::ALL.len());
        let to = match event.key().as_str() {
            "ArrowRight" => (at + 1) % count,
            "ArrowLeft" => (at + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        drawer.show(DrawerTab::ALL[to]);
        focus_tab(ui, DrawerTab::ALL[to]);
    };
    view! {
        {shown(move || drawer.open.get().is_some(), move || view! {
            <section
                id="drawer"
                class="drawer"
                class:aside=move || aside.get()
                data-testid="drawer"
                aria-label=ui.word(|words| words.drawer)
            >
                <div class="drawer-head">
                    <div
                        class="tabs"
                        role="tablist"
                        aria-label=ui.word(|words| words.drawer)
                        on:keydown=on_key
                    >
                        {DrawerTab::ALL
                            .iter()
                            .map(|panel| {
                                let panel = *panel;
                                let on = move || drawer.open.get() == Some(panel);
                                view! {
                                    <button
                                        role="tab"
                                        id=format!("drawer-tab-{}", panel.id())
                                        aria-controls="drawer-panel"
                                        aria-selected=text(move || on().to_string())
                                        tabindex=text(move || if on() { "0" } else { "-1" })
                                        on:click=move |_| drawer.show(panel)
                                    >
                                        {text(move || panel.word(ui.words()))}
                                    </button>
                                }
                            })
                            .collect_view()}
                    </div>
                    // The header has no room for this button on a narrow screen.
                    {shown(move || layout.narrow.get(), || {
                        view! { <div class="tools"><compare::Toggle /></div> }
                    })}
                    <button
                        class="chip round"
                        data-testid="drawer-close"
                        aria-label=ui.word(|words| words.close)
                        title=text(move || format!("{} (Esc)", ui.words().close))
                        on:click=move |_| drawer.close()
                    >
                        "×"
                    </button>
                </div>
                <div
                    id="drawer-panel"
                    class=text(move || {
                        let open = drawer.open.get().unwrap_or(DrawerTab::Why);
                        format!("drawer-panel of-{}", open.id())
                    })
                    role="tabpanel"
                    tabindex="0"
                    aria-labelledby=text(move || {
                        let open = drawer.open.get().unwrap_or(DrawerTab::Why);
                        format!("drawer-tab-{}", open.id())
                    })
                >
                    {part(move || drawer.open.get().map(DrawerTab::view))}
                </div>
            </section>
        })}
    }
}

fn is_inside(element: &web_sys::HtmlElement) -> bool {
    let drawer = element.closest("#drawer");
    drawer.is_ok_and(|drawer| drawer.is_some())
}

fn focused(ui: Ui) -> Option<web_sys::HtmlElement> {
    ui.host().active_element()?.dyn_into().ok()
}

fn focus_tab(ui: Ui, panel: DrawerTab) {
    focus_on(ui, format!("#drawer-tab-{}", panel.id()));
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
        let found = host.find(&selector);
        if let Some(found) = found.and_then(|found| found.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = found.focus();
        }
    });
}
