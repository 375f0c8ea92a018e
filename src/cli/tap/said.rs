//! What the controller logged of its informers: which line is whose.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write as _;

use deltascope_presentation::informers::UNHEARD;
use deltascope_replay::log::{self, Logged};
use deltascope_terminal::Printed;
use deltascope_world::bounds::MAX_LINE;
use deltascope_world::text;
use deltascope_world::text::Text;

use super::super::report::Counts;

/// Most lines that wait for their informer to watch.
const WAITING: usize = 10_000;
/// Most bytes that are kept of an informer's lines: more could not be read again.
const KEPT: usize = deltascope_world::bounds::MAX_BYTES;

/// A log, line by line.
#[derive(Default)]
pub(super) struct Said {
    /// The lines that are not over, by where they come from.
    rest: BTreeMap<Printed, Rest>,
    /// How many lines there were.
    line: u32,
    /// Lines whose informer does not watch yet.
    pub(super) waiting: VecDeque<Logged>,
    pub(super) counts: Counts,
}

/// A line so far.
#[derive(Default)]
struct Rest {
    bytes: Vec<u8>,
    /// Whether it is too long to be read.
    too_long: bool,
}

impl Said {
    /// Another file, or the same from its start, after so many lines of it.
    pub(super) fn begin(&mut self, lines: u32) {
        self.rest.clear();
        self.line = lines;
    }

    /// Reads what follows, and returns the handlers' lines.
    pub(super) fn read(&mut self, from: Printed, bytes: &[u8]) -> Vec<Logged> {
        let mut calls = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let rest = self.rest.entry(from).or_default();
            let (piece, ends) = match piece.strip_suffix(b"\n") {
                Some(piece) => (piece, true),
                None => (piece, false),
            };
            rest.too_long |= rest.bytes.len() + piece.len() > MAX_LINE;
            match rest.too_long {
                true => rest.bytes.clear(),
                false => rest.bytes.extend_from_slice(piece),
            }
            if !ends {
                continue;
            }
            self.line = self.line.saturating_add(1);
            let Rest { bytes, too_long } = std::mem::take(rest);
            // A line of that length is no handler's.
            let read = if too_long {
                Ok(None)
            } else {
                log::call_of(self.line, &bytes)
            };
            match read {
                Ok(None) => {}
                Ok(Some(mut logged)) => {
                    logged.line = self.line;
                    self.counts.lines += 1;
                    calls.push(logged);
                }
                Err(words) => {
                    self.counts.unread += 1;
                    self.counts.first_unread.get_or_insert((self.line, words));
                }
            }
        }
        calls
    }

    /// Keeps a line until its informer watches.
    pub(super) fn wait(&mut self, logged: Logged) {
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
            self.counts.unclaimed += 1;
        }
        self.waiting.push_back(logged);
    }

    /// As it stands: what waits belongs to nobody so far.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.unclaimed += self.waiting.len() as u64;
        counts
    }
}

/// The lines of one informer.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) file: Option<File>,
    bytes: usize,
    pub(super) count: u64,
    /// Why not all are kept.
    pub(super) trouble: Option<Text>,
    /// Whether no more are kept, in this file or in any.
    full: bool,
    shared: bool,
}

impl Lines {
    /// Goes on in another file.
    pub(super) fn go_on(&mut self) {
        (self.file, self.bytes, self.full) = (None, 0, false);
    }

    /// Lines that may be this informer's may be another's as well: the others alone say nothing of what it heard.
    pub(super) fn share(&mut self) -> bool {
        if self.shared {
            return false;
        }
        (self.file, self.shared) = (None, true);
        let (en, zh) = UNHEARD;
        self.trouble = Some(Text::new(en, zh));
        true
    }

    /// Keeps one more line, in a file that `create` makes for the first one.
    pub(super) fn add(&mut self, logged: &Logged, create: impl FnOnce() -> std::io::Result<File>) {
        self.count += 1;
        if self.full || self.shared {
            return;
        }
        let line = format!("{}\n", logged.to_json());
        self.bytes += line.len();
        self.full = self.bytes > KEPT;
        if self.full {
            self.trouble = Some(Text::new(
                "the lines of its handlers are more than can be read again",
                "handler 的日志行过多，无法重新读取",
            ));
            return;
        }
        let file = match &mut self.file {
            Some(file) => Ok(file),
            None => create().map(|file| self.file.insert(file)),
        };
        if let Err(error) = file.and_then(|file| file.write_all(line.as_bytes())) {
            self.full = true;
            self.trouble = Some(text!(
                "the lines of its handlers cannot be written: {error}",
                "handler 的日志行无法写入：{error}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_in_one_file_goes_on_in_the_next_unless_lines_are_shared() {
        let line =
            b"{\"informer\":{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"one\"}}}}";
        let logged = log::call_of(1, line).unwrap().unwrap();
        let mut lines = Lines::default();
        let refused = || Err(std::io::ErrorKind::NotFound.into());
        lines.add(&logged, refused);
        lines.add(&logged, || panic!("it was refused"));
        assert!(lines.trouble.is_some());
        lines.go_on();
        let mut asked = 0;
        let mut ask = |lines: &mut Lines| {
            lines.add(&logged, || {
                asked += 1;
                refused()
            });
            asked
        };
        assert_eq!(ask(&mut lines), 1);
        assert!(lines.share());
        lines.go_on();
        assert_eq!(ask(&mut lines), 1);
        assert!(!lines.share());
    }

    #[test]
    fn lines_are_counted_over_both_outputs_and_bad_ones_are_told() {
        let call = |name: &str| {
            format!(
                "{{\"informer\":{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"name\":\"{name}\"}}}}}}}}\n"
            )
        };
        let mut said = Said::default();
        let (one, two) = (call("one"), call("two"));
        let (half, rest) = one.split_at(20);
        let read = |said: &mut Said, from, text: &str| {
            let calls = said.read(from, text.as_bytes());
            let named = calls.into_iter().map(|one| (one.line, one.call.key));
            named.collect::<Vec<_>>()
        };
        assert_eq!(read(&mut said, Printed::Out, &format!("plain\n{half}")), []);
        assert_eq!(read(&mut said, Printed::Err, &two), [(2, "two".to_owned())]);
        assert_eq!(read(&mut said, Printed::Out, rest), [(3, "one".to_owned())]);
        let bad = "{\"informer\":{\"type\":\"GONE\",\"object\":{}}}\n";
        assert_eq!(
            read(&mut said, Printed::Out, &format!("{bad}{two}")).len(),
            1
        );
        let Counts {
            lines,
            unread,
            first_unread,
            ..
        } = said.counts();
        assert_eq!(
            (lines, unread, first_unread.map(|(line, _)| line)),
            (3, 1, Some(4))
        );
        // Of another file, lines count anew, after those that were there.
        said.begin(7);
        assert_eq!(read(&mut said, Printed::Out, &two)[0].0, 8);
    }
}
