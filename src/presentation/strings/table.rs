//! The fixed words, each in both languages: the compiler requires both of every word.

use std::ops::Deref;

use deltascope_world::text::Lang;

/// `name: "in English", "in Chinese";`
macro_rules! words {
    ($(#[$of:meta])* $words:ident $en_words:ident $zh_words:ident $($(#[$about:meta])* $name:ident: $en:literal, $zh:literal;)*) => {
        $(#[$of])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each name says which control it labels")]
        pub struct $words {
            $($(#[$about])* pub $name: &'static str,)*
        }

        static $en_words: $words = $words { $($name: $en,)* };
        static $zh_words: $words = $words { $($name: $zh,)* };
    };
}

/// The fixed words in a language.
#[must_use]
pub fn strings(lang: Lang) -> &'static Strings {
    lang.pick(&EN, &ZH)
}

impl Deref for Strings {
    type Target = Later;

    // A function of its own, which comes with the rest, and brings them.
    #[inline(never)]
    fn deref(&self) -> &Later {
        if std::ptr::eq(self, &EN) {
            &LATER_EN
        } else {
            &LATER_ZH
        }
    }
}

words! {
    /// Every label, hint and accessible name of the page: those that first pictures show, and the others through them.
    Strings EN ZH

    // A story.
    story: "Story", "故事";
    story_turn: "Go through the story", "浏览故事";
    story_back: "Back", "上一步";
    story_next: "Next", "下一步";
    story_closer: "Look closer", "看细节";
    story_tell: "Tell the story", "讲故事";
    by_program: "program ", "程序 ";
    story_again: "Start over", "重新开始";
    story_more: "Code and sources", "代码与参考源码";
    story_sources: "In client-go", "client-go 参考源码";

    // The shelf.
    shelf: "Lessons", "课程";

    // In front of a class.
    present: "In front of a class", "演示模式";
    handout: "Handout", "讲义";

    // The head of the page, and branches.
    lesson: "Lesson", "课程";
    lesson_choose: "Choose a lesson…", "选择课程…";
    open_recording: "Open a file…", "打开文件…";
    known_on: "KnownObjects on", "KnownObjects 开";
    known_title:
        "Whether the queue can ask the Indexer which objects it knows. A switch holds from here on; start over (R) to run all of it so",
        "队列能否向 Indexer 询问它已知的对象。切换从此刻起生效；重新开始（R）可让整个运行都这样";
    language: "Switch the language", "切换语言";
    theme_to_dark: "Switch to the dark theme", "切换到深色主题";
    help: "Help", "帮助";
    close: "Close", "关闭";
    dismiss: "Dismiss", "关闭";
    branches: "Branches", "分支";
    branches_title:
        "Branches: fork, drop or move an event, change a setting",
        "分支：分叉、去掉或移动事件、改设置";
    drop_event: "Leave out", "去掉";
    setting: "Setting", "设置";
    error: "Error", "错误";
    drop_here: "Drop recordings or a trace here", "把录制文件或运行记录拖到这里";
    drop_hint: "One file, or several that belong together", "一个文件，或属于同一次录制的几个文件";
    era_title:
        "The generation of client-go that runs. With another one the whole run is computed again, from the start",
        "正在运行的 client-go 实现版本。切换后，整个运行从头重新计算";
    more_faults: "more faults…", "更多故障…";
    armed: "Armed faults", "已就绪的故障";
    disarm: "Take it back", "撤销";

    // The stage, and the API server.
    stage: "Stage", "舞台";
    rooms: "Panels", "面板";
    follow_rooms: "Show the panel where something happens", "自动切换到发生变化的面板";
    recording: "Recording", "录制";
    /// The room's title for a real cluster.
    cluster: "Cluster", "集群";
    program: "Program", "程序";
    server_rv:
        "resourceVersion of the API server, raised by each write",
        "API server 的 resourceVersion，每次写入都会增大";
    create: "create", "创建";
    edit: "edit", "修改";
    delete: "delete", "删除";
    /// The hint on an object of the API server.
    choose_object: "Press to see why it is here, and to select it for edit or delete", "按下可查看它为什么在这里，并选中它以便修改或删除";
    objects: "Objects", "对象";
    no_objects: "no objects yet", "还没有对象";
    choose_call_first: "Choose a call to Update or Delete its object", "先选一次调用，再 Update 或 Delete 它的对象";
    call_first: "+ Add an object first", "先“+ Add”一个对象";
    choose_first: "Choose a Pod to edit or delete it", "先选一个 Pod，再修改或删除";
    create_first: "+ create a Pod first: all are deleted", "先“+ 创建”一个 Pod：已有的都已删除";
    deleted: "deleted", "已删除";
    show_all: "Show all objects", "显示全部对象";
    watch_stream: "watch stream", "watch 流";
    /// A parameter of every watch.
    bookmarks_are:
        "allowWatchBookmarks: the API server may send events that hold a version and no object (BOOKMARK)",
        "allowWatchBookmarks：API server 可以发送只带版本、没有对象的事件（BOOKMARK）";
    no_events: "nothing sent yet", "还没有发送事件";
    waiting: "waiting", "等待中";
    lost: "lost", "丢失";
    calls: "calls", "调用";
    no_calls: "nothing called yet", "还没有调用";
    faults: "faults", "故障";
    cut_watch: "cut watch", "切断 watch";
    compact: "drop history", "清除历史";
    compact_title:
        "Forget the history: the next watch from an old version is answered with 410 Gone. Compaction writes a key of its own, so the server’s rv goes up by one",
        "忘掉历史：下一次从旧版本开始的 watch 会得到 410 Gone。压缩会写一个自己的 key，所以 API server 的 rv 加一";
    namespace: "namespace", "命名空间";
    name: "name", "名称";
    node: "node", "节点";
    phase: "phase", "阶段";

    // The Reflector.
    unused: "Not part of this program.", "这个程序没有用到。";
    unused_reflector:
        "Not part of this program: it lists and watches itself.",
        "这个程序没有用到：它自己 List 和 watch。";
    requests: "requests", "请求";
    no_requests: "none yet", "还没有";
    temporary: "temporary store", "临时存储";
    last_sync_is:
        "lastSyncResourceVersion: the version of the last list or event; the next watch goes on from there",
        "lastSyncResourceVersion：最后一次 List 或事件的版本，下一次 watch 从它继续";
    unavailable:
        "The server has forgotten this version, or does not have it yet",
        "API server 已忘记这个版本，或者还没有它";
    in_hand: "in hand", "手上";

    // The queue.
    empty_queue: "The queue is empty", "队列是空的";
    /// Where a Pop was asked for.
    pop_waits: "Empty: Pop waits until something comes", "队列为空：Pop 等到有东西才返回";
    next: "next", "下一个";
    oldest_bottom: "Deltas of a key, oldest at the bottom", "一个 key 的 Delta，最旧的在最下面";
    oldest_right: "oldest at the right · → next", "最旧的在最右边 · → 下一个";
    closed: "closed", "已关闭";
    tombstone: "tombstone", "墓碑";
    queue_synced:
        "HasSynced: the whole first list has been taken out of the queue",
        "HasSynced：第一个列表已全部从队列取出";

    // Pop.
    mode: "How the process loop runs, from here on", "处理循环从此刻起怎样运行";
    pop_one: "Pop one", "Pop 一次";
    pop_when_held: "Pop by hand: choose “held” first", "手动 Pop：先选“手动”";
    lock_free: "free", "空闲";
    /// Where nothing else says that it is about a lock.
    lock_is_free: "lock: free", "锁：空闲";
    lock_queue: "The queue's lock", "队列的锁";
    lock_block:
        "The lock that stops the process loop while a handler is added",
        "添加 handler 时挡住处理循环的锁";
    last_popped: "last popped", "上次 Pop";
    nothing_popped: "nothing yet", "还没有";

    // The Indexer.
    no_store: "This program has no store.", "这个程序没有存储。";
    beside: "informers side by side", "informer 并排比较";
    beside_title:
        "What it takes with sharing and without; below, the stores of the informers beside this one",
        "共享与不共享各需要什么；下面是旁边的 informer 的存储";
    empty_store: "empty", "空";
    not_kept: "rv: not kept by client-go", "rv：client-go 并不保存这个值";
    /// The unit of the gauge.
    behind_is:
        "N objects behind: the cache and the API server differ in N of the objects that the informer selects. Each of them is missing in the cache, outdated, or already deleted on the API server.",
        "落后 N 个对象：informer 所选的对象中，有 N 个在缓存和 API server 上不一致：缓存中还没有、版本较旧，或已从 API server 删除。";
    /// When the gauge is known.
    behind_known:
        "For a cluster or its recording, the number is known only while a watch is open. For the simulated API server the page always knows it.",
        "对于集群（或其录制），只有 watch 打开期间才知道这个数。对于模拟的 API server，页面始终知道。";
    items: "items", "items";
    indices: "indices", "indices";
    query: "query", "查询";
    query_index: "Index to ask", "要查的索引";
    query_value: "Indexed value to ask for", "要查的索引值";

    // Now running.
    now_running: "Now running", "正在运行";
    lanes: "Who runs, who waits, who holds the lock", "谁在运行，谁在等待，谁持有锁";
    runs: "runs", "运行";
    holds_lock: "holds the lock", "持有锁";
    waits: "waits", "等待";

    // Handlers and the workqueue.
    handlers: "Handlers", "Handler";
    no_handlers: "No handlers are registered.", "没有注册 handler。";
    inline_handler: "inside process", "在处理函数里";
    add_handler: "Add a handler", "添加 handler";
    remove_handler: "Remove this handler", "移除这个 handler";
    removing: "being removed", "正在移除";
    removed: "removed", "已移除";
    /// Below what a handler handles, in a story.
    handled_now: "now", "当前";
    /// Before what waits for a handler while it runs.
    running: "running · ", "执行中 · ";
    /// Before what a handler received, once its call is over.
    received_last: "last: ", "上次：";
    sending: "sent to it; the sender waits until it is taken", "已发给它；取走之前发送方一直等待";
    synced: "It was called for the whole first list", "第一次 List 已全部通知它";
    not_synced: "It was not called for the whole first list yet", "第一次 List 还没有全部通知它";
    no_resync: "Wants no resync", "不要 resync";
    whole_store: "all items", "全部对象";
    syncing: "Takes part in resyncs now", "现在参加 resync";
    not_syncing: "Takes no part in resyncs now", "现在不参加 resync";
    workqueue: "workqueue", "工作队列";
    output: "output", "输出";
    output_of_both: "printed by your program and its handlers", "程序和 handler 的输出";
    no_output: "nothing printed yet", "还没有输出";

    // The strip and the transport.
    narration: "What happens", "发生了什么";
    note: "About this lesson", "关于本课";
    transport: "Playback", "播放";
    reset: "Start over", "重新开始";
    reset_title:
        "Start over: what you have set stays, what you did stays on a branch of its own",
        "重新开始：保留你的设置，你的操作留在单独的分支里";
    back: "Step back", "后退一步";
    play: "Play", "播放";
    play_again: "Play again from the start", "从头再播放";
    pause: "Pause", "暂停";
    step: "Step", "前进一步";
    next_marker: "Next marker", "下一个标记";
    timeline: "Timeline", "时间线";
    wall_clock: "The time of the clock on the wall (UTC)", "现实时间（UTC）";
    speed: "Speed", "速度";

    // The drawer.
    drawer: "Questions about the run", "关于这次运行的问题";
    drawer_checks: "Checks", "检查";
    checks: "Checks: what holds in every run", "检查：每次运行都应成立的事";
    compare: "Side by side", "并排比较";
    compare_title:
        "Side by side: this run and another one at the same time",
        "并排比较：这次运行和另一次运行的同一时刻";
    drawer_why: "Why", "为什么";
    drawer_why_title: "Why: the chain of causes", "为什么：起因链";
    drawer_table: "Table", "表格";
    table_title: "Where each key is now, and in which version", "每个 key 此刻在哪里、是哪个版本";
    drawer_share: "Share", "分享";
    drawer_share_title:
        "Share: a link to this moment, or the run as a file",
        "分享：指向此刻的链接，或把运行存为文件";
    thinned: "oldest thinned", "最旧处已稀疏";

    // Run until.
    until: "Until", "直到";
    until_tip: "Run until, and breakpoints", "运行到……，以及断点";
    breaks: "Breakpoints", "断点";
    step_size: "Size of a step", "步长";

    // The help.
    about: "deltascope shows, one step at a time, how a Kubernetes informer brings a change from the API server to your handler.",
        "deltascope 一步一步地展示 Kubernetes informer 怎样把一次变化从 API server 送到你的 handler。";

    // Clusters.
    cluster_title: "Watch a real cluster", "观察真实的集群";
}

words! {
    /// The words that no first picture shows.
    Later LATER_EN LATER_ZH
    /// At the front of the queue.
    held_back: "held: press “Pop one”", "手动：点“Pop 一次”";
    /// Where one acts in a lesson's run. The sandbox follows.
    mixes: "The lesson’s own events go on. Another run, to try things out in:", "课程自己的事件会继续发生。想自由尝试，请打开另一个运行：";
    sandbox: "Sandbox", "沙盒";
    more_tools: "More tools", "更多工具";

    // A story.
    story_skip: "Skip", "跳过";
    /// Next, where a question has no answer yet.
    story_pass: "Skip the question", "跳过问题";
    story_show: "Show me", "直接看答案";
    story_number: "Your answer, a number", "你的答案（数字）";
    story_answer: "Answer", "回答";
    story_led: "→ again shows the answer; a digit answers.", "再按一次 → 直接看答案；按数字作答。";
    story_order: "Choose them in order.", "按先后顺序点选。";
    story_run: "Let time run", "继续运行";
    story_pause: "Pause", "暂停";
    story_hint: "Hint", "提示";
    story_missed: "Not yet.", "还没达成。";
    story_reached: "You did it.", "成功了。";
    story_race: "In all versions, side by side", "各版本并排比较";
    story_less: "Sources", "参考源码";
    story_code: "In your code", "在你的代码里";
    story_wrong: "Wrong", "错误写法";
    story_right: "Right", "正确写法";

    // The informers of a tap.
    informers: "Informers", "Informer";
    informers_none:
        "No informer yet. Start your controller with the KUBECONFIG that the tap has named.",
        "还没有 informer。请用 tap 给出的 KUBECONFIG 启动你的 controller。";
    informers_choose:
        "Choose an informer: the stage shows it, live.", "选择一个 informer，舞台会实时显示它。";
    informers_odd: "Findings", "发现";
    informers_moment: "Show the moment", "查看那一刻";
    heard_log: "handler and its log", "handler 与其日志";

    // The shelf.
    shelf_others: "Everything else", "其他";
    shelf_begin: "Begin", "开始";
    shelf_go_on: "Go on", "继续";
    shelf_next: "Next", "下一课";
    shelf_search: "Search: a question, a name, a symptom", "搜索：问题、名称、现象";
    shelf_none:
        "Nothing has all of these words. Try fewer, or a name from client-go.",
        "没有内容包含所有这些词。请减少词语，或换用 client-go 中的名称。";
    shelf_link: "Link to this", "此页链接";
    shelf_all: "All lessons", "全部课程";
    shelf_courses: "Courses", "系列";
    shelf_short: "The short course", "入门系列";
    shelf_long: "The long course", "完整系列";
    shelf_first: "Show the lessons when the page opens", "打开页面时先显示课程";
    shelf_forget: "Forget my progress", "清除学习进度";
    shelf_more: "More lessons", "更多课程";
    told_opened: "begun", "已开始";
    told_ended: "read to the end", "已看完";
    told_reached: "goal reached", "已达成目标";
    teach: "For the teacher", "授课提示";
    teach_about:
        "Show the scene and let the class answer before you go on. What is right comes from the lesson’s own run.",
        "先展示场景，等学员回答后再继续。正确答案来自这一课的实际运行。";
    teach_ask: "Ask", "提问";
    teach_right: "Right", "正确答案";
    teach_usual: "Usually answered", "常见回答";
    teach_show: "Then show", "然后展示";
    teach_goal: "Their turn", "学员动手";
    teach_back: "Back to the lessons", "返回课程";
    teach_print: "Print", "打印";
    key_shelf: "in the lessons: search; ← → ↑ ↓ from card to card, ↵ opens one", "在课程页：搜索；← → ↑ ↓ 在卡片间移动，↵ 打开";

    // The form of an object.
    do_create: "Create", "创建";
    do_edit: "Save", "保存";
    needed: "Needed.", "必填。";
    needed_key: "Needed: a Pod’s key is namespace/name.", "必填：Pod 的 key 是 namespace/name。";

    // In front of a class.
    present_leave: "Leave", "退出演示";
    present_blank: "The screen is blank. B shows it again.", "画面已隐藏，按 B 恢复。";
    code: "QR code of this moment", "此刻的二维码";
    code_short: "QR code", "二维码";
    code_long: "The link to this moment is too long for a code that phones can read. Share it as a link or a file.", "指向此刻的链接太长，手机读不出这样的二维码。请以链接或文件分享。";
    code_scan: "Your phone opens this scene.", "用手机扫一扫，打开这一幕。";
    next_lesson: "Next lesson", "下一课";
    code_run: "Your phone opens this moment of the run, without the story: a link does not carry it. Share the lesson's file.", "用手机扫一扫，打开运行的这一时刻；链接不含故事，请分享课程文件。";
    code_here: "This address is known on this machine alone. Serve the page where others reach it.", "此地址只在本机有效。请把页面放到别人能访问的地址上。";
    handout_print: "Print", "打印";
    handout_answers: "Answers", "答案";
    handout_undecided: "This generation does not decide it.", "此实现版本中没有答案。";
    key_answer: "that answer, where a story asks; → leads to the answers, → again shows the right one", "故事提问时，选第几个答案；→ 先移到选项，再按直接看答案";
    key_story: "tell the story, or look closer", "讲故事，或看细节";
    key_present: "in a story: in front of a class (Esc leaves)", "在故事中：演示模式（Esc 退出）";
    key_blank: "in front of a class: blank the screen", "演示模式中：隐藏画面";
    key_code: "in front of a class: the link as a QR code", "演示模式中：显示链接的二维码";

    // The head of the page, and branches.
    branch_go: "Go to", "切换到";
    setting_value: "Value", "值";
    known_off: "KnownObjects off", "KnownObjects 关";
    theme_to_light: "Switch to the light theme", "切换到浅色主题";
    opening: "Computing. The current picture stays until it is done.", "正在计算，完成之前保持当前画面。";
    fetching: "Loading a part of the page…", "正在加载页面的一部分…";
    opening_steps: "{n} facts", "{n} 个事实";
    stop_opening: "Stop", "停止";
    fork_here: "Fork here", "在此分叉";
    branch_rename: "Rename", "重命名";
    branch_name: "Name of the branch", "分支名称";
    branch_remove: "Remove the branch", "删除分支";
    server_events: "What the server did around here", "服务器在此前后做的事";
    server_events_hint:
        "Leave one out or move it: a branch shows what would have happened.",
        "去掉或移动一个：分支会显示那样会发生什么。";
    no_server_events: "Nothing near.", "附近没有。";
    event_earlier: "Before the one before", "移到前一个之前";
    event_later: "After the one after", "移到后一个之后";
    another_setting: "With another setting, from the start", "换一个设置（从头计算）";
    branch_with: "Branch with it", "按此设置新建分支";
    no_settings: "This program has no such settings.", "这个程序没有这样的设置。";

    // The stage, and the API server.
    acting: "acts now", "正在动作";
    /// The same on a call of a program.
    choose_call: "Press to see why it is here, and to select its object for Update or Delete", "按下可查看它为什么在这里，并选中它的对象以便 Update 或 Delete";
    find_object: "Find an object", "查找对象";
    queued: "Queued", "排队中";
    show_fewer: "Show fewer objects", "收起对象";
    new_object: "Create an object", "创建对象";
    change_object: "Edit the object", "修改对象";
    app: "label app", "标签 app";
    cancel: "Cancel", "取消";

    // The Reflector.
    no_reflector: "No Reflector: the program calls the queue itself.", "没有 Reflector：程序自己调用队列。";

    // The queue.
    object_gone: "object gone", "对象已不在";
    object_ahead: "object ahead", "对象在前面";

    // The Indexer.
    /// The label of the other facts of a step.
    also_in_step: "Also in this step", "这一步里还有";
    no_indices: "no indices", "没有索引";

    // Now running.
    nothing_runs: "Nothing has run yet.", "还没有运行。";

    // The strip and the transport.
    read_chapter: "Read the chapter", "阅读对应的章节";

    // The drawer.
    check_holds: "holds", "成立";
    compare_with: "this run and", "这次运行与";
    share_link: "A link to this moment", "指向此刻的链接";
    share_run: "The run as a file", "把运行存为文件";
    why_of: "Why", "问";
    why_is_it_here: "Why it is here", "它为什么在这里";
    checks_note:
        "They are held against every fact of this run. The first violation of each is marked on the timeline.",
        "逐个事实地检查这次运行。每一项的第一次违反都标在时间线上。";
    check_known: "broken, as this generation is known to do", "不成立：该实现版本已知如此";
    check_broken: "broken", "不成立";
    check_off: "nothing to check in this program", "这个程序里没有可检查的";
    check_jump: "Go there", "跳到那里";
    compare_same: "nothing differs", "没有不同";
    compare_summary: "What both runs have come to", "两次运行到此为止的结果";
    race: "Four generations, one race", "四个实现版本，同一时钟";
    next_parting: "Next parting", "下一处分歧";
    previous_parting: "Previous parting", "上一处分歧";
    open_lane: "Show this generation at this moment", "显示此实现版本的这一时刻";
    lane_differs: "differs from most", "与多数不同";
    why_more: "… and so on: jump to the last one and ask again.", "……还有更早的：跳到最后一个再问。";
    why_this_step: "This step, and why it happened", "这一步，以及它为什么发生";
    why_nothing: "Nothing has happened yet. Step on.", "还什么都没有发生。请前进一步。";
    share_link_note:
        "It opens the same run at this moment: the lesson, the generation, and all that you did in this branch are in the link itself. Nothing is sent anywhere.",
        "它会在此刻打开同样的运行：课程、实现版本和你在此分支中的全部操作都在链接里。不会向任何地方发送数据。";
    share_story:
        "The link does not carry this story: it is in the lesson's file. Share that: dropped on the page, it has the story.",
        "链接不含这个故事，它在课程文件里。请分享该文件：把它拖到页面上，就能看到故事。";
    share_branch:
        "The link and the trace hold this branch alone. To share another one, go to it first.",
        "链接和运行记录只包含当前分支。要分享别的分支，请先切换过去。";
    share_copy: "Copy the link", "复制链接";
    share_copied: "Copied.", "已复制。";
    share_selected:
        "The browser does not let the page copy. The link is selected: copy it with Ctrl+C.",
        "浏览器不允许页面复制。链接已选中：请按 Ctrl+C 复制。";
    share_run_note:
        "A trace is JSON Lines: the scenario and every input. Open it here, or drop it on the page, and the same run is computed again. A transcript says the run in words.",
        "运行记录是 JSON Lines：场景和每个输入。在这里打开或拖到页面上，就会重新计算出同样的运行。文字记录用语言讲述整个运行。";
    share_trace: "Download the trace", "下载运行记录";
    share_names:
        "Anonymise: replace names and the values of labels, leave out annotations and what the run does not show",
        "匿名化：替换名称和标签的值，去掉注解和运行没有显示的内容";
    share_labels:
        "Leave out labels, annotations and the indices of labels",
        "去掉标签、注解和标签的索引";
    share_whole:
        "The trace holds the objects whole: with the values of environment variables, arguments and whatever else stands in them. An anonymised one does not.",
        "运行记录（trace）里是完整的对象，包括环境变量的值、启动参数和其中的其他一切。匿名化后就不会有。";
    smallest: "Cut down to the smallest run that shows this", "缩减为仍能重现这一点的最小运行";
    smallest_note:
        "This: a fact of the same kind, about the same object, as the one that you are at. Objects, events, handlers, settings and inputs that it does not need are left out, in a branch beside this run.",
        "“这一点”指与当前事实同类、关于同一对象的事实。它用不到的对象、事件、handler、设置和输入都会去掉；结果放在一个新分支里，当前运行不变。";
    share_transcript: "Download the transcript", "下载文字记录";
    why_the_step: "this step", "这一步";
    why_not_here: "what you chose, which is not on the stage now", "所选的对象，此刻不在台上";

    // Run until.
    until_title: "Run until", "运行到";
    until_call: "handler called", "调用 handler";
    until_key: "key", "key";
    until_fact: "fact", "事实";
    break_stored: "is stored", "被存入时";
    until_text: "as text", "写成文字";
    until_go: "Go to it", "跳到那里";
    until_play: "Play to it", "播放到那里";
    until_break: "Break at it", "设为断点";
    until_on: "Look on", "继续找";
    until_delta: "delta queued", "入队的 Delta";
    until_violation: "an invariant breaks", "不变式被破坏";
    no_breaks: "None. Playing stops at a breakpoint.", "还没有。播放会停在断点处。";
    break_remove: "Remove the breakpoint", "删除断点";
    break_on: "Break when this key …", "断点：当这个 key ……";
    break_any: "comes up at all", "出现时";
    break_queued: "is queued as Deleted", "以 Deleted 入队时";
    break_popped: "is popped", "被 Pop 时";
    break_called: "reaches a handler", "到达 handler 时";
    key_coarse: "a bigger step back or on", "按更大步长后退或前进";
    key_micro: "one fact back or on", "后退或前进一个最小步";
    key_close: "close the drawer", "关闭侧栏";
    key_fork: "fork: a branch of its own from here", "分叉：从这里开始自己的分支";
    legend_click:
        "click anything on the stage, or press Enter on it: why it is there; an object of the API server is then chosen for edit and delete, too",
        "点击舞台上的任何东西，或在其上按 Enter：它为什么在那里；API server 的对象同时被选中，可修改或删除";

    // The help.
    keys_title: "Keys", "按键";
    key_play: "play or pause", "播放或暂停";
    key_step: "one step back or on", "后退或前进一步";
    key_marker: "marker before or after", "前一个或后一个标记";
    key_things:
        "to a panel; ↑ ↓ along what is in it, or along a row of buttons, while ← → still step; ↵ why is it here?",
        "到一个面板；↑ ↓ 在其中各项或一排按钮中移动，← → 仍是前后一步；↵ 为什么在这里？";
    key_tenths: "to that tenth of the run", "跳到全程的 N/10 处";
    key_reset: "start over; what you have set stays", "重新开始，保留你的设置";
    key_help: "this help", "本帮助";
    legend_title: "Signs", "图例";
    terms_title: "Terms", "术语";
    eras_title: "Generations of client-go", "client-go 的实现版本";
    legend_waits:
        "hatched: waits, for a lock or on the wire; hatched without an outline: in the cache, but no longer on the server",
        "斜纹：在等待，等锁或等着被接收；有斜纹而没有轮廓：在缓存中，但已不在 API server 上";
    legend_lit: "lit: changed by this step", "点亮：这一步改变了它";
    legend_gone: "struck out: gone", "划掉：已离开";
    legend_rv:
        "rv: resourceVersion, the version of an object or a list; a later write has a higher one",
        "rv：resourceVersion，对象或列表的版本；越晚的写入越大";
    legend_dashed:
        "dashed: an empty place, or an object that is not in the cache yet; with ?: a tombstone (DeletedFinalStateUnknown)",
        "虚线：空位，或缓存中还没有的对象；加 ?：墓碑（DeletedFinalStateUnknown）";
    legend_ring:
        "beside a handler: ○ the notification that it handles now, ▢ those that wait for it, ◌ one that is being handed over",
        "handler 旁边：○ 正在处理的通知，▢ 等它处理的通知，◌ 正要交给它的通知";
    legend_marks:
        "small square or disc: one object; recreated, it gets another one",
        "小方块或圆点：一个对象；重新创建后会换一个";
    legend_timeline:
        "◇ on the timeline: a marker; ▲: a check that does not hold; coloured ticks: deltas; a box: so many of them side by side",
        "时间线上的 ◇：标记；▲：未通过的检查；彩色竖线：Delta；方框中的数字：挤在一起的 Delta 个数";
    legend_modes:
        "Pop is free: it pops whenever something is queued; paced: it rests after each Pop; held: it waits until you press Pop one",
        "Pop 的三种方式：“自由”，队列里有东西就取；“定速”，每次取完歇一会儿；“手动”，点“Pop 一次”才取";
    legend_lanes:
        "lanes: yellow holds the lock, hatched waits for it, grey runs without it",
        "泳道：黄色持有锁，斜纹在等锁，灰色不持锁运行";
    legend_block:
        "thin bar in a lane: the same of blockDeltas, the lock that keeps deltas from being processed while a handler comes or goes",
        "泳道里的细条：同样的含义，但指 blockDeltas，即添加或移除 handler 期间挡住 Delta 处理的锁";
    legend_behind:
        "N objects behind: so many differ between the cache and the API server; before 0.36 client-go itself does not keep the cache's rv",
        "落后 N 个对象：有 N 个在缓存和 API server 上不一致；0.36 之前 client-go 自己并不保存缓存的 rv";
    legend_known:
        "known: KnownObjects has the object; pending: deltas of its key wait in the queue; neither: a Delete of it is dropped",
        "known：KnownObjects 里有这个对象；pending：队列里还有这个 key 的 Delta；两者都没有：它的 Delete 会被丢弃";
    legend_set:
        "settings: what the lesson or you have set, not client-go",
        "settings：课程或你做的设置，不属于 client-go";
    legend_live:
        "Cluster: watch a real one; all that comes is recorded, also while you look at the past, and Live goes back to the edge",
        "集群：观察一个真实的集群；收到的一切都会录制，回看过去时也一样，按“实时”回到最新处";

    // Clusters.
    tab_live: "live", "实时";
    cluster_disconnect: "Disconnect", "断开";
    cluster_era: "client-go", "client-go";
    cluster_never: "never", "从不";
    cluster_resource: "Resource", "资源";
    cluster_tabs: "Watched resources", "正在观察的资源";
    tab_close: "Close the tab: it disconnects, and its recording is dropped", "关闭标签：断开连接，并丢弃它的录制";
    tab_off: "disconnected", "已断开";
    tab_trouble: "trouble", "有问题";
    cluster_looking: "Looking for a Kubernetes API beside this page …", "正在本页旁边寻找 Kubernetes API……";
    cluster_ways: "Four ways", "四种方式";
    cluster_then: "then open", "然后打开";
    cluster_copy: "Copy", "复制";
    cluster_base: "The API is elsewhere on this server", "API 在这台服务器的别处";
    cluster_look: "Look again", "再找一次";
    cluster_connected: "Connected:", "已连接：";
    cluster_all: "all namespaces", "全部命名空间";
    cluster_labels: "label selector", "标签选择器";
    cluster_fields: "field selector", "字段选择器";
    cluster_metadata:
        "Metadata only: names, labels, owners; no spec, no status",
        "仅元数据：名称、标签、属主；没有 spec 和 status";
    cluster_indices: "more indices: labels, or paths of fields", "更多索引：标签，或字段路径";
    cluster_resync: "resync every … s", "每隔几秒 resync";
    cluster_note: "Reads only. What comes stays in this page.", "只读。收到的内容只留在本页。";
    cluster_counting: "counting …", "正在计数……";
    cluster_uncounted: "The server does not say how many there are.", "服务器没有说有多少个。";
    cluster_redacted: "Their data is left out as it arrives.", "它们的 data 在到达时就被丢弃。";
    cluster_search: "Find: pods, deploy …", "查找：pods、deploy……";
    cluster_group: "Group", "组";
    cluster_groups: "all groups", "全部组";
    cluster_custom: "custom resources", "自定义资源";
    cluster_asking: "Asking what there is …", "正在询问有哪些资源……";
    cluster_nothing: "There is no such resource.", "没有这样的资源。";
    cluster_scoped: "cluster-wide", "集群范围";
    go_live: "To the live edge, and along with it", "回到实时位置并跟随";
    live: "Live", "实时";
}
