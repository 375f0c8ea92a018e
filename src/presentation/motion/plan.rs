//! Fact → motion. Pure.
//!
//! One fact is one motion: light the source, move on a drawn path, settle and flash what differs,
//! rest. A fact that moves nothing only flashes.

use crate::anchor::Anchor;
use crate::caption::short_rv;
use crate::decimal::decimals;
use crate::rows::queue::place_anchor;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Entry, EventType, Fact, FactRecord, HandlersFact, LockName, Notification, ObjectRef,
    QueueFact, ReflectorFact, ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Delivery, Picture, ReflectorState};

/// How long the source is lit before anything moves, in ms at normal speed.
pub const LIGHT_MS: u32 = 150;
/// How long a token travels.
pub const MOVE_MS: u32 = 420;
/// How long what differs stays lit.
pub const SETTLE_MS: u32 = 250;
/// The pause after it.
pub const REST_MS: u32 = 200;
/// A fact of the lock says little by itself.
const BRIEF_MS: u32 = 260;

/// What one fact looks like.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Motion {
    /// What travels, if anything does.
    pub flight: Option<Flight>,
    /// What is lit at the end, or at once where nothing travels.
    pub flash: Vec<String>,
    /// How long it takes in all, in ms at normal speed.
    pub ms: u32,
}

/// Something that travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Where from: the first of these anchors that is on the screen before the fact.
    pub from: Vec<String>,
    /// Where to: the first of these that is on the screen after it.
    pub to: Vec<String>,
    /// What it looks like on its way.
    pub look: Look,
    /// Whose colour the path has.
    pub hue: Option<DeltaType>,
    /// What has left leaves a ghost until the next step; not where others take its place.
    pub ghost: bool,
    /// Where the way begins once the screen has changed, if not at `from`.
    pub exit: Option<String>,
}

/// Where what does not fit into the queue's room goes; it is counted there, not shown.
pub const MORE: &str = "queue/more";

/// The newest line of the output: what is inside of it is found as its last line.
pub const LAST_LINE: &str = "output/last";

/// A room as the way into another one or out of it, where what happens between the two is in a room that
/// is not shown.
pub const DOOR: &str = "door/";

/// The keys that wait in the workqueue.
pub const WORK_QUEUE: &str = "work/queue";
/// The keys that workers have.
pub const WORK_PROCESSING: &str = "work/processing";
/// The keys that will be added.
pub const WORK_DELAYED: &str = "work/delayed";

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// A copy of what has arrived; that itself stays hidden until then.
    Arriving,
    /// A copy of what has left.
    Leaving,
    /// A label that is gone afterwards, and what stays hidden until it lands.
    Label(String, Hides),
}

/// What of the target stays hidden while something is on its way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hides {
    /// Nothing: it was there before.
    Nothing,
    /// All of it.
    Target,
    /// What is inside of it.
    Inside,
}

/// What a fact looks like; `after` is the picture with the fact in it.
#[must_use]
pub fn plan(record: &FactRecord, after: &Picture) -> Motion {
    let fact = &record.fact;
    if let Some(flight) = flight(record, after) {
        return Motion {
            flash: flight.to.clone(),
            flight: Some(flight),
            ms: LIGHT_MS + MOVE_MS + SETTLE_MS + REST_MS,
        };
    }
    Motion {
        flight: None,
        flash: flash(fact, after),
        ms: match fact {
            Fact::Queue(QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. })
            | Fact::Handlers(
                HandlersFact::SyncingSet { .. } | HandlersFact::NotificationHandled { .. },
            ) => BRIEF_MS,
            _ => SETTLE_MS + REST_MS,
        },
    }
}

/// Where the trail begins that is drawn when the screen was cut to this fact: what came over the
/// watch is traced back to its line on the stream.
#[must_use]
pub fn trail_from(record: &FactRecord, flight: &Flight, after: &Picture) -> Vec<String> {
    let mut from = flight.from.clone();
    from.extend(flight.exit.clone());
    let watched = after.reflector.state == ReflectorState::Watch;
    if record.actor == Actor::Reflector
        && watched
        && matches!(
            record.fact,
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                    | QueueFact::EntryAppended { .. }
                    | QueueFact::DeleteIgnored { .. }
            )
        )
        && let Some(line) = last_received(after)
    {
        from.insert(0, Anchor::Line(line).to_string());
    }
    from
}

/// The number of the line that the reflector took last.
fn last_received(picture: &Picture) -> Option<u64> {
    let mut lines = picture.api.stream.iter().rev();
    lines
        .find(|line| line.delivery == Delivery::Received)
        .map(|line| line.number)
}

fn flight(record: &FactRecord, after: &Picture) -> Option<Flight> {
    let one = |from: String, to: String, look, hue| {
        Some(Flight {
            from: vec![from],
            to: vec![to],
            look,
            hue,
            ghost: false,
            exit: None,
        })
    };
    match &record.fact {
        Fact::Server(ServerFact::EventSent { event, object, .. }) => {
            let number = after.api.stream.back()?.number;
            one(
                format!("api/object/{}", object.key),
                Anchor::Line(number).to_string(),
                Look::Label(event_text(*event, object), Hides::Target),
                hue_of(*event),
            )
        }
        Fact::Reflector(ReflectorFact::ListRequested { rv, .. }) => one(
            state(after),
            "api/gauge".to_owned(),
            Look::Label(format!("LIST rv={rv:?}"), Hides::Nothing),
            None,
        ),
        Fact::Reflector(ReflectorFact::ListReceived { count, .. }) => one(
            "api/gauge".to_owned(),
            state(after),
            Look::Label(format!("LIST · {count}"), Hides::Nothing),
            None,
        ),
        Fact::Reflector(ReflectorFact::PageReceived { count, .. }) => one(
            "api/gauge".to_owned(),
            state(after),
            Look::Label(format!("… {count}"), Hides::Nothing),
            None,
        ),
        Fact::Reflector(ReflectorFact::WatchRequested { rv, .. }) => one(
            state(after),
            "api/gauge".to_owned(),
            Look::Label(format!("WATCH rv={rv:?}"), Hides::Nothing),
            None,
        ),
        Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => {
            let line = last_received(after)?;
            Some(Flight {
                from: vec![Anchor::Line(line).to_string()],
                to: vec!["reflector/hand".to_owned(), state(after)],
                look: Look::Label(event_text(*event, object), Hides::Inside),
                hue: hue_of(*event),
                ghost: false,
                exit: None,
            })
        }
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type, object, ..
        }) => {
            let top = after.queue.deltas.get(&object.key)?.len().checked_sub(1)?;
            Some(Flight {
                from: origin(record.actor, after),
                to: vec![
                    format!("queue/delta/{}/{top}", object.key),
                    MORE.to_owned(),
                    format!("queue/column/{}", object.key),
                ],
                look: Look::Arriving,
                hue: Some(*delta_type),
                ghost: true,
                exit: None,
            })
        }
        Fact::Queue(QueueFact::FifoItemSet { object, .. }) => Some(Flight {
            from: origin(record.actor, after),
            to: vec![
                format!("queue/delta/{}/0", object.key),
                MORE.to_owned(),
                "room/queue".to_owned(),
            ],
            look: Look::Arriving,
            hue: None,
            ghost: true,
            exit: None,
        }),
        Fact::Queue(QueueFact::DeleteIgnored { key }) => Some(Flight {
            from: origin(record.actor, after),
            to: vec!["room/queue".to_owned()],
            look: Look::Label(format!("Deleted {}", short(key)), Hides::Nothing),
            hue: Some(DeltaType::Deleted),
            ghost: true,
            exit: None,
        }),
        // The next column takes the place, so the way begins at the queue's exit.
        Fact::Queue(QueueFact::KeyPopped { key, .. }) => Some(Flight {
            from: vec![place_anchor("queue/column/", key, places(after, key))],
            to: taken(),
            look: Look::Leaving,
            hue: None,
            ghost: false,
            exit: Some("room/queue".to_owned()),
        }),
        Fact::Queue(QueueFact::EntryAppended { entry, length }) => Some(Flight {
            from: origin(record.actor, after),
            to: vec![
                format!("queue/entry/{}", length.saturating_sub(1)),
                MORE.to_owned(),
            ],
            look: Look::Arriving,
            hue: Some(match entry {
                Entry::Delta(delta_type, _) => *delta_type,
                Entry::ReplacedAll { .. } => DeltaType::ReplacedAll,
                Entry::SyncAll => DeltaType::SyncAll,
                Entry::Bookmark { .. } => DeltaType::Bookmark,
            }),
            ghost: true,
            exit: None,
        }),
        // As a crate; what is behind it moves up.
        Fact::Queue(QueueFact::EntriesTaken { .. }) => Some(Flight {
            from: vec!["queue/entry/0".to_owned()],
            to: taken(),
            look: Look::Leaving,
            hue: None,
            ghost: false,
            exit: Some("room/queue".to_owned()),
        }),
        Fact::Queue(QueueFact::ListOpened { count, .. }) => opened(DeltaType::ReplacedAll, *count),
        Fact::Queue(QueueFact::ResyncOpened { count }) => opened(DeltaType::SyncAll, *count),
        Fact::Store(StoreFact::ItemStored { object, .. }) => {
            let popped = after.pop.processing.as_ref()?;
            let deltas = popped.deltas.iter();
            let position = if popped.entries.is_empty() {
                popped.position?
            } else {
                // A batch is looked up as a whole before it is written.
                deltas.clone().position(|(_, of)| of.key == object.key)?
            };
            let hue = deltas.map(|(delta_type, _)| *delta_type).nth(position);
            Some(Flight {
                from: vec![
                    format!("pop/delta/{position}"),
                    "pop/slot".to_owned(),
                    door("queue"),
                ],
                to: vec![format!("store/item/{}", object.key)],
                look: Look::Arriving,
                hue,
                ghost: false,
                exit: None,
            })
        }
        Fact::Store(StoreFact::IndexEntryAdded { index, value, key }) => Some(Flight {
            from: vec![
                format!("store/item/{key}"),
                "pop/slot".to_owned(),
                door("queue"),
            ],
            to: vec![Anchor::index_key(index, value, key).to_string()],
            look: Look::Label(short(key).to_owned(), Hides::Target),
            hue: None,
            ghost: false,
            exit: None,
        }),
        Fact::Handlers(HandlersFact::NotificationSent {
            handler,
            notification,
        }) => Some(Flight {
            from: if record.actor == Actor::Main {
                vec![format!("store/item/{}", notification.object().key)]
            } else {
                popped()
            },
            to: vec![
                format!("handler/{handler}/sending"),
                format!("handler/{handler}"),
            ],
            look: Look::Label(call(notification), Hides::Target),
            hue: None,
            ghost: false,
            exit: None,
        }),
        Fact::Work(WorkFact::WorkAdded {
            key,
            place: WorkPlace::Queue | WorkPlace::Dirty,
        }) => {
            let from = match record.actor {
                Actor::Listener(handler) => vec![
                    format!("handler/{handler}/running"),
                    format!("handler/{handler}"),
                ],
                Actor::ProcessLoop => popped(),
                _ => vec![WORK_DELAYED.to_owned()],
            };
            Some(Flight {
                from,
                to: vec![WORK_QUEUE.to_owned()],
                look: Look::Label(short(key).to_owned(), Hides::Nothing),
                hue: None,
                ghost: false,
                exit: None,
            })
        }
        Fact::Work(WorkFact::WorkTaken { key, .. }) => one(
            WORK_QUEUE.to_owned(),
            WORK_PROCESSING.to_owned(),
            Look::Label(short(key).to_owned(), Hides::Nothing),
            None,
        ),
        Fact::Work(WorkFact::WorkDelayed { key, .. }) => one(
            WORK_PROCESSING.to_owned(),
            WORK_DELAYED.to_owned(),
            Look::Label(short(key).to_owned(), Hides::Nothing),
            None,
        ),
        Fact::Work(WorkFact::WorkDone { key, again: true }) => one(
            WORK_PROCESSING.to_owned(),
            WORK_QUEUE.to_owned(),
            Look::Label(short(key).to_owned(), Hides::Nothing),
            None,
        ),
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler,
            pending,
            notification,
        }) => Some(Flight {
            from: [vec![format!("handler/{handler}/sending")], popped()].concat(),
            to: vec![
                format!("handler/{handler}/pending/{}", pending.saturating_sub(1)),
                format!("handler/{handler}"),
            ],
            look: Look::Label(call(notification), Hides::Target),
            hue: None,
            ghost: false,
            exit: None,
        }),
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) => {
            let inline = after.handlers.get(usize::from(*handler))?.inline;
            let from = if inline {
                popped()
            } else {
                vec![format!("handler/{handler}/pending/0")]
            };
            Some(Flight {
                from,
                to: vec![
                    format!("handler/{handler}/running"),
                    format!("handler/{handler}"),
                ],
                look: Look::Label(call(notification), Hides::Nothing),
                hue: None,
                ghost: false,
                exit: None,
            })
        }
        Fact::Handlers(HandlersFact::LinePrinted { handler, line }) => Some(Flight {
            from: vec![
                format!("handler/{handler}/running"),
                format!("handler/{handler}"),
            ],
            to: vec![LAST_LINE.to_owned()],
            look: Look::Label(line.to_string(), Hides::Target),
            hue: None,
            ghost: false,
            exit: None,
        }),
        _ => None,
    }
}

/// How many places a key has in line; more than one only in a FIFO.
fn places(after: &Picture, key: &Key) -> usize {
    let places = after.queue.keys.iter().filter(|at| *at == key);
    places.count()
}

fn door(room: &str) -> String {
    [DOOR, room].concat()
}

/// Where what was popped goes: to Pop, or else to the next room on its way.
fn taken() -> Vec<String> {
    vec!["pop/slot".to_owned(), door("indexer"), door("processor")]
}

/// Where what is popped comes from: from Pop, or else out of the room before it on the way of the data.
fn popped() -> Vec<String> {
    vec!["pop/slot".to_owned(), door("indexer"), door("queue")]
}

/// A whole list is opened inside the store.
fn opened(delta_type: DeltaType, count: u32) -> Option<Flight> {
    Some(Flight {
        from: vec!["pop/delta/0".to_owned(), door("queue")],
        to: vec!["room/indexer".to_owned()],
        look: Look::Label(format!("{} · {count}", delta_type.as_str()), Hides::Nothing),
        hue: Some(delta_type),
        ghost: false,
        exit: None,
    })
}

fn event_text(event: EventType, object: &ObjectRef) -> String {
    let name = short(&object.key);
    let rv = short_rv(&object.rv);
    format!("{} {name} {rv}", event.as_str())
}

fn call(notification: &Notification) -> String {
    let (name, object) = match notification {
        Notification::Add { object, .. } => ("OnAdd", object),
        Notification::Update { new, .. } => ("OnUpdate", new),
        Notification::Delete { object } => ("OnDelete", object),
    };
    format!("{name} {}", short(&object.key))
}

/// Where what comes into the queue comes from.
fn origin(actor: Actor, after: &Picture) -> Vec<String> {
    if actor == Actor::Program {
        let call = after.api.stream.back().map(|line| line.number);
        return vec![Anchor::Call(call.unwrap_or_default()).to_string()];
    }
    vec!["reflector/hand".to_owned(), state(after)]
}

/// Where the reflector is at work, or what a program asks for that has none.
fn state(after: &Picture) -> String {
    if !after.machinery.has_queue() {
        return "reflector/requests".to_owned();
    }
    let state = match after.reflector.state {
        ReflectorState::List => "list",
        ReflectorState::Stream => "stream",
        _ => "watch",
    };
    format!("reflector/state/{state}")
}

fn flash(fact: &Fact, after: &Picture) -> Vec<String> {
    match fact {
        Fact::Server(
            ServerFact::ObjectCreated { object, .. }
            | ServerFact::ObjectUpdated { object, .. }
            | ServerFact::ObjectDeleted { object, .. },
        ) => {
            vec![format!("api/object/{}", object.key), "api/gauge".to_owned()]
        }
        Fact::Server(ServerFact::ListAnswered { .. } | ServerFact::WatchAccepted { .. }) => {
            vec!["api/gauge".to_owned()]
        }
        Fact::Reflector(ReflectorFact::LastSyncMoved { .. }) => {
            vec!["reflector/lastsync".to_owned()]
        }
        Fact::Reflector(ReflectorFact::BackoffStarted { .. }) => {
            vec!["reflector/state/backoff".to_owned()]
        }
        Fact::Queue(QueueFact::KeyEnqueued { key, .. }) => vec![format!("queue/key/{key}")],
        Fact::Queue(QueueFact::FifoItemRemoved { key }) => {
            let behind = places(after, key).saturating_sub(1);
            let of = |prefix| place_anchor(prefix, key, behind);
            vec![of("queue/column/"), of("queue/key/")]
        }
        Fact::Queue(QueueFact::FifoKeySkipped { .. }) => vec!["room/queue".to_owned()],
        Fact::Queue(QueueFact::DeltasMerged { key, .. } | QueueFact::DeleteChecked { key, .. }) => {
            vec![format!("queue/column/{key}"), format!("store/item/{key}")]
        }
        Fact::Queue(
            QueueFact::LockTaken { lock, .. }
            | QueueFact::LockReleased { lock, .. }
            | QueueFact::LockAwaited { lock, .. },
        ) => vec![match lock {
            LockName::Queue => "pop/lock".to_owned(),
            LockName::BlockDeltas => "pop/block".to_owned(),
        }],
        Fact::Queue(QueueFact::DeltaTaken { position, .. }) => {
            vec![format!("pop/delta/{position}")]
        }
        Fact::Queue(QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. }) => {
            vec!["pop/last".to_owned()]
        }
        Fact::Store(StoreFact::IndexEntryRemoved {
            index, value, key, ..
        }) => vec![Anchor::index_key(index, value, key).to_string()],
        Fact::Store(StoreFact::ItemRemoved { key, .. })
        | Fact::Handlers(
            HandlersFact::ObjectMutated { key, .. } | HandlersFact::MutationDetected { key },
        ) => vec![format!("store/item/{key}")],
        Fact::Store(StoreFact::StoreVersionMoved { .. }) => vec!["store/gauge".to_owned()],
        Fact::Reflector(
            ReflectorFact::InitialEventKept { .. } | ReflectorFact::InitialEventsEnded { .. },
        ) => {
            vec!["reflector/hand".to_owned()]
        }
        Fact::Reflector(
            ReflectorFact::ListFailed { .. }
            | ReflectorFact::WatchFailed { .. }
            | ReflectorFact::StreamFellBack { .. },
        ) => {
            vec!["reflector/requests".to_owned()]
        }
        Fact::Handlers(
            HandlersFact::NotificationHandled { handler }
            | HandlersFact::NotificationWithheld { handler, .. }
            | HandlersFact::HandlerPanicked { handler, .. }
            | HandlersFact::HandlerAdded { handler, .. }
            | HandlersFact::HandlerRemoved { handler }
            | HandlersFact::HandlerSynced { handler }
            | HandlersFact::SyncingSet { handler, .. },
        ) => vec![format!("handler/{handler}")],
        Fact::Work(WorkFact::Reconciled { .. } | WorkFact::WorkDone { .. }) => {
            vec![WORK_PROCESSING.to_owned()]
        }
        _ => Vec::new(),
    }
}

fn hue_of(event: EventType) -> Option<DeltaType> {
    match event {
        EventType::Added => Some(DeltaType::Added),
        EventType::Modified => Some(DeltaType::Updated),
        EventType::Deleted => Some(DeltaType::Deleted),
        EventType::Bookmark => Some(DeltaType::Bookmark),
        EventType::Error => None,
    }
}

fn short(key: &Key) -> &str {
    key.rsplit('/').next().unwrap_or_default()
}

/// A place on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Point {
    /// From the left, in px.
    pub x: f64,
    /// From the top, in px.
    pub y: f64,
}

/// The path of a token: a cubic curve that leaves and arrives horizontally.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Start, two control points, end.
    pub points: [Point; 4],
}

impl Path {
    /// Between two places.
    #[must_use]
    pub fn between(from: Point, to: Point) -> Self {
        let bend = (to.x - from.x) * 0.5;
        Self {
            points: [
                from,
                Point {
                    x: from.x + bend,
                    y: from.y,
                },
                Point {
                    x: to.x - bend,
                    y: to.y,
                },
                to,
            ],
        }
    }

    /// Where it is at `t` between 0 and 1.
    #[must_use]
    pub fn at(&self, t: f64) -> Point {
        let [a, b, c, d] = self.points;
        let u = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
        };
        Point {
            x: mix(a.x, b.x, c.x, d.x),
            y: mix(a.y, b.y, c.y, d.y),
        }
    }

    /// As an SVG path.
    #[must_use]
    pub fn svg(&self) -> String {
        let [a, b, c, d] = self.points;
        decimals(
            "M# # C# # # # # #",
            &[a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y],
        )
    }
}

/// So far beside what it leaves a trail goes up or down, in px.
const BESIDE: f64 = 13.0;
/// A trail's bend before it arrives, in px.
const BEND: f64 = 60.0;

/// Where a trail goes up or down beside the room it leaves, so that it crosses little text; nothing
/// for places on about the same height.
#[must_use]
pub fn beside(from: Point, to: Point) -> Option<f64> {
    let climbs = (to.y - from.y).abs() >= 2.0 * BEND && to.x - from.x >= 4.0 * BESIDE;
    climbs.then_some(from.x + BESIDE)
}

/// A trail beside the room it leaves, where it has far to go up or down; else the usual curve.
#[must_use]
pub fn climbing(from: Point, to: Point) -> String {
    let Some(x) = beside(from, to) else {
        return Path::between(from, to).svg();
    };
    let (start, bend) = if to.y < from.y {
        (-BESIDE, BEND)
    } else {
        (BESIDE, -BEND)
    };
    decimals(
        "M# # Q# # # # V# Q# # # # H#",
        &[
            from.x,
            from.y,
            x,
            from.y,
            x,
            from.y + start,
            to.y + bend,
            x,
            to.y,
            x + BEND.min(to.x - x),
            to.y,
            to.x,
        ],
    )
}

/// Slow, fast, slow.
#[must_use]
pub fn ease(t: f64) -> f64 {
    if t < 0.5 {
        2.0 * t * t
    } else {
        1.0 - (2.0 - 2.0 * t).powi(2) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::caption::samples;
    use crate::rows::things::{self, Thing};
    use deltascope_cache::controller::Generation;
    use deltascope_cache::fact::{Cause, FactId};
    use deltascope_cache::step::Step;
    use deltascope_replay::lessons;
    use deltascope_replay::picture::ReflectorRoom;
    use deltascope_replay::timeline::Timeline;
    use deltascope_world::virtual_time::{Era, InformerKind};

    #[test]
    fn every_motion_of_every_lesson_goes_from_somewhere_to_somewhere_else() {
        for (id, _) in lessons::menu() {
            let Ok(lesson) = lessons::load(&id) else {
                panic!("{id} does not load")
            };
            let Ok(mut timeline) = Timeline::new(lesson.scenario) else {
                panic!("{id} does not run")
            };
            timeline.extend(1_000);
            let mut picture = timeline.picture(0);
            for record in timeline.all_facts().iter() {
                picture.apply(record);
                let motion = plan(record, &picture);
                assert!(motion.ms >= BRIEF_MS, "{record:?}");
                if let Some(flight) = motion.flight {
                    assert!(!flight.from.is_empty() && !flight.to.is_empty());
                    assert!(flight.from.iter().all(|from| !flight.to.contains(from)));
                }
            }
        }
    }

    /// What an anchor names, without the names and numbers of a run.
    fn kind(anchor: &str) -> String {
        let mut parts = anchor.split('/');
        let (room, what) = (parts.next().unwrap_or_default(), parts.next());
        match (room, what, parts.next()) {
            ("room" | "door" | "output", Some(what), _) => format!("{room}/{what}"),
            ("handler", _, Some(place)) => format!("handler/…/{place}"),
            ("handler", ..) => "handler/…".to_owned(),
            ("reflector", Some("state"), Some(state)) => format!("reflector/state/{state}"),
            (_, Some(what), Some(_)) => format!("{room}/{what}/…"),
            _ => anchor.to_owned(),
        }
    }

    fn kinds(all: &[String]) -> String {
        let all: Vec<String> = all.iter().map(|one| kind(one)).collect();
        all.join(" ")
    }

    /// What a motion shows: from where (and by which way out) to where, or what it lights.
    fn drawn(flight: Option<&Flight>, flash: &[String]) -> String {
        let Some(flight) = flight else {
            return kinds(flash);
        };
        let exit = flight.exit.as_ref().map(|exit| format!(" ({exit})"));
        let (from, to) = (kinds(&flight.from), kinds(&flight.to));
        format!("{from}{} → {to}", exit.unwrap_or_default())
    }

    /// Whether something of this picture has the anchor.
    fn is_there(anchor: &str, picture: &Picture, things: &[Thing]) -> bool {
        let key = anchor.strip_prefix("queue/column/");
        let key = key.and_then(|key| key.split('#').next());
        let queued = |key: &str| picture.queue.keys.iter().any(|at| **at == *key);
        things.iter().any(|thing| thing.anchor == anchor)
            || key.is_some_and(|key| queued(key) || picture.queue.deltas.contains_key(key))
    }

    /// Where each fact's motion begins, where it ends, and what it lights: all that the lessons' runs show.
    const MOTIONS: &[&str] = &[
        "BackoffStarted: reflector/state/backoff",
        "BesideRequested:",
        "BesideStored:",
        "Called:",
        "ConnectionRefused:",
        "DeleteChecked: queue/column/… store/item/…",
        "DeleteIgnored: reflector/hand reflector/state/watch → room/queue",
        "DeletionDetected:",
        "DeltaAppended: api/call/… → queue/delta/… queue/more queue/column/…",
        "DeltaAppended: reflector/hand reflector/state/list → queue/delta/… queue/more queue/column/…",
        "DeltaAppended: reflector/hand reflector/state/watch → queue/delta/… queue/more queue/column/…",
        "DeltaTaken: pop/delta/…",
        "EntriesProcessed: pop/last",
        "EntriesTaken: queue/entry/… (room/queue) → pop/slot door/indexer door/processor",
        "EntryAppended: reflector/hand reflector/state/list → queue/entry/… queue/more",
        "EntryAppended: reflector/hand reflector/state/watch → queue/entry/… queue/more",
        "EventReceived: api/stream/… → reflector/hand reflector/requests",
        "EventReceived: api/stream/… → reflector/hand reflector/state/stream",
        "EventReceived: api/stream/… → reflector/hand reflector/state/watch",
        "EventSent: api/object/… → api/stream/…",
        "HandlerSynced: handler/…",
        "HistoryCompacted:",
        "IndexEntryAdded: store/item/… pop/slot door/queue → store/index/…",
        "IndexEntryRemoved: store/index/…",
        "IndicesReset:",
        "InitialEventKept: reflector/hand",
        "InitialEventsEnded: reflector/hand",
        "ItemRemoved: store/item/…",
        "ItemStored:",
        "ItemStored: pop/delta/… pop/slot door/queue → store/item/…",
        "KeyEnqueued: queue/key/…",
        "KeyPopped: queue/column/… (room/queue) → pop/slot door/indexer door/processor",
        "LastSyncMoved: reflector/lastsync",
        "LinePrinted: handler/…/running handler/… → output/last",
        "ListAnswered: api/gauge",
        "ListOpened: pop/delta/… door/queue → room/indexer",
        "ListReceived: api/gauge → reflector/requests",
        "ListReceived: api/gauge → reflector/state/list",
        "ListRefused:",
        "ListRequested: reflector/requests → api/gauge",
        "ListRequested: reflector/state/list → api/gauge",
        "LockAwaited: pop/lock",
        "LockReleased: pop/block",
        "LockReleased: pop/lock",
        "LockTaken: pop/block",
        "LockTaken: pop/lock",
        "ModeSet:",
        "NotificationHandled: handler/…",
        "NotificationQueued: handler/…/sending pop/slot door/indexer door/queue → handler/…/pending handler/…",
        "NotificationSent: pop/slot door/indexer door/queue → handler/…/sending handler/…",
        "NotificationTaken: handler/…/pending → handler/…/running handler/…",
        "NotificationTaken: pop/slot door/indexer door/queue → handler/…/running handler/…",
        "ObjectCreated: api/object/… api/gauge",
        "ObjectDeleted: api/object/… api/gauge",
        "ObjectUpdated: api/object/… api/gauge",
        "PopAsked:",
        "Populated:",
        "ProcessWasSlow:",
        "Processed: pop/last",
        "Reconciled: work/processing",
        "ReflectorStopped:",
        "StoreReplaced:",
        "StoreVersionMoved: store/gauge",
        "Synced:",
        "WatchAccepted: api/gauge",
        "WatchClosed:",
        "WatchEnded:",
        "WatchErrorReported:",
        "WatchFailed: reflector/requests",
        "WatchRefused:",
        "WatchRequested: reflector/requests → api/gauge",
        "WatchRequested: reflector/state/stream → api/gauge",
        "WatchRequested: reflector/state/watch → api/gauge",
        "WorkAdded:",
        "WorkAdded: handler/…/running handler/… → work/queue",
        "WorkAdded: work/delayed → work/queue",
        "WorkDelayed: work/processing → work/delayed",
        "WorkDone: work/processing",
        "WorkDone: work/processing → work/queue",
        "WorkForgotten:",
        "WorkTaken: work/queue → work/processing",
    ];

    #[test]
    fn a_motion_goes_from_where_a_thing_was_to_where_it_is() {
        let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let (mut wrong, mut trails) = (BTreeSet::new(), BTreeSet::new());
        for (id, _) in lessons::menu() {
            let Ok(lesson) = lessons::load(&id) else {
                panic!("{id} does not load")
            };
            let informer = lesson.scenario.settings.machinery;
            let informer = matches!(informer, InformerKind::Plain | InformerKind::Shared);
            for generation in Generation::ALL {
                let mut scenario = lesson.scenario.clone();
                if informer {
                    scenario.settings.era = Era(generation);
                }
                let Ok(mut timeline) = Timeline::new(scenario) else {
                    panic!("{id} does not run")
                };
                timeline.extend(600);
                let mut before = timeline.picture(0);
                let mut was = things::things(&before, &Default::default(), None);
                for record in timeline.facts(0..600).iter() {
                    let mut after = before.clone();
                    after.apply(record);
                    let Motion { flight, flash, .. } = plan(record, &after);
                    let name = record.fact.name();
                    let of = drawn(flight.as_ref(), &flash);
                    seen.entry(name).or_default().insert(of);
                    let is = things::things(&after, &Default::default(), None);
                    if let Some(flight) = &flight {
                        let trail = trail_from(record, flight, &after);
                        if trail.first() != flight.from.first() {
                            trails.insert((name, kind(&trail[0])));
                        }
                        for (anchors, begins) in [(&flight.from, true), (&flight.to, false)] {
                            // The first place, where it is one that a thing has for itself, is there.
                            let first = anchors.first().filter(|one| kind(one).contains('…'));
                            let there = first.is_none_or(|first| {
                                begins && is_there(first, &before, &was)
                                    || is_there(first, &after, &is)
                            });
                            if !there {
                                wrong.insert((name, kinds(anchors), begins));
                            }
                        }
                    }
                    (before, was) = (after, is);
                }
            }
        }
        let seen: Vec<String> = seen
            .into_iter()
            .flat_map(|(name, all)| all.into_iter().map(move |of| format!("{name}: {of}")))
            .map(|line| line.trim_end().to_owned())
            .collect();
        assert_eq!(seen, MOTIONS);
        let line = || "api/stream/…".to_owned();
        let traced = ["DeltaAppended", "DeleteIgnored", "EntryAppended"].map(|name| (name, line()));
        assert_eq!(trails, traced.into());
        let but = [
            // A bookmark is of no object, and of a recording's server little is known.
            ("EventSent", "api/object/…", true),
            // A program prints, too.
            ("LinePrinted", "handler/…/running handler/…", true),
            // A whole list is one token.
            ("ListOpened", "pop/delta/… door/queue", true),
        ];
        let but = but.map(|(name, from, begins)| (name, from.to_owned(), begins));
        assert_eq!(wrong, but.into());
    }

    /// The same of all that no lesson shows, on a stage where nothing has happened.
    #[test]
    fn what_no_lesson_shows_has_its_place_too() {
        let plain = [
            "DeltasMerged: queue/column/… store/item/…",
            "FifoItemRemoved: queue/column/… queue/key/…",
            "FifoItemSet: reflector/hand reflector/state/list → queue/delta/… queue/more room/queue",
            "FifoKeySkipped: room/queue",
            "HandlerAdded: handler/…",
            "HandlerPanicked: handler/…",
            "HandlerRemoved: handler/…",
            "ListFailed: reflector/requests",
            "MutationDetected: store/item/…",
            "NotificationWithheld: handler/…",
            "ObjectMutated: store/item/…",
            "PageReceived: api/gauge → reflector/state/list",
            "ResyncOpened: pop/delta/… door/queue → room/indexer",
            "StreamFellBack: reflector/requests",
            "SyncingSet: handler/…",
        ];
        let by_others = [
            (
                Actor::Main,
                "NotificationSent: store/item/… → handler/…/sending handler/…",
            ),
            (
                Actor::ProcessLoop,
                "WorkAdded: pop/slot door/indexer door/queue → work/queue",
            ),
            (
                Actor::Program,
                "FifoItemSet: api/call/… → queue/delta/… queue/more room/queue",
            ),
        ];
        let picture = Picture {
            reflector: ReflectorRoom {
                state: ReflectorState::List,
                ..ReflectorRoom::default()
            },
            ..Picture::default()
        };
        let said = |fact: &Fact, actor| {
            let record = FactRecord {
                id: FactId(0),
                time: 0,
                actor,
                cause: Cause::Start,
                step: Step::PopLock,
                fact: fact.clone(),
            };
            let Motion { flight, flash, .. } = plan(&record, &picture);
            format!("{}: {}", fact.name(), drawn(flight.as_ref(), &flash))
        };
        let samples = samples();
        let shown = |fact: &Fact| {
            let is_of = |line: &&str| line.split(':').next() == Some(fact.name());
            MOTIONS.iter().any(is_of)
        };
        let others = samples.iter().filter(|fact| !shown(fact));
        let lit = others.map(|fact| said(fact, Actor::Reflector));
        let lit: BTreeSet<String> = lit.filter(|line| !line.ends_with(": ")).collect();
        assert_eq!(lit, plain.map(str::to_owned).into());
        for (actor, line) in by_others {
            let is_of = |fact: &&Fact| line.split(':').next() == Some(fact.name());
            let fact = samples.iter().find(is_of);
            assert_eq!(fact.map(|fact| said(fact, actor)).as_deref(), Some(line));
        }
    }

    #[test]
    fn a_trail_goes_up_and_down_beside_what_it_leaves() {
        let at = |y| Point { x: 10.0, y };
        let to = Point { x: 200.0, y: 300.0 };
        for (from, expected) in [
            (
                at(600.0),
                "M10.00 600.00 Q23.00 600.00 23.00 587.00 V360.00 Q23.00 300.00 83.00 300.00 H200.00",
            ),
            (
                at(0.0),
                "M10.00 0.00 Q23.00 0.00 23.00 13.00 V240.00 Q23.00 300.00 83.00 300.00 H200.00",
            ),
        ] {
            assert_eq!(climbing(from, to), expected);
        }
        assert_eq!(beside(at(290.0), to), None);
    }

    #[test]
    fn a_path_begins_and_ends_where_it_should() {
        let (from, to) = (Point { x: 3.0, y: 9.0 }, Point { x: 90.0, y: 1.0 });
        let path = Path::between(from, to);
        assert_eq!((path.at(0.0), path.at(1.0)), (from, to));
        assert_eq!((ease(0.0), ease(0.5), ease(1.0)), (0.0, 0.5, 1.0));
    }
}
