//! The four generations in place of the stage: a lane each, at one time.

use leptos::prelude::*;

use super::icons;
use super::parts::{part, text};
use super::token::chip;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::controller::Generation;
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::race::{self, CellRow, LaneRow};
use deltascope_presentation::strings::{self, Strings};
use deltascope_replay::race::LANES;

/// The buttons that lead from parting to parting.
#[component]
pub(super) fn Partings() -> impl IntoView {
    let ui = Ui::get();
    let parting = move |on: bool, word: fn(&'static Strings) -> &'static str| {
        view! {
            <button
                class="chip round"
                class:turned=!on
                data-testid=if on { "next-parting" } else { "previous-parting" }
                aria-label=ui.word(word)
                title=text(move || format!("{} (⇧{})", word(ui.words()), if on { "→" } else { "←" }))
                on:click=move |_| ui.send(Command::Walk { on, coarser: true })
            >
                {icons::filled(icons::NEXT)}
            </button>
        }
    };
    let count = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| {
            view.race()
                .map_or_else(String::new, |race| strings::partings(lang, race))
        })
    });
    view! {
        {parting(false, |words| words.previous_parting)}
        <span class="partings" data-testid="partings">{text(move || count.get())}</span>
        {parting(true, |words| words.next_parting)}
    }
}

#[component]
pub(super) fn Lanes() -> impl IntoView {
    let ui = Ui::get();
    let lanes = Memo::new(move |_| race::lanes(&ui.view.get(), ui.lang.get()));
    let said = Memo::new(move |_| race::said(&ui.view.get(), ui.lang.get()).unwrap_or_default());
    let playing = ui.memo(|view| view.playing);
    let parts = ui.memo(|view| view.race().is_some_and(|race| race.moment.parts));
    view! {
        <p
            class="race-said"
            class:parts=move || parts.get()
            data-testid="race-said"
            aria-live=text(move || if playing.get() { "off" } else { "polite" })
            aria-atomic="true"
            translate="yes"
        >
            {text(move || said.get())}
        </p>
        <ol class="race-lanes" tabindex="0" aria-label=ui.word(|words| words.race)>
            {(0..LANES).map(|number| lane(ui, lanes, number)).collect_view()}
        </ol>
    }
}

/// A lane. Its button stays, so that it keeps the focus.
fn lane(ui: Ui, lanes: Memo<Vec<LaneRow>>, number: usize) -> AnyView {
    let generation = Generation::ALL[number];
    let era = generation.version();
    let own = ui.memo(move |view| view.race().is_some_and(|race| race.own == number));
    view! {
        <li class="race-lane" class:own=move || own.get() data-era=era>
            <button
                class="lane-name"
                data-testid=format!("lane-{era}")
                title=ui.word(|words| words.open_lane)
                aria-current=text(move || own.get().to_string())
                disabled=move || ui.shape.with(|shape| shape.watch)
                on:click=move |_| {
                    ui.send(Command::Generation(generation));
                    ui.send(Command::CloseCompare);
                }
            >
                <b translate="no">{generation.client_go()}</b>
                <span translate="no">{generation.as_str()}</span>
            </button>
            {part(move || {
                lanes.with(|lanes| {
                    let cells = lanes.get(number).into_iter().flat_map(|lane| &lane.cells);
                    cells.map(|one| cell(ui, one)).collect_view()
                })
            })}
        </li>
    }
    .into_any()
}

fn cell(ui: Ui, row: &CellRow) -> AnyView {
    let differs = row.differs;
    let sign = differs.then(|| {
        let title = ui.words().lane_differs;
        view! { <i class="not" role="img" aria-label=title title=title>"≠"</i> }
    });
    let more = (!row.more.is_empty()).then(|| row.more.clone());
    view! {
        <div class="lane-cell" class:differs=differs>
            <span class="cmp-label">{row.label.clone()} {sign}</span>
            <div class=format!("cmp-chips {}", row.class)>
                {row.chips.iter().map(chip).collect_view()}
                {more.map(|more| view! { <span class="cmp-more">{more}</span> })}
            </div>
        </div>
    }
    .into_any()
}
