//! Facts of the store and its indices.

use std::sync::Arc;

use super::{ObjectRef, Rv, facts};
use crate::key::Key;

facts! {
    /// Facts of the store and its indices.
    pub enum StoreFact {
        "Indexer":
        /// An object was stored.
        ItemStored {
            /// The stored object.
            object: ObjectRef,
            /// The object that it replaced, if any.
            old: Option<ObjectRef>,
        },
        /// An object was removed.
        ItemRemoved {
            /// The object's key.
            key: Key,
            /// The removed object, if there was one.
            old: Option<ObjectRef>,
        },
        /// The whole content was replaced; stored objects that are not in the new content were
        /// removed.
        StoreReplaced {
            /// The new content.
            items: Arc<[ObjectRef]>,
        },
        /// A key left the set under an indexed value.
        IndexEntryRemoved {
            /// The index's name.
            index: Arc<str>,
            /// The indexed value.
            value: Arc<str>,
            /// The key.
            key: Key,
            /// Whether this was the value's last key, so that the value was removed too.
            emptied: bool,
        },
        /// A key entered the set under an indexed value.
        IndexEntryAdded {
            /// The index's name.
            index: Arc<str>,
            /// The indexed value.
            value: Arc<str>,
            /// The key.
            key: Key,
        },
        /// An index function failed. The object is stored, but missing in the index.
        IndexFailed {
            /// The index's name.
            index: Arc<str>,
            /// The key.
            key: Key,
            /// The error's text.
            error: Arc<str>,
        },
        /// Indices were added.
        IndexersAdded {
            /// The names of the new indices.
            names: Vec<Arc<str>>,
        },
        /// All indices were cleared before they are rebuilt.
        IndicesReset,
        /// The store's resource version changed.
        StoreVersionMoved {
            /// The previous version.
            from: Rv,
            /// The new version.
            to: Rv,
        },
    }
}
