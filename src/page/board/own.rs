//! What only the page has, and no element.
//!
//! In a release the shelf, the presenter, and what else is only reached from here, have a file of their own,
//! [`Part::Own`](crate::later::Part); what is seldom needed, as the handout and all that is about a cluster, is in
//! [`Part::Seldom`](crate::later::Part). Both are fetched before anything calls them. So these functions are not inlined:
//! `embed/pack` knows them by the name of this module.

use leptos::prelude::*;
use serde_json::Value;
use web_sys::KeyboardEvent;

use super::presenter::Presenter;
use super::{
    cluster, handout as paper, informers as behind, links, logged as log, presenter as over,
};
use super::{shelf as library, together};
use crate::live::{self, Connects, Link};
use crate::memo::Memo;
use crate::ui::{Shelved, Ui};
use deltascope_presentation::shelf::Course;

#[inline(never)]
pub(super) fn shelf() -> AnyView {
    library::Shelf().into_any()
}

/// What to take after the lesson that is open.
#[inline(never)]
pub(super) fn more(ui: Ui) -> AnyView {
    library::more(ui)
}

/// The same in front of a class.
#[inline(never)]
pub(super) fn next_lesson(ui: Ui, done: Memo<bool>) -> AnyView {
    library::next_lesson(ui, done)
}

/// A key while the shelf is shown.
#[inline(never)]
pub(super) fn on_key(ui: Ui, event: &KeyboardEvent) {
    library::on_key(ui, event);
}

/// What a link to the shelf shows of it.
#[inline(never)]
pub(crate) fn shelved(link: &str) -> Option<Shelved> {
    links::shelved(link)
}

/// Whether the run that this link begins is open.
#[inline(never)]
pub(crate) fn is_open(ui: Ui, link: &str) -> bool {
    links::is_open(ui, link)
}

/// The course in which a link's lesson is taken.
#[inline(never)]
pub(crate) fn course(link: &str) -> Option<Course> {
    links::course(link)
}

#[inline(never)]
pub(super) fn presenter(presenter: Presenter) -> AnyView {
    view! { <over::Over presenter=presenter /> }.into_any()
}

#[inline(never)]
pub(super) fn handout(ui: Ui) -> AnyView {
    paper::handout(ui).into_any()
}

/// The informers behind a tap.
#[inline(never)]
pub(super) fn informers() -> AnyView {
    behind::Informers().into_any()
}

/// What a controller behind a tap logged, in the handlers' room.
#[inline(never)]
pub(super) fn logged() -> AnyView {
    log::logged()
}

/// The strip of tabs.
#[inline(never)]
pub(super) fn strip() -> AnyView {
    together::Strip().into_any()
}

/// The dialog of a cluster.
#[inline(never)]
pub(super) fn dialog(open: RwSignal<bool>) -> AnyView {
    view! { <cluster::Cluster open=open /> }.into_any()
}

#[inline(never)]
pub(super) fn badge(open: RwSignal<bool>) -> AnyView {
    cluster::badge(open)
}

#[inline(never)]
pub(super) fn trouble() -> AnyView {
    cluster::trouble()
}

#[inline(never)]
pub(super) fn edge() -> AnyView {
    cluster::edge()
}

#[inline(never)]
pub(crate) fn connect(link: Link, options: Value) -> Connects {
    live::connect(link, options)
}
