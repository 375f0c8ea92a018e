//! The requests of a live run to the cluster, and its use of the answers.

use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::EventType;
use deltascope::cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope::world::source::live::{Page, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::wire::RecordedEvent;
use kube_core::DynamicObject;

use super::{Run, object, stored, wanted};

#[test]
fn an_index_of_a_field_has_its_values() {
    let mut run = Run::new(Generation::Batched, Some(false));
    for name in 0..5 {
        run.cluster.write(name);
    }
    run.catch_up();
    let picture = run.timeline.picture(run.timeline.len());
    let values = &picture.store.indices[".spec.nodeName"];
    let values: Vec<_> = values
        .iter()
        .map(|(value, keys)| (&**value, keys.len()))
        .collect();
    assert_eq!(values, [("n0", 3), ("n1", 2)]);
}

#[test]
fn too_many_objects_are_waited_for_and_are_no_error_of_the_reflector() {
    let mut run = Run::new(Generation::Atomic, None);
    run.go();
    let one = |n: u32| {
        let mut made = DynamicObject::clone(&object(1, 7));
        made.metadata.name = Some(n.to_string());
        ResponsePart::Event(RecordedEvent::Object {
            event: EventType::Added,
            object: Arc::new(made),
        })
    };
    let respond = |run: &mut Run, parts: Vec<ResponsePart>| {
        let request = wanted(&run.timeline).unwrap().request;
        let response = |part| ServerResponse { request, part };
        run.now += 10;
        run.go();
        run.respond(parts.into_iter().map(response).collect());
    };
    let all = |count: u32| {
        [ResponsePart::Opened]
            .into_iter()
            .chain((0..count).map(one))
            .collect()
    };
    respond(&mut run, all(100_001));
    // It requests the whole list again and marks it as too large to retry at once; nothing has failed.
    for _ in 0..3 {
        run.now += 100_000;
        run.go();
        let wanted = wanted(&run.timeline).unwrap();
        assert!(wanted.too_much && wanted.request == 2, "{wanted:?}");
    }
    let picture = run.timeline.picture(run.timeline.len());
    assert_eq!(picture.reflector.watch_errors, 0);
    assert!(picture.store.items.is_empty());
    // Now there are fewer objects, and it continues by itself.
    respond(&mut run, all(3));
    let rv = "9".into();
    let end = ResponsePart::Event(RecordedEvent::Bookmark {
        rv,
        initial_events_end: true,
    });
    respond(&mut run, vec![end]);
    assert_eq!(stored(&run.timeline).len(), 3);
    assert!(!wanted(&run.timeline).unwrap().too_much);
    // The recording replays as the same run.
    let again = run.timeline.recording().play().unwrap();
    assert_eq!(stored(&again).len(), 3);
}

#[test]
fn only_the_pages_of_one_list_count_together() {
    let mut run = Run::new(Generation::Classic, None);
    let mut has = Vec::new();
    for part in [
        ResponsePart::Page(Page {
            rv: "9".into(),
            items: (1..4).map(|name| object(name, 7)).collect(),
            continue_token: "more".into(),
        }),
        ResponsePart::Refused(ApiError::new(ApiErrorKind::InternalError, "boom")),
    ] {
        run.now += 100_000;
        run.go();
        let Wanted { request, .. } = wanted(&run.timeline).unwrap();
        run.respond(vec![ServerResponse { request, part }]);
        run.now += 100_000;
        run.go();
        has.push(wanted(&run.timeline).unwrap().has);
    }
    assert_eq!(has, [3, 0]);
}
