//! What is known of the lessons before their files are there.

/// A line of the menu.
pub(super) struct Listed {
    pub(super) id: &'static str,
    /// The titles of its file, in English and Chinese.
    pub(super) title: [&'static str; 2],
    /// Whether it has a story.
    pub(super) is_told: bool,
}

/// All lessons, in the order of the menu.
pub(super) const LISTED: &[Listed] = &[
    Listed {
        id: "first-look",
        title: [
            "How does one change in the cluster reach my controller?",
            "集群里的一次变化，怎样到达我的控制器？",
        ],
        is_told: true,
    },
    Listed {
        id: "sandbox",
        title: ["Sandbox: traffic without end", "沙盒：不停的流量"],
        is_told: false,
    },
    Listed {
        id: "deltafifo",
        title: [
            "What does the queue keep of my object until somebody has time for it?",
            "对象排队等待处理时，队列里存的是什么？",
        ],
        is_told: true,
    },
    Listed {
        id: "listwatch",
        title: ["List, then Watch", "先 List，再 Watch"],
        is_told: false,
    },
    Listed {
        id: "reflector",
        title: [
            "I deleted the Pod. Why was OnDelete never called?",
            "Pod 已经删了，OnDelete 为什么一直没被调用？",
        ],
        is_told: true,
    },
    Listed {
        id: "indexer",
        title: [
            "How does a queue know which deletes must not get lost?",
            "队列怎么知道哪些删除不能丢？",
        ],
        is_told: true,
    },
    Listed {
        id: "myinformer",
        title: ["Old and new, from the Indexer", "旧值和新值，来自 Indexer"],
        is_told: false,
    },
    Listed {
        id: "sharedinformer-simulate",
        title: [
            "One reflector, two handlers",
            "一个 Reflector，两个 handler",
        ],
        is_told: false,
    },
    Listed {
        id: "sharedinformer-simulate-two",
        title: ["Not shared: two of everything", "不共享：一切都是两份"],
        is_told: false,
    },
    Listed {
        id: "sharedinformer-listwatch",
        title: ["One list, two handlers", "一次 List，两个 handler"],
        is_told: false,
    },
    Listed {
        id: "sharedinformer-indexer",
        title: ["An Indexer on its own", "单独一个 Indexer"],
        is_told: false,
    },
    Listed {
        id: "tombstone",
        title: [
            "Why is there something in OnDelete that isn’t my Pod?",
            "OnDelete 里为什么会有一个不是 Pod 的东西？",
        ],
        is_told: true,
    },
    Listed {
        id: "gone-410",
        title: [
            "My log says “too old resource version”. Have I lost events?",
            "日志里有 “too old resource version”，我丢事件了吗？",
        ],
        is_told: true,
    },
    Listed {
        id: "resync-is-not-relist",
        title: [
            "Nothing has changed. Why is my handler called again and again?",
            "什么都没变，handler 为什么一再被调用？",
        ],
        is_told: true,
    },
    Listed {
        id: "indexer-run",
        title: ["Which pods have this label?", "哪些 Pod 有这个标签？"],
        is_told: false,
    },
    Listed {
        id: "sharedinformerfactory",
        title: [
            "One factory, one informer a kind",
            "一个工厂，每种资源一个 informer",
        ],
        is_told: false,
    },
    Listed {
        id: "slow-handler",
        title: [
            "One of my handlers is slow. Does it hold up everything else?",
            "有一个 handler 很慢，会拖住其他部分吗？",
        ],
        is_told: true,
    },
    Listed {
        id: "stale-read",
        title: [
            "I just created the Pod. Why does my controller not find it?",
            "Pod 刚创建好，为什么我的控制器查不到？",
        ],
        is_told: true,
    },
    Listed {
        id: "late-handler",
        title: [
            "I add a handler to an informer that is already running. What does it hear of?",
            "informer 已在运行，这时再添加 handler，它会收到什么？",
        ],
        is_told: true,
    },
    Listed {
        id: "dedup",
        title: [
            "My Pod changes ten times in a second. Does the queue merge that?",
            "Pod 一秒内变了十次，队列会把它们合并吗？",
        ],
        is_told: true,
    },
    Listed {
        id: "half-old-half-new",
        title: [
            "Can my cache hold a state that the cluster never was in?",
            "缓存里会不会出现集群从未有过的状态？",
        ],
        is_told: true,
    },
    Listed {
        id: "workqueue-dedup",
        title: [
            "Three events for one Pod. Why does my Reconcile run only once?",
            "一个 Pod 有三个事件，为什么 Reconcile 只执行一次？",
        ],
        is_told: true,
    },
];
