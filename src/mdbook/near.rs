//! Suggestions for misspelled names.

/// Most names that an error lists.
const LISTED: usize = 16;
/// This many more are listed as well: saying how many there are would take as much room.
const FEW: usize = 4;

/// How many of `many` names to list, if `most` are enough.
pub(super) fn listed(many: usize, most: usize) -> usize {
    if many <= most + FEW { many } else { most }
}

/// `Did you mean "x"? There are: x, y.`
pub(super) fn hint(wanted: &str, names: &[&str]) -> String {
    let nearest = names
        .iter()
        .map(|name| (distance(wanted, name), name))
        .filter(|(far, name)| *far <= ((name.chars().count() + 1) / 3).max(1))
        .min_by_key(|(far, _)| *far);
    let meant = nearest.map_or(String::new(), |(_, name)| {
        format!("Did you mean {name:?}? ")
    });
    let (these, rest) = names.split_at(listed(names.len(), LISTED));
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match these.join(", ") {
        none if none.is_empty() => format!("{meant}It is empty."),
        listed => format!("{meant}There are: {listed}{more}."),
    }
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
    fn the_nearest_name_is_suggested() {
        for (one, other, far) in [
            ("", "abc", 3),
            ("queue", "quue", 1),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
        let names = ["queue", "store", "output"];
        assert_eq!(
            hint("quue", &names),
            "Did you mean \"queue\"? There are: queue, store, output."
        );
        assert_eq!(hint("kitchen", &names), "There are: queue, store, output.");
        assert_eq!(hint("x", &[]), "It is empty.");
        for (many, end) in [
            (LISTED + 1, "name16."),
            (LISTED + FEW, "name19."),
            (LISTED + FEW + 1, "name15 and 5 more."),
        ] {
            let names: Vec<String> = (0..many).map(|number| format!("name{number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let line = hint("kitchen", &names);
            assert!(line.ends_with(end), "{many}: {line}");
        }
    }
}
