//! Captions of the locks.

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, LockName};
use deltascope_cache::step::Step;
use deltascope_replay::picture::LockState;

use crate::caption::spans::{Span, mono};
use crate::caption::{Sentences, Writer};

impl Writer<'_> {
    pub(super) fn lock_taken(&self, lock: LockName, by: Actor) -> Sentences {
        (
            say!(
                self,
                "{by} took {lock}.",
                "{by} 拿到了 {lock}。",
                by = self.actor(by),
                lock = self.lock(lock)
            ),
            vec![self.why_locked(lock, by)],
        )
    }

    fn why_locked(&self, lock: LockName, by: Actor) -> Vec<Span> {
        match (self.lock_state(lock).waiting.first(), lock) {
            (Some(waiting), _) => say!(
                self,
                "{waiting} still waits for it.",
                "{waiting} 还在等这把锁。",
                waiting = self.actor(*waiting),
            ),
            (None, LockName::Queue) => say!(
                self,
                "There is one lock for everything: until it is released, Add, Pop and HasSynced have to wait.",
                "整个队列只有一把锁：归还之前，Add、Pop 和 HasSynced 都要等。",
            ),
            (None, LockName::BlockDeltas) if by == Actor::ProcessLoop => say!(
                self,
                "No handler comes or goes until what was popped is stored and the handlers are notified.",
                "在 Pop 出的内容存好、通知完之前，不能增减 handler。"
            ),
            (None, LockName::BlockDeltas) => say!(
                self,
                "Nothing is processed meanwhile: a handler that comes or goes misses no change and gets none twice.",
                "这期间不处理任何 Delta：增减的 handler 既不会漏掉变更，也不会收到两次。"
            ),
        }
    }

    pub(super) fn lock_awaited(&self, lock: LockName, by: Actor, holder: Actor) -> Sentences {
        if by == holder {
            told!(
                self,
                "{by} waits for itself: it has {lock}.",
                "{by} 在等自己：{lock} 就在它手里。",
                "The handler was called inside Pop, and calls `HasSynced`, which takes the lock that Pop has. This is a deadlock: the lock is never released, nothing is put in or popped any more.",
                "handler 在 Pop 里面被调用，又去调用 `HasSynced`，要拿的正是 Pop 手里的那把锁。不会再有谁归还它：从此既放不进，也 Pop 不出。",
                by = self.actor(by),
                lock = self.lock(lock)
            )
        } else {
            (
                say!(
                    self,
                    "{by} has to wait: {holder} has {lock}.",
                    "{by} 必须等待：{lock} 在 {holder} 手里。",
                    by = self.actor(by),
                    holder = self.actor(holder),
                    lock = self.lock(lock)
                ),
                vec![self.why_awaited(lock, holder)],
            )
        }
    }

    fn why_awaited(&self, lock: LockName, holder: Actor) -> Vec<Span> {
        if lock == LockName::BlockDeltas {
            say!(
                self,
                "A handler is added or removed between two Pops, never in the middle of one.",
                "handler 的增减只发生在两次 Pop 之间，不会在中途。"
            )
        } else if self.lock_state(lock).waiting.contains(&holder) {
            say!(
                self,
                "{holder} waits for itself and will not give it back, so this has no end.",
                "{holder} 在等自己，不会归还，所以永远等下去。",
                holder = self.actor(holder),
            )
        } else if holder == Actor::ProcessLoop && self.picture.generation == Generation::Atomic {
            say!(
                self,
                "From 0.36 on Pop has it only to take and to count; while it processes only if very much waits.",
                "从 0.36 起，Pop 只在取出和计数时占锁；只有积压极多时，处理期间也不放。"
            )
        } else if holder == Actor::ProcessLoop {
            say!(
                self,
                "The lock stays taken while what was popped is processed, so slow processing blocks what fills the queue, too.",
                "处理 Pop 出来的内容期间锁一直被占着，所以处理得慢，往队列里放东西的一方也会被拖住。",
            )
        } else {
            say!(
                self,
                "Putting something in and popping it never happen at the same time.",
                "放入和 Pop 不会同时进行。",
            )
        }
    }

    pub(super) fn lock_released(&self, lock: LockName, by: Actor) -> Sentences {
        (
            say!(
                self,
                "{by} gave {lock} back.",
                "{by} 归还了 {lock}。",
                by = self.actor(by),
                lock = self.lock(lock)
            ),
            vec![match self.lock_state(lock).waiting.first() {
                Some(waiting) => say!(
                    self,
                    "{waiting} is next.",
                    "接下来轮到 {waiting}。",
                    waiting = self.actor(*waiting)
                ),
                None if self.record.step == Step::PopRelease => say!(
                    self,
                    "It processes without the lock (from 0.36 on), so the queue can be filled meanwhile.",
                    "它在不持有锁的情况下处理（从 0.36 起），这期间仍可往队列里放东西。"
                ),
                None => say!(self, "Nothing waits for it.", "没有人在等它。"),
            }],
        )
    }

    fn lock(&self, lock: LockName) -> Vec<Span> {
        match lock {
            LockName::Queue => say!(
                self,
                "the lock of the {queue}",
                "{queue} 的锁",
                queue = self.queue()
            ),
            LockName::BlockDeltas => say!(
                self,
                "the lock {name}",
                "锁 {name}",
                name = mono("blockDeltas")
            ),
        }
    }

    fn lock_state(&self, lock: LockName) -> &LockState {
        match lock {
            LockName::Queue => &self.picture.lock,
            LockName::BlockDeltas => &self.picture.block_deltas,
        }
    }
}
