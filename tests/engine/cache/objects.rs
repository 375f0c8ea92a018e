//! Objects, their keys, and how errors name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::cache::delta::{Delta, DeltaType};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{
    deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::store::new_store;
use k8s_openapi::api::core::v1::Pod;
use kube_core::metadata::PartialObjectMeta;

use super::{O, delta_fifo, key_func, object, opaque, pod, tombstone};

#[test]
fn any_type_with_metadata_can_be_cached() {
    fn key<T: Object>(object: T) -> String {
        let key = meta_namespace_key_func(&Item::object(object)).unwrap();
        key.to_string()
    }
    let meta = object("a/p0", "1", Some("web")).metadata;
    assert_eq!(key(object("a/p0", "1", None)), "a/p0");
    assert_eq!(key(object("p0", "1", None)), "p0");
    let partial: PartialObjectMeta<Pod> = PartialObjectMeta {
        metadata: meta.clone(),
        ..PartialObjectMeta::default()
    };
    assert_eq!(partial.labels()["app"], "web");
    assert_eq!(partial.resource_version(), "1");
    assert_eq!(key(partial), "a/p0");
    let typed = Pod {
        metadata: meta,
        ..Pod::default()
    };
    assert_eq!(key(typed), "a/p0");
    // A type needs to implement only Object, not Clone.
    struct Own(BTreeMap<String, String>);
    impl Object for Own {
        fn namespace(&self) -> &str {
            "own"
        }
        fn name(&self) -> &str {
            "thing"
        }
        fn uid(&self) -> &str {
            ""
        }
        fn resource_version(&self) -> &str {
            "7"
        }
        fn labels(&self) -> &BTreeMap<String, String> {
            &self.0
        }
    }
    let mut store = new_store::<Own>(Arc::new(meta_namespace_key_func));
    store
        .add(Item::object(Own(BTreeMap::new())), &mut ())
        .unwrap();
    assert!(store.clone().get_by_key("own/thing").is_some());
    assert_eq!(store.last_store_sync_resource_version(), "7");
}

#[test]
fn keys_of_every_kind_of_item() {
    let long = "n".repeat(300);
    type Made = Result<String, ()>;
    let cases: [(Item<O>, Made, Made); 6] = [
        (pod("a/p0", "1"), Ok("a/p0".into()), Ok("a/p0".into())),
        (pod("p0", "1"), Ok("p0".into()), Ok("p0".into())),
        (
            pod(&format!("é/{long}"), "1"),
            Ok(format!("é/{long}")),
            Ok(format!("é/{long}")),
        ),
        (
            Item::ExplicitKey("x/y/z".into()),
            Ok("x/y/z".into()),
            Ok("x/y/z".into()),
        ),
        (
            tombstone("gone", Some(pod("a/p0", "1"))),
            Err(()),
            Ok("gone".into()),
        ),
        (opaque(), Err(()), Err(())),
    ];
    for (item, plain, deletion_handling) in cases {
        let text = |key: Result<Key, String>| key.map(|key| key.to_string()).map_err(drop);
        assert_eq!(text(meta_namespace_key_func(&item)), plain, "{item:?}");
        let key = deletion_handling_meta_namespace_key_func(&item);
        assert_eq!(text(key), deletion_handling, "{item:?}");
        let key = delta_fifo()
            .key_of(&item)
            .map_err(|error| error.to_string());
        assert_eq!(text(key), deletion_handling, "{item:?}");
    }
}

#[test]
fn deltas_have_the_key_of_the_newest() {
    let queue = delta_fifo();
    let delta = |delta_type, object| Delta { delta_type, object };
    let deltas = [
        delta(DeltaType::Added, opaque()),
        delta(DeltaType::Deleted, tombstone("gone", None)),
    ];
    assert_eq!(queue.key_of_deltas(&deltas).unwrap(), "gone");
    assert_eq!(
        queue.key_of_deltas(&[]).unwrap_err().to_string(),
        "couldn't create key for object []: 0 length Deltas object; can't get key"
    );
}

#[test]
fn a_key_error_names_the_object() {
    let mut store = new_store(key_func());
    let text = |item| store.add(item, &mut ()).unwrap_err().to_string();
    let reason = "object has no meta: object does not implement the Object interfaces";
    let texts = [opaque(), tombstone("a/p1", None)].map(text);
    assert_eq!(
        texts,
        [
            format!("couldn't create key for object not-an-object: {reason}"),
            format!("couldn't create key for object {{Key:a/p1 Obj:<nil>}}: {reason}"),
        ]
    );
}
