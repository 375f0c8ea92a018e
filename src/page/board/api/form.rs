//! The form that creates or changes an object.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::super::layout::Layout;
use super::super::parts::{focus, maybe, part, text};
use super::{Form, write_word};
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::fact::{EventType, Verb};
use deltascope_presentation::command::Command;
use deltascope_presentation::rows::api::free_name;
use deltascope_presentation::session::typed;
use deltascope_presentation::strings::Strings;
use deltascope_world::source::pod::PodSpec;

/// Where what is written has its fields, as a refusal names them.
const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";
const PHASE: &str = "status.phase";

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
    let first = if editing { PHASE } else { NAME };
    let here = ui.host();
    effect(move || focus(here.find(&format!("[name='{first}']"))));
    let sent = RwSignal::new(false);
    // What was said to the last try; another error is not the form's.
    let said = Layout::get().at_field;
    // Without it, the message would be shown above the stage.
    on_cleanup(move || {
        let shown = ui
            .view
            .with_untracked(|view| view.error.as_ref().map(|error| error.message.clone()));
        if shown.is_some() && shown == said.get_untracked() {
            ui.send(Command::DismissError);
        }
        said.set(None);
    });
    // The field that is empty and must not be.
    let lacks = RwSignal::new(None);
    let wrong = Memo::new(move |_| {
        if let Some(path) = lacks.get() {
            let words = ui.words();
            // What a program makes may have any key.
            let needed = if program.get() {
                words.needed
            } else {
                words.needed_key
            };
            return Some((path, needed.to_owned()));
        }
        let refused = ui.view.with(|view| view.error.clone());
        let message = refused
            .filter(|one| said.with(|said| said.as_ref() == Some(&one.message)))?
            .message;
        let message = message.get(ui.lang.get()).to_owned();
        let named = [NAMESPACE, "metadata.labels", "spec.nodeName", PHASE];
        let named = named.into_iter().find(|path| message.contains(path));
        Some((named.unwrap_or(first), message))
    });
    let field = move |path: &'static str,
                      word: fn(&'static Strings) -> &'static str,
                      value: RwSignal<String>,
                      most: &'static str,
                      kept: bool| {
        let is_wrong =
            move || wrong.with(|wrong| wrong.as_ref().is_some_and(|(at, _)| *at == path));
        view! {
            <label>
                <span>{ui.word(word)}</span>
                <input
                    name=path
                    bind:value=value
                    // Only what a program makes may have no namespace.
                    required=move || path == NAME || path == NAMESPACE && !program.get()
                    on:invalid=move |event: web_sys::Event| {
                        // The browser would say it in its own language, and for a moment.
                        event.prevent_default();
                        lacks.update(|lacks| {
                            lacks.get_or_insert(path);
                        });
                    }
                    readonly=kept
                    maxlength=most
                    autocomplete="off"
                    spellcheck="false"
                    aria-invalid=maybe(move || is_wrong().then_some("true"))
                    aria-describedby=maybe(move || is_wrong().then_some("wrong"))
                />
            </label>
            {part(move || {
                let message = wrong.get().filter(|_| is_wrong())?.1;
                Some(view! { <p id="wrong" data-testid="wrong" role="alert">{message}</p> })
            })}
        }
        .into_any()
    };
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
        ui.send(typed::write(verb, draft.to_json()));
        sent.set(true);
    };
    let here = ui.host();
    let to_wrong = move || {
        let here = here.clone();
        request_animation_frame(move || focus(here.find("[aria-invalid]")));
    };
    let to_empty = to_wrong.clone();
    effect(move || {
        if lacks.with(Option::is_some) {
            to_empty();
        }
    });
    // A refused write leaves the form open; the field that is wrong says why.
    effect(move || {
        let refused = ui
            .view
            .with(|view| view.error.as_ref().map(|one| one.message.clone()));
        if sent.get_untracked() {
            sent.set(false);
            if refused.is_some() {
                said.set(refused);
                to_wrong();
            } else {
                close();
            }
        }
    });
    let again = move |_| {
        if lacks.with_untracked(Option::is_some) {
            lacks.set(None);
        } else if wrong.with_untracked(Option::is_some) {
            ui.send(Command::DismissError);
        }
    };
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
            on:input=again
        >
            {field(NAME, |words| words.name, name, "253", editing)}
            {field(NAMESPACE, |words| words.namespace, namespace, "63", editing)}
            {field("metadata.labels", |words| words.app, app, "63", false)}
            {field("spec.nodeName", |words| words.node, node, "253", false)}
            {field(PHASE, |words| words.phase, phase, "63", false)}
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
