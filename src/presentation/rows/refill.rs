//! Which row each element of a list shows, where a list that is drawn anew at each moment keeps its elements.

/// The rows, each with the number of its element. A row that is the `same` as one of `before` keeps that one's element, and the
/// others get new ones. Where none is, the n-th row takes the element of the n-th of `before`. No two of `rows` may be the same.
#[must_use]
pub fn numbered<T>(
    before: &[(u64, T)],
    rows: Vec<T>,
    same: impl Fn(&T, &T) -> bool,
) -> Vec<(u64, T)> {
    let of = |row: &T| before.iter().find(|(_, held)| same(held, row));
    let stays = rows.iter().any(|row| of(row).is_some());
    let mut next = before.iter().map(|held| held.0 + 1).max().unwrap_or(0);
    let mut numbered = Vec::with_capacity(rows.len());
    for (at, row) in rows.into_iter().enumerate() {
        let held = if stays { of(&row) } else { before.get(at) };
        let number = held.map_or(next, |held| held.0);
        next = next.max(number + 1);
        numbered.push((number, row));
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_with_their_rows_and_are_filled_anew_where_no_row_stays() {
        let mut shown = Vec::new();
        let cases: [(&str, &[u64]); 8] = [
            ("abc", &[0, 1, 2]),
            // One comes, one leaves.
            ("bcd", &[1, 2, 3]),
            // All are new; then more of them, and fewer.
            ("efg", &[1, 2, 3]),
            ("hijkl", &[1, 2, 3, 4, 5]),
            ("mn", &[1, 2]),
            // One stays, at another place.
            ("opm", &[3, 4, 1]),
            ("", &[]),
            ("ab", &[0, 1]),
        ];
        for (rows, numbers) in cases {
            shown = numbered(&shown, rows.chars().collect(), char::eq);
            let got: Vec<u64> = shown.iter().map(|held| held.0).collect();
            assert_eq!(got, numbers, "{rows}");
        }
    }
}
