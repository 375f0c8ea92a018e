//! Where facts go.

use super::fact::Fact;
use super::step::Step;

/// Receives what happened, in the order in which it happened.
///
/// `()` is the trace of somebody who does not listen: its method is empty and the closure that
/// would make the fact is never called.
pub trait Trace {
    /// States that `fact` happened in `step`.
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact);
}

impl Trace for () {
    #[inline(always)]
    fn fact(&mut self, _step: Step, _fact: impl FnOnce() -> Fact) {}
}

/// Keeps every fact: for tests and for tools.
impl Trace for Vec<(Step, Fact)> {
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact) {
        self.push((step, fact()));
    }
}

impl<T: Trace> Trace for &mut T {
    #[inline(always)]
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact) {
        (**self).fact(step, fact);
    }
}
