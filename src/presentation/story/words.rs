//! The words of a story: plain text with a little markup.

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Plain.
    Plain(&'a str),
    /// A term, where it is introduced: `**Reflector**`.
    Term(&'a str),
    /// Emphasized: `*never*`.
    Emphasis(&'a str),
    /// Code: `` `OnAdd` ``.
    Code(&'a str),
}

type Wrap = for<'a> fn(&'a str) -> Piece<'a>;

const MARKS: [(&str, Wrap); 3] = [
    ("**", |text| Piece::Term(text)),
    ("*", |text| Piece::Emphasis(text)),
    ("`", |text| Piece::Code(text)),
];

/// The pieces of a text. A mark without its end is plain text.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(next) = text[at..].find(['*', '`']) {
        let from = at + next;
        let marked = MARKS.iter().find_map(|(mark, wrap)| {
            let inner = text[from..].strip_prefix(mark)?;
            let end = inner.find(mark).filter(|end| *end > 0)?;
            Some((wrap(&inner[..end]), from + end + 2 * mark.len()))
        });
        let Some((piece, end)) = marked else {
            at = from + 1;
            continue;
        };
        if plain < from {
            found.push(Piece::Plain(&text[plain..from]));
        }
        found.push(piece);
        (plain, at) = (end, end);
    }
    if plain < text.len() {
        found.push(Piece::Plain(&text[plain..]));
    }
    found
}

/// The text without its marks.
#[must_use]
pub fn plain(text: &str) -> String {
    let pieces = pieces(text).into_iter();
    pieces.map(Piece::text).collect()
}

impl<'a> Piece<'a> {
    /// Its text.
    #[must_use]
    pub fn text(self) -> &'a str {
        match self {
            Self::Plain(text) | Self::Term(text) | Self::Emphasis(text) | Self::Code(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_and_what_has_no_end_is_plain() {
        use Piece::{Code, Emphasis, Plain, Term};
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![Plain("a")]),
            ("**队列**里", vec![Term("队列"), Plain("里")]),
            (
                "a *b* `c*d`.",
                vec![
                    Plain("a "),
                    Emphasis("b"),
                    Plain(" "),
                    Code("c*d"),
                    Plain("."),
                ],
            ),
            ("2 * 3, 4 `", vec![Plain("2 * 3, 4 `")]),
            ("**a", vec![Plain("**a")]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
        assert_eq!(plain("a **b** *c*"), "a b c");
    }
}
