//! The browser's own animations: they need no work of this program while they run, and leave nothing behind.

use js_sys::{Array, Object, Reflect};
use leptos::prelude::window;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::Element;

// web-sys needs a dictionary and three more types for this.
#[wasm_bindgen]
extern "C" {
    type Moving;
    #[wasm_bindgen(method)]
    fn animate(this: &Moving, frames: &Array, timing: &Object) -> Animation;

    /// An animation of an element.
    pub type Animation;
    /// Ends it: the element is as without it.
    #[wasm_bindgen(method)]
    pub fn cancel(this: &Animation);
}

/// When an animation runs.
#[derive(Clone, Copy)]
pub struct Timing {
    /// Its start, in ms from now.
    pub at: u32,
    /// Its duration, in ms.
    pub ms: u32,
    /// What holds outside: `none`, `backwards` (until it starts), `forwards` or `both`.
    pub fill: &'static str,
}

/// Animates styles of an element from frame to frame.
pub fn animate(element: &Element, frames: &[&[(&str, &str)]], timing: Timing) -> Animation {
    // Setting a property does not fail on a plain object.
    let set = |object: &Object, name: &str, value: &JsValue| {
        let _ = Reflect::set(object, &name.into(), value);
    };
    let all = Array::new();
    for styles in frames {
        let frame = Object::new();
        for (name, value) in *styles {
            set(&frame, name, &(*value).into());
        }
        all.push(&frame);
    }
    let options = Object::new();
    set(&options, "delay", &timing.at.into());
    set(&options, "duration", &timing.ms.into());
    set(&options, "fill", &timing.fill.into());
    // Of all of it, so that a frame's `offset` is a part of the way.
    set(&options, "easing", &"ease-in-out".into());
    element.unchecked_ref::<Moving>().animate(&all, &options)
}

/// In ms, by a monotonic clock if the browser has one.
pub fn now() -> f64 {
    window()
        .performance()
        .map_or_else(js_sys::Date::now, |clock| clock.now())
}
