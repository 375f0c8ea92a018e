//! What leaves the page and comes back: links, traces and transcripts.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use crate::lessons::{self, Lesson};
use crate::replay::link::{self, Link};
use crate::replay::log;
use crate::replay::moment::{Anchor, Moment};
use crate::replay::recording::{Recording, Taken};
use crate::replay::scramble::scramble_trace;
use crate::replay::timeline::{MAX_FACTS, Timeline};
use crate::replay::trace::{self, Trace};
use crate::runtime::virtual_time::{Feed, Input};
use crate::source::scenario::Scenario;
use crate::source::wire::{MAX_BYTES, Words};
use crate::ui::command::Export;
use crate::ui::i18n::Text;
use crate::ui::svg;
use crate::ui::view::ErrorView;

use super::{Change, LEAP, Session, cannot_run};

/// How many facts are computed to open what somebody shared: some seconds of a page that does not
/// answer, at the worst. Fewer where there are many to take turns.
pub(crate) const FAR: usize = 1_000_000;
/// So many handlers and informers make a fact cost twice as much.
const CROWD: usize = 8;

impl Session {
    /// What leaves the page.
    ///
    /// # Errors
    /// Says why it cannot, and what to do instead.
    pub fn export(&mut self, what: Export) -> Result<String, Text> {
        match what {
            Export::Link => self.share_link(),
            Export::Trace => in_bounds(trace::write(&self.trace())),
            Export::Scrambled(what) => {
                in_bounds(trace::write(&scramble_trace(&self.trace(), what)))
            }
            Export::Transcript(lang) => Ok(self.transcript(lang)),
            Export::Svg(options) => Ok(svg::stage(&self.view(), &options)),
        }
    }

    /// The link to what is shown, as it stands behind the address of the page.
    ///
    /// # Errors
    /// Says why there is none, and what to do instead.
    fn share_link(&self) -> Result<String, Text> {
        let packed = self.packed()?;
        if self.is_beyond(packed.far) {
            return Err(too_far(packed.far));
        }
        let mut link = packed.link.clone();
        link.at = Some(self.moment());
        if let Some(selection) = self.selection() {
            link.selection = Arc::clone(&selection.anchor);
        }
        let text = link.with(&packed.text);
        if text.len() > link::LONGEST {
            let (size, most) = (text.len(), link::LONGEST);
            return Err(Text::new(
                &format!(
                    "The link would have {size} characters, and many programs cut off more than {most}. Download the trace and share that file."
                ),
                &format!(
                    "链接将有 {size} 个字符，许多程序会截断超过 {most} 个字符的链接。请下载轨迹并分享该文件。"
                ),
            ));
        }
        Ok(text)
    }

    /// What all links to this run have in common.
    fn packed(&self) -> Result<Rc<Packed>, Text> {
        if let Some(packed) = &*self.packed.borrow() {
            return Ok(Rc::clone(packed));
        }
        let lesson = lessons::load(&self.lesson.id).ok();
        if lesson.is_none() && self.timeline.scenario().recorded.is_some() {
            return Err(Text::new(
                "This recording came from a file, and a link cannot carry it. Download the trace and share that file.",
                "这段录制来自文件，链接装不下。请下载轨迹并分享该文件。",
            ));
        }
        if self.timeline.scenario().settings.feed == Feed::Cluster {
            return Err(Text::new(
                "What a cluster has told does not fit into a link. Download the trace and share that file.",
                "集群的应答放不进链接。请下载轨迹并分享该文件。",
            ));
        }
        let recording = self.timeline.recording();
        let own = lesson
            .as_ref()
            .map(|lesson| (Arc::clone(&lesson.id), &lesson.scenario));
        let link = Link::of(own, &recording);
        let packed = Rc::new(Packed {
            text: link.packed(),
            // The text has the rest.
            link: Link {
                lesson: link.lesson,
                era: link.era,
                ..Link::default()
            },
            far: far(&recording),
        });
        *self.packed.borrow_mut() = Some(Rc::clone(&packed));
        Ok(packed)
    }

    /// The lines of the run's file that come before its inputs.
    pub(super) fn trace_head(&self) -> String {
        trace::head(&Trace {
            at: None,
            ..self.trace()
        })
    }

    /// The run as a file that can be opened again.
    fn trace(&self) -> Trace {
        let title = &self.lesson.title;
        Trace {
            lesson: Arc::clone(&self.lesson.id),
            title: Words {
                en: title.en.to_string(),
                zh: title.zh.to_string(),
            },
            at: Some(self.moment()),
            recording: self.timeline.recording(),
        }
    }

    pub(super) fn open_link(&mut self, fragment: &str) -> Change {
        let link = match Link::read(fragment) {
            Ok(link) => link,
            Err(words) => return self.fail(text_of(&words), None),
        };
        let id = match (&link.lesson, &link.change) {
            (None, Some(link::Change::Whole(scenario))) => {
                let lesson = nobodys(scenario, "link", Text::new("A shared run", "分享的运行"));
                return self.open_shared(lesson, &link, &Scenario::default());
            }
            (None, _) => lessons::FIRST,
            (Some(id), _) => id,
        };
        match lessons::load(id) {
            Ok(lesson) => {
                let own = lesson.scenario.clone();
                self.open_shared(lesson, &link, &own)
            }
            Err(message) => self.fail(message, None),
        }
    }

    fn open_shared(&mut self, lesson: Lesson, link: &Link, own: &Scenario) -> Change {
        let shared = match link.change {
            None => Shared::Link,
            Some(_) => Shared::ChangedLink,
        };
        match link.recording(own) {
            Ok(recording) => {
                let at = link.at.as_ref();
                let change = self.show_recording(lesson, &recording, at, shared);
                // Where nothing is there any more, nothing is selected.
                if self.error.is_none() && !link.selection.is_empty() {
                    self.select(Some(&link.selection));
                }
                change
            }
            Err(words) => self.fail(text_of(&words), None),
        }
    }

    pub(super) fn open_trace(&mut self, files: &[(String, Vec<u8>)]) -> Change {
        let [(name, bytes)] = files else {
            return self.fail(
                Text::new(
                    "One of the files is a trace, which is a whole run. Open it alone.",
                    "其中一个文件是轨迹，即完整的运行。请单独打开它。",
                ),
                None,
            );
        };
        let (read, error) = if trace::is_trace(bytes) {
            trace::read(name, bytes)
        } else {
            log::read(name, bytes)
        };
        let line = error.as_ref().and_then(|error| error.line);
        let error = error.map(|error| text_of(&error.message));
        let Some(Trace {
            lesson,
            title,
            at,
            recording,
        }) = read
        else {
            return self.fail(error.unwrap_or_default(), line);
        };
        let lesson = lessons::load(&lesson).unwrap_or_else(|_| {
            let title = if title.en.is_empty() {
                Text::new(name, name)
            } else {
                text_of(&title)
            };
            nobodys(&recording.scenario, &format!("file:{name}"), title)
        });
        let change = self.show_recording(lesson, &recording, at.as_ref(), Shared::File);
        // What could not be read comes before what could not be shown.
        if let Some(message) = error {
            self.error = Some(ErrorView { message, line });
        }
        change
    }

    /// Shows the run at the moment. What is open stays where a link's moment does not come; a file is
    /// shown from its start.
    fn show_recording(
        &mut self,
        lesson: Lesson,
        recording: &Recording,
        at: Option<&Moment>,
        shared: Shared,
    ) -> Change {
        let far = far(recording);
        let (mut timeline, played) = match recording.play_within(far) {
            Ok(played) => played,
            Err(reason) => return self.fail(cannot_run(&reason), None),
        };
        let found =
            at.map(|at| at.find(&mut timeline, &|timeline, id| marked(&lesson, timeline, id)));
        let missed = match (found, at) {
            (Some(None), Some(at)) => Some(no_moment(&lesson, at, far)),
            _ => None,
        };
        match shared {
            Shared::Link | Shared::ChangedLink if missed.is_some() => {
                return self.fail(missed.unwrap_or_default(), None);
            }
            Shared::Link => timeline.limit(MAX_FACTS),
            Shared::ChangedLink | Shared::File => {}
        }
        let change = self.begin(lesson, timeline);
        match found.flatten() {
            Some(step) => self.playback.seek(step, self.timeline.len()),
            None => self.show_opening(),
        }
        self.mark_anew();
        let all = recording.inputs.len();
        if played < all {
            return self.fail(
                Text::new(
                    &format!("The first {played} of {all} inputs are played: the rest would take too long."),
                    &format!("已播放 {all} 个输入中的前 {played} 个：其余的耗时过长。"),
                ),
                None,
            );
        }
        missed.map_or(change, |message| self.fail(message, None))
    }

    /// Whether somebody who opens this would have to compute more than so many facts: to the end of the
    /// moment that is shown, and to the last input.
    fn is_beyond(&self, far: usize) -> bool {
        let timeline = &self.timeline;
        let shown = timeline.time_at(self.playback.cursor());
        let last = timeline.inputs().last().map_or(0, |taken| taken.at);
        timeline.len() >= far && timeline.time_at(far) <= shown.max(last)
    }

    fn moment(&self) -> Moment {
        let cursor = self.playback.cursor();
        let marker = self.markers.iter().find(|marker| marker.at == cursor);
        // Farther than so many facts nobody looks for a marker.
        match marker.filter(|_| cursor <= LEAP) {
            Some(marker) => Moment {
                anchor: Anchor::Marker(Arc::clone(&marker.id)),
                plus: 0,
            },
            None => Moment::of(&self.timeline, cursor),
        }
    }
}

/// What all links to a run have in common: to make it takes long, and it is the same at each step.
pub(super) struct Packed {
    /// The lesson and the generation.
    link: Link,
    /// What it carries.
    text: String,
    /// How many facts are computed to open it, at the most.
    far: usize,
}

/// How a run was shared.
#[derive(Clone, Copy)]
enum Shared {
    /// By a link to a lesson as it is.
    Link,
    /// By a link that changes what runs.
    ChangedLink,
    /// As a file.
    File,
}

/// Where a marker of a lesson is.
pub(super) fn marked(lesson: &Lesson, timeline: &mut Timeline, id: &str) -> Option<usize> {
    let rule = lesson.markers.iter().find(|rule| &*rule.id == id)?;
    let (mut count, mut from) = (0, 0);
    loop {
        let known = timeline.len();
        let found = timeline.each(from..known, &mut |place, record| {
            count += usize::from(record.fact.name() == rule.fact);
            if count == rule.nth {
                ControlFlow::Break(place + 1)
            } else {
                ControlFlow::Continue(())
            }
        });
        if found.is_some() || !timeline.is_endless() || known >= LEAP {
            return found;
        }
        from = known;
        timeline.extend((known * 2).max(LEAP / 10));
    }
}

/// A run that is no lesson's, as one.
fn nobodys(scenario: &Scenario, id: &str, title: Text) -> Lesson {
    let (en, zh) = match scenario.settings.feed {
        Feed::Cluster => (
            "A recording of a real cluster. What its API server said is replayed, and all else is computed anew; it can be changed like any other run.",
            "真实集群的录制。API server 说过的话会重放，其余都重新计算；也可以像其他运行一样改动。",
        ),
        _ => (
            "A run that somebody shared. It is computed anew from what was built and what was done, and can be changed like any other.",
            "别人分享的运行。它由当时的设置和操作重新计算得出，也可以像其他运行一样改动。",
        ),
    };
    Lesson {
        id: id.into(),
        title,
        note: Text::new(en, zh),
        era: scenario.settings.era.0.era().into(),
        scenario: scenario.clone(),
        ..Lesson::default()
    }
}

fn far(recording: &Recording) -> usize {
    let handlers = |scenario: &Scenario| {
        let workers = scenario.settings.work.as_ref();
        scenario.settings.handlers.len() + workers.map_or(0, |work| usize::from(work.workers))
    };
    let scenario = &recording.scenario;
    let late = |taken: &&Taken| matches!(taken.input, Input::AddHandler(_));
    let crowd = handlers(scenario)
        + scenario
            .beside
            .iter()
            .map(|one| 1 + handlers(one))
            .sum::<usize>()
        + recording.inputs.iter().filter(late).count();
    FAR / (1 + crowd / CROWD)
}

/// What can be opened again.
fn in_bounds(trace: String) -> Result<String, Text> {
    if trace.len() > MAX_BYTES {
        return Err(too_large(trace.len()));
    }
    Ok(trace)
}

fn too_large(size: usize) -> Text {
    Text::new(
        &format!(
            "The trace would have {size} bytes, and no more than {MAX_BYTES} are read again. Connect to less (a namespace, a selector, metadata only), or record with the command line."
        ),
        &format!(
            "轨迹将有 {size} 字节，而最多只读取 {MAX_BYTES} 字节。请连接更小的范围（命名空间、选择器、仅元数据），或用命令行录制。"
        ),
    )
}

fn too_far(far: usize) -> Text {
    Text::new(
        &format!(
            "This moment, or something that was done, comes so late that a link does not open it: it computes {far} facts at the most. Go back before that, or fork there."
        ),
        &format!(
            "此时刻或某个操作太晚，链接无法打开：链接最多计算 {far} 个事实。请回到更早，或在那里分叉。"
        ),
    )
}

pub(super) fn no_moment(lesson: &Lesson, at: &Moment, far: usize) -> Text {
    match &at.anchor {
        Anchor::Marker(id) if lesson.markers.iter().any(|rule| rule.id == *id) => Text::new(
            &format!("This run does not come to the marker {id:?}. Another generation may."),
            &format!("此运行到不了标记 {id:?}。换一个世代也许可以。"),
        ),
        Anchor::Marker(id) => {
            let ids: Vec<&str> = lesson.markers.iter().map(|rule| &*rule.id).collect();
            let ids = ids.join(", ");
            if ids.is_empty() {
                return Text::new(
                    &format!(
                        "There is no marker {id:?}: this run has none. Write input:N, t:MS, step:N, start or end."
                    ),
                    &format!(
                        "没有标记 {id:?}：此运行没有任何标记。请写 input:N、t:MS、step:N、start 或 end。"
                    ),
                );
            }
            Text::new(
                &format!("There is no marker {id:?} in this lesson. There are: {ids}."),
                &format!(
                    "此课程中没有标记 {id:?}。现有：{}。",
                    ids.replace(", ", "、")
                ),
            )
        }
        _ => Text::new(
            &format!("The run does not come to the moment {at}, or not within {far} facts."),
            &format!("运行到不了 {at} 这一时刻，或在 {far} 个事实之内到不了。"),
        ),
    }
}

fn text_of(words: &Words) -> Text {
    Text::new(&words.en, &words.zh)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::ui::command::Command;

    #[test]
    fn what_all_links_to_a_run_have_in_common_is_made_once_for_each_run() {
        let mut session = Session::new();
        let mut before = session.packed().unwrap();
        let set = |text: &str| Command::RunUntil(text.into());
        for (command, is_same) in [
            (Command::Step(3), true),
            (Command::CutWatch, false),
            (Command::Step(40), true),
            (set("fact Popped"), true),
            (Command::Seek(0), true),
            (Command::Fork, false),
            (Command::Branch(1), false),
            (Command::Era("1.36".into()), false),
            (Command::Reset, false),
            (Command::Load("reflector".into()), false),
        ] {
            session.obey(command.clone());
            let packed = session.packed().unwrap();
            assert_eq!(Rc::ptr_eq(&packed, &before), is_same, "{command:?}");
            // It is what a file says of the same run.
            let trace = session.export(Export::Trace).unwrap();
            let run = trace::read("a.jsonl", trace.as_bytes()).0.unwrap();
            let lesson = lessons::load(&run.lesson).unwrap();
            let mut link = Link::of(
                Some((Arc::clone(&lesson.id), &lesson.scenario)),
                &Recording {
                    scenario: session.timeline.scenario().clone(),
                    ..run.recording
                },
            );
            link.at = run.at;
            link.selection = session
                .selection()
                .map(|one| one.anchor.clone())
                .unwrap_or_default();
            assert_eq!(
                session.share_link().unwrap(),
                link.to_string(),
                "{command:?}"
            );
            before = packed;
        }
    }
}
