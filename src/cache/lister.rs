//! Listers: read access to a store.
//!
//! Upstream: [`listers.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/listers.go).

use std::fmt;
use std::sync::Arc;

use super::index::NAMESPACE_INDEX;
use super::object::{Item, Object};
use super::quote::Quoted;
use super::selector::Selector;
use super::store::Indexer;

/// A readable store, with or without a lock around it.
pub trait ReadStore<O> {
    /// Calls `read` with the store.
    fn with_store<R>(&self, read: impl FnOnce(&Indexer<O>) -> R) -> R;
}

impl<O> ReadStore<O> for Indexer<O> {
    fn with_store<R>(&self, read: impl FnOnce(&Indexer<O>) -> R) -> R {
        read(self)
    }
}

impl<O, S: ReadStore<O>> ReadStore<O> for &S {
    fn with_store<R>(&self, read: impl FnOnce(&Indexer<O>) -> R) -> R {
        (**self).with_store(read)
    }
}

impl<O, S: ReadStore<O>> ReadStore<O> for Arc<S> {
    fn with_store<R>(&self, read: impl FnOnce(&Indexer<O>) -> R) -> R {
        (**self).with_store(read)
    }
}

/// The group and resource of a lister's objects, for its error texts.
///
/// Upstream: `schema.GroupResource`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The plural name, lower case.
    pub resource: Arc<str>,
}

impl GroupResource {
    /// For example `deployments` of `apps`; the core group is empty.
    #[must_use]
    pub fn new(group: &str, resource: &str) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// Errors of a lister, with client-go's texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListerError {
    /// The store holds a value without metadata, for instance a tombstone: find out who stored it.
    NotObject,
    /// The store has no object of this name.
    NotFound {
        /// The group and resource.
        resource: GroupResource,
        /// The requested name.
        name: Arc<str>,
    },
}

impl fmt::Display for ListerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotObject => f.write_str("object does not implement the Object interfaces"),
            Self::NotFound { resource, name } => write!(f, "{resource} {} not found", Quoted(name)),
        }
    }
}

impl std::error::Error for ListerError {}

/// Calls `append` for every selected object, in the store's visible order.
///
/// # Errors
/// [`ListerError::NotObject`], unless the selector selects everything; the objects before it were
/// appended.
pub fn list_all<'a, O: Object>(
    store: &'a Indexer<O>,
    selector: &Selector,
    append: impl FnMut(&'a Item<O>),
) -> Result<(), ListerError> {
    choose(store.list(), selector, append)
}

/// Like [`list_all`] for one namespace; uses the namespace index if there is one. An empty
/// namespace selects all.
///
/// # Errors
/// Those of [`list_all`].
pub fn list_all_by_namespace<'a, O: Object>(
    store: &'a Indexer<O>,
    namespace: &str,
    selector: &Selector,
    mut append: impl FnMut(&'a Item<O>),
) -> Result<(), ListerError> {
    if namespace.is_empty() {
        return choose(store.list(), selector, append);
    }
    if let Ok(items) = store.by_index(NAMESPACE_INDEX, namespace) {
        return choose(items, selector, append);
    }
    if selector.matches_nothing() {
        return Ok(());
    }
    // Without the index, check every item; each must be an object.
    for item in store.list() {
        let object = item.plain_object().ok_or(ListerError::NotObject)?;
        if object.namespace() == namespace && selector.matches(object.labels()) {
            append(item);
        }
    }
    Ok(())
}

/// Lists and gets the objects of one resource in a store.
#[derive(Clone, Debug)]
pub struct GenericLister<S> {
    store: S,
    resource: GroupResource,
}

impl<S> GenericLister<S> {
    /// A lister over a store: `&Indexer` or any other [`ReadStore`].
    pub fn new(store: S, resource: GroupResource) -> Self {
        Self { store, resource }
    }

    /// The selected objects, in all namespaces.
    ///
    /// # Errors
    /// [`ListerError::NotObject`].
    pub fn list<O: Object>(&self, selector: &Selector) -> Result<Vec<Arc<O>>, ListerError>
    where
        S: ReadStore<O>,
    {
        self.store
            .with_store(|store| objects(|append| list_all(store, selector, append)))
    }

    /// The object whose key is `name`, so one without a namespace.
    ///
    /// # Errors
    /// [`ListerError::NotFound`], [`ListerError::NotObject`].
    pub fn get<O: Object>(&self, name: &str) -> Result<Arc<O>, ListerError>
    where
        S: ReadStore<O>,
    {
        find(&self.store, &self.resource, name, name)
    }

    /// The lister of one namespace.
    #[must_use]
    pub fn by_namespace(&self, namespace: &str) -> GenericNamespaceLister<S>
    where
        S: Clone,
    {
        GenericNamespaceLister {
            store: self.store.clone(),
            resource: self.resource.clone(),
            namespace: namespace.into(),
        }
    }
}

/// Lists and gets the objects of one resource in one namespace.
#[derive(Clone, Debug)]
pub struct GenericNamespaceLister<S> {
    store: S,
    resource: GroupResource,
    namespace: Arc<str>,
}

impl<S> GenericNamespaceLister<S> {
    /// The selected objects.
    ///
    /// # Errors
    /// [`ListerError::NotObject`].
    pub fn list<O: Object>(&self, selector: &Selector) -> Result<Vec<Arc<O>>, ListerError>
    where
        S: ReadStore<O>,
    {
        self.store.with_store(|store| {
            objects(|append| list_all_by_namespace(store, &self.namespace, selector, append))
        })
    }

    /// The object of this name.
    ///
    /// # Errors
    /// [`ListerError::NotFound`], [`ListerError::NotObject`].
    pub fn get<O: Object>(&self, name: &str) -> Result<Arc<O>, ListerError>
    where
        S: ReadStore<O>,
    {
        let key = format!("{}/{name}", self.namespace);
        find(&self.store, &self.resource, &key, name)
    }
}

fn choose<'a, O: Object + 'a>(
    items: impl Iterator<Item = &'a Item<O>>,
    selector: &Selector,
    mut append: impl FnMut(&'a Item<O>),
) -> Result<(), ListerError> {
    if selector.matches_nothing() {
        return Ok(());
    }
    let all = selector.is_empty();
    for item in items {
        let chosen = all || {
            let object = item.plain_object().ok_or(ListerError::NotObject)?;
            selector.matches(object.labels())
        };
        if chosen {
            append(item);
        }
    }
    Ok(())
}

/// Collects objects. client-go panics in a type cast where this returns an error.
fn objects<'a, O: Object + 'a>(
    list: impl FnOnce(&mut dyn FnMut(&'a Item<O>)) -> Result<(), ListerError>,
) -> Result<Vec<Arc<O>>, ListerError> {
    let mut found = Vec::new();
    let mut all_objects = true;
    list(&mut |item| match item.plain_object() {
        Some(object) => found.push(Arc::clone(object)),
        None => all_objects = false,
    })?;
    if all_objects {
        Ok(found)
    } else {
        Err(ListerError::NotObject)
    }
}

fn find<O: Object>(
    store: &impl ReadStore<O>,
    resource: &GroupResource,
    key: &str,
    name: &str,
) -> Result<Arc<O>, ListerError> {
    store.with_store(|store| match store.get_by_key(key) {
        Some(item) => item.plain_object().cloned().ok_or(ListerError::NotObject),
        None => Err(ListerError::NotFound {
            resource: resource.clone(),
            name: name.into(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::index::{IndexFunc, Indexers, meta_namespace_index_func};
    use crate::key::Key;
    use crate::key_func::meta_namespace_key_func;
    use crate::store::new_indexer;

    fn store(indexed: bool) -> Indexer<Pod> {
        let mut indexers = Indexers::default();
        if indexed {
            let by_namespace: IndexFunc<Pod> = Arc::new(meta_namespace_index_func);
            indexers.insert(NAMESPACE_INDEX.into(), by_namespace);
        }
        let mut store = new_indexer(Arc::new(meta_namespace_key_func), indexers);
        for (namespace, name, app) in [
            ("a", "1", "x"),
            ("a", "2", "y"),
            ("b", "1", "x"),
            ("", "node", "x"),
        ] {
            let mut pod = Pod::default();
            pod.metadata.namespace = Some(namespace.into());
            pod.metadata.name = Some(name.into());
            pod.metadata.labels = Some([("app".to_owned(), app.to_owned())].into());
            store.add(Item::object(pod), &mut ()).unwrap();
        }
        store
    }

    fn names(found: Vec<Arc<Pod>>) -> Vec<String> {
        let key = |pod: &Arc<Pod>| Key::join(pod.namespace(), pod.name()).to_string();
        let mut names: Vec<_> = found.iter().map(key).collect();
        names.sort();
        names
    }

    #[test]
    fn lists_by_selector_and_namespace_with_and_without_the_index() {
        for indexed in [true, false] {
            let store = store(indexed);
            let lister = GenericLister::new(&store, GroupResource::new("", "pods"));
            for (namespace, selector, expected) in [
                (None, "", vec!["a/1", "a/2", "b/1", "node"]),
                (None, "app=x", vec!["a/1", "b/1", "node"]),
                (Some("a"), "", vec!["a/1", "a/2"]),
                (Some("a"), "app!=x", vec!["a/2"]),
                (Some("c"), "", vec![]),
                (Some(""), "app=y", vec!["a/2"]),
            ] {
                let selector = Selector::parse(selector).unwrap();
                let found = match namespace {
                    None => lister.list(&selector),
                    Some(namespace) => lister.by_namespace(namespace).list(&selector),
                };
                assert_eq!(names(found.unwrap()), expected, "{namespace:?} {selector}");
            }
            let nothing = Selector::nothing();
            assert_eq!(lister.list(&nothing), Ok(vec![]));
            assert_eq!(lister.by_namespace("a").list(&nothing), Ok(vec![]));
        }
    }

    #[test]
    fn gets_by_name_or_returns_not_found() {
        let store = store(true);
        let lister = GenericLister::new(&store, GroupResource::new("apps", "deployments"));
        let in_a = lister.by_namespace("a");
        assert_eq!(in_a.get("1").unwrap().name(), "1");
        assert_eq!(lister.get("node").unwrap().name(), "node");
        // As in client-go, an object without a namespace is not found through any namespace, not
        // even "".
        assert!(lister.by_namespace("").get("node").is_err());
        let error = in_a.get("3").unwrap_err();
        assert_eq!(error.to_string(), "deployments.apps \"3\" not found");
        let pods = GenericLister::new(&store, GroupResource::new("", "pods"));
        let error = pods.get("a").unwrap_err();
        assert_eq!(error.to_string(), "pods \"a\" not found");
    }

    #[test]
    fn an_item_without_metadata_fails_label_selection() {
        for indexed in [true, false] {
            let mut store = store(indexed);
            let key = Item::ExplicitKey("a/9".into());
            let added = store.add(key, &mut ());
            // An item without metadata cannot be indexed.
            assert_eq!(added.is_err(), indexed);
            let mut count = 0;
            let everything = Selector::everything();
            list_all(&store, &everything, |_| count += 1).unwrap();
            assert_eq!(count, 5);
            let chosen = Selector::parse("app").unwrap();
            let error = list_all(&store, &chosen, |_| ()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "object does not implement the Object interfaces"
            );
            let lister = GenericLister::new(&store, GroupResource::new("", "pods"));
            assert_eq!(lister.list(&everything), Err(ListerError::NotObject));
            let found = lister.by_namespace("a").list(&everything);
            assert_eq!(found.is_err(), !indexed);
        }
    }
}
