//! Key functions: from an object to its storage key.
//!
//! Upstream: [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go)
//! and, for the deletion-handling variant,
//! [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::sync::Arc;

use super::error::Error;
use super::key::Key;
use super::object::{Item, Object};
use super::quote::Quoted;

/// Computes the key of an object, or returns the reason why it has none.
pub type KeyFunc<O> = Arc<dyn Fn(&Item<O>) -> Result<Key, String> + Send + Sync>;

/// The error text for values without metadata.
const NO_META: &str = "object has no meta: object does not implement the Object interfaces";

/// `namespace/name`, or `name` alone without a namespace; an explicit key is its own key.
///
/// # Errors
/// If the item has no metadata; tombstones have none.
pub fn meta_namespace_key_func<O: Object>(item: &Item<O>) -> Result<Key, String> {
    match item {
        Item::Object(object) => Ok(Key::join(object.namespace(), object.name())),
        Item::ExplicitKey(key) => Ok(Key::clone(key)),
        Item::Tombstone(_) | Item::Opaque(_) => Err(NO_META.into()),
    }
}

/// The key of a tombstone, else that of [`meta_namespace_key_func`].
///
/// # Errors
/// If the item has no metadata.
pub fn deletion_handling_meta_namespace_key_func<O: Object>(item: &Item<O>) -> Result<Key, String> {
    match item {
        Item::Tombstone(tombstone) => Ok(tombstone.key.clone()),
        _ => meta_namespace_key_func(item),
    }
}

/// Splits a key of [`meta_namespace_key_func`] into namespace (empty if there is none) and name.
///
/// # Errors
/// If the key has more than two parts.
pub fn split_meta_namespace_key(key: &str) -> Result<(&str, &str), String> {
    let mut parts = key.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => Ok(("", name)),
        (Some(namespace), Some(name), None) => Ok((namespace, name)),
        _ => Err(format!("unexpected key format: {}", Quoted(key))),
    }
}

/// The key under which a queue stores an item; a tombstone has its own.
pub(super) fn key_of<O>(key_func: &KeyFunc<O>, item: &Item<O>) -> Result<Key, String> {
    match item {
        Item::Tombstone(tombstone) => Ok(tombstone.key.clone()),
        _ => key_func(item),
    }
}

/// The error for an object whose key cannot be computed.
pub(super) fn key_error<O: Object>(item: &Item<O>, error: String) -> Error {
    Error::Key {
        object: item_text(item).into(),
        error: error.into(),
    }
}

/// An item as Go's `%+v` formats it, but with only the key of an object.
fn item_text<O: Object>(item: &Item<O>) -> String {
    match item {
        Item::Object(object) => Key::join(object.namespace(), object.name()).to_string(),
        Item::Tombstone(tombstone) => {
            let object = tombstone
                .object
                .as_ref()
                .map_or_else(|| "<nil>".into(), item_text);
            format!("{{Key:{} Obj:{object}}}", tombstone.key)
        }
        Item::ExplicitKey(key) => key.to_string(),
        Item::Opaque(text) => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::split_meta_namespace_key;

    #[test]
    fn splits_what_the_key_function_made() {
        assert_eq!(split_meta_namespace_key("a/b"), Ok(("a", "b")));
        assert_eq!(split_meta_namespace_key("b"), Ok(("", "b")));
        assert_eq!(split_meta_namespace_key(""), Ok(("", "")));
        assert_eq!(
            split_meta_namespace_key("a/b/c"),
            Err("unexpected key format: \"a/b/c\"".into())
        );
    }
}
