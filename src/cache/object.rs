//! Cached objects: [`Object`], and the [`Item`]s that client-go passes as `interface{}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use derive_where::derive_where;
use kube_core::Resource;

use super::key::Key;

/// A resource version: an opaque string.
pub type Rv = Arc<str>;

/// The variant of an [`Item`], as recorded in facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// An object.
    Object,
    /// A `DeletedFinalStateUnknown` that holds an object.
    Tombstone,
    /// A `DeletedFinalStateUnknown` without an object.
    EmptyTombstone,
    /// An `ExplicitKey`.
    ExplicitKey,
    /// Something without metadata.
    Opaque,
}

/// The object that a fact is about: its key and its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The key.
    pub key: Key,
    /// Object, tombstone or other variant of [`Item`].
    pub shape: Shape,
    /// The resource version; empty when there is none.
    pub rv: Rv,
    /// The UID; empty when there is none.
    pub uid: Arc<str>,
}

impl ObjectRef {
    /// Of a bookmark or an error, which has no object.
    #[must_use]
    pub fn bare(rv: Rv) -> Self {
        Self {
            key: Key::from(""),
            shape: Shape::Object,
            rv,
            uid: Arc::default(),
        }
    }
}

/// Something with Kubernetes metadata.
///
/// Every type that implements kube-core's [`Resource`] is an `Object`: `DynamicObject`,
/// `PartialObjectMeta` and the types of k8s-openapi. Other types can implement it by hand.
///
/// Upstream: `meta.Accessor`, used by
/// [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go).
pub trait Object {
    /// The namespace; empty for a cluster-scoped object.
    fn namespace(&self) -> &str;
    /// The name.
    fn name(&self) -> &str;
    /// The UID; empty when the server has not set one.
    fn uid(&self) -> &str;
    /// The resource version, opaque; empty when there is none.
    fn resource_version(&self) -> &str;
    /// The labels.
    fn labels(&self) -> &BTreeMap<String, String>;
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();

impl<K: Resource> Object for K {
    fn namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }

    fn resource_version(&self) -> &str {
        self.meta().resource_version.as_deref().unwrap_or_default()
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        self.meta().labels.as_ref().unwrap_or(&NO_LABELS)
    }
}

/// An input of a store or queue: an object, or one of the unusual values that client-go accepts
/// because its parameter is `interface{}`. The rare variants are boxed: an object is what stores and
/// queues hold, and takes no more room in them than Go's `interface{}`.
#[derive(Debug)]
#[derive_where(Clone)]
pub enum Item<O> {
    /// An object; shared, never cloned by the cache.
    Object(Arc<O>),
    /// The last known state of an object whose deletion was missed.
    Tombstone(Arc<DeletedFinalStateUnknown<O>>),
    /// A key instead of an object.
    ExplicitKey(Box<Key>),
    /// A value without metadata, represented by its text: behind one thin pointer, as a key is.
    /// No key can be computed for it.
    Opaque(Box<Key>),
}

/// Queued when an object was deleted but the watch missed the deletion. The object, if there is
/// one, may be stale.
///
/// Upstream: `DeletedFinalStateUnknown` in
/// [`delta_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/delta_fifo.go).
#[derive(Debug)]
pub struct DeletedFinalStateUnknown<O> {
    /// The key that the object was stored under.
    pub key: Key,
    /// The last observed state, if any.
    pub object: Option<Item<O>>,
}

impl<O> Item<O> {
    /// Wraps an object.
    pub fn object(object: O) -> Self {
        Self::Object(Arc::new(object))
    }

    /// The object, also if it is inside a tombstone.
    #[must_use]
    pub fn as_object(&self) -> Option<&Arc<O>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Tombstone(tombstone) => tombstone.object.as_ref().and_then(Item::as_object),
            Self::ExplicitKey(_) | Self::Opaque(_) => None,
        }
    }

    /// The object, if the item is an object and not a tombstone: the only variant with metadata of
    /// its own.
    #[must_use]
    pub fn plain_object(&self) -> Option<&Arc<O>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether both share the same allocation (for keys and opaque values: are equal).
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(a), Self::Object(b)) => Arc::ptr_eq(a, b),
            (Self::Tombstone(a), Self::Tombstone(b)) => Arc::ptr_eq(a, b),
            (Self::ExplicitKey(a), Self::ExplicitKey(b)) => a == b,
            (Self::Opaque(a), Self::Opaque(b)) => a == b,
            _ => false,
        }
    }

    /// Whether this is a tombstone.
    #[must_use]
    pub fn is_tombstone(&self) -> bool {
        matches!(self, Self::Tombstone(_))
    }
}

impl<O: Object> Item<O> {
    /// How a fact refers to this item; `key` is the key under which it is stored or queued.
    #[must_use]
    pub fn to_ref(&self, key: &Key) -> ObjectRef {
        let shape = match self {
            Self::Object(_) => Shape::Object,
            Self::Tombstone(tombstone) if tombstone.object.is_some() => Shape::Tombstone,
            Self::Tombstone(_) => Shape::EmptyTombstone,
            Self::ExplicitKey(_) => Shape::ExplicitKey,
            Self::Opaque(_) => Shape::Opaque,
        };
        let (rv, uid) = match self.as_object() {
            Some(object) => (object.resource_version(), object.uid()),
            None => ("", ""),
        };
        ObjectRef {
            key: key.clone(),
            shape,
            rv: rv.into(),
            uid: uid.into(),
        }
    }
}
