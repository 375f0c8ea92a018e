//! Many objects as a field of small cells on a canvas. The user can find a cell, follow it and ask about it.
//!
//! A canvas has no elements, so an element with an anchor is put over each cell that something refers to: flights,
//! marks and clicks then work as they do with tokens.

mod painter;
mod strip;

use strip::{Strip, StripProps};

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::later::later;
use super::layout::{Layout as Screen, px_of};
use super::parts::{list, maybe, part, text};
use super::tabs::DrawerTab;
use crate::driver::frame_or_late;
use crate::later::Part;
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::rows::Names;
use deltascope_presentation::rows::density::{Field, Fill, Layout, name, said};
use deltascope_presentation::rows::store::ValueRow;
use deltascope_presentation::strings::{self, Strings};
use deltascope_presentation::view::View;
use deltascope_presentation::view::cells::Hue;
use painter::Painter;

/// Most keys that the search proposes.
const PROPOSED: usize = 12;

/// An element over a cell.
#[derive(Clone, Debug, PartialEq)]
struct Spot {
    anchor: Anchor,
    class: &'static str,
    style: String,
}

/// Sets the style by script: the page's Content-Security-Policy may forbid the attribute.
fn css(element: &Element, style: &str) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        element.style().set_css_text(style);
    }
}

fn ratio() -> f64 {
    window().device_pixel_ratio().max(1.0)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "px of a screen, not negative; a cast saturates"
)]
fn px(number: f64) -> u32 {
    number as u32
}

/// The style of the element over a cell.
fn over(layout: Layout, cell: usize) -> String {
    let (x, y) = layout.at(cell);
    let ratio = ratio();
    let of = |px: u32| f64::from(px) / ratio;
    let side = of(layout.pitch - layout.gap);
    decimals(
        "left:#px;top:#px;width:#px;height:#px",
        &[of(x), of(y), side, side],
    )
}

/// The label of a field of cells.
type Label = fn(&'static Strings) -> &'static str;
/// Receives the key that was clicked.
type Chosen = Option<RwSignal<Option<Key>>>;

/// A field of cells. So many objects are seldom.
pub(super) fn cells(field: Field, label: Label, chosen: Chosen) -> AnyView {
    let drawn = move || {
        Density(DensityProps {
            field,
            label,
            chosen,
        })
        .into_any()
    };
    later(Part::Seldom, || true, drawn).into_any()
}

/// A strip of marks: many keys of an index' value.
pub(super) fn marks(row: Memo<ValueRow>) -> AnyView {
    let drawn = move || Strip(StripProps { row }).into_any();
    later(Part::Seldom, || true, drawn).into_any()
}

#[component]
fn Density(
    field: Field,
    /// The field's label.
    label: Label,
    /// Receives the key that was clicked.
    chosen: Chosen,
) -> impl IntoView {
    let ui = Ui::get();
    let screen = Screen::get();
    let frame = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let spare = NodeRef::<html::Span>::new();
    let size = px_of(frame);
    let layout = Memo::new(move |_| {
        let (width, height) = size.get();
        let ratio = ratio();
        let count = ui.view.with(|view| field.room(view));
        Layout::fit(px(width * ratio), px(height * ratio), px(ratio), count)
    });
    // The cell that the pointer or the keyboard is on.
    let cursor = RwSignal::new(None::<Anchor>);
    let painter = StoredValue::new_local(Painter::default());
    let counts = painted(ui, field, canvas, layout, painter);
    // How many cells do not fit, even at one px each.
    let hidden = Memo::new(move |_| {
        let cells = layout.get().cells();
        let (all, room) = ui
            .view
            .with(|view| (field.total(&view.picture), field.room(view)));
        if room <= cells {
            return 0;
        }
        let shown: usize = counts.with(|counts| counts.iter().map(|(_, count)| count).sum());
        all.saturating_sub(shown)
    });
    let spots = Memo::new(move |_| {
        let (layout, cursor) = (layout.get(), cursor.get());
        ui.view.with(|view| spots(view, field, layout, cursor))
    });
    let find = move |anchor: &Anchor| {
        let layout = layout.get_untracked();
        let cells = layout.cells();
        let cell = ui
            .view
            .with_untracked(|view| field.cell(view, cells, anchor));
        let cell = cell.filter(|cell| *cell < cells)?;
        let spare: Element = spare.get_untracked()?.into();
        let name = name(anchor);
        let name = name.rsplit('/').next().unwrap_or_default();
        css(&spare, &over(layout, cell));
        let _ = spare.set_attribute("data-name", name);
        Some(spare)
    };
    ui.host().add_field(Box::new(find));
    let what_is_at = move |cell: usize| {
        let cells = layout.get_untracked().cells();
        ui.view.with_untracked(|view| field.at(view, cells, cell))
    };
    let under = move |event: &web_sys::MouseEvent| {
        let place = [event.offset_x(), event.offset_y()];
        let [x, y] = place.map(|at| px(f64::from(at) * ratio()));
        layout.get_untracked().cell(x, y).and_then(what_is_at)
    };
    let choose = move |anchor: Anchor, follow: bool| {
        let key = anchor.key().cloned();
        let key = ui
            .view
            .with_untracked(|view| key.filter(|key| view.places.get(key).is_some()));
        if let Some(chosen) = chosen {
            chosen.set(key.clone());
        }
        ui.send(Command::Select(Some(anchor)));
        if let (true, Some(key)) = (follow, key) {
            ui.send(Command::Follow(Some(key)));
        }
        screen.drawer.show(DrawerTab::Why);
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let key = event.key();
        let here = cursor.get_untracked();
        if matches!(key.as_str(), "Enter" | " ") {
            if let Some(anchor) = here {
                event.prevent_default();
                choose(anchor, false);
            }
            return;
        }
        let layout = layout.get_untracked();
        let at = here.and_then(|anchor| {
            ui.view
                .with_untracked(|view| field.cell(view, layout.cells(), &anchor))
        });
        let to = painter.with_value(|painter| painter.go(&key, at));
        if let Some(to) = to {
            event.prevent_default();
            event.stop_propagation();
            if let Some(anchor) = what_is_at(to) {
                cursor.set(Some(anchor));
            }
        }
    };
    let id = id_of(field);
    let is_focused = move || {
        let active = ui.host().active_element();
        active.is_some_and(|active| {
            frame.get_untracked().is_some_and(|frame| {
                let frame: &Element = &frame;
                *frame == active
            })
        })
    };
    view! {
        <div class=format!("density {id}")>
            {(field != Field::Queue).then(|| view! { <Search field=field found=move |key: Key| {
                let anchor = field.anchor(key);
                cursor.set(Some(anchor.clone()));
                choose(anchor, true);
            } /> })}
            <div
                class="cells"
                role="listbox"
                tabindex="0"
                data-testid=format!("density-{id}")
                aria-label=text(move || {
                    let (words, lang) = (ui.words(), ui.lang.get());
                    strings::field(lang, label(words), &counts.get(), field == Field::Queue)
                })
                aria-activedescendant=maybe(move || cursor.get().map(|_| format!("cell-{id}")))
                node_ref=frame
                on:keydown=on_key
                on:focus=move |_| {
                    if cursor.get_untracked().is_none() {
                        let first = painter.with_value(|painter| painter.go("Home", None));
                        cursor.set(first.and_then(what_is_at));
                    }
                }
                on:blur=move |_| cursor.set(None)
                on:pointermove=move |event| {
                    let anchor = under(&event);
                    if cursor.get_untracked() != anchor {
                        cursor.set(anchor);
                    }
                }
                on:pointerleave=move |_| {
                    if !is_focused() {
                        cursor.set(None);
                    }
                }
                on:click=move |event| {
                    if let Some(anchor) = under(&event) {
                        choose(anchor, false);
                    }
                }
            >
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                {list(spots, |spot| Arc::from(name(&spot.anchor)), move |spot| option(ui, field, cursor, spot))}
                <span class="spot" aria-hidden="true" node_ref=spare></span>
            </div>
            {legend(ui, field, cursor, counts, hidden)}
        </div>
    }
}

/// Paints the cells, and counts those of each colour; for a live run in the frame after its redraw, which has enough to do.
fn painted(
    ui: Ui,
    field: Field,
    canvas: NodeRef<html::Canvas>,
    layout: Memo<Layout>,
    painter: StoredValue<Painter, LocalStorage>,
) -> RwSignal<Vec<(Hue, usize)>> {
    let counts = RwSignal::new(Vec::<(Hue, usize)>::new());
    let paint = move || {
        // None once the field is gone.
        let found = painter.try_update_value(|painter| {
            let canvas = canvas.get_untracked()?;
            let (layout, theme) = (layout.get_untracked(), ui.theme.get_untracked());
            ui.view.with_untracked(|view| {
                painter
                    .paint(&canvas, view, field, layout, theme)
                    .then(|| Field::counts(painter.cells.looks()))
            })
        });
        if let Some(Some(found)) = found
            && counts.with_untracked(|counts| *counts != found)
        {
            counts.set(found);
        }
    };
    let mut before = None;
    let waits = Rc::new(Cell::new(false));
    effect(move || {
        let now = Some((layout.get(), ui.theme.get(), canvas.get().is_some()));
        let fits = now == std::mem::replace(&mut before, now);
        let follows = |view: &Rc<View>| view.live.is_some_and(|live| live.following);
        if !(ui.view.with(follows) && fits) {
            paint();
        } else if !waits.replace(true) {
            let waits = Rc::clone(&waits);
            spawn_local(async move {
                frame_or_late().await;
                waits.set(false);
                paint();
            });
        }
    });
    counts
}

/// An element over a cell.
fn option(ui: Ui, field: Field, cursor: RwSignal<Option<Anchor>>, spot: Memo<Spot>) -> AnyView {
    let id = id_of(field);
    let anchor = spot.with_untracked(|spot| spot.anchor.clone());
    let place = anchor.to_string();
    let short = ui
        .view
        .with_untracked(|view| Names::of(view).get(&name(&anchor)));
    let here = anchor.clone();
    view! {
        <span
            class=text(move || spot.with(|spot| spot.class))
            prop:style=move || spot.with(|spot| spot.style.clone())
            id=maybe(move || {
                let is_here = cursor.with(|cursor| cursor.as_ref() == Some(&here));
                is_here.then(|| format!("cell-{id}"))
            })
            role="option"
            aria-label=text(move || {
                ui.view.with(|view| said(view, &anchor))
            })
            data-anchor=place
            data-name=short
        ></span>
    }
    .into_any()
}

/// What the pointer or the keyboard is on, and how many cells have which colour.
fn legend(
    ui: Ui,
    field: Field,
    cursor: RwSignal<Option<Anchor>>,
    counts: RwSignal<Vec<(Hue, usize)>>,
    hidden: Memo<usize>,
) -> AnyView {
    let description = text(move || {
        let cursor = cursor.get();
        ui.view
            .with(|view| cursor.map_or_else(String::new, |anchor| said(view, &anchor)))
    });
    view! {
        <p class="legend" aria-hidden="true">
            <span class="told mono" translate="no">{description}</span>
            {part(move || {
                let lang = ui.lang.get();
                counts
                    .get()
                    .into_iter()
                    .map(|(hue, count)| {
                        let class = match hue {
                            Hue::Same => "",
                            Hue::Of(delta_type) => deltascope_presentation::rows::type_class(delta_type),
                        };
                        view! {
                            <span class=format!("key {class}")>
                                <i></i>
                                {strings::cells(lang, hue, field == Field::Queue)}
                                " "
                                <b>{count}</b>
                            </span>
                        }
                    })
                    .collect_view()
            })}
            {part(move || {
                let hidden = hidden.get();
                (hidden > 0).then(|| strings::more(ui.lang.get(), hidden))
            })}
        </p>
    }
    .into_any()
}

/// The name in test ids and classes.
fn id_of(field: Field) -> &'static str {
    match field {
        Field::Objects => "objects",
        Field::Items => "items",
        Field::Queue => "queued",
    }
}

/// Finds an object by part of its name.
#[component]
fn Search(field: Field, found: impl Fn(Key) + Copy + Send + 'static) -> impl IntoView {
    let ui = Ui::get();
    let wanted = RwSignal::new(String::new());
    let proposed = Memo::new(move |_| {
        let wanted = wanted.get();
        if wanted.is_empty() {
            return Vec::new();
        }
        ui.view
            .with_untracked(|view| matching(view, field, &wanted))
    });
    let id = format!("find-{}", id_of(field));
    view! {
        <input
            class="find"
            type="search"
            data-testid="density-find"
            placeholder=ui.word(|words| words.find_object)
            aria-label=ui.word(|words| words.find_object)
            list=id.clone()
            maxlength="300"
            autocomplete="off"
            spellcheck="false"
            on:input=move |event| wanted.set(event_target_value(&event))
            on:change=move |event| {
                let text = event_target_value(&event);
                let key = ui.view.with_untracked(|view| {
                    matching(view, field, &text).first().cloned()
                });
                if let (Some(key), false) = (key, text.is_empty()) {
                    found(key);
                }
            }
        />
        <datalist id=id>
            {list(proposed, Key::clone, move |key| {
                view! { <option value=key.get_untracked().to_string()></option> }
            })}
        </datalist>
    }
}

/// The keys in a field that contain `text`. An exact match comes first.
fn matching(view: &View, field: Field, text: &str) -> Vec<Key> {
    let picture = &view.picture;
    let is_there = |key: &&Key| match field {
        Field::Objects => picture.api.objects.contains_key(*key),
        _ => picture.store.items.contains_key(*key),
    };
    let exact = Some(Key::from(text)).filter(|key| is_there(&key));
    let others = view.places.keys();
    let others = others.filter(|key| key.contains(text) && ***key != *text);
    let others = others.filter(is_there).cloned();
    exact.into_iter().chain(others).take(PROPOSED).collect()
}

fn spots(view: &View, field: Field, layout: Layout, cursor: Option<Anchor>) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut add = |anchor: Option<Anchor>, class: &'static str| {
        let Some(anchor) = anchor else {
            return;
        };
        if let Some(known) = spots.iter_mut().find(|spot| spot.anchor == anchor) {
            if class == "spot here" {
                known.class = class;
            }
            return;
        }
        let cell = field.cell(view, layout.cells(), &anchor);
        let cell = cell.filter(|cell| *cell < layout.cells());
        let is_there = field.look(&view.picture, &anchor).fill != Fill::Nothing;
        if let (Some(cell), true) = (cell, is_there || class == "spot lit") {
            let style = over(layout, cell);
            spots.push(Spot {
                anchor,
                class,
                style,
            });
        }
    };
    add(field.lit(view), "spot lit");
    let selected = view.selection.as_ref().map(|one| match &one.anchor {
        // A queued key and its deltas share one cell.
        Anchor::QueuedKey { key, behind: 0 } if field == Field::Queue => field.anchor(key.clone()),
        anchor => anchor.clone(),
    });
    add(selected, "spot");
    let queue = &view.picture.queue;
    if queue.entries.is_empty() || field != Field::Queue {
        let followed = view.followed.as_ref();
        add(followed.map(|one| field.anchor(one.key.clone())), "spot");
    }
    if field == Field::Queue {
        let next = queue.keys.front().map(|key| field.anchor(key.clone()));
        let entry = (!queue.entries.is_empty()).then_some(Anchor::Entry(0));
        add(next.or(entry), "spot next");
    }
    add(cursor, "spot here");
    spots
}
