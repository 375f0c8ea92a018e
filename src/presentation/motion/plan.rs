//! Fact → motion. Pure.
//!
//! One fact is one motion: light the source, move along a drawn path, settle and flash what has changed, rest. A
//! fact that moves nothing only flashes.

use std::sync::Arc;

use crate::anchor::{Anchor, BesidePart, HandlerPlace};
use crate::caption::short_rv;
use crate::rows::processor::RING;
use crate::rows::{hue_of, uid_of};
use crate::stage::{Panel, StateName, WorkPart};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Entry, EventType, Fact, FactRecord, HandlersFact, NotificationRef, ObjectRef, Printer,
    QueueFact, ReflectorFact, Rv, ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Delivery, Picture, ReflectorState};

/// How long the source is lit before anything moves, in ms at normal speed.
pub const LIGHT_MS: u32 = 150;
/// How long a token moves, in ms.
const MOVE_MS: u32 = 420;
/// How long a change stays lit, in ms.
pub const SETTLE_MS: u32 = 250;
/// The pause after it, in ms.
pub const REST_MS: u32 = 200;
/// The time for a minor fact, such as one of a lock, in ms.
pub(crate) const BRIEF_MS: u32 = 260;

/// The motion of one fact.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Motion {
    /// What moves, if anything does.
    pub flight: Option<Flight>,
    /// What is lit at the end; at once if nothing moves.
    pub flash: Vec<Anchor>,
    /// The time for all of it, in ms at normal speed.
    pub ms: u32,
}

/// A thing that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The start: the first of these anchors that is on the screen before the fact.
    pub from: Vec<Anchor>,
    /// The places that it passes on its way, each like `to`.
    pub via: Vec<Vec<Anchor>>,
    /// The end: the first of these anchors that is on the screen after the fact.
    pub to: Vec<Anchor>,
    /// Its look on the way.
    pub look: Look,
    /// What stays hidden until it lands.
    pub hides: Hides,
    /// The colour of the path.
    pub hue: Option<DeltaType>,
    /// Whether it leaves a ghost until the next fact; false if other things take its place.
    pub ghost: bool,
    /// When it begins to move, in ms at normal speed.
    pub at: u32,
    /// How long it moves, in ms at normal speed.
    pub ms: u32,
}

/// The queue's room as a whole.
const ROOM: Anchor = Anchor::Room(Panel::Queue);
/// The keys that wait in the workqueue.
const WAITING: WorkPart = WorkPart::Queue;
/// The keys that workers process.
const AT_WORKERS: WorkPart = WorkPart::Processing;
/// The keys that will be added.
const DELAYED: WorkPart = WorkPart::Delayed;

/// The look of a moving thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// An object: its mark, its name and its version.
    Pill(Token),
    /// A copy of the thing that has left, with what is in it.
    Crate,
    /// A text, such as a request.
    Label(String),
    /// So many further objects.
    Others(usize),
}

/// An object under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its key.
    pub key: Key,
    /// Its UID.
    pub uid: Arc<str>,
    /// Its version; empty if only the key moves.
    pub rv: Rv,
}

/// Which part of the target stays hidden while a thing moves towards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hides {
    /// Nothing: the target was there before.
    Nothing,
    /// The whole target.
    Target,
    /// The contents of the target.
    Inside,
}

impl Motion {
    /// A thing moves, and its target lights up.
    fn flies(flight: Flight) -> Self {
        Self {
            flash: flight.to.clone(),
            flight: Some(flight),
            ms: LIGHT_MS + MOVE_MS + SETTLE_MS + REST_MS,
        }
    }

    /// Nothing moves; these anchors light up.
    fn lights(flash: Vec<Anchor>) -> Self {
        Self {
            flight: None,
            flash,
            ms: SETTLE_MS + REST_MS,
        }
    }

    /// The same for a minor fact.
    fn brief(flash: Vec<Anchor>) -> Self {
        Self {
            flight: None,
            flash,
            ms: BRIEF_MS,
        }
    }
}

impl Flight {
    /// A flight without a colour and without a ghost.
    fn new(from: Vec<Anchor>, to: Vec<Anchor>, look: Look, hides: Hides) -> Self {
        Self {
            from,
            via: Vec::new(),
            to,
            look,
            hides,
            hue: None,
            ghost: false,
            at: LIGHT_MS,
            ms: MOVE_MS,
        }
    }

    /// When it lands, in ms at normal speed.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.at + self.ms
    }
}

/// An object as a pill.
fn pill(object: &ObjectRef) -> Look {
    Look::Pill(Token {
        key: object.key.clone(),
        uid: Arc::clone(&object.uid),
        rv: Arc::clone(&object.rv),
    })
}

/// A key as a pill.
fn key_pill(key: &Key, after: &Picture) -> Look {
    Look::Pill(Token {
        key: key.clone(),
        uid: uid_of(after, key),
        rv: Rv::default(),
    })
}

/// The motion of a fact; `after` is the picture with the fact applied.
#[must_use]
pub fn plan(record: &FactRecord, after: &Picture) -> Motion {
    let motion = match &record.fact {
        Fact::Server(fact) => server(fact, after),
        Fact::Reflector(fact) => reflector(fact, after),
        Fact::Queue(fact) => queue(fact, record.actor, after),
        Fact::Store(fact) => store(fact, after),
        Fact::Handlers(fact) => handlers(fact, record.actor, after),
        Fact::Work(fact) => work(fact, record.actor, after),
        // The facts that follow from it move something.
        Fact::Run(_) => None,
    };
    motion.unwrap_or_else(|| Motion::lights(Vec::new()))
}

/// The number of the line that the reflector received last.
fn last_received(picture: &Picture) -> Option<u64> {
    let mut lines = picture.api.stream.iter().rev();
    lines
        .find(|line| line.delivery == Delivery::Received)
        .map(|line| line.number)
}

fn server(fact: &ServerFact, after: &Picture) -> Option<Motion> {
    match fact {
        ServerFact::EventSent { event, object, .. } => {
            let number = after.api.stream.back()?.number;
            let flight = Flight::new(
                vec![Anchor::Object(object.key.clone())],
                vec![Anchor::Line(number)],
                of_event(*event, object),
                Hides::Target,
            );
            Some(Motion::flies(Flight {
                hue: Some(hue_of(*event)),
                ..flight
            }))
        }
        ServerFact::ObjectCreated { object, .. }
        | ServerFact::ObjectUpdated { object, .. }
        | ServerFact::ObjectDeleted { object, .. } => {
            let object = Anchor::Object(object.key.clone());
            Some(Motion::lights(vec![object, Anchor::ServerGauge]))
        }
        ServerFact::ListAnswered { .. } | ServerFact::WatchAccepted { .. } => {
            Some(Motion::lights(vec![Anchor::ServerGauge]))
        }
        ServerFact::WriteRefused { .. }
        | ServerFact::RefusalsAsked { .. }
        | ServerFact::HistoryCompacted { .. }
        | ServerFact::ObjectsLearned { .. }
        | ServerFact::RequestDeferred { .. }
        | ServerFact::ListRefused { .. }
        | ServerFact::WatchRefused { .. }
        | ServerFact::WatchDenied { .. }
        | ServerFact::ConnectionRefused
        | ServerFact::WatchClosed { .. } => None,
    }
}

fn reflector(fact: &ReflectorFact, after: &Picture) -> Option<Motion> {
    // Straight between the two rooms: these labels are wide, and would cover headings.
    let [requests, server] = [Anchor::Requests, Anchor::Door(Panel::Api)];
    let asks = |text: String| {
        let (from, to) = (vec![requests.clone()], vec![server.clone()]);
        Motion::flies(Flight::new(from, to, Look::Label(text), Hides::Nothing))
    };
    let gets = |text: String| {
        let (from, to) = (vec![server.clone()], vec![requests.clone()]);
        Motion::flies(Flight::new(from, to, Look::Label(text), Hides::Nothing))
    };
    let lights = |anchor| Motion::lights(vec![anchor]);
    Some(match fact {
        ReflectorFact::ListRequested { rv, .. } => asks(format!("LIST rv={rv:?}")),
        ReflectorFact::WatchRequested { rv, .. } => asks(format!("WATCH rv={rv:?}")),
        ReflectorFact::ListReceived { count, .. } => gets(format!("LIST · {count}")),
        ReflectorFact::PageReceived { count, .. } => gets(format!("… {count}")),
        ReflectorFact::EventReceived { event, object, .. } => {
            let line = last_received(after)?;
            let flight = Flight::new(
                vec![Anchor::Line(line)],
                vec![Anchor::Hand, state(after)],
                of_event(*event, object),
                Hides::Inside,
            );
            Motion::flies(Flight {
                hue: Some(hue_of(*event)),
                ..flight
            })
        }
        ReflectorFact::LastSyncMoved { .. } => lights(Anchor::LastSync),
        ReflectorFact::BackoffStarted { .. } => lights(Anchor::State(StateName::Backoff)),
        ReflectorFact::InitialEventKept { .. } | ReflectorFact::InitialEventsEnded { .. } => {
            lights(Anchor::Hand)
        }
        ReflectorFact::ListFailed { .. }
        | ReflectorFact::WatchFailed { .. }
        | ReflectorFact::StreamFellBack { .. } => lights(Anchor::Requests),
        ReflectorFact::InitialEventsEndMissed { .. }
        | ReflectorFact::ObjectRejected { .. }
        | ReflectorFact::VersionUnavailable { .. }
        | ReflectorFact::WatchErrorReported { .. }
        | ReflectorFact::ResyncDue { .. }
        | ReflectorFact::WatchEnded { .. }
        | ReflectorFact::ReflectorStopped { .. } => return None,
    })
}

fn queue(fact: &QueueFact, actor: Actor, after: &Picture) -> Option<Motion> {
    let arrives = |key, look, to: Vec<Anchor>, hue| {
        Motion::flies(Flight {
            hue,
            ghost: true,
            ..Flight::new(origin(actor, key, after), to, look, Hides::Target)
        })
    };
    let leaves = |from: Anchor| {
        let from = vec![from, Anchor::Door(Panel::Queue)];
        Motion::flies(Flight::new(from, taken(), Look::Crate, Hides::Inside))
    };
    Some(match fact {
        QueueFact::DeltaAppended {
            delta_type, object, ..
        } => {
            let key = &object.key;
            let top = after.queue.deltas.get(key)?.len().checked_sub(1)?;
            let to = vec![delta(key, top), Anchor::More, column(key, 0)];
            arrives(Some(key), pill(object), to, Some(*delta_type))
        }
        QueueFact::FifoItemSet { object, .. } => {
            let to = vec![delta(&object.key, 0), Anchor::More, ROOM];
            arrives(None, pill(object), to, None)
        }
        QueueFact::EntryAppended { entry, length } => {
            let to = vec![
                Anchor::Entry(length.saturating_sub(1) as usize),
                Anchor::More,
            ];
            let hue = entry.delta_type();
            let whole = || Look::Label(hue.as_str().to_owned());
            let look = match entry {
                Entry::Delta(_, object) => pill(object),
                Entry::ReplacedAll { objects, .. } => counted(hue, objects.len()),
                Entry::SyncAll => whole(),
                Entry::Bookmark { rv } => Look::Label(format!("{} {}", hue.as_str(), short_rv(rv))),
            };
            let key = match entry {
                Entry::Delta(_, object) => Some(&object.key),
                Entry::ReplacedAll { .. } | Entry::SyncAll | Entry::Bookmark { .. } => None,
            };
            arrives(key, look, to, Some(hue))
        }
        QueueFact::DeleteIgnored { key } => {
            let (from, look) = (origin(actor, Some(key), after), key_pill(key, after));
            Motion::flies(Flight {
                hue: Some(DeltaType::Deleted),
                ghost: true,
                ..Flight::new(from, vec![ROOM], look, Hides::Nothing)
            })
        }
        // The next column takes the place, so a trail begins at the queue's exit.
        QueueFact::KeyPopped { key, .. } => leaves(column(key, places(after, key))),
        // As a crate; the entries behind it move up.
        QueueFact::EntriesTaken { .. } => leaves(Anchor::Entry(0)),
        QueueFact::ListOpened { count, .. } => opened(DeltaType::ReplacedAll, *count as usize),
        QueueFact::ResyncOpened { count } => opened(DeltaType::SyncAll, *count as usize),
        QueueFact::KeyEnqueued { key, .. } => Motion::lights(vec![in_line(key, 0)]),
        QueueFact::FifoItemRemoved { key } => {
            let behind = places(after, key).saturating_sub(1);
            Motion::lights(vec![column(key, behind), in_line(key, behind)])
        }
        QueueFact::FifoKeySkipped { .. } => Motion::lights(vec![ROOM]),
        QueueFact::DeltasMerged { key, .. } | QueueFact::DeleteChecked { key, .. } => {
            Motion::lights(vec![column(key, 0), Anchor::Item(key.clone())])
        }
        QueueFact::LockTaken { lock, .. } | QueueFact::LockReleased { lock, .. } => {
            Motion::brief(vec![Anchor::Lock(*lock)])
        }
        QueueFact::LockAwaited { lock, .. } => Motion::lights(vec![Anchor::Lock(*lock)]),
        QueueFact::DeltaTaken { position, .. } => {
            Motion::lights(vec![Anchor::PoppedDelta(*position as usize)])
        }
        QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. } => {
            Motion::lights(vec![Anchor::LastPopped])
        }
        QueueFact::KeyFailed { .. }
        | QueueFact::TransformFailed { .. }
        | QueueFact::Transformed { .. }
        | QueueFact::Populated { .. }
        | QueueFact::DeletionDetected { .. }
        | QueueFact::ResyncSkipped { .. }
        | QueueFact::AlreadyPresent { .. }
        | QueueFact::FifoCleared
        | QueueFact::QueueEmpty
        | QueueFact::Synced
        | QueueFact::ProcessFailed { .. }
        | QueueFact::Requeued { .. }
        | QueueFact::ProcessWasSlow { .. }
        | QueueFact::QueueClosed => return None,
    })
}

fn store(fact: &StoreFact, after: &Picture) -> Option<Motion> {
    Some(match fact {
        StoreFact::ItemStored { object, .. } => {
            let popped = after.pop.processing.as_ref()?;
            let deltas = popped.deltas.iter();
            let position = if popped.entries.is_empty() {
                popped.position?
            } else {
                // All objects of a batch are looked up before any of them is written.
                deltas.clone().position(|(_, of)| of.key == object.key)?
            };
            let hue = deltas.map(|(delta_type, _)| *delta_type).nth(position);
            let from = vec![
                Anchor::PoppedDelta(position),
                Anchor::Slot,
                Anchor::Door(Panel::Queue),
            ];
            let to = vec![Anchor::Item(object.key.clone())];
            Motion::flies(Flight {
                hue,
                ..Flight::new(from, to, pill(object), Hides::Target)
            })
        }
        StoreFact::IndexEntryAdded { index, value, key } => Motion::flies(Flight::new(
            vec![
                Anchor::Item(key.clone()),
                Anchor::Slot,
                Anchor::Door(Panel::Queue),
            ],
            vec![Anchor::index_key(index, value, key)],
            key_pill(key, after),
            Hides::Target,
        )),
        StoreFact::IndexEntryRemoved {
            index, value, key, ..
        } => Motion::lights(vec![Anchor::index_key(index, value, key)]),
        StoreFact::ItemRemoved { key, .. } => Motion::lights(vec![Anchor::Item(key.clone())]),
        StoreFact::StoreVersionMoved { .. } => Motion::lights(vec![Anchor::StoreGauge]),
        StoreFact::StoreReplaced { .. }
        | StoreFact::IndexFailed { .. }
        | StoreFact::IndexersAdded { .. }
        | StoreFact::IndicesReset => return None,
    })
}

fn handlers(fact: &HandlersFact, actor: Actor, after: &Picture) -> Option<Motion> {
    let card = |handler: &u8| Anchor::Handler(*handler, HandlerPlace::Whole);
    let goes = |from: Vec<Anchor>, place, handler, notification: &NotificationRef| {
        let (to, look) = (within(handler, place), pill(notification.object()));
        Motion::flies(Flight {
            hue: Some(notification.delta_type()),
            ..Flight::new(from, to, look, Hides::Target)
        })
    };
    Some(match fact {
        HandlersFact::NotificationSent {
            handler,
            notification,
        } => {
            let from = if actor == Actor::Main {
                vec![Anchor::Item(notification.object().key.clone())]
            } else {
                popped()
            };
            goes(from, HandlerPlace::Sending, *handler, notification)
        }
        HandlersFact::NotificationQueued {
            handler,
            pending,
            notification,
        } => {
            let last = pending.saturating_sub(1) as usize;
            let mut from = vec![Anchor::Handler(*handler, HandlerPlace::Sending)];
            from.extend(popped());
            // What the ring has no place for joins `+N` behind its last one, which stays.
            let place = HandlerPlace::Pending(last.min(RING - 1));
            let mut motion = goes(from, place, *handler, notification);
            if last >= RING
                && let Some(flight) = &mut motion.flight
            {
                flight.hides = Hides::Nothing;
            }
            motion
        }
        HandlersFact::NotificationTaken {
            handler,
            notification,
        } => {
            let inline = after.handlers.get(usize::from(*handler))?.inline;
            let from = if inline {
                popped()
            } else {
                vec![Anchor::Handler(*handler, HandlerPlace::Pending(0))]
            };
            goes(from, HandlerPlace::Running, *handler, notification)
        }
        HandlersFact::LinePrinted { by, line } => {
            // Others may print later in the same scene.
            let to = vec![Anchor::OutputLine(after.output.len().saturating_sub(1))];
            let from = match by {
                Printer::Handler(handler) => within(*handler, HandlerPlace::Running),
                Printer::Beside(_) => vec![Anchor::Beside(BesidePart::Whole)],
                // It has no place.
                Printer::Program => return Some(Motion::lights(to)),
            };
            let look = Look::Label(line.to_string());
            Motion::flies(Flight::new(from, to, look, Hides::Target))
        }
        HandlersFact::NotificationHandled { handler }
        | HandlersFact::SyncingSet { handler, .. } => Motion::brief(vec![card(handler)]),
        HandlersFact::NotificationWithheld { handler, .. }
        | HandlersFact::HandlerPanicked { handler, .. }
        | HandlersFact::HandlerAdded { handler, .. }
        | HandlersFact::HandlerRemoved { handler }
        | HandlersFact::HandlerSynced { handler } => Motion::lights(vec![card(handler)]),
        HandlersFact::ObjectMutated { key, .. } | HandlersFact::MutationDetected { key } => {
            Motion::lights(vec![Anchor::Item(key.clone())])
        }
        HandlersFact::HandlerAsked { .. }
        | HandlersFact::RemovalAsked { .. }
        | HandlersFact::ResyncCheckSet { .. } => return None,
    })
}

fn work(fact: &WorkFact, actor: Actor, after: &Picture) -> Option<Motion> {
    let moves = |key: &Key, from: Vec<Anchor>, to| {
        let look = key_pill(key, after);
        Motion::flies(Flight::new(from, at_work(key, to), look, Hides::Target))
    };
    Some(match fact {
        WorkFact::WorkAdded {
            key,
            place: place @ (WorkPlace::Queue | WorkPlace::Dirty),
        } => {
            let from = match actor {
                Actor::Listener(handler) => within(handler, HandlerPlace::Running),
                Actor::ProcessLoop => popped(),
                _ => at_work(key, DELAYED),
            };
            let to = match place {
                WorkPlace::Dirty => WorkPart::Dirty,
                WorkPlace::Queue | WorkPlace::Duplicate => WAITING,
            };
            moves(key, from, to)
        }
        WorkFact::WorkTaken { key, .. } => moves(key, at_work(key, WAITING), AT_WORKERS),
        WorkFact::WorkDelayed { key, .. } => moves(key, at_work(key, AT_WORKERS), DELAYED),
        WorkFact::WorkDone { key, again: true } => moves(key, at_work(key, AT_WORKERS), WAITING),
        WorkFact::WorkDone { again: false, .. } | WorkFact::Reconciled { .. } => {
            Motion::lights(vec![Anchor::Work(AT_WORKERS, None)])
        }
        WorkFact::WorkAdded {
            place: WorkPlace::Duplicate,
            ..
        }
        | WorkFact::WorkForgotten { .. }
        | WorkFact::WorkShutDown { .. } => return None,
    })
}

/// A key in a part of the workqueue; if it is not shown there, the part.
fn at_work(key: &Key, part: WorkPart) -> Vec<Anchor> {
    let key = Anchor::Work(part, Some(key.clone()));
    vec![key, Anchor::Work(part, None)]
}

/// How many places a key has in the queue; more than one only in a FIFO.
fn places(after: &Picture, key: &Key) -> usize {
    let places = after.queue.keys.iter().filter(|at| *at == key);
    places.count()
}

fn column(key: &Key, behind: usize) -> Anchor {
    let key = key.clone();
    Anchor::Column { key, behind }
}

fn in_line(key: &Key, behind: usize) -> Anchor {
    let key = key.clone();
    Anchor::QueuedKey { key, behind }
}

fn delta(key: &Key, index: usize) -> Anchor {
    let key = key.clone();
    Anchor::Delta { key, index }
}

/// A place in a handler; if that is not shown, the handler.
fn within(handler: u8, place: HandlerPlace) -> Vec<Anchor> {
    let card = Anchor::Handler(handler, HandlerPlace::Whole);
    vec![Anchor::Handler(handler, place), card]
}

/// The targets of a popped item: Pop, or else the next room on its way.
fn taken() -> Vec<Anchor> {
    doors([Panel::Indexer, Panel::Processor])
}

/// The sources of a popped item: Pop, or else the room before it on the data's path.
fn popped() -> Vec<Anchor> {
    doors([Panel::Indexer, Panel::Queue])
}

fn doors(rooms: [Panel; 2]) -> Vec<Anchor> {
    let doors = rooms.into_iter().map(Anchor::Door);
    [Anchor::Slot].into_iter().chain(doors).collect()
}

/// A whole list is opened inside the store.
fn opened(delta_type: DeltaType, count: usize) -> Motion {
    let from = vec![Anchor::PoppedDelta(0), Anchor::Door(Panel::Queue)];
    let to = vec![Anchor::Room(Panel::Indexer)];
    Motion::flies(Flight {
        hue: Some(delta_type),
        ..Flight::new(from, to, counted(delta_type, count), Hides::Nothing)
    })
}

/// A number of objects.
fn counted(delta_type: DeltaType, count: usize) -> Look {
    Look::Label(format!("{} · {count}", delta_type.as_str()))
}

/// The object of an event; what has none is a text.
fn of_event(event: EventType, object: &ObjectRef) -> Look {
    if object.key.is_empty() {
        return Look::Label(format!("{} {}", event.as_str(), short_rv(&object.rv)));
    }
    pill(object)
}

/// The source of what enters the queue. A resync takes each object from the store, not from the server.
fn origin(actor: Actor, key: Option<&Key>, after: &Picture) -> Vec<Anchor> {
    if actor == Actor::Program {
        let call = after.api.stream.back().map(|line| line.number);
        return vec![Anchor::Call(call.unwrap_or_default())];
    }
    let known = key.filter(|_| actor == Actor::Resync);
    let known = known.map(|key| Anchor::Item(key.clone()));
    known
        .into_iter()
        .chain([Anchor::Hand, state(after)])
        .collect()
}

/// The reflector's state; the requests of a program without a reflector.
fn state(after: &Picture) -> Anchor {
    if !after.informer.has_queue() {
        return Anchor::Requests;
    }
    Anchor::State(match after.reflector.state {
        ReflectorState::List => StateName::List,
        ReflectorState::Stream => StateName::Stream,
        _ => StateName::Watch,
    })
}

#[cfg(test)]
mod tests;
