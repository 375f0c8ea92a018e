//! The chain of causes behind a fact.

use std::rc::Rc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, HandlersFact};
use deltascope::cache::selector::Selector;
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::caption;
use deltascope::presentation::command::Command;
use deltascope::presentation::session::Session;
use deltascope::presentation::view::why::Link;
use deltascope::replay::lessons;
use deltascope::world::source;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::text::Lang;
use deltascope::world::virtual_time::Input;
use serde_json::json;

/// The drawer's links for the fact at the cursor: their facts, in brackets those that only explain a cause.
fn chain(session: &mut Session) -> Vec<String> {
    session.obey(Command::AskWhy(true));
    let why = session.view().why.unwrap();
    let link = |link: &Rc<Link>| match link.aside {
        Some(_) => format!("({})", link.fact),
        None => link.fact.to_owned(),
    };
    why.links.iter().map(link).collect()
}

#[test]
fn a_missed_deletion_leads_to_the_known_object_and_to_the_delete() {
    // By a list: the facts between the deletion and the list request.
    let queued = |first: &str| {
        let rest =
            "DeletionDetected (ItemStored) ListReceived ListAnswered (ObjectDeleted) ListRequested";
        format!("{first} {rest}")
    };
    let (delta, entry) = (queued("DeltaAppended"), queued("EntryAppended"));
    let whole = "ListOpened (StoreReplaced) EntryAppended ListReceived ListAnswered (ObjectDeleted) ListRequested";
    let streamed = "DeltaAppended DeletionDetected (ItemStored) InitialEventsEnded EventReceived EventSent (ObjectDeleted) WatchAccepted";
    let left = delta.replace("ObjectDeleted", "ObjectUpdated");
    for (generation, streams, selector, expected) in [
        (Generation::Classic, false, None, &*delta),
        (Generation::InOrder, false, None, &*entry),
        (Generation::Batched, false, None, &*entry),
        (Generation::Atomic, false, None, whole),
        (Generation::Classic, true, None, streamed),
        // The object still exists, but the selector no longer matches it.
        (Generation::Classic, false, Some("app"), &*left),
    ] {
        let mut lesson = lessons::load("tombstone").unwrap();
        let settings = &mut lesson.scenario.settings;
        settings.era = generation;
        settings.watch_list = Some(streams);
        settings.selector = selector.map(|text| Selector::parse(text).unwrap());
        if selector.is_some() {
            let update = Write::Update(PodSpec::of("default/b").into_object());
            lesson.scenario.script[1].input = Input::Source(source::Command::Write(update));
        }
        let mut session = Session::new();
        session.open(lesson);
        let steps = session.view().steps;
        let notified = (1..=steps).rev().find(|step| {
            session.obey(Command::Seek(*step));
            let last = session.current().unwrap().fact;
            matches!(last, Fact::Handlers(HandlersFact::LinePrinted { line, .. }) if &*line == "OnDelete: DeletedFinalStateUnknown{b}")
        });
        assert!(notified.is_some(), "{generation:?}");
        let names = chain(&mut session).join(" ");
        assert!(names.contains(expected), "{generation:?}: {names}");
        let why = session.view().why.unwrap();
        let words = |lang| {
            why.links
                .iter()
                .map(move |link| caption::plain(link.words(lang)))
        };
        let said: Vec<String> = words(Lang::En).collect();
        let all = said.join("\n");
        assert!(
            all.contains("The Indexer has b, the list has not. "),
            "{all}"
        );
        assert!(
            all.contains("That is why the list lacks b; no event of it arrived. "),
            "{all}"
        );
        assert!(words(Lang::Zh).any(|said| said.starts_with("Indexer 里有 b，列表里没有。")));
    }
}

#[test]
fn a_fifo_key_without_an_object_leads_to_the_removal_of_the_object() {
    let call = |at: u32, op: &str, name: &str, rv: &str| json!({ "at": at, "op": op, "object": { "metadata": { "name": name, "resourceVersion": rv } } });
    let lesson = json!({
        "id": "fifo", "title": { "en": "", "zh": "" }, "note": { "en": "", "zh": "" }, "era": "1.32",
        "scenario": {
            "settings": { "queue": "FIFO", "feed": "program", "mode": "held" },
            "script": [
                call(300, "create", "x", "1"), call(600, "delete", "x", "1"),
                call(900, "create", "x", "2"), { "at": 1200, "op": "pop" }
            ]
        }
    });
    let mut session = Session::new();
    session.open(lessons::inline(lesson).unwrap());
    let mut seen = Vec::new();
    for step in 1..=session.view().steps {
        session.obey(Command::Seek(step));
        if !session.view().picture.queue.keys.is_empty() {
            session.obey(Command::Select(Anchor::read("queue/key/x")));
            seen.push(chain(&mut session).join(" "));
        }
    }
    seen.dedup();
    assert_eq!(
        seen,
        [
            "KeyEnqueued Called",
            "FifoItemRemoved Called",
            "FifoItemSet Called",
            "KeyEnqueued Called",
            "KeyPopped FifoItemSet Called",
        ]
    );
}
