//! Keys: the strings under which objects are stored.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The storage key of an object. Cheap to clone: short keys are stored inline, long ones are
/// shared.
#[derive(Clone)]
pub struct Key(Text);

/// Maximum length of a short key in bytes. With length and tag, it is as large as a `String`.
const SHORT: usize = 22;

/// Buffer size for joining a key on the stack, so that a long key needs only one allocation.
/// Namespaces have at most 63 bytes, and names of more than 128 are rare.
const JOINED: usize = 192;

/// Text of at most `SHORT` bytes is always `Short`.
#[derive(Clone)]
enum Text {
    /// The bytes from `length` on are 0.
    Short {
        length: u8,
        bytes: [u8; SHORT],
    },
    Long(Arc<str>),
}

impl Key {
    /// The empty key.
    pub(super) const EMPTY: Self = Self(Text::Short {
        length: 0,
        bytes: [0; SHORT],
    });

    /// The key as text.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // The bytes come from a `str`, so they are valid UTF-8.
            Text::Short { .. } => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Text::Long(text) => text,
        }
    }

    /// The key as bytes. Cheaper than `as_str`, which validates a short key.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Short { length, bytes } => &bytes[..usize::from(*length)],
            Text::Long(text) => text.as_bytes(),
        }
    }

    /// `namespace/name`, or only the name if the namespace is empty.
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
        // At most SHORT, so it fits.
        let length = length as u8;
        Self(Text::Short { length, bytes })
    }
}

/// Writes `namespace/name` to the start of `bytes`; returns false if it does not fit.
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

/// Bytewise, like `str`.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

/// Same hash as the text: maps are looked up by `&str`.
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

impl From<&str> for Box<Key> {
    fn from(text: &str) -> Self {
        Self::new(text.into())
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
    fn keys_and_items_take_no_more_room_than_in_go() {
        assert_eq!(size_of::<Key>(), 24);
        assert_eq!(size_of::<Option<Key>>(), 24);
        assert_eq!(size_of::<Option<Item<u64>>>(), 16);
    }

    proptest! {
        #[test]
        fn a_key_behaves_like_its_text(
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
