//! The drawer's tab `table`: where each key is, and in which version, for users who do not see the stage.

use leptos::prelude::*;

use super::parts::part;
use crate::ui::Ui;
use deltascope_presentation::rows::table::{KeyRow, rows};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings;

#[component]
pub(super) fn Table() -> impl IntoView {
    let ui = Ui::get();
    let lang = ui.lang;
    let rows = ui.memo(move |view| rows(view, lang.get()));
    part(move || {
        let (words, lang) = (ui.words(), lang.get());
        let rooms = [Panel::Api, Panel::Queue, Panel::Pop, Panel::Indexer];
        let rooms = rooms.map(|room| strings::room(lang, room).to_owned());
        rows.with(|rows| {
            let handlers = rows.handlers.iter().map(|name| name.to_string());
            let head = rooms.into_iter().chain(handlers);
            let head = head.map(|name| view! { <th scope="col">{name}</th> });
            let hidden = (rows.hidden > 0)
                .then(|| view! { <p class="empty">{strings::more(lang, rows.hidden)}</p> });
            view! {
                <table class="keys-table" data-testid="keys-table">
                    <caption>{words.table_title}</caption>
                    <thead>
                        <tr>
                            <th scope="col" translate="no">"key"</th>
                            {head.collect_view()}
                        </tr>
                    </thead>
                    <tbody translate="no">{rows.keys.iter().map(row).collect_view()}</tbody>
                </table>
                {hidden}
            }
        })
    })
}

fn row(row: &KeyRow) -> AnyView {
    let cells = row.cells.iter();
    let cells = cells.map(|cell| view! { <td>{cell.clone()}</td> });
    view! {
        <tr>
            <th scope="row">{row.key.to_string()}</th>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}
