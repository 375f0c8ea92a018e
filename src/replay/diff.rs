//! The differences between two moments of two runs, room by room, and the totals of both runs.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Entry, Fact, HandlersFact, NotificationRef, ObjectRef, QueueFact, ReflectorFact, Rv,
};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::named;

use super::picture::{Picture, QueueKind, ReflectorState};
use super::timeline::{SEGMENT, Timeline};
use super::writes::Alike;

named! {
    /// The room that a difference is in, in the order of the data flow.
    pub enum DiffSection {
        /// The API server.
        Api = "api",
        /// The reflector.
        Reflector = "reflector",
        /// The queue and the popped item.
        Queue = "queue",
        /// The store and its indices.
        Store = "store",
        /// The notifications of the handlers.
        Handlers = "handlers",
        /// The lines printed by the programs.
        Output = "output",
    }
}

/// One item in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// An object.
    Object(ObjectRef),
    /// An object that the server has deleted.
    Gone(ObjectRef),
    /// A delta.
    Delta(DeltaType, ObjectRef),
    /// A whole list, a whole resync or a bookmark, with its version and its objects.
    BatchEntry(DeltaType, Rv, Arc<[ObjectRef]>),
    /// A notification of a handler.
    Notified(Arc<NotificationRef>),
    /// The state of the reflector.
    State(ReflectorState),
    /// The keys under an indexed value.
    Set(Arc<str>, Vec<Key>),
    /// A line, and the version that it may contain.
    Line(Arc<str>, Rv),
    /// A version.
    Version(Rv),
    /// The number of lists received.
    Lists(u64),
    /// The number of events received.
    Events(u64),
}

impl Thing {
    /// Whether both look the same. UIDs are ignored: readers do not see them, and each server assigns its
    /// own. Versions are equal if they come from the same write.
    #[must_use]
    pub fn is_like(&self, other: &Self, alike: Alike) -> bool {
        match (self, other) {
            (Self::Object(one), Self::Object(other)) | (Self::Gone(one), Self::Gone(other)) => {
                is_like(one, other, alike)
            }
            (Self::Delta(one, object), Self::Delta(other, of)) => {
                one == other && is_like(object, of, alike)
            }
            (Self::BatchEntry(one, rv, objects), Self::BatchEntry(other, of, others)) => {
                let is_same = || {
                    objects
                        .iter()
                        .zip(others.iter())
                        .all(|(one, other)| is_like(one, other, alike))
                };
                let is_counted = objects.len() == others.len();
                one == other && alike.is_same(rv, of) && is_counted && is_same()
            }
            (Self::Notified(one), Self::Notified(other)) => {
                are_notifications_alike(one, other, alike)
            }
            (Self::Version(one), Self::Version(other)) => alike.is_same(one, other),
            (Self::Line(one, rv), Self::Line(other, of)) => {
                one == other || alike.is_same(rv, of) && is_line_alike((one, rv), (other, of))
            }
            _ => self == other,
        }
    }
}

/// The items in one position of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The item of the left run.
    pub left: Option<Thing>,
    /// The item of the right run.
    pub right: Option<Thing>,
    /// Whether they differ.
    pub differs: bool,
}

/// The subject of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// The server's objects.
    Objects,
    /// The state of the reflector.
    State,
    /// The queued items, the next one first.
    Queued,
    /// The item being processed, or the last one processed.
    Popped,
    /// The version of the store.
    Version,
    /// The stored objects.
    Items,
    /// An index.
    Index(Arc<str>),
    /// A handler.
    Handler(Arc<str>),
    /// The printed lines.
    Lines,
}

/// A line of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The subject of the line.
    pub label: Label,
    /// The items, side by side; items ordered by time have the newest last.
    pub pairs: Vec<Pair>,
    /// How many more items are not shown, and how many of them differ.
    pub hidden: (usize, usize),
    /// Whether a missing item on one side leaves an empty position.
    pub aligned: bool,
}

impl Line {
    /// The number of differing items.
    #[must_use]
    pub fn differs(&self) -> usize {
        self.hidden.1 + self.pairs.iter().filter(|pair| pair.differs).count()
    }
}

/// A room of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomDiff {
    /// The room.
    pub room: DiffSection,
    /// The lines of the room.
    pub lines: Vec<Line>,
}

impl RoomDiff {
    /// The number of differing items.
    #[must_use]
    pub fn differs(&self) -> usize {
        self.lines.iter().map(Line::differs).sum()
    }
}

/// The most items of a line, and of an item, that are shown.
pub const SHOWN: usize = 24;
/// How many of the newest items are aligned: the work grows with their square.
const NEWEST: usize = 48;
/// How many of those are shown.
const NEWEST_SHOWN: usize = 12;

/// The differences between two pictures, room by room.
#[must_use]
pub fn diff(left: &Picture, right: &Picture, alike: Alike) -> Vec<RoomDiff> {
    let rooms = DiffSection::ALL.iter().map(|room| {
        let mut lines = match room {
            DiffSection::Api => vec![by_key(
                Label::Objects,
                &objects(left),
                &objects(right),
                alike,
            )],
            DiffSection::Reflector => reflector(left, right, alike),
            DiffSection::Queue => queue(left, right, alike),
            DiffSection::Store => store(left, right, alike),
            DiffSection::Handlers => handlers(left, right, alike),
            DiffSection::Output => {
                let lines = |run: usize, picture: &Picture| {
                    let newest = picture.output.iter().rev().enumerate().take(NEWEST);
                    let newest = newest.map(|(since, printed)| {
                        Thing::Line(Arc::clone(&printed.line), alike.in_line(run, since))
                    });
                    newest.rev().collect()
                };
                vec![newest(Label::Lines, lines(0, left), lines(1, right), alike)]
            }
        };
        lines.retain(|line| !line.pairs.is_empty() || line.label == Label::Queued);
        RoomDiff { room: *room, lines }
    });
    rooms.filter(|room| !room.lines.is_empty()).collect()
}

fn objects(picture: &Picture) -> Vec<(Key, Thing)> {
    let objects = picture.api.objects.iter().map(|(key, entry)| {
        let thing = if entry.deleted {
            Thing::Gone
        } else {
            Thing::Object
        };
        (key.clone(), thing(entry.object.clone()))
    });
    // In the order of their keys, as in the store.
    let sorted: SortedMap<Key, Thing> = objects.collect();
    sorted
        .iter()
        .map(|(key, thing)| (key.clone(), thing.clone()))
        .collect()
}

fn reflector(left: &Picture, right: &Picture, alike: Alike) -> Vec<Line> {
    let (one, other) = (&left.reflector, &right.reflector);
    if one.requests.is_empty() && other.requests.is_empty() {
        return Vec::new();
    }
    let pair = |left: Thing, right: Thing| Pair {
        differs: !left.is_like(&right, alike),
        left: Some(left),
        right: Some(right),
    };
    let named = |label: fn(u64) -> Thing, one, other| pair(label(one), label(other));
    let version = |rv: &Rv| Thing::Version(Arc::clone(rv));
    let pairs = vec![
        pair(Thing::State(one.state), Thing::State(other.state)),
        pair(version(&one.last_sync), version(&other.last_sync)),
        named(Thing::Lists, one.lists, other.lists),
        named(Thing::Events, one.events, other.events),
    ];
    vec![Line {
        label: Label::State,
        pairs,
        hidden: (0, 0),
        aligned: true,
    }]
}

fn queue(left: &Picture, right: &Picture, alike: Alike) -> Vec<Line> {
    let queued = |picture: &Picture| -> Vec<Thing> { queued(picture).take(NEWEST).collect() };
    let popped = |picture: &Picture| -> Vec<Thing> {
        let Some(popped) = picture
            .pop
            .processing
            .as_ref()
            .or(picture.pop.last.as_ref())
        else {
            return Vec::new();
        };
        if popped.entries.is_empty() {
            let deltas = popped.deltas.iter();
            let deltas = deltas.map(|one| delta(picture.queue.kind, one));
            deltas.take(NEWEST).collect()
        } else {
            popped.entries.iter().map(entry).take(NEWEST).collect()
        }
    };
    vec![
        in_order(Label::Queued, queued(left), queued(right), alike),
        in_order(Label::Popped, popped(left), popped(right), alike),
    ]
}

/// What is in the queue, the next item first.
pub(super) fn queued(picture: &Picture) -> impl Iterator<Item = Thing> {
    let queue = &picture.queue;
    let keys = queue.keys.iter().filter_map(|key| queue.deltas.get(key));
    let deltas = keys.flatten().map(|one| delta(queue.kind, one));
    deltas.chain(queue.entries.iter().map(entry))
}

fn delta(kind: QueueKind, (delta_type, object): &(DeltaType, ObjectRef)) -> Thing {
    if kind == QueueKind::Fifo {
        return Thing::Object(object.clone());
    }
    Thing::Delta(*delta_type, object.clone())
}

fn entry(entry: &Entry) -> Thing {
    let whole = |delta_type, rv: &str| Thing::BatchEntry(delta_type, rv.into(), Arc::default());
    match entry {
        Entry::Delta(delta_type, object) => Thing::Delta(*delta_type, object.clone()),
        Entry::ReplacedAll { rv, objects } => {
            Thing::BatchEntry(DeltaType::ReplacedAll, Arc::clone(rv), Arc::clone(objects))
        }
        Entry::SyncAll => whole(DeltaType::SyncAll, ""),
        Entry::Bookmark { rv } => whole(DeltaType::Bookmark, rv),
    }
}

fn store(left: &Picture, right: &Picture, alike: Alike) -> Vec<Line> {
    if !left.store.present && !right.store.present {
        return Vec::new();
    }
    let items = |picture: &Picture| -> Vec<(Key, Thing)> {
        let items = picture.store.items.iter();
        items
            .map(|(key, object)| (key.clone(), Thing::Object(object.clone())))
            .collect()
    };
    let version = |picture: &Picture| Thing::Version(Arc::clone(&picture.store.rv));
    let mut lines = vec![
        by_key(Label::Items, &items(left), &items(right), alike),
        single(Label::Version, version(left), version(right), alike),
    ];
    for (name, values) in &left.store.indices {
        let empty = SortedMap::new();
        let others = right.store.indices.get(name).unwrap_or(&empty);
        let sets = |values: &SortedMap<Arc<str>, Vec<Key>>| -> Vec<(Key, Thing)> {
            let set = |(value, keys): (&Arc<str>, &Vec<Key>)| {
                let set = Thing::Set(Arc::clone(value), keys.clone());
                (Key::from(&**value), set)
            };
            values.iter().map(set).collect()
        };
        lines.push(by_key(
            Label::Index(Arc::clone(name)),
            &sets(values),
            &sets(others),
            alike,
        ));
    }
    lines
}

fn handlers(left: &Picture, right: &Picture, alike: Alike) -> Vec<Line> {
    let notified = |picture: &Picture, number: usize| -> Vec<Thing> {
        let handler = picture.handlers.get(number);
        let newest = handler.map(|handler| handler.notifications.iter().rev().take(NEWEST).rev());
        newest
            .into_iter()
            .flatten()
            .cloned()
            .map(Thing::Notified)
            .collect()
    };
    let count = left.handlers.len().max(right.handlers.len());
    let lines = (0..count).filter_map(|number| {
        let handler = left.handlers.get(number).or(right.handlers.get(number))?;
        let label = Label::Handler(Arc::clone(&handler.name));
        Some(newest(
            label,
            notified(left, number),
            notified(right, number),
            alike,
        ))
    });
    lines.collect()
}

fn single(label: Label, left: Thing, right: Thing, alike: Alike) -> Line {
    let pair = Pair {
        differs: !left.is_like(&right, alike),
        left: Some(left),
        right: Some(right),
    };
    Line {
        label,
        pairs: vec![pair],
        hidden: (0, 0),
        aligned: true,
    }
}

/// Pairs items by key, one position for each key. Differing items are shown before equal ones.
fn by_key(label: Label, left: &[(Key, Thing)], right: &[(Key, Thing)], alike: Alike) -> Line {
    let mut pairs = Vec::new();
    let (mut one, mut other) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let first = match (one.peek(), other.peek()) {
            (Some((key, _)), Some((of, _))) => key.cmp(of),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => break,
        };
        let left = if first.is_le() { one.next() } else { None };
        let right = if first.is_ge() { other.next() } else { None };
        let is_same = match (left, right) {
            (Some((_, one)), Some((_, other))) => one.is_like(other, alike),
            // A deleted object that only one server still shows is no difference.
            (Some((_, one)), None) | (None, Some((_, one))) => matches!(one, Thing::Gone(_)),
            (None, None) => true,
        };
        pairs.push((left, right, !is_same));
    }
    let differing = pairs.iter().filter(|(_, _, differs)| *differs).count();
    let mut room = SHOWN.saturating_sub(differing);
    let mut left_out = (0, 0);
    let mut shown = Vec::new();
    for (left, right, differs) in pairs {
        let fits = if differs {
            shown.len() < SHOWN
        } else {
            room > 0
        };
        if !fits {
            left_out.0 += 1;
            left_out.1 += usize::from(differs);
            continue;
        }
        room -= usize::from(!differs);
        shown.push(Pair {
            left: left.map(|(_, thing)| thing.clone()),
            right: right.map(|(_, thing)| thing.clone()),
            differs,
        });
    }
    Line {
        label,
        pairs: shown,
        hidden: left_out,
        aligned: true,
    }
}

/// Aligns items that have an order of their own.
fn in_order(label: Label, left: Vec<Thing>, right: Vec<Thing>, alike: Alike) -> Line {
    Line {
        label,
        pairs: side_by_side(left, right, alike),
        hidden: (0, 0),
        aligned: false,
    }
}

/// Aligns items and shows only the newest.
fn newest(label: Label, left: Vec<Thing>, right: Vec<Thing>, alike: Alike) -> Line {
    let mut line = in_order(label, left, right, alike);
    line.aligned = true;
    let hidden = line.pairs.len().saturating_sub(NEWEST_SHOWN);
    let before = line.pairs.drain(..hidden);
    let differing = before.filter(|pair| pair.differs).count();
    line.hidden = (hidden, differing);
    line
}

/// Pairs the longest common subsequence; the other items stand alone.
fn side_by_side(left: Vec<Thing>, right: Vec<Thing>, versions: Alike) -> Vec<Pair> {
    let width = right.len() + 1;
    // For each pair of positions, the number of pairs possible from there on.
    let mut best = vec![0_u16; (left.len() + 1) * width];
    for (row, one) in left.iter().enumerate().rev() {
        for (column, other) in right.iter().enumerate().rev() {
            best[row * width + column] = if one.is_like(other, versions) {
                best[(row + 1) * width + column + 1] + 1
            } else {
                best[(row + 1) * width + column].max(best[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut one, mut other) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let alike = match (one.peek(), other.peek()) {
            (Some(one), Some(other)) => one.is_like(other, versions),
            (None, None) => break,
            _ => false,
        };
        let take_right = !alike
            && (one.peek().is_none()
                || other.peek().is_some()
                    && best[row * width + column + 1] > best[(row + 1) * width + column]);
        let left = if take_right { None } else { one.next() };
        let right = if take_right || alike {
            other.next()
        } else {
            None
        };
        row += usize::from(left.is_some());
        column += usize::from(right.is_some());
        pairs.push(Pair {
            left,
            right,
            differs: !alike,
        });
    }
    pairs
}

pub(super) fn is_like(one: &ObjectRef, other: &ObjectRef, alike: Alike) -> bool {
    one.key == other.key && one.shape == other.shape && alike.is_same(&one.rv, &other.rv)
}

/// Compares word by word; in differing words each line's own version is ignored.
fn is_line_alike((one, rv): (&str, &str), (other, of): (&str, &str)) -> bool {
    let mut words = one.split(' ').zip(other.split(' '));
    let is_counted = one.split(' ').count() == other.split(' ').count();
    is_counted
        && !rv.is_empty()
        && !of.is_empty()
        && words.all(|(one, other)| one == other || one.replace(rv, "") == other.replace(of, ""))
}

pub(super) fn are_notifications_alike(
    one: &NotificationRef,
    other: &NotificationRef,
    alike: Alike,
) -> bool {
    use NotificationRef::{Add, Delete, Update};
    match (one, other) {
        (
            Add {
                object,
                is_in_initial_list,
            },
            Add {
                object: other,
                is_in_initial_list: too,
            },
        ) => is_like(object, other, alike) && is_in_initial_list == too,
        (
            Update { old, new },
            Update {
                old: before,
                new: other,
            },
        ) => {
            let same = match (old, before) {
                (Some(old), Some(before)) => is_like(old, before, alike),
                (None, None) => true,
                _ => false,
            };
            same && is_like(new, other, alike)
        }
        (Delete { object }, Delete { object: other }) => is_like(object, other, alike),
        _ => false,
    }
}

// ---- totals of runs

/// The totals of a run up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of facts.
    pub facts: u32,
    /// Lists requested by the reflector, whatever the number of their pages, including streaming lists.
    pub lists: u32,
    /// Watches requested by the reflector, including streaming lists, which continue as watches.
    pub watches: u32,
    /// Deltas by their type, in the order of [`DeltaType::ALL`].
    pub deltas: [u32; DeltaType::ALL.len()],
    /// The number of Pops.
    pub pops: u32,
    /// For each handler: the numbers of adds, updates and deletes.
    pub notified: Vec<[u32; 3]>,
    /// The number of printed lines.
    pub lines: u32,
}

impl Tally {
    fn add(&mut self, fact: &Fact) {
        self.facts += 1;
        if let Some(delta_type) = fact.queued() {
            self.delta(delta_type);
        } else if let Fact::Reflector(ReflectorFact::ListRequested { continues, .. }) = fact {
            self.lists += u32::from(!continues);
        } else if let Fact::Reflector(ReflectorFact::WatchRequested { initial_events, .. }) = fact {
            self.lists += u32::from(*initial_events);
            self.watches += 1;
        } else if let Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. }) =
            fact
        {
            self.pops += 1;
        } else if let Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) = fact
        {
            let number = usize::from(*handler);
            if self.notified.len() <= number {
                self.notified.resize(number + 1, [0; 3]);
            }
            let [added, updated, deleted] = &mut self.notified[number];
            *match notification {
                NotificationRef::Add { .. } => added,
                NotificationRef::Update { .. } => updated,
                NotificationRef::Delete { .. } => deleted,
            } += 1;
        } else if let Fact::Handlers(HandlersFact::LinePrinted { .. }) = fact {
            self.lines += 1;
        }
    }

    fn delta(&mut self, delta_type: DeltaType) {
        let place = DeltaType::ALL.iter().position(|other| *other == delta_type);
        if let Some(count) = place.and_then(|place| self.deltas.get_mut(place)) {
            *count += 1;
        }
    }
}

/// The tallies along a run, so that the one of any moment is computed quickly.
#[derive(Clone, Debug, Default)]
pub struct Tallies {
    /// The tallies after each [`SEGMENT`] facts.
    kept: Vec<Tally>,
    /// The tally of the last request.
    last: Tally,
}

impl Tallies {
    /// The tally after `count` facts, computed from the nearest kept one.
    pub fn at(&mut self, timeline: &Timeline, count: usize) -> &Tally {
        let count = count.min(timeline.len());
        if self.last.facts as usize > count || self.kept.len() < count / SEGMENT {
            let near = (count / SEGMENT).min(self.kept.len());
            self.last = near
                .checked_sub(1)
                .and_then(|near| self.kept.get(near).cloned())
                .unwrap_or_default();
        }
        self.add(timeline, self.last.facts as usize..count);
        &self.last
    }

    fn add(&mut self, timeline: &Timeline, range: Range<usize>) {
        timeline.each::<()>(range, &mut |place, record| {
            self.last.add(&record.fact);
            if (place + 1).is_multiple_of(SEGMENT) && self.kept.len() < (place + 1) / SEGMENT {
                self.kept.push(self.last.clone());
            }
            ControlFlow::Continue(())
        });
    }
}

/// A counted quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Facts.
    Facts,
    /// Lists requested.
    Lists,
    /// Watches requested.
    Watches,
    /// Deltas of a type.
    Deltas(DeltaType),
    /// Pops.
    Pops,
    /// Notifications of a handler: adds, updates, deletes.
    Notified(Arc<str>),
    /// Lines printed.
    Lines,
    /// Objects stored.
    Stored,
    /// Violated invariants.
    Violations,
}

impl Metric {
    /// The stable name of the quantity.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Facts => "facts",
            Self::Lists => "lists",
            Self::Watches => "watches",
            Self::Deltas(delta_type) => delta_type.as_str(),
            Self::Pops => "pops",
            Self::Notified(handler) => handler,
            Self::Lines => "lines",
            Self::Stored => "stored",
            Self::Violations => "broken",
        }
    }
}

/// A quantity of both runs: one number, or three for a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The quantity.
    pub metric: Metric,
    /// The numbers of the left run.
    pub left: Vec<u32>,
    /// The numbers of the right run.
    pub right: Vec<u32>,
}

/// The totals of two runs, side by side; quantities that are zero in both are left out.
#[must_use]
pub fn summary(
    (left, right): (&Tally, &Tally),
    (one, other): (&Picture, &Picture),
    violations: (u32, u32),
) -> Vec<Counted> {
    let mut all = Vec::new();
    let mut count = |metric, left: u32, right: u32| {
        all.push(Counted {
            metric,
            left: vec![left],
            right: vec![right],
        });
    };
    count(Metric::Facts, left.facts, right.facts);
    count(Metric::Lists, left.lists, right.lists);
    count(Metric::Watches, left.watches, right.watches);
    for (delta_type, (left, right)) in DeltaType::ALL
        .iter()
        .zip(left.deltas.iter().zip(&right.deltas))
    {
        count(Metric::Deltas(*delta_type), *left, *right);
    }
    count(Metric::Pops, left.pops, right.pops);
    let stored = |picture: &Picture| u32::try_from(picture.store.items.len()).unwrap_or(u32::MAX);
    count(Metric::Stored, stored(one), stored(other));
    count(Metric::Lines, left.lines, right.lines);
    count(Metric::Violations, violations.0, violations.1);
    for number in 0..left.notified.len().max(right.notified.len()) {
        let handler = one.handlers.get(number).or(other.handlers.get(number));
        let notified = |tally: &Tally| {
            tally
                .notified
                .get(number)
                .copied()
                .unwrap_or_default()
                .to_vec()
        };
        all.push(Counted {
            metric: Metric::Notified(
                handler
                    .map(|handler| Arc::clone(&handler.name))
                    .unwrap_or_default(),
            ),
            left: notified(left),
            right: notified(right),
        });
    }
    all.retain(|counted| {
        counted
            .left
            .iter()
            .chain(&counted.right)
            .any(|count| *count > 0)
    });
    all
}
