//! Wall-clock times, as in the header of a recording.

use deltascope_world::Time;

/// Formats ms since 1970 as `2026-11-22T10:00:00.123Z`.
#[must_use]
pub fn written(ms: Time) -> String {
    // The latest time in the calendar of RFC 3339.
    let ms = ms.min(253_402_300_799_999);
    let (days, ms) = (ms / 86_400_000, ms % 86_400_000);
    // Days are counted from 1 March of a year divisible by 400, so that a leap day is the last of its year.
    let since = days + 719_468;
    let (era, day) = (since / 146_097, since % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let ms = ms % 1_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Parses `2026-11-22T10:00:00.123+08:00` as ms since 1970.
#[must_use]
pub fn read(text: &str) -> Option<Time> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let mark = |at: usize, marks: &[u8]| {
        text.as_bytes()
            .get(at)
            .is_some_and(|byte| marks.contains(byte))
    };
    if !(mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":") && mark(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 24
        || minute > 59
        || second > 60
    {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut ms = 0;
    if let Some(after) = rest.strip_prefix(['.', ',']) {
        let end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let digits: String = after[..end].chars().chain("000".chars()).take(3).collect();
        ms = digits.parse().ok()?;
        rest = &after[end..];
    }
    let offset = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = match rest.as_bytes().first()? {
                b'+' => 1,
                b'-' => -1,
                _ => return None,
            };
            let digits: String = rest.get(1..)?.chars().filter(|c| *c != ':').collect();
            let of = |range| {
                digits
                    .get(range)
                    .and_then(|text: &str| text.parse::<i64>().ok())
            };
            sign * (of(0..2)? * 60 + of(2..4)?)
        }
    };
    // Days since 1970, with years that begin in March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let minutes = (days * 24 + hour) * 60 + minute - offset;
    Time::try_from((minutes * 60 + second) * 1_000 + ms).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_times_are_read_back() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T23:59:59.999Z",
            "2026-11-22T10:00:00.120Z",
            "2100-02-28T00:00:00.001Z",
            "2100-03-01T00:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
        ] {
            assert_eq!(written(read(text).unwrap()), text);
        }
        for day in 0..40_000 {
            let ms = day * 86_400_000 + day;
            assert_eq!(read(&written(ms)), Some(ms));
        }
        assert_eq!(written(Time::MAX), "9999-12-31T23:59:59.999Z");
    }
}
