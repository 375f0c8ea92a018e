//! Links to lessons, and what a click on one does.

use web_sys::MouseEvent;

use crate::ui::Ui;
use deltascope_presentation::command::Command;
use deltascope_replay::link::Link;

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

pub(super) fn open(ui: Ui, link: &str) {
    ui.show_stage();
    ui.send(Command::OpenLink(link.into()));
}
