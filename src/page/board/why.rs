//! The drawer's tab `why`: the chain of causes, each a link; and what is selected and followed.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::layout::Layout;
use super::owners;
use super::parts::{maybe, part, text};
use super::strip::spans;
use super::tabs::DrawerTab;
use crate::host::anchor_of;
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::BreakCommand;
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::Names;
use deltascope_presentation::rows::things::{self, Thing};
use deltascope_presentation::strings;
use deltascope_presentation::view::View;
use deltascope_presentation::view::why::Link;
use deltascope_replay::predicate::Predicate;

#[component]
pub(super) fn Why() -> impl IntoView {
    let ui = Ui::get();
    ui.send(Command::AskWhy(true));
    on_cleanup(move || ui.send(Command::AskWhy(false)));
    let selected = ui.memo(|view| view.selection.as_deref().cloned());
    let answer = ui.memo(|view| {
        let why = view.why.as_ref()?;
        let places: Vec<usize> = why.links.iter().map(|link| link.at).collect();
        let branch = view.branches.iter().find(|branch| branch.current);
        let run = (branch.map(|branch| branch.id), Arc::clone(&view.lesson.id));
        Some((places, why.origin, run, view.lesson.era))
    });
    let key = Memo::new(move |_| selected.with(|one| one.as_ref().and_then(|one| one.key.clone())));
    view! {
        <Pick />
        {part(move || key.get().map(|key| about(ui, key)))}
        {part(move || key.get().filter(|_| ui.host().is_page()).map(|key| owners::related(ui, key)))}
        <h3 role=ui.heading()>
            {text(move || {
                if selected.with(Option::is_some) {
                    ui.words().why_is_it_here
                } else {
                    ui.words().why_this_step
                }
            })}
        </h3>
        <div>
        {part(move || {
            let lang = ui.lang.get();
            // Redrawn only when the answer differs, so that a link keeps the focus.
            answer.with(|_| ());
            let why = ui.view.with_untracked(|view| view.why.clone());
            let Some(why) = why else {
                return view! { <p class="empty">{ui.words().why_nothing}</p> }.into_any();
            };
            let origin = match why.origin {
                Some(origin) => strings::origin(lang, origin),
                None => ui.words().why_more.to_owned(),
            };
            view! {
                <ol class="chain" data-testid="chain">
                    {why.links.iter().map(|one| link(ui, one)).collect_view()}
                    <li class="origin" data-testid="origin">
                        {origin}
                    </li>
                </ol>
            }
                .into_any()
        })}
        </div>
    }
}

/// Everything on the stage as a list, for users without a pointer.
#[component]
fn Pick() -> impl IntoView {
    let ui = Ui::get();
    let things = ui.memo(|view| things::things(&view.picture, &Names::of(view), None));
    let anchor = ui.memo(anchor);
    view! {
        <label class="pick-thing">
            <span>{ui.word(|words| words.why_of)}</span>
            <select
                data-testid="select-thing"
                on:change=move |event| {
                    ui.send(Command::Select(Anchor::read(&event_target_value(&event))));
                }
            >
                {part(move || {
                    let anchor = anchor.get();
                    let option = |thing: &Thing| {
                        let room = strings::room(ui.lang.get(), thing.room);
                        let chosen = anchor.as_ref() == Some(&thing.anchor);
                        view! {
                            <option value=thing.anchor.to_string() selected=chosen>
                                {format!("{room} · {}", thing.name)}
                            </option>
                        }
                    };
                    let listed = things.with(|things| {
                        let is = |thing: &Thing| anchor.as_ref() == Some(&thing.anchor);
                        anchor.is_none() || things.iter().any(is)
                    });
                    // What is selected may have left the stage, or may not be on the list.
                    let other = (!listed)
                        .then(|| {
                            let anchor = anchor.as_ref().map(Anchor::to_string).unwrap_or_default();
                            view! { <option value=anchor selected>{ui.words().why_not_here}</option> }
                        });
                    view! {
                        <option value="" selected=anchor.is_none()>{ui.words().why_the_step}</option>
                        {other}
                        {things.with(|things| things.iter().map(option).collect_view())}
                    }
                })}
            </select>
        </label>
    }
}

/// What the user can do with an object.
fn about(ui: Ui, key: Key) -> AnyView {
    let followed = {
        let key = key.clone();
        ui.memo(move |view| view.followed.as_ref().is_some_and(|one| one.key == key))
    };
    let name = key.to_string();
    let broken = key.clone();
    let layout = Layout::get();
    view! {
        <div class="btns about">
            <button
                class="btn"
                class:on=move || followed.get()
                data-testid="btn-follow"
                aria-pressed=text(move || followed.get().to_string())
                on:click=move |_| {
                    let key = (!followed.get_untracked()).then(|| key.clone());
                    ui.send(Command::Follow(key));
                }
            >
                {text(move || strings::follow(ui.lang.get(), &name))}
            </button>
            <select
                data-testid="break-key"
                aria-label=ui.word(|words| words.break_on)
                on:change=move |event| {
                    // The values of the options are the rest of the predicate; none is one, too.
                    let also: Predicate = event_target_value(&event).parse().unwrap_or_default();
                    let predicate = Predicate {
                        key: Some(broken.clone()),
                        ..also
                    };
                    ui.send(Command::Break(BreakCommand::Add(predicate)));
                    layout.drawer.show(DrawerTab::Until);
                }
            >
                {part(move || {
                    let words = ui.words();
                    [
                        ("", words.break_on),
                        (" ", words.break_any),
                        ("delta=Deleted", words.break_queued),
                        ("fact=KeyPopped", words.break_popped),
                        ("fact=ItemStored", words.break_stored),
                        ("call=any", words.break_called),
                    ]
                        .map(|(value, name)| view! { <option value=value>{name}</option> })
                        .into_iter()
                        .collect_view()
                })}
            </select>
        </div>
    }
    .into_any()
}

fn link(ui: Ui, link: &Link) -> AnyView {
    let lang = ui.lang.get();
    let to = link.at;
    let now = ui.memo(move |view| view.step == to);
    view! {
        <li class=link.aside.map(|_| "aside")>
            <button
                data-at=to.to_string()
                aria-current=maybe(move || now.get().then_some("step"))
                on:click=move |_| ui.send(Command::Seek(to))
            >
                <span class="when mono">
                    {strings::moment(lang, to, link.time)} " · " {strings::room(lang, link.room)}
                </span>
                <span>{spans(link.words(lang))}</span>
            </button>
        </li>
    }
    .into_any()
}

/// A click anywhere on the stage asks about what is there, unless it is a control.
pub(super) fn on_click(ui: Ui, layout: Layout, event: &web_sys::MouseEvent) {
    let Some(target) = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
    else {
        return;
    };
    let closest = |what: &str| target.closest(what).ok().flatten();
    let Some(thing) = closest("[data-anchor]") else {
        return;
    };
    let anchor = anchor_of(&thing);
    let control = closest("a, input, select, summary, label").is_some()
        || (closest("button").is_some() && thing.tag_name() != "BUTTON");
    // An object of the API server is a button itself. A click asks about it as well while this tab is open, or if
    // the button does nothing else.
    let asks = layout.drawer.open.get_untracked() == Some(DrawerTab::Why)
        || thing.has_attribute("aria-disabled");
    let is_room = matches!(anchor, Some(Anchor::Room(_)));
    if control || is_room || (thing.tag_name() == "BUTTON" && !asks) {
        return;
    }
    ui.send(Command::Select(anchor));
    // In front of a class there is no drawer.
    if layout.presenter.on.get_untracked() {
        return;
    }
    layout.drawer.show(DrawerTab::Why);
}

/// Marks what is selected and followed, wherever it is shown: by styles, so that no token has to know about it.
#[component]
pub(super) fn Marked() -> impl IntoView {
    let ui = Ui::get();
    let rules = ui.memo(rules);
    // Not a `<style>` element: the page's Content-Security-Policy may forbid these.
    let sheet = ui.host().sheet();
    effect(move || {
        rules.with(|rules| sheet.set(rules));
    });
}

fn anchor(view: &View) -> Option<Anchor> {
    view.selection.as_ref().map(|one| one.anchor.clone())
}

fn rules(view: &View) -> String {
    let mut rules = String::new();
    let mut rule = |anchors: &mut dyn Iterator<Item = Anchor>, colour: &str| {
        let mut any = false;
        for anchor in anchors {
            rules.push_str(if any { "," } else { "" });
            rules.push_str("[data-anchor=\"");
            rules.push_str(&escaped(&anchor.to_string()));
            rules.push_str("\"]");
            any = true;
        }
        if any {
            rules.push_str("{outline:2px solid var(--");
            rules.push_str(colour);
            rules.push_str(");outline-offset:var(--mark,1px)}");
        }
    };
    if let Some(followed) = &view.followed {
        let things = things::things(&view.picture, &Names::of(view), Some(&followed.key));
        rule(&mut things.into_iter().map(|thing| thing.anchor), "follow");
    }
    rule(&mut anchor(view).into_iter(), "ink");
    if let Some(story) = view.story.as_ref().filter(|story| !story.plays) {
        rule(&mut story.ring.iter().cloned(), "glow-line");
    }
    rules
}

/// Escapes a text for a string in a style sheet.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || matches!(letter, '"' | '\\' | '<') {
            // In CSS, any character can be written as its hex code and a space.
            escaped.push_str(&format!("\\{:x} ", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}
