//! A line that is built, from a template or piece by piece, within the limit of a printed one.

use std::sync::Arc;

use super::bounds::MAX_PRINTED;

/// A line under construction, of at most [`MAX_PRINTED`] bytes.
#[derive(Clone, Debug, Default)]
pub struct Line {
    text: String,
    cut: bool,
}

impl Line {
    /// Appends as much of `more` as fits.
    pub fn push(&mut self, more: &str) {
        if self.cut {
            return;
        }
        let room = MAX_PRINTED - self.text.len();
        if more.len() <= room {
            return self.text.push_str(more);
        }
        let ends = more.char_indices().map(|(at, _)| at);
        let end = ends.take_while(|at| *at <= room).last().unwrap_or_default();
        self.text.push_str(more.get(..end).unwrap_or_default());
        self.cut = true;
    }

    /// Whether the line is full; further text is dropped.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.cut
    }

    /// The finished line; it says so if text was dropped.
    #[must_use]
    pub(crate) fn into_text(mut self) -> Arc<str> {
        if self.cut {
            self.text
                .push_str(&format!("… (cut after {MAX_PRINTED} bytes)"));
        }
        self.text.into()
    }

    /// Fills in a template: replaces each `{name}` by its value.
    #[must_use]
    pub fn filled(template: &str, values: &[(&str, &str)]) -> Self {
        let mut line = Self::default();
        let mut rest = template;
        while let Some(at) = rest.find('{')
            && !line.is_full()
        {
            let (before, from) = rest.split_at(at);
            line.push(before);
            let found = values
                .iter()
                .find_map(|(name, value)| Some((from.strip_prefix(name)?, *value)));
            match found {
                Some((after, value)) => {
                    line.push(value);
                    rest = after;
                }
                None => {
                    line.push("{");
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        line.push(rest);
        line
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        self.push(more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_in_once_and_cut_at_its_limit() {
        let values = [("{name}", "{rv}"), ("{rv}", "7")];
        for (template, line) in [
            ("", ""),
            ("a {name} {rv}{rv} {nam} {", "a {rv} 77 {nam} {"),
            ("名{name}", "名{rv}"),
        ] {
            assert_eq!(&*Line::filled(template, &values).into_text(), line);
        }
        let long = "名".repeat(MAX_PRINTED);
        let line = Line::filled("{name}{name}", &[("{name}", &long)]);
        assert!(line.is_full());
        let text = line.into_text();
        assert!(text.ends_with("名… (cut after 16384 bytes)"));
        assert!(text.len() < MAX_PRINTED + 40);
        let exact = "x".repeat(MAX_PRINTED);
        assert_eq!(&*Line::filled(&exact, &[]).into_text(), exact);
    }
}
