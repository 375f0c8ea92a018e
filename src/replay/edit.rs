//! Changes one item of a recording; the future of the run is recomputed.

use std::sync::Arc;

use kube_core::DynamicObject;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{
    Body, Cause, Fact, FactRecord, ObjectRef, ProcessMode, RunFact, ServerFact,
};
use deltascope_cache::object::Object as _;
use deltascope_world::Time;
use deltascope_world::fields::LATEST_MS;
use deltascope_world::source::Command;
use deltascope_world::source::live::{ResponsePart, ServerResponse};
use deltascope_world::source::pod::{PodSpec, Write};
use deltascope_world::source::recorded::EVENT_MS;
use deltascope_world::source::scenario::{Entry, Scenario};
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::{
    HandlerSettings, InformerKind, Input, SourceKind, mode, mode_text,
};

use super::recording::{RecordedInput, Recording};
use super::timeline::is_response;

/// The origin of a server event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The traffic, or the recording.
    Source(u32),
    /// The script of the scenario.
    Script(u32),
    /// The user.
    Input(u32),
}

/// A change of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The event does not happen.
    Drop(Origin),
    /// The event happens at another time. A write of the traffic becomes an entry of the script, which is
    /// built from the fact.
    Move {
        /// The event.
        origin: Origin,
        /// The new virtual time, in ms.
        to: Time,
    },
    /// A setting is changed.
    Set(Setting),
}

/// Declares the settings: each with its name in scripts, its largest value, if there is one, where it has an effect, and its place
/// in a scenario; or how a scenario has it, and gets it.
macro_rules! settings {
    ($(
        $(#[$doc:meta])*
        $name:ident($type:ident) = $id:literal $(up to $most:ident)?,
            if |$of:ident| $fits:expr, $get:expr $(, set |$new:ident| $set:expr)?;
    )*) => {
        /// A setting and its new value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Setting { $($(#[$doc])* $name($type),)* }

        impl Setting {
            /// Its name in scripts.
            #[must_use]
            pub fn id(&self) -> &'static str {
                match self { $(Self::$name(_) => $id,)* }
            }

            /// Whether the setting has an effect in this scenario.
            #[must_use]
            pub fn fits(&self, scenario: &Scenario) -> bool {
                match self {
                    $(Self::$name(_) => {
                        let $of = scenario;
                        $fits
                    })*
                }
            }

            /// All settings, with their values in this scenario.
            #[must_use]
            pub fn all_of(scenario: &Scenario) -> [Self; [$($id),*].len()] {
                [$({
                    let $of = scenario;
                    Self::$name($get)
                }),*]
            }

            /// The same setting with the value written in `text`, if that is valid.
            #[must_use]
            pub fn with(&self, text: &str) -> Option<Self> {
                let text = text.trim();
                Some(match self {
                    $(Self::$name(_) => {
                        let value: Option<$type> = settings!(read $type text);
                        Self::$name(value$(.filter(|value| *value <= $most))??)
                    })*
                })
            }

            /// The value as text.
            #[must_use]
            pub fn value(&self) -> String {
                match *self { $(Self::$name(value) => settings!(text $type value),)* }
            }

            /// The valid texts, unless any number is valid.
            #[must_use]
            pub fn choices(&self) -> &'static [&'static str] {
                match self { $(Self::$name(_) => settings!(choices $type),)* }
            }

            /// Applies the setting to the scenario.
            fn apply(self, scenario: &mut Scenario) -> Result<(), EditError> {
                if !self.fits(scenario) {
                    return Err(EditError::NoSuchSetting);
                }
                match self {
                    $(Self::$name(given) => {
                        let $of = scenario;
                        let value = given$(.min($most))?;
                        settings!(set value, $get $(, $new $set)?);
                    })*
                }
                Ok(())
            }
        }
    };
    (read bool $text:ident) => { ["off", "on"].iter().position(|on| *on == $text).map(|on| on == 1) };
    (read Generation $text:ident) => { Generation::from_version($text) };
    (read ProcessMode $text:ident) => { mode($text) };
    (read $number:ident $text:ident) => { $text.parse().ok() };
    (text bool $value:ident) => { if $value { "on" } else { "off" }.to_owned() };
    (text Generation $value:ident) => { $value.version().to_owned() };
    (text ProcessMode $value:ident) => { mode_text($value) };
    (text $number:ident $value:ident) => { $value.to_string() };
    (choices bool) => { &["on", "off"] };
    (choices Generation) => { &Generation::VERSIONS };
    (choices ProcessMode) => { &["free", "held", "250", "700"] };
    (choices $number:ident) => { &[] };
    (set $value:ident, $place:expr) => { $place = $value };
    (set $value:ident, $get:expr, $new:ident $set:expr) => {{
        let $new = $value;
        $set
    }};
}

settings! {
    /// The client-go generation of the informer.
    Generation(Generation) = "era",
        if |of| of.settings.is_informer(), of.settings.era, set |era| of.set_generation(era);
    /// The seed of the traffic.
    Traffic(u64) = "traffic",
        if |of| of.traffic.is_some(), of.traffic.unwrap_or_default(), set |seed| of.traffic = Some(seed);
    /// The resync period, in ms; 0: never.
    ResyncMs(u64) = "resyncMs" up to LATEST_MS,
        if |of| of.settings.is_informer() && of.settings.source != SourceKind::Program, of.settings.resync_ms;
    /// The page size of lists.
    PageSize(u32) = "pageSize", if |of| asks_a_simulator(of), of.settings.page_size;
    /// Whether the reflector begins with a streaming list.
    WatchList(bool) = "watchList",
        if |of| asks_a_simulator(of), of.settings.streams(), set |on| of.settings.watch_list = Some(on);
    /// Whether the queue uses the Indexer as KnownObjects.
    KnownObjects(bool) = "knownObjects",
        if |of| of.settings.informer == InformerKind::Manual && !of.settings.has_fifo(), of.settings.known_objects;
    /// The mode of the process loop.
    Mode(ProcessMode) = "mode", if |of| of.settings.informer.has_queue(), of.settings.mode;
    /// How long `process` takes for each notification, in ms.
    ProcessMs(u32) = "processMs", if |of| of.settings.informer.has_queue(), of.settings.process_ms;
    /// How long each handler takes for each notification, in ms.
    HandlerMs(u32) = "handlerMs",
        if |of| buffered(of).is_some(), buffered(of).map_or(0, |handler| handler.latency_ms),
        set |ms| of.settings.handlers.iter_mut().for_each(|handler| handler.latency_ms = ms);
    /// How often a key fails before a worker succeeds.
    WorkFailures(u32) = "workFailures",
        if |of| of.settings.work.is_some(), of.settings.work.as_ref().map_or(0, |work| work.failures),
        set |failures| of.settings.work.iter_mut().for_each(|work| work.failures = failures);
}

fn asks_a_simulator(scenario: &Scenario) -> bool {
    let settings = &scenario.settings;
    settings.source == SourceKind::Server && settings.informer.has_queue()
}

fn buffered(scenario: &Scenario) -> Option<&HandlerSettings> {
    let mut handlers = scenario.settings.handlers.iter();
    handlers.find(|handler| !handler.inline)
}

impl Setting {
    /// The setting of this name, with its value in this scenario.
    #[must_use]
    pub fn named(id: &str, scenario: &Scenario) -> Option<Self> {
        let mut all = Self::all_of(scenario).into_iter();
        all.find(|setting| setting.id() == id)
    }
}

/// Why a recording cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The event has no effect on the server, or it does not exist anymore.
    Gone,
    /// The event belongs to a list or to the start and has no time of its own.
    NoEvent,
    /// The new time is too late.
    TooLate,
    /// The program has no such setting.
    NoSuchSetting,
}

impl Origin {
    /// The origin of a server fact, if the fact is the first effect of that origin.
    #[must_use]
    pub fn of(record: &FactRecord) -> Option<Self> {
        let origin = match record.cause {
            Cause::Source(number) => Self::Source(number),
            Cause::Script(number) => Self::Script(number),
            Cause::Input(number) => Self::Input(number),
            Cause::Start | Cause::Fact(_) => return None,
        };
        is_of_server(&record.fact).then_some(origin)
    }
}

/// The responses of a cluster without the event that is shown; the other responses stay.
fn without(
    responses: &[ServerResponse],
    shown: Option<&FactRecord>,
) -> Option<Arc<[ServerResponse]>> {
    let Fact::Server(ServerFact::EventSent { event, object, .. }) = &shown?.fact else {
        return None;
    };
    let is_it = |response: &ServerResponse| match &response.part {
        ResponsePart::Event(RecordedEvent::Object {
            event: kind,
            object: of,
        }) => kind == event && of.uid() == &*object.uid && of.resource_version() == &*object.rv,
        _ => false,
    };
    let place = responses.iter().position(is_it)?;
    let rest = responses.iter().enumerate().filter(|(at, _)| *at != place);
    Some(rest.map(|(_, response)| response.clone()).collect())
}

/// Whether the server, or the program in its place, caused the fact.
fn is_of_server(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Server(
            ServerFact::ObjectCreated { .. }
                | ServerFact::ObjectUpdated { .. }
                | ServerFact::ObjectDeleted { .. }
                | ServerFact::WriteRefused { .. }
                | ServerFact::HistoryCompacted { .. }
                | ServerFact::EventSent { .. }
                | ServerFact::WatchClosed { .. }
        ) | Fact::Run(RunFact::Called { .. })
    )
}

impl Recording {
    /// The recording with one change. `shown` is the fact of the event to drop or move.
    ///
    /// # Errors
    /// Why the recording cannot be changed.
    pub fn edited(&self, edit: &Edit, shown: Option<&FactRecord>) -> Result<Self, EditError> {
        let mut other = self.clone();
        match *edit {
            Edit::Drop(origin) => other.drop(origin, shown)?,
            Edit::Move { to, .. } if to > LATEST_MS => return Err(EditError::TooLate),
            Edit::Move { origin, to } => other.shift(origin, to, shown)?,
            Edit::Set(setting) => setting.apply(&mut other.scenario)?,
        }
        Ok(other)
    }

    fn drop(&mut self, origin: Origin, shown: Option<&FactRecord>) -> Result<(), EditError> {
        match origin {
            Origin::Source(number) => match &mut self.scenario.recorded {
                Some(recorded) => {
                    remove(&mut recorded.events, number)?;
                }
                None if self.scenario.traffic.is_some() => {
                    let drops = &mut self.scenario.drops;
                    let place = drops.partition_point(|one| *one < number);
                    if drops.get(place) != Some(&number) {
                        drops.insert(place, number);
                    }
                }
                None => return Err(EditError::Gone),
            },
            Origin::Script(number) => {
                remove(&mut self.scenario.script, number)?;
            }
            Origin::Input(number) => match self.inputs.get_mut(number as usize) {
                Some(RecordedInput {
                    input: Input::Source(Command::Respond(responses)),
                    ..
                }) => *responses = without(responses, shown).ok_or(EditError::Gone)?,
                _ => {
                    remove(&mut self.inputs, number)?;
                }
            },
        }
        Ok(())
    }

    fn shift(
        &mut self,
        origin: Origin,
        to: Time,
        shown: Option<&FactRecord>,
    ) -> Result<(), EditError> {
        match origin {
            Origin::Source(number) => {
                let shown = shown.ok_or(EditError::Gone)?;
                if let Some(recorded) = &mut self.scenario.recorded {
                    // The events of a recording are ordered and evenly spaced in time.
                    let event = remove(&mut recorded.events, number)?;
                    let far = (to.abs_diff(shown.time) + EVENT_MS / 2) / EVENT_MS;
                    let far = usize::try_from(far.max(1)).unwrap_or(usize::MAX);
                    let place = if to < shown.time {
                        (number as usize).saturating_sub(far)
                    } else {
                        (number as usize)
                            .saturating_add(far)
                            .min(recorded.events.len())
                    };
                    recorded.events.insert(place, event);
                    return Ok(());
                }
                let write = write_of(&shown.fact).ok_or(EditError::NoEvent)?;
                self.drop(origin, Some(shown))?;
                let input = Input::Source(Command::Write(write));
                self.script_at(Entry { at: to, input });
            }
            Origin::Script(number) => {
                let entry = remove(&mut self.scenario.script, number)?;
                self.script_at(Entry { at: to, ..entry });
            }
            Origin::Input(number)
                if (self.inputs.get(number as usize))
                    .is_some_and(|taken| is_response(&taken.input)) =>
            {
                return Err(EditError::NoEvent);
            }
            Origin::Input(number) => {
                let mut taken = remove(&mut self.inputs, number)?;
                taken.at = to;
                // The replay finds the position.
                taken.after = usize::MAX;
                let place = self.inputs.partition_point(|other| other.at <= to);
                self.inputs.insert(place, taken);
            }
        }
        Ok(())
    }

    fn script_at(&mut self, entry: Entry) {
        let script = &mut self.scenario.script;
        let place = script.partition_point(|other| other.at <= entry.at);
        script.insert(place, entry);
    }
}

/// The scenario `own` with the settings of a run of it: those that the run was built with, and the last
/// values set during the run. The user's other inputs are dropped.
#[must_use]
pub fn as_set(own: &Scenario, run: &Scenario, inputs: &[RecordedInput]) -> Scenario {
    let mut set = own.clone();
    let program = |of: &Scenario| {
        let settings = &of.settings;
        (settings.informer, settings.queue, settings.source)
    };
    // A file may name a lesson and contain another program.
    if program(own) == program(run) {
        set.settings = run.settings.clone();
        set.traffic = own.traffic.and(run.traffic).or(own.traffic);
        for (beside, of) in set.beside.iter_mut().zip(&run.beside) {
            beside.settings = of.settings.clone();
        }
    }
    for taken in inputs {
        let setting = match taken.input {
            Input::Mode(mode) => Setting::Mode(mode),
            Input::KnownObjects(on) => Setting::KnownObjects(on),
            _ => continue,
        };
        // A setting that the program does not have is skipped.
        let _ = setting.apply(&mut set);
    }
    set
}

fn remove<T>(list: &mut Vec<T>, number: u32) -> Result<T, EditError> {
    let place = number as usize;
    if place < list.len() {
        Ok(list.remove(place))
    } else {
        Err(EditError::Gone)
    }
}

/// The write that repeats this fact.
pub(super) fn write_of(fact: &Fact) -> Option<Write> {
    let Fact::Server(fact) = fact else {
        return None;
    };
    if let ServerFact::ObjectCreated { object, body } = fact {
        Some(Write::Create(pod(object, body)))
    } else if let ServerFact::ObjectUpdated { object, body, .. } = fact {
        Some(Write::Update(pod(object, body)))
    } else if let ServerFact::ObjectDeleted { object, .. } = fact {
        Some(Write::delete(PodSpec::of(&object.key).into_object()))
    } else {
        None
    }
}

fn pod(object: &ObjectRef, body: &Body) -> DynamicObject {
    let spec = PodSpec {
        labels: body.labels.clone(),
        node: body.node.to_string(),
        phase: body.phase.to_string(),
        ..PodSpec::of(&object.key)
    };
    spec.into_object()
}
