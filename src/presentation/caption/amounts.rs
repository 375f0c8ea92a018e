//! Numbers with their units: objects, keys, entries, time.

use crate::i18n::Lang;

pub(super) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn objects(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "object", "objects"),
        Lang::Zh => format!("{n} 个对象"),
    }
}

pub(super) fn keys(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "key", "keys"),
        Lang::Zh => format!("{n} 个 key"),
    }
}

pub(super) fn entries(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "entry", "entries"),
        Lang::Zh => format!("{n} 个条目"),
    }
}

/// Milliseconds, or seconds with one decimal.
pub(super) fn duration(ms: u64, lang: Lang) -> String {
    let unit = |en: &'static str, zh: &'static str| lang.pick(en, zh);
    if ms < 1000 {
        format!("{ms} {}", unit("ms", "毫秒"))
    } else if ms.is_multiple_of(1000) {
        format!("{} {}", ms / 1000, unit("s", "秒"))
    } else {
        format!("{}.{} {}", ms / 1000, ms % 1000 / 100, unit("s", "秒"))
    }
}
