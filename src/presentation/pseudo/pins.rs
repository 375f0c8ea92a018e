//! The lines of client-go that correspond to the steps.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    EventType, Fact, FactRecord, HandlersFact, ListAgain, NotificationRef, Printer, QueueFact,
    ReflectorFact, RunFact, ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::step::Step;
use deltascope_replay::picture::{Picture, QueueKind};

use super::places::{Context, generation, is_populating};
use super::routines::{Id, place};

/// The place that the panel links for a step.
pub(super) enum Pin {
    /// A tag of client-go, a file and its line.
    Line(&'static str, Source, u16),
    /// The documentation, for the steps of the API server.
    Docs,
}

/// The releases of client-go that stand for the generations.
const TAGS: [&str; 4] = ["v0.32.13", "v0.34.10", "v0.35.7", "v0.36.3"];

/// A file of client-go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Reflector,
    Pager,
    Controller,
    SharedInformer,
    Fifo,
    DeltaFifo,
    RealFifo,
    Store,
    MutationDetector,
    Queue,
    DelayingQueue,
    RateLimitingQueue,
}

impl Source {
    /// Its folder and its name.
    pub(super) fn path(self) -> (&'static str, &'static str) {
        const CACHE: &str = "tools/cache";
        const WORKQUEUE: &str = "util/workqueue";
        match self {
            Self::Reflector => (CACHE, "reflector.go"),
            Self::Pager => ("tools/pager", "pager.go"),
            Self::Controller => (CACHE, "controller.go"),
            Self::SharedInformer => (CACHE, "shared_informer.go"),
            Self::Fifo => (CACHE, "fifo.go"),
            Self::DeltaFifo => (CACHE, "delta_fifo.go"),
            Self::RealFifo => (CACHE, "the_real_fifo.go"),
            Self::Store => (CACHE, "thread_safe_store.go"),
            Self::MutationDetector => (CACHE, "mutation_detector.go"),
            Self::Queue => (WORKQUEUE, "queue.go"),
            Self::DelayingQueue => (WORKQUEUE, "delaying_queue.go"),
            Self::RateLimitingQueue => (WORKQUEUE, "rate_limiting_queue.go"),
        }
    }
}

/// The current call, where one step stands for the same statement in several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Add,
    Update,
    Delete,
    Replace,
    Bookmark,
}

impl Asked {
    /// The last call that the actor of the last fact made, or that its last list or event leads to.
    fn by_last(recent: &[FactRecord]) -> Option<Self> {
        let last = recent.last()?;
        recent
            .iter()
            .rev()
            .filter(|record| record.actor == last.actor)
            .find_map(|record| Self::by(&record.fact))
    }

    /// The queue call that follows from a fact.
    fn by(fact: &Fact) -> Option<Self> {
        if matches!(fact, Fact::Reflector(ReflectorFact::ListReceived { .. })) {
            Some(Self::Replace)
        } else if let Fact::Reflector(ReflectorFact::EventReceived { event, .. }) = fact {
            match event {
                EventType::Added => Some(Self::Add),
                EventType::Modified => Some(Self::Update),
                EventType::Deleted => Some(Self::Delete),
                EventType::Bookmark => Some(Self::Bookmark),
                EventType::Error => None,
            }
        } else if let Fact::Run(RunFact::Called { delta_type, .. }) = fact {
            match delta_type {
                DeltaType::Added => Some(Self::Add),
                DeltaType::Updated => Some(Self::Update),
                DeltaType::Deleted => Some(Self::Delete),
                _ => None,
            }
        } else {
            None
        }
    }
}

/// The notification that the last fact is about.
fn notification(recent: &[FactRecord]) -> Option<&NotificationRef> {
    let Fact::Handlers(last) = &recent.last()?.fact else {
        return None;
    };
    if let HandlersFact::NotificationQueued { notification, .. }
    | HandlersFact::NotificationTaken { notification, .. } = last
    {
        return Some(notification);
    }
    let (HandlersFact::LinePrinted {
        by: Printer::Handler(by),
        ..
    }
    | HandlersFact::NotificationHandled { handler: by }
    | HandlersFact::ObjectMutated { handler: by, .. }) = last
    else {
        return None;
    };
    recent.iter().rev().find_map(|record| {
        if let Fact::Handlers(HandlersFact::NotificationTaken {
            handler,
            notification,
        }) = &record.fact
            && handler == by
        {
            Some(notification)
        } else {
            None
        }
    })
}

/// The place of the last fact.
pub(super) fn pin(recent: &[FactRecord], picture: &Picture, context: Context) -> Option<Pin> {
    let step = context.step_of(recent.last()?);
    pinned(step, variant(recent, picture, context)?, picture)
}

/// The facts choose between the statements of a step. Returns the statement's number in [`PINS`].
fn variant(recent: &[FactRecord], picture: &Picture, context: Context) -> Option<u8> {
    let record = recent.last()?;
    let fact = &record.fact;
    let step = context.step_of(record);
    Some(match step {
        Step::ReflectorListFailed => list_failed(fact),
        Step::ReflectorUnavailable => u8::from(matches!(
            fact,
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: false })
        )),
        Step::ReflectorStreamAgain => stream_again(fact),
        Step::ReflectorReceive => u8::from(is_error_received(fact)),
        Step::ReflectorStreamReceive => stream_received(fact),
        Step::ReflectorKeep => kept(fact),
        // 1: an `ERROR` with 429 ended the stream; 0: the watch did not open.
        Step::ReflectorRetry => u8::from(
            matches!(fact, Fact::Reflector(ReflectorFact::BackoffStarted { .. }))
                && !watch_failed(recent),
        ),
        Step::ReflectorEnd if is_relist_without_error(fact) => {
            if watch_failed(recent) {
                1
            } else {
                2
            }
        }
        Step::AddLock | Step::AddUnlock | Step::AddKey | Step::RealAdd => {
            match Asked::by_last(recent) {
                Some(Asked::Update) => 1,
                Some(Asked::Bookmark) => 2,
                _ => 0,
            }
        }
        Step::FifoLock | Step::FifoUnlock => match Asked::by_last(recent) {
            Some(Asked::Delete) => 2,
            Some(Asked::Replace) => 3,
            _ => 0,
        },
        Step::DeleteKey => u8::from(is_populating(fact)),
        Step::DeleteCheck => u8::from(matches!(
            fact,
            Fact::Queue(QueueFact::DeleteChecked { known: None, .. })
        )),
        Step::DeleteIgnore => u8::from(checked_without_known(recent)),
        Step::ReplaceItem | Step::ResyncKey => {
            u8::from(matches!(fact, Fact::Queue(QueueFact::KeyFailed { .. })))
        }
        Step::ReplaceMissing => u8::from(is_queued_key_missing(fact, picture)),
        Step::AddIfNotPresent => u8::from(matches!(
            fact,
            Fact::Queue(QueueFact::AlreadyPresent { .. })
        )),
        Step::PopWait => u8::from(picture.queue.closed),
        Step::PopProcess | Step::BlockDeltasLock | Step::BlockDeltasUnlock => {
            // A single entry is processed by another function than a batch.
            u8::from(took_batch(recent) == Some(step != Step::PopProcess))
        }
        Step::StoreReplace => u8::from(matches!(fact, Fact::Store(StoreFact::IndicesReset))),
        Step::StoreVersion => context.version as u8,
        Step::ListenerPop => u8::from(matches!(
            fact,
            Fact::Handlers(HandlersFact::NotificationQueued { pending: 2.., .. })
        )),
        // An informer that has started sends the stored objects to the new handler.
        Step::HandlerAdd => u8::from(matches!(
            fact,
            Fact::Handlers(HandlersFact::HandlerAdded { initial: 1.., .. })
        )),
        Step::ProcessNotify | Step::ProcessReplacedNotify | Step::ListenerHandle => {
            match notification(recent) {
                Some(NotificationRef::Add { .. }) => 1,
                Some(NotificationRef::Delete { .. }) => 2,
                Some(NotificationRef::Update { .. }) | None => 0,
            }
        }
        Step::WorkAdd => work_added(fact),
        Step::WorkDone => u8::from(matches!(
            fact,
            Fact::Work(WorkFact::WorkDone { again: true, .. })
        )),
        Step::WorkShutDown => u8::from(matches!(
            fact,
            Fact::Work(WorkFact::WorkShutDown { drain: true })
        )),
        _ => 0,
    })
}

fn list_failed(fact: &Fact) -> u8 {
    if matches!(fact, Fact::Reflector(ReflectorFact::ObjectRejected { .. })) {
        3
    } else if let Fact::Reflector(ReflectorFact::ListFailed { next, .. }) = fact {
        match next {
            ListAgain::Later => 0,
            ListAgain::Expired | ListAgain::TooLarge => 1,
            ListAgain::PageExpired => 2,
        }
    } else {
        0
    }
}

fn stream_again(fact: &Fact) -> u8 {
    if matches!(
        fact,
        Fact::Reflector(ReflectorFact::VersionUnavailable { .. })
    ) {
        1
    } else if matches!(fact, Fact::Reflector(ReflectorFact::BackoffStarted { .. })) {
        2
    } else {
        0
    }
}

fn stream_received(fact: &Fact) -> u8 {
    if is_error_received(fact) {
        1
    } else if matches!(
        fact,
        Fact::Reflector(ReflectorFact::InitialEventsEndMissed { .. })
    ) {
        2
    } else {
        0
    }
}

fn kept(fact: &Fact) -> u8 {
    if let Fact::Reflector(ReflectorFact::InitialEventKept { event, .. }) = fact {
        match event {
            EventType::Modified => 1,
            EventType::Deleted => 2,
            _ => 0,
        }
    } else {
        0
    }
}

fn work_added(fact: &Fact) -> u8 {
    if let Fact::Work(WorkFact::WorkAdded { place, .. }) = fact {
        match place {
            WorkPlace::Queue => 0,
            WorkPlace::Dirty => 1,
            WorkPlace::Duplicate => 2,
        }
    } else {
        0
    }
}

/// Whether the reflector received an `ERROR`.
fn is_error_received(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Error,
            ..
        })
    )
}

/// Whether a list follows a watch that ended without an error code.
fn is_relist_without_error(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Reflector(ReflectorFact::WatchEnded {
            relist: true,
            code: 0,
        })
    )
}

/// Whether the key that the list lacks is queued: Replace searches the queue before KnownObjects.
fn is_queued_key_missing(fact: &Fact, picture: &Picture) -> bool {
    if let Fact::Queue(QueueFact::DeletionDetected { key }) = fact {
        picture.queue.deltas.contains_key(key)
    } else {
        false
    }
}

/// Whether the last Pop took several entries; `None` where there was none.
fn took_batch(recent: &[FactRecord]) -> Option<bool> {
    recent.iter().rev().find_map(|record| {
        if let Fact::Queue(QueueFact::EntriesTaken { count, .. }) = record.fact {
            Some(count > 1)
        } else {
            None
        }
    })
}

/// Whether the last watch request was refused.
fn watch_failed(recent: &[FactRecord]) -> bool {
    let refused = |fact: &Fact| {
        matches!(
            fact,
            Fact::Server(ServerFact::WatchRefused { .. })
                | Fact::Reflector(ReflectorFact::WatchFailed { .. })
        )
    };
    let accepted = |fact: &Fact| {
        matches!(
            fact,
            Fact::Server(ServerFact::WatchAccepted { .. })
                | Fact::Reflector(ReflectorFact::EventReceived { .. })
        )
    };
    let mut facts = recent.iter().rev().map(|record| &record.fact);
    facts
        .find(|fact| refused(fact) || accepted(fact))
        .is_some_and(refused)
}

/// Whether the last Delete had no KnownObjects to ask.
fn checked_without_known(recent: &[FactRecord]) -> bool {
    let known = recent.iter().rev().find_map(|record| {
        if let Fact::Queue(QueueFact::DeleteChecked { known, .. }) = &record.fact {
            Some(known)
        } else {
            None
        }
    });
    matches!(known, Some(None))
}

/// The place of a step's statement in the picture's generation, or in another one if that lacks the statement.
pub(super) fn pinned(step: Step, variant: u8, picture: &Picture) -> Option<Pin> {
    if place(step).is_some_and(|(id, _)| matches!(id, Id::ServerWrite | Id::ServerRead)) {
        return Some(Pin::Docs);
    }
    let find = |variant| {
        PINS.iter().find(|(of, which, source, _)| {
            // For a step of several queues, `PINS` lists DeltaFIFO first and FIFO last.
            let other = match picture.queue.kind {
                QueueKind::DeltaFifo => false,
                QueueKind::RealFifo => *source == Source::DeltaFifo,
                QueueKind::Fifo => matches!(source, Source::DeltaFifo | Source::RealFifo),
            };
            *of == step && *which == variant && !other
        })
    };
    let now = generation(picture);
    // The step's first statement in this generation is preferred to the same one in another generation.
    let here = find(variant).filter(|(_, _, _, lines)| lines[now] != 0);
    let here = here.or_else(|| find(0).filter(|(_, _, _, lines)| lines[now] != 0));
    let (_, _, source, lines) = here.or_else(|| find(variant)).or_else(|| find(0))?;
    let at = (now..TAGS.len())
        .chain((0..now).rev())
        .find(|at| lines[*at] != 0)?;
    Some(Pin::Line(TAGS[at], *source, lines[at]))
}

/// One statement: its step, its number among the step's statements, its file, and its line at each
/// of [`TAGS`]; 0 if the tag lacks it.
type PinRow = (Step, u8, Source, [u16; 4]);

/// All statements. The lines were found by searching client-go for the text of each statement.
#[rustfmt::skip]
static PINS: &[PinRow] = &[
    (Step::ReflectorFallBack, 0, Source::Reflector, [363, 426, 433, 494]),
    (Step::ReflectorWatchError, 0, Source::Reflector, [316, 361, 370, 430]),
    (Step::ReflectorBackoff, 0, Source::Reflector, [318, 363, 372, 428]),
    (Step::ReflectorStop, 0, Source::Reflector, [319, 364, 373, 434]),
    (Step::ReflectorList, 0, Source::Reflector, [547, 626, 633, 719]),
    (Step::ReflectorPage, 0, Source::Pager, [159, 159, 159, 159]),
    (Step::ReflectorListFailed, 0, Source::Reflector, [569, 648, 655, 747]),
    (Step::ReflectorListFailed, 1, Source::Reflector, [556, 635, 642, 728]),
    (Step::ReflectorListFailed, 2, Source::Pager, [120, 120, 120, 120]),
    (Step::ReflectorListFailed, 3, Source::Reflector, [0, 0, 0, 731]),
    (Step::ReflectorUnavailable, 0, Source::Reflector, [549, 628, 635, 721]),
    (Step::ReflectorUnavailable, 1, Source::Reflector, [587, 665, 672, 764]),
    (Step::ReflectorListVersion, 0, Source::Reflector, [603, 681, 688, 780]),
    (Step::ReflectorStream, 0, Source::Reflector, [677, 764, 771, 863]),
    (Step::ReflectorStreamReceive, 0, Source::Reflector, [807, 902, 909, 1006]),
    (Step::ReflectorStreamReceive, 1, Source::Reflector, [812, 907, 914, 1011]),
    (Step::ReflectorStreamReceive, 2, Source::Reflector, [871, 976, 983, 1085]),
    (Step::ReflectorKeep, 0, Source::Reflector, [834, 938, 945, 1039]),
    (Step::ReflectorKeep, 1, Source::Reflector, [839, 943, 950, 1045]),
    (Step::ReflectorKeep, 2, Source::Reflector, [847, 951, 958, 1054]),
    (Step::ReflectorStreamEnd, 0, Source::Reflector, [854, 958, 965, 1062]),
    (Step::ReflectorStreamAgain, 0, Source::Reflector, [679, 766, 773, 865]),
    (Step::ReflectorStreamAgain, 1, Source::Reflector, [646, 726, 733, 825]),
    (Step::ReflectorStreamAgain, 2, Source::Reflector, [638, 718, 725, 817]),
    (Step::ReflectorStreamUsed, 0, Source::Reflector, [704, 791, 798, 894]),
    (Step::ReflectorStreamVersion, 0, Source::Reflector, [715, 802, 809, 905]),
    (Step::ReflectorWatch, 0, Source::Reflector, [451, 530, 537, 605]),
    (Step::ReflectorRetry, 0, Source::Reflector, [453, 532, 539, 607]),
    (Step::ReflectorRetry, 1, Source::Reflector, [480, 559, 566, 652]),
    (Step::ReflectorReceive, 0, Source::Reflector, [807, 902, 909, 1006]),
    (Step::ReflectorReceive, 1, Source::Reflector, [812, 907, 914, 1011]),
    (Step::ReflectorReject, 0, Source::Reflector, [815, 910, 917, 1014]),
    (Step::ReflectorSetVersion, 0, Source::Reflector, [859, 963, 970, 1075]),
    (Step::ReflectorEnd, 0, Source::Reflector, [470, 549, 556, 642]),
    (Step::ReflectorEnd, 1, Source::Reflector, [462, 541, 548, 616]),
    (Step::ReflectorEnd, 2, Source::Reflector, [495, 574, 581, 667]),
    (Step::ResyncTimer, 0, Source::Reflector, [396, 458, 465, 526]),
    (Step::ResyncCheck, 0, Source::SharedInformer, [837, 914, 921, 1174]),
    (Step::FifoLock, 0, Source::Fifo, [169, 150, 167, 200]),
    (Step::FifoLock, 2, Source::Fifo, [223, 174, 191, 225]),
    (Step::FifoLock, 3, Source::Fifo, [332, 239, 256, 293]),
    (Step::FifoUnlock, 0, Source::Fifo, [170, 151, 168, 201]),
    (Step::FifoUnlock, 2, Source::Fifo, [224, 175, 192, 226]),
    (Step::FifoUnlock, 3, Source::Fifo, [333, 240, 257, 294]),
    (Step::FifoAdd, 0, Source::Fifo, [175, 156, 173, 207]),
    (Step::FifoEnqueue, 0, Source::Fifo, [173, 154, 171, 205]),
    (Step::FifoDelete, 0, Source::Fifo, [226, 177, 194, 229]),
    (Step::FifoReplace, 0, Source::Fifo, [340, 247, 264, 302]),
    (Step::FifoPopTake, 0, Source::Fifo, [298, 209, 226, 261]),
    (Step::FifoPopSkip, 0, Source::Fifo, [304, 215, 232, 269]),
    (Step::FifoPopProcess, 0, Source::Fifo, [309, 220, 237, 274]),
    (Step::AddLock, 0, Source::DeltaFifo, [310, 327, 327, 387]),
    (Step::AddLock, 1, Source::DeltaFifo, [318, 335, 335, 396]),
    (Step::AddLock, 0, Source::RealFifo, [0, 151, 179, 338]),
    (Step::AddLock, 1, Source::RealFifo, [0, 162, 190, 350]),
    (Step::AddKey, 0, Source::DeltaFifo, [312, 329, 329, 389]),
    (Step::AddKey, 1, Source::DeltaFifo, [320, 337, 337, 398]),
    (Step::AddUnlock, 0, Source::DeltaFifo, [311, 328, 328, 388]),
    (Step::AddUnlock, 1, Source::DeltaFifo, [319, 336, 336, 397]),
    (Step::AddUnlock, 0, Source::RealFifo, [0, 152, 180, 339]),
    (Step::AddUnlock, 1, Source::RealFifo, [0, 163, 191, 351]),
    (Step::QueueActionKey, 0, Source::DeltaFifo, [449, 429, 429, 492]),
    (Step::QueueActionTransform, 0, Source::DeltaFifo, [468, 448, 448, 511]),
    (Step::QueueActionAppend, 0, Source::DeltaFifo, [476, 456, 456, 519]),
    (Step::QueueActionDedup, 0, Source::DeltaFifo, [477, 457, 457, 520]),
    (Step::QueueActionEnqueue, 0, Source::DeltaFifo, [481, 461, 461, 524]),
    (Step::DeleteKey, 0, Source::DeltaFifo, [330, 347, 347, 409]),
    (Step::DeleteKey, 1, Source::DeltaFifo, [336, 353, 353, 415]),
    (Step::DeleteLock, 0, Source::DeltaFifo, [334, 351, 351, 413]),
    (Step::DeleteLock, 0, Source::RealFifo, [0, 175, 203, 364]),
    (Step::DeleteCheck, 0, Source::DeltaFifo, [348, 365, 365, 428]),
    (Step::DeleteCheck, 1, Source::DeltaFifo, [338, 355, 355, 418]),
    (Step::DeleteIgnore, 0, Source::DeltaFifo, [353, 370, 370, 433]),
    (Step::DeleteIgnore, 1, Source::DeltaFifo, [341, 358, 358, 421]),
    (Step::DeleteUnlock, 0, Source::DeltaFifo, [335, 352, 352, 414]),
    (Step::DeleteUnlock, 0, Source::RealFifo, [0, 176, 204, 365]),
    (Step::ReplaceLock, 0, Source::DeltaFifo, [637, 556, 556, 620]),
    (Step::ReplaceLock, 0, Source::RealFifo, [0, 244, 340, 605]),
    (Step::ReplaceItem, 0, Source::DeltaFifo, [654, 573, 573, 637]),
    (Step::ReplaceItem, 1, Source::DeltaFifo, [649, 568, 568, 632]),
    (Step::ReplaceMissing, 0, Source::DeltaFifo, [703, 622, 622, 686]),
    (Step::ReplaceMissing, 1, Source::DeltaFifo, [678, 597, 597, 661]),
    (Step::ReplacePopulation, 0, Source::DeltaFifo, [711, 630, 630, 694]),
    (Step::ReplaceUnlock, 0, Source::DeltaFifo, [638, 557, 557, 621]),
    (Step::ReplaceUnlock, 0, Source::RealFifo, [0, 245, 341, 606]),
    (Step::ResyncLock, 0, Source::DeltaFifo, [721, 640, 640, 705]),
    (Step::ResyncLock, 0, Source::RealFifo, [0, 350, 446, 741]),
    (Step::ResyncKey, 0, Source::DeltaFifo, [755, 674, 674, 739]),
    (Step::ResyncKey, 1, Source::DeltaFifo, [751, 670, 670, 735]),
    (Step::ResyncUnlock, 0, Source::DeltaFifo, [722, 641, 641, 706]),
    (Step::ResyncUnlock, 0, Source::RealFifo, [0, 351, 447, 742]),
    (Step::AddIfNotPresent, 0, Source::DeltaFifo, [394, 0, 0, 0]),
    (Step::AddIfNotPresent, 1, Source::DeltaFifo, [390, 0, 0, 0]),
    (Step::HasSyncedLock, 0, Source::DeltaFifo, [298, 315, 315, 347]),
    (Step::HasSyncedLock, 0, Source::RealFifo, [0, 97, 125, 216]),
    (Step::HasSyncedUnlock, 0, Source::DeltaFifo, [299, 316, 316, 348]),
    (Step::HasSyncedUnlock, 0, Source::RealFifo, [0, 98, 126, 217]),
    (Step::PopLock, 0, Source::DeltaFifo, [577, 500, 500, 563]),
    (Step::PopLock, 0, Source::RealFifo, [0, 197, 268, 487]),
    (Step::PopWait, 0, Source::DeltaFifo, [588, 511, 511, 574]),
    (Step::PopWait, 1, Source::DeltaFifo, [585, 508, 508, 571]),
    (Step::PopWait, 0, Source::RealFifo, [0, 208, 279, 498]),
    (Step::PopWait, 1, Source::RealFifo, [0, 205, 276, 495]),
    (Step::PopTake, 0, Source::DeltaFifo, [592, 515, 515, 578]),
    (Step::PopTake, 0, Source::RealFifo, [0, 215, 314, 540]),
    (Step::PopCountDown, 0, Source::DeltaFifo, [595, 518, 518, 581]),
    (Step::PopCountDown, 0, Source::RealFifo, [0, 217, 312, 546]),
    (Step::PopProcess, 0, Source::DeltaFifo, [616, 539, 539, 603]),
    (Step::PopProcess, 0, Source::RealFifo, [0, 235, 331, 581]),
    (Step::PopProcess, 1, Source::RealFifo, [0, 0, 0, 577]),
    (Step::PopSlow, 0, Source::DeltaFifo, [614, 537, 537, 601]),
    (Step::PopSlow, 0, Source::RealFifo, [0, 231, 328, 571]),
    (Step::PopRequeue, 0, Source::DeltaFifo, [618, 0, 0, 0]),
    (Step::PopUnlock, 0, Source::DeltaFifo, [578, 501, 501, 564]),
    (Step::PopUnlock, 0, Source::RealFifo, [0, 198, 269, 488]),
    (Step::QueueClose, 0, Source::DeltaFifo, [276, 288, 288, 320]),
    (Step::QueueClose, 0, Source::RealFifo, [0, 72, 100, 191]),
    (Step::QueueClose, 0, Source::Fifo, [146, 127, 144, 149]),
    (Step::PopLock, 0, Source::Fifo, [284, 195, 212, 247]),
    (Step::PopWait, 0, Source::Fifo, [295, 206, 223, 258]),
    (Step::PopWait, 1, Source::Fifo, [292, 203, 220, 255]),
    (Step::PopCountDown, 0, Source::Fifo, [301, 212, 229, 264]),
    (Step::PopUnlock, 0, Source::Fifo, [285, 196, 213, 248]),
    (Step::RealAdd, 0, Source::RealFifo, [0, 155, 183, 343]),
    (Step::RealAdd, 1, Source::RealFifo, [0, 166, 194, 355]),
    (Step::RealDelete, 0, Source::RealFifo, [0, 179, 207, 369]),
    (Step::RealReplaceDeletes, 0, Source::RealFifo, [0, 294, 390, 614]),
    (Step::RealReplaceItems, 0, Source::RealFifo, [0, 332, 428, 617]),
    (Step::RealReplaceAll, 0, Source::RealFifo, [0, 0, 0, 610]),
    (Step::RealPopulation, 0, Source::RealFifo, [0, 340, 436, 626]),
    (Step::RealResync, 0, Source::RealFifo, [0, 385, 481, 780]),
    (Step::RealSyncAll, 0, Source::RealFifo, [0, 0, 0, 745]),
    (Step::RealBookmark, 0, Source::RealFifo, [0, 0, 0, 592]),
    (Step::RealPopBatch, 0, Source::RealFifo, [0, 0, 286, 510]),
    (Step::BlockDeltasLock, 0, Source::SharedInformer, [639, 716, 727, 945]),
    (Step::BlockDeltasLock, 1, Source::SharedInformer, [0, 0, 0, 955]),
    (Step::BlockDeltasUnlock, 0, Source::SharedInformer, [640, 717, 728, 946]),
    (Step::BlockDeltasUnlock, 1, Source::SharedInformer, [0, 0, 0, 956]),
    (Step::ProcessDelta, 0, Source::Controller, [549, 562, 589, 617]),
    (Step::ProcessNotify, 0, Source::Controller, [558, 571, 598, 644]),
    (Step::ProcessNotify, 1, Source::Controller, [563, 576, 603, 649]),
    (Step::ProcessNotify, 2, Source::Controller, [569, 582, 609, 655]),
    (Step::ProcessBatch, 0, Source::Controller, [0, 0, 647, 701]),
    (Step::ProcessBatchNotify, 0, Source::Controller, [0, 0, 695, 751]),
    (Step::ProcessReplacedAll, 0, Source::Controller, [0, 0, 0, 764]),
    (Step::ProcessReplacedNotify, 0, Source::Controller, [0, 0, 0, 794]),
    (Step::ProcessReplacedNotify, 1, Source::Controller, [0, 0, 0, 796]),
    (Step::ProcessReplacedNotify, 2, Source::Controller, [0, 0, 0, 789]),
    (Step::ProcessSyncAll, 0, Source::Controller, [0, 0, 0, 634]),
    (Step::ProcessSyncNotify, 0, Source::Controller, [0, 0, 0, 636]),
    (Step::StoreWrite, 0, Source::Store, [240, 240, 283, 325]),
    (Step::StoreDelete, 0, Source::Store, [249, 249, 296, 355]),
    (Step::StoreReplace, 0, Source::Store, [285, 285, 332, 396]),
    (Step::StoreReplace, 1, Source::Store, [288, 288, 335, 402]),
    (Step::StoreVersion, 0, Source::Store, [0, 0, 0, 316]),
    (Step::StoreVersion, 1, Source::Store, [0, 0, 0, 397]),
    (Step::StoreVersion, 2, Source::Store, [0, 0, 0, 345]),
    (Step::StoreVersion, 3, Source::Store, [0, 0, 0, 455]),
    (Step::IndexRemove, 0, Source::Store, [182, 182, 197, 214]),
    (Step::IndexAdd, 0, Source::Store, [185, 185, 200, 217]),
    (Step::IndexFail, 0, Source::Store, [164, 164, 179, 196]),
    (Step::AddIndexers, 0, Source::Store, [357, 357, 404, 506]),
    (Step::Withhold, 0, Source::SharedInformer, [788, 865, 872, 1111]),
    (Step::ListenerSend, 0, Source::SharedInformer, [933, 1012, 1019, 1293]),
    (Step::ListenerPop, 0, Source::SharedInformer, [951, 1030, 1037, 1314]),
    (Step::ListenerPop, 1, Source::SharedInformer, [960, 1039, 1046, 1323]),
    (Step::ListenerTake, 0, Source::SharedInformer, [973, 1053, 1060, 1338]),
    (Step::ListenerHandle, 0, Source::SharedInformer, [976, 1065, 1072, 1358]),
    (Step::ListenerHandle, 1, Source::SharedInformer, [978, 1067, 1074, 1360]),
    (Step::ListenerHandle, 2, Source::SharedInformer, [983, 1072, 1079, 1365]),
    (Step::ListenerDone, 0, Source::SharedInformer, [973, 1053, 1060, 1338]),
    (Step::HandlerPanic, 0, Source::SharedInformer, [972, 1061, 1068, 1346]),
    (Step::HandlerSync, 0, Source::SharedInformer, [980, 1069, 1076, 1362]),
    (Step::HandlerAdd, 0, Source::SharedInformer, [612, 689, 690, 911]),
    (Step::HandlerAdd, 1, Source::SharedInformer, [623, 700, 701, 923]),
    (Step::HandlerLock, 0, Source::SharedInformer, [620, 697, 698, 920]),
    (Step::HandlerUnlock, 0, Source::SharedInformer, [621, 698, 699, 921]),
    (Step::HandlerInitial, 0, Source::SharedInformer, [633, 710, 711, 933]),
    (Step::HandlerPeriod, 0, Source::SharedInformer, [603, 680, 681, 902]),
    (Step::RemoveLock, 0, Source::SharedInformer, [700, 777, 784, 1012]),
    (Step::RemoveUnlock, 0, Source::SharedInformer, [701, 778, 785, 1013]),
    (Step::HandlerRemove, 0, Source::SharedInformer, [702, 779, 786, 1014]),
    (Step::MutationCheck, 0, Source::MutationDetector, [146, 147, 147, 147]),
    (Step::WorkAdd, 0, Source::Queue, [257, 240, 249, 249]),
    (Step::WorkAdd, 1, Source::Queue, [253, 236, 245, 245]),
    (Step::WorkAdd, 2, Source::Queue, [241, 224, 233, 233]),
    (Step::WorkGet, 0, Source::Queue, [284, 267, 276, 276]),
    (Step::WorkDone, 0, Source::Queue, [303, 286, 295, 295]),
    (Step::WorkDone, 1, Source::Queue, [305, 288, 297, 297]),
    (Step::WorkDelay, 0, Source::DelayingQueue, [257, 266, 266, 266]),
    (Step::WorkRateLimit, 0, Source::RateLimitingQueue, [138, 138, 138, 138]),
    (Step::WorkForget, 0, Source::RateLimitingQueue, [146, 146, 146, 146]),
    (Step::WorkShutDown, 0, Source::Queue, [319, 303, 317, 317]),
    (Step::WorkShutDown, 1, Source::Queue, [337, 318, 336, 336]),
    (Step::PopRelease, 0, Source::RealFifo, [0, 0, 0, 459]),
    (Step::PopRetake, 0, Source::RealFifo, [0, 0, 0, 460]),
    (Step::AddLock, 2, Source::RealFifo, [0, 0, 0, 589]),
    (Step::AddUnlock, 2, Source::RealFifo, [0, 0, 0, 590]),
];

#[cfg(test)]
mod tests {
    use deltascope_cache::controller::Generation;
    use deltascope_cache::fact::{Actor, Known, LockName};
    use deltascope_cache::key::Key;

    use super::*;
    use crate::pseudo::tests::{classic, object, records};
    use crate::pseudo::{API_CONCEPTS, link, listing};

    #[test]
    fn every_link_leads_to_a_tag_a_file_and_a_line() {
        let mut picture = classic();
        for (kind, generation) in [
            (QueueKind::DeltaFifo, Generation::Classic),
            (QueueKind::RealFifo, Generation::InOrder),
            (QueueKind::RealFifo, Generation::Batched),
            (QueueKind::RealFifo, Generation::Atomic),
            (QueueKind::Fifo, Generation::Classic),
        ] {
            picture.queue.kind = kind;
            picture.generation = generation;
            for step in Step::ALL {
                let (id, _) = place(step).unwrap();
                let Some(link) = pinned(step, 0, &picture).and_then(|pin| link(id, pin)) else {
                    let none = matches!(
                        step,
                        Step::ProgramCall | Step::SettingChanged | Step::Reconcile
                    );
                    // The remaining steps exist only in DeltaFIFO.
                    assert!(none || kind != QueueKind::DeltaFifo, "{step:?}");
                    continue;
                };
                if link.url == API_CONCEPTS {
                    continue;
                }
                let (address, number) = link.url.split_once("#L").unwrap();
                assert!(number.parse::<u32>().unwrap() > 0);
                let (tag, path) = address
                    .strip_prefix("https://github.com/kubernetes/client-go/blob/")
                    .and_then(|rest| rest.split_once('/'))
                    .unwrap();
                assert!(TAGS.contains(&tag), "{tag}");
                let (_, file) = path.rsplit_once('/').unwrap();
                let short = tag.rsplit_once('.').unwrap().0;
                assert_eq!(
                    link.to_string(),
                    format!("client-go {short} {file}:{number}")
                );
            }
        }
    }

    /// The function and the line at each tag.
    type Places<'a> = Vec<Option<(&'a str, u16)>>;

    /// What was gathered from client-go itself: the lines of each function, by file, tag and name, and the
    /// function and line of each statement, by step, number and file.
    #[derive(Default)]
    struct Gathered<'a> {
        files: Vec<(&'a str, &'a str, &'a str)>,
        functions: Vec<(&'a str, &'a str, &'a str, u16, u16)>,
        statements: Vec<([&'a str; 3], Places<'a>)>,
    }

    impl<'a> Gathered<'a> {
        fn read(text: &'a str) -> Self {
            let mut gathered = Self::default();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                match line.split(' ').collect::<Vec<_>>()[..] {
                    ["file", source, path, tag, blob] => {
                        assert_eq!(blob.len(), 40, "{line}");
                        gathered.files.push((source, path, tag));
                    }
                    ["func", name, first, last] => {
                        let (source, _, tag) = *gathered.files.last().unwrap();
                        let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
                        gathered.functions.push((source, tag, name, first, last));
                    }
                    ["at", step, variant, source, ref places @ ..] => {
                        let places = places.iter().map(|place| {
                            let (name, line) = place.split_once(':')?;
                            Some((name, line.parse().unwrap()))
                        });
                        let statement = [step, variant, source];
                        gathered.statements.push((statement, places.collect()));
                    }
                    _ => panic!("{line}"),
                }
            }
            gathered
        }
    }

    #[test]
    fn each_statement_is_pinned_once_where_it_is_in_client_go() {
        let gathered = Gathered::read(include_str!("../../../tests/pins.txt"));
        for (source, path, tag) in &gathered.files {
            let of = PINS.iter().map(|(_, _, of, _)| of);
            let mut named = of.filter(|of| format!("{of:?}") == *source);
            let (folder, name) = named.next().unwrap().path();
            assert_eq!(format!("{folder}/{name}"), *path);
            assert!(TAGS.contains(tag), "{tag}");
        }
        assert_eq!(gathered.statements.len(), PINS.len());
        let mut pinned = 0;
        for (index, (step, variant, source, lines)) in PINS.iter().enumerate() {
            assert!(lines.iter().any(|line| *line > 0), "{step:?}");
            let twice = PINS[..index]
                .iter()
                .any(|(of, which, at, _)| (of, which, at) == (step, variant, source));
            assert!(!twice, "{step:?} {variant}");
            let (step, variant) = (format!("{step:?}"), variant.to_string());
            let source = format!("{source:?}");
            let what = [&*step, &*variant, &*source];
            let found = gathered.statements.iter().find(|(of, _)| *of == what);
            let (_, places) = found.unwrap_or_else(|| panic!("{what:?}"));
            assert_eq!(places.len(), TAGS.len(), "{what:?}");
            for ((tag, place), line) in TAGS.iter().zip(places).zip(lines) {
                let Some((function, at)) = *place else {
                    assert_eq!(*line, 0, "{what:?} {tag}");
                    continue;
                };
                assert_eq!(*line, at, "{what:?} {tag}");
                let within = gathered
                    .functions
                    .iter()
                    .any(|(of, under, name, first, last)| {
                        (*of, *under, *name) == (&*source, *tag, function)
                            && (*first..=*last).contains(line)
                    });
                assert!(within, "{what:?} {tag}: {line} is not in {function}");
                pinned += 1;
            }
        }
        assert!(pinned > 600, "{pinned}");
    }

    #[test]
    fn the_facts_choose_between_the_statements_of_a_step() {
        let place = |actor, facts| {
            let link = listing(&records(actor, facts), &classic()).link;
            link.unwrap().to_string()
        };
        let by = Actor::Reflector;
        let lock = |event, step, fact| {
            let received = Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object: object("5"),
                ends_list: false,
            });
            place(by, vec![(Step::ReflectorReceive, received), (step, fact)])
        };
        let (taken, released) = (
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by,
            }),
            Fact::Queue(QueueFact::LockReleased {
                lock: LockName::Queue,
                by,
            }),
        );
        for (event, first) in [(EventType::Added, 310), (EventType::Modified, 318)] {
            let at = |line| format!("client-go v0.32 delta_fifo.go:{line}");
            assert_eq!(lock(event, Step::AddLock, taken.clone()), at(first));
            assert_eq!(
                lock(event, Step::AddUnlock, released.clone()),
                at(first + 1)
            );
        }

        let checked = |known| {
            let key = Key::from("default/web-1");
            let checked = Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known,
                pending: false,
            });
            let ignored = (
                Step::DeleteIgnore,
                Fact::Queue(QueueFact::DeleteIgnored { key }),
            );
            let checked = (Step::DeleteCheck, checked);
            (
                place(by, vec![checked.clone()]),
                place(by, vec![checked, ignored]),
            )
        };
        let (asked, dropped) = checked(None);
        assert!(asked.ends_with(":338") && dropped.ends_with(":341"));
        let (asked, dropped) = checked(Some(Known::No));
        assert!(asked.ends_with(":348") && dropped.ends_with(":353"));

        let moved = |step| {
            let (from, to) = ("4".into(), "5".into());
            (
                step,
                Fact::Reflector(ReflectorFact::LastSyncMoved { from, to }),
            )
        };
        let list = Fact::Reflector(ReflectorFact::ListReceived {
            rv: "5".into(),
            count: 1,
        });
        let event = Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Added,
            object: object("5"),
            ends_list: false,
        });
        for (before, step, line) in [
            (list, Step::ReflectorListVersion, 603),
            (event, Step::ReflectorSetVersion, 859),
        ] {
            let at = place(by, vec![(Step::ReflectorReceive, before), moved(step)]);
            assert_eq!(at, format!("client-go v0.32 reflector.go:{line}"));
        }

        let add = NotificationRef::Add {
            object: object("5"),
            is_in_initial_list: false,
        };
        let update = NotificationRef::Update {
            old: None,
            new: object("5"),
        };
        let delete = NotificationRef::Delete {
            object: object("5"),
        };
        for (notification, own, printed) in
            [(add, 563, 978), (update, 558, 976), (delete, 569, 983)]
        {
            let taken = Fact::Handlers(HandlersFact::NotificationTaken {
                handler: 0,
                notification,
            });
            let line = Fact::Handlers(HandlersFact::LinePrinted {
                by: Printer::Handler(0),
                line: "x".into(),
            });
            let facts = vec![(Step::ListenerTake, taken), (Step::ListenerHandle, line)];
            assert_eq!(
                place(Actor::ProcessLoop, facts.clone()),
                format!("client-go v0.32 controller.go:{own}")
            );
            assert_eq!(
                place(Actor::Listener(0), facts),
                format!("client-go v0.32 shared_informer.go:{printed}")
            );
        }
    }
}
