//! Where a program is that lists and watches without a reflector.

use crate::{Time, Wait};

use super::ReflectorState;

/// A program that lists and watches without a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Client {
    /// The list request is next.
    #[default]
    List,
    /// The list is answered at this virtual time.
    Listing(Time),
    /// The watch request is next.
    Watch,
    /// The watch is answered at this virtual time.
    Opening(Time),
    /// The watch is open.
    Watching,
}

impl Client {
    /// The state of a reflector in the program's place.
    pub(super) fn state(self) -> ReflectorState {
        match self {
            Self::List => ReflectorState::Idle,
            Self::Listing(_) | Self::Watch => ReflectorState::List,
            Self::Opening(_) | Self::Watching => ReflectorState::Watch,
        }
    }

    pub(super) fn waits(self, arrival: Option<Time>) -> Wait {
        match self {
            Self::List | Self::Watch => Wait::Ready,
            Self::Listing(at) | Self::Opening(at) => Wait::Until(at),
            Self::Watching => arrival.map_or(Wait::External, Wait::Until),
        }
    }
}
