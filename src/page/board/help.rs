//! The help: signs, keys and terms.

use leptos::prelude::*;

use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::keys::{HELP, Word};
use deltascope_presentation::rows::DeltaRow;
use deltascope_presentation::strings::story as said;
use deltascope_presentation::terms::TERMS;

use super::parts::{modal, text};
use super::token::Delta;

const SIGNS: [Word; 16] = [
    |words| words.legend_click,
    |words| words.legend_lit,
    |words| words.legend_gone,
    |words| words.legend_waits,
    |words| words.legend_dashed,
    |words| words.legend_rv,
    |words| words.legend_marks,
    |words| words.legend_ring,
    |words| words.legend_timeline,
    |words| words.legend_modes,
    |words| words.legend_lanes,
    |words| words.legend_block,
    |words| words.legend_behind,
    |words| words.legend_known,
    |words| words.legend_set,
    |words| words.legend_live,
];

/// The dialog. The browser keeps the focus in it and restores it afterwards.
#[component]
pub(super) fn Help(
    /// Whether the dialog is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let sheet = view! {
        <div class="sheet">
            <div class="head">
                <p class="about">{ui.word(|words| words.about)}</p>
                <button class="chip" on:click=move |_| open.set(false)>
                    {ui.word(|words| words.close)}
                </button>
            </div>
            <h2 id="help-title" role=ui.heading()>{ui.word(|words| words.legend_title)}</h2>
            <div class="legend">
                {[
                    DeltaType::Added,
                    DeltaType::Updated,
                    DeltaType::Deleted,
                    DeltaType::Replaced,
                    DeltaType::Sync,
                    DeltaType::Bookmark,
                ]
                    .map(DeltaRow::bare)
                    .into_iter()
                    .map(|row| view! { <Delta row=Memo::fixed(row) /> })
                    .collect_view()}
            </div>
            <ul class="signs">
                {SIGNS.map(|text| view! { <li>{ui.word(text)}</li> }).into_iter().collect_view()}
            </ul>
            <h3 role=ui.heading()>{ui.word(|words| words.keys_title)}</h3>
            <dl class="keys">
                {HELP.map(|(keys, text)| view! {
                    <div>
                        <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dt>
                        <dd>{ui.word(text)}</dd>
                    </div>
                }).into_iter().collect_view()}
            </dl>
            <h3 role=ui.heading()>{ui.word(|words| words.eras_title)}</h3>
            <dl class="terms" data-testid="help-eras">
                {Generation::ALL.map(|era| view! {
                    <div>
                        <dt>{era.as_str()}</dt>
                        <dd>{text(move || said::generation(ui.lang.get(), era))}</dd>
                    </div>
                }).into_iter().collect_view()}
            </dl>
            <h3 role=ui.heading()>{ui.word(|words| words.terms_title)}</h3>
            <dl class="terms">
                {TERMS.each_ref().map(|term| view! {
                    <div>
                        <dt>{text(move || term.name(ui.lang.get()))}</dt>
                        <dd>{text(move || term.says(ui.lang.get()))}</dd>
                    </div>
                }).into_iter().collect_view()}
            </dl>
        </div>
    };
    modal(open, "help", "help-title", sheet.into_any())
}
