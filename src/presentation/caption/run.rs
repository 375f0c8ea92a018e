//! Captions of the program: its calls, the switches of the run, and the informers beside the shown one.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{ObjectRef, ProcessMode, Request, RunFact};
use deltascope_cache::key::Key;

use super::spans::{Span, mono, text};
use super::{Sentences, Writer};
use crate::decimal::duration;
use deltascope_world::text::Lang;

names! {
    /// The Chinese names of these facts.
    RunFact {
        Called = "程序调用队列",
        ModeSet = "设置处理循环",
        PopAsked = "请求一次 Pop",
        KnownObjectsSet = "设置 KnownObjects" as "KnownObjects switched",
        BesideRequested = "旁边的 informer 发出请求" as "requested by the informer beside",
        BesideStored = "旁边的 informer 写入存储" as "stored by the informer beside",
    }
}

impl Writer<'_> {
    pub(super) fn run_sentences(&self, fact: &RunFact) -> Sentences {
        match fact {
            RunFact::Called { delta_type, object } => self.called(*delta_type, object),
            RunFact::ModeSet { mode } => self.mode_set(*mode),
            RunFact::PopAsked { asked } => self.pop_asked(*asked),
            RunFact::KnownObjectsSet { on } => self.known_objects_set(*on),
            RunFact::BesideRequested { informer, request } => {
                self.beside_requested(*informer, *request)
            }
            RunFact::BesideStored {
                informer,
                key,
                object,
            } => self.beside_stored(*informer, key, object.as_ref()),
        }
    }

    fn called(&self, delta_type: DeltaType, object: &ObjectRef) -> Sentences {
        let function = match delta_type {
            DeltaType::Added => "Add",
            DeltaType::Updated => "Update",
            DeltaType::Deleted => "Delete",
            DeltaType::Replaced | DeltaType::ReplacedAll => "Replace",
            DeltaType::Sync | DeltaType::SyncAll => "Resync",
            DeltaType::Bookmark => "Bookmark",
        };
        told!(
            self,
            "The program called {function} with {object}.",
            "程序用 {object} 调用了 {function}。",
            "There is no Reflector here: the program itself says what happened, and the queue believes it.",
            "这里没有 Reflector：发生了什么由程序自己声明，队列照单全收。",
            function = mono(format!("{}.{function}", self.picture.queue.kind.id())),
            object = self.object(object)
        )
    }

    fn mode_set(&self, mode: ProcessMode) -> Sentences {
        let what = match mode {
            ProcessMode::Free => say!(
                self,
                "The process loop runs freely: it pops whenever something is queued.",
                "处理循环自由运行：队列里一有内容就 Pop。",
            ),
            ProcessMode::Paced(ms) => say!(
                self,
                "The process loop rests {ms} after each Pop.",
                "处理循环每次 Pop 之后停顿 {ms}。",
                ms = text(duration(self.lang, u64::from(ms))),
            ),
            ProcessMode::Held => say!(
                self,
                "The process loop is held: it pops only when asked.",
                "处理循环已暂停：只有要求时才 Pop。",
            ),
        };
        let why = match mode {
            ProcessMode::Free => say!(
                self,
                "The queue stays short, so one hardly sees deltas pile up: that is the normal case.",
                "队列始终很短，几乎看不到 Delta 堆积：这才是常态。",
            ),
            ProcessMode::Paced(_) | ProcessMode::Held => say!(
                self,
                "What comes in meanwhile piles up. A real process loop never waits like this; the page does, to let one look.",
                "这期间进来的变更会堆积起来。真实的处理循环不会这样等待，这里只是为了便于观察。",
            ),
        };
        (what, vec![why])
    }

    fn pop_asked(&self, asked: u32) -> Sentences {
        (
            say!(self, "One Pop was asked for.", "点击了“Pop 一次”。"),
            vec![if asked > 1 {
                say!(
                    self,
                    "{n} are asked for and have not come yet.",
                    "共有 {n} 次已要求而尚未执行。",
                    n = text(asked.to_string()),
                )
            } else {
                say!(
                    self,
                    "The process loop is held: it pops once for each time it is asked.",
                    "处理循环处于手动模式：点击一次，Pop 一次。",
                )
            }],
        )
    }

    fn known_objects_set(&self, on: bool) -> Sentences {
        if on && self.picture.store.items.is_empty() {
            told!(
                self,
                "KnownObjects is on: the program keeps an Indexer from here on, and the {queue} can ask it.",
                "KnownObjects 已打开：从这里起程序维护一个 Indexer，{queue} 可以向它查询。",
                "The Indexer is empty now: it knows only what is popped from here on. Delete keeps what it knows or what is queued.",
                "Indexer 此刻是空的：只认识从这里起 Pop 出来的对象。Delete 会保留它认识的或已在队列里的。",
                queue = self.queue()
            )
        } else if on {
            told!(
                self,
                "KnownObjects is on: the {queue} can ask the Indexer what it holds.",
                "KnownObjects 已打开：{queue} 可以询问 Indexer 里有什么。",
                "Now Delete keeps what the Indexer knows, Replace finds missed deletions, and Resync has something to send.",
                "这样 Delete 会保留 Indexer 认识的对象，Replace 能发现错过的删除，Resync 也有内容可发。",
                queue = self.queue()
            )
        } else {
            told!(
                self,
                "KnownObjects is off: Delete looks only at what is in the {queue} right now.",
                "KnownObjects 已关闭：Delete 只看此刻 {queue} 里有什么。",
                "A delete of what was popped already is dropped, a relist misses it as well, and Resync does nothing.",
                "已被 Pop 的对象，其删除会被丢弃，重新 List 也发现不了，Resync 则什么都不做。",
                queue = self.queue()
            )
        }
    }

    pub(super) fn beside(&self, informer: u8) -> Vec<Span> {
        let who = match (self.picture.beside_number(informer), self.lang) {
            (Some(number), Lang::En) => format!("Informer {number}"),
            (Some(number), Lang::Zh) => format!("informer {number}"),
            (None, Lang::En) => "The shared informer beside".to_owned(),
            (None, Lang::Zh) => "旁边的共享 informer".to_owned(),
        };
        text(who)
    }

    fn beside_requested(&self, informer: u8, request: Request) -> Sentences {
        let room = self.picture.beside.get(usize::from(informer));
        let why = if room.is_some_and(|room| room.shared) {
            say!(
                self,
                "One request, however many handlers share the informer.",
                "无论有多少个 handler 共享这个 informer，请求只有一次。"
            )
        } else {
            say!(
                self,
                "Its Reflector knows of no other: the API server answers each one for itself.",
                "与其他 Reflector 相互独立：API server 要逐个应答。"
            )
        };
        let what = if room.is_some_and(|room| room.shared) {
            say!(
                self,
                "{who} sent a {request} of its own.",
                "{who} 自己发出了 {request}。",
                who = self.beside(informer),
                request = mono(request.as_str()),
            )
        } else {
            say!(
                self,
                "{who}, shown beside to compare with, sent a {request} of its own.",
                "旁边用来对照的 {who} 自己发出了 {request}。",
                who = self.beside(informer),
                request = mono(request.as_str()),
            )
        };
        (what, vec![why])
    }

    fn beside_stored(&self, informer: u8, key: &Key, object: Option<&ObjectRef>) -> Sentences {
        let what = say!(
            self,
            "{who} {did} {name}.",
            "{who} {did} {name}。",
            who = self.beside(informer),
            did = text(match (object.is_some(), self.lang) {
                (true, Lang::En) => "stored, in a store of its own,",
                (true, Lang::Zh) => "在自己的存储里存入了",
                (false, Lang::En) => "removed, from a store of its own,",
                (false, Lang::Zh) => "从自己的存储里移除了",
            }),
            name = self.name(key),
        );
        let why = say!(
            self,
            "The Indexer on the board has its own copy of it.",
            "画面上的 Indexer 另有一份。"
        );
        (what, vec![why])
    }
}
