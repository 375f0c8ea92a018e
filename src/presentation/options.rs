//! The options of an element, an iframe or a fenced block: the same names everywhere.
//!
//! The book lists them (docs, Embedding); [`Attribute`] has their names.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use crate::decimal::{hundredths, of_hundredths};
use crate::stage::Panel;
use deltascope_cache::controller::Generation;
use deltascope_replay::moment::{Moment, MomentError};
use deltascope_replay::playback::SPEEDS;
use deltascope_replay::step_size::StepSize;
use deltascope_world::text::{Lang, Text};
use deltascope_world::{named, text};

named! {
    /// The names of the attributes.
    #[allow(missing_docs, reason = "`Options` says what each of them sets")]
    pub enum Attribute {
        Lesson = "lesson",
        Src = "src",
        Era = "era",
        At = "at",
        Until = "until",
        Panels = "panels",
        Controls = "controls",
        Mode = "mode",
        Scene = "scene",
        Granularity = "granularity",
        Speed = "speed",
        Theme = "theme",
        Lang = "lang",
        Motion = "motion",
        Height = "height",
        Load = "load",
        Markers = "markers",
    }
}

/// The options. A missing one has the default of the lesson or of the reader's machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The id of a lesson.
    pub lesson: Option<Arc<str>>,
    /// The address of a scenario or a trace, for the host to load.
    pub src: Option<Arc<str>>,
    /// The generation.
    pub era: Option<Generation>,
    /// The moment that is shown first.
    pub at: Option<Place>,
    /// Where playback ends.
    pub until: Option<Place>,
    /// The rooms that are shown, in the order of the data's path; empty: all.
    pub panels: Vec<Panel>,
    /// Which controls are shown.
    pub controls: Controls,
    /// What the user can do.
    pub mode: Mode,
    /// The scene of the story that is shown first, from 1.
    pub scene: Option<usize>,
    /// The size of a step.
    pub granularity: Option<StepSize>,
    /// The speed of playback, in percent.
    pub speed: Option<u32>,
    /// Its colours; `None`: as its surroundings.
    pub theme: Option<Theme>,
    /// The language; `None`: as the page around it.
    pub lang: Option<Lang>,
    /// Whether things move; `None`: as the reader's machine is set.
    pub motion: Option<bool>,
    /// The height in px; `None`: by its width.
    pub height: Option<u32>,
    /// When it is loaded.
    pub load: Load,
    /// Whether playback pauses at each marker.
    pub pause_at_markers: bool,
}

named! {
    /// What the user can do.
    #[derive(Default)]
    pub enum Mode {
        /// Everything.
        #[default]
        Explore = "explore",
        /// Only move in time and change nothing else.
        Watch = "watch",
        /// Be told the lesson's story, scene by scene.
        Story = "story",
        /// The same, of the scenes that ask something alone.
        Quiz = "quiz",
        /// Hold the four generations against each other, in place of the stage.
        Race = "race",
    }
}

impl Mode {
    /// Whether the lesson's story is told. A scene alone asks for it as well, as in a link.
    #[must_use]
    pub fn tells(self, scene: Option<usize>) -> bool {
        match self {
            Self::Story | Self::Quiz => true,
            Self::Explore => scene.is_some(),
            Self::Watch | Self::Race => false,
        }
    }
}

named! {
    /// The colours of a page or a picture.
    #[derive(Default)]
    pub enum Theme {
        /// Dark ink on light paper.
        #[default]
        Light = "light",
        /// Light ink on dark paper.
        Dark = "dark",
    }
}

named! {
    /// Which controls are shown.
    #[derive(Default)]
    pub enum Controls {
        /// The strip, and the buttons with the timeline.
        #[default]
        Transport = "transport",
        /// The header as well: lessons, generations, KnownObjects.
        Full = "full",
        /// The strip, and the buttons to play and to step.
        Minimal = "minimal",
        /// Only the stage.
        None = "none",
    }
}

named! {
    /// When the program is loaded.
    #[derive(Default)]
    pub enum Load {
        /// When the element comes into view.
        #[default]
        Visible = "visible",
        /// When the user clicks it.
        Click = "click",
        /// At once.
        Eager = "eager",
    }
}

/// A place in a run, as an attribute names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the first fact: `start`.
    Start,
    /// After the last fact: `end`.
    End,
    /// After this many facts: `step:N`. Facts have no stable number, so such a place does not last.
    Step(usize),
    /// A lasting place: a marker, `input:N`, `t:MS` or `headline:FACT`, and a number of facts after it: `relist+3`.
    Moment(Moment),
}

impl FromStr for Place {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        match text {
            "start" => Ok(Self::Start),
            "end" => Ok(Self::End),
            _ => match text.strip_prefix("step:") {
                Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => number
                    .parse()
                    .map(Self::Step)
                    .map_err(|_| MomentError::Form),
                Some(_) => Err(MomentError::Form),
                None => text.parse().map(Self::Moment),
            },
        }
    }
}

impl Options {
    /// Sets one option. An empty value resets it.
    ///
    /// # Errors
    /// Fails if the value is wrong. The text says what it may be, and the old value stays.
    pub fn set(&mut self, attribute: Attribute, value: &str) -> Result<(), Text> {
        let (key, value) = (attribute.id(), value.trim());
        let auto = value.is_empty() || value == "auto";
        let given = (!value.is_empty()).then(|| Arc::from(value));
        match attribute {
            Attribute::Lesson => self.lesson = given,
            Attribute::Src => self.src = given,
            Attribute::Era if value.is_empty() => self.era = None,
            Attribute::Era => self.era = Some(era(key, value)?),
            Attribute::At => self.at = place(key, value)?,
            Attribute::Until => self.until = place(key, value)?,
            Attribute::Panels => self.panels = panels(key, value)?,
            Attribute::Controls => {
                self.controls = any_of(key, value, &Controls::ALL, Controls::id)?
            }
            Attribute::Mode => self.mode = any_of(key, value, &Mode::ALL, Mode::id)?,
            Attribute::Scene if value.is_empty() => self.scene = None,
            Attribute::Scene => self.scene = Some(scene(key, value)?),
            Attribute::Granularity if value.is_empty() => self.granularity = None,
            Attribute::Granularity => {
                self.granularity = Some(one_of(key, value, &StepSize::ALL, StepSize::id, &[])?);
            }
            Attribute::Speed if value.is_empty() => self.speed = None,
            Attribute::Speed => self.speed = Some(speed(key, value)?),
            Attribute::Theme if auto => self.theme = None,
            Attribute::Theme => {
                self.theme = Some(one_of(key, value, &Theme::ALL, Theme::id, AUTO)?)
            }
            Attribute::Lang if auto => self.lang = None,
            Attribute::Lang => self.lang = Some(lang(key, value)?),
            Attribute::Motion if auto => self.motion = None,
            Attribute::Motion => {
                self.motion =
                    Some(one_of(key, value, &["full", "none"], |word| word, AUTO)? == "full")
            }
            // The height of the surroundings is not known here.
            Attribute::Height if auto || value == "fill" => self.height = None,
            Attribute::Height => self.height = Some(height(key, value)?),
            Attribute::Load => self.load = any_of(key, value, &Load::ALL, Load::id)?,
            Attribute::Markers => {
                self.pause_at_markers = any_of(key, value, &["pause"], |word| word)? == "pause";
            }
        }
        Ok(())
    }

    /// Whether a room is shown.
    #[must_use]
    pub fn shows(&self, room: Panel) -> bool {
        self.panels.is_empty() || self.panels.contains(&room)
    }
}

/// As the surroundings are.
const AUTO: &[&str] = &["auto"];

/// One of `all`; `also` names what else would have been read.
fn one_of<T: Copy>(
    key: &str,
    value: &str,
    all: &[T],
    id: fn(T) -> &'static str,
    also: &[&'static str],
) -> Result<T, Text> {
    let found = all.iter().find(|one| id(**one) == value);
    found.copied().ok_or_else(|| {
        let words = all.iter().map(|one| id(*one));
        let words: Vec<&str> = words.chain(also.iter().copied()).collect();
        not(key, value, &words.join(", "))
    })
}

/// The same, with a default for what is empty.
fn any_of<T: Copy + Default>(
    key: &str,
    value: &str,
    all: &[T],
    id: fn(T) -> &'static str,
) -> Result<T, Text> {
    match value {
        "" => Ok(T::default()),
        _ => one_of(key, value, all, id, &[]),
    }
}

fn not(key: &str, value: &str, words: &str) -> Text {
    text!(
        "{key}={value:?} is not known. Write one of: {words}.",
        (
            "{key}={value:?} 无法识别。可选：{}。",
            words.replace(", ", "、")
        )
    )
}

fn era(key: &str, value: &str) -> Result<Generation, Text> {
    Generation::from_version(value).ok_or_else(|| not(key, value, &Generation::VERSIONS.join(", ")))
}

fn place(key: &str, value: &str) -> Result<Option<Place>, Text> {
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|error| match error {
        MomentError::Form => not(
            key,
            value,
            "a marker of the lesson, input:N, t:MS, headline:FACT, headline:FACT:KEY:N, step:N, start, end",
        ),
        MomentError::NoFact(_) => {
            let Text { en, zh } = error.words();
            text!("{key}={value:?}: {en}.", "{key}={value:?}：{zh}。")
        }
    })
}

fn panels(key: &str, value: &str) -> Result<Vec<Panel>, Text> {
    let mut chosen = Vec::new();
    let words = value.split(|one: char| one == ',' || one.is_whitespace());
    for word in words.filter(|word| !word.is_empty()) {
        chosen.push(one_of(key, word, &Panel::ALL, Panel::id, &[])?);
    }
    Ok(Panel::ALL
        .into_iter()
        .filter(|room| chosen.contains(room))
        .collect())
}

fn scene(key: &str, value: &str) -> Result<usize, Text> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| not(key, value, "1, 2, 3 …"))
}

fn speed(key: &str, value: &str) -> Result<u32, Text> {
    let wanted = value.strip_suffix(['x', '×']).unwrap_or(value);
    let found = hundredths(wanted).filter(|percent| SPEEDS.contains(percent));
    found.ok_or_else(|| not(key, value, &SPEEDS.map(of_hundredths).join(", ")))
}

fn lang(key: &str, value: &str) -> Result<Lang, Text> {
    let lower = value.to_ascii_lowercase();
    match lower.split(['-', '_']).next() {
        Some("en") => Ok(Lang::En),
        Some("zh") => Ok(Lang::Zh),
        _ => Err(not(key, value, "en, zh, auto")),
    }
}

/// The heights of an element, in px. A lower stage would show nothing; a higher one is a mistake.
pub const HEIGHTS: RangeInclusive<u32> = 160..=4_000;

fn height(key: &str, value: &str) -> Result<u32, Text> {
    let px = value.strip_suffix("px").unwrap_or(value).parse().ok();
    px.filter(|px| HEIGHTS.contains(px)).ok_or_else(|| {
        let (least, most) = (HEIGHTS.start(), HEIGHTS.end());
        not(key, value, &format!("auto, fill, {least} … {most} (px)"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_is_read_and_an_error_lists_the_valid_values() {
        for (key, value, is_right) in [
            ("era", "1.36", true),
            ("era", "2.x", false),
            ("at", "relist", true),
            ("at", "relist+3", true),
            ("at", "input:2", true),
            ("at", "headline:ItemStored", true),
            ("at", "headline:ItemStored:default/web:2+1", true),
            ("at", "headline:Stored", false),
            ("at", "step:12", true),
            ("at", "step:-1", false),
            ("at", "12", false),
            ("until", "end", true),
            ("panels", "queue, indexer", true),
            ("panels", "api,\n  queue\tpop", true),
            ("panels", "queue,kitchen", false),
            ("controls", "minimal", true),
            ("controls", "some", false),
            ("mode", "watch", true),
            ("mode", "race", true),
            ("mode", "story", true),
            ("mode", "quiz", true),
            ("mode", "exam", false),
            ("scene", "3", true),
            ("scene", "0", false),
            ("scene", "-1", false),
            ("scene", "last", false),
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
        ] {
            let set = Options::default().set(Attribute::named(key).unwrap(), value);
            assert_eq!(set.is_ok(), is_right, "{key}={value}");
            if let Err(text) = set {
                assert!(text.en.contains(key) && text.zh.contains(key), "{text:?}");
                let has_auto = ["theme", "lang", "height"].contains(&key);
                assert_eq!(text.en.contains("auto"), has_auto, "{text:?}");
            }
        }
        let mut options = Options::default();
        options.set(Attribute::Panels, "indexer api").unwrap();
        assert_eq!(options.panels, [Panel::Api, Panel::Indexer]);
    }
}
