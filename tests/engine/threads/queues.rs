//! The queues and the workqueue: which threads wait, which are woken, and which item each gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::queue::{ProcessOutcome, Release};
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions};
use deltascope::cache::rng::Rng;
use deltascope::cache::threads::{BlockingQueue, BlockingWorkqueue, Clock};
use deltascope::cache::workqueue::{ItemFastSlow, ShutDown, default_controller_rate_limiter};
use k8s_openapi::api::core::v1::Pod;

use super::{HANGS, pod};

#[test]
fn pop_waits_for_an_item_and_ends_when_the_queue_is_closed() {
    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let delta = DeltaFifo::new(DeltaFifoOptions::new(key_func));
    let queue = BlockingQueue::new(delta, None);
    let (sender, popped) = channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                loop {
                    match queue.pop(|_| ProcessOutcome::Done) {
                        Ok((taken, end)) => sender.send((taken.key.to_string(), end)).unwrap(),
                        Err(error) => {
                            assert_eq!(error, Error::FifoClosed);
                            return;
                        }
                    }
                }
            });
        }
        for round in 0..200 {
            let name = format!("p{}", round % 7);
            queue.add(pod(&name, round)).unwrap();
            let (key, end) = popped.recv_timeout(HANGS).unwrap();
            assert_eq!((key, end), (format!("ns/{name}"), Ok(())));
        }
        assert!(queue.has_synced());
        queue.close();
    });
    assert!(queue.is_closed());
}

#[test]
fn an_atomic_queue_accepts_writes_while_a_batch_is_processed() {
    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let real = RealFifo::new(RealFifoOptions::new(key_func, Release::V0_36));
    let queue = BlockingQueue::new(real, None);
    queue.replace(vec![pod("a", 1)], "1").unwrap();
    assert!(!queue.has_synced());
    let process = |_: deltascope::cache::queue::Processing<'_, _>| {
        // With the lock held, this would be a deadlock.
        queue.update(pod("a", 2)).unwrap();
        queue.add(pod("b", 3)).unwrap();
        ProcessOutcome::Done
    };
    let (list, _) = queue.pop_batch(process).unwrap();
    assert_eq!(list.entries.len(), 1);
    assert!(queue.has_synced());
    let (batch, _) = queue.pop_batch(|_| ProcessOutcome::Done).unwrap();
    assert_eq!((batch.entries.len(), queue.depth()), (2, 0));
}

#[test]
fn no_two_workers_have_the_same_item_at_the_same_time() {
    const ITEMS: usize = 5;
    let queue = BlockingWorkqueue::new(default_controller_rate_limiter());
    let busy: Vec<AtomicBool> = (0..ITEMS).map(|_| AtomicBool::new(false)).collect();
    let (handled, added) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Ok(item) = queue.get() {
                    let item: String = item;
                    let number: usize = item.parse().unwrap();
                    assert!(!busy[number].swap(true, Ordering::AcqRel));
                    handled.fetch_add(1, Ordering::AcqRel);
                    busy[number].store(false, Ordering::Release);
                    queue.forget(&item);
                    queue.done(&item);
                }
            });
        }
        let adding: Vec<_> = (0..4)
            .map(|seed| {
                let (queue, added) = (&queue, &added);
                scope.spawn(move || {
                    let mut rng = Rng::new(seed);
                    for _ in 0..500 {
                        queue.add(rng.below(ITEMS as u64).to_string());
                        added.fetch_add(1, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        for thread in adding {
            thread.join().unwrap();
        }
        queue.shut_down_with_drain();
        queue.add("0".to_owned());
    });
    assert_eq!(queue.get(), Err(ShutDown));
    let handled = handled.load(Ordering::Acquire);
    assert!(
        handled >= ITEMS && handled <= added.load(Ordering::Acquire),
        "{handled}"
    );
}

#[test]
fn delayed_items_are_queued_when_the_clock_reaches_them() {
    let clock = Clock::manual();
    let limiter = ItemFastSlow::new(Duration::from_secs(1), Duration::from_secs(60), 1);
    let queue = BlockingWorkqueue::with_clock(Box::new(limiter), &clock);
    queue.add_after("later", Duration::from_secs(5));
    queue.add_rate_limited("failed");
    assert_eq!((queue.len(), queue.num_requeues(&"failed")), (0, 1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(queue.get(), Ok("failed"));
    assert!(queue.is_empty());
    clock.advance(Duration::from_secs(4));
    assert_eq!(queue.get(), Ok("later"));
    queue.shut_down();
    assert!(queue.is_shutting_down());
    assert_eq!(queue.get(), Err(ShutDown));
}
