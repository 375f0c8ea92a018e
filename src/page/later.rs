//! What comes later: what no first picture runs is fetched once that is there, and what no lesson and no room runs when it is asked for.
//!
//! In a release, `embed/pack` puts it into files of their own. A call of what is not there stops the page until it has come, and ends the
//! program if it does not. So a file is fetched here before anything may call it: commands wait in the driver's line
//! (`driver/line`), views until they can be drawn (`board/later`). A debug build, which is built again after each change, is in one piece.

use std::cell::OnceCell;

use leptos::prelude::{ArcRwSignal, Get, GetUntracked, Set};
use wasm_bindgen::prelude::JsValue;

use deltascope_presentation::command::Command;
use deltascope_world::text::Text;

/// What comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What no first picture needs: most of what commands do.
    Rest,
    /// What only the page has, and no element: the shelf, the presenter. It comes with the rest.
    Own,
    /// What neither a lesson nor a room needs: comparisons, files, most tabs of the drawer. It comes after the rest, when it is asked for.
    Seldom,
    /// The page's own, and what is seldom needed: what is about a cluster, or on paper.
    All,
}

impl Part {
    /// What a command needs.
    pub(crate) fn of(command: &Command) -> Self {
        match command.is_seldom() {
            true => Self::Seldom,
            false => Self::Rest,
        }
    }

    /// The files that it is in.
    fn files(self) -> &'static [File] {
        match self {
            Self::Rest => &[File::Rest],
            Self::Own => &[File::Rest, File::Own],
            Self::Seldom => &[File::Rest, File::Seldom],
            Self::All => &[File::Rest, File::Own, File::Seldom],
        }
    }
}

/// A file, by its place after those of the first pictures in the glue.
#[derive(Clone, Copy)]
enum File {
    Rest,
    Own,
    Seldom,
}

/// How it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stands {
    There,
    #[default]
    Away,
    /// The last fetch has failed.
    Failed,
    Comes,
}

thread_local! {
    static STANDS: [OnceCell<ArcRwSignal<Stands>>; 3] = const { [const { OnceCell::new() }; 3] };
}

fn signal(file: File) -> ArcRwSignal<Stands> {
    STANDS.with(|all| all[file as usize].get_or_init(ArcRwSignal::default).clone())
}

/// How a part stands; tracks it.
pub(crate) fn stands(part: Part) -> Stands {
    let files = part.files().iter().map(|&file| signal(file).get());
    files.max().unwrap_or_default()
}

/// Whether a part is there.
pub(crate) fn has(part: Part) -> bool {
    let mut files = part.files().iter();
    files.all(|&file| signal(file).get_untracked() == Stands::There)
}

/// Fetches a part. The glue lets all who wait wait for one fetch.
///
/// # Errors
/// It cannot be fetched. The next call tries again.
pub(crate) async fn fetched(part: Part) -> Result<(), Text> {
    if has(part) {
        return Ok(());
    }
    let files = part.files();
    tell(files, Stands::Comes);
    let fetched = bring(files.iter().map(|&file| file as u32).collect()).await;
    let stands = match fetched {
        Ok(_) => Stands::There,
        Err(_) => Stands::Failed,
    };
    tell(files, stands);
    fetched.map(|_| ()).map_err(|_| missing())
}

fn tell(files: &[File], stands: Stands) {
    for &file in files {
        let was = signal(file).get_untracked();
        if was != stands && was != Stands::There {
            signal(file).set(stands);
        }
    }
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
    async fn bring(files: Vec<u32>) -> Result<JsValue, JsValue>;
}

#[cfg(debug_assertions)]
async fn bring(_files: Vec<u32>) -> Result<JsValue, JsValue> {
    Ok(JsValue::UNDEFINED)
}
