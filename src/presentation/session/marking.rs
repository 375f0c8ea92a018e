//! What is found along a run: its landmarks, and the violations of the invariants.

use crate::landmarks::Landmarks;
use deltascope_replay::invariants::Invariants;
use deltascope_replay::lessons::MarkerRule;
use deltascope_replay::timeline::{SEEN, SEGMENT, Timeline};
use deltascope_world::slices::Slices;

/// The landmarks and the violations of a run, as far as it was looked through.
#[derive(Clone, Default)]
pub(super) struct Marking {
    pub(super) landmarks: Landmarks,
    pub(super) invariants: Invariants,
}

impl Marking {
    /// Those of a run, as far as it is known.
    pub(super) fn of(timeline: &Timeline, rules: &[MarkerRule]) -> Self {
        Self {
            landmarks: Landmarks::of(timeline, rules),
            invariants: Invariants::of(timeline),
        }
    }

    /// Those of a run before its first fact.
    pub(super) fn begin(timeline: &Timeline, rules: &[MarkerRule]) -> Self {
        Self {
            landmarks: Landmarks::begin(timeline, rules),
            invariants: Invariants::begin(timeline),
        }
    }

    /// Looks through the new facts.
    pub(super) fn go_on(&mut self, timeline: &Timeline, rules: &[MarkerRule]) {
        self.landmarks.go_on(timeline, rules);
        self.invariants.check_new(timeline);
    }

    /// The same, in slices.
    pub(super) async fn go_on_slowly(
        &mut self,
        timeline: &Timeline,
        rules: &[MarkerRule],
        slices: &Slices,
    ) {
        while self.landmarks.seen() < timeline.len() {
            let seen = self.landmarks.seen();
            let end = timeline.ready(seen, slices).await.min(seen + SEGMENT / 2);
            self.landmarks.go_on_to(timeline, rules, end);
            self.invariants.check_up_to(timeline, end);
            slices.spend((end - seen) / SEEN).await;
        }
    }
}
