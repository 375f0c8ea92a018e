//! A copy of the run outside of the program: it survives if the program dies.

use super::Session;
use deltascope_replay::picture::SourceKind;
use deltascope_replay::trace;
use deltascope_world::source::wire::MAX_BYTES;

/// At most this many bytes are copied at once, plus the input that exceeds them: a cluster's answers are large.
const AT_ONCE: usize = 256 * 1024;
/// A run with more objects or events than this is not copied: that would block the page, and the user has the file.
const MOST_OBJECTS: usize = 2_000;

/// How much of the run the copy contains.
#[derive(Debug, Default)]
pub struct Kept {
    opened: u64,
    run: u64,
    inputs: usize,
    bytes: usize,
    is_over: bool,
}

/// A change of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Lines of a trace.
    pub text: String,
    /// Whether the lines are appended to the copy; otherwise they replace it.
    pub is_more: bool,
    /// Whether the copy contains the whole run up to here.
    pub is_whole: bool,
}

impl Session {
    /// The next piece that the copy lacks; none once it is complete.
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
                // The copy still contains a part of the run that this one was made from.
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
        // A cluster's inputs are copied piece by piece, however many there are; a copy needs the first of them.
        let is_cluster = scenario.settings.source == SourceKind::Cluster;
        let inputs = match is_cluster && self.timeline.inputs_since(0).is_some() {
            true => 0,
            false => self.timeline.all_inputs(),
        };
        scenario.initial.len() + scenario.script.len() + recorded + inputs <= MOST_OBJECTS
    }
}
