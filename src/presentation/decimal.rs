//! Numbers in the form that styles and paths need.

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
        assert_eq!(decimals("M# #px", &[1.0, 2.25]), "M1.00 2.25px");
    }
}
