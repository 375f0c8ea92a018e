//! The strip under the stage: what happened, why, and the lesson's note.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::chapter::to_chapter;
use super::now::place;
use super::parts::{part, shown, text};
use crate::memo::{Memo, effect};
use crate::ui::{ON, Ui, remember, remembered};
use deltascope_presentation::caption::{Span, plain};
use deltascope_presentation::command::Command;
use deltascope_presentation::pseudo;
use deltascope_presentation::rows::{OtherFact, others, said, type_class};

/// Remembers that somebody knows what goes on beside what they do.
const CLOSER: &str = "closer";

#[component]
pub(super) fn Strip(
    /// The lesson whose story was told before.
    told: Option<Arc<str>>,
) -> impl IntoView {
    let ui = Ui::get();
    let mixes = ui.memo(move |view| Some(&view.lesson.id) == told.as_ref());
    let is_new = ui.host().is_page() && remembered(CLOSER).is_none();
    let is_new =
        is_new && mixes.get_untracked() && !ui.view.with_untracked(|view| view.is_at_end());
    if is_new {
        remember(CLOSER, ON);
    }
    let said = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| {
            let said = said(view, lang);
            match view.walking.stopped_by(view.step) {
                Some(breaks) => said.stopped_by(&breaks, lang),
                None => said,
            }
        })
    });
    // Translation software adds nodes of its own to these elements. So the elements stay, and their content is
    // written anew each time.
    let (what, why) = (NodeRef::<html::P>::new(), NodeRef::<html::P>::new());
    let note = NodeRef::<html::P>::new();
    effect(move || {
        if let Some((what, why)) = what.get().zip(why.get()) {
            said.with(|said| {
                write(&what, &said.what);
                write(&why, &said.why);
            });
        }
    });
    let others = Memo::new(move |_| {
        let lang = ui.lang.get();
        ui.view.with(|view| others(view, lang))
    });
    let playing = ui.memo(|view| view.playing);
    let lesson = ui.memo(|view| view.lesson.note.clone());
    effect(move || {
        if let Some(note) = note.get() {
            note.set_text_content(Some(
                lesson
                    .with(|text| text.get(ui.lang.get()).to_owned())
                    .as_str(),
            ));
        }
    });
    let notice = ui.memo(|view| view.notice.clone());
    let notice = text(move || {
        notice
            .get()
            .map_or_else(String::new, |said| said.get(ui.lang.get()).to_owned())
    });
    let listing = ui.memo(|view| pseudo::listing(view.narrated().0, view.narrated().1));
    view! {
        <section class="say" part="strip" role=ui.within() data-testid="strip" aria-label=ui.word(|words| words.narration)>
            <div class="said">
                <p class="notice" role="status" data-testid="notice" translate="yes">{notice}</p>
                <p
                    class="what"
                    class:long=move || said.with(|said| is_long(&said.what))
                    aria-live=text(move || if playing.get() { "off" } else { "polite" })
                    aria-atomic="true"
                    translate="yes"
                    node_ref=what
                ></p>
                <p
                    class="why"
                    translate="yes"
                    node_ref=why
                    on:pointerenter=move |_| {
                        if let Some(why) = why.get_untracked() {
                            // What is cut off.
                            let whole = why.text_content().filter(|_| why.scroll_height() > why.client_height());
                            why.set_title(&whole.unwrap_or_default());
                        }
                    }
                ></p>
                {part(move || {
                    others.with(|(others, minor)| (!others.is_empty()).then(|| row_of(ui, others, *minor)))
                })}
                <div class="whence">
                    <p class="where" translate="no">
                        {place(listing, false, true, false)}
                    </p>
                </div>
            </div>
            <aside class="note" tabindex="0" aria-label=ui.word(|words| words.note)>
                {to_chapter(ui)}
                {shown(move || is_new && mixes.get(), move || view! {
                    <p class="mixes" role="note" data-testid="mixes">
                        {ui.word(|words| words.mixes)}
                        " "
                        <button class="quiet" on:click=move |_| ui.send(Command::Load("sandbox".into()))>
                            {ui.word(|words| words.sandbox)}
                        </button>
                    </p>
                })}
                <p class="text" translate="yes" node_ref=note></p>
            </aside>
        </section>
    }
}

/// The other facts of the step, in order; each leads to itself.
fn row_of(ui: Ui, others: &[OtherFact], minor: usize) -> impl IntoView + use<> {
    let facts = others.iter().map(|other| {
        let at = other.at;
        view! {
            <button type="button" class:later=other.later on:click=move |_| ui.send(Command::Seek(at))>
                {other.text.clone()}
            </button>
        }
    });
    let more = (minor > 0).then(|| view! { <span>{format!("+{minor}")}</span> });
    view! {
        <p class="others" data-testid="others" aria-label=ui.word(|words| words.also_in_step)>
            {facts.collect_view()}
            {more}
        </p>
    }
}

/// Replaces the content of an element.
fn write(element: &web_sys::Element, spans: &[Span]) {
    element.set_text_content(None);
    for span in spans {
        let (tag, class, text) = match span {
            Span::Text(text) => {
                let _ = element.append_with_str_1(text);
                continue;
            }
            Span::Name(name) => ("b", None, name),
            Span::Delta(delta_type, text) => ("b", Some(type_class(*delta_type)), text),
            Span::Code(code) => ("code", None, code),
        };
        let Ok(child) = document().create_element(tag) else {
            continue;
        };
        if let Some(class) = class {
            child.set_class_name(&format!("type {class}"));
        }
        let _ = child.set_attribute("translate", "no");
        child.set_text_content(Some(text));
        let _ = element.append_child(&child);
    }
}

/// Whether the text needs more than one line of the usual width. Han characters count double.
fn is_long(spans: &[Span]) -> bool {
    const LINE: usize = 104;
    let text = plain(spans);
    let width: usize = text
        .chars()
        .map(|c| if c > '\u{2e7f}' { 2 } else { 1 })
        .sum();
    width > LINE
}

pub(super) fn spans(spans: &[Span]) -> impl IntoView + use<> {
    spans
        .iter()
        .map(|span| match span.clone() {
            Span::Text(text) => text.into_any(),
            Span::Name(name) => view! { <b translate="no">{name}</b> }.into_any(),
            Span::Delta(delta_type, text) => view! {
                <b class=format!("type {}", type_class(delta_type)) translate="no">
                    {text}
                </b>
            }
            .into_any(),
            Span::Code(code) => view! { <code translate="no">{code}</code> }.into_any(),
        })
        .collect_view()
}
