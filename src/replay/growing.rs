//! A trace that is still being written, read as it grows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use deltascope_world::source::wire::{self, LineSplitter, LineTooLong, MAX_LINE, WireError};
use deltascope_world::{Time, named};

use super::recording::{RecordedInput, Recording};
use super::trace::{Parts, Trace, bad, header_of, json_of, too_long};

named! {
    /// Why a recording does not go on.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Stopped {
        /// With more it could not be opened.
        Full = "full",
        /// The next file goes on with it.
        Next = "next",
        /// The controller asked what no reflector asks.
        Unlike = "unlike",
        /// Its file could not be written.
        Unwritten = "unwritten",
    }
}

/// Reads it.
pub struct Growing {
    name: String,
    lines: LineSplitter,
    header: Option<Trace>,
    parts: Parts,
    /// Whether its head was handed out.
    begun: bool,
    goes_on: Option<GoesOn>,
}

/// With what a file goes on that another began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesOn {
    /// With what there was at this time: what is before only says that.
    At(Time),
    /// With nothing but its next list.
    Anew,
}

/// What has come.
#[derive(Debug, Default)]
pub struct Grown {
    /// The trace without its inputs, once it is known.
    pub head: Option<Trace>,
    /// The inputs.
    pub inputs: Vec<RecordedInput>,
    /// How far the trace goes by now: nothing comes before this time.
    pub until: Time,
    /// With what it goes on, if another file began it.
    pub goes_on: Option<GoesOn>,
    /// Why nothing follows, if a tap has noted that.
    pub stopped: Option<Stopped>,
}

impl Growing {
    /// A trace of this name, of which nothing has come.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            lines: LineSplitter::new(MAX_LINE),
            header: None,
            parts: Parts::default(),
            begun: false,
            goes_on: None,
        }
    }

    /// Reads what follows.
    ///
    /// # Errors
    /// A line cannot be read; the error says which.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Grown, WireError> {
        let Self {
            name,
            lines,
            header,
            parts,
            begun,
            goes_on,
        } = self;
        let mut grown = Grown::default();
        let mut error = None;
        let split = lines.push(bytes, |number, line| {
            if error.is_some() {
                return;
            }
            let read = match json_of(number, line) {
                Ok(None) => Ok(()),
                Ok(Some(value)) if header.is_none() => {
                    header_of(value).map(|(read, _)| *header = Some(read))
                }
                Ok(Some(value)) => {
                    grown.until = grown.until.max(time_of(&value));
                    grown.stopped = grown.stopped.or(stopped_of(&value));
                    *goes_on = goes_on.or(goes_on_of(&value));
                    parts.take(value)
                }
                Err(words) => Err(words),
            };
            if let Err(words) = read {
                error = Some(wire::error(name, Some(number), words));
            }
        });
        if let Err(LineTooLong { line }) = split {
            let words = too_long();
            error.get_or_insert(wire::error(name, Some(line), words));
        }
        if let Some(error) = error {
            return Err(error);
        }
        grown.inputs = parts.grown();
        grown.goes_on = *goes_on;
        if let (false, Some(header), Some(scenario)) = (*begun, &*header, &parts.scenario) {
            *begun = true;
            scenario.bounded().map_err(|error| {
                let words = bad(&error);
                wire::error(name, None, words)
            })?;
            grown.head = Some(Trace {
                recording: Recording::of(scenario.clone()),
                ..header.clone()
            });
        }
        Ok(grown)
    }
}

/// The time of an input or of a tap's note.
fn time_of(line: &Value) -> Time {
    let note = line.get("tap").and_then(Value::as_object);
    let note = note.and_then(|note| note.values().next());
    let at = note.unwrap_or(line).get("at");
    at.and_then(Value::as_u64).unwrap_or_default()
}

fn goes_on_of(line: &Value) -> Option<GoesOn> {
    let note = line.get("tap")?.get("goesOn")?;
    match note.get("anew") {
        Some(_) => Some(GoesOn::Anew),
        None => note.get("at")?.as_u64().map(GoesOn::At),
    }
}

/// Why the recording does not go on, if the line is a tap's note of that.
fn stopped_of(line: &Value) -> Option<Stopped> {
    let note = line.get("tap")?.get("stopped")?;
    Stopped::named(note.get("why")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deltascope_cache::fact::EventType;
    use deltascope_world::source::Command;
    use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
    use deltascope_world::source::pod::PodSpec;
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::source::wire::RecordedEvent;
    use deltascope_world::text::Text;
    use deltascope_world::virtual_time::{Input, Settings, SourceKind};

    use super::super::trace;
    use super::*;

    /// A list of two objects, and an event, of a cluster.
    fn file() -> String {
        let pod = |name: &str| {
            Arc::new(kube_core::DynamicObject::from(PodSpec {
                namespace: "a".to_owned(),
                name: name.to_owned(),
                ..PodSpec::default()
            }))
        };
        let page = Page {
            rv: "7".into(),
            items: ["one", "two"].map(pod).into(),
            continue_token: "".into(),
        };
        let event = RecordedEvent::Object {
            event: EventType::Added,
            object: pod("three"),
        };
        let parts = [
            (3, 1, ResponsePart::Page(page)),
            (5, 2, ResponsePart::Opened),
            (9, 2, ResponsePart::Event(event)),
        ];
        let inputs = parts.map(|(at, request, part)| RecordedInput {
            after: usize::MAX,
            at,
            input: Input::Source(Command::Respond([ServerResponse { request, part }].into())),
        });
        trace::write(&Trace {
            lesson: "".into(),
            title: Text::new("pods", "pods"),
            at: None,
            start: Some(1_700_000_000_000),
            recording: Recording {
                scenario: Scenario {
                    settings: Settings {
                        source: SourceKind::Cluster,
                        ..Settings::default()
                    },
                    ..Scenario::default()
                },
                inputs: inputs.into(),
            },
        })
    }

    #[test]
    fn a_trace_that_grows_is_the_whole_trace_in_the_end() {
        let text = file();
        for piece in [1, 7, 1_000, text.len()] {
            let mut growing = Growing::new("all");
            let (mut heads, mut inputs, mut until) = (Vec::new(), Vec::new(), 0);
            for bytes in text.as_bytes().chunks(piece) {
                let grown = growing.read(bytes).unwrap();
                heads.extend(grown.head);
                inputs.extend(grown.inputs);
                until = until.max(grown.until);
            }
            assert_eq!(heads.len(), 1, "{piece}");
            let mut grown = heads.remove(0);
            grown.recording.inputs = inputs;
            assert_eq!(trace::write(&grown), text, "{piece}");
            assert_eq!(until, 9);
        }
    }

    #[test]
    fn a_note_tells_the_time_too() {
        let mut growing = Growing::new("all");
        growing.read(file().as_bytes()).unwrap();
        let grown = growing
            .read(b"{\"tap\":{\"opened\":{\"at\":70}}}\n{\"tap\":{\"opened\":{\"at\":80")
            .unwrap();
        assert_eq!((grown.until, grown.inputs.len()), (70, 0));
    }

    #[test]
    fn the_end_of_a_recording_is_told_with_its_reason() {
        for why in Stopped::ALL {
            let name = why.id();
            let mut growing = Growing::new("all");
            let grown = growing.read(file().as_bytes()).unwrap();
            assert_eq!(grown.stopped, None);
            // As a tap writes it.
            assert_eq!(serde_json::to_value(why).unwrap(), name);
            let note = serde_json::json!({ "stopped": { "at": 80, "why": name } });
            let line = format!("{}\n", serde_json::json!({ "tap": note }));
            let grown = growing.read(line.as_bytes()).unwrap();
            assert_eq!((grown.until, grown.stopped), (80, Some(why)));
        }
    }

    #[test]
    fn with_what_a_file_goes_on_is_told_with_its_head() {
        let text = file();
        let (first, rest) = text.split_once('\n').unwrap();
        for (anew, goes_on) in [(false, GoesOn::At(9)), (true, GoesOn::Anew)] {
            let note = crate::tap::note::Note::GoesOn {
                at: 9,
                part: 2,
                anew,
            };
            let line = serde_json::json!({ "tap": note });
            let mut growing = Growing::new("all");
            // The head comes later than the note.
            let begins = growing.read(format!("{first}\n{line}\n").as_bytes());
            assert!(begins.unwrap().head.is_none());
            let grown = growing.read(rest.as_bytes()).unwrap();
            assert!(grown.head.is_some());
            assert_eq!(grown.goes_on, Some(goes_on));
        }
    }

    #[test]
    fn what_is_no_line_of_a_trace_is_named() {
        for (text, line) in [("{\"what\":1}\n", 1), ("\n[\n", 2)] {
            let error = Growing::new("all").read(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, Some(line), "{text}");
        }
        let mut growing = Growing::new("all");
        let head = file().lines().next().unwrap().to_owned();
        growing.read(format!("{head}\n").as_bytes()).unwrap();
        let error = growing.read(b"{\"what\":1}\n").unwrap_err();
        assert_eq!(error.line, Some(2));
    }
}
