//! How the markup of what comes later is shown.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::parts::{Live, shown};
use crate::later::{Part, Stands, fetched, stands};
use crate::memo::{Memo, effect};
use crate::ui::Ui;

/// Markup of a part. The part is fetched when `when` holds, and the markup stays from then on.
pub(super) fn later(
    part: Part,
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> Live<AnyView> {
    once_there(part, Box::new(when), Box::new(view))
}

// Not generic, so that leptos' machinery is compiled once.
fn once_there(
    part: Part,
    when: Box<dyn Fn() -> bool + Send + Sync>,
    view: Box<dyn Fn() -> AnyView + Send>,
) -> Live<AnyView> {
    let ui = Ui::get();
    // Gone with the board.
    let asked = RwSignal::new(());
    let is_there = Memo::new(move |_| stands(part) == Stands::There);
    effect(move || {
        if !when() || is_there.get_untracked() {
            return;
        }
        spawn_local(async move {
            if let Err(message) = fetched(part).await
                && !asked.is_disposed()
            {
                // Where the message can be seen.
                ui.show_board();
                ui.missing.set(Some(message));
            }
        });
    });
    shown(move || is_there.get(), view)
}
