//! The keys of one value of an index, as marks along a strip.

use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use web_sys::{Element, HtmlCanvasElement};

use super::painter::{colours, pen};
use super::{Spot, css, px, ratio};
use crate::board::layout::{Layout as Screen, px_of};
use crate::board::parts::{list, text};
use crate::board::tabs::DrawerTab;
use crate::memo::{Memo, effect_after};
use crate::ui::{Theme, Ui};
use deltascope_cache::fact::FactRecord;
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::fact_queries;
use deltascope_presentation::rows::Names;
use deltascope_presentation::rows::density::{Before, between, name};
use deltascope_presentation::rows::store::{Change, TagRow, ValueRow};
use deltascope_presentation::view::View;

/// What a strip was drawn with: the theme, its size, and the number of places.
type Drawn = Option<(Theme, (f64, f64), usize)>;

/// The set of keys of one indexed value.
#[derive(Clone)]
struct Set {
    index: Arc<str>,
    value: Arc<str>,
}

impl Set {
    fn of(row: &ValueRow) -> Self {
        Self {
            index: Arc::clone(&row.index),
            value: Arc::clone(&row.value),
        }
    }

    fn keys<'a>(&self, view: &'a View) -> &'a [Key] {
        let values = view.picture.store.indices.get(&self.index);
        let keys = values.and_then(|values| values.get(&self.value));
        keys.map_or(&[], Vec::as_slice)
    }

    /// The anchor of one of its keys.
    fn anchor(&self, key: &Key) -> Anchor {
        Anchor::index_key(&self.index, &self.value, key)
    }

    /// The key of an anchor, if it belongs to this set.
    fn key<'a>(&self, anchor: &'a Anchor) -> Option<&'a Key> {
        match anchor {
            Anchor::IndexKey { index, value, key }
                if *index == self.index && *value == self.value =>
            {
                Some(key)
            }
            _ => None,
        }
    }
}

/// The keys of one indexed value, as marks along a strip. An object has the same place in all strips.
#[component]
pub(in crate::board) fn Strip(row: Memo<ValueRow>) -> impl IntoView {
    let ui = Ui::get();
    let frame = NodeRef::<html::Div>::new();
    let size = px_of(frame);
    let canvas = NodeRef::<html::Canvas>::new();
    let spare = NodeRef::<html::Span>::new();
    let set = row.with_untracked(Set::of);
    let count = Memo::new(move |_| row.with(|row| row.count));
    let tags = Memo::new(move |_| row.with(|row| row.tags.clone()));
    let shown = StoredValue::new_local(Before::default());
    let painted = set.clone();
    effect_after(move |before: Option<Drawn>| {
        let (theme, size) = (ui.theme.get(), size.get());
        let canvas = canvas.get()?;
        ui.view.with(|view| {
            let now = Some((theme, size, view.places.len()));
            let same = before == Some(now);
            let known = shown.get_value();
            shown.set_value((view.step, Rc::clone(&view.recent)));
            let is_changed = |record: &FactRecord| {
                let entry = fact_queries::index_entry(&record.fact);
                entry.is_some_and(|(i, v, _)| *i == painted.index && *v == painted.value)
                    || fact_queries::resets_indices(&record.fact)
            };
            let facts = between(view, &known).filter(|_| same);
            if facts.is_none_or(|facts| facts.iter().any(is_changed)) {
                draw_strip(&canvas, theme, size, view, painted.keys(view));
            }
            now
        })
    });
    let own = set.clone();
    ui.host().add_field(Box::new(move |anchor: &Anchor| {
        let key = own.key(anchor)?;
        let at = ui.view.with_untracked(|view| along(view, key))?;
        let spare: Element = spare.get_untracked()?.into();
        css(&spare, &decimals("left:#%", &[at]));
        let name = ui.view.with_untracked(|view| Names::of(view).get(key));
        let _ = spare.set_attribute("data-name", &name);
        Some(spare)
    }));
    let marked = set.clone();
    let spots = Memo::new(move |_| {
        let tags = tags.get();
        ui.view.with(|view| spots(view, &marked, &tags))
    });
    let screen = Screen::get();
    let on_click = move |event: web_sys::MouseEvent| {
        let Some(canvas) = canvas.get_untracked() else {
            return;
        };
        let (x, width) = (
            f64::from(event.offset_x()),
            f64::from(canvas.client_width()),
        );
        let part = x / width.max(1.0);
        let nearest = ui.view.with_untracked(|view| nearest(view, &set, part));
        if nearest.is_some() {
            ui.send(Command::Select(nearest));
            screen.drawer.show(DrawerTab::Why);
        }
    };
    view! {
        <div class="strip" data-testid="density-set" node_ref=frame on:click=on_click>
            <canvas node_ref=canvas aria-hidden="true"></canvas>
            {list(spots, |spot| Arc::from(name(&spot.anchor)), move |spot| {
                let anchor = spot.with_untracked(|spot| spot.anchor.clone());
                let name = name(&anchor);
                let short = ui.view.with_untracked(|view| Names::of(view).get(&name));
                view! {
                    <span
                        class=text(move || spot.with(|spot| spot.class))
                        prop:style=move || spot.with(|spot| spot.style.clone())
                        data-anchor=anchor.to_string()
                        data-name=short
                        title=name
                    ></span>
                }
            })}
            <span class="spot" aria-hidden="true" node_ref=spare></span>
        </div>
        <b class="count">{text(move || count.get().to_string())}</b>
    }
}

/// The middle of a key's place, in percent of the strip.
fn along(view: &View, key: &Key) -> Option<f64> {
    let place = view.places.get(key)? as f64 + 0.5;
    Some(place * 100.0 / view.places.len().max(1) as f64)
}

/// The elements over the keys that changed, and those that something refers to.
fn spots(view: &View, set: &Set, tags: &[TagRow]) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut add = |key: &Key, class| {
        let anchor = set.anchor(key);
        if let Some(at) = along(view, key)
            && spots.iter().all(|spot| spot.anchor != anchor)
        {
            let style = decimals("left:#%", &[at]);
            spots.push(Spot {
                anchor,
                class,
                style,
            });
        }
    };
    for tag in tags {
        let class = if tag.change == Change::Out {
            "spot out"
        } else {
            "spot lit"
        };
        add(&tag.key, class);
    }
    let selected = view.selection.as_ref();
    let selected = selected.and_then(|one| set.key(&one.anchor));
    let followed = view.followed.as_ref().map(|one| &one.key);
    let keys = set.keys(view);
    for key in [selected, followed].into_iter().flatten() {
        if keys.binary_search(key).is_ok() {
            add(key, "spot");
        }
    }
    spots
}

/// The key that is nearest to this part of the strip.
fn nearest(view: &View, set: &Set, part: f64) -> Option<Anchor> {
    let at = part * view.places.len() as f64;
    let mut nearest: Option<(f64, &Key)> = None;
    for key in set.keys(view) {
        let place = view.places.get(key).unwrap_or_default() as f64;
        let far = (place - at).abs();
        if nearest.is_none_or(|(other, _)| far < other) {
            nearest = Some((far, key));
        }
    }
    nearest.map(|(_, key)| set.anchor(key))
}

/// Draws the marks. The more keys share a line of px, the more opaque it is.
fn draw_strip(
    canvas: &HtmlCanvasElement,
    theme: Theme,
    (width, height): (f64, f64),
    view: &View,
    keys: &[Key],
) {
    let Some(pen) = pen(canvas) else {
        return;
    };
    let (width, height) = (px(width * ratio()), px(height * ratio()));
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
    for place in view.places.all_of(keys.iter()).flatten() {
        let at = place as u64 * u64::from(width) / places;
        if let Some(line) = usize::try_from(at).ok().and_then(|at| lines.get_mut(at)) {
            *line += 1;
        }
    }
    if let Some(colour) = colours(canvas, theme).first() {
        pen.set_fill_style_str(colour);
    }
    // How many places share one line of px, or how many lines one place takes.
    let most = (places as f64 / f64::from(width)).max(1.0);
    let wide = (f64::from(width) / places as f64 - 1.0).max(1.0);
    for (at, count) in (0_u32..).zip(lines) {
        if count > 0 {
            pen.set_global_alpha((0.35 + 0.65 * f64::from(count) / most).min(1.0));
            pen.fill_rect(at.into(), 0.0, wide, height.into());
        }
    }
}
