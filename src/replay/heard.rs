//! What a handler should have heard, what a controller says that it heard, and where the two part first.
//!
//! Each object is compared by itself, in order: a handler may hear of several objects in any order only where their
//! events came so. A log that ends early says nothing of the rest; one that begins late lacks what came before. An
//! update to the version that was heard last is a resync, and passed over on both sides.
//!
//! A run may lack its beginning. Then what the handler knew when it begins is [`Known`], and lines of before are passed over.

use std::ops::{ControlFlow, Range};

use deltascope_cache::fact::{EventType, Fact, HandlersFact, NotificationRef, Shape};
use deltascope_cache::map::Map;
use deltascope_world::Time;

use super::log::{Call, Logged};
use super::recording::Recording;
use super::timeline::{MAX_FACTS, Timeline};

/// The version of each object that the handler heard of last, before the run begins.
pub type Known = Map<String, String>;

/// A notification that the handler of the engine took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    /// The number of facts before its fact.
    pub place: usize,
    /// Its virtual time, in ms.
    pub time: Time,
    /// What it says, as a line of a log would.
    pub call: Call,
}

/// How the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The controller does not say that it heard it.
    Missing,
    /// The controller says that it heard it, and it should not have.
    Extra,
    /// It heard both about the object, the other one first.
    Order,
    /// It heard of this version in a call of another kind.
    Type,
    /// One is a tombstone, the other is not.
    Tombstone,
}

/// The first difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How they differ.
    pub kind: Kind,
    /// What it should have heard: the index of the notification.
    pub should: Option<usize>,
    /// What it says that it heard instead, or as well: the index in the log.
    pub heard: Option<usize>,
}

/// A log compared with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// How many notifications are alike, up to the first difference of each object.
    pub alike: usize,
    /// Of each line, the notification that it is like.
    pub lines: Vec<Option<usize>>,
    /// The first difference.
    pub first: Option<Difference>,
    /// How many notifications come after the last line, …
    pub after_log: usize,
    /// … and how many lines after the last notification: neither is a difference.
    pub after_run: usize,
}

/// How a log compares with a run, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many notifications are alike, with those whose facts are forgotten.
    pub alike: usize,
    /// How many notifications the log lacks at its end, …
    pub behind: usize,
    /// … and how many lines it has after the run's: neither is a difference.
    pub ahead: usize,
    /// How many lines were too many to be compared.
    pub dropped: usize,
}

/// The notifications that a handler took in the first `end` facts.
#[must_use]
pub fn notified(timeline: &Timeline, number: u8, end: usize) -> Vec<Notified> {
    let mut all = Vec::new();
    each_notified(timeline, number, 0..end, &mut |one, _| all.push(one));
    all
}

/// Shows each notification that a handler takes in these facts, and whether it is of the first list.
fn each_notified(
    timeline: &Timeline,
    number: u8,
    facts: Range<usize>,
    seen: &mut dyn FnMut(Notified, bool),
) {
    timeline.each::<()>(facts, &mut |place, record| {
        if let Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) = &record.fact
            && *handler == number
        {
            let (event, is_first) = match notification {
                NotificationRef::Add {
                    is_in_initial_list, ..
                } => (EventType::Added, *is_in_initial_list),
                NotificationRef::Update { .. } => (EventType::Modified, false),
                NotificationRef::Delete { .. } => (EventType::Deleted, false),
            };
            let object = notification.object();
            let call = Call {
                event,
                key: object.key.to_string(),
                rv: object.rv.to_string(),
                tombstone: object.shape != Shape::Object,
            };
            let time = record.time;
            seen(Notified { place, time, call }, is_first);
        }
        ControlFlow::Continue(())
    });
}

/// A log beside a whole recording.
///
/// # Errors
/// States which object of the recording cannot be read.
pub fn beside(recording: &Recording, goes_on: bool, lines: Vec<Logged>) -> Result<Beside, String> {
    let mut timeline = recording.play()?;
    timeline.extend(MAX_FACTS);
    let mut beside = Beside::new(goes_on);
    beside.say(lines);
    beside.compare(&timeline, timeline.len());
    Ok(beside)
}

/// Most lines of a log that are kept beside a run that goes on.
pub const MOST: usize = 300_000;

/// A log beside a run, as both grow.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    known: Option<Known>,
    /// Whether more of both is to come.
    grows: bool,
    /// How many facts were read.
    read: usize,
    should: Vec<Notified>,
    heard: Vec<Logged>,
    objects: Objects,
    found: Comparison,
    /// The first difference, once the run no longer has its fact.
    before: Option<Differs>,
    /// How many lines were not kept, for there were too many.
    dropped: usize,
    /// How many notifications were alike whose facts are forgotten.
    passed: usize,
    /// How many notifications and lines were compared last, and how much was known.
    compared: Option<[usize; 3]>,
}

/// A difference by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differs {
    /// How they differ.
    pub kind: Kind,
    /// What it should have heard.
    pub should: Option<Notified>,
    /// What it says that it heard.
    pub heard: Option<Logged>,
}

impl Beside {
    /// Beside a run that has its beginning; or one that goes on with what was there, as a first list.
    #[must_use]
    pub fn new(goes_on: bool) -> Self {
        Self {
            known: goes_on.then(Known::default),
            ..Self::default()
        }
    }

    /// Beside a run that may have forgotten its beginning: then the store has what its handler knows. Whether the log `grows`, as
    /// the run does.
    #[must_use]
    pub fn kept(timeline: &Timeline, goes_on: bool, grows: bool) -> Self {
        let mut beside = Self {
            grows,
            ..Self::new(goes_on)
        };
        if timeline.forgotten() > 0 {
            let items = &timeline.picture(0).store.items;
            let known = items
                .iter()
                .map(|(key, is)| (key.to_string(), is.rv.to_string()));
            beside.known = Some(known.collect());
        }
        beside
    }

    /// The same lines beside the same run from its start.
    pub fn again(&mut self) {
        let known = self.known.as_ref().map(|_| Known::default());
        (self.known, self.read) = (known, 0);
        (self.should, self.before, self.compared) = (Vec::new(), None, None);
        (self.objects, self.found, self.passed) = Default::default();
    }

    /// Takes more lines of the log.
    pub fn say(&mut self, lines: Vec<Logged>) {
        let room = MOST.saturating_sub(self.heard.len());
        self.dropped += lines.len().saturating_sub(room);
        self.heard.extend(lines.into_iter().take(room));
    }

    /// Reads what the run has more in its first `end` facts, and compares.
    pub fn compare(&mut self, timeline: &Timeline, end: usize) {
        let (known, should, objects) = (&mut self.known, &mut self.should, &mut self.objects);
        let facts = self.read.min(end)..end;
        self.read = facts.end;
        each_notified(timeline, 0, facts, &mut |one, is_first| match known {
            Some(known) if is_first => {
                objects.of(&one.call.key);
                known.insert(one.call.key, one.call.rv);
            }
            _ => should.push(one),
        });
        let before = known.as_ref().map_or(0, Known::len);
        let all = Some([should.len(), self.heard.len(), before]);
        if self.compared == all {
            return;
        }
        self.compared = all;
        let should: Vec<_> = should.iter().map(|one| &one.call).collect();
        let heard: Vec<_> = self.heard.iter().map(|line| &line.call).collect();
        self.found = match self.grows && (should.is_empty() || heard.is_empty()) {
            // One of them has yet to begin.
            true => Comparison {
                lines: vec![None; heard.len()],
                after_log: should.len(),
                after_run: if self.known.is_some() { 0 } else { heard.len() },
                ..Comparison::default()
            },
            false => {
                let lines = std::mem::take(&mut self.found.lines);
                let known = self.known.as_ref();
                self.objects
                    .compare(known, (&should, &heard), lines, !self.grows)
            }
        };
    }

    /// Compares what was read once more, after [`Beside::forget`].
    pub fn compare_again(&mut self, timeline: &Timeline) {
        self.compare(timeline, self.read);
    }

    /// What was found last.
    #[must_use]
    pub fn found(&self) -> &Comparison {
        &self.found
    }

    /// What the handler should have heard so far.
    #[must_use]
    pub fn should(&self) -> &[Notified] {
        &self.should
    }

    /// What the log says so far.
    #[must_use]
    pub fn heard(&self) -> &[Logged] {
        &self.heard
    }

    /// Whether what was heard before is only known, and not compared.
    #[must_use]
    pub fn lacks_its_beginning(&self) -> bool {
        self.known.is_some()
    }

    /// What was found last, in numbers.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally {
            alike: self.passed + self.found.alike,
            behind: self.found.after_log,
            ahead: self.found.after_run,
            dropped: self.dropped,
        }
    }

    /// The first difference.
    #[must_use]
    pub fn first(&self) -> Option<Differs> {
        let of = |first: Difference| Differs {
            kind: first.kind,
            should: first.should.and_then(|at| self.should.get(at)).cloned(),
            heard: first.heard.and_then(|at| self.heard.get(at)).cloned(),
        };
        self.before.clone().or_else(|| self.found.first.map(of))
    }

    /// The run no longer has its first facts. What they notified of is known from now on.
    pub fn forget(&mut self, gone: usize) {
        // Its notification may go, and it stays the first.
        self.before = self.first();
        let cut = self.should.partition_point(|one| one.place < gone);
        let known = self.known.get_or_insert_default();
        for Notified { call, .. } in self.should.drain(..cut) {
            match call.event {
                EventType::Deleted => known.swap_remove(&call.key),
                _ => known.insert(call.key, call.rv),
            };
        }
        for one in &mut self.should {
            one.place = one.place.saturating_sub(gone);
        }
        self.read = self.read.saturating_sub(gone);
        // Their lines go, and those between them.
        let lines = std::mem::take(&mut self.found.lines);
        let is_gone = |like: &Option<usize>| like.is_some_and(|at| at < cut);
        let last = lines.iter().rposition(is_gone);
        let passed = lines.iter().filter(|like| is_gone(like)).count();
        let stays = |(line, like): (usize, &Option<usize>)| match like {
            Some(at) => *at >= cut,
            None => last.is_none_or(|last| line > last),
        };
        let stay: Vec<bool> = lines.iter().enumerate().map(stays).collect();
        let mut stay = stay.into_iter();
        self.heard.retain(|_| stay.next().unwrap_or(true));
        let left = lines.iter().enumerate().filter(|one| stays(*one));
        self.found.lines = left.map(|(_, like)| like.map(|at| at - cut)).collect();
        (self.found.alike, self.found.first) = (self.found.alike - passed, None);
        self.passed += passed;
        (self.compared, self.objects) = (None, Objects::default());
    }
}

/// Compares what should have been heard with what a log says.
#[must_use]
pub fn compare(known: Option<&Known>, should: &[&Call], heard: &[&Call]) -> Comparison {
    Objects::default().compare(known, (should, heard), Vec::new(), true)
}

/// The calls by their objects, as far as they were compared: what comes later says nothing of other objects.
#[derive(Clone, Debug, Default)]
struct Objects {
    all: Map<String, Object>,
    /// How many notifications and lines are among them.
    ours: usize,
    theirs: usize,
}

/// The calls about an object, in order.
#[derive(Clone, Debug, Default)]
struct Object {
    ours: Vec<usize>,
    theirs: Vec<usize>,
    /// Whether something has come since they were compared.
    is_new: bool,
    found: Found,
}

/// What is found of an object.
#[derive(Clone, Debug, Default)]
enum Found {
    #[default]
    Alike,
    Differs(Difference),
    /// What comes after its common part: whether one more is missing or extra shows what came after it.
    Ends(Vec<usize>, Vec<usize>),
}

impl Objects {
    /// An object of which there is something new.
    fn of(&mut self, key: &str) -> &mut Object {
        let object = self.all.entry(key.to_owned()).or_default();
        object.is_new = true;
        object
    }

    /// Compares the objects of what has come since. `alike`: of each line, which notification it was. Of two that are not `whole`,
    /// one may have yet to come to the other.
    fn compare(
        &mut self,
        known: Option<&Known>,
        (should, heard): (&[&Call], &[&Call]),
        mut alike: Vec<Option<usize>>,
        whole: bool,
    ) -> Comparison {
        for (place, call) in should.iter().enumerate().skip(self.ours) {
            self.of(&call.key).ours.push(place);
        }
        for (line, call) in heard.iter().enumerate().skip(self.theirs) {
            self.of(&call.key).theirs.push(line);
        }
        (self.ours, self.theirs) = (should.len(), heard.len());
        alike.resize(heard.len(), None);
        for (key, object) in &mut self.all {
            if std::mem::take(&mut object.is_new) {
                let before = known.map(|known| known.get(key).map(|rv| &**rv));
                object.compare(before, should, heard, &mut alike);
            }
        }
        let found = self.all.values().map(|object| &object.found);
        summed(known, found, alike, whole)
    }
}

impl Object {
    /// Compares what it should have told with what it told. `before`: the version that was known, where the beginning is lacking.
    fn compare(
        &mut self,
        before: Option<Option<&str>>,
        should: &[&Call],
        heard: &[&Call],
        alike: &mut [Option<usize>],
    ) {
        for line in &self.theirs {
            alike[*line] = None;
        }
        let mut our = told(should, &self.ours, before.flatten());
        let mut their = told(heard, &self.theirs, None);
        if let Some(before) = before {
            pass_over(before, should, &our, heard, &mut their);
        }
        let pairs = our.iter().zip(&their);
        let same = pairs.take_while(|(our, their)| is_same(should[**our], heard[**their]));
        let same = same.count();
        for (our, their) in our.drain(..same).zip(their.drain(..same)) {
            alike[their] = Some(our);
        }
        self.found = match (&*our, &*their) {
            ([], []) => Found::Alike,
            ([first, our @ ..], [line, their @ ..]) => {
                let (one, other) = (should[*first], heard[*line]);
                let is_late = their.iter().any(|line| is_same(one, heard[*line]));
                let is_early = our.iter().any(|our| is_same(should[*our], other));
                Found::Differs(Difference {
                    kind: match (is_late, is_early) {
                        (true, true) => Kind::Order,
                        (true, false) => Kind::Extra,
                        (false, false) if !is_version(one, other) => Kind::Missing,
                        (false, false) if one.event == other.event => Kind::Tombstone,
                        (false, false) => Kind::Type,
                        (false, true) => Kind::Missing,
                    },
                    should: Some(*first),
                    heard: Some(*line),
                })
            }
            _ => Found::Ends(our, their),
        };
    }
}

/// What is found of all objects.
fn summed<'a>(
    known: Option<&Known>,
    found: impl Iterator<Item = &'a Found>,
    alike: Vec<Option<usize>>,
    whole: bool,
) -> Comparison {
    let mut differences = Vec::new();
    let mut ends = Vec::new();
    for found in found {
        match found {
            Found::Alike => {}
            Found::Differs(difference) => differences.push(*difference),
            Found::Ends(our, their) => ends.push((our, their)),
        }
    }
    let last = (
        alike.iter().flatten().max().copied(),
        alike.iter().rposition(Option::is_some),
    );
    let count = alike.iter().flatten().count();
    // The last notification up to each line.
    let mut newest = None;
    let before: Vec<Option<usize>> = alike
        .iter()
        .map(|our| {
            let before = newest;
            newest = newest.max(*our);
            before
        })
        .collect();
    let (mut after_log, mut after_run) = (0, 0);
    for (our, their) in ends {
        // A log that has nothing in common with a run that lacks its beginning, or with one that grows as it does, has yet to
        // come to it.
        let is_before = |one: &usize, last: Option<usize>| match last {
            Some(last) => *one < last,
            None => whole && known.is_none(),
        };
        match (our.first(), their.first()) {
            (Some(first), _) if is_before(first, last.0) => differences.push(Difference {
                kind: Kind::Missing,
                should: Some(*first),
                heard: None,
            }),
            (_, Some(first)) if is_before(first, last.1) => differences.push(Difference {
                kind: Kind::Extra,
                should: None,
                heard: Some(*first),
            }),
            _ => {
                after_log += our.len();
                after_run += their.len();
            }
        }
    }
    // A line without a notification comes after the last one that was heard before it, and before later lines.
    let place = |one: &Difference| match (one.should, one.heard) {
        (Some(our), _) => (our, 0),
        (None, Some(their)) => {
            let before = before.get(their).copied().flatten();
            (before.unwrap_or_default(), before.map_or(0, |_| 1 + their))
        }
        (None, None) => (usize::MAX, 0),
    };
    Comparison {
        alike: count,
        lines: alike,
        first: differences.into_iter().min_by_key(place),
        after_log,
        after_run,
    }
}

/// The calls about an object, without resyncs: updates to the version that is there, which may be that of before.
fn told(calls: &[&Call], object: &[usize], before: Option<&str>) -> Vec<usize> {
    let mut told: Vec<usize> = Vec::new();
    for number in object {
        let call = calls[*number];
        let last = told.last().map(|last| calls[*last]);
        let there = match last {
            Some(last) => (last.event != EventType::Deleted).then_some(&*last.rv),
            None => before,
        };
        let is_resync =
            call.event == EventType::Modified && !call.rv.is_empty() && there == Some(&*call.rv);
        if !is_resync {
            told.push(*number);
        }
    }
    told
}

/// Leaves out the lines about an object from before the run begins: those up to the version that was known then; where the object
/// has this version again later, up to the one after which most is alike. Where the log has no such line, those before the run's
/// first notification; where there is none either, all. A tombstone has the version that was known, and comes after it.
fn pass_over(
    before: Option<&str>,
    should: &[&Call],
    our: &[usize],
    heard: &[&Call],
    their: &mut Vec<usize>,
) {
    let is_known =
        |line: usize| heard[line].event != EventType::Deleted && before == Some(&*heard[line].rv);
    let is_first = |line: &usize| {
        our.first()
            .is_some_and(|our| is_same(should[*our], heard[*line]))
    };
    let alike_from = |from: &usize| {
        let pairs = our.iter().zip(&their[*from..]);
        let same = pairs.take_while(|(our, their)| is_same(should[**our], heard[**their]));
        same.count()
    };
    let ends = (1..=their.len()).filter(|end| is_known(their[end - 1]));
    let known = ends.max_by_key(alike_from);
    let begins = known.or_else(|| their.iter().position(is_first));
    their.drain(..begins.unwrap_or(their.len()));
}

/// Whether both are of one version, as far as both have one.
fn is_version(one: &Call, other: &Call) -> bool {
    one.rv == other.rv || one.rv.is_empty() || other.rv.is_empty()
}

fn is_same(one: &Call, other: &Call) -> bool {
    one.event == other.event && one.tombstone == other.tombstone && is_version(one, other)
}
