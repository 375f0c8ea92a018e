//! Keys: the strings under which objects are stored.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The storage key of an object, cheap to clone: a short one lies in place, a long one is shared.
#[derive(Clone)]
pub struct Key(Text);

/// Up to here a key is short. With its length and a tag it takes as much room as a `String`.
const SHORT: usize = 22;

/// Up to here a key is put together on the stack, so that making a long one allocates once:
/// namespaces have at most 63 bytes, and names of more than 128 are rare.
const JOINED: usize = 192;

/// What has at most `SHORT` bytes is `Short`, always.
#[derive(Clone)]
enum Text {
    /// The bytes after the first `length` are 0.
    Short {
        length: u8,
        bytes: [u8; SHORT],
    },
    Long(Arc<str>),
}

impl Key {
    /// The key without a text.
    pub(super) const EMPTY: Self = Self(Text::Short {
        length: 0,
        bytes: [0; SHORT],
    });

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // It came out of a text, so it is one.
            Text::Short { .. } => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Text::Long(text) => text,
        }
    }

    /// The key as bytes: at once, where `as_str` has to look through a short key first.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Short { length, bytes } => &bytes[..usize::from(*length)],
            Text::Long(text) => text.as_bytes(),
        }
    }

    /// `namespace/name`, or the name alone when the namespace is empty.
    #[must_use]
    pub fn join(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self::from(name);
        }
        let length = namespace.len() + 1 + name.len();
        let mut bytes = [0; SHORT];
        if join_into(&mut bytes, namespace, name) {
            return Self::short(length, bytes);
        }
        let mut bytes = [0; JOINED];
        if join_into(&mut bytes, namespace, name)
            && let Some(Ok(text)) = bytes.get(..length).map(std::str::from_utf8)
        {
            return Self(Text::Long(text.into()));
        }
        Self(Text::Long(format!("{namespace}/{name}").into()))
    }

    fn short(length: usize, bytes: [u8; SHORT]) -> Self {
        // No more than SHORT, which fits.
        let length = length as u8;
        Self(Text::Short { length, bytes })
    }
}

/// Writes `namespace/name` to the front of `bytes`, if it fits.
fn join_into(bytes: &mut [u8], namespace: &str, name: &str) -> bool {
    let Some((front, rest)) = bytes.split_at_mut_checked(namespace.len()) else {
        return false;
    };
    let Some((slash, rest)) = rest.split_first_mut() else {
        return false;
    };
    let Some(back) = rest.get_mut(..name.len()) else {
        return false;
    };
    front.copy_from_slice(namespace.as_bytes());
    *slash = b'/';
    back.copy_from_slice(name.as_bytes());
    true
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (
                Text::Short { length, bytes },
                Text::Short {
                    length: other_length,
                    bytes: other_bytes,
                },
            ) => length == other_length && bytes == other_bytes,
            (Text::Long(text), Text::Long(other)) => text == other,
            _ => false,
        }
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Bytewise, as of texts.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

/// As of the text: a key is found by it.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Self::short(text.len(), bytes)
            }
            None => Self(Text::Long(text.into())),
        }
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Key> for Arc<str> {
    fn from(key: Key) -> Self {
        match key.0 {
            Text::Short { .. } => key.as_str().into(),
            Text::Long(text) => text,
        }
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use foldhash::fast::FixedState;
    use proptest::prelude::*;

    use super::*;
    use crate::object::Item;

    #[test]
    fn a_key_takes_no_more_room_than_a_string() {
        assert_eq!(size_of::<Key>(), 24);
        assert_eq!(size_of::<Option<Key>>(), 24);
        assert_eq!(size_of::<Option<Item<u64>>>(), 24);
    }

    proptest! {
        #[test]
        fn is_the_text_it_was_made_of(
            (namespace, name, other) in ("[a-zé]{0,14}", "[a-zé]{0,14}", "[a-z]{0,24}"),
        ) {
            let text = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
            let key = Key::join(&namespace, &name);
            prop_assert_eq!(key.as_str(), &text);
            prop_assert_eq!(key.as_bytes(), text.as_bytes());
            prop_assert_eq!(&key, &Key::from(&*text));
            let hasher = FixedState::default();
            prop_assert_eq!(hasher.hash_one(&key), hasher.hash_one(&text));
            let other_key = Key::from(&*other);
            prop_assert_eq!(key == other_key, text == other);
            prop_assert_eq!(key.cmp(&other_key), text.cmp(&other));
            prop_assert_eq!(Arc::<str>::from(key), Arc::<str>::from(text));
        }

        #[test]
        fn joins_any_length(namespace in "[a-z]{1,100}", name in "[a-z]{1,150}") {
            let key = Key::join(&namespace, &name);
            prop_assert_eq!(key.as_str(), format!("{namespace}/{name}"));
        }
    }
}
