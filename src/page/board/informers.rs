//! The informers of the tap that serves this page, in the place of the stage, and what is odd about them.

use leptos::prelude::*;

use super::parts::{Live, drawn, part, places, shown, text};
use crate::live::tapped::Tapped;
use crate::memo::Memo;
use crate::ui::{Shelved, Ui};
use deltascope_presentation::informers::{COLUMNS, MORE, Odd, Row, odd, pick, rows};

/// Whether the shelf shows the informers; tracks it.
pub(super) fn shows(ui: Ui) -> bool {
    ui.shelf.with(|shelf| shelf.informers)
}

/// The button that shows them, or the stage again; none on other pages.
pub(super) fn to_informers(ui: Ui) -> Option<AnyView> {
    use_context::<Tapped>()?;
    let on = move || ui.shelved() && shows(ui);
    let button = view! {
        <button
            class="chip to-shelf to-informers"
            class:on=on
            data-testid="btn-informers"
            aria-pressed=text(move || on().to_string())
            on:click=move |_| {
                if on() {
                    ui.show_stage();
                } else {
                    ui.show_shelf(Shelved::informers());
                }
            }
        >
            {ui.word(|words| words.informers)}
        </button>
    };
    Some(button.into_any())
}

#[component]
pub(super) fn Informers() -> impl IntoView {
    let ui = Ui::get();
    let tapped = expect_context::<Tapped>();
    let report = tapped.report;
    let trouble = tapped.trouble;
    let all = Memo::new(move |_| {
        let lang = ui.lang.get();
        report.with(|report| report.as_ref().map(|report| rows(report, lang)))
    });
    let found = Memo::new(move |_| {
        let lang = ui.lang.get();
        report.with(|report| report.as_ref().map(|report| odd(report, lang)))
    });
    let each = Memo::new(move |_| all.get().unwrap_or_default());
    let is_empty = Memo::new(move |_| each.with(Vec::is_empty));
    view! {
        <section
            class="shelf informers"
            data-testid="informers"
            role="main"
            aria-label=ui.word(|words| words.informers)
        >
            <div class="shelf-head">
                <h2>{ui.word(|words| words.informers)}</h2>
                {shown(
                    move || !is_empty.get(),
                    move || view! { <span class="found">{ui.word(|words| words.informers_choose)}</span> },
                )}
            </div>
            <div role="status" data-testid="informers-trouble">
                {part(move || {
                    let trouble = trouble.get()?;
                    Some(view! { <p class="gone">{trouble.get(ui.lang.get()).to_owned()}</p> })
                })}
            </div>
            {shown(
                move || all.with(Option::is_some) && is_empty.get(),
                move || view! { <p class="nothing">{ui.word(|words| words.informers_none)}</p> },
            )}
            {shown(move || !is_empty.get(), move || view! {
                <table>
                    {head(ui)}
                    <tbody>{places(each, move |row| one(ui, tapped, row))}</tbody>
                </table>
            })}
            {drawn(move || found.get().unwrap_or_default(), move |found| findings(ui, tapped, found))}
        </section>
    }
}

fn head(ui: Ui) -> Live<AnyView> {
    part(move || {
        let lang = ui.lang.get();
        let names = COLUMNS.iter().chain(&MORE);
        let names = names.map(|(en, zh)| view! { <th scope="col">{pick(lang, en, zh)}</th> });
        view! { <thead><tr>{names.collect_view()}</tr></thead> }
    })
}

fn one(ui: Ui, tapped: Tapped, row: Memo<Row>) -> AnyView {
    let cell = move |at: usize| {
        text(move || row.with(|row| row.cells.get(at).cloned().unwrap_or_default()))
    };
    let name = move |at: usize| {
        let column = COLUMNS.iter().chain(&MORE).nth(at);
        text(move || column.map_or("", |(en, zh)| pick(ui.lang.get(), en, zh)))
    };
    let others = 1..COLUMNS.len() + MORE.len();
    let others = others.map(|at| view! { <td data-name=name(at)>{cell(at)}</td> });
    view! {
        <tr>
            <th scope="row">
                <button
                    class="other"
                    data-testid=text(move || row.with(|row| format!("informer-{}", row.recording)))
                    disabled=move || row.with(|row| row.recording == 0)
                    on:click=move |_| tapped.follow(row.with_untracked(|row| row.recording), None)
                >
                    {cell(0)}
                </button>
                <small translate="no">{text(move || row.with(|row| row.client.clone()))}</small>
                <small>{text(move || row.with(|row| row.remark.unwrap_or_default()))}</small>
            </th>
            {others.collect_view()}
        </tr>
    }
    .into_any()
}

fn findings(ui: Ui, tapped: Tapped, found: &[Odd]) -> Option<AnyView> {
    let each = found.iter().map(|odd| {
        let moment = odd.shown.map(|(number, at)| {
            view! {
                <button
                    class="other"
                    // A second later, what follows from it has happened.
                    on:click=move |_| tapped.follow(number, Some(at + 1_000))
                >
                    {ui.word(|words| words.informers_moment)}
                </button>
            }
        });
        view! { <li>{odd.words.clone()} " " {moment}</li> }
    });
    (!found.is_empty()).then(|| {
        view! {
            <h3>{ui.word(|words| words.informers_odd)}</h3>
            <ul class="odd" data-testid="findings">{each.collect_view()}</ul>
        }
        .into_any()
    })
}
