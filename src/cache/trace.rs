//! The receiver of facts.

use super::fact::Fact;
use super::step::Step;

/// Receives facts in the order in which they happen.
///
/// `()` is the trace that ignores all facts: its method is empty and never calls the closure that
/// would build the fact.
pub trait Trace {
    /// Reports that `fact` happened in `step`.
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact);
}

impl Trace for () {
    #[inline(always)]
    fn fact(&mut self, _step: Step, _fact: impl FnOnce() -> Fact) {}
}

/// Keeps every fact, for tests and tools.
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
