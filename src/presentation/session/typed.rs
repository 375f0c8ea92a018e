//! Commands of texts that a user or a script wrote. They are parsed here, and the session gets values.

use deltascope_cache::controller::Generation;
use deltascope_replay::edit::Setting;
use deltascope_replay::predicate::{Predicate, PredicateError};

use super::branches::no_value;
use super::messages::no_era;
use crate::command::Command;
use crate::i18n::Text;

/// The command with the predicate in the text.
#[must_use]
pub fn predicate(text: &str, command: fn(Predicate) -> Command) -> Command {
    text.parse()
        .map_or_else(|error| Command::Wrong(reason(&error)), command)
}

fn reason(error: &PredicateError) -> Text {
    let [en, zh] = error.words();
    Text::new(&en, &zh)
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
