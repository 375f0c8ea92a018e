//! A run as a link: the fragment after the `#` of the page's address.
//!
//! `#v1;lesson=sandbox;era=1.36;at=t:16900+3;sel=default/web-0;i=…`: a lesson, and the changes that make this
//! run of it. `i` holds lines of a trace, compressed (deflate, base64url): `{"change":…}` if the scenario
//! differs from the lesson's (or `{"scenario":…}`, whole), and the inputs. Unknown keys are ignored, so that
//! an older page can open a newer link as far as possible. `#v1;shelf;q=relist` opens the shelf in place of a run.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde_json::Value;

use deltascope_cache::controller::Generation;
use deltascope_world::bounds::{LONGEST_LINK, UNPACKED};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::era;

use super::difference::{apply, difference};
use super::moment::{Moment, no_moment};
use super::recording::{RecordedInput, Recording};
use super::trace::{self, Parts};

/// The longest link that is made, in bytes: mail, chats and issue trackers accept it.
pub const LONGEST: usize = 8_000;
/// The compression level: the highest, because links hold only a few KB.
const LEVEL: u8 = 10;

/// A parsed link.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The id of the lesson.
    pub lesson: Option<Arc<str>>,
    /// The generation.
    pub era: Option<Generation>,
    /// The moment to show; without it the lesson's own.
    pub at: Option<Moment>,
    /// The scene of the lesson's story to show, from 1.
    pub scene: Option<usize>,
    /// The id of the course in which the lesson is taken.
    pub course: Arc<str>,
    /// Whether to show the lesson's story as a handout.
    pub handout: bool,
    /// The selection, in the syntax of the page.
    pub selection: Arc<str>,
    /// The change from the lesson's scenario.
    pub change: Option<Change>,
    /// The user's inputs.
    pub inputs: Vec<RecordedInput>,
    /// What of the shelf to show; then no run is opened.
    pub shelf: Option<ShelfLink>,
}

/// What of the shelf a link shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShelfLink {
    /// What is searched for.
    pub query: Arc<str>,
    /// The id of a course.
    pub course: Arc<str>,
    /// Whether the course's notes for its teacher are shown.
    pub teach: bool,
}

impl ShelfLink {
    /// The link of a fragment, if it opens the shelf.
    #[must_use]
    pub fn read(fragment: &str) -> Option<Self> {
        Link::read(fragment).ok()?.shelf
    }

    /// Whether a fragment may be such a link. What reads it may have to come first.
    #[must_use]
    pub fn may_be(fragment: &str) -> bool {
        fragment.contains("shelf")
    }
}

/// The fragment of the page's address, with its `#`.
impl fmt::Display for ShelfLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = "#v1;shelf".to_owned();
        for (name, value) in [("q", &self.query), ("course", &self.course)] {
            if !value.is_empty() {
                text.push(';');
                text.push_str(name);
                text.push('=');
                escape(value, &mut text);
            }
        }
        if self.teach {
            text.push_str(";teach");
        }
        f.write_str(&text)
    }
}

/// The change from a lesson's scenario.
#[derive(Clone, Debug)]
pub enum Change {
    /// A change that [`apply`] can apply.
    Difference(Value),
    /// Another scenario.
    Whole(Box<Scenario>),
}

impl Link {
    /// A link to a run of a lesson, or of another scenario.
    #[must_use]
    pub fn of(lesson: Option<(Arc<str>, &Scenario)>, recording: &Recording) -> Self {
        let scenario = &recording.scenario;
        let settings = &scenario.settings;
        let era = settings.is_informer().then_some(settings.era);
        let mut link = Self {
            era,
            inputs: recording.inputs.clone(),
            ..Self::default()
        };
        let Some((id, own)) = lesson else {
            link.change = Some(Change::Whole(Box::new(scenario.clone())));
            return link;
        };
        link.lesson = Some(id);
        let (from, to) = (own.in_era(era).whole(), scenario.whole());
        if from != to {
            link.change = Some(match difference(&from, &to) {
                Some(difference) => Change::Difference(difference),
                None => Change::Whole(Box::new(scenario.clone())),
            });
        }
        link
    }

    /// Parses the fragment after the `#`.
    ///
    /// # Errors
    /// States what is wrong with the link and what to do.
    pub fn read(fragment: &str) -> Result<Self, Text> {
        if fragment.len() > LONGEST_LINK {
            let size = fragment.len();
            return Err(text!(
                "The link has {size} bytes; at most {LONGEST_LINK} are read. Share a run as long as this as a file.",
                "链接共 {size} 字节，最多读取 {LONGEST_LINK} 字节。这么长的运行请以文件分享。"
            ));
        }
        // Some programs escape `;` and `=` when they pass a link on.
        let whole = fragment.strip_prefix('#').unwrap_or(fragment);
        let unescaped = if whole.contains(';') {
            None
        } else {
            Some(unescape(whole)?)
        };
        let mut parts = unescaped.as_deref().unwrap_or(whole).split(';');
        version(parts.next().unwrap_or_default())?;
        let mut link = Self::default();
        // Whether any key is known; `v1` alone is a valid link.
        let mut is_known = None;
        let (mut shelf, mut shown) = (false, ShelfLink::default());
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = unescape(value)?;
            match name {
                "lesson" => link.lesson = Some(value.into()),
                "era" => {
                    link.era = Some(era(&value).map_err(|error| bad(&error))?);
                }
                "at" => {
                    link.at = Some(
                        value
                            .parse()
                            .map_err(|error| no_moment(&error, &value, "The link", "链接"))?,
                    )
                }
                "scene" => {
                    let scene = value.parse().ok().filter(|scene| *scene > 0);
                    link.scene = Some(scene.ok_or_else(|| no_scene(&value))?);
                }
                "handout" => link.handout = true,
                "sel" => link.selection = value.into(),
                "shelf" => shelf = true,
                "q" | "course" | "teach" => {
                    match name {
                        "q" => shown.query = value.into(),
                        "course" => link.course = value.into(),
                        _ => shown.teach = true,
                    }
                    // Alone they say nothing.
                    is_known.get_or_insert(false);
                    continue;
                }
                "i" => link.unpack(&value)?,
                "" => continue,
                // A key of a newer page, or of the web component.
                _ => {
                    is_known.get_or_insert(false);
                    continue;
                }
            }
            is_known = Some(true);
        }
        if is_known == Some(false) {
            return Err(damaged());
        }
        shown.course = Arc::clone(&link.course);
        link.shelf = shelf.then_some(shown);
        Ok(link)
    }

    /// The recording of the link; `own` is the scenario of the link's lesson.
    ///
    /// # Errors
    /// States what is wrong with the link and what to do.
    pub fn recording(&self, own: &Scenario) -> Result<Recording, Text> {
        let own = own.in_era(self.era);
        let scenario = match &self.change {
            None => own,
            Some(Change::Whole(scenario)) => Scenario::clone(scenario),
            Some(Change::Difference(difference)) => {
                let mut written = own.whole();
                apply(&mut written, difference.clone())
                    .and_then(|()| trace::scenario(written))
                    .map_err(|error| bad(&error))?
            }
        };
        Ok(Recording {
            scenario,
            inputs: self.inputs.clone(),
        })
    }

    fn unpack(&mut self, packed: &str) -> Result<(), Text> {
        // Padding is not needed, and some programs cut it off.
        let packed = packed.trim_end_matches('=');
        let Ok(packed) = URL_SAFE_NO_PAD.decode(packed) else {
            return Err(damaged());
        };
        let text = decompress_to_vec_with_limit(&packed, UNPACKED).map_err(|_| damaged())?;
        let mut parts = Parts::default();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
            let read = trace::json_of(number, line).and_then(|value| match value {
                Some(value) => parts.take(value),
                None => Ok(()),
            });
            read.map_err(|inner| inside(number, &inner))?;
        }
        self.change = match (parts.scenario, parts.change) {
            (Some(scenario), _) => Some(Change::Whole(Box::new(scenario))),
            (None, change) => change.map(Change::Difference),
        };
        self.inputs = parts.inputs;
        Ok(())
    }

    /// The link as text, given its packed content.
    #[must_use]
    pub fn with(&self, packed: &str) -> String {
        let mut text = "#v1".to_owned();
        let era = self.era.map(Generation::version);
        let at = self.at.as_ref().map(ToString::to_string);
        let scene = self.scene.map(|scene| scene.to_string());
        for (name, value) in [
            ("lesson", self.lesson.as_deref()),
            ("era", era),
            ("scene", scene.as_deref()),
            ("course", Some(&*self.course)),
            ("at", at.as_deref()),
            ("sel", Some(&*self.selection)),
            ("i", Some(packed)),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                text.push(';');
                text.push_str(name);
                text.push('=');
                escape(value, &mut text);
            }
        }
        if self.handout {
            text.push_str(";handout");
        }
        text
    }

    /// The packed content: the expensive part, which is the same for every moment of a run.
    #[must_use]
    pub fn packed(&self) -> String {
        let mut text = String::new();
        match &self.change {
            Some(Change::Difference(change)) => trace::line(&mut text, "change", change.clone()),
            Some(Change::Whole(scenario)) => {
                trace::line(&mut text, "scenario", scenario.whole());
            }
            None => {}
        }
        trace::inputs(&mut text, &self.inputs);
        if text.is_empty() {
            return text;
        }
        URL_SAFE_NO_PAD.encode(compress_to_vec(text.as_bytes(), LEVEL))
    }
}

/// The fragment of the page's address, with its `#`.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(&self.packed()))
    }
}

/// Whether a fragment looks like a link, of any version.
#[must_use]
pub fn is_link(fragment: &str) -> bool {
    let text = fragment.strip_prefix('#').unwrap_or(fragment);
    let number = text.strip_prefix('v').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit()) || text.contains(['=', ';', '%'])
}

/// Whether a fragment holds a run's own inputs, in each form that [`Link::read`] takes. What reads them may have to come first:
/// nothing of that is called here.
#[must_use]
pub fn is_packed(fragment: &str) -> bool {
    if fragment.contains(';') {
        return fragment.contains(";i=");
    }
    // Whole, a link may have been escaped.
    fragment.match_indices("%3").any(|(at, found)| {
        let part = fragment[at + found.len()..].strip_prefix(['B', 'b']);
        let name = part.and_then(|part| part.strip_prefix('i').or(part.strip_prefix("%69")));
        name.is_some_and(|rest| ["=", "%3D", "%3d"].iter().any(|is| rest.starts_with(is)))
    })
}

fn version(text: &str) -> Result<(), Text> {
    if text == "v1" {
        return Ok(());
    }
    let number = text.strip_prefix('v').unwrap_or_default();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = short(number);
        return Err(text!(
            "The link is of version {number}, and this page reads version 1. Open it with a newer page.",
            "链接的版本是 {number}，本页读取版本 1。请用更新的页面打开。"
        ));
    }
    let text = short(text);
    Err(text!(
        "The link begins with {text:?} and not with v1. Copy it again, whole.",
        "链接以 {text:?} 开头，而不是 v1。请重新复制完整的链接。"
    ))
}

/// Escapes a text for an address: separators and non-ASCII characters become `%XX`.
fn escape(text: &str, to: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => to.push(char::from(byte)),
            b'-' | b'_' | b'.' | b'/' | b':' | b'+' | b'~' | b',' => to.push(char::from(byte)),
            _ => to.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn unescape(text: &str) -> Result<String, Text> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(damaged());
        };
        // Two hex digits fit into a byte.
        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
    }
    String::from_utf8(bytes).map_err(|_| damaged())
}

fn short(text: &str) -> &str {
    match text.char_indices().nth(20) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

fn damaged() -> Text {
    Text::new(
        "The link is damaged: a part of it is missing or was changed. Copy it again, whole.",
        "链接已损坏：有一部分缺失或被改动。请重新复制完整的链接。",
    )
}

/// The error for a line inside the link.
fn inside(line: u32, inner: &Text) -> Text {
    text!(
        ("In line {line} of what the link carries, {}", inner.en),
        ("链接所带内容的第 {line} 行：{}", inner.zh)
    )
}

fn no_scene(text: &str) -> Text {
    let text = short(text);
    text!(
        "The link has scene={text:?}. Write the number of a scene, from 1.",
        "链接中写着 scene={text:?}。请写场景的序号，从 1 开始。"
    )
}

fn bad(error: &str) -> Text {
    text!(
        "The link cannot be opened: {error}. Copy it again, whole.",
        "无法打开链接：{error}。请重新复制完整的链接。"
    )
}
