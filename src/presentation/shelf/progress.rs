//! How far each lesson has been told, as one text that the browser keeps.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use deltascope_cache::sorted::SortedMap;

/// The version of the text. A text of another version is not read.
const VERSION: u64 = 1;

/// How far the lessons have been told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    lessons: SortedMap<Arc<str>, Told>,
}

/// How far a lesson has been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// It has been opened.
    pub opened: bool,
    /// Its last scene has been shown.
    pub ended: bool,
    /// Its goal has been reached.
    pub reached: bool,
}

impl Progress {
    /// Reads what was kept. What cannot be read is as good as nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let kept: Value = serde_json::from_str(text).unwrap_or_default();
        if kept.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Self::default();
        }
        let lessons = kept.get("lessons").and_then(Value::as_object);
        let is = |told: &Value, name: &str| told.get(name) == Some(&Value::Bool(true));
        let lessons = lessons.into_iter().flatten().map(|(id, told)| {
            let told = Told {
                opened: is(told, "opened"),
                ended: is(told, "ended"),
                reached: is(told, "reached"),
            };
            (id.as_str().into(), told)
        });
        Self {
            lessons: lessons.collect(),
        }
    }

    /// What to keep.
    #[must_use]
    pub fn write(&self) -> String {
        json!({ "version": VERSION, "lessons": self.to_json() }).to_string()
    }

    /// How far each lesson has been told, as `getState()` says it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut lessons = Map::new();
        for (id, told) in &self.lessons {
            let Told {
                opened,
                ended,
                reached,
            } = *told;
            let told = json!({ "opened": opened, "ended": ended, "reached": reached });
            lessons.insert(id.to_string(), told);
        }
        Value::Object(lessons)
    }

    /// How far a lesson has been told.
    #[must_use]
    pub fn of(&self, lesson: &str) -> Told {
        self.lessons.get(lesson).copied().unwrap_or_default()
    }

    /// Whether nothing has been told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// Adds what another page has kept.
    pub fn merge(&mut self, other: &Self) {
        for (id, told) in &other.lessons {
            self.add(id, *told);
        }
    }

    /// Adds how far a lesson has been told now. Returns whether that is farther.
    pub fn add(&mut self, lesson: &str, now: Told) -> bool {
        let before = self.of(lesson);
        let told = Told {
            opened: before.opened || now.opened,
            ended: before.ended || now.ended,
            reached: before.reached || now.reached,
        };
        if told != before {
            self.lessons.insert(lesson.into(), told);
        }
        told != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(opened: bool, ended: bool, reached: bool) -> Told {
        Told {
            opened,
            ended,
            reached,
        }
    }

    #[test]
    fn what_was_told_once_stays_and_is_read_back() {
        let mut progress = Progress::default();
        assert!(progress.add("a", told(true, false, false)));
        assert!(progress.add("a", told(false, true, false)));
        assert!(!progress.add("a", told(true, false, false)), "nothing new");
        assert!(!progress.add("b", Told::default()), "nothing at all");
        assert!(progress.add("c", told(true, true, true)));
        assert_eq!(progress.of("a"), told(true, true, false));
        assert_eq!(progress.of("b"), Told::default());
        assert_eq!(Progress::read(&progress.write()), progress);
        assert!(!progress.is_empty());
        let mut other = Progress::default();
        other.add("a", told(false, false, true));
        other.merge(&progress);
        assert_eq!(other.of("a"), told(true, true, true));
        assert_eq!(other.of("c"), told(true, true, true));
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"lessons":{"a":{"opened":true}}}"#,
            r#"{"version":2,"lessons":{"a":{"opened":true}}}"#,
            r#"{"version":1,"lessons":[]}"#,
        ] {
            assert!(Progress::read(text).is_empty(), "{text}");
        }
        let odd = Progress::read(r#"{"version":1,"lessons":{"a":7,"b":{"opened":1}}}"#);
        assert_eq!([odd.of("a"), odd.of("b")], [Told::default(); 2]);
    }
}
