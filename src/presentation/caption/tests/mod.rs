//! Every sentence is in its language, short enough, and without unfilled placeholders.

mod facts;
mod runs;
mod sentences;

use deltascope_cache::fact::{Actor, Cause, Fact, FactId, FactRecord, ObjectRef, Shape};
use deltascope_cache::key::Key;
use deltascope_cache::step::Step;

use crate::caption::Words;
use crate::caption::say::{is_chinese, is_mark};
use crate::caption::spans::plain;
use deltascope_world::text::Lang;

fn record(id: u64, actor: Actor, cause: Cause, fact: Fact) -> FactRecord {
    FactRecord {
        id: FactId(id),
        time: 0,
        actor,
        cause,
        step: Step::QueueActionAppend,
        fact,
    }
}

fn object(key: &str, rv: &str) -> ObjectRef {
    ObjectRef {
        key: Key::from(key),
        shape: Shape::Object,
        rv: rv.into(),
        uid: "u".into(),
    }
}

fn has_chinese(words: &str) -> bool {
    words
        .chars()
        .any(|letter| is_chinese(letter) || is_mark(letter))
}

/// Maximum width in letters: two lines of the strip, of about 115 letters each, with some room to spare.
const WHY: usize = 200;

/// A Chinese character is as wide as two letters.
fn width(words: &str) -> usize {
    words
        .chars()
        .map(|letter| {
            if is_chinese(letter) || is_mark(letter) {
                2
            } else {
                1
            }
        })
        .sum()
}

fn check(words: &Words, lang: Lang, of: &Fact) {
    for (what, spans) in [("what", &words.what), ("why", &words.why)] {
        let line = plain(spans);
        let place = format!("{what} of {of:?} in {lang:?}: {line}");
        assert!(what == "why" || !line.trim().is_empty(), "empty {place}");
        assert_eq!(line, line.trim(), "spaces around {place}");
        assert!(!line.contains("  "), "doubled spaces in {place}");
        assert!(!line.contains(['{', '}', '`', '[']), "markup in {place}");
        for wrong in [
            "A Added",
            "A Updated",
            "..",
            "。。",
            " .",
            " ,",
            " 。",
            " ，",
            "()",
            "（）",
        ] {
            assert!(!line.contains(wrong), "{wrong:?} in {place}");
        }
        match lang {
            Lang::En => assert!(!has_chinese(&line), "Chinese in {place}"),
            Lang::Zh => {
                for pair in line.chars().collect::<Vec<_>>().windows(2) {
                    assert!(
                        !(is_chinese(pair[0]) && matches!(pair[1], ',' | ':' | ';' | '(' | '?')
                            || is_chinese(pair[1]) && matches!(pair[0], ',' | ')')),
                        "half-width marks in {place}"
                    );
                }
                assert!(
                    line.is_empty() || has_chinese(&line),
                    "no Chinese in {place}"
                );
                for pair in line.chars().collect::<Vec<_>>().windows(3) {
                    assert!(
                        !(pair[1] == ' ' && is_chinese(pair[0]) && is_chinese(pair[2])),
                        "a space inside Chinese in {place}"
                    );
                }
                for pair in line.chars().collect::<Vec<_>>().windows(2) {
                    assert!(
                        !(is_chinese(pair[0]) && pair[1].is_ascii_alphanumeric()),
                        "no space before Latin in {place}"
                    );
                }
            }
        }
    }
    let why = plain(&words.why);
    assert!(width(&why) <= WHY, "{} wide: {why}", width(&why));
    let length = plain(&words.what).chars().count();
    assert!(length <= 150, "{length} letters: {}", plain(&words.what));
}
