//! Makes Tab skip each row of buttons in one step, so that the board does not hold up the readers of the page
//! around it.
//!
//! Buttons come, go and are disabled as a run goes on, so no button is marked as the only stop of its row.
//! Instead, while Tab is pressed, the others are not focusable.

use leptos::prelude::request_animation_frame;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::host::Host;

const ROW: &str = "[role=toolbar], .one-stop";

/// From now on each row of this board is one stop, and ↑, ↓, Home and End move along it.
pub(super) fn listen(host: &Host) {
    if host.is_page() {
        return;
    }
    host.listen("keydown", |event: KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into().ok());
        let Some((buttons, at)) = target.as_ref().and_then(row) else {
            return;
        };
        let last = buttons.len() - 1;
        let to = match event.key().as_str() {
            "Tab" => return pass(buttons, at),
            "ArrowDown" => (at + 1) % buttons.len(),
            "ArrowUp" => at.checked_sub(1).unwrap_or(last),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        if let Some(button) = buttons.get(to) {
            let _ = button.focus();
        }
    });
}

/// The buttons of the row that holds this one, and its place among them.
fn row(button: &Element) -> Option<(Vec<HtmlElement>, usize)> {
    let row = button.closest(ROW).ok().flatten()?;
    let found = row.query_selector_all("button:not(:disabled)").ok()?;
    let buttons: Vec<HtmlElement> = (0..found.length())
        .filter_map(|place| found.get(place)?.dyn_into().ok())
        // A hidden button takes no focus.
        .filter(|button: &HtmlElement| button.client_height() > 0)
        .collect();
    let at = buttons.iter().position(|one| **one == *button)?;
    Some((buttons, at))
}

/// Makes the browser leave the row: it looks for the next stop after this handler.
fn pass(buttons: Vec<HtmlElement>, at: usize) {
    let others: Vec<HtmlElement> = (0..)
        .zip(buttons)
        .filter_map(|(place, button)| (place != at).then_some(button))
        .collect();
    for button in &others {
        button.set_tab_index(-1);
    }
    request_animation_frame(move || {
        for button in &others {
            let _ = button.remove_attribute("tabindex");
        }
    });
}
