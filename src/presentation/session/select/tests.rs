//! The selection is the fact that put the item on the stage.

use std::collections::BTreeMap;

use super::*;
use crate::command::Command;
use crate::motion::plan::plan;
use crate::rows::api;
use crate::rows::things;
use crate::session::typed;
use crate::stage::Panel;
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::RunFact;
use deltascope_replay::lessons;
use deltascope_replay::picture::QueueKind;
use deltascope_world::source::program::event_of;

/// Whether a fact is one that may have put something on the stage.
type Says = Box<dyn Fn(&Fact) -> bool>;

/// Everything that the picture holds, by its anchor: the object it belongs to, and the fact that put it there.
fn held(picture: &Picture) -> BTreeMap<String, (Option<Key>, Says)> {
    fn says(is: impl Fn(&Fact) -> bool + 'static) -> Says {
        Box::new(is)
    }
    let is_fifo = picture.queue.kind == QueueKind::Fifo;
    let mut held = BTreeMap::new();
    let mut hold = |anchor: String, key: Option<&Key>, says: Says| {
        held.insert(anchor, (key.cloned(), says));
    };
    for (key, is) in &picture.api.objects {
        let object = is.object.clone();
        let says = says(move |fact| match fact {
            Fact::Server(
                ServerFact::ObjectCreated { object: of, .. }
                | ServerFact::ObjectUpdated { object: of, .. }
                | ServerFact::ObjectDeleted { object: of, .. }
                | ServerFact::EventSent { object: of, .. },
            ) => *of == object,
            Fact::Server(ServerFact::ObjectsLearned { objects, .. }) => objects.contains(&object),
            _ => false,
        });
        hold(format!("api/object/{key}"), Some(key), says);
    }
    for line in &picture.api.stream {
        let (line, number) = (line.clone(), line.number);
        let key = line.object.key.clone();
        if picture.api.source == SourceKind::Program {
            let says = says(move |fact| match fact {
                Fact::Run(RunFact::Called { object, delta_type }) => {
                    *object == line.object && event_of(*delta_type) == line.event
                }
                _ => false,
            });
            hold(format!("api/call/{number}"), Some(&key), says);
        } else {
            let says = says(move |fact| match fact {
                Fact::Server(ServerFact::EventSent { object, event, .. }) => {
                    *object == line.object && *event == line.event
                }
                _ => false,
            });
            hold(format!("api/stream/{number}"), Some(&key), says);
        }
    }
    if let Some((_, object)) = picture.reflector.in_hand.clone() {
        let key = object.key.clone();
        let says = says(move |fact| match fact {
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }) => *of == object,
            _ => false,
        });
        hold("reflector/hand".into(), Some(&key), says);
    }
    let queued = picture.queue.keys.iter().chain(picture.queue.deltas.keys());
    for key in queued {
        let says = says(|fact| {
            matches!(
                fact,
                Fact::Queue(
                    QueueFact::KeyEnqueued { .. }
                        | QueueFact::Requeued { added: true, .. }
                        | QueueFact::DeltaAppended { depth: 1, .. }
                        | QueueFact::FifoItemSet { .. }
                )
            )
        });
        hold(format!("queue/key/{key}"), Some(key), says);
    }
    for (key, deltas) in &picture.queue.deltas {
        for (index, (delta_type, object)) in deltas.iter().enumerate() {
            let (delta_type, object) = (*delta_type, object.clone());
            let says = says(move |fact| match fact {
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type: of,
                    object: what,
                    ..
                }) => *of == delta_type && *what == object,
                Fact::Queue(QueueFact::FifoItemSet { object: what, .. }) => {
                    is_fifo && *what == object
                }
                Fact::Queue(QueueFact::Requeued { added, .. }) => *added,
                _ => false,
            });
            hold(format!("queue/delta/{key}/{index}"), Some(key), says);
        }
    }
    for (place, entry) in picture.queue.entries.iter().enumerate() {
        let entry = entry.clone();
        let key = match &entry {
            Entry::Delta(_, object) => Some(object.key.clone()),
            _ => None,
        };
        let says = says(move |fact| match fact {
            Fact::Queue(QueueFact::EntryAppended { entry: of, .. }) => *of == entry,
            _ => false,
        });
        hold(format!("queue/entry/{place}"), key.as_ref(), says);
    }
    let popped = picture.pop.processing.iter();
    for (at, (delta_type, object)) in popped.flat_map(|one| &one.deltas).enumerate() {
        let (delta_type, object) = (*delta_type, object.clone());
        let key = object.key.clone();
        let says = says(move |fact| match fact {
            Fact::Queue(QueueFact::DeltaTaken {
                position,
                delta_type: of,
                object: what,
                ..
            }) => *position as usize == at && *of == delta_type && *what == object,
            Fact::Queue(QueueFact::KeyPopped { deltas, .. }) => {
                deltas.get(at) == Some(&(delta_type, object.clone()))
            }
            Fact::Queue(QueueFact::EntriesTaken { .. }) => true,
            _ => false,
        });
        hold(format!("pop/delta/{at}"), Some(&key), says);
    }
    if let Some((_, object)) = picture.pop.last.iter().flat_map(|one| &one.deltas).last() {
        let says = says(|fact| {
            matches!(
                fact,
                Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. })
            )
        });
        hold("pop/last".into(), Some(&object.key), says);
    }
    for (key, object) in &picture.store.items {
        let object = object.clone();
        let says = says(move |fact| match fact {
            Fact::Store(StoreFact::ItemStored { object: of, .. }) => *of == object,
            Fact::Store(StoreFact::StoreReplaced { items }) => items.contains(&object),
            _ => false,
        });
        hold(format!("store/item/{key}"), Some(key), says);
    }
    for (index, values) in &picture.store.indices {
        for (value, key) in values
            .iter()
            .flat_map(|(value, keys)| keys.iter().map(move |key| (value, key)))
        {
            let anchor = Anchor::index_key(index, value, key).to_string();
            let added = Fact::Store(StoreFact::IndexEntryAdded {
                index: Arc::clone(index),
                value: Arc::clone(value),
                key: key.clone(),
            });
            let says = says(move |fact| {
                *fact == added || matches!(fact, Fact::Store(StoreFact::StoreReplaced { .. }))
            });
            hold(anchor, Some(key), says);
        }
    }
    for (number, handler) in (0..).zip(&picture.handlers) {
        let pending = handler.pending.iter().enumerate();
        let pending = pending.map(|(at, shown)| (format!("pending/{at}"), shown));
        let running = handler
            .running
            .iter()
            .map(|shown| ("running".into(), shown));
        let sending = handler
            .sending
            .iter()
            .map(|shown| ("sending".into(), shown));
        for (place, shown) in running.chain(pending).chain(sending) {
            let (shown, is) = (shown.clone(), place.clone());
            let key = shown.object().key.clone();
            let says = says(move |fact| match fact {
                Fact::Handlers(HandlersFact::NotificationTaken {
                    handler,
                    notification,
                }) => is == "running" && *handler == number && *notification == shown,
                Fact::Handlers(HandlersFact::NotificationSent {
                    handler,
                    notification,
                }) => is == "sending" && *handler == number && *notification == shown,
                Fact::Handlers(HandlersFact::NotificationQueued {
                    handler,
                    notification,
                    ..
                }) => is.starts_with("pending") && *handler == number && *notification == shown,
                _ => false,
            });
            hold(format!("handler/{number}/{place}"), Some(&key), says);
        }
    }
    for key in picture.work.iter().flat_map(|work| &work.queue) {
        let says = says(|fact| {
            matches!(
                fact,
                Fact::Work(WorkFact::WorkAdded { .. } | WorkFact::WorkDone { again: true, .. })
            )
        });
        hold(format!("work/queue/{key}"), Some(key), says);
    }
    for (number, printed) in picture.output.iter().enumerate() {
        let line = Arc::clone(&printed.line);
        let says = says(move |fact| match fact {
            Fact::Handlers(HandlersFact::LinePrinted { line: of, .. }) => *of == line,
            _ => false,
        });
        hold(format!("output/line/{number}"), None, says);
    }
    held
}

#[test]
fn each_item_on_the_stage_was_put_there_by_a_fact_about_its_object() {
    let mut session = Session::new();
    session.obey(Command::Seek(700));
    let mut asked = 0;
    let runs = lessons::menu().into_iter().map(|(id, _)| Command::Load(id));
    let eras = Generation::ALL.map(Command::Generation);
    for run in runs
        .chain([Command::Load(lessons::FIRST.into())])
        .chain(eras)
    {
        session.obey(run);
        let start = session.timeline.picture(0);
        for step in (1..700).step_by(13) {
            session.obey(Command::Seek(step));
            let picture = session.picture();
            let held = held(&picture);
            for thing in things::things(&picture, &Default::default(), None) {
                let (key, says) = &held[&thing.anchor.to_string()];
                session.obey(Command::Select(Some(thing.anchor.clone())));
                let selection = session.view().selection;
                let Some(selection) = selection else {
                    unreachable!("{step}: {thing:?}");
                };
                asked += 1;
                assert_eq!(selection.anchor, thing.anchor);
                assert_eq!(selection.key, *key, "{thing:?}");
                match selection.found {
                    Found::Fact(place) => {
                        assert!(place < step, "{thing:?}");
                        let record = session.timeline.fact(place).unwrap();
                        assert!(says(&record.fact), "{step}: {thing:?}: {record:?}");
                        // A fact about a whole list is not about one of its objects.
                        let about = record.fact.key();
                        assert!(about.is_none() || about == key.as_ref(), "{thing:?}");
                    }
                    // The server's objects may be older than the run; then they have not changed since its start.
                    found => {
                        let is = (found, thing.room);
                        assert_eq!(is, (Found::Start, Panel::Api), "{step}: {thing:?}");
                        let key = key.as_ref().unwrap();
                        let (was, is) = (&start.api.objects, &picture.api.objects);
                        assert_eq!(was.get(key), is.get(key), "{step}: {thing:?}");
                    }
                }
            }
        }
    }
    assert!(asked > 10_000, "{asked}");
}

#[test]
fn a_call_has_one_number_and_old_links_name_it_by_its_fact() {
    let mut session = Session::new();
    session.obey(Command::Load("deltafifo".into()));
    session.obey(Command::Seek(400));
    let all = session.timeline.all_facts();
    let calls = all
        .iter()
        .enumerate()
        .filter(|(_, at)| matches!(at.fact, Fact::Run(RunFact::Called { .. })));
    let calls: Vec<_> = calls.map(|(place, at)| (place, at.clone())).collect();
    assert!(calls.len() > 2);
    let lines: Vec<u64> = session
        .picture()
        .api
        .stream
        .iter()
        .map(|l| l.number)
        .collect();
    assert!(lines.iter().copied().eq(0..calls.len() as u64));
    for (number, (place, call)) in calls.iter().enumerate() {
        let anchor = Anchor::Call(number as u64);
        for named in [anchor.to_string(), format!("api/stream/{place}")] {
            session.obey(Command::Select(Anchor::read(&named)));
            let selection = session.view().selection.unwrap();
            assert_eq!(selection.found, Found::Fact(*place), "{named}");
            assert_eq!(selection.key.as_ref(), call.fact.key(), "{named}");
            assert_eq!(selection.anchor, anchor);
        }
        // The row on the stage, and the start of the motion that the call causes.
        session.obey(Command::Seek(place + 1));
        let rows = api::rows(&session.view(), 6, 60);
        let row = rows.calls.last().unwrap();
        assert_eq!((row.number, row.lit), (number as u64, true));
        let queued = (place + 1..).find(|at| {
            let fact = &all[*at].fact;
            fact.queued().is_some() || matches!(fact, Fact::Queue(QueueFact::DeleteIgnored { .. }))
        });
        let queued = queued.unwrap();
        session.obey(Command::Seek(queued + 1));
        let motion = plan(&all[queued], &session.picture());
        assert_eq!(motion.flight.unwrap().from, [anchor]);
        session.obey(Command::Seek(400));
    }
}

#[test]
fn a_key_of_an_index_can_be_selected_whatever_characters_its_names_have() {
    let trace = [
        r#"{"deltascope":1}"#,
        r#"{"scenario":{"settings":{"era":"1.34","knownObjects":true,"store":true,"indices":["app.kubernetes.io/name","app",".spec.nodeName"]},"initial":[{"metadata":{"name":"a","namespace":"default","labels":{"app.kubernetes.io/name":"web","app":"web"}},"spec":{"nodeName":"rack/7/a%2Fb"}},{"metadata":{"name":"b","namespace":"default"},"spec":{"nodeName":"a%2Fb/c"}}]}}"#,
    ]
    .join("\n");
    let mut session = Session::new();
    let files = vec![("a.jsonl".to_owned(), trace.into_bytes())];
    session.obey(Command::Open(files));
    session.obey(Command::Seek(200));
    let indices = session.picture().store.indices.clone();
    let mut asked = 0;
    for (index, values) in &indices {
        for (value, keys) in values {
            for key in keys {
                let today = Anchor::index_key(index, value, key);
                // A link from before the slashes in names were escaped.
                let old = format!("store/index/{index}/{value}/{key}");
                for anchor in [today.to_string(), old] {
                    session.obey(Command::Select(Anchor::read(&anchor)));
                    let selection = session.view().selection;
                    let Some(selection) = selection else {
                        unreachable!("{anchor}")
                    };
                    assert_eq!(selection.anchor, today);
                    assert_eq!(selection.key.as_ref(), Some(key), "{anchor}");
                    let Found::Fact(place) = selection.found else {
                        unreachable!("{anchor}: {:?}", selection.found)
                    };
                    let fact = session.timeline.fact(place).unwrap().fact;
                    let added = Fact::Store(StoreFact::IndexEntryAdded {
                        index: Arc::clone(index),
                        value: Arc::clone(value),
                        key: key.clone(),
                    });
                    assert_eq!(fact, added, "{anchor}");
                    asked += 1;
                }
            }
        }
    }
    // Three indices of two objects, each named in two ways.
    assert_eq!(asked, 12, "{indices:?}");
    for anchor in [
        "store/index",
        "store/index/app",
        "store/index/no/such/thing",
    ] {
        session.obey(Command::Select(Anchor::read(anchor)));
        assert_eq!(session.view().selection, None, "{anchor}");
    }
}

#[test]
fn a_selection_stays_while_its_fact_does() {
    let mut session = Session::new();
    session.obey(Command::Seek(300));
    let item = things::things(&session.picture(), &Default::default(), None)
        .into_iter()
        .find(|thing| thing.room == Panel::Indexer)
        .unwrap();
    session.obey(Command::Select(Some(item.anchor)));
    let selection = session.view().selection.unwrap();
    let Found::Fact(place) = selection.found else {
        unreachable!("the store begins empty")
    };
    session.obey(Command::Follow(selection.key.clone()));
    let all = session.view().followed.unwrap();
    session.obey(Command::Seek(place + 2));
    session.obey(typed::inject("cut", serde_json::Value::Null));
    assert_eq!(session.view().selection, Some(Rc::clone(&selection)));
    let again = session.view().followed.unwrap();
    let places = session.marking.landmarks.passages().of(&again.key);
    assert_eq!(again.count, places.len());
    assert!(
        again.ticks.iter().eq(thinned(places, TICKS)
            .iter()
            .map(|at| at + 1)
            .collect::<Vec<_>>()
            .iter())
    );
    assert!(all.ticks.contains(&u32::try_from(place + 1).unwrap()));
    session.obey(Command::Seek(place));
    let object = serde_json::json!({ "metadata": { "name": "x" } });
    session.obey(typed::inject("create", object));
    assert_eq!(session.view().selection, None);
    session.obey(Command::Select(Anchor::read("no/such thing")));
    session.obey(Command::Follow(None));
    let view = session.view();
    assert_eq!((view.selection, view.followed), (None, None));
}
