//! A copy of the run for whoever stands outside of the program: should the program die, the copy is what is left.

use super::Session;
use deltascope_replay::trace;
use deltascope_world::source::wire::MAX_BYTES;

/// So many bytes are written down at once, and the input that passes them: what a cluster sends is large.
const AT_ONCE: usize = 256 * 1024;
/// A run of more objects or events than this is not copied: to write it down would hold the page, and whoever
/// opened it has the file.
const MOST_OBJECTS: usize = 2_000;

/// How much of the run the copy has.
#[derive(Debug, Default)]
pub struct Kept {
    opened: u64,
    run: u64,
    inputs: usize,
    bytes: usize,
    is_over: bool,
}

/// What is to be done with the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Lines of a trace.
    pub text: String,
    /// They come after those that are there already; otherwise they take their place.
    pub is_more: bool,
    /// The copy has all of the run up to here.
    pub is_whole: bool,
}

impl Session {
    /// What the copy lacks, a piece at a time; nothing once it lacks nothing.
    pub fn copy(&self, kept: &mut Kept) -> Option<Copied> {
        let is_opened = kept.opened == self.opened;
        if is_opened && kept.run == self.run {
            return self.copy_more(kept);
        }
        *kept = Kept {
            opened: self.opened,
            run: self.run,
            ..Kept::default()
        };
        if !self.is_small() {
            kept.is_over = true;
            return Some(Copied {
                text: String::new(),
                // Of the run that this one was made from, the copy has something still.
                is_more: is_opened,
                is_whole: false,
            });
        }
        let text = self.trace_head();
        kept.bytes = text.len();
        Some(Copied {
            text,
            is_more: false,
            is_whole: true,
        })
    }

    fn copy_more(&self, kept: &mut Kept) -> Option<Copied> {
        let all = self.timeline.all_inputs();
        if kept.is_over || kept.inputs >= all {
            return None;
        }
        let mut text = String::new();
        match self.timeline.inputs_since(kept.inputs) {
            Some(inputs) => {
                for taken in inputs {
                    trace::input(&mut text, &taken);
                    kept.inputs += 1;
                    if text.len() > AT_ONCE {
                        break;
                    }
                }
            }
            None => kept.is_over = true,
        }
        kept.is_over |= kept.bytes + text.len() > MAX_BYTES;
        kept.bytes += text.len();
        Some(Copied {
            text: if kept.is_over { String::new() } else { text },
            is_more: true,
            is_whole: !kept.is_over,
        })
    }

    fn is_small(&self) -> bool {
        let scenario = self.timeline.scenario();
        let recorded = scenario.recorded.as_ref().map_or(0, |recorded| {
            let listed = recorded.start.as_ref().map_or(0, |start| start.items.len());
            listed + recorded.events.len()
        });
        let inputs = self.timeline.all_inputs();
        scenario.initial.len() + scenario.script.len() + recorded + inputs <= MOST_OBJECTS
    }
}
