//! Watches: events, bookmarks, and what follows the end of a watch.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crate::fact::{BackoffReason, EventType, Fact, ObjectRef, ReflectorFact, Rv};
use crate::key::Key;
use crate::key_func::meta_namespace_key_func;
use crate::lister_watcher::{ApiError, ApiErrorKind, ResourceVersionMatch, WatchRequest};
use crate::object::{Item, Object};
use crate::queue::Release;
use crate::step::Step;
use crate::trace::Trace;

use super::{
    FROM_CACHE, MIN_WATCH_TIMEOUT, NO_OBJECT, Need, Next, Reflector, ReflectorState, ResyncTimer,
    RetryWithDeadline, Stage, StoreCall, Stream, receive_step, watch_step,
};

impl<O: Object> Reflector<O> {
    /// The store holds the list: starts the resync timer. An open streaming list continues as a
    /// watch.
    pub(super) fn begin_watch(&mut self, now: Duration, trace: &mut impl Trace) {
        self.retry = RetryWithDeadline::default();
        self.start_resync_timer(now);
        if self.stream.open {
            self.state = ReflectorState::Watch;
            self.stage = Stage::Watch;
            self.stream = Stream {
                open: true,
                start: now,
                in_order: true,
                ..Stream::default()
            };
            self.await_event(now, trace);
        } else {
            self.open_watch(now, trace);
        }
    }

    pub(super) fn open_watch(&mut self, now: Duration, trace: &mut impl Trace) {
        self.state = ReflectorState::Watch;
        self.stage = Stage::Watch;
        self.request_watch(now, Arc::clone(&self.last_sync), false, trace);
    }

    pub(super) fn request_watch(
        &mut self,
        now: Duration,
        resource_version: Rv,
        initial_events: bool,
        trace: &mut impl Trace,
    ) {
        let step = watch_step(initial_events);
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv: Arc::clone(&resource_version),
                initial_events,
            })
        });
        let from_any = resource_version.is_empty() || &*resource_version == FROM_CACHE;
        self.stream = Stream {
            start: now,
            in_order: !from_any,
            ..Stream::default()
        };
        let min = self.options.min_watch_timeout.max(MIN_WATCH_TIMEOUT);
        let spread = min.mul_f64(self.options.jitter.unit().clamp(0.0, 1.0));
        self.need = Need::Watch(WatchRequest {
            resource_version,
            resource_version_match: initial_events.then_some(ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: initial_events.then_some(true),
            // The request has whole seconds.
            timeout: Duration::from_secs(min.saturating_add(spread).as_secs()),
        });
    }

    pub(super) fn await_event(&mut self, now: Duration, trace: &mut impl Trace) {
        if mem::take(&mut self.resync.failed) {
            self.close_stream(true, trace);
            return self.end_round(now, BackoffReason::WatchFailed, trace);
        }
        self.need = Need::Event;
    }

    pub(super) fn event(
        &mut self,
        now: Duration,
        event: EventType,
        item: Item<O>,
        streaming: bool,
        trace: &mut impl Trace,
    ) {
        // Only facts and a streaming list need it.
        let reference = |item: &Item<O>| {
            let key = meta_namespace_key_func(item).unwrap_or_else(|_| Key::from(""));
            item.to_ref(&key)
        };
        trace.fact(receive_step(streaming), || {
            Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object: reference(&item),
                ends_list: false,
            })
        });
        let rejected = match item.plain_object() {
            Some(object) => self.rejects(object, streaming),
            None => Some(NO_OBJECT.into()),
        };
        if let Some(error) = rejected {
            trace.fact(Step::ReflectorReject, || {
                Fact::Reflector(ReflectorFact::ObjectRejected {
                    error: error.into(),
                })
            });
            return;
        }
        self.stream.events += 1;
        self.stream.last_event = Some(now);
        self.stream.besides_added |= event != EventType::Added;
        if streaming {
            let object = reference(&item);
            return self.keep(event, item, object, trace);
        }
        let object = item.plain_object();
        let rv = object.map_or_else(Rv::default, |object| object.resource_version().into());
        self.stage = Stage::Dispatch(rv);
        self.need = Need::Store(match event {
            EventType::Modified => StoreCall::Update(item),
            EventType::Deleted => StoreCall::Delete(item),
            _ => StoreCall::Add(item),
        });
    }

    pub(super) fn bookmark(
        &mut self,
        now: Duration,
        rv: Rv,
        initial_events_end: bool,
        streaming: bool,
        trace: &mut impl Trace,
    ) {
        trace.fact(receive_step(streaming), || {
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Bookmark,
                object: ObjectRef::bare(Arc::clone(&rv)),
                ends_list: streaming && initial_events_end,
            })
        });
        self.stream.events += 1;
        self.stream.last_event = Some(now);
        self.stream.besides_added = true;
        if !streaming {
            if self.options.bookmark_store {
                self.stage = Stage::Dispatch(Arc::clone(&rv));
                self.need = Need::Store(StoreCall::Bookmark(rv));
            } else {
                self.note_version(now, rv, trace);
            }
        } else if initial_events_end {
            self.initial_events_ended(rv, trace);
        }
    }

    /// Records the version of an event that the store has received.
    pub(super) fn note_version(&mut self, now: Duration, rv: Rv, trace: &mut impl Trace) {
        self.stage = Stage::Watch;
        // Without a start version, the first ADDED events come in any order, so their versions do
        // not show the progress of the stream. client-go up to 0.35 ignored this.
        let Stream {
            in_order,
            besides_added,
            ..
        } = self.stream;
        if self.options.release >= Release::V0_36 && !in_order && !besides_added {
            return self.await_event(now, trace);
        }
        self.set_last_sync(Arc::clone(&rv), Step::ReflectorSetVersion, trace);
        if self.options.update_resource_version_store {
            self.stage = Stage::UpdateVersion;
            self.need = Need::Store(StoreCall::UpdateResourceVersion(rv));
        } else {
            self.await_event(now, trace);
        }
    }

    pub(super) fn watch_failed(&mut self, now: Duration, error: &ApiError, trace: &mut impl Trace) {
        let internal = error.kind == ApiErrorKind::InternalError;
        if internal {
            self.retry.after(now);
        }
        if error.kind == ApiErrorKind::TooManyRequests {
            self.close_stream(false, trace);
            self.back_off(now, Next::Watch, BackoffReason::WatchEnded, trace);
        } else if internal
            && self
                .retry
                .should_retry(now, self.options.max_internal_error_retry)
        {
            self.close_stream(false, trace);
            self.open_watch(now, trace);
        } else {
            self.close_stream(true, trace);
            let reason = if error.is_expired() {
                BackoffReason::Expired
            } else {
                BackoffReason::WatchFailed
            };
            self.end_round(now, reason, trace);
        }
    }

    pub(super) fn close_stream(&mut self, relist: bool, trace: &mut impl Trace) {
        let Stream { code, .. } = mem::take(&mut self.stream);
        let step = if matches!(self.stage, Stage::Stream) {
            Step::ReflectorStreamAgain
        } else {
            Step::ReflectorEnd
        };
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::WatchEnded { relist, code })
        });
    }

    pub(super) fn start_resync_timer(&mut self, now: Duration) {
        let period = self.options.resync_period;
        self.resync = ResyncTimer {
            at: (!period.is_zero()).then(|| now.saturating_add(period)),
            ..ResyncTimer::default()
        };
    }
}
