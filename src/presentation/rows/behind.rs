//! The line below the timeline: how far the store is behind along the run.

use crate::view::View;
use deltascope_replay::picture::Behind;

/// The line is at least this many objects high, so that one object is always the same small step in a small run.
const LEAST: u64 = 4;

/// The line in a box that is as wide as the run has steps.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BehindRows {
    /// How many objects the box is high.
    pub high: u64,
    /// The most that the store is behind.
    pub most: u64,
    /// The area under the line, as the data of an SVG path.
    pub path: String,
    /// The parts where it is not known: the number of facts up to the first and to the last of each.
    pub unknown: Vec<(usize, usize)>,
}

/// The line along `steps` facts; none where there is nothing to compare.
#[must_use]
pub fn rows(view: &View, steps: usize) -> Option<BehindRows> {
    let parts = &view.behind;
    let most = parts.iter().filter_map(|(_, behind)| behind.count()).max();
    if parts.iter().all(|(_, behind)| *behind == Behind::Nothing) {
        return None;
    }
    let most = most.unwrap_or_default();
    let mut rows = BehindRows {
        high: most.max(LEAST),
        most,
        ..BehindRows::default()
    };
    let ends = parts.iter().skip(1).map(|(at, _)| *at as usize);
    for ((from, behind), until) in parts.iter().zip(ends.chain([view.steps])) {
        let (from, until) = (*from as usize, until.min(steps));
        match behind.count() {
            Some(0) => {}
            Some(count) => rows.path.push_str(&format!(
                "M{from} {high}V{}H{until}V{high}",
                rows.high - count,
                high = rows.high
            )),
            None if *behind == Behind::Unknown => rows.unknown.push((from, until)),
            None => {}
        }
    }
    Some(rows)
}
