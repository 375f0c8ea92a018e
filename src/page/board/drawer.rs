//! The drawer: a panel over the lower rooms, or over the Indexer if the question is about one of those, whose tabs
//! answer questions about the run. It is not modal: the stage goes on beside it.

use leptos::prelude::*;

use super::icons;
use super::later::later;
use super::layout::Layout;
use super::parts::{along, focus, part, shown, text};
use super::tabs::{DrawerTab, focus_tab};
use super::{branches, checks, compare, share, table, until, why};
use crate::later::Part;
use crate::ui::{ON, Ui, remember, remembered};
use deltascope_presentation::stage::Panel;

/// Remembers that all tools are shown.
const TOOLS: &str = "tools";

fn view(tab: DrawerTab) -> AnyView {
    match tab {
        DrawerTab::Why => why::Why().into_any(),
        DrawerTab::Until => until::Until().into_any(),
        DrawerTab::Branches => branches::Branches().into_any(),
        DrawerTab::Checks => checks::Checks().into_any(),
        DrawerTab::Table => table::Table().into_any(),
        DrawerTab::Share => share::Share().into_any(),
    }
}

/// The buttons that open the tabs. Where there is little room, one button stands for all.
#[component]
pub(super) fn Tools() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let drawer = layout.drawer;
    let button = move |tab: DrawerTab| {
        let on = move || drawer.open.get() == Some(tab);
        view! {
            <button
                data-testid=format!("btn-{}", tab.id())
                aria-label=text(move || tab.word(ui.words()))
                title=text(move || tab.title(ui.words()))
                aria-expanded=text(move || on().to_string())
                aria-controls="drawer"
                class:on=on
                on:click=move |_| drawer.toggle(tab)
            >
                {icons::drawn(tab.icon())}
                <span class="label">{text(move || tab.word(ui.words()))}</span>
            </button>
        }
    };
    // Whoever sees the board for the first time has enough to look at.
    let few = RwSignal::new(ui.host().is_page() && remembered(TOOLS).is_none());
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
                                        .unwrap_or_else(|| drawer.last()),
                                );
                            }
                        >
                            "⋯"
                        </button>
                    }
                        .into_any()
                } else {
                    let all = DrawerTab::ALL.iter().filter(|tab| !few.get() || !tab.is_rare());
                    let more = few.get().then(|| view! {
                        <button
                            data-testid="btn-tools"
                            aria-label=ui.word(|words| words.more_tools)
                            title=ui.word(|words| words.more_tools)
                            on:click=move |_| {
                                remember(TOOLS, ON);
                                few.set(false);
                                let host = ui.host();
                                request_animation_frame(move || focus(host.find("[data-testid=btn-until]")));
                            }
                        >
                            "⋯"
                        </button>
                    });
                    view! { {all.map(|tab| button(*tab)).collect_view()} {more} }.into_any()
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
    // Never over the room that the question is about. Beside two runs it is narrow and high, too.
    let aside = ui.memo(|view| {
        let room = view.selection.as_ref().map(|one| one.anchor.room());
        view.beside.is_some() || matches!(room, Some(Panel::Now | Panel::Processor))
    });
    let on_key = move |event: web_sys::KeyboardEvent| {
        let Some(open) = drawer.open.get_untracked() else {
            return;
        };
        let at = DrawerTab::ALL.iter().position(|tab| *tab == open);
        if let Some(to) = along(&event, at, DrawerTab::ALL.len()) {
            drawer.show(DrawerTab::ALL[to]);
            focus_tab(ui, DrawerTab::ALL[to]);
        }
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
                            .map(|tab| {
                                let tab = *tab;
                                let on = move || drawer.open.get() == Some(tab);
                                view! {
                                    <button
                                        role="tab"
                                        id=format!("drawer-tab-{}", tab.id())
                                        aria-controls="drawer-panel"
                                        aria-selected=text(move || on().to_string())
                                        tabindex=text(move || if on() { "0" } else { "-1" })
                                        on:click=move |_| drawer.show(tab)
                                    >
                                        {text(move || tab.word(ui.words()))}
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
                    {part(move || {
                        let tab = drawer.open.get()?;
                        Some(later(Part::Seldom, || true, move || view(tab)))
                    })}
                </div>
            </section>
        })}
    }
}
