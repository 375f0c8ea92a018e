//! Boxes the parts of the markup that change. tachys compiles some KB for each closure type that it gets, and the
//! board has about two hundred.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use leptos::html;
use leptos::prelude::*;
use leptos::tachys::reactive_graph::ReactiveFunction;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::rows::refill::numbered;
use deltascope_presentation::strings::Strings;

/// A value that is computed again when a signal it reads changes.
pub(super) struct Live<T>(Box<dyn Compute<T>>);

/// Not a `dyn Fn`: the compiler adds to each of these a function that calls it once.
trait Compute<T>: Send {
    fn compute(&self) -> T;
}

impl<T, F: Fn() -> T + Send> Compute<T> for F {
    fn compute(&self) -> T {
        self()
    }
}

impl<T> Live<T> {
    fn new(compute: impl Fn() -> T + Send + 'static) -> Self {
        Self(Box::new(compute))
    }
}

impl<T: 'static> ReactiveFunction for Live<T> {
    type Output = T;

    fn invoke(&mut self) -> T {
        self.0.compute()
    }

    fn into_shared(self) -> Arc<Mutex<dyn FnMut() -> T + Send>> {
        Arc::new(Mutex::new(move || self.0.compute()))
    }
}

/// A text node or an attribute's value.
pub(super) type Text = Live<Cow<'static, str>>;

/// A [`Text`] from a closure.
pub(super) fn text<T: Into<Cow<'static, str>>>(text: impl Fn() -> T + Send + 'static) -> Text {
    Live::new(move || text().into())
}

/// An attribute that may be absent.
pub(super) fn maybe<T: Into<Cow<'static, str>>>(
    text: impl Fn() -> Option<T> + Send + 'static,
) -> Live<Option<Cow<'static, str>>> {
    Live::new(move || text().map(Into::into))
}

/// Markup from a closure.
pub(super) fn part<V: IntoView + 'static>(view: impl Fn() -> V + Send + 'static) -> Live<AnyView> {
    Live::new(move || view().into_any())
}

/// Markup that exists only while `when` holds.
pub(super) fn shown<V: IntoView + 'static>(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> V + Send + 'static,
) -> Live<AnyView> {
    either(when, view, || ())
}

/// One piece of markup while `when` holds, another while it does not.
pub(super) fn either<V: IntoView + 'static, W: IntoView + 'static>(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> V + Send + 'static,
    otherwise: impl Fn() -> W + Send + 'static,
) -> Live<AnyView> {
    // A memo, so that the markup is redrawn only when the answer changes.
    let when = Memo::new(move |_| when());
    Live::new(move || {
        if when.get() {
            view().into_any()
        } else {
            otherwise().into_any()
        }
    })
}

/// Markup of a value, drawn again only when the value changes: leptos then sets all attributes anew, and the browser
/// looks for the styles of each element again.
pub(super) fn drawn<T, V>(
    value: impl Fn() -> T + Send + Sync + 'static,
    view: impl Fn(&T) -> V + Send + 'static,
) -> Live<AnyView>
where
    T: PartialEq + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let value = Memo::new(move |_| value());
    part(move || value.with(&view))
}

/// Identifies a row of a list: by a number, a text, or both.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(u64, Arc<str>);

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number, Arc::default())
    }
}

impl From<usize> for Id {
    fn from(number: usize) -> Self {
        (number, Arc::default()).into()
    }
}

impl From<(usize, Arc<str>)> for Id {
    fn from((number, text): (usize, Arc<str>)) -> Self {
        Self(number as u64, text)
    }
}

impl From<Arc<str>> for Id {
    fn from(text: Arc<str>) -> Self {
        Self(0, text)
    }
}

impl From<Key> for Id {
    fn from(key: Key) -> Self {
        Self(0, key.into())
    }
}

/// A dialog that is open while `open` says so. A heading in it, with this id, is its label.
pub(super) fn modal(
    open: RwSignal<bool>,
    class: &'static str,
    label: &'static str,
    content: AnyView,
) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else {
            return;
        };
        if open.get() && !dialog.open() {
            let _ = dialog.show_modal();
        } else if !open.get() && dialog.open() {
            dialog.close();
        }
    });
    let ui = Ui::get();
    // Back may lead to the shelf while a dialog stands before the stage.
    effect(move || {
        if ui.shelved() {
            open.set(false);
        }
    });
    view! {
        <dialog
            class=class
            data-testid=class
            node_ref=dialog
            aria-labelledby=label
            on:close=move |_| open.set(false)
            on:click=move |event| {
                // A click on the backdrop has the dialog itself as its target.
                if event.target() == event.current_target() {
                    open.set(false);
                }
            }
        >
            {content}
        </dialog>
    }
    .into_any()
}

/// A list that keeps its elements. Each element follows its own row; once the row has left the list, the element
/// keeps its last look.
pub(super) fn list<T, K, V>(
    rows: Memo<Vec<T>>,
    key: fn(&T) -> K,
    view: impl Fn(Memo<T>) -> V + Send + Sync + 'static,
) -> AnyView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    K: Into<Id> + 'static,
    V: IntoView + 'static,
{
    let id = move |row: &T| key(row).into();
    let ids = move || rows.with(|rows| rows.iter().map(id).collect());
    let row = move |wanted: Id| {
        let find = move |rows: &Vec<T>| rows.iter().find(|row| id(row) == wanted).cloned();
        following(rows, find).map_or_else(|| ().into_any(), |row| view(row).into_any())
    };
    keyed(Box::new(ids), Arc::new(row))
}

/// The same, but where no row is the `same` as one before, the n-th element follows the n-th row: a live run replaces all of
/// them at each redraw, and a browser draws new elements more slowly than new texts.
pub(super) fn refilled<T, V>(
    rows: Memo<Vec<T>>,
    same: fn(&T, &T) -> bool,
    view: impl Fn(Memo<T>) -> V + Send + Sync + 'static,
) -> AnyView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let rows = Memo::new(move |before: Option<&Vec<(u64, T)>>| {
        numbered(before.map_or(&[], Vec::as_slice), rows.get(), same)
    });
    list(
        rows,
        |row| row.0,
        move |row| view(Memo::new(move |_| row.with(|row| row.1.clone()))),
    )
}

/// A list whose n-th element follows the n-th row.
pub(super) fn places<T, V>(
    rows: Memo<Vec<T>>,
    view: impl Fn(Memo<T>) -> V + Send + Sync + 'static,
) -> AnyView
where
    T: Clone + PartialEq + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let ids = move || (0..rows.with(Vec::len)).map(Id::from).collect();
    let row = move |Id(at, _): Id| {
        let find = move |rows: &Vec<T>| rows.get(usize::try_from(at).ok()?).cloned();
        following(rows, find).map_or_else(|| ().into_any(), |row| view(row).into_any())
    };
    keyed(Box::new(ids), Arc::new(row))
}

/// A row of a list, or its last value once it has left. A list asks only for rows that it has.
fn following<T>(
    rows: Memo<Vec<T>>,
    find: impl Fn(&Vec<T>) -> Option<T> + Send + Sync + 'static,
) -> Option<Memo<T>>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let first = rows.with_untracked(&find)?;
    Some(Memo::new(move |before: Option<&T>| {
        rows.with(&find)
            .unwrap_or_else(|| before.unwrap_or(&first).clone())
    }))
}

fn keyed(
    ids: Box<dyn Fn() -> Vec<Id> + Send>,
    row: Arc<dyn Fn(Id) -> AnyView + Send + Sync>,
) -> AnyView {
    let props = ForProps::builder()
        .each(ids)
        .key(Id::clone)
        .children(move |id| row(id))
        .build();
    For(props).into_any()
}

impl Ui {
    /// The role of what is a landmark on the project's own page. Other pages may hold several boards, so there it
    /// is only a group.
    pub(super) fn within(self) -> Option<&'static str> {
        self.shape
            .with_untracked(|shape| shape.embedded.then_some("group"))
    }

    /// The role of a heading. On other pages it does not belong to the document's outline.
    pub(super) fn heading(self) -> Option<&'static str> {
        self.shape
            .with_untracked(|shape| shape.embedded.then_some("presentation"))
    }

    /// The role of a row of buttons. On other pages Tab skips a row in one step, and ↑ and ↓ move along it,
    /// because ← and → step through the run.
    pub(super) fn toolbar(self) -> &'static str {
        if self.shape.with_untracked(|shape| shape.embedded) {
            "toolbar"
        } else {
            "group"
        }
    }

    /// The orientation of such a row: which arrow keys move along it.
    pub(super) fn upright(self) -> Option<&'static str> {
        self.shape
            .with_untracked(|shape| shape.embedded.then_some("vertical"))
    }

    /// A text of the page, in the chosen language.
    pub(super) fn word(self, pick: fn(&'static Strings) -> &'static str) -> Text {
        text(move || pick(self.words()))
    }
}

/// The tab that a key goes to from the one at `at`, among `count`; the key is used up then.
pub(super) fn along(
    event: &web_sys::KeyboardEvent,
    at: Option<usize>,
    count: usize,
) -> Option<usize> {
    let at = at.unwrap_or_default();
    let to = match event.key().as_str() {
        "ArrowRight" => (at + 1) % count,
        "ArrowLeft" => (at + count - 1) % count,
        "Home" => 0,
        "End" => count - 1,
        _ => return None,
    };
    event.prevent_default();
    Some(to)
}

/// Scrolls a row of tabs so that the one with this id is in sight.
pub(super) fn in_sight(ui: Ui, row: NodeRef<html::Div>, id: &str) {
    let tab = ui.host().find(&format!("#{id}"));
    let tab = tab.and_then(|tab| tab.dyn_into::<HtmlElement>().ok());
    if let (Some(row), Some(tab)) = (row.get(), tab) {
        let middle = tab.offset_left() + tab.offset_width() / 2 - row.offset_left();
        row.set_scroll_left(middle - row.client_width() / 2);
    }
}

/// Moves the focus.
pub(super) fn focus(element: Option<Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}
