//! A scenario: everything that makes a run, as data.

use kube_core::DynamicObject;
use serde::Deserialize;
use serde_json::Value;

use crate::runtime::Time;
use crate::runtime::virtual_time::{Feed, Input, ProcessModeText, Settings, World};

use super::Command;
use super::any::AnySource;
use super::pod::{self, Write};
use super::program::Program;
use super::recorded::Recording;
use super::simulator::Simulator;
use super::wire::Recorded;
use super::workload::{Options, Workload};

/// Settings, what is there at the start, and what happens when.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// What is built.
    pub settings: Settings,
    /// The objects that the server has at the start.
    pub initial: Vec<Value>,
    /// What happens, in the order of time.
    pub script: Vec<Entry>,
    /// Endless traffic with this seed.
    pub traffic: Option<u64>,
    /// What was recorded, for a recorded stream.
    #[serde(skip)]
    pub recorded: Option<Recorded>,
}

/// One thing that happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// When, in virtual ms.
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub act: Act,
}

/// What can happen, as a script or `inject` writes it.
#[derive(Clone, Debug, Deserialize)]
// Unknown fields are refused here and not in `Entry`: there, serde would refuse these as well.
#[serde(tag = "op", deny_unknown_fields, rename_all = "camelCase")]
pub enum Act {
    /// Create this object.
    Create {
        /// It.
        object: Value,
    },
    /// Change this object.
    Update {
        /// It, whole.
        object: Value,
    },
    /// Delete this object.
    Delete {
        /// Its metadata are enough.
        object: Value,
    },
    /// Cut the watch.
    Cut,
    /// Forget the history.
    Compact,
    /// Pop once.
    Pop,
    /// Set how the process loop runs.
    Mode {
        /// `free`, `held` or a pause in ms.
        mode: ProcessModeText,
    },
    /// Switch KnownObjects.
    KnownObjects {
        /// On or off.
        on: bool,
    },
}

impl Act {
    /// As an input of a world.
    ///
    /// # Errors
    /// Says what is wrong with the object, and what to do about it.
    pub fn into_input(self) -> Result<Input<Command>, String> {
        let write = match self {
            Self::Create { object } => Write::Create(pod::from_json(&object)?),
            Self::Update { object } => Write::Update(pod::from_json(&object)?),
            Self::Delete { object } => {
                let object = pod::from_json(&object)?;
                Write::Delete {
                    namespace: object.metadata.namespace.unwrap_or_default(),
                    name: object.metadata.name.unwrap_or_default(),
                }
            }
            Self::Cut => return Ok(Input::Source(Command::Cut)),
            Self::Compact => return Ok(Input::Source(Command::Compact)),
            Self::Pop => return Ok(Input::Pop),
            Self::Mode { mode } => return Ok(Input::Mode(mode.0)),
            Self::KnownObjects { on } => return Ok(Input::KnownObjects(on)),
        };
        Ok(Input::Source(Command::Write(write)))
    }
}

impl Scenario {
    /// Builds the world; nothing has happened in it yet.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read and why.
    pub fn build(&self) -> Result<World<AnySource>, String> {
        let source = match self.settings.feed {
            Feed::Program => AnySource::Program(Program::default()),
            Feed::Recorded => {
                AnySource::Recorded(Recording::new(self.recorded.clone().unwrap_or_default()))
            }
            Feed::Server => {
                let mut initial = self
                    .initial
                    .iter()
                    .map(pod::from_json)
                    .collect::<Result<Vec<_>, _>>()?;
                let mut traffic = self
                    .traffic
                    .map(|seed| Workload::new(seed, Options::default()));
                if let Some(workload) = &mut traffic {
                    initial.extend(workload.start().into_iter().map(DynamicObject::from));
                }
                AnySource::Server(Simulator::new(initial, traffic))
            }
        };
        let script = self
            .script
            .iter()
            .map(|entry| Ok((entry.at, entry.act.clone().into_input()?)))
            .collect::<Result<_, String>>()?;
        Ok(World::new(self.settings.clone(), source, script))
    }

    /// A world with a server that has nothing and to which nothing happens.
    #[must_use]
    pub fn empty_world(&self) -> World<AnySource> {
        let source = AnySource::Server(Simulator::new(Vec::new(), None));
        World::new(self.settings.clone(), source, Vec::new())
    }

    /// Whether it goes on for ever.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.traffic.is_some()
    }
}
