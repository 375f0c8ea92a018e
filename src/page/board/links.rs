//! Links to lessons, and what a click on one does.

use leptos::prelude::window;
use web_sys::MouseEvent;

use crate::ui::Ui;
use deltascope_presentation::command::Command;
use deltascope_presentation::shelf::Course;
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

/// Opens what a link leads to; a new tab or window opens by the address. The address may have this fragment
/// already, and then the browser does nothing.
pub(super) fn follow(ui: Ui, event: &MouseEvent, link: &str) {
    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
        event.prevent_default();
        open(ui, link);
    }
}

/// Lets the browser follow a link in a course's notes, so that its Back leads to them again, to where they were read.
pub(super) fn leave_notes(ui: Ui, event: &MouseEvent, course: Course) {
    if event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let here = ShelfLink {
        course: course.id().into(),
        teach: true,
        ..ShelfLink::default()
    };
    let top = ui
        .host()
        .find(".shelf")
        .map_or(0, |shelf| shelf.scroll_top());
    // Where there is no history, the link leads on all the same.
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&top.into(), "", Some(&here.to_string()));
    }
}

/// How far the notes were read before a link in them was followed.
pub(super) fn read_to() -> Option<i32> {
    let top = window().history().ok()?.state().ok()?.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
    Some(top as i32)
}

pub(super) fn open(ui: Ui, link: &str) {
    ui.show_stage();
    ui.send(Command::OpenLink(link.into()));
}
