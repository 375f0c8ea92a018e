//! One block: its attributes, its run, and its expectations.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use serde_json::{Map, Value};

use deltascope_presentation::command::Export;
use deltascope_presentation::options::{Attribute, Options, Place};
use deltascope_presentation::session::opening::scenario_in;
use deltascope_presentation::session::present::Unshown;
use deltascope_presentation::session::{Session, hand_made};
use deltascope_presentation::state::state;
use deltascope_presentation::view::View;
use deltascope_replay::lessons;
use deltascope_replay::moment::{Base, Moment, MomentError};
use deltascope_world::bounds::{MAX_BYTES, shortened};
use deltascope_world::text::Lang;

use super::body::Body;
use super::expect::{self, begins_in};
use super::fence::{Fence, WORD};
use super::info;
use super::near::hint;

/// The attributes that only blocks have; the element does not know them.
const OWN: [&str; 2] = ["caption", "alt"];
/// The fields of a lesson's file and of a bare scenario.
const FIELDS: [&str; 15] = [
    "id", "title", "note", "era", "open", "markers", "scenario", "expect", "story", "settings",
    "initial", "script", "traffic", "drops", "beside",
];

/// What is wrong with a block, and in which line of its chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) line: usize,
    /// One or more lines.
    pub(super) message: String,
}

/// The folder of a chapter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folder<'a> {
    pub(super) path: &'a Path,
    /// How many folders it is below the book's sources; `None` if it belongs to no book.
    pub(super) depth: Option<usize>,
}

pub(super) struct Block {
    /// The attributes, including the book's defaults, in the order of [`Attribute::ALL`].
    pub(super) attributes: Vec<(Attribute, String)>,
    /// The parsed attributes.
    pub(super) options: Options,
    pub(super) caption: Option<String>,
    /// The alternative text of the picture.
    pub(super) alt: Option<String>,
    /// The scenario in its body or in its `src` file.
    pub(super) scenario: Option<Value>,
    /// The run, at the moment to show.
    pub(super) session: Session,
    /// Whether the generation is a default of the book, and not an attribute of the block.
    is_era_of_book: bool,
}

impl Block {
    /// Reads and runs a block. `defaults` are the book's attributes.
    ///
    /// # Errors
    /// All problems of the block.
    pub(super) fn run(
        fence: &Fence,
        defaults: &[(Attribute, String)],
        folder: Folder<'_>,
    ) -> Result<Self, Vec<Wrong>> {
        match Self::look(fence, defaults, folder) {
            (Some(block), wrong) if wrong.is_empty() => Ok(block),
            (_, wrong) => Err(wrong),
        }
    }

    /// The same, with the run as far as it exists, and all problems.
    pub(super) fn look(
        fence: &Fence,
        defaults: &[(Attribute, String)],
        folder: Folder<'_>,
    ) -> (Option<Self>, Vec<Wrong>) {
        let mut wrong = Vec::new();
        if !fence.is_closed {
            let message = format!("This fence is not closed: {}", closing(fence));
            let line = fence.line;
            return (None, vec![Wrong { line, message }]);
        }
        let mut block = Self {
            attributes: Vec::new(),
            options: Options::default(),
            caption: None,
            alt: None,
            scenario: None,
            session: Session::empty(),
            is_era_of_book: false,
        };
        block.ask(fence, defaults, &mut wrong);
        let body = match Body::read(&fence.body) {
            Ok(body) => body,
            Err(error) => {
                wrong.push(match fence.line_of_other() {
                    Some(other) => Wrong {
                        line: fence.line,
                        message: format!(
                            "This fence is not closed before that of line {other}: {}",
                            closing(fence)
                        ),
                    },
                    None => Wrong {
                        line: fence.line_at(error.offset),
                        message: error.message,
                    },
                });
                return (None, wrong);
            }
        };
        block.check_fields(fence, &body, &mut wrong);
        if !wrong.is_empty() {
            return (None, wrong);
        }
        block.scenario.clone_from(&body.scenario);
        if let Err(error) = block.present(fence, &body, folder) {
            return (None, vec![error]);
        }
        block.check_places(fence, &mut wrong);
        block.check_expectations(fence, &body, &mut wrong);
        wrong.sort_by_key(|one| one.line);
        (Some(block), wrong)
    }

    fn ask(&mut self, fence: &Fence, defaults: &[(Attribute, String)], wrong: &mut Vec<Wrong>) {
        let mut say = |message: String| {
            wrong.push(Wrong {
                line: fence.line,
                message,
            });
        };
        let word = fence.word();
        let rest = fence.info.get(word.len()..).unwrap_or_default();
        if word != WORD {
            say(format!(
                "A block of this kind is written ```{WORD}, not {word:?}"
            ));
            return;
        }
        if fence.info.contains('`') && fence.marks.starts_with('`') {
            say("Behind ``` there may be no backtick: then it is no block. Write ~~~ instead of ```".to_owned());
            return;
        }
        if rest.starts_with(',') {
            say(format!(
                "Attributes stand apart with spaces: {WORD} lesson=… at=…"
            ));
            return;
        }
        let written = match info::attributes(rest) {
            Ok(written) => written,
            Err(found) => {
                found.into_iter().for_each(say);
                return;
            }
        };
        for (key, value) in &written {
            match &**key {
                "caption" => self.caption = Some(value.clone()),
                "alt" => self.alt = Some(value.clone()),
                key if Attribute::named(key).is_some() => {}
                key => {
                    let known: Vec<&str> = Attribute::ALL
                        .map(Attribute::id)
                        .into_iter()
                        .chain(OWN)
                        .collect();
                    say(no_such("There is no attribute", key, &known));
                }
            }
        }
        for key in Attribute::ALL {
            let own = written.iter().find(|(name, _)| name == key.id());
            let default = defaults.iter().find(|(name, _)| *name == key);
            let Some(value) = own
                .map(|(_, value)| value)
                .or(default.map(|(_, value)| value))
            else {
                continue;
            };
            self.is_era_of_book |= key == Attribute::Era && own.is_none();
            match self.options.set(key, value) {
                Ok(()) => self.attributes.push((key, value.clone())),
                Err(error) => say(error.en.to_string()),
            }
        }
    }

    fn check_fields(&self, fence: &Fence, body: &Body, wrong: &mut Vec<Wrong>) {
        let Some(Value::Object(fields)) = &body.scenario else {
            return;
        };
        for name in fields.keys().filter(|name| !FIELDS.contains(&&***name)) {
            wrong.push(Wrong {
                line: fence.line_at(body.place_of(std::slice::from_ref(name))),
                message: no_such("A block has no field", name, &FIELDS),
            });
        }
        let chosen = self.options.lesson.is_some().then_some("lesson");
        let chosen = chosen.or(self.options.src.is_some().then_some("src"));
        if let (Some(key), Some(first)) = (chosen, fields.keys().next()) {
            wrong.push(Wrong {
                line: fence.line_at(body.place_of(std::slice::from_ref(first))),
                message: format!(
                    "{first} belongs to a scenario of the block's own, and {key}= names another. Leave out one of them"
                ),
            });
        }
    }

    fn present(&mut self, fence: &Fence, body: &Body, folder: Folder<'_>) -> Result<(), Wrong> {
        let presented = self.show(fence, body, folder);
        let is_informer = self.session.scenario().settings.is_informer();
        if !self.is_era_of_book || is_informer {
            return presented;
        }
        // This run has no generations; only the book's default set one.
        self.options.era = None;
        self.attributes.retain(|(key, _)| *key != Attribute::Era);
        self.session = Session::empty();
        self.show(fence, body, folder)
    }

    fn show(&mut self, fence: &Fence, body: &Body, folder: Folder<'_>) -> Result<(), Wrong> {
        let at_fence = |message: String| Wrong {
            line: fence.line,
            message,
        };
        if let Some(src) = &self.options.src
            && body.scenario.is_none()
        {
            let bytes = file(folder, src).map_err(at_fence)?;
            let presented = match scenario_in(&bytes) {
                Some(scenario) => {
                    // Inline the scenario: pages in other folders, such as the one for printing, could not load
                    // the file.
                    self.attributes.retain(|(key, _)| *key != Attribute::Src);
                    self.scenario = Some(scenario.clone());
                    self.session.present(&self.options, Some(scenario))
                }
                None => self.session.present_file(&self.options, src, bytes),
            };
            return presented.map_err(|error| at_fence(format!("{src}: {}", words(error))));
        }
        let presented = self.session.present(&self.options, body.scenario.clone());
        presented.map_err(|error| {
            let message = words(error);
            if let Some(place) = body.wrong_place(self.options.mode.tells(self.options.scene)) {
                let line = fence.line_at(body.place_of(&place));
                return Wrong { line, message };
            }
            let known = lessons::menu();
            let ids: Vec<&str> = known.iter().map(|(id, _)| &**id).collect();
            match &self.options.lesson {
                Some(id) if body.scenario.is_none() && !ids.contains(&&**id) => {
                    at_fence(no_such("There is no lesson", id, &ids))
                }
                _ => at_fence(message),
            }
        })
    }

    /// The page shows the end of the run for a moment that the run never reaches. In a book that is a mistake.
    fn check_places(&mut self, fence: &Fence, wrong: &mut Vec<Wrong>) {
        let shown = self.session.playback().cursor();
        let places = [self.options.at.clone(), self.options.until.clone()];
        for (key, place) in [Attribute::At, Attribute::Until].into_iter().zip(places) {
            if let Some(Err(message)) = place.map(|place| self.come_to(&place)) {
                let written = self.attributes.iter().find(|(name, _)| *name == key);
                let written = written.map_or("", |(_, value)| value);
                wrong.push(Wrong {
                    line: fence.line,
                    message: format!("{}={written}: {message}", key.id()),
                });
            }
        }
        let _same = self.session.seek_place(&Place::Step(shown));
    }

    /// Goes to a moment. Fails if the run does not reach it.
    fn come_to(&mut self, place: &Place) -> Result<(), String> {
        let mut seek = |place: &Place| match self.session.seek_place(place) {
            Ok(_) => Ok(self.session.playback().cursor()),
            Err(error) => Err(error.en.to_string()),
        };
        // The number of facts to reach. A time needs none: it is checked against the end instead.
        let wanted = match place {
            Place::Step(step) => *step,
            Place::Moment(moment) if !matches!(moment.base, Base::Time(_)) => {
                let base = moment.base.clone();
                let plus = moment.plus;
                seek(&Place::Moment(Moment { base, plus: 0 }))?.saturating_add(plus)
            }
            _ => 0,
        };
        seek(place)?;
        let timeline = self.session.timeline();
        let (len, end) = (timeline.len(), timeline.time_at(timeline.len()));
        let is_over = !timeline.is_endless() && !timeline.is_full();
        let is_past = match place {
            Place::Moment(moment) => matches!(moment.base, Base::Time(time) if time > end),
            _ => false,
        };
        if wanted <= len && !(is_past && is_over) {
            return Ok(());
        }
        Err(if is_over {
            format!(
                "The run is over before that, at {end} ms, after {len} facts. Write end for its end"
            )
        } else {
            format!("The run does not come to it within {len} facts. Name an earlier moment")
        })
    }

    /// Checks the expectations, then returns to the moment to show.
    fn check_expectations(&mut self, fence: &Fence, body: &Body, wrong: &mut Vec<Wrong>) {
        let view = self.session.view();
        let (shown, first) = (view.step, state(&view, Lang::En));
        let mut here = Map::new();
        let mut elsewhere = Vec::new();
        for (name, value) in &body.expect {
            match value {
                Value::Object(expected) if !begins_in(&first, name) => {
                    elsewhere.push((name, expected))
                }
                value => {
                    here.insert(name.clone(), value.clone());
                }
            }
        }
        let at = self
            .attributes
            .iter()
            .find(|(key, _)| *key == Attribute::At);
        let at = at.map_or("as it opens".to_owned(), |(_, at)| format!("at {at}"));
        report(fence, body, &at, &[], &expect::check(&here, &first), wrong);
        for (name, expected) in elsewhere {
            let names = [name.clone()];
            match self.state_at(name, &first) {
                Ok(state) => {
                    let found = expect::check(expected, &state);
                    report(fence, body, &format!("at {name}"), &names, &found, wrong);
                }
                Err(message) => wrong.push(Wrong {
                    line: line_of(fence, body, &names),
                    message,
                }),
            }
        }
        // The run is computed that far, so this cannot fail.
        let _same = self.session.seek_place(&Place::Step(shown));
    }

    fn state_at(&mut self, name: &str, first: &Value) -> Result<Value, String> {
        let place = name.parse::<Place>();
        let sought = place.map(|place| self.come_to(&place));
        let error = match sought {
            Ok(Ok(())) => return Ok(state(&self.session.view(), Lang::En)),
            Ok(Err(error)) => format!("{}.", error.trim_end_matches('.')),
            Err(MomentError::Form) => {
                "A moment is a marker, input:N, t:MS, headline:FACT, step:N, start or end."
                    .to_owned()
            }
            Err(error) => format!("{}.", error.words().en),
        };
        let members = first.as_object().into_iter().flatten();
        let members: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
        Err(format!(
            "{name} is no moment of this run: {error} Nor is it a member of the state. {}",
            hint(name, &members)
        ))
    }

    /// The link to this run at the moment to show, as the part of the page's address after the `#`; `None` for what
    /// no link can carry.
    pub(super) fn link(&mut self) -> Option<String> {
        self.session.export(Export::Link).ok()
    }

    /// The view at the moment to show.
    pub(super) fn view(&mut self) -> View {
        self.session.view()
    }
}

/// A message for an unknown name, with what it may have meant.
fn no_such(what: &str, name: &str, known: &[&str]) -> String {
    let name = shortened(name);
    format!("{what} {name:?}. {}", hint(&name, known))
}

/// Why the run of a block is not shown.
fn words(error: Unshown) -> String {
    match error {
        Unshown::HandMade => format!("{} Or leave out era.", hand_made().en),
        Unshown::Because(text) => text.en.to_string(),
    }
}

/// How to close a fence.
fn closing(fence: &Fence) -> String {
    format!("write {} alone on the line after its body", fence.marks)
}

fn report(
    fence: &Fence,
    body: &Body,
    at: &str,
    before: &[String],
    found: &[expect::Mismatch],
    wrong: &mut Vec<Wrong>,
) {
    for one in found {
        let names: Vec<String> = before.iter().chain(&one.names).cloned().collect();
        wrong.push(Wrong {
            line: line_of(fence, body, &names),
            message: format!("{at}: {}", one.message),
        });
    }
}

fn line_of(fence: &Fence, body: &Body, names: &[String]) -> usize {
    let path: Vec<String> = ["expect".to_owned()].iter().chain(names).cloned().collect();
    fence.line_at(body.place_of(&path))
}

/// Reads a file of the book.
fn file(folder: Folder<'_>, src: &str) -> Result<Vec<u8>, String> {
    if src.contains("://") || src.starts_with('/') {
        return Err(format!(
            "src={src:?} is no file of the book, so it cannot be run while the book is built. Put it beside the chapter, and write its relative path"
        ));
    }
    if folder.depth.is_some_and(|depth| leaves(depth, src)) {
        return Err(format!(
            "src={src:?} lies outside of the book's sources, and mdBook copies only what is inside. Put it beside the chapter, and write its relative path"
        ));
    }
    if let Some(stem) = src.strip_suffix(".md") {
        return Err(format!(
            "src={src:?} would not be found: mdBook copies no .md files. Give it another name, such as \"{stem}.jsonl\""
        ));
    }
    let path = folder.path.join(src);
    // Read one byte more than allowed, so that the parser sees that there is too much.
    let mut bytes = Vec::new();
    let read =
        File::open(&path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!(
            "src={src:?} cannot be read: {error}. It is looked for at {}",
            path.display()
        )),
    }
}

/// Whether a path leads out of the book's sources. Only the names count, as in a browser.
fn leaves(depth: usize, src: &str) -> bool {
    let mut parts = Path::new(src).components();
    let end = parts.try_fold(depth, |depth, part| match part {
        Component::Normal(_) => Some(depth + 1),
        Component::CurDir => Some(depth),
        Component::ParentDir => depth.checked_sub(1),
        Component::RootDir | Component::Prefix(_) => None,
    });
    end.is_none()
}
