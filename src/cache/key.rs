//! Keys: the strings under which objects are stored.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The storage key of an object, shared and cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `namespace/name`, or the name alone when the namespace is empty.
    #[must_use]
    pub fn join(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self::from(name);
        }
        let length = namespace.len() + 1 + name.len();
        let mut buffer = [0_u8; SHORT];
        if let Some(short) = buffer.get_mut(..length) {
            let (front, back) = short.split_at_mut(namespace.len());
            front.copy_from_slice(namespace.as_bytes());
            if let Some((slash, rest)) = back.split_first_mut() {
                *slash = b'/';
                rest.copy_from_slice(name.as_bytes());
            }
            if let Ok(text) = std::str::from_utf8(short) {
                return Self::from(text);
            }
        }
        Self::from(format!("{namespace}/{name}"))
    }
}

/// Up to here a key is put together on the stack, so that making one allocates once: namespaces
/// have at most 63 bytes, and names of more than 128 are rare.
const SHORT: usize = 192;

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl From<Key> for Arc<str> {
    fn from(key: Key) -> Self {
        key.0
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
