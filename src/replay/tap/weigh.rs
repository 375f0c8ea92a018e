//! What is known of an object from its bytes alone: its size, and what its managed fields say. They are not kept.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The size of an object, and who wrote it last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Weighed {
    pub(super) bytes: u32,
    pub(super) managed: u32,
    pub(super) by: Arc<str>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    manager: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    time: std::borrow::Cow<'a, str>,
    #[serde(default, rename = "fieldsV1")]
    _fields: Option<IgnoredAny>,
}

/// Weighs the JSON of an object, in which `metadata` is this deep: 1 in the object itself, 2 in an event.
pub(super) fn weighed(json: &[u8], depth: u32) -> Weighed {
    let size = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    let managed = managed_fields(json, depth + 1);
    let text = managed.clone().and_then(|range| json.get(range));
    let entries: Vec<Entry<'_>> = text
        .and_then(|text| std::str::from_utf8(text).ok())
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    // Times have one form, so their texts have their order; of equals the last counts.
    let last = entries.iter().max_by_key(|entry| &entry.time);
    Weighed {
        bytes: size(json.len()),
        managed: size(managed.map_or(0, |range| range.len())),
        by: last.map_or_else(Arc::default, |entry| entry.manager.as_ref().into()),
    }
}

/// Where the array of managed fields is: the value of a key at this depth.
fn managed_fields(json: &[u8], depth: u32) -> Option<Range<usize>> {
    const KEY: &[u8] = b"managedFields";
    let (mut level, mut at) = (0_u32, 0);
    // Where the array begins, once it is found.
    let mut begin = None;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let text = at + 1;
                at = end_of_string(json, text)?;
                let is_key = level == depth && begin.is_none() && json.get(text..at) == Some(KEY);
                if is_key {
                    let rest = json.get(at + 1..)?;
                    let colon = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
                    let value = rest.get(colon + 1..)?;
                    let space = value.iter().position(|byte| !byte.is_ascii_whitespace())?;
                    if rest[colon] == b':' && value[space] == b'[' {
                        begin = Some(at + 1 + colon + 1 + space);
                    }
                }
            }
            b'{' | b'[' => level += 1,
            b'}' | b']' => {
                level = level.saturating_sub(1);
                if let Some(begin) = begin
                    && level == depth
                    && at > begin
                {
                    return Some(begin..at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where a string ends that begins here: at its closing quote.
fn end_of_string(json: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match json.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managed_fields_are_weighed_and_name_the_last_writer() {
        let fields = r#"[{"manager":"kubectl","time":"2026-01-02T00:00:00Z","fieldsV1":{"f:a":{"]\"":{}}}},{"manager":"kubelet","operation":"Update","time":"2026-01-03T00:00:00Z"},{"manager":"old","time":"2025-01-01T00:00:00Z"}]"#;
        let object = format!(
            r#"{{"metadata":{{"name":"a \"managedFields\":[","labels":{{"managedFields":"[1]"}},"managedFields" : {fields}}},"spec":{{}}}}"#
        );
        let event = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        for (json, depth) in [(&object, 1), (&event, 2)] {
            let weighed = weighed(json.as_bytes(), depth);
            assert_eq!(weighed.managed as usize, fields.len(), "{json}");
            assert_eq!(
                (&*weighed.by, weighed.bytes as usize),
                ("kubelet", json.len())
            );
        }
    }

    #[test]
    fn whatever_comes_is_weighed() {
        for (json, managed) in [
            (r#"{"metadata":{"name":"a"}}"#, 0),
            (r#"{"metadata":{"managedFields":null}}"#, 0),
            (r#"{"metadata":{"managedFields":[]}}"#, 2),
            (r#"{"metadata":{"managedFields":[{"manager":7}]}}"#, 15),
            (r#"{"spec":{"x":{"managedFields":[1]}}}"#, 0),
            (r#"{"metadata":{"managedFields":[{"#, 0),
            (r#"{"metadata":{"managedFields"#, 0),
            (r#"{"a\"#, 0),
            ("", 0),
        ] {
            let weighed = weighed(json.as_bytes(), 1);
            assert_eq!((weighed.managed, &*weighed.by), (managed, ""), "{json}");
        }
    }
}
