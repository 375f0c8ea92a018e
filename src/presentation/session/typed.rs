//! Commands of texts that a user or a script wrote. They are parsed here, and the session gets values.

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::Verb;
use deltascope_cache::key::Key;
use deltascope_replay::edit::Setting;
use deltascope_replay::moment::{Base, Moment, MomentError};
use deltascope_replay::predicate::Predicate;
use deltascope_replay::smallest::Goal;
use deltascope_replay::step_size::StepSize;
use serde_json::Value;

use super::branches::no_value;
use super::compare::no_such;
use super::messages::{no_answer, no_era, no_op, no_size};
use crate::against::Against;
use crate::anchor::Anchor;
use crate::command::{BreakCommand, Command, Tell};
use crate::options::{Attribute, Options, Place};
use crate::stage::Panel;
use crate::story::{Answer, Kind, Question};
use deltascope_world::source::pod::{self, PodSpec, Write};
use deltascope_world::text;
use deltascope_world::text::Text;

/// The command with the predicate in the text.
#[must_use]
pub fn predicate(text: &str, command: fn(Predicate) -> Command) -> Command {
    text.parse()
        .map_or_else(|error| Command::Wrong(error.words()), command)
}

/// Runs the same in the generation of the Kubernetes version in the text.
#[must_use]
pub fn generation(text: &str) -> Command {
    match Generation::from_version(text) {
        Some(generation) => Command::Generation(generation),
        None => Command::Wrong(no_era(text)),
    }
}

/// Sets the setting to the value in the text.
#[must_use]
pub fn setting(setting: &Setting, text: &str) -> Command {
    match setting.with(text) {
        Some(setting) => Command::Set(setting),
        None => Command::Wrong(no_value(setting, text)),
    }
}

/// Goes to the place in the text.
#[must_use]
pub fn place(name: &str) -> Command {
    match name.parse() {
        Ok(place) => Command::SeekTo(place),
        // The error is the one for an unknown marker.
        Err(MomentError::Form) => Command::SeekTo(Place::Moment(Moment {
            base: Base::Marker(name.into()),
            plus: 0,
        })),
        Err(error) => {
            let Text { en, zh } = error.words();
            Command::Wrong(text!("{name}: {en}.", "{name}：{zh}。"))
        }
    }
}

/// Shows what the text names beside this run; if it is empty, the first run that there is.
#[must_use]
pub fn against(name: &str) -> Command {
    Against::parse(name).map_or_else(|| Command::Wrong(no_such(name)), Command::Compare)
}

/// Makes so many steps of the size in the text.
#[must_use]
pub fn steps(by: i64, size: &str) -> Command {
    StepSize::named(size).map_or_else(
        || Command::Wrong(no_size(size)),
        |size| Command::WalkBy(size, by),
    )
}

/// Writes an object, or cuts the watch.
#[must_use]
pub fn inject(op: &str, object: Value) -> Command {
    let verb = match op {
        "create" => Verb::Create,
        "update" => Verb::Update,
        "delete" => Verb::Delete,
        "cut" => return Command::CutWatch,
        _ => return Command::Wrong(no_op(op)),
    };
    write(verb, object)
}

/// Deletes the object with this key.
#[must_use]
pub fn delete(key: &str) -> Command {
    write(Verb::Delete, PodSpec::of(key).to_json())
}

/// Writes an object, given as Kubernetes has it in JSON.
#[must_use]
pub fn write(verb: Verb, object: Value) -> Command {
    match pod::to_write(object) {
        Ok(object) => Command::Write(Box::new(match verb {
            Verb::Create => Write::Create(object),
            Verb::Update => Write::Update(object),
            Verb::Delete => Write::delete(object),
        })),
        Err(reason) => Command::Wrong(reason),
    }
}

/// Shows the new value of an attribute, one of these options; nothing if it is not the run's.
#[must_use]
pub fn attribute(attribute: Attribute, options: &Options) -> Option<Command> {
    match attribute {
        Attribute::Era => options.era.map(Command::Generation),
        Attribute::At => options.at.clone().map(Command::SeekTo),
        Attribute::Speed => Some(Command::Speed(options.speed.unwrap_or(100))),
        Attribute::Granularity => Some(Command::StepSize(options.granularity.unwrap_or_default())),
        Attribute::Until | Attribute::Markers => Some(Command::Stops(
            options.until.clone(),
            options.pause_at_markers,
        )),
        Attribute::Mode | Attribute::Scene => Some(Command::Present(options.mode, options.scene)),
        // These open another run, or change how one is shown.
        Attribute::Lesson
        | Attribute::Src
        | Attribute::Panels
        | Attribute::Controls
        | Attribute::Theme
        | Attribute::Lang
        | Attribute::Motion
        | Attribute::Height
        | Attribute::Load => None,
    }
}

/// What a script gives to a method.
#[derive(Default)]
pub struct Given {
    /// The text, if it is one, …
    pub text: Option<String>,
    /// … or the number.
    pub number: Option<f64>,
    /// All but a text, as JSON.
    pub json: Option<String>,
}

impl Given {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    fn number(&self, default: f64) -> i64 {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a cast saturates, and the session goes to the nearest end"
        )]
        let number = self.number.unwrap_or(default) as i64;
        number
    }

    /// A number of something, from 0.
    fn count(&self, default: f64) -> usize {
        usize::try_from(self.number(default).max(0)).unwrap_or(usize::MAX)
    }

    fn value(&self) -> Value {
        match (&self.text, &self.json) {
            (Some(text), _) => text.as_str().into(),
            (None, Some(json)) => serde_json::from_str(json).unwrap_or_default(),
            (None, None) => Value::Null,
        }
    }
}

/// Makes a command of what a method is given.
pub type Call = fn(&Given, &Given) -> Command;

/// The methods of scripts that are commands, which need what lessons and rooms need.
pub const CALLS: [(&str, Call); 14] = [
    ("step", |by, size| match &size.text {
        Some(size) => steps(by.number(1.0), size),
        None => Command::Step(by.number(1.0)),
    }),
    ("seek", |to, _| match &to.text {
        Some(name) => place(name),
        None => Command::Seek(to.count(0.0)),
    }),
    ("play", |_, _| Command::Play),
    ("pause", |_, _| Command::Pause),
    ("follow", |key, _| {
        Command::Follow(key.text.as_deref().map(Key::from))
    }),
    ("load", |id, _| Command::Load(id.text().into())),
    ("next", |_, _| Command::Tell(Tell::Next)),
    ("back", |_, _| Command::Tell(Tell::Back)),
    ("scene", |scene, _| {
        Command::Tell(Tell::Scene(scene.count(1.0).saturating_sub(1)))
    }),
    ("answer", |given, _| Command::Answer(given.value())),
    ("disconnect", |_, _| Command::Disconnect),
    ("setEra", |era, _| generation(era.text())),
    ("reset", |_, _| Command::Reset),
    ("inject", |act, _| {
        let mut act = act.value();
        let object = act.get_mut("object").map(Value::take);
        let op = act.get("op").and_then(Value::as_str);
        inject(op.unwrap_or_default(), object.unwrap_or_default())
    }),
];

/// Those of [seldom](Command::is_seldom) commands, of which even the making needs more.
pub const SELDOM_CALLS: [(&str, Call); 9] = [
    ("runUntil", |what, _| {
        predicate(what.text(), Command::RunUntil)
    }),
    ("playUntil", |what, _| {
        predicate(what.text(), Command::PlayUntil)
    }),
    ("breakAt", |what, _| {
        predicate(what.text(), |what| Command::Break(BreakCommand::Add(what)))
    }),
    ("select", |anchor, _| {
        Command::Select(anchor.text.as_deref().and_then(Anchor::read))
    }),
    ("openText", |name, text| {
        Command::Open(vec![(name.text().into(), text.text().into())])
    }),
    ("smallest", |what, _| match &what.text {
        Some(what) => predicate(what, |what| Command::Smallest(Some(Goal::Condition(what)))),
        None => Command::Smallest(None),
    }),
    ("fork", |_, _| Command::Fork),
    ("switchTo", |branch, _| {
        Command::Branch(u32::try_from(branch.count(0.0)).unwrap_or(u32::MAX))
    }),
    ("compare", |with, _| match &with.text {
        Some(with) => against(with),
        None => Command::CloseCompare,
    }),
];

/// The answer that a script gives to a question; null asks to be shown what happens.
///
/// # Errors
/// The value is no answer to it; the text says what is one.
pub fn answer(question: &Question, given: &Value) -> Result<Option<Answer>, Text> {
    if given.is_null() {
        return Ok(None);
    }
    let number = |value: &Value| {
        value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    let (answer, en, zh) = match &question.kind {
        Kind::Choice(choices) => {
            let last = choices.len() - 1;
            let choice = number(given).filter(|choice| *choice <= last);
            (
                choice.map(Answer::Choice),
                format!("the number of a choice, 0 to {last}"),
                format!("选项的序号（0 到 {last}）"),
            )
        }
        Kind::Number { .. } => (
            given.as_u64().map(Answer::Number),
            "a number".to_owned(),
            "一个数".to_owned(),
        ),
        Kind::Place { rooms, .. } => {
            let room = given.as_str().and_then(Panel::named);
            let ids: Vec<&str> = rooms.iter().map(|room| room.id()).collect();
            (
                room.filter(|room| rooms.contains(room)).map(Answer::Place),
                format!("the id of a panel: {}", ids.join(", ")),
                format!("面板的 id：{}", ids.join("、")),
            )
        }
        Kind::Order { items, .. } => {
            let order: Option<Vec<usize>> = given
                .as_array()
                .and_then(|order| order.iter().map(number).collect());
            let all: Vec<usize> = (0..items.len()).collect();
            let is_order = |order: &Vec<usize>| {
                order.len() == all.len() && all.iter().all(|item| order.contains(item))
            };
            (
                order.filter(is_order).map(Answer::Order),
                format!("the numbers of all items in their order, such as {all:?}"),
                format!("按先后排列的所有项的序号，如 {all:?}"),
            )
        }
    };
    match answer {
        Some(answer) => Ok(Some(answer)),
        None => Err(no_answer(&given.to_string(), &en, &zh)),
    }
}
