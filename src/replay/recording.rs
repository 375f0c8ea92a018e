//! A recording: everything that determines a run.
//!
//! Bug reports, scripts of lessons and tests are recordings. The same recording states the same facts on
//! every machine.

use kube_core::DynamicObject;

use deltascope_cache::controller::Generation;
use deltascope_world::Time;
use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::source::{Command, key_of};
use deltascope_world::virtual_time::Input;

/// A scenario with its seed, and the user's inputs.
#[derive(Clone, Debug)]
pub struct Recording {
    /// How the world is built, and its script.
    pub scenario: Scenario,
    /// The inputs from outside.
    pub inputs: Vec<RecordedInput>,
}

/// An input and when it came.
#[derive(Clone, Debug)]
pub struct RecordedInput {
    /// The number of facts before it.
    pub after: usize,
    /// The virtual time of the last of these facts, in ms.
    pub at: Time,
    /// The input.
    pub input: Input<Command>,
}

impl Recording {
    /// A scenario to which nobody does anything.
    #[must_use]
    pub fn of(scenario: Scenario) -> Self {
        Self {
            scenario,
            inputs: Vec::new(),
        }
    }

    /// The same recording in another generation of client-go.
    #[must_use]
    pub fn in_generation(&self, generation: Generation) -> Self {
        let mut other = self.clone();
        other.scenario.set_generation(generation);
        other
    }

    /// The recording of one object: the lists and watches of a cluster, or of a recorded server, are reduced to
    /// it, as if only it had been requested. A simulated server is unchanged.
    #[must_use]
    pub fn only(&self, key: &str) -> Self {
        let is_it = |object: &DynamicObject| *key_of(object) == *key;
        let is_about = |event: &RecordedEvent| match event {
            RecordedEvent::Object { object, .. } => is_it(object),
            _ => true,
        };
        let mut other = self.clone();
        if let Some(recorded) = &mut other.scenario.recorded {
            if let Some(list) = &mut recorded.start {
                list.items.retain(|object| is_it(object));
            }
            recorded.events.retain(is_about);
        }
        other.inputs.retain_mut(|taken| {
            // Fewer facts precede it now.
            taken.after = usize::MAX;
            let Input::Source(Command::Respond(responses)) = &mut taken.input else {
                return true;
            };
            let kept = responses
                .iter()
                .filter_map(|response| match &response.part {
                    ResponsePart::Event(event) if !is_about(event) => None,
                    ResponsePart::Page(page) => Some(ServerResponse {
                        request: response.request,
                        part: ResponsePart::Page(Page {
                            items: page
                                .items
                                .iter()
                                .filter(|one| is_it(one))
                                .cloned()
                                .collect(),
                            ..page.clone()
                        }),
                    }),
                    _ => Some(response.clone()),
                });
            *responses = kept.collect();
            !responses.is_empty()
        });
        other
    }
}
