//! Sorted maps without a sort.

/// A collection of `items`, put in one by one.
///
/// For a sorted map, `collect` sorts first: some KB in the page for each type, to save time that
/// maps of a few entries do not take.
pub fn fill<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut filled = C::default();
    filled.extend(items);
    filled
}
