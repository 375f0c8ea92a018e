//! Routes on a stage of three rooms in a row, with gutters of 16 px.

use super::*;

const ROOMS: [Rect; 3] = [room(20.0), room(236.0), room(452.0)];

const fn room(x: f64) -> Rect {
    Rect {
        x,
        y: 20.0,
        width: 200.0,
        height: 400.0,
    }
}

fn row(x: f64, y: f64) -> Rect {
    Rect {
        x,
        y,
        width: 160.0,
        height: 28.0,
    }
}

fn crosses(route: &Route, rect: Rect) -> bool {
    let pairs = route.points.windows(2);
    pairs.map(|pair| rect.along(pair[0], pair[1])).sum::<f64>() > 0.0
}

#[test]
fn a_route_leads_from_middle_to_middle_and_back() {
    let (from, to) = (row(40.0, 60.0), row(470.0, 300.0));
    let route = Route::through(&[from, to], &ROOMS, &[]);
    assert_eq!((route.at(0.0), route.at(1.0)), (from.centre(), to.centre()));
    let back = route.clone().reversed();
    assert_eq!((back.at(0.0), back.at(1.0)), (to.centre(), from.centre()));
    assert_eq!(back.length(), route.length());
    for pair in route.points.windows(2) {
        assert!(pair[0].x == pair[1].x || pair[0].y == pair[1].y, "{pair:?}");
    }
    assert!(route.svg().starts_with("M120.00 74.00L") && route.svg().ends_with("L550.00 314.00"));
}

#[test]
fn the_part_that_is_seen_begins_and_ends_beside_what_it_connects() {
    // From a row into the room beside it.
    let (from, to) = (row(40.0, 60.0), ROOMS[1]);
    let route = Route::through(&[from, to], &ROOMS, &[]);
    let (begin, end) = (route.seen_at(0.0), route.seen_at(1.0));
    let (tip, _) = route.arrival().unwrap_or_default();
    assert!(
        (end.x - tip.x).abs() + (end.y - tip.y).abs() < 0.1,
        "{end:?}, not {tip:?}"
    );
    for (at, is_in) in [(begin, from), (route.seen_at(0.5), from), (end, to)] {
        assert!(!is_in.holds(at), "{at:?} in {is_in:?}");
    }
}

#[test]
fn a_route_is_not_drawn_on_what_it_connects_nor_on_names_that_it_crosses() {
    let (from, to) = (row(40.0, 60.0), row(40.0, 300.0));
    let wide = |y: f64, height: f64| Rect {
        x: 0.0,
        y,
        width: 900.0,
        height,
    };
    // One in another, one that touches the end's row, and one beside the way.
    let names = [wide(150.0, 40.0), row(40.0, 155.0), wide(290.0, 16.0)];
    let aside = row(470.0, 150.0);
    let route = Route::through(&[from, to], &ROOMS, &[]);
    let holes = route.holes(&[names[0], names[1], names[2], aside]);
    let ends = [from.grown(GAP), to.grown(GAP)];
    assert_eq!(holes, [ends[0], ends[1], names[0]]);
    for (at, hole) in holes.iter().enumerate() {
        let others = holes.iter().skip(at + 1);
        assert!(others.map(|other| other.shared(*hole)).sum::<f64>() == 0.0);
    }
    // Two names that overlap are one hole.
    let holes = route.holes(&[wide(150.0, 40.0), wide(180.0, 40.0)]);
    assert_eq!(holes, [ends[0], ends[1], wide(150.0, 70.0)]);
}

#[test]
fn a_route_avoids_names_and_turns_in_gutters() {
    let (from, to) = (row(40.0, 60.0), row(40.0, 300.0));
    let names: Vec<Rect> = (0..5)
        .map(|n| row(40.0, 100.0 + 36.0 * f64::from(n)))
        .collect();
    let route = Route::through(&[from, to], &ROOMS, &names);
    for name in names {
        assert!(!crosses(&route, name), "{route:?} crosses {name:?}");
    }
    // Around a room that is full, if that is not much longer.
    let to = row(470.0, 380.0);
    let full = ROOMS[1].grown(-10.0);
    let around = Route::through(&[row(40.0, 380.0), to], &ROOMS, &[full]);
    assert!(!crosses(&around, full), "{around:?}");
}

#[test]
fn a_way_into_a_room_ends_at_its_edge() {
    // Beside the room, above it, and in it.
    for (from, at) in [
        (row(470.0, 60.0), (220.0, 74.0)),
        (row(40.0, -40.0), (120.0, 20.0)),
        (row(40.0, 60.0), (120.0, 74.0)),
    ] {
        let door = ROOMS[0].door(from);
        assert_eq!((door.x, door.y, door.width), (at.0, at.1, 0.0));
    }
}

#[test]
fn a_thing_is_small_where_there_is_little_room_and_large_elsewhere() {
    let (from, to) = (row(40.0, 60.0), row(470.0, 60.0));
    let route = Route::through(&[from, to], &ROOMS, &[]);
    assert_eq!(
        route.scales((100.0, 28.0), &[]).map(|(_, scale)| scale),
        [1.0; 4]
    );
    // Two names that leave it 20 px, in the middle of the way.
    let names = [40.0, 84.0].map(|y| Rect {
        x: 260.0,
        y,
        height: 24.0,
        ..from
    });
    let scales = route.scales((100.0, 28.0), &names);
    assert_eq!(
        scales.map(|(_, scale)| scale),
        [1.0, 20.0 / 28.0, 20.0 / 28.0, 1.0]
    );
    assert!(
        scales.is_sorted_by(|one, other| one.0 < other.0),
        "{scales:?}"
    );
    // Never so small that nothing is seen of it. What it comes from is no obstacle.
    let names = [from, Rect { x: 260.0, ..from }];
    let scales = route.scales((100.0, 28.0), &names).map(|(_, scale)| scale);
    assert_eq!(scales, [1.0, LEAST, LEAST, 1.0]);
}

#[test]
fn a_route_turns_between_two_lines_of_a_room() {
    // Keys of an index: the one in the way stands in the line of the end.
    let (from, to) = (
        row(20.0, 100.0),
        Rect {
            x: 150.0,
            width: 60.0,
            ..row(0.0, 140.0)
        },
    );
    let before = Rect {
        x: 90.0,
        width: 50.0,
        ..to
    };
    let above = Rect {
        y: 117.0,
        height: 20.0,
        ..before
    };
    let route = Route::through(&[from.start(), to], &ROOMS[..1], &[before, above]);
    assert!(
        !crosses(&route, before) && !crosses(&route, above),
        "{route:?}"
    );
    assert!(route.length() < 260.0, "{route:?}");
}

#[test]
fn a_route_passes_the_places_in_between() {
    let via = row(256.0, 380.0);
    let route = Route::through(&[row(40.0, 60.0), via, row(470.0, 60.0)], &ROOMS, &[]);
    assert!(crosses(&route, via.grown(-10.0)), "{route:?}");
}

#[test]
fn an_arrow_ends_at_the_side_where_the_route_arrives() {
    let (from, to) = (row(40.0, 60.0), row(470.0, 60.0));
    let route = Route::through(&[from, to], &ROOMS, &[]);
    let (at, towards) = route.arrival().unwrap_or_default();
    assert_eq!((towards.x, towards.y), (1.0, 0.0));
    assert_eq!((at.x, at.y), (to.x - GAP, to.centre().y));
    assert!((route.visible() - (to.x - from.x - from.width - 2.0 * GAP)).abs() < 0.1);
    let inside = Route::through(&[from, from], &ROOMS, &[]);
    assert_eq!((inside.arrival(), inside.visible()), (None, 0.0));
}
