//! How the markup of what comes later is shown.

use std::sync::Arc;

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
    let when: Arc<dyn Fn() -> bool + Send + Sync> = when.into();
    let asks = Arc::clone(&when);
    let is_there = Memo::new(move |_| stands(part) == Stands::There);
    let comes = Memo::new(move |_| asks() && stands(part) == Stands::Comes);
    effect(move || {
        if comes.get() {
            ui.fetches.update(|fetches| *fetches += 1);
            on_cleanup(move || {
                ui.fetches.try_update(|fetches| *fetches -= 1);
            });
        }
    });
    effect(move || {
        if !when() || is_there.get_untracked() {
            return;
        }
        spawn_local(async move {
            let missing = fetched(part).await.err();
            if asked.is_disposed() {
                return;
            }
            if missing.is_some() {
                // Where the message can be seen.
                ui.show_board();
            }
            if missing.is_some() || ui.missing.with_untracked(Option::is_some) {
                ui.missing.set(missing);
            }
        });
    });
    shown(move || is_there.get(), view)
}
