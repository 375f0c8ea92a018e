//! Links to lessons, and what a click on one does.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::MouseEvent;

use super::parts::{Live, drawn};
use crate::host::tap;
use crate::ui::{Browse, Shelved, Taken, Ui};
use deltascope_presentation::command::Command;
use deltascope_presentation::shelf::Course;
use deltascope_replay::lessons;
use deltascope_replay::link::{Link, ShelfLink};

/// The link to a lesson.
pub(super) fn lesson_link(lesson: &str, scene: Option<usize>) -> String {
    let link = Link {
        lesson: Some(lesson.into()),
        scene,
        ..Link::default()
    };
    link.to_string()
}

/// The link to a scene of a lesson, from 1.
pub(super) fn story_link(lesson: &str, scene: usize) -> String {
    lesson_link(lesson, Some(scene))
}

/// Opens a lesson, with its story where it has one.
pub(super) fn open_lesson(ui: Ui, id: &str) {
    // Opened without any part of the program that comes later.
    if !lessons::told().contains(&id) {
        return ui.send(Command::Load(id.into()));
    }
    // What writes any link comes later; an id needs no escapes.
    open(ui, &["#v1;lesson=", id, ";scene=1"].concat());
}

/// Opens what a link leads to; a new tab or window opens by the address. The address may have this fragment
/// already, and then the browser does nothing.
pub(super) fn follow(ui: Ui, event: &MouseEvent, link: &str) {
    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
        event.prevent_default();
        open(ui, link);
    }
}

/// The link to a course's notes.
fn notes_link(course: Course) -> String {
    let link = ShelfLink {
        course: course.id().into(),
        teach: true,
        ..ShelfLink::default()
    };
    link.to_string()
}

/// Lets the browser follow a link in a course's notes, so that its Back leads to them again, to where they were read.
pub(super) fn leave_notes(ui: Ui, event: &MouseEvent, course: Course, link: &str) {
    if event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    // Where the history is closed to the page, as in a sandboxed frame, the link leads on without a way back.
    if keep_notes(ui, course).is_none() {
        follow(ui, event, link);
    }
}

/// The same for a button.
pub(super) fn go_from_notes(ui: Ui, course: Course, link: &str) {
    let goes = keep_notes(ui, course).and_then(|()| window().location().set_hash(link).ok());
    if goes.is_none() {
        open(ui, link);
    }
}

fn keep_notes(ui: Ui, course: Course) -> Option<()> {
    let shelf = ui.host().find(".shelf");
    let top = shelf.map_or(0, |shelf| shelf.scroll_top());
    keep(&notes_link(course), Some(top))
}

/// Keeps in the history that these notes are shown, in an entry of their own, and how far they were read.
fn keep(notes: &str, top: Option<i32>) -> Option<()> {
    let history = window().history().ok()?;
    let top = top.map_or(JsValue::NULL, JsValue::from);
    match window().location().hash().ok()? == notes {
        true => history.replace_state_with_url(&top, "", Some(notes)),
        false => history.push_state_with_url(&top, "", Some(notes)),
    }
    .ok()
}

/// How far these notes were read before a link in them was followed; only once after each.
pub(super) fn read_to(course: Course) -> Option<i32> {
    let notes = notes_link(course);
    let is_here = window().location().hash().ok()? == notes;
    let top = window().history().ok()?.state().ok()?.as_f64();
    let top = top.filter(|_| is_here)?;
    keep(&notes, None)?;
    #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
    Some(top as i32)
}

/// Opens what a link leads to, in place of the shelf.
pub(super) fn open(ui: Ui, link: &str) {
    ui.show_stage();
    ui.send(Command::OpenLink(link.into()));
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
            let shown = ui.shelf.with(|shelf| shelf.lessons().cloned());
            let Browse { query, taken } = shown.unwrap_or_default();
            ShelfLink {
                query: query.trim().into(),
                course: taken.map_or("", |taken| taken.course.id()).into(),
                teach: taken.is_some_and(|taken| taken.teaches),
            }
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
