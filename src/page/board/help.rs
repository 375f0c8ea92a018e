//! The help: signs and keys.

use leptos::prelude::*;

use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::key::Key;
use deltascope_presentation::rows::{DeltaRow, RvText};

use super::parts::{Text, modal};
use super::token::Delta;

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
                    .map(sample)
                    .into_iter()
                    .map(|row| view! { <Delta row=Memo::fixed(row) /> })
                    .collect_view()}
            </div>
            <ul class="signs">
                <li>{ui.word(|words| words.legend_click)}</li>
                <li>{ui.word(|words| words.legend_lit)}</li>
                <li>{ui.word(|words| words.legend_gone)}</li>
                <li>{ui.word(|words| words.legend_waits)}</li>
                <li>{ui.word(|words| words.legend_dashed)}</li>
                <li>{ui.word(|words| words.legend_rv)}</li>
                <li>{ui.word(|words| words.legend_marks)}</li>
                <li>{ui.word(|words| words.legend_ring)}</li>
                <li>{ui.word(|words| words.legend_timeline)}</li>
                <li>{ui.word(|words| words.legend_lanes)}</li>
                <li>{ui.word(|words| words.legend_block)}</li>
                <li>{ui.word(|words| words.legend_behind)}</li>
                <li>{ui.word(|words| words.legend_live)}</li>
            </ul>
            <h3 role=ui.heading()>{ui.word(|words| words.keys_title)}</h3>
            <dl class="keys">
                <Row keys=&["␣"] text=ui.word(|words| words.key_play) />
                <Row keys=&["←", "→", "PgUp", "PgDn"] text=ui.word(|words| words.key_step) />
                <Row keys=&["⇧ ←", "⇧ →"] text=ui.word(|words| words.key_coarse) />
                <Row keys=&[",", "."] text=ui.word(|words| words.key_micro) />
                <Row keys=&["[", "]"] text=ui.word(|words| words.key_marker) />
                <Row keys=&["Tab", "↑", "↓", "↵"] text=ui.word(|words| words.key_things) />
                <Row keys=&["0", "…", "9"] text=ui.word(|words| words.key_tenths) />
                <Row keys=&["F"] text=ui.word(|words| words.key_fork) />
                <Row keys=&["R"] text=ui.word(|words| words.key_reset) />
                <Row keys=&["/"] text=ui.word(|words| words.key_shelf) />
                <Row keys=&["M"] text=ui.word(|words| words.key_story) />
                <Row keys=&["P"] text=ui.word(|words| words.key_present) />
                <Row keys=&["B", "."] text=ui.word(|words| words.key_blank) />
                <Row keys=&["Q"] text=ui.word(|words| words.key_code) />
                <Row keys=&["Esc"] text=ui.word(|words| words.key_close) />
                <Row keys=&["?"] text=ui.word(|words| words.key_help) />
            </dl>
        </div>
    };
    modal(open, "help", "help-title", sheet.into_any())
}

#[component]
fn Row(keys: &'static [&'static str], text: Text) -> impl IntoView {
    view! {
        <div>
            <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dt>
            <dd>{text}</dd>
        </div>
    }
}

fn sample(delta_type: DeltaType) -> DeltaRow {
    DeltaRow {
        plain: false,
        index: 0,
        delta_type,
        key: Key::from(""),
        rv: RvText::default(),
        tombstone: false,
        lit: false,
        done: false,
        about: None,
    }
}
