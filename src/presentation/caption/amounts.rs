//! Numbers with their units: objects, keys, entries.

use deltascope_world::text::{Lang, counted};

/// `3 objects`
#[must_use]
pub fn objects(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => counted(count, "object", "objects"),
        Lang::Zh => format!("{count} 个对象"),
    }
}

/// `3 keys`
pub(super) fn keys(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => counted(count, "key", "keys"),
        Lang::Zh => format!("{count} 个 key"),
    }
}

/// `5 entries`
#[must_use]
pub fn entries(lang: Lang, count: usize) -> String {
    match lang {
        Lang::En => counted(count, "entry", "entries"),
        Lang::Zh => format!("{count} 个条目"),
    }
}
