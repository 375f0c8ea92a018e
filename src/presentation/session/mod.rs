//! One visitor's session: what is open, where the cursor is, and what a command does to both.
//!
//! Pure: no leptos, no DOM, no clock. The driver asks it for a [`View`] after every command.

mod branches;
pub mod compare;
pub mod keep;
pub mod live;
pub mod opening;
pub mod present;
pub mod select;
mod share;
mod shown;
pub mod tell;
pub mod walk;
pub mod why;

pub use share::FAR;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{
    Actor, EventType, Fact, FactRecord, HandlersFact, LockName, ProcessMode, QueueFact,
    ReflectorFact, Refusal, ServerFact, Verb,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_replay::branches::{Branches, Made};
use deltascope_replay::invariants::Invariants;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_replay::picture::{Picture, SourceKind};
use deltascope_replay::playback::Playback;
use deltascope_replay::recording::Recording;
use deltascope_replay::timeline::{AHEAD, SEEN, SEGMENT, Timeline, is_told};
use deltascope_replay::trace::MAX_INPUTS;
use deltascope_world::bounds::shortened;
use deltascope_world::slices::Slices;
use deltascope_world::source::pod::{self, PodSpec, Write};
use deltascope_world::source::scenario::{Act, Scenario};
use deltascope_world::source::{self, Refusals};
use deltascope_world::virtual_time::{Era, HandlerSettings, InformerKind, Input};

use super::command::{Command, Draft, Fault};
use super::fact_queries;
use super::i18n::Text;
use super::landmarks::Landmarks;
use super::view::{
    BranchRow, Checks, ErrorView, LessonHead, Marker, RECENT, SettingRow, Tick, View,
};

/// How far ahead the consequence of a click is looked for, in facts.
const CONSEQUENCE: usize = 120;

/// How many facts a command computes at the most, so that the page goes on answering: a part of a
/// second.
const LEAP: usize = 100_000;
/// So many facts after a watch was closed the reflector has noticed.
const NOTICED: usize = 2_000;
/// How far the marker that the page opens with may be from the start, in facts.
const OPENING: usize = 1_000;

/// What a command did to the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that the picture shows.
    None,
    /// It is another one: cut to it.
    Cut,
    /// It went on by exactly one fact: that can be shown as a motion.
    Forward,
    /// It went back by exactly one fact.
    Back,
    /// Something new happened; it is worth to play on until so many facts are shown.
    Follow(usize),
}

/// One visitor's session.
pub struct Session {
    lesson: Lesson,
    head: Rc<LessonHead>,
    timeline: Timeline,
    playback: Playback,
    markers: Rc<[Marker]>,
    ticks: Rc<[Tick]>,
    landmarks: Landmarks,
    monitors: Invariants,
    checks: Rc<Checks>,
    compared: Option<compare::Compared>,
    error: Option<ErrorView>,
    /// So much was done to open what comes.
    opening: Option<usize>,
    /// What the last command has done beside what is shown.
    notice: Option<Text>,
    picture: shown::Shown,
    /// What the run follows from in the generation in which the last click was made; nothing until
    /// another generation is chosen.
    first_run: Option<Recording>,
    branches: Branches<branches::Kept>,
    branch_rows: Rc<[BranchRow]>,
    asked: why::Asked,
    walking: Rc<walk::Walking>,
    settings: Rc<[SettingRow]>,
    /// What all links to this run have in common, once one was asked for.
    packed: RefCell<Option<Rc<share::Packed>>>,
    /// Where the run comes from a cluster, now.
    live: Option<live::Live>,
    /// Where playing ends or pauses.
    stops: present::Stops,
    /// How often something was opened, and how often the run became another one.
    opened: u64,
    run: u64,
    /// What the last search has looked through, for when it is to go on.
    ahead: Option<walk::Ahead>,
}

impl Session {
    /// Opens the first lesson, at the moment that it opens with.
    #[must_use]
    pub fn new() -> Self {
        let mut session = Self::of(lessons::load(lessons::FIRST).unwrap_or_default());
        session.mark_anew();
        session.show_opening();
        session
    }

    /// Opens nothing: somebody says what is to be shown.
    #[must_use]
    pub fn empty() -> Self {
        Self::of(Lesson::default())
    }

    fn of(lesson: Lesson) -> Self {
        // An empty scenario always builds; the first lesson does, or its test fails.
        let timeline = Timeline::new(lesson.scenario.clone()).unwrap_or_else(|_| Timeline::empty());
        let picture = shown::Shown::new(&timeline);
        let mut session = Self {
            head: Rc::new(head_of(&lesson, timeline.scenario())),
            lesson,
            timeline,
            playback: Playback::default(),
            markers: Rc::new([]),
            ticks: Rc::new([]),
            landmarks: Landmarks::default(),
            monitors: Invariants::default(),
            checks: Rc::default(),
            compared: None,
            error: None,
            opening: None,
            notice: None,
            picture,
            first_run: None,
            branches: Branches::default(),
            branch_rows: Rc::new([]),
            asked: why::Asked::default(),
            walking: Rc::default(),
            settings: Rc::new([]),
            packed: RefCell::default(),
            opened: 0,
            run: 0,
            live: None,
            stops: present::Stops::default(),
            ahead: None,
        };
        session.list_branches();
        session.list_settings();
        session
    }

    /// The page opens with something to see, not with an empty queue.
    fn show_opening(&mut self) {
        let Some(id) = self.lesson.open.clone() else {
            return;
        };
        self.timeline.extend(OPENING);
        self.mark_anew();
        if let Some(at) = self.markers.iter().find(|m| m.id == id).map(|m| m.at) {
            self.playback.seek(at, self.timeline.len());
        }
    }

    /// Does what is asked for. What went wrong before is no news any more.
    pub fn obey(&mut self, command: Command) -> Change {
        self.error = None;
        self.notice = None;
        self.forget_target();
        if let Some(change) = self.before(&command) {
            return change;
        }
        match command {
            Command::GoLive => self.go_live(),
            Command::Disconnect => self.disconnect(),
            Command::TogglePlay => {
                if self.playback.is_playing() {
                    self.playback.pause();
                } else {
                    self.before_play();
                    self.look_ahead(self.playback.cursor() + 1);
                    self.playback.play(self.timeline.len());
                }
                Change::None
            }
            Command::Step(by) => {
                self.playback.pause();
                self.move_by(by)
            }
            Command::Seek(to) => {
                self.playback.pause();
                self.go_to(to)
            }
            Command::NextMarker => {
                self.playback.pause();
                let cursor = self.playback.cursor();
                let next = self.markers.iter().map(|marker| marker.at);
                let to = next.filter(|at| *at > cursor).min();
                self.go_to(to.unwrap_or(self.timeline.len()))
            }
            Command::PreviousMarker => {
                self.playback.pause();
                let cursor = self.playback.cursor();
                let before = self.markers.iter().map(|marker| marker.at);
                self.go_to(before.filter(|at| *at < cursor).max().unwrap_or(0))
            }
            Command::Reset => self.start_over(),
            Command::Speed(percent) => {
                self.playback.set_speed(percent);
                Change::None
            }
            Command::Load(_) | Command::Open(_) | Command::OpenLink(_) => {
                self.open_at_once(&command)
            }
            Command::Create(draft) => {
                let object = pod::from_json(&spec(&draft, None).to_json());
                self.write(object.map(Write::Create))
            }
            Command::Edit(draft) => {
                let picture = self.picture();
                let body = picture
                    .api
                    .objects
                    .get(&*key_of(&draft.namespace, &draft.name))
                    .map(|object| object.body.labels.clone());
                let object = pod::from_json(&spec(&draft, body).to_json());
                self.write(object.map(Write::Update))
            }
            Command::Delete(key) => {
                let (namespace, name) = key.split_once('/').unwrap_or(("", &key));
                let target = PodSpec {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                    ..PodSpec::default()
                };
                // As a file has it, which is to open again.
                let object = target.to_json();
                let input = Act::Delete { object }.into_input();
                match input {
                    Ok(input) => self.insert(input),
                    Err(reason) => self.write(Err(reason)),
                }
            }
            Command::CutWatch => {
                if self.picture().api.watch.is_none() || self.watch_is_ending() {
                    return self.fail(no_watch(), None);
                }
                self.insert(Input::Source(source::Command::Cut))
            }
            Command::Compact if self.picture().api.feed != SourceKind::Server => {
                self.fail(no_history(), None)
            }
            Command::Compact => {
                // An open watch does not notice; only the next one is refused.
                let watching = self.picture().api.watch.is_some();
                let change = self.insert(Input::Source(source::Command::Compact));
                if watching {
                    self.insert(Input::Source(source::Command::Cut))
                } else {
                    change
                }
            }
            Command::PopOne => {
                if self.picture().pop.mode != ProcessMode::Held {
                    return self.fail(not_held(), None);
                }
                self.insert(Input::Pop)
            }
            Command::Mode(mode) => self.insert(Input::Mode(mode)),
            Command::KnownObjects(on) => {
                if self.picture().queue.known_objects == on {
                    return Change::None;
                }
                let change = self.insert(Input::KnownObjects(on));
                self.notice = self.error.is_none().then(|| from_here(on));
                change
            }
            Command::Era(era) => self.choose(&era),
            Command::AddHandler => {
                let number = self.picture().handlers.len() + 1;
                self.insert(Input::AddHandler(late_handler(number)))
            }
            Command::RemoveHandler(number) => match number.try_into() {
                Ok(number)
                    if (self.picture().handlers.get(usize::from(number)))
                        .is_some_and(|handler| !handler.removed && !handler.leaving) =>
                {
                    self.insert(Input::RemoveHandler(number))
                }
                _ => self.fail(no_handler(), None),
            },
            Command::Fault(fault) => {
                let (command, needs_watch) = fault_command(fault);
                let picture = self.picture();
                if needs_watch && (picture.api.watch.is_none() || self.watch_is_ending()) {
                    return self.fail(nothing_open(), None);
                }
                self.insert(Input::Source(command))
            }
            Command::Disarm(watch, kind) => {
                let refusals = Refusals {
                    watch,
                    kind,
                    times: 0,
                };
                self.insert(Input::Source(source::Command::Refuse(refusals)))
            }
            Command::Fork => self.fork(),
            Command::Branch(id) => self.switch(id),
            Command::RenameBranch(id, name) => {
                self.branches.rename(id, &name);
                self.list_branches();
                Change::None
            }
            Command::RemoveBranch(id) => self.remove_branch(id),
            Command::DropEvent(place) => self.drop_event(place),
            Command::MoveEvent(place, when) => self.move_event(place, when),
            Command::Set(setting) => self.set(setting),
            Command::StepSize(grain) => self.set_grain(grain),
            Command::Walk { on, coarser } => self.walk(on, coarser),
            Command::RunUntil(text) => self.run_until(&text),
            Command::LookOn => self.look_on(),
            Command::PlayUntil(text) => self.play_until(&text),
            Command::Break(command) => self.breakpoint(command),
            Command::Compare(name) => self.compare_by_name(&name),
            Command::CloseCompare => self.close_comparison(),
            Command::AskWhy(open) => self.ask(open),
            Command::SetText(setting, value) => match setting.with(&value) {
                Some(setting) => self.set(setting),
                None => self.fail(branches::no_value(&setting, &value), None),
            },
            Command::Select(anchor) => self.select(anchor.as_deref()),
            Command::Follow(key) => self.follow(key),
            Command::DismissError => Change::None,
        }
    }

    /// The scripting interface's `inject`.
    pub fn inject(&mut self, op: &str, object: serde_json::Value) -> Change {
        let act = match op {
            "create" => Act::Create { object },
            "update" => Act::Update { object },
            "delete" => Act::Delete { object },
            "cut" => return self.obey(Command::CutWatch),
            _ => {
                return self.fail(
                    Text::new(
                        &format!(
                            "inject: there is no op {op:?}. Use create, update, delete or cut."
                        ),
                        &format!("inject：没有操作 {op:?}。可用 create、update、delete 或 cut。"),
                    ),
                    None,
                );
            }
        };
        match act.into_input() {
            Ok(Input::Source(source::Command::Write(write))) => self.write(Ok(write)),
            Ok(input) => self.insert(input),
            Err(reason) => self.write(Err(reason)),
        }
    }

    /// Goes to a marker.
    pub fn seek_marker(&mut self, id: &str) -> Change {
        match self.markers.iter().find(|marker| &*marker.id == id) {
            Some(marker) => {
                let at = marker.at;
                self.obey(Command::Seek(at))
            }
            None => {
                let id = shortened(id);
                let ids: Vec<&str> = self.markers.iter().map(|marker| &*marker.id).collect();
                let ids = ids.join(", ");
                let message = if ids.is_empty() {
                    Text::new(
                        &format!(
                            "There is no marker {id:?}: this run has none. Give a number of facts."
                        ),
                        &format!("没有标记 {id:?}：这次运行没有任何标记。请给出事实的数目。"),
                    )
                } else {
                    Text::new(
                        &format!("There is no marker {id:?} here. There are: {ids}."),
                        &format!("这里没有标记 {id:?}。现有：{}。", ids.replace(", ", "、")),
                    )
                };
                self.fail(message, None)
            }
        }
    }

    /// One tick of playing.
    pub fn tick(&mut self) -> Change {
        self.look_ahead(self.playback.cursor() + 1);
        if self.playback.tick(self.timeline.len()) {
            if !self.stop_at_breaks() && !self.stop_at_place() {
                self.join();
            }
            Change::Forward
        } else if self.timeline.is_full() {
            let most = self.timeline.most().min(self.timeline.len());
            self.fail(full(most), None)
        } else {
            Change::None
        }
    }

    /// Stops playing.
    pub fn pause(&mut self) {
        self.playback.pause();
    }

    /// Starts playing.
    pub fn play(&mut self) {
        self.forget_target();
        self.before_play();
        self.look_ahead(self.playback.cursor() + 1);
        self.playback.play(self.timeline.len());
    }

    /// Where it is and how it plays.
    #[must_use]
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// The run that is shown.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The fact that was shown last.
    #[must_use]
    pub fn current(&self) -> Option<FactRecord> {
        self.timeline.fact(self.playback.cursor().checked_sub(1)?)
    }

    /// The fact that was taken back last, and the state with it.
    #[must_use]
    pub fn taken_back(&self) -> Option<(FactRecord, Rc<Picture>)> {
        let cursor = self.playback.cursor();
        let record = self.timeline.fact(cursor)?;
        let picture = match self.picture.kept(cursor + 1) {
            Some(picture) => Rc::clone(picture),
            None => Rc::new(self.timeline.picture(cursor + 1)),
        };
        Some((record, picture))
    }

    /// The state at the cursor.
    pub fn picture(&mut self) -> Rc<Picture> {
        self.picture.at(&self.timeline, self.playback.cursor())
    }

    /// All that the screen shows now.
    pub fn view(&mut self) -> View {
        let compare = self.comparison();
        let picture = self.picture();
        let step = self.playback.cursor();
        let recent = self.timeline.facts(step.saturating_sub(RECENT)..step);
        View {
            picture,
            time: self.timeline.time_at(step),
            recent: (&*recent).into(),
            step,
            steps: self.timeline.len(),
            endless: self.timeline.is_endless(),
            thinned: self.timeline.thinned(),
            playing: self.playback.is_playing(),
            speed: self.playback.speed(),
            ticks: Rc::clone(&self.ticks),
            markers: Rc::clone(&self.markers),
            marks: self.landmarks.marks(),
            alike: self.landmarks.alike(),
            places: self.landmarks.places(),
            lesson: Rc::clone(&self.head),
            walking: self.walking(),
            why: self.why(),
            selection: self.selection(),
            followed: self.followed(),
            error: self.error.clone(),
            opening: self.opening,
            notice: self.notice.clone(),
            branches: Rc::clone(&self.branch_rows),
            events: self.server_events(),
            checks: Rc::clone(&self.checks),
            compare,
            settings: Rc::clone(&self.settings),
            live: self.live_view(),
        }
    }

    /// Opens a lesson at its start.
    pub fn open(&mut self, lesson: Lesson) -> Change {
        match Timeline::new(lesson.scenario.clone()) {
            Ok(timeline) => {
                self.begin(lesson, timeline);
                self.mark_anew();
                Change::Cut
            }
            Err(reason) => self.fail(cannot_run(&reason), None),
        }
    }

    /// Shows a run of a lesson, at its start; what is along it has yet to be found.
    fn begin(&mut self, lesson: Lesson, timeline: Timeline) {
        let speed = self.playback.speed();
        self.opened += 1;
        self.live = None;
        self.timeline = timeline;
        self.first_run = None;
        self.compared = None;
        self.branches = Branches::default();
        self.list_branches();
        self.list_settings();
        self.head = Rc::new(head_of(&lesson, self.timeline.scenario()));
        self.lesson = lesson;
        self.playback = Playback::default();
        self.playback.set_speed(speed);
        self.picture = shown::Shown::new(&self.timeline);
    }

    /// Runs the same once more, as another generation of client-go does; what the user did happens
    /// at the same virtual times again, and the cursor stays at its own.
    fn choose(&mut self, era: &str) -> Change {
        let Some(generation) = Generation::from_era(era) else {
            return self.fail(no_era(era), None);
        };
        if !self.head.can_choose {
            return self.fail(hand_made(), None);
        }
        // It runs as that already.
        if self.timeline.scenario().settings.era == Era(generation) {
            return Change::None;
        }
        self.playback.pause();
        let first = self.first_run.take();
        let first = first.unwrap_or_else(|| self.timeline.recording());
        let played = if first.scenario.settings.era == Era(generation) {
            self.play_again(&first, false)
        } else {
            self.play_again(&first.in_generation(generation), true)
        };
        self.first_run = Some(first);
        let (timeline, to) = match played {
            Ok(played) => played,
            Err(reason) => return self.fail(cannot_run(&reason), None),
        };
        self.timeline = timeline;
        self.head = Rc::new(head_of(&self.lesson, self.timeline.scenario()));
        self.error = None;
        self.list_settings();
        self.mark_anew();
        self.picture = shown::Shown::new(&self.timeline);
        self.playback.seek(to, self.timeline.len());
        self.notice = Some(from_the_start(generation));
        Change::Cut
    }

    fn write(&mut self, write: Result<Write, String>) -> Change {
        // What a cluster has, its run knows by what it was told.
        let is_told = self.timeline.scenario().settings.feed == SourceKind::Cluster;
        if is_told && !self.is_live() && self.picture().api.watch.is_none() {
            return self.fail(nothing_tells(), None);
        }
        match write {
            Ok(write) => self.insert(Input::Source(source::Command::Write(write))),
            Err(reason) => self.fail(Text::new(&reason, &format!("对象无效：{reason}")), None),
        }
    }

    /// Puts an input in at the cursor; the future is another one from there.
    fn insert(&mut self, input: Input<source::Command>) -> Change {
        if self.is_live() {
            return self.insert_live(input);
        }
        let at = self.playback.cursor();
        if at >= self.timeline.most() {
            return self.fail(full(self.timeline.most()), None);
        }
        // As a file counts them.
        let own = self.timeline.inputs().iter();
        if own.filter(|taken| !is_told(&taken.input)).count() >= MAX_INPUTS {
            return self.fail(too_many_inputs(), None);
        }
        // What the user did later is not lost: it stays a branch.
        if self.timeline.has_inputs_after(at) && !self.leave(Made::Acted, at) {
            return self.fail(branches::no_room(), None);
        }
        let follow = Follow::of(&input);
        self.first_run = None;
        let shown = self.timeline.insert(at, input);
        self.landmarks.cut(at);
        self.asked.cut(at);
        self.run_changed(at);
        self.playback.seek(shown, self.timeline.len());
        self.picture.cut(&self.timeline, at);
        self.timeline.extend(shown + CONSEQUENCE);
        self.marked();
        self.error = None;
        let new = self.timeline.facts(at..shown);
        if let Some(message) = new.iter().find_map(|record| refusal(&record.fact)) {
            return self.fail(message, None);
        }
        let after = self.timeline.facts(shown..shown + CONSEQUENCE);
        follow
            .find(&after)
            .map_or(Change::Cut, |facts| Change::Follow(shown + facts))
    }

    /// Whether the watch was closed and the reflector has not noticed yet.
    fn watch_is_ending(&self) -> bool {
        // It is noticed as soon as what is on its way has arrived.
        let cursor = self.playback.cursor();
        let before = cursor.saturating_sub(NOTICED)..cursor;
        let closed = self.timeline.each_back(before, &mut |_, record| {
            let closed = matches!(record.fact, Fact::Server(ServerFact::WatchClosed { .. }));
            let noticed = matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::WatchEnded { .. })
                    | Fact::Server(ServerFact::WatchAccepted { .. })
            );
            if closed || noticed {
                ControlFlow::Break(closed)
            } else {
                ControlFlow::Continue(())
            }
        });
        closed.unwrap_or_default()
    }

    /// What went wrong outside, until something else is asked for.
    pub fn say(&mut self, message: Text) -> Change {
        self.fail(message, None)
    }

    fn fail(&mut self, message: Text, line: Option<u32>) -> Change {
        self.error = Some(ErrorView { message, line });
        Change::Cut
    }

    fn move_by(&mut self, by: i64) -> Change {
        let before = self.playback.cursor();
        // What a usize cannot hold is farther than any run goes.
        let wanted = usize::try_from(by.max(0)).unwrap_or(usize::MAX);
        self.look_ahead(before.saturating_add(wanted));
        self.playback.step(by, self.timeline.len());
        if self.playback.cursor() == before + 1 {
            Change::Forward
        } else if self.playback.cursor() + 1 == before {
            Change::Back
        } else if self.playback.cursor() == before {
            Change::None
        } else {
            Change::Cut
        }
    }

    fn go_to(&mut self, to: usize) -> Change {
        self.look_ahead(to);
        self.playback.seek(to, self.timeline.len());
        Change::Cut
    }

    /// An endless run is computed as far as it is looked at.
    fn look_ahead(&mut self, to: usize) {
        let known = self.timeline.len();
        let wanted = to.saturating_add(AHEAD).min(known.saturating_add(LEAP));
        if wanted > known {
            self.timeline.extend(wanted);
            if self.timeline.len() > known {
                self.marked();
            }
        }
    }

    /// Finds markers and ticks in a run that is new.
    fn mark_anew(&mut self) {
        self.landmarks = Landmarks::of(&self.timeline, &self.lesson.markers);
        self.run_replaced();
        self.monitors = Invariants::of(&self.timeline);
        self.asked.forget();
        self.marked();
    }

    /// Finds what there is more, in slices.
    async fn marked_slowly(&mut self, slices: &Slices) {
        while self.landmarks.seen() < self.timeline.len() {
            let seen = self.landmarks.seen();
            let end = self.timeline.ready(seen, slices).await;
            let end = end.min(seen + SEGMENT / 2);
            let rules = &self.lesson.markers;
            self.landmarks.go_on_to(&self.timeline, rules, end);
            self.monitors.go_on_to(&self.timeline, end);
            slices.spend((end - seen) / SEEN).await;
        }
        self.marked();
    }

    /// Finds what there is more.
    fn marked(&mut self) {
        let rules = &self.lesson.markers;
        self.landmarks.go_on(&self.timeline, rules);
        self.monitors.go_on(&self.timeline);
        self.markers = self.landmarks.markers(rules);
        self.ticks = self.landmarks.ticks();
        self.list_checks();
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

/// What a click is worth watching for.
enum Follow {
    /// The write of this object reaches the queue.
    Queued(Key, EventType),
    /// The popped key is done with.
    Popped,
    /// The reflector watches again.
    Watching,
    /// A handler is there, or is not any more.
    Registered,
    /// Nothing.
    Nothing,
}

impl Follow {
    fn of(input: &Input<source::Command>) -> Self {
        match input {
            Input::Source(source::Command::Write(write)) => {
                let (key, event) = match write {
                    Write::Create(object) => (object_key(object), EventType::Added),
                    Write::Update(object) => (object_key(object), EventType::Modified),
                    Write::Delete { namespace, name } => {
                        (key_of(namespace, name), EventType::Deleted)
                    }
                };
                Self::Queued(key, event)
            }
            Input::Source(source::Command::Cut) => Self::Watching,
            Input::Source(_) => Self::Nothing,
            Input::Pop => Self::Popped,
            Input::Mode(_) | Input::KnownObjects(_) | Input::Print(_) | Input::Ask(_) => {
                Self::Nothing
            }
            Input::AddHandler(_) | Input::RemoveHandler(_) => Self::Registered,
        }
    }

    /// The number of facts up to there.
    fn find(&self, facts: &[FactRecord]) -> Option<usize> {
        let released = |from: usize, by: &[Actor]| {
            let rest = facts.get(from..)?;
            let place = rest.iter().position(
                |record| matches!(&record.fact, Fact::Queue(QueueFact::LockReleased { lock: LockName::Queue, by: who }) if by.contains(who)),
            )?;
            Some(from + place + 1)
        };
        match self {
            Self::Queued(key, event) => {
                let arrived = facts.iter().position(|record| {
                    matches!(
                        &record.fact,
                        Fact::Reflector(ReflectorFact::EventReceived { event: e, object, .. })
                            if e == event && object.key == *key
                    ) || fact_queries::called(&record.fact).is_some_and(|object| object.key == *key)
                })?;
                released(arrived, &[Actor::Reflector, Actor::Program])
            }
            Self::Popped => released(0, &[Actor::ProcessLoop]),
            Self::Watching => facts
                .iter()
                .position(|record| {
                    matches!(record.fact, Fact::Server(ServerFact::WatchAccepted { .. }))
                })
                .map(|place| place + 1),
            Self::Registered => facts
                .iter()
                .position(|record| {
                    matches!(
                        record.fact,
                        Fact::Handlers(
                            HandlersFact::HandlerAdded { .. } | HandlersFact::HandlerRemoved { .. }
                        )
                    )
                })
                .map(|place| place + 1),
            Self::Nothing => None,
        }
    }
}

fn head_of(lesson: &Lesson, scenario: &Scenario) -> LessonHead {
    let settings = &scenario.settings;
    let feed = settings.feed;
    LessonHead {
        id: Arc::clone(&lesson.id),
        title: lesson.title.clone(),
        note: lesson.note.clone(),
        era: if !settings.is_informer() {
            Arc::clone(&lesson.era)
        } else {
            settings.era.0.era().into()
        },
        can_switch_known: settings.machinery == InformerKind::Manual && !settings.has_fifo(),
        can_write: !matches!(feed, SourceKind::Recorded | SourceKind::Cluster),
        can_cut: feed == SourceKind::Server,
        can_add: settings.machinery == InformerKind::Shared,
        can_choose: settings.is_informer(),
        keeps_rv: settings.keeps_resource_version(),
        start: lesson.start,
    }
}

/// One more handler, which says its own name in what it prints.
fn late_handler(number: usize) -> HandlerSettings {
    let line = |what: &str| vec![format!("{what}:late-{number} {{name}}")];
    HandlerSettings {
        name: format!("late-{number}").into(),
        latency_ms: 300,
        on_add: line("OnAdd"),
        on_update: line("OnUpdate"),
        on_delete: line("OnDelete"),
        ..HandlerSettings::default()
    }
}

/// As the source takes it, and whether it needs an open watch.
fn fault_command(fault: Fault) -> (source::Command, bool) {
    let list = |kind| {
        let refusals = Refusals {
            watch: false,
            kind,
            times: 1,
        };
        (source::Command::Refuse(refusals), false)
    };
    match fault {
        Fault::Close => (source::Command::Close, true),
        Fault::Bookmark => (source::Command::Bookmark, true),
        Fault::Event(code) => (source::Command::ErrorEvent(code), true),
        Fault::List(403) => list(ApiErrorKind::Forbidden),
        Fault::List(410) => list(ApiErrorKind::Expired),
        Fault::List(429) => list(ApiErrorKind::TooManyRequests),
        Fault::List(_) => list(ApiErrorKind::InternalError),
        Fault::Refuse => list(ApiErrorKind::ConnectionRefused),
    }
}

fn key_of(namespace: &str, name: &str) -> Key {
    if namespace.is_empty() {
        Key::from(name)
    } else {
        Key::from(format!("{namespace}/{name}"))
    }
}

fn object_key(object: &kube_core::DynamicObject) -> Key {
    let metadata = &object.metadata;
    key_of(
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}

fn spec(draft: &Draft, labels: Option<std::collections::BTreeMap<String, String>>) -> PodSpec {
    let mut labels = labels.unwrap_or_default();
    if draft.app.is_empty() {
        labels.remove("app");
    } else {
        labels.insert("app".to_owned(), draft.app.clone());
    }
    PodSpec {
        namespace: draft.namespace.clone(),
        name: draft.name.clone(),
        labels,
        node: draft.node.clone(),
        phase: draft.phase.clone(),
    }
}

fn refusal(fact: &Fact) -> Option<Text> {
    let Fact::Server(ServerFact::WriteRefused { verb, key, refusal }) = fact else {
        return None;
    };
    Some(match (verb, refusal) {
        (_, Refusal::AlreadyExists) => Text::new(
            &format!("{key} exists already (409 AlreadyExists). Choose another name, or edit it."),
            &format!("{key} 已存在（409 AlreadyExists）。请换个名字，或编辑它。"),
        ),
        (Verb::Delete, Refusal::NotFound) => Text::new(
            &format!("There is no {key} to delete (404 NotFound)."),
            &format!("没有可删除的 {key}（404 NotFound）。"),
        ),
        (_, Refusal::NotFound) => Text::new(
            &format!("There is no {key} to change (404 NotFound). Create it first."),
            &format!("没有可修改的 {key}（404 NotFound）。请先创建。"),
        ),
        (_, Refusal::Invalid(_)) => Text::new(
            "A recording cannot be written to. Open a lesson or the sandbox to write objects.",
            "录制的流不能写入。请打开某个课程或沙盒再写对象。",
        ),
    })
}

fn no_era(era: &str) -> Text {
    let known: Vec<_> = Generation::ALL.map(Generation::era).into();
    Text::new(
        &format!(
            "There is no generation {era:?}. There are: {}.",
            known.join(", ")
        ),
        &format!("没有实现版本 {era:?}。现有：{}。", known.join("、")),
    )
}

/// What a switch of KnownObjects holds for.
fn from_here(on: bool) -> Text {
    let (en, zh) = if on {
        ("on", "打开")
    } else {
        ("off", "关闭")
    };
    Text::new(
        &format!("KnownObjects is {en} from here on. Start over (R) to run all of it so."),
        &format!("KnownObjects 从此刻起{zh}。重新开始（R）可让整个运行都这样。"),
    )
}

/// What a switch of the generation holds for.
fn from_the_start(generation: Generation) -> Text {
    let era = generation.era();
    Text::new(
        &format!(
            "All of the run was computed anew as client-go of {era} does it, from the start; what you did happens at the same times."
        ),
        &format!("整个运行已从头按 client-go {era} 重新计算；你的操作仍发生在相同的时间。"),
    )
}

/// Whoever asks for a generation where there are none is told this.
pub fn hand_made() -> Text {
    Text::new(
        "This program puts its queue together by hand: it is the same in every generation. Open a lesson with an informer.",
        "这个程序自己搭建队列，在每个实现版本里都一样。请打开一个有 informer 的课程。",
    )
}

fn cannot_run(reason: &str) -> Text {
    Text::new(reason, &format!("无法运行：{reason}"))
}

fn no_watch() -> Text {
    Text::new(
        "There is no open watch to cut at this moment. Step on until the reflector watches.",
        "此刻没有打开的 watch 可以切断。请前进到 Reflector 开始 watch 之后。",
    )
}

fn nothing_open() -> Text {
    Text::new(
        "No watch is open at this moment: there is none to send anything over, or to close. Step on until the reflector watches.",
        "此刻没有打开的 watch：既不能用它发送，也无从关闭。请前进到 Reflector 开始 watch 之后。",
    )
}

fn no_handler() -> Text {
    Text::new(
        "There is no such handler any more, or it is being removed already.",
        "没有这个 handler，或它已经在移除中。",
    )
}

fn no_history() -> Text {
    Text::new(
        "There is no simulated API server here whose history could be forgotten. Open the sandbox.",
        "这里没有模拟的 API server,没有可以丢弃的历史。请打开沙盒。",
    )
}

fn nothing_tells() -> Text {
    Text::new(
        "No watch is open at this moment, so nothing would tell of the object. Go to a moment at which the reflector watches.",
        "此刻没有打开的 watch，写入的对象不会有人知道。请到 Reflector 正在 watch 的时刻再写。",
    )
}

fn full(most: usize) -> Text {
    Text::new(
        &format!("No more than {most} facts are kept, and here they end. Go back, or reset."),
        &format!("最多保留 {most} 个事实，到此为止。请后退，或重置。"),
    )
}

fn too_many_inputs() -> Text {
    Text::new(
        &format!(
            "No more than {MAX_INPUTS} inputs are kept, so that the run can be opened again. Go back, or reset."
        ),
        &format!("最多保留 {MAX_INPUTS} 个输入，这样运行才能再次打开。请后退，或重置。"),
    )
}

fn not_held() -> Text {
    Text::new(
        "The process loop pops by itself. Set it to held, then pop by hand.",
        "处理循环会自己 Pop。请先设为手动，再逐个 Pop。",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_is_full_says_so_and_takes_no_more() {
        let mut session = Session::new();
        session.timeline.limit(10_000);
        session.obey(Command::Step(i64::MAX));
        let steps = session.view().steps;
        assert_eq!(session.view().step, steps);
        assert!((10_000..10_100).contains(&steps) && !session.view().endless);
        session.play();
        assert_eq!(session.tick(), Change::Cut);
        let message = |session: &mut Session| session.view().error.unwrap().message.en;
        assert!(message(&mut session).contains("No more than 10000 facts"));
        session.obey(Command::DismissError);
        session.inject("create", json!({ "metadata": { "name": "x" } }));
        assert!(message(&mut session).contains("No more than 10000 facts"));
        assert_eq!(session.view().steps, steps);
        // There is room again farther back.
        session.obey(Command::Seek(5_000));
        session.inject("create", json!({ "metadata": { "name": "x" } }));
        assert!(session.view().error.is_none());
    }

    #[test]
    fn a_command_computes_only_so_much() {
        let mut session = Session::new();
        let known = session.view().steps;
        session.obey(Command::Seek(usize::MAX));
        let steps = session.view().steps;
        assert!((known + LEAP..known + LEAP + 100).contains(&steps));
        assert!(session.view().endless);
    }
}
