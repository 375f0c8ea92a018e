//! Points, paths and trails on the screen. Pure.

use crate::decimal::decimals;

/// A point on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Point {
    /// From the left, in px.
    pub x: f64,
    /// From the top, in px.
    pub y: f64,
}

/// The path of a token: a cubic curve that leaves and arrives horizontally.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Start, two control points, end.
    pub points: [Point; 4],
}

impl Path {
    /// The path between two points.
    #[must_use]
    pub fn between(from: Point, to: Point) -> Self {
        let bend = (to.x - from.x) * 0.5;
        Self {
            points: [
                from,
                Point {
                    x: from.x + bend,
                    y: from.y,
                },
                Point {
                    x: to.x - bend,
                    y: to.y,
                },
                to,
            ],
        }
    }

    /// The point at `t` between 0 and 1.
    #[must_use]
    pub fn at(&self, t: f64) -> Point {
        let [a, b, c, d] = self.points;
        let u = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
        };
        Point {
            x: mix(a.x, b.x, c.x, d.x),
            y: mix(a.y, b.y, c.y, d.y),
        }
    }

    /// The path as SVG path data.
    #[must_use]
    pub fn svg(&self) -> String {
        let [a, b, c, d] = self.points;
        decimals(
            "M# # C# # # # # #",
            &[a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y],
        )
    }
}

/// How far beside its start a trail goes up or down, in px.
const BESIDE: f64 = 13.0;
/// The bend of a trail before its end, in px.
const BEND: f64 = 60.0;

/// The `x` at which a trail goes up or down beside the room where it starts, so that it crosses little text; none
/// if both points are at about the same height.
#[must_use]
pub fn beside(from: Point, to: Point) -> Option<f64> {
    let climbs = (to.y - from.y).abs() >= 2.0 * BEND && to.x - from.x >= 4.0 * BESIDE;
    climbs.then_some(from.x + BESIDE)
}

/// A trail beside the room where it starts, if it has far to go up or down; otherwise the usual curve.
#[must_use]
pub fn climbing(from: Point, to: Point) -> String {
    let Some(x) = beside(from, to) else {
        return Path::between(from, to).svg();
    };
    let (start, bend) = if to.y < from.y {
        (-BESIDE, BEND)
    } else {
        (BESIDE, -BEND)
    };
    decimals(
        "M# # Q# # # # V# Q# # # # H#",
        &[
            from.x,
            from.y,
            x,
            from.y,
            x,
            from.y + start,
            to.y + bend,
            x,
            to.y,
            x + BEND.min(to.x - x),
            to.y,
            to.x,
        ],
    )
}

/// Eases in and out: slow, fast, slow.
#[must_use]
pub fn ease(t: f64) -> f64 {
    if t < 0.5 {
        2.0 * t * t
    } else {
        1.0 - (2.0 - 2.0 * t).powi(2) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_goes_up_and_down_beside_its_start() {
        let at = |y| Point { x: 10.0, y };
        let to = Point { x: 200.0, y: 300.0 };
        for (from, expected) in [
            (
                at(600.0),
                "M10.00 600.00 Q23.00 600.00 23.00 587.00 V360.00 Q23.00 300.00 83.00 300.00 H200.00",
            ),
            (
                at(0.0),
                "M10.00 0.00 Q23.00 0.00 23.00 13.00 V240.00 Q23.00 300.00 83.00 300.00 H200.00",
            ),
        ] {
            assert_eq!(climbing(from, to), expected);
        }
        assert_eq!(beside(at(290.0), to), None);
    }

    #[test]
    fn a_path_begins_and_ends_at_its_points() {
        let (from, to) = (Point { x: 3.0, y: 9.0 }, Point { x: 90.0, y: 1.0 });
        let path = Path::between(from, to);
        assert_eq!((path.at(0.0), path.at(1.0)), (from, to));
        assert_eq!((ease(0.0), ease(0.5), ease(1.0)), (0.0, 0.5, 1.0));
    }
}
