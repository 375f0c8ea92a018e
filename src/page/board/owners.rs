//! Who owns the selected object, and what it owns: links to the tabs in which that is.

use leptos::prelude::*;

use super::layout::Layout;
use super::parts::part;
use super::tabs::DrawerTab;
use super::together::turn;
use crate::live::Link;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::cluster::owners::{Act, Line};

/// The relations of the object of this key.
pub(super) fn related(ui: Ui, key: Key) -> AnyView {
    let (layout, link) = (Layout::get(), Link::get());
    // At the edge the tabs say when something has come; to look at each fact would take long on a busy cluster.
    let moment = ui.memo(|view| match view.live {
        Some(live) if live.following => None,
        _ => Some(view.step),
    });
    // In the past a count in the strip changes nothing.
    let ids = Memo::new(move |_| {
        let tabs = link.tabs.get();
        tabs.iter().map(|tab| tab.id).collect::<Vec<_>>()
    });
    let lines = Memo::new(move |_| {
        match moment.get() {
            None => link.tabs.track(),
            Some(_) => ids.track(),
        }
        link.related(&key, ui.lang.get())
    });
    let go = move |(name, act): (String, Act)| {
        let go = move |_| match act.clone() {
            Act::Show(tab, key) => {
                turn(layout, link, || link.show_object(tab, key));
                layout.drawer.show(DrawerTab::Why);
            }
            Act::Watch(kind, namespace) => {
                layout.wish.set_value(Some((kind, namespace)));
                layout.cluster.set(true);
            }
        };
        view! {
            <button class="btn" on:click=go>
                {name}
            </button>
        }
        .into_any()
    };
    let line = move |Line { text, links }: Line| {
        view! {
            <p>
                {text} {links.into_iter().map(go).collect_view()}
            </p>
        }
        .into_any()
    };
    view! {
        <div class="related">
            {part(move || lines.get().into_iter().map(line).collect_view())}
        </div>
    }
    .into_any()
}
