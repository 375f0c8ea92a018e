//! Numbers with their units: objects, keys, entries.

use deltascope_world::text::{Lang, counted};

/// `3 objects`
#[must_use]
pub fn objects(lang: Lang, count: usize) -> String {
    lang.pick(
        counted(count, "object", "objects"),
        format!("{count} 个对象"),
    )
}

/// `3 keys`
pub(super) fn keys(lang: Lang, count: usize) -> String {
    lang.pick(counted(count, "key", "keys"), format!("{count} 个 key"))
}

/// `5 entries`
#[must_use]
pub fn entries(lang: Lang, count: usize) -> String {
    lang.pick(
        counted(count, "entry", "entries"),
        format!("{count} 个条目"),
    )
}
