//! Finds the fenced blocks of a chapter, in any nesting.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The first word of a block's info string.
pub(super) const WORD: &str = "deltascope";

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// From its opening fence to the end of its closing one.
    pub(super) range: Range<usize>,
    /// The line of its opening fence, from 1.
    pub(super) line: usize,
    /// The info string, as written.
    pub(super) info: String,
    /// The text between the fences, without the prefixes of the containers around it.
    pub(super) body: String,
    /// The opening fence: backticks or tildes.
    pub(super) marks: String,
    /// Whether it has a closing fence. Without one it extends to the end of its container.
    pub(super) is_closed: bool,
    /// The prefix of a further line in the same containers.
    pub(super) prefix: String,
    /// Offset and line of each piece of the body.
    pieces: Vec<(usize, usize)>,
}

impl Fence {
    /// The line of an offset in the body.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let before = self.pieces.iter().rev().find(|(start, _)| *start <= offset);
        before.map_or(self.line, |(start, line)| {
            let between = self.body.get(*start..offset).unwrap_or_default();
            line + between.matches('\n').count()
        })
    }

    /// The line of the body that looks like another fence. If there is one, this block may lack its closing fence.
    pub(super) fn line_of_other(&self) -> Option<usize> {
        let mut lines = self.body.split_inclusive('\n');
        let mut offset = 0;
        lines.find_map(|line| {
            let start = offset;
            offset += line.len();
            line.trim_start()
                .starts_with(&self.marks)
                .then(|| self.line_at(start))
        })
    }

    /// The first word of the info string.
    pub(super) fn word(&self) -> &str {
        let end = self.info.find(|c: char| c.is_whitespace() || c == ',');
        &self.info[..end.unwrap_or(self.info.len())]
    }

    /// Whether it is one of our blocks, or is meant to be.
    fn is_ours(&self) -> bool {
        let letters = self.word().chars().filter(char::is_ascii_alphanumeric);
        letters.collect::<String>().eq_ignore_ascii_case(WORD)
    }
}

/// mdBook's defaults, as far as they concern blocks; inline extensions do not matter.
pub(super) fn markdown_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM
}

/// Our blocks, in order.
pub(super) fn fences(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut inside = false;
    let mut literal: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(text, markdown_options()).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) = event {
            literal.push(range.clone());
        }
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                inside = true;
                found.push(opened(text, range));
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(part) if inside => {
                if let Some(fence) = found.last_mut() {
                    let line = line_of(text, range.start);
                    fence.pieces.push((fence.body.len(), line));
                    fence.body.push_str(&part);
                    // The rest of the block is its closing fence, or nothing.
                    let rest = text.get(range.end..fence.range.end).unwrap_or_default();
                    fence.is_closed = rest.contains(&fence.marks);
                }
            }
            _ => {}
        }
    }
    found.retain(Fence::is_ours);
    found.extend(broken(text, &literal));
    found.sort_by_key(|fence| fence.range.start);
    found
}

/// Lines that look like the beginning of a block but are none in Markdown: an info string after backticks must not
/// contain backticks. Without a check they would be rendered as text, unnoticed.
fn broken(text: &str, literal: &[Range<usize>]) -> Vec<Fence> {
    let opening = format!("```{WORD}");
    let starts = text.match_indices(&opening).map(|(at, _)| at);
    let starts = starts.filter(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.chars().all(|c| " \t>-*+.)0123456789".contains(c))
    });
    starts
        .filter(|at| !literal.iter().any(|range| range.contains(at)))
        .map(|at| {
            let length = text.get(at..).and_then(|rest| rest.find('\n'));
            let end = length.map_or(text.len(), |length| at + length);
            Fence {
                // It has nothing to close.
                is_closed: true,
                ..opened(text, at..end)
            }
        })
        .collect()
}

fn opened(text: &str, range: Range<usize>) -> Fence {
    let block = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (block.len() - block.trim_start_matches([' ', '\t']).len());
    let end = range.start + block.trim_end_matches(['\n', '\r']).len();
    let block = text.get(start..end).unwrap_or_default();
    let first = block.lines().next().unwrap_or_default();
    let info = first.trim_start_matches(['`', '~']);
    let marks = &first[..first.len() - info.len()];
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let prefix = &text[line_start..start];
    Fence {
        range: start..end,
        line: line_of(text, start),
        info: info.trim().to_owned(),
        body: String::new(),
        is_closed: block[first.len()..].contains(marks),
        marks: marks.to_owned(),
        prefix: prefix
            .chars()
            .map(|c| if matches!(c, '>' | '\t') { c } else { ' ' })
            .collect(),
        pieces: Vec::new(),
    }
}

/// The line of an offset in a text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count() + 1
}
