//! Lets what a step has not touched slide to its new place, so that the eye does not lose it.

use std::cell::RefCell;

use js_sys::Array;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::Element;

use crate::host::Host;
use deltascope_presentation::decimal::decimals;

/// What others push aside: objects, items and keys of sets, lines of the stream, and keys of the queue.
const PUSHED: &str = ".room.api .obj, .room.indexer .obj, .room.indexer .tag, .wire, .col, .key";

/// What moves less than this, in px, has not moved.
const LEAST: f64 = 0.5;

// web-sys needs a dictionary and three more types for this.
#[wasm_bindgen]
extern "C" {
    type Moving;
    #[wasm_bindgen(method)]
    fn animate(this: &Moving, frames: &Array, ms: u32) -> Slide;

    /// An element on its way.
    type Slide;
    #[wasm_bindgen(method)]
    fn cancel(this: &Slide);
}

/// The elements that are on their way.
#[derive(Default)]
pub struct Slides(RefCell<Vec<Slide>>);

/// Where the elements were before a step.
pub struct Places(Vec<(Element, (f64, f64))>);

impl Places {
    /// Where they are now.
    #[must_use]
    pub fn now(host: &Host) -> Self {
        let mut places = Vec::new();
        if let Some(found) = host.find_all(PUSHED) {
            for at in 0..found.length() {
                let element = found
                    .get(at)
                    .and_then(|node| node.dyn_into::<Element>().ok());
                let Some(element) = element else { continue };
                if let Some(place) = place(&element) {
                    places.push((element, place));
                }
            }
        }
        Self(places)
    }
}

/// The lower left corner, because stacks grow upwards; none of what is not shown.
fn place(element: &Element) -> Option<(f64, f64)> {
    let rect = element.get_bounding_client_rect();
    (rect.width() > 0.0).then(|| (rect.left(), rect.bottom()))
}

/// The element itself, or of a key in the queue that is now below its deltas, and not beside them, the new one.
fn stays(host: &Host, element: Element) -> Option<Element> {
    if element.is_connected() {
        // What is beside its deltas slides with them.
        let has_own = |element: &Element| element.matches(".col > .key").is_ok_and(|is| !is);
        return Some(element).filter(has_own);
    }
    let anchor = element.get_attribute("data-anchor")?;
    let keys = host.find_all(".belt .key")?;
    let mut keys = (0..keys.length()).filter_map(|at| keys.get(at)?.dyn_into::<Element>().ok());
    keys.find(|key| {
        key.get_attribute("data-anchor")
            .is_some_and(|of| of == anchor)
    })
}

impl Slides {
    /// Ends all of them: everything is in place.
    pub fn cut(&self) {
        for slide in self.0.borrow_mut().drain(..) {
            slide.cancel();
        }
    }

    /// Lets what is elsewhere than before slide there, for `ms` ms.
    pub fn play(&self, host: &Host, before: Places, ms: u32) {
        self.cut();
        let scale = host.scale();
        let moved: Vec<_> = before
            .0
            .into_iter()
            .filter_map(|(element, (x, y))| {
                let element = stays(host, element)?;
                let (to_x, to_y) = place(&element)?;
                let (dx, dy) = ((x - to_x) * scale, (y - to_y) * scale);
                (dx.abs() > LEAST || dy.abs() > LEAST).then_some((element, dx, dy))
            })
            .collect();
        let mut slides = self.0.borrow_mut();
        for (element, dx, dy) in moved {
            let frames = Array::new();
            for at in [decimals("translate(#px,#px)", &[dx, dy]), "none".to_owned()] {
                let frame = js_sys::Object::new();
                // Does not fail on a plain object.
                let _ = js_sys::Reflect::set(&frame, &"transform".into(), &at.into());
                let _ = js_sys::Reflect::set(&frame, &"easing".into(), &"ease-in-out".into());
                frames.push(&JsValue::from(frame));
            }
            slides.push(element.unchecked_into::<Moving>().animate(&frames, ms));
        }
    }
}
