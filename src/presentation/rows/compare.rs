//! Two runs side by side, as rows of chips.

use crate::checks;
use crate::stage::Panel as Place;
use crate::strings;
use crate::view::{CompareView, View};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{NotificationRef, ObjectRef};
use deltascope_replay::diff::{DiffSection, Label, Line, Metric, SHOWN, Thing};
use deltascope_replay::invariants::Violation;
use deltascope_replay::picture::{QueueKind, ReflectorState};
use deltascope_world::text::Lang;

use super::{Mark, Names, RvText, is_tombstone, type_class};

/// One room of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomRow {
    /// Its id.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// How many things differ.
    pub differs: usize,
    /// Its lines.
    pub lines: Vec<LineRow>,
}

/// One line of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The label of the line.
    pub label: String,
    /// The layout of its chips: `cols`, `wide`, `loose` or `lines`.
    pub class: &'static str,
    /// Its chips, on both sides.
    pub sides: [Vec<Chip>; 2],
    /// How many more there are, as text.
    pub more: String,
    /// The chips that are left out are the earlier ones, not the later.
    pub more_before: bool,
}

/// One thing, such as an object or a delta.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Chip {
    /// What it stands for.
    pub kind: ChipKind,
    /// It stands for a tombstone.
    pub tombstone: bool,
    /// The other side has something else in its place.
    pub differs: bool,
    /// The other side has nothing in its place.
    pub only: bool,
    /// It is the last thing that a handler received.
    pub newest: bool,
    /// It belongs to the key of the delta before it, and one Pop takes both.
    pub joined: bool,
    /// Its glyph.
    pub glyph: Option<DeltaType>,
    /// Its objects: mark, name and version of each.
    pub about: Vec<(Option<Mark>, String, String)>,
    /// The text before the objects.
    pub text: String,
    /// The whole of it in words: its tooltip.
    pub title: String,
}

/// What a chip stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ChipKind {
    /// An object, or words.
    #[default]
    Plain,
    /// A delta or a notification; the glyph has its type.
    Typed,
    /// An entry of a queue that holds many objects; the glyph has its type.
    Batch,
    /// A value of an index with its keys.
    KeySet,
    /// A deleted object.
    Gone,
    /// The place of a thing that is not there.
    Gap,
    /// Nothing at all.
    Nothing,
}

impl Chip {
    /// Its CSS classes.
    #[must_use]
    pub fn class(&self) -> String {
        let kind = match self.kind {
            ChipKind::Plain => "",
            ChipKind::Typed => "typed",
            ChipKind::Batch => "typed boxful",
            ChipKind::KeySet => "keyset",
            ChipKind::Gone => "gone",
            ChipKind::Gap => "gap",
            ChipKind::Nothing => "none",
        };
        let when = |is: bool, class: &'static str| if is { class } else { "" };
        let classes = [
            kind,
            self.glyph.map_or("", type_class),
            when(self.tombstone, "tombstone"),
            when(self.differs, "differs"),
            when(self.only, "only"),
            when(self.newest, "newest"),
            when(self.joined, "joined"),
        ];
        let named: Vec<&str> = classes
            .into_iter()
            .filter(|class| !class.is_empty())
            .collect();
        named.join(" ")
    }

    /// The place of a thing that is not there.
    pub(super) fn gap() -> Self {
        Self {
            kind: ChipKind::Gap,
            text: "–".to_owned(),
            ..Self::default()
        }
    }

    /// What stands where there is nothing at all.
    pub(super) fn empty(lang: Lang) -> Self {
        Self {
            kind: ChipKind::Nothing,
            text: lang.pick("empty", "空").to_owned(),
            ..Self::default()
        }
    }
}

/// A metric of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRow {
    /// Its stable name.
    pub id: String,
    /// Its label.
    pub label: String,
    /// What its numbers are, if the label does not say it.
    pub title: &'static str,
    /// It counts checks that do not hold in this run.
    pub broken: bool,
    /// The type whose deltas are counted.
    pub glyph: Option<DeltaType>,
    /// Its value in this run.
    pub left: String,
    /// Its value in the other run.
    pub right: String,
}

/// The rooms of both runs.
#[must_use]
pub fn rooms(view: &View, lang: Lang) -> Vec<RoomRow> {
    let Some(compare) = view.compare() else {
        return Vec::new();
    };
    let names = Names::of(view);
    let row = |room: &deltascope_replay::diff::RoomDiff| RoomRow {
        id: room.room.id(),
        title: title(room.room, compare, lang),
        differs: room.differs(),
        lines: room
            .lines
            .iter()
            .map(|one| line(one, compare, &names, lang))
            .collect(),
    };
    compare.rooms.iter().map(row).collect()
}

fn title(room: DiffSection, compare: &CompareView, lang: Lang) -> String {
    let text = match room {
        DiffSection::Api => strings::room(lang, Place::Api),
        DiffSection::Reflector => strings::room(lang, Place::Reflector),
        DiffSection::Queue => {
            let [one, other] = &compare.sides;
            let (one, other) = (one.queue.id(), other.queue.id());
            if one != other {
                return format!("{one} · {other}");
            }
            one
        }
        DiffSection::Store => strings::room(lang, Place::Indexer),
        DiffSection::Handlers => lang.pick("Told to handlers", "通知 handler"),
        DiffSection::Output => lang.pick("Printed", "输出"),
    };
    text.to_owned()
}

fn line(line: &Line, compare: &CompareView, names: &Names, lang: Lang) -> LineRow {
    let in_time = matches!(line.label, Label::Handler(_) | Label::Lines);
    let class = match &line.label {
        Label::Lines => "lines",
        Label::Index(_) => "wide",
        _ if line.aligned => "cols",
        _ => "loose",
    };
    let side = |left: bool| -> Vec<Chip> {
        let pairs = line.pairs.iter().filter_map(|pair| {
            let (here, there) = if left {
                (&pair.left, &pair.right)
            } else {
                (&pair.right, &pair.left)
            };
            match here {
                Some(thing) => {
                    let mut chip = chip(thing, names, lang);
                    if pair.differs {
                        chip.differs = true;
                        chip.only = there.is_none();
                    }
                    Some(chip)
                }
                None if line.aligned => Some(Chip::gap()),
                None => None,
            }
        });
        let mut chips: Vec<Chip> = pairs.collect();
        if line.label == Label::Queued {
            let things = line.pairs.iter();
            let things = things.filter_map(|pair| match left {
                true => pair.left.as_ref(),
                false => pair.right.as_ref(),
            });
            join_keys(compare.sides[usize::from(!left)].queue, things, &mut chips);
        }
        if chips.is_empty() {
            chips.push(Chip::empty(lang));
        }
        chips
    };
    let (hidden, differing) = line.hidden;
    let more = match (hidden, differing) {
        (0, _) => String::new(),
        (count, 0) => format!("+{count}"),
        (count, differing) => format!("+{count} (≠ {differing})"),
    };
    LineRow {
        label: label(&line.label, lang).to_owned(),
        class,
        sides: [side(true), side(false)],
        more,
        more_before: in_time,
    }
}

fn label(label: &Label, lang: Lang) -> &str {
    let (en, zh) = match label {
        Label::Objects => ("objects", "对象"),
        Label::State => ("state", "状态"),
        Label::Queued => ("queued, next first", "排队（先出在前）"),
        Label::Popped => ("popped", "已弹出"),
        Label::Version => ("version", "版本"),
        Label::Items => ("items", "items"),
        Label::Index(name) | Label::Handler(name) => return name,
        Label::Lines => ("lines", "输出行"),
    };
    lang.pick(en, zh)
}

/// Joins the deltas of each key, which a DeltaFIFO keeps together; in any other queue each stands alone.
pub(super) fn join_keys<'a>(
    kind: QueueKind,
    things: impl Iterator<Item = &'a Thing>,
    chips: &mut [Chip],
) {
    let keys = things.map(|thing| match thing {
        Thing::Delta(_, object) if kind == QueueKind::DeltaFifo => Some(&object.key),
        _ => None,
    });
    let mut before = None;
    for (chip, key) in chips.iter_mut().zip(keys) {
        chip.joined = key.is_some() && key == before;
        before = key;
    }
}

pub(super) fn chip(thing: &Thing, names: &Names, lang: Lang) -> Chip {
    let about = |object: &ObjectRef| {
        let rv = RvText::narrow(&object.rv).short;
        (Some(names.mark(&object.uid)), names.get(&object.key), rv)
    };
    let typed = |delta_type: DeltaType, what: &str, object: &ObjectRef| {
        let tombstone = is_tombstone(object);
        let mut title = format!("{what} {} {}", object.key, object.rv);
        if tombstone {
            title.push_str(" · ");
            title.push_str(strings::strings(lang).tombstone);
        }
        let (mark, name, mut rv) = about(object);
        if tombstone {
            rv.push_str(" ?");
        }
        Chip {
            kind: ChipKind::Typed,
            tombstone,
            glyph: Some(delta_type),
            about: vec![(mark, name, rv)],
            title,
            ..Chip::default()
        }
    };
    let text = |text: &str| Chip {
        text: if text.is_empty() { "–" } else { text }.to_owned(),
        title: text.to_owned(),
        ..Chip::default()
    };
    match thing {
        Thing::Object(object) => Chip {
            about: vec![about(object)],
            title: format!("{} {}", object.key, object.rv),
            ..Chip::default()
        },
        Thing::Gone(object) => Chip {
            kind: ChipKind::Gone,
            about: vec![about(object)],
            title: format!("{} {}", object.key, object.rv),
            ..Chip::default()
        },
        Thing::Delta(delta_type, object) => typed(*delta_type, delta_type.as_str(), object),
        Thing::BatchEntry(delta_type, rv, objects) => Chip {
            kind: ChipKind::Batch,
            glyph: Some(*delta_type),
            about: objects
                .iter()
                .take(SHOWN)
                .map(about)
                .chain(more(objects.len()))
                .collect(),
            text: format!("{} {}", delta_type.as_str(), RvText::narrow(rv).short),
            title: format!("{} {rv}", delta_type.as_str()),
            ..Chip::default()
        },
        Thing::Notified(notification) => {
            let what = match &**notification {
                NotificationRef::Add {
                    is_in_initial_list: true,
                    ..
                } => "OnAdd (isInInitialList)",
                other => other.call(),
            };
            let mut chip = typed(notification.delta_type(), what, notification.object());
            if let NotificationRef::Update { old: Some(old), .. } = &**notification
                && let Some((_, _, rv)) = chip.about.first_mut()
            {
                *rv = format!("{}→{rv}", RvText::narrow(&old.rv).short);
            }
            chip
        }
        Thing::State(state) => text(match state {
            ReflectorState::Idle => lang.pick("idle", "空闲"),
            ReflectorState::List => "List",
            ReflectorState::Stream => lang.pick("streaming list", "流式列表"),
            ReflectorState::Watch => "Watch",
            ReflectorState::Backoff => lang.pick("backing off", "退避"),
            ReflectorState::Stopped => lang.pick("stopped", "已停止"),
        }),
        Thing::Set(value, keys) => Chip {
            kind: ChipKind::KeySet,
            text: if value.is_empty() {
                "\"\"".to_owned()
            } else {
                value.to_string()
            },
            about: keys
                .iter()
                .take(SHOWN)
                .map(|key| (None, names.get(key), String::new()))
                .chain(more(keys.len()))
                .collect(),
            title: format!("{value}: {}", join(&keys[..keys.len().min(SHOWN)])),
            ..Chip::default()
        },
        Thing::Line(line, _) => text(line),
        Thing::Version(rv) if rv.is_empty() => text(""),
        Thing::Version(rv) => text(&format!("rv {rv}")),
        Thing::Lists(count) => text(&format!("{} {count}", lang.pick("lists", "list"))),
        Thing::Events(count) => text(&format!("{} {count}", lang.pick("events", "事件"))),
    }
}

/// The number of those that are not shown.
fn more(count: usize) -> Option<(Option<Mark>, String, String)> {
    let more = count.checked_sub(SHOWN).filter(|more| *more > 0);
    more.map(|more| (None, format!("+{more}"), String::new()))
}

fn join(keys: &[deltascope_cache::key::Key]) -> String {
    let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
    keys.join(", ")
}

/// The violations up to a moment.
fn so_far(all: &[Violation], step: usize) -> impl Iterator<Item = &Violation> + Clone {
    all.iter().filter(move |one| one.at <= step)
}

/// The metrics of both runs.
#[must_use]
pub fn summary(view: &View, lang: Lang) -> Vec<MetricRow> {
    let Some(compare) = view.compare() else {
        return Vec::new();
    };
    let row = |counted: &deltascope_replay::diff::Counted| {
        let (en, zh) = match &counted.metric {
            Metric::Facts => ("Facts", "事实"),
            Metric::Lists => ("Lists", "List"),
            Metric::Watches => ("Watches", "Watch"),
            Metric::Deltas(delta_type) => (delta_type.as_str(), delta_type.as_str()),
            Metric::Pops => ("Pops", "Pop"),
            Metric::Notified(handler) => (&**handler, &**handler),
            Metric::Lines => ("Lines", "输出行"),
            Metric::Stored => ("Stored", "已存储"),
            Metric::Violations => ("Checks broken", "检查不通过"),
        };
        let numbers = |counts: &[u32]| match counts {
            [added, updated, deleted] => format!("+{added} ~{updated} ×{deleted}"),
            counts => counts.iter().map(u32::to_string).collect(),
        };
        let (mut label, mut title) = (lang.pick(en, zh).to_owned(), "");
        let mut broken = false;
        match counted.metric {
            Metric::Notified(_) => {
                title = lang.pick(
                    "how often + OnAdd, ~ OnUpdate and × OnDelete were called",
                    "+ OnAdd、~ OnUpdate、× OnDelete 各调用了几次",
                );
            }
            Metric::Violations => {
                let here = so_far(&view.checks.violations, compare.sides[0].step);
                let there = so_far(&compare.violations, compare.sides[1].step);
                broken = here.clone().next().is_some();
                let mut names: Vec<&str> = Vec::new();
                for one in here.chain(there) {
                    let name = checks::title(one.invariant, lang);
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                label = [
                    &*label,
                    lang.pick(": ", "："),
                    &names.join(lang.pick("; ", "；")),
                ]
                .concat();
            }
            Metric::Facts
            | Metric::Lists
            | Metric::Watches
            | Metric::Deltas(_)
            | Metric::Pops
            | Metric::Lines
            | Metric::Stored => {}
        }
        MetricRow {
            id: counted.metric.id().to_owned(),
            label,
            title,
            broken,
            glyph: match counted.metric {
                Metric::Deltas(delta_type) => Some(delta_type),
                _ => None,
            },
            left: numbers(&counted.left),
            right: numbers(&counted.right),
        }
    };
    compare.summary.iter().map(row).collect()
}
