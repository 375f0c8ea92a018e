//! The informers of the tap that serves this page, in the place of the stage, and what is odd about them.

use leptos::prelude::*;

use super::parts::{drawn, part, places, shown, text};
use crate::live::tapped::Tapped;
use crate::memo::Memo;
use crate::ui::{Shelved, Ui};
use deltascope_presentation::informers::{self, Odd, Row};
use deltascope_world::text::Text;

/// The button that shows them, or the stage again; none on other pages.
pub(super) fn to_informers(ui: Ui) -> Option<AnyView> {
    use_context::<Tapped>()?;
    let on = move || ui.shows_informers();
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
                    ui.show_shelf(Shelved::Informers);
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
    tapped.ask_on(ui);
    let (said, gone) = (tapped.said, tapped.gone);
    let rows = Memo::new(move |_| {
        said.with(|said| {
            said.as_ref()
                .map_or_else(Vec::new, |said| said.rows.clone())
        })
    });
    let odd = move || said.with(|said| said.as_ref().map(|said| said.odd.clone()));
    let is_empty = Memo::new(move |_| rows.with(Vec::is_empty));
    view! {
        <section
            class="shelf informers"
            data-testid="informers"
            role="main"
            aria-label=ui.word(|words| words.informers)
        >
            <div class="shelf-head">
                <h2>{ui.word(|words| words.informers)}</h2>
                <span class="found">
                    {text(move || {
                        let (words, known) = (ui.words(), said.with(Option::is_some));
                        match is_empty.get() {
                            true if known => words.informers_none,
                            true => "",
                            false => words.informers_choose,
                        }
                    })}
                </span>
            </div>
            <p class="gone" role="status" data-testid="informers-trouble">
                {text(move || {
                    let words = if gone.get() { informers::gone() } else { Text::default() };
                    words.get(ui.lang.get()).to_owned()
                })}
            </p>
            {part(move || {
                let lang = ui.lang.get();
                let said = said.get();
                said.filter(|said| !said.log.en.is_empty()).map(|said| view! {
                    <p class="small" data-testid="informers-log">{said.log.get(lang).to_owned()}</p>
                })
            })}
            {shown(move || !is_empty.get(), move || view! {
                <table>
                    <thead><tr>{part(move || {
                        let lang = ui.lang.get();
                        // They stay as they are.
                        let heads = said.get_untracked();
                        let heads = heads.iter().flat_map(|said| &said.columns);
                        heads.map(|head| view! { <th scope="col">{head.get(lang).to_owned()}</th> }).collect_view()
                    })}</tr></thead>
                    <tbody>{places(rows, move |row| one(ui, tapped, row))}</tbody>
                </table>
            })}
            {drawn(move || (odd().unwrap_or_default(), ui.lang.get()), move |(odd, _)| findings(ui, tapped, odd))}
        </section>
    }
}

fn one(ui: Ui, tapped: Tapped, row: Memo<Row>) -> AnyView {
    let cell = move |at: usize| {
        let cell = move |row: &Row| {
            row.cells
                .get(at)
                .map(|cell| cell.get(ui.lang.get()).to_owned())
        };
        text(move || row.with(cell).unwrap_or_default())
    };
    let head = move |at: usize| {
        text(move || {
            tapped.said.with(|said| {
                let head = said.as_ref().and_then(|said| said.columns.get(at));
                head.map_or_else(String::new, |head| head.get(ui.lang.get()).to_owned())
            })
        })
    };
    let others = 1..row.with_untracked(|row| row.cells.len());
    let others = others.map(|at| view! { <td data-name=head(at)>{cell(at)}</td> });
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
                <small>{text(move || row.with(|row| row.remark.get(ui.lang.get()).to_owned()))}</small>
            </th>
            {others.collect_view()}
        </tr>
    }
    .into_any()
}

fn findings(ui: Ui, tapped: Tapped, odd: &[Odd]) -> Option<AnyView> {
    let each = odd.iter().map(|one| {
        let (number, part, at) = (one.recording, one.part, one.at);
        let moment = (number > 0).then(|| {
            view! {
                <button
                    class="other"
                    // A second later, what follows from it has happened.
                    on:click=move |_| tapped.follow(number, Some((part, at + 1_000)))
                >
                    {ui.word(|words| words.informers_moment)}
                </button>
            }
        });
        let words = one.words.get(ui.lang.get_untracked()).to_owned();
        view! { <li>{words} " " {moment}</li> }
    });
    (!odd.is_empty()).then(|| {
        view! {
            <h3>{ui.word(|words| words.informers_odd)}</h3>
            <ul class="odd" data-testid="findings">{each.collect_view()}</ul>
        }
        .into_any()
    })
}
