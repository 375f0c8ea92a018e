//! One element among others on a page: what the custom element's module calls.
//!
//! The module (`embed/deltascope.js`) owns the element, its attributes and its shadow root; here is what
//! runs inside.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Object, Reflect};
use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::HtmlElement;

use super::api::{self, method, to_json};
use super::options::Options;
use crate::ui::app::{Shape, Theme, Ui, follow, ui_of};
use crate::ui::board::Board;
use crate::ui::command::Command;
use crate::ui::driver::Driver;
use crate::ui::host::Host;
use crate::ui::i18n::{Lang, Text};
use crate::ui::live::Link;
use crate::ui::session::{Change, Session};

/// An element that is coming: each call of `build` does one more piece of it, so that the page around is
/// not kept waiting, and says whether more are missing,
/// or (an `Error`) why there is nothing to show. `config` holds `attributes` (names and values),
/// `scenario` (one of the page's own), `file` and `name` (a text that was fetched), `link` (what stands
/// behind the `#` of a link to a run), and `emit`, which is told what happens: a name and what there is to
/// say about it. Once it is built the object is the
/// scripting interface, with `set` for an attribute and `dispose`.
#[wasm_bindgen(js_name = mountElement)]
#[must_use]
pub fn mount_element(mount: HtmlElement, config: JsValue) -> JsValue {
    let object = Object::new();
    let coming = Rc::new(RefCell::new(Coming::Asked {
        api: object.clone(),
        mount,
        config,
    }));
    let at = Rc::clone(&coming);
    method(&object, "build", move |_, _| {
        let (next, more) = at.take().go_on();
        at.replace(next);
        more
    });
    method(&object, "dispose", move |_, _| {
        if let Coming::Mounted { driver, handle } = coming.take() {
            driver.end();
            drop(handle);
        }
        JsValue::UNDEFINED
    });
    object.into()
}

type Handle = UnmountHandle<<AnyView as Render>::State>;

/// How far an element has come. What holds the interface does so until the board is there: the interface
/// holds this, and nobody could give the two back.
#[derive(Default)]
enum Coming {
    /// It was asked for.
    Asked {
        api: Object,
        mount: HtmlElement,
        config: JsValue,
    },
    /// Its run is open.
    Opened {
        api: Object,
        mount: HtmlElement,
        options: Box<Options>,
        emit: Emit,
        session: Box<Session>,
    },
    /// Its board is there; pieces may be missing.
    Mounted { driver: Driver, handle: Handle },
    /// There is nothing to show, and why.
    Failed(String),
    /// Nothing is there any more.
    #[default]
    Gone,
}

impl Coming {
    /// One piece more; says whether others are missing.
    fn go_on(self) -> (Self, JsValue) {
        let (next, more) = match self {
            Self::Asked { api, mount, config } => (open(api, mount, &config), true),
            Self::Opened {
                api,
                mount,
                options,
                emit,
                session,
            } => (board(&api, mount, *options, emit, *session), true),
            Self::Mounted { driver, handle } => {
                let more = driver.build();
                (Self::Mounted { driver, handle }, more)
            }
            Self::Failed(message) => return (Self::Gone, js_sys::Error::new(&message).into()),
            Self::Gone => (Self::Gone, false),
        };
        (next, more.into())
    }
}

fn open(api: Object, mount: HtmlElement, config: &JsValue) -> Coming {
    let get = |name: &str| Reflect::get(config, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let (options, wrong) = options_of(&get("attributes"));
    let mut session = Session::empty();
    let shown = match (get("file").as_string(), get("name").as_string()) {
        (Some(text), name) => {
            let name = name.unwrap_or_default();
            session.present_file(&options, &name, text.into_bytes())
        }
        (None, _) => match get("link").as_string() {
            Some(link) => session.present_link(&options, &link),
            None => session.present(&options, scenario(&get("scenario"))),
        },
    };
    // What is wrong with the run comes before what is wrong with how it is shown.
    if let Err(message) = shown.and(wrong) {
        if !session.is_open() {
            let lang = options.lang.unwrap_or_default();
            return Coming::Failed(message.get(lang).to_owned());
        }
        session.say(message);
    }
    Coming::Opened {
        api,
        mount,
        options: Box::new(options),
        emit: Emit(get("emit").dyn_into().ok()),
        session: Box::new(session),
    }
}

fn board(
    api: &Object,
    mount: HtmlElement,
    options: Options,
    emit: Emit,
    session: Session,
) -> Coming {
    let driver = Driver::with_session(Host::inside(&mount), session);
    driver.set_motion(options.motion);
    let (lang, theme) = (options.lang.unwrap_or_default(), theme_of(&options));
    let (drawn, made, shape) = (driver.clone(), api.clone(), Shape::of(&options));
    let handle = mount_to(mount, move || {
        let ui = ui_of(&drawn, shape, lang, theme);
        ui.built.set(0);
        follow(ui);
        let link = Link::new(&drawn);
        provide_context(link);
        tell(ui, emit);
        // Into the object that is there.
        let _ = Object::assign(&made, &api::api(&drawn, ui, link));
        on_attribute(&made, &drawn, ui, options);
        view! { <Board /> }.into_any()
    });
    Coming::Mounted { driver, handle }
}

/// Those that can be read, and what is wrong with the first of the others.
fn options_of(attributes: &JsValue) -> (Options, Result<(), Text>) {
    let mut options = Options::default();
    let mut wrong = Ok(());
    if let Some(attributes) = attributes.dyn_ref::<Object>() {
        for entry in Object::entries(attributes) {
            let pair: js_sys::Array = entry.unchecked_into();
            let (key, value) = (pair.get(0).as_string(), pair.get(1).as_string());
            let set = options.set(&key.unwrap_or_default(), &value.unwrap_or_default());
            wrong = wrong.and(set);
        }
    }
    (options, wrong)
}

fn scenario(value: &JsValue) -> Option<serde_json::Value> {
    Some(to_json(value)).filter(|value| !value.is_null())
}

fn theme_of(options: &Options) -> Theme {
    if options.dark.unwrap_or_default() {
        Theme::Dark
    } else {
        Theme::Light
    }
}

/// `set(name, value)`: another value of an attribute, while the run is shown.
fn on_attribute(api: &Object, driver: &Driver, ui: Ui, options: Options) {
    let options = RefCell::new(options);
    let driver = driver.clone();
    method(api, "set", move |name: JsValue, value: JsValue| {
        let (name, value) = (name.as_string(), value.as_string());
        let (name, value) = (name.unwrap_or_default(), value.unwrap_or_default());
        let mut options = options.borrow_mut();
        let act: Box<dyn FnOnce(&mut Session) -> Change> = match options.set(&name, &value) {
            Err(message) => Box::new(|session| session.say(message)),
            Ok(()) => {
                let now = options.clone();
                match &*name {
                    "theme" => ui.theme.set(theme_of(&now)),
                    "lang" => ui.lang.set(now.lang.unwrap_or(Lang::En)),
                    "motion" => driver.set_motion(now.motion),
                    "panels" | "controls" | "mode" => ui.shape.set(Shape::of(&now)),
                    _ => {}
                }
                Box::new(move |session| {
                    // What was wrong with it is right now.
                    session.obey(Command::DismissError);
                    changed(session, &name, &now)
                })
            }
        };
        let driver = driver.clone();
        wasm_bindgen_futures::future_to_promise(async move {
            driver.perform(act).await;
            Ok(JsValue::UNDEFINED)
        })
        .into()
    });
}

/// What another value of an attribute does to the run.
fn changed(session: &mut Session, name: &str, options: &Options) -> Change {
    let done = match (name, options) {
        ("era", Options { era: Some(era), .. }) => {
            return session.obey(Command::Era(era.0.era().into()));
        }
        (
            "at",
            Options {
                at: Some(place), ..
            },
        ) => session.seek_place(place),
        ("until" | "markers", _) => session.set_stops(options).map(|()| Change::None),
        ("speed", _) => {
            return session.obey(Command::Speed(options.speed.unwrap_or(100)));
        }
        ("granularity", _) => {
            return session.obey(Command::Grain(options.granularity.unwrap_or_default()));
        }
        _ => return Change::None,
    };
    done.unwrap_or_else(|message| session.say(message))
}

/// Who is told what happens.
struct Emit(Option<Function>);

impl Emit {
    fn say(&self, name: &str, detail: &[(&str, JsValue)]) {
        let Some(emit) = &self.0 else {
            return;
        };
        let object = Object::new();
        for (key, value) in detail {
            let _ = Reflect::set(&object, &(*key).into(), value);
        }
        // What a listener throws is its own affair.
        let _ = emit.call2(&JsValue::UNDEFINED, &name.into(), &object);
    }
}

/// Tells of each step, of markers, of what must hold and does not, and of errors.
fn tell(ui: Ui, emit: Emit) {
    let number = |number: usize| JsValue::from(u32::try_from(number).unwrap_or(u32::MAX));
    let emit = StoredValue::new_local(emit);
    // Several on one page are told apart by what they show.
    let host = ui.host();
    Effect::new(move |_| {
        let lang = ui.lang.get();
        let title = ui.view.with(|view| view.lesson.title.get(lang).to_owned());
        if let Some(mount) = host.mount() {
            let _ = mount.set_attribute("aria-label", &format!("deltascope: {title}"));
        }
    });
    Effect::new(move |before: Option<(usize, Option<Text>)>| {
        let view = ui.view.get();
        let error = view.error.as_ref().map(|error| error.message.clone());
        let (step_before, error_before) = before.unwrap_or((usize::MAX, None));
        emit.with_value(|emit| {
            if let Some(message) = error.as_ref().filter(|_| error != error_before) {
                let message = message.get(ui.lang.get_untracked()).into();
                emit.say("error", &[("message", message)]);
            }
            if view.step == step_before {
                return;
            }
            #[allow(clippy::cast_precision_loss, reason = "ms, of which 2^53 are no run")]
            let time = JsValue::from(view.time as f64);
            let step = number(view.step);
            emit.say(
                "step",
                &[
                    ("step", step),
                    ("steps", number(view.steps)),
                    ("time", time),
                ],
            );
            for marker in view.markers.iter().filter(|one| one.at == view.step) {
                emit.say("marker", &[("id", (&*marker.id).into())]);
            }
            let found = view.checks.violations.iter();
            for one in found.filter(|one| one.at == view.step) {
                let key = one
                    .key
                    .as_ref()
                    .map_or(JsValue::NULL, |key| (&**key).into());
                emit.say(
                    "violation",
                    &[
                        ("monitor", one.monitor.id().into()),
                        ("at", number(one.at)),
                        ("key", key),
                    ],
                );
            }
        });
        (view.step, error)
    });
}
