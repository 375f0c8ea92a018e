//! The events of a board, for the page around it.

use js_sys::{Function, JSON, Object, Reflect};
use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::prelude::JsValue;
use web_sys::{CustomEvent, CustomEventInit};

use crate::memo::effect_after;
use crate::ui::Ui;
use deltascope_presentation::state::{Event, answered};
use deltascope_presentation::story::words;
use deltascope_replay::beat::MOST;
use deltascope_world::text::Text;

/// Receives the events.
#[derive(Clone)]
pub(super) enum Emit {
    /// A function of the element, which is called with the name and the detail.
    Element(Function),
    /// The document of the project's own page, which gets them as an element would emit them.
    Page,
}

impl Emit {
    fn say(&self, event: Event, detail: &[(&str, JsValue)]) {
        let (name, object) = (event.id(), Object::new());
        for (key, value) in detail {
            let _ = Reflect::set(&object, &(*key).into(), value);
        }
        // An exception of a listener does not concern the board.
        match self {
            Self::Element(emit) => {
                let _ = emit.call2(&JsValue::UNDEFINED, &name.into(), &object);
            }
            Self::Page => {
                let init = CustomEventInit::new();
                init.set_bubbles(true);
                init.set_detail(&object);
                let event = CustomEvent::new_with_event_init_dict(&format!("ds-{name}"), &init);
                let _ = event.and_then(|event| document().dispatch_event(&event));
            }
        }
    }
}

fn number(number: usize) -> JsValue {
    JsValue::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Emits an event for each step, marker, violated invariant and error, and those of a story.
pub(super) fn emit_events(ui: Ui, emit: Emit) {
    let story = emit.clone();
    let emit = StoredValue::new_local(emit);
    effect_after(move |before: Option<(usize, bool, Option<Text>)>| {
        let view = ui.view.get();
        let error = view.error.as_ref().map(|error| error.message.clone());
        let error = ui.missing.get().or(error);
        let (step_before, played, error_before) = before.unwrap_or((usize::MAX, false, None));
        emit.with_value(|emit| {
            if let Some(message) = error.as_ref().filter(|_| error != error_before) {
                let message = message.get(ui.lang.get_untracked()).into();
                emit.say(Event::Error, &[("message", message)]);
            }
            if view.step == step_before {
                return;
            }
            #[allow(clippy::cast_precision_loss, reason = "ms, of which 2^53 are no run")]
            let time = JsValue::from(view.time as f64);
            let step = number(view.step);
            emit.say(
                Event::Step,
                &[
                    ("step", step),
                    ("steps", number(view.steps)),
                    ("time", time),
                ],
            );
            // A beat of playback may pass some on its way.
            let plays = (played || view.playing) && view.step <= step_before.saturating_add(MOST);
            let reached = |at| at == view.step || plays && step_before < at && at < view.step;
            for marker in view.markers.iter().filter(|one| reached(one.at)) {
                emit.say(Event::Marker, &[("id", (&*marker.id).into())]);
            }
            let found = view.checks.violations.iter();
            for one in found.filter(|one| reached(one.at)) {
                let key = one
                    .key
                    .as_ref()
                    .map_or(JsValue::NULL, |key| (&**key).into());
                emit.say(
                    Event::Violation,
                    &[
                        ("monitor", one.invariant.id().into()),
                        ("at", number(one.at)),
                        ("key", key),
                    ],
                );
            }
        });
        (view.step, view.playing, error)
    });
    emit_story(ui, story);
}

/// What was said of a story.
#[derive(Default)]
struct Said {
    /// Which story it is.
    telling: u64,
    scene: Option<usize>,
    /// The answers, by their numbers.
    answers: Vec<usize>,
    reached: bool,
}

/// Emits an event for each scene, each answer once the run has decided it, and the goal once it is reached.
pub(super) fn emit_story(ui: Ui, emit: Emit) {
    let emit = StoredValue::new_local(emit);
    effect_after(move |before: Option<Said>| {
        let mut said = before.unwrap_or_default();
        let Some(story) = ui.view.with(|view| view.story.clone()) else {
            return said;
        };
        if said.telling != story.telling {
            said = Said {
                telling: story.telling,
                ..Said::default()
            };
        }
        let scene = number(story.index + 1);
        emit.with_value(|emit| {
            if said.scene.replace(story.index) != Some(story.index) {
                let detail = [("index", scene.clone()), ("of", number(story.of))];
                emit.say(Event::Scene, &detail);
            }
            let decided = story.asked.as_ref();
            let decided = decided.and_then(|asked| Some((asked, asked.verdict.as_ref()?)));
            if let Some((asked, verdict)) = decided
                && !said.answers.contains(&asked.number)
            {
                said.answers.push(asked.number);
                let right = verdict.is_right.map_or(JsValue::NULL, JsValue::from);
                let answered = of_json(&answered(asked));
                let detail = [("scene", scene), ("answered", answered), ("right", right)];
                emit.say(Event::Answer, &detail);
            }
            if let Some(goal) = &story.goal {
                if goal.reached && !said.reached {
                    let text = words::plain(goal.text.get(ui.lang.get_untracked()));
                    emit.say(Event::Goal, &[("text", text.into())]);
                }
                said.reached = goal.reached;
            }
        });
        said
    });
}

fn of_json(value: &Value) -> JsValue {
    // A serializer wrote the text, so it can be parsed.
    JSON::parse(&value.to_string()).unwrap_or(JsValue::NULL)
}
