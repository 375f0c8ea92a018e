//! The parts of the board that come later, and how their markup is shown. Their tables are in the parent.

use std::pin::Pin;

use js_sys::Reflect;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use web_sys::KeyboardEvent;

use super::parts::{Live, either, shown, text};
use super::tabs::DrawerTab;
use crate::later::{Kept, Stands, fetched, missing, now, part, stands};
use crate::live::{Connects, Link};
use crate::memo::{Memo, effect};
use crate::runs::RUNS;
use crate::ui::{Shelved, Ui};
use deltascope_cache::key::Key;
use deltascope_presentation::command::Command;
use deltascope_presentation::i18n::Text;
use deltascope_presentation::rows::density::{Field, is_dense, is_queue_dense};
use deltascope_presentation::rows::store::ValueRow;
use deltascope_presentation::strings::Strings;
use deltascope_presentation::view::View;

part!(
    /// The shelf and the notes for a teacher.
    SHELF, shelf: Shelf
);
part!(
    /// The drawer, runs side by side, and what is over the board.
    TOOLS, tools: Tools
);
part!(
    /// The dialog of a cluster, and the informers behind a tap.
    CLUSTER, cluster: Cluster
);

pub(crate) struct Shelf {
    pub(super) shelf: fn() -> AnyView,
    pub(super) more: fn(Ui) -> AnyView,
    pub(super) on_key: fn(Ui, &KeyboardEvent),
    /// What a link to the shelf shows of it.
    pub(crate) read: fn(&str) -> Option<Shelved>,
}

pub(crate) struct Tools {
    pub(super) tab: fn(DrawerTab) -> AnyView,
    pub(super) beside: fn() -> AnyView,
    pub(super) help: fn(RwSignal<bool>) -> AnyView,
    pub(super) presenter: fn() -> AnyView,
    pub(super) handout: fn(Ui) -> AnyView,
    /// Many objects, as cells.
    pub(super) cells: fn(Field, Label, Chosen) -> AnyView,
    /// Many keys of an index' value, as marks.
    pub(super) marks: fn(Memo<ValueRow>) -> AnyView,
}

/// The label of a field of cells.
pub(super) type Label = fn(&'static Strings) -> &'static str;
/// Receives the key that was clicked.
pub(super) type Chosen = Option<RwSignal<Option<Key>>>;

pub(crate) struct Cluster {
    pub(super) dialog: fn(RwSignal<bool>) -> AnyView,
    pub(crate) connect: fn(Link, Value) -> Connects,
    /// The informers behind a tap.
    pub(super) informers: fn() -> AnyView,
    /// The strip of tabs.
    pub(super) strip: fn() -> AnyView,
    pub(super) badge: fn(RwSignal<bool>) -> AnyView,
    pub(super) trouble: fn() -> AnyView,
    pub(super) edge: fn() -> AnyView,
    /// What a controller behind it logged, in the handlers' room.
    pub(super) logged: fn() -> AnyView,
}

/// Fetches all parts, unless the visitor saves data.
pub(crate) async fn fetch_all() {
    let connection = Reflect::get(&window().navigator(), &"connection".into());
    let saves = connection.and_then(|connection| Reflect::get(&connection, &"saveData".into()));
    if saves.is_ok_and(|saves| saves.is_truthy()) {
        return;
    }
    // What cannot be fetched now is fetched when it is asked for.
    let _ = (fetched(&RUNS).await, fetched(&TOOLS).await);
    let _ = (fetched(&SHELF).await, fetched(&CLUSTER).await);
}

/// Whether a part that draws the view's picture is not there.
pub(crate) fn lacks(view: &View) -> bool {
    let picture = &view.picture;
    now(&TOOLS).is_none() && (view.race.is_some() || is_dense(picture) || is_queue_dense(picture))
}

/// Markup of a part. The part is fetched when `when` holds, and the markup stays from then on.
pub(super) fn later<T: Sync>(
    part: &'static Kept<T>,
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn(&'static T) -> AnyView + Send + 'static,
) -> Live<AnyView> {
    once_there(
        Box::new(move || now(part).map(&view)),
        Box::new(move || stands(part)),
        Box::new(when),
        Box::new(move || Box::pin(async move { fetched(part).await.map(|_| ()) })),
    )
}

type Bring = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), Text>>>> + Send + Sync>;

// Not generic, so that leptos' machinery is compiled once.
fn once_there(
    view: Box<dyn Fn() -> Option<AnyView> + Send>,
    stands: Box<dyn Fn() -> Stands + Send + Sync>,
    when: Box<dyn Fn() -> bool + Send + Sync>,
    fetch: Bring,
) -> Live<AnyView> {
    let ui = Ui::get();
    // Gone with the board.
    let asked = RwSignal::new(());
    let is_there = Memo::new(move |_| stands() == Stands::There);
    effect(move || {
        if !when() || is_there.get_untracked() {
            return;
        }
        let fetching = fetch();
        spawn_local(async move {
            if let Err(message) = fetching.await
                && !asked.is_disposed()
            {
                // Where the message can be seen.
                ui.show_board();
                ui.send(Command::Wrong(message));
            }
        });
    });
    shown(move || is_there.get(), view)
}

/// Markup that draws what is there in any case: the part is fetched at once, for all such places together. If it does not
/// come, `otherwise` stands there.
pub(super) fn dense(
    view: impl Fn(&'static Tools) -> AnyView + Send + 'static,
    otherwise: fn() -> AnyView,
) -> Live<AnyView> {
    ask();
    either(
        move || stands(&TOOLS) == Stands::There,
        move || now(&TOOLS).map(&view),
        move || shown(move || stands(&TOOLS) == Stands::Failed, otherwise),
    )
}

/// Fetches what [`dense`] draws.
fn ask() {
    if now(&TOOLS).is_none() {
        spawn_local(async {
            let _said = fetched(&TOOLS).await;
        });
    }
}

/// Says in place of a field that its part is missing, and fetches it again.
pub(super) fn again() -> AnyView {
    let ui = Ui::get();
    view! {
        <button class="btn again" data-testid="again" on:click=move |_| ask()>
            {text(move || missing().get(ui.lang.get()).to_owned())}
        </button>
    }
    .into_any()
}
