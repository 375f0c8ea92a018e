//! The header: lesson, switches of the run and of the page.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, KeyboardEvent};

use super::icons;
use super::informers;
use super::later::later;
use super::links::open_lesson;
use super::open::OpenButton;
use super::own;
use super::parts::{part, shown, text};
use super::shelf;
use crate::later::Part;
use crate::live::Link;
use crate::live::tapped::Tapped;
use crate::memo::{Memo, effect};
use crate::ui::{Theme, Ui};
use deltascope_cache::controller::Generation;
use deltascope_presentation::cluster::Status;
use deltascope_presentation::command::{Command, Tell};
use deltascope_presentation::keys::is_typed;
use deltascope_presentation::strings::story as said;
use deltascope_presentation::view::LessonHead;
use deltascope_replay::lessons;
use deltascope_world::text::Lang;

/// Opens the list of lessons at a key that would choose another one in the closed list: looking through it must not
/// load each lesson that one comes by. Where the browser cannot, the key is its own.
fn open_list(menu: NodeRef<html::Select>, event: &KeyboardEvent) {
    let key = event.key();
    let chooses = matches!(&*key, "ArrowUp" | "ArrowDown" | "Home" | "End") || is_typed(&key);
    let modified = event.ctrl_key() || event.alt_key() || event.meta_key();
    let Some(menu) = menu.get_untracked().filter(|_| chooses && !modified) else {
        return;
    };
    // A browser that cannot say whether the list is open may give an open list's keys to the page.
    let Ok(false) = menu.matches(":open") else {
        return;
    };
    // The method has the same name there.
    let input: &HtmlInputElement = menu.unchecked_ref();
    if input.show_picker().is_ok() {
        event.prevent_default();
    }
}

#[component]
pub(super) fn Header(
    /// Whether the help is open.
    help: RwSignal<bool>,
    /// Whether the dialog of the cluster is open.
    cluster: RwSignal<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let link = Link::get();
    let embedded = ui.shape.with_untracked(|shape| shape.embedded);
    let lesson = ui.memo(|view| (*view.lesson).clone());
    let known = ui.memo(|view| view.picture.queue.known_objects);
    let telling = ui.memo(|view| view.story.is_some());
    let can_switch = Memo::new(move |_| lesson.with(|lesson| lesson.can_switch_known));
    view! {
        <header
            class="masthead"
            class:tells=move || telling.get()
            class:shelved=move || ui.shelved()
            part="header"
            role=ui.within()
        >
            <h1 class="brand" role=ui.heading() translate="no">
                "delta"
                <i>"scope"</i>
            </h1>
            {(!embedded).then(|| view! {
                <button
                    class="chip to-shelf"
                    class:on=move || ui.shows_lessons()
                    data-testid="btn-lessons"
                    aria-pressed=text(move || ui.shows_lessons().to_string())
                    on:click=move |_| shelf::toggle(ui)
                >
                    {ui.word(|words| words.shelf)}
                </button>
            })}
            // One row on a narrow screen, which scrolls.
            <div class="of-run">
            {informers::to_informers(ui)}
            {lesson_menu(ui, lesson)}
            {shown(move || lesson.with(|lesson| lesson.has_story), move || view! {
                <button
                    class="chip to-story"
                    class:on=move || telling.get()
                    data-testid="toggle-story"
                    title=text(move || format!("{} (M)", ui.words().story_tell))
                    aria-pressed=text(move || telling.get().to_string())
                    on:click=move |_| {
                        ui.send(Command::Tell(Tell::Show(!telling.get_untracked())));
                    }
                >
                    {ui.word(|words| words.story)}
                </button>
            })}
            {(!embedded).then(|| later(Part::All, move || link.status.with(Status::is_on), move || own::badge(cluster)))}
            <span class="spacer"></span>
            {eras(ui, lesson)}
            {shown(move || can_switch.get(), move || view! {
                <button
                    class="chip known"
                    class:on=move || known.get()
                    data-testid="toggle-known"
                    aria-pressed=text(move || known.get().to_string())
                    title=ui.word(|words| words.known_title)
                    on:click=move |_| ui.send(Command::KnownObjects(!known.get_untracked()))
                >
                    {text(move || if known.get() { ui.words().known_on } else { ui.words().known_off })}
                </button>
            })}
            {(!embedded).then(|| view! {
            // A tap leads to one cluster, its controller's, through an address with a token.
            {use_context::<Tapped>().is_none().then(|| view! {
            <button
                class="chip to-cluster"
                data-testid="btn-cluster"
                aria-haspopup="dialog"
                aria-label=ui.word(|words| words.cluster_title)
                title=ui.word(|words| words.cluster_title)
                on:click=move |_| cluster.set(true)
            >
                {icons::drawn(icons::CLUSTER)}
                <span class="label">{ui.word(|words| words.cluster)}</span>
            </button>
            })}
            <OpenButton class="chip open" testid="btn-open" />
            })}
            </div>
            {language(ui)}
            {theme(ui)}
            <button
                class="chip round"
                data-testid="btn-help"
                aria-label=ui.word(|words| words.help)
                aria-haspopup="dialog"
                on:click=move |_| help.set(true)
            >
                "?"
            </button>
        </header>
    }
}

/// The list of lessons.
fn lesson_menu(ui: Ui, lesson: Memo<LessonHead>) -> AnyView {
    let embedded = ui.shape.with_untracked(|shape| shape.embedded);
    // Read only once: reading all lessons takes longer than drawing the header.
    if ui.lessons.with_untracked(|known| known.is_empty()) {
        ui.lessons.set(lessons::menu().into());
    }
    let foreign = part(move || {
        let (id, title) = lesson.with(|lesson| (Arc::clone(&lesson.id), lesson.title.clone()));
        let listed = ui
            .lessons
            .with(|lessons| lessons.iter().any(|(other, _)| *other == id));
        (!listed).then(|| {
            let text = title.get(ui.lang.get()).to_owned();
            view! {
                <option value=id.to_string()>
                    {text}
                </option>
            }
        })
    });
    // On the shelf none is chosen, whichever run is open below it.
    let none = part(move || {
        ui.shelved().then(|| {
            view! {
                <option value="" hidden>
                    {ui.word(|words| words.lesson_choose)}
                </option>
            }
        })
    });
    // A select keeps the user's choice even when its options change, so it is set by hand.
    let menu = NodeRef::<html::Select>::new();
    effect(move || {
        let id = match ui.shelved() {
            true => Arc::default(),
            false => lesson.with(|lesson| Arc::clone(&lesson.id)),
        };
        ui.lessons.track();
        ui.lang.track();
        if let Some(menu) = menu.get() {
            queue_microtask(move || menu.set_value(&id));
        }
    });
    view! {
        <label class="lesson">
            <span class="pick">
                <select
                    data-testid="select-lesson"
                    node_ref=menu
                    aria-label=ui.word(|words| words.lesson)
                    on:keydown=move |event| open_list(menu, &event)
                    on:change=move |event| {
                        let id = event_target_value(&event);
                        // An element shows what its author wants to be seen.
                        match embedded {
                            true => ui.send(Command::Load(id.into())),
                            false => open_lesson(ui, &id),
                        }
                    }
                >
                    {none}
                    {foreign}
                    {part(move || {
                        let lang = ui.lang.get();
                        ui.lessons
                            .get()
                            .iter()
                            .map(|(other, title)| {
                                view! {
                                    <option value=other.to_string()>
                                        {title.get(lang).to_owned()}
                                    </option>
                                }
                            })
                            .collect_view()
                    })}
                </select>
                {part(move || {
                    // A select has one line, which may be too short for a title.
                    let asks = lesson.with(|lesson| lesson.title.get(ui.lang.get()).to_owned());
                    (!ui.shelved()).then(|| view! { <span class="asks" aria-hidden="true">{asks}</span> })
                })}
                {icons::drawn(icons::CHEVRON)}
            </span>
        </label>
    }
    .into_any()
}

/// The generations.
fn eras(ui: Ui, lesson: Memo<LessonHead>) -> AnyView {
    let can_choose = Memo::new(move |_| lesson.with(|lesson| lesson.can_choose));
    view! {
        <div
            class="segments eras"
            role="group"
            aria-label=ui.word(|words| words.era_title)
            data-testid="eras"
            translate="no"
        >
            {Generation::ALL
                .into_iter()
                .map(|generation| {
                    let version = generation.version();
                    let on = move || lesson.with(|lesson| lesson.era == generation);
                    view! {
                        <button
                            data-testid=format!("era-{version}")
                            aria-pressed=text(move || on().to_string())
                            disabled=move || !on() && !can_choose.get()
                            title=text(move || said::generation(ui.lang.get(), generation))
                            on:click=move |_| ui.send(Command::Generation(generation))
                        >
                            {generation.client_go()}
                            " "
                            <span class="kind">{generation.as_str()}</span>
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
    .into_any()
}

/// The switch of the language.
fn language(ui: Ui) -> AnyView {
    view! {
        <button
            class="chip lang"
            data-testid="toggle-lang"
            title=ui.word(|words| words.language)
            on:click=move |_| {
                ui.lang
                    .update(|lang| {
                        *lang = match *lang {
                            Lang::En => Lang::Zh,
                            Lang::Zh => Lang::En,
                        };
                    });
            }
        >
            <span class:dim=move || ui.lang.get() != Lang::En>"EN"</span>
            " / "
            <span class:dim=move || ui.lang.get() != Lang::Zh>"中文"</span>
        </button>
    }
    .into_any()
}

/// The switch of the theme.
fn theme(ui: Ui) -> AnyView {
    view! {
        <button
            class="chip round"
            data-testid="toggle-theme"
            aria-label=text(move || match ui.theme.get() {
                Theme::Light => ui.words().theme_to_dark,
                Theme::Dark => ui.words().theme_to_light,
            })
            on:click=move |_| {
                ui.theme
                    .update(|theme| {
                        *theme = match *theme {
                            Theme::Light => Theme::Dark,
                            Theme::Dark => Theme::Light,
                        };
                    });
            }
        >
            {part(move || {
                icons::drawn(
                    match ui.theme.get() {
                        Theme::Light => icons::MOON,
                        Theme::Dark => icons::SUN,
                    },
                )
            })}
        </button>
    }
    .into_any()
}
