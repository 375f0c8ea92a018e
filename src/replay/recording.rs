//! A recording: all that a run follows from.
//!
//! A bug report, a lesson's script and a test are recordings: played, the same one states the same
//! facts, on every machine.

use crate::runtime::virtual_time::Input;
use crate::source::Command;
use crate::source::scenario::Scenario;

use super::timeline::Timeline;

/// The scenario, with its seed, and what the user did to it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was built, and what happens in it by itself.
    pub scenario: Scenario,
    /// What came from outside, each with the number of facts that came before it.
    pub inputs: Vec<(usize, Input<Command>)>,
}

impl Recording {
    /// Runs it.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play(&self) -> Result<Timeline, String> {
        let mut timeline = Timeline::new(self.scenario.clone())?;
        for (after, input) in &self.inputs {
            timeline.extend(*after);
            timeline.insert(*after, input.clone());
        }
        Ok(timeline)
    }
}
