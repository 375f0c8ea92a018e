//! The options of a watch.

use std::sync::Arc;

use serde_json::Value;

use deltascope_cache::controller::Generation;
use deltascope_world::fields::{Fields, LATEST_MS, moment};
use deltascope_world::source::proxy::target::{Resource, Target};
use deltascope_world::text::Text;
use deltascope_world::{Time, text};

use super::indices::{check_index, without_values};

/// More objects than this are watched as metadata only by default: whole objects have some 10 KB each, and a page
/// holds many versions of them.
pub const MANY: u64 = 500;

/// What to watch, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The address of the API; empty: search for it.
    pub base: String,
    /// The resource, as kubectl names it: `pods`, `po`, `deployments.apps`.
    pub resource: String,
    /// The namespace; empty: all.
    pub namespace: String,
    /// Empty: all.
    pub label_selector: String,
    /// Empty: all.
    pub field_selector: String,
    /// Whether to watch only metadata; `None`: for more than [`MANY`] objects.
    pub metadata_only: Option<bool>,
    /// `namespace`, `node`, a label, or a field's path with a dot in front.
    pub indices: Vec<Arc<str>>,
    /// The client-go generation.
    pub era: Generation,
    /// The resync period, in ms; 0: never.
    pub resync_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: String::new(),
            resource: "pods".to_owned(),
            namespace: String::new(),
            label_selector: String::new(),
            field_selector: String::new(),
            metadata_only: None,
            indices: vec!["namespace".into()],
            era: Generation::Atomic,
            resync_ms: 0,
        }
    }
}

impl Options {
    /// Reads the options of a script.
    ///
    /// # Errors
    /// Fails if a field is invalid or unknown.
    pub fn from_json(value: Value) -> Result<Self, Text> {
        let value = if value.is_null() {
            Value::Object(serde_json::Map::new())
        } else {
            value
        };
        let default = Self::default();
        let read = |value| -> Result<Self, String> {
            let mut fields = Fields::of("connect", value)?;
            let base = fields.get("api")?;
            let resource: Option<String> = fields.get("resource")?;
            let namespace = fields.get("namespace")?;
            let label_selector = fields.get("labelSelector")?;
            let field_selector = fields.get("fieldSelector")?;
            let metadata_only = fields.get("metadataOnly")?;
            let indices: Option<Vec<Arc<str>>> = fields.get("indices")?;
            let era: Option<String> = fields.get("era")?;
            let resync_ms = moment(fields.get("resyncMs")?)?;
            fields.done()?;
            let era = match era {
                None => default.era,
                Some(era) => Generation::from_version(&era)
                    .ok_or_else(|| format!("there is no generation {era:?}"))?,
            };
            Ok(Self {
                base,
                resource: resource.unwrap_or(default.resource),
                namespace,
                label_selector,
                field_selector,
                metadata_only,
                indices: indices.unwrap_or(default.indices),
                era,
                resync_ms,
            })
        };
        let options = read(value).map_err(|error| text!("{error}", "connect：{error}"))?;
        options.check()?;
        Ok(options)
    }

    /// Checks that the informer can be built.
    ///
    /// # Errors
    /// Fails if an index is impossible; the text says what to write instead.
    pub fn check(&self) -> Result<(), Text> {
        self.indices.iter().try_for_each(|name| check_index(name))
    }

    /// Whether to watch only metadata, given the number of objects, if it is known.
    #[must_use]
    pub fn is_metadata_only(&self, count: Option<u64>) -> bool {
        let by_default = count.is_some_and(|count| count > MANY);
        self.metadata_only.unwrap_or(by_default)
    }

    /// The target of the requests to the API server.
    #[must_use]
    pub fn target(&self, resource: &Resource) -> Target {
        let given = |text: &str| text.trim().to_owned();
        let namespace = given(&self.namespace);
        Target {
            base: self.base.clone(),
            resource: resource.clone(),
            namespace: (!namespace.is_empty()).then_some(namespace),
            label_selector: given(&self.label_selector),
            field_selector: given(&self.field_selector),
            metadata_only: self.is_metadata_only(None),
        }
    }
}

/// The options that a run cannot fulfil: indices that have no values in metadata alone.
#[must_use]
pub fn left_out(target: &Target, options: &Options) -> Option<Text> {
    let names = options.indices.iter().map(|name| &**name);
    let said = without_values(names).filter(|_| target.metadata_only)?;
    Some(match options.metadata_only {
        Some(_) => said,
        None => text!(
            (
                "{} There are more than {MANY} objects, so their metadata alone are watched; ask for whole objects to have these indices.",
                said.en
            ),
            (
                "{}对象超过 {MANY} 个，所以只看元数据；要有这些索引，请要求完整对象。",
                said.zh
            )
        ),
    })
}

/// The resync period in ms, from text in seconds; empty: never.
///
/// # Errors
/// Fails if the text cannot be read; the error says what to write.
pub fn resync_ms(typed: &str) -> Result<Time, Text> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(0);
    }
    let most = LATEST_MS / 1000;
    match typed.parse::<u64>() {
        Ok(seconds) if seconds <= most => Ok(seconds * 1000),
        _ => Err(text!(
            "The resync {typed:?} is no whole number of seconds from 0 to {most}. Write one, or nothing for never.",
            "resync 的 {typed:?} 不是 0 到 {most} 之间的整数秒。请写一个，或留空表示从不。"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::resources::tests::resource;
    use crate::cluster::run::scenario;

    #[test]
    fn options_are_read_and_checked() {
        let options = Options::from_json(json!({
            "resource": "deployments.apps", "namespace": "kube-system", "metadataOnly": true,
            "indices": ["app", ".spec.nodeName"], "era": "1.32", "resyncMs": 30_000,
        }))
        .unwrap();
        assert_eq!(
            (&*options.resource, options.era),
            ("deployments.apps", Generation::Classic)
        );
        assert_eq!(options.indices.len(), 2);
        assert_eq!(Options::from_json(Value::Null).unwrap(), Options::default());
        for wrong in [
            json!({ "era": "0.1" }),
            json!({ "selector": "app" }),
            json!({ "resource": 1 }),
            json!({ "resyncMs": u64::MAX }),
            json!({ "indices": ["app", "..bad"] }),
            json!("pods"),
        ] {
            assert!(Options::from_json(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn many_objects_are_watched_as_metadata() {
        let mut options = Options::default();
        let of = |options: &Options| {
            [None, Some(MANY), Some(MANY + 1)].map(|n| options.is_metadata_only(n))
        };
        assert_eq!(of(&options), [false, false, true]);
        options.metadata_only = Some(false);
        assert_eq!(of(&options), [false; 3]);
    }

    #[test]
    fn metadata_have_no_spec() {
        let names = ["namespace", "app", ".metadata.labels.app"];
        assert_eq!(without_values(names), None);
        let said = without_values(["node", "app", ".spec.nodeName"]).unwrap();
        assert!(said.en.contains("node, .spec.nodeName:"), "{}", said.en);
        let mut options = Options {
            indices: vec!["namespace".into(), "node".into()],
            ..Options::default()
        };
        for (metadata_only, count) in [(false, 2), (true, 1)] {
            options.metadata_only = Some(metadata_only);
            let target = options.target(&resource("", "pods", &[]));
            assert_eq!(scenario(&target, &options, 1).settings.indices.len(), count);
        }
    }

    #[test]
    fn a_resync_is_seconds_or_nothing() {
        for (typed, ms) in [
            ("", Some(0)),
            (" 30 ", Some(30_000)),
            ("1000000000", Some(LATEST_MS)),
            ("1000000001", None),
            ("99999999999999999999999", None),
            ("abc", None),
            ("-3", None),
            ("1.5", None),
        ] {
            assert_eq!(resync_ms(typed).ok(), ms, "{typed:?}");
        }
    }
}
