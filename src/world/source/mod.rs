//! The sources that a reflector can list and watch.

mod answer;
mod entry;
mod response;

pub mod any;
pub mod known;
pub mod live;
pub mod pod;
pub mod program;
pub mod proxy;
pub mod recorded;
pub mod scenario;
pub mod simulator;
pub mod stream;
pub mod visible;
pub mod wire;
pub mod workload;
pub mod write;

pub use answer::{item_of, key_of, reference};

use std::sync::Arc;

use deltascope_cache::fact::Request;
use deltascope_cache::lister_watcher::ApiErrorKind;

/// A command to a source.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "commands are made one at a time and not kept in numbers"
)]
pub enum Command {
    /// Write an object.
    Write(pod::Write),
    /// Break the connection of the watch: events in flight are lost, and the network stays down for a while.
    Cut,
    /// Forget the history, so that a watch from an old version gets 410.
    Compact,
    /// Close the watch cleanly, as an API server does when its timeout is over.
    Close,
    /// Send a bookmark.
    Bookmark,
    /// End the watch with an `ERROR` event of this HTTP status.
    ErrorEvent(u16),
    /// Refuse the next requests; with `times` 0, withdraw the refusals that are still pending.
    Refuse(Refusals),
    /// Responses of a real cluster, all at the same time.
    Respond(Arc<[live::ServerResponse]>),
}

/// Requests that a simulated server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// Which requests are refused.
    pub request: Request,
    /// The error.
    pub kind: ApiErrorKind,
    /// How many requests are refused.
    pub times: u32,
}
