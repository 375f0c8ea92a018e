//! Runs a recording.

use crate::recording::{RecordedInput, Recording};
use deltascope_world::Time;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::ServerResponse;
use deltascope_world::virtual_time::{Input, World};

use super::{AHEAD, MAX_FACTS, Timeline};

/// Whether an input is a response of a cluster, not an action of the user.
#[must_use]
pub fn is_response(input: &Input<Command>) -> bool {
    matches!(input, Input::Source(Command::Respond(_)))
}

/// The numbers of requests in a recording that begins with an open watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// That watch's number in the run …
    pub was: u32,
    /// … and in the recording.
    pub is: u32,
}

impl Numbering {
    /// The number of such a recording's watch: the first request where the list is streamed, the second after a list.
    #[must_use]
    pub fn first_watch(streams: bool) -> u32 {
        if streams { 1 } else { 2 }
    }

    /// The number of a request in the recording.
    #[must_use]
    pub fn of(self, request: u32) -> u32 {
        // A response to an older request was ignored and will be again.
        request
            .checked_sub(self.was)
            .map_or(0, |later| self.is + later)
    }

    /// This renumbering, and another after it.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            was: self.was + next.was.saturating_sub(self.is),
            is: next.is,
        }
    }

    /// Adapts an input to the recording.
    pub fn input(self, taken: &mut RecordedInput) {
        // Other facts precede it in the recording.
        taken.after = usize::MAX;
        if let Input::Source(Command::Respond(responses)) = &mut taken.input {
            *responses = responses
                .iter()
                .map(|response| ServerResponse {
                    request: self.of(response.request),
                    part: response.part.clone(),
                })
                .collect();
        }
    }
}

/// The kept inputs, and the number of inputs before them.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) all: &'a [RecordedInput],
    pub(super) before: usize,
}

/// Gives a world that has stated `known` facts, the last at `time`, its next input if that is due, or lets it
/// make its next micro-step; false when it can do neither.
pub(super) fn go_on(
    world: &mut World<AnySource>,
    inputs: Inputs<'_>,
    taken: &mut usize,
    known: usize,
    time: Time,
) -> bool {
    let next = taken.checked_sub(inputs.before);
    match next.and_then(|next| inputs.all.get(next)) {
        Some(next) if next.after == known => {
            *taken += 1;
            give(world, next, time);
            true
        }
        _ => world.step(),
    }
}

/// Gives a world an input. If the input is later than the last fact, the clock advances first.
pub(super) fn give(world: &mut World<AnySource>, taken: &RecordedInput, time: Time) {
    if taken.at > time {
        // Meanwhile the micro-steps without facts are made.
        while world.step_within(taken.at) {}
        world.wait_until(taken.at);
    }
    world.input(taken.input.clone());
}

impl Recording {
    /// Runs the recording. Each input comes after the recorded number of facts. Where the facts differ (in
    /// another generation, setting or version of this program), it comes at its virtual time.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub fn play(&self) -> Result<Timeline, String> {
        let (timeline, _) = self.play_within(MAX_FACTS)?;
        Ok(timeline)
    }

    /// Runs an untrusted recording with at most `most` facts. Also returns the number of inputs that fit.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub fn play_within(&self, most: usize) -> Result<(Timeline, usize), String> {
        at_once(self.play_slowly(most, &Slices::whole()))
    }

    /// Like [`Self::play_within`], in slices.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub async fn play_slowly(
        &self,
        most: usize,
        slices: &Slices,
    ) -> Result<(Timeline, usize), String> {
        self.play_to(most, true, slices).await
    }

    /// Runs the recording with at most `most` facts and with every input at its virtual time, after the last
    /// fact of that time.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub fn play_by_time(&self, most: usize) -> Result<Timeline, String> {
        let (timeline, _) = at_once(self.play_to(most, false, &Slices::whole()))?;
        Ok(timeline)
    }

    async fn play_to(
        &self,
        most: usize,
        exactly: bool,
        slices: &Slices,
    ) -> Result<(Timeline, usize), String> {
        let mut timeline = Timeline::begin(self.scenario.clone(), most, slices).await?;
        let mut played = 0;
        while let Some(taken) = self.inputs.get(played)
            && timeline.append(taken, exactly, slices).await
        {
            played += 1;
        }
        timeline.extend_slowly(timeline.len() + AHEAD, slices).await;
        Ok((timeline, played))
    }
}
