//! The list of the functions that do not run before each first picture, or seldom (`starts.txt`, which `make starts` writes). What it
//! does not know stays in the main part, so that an old list costs some KB and no time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::Side;

/// The list as it is kept.
pub(crate) const TEXT: &str = include_str!("../../starts.txt");

/// Where the functions are that only the page has, and its first pictures do not need. What only they reach comes with them.
const OWN: &str = "deltascope_page::board::own::";

/// The digits of a function's content.
const DIGITS: usize = 8;

/// The functions of a list. It has a section for each side but the main one, and a headline over each. A line is a path, for all
/// functions that have it; or a path that ends with `::*`, for all below; or a path, a tab, and the contents of some that have it. Without
/// a path, they are the contents of large functions of the section, which are known by them when they have got another path. The
/// last section is about functions that do run. A line has columns: the content, the points to which control does not come for any first
/// picture, those to which it comes only on the page, or for elements that show more than most, and those to which it comes seldom.
#[derive(Default)]
pub(crate) struct List<'a> {
    sides: Vec<(Side, Names<'a>)>,
    /// Those to which control does not come, those to which it does, but not for most elements, and those to which it comes seldom.
    points: BTreeMap<&'a str, [BTreeSet<u32>; 3]>,
}

#[derive(Default)]
struct Names<'a> {
    whole: BTreeSet<&'a str>,
    below: BTreeSet<&'a str>,
    some: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> List<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        let mut list = Self::default();
        let mut is_points = false;
        for line in text.lines() {
            if let Some(headline) = line.strip_prefix("# ") {
                let side = match headline {
                    "page" => Side::Page,
                    "element" => Side::Element,
                    "more" => Side::More,
                    "rest" => Side::Rest,
                    "seldom" => Side::Seldom,
                    "points" => {
                        is_points = true;
                        continue;
                    }
                    _ => {
                        return Err(format!(
                            "starts.txt has a headline {headline}: write it anew, make starts"
                        ));
                    }
                };
                list.sides.push((side, Names::default()));
            } else if is_points {
                let mut columns = line.split('\t');
                let content = columns.next().unwrap_or_default();
                let mut points = || {
                    let ranges = columns.next().unwrap_or_default().split(' ');
                    ranges.filter_map(range).flatten().collect()
                };
                list.points.insert(content, [points(), points(), points()]);
            } else if let Some((_, names)) = list.sides.last_mut() {
                names.take(line);
            }
        }
        Ok(list)
    }

    /// Where a point of a function of a side should be, if the list knows it.
    pub(crate) fn point(&self, side: Side, content: &str, point: u32) -> Option<Side> {
        let [never, later, seldom] = self.points.get(content)?;
        Some(if seldom.contains(&point) {
            Side::Seldom
        } else if matches!(side, Side::Rest | Side::Own | Side::Seldom) {
            side
        } else if never.contains(&point) {
            Side::Rest
        } else if matches!(side, Side::Main | Side::Element) && later.contains(&point) {
            Side::More
        } else {
            side
        })
    }

    pub(crate) fn side(&self, path: &str, content: &str) -> Side {
        let mut sides = self.sides.iter();
        let known = sides.find(|(_, names)| names.has(path, content));
        let mut sides = self.sides.iter();
        let known = known.or_else(|| sides.find(|(_, names)| names.has("", content)));
        match known {
            Some((Side::Rest, _)) if path.starts_with(OWN) => Side::Own,
            Some((side, _)) => *side,
            None => Side::Main,
        }
    }
}

impl<'a> Names<'a> {
    fn take(&mut self, line: &'a str) {
        if let Some((path, contents)) = line.split_once('\t') {
            self.some.insert(path, contents.split(' ').collect());
        } else if let Some(path) = line.strip_suffix('*') {
            self.below.insert(path);
        } else {
            self.whole.insert(line);
        }
    }

    fn has(&self, path: &str, content: &str) -> bool {
        self.whole.contains(path)
            || self
                .some
                .get(path)
                .is_some_and(|some| some.contains(content))
            || path
                .match_indices("::")
                .any(|(at, _)| self.below.contains(&path[..at + 2]))
    }
}

/// `3-5`, or `7`.
fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some(from.parse().ok()?..=to.parse().ok()?)
}

/// A function's path: its name without numbers, also without those of the standard library's crates.
pub(crate) fn path_of(name: &str) -> String {
    let is_number = |number: &str| {
        number.len() == DIGITS_OF_A_NAME && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let path = name
        .rsplit_once("::h")
        .filter(|(_, number)| is_number(number));
    let path = path.map_or(name, |(path, _)| path);
    let mut parts = path.split('[');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_at_checked(DIGITS_OF_A_NAME) {
            Some((number, rest))
                if number.bytes().all(|byte| byte.is_ascii_hexdigit()) && rest.starts_with(']') =>
            {
                plain.push_str(&rest[1..]);
            }
            _ => {
                plain.push('[');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// The digits of the number of a function, or a crate.
const DIGITS_OF_A_NAME: usize = 16;

pub(crate) fn short(content: u64) -> String {
    let mut digits = format!("{content:016x}");
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::{List, path_of, short};
    use crate::cut::Side;

    #[test]
    fn a_list_knows_paths_what_is_below_them_and_some_of_those_with_one_path() {
        let list = List::read(
            "# page\na::b\n# rest\n\tfedcba\na::c::*\n<T as d::E>::f\t0123ab 45cdef\n# seldom\ng\n# points\n89\t1-3 7\t6\t2\n",
        )
        .unwrap();
        for (path, content, side) in [
            ("a::b", "", Side::Page),
            ("a::b::g", "", Side::Main),
            ("a::c::g", "", Side::Rest),
            ("a::c::g::h", "", Side::Rest),
            ("a::c", "", Side::Main),
            ("<T as d::E>::f", "45cdef", Side::Rest),
            ("<T as d::E>::f", "45cdee", Side::Main),
            ("another", "fedcba", Side::Rest),
            ("g", "", Side::Seldom),
        ] {
            assert_eq!(list.side(path, content), side, "{path} {content}");
        }
        for (side, points) in [
            (Side::Page, "PRSRPPPR"),
            (Side::Main, "0RSR00MR"),
            (Side::Rest, "RRSRRRRR"),
        ] {
            let told = (0..8).map(|point| match list.point(side, "89", point) {
                Some(Side::Rest) => 'R',
                Some(Side::More) => 'M',
                Some(Side::Seldom) => 'S',
                Some(Side::Page) => 'P',
                _ => '0',
            });
            assert_eq!(told.collect::<String>(), points);
        }
        assert_eq!(list.point(Side::Main, "8", 1), None);
        assert!(List::read("# others\n").is_err());
    }

    #[test]
    fn a_path_has_no_numbers() {
        let name = "<[T] as core[c5930c85a12de822]::a>::b::h0123456789abcdef";
        assert_eq!(path_of(name), "<[T] as core::a>::b");
        assert_eq!(path_of("core::hash::b"), "core::hash::b");
        assert_eq!(short(0x0012_3456_789a_bcde), "00123456");
    }
}
