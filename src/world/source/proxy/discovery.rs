//! Discovers the resources of an API server.
//!
//! Servers since 1.26 need two requests. Older ones need one for each group version; so do groups that a
//! newer server could not learn from an aggregated API server behind it. One failure does not hide the rest.

use std::collections::VecDeque;

use kube_core::discovery::v2::ACCEPT_AGGREGATED_DISCOVERY_V2;
use kube_core::discovery::verbs;
use serde_json::{Map, Value};

use crate::source::wire::{shortened, text_of};
use crate::text;
use crate::text::Text;

use super::exchange::{Head, error_of};
use super::request::{HttpRequest, JSON, get};
pub use super::target::Resource;

/// The most bytes of an answer: a cluster with a thousand custom resources sends some MB.
pub const MAX_BODY: usize = 32 << 20;
/// The most group versions that are requested one by one: more than any cluster has.
const MAX_ASKED: usize = 1_000;
/// How many names an error message suggests.
const OFFERED: usize = 5;

/// A GET to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The number of the request, to be passed to [`Discovery::answer`].
    pub id: usize,
    /// The request to send.
    pub request: HttpRequest,
}

/// The result of a discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The resources that can be listed and watched, each once, in the version that the server prefers; the
    /// core group first.
    pub resources: Vec<Resource>,
    /// The failures; without any resources, the reason.
    pub errors: Vec<Text>,
}

/// Discovers the resources of a server by GETs, one after the other or several at a time.
#[derive(Clone, Debug)]
pub struct Discovery {
    base: String,
    /// All requests so far, by number.
    asked: Vec<DiscoveryRequest>,
    next: VecDeque<usize>,
    open: usize,
    core: Vec<Group>,
    groups: Vec<Group>,
    errors: Vec<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DiscoveryRequest {
    /// `api`
    Core,
    /// `apis`
    Groups,
    /// The resources of a version of a group.
    Version { group: String, version: String },
}

#[derive(Clone, Debug, Default)]
struct Group {
    name: String,
    /// The preferred version first.
    versions: Vec<Version>,
}

#[derive(Clone, Debug, Default)]
struct Version {
    name: String,
    resources: Vec<Resource>,
}

impl Discovery {
    /// Starts the discovery of the API server at `base`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let mut discovery = Self {
            base: base.to_owned(),
            asked: Vec::new(),
            next: VecDeque::new(),
            open: 0,
            core: Vec::new(),
            groups: Vec::new(),
            errors: Vec::new(),
        };
        discovery.ask(DiscoveryRequest::Core);
        discovery.ask(DiscoveryRequest::Groups);
        discovery
    }

    /// The next GET, if one is to be sent now; an answer may add more.
    pub fn next_ask(&mut self) -> Option<Ask> {
        let id = self.next.pop_front()?;
        self.open += 1;
        let what = self.asked.get(id)?;
        let accept = match what {
            DiscoveryRequest::Core | DiscoveryRequest::Groups => ACCEPT_AGGREGATED_DISCOVERY_V2,
            DiscoveryRequest::Version { .. } => JSON,
        };
        let request = get(&self.base, &what.path(), accept);
        Some(Ask { id, request })
    }

    /// Whether every GET is answered.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.next.is_empty() && self.open == 0
    }

    /// Takes the answer to a GET: its head and body, or the reason why there is none.
    pub fn answer(&mut self, id: usize, answer: Result<(&Head, &[u8]), &str>) {
        self.open = self.open.saturating_sub(1);
        let Some(what) = self.asked.get(id).cloned() else {
            return;
        };
        let path = what.path();
        let taken = match answer {
            Ok((head, body)) => {
                read(head, body, &path).and_then(|fields| self.take(&what, &fields))
            }
            Err(why) => {
                let why = shortened(why);
                Err(text!("there was no answer ({why})", "没有应答（{why}）"))
            }
        };
        if let Err(Text { en, zh }) = taken {
            self.errors
                .push(text!("GET {path}: {en}.", "GET {path}：{zh}。"));
        }
    }

    /// The resources found.
    #[must_use]
    pub fn finish(self) -> Found {
        let mut resources: Vec<Resource> = Vec::new();
        for group in self.core.into_iter().chain(self.groups) {
            let first = resources.len();
            for resource in group
                .versions
                .into_iter()
                .flat_map(|version| version.resources)
            {
                let can = |verb: &str| resource.verbs.iter().any(|other| other == verb);
                let known = resources[first..]
                    .iter()
                    .any(|other| other.plural == resource.plural);
                if can(verbs::LIST) && can(verbs::WATCH) && !known {
                    resources.push(resource);
                }
            }
        }
        let mut errors = self.errors;
        if resources.is_empty() && errors.is_empty() {
            errors.push(Text::new(
                "The API server has nothing that can be listed and watched, or shows nothing of it to this user.",
                "API server 没有可以 List 和 watch 的资源，或者不对该用户展示。"
            ));
        }
        Found { resources, errors }
    }

    fn ask(&mut self, what: DiscoveryRequest) {
        if self.asked.len() < MAX_ASKED && !self.asked.contains(&what) {
            self.next.push_back(self.asked.len());
            self.asked.push(what);
        }
    }

    fn take(&mut self, what: &DiscoveryRequest, answer: &Map<String, Value>) -> Result<(), Text> {
        match (what, text_of(answer, "kind").unwrap_or_default()) {
            (DiscoveryRequest::Core | DiscoveryRequest::Groups, "APIGroupDiscoveryList") => {
                let groups = array(answer, "items")
                    .map(|item| self.aggregated(item))
                    .collect();
                self.put(what, groups);
            }
            (DiscoveryRequest::Core, "APIVersions") => {
                let versions: Vec<&str> = array(answer, "versions")
                    .filter_map(Value::as_str)
                    .collect();
                let core = self.legacy("", &versions);
                self.put(what, vec![core]);
            }
            (DiscoveryRequest::Groups, "APIGroupList") => {
                let groups = array(answer, "groups")
                    .map(|group| self.legacy_group(group))
                    .collect();
                self.put(what, groups);
            }
            (DiscoveryRequest::Version { group, version }, "APIResourceList") => {
                let resources: Vec<Resource> = array(answer, "resources")
                    .filter_map(|resource| legacy_resource(resource, group, version))
                    .collect();
                let groups = self.core.iter_mut().chain(&mut self.groups);
                let versions = groups
                    .filter(|other| other.name == *group)
                    .flat_map(|group| &mut group.versions);
                for other in versions.filter(|other| other.name == *version) {
                    other.resources.clone_from(&resources);
                }
            }
            (_, kind) => {
                let kind = shortened(kind);
                return Err(text!(
                    "the answer is no discovery document (kind {kind:?})",
                    "应答不是发现文档（kind 为 {kind:?}）"
                ));
            }
        }
        Ok(())
    }

    fn put(&mut self, what: &DiscoveryRequest, groups: Vec<Group>) {
        match what {
            DiscoveryRequest::Core => self.core = groups,
            _ => self.groups = groups,
        }
    }

    /// A group of an aggregated answer.
    fn aggregated(&mut self, item: &Value) -> Group {
        let name = item
            .get("metadata")
            .map_or("", |metadata| text(metadata, "name"));
        let mut group = Group {
            name: name.to_owned(),
            versions: Vec::new(),
        };
        for of in item
            .get("versions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let version = text(of, "version");
            let resources = of.get("resources").and_then(Value::as_array);
            let resources: Vec<Resource> = resources
                .into_iter()
                .flatten()
                .filter_map(|resource| aggregated_resource(resource, name, version))
                .collect();
            // The aggregated server did not answer the last time: ask again, to get its resources or its
            // error.
            if text(of, "freshness") == "Stale" {
                self.ask(DiscoveryRequest::Version {
                    group: name.to_owned(),
                    version: version.to_owned(),
                });
            }
            group.versions.push(Version {
                name: version.to_owned(),
                resources,
            });
        }
        group
    }

    fn legacy_group(&mut self, group: &Value) -> Group {
        let preferred = group
            .get("preferredVersion")
            .map_or("", |of| text(of, "version"));
        let versions = group.get("versions").and_then(Value::as_array);
        let mut versions: Vec<&str> = versions
            .into_iter()
            .flatten()
            .map(|version| text(version, "version"))
            .collect();
        if let Some(at) = versions.iter().position(|version| *version == preferred) {
            versions[..=at].rotate_right(1);
        }
        self.legacy(text(group, "name"), &versions)
    }

    /// A group whose resources are still to be requested.
    fn legacy(&mut self, name: &str, versions: &[&str]) -> Group {
        let mut group = Group {
            name: name.to_owned(),
            versions: Vec::new(),
        };
        for version in versions {
            self.ask(DiscoveryRequest::Version {
                group: name.to_owned(),
                version: (*version).to_owned(),
            });
            group.versions.push(Version {
                name: (*version).to_owned(),
                resources: Vec::new(),
            });
        }
        group
    }
}

impl DiscoveryRequest {
    fn path(&self) -> String {
        match self {
            Self::Core => "api".to_owned(),
            Self::Groups => "apis".to_owned(),
            Self::Version { group, version } if group.is_empty() => format!("api/{version}"),
            Self::Version { group, version } => format!("apis/{group}/{version}"),
        }
    }
}

fn read(head: &Head, body: &[u8], path: &str) -> Result<Map<String, Value>, Text> {
    if head.content_type.starts_with("text/html") {
        return Err(Text::new(
            "this is a web page; there is no API here",
            "这是一个网页；这里没有 API",
        ));
    }
    if head.status != 200 {
        let is_text = head.content_type.starts_with("text/");
        let error = error_of(head.status, is_text, body, path);
        let (code, message) = (error.code, error.message);
        return Err(text!("{code}, {message}", "{code}，{message}"));
    }
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(Text::new("the answer is not JSON", "应答不是 JSON")),
    }
}

fn aggregated_resource(resource: &Value, group: &str, version: &str) -> Option<Resource> {
    let kind = resource
        .get("responseKind")
        .map_or("", |of| text(of, "kind"));
    checked(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: text(resource, "resource").to_owned(),
        singular: text(resource, "singularResource").to_owned(),
        short_names: texts(resource, "shortNames"),
        namespaced: text(resource, "scope") == "Namespaced",
        verbs: texts(resource, "verbs"),
    })
}

fn legacy_resource(resource: &Value, group: &str, version: &str) -> Option<Resource> {
    checked(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(resource, "kind").to_owned(),
        plural: text(resource, "name").to_owned(),
        singular: text(resource, "singularName").to_owned(),
        short_names: texts(resource, "shortNames"),
        namespaced: resource.get("namespaced") == Some(&Value::Bool(true)),
        verbs: texts(resource, "verbs"),
    })
}

/// Drops subresources (`pods/status`) and incomplete entries.
fn checked(resource: Resource) -> Option<Resource> {
    let usable =
        !resource.plural.is_empty() && !resource.plural.contains('/') && !resource.kind.is_empty();
    usable.then_some(resource)
}

fn array<'a>(fields: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a Value> {
    fields
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let texts = value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Finds the resource that a user means, as kubectl does: `pods`, `po`, `Pod`, `deployments.apps`,
/// `deployments.v1.apps`.
///
/// # Errors
/// No resource has that name; the text lists some that exist.
pub fn find<'a>(resources: &'a [Resource], text: &str) -> Result<&'a Resource, Text> {
    let wanted = text.trim().to_ascii_lowercase();
    let (name, of) = wanted.split_once('.').unwrap_or((&wanted, ""));
    // The plural name has priority, then singular and kind, then short names; earlier resources come first.
    for rank in 0..3 {
        let found = resources.iter().find(|resource| {
            let versioned = format!("{}.{}", resource.version, resource.group);
            let here =
                of.is_empty() || of == resource.group || of == versioned.trim_end_matches('.');
            let same = |other: &String| other.eq_ignore_ascii_case(name);
            let named = match rank {
                0 => same(&resource.plural),
                1 => same(&resource.singular) || same(&resource.kind),
                _ => resource.short_names.iter().any(same),
            };
            here && named
        });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let text = shortened(text);
    let mut near: Vec<String> = resources
        .iter()
        .filter(|resource| !name.is_empty() && resource.plural.contains(name))
        .map(Resource::name)
        .collect();
    if near.is_empty() {
        near = resources.iter().map(Resource::name).collect();
    }
    let more = near.len() > OFFERED;
    near.truncate(OFFERED);
    let mut names = near.join(", ");
    if more {
        names.push_str(", …");
    }
    Err(text!(
        "The API server has no resource {text:?} that can be listed and watched. It has: {names}.",
        "API server 没有可以 List 和 watch 的资源 {text:?}。它有：{names}。"
    ))
}
