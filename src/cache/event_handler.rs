//! Event handlers: what an informer's user writes.
//!
//! Upstream: `ResourceEventHandler` and what goes with it in
//! [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::sync::Arc;

use super::object::Item;

/// Is told what happens to objects.
///
/// What it is given is shared with the cache: it must not be changed.
pub trait ResourceEventHandler<O> {
    /// An object appeared; `is_in_initial_list` tells whether it was there before the informer (or
    /// before this handler).
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool);
    /// An object changed, or was handed out again by a resync or a list.
    fn on_update(&self, old: &Item<O>, new: &Item<O>);
    /// An object is gone; a tombstone where its deletion was missed.
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

/// Tells a function of an object.
pub type ObjectFunc<O> = Box<dyn Fn(&Item<O>) + Send + Sync>;
/// Tells a function of an object and whether it came with the first list.
pub type AddFunc<O> = Box<dyn Fn(&Item<O>, bool) + Send + Sync>;
/// Tells a function of an object before and after.
pub type UpdateFunc<O> = Box<dyn Fn(&Item<O>, &Item<O>) + Send + Sync>;

/// A handler out of functions, as many as are needed.
pub struct ResourceEventHandlerFuncs<O> {
    /// For `on_add`, without the flag.
    pub add_func: Option<ObjectFunc<O>>,
    /// For `on_update`.
    pub update_func: Option<UpdateFunc<O>>,
    /// For `on_delete`.
    pub delete_func: Option<ObjectFunc<O>>,
}

impl<O> Default for ResourceEventHandlerFuncs<O> {
    fn default() -> Self {
        Self {
            add_func: None,
            update_func: None,
            delete_func: None,
        }
    }
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

/// Like [`ResourceEventHandlerFuncs`], but the function for adds learns whether an object came with
/// the first list.
pub struct ResourceEventHandlerDetailedFuncs<O> {
    /// For `on_add`.
    pub add_func: Option<AddFunc<O>>,
    /// For `on_update`.
    pub update_func: Option<UpdateFunc<O>>,
    /// For `on_delete`.
    pub delete_func: Option<ObjectFunc<O>>,
}

impl<O> Default for ResourceEventHandlerDetailedFuncs<O> {
    fn default() -> Self {
        Self {
            add_func: None,
            update_func: None,
            delete_func: None,
        }
    }
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

/// Whether an object passes.
pub type FilterFunc<O> = Arc<dyn Fn(&Item<O>) -> bool + Send + Sync>;

/// Passes on what concerns the objects that pass a filter. The filter is given tombstones as they
/// are.
pub struct FilteringResourceEventHandler<O, H> {
    /// The filter.
    pub filter_func: FilterFunc<O>,
    /// Who is told.
    pub handler: H,
}

/// What a filter makes of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilteredUpdate {
    /// Both pass: an update.
    Update,
    /// Only the new one passes: an add, never of the first list.
    Add,
    /// Only the old one passes: a delete of the old one.
    Delete,
    /// None passes: nothing.
    Nothing,
}

/// What a filter makes of an update, by whether the old and the new object pass.
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
