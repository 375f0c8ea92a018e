use proptest::prelude::*;

use super::*;

const ITEMS: [&str; 4] = ["a", "b", "c", "d"];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn queue() -> Workqueue<&'static str> {
    Workqueue::new(default_controller_rate_limiter())
}

#[test]
fn one_worker_at_a_time_has_an_item_and_none_is_lost() {
    let mut facts: Vec<(Step, Fact)> = Vec::new();
    let trace = &mut facts;
    let mut queue = queue();
    queue.add("a", trace);
    queue.add("b", trace);
    queue.add("a", trace);
    assert_eq!(queue.get(0, trace), Ok(Some("a")));
    queue.add("a", trace);
    queue.add("a", trace);
    assert_eq!(queue.get(1, trace), Ok(Some("b")));
    assert_eq!(queue.get(2, trace), Ok(None));
    assert!(queue.dirty_while_processing().eq(&["a"]));
    queue.done(&"b", trace);
    queue.done(&"a", trace);
    assert_eq!(queue.get(1, trace), Ok(Some("a")));
    let key = |name: &str| Key::from(name);
    let added = |name: &str, place| {
        Fact::Work(WorkFact::WorkAdded {
            key: key(name),
            place,
        })
    };
    let taken = |worker, name: &str| {
        Fact::Work(WorkFact::WorkTaken {
            worker,
            key: key(name),
        })
    };
    let done = |name: &str, again| {
        Fact::Work(WorkFact::WorkDone {
            key: key(name),
            again,
        })
    };
    let facts: Vec<_> = facts.into_iter().map(|(_, fact)| fact).collect();
    assert_eq!(
        facts,
        [
            added("a", WorkPlace::Queue),
            added("b", WorkPlace::Queue),
            added("a", WorkPlace::Duplicate),
            taken(0, "a"),
            added("a", WorkPlace::Dirty),
            added("a", WorkPlace::Duplicate),
            taken(1, "b"),
            done("b", false),
            done("a", true),
            taken(1, "a"),
        ]
    );
}

#[test]
fn the_earlier_time_counts() {
    let mut queue = queue();
    let trace = &mut ();
    queue.add_after("a", ms(30), ms(0), trace);
    queue.add_after("b", ms(20), ms(0), trace);
    queue.add_after("a", ms(50), ms(0), trace);
    assert_eq!(queue.next_due(), Some(ms(20)));
    queue.add_after("a", ms(5), ms(1), trace);
    assert_eq!(queue.next_due(), Some(ms(6)));
    queue.advance(ms(5), trace);
    assert!(queue.is_empty());
    queue.advance(ms(6), trace);
    assert!(queue.queued().eq(&["a"]));
    assert_eq!(queue.next_due(), Some(ms(20)));
    // An item added without a delay is queued at once, even if it is already waiting.
    queue.add_after("b", ms(0), ms(7), trace);
    assert!(queue.queued().eq(&["a", "b"]));
    queue.advance(ms(20), trace);
    assert_eq!((queue.len(), queue.next_due()), (2, None));
}

#[test]
fn the_controller_limiter_delays_each_item_and_all_items_together() {
    let mut queue = queue();
    let trace = &mut ();
    for (failure, delay) in [5, 10, 20, 40, 80, 160].into_iter().enumerate() {
        queue.add_rate_limited("a", ms(0), trace);
        assert_eq!(queue.num_requeues(&"a") as usize, failure + 1);
        assert_eq!(queue.next_due(), Some(ms(delay)));
        queue.advance(ms(delay), trace);
    }
    queue.forget(&"a", trace);
    assert_eq!(queue.num_requeues(&"a"), 0);

    let mut limiter: Box<dyn RateLimiter<&str>> = default_controller_rate_limiter();
    let mut longest = Duration::ZERO;
    for _ in 0..40 {
        longest = limiter.when(&"a", ms(0));
    }
    assert_eq!(longest, Duration::from_secs(1000));
    // 40 of the first 100 tokens are used. The 101st retry waits for a token: a tenth of a
    // second.
    for number in 0..62_u64 {
        limiter.forget(&"b");
        let wait = if number < 60 { 5 } else { 100 * (number - 59) };
        assert_eq!(limiter.when(&"b", ms(0)), ms(wait), "{number}");
    }
    // Half a second later, three of the five new tokens are left.
    limiter.forget(&"b");
    assert_eq!(limiter.when(&"b", ms(500)), ms(5));
}

#[test]
fn the_other_limiters_return_their_delays() {
    let mut fast_slow = ItemFastSlow::new(ms(1), ms(9), 2);
    let delays: Vec<_> = (0..4).map(|_| fast_slow.when(&"a", ms(0))).collect();
    assert_eq!(delays, [ms(1), ms(1), ms(9), ms(9)]);
    assert_eq!(fast_slow.num_requeues(&"a"), 4);

    let mut cut = WithMaxWait::new(default_item_based_rate_limiter(), ms(3));
    let delays: Vec<_> = (0..4).map(|_| cut.when(&"a", ms(0))).collect();
    assert_eq!(delays, [ms(1), ms(2), ms(3), ms(3)]);

    for mut never in [Bucket::new(1.0, 0), Bucket::new(0.0, 1)] {
        RateLimiter::when(&mut never, &"a", ms(0));
        assert_eq!(RateLimiter::when(&mut never, &"a", ms(9)), Duration::MAX);
    }
    for mut always in [Bucket::new(f64::INFINITY, 0), Bucket::new(f64::MAX, 1)] {
        RateLimiter::when(&mut always, &"a", ms(0));
        assert_eq!(RateLimiter::when(&mut always, &"a", ms(0)), ms(0));
    }
}

#[test]
fn a_shutdown_lets_workers_finish_what_is_queued() {
    for drain in [false, true] {
        let mut queue = queue();
        let trace = &mut ();
        queue.add("a", trace);
        queue.add("b", trace);
        queue.add_after("c", ms(1), ms(0), trace);
        assert_eq!(queue.get(0, trace), Ok(Some("a")));
        queue.add("a", trace);
        if drain {
            queue.shut_down_with_drain(trace);
        } else {
            queue.shut_down(trace);
        }
        assert!(queue.is_shutting_down());
        assert_eq!(queue.is_draining(), drain);
        queue.add("d", trace);
        queue.add_after("d", ms(1), ms(0), trace);
        queue.advance(ms(9), trace);
        assert_eq!(queue.get(1, trace), Ok(Some("b")));
        assert_eq!(queue.get(1, trace), Err(ShutDown));
        // It was dirty before the shutdown.
        queue.done(&"a", trace);
        assert_eq!(queue.get(1, trace), Ok(Some("a")));
        queue.done(&"a", trace);
        assert_eq!(queue.is_draining(), drain);
        queue.done(&"b", trace);
        assert!(!queue.is_draining());
    }
}

#[derive(Clone, Debug)]
enum Op {
    Add(usize),
    AddAfter(usize, u64),
    AddRateLimited(usize),
    Get,
    Done(usize),
    Forget(usize),
    Tick(u64),
    ShutDown(bool),
}

fn op() -> impl Strategy<Value = Op> {
    let item = 0..ITEMS.len();
    prop_oneof![
        6 => item.clone().prop_map(Op::Add),
        4 => (item.clone(), 0..12_u64).prop_map(|(item, ms)| Op::AddAfter(item, ms)),
        3 => item.clone().prop_map(Op::AddRateLimited),
        6 => Just(Op::Get),
        5 => item.clone().prop_map(Op::Done),
        1 => item.prop_map(Op::Forget),
        4 => (1..9_u64).prop_map(Op::Tick),
        1 => any::<bool>().prop_map(Op::ShutDown),
    ]
}

/// A naive implementation of the same queue.
#[derive(Default)]
struct Model {
    queue: Vec<usize>,
    dirty: Vec<usize>,
    processing: Vec<usize>,
    waiting: Vec<(u64, usize)>,
    failures: [u32; ITEMS.len()],
    shut: bool,
}

impl Model {
    fn add(&mut self, item: usize) {
        if self.shut || self.dirty.contains(&item) {
            return;
        }
        self.dirty.push(item);
        if !self.processing.contains(&item) {
            self.queue.push(item);
        }
    }

    fn add_after(&mut self, item: usize, delay: u64, now: u64) {
        if self.shut || delay == 0 {
            return self.add(item);
        }
        match self.waiting.iter().position(|waiting| waiting.1 == item) {
            Some(place) if self.waiting[place].0 <= now + delay => return,
            Some(place) => drop(self.waiting.remove(place)),
            None => {}
        }
        self.waiting.push((now + delay, item));
    }

    fn advance(&mut self, now: u64) {
        self.waiting.sort_by_key(|waiting| waiting.0);
        while let Some(&(moment, item)) = self.waiting.first()
            && moment <= now
        {
            self.waiting.remove(0);
            self.add(item);
        }
    }
}

proptest! {
    #[test]
    fn behaves_like_a_naive_model(ops in proptest::collection::vec(op(), 1..120)) {
        let limiter = ItemExponentialFailure::new(ms(1), ms(6));
        let mut queue = Workqueue::new(Box::new(limiter));
        let mut model = Model::default();
        let trace = &mut ();
        let mut now = 0;
        for op in ops {
            match op {
                Op::Add(item) => {
                    queue.add(ITEMS[item], trace);
                    model.add(item);
                }
                Op::AddAfter(item, delay) => {
                    queue.add_after(ITEMS[item], ms(delay), ms(now), trace);
                    model.add_after(item, delay, now);
                }
                Op::AddRateLimited(item) => {
                    queue.add_rate_limited(ITEMS[item], ms(now), trace);
                    let delay = (1_u64 << model.failures[item].min(9)).min(6);
                    model.failures[item] += 1;
                    model.add_after(item, delay, now);
                }
                Op::Get => {
                    let expected = match model.queue.first() {
                        Some(_) => {
                            let item = model.queue.remove(0);
                            model.dirty.retain(|one| *one != item);
                            if !model.processing.contains(&item) {
                                model.processing.push(item);
                            }
                            Ok(Some(ITEMS[item]))
                        }
                        None if model.shut => Err(ShutDown),
                        None => Ok(None),
                    };
                    prop_assert_eq!(queue.get(0, trace), expected);
                }
                Op::Done(item) => {
                    queue.done(&ITEMS[item], trace);
                    model.processing.retain(|one| *one != item);
                    if model.dirty.contains(&item) {
                        model.queue.push(item);
                    }
                }
                Op::Forget(item) => {
                    queue.forget(&ITEMS[item], trace);
                    model.failures[item] = 0;
                }
                Op::Tick(delta) => {
                    now += delta;
                    queue.advance(ms(now), trace);
                    model.advance(now);
                }
                Op::ShutDown(drain) => {
                    if drain {
                        queue.shut_down_with_drain(trace);
                    } else {
                        queue.shut_down(trace);
                    }
                    prop_assert_eq!(queue.is_draining(), drain && !model.processing.is_empty());
                    model.shut = true;
                    model.waiting.clear();
                }
            }
            let queued: Vec<_> = model.queue.iter().map(|item| ITEMS[*item]).collect();
            prop_assert!(queue.queued().eq(&queued));
            prop_assert_eq!(queue.processing().len(), model.processing.len());
            prop_assert_eq!(queue.waiting().len(), model.waiting.len());
            let next = model.waiting.iter().map(|waiting| ms(waiting.0)).min();
            prop_assert_eq!(queue.next_due(), next);
            for (item, failures) in ITEMS.iter().zip(model.failures) {
                prop_assert_eq!(queue.num_requeues(item), failures);
            }
            // A clone is equal but independent.
            queue = queue.clone();
        }
    }
}
