//! A server with objects of one kind, as far as a controller's lists and watches show it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Which objects a request is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Of {
    pub(super) namespace: Option<&'static str>,
    /// Only those with `app=web`.
    pub(super) web: bool,
}

#[derive(Clone, Debug)]
struct Object {
    rv: u64,
    web: bool,
}

type Objects = BTreeMap<String, Object>;

/// The objects, and all that were there before.
pub(super) struct Server {
    pub(super) rv: u64,
    /// Each version's objects.
    versions: Vec<Objects>,
    /// What is older is forgotten.
    floor: u64,
}

impl Of {
    fn has(self, key: &str, object: &Object) -> bool {
        let inside = self
            .namespace
            .is_none_or(|namespace| key.split('/').next() == Some(namespace));
        inside && (object.web || !self.web)
    }
}

fn json_of(key: &str, object: &Object) -> Value {
    let (namespace, name) = key.split_once('/').unwrap();
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": {
        "namespace": namespace, "name": name, "uid": format!("u-{name}"),
        "resourceVersion": object.rv.to_string(),
        "labels": { "app": if object.web { "web" } else { "db" } } } })
}

fn line(event: &str, object: &Value) -> String {
    format!("{}\n", json!({ "type": event, "object": object }))
}

/// An answer with an error.
pub(super) fn status(code: u16, reason: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
        "message": format!("{reason} it is"), "code": code })
}

/// The line of a watch with an error.
pub(super) fn error(code: u16, reason: &str) -> String {
    line("ERROR", &status(code, reason))
}

/// The line of a watch with a version.
pub(super) fn bookmark(rv: u64, ends_initial: bool) -> String {
    let mut object = json!({ "kind": "Pod", "apiVersion": "v1",
        "metadata": { "resourceVersion": rv.to_string() } });
    if ends_initial {
        object["metadata"]["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    line("BOOKMARK", &object)
}

impl Server {
    pub(super) fn new() -> Self {
        let empty = Objects::new();
        Self {
            rv: 1,
            versions: vec![empty.clone(), empty],
            floor: 1,
        }
    }

    fn now(&self) -> &Objects {
        self.versions.last().unwrap()
    }

    /// Creates, changes or removes an object; `web` is its label.
    pub(super) fn write(&mut self, key: &str, removes: bool, web: bool) {
        let mut next = self.now().clone();
        let rv = self.rv + 1;
        if removes {
            if next.remove(key).is_none() {
                return;
            }
        } else {
            next.insert(key.to_owned(), Object { rv, web });
        }
        self.rv = rv;
        self.versions.push(next);
    }

    /// Forgets all but the newest version.
    pub(super) fn compact(&mut self) {
        self.floor = self.rv;
    }

    pub(super) fn has(&self, rv: u64) -> bool {
        (self.floor..=self.rv).contains(&rv)
    }

    /// The lines of a watch of the writes after a version.
    pub(super) fn events(&self, of: Of, after: u64) -> String {
        let mut text = String::new();
        for rv in after + 1..=self.rv {
            let [before, now] = [rv - 1, rv].map(|rv| &self.versions[rv as usize]);
            let key = before.keys().chain(now.keys()).find(|key| {
                before.get(*key).map(|object| object.rv) != now.get(*key).map(|object| object.rv)
            });
            let key = key.unwrap();
            let [had, has] =
                [before, now].map(|objects| objects.get(key).filter(|one| of.has(key, one)));
            text += &match (had, has) {
                (None, None) => continue,
                (None, Some(object)) => line("ADDED", &json_of(key, object)),
                (Some(_), Some(object)) => line("MODIFIED", &json_of(key, object)),
                // The version is that of the write which removed it.
                (Some(object), None) => line(
                    "DELETED",
                    &json_of(
                        key,
                        &Object {
                            rv,
                            ..object.clone()
                        },
                    ),
                ),
            };
        }
        text
    }

    /// The lines of a watch that begins with all objects.
    pub(super) fn initial(&self, of: Of) -> String {
        let all = self
            .now()
            .iter()
            .filter(|(key, object)| of.has(key, object));
        let lines: String = all
            .map(|(key, object)| line("ADDED", &json_of(key, object)))
            .collect();
        lines + &bookmark(self.rv, true)
    }

    /// A list, or what follows a token of it: `version:key`. `None` if the version is forgotten.
    pub(super) fn list(&self, of: Of, limit: usize, token: &str) -> Option<String> {
        let (rv, from) = token
            .split_once(':')
            .map_or((self.rv, ""), |(rv, from)| (rv.parse().unwrap(), from));
        if !self.has(rv) {
            return None;
        }
        let objects = &self.versions[rv as usize];
        let mut all = objects
            .iter()
            .filter(|(key, object)| &***key > from && of.has(key, object));
        let some: Vec<_> = all
            .by_ref()
            .take(if limit == 0 { usize::MAX } else { limit })
            .collect();
        let mut metadata = json!({ "resourceVersion": rv.to_string() });
        if all.next().is_some() {
            metadata["continue"] = format!("{rv}:{}", some.last().unwrap().0).into();
        }
        let items: Vec<_> = some
            .into_iter()
            .map(|(key, object)| json_of(key, object))
            .collect();
        Some(
            json!({ "kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items })
                .to_string(),
        )
    }
}
