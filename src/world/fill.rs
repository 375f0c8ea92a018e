//! Sorted maps without a sort.

/// Builds a collection by inserting `items` one by one.
///
/// For a sorted map, `collect` sorts first. That costs some KB of wasm per type, to save time that maps of a
/// few entries do not take.
pub fn fill<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut filled = C::default();
    filled.extend(items);
    filled
}
