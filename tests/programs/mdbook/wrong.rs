//! Problems of a block are reported with file and line.

use std::fs;

use super::{folder, run};

/// A file, and the problems that are reported: their lines, and words of their messages.
const WRONG: &[(&str, &[(usize, &str)])] = &[
    // In the info string.
    (
        "\n```deltascope lesson=tombston\n```\n",
        &[(2, "Did you mean \"tombstone\"?")],
    ),
    (
        "```deltascope lesson=tombstone watch\n```\n",
        &[(1, "\"watch\" has no value. Write watch=…")],
    ),
    (
        "```deltascope lesson=tombstone panel=api er=1 era=2.x\n```\n",
        &[
            (1, "no attribute \"panel\". Did you mean \"panels\"?"),
            (1, "no attribute \"er\". Did you mean \"era\"?"),
            (1, "era=\"2.x\" is not known. Write one of: 1.32"),
        ],
    ),
    (
        "\u{feff}```deltascope caption=\"open\n```\n",
        &[(1, "no closing \"")],
    ),
    (
        "```deltascope,lesson=tombstone\n```\n",
        &[(1, "with spaces")],
    ),
    (
        "```delta-scope lesson=tombstone\n```\n",
        &[(1, "is written ```deltascope")],
    ),
    (
        "text\n```deltascope caption=\"`a`\"\n```\n",
        &[(2, "Write ~~~ instead")],
    ),
    // In the run.
    (
        "```deltascope lesson=tombstone at=nowhere\n```\n",
        &[(1, "There are: synced, cut,")],
    ),
    (
        "```deltascope lesson=tombstone at=headline:ItemStore\n```\n",
        &[(
            1,
            "there is no fact \"ItemStore\"; there are ObjectCreated,",
        )],
    ),
    (
        "```deltascope lesson=tombstone at=headline:ItemStored:default/z\n```\n",
        &[(1, " ItemStored, about default/a, default/b, default/c.")],
    ),
    (
        "```deltascope lesson=sandbox at=end\n```\n",
        &[(1, "never ends")],
    ),
    (
        "```deltascope lesson=deltafifo era=1.36 at=nowhere\n```\n",
        &[(
            1,
            "by hand: it is the same in every generation. Open a lesson with an informer. Or leave out era.",
        )],
    ),
    (
        "```deltascope src=nothing.jsonl\n```\n",
        &[(1, "cannot be read")],
    ),
    (
        "```deltascope src=https://x.example/y\n```\n",
        &[(1, "is no file of the book")],
    ),
    (
        "```deltascope src=run.md\n```\n",
        &[(
            1,
            "mdBook copies no .md files. Give it another name, such as \"run.jsonl\"",
        )],
    ),
    (
        "```deltascope lesson=tombstone at=t:9999999\n```\n\n```deltascope lesson=tombstone at=step:999999 until=told+999\n```\n",
        &[
            (1, "at=t:9999999: The run is over before that, at 8760 ms"),
            (4, "at=step:999999: The run is over before that"),
            (4, "until=told+999: The run is over before that"),
        ],
    ),
    (
        "```deltascope lesson=sandbox at=step:9999999\n[expect.\"t:99\"]\n```\n",
        &[(1, "Name an earlier moment")],
    ),
    // In a story.
    (
        "```deltascope lesson=first-look mode=exam scene=0\n```\n",
        &[
            (
                1,
                "mode=\"exam\" is not known. Write one of: explore, watch, story, quiz, race",
            ),
            (1, "scene=\"0\" is not known. Write one of: 1, 2, 3"),
        ],
    ),
    (
        "```deltascope lesson=first-look scene=8\n```\n",
        &[(1, "the story has 7 scenes. Write 1 to 7")],
    ),
    (
        "```deltascope mode=quiz\n[scenario.settings]\nmachinery = \"shared\"\n```\n",
        &[(
            1,
            "this lesson has no story. Choose one that has (first-look",
        )],
    ),
    (
        "```deltascope mode=story\n[scenario.settings]\nmachinery = \"shared\"\n[story]\ntheme = \"x\"\n```\n",
        &[(5, "field \"theme\": \"x\" is none of first-look")],
    ),
    // In the body.
    (
        "text\n```deltascope lesson=tombstone\ntext\n\nmore\n",
        &[(2, "This fence is not closed: write ``` alone on the line")],
    ),
    ("```deltascope lesson=tombstone", &[(1, "is not closed")]),
    (
        "- > ~~~~deltascope lesson=tombstone\n  > x\n\n~~~~\n",
        &[(1, "is not closed: write ~~~~ alone")],
    ),
    (
        "```deltascope lesson=tombstone\n\nText.\n\n```deltascope lesson=deltafifo\n```\n",
        &[(1, "is not closed before that of line 5: write ```")],
    ),
    (
        "```deltascope\ntitle = \"x\"\nscenario = = 1\n```\n",
        &[(3, "no TOML")],
    ),
    (
        "```deltascope\n{\"title\": \"x\",\n\"scenario\" 1}\n```\n",
        &[(3, "no JSON")],
    ),
    (
        "```deltascope\ntitel = \"x\"\n[scenario]\n```\n",
        &[(2, "Did you mean \"title\"?")],
    ),
    (
        "```deltascope lesson=tombstone\n\n[scenario]\n```\n",
        &[(3, "scenario belongs to a scenario of the block's own")],
    ),
    (
        "```deltascope\n[scenario]\n[scenario.settings]\nera = \"1.36\"\nmachinery = \"steam\"\n```\n",
        &[(5, "steam")],
    ),
    (
        "```deltascope\n[scenario]\nsettings = { queue = \"FIFO\" }\n```\n",
        &[(3, "write feed = \"program\"")],
    ),
    (
        "```deltascope\n[scenario]\nsettings = { queue = \"FIFO\", feed = \"program\", byType = true }\n```\n",
        &[(3, "goes without \"byType\" here")],
    ),
    (
        "```deltascope\n[scenario]\nsettings = { queue = \"FIFO\", machinery = \"shared\" }\n```\n",
        &[(3, "is in no informer")],
    ),
    (
        "> ~~~deltascope\n> [scenario]\n> [[markers]]\n> id = \"x\"\n> fact = \"Bang\"\n> ~~~\n",
        &[(5, "there is no fact \"Bang\"")],
    ),
    // An element of an array, and what other lines hold as well.
    (
        "```deltascope\n[scenario.settings]\nmachinery = \"shared\"\n[[scenario.settings.handlers]]\nname = \"a\"\n[[scenario.settings.handlers]]\nname = \"b\"\nlatency = 1\n```\n",
        &[(8, "a handler has no field \"latency\"")],
    ),
    (
        "```deltascope\ntitle = \"creat\"\n[[scenario.script]]\nat = 1\nop = \"cut\"\n[[scenario.script]]\nat = 2\nop = \"creat\"\n```\n",
        &[(8, "\"op\" cannot be \"creat\" in a script")],
    ),
    (
        "```deltascope\n{\"initial\": [\n{\"metadata\": {\"name\": \"a\"}},\n{\"metadata\": {\"name\": 5}}]}\n```\n",
        &[(4, "metadata")],
    ),
    // In the expectations.
    (
        "```deltascope lesson=tombstone at=relist\n[expect]\nera = \"1.36\"\n\"quue.keys\" = []\n```\n",
        &[
            (
                3,
                "at relist: era is otherwise\n  expected  \"1.36\"\n  found     \"1.32\"",
            ),
            (4, "quue.keys leads to nothing. Did you mean \"queue\"?"),
        ],
    ),
    (
        "- x\n\n  ```deltascope lesson=tombstone\n  [expect.end]\n  output = [\"OnAdd: a\"]\n  [expect.relist]\n  \"queue.key\" = []\n  [expect.never]\n  x = 1\n  ```\n",
        &[
            (5, "at end: output is otherwise"),
            (
                7,
                "at relist: queue.key leads to nothing. In queue: Did you mean \"keys\"?",
            ),
            (
                8,
                "never is no moment of this run: There is no marker \"never\"",
            ),
        ],
    ),
    (
        "```deltascope lesson=tombstone\n{\"expect\": {\n\"end\": {\n\"store.items.default/a\": \"9\"}}}\n```\n",
        &[(
            4,
            "at end: store.items.default/a is otherwise\n  expected  \"9\"\n  found     \"2\"",
        )],
    ),
];

#[test]
fn problems_are_reported_with_file_and_line() {
    let folder = folder("wrong");
    for (text, expected) in WRONG {
        fs::write(folder.join("a.md"), text).unwrap();
        let checked = run(&["check", "a.md"], &folder);
        assert!(!checked.ok && checked.out.is_empty(), "{text}");
        let lines: Vec<&str> = checked
            .err
            .split("a.md:")
            .filter(|one| !one.is_empty())
            .collect();
        assert_eq!(lines.len(), expected.len(), "{text}\n{}", checked.err);
        for (message, (line, words)) in lines.iter().zip(*expected) {
            assert!(
                message.starts_with(&format!("{line}: ")) && message.contains(words),
                "{text}\n{line}: {words}\n{message}"
            );
        }
    }
}
