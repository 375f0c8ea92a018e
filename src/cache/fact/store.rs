//! What happens to the store and its indices.

use std::sync::Arc;

use super::{ObjectRef, Rv, facts};
use crate::key::Key;

facts! {
    /// What happens to the store and its indices.
    pub enum StoreFact {
        /// An object was stored.
        ItemStored {
            /// It.
            object: ObjectRef,
            /// What was there before.
            old: Option<ObjectRef>,
        },
        /// An object was removed.
        ItemRemoved {
            /// The key.
            key: Key,
            /// What was there.
            old: Option<ObjectRef>,
        },
        /// The content was replaced as a whole; what the new one lacks has been removed.
        StoreReplaced {
            /// The new content.
            items: Vec<ObjectRef>,
        },
        /// A key left the set under an indexed value.
        IndexEntryRemoved {
            /// The index.
            index: Arc<str>,
            /// The indexed value.
            value: Arc<str>,
            /// The key.
            key: Key,
            /// Whether the value went with its last key.
            emptied: bool,
        },
        /// A key entered the set under an indexed value.
        IndexEntryAdded {
            /// The index.
            index: Arc<str>,
            /// The indexed value.
            value: Arc<str>,
            /// The key.
            key: Key,
        },
        /// An index function failed; the object is stored, the index lacks it.
        IndexFailed {
            /// The index.
            index: Arc<str>,
            /// The key.
            key: Key,
            /// The error's text.
            error: Arc<str>,
        },
        /// Indices were added.
        IndexersAdded {
            /// Their names.
            names: Vec<Arc<str>>,
        },
        /// All indices were emptied before they are filled again.
        IndicesReset,
        /// The store's resource version was set.
        StoreVersionMoved {
            /// Before.
            from: Rv,
            /// Now.
            to: Rv,
        },
    }
}
