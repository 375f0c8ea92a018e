//! The resources that the dialog offers, and their groups.

use std::sync::Arc;

use deltascope_cache::sorted;
use deltascope_world::source::proxy::target::Resource;

/// The name of all groups that are not built in, in the menu of groups.
pub const CUSTOM: &str = "*";

/// The resources that the dialog offers: those of a group with this text in one of their names, the core group
/// first, custom resources last.
#[must_use]
pub fn offered(resources: &[Resource], text: &str, group: Option<&str>) -> Vec<usize> {
    let text = text.trim().to_ascii_lowercase();
    let has = |name: &str| name.to_ascii_lowercase().contains(&text);
    let mut found: Vec<(usize, &Resource)> = resources
        .iter()
        .enumerate()
        .filter(|(_, one)| {
            let of_group = match group {
                None => true,
                Some(CUSTOM) => !is_built_in(&one.group),
                Some(group) => one.group == group,
            };
            let short = one.short_names.iter().any(|name| has(name));
            of_group && (short || has(&one.name()) || has(&one.kind))
        })
        .collect();
    sorted::sort(&mut found, |(_, one), (_, other)| {
        rank(one, &text).cmp(&rank(other, &text))
    });
    found.into_iter().map(|(place, _)| place).collect()
}

fn rank<'a>(one: &'a Resource, text: &str) -> ([bool; 3], [&'a str; 2]) {
    // A resource whose whole name was typed comes first.
    let named = one.plural == text || one.short_names.iter().any(|name| name == text);
    let after = [!named, !one.group.is_empty(), !is_built_in(&one.group)];
    (after, [&one.group, &one.plural])
}

/// The groups with their numbers of resources; all custom groups count as one.
#[must_use]
pub fn groups(resources: &[Resource]) -> Vec<(Arc<str>, usize)> {
    let mut found: Vec<(Arc<str>, usize)> = Vec::new();
    for one in resources {
        let group = if is_built_in(&one.group) {
            one.group.as_str()
        } else {
            CUSTOM
        };
        match found.iter_mut().find(|(other, _)| **other == *group) {
            Some((_, count)) => *count += 1,
            None => found.push((group.into(), 1)),
        }
    }
    // The custom groups come last.
    let rank = |(group, _): &(Arc<str>, usize)| (&**group == CUSTOM, Arc::clone(group));
    sorted::sort(&mut found, |one, other| rank(one).cmp(&rank(other)));
    found
}

/// The groups that every API server has; others come from custom resources and other servers.
const BUILT_IN: [&str; 22] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Whether every API server has this group.
#[must_use]
pub fn is_built_in(group: &str) -> bool {
    BUILT_IN.contains(&group) || group == "storagemigration.k8s.io"
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::cluster) fn resource(group: &str, plural: &str, short: &[&str]) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: plural.to_owned(),
            plural: plural.to_owned(),
            short_names: short.iter().map(|&name| name.to_owned()).collect(),
            namespaced: true,
            ..Resource::default()
        }
    }

    #[test]
    fn the_meant_resource_comes_first_and_custom_ones_last() {
        let all = [
            resource("example.com", "widgets", &["po"]),
            resource("apps", "deployments", &["deploy"]),
            resource("", "pods", &["po"]),
            resource("", "podtemplates", &[]),
        ];
        let names = |text, group| -> Vec<&str> {
            let found = offered(&all, text, group);
            found.iter().map(|place| &*all[*place].plural).collect()
        };
        assert_eq!(
            names("", None),
            ["pods", "podtemplates", "deployments", "widgets"]
        );
        assert_eq!(names("PO", None)[..2], ["pods", "widgets"]);
        assert_eq!(names("deploy", None), ["deployments"]);
        assert_eq!(names("ts.exam", None), ["widgets"]);
        assert_eq!(names("", Some(CUSTOM)), ["widgets"]);
        assert_eq!(names("", Some("apps")), ["deployments"]);
        let groups = groups(&all);
        let groups: Vec<(&str, usize)> = groups.iter().map(|(name, n)| (&**name, *n)).collect();
        assert_eq!(groups, [("", 2), ("apps", 1), (CUSTOM, 1)]);
    }
}
