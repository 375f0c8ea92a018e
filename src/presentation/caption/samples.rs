//! One fact of every kind.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::Reason;
use deltascope_cache::fact::{
    Actor, BackoffReason, Body, Entry, EventType, Fact, HandlersFact, Known, ListAgain, LockName,
    NotificationRef, ObjectRef, ProcessMode, QueueFact, ReflectorFact, Refusal, RunFact,
    ServerFact, Shape, StoreFact, Verb, WatchEnd, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;

/// One fact of every kind, for tests that must cover all kinds.
pub(crate) fn samples() -> Vec<Fact> {
    let object = |rv: &str| ObjectRef {
        key: Key::from("default/web-1"),
        shape: Shape::Object,
        rv: rv.into(),
        uid: "u1".into(),
    };
    let key = Key::from("default/web-1");
    let deltas = vec![
        (DeltaType::Added, object("5")),
        (DeltaType::Updated, object("7")),
    ];
    vec![
        Fact::Server(ServerFact::ObjectCreated {
            object: object("5"),
            body: Body::default(),
        }),
        Fact::Server(ServerFact::ObjectUpdated {
            object: object("7"),
            body: Body::default(),
            old_rv: "5".into(),
        }),
        Fact::Server(ServerFact::ObjectDeleted {
            object: object("12"),
            old_rv: "7".into(),
        }),
        Fact::Server(ServerFact::WriteRefused {
            verb: Verb::Create,
            key: key.clone(),
            refusal: Refusal::AlreadyExists,
        }),
        Fact::Server(ServerFact::RefusalsAsked {
            watch: false,
            kind: ApiErrorKind::Expired,
            times: 1,
        }),
        Fact::Server(ServerFact::HistoryCompacted {
            oldest: "10".into(),
        }),
        Fact::Server(ServerFact::ListAnswered {
            rv: "4".into(),
            count: 3,
        }),
        Fact::Server(ServerFact::ObjectsLearned {
            rv: "4".into(),
            objects: [object("5")].into(),
        }),
        Fact::Server(ServerFact::RequestDeferred {
            code: 429,
            after_ms: 1_000,
            attempt: 1,
        }),
        Fact::Server(ServerFact::ListRefused {
            code: 403,
            reason: Reason::Text("Forbidden".into()),
        }),
        Fact::Server(ServerFact::WatchAccepted { rv: "4".into() }),
        Fact::Server(ServerFact::ConnectionRefused),
        Fact::Server(ServerFact::WatchRefused {
            rv: "4".into(),
            oldest: "10".into(),
        }),
        Fact::Server(ServerFact::EventSent {
            event: EventType::Deleted,
            object: object("12"),
            ends_list: false,
        }),
        Fact::Server(ServerFact::WatchClosed {
            end: WatchEnd::Cut,
            lost: 2,
        }),
        Fact::Reflector(ReflectorFact::ListRequested {
            rv: "0".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        }),
        Fact::Reflector(ReflectorFact::ListReceived {
            rv: "4".into(),
            count: 3,
        }),
        Fact::Reflector(ReflectorFact::WatchRequested {
            rv: "4".into(),
            initial_events: false,
        }),
        Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Deleted,
            object: object("12"),
            ends_list: false,
        }),
        Fact::Reflector(ReflectorFact::LastSyncMoved {
            from: "11".into(),
            to: "12".into(),
        }),
        Fact::Reflector(ReflectorFact::WatchEnded {
            relist: true,
            code: 0,
        }),
        Fact::Reflector(ReflectorFact::BackoffStarted {
            ms: 800,
            reason: BackoffReason::WatchEnded,
        }),
        Fact::Reflector(ReflectorFact::ReflectorStopped {
            reason: Reason::RecordingEnds,
        }),
        Fact::Run(RunFact::Called {
            delta_type: DeltaType::Updated,
            object: object("7"),
        }),
        Fact::Run(RunFact::ModeSet {
            mode: ProcessMode::Held,
        }),
        Fact::Run(RunFact::PopAsked { asked: 1 }),
        Fact::Run(RunFact::KnownObjectsSet { on: false }),
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::Reflector,
        }),
        Fact::Queue(QueueFact::LockAwaited {
            lock: LockName::Queue,
            by: Actor::Reflector,
            holder: Actor::ProcessLoop,
        }),
        Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }),
        Fact::Queue(QueueFact::KeyFailed {
            error: "object has no meta".into(),
        }),
        Fact::Queue(QueueFact::TransformFailed {
            key: key.clone(),
            error: "poison".into(),
        }),
        Fact::Queue(QueueFact::Transformed {
            from: object("5"),
            to: object("5"),
        }),
        Fact::Queue(QueueFact::Populated { initial: 3 }),
        Fact::Queue(QueueFact::DeleteChecked {
            key: key.clone(),
            known: Some(Known::Yes("2".into())),
            pending: false,
        }),
        Fact::Queue(QueueFact::DeleteIgnored { key: key.clone() }),
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Deleted,
            object: object("12"),
            depth: 1,
        }),
        Fact::Queue(QueueFact::DeltasMerged {
            key: key.clone(),
            kept: object("12"),
            kept_older: true,
        }),
        Fact::Queue(QueueFact::KeyEnqueued {
            key: key.clone(),
            length: 3,
        }),
        Fact::Queue(QueueFact::DeletionDetected { key: key.clone() }),
        Fact::Queue(QueueFact::ResyncSkipped { key: key.clone() }),
        Fact::Queue(QueueFact::AlreadyPresent { key: key.clone() }),
        Fact::Queue(QueueFact::FifoItemSet {
            object: object("5"),
            old: Some(object("4")),
        }),
        Fact::Queue(QueueFact::FifoItemRemoved { key: key.clone() }),
        Fact::Queue(QueueFact::FifoCleared),
        Fact::Queue(QueueFact::FifoKeySkipped { key: key.clone() }),
        Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::Delta(DeltaType::Updated, object("7")),
            length: 4,
        }),
        Fact::Queue(QueueFact::EntriesTaken {
            count: 3,
            is_in_initial_list: true,
        }),
        Fact::Queue(QueueFact::QueueEmpty),
        Fact::Queue(QueueFact::KeyPopped {
            key: key.clone(),
            deltas,
            is_in_initial_list: false,
        }),
        Fact::Queue(QueueFact::Synced),
        Fact::Queue(QueueFact::ProcessFailed {
            error: "boom".into(),
        }),
        Fact::Queue(QueueFact::Requeued {
            key: key.clone(),
            added: true,
        }),
        Fact::Queue(QueueFact::ProcessWasSlow {
            key: key.clone(),
            depth: 12,
            ms: 1250,
        }),
        Fact::Queue(QueueFact::QueueClosed),
        Fact::Queue(QueueFact::DeltaTaken {
            position: 0,
            delta_type: DeltaType::Updated,
            object: object("7"),
            exists: Some(true),
        }),
        Fact::Queue(QueueFact::Processed { key: key.clone() }),
        Fact::Store(StoreFact::ItemStored {
            object: object("7"),
            old: Some(object("5")),
        }),
        Fact::Store(StoreFact::ItemRemoved {
            key: key.clone(),
            old: Some(object("7")),
        }),
        Fact::Store(StoreFact::StoreReplaced {
            items: [object("7")].into(),
        }),
        Fact::Store(StoreFact::IndexEntryRemoved {
            index: "app".into(),
            value: "web".into(),
            key: key.clone(),
            emptied: true,
        }),
        Fact::Store(StoreFact::IndexEntryAdded {
            index: "app".into(),
            value: "web".into(),
            key: key.clone(),
        }),
        Fact::Reflector(ReflectorFact::PageReceived {
            count: 500,
            total: 500,
        }),
        Fact::Reflector(ReflectorFact::ListFailed {
            error: "too old resource version".into(),
            next: ListAgain::Expired,
        }),
        Fact::Reflector(ReflectorFact::WatchFailed {
            error: "connection refused".into(),
        }),
        Fact::Reflector(ReflectorFact::InitialEventKept {
            event: EventType::Added,
            object: object("5"),
        }),
        Fact::Reflector(ReflectorFact::InitialEventsEnded {
            rv: "7".into(),
            count: 3,
        }),
        Fact::Reflector(ReflectorFact::InitialEventsEndMissed {
            ms: 20_000,
            any: true,
        }),
        Fact::Reflector(ReflectorFact::StreamFellBack {
            error: "forbidden".into(),
        }),
        Fact::Reflector(ReflectorFact::ObjectRejected {
            error: "expected type *v1.Pod, but watch event object had type *v1.Node".into(),
        }),
        Fact::Reflector(ReflectorFact::VersionUnavailable { on: true }),
        Fact::Reflector(ReflectorFact::WatchErrorReported {
            error: "boom".into(),
        }),
        Fact::Reflector(ReflectorFact::ResyncDue { wanted: true }),
        Fact::Queue(QueueFact::EntriesProcessed { count: 3 }),
        Fact::Queue(QueueFact::ListOpened {
            rv: "7".into(),
            count: 3,
            removed: 1,
        }),
        Fact::Queue(QueueFact::ResyncOpened { count: 3 }),
        Fact::Handlers(HandlersFact::NotificationSent {
            handler: 0,
            notification: NotificationRef::Delete {
                object: object("12"),
            },
        }),
        Fact::Handlers(HandlersFact::NotificationWithheld {
            handler: 1,
            key: key.clone(),
        }),
        Fact::Handlers(HandlersFact::HandlerPanicked {
            handler: 0,
            error: "index out of range".into(),
        }),
        Fact::Handlers(HandlersFact::HandlerAsked {
            name: "late".into(),
            latency_ms: 100,
            resync_ms: 0,
            filter: "".into(),
        }),
        Fact::Handlers(HandlersFact::RemovalAsked { handler: 1 }),
        Fact::Server(ServerFact::WatchDenied {
            code: 403,
            reason: "Forbidden".into(),
        }),
        Fact::Handlers(HandlersFact::HandlerAdded {
            handler: 1,
            name: "late".into(),
            initial: 3,
        }),
        Fact::Handlers(HandlersFact::HandlerRemoved { handler: 1 }),
        Fact::Handlers(HandlersFact::HandlerSynced { handler: 0 }),
        Fact::Handlers(HandlersFact::SyncingSet {
            handler: 0,
            syncing: false,
        }),
        Fact::Handlers(HandlersFact::ResyncCheckSet { ms: 30_000 }),
        Fact::Handlers(HandlersFact::ObjectMutated {
            key: key.clone(),
            handler: 0,
        }),
        Fact::Handlers(HandlersFact::MutationDetected { key: key.clone() }),
        Fact::Work(WorkFact::WorkAdded {
            key: key.clone(),
            place: WorkPlace::Queue,
        }),
        Fact::Work(WorkFact::WorkTaken {
            worker: 0,
            key: key.clone(),
        }),
        Fact::Work(WorkFact::WorkDone {
            key: key.clone(),
            again: true,
        }),
        Fact::Work(WorkFact::WorkDelayed {
            key: key.clone(),
            ms: 5,
            failures: 1,
        }),
        Fact::Work(WorkFact::WorkForgotten { key: key.clone() }),
        Fact::Work(WorkFact::Reconciled {
            worker: 0,
            key: key.clone(),
            ok: true,
        }),
        Fact::Work(WorkFact::WorkShutDown { drain: true }),
        Fact::Store(StoreFact::IndexFailed {
            index: "app".into(),
            key,
            error: "no label".into(),
        }),
        Fact::Store(StoreFact::IndexersAdded {
            names: vec!["app".into(), "node".into()],
        }),
        Fact::Store(StoreFact::IndicesReset),
        Fact::Store(StoreFact::StoreVersionMoved {
            from: "4".into(),
            to: "7".into(),
        }),
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler: 1,
            notification: NotificationRef::Update {
                old: Some(object("5")),
                new: object("7"),
            },
            pending: 2,
        }),
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler: 0,
            notification: NotificationRef::Add {
                object: object("5"),
                is_in_initial_list: true,
            },
        }),
        Fact::Handlers(HandlersFact::LinePrinted {
            handler: 0,
            line: "OnAdd: web-1".into(),
        }),
        Fact::Handlers(HandlersFact::NotificationHandled { handler: 0 }),
        Fact::Run(RunFact::BesideRequested {
            informer: 0,
            watch: true,
        }),
        Fact::Run(RunFact::BesideStored {
            informer: 0,
            key: Key::from("default/web-1"),
            object: Some(object("5")),
        }),
    ]
}
