//! What was dropped, where it was dropped: over the empty space of that place, until the next step.

use leptos::prelude::*;

use super::parts::part;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::drops::{DropRow, rows};
use deltascope_presentation::rows::type_class;
use deltascope_presentation::strings::{behind, spoken};

#[component]
pub(super) fn Drops(place: Anchor) -> impl IntoView {
    let ui = Ui::get();
    let dropped = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| rows(view, &place, lang))
    });
    part(move || {
        let lang = ui.lang.get();
        let one = |row: &DropRow| {
            let what = behind::is_dropped(lang, row.missed, &row.what);
            view! {
                <li
                    class=row.hue.map_or("", type_class)
                    class:missed=row.missed
                    data-testid="drop"
                    aria-label=spoken::parts([&*what, &*row.why])
                    translate="no"
                >
                    <b>{if row.missed { "?" } else { "×" }}</b>
                    <s>{row.what.clone()}</s>
                    <span>{row.why.clone()}</span>
                </li>
            }
        };
        dropped.with(|(rows, hidden)| {
            (!rows.is_empty()).then(|| {
                let more = (*hidden > 0).then(|| view! { <li>{format!("+{hidden}")}</li> });
                view! {
                    <ul class="drops" role="list" aria-label=behind::dropped(lang)>
                        {rows.iter().map(one).collect_view()}
                        {more}
                    </ul>
                }
            })
        })
    })
}
