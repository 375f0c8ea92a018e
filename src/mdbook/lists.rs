//! The lists of deltascope's own books that the code knows: its facts, its lessons with their markers, and its glossary.

use deltascope_cache::fact::Fact;
use deltascope_presentation::terms::TERMS;
use deltascope_replay::lessons;
use deltascope_world::text::Lang;

type List = fn(Lang) -> String;

/// What stands in a chapter for each list.
const LISTS: [(&str, List); 3] = [
    ("{{#deltascope facts}}", facts),
    ("{{#deltascope lessons}}", lessons),
    ("{{#deltascope terms}}", terms),
];

/// Puts each list where the chapter asks for it.
pub(super) fn printed(content: &str, lang: Lang) -> String {
    let mut out = content.to_owned();
    for (asked, list) in LISTS {
        if out.contains(asked) {
            out = out.replace(asked, &list(lang));
        }
    }
    out
}

fn facts(lang: Lang) -> String {
    let mut out = lang
        .pick(
            "| where | facts |\n|---|---|\n",
            "| 在哪里 | 事实 |\n|---|---|\n",
        )
        .to_owned();
    for (place, names) in Fact::places() {
        let place = match (lang, place) {
            (Lang::Zh, "list") => "List",
            (Lang::Zh, "watch") => "Watch",
            (Lang::Zh, "any queue") => "任何队列",
            (Lang::Zh, "process") => "处理",
            (Lang::Zh, "handlers") => "handler",
            (Lang::Zh, "program") => "程序",
            (_, place) => place,
        };
        out.push_str(&format!("| {place} | {} |\n", code(names, lang)));
    }
    out
}

fn lessons(lang: Lang) -> String {
    let (head, [yes, no], endless, none) = lang.pick(
        (
            "| `lesson` | `era` | markers |\n|---|---|---|\n",
            ["yes", "no"],
            "; it has no end",
            "none: use `input:N` or `t:MS`",
        ),
        (
            "| `lesson` | `era` | 标记 |\n|---|---|---|\n",
            ["是", "否"],
            "；没有终点",
            "无：用 `input:N` 或 `t:MS`",
        ),
    );
    let mut out = head.to_owned();
    let all = lessons::menu().into_iter();
    for lesson in all.filter_map(|(id, _)| lessons::load(&id).ok()) {
        let scenario = &lesson.scenario;
        let is_recording = lesson.markers.is_empty();
        let has_era = scenario.settings.is_informer() && !is_recording;
        let markers = lesson.markers.iter().map(|marker| &*marker.id);
        out.push_str(&format!(
            "| `{}` | {} | {}{} |\n",
            lesson.id,
            if has_era { yes } else { no },
            if is_recording {
                none.to_owned()
            } else {
                code(markers, lang)
            },
            match scenario.traffic.is_some() || scenario.settings.resync_ms > 0 {
                true => endless,
                false => "",
            }
        ));
    }
    out
}

fn terms(lang: Lang) -> String {
    let head = lang.pick(
        "| term | what it is |\n|---|---|\n",
        "| 词 | 是什么 |\n|---|---|\n",
    );
    let rows = TERMS
        .iter()
        .map(|term| format!("| {} | {} |\n", term.name(lang), term.says(lang)));
    rows.fold(head.to_owned(), |all, row| all + &row)
}

fn code<'a>(names: impl IntoIterator<Item = &'a str>, lang: Lang) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    let comma = lang.pick(", ", "、");
    names.collect::<Vec<_>>().join(comma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_gets_the_lists_that_it_asks_for() {
        let asks = "{{#deltascope lessons}}\n\n{{#deltascope facts}}\n";
        let zh = printed(asks, Lang::Zh);
        assert!(
            zh.contains("| `listwatch` | 否 | `listed`、`added-again`、"),
            "{zh}"
        );
        assert!(zh.contains("| 任何队列 | `"), "{zh}");
        let en = printed(asks, Lang::En);
        assert!(en.contains("`kept-delete`; it has no end |\n"), "{en}");
        assert!(en.contains("| `cut` | no | none: use "), "{en}");
        for name in Fact::names() {
            assert_eq!(en.matches(&format!("`{name}`")).count(), 1, "{name}");
        }
        for lang in [Lang::En, Lang::Zh] {
            let terms = printed("{{#deltascope terms}}", lang);
            assert_eq!(terms.lines().count(), TERMS.len() + 2, "{terms}");
        }
        assert!(!en.contains("{{") && printed("# none\n", Lang::En) == "# none\n");
    }
}
