//! The data of a Secret is never kept.

use proptest::prelude::*;
use serde_json::Value;

use super::Ending::Closed;
use super::Meaning::{List, Watch};
use super::{Answer, meaning, resource};

/// The places where a Secret's data, or a copy of it, can be; and a value there.
const PLACES: &[(&[&str], &str)] = &[
    (&["data"], r#"{"password":"hunter2"}"#),
    (&["stringData"], r#"{"password":"hunter2"}"#),
    (&["binaryData"], r#"{"password":"hunter2"}"#),
    (&["spec"], r#"{"template":{"data":"hunter2"}}"#),
    (
        &["metadata", "annotations"],
        r#"{"kubectl.kubernetes.io/last-applied-configuration":"hunter2","kapp.k14s.io/original":"hunter2"}"#,
    ),
    (
        &["metadata", "managedFields"],
        r#"[{"fieldsV1":{"f:data":"hunter2"}}]"#,
    ),
    (&["metadata", "labels"], r#"{"app":["hunter2"]}"#),
    (&["metadata", "namespace"], r#"["hunter2"]"#),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// The data of a Secret or a ConfigMap is dropped wherever it is, even from a corrupt answer.
    #[test]
    fn the_data_of_a_secret_is_never_kept(
        of_config in any::<bool>(),
        metadata_only in any::<bool>(),
        watch in any::<bool>(),
        says_kind in 0..4_u8,
        places in prop::collection::vec(any::<bool>(), PLACES.len()),
        spoil in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (kind, plural) = if of_config { ("ConfigMap", "configmaps") } else { ("Secret", "secrets") };
        let mut object: Value = serde_json::from_str(r#"{"metadata":{"name":"a","namespace":"default","resourceVersion":"5","labels":{"app":"web"}}}"#).unwrap();
        // Its own kind, that of its metadata, none, or another one.
        let own = [Some(kind), Some("PartialObjectMetadata"), None, Some("Opaque")][usize::from(says_kind)];
        if let Some(own) = own {
            object["kind"] = own.into();
            object["apiVersion"] = "v1".into();
        }
        for ((path, value), _) in PLACES.iter().zip(places).filter(|(_, there)| *there) {
            let mut at = &mut object;
            for step in *path {
                at = &mut at[*step];
            }
            *at = serde_json::from_str(value).unwrap();
        }
        let mut answer = Answer::of("list-3");
        answer.body = if watch {
            format!("{}\n", serde_json::json!({ "type": "ADDED", "object": object }))
        } else {
            serde_json::json!({ "kind": format!("{kind}List"), "apiVersion": "v1", "metadata": { "resourceVersion": "5" }, "items": [object] }).to_string()
        }.into_bytes();
        answer.watch = watch;
        answer.target.metadata_only = metadata_only;
        answer.target.resource = resource("", "v1", kind, plural);
        if let Some((place, byte)) = spoil {
            let place = place.index(answer.body.len());
            answer.body[place] = byte;
        }
        if let Some(end) = end {
            answer.body.truncate(end.index(answer.body.len() + 1));
        }
        let responses = answer.responses(&[]);
        // One byte of the data may have been changed, so only a part of it is searched.
        prop_assert!(!format!("{responses:?}").contains("unter"), "{:?}", meaning(&responses));
        if spoil.is_none() && end.is_none() && !format!("{object}").contains("[\"hunter2\"]") {
            let found = meaning(&responses);
            prop_assert!(matches!(found, List(1, "5", false) | Watch([1, 0, 0, 0], Closed)), "{:?}", found);
        }
    }
}
