//! The card of the informers beside the one that is shown.

use leptos::prelude::*;

use super::processor::{row, tag};
use crate::ui::Ui;
use deltascope_presentation::anchor::{Anchor, BesidePart};
use deltascope_presentation::rows::beside::BesideRows;
use deltascope_presentation::strings;

/// An item of a line that is no key.
fn plain(text: String) -> AnyView {
    view! { <span role="listitem">{text}</span> }.into_any()
}

pub(super) fn card(ui: Ui, rows: BesideRows) -> AnyView {
    let of = Anchor::Beside;
    let lang = ui.lang.get();
    let words = ui.words();
    let heading = words.beside.to_owned();
    let mut lines = vec![row(
        &of(BesidePart::Whole),
        heading,
        String::new(),
        Vec::new(),
    )];
    for (shared, part) in [(true, BesidePart::Shared), (false, BesidePart::Alone)] {
        let Some((informers, text)) = rows.sum(shared) else {
            continue;
        };
        let label = strings::informers(lang, informers, shared);
        lines.push(row(&of(part), label, String::new(), vec![plain(text)]));
    }
    for store in rows.stores {
        let mut tags: Vec<AnyView> = store
            .objects
            .into_iter()
            .map(|key| {
                let anchor = of(BesidePart::Store(Some(key.key.clone())));
                tag(&anchor, key)
            })
            .collect();
        if store.hidden > 0 {
            tags.push(plain(format!("+{}", store.hidden)));
        } else if tags.is_empty() {
            tags.push(plain(words.empty_store.to_owned()));
        }
        let label = strings::informer_store(lang, store.number);
        lines.push(row(
            &of(BesidePart::Store(None)),
            label,
            String::new(),
            tags,
        ));
    }
    view! {
        <div class="beside" data-testid="beside" title=words.beside_title tabindex="0">
            {lines}
        </div>
    }
    .into_any()
}
