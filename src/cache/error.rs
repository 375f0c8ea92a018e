//! Errors, with client-go's texts.

use std::fmt;
use std::sync::Arc;

use super::key::Key;
use super::quote::Quoted;

/// An error of a store or a queue.
///
/// The texts are exactly those of client-go, except `<obj>` in a [`Error::Key`]: client-go prints
/// the whole Go struct there, this crate a short text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key function failed. Nothing was stored or queued: pass an object with metadata, or use
    /// another key function.
    Key {
        /// The object, as text.
        object: Arc<str>,
        /// The error of the key function.
        error: Arc<str>,
    },
    /// The queue is closed and empty: stop popping.
    FifoClosed,
    /// The process function returned this error. The popped item is lost unless the function asked
    /// for a requeue: log the error, or add the object again.
    Process(Arc<str>),
    /// The transformer failed. The object was not queued; a list was queued only up to it.
    Transform(Arc<str>),
    /// `Replace` failed at an object; earlier objects may be queued. List again.
    Enqueue(Box<Error>),
    /// `Resync` failed at an object; earlier objects are queued. The next resync tries again. The
    /// text is that of a DeltaFIFO; client-go's RealFIFO loses the cause and prints `couldn't queue
    /// object: %!w(<nil>)`.
    QueueObject(Box<Error>),
    /// A store's transformer failed; nothing was stored.
    StoreTransform(Arc<str>),
    /// No index has this name: add it with `add_indexers`, or correct the name.
    IndexNotFound(Arc<str>),
    /// Indices of these names already exist, so none of the new indexers was added. Use other
    /// names.
    IndexerConflict(Vec<Arc<str>>),
    /// client-go 0.24 accepts indexers only for an empty store: add them before the first object.
    IndexerRunning,
    /// The index function failed for the object of a query; nothing was changed.
    IndexFunc(Arc<str>),
    /// The index function failed in a write, where client-go panics. The object is stored (or, in a
    /// delete, still stored), but missing in the index: fix the index function, then replace the
    /// content.
    IndexWrite {
        /// The object's key.
        key: Key,
        /// The index's name.
        index: Arc<str>,
        /// The error of the index function.
        error: Arc<str>,
    },
    /// Some entries of a transaction have no key; the others were applied.
    Transaction(TransactionError),
    /// `AddIfNotPresent` of a DeltaFIFO accepts only deltas that Pop returned.
    NotDeltas(Arc<str>),
    /// A handler of this name was added after the informer had stopped, which is final: create a
    /// new informer.
    HandlerNotAdded(Arc<str>),
    /// Indexers were added after the informer had stopped, which is final: create a new informer.
    IndexerNotAdded,
    /// This can only be set before the informer starts.
    InformerStarted,
    /// The informer was already started, and an informer runs only once: create a new one.
    /// client-go logs this text as a warning and returns.
    InformerRunTwice,
}

/// The failed entries of a transaction.
///
/// Upstream: `TransactionError` in
/// [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionError {
    /// The positions of the entries that were applied.
    pub successful_indices: Vec<usize>,
    /// Number of entries.
    pub total_transactions: usize,
    /// The errors of the failed entries, in order.
    pub errors: Vec<Error>,
}

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// [`Error::Key`]
    KeyError,
    /// [`Error::FifoClosed`]
    ErrFifoClosed,
    /// [`Error::Process`]
    ProcessError,
    /// [`Error::Transform`] and [`Error::StoreTransform`]
    TransformError,
    /// [`Error::IndexNotFound`]
    IndexNotFound,
    /// [`Error::IndexerConflict`]
    IndexerConflict,
    /// [`Error::IndexerRunning`]
    IndexerRunning,
    /// [`Error::IndexFunc`]
    IndexFuncError,
    /// [`Error::IndexWrite`]: client-go panics.
    IndexWriteError,
    /// [`Error::Transaction`]
    TransactionError,
    /// [`Error::NotDeltas`]
    NotDeltas,
    /// [`Error::HandlerNotAdded`] and [`Error::IndexerNotAdded`]
    Stopped,
    /// [`Error::InformerStarted`] and [`Error::InformerRunTwice`]
    Started,
}

impl ErrorKind {
    /// The name, as in the recorded scenarios.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeyError => "KeyError",
            Self::ErrFifoClosed => "ErrFIFOClosed",
            Self::ProcessError => "ProcessError",
            Self::TransformError => "TransformError",
            Self::IndexNotFound => "IndexNotFound",
            Self::IndexerConflict => "IndexerConflict",
            Self::IndexerRunning => "IndexerRunning",
            Self::IndexFuncError => "IndexFuncError",
            Self::IndexWriteError => "IndexWriteError",
            Self::TransactionError => "TransactionError",
            Self::NotDeltas => "NotDeltas",
            Self::Stopped => "Stopped",
            Self::Started => "Started",
        }
    }
}

impl Error {
    /// The class; for a wrapped error, that of the inner error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Key { .. } => ErrorKind::KeyError,
            Self::FifoClosed => ErrorKind::ErrFifoClosed,
            Self::Process(_) => ErrorKind::ProcessError,
            Self::Transform(_) | Self::StoreTransform(_) => ErrorKind::TransformError,
            Self::Enqueue(inner) | Self::QueueObject(inner) => inner.kind(),
            Self::IndexNotFound(_) => ErrorKind::IndexNotFound,
            Self::IndexerConflict(_) => ErrorKind::IndexerConflict,
            Self::IndexerRunning => ErrorKind::IndexerRunning,
            Self::IndexFunc(_) => ErrorKind::IndexFuncError,
            Self::IndexWrite { .. } => ErrorKind::IndexWriteError,
            Self::Transaction(_) => ErrorKind::TransactionError,
            Self::NotDeltas(_) => ErrorKind::NotDeltas,
            Self::HandlerNotAdded(_) | Self::IndexerNotAdded => ErrorKind::Stopped,
            Self::InformerStarted | Self::InformerRunTwice => ErrorKind::Started,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { object, error } => {
                write!(f, "couldn't create key for object {object}: {error}")
            }
            Self::FifoClosed => f.write_str("DeltaFIFO: manipulating with closed queue"),
            Self::Process(error) | Self::Transform(error) | Self::IndexFunc(error) => {
                f.write_str(error)
            }
            Self::Enqueue(inner) => write!(f, "couldn't enqueue object: {inner}"),
            Self::QueueObject(inner) => write!(f, "couldn't queue object: {inner}"),
            Self::StoreTransform(error) => write!(f, "transforming: {error}"),
            Self::IndexNotFound(name) => write!(f, "Index with name {name} does not exist"),
            Self::IndexerConflict(names) => {
                f.write_str("indexer conflict: map[")?;
                for (position, name) in names.iter().enumerate() {
                    let space = if position == 0 { "" } else { " " };
                    write!(f, "{space}{name}:{{}}")?;
                }
                f.write_str("]")
            }
            Self::IndexerRunning => f.write_str("cannot add indexers to running index"),
            Self::IndexWrite { key, index, error } => write!(
                f,
                "unable to calculate an index entry for key {} on index {}: {error}",
                Quoted(key.as_str()),
                Quoted(index)
            ),
            Self::Transaction(error) => error.fmt(f),
            Self::NotDeltas(got) => write!(f, "object must be of type deltas, but got: {got}"),
            Self::HandlerNotAdded(name) => {
                // A handler may have no name.
                let space = if name.is_empty() { "" } else { " " };
                write!(
                    f,
                    "handler{space}{name} was not added to shared informer because it has stopped already"
                )
            }
            Self::IndexerNotAdded => {
                f.write_str("indexer was not added because it has stopped already")
            }
            Self::InformerStarted => f.write_str("informer has already started"),
            Self::InformerRunTwice => f.write_str(
                "the sharedIndexInformer has started, run more than once is not allowed",
            ),
        }
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "failed to execute ({}/{}) transactions failed due to: [",
            self.errors.len(),
            self.total_transactions
        )?;
        for (position, error) in self.errors.iter().enumerate() {
            let space = if position == 0 { "" } else { " " };
            write!(f, "{space}{error}")?;
        }
        f.write_str("]")
    }
}

impl std::error::Error for Error {}
impl std::error::Error for TransactionError {}
