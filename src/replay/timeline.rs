//! A run as a line that can be walked in both directions, and changed.
//!
//! Ground truth is the scenario and the inputs. Facts are what follows from them; pictures are a
//! fold of facts. Going back is a checkpoint and a short fold. An input at an earlier moment drops
//! the facts (and the inputs of the user) after it, and the future is computed anew: what the
//! script of the scenario still holds happens as it would.

use crate::cache::fact::FactRecord;
use crate::runtime::virtual_time::{Input, World};
use crate::source::Command;
use crate::source::any::AnySource;
use crate::source::scenario::Scenario;

use super::picture::Picture;
use super::recording::Recording;

/// A picture is kept after so many facts, or (a heavy one) after half as many as there are things in
/// it: so the pictures weigh no more than the facts, and a seek folds no more than what it shows.
pub const PICTURE_EVERY: usize = 64;
/// A world is kept after so many facts, or (a heavy one) after as many as there are things in its
/// picture: an input into the past replays so many at most.
pub const WORLD_EVERY: usize = 512;
/// How many facts are kept at the most: about 40 MB of them.
pub const MAX_FACTS: usize = 100_000;
/// How many facts an endless run is ahead of the cursor.
pub const AHEAD: usize = 40;

/// One run.
#[derive(Clone)]
pub struct Timeline {
    scenario: Scenario,
    world: World<AnySource>,
    facts: Vec<FactRecord>,
    /// Pictures, each with the number of facts it is after.
    pictures: Vec<(usize, Picture)>,
    /// How many facts come between the last one and the next.
    picture_gap: usize,
    /// The inputs of the user, each with the number of facts that came before it.
    inputs: Vec<(usize, Input<Command>)>,
    /// How many of them the world has taken.
    taken: usize,
    /// What the world was like when it had stated so many facts and taken so many of `inputs`.
    worlds: Vec<(usize, usize, World<AnySource>)>,
    /// Nothing can happen any more without an input.
    over: bool,
}

impl Timeline {
    /// Runs a scenario: to its end, or (an endless one) a little ahead.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let world = scenario.build()?;
        let mut timeline = Self {
            pictures: vec![(0, Picture::of(&world))],
            worlds: vec![(0, 0, world.clone())],
            over: false,
            scenario,
            world,
            ..Self::empty()
        };
        timeline.extend(AHEAD);
        Ok(timeline)
    }

    /// A run in which nothing happens.
    #[must_use]
    pub fn empty() -> Self {
        let scenario = Scenario::default();
        let world = scenario.empty_world();
        Self {
            pictures: vec![(0, Picture::of(&world))],
            worlds: vec![(0, 0, world.clone())],
            picture_gap: PICTURE_EVERY,
            inputs: Vec::new(),
            taken: 0,
            facts: Vec::new(),
            over: true,
            scenario,
            world,
        }
    }

    /// How many facts are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether nothing has happened and nothing will.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Whether more facts come when they are asked for.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        !self.over && self.facts.len() < MAX_FACTS
    }

    /// Whether the run stopped only because no more facts are kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.over && self.facts.len() >= MAX_FACTS
    }

    /// The facts.
    #[must_use]
    pub fn facts(&self) -> &[FactRecord] {
        &self.facts
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What the run follows from.
    #[must_use]
    pub fn recording(&self) -> Recording {
        Recording {
            scenario: self.scenario.clone(),
            inputs: self.inputs.clone(),
        }
    }

    /// Makes sure that `wanted` facts are known, if there are so many; a run that ends by itself is
    /// computed to its end.
    pub fn extend(&mut self, wanted: usize) {
        let wanted = if self.scenario.is_endless() {
            wanted.min(MAX_FACTS)
        } else {
            MAX_FACTS
        };
        while !self.over && self.facts.len() < wanted {
            self.over = !self.world.step();
            self.collect();
        }
    }

    /// The state after `step` facts.
    #[must_use]
    pub fn picture(&self, step: usize) -> Picture {
        let step = step.min(self.facts.len());
        let after = self.pictures.partition_point(|(at, _)| *at <= step);
        let kept = after.checked_sub(1).and_then(|n| self.pictures.get(n));
        let (from, mut picture) = kept.cloned().unwrap_or_default();
        picture.apply_all(self.facts.get(from..step).unwrap_or_default());
        picture
    }

    /// Puts an input right after `step` facts (or as soon after them as a micro-step ends), drops
    /// what came later, computes the future anew, and answers where the input has shown.
    pub fn insert(&mut self, step: usize, input: Input<Command>) -> usize {
        self.rewind(step);
        let from = self.facts.len();
        self.inputs.push((from, input.clone()));
        self.taken = self.inputs.len();
        self.world.input(input);
        self.collect();
        if self.facts.len() == from {
            // The input showed nothing by itself, so the first thing that follows from it does.
            self.over = !self.world.step();
            self.collect();
        }
        let shown = self.facts.len();
        self.over = false;
        self.extend(shown + AHEAD);
        shown
    }

    /// Back to the first moment at or after `step` facts at which an input can come in.
    fn rewind(&mut self, step: usize) {
        let step = step.min(self.facts.len());
        if step == self.facts.len() {
            return;
        }
        self.inputs.retain(|(from, _)| *from < step);
        let inputs = self.inputs.len();
        self.worlds
            .retain(|(count, taken, _)| *count <= step && *taken <= inputs);
        if let Some((count, taken, world)) = self.worlds.last() {
            self.world = world.clone();
            self.facts.truncate(*count);
            self.taken = *taken;
        }
        let known = self.facts.len();
        self.pictures.retain(|(at, _)| *at <= known);
        self.space_out();
        self.over = false;
        while self.facts.len() < step || self.taken < inputs {
            match self.inputs.get(self.taken) {
                Some((from, input)) if *from == self.facts.len() => {
                    let input = input.clone();
                    self.taken += 1;
                    self.world.input(input);
                }
                _ if self.world.step() => {}
                _ => break,
            }
            self.collect();
        }
    }

    fn collect(&mut self) {
        for record in self.world.drain() {
            self.facts.push(record);
            let (from, picture) = match self.pictures.last() {
                Some((at, picture)) if self.facts.len() >= at + self.picture_gap => (*at, picture),
                _ => continue,
            };
            let mut picture = picture.clone();
            picture.apply_all(self.facts.get(from..).unwrap_or_default());
            self.pictures.push((self.facts.len(), picture));
            self.space_out();
        }
        let kept = self.worlds.last().map_or(0, |(count, ..)| *count);
        if self.facts.len() >= kept + WORLD_EVERY.max(self.picture_gap * 2) {
            self.worlds
                .push((self.facts.len(), self.taken, self.world.clone()));
        }
    }

    fn space_out(&mut self) {
        let weight = self.pictures.last().map_or(0, |(_, last)| last.weight());
        self.picture_gap = PICTURE_EVERY.max(weight / 2);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::source::wire;

    #[test]
    fn what_is_kept_for_seeking_weighs_no_more_than_the_facts() {
        let items: Vec<_> = (0..2_000)
            .map(|n| {
                serde_json::json!({ "metadata": { "namespace": "a", "name": format!("p{n}"),
                    "resourceVersion": "1" } })
            })
            .collect();
        let list = serde_json::json!({ "kind": "PodList", "apiVersion": "v1",
            "metadata": { "resourceVersion": "9" }, "items": items });
        let settings = serde_json::json!({ "feed": "recorded", "knownObjects": true,
            "indices": ["namespace", "app"], "handlers": [{ "name": "h", "latencyMs": 100 }] });
        let long = Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            recorded: Some(wire::open_text("list.json", &list.to_string())),
            ..Scenario::default()
        };
        let settings = serde_json::json!({ "knownObjects": true, "indices": ["namespace", "app"],
            "handlers": [{ "name": "h", "onAdd": ["{name}"], "onUpdate": ["{name}"] }] });
        let endless = Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            traffic: Some(7),
            ..Scenario::default()
        };
        for scenario in [long, endless] {
            let mut timeline = Timeline::new(scenario).unwrap();
            timeline.extend(30_000);
            let facts = timeline.len();
            let pictures = &timeline.pictures;
            let weight: usize = pictures.iter().map(|(_, picture)| picture.weight()).sum();
            assert!(facts >= 20_000 && weight <= 4 * facts, "{weight} {facts}");
            let heaviest = pictures.iter().map(|(_, picture)| picture.weight()).max();
            let kept = timeline.worlds.len() * heaviest.unwrap_or_default();
            assert!(kept <= 4 * facts, "{kept} {facts}");
            // Near enough to one another for a seek.
            for pair in pictures.windows(2) {
                let gap = pair[1].0 - pair[0].0;
                assert!(gap <= PICTURE_EVERY.max(pair[0].1.weight()), "{gap}");
            }
        }
    }
}
