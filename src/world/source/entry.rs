//! An entry of a script: what it is, and its JSON, which is one object: `at`, `op` and the arguments of the op.

use serde_json::Value;

use crate::Time;
use crate::deserialize_by_fields;
use crate::fields::{Fields, Put, Read, Written, Wrong, moment, one_of};
use crate::virtual_time::{Input, Question};
use deltascope_cache::fact::Request;
use deltascope_cache::lister_watcher::ApiErrorKind;

use super::pod::Write;
use super::response::ServerResponse;
use super::{Command, Refusals, write};

/// One entry of a script.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Virtual time of the entry, in ms.
    pub at: Time,
    /// The operation.
    pub input: Input<Command>,
}

impl Entry {
    /// Whether it acts on the server, which informers can share.
    pub(super) fn is_for_server(&self) -> bool {
        match &self.input {
            Input::Source(command) => !matches!(command, Command::Respond(_)),
            _ => false,
        }
    }
}

/// Declares the operations of a script with their names.
macro_rules! ops {
    ($($op:ident = $word:literal,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Op { $($op,)* }

        const OPS: [(&str, Op); [$($word),*].len()] = [$(($word, Op::$op)),*];
    };
}

ops! {
    Create = "create", Update = "update", Delete = "delete", Cut = "cut", Compact = "compact", Tell = "tell", Pop = "pop",
    Mode = "mode", KnownObjects = "knownObjects", Close = "close", Bookmark = "bookmark", Error = "error", Refuse = "refuse",
    AddHandler = "addHandler", RemoveHandler = "removeHandler", Print = "print", Ask = "ask",
}

/// The requests that are refused.
const REQUESTS: [(&str, Request); 2] = [("watch", Request::Watch), ("list", Request::List)];

/// How an answer is printed: whether as JSON.
const FORMS: [(&str, bool); 2] = [("json", true), ("go", false)];

/// The errors that a server refuses requests with.
const REFUSALS: [(&str, ApiErrorKind); 7] = [
    ("expired", ApiErrorKind::Expired),
    ("tooLarge", ApiErrorKind::TooLarge),
    ("tooManyRequests", ApiErrorKind::TooManyRequests),
    ("connectionRefused", ApiErrorKind::ConnectionRefused),
    ("internalError", ApiErrorKind::InternalError),
    ("forbidden", ApiErrorKind::Forbidden),
    ("invalid", ApiErrorKind::Invalid),
];

fn chosen<T: Copy>(field: &str, value: &str, words: &[(&str, T)]) -> Result<T, Wrong> {
    let found = words.iter().find(|(word, _)| *word == value);
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let known = known.join(", ");
        let message = format!("{field:?} cannot be {value:?} in a script; there are: {known}");
        Wrong::at(field, message)
    })
}

/// The word for this; an error without one is an internal error.
fn word_of<T: PartialEq>(words: &[(&str, T)], meant: T) -> Value {
    let found = words.iter().find(|(_, other)| *other == meant);
    found.map_or("internalError", |(word, _)| word).into()
}

impl Read for Entry {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("an entry of a script", value)?;
        let at = moment(fields.need("at")?)?;
        let op: String = fields.need("op")?;
        let op = chosen("op", &op, &OPS)?;
        let source = Input::Source;
        let input = match op {
            Op::Create => source(Command::Write(Write::Create(fields.need("object")?))),
            Op::Update => source(Command::Write(Write::Update(fields.need("object")?))),
            // The metadata are enough.
            Op::Delete => source(Command::Write(Write::delete(fields.need("object")?))),
            Op::Cut => source(Command::Cut),
            Op::Compact => source(Command::Compact),
            Op::Tell => {
                let responses: Vec<Value> = fields.need("told")?;
                let responses: Vec<ServerResponse> =
                    Read::read(responses.into()).map_err(|wrong: Wrong| wrong.inside("told"))?;
                source(Command::Respond(responses.into()))
            }
            Op::Pop => Input::Pop,
            Op::Mode => Input::Mode(fields.need("mode")?),
            Op::KnownObjects => Input::KnownObjects(fields.need("on")?),
            Op::Close => source(Command::Close),
            Op::Bookmark => source(Command::Bookmark),
            Op::Error => source(Command::ErrorEvent(fields.need("code")?)),
            Op::Refuse => {
                let request: Value = fields.need("request")?;
                let request = one_of(&request, &REQUESTS)?;
                let with: String = fields.need("with")?;
                let kind = chosen("with", &with, &REFUSALS)?;
                let times = fields.need("times")?;
                source(Command::Refuse(Refusals {
                    request,
                    kind,
                    times,
                }))
            }
            Op::AddHandler => Input::AddHandler(fields.need("handler")?),
            Op::RemoveHandler => Input::RemoveHandler(fields.need("handler")?),
            Op::Print => Input::Print(fields.need("line")?),
            Op::Ask => {
                let form: Value = fields.need("as")?;
                Input::Ask(Question {
                    index: fields.need_name("index")?,
                    value: fields.need_name("value")?,
                    json: one_of(&form, &FORMS)?,
                })
            }
        };
        fields.done()?;
        Ok(Self { at, input })
    }
}

impl Put for Entry {
    fn written(&self) -> Value {
        input(self.at, &[], &self.input)
    }
}

deserialize_by_fields!(Entry);

/// An input as the script entry that does the same at this time; `more` holds fields that come before the
/// operation.
#[must_use]
pub fn input(at: u64, more: &[(&str, u64)], input: &Input<Command>) -> Value {
    let mut fields = Written::default();
    fields.some("at", Some(at.into()));
    for (name, value) in more {
        fields.some(name, Some((*value).into()));
    }
    operation(input, &mut fields);
    fields.done()
}

fn operation(input: &Input<Command>, fields: &mut Written) {
    let (op, arguments): (Op, Vec<(&str, Value)>) = match input {
        Input::Source(Command::Write(Write::Create(made))) => {
            (Op::Create, vec![("object", write::object(made))])
        }
        Input::Source(Command::Write(Write::Update(changed))) => {
            (Op::Update, vec![("object", write::object(changed))])
        }
        Input::Source(Command::Write(Write::Delete { namespace, name })) => {
            let mut metadata = Written::default();
            metadata.put("namespace", (&**namespace).into());
            metadata.put("name", (&**name).into());
            let mut object = Written::default();
            object.put("metadata", metadata.done());
            (Op::Delete, vec![("object", object.done())])
        }
        Input::Source(Command::Cut) => (Op::Cut, Vec::new()),
        Input::Source(Command::Compact) => (Op::Compact, Vec::new()),
        Input::Source(Command::Respond(responses)) => {
            let responses = write::array(responses.iter().map(Put::written));
            (Op::Tell, vec![("told", responses)])
        }
        Input::Pop => (Op::Pop, Vec::new()),
        Input::Mode(mode) => (Op::Mode, vec![("mode", mode.written())]),
        Input::KnownObjects(on) => (Op::KnownObjects, vec![("on", (*on).into())]),
        Input::Source(Command::Close) => (Op::Close, Vec::new()),
        Input::Source(Command::Bookmark) => (Op::Bookmark, Vec::new()),
        Input::Source(Command::ErrorEvent(code)) => (Op::Error, vec![("code", (*code).into())]),
        Input::Source(Command::Refuse(refusals)) => {
            let arguments = vec![
                ("request", word_of(&REQUESTS, refusals.request)),
                ("with", word_of(&REFUSALS, refusals.kind)),
                ("times", refusals.times.into()),
            ];
            (Op::Refuse, arguments)
        }
        Input::AddHandler(handler) => (Op::AddHandler, vec![("handler", handler.written())]),
        Input::RemoveHandler(handler) => (Op::RemoveHandler, vec![("handler", (*handler).into())]),
        Input::Print(line) => (Op::Print, vec![("line", (&**line).into())]),
        Input::Ask(question) => {
            let arguments = vec![
                ("index", (&*question.index).into()),
                ("value", (&*question.value).into()),
                ("as", word_of(&FORMS, question.json)),
            ];
            (Op::Ask, arguments)
        }
    };
    fields.some("op", Some(word_of(&OPS, op)));
    for (name, value) in arguments {
        fields.some(name, Some(value));
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
                if refusals.request == Request::Watch && refusals.times == 2 && refusals.kind == ApiErrorKind::Forbidden
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
