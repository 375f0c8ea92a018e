//! Opens recordings: by a button, or dropped on the page.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList};

use super::icons;
use crate::ui::Ui;
use deltascope_presentation::command::Command;
use deltascope_world::bounds::MAX_BYTES;

/// Most bytes that are read of a file: one more than allowed, so that the parser sees that there is too much. A larger
/// file would not fit twice into the page's memory.
#[allow(clippy::cast_precision_loss, reason = "it is far below 2^53")]
const READ: f64 = (MAX_BYTES + 1) as f64;

/// The button. The header has one, and so has each other place where files can be opened.
#[component]
pub(super) fn OpenButton(
    /// The button's class, which says how it looks.
    class: &'static str,
    /// The button's test id.
    testid: &'static str,
) -> impl IntoView {
    let ui = Ui::get();
    let input = NodeRef::<html::Input>::new();
    view! {
        <input
            type="file"
            multiple
            hidden
            node_ref=input
            aria-label=ui.word(|words| words.open_recording)
            on:change=move |_| {
                if let Some(input) = input.get_untracked() {
                    read(ui, input.files());
                    // Lets the user choose the same file again. This clears the list of files as well.
                    input.set_value("");
                }
            }
        />
        <button
            class=class
            data-testid=testid
            aria-label=ui.word(|words| words.open_recording)
            title=ui.word(|words| words.open_recording)
            on:click=move |_| {
                if let Some(input) = input.get_untracked() {
                    input.click();
                }
            }
        >
            {icons::drawn(icons::FOLDER)}
            <span class="label">{ui.word(|words| words.open_recording)}</span>
        </button>
    }
}

/// Shown while files are dragged over the page.
#[component]
pub(super) fn DropZone() -> impl IntoView {
    let ui = Ui::get();
    let dragging = RwSignal::new(false);
    let over = window_event_listener(ev::dragover, move |event| {
        let files = event
            .data_transfer()
            .is_some_and(|data| data.types().includes(&"Files".into(), 0));
        if files {
            event.prevent_default();
            if !dragging.get_untracked() {
                dragging.set(true);
            }
        }
    });
    let leave = window_event_listener(ev::dragleave, move |event| {
        if event.related_target().is_none() {
            dragging.set(false);
        }
    });
    let drop = window_event_listener(ev::drop, move |event| {
        event.prevent_default();
        dragging.set(false);
        read(ui, event.data_transfer().and_then(|data| data.files()));
    });
    on_cleanup(move || {
        over.remove();
        leave.remove();
        drop.remove();
    });
    view! {
        <div class="drop-zone" data-testid="drop-zone" class:open=dragging aria-hidden="true">
            <div>
                <b>{ui.word(|words| words.drop_here)}</b>
                <span>{ui.word(|words| words.drop_hint)}</span>
            </div>
        </div>
    }
}

fn read(ui: Ui, files: Option<FileList>) {
    let Some(files) = files else {
        return;
    };
    // Copy the files: the list belongs to the page and changes before they are read.
    let files: Vec<File> = (0..files.length())
        .filter_map(|index| files.get(index))
        .collect();
    if files.is_empty() {
        return;
    }
    spawn_local(async move {
        let mut read = Vec::new();
        for file in files {
            // An unreadable file is passed on as empty; the parser reports it.
            let bytes = match file.slice_with_f64_and_f64(0.0, READ) {
                Ok(part) => JsFuture::from(part.array_buffer()).await,
                Err(error) => Err(error),
            };
            let bytes = bytes.map(|buffer| js_sys::Uint8Array::new(&buffer).to_vec());
            read.push((file.name(), bytes.unwrap_or_default()));
        }
        ui.send(Command::Open(read));
    });
}
