//! Places on the stage that several rooms name: how `data-anchor` writes them, and how it is read.

use std::borrow::Cow;
use std::fmt;

/// A place on the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor<'a> {
    /// A line on the watch stream, by its number.
    Line(u64),
    /// What a program called, by the number of the call in its run, from 0.
    Call(u64),
    /// A key under a value of an index.
    IndexKey {
        /// The index.
        index: Cow<'a, str>,
        /// The indexed value.
        value: Cow<'a, str>,
        /// The key.
        key: Cow<'a, str>,
    },
}

const LINE: &str = "api/stream/";
const CALL: &str = "api/call/";
/// What is before the names of an index and of a value.
pub const INDEX: &str = "store/index/";

impl<'a> Anchor<'a> {
    /// Of a key in an index.
    #[must_use]
    pub fn index_key(index: &'a str, value: &'a str, key: &'a str) -> Self {
        Self::IndexKey {
            index: index.into(),
            value: value.into(),
            key: key.into(),
        }
    }

    /// Which place it is, where it is one of these.
    #[must_use]
    pub fn read(anchor: &'a str) -> Option<Self> {
        if let Some(number) = anchor.strip_prefix(LINE) {
            return number.parse().ok().map(Self::Line);
        }
        if let Some(number) = anchor.strip_prefix(CALL) {
            return number.parse().ok().map(Self::Call);
        }
        let mut parts = anchor.strip_prefix(INDEX)?.splitn(3, '/');
        Some(Self::IndexKey {
            index: whole(parts.next()?),
            value: whole(parts.next()?),
            key: parts.next()?.into(),
        })
    }
}

impl fmt::Display for Anchor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "{LINE}{number}"),
            Self::Call(number) => write!(f, "{CALL}{number}"),
            Self::IndexKey { index, value, key } => {
                f.write_str(&index_set(index, value))?;
                f.write_str(key)
            }
        }
    }
}

/// What the anchors of all keys under a value of an index begin with.
#[must_use]
pub fn index_set(index: &str, value: &str) -> String {
    format!("{INDEX}{}/{}/", part(index), part(value))
}

/// One part of a path: its own slashes are no others'.
fn part(name: &str) -> Cow<'_, str> {
    if name.contains(['/', '%']) {
        name.replace('%', "%25").replace('/', "%2F").into()
    } else {
        name.into()
    }
}

fn whole(part: &str) -> Cow<'_, str> {
    if part.contains('%') {
        part.replace("%2F", "/").replace("%25", "%").into()
    } else {
        part.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // The alphabet is what a name can be taken apart at.
        #[test]
        fn what_is_written_is_read_back(
            number in any::<u64>(),
            parts in prop::array::uniform3("[a2F5%/]{0,6}"),
        ) {
            let [index, value, key] = &parts;
            for anchor in [
                Anchor::Line(number),
                Anchor::Call(number),
                Anchor::index_key(index, value, key),
            ] {
                let text = anchor.to_string();
                prop_assert_eq!(Anchor::read(&text), Some(anchor), "{}", text);
            }
        }
    }

    #[test]
    fn a_name_without_a_slash_is_written_as_it_is() {
        for (anchor, text) in [
            (Anchor::Line(7), "api/stream/7"),
            (Anchor::Call(2), "api/call/2"),
            (
                Anchor::index_key("namespace", "", "default/a"),
                "store/index/namespace//default/a",
            ),
            (
                Anchor::index_key("app.kubernetes.io/name", "50%", "default/a"),
                "store/index/app.kubernetes.io%2Fname/50%25/default/a",
            ),
        ] {
            assert_eq!(anchor.to_string(), text);
        }
    }
}
