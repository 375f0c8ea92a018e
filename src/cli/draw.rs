//! `deltascope draw`: the stage at one moment, as SVG.

use deltascope_presentation::command::SvgOptions;
use deltascope_presentation::options::{Attribute, Options};
use deltascope_presentation::session::Session;
use deltascope_presentation::session::opening::scenario_in;
use deltascope_presentation::session::present::Unshown;
use deltascope_presentation::svg;
use deltascope_replay::lessons;
use deltascope_terminal::{Form, near};
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

use super::args::Draw;
use super::{Exit, Failure, note, put, replay};

/// What was meant by a lesson that there is not, or by a marker that the lesson does not have.
fn meant(options: &Draw) -> Option<Text> {
    let id = options.lesson.as_deref()?;
    let Ok(lesson) = lessons::load(id) else {
        let all = lessons::menu();
        let meant = near::nearest(id, all.iter().map(|(id, _)| &**id))?;
        return Some(text!(
            "There is no lesson {id:?}. Did you mean {meant:?}?",
            "没有课程 {id:?}。是不是 {meant:?}？"
        ));
    };
    let at = options.at.as_deref()?;
    let marker = at.split_once('+').map_or(at, |(marker, _)| marker);
    // One that the lesson has is not reached, perhaps in this generation.
    if lesson.markers.iter().any(|rule| &*rule.id == marker) {
        return None;
    }
    let meant = near::nearest(marker, lesson.markers.iter().map(|rule| &*rule.id))?;
    Some(text!(
        "There is no marker {marker:?} in this lesson. Did you mean {meant:?}?",
        "此课程中没有标记 {marker:?}。是不是 {meant:?}？"
    ))
}

/// Opens a recording. Of one that is cut off, all before that is drawn.
fn file(
    session: &mut Session,
    asked: &Options,
    name: &str,
    mut bytes: Vec<u8>,
    lang: Lang,
) -> Result<(), Unshown> {
    if let Some(cut) = replay::cut_off(name, &bytes) {
        note(cut.get(lang));
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
    }
    session.present_file(asked, name, bytes)
}

pub(super) fn run(options: &Draw, lang: Lang) -> Result<(), Failure> {
    let mut asked = Options::default();
    for (key, value) in [
        (Attribute::Lesson, &options.lesson),
        (Attribute::Era, &options.era),
        (Attribute::At, &options.at),
        (Attribute::Panels, &options.panels),
        (Attribute::Theme, &options.theme),
    ] {
        if let Some(value) = value {
            let wrong = |words| Failure::of(words).with(Exit::Usage);
            asked.set(key, value).map_err(wrong)?;
        }
    }
    let mut session = Session::new();
    match &options.file {
        None => session.present(&asked, None),
        Some(path) => {
            let (name, bytes) = replay::read(path)?;
            match scenario_in(&bytes) {
                Some(scenario) => session.present(&asked, Some(scenario)),
                None => file(&mut session, &asked, &name, bytes, lang),
            }
        }
    }
    .map_err(|unshown| Failure::of(meant(options).unwrap_or_else(|| unshown.into())))?;
    let picture = svg::stage(
        &session.view(),
        &SvgOptions {
            panels: asked.panels,
            theme: asked.theme,
            lang,
            width: options.width.unwrap_or_default(),
            strip: !options.no_strip,
        },
    );
    put(Form::Xml, options.output.as_deref(), &picture)
}
