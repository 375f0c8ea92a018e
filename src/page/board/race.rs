//! The four generations in place of the stage: a lane each, at one time.

use leptos::prelude::*;

use super::compare::{Against, Close, chip};
use super::icons;
use super::parts::{part, shown, text};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::race::{self, CellRow, LaneRow};
use deltascope_presentation::strings;

#[component]
pub(super) fn Race() -> impl IntoView {
    let ui = Ui::get();
    let on = ui.memo(|view| view.race.is_some());
    view! { {shown(move || on.get(), Lanes)} }
}

#[component]
fn Lanes() -> impl IntoView {
    let ui = Ui::get();
    let lanes = Memo::new(move |_| race::lanes(&ui.view.get(), ui.lang.get()));
    let said = Memo::new(move |_| race::said(&ui.view.get(), ui.lang.get()).unwrap_or_default());
    let time = ui.memo(|view| view.time);
    let playing = ui.memo(|view| view.playing);
    let parts = ui.memo(|view| view.race.as_ref().is_some_and(|race| race.moment.parts));
    let parting = move |on: bool| {
        let word = move || {
            let words = ui.words();
            let (word, key) = match on {
                true => (words.next_parting, "→"),
                false => (words.previous_parting, "←"),
            };
            (word, format!("{word} (⇧{key})"))
        };
        view! {
            <button
                class="chip round"
                class:turned=!on
                data-testid=if on { "next-parting" } else { "previous-parting" }
                aria-label=text(move || word().0)
                title=text(move || word().1)
                on:click=move |_| ui.send(Command::Walk { on, coarser: true })
            >
                {icons::filled(icons::NEXT)}
            </button>
        }
    };
    view! {
        <section class="cmp race" data-testid="race" aria-label=ui.word(|words| words.race) tabindex="-1">
            <div class="cmp-bar">
                <h2 role=ui.heading()>{ui.word(|words| words.race)}</h2>
                <Against />
                <span class="cmp-count mono" data-testid="race-time">
                    {text(move || format!("t = {}", strings::seconds(time.get())))}
                </span>
                {parting(false)}
                {parting(true)}
                <Close />
            </div>
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
                {part(move || lanes.get().iter().map(|one| lane(ui, one)).collect_view())}
            </ol>
        </section>
    }
}

fn lane(ui: Ui, row: &LaneRow) -> AnyView {
    let era = row.era;
    let differs = row.cells.iter().any(|cell| cell.differs);
    view! {
        <li class="lane" class:differs=differs class:own=row.own data-era=era>
            <button
                class="lane-name"
                data-testid=format!("lane-{era}")
                title=ui.words().open_lane
                aria-current=row.own.then_some("true")
                on:click=move |_| ui.send(Command::Generation(era.into()))
            >
                <b translate="no">{era}</b>
                <span translate="no">{row.kind}</span>
            </button>
            {row.cells.iter().map(|one| cell(ui, one)).collect_view()}
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
