//! Event handlers: the code that an informer's user writes.
//!
//! Upstream: `ResourceEventHandler` and its adapters in
//! [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::sync::Arc;

use derive_where::derive_where;

use super::object::Item;

/// Receives notifications about objects.
///
/// The objects are shared with the cache: a handler must not modify them.
pub trait ResourceEventHandler<O> {
    /// An object was added. `is_in_initial_list`: it existed before the informer started (or before
    /// this handler was added).
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool);
    /// An object changed, or a resync or a list delivered it again.
    fn on_update(&self, old: &Item<O>, new: &Item<O>);
    /// An object was deleted. It is a tombstone if the watch missed the deletion.
    fn on_delete(&self, object: &Item<O>);
}

impl<O, H: ResourceEventHandler<O> + ?Sized> ResourceEventHandler<O> for Arc<H> {
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool) {
        (**self).on_add(object, is_in_initial_list);
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        (**self).on_update(old, new);
    }

    fn on_delete(&self, object: &Item<O>) {
        (**self).on_delete(object);
    }
}

/// A callback that receives an object.
pub type ObjectFunc<O> = Box<dyn Fn(&Item<O>) + Send + Sync>;
/// A callback that receives an object and whether it is in the initial list.
pub type AddFunc<O> = Box<dyn Fn(&Item<O>, bool) + Send + Sync>;
/// A callback that receives the old and the new object.
pub type UpdateFunc<O> = Box<dyn Fn(&Item<O>, &Item<O>) + Send + Sync>;

/// A handler made of optional functions.
#[derive_where(Default)]
pub struct ResourceEventHandlerFuncs<O> {
    /// Called by `on_add`, without the flag.
    pub add_func: Option<ObjectFunc<O>>,
    /// Called by `on_update`.
    pub update_func: Option<UpdateFunc<O>>,
    /// Called by `on_delete`.
    pub delete_func: Option<ObjectFunc<O>>,
}

impl<O> ResourceEventHandler<O> for ResourceEventHandlerFuncs<O> {
    fn on_add(&self, object: &Item<O>, _is_in_initial_list: bool) {
        if let Some(add) = &self.add_func {
            add(object);
        }
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        if let Some(update) = &self.update_func {
            update(old, new);
        }
    }

    fn on_delete(&self, object: &Item<O>) {
        if let Some(delete) = &self.delete_func {
            delete(object);
        }
    }
}

/// Like [`ResourceEventHandlerFuncs`], but `add_func` also receives whether the object is in the
/// initial list.
#[derive_where(Default)]
pub struct ResourceEventHandlerDetailedFuncs<O> {
    /// Called by `on_add`.
    pub add_func: Option<AddFunc<O>>,
    /// Called by `on_update`.
    pub update_func: Option<UpdateFunc<O>>,
    /// Called by `on_delete`.
    pub delete_func: Option<ObjectFunc<O>>,
}

impl<O> ResourceEventHandler<O> for ResourceEventHandlerDetailedFuncs<O> {
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool) {
        if let Some(add) = &self.add_func {
            add(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        if let Some(update) = &self.update_func {
            update(old, new);
        }
    }

    fn on_delete(&self, object: &Item<O>) {
        if let Some(delete) = &self.delete_func {
            delete(object);
        }
    }
}

/// Returns whether an object passes the filter.
pub type FilterFunc<O> = Arc<dyn Fn(&Item<O>) -> bool + Send + Sync>;

/// Forwards notifications about the objects that pass a filter. The filter also receives
/// tombstones.
pub struct FilteringResourceEventHandler<O, H> {
    /// The filter function.
    pub filter_func: FilterFunc<O>,
    /// The handler to notify.
    pub handler: H,
}

/// How a filter translates an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilteredUpdate {
    /// Both objects pass: an update.
    Update,
    /// Only the new object passes: an add, never of the initial list.
    Add,
    /// Only the old object passes: a delete of the old object.
    Delete,
    /// Neither passes: no notification.
    Nothing,
}

/// How a filter translates an update, given whether the old and the new object pass.
#[must_use]
pub fn filter_update(old_passes: bool, new_passes: bool) -> FilteredUpdate {
    match (old_passes, new_passes) {
        (true, true) => FilteredUpdate::Update,
        (false, true) => FilteredUpdate::Add,
        (true, false) => FilteredUpdate::Delete,
        (false, false) => FilteredUpdate::Nothing,
    }
}

impl<O, H: ResourceEventHandler<O>> ResourceEventHandler<O>
    for FilteringResourceEventHandler<O, H>
{
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool) {
        if (self.filter_func)(object) {
            self.handler.on_add(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        match filter_update((self.filter_func)(old), (self.filter_func)(new)) {
            FilteredUpdate::Update => self.handler.on_update(old, new),
            FilteredUpdate::Add => self.handler.on_add(new, false),
            FilteredUpdate::Delete => self.handler.on_delete(old),
            FilteredUpdate::Nothing => {}
        }
    }

    fn on_delete(&self, object: &Item<O>) {
        if (self.filter_func)(object) {
            self.handler.on_delete(object);
        }
    }
}
