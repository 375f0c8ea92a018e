//! Scrambles a recording so that it can be given away: with made-up names, or without labels.
//!
//! Names, namespaces, nodes, UIDs and the values of labels are replaced by others of the same shape, each
//! always by the same one, so that references still match. Of the rest of an object only the fields that the
//! run shows are kept. Kinds, versions, times and the keys of labels stay.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::DynamicObject;
use serde_json::Value;

use deltascope_cache::lister_watcher::{ApiError, TOO_LARGE_CAUSE};
use deltascope_cache::map::{Map, Set};
use deltascope_cache::rng::Rng;
use deltascope_cache::selector::{Requirement, Selector};
use deltascope_world::fields::{Holds, Rename as _};
use deltascope_world::fill::fill;
use deltascope_world::source::Command;
use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope_world::source::pod::Write;
use deltascope_world::source::scenario::{Entry, Scenario};
use deltascope_world::source::wire::{Recorded, RecordedEvent, RecordedList};
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{HandlerSettings, Input, Question, Settings, SourceKind};

use super::recording::{RecordedInput, Recording};
use super::trace::Trace;

/// The parts to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scramble {
    /// Replaces names; removes annotations, data and error texts.
    pub names: bool,
    /// Removes labels and annotations.
    pub labels: bool,
}

/// How many candidates are tried before one is accepted that is a real name part.
const TRIES: u32 = 512;
/// The most candidates in all: a part of one character has ten or 26, longer parts have enough.
const MOST_TRIES: u32 = 100_000;

/// Status words that identify nobody.
const KNOWN_WORDS: [&str; 16] = [
    "Pending",
    "Running",
    "Succeeded",
    "Failed",
    "Unknown",
    "Active",
    "Terminating",
    "Bound",
    "Available",
    "Released",
    "Lost",
    "True",
    "False",
    "ClusterIP",
    "NodePort",
    "LoadBalancer",
];

/// The recording without the parts to remove.
#[must_use]
pub fn scramble(recording: &Recording, what: Scramble) -> Recording {
    let mut scrambler = Scrambler::new(what);
    if what.names {
        // First learn all names, because no made-up name may be a real one.
        scrambler.learning = true;
        scrambler.recording(recording);
        scrambler.learning = false;
    }
    scrambler.recording(recording)
}

/// Scrambles a trace file, whose title may contain names as well.
#[must_use]
pub fn scramble_trace(trace: &Trace, what: Scramble) -> Trace {
    let Trace {
        lesson,
        title,
        at,
        start,
        recording,
    } = trace;
    // A lesson keeps its id. The id of any other run names its origin, and the title of a cluster's run
    // names what is watched.
    let foreign = what.names
        && lesson
            .chars()
            .any(|c| !c.is_ascii_alphanumeric() && c != '-');
    let of_cluster = recording.scenario.settings.source == SourceKind::Cluster;
    let renamed = what.names && (foreign || of_cluster || lesson.is_empty());
    Trace {
        lesson: if foreign {
            "".into()
        } else {
            Arc::clone(lesson)
        },
        title: if renamed {
            Text::new("A recording with made-up names", "名称已替换的录制")
        } else if what.labels && of_cluster {
            // The title of a cluster's run contains its selectors.
            Text::new(
                "A recording of a cluster, without labels",
                "集群录制（不含标签）",
            )
        } else {
            title.clone()
        },
        at: at.clone(),
        start: *start,
        recording: scramble(recording, what),
    }
}

/// Removes labels of other objects, as in a template or a selector.
fn without_labels(value: &Value) -> Value {
    const LABELS: [&str; 4] = ["labels", "annotations", "matchLabels", "matchExpressions"];
    match value {
        Value::Object(fields) => {
            // A Service's selector is a map of labels.
            let is_map = |value: &Value| match value {
                Value::Object(fields) => fields.values().all(Value::is_string),
                _ => false,
            };
            let kept = fields.iter().filter(|(name, value)| {
                !(LABELS.contains(&name.as_str()) || *name == "selector" && is_map(value))
            });
            let kept = kept.map(|(name, value)| (name.clone(), without_labels(value)));
            Value::Object(fill(kept))
        }
        Value::Array(values) => Value::Array(values.iter().map(without_labels).collect()),
        other => other.clone(),
    }
}

struct Scrambler {
    what: Scramble,
    /// Whether the pass only collects names.
    learning: bool,
    /// All real names.
    names: Set<String>,
    /// The parts of names, between the separators.
    parts: Set<String>,
    made: Map<String, String>,
    taken: Set<String>,
    /// Made-up names depend on the order and shape of the names, not on the names themselves.
    rng: Rng,
    /// The fields that the run, or a peer informer's run, shows.
    paths: Vec<Vec<String>>,
}

impl Scrambler {
    fn new(what: Scramble) -> Self {
        Self {
            what,
            learning: false,
            names: Set::default(),
            parts: Set::default(),
            made: Map::default(),
            taken: Set::default(),
            rng: Rng::new(0),
            paths: vec![path(".spec.nodeName"), path(".status.phase")],
        }
    }

    fn recording(&mut self, recording: &Recording) -> Recording {
        let Recording { scenario, inputs } = recording;
        Recording {
            scenario: self.scenario(scenario),
            inputs: inputs
                .iter()
                .map(|RecordedInput { after, at, input }| RecordedInput {
                    after: *after,
                    at: *at,
                    input: self.input(input),
                })
                .collect(),
        }
    }

    fn scenario(&mut self, scenario: &Scenario) -> Scenario {
        let Scenario {
            settings,
            initial,
            script,
            traffic,
            drops,
            beside,
            recorded,
        } = scenario;
        let settings = self.settings(settings);
        Scenario {
            initial: self.objects(initial),
            script: script
                .iter()
                .map(|Entry { at, input }| Entry {
                    at: *at,
                    input: self.input(input),
                })
                .collect(),
            traffic: *traffic,
            drops: drops.clone(),
            beside: beside.iter().map(|beside| self.scenario(beside)).collect(),
            recorded: recorded.as_ref().map(|recorded| self.recorded(recorded)),
            settings,
        }
    }

    fn settings(&mut self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        if self.what.labels {
            // Without labels these indices would be empty.
            settings.indices.retain(|index| {
                let of_labels = [".metadata.labels", ".metadata.annotations"];
                let of_labels = of_labels.iter().any(|path| index.starts_with(path));
                matches!(&**index, "namespace" | "node") || index.starts_with('.') && !of_labels
            });
        }
        let fields = settings
            .indices
            .iter()
            .filter(|index| index.starts_with('.'));
        for path in fields.map(|index| path(index)) {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
        settings.rename(Holds::Name, &mut |holds, text| self.text_of(holds, text));
        let selector = settings.selector.take();
        settings.selector = selector.and_then(|selector| self.selector(&selector));
        settings
    }

    /// None, if the labels that it selects by are removed.
    fn selector(&mut self, selector: &Selector) -> Option<Selector> {
        if self.what.labels {
            return None;
        }
        if selector.matches_nothing() {
            return Some(Selector::nothing());
        }
        let mut renamed = Vec::new();
        for requirement in selector.requirements() {
            let values = requirement.values().iter().map(|value| self.name(value));
            // A made-up value has the shape of the real one, so it is valid where that is.
            renamed.extend(Requirement::new(
                requirement.key(),
                requirement.operator(),
                values.collect(),
            ));
        }
        Some(Selector::everything().with(renamed))
    }

    fn handler(&mut self, handler: &HandlerSettings) -> HandlerSettings {
        let mut handler = handler.clone();
        handler.rename(Holds::Name, &mut |holds, text| self.text_of(holds, text));
        handler
    }

    /// Replaces what a text of the settings holds of objects.
    fn text_of(&mut self, holds: Holds, text: &str) -> String {
        match (holds, text.split_once('=')) {
            (Holds::Name, _) => self.name(text),
            (Holds::Pair, Some((label, value))) => format!("{label}={}", self.name(value)),
            (Holds::Pair, None) => text.to_owned(),
            (Holds::Lines, _) => self.text(text),
        }
    }

    fn input(&mut self, input: &Input<Command>) -> Input<Command> {
        match input {
            Input::Source(command) => Input::Source(self.command(command)),
            Input::AddHandler(handler) => Input::AddHandler(self.handler(handler)),
            Input::Print(line) => Input::Print(self.text(line).into()),
            Input::Ask(question) => Input::Ask(self.question(question)),
            Input::Pop | Input::Mode(_) | Input::KnownObjects(_) | Input::RemoveHandler(_) => {
                input.clone()
            }
        }
    }

    fn command(&mut self, command: &Command) -> Command {
        match command {
            Command::Write(Write::Create(object)) => {
                Command::Write(Write::Create(self.object(object)))
            }
            Command::Write(Write::Update(object)) => {
                Command::Write(Write::Update(self.object(object)))
            }
            Command::Write(Write::Delete { namespace, name }) => Command::Write(Write::Delete {
                namespace: self.name(namespace),
                name: self.name(name),
            }),
            Command::Respond(responses) => Command::Respond(self.responses(responses)),
            Command::Cut
            | Command::Compact
            | Command::Close
            | Command::Bookmark
            | Command::ErrorEvent(_)
            | Command::Refuse(_) => command.clone(),
        }
    }

    fn question(&mut self, question: &Question) -> Question {
        Question {
            value: self.name(&question.value).into(),
            ..question.clone()
        }
    }

    fn recorded(&mut self, recorded: &Recorded) -> Recorded {
        let Recorded {
            start,
            events,
            has_watch,
            error: _,
        } = recorded;
        Recorded {
            start: start.as_ref().map(|list| {
                let RecordedList {
                    rv,
                    kind,
                    items,
                    partial,
                } = list;
                RecordedList {
                    rv: Arc::clone(rv),
                    kind: kind.clone(),
                    items: self.objects(items),
                    partial: *partial,
                }
            }),
            events: events.iter().map(|event| self.event(event)).collect(),
            has_watch: *has_watch,
            // The error quotes a file.
            error: None,
        }
    }

    fn responses(&mut self, responses: &[ServerResponse]) -> Arc<[ServerResponse]> {
        let scrambled = responses
            .iter()
            .map(|ServerResponse { request, part }| ServerResponse {
                request: *request,
                part: self.response_part(part),
            });
        scrambled.collect()
    }

    fn response_part(&mut self, part: &ResponsePart) -> ResponsePart {
        match part {
            ResponsePart::Page(Page {
                rv,
                items,
                continue_token,
            }) => ResponsePart::Page(Page {
                rv: Arc::clone(rv),
                items: self.objects(items).into(),
                // The token contains the name of the page's last object.
                continue_token: if continue_token.is_empty() || !self.what.names {
                    Arc::clone(continue_token)
                } else {
                    "more".into()
                },
            }),
            ResponsePart::Refused(error) => ResponsePart::Refused(ApiError {
                message: self.message(&error.message).into(),
                ..error.clone()
            }),
            ResponsePart::Event(event) => ResponsePart::Event(self.event(event)),
            ResponsePart::Opened | ResponsePart::Later { .. } | ResponsePart::Ended(_) => {
                part.clone()
            }
        }
    }

    fn event(&mut self, event: &RecordedEvent) -> RecordedEvent {
        match event {
            RecordedEvent::Object { event, object } => RecordedEvent::Object {
                event: *event,
                object: Arc::new(self.object(object)),
            },
            RecordedEvent::Error {
                code,
                reason,
                message,
                causes,
            } if self.what.names => {
                let error = ApiError::from_status(
                    *code,
                    reason,
                    message,
                    causes.iter().map(String::as_str),
                );
                let cause = error
                    .is_too_large_resource_version()
                    .then(|| TOO_LARGE_CAUSE.to_owned());
                RecordedEvent::Error {
                    code: *code,
                    reason: reason.clone(),
                    message: self.message(message),
                    causes: cause.into_iter().collect(),
                }
            }
            RecordedEvent::Error { .. }
            | RecordedEvent::Bookmark { .. }
            | RecordedEvent::Cut { .. } => event.clone(),
        }
    }

    /// The text of an error names users, objects and addresses.
    fn message(&self, message: &str) -> String {
        if self.what.names && !message.is_empty() {
            "(the text was left out)".to_owned()
        } else {
            message.to_owned()
        }
    }

    fn objects(&mut self, objects: &[Arc<DynamicObject>]) -> Vec<Arc<DynamicObject>> {
        objects
            .iter()
            .map(|object| Arc::new(self.object(object)))
            .collect()
    }

    fn object(&mut self, object: &DynamicObject) -> DynamicObject {
        let DynamicObject {
            types,
            metadata,
            data,
        } = object;
        let Scramble { names, labels } = self.what;
        let mut name = |text: &Option<String>| text.as_ref().map(|text| self.name(text));
        let metadata = ObjectMeta {
            name: name(&metadata.name),
            namespace: name(&metadata.namespace),
            uid: name(&metadata.uid),
            resource_version: metadata.resource_version.clone(),
            owner_references: metadata.owner_references.as_ref().map(|owners| {
                let mut renamed = owners.clone();
                for owner in &mut renamed {
                    owner.name = self.name(&owner.name);
                    owner.uid = self.name(&owner.uid);
                }
                renamed
            }),
            labels: metadata.labels.as_ref().filter(|_| !labels).map(|labels| {
                let mut renamed = labels.clone();
                for value in renamed.values_mut() {
                    *value = self.name(value);
                }
                renamed
            }),
            annotations: metadata.annotations.clone().filter(|_| !labels && !names),
            ..ObjectMeta::default()
        };
        let data = if names {
            let paths = self.paths.clone();
            let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
            self.kept(data, &paths)
                .unwrap_or_else(|| Value::Object(Default::default()))
        } else if labels {
            without_labels(data)
        } else {
            data.clone()
        };
        DynamicObject {
            types: types.clone(),
            metadata,
            data,
        }
    }

    /// The values at the ends of the paths, with the fields that lead to them.
    fn kept(&mut self, value: &Value, paths: &[&[String]]) -> Option<Value> {
        let below = |name: &str| -> Vec<&[String]> {
            let of = paths.iter().filter_map(|path| path.split_first());
            of.filter(|(first, _)| *first == name)
                .map(|(_, rest)| rest)
                .collect()
        };
        let ends = paths.iter().any(|path| path.is_empty());
        match value {
            Value::Object(fields) => {
                let mut kept = serde_json::Map::new();
                for (name, value) in fields {
                    let paths = below(name);
                    if !paths.is_empty()
                        && let Some(value) = self.kept(value, &paths)
                    {
                        kept.insert(name.clone(), value);
                    }
                }
                Some(Value::Object(kept)).filter(|_| !ends)
            }
            Value::Array(values) => {
                let mut kept = Vec::new();
                for (at, value) in values.iter().enumerate() {
                    let value = self.kept(value, &below(&at.to_string()));
                    kept.push(value.unwrap_or_default());
                }
                Some(Value::Array(kept)).filter(|_| !ends)
            }
            Value::String(text) if ends && KNOWN_WORDS.contains(&&**text) => Some(value.clone()),
            Value::String(text) if ends => Some(self.name(text).into()),
            Value::Bool(_) | Value::Number(_) if ends => Some(value.clone()),
            _ => None,
        }
    }

    /// Replaces the names in a text.
    fn text(&mut self, text: &str) -> String {
        if !self.what.names || self.learning {
            return text.to_owned();
        }
        let mut written = String::new();
        for word in text.split_inclusive(|c: char| !is_of_name(c)) {
            let name = word.trim_end_matches(|c: char| !is_of_name(c));
            if self.names.contains(name) {
                written.push_str(&self.name(name));
                written.push_str(&word[name.len()..]);
            } else {
                written.push_str(word);
            }
        }
        written
    }

    /// Replaces a name, part by part.
    fn name(&mut self, text: &str) -> String {
        if !self.what.names {
            return text.to_owned();
        }
        let mut made = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if !c.is_alphanumeric() {
                made.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let end = rest
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            rest = after;
            if self.learning {
                self.parts.insert(part.to_owned());
            } else {
                made.push_str(&self.part(part));
            }
        }
        if self.learning {
            self.names.insert(text.to_owned());
            return text.to_owned();
        }
        made
    }

    /// Replaces a part: digits by digits, letters by letters, each part by another one.
    fn part(&mut self, part: &str) -> String {
        if let Some(made) = self.made.get(part) {
            return made.clone();
        }
        let mut made = String::new();
        for tried in 0..MOST_TRIES {
            made = part.chars().map(|c| self.letter(c)).collect();
            let is_free = !self.taken.contains(&made);
            if is_free && (tried >= TRIES || !self.parts.contains(&made)) {
                break;
            }
        }
        self.taken.insert(made.clone());
        self.made.insert(part.to_owned(), made.clone());
        made
    }

    fn letter(&mut self, c: char) -> char {
        let (first, count) = match c {
            '0'..='9' => (b'0', 10),
            'A'..='Z' => (b'A', 26),
            _ => (b'a', 26),
        };
        char::from(first + u8::try_from(self.rng.below(count)).unwrap_or_default())
    }
}

fn path(index: &str) -> Vec<String> {
    index.split('.').skip(1).map(str::to_owned).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '.' | '_')
}
