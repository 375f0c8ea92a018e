//! Branches: forks, dropped or moved events, other settings, and switching between branches.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use crate::command::When;
use crate::decimal::seconds;
use crate::fact_queries;
use crate::strings;
use crate::view::{BranchRow, ServerEvent, SettingRow};
use deltascope_cache::fact::{Cause, Fact, FactRecord, RunFact, ServerFact, WatchEnd};
use deltascope_replay::branches::{Branch, MOST_BRANCHES, Made};
use deltascope_replay::edit::{Edit, EditError, Origin, Setting, as_set};
use deltascope_replay::recording::Recording;
use deltascope_replay::timeline::{Timeline, is_response};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text::{Lang, Text, counted};
use deltascope_world::{Time, text};

use super::marking::Marking;
use super::messages::cannot_run;
use super::{Change, LEAP, Session, head_of};

/// How many of the server's events are listed before the cursor and after it.
const EVENTS: (usize, usize) = (8, 4);
/// They are searched for within this many facts of the cursor.
const AROUND: usize = 1_500;

/// The state of a branch that is not shown.
#[derive(Clone)]
pub(super) struct Kept {
    /// The run of the branch.
    pub(super) timeline: Timeline,
    /// The cursor of the branch.
    pub(super) cursor: usize,
    /// The landmarks and the violations of the run.
    found: Marking,
}

/// How many inputs a run has that are no responses of a cluster.
pub(super) fn own_inputs(run: &Timeline) -> usize {
    let own = run.inputs().iter();
    own.filter(|taken| !is_response(&taken.input)).count()
}

impl Session {
    /// Starts a branch at the cursor, without the user's later inputs.
    pub(super) fn fork(&mut self) -> Change {
        let at = self.playback.cursor();
        let before = self.branch_name();
        if !self.leave(Made::Forked, at) {
            return self.say(no_room());
        }
        let inputs = own_inputs(&self.timeline);
        self.timeline.forget_after(at);
        let left = inputs - own_inputs(&self.timeline);
        self.notice = self.left_behind(left, before);
        self.cut(at);
        self.error = None;
        self.marked();
        Change::Cut
    }

    pub(super) fn branch_name(&self) -> Option<Text> {
        self.branches.get(self.branches.current()).map(name_of)
    }

    /// Says that inputs of the user's stayed in the branch of this name.
    pub(super) fn left_behind(&self, count: usize, before: Option<Text>) -> Option<Text> {
        let now = numbered(self.branches.current());
        before
            .filter(|_| count > 0)
            .map(|before| left_behind(count, &before, &now))
    }

    /// Switches to another branch, at its cursor.
    pub(super) fn switch(&mut self, id: u32) -> Change {
        let kept = self.keep();
        if self.branches.get(id).is_none() {
            return self.say(no_branch(id));
        }
        let Some(other) = self.branches.switch(id, kept) else {
            return Change::None;
        };
        self.error = None;
        self.show(other.timeline, other.cursor, Some(other.found));
        Change::Cut
    }

    pub(super) fn remove_branch(&mut self, id: u32) -> Change {
        if !self.branches.remove(id) {
            return self.say(cannot_remove());
        }
        Change::None
    }

    /// The lesson's own run, in the generation that is shown and whatever was set, if this one is another.
    pub(super) fn own_run(&self) -> Option<Scenario> {
        let own = &self.lesson.scenario;
        let shown = own.in_era(Some(self.head.era));
        let Recording {
            scenario: run,
            inputs,
        } = self.timeline.recording();
        let is_own = inputs.is_empty() && (own.is_same(&run) || shown.is_same(&run));
        (!is_own).then_some(shown)
    }

    /// Starts the lesson's own run, if this one is another. That one stays a branch; its number is returned.
    pub(super) fn begin_own_run(&mut self) -> Result<Option<u32>, Text> {
        let Some(own) = self.own_run() else {
            return Ok(None);
        };
        let mut timeline = Timeline::new(own).map_err(|reason| cannot_run(&reason))?;
        timeline.limit(self.timeline.most());
        let left = self.branches.current();
        if !self.leave(Made::Reset, 0) {
            return Err(no_room());
        }
        self.show(timeline, 0, None);
        Ok(Some(left))
    }

    /// Starts over with the current settings and without the user's inputs. If that changes the run, the old run
    /// stays a branch.
    pub(super) fn start_over(&mut self) -> Change {
        self.error = None;
        let Recording {
            scenario: run,
            mut inputs,
        } = self.timeline.recording();
        let scenario = as_set(&self.lesson.scenario, &run, &inputs);
        let done = inputs.len();
        // The answers of a cluster are not the user's inputs.
        inputs.retain(|taken| is_response(&taken.input));
        let is_other = inputs.len() < done || !run.is_same(&scenario);
        let kept = kept_at_start(&self.lesson.scenario, &scenario);
        let recording = Recording { scenario, inputs };
        let played = if recording.inputs.is_empty() {
            Timeline::new(recording.scenario)
        } else {
            let most = self.timeline.len().saturating_add(LEAP);
            recording.play_within(most).map(|(timeline, _)| timeline)
        };
        match played {
            Ok(mut timeline) => {
                timeline.limit(self.timeline.most());
                if is_other && !self.leave(Made::Reset, 0) {
                    return self.say(no_room());
                }
                self.show(timeline, 0, None);
                self.notice = kept;
                Change::Cut
            }
            Err(reason) => self.say(cannot_run(&reason)),
        }
    }

    /// Makes a branch in which the server's event at this place does not happen.
    pub(super) fn drop_event(&mut self, place: usize) -> Change {
        match self.event_at(place) {
            Some((origin, record)) => self.edit(Edit::Drop(origin), Some(record)),
            None => self.say(cannot_edit(EditError::Gone)),
        }
    }

    /// Makes a branch in which the event happens at another time.
    pub(super) fn move_event(&mut self, place: usize, when: When) -> Change {
        let Some((origin, record)) = self.event_at(place) else {
            return self.say(cannot_edit(EditError::Gone));
        };
        let to = match when {
            When::At(time) => Some(time),
            When::Earlier => self
                .neighbour(place, origin, false)
                .map(|time| time.saturating_sub(1)),
            When::Later => self.neighbour(place, origin, true).map(|time| time + 1),
        };
        match to {
            Some(to) => self.edit(Edit::Move { origin, to }, Some(record)),
            None => self.say(no_neighbour()),
        }
    }

    /// Makes a branch with another setting.
    pub(super) fn set(&mut self, setting: Setting) -> Change {
        self.edit(Edit::Set(setting), None)
    }

    fn edit(&mut self, edit: Edit, record: Option<FactRecord>) -> Change {
        if !self.branches.has_room() {
            return self.say(no_room());
        }
        let edit = match self.as_recorded(edit) {
            Some(edit) => edit,
            None => return self.say(cannot_edit(EditError::Gone)),
        };
        let recording = match self.timeline.recording().edited(&edit, record.as_ref()) {
            Ok(recording) => recording,
            Err(error) => return self.say(cannot_edit(error)),
        };
        let by_time = matches!(edit, Edit::Set(_));
        let (timeline, to) = match self.play_again(&recording, by_time, self.leap()) {
            Ok(played) => played,
            Err(reason) => return self.say(cannot_run(&reason)),
        };
        let key = record.as_ref().and_then(|record| record.fact.key());
        let key = key.map(|key| Arc::from(&**key));
        // `time_at` takes the number of facts up to and including the event.
        let place = record.and_then(|record| self.timeline.place_of(record.id));
        let at = place.map_or(0, |place| place + 1);
        if !self.leave(Made::Edited(edit, key), at) {
            return self.say(no_room());
        }
        self.error = None;
        self.show(timeline, to, None);
        Change::Cut
    }

    /// The edit with the numbers of the recording instead of those of the shown run.
    fn as_recorded(&self, edit: Edit) -> Option<Edit> {
        Some(match edit {
            Edit::Drop(Origin::Input(number)) => {
                Edit::Drop(Origin::Input(self.timeline.recorded_input(number)?))
            }
            Edit::Move {
                origin: Origin::Input(number),
                to,
            } => Edit::Move {
                origin: Origin::Input(self.timeline.recorded_input(number)?),
                to,
            },
            other => other,
        })
    }

    /// The most facts with which a run is played again, so that the page responds: many more than it had.
    pub(super) fn leap(&self) -> usize {
        self.timeline.len().saturating_add(LEAP)
    }

    /// Plays a recording up to the time at the cursor, with at most `most` facts. Returns the run and the number of
    /// facts up to there.
    pub(super) fn play_again(
        &self,
        recording: &Recording,
        by_time: bool,
        most: usize,
    ) -> Result<(Timeline, usize), String> {
        let mut timeline = if by_time {
            recording.play_by_time(most)?
        } else {
            recording.play_within(most)?.0
        };
        let cursor = self.playback.cursor();
        let to = if cursor == 0 {
            0
        } else {
            timeline.extend_past(self.timeline.time_at(cursor))
        };
        timeline.limit(self.timeline.most());
        Ok((timeline, to))
    }

    /// Keeps the run so far as a branch and makes a new branch the current one. Returns false if there is no room.
    pub(super) fn leave(&mut self, made: Made, at: usize) -> bool {
        let time = self.timeline.time_at(at);
        let kept = self.keep();
        self.branches.leave(kept, time, made)
    }

    fn keep(&self) -> Kept {
        let mut timeline = self.timeline.clone();
        timeline.rest();
        let mut invariants = self.marking.invariants.clone();
        invariants.thin(&timeline);
        let landmarks = self.marking.landmarks.beside(&timeline);
        Kept {
            timeline,
            cursor: self.playback.cursor(),
            found: Marking {
                landmarks,
                invariants,
            },
        }
    }

    /// Shows another run of the same lesson.
    pub(super) fn show(&mut self, timeline: Timeline, cursor: usize, found: Option<Marking>) {
        self.playback.pause();
        self.timeline = timeline;
        self.first_run = None;
        self.head = Rc::new(head_of(&self.lesson, self.timeline.scenario()));
        self.list_settings();
        match found {
            Some(found) => self.mark(found),
            None => self.mark_anew(),
        }
        self.picture = super::shown::Shown::new(&self.timeline);
        self.playback.seek(cursor, self.timeline.len());
    }

    pub(super) fn branch_rows(&self) -> Rc<[BranchRow]> {
        let current = self.branches.current();
        let row = |branch: &Branch| BranchRow {
            id: branch.id,
            name: name_of(branch),
            is_named: !branch.name.is_empty(),
            made: match self.changes(branch) {
                0 => made_of(branch),
                changes => changed(changes),
            },
            depth: branch.depth,
            current: branch.id == current,
        };
        self.branches.iter().map(row).collect()
    }

    /// How many changes of the user's the branch that was opened has by now. Those of a live run are the cluster's.
    fn changes(&self, branch: &Branch) -> usize {
        let kept = self.branches.kept(branch.id);
        let run = kept.map_or(&self.timeline, |kept| &kept.timeline);
        match branch.made == Made::Opened && !self.is_live() {
            true => own_inputs(run).saturating_sub(self.given),
            false => 0,
        }
    }

    /// Whether the run that was opened is shown, with changes of the user's.
    pub(super) fn is_changed(&self) -> bool {
        let branch = self.branches.get(self.branches.current());
        branch.is_some_and(|branch| self.changes(branch) > 0)
    }

    /// The run that was opened, if the user has changed it and it is shown.
    pub(super) fn unchanged(&self) -> Option<Recording> {
        self.is_changed().then(|| {
            let mut recording = self.timeline.recording();
            let mut own = 0;
            recording.inputs.retain(|taken| {
                let responds = is_response(&taken.input);
                own += usize::from(!responds);
                responds || own <= self.given
            });
            recording
        })
    }

    /// Lists the settings that can be changed.
    pub(super) fn list_settings(&mut self) {
        let scenario = self.timeline.scenario();
        let settings = Setting::all_of(scenario);
        self.settings = settings
            .into_iter()
            .filter(|setting| setting.fits(scenario))
            .map(|setting| SettingRow {
                name: setting_name(&setting),
                value: setting.value(),
                setting,
            })
            .collect();
    }

    fn event_at(&self, place: usize) -> Option<(Origin, FactRecord)> {
        let record = self.timeline.fact(place)?;
        Some((Origin::of(&record)?, record))
    }

    /// The time of the server's previous or next event.
    fn neighbour(&self, place: usize, origin: Origin, after: bool) -> Option<Time> {
        let mut seen = |_: usize, record: &FactRecord| match Origin::of(record) {
            Some(other) if other != origin && what(record).is_some() => {
                ControlFlow::Break(record.time)
            }
            _ => ControlFlow::Continue(()),
        };
        if after {
            let range = place + 1..place.saturating_add(AROUND);
            self.timeline.each(range, &mut seen)
        } else {
            let range = place.saturating_sub(AROUND)..place;
            self.timeline.each_back(range, &mut seen)
        }
    }

    /// The server's events around the cursor.
    pub(super) fn server_events(&self) -> Rc<[ServerEvent]> {
        let cursor = self.playback.cursor();
        let recorded = self.timeline.scenario().recorded.is_some();
        let row = |place: usize, record: &FactRecord| {
            Origin::of(record)?;
            let what = what(record)?;
            let rv = version_of(&record.fact);
            Some(ServerEvent {
                place,
                time: record.time,
                what,
                key: record
                    .fact
                    .key()
                    .map_or_else(Arc::default, |key| Arc::from(&**key)),
                rv: rv.unwrap_or_default(),
                past: place < cursor,
                can_move: recorded
                    || !matches!(record.cause, Cause::Source(_))
                    || fact_queries::written(&record.fact).is_some(),
            })
        };
        let mut rows = Vec::new();
        let before = cursor.saturating_sub(AROUND)..cursor;
        self.timeline.each_back::<()>(before, &mut |place, record| {
            rows.extend(row(place, record));
            enough(rows.len() >= EVENTS.0)
        });
        rows.reverse();
        let past = rows.len();
        let after = cursor..cursor.saturating_add(AROUND);
        self.timeline.each::<()>(after, &mut |place, record| {
            rows.extend(row(place, record));
            enough(rows.len() >= past + EVENTS.1)
        });
        rows.into()
    }
}

/// The settings that differ from the lesson's own and are kept when the run starts over.
fn kept_at_start(own: &Scenario, scenario: &Scenario) -> Option<Text> {
    let before = Setting::all_of(own);
    let set = Setting::all_of(scenario).into_iter().zip(before);
    let streams = |of: &Scenario| of.settings.watch_list;
    let set = set.filter(|(now, before)| match now {
        // It follows from the generation.
        Setting::WatchList(_) if streams(own) == streams(scenario) => false,
        _ => now != before && now.fits(scenario),
    });
    let (mut en, mut zh) = (Vec::new(), Vec::new());
    for (now, _) in set {
        let (name, value) = match now {
            // The label in the form would be too long here.
            Setting::Mode(mode) => (
                Text::new("process loop", "处理循环"),
                Text::new(strings::mode(Lang::En, mode), strings::mode(Lang::Zh, mode)),
            ),
            _ => (setting_name(&now), Text::new(&now.value(), &now.value())),
        };
        en.push(format!("{}: {}", name.en, value.en));
        zh.push(format!("{}：{}", name.zh, value.zh));
    }
    (!en.is_empty()).then(|| {
        text!(
            ("Started over with what you have set: {}.", en.join(", ")),
            ("已按你的设置重新开始：{}。", zh.join("，"))
        )
    })
}

fn enough(is_enough: bool) -> ControlFlow<()> {
    if is_enough {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// The version of the object that was written, sent or called with.
fn version_of(fact: &Fact) -> Option<Arc<str>> {
    let object = if let Fact::Server(ServerFact::EventSent { object, .. }) = fact {
        object
    } else {
        fact_queries::written(fact).or_else(|| fact_queries::called(fact))?
    };
    Some(Arc::clone(&object.rv))
}

/// An event of the server that the user may want to drop or move.
fn what(record: &FactRecord) -> Option<Text> {
    if let Fact::Run(RunFact::Called { delta_type, .. }) = &record.fact {
        return Some(Text::new(delta_type.as_str(), delta_type.as_str()));
    }
    let Fact::Server(fact) = &record.fact else {
        return None;
    };
    let (en, zh) = match fact {
        ServerFact::ObjectCreated { .. } => ("created", "创建"),
        ServerFact::ObjectUpdated { .. } => ("updated", "更新"),
        ServerFact::ObjectDeleted { .. } => ("deleted", "删除"),
        ServerFact::WriteRefused { .. } => ("write refused", "写入被拒绝"),
        ServerFact::HistoryCompacted { .. } => ("history forgotten", "历史被丢弃"),
        ServerFact::EventSent { event, .. } => {
            return Some(Text::new(event.as_str(), event.as_str()));
        }
        ServerFact::WatchClosed { end, .. } => match end {
            WatchEnd::Closed => ("watch closed", "watch 关闭"),
            _ => ("watch cut", "watch 被切断"),
        },
        // Answers of the server, and refusals that it was asked for.
        ServerFact::RefusalsAsked { .. }
        | ServerFact::ListAnswered { .. }
        | ServerFact::ObjectsLearned { .. }
        | ServerFact::RequestDeferred { .. }
        | ServerFact::ListRefused { .. }
        | ServerFact::WatchAccepted { .. }
        | ServerFact::WatchRefused { .. }
        | ServerFact::WatchDenied { .. }
        | ServerFact::ConnectionRefused => return None,
    };
    Some(Text::new(en, zh))
}

pub(super) fn name_of(branch: &Branch) -> Text {
    if !branch.name.is_empty() {
        return Text::new(&branch.name, &branch.name);
    }
    if branch.made == Made::Opened {
        return Text::new("main", "主线");
    }
    // As the notice says that it begins.
    if let Made::Forked | Made::Acted = branch.made {
        return numbered(branch.id);
    }
    let (id, made) = (branch.id, made_of(branch));
    text!(("{id} · {}", made.en), ("{id} · {}", made.zh))
}

fn numbered(id: u32) -> Text {
    text!("Branch {id}", "分支 {id}")
}

/// Says where the user's inputs are that a fork has left behind.
fn left_behind(count: usize, before: &Text, now: &Text) -> Text {
    let inputs = counted(count, "later input", "later inputs");
    text!(
        ("{} begins here. {inputs} stayed in {}.", now.en, before.en),
        (
            "“{}”从此处开始，不含之后的 {count} 个操作：它们留在“{}”里。",
            now.zh,
            before.zh
        )
    )
}

fn made_of(branch: &Branch) -> Text {
    let at = seconds(branch.time);
    let (en, zh) = match &branch.made {
        Made::Opened => return opened(),
        Made::Forked => ("forked".to_owned(), "分叉".to_owned()),
        Made::Reset => return Text::new("started over", "重新开始"),
        Made::Smallest => return Text::new("the smallest run", "最小的运行"),
        Made::Acted => ("another input".to_owned(), "另一个输入".to_owned()),
        Made::Edited(edit, key) => return edited(edit, key.as_deref(), &at),
    };
    text!("{en} at {at} s", "在 {at} s {zh}")
}

/// What a run is called that nothing has changed.
pub(super) fn opened() -> Text {
    Text::new("as it was opened", "打开时的样子")
}

fn changed(changes: usize) -> Text {
    text!(
        ("with {} of yours", counted(changes, "change", "changes")),
        "加上你的 {changes} 处更改"
    )
}

fn edited(edit: &Edit, key: Option<&str>, at: &str) -> Text {
    let key = key.map(|key| format!(" {key}")).unwrap_or_default();
    match edit {
        Edit::Drop(_) => text!(
            "without what happened to{key} at {at} s",
            "去掉 {at} s 的事件{key}"
        ),
        Edit::Move { to, .. } => {
            let to = seconds(*to);
            text!(
                "what happened at {at} s happens at {to} s{key}",
                "{at} s 的事件移到 {to} s{key}"
            )
        }
        Edit::Set(Setting::Generation(generation)) => {
            let release = strings::story::client_go(*generation);
            Text::new(&release, &release)
        }
        Edit::Set(setting) => {
            let (name, value) = (setting_name(setting), setting.value());
            let text = |name: &str| format!("{name} = {value}");
            Text::new(&text(&name.en), &text(&name.zh))
        }
    }
}

/// The label of a setting.
fn setting_name(setting: &Setting) -> Text {
    let [(en, zh), _] = words(setting);
    Text::new(en, zh)
}

macro_rules! words {
    ($($setting:pat => $en:literal, $zh:literal; $run_en:literal, $run_zh:literal;)*) => {
        /// What a setting is called, and what a run with this value of it, the `#`.
        pub(super) fn words(setting: &Setting) -> [(&'static str, &'static str); 2] {
            match setting { $($setting => [($en, $zh), ($run_en, $run_zh)],)* }
        }
    };
}

words! {
    Setting::Generation(_) => "client-go of Kubernetes", "client-go（Kubernetes 版本）"; "client-go #", "client-go #";
    Setting::Traffic(_) => "seed of the traffic", "流量的随机种子"; "traffic of seed #", "随机种子 # 的流量";
    Setting::ResyncMs(_) => "resync every … ms (0: never)", "每 … ms resync（0：从不）"; "resync every # ms", "每 # ms resync";
    Setting::PageSize(0) => "objects a page (0: default)", "每页对象数（0：默认）"; "pages as they are by default", "默认的分页";
    Setting::PageSize(_) => "objects a page (0: default)", "每页对象数（0：默认）"; "pages of #", "每页 # 个";
    Setting::WatchList(true) => "streaming list", "流式列表"; "with a streaming list", "使用流式列表";
    Setting::WatchList(false) => "streaming list", "流式列表"; "with plain lists", "使用普通列表";
    Setting::KnownObjects(true) => "KnownObjects", "KnownObjects"; "with KnownObjects", "有 KnownObjects";
    Setting::KnownObjects(false) => "KnownObjects", "KnownObjects"; "without KnownObjects", "没有 KnownObjects";
    Setting::Mode(_) => "process loop: free, held or a pause in ms", "处理循环：free、held 或停顿 ms"; "process loop: #", "处理循环：#";
    Setting::ProcessMs(_) => "process takes … ms", "process 用时 … ms"; "process takes # ms", "process 用时 # ms";
    Setting::HandlerMs(_) => "each handler takes … ms", "每个 handler 用时 … ms"; "handlers take # ms", "handler 用时 # ms";
    Setting::WorkFailures(_) => "times that a key fails", "每个 key 失败的次数"; "each key fails # times", "每个 key 失败 # 次";
}

pub(super) fn no_room() -> Text {
    text!(
        "There are {MOST_BRANCHES} branches, and no more are kept. Remove one first.",
        "已有 {MOST_BRANCHES} 个分支，不能再多。请先删除一个。"
    )
}

pub(super) fn no_value(setting: &Setting, value: &str) -> Text {
    let choices = setting.choices();
    let (en, zh) = if choices.is_empty() {
        ("a whole number".to_owned(), "一个整数".to_owned())
    } else {
        (choices.join(", "), choices.join("、"))
    };
    let name = setting_name(setting);
    text!(
        ("{}: {value:?} is not a value of it. Write {en}.", name.en),
        ("{}：不能是 {value:?}。请写 {zh}。", name.zh)
    )
}

fn no_branch(id: u32) -> Text {
    text!(
        "There is no branch {id}. The branches are listed in the drawer.",
        "没有分支 {id}。侧栏里列出了所有分支。"
    )
}

fn cannot_remove() -> Text {
    Text::new(
        "This branch has to stay: it is shown, or all others come from it. Go to another one first.",
        "这个分支不能删除：正在显示，或是所有分支的起点。请先切换到别的分支。",
    )
}

fn no_neighbour() -> Text {
    Text::new(
        "The server did nothing else near it that it could come before or after.",
        "附近没有别的服务器事件可以与它交换先后。",
    )
}

fn cannot_edit(error: EditError) -> Text {
    match error {
        EditError::Gone => Text::new(
            "That is not something the server did. Choose one of the events in the list.",
            "那不是服务器自己做的或被要求做的事。请在列表中选一个事件。",
        ),
        EditError::NoEvent => Text::new(
            "This event cannot be moved, only left out.",
            "这个事件不能移动，只能去掉。",
        ),
        EditError::TooLate => Text::new("That time is too late.", "时间太晚了。"),
        EditError::NoSuchSetting => Text::new(
            "This program has nothing that the setting could change.",
            "这个程序没有此设置可以改变的东西。",
        ),
    }
}
