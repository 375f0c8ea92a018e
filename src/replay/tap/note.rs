//! What is noted of an informer's requests. Notes lie in its recording as lines of their own,
//! `{"tap":{…}}`, which the run does not need.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use deltascope_cache::fact::{EventType, WatchEnd};
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_world::Time;
use deltascope_world::source::live::ResponsePart;
use deltascope_world::source::pod::is_dns_label;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::source::{Command, key_of};
use deltascope_world::virtual_time::Input;

use crate::trace::Trace;

pub use crate::growing::Stopped;

use super::call::Scope;

/// The name of a note's line.
pub const NAME: &str = "tap";

/// One note. Times are in ms since the beginning of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Note {
    /// Whose informer this is, and of what: the first note.
    Informer {
        /// The client's `User-Agent`.
        agent: Arc<str>,
        /// The objects.
        scope: Scope,
    },
    /// A list, or one page of it, is asked for.
    List {
        /// When.
        at: Time,
        /// `resourceVersion`; empty: the newest.
        version: String,
        /// `limit`; 0: none.
        limit: u32,
        /// Whether it continues a list.
        continues: bool,
    },
    /// A watch is asked for.
    Watch {
        /// When.
        at: Time,
        /// `resourceVersion`
        version: String,
        /// Whether it is a streaming list.
        initial: bool,
    },
    /// A list, or a page of it, has come.
    Page {
        /// When its last byte came.
        at: Time,
        /// Its objects.
        objects: Vec<Weight>,
        /// Whether there are more pages.
        more: bool,
    },
    /// The watch is open.
    Opened {
        /// When.
        at: Time,
    },
    /// Events of the watch.
    Events {
        /// When they came.
        at: Time,
        /// What they were.
        events: Vec<EventNote>,
    },
    /// A watch has ended, or a request has failed.
    Ended {
        /// When.
        at: Time,
        /// Why.
        why: Why,
    },
    /// A request comes over this connection. A connection is one process's.
    Connection {
        /// When.
        at: Time,
        /// Which.
        #[serde(flatten)]
        connection: Connection,
    },
    /// This file goes on with an informer whose watch is open: what comes before this time says what was there. Or it begins
    /// anew, with its next list alone.
    GoesOn {
        /// When.
        at: Time,
        /// The number of the file among those of the informer, from 1.
        part: u32,
        /// Whether it begins anew: nothing says what was there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anew: bool,
    },
    /// Objects that were there when it went on.
    Had {
        /// When it went on.
        at: Time,
        /// The objects.
        objects: Vec<Weight>,
    },
    /// The recording goes no further.
    Stopped {
        /// When.
        at: Time,
        /// Why.
        why: Stopped,
    },
}

/// A connection of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Connection {
    /// When the tap began that numbers it, in ms since 1970.
    pub tap: Time,
    /// Its number.
    pub number: u64,
}

/// An object of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Weight {
    /// Its key.
    pub key: String,
    /// Its bytes, as they came.
    pub bytes: u32,
    /// How many of these are its managed fields.
    #[serde(skip_serializing_if = "is_zero")]
    pub managed: u32,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventNote {
    /// Its type.
    pub kind: Kind,
    /// The object, unless it is a bookmark.
    #[serde(flatten)]
    pub object: Weight,
    /// Who wrote the object last, as its managed fields say.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub by: Arc<str>,
}

/// The type of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// `ADDED`
    #[default]
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
    /// `BOOKMARK`
    Bookmark,
    /// The bookmark that ends the initial events of a streaming list.
    InitialEnd,
}

impl Kind {
    /// The type of an object's event.
    #[must_use]
    pub fn of(event: EventType) -> Self {
        match event {
            EventType::Modified => Self::Modified,
            EventType::Deleted => Self::Deleted,
            _ => Self::Added,
        }
    }
}

/// Why a watch ended, or a request failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Why {
    /// The server ended it, as it does after some minutes.
    Closed,
    /// The connection broke.
    Cut,
    /// The client hung up.
    HungUp,
    /// The version is too old (410).
    Expired,
    /// The server asked to come again later (429, or 5xx with `Retry-After`).
    Later {
        /// HTTP status.
        code: u16,
    },
    /// An error, of the request or in the stream; code 0: no answer.
    Failed {
        /// HTTP status.
        code: u16,
        /// What the server said.
        text: String,
    },
    /// The answer is larger than what is read here.
    TooLarge,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Note {
    /// Its line in a recording.
    #[must_use]
    pub fn line(&self) -> Value {
        json!({ NAME: self })
    }

    /// When it was noted.
    #[must_use]
    pub fn at(&self) -> Time {
        match self {
            Self::Informer { .. } => 0,
            Self::List { at, .. }
            | Self::Watch { at, .. }
            | Self::Page { at, .. }
            | Self::Opened { at }
            | Self::Events { at, .. }
            | Self::Ended { at, .. }
            | Self::Connection { at, .. }
            | Self::GoesOn { at, .. }
            | Self::Had { at, .. }
            | Self::Stopped { at, .. } => *at,
        }
    }
}

/// The notes in the lines of a trace. Lines that are none are left out.
#[must_use]
pub fn read(bytes: &[u8]) -> Vec<Note> {
    let begins = format!("{{\"{NAME}\":");
    let lines = bytes.split(|byte| *byte == b'\n');
    let notes = lines.filter_map(|line| {
        let rest = line.strip_prefix(begins.as_bytes())?;
        let note = std::str::from_utf8(rest.strip_suffix(b"}")?).ok()?;
        serde_json::from_str(note).ok()
    });
    notes.collect()
}

/// Whether a file goes on with an informer that another began.
#[must_use]
pub fn goes_on(bytes: &[u8]) -> bool {
    let goes_on = |note: &Note| matches!(note, Note::GoesOn { .. });
    read(bytes).iter().any(goes_on)
}

/// What the title of a recording says of its informer, for where no note names it: a guess.
#[must_use]
pub fn guessed(trace: &Trace) -> Note {
    let mut parts = trace.title.en.split(" · ");
    let resource = parts.next().unwrap_or_default();
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    // More parts are selectors, or a client.
    let place = parts.next().filter(|place| is_dns_label(place));
    let place = place.filter(|_| parts.next().is_none());
    Note::Informer {
        agent: Arc::default(),
        scope: Scope {
            group: group.to_owned(),
            plural: plural.to_owned(),
            namespace: place.map(str::to_owned),
            ..Scope::default()
        },
    }
}

/// What a recording of this informer says that no tap has made: neither how lists were asked for, nor sizes, nor writers.
#[must_use]
pub fn of(informer: Note, trace: &Trace) -> Vec<Note> {
    let mut notes = vec![informer];
    let streams = trace.recording.scenario.settings.streams();
    let mut listed = false;
    for taken in &trace.recording.inputs {
        let Input::Source(Command::Respond(responses)) = &taken.input else {
            continue;
        };
        let at = taken.at;
        let mut heard = Vec::new();
        for response in responses.iter() {
            match &response.part {
                ResponsePart::Page(page) => {
                    if !listed {
                        notes.push(asked(at));
                    }
                    listed = !page.continue_token.is_empty();
                    notes.push(Note::Page {
                        at,
                        objects: page.items.iter().map(|object| weight(object)).collect(),
                        more: listed,
                    });
                }
                ResponsePart::Opened => {
                    let initial = streams && notes.len() == 1;
                    notes.push(Note::Watch {
                        at,
                        version: String::new(),
                        initial,
                    });
                    notes.push(Note::Opened { at });
                }
                ResponsePart::Event(RecordedEvent::Object { event, object }) => {
                    heard.push(EventNote {
                        kind: Kind::of(*event),
                        object: weight(object),
                        ..EventNote::default()
                    })
                }
                ResponsePart::Event(RecordedEvent::Bookmark {
                    initial_events_end, ..
                }) => heard.push(EventNote {
                    kind: match initial_events_end {
                        true => Kind::InitialEnd,
                        false => Kind::Bookmark,
                    },
                    ..EventNote::default()
                }),
                part => {
                    if let Some(why) = Why::of(part) {
                        if !heard.is_empty() {
                            let events = std::mem::take(&mut heard);
                            notes.push(Note::Events { at, events });
                        }
                        notes.push(Note::Ended { at, why });
                    }
                }
            }
        }
        if !heard.is_empty() {
            notes.push(Note::Events { at, events: heard });
        }
    }
    notes
}

fn asked(at: Time) -> Note {
    Note::List {
        at,
        version: "0".to_owned(),
        limit: 0,
        continues: false,
    }
}

fn weight(object: &DynamicObject) -> Weight {
    Weight {
        key: key_of(object).to_string(),
        ..Weight::default()
    }
}

impl Why {
    /// What a part of a response says of its end, if it ends it.
    #[must_use]
    pub fn of(part: &ResponsePart) -> Option<Self> {
        let failed = |code: u16, text: &str| Self::Failed {
            code,
            text: text.to_owned(),
        };
        Some(match part {
            ResponsePart::Event(RecordedEvent::Error { code: 410, .. }) => Self::Expired,
            ResponsePart::Event(RecordedEvent::Error { code, message, .. }) => {
                failed(*code, message)
            }
            ResponsePart::Event(RecordedEvent::Cut { .. }) => Self::Cut,
            ResponsePart::Later { code, .. } => Self::Later { code: *code },
            ResponsePart::Refused(error) => match error.kind {
                ApiErrorKind::Expired | ApiErrorKind::Gone => Self::Expired,
                ApiErrorKind::TooManyRequests => Self::Later { code: error.code },
                _ => failed(error.code, &error.message),
            },
            ResponsePart::Ended(WatchEnd::Closed) => Self::Closed,
            ResponsePart::Ended(_) => Self::Cut,
            ResponsePart::Page(_) | ResponsePart::Opened | ResponsePart::Event(_) => return None,
        })
    }
}
