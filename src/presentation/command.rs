//! What the user can ask for.

use std::sync::Arc;

use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_replay::edit::Setting;
use deltascope_replay::picture::ProcessMode;
use deltascope_replay::scramble::Scramble;
use deltascope_replay::step_size::StepSize;

use super::anchor::Anchor;
use super::i18n::Lang;
use super::stage::Panel;

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
    /// Open a link: what stands behind the `#` of the address.
    OpenLink(Arc<str>),
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
    /// Run the same in another generation of client-go, named by its version.
    Generation(Arc<str>),
    /// Register one more handler.
    AddHandler,
    /// Remove a handler by its number.
    RemoveHandler(usize),
    /// Make the server fail.
    Fault(Fault),
    /// Take back what the server was asked to refuse (watches, else lists; with what).
    Disarm(bool, ApiErrorKind),
    /// Leave this run, at the cursor, for a branch of its own.
    Fork,
    /// Go to another branch.
    Branch(u32),
    /// Give a branch a name.
    RenameBranch(u32, Arc<str>),
    /// Remove a branch.
    RemoveBranch(u32),
    /// A branch in which the server's event at this place does not happen.
    DropEvent(usize),
    /// A branch in which it happens at another time.
    MoveEvent(usize, When),
    /// A branch with another setting.
    Set(Setting),
    /// From now on steps go so far.
    StepSize(StepSize),
    /// Make a step of the size that is chosen, or of the next coarser one, on or back.
    Walk {
        /// On, not back.
        on: bool,
        /// One size coarser than is chosen.
        coarser: bool,
    },
    /// Go to the next fact for which this holds.
    RunUntil(String),
    /// Look for it farther on.
    LookOn,
    /// Play until this holds.
    PlayUntil(String),
    /// Something about breakpoints.
    Break(BreakCommand),
    /// Show another run beside this one, named as scripts do; an empty name: whatever is first.
    Compare(Arc<str>),
    /// Show this run alone.
    CloseCompare,
    /// Somebody looks at the chain of causes, or does not any more.
    AskWhy(bool),
    /// The same, with the value that somebody typed.
    SetText(Setting, Arc<str>),
    /// Select what is at this place on the stage, or nothing.
    Select(Option<Anchor>),
    /// Follow an object through the run, or none.
    Follow(Option<Key>),
    /// To the edge of a live run, and along with it.
    GoLive,
    /// Nothing more comes from the cluster; what came stays.
    Disconnect,
    /// Take the error away.
    DismissError,
}

impl Command {
    /// Whether another run comes of it; else it only moves in time, or looks.
    #[must_use]
    pub fn changes_the_run(&self) -> bool {
        // Each command says so itself: what can be done where a run is only watched.
        match self {
            Self::Load(..)
            | Self::Open(..)
            | Self::OpenLink(..)
            | Self::Create(..)
            | Self::Edit(..)
            | Self::Delete(..)
            | Self::CutWatch
            | Self::Compact
            | Self::PopOne
            | Self::Mode(..)
            | Self::KnownObjects(..)
            | Self::Generation(..)
            | Self::AddHandler
            | Self::RemoveHandler(..)
            | Self::Fault(..)
            | Self::Disarm(..)
            | Self::Fork
            | Self::Branch(..)
            | Self::RemoveBranch(..)
            | Self::DropEvent(..)
            | Self::MoveEvent(..)
            | Self::Set(..)
            | Self::SetText(..) => true,
            Self::TogglePlay
            | Self::Step(..)
            | Self::Seek(..)
            | Self::NextMarker
            | Self::PreviousMarker
            | Self::Reset
            | Self::Speed(..)
            | Self::RenameBranch(..)
            | Self::StepSize(..)
            | Self::Walk { .. }
            | Self::RunUntil(..)
            | Self::LookOn
            | Self::PlayUntil(..)
            | Self::Break(..)
            | Self::Compare(..)
            | Self::CloseCompare
            | Self::AskWhy(..)
            | Self::Select(..)
            | Self::Follow(..)
            | Self::GoLive
            | Self::Disconnect
            | Self::DismissError => false,
        }
    }
}

/// What leaves the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// The link to what is shown.
    Link,
    /// The run as a file that can be opened again.
    Trace,
    /// The same for somebody who is not to read the names in it.
    Scrambled(Scramble),
    /// The run in words.
    Transcript(Lang),
    /// What is shown, as a picture.
    Svg(SvgOptions),
}

/// What a picture shows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgOptions {
    /// The rooms, in the order of the data's path; none: all.
    pub panels: Vec<Panel>,
    /// Its colours.
    pub theme: Theme,
    /// The language of its words.
    pub lang: Lang,
    /// How wide it is, in CSS px; 0: 1200 with all rooms, 750 with some.
    pub width: u32,
    /// With the words under the stage.
    pub strip: bool,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// Ink on paper.
    Light,
    /// The dark ones.
    Dark,
    /// As the reader likes it; `#dark` or `#light` behind its address decides.
    #[default]
    Auto,
}

impl Theme {
    /// What is chosen.
    #[must_use]
    pub fn of(is_dark: bool) -> Self {
        if is_dark { Self::Dark } else { Self::Light }
    }
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self {
            panels: Vec::new(),
            theme: Theme::Auto,
            lang: Lang::En,
            width: 0,
            strip: true,
        }
    }
}

/// What can be asked of breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakCommand {
    /// Stop where this holds.
    Add(String),
    /// Turn one on or off.
    Turn(u32, bool),
    /// Take one away.
    Remove(u32),
}

/// When something happens instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before what the server did before it.
    Earlier,
    /// After what the server did after it.
    Later,
    /// At this virtual time, in ms.
    At(u64),
}

/// What the server can be made to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// End the watch without an error.
    Close,
    /// Send a bookmark.
    Bookmark,
    /// Send an ERROR event with this code.
    Event(u16),
    /// Answer the next list (or page of one) with this code.
    List(u16),
    /// Refuse the next connection.
    Refuse,
}

/// What the menu of faults offers.
pub const FAULTS: [Fault; 10] = [
    Fault::Close,
    Fault::Bookmark,
    Fault::Event(410),
    Fault::Event(500),
    Fault::Event(429),
    Fault::List(403),
    Fault::List(500),
    Fault::List(429),
    Fault::List(410),
    Fault::Refuse,
];

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
