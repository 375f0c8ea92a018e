//! Key functions: from an object to the key it is stored under.
//!
//! Upstream: [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go)
//! and, for the deletion handling one,
//! [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::sync::Arc;

use super::error::Error;
use super::key::Key;
use super::object::{Item, Object};
use super::quote::Quoted;

/// Makes the key of an object, or says why there is none.
pub type KeyFunc<O> = Arc<dyn Fn(&Item<O>) -> Result<Key, String> + Send + Sync>;

/// The text of the error for something without metadata.
const NO_META: &str = "object has no meta: object does not implement the Object interfaces";

/// `namespace/name`, or `name` alone without a namespace; an explicit key is its own key.
///
/// # Errors
/// For what has no metadata, tombstones among it.
pub fn meta_namespace_key_func<O: Object>(item: &Item<O>) -> Result<Key, String> {
    match item {
        Item::Object(object) => Ok(Key::join(object.namespace(), object.name())),
        Item::ExplicitKey(key) => Ok(key.clone()),
        Item::Tombstone(_) | Item::Opaque(_) => Err(NO_META.into()),
    }
}

/// The key of a tombstone, else that of [`meta_namespace_key_func`].
///
/// # Errors
/// For what has no metadata.
pub fn deletion_handling_meta_namespace_key_func<O: Object>(item: &Item<O>) -> Result<Key, String> {
    match item {
        Item::Tombstone(tombstone) => Ok(tombstone.key.clone()),
        _ => meta_namespace_key_func(item),
    }
}

/// Takes a key of [`meta_namespace_key_func`] apart: namespace (empty without one) and name.
///
/// # Errors
/// When the key has more than two parts.
pub fn split_meta_namespace_key(key: &str) -> Result<(&str, &str), String> {
    let mut parts = key.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => Ok(("", name)),
        (Some(namespace), Some(name), None) => Ok((namespace, name)),
        _ => Err(format!("unexpected key format: {}", Quoted(key))),
    }
}

/// The key for a queue: that of the tombstone, where it is one.
pub(super) fn key_of<O>(key_func: &KeyFunc<O>, item: &Item<O>) -> Result<Key, Error>
where
    O: Object,
{
    match item {
        Item::Tombstone(tombstone) => Ok(tombstone.key.clone()),
        _ => key_func(item).map_err(|error| key_error(item, error)),
    }
}

/// The error for an object without a key.
pub(super) fn key_error<O: Object>(item: &Item<O>, error: String) -> Error {
    Error::Key {
        object: item_text(item).into(),
        error: error.into(),
    }
}

/// An item as Go's `%+v` has it, but short for an object.
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
