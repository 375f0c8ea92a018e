//! The lessons: a line of the menu and a file each.

use deltascope_world::text::Text;

/// A line of the menu.
pub(super) struct Listed {
    pub(super) id: &'static str,
    /// In English and Chinese.
    title: [&'static str; 2],
    /// Whether it has a story.
    pub(super) is_told: bool,
}

impl Listed {
    pub(super) fn title(&self) -> Text {
        Text::new(self.title[0], self.title[1])
    }
}

/// A line is the id, which names the file, whether it tells a story or is only shown, and the titles. The file has neither id nor title:
/// the menu is there before most files are.
macro_rules! lessons {
    ($($files:ident { $($id:literal $kind:ident $en:literal $zh:literal;)+ })+) => {
        /// All lessons, in the order of the menu.
        pub(super) const LISTED: &[Listed] = &[$($(
            Listed { id: $id, title: [$en, $zh], is_told: lessons!($kind) },
        )+)+];
        $(
            pub(super) static $files: &[(&str, &str)] =
                &[$(($id, include_str!(concat!($id, ".json"))),)+];
        )+
    };
    (told) => { true };
    (shown) => { false };
}

lessons! {
    FIRST_FILES {
        "first-look" told
            "How does one change in the cluster reach my controller?" "集群里的一次变化，怎样到达我的控制器？";
        "sandbox" shown
            "Sandbox: traffic without end" "沙盒：不停的流量";
    }
    FILES {
        "deltafifo" told
            "What does the queue keep of my object until somebody has time for it?" "对象排队等待处理时，队列里存的是什么？";
        "listwatch" shown
            "List, then Watch" "先 List，再 watch";
        "reflector" told
            "I deleted the Pod. Why was OnDelete never called?" "Pod 已经删了，OnDelete 为什么一直没被调用？";
        "indexer" told
            "How does a queue know which deletes must not get lost?" "队列怎么知道哪些删除不能丢？";
        "myinformer" shown
            "Old and new, from the Indexer" "旧值和新值，来自 Indexer";
        "sharedinformer-simulate" shown
            "One Reflector, two handlers" "一个 Reflector，两个 handler";
        "sharedinformer-simulate-two" shown
            "Not shared: two of everything" "不共享：一切都是两份";
        "sharedinformer-listwatch" shown
            "One list, two handlers" "一次 List，两个 handler";
        "sharedinformer-indexer" shown
            "An Indexer on its own" "单独一个 Indexer";
        "tombstone" told
            "Why is there something in OnDelete that isn’t my Pod?" "OnDelete 里为什么会有一个不是 Pod 的东西？";
        "gone-410" told
            "My log says “too old resource version”. Have I lost events?" "日志里有 “too old resource version”，我丢事件了吗？";
        "resync-is-not-relist" told
            "Nothing has changed. Why is my handler called again and again?" "什么都没变，handler 为什么一再被调用？";
        "indexer-run" shown
            "Which Pods have this label?" "哪些 Pod 有这个标签？";
        "sharedinformerfactory" shown
            "One factory, one informer a kind" "一个工厂，每种资源一个 informer";
        "slow-handler" told
            "One of my handlers is slow. Does it hold up everything else?" "有一个 handler 很慢，会拖住其他部分吗？";
        "stale-read" told
            "I just created the Pod. Why does my controller not find it?" "Pod 刚创建好，为什么我的控制器查不到？";
        "late-handler" told
            "I add a handler to an informer that is already running. What does it receive?" "informer 已在运行，这时再添加 handler，它会收到什么？";
        "dedup" told
            "My Pod changes ten times in a second. Does the queue merge that?" "Pod 一秒内变了十次，队列会把它们合并吗？";
        "realfifo" told
            "Which queue does my client-go have?" "我的 client-go 用的是哪种队列？";
        "half-old-half-new" told
            "Can my cache hold a state that the cluster never was in?" "缓存里会不会出现集群从未有过的状态？";
        "workqueue-dedup" told
            "Three events for one Pod. Why does my Reconcile run only once?" "一个 Pod 有三个事件，为什么 Reconcile 只执行一次？";
    }
}
