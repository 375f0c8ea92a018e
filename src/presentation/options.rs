//! What an element, an iframe or a fenced block asks for: the same words everywhere.
//!
//! The book lists them (docs, Embedding); [`KEYS`] is what they are called.

use std::str::FromStr;
use std::sync::Arc;

use crate::i18n::{Lang, Text};
use crate::stage::Panel;
use deltascope_cache::controller::Generation;
use deltascope_replay::moment::Moment;
use deltascope_replay::playback::SPEEDS;
use deltascope_replay::step_size::StepSize;
use deltascope_world::virtual_time::Era;

/// The names of the attributes.
pub const KEYS: [&str; 16] = [
    "lesson",
    "src",
    "era",
    "at",
    "until",
    "panels",
    "controls",
    "mode",
    "granularity",
    "speed",
    "theme",
    "lang",
    "motion",
    "height",
    "load",
    "markers",
];

/// What is asked for; what is left out is as the lesson has it, or as the reader's machine says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The id of a lesson.
    pub lesson: Option<Arc<str>>,
    /// Where a scenario or a trace is to be had, as whoever can ask for it writes it.
    pub src: Option<Arc<str>>,
    /// The generation.
    pub era: Option<Era>,
    /// The moment that is shown first.
    pub at: Option<Place>,
    /// Playing ends there.
    pub until: Option<Place>,
    /// The rooms that are shown, in the order of the data's path; none: all.
    pub panels: Vec<Panel>,
    /// What there is to turn.
    pub controls: Controls,
    /// Only time can be moved; nothing else can be changed.
    pub watch: bool,
    /// How far a step goes.
    pub granularity: Option<StepSize>,
    /// How fast it plays, in percent.
    pub speed: Option<u32>,
    /// Dark or light; left out, as the page around it.
    pub dark: Option<bool>,
    /// The language; left out, as the page around it.
    pub lang: Option<Lang>,
    /// Whether things move; left out, as the reader's machine says.
    pub motion: Option<bool>,
    /// How high it is, in px; left out, by its width.
    pub height: Option<u32>,
    /// When it is loaded.
    pub load: Load,
    /// Playing pauses at each marker.
    pub pause_at_markers: bool,
}

/// What there is to turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Controls {
    /// The strip and the transport.
    #[default]
    Transport,
    /// The header as well: lessons, generations, KnownObjects.
    Full,
    /// The strip, and buttons to play and to step.
    Minimal,
    /// Nothing but the stage.
    None,
}

/// When the program is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Load {
    /// When the element comes into view.
    #[default]
    Visible,
    /// When somebody clicks it.
    Click,
    /// At once.
    Eager,
}

/// A moment of a run, as an attribute names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the first fact: `start`.
    Start,
    /// When nothing more comes: `end`.
    End,
    /// After so many facts: `step:N`. Facts have no stable number, so this is for the moment only.
    Step(usize),
    /// What lasts: a marker, `input:N` or `t:MS`, and so many facts after it: `relist+3`.
    Moment(Moment),
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "start" => Ok(Self::Start),
            "end" => Ok(Self::End),
            _ => match text.strip_prefix("step:") {
                Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    number.parse().map(Self::Step).map_err(|_| ())
                }
                Some(_) => Err(()),
                None => text.parse().map(Self::Moment),
            },
        }
    }
}

impl Options {
    /// Takes one attribute. What is not known is passed over, and an empty value is as none.
    ///
    /// # Errors
    /// Says what is wrong with the value, and what it may be; what was before stays.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Text> {
        let value = value.trim();
        let auto = value.is_empty() || value == "auto";
        let given = (!value.is_empty()).then(|| Arc::from(value));
        match key {
            "lesson" => self.lesson = given,
            "src" => self.src = given,
            "era" if value.is_empty() => self.era = None,
            "era" => self.era = Some(era(key, value)?),
            "at" => self.at = place(key, value)?,
            "until" => self.until = place(key, value)?,
            "panels" => self.panels = panels(key, value)?,
            "controls" => self.controls = one_of(key, value, &CONTROLS)?,
            "mode" => self.watch = one_of(key, value, &MODES)?,
            "granularity" if value.is_empty() => self.granularity = None,
            "granularity" => {
                let words = StepSize::ALL.map(|step_size| (step_size.id(), step_size));
                self.granularity = Some(one_of(key, value, &words)?);
            }
            "speed" if value.is_empty() => self.speed = None,
            "speed" => self.speed = Some(speed(key, value)?),
            "theme" if auto => self.dark = None,
            "theme" => self.dark = Some(one_of(key, value, &THEMES)?),
            "lang" if auto => self.lang = None,
            "lang" => self.lang = Some(lang(key, value)?),
            "motion" if auto => self.motion = None,
            "motion" => self.motion = Some(one_of(key, value, &MOTIONS)?),
            // How high what is around it is, is not known here.
            "height" if auto || value == "fill" => self.height = None,
            "height" => self.height = Some(height(key, value)?),
            "load" => self.load = one_of(key, value, &LOADS)?,
            "markers" => self.pause_at_markers = one_of(key, value, &MARKERS)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether a room is shown.
    #[must_use]
    pub fn shows(&self, room: Panel) -> bool {
        self.panels.is_empty() || self.panels.contains(&room)
    }
}

const CONTROLS: [(&str, Controls); 5] = [
    ("", Controls::Transport),
    ("transport", Controls::Transport),
    ("full", Controls::Full),
    ("minimal", Controls::Minimal),
    ("none", Controls::None),
];
const MODES: [(&str, bool); 3] = [("", false), ("explore", false), ("watch", true)];
const THEMES: [(&str, bool); 2] = [("light", false), ("dark", true)];
const MOTIONS: [(&str, bool); 2] = [("full", true), ("none", false)];
const LOADS: [(&str, Load); 4] = [
    ("", Load::Visible),
    ("visible", Load::Visible),
    ("click", Load::Click),
    ("eager", Load::Eager),
];
const MARKERS: [(&str, bool); 2] = [("", false), ("pause", true)];

fn one_of<T: Copy>(key: &str, value: &str, words: &[(&str, T)]) -> Result<T, Text> {
    if let Some((_, found)) = words.iter().find(|(word, _)| *word == value) {
        return Ok(*found);
    }
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    Err(not(key, value, words.join(", ").trim_start_matches(", ")))
}

fn not(key: &str, value: &str, words: &str) -> Text {
    Text::new(
        &format!("{key}={value:?} is not known. Write one of: {words}."),
        &format!(
            "{key}={value:?} 无法识别。可选：{}。",
            words.replace(", ", "、")
        ),
    )
}

fn era(key: &str, value: &str) -> Result<Era, Text> {
    Generation::from_version(value)
        .map(Era)
        .ok_or_else(|| not(key, value, "1.32, 1.34, 1.35, 1.36"))
}

fn place(key: &str, value: &str) -> Result<Option<Place>, Text> {
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|()| {
        not(
            key,
            value,
            "a marker of the lesson, input:N, t:MS, step:N, start, end",
        )
    })
}

fn panels(key: &str, value: &str) -> Result<Vec<Panel>, Text> {
    let mut chosen = Vec::new();
    for word in value.split([',', ' ']).filter(|word| !word.is_empty()) {
        let words = Panel::ALL.map(|room| (room.id(), room));
        chosen.push(one_of(key, word, &words)?);
    }
    Ok(Panel::ALL
        .into_iter()
        .filter(|room| chosen.contains(room))
        .collect())
}

fn speed(key: &str, value: &str) -> Result<u32, Text> {
    let wanted = value.strip_suffix(['x', '×']).unwrap_or(value);
    let found = SPEEDS.into_iter().find(|percent| {
        let times = f64::from(*percent) / 100.0;
        wanted.parse() == Ok(times)
    });
    found.ok_or_else(|| not(key, value, "0.25, 0.5, 1, 2, 4, 8"))
}

fn lang(key: &str, value: &str) -> Result<Lang, Text> {
    let lower = value.to_ascii_lowercase();
    match lower.split(['-', '_']).next() {
        Some("en") => Ok(Lang::En),
        Some("zh") => Ok(Lang::Zh),
        _ => Err(not(key, value, "en, zh, auto")),
    }
}

/// Less would show nothing, and more is a mistake.
const HEIGHTS: std::ops::RangeInclusive<u32> = 160..=4_000;

fn height(key: &str, value: &str) -> Result<u32, Text> {
    let px = value.strip_suffix("px").unwrap_or(value).parse().ok();
    px.filter(|px| HEIGHTS.contains(px))
        .ok_or_else(|| not(key, value, "auto, fill, 160 … 4000 (px)"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn every_attribute_is_read_and_what_is_wrong_says_what_may_be() {
        for (key, value, is_right) in [
            ("era", "1.36", true),
            ("era", "2.x", false),
            ("at", "relist", true),
            ("at", "relist+3", true),
            ("at", "input:2", true),
            ("at", "step:12", true),
            ("at", "step:-1", false),
            ("at", "12", false),
            ("until", "end", true),
            ("panels", "queue, indexer", true),
            ("panels", "queue,kitchen", false),
            ("controls", "minimal", true),
            ("controls", "some", false),
            ("mode", "watch", true),
            ("mode", "quiz", false),
            ("granularity", "pop", true),
            ("granularity", "big", false),
            ("speed", "0.5", true),
            ("speed", "3", false),
            ("theme", "dark", true),
            ("theme", "auto", true),
            ("theme", "coal", false),
            ("lang", "zh-CN", true),
            ("lang", "fr", false),
            ("motion", "none", true),
            ("height", "480px", true),
            ("height", "fill", true),
            ("height", "3", false),
            ("load", "click", true),
            ("load", "later", false),
            ("markers", "pause", true),
            ("somethingElse", "x", true),
        ] {
            let set = Options::default().set(key, value);
            assert_eq!(set.is_ok(), is_right, "{key}={value}");
            if let Err(text) = set {
                assert!(text.en.contains(key) && text.zh.contains(key), "{text:?}");
            }
        }
        let mut options = Options::default();
        options.set("panels", "indexer api").unwrap();
        assert_eq!(options.panels, [Panel::Api, Panel::Indexer]);
    }
}
