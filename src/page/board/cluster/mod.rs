//! The dialog that connects the page to a real cluster.

mod dialog;
mod form;
mod status;

pub(super) use status::{badge, edge, trouble};

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::parts::{modal, part, shown, text};
use super::share::copy;
use crate::live::Link;
use crate::memo::effect;
use crate::ui::Ui;
use deltascope_presentation::cluster::{self, Missing, Tried, WAYS, Way, missing};
use deltascope_presentation::command::Command;
use dialog::{Dialog, Search};
use form::form;

/// The dialog. The browser keeps the focus in it and restores it afterwards.
#[component]
pub(super) fn Cluster(
    /// Whether the dialog is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let dialog = Dialog::new(open);
    let link = Link::get();
    effect(move || {
        // Only when the dialog opens: a page that is never connected sends no requests.
        if open.get() {
            dialog.prepare();
            dialog.look();
        }
    });
    let sheet = view! {
        {shown(move || open.get(), move || view! {
            <div class="sheet">
                <div class="head">
                    <h2 id="cluster-title">{ui.word(|words| words.cluster_title)}</h2>
                    <button class="chip" on:click=move |_| open.set(false)>
                        {ui.word(|words| words.close)}
                    </button>
                </div>
                {shown(move || link.status.with(|status| status.is_on()), move || connected(ui, link))}
                {part(move || match dialog.search.get() {
                    Search::Looking => {
                        view! {
                            <p class="looking" role="status">
                                {ui.word(|words| words.cluster_looking)}
                            </p>
                        }
                            .into_any()
                    }
                    Search::Missing(tried) => absent(ui, dialog, &tried).into_any(),
                    Search::Found(found) => {
                        view! {
                            {there(ui, &found)}
                            {form(ui, dialog, link)}
                        }
                            .into_any()
                    }
                })}
            </div>
        })}
    };
    modal(open, "cluster", "cluster-title", sheet.into_any())
}

/// Where the API was found.
fn there(ui: Ui, found: &Tried) -> impl IntoView + use<> {
    let base = found.base.to_string();
    let what = found.found.clone();
    view! {
        <p class="there" role="status" data-testid="cluster-found">
            <i class="dot"></i>
            <span>{text(move || what.words(ui.lang.get()))}</span>
            <code class="mono">{base}</code>
        </p>
    }
}

/// What is being watched already.
fn connected(ui: Ui, link: Link) -> impl IntoView {
    let title = link
        .target()
        .map(|target| cluster::title(&target))
        .unwrap_or_default();
    view! {
        <div class="connected">
            <span>
                {ui.word(|words| words.cluster_connected)} " "
                <b>{text(move || title.get(ui.lang.get()).to_owned())}</b>
            </span>
            <button
                class="btn"
                data-testid="btn-disconnect"
                on:click=move |_| ui.send(Command::Disconnect)
            >
                {ui.word(|words| words.cluster_disconnect)}
            </button>
        </div>
    }
}

/// No API was found: what is missing, and which command to type.
fn absent(ui: Ui, dialog: Dialog, tried: &[Tried]) -> impl IntoView + use<> {
    let Missing {
        what,
        command,
        ways,
    } = missing(tried);
    let tried = tried.to_vec();
    view! {
        <div class="no-api" role="alert" data-testid="cluster-missing">
            <p>{text(move || what.get(ui.lang.get()).to_owned())}</p>
            {command.map(|command| typed(ui, command))}
        </div>
        <ul class="tried">
            {tried
                .into_iter()
                .map(|Tried { base, found }| {
                    view! {
                        <li>
                            <code class="mono">{base.to_string()}"version"</code>
                            <span>{text(move || found.words(ui.lang.get()))}</span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
        {ways.then(|| view! {
            <h3>{ui.word(|words| words.cluster_ways)}</h3>
            <ol class="ways">{WAYS.iter().map(|way| one_way(ui, way)).collect_view()}</ol>
        })}
        <form
            class="look"
            on:submit=move |event| {
                event.prevent_default();
                dialog.look();
            }
        >
            <label>
                {ui.word(|words| words.cluster_base)}
                <input
                    class="mono"
                    data-testid="cluster-base"
                    placeholder=cluster::BASES[0]
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || dialog.base.get()
                    on:input=move |event| dialog.base.set(event_target_value(&event))
                />
            </label>
            <button class="btn go" data-testid="cluster-look">
                {ui.word(|words| words.cluster_look)}
            </button>
        </form>
        {part(move || {
            let wrong = dialog.wrong.get()?;
            let wrong = wrong.get(ui.lang.get()).to_owned();
            Some(view! { <p class="wrong" role="alert">{wrong}</p> })
        })}
    }
}

fn one_way(ui: Ui, way: &'static Way) -> impl IntoView {
    view! {
        <li>
            <p>{text(move || way.words(ui.lang.get()))}</p>
            {way.commands.iter().map(|command| typed(ui, command)).collect_view()}
            <p class="then">
                {ui.word(|words| words.cluster_then)} " "
                <a class="mono" href=way.page>
                    {way.page}
                </a>
            </p>
        </li>
    }
}

/// A command with a button that copies it.
fn typed(ui: Ui, command: &'static str) -> impl IntoView {
    let copied = RwSignal::new(false);
    view! {
        <div class="typed">
            <code class="mono" translate="no">
                {command}
            </code>
            <button
                class="chip"
                aria-label=text(move || format!("{} {command}", ui.words().cluster_copy))
                on:click=move |_| {
                    let Some(copying) = copy(command) else {
                        return;
                    };
                    spawn_local(async move {
                        copied.set(wasm_bindgen_futures::JsFuture::from(copying).await.is_ok());
                    });
                }
            >
                {text(move || {
                    let words = ui.words();
                    if copied.get() { words.share_copied } else { words.cluster_copy }
                })}
            </button>
        </div>
    }
}
