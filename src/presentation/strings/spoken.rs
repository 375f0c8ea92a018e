//! What assistive technology says of the stage, where the picture says it by place, colour or shape. Tooltips say
//! the same.

use super::batch;
use deltascope_world::in_lang;
use deltascope_world::text::Lang;

/// `Updated, default/web-0, rv 7`: the parts that are not empty.
#[must_use]
pub fn parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !part.is_empty() {
            text.push_str(", ");
        }
        text.push_str(part);
    }
    text
}

/// `Objects, 4`: the label of a list.
#[must_use]
pub fn counted(label: &str, count: usize) -> String {
    format!("{label}, {count}")
}

/// `Deltas of default/web-0, 3`; of a FIFO, `Object of default/web-0, 1`; of a batch, `batch of 3`.
#[must_use]
pub fn stack(lang: Lang, key: &str, count: usize, plain: bool) -> String {
    if key.is_empty() {
        return batch(lang, count);
    }
    let label = match (lang, plain) {
        (Lang::En, false) if count == 1 => format!("Delta of {key}"),
        (Lang::En, false) => format!("Deltas of {key}"),
        (Lang::En, true) => format!("Object of {key}"),
        (Lang::Zh, false) => format!("{key} 的 Delta"),
        (Lang::Zh, true) => format!("{key} 的对象"),
    };
    counted(&label, count)
}

/// `Notifications of first, 2`
#[must_use]
pub fn notifications(lang: Lang, handler: &str, count: usize) -> String {
    let label = in_lang!(lang, "Notifications of {handler}", "{handler} 的通知");
    counted(&label, count)
}

/// `Keys in the queue, 2`
#[must_use]
pub fn keys(lang: Lang, count: usize) -> String {
    let label = lang.pick("Keys in the queue", "队列中的 key");
    counted(label, count)
}

/// `HasSynced: true`
#[must_use]
pub fn has_synced(synced: bool) -> String {
    format!("HasSynced: {synced}")
}

/// The label of the reflector's states.
#[must_use]
pub fn states(lang: Lang) -> &'static str {
    lang.pick("States of the Reflector", "Reflector 的状态")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_say_the_key_and_the_count() {
        assert_eq!(
            stack(Lang::En, "default/web-0", 3, false),
            "Deltas of default/web-0, 3"
        );
        assert_eq!(stack(Lang::En, "dns", 1, false), "Delta of dns, 1");
        assert_eq!(stack(Lang::Zh, "dns", 2, false), "dns 的 Delta, 2");
        assert_eq!(parts(["Added", "", "rv 7"]), "Added, rv 7");
        assert_eq!(parts(["", ""]), "");
    }
}
