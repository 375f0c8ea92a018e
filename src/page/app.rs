//! Mounts the page.

use js_sys::Reflect;
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::prelude::JsValue;

use crate::board::Board;
use crate::board::own;
use crate::driver::Driver;
use crate::embed::api;
use crate::host::{self, Host};
use crate::later::{self, Part, Stands};
use crate::live::Link;
use crate::live::tapped::Tapped;
use crate::memo::{Memo, effect};
use crate::ui::{
    Browse, OFF, PROGRESS, SHELF, Shape, Shelved, Ui, first_lang, first_theme, follow, remember,
    remembered, storage_key,
};
use deltascope_presentation::command::{Command, Tell};
use deltascope_presentation::session::Session;
use deltascope_presentation::shelf::progress::Progress;
use deltascope_replay::link::{self, ShelfLink};
use deltascope_replay::step_size::StepSize;

/// The story of the first visit.
const FIRST_LOOK: &str = "first-look";
/// Remembers that somebody has been here.
const SEEN: &str = "seen";

/// The attribute that marks the project's own page.
const OWN_PAGE: &str = "data-deltascope";

/// From now on a panic leaves its message on the page, where the rescue script finds it.
pub fn publish_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = JsValue::from(panic.to_string());
        let _ = Reflect::set(&js_sys::global(), &"deltascopePanic".into(), &message);
    }));
}

/// Mounts the page into `<body>`, in place of the loading message. On other pages it does nothing: there the
/// custom elements mount boards.
pub fn mount() {
    let root = document().document_element();
    if !root.is_some_and(|root| root.has_attribute(OWN_PAGE)) {
        return;
    }
    if let Some(loading) = document().get_element_by_id("loading") {
        loading.remove();
    }
    mount_to_body(App);
}

/// How far the lessons were told, here or in another tab.
fn kept_progress() -> Progress {
    Progress::read(&remembered(PROGRESS).unwrap_or_default())
}

/// The page's root component.
#[component]
pub fn App() -> impl IntoView {
    let plain = link_of_address().is_none();
    let is_tapped = host::tap().is_some();
    let is_newcomer = plain && !is_tapped && remembered(SEEN).is_none();
    let driver = Driver::with_session(Host::page(), first_session(is_newcomer));
    let (view, shape) = (driver.view(), Shape::default());
    // The frame; the rest comes in slices.
    let ui = driver.ui(view, 1, shape, first_lang(), first_theme());
    if remembered(PROGRESS).is_some() {
        // No first picture shows it, so what reads it comes later.
        let is_whole = Memo::new(|_| later::stands(Part::Rest) == Stands::There);
        effect(move || {
            if is_whole.get() {
                ui.progress.set(kept_progress());
            }
        });
    }
    ui.kept.set(remember(SEEN, "1"));
    // Whoever has been here chooses what to see next.
    let open = plain && !is_newcomer && remembered(SHELF).as_deref() != Some(OFF);
    if open {
        ui.shelf.set(Shelved::Lessons(Browse::default()));
    }
    follow(ui);
    // Whoever has several tabs tells them apart.
    let title = Memo::new(move |_| match ui.shows_lessons() {
        true => ui.words().shelf.to_owned(),
        false => {
            let lang = ui.lang.get();
            ui.view.with(|view| view.lesson.title.get(lang).to_owned())
        }
    });
    effect(move || document().set_title(&[&title.get(), " · deltascope"].concat()));
    let handle = window_event_listener(ev::hashchange, move |_| {
        if let Some(command) = open_address(ui) {
            ui.send(command);
        }
    });
    on_cleanup(move || handle.remove());
    // What another tab keeps, or has forgotten: one key, or all of them.
    let handle = window_event_listener(ev::storage, move |event| {
        if event.key().is_some_and(|key| key != storage_key(PROGRESS)) {
            return;
        }
        ui.progress.set(kept_progress());
    });
    on_cleanup(move || handle.remove());
    let link = Link::new(&driver);
    provide_context(link);
    if let Some(tapped) = Tapped::begin(&driver, ui) {
        provide_context(tapped);
    }
    let asked = link_of_address();
    let first = open_address(ui);
    // A link that came since is opened already.
    let is_newest =
        move || link_of_address().is_none_or(|now| asked.is_some_and(|asked| now == asked));
    api::install(&driver, ui, link, first, is_newest);
    view! { <Board /> }
}

/// Opens the shelf, if the address is a link to it; else the command that opens the link's run.
fn open_address(ui: Ui) -> Option<Command> {
    let link = link_of_address()?;
    if !ShelfLink::may_be(&link) {
        take_course(ui, &link);
        // What was done in the run under the shelf is shown again.
        let is_here = untrack(|| ui.shelved()) && later::has(Part::Own);
        if is_here && !link::is_packed(&link) && own::is_open(ui, &link) {
            ui.show_stage();
            return None;
        }
        return Some(Command::OpenLink(link.into()));
    }
    let asked = link.clone();
    let show = move || match own::shelved(&link) {
        Some(shelved) => {
            ui.show_shelf(shelved);
            None
        }
        None => Some(Command::OpenLink(link.into())),
    };
    if later::has(Part::Own) {
        return show();
    }
    ui.show_shelf(Shelved::Lessons(Browse::default()));
    spawn_local(async move {
        // The shelf itself says what is missing. Whoever has gone elsewhere stays there.
        if later::fetched(Part::Own).await.is_ok()
            && link_of_address().is_some_and(|now| now == asked)
            && untrack(|| ui.shelved())
            && let Some(command) = show()
        {
            ui.send(command);
        }
    });
    None
}

/// Goes on in the course of a link to a lesson, or in none.
fn take_course(ui: Ui, link: &str) {
    if !link.contains("course=") {
        return ui.take(None);
    }
    let packed = link::is_packed(link);
    let part = if packed { Part::All } else { Part::Own };
    spawn_local(async move {
        // Meanwhile another link may have come. A packed one waits for more, itself.
        if later::fetched(part).await.is_ok()
            && let Some(now) = link_of_address()
            && !ShelfLink::may_be(&now)
            && (packed || !link::is_packed(&now))
        {
            ui.take(own::course(&now));
        }
    });
}

/// A session with the remembered step size. A newcomer steps from event to event, each with its headline, and is told
/// the first story.
fn first_session(is_newcomer: bool) -> Session {
    let mut session = if is_newcomer {
        let mut session = Session::empty();
        session.open_at_hand(FIRST_LOOK);
        session.obey(Command::Tell(Tell::Scene(0)));
        session
    } else {
        Session::new()
    };
    let remembered = remembered("step").and_then(|id| StepSize::named(&id));
    session.obey(Command::StepSize(remembered.unwrap_or(StepSize::Event)));
    session
}

/// The address's `#` part, if it is a link to a run. It stays in the address, so that the page can be reloaded and
/// bookmarked.
fn link_of_address() -> Option<String> {
    let hash = window().location().hash().ok()?;
    link::is_link(&hash).then_some(hash)
}
