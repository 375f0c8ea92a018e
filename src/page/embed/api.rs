//! `window.deltascope`: the scripting interface that the book's chapter "Scripting the page" documents.
//!
//! Where the custom element has a method of the same name, its results are the same.

use js_sys::{Array, JSON, Object, Reflect};
use leptos::prelude::{GetUntracked, WithUntracked, window};
use leptos::task::spawn_local;
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::events::{Emit, emit_story};
use crate::board::own;
use crate::driver::Driver;
use crate::later::{Part, fetched, has};
use crate::live::Link;
use crate::ui::Ui;
use deltascope_presentation::command::{Command, Export, SvgOptions};
use deltascope_presentation::options::{Attribute, Options};
use deltascope_presentation::session::typed::{CALLS, Given, SELDOM_CALLS};
use deltascope_presentation::shelf::progress::Progress;
use deltascope_presentation::state::{API_VERSION, state};
use deltascope_replay::scramble::Scramble;

/// Sets `window.deltascope`. The page's frame is mounted already; `drawn` is settled once all of it is drawn and `first` has been
/// opened, if that `is_newest` still. `ready` waits for what the exports need, too, which is only fetched if somebody asks for it.
pub fn install(
    driver: &Driver,
    ui: Ui,
    link: Link,
    first: Option<Command>,
    is_newest: impl FnOnce() -> bool + 'static,
) {
    let api = api(driver, ui, link);
    let opening = driver.clone();
    let drawn = future_to_promise(async move {
        opening.build_all().await;
        // It has its place in the line before what is said while the rest is fetched.
        let first = first.filter(|_| is_newest());
        let opens = first.map(|first| opening.say(Part::of(&first), || first));
        whole().await;
        if let Some(opens) = opens {
            opens.await;
        }
        spawn_local(fetch_own());
        Ok(JsValue::UNDEFINED)
    });
    let _ = Reflect::set(&api, &"drawn".into(), &drawn);
    let ready = Closure::<dyn Fn() -> JsValue>::new(move || {
        let drawn = JsFuture::from(drawn.clone());
        settles(async move {
            // It cannot fail.
            let _drawn = drawn.await;
            exports().await;
        })
    });
    let getter = Object::new();
    let _ = Reflect::set(&getter, &"get".into(), &ready.into_js_value());
    let _ = Object::define_property(&api, &"ready".into(), &getter);
    let _ = Reflect::set(&window(), &"deltascope".into(), &api);
    emit_story(ui, Emit::Page);
}

/// Returns once the rest is there, so that `getState` can answer at once. If it cannot be fetched, commands say so.
pub(super) async fn whole() {
    let _said = fetched(Part::Rest).await;
}

/// Returns once what the exports need is there, too. If it cannot be fetched, they return null.
pub(super) async fn exports() {
    let _said = fetched(Part::Seldom).await;
}

/// Fetches what only the page has, unless the visitor saves data.
async fn fetch_own() {
    let connection = Reflect::get(&window().navigator(), &"connection".into());
    let saves = connection.and_then(|connection| Reflect::get(&connection, &"saveData".into()));
    if !saves.is_ok_and(|saves| saves.is_truthy()) {
        // What cannot be fetched now is fetched when it is asked for.
        let _said = fetched(Part::Own).await;
    }
}

/// The scripting interface of a board.
#[must_use]
pub fn api(driver: &Driver, ui: Ui, link: Link) -> Object {
    let api = Object::new();
    let set = |name: &str, value: &JsValue| {
        // The object is ours and extensible, so this cannot fail.
        let _ = Reflect::set(&api, &name.into(), value);
    };
    set("version", &API_VERSION.into());

    for (part, calls) in [(Part::Rest, &CALLS[..]), (Part::Seldom, &SELDOM_CALLS)] {
        for &(name, command) in calls {
            let on = driver.clone();
            method(&api, name, move |one: JsValue, other: JsValue| {
                let (one, other) = (given(&one), given(&other));
                settles(on.say(part, move || command(&one, &other)))
            });
        }
    }
    let on = driver.clone();
    method(&api, "connect", move |options: JsValue, _: JsValue| {
        let options = to_json(&options);
        settles(on.connects(Box::pin(async move { own::connect(link, options).await })))
    });
    for (name, what) in [
        ("getUrl", Some(Export::Link)),
        ("exportTrace", Some(Export::Trace)),
        ("exportTranscript", None),
    ] {
        let on = driver.clone();
        let export = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |options: JsValue| {
            let is_on = |name: &str| {
                Reflect::get(&options, &name.into()).is_ok_and(|value| value.is_truthy())
            };
            let scramble = Scramble {
                names: is_on("names"),
                labels: is_on("labels"),
            };
            let what = match what.clone() {
                Some(Export::Trace) if scramble != Scramble::default() => {
                    Export::Scrambled(scramble)
                }
                Some(what) => what,
                None => Export::Transcript(ui.lang.get_untracked()),
            };
            on.export(what).map_or(JsValue::NULL, JsValue::from)
        });
        set(name, &export.into_js_value());
    }
    let on = driver.clone();
    let picture = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |asked: JsValue| {
        // A print cannot wait for what comes later: it stops the page.
        let prints = Reflect::get(&asked, &"prints".into()).is_ok_and(|prints| prints.is_truthy());
        let options = (prints || has(Part::Seldom)).then(|| picture_options(&asked, ui));
        let drawn = options.and_then(|options| on.exported(Export::Svg(options)).ok());
        drawn.map_or(JsValue::NULL, JsValue::from)
    });
    set("exportSvg", &picture.into_js_value());
    let on = driver.clone();
    let get_state = Closure::<dyn Fn() -> JsValue>::new(move || {
        let mut state = state(&on.view(), ui.lang.get_untracked());
        // The session knows what was received, not the state of the connection.
        if let Some(live) = state.get_mut("live").and_then(Value::as_object_mut) {
            live.extend(link.status.get_untracked().to_json(ui.lang.get_untracked()));
        }
        if let Some(members) = state.as_object_mut() {
            let told = ui.progress.with_untracked(Progress::to_json);
            members.insert("lessonProgress".to_owned(), told);
        }
        // A serializer wrote the text, so it can be parsed.
        JSON::parse(&state.to_string()).unwrap_or(JsValue::NULL)
    });
    set("getState", &get_state.into_js_value());
    api
}

/// The options of a picture. By default it has the rooms that are shown and the language of the board. `panels` is
/// a string as in the attribute, or a list.
fn picture_options(asked: &JsValue, ui: Ui) -> SvgOptions {
    let get = |name: &str| Reflect::get(asked, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let mut given = Options {
        panels: ui.shape.with_untracked(|shape| shape.panels.clone()),
        ..Default::default()
    };
    for attribute in [Attribute::Panels, Attribute::Theme, Attribute::Lang] {
        let value = get(attribute.id());
        let list = value.dyn_ref::<Array>().map(|list| list.join(",").into());
        if let Some(value) = list.or_else(|| value.as_string()) {
            // Unknown values are ignored.
            let _unknown = given.set(attribute, &value);
        }
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a width in px; a cast saturates, and what is too wide is not drawn so wide"
    )]
    let width = get("width").as_f64().unwrap_or_default() as u32;
    SvgOptions {
        panels: given.panels,
        theme: given.theme,
        lang: given.lang.unwrap_or_else(|| ui.lang.get_untracked()),
        width,
        strip: get("strip") != JsValue::FALSE,
    }
}

pub(super) fn method(
    api: &Object,
    name: &str,
    call: impl Fn(JsValue, JsValue) -> JsValue + 'static,
) {
    let call = Closure::<dyn Fn(JsValue, JsValue) -> JsValue>::new(call);
    let _ = Reflect::set(api, &name.into(), &call.into_js_value());
}

/// A promise that settles when this is done.
pub(super) fn settles(work: impl Future<Output = ()> + 'static) -> JsValue {
    future_to_promise(async move {
        work.await;
        Ok(JsValue::UNDEFINED)
    })
    .into()
}

/// Converts a value to JSON. Values without a JSON form (undefined, functions, symbols) become null.
pub(super) fn to_json(value: &JsValue) -> Value {
    let text = json(value);
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

fn json(value: &JsValue) -> Option<String> {
    if value.is_undefined() || value.is_function() || value.is_symbol() {
        return None;
    }
    JSON::stringify(value).ok().map(String::from)
}

/// What a method is given, as it is now: the script may change it before it is read.
fn given(value: &JsValue) -> Given {
    let text = value.as_string();
    Given {
        number: value.as_f64(),
        json: if text.is_none() { json(value) } else { None },
        text,
    }
}
