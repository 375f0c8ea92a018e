//! What the names of facts mean, for readers to whom they are no words of their own language.

/// The fact's name in Chinese words; empty where there is no such fact.
#[must_use]
pub fn in_chinese(fact: &str) -> &'static str {
    match fact {
        "AlreadyPresent" => "已在队列中，忽略",
        "BackoffStarted" => "开始退避",
        "BesideRequested" => "旁边的 informer 发出请求",
        "BesideStored" => "旁边的 informer 写入存储",
        "Called" => "程序调用队列",
        "ConnectionRefused" => "无法连接",
        "DeleteChecked" => "Delete 检查是否已知",
        "DeleteIgnored" => "Delete 被忽略",
        "DeletionDetected" => "relist 推出删除",
        "DeltaAppended" => "追加 Delta",
        "DeltaTaken" => "取出 Delta",
        "DeltasMerged" => "合并 Delta",
        "EntriesProcessed" => "条目处理完毕",
        "EntriesTaken" => "取出条目",
        "EntryAppended" => "追加条目",
        "EventReceived" => "收到事件",
        "EventSent" => "服务器发出事件",
        "FifoCleared" => "FIFO 清空",
        "FifoItemRemoved" => "FIFO 移除对象",
        "FifoItemSet" => "FIFO 存入对象",
        "FifoKeySkipped" => "FIFO 跳过 key",
        "HandlerAdded" => "添加 handler",
        "HandlerAsked" => "请求添加 handler",
        "HandlerPanicked" => "handler panic",
        "HandlerRemoved" => "移除 handler",
        "HandlerSynced" => "handler 已同步",
        "HistoryCompacted" => "服务器压缩历史",
        "IndexEntryAdded" => "添加索引条目",
        "IndexEntryRemoved" => "移除索引条目",
        "IndexFailed" => "索引函数失败",
        "IndexersAdded" => "添加索引",
        "IndicesReset" => "清空索引",
        "InitialEventKept" => "暂存初始事件",
        "InitialEventsEndMissed" => "初始事件未见结束",
        "InitialEventsEnded" => "初始事件结束",
        "ItemRemoved" => "存储移除对象",
        "ItemStored" => "存储写入对象",
        "KeyEnqueued" => "key 入队",
        "KeyFailed" => "key 处理失败",
        "KeyPopped" => "Pop 取出 key",
        "KnownObjectsSet" => "设置 KnownObjects",
        "LastSyncMoved" => "lastSyncResourceVersion 更新",
        "LinePrinted" => "输出一行",
        "ListAnswered" => "服务器应答 List",
        "ListFailed" => "List 失败",
        "ListOpened" => "开始处理整个列表",
        "ListReceived" => "收到列表",
        "ListRefused" => "List 被拒绝",
        "ListRequested" => "请求 List",
        "LockAwaited" => "等待锁",
        "LockReleased" => "释放锁",
        "LockTaken" => "取得锁",
        "ModeSet" => "设置处理循环",
        "MutationDetected" => "发现对象被改动",
        "NotificationHandled" => "通知处理完毕",
        "NotificationQueued" => "通知进入缓冲",
        "NotificationSent" => "发出通知",
        "NotificationTaken" => "取出通知",
        "NotificationWithheld" => "不发通知",
        "ObjectCreated" => "服务器创建对象",
        "ObjectDeleted" => "服务器删除对象",
        "ObjectMutated" => "handler 改动共享对象",
        "ObjectRejected" => "类型不符，忽略对象",
        "ObjectUpdated" => "服务器更新对象",
        "ObjectsLearned" => "得知服务器上的对象",
        "PageReceived" => "收到一页",
        "PopAsked" => "请求一次 Pop",
        "Populated" => "populated 置位",
        "ProcessFailed" => "process 失败",
        "ProcessWasSlow" => "process 耗时过长",
        "Processed" => "process 返回",
        "QueueClosed" => "队列关闭",
        "QueueEmpty" => "队列为空",
        "Reconciled" => "列表与存储比对",
        "ReflectorStopped" => "Reflector 停止",
        "RefusalsAsked" => "要求服务器拒绝请求",
        "RemovalAsked" => "请求移除 handler",
        "RequestDeferred" => "按 Retry-After 推迟请求",
        "Requeued" => "重新入队",
        "ResyncCheckSet" => "设置 resync 检查间隔",
        "ResyncDue" => "resync 到期",
        "ResyncOpened" => "resync 开始",
        "ResyncSkipped" => "resync 跳过",
        "StoreReplaced" => "存储整体替换",
        "StoreVersionMoved" => "存储版本更新",
        "StreamFellBack" => "流式列表退回 List",
        "Synced" => "HasSynced 变为 true",
        "SyncingSet" => "决定 handler 是否参与 resync",
        "TransformFailed" => "transform 失败",
        "Transformed" => "transform 完成",
        "VersionUnavailable" => "版本过期或过新",
        "WatchAccepted" => "服务器接受 watch",
        "WatchClosed" => "watch 断开",
        "WatchDenied" => "watch 被拒绝",
        "WatchEnded" => "watch 结束",
        "WatchErrorReported" => "报告 watch 错误",
        "WatchFailed" => "watch 失败",
        "WatchRefused" => "watch 的版本太旧",
        "WatchRequested" => "请求 watch",
        "WorkAdded" => "workqueue 加入 key",
        "WorkDelayed" => "workqueue 延后 key",
        "WorkDone" => "workqueue Done",
        "WorkForgotten" => "workqueue Forget",
        "WorkShutDown" => "workqueue 关闭",
        "WorkTaken" => "workqueue 取出 key",
        "WriteRefused" => "写入被拒绝",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::in_chinese;
    use deltascope_replay::predicate::FACTS;
    use std::collections::BTreeSet;

    #[test]
    fn every_fact_has_words_of_its_own() {
        let without: Vec<&str> = FACTS
            .iter()
            .copied()
            .filter(|name| in_chinese(name).is_empty())
            .collect();
        assert_eq!(without, [""; 0]);
        let words: BTreeSet<&str> = FACTS.iter().map(|name| in_chinese(name)).collect();
        assert_eq!(words.len(), FACTS.len());
    }
}
