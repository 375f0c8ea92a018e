//! `window.deltascope`: the scripting interface that the book's chapter "Scripting the page" documents.
//!
//! The custom element's methods have the same names and results.

use js_sys::{Array, JSON, Object, Reflect};
use leptos::prelude::{GetUntracked, WithUntracked, window};
use leptos::task::spawn_local;
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen_futures::future_to_promise;

use super::events::{Emit, emit_story};
use crate::board::own;
use crate::driver::Driver;
use crate::later::{Part, fetched, has};
use crate::live::Link;
use crate::ui::Ui;
use deltascope_cache::key::Key;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::command::SvgOptions;
use deltascope_presentation::command::{BreakCommand, Command, Export, Tell};
use deltascope_presentation::i18n::Text;
use deltascope_presentation::options;
use deltascope_presentation::session::{Change, Session, typed};
use deltascope_presentation::shelf::progress::Progress;
use deltascope_presentation::state::{API_VERSION, state};
use deltascope_replay::predicate::Predicate;
use deltascope_replay::scramble::Scramble;
use deltascope_replay::smallest::Goal;
use deltascope_replay::step_size::StepSize;

/// Sets `window.deltascope`. The page's frame is mounted already; `ready` is settled once all of it is drawn and `first` has been
/// opened, if that `is_newest` still.
pub fn install(
    driver: &Driver,
    ui: Ui,
    link: Link,
    first: Option<Command>,
    is_newest: impl FnOnce() -> bool + 'static,
) {
    let api = api(driver, ui, link);
    let opening = driver.clone();
    let ready = settles(async move {
        opening.build_all().await;
        opening.waits(first.is_some());
        let rest = fetched(Part::Rest).await;
        let is_wanted = ui.waits.get_untracked();
        opening.waits(false);
        match (rest, first) {
            (Ok(()), Some(first)) if is_wanted && is_newest() => opening.opens(first).await,
            (Err(missing), Some(_)) => opening.misses(Some(missing)),
            _ => {}
        }
        spawn_local(fetch_own());
    });
    let _ = Reflect::set(&api, &"ready".into(), &ready);
    let _ = Reflect::set(&window(), &"deltascope".into(), &api);
    emit_story(ui, Emit::Page);
}

/// Returns once the rest is there, so that the methods that answer at once can do so. If it cannot be fetched, they say so.
pub(super) async fn whole() {
    let _said = fetched(Part::Rest).await;
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

    let on = driver.clone();
    method(&api, "step", move |by: JsValue, step_size: JsValue| {
        let by = by.as_f64().unwrap_or(1.0);
        if let Some(step_size) = step_size.as_string() {
            return perform(&on, move |session| walk(session, by, &step_size));
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a step out of range is clamped by the session"
        )]
        let command = Command::Step(by as i64);
        performs_far(&on, command)
    });
    let on = driver.clone();
    method(&api, "seek", move |to: JsValue, _: JsValue| {
        if let Some(named) = to.as_string() {
            let seek = Box::new(move |session: &mut Session| session.seek_named(&named));
            return performs(on.clone(), true, seek);
        }
        let place = to.as_f64().unwrap_or(0.0).max(0.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and a place out of range is clamped by the session"
        )]
        let command = Command::Seek(place as usize);
        performs_far(&on, command)
    });
    let on = driver.clone();
    method(&api, "play", move |_: JsValue, _: JsValue| {
        perform(&on, |session| {
            // An earlier error would stay as long as it plays.
            session.obey(Command::DismissError);
            session.play();
            Change::None
        })
    });
    let on = driver.clone();
    method(&api, "pause", move |_: JsValue, _: JsValue| {
        perform(&on, |session| {
            session.pause();
            Change::None
        })
    });
    for (name, command) in TEXTS {
        let on = driver.clone();
        method(&api, name, move |text: JsValue, _: JsValue| {
            let command = command(text.as_string());
            perform(&on, |session| session.obey(command))
        });
    }
    let on = driver.clone();
    method(&api, "setEra", move |era: JsValue, _: JsValue| {
        let command = typed::generation(&era.as_string().unwrap_or_default());
        perform(&on, |session| match command {
            Command::Generation(generation) => session.set_generation(generation),
            wrong => session.obey(wrong),
        })
    });
    let on = driver.clone();
    method(&api, "runUntil", move |text: JsValue, _: JsValue| {
        performs_far(&on, until(text.as_string(), Command::RunUntil))
    });
    let on = driver.clone();
    method(&api, "smallest", move |text: JsValue, _: JsValue| {
        let command = match text.as_string() {
            None => Command::Smallest(None),
            text => until(text, |what| Command::Smallest(Some(Goal::Condition(what)))),
        };
        opens(&on, command)
    });
    let on = driver.clone();
    method(&api, "load", move |id: JsValue, _: JsValue| {
        let id = id.as_string().unwrap_or_default();
        opens(&on, Command::Load(id.into()))
    });
    for (name, tell) in [("next", Tell::Next), ("back", Tell::Back)] {
        let on = driver.clone();
        method(&api, name, move |_: JsValue, _: JsValue| {
            let command = Command::Tell(tell.clone());
            tells(&on, Box::new(move |session| session.obey(command)))
        });
    }
    let on = driver.clone();
    method(&api, "scene", move |scene: JsValue, _: JsValue| {
        let scene = scene.as_f64().unwrap_or(1.0).max(1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1, and a number out of range is clamped by the session"
        )]
        let command = Command::Tell(Tell::Scene(scene as usize - 1));
        tells(&on, Box::new(move |session| session.obey(command)))
    });
    let on = driver.clone();
    method(&api, "answer", move |given: JsValue, _: JsValue| {
        let given = to_json(&given);
        tells(&on, Box::new(move |session| session.answer_with(&given)))
    });
    let on = driver.clone();
    method(&api, "connect", move |options: JsValue, _: JsValue| {
        let options = to_json(&options);
        settles(on.connects(Box::pin(async move {
            fetched(Part::Own).await?;
            own::connect(link, options).await
        })))
    });
    let on = driver.clone();
    method(&api, "switchTo", move |branch: JsValue, _: JsValue| {
        let branch = branch.as_f64().unwrap_or(0.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is no number of a branch is none after the cast, too"
        )]
        perform(&on, move |session| {
            session.obey(Command::Branch(branch as u32))
        })
    });
    let on = driver.clone();
    method(&api, "compare", move |with: JsValue, _: JsValue| {
        let with = with.as_string();
        perform(&on, move |session| match with {
            Some(with) => session.compare_named(&with),
            None => session.obey(Command::CloseCompare),
        })
    });
    let on = driver.clone();
    method(&api, "inject", move |act: JsValue, _: JsValue| {
        let get = |name: &str| Reflect::get(&act, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let op = get("op").as_string().unwrap_or_default();
        let object = to_json(&get("object"));
        perform(&on, move |session| {
            // An earlier error is no answer to this call.
            session.obey(Command::DismissError);
            session.inject(&op, object)
        })
    });
    let on = driver.clone();
    method(&api, "openText", move |name: JsValue, text: JsValue| {
        let name = name.as_string().unwrap_or_default();
        let text = text.as_string().unwrap_or_default();
        opens(&on, Command::Open(vec![(name, text.into_bytes())]))
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
        let options = has(Part::Rest).then(|| picture_options(&asked, ui));
        let drawn = options.and_then(|options| on.export(Export::Svg(options)).ok());
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
    let mut given = options::Options {
        panels: ui.shape.with_untracked(|shape| shape.panels.clone()),
        ..Default::default()
    };
    for name in ["panels", "theme", "lang"] {
        let value = get(name);
        let list = value.dyn_ref::<Array>().map(|list| list.join(",").into());
        if let Some(value) = list.or_else(|| value.as_string()) {
            // Unknown values are ignored.
            let _unknown = given.set(name, &value);
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

/// Makes a command from a string or nothing.
type OfText = fn(Option<String>) -> Command;

/// Methods that take a string or nothing.
const TEXTS: [(&str, OfText); 7] = [
    ("disconnect", |_| Command::Disconnect),
    ("fork", |_| Command::Fork),
    ("reset", |_| Command::Reset),
    ("select", |text| {
        Command::Select(text.and_then(|text| Anchor::read(&text)))
    }),
    ("follow", |key| {
        Command::Follow(key.map(|key| Key::from(key.as_str())))
    }),
    ("playUntil", |text| until(text, Command::PlayUntil)),
    ("breakAt", |text| {
        until(text, |predicate| {
            Command::Break(BreakCommand::Add(predicate))
        })
    }),
];

fn until(text: Option<String>, command: fn(Predicate) -> Command) -> Command {
    typed::predicate(&text.unwrap_or_default(), command)
}

/// Most steps of one call.
const FARTHEST: f64 = 100_000.0;

/// Moves by `by` steps of a size.
fn walk(session: &mut Session, by: f64, step_size: &str) -> Change {
    let Some(size) = StepSize::from_id(step_size) else {
        let sizes = StepSize::ALL.map(StepSize::id).join(", ");
        return session.say(Text::new(
            &format!("step: there is no size {step_size:?}. Write one of: {sizes}."),
            &format!(
                "step：没有 {step_size:?} 这种步长。可选：{}。",
                sizes.replace(", ", "、")
            ),
        ));
    };
    session.obey(Command::DismissError);
    let mut change = Change::None;
    let mut left = by.abs().min(FARTHEST);
    while left >= 1.0 {
        left -= 1.0;
        match session.walk_by(size, by > 0.0) {
            Change::None => break,
            one if change == Change::None => change = one,
            _ => change = Change::Cut,
        }
    }
    change
}

pub(super) fn method(
    api: &Object,
    name: &str,
    call: impl Fn(JsValue, JsValue) -> JsValue + 'static,
) {
    let call = Closure::<dyn Fn(JsValue, JsValue) -> JsValue>::new(call);
    let _ = Reflect::set(api, &name.into(), &call.into_js_value());
}

/// A promise that settles once the screen shows the result.
fn perform(driver: &Driver, act: impl FnOnce(&mut Session) -> Change + 'static) -> JsValue {
    performs(driver.clone(), false, Box::new(act))
}

// Boxed, so that it is compiled once and not once per method.
fn performs(driver: Driver, seeks: bool, act: Box<dyn FnOnce(&mut Session) -> Change>) -> JsValue {
    settles(async move { driver.perform(seeks, act).await })
}

/// A promise that settles once the play to a scene's moment, or to an answer's, is over.
fn tells(driver: &Driver, act: Box<dyn FnOnce(&mut Session) -> Change>) -> JsValue {
    let driver = driver.clone();
    settles(async move { driver.tells(act).await })
}

/// A promise that settles once the screen shows what was opened, or why it cannot be opened.
fn opens(driver: &Driver, command: Command) -> JsValue {
    settles(driver.opens(command))
}

/// A promise that settles once the screen shows what may have to be computed first.
fn performs_far(driver: &Driver, command: Command) -> JsValue {
    let driver = driver.clone();
    settles(async move { driver.perform_far(command).await })
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
    if value.is_undefined() || value.is_function() || value.is_symbol() {
        return Value::Null;
    }
    JSON::stringify(value)
        .ok()
        .and_then(|text| serde_json::from_str(&String::from(text)).ok())
        .unwrap_or_default()
}
