//! Exports and links: links, traces and transcripts.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::command::Export;
use crate::handout;
use crate::svg;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_replay::link::{self, Link};
use deltascope_replay::moment::{Base, Moment};
use deltascope_replay::recording::{RecordedInput, Recording};
use deltascope_replay::scramble::scramble_trace;
use deltascope_replay::timeline::Timeline;
use deltascope_replay::trace::{self, Trace};
use deltascope_world::bounds::shortened;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::MAX_BYTES;
use deltascope_world::text;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{Input, SourceKind};

use super::{LEAP, Session};

/// At most this many facts are computed to open a shared run: at worst some seconds in which the page does not
/// respond. Fewer if many actors take turns.
pub const FAR: usize = 1_000_000;
/// This many handlers, workers and further informers double the cost of a fact.
const CROWD: usize = 8;

impl Session {
    /// Exports the run or the picture.
    ///
    /// # Errors
    /// Fails if that is impossible; the error says why, and what to do instead.
    pub fn export(&mut self, what: Export) -> Result<String, Text> {
        match what {
            Export::Link => self.share_link(),
            Export::Trace => in_bounds(trace::write(&self.trace())),
            Export::Scrambled(what) => {
                in_bounds(trace::write(&scramble_trace(&self.trace(), what)))
            }
            Export::Transcript(lang) => Ok(self.transcript(lang)),
            Export::Svg(options) => Ok(svg::stage(&self.view(), &options)),
            Export::Handout(lang) => Ok(handout::html(&self.handout(lang)?, lang)),
        }
    }

    /// The link to the current view, as the part of the address after the `#`.
    ///
    /// # Errors
    /// Fails if there is none; the error says why, and what to do instead.
    fn share_link(&self) -> Result<String, Text> {
        let packed = self.packed()?;
        if self.is_beyond(packed.far) {
            return Err(too_far(packed.far));
        }
        let mut link = packed.link.clone();
        // What a link cannot carry, it does not name.
        link.scene = self
            .scene_shown()
            .filter(|_| lessons::is_known(&self.lesson.id))
            .map(|scene| scene + 1);
        link.handout = link.scene.is_some() && self.shows_handout();
        link.at = Some(self.moment());
        if let Some(selection) = self.selection() {
            link.selection = selection.anchor.to_string().into();
        }
        let text = link.with(&packed.text);
        if text.len() > link::LONGEST {
            let (size, most) = (text.len(), link::LONGEST);
            return Err(text!(
                "The link would have {size} characters, and many programs cut off more than {most}. Download the trace and share that file.",
                "链接将有 {size} 个字符，许多程序会截断超过 {most} 个字符的链接。请下载运行记录并分享该文件。"
            ));
        }
        Ok(text)
    }

    /// The part that all links to this run share.
    fn packed(&self) -> Result<Rc<Packed>, Text> {
        if let Some(packed) = &*self.packed.borrow() {
            return Ok(Rc::clone(packed));
        }
        let lesson = lessons::load(&self.lesson.id).ok();
        if lesson.is_none() && self.timeline.scenario().recorded.is_some() {
            return Err(Text::new(
                "This recording came from a file, and a link cannot carry it. Download the trace and share that file.",
                "这段录制来自文件，链接装不下。请下载运行记录并分享该文件。",
            ));
        }
        if self.timeline.scenario().settings.source == SourceKind::Cluster {
            return Err(Text::new(
                "What a cluster has sent does not fit into a link. Download the trace and share that file.",
                "集群的应答放不进链接。请下载运行记录并分享该文件。",
            ));
        }
        let recording = self.timeline.recording();
        let own = lesson
            .as_ref()
            .map(|lesson| (Arc::clone(&lesson.id), &lesson.scenario));
        let link = Link::of(own, &recording);
        let packed = Rc::new(Packed {
            text: link.packed(),
            // The text contains the rest.
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

    /// The lines of the run's file before its inputs.
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
            title: title.clone(),
            at: Some(self.moment()),
            start: self.lesson.start,
            recording: self.timeline.recording(),
        }
    }

    /// A part of a recorded run, as a file that can be opened again: the given range of facts (it may begin
    /// earlier, where a watch was open), of one object or of all. The session forgets the facts before it, too.
    ///
    /// # Errors
    /// Fails if that is impossible; the error says why, and what to do instead.
    pub fn excerpt(&mut self, key: Option<&str>, part: Range<usize>) -> Result<String, Text> {
        let source = self.timeline.scenario().settings.source;
        if !matches!(source, SourceKind::Cluster | SourceKind::Recorded) {
            return Err(Text::new(
                "Only what was recorded can be cut: what a simulated server does follows from all of it. Export the whole run in the page.",
                "只有录制的内容可以截取：模拟的 API server 的行为取决于整个运行。请在页面中导出整个运行。",
            ));
        }
        let all = self.timeline.len();
        if source == SourceKind::Recorded && part != (0..all) {
            return Err(Text::new(
                "A recording without times is cut by an object only. Leave --last and --until out.",
                "没有时间的录制只能按对象截取。请去掉 --last 和 --until。",
            ));
        }
        self.playback.seek(0, all);
        let until = (part.end < all).then(|| self.timeline.time_at(part.end));
        if part.start > 0 && source == SourceKind::Cluster {
            self.timeline.forget(all.saturating_sub(part.start));
        }
        let mut trace = self.trace();
        trace.at = None;
        if let Some(until) = until {
            trace.recording.inputs.retain(|taken| taken.at <= until);
        }
        if let Some(key) = key {
            trace.recording = trace.recording.only(key);
        }
        in_bounds(trace::write(&trace))
    }

    /// Whether opening the link would compute more than `far` facts: to the end of the moment that is shown, and to
    /// the last input.
    fn is_beyond(&self, far: usize) -> bool {
        let timeline = &self.timeline;
        let shown = timeline.time_at(self.playback.cursor());
        let last = timeline.inputs().last().map_or(0, |taken| taken.at);
        timeline.len() >= far && timeline.time_at(far) <= shown.max(last)
    }

    fn moment(&self) -> Moment {
        let cursor = self.playback.cursor();
        let marker = self.markers.iter().find(|marker| marker.at == cursor);
        // Links and traces carry no markers: only those of the library's lessons are there when they are opened. Markers
        // beyond this many facts are not searched for.
        let is_found = cursor <= LEAP && lessons::is_known(&self.lesson.id);
        match marker.filter(|_| is_found) {
            Some(marker) => Moment {
                base: Base::Marker(Arc::clone(&marker.id)),
                plus: 0,
            },
            None => Moment::of(&self.timeline, cursor),
        }
    }
}

/// The part that all links to a run share. It takes long to make and is the same at each cursor.
pub(super) struct Packed {
    /// The lesson and the generation.
    link: Link,
    /// What the link carries in packed form.
    text: String,
    /// How many facts are computed at most to open it.
    far: usize,
}

/// What the id of a run from a file has before the file's name.
const FILE: &str = "file:";

pub(super) fn id_of_file(name: &str) -> String {
    [FILE, name].concat()
}

impl Export {
    /// What a file with it is called. A file that was opened keeps its own name.
    #[must_use]
    pub fn file_name(&self, lesson: &str) -> String {
        let extension = match self {
            Self::Trace | Self::Scrambled(_) => "jsonl",
            Self::Transcript(_) | Self::Link => "txt",
            Self::Svg(_) => "svg",
            Self::Handout(_) => "html",
        };
        let name = match self {
            // The name may give something away.
            Self::Scrambled(_) => "scrambled",
            _ => lesson.strip_prefix(FILE).unwrap_or(lesson),
        };
        let name = name.strip_suffix(".jsonl").unwrap_or(name);
        format!("deltascope-{name}.{extension}")
    }
}

/// A lesson for a run that belongs to none.
pub(super) fn nobodys(scenario: &Scenario, id: &str, title: Text) -> Lesson {
    let (en, zh) = match scenario.settings.source {
        SourceKind::Cluster => (
            "A recording of a real cluster. What its API server said is replayed, and all else is computed again; it can be changed like any other run.",
            "真实集群的录制。API server 说过的话会重放，其余都重新计算；也可以像其他运行一样改动。",
        ),
        _ => (
            "A run that somebody shared. It is computed again from what was built and what was done, and can be changed like any other.",
            "别人分享的运行。它由当时的设置和操作重新计算得出，也可以像其他运行一样改动。",
        ),
    };
    Lesson {
        id: id.into(),
        title,
        note: Text::new(en, zh),
        scenario: scenario.clone(),
        ..Lesson::default()
    }
}

pub(super) fn far(recording: &Recording) -> usize {
    let handlers = |scenario: &Scenario| {
        let workers = scenario.settings.work.as_ref();
        scenario.settings.handlers.len() + workers.map_or(0, |work| usize::from(work.workers))
    };
    let scenario = &recording.scenario;
    let late = |taken: &&RecordedInput| matches!(taken.input, Input::AddHandler(_));
    let crowd = handlers(scenario)
        + scenario
            .beside
            .iter()
            .map(|one| 1 + handlers(one))
            .sum::<usize>()
        + recording.inputs.iter().filter(late).count();
    FAR / (1 + crowd / CROWD)
}

/// Checks that the trace is small enough to be opened again.
fn in_bounds(trace: String) -> Result<String, Text> {
    if trace.len() > MAX_BYTES {
        return Err(too_large(trace.len()));
    }
    Ok(trace)
}

fn too_large(size: usize) -> Text {
    text!(
        "The trace would have {size} bytes, and no more than {MAX_BYTES} are read again. Connect to less (a namespace, a selector, metadata only), or record with the command line.",
        "运行记录将有 {size} 字节，而最多只读取 {MAX_BYTES} 字节。请连接更小的范围（命名空间、选择器、仅元数据），或用命令行录制。"
    )
}

fn too_far(far: usize) -> Text {
    text!(
        "This moment, or something that was done, comes so late that a link does not open it: it computes {far} facts at the most. Go back before that, or fork there.",
        "此时刻或某个操作太晚，链接无法打开：链接最多计算 {far} 个事实。请回到更早，或在那里分叉。"
    )
}

/// States that the lesson has no such marker, and lists those that it has.
pub(super) fn no_marker(lesson: &Lesson, id: &str) -> Text {
    let id = shortened(id);
    let ids: Vec<&str> = lesson.markers.iter().map(|rule| &*rule.id).collect();
    let ids = ids.join(", ");
    if ids.is_empty() {
        return text!(
            "There is no marker {id:?}: this run has none. Write input:N, t:MS, headline:FACT, step:N, start or end.",
            "没有标记 {id:?}：此运行没有任何标记。请写 input:N、t:MS、headline:FACT、step:N、start 或 end。"
        );
    }
    text!(
        "There is no marker {id:?} in this lesson. There are: {ids}.",
        (
            "此课程中没有标记 {id:?}。现有：{}。",
            ids.replace(", ", "、")
        )
    )
}

pub(super) fn no_moment(lesson: &Lesson, at: &Moment, timeline: &Timeline, far: usize) -> Text {
    let is_known = |id: &str| lesson.markers.iter().any(|rule| &*rule.id == id);
    match &at.base {
        Base::Marker(id) if at.plus == 0 && is_known(id) => text!(
            "This run does not come to the marker {id:?}. Another generation may.",
            "此运行到不了标记 {id:?}。换一个实现版本也许可以。"
        ),
        Base::Marker(id) if !is_known(id) => no_marker(lesson, id),
        Base::Headline(headline) => {
            let (count, keys) = headline.alike(timeline);
            let (fact, steps) = (headline.fact, timeline.len());
            let keys: Vec<String> = keys.iter().map(|key| shortened(key)).collect();
            let [en, zh] = match keys.is_empty() {
                true => [String::new(), String::new()],
                false => [
                    format!(", about {}", keys.join(", ")),
                    format!("，关于 {}", keys.join("、")),
                ],
            };
            text!(
                "The run does not come to {at}: among its {steps} facts are {count} {fact}{en}.",
                "运行到不了 {at}：它的 {steps} 个事实中有 {count} 个 {fact}{zh}。"
            )
        }
        _ => text!(
            "The run does not come to the moment {at}, or not within {far} facts.",
            "运行到不了 {at} 这一时刻，或在 {far} 个事实之内到不了。"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::session::typed;
    use deltascope_replay::scramble::Scramble;
    use deltascope_world::text::Lang;

    #[test]
    fn a_file_keeps_its_name_unless_names_are_made_up_in_it() {
        let trace = Export::Trace;
        let opened = id_of_file("web.jsonl");
        assert_eq!(trace.file_name("sandbox"), "deltascope-sandbox.jsonl");
        assert_eq!(trace.file_name(&opened), "deltascope-web.jsonl");
        let transcript = Export::Transcript(Lang::En);
        assert_eq!(transcript.file_name(&opened), "deltascope-web.txt");
        let scrambled = Export::Scrambled(Scramble::default());
        assert_eq!(scrambled.file_name(&opened), "deltascope-scrambled.jsonl");
    }

    #[test]
    fn the_shared_part_of_links_is_made_once_for_each_run() {
        let mut session = Session::new();
        let mut before = session.packed().unwrap();
        for (command, is_same) in [
            (Command::Step(3), true),
            (Command::CutWatch, false),
            (Command::Step(40), true),
            (typed::predicate("fact Popped", Command::RunUntil), true),
            (Command::Seek(0), true),
            (Command::Fork, false),
            (Command::Branch(1), false),
            (typed::generation("1.36"), false),
            (Command::Reset, false),
            (Command::Load("reflector".into()), false),
        ] {
            session.obey(command.clone());
            let packed = session.packed().unwrap();
            assert_eq!(Rc::ptr_eq(&packed, &before), is_same, "{command:?}");
            // It is the same as in a file of the run.
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
                .map(|one| one.anchor.to_string().into())
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
