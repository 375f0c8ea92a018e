//! Numbers in the form that styles and paths need, and times in words.

use deltascope_world::text::Lang;

/// A number with two decimals.
///
/// Not by `{:.2}`: to format and parse floats exactly, the standard library brings tables and code that make up a
/// twentieth of what a visitor downloads.
#[must_use]
pub fn decimal(number: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a place on a screen; a cast saturates"
    )]
    let hundredths = (number * 100.0).round() as i64;
    let sign = if hundredths < 0 { "-" } else { "" };
    let hundredths = hundredths.unsigned_abs();
    format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A time in seconds, with two decimals: `1.30`.
#[must_use]
pub fn seconds(ms: u64) -> String {
    let hundredths = ms.saturating_add(5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A time with one decimal: `1.3 s`.
#[must_use]
pub fn tenths(ms: u64) -> String {
    let tenths = ms / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// The same, without the decimal of whole seconds: `30 s`, `1.3 s`.
#[must_use]
pub fn short_tenths(ms: u64) -> String {
    if ms.is_multiple_of(1000) {
        return format!("{} s", ms / 1000);
    }
    tenths(ms)
}

/// A time with its unit, as sentences have it: `300 ms`, `30 s`, `1.3 s`.
#[must_use]
pub fn duration(lang: Lang, ms: u64) -> String {
    let unit = |en: &'static str, zh: &'static str| lang.pick(en, zh);
    if ms < 1000 {
        format!("{ms} {}", unit("ms", "毫秒"))
    } else if ms.is_multiple_of(1000) {
        format!("{} {}", ms / 1000, unit("s", "秒"))
    } else {
        format!("{}.{} {}", ms / 1000, ms % 1000 / 100, unit("s", "秒"))
    }
}

/// A number with at most two decimals, in hundredths. As above, not by way of a float.
#[must_use]
pub fn hundredths(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = part.trim_end_matches('0');
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || part.len() > 2 || !are_digits(whole) {
        return None;
    }
    are_digits(part).then(|| format!("{whole}{part:0<2}").parse().ok())?
}

/// Hundredths as such a number: `0.25`, `0.5`, `8`.
#[must_use]
pub fn of_hundredths(hundredths: u32) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A template in which each `#` is replaced by the next of `numbers`.
#[must_use]
pub fn decimals(template: &str, numbers: &[f64]) -> String {
    let mut numbers = numbers.iter();
    let mut text = String::new();
    for (place, piece) in template.split('#').enumerate() {
        if place > 0 {
            text.push_str(&decimal(numbers.next().copied().unwrap_or_default()));
        }
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_two_decimals_is_read() {
        for (text, number) in [
            ("1", Some(100)),
            ("0.25", Some(25)),
            (".5", Some(50)),
            ("2.500", Some(250)),
            ("", None),
            (".", None),
            ("0.125", None),
            ("-1", None),
            ("1.x", None),
            ("99999999999", None),
        ] {
            assert_eq!(hundredths(text), number, "{text}");
        }
        for (number, text) in [
            (25, "0.25"),
            (50, "0.5"),
            (800, "8"),
            (1000, "10"),
            (7, "0.07"),
        ] {
            assert_eq!(of_hundredths(number), text);
        }
    }

    #[test]
    fn numbers_are_rounded_to_two_decimals() {
        for (number, text) in [
            (0.0, "0.00"),
            (-0.004, "0.00"),
            (-1.5, "-1.50"),
            (12.345, "12.35"),
            (1e300, "92233720368547758.07"),
            (f64::NAN, "0.00"),
        ] {
            assert_eq!(decimal(number), text);
        }
        for (ms, text) in [(0, "0.00"), (4, "0.00"), (5, "0.01"), (61_234, "61.23")] {
            assert_eq!(seconds(ms), text);
        }
        assert_eq!(decimals("M# #px", &[1.0, 2.25]), "M1.00 2.25px");
    }
}
