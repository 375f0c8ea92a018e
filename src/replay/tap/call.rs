//! A request to an API server, as its path and its query say.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
use deltascope_world::source::proxy::target::{Resource, Target, name_of};
use deltascope_world::virtual_time::RequestKind;

/// Which objects a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    /// API group; empty for the core group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// API version of the group.
    pub version: String,
    /// Plural name: `pods`.
    pub plural: String,
    /// One namespace; `None` for all, and for kinds that are in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// One object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Empty: all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
    /// Empty: all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_selector: String,
    /// Whether only metadata is requested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub metadata_only: bool,
}

impl Scope {
    /// `pods`, `deployments.apps`.
    #[must_use]
    pub fn resource(&self) -> String {
        name_of(&self.plural, &self.group)
    }

    /// What kubectl would name it: resource, place and selectors, in a line.
    #[must_use]
    pub fn title(&self) -> String {
        let parts = [
            self.namespace.as_deref(),
            self.name.as_deref(),
            Some(&*self.label_selector),
            Some(&*self.field_selector),
        ];
        let mut title = self.resource();
        for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) {
            title.push_str(" · ");
            title.push_str(part);
        }
        title
    }

    /// Whether it asks for all objects of the cluster.
    #[must_use]
    pub(crate) fn is_whole_cluster(&self) -> bool {
        self.namespace.is_none()
            && self.name.is_none()
            && self.label_selector.is_empty()
            && self.field_selector.is_empty()
    }

    /// Whether both are about the same objects, whatever the version and the parts that are asked for.
    #[must_use]
    pub(crate) fn is_same_thing(&self, other: &Self) -> bool {
        let thing = |of: &Self| Self {
            version: String::new(),
            metadata_only: false,
            ..of.clone()
        };
        thing(self) == thing(other)
    }

    /// The objects of a target.
    #[must_use]
    pub fn of(target: &Target) -> Self {
        Self {
            group: target.resource.group.clone(),
            version: target.resource.version.clone(),
            plural: target.resource.plural.clone(),
            namespace: target.namespace.clone(),
            name: None,
            label_selector: target.label_selector.clone(),
            field_selector: target.field_selector.clone(),
            metadata_only: target.metadata_only,
        }
    }

    /// The target as a reader of responses wants it. `kind` is that of the objects, as far as it is known.
    #[must_use]
    pub fn target(&self, kind: &str) -> Target {
        Target {
            base: "/".to_owned(),
            resource: Resource {
                group: self.group.clone(),
                version: self.version.clone(),
                kind: kind.to_owned(),
                plural: self.plural.clone(),
                namespaced: true,
                ..Resource::default()
            },
            namespace: self.namespace.clone(),
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            metadata_only: self.metadata_only,
        }
    }
}

/// What a request does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Lists objects.
    List(Scope, ListRequest),
    /// Watches objects.
    Watch(Scope, WatchRequest),
    /// Reads one object.
    Get(Scope),
    /// Changes something; the verb as in an audit log.
    Write(Scope, &'static str),
    /// Discovery, health, logs, tables for people, reviews.
    Other,
}

impl Call {
    /// What it asks for, if it is an informer's.
    #[must_use]
    pub fn want(&self) -> Option<RequestKind> {
        match self {
            Self::List(..) => Some(RequestKind::List),
            Self::Watch(_, watch) => Some(RequestKind::of(watch)),
            Self::Get(_) | Self::Write(..) | Self::Other => None,
        }
    }

    /// Reads a request as it came: `wanted` is its path without the first slash, and its query.
    #[must_use]
    pub fn asked(method: &str, wanted: &str, accept: &str) -> Self {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (path, query) = wanted.split_once('?').unwrap_or((wanted, ""));
        let pairs = query.split('&').map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(&value.replace('+', " ")))
        });
        let pairs: Vec<_> = pairs.collect();
        Self::read(method, &decoded(path), &pairs, accept)
    }

    /// Reads a request. `path` is decoded and begins with a slash, `query` has decoded names and values.
    #[must_use]
    pub fn read(method: &str, path: &str, query: &[(String, String)], accept: &str) -> Self {
        let given = |name: &str| {
            let found = query.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.as_str())
        };
        let value = |name: &str| given(name).unwrap_or_default();
        // As an API server reads it: whatever is given, if only the name, says yes.
        let says_yes = |name: &str| {
            given(name).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
        };
        let Some((mut scope, legacy, subresource)) = scope(path) else {
            return Self::Other;
        };
        scope.label_selector = value("labelSelector").to_owned();
        scope.field_selector = value("fieldSelector").to_owned();
        scope.metadata_only = accept.contains("as=PartialObjectMetadata");
        let verb = match method {
            "GET" | "HEAD" => None,
            "POST" => Some("create"),
            "PUT" => Some("update"),
            "PATCH" => Some("patch"),
            "DELETE" if scope.name.is_none() => Some("deletecollection"),
            "DELETE" => Some("delete"),
            _ => return Self::Other,
        };
        if let Some(verb) = verb {
            // A review asks; it changes nothing.
            return match &*scope.group {
                "authorization.k8s.io" | "authentication.k8s.io" => Self::Other,
                _ => Self::Write(scope, verb),
            };
        }
        if subresource || accept.contains("as=Table") {
            return Self::Other;
        }
        // Whoever names an object reads it, unless the path says otherwise.
        if legacy || scope.name.is_none() && says_yes("watch") {
            return Self::Watch(
                scope,
                WatchRequest {
                    resource_version: value("resourceVersion").into(),
                    send_initial_events: Some(says_yes("sendInitialEvents")),
                    ..WatchRequest::default()
                },
            );
        }
        if scope.name.is_some() {
            return Self::Get(scope);
        }
        Self::List(
            scope,
            ListRequest {
                resource_version: value("resourceVersion").into(),
                limit: value("limit").parse().unwrap_or_default(),
                continue_token: value("continue").into(),
                ..ListRequest::default()
            },
        )
    }
}

/// The objects that a path names, whether it is the old path of a watch, and whether it names a subresource.
fn scope(path: &str) -> Option<(Scope, bool, bool)> {
    let mut parts = path.trim_matches('/').split('/').peekable();
    let group = match parts.next()? {
        "api" => "",
        "apis" => parts.next()?,
        _ => return None,
    };
    let version = parts.next()?;
    let legacy = parts.next_if_eq(&"watch").is_some();
    let mut rest: Vec<&str> = parts.collect();
    // The namespaces themselves have the same path as what is in them.
    let inside = rest.len() > 2
        && rest[0] == "namespaces"
        && group.is_empty()
        && !matches!(rest[2], "status" | "finalize");
    let inside = inside || rest.len() > 2 && rest[0] == "namespaces" && !group.is_empty();
    let namespace = inside.then(|| rest.drain(..2).nth(1)).flatten();
    let (plural, name) = (rest.first()?, rest.get(1));
    if plural.is_empty() {
        return None;
    }
    let scope = Scope {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: (*plural).to_owned(),
        namespace: namespace.map(str::to_owned),
        name: name.map(|name| (*name).to_owned()),
        ..Scope::default()
    };
    Some((scope, legacy, rest.len() > 2))
}

/// An `Accept` with JSON in place of protobuf and CBOR, which a client that prefers these reads as well; none if it is as it was.
#[must_use]
pub fn accepting_json(accept: &str) -> Option<String> {
    const BINARY: [&str; 3] = [
        "application/vnd.kubernetes.protobuf",
        "application/cbor",
        "application/cbor-seq",
    ];
    let mut types: Vec<String> = Vec::new();
    for given in accept.split(',').map(str::trim) {
        let (kind, parameters) = given.split_at(given.find(';').unwrap_or(given.len()));
        let binary = BINARY
            .iter()
            .any(|name| name.eq_ignore_ascii_case(kind.trim()));
        let kind = if binary { "application/json" } else { kind };
        let wanted = format!("{kind}{parameters}");
        if !types.contains(&wanted) {
            types.push(wanted);
        }
    }
    let types = types.join(",");
    (types != accept).then_some(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_asked_for_in_place_of_protobuf() {
        let table = [
            ("application/json", None),
            ("", None),
            (
                "application/vnd.kubernetes.protobuf",
                Some("application/json"),
            ),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                Some("application/json"),
            ),
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
                Some(
                    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
                ),
            ),
            (
                "application/cbor, application/json;q=0.9",
                Some("application/json,application/json;q=0.9"),
            ),
            (
                "Application/Vnd.Kubernetes.Protobuf;stream=watch",
                Some("application/json;stream=watch"),
            ),
        ];
        for (accept, wanted) in table {
            assert_eq!(accepting_json(accept).as_deref(), wanted, "{accept}");
        }
    }

    fn read(method: &str, path_and_query: &str, accept: &str) -> Call {
        let (path, query) = path_and_query
            .split_once('?')
            .unwrap_or((path_and_query, ""));
        let pairs = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query: Vec<_> = pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        Call::read(method, path, &query, accept)
    }

    fn said(call: &Call) -> String {
        match call {
            Call::List(scope, list) => format!(
                "list {} v={} limit={} token={}",
                scope.title(),
                list.resource_version,
                list.limit,
                list.continue_token
            ),
            Call::Watch(scope, watch) => format!(
                "watch {} v={} initial={}",
                scope.title(),
                watch.resource_version,
                RequestKind::of(watch) == RequestKind::Stream
            ),
            Call::Get(scope) => format!("get {}", scope.title()),
            Call::Write(scope, verb) => format!("{verb} {}", scope.title()),
            Call::Other => "other".to_owned(),
        }
    }

    #[test]
    fn a_request_is_what_path_and_query_say() {
        let table = [
            (
                "GET",
                "/api/v1/pods?limit=500&resourceVersion=0",
                "list pods v=0 limit=500 token=",
            ),
            (
                "GET",
                "/api/v1/namespaces/a/pods?continue=abc&limit=2",
                "list pods · a v= limit=2 token=abc",
            ),
            (
                "GET",
                "/api/v1/namespaces",
                "list namespaces v= limit=0 token=",
            ),
            ("GET", "/api/v1/namespaces/a", "get namespaces · a"),
            (
                "PUT",
                "/api/v1/namespaces/a/finalize",
                "update namespaces · a",
            ),
            (
                "GET",
                "/api/v1/namespaces/status/pods",
                "list pods · status v= limit=0 token=",
            ),
            (
                "GET",
                "/apis/apps/v1/namespaces/a/deployments/web",
                "get deployments.apps · a · web",
            ),
            (
                "GET",
                "/apis/apps/v1/deployments?watch=1&resourceVersion=7&labelSelector=app",
                "watch deployments.apps · app v=7 initial=false",
            ),
            (
                "GET",
                "/api/v1/watch/namespaces/a/pods?resourceVersion=7",
                "watch pods · a v=7 initial=false",
            ),
            (
                "GET",
                "/api/v1/pods?watch=true&sendInitialEvents=true",
                "watch pods v= initial=true",
            ),
            ("GET", "/api/v1/pods?watch=0", "list pods v= limit=0 token="),
            (
                "GET",
                "/api/v1/pods?watch=False&watch=1",
                "list pods v= limit=0 token=",
            ),
            ("GET", "/api/v1/pods?watch", "watch pods v= initial=false"),
            ("GET", "/api/v1/pods?watch=", "watch pods v= initial=false"),
            (
                "GET",
                "/api/v1/pods?watch=f&sendInitialEvents=TRUE",
                "watch pods v= initial=true",
            ),
            (
                "GET",
                "/api/v1/pods?watch=t&sendInitialEvents=FALSE",
                "watch pods v= initial=false",
            ),
            (
                "GET",
                "/api/v1/namespaces/a/pods/b?watch=1",
                "get pods · a · b",
            ),
            (
                "GET",
                "/api/v1/watch/namespaces/a/pods/b",
                "watch pods · a · b v= initial=false",
            ),
            ("GET", "/api/v1/namespaces/a/pods/b/log", "other"),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/a/deployments/web/status",
                "patch deployments.apps · a · web",
            ),
            ("POST", "/api/v1/namespaces/a/pods", "create pods · a"),
            (
                "DELETE",
                "/api/v1/namespaces/a/pods",
                "deletecollection pods · a",
            ),
            (
                "DELETE",
                "/api/v1/namespaces/a/pods/b",
                "delete pods · a · b",
            ),
            (
                "POST",
                "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                "other",
            ),
            ("GET", "/api", "other"),
            ("GET", "/apis/apps/v1", "other"),
            ("GET", "/version", "other"),
            ("GET", "//", "other"),
            (
                "GET",
                "/api/v1/pods?limit=many",
                "list pods v= limit=0 token=",
            ),
        ];
        for (method, path, wanted) in table {
            assert_eq!(said(&read(method, path, "")), wanted, "{method} {path}");
        }
        let table = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
        assert_eq!(read("GET", "/api/v1/pods", table), Call::Other);
        let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let Call::List(scope, _) = read("GET", "/api/v1/pods", partial) else {
            panic!("it is a list");
        };
        assert!(scope.metadata_only);
    }

    #[test]
    fn one_thing_may_be_asked_for_in_two_ways() {
        let scope = |version: &str, namespace: Option<&str>, metadata_only| Scope {
            plural: "pods".into(),
            version: version.into(),
            namespace: namespace.map(str::to_owned),
            metadata_only,
            ..Scope::default()
        };
        let all = scope("v1", None, false);
        for (other, same) in [
            (scope("v1", None, true), true),
            (scope("v2", None, false), true),
            (scope("v1", Some("a"), false), false),
        ] {
            assert_eq!(all.is_same_thing(&other), same, "{other:?}");
        }
    }
}
