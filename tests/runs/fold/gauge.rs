//! How far the store is behind the server, according to the picture and to the writes alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::EventType;
use deltascope::cache::selector::Selector;
use deltascope::replay::picture::Behind;
use deltascope::replay::picture::Picture;
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::pod::PodSpec;
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::wire::{Recorded, RecordedEvent, RecordedList};
use deltascope::world::virtual_time::{InformerKind, ManualQueue};
use deltascope::world::virtual_time::{Settings, SourceKind, World};
use proptest::prelude::*;

use super::{Op, input, ops, pod, scenario, settings};

/// A server's objects, computed from the writes alone.
#[derive(Default)]
struct Server {
    rv: u64,
    /// By key: the version and the labels.
    objects: BTreeMap<String, (u64, BTreeMap<String, String>)>,
}

impl Server {
    fn write(&mut self, op: &Op) {
        let key = |pod: &PodSpec| [&*pod.namespace, &*pod.name].join("/");
        let (pod, is_there) = match op {
            Op::Create(name, flavour) => (pod(*name, *flavour), false),
            Op::Update(name, flavour) => (pod(*name, *flavour), true),
            Op::Delete(name) => (pod(*name, 0), true),
            Op::Compact => {
                self.rv += 1;
                return;
            }
            _ => return,
        };
        let key = key(&pod).trim_start_matches('/').to_owned();
        if self.objects.contains_key(&key) != is_there {
            return;
        }
        self.rv += 1;
        if matches!(op, Op::Delete(_)) {
            self.objects.remove(&key);
        } else {
            self.objects.insert(key, (self.rv, pod.labels));
        }
    }

    /// How many selected objects differ between the store and this server.
    fn ahead_of(&self, world: &World<AnySource>) -> Behind {
        let Some(store) = world.store() else {
            return Behind::Nothing;
        };
        let selector = world.settings().selector.as_ref();
        let asked = self
            .objects
            .iter()
            .filter(|(_, (_, labels))| selector.is_none_or(|selector| selector.matches(labels)));
        let there: BTreeMap<&str, String> = asked
            .map(|(key, (rv, _))| (&**key, rv.to_string()))
            .collect();
        let here: BTreeMap<&str, String> = store
            .iter()
            .map(|(key, item)| (&**key, item.to_ref(key).rv.to_string()))
            .collect();
        let keys: BTreeSet<&str> = there.keys().chain(here.keys()).copied().collect();
        let unlike = keys.iter().filter(|key| there.get(*key) != here.get(*key));
        Behind::By(unlike.count() as u64)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks after every step how many selected objects differ between store and server, whatever was cut,
    /// refused, compacted or is held in the queue.
    #[test]
    fn the_gauge_counts_the_objects_that_differ_between_store_and_server(
        settings in settings(),
        informer in prop::sample::select(vec![InformerKind::Manual, InformerKind::Plain, InformerKind::Shared]),
        selector in prop::option::of(prop::sample::select(vec!["app", "app=app-1", "app!=app-2"])),
        ops in ops(),
    ) {
        let settings = Settings {
            source: SourceKind::Server,
            informer,
            queue: ManualQueue::DeltaFifo,
            selector: selector.map(|text| Selector::parse(text).unwrap()),
            ..settings
        };
        let mut world = scenario(settings).build().unwrap();
        let mut picture = Picture::start(&world);
        let mut server = Server { rv: 1, ..Server::default() };
        for op in &ops {
            let steps = match op {
                Op::Steps(steps) => *steps,
                _ => 0,
            };
            server.write(op);
            for step in 0..=steps {
                match input(op).filter(|_| step == 0) {
                    Some(input) => world.input(input),
                    None => {
                        world.step();
                    }
                }
                picture.apply_all(&world.drain());
                let AnySource::Server(simulated) = world.source() else {
                    panic!("a server");
                };
                prop_assert_eq!(&*simulated.rv(), server.rv.to_string());
                prop_assert_eq!(picture.store.behind, server.ahead_of(&world), "after {:?}", op);
            }
        }
    }
}

/// The gauge of a recording is known only between the opening of its watch and its end.
#[test]
fn the_gauge_of_a_recording_is_known_only_while_its_watch_is_open() {
    let object = |name, rv: u8| {
        let mut object = pod(name, 0).into_object();
        object.metadata.resource_version = Some(rv.to_string());
        Arc::new(object)
    };
    for generation in Generation::ALL {
        let recorded = Recorded {
            start: Some(RecordedList {
                rv: "5".into(),
                items: vec![object(0, 2), object(1, 3)],
                ..RecordedList::default()
            }),
            has_watch: true,
            events: vec![
                RecordedEvent::Object {
                    event: EventType::Modified,
                    object: object(0, 6),
                },
                RecordedEvent::Object {
                    event: EventType::Deleted,
                    object: object(1, 7),
                },
                RecordedEvent::Cut { bytes: 7 },
            ],
            error: None,
        };
        let settings = Settings {
            source: SourceKind::Recorded,
            informer: InformerKind::Shared,
            era: generation,
            ..Settings::default()
        };
        let scenario = Scenario {
            recorded: Some(recorded),
            ..scenario(settings)
        };
        let timeline = Timeline::new(scenario).unwrap();
        let mut said = Vec::new();
        for step in 0..=timeline.len() {
            said.push(timeline.picture(step).store.behind);
        }
        said.dedup();
        let (known, open) = (Behind::By, Behind::Unknown);
        assert_eq!(
            said,
            [open, known(0), known(1), known(0), known(1), known(0), open],
            "{generation:?}"
        );
    }
}
