//! The gauge: how far the store is behind the server, object by object, in all, and along a run.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::fact::{Fact, ObjectRef, ServerFact, StoreFact};
use deltascope_cache::key::Key;
use deltascope_world::virtual_time::{ReflectorState, SourceKind};

use super::picture::{ApiObject, ApiRoom, Behind, Picture};
use super::timeline::Timeline;

/// How the store's version of an object compares with the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Freshness {
    /// Nothing is known to compare.
    #[default]
    Unknown,
    /// The store has the server's version.
    Same,
    /// The store has another version.
    Stale,
    /// Only the server has the object.
    Missing,
    /// Only the store has the object.
    Gone,
}

impl Freshness {
    /// Whether it is known that the two differ.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Stale | Self::Missing | Self::Gone)
    }
}

impl Picture {
    /// How the store's version of an object compares with the server's. While the server's state is unknown, what it
    /// said last may still tell that they differ, but not that they are the same.
    #[must_use]
    pub fn freshness(&self, key: &Key) -> Freshness {
        let known = match self.behind() {
            Behind::Nothing => false,
            Behind::Unknown => self.api.known_from_events,
            Behind::By(_) => true,
        };
        match compare(
            &self.api,
            self.api.objects.get(key),
            self.store.items.get(key),
        ) {
            _ if !known => Freshness::Unknown,
            Freshness::Same if self.behind() == Behind::Unknown => Freshness::Unknown,
            freshness => freshness,
        }
    }

    /// Compares server and store again for the objects that a fact may have changed.
    pub(super) fn look_again(&mut self, fact: &Fact) {
        if let Fact::Server(
            ServerFact::ObjectCreated { object, .. }
            | ServerFact::ObjectUpdated { object, .. }
            | ServerFact::ObjectDeleted { object, .. }
            | ServerFact::EventSent { object, .. },
        )
        | Fact::Store(StoreFact::ItemStored { object, .. }) = fact
        {
            self.look_at(&object.key);
        } else if let Fact::Store(StoreFact::ItemRemoved { key, .. }) = fact {
            self.look_at(key);
        } else if let Fact::Server(ServerFact::ObjectsLearned { .. })
        | Fact::Store(StoreFact::StoreReplaced { .. }) = fact
        {
            self.look_at_all();
        }
    }

    fn look_at(&mut self, key: &Key) {
        let there = self.api.objects.get(key);
        if compare(&self.api, there, self.store.items.get(key)).differs() {
            self.store.unlike.insert(key.clone(), ());
        } else {
            self.store.unlike.remove(key);
        }
    }

    /// Compares server and store for every object.
    pub(super) fn look_at_all(&mut self) {
        let (api, items) = (&self.api, &self.store.items);
        let there = api.objects.iter();
        let listed = (there.zip(items.all_of(api.objects.keys())))
            .filter(|((_, there), here)| compare(api, Some(there), *here).differs())
            .map(|((key, _), _)| key);
        let gone = items.keys().filter(|key| !api.objects.contains_key(*key));
        let unlike = listed.chain(gone).map(|key| (key.clone(), ())).collect();
        self.store.unlike = unlike;
    }

    /// How many objects the store is behind the server.
    pub(super) fn behind(&self) -> Behind {
        let is_known = || {
            let api = &self.api;
            api.known_from_events
                && api.sends_events
                && self.reflector.state == ReflectorState::Watch
        };
        match self.api.source {
            SourceKind::Program => Behind::Nothing,
            _ if !self.store.present || !self.informer.has_queue() => Behind::Nothing,
            SourceKind::Recorded | SourceKind::Cluster if !is_known() => Behind::Unknown,
            SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => {
                Behind::By(self.store.unlike.len() as u64)
            }
        }
    }
}

/// Compares what the server and the store have of an object.
fn compare(api: &ApiRoom, there: Option<&Arc<ApiObject>>, here: Option<&ObjectRef>) -> Freshness {
    let there = there.filter(|entry| !entry.deleted && api.selects(&entry.body.labels));
    let same = |one: &ObjectRef, other: &ObjectRef| one.rv == other.rv && one.uid == other.uid;
    match (there, here) {
        (None, None) => Freshness::Unknown,
        (Some(_), None) => Freshness::Missing,
        (None, Some(_)) => Freshness::Gone,
        (Some(there), Some(here)) if same(&there.object, here) => Freshness::Same,
        (Some(_), Some(_)) => Freshness::Stale,
    }
}

fn is_indexed(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Store(StoreFact::IndexEntryAdded { .. } | StoreFact::IndexEntryRemoved { .. })
    )
}

/// How far the store is behind along a run, wherever that changes.
#[derive(Clone, Debug, Default)]
pub struct BehindLine {
    /// The picture after the facts seen so far, as far as the gauge needs it; none before the first and after a cut.
    picture: Option<Rc<Picture>>,
    seen: usize,
    /// The number of facts up to each change, and what the gauge says from there on.
    changes: Vec<(u32, Behind)>,
}

impl BehindLine {
    /// Examines the facts up to `end`.
    pub fn go_on_to(&mut self, timeline: &Timeline, end: usize) {
        if self.seen >= end && self.picture.is_some() {
            return;
        }
        let start = || Rc::new(timeline.picture(self.seen));
        let picture = Rc::make_mut(self.picture.get_or_insert_with(start));
        let (changes, mut last) = (&mut self.changes, None);
        let mut note = |at: usize, behind| {
            if last != Some(behind) {
                last = Some(behind);
                // Runs have fewer facts: `MAX_FACTS`.
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                if changes.last().is_none_or(|(_, before)| *before != behind) {
                    changes.push((at, behind));
                }
            }
        };
        note(self.seen, picture.store.behind);
        timeline.each::<()>(self.seen..end, &mut |place, record| {
            // The others change nothing that is compared.
            if let Fact::Server(_) | Fact::Reflector(_) | Fact::Store(_) | Fact::Run(_) =
                &record.fact
                && !is_indexed(&record.fact)
            {
                picture.apply(record);
                note(place + 1, picture.store.behind);
            }
            ControlFlow::Continue(())
        });
        self.seen = end;
    }

    /// Forgets what comes after the first `at` facts, where the run was cut.
    pub fn cut(&mut self, at: usize) {
        if at < self.seen {
            self.seen = at;
            self.picture = None;
            self.changes.retain(|(from, _)| *from as usize <= at);
        }
    }

    /// Forgets the first `gone` facts; the rest begins at 0 again.
    pub fn forget(&mut self, gone: usize) {
        self.seen = self.seen.saturating_sub(gone);
        let gone = u32::try_from(gone).unwrap_or(u32::MAX);
        let first = self.changes.partition_point(|(at, _)| *at <= gone);
        self.changes.drain(..first.saturating_sub(1));
        for (at, _) in &mut self.changes {
            *at = at.saturating_sub(gone);
        }
    }

    /// What the gauge says along the run, in at most `most` parts: the number of facts up to each, and the most that
    /// the store is behind in it.
    #[must_use]
    pub fn parts(&self, most: usize) -> Rc<[(u32, Behind)]> {
        if self.changes.len() <= most {
            return self.changes.iter().copied().collect();
        }
        let wide = u32::try_from(self.seen / most.max(1) + 1).unwrap_or(u32::MAX);
        let mut parts: Vec<(u32, Behind)> = Vec::new();
        let mut now = Behind::Nothing;
        for (at, behind) in &self.changes {
            let from = at / wide * wide;
            match parts.last_mut() {
                Some((start, most)) if *start == from => *most = (*most).max(*behind),
                last => {
                    let next = last.map(|(start, _)| start.saturating_add(wide));
                    parts.extend(next.filter(|next| *next < from).map(|next| (next, now)));
                    parts.push((from, now.max(*behind)));
                }
            }
            now = *behind;
        }
        let end = parts.last().map(|(start, _)| start.saturating_add(wide));
        parts.extend(end.map(|end| (end, now)));
        parts.into()
    }
}
