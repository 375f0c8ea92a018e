//! What an informer's notes add up to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::map::Map;
use deltascope_cache::sorted;
use deltascope_world::virtual_time::RequestKind;
use deltascope_world::{Time, named};

use super::call::{Call, Scope};
use super::note::{Connection, EventNote, Kind, Note, Stopped, Weight, Why};

/// How many objects stand in one line.
const AT_ONCE: usize = 1_000;
/// Most lists, ends and spans that are kept one by one. All are counted.
const MOST: usize = 200;
/// The windows in which an object's changes are counted, in ms, …
pub const WINDOW_MS: Time = 3_000;
/// … and the changes in one after which it is hot: ten a second.
const HOT: u32 = 30;
/// Most hot objects that are kept.
const MOST_HOT: usize = 20;
/// What the `User-Agent` of client-go's programs has in it.
pub(super) const CLIENT_GO: &str = " kubernetes/";
/// A watch that ends sooner than this without an event ends at once, in ms.
const AT_ONCE_MS: Time = 1_000;

/// An informer, as its notes tell it.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The client's `User-Agent`.
    pub agent: Arc<str>,
    /// The objects.
    pub scope: Scope,
    /// Whether the scope is a guess, which may lack a part.
    pub is_guess: bool,
    /// Wall-clock time of its moment 0, in ms since 1970; `None` if unknown.
    pub start: Option<Time>,
    /// When and why the recording stopped before its informer.
    pub stopped: Option<(Time, Stopped)>,
    /// The time of its last note, in ms.
    pub until: Time,
    /// Its lists, the first of them.
    pub lists: Vec<List>,
    /// The connections that its requests came over, the first of them.
    pub connections: BTreeSet<Connection>,
    /// How it asked first: a streaming list may fail, and the next try be another.
    first: Option<How>,
    /// How many lists there were.
    pub list_count: u64,
    /// How many watches were opened.
    pub watches: u64,
    /// The ends of its requests, the first of them.
    pub ends: Vec<(Time, Why)>,
    /// How many ends there were, by their kind.
    pub end_counts: BTreeMap<EndKind, u64>,
    /// Events of objects.
    pub events: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// Bytes of all objects that came.
    pub came: u64,
    /// How many of these were managed fields.
    pub managed: u64,
    /// Watches that ended at once: when, and how long they were open, in ms.
    pub short: Vec<(Time, Time)>,
    /// The spans in which a watch was open, the first of them.
    pub open: Vec<(Time, Time)>,
    /// Objects that changed ten times a second.
    pub hot: Map<String, Hot>,
    /// When the watch was opened, and how many events have come.
    since: Option<(Time, u64)>,
    /// How many objects the informer has, and their bytes.
    count: usize,
    bytes: u64,
    each: Each,
}

/// What is kept of each object, to add up the notes that are still to come.
#[derive(Clone, Debug, Default)]
struct Each {
    /// Bytes of each object that the informer has.
    objects: Map<String, u32>,
    /// Whether only the notes of a file that goes on say which these are.
    lacks: bool,
    /// Whether lists came in a file before.
    goes_on: bool,
    /// The objects of the list, or of the initial events, under way.
    coming: Option<Map<String, u32>>,
    /// The window, and how often each object has changed in it, by whom.
    window: Time,
    changes: Map<String, (u32, BTreeMap<Arc<str>, u32>)>,
}

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// When it was asked for.
    pub at: Time,
    /// How.
    pub how: How,
    /// What preceded it; `None` for the first one.
    pub because: Option<Because>,
    /// How many objects came; `None` while none has ended it.
    pub objects: Option<usize>,
    /// In how many pages.
    pub pages: u32,
}

/// How a list is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Of any version (`resourceVersion=0`): from the server's cache.
    Cached,
    /// Of the newest version, all at once.
    Whole,
    /// Of the newest version, in pages of so many.
    Paged(u32),
    /// Not older than a version.
    NotOlder,
    /// As a stream (`sendInitialEvents`).
    Streamed,
}

/// What came before a list that is not the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A watch or a list ended so.
    Ended(Why),
    /// Nothing: the list before it had come.
    Nothing,
}

macro_rules! end_kinds {
    ($($kind:ident = $name:literal),*) => {
        named! {
            /// The kind of an end, to be counted, as notes name it.
            pub enum EndKind {
                $(#[doc = concat!("See [`Why::", stringify!($kind), "`].")] $kind = $name,)*
            }
        }

        impl EndKind {
            /// The kind of an end.
            #[must_use]
            pub fn of(why: &Why) -> Self {
                match why {
                    $(Why::$kind { .. } => Self::$kind),*
                }
            }
        }
    };
}

end_kinds! {
    Closed = "closed", HungUp = "hungUp", Cut = "cut", Expired = "expired", Later = "later",
    Failed = "failed", TooLarge = "tooLarge"
}

/// An object that changes often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hot {
    /// When its fastest window began, in ms.
    pub at: Time,
    /// The changes in that window.
    pub changes: u32,
    /// Who wrote it in that window, and how often; the most frequent first.
    pub writers: Vec<(Arc<str>, u32)>,
}

impl Ledger {
    /// The ledger of these notes.
    #[must_use]
    pub fn of<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Self {
        let mut ledger = Self::default();
        for note in notes {
            ledger.note(note);
        }
        ledger
    }

    /// A copy to read, to which no note can be added: without what is kept of each object.
    #[must_use]
    pub fn summary(&mut self) -> Self {
        let each = std::mem::take(&mut self.each);
        let summary = self.clone();
        self.each = each;
        summary
    }

    /// How many objects the informer has.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.count
    }

    /// How many bytes these have, as they came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Events a second, along its life.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let first = self.open.first().map(|(from, _)| *from);
        let first = first.or(self.since.map(|(at, _)| at));
        let ms = self.until.saturating_sub(first.unwrap_or(self.until));
        // Less than a second says nothing of a second.
        self.events as f64 * 1_000.0 / ms.max(1_000) as f64
    }

    /// How many ends there were of a kind.
    #[must_use]
    pub fn ends_of(&self, kind: EndKind) -> u64 {
        self.end_counts.get(&kind).copied().unwrap_or_default()
    }

    /// When it watched, with the watch that is open.
    pub fn spans(&self) -> impl Iterator<Item = (Time, Time)> {
        let open = self.since.map(|(from, _)| (from, self.until.max(from)));
        self.open.iter().copied().chain(open)
    }

    /// Since when a watch is open.
    #[must_use]
    pub fn open_since(&self) -> Option<Time> {
        self.since.map(|(at, _)| at)
    }

    /// The generation of client-go whose requests these look like, and whether the client itself says so.
    #[must_use]
    pub fn generation(&self) -> (Generation, bool) {
        generation(&self.agent, self.first.as_ref())
    }

    /// Whether this is the first list of a reflector, though there was one before: its program was started again, or has made a
    /// new informer. A reflector of client-go asks for any version only until it has one; a streaming list has none, too, after one
    /// that has expired.
    #[must_use]
    pub fn begins_again(&self, call: &Call) -> bool {
        let is_first = match call {
            Call::List(_, list) => &*list.resource_version == "0" && list.continue_token.is_empty(),
            Call::Watch(_, watch) => {
                let expires = self.ends_of(EndKind::Expired) > 0;
                RequestKind::of(watch) == RequestKind::Stream
                    && watch.resource_version.is_empty()
                    && !expires
            }
            _ => false,
        };
        is_first && self.list_count > 0 && is_client_go(&self.agent)
    }

    /// Adds a note.
    pub fn note(&mut self, note: &Note) {
        let at = note.at();
        self.until = self.until.max(at);
        self.turn(at);
        match note {
            Note::Informer { agent, scope } => {
                (self.agent, self.scope) = (Arc::clone(agent), scope.clone());
            }
            Note::List {
                version,
                limit,
                continues,
                ..
            } => {
                if *continues {
                    return;
                }
                self.each.coming = None;
                let how = match (&**version, limit) {
                    ("0", _) => How::Cached,
                    ("", 0) => How::Whole,
                    ("", limit) => How::Paged(*limit),
                    _ => How::NotOlder,
                };
                self.list(at, how);
            }
            Note::Watch { initial, .. } => {
                if *initial {
                    self.each.coming = Some(Map::default());
                    self.list(at, How::Streamed);
                }
            }
            Note::Page { objects, more, .. } => self.page(objects, *more),
            Note::Opened { .. } => {
                self.watches += 1;
                self.since = Some((at, 0));
            }
            Note::Events { events, .. } => {
                // Behind an error its client reads on.
                self.since.get_or_insert((at, 0));
                for event in events {
                    self.heard(at, event);
                }
            }
            Note::Ended { why, .. } => self.ended(at, why),
            Note::Connection { connection, .. } => {
                if self.connections.len() < MOST {
                    self.connections.insert(*connection);
                }
            }
            Note::GoesOn { anew, .. } => self.go_on(at, *anew),
            Note::Had { objects, .. } => self.had(objects),
            Note::Stopped { why, .. } => self.stopped = Some((at, *why)),
        }
    }

    /// A file goes on. Its watch is open, unless the notes of before have said so, or it begins anew. Since when it is open, and
    /// what came of it, is not known.
    fn go_on(&mut self, at: Time, anew: bool) {
        self.stopped = None;
        self.each.goes_on = true;
        if !anew {
            self.each.lacks = self.since.is_none();
            self.since.get_or_insert((at, 1));
        }
    }

    fn had(&mut self, objects: &[Weight]) {
        if self.each.lacks {
            let each = objects.iter().map(|one| (one.key.clone(), one.bytes));
            self.each.objects.extend(each);
            self.count = self.each.objects.len();
            self.bytes = self
                .each
                .objects
                .values()
                .map(|bytes| u64::from(*bytes))
                .sum();
        }
    }

    /// The note that names it.
    #[must_use]
    pub fn informer(&self) -> Note {
        Note::Informer {
            agent: Arc::clone(&self.agent),
            scope: self.scope.clone(),
        }
    }

    /// The notes with which another file goes on.
    #[must_use]
    pub fn goes_on(&self, at: Time, part: u32) -> Vec<Note> {
        let each = self.each.objects.iter().map(|(key, bytes)| Weight {
            key: key.clone(),
            bytes: *bytes,
            managed: 0,
        });
        let all: Vec<Weight> = each.collect();
        let had = all.chunks(AT_ONCE).map(|objects| Note::Had {
            at,
            objects: objects.to_vec(),
        });
        let anew = false;
        std::iter::once(Note::GoesOn { at, part, anew })
            .chain(had)
            .collect()
    }

    fn list(&mut self, at: Time, how: How) {
        self.first.get_or_insert_with(|| how.clone());
        let because = match self.lists.last_mut() {
            None if !self.each.goes_on => None,
            // The next try of a list that failed, maybe in another way.
            Some(last) if last.objects.is_none() => {
                last.how = how;
                return;
            }
            last => {
                let last = last.map_or(0, |last| last.at);
                let end = self.ends.last().filter(|(ended, _)| *ended >= last);
                Some(end.map_or(Because::Nothing, |(_, why)| Because::Ended(why.clone())))
            }
        };
        self.list_count += 1;
        if self.lists.len() < MOST {
            self.lists.push(List {
                at,
                how,
                because,
                objects: None,
                pages: 0,
            });
        }
    }

    fn page(&mut self, objects: &[Weight], more: bool) {
        let coming = self.each.coming.get_or_insert_default();
        for object in objects {
            coming.insert(object.key.clone(), object.bytes);
        }
        for object in objects {
            self.came += u64::from(object.bytes);
            self.managed += u64::from(object.managed);
        }
        if let Some(list) = self.lists.last_mut() {
            list.pages += 1;
        }
        if !more {
            self.settle();
        }
    }

    /// The list is complete.
    fn settle(&mut self) {
        if let Some(objects) = self.each.coming.take() {
            self.bytes = objects.values().map(|bytes| u64::from(*bytes)).sum();
            self.count = objects.len();
            self.each.objects = objects;
            if let Some(list) = self.lists.last_mut() {
                list.objects = Some(self.count);
            }
        }
    }

    fn heard(&mut self, at: Time, event: &EventNote) {
        if let Some((_, count)) = &mut self.since {
            *count += 1;
        }
        let Weight {
            key,
            bytes,
            managed,
        } = &event.object;
        match event.kind {
            Kind::Bookmark => self.bookmarks += 1,
            Kind::InitialEnd => {
                self.bookmarks += 1;
                self.settle();
            }
            Kind::Added | Kind::Modified | Kind::Deleted => {
                self.came += u64::from(*bytes);
                self.managed += u64::from(*managed);
                let gone = event.kind == Kind::Deleted;
                if let Some(coming) = &mut self.each.coming {
                    match gone {
                        true => coming.swap_remove(key),
                        false => coming.insert(key.clone(), *bytes),
                    };
                    return;
                }
                self.events += 1;
                let before = match gone {
                    true => self.each.objects.swap_remove(key),
                    false => self.each.objects.insert(key.clone(), *bytes),
                };
                self.count = self.each.objects.len();
                self.bytes -= u64::from(before.unwrap_or_default());
                self.bytes += if gone { 0 } else { u64::from(*bytes) };
                self.changed(at, key, &event.by);
            }
        }
    }

    fn changed(&mut self, at: Time, key: &str, by: &Arc<str>) {
        let (count, writers) = match self.each.changes.get_mut(key) {
            Some(changes) => changes,
            None => self.each.changes.entry(key.to_owned()).or_default(),
        };
        *count += 1;
        *writers.entry(Arc::clone(by)).or_default() += 1;
        if *count < HOT {
            return;
        }
        let from = at / WINDOW_MS * WINDOW_MS;
        let known = self.hot.get(key);
        if known.is_none() && self.hot.len() == MOST_HOT
            || known.is_some_and(|hot| hot.changes > *count)
        {
            return;
        }
        let mut writers: Vec<_> = writers.iter().map(|(by, n)| (Arc::clone(by), *n)).collect();
        sorted::sort(&mut writers, |(_, one), (_, other)| other.cmp(one));
        let hot = Hot {
            at: from,
            changes: *count,
            writers,
        };
        self.hot.insert(key.to_owned(), hot);
    }

    /// Begins another window, if it is time.
    fn turn(&mut self, at: Time) {
        let window = at / WINDOW_MS;
        if window != self.each.window {
            self.each.window = window;
            self.each.changes.clear();
        }
    }

    fn ended(&mut self, at: Time, why: &Why) {
        *self.end_counts.entry(EndKind::of(why)).or_default() += 1;
        if self.ends.len() < MOST {
            self.ends.push((at, why.clone()));
        } else if let Some(last) = self.ends.last_mut() {
            // What follows is compared with the last end.
            *last = (at, why.clone());
        }
        if let Some((from, heard)) = self.since.take() {
            let lasted = at.saturating_sub(from);
            let by_server = !matches!(why, Why::HungUp | Why::Expired);
            if heard == 0 && lasted < AT_ONCE_MS && by_server && self.short.len() < MOST {
                self.short.push((from, lasted));
            }
            if self.open.len() < MOST {
                self.open.push((from, at));
            } else if let Some(last) = self.open.last_mut() {
                last.1 = at;
            }
        }
    }
}

/// Whether a client is a program of client-go's, and has not chosen a name of its own.
pub(super) fn is_client_go(agent: &str) -> bool {
    agent.contains(CLIENT_GO)
}

/// The generation of client-go that a client's `User-Agent` names, or else the newest one that lists so.
#[must_use]
pub fn generation(agent: &str, first: Option<&How>) -> (Generation, bool) {
    // Kubernetes' own programs: kube-scheduler/v1.32.1 (linux/amd64) kubernetes/abcdef
    let own = is_client_go(agent).then(|| {
        let version = agent.split([' ', '/']).nth(1)?.strip_prefix('v')?;
        let minor = version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
        Generation::from_version(&minor)
    });
    match (own.flatten(), first) {
        (Some(generation), _) => (generation, true),
        (None, Some(How::Cached | How::NotOlder)) => (Generation::InOrder, false),
        (None, _) => (Generation::Atomic, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(key: &str, bytes: u32) -> Weight {
        Weight {
            key: key.to_owned(),
            bytes,
            managed: bytes / 2,
        }
    }

    fn list(at: Time, version: &str, limit: u32) -> Note {
        Note::List {
            at,
            version: version.to_owned(),
            limit,
            continues: false,
        }
    }

    fn page(at: Time, keys: &[&str], more: bool) -> Note {
        Note::Page {
            at,
            objects: keys.iter().map(|key| weight(key, 100)).collect(),
            more,
        }
    }

    fn heard(kind: Kind, key: &str) -> EventNote {
        EventNote {
            kind,
            object: weight(key, 200),
            by: "kubelet".into(),
        }
    }

    fn watch(at: Time, initial: bool) -> [Note; 2] {
        let version = "10".to_owned();
        [
            Note::Watch {
                at,
                version,
                initial,
            },
            Note::Opened { at },
        ]
    }

    #[test]
    fn each_kind_of_an_end_is_named_as_notes_name_it() {
        let text = "no".to_owned();
        let whys = [
            Why::Closed,
            Why::HungUp,
            Why::Cut,
            Why::Expired,
            Why::Later { code: 429 },
            Why::Failed { code: 500, text },
            Why::TooLarge,
        ];
        for why in &whys {
            let written = serde_json::to_value(why).unwrap();
            let name = written
                .as_str()
                .or_else(|| Some(written.as_object()?.keys().next()?));
            assert_eq!(name, Some(EndKind::of(why).id()));
        }
        assert_eq!(whys.each_ref().map(EndKind::of), EndKind::ALL);
    }

    #[test]
    fn notes_add_up() {
        let mut notes = vec![
            list(0, "0", 500),
            page(5, &["a", "b"], true),
            page(6, &["c"], false),
        ];
        notes.extend(watch(7, false));
        notes.push(Note::Events {
            at: 2_000,
            events: vec![
                heard(Kind::Modified, "a"),
                heard(Kind::Deleted, "b"),
                heard(Kind::Added, "d"),
                heard(Kind::Bookmark, ""),
            ],
        });
        notes.push(Note::Ended {
            at: 3_007,
            why: Why::Closed,
        });
        let ledger = Ledger::of(&notes);
        assert_eq!((ledger.objects(), ledger.bytes()), (3, 500));
        assert_eq!((ledger.came, ledger.managed), (900, 450));
        assert_eq!((ledger.events, ledger.bookmarks, ledger.watches), (3, 1, 1));
        assert_eq!(ledger.ends_of(EndKind::Closed), 1);
        assert_eq!(ledger.rate(), 1.0);
        let first = &ledger.lists[0];
        assert_eq!(
            (&first.how, first.objects, first.pages, &first.because),
            (&How::Cached, Some(3), 2, &None)
        );
        assert!(ledger.short.is_empty());
    }

    #[test]
    fn a_watch_that_is_read_behind_an_error_is_open() {
        let mut ledger = Ledger::of(&watch(0, false));
        let why = Why::Failed {
            code: 500,
            text: "no".to_owned(),
        };
        ledger.note(&Note::Ended { at: 5, why });
        assert_eq!(ledger.open_since(), None);
        let events = vec![heard(Kind::Added, "a")];
        ledger.note(&Note::Events { at: 7, events });
        assert_eq!((ledger.open_since(), ledger.watches), (Some(7), 1));
    }

    #[test]
    fn a_streaming_list_is_a_list() {
        let mut notes = watch(0, true).to_vec();
        notes.push(Note::Events {
            at: 1,
            events: vec![
                heard(Kind::Added, "a"),
                heard(Kind::Added, "b"),
                heard(Kind::InitialEnd, ""),
                heard(Kind::Deleted, "a"),
            ],
        });
        let ledger = Ledger::of(&notes);
        assert_eq!(
            (ledger.objects(), ledger.events, ledger.list_count),
            (1, 1, 1)
        );
        assert_eq!(ledger.lists[0].how, How::Streamed);
        assert_eq!(ledger.lists[0].objects, Some(2));
    }

    #[test]
    fn a_relist_says_what_came_before_it() {
        let failed = Why::Failed {
            code: 500,
            text: "no".to_owned(),
        };
        for (why, because) in [
            (Some(Why::Expired), Because::Ended(Why::Expired)),
            (Some(failed.clone()), Because::Ended(failed)),
            (None, Because::Nothing),
        ] {
            let mut notes = vec![list(0, "0", 500), page(1, &["a"], false)];
            if let Some(why) = why {
                notes.extend(watch(2, false));
                notes.push(Note::Ended { at: 9, why });
            }
            // A list that fails is tried again, in another way: it is one.
            notes.push(list(10, "", 500));
            notes.push(Note::Ended {
                at: 11,
                why: Why::Later { code: 429 },
            });
            notes.push(list(12, "", 0));
            notes.push(page(13, &[], false));
            let ledger = Ledger::of(&notes);
            assert_eq!(ledger.list_count, 2);
            assert_eq!(ledger.lists[1].because, Some(because));
            assert_eq!(ledger.lists[1].how, How::Whole);
            assert_eq!(ledger.objects(), 0);
        }
    }

    #[test]
    fn a_watch_that_ends_at_once_is_short() {
        for (lasted, why, short) in [
            (999, Why::Closed, true),
            (1_000, Why::Closed, false),
            (10, Why::HungUp, false),
            (10, Why::Expired, false),
            (10, Why::Cut, true),
        ] {
            let mut notes = watch(50, false).to_vec();
            notes.push(Note::Ended {
                at: 50 + lasted,
                why: why.clone(),
            });
            let ledger = Ledger::of(&notes);
            assert_eq!(!ledger.short.is_empty(), short, "{lasted} {why:?}");
        }
    }

    #[test]
    fn a_file_that_goes_on_has_neither_a_first_list_nor_a_short_watch() {
        for (anew, because) in [
            (false, Because::Ended(Why::Closed)),
            (true, Because::Nothing),
        ] {
            let mut notes = vec![Note::GoesOn {
                at: 50,
                part: 2,
                anew,
            }];
            if !anew {
                notes.push(Note::Ended {
                    at: 60,
                    why: Why::Closed,
                });
            }
            notes.extend([list(70, "", 500), page(80, &["a"], false)]);
            let ledger = Ledger::of(&notes);
            assert!(ledger.short.is_empty());
            assert_eq!(ledger.lists[0].because, Some(because));
        }
    }

    #[test]
    fn an_object_that_changes_ten_times_a_second_is_hot() {
        for (every, hot) in [(100, true), (104, false), (20, true), (1_000, false)] {
            let mut ledger = Ledger::of(&watch(0, false));
            for number in 0..300 {
                ledger.note(&Note::Events {
                    at: number * every,
                    events: vec![heard(Kind::Modified, "lease")],
                });
            }
            assert_eq!(ledger.hot.contains_key("lease"), hot, "{every}");
            if let Some(found) = ledger.hot.get("lease") {
                let writers = [("kubelet".into(), found.changes)];
                assert_eq!(found.writers, writers, "{every}");
            }
        }
    }

    #[test]
    fn a_streaming_list_that_no_server_knows_shows_the_generation() {
        let mut notes = watch(0, true).to_vec();
        notes.push(Note::Ended {
            at: 1,
            why: Why::Failed {
                code: 422,
                text: "Invalid".to_owned(),
            },
        });
        notes.extend([list(2, "0", 500), page(3, &["a"], false)]);
        let ledger = Ledger::of(&notes);
        assert_eq!((ledger.list_count, &ledger.lists[0].how), (1, &How::Cached));
        assert_eq!(ledger.generation(), (Generation::Atomic, false));
    }

    #[test]
    fn requests_show_the_generation() {
        let table = [
            (
                "kube-scheduler/v1.32.1 (linux/amd64) kubernetes/abc",
                How::Streamed,
                "1.32",
                true,
            ),
            (
                "kube-scheduler/v1.35.0 (linux/amd64) kubernetes/abc",
                How::Cached,
                "1.35",
                true,
            ),
            (
                "manager/v0.0.0 (linux/amd64) kubernetes/$Format",
                How::Cached,
                "1.34",
                false,
            ),
            (
                "manager/v0.0.0 (linux/amd64) kubernetes/$Format",
                How::Streamed,
                "1.36",
                false,
            ),
            ("manager/v1.30.0", How::Cached, "1.34", false),
            ("", How::Paged(500), "1.36", false),
        ];
        for (agent, how, version, named) in table {
            let found = generation(agent, Some(&how));
            assert_eq!(
                (found.0.version(), found.1),
                (version, named),
                "{agent} {how:?}"
            );
        }
    }
}
