//! Holds the colours of style/tokens.css to the contrast that people need, in both themes: 4.5:1 for text, 3:1 for
//! marks and lines that carry meaning (WCAG 2.2, 1.4.3 and 1.4.11).

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{assert_none, read};

/// What the tokens stand on. `tint` is a delta's own ground: its colour mixed into the card, as style/page.css does.
const EVERYWHERE: [&str; 4] = ["paper", "card", "glow", "line-2"];
const TINT: &str = "tint";
const TINT_PERCENT: f64 = 9.0;

/// Tokens of text, and where it stands.
const TEXT: [(&[&str], &[&str]); 4] = [
    // `line-2` is the ground of what the pointer is over.
    (&["ink", "ink-2", "ink-3"], &EVERYWHERE),
    // The types of events and deltas: in tokens, in the stream, in sentences. `updated` is in the brand, too.
    (
        &[
            "added", "updated", "deleted", "replaced", "sync", "bookmark",
        ],
        &["paper", "card", "glow", "line-2", TINT],
    ),
    // What a delta says about itself in ink.
    (&["ink", "ink-2", "ink-3"], &["tint of all types"]),
    // Chosen buttons.
    (&["paper", "card"], &["ink"]),
];

/// Tokens of marks, lines and rings, and what they stand on.
const MARKS: [(&[&str], &[&str]); 6] = [
    // Wires, tree lines, empty places, hollow marks (in a lit row, too).
    (&["wire"], &["paper", "card", "glow"]),
    // The ring of what has just happened: around a room, a token, a row.
    (&["glow-line"], &["paper", "card", "glow"]),
    // The outline of a held lock.
    (&["lock-line"], &["card"]),
    (&["focus"], &EVERYWHERE),
    // The followed object: in the rooms, on the timeline.
    (&["follow"], &["paper", "card", "glow"]),
    (
        &[
            "hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5", "hue-6", "hue-7",
        ],
        &["paper", "card", "glow"],
    ),
];

/// Grounds, and lines that only decorate.
const NEITHER: [&str; 7] = ["paper", "card", "glow", "line", "line-2", "veil", "shadow"];

const THEMES: [&str; 2] = ["light", "dark"];

#[test]
fn tokens_contrast_with_what_they_stand_on() {
    let tokens = tokens(&read("style/tokens.css"));
    let mut faint = Vec::new();
    for (theme, name_of_theme) in THEMES.iter().enumerate() {
        let colour = |name: &str| tokens[name][theme];
        for (pairs, least) in [(&TEXT[..], 4.5), (&MARKS[..], 3.0)] {
            for (names, surfaces) in pairs {
                for name in *names {
                    for surface in *surfaces {
                        let over = colour(name);
                        let tint_of = |name: &str| mixed(colour(name), colour("card"));
                        let grounds = match *surface {
                            TINT => vec![tint_of(name)],
                            "tint of all types" => TEXT[1].0.iter().map(|of| tint_of(of)).collect(),
                            ground => vec![colour(ground)],
                        };
                        let ratio = grounds.into_iter().map(|ground| contrast(over, ground));
                        let ratio = ratio.fold(f64::INFINITY, f64::min);
                        if ratio < least {
                            faint.push(format!(
                                "style/tokens.css: --{name} on {surface} in the {name_of_theme} theme: {ratio:.2}:1, not {least}:1"
                            ));
                        }
                    }
                }
            }
        }
    }
    assert_none(&faint);
}

#[test]
fn each_token_is_text_a_mark_or_neither() {
    let mut listed: BTreeSet<&str> = NEITHER.into();
    listed.extend(TEXT.iter().chain(&MARKS).flat_map(|(names, _)| *names));
    let tokens = tokens(&read("style/tokens.css"));
    assert_eq!(listed, tokens.keys().map(|name| &**name).collect());
}

#[test]
fn contrast_is_computed() {
    let [black, white] = [[0.0; 3], [255.0; 3]];
    assert!((contrast(black, white) - 21.0).abs() < 0.01);
    assert!((contrast(white, [119.0; 3]) - 4.48).abs() < 0.01);
}

type Colour = [f64; 3];

/// The colours of each token: light, dark. Their opacity is left out.
fn tokens(css: &str) -> BTreeMap<String, [Colour; 2]> {
    let colour = |text: &str| {
        let digits = text.trim().trim_start_matches('#');
        [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()))
    };
    let both = css.lines().filter_map(|line| {
        let (name, value) = line
            .trim()
            .strip_prefix("--")?
            .split_once(": light-dark(")?;
        let (light, dark) = value.strip_suffix(");")?.split_once(", ")?;
        Some((name.to_owned(), [colour(light), colour(dark)]))
    });
    both.collect()
}

fn mixed(colour: Colour, ground: Colour) -> Colour {
    let share = TINT_PERCENT / 100.0;
    [0, 1, 2].map(|at| colour[at] * share + ground[at] * (1.0 - share))
}

/// The contrast of two colours, as WCAG defines it.
fn contrast(one: Colour, other: Colour) -> f64 {
    let luminance = |colour: Colour| {
        let [red, green, blue] = colour.map(|part| {
            let part = part / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}
