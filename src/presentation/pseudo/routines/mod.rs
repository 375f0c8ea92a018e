//! The routines, with their lines. A line names its steps and the routines that it calls.

use deltascope_cache::step::Step;

mod handlers;
mod processing;
mod queues;
mod reflector;
mod run;
mod server;
mod workqueue;

#[cfg(test)]
pub(super) mod tests;

/// One routine.
pub(super) struct Routine {
    pub(super) title: Title,
    pub(super) lines: &'static [Line],
    /// The first and the last line of a block that does not run strictly downwards, such as a loop's body.
    pub(super) unordered: Option<(usize, usize)>,
}

/// The name of a routine.
#[derive(Clone, Copy)]
pub(super) enum Title {
    Of(&'static str),
    /// A method of the picture's queue.
    OfQueue(&'static str),
}

/// One line of a routine.
pub(super) struct Line {
    pub(super) text: &'static str,
    /// The steps that the line stands for.
    pub(super) steps: &'static [Step],
    /// The routines that the line calls.
    pub(super) calls: &'static [Id],
}

impl Routine {
    pub(super) fn loops(&self, line: usize) -> bool {
        self.unordered
            .is_some_and(|(first, last)| (first..=last).contains(&line))
    }

    /// The line that calls `other`, directly or indirectly: the last such line up to `limit`, otherwise
    /// the first one after it (in a loop, it belongs to the previous round).
    pub(super) fn line_that_calls(&self, other: Id, limit: usize) -> Option<usize> {
        let calls = |line: &Line| {
            line.calls
                .iter()
                .any(|id| *id == other || id.routine().line_that_calls(other, usize::MAX).is_some())
        };
        let mut found = (0..self.lines.len()).filter(|index| calls(&self.lines[*index]));
        let mut best = found.next()?;
        for index in found {
            if index <= limit {
                best = index;
            }
        }
        Some(best)
    }
}

const fn plain(text: &'static str) -> Line {
    Line {
        text,
        steps: &[],
        calls: &[],
    }
}

const fn line(text: &'static str, steps: &'static [Step]) -> Line {
    Line {
        text,
        steps,
        calls: &[],
    }
}

const fn call(text: &'static str, steps: &'static [Step], calls: &'static [Id]) -> Line {
    Line { text, steps, calls }
}

/// The routines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    ServerWrite,
    ServerRead,
    ListAndWatch,
    List,
    WatchList,
    Watch,
    StartResync,
    ShouldResync,
    Program,
    Settings,
    FifoWrite,
    FifoPop,
    Add,
    QueueAction,
    Delete,
    Replace,
    Resync,
    AddIfNotPresent,
    Pop,
    Close,
    HasSynced,
    RealWrite,
    RealReplace,
    RealResync,
    RealPopBatch,
    HandleDeltas,
    ProcessDeltas,
    ProcessBatch,
    ProcessReplacedAll,
    ProcessSyncAll,
    OwnProcess,
    OwnPrint,
    OwnObject,
    StoreWrite,
    StoreReplace,
    StoreBookmark,
    AddIndexers,
    AddHandler,
    RemoveHandler,
    Distribute,
    Listener,
    Mutations,
    Workqueue,
    Worker,
}

impl Id {
    pub(super) const ALL: [Self; 44] = [
        Self::ServerWrite,
        Self::ServerRead,
        Self::ListAndWatch,
        Self::List,
        Self::WatchList,
        Self::Watch,
        Self::StartResync,
        Self::ShouldResync,
        Self::Program,
        Self::Settings,
        Self::FifoWrite,
        Self::FifoPop,
        Self::Add,
        Self::QueueAction,
        Self::Delete,
        Self::Replace,
        Self::Resync,
        Self::AddIfNotPresent,
        Self::Pop,
        Self::Close,
        Self::HasSynced,
        Self::RealWrite,
        Self::RealReplace,
        Self::RealResync,
        Self::RealPopBatch,
        Self::HandleDeltas,
        Self::ProcessDeltas,
        Self::ProcessBatch,
        Self::ProcessReplacedAll,
        Self::ProcessSyncAll,
        Self::OwnProcess,
        Self::OwnPrint,
        Self::OwnObject,
        Self::StoreWrite,
        Self::StoreReplace,
        Self::StoreBookmark,
        Self::AddIndexers,
        Self::AddHandler,
        Self::RemoveHandler,
        Self::Distribute,
        Self::Listener,
        Self::Mutations,
        Self::Workqueue,
        Self::Worker,
    ];

    /// Whether it is an entry point, such as a method of the queue. Its title then leaves out the caller.
    pub(super) fn is_entrance(self) -> bool {
        !matches!(
            self,
            Self::QueueAction
                | Self::HandleDeltas
                | Self::ProcessDeltas
                | Self::ProcessBatch
                | Self::ProcessReplacedAll
                | Self::ProcessSyncAll
                | Self::OwnProcess
                | Self::OwnPrint
                | Self::OwnObject
                | Self::StoreWrite
                | Self::StoreReplace
                | Self::Distribute
                | Self::Listener
                | Self::ShouldResync
        )
    }

    pub(super) fn routine(self) -> &'static Routine {
        match self {
            Self::ServerWrite => &server::SERVER_WRITE,
            Self::ServerRead => &server::SERVER_READ,
            Self::ListAndWatch => &reflector::LIST_AND_WATCH,
            Self::List => &reflector::LIST,
            Self::WatchList => &reflector::WATCH_LIST,
            Self::Watch => &reflector::WATCH,
            Self::StartResync => &reflector::START_RESYNC,
            Self::ShouldResync => &reflector::SHOULD_RESYNC,
            Self::Program => &run::PROGRAM,
            Self::Settings => &run::SETTINGS,
            Self::FifoWrite => &queues::FIFO_WRITE,
            Self::FifoPop => &queues::FIFO_POP,
            Self::Add => &queues::ADD,
            Self::QueueAction => &queues::QUEUE_ACTION,
            Self::Delete => &queues::DELETE,
            Self::Replace => &queues::REPLACE,
            Self::Resync => &queues::RESYNC,
            Self::AddIfNotPresent => &queues::ADD_IF_NOT_PRESENT,
            Self::Pop => &queues::POP,
            Self::Close => &queues::CLOSE,
            Self::HasSynced => &queues::HAS_SYNCED,
            Self::RealWrite => &queues::REAL_WRITE,
            Self::RealReplace => &queues::REAL_REPLACE,
            Self::RealResync => &queues::REAL_RESYNC,
            Self::RealPopBatch => &queues::REAL_POP_BATCH,
            Self::HandleDeltas => &processing::HANDLE_DELTAS,
            Self::ProcessDeltas => &processing::PROCESS_DELTAS,
            Self::ProcessBatch => &processing::PROCESS_BATCH,
            Self::ProcessReplacedAll => &processing::PROCESS_REPLACED_ALL,
            Self::ProcessSyncAll => &processing::PROCESS_SYNC_ALL,
            Self::OwnProcess => &processing::OWN_PROCESS,
            Self::OwnPrint => &processing::OWN_PRINT,
            Self::OwnObject => &processing::OWN_OBJECT,
            Self::StoreWrite => &processing::STORE_WRITE,
            Self::StoreReplace => &processing::STORE_REPLACE,
            Self::StoreBookmark => &processing::STORE_BOOKMARK,
            Self::AddIndexers => &processing::ADD_INDEXERS,
            Self::AddHandler => &handlers::ADD_HANDLER,
            Self::RemoveHandler => &handlers::REMOVE_HANDLER,
            Self::Distribute => &handlers::DISTRIBUTE,
            Self::Listener => &handlers::LISTENER,
            Self::Mutations => &handlers::MUTATIONS,
            Self::Workqueue => &workqueue::WORKQUEUE,
            Self::Worker => &workqueue::WORKER,
        }
    }
}

/// The routine and the line of a step.
pub(super) fn place(step: Step) -> Option<(Id, usize)> {
    Id::ALL.into_iter().find_map(|id| {
        let line = id
            .routine()
            .lines
            .iter()
            .position(|line| line.steps.contains(&step))?;
        Some((id, line))
    })
}
