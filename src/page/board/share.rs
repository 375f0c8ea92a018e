//! The drawer's tab `share`: the link to this moment, and the run as a file.

use js_sys::{Array, Function, Promise, Reflect};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, HtmlAnchorElement, Url};

use super::open::OpenButton;
use super::parts::{Text, part, shown, text};
use super::presenter;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::command::{Command, Export};
use deltascope_presentation::strings::story::in_link;
use deltascope_replay::picture::SourceKind;
use deltascope_replay::scramble::Scramble;
use deltascope_world::text::Text as Words;

/// How long a browser may take to start a download, in ms.
const DOWNLOAD_MS: u32 = 10_000;

#[component]
pub(super) fn Share() -> impl IntoView {
    let ui = Ui::get();
    view! {
        {link(ui)}
        {run(ui)}
    }
}

/// The run as a link.
fn link(ui: Ui) -> AnyView {
    // While the run plays, the link stays as it is.
    let link = Memo::new(move |before: Option<&Result<String, _>>| {
        let playing = ui.view.with(|view| view.playing);
        match before {
            Some(before) if playing => before.clone(),
            _ => ui.export.run(Export::Link),
        }
    });
    let field = NodeRef::<html::Input>::new();
    let said = RwSignal::new(None::<bool>);
    let era = ui.memo(|view| view.lesson.era);
    let is_branch = ui.memo(|view| view.branches.len() > 1);
    let copy = move |_| {
        let Some(field) = field.get_untracked() else {
            return;
        };
        field.select();
        let copying = copy(&field.value());
        spawn_local(async move {
            let copied = match copying {
                Some(copying) => JsFuture::from(copying).await.is_ok(),
                None => false,
            };
            said.set(Some(copied));
        });
    };
    view! {
        <h3 role=ui.heading()>{ui.word(|words| words.share_link)}</h3>
        {part(move || match link.get() {
            Ok(address) => {
                view! {
                    <div class="share-link">
                        <input
                            class="mono"
                            data-testid="share-link"
                            readonly
                            translate="no"
                            aria-label=ui.word(|words| words.share_link)
                            node_ref=field
                            prop:value=address
                            on:focus=move |_| {
                                if let Some(field) = field.get_untracked() {
                                    field.select();
                                }
                            }
                        />
                        <button class="btn" data-testid="btn-copy-link" on:click=copy>
                            {ui.word(|words| words.share_copy)}
                        </button>
                    </div>
                }
                    .into_any()
            }
            Err(reason) => {
                view! {
                    <p class="share-note" data-testid="share-no-link">
                        {reason.get(ui.lang.get()).to_owned()}
                    </p>
                }
                    .into_any()
            }
        })}
        <p class="share-note" role="status" data-testid="share-status">
            {text(move || match said.get() {
                Some(true) => ui.words().share_copied,
                Some(false) => ui.words().share_selected,
                None => "",
            })}
        </p>
        {shown(move || link.with(Result::is_ok), move || view! {
            <p class="share-note">{ui.word(|words| words.share_link_note)}</p>
            {shown(move || is_branch.get(), move || view! {
                <p class="share-note" data-testid="share-branch">{ui.word(|words| words.share_branch)}</p>
            })}
            {shown(move || presenter::has_own_story(ui), move || view! {
                <p class="share-note" data-testid="share-story">{ui.word(|words| words.share_story)}</p>
            })}
            <p class="share-note" data-testid="share-era" translate="no">{text(move || in_link(era.get()))}</p>
            <details>
                <summary>{ui.word(|words| words.code)}</summary>
                {part(move || presenter::drawn(ui, link.get()))}
            </details>
        })}
    }
    .into_any()
}

/// The run as files.
fn run(ui: Ui) -> AnyView {
    let [names, labels] = [(); 2].map(|()| RwSignal::new(false));
    let refused = RwSignal::new(None::<Words>);
    // What a real API server sent is private data.
    let holds_all = ui.memo(|view| {
        matches!(
            view.picture.api.source,
            SourceKind::Cluster | SourceKind::Recorded
        )
    });
    view! {
        <h3 role=ui.heading()>{ui.word(|words| words.share_run)}</h3>
        <div class="share-scramble">
            {check("share-names", ui.word(|words| words.share_names), names)}
            {check("share-labels", ui.word(|words| words.share_labels), labels)}
        </div>
        {shown(move || holds_all.get() && !names.get(), move || view! {
            <p class="share-note" data-testid="share-whole">{ui.word(|words| words.share_whole)}</p>
        })}
        <div class="share-files">
            <button
                class="btn"
                data-testid="btn-trace"
                on:click=move |_| {
                    let what = Scramble { names: names.get_untracked(), labels: labels.get_untracked() };
                    let what = if what == Scramble::default() {
                        Export::Trace
                    } else {
                        Export::Scrambled(what)
                    };
                    refused.set(download(ui, what).err());
                }
            >
                {ui.word(|words| words.share_trace)}
            </button>
            <button
                class="btn"
                data-testid="btn-transcript"
                on:click=move |_| {
                    let what = Export::Transcript(ui.lang.get_untracked());
                    refused.set(download(ui, what).err());
                }
            >
                {ui.word(|words| words.share_transcript)}
            </button>
            <OpenButton class="btn" testid="btn-import" />
            <button
                class="btn"
                data-testid="btn-smallest"
                aria-describedby="smallest-note"
                on:click=move |_| ui.send(Command::Smallest(None))
            >
                {ui.word(|words| words.smallest)}
            </button>
        </div>
        {part(move || {
            let refused = refused.get()?;
            let refused = refused.get(ui.lang.get()).to_owned();
            Some(view! { <p class="share-note" role="alert" data-testid="share-refused">{refused}</p> })
        })}
        <p class="share-note">{ui.word(|words| words.share_run_note)}</p>
        <p id="smallest-note" class="share-note">{ui.word(|words| words.smallest_note)}</p>
    }
    .into_any()
}

/// Writes to the clipboard. A page has one only in a secure context.
pub(super) fn copy(text: &str) -> Option<Promise> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok();
    let clipboard = get(&window().navigator(), "clipboard")?;
    let write: Function = get(&clipboard, "writeText")?.dyn_into().ok()?;
    write.call1(&clipboard, &text.into()).ok()?.dyn_into().ok()
}

fn check(testid: &'static str, label: Text, value: RwSignal<bool>) -> AnyView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                data-testid=testid
                prop:checked=move || value.get()
                on:change=move |event| value.set(event_target_checked(&event))
            />
            {label}
        </label>
    }
    .into_any()
}

/// Starts a download. If the browser refuses it, nothing is reported.
fn download(ui: Ui, what: Export) -> Result<(), Words> {
    let name = ui
        .view
        .with_untracked(|view| what.file_name(&view.lesson.id));
    let content = ui.export.run(what)?;
    let parts = Array::of1(&content.into());
    let Some(url) = Blob::new_with_str_sequence(&parts)
        .and_then(|blob| Url::create_object_url_with_blob(&blob))
        .ok()
    else {
        return Ok(());
    };
    let link = document().create_element("a").ok();
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok()) {
        link.set_href(&url);
        link.set_download(&name);
        link.click();
    }
    spawn_local(async move {
        gloo_timers::future::TimeoutFuture::new(DOWNLOAD_MS).await;
        let _ = Url::revoke_object_url(&url);
    });
    Ok(())
}
