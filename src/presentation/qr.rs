//! A text as a QR code, as one SVG path.

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

/// The light modules that a reader needs around a code.
const QUIET: i32 = 4;
/// The largest version: what phones still read from the back of a class.
const LARGEST: u8 = 25;

/// A QR code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its side with the quiet zone, in modules.
    pub side: i32,
    /// The dark modules as path data, a module to a unit.
    pub path: String,
}

/// The code of a text; `None` if the text is too long for one that phones read.
#[must_use]
pub fn code(text: &str) -> Option<Code> {
    let parts = QrSegment::make_segments(text);
    let (least, most) = (Version::MIN, Version::new(LARGEST));
    let code = QrCode::encode_segments_advanced(&parts, QrCodeEcc::Low, least, most, None, true);
    let code = code.ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let from = x;
            while code.get_module(x, y) {
                x += 1;
            }
            if x > from {
                let (left, top, long) = (from + QUIET, y + QUIET, x - from);
                path.push_str(&format!("M{left} {top}h{long}v1h-{long}z"));
            }
            x += 1;
        }
    }
    Some(Code {
        side: code.size() + 2 * QUIET,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules that a path fills.
    fn filled(code: &Code) -> Vec<(usize, usize)> {
        let number = |text: &str| text.parse::<usize>().unwrap();
        let runs = code.path.split('M').filter(|run| !run.is_empty());
        let modules = runs.flat_map(|run| {
            let (at, shape) = run.split_once('h').unwrap();
            let (x, y) = at.split_once(' ').unwrap();
            let long = shape.split_once('v').unwrap().0;
            assert_eq!(shape, format!("{long}v1h-{long}z"));
            (number(x)..number(x) + number(long))
                .map(|x| (x, number(y)))
                .collect::<Vec<_>>()
        });
        modules.collect()
    }

    #[test]
    fn a_reader_finds_the_text_in_the_path() {
        const SCALE: usize = 4;
        let long = format!("https://example.com/#v1;i={}", "x".repeat(1_000));
        for text in [
            "https://example.com/#v1;lesson=first-look;scene=3;at=queued",
            "https://例.example/#v1;lesson=tombstone",
            &long,
        ] {
            let code = code(text).unwrap();
            let side = usize::try_from(code.side).unwrap();
            let dark = filled(&code);
            let margin = usize::try_from(QUIET).unwrap();
            let inside = margin..side - margin;
            assert!(
                dark.iter()
                    .all(|(x, y)| inside.contains(x) && inside.contains(y))
            );
            let mut image =
                rqrr::PreparedImage::prepare_from_greyscale(side * SCALE, side * SCALE, |x, y| {
                    if dark.contains(&(x / SCALE, y / SCALE)) {
                        0
                    } else {
                        255
                    }
                });
            let found = image.detect_grids();
            let [found] = &*found else {
                unreachable!("{} codes", found.len())
            };
            assert_eq!(found.decode().unwrap().1, text);
        }
    }

    #[test]
    fn what_phones_cannot_read_gets_no_code() {
        assert_eq!(code(&"x".repeat(2_000)), None);
    }
}
