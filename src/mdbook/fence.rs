//! Finds the fenced blocks of a chapter, wherever they are nested.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// What a block's info string begins with.
pub(super) const WORD: &str = "deltascope";

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// From its opening marks to the end of its closing ones.
    pub(super) range: Range<usize>,
    /// The line of its opening marks, from 1.
    pub(super) line: usize,
    /// What stands behind the opening marks, as it is written.
    pub(super) info: String,
    /// What stands between the marks, without what the containers begin its lines with.
    pub(super) body: String,
    /// What a further line in the same containers begins with.
    pub(super) prefix: String,
    /// Where pieces of the body begin, and on which line.
    pieces: Vec<(usize, usize)>,
}

impl Fence {
    /// The line of a place in the body.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let before = self.pieces.iter().rev().find(|(start, _)| *start <= offset);
        before.map_or(self.line, |(start, line)| {
            let between = self.body.get(*start..offset).unwrap_or_default();
            line + between.matches('\n').count()
        })
    }

    /// What its info string begins with.
    pub(super) fn word(&self) -> &str {
        let end = self.info.find(|c: char| c.is_whitespace() || c == ',');
        &self.info[..end.unwrap_or(self.info.len())]
    }

    /// Whether it is one of ours, or is meant to be.
    fn is_ours(&self) -> bool {
        let letters = self.word().chars().filter(char::is_ascii_alphanumeric);
        letters.collect::<String>().eq_ignore_ascii_case(WORD)
    }
}

/// Our blocks, in order.
pub(super) fn fences(text: &str) -> Vec<Fence> {
    // As mdBook reads them by default: what contains blocks matters, what is inline does not.
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM;
    let mut found: Vec<Fence> = Vec::new();
    let mut inside = false;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
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
                }
            }
            _ => {}
        }
    }
    found.retain(Fence::is_ours);
    found
}

fn opened(text: &str, range: Range<usize>) -> Fence {
    let block = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (block.len() - block.trim_start_matches([' ', '\t']).len());
    let end = range.start + block.trim_end_matches(['\n', '\r']).len();
    let block = text.get(start..end).unwrap_or_default();
    let first = block.lines().next().unwrap_or_default();
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let prefix = &text[line_start..start];
    Fence {
        range: start..end,
        line: line_of(text, start),
        info: first.trim_start_matches(['`', '~']).trim().to_owned(),
        body: String::new(),
        prefix: prefix
            .chars()
            .map(|c| if matches!(c, '>' | '\t') { c } else { ' ' })
            .collect(),
        pieces: Vec::new(),
    }
}

/// The line of a place in a text, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count() + 1
}
