//! Cuts the run down to what still shows something: as a branch on the page, as a file and a link from the command
//! line.

use crate::command::Command;
use deltascope_replay::invariants::Violation;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_replay::link::{self, Link};
use deltascope_replay::moment::Moment;
use deltascope_replay::predicate::Predicate;
use deltascope_replay::recording::Recording;
use deltascope_replay::scramble::{Scramble, scramble_trace};
use deltascope_replay::smallest::{Goal, Limits, MOST_TRIALS, Smallest, smallest};
use deltascope_replay::trace::{self, Trace};
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::text;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::SourceKind;

use super::Session;
use super::messages::cannot_run;
use super::share::far;

/// A run to cut down, and what it has to show.
pub struct Wanted {
    pub(super) lesson: Lesson,
    recording: Recording,
    goal: Goal,
    facts: usize,
}

/// Cuts it down.
///
/// # Errors
/// The run does not show it.
pub(super) async fn cut_down(wanted: Wanted, slices: &Slices) -> Result<(Smallest, Wanted), Text> {
    let limits = Limits {
        facts: wanted.facts,
        trials: MOST_TRIALS,
    };
    let Wanted {
        recording, goal, ..
    } = &wanted;
    match smallest(recording, goal, limits, slices).await {
        Some(found) => Ok((found, wanted)),
        None => Err(not_shown(goal, wanted.facts)),
    }
}

impl Session {
    /// The run to cut down, if a command wants that.
    pub(super) fn wanted(&self, command: &Command) -> Option<Result<Wanted, Text>> {
        match command {
            Command::Smallest(goal) => Some(self.wanted_for(goal.clone())),
            _ => None,
        }
    }

    fn wanted_for(&self, goal: Option<Goal>) -> Result<Wanted, Text> {
        let goal = match goal {
            Some(goal) => goal,
            None => self.goal_here()?,
        };
        let recording = self.timeline.recording();
        Ok(Wanted {
            lesson: self.lesson.clone(),
            facts: far(&recording).max(self.timeline.len()),
            recording,
            goal,
        })
    }

    /// What the fact at the cursor shows: that an invariant is violated, or itself.
    fn goal_here(&self) -> Result<Goal, Text> {
        let cursor = self.playback.cursor();
        let mut found = self.marking.invariants.violations().iter();
        if let Some(Violation { invariant, .. }) = found.find(|found| found.at == cursor) {
            return Ok(Goal::Broken(*invariant));
        }
        match self.current() {
            Some(record) => Ok(Goal::Condition(Predicate::of(&record.fact))),
            None => Err(Text::new(
                "Nothing has happened yet. Go to what the smallest run is to show.",
                "还什么都没有发生。请先走到最小的运行要展示的地方。",
            )),
        }
    }

    /// Cuts the run down, without a pause: what is left in words, as a trace, and as a link if it fits into one. What
    /// a real API server sent has made-up names, unless `real` asks for its own.
    ///
    /// # Errors
    /// The run does not show it, or not with other names.
    pub fn smallest(&self, goal: Goal, real: bool) -> Result<Given, Text> {
        let wanted = self.wanted_for(Some(goal))?;
        let (found, Wanted { lesson, .. }) = at_once(cut_down(wanted, &Slices::whole()))?;
        let played = found.recording.play_within(found.at);
        let (timeline, _) = played.map_err(|reason| cannot_run(&reason))?;
        let mut trace = Trace {
            lesson: lesson.id,
            title: lesson.title,
            at: Some(Moment::of(&timeline, found.at)),
            start: lesson.start,
            recording: found.recording.clone(),
        };
        let source = trace.recording.scenario.settings.source;
        if !real && matches!(source, SourceKind::Cluster | SourceKind::Recorded) {
            let names = Scramble {
                names: true,
                labels: false,
            };
            trace = scramble_trace(&trace, names);
            if !found.is_like(&trace.recording) {
                return Err(Text::new(
                    "With made-up names it is another run. Give --real-names, and look at what you give away.",
                    "换成虚构的名称后，运行就不同了。请使用 --real-names，并留意分享出去的内容。",
                ));
            }
        }
        let own = lessons::load(&trace.lesson).ok();
        let own = own.map(|own| (own.id, own.scenario));
        let own = own.as_ref().map(|(id, own)| (id.clone(), own));
        let mut link = Link::of(own, &trace.recording);
        link.at.clone_from(&trace.at);
        Ok(Given {
            words: words_of(&found),
            trace: trace::write(&trace),
            link: Some(link.to_string()).filter(|link| link.len() <= link::LONGEST),
        })
    }
}

/// The smallest run, to give away.
#[derive(Clone, Debug)]
pub struct Given {
    /// What was cut.
    pub words: Text,
    /// The run as a file.
    pub trace: String,
    /// The link's part after the page's address, if it is not too long.
    pub link: Option<String>,
}

/// What was cut, and how much is left. The fact to show may come later than before: what was left out may have kept others
/// from happening.
pub(super) fn words_of(found: &Smallest) -> Text {
    let ((before, facts), after) = (found.before, found.size());
    let [mut en, mut zh] = [Vec::new(), Vec::new()];
    for (was, is, one, other) in [
        (before.inputs, after.inputs, "inputs", "输入"),
        (
            before.script,
            after.script,
            "entries of the script",
            "脚本条目",
        ),
        (before.objects, after.objects, "objects", "对象"),
        (before.events, after.events, "events", "事件"),
        (
            before.handlers,
            after.handlers,
            "handlers and informers",
            "handler 和 informer",
        ),
        (before.settings, after.settings, "settings", "设置"),
    ] {
        if was > 0 {
            en.push(format!("{is} of {was} {one}"));
            zh.push(format!("{other} {is}/{was}"));
        }
    }
    let end = match found.is_smallest {
        true => Text::new("Nothing more can go.", "再少一项就不成立了。"),
        false => Text::new(
            "The limit of runs is reached: perhaps more could go.",
            "已达到试运行的上限：也许还能再减。",
        ),
    };
    let (trials, [en, zh]) = (found.trials, [en.join(", "), zh.join("、")]);
    let at = found.at;
    text!(
        (
            "Left: {en}. What it shows is fact {at} now; it was fact {facts}. {} ({trials} runs tried)",
            end.en
        ),
        (
            "剩下：{zh}。要重现的事实现在是第 {at} 个，原来是第 {facts} 个。{}（试运行 {trials} 次）",
            end.zh
        )
    )
}

fn not_shown(goal: &Goal, facts: usize) -> Text {
    match goal {
        Goal::Condition(predicate) => text!(
            "This run does not show {predicate} within {facts} facts, so there is nothing to cut down to. Change the condition.",
            "此运行在 {facts} 个事实之内没有出现 {predicate}，因此无从缩减。请修改条件。"
        ),
        Goal::Broken(invariant) => {
            let id = invariant.id();
            text!(
                "This run does not break {id:?} within {facts} facts.",
                "此运行在 {facts} 个事实之内没有违反 {id:?}。"
            )
        }
    }
}
