//! What a reflector asks of an API server, and what comes back.
//!
//! Upstream: [`listwatch.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/listwatch.go)
//! and the parts of apimachinery that it speaks in (`ListOptions`, `watch.Event`, `api/errors`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::object::Item;
use super::object::Rv;

/// The type of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
    /// `BOOKMARK`
    Bookmark,
    /// `ERROR`
    Error,
}

impl EventType {
    /// As on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// How a server has to read the version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceVersionMatch {
    /// Any version from this one on.
    NotOlderThan,
    /// This version and no other.
    Exact,
}

impl ResourceVersionMatch {
    /// As in a request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotOlderThan => "NotOlderThan",
            Self::Exact => "Exact",
        }
    }
}

/// A list, or one page of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// `"0"` for whatever is at hand, empty for the newest; always empty for a further page.
    pub resource_version: Rv,
    /// How to read it.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// The most objects of a page; 0 for no limit.
    pub limit: u32,
    /// Which page; empty for the first.
    pub continue_token: Arc<str>,
}

/// A watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// It begins after this version.
    pub resource_version: Rv,
    /// How to read it.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// Whether bookmarks are welcome.
    pub allow_watch_bookmarks: bool,
    /// A streaming list: what there is first, as `ADDED` events, then a bookmark, then changes.
    pub send_initial_events: Option<bool>,
    /// The server closes the stream then.
    pub timeout: Duration,
}

/// The answer to a [`ListRequest`].
#[derive(Debug)]
pub struct ListPage<O> {
    /// The version of the list.
    pub resource_version: Rv,
    /// The objects.
    pub items: Vec<Item<O>>,
    /// What to ask the next page with; empty when there is none.
    pub continue_token: Arc<str>,
    /// It is no list at all.
    pub table: Option<Table>,
}

/// What a server makes for printing, in the place of objects: nothing of it can be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// `meta.k8s.io/v1`
    V1,
    /// `meta.k8s.io/v1beta1`
    V1Beta1,
}

impl Table {
    /// Whether this is the type of one.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        match (api_version, kind) {
            ("meta.k8s.io/v1", "Table") => Some(Self::V1),
            ("meta.k8s.io/v1beta1", "Table") => Some(Self::V1Beta1),
            _ => None,
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "meta.k8s.io/v1, Kind=Table",
            Self::V1Beta1 => "meta.k8s.io/v1beta1, Kind=Table",
        })
    }
}

// Derived, these would ask for `O: Clone`.
impl<O> Clone for ListPage<O> {
    fn clone(&self) -> Self {
        Self {
            resource_version: Arc::clone(&self.resource_version),
            items: self.items.clone(),
            continue_token: Arc::clone(&self.continue_token),
            table: self.table,
        }
    }
}

/// What comes out of a watch.
#[derive(Debug)]
pub enum WatchItem<O> {
    /// `ADDED`, `MODIFIED` or `DELETED`.
    Event(EventType, Item<O>),
    /// `BOOKMARK`.
    Bookmark {
        /// The stream has come so far.
        resource_version: Rv,
        /// Whether the annotation [`INITIAL_EVENTS_END`] says that the initial events are over.
        initial_events_end: bool,
    },
    /// `ERROR`: the last event of a stream.
    Error(ApiError),
    /// The stream is over.
    Closed,
}

impl<O> Clone for WatchItem<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Event(event, item) => Self::Event(*event, item.clone()),
            Self::Bookmark {
                resource_version,
                initial_events_end,
            } => Self::Bookmark {
                resource_version: Arc::clone(resource_version),
                initial_events_end: *initial_events_end,
            },
            Self::Error(error) => Self::Error(error.clone()),
            Self::Closed => Self::Closed,
        }
    }
}

/// The annotation of the bookmark that ends the initial events of a streaming list; its value is
/// `"true"`.
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What class of error it is, as far as a reflector cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiErrorKind {
    /// 410 with the reason `Expired`: the version, or the token for the next page, is too old.
    Expired,
    /// 410 otherwise: what servers before 1.18 say.
    Gone,
    /// 504 because no server is as far as the version asked for.
    TooLarge,
    /// 429
    TooManyRequests,
    /// Nobody listens there.
    ConnectionRefused,
    /// 500
    InternalError,
    /// 504 otherwise.
    Timeout,
    /// 403
    Forbidden,
    /// 422
    Invalid,
    /// 401
    Unauthorized,
    /// 404
    NotFound,
    /// Whatever else.
    Other,
}

/// How a request failed, or what an `ERROR` event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Its class; decides what the reflector does.
    pub kind: ApiErrorKind,
    /// HTTP status; 0 when no server has answered.
    pub code: u16,
    /// The machine-readable reason; may be empty.
    pub reason: Arc<str>,
    /// For people.
    pub message: Arc<str>,
}

impl ApiError {
    /// An error of this class, with the class' usual code and reason.
    #[must_use]
    pub fn new(kind: ApiErrorKind, message: &str) -> Self {
        use ApiErrorKind as K;
        let (code, reason) = match kind {
            K::Expired => (410, "Expired"),
            K::Gone => (410, "Gone"),
            K::TooLarge | K::Timeout => (504, "Timeout"),
            K::TooManyRequests => (429, "TooManyRequests"),
            K::InternalError => (500, "InternalError"),
            K::Forbidden => (403, "Forbidden"),
            K::Invalid => (422, "Invalid"),
            K::Unauthorized => (401, "Unauthorized"),
            K::NotFound => (404, "NotFound"),
            K::ConnectionRefused | K::Other => (0, ""),
        };
        Self {
            kind,
            code,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// The error that a server's `Status` stands for.
    ///
    /// The reason decides; only where it is missing or not a known one, the code does (429 always
    /// counts). `causes` are the texts of `details.causes`, reasons and messages alike: one of them
    /// tells a version that is too large from any other timeout.
    #[must_use]
    pub fn from_status<'a>(
        code: u16,
        reason: &str,
        message: &str,
        causes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        use ApiErrorKind as K;
        let mut kind = match reason {
            "Expired" => K::Expired,
            "Gone" => K::Gone,
            "TooManyRequests" => K::TooManyRequests,
            "InternalError" => K::InternalError,
            "Timeout" => K::Timeout,
            "Forbidden" => K::Forbidden,
            "Invalid" => K::Invalid,
            "Unauthorized" => K::Unauthorized,
            "NotFound" => K::NotFound,
            _ if code == 429 => K::TooManyRequests,
            _ if KNOWN_REASONS.contains(&reason) => K::Other,
            _ => match code {
                410 => K::Gone,
                500 => K::InternalError,
                504 => K::Timeout,
                403 => K::Forbidden,
                422 => K::Invalid,
                401 => K::Unauthorized,
                404 => K::NotFound,
                _ => K::Other,
            },
        };
        // The cause counts in any error; its old text, and that of a message, in a timeout only.
        let mut too_large = kind == K::Timeout && message.contains(TOO_LARGE_MESSAGE);
        for cause in causes {
            too_large |= cause == TOO_LARGE_CAUSE;
            too_large |= kind == K::Timeout && cause == TOO_LARGE_MESSAGE;
        }
        if too_large {
            kind = K::TooLarge;
        }
        Self {
            kind,
            code,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// Whether the version asked for is too old.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        matches!(self.kind, ApiErrorKind::Expired | ApiErrorKind::Gone)
    }

    /// Whether no server is as far as the version asked for.
    #[must_use]
    pub fn is_too_large_resource_version(&self) -> bool {
        self.kind == ApiErrorKind::TooLarge
    }

    /// Whether another watch from the same version will do once the server is back.
    #[must_use]
    pub fn is_watch_error_retriable(&self) -> bool {
        matches!(
            self.kind,
            ApiErrorKind::ConnectionRefused | ApiErrorKind::TooManyRequests
        )
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// `details.causes[].reason` since Kubernetes 1.19.
pub const TOO_LARGE_CAUSE: &str = "ResourceVersionTooLarge";

/// What servers before that wrote into a cause or the message.
const TOO_LARGE_MESSAGE: &str = "Too large resource version";

/// Reasons that say enough: the code is not asked. Those with a kind of their own stand above.
const KNOWN_REASONS: [&str; 10] = [
    "AlreadyExists",
    "Conflict",
    "ServerTimeout",
    "StoreReadError",
    "BadRequest",
    "MethodNotAllowed",
    "NotAcceptable",
    "RequestEntityTooLarge",
    "UnsupportedMediaType",
    "ServiceUnavailable",
];

/// Lists and watches one kind of object; its calls block.
///
/// Upstream's take a context that ends them; an informer here that is stopped waits for the list or
/// the opening of a watch that is under way. Give requests a deadline.
pub trait ListerWatcher<O>: Send + Sync {
    /// An open watch.
    type Watch: Watcher<O>;

    /// Asks for a list, or for a page of it.
    ///
    /// # Errors
    /// The request's.
    fn list(&self, request: &ListRequest) -> Result<ListPage<O>, ApiError>;

    /// Opens a watch.
    ///
    /// # Errors
    /// The request's; what goes wrong later is a [`WatchItem::Error`].
    fn watch(&self, request: &WatchRequest) -> Result<Self::Watch, ApiError>;

    /// Whether this client cannot do streaming lists: without the bookmark that ends the initial
    /// events a reflector would wait for ever.
    fn is_watch_list_semantics_unsupported(&self) -> bool {
        false
    }
}

/// A lister-watcher out of two functions.
#[derive(Clone, Debug)]
pub struct ListWatch<L, W> {
    /// Asks for a list, or for a page of it.
    pub list_func: L,
    /// Opens a watch.
    pub watch_func: W,
    /// Whether `watch_func` cannot do streaming lists, as most that stand in for a server.
    pub watch_list_semantics_unsupported: bool,
}

impl<O, L, W, S> ListerWatcher<O> for ListWatch<L, W>
where
    L: Fn(&ListRequest) -> Result<ListPage<O>, ApiError> + Send + Sync,
    W: Fn(&WatchRequest) -> Result<S, ApiError> + Send + Sync,
    S: Watcher<O>,
{
    type Watch = S;

    fn list(&self, request: &ListRequest) -> Result<ListPage<O>, ApiError> {
        (self.list_func)(request)
    }

    fn watch(&self, request: &WatchRequest) -> Result<S, ApiError> {
        (self.watch_func)(request)
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        self.watch_list_semantics_unsupported
    }
}

/// An open watch.
pub trait Watcher<O>: Send {
    /// The next thing; blocks. After [`WatchItem::Closed`] nothing comes any more.
    fn next(&mut self) -> WatchItem<O>;

    /// What ends the watch, also while [`Watcher::next`] blocks in another thread.
    fn stopper(&self) -> Box<dyn Fn() + Send + Sync>;
}
