//! What the books and the front page state in the page's own words and numbers.

use std::fs;

use deltascope::presentation::strings::strings;
use deltascope::replay::branches::MOST_BRANCHES;
use deltascope::replay::link::LONGEST;
use deltascope::replay::smallest::{MOST_COMPUTED, MOST_TRIALS};
use deltascope::replay::timeline::{FACTS_KEPT, MAX_FACTS};
use deltascope::world::bounds;
use deltascope::world::source::live::MAX_OBJECTS;
use deltascope::world::source::proxy::list::MAX_LIST;
use deltascope::world::text::Lang;

#[test]
fn page_and_front_page_say_what_it_is_in_the_same_sentence() {
    for path in ["index.html", "docs/index.html"] {
        let text = fs::read_to_string(path).unwrap();
        let [en, zh] = [Lang::En, Lang::Zh].map(|lang| strings(lang).about);
        assert!(
            text.contains(&format!("<meta name=\"description\" content=\"{en}\">")),
            "{path}"
        );
        for about in [en, zh] {
            assert!(text.contains(&format!(">{about}</")), "{path}: {about}");
        }
    }
}

#[test]
fn the_books_and_the_page_describe_the_gauge_alike() {
    for (lang, book) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        let text = fs::read_to_string(format!("docs/{book}/src/page.md")).unwrap();
        let words = strings(lang);
        let said = [words.behind_is, words.behind_known].join(" ");
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        assert!(solid(&text).contains(&solid(&said)), "{book}: {said}");
    }
}

/// The books promise these bounds, so a change of a bound has to change the books.
#[test]
fn the_books_state_the_current_bounds() {
    for (en, zh, bound) in [
        (
            "the recording, up to {} of it",
            "留存的内容：录制，最多 {}",
            bounds::MAX_BYTES,
        ),
        (
            "The trace of a cluster may have {}",
            "要能再次打开，最多 {}",
            bounds::MAX_BYTES,
        ),
        ("and {} answers", "、{} 个应答", bounds::MAX_RESPONSES),
        (
            "One answer of a cluster may have {}",
            "集群的一个应答最多 {}",
            MAX_LIST,
        ),
        (
            "{} an object or an event",
            "一个对象或事件最多 {}",
            bounds::MAX_LINE,
        ),
        (
            "pages or events it comes in, {} objects",
            "多少页或多少个事件，最多 {} 个对象",
            MAX_OBJECTS,
        ),
        (
            "A recording may have {}",
            "一个录制最多 {}",
            bounds::MAX_BYTES,
        ),
        (
            "{} a line or an item",
            "每行或每个对象最多 {}",
            bounds::MAX_LINE,
        ),
        (
            "an item, {} objects",
            "每行或每个对象最多 8 MiB，最多 {} 个对象",
            bounds::MAX_ITEMS,
        ),
        (
            "objects and {} events",
            "个对象和 {} 个事件",
            bounds::MAX_EVENTS,
        ),
        (
            "A run has at most {} facts",
            "一个运行最多 {} 个事实",
            MAX_FACTS,
        ),
        ("The newest {} are kept", "只保留最新的 {} 个", FACTS_KEPT),
        (
            "In a scenario a text may have {}",
            "在场景里，一段文字最多 {}",
            bounds::MAX_TEXT,
        ),
        ("or a separator {}", "或一个分隔符最多 {}", bounds::MAX_NAME),
        (
            "there may be {} lines",
            "一条通知最多 {} 行",
            bounds::MOST_TEXTS,
        ),
        ("{} indices", "{} 个索引", bounds::MOST_TEXTS),
        ("{} handlers", "{} 个 handler", bounds::MOST_HANDLERS),
        (
            "{} informers beside",
            "旁边 {} 个 informer",
            bounds::MOST_BESIDE,
        ),
        (
            "{} objects and entries in all",
            "对象和条目合计最多 {} 个",
            bounds::MAX_BUILT,
        ),
        (
            "A printed line is cut after {}",
            "打印的一行在 {} 之后截断",
            bounds::MAX_PRINTED,
        ),
        (
            "read of a file may take about {}",
            "从一个文件读入的内容最多约占 {}",
            bounds::MAX_READ,
        ),
        (
            "a run hold beside themselves {}",
            "在自身之外最多持有 {}",
            bounds::RUN_HOLDS,
        ),
        (
            "A link has at most {} characters",
            "生成的链接最多 {} 个字符",
            LONGEST,
        ),
        (
            "links up to {} are read",
            "读取的链接最多 {}",
            bounds::LONGEST_LINK,
        ),
        ("and hold at most {}", "解开后最多 {}", bounds::UNPACKED),
        ("and {} inputs", "最多 {} 个输入", bounds::MAX_INPUTS),
        (
            "is looked for in at most {} runs",
            "最多试运行 {} 次",
            MOST_TRIALS,
        ),
        ("of {} facts in all", "共计算 {} 个事实", MOST_COMPUTED),
        (
            "There are at most {} branches",
            "最多 {} 个分支",
            MOST_BRANCHES,
        ),
    ] {
        for (lang, said) in [("en", en), ("zh", zh)] {
            let book = fs::read_to_string(format!("docs/{lang}/src/limits.md")).unwrap();
            assert_says(&book, said, bound);
        }
    }
    // The README's short list.
    let readme = fs::read_to_string("README.md").unwrap();
    let (_, limits) = readme.split_once("\n## Limits\n").unwrap();
    assert_says(limits, "A list may have {} objects", MAX_OBJECTS);
    assert_says(limits, "A recording may have {}", bounds::MAX_BYTES);
    assert_says(limits, "a run at most {} facts", MAX_FACTS);
}

/// A bound is written as a number or as a size.
fn assert_says(text: &str, said: &str, bound: usize) {
    let solid: Vec<&str> = text.split_whitespace().collect();
    let solid = solid.join(" ");
    let digits = bound.to_string();
    let count = digits.as_bytes().rchunks(3).rev();
    let count: Vec<&str> = count
        .map(|part| std::str::from_utf8(part).unwrap())
        .collect();
    let sizes = [
        (20, ["MiB", "MiB"]),
        (10, ["KiB", "KiB"]),
        (0, ["bytes", "字节"]),
    ];
    let whole = |(shift, _): &&(u32, _)| bound.is_multiple_of(1 << shift);
    let (shift, units) = sizes.iter().find(whole).unwrap();
    let sized = units.map(|unit| format!("{} {unit}", bound >> shift));
    let either = [vec![count.join(",")], sized.to_vec()].concat();
    let is_said = either
        .iter()
        .any(|is| solid.contains(&said.replace("{}", is)));
    assert!(is_said, "{said}: {either:?}");
}
