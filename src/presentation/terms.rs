//! The glossary: what the marked words of stories are, and others that one searches for. The page says it where a term
//! stands, the help and both books list all.

use deltascope_world::text::Lang;

/// A term, in English and in Chinese.
#[derive(Debug, PartialEq, Eq)]
pub struct Term {
    name: [&'static str; 2],
    says: [&'static str; 2],
}

impl Term {
    /// The word, as texts in this language mark it.
    #[must_use]
    pub fn name(&self, lang: Lang) -> &'static str {
        self.name[lang as usize]
    }

    /// What it is.
    #[must_use]
    pub fn says(&self, lang: Lang) -> &'static str {
        self.says[lang as usize]
    }
}

/// `"in English", "in Chinese": "what it is", "in Chinese";`
macro_rules! terms {
    ($($en:literal, $zh:literal: $says:literal, $says_zh:literal;)*) => {
        /// All terms, those that a reader meets first at the top.
        pub static TERMS: [Term; [$($en),*].len()] = [
            $(Term { name: [$en, $zh], says: [$says, $says_zh] },)*
        ];
    };
}

terms! {
    "informer", "informer":
        "The part of client-go in your program that keeps a cache of all objects of one kind, and tells your handlers of each change.",
        "client-go 在你的程序里运行的部分：维护某一类对象的本地缓存，并把每次变化通知给 handler。";
    "cache", "本地缓存":
        "The informer’s copy of the API server’s objects, in the memory of your program: to read it takes no request.",
        "informer 在程序内存里保存的一份对象副本，读它不用请求 API server。";
    "list", "List":
        "A request for all objects as they are now; the answer has a version, from which a watch goes on.",
        "取回当前全部对象的请求；结果带有版本号，watch 从这个版本继续。";
    "watch", "watch":
        "A request that stays open: the API server sends each change through it, as an event with the whole object.",
        "一个一直打开的请求：API server 通过它发来每次变化，每个事件都带着完整的对象。";
    "Reflector", "Reflector":
        "The part of an informer that lists and watches, and puts what it receives into the queue.",
        "informer 中负责 List 和 watch 的部分，把收到的内容放进队列。";
    "delta", "Delta":
        "One change, as the queue holds it: its type, such as Added, and the object as it was then.",
        "队列里的一次变化：类型（如 Added），以及当时的对象。";
    "DeltaFIFO", "DeltaFIFO":
        "The queue up to client-go 0.32: each key has its own list of deltas, and one Pop takes all of them.",
        "client-go 0.32 及以前的队列：每个 key 有自己的一串 Delta，一次 Pop 全部取走。";
    "RealFIFO", "RealFIFO":
        "The queue since client-go 0.33: one row of deltas, in the order in which they came.",
        "client-go 0.33 起的队列：所有 Delta 按到达顺序排成一列。";
    "key", "key":
        "The name under which an object is queued and stored: namespace/name.",
        "对象入队和存储时所用的名字：namespace/name。";
    "Pop", "Pop":
        "Takes what is first in the queue and processes it: the cache is updated, then the handlers are notified.",
        "取出队列最前面的内容并处理：先更新缓存，再通知 handler。";
    "Indexer", "Indexer":
        "The cache itself: it finds objects by their key, and by indices, such as the namespace.",
        "缓存本身：可以按 key 查找对象，也可以按索引（例如命名空间）查找。";
    "handler", "handler":
        "Your functions OnAdd, OnUpdate and OnDelete, which the informer calls after it has updated the cache.",
        "你注册的 OnAdd、OnUpdate、OnDelete；informer 更新缓存之后调用它们。";
    "buffer", "buffer":
        "Where notifications wait for one handler. It has no limit.",
        "通知在这里等待某一个 handler 处理，数量没有上限。";
    "lister", "lister":
        "What your program reads the cache with: Get and List, which send no request.",
        "程序用来读缓存的接口：它的 Get 和 List 都不发请求。";
    "workqueue", "workqueue":
        "A queue of keys between handlers and your workers: each key is in it once, and no two workers have the same key.",
        "handler 和 worker 之间的 key 队列：每个 key 只排一次，也不会同时交给两个 worker。";
    "backoff", "backoff":
        "The wait before a failed request is made again; with each failure in a row it is longer, up to a limit.",
        "请求失败后到重试之前的等待；连续失败时越来越长，但有上限。";
    "relist", "relist":
        "Another list, when a watch cannot go on: as when the API server no longer has what came after the last version seen.",
        "watch 无法继续时重新 List 一次，例如 API server 已不再保留最后所见版本之后的历史。";
    "resync", "resync":
        "At an interval, the handlers are called again for each object in the cache; no request is sent to the API server.",
        "每隔一段时间，把缓存里的每个对象重新通知给 handler，不请求 API server。";
    "tombstone", "tombstone":
        "What OnDelete receives in place of an object whose delete event was missed: a DeletedFinalStateUnknown with the cache’s last copy.",
        "没人看到删除事件时，OnDelete 收到的替身（墓碑）：DeletedFinalStateUnknown，带着缓存里最后的状态。";
    "HasSynced", "HasSynced":
        "Whether the first list is in the cache; WaitForCacheSync waits until it is. A handler may still have to be called for some of it.",
        "首个列表是否已全部进入缓存；WaitForCacheSync 一直等到它为 true。这时 handler 可能还没全部调用完。";
    "KnownObjects", "KnownObjects":
        "Lets the queue ask which objects the cache has, so that a relist notices those that are gone.",
        "队列通过它得知缓存里有哪些对象，relist 时才能发现哪些已经不在。";
}

/// The term with this name in either language, in any case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Term> {
    let is = |term: &&Term| term.name.iter().any(|one| one.eq_ignore_ascii_case(name));
    TERMS.iter().find(is)
}
