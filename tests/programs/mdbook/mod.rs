//! The preprocessor for mdBook, through its binary.

mod hostile;
mod wrong;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_mdbook-deltascope");

#[test]
fn every_block_of_the_documentation_holds() {
    let checked = run(
        &["check", "docs/en", "docs/zh"],
        Path::new(env!("CARGO_MANIFEST_DIR")),
    );
    assert!(checked.ok && checked.err.is_empty(), "\n{}", checked.err);
}

/// The documentation also shows blocks in longer fences, where they do not run. They must hold as well.
#[test]
fn every_block_that_the_documentation_shows_holds() {
    for lang in ["en", "zh"] {
        let shown: String = ["mdbook", "embedding"]
            .map(|chapter| shown(lang, chapter))
            .concat();
        let folder = folder(&format!("shown-{lang}"));
        fs::write(folder.join("shown.md"), shown).unwrap();
        let checked = run(&["check", "."], &folder);
        assert_eq!(
            (checked.err.as_str(), checked.out.as_str()),
            ("", "blocks that hold: 2, in 1 files\n"),
            "{lang}"
        );
    }
}

/// The text in fences of four backticks.
fn shown(lang: &str, chapter: &str) -> String {
    let book = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(lang);
    let text = fs::read_to_string(book.join(format!("src/{chapter}.md"))).unwrap();
    let fences = text.split("\n````").skip(1).step_by(2);
    fences
        .map(|fence| fence.split_once('\n').unwrap().1.to_owned() + "\n")
        .collect()
}

#[test]
fn other_fences_are_left_alone() {
    let folder = folder("alone");
    let text = "<!--\n```deltascope x\n```\n-->\n\n````md\n```deltascope x\n```\n````\n\n    ```deltascope x\n\n`deltascope x`\n\n```rust\n```\n";
    fs::write(folder.join("a.md"), text).unwrap();
    let checked = run(&["check", "."], &folder);
    assert_eq!(
        (checked.out.as_str(), checked.err.as_str()),
        ("blocks that hold: 0, in 1 files\n", "")
    );
    let book = Book::new(folder, &[("a.md", text)]);
    assert_eq!(book.content(&book.build("html"), 0), text);
}

#[test]
fn a_block_can_run_a_file_of_the_book() {
    let folder = folder("src");
    let trace = include_str!("../../traces/v1-by-hand.jsonl");
    fs::write(folder.join("trace.jsonl"), trace).unwrap();
    let scenario = "{\"settings\": {\"machinery\": \"shared\"}, \"initial\": [{\"metadata\": {\"namespace\": \"d\", \"name\": \"x\"}}]}";
    fs::write(folder.join("scenario.json"), scenario).unwrap();
    let text = "```deltascope src=./trace.jsonl at=t:1530\n[expect.end]\noutput = [\"+ a\", \"- a\"]\n```\n\n```deltascope src=scenario.json\n[expect.end]\n\"store.items.d/x\" = \"2\"\n```\n";
    fs::write(folder.join("a.md"), text).unwrap();
    let checked = run(&["check", "a.md"], &folder);
    assert_eq!(
        (checked.err.as_str(), checked.out.as_str()),
        ("", "blocks that hold: 2, in 1 files\n")
    );
    // The scenario is inlined: the page for printing lies in another folder and could not load the file.
    let book = Book::new(folder, &[("sub/a.md", text)]);
    for name in ["trace.jsonl", "scenario.json"] {
        fs::copy(book.root.join(name), book.root.join("src/sub").join(name)).unwrap();
    }
    let content = book.content(&book.build("html"), 0);
    let elements: Vec<&str> = content.split("<delta-scope ").skip(1).collect();
    assert!(
        elements[0].starts_with("src=\"./trace.jsonl\" at=\"t:1530\"><picture"),
        "{content}"
    );
    let inline = "><script type=\"application/json\">{\"initial\":[";
    assert!(
        !content.contains("scenario.json") && content.contains(inline),
        "{content}"
    );

    // A file outside of the book's sources cannot be loaded by readers.
    for (chapter, src, is_inside) in [
        ("sub/a.md", "../sub/trace.jsonl", true),
        ("sub/a.md", "../../trace.jsonl", false),
        ("sub/a.md", "../../src/sub/trace.jsonl", false),
        ("b.md", "../trace.jsonl", false),
    ] {
        let text = format!("```deltascope src={src}\n```\n");
        let book = Book::new(book.root.clone(), &[(chapter, &text)]);
        let checked = run(&["check", &format!("src/{chapter}")], &book.root);
        for done in [book.run("html"), checked] {
            let is_reported = done.err.contains("lies outside of the book's sources");
            assert_eq!(
                (done.ok, is_reported),
                (is_inside, !is_inside),
                "{src}: {}",
                done.err
            );
        }
    }
}

#[test]
fn the_state_is_printed_as_expectations() {
    let folder = folder("verbose");
    let block = "```deltascope lesson=tombstone at=relist\n";
    fs::write(folder.join("a.md"), format!("{block}```\n")).unwrap();
    let printed = run(&["check", "--verbose", "a.md"], &folder).out;
    assert!(
        printed.starts_with("a.md:1: ok, tombstone, 1.32, 4550 ms, 80 facts of"),
        "{printed}"
    );
    let lines: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect();
    assert!(
        lines.contains(&"  \"store.items.default/b\" = \"3\""),
        "{printed}"
    );
    let expect = format!("{block}[expect]\n{}\n```\n", lines.join("\n"));
    fs::write(folder.join("a.md"), expect).unwrap();
    let checked = run(&["check", "a.md"], &folder);
    assert!(checked.ok, "{}", checked.err);
    // A failing expectation is reported as well, with the value that was found.
    let other = "```\n\n```deltascope lesson=nothing\n```\n";
    fs::write(
        folder.join("a.md"),
        format!("{block}[expect]\ntime = 1\n{other}"),
    )
    .unwrap();
    let printed = run(&["check", "--verbose", "a.md"], &folder).out;
    let blocks: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with("a.md"))
        .collect();
    assert!(
        blocks[0].starts_with("a.md:1: FAILED, tombstone, 1.32, 4550 ms")
            && blocks[1..] == ["a.md:6: FAILED"]
            && printed.contains("\n  time = 4550\n"),
        "{printed}"
    );
}

#[test]
fn a_generation_of_the_whole_book_applies_to_informers_only() {
    let text = "```deltascope lesson=deltafifo at=pop\n```\n\n```deltascope lesson=tombstone\n[expect]\nera = \"1.36\"\n```\n";
    let files = "\n```deltascope src=trace.jsonl\n```\n\n```deltascope src=scenario.json\n```\n";
    let text = format!("{text}{files}");
    let book = Book::new(folder("era"), &[("a.md", &text)]);
    let file = include_str!("../../traces/v1-by-hand.jsonl");
    fs::write(book.root.join("src/trace.jsonl"), file).unwrap();
    fs::write(book.root.join("src/scenario.json"), "{\"settings\": {}}").unwrap();
    book.configure("[preprocessor.deltascope]\nera = \"1.36\"\n");
    let checked = run(&["check", "src"], &book.root);
    assert_eq!(checked.err, "");
    let content = book.content(&book.build("html"), 0);
    let runs: Vec<&str> = content.split("<delta-scope").skip(1).collect();
    let eras: Vec<bool> = runs
        .iter()
        .map(|run| run.split('>').next().unwrap().contains("era="))
        .collect();
    assert_eq!(eras, [false, true, true, false], "{content}");
}

#[test]
fn an_html_page_gets_the_element_its_picture_and_its_words() {
    let one = "# One\ntext\n~~~deltascope lesson=tombstone at=relist theme=dark caption=\"`b` is <gone> & \\\"away\\\"\"\n~~~\nmore\n\n- x\n  ```deltascope at=end\n  {\"title\": \"</script><!-- x\", \"scenario\": {\"settings\": {\"machinery\": \"shared\"}}}\n  ```\n- y\n";
    let two = "> ```deltascope lesson=deltafifo alt=\"a picture\"\n> ```\n> more\n";
    let book = Book::new(folder("html"), &[("one.md", one), ("a/b/two.md", two)]);
    book.configure(
        "[book]\nlanguage = \"zh\"\n[preprocessor.deltascope]\npanels = \"api,queue\"\nspeed = 2\n",
    );
    let built = book.build("html");
    let content = book.content(&built, 0);
    let lines: Vec<&str> = content.lines().collect();
    assert_eq!(lines[..2], ["# One", "text"]);
    let loader = "<link rel=\"stylesheet\" href=\"deltascope/deltascope.css\"><script type=\"module\" src=\"deltascope/deltascope.js\"></script>";
    let element = "<figure class=\"deltascope\"><delta-scope lesson=\"tombstone\" at=\"relist\" panels=\"api,queue\" speed=\"2\" theme=\"dark\" lang=\"zh\"><picture slot=\"poster\"><source media=\"(max-width: 455px)\" srcset=\"deltascope/posters/one-1-narrow-";
    assert!(
        lines[2].starts_with(&format!("{loader}{element}")),
        "{}",
        lines[2]
    );
    for part in [
        "><img src=\"deltascope/posters/one-1-",
        " width=\"350\" height=\"608\"",
        " width=\"750\" height=\"480\"",
        "<div class=\"deltascope-transcript\" lang=\"zh\">",
        "<ol><li>",
        "<b translate=\"no\">",
        "省略最初 40 个事实。",
        "></picture></delta-scope><figcaption><code translate=\"no\">b</code> is &lt;gone&gt; &amp; &quot;away&quot;</figcaption></figure><svg display=\"none\"><script type=\"text/plain\"></svg><div",
        "</ol></div><svg display=\"none\"><script type=\"text/plain\"></script></svg>",
    ] {
        assert!(lines[2].contains(part), "{part}\n{}", lines[2]);
    }
    // A blank line ends the HTML. None may stand where it would turn the list into a loose one.
    assert_eq!(lines[3..6], ["", "more", ""]);
    assert_eq!(lines[6], "- x");
    let script = "<script type=\"application/json\">{\"scenario\":{\"settings\":{\"machinery\":\"shared\"}},\"title\":\"\\u003c/script>\\u003c!-- x\"}</script>";
    assert!(
        lines[7].starts_with("  <figure") && lines[7].contains(script),
        "{}",
        lines[7]
    );
    assert_eq!(content.matches("<script type=\"module\"").count(), 1);
    assert_eq!(lines[8..], ["- y"]);

    let content = book.content(&built, 1);
    let lines: Vec<&str> = content.lines().collect();
    assert!(
        lines[0]
            .starts_with("> <link rel=\"stylesheet\" href=\"../../deltascope/deltascope.css\">")
    );
    assert!(lines[0].contains(" src=\"../../deltascope/posters/a-b-two-1-"));
    assert!(lines[0].contains(" alt=\"a picture\">"));
    assert_eq!(lines[1..], [">", "> more"]);

    // With the element's files on another host.
    book.configure("[preprocessor.deltascope]\nassets = \"https://x.example/ds/\"\n");
    let content = book.content(&book.build("html"), 1);
    assert!(
        content.contains("src=\"https://x.example/ds/deltascope.js\""),
        "{content}"
    );
    assert!(content.contains(" src=\"../../deltascope/posters/a-b-two-1-"));
}

#[test]
fn a_block_tells_a_story_and_its_picture_shows_the_moment_of_the_scene() {
    let own = "```deltascope mode=quiz\ntitle = \"mine\"\nmarkers = [{ id = \"stored\", fact = \"ItemStored\" }]\n[scenario]\ninitial = [{ metadata = { namespace = \"d\", name = \"x\" } }]\nsettings = { machinery = \"shared\" }\n[story]\ntheme = \"cache\"\nminutes = 1\neras = [\"1.32\"]\n[[story.scenes]]\nat = \"start\"\nrooms = [\"api\"]\nsay = { en = \"a\", zh = \"b\" }\nask = { kind = \"number\", text = { en = \"?\", zh = \"?\" }, answer = { fact = \"fact=ItemStored\" } }\n[[story.scenes]]\nat = \"stored\"\nrooms = [\"indexer\"]\nsay = { en = \"a\", zh = \"b\" }\n[expect]\nstep = 0\n\"scene.question.kind\" = \"number\"\n[expect.end]\n\"scene.index\" = 1\n```\n";
    let told = |attributes: &str| {
        format!(
            "```deltascope lesson=first-look {attributes}\n[expect]\n\"queue.keys\" = [\"default/web-0\"]\n```\n"
        )
    };
    let text = [
        own,
        &told("mode=story scene=4"),
        &told("at=piled"),
        &told("mode=quiz"),
    ]
    .join("\n");
    let book = Book::new(folder("story"), &[("a.md", &text)]);
    let content = book.content(&book.build("html"), 0);
    let elements: Vec<&str> = content.split("<delta-scope ").skip(1).collect();
    assert!(
        elements[0].starts_with("mode=\"quiz\"><script"),
        "{content}"
    );
    let tag = "lesson=\"first-look\" mode=\"story\" scene=\"4\">";
    assert!(elements[1].starts_with(tag), "{content}");
    let picture = |element: &str| {
        let (_, after) = element.split_once("<img src=\"").unwrap();
        let (address, _) = after.split_once('"').unwrap();
        fs::read_to_string(book.root.join("src").join(address)).unwrap()
    };
    // Its title and its words are those of the moment; the story and the quiz have their panel.
    let of = |picture: &str| picture.split_once("<style>").unwrap().0.to_owned();
    let [scene, moment, quiz] = [1, 2, 3].map(|place| picture(elements[place]));
    assert_eq!([of(&scene), of(&quiz)], [of(&moment), of(&moment)]);
    for (picture, number) in [(&scene, ">4 of 7<"), (&quiz, ">Question 1 of 2<")] {
        assert!(
            picture.contains(number) && !moment.contains(number),
            "{picture}"
        );
        assert!(
            picture.contains(">How many times will your handler be called?<"),
            "{picture}"
        );
    }
}

#[test]
fn a_picture_links_to_its_moment_on_the_page() {
    let block = "```deltascope lesson=tombstone era=1.36 at=relist\n```\n";
    let own = "```deltascope\n{\"scenario\": {\"settings\": {\"machinery\": \"shared\"}}}\n```\n";
    let book = Book::new(folder("page"), &[("a.md", block), ("b/c.md", own)]);
    assert!(!book.content(&book.build("html"), 0).contains("#v1"));

    book.configure("[preprocessor.deltascope]\npage = \"../page/\"\n");
    let built = book.build("html");
    let content = book.content(&built, 0);
    let link = "<a class=\"deltascope-open\" href=\"../page/#v1;lesson=tombstone;era=1.36;at=relist\">Open this moment in deltascope</a>";
    assert!(content.contains(link), "{content}");
    let content = book.content(&built, 1);
    assert!(content.contains("href=\"../../page/#v1;"), "{content}");
    // On paper there is no page beside the book.
    assert!(!book.content(&book.build("markdown"), 0).contains("#v1"));

    book.configure(
        "[book]\nlanguage = \"zh\"\n[preprocessor.deltascope]\npage = \"https://x.example/\"\n",
    );
    let content = book.content(&book.build("markdown"), 0);
    let link =
        "[在 deltascope 里打开这一刻](<https://x.example/#v1;lesson=tombstone;era=1.36;at=relist>)";
    assert!(content.contains(link), "{content}");
}

#[test]
fn a_chapter_links_to_the_lessons_that_name_it() {
    let text = "# Introduction\n\n## The picture\n\ntext\n\n## How to drive a run\n\nmore\n";
    let book = Book::new(folder("lessons"), &[("introduction.md", text)]);
    let config = "[preprocessor.deltascope]\npage = \"../page/\"\n";
    book.configure(config);
    assert_eq!(book.content(&book.build("html"), 0), text);

    book.configure(&format!("{config}lessons = true\n"));
    let content = book.content(&book.build("html"), 0);
    let link = "## The picture\n\n\n<p class=\"deltascope-lesson\">Lesson: <a href=\"../page/#v1;lesson=first-look;scene=1\">How does one change in the cluster reach my controller?</a> (2 min)</p>\n\n";
    assert!(content.contains(link), "{content}");
    let link = "<a href=\"../page/#v1;lesson=sandbox\">Sandbox: traffic without end</a>";
    assert!(content.contains(link), "{content}");
    assert!(content.ends_with("more\n"), "{content}");

    let book = Book::new(
        folder("no-heading"),
        &[(
            "introduction.md",
            "# Introduction\n\n## How to drive a run\n",
        )],
    );
    book.configure(&format!("{config}lessons = true\n"));
    let built = book.run("html");
    assert!(!built.ok && built.out.is_empty());
    let wrong = "The lesson \"first-look\" names the heading #the-picture of this chapter. There are: #introduction, #how-to-drive-a-run";
    assert!(built.err.contains(wrong), "{}", built.err);

    book.configure("[preprocessor.deltascope]\nlessons = \"yes\"\n");
    let wrong = "book.toml:2: lessons is true or false, not \"yes\".";
    assert!(book.run("html").err.starts_with(wrong));
}

#[test]
fn other_renderers_get_a_picture_and_a_list() {
    let folder = folder("markdown");
    for renderer in ["html", "epub", "latex"] {
        assert!(run(&["supports", renderer], &folder).ok);
    }
    let text =
        "> 1. x\n>\n>    ```deltascope lesson=tombstone at=cut caption=\"a_b\"\n>    ```\n>    y\n";
    let book = Book::new(folder, &[("c/a.md", text)]);
    let content = book.content(&book.build("markdown"), 0);
    assert!(
        content.lines().all(|line| line.starts_with('>')),
        "{content}"
    );
    assert!(
        content.contains(">    ![Why is there something in OnDelete that isn’t my Pod? (1.32): "),
        "{content}"
    );
    assert!(
        content.contains("](../deltascope/posters/c-a-1-"),
        "{content}"
    );
    assert!(content.contains("\n>    a\\_b\n"), "{content}");
    assert!(content.contains("\n>    1. 0.04 s, "), "{content}");
    assert!(content.ends_with("\n>\n>    y\n"), "{content}");
    assert!(!content.contains("<script"));
}

#[test]
fn a_book_with_a_block_that_does_not_hold_is_not_built() {
    let body = "[expect]\nera = \"1.36\"\n";
    let block = |body: &str| format!("```deltascope lesson=tombstone\n{body}```\n");
    // The body of the second block was included by mdBook; the file does not contain it.
    let two = format!(
        "text that is\nlonger in mdBook\n\n{}",
        block("era = \"1.36\"\n[expect]\nx = 1\n")
    );
    let book = Book::new(
        folder("wrong-book"),
        &[
            ("one.md", &format!("\n{}", block(body))),
            ("sub/two.md", &two),
        ],
    );
    fs::write(
        book.root.join("src/sub/two.md"),
        "{{#include x}}\n```deltascope lesson=tombstone\n{{#include body}}\n```\n",
    )
    .unwrap();
    let built = book.run("html");
    assert!(!built.ok && built.out.is_empty());
    let lines: Vec<&str> = built.err.lines().collect();
    let one = format!(
        "src{0}one.md:4: as it opens: era is otherwise",
        std::path::MAIN_SEPARATOR
    );
    assert_eq!(lines[0], one);
    assert!(
        lines[3].contains("two.md:2: era belongs to a scenario"),
        "{}",
        built.err
    );
    assert_eq!(
        lines[4..],
        ["2 of 2 blocks of this book do not hold; it is not built."]
    );
    assert!(!book.root.join("src/deltascope").exists());

    book.configure("[book]\n\n[preprocessor.deltascope]\nlang = \"en\"\npanel = \"api\"\n");
    let built = book.run("html");
    assert!(
        built.err.starts_with(
            "book.toml:5: [preprocessor.deltascope] has no \"panel\". Did you mean \"panels\"?"
        ),
        "{}",
        built.err
    );
}

#[test]
fn pictures_are_written_once_and_old_ones_go() {
    let text = "```deltascope lesson=tombstone at=cut\n```\n\n```deltascope lesson=tombstone at=relist\n```\n";
    let book = Book::new(folder("posters"), &[("a.md", text)]);
    let posters = book.root.join("src/deltascope/posters");
    let names = || {
        let mut names: Vec<String> = fs::read_dir(&posters)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    book.build("html");
    fs::write(posters.join("mine.svg"), "mine").unwrap();
    let before = names();
    assert_eq!(before.len(), 6, "{before:?}");
    for (name, start) in before
        .iter()
        .zip(["a-1-", "a-1-narrow-", "a-2-", "a-2-narrow-"])
    {
        assert!(name.starts_with(start), "{before:?}");
    }
    let written = || -> Vec<_> {
        let paths = before.iter().map(|name| posters.join(name));
        paths
            .map(|path| fs::metadata(path).unwrap().modified().unwrap())
            .collect()
    };
    let first = written();
    book.build("html");
    book.build("epub");
    assert_eq!(written(), first, "mdbook serve would build for ever");

    // The first pictures show another moment and get other names; the second ones are gone; foreign files stay.
    fs::write(book.root.join("src/a.md"), "").unwrap();
    let book = Book {
        chapters: vec![(
            "a.md".into(),
            "```deltascope lesson=tombstone at=told\n```\n".into(),
        )],
        ..book
    };
    book.build("html");
    let after = names();
    assert_eq!(after.len(), 4, "{after:?}");
    assert!(after[0].starts_with("a-1-") && after[0] != before[0]);
    assert_eq!(after[2..], ["mine.svg", "posters.json"]);
    // A manifest that was tampered with leads to no file outside.
    fs::write(book.root.join("src/keep"), "keep").unwrap();
    fs::write(posters.join("posters.json"), "[\"../../keep\"]").unwrap();
    book.build("html");
    assert!(book.root.join("src/keep").exists());
}

#[test]
fn the_element_is_installed_beside_the_chapters() {
    let folder = folder("install");
    let dist = folder.join("dist");
    let book = Book::new(folder.join("book"), &[("a.md", "")]);
    let put = |name: &str, text: &str| {
        let path = dist.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let install = || run(&["install", "--from", "dist", "book"], &folder);
    assert!(install().err.contains("make dist"));
    for name in [
        "index.html",
        "deltascope.js",
        "deltascope.css",
        "glue-1.js",
        "vue/index.js",
    ] {
        put(name, name);
    }
    book.configure("# Mine\n[book]\ntitle = \"x\"\nsrc = \"text\"\n");
    assert_eq!(
        install().out.replace('\\', "/"),
        "4 files in book/text/deltascope\n[preprocessor.deltascope] in book/book.toml\n"
    );
    let toml = fs::read_to_string(book.root.join("book.toml")).unwrap();
    assert_eq!(
        toml,
        "# Mine\n[book]\ntitle = \"x\"\nsrc = \"text\"\n\n[preprocessor.deltascope]\nafter = [\"links\"]\n"
    );
    let there = |name: &str| book.root.join("text/deltascope").join(name).exists();
    assert!(there("vue/index.js") && there("glue-1.js") && !there("index.html"));
    // The next build has files with other names; its package lists them.
    put("glue-2.js", "");
    put(
        "package.json",
        "{\"files\": [\"deltascope.js\", \"deltascope.css\", \"glue-2.js\"]}",
    );
    assert_eq!(
        install().out.replace('\\', "/"),
        "3 files in book/text/deltascope\n"
    );
    assert!(there("glue-2.js") && !there("glue-1.js") && !there("vue/index.js"));
    // A manifest that was tampered with takes no files from elsewhere, and writes none there.
    fs::write(folder.join("outside"), "").unwrap();
    let absolute = folder.join("outside");
    for name in [
        json!("../outside"),
        json!("vue/../../outside"),
        json!(absolute),
        json!("./outside"),
        json!("/"),
        json!(""),
        json!(1),
    ] {
        let package = json!({"files": ["deltascope.js", name]});
        put("package.json", &package.to_string());
        let done = install();
        let said = format!("package.json names {name} in \"files\"");
        assert!(!done.ok && done.err.contains(&said), "{}", done.err);
        assert!(there("glue-2.js") && !there("../outside"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_only_once() {
    use std::os::unix::fs::symlink;
    let folder = folder("links");
    let chapter = "```deltascope lesson=tombstone\n```\n";
    for name in ["src/a.md", "src/deep/b.md", "beside/c.md"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, chapter).unwrap();
    }
    // Folders without chapters, and folders around these, are not entered through a link either.
    let nobody = "```deltascope lesson=nobody\n```\n";
    for name in ["src/.hidden/d.md", "src/book/e.md", "around.md"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, nobody).unwrap();
    }
    // Two links to folders around them could be followed in 2^40 ways.
    for (to, link) in [
        (".", "a"),
        (".", "b"),
        ("..", "up"),
        ("deep", "twice"),
        (".hidden", "seen"),
        ("../beside", "beside"),
        ("../beside", "again"),
        ("../src", "../beside/back"),
    ] {
        symlink(to, folder.join("src").join(link)).unwrap();
    }
    let checked = run(&["check", "src"], &folder);
    assert_eq!(
        (checked.err.as_str(), checked.out.as_str()),
        ("", "blocks that hold: 3, in 3 files\n")
    );
    let book = Book::new(folder.join("book"), &[("a.md", "")]);
    book.configure("[book]\ntitle = \"x\"\n");
    let dist = folder.join("dist");
    fs::create_dir_all(dist.join("vue")).unwrap();
    fs::write(dist.join("deltascope.js"), "").unwrap();
    let install = || run(&["install", "--from", "dist", "book"], &folder);
    symlink("..", dist.join("vue/loop")).unwrap();
    symlink(".", dist.join("vue/more")).unwrap();
    let done = install();
    assert!(
        !done.ok && done.err.contains("a link to a folder that it lies in"),
        "{}",
        done.err
    );
    assert!(!book.root.join("src/deltascope").exists());
    // Each of twenty folders links to all later ones: no circle, but a million paths.
    fs::remove_dir_all(dist.join("vue")).unwrap();
    let many = folder.join("many");
    for (from, to) in (0..20).flat_map(|from| (from..20).map(move |to| (from, to))) {
        let from = many.join(from.to_string());
        fs::create_dir_all(&from).unwrap();
        if !from.ends_with(to.to_string()) {
            symlink(format!("../../many/{to}"), from.join(to.to_string())).unwrap();
        }
    }
    symlink("../many", dist.join("vue")).unwrap();
    let done = install();
    let said = "more than 10000 files and folders";
    assert!(!done.ok && done.err.contains(said), "{}", done.err);
    assert!(!book.root.join("src/deltascope").exists());
    fs::remove_file(dist.join("vue")).unwrap();
    // A link to a folder elsewhere is followed.
    symlink("../beside", dist.join("vue")).unwrap();
    fs::remove_file(folder.join("beside/back")).unwrap();
    assert!(install().out.starts_with("2 files in "));
}

// --- a book, as mdBook passes it on -------------------------------------------------------------

struct Book {
    root: PathBuf,
    chapters: Vec<(String, String)>,
}

impl Book {
    fn new(root: PathBuf, chapters: &[(&str, &str)]) -> Self {
        for (path, text) in chapters {
            let path = root.join("src").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let chapters = chapters
            .iter()
            .map(|(path, text)| ((*path).into(), (*text).into()));
        let book = Self {
            root,
            chapters: chapters.collect(),
        };
        book.configure("");
        book
    }

    fn configure(&self, toml: &str) {
        fs::write(self.root.join("book.toml"), toml).unwrap();
    }

    /// The second chapter is below the first; a draft comes last.
    fn run(&self, renderer: &str) -> Done {
        let mut items = vec![
            json!({"Chapter": {"name": "Draft", "content": "", "path": null, "source_path": null, "sub_items": []}}),
        ];
        for (path, text) in self.chapters.iter().rev() {
            let below = if items.len() == 2 {
                vec![items.remove(0)]
            } else {
                Vec::new()
            };
            let chapter = json!({"name": path, "content": text, "number": null, "sub_items": below, "path": path, "source_path": path, "parent_names": []});
            items.insert(0, json!({"Chapter": chapter}));
        }
        let toml = fs::read_to_string(self.root.join("book.toml")).unwrap();
        let config: Value = toml_of(&toml);
        let context = json!({"root": self.root, "config": config, "renderer": renderer, "mdbook_version": "0.5.4"});
        pipe(&json!([context, {"items": items}]).to_string(), &self.root)
    }

    fn build(&self, renderer: &str) -> Value {
        let built = self.run(renderer);
        assert!(built.ok, "{}", built.err);
        serde_json::from_str(&built.out).unwrap()
    }

    fn content(&self, book: &Value, number: usize) -> String {
        let mut chapter = &book["items"][0]["Chapter"];
        for _ in 0..number {
            chapter = &chapter["sub_items"][0]["Chapter"];
        }
        chapter["content"].as_str().unwrap().to_owned()
    }
}

/// The subset of TOML in these tests: sections, and one value per line.
fn toml_of(text: &str) -> Value {
    let mut found = json!({});
    let mut section = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("/{}", name.trim_end_matches(']').replace('.', "/"));
            let mut at = &mut found;
            for name in section.split('/').skip(1) {
                at = &mut at[name];
            }
            *at = json!({});
        } else if let Some((name, value)) = line.split_once(" = ") {
            found.pointer_mut(&section).unwrap()[name] = serde_json::from_str(value).unwrap();
        }
    }
    found
}

struct Done {
    ok: bool,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        assert!(
            output.status.code().is_some_and(|code| code < 3),
            "{output:?}"
        );
        Self {
            ok: output.status.success(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The program with a memory limit that no test comes near, where the system has one.
fn program() -> Command {
    if !cfg!(unix) {
        return Command::new(BINARY);
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 524288; exec \"$0\" \"$@\"", BINARY]);
    command
}

fn run(arguments: &[&str], folder: &Path) -> Done {
    let mut command = program();
    command.args(arguments).current_dir(folder);
    command.output().unwrap().into()
}

fn pipe(text: &str, folder: &Path) -> Done {
    let mut command = program();
    command.current_dir(folder).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap().into()
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("mdbook")
        .join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}
