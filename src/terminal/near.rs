//! What was meant by a misspelled name.

/// The name that is nearest, if one is near.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = names.into_iter().map(|name| (distance(wanted, name), name));
    let near = far.filter(|(far, name)| *far <= ((name.chars().count() + 1) / 3).max(1));
    near.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// Edit distance: how many characters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (b, above) in other.iter().zip(row.iter_mut().skip(1)) {
            let changed = corner + usize::from(!a.eq_ignore_ascii_case(b));
            corner = *above;
            left = changed.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_meant() {
        for (one, other, far) in [
            ("", "abc", 3),
            ("queue", "quue", 1),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
        let names = ["queue", "store", "output"];
        assert_eq!(nearest("quue", names), Some("queue"));
        assert_eq!(nearest("kitchen", names), None);
    }
}
