//! What the parts of the dialog share, and their requests to the API.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::board::layout::{Layout, Wish};
use crate::board::tabs::DrawerState;
use crate::live::{self, Link};
use crate::ui::{remember, remembered};
use deltascope_cache::controller::Generation;
use deltascope_presentation::cluster::{self, MANY, Options, Tried, index_names};
use deltascope_world::source::proxy::discovery::Found;
use deltascope_world::source::proxy::target::{Resource, Target};
use deltascope_world::text::Text;

/// The name under which the API's address is remembered.
const REMEMBERED: &str = "api";
/// The resource that is preselected.
const FIRST: &str = "pods";

/// The state of the search for an API.
#[derive(Clone, PartialEq)]
pub(super) enum Search {
    Looking,
    Found(Tried),
    /// The places that were tried, and what was found there.
    Missing(Vec<Tried>),
}

/// What is known about the number of objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Counted {
    /// The count was requested.
    Asked,
    Many(u64),
    /// The server does not report a count.
    Unknown,
    /// The server refused to list them.
    Refused(Text),
}

/// The state that the parts of the dialog share.
#[derive(Clone, Copy)]
pub(super) struct Dialog {
    open: RwSignal<bool>,
    drawer: DrawerState,
    pub(super) search: RwSignal<Search>,
    /// The API's address as the user typed it; empty: search for it.
    pub(super) base: RwSignal<String>,
    /// The resources of the API; `None` while they are being discovered.
    pub(super) found: RwSignal<Option<Arc<Found>>>,
    pub(super) namespaces: RwSignal<Arc<[String]>>,
    /// The text that the names of the offered resources must contain.
    pub(super) text: RwSignal<String>,
    pub(super) group: RwSignal<String>,
    /// The chosen resource, as an index into those found.
    pub(super) chosen: RwSignal<Option<usize>>,
    pub(super) counted: RwSignal<Counted>,
    /// Whether to watch metadata only; `None`: the user has not said.
    pub(super) metadata_only: RwSignal<Option<bool>>,
    pub(super) namespace: RwSignal<String>,
    pub(super) labels: RwSignal<String>,
    pub(super) fields: RwSignal<String>,
    pub(super) by_namespace: RwSignal<bool>,
    pub(super) by_node: RwSignal<bool>,
    pub(super) indices: RwSignal<String>,
    pub(super) era: RwSignal<Generation>,
    /// In seconds, as typed.
    pub(super) resync: RwSignal<String>,
    /// What is wrong with the input.
    pub(super) wrong: RwSignal<Option<Text>>,
    /// Numbers the counts: an answer to an older one is dropped.
    asked: StoredValue<u32>,
    /// Numbers the searches for the API.
    looked: StoredValue<u32>,
    /// The API's address that the offered resources come from.
    place: StoredValue<Arc<str>>,
    /// The name of the resource chosen last; it is chosen again if another API has it.
    name: StoredValue<String>,
    /// What is chosen once the resources are known.
    wish: StoredValue<Option<Wish>>,
}

impl Dialog {
    pub(super) fn new(open: RwSignal<bool>) -> Self {
        let text = || RwSignal::new(String::new());
        let layout = Layout::get();
        Self {
            open,
            drawer: layout.drawer,
            search: RwSignal::new(Search::Looking),
            base: RwSignal::new(remembered(REMEMBERED).unwrap_or_default()),
            found: RwSignal::new(None),
            namespaces: RwSignal::new(Arc::default()),
            text: text(),
            group: text(),
            chosen: RwSignal::new(None),
            counted: RwSignal::new(Counted::Asked),
            metadata_only: RwSignal::new(None),
            namespace: text(),
            labels: text(),
            fields: text(),
            by_namespace: RwSignal::new(true),
            by_node: RwSignal::new(true),
            indices: text(),
            era: RwSignal::new(Generation::Atomic),
            resync: text(),
            wrong: RwSignal::new(None),
            asked: StoredValue::new(0),
            looked: StoredValue::new(0),
            place: StoredValue::new("".into()),
            name: StoredValue::new(FIRST.to_owned()),
            wish: layout.wish,
        }
    }

    /// Looks for the API, then discovers its resources.
    pub(super) fn look(self) {
        let base = match live::here(&self.base.get_untracked()) {
            Ok(base) => base,
            Err(wrong) => return self.wrong.set(Some(wrong)),
        };
        self.wrong.set(None);
        self.search.set(Search::Looking);
        let looked = next(self.looked);
        next(self.asked);
        spawn_local(async move {
            let there = live::find(&base).await;
            let is_old = || self.looked.get_value() != looked;
            if is_old() {
                return;
            }
            let there = match there {
                Ok(there) => there,
                Err(tried) => return self.search.set(Search::Missing(tried)),
            };
            remember(REMEMBERED, &base);
            let base = Arc::clone(&there.base);
            if self.place.get_value() != base {
                // These were found on another API.
                self.found.set(None);
                self.chosen.set(None);
                self.namespaces.set(Arc::default());
                self.place.set_value(Arc::clone(&base));
            }
            self.search.set(Search::Found(there));
            let found = live::discover(&base).await;
            if is_old() {
                return;
            }
            self.offer(found);
            let namespaces = live::namespaces(&base).await;
            if !is_old() {
                self.namespaces.set(namespaces.into());
            }
        });
    }

    /// Prepares for what the page has proposed to watch: a kind in a namespace, and nothing else.
    pub(super) fn prepare(self) {
        let Some(namespace) = self.wish.with_value(|wish| Some(wish.as_ref()?.1.clone())) else {
            return;
        };
        self.namespace.set(namespace);
        for text in [self.text, self.group, self.labels, self.fields] {
            text.set(String::new());
        }
        // Nothing else can be watched meanwhile.
        self.found.set(None);
        self.chosen.set(None);
    }

    fn offer(self, found: Found) {
        let before = self.name.get_value();
        let place = |name: &str| {
            let mut names = found.resources.iter().map(Resource::name);
            names.position(|other| other == name)
        };
        let place = match self.wish.try_update_value(Option::take).flatten() {
            // There may be none that can be watched.
            Some((kind, _)) => (found.resources.iter())
                .position(|one| one.group == kind.group && one.kind == kind.name),
            None => place(&before).or_else(|| place(FIRST)),
        };
        self.found.set(Some(Arc::new(found)));
        self.choose(place);
    }

    pub(super) fn choose(self, place: Option<usize>) {
        self.chosen.set(place);
        self.metadata_only.set(None);
        if let Some(resource) = untrack(|| self.resource()) {
            self.name.set_value(resource.name());
        }
        self.count(0);
    }

    pub(super) fn resource(self) -> Option<Resource> {
        let found = self.found.get()?;
        found.resources.get(self.chosen.get()?).cloned()
    }

    fn options(self) -> Options {
        let base = match self.search.get_untracked() {
            Search::Found(there) => there.base.to_string(),
            _ => String::new(),
        };
        let mut indices = index_names(&self.indices.get_untracked());
        for (on, name) in [(self.by_node, "node"), (self.by_namespace, "namespace")] {
            if on.get_untracked() {
                indices.insert(0, name.into());
            }
        }
        Options {
            base,
            resource: String::new(),
            namespace: self.namespace.get_untracked(),
            label_selector: self.labels.get_untracked(),
            field_selector: self.fields.get_untracked(),
            metadata_only: Some(self.is_metadata_only()),
            indices,
            era: self.era.get_untracked(),
            resync_ms: 0,
        }
    }

    fn target(self) -> Option<(Target, Options)> {
        let resource = untrack(|| self.resource())?;
        let mut options = self.options();
        options.resource = resource.name();
        if !resource.namespaced {
            options.namespace.clear();
            options.indices.retain(|name| &**name != "namespace");
        }
        if !has_nodes(&resource) {
            options.indices.retain(|name| &**name != "node");
        }
        Some((options.target(&resource), options))
    }

    pub(super) fn is_metadata_only(self) -> bool {
        let many = matches!(self.counted.get(), Counted::Many(count) if count > MANY);
        self.metadata_only.get().unwrap_or(many)
    }

    /// Requests the number of objects, unless another request follows within `wait` ms.
    pub(super) fn count(self, wait: u32) {
        self.wrong.set(None);
        let asked = next(self.asked);
        self.counted.set(Counted::Asked);
        spawn_local(async move {
            TimeoutFuture::new(wait).await;
            let target = self.target().filter(|_| self.asked.get_value() == asked);
            let Some((target, _)) = target else {
                return;
            };
            let counted = match live::count(&target).await {
                Ok(Some(count)) => Counted::Many(count),
                Ok(None) => Counted::Unknown,
                Err(why) => Counted::Refused(why),
            };
            if self.asked.get_value() == asked {
                self.counted.set(counted);
            }
        });
    }

    /// Watches what is chosen, in the tab that is shown or beside it.
    pub(super) fn start(self, link: Link, beside: bool) {
        let Some((target, mut options)) = self.target() else {
            return;
        };
        let resync = cluster::resync_ms(&self.resync.get_untracked());
        match options.check().and(resync) {
            Ok(ms) => options.resync_ms = ms,
            Err(wrong) => return self.wrong.set(Some(wrong)),
        }
        self.wrong.set(None);
        let (drawer, from) = (self.drawer, link.shown());
        spawn_local(async move {
            let begun = link.begin(target, options, beside).await;
            drawer.turn(from, link.shown());
            match begun {
                Ok(()) => self.open.set(false),
                Err(wrong) => self.wrong.set(Some(wrong)),
            }
        });
    }
}

/// Increments a counter and returns the new value.
fn next(number: StoredValue<u32>) -> u32 {
    let next = number.get_value().wrapping_add(1);
    number.set_value(next);
    next
}

/// Whether the resource's objects run on nodes.
pub(super) fn has_nodes(resource: &Resource) -> bool {
    resource.group.is_empty() && resource.plural == FIRST
}
