//! Links to lessons, what a click on one does, and what the address and the history keep of what is shown.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::{Element, MouseEvent};

use super::layout::Layout;
use super::parts::{Live, drawn};
use crate::host::tap;
use crate::later::{Part, Stands, stands};
use crate::memo::{Memo, effect};
use crate::ui::{Browse, Shelved, Taken, Ui};
use deltascope_cache::controller::Generation;
use deltascope_presentation::command::Command;
use deltascope_presentation::shelf::Course;
use deltascope_replay::lessons;
use deltascope_replay::link::{self, Link, ShelfLink};

/// What the history keeps of a scene that is presented.
const PRESENTED: JsValue = JsValue::TRUE;

/// The link to what has no story.
pub(super) fn lesson_link(lesson: &str) -> String {
    ["#v1;lesson=", lesson].concat()
}

/// The link to a scene of a lesson, from 1, in a course or alone.
pub(super) fn story_link(course: Option<Course>, lesson: &str, scene: usize) -> String {
    story_in(None, course, lesson, scene)
}

/// The same in a generation that is not the lesson's own.
pub(super) fn story_in(
    era: Option<Generation>,
    course: Option<Course>,
    lesson: &str,
    scene: usize,
) -> String {
    let link = Link {
        lesson: Some(lesson.into()),
        era,
        scene: Some(scene),
        course: course.map_or("", Course::id).into(),
        ..Link::default()
    };
    link.to_string()
}

/// Opens a lesson, with its story where it has one.
pub(super) fn open_lesson(ui: Ui, id: &str) {
    // What writes any link comes later; an id needs no escapes.
    let link = lesson_link(id);
    if lessons::told().contains(&id) {
        return open(ui, &[&link, ";scene=1"].concat());
    }
    // Opened without any part of the program that comes later.
    go_to(ui, &link);
    ui.send(Command::Load(id.into()));
}

/// Opens what a link leads to; a new tab or window opens by the address. The address may have this fragment
/// already, and then the browser does nothing.
pub(super) fn follow(ui: Ui, event: &MouseEvent, link: &str) {
    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
        event.prevent_default();
        open(ui, link);
    }
}

/// Writes into the address what is opened, so that it can be sent on, and that the browser's Back leads to what was shown
/// before: the shelf, as far as it was read. Where the history is closed to the page, as in a sandboxed frame, there is no
/// such way.
fn go_to(ui: Ui, link: &str) {
    let shelf = ui.shelf.with_untracked(|shelf| match shelf {
        Shelved::Lessons(shown) => Some(shelf_link(shown).to_string()),
        Shelved::No(_) | Shelved::Informers => None,
    });
    if let Some(shelf) = shelf {
        let top = scroller(ui).map(|of| of.scroll_top());
        let _ = keep(&shelf, top);
    }
    let _ = keep(link, None);
}

/// Keeps in the history that this is shown, in an entry of its own, and how far it was read.
fn keep(shown: &str, top: Option<i32>) -> Option<()> {
    let history = window().history().ok()?;
    let top = top.map_or(JsValue::NULL, JsValue::from);
    let now = address()?;
    // An address that leads to nothing needs no way back.
    match now == shown || !link::is_link(&now) {
        true => history.replace_state_with_url(&top, "", Some(shown)),
        false => history.push_state_with_url(&top, "", Some(shown)),
    }
    .ok()
}

/// From now on the address names the scene that is told, and the history whether it is presented: a page that is loaded again
/// begins there. What else was changed, as the generation in the header, is not kept.
pub(super) fn keep_place(ui: Ui, layout: Layout) {
    let Layout {
        presenter, narrow, ..
    } = layout;
    // Whatever is told in its place is not presented.
    let again = StoredValue::new(address().filter(|_| is_kept_presented()));
    let told = ui.memo(|view| {
        let story = view.story.as_ref().filter(|story| !story.handout)?;
        Some((Arc::clone(&view.lesson.id), story.index + 1))
    });
    let is_whole = Memo::new(|_| stands(Part::Rest) == Stands::There);
    effect(move || {
        if !is_whole.get() {
            return;
        }
        let told = told.get();
        if let Some((lesson, _)) = &told
            && let Some(asked) = again.try_update_value(Option::take).flatten()
            && leads_to(&asked, lesson)
            && !narrow.get_untracked()
            && !untrack(|| ui.shelved())
        {
            presenter.on.set(true);
        }
        let presented = presenter.on.get();
        let place = told.and_then(|(lesson, scene)| with_scene(&address()?, &lesson, scene));
        // Else the history may keep how far the shelf was read.
        if place.is_some() || is_kept_presented() && again.with_value(Option::is_none) {
            let kept = presented && place.is_some();
            let kept = if kept { PRESENTED } else { JsValue::NULL };
            if let Ok(history) = window().history() {
                let _ = history.replace_state_with_url(&kept, "", place.as_deref());
            }
        }
    });
}

fn address() -> Option<String> {
    window().location().hash().ok()
}

fn is_kept_presented() -> bool {
    let kept = window().history().and_then(|history| history.state());
    kept.is_ok_and(|kept| kept == PRESENTED)
}

/// Whether a link, as the page writes it, leads to the lesson.
fn leads_to(link: &str, lesson: &str) -> bool {
    let mut parts = link.split(';');
    parts.any(|part| part.strip_prefix("lesson=") == Some(lesson))
}

/// The link to this scene, made from one that leads to the lesson.
fn with_scene(link: &str, lesson: &str, scene: usize) -> Option<String> {
    if !leads_to(link, lesson) {
        return None;
    }
    let scene = format!("scene={scene}");
    let mut parts: Vec<&str> = link.split(';').filter(|part| *part != "handout").collect();
    if !parts.contains(&&*scene) {
        // These are of where it led before.
        parts.retain(|part| !["at=", "sel="].iter().any(|of| part.starts_with(of)));
        match parts.iter_mut().find(|part| part.starts_with("scene=")) {
            Some(part) => *part = &scene,
            None => parts.push(&scene),
        }
    }
    Some(parts.join(";"))
}

/// What scrolls the shelf: on a narrow screen the page itself.
pub(super) fn scroller(ui: Ui) -> Option<Element> {
    let shelf = ui.host().find(".shelf")?;
    let style = window().get_computed_style(&shelf).ok().flatten()?;
    match &*style.get_property_value("overflow-y").ok()? {
        "visible" => document().scrolling_element(),
        _ => Some(shelf),
    }
}

/// How far the shelf was read before a link on it was followed; only once after each.
pub(super) fn read_to(ui: Ui) -> Option<i32> {
    let shelf = ui
        .shelf
        .with_untracked(|shelf| shelf.lessons().map(shelf_link));
    let shelf = shelf?.to_string();
    let is_here = address()? == shelf;
    let top = window().history().ok()?.state().ok()?.as_f64();
    let top = top.filter(|_| is_here)?;
    keep(&shelf, None)?;
    #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
    Some(top as i32)
}

/// Opens what a link leads to, in place of the shelf.
pub(super) fn open(ui: Ui, link: &str) {
    go_to(ui, link);
    ui.show_stage();
    ui.send(Command::OpenLink(link.into()));
}

/// Whether the run that this link begins is open.
pub(super) fn is_open(ui: Ui, link: &str) -> bool {
    let lesson = ui.view.with_untracked(|view| Rc::clone(&view.lesson));
    if !lesson.has_story {
        return link == lesson_link(&lesson.id);
    }
    let Ok(Link { era, scene, .. }) = Link::read(link) else {
        return false;
    };
    // Whoever looks closer sees no scene.
    let shown = ui
        .view
        .with_untracked(|view| view.story.as_ref().map(|story| story.index + 1));
    era.is_none_or(|era| era == lesson.era)
        && shown.is_none_or(|shown| scene == Some(shown))
        && link == story_in(era, course(link), &lesson.id, scene.unwrap_or(1))
}

/// The course in which a link's lesson is taken.
pub(super) fn course(link: &str) -> Option<Course> {
    Course::named(&Link::read(link).ok()?.course)
}

/// The link to what the shelf shows.
fn shelf_link(shown: &Browse) -> ShelfLink {
    let Browse { query, taken } = shown;
    let teach = taken.is_some_and(|taken| taken.teaches);
    ShelfLink {
        // The notes have no search.
        query: if teach { "" } else { query.trim() }.into(),
        course: taken.map_or("", |taken| taken.course.id()).into(),
        teach,
    }
}

/// What a link to the shelf shows of it.
pub(super) fn shelved(link: &str) -> Option<Shelved> {
    let shelf = ShelfLink::read(link)?;
    let teaches = shelf.teach;
    Some(Shelved::Lessons(Browse {
        query: shelf.query.to_string(),
        taken: Course::named(&shelf.course).map(|course| Taken { course, teaches }),
    }))
}

/// A link to what is searched for, to the course or to its notes, for whoever wants to send it on.
pub(super) fn link_to(ui: Ui) -> Live<AnyView> {
    drawn(
        move || {
            let shown = ui.shelf.with(|shelf| shelf.lessons().map(shelf_link));
            shown.unwrap_or_default()
        },
        move |link| {
            // The address of a tap's page has its token.
            (*link != ShelfLink::default() && tap().is_none()).then(|| {
                view! {
                    <a class="to-this" data-testid="shelf-link" href=link.to_string()>
                        {ui.word(|words| words.shelf_link)}
                    </a>
                }
            })
        },
    )
}
