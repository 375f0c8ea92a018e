//! The form that creates or changes an object.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::super::parts::{focus, text};
use super::{Form, write_word};
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::fact::{EventType, Verb};
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::api::free_name;
use deltascope_presentation::strings::Strings;
use deltascope_world::source::pod::PodSpec;

/// A form inside the room, so that the objects it is about stay in sight.
#[component]
pub(super) fn PodForm(
    kind: Form,
    form: RwSignal<Option<Form>>,
    program: Memo<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let editing = matches!(kind, Form::Edit(_));
    let draft = match kind {
        Form::Edit(draft) => draft,
        Form::Create => PodSpec {
            namespace: "default".to_owned(),
            name: ui.view.with_untracked(|view| free_name(view)),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            node: "node-1".to_owned(),
            phase: "Running".to_owned(),
        },
    };
    let app = RwSignal::new(draft.app().to_owned());
    let namespace = RwSignal::new(draft.namespace);
    let name = RwSignal::new(draft.name);
    let labels = StoredValue::new(draft.labels);
    let node = RwSignal::new(draft.node);
    let phase = RwSignal::new(draft.phase);
    let first = NodeRef::<html::Input>::new();
    let phase_input = NodeRef::<html::Input>::new();
    effect(move || {
        let input = if editing {
            phase_input.get()
        } else {
            first.get()
        };
        if let Some(input) = input {
            let _ = input.focus();
        }
    });
    let sent = RwSignal::new(false);
    let close = move || {
        form.set(None);
        let back = if editing { "btn-edit" } else { "btn-create" };
        focus(ui.host().find(&format!("[data-testid={back}]")));
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let mut draft = PodSpec {
            namespace: namespace.get_untracked().trim().to_owned(),
            name: name.get_untracked().trim().to_owned(),
            labels: labels.get_value(),
            node: node.get_untracked().trim().to_owned(),
            phase: phase.get_untracked().trim().to_owned(),
        };
        draft.set_app(app.get_untracked().trim().to_owned());
        let verb = if editing { Verb::Update } else { Verb::Create };
        ui.send(Command::write(verb, &draft));
        sent.set(true);
    };
    // A refused write leaves the form open; the banner says why.
    effect(move || {
        let refused = ui.view.with(|view| view.error.is_some());
        if sent.get_untracked() {
            sent.set(false);
            if !refused {
                close();
            }
        }
    });
    leave(ui, form, close);
    let word = move |edit: fn(&'static Strings) -> &'static str, create| {
        let (event, word) = if editing {
            (EventType::Modified, edit)
        } else {
            (EventType::Added, create)
        };
        text(move || write_word(ui, program.get(), event, word))
    };
    view! {
        <form
            class="pod-form"
            data-testid="form-object"
            aria-label=word(|words| words.change_object, |words| words.new_object)
            on:submit=submit
        >
            <label>
                <span>{ui.word(|words| words.name)}</span>
                <input
                    node_ref=first
                    bind:value=name
                    required
                    readonly=editing
                    maxlength="253"
                    autocomplete="off"
                    spellcheck="false"
                />
            </label>
            <label>
                <span>{ui.word(|words| words.namespace)}</span>
                <input
                    bind:value=namespace
                    readonly=editing
                    maxlength="63"
                    autocomplete="off"
                    spellcheck="false"
                />
            </label>
            <label>
                <span>{ui.word(|words| words.app)}</span>
                <input bind:value=app maxlength="63" autocomplete="off" spellcheck="false" />
            </label>
            <label>
                <span>{ui.word(|words| words.node)}</span>
                <input bind:value=node maxlength="253" autocomplete="off" spellcheck="false" />
            </label>
            <label>
                <span>{ui.word(|words| words.phase)}</span>
                <input
                    node_ref=phase_input
                    bind:value=phase
                    maxlength="63"
                    autocomplete="off"
                    spellcheck="false"
                />
            </label>
            <div class="btns">
                <button type="button" class="btn" on:click=move |_| close()>
                    {ui.word(|words| words.cancel)}
                </button>
                <button type="submit" class="btn go">
                    {word(|words| words.do_edit, |words| words.do_create)}
                </button>
            </div>
        </form>
    }
}

/// Leaves the form by Escape, and by a press outside of it.
fn leave(ui: Ui, form: RwSignal<Option<Form>>, close: impl Fn() + 'static) {
    let host = ui.host();
    let here = host.clone();
    host.listen("keydown", move |event: web_sys::KeyboardEvent| {
        // A dialog is before it.
        let is_first = here.find("dialog[open]").is_none();
        if event.key() == "Escape" && is_first && !event.default_prevented() {
            event.prevent_default();
            close();
        }
    });
    host.listen("pointerdown", move |event: web_sys::PointerEvent| {
        let target: Option<web_sys::Element> =
            event.target().and_then(|target| target.dyn_into().ok());
        let kept = target.is_some_and(|target| {
            let around = target.closest("[data-testid=form-object], .problem, header");
            around.ok().flatten().is_some()
        });
        if !kept {
            form.set(None);
        }
    });
}
