//! Side by side: another run beside this one, at the same virtual time.

use std::rc::Rc;

use crate::against::{Against, With};
use crate::caption::{self, Naming, Voice};
use crate::view::{BesideView, Checks, Choice, CompareView, RECENT, Side};
use deltascope_cache::controller::Generation;
use deltascope_replay::diff::{self, Tallies};
use deltascope_replay::edit::{Edit, Setting};
use deltascope_replay::invariants::{Invariants, Violation};
use deltascope_replay::picture::Picture;
use deltascope_replay::timeline::Timeline;
use deltascope_replay::writes::{Alike, Writes};
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

use super::branches::{name_of, opened, words};
use super::messages::cannot_run;
use super::shown::Shown;
use super::{Beside, Change, LEAP, Session};

/// Slow enough to show how a handler falls behind.
const SLOW_MS: u32 = 600;

/// The other run.
pub(super) struct Compared {
    with: With,
    timeline: Timeline,
    picture: Shown,
    checks: Invariants,
    tallies: (Tallies, Tallies),
    writes: [Writes; 2],
    /// This run has changed since the comparison was computed.
    stale: bool,
}

impl Session {
    fn compare(&mut self, with: With) -> Change {
        self.playback.pause();
        self.hold_against(with);
        Change::Cut
    }

    fn hold_against(&mut self, with: With) {
        self.beside = match self.other_run(with) {
            Ok(timeline) => Some(Beside::Two(Box::new(Compared {
                with,
                picture: Shown::new(&timeline),
                checks: Invariants::of(&timeline),
                timeline,
                tallies: (Tallies::default(), Tallies::default()),
                writes: [Writes::default(), Writes::default()],
                stale: false,
            }))),
            Err(message) => {
                self.say(message);
                None
            }
        };
    }

    /// Shows this run alone.
    pub(super) fn close_comparison(&mut self) -> Change {
        self.beside = None;
        Change::Cut
    }

    pub(super) fn compare_against(&mut self, against: Against) -> Change {
        match against {
            Against::First => self.compare(self.first_choice()),
            Against::Race => self.race_from_parting(),
            Against::Run(with) => self.compare(with),
        }
    }

    /// This run has changed after its first `at` facts.
    pub(super) fn run_changed(&mut self, at: usize) {
        self.marking.invariants.cut(at);
        self.run_cut(at);
    }

    /// Another run is shown.
    pub(super) fn run_replaced(&mut self) {
        self.run_cut(0);
    }

    fn run_cut(&mut self, at: usize) {
        self.forget_found();
        self.cut_story(at);
        self.run += 1;
        self.packed.take();
        match &mut self.beside {
            Some(Beside::Two(compared)) => compared.stale = true,
            Some(Beside::Four(racing)) => racing.stale = true,
            None => {}
        }
    }

    /// Lists the violations found so far.
    pub(super) fn list_checks(&mut self) {
        let violations = self.marking.invariants.violations();
        let applying = self.marking.invariants.applying();
        if *self.checks.violations != *violations || *self.checks.applying != *applying {
            self.checks = Rc::new(Checks {
                applying: applying.to_vec(),
                violations: violations.to_vec(),
            });
        }
    }

    fn other_run(&self, with: With) -> Result<Timeline, Text> {
        match with {
            With::Branch(id) => match self.branches.kept(id) {
                Some(kept) => Ok(kept.timeline.clone()),
                None => Err(no_branch(id)),
            },
            With::Opened => {
                let recording = self.unchanged().ok_or_else(|| no_such(&with.id()))?;
                let run = self.play_again(&recording, true, self.leap());
                run.map(|(run, _)| run)
                    .map_err(|reason| cannot_run(&reason))
            }
            With::Setting(setting) => {
                let recording = self.timeline.recording();
                let edited = recording.edited(&Edit::Set(setting), None);
                let edited = edited.map_err(|_| no_setting(setting))?;
                let most = self.timeline.len().saturating_add(LEAP);
                let mut timeline = edited
                    .play_by_time(most)
                    .map_err(|reason| cannot_run(&reason))?;
                timeline.limit(self.timeline.most());
                Ok(timeline)
            }
        }
    }

    /// What this run is shown beside, at the cursor.
    pub(super) fn beside_view(&mut self) -> Option<BesideView> {
        if let Some(Beside::Two(compared)) = &self.beside
            && compared.stale
        {
            // The branch may be the current one by now, or removed.
            match compared.with {
                With::Branch(id) if self.branches.kept(id).is_none() => self.beside = None,
                With::Opened if !self.is_changed() => self.beside = None,
                with => self.hold_against(with),
            }
        }
        match self.beside.as_ref()? {
            Beside::Two(compared) => self.comparison(compared.with).map(BesideView::Two),
            Beside::Four(_) => self.race_view().map(BesideView::Four),
        }
    }

    /// Both runs at the cursor's virtual time.
    fn comparison(&mut self, with: With) -> Option<Rc<CompareView>> {
        let left = self.picture();
        let cursor = self.playback.cursor();
        let now = self.timeline.time_at(cursor);
        let names = self.names(with);
        let Some(Beside::Two(compared)) = &mut self.beside else {
            return None;
        };
        let step = if cursor == 0 {
            0
        } else {
            compared.timeline.extend_past(now)
        };
        compared.checks.check_new(&compared.timeline);
        let right = compared.picture.at(&compared.timeline, step);
        let broken = (
            broken_before(self.marking.invariants.violations(), cursor),
            broken_before(compared.checks.violations(), step),
        );
        let tallies = (
            compared.tallies.0.at(&self.timeline, cursor),
            compared.tallies.1.at(&compared.timeline, step),
        );
        compared.writes[0].read_up_to(&self.timeline, cursor);
        compared.writes[1].read_up_to(&compared.timeline, step);
        let lines = [tallies.0.lines, tallies.1.lines].map(|lines| lines as usize);
        let alike = Alike::new(compared.writes.each_ref(), lines);
        let summary = diff::summary(tallies, (&left, &right), broken);
        let naming = self.marking.landmarks.alike().naming();
        let side = |name: Text, timeline: &Timeline, picture: &Picture, step: usize| Side {
            name,
            step,
            steps: timeline.len(),
            time: timeline.time_at(step),
            what: what(timeline, picture, step, naming),
            queue: picture.queue.kind,
        };
        let (one, other) = names;
        Some(Rc::new(CompareView {
            with,
            sides: [
                side(one, &self.timeline, &left, cursor),
                side(other, &compared.timeline, &right, step),
            ],
            rooms: diff::diff(&left, &right, alike),
            summary,
            violations: compared.checks.violations().into(),
        }))
    }

    fn names(&self, with: With) -> (Text, Text) {
        match with {
            With::Setting(setting) => {
                let as_it_is = Setting::named(setting.id(), self.timeline.scenario());
                (as_it_is.map(said).unwrap_or_default(), said(setting))
            }
            With::Branch(id) => {
                let name = |id: u32| self.branches.get(id).map(name_of).unwrap_or_default();
                (name(self.branches.current()), name(id))
            }
            With::Opened => {
                let rows = self.branch_rows();
                let row = rows.iter().find(|row| row.current);
                let made = row.map(|row| row.made.clone());
                (made.unwrap_or_default(), opened())
            }
        }
    }

    /// The runs that this one can be compared with.
    pub(super) fn choices(&self, against: Against) -> Rc<[Choice]> {
        let scenario = self.timeline.scenario();
        let settings = &scenario.settings;
        let mut all: Vec<With> = Vec::new();
        all.extend(self.is_changed().then_some(With::Opened));
        let mut offer = |setting: Setting| all.push(With::Setting(setting));
        if settings.is_informer() {
            for generation in Generation::ALL {
                if generation != settings.era {
                    offer(Setting::Generation(generation));
                }
            }
            offer(Setting::WatchList(!settings.streams()));
            offer(Setting::PageSize(if settings.page_size == 1 {
                0
            } else {
                1
            }));
            offer(Setting::HandlerMs(SLOW_MS));
        } else {
            offer(Setting::KnownObjects(!settings.known_objects));
        }
        all.extend(self.other_branches());
        if let Against::Run(with) = against
            && !all.contains(&with)
        {
            all.push(with);
        }
        // Settings that cannot be changed here are not offered.
        all.retain(|with| match with {
            With::Setting(setting) => setting.fits(scenario),
            With::Branch(_) | With::Opened => true,
        });
        let choice = |with: &With| Choice {
            against: Against::Run(*with),
            name: self.names(*with).1,
        };
        let race = settings.is_informer().then(|| Choice {
            against: Against::Race,
            name: Text::new("all four generations", "全部四个实现版本"),
        });
        all.iter().map(choice).chain(race).collect()
    }

    fn other_branches(&self) -> impl Iterator<Item = With> {
        let current = self.branches.current();
        let others = self.branches.iter().filter(move |one| one.id != current);
        others.map(|one| With::Branch(one.id))
    }

    /// The default comparison: another branch; or else the run without the user's changes; or else another setting of
    /// KnownObjects, or the generation at the other end.
    #[must_use]
    pub(super) fn first_choice(&self) -> With {
        if let Some(other) = self.other_branches().last() {
            return other;
        }
        if self.is_changed() {
            return With::Opened;
        }
        let settings = &self.timeline.scenario().settings;
        With::Setting(if !settings.is_informer() {
            Setting::KnownObjects(!settings.known_objects)
        } else if settings.era == Generation::Atomic {
            Setting::Generation(Generation::Classic)
        } else {
            Setting::Generation(Generation::Atomic)
        })
    }
}

/// The current fact in words.
fn what(timeline: &Timeline, picture: &Picture, step: usize, naming: Naming) -> Text {
    let recent = timeline.facts(step.saturating_sub(RECENT)..step);
    let say = |lang| {
        let words = match recent.last() {
            Some(record) => {
                let words = caption::words(record, &recent, picture, Voice { lang, naming });
                match step == timeline.len() && timeline.is_over() {
                    true => caption::at_end(picture, words, lang),
                    false => words,
                }
            }
            None => caption::before_start(picture, lang),
        };
        caption::plain(&words.what)
    };
    Text::new(&say(Lang::En), &say(Lang::Zh))
}

fn broken_before(violations: &[Violation], step: usize) -> u32 {
    let so_far = violations.iter().filter(|violation| violation.at <= step);
    u32::try_from(so_far.count()).unwrap_or(u32::MAX)
}

/// The name of a run with this setting.
fn said(setting: Setting) -> Text {
    let value = match setting {
        Setting::Generation(generation) => generation.client_go().to_owned(),
        _ => setting.value(),
    };
    let [_, (en, zh)] = words(&setting);
    let text = |text: &str| text.replace('#', &value);
    Text::new(&text(en), &text(zh))
}

fn no_branch(id: u32) -> Text {
    text!(
        "There is no other branch {id} to compare with. Fork first, or choose a setting.",
        "没有可比较的另一个分支 {id}。请先分叉，或选择一项设置。"
    )
}

fn no_setting(setting: Setting) -> Text {
    let name = said(setting);
    text!(
        (
            "This changes nothing here: {}. Choose something else to compare with.",
            name.en
        ),
        ("“{}”对这个程序没有意义。请选择别的来比较。", name.zh)
    )
}

/// The error for an unknown name.
pub(super) fn no_such(name: &str) -> Text {
    text!(
        "{name:?} names nothing to compare with. Use a generation (\"1.36\"), race for all four, a setting (knownObjects=off, watchList=on, pageSize=2), branch=2, or opened once you have changed the run.",
        "{name:?} 不是可比较的对象。可用实现版本（\"1.36\"）、race（全部四个实现版本）、设置（knownObjects=off、watchList=on、pageSize=2）、branch=2，或在你改过运行之后用 opened。"
    )
}
