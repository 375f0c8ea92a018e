//! Two runs side by side, in place of the stage: a summary of both, and each room of both.

use leptos::prelude::*;

use super::layout::Layout;
use super::parts::{Live, either, part, shown, text};
use super::tabs::{DrawerState, DrawerTab};
use super::token::{chip, sign};
use super::{icons, race};
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::against::Against;
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal;
use deltascope_presentation::rows::compare::{self, Chip, LineRow, MetricRow, RoomRow};
use deltascope_presentation::rows::type_class;
use deltascope_presentation::strings;
use deltascope_replay::diff::RoomDiff;

/// The button that switches between two runs and one.
#[component]
pub(super) fn Toggle() -> impl IntoView {
    let ui = Ui::get();
    let drawer = Layout::get().drawer;
    let on = ui.memo(|view| view.beside.is_some());
    view! {
        <button
            data-testid="btn-compare"
            aria-label=ui.word(|words| words.compare)
            title=ui.word(|words| words.compare_title)
            aria-pressed=text(move || on.get().to_string())
            class:on=move || on.get()
            on:click=move |_| {
                ui.send(if on.get_untracked() {
                    Command::CloseCompare
                } else {
                    // Both runs need its room.
                    drawer.close();
                    Command::Compare(Against::First)
                });
            }
        >
            {icons::drawn(icons::COMPARE)}
            <span class="label">{ui.word(|words| words.compare)}</span>
        </button>
    }
}

/// What is in place of the stage: this run and another one, or the four generations.
pub(super) fn compare(ui: Ui) -> Live<AnyView> {
    let on = ui.memo(|view| view.beside.is_some());
    shown(move || on.get(), Instead)
}

#[component]
pub(super) fn Instead() -> impl IntoView {
    let ui = Ui::get();
    let racing = ui.memo(|view| view.race().is_some());
    let title = move || {
        let words = ui.words();
        if racing.get() {
            words.race
        } else {
            words.compare
        }
    };
    let count = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| match view.compare() {
            Some(compare) => {
                let differs = compare.rooms.iter().map(RoomDiff::differs);
                let totals = compare.summary.iter().filter(|one| one.left != one.right);
                strings::differences(lang, differs.sum(), totals.count())
            }
            None => format!("t = {}", decimal::tenths(view.time)),
        })
    });
    view! {
        <section
            class="cmp"
            data-testid=text(move || if racing.get() { "race" } else { "compare" })
            aria-label=text(title)
            tabindex="-1"
        >
            <div class="cmp-bar">
                <h2 role=ui.heading()>{text(title)}</h2>
                <Chooser />
                <span class="cmp-count mono">{text(move || count.get())}</span>
                {shown(move || racing.get(), race::Partings)}
                <button
                    class="chip round"
                    data-testid="compare-close"
                    aria-label=ui.word(|words| words.close)
                    title=text(move || format!("{} (Esc)", ui.words().close))
                    on:click=move |_| ui.send(Command::CloseCompare)
                >
                    "×"
                </button>
            </div>
            {either(move || racing.get(), race::Lanes, Both)}
        </section>
    }
}

#[component]
fn Both() -> impl IntoView {
    let ui = Ui::get();
    let drawer = Layout::get().drawer;
    let rooms = Memo::new(move |_| compare::rooms(&ui.view.get(), ui.lang.get()));
    let metrics = Memo::new(move |_| compare::summary(&ui.view.get(), ui.lang.get()));
    let sides = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| {
            let sides = view
                .compare()
                .into_iter()
                .flat_map(|compare| &compare.sides);
            let side = |side: &deltascope_presentation::view::Side| {
                let at = strings::moment(lang, side.step, side.time);
                let name = side.name.get(lang).to_owned();
                (name, at, side.what.get(lang).to_owned())
            };
            sides.map(side).collect::<Vec<_>>()
        })
    });
    view! {
            <div
                class="cmp-sum"
                role="group"
                aria-label=ui.word(|words| words.compare_summary)
                data-testid="compare-summary"
            >
                {part(move || metrics.get().iter().map(|row| metric(drawer, row)).collect_view())}
            </div>
            <div class="cmp-rooms" role="table" aria-label=ui.word(|words| words.compare) tabindex="0">
                <div class="cmp-heads" role="row">
                    <span class="cmp-label" role="cell"></span>
                    {part(move || {
                        let side = |(place, side): (usize, (String, String, String))| {
                            let (name, at, what) = side;
                            view! {
                                <div class="cmp-head" role="columnheader">
                                    <b class="badge" aria-hidden="true">
                                        {["A", "B"][place.min(1)]}
                                    </b>
                                    <strong>{name}</strong>
                                    <span class="mono at">{at}</span>
                                    <span class="cmp-what" title=what.clone()>
                                        {what.clone()}
                                    </span>
                                </div>
                            }
                        };
                        sides.get().into_iter().enumerate().map(side).collect_view()
                    })}
                </div>
                {part(move || rooms.get().iter().map(|one| room(ui, one)).collect_view())}
            </div>
    }
}

/// Chooses the run to compare with.
#[component]
fn Chooser() -> impl IntoView {
    let ui = Ui::get();
    let choices = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| {
            let choice = |choice: &deltascope_presentation::view::Choice| {
                (choice.against, choice.name.get(lang).to_owned())
            };
            view.choices.iter().map(choice).collect::<Vec<_>>()
        })
    });
    let with = ui.memo(|view| {
        let with = view.beside.as_ref();
        with.map_or_else(String::new, |with| with.against().id())
    });
    view! {
        <label class="cmp-with">
            <span>{ui.word(|words| words.compare_with)}</span>
            <select
                data-testid="compare-with"
                prop:value=move || with.get()
                on:change=move |event| {
                    let id = event_target_value(&event);
                    let chosen = choices.get_untracked().into_iter().find(|(other, _)| other.id() == id);
                    if let Some((against, _)) = chosen {
                        ui.send(Command::Compare(against));
                    }
                }
            >
                {part(move || {
                    let with = with.get();
                    choices
                        .get()
                        .into_iter()
                        .map(|(against, name)| {
                            let id = against.id();
                            let selected = id == with;
                            view! { <option value=id selected=selected>{name}</option> }
                        })
                        .collect_view()
                })}
            </select>
        </label>
    }
}

fn metric(drawer: DrawerState, row: &MetricRow) -> AnyView {
    let differs = row.left != row.right;
    let class = row.glyph.map_or("", type_class);
    let label = row.label.clone();
    let label = match row.broken {
        true => view! {
            <button class="quiet" on:click=move |_| drawer.show(DrawerTab::Checks)>{label}</button>
        }
        .into_any(),
        false => label.into_any(),
    };
    view! {
        <dl class=format!("cmp-metric {class}") class:differs=differs data-metric=row.id.clone() title=row.title>
            <dt>{row.glyph.map(sign)} {label}</dt>
            <dd>{row.left.clone()}</dd>
            <dd>{row.right.clone()}</dd>
        </dl>
    }
    .into_any()
}

fn room(ui: Ui, row: &RoomRow) -> AnyView {
    let differs = row.differs;
    let badge = if differs == 0 {
        view! { <i class="same" title=ui.words().compare_same>"="</i> }.into_any()
    } else {
        view! { <i class="not">"≠ " {differs.to_string()}</i> }.into_any()
    };
    view! {
        <div
            class="cmp-room"
            role="rowgroup"
            aria-label=row.title.clone()
            data-room=row.id
            data-differs=differs.to_string()
        >
            <span class="cmp-title" role="presentation">
                <b>{row.title.clone()}</b>
                {badge}
            </span>
            <div class="cmp-lines" role="presentation">
                {row.lines.iter().map(line).collect_view()}
            </div>
        </div>
    }
    .into_any()
}

fn line(row: &LineRow) -> AnyView {
    let class = format!("cmp-chips {}", row.class);
    let [left, right] = &row.sides;
    let more = (!row.more.is_empty()).then(|| row.more.clone());
    let (before, after) = if row.more_before {
        (more, None)
    } else {
        (None, more)
    };
    let more = |more: &Option<String>| {
        let more = more.clone();
        more.map(|more| view! { <span class="cmp-more">{more}</span> })
    };
    let side = |chips: &Vec<Chip>| {
        view! {
            <div class=class.clone() role="cell">
                {more(&before)}
                {chips.iter().map(chip).collect_view()}
                {more(&after)}
            </div>
        }
    };
    view! {
        <div class="cmp-line" role="row">
            <span class="cmp-label" role="rowheader">
                {row.label.clone()}
            </span>
            {side(left)}
            {side(right)}
        </div>
    }
    .into_any()
}
