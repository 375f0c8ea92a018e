//! The ticks of the timeline, as far as there is room for them.

use deltascope_cache::delta::DeltaType;

use crate::view::Tick;

/// The width of a tick, in px.
const WIDE: usize = 3;
/// What stands for several is at most so long, in px, …
const LONG: usize = 24;
/// … and from this length on says for how many, if the number fits.
const SAYS: usize = 18;

/// A tick, or several that would touch each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickRow {
    /// The number of facts up to the first.
    pub at: usize,
    /// The number of facts up to the last.
    pub until: usize,
    /// Their hue, if it is the same.
    pub delta_type: Option<DeltaType>,
    /// How many there are.
    pub count: usize,
    /// Whether there is room to say so.
    pub says: bool,
}

/// The ticks on a timeline of so many facts that is so many px long.
#[must_use]
pub fn rows(ticks: &[Tick], steps: usize, px: usize) -> Vec<TickRow> {
    let mut rows: Vec<TickRow> = Vec::new();
    // Before the first layout, as on a laptop.
    let px = if px == 0 { 800 } else { px };
    let long = |from: usize, until: usize| (until - from) * px;
    for tick in ticks {
        match rows.last_mut() {
            Some(last)
                if long(last.until, tick.at) <= WIDE * steps
                    && long(last.at, tick.at) <= LONG * steps =>
            {
                last.delta_type = last.delta_type.filter(|same| *same == tick.delta_type);
                last.until = tick.at;
                last.count += tick.count;
            }
            _ => rows.push(TickRow {
                at: tick.at,
                until: tick.at,
                delta_type: Some(tick.delta_type),
                count: tick.count,
                says: false,
            }),
        }
    }
    for row in &mut rows {
        // A digit takes less than 6 px.
        let least = SAYS.max(6 * row.count.to_string().len() + 6);
        row.says = row.count > 1 && long(row.at, row.until) >= least * steps;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeltaType::{Sync, Updated};

    #[test]
    fn ticks_that_would_touch_become_one_with_their_number() {
        let tick = |(at, delta_type)| Tick {
            at,
            delta_type,
            count: 2,
        };
        // Far more on each.
        let many: Vec<Tick> = (10..40)
            .map(|at| Tick {
                count: 1_000,
                ..tick((at, Sync))
            })
            .collect();
        let far = [(10, Sync), (14, Sync), (18, Updated)].map(tick);
        let near: Vec<Tick> = (10..40).map(|at| tick((at, Sync))).collect();
        let (sync, mixed) = (Some(Sync), None);
        for (ticks, steps, px, expected) in [
            (
                &far[..],
                100,
                100,
                vec![
                    (10, 10, sync, 2, false),
                    (14, 14, sync, 2, false),
                    (18, 18, Some(Updated), 2, false),
                ],
            ),
            (&far, 200, 100, vec![(10, 18, mixed, 6, false)]),
            (
                &near,
                100,
                100,
                vec![(10, 34, sync, 50, true), (35, 39, sync, 10, false)],
            ),
            (
                &near[..3],
                100,
                0,
                vec![
                    (10, 10, sync, 2, false),
                    (11, 11, sync, 2, false),
                    (12, 12, sync, 2, false),
                ],
            ),
            (&many[..20], 100, 100, vec![(10, 29, sync, 20_000, false)]),
            (&[], 0, 100, vec![]),
        ] {
            let rows = rows(ticks, steps, px);
            let found = rows
                .iter()
                .map(|row| (row.at, row.until, row.delta_type, row.count, row.says));
            assert_eq!(
                found.collect::<Vec<_>>(),
                expected,
                "{steps} facts on {px} px"
            );
        }
    }
}
