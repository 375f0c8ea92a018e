//! The drawer's tab `until`: what to run to, and breakpoints.

use std::str::FromStr;

use leptos::prelude::*;
use web_sys::{HtmlInputElement, HtmlSelectElement};

use super::parts::{part, text};
use crate::host::Host;
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::Fact;
use deltascope_cache::key::Key;
use deltascope_presentation::caption::in_chinese;
use deltascope_presentation::command::{BreakCommand, Command};
use deltascope_presentation::session::typed;
use deltascope_presentation::strings;
use deltascope_presentation::view::walking::{Break, Said};
use deltascope_replay::predicate::{Call, Predicate};
use deltascope_world::text::Lang;

#[component]
pub(super) fn Until() -> impl IntoView {
    let ui = Ui::get();
    let asked = RwSignal::new(String::new());
    let said = ui.memo(|view| view.walking.said.clone());
    let host = ui.host();
    effect(move || {
        if said.with(Option::is_some) {
            let host = host.clone();
            request_animation_frame(move || show_said(&host));
        }
    });
    let breaks = ui.memo(|view| view.walking.breaks.clone());
    let act = move |command| asked.with_untracked(|text| ui.send(typed::predicate(text, command)));
    let button =
        move |id: &'static str, class: &'static str, word, command: fn(Predicate) -> Command| {
            view! {
                <button type="button" class=class data-testid=id on:click=move |_| act(command)>
                    {ui.word(word)}
                </button>
            }
            .into_any()
        };
    view! {
        <form
            class="until"
            on:submit=move |event| {
                event.prevent_default();
                act(Command::RunUntil);
            }
        >
            <h3 role=ui.heading()>{ui.word(|words| words.until_title)}</h3>
            {part(move || fields(ui, asked))}
            <label class="wide">
                <span>{ui.word(|words| words.until_text)}</span>
                <input
                    class="mono"
                    data-testid="until-text"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder="delta=Deleted key=default/web"
                    prop:value=move || asked.get()
                    on:input=move |event| asked.set(event_target_value(&event))
                />
            </label>
            <div class="btns about">
                <button class="btn go" data-testid="btn-run-until">
                    {ui.word(|words| words.until_go)}
                </button>
                {button("btn-play-until", "btn", |words| words.until_play, Command::PlayUntil)}
                {button(
                    "btn-add-break",
                    "btn",
                    |words| words.until_break,
                    |predicate| Command::Break(BreakCommand::Add(predicate)),
                )}
            </div>
        </form>
        <div aria-live="polite" data-testid="until-said">
            {part(move || {
                let said = said.get()?;
                let on = matches!(&said, Said::NotFound(failed) if failed.goes_on());
                Some(view! {
                    <p class="empty">{strings::said(ui.lang.get(), &said)}</p>
                    {on
                        .then(|| {
                            view! {
                                <button
                                    class="btn"
                                    data-testid="btn-look-on"
                                    on:click=move |_| ui.send(Command::LookOn)
                                >
                                    {ui.words().until_on}
                                </button>
                            }
                        })}
                })
            })}
        </div>
        <h3 role=ui.heading()>{ui.word(|words| words.breaks)}</h3>
        {part(move || {
            let rows = breaks.get();
            if rows.is_empty() {
                return view! { <p class="empty">{ui.words().no_breaks}</p> }.into_any();
            }
            view! {
                <ul class="breaks">
                    {rows.into_iter().map(|row| breakpoint(ui, row)).collect_view()}
                </ul>
            }
                .into_any()
        })}
    }
}

/// Scrolls the drawer to the answer.
fn show_said(host: &Host) {
    let (panel, said) = (
        host.find("#drawer-panel"),
        host.find("[data-testid=until-said]"),
    );
    if let Some((panel, said)) = panel.zip(said) {
        let (here, there) = (
            panel.get_bounding_client_rect(),
            said.get_bounding_client_rect(),
        );
        #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
        let over = (there.bottom() - here.bottom()).ceil() as i32;
        panel.set_scroll_top(panel.scroll_top() + over.max(0));
    }
}

/// The parts of the condition. A change of one rewrites the text.
fn fields(ui: Ui, asked: RwSignal<String>) -> AnyView {
    let words = ui.words();
    let lang = ui.lang.get();
    let put = move |change: &dyn Fn(&mut Predicate)| {
        let text = asked.get_untracked();
        let mut predicate = match Predicate::from_str(&text) {
            Ok(predicate) => predicate,
            Err(_) if text.trim().is_empty() => Predicate::default(),
            // Says what is wrong, and leaves the text to its writer.
            Err(_) => {
                ui.send(typed::predicate(&text, Command::RunUntil));
                return false;
            }
        };
        change(&mut predicate);
        asked.set(predicate.to_string());
        true
    };
    let now = Memo::new(move |_| asked.with(|text| Predicate::from_str(text).unwrap_or_default()));
    let select = |label: &'static str,
                  names: Vec<&'static str>,
                  shown: fn(&Predicate) -> &'static str,
                  set: fn(&mut Predicate, &str)| {
        view! {
            <label>
                <span>{label}</span>
                <select
                    prop:value=move || now.with(shown)
                    on:change=move |event| {
                        let value = event_target_value(&event);
                        if !put(&|predicate| set(predicate, &value)) {
                            event_target::<HtmlSelectElement>(&event).set_value("");
                        }
                    }
                >
                    <option value="">"–"</option>
                    {names
                        .into_iter()
                        .map(|name| view! { <option value=name>{explained(lang, name)}</option> })
                        .collect_view()}
                </select>
            </label>
        }
        .into_any()
    };
    let input =
        |label: &'static str, shown: fn(&Predicate) -> String, set: fn(&mut Predicate, &str)| {
            view! {
                <label>
                    <span>{label}</span>
                    <input
                        class="mono"
                        spellcheck="false"
                        autocomplete="off"
                        prop:value=move || now.with(shown)
                        on:change=move |event| {
                            let value = event_target_value(&event);
                            if !put(&|predicate| set(predicate, value.trim())) {
                                event_target::<HtmlInputElement>(&event).set_value("");
                            }
                        }
                    />
                </label>
            }
            .into_any()
        };
    let check =
        |label: &'static str, shown: fn(&Predicate) -> bool, set: fn(&mut Predicate, bool)| {
            view! {
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || now.with(shown)
                        on:change=move |event| {
                            let on = event_target_checked(&event);
                            if !put(&|predicate| set(predicate, on)) {
                                event_target::<HtmlInputElement>(&event).set_checked(false);
                            }
                        }
                    />
                    <span>{label}</span>
                </label>
            }
            .into_any()
        };
    view! {
        <div class="fields">
            {select(
                words.until_delta,
                DeltaType::ALL.map(DeltaType::as_str).into(),
                |it| it.delta.map_or("", DeltaType::as_str),
                |it, value| it.delta = DeltaType::ALL.into_iter().find(|one| one.as_str() == value),
            )}
            {select(
                words.until_call,
                Call::ALL.map(Call::id).into(),
                |it| it.call.map_or("", Call::id),
                |it, value| it.call = Call::named(value),
            )}
            {input(
                words.until_key,
                |it| it.key.as_ref().map(ToString::to_string).unwrap_or_default(),
                |it, value| it.key = (!value.is_empty()).then(|| Key::from(value)),
            )}
            {input(
                "rv ≥",
                |it| it.rv.map(|rv| rv.to_string()).unwrap_or_default(),
                |it, value| it.rv = value.parse().ok(),
            )}
            {select(
                words.until_fact,
                Fact::names().collect(),
                |it| it.fact.unwrap_or_default(),
                |it, value| it.fact = Fact::names().find(|one| *one == value),
            )}
            <span class="checks">
                {check(words.tombstone, |it| it.tombstone, |it, on| it.tombstone = on)}
                {check(words.until_violation, |it| it.violation, |it, on| it.violation = on)}
            </span>
        </div>
    }
    .into_any()
}

/// A name of the field. In Chinese, the name of a fact comes with its meaning.
fn explained(lang: Lang, name: &str) -> String {
    match (lang, in_chinese(name)) {
        (Lang::En, _) | (_, "") => name.to_owned(),
        (Lang::Zh, meaning) => format!("{name}（{meaning}）"),
    }
}

fn breakpoint(ui: Ui, row: Break) -> AnyView {
    let id = row.id;
    let name = row.predicate.to_string();
    let hit = row.hit;
    view! {
        <li data-testid="breakpoint" class:lit=hit.is_some()>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=row.on
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        ui.send(Command::Break(BreakCommand::Turn(id, on)));
                    }
                />
                <span class="mono" translate="no">
                    {name.clone()}
                </span>
            </label>
            {hit.map(|at| view! { <small>{strings::stopped(ui.lang.get(), at)}</small> })}
            <button
                class="away"
                aria-label=text(move || format!("{}: {name}", ui.words().break_remove))
                on:click=move |_| ui.send(Command::Break(BreakCommand::Remove(id)))
            >
                "×"
            </button>
        </li>
    }
    .into_any()
}
