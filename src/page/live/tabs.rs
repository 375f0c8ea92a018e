//! Counts the tabs of this browser that are connected to the server of this page: over HTTP/1.1 a browser opens at
//! most six connections to one server, and each open watch takes one.
//!
//! Each connected tab holds a shared Web Lock. Other tabs count its holders.

use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::window;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

const LOCK: &str = "deltascope: connected";

/// Marks this tab as connected until it is dropped.
pub struct Connected {
    release: Option<Function>,
}

impl Connected {
    /// Takes the lock, so that other tabs count this one.
    #[must_use]
    pub fn now() -> Self {
        let mut release = None;
        let dropped = Promise::new(&mut |resolve, _| release = Some(resolve));
        let until = Closure::once_into_js(move || JsValue::from(dropped));
        let options = js_sys::Object::new();
        let is_set = Reflect::set(&options, &"mode".into(), &"shared".into()).is_ok();
        let asked = call("request", &[LOCK.into(), options.into(), until]);
        if let Some(asked) = asked.filter(|_| is_set) {
            spawn_local(async move {
                // If the browser refuses the lock, the other tabs only lack the count.
                let _refused = JsFuture::from(asked).await;
            });
        }
        Self { release }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            // The resolver returns nothing.
            let _nothing = release.call0(&JsValue::UNDEFINED);
        }
    }
}

/// How many tabs are connected; 0 if the browser does not say.
pub async fn connected() -> usize {
    let Some(asked) = call("query", &[]) else {
        return 0;
    };
    let Ok(locks) = JsFuture::from(asked).await else {
        return 0;
    };
    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok();
    let held = get(&locks, "held").and_then(|held| held.dyn_into::<Array>().ok());
    let is_ours = |lock: &JsValue| {
        let name = get(lock, "name").and_then(|name| name.as_string());
        name.as_deref() == Some(LOCK)
    };
    held.map_or(0, |held| held.iter().filter(is_ours).count())
}

/// Calls a method of the browser's Web Locks. A page has them only in a secure context.
fn call(name: &str, arguments: &[JsValue]) -> Option<Promise> {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).ok()?;
    let method = Reflect::get(&locks, &name.into()).ok()?;
    let method: Function = method.dyn_into().ok()?;
    let arguments: Array = arguments.iter().collect();
    method.apply(&locks, &arguments).ok()?.dyn_into().ok()
}
