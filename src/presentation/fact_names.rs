//! What the names of facts mean, for readers to whom they are no words of their own language.

use deltascope_cache::fact::{
    Fact, HandlersFact, QueueFact, ReflectorFact, RunFact, ServerFact, StoreFact, WorkFact,
};

/// The names in Chinese words. One that is missing here does not compile.
macro_rules! names {
    ($($owner:ident($facts:ident) { $($fact:ident = $chinese:literal,)+ })+) => {
        const CHINESE: &[(&str, &str)] = &[$($((stringify!($fact), $chinese),)+)+];

        const _: fn(&Fact) -> &'static str = |fact| match fact {
            $($(Fact::$owner($facts::$fact { .. }) => $chinese,)+)+
        };
    };
}

names! {
    Server(ServerFact) {
        ObjectCreated = "服务器创建对象",
        ObjectUpdated = "服务器更新对象",
        ObjectDeleted = "服务器删除对象",
        WriteRefused = "写入被拒绝",
        RefusalsAsked = "要求服务器拒绝请求",
        HistoryCompacted = "服务器压缩历史",
        ListAnswered = "服务器应答 List",
        ObjectsLearned = "得知服务器上的对象",
        RequestDeferred = "按 Retry-After 推迟请求",
        ListRefused = "List 被拒绝",
        WatchAccepted = "服务器接受 watch",
        WatchRefused = "watch 的版本太旧",
        WatchDenied = "watch 被拒绝",
        ConnectionRefused = "无法连接",
        EventSent = "服务器发出事件",
        WatchClosed = "watch 断开",
    }
    Reflector(ReflectorFact) {
        ListRequested = "请求 List",
        PageReceived = "收到一页",
        ListFailed = "List 失败",
        ListReceived = "收到列表",
        WatchRequested = "请求 watch",
        WatchFailed = "watch 失败",
        InitialEventKept = "暂存初始事件",
        InitialEventsEnded = "初始事件结束",
        InitialEventsEndMissed = "初始事件未见结束",
        StreamFellBack = "流式列表退回 List",
        ObjectRejected = "类型不符，忽略对象",
        VersionUnavailable = "版本过期或过新",
        WatchErrorReported = "报告 watch 错误",
        ResyncDue = "resync 到期",
        EventReceived = "收到事件",
        LastSyncMoved = "lastSyncResourceVersion 更新",
        WatchEnded = "watch 结束",
        BackoffStarted = "开始退避",
        ReflectorStopped = "Reflector 停止",
    }
    Queue(QueueFact) {
        LockTaken = "取得锁",
        LockAwaited = "等待锁",
        LockReleased = "释放锁",
        KeyFailed = "key 处理失败",
        TransformFailed = "transform 失败",
        Transformed = "transform 完成",
        Populated = "populated 置位",
        DeleteChecked = "Delete 检查是否已知",
        DeleteIgnored = "Delete 被忽略",
        DeltaAppended = "追加 Delta",
        DeltasMerged = "合并 Delta",
        KeyEnqueued = "key 入队",
        DeletionDetected = "relist 推出删除",
        ResyncSkipped = "resync 跳过",
        AlreadyPresent = "已在队列中，忽略",
        FifoItemSet = "FIFO 存入对象",
        FifoItemRemoved = "FIFO 移除对象",
        FifoCleared = "FIFO 清空",
        FifoKeySkipped = "FIFO 跳过 key",
        EntryAppended = "追加条目",
        EntriesTaken = "取出条目",
        QueueEmpty = "队列为空",
        KeyPopped = "Pop 取出 key",
        Synced = "HasSynced 变为 true",
        ProcessFailed = "process 失败",
        Requeued = "重新入队",
        ProcessWasSlow = "process 耗时过长",
        QueueClosed = "队列关闭",
        DeltaTaken = "取出 Delta",
        Processed = "process 返回",
        EntriesProcessed = "条目处理完毕",
        ListOpened = "开始处理整个列表",
        ResyncOpened = "resync 开始",
    }
    Store(StoreFact) {
        ItemStored = "存储写入对象",
        ItemRemoved = "存储移除对象",
        StoreReplaced = "存储整体替换",
        IndexEntryRemoved = "移除索引条目",
        IndexEntryAdded = "添加索引条目",
        IndexFailed = "索引函数失败",
        IndexersAdded = "添加索引",
        IndicesReset = "清空索引",
        StoreVersionMoved = "存储版本更新",
    }
    Handlers(HandlersFact) {
        NotificationSent = "发出通知",
        NotificationWithheld = "不发通知",
        NotificationQueued = "通知进入缓冲",
        NotificationTaken = "取出通知",
        LinePrinted = "输出一行",
        NotificationHandled = "通知处理完毕",
        HandlerPanicked = "handler panic",
        HandlerAsked = "请求添加 handler",
        RemovalAsked = "请求移除 handler",
        HandlerAdded = "添加 handler",
        HandlerRemoved = "移除 handler",
        HandlerSynced = "handler 已同步",
        SyncingSet = "决定 handler 是否参与 resync",
        ResyncCheckSet = "设置 resync 检查间隔",
        ObjectMutated = "handler 改动共享对象",
        MutationDetected = "发现对象被改动",
    }
    Work(WorkFact) {
        WorkAdded = "workqueue 加入 key",
        WorkTaken = "workqueue 取出 key",
        WorkDone = "workqueue Done",
        WorkDelayed = "workqueue 延后 key",
        WorkForgotten = "workqueue Forget",
        Reconciled = "列表与存储比对",
        WorkShutDown = "workqueue 关闭",
    }
    Run(RunFact) {
        Called = "程序调用队列",
        ModeSet = "设置处理循环",
        PopAsked = "请求一次 Pop",
        KnownObjectsSet = "设置 KnownObjects",
        BesideRequested = "旁边的 informer 发出请求",
        BesideStored = "旁边的 informer 写入存储",
    }
}

/// The fact's name in Chinese words; empty where there is no such fact.
#[must_use]
pub fn in_chinese(fact: &str) -> &'static str {
    let found = CHINESE.iter().find(|(name, _)| *name == fact);
    found.map_or("", |(_, chinese)| chinese)
}

#[cfg(test)]
mod tests {
    use super::CHINESE;
    use std::collections::BTreeSet;

    #[test]
    fn every_fact_has_words_of_its_own() {
        let words: BTreeSet<&str> = CHINESE.iter().map(|(_, chinese)| *chinese).collect();
        assert_eq!(words.len(), CHINESE.len());
    }
}
