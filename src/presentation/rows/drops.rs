//! What was dropped in the step that is shown: refused, merged, passed over or withheld; and what a list found missing.

use super::Names;
use crate::anchor::{Anchor, HandlerPlace};
use crate::caption::{self, Voice};
use crate::rows::acting;
use crate::stage::{Panel, WorkPart};
use crate::view::View;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Fact, FactRecord, HandlersFact, QueueFact, ReflectorFact, ServerFact, WorkFact, WorkPlace,
};
use deltascope_world::text::Lang;

/// At most this many are shown in one place.
pub const SHOWN: usize = 2;

/// Something that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRow {
    /// The number of its fact, which identifies it.
    pub number: u64,
    /// The place on the stage where it was dropped.
    pub place: Anchor,
    /// Its type, which is its hue.
    pub hue: Option<DeltaType>,
    /// Its type and its object: `Deleted web-0`. Without either the name of the fact.
    pub what: String,
    /// Why, in few words: a condition with its values, or an error.
    pub why: String,
    /// It was not dropped: a list has found that its deletion was missed.
    pub missed: bool,
}

/// The newest of what was dropped in one place, and how many more there are.
#[must_use]
pub fn rows(view: &View, place: &Anchor, lang: Lang) -> (Vec<DropRow>, usize) {
    let naming = view.alike.naming();
    let names = Names::of(view);
    let mut rows = Vec::new();
    let mut hidden = 0;
    for one in view.dropped.iter().rev() {
        let Some(record) = one.facts.last() else {
            continue;
        };
        if self::place(record).as_ref() != Some(place) {
            continue;
        }
        if rows.len() == SHOWN {
            hidden += 1;
            continue;
        }
        let (hue, kind) = kind(&record.fact);
        let key = record.fact.key();
        let what = match key {
            Some(key) => [kind, " ", &names.get(key)]
                .concat()
                .trim_start()
                .to_owned(),
            None => caption::in_words(&record.fact, lang),
        };
        let voice = Voice { lang, naming };
        rows.push(DropRow {
            number: record.id.0,
            place: place.clone(),
            hue,
            what,
            why: caption::reason(record, &one.facts, &one.picture, voice),
            missed: is_missed(&record.fact),
        });
    }
    rows.reverse();
    (rows, hidden)
}

/// The places of a room where something was dropped, in order.
#[must_use]
pub fn places(view: &View, room: Panel) -> Vec<Anchor> {
    let mut places = Vec::new();
    for record in view.dropped.iter().filter_map(|one| one.facts.last()) {
        let found = place(record).filter(|place| place.room() == room);
        places.extend(found.filter(|place| !places.contains(place)));
    }
    places
}

/// The place on the stage where this fact dropped something, or where a list found something missing; none if it
/// did neither.
#[must_use]
pub fn place(record: &FactRecord) -> Option<Anchor> {
    let fact = &record.fact;
    let is_one = match fact {
        Fact::Server(fact) => is_dropped_by_server(fact),
        Fact::Reflector(fact) => matches!(fact, ReflectorFact::ObjectRejected { .. }),
        Fact::Queue(fact) => is_dropped_by_queue(fact),
        Fact::Handlers(fact) => matches!(
            fact,
            HandlersFact::NotificationWithheld { .. } | HandlersFact::HandlerPanicked { .. }
        ),
        Fact::Work(fact) => matches!(
            fact,
            WorkFact::WorkAdded {
                place: WorkPlace::Duplicate,
                ..
            }
        ),
        // The store takes everything, and so does a program's run.
        Fact::Store(_) | Fact::Run(_) => false,
    };
    if !is_one {
        None
    } else if let Fact::Handlers(
        HandlersFact::NotificationWithheld { handler, .. }
        | HandlersFact::HandlerPanicked { handler, .. },
    ) = fact
    {
        Some(Anchor::Handler(*handler, HandlerPlace::Whole))
    } else if let Fact::Work(_) = fact {
        Some(Anchor::Work(WorkPart::Queue, None))
    } else {
        Some(Anchor::Room(acting::room(record)))
    }
}

fn is_dropped_by_server(fact: &ServerFact) -> bool {
    if let ServerFact::WatchClosed { lost, .. } = fact {
        *lost > 0
    } else {
        matches!(fact, ServerFact::WriteRefused { .. })
    }
}

fn is_dropped_by_queue(fact: &QueueFact) -> bool {
    matches!(
        fact,
        QueueFact::KeyFailed { .. }
            | QueueFact::TransformFailed { .. }
            | QueueFact::DeleteIgnored { .. }
            | QueueFact::DeltasMerged { .. }
            | QueueFact::DeletionDetected { .. }
            | QueueFact::ResyncSkipped { .. }
            | QueueFact::AlreadyPresent { .. }
            | QueueFact::FifoItemSet { old: Some(_), .. }
            | QueueFact::FifoItemRemoved { .. }
            | QueueFact::FifoKeySkipped { .. }
            | QueueFact::FifoCleared
            | QueueFact::ProcessFailed { .. }
            | QueueFact::Requeued { added: false, .. }
    )
}

fn is_missed(fact: &Fact) -> bool {
    matches!(fact, Fact::Queue(QueueFact::DeletionDetected { .. }))
}

/// The hue and the name of what was dropped.
fn kind(fact: &Fact) -> (Option<DeltaType>, &'static str) {
    let typed = |delta_type: DeltaType| (Some(delta_type), delta_type.as_str());
    if let Fact::Queue(
        QueueFact::DeleteIgnored { .. }
        | QueueFact::DeltasMerged { .. }
        | QueueFact::DeletionDetected { .. },
    ) = fact
    {
        typed(DeltaType::Deleted)
    } else if let Fact::Queue(QueueFact::ResyncSkipped { .. }) = fact {
        typed(DeltaType::Sync)
    } else if let Fact::Handlers(HandlersFact::NotificationWithheld { .. }) = fact {
        (Some(DeltaType::Updated), "")
    } else {
        (None, "")
    }
}
