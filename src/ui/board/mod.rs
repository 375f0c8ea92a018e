//! The board: one file a room. Components hold markup only; what they show is in `rows`.

#![allow(
    unreachable_pub,
    reason = "leptos' component macro makes what it generates pub"
)]

mod api;
mod beside;
mod branches;
mod checks;
mod cluster;
mod compare;
pub(in crate::ui) mod density;
mod drawer;
mod frame;
mod header;
mod help;
mod icons;
mod indexer;
mod layout;
mod now;
mod open;
mod parts;
mod pop;
mod processor;
mod queue;
mod reflector;
mod share;
mod strip;
mod token;
mod transport;
mod until;
mod why;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::app::Ui;
use super::command::Command;
use super::keys::{Action, Focus, Press, action};
use layout::Layout;
use parts::{part, text};

/// The whole page.
#[component]
pub fn Board() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::new();
    provide_context(layout);
    let help = RwSignal::new(false);
    let cluster = RwSignal::new(false);
    let comparing = ui.memo(|view| view.compare.is_some());
    listen_to_keys(ui, layout, help, cluster);
    view! {
        <header::Header help=help cluster=cluster />
        <layout::RoomTabs />
        <main
            class=text(move || format!("stage show-{}", layout.shown.get().id()))
            class:comparing=move || comparing.get()
            aria-label=ui.word(|words| words.stage)
        >
            <Problem />
            <compare::Compare />
            <div
                class="grid"
                class:second-processor=move || layout.lower_is_processor()
                on:click=move |event| why::on_click(ui, layout, &event)
            >
                <i class="link api-refl"></i>
                <i class="link refl-queue"></i>
                <i class="link queue-pop"></i>
                <i class="link pop-idx"></i>
                <api::Api />
                <reflector::Reflector />
                <queue::Queue />
                <pop::Pop />
                <indexer::Indexer />
                <layout::LowerTabs />
                <now::Now />
                <processor::Processor />
                <div id="motion" aria-hidden="true"></div>
            </div>
            <why::Marked />
            <drawer::Drawer />
        </main>
        <strip::Strip />
        <transport::Transport />
        <help::Help open=help />
        <cluster::Cluster open=cluster />
        <open::DropZone />
    }
}

/// What went wrong, until it is dismissed.
#[component]
fn Problem() -> impl IntoView {
    let ui = Ui::get();
    let error = ui.memo(|view| view.error.clone());
    view! {
        <div class="problem">
            {part(move || {
                error
                    .get()
                    .map(|error| {
                        let words = ui.words();
                        let message = error.message.get(ui.lang.get()).to_owned();
                        let line = error
                            .line
                            .filter(|line| !names_line(&message, *line))
                            .map(|line| format!(" ({} {line})", words.line));
                        view! {
                            <div class="problem-card" role="alert" data-testid="error">
                                <b>{words.error}</b>
                                <span>{message} {line}</span>
                                <button
                                    class="btn"
                                    on:click=move |_| ui.send(Command::DismissError)
                                >
                                    {words.dismiss}
                                </button>
                            </div>
                        }
                    })
            })}
            <cluster::Trouble />
        </div>
    }
}

/// Whether the words say already which line it is.
fn names_line(message: &str, line: u32) -> bool {
    let (en, zh) = (format!("line {line}:"), format!("第 {line} 行"));
    message.contains(&en) || message.contains(&zh)
}

fn listen_to_keys(ui: Ui, layout: Layout, help: RwSignal<bool>, cluster: RwSignal<bool>) {
    let handle = window_event_listener(ev::keydown, move |event| {
        if help.get_untracked() || cluster.get_untracked() || event.default_prevented() {
            return;
        }
        let key = event.key();
        if key == "Escape" && ui.view.with_untracked(|view| view.error.is_some()) {
            event.prevent_default();
            ui.send(Command::DismissError);
            return;
        }
        if key == "Escape" && layout.drawer.open.get_untracked().is_some() {
            event.prevent_default();
            layout.drawer.close();
            return;
        }
        if key == "Escape" && ui.view.with_untracked(|view| view.compare.is_some()) {
            event.prevent_default();
            ui.send(Command::CloseCompare);
            return;
        }
        let press = Press {
            key: &key,
            shift: event.shift_key(),
            modified: event.ctrl_key() || event.alt_key() || event.meta_key(),
            focus: focus_of(&event, &key),
        };
        let steps = ui.view.with_untracked(|view| view.steps);
        let Some(action) = action(press, steps) else {
            return;
        };
        event.prevent_default();
        match action {
            Action::Command(Command::TogglePlay) => transport::toggle_play(ui),
            Action::Command(command) => ui.send(command),
            Action::Help => help.set(true),
        }
    });
    on_cleanup(move || handle.remove());
}

fn focus_of(event: &web_sys::KeyboardEvent, key: &str) -> Focus {
    let element = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let Some(element) = element else {
        return Focus::Page;
    };
    let arrows = matches!(key, "ArrowLeft" | "ArrowRight");
    match element.tag_name().as_str() {
        "INPUT" | "SELECT" | "TEXTAREA" => Focus::Field,
        _ if arrows && element.get_attribute("role").as_deref() == Some("tab") => Focus::Field,
        "BUTTON" | "A" | "SUMMARY" => Focus::Control,
        _ => Focus::Page,
    }
}
