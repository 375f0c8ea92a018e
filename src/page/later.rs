//! What comes later: what no first picture runs is fetched once that is there, or when it is asked for.
//!
//! In a release, `embed/pack` puts it into files of their own. A call of what is not there stops the page until it has come, and ends the
//! program if it does not. So a file is fetched here before anything may call it: commands wait in the driver's line
//! (`driver/line`), views until they can be drawn (`board/later`). A debug build, which is built again after each change, is in one piece.

use std::cell::OnceCell;

use leptos::prelude::{ArcRwSignal, Get, GetUntracked, Set};
use wasm_bindgen::prelude::JsValue;

use deltascope_world::text::Text;

/// What comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What no first picture needs: most of what commands do.
    Rest,
    /// What only the page has, and no element: the shelf, a cluster. It comes with the rest.
    Own,
}

/// How it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stands {
    #[default]
    Away,
    There,
    /// The last fetch has failed.
    Failed,
}

thread_local! {
    static STANDS: [OnceCell<ArcRwSignal<Stands>>; 2] = const { [OnceCell::new(), OnceCell::new()] };
}

fn signal(part: Part) -> ArcRwSignal<Stands> {
    STANDS.with(|all| all[part as usize].get_or_init(ArcRwSignal::default).clone())
}

/// How a part stands; tracks it.
pub(crate) fn stands(part: Part) -> Stands {
    signal(part).get()
}

/// Whether a part is there.
pub(crate) fn has(part: Part) -> bool {
    signal(part).get_untracked() == Stands::There
}

/// Fetches a part. The glue lets all who wait wait for one fetch.
///
/// # Errors
/// It cannot be fetched. The next call tries again.
pub(crate) async fn fetched(part: Part) -> Result<(), Text> {
    if has(part) {
        return Ok(());
    }
    let is_own = part == Part::Own;
    let fetched = bring(is_own).await;
    let stands = if fetched.is_ok() {
        Stands::There
    } else {
        Stands::Failed
    };
    let with_it = is_own && fetched.is_ok() && !has(Part::Rest);
    for one in with_it.then_some(Part::Rest).into_iter().chain([part]) {
        if signal(one).get_untracked() != stands {
            signal(one).set(stands);
        }
    }
    fetched.map(|_| ()).map_err(|_| missing())
}

/// Why a part is not there.
pub(crate) fn missing() -> Text {
    Text::new(
        "A part of the page could not be loaded. Check the connection, then try again.",
        "页面的一部分没有加载成功。请检查网络连接，然后重试。",
    )
}

#[cfg(not(debug_assertions))]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    // In the glue, by `embed/pack`.
    #[wasm_bindgen(catch, js_name = deltascopeBring)]
    async fn bring(is_own: bool) -> Result<JsValue, JsValue>;
}

#[cfg(debug_assertions)]
async fn bring(_is_own: bool) -> Result<JsValue, JsValue> {
    Ok(JsValue::UNDEFINED)
}
