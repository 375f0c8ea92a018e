//! What holds for every picture: it is well-formed, nothing leaves its room, and nothing overlaps.

use super::colors::TOKENS;
use super::pen::{Area, Pen, Spot, measure, mono, wrap};
use super::{Ink, draw, poster, stage};
use crate::command::SvgOptions;
use std::rc::Rc;

use crate::against::Against;
use crate::command::{Command, Tell};
use crate::options::{Attribute, Controls, Options, Theme};
use crate::rows::drops;
use crate::session::{Session, typed};
use crate::stage::Panel;
use crate::strings::strings;
use crate::view::View;
use crate::view::story::Lit;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{ObjectRef, Printer};
use deltascope_cache::key::Key;
use deltascope_replay::lessons;
use deltascope_replay::picture::{ApiObject, Printed};
use deltascope_world::text::Lang;

const LANGS: [Lang; 2] = [Lang::En, Lang::Zh];
const THEMES: [Option<Theme>; 3] = [Some(Theme::Light), Some(Theme::Dark), None];

/// Options for pictures of several shapes.
fn shapes() -> Vec<SvgOptions> {
    let some = [
        vec![Panel::Api, Panel::Queue, Panel::Indexer],
        vec![Panel::Queue, Panel::Pop],
        vec![Panel::Reflector],
        vec![Panel::Now, Panel::Processor],
    ];
    let mut shapes = Vec::new();
    for width in [0, 750, 320] {
        shapes.push((Vec::new(), width));
    }
    for panels in some {
        shapes.push((panels.clone(), 0));
        shapes.push((panels, 400));
    }
    let shapes = shapes.into_iter().enumerate();
    let shapes = shapes.map(|(at, (panels, width))| SvgOptions {
        panels,
        width,
        theme: THEMES[at % 3],
        lang: LANGS[at % 2],
        strip: at != 3,
    });
    shapes.collect()
}

/// Views of a lesson: at its markers, one fact after them, and at some places between.
fn moments(id: &str, era: Option<&str>) -> Vec<View> {
    let mut session = Session::new();
    let mut options = Options::default();
    options.set(Attribute::Lesson, id).unwrap();
    if session.present(&options, None).is_err() {
        return Vec::new();
    }
    if let Some(era) = era {
        session.obey(typed::generation(era));
    }
    let view = session.view();
    let mut steps: Vec<usize> = view.markers.iter().flat_map(|m| [m.at, m.at + 1]).collect();
    let end = view.steps.min(400);
    steps.extend((0..7).map(|n| n * end / 6));
    steps.sort_unstable();
    steps.dedup();
    let at = |step| {
        session.obey(Command::Seek(step));
        session.view()
    };
    steps.into_iter().map(at).collect()
}

/// Whether tags are closed, attributes quoted and letters allowed.
fn is_well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain(&rest[..at])?;
        let end = rest[at..].find('>').ok_or("a tag without its end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} is closed, but not open"));
            }
            continue;
        }
        let (name, attributes) = tag
            .split_once(' ')
            .unwrap_or((tag.trim_end_matches('/'), ""));
        let values = attributes.trim_end_matches('/');
        let quotes = values.matches('"').count();
        if quotes % 2 == 1 || quotes / 2 != values.matches("=\"").count() {
            return Err(format!("quotes: {tag}"));
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
        // A style sheet is text, too.
    }
    if open.is_empty() && rest.trim().is_empty() {
        return Ok(());
    }
    Err(format!("left open: {open:?} {rest}"))
}

fn plain(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        rest = &rest[at..];
        if !["&amp;", "&lt;", "&gt;", "&quot;"]
            .iter()
            .any(|one| rest.starts_with(one))
        {
            return Err(format!("an ampersand: {rest:.20}"));
        }
        rest = &rest[1..];
    }
    let control = |letter: char| letter.is_control() && letter != '\n';
    if text.contains(control) || text.contains('>') {
        return Err(format!("a letter: {text:?}"));
    }
    Ok(())
}

fn is_inside(inner: Area, outer: Area, slack: i32) -> bool {
    inner.x >= outer.x - slack
        && inner.y >= outer.y - slack
        && inner.right() <= outer.right() + slack
        && inner.bottom() <= outer.bottom() + slack
}

fn do_overlap(a: Area, b: Area, slack: i32) -> bool {
    a.x + slack < b.right()
        && b.x + slack < a.right()
        && a.y + slack < b.bottom()
        && b.y + slack < a.bottom()
}

/// The first spot that leaves its room or overlaps another one.
fn misplaced(spots: &[Spot]) -> Option<String> {
    let mut room: Option<&Spot> = None;
    let mut here: Vec<&Spot> = Vec::new();
    let mut rooms: Vec<&Spot> = Vec::new();
    for spot in spots {
        if spot.what == "room" && spot.text == "over" {
            // Laid over what is there.
            (room, here) = (Some(spot), Vec::new());
            continue;
        }
        if spot.what == "room" {
            if let Some(other) = rooms
                .iter()
                .find(|other| do_overlap(other.area, spot.area, 0))
            {
                return Some(format!("{spot:?} on {other:?}"));
            }
            rooms.push(spot);
            (room, here) = (Some(spot), Vec::new());
            continue;
        }
        let within = room.unwrap();
        if !is_inside(spot.area, within.area, 0) {
            return Some(format!("{spot:?} out of {within:?}"));
        }
        let alike = here.iter().filter(|other| other.what == spot.what);
        let mut alike = alike.filter(|other| do_overlap(other.area, spot.area, 3));
        if let Some(other) = alike.next() {
            return Some(format!("{}: {spot:?} on {other:?}", within.text));
        }
        here.push(spot);
    }
    None
}

fn check(view: &View, options: &SvgOptions, of: &str, wrong: &mut Vec<String>) {
    let text = stage(view, options);
    let of = format!(
        "{of}, {:?} {:?} {}",
        options.panels, options.lang, options.width
    );
    if let Err(what) = is_well_formed(&text) {
        wrong.push(format!("{of}: {what}"));
    }
    let mut pen = Pen::new(view, options);
    draw(&mut pen);
    wrong.extend(misplaced(&pen.spots).map(|what| format!("{of}: {what}")));
}

fn assert_none(wrong: &[String]) {
    let first = &wrong[..wrong.len().min(20)];
    assert!(
        wrong.is_empty(),
        "{} in all:\n{}",
        wrong.len(),
        first.join("\n")
    );
}

#[test]
fn every_picture_is_well_formed_and_nothing_is_out_of_place() {
    let (mut turn, mut wrong) = (0, Vec::new());
    for (id, _) in lessons::menu() {
        for era in [None, Some("1.34"), Some("1.36")] {
            for view in moments(&id, era) {
                // Each view gets a third of the shapes: over all views every shape is drawn.
                for (place, options) in shapes().iter().enumerate() {
                    if (place + turn) % 3 == 0 {
                        let of = format!("{id} {era:?} at {}", view.step);
                        check(&view, options, &of, &mut wrong);
                    }
                }
                turn += 1;
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_race_is_a_picture_of_its_lanes() {
    let mut wrong = Vec::new();
    for id in ["tombstone", "sandbox"] {
        let mut session = Session::new();
        for command in [Command::Load(id.into()), Command::Compare(Against::Race)] {
            session.obey(command);
        }
        for _ in 0..6 {
            let view = session.view();
            assert!(view.race().is_some());
            for options in shapes() {
                check(
                    &view,
                    &options,
                    &format!("{id} at {}", view.time),
                    &mut wrong,
                );
                let said = crate::rows::race::said(&view, options.lang).unwrap();
                let text = stage(&view, &options);
                for words in [&*said, "0.32", "0.34", "0.35", "0.36"] {
                    assert!(text.contains(words), "{words}");
                }
            }
            session.obey(Command::Walk {
                on: true,
                coarser: true,
            });
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_poster_of_a_race_shows_its_lanes_as_far_as_they_fit() {
    let mut session = Session::new();
    for command in [
        Command::Load("tombstone".into()),
        Command::Compare(Against::Race),
        Command::Walk {
            on: true,
            coarser: true,
        },
    ] {
        session.obey(command);
    }
    let view = session.view();
    let mut wrong = Vec::new();
    // Below each other, the cells need more room.
    for (width, fits) in [(750, true), (350, false)] {
        let options = SvgOptions {
            width,
            ..SvgOptions::default()
        };
        let mut pen = Pen::new(&view, &options);
        super::poster::draw(&mut pen, Controls::Transport, None);
        let has = |era: &str| pen.out.contains(&format!(">{era}</text>"));
        assert_eq!((has("0.32"), has("0.36")), (true, fits), "{width}");
        let said = crate::rows::race::said(&view, options.lang).unwrap();
        let first = said.split('.').next().unwrap();
        assert!(pen.out.contains(first), "{width}: {first}");
        wrong.extend(misplaced(&pen.spots));
    }
    assert_none(&wrong);
}

#[test]
fn names_are_escaped_and_cut() {
    let long = "x".repeat(240);
    let mut wrong = Vec::new();
    for name in [
        "<b>&\"'",
        "a\u{0}\u{1b}\u{7f}\n\u{ffff}b",
        &long,
        "很长的名字".repeat(30).as_str(),
    ] {
        let key: Key = format!("{name}/{name}").as_str().into();
        for mut view in moments("tombstone", None) {
            // No server would accept this name, but a recording may hold it.
            let picture = Rc::make_mut(&mut view.picture);
            let Some((_, known)) = picture.store.items.iter().next() else {
                continue;
            };
            let object = ObjectRef {
                key: key.clone(),
                rv: "123456789".into(),
                ..known.clone()
            };
            picture.store.items.insert(key.clone(), object.clone());
            let values = picture.store.indices.entry("app".into()).or_default();
            values.insert(name.into(), vec![key.clone()]);
            picture.queue.keys.push_back(key.clone());
            picture
                .queue
                .deltas
                .insert(key.clone(), vec![(DeltaType::Updated, object.clone())]);
            if let Some((_, known)) = picture.api.objects.iter().next() {
                let known = ApiObject {
                    object,
                    ..ApiObject::clone(known)
                };
                picture.api.objects.insert(key.clone(), known.into());
            }
            picture
                .output
                .push_back(Printed::of(Printer::Handler(0), &name.into()));
            picture.handlers[0].name = name.into();
            for options in shapes() {
                let of = format!("{name:.9?} at {}", view.step);
                check(&view, &options, &of, &mut wrong);
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_picture_is_self_contained_and_describes_itself() {
    let views = moments("tombstone", None);
    let view = &views[views.len() - 1];
    for options in shapes() {
        let text = stage(view, &options);
        assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(text.contains("<title>") && text.contains("</desc>"));
        for wrong in [
            "<script",
            "foreignObject",
            "href",
            "url(h",
            "@import",
            "onload",
        ] {
            assert!(!text.contains(wrong), "{wrong}");
        }
        let auto = options.theme.is_none();
        assert_eq!(text.contains("prefers-color-scheme"), auto);
        assert_eq!(text.contains("id=\"dark\""), auto);
        assert_eq!(
            text.contains(TOKENS[0].1),
            options.theme != Some(Theme::Dark)
        );
    }
    let asked = SvgOptions {
        panels: vec![Panel::Queue],
        ..SvgOptions::default()
    };
    let text = stage(view, &asked);
    assert!(text.contains("width=\"750\"") && !text.contains("INDEXER"));
    assert!(stage(view, &SvgOptions::default()).contains("width=\"1200\""));
}

#[test]
fn a_picture_of_some_rooms_shows_as_much_as_an_element() {
    let views = moments("tombstone", Some("1.32"));
    let waits = views
        .iter()
        .filter(|view| view.picture.queue.keys.len() == 3)
        .collect::<Vec<_>>();
    assert!(!waits.is_empty());
    for view in waits {
        for panels in [
            vec![Panel::Api, Panel::Queue, Panel::Indexer],
            vec![Panel::Queue, Panel::Indexer],
        ] {
            let options = SvgOptions {
                panels,
                ..SvgOptions::default()
            };
            let mut pen = Pen::new(view, &options);
            draw(&mut pen);
            let texts: Vec<&str> = pen.spots.iter().map(|spot| &*spot.text).collect();
            assert!(!texts.iter().any(|text| text.starts_with('+')), "{texts:?}");
            let types = ["Replaced", "Deleted?", "Updated", "Added", "Sync"];
            let tokens = texts.iter().filter(|text| types.contains(text)).count();
            assert!(tokens >= 3, "{texts:?}");
        }
    }
}

#[test]
fn letters_of_a_poster_can_be_read_on_a_phone() {
    let sizes = |text: &str| -> Vec<f64> {
        let after = text.split(" font-size=\"").skip(1);
        after
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect()
    };
    for (id, _) in lessons::menu() {
        for view in moments(&id, Some("1.32")) {
            for room in Panel::ALL {
                let options = SvgOptions {
                    panels: vec![room],
                    width: 350,
                    ..SvgOptions::default()
                };
                let (text, _) = poster(&view, &options, Controls::Transport, None);
                is_well_formed(&text).unwrap();
                let least = sizes(&text).into_iter().fold(99.0, f64::min);
                assert!(least >= 11.0, "{id} at {}, {room:?}: {least}", view.step);
            }
        }
    }
}

#[test]
fn nothing_of_a_poster_is_out_of_place() {
    use Panel::{Api, Indexer, Now, Pop, Processor, Queue, Reflector};
    let mut wrong = Vec::new();
    let shapes = [
        vec![Queue, Indexer, Processor],
        vec![Api, Reflector, Processor],
        vec![Reflector, Queue, Pop, Now],
        vec![Api, Queue, Indexer, Now],
        vec![],
    ];
    for (turn, (id, _)) in lessons::menu().iter().enumerate() {
        for (place, view) in moments(id, Some("1.34")).iter().enumerate() {
            for width in [750, 350] {
                let options = SvgOptions {
                    panels: shapes[(turn + place) % shapes.len()].clone(),
                    width,
                    lang: LANGS[place % 2],
                    ..SvgOptions::default()
                };
                let mut pen = Pen::new(view, &options);
                super::poster::draw(&mut pen, Controls::Transport, None);
                let of = format!("{id} at {}, {:?} {width}", view.step, options.panels);
                wrong.extend(misplaced(&pen.spots).map(|what| format!("{of}: {what}")));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_poster_shows_what_was_dropped_over_what_is_there() {
    let mut seen = std::collections::BTreeMap::new();
    for (id, _) in lessons::menu() {
        let mut session = Session::new();
        session.obey(Command::Load(id.clone()));
        session.obey(Command::Seek(0));
        for _ in 0..400 {
            session.obey(Command::Step(1));
            let view = session.view();
            let Some(place) = view.recent.last().and_then(drops::place) else {
                continue;
            };
            let (rows, _) = drops::rows(&view, &place, Lang::En);
            // Few of each room will do.
            let times = seen.entry(place.room()).or_insert(0);
            *times += 1;
            for width in [750, 350].into_iter().filter(|_| *times < 8) {
                let options = SvgOptions {
                    panels: vec![place.room()],
                    width,
                    ..SvgOptions::default()
                };
                let drawn = |view: &View| {
                    let mut pen = Pen::new(view, &options);
                    super::poster::draw(&mut pen, Controls::None, None);
                    pen.spots
                };
                let of = format!("{id} at {}, {place:?} {width}", view.step);
                let nothing = View {
                    dropped: Rc::default(),
                    ..view.clone()
                };
                let (with, without) = (drawn(&view), drawn(&nothing));
                // Nothing moves for it.
                let (same, laid) = with.split_at(without.len());
                assert_eq!(same, without, "{of}");
                let is_sign = |spot: &&Spot| spot.text.starts_with(['×', '?']);
                assert_eq!(
                    laid.iter().filter(is_sign).count(),
                    rows.len(),
                    "{of}: {laid:?}"
                );
            }
        }
    }
    let rooms = [Panel::Queue, Panel::Processor];
    assert!(rooms.iter().all(|room| seen.contains_key(room)), "{seen:?}");
}

#[test]
fn a_picture_of_a_story_has_no_words_that_the_story_lacks() {
    let mut session = Session::new();
    let mut options = Options::default();
    for (attribute, value) in [
        (Attribute::Lesson, "first-look"),
        (Attribute::Mode, "story"),
    ] {
        options.set(attribute, value).unwrap();
    }
    session.present(&options, None).unwrap();
    let mut wrong = Vec::new();
    let scenes = session.view().story.unwrap().of;
    for scene in 1..=scenes {
        session.obey(Command::Tell(Tell::Scene(scene - 1)));
        session.obey(Command::Tell(Tell::Next));
        session.obey(Command::Tell(Tell::Back));
        let view = session.view();
        let story = view.story.clone().unwrap();
        for (lang, panels, width) in [
            (Lang::En, vec![], 1_200),
            (Lang::Zh, vec![], 750),
            (Lang::En, vec![Panel::Queue, Panel::Indexer], 750),
            (Lang::En, vec![Panel::Queue, Panel::Indexer], 960),
            (Lang::Zh, vec![Panel::Queue], 500),
            (Lang::En, vec![], 350),
        ] {
            let options = SvgOptions {
                panels,
                width,
                lang,
                ..SvgOptions::default()
            };
            let of = format!("scene {} at {width} {:?}", story.index, options.panels);
            let mut pen = Pen::new(&view, &options);
            super::poster::draw(&mut pen, Controls::Transport, None);
            wrong.extend(misplaced(&pen.spots).map(|what| format!("{of}: {what}")));
            let words = crate::story::words::plain(story.say.get(lang));
            let first: String = words.chars().take(8).collect();
            let says = pen.spots.iter().any(|spot| spot.text.contains(&first));
            assert!(says, "{of}: {first}");
            for text in [&pen.out, &stage(&view, &options)] {
                for word in [
                    "HasSynced",
                    "IndexKeys(",
                    "relists",
                    "listener",
                    "blockDeltas",
                ] {
                    assert!(!text.contains(word), "{of}: {word}");
                }
            }
        }
        // What no scene has been about yet has its place and its name on the board, and nothing else.
        let board = stage(&view, &SvgOptions::default());
        assert!(board.contains(">INDEXER</text>"), "scene {}", story.index);
        let is_shown = story.lit(Panel::Indexer) != Lit::Folded;
        let items = [">", strings(Lang::En).items, "</text>"].concat();
        assert_eq!(board.contains(&items), is_shown, "scene {}", story.index);
    }
    assert_none(&wrong);
}

#[test]
fn many_objects_are_cells() {
    let mut session = Session::new();
    let objects: Vec<_> = (0..200)
        .map(|n| serde_json::json!({"metadata": {"namespace": "default", "name": format!("web-{n}")}}))
        .collect();
    let scenario = serde_json::json!({"settings": {"machinery": "shared"}, "initial": objects});
    session
        .present(&Options::default(), Some(scenario))
        .unwrap();
    let mut wrong = Vec::new();
    for step in [0, 40, 300, 900] {
        session.obey(Command::Seek(step));
        for options in shapes() {
            check(
                &session.view(),
                &options,
                &format!("200 objects at {step}"),
                &mut wrong,
            );
        }
    }
    assert_none(&wrong);
}

#[test]
fn lines_break_between_words_and_han_characters() {
    let of = mono(100, Ink::INK);
    let broken = |text: &str, letters: i32| -> Vec<String> {
        let lines = wrap(&[(text, of)], measure("0", of) * letters);
        lines
            .iter()
            .map(|line| line.iter().map(|(text, _)| &**text).collect())
            .collect()
    };
    assert_eq!(broken("one two three", 8), ["one two ", "three"]);
    assert_eq!(broken("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(
        broken("队列是空的，没有对象。", 8),
        ["队列是空", "的，没有对", "象。"]
    );
}
