//! A run of a cluster: the responses of a real server, sent to an informer.

use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::world::source::Command;
use deltascope::world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope::world::source::wire::open;
use deltascope::world::virtual_time::Input;
use serde_json::{Value, json};

/// The run of an informer with these settings in addition to a cluster's.
pub(super) fn recorded(settings: &Value) -> Recording {
    let file = |name: &str| {
        let path = format!(
            "{}/tests/transcripts/{name}.body",
            env!("CARGO_MANIFEST_DIR")
        );
        (name.to_owned(), std::fs::read(path).unwrap())
    };
    let list = open(&[file("list-all-namespaces-rv0")]).start.unwrap();
    let events = open(&[file("watch-pod-lifecycle")]).events;
    let page = Page {
        rv: list.rv,
        items: list.items.into(),
        continue_token: "".into(),
    };
    let mut responses = vec![(1, ResponsePart::Page(page)), (2, ResponsePart::Opened)];
    let events = events.into_iter().map(ResponsePart::Event);
    responses.extend(events.map(|event| (2, event)));
    let mut all = json!({
        "feed": "cluster", "machinery": "shared", "era": "1.36", "watchList": false,
    });
    let more = settings.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(more);
    recording(&json!({ "settings": all }), responses)
}

/// The run in which these responses come at intervals.
pub(super) fn recording(scenario: &Value, responses: Vec<(u32, ResponsePart)>) -> Recording {
    let inputs = responses.into_iter().zip(10..);
    let inputs = inputs.map(|((request, part), at)| RecordedInput {
        after: usize::MAX,
        at: at * 100,
        input: Input::Source(Command::Respond([ServerResponse { request, part }].into())),
    });
    Recording {
        scenario: serde_json::from_value(scenario.clone()).unwrap(),
        inputs: inputs.collect(),
    }
}
