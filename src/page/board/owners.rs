//! Who owns the selected object, and what it owns: links to the tabs in which that is.

use leptos::prelude::*;

use super::layout::{Layout, Wish};
use super::parts::part;
use super::tabs::DrawerTab;
use super::together::turn;
use crate::live::Link;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::cluster::owners::{Owned, Owner, Place};
use deltascope_presentation::strings;
use deltascope_presentation::strings::together::{absent, beside, owned_by, owns};

/// The relations of the object of this key.
pub(super) fn related(ui: Ui, key: Key) -> AnyView {
    let (layout, link) = (Layout::get(), Link::get());
    // At the edge the tabs say when something has come; to look at each fact would take long on a busy cluster.
    let moment = ui.memo(|view| match view.live {
        Some(live) if live.following => None,
        _ => Some(view.step),
    });
    let relations = Memo::new(move |_| {
        moment.track();
        link.tabs.track();
        link.shown.track();
        link.relations(&key)
    });
    let title = move |id: u64| {
        link.tabs.with_untracked(|tabs| {
            let tab = tabs.iter().find(|tab| tab.id == id);
            tab.map(|tab| tab.title.get(ui.lang.get()).to_owned())
                .unwrap_or_default()
        })
    };
    let go = move |tab: u64, key: Key, name: String| {
        view! {
            <button
                class="btn"
                data-testid="to-related"
                on:click=move |_| {
                    turn(layout, link, || link.show_object(tab, key.clone()));
                    layout.drawer.show(DrawerTab::Why);
                }
            >
                {name}
            </button>
        }
    };
    let owner = move |one: &Owner| {
        let lang = ui.lang.get();
        let named = owned_by(lang, &one.kind.name, &one.name);
        match one.place.clone() {
            Place::Found(tab, key) => {
                let named = format!("{named} → {}", title(tab));
                view! { <p>{go(tab, key, named)}</p> }.into_any()
            }
            Place::Absent(tab) => {
                let absent = absent(lang, &title(tab));
                view! { <p>{format!("{named}{absent}")}</p> }.into_any()
            }
            Place::Unwatched => {
                let wish = Wish {
                    kind: one.kind.clone(),
                    namespace: one.namespace.clone(),
                };
                let is_on = link.status.with(|status| status.is_on());
                let offer = is_on.then(|| {
                    view! {
                        <button
                            class="btn"
                            data-testid="watch-owner"
                            aria-haspopup="dialog"
                            on:click=move |_| {
                                layout.wish.set(Some(wish.clone()));
                                layout.cluster.set(true);
                            }
                        >
                            {beside(lang, &one.kind.name)}
                            " …"
                        </button>
                    }
                });
                view! { <p>{named} " " {offer}</p> }.into_any()
            }
        }
    };
    let owned = move |one: &Owned| {
        let lang = ui.lang.get();
        let more = one.count - one.keys.len();
        let named = format!("{} → {}", owns(lang, one.count, &one.kind), title(one.tab));
        let links = one
            .keys
            .iter()
            .map(|key| go(one.tab, key.clone(), key.to_string()));
        view! {
            <p>
                {named} " " {links.collect_view()}
                {(more > 0).then(|| strings::more(lang, more))}
            </p>
        }
    };
    view! {
        <div class="related" data-testid="related">
            {part(move || relations.with(|all| {
                let owners = all.owners.iter().map(owner).collect_view();
                let owned = all.owned.iter().map(owned).collect_view();
                (owners, owned)
            }))}
        </div>
    }
    .into_any()
}
