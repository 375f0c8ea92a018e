//! The run that watches a resource.

use deltascope_world::source::proxy::target::{Resource, Target};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{HandlerSettings, InformerKind, Settings, SourceKind};

use super::indices::lacks;
use super::options::Options;
use super::resources::is_built_in;

/// The scenario of a watch: a shared informer with one handler. The backoffs and the timeouts of its watches follow
/// from the seed.
#[must_use]
pub fn scenario(target: &Target, options: &Options, seed: u32) -> Scenario {
    let line = |what: &str| vec![format!("{what}: {{name}}")];
    let handler = HandlerSettings {
        name: "printer".into(),
        on_add: line("OnAdd"),
        on_update: line("OnUpdate"),
        on_delete: line("OnDelete"),
        ..HandlerSettings::default()
    };
    let settings = Settings {
        source: SourceKind::Cluster,
        informer: InformerKind::Shared,
        jitter: Some(seed),
        era: options.era,
        resync_ms: options.resync_ms,
        indices: (options.indices.iter())
            .filter(|name| !(target.metadata_only && lacks(name)))
            .cloned()
            .collect(),
        type_description: Some(type_of(target).into()),
        handlers: vec![handler],
        ..Settings::default()
    };
    Scenario {
        settings,
        ..Scenario::default()
    }
}

/// The type that a Go client has for the resource.
fn type_of(target: &Target) -> String {
    let Resource {
        group,
        version,
        kind,
        ..
    } = &target.resource;
    if target.metadata_only {
        "*v1.PartialObjectMetadata".to_owned()
    } else if is_built_in(group) {
        format!("*{version}.{kind}")
    } else {
        format!("{group}/{version}, Kind={kind}")
    }
}

/// The target in a line: `pods · default · app=web`.
#[must_use]
pub fn title(target: &Target) -> Text {
    let mut rest = String::new();
    for selector in [&target.label_selector, &target.field_selector] {
        if !selector.is_empty() {
            rest.push_str(" · ");
            rest.push_str(selector);
        }
    }
    let resource = target.resource.name();
    let (en, zh) = match &target.namespace {
        _ if !target.resource.namespaced => (String::new(), String::new()),
        None => (" · all namespaces".to_owned(), " · 全部命名空间".to_owned()),
        Some(namespace) => (format!(" · {namespace}"), format!(" · {namespace}")),
    };
    text!("{resource}{en}{rest}", "{resource}{zh}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::resources::tests::resource;

    #[test]
    fn a_type_has_its_name_in_go() {
        let name = |group, metadata_only| {
            type_of(&Target {
                resource: resource(group, "Pod", &[]),
                metadata_only,
                ..Target::default()
            })
        };
        assert_eq!(name("", false), "*v1.Pod");
        assert_eq!(name("", true), "*v1.PartialObjectMetadata");
        assert_eq!(name("example.com", false), "example.com/v1, Kind=Pod");
    }
}
