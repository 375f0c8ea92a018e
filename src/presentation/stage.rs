//! The rooms of the stage and their fixed parts, each with its name in anchors.

use deltascope_world::named;

named! {
    /// A room, in the order of the data's path. Test ids and classes use its name, too.
    pub enum Panel {
        /// The source of the run: the API server, or a recording, a cluster or a program in its place.
        Api = "api",
        /// The reflector.
        Reflector = "reflector",
        /// The queue.
        Queue = "queue",
        /// Pop and process.
        Pop = "pop",
        /// The store and its indices.
        Indexer = "indexer",
        /// The pseudo-code and the lanes.
        Now = "now",
        /// The handlers.
        Processor = "processor",
    }
}

/// How wide a room is at the least.
struct Least {
    /// In an element beside others, in px.
    element: i32,
    /// In front of a class, in rem.
    class: i32,
    /// Drawn with all rooms, and with some.
    drawn: [i32; 2],
}

impl Panel {
    /// Whether it is wide, and below those of the data's path.
    #[must_use]
    pub fn is_below(self) -> bool {
        matches!(self, Self::Now | Self::Processor)
    }

    fn least(self) -> Least {
        let (element, class, drawn) = match self {
            Self::Api => (190, 11, [196, 176]),
            Self::Reflector => (140, 10, [152, 160]),
            Self::Queue => (180, 11, [244, 176]),
            Self::Pop => (130, 9, [140, 136]),
            Self::Indexer => (220, 13, [224, 200]),
            Self::Now | Self::Processor => (320, 14, [340, 288]),
        };
        Least {
            element,
            class,
            drawn,
        }
    }

    /// Its least width in a picture, of all rooms or of a `few`.
    pub(crate) fn least_drawn(self, few: bool) -> i32 {
        self.least().drawn[usize::from(few)]
    }
}

/// The least width of an element, in px, that shows all its rooms at once; in a narrower one they are shown one at a
/// time. `rooms`: those that are chosen; empty: all.
#[must_use]
pub fn least_width(rooms: &[Panel]) -> i32 {
    if rooms.is_empty() {
        return 900;
    }
    let row = |below| {
        let row = rooms.iter().filter(|room| room.is_below() == below);
        row.map(|room| room.least().element).sum::<i32>()
    };
    row(false).max(row(true)) + rooms.len() as i32 * 14 + 16
}

/// Whether these rooms need two rows in front of a class, where the screen is 50 rem wide: those of the data's path, and
/// below them where it leads to.
#[must_use]
pub fn has_two_rows(rooms: &[Panel]) -> bool {
    rooms.iter().map(|room| room.least().class).sum::<i32>() > 48
}

named! {
    /// A state of the reflector, as its room shows it.
    pub enum StateName {
        /// The first list.
        List = "list",
        /// A streaming list.
        Stream = "stream",
        /// The watch.
        Watch = "watch",
        /// A list after the first.
        Relist = "relist",
        /// The wait before the next attempt.
        Backoff = "backoff",
        /// The reflector has stopped.
        Stopped = "stopped",
    }
}

impl StateName {
    /// The label of the state.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::List => "LIST",
            Self::Stream => "STREAM",
            Self::Watch => "WATCH",
            Self::Relist => "RELIST",
            Self::Backoff => "BACKOFF",
            Self::Stopped => "STOPPED",
        }
    }
}

named! {
    /// A part of the workqueue.
    pub enum WorkPart {
        /// The keys that wait, in order.
        Queue = "queue",
        /// The keys that need to be processed.
        Dirty = "dirty",
        /// The keys that workers process, each with its worker.
        Processing = "processing",
        /// The keys that will be added later.
        Delayed = "delayed",
        /// The keys that failed before.
        Failures = "failures",
    }
}

/// The connection from the API server to the reflector.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pipe {
    /// Its state.
    pub state: PipeState,
    /// The HTTP status with which the server ended it; 0 without one.
    pub code: u16,
    /// What is left of the backoff, in ms, …
    pub left_ms: u64,
    /// … and in percent.
    pub left: u64,
}

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PipeState {
    /// There is none, and none is wanted.
    #[default]
    None,
    /// A list or a watch was requested.
    Asked,
    /// Events can come.
    Open,
    /// It has ended.
    Ended,
    /// It has ended, and the reflector waits before it asks again.
    Waiting,
}

/// A piece of a board, in the order of drawing. Where the page must not be blocked, the pieces are drawn one by
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The frame of the others.
    Board,
    /// A room.
    Panel(Panel),
    /// The line that states the current fact.
    Strip,
    /// The buttons and the timeline.
    Transport,
    /// The header.
    Header,
    /// What is shown over the board, if there is anything.
    Over,
}

const AFTER_ROOMS: u8 = 1 + Panel::ALL.len() as u8;

/// How many pieces there are.
pub const PIECES: u8 = AFTER_ROOMS + 4;

impl Piece {
    /// How many pieces come before it.
    #[must_use]
    pub fn place(self) -> u8 {
        match self {
            Self::Board => 0,
            Self::Panel(room) => 1 + room as u8,
            Self::Strip => AFTER_ROOMS,
            Self::Transport => AFTER_ROOMS + 1,
            Self::Header => AFTER_ROOMS + 2,
            Self::Over => AFTER_ROOMS + 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_a_board_has_its_own_place() {
        let rooms = Panel::ALL.map(Piece::Panel);
        let mut places = vec![Piece::Board.place()];
        places.extend(rooms.map(Piece::place));
        let rest = [Piece::Strip, Piece::Transport, Piece::Header, Piece::Over];
        places.extend(rest.map(Piece::place));
        assert!(places.iter().copied().eq(0..PIECES), "{places:?}");
    }
}
