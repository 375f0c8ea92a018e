//! A recording, run.

use crate::recording::{RecordedInput, Recording};
use deltascope_world::Time;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::ServerResponse;
use deltascope_world::virtual_time::{Input, World};

use super::{AHEAD, MAX_FACTS, Timeline};

/// Whether a cluster told it: nobody did it by hand.
#[must_use]
pub fn is_told(input: &Input<Command>) -> bool {
    matches!(input, Input::Source(Command::Tell(_)))
}

/// An input as it stands in a recording that begins where a watch was open: `was` is what its request is called here, `is`
/// there.
pub fn renumber(taken: &mut RecordedInput, (was, is): (u32, u32)) {
    // It came after other facts than it will.
    taken.after = usize::MAX;
    if let Input::Source(Command::Tell(told)) = &mut taken.input {
        *told = told
            .iter()
            .map(|telling| ServerResponse {
                // What is about an older one was passed over, and will be.
                request: match telling.request.checked_sub(was) {
                    Some(later) => is + later,
                    None => 0,
                },
                told: telling.told.clone(),
            })
            .collect();
    }
}

/// The inputs that are kept, and how many came before them.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) all: &'a [RecordedInput],
    pub(super) before: usize,
}

/// Lets a world that has stated so many facts, the last at `time`, take its next input, if that is due,
/// or make its next micro-step; false when there is none.
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

/// Gives a world an input. One that came later than the last fact came when time had gone by.
pub(super) fn give(world: &mut World<AnySource>, taken: &RecordedInput, time: Time) {
    if taken.at > time {
        // What states no fact is done meanwhile.
        while world.step_within(taken.at) {}
        world.wait_until(taken.at);
    }
    world.input(taken.input.clone());
}

impl Recording {
    /// Runs it. An input comes after as many facts as it did; where those are others than they were
    /// (it is another generation, another setting, another version of this program), at its time.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play(&self) -> Result<Timeline, String> {
        let (timeline, _) = self.play_within(MAX_FACTS)?;
        Ok(timeline)
    }

    /// The same with no more than so many facts, for what comes from outside; and how many of the inputs
    /// could be played.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play_within(&self, most: usize) -> Result<(Timeline, usize), String> {
        at_once(self.play_slowly(most, &Slices::whole()))
    }

    /// The same in slices.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub async fn play_slowly(
        &self,
        most: usize,
        slices: &Slices,
    ) -> Result<(Timeline, usize), String> {
        self.play_to(most, true, slices).await
    }

    /// Runs it, with no more than so many facts, with every input at its time: after the last fact of
    /// that moment.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
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
