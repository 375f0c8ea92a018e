//! Captions of what Pop passes to the process function, and of what is requeued.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{ObjectRef, ProcessMode};
use deltascope_cache::key::Key;
use deltascope_replay::picture::QueueKind;

use crate::caption::spans::{Span, boolean, delta, text};
use crate::caption::{Sentences, Writer};

impl Writer<'_> {
    pub(super) fn key_popped(
        &self,
        key: &Key,
        deltas: &[(DeltaType, ObjectRef)],
        is_in_initial_list: bool,
    ) -> Sentences {
        let what = match (self.picture.queue.kind, deltas) {
            (QueueKind::Fifo, _) => say!(
                self,
                "Pop took {name} with its newest object.",
                "Pop 取走了 {name} 和它最新的对象。",
                name = self.name(key),
            ),
            (_, [(only, _)]) => say!(
                self,
                "Pop took {name} with its one delta: {delta}.",
                "Pop 取走了 {name} 和它唯一的 Delta：{delta}。",
                name = self.name(key),
                delta = delta(*only),
            ),
            (_, all) => say!(
                self,
                "Pop took {name} with all its {n} deltas.",
                "Pop 取走了 {name} 的全部 {n} 个 Delta。",
                name = self.name(key),
                n = text(all.len().to_string()),
            ),
        };
        let mut why = Vec::new();
        if self.picture.queue.kind == QueueKind::DeltaFifo && deltas.len() > 1 {
            why.push(say!(
                self,
                "Oldest first: {deltas}.",
                "从旧到新：{deltas}。",
                deltas = self.delta_list(deltas),
            ));
        }
        why.push(say!(
            self,
            "`HasSynced was {synced} → isInInitialList = {flag}`.",
            "`HasSynced 此前已为 {synced} → isInInitialList = {flag}`。",
            synced = boolean(!is_in_initial_list),
            flag = boolean(is_in_initial_list),
        ));
        match self.picture.queue.kind {
            QueueKind::DeltaFifo if deltas.len() > 1 => why.push(say!(
                self,
                "What comes for it now starts a new stack.",
                "之后它的变更会在队尾重新堆起。",
            )),
            QueueKind::DeltaFifo | QueueKind::Fifo | QueueKind::RealFifo => {}
        }
        if let ProcessMode::Held = self.picture.pop.mode {
            why.push(say!(
                self,
                "The process loop is held here: it pops only when asked.",
                "处理循环处于手动模式：点击一次才 Pop 一次。",
            ));
        }
        (what, why)
    }

    fn delta_list(&self, deltas: &[(DeltaType, ObjectRef)]) -> Vec<Span> {
        // More would not fit into the strip, and the stage shows all of them.
        const SHOWN: usize = 4;
        let mut spans = Vec::new();
        for (index, (delta_type, _)) in deltas.iter().take(SHOWN).enumerate() {
            if index > 0 {
                spans.push(Span::Text(self.comma().into()));
            }
            spans.push(Span::Delta(*delta_type, delta_type.as_str().into()));
        }
        if deltas.len() > SHOWN {
            spans.push(Span::Text("…".into()));
        }
        spans
    }

    pub(super) fn requeued(&self, key: &Key, added: bool) -> Sentences {
        if added {
            told!(
                self,
                "{name} went back to the end of the queue.",
                "{name} 回到了队尾。",
                "`ErrRequeue, {name} is queued = no → put back`. It has lost its place, and newer deltas will join behind the old ones.",
                "`ErrRequeue，{name} 已在队列 = 否 → 放回`。它失去了原来的位置，新的 Delta 会接在旧的后面。",
                name = self.name(key)
            )
        } else {
            told!(
                self,
                "{name} was not put back: newer content is queued for it.",
                "{name} 没有放回：队列里已有它更新的内容。",
                "`ErrRequeue, {name} is queued = yes → drop`: what failed is lost.",
                "`ErrRequeue，{name} 已在队列 = 是 → 丢弃`：处理失败的内容就此丢失。",
                name = self.name(key)
            )
        }
    }
}
