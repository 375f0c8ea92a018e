//! The state of a shared informer factory: one informer per kind, and which of them are started.
//!
//! Upstream: [`factory.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/informers/factory.go),
//! where a kind is a Go type.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::map::Map;

/// The list options of a factory's informers, for any kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// `labelSelector`; empty for all.
    pub label_selector: String,
    /// `fieldSelector`; empty for all.
    pub field_selector: String,
}

/// Changes the list options of every informer of a factory.
pub type TweakListOptionsFunc = Arc<dyn Fn(&mut ListOptions) + Send + Sync>;

/// Configuration of a factory.
#[derive(Clone)]
#[derive_where(Default)]
pub struct FactoryOptions<K> {
    /// The resync period of its informers …
    pub default_resync: Duration,
    /// … and the exceptions by kind.
    pub custom_resync: Map<K, Duration>,
    /// The namespace of its informers; empty for all.
    pub namespace: Arc<str>,
    /// Changes the list options.
    pub tweak_list_options: Option<TweakListOptionsFunc>,
}

/// What the factory's options say of a new informer, for whoever makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InformerScope {
    /// The namespace; empty for all.
    pub namespace: Arc<str>,
    /// The list options.
    pub list_options: ListOptions,
    /// The resync period.
    pub resync_period: Duration,
}

/// The informers of a factory. `I` is the runtime's handle of an informer; its clones refer to the
/// same informer.
#[derive(Clone)]
pub struct FactoryState<K, I> {
    options: FactoryOptions<K>,
    informers: Map<K, Entry<I>>,
    shutting_down: bool,
}

#[derive(Clone)]
struct Entry<I> {
    informer: I,
    started: bool,
}

impl<K: Eq + Hash + Clone, I: Clone> FactoryState<K, I> {
    /// A factory without informers.
    #[must_use]
    pub fn new(options: FactoryOptions<K>) -> Self {
        Self {
            options,
            informers: Map::default(),
            shutting_down: false,
        }
    }

    /// The informer of a kind; creates it on the first call.
    pub fn informer_for(&mut self, kind: &K, make: impl FnOnce(&InformerScope) -> I) -> I {
        if let Some(entry) = self.informers.get(kind) {
            return entry.informer.clone();
        }
        let informer = make(&self.scope(kind));
        let entry = Entry {
            informer: informer.clone(),
            started: false,
        };
        self.informers.insert(kind.clone(), entry);
        informer
    }

    /// The parameters for an informer of this kind.
    #[must_use]
    pub fn scope(&self, kind: &K) -> InformerScope {
        let options = &self.options;
        let mut list_options = ListOptions::default();
        if let Some(tweak) = &options.tweak_list_options {
            tweak(&mut list_options);
        }
        let custom = options.custom_resync.get(kind);
        InformerScope {
            namespace: Arc::clone(&options.namespace),
            list_options,
            resync_period: custom.copied().unwrap_or(options.default_resync),
        }
    }

    /// Returns the informers to start: those not started before, or none after a shutdown.
    pub fn start(&mut self) -> Vec<I> {
        if self.shutting_down {
            return Vec::new();
        }
        let waiting = self.informers.values_mut().filter(|entry| !entry.started);
        waiting
            .map(|entry| {
                entry.started = true;
                entry.informer.clone()
            })
            .collect()
    }

    /// The started informers by kind: the ones to wait for in WaitForCacheSync.
    pub fn started(&self) -> impl Iterator<Item = (&K, &I)> {
        self.informers
            .iter()
            .filter(|(_, entry)| entry.started)
            .map(|(kind, entry)| (kind, &entry.informer))
    }

    /// Prevents any further start. The caller then waits until the running informers have stopped.
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    /// Whether it was shut down.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factory_makes_one_informer_per_kind_and_starts_each_once() {
        let tweak = |options: &mut ListOptions| options.label_selector.push_str("app=x");
        let mut factory = FactoryState::new(FactoryOptions {
            default_resync: Duration::from_secs(30),
            custom_resync: [("nodes", Duration::from_secs(60))].into_iter().collect(),
            namespace: "web".into(),
            tweak_list_options: Some(Arc::new(tweak)),
        });
        let mut made = Vec::new();
        for kind in ["pods", "nodes", "pods"] {
            let informer = factory.informer_for(&kind, |scope| {
                assert_eq!(&*scope.namespace, "web");
                assert_eq!(scope.list_options.label_selector, "app=x");
                made.push((kind, scope.resync_period.as_secs()));
                Arc::from(kind)
            });
            assert_eq!(&*informer, kind);
        }
        assert_eq!(made, [("pods", 30), ("nodes", 60)]);

        let names = |informers: Vec<Arc<str>>| informers.iter().map(|i| i.to_string()).collect();
        let mut start = || -> Vec<String> { names(factory.start()) };
        assert_eq!(start(), ["pods", "nodes"]);
        assert!(start().is_empty());
        factory.informer_for(&"jobs", |_| "jobs".into());
        assert_eq!(factory.started().count(), 2);
        assert_eq!(names(factory.start()) as Vec<String>, ["jobs"]);
        assert_eq!(factory.started().count(), 3);

        factory.informer_for(&"late", |_| "late".into());
        factory.shut_down();
        assert!(factory.is_shutting_down());
        assert!(factory.start().is_empty());
    }
}
