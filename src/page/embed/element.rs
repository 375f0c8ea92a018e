//! One element on a page: the functions that the custom element's module calls.
//!
//! The module (`embed/deltascope.js`) owns the element, its attributes and its shadow root; this is what runs
//! inside.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use js_sys::{Object, Reflect};
use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::HtmlElement;

use super::api::{self, method, to_json};
use super::events::{Emit, emit_events};
use crate::board::Coming;
use crate::driver::Driver;
use crate::host::Host;
use crate::later::{Part, fetched, has};
use crate::live::Link;
use crate::memo::effect;
use crate::paced::Paced;
use crate::ui::{Shape, Ui, follow};
use deltascope_presentation::command::Command;
use deltascope_presentation::options::{Attribute, Mode, Options};
use deltascope_presentation::rows::density::{is_dense, is_queue_dense};
use deltascope_presentation::session::present::lesson_at_hand;
use deltascope_presentation::session::{Session, typed};
use deltascope_replay::lessons;
use deltascope_world::slices::{Slices, pause};
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

/// Begins to mount a board. Each call of `build` on the returned object does one more piece, so that the page
/// around stays responsive. It returns whether more are missing, or an `Error` that says why there is nothing to
/// show.
///
/// `config` holds `attributes` (names and values), `scenario` (an object of the page), `file` and `name` (the text
/// of a fetched file, and its name), `link` (the `#` part of a link to a run), and `emit`, a function that is
/// called with the name and the detail of each event. Once it is built, the object is the scripting interface,
/// with `set` for an attribute and `dispose`.
#[wasm_bindgen(js_name = mountElement)]
#[must_use]
pub fn mount_element(mount: HtmlElement, config: JsValue) -> JsValue {
    let object = Object::new();
    let mounted = Rc::new(RefCell::new(Mounted::No));
    let (api, into) = (object.clone(), Rc::clone(&mounted));
    let coming =
        Paced::of(move |slices| -> Coming { Box::pin(come(api, mount, config, into, slices)) });
    // The work owns the interface and the interface owns the work, so the work is dropped once it is done.
    let coming = Rc::new(RefCell::new(Some(coming)));
    let (at, what) = (Rc::clone(&coming), Rc::clone(&mounted));
    method(&object, "build", move |_, _| {
        let Some(mut rest) = at.take() else {
            return false.into();
        };
        match rest.go_on() {
            Poll::Pending => {
                if !matches!(*what.borrow(), Mounted::Gone) {
                    at.replace(Some(rest));
                }
                true.into()
            }
            Poll::Ready(Ok(())) => false.into(),
            Poll::Ready(Err(message)) => js_sys::Error::new(&message).into(),
        }
    });
    method(&object, "dispose", move |_, _| {
        coming.take();
        if let Mounted::Yes(driver, handle) = mounted.replace(Mounted::Gone) {
            driver.end();
            drop(handle);
        }
        JsValue::UNDEFINED
    });
    object.into()
}

type Coming = Pin<Box<dyn Future<Output = Result<(), String>>>>;

type Handle = UnmountHandle<<AnyView as Render>::State>;

/// Whether the board was mounted, or disposed of.
enum Mounted {
    No,
    Yes(Driver, Handle),
    Gone,
}

/// Mounts the board in pieces. Each piece runs much code for the first time, and browsers compile code on its
/// first call.
async fn come(
    api: Object,
    mount: HtmlElement,
    config: JsValue,
    mounted: Rc<RefCell<Mounted>>,
    slices: Rc<Slices>,
) -> Result<(), String> {
    let get = |name: &str| Reflect::get(&config, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let (options, wrong) = options_of(&get("attributes")).await?;
    let mut session = Session::empty();
    pause().await;
    let opened = open(&mut session, &options, &config, &slices).await;
    if let Err(message) = both(wrong, opened) {
        // Where a story is asked for, its reader gets no tools in its place.
        let untold = options.mode.tells(options.scene) && !session.tells();
        if untold || !session.is_open() {
            let lang = options.lang.unwrap_or_default();
            return Err(message.get(lang).to_owned());
        }
        session.say(message);
    }
    pause().await;
    let driver = Driver::with_session(Host::inside(&mount), session);
    driver.set_motion(options.motion);
    let view = driver.view();
    if view.race().is_some() || is_dense(&view.picture) || is_queue_dense(&view.picture) {
        // Without it there is no first picture.
        let seldom = fetched(Part::Seldom).await;
        seldom.map_err(|missing| missing.get(options.lang.unwrap_or_default()).to_owned())?;
    }
    pause().await;
    let emit = get("emit").dyn_into().ok().map(Emit::Element);
    let (lang, theme) = (
        options.lang.unwrap_or_default(),
        options.theme.unwrap_or_default(),
    );
    let (shape, drawn) = (Shape::of(&options), driver.clone());
    let shared = Rc::new(Cell::new(None));
    let made = Rc::clone(&shared);
    let handle = mount_to(mount, move || {
        let ui = drawn.ui(view, 0, shape, lang, theme);
        let link = Link::new(&drawn);
        provide_context(link);
        follow(ui);
        name(ui);
        if let Some(emit) = emit {
            emit_events(ui, emit);
        }
        made.set(Some((ui, link)));
        view! { <Coming /> }.into_any()
    });
    mounted.replace(Mounted::Yes(driver.clone(), handle));
    pause().await;
    if let Some((ui, link)) = shared.take() {
        // Copy the methods into the object that the page has already.
        let _ = Object::assign(&api, &api::api(&driver, ui, link));
        method(&api, "whole", |_, _| api::settles(api::whole()));
        method(&api, "exports", |_, _| api::settles(api::exports()));
        on_attribute(&api, &driver, ui, options);
    }
    pause().await;
    while driver.build() {
        pause().await;
    }
    Ok(())
}

/// Opens the run that the page asks for.
async fn open(
    session: &mut Session,
    options: &Options,
    config: &JsValue,
    slices: &Slices,
) -> Result<(), Text> {
    let get = |name: &str| Reflect::get(config, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let text = |name: &str| get(name).as_string();
    let command = match (text("file"), text("link")) {
        (Some(file), _) => {
            let name = text("name").unwrap_or_default();
            Some(Command::Open(vec![(name, file.into_bytes())]))
        }
        (None, Some(link)) => Some(Command::OpenLink(link.into())),
        (None, None) => None,
    };
    if let Some(command) = command {
        fetched(Part::of(&command)).await?;
        return Ok(session.present_shared(options, &command, slices).await?);
    }
    let scenario = scenario(&get("scenario"));
    let lesson = match lesson_at_hand(options, scenario) {
        Some(lesson) => lesson,
        None => {
            fetched(Part::Rest).await?;
            lessons::load(options.lesson.as_deref().unwrap_or_default())
        }
    };
    if options.mode == Mode::Race {
        fetched(Part::Seldom).await?;
    }
    Ok(session.present_slowly(options, lesson?, slices).await?)
}

/// The options that can be read, and the errors of those that cannot. Most elements have none that only the rest can read.
async fn options_of(attributes: &JsValue) -> Result<(Options, Result<(), Text>), String> {
    let mut options = Options::default();
    let mut wrong = Ok(());
    let given = attributes.dyn_ref::<Object>().map(Object::entries);
    let (first, later): (Vec<_>, Vec<_>) = given
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let pair: js_sys::Array = entry.unchecked_into();
            // `link` is given apart.
            let attribute = attribute(&pair.get(0))?;
            Some((attribute, pair.get(1).as_string().unwrap_or_default()))
        })
        .partition(|(attribute, _)| is_usual(*attribute));
    for (attribute, value) in first {
        wrong = both(wrong, options.set(attribute, &value));
    }
    if !later.is_empty() {
        let rest = fetched(Part::Rest).await;
        rest.map_err(|missing| missing.get(options.lang.unwrap_or_default()).to_owned())?;
    }
    for (attribute, value) in later {
        wrong = both(wrong, options.set(attribute, &value));
    }
    Ok((options, wrong))
}

/// Whether first pictures read it without the rest: `tests/browser/starts.mjs` tries these.
fn is_usual(attribute: Attribute) -> bool {
    matches!(
        attribute,
        Attribute::Lesson
            | Attribute::Era
            | Attribute::Panels
            | Attribute::Controls
            | Attribute::Theme
            | Attribute::Lang
            | Attribute::Motion
            | Attribute::Height
            | Attribute::Load
    )
}

fn attribute(name: &JsValue) -> Option<Attribute> {
    Attribute::named(&name.as_string()?)
}

/// The errors of both, one after the other.
fn both(one: Result<(), Text>, other: Result<(), Text>) -> Result<(), Text> {
    match (one, other) {
        (Err(one), Err(other)) => Err(text!(
            ("{} {}", one.en, other.en),
            ("{}{}", one.zh, other.zh)
        )),
        (one, other) => one.and(other),
    }
}

fn scenario(value: &JsValue) -> Option<serde_json::Value> {
    Some(to_json(value)).filter(|value| !value.is_null())
}

/// Adds `set(name, value)`, which changes an attribute while the run is shown.
fn on_attribute(api: &Object, driver: &Driver, ui: Ui, options: Options) {
    let options = Rc::new(RefCell::new(options));
    let driver = driver.clone();
    method(api, "set", move |name: JsValue, value: JsValue| {
        let Some(attribute) = attribute(&name) else {
            return JsValue::UNDEFINED;
        };
        let value = value.as_string().unwrap_or_default();
        let (options, by) = (Rc::clone(&options), driver.clone());
        if !is_usual(attribute) {
            let needs = match (attribute, &*value) {
                (Attribute::Mode, "race") => Part::Seldom,
                _ => Part::Rest,
            };
            let makes = move || changed(&options, attribute, &value, &by, ui);
            return api::settles(
                driver.say(needs, move || makes().unwrap_or(Command::DismissError)),
            );
        }
        let command = changed(&options, attribute, &value, &by, ui);
        // What only changes the look waits for nothing.
        if command.is_none() && !has(Part::Rest) {
            return JsValue::UNDEFINED;
        }
        // An earlier error may be about the old value.
        let command = command.unwrap_or(Command::DismissError);
        api::settles(driver.say(Part::of(&command), || command))
    });
}

/// Gives an attribute a new value, and changes what that alone changes. What else it changes is for a command.
fn changed(
    options: &RefCell<Options>,
    attribute: Attribute,
    value: &str,
    driver: &Driver,
    ui: Ui,
) -> Option<Command> {
    let set = options.borrow_mut().set(attribute, value);
    let now = options.borrow().clone();
    match set {
        Ok(()) => {
            show(attribute, &now, driver, ui);
            typed::attribute(attribute, &now)
        }
        Err(message) => Some(Command::Wrong(message)),
    }
}

/// Changes what a new value of an attribute changes of the board.
fn show(attribute: Attribute, now: &Options, driver: &Driver, ui: Ui) {
    match attribute {
        Attribute::Theme => ui.theme.set(now.theme.unwrap_or_default()),
        Attribute::Lang => ui.lang.set(now.lang.unwrap_or(Lang::En)),
        Attribute::Motion => driver.set_motion(now.motion),
        Attribute::Panels | Attribute::Controls | Attribute::Mode => ui.shape.set(Shape::of(now)),
        // A command does the rest, or the element's module.
        Attribute::Lesson
        | Attribute::Src
        | Attribute::Era
        | Attribute::At
        | Attribute::Until
        | Attribute::Scene
        | Attribute::Granularity
        | Attribute::Speed
        | Attribute::Height
        | Attribute::Load
        | Attribute::Markers => {}
    }
}

/// Names the board, so that several of them on one page can be told apart.
fn name(ui: Ui) {
    let host = ui.host();
    effect(move || {
        let lang = ui.lang.get();
        let title = ui.view.with(|view| view.lesson.title.get(lang).to_owned());
        if let Some(mount) = host.mount() {
            let _ = mount.set_attribute("aria-label", &format!("deltascope: {title}"));
        }
    });
}
