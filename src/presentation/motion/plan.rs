//! Fact → motion. Pure.
//!
//! One fact is one motion: light the source, move along a drawn path, settle and flash what has changed, rest. A
//! fact that moves nothing only flashes.

use crate::anchor::{Anchor, HandlerPlace};
use crate::caption::short_rv;
use crate::stage::{Panel, StateName, WorkPart};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, EventType, Fact, FactRecord, HandlersFact, NotificationRef, ObjectRef, QueueFact,
    ReflectorFact, ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Delivery, Picture, ReflectorState};

/// How long the source is lit before anything moves, in ms at normal speed.
pub const LIGHT_MS: u32 = 150;
/// How long a token moves, in ms.
pub const MOVE_MS: u32 = 420;
/// How long a change stays lit, in ms.
pub const SETTLE_MS: u32 = 250;
/// The pause after it, in ms.
pub const REST_MS: u32 = 200;
/// The time for a minor fact, such as one of a lock, in ms.
const BRIEF_MS: u32 = 260;

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
    /// The end: the first of these anchors that is on the screen after the fact.
    pub to: Vec<Anchor>,
    /// Its look on the way.
    pub look: Look,
    /// The colour of the path.
    pub hue: Option<DeltaType>,
    /// Whether it leaves a ghost until the next fact; false if other things take its place.
    pub ghost: bool,
    /// The start of the path once the screen has changed, if not `from`.
    pub exit: Option<Anchor>,
}

/// The queue's room as a whole.
const ROOM: Anchor = Anchor::Room(Panel::Queue);
/// The keys that wait in the workqueue.
const WAITING: Anchor = Anchor::Work(WorkPart::Queue, None);
/// The keys that workers process.
const AT_WORKERS: Anchor = Anchor::Work(WorkPart::Processing, None);
/// The keys that will be added.
const DELAYED: Anchor = Anchor::Work(WorkPart::Delayed, None);

/// The look of a moving thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// A copy of the thing that has arrived, which itself stays hidden until the copy lands.
    Arriving,
    /// A copy of the thing that has left.
    Leaving,
    /// A label that disappears at the end, and what stays hidden until it lands.
    Label(String, Hides),
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
    fn new(from: Vec<Anchor>, to: Vec<Anchor>, look: Look) -> Self {
        Self {
            from,
            to,
            look,
            hue: None,
            ghost: false,
            exit: None,
        }
    }

    /// A flight from one place to another.
    fn one(from: Anchor, to: Anchor, look: Look) -> Self {
        Self::new(vec![from], vec![to], look)
    }
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
        Fact::Work(fact) => work(fact, record.actor),
        // The facts that follow from it move something.
        Fact::Run(_) => None,
    };
    motion.unwrap_or_else(|| Motion::lights(Vec::new()))
}

/// The start of the trail that is drawn after a cut to this fact. A thing that came over the watch is traced back
/// to its line on the stream.
#[must_use]
pub fn trail_from(record: &FactRecord, flight: &Flight, after: &Picture) -> Vec<Anchor> {
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
        from.insert(0, Anchor::Line(line));
    }
    from
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
            let flight = Flight::one(
                Anchor::Object(object.key.clone()),
                Anchor::Line(number),
                Look::Label(event_text(*event, object), Hides::Target),
            );
            Some(Motion::flies(Flight {
                hue: hue_of(*event),
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
    let asks = |text: String| {
        let look = Look::Label(text, Hides::Nothing);
        Motion::flies(Flight::one(state(after), Anchor::ServerGauge, look))
    };
    let gets = |text: String| {
        let look = Look::Label(text, Hides::Nothing);
        Motion::flies(Flight::one(Anchor::ServerGauge, state(after), look))
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
                Look::Label(event_text(*event, object), Hides::Inside),
            );
            Motion::flies(Flight {
                hue: hue_of(*event),
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
    let arrives = |to: Vec<Anchor>, hue| {
        Motion::flies(Flight {
            hue,
            ghost: true,
            ..Flight::new(origin(actor, after), to, Look::Arriving)
        })
    };
    let leaves = |from: Anchor| {
        Motion::flies(Flight {
            exit: Some(ROOM),
            ..Flight::new(vec![from], taken(), Look::Leaving)
        })
    };
    Some(match fact {
        QueueFact::DeltaAppended {
            delta_type, object, ..
        } => {
            let key = &object.key;
            let top = after.queue.deltas.get(key)?.len().checked_sub(1)?;
            let to = vec![delta(key, top), Anchor::More, column(key, 0)];
            arrives(to, Some(*delta_type))
        }
        QueueFact::FifoItemSet { object, .. } => {
            let to = vec![delta(&object.key, 0), Anchor::More, ROOM];
            arrives(to, None)
        }
        QueueFact::EntryAppended { entry, length } => {
            let to = vec![
                Anchor::Entry(length.saturating_sub(1) as usize),
                Anchor::More,
            ];
            arrives(to, Some(entry.delta_type()))
        }
        QueueFact::DeleteIgnored { key } => {
            let look = Look::Label(format!("Deleted {}", short(key)), Hides::Nothing);
            Motion::flies(Flight {
                hue: Some(DeltaType::Deleted),
                ghost: true,
                ..Flight::new(origin(actor, after), vec![ROOM], look)
            })
        }
        // The next column takes the place, so the way begins at the queue's exit.
        QueueFact::KeyPopped { key, .. } => leaves(column(key, places(after, key))),
        // As a crate; the entries behind it move up.
        QueueFact::EntriesTaken { .. } => leaves(Anchor::Entry(0)),
        QueueFact::ListOpened { count, .. } => opened(DeltaType::ReplacedAll, *count),
        QueueFact::ResyncOpened { count } => opened(DeltaType::SyncAll, *count),
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
                ..Flight::new(from, to, Look::Arriving)
            })
        }
        StoreFact::IndexEntryAdded { index, value, key } => Motion::flies(Flight::new(
            vec![
                Anchor::Item(key.clone()),
                Anchor::Slot,
                Anchor::Door(Panel::Queue),
            ],
            vec![Anchor::index_key(index, value, key)],
            Look::Label(short(key).to_owned(), Hides::Target),
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
            let look = Look::Label(call(notification), Hides::Target);
            Motion::flies(Flight::new(
                from,
                within(*handler, HandlerPlace::Sending),
                look,
            ))
        }
        HandlersFact::NotificationQueued {
            handler,
            pending,
            notification,
        } => {
            let place = HandlerPlace::Pending(pending.saturating_sub(1) as usize);
            let mut from = vec![Anchor::Handler(*handler, HandlerPlace::Sending)];
            from.extend(popped());
            Motion::flies(Flight::new(
                from,
                within(*handler, place),
                Look::Label(call(notification), Hides::Target),
            ))
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
            let look = Look::Label(call(notification), Hides::Nothing);
            Motion::flies(Flight::new(
                from,
                within(*handler, HandlerPlace::Running),
                look,
            ))
        }
        HandlersFact::LinePrinted { handler, line } => Motion::flies(Flight::new(
            within(*handler, HandlerPlace::Running),
            vec![Anchor::LastLine],
            Look::Label(line.to_string(), Hides::Target),
        )),
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

fn work(fact: &WorkFact, actor: Actor) -> Option<Motion> {
    let moves = |key: &Key, from: Vec<Anchor>, to: Anchor| {
        let look = Look::Label(short(key).to_owned(), Hides::Nothing);
        Motion::flies(Flight::new(from, vec![to], look))
    };
    Some(match fact {
        WorkFact::WorkAdded {
            key,
            place: WorkPlace::Queue | WorkPlace::Dirty,
        } => {
            let from = match actor {
                Actor::Listener(handler) => within(handler, HandlerPlace::Running),
                Actor::ProcessLoop => popped(),
                _ => vec![DELAYED],
            };
            moves(key, from, WAITING)
        }
        WorkFact::WorkTaken { key, .. } => moves(key, vec![WAITING], AT_WORKERS),
        WorkFact::WorkDelayed { key, .. } => moves(key, vec![AT_WORKERS], DELAYED),
        WorkFact::WorkDone { key, again: true } => moves(key, vec![AT_WORKERS], WAITING),
        WorkFact::WorkDone { again: false, .. } | WorkFact::Reconciled { .. } => {
            Motion::lights(vec![AT_WORKERS])
        }
        WorkFact::WorkAdded {
            place: WorkPlace::Duplicate,
            ..
        }
        | WorkFact::WorkForgotten { .. }
        | WorkFact::WorkShutDown { .. } => return None,
    })
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
fn opened(delta_type: DeltaType, count: u32) -> Motion {
    let from = vec![Anchor::PoppedDelta(0), Anchor::Door(Panel::Queue)];
    let look = Look::Label(format!("{} · {count}", delta_type.as_str()), Hides::Nothing);
    Motion::flies(Flight {
        hue: Some(delta_type),
        ..Flight::new(from, vec![Anchor::Room(Panel::Indexer)], look)
    })
}

fn event_text(event: EventType, object: &ObjectRef) -> String {
    let name = short(&object.key);
    let rv = short_rv(&object.rv);
    format!("{} {name} {rv}", event.as_str())
}

fn call(notification: &NotificationRef) -> String {
    let (name, object) = match notification {
        NotificationRef::Add { object, .. } => ("OnAdd", object),
        NotificationRef::Update { new, .. } => ("OnUpdate", new),
        NotificationRef::Delete { object } => ("OnDelete", object),
    };
    format!("{name} {}", short(&object.key))
}

/// The source of what enters the queue.
fn origin(actor: Actor, after: &Picture) -> Vec<Anchor> {
    if actor == Actor::Program {
        let call = after.api.stream.back().map(|line| line.number);
        return vec![Anchor::Call(call.unwrap_or_default())];
    }
    vec![Anchor::Hand, state(after)]
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

#[cfg(test)]
mod tests;
