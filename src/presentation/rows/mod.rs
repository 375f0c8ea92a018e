//! The contents of each room as plain data: pure functions of a [`View`] without leptos or web-sys.
//!
//! A row is cheap to compare, so that a component is drawn again only if its own row changed.

pub mod acting;
pub mod api;
pub mod behind;
pub mod beside;
pub mod compare;
pub mod density;
pub mod drops;
pub mod logged;
pub mod pop;
pub mod processor;
pub mod queue;
pub mod race;
pub mod refill;
pub mod reflector;
pub mod store;
pub mod table;
pub mod things;
pub mod ticks;

use crate::view::names::Marks;
use crate::view::names::{Alike, namespace};
use std::rc::Rc;
use std::sync::Arc;

use crate::caption::{self, Span, Voice, Words, short_name};
use crate::stage::Panel;
use crate::strings::spoken;
use crate::view::View;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{EventType, ObjectRef, Shape};
use deltascope_cache::key::Key;
use deltascope_replay::gauge::Freshness;
use deltascope_replay::picture::{Picture, QueueKind};
use deltascope_world::text::Lang;

/// How many hues a mark can have.
const HUES: u8 = 8;
/// How many shapes a mark can have: squares and, once all hues are taken, discs.
const SHAPES: u8 = 2;
/// How many marks there are.
pub const MARKS: u8 = HUES * SHAPES;

/// The small sign of an object. Its hue and shape belong to the UID, so a recreated object gets another mark.
/// Without a UID the mark is hollow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mark(Option<u8>);

impl Mark {
    /// Its CSS classes.
    #[must_use]
    pub fn class(self) -> String {
        match self.0 {
            Some(mark) => format!("id h{} s{}", mark % HUES, mark / HUES),
            None => "id hollow".to_owned(),
        }
    }

    /// Its hue and its shape; none if it is hollow.
    #[must_use]
    pub fn look(self) -> Option<(u8, u8)> {
        self.0.map(|mark| (mark % HUES, mark / HUES))
    }
}

/// A resource version, short and in full.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RvText {
    /// The text shown; of a long version its tail.
    pub short: String,
    /// The whole version, if `short` is not all of it.
    pub full: Option<Arc<str>>,
}

/// A long version shows this many characters after the `…`: tokens are narrower than sentences.
const TAIL: usize = 4;

impl RvText {
    /// How to show `rv`.
    #[must_use]
    pub fn of(rv: &Arc<str>) -> Self {
        Self::tail(rv, TAIL)
    }

    /// How to show `rv` beside a name that needs the space.
    #[must_use]
    pub fn narrow(rv: &Arc<str>) -> Self {
        Self::tail(rv, TAIL - 1)
    }

    /// The whole version as assistive technology says it: `rv 7`; empty if there is none.
    #[must_use]
    pub fn said(&self) -> String {
        let whole = self.full.as_deref().unwrap_or(&self.short);
        if whole.is_empty() {
            String::new()
        } else {
            format!("rv {whole}")
        }
    }

    /// Whether the text of `rv` would be long, as [`Self::is_long`] says of a text that has been made.
    #[must_use]
    pub(crate) fn would_be_long(rv: &str) -> bool {
        rv.chars().nth(3).is_some()
    }

    fn tail(rv: &Arc<str>, tail: usize) -> Self {
        let length = rv.chars().count();
        let short = if length > tail + 1 {
            format!("…{}", rv.chars().skip(length - tail).collect::<String>())
        } else {
            rv.to_string()
        };
        let full = (short != **rv).then(|| Arc::clone(rv));
        Self { short, full }
    }

    /// Whether it fits the usual width in smaller letters.
    #[must_use]
    pub fn is_medium(&self) -> bool {
        self.short.chars().count() == 3
    }

    /// Whether it needs more than the usual width.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.short.chars().count() > 3
    }
}

/// One delta as a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaRow {
    /// Its place among the deltas, 0 is the oldest.
    pub index: usize,
    /// Its type.
    pub delta_type: DeltaType,
    /// The key of its object; empty if it is not the delta of one object.
    pub key: Key,
    /// The version of its object.
    pub rv: RvText,
    /// It holds a tombstone.
    pub tombstone: bool,
    /// The current fact made it, or it is being processed.
    pub lit: bool,
    /// It has been processed.
    pub done: bool,
    /// Its object's mark and name, where the context does not show them.
    pub about: Option<(Mark, String)>,
    /// It is a FIFO's object, not a delta.
    pub plain: bool,
}

impl DeltaRow {
    /// The row of a delta that is not one object's.
    #[must_use]
    pub fn bare(delta_type: DeltaType) -> Self {
        Self {
            index: 0,
            delta_type,
            key: Key::from(""),
            rv: RvText::default(),
            tombstone: false,
            lit: false,
            done: false,
            about: None,
            plain: false,
        }
    }

    /// The row of one delta.
    #[must_use]
    pub fn of(index: usize, delta_type: DeltaType, object: &ObjectRef) -> Self {
        Self {
            index,
            key: object.key.clone(),
            rv: RvText::of(&object.rv),
            tombstone: is_tombstone(object),
            ..Self::bare(delta_type)
        }
    }

    /// The CSS class of its token.
    #[must_use]
    pub fn class(&self) -> &'static str {
        if self.plain {
            "plain"
        } else {
            type_class(self.delta_type)
        }
    }

    /// `Updated, default/web-0, rv 7`: its tooltip and accessible name. A FIFO's object has no type.
    #[must_use]
    pub fn title(&self, tombstone: &str) -> String {
        let delta_type = if self.plain {
            ""
        } else {
            self.delta_type.as_str()
        };
        let tombstone = if self.tombstone { tombstone } else { "" };
        spoken::parts([delta_type, &*self.key, &*self.rv.said(), tombstone])
    }

    /// The row of a delta that names its object, among deltas of other objects.
    #[must_use]
    pub fn named(names: &Names, index: usize, delta_type: DeltaType, object: &ObjectRef) -> Self {
        Self {
            about: Some((names.mark(&object.uid), names.get(&object.key))),
            plain: names.picture.queue.kind == QueueKind::Fifo,
            rv: RvText::narrow(&object.rv),
            ..Self::of(index, delta_type, object)
        }
    }
}

/// A stack of deltas: those that are shown, and how many of the middle are not.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Stack {
    /// The shown deltas, oldest first.
    pub shown: Vec<DeltaRow>,
    /// How many are hidden between the oldest and the others.
    pub hidden: usize,
}

/// Fits a stack into `room` places: the oldest and the newest stay, the middle is replaced by `+N`.
#[must_use]
pub fn stack(mut all: Vec<DeltaRow>, room: usize) -> Stack {
    let room = room.max(3);
    if all.len() <= room {
        return Stack {
            shown: all,
            hidden: 0,
        };
    }
    let hidden = all.len() - (room - 1);
    all.drain(1..=hidden);
    Stack { shown: all, hidden }
}

/// Short names for keys: without the namespace, unless two keys of the run would then look alike. Also the marks of
/// their objects.
#[derive(Clone, Debug, Default)]
pub struct Names {
    picture: Rc<Picture>,
    alike: Rc<Alike>,
    marks: Rc<Marks>,
}

impl Names {
    /// The names for a view.
    #[must_use]
    pub fn of(view: &View) -> Self {
        Self {
            picture: Rc::clone(&view.picture),
            alike: Rc::clone(&view.alike),
            marks: Rc::clone(&view.marks),
        }
    }

    /// Whether the run has more than one key with this name.
    fn is_ambiguous(&self, short: &str) -> bool {
        self.alike.is_ambiguous(short)
    }

    /// The short name of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> String {
        let short = short_name(key);
        match namespace(key) {
            Some(namespace) if self.is_ambiguous(short) => {
                format!("{}/{short}", middle_cut(namespace))
            }
            _ => short.to_owned(),
        }
    }

    /// The name of `key` where there may be room for its namespace.
    #[must_use]
    pub fn long(&self, key: &Key) -> String {
        if self.is_ambiguous(short_name(key)) {
            self.get(key)
        } else {
            key.to_string()
        }
    }

    /// The mark of a UID.
    #[must_use]
    pub fn mark(&self, uid: &str) -> Mark {
        Mark(self.marks.get(uid))
    }
}

/// A name as the pieces in which it is drawn: its namespace, a start that may be cut, and an end that stays.
///
/// A browser cuts a start to no less than one letter and the sign for omitted text. So a start has at least three
/// letters: otherwise the sign would stand for a single letter, and save nothing.
#[must_use]
pub fn pieces(text: &str) -> (&str, &str, &str) {
    const START: usize = 3;
    // The last five letters distinguish most pods of one owner.
    const END: usize = 5;
    let (namespace, name) = match text.rfind('/') {
        Some(at) if !text.contains('…') => text.split_at(at + 1),
        _ => ("", text),
    };
    let count = name.chars().count();
    let middle = match count.checked_sub(START) {
        Some(rest) if rest >= START => count - rest.min(END),
        _ => 0,
    };
    let middle = name.char_indices().nth(middle).map_or(0, |(at, _)| at);
    let (start, end) = name.split_at(middle);
    (namespace, start, end)
}

/// Whether it is a tombstone (`DeletedFinalStateUnknown`).
#[must_use]
pub fn is_tombstone(object: &ObjectRef) -> bool {
    matches!(object.shape, Shape::Tombstone | Shape::EmptyTombstone)
}

/// The first and the last letters of a namespace that is only needed to distinguish two names.
fn middle_cut(namespace: &str) -> String {
    let length = namespace.chars().count();
    if length <= 4 {
        return namespace.to_owned();
    }
    let first = namespace.chars().take(2);
    let last = namespace.chars().skip(length - 1);
    first.chain(std::iter::once('…')).chain(last).collect()
}

/// The CSS class of a delta type, which is its hue.
#[must_use]
pub fn type_class(delta_type: DeltaType) -> &'static str {
    match delta_type {
        DeltaType::Added => "Added",
        DeltaType::Updated => "Updated",
        DeltaType::Deleted => "Deleted",
        DeltaType::Replaced | DeltaType::ReplacedAll => "Replaced",
        DeltaType::Sync | DeltaType::SyncAll => "Sync",
        DeltaType::Bookmark => "Bookmark",
    }
}

/// The delta type with whose hue an event is shown.
#[must_use]
pub fn hue_of(event: EventType) -> DeltaType {
    match event {
        EventType::Added => DeltaType::Added,
        EventType::Modified => DeltaType::Updated,
        EventType::Deleted | EventType::Error => DeltaType::Deleted,
        EventType::Bookmark => DeltaType::Bookmark,
    }
}

/// The CSS class of an object, depending on how the cache's version compares with the server's.
#[must_use]
pub fn freshness_class(freshness: Freshness) -> &'static str {
    match freshness {
        Freshness::Unknown => "",
        Freshness::Same => "same",
        Freshness::Stale => "stale",
        Freshness::Missing => "missing",
        Freshness::Gone => "ghost",
    }
}

/// The version in the cache and the one on the server, where they differ; none where there is none.
#[must_use]
pub fn versions<'a>(
    freshness: Freshness,
    cached: &'a RvText,
    server: &'a RvText,
) -> Option<[Option<&'a RvText>; 2]> {
    match freshness {
        Freshness::Unknown | Freshness::Same => None,
        Freshness::Stale => Some([Some(cached), Some(server)]),
        Freshness::Missing => Some([None, Some(server)]),
        Freshness::Gone => Some([Some(cached), None]),
    }
}

/// The UID of the object with this key, from the queue, the store or the API server.
#[must_use]
pub(crate) fn uid_of(picture: &Picture, key: &Key) -> Arc<str> {
    let queued = picture
        .queue
        .deltas
        .get(key)
        .and_then(|deltas| deltas.last())
        .map(|(_, object)| object);
    let known = queued
        .or_else(|| picture.store.items.get(key))
        .or_else(|| picture.api.objects.get(key).map(|object| &object.object));
    known
        .map(|object| Arc::clone(&object.uid))
        .unwrap_or_default()
}

/// Whether the program does without this room, because it has no queue.
#[must_use]
pub fn is_unused(view: &View, room: Panel) -> bool {
    matches!(room, Panel::Reflector | Panel::Queue | Panel::Pop)
        && !view.picture.informer.has_queue()
}

/// The fact that is shown: the one at the cursor, or the headline of the step; none at the start.
#[must_use]
pub fn current(view: &View) -> Option<&deltascope_cache::fact::FactRecord> {
    view.narrated().0.last()
}

/// The current fact and its cause, in words.
#[must_use]
pub fn said(view: &View, lang: Lang) -> Words {
    if let Some(said) = race::said(view, lang) {
        return Words {
            what: vec![Span::Text(said)],
            ..Words::default()
        };
    }
    let naming = view.alike.naming();
    let (recent, picture) = view.narrated();
    match recent.last() {
        Some(record) => {
            let words = caption::words(record, recent, picture, Voice { lang, naming });
            if view.is_over() {
                caption::at_end(&view.picture, words, lang)
            } else {
                words
            }
        }
        None => caption::before_start(&view.picture, lang),
    }
}

/// Another fact of the step whose headline is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFact {
    /// The number of facts up to it.
    pub at: usize,
    /// What it is, and its object: `item stored: web-0`.
    pub text: String,
    /// Whether it comes after the headline.
    pub later: bool,
}

/// The other facts of the step, and how many more there are.
#[must_use]
pub fn others(view: &View, lang: Lang) -> (Vec<OtherFact>, usize) {
    let Some(headline) = &view.headline else {
        return (Vec::new(), 0);
    };
    let shown = headline.recent.last().map(|record| record.id);
    let others = headline.others.iter().map(|(at, record)| {
        let mut text = caption::in_words(&record.fact, lang);
        if let Some(key) = record.fact.key() {
            text.extend([
                if lang == Lang::En { ": " } else { "：" },
                &*Names::of(view).get(key),
            ]);
        }
        OtherFact {
            at: *at,
            text,
            later: shown.is_some_and(|shown| record.id > shown),
        }
    });
    (others.collect(), headline.minor)
}

#[cfg(test)]
mod testing {
    //! Views to compute rows from.

    use std::rc::Rc;
    use std::sync::Arc;

    use super::{Alike, DeltaType, ObjectRef, Picture, Shape, View};
    use deltascope_cache::fact::{Actor, Cause, Fact, FactId, FactRecord};
    use deltascope_cache::step::Step;

    pub(super) fn object(key: &str, rv: &str) -> ObjectRef {
        ObjectRef {
            key: key.into(),
            shape: Shape::Object,
            rv: rv.into(),
            uid: key.into(),
        }
    }

    pub(super) fn updates(key: &str, count: usize) -> Vec<(DeltaType, ObjectRef)> {
        (0..count)
            .map(|n| (DeltaType::Updated, object(key, &n.to_string())))
            .collect()
    }

    pub(super) fn view(picture: Picture, facts: Vec<Fact>) -> View {
        let recent: Arc<[FactRecord]> = facts
            .into_iter()
            .zip(0..)
            .map(|(fact, id)| FactRecord {
                id: FactId(id),
                time: 0,
                actor: Actor::ProcessLoop,
                cause: Cause::Start,
                step: Step::StoreWrite,
                fact,
            })
            .collect();
        let mut alike = Rc::default();
        for key in &picture.queue.keys {
            Alike::see(&mut alike, key);
        }
        View {
            alike,
            picture: Rc::new(picture),
            step: recent.len(),
            steps: recent.len(),
            recent: recent.to_vec().into(),
            speed: 100,
            ..View::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(index: usize) -> DeltaRow {
        let object = ObjectRef {
            key: "a".into(),
            shape: Shape::Object,
            rv: "1".into(),
            uid: "".into(),
        };
        DeltaRow::of(index, DeltaType::Updated, &object)
    }

    #[test]
    fn an_object_without_a_uid_has_a_hollow_mark() {
        let view = testing::view(Picture::default(), Vec::new());
        assert_eq!(Names::of(&view).mark("").class(), "id hollow");
    }

    #[test]
    fn long_versions_show_their_tail() {
        assert_eq!(RvText::of(&"12".into()).short, "12");
        let long = RvText::of(&"20471474".into());
        assert_eq!(long.short, "…1474");
        assert_eq!(RvText::of(&"41475".into()).short, "41475");
        assert_eq!(RvText::narrow(&"41475".into()).short, "…475");
        assert_eq!(RvText::narrow(&"1475".into()).short, "1475");
        assert_eq!(long.full.as_deref(), Some("20471474"));
    }

    #[test]
    fn a_name_is_cut_only_where_that_saves_letters() {
        for (text, cut) in [
            ("web-0", ("", "", "web-0")),
            ("web-10", ("", "web", "-10")),
            ("default/nettool", ("default/", "net", "tool")),
            ("de…t/web-0", ("", "de…t/", "web-0")),
            ("cart-dc", ("", "car", "t-dc")),
            ("cart-5d9c-x7k2p", ("", "cart-5d9c-", "x7k2p")),
        ] {
            assert_eq!(pieces(text), cut);
        }
    }

    #[test]
    fn a_delta_is_called_by_its_type_its_key_and_its_whole_version() {
        let object = |shape| ObjectRef {
            key: "default/web".into(),
            shape,
            rv: "20471474".into(),
            uid: "".into(),
        };
        for (shape, plain, title) in [
            (Shape::Object, false, "Deleted, default/web, rv 20471474"),
            (
                Shape::Tombstone,
                false,
                "Deleted, default/web, rv 20471474, tombstone",
            ),
            (Shape::Object, true, "default/web, rv 20471474"),
        ] {
            let row = DeltaRow {
                plain,
                ..DeltaRow::of(0, DeltaType::Deleted, &object(shape))
            };
            assert_eq!(row.title("tombstone"), title);
        }
    }

    #[test]
    fn a_tall_stack_keeps_its_oldest_and_its_newest() {
        let fitted = stack((0..8).map(row).collect(), 5);
        let places: Vec<_> = fitted.shown.iter().map(|r| r.index).collect();
        assert_eq!(places, [0, 5, 6, 7]);
        assert_eq!(fitted.hidden, 4);
        assert_eq!(stack((0..5).map(row).collect(), 5).hidden, 0);
    }

    #[test]
    fn names_are_short_unless_two_are_alike() {
        let mut picture = Picture::default();
        for key in ["default/web", "kube/web", "default/dns"] {
            picture.queue.keys.push_back(key.into());
        }
        let names = Names::of(&testing::view(picture, Vec::new()));
        assert_eq!(names.get("default/web"), "de…t/web");
        assert_eq!(names.get("kube/web"), "kube/web");
        assert_eq!(names.get("default/dns"), "dns");
        assert_eq!(names.long(&"default/dns".into()), "default/dns");
    }
}
