//! Keys: the strings under which objects are stored.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use foldhash::fast::FixedState;

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
    Short(Short),
    Long(Arc<str>),
}

/// The text first, so that it begins at a word of the CPU, wherever a key is.
#[derive(Clone, Copy)]
#[repr(C)]
struct Short {
    /// 0 from `length` on.
    bytes: [u8; SHORT],
    length: u8,
    tag: Tag,
}

impl Short {
    /// In the parts in which they were written.
    #[inline]
    fn words(&self) -> Words {
        let (words, rest) = self.bytes.as_chunks::<8>();
        let half = rest
            .first_chunk()
            .map_or(0, |half| u32::from_le_bytes(*half));
        let rest = rest
            .last_chunk()
            .map_or(0, |rest| u16::from_le_bytes(*rest));
        let last = u64::from(half) | u64::from(rest) << 32;
        match words {
            [first, second] => [
                u64::from_le_bytes(*first),
                u64::from_le_bytes(*second),
                last,
            ],
            _ => [0, 0, last],
        }
    }
}

/// The only value of the last byte of a short key: `Text` and `Option` tell by it what they are.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Tag {
    Short,
}

impl Key {
    /// The empty key.
    pub(super) const EMPTY: Self = Self(Text::Short(Short {
        bytes: [0; SHORT],
        length: 0,
        tag: Tag::Short,
    }));

    /// The key as text.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // The bytes come from a `str`, so they are valid UTF-8.
            Text::Short(_) => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Text::Long(text) => text,
        }
    }

    /// The key as bytes. Cheaper than `as_str`, which validates a short key.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Short(short) => &short.bytes[..usize::from(short.length)],
            Text::Long(text) => text.as_bytes(),
        }
    }

    /// The [`hash`] of its text.
    #[inline]
    pub(super) fn hashed(&self) -> u64 {
        match &self.0 {
            Text::Short(short) => hash_words(short.words()),
            Text::Long(text) => hash(text.as_bytes()),
        }
    }

    /// `namespace/name`, or only the name if the namespace is empty.
    #[must_use]
    pub fn join(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self::from(name);
        }
        let length = namespace.len() + 1 + name.len();
        if length <= SHORT {
            let [a, b, c] = words(namespace.as_bytes());
            let [d, e, f] = later(words(name.as_bytes()), 1);
            let [d, e, f] = later([d | u64::from(b'/'), e, f], namespace.len());
            return Self::short(length, [a | d, b | e, c | f]);
        }
        let mut bytes = [0; JOINED];
        if join_into(&mut bytes, namespace, name)
            && let Some(Ok(text)) = bytes.get(..length).map(std::str::from_utf8)
        {
            return Self(Text::Long(text.into()));
        }
        Self(Text::Long(format!("{namespace}/{name}").into()))
    }

    fn short(length: usize, [a, b, c]: Words) -> Self {
        let mut bytes = [0; SHORT];
        bytes[..8].copy_from_slice(&a.to_le_bytes());
        bytes[8..16].copy_from_slice(&b.to_le_bytes());
        bytes[16..20].copy_from_slice(&(c as u32).to_le_bytes());
        bytes[20..].copy_from_slice(&((c >> 32) as u16).to_le_bytes());
        Self(Text::Short(Short {
            bytes,
            // At most SHORT, so it fits.
            length: length as u8,
            tag: Tag::Short,
        }))
    }
}

/// Short text in words of the CPU, the first byte lowest; 0 after its end.
///
/// A key is made of words, not with `memcpy`, because it is read in words at once: what was written in other parts, the CPU
/// cannot read before it has reached the cache.
type Words = [u64; 3];

/// The words of short text.
fn words(text: &[u8]) -> Words {
    let length = text.len();
    let first = text.first_chunk().map(|word| u64::from_le_bytes(*word));
    let last = text.last_chunk().map(|word| u64::from_le_bytes(*word));
    // Those of the last eight bytes that no word before has.
    let rest = last.map_or(0, |last| last >> 1 >> (63 - 8 * (length % 8)));
    match (first, text.get(8..).and_then(<[u8]>::first_chunk)) {
        (Some(first), Some(second)) => [first, u64::from_le_bytes(*second), rest],
        (Some(first), None) => [first, rest, 0],
        (None, _) => {
            let word = text
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            [word, 0, 0]
        }
    }
}

/// The words of text that begins so many bytes later.
fn later([a, b, c]: Words, bytes: usize) -> Words {
    let bits = 8 * (bytes % 8);
    let both = |low: u64, high: u64| high << bits | low >> 1 >> (63 - bits);
    match bytes / 8 {
        0 => [a << bits, both(a, b), both(b, c)],
        1 => [0, a << bits, both(a, b)],
        _ => [0, 0, a << bits],
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

/// The hash of text, in the tables of keys and of indexed values.
pub(super) fn hash(text: &[u8]) -> u64 {
    if text.len() <= SHORT {
        return hash_words(words(text));
    }
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text);
    hasher.finish()
}

#[inline]
fn hash_words(words: Words) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for word in words {
        hasher.write_u64(word);
    }
    hasher.finish()
}

impl Default for Key {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Text::Short(one), Text::Short(other)) => {
                one.length == other.length && one.bytes == other.bytes
            }
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
        if text.len() > SHORT {
            return Self(Text::Long(text.into()));
        }
        Self::short(text.len(), words(text.as_bytes()))
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
            Text::Short(_) => key.as_str().into(),
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
            prop_assert_eq!(key.hashed(), hash(text.as_bytes()));
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
