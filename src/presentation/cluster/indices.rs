//! The names of indices.

use std::sync::Arc;

use deltascope_cache::selector::{Operator, Requirement};
use deltascope_world::text;
use deltascope_world::text::Text;

/// The names of indices in a text that the user typed: `app, .spec.nodeName`.
#[must_use]
pub fn index_names(text: &str) -> Vec<Arc<str>> {
    let names = text
        .split([',', ' ', '，', '、'])
        .filter(|name| !name.is_empty());
    let mut found: Vec<Arc<str>> = Vec::new();
    for name in names {
        if !found.iter().any(|other| **other == *name) {
            found.push(name.into());
        }
    }
    found
}

/// Checks the name of an index: `namespace`, `node`, the key of a label, or the path of a field.
///
/// # Errors
/// Fails if the name is wrong; the text says what to write.
pub fn check_index(name: &str) -> Result<(), Text> {
    let (en, zh) = match name.strip_prefix('.') {
        Some(path) => {
            let odd = |part: &str| part.is_empty() || part.contains(is_odd);
            if !path.split('.').any(odd) {
                return Ok(());
            }
            (
                "is no path of a field. Write names with one dot before each, like .spec.nodeName or .status.conditions.0.type.",
                "不是字段路径。请写名称，每个前面一个点，例如 .spec.nodeName 或 .status.conditions.0.type。",
            )
        }
        None if Requirement::new(name, Operator::Exists, Vec::new()).is_ok() => return Ok(()),
        None => (
            "is no key of a label. Write one like app or app.kubernetes.io/name, or the path of a field with a dot in front.",
            "不是标签的 key。请写 app 或 app.kubernetes.io/name 这样的 key，或以点开头的字段路径。",
        ),
    };
    Err(text!("The index {name:?} {en}", "索引 {name:?} {zh}"))
}

/// Characters that no field name contains. Elements of an array have numbers, not brackets.
fn is_odd(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '[' | ']' | ',')
}

/// The message about indices that have no values for objects without spec and status; none if there are no such
/// indices.
#[must_use]
pub fn without_values<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Text> {
    let lacking: Vec<&str> = names.into_iter().filter(|name| lacks(name)).collect();
    (!lacking.is_empty()).then(|| {
        text!(
            (
                "Metadata alone have no {}: nothing to index.",
                lacking.join(", ")
            ),
            ("只看元数据时没有 {}：无从索引。", lacking.join("、"))
        )
    })
}

/// Whether metadata alone has nothing to index under this name.
pub(super) fn lacks(name: &str) -> bool {
    let first = name.strip_prefix('.').map(|path| path.split('.').next());
    name == "node" || first.is_some_and(|first| first != Some("metadata"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_an_index_comes_once() {
        let names = index_names("app, tier  app，.spec.nodeName");
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        assert_eq!(names, ["app", "tier", ".spec.nodeName"]);
    }

    #[test]
    fn an_index_is_a_label_or_a_path() {
        for (name, good) in [
            ("namespace", true),
            ("node", true),
            ("app.kubernetes.io/name", true),
            (".spec.nodeName", true),
            (".metadata.labels.app.kubernetes.io/name", true),
            (".status.conditions.0.type", true),
            ("", false),
            (".", false),
            ("..bad", false),
            (".spec.", false),
            (".spec..nodeName", false),
            (".spec.node name", false),
            (".status.conditions[0].type", false),
            ("app tier", false),
            ("app=web", false),
            ("a/b/c", false),
        ] {
            assert_eq!(check_index(name).is_ok(), good, "{name:?}");
        }
    }
}
