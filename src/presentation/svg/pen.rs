//! Writes the elements of a picture: measured text, boxes and paths.
//!
//! Numbers are whole px. The widths of letters are upper bounds, because the reader's font is not known.

use super::colors::{Ink, MONO, SANS, TOKENS};
use crate::anchor::Anchor;
use crate::command::SvgOptions;
use crate::options::Theme;
use crate::strings::{Strings, strings};
use crate::view::View;

/// How a piece of text is set; small enough to be passed as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// In tenths of a px.
    size: u8,
    /// [`MONOSPACED`], [`BOLD`] and [`STRUCK`].
    flags: u8,
    ink: Ink,
}

const MONOSPACED: u8 = 1;
const BOLD: u8 = 2;
const STRUCK: u8 = 4;

/// Monospaced type; `size` in tenths of a px.
pub(super) const fn mono(size: u8, ink: Ink) -> Type {
    Type {
        size,
        flags: MONOSPACED,
        ink,
    }
}

/// Proportional type; `size` in tenths of a px.
pub(super) const fn sans(size: u8, ink: Ink) -> Type {
    Type {
        size,
        flags: 0,
        ink,
    }
}

impl Type {
    pub(super) const fn bold(self) -> Self {
        self.with(BOLD, true)
    }

    pub(super) const fn bold_if(self, bold: bool) -> Self {
        self.with(BOLD, bold)
    }

    pub(super) const fn struck(self, struck: bool) -> Self {
        self.with(STRUCK, struck)
    }

    const fn with(mut self, flag: u8, on: bool) -> Self {
        if on {
            self.flags |= flag;
        }
        self
    }

    const fn is(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) const fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// The type of code within a sentence of this type.
    pub(super) const fn code(self) -> Self {
        let size = self.tenths() * 92 / 100;
        mono(if size < 110 { 110 } else { size as u8 }, self.ink)
    }

    pub(super) const fn tenths(self) -> i32 {
        self.size as i32
    }
}

/// A count as a number for computing with px.
pub(super) const fn count(number: usize) -> i32 {
    number as i32
}

/// Which point of a text its `x` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Start,
    Middle,
    End,
}

/// A box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) w: i32,
    pub(super) h: i32,
}

pub(super) const fn area(x: i32, y: i32, w: i32, h: i32) -> Area {
    Area { x, y, w, h }
}

impl Area {
    pub(super) const fn right(self) -> i32 {
        self.x + self.w
    }

    pub(super) const fn bottom(self) -> i32 {
        self.y + self.h
    }

    pub(super) const fn middle(self) -> i32 {
        self.y + self.h / 2
    }

    /// The box without `dx` and `dy` at each side.
    pub(super) const fn inset(self, dx: i32, dy: i32) -> Self {
        area(self.x + dx, self.y + dy, self.w - 2 * dx, self.h - 2 * dy)
    }

    /// The part of the box below `y`.
    pub(super) const fn below(self, y: i32) -> Self {
        area(self.x, y, self.w, self.y + self.h - y)
    }
}

/// A drawn element, recorded for the tests.
#[cfg(test)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) what: &'static str,
    pub(super) text: String,
    pub(super) area: Area,
}

/// The picture that is being written.
pub(super) struct Pen<'a> {
    pub(super) out: String,
    pub(super) view: &'a View,
    pub(super) options: &'a SvgOptions,
    pub(super) words: &'static Strings,
    /// The bottom edge of the room, for content that is aligned to it; 0 while the room is only measured.
    pub(super) floor: i32,
    /// Whether the picture is an element's poster.
    pub(super) framed: bool,
    /// Whether it shows the scene of a story: without what a story has no words for.
    pub(super) telling: bool,
    /// The same, for whoever is new.
    pub(super) plain: bool,
    /// Whether the rooms that its scene is not about recede; not where one room is shown at a time.
    pub(super) dims: bool,
    /// The places of a poster's room where something can have been dropped, as far as they are not the room.
    pub(super) droppable: Vec<(Anchor, Area)>,
    /// Which colours are used as a fill and as a stroke, one bit each.
    used: [u32; 2],
    #[cfg(test)]
    pub(super) spots: Vec<Spot>,
}

/// A zero-width space: a line may end here.
const BREAK: char = '\u{200b}';

/// An upper bound of the width of a letter, in thousandths of its size. No letter of DejaVu Sans, the widest of the
/// fonts, is wider.
fn advance(letter: char, text: Type) -> i32 {
    let width = match letter {
        BREAK => 0,
        '\u{1f000}'.. => 1_400,
        '\u{2e80}'.. | '\u{1100}'..'\u{1200}' => 1_000,
        _ if text.is(MONOSPACED) => 605,
        'i' | 'j' | 'l' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '·' => 360,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' | '"' | '!' => 470,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1_000,
        'A'..='Z' => 790,
        '=' | '+' | '<' | '>' | '#' | '&' | '^' | '~' | '\u{d7}' | '\u{2190}'..='\u{22ff}' => 840,
        _ => 640,
    };
    if text.flags & (BOLD | MONOSPACED) == BOLD {
        width * 9 / 8
    } else {
        width
    }
}

/// In px, wider than any picture. Wider texts are measured as this wide, so that no sum overflows.
const WIDEST: i32 = 100_000;

/// px in the unit of [`fine_advance`]: ten-thousandths of a px.
const fn fine(px: i32) -> i64 {
    px as i64 * 10_000
}

fn fine_advance(letter: char, of: Type) -> i64 {
    i64::from(advance(letter, of)) * i64::from(of.tenths())
}

/// An upper bound of the width of a text, in px.
pub(super) fn measure(text: &str, of: Type) -> i32 {
    let mut width = 0;
    for letter in text.chars() {
        width += fine_advance(letter, of);
        if width >= fine(WIDEST) {
            return WIDEST;
        }
    }
    ((width + fine(1) - 1) / fine(1)) as i32
}

/// The beginning of a text that fits, and `…`.
fn cut(text: &str, w: i32, of: Type) -> String {
    let mut left = fine(w) - fine_advance('…', of);
    let mut short = String::new();
    for letter in text.chars() {
        left -= fine_advance(letter, of);
        if left < 0 {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

/// Shortens a name: first it loses its namespace, unless that is cut already; then its middle, because the ends of
/// names distinguish the pods of one owner.
fn cut_name(text: &str, w: i32, of: Type) -> String {
    const END: usize = 5;
    let name = match text.rfind('/') {
        Some(at) if !text.contains('…') => &text[at + 1..],
        _ => text,
    };
    if measure(name, of) <= w {
        return name.to_owned();
    }
    let middle = name.chars().count().saturating_sub(END);
    let middle = name.char_indices().nth(middle).map_or(0, |(at, _)| at);
    let (start, end) = name.split_at(middle);
    let left = w - measure(end, of);
    if left < measure("a…", of) {
        return cut(name, w, of);
    }
    cut(start, left, of) + end
}

/// A line of text: runs of letters of one type.
pub(super) type Runs = Vec<(String, Type)>;

/// Breaks a text into lines of at most `w`; a word is broken only if it is longer than a line.
pub(super) fn wrap(runs: &[(&str, Type)], w: i32) -> Vec<Runs> {
    let letters: Vec<(char, Type)> = runs
        .iter()
        .flat_map(|(text, of)| text.chars().map(|letter| (letter, *of)))
        .collect();
    let mut lines = Vec::new();
    let (mut start, mut at, mut good, mut x) = (0, 0, 0, 0_i64);
    while let Some((letter, of)) = letters.get(at) {
        let is_han = |letter: char| letter > '\u{2e7f}';
        // Punctuation does not begin a line.
        let is_mark = matches!(
            letter,
            '，' | '。' | '、' | '；' | '：' | '！' | '？' | '）' | '”' | '」'
        );
        let before = at.checked_sub(1).map_or('a', |before| letters[before].0);
        if matches!(before, ' ' | BREAK)
            || ((is_han(*letter) || is_han(before)) && !is_mark && before != '（')
        {
            good = at;
        }
        x += fine_advance(*letter, *of);
        if x > fine(w) && *letter != ' ' && at > start {
            let end = if good > start { good } else { at };
            lines.push(joined(&letters[start..end]));
            (start, at, good, x) = (end, end, end, 0);
            continue;
        }
        at += 1;
    }
    if start < letters.len() {
        lines.push(joined(&letters[start..]));
    }
    lines
}

fn joined(letters: &[(char, Type)]) -> Runs {
    let mut runs = Runs::new();
    for (letter, of) in letters.iter().filter(|(letter, _)| *letter != BREAK) {
        match runs.last_mut() {
            Some((text, last)) if last == of => text.push(*letter),
            _ => runs.push((letter.to_string(), *of)),
        }
    }
    runs
}

/// Escapes text between tags. Characters that XML forbids are replaced: names come from users.
pub fn escape(text: &str, to: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            '\t' | '\n' | '\r' => to.push(' '),
            '\0'..' ' | '\u{7f}'..'\u{a0}' | '\u{fffe}' | '\u{ffff}' => to.push('\u{fffd}'),
            letter => to.push(letter),
        }
    }
}

impl<'a> Pen<'a> {
    pub(super) fn new(view: &'a View, options: &'a SvgOptions) -> Self {
        Self {
            out: String::new(),
            view,
            options,
            words: strings(options.lang),
            floor: 0,
            framed: false,
            telling: view.story.is_some(),
            dims: true,
            plain: view.story.as_ref().is_some_and(|one| one.plain),
            droppable: Vec::new(),
            used: [0; 2],
            #[cfg(test)]
            spots: Vec::new(),
        }
    }

    /// Markup, without escaping.
    pub(super) fn raw(&mut self, parts: &[&str]) {
        for part in parts {
            self.out.push_str(part);
        }
    }

    /// Text between tags, escaped.
    pub(super) fn escape(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// A numeric attribute; its value in tenths.
    fn number(&mut self, name: &str, tenths: i32) {
        let (whole, rest) = ((tenths / 10).to_string(), (tenths % 10).to_string());
        self.raw(&[" ", name, "=\"", &whole]);
        if rest != "0" {
            self.raw(&[".", &rest]);
        }
        self.out.push('"');
    }

    /// The class that fills with a colour (`f`) or draws with it (`s`).
    fn class(&mut self, kind: usize, ink: Ink) {
        self.used[kind] |= 1 << ink.0;
        let kind = ["f", "s"][kind];
        self.raw(&[kind, &ink.0.to_string(), " "]);
    }

    fn painted(&mut self, fill: Ink, stroke: Ink, more: &str) {
        self.out.push_str(" class=\"");
        for (kind, ink) in [fill, stroke].into_iter().enumerate() {
            if ink != Ink::NONE {
                self.class(kind, ink);
            }
        }
        if self.out.ends_with(' ') {
            self.out.pop();
        }
        self.raw(&["\"", more, "/>"]);
    }

    /// Whether something that ends at this height is below its room: in an element it is scrolled out of sight.
    pub(super) fn is_below(&self, bottom: i32) -> bool {
        self.framed && self.floor > 0 && bottom > self.floor + 3
    }

    /// A box with round corners; `more` are its other attributes.
    pub(super) fn rect(&mut self, at: Area, r: i32, fill: Ink, stroke: Ink, more: &str) {
        if self.is_below(at.bottom()) {
            return;
        }
        self.out.push_str("<rect");
        let Area { x, y, w, h } = at;
        for (name, number) in [("x", x), ("y", y), ("width", w), ("height", h), ("rx", r)] {
            self.number(name, number.max(0) * 10);
        }
        self.painted(fill, stroke, more);
    }

    /// A path with its origin at (`x`, `y`); `more` are its other attributes.
    pub(super) fn path(&mut self, x: i32, y: i32, d: &str, fill: Ink, stroke: Ink, more: &str) {
        if self.is_below(y) {
            return;
        }
        let (x, y) = (x.to_string(), y.to_string());
        self.raw(&[
            "<path transform=\"translate(",
            &x,
            " ",
            &y,
            ")\" d=\"",
            d,
            "\"",
        ]);
        self.painted(fill, stroke, more);
    }

    /// A line from (`x`, `y`) by (`dx`, `dy`).
    pub(super) fn line(&mut self, x: i32, y: i32, dx: i32, dy: i32, ink: Ink, more: &str) {
        let (dx, dy) = (dx.to_string(), dy.to_string());
        let d = ["M0 0l", &dx, " ", &dy].concat();
        self.path(x, y, &d, Ink::NONE, ink, more);
    }

    /// A tooltip; a poster is an image, which has none.
    pub(super) fn title(&mut self, text: &str) {
        if self.framed {
            return;
        }
        self.out.push_str("<title>");
        self.escape(text);
        self.out.push_str("</title>");
    }

    /// One line of text, centred at the height `cy`; `whole` is the full text if it is cut. Returns the width.
    fn set(&mut self, x: i32, cy: i32, at: At, runs: &[(&str, Type)], whole: Option<&str>) -> i32 {
        let width = runs.iter().map(|(text, of)| measure(text, *of)).sum();
        let Some((_, first)) = runs.first() else {
            return 0;
        };
        if self.is_below(cy + first.tenths() / 20) {
            return width;
        }
        #[cfg(test)]
        self.spots.push(Spot {
            what: "text",
            text: runs.iter().map(|(text, _)| *text).collect(),
            area: area(
                match at {
                    At::Start => x,
                    At::Middle => x - width / 2,
                    At::End => x - width,
                },
                cy - first.tenths() / 20,
                width,
                first.tenths() / 10,
            ),
        });
        self.out.push_str("<text");
        self.number("x", x * 10);
        self.number("y", cy * 10 + first.tenths() * 36 / 100);
        match at {
            At::Start => {}
            At::Middle => self.out.push_str(" text-anchor=\"middle\""),
            At::End => self.out.push_str(" text-anchor=\"end\""),
        }
        if let [(text, of)] = runs {
            self.typed(*of);
            if let Some(whole) = whole {
                self.title(whole);
            }
            self.escape(text);
        } else {
            self.out.push('>');
            if let Some(whole) = whole {
                self.title(whole);
            }
            for (text, of) in runs {
                self.out.push_str("<tspan");
                self.typed(*of);
                self.escape(text);
                self.out.push_str("</tspan>");
            }
        }
        self.out.push_str("</text>");
        width
    }

    fn typed(&mut self, of: Type) {
        self.number("font-size", of.tenths());
        self.out.push_str(" class=\"");
        self.class(0, of.ink);
        for (on, class) in [(MONOSPACED, "m "), (BOLD, "b "), (STRUCK, "k ")] {
            if of.is(on) {
                self.out.push_str(class);
            }
        }
        self.out.pop();
        self.out.push_str("\">");
    }

    /// One line of runs in `w` px; what does not fit is cut. Returns the width.
    pub(super) fn runs(&mut self, x: i32, cy: i32, w: i32, at: At, runs: &[(&str, Type)]) -> i32 {
        let mut left = w;
        let mut shown = Runs::new();
        let mut whole = None;
        for (text, of) in runs.iter().filter(|(text, _)| !text.is_empty()) {
            let width = measure(text, *of);
            if width > left {
                if left >= measure("…", *of) {
                    shown.push((cut(text, left, *of), *of));
                }
                whole = Some(runs.iter().map(|(text, _)| *text).collect::<String>());
                break;
            }
            left -= width;
            shown.push(((*text).to_owned(), *of));
        }
        let shown: Vec<_> = shown.iter().map(|(text, of)| (&**text, *of)).collect();
        self.set(x, cy, at, &shown, whole.as_deref())
    }

    /// One line of one run. Returns the width.
    pub(super) fn text(&mut self, x: i32, cy: i32, w: i32, at: At, text: &str, of: Type) -> i32 {
        self.runs(x, cy, w, at, &[(text, of)])
    }

    /// A text in a box with this outline.
    pub(super) fn line_in(&mut self, at: Area, text: &str, of: Type) {
        self.text(at.x + 7, at.middle(), at.w - 14, At::Start, text, of);
    }

    /// A name, cut by [`cut_name`] if it does not fit; the full name is then its tooltip. Returns the width.
    pub(super) fn name(&mut self, x: i32, cy: i32, w: i32, name: &str, of: Type) -> i32 {
        if measure(name, of) <= w {
            return self.text(x, cy, w, At::Start, name, of);
        }
        if w < measure("…", of) {
            return 0;
        }
        let short = cut_name(name, w, of);
        self.set(x, cy, At::Start, &[(&short, of)], Some(name))
    }

    /// At most `most` lines of text; the last one is cut if there are more. Returns the height.
    pub(super) fn lines(
        &mut self,
        to: Area,
        line: i32,
        at: At,
        lines: &[Runs],
        most: usize,
    ) -> i32 {
        let mut y = to.y;
        for (number, runs) in lines.iter().take(most).enumerate() {
            let mut runs: Vec<_> = runs.iter().map(|(text, of)| (&**text, *of)).collect();
            let mut whole = None;
            let cut_off;
            if number + 1 == most && lines.len() > most {
                let all = lines.iter().flatten().map(|(text, _)| &**text);
                whole = Some(all.collect::<String>());
                if let Some((text, of)) = runs.pop() {
                    let before: i32 = runs.iter().map(|(text, of)| measure(text, *of)).sum();
                    cut_off = cut(text, to.w - before, of);
                    runs.push((&cut_off, of));
                }
            }
            let x = match at {
                At::Start => to.x,
                At::Middle => to.x + to.w / 2,
                At::End => to.right(),
            };
            self.set(x, y + line / 2, at, &runs, whole.as_deref());
            y += line;
        }
        y - to.y
    }

    /// A text of one type, wrapped. Returns the height.
    pub(super) fn para(&mut self, to: Area, line: i32, most: usize, text: &str, of: Type) -> i32 {
        let lines = wrap(&[(text, of)], to.w);
        self.lines(to, line, At::Start, &lines, most)
    }

    /// The number of spots, to which [`Self::drop_spots`] goes back. 0 outside of tests.
    #[cfg_attr(not(test), allow(clippy::unused_self))]
    pub(super) fn mark_spots(&self) -> usize {
        #[cfg(test)]
        return self.spots.len();
        #[cfg(not(test))]
        0
    }

    /// Forgets the spots from this number on.
    #[cfg_attr(not(test), allow(unused_variables, clippy::unused_self))]
    pub(super) fn drop_spots(&mut self, from: usize) {
        #[cfg(test)]
        self.spots.truncate(from);
    }

    /// The height of what `draw` draws, without a trace of it.
    pub(super) fn measured(&mut self, draw: impl FnOnce(&mut Self) -> i32) -> i32 {
        let (length, spots) = (self.out.len(), self.mark_spots());
        let high = draw(self);
        self.out.truncate(length);
        self.drop_spots(spots);
        high
    }

    /// Begins a part under a name that is in the picture.
    pub(super) fn begin_part(&mut self, name: &str) {
        self.raw(&["<g data-part=\"", name, "\">"]);
    }

    /// Begins a room: the tests check that later spots are inside.
    #[cfg_attr(not(test), allow(unused_variables, clippy::unused_self))]
    pub(super) fn room(&mut self, room: &str, a: Area) {
        #[cfg(test)]
        self.spots.push(Spot {
            what: "room",
            text: room.to_owned(),
            area: a,
        });
    }

    /// Writes the style sheet for the colours that this pen and `under` used, in the theme of the options.
    pub(super) fn style_with(&self, under: &Pen, out: &mut String) {
        let used = [0, 1].map(|kind| self.used[kind] | under.used[kind]);
        let put = |out: &mut String, parts: &[&str]| {
            for part in parts {
                out.push_str(part);
            }
        };
        put(
            out,
            &[
                "<style>.dsg{font-family:",
                SANS,
                "}.dsg text{white-space:pre}.dsg .m{font-family:",
                MONO,
                "}.dsg .b{font-weight:650}.dsg .k{text-decoration:line-through}",
            ],
        );
        let theme = self.options.theme;
        for (number, (name, light, dark)) in TOKENS.iter().enumerate() {
            for (kind, property) in [("f", "fill"), ("s", "stroke")].iter().enumerate() {
                if used[kind] & 1 << number == 0 {
                    continue;
                }
                let first = if theme == Some(Theme::Dark) {
                    dark
                } else {
                    light
                };
                let number = number.to_string();
                put(
                    out,
                    &[".dsg .", property.0, &number, "{", property.1, ":", first],
                );
                if theme.is_none() {
                    // A renderer without CSS variables keeps the first declaration.
                    put(out, &[";", property.1, ":var(--dsg-", name, ")"]);
                }
                out.push('}');
            }
        }
        if theme.is_none() {
            for (rule, is_dark) in [
                (".dsg{", false),
                ("@media (prefers-color-scheme:dark){.dsg{", true),
                (".dsg:has(#light:target){", false),
                (".dsg:has(#dark:target){", true),
            ] {
                out.push_str(rule);
                for (number, (name, light, dark)) in TOKENS.iter().enumerate() {
                    if (used[0] | used[1]) & 1 << number != 0 {
                        let colour = if is_dark { dark } else { light };
                        put(out, &["--dsg-", name, ":", colour, ";"]);
                    }
                }
                out.push_str(if rule.starts_with('@') { "}}" } else { "}" });
            }
        }
        out.push_str("</style>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widths of the letters of DejaVu Sans 2.37 from the space to `~`, in thousandths of their size, from its
    /// files (`hmtx`): Book, …
    const BOOK: [i32; 95] = [
        318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636,
        636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698,
        770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732,
        684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635,
        634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,
        525, 636, 337, 636, 838,
    ];
    /// … Bold, …
    const STRONG: [i32; 95] = [
        348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696,
        696, 696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734,
        830, 683, 683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812,
        774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716,
        712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652,
        582, 712, 365, 712, 838,
    ];
    /// … and other characters that the page writes: Book and Bold.
    const MORE: [(char, i32, i32); 15] = [
        ('·', 318, 380),
        ('×', 838, 838),
        ('–', 500, 500),
        ('—', 1000, 1000),
        ('‘', 318, 380),
        ('’', 318, 380),
        ('“', 518, 657),
        ('”', 518, 657),
        ('…', 1000, 1000),
        ('←', 838, 838),
        ('↑', 838, 838),
        ('→', 838, 838),
        ('↓', 838, 838),
        ('≤', 838, 838),
        ('≥', 838, 838),
    ];

    /// Every letter with its width, in plain and in bold type.
    fn letters() -> impl Iterator<Item = (char, Type, i32)> {
        let plain = sans(100, Ink::INK);
        let ascii = (' '..='~').zip(BOOK.into_iter().zip(STRONG));
        let all = ascii.map(|(letter, (book, strong))| (letter, book, strong));
        all.chain(MORE).flat_map(move |(letter, book, strong)| {
            [(letter, plain, book), (letter, plain.bold(), strong)]
        })
    }

    #[test]
    fn no_letter_is_wider_than_estimated_and_few_are_much_narrower() {
        for (letter, of, width) in letters() {
            let thought = advance(letter, of);
            assert!(
                width <= thought,
                "{letter:?} {of:?}: {width}, not {thought}"
            );
            // The estimate is not so high that texts are cut much too early.
            let cautious = thought * 100 / width;
            assert!(
                cautious <= 145 || matches!(letter, 'J' | '\u{2018}' | '\u{2019}'),
                "{letter:?} {of:?}: {width}, not {thought}"
            );
            // Some letter is nearly as wide as each estimate.
            let widest = letters()
                .filter(|(other, set, _)| *set == of && advance(*other, of) == thought)
                .map(|(_, _, width)| width);
            let widest = widest.max().unwrap_or_default();
            assert!(
                widest * 100 >= thought * 92,
                "{letter:?} {of:?}: {widest}, not {thought}"
            );
        }
        // DejaVu Sans Mono has one width, bold or not; a Han character is as wide as it is high.
        let mono = mono(100, Ink::INK);
        for (letter, of, width) in [
            ('a', mono, 602),
            ('W', mono, 602),
            ('→', mono.bold(), 602),
            ('队', mono, 1_000),
            ('队', sans(100, Ink::INK), 1_000),
            ('，', sans(100, Ink::INK), 1_000),
            ('한', sans(100, Ink::INK), 1_000),
            ('\u{1100}', sans(100, Ink::INK), 1_000),
        ] {
            let thought = advance(letter, of);
            assert!(
                (width..=width + 5).contains(&thought),
                "{letter:?} {thought}"
            );
        }
        assert_eq!(advance(BREAK, mono), 0);
        let (emoji, han) = (advance('\u{1f600}', mono), advance('队', mono));
        // A glyph of Noto Color Emoji is 2,550 of 2,048 units wide.
        assert!(emoji > han && (1_245..=1_450).contains(&emoji), "{emoji}");
    }

    #[test]
    fn a_text_of_any_length_has_a_width() {
        let of = sans(130, Ink::INK);
        let mut before = 0;
        for length in [0, 1, 60, 20_000, 26_000, 40_000, 7 << 20] {
            let text = "w".repeat(length);
            let width = measure(&text, of);
            let exact = length as u64 * 13;
            assert_eq!(
                u64::from(width.unsigned_abs()),
                exact.min(100_000),
                "{length}"
            );
            assert!(width >= before);
            before = width;
            for cut in [cut(&text, 200, of), cut_name(&text, 200, of)] {
                assert!(length < 60 || measure(&cut, of) <= 200, "{length}: {cut}");
            }
        }
        // Blanks stay at the end of their line, however many there are.
        let blanks = " ".repeat(60_000) + "a";
        assert_eq!(wrap(&[(&blanks, of)], 200).len(), 2);
    }
}
