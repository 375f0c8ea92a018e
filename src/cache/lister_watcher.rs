//! The requests of a reflector to an API server, and the responses.
//!
//! Upstream:
//! [`listwatch.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/listwatch.go)
//! and the types of apimachinery that it uses (`ListOptions`, `watch.Event`, `api/errors`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

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
    /// The type as text in a watch response.
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

/// How a server interprets the version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceVersionMatch {
    /// This version or any newer one.
    NotOlderThan,
    /// Exactly this version.
    Exact,
}

impl ResourceVersionMatch {
    /// The value as text in a request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotOlderThan => "NotOlderThan",
            Self::Exact => "Exact",
        }
    }
}

/// A request for a list, or for one page of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// `"0"` for any version, empty for the newest; always empty for a further page.
    pub resource_version: Rv,
    /// How to interpret the version.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// Maximum number of objects per page; 0 for no limit.
    pub limit: u32,
    /// The continue token of the page; empty for the first one.
    pub continue_token: Arc<str>,
}

/// A request for a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// The watch starts after this version.
    pub resource_version: Rv,
    /// How to interpret the version.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// Whether the server may send bookmarks.
    pub allow_watch_bookmarks: bool,
    /// Requests a streaming list: first the existing objects as `ADDED` events, then a bookmark,
    /// then changes.
    pub send_initial_events: Option<bool>,
    /// The server closes the stream after this time.
    pub timeout: Duration,
}

/// The answer to a [`ListRequest`].
#[derive(Debug)]
#[derive_where(Clone)]
pub struct ListPage<O> {
    /// The version of the list.
    pub resource_version: Rv,
    /// The objects.
    pub items: Vec<Item<O>>,
    /// The token for the next page; empty if there is none.
    pub continue_token: Arc<str>,
    /// Set if the response is a table instead of a list.
    pub table: Option<Table>,
}

impl<O> ListPage<O> {
    /// A list in one page.
    pub fn new(resource_version: impl Into<Rv>, items: Vec<Item<O>>) -> Self {
        Self {
            resource_version: resource_version.into(),
            items,
            continue_token: Arc::default(),
            table: None,
        }
    }
}

/// A server's response for printing, without objects that could be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// `meta.k8s.io/v1`
    V1,
    /// `meta.k8s.io/v1beta1`
    V1Beta1,
}

impl Table {
    /// The table version of this type, if it is a table.
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

/// An item of a watch stream.
#[derive(Debug)]
#[derive_where(Clone)]
pub enum WatchItem<O> {
    /// `ADDED`, `MODIFIED` or `DELETED`.
    Event(EventType, Item<O>),
    /// `BOOKMARK`.
    Bookmark {
        /// The version that the stream has reached.
        resource_version: Rv,
        /// Whether the annotation [`INITIAL_EVENTS_END`] marks the end of the initial events.
        initial_events_end: bool,
    },
    /// `ERROR`: the last event of a stream.
    Error(ApiError),
    /// The stream has ended.
    Closed,
}

impl<O> WatchItem<O> {
    /// Whether the stream ends with it.
    #[must_use]
    pub fn ends_the_watch(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Closed)
    }
}

/// The annotation of the bookmark that ends the initial events of a streaming list. Its value is
/// `"true"`.
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The classes of API errors that a reflector distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiErrorKind {
    /// 410 with the reason `Expired`: the version or the continue token is too old.
    Expired,
    /// 410 with another reason, as sent by servers before 1.18.
    Gone,
    /// 504 because the requested version is too new for the server.
    TooLarge,
    /// 429
    TooManyRequests,
    /// The connection was refused.
    ConnectionRefused,
    /// 500
    InternalError,
    /// 504 for another reason.
    Timeout,
    /// 403
    Forbidden,
    /// 422
    Invalid,
    /// 401
    Unauthorized,
    /// 404
    NotFound,
    /// Any other error.
    Other,
}

/// The error of a request, or of an `ERROR` event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The class, which determines the reflector's reaction.
    pub kind: ApiErrorKind,
    /// HTTP status; 0 if no server responded.
    pub code: u16,
    /// The machine-readable reason; may be empty.
    pub reason: Arc<str>,
    /// The human-readable message.
    pub message: Arc<str>,
}

impl ApiError {
    /// An error of this class, with its usual code and reason.
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

    /// The error for a server's `Status`.
    ///
    /// The reason decides. The code decides only if the reason is missing or unknown (except 429,
    /// which always counts). `causes` are the texts of `details.causes`, both reasons and messages:
    /// one of them distinguishes a version that is too large from other timeouts.
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
        // The cause counts in any error. Its old text, and the same text in the message, counts
        // only in a timeout.
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

    /// Whether the requested version has expired.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        matches!(self.kind, ApiErrorKind::Expired | ApiErrorKind::Gone)
    }

    /// Whether the requested version is too new for the server.
    #[must_use]
    pub fn is_too_large_resource_version(&self) -> bool {
        self.kind == ApiErrorKind::TooLarge
    }

    /// Whether to retry the watch from the same version once the server is back.
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

/// The text that older servers put into a cause or the message.
const TOO_LARGE_MESSAGE: &str = "Too large resource version";

/// Reasons that decide without the code. Those with a kind of their own are handled above.
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

/// Lists and watches one kind of object. Its calls block.
///
/// client-go's methods take a context that cancels them. Here, a stopped informer waits for a list
/// request or the opening of a watch in progress, so give requests a deadline.
pub trait ListerWatcher<O>: Send + Sync {
    /// An open watch.
    type Watch: Watcher<O>;

    /// Requests a list, or a page of it.
    ///
    /// # Errors
    /// Those of the request.
    fn list(&self, request: &ListRequest) -> Result<ListPage<O>, ApiError>;

    /// Opens a watch.
    ///
    /// # Errors
    /// Those of the request; later errors are a [`WatchItem::Error`].
    fn watch(&self, request: &WatchRequest) -> Result<Self::Watch, ApiError>;

    /// Whether this client does not support streaming lists: a reflector would wait for ever for
    /// the bookmark that ends the initial events.
    fn is_watch_list_semantics_unsupported(&self) -> bool {
        false
    }
}

/// A lister-watcher made of two functions.
#[derive(Clone, Debug)]
pub struct ListWatch<L, W> {
    /// Requests a list, or a page of it.
    pub list_func: L,
    /// Opens a watch.
    pub watch_func: W,
    /// Whether `watch_func` does not support streaming lists, like most replacements of a server.
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
    /// The next item; blocks. Nothing follows [`WatchItem::Closed`].
    fn next(&mut self) -> WatchItem<O>;

    /// A function that ends the watch, even while [`Watcher::next`] blocks in another thread.
    fn stopper(&self) -> Box<dyn Fn() + Send + Sync>;
}
