//! The route of a flight: from box to box, through the gutters between the rooms and the margins in them, so that it
//! crosses few names. What is drawn is the route that the thing takes. Pure.

use crate::decimal::decimals;

/// A point on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Point {
    /// From the left, in px.
    pub x: f64,
    /// From the top, in px.
    pub y: f64,
}

/// A box on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Rect {
    /// From the left, in px.
    pub x: f64,
    /// From the top, in px.
    pub y: f64,
    /// In px.
    pub width: f64,
    /// In px.
    pub height: f64,
}

/// How far a route and its arrow stay away from what they connect, in px.
pub const GAP: f64 = 4.0;
/// Half the space between two rooms, in px.
const GUTTER: f64 = 8.0;
/// How far from its frame a room has nothing in it, in px.
const MARGIN: f64 = 6.0;
/// Half the space between two lines of a room, in px.
const LEADING: f64 = 2.5;
/// The radius of a corner, in px.
const CORNER: f64 = 10.0;
/// A px through a room that it leaves or enters is as long as this many px in a gutter, …
const IN_ROOM: f64 = 1.6;
/// … one through another room as this many, …
const IN_OTHER: f64 = 4.0;
/// … one across a name as this many more, …
const ON_NAME: f64 = 6.0;
/// … one so near to a name that the smallest thing covers some of it as this many more, …
const BY_NAME: f64 = 2.0;
/// … and a corner as this many.
const TURN: f64 = 24.0;
/// The size of a token, in px.
const TOKEN: (f64, f64) = (110.0, 29.0);
/// The smallest that a thing becomes where there is little room for it.
const LEAST: f64 = 0.4;
/// The part of its way, at least, on which it becomes smaller or larger.
const RAMP: f64 = 0.12;

impl Rect {
    /// Its middle.
    #[must_use]
    pub fn centre(self) -> Point {
        Point {
            x: self.x + self.width / 2.0,
            y: self.y + self.height / 2.0,
        }
    }

    /// The same box, larger on each side.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        Self {
            x: self.x - by,
            y: self.y - by,
            width: self.width + 2.0 * by,
            height: self.height + 2.0 * by,
        }
    }

    /// The box in which the middle of a token of this scale covers some of this one.
    fn wider(self, scale: f64) -> Self {
        let (width, height) = (TOKEN.0 * scale, TOKEN.1 * scale);
        Self {
            width: self.width + width,
            height: self.height + height,
            ..self
        }
        .around(self.centre())
    }

    /// A box of this size around a point.
    #[must_use]
    pub fn around(self, at: Point) -> Self {
        Self {
            x: at.x - self.width / 2.0,
            y: at.y - self.height / 2.0,
            ..self
        }
    }

    /// The area that both cover.
    #[must_use]
    pub fn shared(self, other: Self) -> f64 {
        let width = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let height = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        width.max(0.0) * height.max(0.0)
    }

    /// The box around this one and another.
    fn around_both(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let low = (self.y + self.height).max(other.y + other.height);
        Self {
            x,
            y,
            width: right - x,
            height: low - y,
        }
    }

    /// This box, or one of a token's size in its middle if it is as large as a room.
    #[must_use]
    pub fn token(self) -> Self {
        let (width, height) = TOKEN;
        if self.height < height * 4.0 {
            return self;
        }
        let size = Self {
            width: width.min(self.width),
            height,
            ..self
        };
        size.around(self.centre())
    }

    /// The left end of a row.
    #[must_use]
    pub fn start(self) -> Self {
        Self {
            width: TOKEN.1.min(self.width),
            ..self
        }
    }

    /// The right end of a row.
    #[must_use]
    pub fn end(self) -> Self {
        let width = TOKEN.1.min(self.width);
        Self {
            x: self.x + self.width - width,
            width,
            ..self
        }
    }

    /// The point at the edge of this room that is nearest to another box.
    #[must_use]
    pub fn door(self, other: Self) -> Self {
        let Point { x, y } = other.centre();
        Self {
            x: x.min(self.x + self.width).max(self.x),
            y: y.min(self.y + self.height).max(self.y),
            ..Self::default()
        }
    }

    /// By which factor a box must shrink to fit in here, at most 1.
    #[must_use]
    pub fn fits(self, other: Self) -> f64 {
        (self.width / other.width)
            .min(self.height / other.height)
            .min(1.0)
    }

    /// This part of a box, once the box is at its new place, as small as it must be there.
    #[must_use]
    pub fn shrunk(self, was: Self, is: Self) -> Self {
        let (from, to, fits) = (was.centre(), is.centre(), is.fits(was));
        Self {
            x: to.x + (self.x - from.x) * fits,
            y: to.y + (self.y - from.y) * fits,
            width: self.width * fits,
            height: self.height * fits,
        }
    }

    /// By which factor a box of this size around a point must shrink so that it covers nothing of this one, at most 1.
    fn clear_of(self, at: Point, (width, height): (f64, f64)) -> f64 {
        let away = |at: f64, low: f64, size: f64| (low - at).max(at - low - size).max(0.0);
        let across = away(at.x, self.x, self.width) * 2.0 / width;
        let up = away(at.y, self.y, self.height) * 2.0 / height;
        across.max(up).min(1.0)
    }

    fn holds(self, at: Point) -> bool {
        let (x, y) = (at.x - self.x, at.y - self.y);
        x >= 0.0 && x <= self.width && y >= 0.0 && y <= self.height
    }

    /// How much of a level or upright line is inside.
    fn along(self, from: Point, to: Point) -> f64 {
        let inside = |low: f64, size: f64, a: f64, b: f64| {
            ((low + size).min(a.max(b)) - low.max(a.min(b))).max(0.0)
        };
        let level = inside(self.x, self.width, from.x, to.x);
        let upright = inside(self.y, self.height, from.y, to.y);
        if from.y == to.y {
            let crossed = from.y > self.y && from.y < self.y + self.height;
            if crossed { level } else { 0.0 }
        } else {
            let crossed = from.x > self.x && from.x < self.x + self.width;
            if crossed { upright } else { 0.0 }
        }
    }
}

/// The way of a thing: from the middle of a box to the middle of another, by level and upright lines.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Route {
    points: Vec<Point>,
    /// The boxes at both ends.
    ends: [Rect; 2],
}

impl Route {
    /// The route through the middles of boxes. It prefers the gutters between `rooms` and avoids `names`.
    #[must_use]
    pub fn through(boxes: &[Rect], rooms: &[Rect], names: &[Rect]) -> Self {
        let (Some(first), Some(last)) = (boxes.first(), boxes.last()) else {
            return Self::default();
        };
        let mut points = vec![first.centre()];
        for pair in boxes.windows(2) {
            points.extend(leg(pair[0], pair[1], rooms, names, &[]));
        }
        let mut route = Self {
            points: Vec::new(),
            ends: [*first, *last],
        };
        for point in points {
            route.add(point);
        }
        route
    }

    /// Adds a point, without those between two others on the same line.
    fn add(&mut self, point: Point) {
        if self.points.last() == Some(&point) {
            return;
        }
        if let [.., before, last] = self.points.as_slice() {
            let level = before.y == last.y && last.y == point.y;
            let ahead = (last.x - before.x) * (point.x - last.x) >= 0.0
                && (last.y - before.y) * (point.y - last.y) >= 0.0;
            if ahead && (level || before.x == last.x && last.x == point.x) {
                self.points.pop();
            }
        }
        self.points.push(point);
    }

    /// The same way back.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.points.reverse();
        self.ends.reverse();
        self
    }

    /// The boxes at its start and at its end.
    #[must_use]
    pub fn ends(&self) -> [Rect; 2] {
        self.ends
    }

    /// The route as SVG path data, with round corners.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut path = String::new();
        for (place, point) in self.points.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|at| self.points.get(at));
            match (before, self.points.get(place + 1)) {
                (None, _) => path.push_str(&decimals("M# #", &[point.x, point.y])),
                (Some(_), None) => path.push_str(&decimals("L# #", &[point.x, point.y])),
                (Some(before), Some(after)) => {
                    let [from, to] = [before, after].map(|other| towards(*point, *other));
                    path.push_str(&decimals(
                        "L# #Q# # # #",
                        &[from.x, from.y, point.x, point.y, to.x, to.y],
                    ));
                }
            }
        }
        path
    }

    /// The point at `t` between 0 and 1.
    #[must_use]
    pub fn at(&self, t: f64) -> Point {
        let mut rest = self.length() * t;
        for pair in self.points.windows(2) {
            let far = far(pair[0], pair[1]);
            if rest <= far && far > 0.0 {
                let mix = |a: f64, b: f64| a + (b - a) * rest / far;
                return Point {
                    x: mix(pair[0].x, pair[1].x),
                    y: mix(pair[0].y, pair[1].y),
                };
            }
            rest -= far;
        }
        self.points.last().copied().unwrap_or_default()
    }

    /// Its length, in px.
    #[must_use]
    pub fn length(&self) -> f64 {
        let pairs = self.points.windows(2);
        pairs.map(|pair| far(pair[0], pair[1])).sum()
    }

    /// The length that is outside the boxes at its ends, in px.
    #[must_use]
    pub fn visible(&self) -> f64 {
        let inside = |pair: &[Point]| -> f64 {
            let ends = self.ends.iter();
            ends.map(|end| end.grown(GAP).along(pair[0], pair[1])).sum()
        };
        self.length() - self.points.windows(2).map(inside).sum::<f64>()
    }

    /// The point at a part of what is outside the boxes at its ends: 0 is where it leaves the first, 1 where it arrives.
    #[must_use]
    pub fn seen_at(&self, t: f64) -> Point {
        let start = self.ends[0].grown(GAP);
        let hidden = |pair: &[Point]| start.along(pair[0], pair[1]);
        let hidden: f64 = self.points.windows(2).map(hidden).sum();
        self.at((hidden + self.visible() * t) / self.length().max(1.0))
    }

    /// How small a thing of this size is on its way, so that it covers no name: the part of the way, and its scale there,
    /// at the start, where it has left, before it arrives, and at the end.
    #[must_use]
    pub fn scales(&self, size: (f64, f64), names: &[Rect]) -> [(f64, f64); 4] {
        let open = |name: &&Rect| self.ends.iter().all(|end| end.shared(**name) == 0.0);
        let names: Vec<Rect> = names.iter().filter(open).copied().collect();
        let at = |t: f64| {
            let at = self.at(t);
            let all = names.iter().map(|name| name.clear_of(at, size));
            all.fold(1.0, f64::min).max(LEAST)
        };
        let length = self.length().max(1.0);
        let [left, arrives] = self.ends.map(|end| {
            let inside = |pair: &[Point]| end.along(pair[0], pair[1]);
            let inside: f64 = self.points.windows(2).map(inside).sum();
            (inside / length).clamp(RAMP, 0.5 - RAMP)
        });
        let (from, to) = (left, 1.0 - arrives);
        let steps = 32;
        let between =
            (0..=steps).map(|step| at(from + (to - from) * f64::from(step) / f64::from(steps)));
        let least = between.fold(1.0, f64::min);
        [(0.0, at(0.0)), (from, least), (to, least), (1.0, at(1.0))]
    }

    /// Where it is not drawn: on the boxes at its ends, and on the names that it crosses. No two overlap.
    #[must_use]
    pub fn holes(&self, names: &[Rect]) -> Vec<Rect> {
        let ends = self.ends.map(|end| end.grown(GAP));
        // A name in one of the ends, or around it, is no obstacle.
        let open = |name: &&Rect| ends.iter().all(|end| end.shared(**name) == 0.0);
        let crossed = |name: &&Rect| {
            let mut pairs = self.points.windows(2);
            pairs.any(|pair| name.along(pair[0], pair[1]) > 0.0)
        };
        let names = names.iter().filter(open).filter(crossed);
        let mut holes: Vec<Rect> = Vec::new();
        for one in ends.into_iter().chain(names.copied()) {
            let mut hole = one;
            while let Some(at) = holes.iter().position(|other| other.shared(hole) > 0.0) {
                hole = hole.around_both(holes.swap_remove(at));
            }
            holes.push(hole);
        }
        holes
    }

    /// Where it arrives at the box at its end, and the direction: one of the two is 0, the other 1 or -1.
    #[must_use]
    pub fn arrival(&self) -> Option<(Point, Point)> {
        let end = self.ends[1].grown(GAP);
        let pair = self
            .points
            .windows(2)
            .rev()
            .find(|pair| !end.holds(pair[0]))?;
        let (from, to) = (pair[0], pair[1]);
        let inside = end.along(from, to);
        let direction = Point {
            x: sign(to.x - from.x),
            y: sign(to.y - from.y),
        };
        let at = Point {
            x: to.x - direction.x * inside,
            y: to.y - direction.y * inside,
        };
        Some((at, direction))
    }
}

fn sign(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number.signum() }
}

fn far(from: Point, to: Point) -> f64 {
    (to.x - from.x).abs() + (to.y - from.y).abs()
}

/// The point near a corner at which its curve towards `other` begins.
fn towards(corner: Point, other: Point) -> Point {
    let far = far(corner, other).max(0.01);
    let part = (CORNER.min(far / 2.0)) / far;
    Point {
        x: corner.x + (other.x - corner.x) * part,
        y: corner.y + (other.y - corner.y) * part,
    }
}

/// The lines along which routes run, in one direction: those of both ends, of gutters, of the rooms' margins, and the edges
/// of what is in the way.
fn lines(
    ends: [Rect; 2],
    rooms: &[Rect],
    in_way: &[Rect],
    of: fn(&Rect) -> (f64, f64),
    centre: fn(Point) -> f64,
) -> Vec<f64> {
    let mut lines: Vec<f64> = ends.iter().map(|end| centre(end.centre())).collect();
    for end in &ends {
        let (low, size) = of(end);
        let high = low + size;
        lines.extend([low - GUTTER, low - LEADING, high + LEADING, high + GUTTER]);
    }
    for room in rooms {
        let (low, size) = of(room);
        lines.extend([low - GUTTER, low + size + GUTTER]);
        if ends.iter().any(|end| room.holds(end.centre())) {
            lines.extend([low + MARGIN, low + size - MARGIN]);
        }
    }
    for (low, size) in in_way.iter().map(of) {
        lines.extend([low, low + size]);
    }
    // Around the stage there is nothing to fly over.
    let least = rooms.iter().map(|room| of(room).0).fold(f64::MAX, f64::min);
    let most = rooms.iter().map(|room| of(room).0 + of(room).1);
    let most = most.fold(f64::MIN, f64::max);
    let fixed = ends.map(|end| centre(end.centre()));
    lines.retain(|line| fixed.contains(line) || *line > least && *line < most);
    // Rooms share their gutters. The lines of the ends come first and stay as they are.
    let mut kept: Vec<f64> = Vec::new();
    for line in lines {
        let near = |other: &&f64| (line - **other).abs() < 3.0;
        let same = kept.iter().find(near);
        if same.is_some_and(|same| *same == line || !fixed.contains(&line)) {
            continue;
        }
        let place = kept.iter().position(|other| *other > line);
        kept.insert(place.unwrap_or(kept.len()), line);
    }
    kept
}

/// The cheapest way between two boxes, without its first point. `in_way`: what the cheapest way came too near to.
fn leg(from: Rect, to: Rect, rooms: &[Rect], names: &[Rect], in_way: &[Rect]) -> Vec<Point> {
    let (start, end) = (from.centre(), to.centre());
    let xs = lines([from, to], rooms, in_way, |it| (it.x, it.width), |at| at.x);
    let ys = lines([from, to], rooms, in_way, |it| (it.y, it.height), |at| at.y);
    // What a thing comes from, or goes to, is no obstacle, nor is what it is in.
    let names = names.iter().filter(|name| {
        let name = name.grown(1.0);
        !name.holds(start) && !name.holds(end)
    });
    let names: Vec<Rect> = names.copied().collect();
    let near = names.iter().map(|name| (name.wider(LEAST), *name));
    let near: Vec<_> = near.collect();
    let cost = |a: Point, b: Point| {
        let within = rooms
            .iter()
            .map(|one| match one.holds(start) || one.holds(end) {
                true => one.along(a, b) * (IN_ROOM - 1.0),
                false => one.along(a, b) * (IN_OTHER - 1.0),
            });
        let by = near.iter().map(|(near, name)| match near.along(a, b) {
            0.0 => 0.0,
            by => by * BY_NAME + name.along(a, b) * ON_NAME,
        });
        far(a, b) + within.sum::<f64>() + by.sum::<f64>()
    };
    let wide = xs.len();
    let point = |node: usize| Point {
        x: xs[node / 2 % wide],
        y: ys[node / 2 / wide],
    };
    // Each crossing is two nodes: one is left level, the other upright.
    let count = wide * ys.len() * 2;
    let mut best = vec![f64::INFINITY; count];
    let mut came = vec![usize::MAX; count];
    // The nodes to go on from.
    let mut open: Vec<usize> = (0..count).filter(|node| point(*node) == start).collect();
    for node in &open {
        best[*node] = 0.0;
    }
    let reached = loop {
        // A way through one of them is at least as long as the crow flies.
        let least = |node: usize| best[node] + far(point(node), end);
        let places = 0..open.len();
        let nearest = places.min_by(|a, b| least(open[*a]).total_cmp(&least(open[*b])));
        let Some(nearest) = nearest else {
            return vec![end];
        };
        let node = open.swap_remove(nearest);
        let here = point(node);
        if here == end {
            break node;
        }
        let (column, row) = (node / 2 % wide, node / 2 / wide);
        let mut nexts = vec![(node ^ 1, TURN)];
        let mut go = |next: usize| nexts.push((next, cost(here, point(next))));
        if node.is_multiple_of(2) {
            if column > 0 {
                go(node - 2);
            }
            if column + 1 < wide {
                go(node + 2);
            }
        } else {
            if row > 0 {
                go(node - 2 * wide);
            }
            if row + 1 < ys.len() {
                go(node + 2 * wide);
            }
        }
        for (next, more) in nexts {
            if best[node] + more < best[next] {
                if best[next].is_infinite() {
                    open.push(next);
                }
                best[next] = best[node] + more;
                came[next] = node;
            }
        }
    };
    let mut points = Vec::new();
    let mut node = reached;
    while node != usize::MAX {
        points.push(point(node));
        node = came[node];
    }
    points.reverse();
    let crossed = |(name, _): &&(Rect, Rect)| {
        let mut pairs = points.windows(2);
        pairs.any(|pair| name.along(pair[0], pair[1]) > 0.0)
    };
    let crossed = near.iter().filter(crossed).map(|(name, _)| *name);
    let crossed: Vec<Rect> = crossed.collect();
    if in_way.is_empty() && !crossed.is_empty() {
        return leg(from, to, rooms, &names, &crossed);
    }
    points.remove(0);
    points
}

#[cfg(test)]
mod tests;
