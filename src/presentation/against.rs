//! What a run can be shown beside, and its names in scripts.

use deltascope_replay::edit::Setting;
use deltascope_world::source::scenario::Scenario;

/// What a run is shown beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The default: the first run that there is to compare with.
    First,
    /// The same inputs in all four generations.
    Race,
    /// This run.
    Run(With),
}

impl Against {
    /// Its name in scripts.
    #[must_use]
    pub fn id(self) -> String {
        match self {
            Self::First => String::new(),
            Self::Race => RACE.to_owned(),
            Self::Run(with) => with.id(),
        }
    }

    /// What has this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::First),
            RACE => Some(Self::Race),
            _ => With::parse(text).map(Self::Run),
        }
    }
}

const RACE: &str = "race";
const OPENED: &str = "opened";

/// One run to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// The same inputs, with one setting changed.
    Setting(Setting),
    /// Another branch.
    Branch(u32),
    /// The run that was opened, without the user's changes to it.
    Opened,
}

impl With {
    /// Its name in scripts and menus.
    #[must_use]
    pub fn id(self) -> String {
        match self {
            Self::Branch(id) => format!("branch={id}"),
            Self::Opened => OPENED.to_owned(),
            Self::Setting(setting @ Setting::Generation(_)) => setting.value(),
            Self::Setting(setting) => format!("{}={}", setting.id(), setting.value()),
        }
    }

    /// The run with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == OPENED {
            return Some(Self::Opened);
        }
        let (name, value) = text.split_once('=').unwrap_or(("era", text));
        if name == "branch" {
            return Some(Self::Branch(value.parse().ok()?));
        }
        let setting = Setting::named(name, &Scenario::default())?;
        Some(Self::Setting(setting.with(value)?))
    }
}
