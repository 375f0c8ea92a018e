//! The pieces of a sentence: plain text, names, coloured types, code.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::EventType;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain text.
    Text(String),
    /// An identifier: an object, an index, a handler. Bold, never translated.
    Name(String),
    /// The delta type that determines the colour, and the text: the name of a delta or event type.
    Delta(DeltaType, String),
    /// Monospace: a version, a condition with its values.
    Code(String),
}

impl Span {
    /// The text, without its style.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Name(text) | Self::Delta(_, text) | Self::Code(text) => text,
        }
    }
}

/// The text of all spans.
#[must_use]
pub fn plain(spans: &[Span]) -> String {
    spans.iter().map(Span::as_str).collect()
}

/// A resource version as it is shown: if longer than 6 characters, `…` and the last 4.
#[must_use]
pub(crate) fn short_rv(rv: &str) -> String {
    let length = rv.chars().count();
    if length > 6 {
        format!("…{}", rv.chars().skip(length - 4).collect::<String>())
    } else {
        rv.to_owned()
    }
}

/// A key as it is shown: the name without the namespace.
#[must_use]
pub(crate) fn short_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The answer of a server: code and reason. A code of 0 or an empty reason is left out; `?` without both.
#[must_use]
pub fn answer(code: u16, reason: &str) -> String {
    match (code, reason) {
        (0, "") => "?".to_owned(),
        (0, reason) => reason.to_owned(),
        (code, "") => code.to_string(),
        (code, reason) => format!("{code} {reason}"),
    }
}

/// The answer to a refused request: `410 Expired`. It is not translated.
#[must_use]
pub fn refusal(kind: ApiErrorKind) -> String {
    let error = ApiError::new(kind, "");
    match error.code {
        0 if kind == ApiErrorKind::ConnectionRefused => "connection refused".to_owned(),
        0 => "error".to_owned(),
        code => [&*code.to_string(), " ", &error.reason].concat(),
    }
}

pub(super) fn text(words: impl Into<String>) -> Vec<Span> {
    vec![Span::Text(words.into())]
}

pub(super) fn mono(words: impl Into<String>) -> Vec<Span> {
    vec![Span::Code(words.into())]
}

pub(super) fn named(name: &str) -> Vec<Span> {
    vec![Span::Name(name.into())]
}

/// An indexed value. An empty one is shown as `""`.
pub(super) fn quoted(value: &str) -> Vec<Span> {
    if value.is_empty() {
        mono("\"\"")
    } else {
        named(value)
    }
}

pub(super) fn version(rv: &str) -> Vec<Span> {
    if rv.is_empty() {
        mono("\"\"")
    } else {
        mono(short_rv(rv))
    }
}

pub(super) fn boolean(value: bool) -> Vec<Span> {
    text(if value { "true" } else { "false" })
}

pub(super) fn delta(delta_type: DeltaType) -> Vec<Span> {
    vec![Span::Delta(delta_type, delta_type.as_str().into())]
}

pub(super) fn event_type(event: EventType) -> Vec<Span> {
    let word = event.as_str();
    match typed(word) {
        Some(delta_type) => vec![Span::Delta(delta_type, word.into())],
        None => mono(word),
    }
}

/// The delta type whose colour a word has: the word names the type, or the event that leads to it.
pub(super) fn typed(word: &str) -> Option<DeltaType> {
    Some(match word {
        "Added" | "ADDED" => DeltaType::Added,
        "Updated" | "MODIFIED" => DeltaType::Updated,
        "Deleted" | "DELETED" => DeltaType::Deleted,
        "Replaced" => DeltaType::Replaced,
        "Sync" => DeltaType::Sync,
        "ReplacedAll" => DeltaType::ReplacedAll,
        "SyncAll" => DeltaType::SyncAll,
        "Bookmark" | "BOOKMARK" => DeltaType::Bookmark,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_versions_show_their_tail() {
        assert_eq!(short_rv("12"), "12");
        assert_eq!(short_rv("123456"), "123456");
        assert_eq!(short_rv("8871474"), "…1474");
        assert_eq!(short_rv("版本版本版本版"), "…本版本版");
    }

    #[test]
    fn a_short_name_leaves_out_the_namespace() {
        assert_eq!(short_name("default/web-1"), "web-1");
        assert_eq!(short_name("node-1"), "node-1");
        assert_eq!(short_name(""), "");
    }
}
