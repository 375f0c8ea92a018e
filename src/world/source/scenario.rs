//! A scenario: all data that determines a run.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::Time;
use crate::bounds::{MAX_BUILT, MOST_BESIDE, MOST_HANDLERS};
use crate::deserialize_by_fields;
use crate::fields::{Fields, Read, Wrong, moment, one_of};
use crate::slices::{Slices, at_once};
use crate::virtual_time::{Input, Question, Settings, SourceKind, World};
use deltascope_cache::controller::Generation;
use deltascope_cache::lister_watcher::ApiErrorKind;

use super::any::AnySource;
use super::live::{self, Live};
use super::pod::Write;
use super::program::Program;
use super::recorded::RecordedServer;
use super::simulator::Simulator;
use super::wire::Recorded;
use super::workload::{Options, Workload};
use super::{Command, Refusals};

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

/// One entry of a script.
///
/// Written as one JSON object: `at`, `op` and the arguments of the op.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Virtual time of the entry, in ms.
    pub at: Time,
    /// The operation.
    pub input: Input<Command>,
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

impl Read for Entry {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("an entry of a script", value)?;
        let at = moment(fields.need("at")?)?;
        let op: String = fields.need("op")?;
        let source = Input::Source;
        let input = match &*op {
            "create" => source(Command::Write(Write::Create(fields.need("object")?))),
            "update" => source(Command::Write(Write::Update(fields.need("object")?))),
            // The metadata are enough.
            "delete" => source(Command::Write(Write::delete(fields.need("object")?))),
            "cut" => source(Command::Cut),
            "compact" => source(Command::Compact),
            "tell" => {
                let responses: Vec<Value> = fields.need("told")?;
                let responses = responses.into_iter().map(live::read_response);
                source(Command::Respond(responses.collect::<Result<_, _>>()?))
            }
            "pop" => Input::Pop,
            "mode" => Input::Mode(fields.need("mode")?),
            "knownObjects" => Input::KnownObjects(fields.need("on")?),
            "close" => source(Command::Close),
            "bookmark" => source(Command::Bookmark),
            "error" => source(Command::ErrorEvent(fields.need("code")?)),
            "refuse" => {
                let words = [("watch", true), ("list", false)];
                let request: Value = fields.need("request")?;
                let watch = one_of(&request, &words)?;
                let with: String = fields.need("with")?;
                let kind = refusal_kind(&with);
                let kind = kind.ok_or_else(|| {
                    let known = REFUSALS.map(|(word, _)| word);
                    none_of("with", &with, &known)
                })?;
                let times = fields.need("times")?;
                source(Command::Refuse(Refusals { watch, kind, times }))
            }
            "addHandler" => Input::AddHandler(fields.need("handler")?),
            "removeHandler" => Input::RemoveHandler(fields.need("handler")?),
            "print" => Input::Print(fields.need("line")?),
            "ask" => {
                let words = [("json", true), ("go", false)];
                let form: Value = fields.need("as")?;
                Input::Ask(Question {
                    index: fields.need_name("index")?,
                    value: fields.need_name("value")?,
                    json: one_of(&form, &words)?,
                })
            }
            _ => return Err(none_of("op", &op, &OPS)),
        };
        fields.done()?;
        Ok(Self { at, input })
    }
}

deserialize_by_fields!(Scenario, Entry);

/// The names of the operations in a script.
const OPS: [&str; 17] = [
    "create",
    "update",
    "delete",
    "cut",
    "compact",
    "tell",
    "pop",
    "mode",
    "knownObjects",
    "close",
    "bookmark",
    "error",
    "refuse",
    "addHandler",
    "removeHandler",
    "print",
    "ask",
];

fn none_of(field: &str, value: &str, known: &[&str]) -> Wrong {
    let known = known.join(", ");
    let message = format!("{field:?} cannot be {value:?} in a script; there are: {known}");
    Wrong::at(field, message)
}

/// The error that a script names to refuse requests with.
fn refusal_kind(name: &str) -> Option<ApiErrorKind> {
    let found = REFUSALS.iter().find(|(word, _)| *word == name);
    found.map(|(_, kind)| *kind)
}

/// The name of an error that a server refuses requests with; any other is an internal error.
pub(super) fn refusal_name(kind: ApiErrorKind) -> &'static str {
    let found = REFUSALS.iter().find(|(_, other)| *other == kind);
    found.map_or("internalError", |(word, _)| word)
}

const REFUSALS: [(&str, ApiErrorKind); 7] = [
    ("expired", ApiErrorKind::Expired),
    ("tooLarge", ApiErrorKind::TooLarge),
    ("tooManyRequests", ApiErrorKind::TooManyRequests),
    ("connectionRefused", ApiErrorKind::ConnectionRefused),
    ("internalError", ApiErrorKind::InternalError),
    ("forbidden", ApiErrorKind::Forbidden),
    ("invalid", ApiErrorKind::Invalid),
];

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

impl Entry {
    /// Whether it acts on the server, which informers can share.
    fn is_for_server(&self) -> bool {
        match &self.input {
            Input::Source(command) => !matches!(command, Command::Respond(_)),
            _ => false,
        }
    }
}

impl Scenario {
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

#[cfg(test)]
mod tests {
    use super::*;
    use deltascope_cache::fact::ProcessMode;

    fn read(text: &str) -> Result<Entry, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn an_entry_is_a_time_an_op_and_the_arguments_of_the_op() {
        let mode = read(r#"{"at": 5, "op": "mode", "mode": 70}"#);
        assert!(matches!(
            mode,
            Ok(Entry {
                at: 5,
                input: Input::Mode(ProcessMode::Paced(70))
            })
        ));
        let refuse = read(
            r#"{"at": 1, "op": "refuse", "request": "watch", "with": "forbidden", "times": 2}"#,
        );
        assert!(matches!(
            refuse,
            Ok(Entry { input: Input::Source(Command::Refuse(refusals)), .. })
                if refusals.watch && refusals.times == 2 && refusals.kind == ApiErrorKind::Forbidden
        ));
        let handler = read(r#"{"at": 1, "op": "addHandler", "handler": {"name": "late"}}"#);
        assert!(matches!(
            handler,
            Ok(Entry { input: Input::AddHandler(handler), .. }) if &*handler.name == "late"
        ));
        let on = read(r#"{"op": "knownObjects", "on": true, "at": 0}"#);
        assert!(matches!(on, Ok(entry) if matches!(entry.input, Input::KnownObjects(true))));
    }

    #[test]
    fn an_entry_with_a_missing_unknown_or_invalid_field_is_refused() {
        for (text, named) in [
            (r#"{"at": 5, "op": "cut", "object": {}}"#, "\"object\""),
            (r#"{"at": 5, "op": "create", "objekt": {}}"#, "\"object\""),
            (r#"{"at": -5, "op": "cut"}"#, "\"at\""),
            (r#"{"at": 5, "op": "cat"}"#, "\"cat\""),
            (r#"{"at": 5, "op": "mode", "mode": "fast"}"#, "\"held\""),
            (r#"{"op": "cut"}"#, "\"at\""),
            (r#"{"at": 18446744073709551615, "op": "cut"}"#, "too long"),
            (r#"{"at": 5, "op": "error", "code": 70000}"#, "\"code\""),
            (
                r#"{"at": 5, "op": "refuse", "request": "watch", "with": "boom", "times": 1}"#,
                "\"with\"",
            ),
            (
                r#"{"at": 5, "op": "addHandler", "handler": {"nam": "x"}}"#,
                "nam",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
