//! Opens lessons, links and files in slices. The current run is shown until then.

use std::sync::Arc;

use serde_json::Value;

use crate::anchor::Anchor;
use crate::command::{Command, Tell};
use crate::view::ErrorView;
use deltascope_replay::branches::Made;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_replay::link::{self, Link};
use deltascope_replay::log;
use deltascope_replay::moment::Moment;
use deltascope_replay::recording::Recording;
use deltascope_replay::timeline::{MAX_FACTS, Timeline};
use deltascope_replay::trace::{self, Trace};
use deltascope_world::bounds::{self, MAX_READ};
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::wire;
use deltascope_world::text;
use deltascope_world::text::Text;

use super::branches::no_room;
use super::marking::Marking;
use super::messages::{cannot_run, no_story_in_link};
use super::share::{far, id_of_file, no_moment, nobodys};
use super::smallest::{Wanted, cut_down, words_of};
use super::{Change, OPENING, Session};

/// A run that can be shown.
pub struct Opened {
    lesson: Lesson,
    timeline: Timeline,
    marking: Marking,
    step: usize,
    /// The scene to show, from 1, and whether the link names another moment than that of the scene.
    scene: Option<(usize, bool)>,
    /// Whether to show the story as a handout.
    handout: bool,
    selection: Arc<str>,
    /// What could not be read or shown.
    error: Option<ErrorView>,
    /// How far the run that was shown is cut down, if this is a branch of it.
    cut: Option<Text>,
}

/// How a run was shared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    /// By a link to an unchanged lesson.
    Link,
    /// By a link that changes the lesson.
    ChangedLink,
    /// As a file.
    File,
}

/// Opens a lesson, a link or files, as a command asks.
///
/// # Errors
/// Fails if there is nothing to show; the error says why, and the open run stays.
pub async fn open(command: &Command, slices: &Slices) -> Result<Opened, ErrorView> {
    match command {
        Command::Load(id) => match lessons::load(id) {
            Ok(lesson) => open_lesson(lesson, slices).await,
            Err(message) => Err(message.into()),
        },
        Command::OpenLink(fragment) => open_link(fragment, slices).await,
        Command::Open(files) => open_files(files, slices).await,
        _ => Err(Text::default().into()),
    }
}

/// The same, or cuts a run down, if the session says that the command wants that.
///
/// # Errors
/// Fails if there is nothing to show; the error says why, and the open run stays.
pub async fn open_or_cut(
    command: &Command,
    wanted: Option<Result<Wanted, Text>>,
    slices: &Slices,
) -> Result<Opened, ErrorView> {
    let Some(wanted) = wanted else {
        return open(command, slices).await;
    };
    let found = cut_down(wanted.map_err(ErrorView::from)?, slices).await;
    let (found, wanted) = found.map_err(ErrorView::from)?;
    let played = found.recording.play_slowly(MAX_FACTS, slices).await;
    let (timeline, _) = played.map_err(|reason| cannot_run(&reason))?;
    let mut opened = look_through(wanted.lesson, timeline, slices).await;
    opened.step = found.at;
    opened.cut = Some(words_of(&found));
    Ok(opened)
}

/// Opens a lesson at its start.
///
/// # Errors
/// Fails if the lesson cannot run; the error says why.
pub async fn open_lesson(lesson: Lesson, slices: &Slices) -> Result<Opened, ErrorView> {
    let recording = Recording::of(lesson.scenario.clone());
    let played = recording.play_slowly(MAX_FACTS, slices).await;
    let (timeline, _) = played.map_err(|reason| cannot_run(&reason))?;
    Ok(look_through(lesson, timeline, slices).await)
}

async fn open_link(fragment: &str, slices: &Slices) -> Result<Opened, ErrorView> {
    let link = Link::read(fragment).map_err(ErrorView::from)?;
    let lesson = match (&link.lesson, &link.change) {
        (None, Some(link::Change::Whole(scenario))) => {
            nobodys(scenario, "link", Text::new("A shared run", "分享的运行"))
        }
        (id, _) => {
            lessons::load(id.as_deref().unwrap_or(lessons::FIRST)).map_err(ErrorView::from)?
        }
    };
    let shared = match link.change {
        None => Shared::Link,
        Some(_) => Shared::ChangedLink,
    };
    let recording = link.recording(&lesson.scenario).map_err(ErrorView::from)?;
    let at = link.at.as_ref();
    let mut opened = play(lesson, &recording, at, shared, slices).await?;
    opened.selection = link.selection;
    opened.scene = link.scene.map(|scene| (scene, link.at.is_some()));
    opened.handout = link.handout;
    Ok(opened)
}

/// The scenario in a file, alone or as a lesson; none if the file is something else or too large. Opening such a
/// file as a recording reports the error.
#[must_use]
pub fn scenario_in(bytes: &[u8]) -> Option<Value> {
    const NAMES: [&str; 5] = ["scenario", "settings", "initial", "script", "traffic"];
    // A trace has one JSON value per line.
    if trace::is_trace(bytes) || bounds::weight_of_json(bytes) > MAX_READ {
        return None;
    }
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let is_ours = NAMES.iter().any(|name| value.get(name).is_some());
    is_ours.then_some(value)
}

/// The lesson in a page or a file, or a scenario as a lesson.
pub(super) fn inline(value: Value) -> Result<Lesson, Text> {
    lessons::inline(value).map_err(|wrong| {
        let error = wrong.message();
        text!(
            "The scenario cannot be read: {error}.",
            "场景无法读取：{error}。"
        )
    })
}

async fn open_files(files: &[(String, Vec<u8>)], slices: &Slices) -> Result<Opened, ErrorView> {
    let is_run = |bytes: &[u8]| trace::is_trace(bytes) || log::is_log(bytes);
    match files {
        [(name, bytes)] if is_run(bytes) => open_trace(name, bytes, slices).await,
        files if files.iter().any(|(_, bytes)| is_run(bytes)) => Err(Text::new(
            "One of the files is a trace, which is a whole run. Open it alone.",
            "其中一个文件是运行记录，即完整的运行。请单独打开它。",
        )
        .into()),
        files => open_recorded(files, slices).await,
    }
}

async fn open_trace(name: &str, bytes: &[u8], slices: &Slices) -> Result<Opened, ErrorView> {
    let (read, error) = if trace::is_trace(bytes) {
        trace::read_slowly(name, bytes, slices).await
    } else {
        log::read_slowly(name, bytes, slices).await
    };
    let error = error.map(ErrorView::from);
    let Some(Trace {
        lesson,
        title,
        at,
        start,
        recording,
    }) = read
    else {
        return Err(error.unwrap_or_else(|| Text::default().into()));
    };
    let mut lesson = lessons::load(&lesson).unwrap_or_else(|_| {
        let title = if title.en.is_empty() {
            Text::new(name, name)
        } else {
            title
        };
        nobodys(&recording.scenario, &id_of_file(name), title)
    });
    lesson.start = start;
    let mut opened = play(lesson, &recording, at.as_ref(), Shared::File, slices).await?;
    // An error in reading comes before an error in showing.
    opened.error = error.or(opened.error);
    Ok(opened)
}

async fn open_recorded(files: &[(String, Vec<u8>)], slices: &Slices) -> Result<Opened, ErrorView> {
    let recorded = wire::open_slowly(files, slices).await;
    let error = recorded.error.clone().map(ErrorView::from);
    if let Some(error) = &error
        && recorded.start.is_none()
        && recorded.events.is_empty()
    {
        let scenario = match files {
            [(_, bytes)] => scenario_in(bytes),
            _ => None,
        };
        return match scenario {
            Some(scenario) => open_lesson(inline(scenario)?, slices).await,
            None => Err(error.clone()),
        };
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(" + ");
    let title = Text::new(&names, &names);
    let id = id_of_file(&names);
    let mut opened = open_lesson(lessons::recorded(id.into(), title, recorded), slices).await?;
    opened.error = error;
    Ok(opened)
}

/// Plays the run to the moment. If a run does not come to the moment of its link, the open run stays; a file is
/// then shown from its start.
async fn play(
    lesson: Lesson,
    recording: &Recording,
    at: Option<&Moment>,
    shared: Shared,
    slices: &Slices,
) -> Result<Opened, ErrorView> {
    let far = far(recording);
    let played = recording.play_slowly(far, slices).await;
    let (mut timeline, played) = played.map_err(|reason| cannot_run(&reason))?;
    let mut missed = None;
    let mut step = None;
    if let Some(at) = at {
        // In a copy, so that a run that does not come to the moment is not computed farther.
        let mut ahead = timeline.clone();
        step = at.find_slowly(&mut ahead, &lesson.markers, slices).await;
        if step.is_none() {
            missed = Some(no_moment(&lesson, at, &ahead, far));
            ahead.drop_slowly(slices).await;
        } else {
            timeline = ahead;
        }
    }
    match shared {
        Shared::Link | Shared::ChangedLink if missed.is_some() => {
            return Err(missed.unwrap_or_default().into());
        }
        Shared::Link => timeline.limit(MAX_FACTS),
        Shared::ChangedLink | Shared::File => {}
    }
    if step.is_none() && lesson.open.is_some() {
        timeline.extend_slowly(OPENING, slices).await;
    }
    let mut opened = look_through(lesson, timeline, slices).await;
    opened.step = step.unwrap_or_else(|| opened.opening());
    // The part that is shown.
    let place = opened.step.saturating_sub(1);
    opened.timeline.ready(place, slices).await;
    let all = recording.inputs.len();
    if played < all {
        missed = Some(text!(
            "The first {played} of {all} inputs are played: the rest would take too long.",
            "已播放 {all} 个输入中的前 {played} 个：其余的耗时过长。"
        ));
    }
    opened.error = missed.map(ErrorView::from);
    Ok(opened)
}

/// Finds the landmarks and the violations of a run.
async fn look_through(lesson: Lesson, timeline: Timeline, slices: &Slices) -> Opened {
    let mut marking = Marking::begin(&timeline, &lesson.markers);
    marking
        .go_on_slowly(&timeline, &lesson.markers, slices)
        .await;
    Opened {
        lesson,
        timeline,
        marking,
        step: 0,
        scene: None,
        handout: false,
        selection: Arc::default(),
        error: None,
        cut: None,
    }
}

impl Opened {
    /// The place of the marker that the lesson opens with, so that the page does not begin with an empty queue.
    fn opening(&self) -> usize {
        let markers = self.marking.landmarks.markers(&self.lesson.markers);
        let open = self.lesson.open.as_ref();
        let found = open.and_then(|id| markers.iter().find(|marker| marker.id == *id));
        found.map_or(0, |marker| marker.at)
    }
}

impl Session {
    /// Opens a lesson whose file comes with the first picture.
    pub fn open_at_hand(&mut self, id: &str) {
        // Each such lesson can be read: a test opens all.
        if let Some(Ok(lesson)) = lessons::at_hand(id) {
            self.open(lesson);
        }
    }

    /// Opens a lesson at its start.
    pub fn open(&mut self, lesson: Lesson) -> Change {
        self.show_opened(at_once(open_lesson(lesson, &Slices::whole())))
    }

    pub(super) fn open_at_once(&mut self, command: &Command) -> Change {
        let wanted = self.wanted(command);
        let opened = at_once(open_or_cut(command, wanted, &Slices::whole()));
        self.show_opened(opened)
    }

    /// Prepares for opening: clears the messages of earlier commands and ends a live run. Returns the run to cut down,
    /// if the command wants that.
    pub fn before_opening(&mut self, command: &Command) -> Option<Result<Wanted, Text>> {
        self.error = None;
        self.notice = None;
        self.forget_target();
        // Commands that open a run are never refused.
        let _change = self.before(command);
        self.wanted(command)
    }

    /// Sets how many units of work have been done to open a run; `None` once that has ended.
    pub fn set_opening(&mut self, done: Option<usize>) {
        self.opening = done;
    }

    /// Shows the opened run, or why there is none.
    pub fn show_opened(&mut self, opened: Result<Opened, ErrorView>) -> Change {
        self.opening = None;
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.error = Some(error);
                return Change::Cut;
            }
        };
        if self.is_live() {
            self.disconnect();
        }
        if let Some(cut) = opened.cut {
            if !self.leave(Made::Smallest, 0) {
                return self.say(no_room());
            }
            self.show(opened.timeline, opened.step, Some(opened.marking));
            self.notice = Some(cut);
            return Change::Cut;
        }
        self.begin(opened.lesson, opened.timeline);
        self.mark(opened.marking);
        self.playback.seek(opened.step, self.timeline.len());
        // A scene that cannot be shown is no reason to show nothing: the run is there.
        if let Some((scene, is_at)) = opened.scene {
            self.open_scene(scene - 1);
            if is_at {
                self.playback.seek(opened.step, self.timeline.len());
            }
        }
        if opened.handout {
            self.tell(Tell::Handout(true));
        }
        self.notice = match self.error.take() {
            Some(_) if self.lesson.story.is_none() => Some(no_story_in_link()),
            other => other.map(|error| error.message),
        };
        // If nothing is at that place any more, nothing is selected.
        if opened.error.is_none()
            && let Some(anchor) = Anchor::read(&opened.selection)
        {
            self.select(Some(anchor));
        }
        self.error = opened.error;
        Change::Cut
    }
}
