//! Many objects as a field of small cells, on a canvas; one of them can be found, followed and asked about.
//!
//! What moves and what is marked stands over the canvas: an element for each cell that somebody looks for,
//! with its anchor, so that a flight, a mark and a click know no difference to a token.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement};

use super::drawer::DrawerTab;
use super::layout::{Layout as Screen, rem, size_of};
use super::parts::{list, maybe, part, text};
use crate::app::{Theme, Ui};
use crate::host::Host;
use crate::memo::Memo;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{EventType, Fact, FactRecord, QueueFact, ServerFact};
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::index_set;
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::fact_queries;
use deltascope_presentation::rows::Names;
use deltascope_presentation::rows::density::{
    Before, Field, Fill, Hue, Layout, Look, said, touched,
};
use deltascope_presentation::rows::store::{Change, ValueRow};
use deltascope_presentation::strings;
use deltascope_presentation::view::View;

/// So many keys are proposed to whoever looks for one.
const PROPOSED: usize = 12;

/// The colours of cells, as the styles name them: [`hue`] gives the place.
const COLOURS: [&str; 7] = [
    "--wire",
    "--added",
    "--updated",
    "--deleted",
    "--replaced",
    "--sync",
    "--bookmark",
];

fn colour(hue: Hue) -> usize {
    match hue {
        Hue::Same => 0,
        Hue::Of(DeltaType::Added) => 1,
        Hue::Of(DeltaType::Updated) => 2,
        Hue::Of(DeltaType::Deleted) => 3,
        Hue::Of(DeltaType::Replaced | DeltaType::ReplacedAll) => 4,
        Hue::Of(DeltaType::Sync | DeltaType::SyncAll) => 5,
        Hue::Of(DeltaType::Bookmark) => 6,
    }
}

/// Something that stands over a cell.
#[derive(Clone, Debug, PartialEq)]
struct Spot {
    name: Arc<str>,
    class: &'static str,
    style: String,
}

type Find = Box<dyn Fn(&str) -> Option<Element>>;

/// A field: its own number, that of its board, and how to find something in it.
type Found = (usize, u32, Find);

thread_local! {
    /// The fields on the page, each of which finds what stands for an anchor of its own.
    static FIELDS: RefCell<Vec<Found>> = const { RefCell::new(Vec::new()) };
}

/// An element where the cell of this anchor is.
pub(crate) fn stand_in(host: &Host, anchor: &str) -> Option<Element> {
    FIELDS.with_borrow(|fields| {
        let here = fields
            .iter()
            .filter(|(_, board, _)| *board == host.number());
        here.into_iter().find_map(|(_, _, find)| find(anchor))
    })
}

/// Lets anchors be found as long as the owner of the caller is there.
fn register(ui: Ui, find: Find) {
    let board = ui.host().number();
    let number = FIELDS.with_borrow_mut(|fields| {
        let number = fields.last().map_or(0, |(number, ..)| number + 1);
        fields.push((number, board, find));
        number
    });
    on_cleanup(move || FIELDS.with_borrow_mut(|fields| fields.retain(|(of, ..)| *of != number)));
}

/// Not as an attribute, which a page may forbid.
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

/// The style of an element over a cell.
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

/// A field.
#[component]
pub(super) fn Density(
    /// Of what.
    field: Field,
    /// What it is called.
    label: fn(&'static strings::Strings) -> &'static str,
    /// Gets the key that was clicked.
    #[prop(optional)]
    chosen: Option<RwSignal<Option<Key>>>,
) -> impl IntoView {
    let ui = Ui::get();
    let screen = Screen::get();
    let frame = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let spare = NodeRef::<html::Span>::new();
    let size = size_of(frame);
    let layout = Memo::new(move |_| {
        let (width, height) = size.get();
        let scale = rem(&ui.host()) / 16.0 * ratio();
        let count = ui.view.with(|view| field.room(view));
        Layout::fit(px(width * scale), px(height * scale), px(ratio()), count)
    });
    // What the pointer or the keys are on.
    let cursor = RwSignal::new(None::<Arc<str>>);
    let painter = StoredValue::new_local(Painter::default());
    let counts = RwSignal::new(Vec::<(Hue, usize)>::new());
    Effect::new(move |_| {
        let (layout, theme) = (layout.get(), ui.theme.get());
        let Some(canvas) = canvas.get() else {
            return;
        };
        ui.view.with(|view| {
            let found = painter.try_update_value(|painter| {
                painter
                    .paint(&canvas, view, field, layout, theme)
                    .then(|| Field::counts(&painter.looks))
            });
            if let Some(Some(found)) = found
                && counts.with_untracked(|counts| *counts != found)
            {
                counts.set(found);
            }
        });
    });
    // On a small screen not even a px each has room.
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
    let find = move |anchor: &str| {
        let layout = layout.get_untracked();
        let cell = ui.view.with_untracked(|view| {
            let name = name_of(view, field, anchor)?;
            field.cell(view, layout.cells(), name)
        });
        let cell = cell.filter(|cell| *cell < layout.cells())?;
        let spare: Element = spare.get_untracked()?.into();
        let name = anchor.rsplit('/').next().unwrap_or_default();
        css(&spare, &over(layout, cell));
        let _ = spare.set_attribute("data-name", name);
        Some(spare)
    };
    register(ui, Box::new(find));
    let name_at = move |cell: usize| {
        let cells = layout.get_untracked().cells();
        ui.view.with_untracked(|view| field.name(view, cells, cell))
    };
    let under = move |event: &web_sys::MouseEvent| {
        let place = [event.offset_x(), event.offset_y()];
        let [x, y] = place.map(|at| px(f64::from(at) * ratio()));
        layout.get_untracked().cell(x, y).and_then(name_at)
    };
    let choose = move |name: &str, follow: bool| {
        let (anchor, key) = ui.view.with_untracked(|view| {
            (
                field.anchor(view, name),
                view.places.get(name).map(|_| Key::from(name)),
            )
        });
        if let Some(chosen) = chosen {
            chosen.set(key.clone());
        }
        ui.send(Command::Select(Some(anchor.into())));
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
            if let Some(name) = here {
                event.prevent_default();
                choose(&name, false);
            }
            return;
        }
        let layout = layout.get_untracked();
        let at = here.and_then(|name| {
            ui.view
                .with_untracked(|view| field.cell(view, layout.cells(), &name))
        });
        let to = painter.with_value(|painter| painter.go(&key, at));
        if let Some(to) = to {
            event.prevent_default();
            event.stop_propagation();
            if let Some(name) = name_at(to) {
                cursor.set(Some(name.into()));
            }
        }
    };
    let id = match field {
        Field::Objects => "objects",
        Field::Items => "items",
        Field::Queue => "queued",
    };
    let is_focused = move || {
        let active = ui.host().active_element();
        active.is_some_and(|active| {
            frame.get_untracked().is_some_and(|frame| {
                let frame: &Element = &frame;
                *frame == active
            })
        })
    };
    let told = text(move || {
        let cursor = cursor.get();
        ui.view
            .with(|view| cursor.map_or_else(String::new, |name| said(field, view, &name)))
    });
    view! {
        <div class=format!("density {id}")>
            {(field != Field::Queue).then(|| view! { <Search field=field found=move |name: String| {
                cursor.set(Some(name.as_str().into()));
                choose(&name, true);
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
                        cursor.set(first.and_then(name_at).map(Into::into));
                    }
                }
                on:blur=move |_| cursor.set(None)
                on:pointermove=move |event| {
                    let name = under(&event).map(Arc::from);
                    if cursor.get_untracked() != name {
                        cursor.set(name);
                    }
                }
                on:pointerleave=move |_| {
                    if !is_focused() {
                        cursor.set(None);
                    }
                }
                on:click=move |event| {
                    if let Some(name) = under(&event) {
                        choose(&name, false);
                    }
                }
            >
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                {list(spots, |spot| Arc::clone(&spot.name), move |spot| {
                    let name = spot.with_untracked(|spot| Arc::clone(&spot.name));
                    let anchor = ui.view.with_untracked(|view| field.anchor(view, &name));
                    let short = ui.view.with_untracked(|view| Names::of(view).get(&name));
                    let here = name.clone();
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
                                ui.view.with(|view| said(field, view, &name))
                            })
                            data-anchor=anchor
                            data-name=short
                        ></span>
                    }
                })}
                <span class="spot" aria-hidden="true" node_ref=spare></span>
            </div>
            <p class="legend" aria-hidden="true">
                <span class="told mono" translate="no">{told}</span>
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
        </div>
    }
}

/// What a strip was drawn with: the theme, its size, and how many places there are.
type Drawn = Option<(Theme, (f64, f64), usize)>;

/// The keys of one set, as marks along a strip: each object at its own place, the same in all strips.
#[component]
pub(super) fn Strip(row: Memo<ValueRow>) -> impl IntoView {
    let ui = Ui::get();
    let frame = NodeRef::<html::Div>::new();
    let size = size_of(frame);
    let canvas = NodeRef::<html::Canvas>::new();
    let spare = NodeRef::<html::Span>::new();
    let (index, value) = row.with_untracked(|row| (Arc::clone(&row.index), Arc::clone(&row.value)));
    let count = Memo::new(move |_| row.with(|row| row.count));
    let tags = Memo::new(move |_| row.with(|row| row.tags.clone()));
    let prefix: Arc<str> = index_set(&index, &value).into();
    let shown = StoredValue::new_local(Before::default());
    let painted = (Arc::clone(&index), Arc::clone(&value));
    let set = move |view: &View, draw: &mut dyn FnMut(&[Key])| {
        let (index, value) = &painted;
        let keys = view.picture.store.indices.get(index);
        draw(
            keys.and_then(|values| values.get(value))
                .map_or(&[], Vec::as_slice),
        );
    };
    let keys = set.clone();
    Effect::new(move |before: Option<Drawn>| {
        let (theme, size) = (ui.theme.get(), size.get());
        let canvas = canvas.get()?;
        ui.view.with(|view| {
            let now = Some((theme, size, view.places.len()));
            let same = before == Some(now);
            let known = shown.get_value();
            shown.set_value((view.step, Rc::clone(&view.recent)));
            let is_changed = |record: &FactRecord| {
                let entry = fact_queries::index_entry(&record.fact);
                entry.is_some_and(|(i, v, _)| *i == index && *v == value)
            };
            let facts = touched(view, &known).filter(|_| same);
            if facts.is_none_or(|facts| facts.iter().any(is_changed)) {
                keys(view, &mut |keys| {
                    draw_strip(&ui.host(), &canvas, theme, size, view, keys)
                });
            }
            now
        })
    });
    // A place along the strip, in hundredths.
    let along = |view: &View, key: &str| {
        let place = view.places.get(key)? as f64 + 0.5;
        Some(place * 100.0 / view.places.len().max(1) as f64)
    };
    let own = Arc::clone(&prefix);
    let has = set.clone();
    register(
        ui,
        Box::new(move |anchor: &str| {
            let key = anchor.strip_prefix(&*own)?;
            let at = ui.view.with_untracked(|view| along(view, key))?;
            let spare: Element = spare.get_untracked()?.into();
            css(&spare, &decimals("left:#%", &[at]));
            let name = ui.view.with_untracked(|view| Names::of(view).get(key));
            let _ = spare.set_attribute("data-name", &name);
            Some(spare)
        }),
    );
    let wanted = Arc::clone(&prefix);
    let spots = Memo::new(move |_| {
        let tags = tags.get();
        ui.view.with(|view| {
            let mut spots: Vec<Spot> = Vec::new();
            let mut add = |key: &str, class| {
                if let Some(at) = along(view, key)
                    && spots.iter().all(|spot| &*spot.name != key)
                {
                    let style = decimals("left:#%", &[at]);
                    let name = key.into();
                    spots.push(Spot { name, class, style });
                }
            };
            for tag in &tags {
                let class = if tag.change == Change::Out {
                    "spot out"
                } else {
                    "spot lit"
                };
                add(&tag.key, class);
            }
            let selected = view.selection.as_ref();
            let selected = selected.and_then(|one| one.anchor.strip_prefix(&*wanted));
            let followed = view.followed.as_ref().map(|one| &*one.key);
            has(view, &mut |keys| {
                for key in selected.iter().chain(&followed) {
                    if keys.binary_search_by(|other| (**other).cmp(key)).is_ok() {
                        add(key, "spot");
                    }
                }
            });
            spots
        })
    });
    let clicked = Arc::clone(&prefix);
    let screen = Screen::get();
    let on_click = move |event: web_sys::MouseEvent| {
        let Some(canvas) = canvas.get_untracked() else {
            return;
        };
        let (x, width) = (
            f64::from(event.offset_x()),
            f64::from(canvas.client_width()),
        );
        let nearest = ui.view.with_untracked(|view| {
            let at = x / width.max(1.0) * view.places.len() as f64;
            let mut nearest: Option<(f64, Key)> = None;
            set(view, &mut |keys| {
                for key in keys {
                    let place = view.places.get(key).unwrap_or_default() as f64;
                    let far = (place - at).abs();
                    if nearest.as_ref().is_none_or(|(other, _)| far < *other) {
                        nearest = Some((far, key.clone()));
                    }
                }
            });
            nearest
        });
        if let Some((_, key)) = nearest {
            ui.send(Command::Select(Some(format!("{clicked}{key}").into())));
            screen.drawer.show(DrawerTab::Why);
        }
    };
    view! {
        <div class="strip" data-testid="density-set" node_ref=frame on:click=on_click>
            <canvas node_ref=canvas aria-hidden="true"></canvas>
            {list(spots, |spot| Arc::clone(&spot.name), move |spot| {
                let name = spot.with_untracked(|spot| Arc::clone(&spot.name));
                let short = ui.view.with_untracked(|view| Names::of(view).get(&name));
                view! {
                    <span
                        class=text(move || spot.with(|spot| spot.class))
                        prop:style=move || spot.with(|spot| spot.style.clone())
                        data-anchor=format!("{prefix}{name}")
                        data-name=short
                        title=name.to_string()
                    ></span>
                }
            })}
            <span class="spot" aria-hidden="true" node_ref=spare></span>
        </div>
        <b class="count">{text(move || count.get().to_string())}</b>
    }
}

/// The denser, the more of them lie in one line of px.
fn draw_strip(
    host: &Host,
    canvas: &HtmlCanvasElement,
    theme: Theme,
    (width, height): (f64, f64),
    view: &View,
    keys: &[Key],
) {
    let Some(pen) = pen(canvas) else {
        return;
    };
    let scale = rem(host) / 16.0 * ratio();
    let (width, height) = (px(width * scale), px(height * scale));
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    pen.clear_rect(0.0, 0.0, width.into(), height.into());
    if width == 0 {
        return;
    }
    let places = view.places.len().max(1) as u64;
    let mut lines = vec![0_u32; width as usize];
    for key in keys {
        if let Some(place) = view.places.get(key) {
            let at = place as u64 * u64::from(width) / places;
            if let Some(line) = usize::try_from(at).ok().and_then(|at| lines.get_mut(at)) {
                *line += 1;
            }
        }
    }
    if let Some(colour) = colours(canvas, theme).first() {
        pen.set_fill_style_str(colour);
    }
    // So many objects share a line, or so many lines are one object's.
    let most = (places as f64 / f64::from(width)).max(1.0);
    let wide = (f64::from(width) / places as f64 - 1.0).max(1.0);
    for (at, count) in (0_u32..).zip(lines) {
        if count > 0 {
            pen.set_global_alpha((0.35 + 0.65 * f64::from(count) / most).min(1.0));
            pen.fill_rect(at.into(), 0.0, wide, height.into());
        }
    }
}

/// Finds one object by a part of its name.
#[component]
fn Search(field: Field, found: impl Fn(String) + Copy + Send + 'static) -> impl IntoView {
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
    let id = format!("find-{}", field.prefix().replace('/', "-"));
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
                let name = ui.view.with_untracked(|view| {
                    matching(view, field, &text).first().map(ToString::to_string)
                });
                if let (Some(name), false) = (name, text.is_empty()) {
                    found(name);
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

/// The keys in a field that hold a text: the one that is it first.
fn matching(view: &View, field: Field, text: &str) -> Vec<Key> {
    let picture = &view.picture;
    let is_there = |key: &&Key| match field {
        Field::Objects => picture.api.objects.contains_key(*key),
        _ => picture.store.items.contains_key(*key),
    };
    let exact = view.places.get(text).map(|_| Key::from(text));
    let exact = exact.filter(|key| is_there(&key));
    let others = view.places.keys();
    let others = others.filter(|key| key.contains(text) && ***key != *text);
    let others = others.filter(is_there).cloned();
    exact.into_iter().chain(others).take(PROPOSED).collect()
}

/// What an anchor names, if it is of this field.
fn name_of<'a>(view: &View, field: Field, anchor: &'a str) -> Option<&'a str> {
    let prefix = match field {
        Field::Queue if !view.picture.queue.entries.is_empty() => "queue/entry/",
        field => field.prefix(),
    };
    let is_key = (field == Field::Queue).then(|| anchor.strip_prefix("queue/key/"));
    anchor.strip_prefix(prefix).or(is_key.flatten())
}

fn spots(view: &View, field: Field, layout: Layout, cursor: Option<Arc<str>>) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut add = |name: Option<Arc<str>>, class: &'static str| {
        let Some(name) = name else {
            return;
        };
        if let Some(known) = spots.iter_mut().find(|spot| spot.name == name) {
            if class == "spot here" {
                known.class = class;
            }
            return;
        }
        let cell = field.cell(view, layout.cells(), &name);
        let cell = cell.filter(|cell| *cell < layout.cells());
        let is_there = field.look(&view.picture, &name).fill != Fill::Nothing;
        if let (Some(cell), true) = (cell, is_there || class == "spot lit") {
            let style = over(layout, cell);
            spots.push(Spot { name, class, style });
        }
    };
    add(field.lit(view).map(Into::into), "spot lit");
    let selected = view.selection.as_ref();
    let selected = selected.and_then(|one| name_of(view, field, &one.anchor));
    add(selected.map(Into::into), "spot");
    if view.picture.queue.entries.is_empty() || field != Field::Queue {
        add(
            view.followed.as_ref().map(|one| Arc::from(&*one.key)),
            "spot",
        );
    }
    if field == Field::Queue {
        let queue = &view.picture.queue;
        let next = queue.keys.front().map(|key| Arc::from(&**key));
        add(
            next.or((!queue.entries.is_empty()).then(|| "0".into())),
            "spot next",
        );
    }
    add(cursor, "spot here");
    spots
}

/// What a canvas shows now.
#[derive(Default)]
struct Painter {
    looks: Vec<Look>,
    layout: Layout,
    before: Before,
    theme: Option<Theme>,
    colours: Rc<[String]>,
}

impl Painter {
    /// Draws what has changed; false if nothing has.
    fn paint(
        &mut self,
        canvas: &HtmlCanvasElement,
        view: &View,
        field: Field,
        layout: Layout,
        theme: Theme,
    ) -> bool {
        let Some(pen) = pen(canvas) else {
            return false;
        };
        let mut anew = false;
        if self.theme != Some(theme) {
            self.theme = Some(theme);
            self.colours = colours(canvas, theme);
            anew = true;
        }
        if self.layout != layout {
            self.layout = layout;
            let ratio = ratio();
            let (width, height) = (
                layout.columns as u32 * layout.pitch,
                layout.rows as u32 * layout.pitch,
            );
            canvas.set_width(width);
            canvas.set_height(height);
            let style = decimals(
                "width:#px;height:#px",
                &[f64::from(width) / ratio, f64::from(height) / ratio],
            );
            css(canvas, &style);
            self.looks = Vec::new();
            anew = true;
        }
        let cells = layout.cells();
        let before = std::mem::replace(&mut self.before, (view.step, Rc::clone(&view.recent)));
        let new = touched(view, &before).filter(|_| self.looks.len() == cells);
        let new = new.and_then(|facts| self.few(view, field, facts));
        let changed: Vec<(usize, Look)> = match new {
            Some(few) => few,
            None => {
                let all = field.looks(view, cells);
                let before = std::mem::take(&mut self.looks);
                let before = before
                    .iter()
                    .copied()
                    .chain(std::iter::repeat(Look::default()));
                let differ = all.iter().copied().zip(before).enumerate();
                let differ = differ.filter(|(_, (is, was))| is != was);
                let differ = differ.map(|(cell, (is, _))| (cell, is)).collect();
                self.looks = all;
                differ
            }
        };
        if anew {
            pen.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
            for (cell, look) in self.looks.iter().enumerate() {
                if look.fill != Fill::Nothing {
                    self.cell(&pen, cell, *look);
                }
            }
            return true;
        }
        for (cell, look) in &changed {
            let (x, y) = layout.at(*cell);
            let side = f64::from(layout.pitch);
            pen.clear_rect(x.into(), y.into(), side, side);
            self.cell(&pen, *cell, *look);
        }
        !changed.is_empty()
    }

    /// The cells that a few facts have changed; nothing where all have to be looked at.
    fn few(
        &mut self,
        view: &View,
        field: Field,
        facts: &[FactRecord],
    ) -> Option<Vec<(usize, Look)>> {
        let cells = self.layout.cells();
        let mut changed = Vec::new();
        for record in facts {
            let deletes = matches!(
                record.fact,
                Fact::Server(
                    ServerFact::ObjectDeleted { .. }
                        | ServerFact::EventSent {
                            event: EventType::Deleted,
                            ..
                        }
                )
            );
            let pops = matches!(
                record.fact,
                Fact::Queue(
                    QueueFact::KeyPopped { .. }
                        | QueueFact::EntryAppended { .. }
                        | QueueFact::FifoKeySkipped { .. }
                )
            );
            // Others come and go with these.
            if (deletes && field == Field::Objects) || (pops && field == Field::Queue) {
                return None;
            }
            let Some(key) = record.fact.key() else {
                continue;
            };
            let Some(cell) = field.cell(view, cells, key) else {
                continue;
            };
            let look = field.look(&view.picture, key);
            if let Some(known) = self.looks.get_mut(cell)
                && *known != look
            {
                *known = look;
                changed.push((cell, look));
            }
        }
        Some(changed)
    }

    fn cell(&self, pen: &CanvasRenderingContext2d, cell: usize, look: Look) {
        let (x, y) = self.layout.at(cell);
        let (x, y) = (f64::from(x), f64::from(y));
        let side = f64::from(self.layout.pitch - self.layout.gap);
        let Some(colour) = self.colours.get(colour(look.hue)) else {
            return;
        };
        pen.set_fill_style_str(colour);
        // What is as it should be stands back.
        pen.set_global_alpha(if look.hue == Hue::Same { 0.5 } else { 1.0 });
        let line = (side / 6.0).round().max(1.0);
        match look.fill {
            Fill::Nothing => {}
            // Too small for anything but a colour.
            _ if side < 5.0 => pen.fill_rect(x, y, side, side),
            Fill::Full => pen.fill_rect(x, y, side, side),
            Fill::Struck | Fill::Dashed | Fill::Whole => {
                for (dx, dy, width, height) in [
                    (0.0, 0.0, side, line),
                    (0.0, side - line, side, line),
                    (0.0, 0.0, line, side),
                    (side - line, 0.0, line, side),
                ] {
                    pen.fill_rect(x + dx, y + dy, width, height);
                }
                if look.fill == Fill::Dashed {
                    // What a dash leaves out of each side.
                    let (gap, at) = ((side / 4.0).round(), (side * 3.0 / 8.0).round());
                    pen.clear_rect(x + at, y, gap, side);
                    pen.clear_rect(x, y + at, side, gap);
                }
                if look.fill == Fill::Struck {
                    pen.begin_path();
                    pen.move_to(x, y + side);
                    pen.line_to(x + side, y);
                    pen.set_line_width(line);
                    pen.set_stroke_style_str(colour);
                    pen.stroke();
                }
            }
        }
    }

    /// The cell that a key leads to: the next that is not empty.
    fn go(&self, key: &str, from: Option<usize>) -> Option<usize> {
        let is_there = |cell: &usize| {
            let look = self.looks.get(*cell);
            look.is_some_and(|look| look.fill != Fill::Nothing)
        };
        let columns = self.layout.columns.max(1);
        let (cells, at) = (self.looks.len(), from.unwrap_or_default());
        match key {
            "ArrowRight" => (at + 1..cells).find(is_there),
            "ArrowLeft" => (0..at).rev().find(is_there),
            "ArrowDown" => (at + columns..cells).step_by(columns).find(is_there),
            "ArrowUp" => (at % columns..at).step_by(columns).rev().find(is_there),
            "Home" => (0..cells).find(is_there),
            "End" => (0..cells).rev().find(is_there),
            _ => return None,
        }
        // At the edge it stays.
        .or(from)
    }
}

fn pen(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

thread_local! {
    static PALETTE: RefCell<Option<(Theme, Rc<[String]>)>> = const { RefCell::new(None) };
}

/// The colours of a theme that is shown, for a canvas knows no tokens.
fn colours(canvas: &HtmlCanvasElement, theme: Theme) -> Rc<[String]> {
    if let Some((of, colours)) = PALETTE.with_borrow(Clone::clone)
        && of == theme
    {
        return colours;
    }
    let probe: &HtmlElement = canvas.as_ref();
    let style = probe.style();
    let of = |name: &&str| {
        let _ = style.set_property("color", &format!("var({name})"));
        let computed = window().get_computed_style(probe).ok().flatten();
        let colour = computed.and_then(|style| style.get_property_value("color").ok());
        colour.unwrap_or_default()
    };
    let colours: Rc<[String]> = COLOURS.iter().map(of).collect();
    let _ = style.remove_property("color");
    PALETTE.set(Some((theme, Rc::clone(&colours))));
    colours
}
