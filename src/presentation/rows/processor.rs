//! The shared processor's room.

use std::sync::Arc;

use super::{Mark, Names, RvText, current, is_tombstone, type_class, uid_of};
use crate::stage::WorkPart;
use crate::strings::{self, spoken, strings};
use crate::view::{LiveView, RECENT, View};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Fact, HandlersFact, NotificationRef, Printer};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{HandlerRoom, WorkRoom};
use deltascope_world::text::Lang;

/// How many places a handler's ring has.
pub const RING: usize = 4;
/// What a handler receives in the place of an object whose delete nobody saw.
pub const TOMBSTONE: &str = "DeletedFinalStateUnknown";
/// At most this many lines of output are shown.
const LINES: usize = 60;
/// So many while nobody can read them: those that are in sight.
const IN_SIGHT: usize = 12;
/// In ms.
const FAST_MS: u64 = 1_000;
/// At most this many keys of each part of the workqueue are shown.
const KEYS: usize = 12;

/// The contents of the room.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProcessorRows {
    /// The handlers.
    pub handlers: Vec<HandlerRow>,
    /// The newest lines, oldest first.
    pub output: Vec<LineRow>,
    /// The workqueue, where there is one.
    pub work: Option<WorkRows>,
}

/// How a notification looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationLook {
    /// The type of what it brings.
    pub hue: DeltaType,
    /// It brings a tombstone.
    pub tombstone: bool,
}

impl NotificationLook {
    /// The CSS classes of its dot; none of an empty place.
    #[must_use]
    pub fn class(look: Option<Self>) -> String {
        look.map_or_else(String::new, |look| {
            let tombstone = if look.tombstone { " tombstone" } else { "" };
            [type_class(look.hue), tombstone].concat()
        })
    }
}

/// One handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRow {
    /// Its number.
    pub number: u8,
    /// Its name.
    pub name: Arc<str>,
    /// It runs inside `process` and has no buffer.
    pub inline: bool,
    /// The notification that was sent but is not in the buffer yet; its sender waits.
    pub sending: Option<NotificationLook>,
    /// The pending notifications, the next one first, at most [`RING`].
    pub ring: Vec<NotificationLook>,
    /// How many notifications are pending.
    pub pending: usize,
    /// The notification that it handles.
    pub running: Option<NotificationLook>,
    /// What it handles: `OnAdd, default/web-0, rv 7`.
    pub running_title: String,
    /// What it handles, or handled last, is a tombstone.
    pub tombstone: bool,
    /// What is in the ring, in the same words.
    pub ring_titles: Vec<String>,
    /// What was sent but is not in the buffer yet, in the same words.
    pub sending_title: String,
    /// It has processed the whole first list.
    pub synced: bool,
    /// It takes part in resyncs now.
    pub syncing: bool,
    /// Its resync period, in ms; 0: never.
    pub resync_ms: u64,
    /// Its filter's condition; empty if everything passes.
    pub filter: Arc<str>,
    /// It is being removed.
    pub leaving: bool,
    /// It was removed.
    pub removed: bool,
    /// How often it panicked.
    pub panics: u32,
    /// The current fact is about it.
    pub lit: bool,
}

impl HandlerRow {
    /// What it is busy with, in words.
    #[must_use]
    pub fn load(&self, lang: Lang) -> String {
        let words = strings(lang);
        if self.inline {
            words.inline_handler.to_owned()
        } else if self.leaving {
            words.removing.to_owned()
        } else if self.removed {
            words.removed.to_owned()
        } else if !self.says_tombstone() {
            let running = if self.running.is_some() {
                words.running
            } else {
                ""
            };
            [running, &strings::waiting(lang, self.pending)].concat()
        } else if self.running.is_some() {
            TOMBSTONE.to_owned()
        } else {
            [words.received_last, TOMBSTONE].concat()
        }
    }

    /// Whether it says how many notifications wait.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.inline && !self.leaving && !self.removed && !self.tombstone
    }

    /// Whether it says that what it runs, or ran last, is a tombstone.
    #[must_use]
    pub fn says_tombstone(&self) -> bool {
        self.tombstone && !self.inline && !self.leaving && !self.removed
    }
}

/// One line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// Its place among the lines that are kept, from 0.
    pub number: usize,
    /// The text.
    pub text: Arc<str>,
    /// The program printed it outside of all handlers.
    pub by_program: bool,
    /// The current fact printed it.
    pub lit: bool,
}

/// The workqueue: one line per part.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WorkRows {
    /// One line per part.
    pub lines: Vec<WorkLine>,
    /// How many reconciliations succeeded.
    pub reconciled: u64,
    /// It accepts no more keys.
    pub shut_down: bool,
}

/// One part of the workqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkLine {
    /// The part.
    pub part: WorkPart,
    /// Its keys, as many as are shown.
    pub keys: Vec<WorkKey>,
    /// How many there are.
    pub count: usize,
}

/// One key in the workqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkKey {
    /// The key.
    pub key: Key,
    /// Its display name.
    pub name: String,
    /// Its object's mark.
    pub mark: Mark,
    /// How long it waits, or how often it failed.
    pub note: String,
    /// The current fact is about it.
    pub lit: bool,
}

/// The contents of the room.
#[must_use]
pub fn rows(view: &View) -> ProcessorRows {
    let output = &view.picture.output;
    let lines = if is_fast(view) { IN_SIGHT } else { LINES };
    let fact = current(view).map(|record| &record.fact);
    let printed = matches!(fact, Some(Fact::Handlers(HandlersFact::LinePrinted { .. })));
    let at = fact.and_then(lit_handler);
    ProcessorRows {
        handlers: (0..)
            .zip(&view.picture.handlers)
            // A removed handler is shown for one more fact; then its place is free.
            .filter(|(number, handler)| !handler.is_gone() || at == Some(*number))
            .map(|(number, handler)| handler_row(number, handler, at == Some(number)))
            .collect(),
        output: output
            .iter()
            .enumerate()
            .skip(output.len().saturating_sub(lines))
            .map(|(number, one)| LineRow {
                number,
                text: Arc::clone(&one.line),
                by_program: one.by == Printer::Program && !view.picture.handlers.is_empty(),
                lit: printed && number + 1 == output.len(),
            })
            .collect(),
        work: view.picture.work.as_ref().map(|work| work_rows(view, work)),
    }
}

/// Whether a live run goes faster than anybody reads: all recent facts are of the last second.
fn is_fast(view: &View) -> bool {
    let is_followed = |live: &LiveView| {
        let since = live.now.saturating_sub(FAST_MS);
        live.following && view.recent.first().is_some_and(|first| first.time > since)
    };
    view.recent.len() == RECENT && view.live.as_ref().is_some_and(is_followed)
}

/// The handler that a fact lights.
fn lit_handler(fact: &Fact) -> Option<u8> {
    if let Fact::Handlers(
        HandlersFact::NotificationQueued { handler, .. }
        | HandlersFact::NotificationSent { handler, .. }
        | HandlersFact::NotificationWithheld { handler, .. }
        | HandlersFact::NotificationTaken { handler, .. }
        | HandlersFact::NotificationHandled { handler }
        | HandlersFact::HandlerAdded { handler, .. }
        | HandlersFact::HandlerRemoved { handler }
        | HandlersFact::HandlerSynced { handler }
        | HandlersFact::SyncingSet { handler, .. }
        | HandlersFact::HandlerPanicked { handler, .. },
    ) = fact
    {
        Some(*handler)
    } else {
        None
    }
}

/// `OnAdd, default/web-0, rv 7`; of a tombstone its type, too.
fn notified(notification: &NotificationRef) -> String {
    let object = notification.object();
    let version = RvText::of(&object.rv).said();
    let got = if is_tombstone(object) { TOMBSTONE } else { "" };
    spoken::parts([notification.call(), &*object.key, &*version, got])
}

fn look(notification: &NotificationRef) -> NotificationLook {
    NotificationLook {
        hue: notification.delta_type(),
        tombstone: is_tombstone(notification.object()),
    }
}

fn handler_row(number: u8, handler: &HandlerRoom, lit: bool) -> HandlerRow {
    let of = |one: &Option<NotificationRef>| one.as_ref().map(look);
    let title = |one: &Option<NotificationRef>| one.as_ref().map(notified).unwrap_or_default();
    HandlerRow {
        number,
        name: Arc::clone(&handler.name),
        inline: handler.inline,
        sending: of(&handler.sending),
        ring: handler.pending.iter().take(RING).map(look).collect(),
        pending: handler.pending.len(),
        running: of(&handler.running),
        running_title: title(&handler.running),
        tombstone: handler
            .notifications
            .back()
            .is_some_and(|last| is_tombstone(last.object())),
        ring_titles: handler.pending.iter().take(RING).map(notified).collect(),
        sending_title: title(&handler.sending),
        synced: handler.synced,
        syncing: handler.syncing,
        resync_ms: handler.resync_ms,
        filter: Arc::clone(&handler.filter),
        leaving: handler.leaving,
        removed: handler.removed,
        panics: handler.panics,
        lit,
    }
}

fn work_rows(view: &View, work: &WorkRoom) -> WorkRows {
    let names = Names::of(view);
    let at = current(view).map(|record| &record.fact);
    let at = at.filter(|fact| matches!(fact, Fact::Work(_)));
    let at = at.and_then(Fact::key);
    let line = |part, keys: &mut dyn ExactSizeIterator<Item = (&Key, String)>| WorkLine {
        part,
        count: keys.len(),
        keys: keys
            .take(KEYS)
            .map(|(key, note)| WorkKey {
                key: key.clone(),
                name: names.get(key),
                mark: names.mark(&uid_of(&view.picture, key)),
                note,
                lit: at == Some(key),
            })
            .collect(),
    };
    let bare = |key| (key, String::new());
    let workers = work.workers.iter().zip(1..);
    let busy: Vec<_> = workers
        .filter_map(|(has, number)| Some((has.as_ref()?, format!("#{number}"))))
        .collect();
    let lines = vec![
        line(WorkPart::Queue, &mut work.queue.iter().map(bare)),
        line(WorkPart::Dirty, &mut work.dirty.keys().map(bare)),
        line(WorkPart::Processing, &mut busy.into_iter()),
        line(
            WorkPart::Delayed,
            &mut work.delayed.iter().map(|(key, at)| {
                let ms = at.saturating_sub(view.time);
                (key, crate::decimal::tenths(ms))
            }),
        ),
        line(
            WorkPart::Failures,
            &mut work
                .failures
                .iter()
                .map(|(key, count)| (key, format!("×{count}"))),
        ),
    ];
    WorkRows {
        lines,
        reconciled: work.reconciled,
        shut_down: work.shut_down,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, view};
    use super::*;
    use deltascope_cache::fact::{FactRecord, QueueFact, Shape, WorkFact};
    use deltascope_replay::picture::{Picture, Printed};

    const DELETED: NotificationLook = NotificationLook {
        hue: DeltaType::Deleted,
        tombstone: false,
    };

    #[test]
    fn a_ring_has_four_places_and_a_count() {
        let delete = |n: u32| NotificationRef::Delete {
            object: object("a", &n.to_string()),
        };
        let mut picture = Picture::default();
        picture.handlers.push(HandlerRoom {
            pending: (0..9).map(delete).collect(),
            sending: Some(delete(9)),
            ..HandlerRoom::default()
        });
        let rows = rows(&view(picture, Vec::new()));
        assert_eq!(rows.handlers[0].ring, [DELETED; RING]);
        assert_eq!(rows.handlers[0].ring_titles[3], "OnDelete, a, rv 3");
        assert_eq!(rows.handlers[0].sending_title, "OnDelete, a, rv 9");
        assert_eq!(rows.handlers[0].pending, 9);
        assert_eq!(rows.handlers[0].sending, Some(DELETED));
    }

    #[test]
    fn a_tombstone_is_told_apart_from_an_object() {
        let delete = |shape| {
            let mut object = object("a", "3");
            object.shape = shape;
            NotificationRef::Delete { object }
        };
        for (shape, look, title) in [
            (Shape::Object, DELETED, "OnDelete, a, rv 3"),
            (
                Shape::Tombstone,
                NotificationLook {
                    tombstone: true,
                    ..DELETED
                },
                "OnDelete, a, rv 3, DeletedFinalStateUnknown",
            ),
        ] {
            let mut picture = Picture::default();
            picture.handlers.push(HandlerRoom {
                pending: [delete(shape)].into(),
                running: Some(delete(shape)),
                notifications: [Arc::new(delete(shape))].into(),
                ..HandlerRoom::default()
            });
            let row = &rows(&view(picture.clone(), Vec::new())).handlers[0];
            assert_eq!((&*row.ring, row.running), (&[look][..], Some(look)));
            assert_eq!((&*row.ring_titles[0], &*row.running_title), (title, title));
            let is = shape == Shape::Tombstone;
            assert_eq!(row.tombstone, is);
            assert_eq!(row.load(Lang::En) == TOMBSTONE, is);
            // Once the call is over, it still says what it received.
            picture.handlers[0].running = None;
            let row = &rows(&view(picture, Vec::new())).handlers[0];
            let said = if is {
                "last: DeletedFinalStateUnknown"
            } else {
                "1 waiting"
            };
            assert_eq!(row.load(Lang::En), said);
        }
    }

    #[test]
    fn a_removed_handler_is_shown_until_it_has_stopped_and_for_one_more_fact() {
        let delete = NotificationRef::Delete {
            object: object("a", "1"),
        };
        let handlers = ["stays", "goes"].map(|name| HandlerRoom {
            name: name.into(),
            removed: name == "goes",
            running: Some(delete.clone()),
            ..HandlerRoom::default()
        });
        let mut picture = Picture {
            handlers: handlers.into(),
            ..Picture::default()
        };
        let count =
            |picture: &Picture, fact| rows(&view(picture.clone(), vec![fact])).handlers.len();
        assert_eq!(count(&picture, Fact::Queue(QueueFact::QueueEmpty)), 2);
        picture.handlers[1].running = None;
        assert_eq!(
            count(
                &picture,
                Fact::Handlers(HandlersFact::HandlerRemoved { handler: 1 })
            ),
            2
        );
        assert_eq!(count(&picture, Fact::Queue(QueueFact::QueueEmpty)), 1);
    }

    #[test]
    fn only_the_line_that_the_current_fact_printed_is_lit() {
        let mut picture = Picture::default();
        let printed = |line: &str| Printed::of(Printer::Handler(0), &line.into());
        picture.output.extend(["one", "two"].map(printed));
        let fact = Fact::Handlers(HandlersFact::LinePrinted {
            by: Printer::Handler(0),
            line: "two".into(),
        });
        let lit = |facts| -> Vec<bool> {
            let rows = rows(&view(picture.clone(), facts));
            rows.output.iter().map(|line| line.lit).collect()
        };
        assert_eq!(lit(vec![fact.clone()]), [false, true]);
        assert_eq!(
            lit(vec![fact, Fact::Queue(QueueFact::QueueEmpty)]),
            [false, false]
        );
    }

    #[test]
    fn of_a_run_that_nobody_can_read_only_the_lines_in_sight_are_drawn() {
        let mut picture = Picture::default();
        picture.output.extend(
            (0..LINES + 5).map(|n| Printed::of(Printer::Handler(0), &n.to_string().into())),
        );
        let mut view = view(picture, vec![Fact::Queue(QueueFact::QueueEmpty); RECENT]);
        let count = |view: &View| rows(view).output.len();
        assert_eq!(count(&view), LINES);
        let later = |record: &FactRecord| FactRecord {
            time: 1,
            ..record.clone()
        };
        view.recent = view.recent.iter().map(later).collect();
        let mut at = |now| {
            view.live = Some(LiveView {
                following: true,
                now,
                ..LiveView::default()
            });
            count(&view)
        };
        assert_eq!(at(FAST_MS + 1), LINES, "the first is a second ago");
        assert_eq!(at(FAST_MS), IN_SIGHT);
    }

    #[test]
    fn a_workqueue_shows_the_keys_of_each_part_with_their_delays() {
        let picture = Picture {
            work: Some(WorkRoom {
                queue: ["a/web".into()].into(),
                dirty: [("a/dns".into(), ()), ("a/web".into(), ())].into(),
                workers: vec![None, Some("a/dns".into())],
                delayed: [("a/db".into(), 2_500)].into(),
                failures: [("a/db".into(), 3)].into(),
                ..WorkRoom::default()
            }),
            ..Picture::default()
        };
        let fact = Fact::Work(WorkFact::WorkForgotten { key: "a/db".into() });
        let mut view = view(picture, vec![fact]);
        view.time = 1_200;
        let work = rows(&view).work.unwrap_or_else(|| unreachable!());
        let lines: Vec<String> = work
            .lines
            .iter()
            .map(|line| {
                let keys = line.keys.iter();
                let keys = keys.map(|key| format!("{} {} {}", key.name, key.note, key.lit));
                format!("{:?}: {}", line.part, keys.collect::<Vec<_>>().join(", "))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "Queue: web  false",
                "Dirty: dns  false, web  false",
                "Processing: dns #2 false",
                "Delayed: db 1.3 s true",
                "Failures: db ×3 true",
            ]
        );
    }
}
