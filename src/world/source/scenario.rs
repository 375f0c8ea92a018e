//! A scenario: all data that determines a run.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::bounds::{MAX_BUILT, MOST_BESIDE, MOST_HANDLERS};
use crate::deserialize_by_fields;
use crate::fields::{Fields, Put, Read, Written, Wrong};
use crate::slices::{Slices, at_once};
use crate::virtual_time::{Settings, SourceKind, World};
use deltascope_cache::controller::Generation;

use super::any::AnySource;
pub use super::entry::{Entry, input};
use super::live::Live;
use super::program::Program;
use super::recorded::RecordedServer;
use super::simulator::Simulator;
use super::wire::Recorded;
use super::workload::{Options, Workload};
use super::write;

/// Settings, initial objects and a timed script.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// How the world is built.
    pub settings: Settings,
    /// The objects that the server has at the start.
    pub initial: Vec<Arc<DynamicObject>>,
    /// The script, in the order of time.
    pub script: Vec<Entry>,
    /// The seed of endless traffic, if there is any.
    pub traffic: Option<u64>,
    /// The numbers of the traffic's writes that are left out.
    pub drops: Vec<u32>,
    /// Peer informers, of which the run shows only requests, stored objects and printed lines. They share the
    /// API server, or, if they have objects or a script of their own, have a server of another kind.
    pub beside: Vec<Scenario>,
    /// The recording, for a recorded stream.
    pub recorded: Option<Recorded>,
}

impl Read for Scenario {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a scenario", value)?;
        let initial: Vec<Value> = fields.get("initial")?;
        let script: Vec<Value> = fields.get("script")?;
        few(initial.len() + script.len())?;
        let read = Self {
            settings: fields.get("settings")?,
            initial: Read::read(initial.into()).map_err(|wrong| wrong.inside("initial"))?,
            script: Read::read(script.into()).map_err(|wrong| wrong.inside("script"))?,
            traffic: fields.get("traffic")?,
            drops: fields.get("drops")?,
            beside: fields.get("beside")?,
            recorded: None,
        };
        fields.done()?;
        read.bounded()?;
        Ok(read)
    }
}

/// Without its recording, which may be large.
impl Put for Scenario {
    fn written(&self) -> Value {
        let Self {
            settings,
            initial,
            script,
            traffic,
            drops,
            beside,
            recorded: _,
        } = self;
        let mut fields = Written::default();
        fields.put("settings", settings.written());
        let initial = initial.iter().map(|one| write::object(one));
        fields.put("initial", write::array(initial));
        script.put("script", &mut fields);
        traffic.put("traffic", &mut fields);
        drops.put("drops", &mut fields);
        beside.put("beside", &mut fields);
        fields.done()
    }
}

deserialize_by_fields!(Scenario);

/// Giving an object to the world costs at most as much as this many facts.
const EACH: usize = 4;

fn few(built: usize) -> Result<(), String> {
    if built > MAX_BUILT {
        return Err(format!(
            "{built} objects and entries would be built; the most is {MAX_BUILT}"
        ));
    }
    Ok(())
}

impl Scenario {
    /// It with its recording, as one value.
    #[must_use]
    pub fn whole(&self) -> Value {
        let mut written = self.written();
        if let (Value::Object(fields), Some(recorded)) = (&mut written, &self.recorded) {
            fields.insert("recorded".to_owned(), write::recorded(recorded));
        }
        written
    }

    /// Whether both give the same run.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.written() == other.written() && self.recorded == other.recorded
    }

    /// Runs it, and what is beside it, in another generation of client-go.
    pub fn set_generation(&mut self, generation: Generation) {
        self.settings.asked_as_before();
        self.settings.era = generation;
        for beside in &mut self.beside {
            beside.settings.era = generation;
        }
    }

    /// The same in a generation, if it has an informer.
    #[must_use]
    pub fn in_era(&self, era: Option<Generation>) -> Self {
        let mut other = self.clone();
        if let Some(generation) = era.filter(|_| self.settings.is_informer()) {
            other.set_generation(generation);
        }
        other
    }

    /// Checks that the scenario is not too large to build.
    ///
    /// # Errors
    /// States the limit that is exceeded.
    pub fn bounded(&self) -> Result<(), String> {
        let nested = |beside: &Self| !beside.beside.is_empty();
        if self.beside.iter().any(nested) {
            return Err("an informer beside others has others beside itself".to_owned());
        }
        let own = |one: &Self| one.initial.len() + one.script.len();
        let recorded = self.recorded.as_ref().map_or(0, |recorded| {
            let items = recorded.start.as_ref().map_or(0, |list| list.items.len());
            items + recorded.events.len()
        });
        let built = own(self) * (1 + self.beside.len())
            + self.beside.iter().map(own).sum::<usize>()
            + recorded * self.readers();
        few(built)
    }

    /// How many informers read the recording; each has its own copy.
    #[must_use]
    pub fn readers(&self) -> usize {
        let reads = |one: &&Self| one.settings.source == SourceKind::Recorded;
        1 + self.beside.iter().filter(reads).count()
    }

    /// Builds the world, before its first step.
    ///
    /// # Errors
    /// States what of the scenario cannot be built, why, and where it is.
    pub fn build(&self) -> Result<World<AnySource>, Wrong> {
        at_once(self.build_slowly(&Slices::whole()))
    }

    /// Builds the world in slices.
    ///
    /// # Errors
    /// States what of the scenario cannot be built, why, and where it is.
    pub async fn build_slowly(&self, slices: &Slices) -> Result<World<AnySource>, Wrong> {
        let mut world = self.build_alone(slices).await?;
        for (place, beside) in self.beside.iter().enumerate() {
            let same = beside.initial.is_empty() && beside.script.is_empty();
            let informer = if same {
                let settings = beside.settings.clone();
                Self {
                    settings,
                    beside: Vec::new(),
                    script: self
                        .script
                        .iter()
                        .filter(|entry| entry.is_for_server())
                        .cloned()
                        .collect(),
                    ..self.clone()
                }
                .build_alone(slices)
                .await?
            } else {
                let informer = Box::pin(beside.build_slowly(slices)).await;
                informer.map_err(|error| error.inside_nth(place).inside("beside"))?
            };
            world = world.with_beside(informer, same);
        }
        Ok(world)
    }

    async fn build_alone(&self, slices: &Slices) -> Result<World<AnySource>, Wrong> {
        let (handlers, beside) = (self.settings.handlers.len(), self.beside.len());
        for (what, count, most, place) in [
            (
                "handlers",
                handlers,
                MOST_HANDLERS,
                &["settings", "handlers"][..],
            ),
            ("informers beside", beside, MOST_BESIDE, &["beside"]),
        ] {
            if count > most {
                let message = format!("a scenario has {count} {what}; there is room for {most}");
                return Err(place
                    .iter()
                    .rfold(message.into(), |wrong, name| Wrong::inside(wrong, name)));
            }
        }
        let source = match self.settings.source {
            SourceKind::Program => AnySource::Program(Program::default()),
            SourceKind::Cluster => AnySource::Live(Live::default()),
            SourceKind::Recorded => AnySource::Recorded(RecordedServer::new(
                self.recorded.clone().unwrap_or_default(),
            )),
            SourceKind::Server => {
                let mut initial = Vec::new();
                for object in &self.initial {
                    initial.push(DynamicObject::clone(object));
                    slices.spend(EACH).await;
                }
                let mut traffic = self
                    .traffic
                    .map(|seed| Workload::new(seed, Options::default()));
                if let Some(workload) = &mut traffic {
                    initial.extend(workload.start().into_iter().map(DynamicObject::from));
                }
                let settings = Arc::new(self.settings.clone());
                AnySource::Server(Simulator::new(settings, initial, traffic, &self.drops))
            }
        };
        let mut script = Vec::new();
        for entry in &self.script {
            script.push((entry.at, entry.input.clone()));
            slices.spend(EACH).await;
        }
        Ok(World::new(self.settings.clone(), source, script))
    }

    /// A world with an empty server and no script.
    #[must_use]
    pub fn empty_world(&self) -> World<AnySource> {
        let source = AnySource::Server(Simulator::new(Arc::default(), Vec::new(), None, &[]));
        World::new(self.settings.clone(), source, Vec::new())
    }

    /// Whether the run never ends.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        let settings = &self.settings;
        let resyncs = settings.resync_ms > 0 && settings.is_informer();
        self.traffic.is_some()
            // The reflector retries for as long as an object is rejected.
            || settings.rejects() && settings.source == SourceKind::Server
            // The reflector repeats its warning forever.
            || settings.withholds_initial_events_end && settings.source == SourceKind::Server
            || resyncs && settings.source != SourceKind::Program
            || self.beside.iter().any(Self::is_endless)
    }
}
