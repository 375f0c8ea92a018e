//! The card in the Indexer's room about the informers beside the one on the stage.

use super::{Mark, Names, RvText, current};
use crate::rows::processor::WorkKey;
use crate::view::View;
use deltascope_cache::fact::{Fact, RunFact};
use deltascope_replay::picture::InformerKind;

/// At most this many objects of one store are shown.
const OBJECTS: usize = 12;

/// What a row counts of its informers, in this order.
const COUNTED: [&str; 4] = ["LIST", "WATCH", "store", "handler"];

/// The contents of the card.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BesideRows {
    /// Sums over the informers that are not shared, and over the shared ones, including the one on the stage: first
    /// their number, then the counts of [`COUNTED`].
    sums: [[u64; 5]; 2],
    /// The store of each of these informers.
    pub stores: Vec<BesideStore>,
}

/// The store of an informer beside the one on the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideStore {
    /// Its informer's number; `None` if it is a shared one.
    pub number: Option<usize>,
    /// Its objects, as many as are shown.
    pub objects: Vec<WorkKey>,
    /// How many objects are not shown.
    pub hidden: usize,
}

impl BesideRows {
    /// How many informers are shared, or are not, and their sums in words; none if there are no such.
    #[must_use]
    pub fn sum(&self, shared: bool) -> Option<(u64, String)> {
        let [informers, counts @ ..] = self.sums[usize::from(shared)];
        let counts = COUNTED.iter().zip(counts);
        let counts: Vec<String> = counts
            .map(|(name, count)| format!("{name} ×{count}"))
            .collect();
        (informers > 0).then(|| (informers, counts.join(" · ")))
    }
}

/// The contents of the card; none if there is no other informer.
#[must_use]
pub fn rows(view: &View) -> Option<BesideRows> {
    let picture = &view.picture;
    if picture.beside.is_empty() {
        return None;
    }
    let names = Names::of(view);
    let stored = current(view).and_then(|record| {
        let Fact::Run(RunFact::BesideStored { informer, key, .. }) = &record.fact else {
            return None;
        };
        Some((*informer, key))
    });
    let mut rows = BesideRows::default();
    let mut add = |shared: bool, counts: [u64; 5]| {
        for (sum, count) in rows.sums[usize::from(shared)].iter_mut().zip(counts) {
            *sum += count;
        }
    };
    let listen = picture.handlers.iter().filter(|room| !room.removed);
    add(
        picture.informer == InformerKind::Shared,
        [
            1,
            picture.reflector.lists_asked,
            picture.reflector.watches_asked,
            u64::from(picture.store.present),
            listen.count() as u64,
        ],
    );
    for room in &picture.beside {
        let counts = [1, room.lists, room.watches, 1, room.handlers as u64];
        add(room.shared, counts);
    }
    for (room, informer) in picture.beside.iter().zip(0..) {
        let mut objects = Vec::new();
        for (key, object) in room.objects.iter().take(OBJECTS) {
            objects.push(WorkKey {
                key: key.clone(),
                name: names.get(key),
                // The marks know nothing of the UID of another server's object.
                mark: match picture.api.objects.get(key) {
                    Some(_) => names.mark(&object.uid),
                    None => Mark::default(),
                },
                note: RvText::narrow(&object.rv).short,
                lit: stored == Some((informer, key)),
            });
        }
        rows.stores.push(BesideStore {
            number: picture.beside_number(informer),
            objects,
            hidden: room.objects.len().saturating_sub(OBJECTS),
        });
    }
    Some(rows)
}
