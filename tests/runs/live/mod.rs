//! Live runs: a cluster's responses, recorded, shown, forgotten, exported and replayed.

mod recording;
mod session;
mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{EventType, ProcessMode, WatchEnd};
use deltascope::cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope::presentation::session::Session;
use deltascope::presentation::session::keep::Kept;
use deltascope::replay::picture::Behind;
use deltascope::replay::picture::Picture;
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::Command;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::live::{Page, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::wire::{RecordedEvent, event_of};
use deltascope::world::virtual_time::{HandlerSettings, InformerKind, Input, Settings, SourceKind};
use deltascope::world::{Asked, Time};
use kube_core::DynamicObject;
use proptest::prelude::*;
use serde_json::json;

pub(super) fn scenario(generation: Generation, watch_list: Option<bool>) -> Scenario {
    let handler = HandlerSettings {
        name: "h".into(),
        latency_ms: 5,
        ..HandlerSettings::default()
    };
    Scenario {
        settings: Settings {
            source: SourceKind::Cluster,
            informer: InformerKind::Shared,
            era: generation,
            watch_list,
            resync_ms: 700,
            indices: vec!["namespace".into(), "app".into(), ".spec.nodeName".into()],
            handlers: vec![handler],
            ..Settings::default()
        },
        ..Scenario::default()
    }
}

fn object(name: u8, rv: u64) -> Arc<DynamicObject> {
    let event = json!({ "type": "ADDED", "object": {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": format!("ns{}", name % 3), "name": format!("p{name}"),
            "uid": format!("u{name}"), "resourceVersion": rv.to_string(),
            "labels": { "app": format!("a{}", rv % 4) } },
        "spec": { "nodeName": format!("n{}", name % 2) } } });
    match event_of(event) {
        Ok(RecordedEvent::Object { object, .. }) => object,
        _ => panic!("an object"),
    }
}

/// A minimal server, and the connection to it.
#[derive(Default)]
pub(super) struct Cluster {
    rv: u64,
    objects: BTreeMap<u8, Arc<DynamicObject>>,
    /// The events not yet sent on the open watch.
    unsent: Vec<RecordedEvent>,
    /// The number of the last answered request.
    answered: u32,
    watching: bool,
}

/// An event in a live run.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Time passes.
    Wait(u16),
    /// The connection is read.
    Read,
    Write(u8),
    Delete(u8),
    Bookmark,
    End(u8),
    /// The next requests are refused.
    Refuse(u8),
    Mode(u8),
    Pop,
}

impl Cluster {
    pub(super) fn write(&mut self, name: u8) {
        self.rv += 1;
        let made = object(name, self.rv);
        let event = match self.objects.insert(name, Arc::clone(&made)) {
            Some(_) => EventType::Modified,
            None => EventType::Added,
        };
        self.unsent.push(RecordedEvent::Object {
            event,
            object: made,
        });
    }

    pub(super) fn delete(&mut self, name: u8) {
        if self.objects.remove(&name).is_some() {
            self.rv += 1;
            let event = EventType::Deleted;
            let object = object(name, self.rv);
            self.unsent.push(RecordedEvent::Object { event, object });
        }
    }

    fn rv(&self) -> Arc<str> {
        self.rv.to_string().into()
    }

    /// Whether a written object has not been sent yet.
    fn has_more(&self) -> bool {
        let is_object = |event: &RecordedEvent| matches!(event, RecordedEvent::Object { .. });
        self.unsent.iter().any(is_object)
    }

    /// How many objects differ between a store and this server.
    fn ahead_of(&self, picture: &Picture) -> Behind {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let there = self.objects.values().map(|object| {
            let of = &object.metadata;
            let key = [text(&of.namespace), text(&of.name)].join("/");
            (key, text(&of.resource_version))
        });
        let there: BTreeMap<String, String> = there.collect();
        let items = picture.store.items.iter();
        let here: BTreeMap<String, String> = items
            .map(|(key, object)| (key.to_string(), object.rv.to_string()))
            .collect();
        let gone = here.keys().filter(|key| !there.contains_key(*key)).count();
        let unlike = there
            .iter()
            .filter(|(key, rv)| here.get(*key) != Some(rv))
            .count();
        Behind::By((gone + unlike) as u64)
    }

    /// The responses that arrive now; `refuse` selects the refusal of a new request.
    pub(super) fn respond(
        &mut self,
        wanted: Option<Wanted>,
        refuse: Option<u8>,
    ) -> Vec<ServerResponse> {
        let Some(Wanted { request, ask, .. }) = wanted else {
            self.watching = false;
            return Vec::new();
        };
        let mut parts = Vec::new();
        if self.answered != request {
            self.watching = false;
            if let Some(kind) = refuse {
                parts.push(match kind % 4 {
                    0 => ResponsePart::Later {
                        code: 429,
                        after_ms: 1_000,
                        attempt: 1,
                    },
                    1 => ResponsePart::Refused(ApiError::new(ApiErrorKind::InternalError, "boom")),
                    2 => ResponsePart::Refused(ApiError::new(ApiErrorKind::Expired, "too old")),
                    _ => ResponsePart::Refused(ApiError::new(
                        ApiErrorKind::ConnectionRefused,
                        "nobody",
                    )),
                });
                if kind % 4 != 0 {
                    self.answered = request;
                }
                return parts
                    .into_iter()
                    .map(|part| ServerResponse { request, part })
                    .collect();
            }
            self.answered = request;
            match ask {
                Asked::List(_) => {
                    parts.push(ResponsePart::Page(Page {
                        rv: self.rv(),
                        items: self.objects.values().cloned().collect(),
                        continue_token: "".into(),
                    }));
                    self.unsent.clear();
                }
                Asked::Watch(watch) => {
                    parts.push(ResponsePart::Opened);
                    self.watching = true;
                    if watch.send_initial_events == Some(true) {
                        self.unsent.clear();
                        for object in self.objects.values().cloned() {
                            let event = EventType::Added;
                            parts
                                .push(ResponsePart::Event(RecordedEvent::Object { event, object }));
                        }
                        parts.push(ResponsePart::Event(RecordedEvent::Bookmark {
                            rv: self.rv(),
                            initial_events_end: true,
                        }));
                    }
                }
            }
        }
        if self.watching {
            parts.extend(self.unsent.drain(..).map(ResponsePart::Event));
        }
        parts
            .into_iter()
            .map(|part| ServerResponse { request, part })
            .collect()
    }
}

fn wanted(timeline: &Timeline) -> Option<Wanted> {
    match timeline.source() {
        AnySource::Live(live) => live.wanted(),
        _ => None,
    }
}

struct Run {
    timeline: Timeline,
    cluster: Cluster,
    now: Time,
    refuse: Option<u8>,
}

impl Run {
    fn new(generation: Generation, watch_list: Option<bool>) -> Self {
        Self::of(scenario(generation, watch_list))
    }

    fn of(scenario: Scenario) -> Self {
        let cluster = Cluster {
            rv: 100,
            ..Cluster::default()
        };
        let timeline = Timeline::live(scenario).unwrap();
        Self {
            timeline,
            cluster,
            now: 0,
            refuse: None,
        }
    }

    fn go(&mut self) {
        while !self.timeline.go_to(self.now, 10_000) {}
    }

    fn respond(&mut self, responses: Vec<ServerResponse>) {
        if !responses.is_empty() {
            let input = Input::Source(Command::Respond(responses.into()));
            self.timeline.take(self.now, input);
            self.go();
        }
    }

    fn end(&mut self, end: WatchEnd) {
        if let Some(Wanted {
            request,
            ask: Asked::Watch(_),
            ..
        }) = wanted(&self.timeline)
            && self.cluster.watching
        {
            self.cluster.watching = false;
            self.respond(vec![ServerResponse {
                request,
                part: ResponsePart::Ended(end),
            }]);
        }
    }

    fn act(&mut self, op: Op) {
        match op {
            Op::Wait(ms) => {
                self.now += Time::from(ms);
                self.go();
            }
            Op::Read => {
                self.go();
                let refuse = self.refuse.take();
                let responses = self.cluster.respond(wanted(&self.timeline), refuse);
                self.respond(responses);
            }
            Op::Write(name) => self.cluster.write(name % 12),
            Op::Delete(name) => self.cluster.delete(name % 12),
            Op::Bookmark => self.cluster.unsent.push(RecordedEvent::Bookmark {
                rv: self.cluster.rv(),
                initial_events_end: false,
            }),
            Op::End(kind) => self.end(match kind % 4 {
                0 => WatchEnd::Closed,
                1 => WatchEnd::Cut,
                2 => WatchEnd::CutInLine(9),
                _ => WatchEnd::Silent,
            }),
            Op::Refuse(kind) => self.refuse = Some(kind),
            Op::Mode(kind) => {
                let mode = match kind % 3 {
                    0 => ProcessMode::Free,
                    1 => ProcessMode::Held,
                    _ => ProcessMode::Paced(40),
                };
                self.timeline.take(self.now, Input::Mode(mode));
            }
            Op::Pop => {
                self.timeline.take(self.now, Input::Pop);
            }
        }
    }

    /// Runs until the store equals the cluster.
    fn catch_up(&mut self) {
        self.timeline.take(self.now, Input::Mode(ProcessMode::Free));
        for _ in 0..200 {
            self.act(Op::Read);
            self.act(Op::Wait(2_000));
        }
    }
}

pub(super) fn generation() -> impl Strategy<Value = Generation> {
    (0..4usize).prop_map(|n| Generation::ALL[n])
}

fn stored(timeline: &Timeline) -> Vec<(String, String)> {
    let picture = timeline.picture(timeline.len());
    let items = picture.store.items.iter();
    items
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect()
}

/// Updates a copy of the run; false if the copy cannot be complete anymore.
fn copied(session: &Session, kept: &mut Kept, copy: &mut String) -> bool {
    let mut is_whole = true;
    while let Some(copied) = session.copy(kept) {
        if !copied.is_more {
            copy.clear();
        }
        copy.push_str(&copied.text);
        is_whole = copied.is_whole;
    }
    is_whole
}
