//! The commands of the user.

use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::Request;
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_replay::edit::Setting;
use deltascope_replay::link;
use deltascope_replay::picture::ProcessMode;
use deltascope_replay::predicate::Predicate;
use deltascope_replay::scramble::Scramble;
use deltascope_replay::smallest::Goal;
use deltascope_replay::step_size::StepSize;
use deltascope_world::source::pod::Write;
use serde_json::Value;

use super::against::Against;
use super::anchor::Anchor;
use super::options::{Mode, Place, Theme};
use super::stage::Panel;
use super::story::Answer;
use deltascope_world::text::{Lang, Text};

/// What a button, a key or the scripting interface asks the session to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Play or pause.
    TogglePlay,
    /// Play.
    Play,
    /// Pause.
    Pause,
    /// Go this many facts forward, or back when negative.
    Step(i64),
    /// Go to the state after this many facts.
    Seek(usize),
    /// Go to this place, if the run comes there.
    SeekTo(Place),
    /// Go to the next marker, or to the end.
    NextMarker,
    /// Go to the previous marker, or to the start.
    PreviousMarker,
    /// Start over, dropping everything the user did.
    Reset,
    /// Speed in percent.
    Speed(u32),
    /// Open a lesson by its id.
    Load(Arc<str>),
    /// Open dropped files: name and bytes.
    Open(Vec<(String, Vec<u8>)>),
    /// Open a link: the part of the address after the `#`.
    OpenLink(Arc<str>),
    /// Cut the run down to what still shows this, by default the fact at the cursor, on a branch.
    Smallest(Option<Goal>),
    /// Write on the server.
    Write(Box<Write>),
    /// Cut the watch.
    CutWatch,
    /// Forget the history of the server, so that the next watch from an old version gets 410.
    Compact,
    /// Pop once; only while the process loop is held.
    PopOne,
    /// Set the mode of the process loop.
    Mode(ProcessMode),
    /// Switch KnownObjects on or off.
    KnownObjects(bool),
    /// Run the same in another client-go generation. Of a race this is another lane: it stays open, at its moment.
    Generation(Generation),
    /// Register one more handler.
    AddHandler,
    /// Remove a handler by its number.
    RemoveHandler(usize),
    /// Make the server fail.
    Fault(Fault),
    /// Cancel what is left of an armed refusal of this request with this error.
    Disarm(Request, ApiErrorKind),
    /// Start a branch at the cursor; the run so far stays a branch.
    Fork,
    /// Go to another branch.
    Branch(u32),
    /// Give a branch a name.
    RenameBranch(u32, Arc<str>),
    /// Remove a branch.
    RemoveBranch(u32),
    /// Make a branch in which the server's event at this place does not happen.
    DropEvent(usize),
    /// Make a branch in which the event happens at another time.
    MoveEvent(usize, When),
    /// Make a branch with another setting.
    Set(Setting),
    /// Set the size of later steps.
    StepSize(StepSize),
    /// Make a step of the chosen size, or of the next coarser one, forward or back.
    Walk {
        /// Forward, not back.
        on: bool,
        /// Use the size above the chosen one.
        coarser: bool,
    },
    /// Make so many steps of a size, or back when negative.
    WalkBy(StepSize, i64),
    /// Go to the next fact that fulfils this predicate.
    RunUntil(Predicate),
    /// Continue the search that found nothing so far.
    LookOn,
    /// Play until a fact fulfils this predicate.
    PlayUntil(Predicate),
    /// Change a breakpoint.
    Break(BreakCommand),
    /// Let playback end at this place, and pause at each marker or not.
    Stops(Option<Place>, bool),
    /// Show the run in this mode, a story from this scene on, counted from 1.
    Present(Mode, Option<usize>),
    /// Show another run beside this one.
    Compare(Against),
    /// Show this run alone.
    CloseCompare,
    /// Open the chain of causes, or close it.
    AskWhy(bool),
    /// Select what is at this place on the stage, or nothing.
    Select(Option<Anchor>),
    /// Follow an object through the run, or none.
    Follow(Option<Key>),
    /// Go to the edge of a live run, and follow it.
    GoLive,
    /// Disconnect from the cluster; the run so far stays.
    Disconnect,
    /// Tell the lesson's story, or go on in it.
    Tell(Tell),
    /// Answer the question of the story's scene with what a script gave; null: show what happens.
    Answer(Value),
    /// Show what is wrong with what the user typed.
    Wrong(Text),
    /// Dismiss the error.
    DismissError,
}

/// What a command does, for whoever lets only some through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Moves the cursor, within what has come.
    Moves,
    /// Opens another run in its place.
    Opens,
    /// Puts an input into the run. Refused where users only watch.
    Acts,
    /// Shows another run of the same, or a branch. Refused where users only watch, and for a cluster's run.
    Reruns,
    /// Begins the run anew, or puts others beside it. Refused for a cluster's run.
    Restarts,
    /// Leaves the run and the cursor as they are, or tells the story.
    Rest,
}

impl Command {
    /// What it does.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::TogglePlay
            | Self::Play
            | Self::Step(..)
            | Self::Seek(..)
            | Self::SeekTo(..)
            | Self::NextMarker
            | Self::PreviousMarker
            | Self::Walk { .. }
            | Self::WalkBy(..)
            | Self::RunUntil(..)
            | Self::LookOn
            | Self::PlayUntil(..)
            | Self::GoLive => Class::Moves,
            Self::Pause
            | Self::Speed(..)
            | Self::StepSize(..)
            | Self::Tell(..)
            | Self::Answer(..)
            | Self::AskWhy(..)
            | Self::Wrong(..)
            | Self::DismissError
            | Self::RenameBranch(..)
            | Self::Break(..)
            | Self::Stops(..)
            | Self::Present(..)
            | Self::CloseCompare
            | Self::Select(..)
            | Self::Follow(..)
            | Self::Disconnect => Class::Rest,
            Self::Load(..) | Self::Open(..) | Self::OpenLink(..) | Self::Smallest(..) => {
                Class::Opens
            }
            Self::Write(..)
            | Self::CutWatch
            | Self::Compact
            | Self::PopOne
            | Self::Mode(..)
            | Self::KnownObjects(..)
            | Self::AddHandler
            | Self::RemoveHandler(..)
            | Self::Fault(..)
            | Self::Disarm(..) => Class::Acts,
            Self::Generation(..)
            | Self::Fork
            | Self::Branch(..)
            | Self::RemoveBranch(..)
            | Self::DropEvent(..)
            | Self::MoveEvent(..)
            | Self::Set(..) => Class::Reruns,
            Self::Reset | Self::Compare(..) => Class::Restarts,
        }
    }

    /// Whether it moves the cursor, within what has come.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.class() == Class::Moves
    }

    /// Whether neither a lesson nor a room needs it, so that what it needs comes when it is asked for.
    #[must_use]
    pub fn is_seldom(&self) -> bool {
        if let Self::OpenLink(link) = self {
            return link::is_packed(link);
        }
        matches!(
            self,
            Self::Open(..)
                | Self::Smallest(..)
                | Self::Fork
                | Self::Branch(..)
                | Self::RenameBranch(..)
                | Self::RemoveBranch(..)
                | Self::DropEvent(..)
                | Self::MoveEvent(..)
                | Self::Set(..)
                | Self::Compare(..)
                | Self::Present(Mode::Race, _)
                | Self::RunUntil(..)
                | Self::PlayUntil(..)
                | Self::Break(..)
                | Self::Select(Some(_))
                | Self::AskWhy(true)
        )
    }

    /// Whether it opens another run.
    #[must_use]
    pub fn opens(&self) -> bool {
        self.class() == Class::Opens
    }

    /// Whether it changes or replaces the run.
    #[must_use]
    pub fn changes_the_run(&self) -> bool {
        matches!(self.class(), Class::Opens | Class::Acts | Class::Reruns)
    }
}

/// A step in a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Show the story, or the microscope, at the same moment.
    Show(bool),
    /// Show the scene of this number, from 0.
    Scene(usize),
    /// Finish what plays, or go on to the next scene.
    Next,
    /// Go back to the scene before.
    Back,
    /// Answer the question of the scene; `None`: show what happens.
    Answer(Option<Answer>),
    /// Show one more hint.
    Hint,
    /// Show the lesson as a handout, or its scene again.
    Handout(bool),
}

/// What the user can export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// A link to what is shown.
    Link,
    /// The run as a file that can be opened again.
    Trace,
    /// The same, with made-up names.
    Scrambled(Scramble),
    /// The run in words.
    Transcript(Lang),
    /// The stage at the cursor, as a picture.
    Svg(SvgOptions),
    /// The lesson's story for paper, as HTML.
    Handout(Lang),
}

/// The contents and the look of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgOptions {
    /// The rooms, in the order of the data's path; empty: all.
    pub panels: Vec<Panel>,
    /// Its colours; `None`: the reader's preference, which `#dark` or `#light` at the end of its address overrides.
    pub theme: Option<Theme>,
    /// The language of its words.
    pub lang: Lang,
    /// Width in CSS px; 0: 1200 with all rooms, 750 with some.
    pub width: u32,
    /// Whether the words are below the stage.
    pub strip: bool,
}

impl Default for SvgOptions {
    fn default() -> Self {
        Self {
            panels: Vec::new(),
            theme: None,
            lang: Lang::En,
            width: 0,
            strip: true,
        }
    }
}

/// A change of the breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakCommand {
    /// Stop where a fact fulfils this predicate.
    Add(Predicate),
    /// Turn the breakpoint with this number on or off.
    Turn(u32, bool),
    /// Remove the breakpoint with this number.
    Remove(u32),
}

/// The new time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Just before the previous event of the server.
    Earlier,
    /// Just after the next event of the server.
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
    /// Answer the next list (or the next page of one) with this error.
    List(ApiErrorKind),
}

/// The entries of the menu of faults.
pub const FAULTS: [Fault; 10] = [
    Fault::Close,
    Fault::Bookmark,
    Fault::Event(410),
    Fault::Event(500),
    Fault::Event(429),
    Fault::List(ApiErrorKind::Forbidden),
    Fault::List(ApiErrorKind::InternalError),
    Fault::List(ApiErrorKind::TooManyRequests),
    Fault::List(ApiErrorKind::Expired),
    Fault::List(ApiErrorKind::ConnectionRefused),
];
