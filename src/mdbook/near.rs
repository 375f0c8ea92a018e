//! Suggestions for misspelled names.

use deltascope_terminal::near::nearest;

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
    let meant = nearest(wanted, names.iter().copied());
    let meant = meant.map_or(String::new(), |name| format!("Did you mean {name:?}? "));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
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
