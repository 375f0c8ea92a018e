//! The library of lessons: one data file each.
//!
//! An id never changes once it is published.

mod listed;
pub mod recordings;

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::Value;

use deltascope_cache::fact::Fact;
use deltascope_world::fields::{Fields, Read, Wrong};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::Recorded;
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};
use deltascope_world::virtual_time::{HandlerSettings, Settings, SourceKind, era};

use super::timeline::Timeline;
use listed::{FILES, FIRST_FILES, LISTED, Listed};

pub use deltascope_cache::fact::ProcessMode;

/// One lesson.
#[derive(Clone, Debug, Default)]
pub struct Lesson {
    /// Its stable id.
    pub id: Arc<str>,
    /// The title.
    pub title: Text,
    /// The description.
    pub note: Text,
    /// The marker that the page shows when it opens with this lesson.
    pub open: Option<Arc<str>>,
    /// The scenario that runs.
    pub scenario: Scenario,
    /// The named moments.
    pub markers: Vec<MarkerRule>,
    /// The expected result.
    pub expect: Expect,
    /// What the lesson tells, scene by scene; whoever shows it reads it.
    pub story: Option<Arc<Value>>,
    /// Where the book explains it. A run of somebody's own has no chapter.
    pub chapter: Option<Chapter>,
    /// The wall-clock time at virtual time 0, in ms since 1970; only for recordings, if known.
    pub start: Option<u64>,
}

/// A place in the book, for each language: a chapter's file, and perhaps the id of a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter(Text);

impl Chapter {
    /// The chapter's file in the book's sources.
    #[must_use]
    pub fn file(&self, lang: Lang) -> &str {
        let place = self.0.get(lang);
        place.split_once('#').map_or(place, |(file, _)| file)
    }

    /// The id of the heading; `None`: the whole chapter.
    #[must_use]
    pub fn heading(&self, lang: Lang) -> Option<&str> {
        self.0.get(lang).split_once('#').map(|(_, heading)| heading)
    }

    /// The address of its page, relative to the built book.
    #[must_use]
    pub fn address(&self, lang: Lang) -> String {
        let file = self.file(lang);
        let stem = file.strip_suffix(".md").unwrap_or(file);
        match self.heading(lang) {
            Some(heading) => format!("{stem}.html#{heading}"),
            None => format!("{stem}.html"),
        }
    }
}

/// A named moment: the position of a fact with this name.
#[derive(Clone, Debug)]
pub struct MarkerRule {
    /// Its stable id.
    pub id: Arc<str>,
    /// The title.
    pub title: Text,
    /// The name of the fact, as [`deltascope_cache::fact::Fact::name`] gives it.
    pub fact: &'static str,
    /// Which of these facts, counted from 1; the first by default.
    pub nth: usize,
}

/// The expected result of a lesson.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// The lines that the whole run prints.
    pub output: Vec<String>,
}

impl Read for Expect {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("what a lesson comes to", value)?;
        let read = Self {
            output: fields.get("output")?,
        };
        fields.done()?;
        Ok(read)
    }
}

impl MarkerRule {
    /// The number of facts up to and including the marked one, if it has occurred.
    #[must_use]
    pub fn find(&self, timeline: &Timeline) -> Option<usize> {
        let mut before = self.nth.checked_sub(1)?;
        timeline.each(0..timeline.len(), &mut |place, record| {
            if record.fact.name() != self.fact {
                return ControlFlow::Continue(());
            }
            match before.checked_sub(1) {
                Some(fewer) => before = fewer,
                None => return ControlFlow::Break(place + 1),
            }
            ControlFlow::Continue(())
        })
    }
}

/// The lesson that the page opens with.
pub const FIRST: &str = "sandbox";

fn files() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    FIRST_FILES.iter().chain(FILES)
}

/// The id and title of everything that can be opened, in the order of the menu; recordings come last.
#[must_use]
pub fn menu() -> Vec<(Arc<str>, Text)> {
    let titled = |lesson: &Listed| (lesson.id.into(), lesson.title());
    let recordings = recordings::TITLES.iter();
    let recordings = recordings.map(|(id, words)| ((*id).into(), recorded_title(words)));
    LISTED.iter().map(titled).chain(recordings).collect()
}

/// What the lessons tell: the id and the story of each that has one, in the order of the menu.
#[must_use]
pub fn stories() -> Vec<(Arc<str>, Value)> {
    each_with(STORY)
}

/// The id and this field of each lesson that has it, in the order of the menu.
#[must_use]
pub fn each_with(field: &str) -> Vec<(Arc<str>, Value)> {
    let of = |file: &str| {
        Some(
            serde_json::from_str::<Value>(file)
                .ok()?
                .get_mut(field)?
                .take(),
        )
    };
    files()
        .filter_map(|(id, file)| Some(((*id).into(), of(file)?)))
        .collect()
}

/// Whether the library has a lesson or a recording of this id.
#[must_use]
pub fn is_known(id: &str) -> bool {
    ids().any(|known| known == id)
}

fn ids() -> impl Iterator<Item = &'static str> {
    let recordings = recordings::TITLES.iter().map(|(id, _)| *id);
    LISTED.iter().map(|lesson| lesson.id).chain(recordings)
}

/// The ids of the lessons that have a story.
#[must_use]
pub fn told() -> Vec<&'static str> {
    let told = LISTED.iter().filter(|lesson| lesson.is_told);
    told.map(|lesson| lesson.id).collect()
}

/// A lesson that the page may open with: its file is there when the others still have to come.
///
/// # Errors
/// The file cannot be read.
#[must_use]
pub fn at_hand(id: &str) -> Option<Result<Lesson, Text>> {
    read_from(FIRST_FILES, id)
}

fn read_from(files: &[(&str, &str)], id: &str) -> Option<Result<Lesson, Text>> {
    let (_, file) = files.iter().find(|(name, _)| *name == id)?;
    let listed = LISTED.iter().find(|lesson| lesson.id == id)?;
    let read = serde_json::from_str(file)
        .map_err(|error| error.to_string())
        .and_then(|value| read(value).map_err(Wrong::message))
        .map(|lesson| Lesson {
            id: id.into(),
            title: listed.title(),
            ..lesson
        });
    Some(read.map_err(|error| {
        text!(
            "The lesson {id:?} cannot be read: {error}. This is a fault of the page.",
            "课程 {id:?} 无法读取：{error}。这是页面自身的错误。"
        )
    }))
}

/// Opens a lesson or a bundled recording.
///
/// # Errors
/// The id is unknown; the text lists the known ones.
pub fn load(id: &str) -> Result<Lesson, Text> {
    if let Some(lesson) = at_hand(id).or_else(|| read_from(FILES, id)) {
        return lesson;
    }
    if let Some(bundled) = recordings::bundled().iter().find(|b| b.id == id) {
        return Ok(recorded(
            bundled.id.into(),
            recorded_title(&bundled.title),
            bundled.open(),
        ));
    }
    let ids: Vec<&str> = ids().collect();
    let ids = ids.join(", ");
    Err(text!(
        "There is no lesson {id:?}. Choose one of: {ids}.",
        (
            "没有名为 {id:?} 的课程。可选：{}。",
            ids.replace(", ", "、")
        )
    ))
}

/// The field of a lesson with its scenario.
pub const SCENARIO: &str = "scenario";

/// The field of a lesson with its description.
pub const NOTE: &str = "note";

/// The field of a lesson with its story.
pub const STORY: &str = "story";

/// Reads a lesson written into a web page, in the format of the library. Only the scenario is required, and a
/// text may be given once for both languages. A bare scenario is valid as well.
///
/// # Errors
/// States what is wrong with the lesson, and where.
pub fn inline(value: Value) -> Result<Lesson, Wrong> {
    let mut lesson = if value.get(SCENARIO).is_some() {
        read(value)?
    } else {
        Lesson {
            scenario: Scenario::read(value)?,
            ..Lesson::default()
        }
    };
    // A lesson of the library that was written anew is another one.
    if lesson.id.is_empty() || is_known(&lesson.id) {
        lesson.id = "inline".into();
    }
    if lesson.title == Text::default() {
        lesson.title = Text::new("A scenario of this page", "本页的场景");
    }
    Ok(lesson)
}

fn read(value: Value) -> Result<Lesson, Wrong> {
    let mut fields = Fields::of("a lesson", value)?;
    let era: Arc<str> = fields.get("era")?;
    let mut read = Lesson {
        id: fields.get("id")?,
        title: text(&mut fields, "title")?,
        note: text(&mut fields, NOTE)?,
        open: fields.get("open")?,
        scenario: fields.need(SCENARIO)?,
        markers: fields.get("markers")?,
        expect: fields.get("expect")?,
        story: fields.get::<Option<Value>>(STORY)?.map(Arc::new),
        chapter: chapter(text(&mut fields, "chapter")?),
        start: None,
    };
    fields.done()?;
    if !era.is_empty() {
        let era = self::era(&era).map_err(|message| Wrong::at("era", message))?;
        read.scenario = read.scenario.in_era(Some(era));
    }
    Ok(read)
}

fn chapter(place: Text) -> Option<Chapter> {
    (place != Text::default()).then_some(Chapter(place))
}

impl Read for MarkerRule {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("a marker", value)?;
        let id: Arc<str> = fields.need("id")?;
        let title = text(&mut fields, "title")?;
        let fact: String = fields.need("fact")?;
        let nth = fields.get::<Option<usize>>("nth")?.unwrap_or(1);
        fields.done()?;
        let known = Fact::names().find(|name| *name == fact);
        let unknown = || Wrong::at("fact", format!("there is no fact {fact:?}"));
        Ok(Self {
            title: if title == Text::default() {
                Text::new(&id, &id)
            } else {
                title
            },
            id,
            fact: known.ok_or_else(unknown)?,
            nth,
        })
    }
}

/// Takes a text that may be left out.
fn text(fields: &mut Fields, name: &'static str) -> Result<Text, Wrong> {
    Ok(fields.get::<Option<Text>>(name)?.unwrap_or_default())
}

fn recorded_title([en, zh]: &[&str; 2]) -> Text {
    text!("Recorded: {en}", "录制：{zh}")
}

/// A recording as a lesson: a reflector, a DeltaFIFO and an Indexer, assembled by hand, play it.
#[must_use]
pub fn recorded(id: Arc<str>, title: Text, recorded: Recorded) -> Lesson {
    let handler = HandlerSettings {
        name: "printer".into(),
        latency_ms: 100,
        on_add: vec!["OnAdd: {name}".to_owned()],
        on_update: vec!["OnUpdate: {name}".to_owned()],
        on_delete: vec!["OnDelete: {name}".to_owned()],
        ..HandlerSettings::default()
    };
    let settings = Settings {
        source: SourceKind::Recorded,
        known_objects: true,
        store: true,
        emit_delta_type_replaced: true,
        indices: ["namespace", "app", "node"].map(Arc::from).to_vec(),
        // Slower than the events arrive, so that deltas pile up.
        mode: ProcessMode::Paced(1400),
        process_ms: 100,
        handlers: vec![handler],
        ..Settings::default()
    };
    let (mut en, mut zh) = (
        "What a real API server sent, byte for byte, one event every half second. Nothing can be written to the past, but the process loop and KnownObjects are yours.".to_owned(),
        "真实 API server 发来的原始字节，每半秒一个事件。过去不能改写，但处理循环和 KnownObjects 由你控制。".to_owned(),
    );
    if recorded.start.as_ref().is_some_and(|list| list.partial) {
        en.insert_str(
            0,
            "The list is one page of several: the server had more objects than this. ",
        );
        zh.insert_str(0, "这个列表只是多页中的一页：API server 上还有更多对象。");
    }
    let note = Text::new(&en, &zh);
    Lesson {
        id,
        title,
        note,
        open: None,
        scenario: Scenario {
            settings,
            recorded: Some(recorded),
            ..Scenario::default()
        },
        markers: Vec::new(),
        expect: Expect::default(),
        story: None,
        chapter: None,
        start: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED, STORY, Value, files};

    #[test]
    fn the_list_says_which_files_tell_a_story() {
        for (lesson, (id, file)) in LISTED.iter().zip(files()) {
            let file: Value = serde_json::from_str(file).unwrap();
            let markers = file["markers"].as_array();
            let titles = markers.into_iter().flatten().map(|one| &one["title"]);
            let texts = titles.chain([&file["note"]]);
            assert!(
                texts.into_iter().all(Value::is_object) && file["era"].is_string(),
                "{id}"
            );
            assert_eq!(lesson.is_told, file.get(STORY).is_some(), "{id}");
        }
    }
}
