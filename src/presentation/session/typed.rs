//! Commands of texts that a user or a script wrote. They are parsed here, and the session gets values.

use deltascope_cache::controller::Generation;
use deltascope_replay::edit::Setting;
use deltascope_replay::predicate::Predicate;
use serde_json::Value;

use super::branches::no_value;
use super::messages::{no_answer, no_era};
use crate::command::Command;
use crate::i18n::Text;
use crate::stage::Panel;
use crate::story::{Answer, Kind, Question};

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
                format!("the id of a room: {}", ids.join(", ")),
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
