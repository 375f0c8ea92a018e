//! `deltascope draw`: the stage at a moment, as a picture.

use std::fs;

use deltascope::world::text::Lang;
use serde_json::json;

use super::{deltascope, looked_at, output, scratch};

#[test]
fn a_moment_is_drawn_of_a_lesson_a_scenario_or_a_trace() {
    let run = |args: &[&str]| {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            err,
        )
    };
    let (code, svg, _) = run(&[
        "draw",
        "--lesson",
        "tombstone",
        "--at",
        "relist",
        "--panels",
        "queue",
        "--lang",
        "zh",
    ]);
    assert_eq!(code, Some(0));
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains("DELTAFIFO") && !svg.contains("INDEXER") && svg.contains("width=\"750\""));

    let scenario = scratch("scenario.json");
    let object = json!({"metadata": {"namespace": "default", "name": "drawn"}});
    let text = json!({"settings": {"machinery": "shared"}, "initial": [object]}).to_string();
    fs::write(&scenario, text).unwrap();
    let picture = scratch("picture.svg");
    let (from, to) = (scenario.to_str().unwrap(), picture.to_str().unwrap());
    let (code, said, _) = run(&[
        "draw", from, "--at", "end", "--width", "1600", "--theme", "dark", "-o", to,
    ]);
    assert_eq!((code, &*said), (Some(0), ""));
    assert!(
        fs::read_to_string(&picture)
            .unwrap()
            .contains("default/drawn")
    );

    let (trace, _) = looked_at("tombstone", Lang::En);
    let file = scratch("drawn.jsonl");
    for (rest, said) in [
        ("", ""),
        ("{\"op\":\"cut\",", "drawn.jsonl is cut off in line"),
    ] {
        fs::write(&file, format!("{trace}{rest}")).unwrap();
        let (code, svg, err) = run(&["draw", file.to_str().unwrap(), "--at", "end", "--no-strip"]);
        assert_eq!((code, err.is_empty()), (Some(0), rest.is_empty()), "{err}");
        assert!(svg.contains("HANDLERS") && err.contains(said), "{err}");
        let (code, _, err) = run(&["draw", file.to_str().unwrap(), "--at", "nowhere"]);
        assert_eq!(code, Some(1), "{err}");
    }

    for (args, code, said) in [
        (&["--lesson", "nothing"][..], 1, "no lesson"),
        (
            &["--lesson", "tombstone", "--at", "nowhere"],
            1,
            "no marker",
        ),
        (&["--lesson", "tombston"], 1, "Did you mean \"tombstone\"?"),
        (
            &["--lesson", "tombstone", "--at", "relst+3"],
            1,
            "Did you mean \"relist\"?",
        ),
        (&["--panels", "kitchen"], 2, "kitchen"),
        (&["--width", "3"], 2, "240"),
        (&["nosuch.json"], 1, "nosuch.json"),
        (&["-o", "/no/such/x.svg"], 1, "/no/such/x.svg"),
    ] {
        let args = [&["draw", "--lang", "en"], args].concat();
        let (found, svg, err) = run(&args);
        assert_eq!((found, &*svg), (Some(code), ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}
