//! The four generations in place of the stage: a lane each, and a sentence about what a handler knows in each.

use std::sync::Arc;

use super::compare::{Chip, chip, join_keys};
use super::{Names, RvText, is_tombstone};
use crate::strings;
use crate::view::{RaceView, View};
use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::ObjectRef;
use deltascope_replay::diff::Thing;
use deltascope_replay::race::{Column, Columns, HANDLERS, Heard, LANES, QUEUES, STORES};
use deltascope_world::in_lang;
use deltascope_world::text::{Lang, counted};

/// How many handlers a lane shows.
const HANDLERS_SHOWN: usize = 3;
/// How many objects the sentence names.
const NAMED: usize = 3;

/// One lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRow {
    /// The version that its generation is named by.
    pub era: &'static str,
    /// What is special about it, in a word.
    pub kind: &'static str,
    /// It is the generation of this run.
    pub own: bool,
    /// The queue, the store and the handlers.
    pub cells: Vec<CellRow>,
}

/// A queue, a store or a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRow {
    /// Its CSS class.
    pub class: &'static str,
    /// Its label.
    pub label: String,
    /// It differs from that of most lanes.
    pub differs: bool,
    /// What is in it.
    pub chips: Vec<Chip>,
    /// How many more there are, as text.
    pub more: String,
}

/// The lanes.
#[must_use]
pub fn lanes(view: &View, lang: Lang) -> Vec<LaneRow> {
    let Some(race) = view.race() else {
        return Vec::new();
    };
    let names = Names::of(view);
    let lane = |(lane, generation): (usize, Generation)| LaneRow {
        era: generation.client_go(),
        kind: generation.as_str(),
        own: lane == race.own,
        cells: cells(race, (lane, generation), &names, lang),
    };
    Generation::ALL.into_iter().enumerate().map(lane).collect()
}

fn cells(
    race: &RaceView,
    (lane, generation): (usize, Generation),
    names: &Names,
    lang: Lang,
) -> Vec<CellRow> {
    let moment = &race.moment;
    let differs = moment.differs(lane);
    let cell = |class, label: &str, differs, mut chips: Vec<Chip>, hidden: usize| {
        if chips.is_empty() {
            chips.push(Chip::empty(lang));
        }
        CellRow {
            class,
            label: label.to_owned(),
            differs,
            chips,
            more: match hidden {
                0 => String::new(),
                count => format!("+{count}"),
            },
        }
    };
    let queue = &moment.lanes[lane];
    let queued = queue.queued.iter().map(|one| chip(one, names, lang));
    let mut queued: Vec<Chip> = queued.collect();
    join_keys(queue.kind, queue.queued.iter(), &mut queued);
    let items = &moment.items;
    let mut cells = vec![
        cell(
            "loose",
            &[queue.kind.id(), " · ", one_pop(generation, lang)].concat(),
            differs[QUEUES],
            queued,
            queue.hidden,
        ),
        cell(
            "cols",
            "Indexer",
            differs[STORES],
            row(items, lane, names, lang),
            items.hidden,
        ),
    ];
    for handler in moment.handlers.iter().take(HANDLERS_SHOWN) {
        let mut chips = row(&handler.known, lane, names, lang);
        if let Some(last) = &handler.last[lane] {
            let mut last = chip(&Thing::Notified(Arc::clone(last)), names, lang);
            last.title = format!("{} {}", lang.pick("last call:", "最后收到："), last.title);
            last.newest = true;
            last.text = lang.pick("last", "最后").to_owned();
            chips.push(last);
        }
        let name = &handler.name;
        let label = in_lang!(lang, "{name} knows", "{name} 已知");
        let known = &handler.known.columns;
        let differs = differs[HANDLERS] && known.iter().any(|one| one.differs[lane]);
        cells.push(cell("cols", &label, differs, chips, handler.known.hidden));
    }
    cells
}

/// What its next Pop takes from what waits.
fn one_pop(generation: Generation, lang: Lang) -> &'static str {
    let (en, zh) = match generation {
        Generation::Classic => ("one Pop takes all of a key", "一次 Pop 取走一个 key 的全部"),
        Generation::InOrder => ("one Pop takes one", "一次 Pop 取一个"),
        Generation::Batched => (
            "one Pop takes several, one per key",
            "一次 Pop 取多个，key 各不相同",
        ),
        Generation::Atomic => (
            "one Pop takes several, one per key, or a list",
            "一次 Pop 取多个，key 各不相同，或一整个列表",
        ),
    };
    lang.pick(en, zh)
}

/// The objects of a lane, with a hole for each that only other lanes have.
fn row(columns: &Columns, lane: usize, names: &Names, lang: Lang) -> Vec<Chip> {
    let one = |column: &Column| {
        let thing = column.things[lane].as_ref();
        let mut chip = thing.map_or_else(Chip::gap, |thing| chip(thing, names, lang));
        chip.differs = column.differs[lane];
        chip
    };
    columns.columns.iter().map(one).collect()
}

/// What a handler knows in each lane, and what else differs.
#[must_use]
pub fn said(view: &View, lang: Lang) -> Option<String> {
    let race = view.race()?;
    let (names, moment) = (Names::of(view), &race.moment);
    let mut handlers = moment.handlers.iter();
    let parted = handlers.find_map(|one| told_apart(one, &names, lang));
    let [queues, stores, _] = moment.groups.map(|groups| groups != [0; LANES]);
    // One of them in words; that the others differ, too, is seen.
    let (parted, stores, queues) = match parted {
        Some(parted) => (Some(parted), stores, queues),
        None if stores => match held_apart(&moment.items, &names, lang) {
            Some(parted) => (Some(parted), false, queues),
            None => (None, stores, queues),
        },
        None if queues => match queued_apart(race, &names, lang) {
            Some(parted) => (Some(parted), stores, false),
            None => (None, stores, queues),
        },
        None => (None, stores, queues),
    };
    let (en, zh) = match (stores, queues) {
        (true, true) => (
            "The Indexers and the queues differ.",
            "Indexer 和队列不同。",
        ),
        (true, false) => ("The Indexers differ.", "Indexer 不同。"),
        (false, true) => ("The queues differ.", "队列不同。"),
        (false, false) if parted.is_none() => ("Nothing differs.", "没有不同。"),
        (false, false) => ("", ""),
    };
    let first = || Some(known_to_all(moment.handlers.first()?, &names, lang));
    let known = parted.or_else(first).unwrap_or_default();
    let here = if moment.parts {
        lang.pick("They part here.", "此处出现分歧。")
    } else {
        ""
    };
    let parts = [here, &known, lang.pick(en, zh)];
    let parts: Vec<&str> = parts.into_iter().filter(|one| !one.is_empty()).collect();
    let text = parts.join(lang.pick(" ", ""));
    // No space stands beside a mark that is as wide as a character.
    Some(text.replace("） ", "）"))
}

/// What the handler knows in each lane, if that differs.
fn told_apart(handler: &Heard, names: &Names, lang: Lang) -> Option<String> {
    let say = |has, objects: &str| match has {
        Has::Gone => in_lang!(
            lang,
            "was called for the delete of {objects}",
            "已收到 {objects} 的 OnDelete"
        ),
        Has::It => in_lang!(lang, "knows {objects}", "已知 {objects}"),
        Has::Never => in_lang!(lang, "knows nothing of {objects}", "不知道 {objects}"),
    };
    let (name, known) = (&handler.name, apart(&handler.known, &say, names, lang)?);
    Some(in_lang!(
        lang,
        "Handler {name}: {known}.",
        "handler {name}：{known}。"
    ))
}

/// What the Indexer holds in each lane, of the objects in which that differs.
fn held_apart(items: &Columns, names: &Names, lang: Lang) -> Option<String> {
    let say = |has, objects: &str| match has {
        Has::It => in_lang!(lang, "holds {objects}", "有 {objects}"),
        Has::Gone | Has::Never => in_lang!(lang, "has no {objects}", "没有 {objects}"),
    };
    let held = apart(items, &say, names, lang)?;
    Some(in_lang!(lang, "Indexer: {held}.", "Indexer：{held}。"))
}

/// What waits in the queue of each lane, if that differs in numbers or in order.
fn queued_apart(race: &RaceView, names: &Names, lang: Lang) -> Option<String> {
    let lanes = &race.moment.lanes;
    let differs = |text: &dyn Fn(usize) -> String| (1..LANES).any(|lane| text(lane) != text(0));
    let numbers = |lane: usize| {
        let (mut deltas, mut all) = (0, Vec::new());
        for thing in &lanes[lane].queued {
            let (en, zh) = match thing {
                Thing::BatchEntry(DeltaType::ReplacedAll, ..) => {
                    ("one entry for the whole list", "整个列表的一个条目")
                }
                Thing::BatchEntry(DeltaType::SyncAll, ..) => {
                    ("one entry for the whole resync", "整个 resync 的一个条目")
                }
                Thing::BatchEntry(..) => ("a bookmark", "一个 bookmark"),
                _ => {
                    deltas += 1;
                    continue;
                }
            };
            all.push(lang.pick(en, zh).to_owned());
        }
        if deltas > 0 {
            let counted = counted(deltas, "delta", "deltas");
            all.push(in_lang!(lang, "{counted}", " {deltas} 个 Delta"));
        }
        let all = listed(&all, lang);
        match all.is_empty() {
            true => lang.pick("it holds nothing", "是空的").to_owned(),
            false => in_lang!(lang, "it holds {all}", "有{all}"),
        }
    };
    let order = |lane: usize| {
        let keys = lanes[lane].queued.iter().filter_map(|thing| match thing {
            Thing::Delta(_, object) | Thing::Object(object) => Some(names.get(&object.key)),
            _ => None,
        });
        let keys = keys.collect::<Vec<_>>().join(lang.pick(", ", "、"));
        in_lang!(lang, "it holds, in this order, {keys}", "依次是 {keys}")
    };
    // Of what is hidden, neither is known.
    if lanes.iter().any(|lane| lane.hidden > 0) {
        return None;
    }
    let text = if differs(&numbers) {
        by_lane(lang, numbers)
    } else if differs(&order) {
        by_lane(lang, order)
    } else {
        return None;
    };
    Some(in_lang!(lang, "Queue: {text}.", "队列：{text}。"))
}

/// What a lane has of an object.
#[derive(Clone, Copy)]
enum Has {
    Gone,
    It,
    Never,
}

/// Says what a lane has of these objects.
type Say<'a> = &'a dyn Fn(Has, &str) -> String;

/// What each lane has of the objects in which lanes differ.
fn apart(of: &Columns, say: Say, names: &Names, lang: Lang) -> Option<String> {
    let apart = of.columns.iter().filter(|one| one.parts());
    let apart: Vec<&Column> = apart.take(NAMED).collect();
    let text = |lane| knows(&apart, lane, say, names, lang);
    (!apart.is_empty()).then(|| by_lane(lang, text))
}

/// `in 0.32 and 0.34 …; in 0.35 and 0.36 …`: lanes with the same text together.
fn by_lane(lang: Lang, text: impl Fn(usize) -> String) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (lane, generation) in Generation::ALL.into_iter().enumerate() {
        let (text, version) = (text(lane), generation.client_go().to_owned());
        match groups.iter_mut().find(|(other, _)| *other == text) {
            Some((_, versions)) => versions.push(version),
            None => groups.push((text, vec![version])),
        }
    }
    let groups = groups.iter().map(|(text, versions)| {
        let versions = listed(versions, lang);
        in_lang!(lang, "in {versions} {text}", "在 {versions} 中{text}")
    });
    groups.collect::<Vec<_>>().join(lang.pick("; ", "；"))
}

/// What a lane has of these objects.
fn knows(columns: &[&Column], lane: usize, say: Say, names: &Names, lang: Lang) -> String {
    let (mut there, mut gone, mut never) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        match &column.things[lane] {
            Some(Thing::Object(object)) => there.push(named(object, names, lang)),
            Some(Thing::Gone(object)) => gone.push(named(object, names, lang)),
            _ => {
                let other = column.things.iter().flatten().next();
                if let Some(Thing::Object(object) | Thing::Gone(object)) = other {
                    never.push(names.get(&object.key));
                }
            }
        }
    }
    let parts = [(gone, Has::Gone), (there, Has::It), (never, Has::Never)];
    let parts = parts.iter().filter(|(objects, _)| !objects.is_empty());
    let parts = parts.map(|(objects, has)| say(*has, &listed(objects, lang)));
    let parts = listed(&parts.collect::<Vec<_>>(), lang);
    in_lang!(lang, "it {parts}", "{parts}")
}

/// What the handler knows, where that is the same in all lanes.
fn known_to_all(handler: &Heard, names: &Names, lang: Lang) -> String {
    let columns = &handler.known.columns;
    let objects = columns.iter().filter_map(|one| match &one.things[0] {
        Some(Thing::Object(object)) => Some(named(object, names, lang)),
        _ => None,
    });
    let mut objects: Vec<String> = objects.take(NAMED).collect();
    let more = columns.len() + handler.known.hidden - objects.len();
    if more > 0 {
        objects.push(strings::more(lang, more));
    }
    let (name, objects) = (&handler.name, listed(&objects, lang));
    match objects.is_empty() {
        true => in_lang!(
            lang,
            "Handler {name} knows of no object yet.",
            "handler {name} 还不知道任何对象。"
        ),
        false => in_lang!(
            lang,
            "Handler {name} knows {objects} in all four.",
            "handler {name} 在四个实现版本中都已知 {objects}。"
        ),
    }
}

/// `b (rv 3)`, or `b (a tombstone of rv 3)`
fn named(object: &ObjectRef, names: &Names, lang: Lang) -> String {
    let (name, rv) = (names.get(&object.key), RvText::of(&object.rv).short);
    match (is_tombstone(object), rv.is_empty()) {
        (false, true) => name,
        (false, false) => in_lang!(lang, "{name} (rv {rv})", "{name}（rv {rv}）"),
        (true, true) => in_lang!(lang, "{name} (a tombstone)", "{name}（墓碑）"),
        (true, false) => in_lang!(
            lang,
            "{name} (a tombstone of rv {rv})",
            "{name}（rv {rv} 的墓碑）"
        ),
    }
}

/// `a, b and c`
fn listed(all: &[String], lang: Lang) -> String {
    let before = all.len().saturating_sub(1);
    let text = all[..before].join(lang.pick(", ", "、"));
    let last = all.last().map_or("", String::as_str);
    match before {
        0 => last.to_owned(),
        _ => text + lang.pick(" and ", "、") + last,
    }
}
