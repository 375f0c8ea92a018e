//! A run, with the sentences of each fact.

use std::collections::BTreeSet;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, Fact, FactRecord, ReflectorFact};
use deltascope_replay::timeline::Timeline;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::InformerKind;

use super::SAID;
use crate::caption::words;
use crate::pseudo;
use deltascope_world::text::Lang;

/// A run, with the sentences of each fact.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) generation: Generation,
    pub(super) informer: bool,
    /// Whether the process loop calls the handlers itself.
    pub(super) inline: bool,
    pub(super) facts: Vec<FactRecord>,
    pub(super) said: Vec<BTreeSet<String>>,
    /// The line of client-go that the panel shows beside each fact.
    pub(super) places: Vec<String>,
}

impl Run {
    pub(super) fn of(name: &str, scenario: Scenario, steps: usize) -> Self {
        let (generation, informer) = (scenario.settings.era, scenario.settings.is_informer());
        let inline = scenario.settings.informer != InformerKind::Shared;
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(steps);
        let facts = timeline.all_facts().to_vec();
        let mut picture = timeline.picture(0);
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for (index, record) in facts.iter().enumerate() {
            picture.apply(record);
            let recent = &facts[(index + 1).saturating_sub(160)..=index];
            SAID.take();
            let _ = words(record, recent, &picture, Lang::En);
            all.push(SAID.take().into_iter().collect());
            let link = pseudo::listing(recent, &picture).link;
            let place = link.map(|link| link.to_string()).unwrap_or_default();
            places.push(place.trim_start_matches("client-go ").to_owned());
        }
        Self {
            name: format!("{name}, {}", generation.as_str()),
            generation,
            informer,
            inline,
            facts,
            said: all,
            places,
        }
    }

    /// The later facts of the same actor.
    pub(super) fn after(&self, at: usize) -> impl Iterator<Item = &FactRecord> {
        let actor = self.facts[at].actor;
        self.by(actor, at)
    }

    /// The facts of `actor` after a fact.
    pub(super) fn by(&self, actor: Actor, at: usize) -> impl Iterator<Item = &FactRecord> {
        let later = self.facts[at + 1..].iter();
        later.filter(move |record| record.actor == actor)
    }

    /// The facts before a fact, the last one first.
    pub(super) fn before(&self, at: usize) -> impl Iterator<Item = &FactRecord> {
        self.facts[..at].iter().rev()
    }

    /// The reflector's next request after a fact, if the run has one, and the reflector's facts in between.
    pub(super) fn next_request(&self, at: usize) -> Option<(Request, Vec<&FactRecord>)> {
        let mut between = Vec::new();
        for record in self.by(Actor::Reflector, at) {
            let (kind, rv) = match &record.fact {
                Fact::Reflector(ReflectorFact::ListRequested { rv, .. }) => (Asks::List, rv),
                Fact::Reflector(ReflectorFact::WatchRequested {
                    rv,
                    initial_events: true,
                }) => (Asks::Stream, rv),
                Fact::Reflector(ReflectorFact::WatchRequested { rv, .. }) => (Asks::Watch, rv),
                _ => {
                    between.push(record);
                    continue;
                }
            };
            let rv = rv.to_string();
            return Some((Request { kind, rv }, between));
        }
        None
    }

    /// LastSyncResourceVersion after a fact.
    pub(super) fn last_sync(&self, at: usize) -> String {
        let moved = self.before(at + 1).find_map(|record| match &record.fact {
            Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) => Some(to.to_string()),
            _ => None,
        });
        moved.unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    List,
    Stream,
    Watch,
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) kind: Asks,
    pub(super) rv: String,
}
