//! What the stage consists of: its rooms, and the parts that a room always has, each with its name in anchors.

macro_rules! named {
    ($(#[$about:meta])* $name:ident: $($(#[$of:meta])* $variant:ident = $id:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// All of them, in the order in which they stand.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$variant),*];

            /// The name that anchors use.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }

            /// The one with this name.
            #[must_use]
            pub fn named(id: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.id() == id)
            }
        }
    };
}

named! {
    /// A room, in the order of the data's path. Test ids and classes use its name, too.
    Panel:
    /// The API server, or what stands in for it.
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

named! {
    /// A state of the reflector, as its room names it.
    StateName:
    /// The first list.
    List = "list",
    /// A streaming list.
    Stream = "stream",
    /// The watch.
    Watch = "watch",
    /// A list after the first.
    Relist = "relist",
    /// The wait before the next try.
    Backoff = "backoff",
    /// The end.
    Stopped = "stopped",
}

impl StateName {
    /// Its label.
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
    WorkPart:
    /// Waiting in order.
    Queue = "queue",
    /// To be looked at.
    Dirty = "dirty",
    /// At a worker; noted is at which.
    Processing = "processing",
    /// To be added later.
    Delayed = "delayed",
    /// Failed before.
    Failures = "failures",
}
