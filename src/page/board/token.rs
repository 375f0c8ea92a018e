//! A delta as a token, and a thing as a chip.

use leptos::prelude::*;

use super::frame::rv;
use super::icons::{self, drawn, glyph};
use super::parts::{part, text};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::DeltaRow;
use deltascope_presentation::rows::compare::Chip;

/// A delta. Its element stays while its row changes.
#[component]
pub(super) fn Delta(
    row: Memo<DeltaRow>,
    /// Its anchor, if it is on the stage.
    #[prop(optional)]
    anchor: Option<Anchor>,
    /// Whether it is an item of a list.
    #[prop(optional)]
    listed: bool,
    /// Whether it shows only its glyph and its version.
    #[prop(optional)]
    small: Option<Memo<bool>>,
    #[prop(optional)] testid: &'static str,
) -> impl IntoView {
    let ui = Ui::get();
    let class = text(move || {
        row.with(|row| {
            let mut class = format!("d {}", row.class());
            for (on, name) in [
                (row.tombstone, " tombstone"),
                (row.lit, " new"),
                (row.done, " done"),
                (row.about.is_some(), " about"),
                (row.rv.is_long(), " long"),
                (row.rv.is_medium(), " medium"),
                (small.is_some_and(Memo::get), " small"),
            ] {
                if on {
                    class.push_str(name);
                }
            }
            class
        })
    });
    view! {
        <div
            class=class
            role=if listed { "listitem" } else { "group" }
            data-anchor=anchor.map(|anchor| anchor.to_string()).unwrap_or_default()
            data-testid=(!testid.is_empty()).then_some(testid)
            title=text(move || row.with(|row| row.title(ui.words().tombstone)))
            translate="no"
        >
            {icons::delta(text(move || row.with(|row| glyph(row.delta_type))))}
            <span class="t">
                {part(move || {
                    row.with(|row| match &row.about {
                        Some((mark, name)) => {
                            view! { <i class=mark.class()></i> {name.clone()} }.into_any()
                        }
                        None => row.delta_type.as_str().into_any(),
                    })
                })}
                {part(move || row.with(|row| row.tombstone).then_some("?"))}
            </span>
            <em>{rv(Memo::new(move |_| row.with(|row| row.rv.clone())))}</em>
        </div>
    }
}

/// A thing of a comparison.
pub(super) fn chip(chip: &Chip) -> AnyView {
    let about = chip.about.iter().map(|(mark, name, rv)| {
        view! {
            <span class="o">
                {mark.map(|mark| view! { <i class=mark.class()></i> })}
                <span class="n">{name.clone()}</span>
                {(!rv.is_empty()).then(|| view! { <em>{rv.clone()}</em> })}
            </span>
        }
    });
    view! {
        <span class=format!("c {}", chip.class()) title=chip.title.clone() translate="no">
            {chip.glyph.map(sign)}
            {(!chip.text.is_empty()).then(|| view! { <span class="t">{chip.text.clone()}</span> })}
            {about.collect_view()}
        </span>
    }
    .into_any()
}

/// The glyph of a type.
pub(super) fn sign(delta_type: DeltaType) -> AnyView {
    drawn(glyph(delta_type)).into_any()
}
