//! Scenarios that are small to write and would take much: the programs that open one refuse each.

use serde_json::{Value, json};

/// A scenario, where its text is too long, and what is said of it. `long` has some 700,000 bytes.
pub(crate) fn scenarios(long: &str) -> Vec<(Value, &'static str, &'static str)> {
    const TEXT: &str = "the most is 4096. Write a shorter one";
    const NAME: &str = "the most is 512. Write a shorter one";
    let pods: Vec<Value> = (0..5_000)
        .map(|number| json!({ "metadata": { "namespace": "a", "name": format!("p{number}") } }))
        .collect();
    let shared = |mut settings: Value| {
        settings["machinery"] = json!("shared");
        json!({ "settings": settings, "initial": pods })
    };
    let mut prints = shared(json!({ "indices": ["namespace"] }));
    prints["script"] = json!([{ "at": 1, "op": "print", "line": "{indices}".repeat(60_000) }]);
    vec![
        (
            shared(json!({ "handlers": [{ "onAdd": [long] }] })),
            "field \"onAdd\": 7000",
            TEXT,
        ),
        (
            shared(json!({ "handlers": [{ "mutates": format!("a={long}") }] })),
            "field \"mutates\": 7000",
            NAME,
        ),
        (
            shared(json!({ "transform": { "sets": format!("a={long}") } })),
            "field \"sets\": 7000",
            NAME,
        ),
        (
            shared(json!({ "keySeparator": long })),
            "field \"keySeparator\": 7000",
            NAME,
        ),
        (prints, "field \"line\": 540000", TEXT),
    ]
}
