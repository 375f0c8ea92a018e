//! What the user can ask for.

use std::sync::Arc;

use crate::cache::key::Key;
use crate::replay::picture::ProcessMode;

/// What a button, a key or the scripting interface asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Play or pause.
    TogglePlay,
    /// Go so many facts on (or back, when negative).
    Step(i64),
    /// Go to the state after so many facts.
    Seek(usize),
    /// Go to the next marker, or to the end.
    NextMarker,
    /// Go to the marker before, or to the start.
    PreviousMarker,
    /// Start over, dropping everything the user did.
    Reset,
    /// Speed in percent.
    Speed(u32),
    /// Open a lesson by its id.
    Load(Arc<str>),
    /// Open dropped files: name and bytes.
    Open(Vec<(String, Vec<u8>)>),
    /// Create an object on the server.
    Create(Draft),
    /// Change an object on the server.
    Edit(Draft),
    /// Delete an object on the server.
    Delete(Key),
    /// Cut the watch.
    CutWatch,
    /// Forget the history of the server, so that the next watch from an old version gets 410.
    Compact,
    /// Pop once (held).
    PopOne,
    /// How the process loop runs.
    Mode(ProcessMode),
    /// With or without KnownObjects.
    KnownObjects(bool),
    /// Take the error away.
    DismissError,
}

/// What a form holds: a small pod.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Draft {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// Label `app`.
    pub app: String,
    /// `spec.nodeName`
    pub node: String,
    /// `status.phase`
    pub phase: String,
}
