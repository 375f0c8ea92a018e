//! Where list and watch come from.

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

use std::sync::Arc;

use deltascope_cache::lister_watcher::ApiErrorKind;

/// What the outside can tell a source.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "commands are made one at a time and not kept in numbers"
)]
pub enum Command {
    /// Write an object.
    Write(pod::Write),
    /// Break the connection of the watch; what is on its way is lost, and the network stays down for a
    /// moment.
    Cut,
    /// Forget the history, so that a watch from an old version gets 410.
    Compact,
    /// Close the watch in good order, as a server does when its time is up.
    Close,
    /// Send a bookmark.
    Bookmark,
    /// End the watch with an `ERROR` event of this HTTP status.
    ErrorEvent(u16),
    /// Refuse the next requests; no times: take back what was asked for and has not come yet.
    Refuse(Refusals),
    /// What a real cluster has answered, all at once.
    Tell(Arc<[live::ServerResponse]>),
}

/// Requests that a simulated server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// Watches (streaming lists are), else lists.
    pub watch: bool,
    /// What it says.
    pub kind: ApiErrorKind,
    /// How many of them.
    pub times: u32,
}
