//! Lists: pages, streaming lists, and retries of failed lists.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crate::fact::{BackoffReason, EventType, Fact, ListAgain, ObjectRef, ReflectorFact, Rv};
use crate::lister_watcher::{ApiError, ApiErrorKind, ListPage, ListRequest, Table};
use crate::object::{Item, Object};
use crate::queue::{Release, count, transform};
use crate::step::Step;
use crate::trace::Trace;

use super::{
    DEFAULT_PAGE_SIZE, FROM_CACHE, Need, Next, Pager, Reflector, ReflectorError, ReflectorState,
    Stage, StoreCall,
};

impl<O: Object> Reflector<O> {
    pub(super) fn list(&mut self, trace: &mut impl Trace) {
        let resource_version = if self.unavailable {
            Rv::default()
        } else if self.last_sync.is_empty() {
            Rv::from(FROM_CACHE)
        } else {
            Arc::clone(&self.last_sync)
        };
        let from_cache = &*resource_version == FROM_CACHE;
        let page_size = if self.options.page_size != 0 {
            self.options.page_size
        } else if self.paginated_result || from_cache || resource_version.is_empty() {
            DEFAULT_PAGE_SIZE
        } else {
            // Without a limit, a server can answer from its watch cache.
            0
        };
        self.state = ReflectorState::List;
        self.stage = Stage::List;
        self.pager = Pager {
            resource_version,
            page_size,
            from_cache,
            ..Pager::default()
        };
        self.request_page(trace);
    }

    /// Requests the pager's current page.
    pub(super) fn request_page(&mut self, trace: &mut impl Trace) {
        let pager = &self.pager;
        let continues = !pager.token.is_empty();
        let request = ListRequest {
            // A server rejects a version together with a token.
            resource_version: if continues {
                Rv::default()
            } else {
                Arc::clone(&pager.resource_version)
            },
            resource_version_match: None,
            limit: if pager.full { 0 } else { pager.page_size },
            continue_token: Arc::clone(&pager.token),
        };
        trace.fact(Step::ReflectorList, || {
            Fact::Reflector(ReflectorFact::ListRequested {
                rv: Arc::clone(&request.resource_version),
                rv_match: "",
                limit: request.limit,
                continues,
            })
        });
        self.need = Need::List(request);
    }

    pub(super) fn page(&mut self, now: Duration, page: ListPage<O>, trace: &mut impl Trace) {
        let pager = &mut self.pager;
        let ListPage {
            resource_version,
            mut items,
            continue_token,
            table,
        } = page;
        if pager.full {
            // Drop the earlier pages: they are older.
            return self.list_complete(now, items, resource_version, table, trace);
        }
        let page_count = count(items.len());
        let last = continue_token.is_empty();
        let (items, rv) = match pager.so_far.take() {
            None => (items, resource_version),
            Some((mut so_far, rv)) => {
                so_far.append(&mut items);
                (so_far, rv)
            }
        };
        if last {
            return self.list_complete(now, items, rv, table, trace);
        }
        trace.fact(Step::ReflectorPage, || {
            Fact::Reflector(ReflectorFact::PageReceived {
                count: page_count,
                total: count(items.len()),
            })
        });
        pager.so_far = Some((items, rv));
        pager.token = continue_token;
        pager.paginated = true;
        self.request_page(trace);
    }

    pub(super) fn list_failed(&mut self, now: Duration, error: ApiError, trace: &mut impl Trace) {
        let pager = &mut self.pager;
        let token_expired = error.kind == ApiErrorKind::Expired && !pager.token.is_empty();
        let next = if token_expired {
            ListAgain::PageExpired
        } else if pager.again {
            ListAgain::Later
        } else if error.is_expired() {
            ListAgain::Expired
        } else if error.is_too_large_resource_version() {
            ListAgain::TooLarge
        } else {
            ListAgain::Later
        };
        trace.fact(Step::ReflectorListFailed, || {
            Fact::Reflector(ReflectorFact::ListFailed {
                error: Arc::clone(&error.message),
                next,
            })
        });
        match next {
            ListAgain::PageExpired => {
                pager.full = true;
                pager.token = Arc::default();
                pager.so_far = None;
                self.request_page(trace);
            }
            ListAgain::Expired | ListAgain::TooLarge => {
                self.pager = Pager {
                    page_size: pager.page_size,
                    from_cache: pager.from_cache,
                    again: true,
                    ..Pager::default()
                };
                self.set_unavailable(true, Step::ReflectorUnavailable, trace);
                self.request_page(trace);
            }
            ListAgain::Later => {
                self.give_up_list(now, error, trace);
            }
        }
    }

    pub(super) fn give_up_list(&mut self, now: Duration, error: ApiError, trace: &mut impl Trace) {
        self.pager = Pager::default();
        let type_description = Arc::clone(&self.options.type_description);
        let error = ReflectorError::List {
            type_description,
            error,
        };
        self.report(error, trace);
        self.end_round(now, BackoffReason::ListFailed, trace);
    }

    pub(super) fn list_complete(
        &mut self,
        now: Duration,
        items: Vec<Item<O>>,
        rv: Rv,
        table: Option<Table>,
        trace: &mut impl Trace,
    ) {
        if let Some(table) = table
            && self.options.release >= Release::V0_36
        {
            let kind = &self.options.type_description;
            let error = format!("unsupported list gvk: {table}, type: {kind}");
            let error = ApiError::new(ApiErrorKind::Other, &error);
            trace.fact(Step::ReflectorListFailed, || {
                Fact::Reflector(ReflectorFact::ObjectRejected {
                    error: Arc::clone(&error.message),
                })
            });
            return self.give_up_list(now, error, trace);
        }
        let pager = mem::take(&mut self.pager);
        // The server returned pages although it could have used its watch cache: it has none.
        self.paginated_result |= pager.from_cache && pager.paginated;
        trace.fact(Step::ReflectorList, || {
            Fact::Reflector(ReflectorFact::ListReceived {
                rv: Arc::clone(&rv),
                count: count(items.len()),
            })
        });
        self.set_unavailable(false, Step::ReflectorUnavailable, trace);
        self.stage = Stage::Replace(Arc::clone(&rv));
        self.need = Need::Store(StoreCall::Replace(items, rv));
    }

    /// The reason to skip an event with this object, if any.
    pub(super) fn rejects(&self, object: &O, streaming: bool) -> Option<String> {
        let options = &self.options;
        if let Some(expected) = &options.expected_type
            && let Err(error) = expected(object)
        {
            return Some(error);
        }
        let looks = match streaming {
            true => options.release >= Release::V0_34,
            false => options.release >= Release::V0_36,
        };
        let table = options.table_check.as_ref().filter(|_| looks)?(object)?;
        Some(format!("Unsupported watch event object gvk: {table}"))
    }

    pub(super) fn open_stream(&mut self, now: Duration, trace: &mut impl Trace) {
        self.temporary_store.clear();
        let resource_version = if self.unavailable {
            Rv::default()
        } else {
            Arc::clone(&self.last_sync)
        };
        self.state = ReflectorState::Stream;
        self.stage = Stage::Stream;
        self.request_watch(now, resource_version, true, trace);
    }

    pub(super) fn stream_failed(
        &mut self,
        now: Duration,
        error: ReflectorError,
        trace: &mut impl Trace,
    ) {
        match &error {
            ReflectorError::Watch(error) if error.is_watch_error_retriable() => {
                self.back_off(now, Next::Stream, BackoffReason::StreamFailed, trace);
            }
            ReflectorError::Watch(error)
                if error.is_expired() || error.is_too_large_resource_version() =>
            {
                self.set_unavailable(true, Step::ReflectorStreamAgain, trace);
                self.open_stream(now, trace);
            }
            _ => self.fall_back(error, trace),
        }
    }

    /// Falls back to a regular list for this round.
    pub(super) fn fall_back(&mut self, error: ReflectorError, trace: &mut impl Trace) {
        trace.fact(Step::ReflectorFallBack, || {
            Fact::Reflector(ReflectorFact::StreamFellBack {
                error: error.to_string().into(),
            })
        });
        self.temporary_store.clear();
        self.list(trace);
    }

    pub(super) fn keep(
        &mut self,
        event: EventType,
        item: Item<O>,
        object: ObjectRef,
        trace: &mut impl Trace,
    ) {
        let transformer = match &self.options.transformer {
            Some(transformer) if self.options.release >= Release::V0_34 => Some(transformer),
            _ => None,
        };
        let key = object.key.clone();
        if event == EventType::Deleted {
            if self.options.order.keeps_place() {
                self.temporary_store.shift_remove(&key);
            } else {
                self.temporary_store.swap_remove(&key);
            }
        } else {
            let step = Step::ReflectorKeep;
            let item = match transformer {
                Some(transformer) => transform(transformer, &key, item, step, trace),
                None => Ok(item),
            };
            // Objects that fail to transform are missing in the list.
            let Ok(item) = item else { return };
            self.temporary_store.insert(key, item);
        }
        trace.fact(Step::ReflectorKeep, || {
            Fact::Reflector(ReflectorFact::InitialEventKept { event, object })
        });
    }

    pub(super) fn initial_events_ended(&mut self, rv: Rv, trace: &mut impl Trace) {
        let kept = mem::take(&mut self.temporary_store);
        trace.fact(Step::ReflectorStreamEnd, || {
            Fact::Reflector(ReflectorFact::InitialEventsEnded {
                rv: Arc::clone(&rv),
                count: count(kept.len()),
            })
        });
        self.set_unavailable(false, Step::ReflectorStreamUsed, trace);
        self.state = ReflectorState::Watch;
        let mut kept: Vec<_> = kept.into_iter().collect();
        self.options.order.sort(&mut kept, |(key, _)| key);
        let items = kept.into_iter().map(|(_, item)| item).collect();
        self.stage = Stage::ReplaceStream(Arc::clone(&rv));
        self.need = Need::Store(StoreCall::Replace(items, rv));
    }
}
