//! Words: every fact in one plain sentence, and why it happened.
//!
//! The words come from the fact, the facts before it and the picture after it, so they cannot tell
//! another story than the stage. Both languages stand side by side in each sentence.

use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, BackoffReason, Body, Cause, Entry, EventType, Fact, FactRecord, HandlersFact, Known,
    ListAgain, LockName, Notification, ObjectRef, ProcessMode, QueueFact, ReflectorFact, Refusal,
    RunFact, ServerFact, Shape, StoreFact, Verb, WatchEnd, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_cache::queue::Release;
use deltascope_cache::step::Step;
use deltascope_replay::picture::{InformerKind, LockState, Picture, QueueKind, SourceKind};

use super::i18n::Lang;
use super::lanes::actor_name;
use super::strings;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain words.
    Text(String),
    /// An identifier: an object, an index, a handler. Bold, never translated.
    Name(String),
    /// A delta or event type in its colour, with the text that names it.
    Delta(DeltaType, String),
    /// Monospace: a version, a condition with its values.
    Code(String),
}

impl Span {
    /// Its text, whatever it looks like.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Name(text) | Self::Delta(_, text) | Self::Code(text) => text,
        }
    }
}

/// Why a link that is no cause stands in a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// It put into the Indexer what the list lacks.
    Stored,
    /// It put that into the queue.
    Queued,
    /// It took that from the server, and nobody was told.
    Unseen,
}

/// What the strip under the stage says of one fact.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Words {
    /// What happened.
    pub what: Vec<Span>,
    /// Why, and what did not happen; may be empty.
    pub why: Vec<Span>,
}

impl Words {
    /// The same where playing stopped at these breakpoints.
    #[must_use]
    pub fn stopped_by(mut self, breaks: &str, lang: Lang) -> Self {
        let mut why = say(
            lang,
            "Stopped at the breakpoint {breaks}.",
            "停在断点 {breaks}。",
            &[("breaks", mono(breaks))],
        );
        if lang == Lang::En && !self.why.is_empty() {
            why.push(Span::Text(" ".into()));
        }
        why.append(&mut self.why);
        self.why = why;
        self
    }
}

/// How an object is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By what stands after the namespace: the run has objects of one namespace.
    #[default]
    Short,
    /// By its key: it has objects of several.
    Long,
}

impl Naming {
    /// What a key is called so.
    fn of(self, key: &Key) -> String {
        match self {
            Self::Short => short_name(key).to_owned(),
            Self::Long => key.to_string(),
        }
    }
}

/// In which language something is said, and how objects are called in it.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// The language.
    pub lang: Lang,
    /// The objects' names.
    pub naming: Naming,
}

impl From<Lang> for Voice {
    fn from(lang: Lang) -> Self {
        Self {
            lang,
            naming: Naming::Short,
        }
    }
}

/// The words of `record`. `recent` holds the last facts up to and including it, oldest first;
/// `picture` is the state after it.
#[must_use]
pub fn words(
    record: &FactRecord,
    recent: &[FactRecord],
    picture: &Picture,
    voice: impl Into<Voice>,
) -> Words {
    let Voice { lang, naming } = voice.into();
    Writer {
        record,
        recent,
        picture,
        lang,
        naming,
    }
    .words()
}

/// What leads from where a list was seen to lack an object to a fact that explains it.
#[must_use]
pub fn lead(aside: Aside, key: &Key, voice: Voice) -> Vec<Span> {
    let (en, zh) = match aside {
        Aside::Stored => (
            "The Indexer has {name}, the list has not. ",
            "Indexer 里有 {name}，列表里没有。",
        ),
        Aside::Queued => (
            "The queue has {name}, the list has not. ",
            "队列里有 {name}，列表里没有。",
        ),
        Aside::Unseen => (
            "That is why the list lacks {name}; no event of it arrived. ",
            "列表里没有 {name} 的原因；它的事件没有到达。",
        ),
    };
    let name = named(&voice.naming.of(key));
    say(voice.lang, en, zh, &[("name", name)])
}

/// The words before the first fact.
#[must_use]
pub fn before_start(picture: &Picture, lang: Lang) -> Words {
    if !picture.machinery.has_queue() {
        let what = say(
            lang,
            "Nothing has happened yet. A program will do all of it: no reflector, no queue.",
            "还什么都没有发生。一切都由程序完成：没有 Reflector，也没有队列。",
            &[],
        );
        return Words {
            what,
            why: Vec::new(),
        };
    }
    let queue = picture.queue.kind.as_str();
    let (en, zh) = match picture.api.feed {
        SourceKind::Server => (
            "Nothing has happened yet. The API server holds {objects}; the {queue} and everything after it is empty.",
            "还什么都没有发生。API server 上有 {objects}，{queue} 及其后的一切都是空的。",
        ),
        SourceKind::Recorded => (
            "Nothing has happened yet. What follows was recorded from a real API server.",
            "还什么都没有发生。接下来的内容录自一个真实的 API server。",
        ),
        // The recording begins in the middle of a run.
        SourceKind::Cluster if !picture.reflector.requests.is_empty() => {
            let what = say(
                lang,
                "What came before this moment is no longer kept: the recording begins here, in the middle of the run.",
                "此刻之前的内容已不再保留：录制从这里开始，处在运行的中途。",
                &[],
            );
            return Words {
                what,
                why: Vec::new(),
            };
        }
        SourceKind::Cluster => (
            "Nothing has happened yet. What follows comes from a real cluster.",
            "还什么都没有发生。接下来的内容来自一个真实的集群。",
        ),
        SourceKind::Program => (
            "Nothing has happened yet. A program will call the {queue} itself: no API server, no Reflector.",
            "还什么都没有发生。这里由程序直接调用 {queue}：没有 API server，也没有 Reflector。",
        ),
    };
    let why = match picture.api.feed {
        SourceKind::Recorded if !picture.api.told_by_events => (
            "Step on: the recording begins in the middle of a watch, without a list.",
            "向前一步：录制从 watch 的中途开始，没有 List。",
        ),
        SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => (
            "Step on: the reflector starts with a list.",
            "向前一步：Reflector 从 List 开始。",
        ),
        SourceKind::Program => (
            "Step on: the first call is made.",
            "向前一步：程序发出第一个调用。",
        ),
    };
    let live = picture
        .api
        .objects
        .values()
        .filter(|object| !object.deleted)
        .count();
    Words {
        what: say(
            lang,
            en,
            zh,
            &[
                ("objects", text(objects(live, lang))),
                ("queue", text(queue)),
            ],
        ),
        why: say(lang, why.0, why.1, &[]),
    }
}

/// The spans as one string.
#[must_use]
pub fn plain(spans: &[Span]) -> String {
    spans.iter().map(Span::as_str).collect()
}

/// A resource version as it is shown: of a long one the tail.
#[must_use]
pub fn short_rv(rv: &str) -> String {
    let length = rv.chars().count();
    if length > 6 {
        format!("…{}", rv.chars().skip(length - 4).collect::<String>())
    } else {
        rv.to_owned()
    }
}

/// A key as it is shown: what stands after the namespace.
#[must_use]
pub fn short_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// What a server answered: the code, where there is one, and its reason.
#[must_use]
pub fn answer(code: u16, reason: &str) -> String {
    match (code, reason) {
        (0, "") => "?".to_owned(),
        (0, reason) => reason.to_owned(),
        (code, "") => code.to_string(),
        (code, reason) => format!("{code} {reason}"),
    }
}

/// What the sources say when they have no more, in Chinese.
const REASONS: &[(&str, &str)] = &[
    ("the recording ends here", "录制到此结束"),
    (
        "the recording holds no further list",
        "录制里没有更多的 List",
    ),
    ("a program has nothing to list", "程序没有可供 List 的内容"),
    (
        "a program has nothing to watch",
        "程序没有可供 watch 的内容",
    ),
    ("a recording cannot be written to", "录制不能写入"),
];

fn known_reason(reason: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(english, _)| *english == reason)
        .map(|(_, chinese)| *chinese)
}

/// Whether a version leaves it to the server where to start.
fn is_any(rv: &str) -> bool {
    rv.is_empty() || rv == "0"
}

/// Makes the sentences of one fact.
struct Writer<'a> {
    record: &'a FactRecord,
    recent: &'a [FactRecord],
    picture: &'a Picture,
    lang: Lang,
    naming: Naming,
}

/// What happened, and the sentences that say why.
type Told = (Vec<Span>, Vec<Vec<Span>>);

/// `say!(writer, "English", "中文", name = spans, …)`: one sentence or a few.
macro_rules! say {
    ($writer:expr, $en:expr, $zh:expr $(, $name:ident = $value:expr)* $(,)?) => {
        say($writer.lang, $en, $zh, &[$((stringify!($name), $value)),*])
    };
}

impl Writer<'_> {
    fn words(&self) -> Words {
        let (what, mut why) = self.tell();
        if let Some(cause) = self.cause_clause() {
            why.insert(
                0,
                say!(self, "Cause: {cause}.", "起因：{cause}。", cause = cause),
            );
        }
        let mut joined = Vec::new();
        for sentence in why {
            if !joined.is_empty() && self.lang == Lang::En {
                joined.push(Span::Text(" ".into()));
            }
            joined.extend(sentence);
        }
        Words { what, why: joined }
    }

    #[allow(
        clippy::too_many_lines,
        reason = "one arm a fact: the whole point is that none is forgotten"
    )]
    fn tell(&self) -> Told {
        if let Some(told) = self.tell_program() {
            return told;
        }
        match &self.record.fact {
            // ---- the API server
            Fact::Server(ServerFact::ObjectCreated { object, body: _ }) => (
                say!(
                    self,
                    "{name} was created on the server and got resourceVersion {rv}.",
                    "{name} 在 API server 上创建，resourceVersion 为 {rv}。",
                    name = self.name(&object.key),
                    rv = version(&object.rv),
                ),
                self.who_hears_of_it(&object.key),
            ),
            Fact::Server(ServerFact::ObjectUpdated {
                object,
                body: _,
                old_rv,
            }) => (
                say!(
                    self,
                    "{name} was changed on the server: resourceVersion {old} → {rv}.",
                    "{name} 在 API server 上被修改：resourceVersion {old} → {rv}。",
                    name = self.name(&object.key),
                    old = version(old_rv),
                    rv = version(&object.rv),
                ),
                self.who_hears_of_it(&object.key),
            ),
            Fact::Server(ServerFact::ObjectDeleted { object, old_rv }) => {
                let mut why = vec![say!(
                    self,
                    "A deletion is a write, too: it has a version of its own, later than {old}.",
                    "删除也是一次写入：它有自己的 resourceVersion，晚于 {old}。",
                    old = version(old_rv),
                )];
                why.extend(self.who_hears_of_it(&object.key));
                (
                    say!(
                        self,
                        "{name} was deleted on the server, at resourceVersion {rv}.",
                        "{name} 在 API server 上被删除，resourceVersion 为 {rv}。",
                        name = self.name(&object.key),
                        rv = version(&object.rv),
                    ),
                    why,
                )
            }
            Fact::Server(ServerFact::WriteRefused { verb, key, refusal }) => {
                self.write_refused(*verb, key, refusal)
            }
            Fact::Server(ServerFact::RefusalsAsked { watch, kind, times }) => {
                self.refusals_asked(*watch, *kind, *times)
            }
            Fact::Server(ServerFact::HistoryCompacted { oldest }) => (
                say!(
                    self,
                    "The server compacted its history: only what came after resourceVersion {rv} is left.",
                    "API server 压缩了历史：只保留 resourceVersion {rv} 之后的变更。",
                    rv = version(oldest),
                ),
                vec![say!(
                    self,
                    "A watch from an older version is answered with 410 Gone, and the reflector has to list again. The objects themselves are untouched.",
                    "从更旧的版本开始的 watch 会得到 410 Gone，Reflector 只能重新 List。对象本身不受影响。",
                )],
            ),
            Fact::Server(ServerFact::ListAnswered { rv, count }) => (
                say!(
                    self,
                    "The server answered the list: {objects} at resourceVersion {rv}.",
                    "API server 返回了 List 结果：{objects}，resourceVersion 为 {rv}。",
                    objects = text(objects(*count as usize, self.lang)),
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "This version is the list's own: the watch will go on exactly from there.",
                    "这个版本属于整个列表：之后的 watch 正好从这里接上。",
                )],
            ),
            Fact::Server(ServerFact::ObjectsLearned { rv, objects: all }) => (
                say!(
                    self,
                    "So this is what the cluster has: {objects}, as of resourceVersion {rv}.",
                    "于是知道了集群里有什么：{objects}，版本为 {rv}。",
                    objects = text(objects(all.len(), self.lang)),
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "Nobody can look into a real server: this room shows what its answers have told so far.",
                    "真实的 API server 内部看不到：这里显示的是它的应答到目前为止说明的内容。",
                )],
            ),
            Fact::Server(ServerFact::RequestDeferred {
                code,
                after_ms,
                attempt,
            }) => (
                say!(
                    self,
                    "The server asks to come again later: {code}, Retry-After. The client waits {pause}, then sends the same request again.",
                    "API server 请客户端稍后再来：{code}，Retry-After。客户端等待 {pause}，然后把同一个请求再发一次。",
                    code = mono(code.to_string()),
                    pause = text(duration(*after_ms, self.lang)),
                ),
                vec![say!(
                    self,
                    "This is the HTTP client's own retry ({attempt}, of at most 10): the reflector does not see it and does not back off.",
                    "这是 HTTP 客户端自己的重试（第 {attempt} 次，最多 10 次）：Reflector 看不到它，也不会退避。",
                    attempt = mono(attempt.to_string()),
                )],
            ),
            // Code 0: nobody answered, there is nothing more to answer with.
            Fact::Server(ServerFact::ListRefused { code: 0, reason })
                if self.picture.api.feed != SourceKind::Cluster =>
            {
                (
                    say!(
                        self,
                        "No answer to the list: {reason}.",
                        "List 没有得到回应：{reason}。",
                        reason = self.reason(reason),
                    ),
                    vec![say!(
                        self,
                        "The reflector stops here. What is queued and what is stored stay as they are.",
                        "Reflector 到此停止。队列和已存的内容保持原样。",
                    )],
                )
            }
            Fact::Server(ServerFact::ListRefused { code, reason }) => (
                say!(
                    self,
                    "The server did not answer the list: {code}.",
                    "API server 没有返回列表：{code}。",
                    code = mono(answer(*code, reason)),
                ),
                vec![say!(
                    self,
                    "The {queue} and what is stored stay as they are: old, but whole.",
                    "{queue} 与已存的内容保持原样：虽旧，但完整。",
                    queue = self.queue(),
                )],
            ),
            Fact::Server(ServerFact::WatchAccepted { rv }) if self.begins_in_mid_watch(rv) => (
                say!(
                    self,
                    "The recording begins in the middle of a watch.",
                    "录制从 watch 的中途开始。",
                ),
                vec![say!(
                    self,
                    "Only what comes over it from here on is known: neither what the server held nor from which version it started.",
                    "能知道的只有此后推送的内容：API server 上原有什么、watch 从哪个版本开始，都不得而知。",
                )],
            ),
            Fact::Server(ServerFact::WatchAccepted { .. }) if self.asked_for_stream() => (
                say!(
                    self,
                    "The streaming list is open: first come all objects, then a bookmark that says so, then every change.",
                    "流式列表已建立：先推送全部对象，再用一个 BOOKMARK 表示齐全，然后是每次变更。"
                ),
                vec![say!(
                    self,
                    "List and watch are one request here: no change can fall between them.",
                    "这里 List 和 watch 是同一个请求：两者之间不会漏掉任何变更。"
                )],
            ),
            Fact::Server(ServerFact::WatchAccepted { rv }) if is_any(rv) => (
                say!(
                    self,
                    "The watch is open: first come all objects that there are, then every change.",
                    "watch 已建立：先推送现有的全部对象，然后是每次变更。",
                ),
                vec![say!(
                    self,
                    "It starts at no particular version, so every object there is comes first, as [ADDED], in no promised order.",
                    "没有指定起始版本，所以现有的每个对象都会先以 [ADDED] 推送一遍，顺序不作保证。",
                )],
            ),
            Fact::Server(ServerFact::WatchAccepted { rv }) => (
                say!(
                    self,
                    "The watch is open: every change after resourceVersion {rv} will come over it.",
                    "watch 已建立：resourceVersion {rv} 之后的每次变更都会推送过来。",
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "The server sends no object that has not changed since.",
                    "此后没有变化的对象，API server 不会再发送。",
                )],
            ),
            Fact::Server(ServerFact::WatchDenied { code, reason }) => (
                say!(
                    self,
                    "The server refused the watch: {code}.",
                    "API server 拒绝了 watch：{code}。",
                    code = mono(answer(*code, reason)),
                ),
                vec![self.after_denial(*code)],
            ),
            Fact::Server(ServerFact::ConnectionRefused) => (
                say!(
                    self,
                    "The request did not reach the server: connection refused.",
                    "请求没有到达 API server：无法连接。",
                ),
                vec![if self.record.step == Step::ServerList {
                    say!(
                        self,
                        "This round is over. The next one begins with a list, after a pause; what is stored stays as it is.",
                        "这一轮到此为止。停顿之后，下一轮从 List 开始；已存的内容保持原样。",
                    )
                } else if self.asked_for_stream() {
                    say!(
                        self,
                        "`unreachable → stream again`, after a pause: the streaming list starts over, from nothing.",
                        "`无法连接 → 重新请求流`，先停顿一段时间：流式列表从头再来。",
                    )
                } else {
                    say!(
                        self,
                        "`unreachable → watch again`, after a pause and from the same version; it never leads to a list.",
                        "`无法连接 → 重新 watch`，先停顿，再从同一版本开始；不会因此重新 List。",
                    )
                }],
            ),
            Fact::Server(ServerFact::WatchRefused { rv, oldest }) => (
                say!(
                    self,
                    "The server refused the watch from resourceVersion {rv}: `410 Gone`.",
                    "API server 拒绝了从 resourceVersion {rv} 开始的 watch：`410 Gone`。",
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "`{rv} is older than {oldest} → 410`: what happened in between is forgotten, so only a list can tell.",
                    "`{rv} 早于 {oldest} → 410`：其间的历史已不存在，只能重新 List。",
                    rv = version(rv),
                    oldest = version(oldest),
                )],
            ),
            Fact::Server(ServerFact::EventSent {
                ends_list: true,
                object,
                ..
            }) => (
                say!(
                    self,
                    "The server put the {event} that ends the initial list on the watch stream, at {rv}.",
                    "API server 在 watch 流中写入结束初始列表的 {event}，版本为 {rv}。",
                    event = event_type(EventType::Bookmark),
                    rv = version(&object.rv),
                ),
                vec![say!(
                    self,
                    "`k8s.io/initial-events-end: \"true\"`: every object there is has been sent; what comes after it are changes.",
                    "`k8s.io/initial-events-end: \"true\"`：现有的全部对象都已发送；此后的都是变更。",
                )],
            ),
            Fact::Server(ServerFact::EventSent { event, object, .. }) => {
                self.event_sent(*event, object)
            }
            Fact::Server(ServerFact::WatchClosed { end, lost }) => self.watch_closed(end, *lost),

            // ---- the reflector
            Fact::Reflector(ReflectorFact::ListRequested {
                continues: true, ..
            }) => (
                say!(
                    self,
                    "The reflector asked for the next page of its list.",
                    "Reflector 请求列表的下一页。"
                ),
                vec![say!(
                    self,
                    "It sends the token instead of a version: a server refuses both together.",
                    "它带的是 token 而不是版本：两者同时出现会被 API server 拒绝。"
                )],
            ),
            Fact::Reflector(ReflectorFact::ListRequested { rv, limit, .. }) => (
                say!(
                    self,
                    "The reflector asked for a list with resourceVersion {rv}.",
                    "Reflector 发出 List 请求，resourceVersion 为 {rv}。",
                    rv = version(rv),
                ),
                vec![match &**rv {
                    "0" => say!(
                        self,
                        "`0, limit = {limit}`: any state will do, even an old one from the server's watch cache, which ignores the limit.",
                        "`0，limit = {limit}`：任何状态都可以，哪怕是 API server watch cache 里较旧的一份，它会忽略 limit。",
                        limit = text(limit.to_string()),
                    ),
                    "" => say!(
                        self,
                        "Empty means: the newest state, read from etcd. The last version it knew cannot be had any more.",
                        "空字符串表示要最新状态，从 etcd 读取。它上次记下的版本已无法取得。",
                    ),
                    _ => say!(
                        self,
                        "It asks for a state not older than what it has already seen, so that the cache does not go back in time.",
                        "它要求结果不早于自己已见过的状态，这样缓存就不会倒退。",
                    ),
                }],
            ),
            Fact::Reflector(ReflectorFact::ListReceived { rv, count }) => (
                say!(
                    self,
                    "The list reached the reflector: {objects} at resourceVersion {rv}.",
                    "Reflector 收到列表：{objects}，resourceVersion 为 {rv}。",
                    objects = text(objects(*count as usize, self.lang)),
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "All of it goes into the {queue} with one call of Replace. What the list lacks counts as deleted.",
                    "整个列表通过一次 Replace 放入 {queue}。列表里没有的，就视为已删除。",
                    queue = self.queue(),
                )],
            ),
            Fact::Reflector(ReflectorFact::WatchRequested { rv, .. })
                if self.begins_in_mid_watch(rv) =>
            {
                (
                    say!(
                        self,
                        "The reflector asked for a watch, without a list before it.",
                        "Reflector 请求 watch，在此之前没有 List。",
                    ),
                    vec![say!(
                        self,
                        "The recording begins in the middle of a watch and does not say from which version that was.",
                        "录制从 watch 的中途开始，没有记下是从哪个版本开始的。",
                    )],
                )
            }
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv,
                initial_events: true,
            }) => (
                say!(
                    self,
                    "The reflector asked for a streaming list, {rv}.",
                    "Reflector 请求流式列表，{rv}。",
                    rv = match (rv.is_empty(), self.lang) {
                        (true, Lang::En) => text("of the newest state"),
                        (true, Lang::Zh) => text("要求最新状态"),
                        (false, _) =>
                            say!(self, "not older than {rv}", "不早于 {rv}", rv = version(rv)),
                    }
                ),
                vec![say!(
                    self,
                    "`sendInitialEvents = true`: a watch that begins with all objects, so the server never has to build a list as a whole.",
                    "`sendInitialEvents = true`：以全部对象开头的 watch，API server 无需拼出整个列表。"
                )],
            ),
            Fact::Reflector(ReflectorFact::WatchRequested { rv, .. }) => (
                say!(
                    self,
                    "The reflector asked for a watch from resourceVersion {rv}.",
                    "Reflector 请求从 resourceVersion {rv} 开始 watch。",
                    rv = version(rv),
                ),
                vec![if &**rv == "0" {
                    say!(
                        self,
                        "`0` means: start from any state, even an old one, and send all objects of it first.",
                        "`0` 表示从任何状态开始都可以，哪怕较旧，并先把其中的全部对象发送一遍。",
                    )
                } else if rv.is_empty() {
                    say!(
                        self,
                        "Without a version, the server starts from the newest state and sends all of it first.",
                        "不带版本时，API server 从最新状态开始，并先把全部对象发送一遍。",
                    )
                } else {
                    say!(
                        self,
                        "That is LastSyncResourceVersion, the last it has seen: if the server still has what came after it, nothing is missed and nothing comes twice.",
                        "这就是 LastSyncResourceVersion，即它见到的最后一个版本：只要 API server 还保留着其后的变更，就不重不漏。",
                    )
                }],
            ),
            Fact::Reflector(ReflectorFact::EventReceived {
                ends_list: true,
                object,
                ..
            }) => (
                say!(
                    self,
                    "The reflector took the {event} that ends the initial list off the stream, at {rv}.",
                    "Reflector 从流中取出结束初始列表的 {event}，版本为 {rv}。",
                    event = event_type(EventType::Bookmark),
                    rv = version(&object.rv),
                ),
                vec![say!(
                    self,
                    "`list complete = yes`: its annotation says so. What the temporary store holds goes into the {queue} as one list.",
                    "`列表齐全 = 是`：它的注解这样说。临时存储里的内容将作为一个列表放入 {queue}。",
                    queue = self.queue(),
                )],
            ),
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => {
                self.event_received(*event, object)
            }
            Fact::Reflector(ReflectorFact::LastSyncMoved { from, to }) => (
                if from.is_empty() {
                    say!(
                        self,
                        "LastSyncResourceVersion was set to {to}.",
                        "LastSyncResourceVersion 设为 {to}。",
                        to = version(to),
                    )
                } else {
                    say!(
                        self,
                        "LastSyncResourceVersion moved: {from} → {to}.",
                        "LastSyncResourceVersion 前移：{from} → {to}。",
                        from = version(from),
                        to = version(to),
                    )
                },
                vec![self.received_is_not_stored()],
            ),
            Fact::Reflector(ReflectorFact::WatchEnded { .. })
                if self.record.step == Step::ReflectorStreamAgain =>
            {
                (
                    say!(
                        self,
                        "The streaming list ended before it was complete.",
                        "流式列表在齐全之前就结束了。"
                    ),
                    vec![say!(
                        self,
                        "What it has brought is dropped: half a list would look like deletions.",
                        "已收到的都被丢弃：半个列表会被误当成删除。"
                    )],
                )
            }
            Fact::Reflector(ReflectorFact::WatchEnded { relist, code }) => (
                if *relist {
                    say!(
                        self,
                        "The reflector noticed that its watch is over{by}, and will list again.",
                        "Reflector 发现 watch 已结束{by}，接下来要重新 List。",
                        by = self.ended_by(*code),
                    )
                } else {
                    say!(
                        self,
                        "The reflector noticed that its watch is over{by}, and will watch again from {rv}.",
                        "Reflector 发现 watch 已结束{by}，接下来从 {rv} 重新 watch。",
                        by = self.ended_by(*code),
                        rv = version(&self.picture.reflector.last_sync),
                    )
                },
                vec![if *relist {
                    say!(
                        self,
                        "`relist = true`: a list comes first, plain or streaming. What was deleted meanwhile will only show as missing from it.",
                        "`relist = true`：要先 List（普通或流式）。这期间被删除的对象，只会表现为列表里没有它。",
                    )
                } else {
                    say!(
                        self,
                        "`relist = false`: it does not list. Whether the server still has what came after that version, only its answer will say.",
                        "`relist = false`：不重新 List。这个版本之后的变更 API server 是否还保留着，要看它的应答。",
                    )
                }],
            ),
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, reason }) => (
                say!(
                    self,
                    "The reflector waits {ms} before it tries again.",
                    "Reflector 等待 {ms} 后重试。",
                    ms = text(duration(*ms, self.lang)),
                ),
                vec![match reason {
                    BackoffReason::WatchEnded => say!(
                        self,
                        "`unreachable or 429 → watch again` from the last version, never a list. Meanwhile nothing stops the process loop.",
                        "`无法连接或 429 → 重新 watch`，从最后的版本开始，不会 List。这期间处理循环照常运行。",
                    ),
                    BackoffReason::Expired => say!(
                        self,
                        "Its version is too old to watch from: the next round begins with a list, plain or streaming.",
                        "它的版本太旧，无法继续 watch：下一轮从 List（普通或流式）开始。",
                    ),
                    BackoffReason::WatchFailed => say!(
                        self,
                        "The watch failed, or ended within a second without an event: the next round begins with a list, plain or streaming.",
                        "watch 失败，或者一秒之内没有任何事件就结束了：下一轮从 List（普通或流式）开始。",
                    ),
                    BackoffReason::StreamFailed => say!(
                        self,
                        "`unreachable or 429 → stream again`: the streaming list starts over, from nothing.",
                        "`无法连接或 429 → 重新请求流`：流式列表从头再来。",
                    ),
                    BackoffReason::ListFailed
                        if self.picture.generation.release() < Release::V0_36 =>
                    {
                        say!(
                            self,
                            "The list failed. Each pause is twice the one before, up to 30 s, until there was none for two minutes. On a cluster jitter comes on top.",
                            "List 失败了。每次停顿是上一次的两倍，最多 30 秒；两分钟没有停顿才从头算起。连接集群时还会加上抖动。",
                        )
                    }
                    BackoffReason::ListFailed => say!(
                        self,
                        "The list failed. Each pause is twice the one before, up to 30 s; from 1.36 on they begin anew every two minutes. On a cluster jitter comes on top.",
                        "List 失败了。每次停顿是上一次的两倍，最多 30 秒；从 1.36 起，每两分钟从头算起。连接集群时还会加上抖动。",
                    ),
                }],
            ),
            Fact::Reflector(ReflectorFact::ReflectorStopped { reason }) => (
                say!(
                    self,
                    "The reflector stopped: {reason}.",
                    "Reflector 已停止：{reason}。",
                    reason = self.reason(reason),
                ),
                vec![say!(
                    self,
                    "Nothing new comes in. What is queued can still be popped.",
                    "不再有新内容进来，已在队列里的仍然可以 Pop。",
                )],
            ),

            // ---- a program, and the switches of the run
            Fact::Run(RunFact::Called { delta_type, object }) => self.called(*delta_type, object),
            Fact::Run(RunFact::ModeSet { mode }) => self.mode_set(*mode),
            Fact::Run(RunFact::PopAsked { asked }) => (
                say!(self, "One Pop was asked for.", "点击了“Pop 一次”。"),
                vec![if *asked > 1 {
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
            ),
            Fact::Run(RunFact::KnownObjectsSet { on: true })
                if self.picture.store.items.is_empty() =>
            {
                (
                    say!(
                        self,
                        "KnownObjects is on: the program keeps an Indexer from here on, and the {queue} can ask it.",
                        "KnownObjects 已打开：从这里起程序维护一个 Indexer，{queue} 可以向它查询。",
                        queue = self.queue(),
                    ),
                    vec![say!(
                        self,
                        "The Indexer is empty now: it knows only what is popped from here on. Delete keeps what it knows or what is queued.",
                        "Indexer 此刻是空的：只认识从这里起 Pop 出来的对象。Delete 会保留它认识的或已在队列里的。",
                    )],
                )
            }
            Fact::Run(RunFact::KnownObjectsSet { on: true }) => (
                say!(
                    self,
                    "KnownObjects is on: the {queue} can ask the Indexer what it holds.",
                    "KnownObjects 已打开：{queue} 可以询问 Indexer 里有什么。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "Now Delete keeps what the Indexer knows, Replace finds missed deletions, and Resync has something to send.",
                    "这样 Delete 会保留 Indexer 认识的对象，Replace 能发现错过的删除，Resync 也有内容可发。",
                )],
            ),
            Fact::Run(RunFact::KnownObjectsSet { on: false }) => (
                say!(
                    self,
                    "KnownObjects is off: Delete looks only at what is in the {queue} right now.",
                    "KnownObjects 已关闭：Delete 只看此刻 {queue} 里有什么。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "A delete of what was popped already is dropped, a relist misses it as well, and Resync does nothing.",
                    "已被 Pop 的对象，其删除会被丢弃，重新 List 也发现不了，Resync 则什么都不做。",
                )],
            ),

            // ---- the queue's lock
            Fact::Queue(QueueFact::LockTaken { lock, by }) => (
                say!(
                    self,
                    "{by} took {lock}.",
                    "{by} 拿到了 {lock}。",
                    by = self.actor(*by),
                    lock = self.lock(*lock)
                ),
                vec![self.why_locked(*lock, *by)],
            ),
            Fact::Queue(QueueFact::LockAwaited { lock, by, holder }) if by == holder => (
                say!(
                    self,
                    "{by} waits for itself: it has {lock}.",
                    "{by} 在等自己：{lock} 就在它手里。",
                    by = self.actor(*by),
                    lock = self.lock(*lock)
                ),
                vec![say!(
                    self,
                    "The handler was called inside Pop, and calls `HasSynced`, which takes the lock that Pop has. Nobody will ever give it back: nothing is put in or popped any more.",
                    "handler 在 Pop 里面被调用，又去调用 `HasSynced`，要拿的正是 Pop 手里的那把锁。不会再有谁归还它：从此既放不进，也 Pop 不出。",
                )],
            ),
            Fact::Queue(QueueFact::LockAwaited { lock, by, holder }) => (
                say!(
                    self,
                    "{by} has to wait: {holder} has {lock}.",
                    "{by} 必须等待：{lock} 在 {holder} 手里。",
                    by = self.actor(*by),
                    holder = self.actor(*holder),
                    lock = self.lock(*lock)
                ),
                vec![self.why_awaited(*lock, *holder)],
            ),
            Fact::Queue(QueueFact::LockReleased { lock, by }) => (
                say!(
                    self,
                    "{by} gave {lock} back.",
                    "{by} 归还了 {lock}。",
                    by = self.actor(*by),
                    lock = self.lock(*lock)
                ),
                vec![match self.lock_state(*lock).waiting.first() {
                    Some(waiting) => say!(
                        self,
                        "{waiting} is next.",
                        "接下来轮到 {waiting}。",
                        waiting = self.actor(*waiting)
                    ),
                    None if self.record.step == Step::PopRelease => say!(
                        self,
                        "It processes without the lock (from 1.36 on), so the queue can be filled meanwhile.",
                        "它在不持有锁的情况下处理（从 1.36 起），这期间仍可往队列里放东西。"
                    ),
                    None => say!(self, "Nobody waits for it.", "没有人在等它。"),
                }],
            ),

            // ---- the queues
            Fact::Queue(QueueFact::KeyFailed { error }) => (
                say!(
                    self,
                    "No key could be made for the object, so nothing was queued.",
                    "无法为对象算出 key，因此没有入队。",
                ),
                vec![say!(
                    self,
                    "`{error}`. The caller gets the error; without a key there is no place for the object in queue or store.",
                    "`{error}`。错误返回给调用者；没有 key，对象在队列和存储里都无处可放。",
                    error = mono(&**error),
                )],
            ),
            Fact::Queue(QueueFact::TransformFailed { key, error })
                if self.record.step == Step::ReflectorKeep =>
            {
                (
                    say!(
                        self,
                        "The transformer failed for {name}: the streaming list will lack it.",
                        "{name} 的 transformer 失败：流式列表里会缺少它。",
                        name = self.name(key)
                    ),
                    vec![say!(
                        self,
                        "`{error}`. What the list lacks counts as deleted.",
                        "`{error}`。列表里没有的，就视为已删除。",
                        error = mono(&**error)
                    )],
                )
            }
            Fact::Queue(QueueFact::TransformFailed { key, error }) => (
                say!(
                    self,
                    "The transformer failed for {name}, so it was not queued.",
                    "{name} 的 transformer 失败，因此它没有入队。",
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "`{error}`. From a watch this event is lost for good, and the version moves on all the same; from a list, the whole list is asked for again.",
                    "`{error}`。若来自 watch，这个事件就此丢失，版本却照样前移；若来自 List，则整个列表会重新请求。",
                    error = mono(&**error),
                )],
            ),
            Fact::Queue(QueueFact::Transformed { from: _, to })
                if self.record.step == Step::ReflectorKeep =>
            {
                (
                    say!(
                        self,
                        "The transformer made another object of {name} on its way into the temporary store.",
                        "{name} 进入临时存储之前，transformer 把它换成了另一个对象。",
                        name = self.name(&to.key),
                    ),
                    vec![say!(
                        self,
                        "The queue gives it to the transformer once more: what is done twice must come to the same as done once.",
                        "到了队列，它还要再经过一次 transformer：做两次的结果必须和做一次相同。",
                    )],
                )
            }
            Fact::Queue(QueueFact::Transformed { from: _, to }) => (
                say!(
                    self,
                    "The transformer made another object of {name} before it was queued.",
                    "{name} 入队之前，transformer 把它换成了另一个对象。",
                    name = self.name(&to.key),
                ),
                vec![say!(
                    self,
                    "What it strips never reaches the store. Tombstones and [Sync] skip it; it can still see an object twice, so it must be idempotent.",
                    "被去掉的部分不会进入存储。墓碑和 [Sync] 不经过它；同一对象仍可能经过两次，所以它必须是幂等的。",
                )],
            ),
            Fact::Queue(QueueFact::Populated { initial }) => self.populated(*initial),
            Fact::Queue(QueueFact::DeleteChecked {
                key,
                known,
                pending,
            }) => self.delete_checked(key, known.as_ref(), *pending),
            Fact::Queue(QueueFact::DeleteIgnored { key }) => self.delete_ignored(key),
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type,
                object,
                depth,
            }) => self.delta_appended(*delta_type, object, *depth),
            Fact::Queue(QueueFact::DeltasMerged {
                key,
                kept,
                kept_older,
            }) => (
                say!(
                    self,
                    "The two newest deltas of {name} were both [Deleted]: only one is left.",
                    "{name} 最新的两个 Delta 都是 [Deleted]：只留下一个。",
                    name = self.name(key),
                ),
                vec![if *kept_older {
                    say!(
                        self,
                        "`older is a tombstone = no → keep the older` ({what}). Only neighbouring deletes are merged; updates never are.",
                        "`较早的是墓碑 = 否 → 保留较早的`（{what}）。只合并相邻的删除，更新从不合并。",
                        what = self.shape(kept),
                    )
                } else {
                    say!(
                        self,
                        "`older is a tombstone = yes → keep the newer` ({what}): the tombstone's object may be stale.",
                        "`较早的是墓碑 = 是 → 保留较新的`（{what}）：墓碑里的对象可能是旧的。",
                        what = self.shape(kept),
                    )
                }],
            ),
            Fact::Queue(QueueFact::KeyEnqueued { key, length }) => (
                if *length <= 1 {
                    say!(
                        self,
                        "{name} took its place in the queue: it is the only key, and next.",
                        "{name} 进入队列：目前只有它一个 key，下一个就轮到它。",
                        name = self.name(key),
                    )
                } else {
                    say!(
                        self,
                        "{name} took its place at the end of the queue, behind {others}.",
                        "{name} 排到队尾，前面有 {others}。",
                        name = self.name(key),
                        others = text(keys(*length as usize - 1, self.lang)),
                    )
                },
                vec![if self.picture.queue.kind != QueueKind::Fifo {
                    say!(
                        self,
                        "`{name} is queued = no → enqueue`. Whatever comes for it now joins it there: the key keeps its place.",
                        "`{name} 已在队列 = 否 → 入队`。之后它的变更都加在这里，key 的位置不变。",
                        name = self.name(key),
                    )
                } else if self
                    .picture
                    .queue
                    .keys
                    .iter()
                    .filter(|at| *at == key)
                    .count()
                    > 1
                {
                    say!(
                        self,
                        "`{name} is in items = no → enqueue`, and nobody looks into the queue: a place that Delete left there is in it, too. That one will find this object, and this place nothing.",
                        "`{name} 在 items 里 = 否 → 入队`，而且不看队列：Delete 留下的旧位置也在里面。先到的旧位置会拿到这个对象，新位置到时什么也找不到。",
                        name = self.name(key),
                    )
                } else {
                    say!(
                        self,
                        "`{name} is in items = no → enqueue`. An update exchanges its object from now on: the key keeps its place.",
                        "`{name} 在 items 里 = 否 → 入队`。之后的更新只换掉它的对象，key 的位置不变。",
                        name = self.name(key),
                    )
                }],
            ),
            Fact::Queue(QueueFact::DeletionDetected { key }) => self.deletion_detected(key),
            Fact::Queue(QueueFact::ResyncSkipped { key }) => (
                say!(
                    self,
                    "The resync passed {name} over.",
                    "resync 跳过了 {name}。",
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "`{name} is queued = yes → skip`: a [Sync] with the stored object would come after newer changes and take it back in time.",
                    "`{name} 已在队列 = 是 → 跳过`：带着旧对象的 [Sync] 会排在更新的变更之后，让它倒退。",
                    name = self.name(key),
                )],
            ),
            Fact::Queue(QueueFact::AlreadyPresent { key }) => (
                say!(
                    self,
                    "AddIfNotPresent left {name} alone: newer content is queued for it.",
                    "AddIfNotPresent 没有动 {name}：队列里已有它更新的内容。",
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "`{name} is queued = yes → return`: what was popped before is dropped, not put in front.",
                    "`{name} 已在队列 = 是 → return`：之前 Pop 出来的被丢弃，不会插到前面。",
                    name = self.name(key),
                )],
            ),
            Fact::Queue(QueueFact::FifoItemSet { object, old: None }) => (
                say!(
                    self,
                    "FIFO now holds {object}.",
                    "FIFO 现在持有 {object}。",
                    object = self.object(object),
                ),
                vec![say!(
                    self,
                    "FIFO keeps one object a key, the newest: a state that was not popped in time is gone.",
                    "FIFO 对每个 key 只保留最新的一个对象：没来得及 Pop 的旧状态就没有了。",
                )],
            ),
            Fact::Queue(QueueFact::FifoItemSet {
                object,
                old: Some(old),
            }) => (
                say!(
                    self,
                    "FIFO exchanged the object of {name}: rv {rv} in place of {old}.",
                    "FIFO 换掉了 {name} 的对象：版本 {rv} 取代了 {old}。",
                    name = self.name(&object.key),
                    rv = version(&object.rv),
                    old = version(&old.rv),
                ),
                vec![say!(
                    self,
                    "`{name} is in items = yes → no enqueue`. The key keeps its place, and rv {old} is never handed over.",
                    "`{name} 在 items 里 = 是 → 不再入队`。key 的位置不变，而版本 {old} 永远不会交出去。",
                    name = self.name(&object.key),
                    old = version(&old.rv),
                )],
            ),
            Fact::Queue(QueueFact::FifoItemRemoved { key }) => (
                say!(
                    self,
                    "FIFO dropped the object of {name}; its key stays in the queue.",
                    "FIFO 丢弃了 {name} 的对象，它的 key 仍留在队列里。",
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "Pop will skip the key. FIFO has no [Deleted]: the consumer never hears of it.",
                    "Pop 会跳过这个 key。FIFO 没有 [Deleted]：消费者不会得知这次删除。",
                )],
            ),
            Fact::Queue(QueueFact::FifoCleared) => (
                say!(
                    self,
                    "FIFO dropped everything that it held.",
                    "FIFO 丢弃了原有的全部内容。",
                ),
                vec![say!(
                    self,
                    "Replace puts the list in its place. What the list lacks is simply gone: nobody is told.",
                    "Replace 用新列表取而代之。列表里没有的就直接消失，不会通知任何人。",
                )],
            ),
            Fact::Queue(QueueFact::FifoKeySkipped { key }) => (
                say!(
                    self,
                    "Pop skipped {name}: its object is gone.",
                    "Pop 跳过了 {name}：它的对象已经不在了。",
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "`{name} is in items = no → next key`. Deleted while it waited, or handed over at an earlier place; for HasSynced it counts as popped.",
                    "`{name} 在 items 里 = 否 → 下一个 key`。它在等待时被删除了，或者在更前面的位置已经交出；对 HasSynced 来说这算 Pop 过。",
                    name = self.name(key),
                )],
            ),
            Fact::Queue(QueueFact::EntryAppended { entry, length }) => {
                self.entry_appended(entry, *length)
            }
            Fact::Queue(QueueFact::EntriesTaken {
                count,
                is_in_initial_list,
            }) => (
                say!(
                    self,
                    "Pop took {entries} from the front of the queue.",
                    "Pop 从队首取走了 {entries}。",
                    entries = text(entries(*count as usize, self.lang)),
                ),
                vec![
                    say!(
                        self,
                        "`isInInitialList = {flag}`.",
                        "`isInInitialList = {flag}`。",
                        flag = boolean(*is_in_initial_list),
                    ),
                    match self
                        .picture
                        .pop
                        .processing
                        .as_ref()
                        .and_then(|popped| popped.entries.first())
                    {
                        _ if *count > 1 => say!(
                            self,
                            "A batch ends where a key would come a second time, and with the first list: so each key keeps its order.",
                            "同一个 key 第二次出现时批次就结束，首个列表结束时也一样：所以每个 key 内部的顺序不变。",
                        ),
                        Some(
                            Entry::ReplacedAll { .. } | Entry::SyncAll | Entry::Bookmark { .. },
                        ) => say!(
                            self,
                            "It is about the whole store, so it comes alone.",
                            "该条目涉及整个存储，所以单独取出。"
                        ),
                        _ => say!(
                            self,
                            "What else is queued for the same key stays where it is.",
                            "同一个 key 的其他内容仍留在原处。",
                        ),
                    },
                ],
            ),
            Fact::Queue(QueueFact::QueueEmpty) => self.queue_empty(),
            Fact::Queue(QueueFact::KeyPopped {
                key,
                deltas,
                is_in_initial_list,
            }) => self.key_popped(key, deltas, *is_in_initial_list),
            Fact::Queue(QueueFact::Synced) => (
                say!(
                    self,
                    "HasSynced is true from now on.",
                    "从现在起 HasSynced 为 true。",
                ),
                vec![
                    say!(
                        self,
                        "`populated = true, left to pop = 0 → synced`.",
                        "`populated = true，待 Pop = 0 → synced`。",
                    ),
                    if self.record.actor != Actor::ProcessLoop {
                        say!(
                            self,
                            "It says nothing of the handlers: they may not have run yet.",
                            "它与 handler 无关：handler 可能还没有运行。",
                        )
                    } else if self.picture.generation == Generation::Atomic
                        && self.picture.queue.kind == QueueKind::RealFifo
                    {
                        say!(
                            self,
                            "From 1.36 on it counts down after processing: what did not fail is stored and on its way to the handlers, which need not have run.",
                            "从 1.36 起先处理再减计数：处理成功的都已存好并发往 handler，但 handler 不一定运行过。"
                        )
                    } else {
                        say!(
                            self,
                            "{queue} counts down before it processes: what was just popped is not even stored yet, and no handler has to have run.",
                            "{queue} 先减计数再处理：刚 Pop 出来的甚至还没存入，handler 也不一定运行过。",
                            queue = self.queue(),
                        )
                    },
                ],
            ),
            Fact::Queue(QueueFact::ProcessFailed { error }) => (
                say!(
                    self,
                    "The process function failed: {error}.",
                    "处理函数失败：{error}。",
                    error = mono(&**error),
                ),
                vec![if self.picture.queue.kind == QueueKind::RealFifo {
                    say!(
                        self,
                        "What was popped is gone: Pop returns the error, and since 1.33 nothing can put it back.",
                        "Pop 出来的内容就此丢失：Pop 只返回错误，从 1.33 起没有任何途径把它放回去。",
                    )
                } else {
                    say!(
                        self,
                        "What was popped is gone unless the process function asks for it again, with ErrRequeue. No informer of client-go does.",
                        "Pop 出来的内容就此丢失，除非处理函数用 ErrRequeue 要求放回。client-go 自带的 informer 都不这样做。",
                    )
                }],
            ),
            Fact::Queue(QueueFact::Requeued { key, added }) => {
                if *added {
                    (
                        say!(
                            self,
                            "{name} went back to the end of the queue.",
                            "{name} 回到了队尾。",
                            name = self.name(key),
                        ),
                        vec![say!(
                            self,
                            "`ErrRequeue, {name} is queued = no → put back`. It has lost its place, and newer deltas will join behind the old ones.",
                            "`ErrRequeue，{name} 已在队列 = 否 → 放回`。它失去了原来的位置，新的 Delta 会接在旧的后面。",
                            name = self.name(key),
                        )],
                    )
                } else {
                    (
                        say!(
                            self,
                            "{name} was not put back: newer content is queued for it.",
                            "{name} 没有放回：队列里已有它更新的内容。",
                            name = self.name(key),
                        ),
                        vec![say!(
                            self,
                            "`ErrRequeue, {name} is queued = yes → drop`: what failed is lost.",
                            "`ErrRequeue，{name} 已在队列 = 是 → 丢弃`：处理失败的内容就此丢失。",
                            name = self.name(key),
                        )],
                    )
                }
            }
            Fact::Queue(QueueFact::ProcessWasSlow { key, depth, ms }) => (
                say!(
                    self,
                    "Processing {name} took {ms} while {keys} waited.",
                    "处理 {name} 用了 {ms}，其间有 {keys} 在等待。",
                    name = self.name(key),
                    ms = text(duration(*ms, self.lang)),
                    keys = text(keys(*depth as usize, self.lang)),
                ),
                vec![say!(
                    self,
                    "`depth = {depth} > 10, took {ms} → log`. Nothing is dropped or skipped: client-go only complains in its log.",
                    "`depth = {depth} > 10，耗时 {ms} → 记日志`。不会丢弃或跳过任何内容，client-go 只在日志里抱怨一句。",
                    depth = text(depth.to_string()),
                    ms = text(duration(*ms, self.lang)),
                )],
            ),
            Fact::Queue(QueueFact::QueueClosed) => (
                say!(
                    self,
                    "The {queue} was closed.",
                    "{queue} 已关闭。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "Closing bars nobody: Add still adds, and Pop goes on until nothing is left. Only empty and closed together end it.",
                    "关闭并不拦截任何人：Add 照样能加，Pop 会一直进行到取空。只有又空又关闭时才结束。",
                )],
            ),

            // ---- processing
            Fact::Queue(QueueFact::DeltaTaken {
                position,
                delta_type,
                object,
                exists,
            }) => self.delta_taken(*position, *delta_type, object, *exists),
            Fact::Queue(QueueFact::Processed { key }) => (
                say!(
                    self,
                    "Everything that was popped for {name} has been processed.",
                    "本次 Pop 的 {name} 的 Delta 全部处理完毕。",
                    name = self.name(key),
                ),
                vec![self.after_processing()],
            ),

            // ---- the store
            Fact::Store(StoreFact::ItemStored { object, old }) => {
                self.item_stored(object, old.as_ref())
            }
            Fact::Store(StoreFact::ItemRemoved { key, old }) => match old {
                Some(old) => (
                    say!(
                        self,
                        "The Indexer no longer holds {name}; it had rv {rv}.",
                        "Indexer 不再持有 {name}，之前存的版本是 {rv}。",
                        name = self.name(key),
                        rv = version(&old.rv),
                    ),
                    vec![say!(
                        self,
                        "From now on a lister does not find it, though no handler may have seen its OnDelete yet.",
                        "从现在起 lister 就查不到它了，而 handler 可能都还没收到 OnDelete。",
                    )],
                ),
                None => (
                    say!(
                        self,
                        "The Indexer was to remove {name}, but did not hold it.",
                        "要从 Indexer 删除 {name}，但其中并没有它。",
                        name = self.name(key),
                    ),
                    vec![say!(
                        self,
                        "`{name} is stored = no → nothing to do`. It is no error, and OnDelete is called all the same.",
                        "`{name} 已存储 = 否 → 无事可做`。这不算错误，OnDelete 照样会调用。",
                        name = self.name(key),
                    )],
                ),
            },
            Fact::Store(StoreFact::StoreReplaced { items }) => (
                say!(
                    self,
                    "The whole content of the Indexer was replaced: {objects} now.",
                    "Indexer 的内容被整体替换：现在有 {objects}。",
                    objects = text(objects(items.len(), self.lang)),
                ),
                vec![say!(
                    self,
                    "The indices follow, step by step. The store's own lock is held until the last of them: no reader sees anything in between.",
                    "索引随后逐步更新。存储自己的锁要到最后一步才释放：读者看不到中间状态。",
                )],
            ),
            Fact::Store(StoreFact::IndexEntryRemoved {
                index,
                value,
                key,
                emptied,
            }) => (
                say!(
                    self,
                    "Index {index}: {name} left the keys under {value}.",
                    "索引 {index}：{name} 从 {value} 下的 key 集合中移除。",
                    index = named(index),
                    value = quoted(value),
                    name = self.name(key),
                ),
                vec![if *emptied {
                    say!(
                        self,
                        "It was the last key there, so the value {value} goes, too: empty sets would pile up.",
                        "它是那里的最后一个 key，所以值 {value} 也一并删除：否则空集合会越积越多。",
                        value = quoted(value),
                    )
                } else {
                    say!(
                        self,
                        "The values come from the old object; the other keys under {value} stay.",
                        "这些值由旧对象算出，{value} 下的其他 key 不变。",
                        value = quoted(value),
                    )
                }],
            ),
            Fact::Store(StoreFact::IndexEntryAdded { index, value, key }) => (
                say!(
                    self,
                    "Index {index}: {name} joined the keys under {value}.",
                    "索引 {index}：{name} 加入 {value} 下的 key 集合。",
                    index = named(index),
                    value = quoted(value),
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "The index function gave {value} for the new object. An index holds keys, never objects.",
                    "索引函数对新对象算出 {value}。索引里只存 key，不存对象。",
                    value = quoted(value),
                )],
            ),
            Fact::Store(StoreFact::IndexFailed { index, key, error }) => (
                say!(
                    self,
                    "The index function of {index} failed for {name}.",
                    "{index} 的索引函数对 {name} 执行失败。",
                    index = named(index),
                    name = self.name(key),
                ),
                vec![say!(
                    self,
                    "`{error}`. The object was stored before, so items has it and this index lacks it. client-go panics here.",
                    "`{error}`。对象在此之前已经存入，所以 items 里有它，这个索引里却没有。client-go 在这里会 panic。",
                    error = mono(&**error),
                )],
            ),
            Fact::Store(StoreFact::IndexersAdded { names }) => (
                say!(
                    self,
                    "New indices: {names}.",
                    "新增索引：{names}。",
                    names = self.list(names),
                ),
                vec![say!(
                    self,
                    "What is already stored is indexed at once. A name that is taken would have refused all of them.",
                    "已存储的对象会立即编入索引。只要有一个名字已被占用，就会全部拒绝。",
                )],
            ),
            Fact::Store(StoreFact::IndicesReset) => (
                say!(self, "All indices were emptied.", "所有索引都被清空。"),
                vec![say!(
                    self,
                    "The content is new, so they are filled again from it; old values are not taken out one by one.",
                    "内容已经换新，索引要据此重建，而不是逐个移除旧值。",
                )],
            ),
            Fact::Store(StoreFact::StoreVersionMoved { from, to }) => (
                if from.is_empty() {
                    say!(
                        self,
                        "The store's resourceVersion was set to {to}.",
                        "存储的 resourceVersion 设为 {to}。",
                        to = version(to),
                    )
                } else {
                    say!(
                        self,
                        "The store's resourceVersion moved: {from} → {to}.",
                        "存储的 resourceVersion 变化：{from} → {to}。",
                        from = version(from),
                        to = version(to),
                    )
                },
                vec![say!(
                    self,
                    "It is the version of the last write, not the highest: an older object takes it back. client-go keeps it from 1.36 on.",
                    "它是最后一次写入的版本，而不是最大的：写入更旧的对象会让它回退。client-go 从 1.36 起才保存它。",
                )],
            ),

            // ---- handlers
            Fact::Reflector(ReflectorFact::PageReceived { count: _, total }) => (
                say!(
                    self,
                    "A page of the list arrived; {objects} so far.",
                    "收到列表的一页；到目前为止共 {objects}。",
                    objects = text(objects(*total as usize, self.lang))
                ),
                vec![say!(
                    self,
                    "The server gave a token for the next page. The list has the version of its first page.",
                    "API server 给了下一页的 token。整个列表的版本是第一页的版本。"
                )],
            ),
            Fact::Reflector(ReflectorFact::ListFailed { error, next }) => (
                say!(
                    self,
                    "The list failed: {error}.",
                    "List 失败：{error}。",
                    error = mono(&**error)
                ),
                vec![say!(
                    self,
                    "{next}",
                    "{next}",
                    next = self.list_again(*next)
                )],
            ),
            Fact::Reflector(ReflectorFact::WatchFailed { error }) => (
                say!(
                    self,
                    "The watch was not opened: {error}.",
                    "watch 没有建立：{error}。",
                    error = mono(&**error)
                ),
                vec![if self.record.step == Step::ReflectorStream {
                    say!(
                        self,
                        "Unreachable or 429: it streams again after a pause. Version expired or too large: at once. Any other error: a LIST, at once.",
                        "无法连接或 429：停顿后重新请求流。版本过旧或过新：立刻重新请求流。其他错误：立刻改用 LIST。"
                    )
                } else {
                    say!(
                        self,
                        "Unreachable or 429: it watches again after a pause. Any other error ends the round, and the next one begins with a list.",
                        "无法连接或 429：停顿后重新 watch。其他错误会结束这一轮，下一轮从 List 开始。"
                    )
                }],
            ),
            Fact::Reflector(ReflectorFact::InitialEventKept { event, object }) => (
                say!(
                    self,
                    "The reflector put {event} {object} into a temporary store.",
                    "Reflector 把 {event} {object} 放进临时存储。",
                    event = event_type(*event),
                    object = self.object(object)
                ),
                vec![say!(
                    self,
                    "A streaming list is handed on as a whole, once the bookmark says that it is complete.",
                    "流式列表要等 BOOKMARK 表示齐全之后才整体交出去。"
                )],
            ),
            Fact::Reflector(ReflectorFact::InitialEventsEnded { rv, count }) => (
                say!(
                    self,
                    "The initial events are complete: {objects} at resourceVersion {rv}.",
                    "初始事件已齐全：{objects}，resourceVersion 为 {rv}。",
                    objects = text(objects(*count as usize, self.lang)),
                    rv = version(rv)
                ),
                vec![say!(
                    self,
                    "The same stream goes on as the watch; no second request is made.",
                    "同一条流接着充当 watch，不再发第二个请求。"
                )],
            ),
            Fact::Reflector(ReflectorFact::InitialEventsEndMissed { ms, any }) => (
                say!(
                    self,
                    "client-go warns in its log: the bookmark that ends the initial events has not come.",
                    "client-go 在日志里警告：结束初始事件的书签还没有来。"
                ),
                vec![if *any {
                    say!(
                        self,
                        "`the last event came {ms} ago → log`. It goes on waiting, and looks again every ten seconds; nothing of what has come is in the {queue}.",
                        "`上一个事件在 {ms}之前 → 记日志`。它继续等，每十秒再看一次；来过的内容都还不在 {queue} 里。",
                        ms = text(duration(*ms, self.lang)),
                        queue = self.queue(),
                    )
                } else {
                    say!(
                        self,
                        "`no event for {ms} → log`. It goes on waiting, and looks again every ten seconds.",
                        "`{ms}没有任何事件 → 记日志`。它继续等，每十秒再看一次。",
                        ms = text(duration(*ms, self.lang)),
                    )
                }],
            ),
            Fact::Reflector(ReflectorFact::StreamFellBack { error }) => (
                say!(
                    self,
                    "The streaming list failed: {error}. A LIST comes instead.",
                    "流式列表失败：{error}。改用 LIST。",
                    error = mono(&**error)
                ),
                vec![say!(
                    self,
                    "At once, in the same round, and no watch-error handler hears of it. The next round tries a streaming list again.",
                    "就在这一轮，立刻进行，也不通知 watch 错误处理函数。下一轮仍会先尝试流式列表。"
                )],
            ),
            Fact::Reflector(ReflectorFact::ObjectRejected { error }) => (
                say!(
                    self,
                    "It was left out: {error}.",
                    "已忽略：{error}。",
                    error = mono(&**error)
                ),
                vec![if self.record.step == Step::ReflectorListFailed {
                    say!(
                        self,
                        "The server answered with a Table, made for printing, and the list has failed.",
                        "服务器返回的是用于打印的 Table，这次列表失败。"
                    )
                } else {
                    say!(
                        self,
                        "The stream goes on, and the version does not move for it.",
                        "流继续进行，版本不会因它前移。"
                    )
                }],
            ),
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: true }) => (
                say!(
                    self,
                    "The reflector noted that its last version cannot be had any more.",
                    "Reflector 记下：它的最后版本已无法取得。"
                ),
                vec![say!(
                    self,
                    "The next list asks for the newest state.",
                    "下一次 List 会要求最新状态。"
                )],
            ),
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: false }) => (
                say!(
                    self,
                    "The reflector noted that its last version is good again.",
                    "Reflector 记下：它的最后版本又可用了。"
                ),
                vec![say!(
                    self,
                    "It has a fresh list, with a version of its own.",
                    "它拿到了新的列表，带有新的版本。"
                )],
            ),
            Fact::Reflector(ReflectorFact::WatchErrorReported { error }) => (
                say!(
                    self,
                    "The watch-error handler was called with {error}.",
                    "调用了 watch 错误处理函数：{error}。",
                    error = mono(&**error)
                ),
                vec![say!(
                    self,
                    "It hears when a list fails or a watch is denied for good, not of 429, of errors inside a stream or of streaming lists. client-go's own one logs.",
                    "List 失败或 watch 被彻底拒绝时会通知它；429、流中途的错误、流式列表失败则不会。client-go 自带的只是记日志。"
                )],
            ),
            Fact::Reflector(ReflectorFact::ResyncDue { wanted: true }) => (
                say!(self, "The resync timer fired.", "resync 定时器到点。"),
                vec![say!(
                    self,
                    "`wanted = yes → {queue}.Resync`. It hands out again what is stored; the API server hears nothing of it.",
                    "`wanted = 是 → {queue}.Resync`。它只是把已存的内容再发一遍，API server 毫不知情。",
                    queue = self.queue()
                )],
            ),
            Fact::Reflector(ReflectorFact::ResyncDue { wanted: false }) => (
                say!(
                    self,
                    "The resync timer fired, and no handler is due: nothing is queued.",
                    "resync 定时器到点，但没有 handler 到期：什么也不入队。"
                ),
                vec![say!(
                    self,
                    "Handlers have periods of their own, but only the informer's checks look at them.",
                    "handler 各有各的周期，但只有 informer 检查时才会看。"
                )],
            ),
            Fact::Queue(QueueFact::EntriesProcessed { count }) => (
                say!(
                    self,
                    "The process function returned: {entries} done.",
                    "处理函数返回：完成 {entries}。",
                    entries = text(entries(*count as usize, self.lang))
                ),
                vec![self.after_processing()],
            ),
            Fact::Queue(QueueFact::ListOpened { rv, count, removed }) => (
                say!(
                    self,
                    "The list at resourceVersion {rv} was opened in the store: {objects}, and {removed} stored ones are missing from it.",
                    "在存储中展开 resourceVersion 为 {rv} 的列表：{objects}；已存的对象中有 {removed} 个不在其中。",
                    rv = version(rv),
                    objects = text(objects(*count as usize, self.lang)),
                    removed = text(removed.to_string())
                ),
                vec![say!(
                    self,
                    "The store is replaced as a whole before anybody is told; deletions are told first. Up to 1.35 a list came item by item.",
                    "先整体替换存储，再开始通知，删除排在前面。1.35 及之前列表是逐个处理的。"
                )],
            ),
            Fact::Queue(QueueFact::ResyncOpened { count }) => (
                say!(
                    self,
                    "A resync was opened in the store: {objects} are handed out again.",
                    "在存储中展开一次 resync：{objects} 会再次发出。",
                    objects = text(objects(*count as usize, self.lang))
                ),
                vec![say!(
                    self,
                    "Old and new are the same object, so only syncing handlers are told.",
                    "旧对象和新对象是同一个，所以只通知标记为 syncing 的 handler。"
                )],
            ),
            Fact::Handlers(HandlersFact::NotificationSent {
                handler,
                notification,
            }) => (
                say!(
                    self,
                    "{call} was sent to {handler}.",
                    "{call} 已发给 {handler}。",
                    call = self.call(notification),
                    handler = self.actor(Actor::Listener(*handler))
                ),
                self.why_sent(notification),
            ),
            Fact::Handlers(HandlersFact::NotificationWithheld { handler, key }) => (
                say!(
                    self,
                    "{handler} was not told about {name}.",
                    "没有通知 {handler} 关于 {name} 的更新。",
                    handler = self.actor(Actor::Listener(*handler)),
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "The version is the same as before, and at the last resync check this handler was not due.",
                    "版本与之前相同，而上次 resync 检查时这个 handler 没有到期。"
                )],
            ),
            Fact::Handlers(HandlersFact::HandlerPanicked { handler, error }) => (
                say!(
                    self,
                    "{handler} panicked: {error}.",
                    "{handler} 发生 panic：{error}。",
                    handler = self.actor(Actor::Listener(*handler)),
                    error = mono(&**error)
                ),
                vec![say!(
                    self,
                    "Unless told otherwise, client-go logs it and lets the whole program crash. Here it goes on after a second, without this item.",
                    "默认情况下 client-go 记录日志后让整个程序崩溃；这里则是一秒后继续，跳过这一项。"
                )],
            ),
            Fact::Handlers(HandlersFact::HandlerAsked { name, .. }) => (
                say!(
                    self,
                    "The program asks for handler {name} to be added, while the informer runs.",
                    "程序要求在 informer 运行时添加 handler {name}。",
                    name = named(name),
                ),
                Vec::new(),
            ),
            Fact::Handlers(HandlersFact::RemovalAsked { handler }) => (
                say!(
                    self,
                    "The program asks for {handler} to be removed.",
                    "程序要求移除 {handler}。",
                    handler = self.actor(Actor::Listener(*handler)),
                ),
                Vec::new(),
            ),
            Fact::Handlers(HandlersFact::HandlerAdded {
                handler,
                name: _,
                initial,
            }) => (
                say!(
                    self,
                    "{handler} was added; it is told {objects} first.",
                    "添加了 {handler}；先通知它 {objects}。",
                    handler = self.actor(Actor::Listener(*handler)),
                    objects = text(objects(*initial as usize, self.lang))
                ),
                vec![say!(
                    self,
                    "What the store holds comes as OnAdd with isInInitialList=true, however late the handler is.",
                    "存储里已有的内容以 isInInitialList=true 的 OnAdd 发给它，无论它来得多晚。"
                )],
            ),
            Fact::Handlers(HandlersFact::HandlerRemoved { handler }) => (
                say!(
                    self,
                    "{handler} was removed; what waits for it is dropped.",
                    "移除了 {handler}；等着它的通知一并丢弃。",
                    handler = self.actor(Actor::Listener(*handler))
                ),
                vec![say!(
                    self,
                    "It hears nothing more, not even OnDelete of what it was told.",
                    "之后不再通知它，连已通知过的对象的 OnDelete 也没有。"
                )],
            ),
            Fact::Handlers(HandlersFact::HandlerSynced { handler }) => (
                say!(
                    self,
                    "{handler} has been told the whole first list: its own HasSynced is true.",
                    "{handler} 已收到整个初始列表：它自己的 HasSynced 为 true。",
                    handler = self.actor(Actor::Listener(*handler))
                ),
                vec![say!(
                    self,
                    "`informer synced = yes, first notifications left = 0`. The informer's HasSynced does not wait for handlers; this one does.",
                    "`informer 已同步 = 是，剩余首批通知 = 0`。informer 的 HasSynced 不等 handler，这个才等。"
                )],
            ),
            Fact::Handlers(HandlersFact::SyncingSet {
                handler,
                syncing: true,
            }) => (
                say!(
                    self,
                    "{handler} takes part in this resync.",
                    "{handler} 参与这次 resync。",
                    handler = self.actor(Actor::Listener(*handler))
                ),
                vec![say!(
                    self,
                    "`due = yes → syncing`, until the next check.",
                    "`到期 = 是 → syncing`，直到下一次检查。"
                )],
            ),
            Fact::Handlers(HandlersFact::SyncingSet {
                handler,
                syncing: false,
            }) => (
                say!(
                    self,
                    "{handler} takes no part in resyncs until it is due.",
                    "{handler} 在到期之前不参与 resync。",
                    handler = self.actor(Actor::Listener(*handler))
                ),
                vec![say!(
                    self,
                    "`due = no → not syncing`. Before the first check every handler counts as syncing.",
                    "`到期 = 否 → 不再 syncing`。第一次检查之前，每个 handler 都算 syncing。"
                )],
            ),
            Fact::Handlers(HandlersFact::ResyncCheckSet { ms: 0 }) => (
                say!(
                    self,
                    "The informer does not look for due resyncs.",
                    "informer 不检查 resync 是否到期。"
                ),
                Vec::new(),
            ),
            Fact::Handlers(HandlersFact::ResyncCheckSet { ms }) => (
                say!(
                    self,
                    "The informer looks every {time} for handlers whose resync is due.",
                    "informer 每 {time} 检查一次哪些 handler 的 resync 到期。",
                    time = text(duration(*ms, self.lang))
                ),
                vec![say!(
                    self,
                    "A handler wants it more often than the informer looked. Once started, its period would be rounded up instead.",
                    "有 handler 要求的周期比检查更短。informer 启动之后就会反过来，把它的周期调大。"
                )],
            ),
            Fact::Handlers(HandlersFact::ObjectMutated { key, handler }) => (
                say!(
                    self,
                    "{handler} wrote into {name}, which it shares with the store and everybody else.",
                    "{handler} 直接修改了 {name}，而存储和其他各方用的是同一个对象。",
                    handler = self.actor(Actor::Listener(*handler)),
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "The indices know nothing of it: the key stays under its old values.",
                    "索引对此一无所知：key 仍在旧值之下。"
                )],
            ),
            Fact::Handlers(HandlersFact::MutationDetected { key }) => (
                say!(
                    self,
                    "The mutation detector found that {name} is not as it came.",
                    "变更检测器发现 {name} 已不是收到时的样子。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "It keeps a copy of all that came in and compares once a second; client-go panics here. It is off unless asked for.",
                    "它为收到的每个对象留一份副本，每秒比较一次；client-go 在这里会 panic。默认不开启。"
                )],
            ),
            Fact::Work(WorkFact::WorkAdded {
                key,
                place: WorkPlace::Queue,
            }) => (
                say!(
                    self,
                    "{name} was added to the workqueue.",
                    "{name} 加入了工作队列。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`dirty = no, in work = no → enqueue`. It keeps keys, not events: the worker will ask the lister what is there by then.",
                    "`dirty = 否，处理中 = 否 → 入队`。它保存 key 而不是事件：届时由 worker 向 lister 查询现状。"
                )],
            ),
            Fact::Work(WorkFact::WorkAdded {
                key,
                place: WorkPlace::Dirty,
            }) => (
                say!(
                    self,
                    "{name} was marked dirty: a worker has it at the moment.",
                    "{name} 被标记为 dirty：有 worker 正在处理它。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`dirty = no, in work = yes → wait for Done`: no two workers ever have the same key.",
                    "`dirty = 否，处理中 = 是 → 等 Done`：同一个 key 不会同时在两个 worker 手里。"
                )],
            ),
            Fact::Work(WorkFact::WorkAdded {
                key,
                place: WorkPlace::Duplicate,
            }) => (
                say!(
                    self,
                    "{name} waits already; it was not added again.",
                    "{name} 已在等待，不再重复加入。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`dirty = yes → nothing to do`: many changes become one reconcile.",
                    "`dirty = 是 → 无事可做`：多次变更合成一次调谐。"
                )],
            ),
            Fact::Work(WorkFact::WorkTaken { worker, key }) => (
                say!(
                    self,
                    "{worker} took {name}.",
                    "{worker} 取走了 {name}。",
                    worker = self.actor(Actor::Worker(*worker)),
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "It is in work and no longer dirty: whatever changes from now on marks it again.",
                    "它进入处理中，不再 dirty：此后的变更会重新标记它。"
                )],
            ),
            Fact::Work(WorkFact::WorkDone { key, again: false }) => (
                say!(
                    self,
                    "Done with {name}.",
                    "{name} 处理完毕（Done）。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`dirty = no → gone`. Without Done, the key would never be handed out again.",
                    "`dirty = 否 → 移出`。不调用 Done，这个 key 就再也不会交出。"
                )],
            ),
            Fact::Work(WorkFact::WorkDone { key, again: true }) => (
                say!(
                    self,
                    "Done with {name}, which became dirty meanwhile: it is queued again.",
                    "{name} 处理完毕（Done），但期间又变 dirty：再次入队。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`dirty = yes → enqueue`: what the worker read may have been old.",
                    "`dirty = 是 → 入队`：worker 读到的可能已是旧的。"
                )],
            ),
            Fact::Work(WorkFact::WorkDelayed {
                key,
                ms,
                failures: 0,
            }) => (
                say!(
                    self,
                    "{name} will be added in {time}.",
                    "{name} 将在 {time} 后加入。",
                    name = self.name(key),
                    time = text(duration(*ms, self.lang))
                ),
                vec![say!(
                    self,
                    "Until then it is not in the queue; an Add goes before it.",
                    "在此之前它不在队列里；期间的 Add 会先到。"
                )],
            ),
            Fact::Work(WorkFact::WorkDelayed { key, ms, failures }) => (
                say!(
                    self,
                    "{name} will be added again in {time}, having failed {times}.",
                    "{name} 将在 {time} 后再次加入，已失败 {times}。",
                    name = self.name(key),
                    time = text(duration(*ms, self.lang)),
                    times = text(match self.lang {
                        Lang::En => count(*failures as usize, "time", "times"),
                        Lang::Zh => format!("{failures} 次"),
                    })
                ),
                vec![say!(
                    self,
                    "`5 ms × 2^(failures − 1)`, at most 1000 s, until Forget; or longer, as all keys together get 100 at once, then 10 a second. Done does not wait.",
                    "`5 ms × 2^(失败次数 − 1)`，最多 1000 秒，直到 Forget；也可能更久：所有 key 合计先放行 100 次，之后每秒 10 次。Done 不必等它。"
                )],
            ),
            Fact::Work(WorkFact::WorkForgotten { key }) => (
                say!(
                    self,
                    "The rate limiter forgot the failures of {name}.",
                    "限速器清除了 {name} 的失败次数。",
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "The next failure waits 5 ms again. Forget is not Done: that is still to come.",
                    "下次失败又从 5 ms 算起。Forget 不等于 Done，Done 还得调用。"
                )],
            ),
            Fact::Work(WorkFact::Reconciled {
                worker,
                key,
                ok: true,
            }) => (
                say!(
                    self,
                    "{worker} reconciled {name}.",
                    "{worker} 调谐了 {name}。",
                    worker = self.actor(Actor::Worker(*worker)),
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "It knows only the key: whether that was an add, an update or many of them makes no difference.",
                    "它只知道 key：是新增、更新还是多次变更，都没有区别。"
                )],
            ),
            Fact::Work(WorkFact::Reconciled {
                worker,
                key,
                ok: false,
            }) => (
                say!(
                    self,
                    "{worker} failed to reconcile {name}.",
                    "{worker} 调谐 {name} 失败。",
                    worker = self.actor(Actor::Worker(*worker)),
                    name = self.name(key)
                ),
                vec![say!(
                    self,
                    "`err → AddRateLimited`: nobody else would bring the key back.",
                    "`err → AddRateLimited`：不重新入队就不会再处理。"
                )],
            ),
            Fact::Work(WorkFact::WorkShutDown { drain }) => (
                say!(
                    self,
                    "The workqueue was shut down{drain}.",
                    "工作队列已关闭{drain}。",
                    drain = text(match (drain, self.lang) {
                        (true, Lang::En) => ", and waits for what is in work",
                        (true, Lang::Zh) => "，并等待处理中的项",
                        _ => "",
                    })
                ),
                vec![say!(
                    self,
                    "Add does nothing any more; what is queued is still handed out.",
                    "Add 不再起作用；已入队的仍会交出。"
                )],
            ),
            Fact::Run(RunFact::BesideRequested { informer, watch }) => {
                self.beside_requested(*informer, *watch)
            }
            Fact::Run(RunFact::BesideStored {
                informer,
                key,
                object,
            }) => self.beside_stored(*informer, key, object.as_ref()),
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler,
                notification,
                pending,
            }) => self.notification_queued(*handler, notification, *pending),
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) => self.notification_taken(*handler, notification),
            Fact::Handlers(HandlersFact::LinePrinted { handler, line }) => (
                say!(
                    self,
                    "{who} printed: {line}",
                    "{who} 输出：{line}",
                    who = self.printer(*handler),
                    line = mono(&**line),
                ),
                vec![],
            ),
            Fact::Handlers(HandlersFact::NotificationHandled { handler }) => (
                say!(
                    self,
                    "{who} returned.",
                    "{who} 返回。",
                    who = self.actor(Actor::Listener(*handler)),
                ),
                vec![self.after_handling(*handler)],
            ),
        }
    }

    // ---- informers beside the one that is shown

    fn beside(&self, informer: u8) -> Vec<Span> {
        let who = match (self.picture.beside_number(informer), self.lang) {
            (Some(number), Lang::En) => format!("Informer {number}"),
            (Some(number), Lang::Zh) => format!("informer {number}"),
            (None, Lang::En) => "The shared informer beside".to_owned(),
            (None, Lang::Zh) => "旁边的共享 informer".to_owned(),
        };
        text(who)
    }

    fn beside_requested(&self, informer: u8, watch: bool) -> Told {
        let request = if watch { "WATCH" } else { "LIST" };
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
                "Its reflector knows of no other: the API server answers each one for itself.",
                "与其他 Reflector 相互独立：API server 要逐个应答。"
            )
        };
        let what = if room.is_some_and(|room| room.shared) {
            say!(
                self,
                "{who} sent a {request} of its own.",
                "{who} 自己发出了 {request}。",
                who = self.beside(informer),
                request = mono(request),
            )
        } else {
            say!(
                self,
                "{who}, shown beside to compare with, sent a {request} of its own.",
                "旁边用来对照的 {who} 自己发出了 {request}。",
                who = self.beside(informer),
                request = mono(request),
            )
        };
        (what, vec![why])
    }

    fn beside_stored(&self, informer: u8, key: &Key, object: Option<&ObjectRef>) -> Told {
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

    // ---- the API server

    /// What a program does that has no reflector and no queue.
    fn tell_program(&self) -> Option<Told> {
        if self.picture.machinery.has_queue() {
            return None;
        }
        let what = match &self.record.fact {
            Fact::Reflector(ReflectorFact::ListRequested { .. }) => {
                say!(
                    self,
                    "The program asked for a list.",
                    "程序发出 List 请求。"
                )
            }
            Fact::Reflector(ReflectorFact::ListReceived { rv, count }) => say!(
                self,
                "The program got the list: {objects} at resourceVersion {rv}.",
                "程序收到列表：{objects}，resourceVersion 为 {rv}。",
                objects = text(objects(*count as usize, self.lang)),
                rv = version(rv),
            ),
            Fact::Reflector(ReflectorFact::WatchRequested { .. }) => {
                say!(
                    self,
                    "The program asked for a watch.",
                    "程序发出 watch 请求。"
                )
            }
            Fact::Reflector(ReflectorFact::WatchEnded { .. }) => {
                say!(
                    self,
                    "The program's watch is over.",
                    "程序的 watch 结束了。"
                )
            }
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => say!(
                self,
                "The program took {event} {object} off the stream.",
                "程序从流中取下 {event} {object}。",
                event = event_type(*event),
                object = self.object(object),
            ),
            Fact::Run(RunFact::Called { object, .. }) => say!(
                self,
                "The program handed {object} to the Indexer.",
                "程序把 {object} 交给 Indexer。",
                object = self.object(object),
            ),
            _ => return None,
        };
        Some((what, Vec::new()))
    }

    fn list_again(&self, next: ListAgain) -> Vec<Span> {
        match next {
            ListAgain::Later => say!(
                self,
                "This round is over. After a pause the next one begins with a list.",
                "这一轮到此为止。停顿之后，下一轮从 List 开始。",
            ),
            ListAgain::Expired => say!(
                self,
                "The version has expired: it lists again at once, for the newest state.",
                "版本已过期：立刻重新 List，要求最新状态。",
            ),
            ListAgain::TooLarge => say!(
                self,
                "The server has not come that far: it lists again at once, for the newest state.",
                "API server 还没有走到那个版本：立刻重新 List，要求最新状态。",
            ),
            ListAgain::PageExpired => say!(
                self,
                "The token for the next page has expired: the whole list is asked for at once, in one piece.",
                "下一页的 token 已过期：立刻一次性请求整个列表。",
            ),
        }
    }

    // ---- locks

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
                "There is one lock for everything: until it is given back, Add, Pop and HasSynced have to wait.",
                "整个队列只有一把锁：归还之前，Add、Pop 和 HasSynced 都要等。",
            ),
            (None, LockName::BlockDeltas) if by == Actor::ProcessLoop => say!(
                self,
                "No handler comes or goes until what was popped is stored and told.",
                "在 Pop 出的内容存好、通知完之前，不能增减 handler。"
            ),
            (None, LockName::BlockDeltas) => say!(
                self,
                "Nothing is processed meanwhile: a handler that comes or goes misses no change and is told none twice.",
                "这期间不处理任何 Delta：增减的 handler 既不会漏掉变更，也不会收到两次。"
            ),
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
                "From 1.36 on Pop has it only to take and to count; while it processes only if very much waits.",
                "从 1.36 起，Pop 只在取出和计数时占锁；只有积压极多时，处理期间也不放。"
            )
        } else if holder == Actor::ProcessLoop {
            say!(
                self,
                "The lock stays taken while what was popped is processed, so slow processing holds up whoever fills the queue, too.",
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

    /// Whether the last request for a watch was for a streaming list.
    fn asked_for_stream(&self) -> bool {
        self.recent
            .iter()
            .rev()
            .find_map(|record| match record.fact {
                Fact::Reflector(ReflectorFact::WatchRequested { initial_events, .. }) => {
                    Some(initial_events)
                }
                _ => None,
            })
            == Some(true)
    }

    /// What a reflector does whose watch, or streaming list, the server denied.
    fn after_denial(&self, code: u16) -> Vec<Span> {
        match (self.asked_for_stream(), code) {
            (false, 429) => say!(
                self,
                "`429 → watch again`, after a pause and from the same version; it never leads to a list.",
                "`429 → 重新 watch`，先停顿，再从同一版本开始；不会因此重新 List。",
            ),
            (false, _) => say!(
                self,
                "This round is over: the watch-error handler is called, and after a pause the next round begins with a list.",
                "这一轮到此为止：调用 watch 错误处理函数，停顿之后，下一轮从 List 开始。",
            ),
            (true, 429) => say!(
                self,
                "`429 → stream again`, after a pause: the streaming list starts over, from nothing.",
                "`429 → 重新请求流`，先停顿一段时间：流式列表从头再来。",
            ),
            (true, 410) => say!(
                self,
                "`410 → stream again` at once, for the newest state: the version asked for is too old.",
                "`410 → 重新请求流`，立刻进行，并要求最新状态：请求的版本太旧。",
            ),
            // One code for two errors.
            (true, 504) => say!(
                self,
                "A version that is too large: it streams again at once, for the newest state. Another timeout: a LIST comes at once.",
                "若是版本过新：立刻重新请求流，并要求最新状态。若是其他超时：立刻改用 LIST。",
            ),
            (true, _) => say!(
                self,
                "A LIST comes instead, at once and in the same round; the watch-error handler is not called.",
                "改用 LIST，就在这一轮立刻进行；不调用 watch 错误处理函数。",
            ),
        }
    }

    fn write_refused(&self, verb: Verb, key: &Key, refusal: &Refusal) -> Told {
        let (en, zh) = match verb {
            Verb::Create => ("create", "创建"),
            Verb::Update => ("update", "更新"),
            Verb::Delete => ("delete", "删除"),
        };
        let answer = match refusal {
            Refusal::AlreadyExists => "409 AlreadyExists".to_owned(),
            Refusal::NotFound => "404 NotFound".to_owned(),
            Refusal::Invalid(reason) => match self.lang {
                Lang::En => format!("422 Invalid: {reason}"),
                Lang::Zh => format!("422 Invalid：{}", known_reason(reason).unwrap_or(reason)),
            },
        };
        let verb = match self.lang {
            Lang::En => en,
            Lang::Zh => zh,
        };
        (
            say!(
                self,
                "The server refused to {verb} {name}: {answer}.",
                "API server 拒绝{verb} {name}：{answer}。",
                verb = text(verb),
                name = self.name(key),
                answer = mono(answer),
            ),
            vec![say!(
                self,
                "Nothing changed: no new version, no event.",
                "什么都没有改变：没有新版本，也没有事件。",
            )],
        )
    }

    fn who_hears_of_it(&self, key: &Key) -> Vec<Vec<Span>> {
        let watch = if self.picture.api.watch.is_some() {
            say!(
                self,
                "The cache hears of it only through the watch.",
                "缓存只能通过 watch 得知。",
            )
        } else {
            say!(
                self,
                "No watch is open, so nobody hears of it before the next watch or list.",
                "当前没有 watch，要等下一次 watch 或 List 才会有人知道。",
            )
        };
        match self.picture.store.items.get(key) {
            Some(stored) => vec![
                watch,
                say!(
                    self,
                    "Until then a lister still returns rv {rv}.",
                    "在此之前 lister 返回的仍是 rv {rv}。",
                    rv = version(&stored.rv),
                ),
            ],
            None => vec![watch],
        }
    }

    /// By which `ERROR` event a watch was ended, in parentheses.
    fn ended_by(&self, code: u16) -> Vec<Span> {
        if code == 0 {
            return Vec::new();
        }
        say!(
            self,
            " ({event} {code})",
            "（{event} {code}）",
            event = event_type(EventType::Error),
            code = mono(code.to_string()),
        )
    }

    fn refusals_asked(&self, watch: bool, kind: ApiErrorKind, times: u32) -> Told {
        let request = mono(if watch { "WATCH" } else { "LIST" });
        let answer = mono(strings::refusal(kind));
        if times == 0 {
            return (
                say!(
                    self,
                    "The fault was taken back: the next {request} is not answered with {answer}.",
                    "故障已撤销：下一次 {request} 不会得到 {answer}。",
                    request = request,
                    answer = answer,
                ),
                Vec::new(),
            );
        }
        let what = if times == 1 {
            say!(
                self,
                "A fault is armed: the next {request} will be answered with {answer}.",
                "故障已就绪：下一次 {request} 将得到 {answer}。",
                request = request,
                answer = answer,
            )
        } else {
            say!(
                self,
                "A fault is armed: the next {times} of {request} will be answered with {answer}.",
                "故障已就绪：接下来 {times} 次 {request} 都将得到 {answer}。",
                times = text(times.to_string()),
                request = request,
                answer = answer,
            )
        };
        let why = if watch {
            say!(
                self,
                "It waits until the reflector asks for its next watch; a watch that is open goes on.",
                "它要等到 Reflector 下一次请求 watch；已打开的 watch 照常继续。",
            )
        } else {
            say!(
                self,
                "It waits until the reflector lists again: while the watch goes on, it asks for no list.",
                "它要等到 Reflector 重新 List：watch 正常期间不会请求 List。",
            )
        };
        (what, vec![why])
    }

    fn event_sent(&self, event: EventType, object: &ObjectRef) -> Told {
        match event {
            EventType::Added | EventType::Modified | EventType::Deleted => (
                say!(
                    self,
                    "The server put {event} {object} on the watch stream.",
                    "API server 把 {event} {object} 写入 watch 流。",
                    event = event_type(event),
                    object = self.object(object),
                ),
                vec![self.crossed(event, object).unwrap_or_else(|| {
                    say!(
                        self,
                        "The object travels whole, not as a difference; nobody has taken it yet.",
                        "事件带着完整的对象，而不是差异；此刻还没有人取走它。",
                    )
                })],
            ),
            EventType::Bookmark => (
                say!(
                    self,
                    "The server put a {event} at {rv} on the watch stream.",
                    "API server 在 watch 流中写入 {event}，版本为 {rv}。",
                    event = event_type(event),
                    rv = version(&object.rv),
                ),
                vec![say!(
                    self,
                    "It carries a version and no change, so that a later watch does not have to start from long ago.",
                    "它只带版本、不带变更，这样以后的 watch 不必从很久以前开始。",
                )],
            ),
            EventType::Error => (
                say!(
                    self,
                    "The server put an {event} event on the watch stream.",
                    "API server 在 watch 流中写入了 {event} 事件。",
                    event = event_type(event),
                ),
                vec![say!(
                    self,
                    "It is the last thing on this stream: the watch cannot go on.",
                    "这是该流上的最后一条：watch 无法继续。",
                )],
            ),
        }
    }

    /// Of an object that has entered or left what is asked for.
    fn crossed(&self, event: EventType, object: &ObjectRef) -> Option<Vec<Span>> {
        let api = &self.picture.api;
        let selector = mono(api.selector.as_ref()?.to_string());
        let Cause::Fact(id) = self.record.cause else {
            return None;
        };
        let mut recent = self.recent.iter().rev();
        let cause = recent.find(|record| record.id == id)?;
        if !matches!(cause.fact, Fact::Server(ServerFact::ObjectUpdated { .. })) {
            return None;
        }
        match event {
            EventType::Added => Some(say!(
                self,
                "It matches {selector} now and did not before: new to this watch, though not to the server.",
                "它现在匹配 {selector}，之前不匹配：对这个 watch 是新的，对 API server 却不是。",
                selector = selector,
            )),
            EventType::Deleted => Some(say!(
                self,
                "It lives on, and does not match {selector} any more: told as it was when it last did, at the version {rv} of the change.",
                "它还活着，只是不再匹配 {selector}：事件带着它最后一次匹配时的样子，版本则是这次变更的 {rv}。",
                selector = selector,
                rv = version(&object.rv),
            )),
            _ => None,
        }
    }

    fn watch_closed(&self, end: &WatchEnd, lost: u32) -> Told {
        let what = match end {
            WatchEnd::Closed => say!(
                self,
                "The server closed the watch in good order.",
                "API server 正常关闭了 watch。",
            ),
            WatchEnd::Cut => say!(self, "The watch's connection broke.", "watch 的连接断了。"),
            WatchEnd::CutInLine(bytes) => say!(
                self,
                "The watch's connection broke inside a line, after {bytes} of it.",
                "watch 的连接在一行中间断了，这一行只收到 {bytes}。",
                bytes = text(match self.lang {
                    Lang::En => count(*bytes as usize, "byte", "bytes"),
                    Lang::Zh => format!("{bytes} 字节"),
                }),
            ),
            WatchEnd::Silent => say!(
                self,
                "Nothing came on the watch for too long, not even a bookmark: the connection was given up.",
                "watch 上太久没有任何内容，连书签也没有：放弃了这个连接。",
            ),
            WatchEnd::Failed(code, reason) => say!(
                self,
                "An error event ended the watch: {answer}.",
                "一个 ERROR 事件结束了 watch：{answer}。",
                answer = mono(answer(*code, reason)),
            ),
            WatchEnd::TooMuch(most) => say!(
                self,
                "The stream was closed here: more than {most} objects came, and no more are kept.",
                "流在这一端被关闭：收到的对象超过 {most} 个，不再保留更多。",
                most = text(most.to_string()),
            ),
        };
        let why = if let WatchEnd::TooMuch(_) = end {
            say!(
                self,
                "The reflector asks for all of it again. That request is not sent before there are fewer.",
                "Reflector 会重新请求全部内容。在对象变少之前，这个请求不会发出。",
            )
        } else if lost > 0 {
            say!(
                self,
                "{events} on the way never arrived. The server has them still: the next watch starts before them, or a list makes up for them.",
                "有 {events} 在途中丢失。API server 上还有：下一次 watch 会从它们之前开始，或由 List 补上。",
                events = text(match self.lang {
                    Lang::En => count(lost as usize, "event", "events"),
                    Lang::Zh => format!("{lost} 个事件"),
                }),
            )
        } else if matches!(end, WatchEnd::CutInLine(_)) {
            say!(
                self,
                "Half an event is none: it is dropped. The server has it still: the next watch starts before it, or a list makes up for it.",
                "半个事件不算事件，直接丢弃。API server 上还有它：下一次 watch 会从它之前开始，或由 List 补上。",
            )
        } else {
            say!(
                self,
                "Nothing was on its way. The cache stays as it is and grows older; a lister cannot tell.",
                "途中没有事件。缓存保持原样并逐渐变旧，而 lister 看不出来。",
            )
        };
        (what, vec![why])
    }

    // ---- the reflector

    fn event_received(&self, event: EventType, object: &ObjectRef) -> Told {
        let queue = self.queue();
        let streaming = self.record.step == Step::ReflectorStreamReceive;
        let why = match event {
            EventType::Bookmark | EventType::Error => self.why_received(event, queue),
            _ if streaming => say!(
                self,
                "`list complete = no → temporary store`: the {queue} hears nothing of it yet.",
                "`列表齐全 = 否 → 临时存储`：{queue} 还不会得知。",
                queue = queue
            ),
            EventType::Added => say!(
                self,
                "`ADDED → {queue}.Add`. The reflector compares nothing: the event's type alone decides.",
                "`ADDED → {queue}.Add`。Reflector 不做任何比较，只看事件类型。",
                queue = queue,
            ),
            EventType::Modified => say!(
                self,
                "`MODIFIED → {queue}.Update`. The event holds the new object only, not what changed.",
                "`MODIFIED → {queue}.Update`。事件里只有新对象，没有具体改了什么。",
                queue = queue,
            ),
            EventType::Deleted => say!(
                self,
                "`DELETED → {queue}.Delete`, with the object's last state. It may also just have left the selector.",
                "`DELETED → {queue}.Delete`，带着对象的最后状态。它也可能只是不再匹配 selector。",
                queue = queue,
            ),
        };
        let what = match event {
            EventType::Added | EventType::Modified | EventType::Deleted => say!(
                self,
                "The reflector took {event} {object} off the stream.",
                "Reflector 从流中取出 {event} {object}。",
                event = event_type(event),
                object = self.object(object),
            ),
            EventType::Bookmark => say!(
                self,
                "The reflector took a {event} at {rv} off the stream.",
                "Reflector 从流中取出 {event}，版本为 {rv}。",
                event = event_type(event),
                rv = version(&object.rv),
            ),
            EventType::Error => say!(
                self,
                "The reflector took an {event} event off the stream.",
                "Reflector 从流中取出 {event} 事件。",
                event = event_type(event),
            ),
        };
        (what, vec![why])
    }

    fn why_received(&self, event: EventType, queue: Vec<Span>) -> Vec<Span> {
        if event == EventType::Error {
            say!(
                self,
                "`ERROR → the watch is over`. Nothing is queued.",
                "`ERROR → watch 结束`。不会有任何内容入队。",
            )
        } else if self.record.step == Step::ReflectorStreamReceive {
            say!(
                self,
                "It carries no object; an annotation on it may say that the list is complete.",
                "它不带对象，但可能带有表示列表已齐全的注解。",
            )
        } else if self.picture.store.keeps_rv {
            say!(
                self,
                "`BOOKMARK → {queue}.Bookmark` (from 1.36 on): no object has changed; it waits in line, so that the store's version keeps its order.",
                "`BOOKMARK → {queue}.Bookmark`（从 1.36 起）：没有对象变化；它也要排队，让存储的版本保持顺序。",
                queue = queue
            )
        } else {
            say!(
                self,
                "`BOOKMARK → LastSyncResourceVersion` alone: the {queue} does not hear of it.",
                "`BOOKMARK → LastSyncResourceVersion`，仅此而已：{queue} 不会得知。",
                queue = queue,
            )
        }
    }

    fn received_is_not_stored(&self) -> Vec<Span> {
        if let Some(behind @ 1..) = self.picture.store.behind.count() {
            let behind = usize::try_from(behind).unwrap_or(usize::MAX);
            say!(
                self,
                "It says what was received, not what is stored: the Indexer is {objects} behind.",
                "它表示收到了什么，而不是存了什么：Indexer 还落后 {objects}。",
                objects = text(match self.lang {
                    Lang::En => count(behind, "object", "objects"),
                    Lang::Zh => format!("{behind} 个对象"),
                }),
            )
        } else {
            say!(
                self,
                "The next watch starts from it. It says what was received, not what has been processed.",
                "下一次 watch 从这里开始。它表示收到了什么，而不是处理了什么。",
            )
        }
    }

    // ---- a program, and the switches of the run

    fn called(&self, delta_type: DeltaType, object: &ObjectRef) -> Told {
        let function = match delta_type {
            DeltaType::Added => "Add",
            DeltaType::Updated => "Update",
            DeltaType::Deleted => "Delete",
            DeltaType::Replaced | DeltaType::ReplacedAll => "Replace",
            DeltaType::Sync | DeltaType::SyncAll => "Resync",
            DeltaType::Bookmark => "Bookmark",
        };
        (
            say!(
                self,
                "The program called {function} with {object}.",
                "程序用 {object} 调用了 {function}。",
                function = mono(format!("{}.{function}", self.picture.queue.kind.as_str())),
                object = self.object(object),
            ),
            vec![say!(
                self,
                "There is no reflector here: the program itself says what happened, and the queue believes it.",
                "这里没有 Reflector：发生了什么由程序自己声明，队列照单全收。",
            )],
        )
    }

    fn mode_set(&self, mode: ProcessMode) -> Told {
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
                ms = text(duration(u64::from(ms), self.lang)),
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

    // ---- the queues

    fn populated(&self, initial: u32) -> Told {
        if initial == 0 {
            (
                say!(
                    self,
                    "The {queue} counts as populated, with no first list to wait for.",
                    "{queue} 的首个列表为空，无需等待。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "`populated = true, initial = 0`. Any Add, Update or Delete sets it; a list that comes later is not counted.",
                    "`populated = true，initial = 0`。任何 Add、Update 或 Delete 都会设置它，之后的列表不再计数。",
                )],
            )
        } else {
            let waiting = match (self.picture.queue.kind, self.lang) {
                (QueueKind::RealFifo, lang) => entries(initial as usize, lang),
                (QueueKind::Fifo | QueueKind::DeltaFifo, lang) => keys(initial as usize, lang),
            };
            (
                say!(
                    self,
                    "The {queue} is populated for the first time: HasSynced waits for {keys} to be popped.",
                    "{queue} 首次填充完毕：要等 {keys} 被 Pop 之后 HasSynced 才为 true。",
                    queue = self.queue(),
                    keys = text(waiting),
                ),
                vec![say!(
                    self,
                    "`populated = false → true, initial = {n}`. It happens once: later lists do not make HasSynced false again.",
                    "`populated = false → true，initial = {n}`。只发生一次：之后的列表不会让 HasSynced 变回 false。",
                    n = text(initial.to_string()),
                )],
            )
        }
    }

    fn delete_checked(&self, key: &Key, known: Option<&Known>, pending: bool) -> Told {
        let name = self.name(key);
        let what = match (known, pending) {
            (Some(Known::Yes(_)), false) => say!(
                self,
                "The queue holds nothing for {name}, but the Indexer still knows it.",
                "队列里没有 {name}，但 Indexer 还认识它。",
                name = name,
            ),
            (Some(Known::Yes(_)), true) => say!(
                self,
                "The Indexer knows {name}, and deltas of it are queued.",
                "Indexer 认识 {name}，队列里也有它的 Delta。",
                name = name,
            ),
            (Some(Known::No), true) => say!(
                self,
                "The Indexer does not know {name} yet, but deltas of it are queued.",
                "Indexer 还不认识 {name}，但队列里有它的 Delta。",
                name = name,
            ),
            (Some(Known::No), false) => say!(
                self,
                "Neither the Indexer nor the queue knows {name}.",
                "Indexer 和队列都不认识 {name}。",
                name = name,
            ),
            (Some(Known::Failed), _) => say!(
                self,
                "KnownObjects could not say whether it holds {name}.",
                "KnownObjects 无法判断是否持有 {name}。",
                name = name,
            ),
            (None, true) => say!(
                self,
                "There are no KnownObjects to ask, but deltas of {name} are queued.",
                "没有 KnownObjects 可查，但队列里有 {name} 的 Delta。",
                name = name,
            ),
            (None, false) => say!(
                self,
                "There are no KnownObjects to ask, and the queue holds nothing for {name}.",
                "没有 KnownObjects 可查，队列里也没有 {name}。",
                name = name,
            ),
        };
        (
            what,
            vec![
                self.delete_condition(known, pending),
                say!(
                    self,
                    "Only Delete asks: Add and Update always queue.",
                    "只有 Delete 会检查，Add 和 Update 总是入队。",
                ),
            ],
        )
    }

    fn delete_condition(&self, known: Option<&Known>, pending: bool) -> Vec<Span> {
        let kept = pending || !matches!(known, None | Some(Known::No));
        let (value, outcome) = match self.lang {
            Lang::En => (
                match known {
                    None => "(off)".to_owned(),
                    Some(Known::No) => "no".to_owned(),
                    Some(Known::Failed) => "error".to_owned(),
                    Some(Known::Yes(rv)) if rv.is_empty() => "yes".to_owned(),
                    Some(Known::Yes(rv)) => format!("yes (rv {})", short_rv(rv)),
                },
                if kept { "kept" } else { "dropped" },
            ),
            Lang::Zh => (
                match known {
                    None => "未启用".to_owned(),
                    Some(Known::No) => "否".to_owned(),
                    Some(Known::Failed) => "出错".to_owned(),
                    Some(Known::Yes(rv)) if rv.is_empty() => "是".to_owned(),
                    Some(Known::Yes(rv)) => format!("是（rv {}）", short_rv(rv)),
                },
                if kept { "保留" } else { "丢弃" },
            ),
        };
        say!(
            self,
            "`known = {known}, pending = {pending} → {outcome}`.",
            "`known = {known}，pending = {pending} → {outcome}`。",
            known = text(value),
            pending = text(match (self.lang, pending) {
                (Lang::En, true) => "yes",
                (Lang::En, false) => "no",
                (Lang::Zh, true) => "是",
                (Lang::Zh, false) => "否",
            }),
            outcome = text(outcome),
        )
    }

    /// The last answer to Delete's question about `key`.
    fn checked(&self, key: &Key) -> Option<(Option<&Known>, bool)> {
        self.recent
            .iter()
            .rev()
            .find_map(|record| match &record.fact {
                Fact::Queue(QueueFact::DeleteChecked {
                    key: asked,
                    known,
                    pending,
                }) if asked == key => Some((known.as_ref(), *pending)),
                _ => None,
            })
    }

    fn delete_ignored(&self, key: &Key) -> Told {
        let mut why = Vec::new();
        let known = match self.checked(key) {
            Some((known, pending)) => {
                why.push(self.delete_condition(known, pending));
                known.is_some()
            }
            None => self.picture.queue.known_objects,
        };
        why.push(if self.picture.store.items.contains_key(key) {
            say!(
                self,
                "The Indexer still holds {name}, and nobody will ever tell it: with KnownObjects on, the delta would have been kept.",
                "Indexer 里还存着 {name}，却再也不会有人通知它：打开 KnownObjects 的话，这个 Delta 会保留下来。",
                name = self.name(key),
            )
        } else if known {
            say!(
                self,
                "No delta, no notification: OnDelete is not called for what nobody has seen.",
                "没有 Delta，也没有通知：没人见过的对象不会触发 OnDelete。",
            )
        } else {
            say!(
                self,
                "Without KnownObjects the queue knows only what is queued right now: OnDelete is never called.",
                "没有 KnownObjects 的队列只知道此刻队列里有什么：OnDelete 永远不会被调用。",
            )
        });
        (
            say!(
                self,
                "The delete of {name} was dropped without a trace.",
                "{name} 的删除被悄悄丢弃。",
                name = self.name(key),
            ),
            why,
        )
    }

    fn delta_appended(&self, delta_type: DeltaType, object: &ObjectRef, depth: u32) -> Told {
        let alone = depth <= 1
            && delta_type == DeltaType::Deleted
            && object.shape == Shape::Object
            && matches!(
                self.checked(&object.key),
                Some((Some(Known::Yes(_)), false))
            );
        let what = if alone {
            let (en, zh) = match self.picture.api.feed {
                SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => (
                    "{name} was deleted on the server. The queue holds nothing for it, but the Indexer knows it, so a [Deleted] delta is kept.",
                    "{name} 在 API server 上被删除。队列里没有它，但 Indexer 还认识它，所以保留一个 [Deleted] Delta。",
                ),
                SourceKind::Program => (
                    "The queue holds nothing for {name}, but the Indexer knows it, so a [Deleted] delta is kept.",
                    "队列里没有 {name}，但 Indexer 还认识它，所以保留一个 [Deleted] Delta。",
                ),
            };
            say(self.lang, en, zh, &[("name", self.name(&object.key))])
        } else if depth <= 1 {
            say!(
                self,
                "{delta} was queued for {object}: the only delta of its key.",
                "{object} 的 {delta} 已入队：这个 key 目前只有这一个 Delta。",
                delta = delta(delta_type),
                object = self.object(object),
            )
        } else {
            say!(
                self,
                "{delta} was put on top for {object}: its key has {n} deltas now.",
                "{object} 的 {delta} 追加到末尾（画在最上）：这个 key 现在有 {n} 个 Delta。",
                delta = delta(delta_type),
                object = self.object(object),
                n = text(depth.to_string()),
            )
        };
        (what, self.why_appended(delta_type, object, depth))
    }

    fn why_appended(
        &self,
        delta_type: DeltaType,
        object: &ObjectRef,
        depth: u32,
    ) -> Vec<Vec<Span>> {
        let untouched = || {
            say!(
                self,
                "The other deltas of {name} are untouched: DeltaFIFO merges only neighbouring deletes.",
                "{name} 的其他 Delta 不受影响：DeltaFIFO 只合并相邻的删除。",
                name = self.name(&object.key),
            )
        };
        match delta_type {
            DeltaType::Deleted => match object.shape {
                Shape::Tombstone => vec![say!(
                    self,
                    "The real delete was missed, so a tombstone stands in: DeletedFinalStateUnknown with the last known object, which may be stale.",
                    "真正的删除事件被错过了，于是用墓碑（DeletedFinalStateUnknown）代替，内含最后已知的对象，可能是旧的。",
                )],
                Shape::EmptyTombstone => vec![say!(
                    self,
                    "The real delete was missed, and nobody has the object any more: DeletedFinalStateUnknown with a key and nothing else.",
                    "真正的删除事件被错过了，对象也已无处可寻：DeletedFinalStateUnknown 里只有 key。",
                )],
                Shape::Object | Shape::ExplicitKey | Shape::Opaque => {
                    match self.checked(&object.key) {
                        Some((known @ Some(Known::Yes(_)), false))
                            if self.picture.machinery == InformerKind::Manual =>
                        {
                            vec![
                                self.delete_condition(known, false),
                                say!(
                                    self,
                                    "Turn KnownObjects off and step again: the same Delete is dropped without a trace.",
                                    "关掉 KnownObjects 再走一遍：同一个 Delete 会被悄悄丢弃。",
                                ),
                            ]
                        }
                        Some((known, pending)) => {
                            let mut why = vec![self.delete_condition(known, pending)];
                            if depth > 1 {
                                why.push(untouched());
                            }
                            why
                        }
                        None if depth > 1 => vec![untouched()],
                        None => vec![say!(
                            self,
                            "It holds the object's last state, for OnDelete.",
                            "它带着对象的最后状态，留给 OnDelete 使用。",
                        )],
                    }
                }
            },
            DeltaType::Added if depth > 1 => vec![untouched()],
            DeltaType::Added if !self.picture.store.present => vec![say!(
                self,
                "The queue does not ask whether the object is new: the type only says which method was called.",
                "队列不会去查对象是不是新的：类型只说明调用了哪个方法。",
            )],
            DeltaType::Added => vec![say!(
                self,
                "Whether this becomes OnAdd or OnUpdate is decided only when it is popped, by looking into the Indexer.",
                "它最终是 OnAdd 还是 OnUpdate，要到 Pop 时查过 Indexer 才能决定。",
            )],
            DeltaType::Updated if depth > 1 => vec![say!(
                self,
                "No update replaces another: one Pop will hand over all {n}, oldest first.",
                "更新之间不会互相覆盖：一次 Pop 会把这 {n} 个从旧到新一起交出。",
                n = text(depth.to_string()),
            )],
            DeltaType::Updated => vec![say!(
                self,
                "It holds only the new object; the old one for OnUpdate has to come from the Indexer.",
                "它只带新对象，OnUpdate 需要的旧对象得从 Indexer 里取。",
            )],
            DeltaType::Replaced => vec![say!(
                self,
                "It was in a list: whether it is new, changed or the same is not known before it is popped.",
                "它来自列表：是新的、变了还是没变，要到 Pop 时才知道。",
            )],
            DeltaType::Sync if self.in_resync() => vec![say!(
                self,
                "A resync asks no server: it hands out again what the Indexer holds, the very same object.",
                "resync 不会请求 API server：它只是把 Indexer 里的同一个对象再发一遍。",
            )],
            DeltaType::Sync => vec![say!(
                self,
                "It was in a list. With emitDeltaTypeReplaced off, a list says [Sync] where it would say [Replaced].",
                "它来自列表。emitDeltaTypeReplaced 关闭时，列表用 [Sync] 代替 [Replaced]。",
            )],
            DeltaType::ReplacedAll => vec![say!(
                self,
                "A whole list is one delta: what it lacks is found out when it is processed.",
                "整个列表就是一个 Delta：缺了哪些，处理时才计算。",
            )],
            DeltaType::SyncAll => vec![say!(
                self,
                "A whole resync is one delta: the objects are looked up when it is processed.",
                "整个 resync 就是一个 Delta：处理时才去取对象。",
            )],
            DeltaType::Bookmark => vec![say!(
                self,
                "It changes no object and keeps the store's version in order.",
                "它不改变对象，只让存储的版本按顺序前进。",
            )],
        }
    }

    /// Whether the current call is a Resync rather than a Replace.
    fn in_resync(&self) -> bool {
        self.recent
            .iter()
            .rev()
            .filter(|record| record.actor == self.record.actor)
            .find_map(|record| match record.step {
                Step::ResyncLock | Step::ResyncKey | Step::RealResync => Some(true),
                Step::ReplaceLock
                | Step::ReplaceItem
                | Step::ReplaceMissing
                | Step::RealReplaceItems => Some(false),
                _ => None,
            })
            .unwrap_or(false)
    }

    fn deletion_detected(&self, key: &Key) -> Told {
        let real = self.picture.queue.kind == QueueKind::RealFifo;
        let queued = self.picture.queue.deltas.contains_key(key)
            || self
                .picture
                .queue
                .entries
                .iter()
                .any(|entry| matches!(entry, Entry::Delta(_, object) if object.key == *key));
        let order = if real {
            say!(
                self,
                "RealFIFO queues deletions before the list's objects, DeltaFIFO after them.",
                "RealFIFO 把删除排在列表对象之前，DeltaFIFO 则排在之后。"
            )
        } else {
            say!(
                self,
                "DeltaFIFO queues it after the list's objects.",
                "DeltaFIFO 把它排在列表对象之后。"
            )
        };
        (
            say!(
                self,
                "The list does not have {name}: its deletion was missed.",
                "列表里没有 {name}：它的删除事件被错过了。",
                name = self.name(key),
            ),
            vec![
                if queued {
                    say!(
                        self,
                        "`in list = no, queued = yes → Deleted`, with a tombstone that holds the newest queued object.",
                        "`在列表 = 否，在队列 = 是 → Deleted`，附带墓碑，内含队列中最新的对象。",
                    )
                } else {
                    say!(
                        self,
                        "`in list = no, known = yes → Deleted`, with a tombstone that holds the Indexer's object: the real last state is unknown.",
                        "`在列表 = 否，known = 是 → Deleted`，附带墓碑，内含 Indexer 中的对象：真正的最后状态已无从得知。",
                    )
                },
                order,
            ],
        )
    }

    fn entry_appended(&self, entry: &Entry, length: u32) -> Told {
        let behind = text(entries(length as usize, self.lang));
        match entry {
            Entry::Delta(delta_type, object) => (
                say!(
                    self,
                    "{delta} {object} was put at the end of the queue: {entries} now.",
                    "{delta} {object} 排到队尾：现在共有 {entries}。",
                    delta = delta(*delta_type),
                    object = self.object(object),
                    entries = behind,
                ),
                match (delta_type, object.shape) {
                    (DeltaType::Replaced | DeltaType::Sync, _)
                    | (DeltaType::Deleted, Shape::Tombstone | Shape::EmptyTombstone) => {
                        self.why_appended(*delta_type, object, 1)
                    }
                    (DeltaType::Deleted, _) => vec![say!(
                        self,
                        "RealFIFO does not ask whether anybody knows the object, as DeltaFIFO does: OnDelete is called even for one that nobody has seen.",
                        "RealFIFO 不像 DeltaFIFO 那样查问有没有人认识这个对象：没人见过的也会触发 OnDelete。"
                    )],
                    _ => vec![say!(
                        self,
                        "RealFIFO groups nothing by key and merges nothing: the order of the events is the order of the queue.",
                        "RealFIFO 不按 key 归并，也不合并：事件的顺序就是队列的顺序。",
                    )],
                },
            ),
            Entry::ReplacedAll { rv, objects: list } => (
                say!(
                    self,
                    "The whole list, {objects} at {rv}, became one [ReplacedAll] entry.",
                    "整个列表（{objects}，版本 {rv}）成为一个 [ReplacedAll] 条目。",
                    objects = text(objects(list.len(), self.lang)),
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "The queue compares it with nothing: which deletions it means is found out when it is processed.",
                    "队列不拿它做任何比较：其中意味着哪些删除，处理时才计算。",
                )],
            ),
            Entry::SyncAll => (
                say!(
                    self,
                    "A resync became one [SyncAll] entry: {entries} in the queue now.",
                    "resync 成为一个 [SyncAll] 条目：队列现在共有 {entries}。",
                    entries = behind,
                ),
                vec![say!(
                    self,
                    "It asks no server. The objects are taken from the store when it is processed.",
                    "它不会请求 API server，处理时才从存储里取对象。",
                )],
            ),
            Entry::Bookmark { rv } => (
                say!(
                    self,
                    "A [Bookmark] for version {rv} was put at the end of the queue.",
                    "版本 {rv} 的 [Bookmark] 排到队尾。",
                    rv = version(rv),
                ),
                vec![say!(
                    self,
                    "It waits its turn, so the store's version never runs ahead of its content.",
                    "它也要排队，这样存储的版本就不会跑到内容前面。",
                )],
            ),
        }
    }

    fn queue_empty(&self) -> Told {
        if self.picture.queue.closed {
            (
                say!(
                    self,
                    "The {queue} is empty and closed: Pop gives up.",
                    "{queue} 已空且已关闭：Pop 结束。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "`queue empty = yes, closed = yes → ErrFIFOClosed`.",
                    "`队列为空 = 是，closed = 是 → ErrFIFOClosed`。",
                )],
            )
        } else {
            (
                say!(
                    self,
                    "The {queue} is empty: Pop waits.",
                    "{queue} 是空的：Pop 等待。",
                    queue = self.queue(),
                ),
                vec![say!(
                    self,
                    "`queue empty = yes, closed = no → wait`. Waiting gives the lock away, so something can be put in.",
                    "`队列为空 = 是，closed = 否 → 等待`。等待时会让出锁，所以别人可以放入内容。",
                )],
            )
        }
    }

    fn key_popped(
        &self,
        key: &Key,
        deltas: &[(DeltaType, ObjectRef)],
        is_in_initial_list: bool,
    ) -> Told {
        let what = match (self.picture.queue.kind, deltas) {
            (QueueKind::Fifo, _) => say!(
                self,
                "Pop took {name} off the queue, with its newest object.",
                "Pop 取走了 {name} 和它最新的对象。",
                name = self.name(key),
            ),
            (_, [(only, _)]) => say!(
                self,
                "Pop took {name} off the queue, with its one delta: {delta}.",
                "Pop 取走了 {name} 和它唯一的 Delta：{delta}。",
                name = self.name(key),
                delta = delta(*only),
            ),
            (_, all) => say!(
                self,
                "Pop took {name} off the queue with all its {n} deltas, oldest first: {deltas}.",
                "Pop 取走了 {name} 的全部 {n} 个 Delta，从旧到新：{deltas}。",
                name = self.name(key),
                n = text(all.len().to_string()),
                deltas = self.delta_list(all),
            ),
        };
        let mut why = vec![say!(
            self,
            "`HasSynced was {synced} → isInInitialList = {flag}`.",
            "`HasSynced 此前已为 {synced} → isInInitialList = {flag}`。",
            synced = boolean(!is_in_initial_list),
            flag = boolean(is_in_initial_list),
        )];
        match self.picture.queue.kind {
            QueueKind::DeltaFifo if deltas.len() > 1 => why.push(say!(
                self,
                "One Pop hands over a key, not a delta; what comes for it now starts a new stack at the end.",
                "一次 Pop 交出的是一个 key，而不是一个 Delta；之后它的变更会在队尾重新堆起。",
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
        // More would not fit into the strip; the stage shows them anyway.
        const SHOWN: usize = 5;
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

    // ---- processing and the store

    fn delta_taken(
        &self,
        position: u32,
        delta_type: DeltaType,
        object: &ObjectRef,
        exists: Option<bool>,
    ) -> Told {
        let total = self
            .picture
            .pop
            .processing
            .as_ref()
            .map_or(0, |popped| popped.deltas.len());
        let what = if total > 1 {
            say!(
                self,
                "Delta {n} of {total}, {delta} {object}, is being processed.",
                "第 {n} 个 Delta（共 {total} 个）：处理 {delta} {object}。",
                n = text((u64::from(position) + 1).to_string()),
                total = text(total.to_string()),
                delta = delta(delta_type),
                object = self.object(object),
            )
        } else {
            say!(
                self,
                "{delta} {object} is being processed.",
                "处理 {delta} {object}。",
                delta = delta(delta_type),
                object = self.object(object),
            )
        };
        let why = match (delta_type, exists) {
            (DeltaType::Deleted, Some(found)) => say!(
                self,
                "`Deleted → Delete` (exists = {found} changes nothing here): handlers get OnDelete.",
                "`Deleted → Delete`（exists = {found} 在此没有影响）：handler 会收到 OnDelete。",
                found = boolean(found),
            ),
            (DeltaType::Deleted, None) => say!(
                self,
                "`Deleted → delete`: this program goes by the delta's type alone.",
                "`Deleted → 删除`：这个程序只看 Delta 的类型。",
            ),
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                Some(true),
            ) => {
                if delta_type == DeltaType::Updated {
                    say!(
                        self,
                        "`exists = true → Update`: the Indexer holds it, so handlers get OnUpdate(old, new).",
                        "`exists = true → Update`：Indexer 里有它，所以 handler 收到 OnUpdate(old, new)。",
                    )
                } else {
                    say!(
                        self,
                        "`exists = true → Update`: handlers get OnUpdate, although the delta says {delta}.",
                        "`exists = true → Update`：虽然 Delta 是 {delta}，handler 收到的仍是 OnUpdate。",
                        delta = delta(delta_type),
                    )
                }
            }
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                Some(false),
            ) => {
                if delta_type == DeltaType::Added {
                    say!(
                        self,
                        "`exists = false → Add`: the Indexer does not hold it, so handlers get OnAdd.",
                        "`exists = false → Add`：Indexer 里没有它，所以 handler 收到 OnAdd。",
                    )
                } else {
                    say!(
                        self,
                        "`exists = false → Add`: handlers get OnAdd, although the delta says {delta}.",
                        "`exists = false → Add`：虽然 Delta 是 {delta}，handler 收到的仍是 OnAdd。",
                        delta = delta(delta_type),
                    )
                }
            }
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                None,
            ) if self.picture.store.present => say!(
                self,
                "This program goes by the delta's type alone; it does not ask the Indexer whether the object exists.",
                "这个程序只看 Delta 的类型，不查 Indexer 里有没有这个对象。",
            ),
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                None,
            ) => say!(
                self,
                "There is no store to ask: the delta's type alone decides, and the old object is not known.",
                "没有存储可查：只由 Delta 的类型决定，旧对象无从得知。",
            ),
            (DeltaType::ReplacedAll | DeltaType::SyncAll | DeltaType::Bookmark, _) => say!(
                self,
                "It is about the whole store, not about one key.",
                "该条目涉及整个存储，而不是某一个 key。",
            ),
        };
        let mut why = vec![why];
        if self.record.step == Step::ProcessBatch {
            why.push(say!(self, "Nothing is written yet: first all of the batch is looked up, then written at once, then told.", "还没有写入：先查完整个批次，再一次写入，然后才通知。"));
        }
        (what, why)
    }

    fn item_stored(&self, object: &ObjectRef, old: Option<&ObjectRef>) -> Told {
        let Some(old) = old else {
            return (
                say!(
                    self,
                    "The Indexer now holds {object}.",
                    "Indexer 现在持有 {object}。",
                    object = self.object(object),
                ),
                vec![say!(
                    self,
                    "`old = none`. A lister finds it from now on, before any handler hears of it.",
                    "`old = 无`。从现在起 lister 就能查到它，早于任何 handler 收到通知。",
                )],
            );
        };
        let why = if !old.uid.is_empty() && !object.uid.is_empty() && old.uid != object.uid {
            say!(
                self,
                "The UID is another one: it was deleted and created again, and all that handlers see is one OnUpdate.",
                "UID 变了：它被删除后又重新创建，而 handler 看到的只是一次 OnUpdate。",
            )
        } else if old.rv == object.rv && !object.rv.is_empty() {
            say!(
                self,
                "It is the same version: it is stored all the same, nothing is compared.",
                "版本相同也照样写入，不做任何比较。",
            )
        } else {
            say!(
                self,
                "`old = {old}, new = {new}`. The store compares no versions: an older object would be stored as well.",
                "`old = {old}，new = {new}`。存储不比较版本：更旧的对象同样会写入。",
                old = version(&old.rv),
                new = version(&object.rv),
            )
        };
        (
            say!(
                self,
                "The Indexer replaced {name}: rv {old} → {new}.",
                "Indexer 更新了 {name}：rv {old} → {new}。",
                name = self.name(&object.key),
                old = version(&old.rv),
                new = version(&object.rv),
            ),
            vec![why],
        )
    }

    fn after_processing(&self) -> Vec<Span> {
        if self.picture.handlers.iter().any(|handler| !handler.inline) {
            say!(
                self,
                "The handlers have been notified, which doesn't mean that they have run.",
                "handler 已经收到通知，但并不意味着它们已经运行。",
            )
        } else {
            say!(
                self,
                "Pop returns now; what it took is gone from the queue.",
                "Pop 即将返回，取出的内容已不在队列里。",
            )
        }
    }

    // ---- handlers

    fn why_sent(&self, notification: &Notification) -> Vec<Vec<Span>> {
        let mut why = Vec::new();
        if let Notification::Update {
            old: Some(old),
            new,
        } = notification
            && old.rv == new.rv
            && !new.rv.is_empty()
        {
            why.push(if !self.in_resync_of(&new.key) {
                say!(
                    self,
                    "`old rv = new rv → counts as a resync`, though a list brought it: only syncing handlers are told.",
                    "`old rv = new rv → 按 resync 处理`，尽管它来自列表：只通知标记为 syncing 的 handler。",
                )
            } else if self.picture.resync_check_ms == 0 {
                say!(
                    self,
                    "`old rv = new rv → resync`: only syncing handlers are told, and as long as nobody checks all are.",
                    "`old rv = new rv → resync`：只通知标记为 syncing 的 handler；没有人检查时，全部 handler 都是。",
                )
            } else {
                say!(
                    self,
                    "`old rv = new rv → resync`: only syncing handlers are told.",
                    "`old rv = new rv → resync`：只通知标记为 syncing 的 handler。",
                )
            });
        }
        why.push(say!(
            self,
            "The sender waits until the listener has taken it into its buffer, not until the handler has run.",
            "发送方只等到listener 把它放进缓冲区，不等 handler 执行。",
        ));
        why
    }

    /// Whether what is being told of `key` comes from a resync rather than from a list or an event.
    fn in_resync_of(&self, key: &Key) -> bool {
        let recent = self.recent.iter().rev();
        let mut by_loop = recent.filter(|record| record.actor == Actor::ProcessLoop);
        by_loop.find_map(|record| match &record.fact {
            Fact::Queue(QueueFact::ResyncOpened { .. }) => Some(true),
            Fact::Queue(QueueFact::ListOpened { .. }) => Some(false),
            Fact::Queue(QueueFact::DeltaTaken {
                delta_type, object, ..
            }) if object.key == *key => Some(*delta_type == DeltaType::Sync),
            _ => None,
        }) == Some(true)
    }

    fn notification_queued(&self, handler: u8, notification: &Notification, pending: u32) -> Told {
        let why = if pending > 1 {
            say!(
                self,
                "{n} wait there now. The buffer has no bound: a slow handler holds up only itself, and memory pays.",
                "那里已有 {n} 个在等。缓冲没有上限：慢 handler 只拖慢自己，代价是内存。",
                n = text(pending.to_string()),
            )
        } else {
            say!(
                self,
                "Whoever sent it goes on at once, and does not wait for the handler.",
                "发送方立即继续，不会等待 handler。",
            )
        };
        (
            say!(
                self,
                "{call} was put into the buffer of {who}.",
                "{call} 放入 {who} 的缓冲。",
                call = self.call(notification),
                who = self.actor(Actor::Listener(handler)),
            ),
            vec![why],
        )
    }

    fn notification_taken(&self, handler: u8, notification: &Notification) -> Told {
        let room = self.picture.handlers.get(usize::from(handler));
        let mut why = Vec::new();
        if let Notification::Add {
            is_in_initial_list, ..
        } = notification
        {
            why.push(say!(
                self,
                "`isInInitialList = {flag}`.",
                "`isInInitialList = {flag}`。",
                flag = boolean(*is_in_initial_list),
            ));
        }
        let object = notified(notification);
        let store = &self.picture.store;
        let stored = store.items.get(&object.key);
        why.push(if room.is_some_and(|room| room.inline)
            && self.picture.lock.holder != Some(Actor::ProcessLoop)
        {
            say!(self, "It runs inside process, without a buffer: nothing else is popped until it returns, but the queue can be filled.", "它在处理函数里运行，没有缓冲：返回之前不会再 Pop，但队列仍可放入。")
        } else if room.is_some_and(|room| room.inline) {
            say!(
                self,
                "It runs inside process, under the queue's lock: until it returns, nothing can be queued.",
                "它在处理函数里、持有队列锁的情况下运行：返回之前什么都无法入队。",
            )
        } else if store.present
            && !matches!(notification, Notification::Delete { .. })
            && stored.map(|stored| &stored.rv) != Some(&object.rv)
        {
            match stored {
                Some(stored) => say!(
                    self,
                    "The Indexer has gone on: a lister asked in here returns {rv} already.",
                    "Indexer 已经走在前面：此时在这里查 lister，得到的已是 {rv}。",
                    rv = version(&stored.rv),
                ),
                None => say!(
                    self,
                    "The Indexer has gone on: a lister asked in here no longer finds it.",
                    "Indexer 已经走在前面：此时在这里查 lister，已经查不到它。",
                ),
            }
        } else if let Some(room) = room.filter(|room| room.latency_ms > 0) {
            say!(
                self,
                "It takes {ms} here; neither the queue nor another handler waits for it.",
                "这里它要用 {ms}，队列和其他 handler 都不必等它。",
                ms = text(duration(u64::from(room.latency_ms), self.lang)),
            )
        } else {
            say!(
                self,
                "A handler gets its notifications one by one, in order; between handlers there is no order.",
                "同一个 handler 按顺序逐个收到通知，handler 之间没有先后保证。",
            )
        });
        (
            say!(
                self,
                "{who} is called: {call}.",
                "{who} 被调用：{call}。",
                who = self.actor(Actor::Listener(handler)),
                call = self.call(notification),
            ),
            why,
        )
    }

    fn after_handling(&self, handler: u8) -> Vec<Span> {
        let room = self.picture.handlers.get(usize::from(handler));
        let waiting = room.map_or(0, |room| room.pending.len());
        if room.is_some_and(|room| room.inline) {
            say!(
                self,
                "It has no buffer: only now can the process loop go on.",
                "它没有缓冲：处理循环到这时才能继续。",
            )
        } else if waiting == 0 {
            say!(
                self,
                "Its buffer is empty. A handler returns no error: client-go does not know whether it succeeded.",
                "它的缓冲已空。handler 不返回错误：client-go 不知道它是否成功。",
            )
        } else {
            say!(
                self,
                "Its buffer holds {n} more, the next one is taken at once.",
                "缓冲里还有 {n} 个在等，马上取下一个。",
                n = text(waiting.to_string()),
            )
        }
    }

    fn name(&self, key: &Key) -> Vec<Span> {
        vec![Span::Name(self.naming.of(key))]
    }

    fn printer(&self, handler: u8) -> Vec<Span> {
        if usize::from(handler) < self.picture.handlers.len() {
            self.actor(Actor::Listener(handler))
        } else {
            self.actor(Actor::Program)
        }
    }

    fn call(&self, notification: &Notification) -> Vec<Span> {
        let (function, object) = match notification {
            Notification::Add { object, .. } => ("OnAdd", object),
            Notification::Update { new, .. } => ("OnUpdate", new),
            Notification::Delete { object } => ("OnDelete", object),
        };
        let mut spans = vec![
            Span::Text(format!("{function}(")),
            Span::Name(self.naming.of(&object.key)),
        ];
        match notification {
            Notification::Update { old, new } => {
                let old = old.as_ref().map(|old| short_rv(&old.rv));
                let new = short_rv(&new.rv);
                if let Some(old) = old.filter(|old| !old.is_empty() && !new.is_empty()) {
                    spans.push(Span::Text(format!(", rv {old} → {new}")));
                }
            }
            Notification::Delete { object } => match object.shape {
                Shape::Tombstone | Shape::EmptyTombstone => {
                    spans.push(Span::Text(", tombstone".into()));
                }
                Shape::Object | Shape::ExplicitKey | Shape::Opaque => {}
            },
            Notification::Add { .. } => {}
        }
        spans.push(Span::Text(")".into()));
        spans
    }

    // ---- parts of sentences

    /// Whether a recording starts without a list: then nobody knows at which version.
    fn begins_in_mid_watch(&self, rv: &str) -> bool {
        let api = &self.picture.api;
        api.feed == SourceKind::Recorded && !api.told_by_events && rv.is_empty()
    }

    /// The runtime's reasons are English.
    fn reason(&self, reason: &str) -> Vec<Span> {
        match (self.lang, known_reason(reason)) {
            (Lang::Zh, Some(chinese)) => text(chinese),
            (Lang::En, Some(_)) => text(reason),
            (_, None) => mono(reason),
        }
    }

    fn queue(&self) -> Vec<Span> {
        text(self.picture.queue.kind.as_str())
    }

    fn actor(&self, actor: Actor) -> Vec<Span> {
        let name = actor_name(actor, self.picture, self.lang);
        match (actor, self.lang) {
            (Actor::Listener(number), _) => {
                let known = self
                    .picture
                    .handlers
                    .get(usize::from(number))
                    .is_some_and(|handler| {
                        !handler.name.is_empty() && !handler.name.starts_with("handler")
                    });
                if known {
                    vec![Span::Text("handler ".into()), Span::Name(name)]
                } else {
                    text(name)
                }
            }
            (Actor::Server, Lang::En) => text("the API server"),
            (
                Actor::Program
                | Actor::Reflector
                | Actor::Resync
                | Actor::ProcessLoop
                | Actor::Main,
                Lang::En,
            ) => text(format!("the {name}")),
            _ => text(name),
        }
    }

    /// `web-1 (rv 12)`
    fn object(&self, object: &ObjectRef) -> Vec<Span> {
        let mut spans = self.name(&object.key);
        if !object.rv.is_empty() {
            let (open, close) = self.parentheses();
            spans.push(Span::Text(format!("{open}rv ")));
            spans.push(Span::Code(short_rv(&object.rv)));
            spans.push(Span::Text(close.into()));
        }
        spans
    }

    fn shape(&self, object: &ObjectRef) -> Vec<Span> {
        let rv = short_rv(&object.rv);
        text(match (object.shape, self.lang) {
            (Shape::Tombstone, _) if rv.is_empty() => "tombstone".to_owned(),
            (Shape::Tombstone, Lang::En) => format!("tombstone, rv {rv}"),
            (Shape::Tombstone, Lang::Zh) => format!("tombstone，rv {rv}"),
            (Shape::EmptyTombstone, Lang::En) => "empty tombstone".to_owned(),
            (Shape::EmptyTombstone, Lang::Zh) => "空墓碑".to_owned(),
            (Shape::ExplicitKey, Lang::En) => "a key".to_owned(),
            (Shape::ExplicitKey, Lang::Zh) => "仅 key".to_owned(),
            (Shape::Object | Shape::Opaque, Lang::En) if rv.is_empty() => "an object".to_owned(),
            (Shape::Object | Shape::Opaque, Lang::Zh) if rv.is_empty() => "对象".to_owned(),
            (Shape::Object | Shape::Opaque, _) => format!("rv {rv}"),
        })
    }

    fn list(&self, names: &[Arc<str>]) -> Vec<Span> {
        let mut spans = Vec::new();
        for item in names {
            if !spans.is_empty() {
                spans.push(Span::Text(self.comma().into()));
            }
            spans.push(Span::Name(item.to_string()));
        }
        if spans.is_empty() {
            spans.push(Span::Text("–".into()));
        }
        spans
    }

    fn comma(&self) -> &'static str {
        match self.lang {
            Lang::En => ", ",
            Lang::Zh => "、",
        }
    }

    fn parentheses(&self) -> (&'static str, &'static str) {
        match self.lang {
            Lang::En => (" (", ")"),
            Lang::Zh => ("（", "）"),
        }
    }

    // ---- causes

    /// The cause in a few words, where it is another fact, at hand, and not what one sees anyway.
    fn cause_clause(&self) -> Option<Vec<Span>> {
        let Cause::Fact(id) = self.record.cause else {
            return None;
        };
        let cause = self.recent.iter().rev().find(|record| record.id == id)?;
        let wanted = match &self.record.fact {
            Fact::Server(ServerFact::EventSent { .. }) => matches!(
                cause.fact,
                Fact::Server(
                    ServerFact::ObjectCreated { .. }
                        | ServerFact::ObjectUpdated { .. }
                        | ServerFact::ObjectDeleted { .. }
                )
            ),
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                | QueueFact::EntryAppended { .. }
                | QueueFact::DeleteChecked { .. }
                | QueueFact::FifoItemSet { .. }
                | QueueFact::FifoItemRemoved { .. },
            )
            | Fact::Reflector(ReflectorFact::LastSyncMoved { .. })
            | Fact::Queue(QueueFact::KeyFailed { .. } | QueueFact::TransformFailed { .. }) => {
                matches!(
                    cause.fact,
                    Fact::Reflector(
                        ReflectorFact::EventReceived { .. } | ReflectorFact::ListReceived { .. }
                    ) | Fact::Queue(QueueFact::DeletionDetected { .. })
                )
            }
            Fact::Reflector(ReflectorFact::WatchEnded { .. }) => matches!(
                cause.fact,
                Fact::Server(ServerFact::WatchClosed { .. } | ServerFact::WatchRefused { .. })
            ),
            Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::BackoffStarted { .. },
            ) => matches!(
                cause.fact,
                Fact::Server(
                    ServerFact::WatchRefused { .. }
                        | ServerFact::ListRefused { .. }
                        | ServerFact::ConnectionRefused
                )
            ),
            Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
            | Fact::Handlers(HandlersFact::NotificationQueued { .. }) => {
                matches!(cause.fact, Fact::Queue(QueueFact::DeltaTaken { .. }))
            }
            Fact::Handlers(HandlersFact::LinePrinted { .. }) => matches!(
                cause.fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. })
                    | Fact::Queue(QueueFact::DeltaTaken { .. })
                    | Fact::Reflector(ReflectorFact::EventReceived { .. })
            ),
            _ => false,
        };
        if wanted {
            self.clause(&cause.fact)
        } else {
            None
        }
    }

    /// A fact as a clause without a full stop; only for what [`Self::cause_clause`] lets through.
    fn clause(&self, fact: &Fact) -> Option<Vec<Span>> {
        Some(match fact {
            Fact::Queue(QueueFact::DeletionDetected { key }) => say!(
                self,
                "the list does not have {name}",
                "列表里没有 {name}",
                name = self.name(key),
            ),
            Fact::Server(ServerFact::ObjectCreated { object, .. }) => say!(
                self,
                "{object} was created",
                "{object} 被创建",
                object = self.object(object)
            ),
            Fact::Server(ServerFact::ObjectUpdated { object, .. }) => say!(
                self,
                "{object} was changed",
                "{object} 被修改",
                object = self.object(object)
            ),
            Fact::Server(ServerFact::ObjectDeleted { object, .. }) => say!(
                self,
                "{object} was deleted",
                "{object} 被删除",
                object = self.object(object)
            ),
            // A bookmark and an error are about no object.
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. })
                if object.key.is_empty() =>
            {
                say!(
                    self,
                    "{event} was received",
                    "收到 {event}",
                    event = event_type(*event),
                )
            }
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => say!(
                self,
                "{event} {name} was received",
                "收到 {event} {name}",
                event = event_type(*event),
                name = self.name(&object.key),
            ),
            Fact::Reflector(ReflectorFact::ListReceived { rv, .. }) => say!(
                self,
                "the list at rv {rv} was received",
                "收到版本 {rv} 的列表",
                rv = version(rv)
            ),
            Fact::Server(ServerFact::WatchClosed { end, .. }) => match end {
                WatchEnd::Closed => say!(self, "the server closed it", "API server 关闭了它"),
                WatchEnd::Cut | WatchEnd::CutInLine(_) => {
                    say!(self, "the connection broke", "连接断了")
                }
                WatchEnd::Silent => say!(self, "nothing came any more", "不再有内容"),
                WatchEnd::Failed(code, reason) => say!(
                    self,
                    "{answer}",
                    "API server 返回 {answer}",
                    answer = mono(answer(*code, reason))
                ),
                WatchEnd::TooMuch(most) => say!(
                    self,
                    "more than {most} objects came",
                    "收到的对象超过 {most} 个",
                    most = text(most.to_string()),
                ),
            },
            Fact::Server(ServerFact::ConnectionRefused) => {
                say!(self, "the connection was refused", "无法连接")
            }
            Fact::Server(ServerFact::WatchRefused { rv, .. }) => say!(
                self,
                "the watch from {rv} was refused with 410 Gone",
                "从 {rv} 开始的 watch 被 410 Gone 拒绝",
                rv = version(rv)
            ),
            Fact::Server(ServerFact::ListRefused { code: 0, .. }) => {
                say!(self, "the list had no answer", "List 没有得到回应")
            }
            Fact::Server(ServerFact::ListRefused { code, reason }) => say!(
                self,
                "the list was answered with {answer}",
                "List 得到 {answer}",
                answer = mono(answer(*code, reason))
            ),
            Fact::Queue(QueueFact::DeltaTaken {
                delta_type, object, ..
            }) => say!(
                self,
                "{delta} {name} is being processed",
                "正在处理 {delta} {name}",
                delta = delta(*delta_type),
                name = self.name(&object.key),
            ),
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => say!(
                self,
                "{call} was called",
                "调用了 {call}",
                call = self.call(notification)
            ),
            _ => return None,
        })
    }
}

/// Fills a sentence in one of the two languages.
///
/// `{name}` stands for an argument, `` `…` `` for code, `[Added]` for a delta type (or an event's).
/// What is filled in is never read as markup.
fn say(lang: Lang, en: &str, zh: &str, args: &[(&str, Vec<Span>)]) -> Vec<Span> {
    #[cfg(test)]
    generations::note(en);
    let mut rest = match lang {
        Lang::En => en,
        Lang::Zh => zh,
    };
    let mut line = Line {
        lang,
        spans: Vec::new(),
        code: None,
    };
    while let Some(at) = rest.find(['{', '`', '[']) {
        let (before, found) = rest.split_at(at);
        line.text(before);
        rest = match found.chars().next() {
            Some('`') => {
                line.toggle_code();
                &found[1..]
            }
            Some('{') => {
                let argument = found.find('}').and_then(|end| {
                    let wanted = &found[1..end];
                    args.iter()
                        .find(|(name, _)| *name == wanted)
                        .map(|(_, spans)| (spans, end))
                });
                match argument {
                    Some((spans, end)) => {
                        line.argument(spans);
                        &found[end + 1..]
                    }
                    // Left as it is, so that the tests see it.
                    None => {
                        line.text("{");
                        &found[1..]
                    }
                }
            }
            _ => {
                let known = found.find(']').and_then(|end| {
                    let word = &found[1..end];
                    typed(word).map(|delta_type| (delta_type, word, end))
                });
                match known {
                    Some((delta_type, word, end)) => {
                        line.argument(&[Span::Delta(delta_type, word.into())]);
                        &found[end + 1..]
                    }
                    None => {
                        line.text("[");
                        &found[1..]
                    }
                }
            }
        };
    }
    line.text(rest);
    line.toggle_code_if_open();
    match lang {
        Lang::En => line.spans,
        Lang::Zh => spaced(&line.spans),
    }
}

/// Sets the spaces as Chinese has them: one between Chinese and Latin, none between Chinese and
/// Chinese or around its punctuation. What is filled in may be either, so sentences cannot know.
fn spaced(spans: &[Span]) -> Vec<Span> {
    let letters: Vec<(usize, char)> = spans
        .iter()
        .enumerate()
        .flat_map(|(index, span)| span.as_str().chars().map(move |letter| (index, letter)))
        .collect();
    let is_text = |index: usize| matches!(spans[index], Span::Text(_));
    let mut words = vec![String::new(); spans.len()];
    for (at, &(index, letter)) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1).copied();
        if letter == ' ' && is_text(index) {
            let chinese = |side: Option<(usize, char)>| side.is_some_and(|(_, c)| is_chinese(c));
            let mark = |side: Option<(usize, char)>| side.is_some_and(|(_, c)| is_mark(c));
            if (chinese(before) && chinese(after)) || mark(before) || mark(after) {
                continue;
            }
        }
        if let Some((owner, last)) = before
            && (is_text(index) || is_text(owner))
            && ((is_chinese(last) && is_latin(letter)) || (is_latin(last) && is_chinese(letter)))
        {
            words[if is_text(owner) { owner } else { index }].push(' ');
        }
        words[index].push(letter);
    }
    spans
        .iter()
        .zip(words)
        .map(|(span, words)| match span {
            Span::Text(_) => Span::Text(words),
            Span::Name(_) | Span::Delta(..) | Span::Code(_) => span.clone(),
        })
        .filter(|span| !span.as_str().is_empty())
        .collect()
}

fn is_chinese(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '，' | '。' | '：' | '；' | '、' | '（' | '）')
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '…' | '"' | ')' | '(')
}

/// A sentence in the making.
struct Line {
    lang: Lang,
    spans: Vec<Span>,
    /// The code that is being collected, between two backticks.
    code: Option<String>,
}

impl Line {
    fn text(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match (&mut self.code, self.spans.last_mut()) {
            (Some(code), _) => code.push_str(words),
            (None, Some(Span::Text(last))) => last.push_str(words),
            (None, _) => self.spans.push(Span::Text(words.into())),
        }
    }

    fn argument(&mut self, spans: &[Span]) {
        if let Some(code) = &mut self.code {
            code.push_str(&plain(spans));
            return;
        }
        for (index, span) in spans.iter().enumerate() {
            match span {
                Span::Text(words) if index == 0 && self.begins_sentence() => {
                    let mut letters = words.chars();
                    let first: String = letters
                        .next()
                        .into_iter()
                        .flat_map(char::to_uppercase)
                        .collect();
                    self.text(&format!("{first}{}", letters.as_str()));
                }
                Span::Text(words) => self.text(words),
                Span::Name(_) | Span::Delta(..) | Span::Code(_) => self.spans.push(span.clone()),
            }
        }
    }

    fn begins_sentence(&self) -> bool {
        self.lang == Lang::En
            && match self.spans.last() {
                None => true,
                Some(Span::Text(last)) => last.ends_with(". "),
                Some(_) => false,
            }
    }

    fn toggle_code(&mut self) {
        match self.code.take() {
            Some(code) => self.spans.push(Span::Code(code)),
            None => self.code = Some(String::new()),
        }
    }

    fn toggle_code_if_open(&mut self) {
        if self.code.is_some() {
            self.toggle_code();
        }
    }
}

/// The delta type whose hue a word has: its own name, or the name of the event that leads to it.
fn typed(word: &str) -> Option<DeltaType> {
    Some(match word {
        "Added" | "ADDED" => DeltaType::Added,
        "Updated" | "MODIFIED" => DeltaType::Updated,
        "Deleted" | "DELETED" => DeltaType::Deleted,
        "Replaced" => DeltaType::Replaced,
        "Sync" => DeltaType::Sync,
        "ReplacedAll" => DeltaType::ReplacedAll,
        "SyncAll" => DeltaType::SyncAll,
        "Bookmark" | "BOOKMARK" => DeltaType::Bookmark,
        _ => return None,
    })
}

fn text(words: impl Into<String>) -> Vec<Span> {
    vec![Span::Text(words.into())]
}

fn mono(words: impl Into<String>) -> Vec<Span> {
    vec![Span::Code(words.into())]
}

fn named(name: &str) -> Vec<Span> {
    vec![Span::Name(name.into())]
}

/// An indexed value; the empty one has to be seen, too.
fn quoted(value: &str) -> Vec<Span> {
    if value.is_empty() {
        mono("\"\"")
    } else {
        named(value)
    }
}

fn version(rv: &str) -> Vec<Span> {
    if rv.is_empty() {
        mono("\"\"")
    } else {
        mono(short_rv(rv))
    }
}

fn boolean(value: bool) -> Vec<Span> {
    text(if value { "true" } else { "false" })
}

fn delta(delta_type: DeltaType) -> Vec<Span> {
    vec![Span::Delta(delta_type, delta_type.as_str().into())]
}

fn event_type(event: EventType) -> Vec<Span> {
    let word = event.as_str();
    match typed(word) {
        Some(delta_type) => vec![Span::Delta(delta_type, word.into())],
        None => mono(word),
    }
}

fn notified(notification: &Notification) -> &ObjectRef {
    match notification {
        Notification::Add { object, .. } | Notification::Delete { object } => object,
        Notification::Update { new, .. } => new,
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn objects(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "object", "objects"),
        Lang::Zh => format!("{n} 个对象"),
    }
}

fn keys(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "key", "keys"),
        Lang::Zh => format!("{n} 个 key"),
    }
}

fn entries(n: usize, lang: Lang) -> String {
    match lang {
        Lang::En => count(n, "entry", "entries"),
        Lang::Zh => format!("{n} 个条目"),
    }
}

/// Milliseconds, or seconds with one decimal.
fn duration(ms: u64, lang: Lang) -> String {
    let unit = |en: &'static str, zh: &'static str| match lang {
        Lang::En => en,
        Lang::Zh => zh,
    };
    if ms < 1000 {
        format!("{ms} {}", unit("ms", "毫秒"))
    } else if ms.is_multiple_of(1000) {
        format!("{} {}", ms / 1000, unit("s", "秒"))
    } else {
        format!("{}.{} {}", ms / 1000, ms % 1000 / 100, unit("s", "秒"))
    }
}

#[cfg(test)]
mod generations;

/// One fact of every kind, for tests that must not forget one.
#[doc(hidden)]
#[must_use]
pub fn samples() -> Vec<Fact> {
    use deltascope_cache::fact::LockName;

    let object = |rv: &str| ObjectRef {
        key: Key::from("default/web-1"),
        shape: Shape::Object,
        rv: rv.into(),
        uid: "u1".into(),
    };
    let key = Key::from("default/web-1");
    let deltas = vec![
        (DeltaType::Added, object("5")),
        (DeltaType::Updated, object("7")),
    ];
    vec![
        Fact::Server(ServerFact::ObjectCreated {
            object: object("5"),
            body: Body::default(),
        }),
        Fact::Server(ServerFact::ObjectUpdated {
            object: object("7"),
            body: Body::default(),
            old_rv: "5".into(),
        }),
        Fact::Server(ServerFact::ObjectDeleted {
            object: object("12"),
            old_rv: "7".into(),
        }),
        Fact::Server(ServerFact::WriteRefused {
            verb: Verb::Create,
            key: key.clone(),
            refusal: Refusal::AlreadyExists,
        }),
        Fact::Server(ServerFact::RefusalsAsked {
            watch: false,
            kind: ApiErrorKind::Expired,
            times: 1,
        }),
        Fact::Server(ServerFact::HistoryCompacted {
            oldest: "10".into(),
        }),
        Fact::Server(ServerFact::ListAnswered {
            rv: "4".into(),
            count: 3,
        }),
        Fact::Server(ServerFact::ObjectsLearned {
            rv: "4".into(),
            objects: [object("5")].into(),
        }),
        Fact::Server(ServerFact::RequestDeferred {
            code: 429,
            after_ms: 1_000,
            attempt: 1,
        }),
        Fact::Server(ServerFact::ListRefused {
            code: 403,
            reason: "Forbidden".into(),
        }),
        Fact::Server(ServerFact::WatchAccepted { rv: "4".into() }),
        Fact::Server(ServerFact::ConnectionRefused),
        Fact::Server(ServerFact::WatchRefused {
            rv: "4".into(),
            oldest: "10".into(),
        }),
        Fact::Server(ServerFact::EventSent {
            event: EventType::Deleted,
            object: object("12"),
            ends_list: false,
        }),
        Fact::Server(ServerFact::WatchClosed {
            end: WatchEnd::Cut,
            lost: 2,
        }),
        Fact::Reflector(ReflectorFact::ListRequested {
            rv: "0".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        }),
        Fact::Reflector(ReflectorFact::ListReceived {
            rv: "4".into(),
            count: 3,
        }),
        Fact::Reflector(ReflectorFact::WatchRequested {
            rv: "4".into(),
            initial_events: false,
        }),
        Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Deleted,
            object: object("12"),
            ends_list: false,
        }),
        Fact::Reflector(ReflectorFact::LastSyncMoved {
            from: "11".into(),
            to: "12".into(),
        }),
        Fact::Reflector(ReflectorFact::WatchEnded {
            relist: true,
            code: 0,
        }),
        Fact::Reflector(ReflectorFact::BackoffStarted {
            ms: 800,
            reason: BackoffReason::WatchEnded,
        }),
        Fact::Reflector(ReflectorFact::ReflectorStopped {
            reason: "the source is exhausted".into(),
        }),
        Fact::Run(RunFact::Called {
            delta_type: DeltaType::Updated,
            object: object("7"),
        }),
        Fact::Run(RunFact::ModeSet {
            mode: ProcessMode::Held,
        }),
        Fact::Run(RunFact::PopAsked { asked: 1 }),
        Fact::Run(RunFact::KnownObjectsSet { on: false }),
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::Reflector,
        }),
        Fact::Queue(QueueFact::LockAwaited {
            lock: LockName::Queue,
            by: Actor::Reflector,
            holder: Actor::ProcessLoop,
        }),
        Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }),
        Fact::Queue(QueueFact::KeyFailed {
            error: "object has no meta".into(),
        }),
        Fact::Queue(QueueFact::TransformFailed {
            key: key.clone(),
            error: "poison".into(),
        }),
        Fact::Queue(QueueFact::Transformed {
            from: object("5"),
            to: object("5"),
        }),
        Fact::Queue(QueueFact::Populated { initial: 3 }),
        Fact::Queue(QueueFact::DeleteChecked {
            key: key.clone(),
            known: Some(Known::Yes("2".into())),
            pending: false,
        }),
        Fact::Queue(QueueFact::DeleteIgnored { key: key.clone() }),
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Deleted,
            object: object("12"),
            depth: 1,
        }),
        Fact::Queue(QueueFact::DeltasMerged {
            key: key.clone(),
            kept: object("12"),
            kept_older: true,
        }),
        Fact::Queue(QueueFact::KeyEnqueued {
            key: key.clone(),
            length: 3,
        }),
        Fact::Queue(QueueFact::DeletionDetected { key: key.clone() }),
        Fact::Queue(QueueFact::ResyncSkipped { key: key.clone() }),
        Fact::Queue(QueueFact::AlreadyPresent { key: key.clone() }),
        Fact::Queue(QueueFact::FifoItemSet {
            object: object("5"),
            old: Some(object("4")),
        }),
        Fact::Queue(QueueFact::FifoItemRemoved { key: key.clone() }),
        Fact::Queue(QueueFact::FifoCleared),
        Fact::Queue(QueueFact::FifoKeySkipped { key: key.clone() }),
        Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::Delta(DeltaType::Updated, object("7")),
            length: 4,
        }),
        Fact::Queue(QueueFact::EntriesTaken {
            count: 3,
            is_in_initial_list: true,
        }),
        Fact::Queue(QueueFact::QueueEmpty),
        Fact::Queue(QueueFact::KeyPopped {
            key: key.clone(),
            deltas,
            is_in_initial_list: false,
        }),
        Fact::Queue(QueueFact::Synced),
        Fact::Queue(QueueFact::ProcessFailed {
            error: "boom".into(),
        }),
        Fact::Queue(QueueFact::Requeued {
            key: key.clone(),
            added: true,
        }),
        Fact::Queue(QueueFact::ProcessWasSlow {
            key: key.clone(),
            depth: 12,
            ms: 1250,
        }),
        Fact::Queue(QueueFact::QueueClosed),
        Fact::Queue(QueueFact::DeltaTaken {
            position: 0,
            delta_type: DeltaType::Updated,
            object: object("7"),
            exists: Some(true),
        }),
        Fact::Queue(QueueFact::Processed { key: key.clone() }),
        Fact::Store(StoreFact::ItemStored {
            object: object("7"),
            old: Some(object("5")),
        }),
        Fact::Store(StoreFact::ItemRemoved {
            key: key.clone(),
            old: Some(object("7")),
        }),
        Fact::Store(StoreFact::StoreReplaced {
            items: vec![object("7")],
        }),
        Fact::Store(StoreFact::IndexEntryRemoved {
            index: "app".into(),
            value: "web".into(),
            key: key.clone(),
            emptied: true,
        }),
        Fact::Store(StoreFact::IndexEntryAdded {
            index: "app".into(),
            value: "web".into(),
            key: key.clone(),
        }),
        Fact::Reflector(ReflectorFact::PageReceived {
            count: 500,
            total: 500,
        }),
        Fact::Reflector(ReflectorFact::ListFailed {
            error: "too old resource version".into(),
            next: ListAgain::Expired,
        }),
        Fact::Reflector(ReflectorFact::WatchFailed {
            error: "connection refused".into(),
        }),
        Fact::Reflector(ReflectorFact::InitialEventKept {
            event: EventType::Added,
            object: object("5"),
        }),
        Fact::Reflector(ReflectorFact::InitialEventsEnded {
            rv: "7".into(),
            count: 3,
        }),
        Fact::Reflector(ReflectorFact::InitialEventsEndMissed {
            ms: 20_000,
            any: true,
        }),
        Fact::Reflector(ReflectorFact::StreamFellBack {
            error: "forbidden".into(),
        }),
        Fact::Reflector(ReflectorFact::ObjectRejected {
            error: "expected type *v1.Pod, but watch event object had type *v1.Node".into(),
        }),
        Fact::Reflector(ReflectorFact::VersionUnavailable { on: true }),
        Fact::Reflector(ReflectorFact::WatchErrorReported {
            error: "boom".into(),
        }),
        Fact::Reflector(ReflectorFact::ResyncDue { wanted: true }),
        Fact::Queue(QueueFact::EntriesProcessed { count: 3 }),
        Fact::Queue(QueueFact::ListOpened {
            rv: "7".into(),
            count: 3,
            removed: 1,
        }),
        Fact::Queue(QueueFact::ResyncOpened { count: 3 }),
        Fact::Handlers(HandlersFact::NotificationSent {
            handler: 0,
            notification: Notification::Delete {
                object: object("12"),
            },
        }),
        Fact::Handlers(HandlersFact::NotificationWithheld {
            handler: 1,
            key: key.clone(),
        }),
        Fact::Handlers(HandlersFact::HandlerPanicked {
            handler: 0,
            error: "index out of range".into(),
        }),
        Fact::Handlers(HandlersFact::HandlerAsked {
            name: "late".into(),
            latency_ms: 100,
            resync_ms: 0,
            filter: "".into(),
        }),
        Fact::Handlers(HandlersFact::RemovalAsked { handler: 1 }),
        Fact::Server(ServerFact::WatchDenied {
            code: 403,
            reason: "Forbidden".into(),
        }),
        Fact::Handlers(HandlersFact::HandlerAdded {
            handler: 1,
            name: "late".into(),
            initial: 3,
        }),
        Fact::Handlers(HandlersFact::HandlerRemoved { handler: 1 }),
        Fact::Handlers(HandlersFact::HandlerSynced { handler: 0 }),
        Fact::Handlers(HandlersFact::SyncingSet {
            handler: 0,
            syncing: false,
        }),
        Fact::Handlers(HandlersFact::ResyncCheckSet { ms: 30_000 }),
        Fact::Handlers(HandlersFact::ObjectMutated {
            key: key.clone(),
            handler: 0,
        }),
        Fact::Handlers(HandlersFact::MutationDetected { key: key.clone() }),
        Fact::Work(WorkFact::WorkAdded {
            key: key.clone(),
            place: WorkPlace::Queue,
        }),
        Fact::Work(WorkFact::WorkTaken {
            worker: 0,
            key: key.clone(),
        }),
        Fact::Work(WorkFact::WorkDone {
            key: key.clone(),
            again: true,
        }),
        Fact::Work(WorkFact::WorkDelayed {
            key: key.clone(),
            ms: 5,
            failures: 1,
        }),
        Fact::Work(WorkFact::WorkForgotten { key: key.clone() }),
        Fact::Work(WorkFact::Reconciled {
            worker: 0,
            key: key.clone(),
            ok: true,
        }),
        Fact::Work(WorkFact::WorkShutDown { drain: true }),
        Fact::Store(StoreFact::IndexFailed {
            index: "app".into(),
            key,
            error: "no label".into(),
        }),
        Fact::Store(StoreFact::IndexersAdded {
            names: vec!["app".into(), "node".into()],
        }),
        Fact::Store(StoreFact::IndicesReset),
        Fact::Store(StoreFact::StoreVersionMoved {
            from: "4".into(),
            to: "7".into(),
        }),
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler: 1,
            notification: Notification::Update {
                old: Some(object("5")),
                new: object("7"),
            },
            pending: 2,
        }),
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler: 0,
            notification: Notification::Add {
                object: object("5"),
                is_in_initial_list: true,
            },
        }),
        Fact::Handlers(HandlersFact::LinePrinted {
            handler: 0,
            line: "OnAdd: web-1".into(),
        }),
        Fact::Handlers(HandlersFact::NotificationHandled { handler: 0 }),
        Fact::Run(RunFact::BesideRequested {
            informer: 0,
            watch: true,
        }),
        Fact::Run(RunFact::BesideStored {
            informer: 0,
            key: Key::from("default/web-1"),
            object: Some(object("5")),
        }),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "tests"
    )]

    use std::collections::BTreeSet;

    use super::*;
    use deltascope_cache::fact::{FactId, LockName};
    use deltascope_replay::picture::Behind;
    use deltascope_replay::picture::HandlerRoom;

    fn record(id: u64, actor: Actor, cause: Cause, fact: Fact) -> FactRecord {
        FactRecord {
            id: FactId(id),
            time: 0,
            actor,
            cause,
            step: Step::QueueActionAppend,
            fact,
        }
    }

    fn object(key: &str, rv: &str) -> ObjectRef {
        ObjectRef {
            key: Key::from(key),
            shape: Shape::Object,
            rv: rv.into(),
            uid: "u".into(),
        }
    }

    /// Pictures that choose other words.
    fn pictures() -> Vec<Picture> {
        let mut rich = Picture::default();
        rich.api.feed = SourceKind::Server;
        rich.api.watch = Some("4".into());
        rich.queue.known_objects = true;
        rich.queue
            .deltas
            .insert(Key::from("default/web-1"), Vec::new());
        rich.store.present = true;
        rich.store.behind = Behind::By(3);
        rich.store
            .items
            .insert(Key::from("default/web-1"), object("default/web-1", "9"));
        rich.lock.waiting = vec![Actor::ProcessLoop, Actor::Listener(0)];
        rich.pop.mode = ProcessMode::Held;
        rich.handlers = vec![
            HandlerRoom {
                name: "first".into(),
                ..HandlerRoom::default()
            },
            HandlerRoom {
                name: "second".into(),
                latency_ms: 1500,
                inline: true,
                ..HandlerRoom::default()
            },
        ];
        let mut program = Picture::default();
        program.api.feed = SourceKind::Program;
        program.queue.kind = QueueKind::RealFifo;
        program.queue.closed = true;
        program.lock.waiting = vec![Actor::Listener(9)];
        let mut fifo = Picture::default();
        fifo.queue.kind = QueueKind::Fifo;
        vec![Picture::default(), rich, program, fifo]
    }

    /// Facts of the same kinds that choose other words.
    fn more() -> Vec<Fact> {
        let key = Key::from("default/web-1");
        let shaped = |shape| ObjectRef {
            shape,
            rv: "".into(),
            ..object("default/web-1", "")
        };
        let mut facts = vec![
            Fact::Server(ServerFact::WriteRefused {
                verb: Verb::Update,
                key: key.clone(),
                refusal: Refusal::NotFound,
            }),
            Fact::Server(ServerFact::WriteRefused {
                verb: Verb::Delete,
                key: key.clone(),
                refusal: Refusal::Invalid("name".into()),
            }),
            Fact::Server(ServerFact::ListAnswered {
                rv: "".into(),
                count: 1,
            }),
            Fact::Server(ServerFact::WatchAccepted { rv: "".into() }),
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv: "".into(),
                initial_events: false,
            }),
            Fact::Reflector(ReflectorFact::ListRequested {
                rv: "".into(),
                rv_match: "",
                limit: 0,
                continues: false,
            }),
            Fact::Reflector(ReflectorFact::ListRequested {
                rv: "123456789".into(),
                rv_match: "",
                limit: 0,
                continues: false,
            }),
            Fact::Reflector(ReflectorFact::LastSyncMoved {
                from: "".into(),
                to: "4".into(),
            }),
            Fact::Store(StoreFact::StoreVersionMoved {
                from: "".into(),
                to: "".into(),
            }),
            Fact::Reflector(ReflectorFact::WatchEnded {
                relist: false,
                code: 0,
            }),
            Fact::Reflector(ReflectorFact::BackoffStarted {
                ms: 30_000,
                reason: BackoffReason::Expired,
            }),
            Fact::Reflector(ReflectorFact::BackoffStarted {
                ms: 0,
                reason: BackoffReason::ListFailed,
            }),
            Fact::Reflector(ReflectorFact::BackoffStarted {
                ms: 800,
                reason: BackoffReason::WatchFailed,
            }),
            Fact::Queue(QueueFact::LockAwaited {
                lock: LockName::Queue,
                by: Actor::ProcessLoop,
                holder: Actor::Program,
            }),
            Fact::Queue(QueueFact::LockAwaited {
                lock: LockName::Queue,
                by: Actor::ProcessLoop,
                holder: Actor::ProcessLoop,
            }),
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by: Actor::Listener(0),
            }),
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by: Actor::Server,
            }),
            Fact::Run(RunFact::ModeSet {
                mode: ProcessMode::Free,
            }),
            Fact::Run(RunFact::ModeSet {
                mode: ProcessMode::Paced(500),
            }),
            Fact::Run(RunFact::PopAsked { asked: 3 }),
            Fact::Run(RunFact::KnownObjectsSet { on: true }),
            Fact::Queue(QueueFact::Populated { initial: 0 }),
            Fact::Queue(QueueFact::Populated { initial: 1 }),
            Fact::Queue(QueueFact::DeltasMerged {
                key: key.clone(),
                kept: shaped(Shape::EmptyTombstone),
                kept_older: false,
            }),
            Fact::Queue(QueueFact::KeyEnqueued {
                key: key.clone(),
                length: 1,
            }),
            Fact::Queue(QueueFact::FifoItemSet {
                object: object("a/x", "5"),
                old: None,
            }),
            Fact::Queue(QueueFact::EntriesTaken {
                count: 1,
                is_in_initial_list: false,
            }),
            Fact::Queue(QueueFact::Requeued {
                key: key.clone(),
                added: false,
            }),
            Fact::Store(StoreFact::ItemRemoved {
                key: key.clone(),
                old: None,
            }),
            Fact::Store(StoreFact::ItemStored {
                object: object("default/web-1", "5"),
                old: None,
            }),
            Fact::Store(StoreFact::ItemStored {
                object: object("default/web-1", "5"),
                old: Some(object("default/web-1", "5")),
            }),
            Fact::Store(StoreFact::ItemStored {
                object: object("default/web-1", "5"),
                old: Some(ObjectRef {
                    uid: "other".into(),
                    ..object("default/web-1", "5")
                }),
            }),
            Fact::Store(StoreFact::IndexEntryRemoved {
                index: "app".into(),
                value: "".into(),
                key: key.clone(),
                emptied: false,
            }),
            Fact::Store(StoreFact::IndexersAdded { names: Vec::new() }),
            Fact::Queue(QueueFact::KeyPopped {
                key: key.clone(),
                deltas: vec![(DeltaType::Sync, object("default/web-1", "5"))],
                is_in_initial_list: true,
            }),
            Fact::Queue(QueueFact::KeyPopped {
                key: key.clone(),
                deltas: vec![(DeltaType::Updated, object("default/web-1", "5")); 9],
                is_in_initial_list: true,
            }),
            Fact::Handlers(HandlersFact::NotificationHandled { handler: 9 }),
            Fact::Handlers(HandlersFact::LinePrinted {
                handler: 9,
                line: "x".into(),
            }),
        ];
        for event in [
            EventType::Added,
            EventType::Modified,
            EventType::Bookmark,
            EventType::Error,
        ] {
            facts.push(Fact::Server(ServerFact::EventSent {
                event,
                object: object("default/web-1", "5"),
                ends_list: false,
            }));
            facts.push(Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object: object("default/web-1", ""),
                ends_list: false,
            }));
        }
        for end in [
            WatchEnd::Closed,
            WatchEnd::CutInLine(7),
            WatchEnd::Silent,
            WatchEnd::Failed(410, "Expired".into()),
            WatchEnd::TooMuch(50_000),
        ] {
            facts.push(Fact::Server(ServerFact::WatchClosed { end, lost: 0 }));
        }
        for known in [
            None,
            Some(Known::No),
            Some(Known::Failed),
            Some(Known::Yes("".into())),
        ] {
            for pending in [false, true] {
                facts.push(Fact::Queue(QueueFact::DeleteChecked {
                    key: key.clone(),
                    known: known.clone(),
                    pending,
                }));
            }
        }
        for delta_type in [
            DeltaType::Added,
            DeltaType::Updated,
            DeltaType::Deleted,
            DeltaType::Replaced,
            DeltaType::Sync,
            DeltaType::ReplacedAll,
            DeltaType::SyncAll,
            DeltaType::Bookmark,
        ] {
            for shape in [
                Shape::Object,
                Shape::Tombstone,
                Shape::EmptyTombstone,
                Shape::ExplicitKey,
                Shape::Opaque,
            ] {
                for depth in [1, 3] {
                    facts.push(Fact::Queue(QueueFact::DeltaAppended {
                        delta_type,
                        object: shaped(shape),
                        depth,
                    }));
                }
                facts.push(Fact::Queue(QueueFact::DeltasMerged {
                    key: key.clone(),
                    kept: shaped(shape),
                    kept_older: true,
                }));
            }
            facts.push(Fact::Run(RunFact::Called {
                delta_type,
                object: object("default/web-1", ""),
            }));
            for exists in [None, Some(false), Some(true)] {
                facts.push(Fact::Queue(QueueFact::DeltaTaken {
                    position: 1,
                    delta_type,
                    object: object("default/web-1", "5"),
                    exists,
                }));
            }
        }
        for entry in [
            Entry::ReplacedAll {
                rv: "5".into(),
                objects: Vec::new(),
            },
            Entry::SyncAll,
            Entry::Bookmark { rv: "5".into() },
        ] {
            facts.push(Fact::Queue(QueueFact::EntryAppended { entry, length: 1 }));
        }
        for notification in [
            Notification::Delete {
                object: shaped(Shape::Tombstone),
            },
            Notification::Update {
                old: Some(object("default/web-1", "5")),
                new: object("default/web-1", "5"),
            },
            Notification::Update {
                old: None,
                new: object("default/db", "5"),
            },
        ] {
            for handler in [0, 1] {
                facts.push(Fact::Handlers(HandlersFact::NotificationQueued {
                    handler,
                    notification: notification.clone(),
                    pending: 1,
                }));
                facts.push(Fact::Handlers(HandlersFact::NotificationTaken {
                    handler,
                    notification: notification.clone(),
                }));
            }
        }
        facts
    }

    fn has_chinese(words: &str) -> bool {
        words
            .chars()
            .any(|letter| is_chinese(letter) || is_mark(letter))
    }

    /// What two lines of the strip hold, with some room: about 115 letters a line.
    const WHY: usize = 200;

    /// A Chinese character is as wide as two letters.
    fn width(words: &str) -> usize {
        words
            .chars()
            .map(|letter| {
                if is_chinese(letter) || is_mark(letter) {
                    2
                } else {
                    1
                }
            })
            .sum()
    }

    fn check(words: &Words, lang: Lang, of: &Fact) {
        for (what, spans) in [("what", &words.what), ("why", &words.why)] {
            let line = plain(spans);
            let place = format!("{what} of {of:?} in {lang:?}: {line}");
            assert!(what == "why" || !line.trim().is_empty(), "empty {place}");
            assert_eq!(line, line.trim(), "spaces around {place}");
            assert!(!line.contains("  "), "doubled spaces in {place}");
            assert!(!line.contains(['{', '}', '`', '[']), "markup in {place}");
            for wrong in [
                "A Added",
                "A Updated",
                "..",
                "。。",
                " .",
                " ,",
                " 。",
                " ，",
                "()",
                "（）",
            ] {
                assert!(!line.contains(wrong), "{wrong:?} in {place}");
            }
            match lang {
                Lang::En => assert!(!has_chinese(&line), "Chinese in {place}"),
                Lang::Zh => {
                    for pair in line.chars().collect::<Vec<_>>().windows(2) {
                        assert!(
                            !(is_chinese(pair[0])
                                && matches!(pair[1], ',' | ':' | ';' | '(' | '?')
                                || is_chinese(pair[1]) && matches!(pair[0], ',' | ')')),
                            "half-width marks in {place}"
                        );
                    }
                    assert!(
                        line.is_empty() || has_chinese(&line),
                        "no Chinese in {place}"
                    );
                    for pair in line.chars().collect::<Vec<_>>().windows(3) {
                        assert!(
                            !(pair[1] == ' ' && is_chinese(pair[0]) && is_chinese(pair[2])),
                            "a space inside Chinese in {place}"
                        );
                    }
                    for pair in line.chars().collect::<Vec<_>>().windows(2) {
                        assert!(
                            !(is_chinese(pair[0]) && pair[1].is_ascii_alphanumeric()),
                            "no space before Latin in {place}"
                        );
                    }
                }
            }
        }
        let why = plain(&words.why);
        assert!(width(&why) <= WHY, "{} wide: {why}", width(&why));
        let length = plain(&words.what).chars().count();
        assert!(length <= 150, "{length} letters: {}", plain(&words.what));
    }

    #[test]
    fn every_kind_has_a_sample() {
        let sampled: BTreeSet<_> = samples().iter().map(Fact::name).collect();
        let all: BTreeSet<_> = Fact::names().collect();
        assert_eq!(sampled, all);
        assert_eq!(samples().len(), all.len(), "one sample each");
    }

    #[test]
    fn every_fact_has_words_in_both_languages() {
        let facts: Vec<_> = samples().into_iter().chain(more()).collect();
        for lang in [Lang::En, Lang::Zh] {
            for picture in &pictures() {
                check(
                    &before_start(picture, lang),
                    lang,
                    &Fact::Queue(QueueFact::QueueEmpty),
                );
                for fact in &facts {
                    for actor in [Actor::Reflector, Actor::ProcessLoop] {
                        let alone = record(0, actor, Cause::Start, fact.clone());
                        let recent = [alone.clone()];
                        check(&words(&alone, &recent, picture, lang), lang, fact);
                    }
                    for cause in samples() {
                        let caused =
                            record(1, Actor::Reflector, Cause::Fact(FactId(0)), fact.clone());
                        let recent = [
                            record(0, Actor::Reflector, Cause::Start, cause),
                            caused.clone(),
                        ];
                        check(&words(&caused, &recent, picture, lang), lang, fact);
                    }
                }
            }
        }
    }

    #[test]
    fn what_the_sources_say_at_their_end_is_translated() {
        use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
        use deltascope_world::source::program::Program;
        use deltascope_world::source::recorded::Recording;
        use deltascope_world::source::wire::Recorded;
        use deltascope_world::{Refused, Source};

        let mut ends = Vec::new();
        let mut recording = Recording::new(Recorded::default());
        let mut program = Program::default();
        let (list, watch) = (ListRequest::default(), WatchRequest::default());
        ends.push(recording.list(0, &list, &mut ()).map(|_| ()));
        ends.push(recording.watch(0, &watch, &mut ()));
        ends.push(program.list(0, &list, &mut ()).map(|_| ()));
        ends.push(program.watch(0, &watch, &mut ()));
        for end in ends {
            let Err(Refused::Over(reason)) = end else {
                panic!("{end:?} is no end");
            };
            for fact in [
                Fact::Reflector(ReflectorFact::ReflectorStopped {
                    reason: Arc::clone(&reason),
                }),
                Fact::Server(ServerFact::ListRefused {
                    code: 0,
                    reason: Arc::clone(&reason),
                }),
            ] {
                let stopped = record(0, Actor::Reflector, Cause::Start, fact);
                let told = |lang| plain(&words(&stopped, &[], &Picture::default(), lang).what);
                assert!(told(Lang::En).contains(&*reason));
                assert!(!told(Lang::Zh).contains("the "), "{}", told(Lang::Zh));
                assert!(!told(Lang::Zh).contains('0') && !told(Lang::En).contains('0'));
            }
        }
    }

    #[test]
    fn a_recording_without_a_list_begins_in_mid_watch() {
        let mut picture = Picture::default();
        picture.api.feed = SourceKind::Recorded;
        let start = plain(&before_start(&picture, Lang::En).why);
        assert!(start.contains("middle of a watch"), "{start}");
        assert!(!start.contains("starts with a list"), "{start}");
        let accepted = record(
            0,
            Actor::Server,
            Cause::Start,
            Fact::Server(ServerFact::WatchAccepted { rv: "".into() }),
        );
        let said = words(&accepted, &[], &picture, Lang::En);
        assert_eq!(
            plain(&said.what),
            "The recording begins in the middle of a watch."
        );
        picture.api.told_by_events = true;
        let start = plain(&before_start(&picture, Lang::En).why);
        assert!(start.contains("starts with a list"), "{start}");
    }

    #[test]
    fn a_watch_from_any_version_brings_everything_first() {
        for rv in ["", "0"] {
            for fact in [
                Fact::Reflector(ReflectorFact::WatchRequested {
                    rv: rv.into(),
                    initial_events: false,
                }),
                Fact::Server(ServerFact::WatchAccepted { rv: rv.into() }),
            ] {
                let asked = record(0, Actor::Reflector, Cause::Start, fact);
                let said = words(&asked, &[], &Picture::default(), Lang::En);
                let said = format!("{} {}", plain(&said.what), plain(&said.why));
                assert!(said.contains("first"), "{said}");
                for wrong in ["nothing comes twice", "every change after"] {
                    assert!(!said.contains(wrong), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_bookmark_as_a_cause_has_no_name() {
        let recent = [
            record(
                0,
                Actor::Reflector,
                Cause::Start,
                Fact::Reflector(ReflectorFact::EventReceived {
                    event: EventType::Bookmark,
                    object: object("", "9"),
                    ends_list: false,
                }),
            ),
            record(
                1,
                Actor::Reflector,
                Cause::Fact(FactId(0)),
                Fact::Reflector(ReflectorFact::LastSyncMoved {
                    from: "4".into(),
                    to: "9".into(),
                }),
            ),
        ];
        let said = words(&recent[1], &recent, &Picture::default(), Lang::En);
        assert!(plain(&said.why).starts_with("Cause: BOOKMARK was received. "));
    }

    #[test]
    fn the_switch_says_what_delete_asks_from_here_on() {
        let told = |on, picture: &Picture| {
            let set = record(
                0,
                Actor::ProcessLoop,
                Cause::Start,
                Fact::Run(RunFact::KnownObjectsSet { on }),
            );
            let said = words(&set, &[], picture, Lang::En);
            format!("{} {}", plain(&said.what), plain(&said.why))
        };
        let mut picture = Picture::default();
        picture.store.present = true;
        let on = told(true, &picture);
        assert!(on.contains("keeps an Indexer from here on") && on.contains("empty now"));
        picture
            .store
            .items
            .insert(Key::from("a/b"), object("a/b", "1"));
        assert!(!told(true, &picture).contains("empty"));
        assert!(told(false, &picture).contains("Delete looks only at what is in the DeltaFIFO"));
    }

    #[test]
    fn every_lesson_has_words_and_a_listing_at_every_step() {
        use deltascope_replay::lessons;

        for (id, title) in lessons::menu() {
            let lesson = lessons::load(&id).unwrap();
            for text in [&title, &lesson.note] {
                let chinese: Vec<char> = text.get(Lang::Zh).chars().collect();
                assert!(
                    !chinese.windows(2).any(|pair| {
                        is_chinese(pair[0]) && matches!(pair[1], ',' | ':' | ';' | '(' | '?')
                    }),
                    "{id}: {}",
                    text.get(Lang::Zh)
                );
            }
            follow(&id, lesson.scenario, 400);
        }
    }

    #[test]
    fn every_generation_has_words_and_a_listing_at_every_step() {
        use deltascope_world::source::scenario::Scenario;
        use deltascope_world::virtual_time::{
            Era, HandlerSettings, InformerKind, Settings, WorkSettings,
        };

        let handler = |name: &str, resync_ms| HandlerSettings {
            name: name.into(),
            resync_ms: Some(resync_ms),
            ..HandlerSettings::default()
        };
        let script = r#"[
            {"at": 400, "op": "create", "object": {"metadata": {"namespace": "a", "name": "x"}}},
            {"at": 900, "op": "update", "object": {"metadata": {"namespace": "a", "name": "x"}}},
            {"at": 1500, "op": "bookmark"},
            {"at": 1600, "op": "refuse", "request": "watch", "with": "tooManyRequests", "times": 1},
            {"at": 1700, "op": "close"},
            {"at": 3000, "op": "addHandler", "handler": {"name": "late"}},
            {"at": 3600, "op": "removeHandler", "handler": 2},
            {"at": 4000, "op": "delete", "object": {"metadata": {"namespace": "a", "name": "x"}}},
            {"at": 5000, "op": "refuse", "request": "list", "with": "tooLarge", "times": 1},
            {"at": 5050, "op": "error", "code": 410}
        ]"#;
        for generation in GENERATIONS {
            for streams in [false, true] {
                let settings = Settings {
                    machinery: InformerKind::Shared,
                    era: Era(generation),
                    watch_list: Some(streams),
                    page_size: 2,
                    resync_ms: 1_000,
                    indices: vec!["namespace".into()],
                    handlers: vec![
                        HandlerSettings {
                            queues: true,
                            mutates: Some("seen=yes".into()),
                            ..handler("first", 1_000)
                        },
                        HandlerSettings {
                            panics_at: Some("x".into()),
                            ..handler("second", 0)
                        },
                    ],
                    mutation_detector: true,
                    work: Some(WorkSettings {
                        failures: 1,
                        ..WorkSettings::default()
                    }),
                    ..Settings::default()
                };
                let object =
                    |name| serde_json::json!({"metadata": {"namespace": "a", "name": name}});
                let scenario = Scenario {
                    settings,
                    initial: ["p", "q", "r"].map(object).to_vec(),
                    script: serde_json::from_str(script).unwrap(),
                    ..Scenario::default()
                };
                let name = format!("{}, streams = {streams}", generation.as_str());
                let said = follow(&name, scenario, 1_500);
                let has = |words: &str| said.contains(words);
                // What only some generations have is said of those only.
                let real = generation != Generation::Classic;
                assert_eq!(has("OnDelete is called even for one"), real, "{name}");
                let batches = generation >= Generation::Batched;
                let looked_up = "Nothing is written yet";
                assert!(batches || !has(looked_up), "{name}");
                let atomic = generation == Generation::Atomic;
                assert_eq!(has("became one ReplacedAll entry"), atomic, "{name}");
                assert_eq!(has("It processes without the lock"), atomic, "{name}");
                assert_eq!(has("The streaming list is open"), streams, "{name}");
                assert_eq!(has("asked for the next page"), !streams, "{name}");
            }
        }
    }

    const GENERATIONS: [Generation; 4] = [
        Generation::Classic,
        Generation::InOrder,
        Generation::Batched,
        Generation::Atomic,
    ];

    /// Checks words and listings along a run; gives what was said, in English.
    fn follow(
        id: &str,
        scenario: deltascope_world::source::scenario::Scenario,
        steps: usize,
    ) -> String {
        use deltascope_replay::timeline::Timeline;
        use std::fmt::Write;

        let mut all = String::new();
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(steps);
        let facts = timeline.all_facts().to_vec();
        let mut picture = timeline.picture(0);
        for (index, record) in facts.iter().enumerate() {
            picture.apply(record);
            let recent = &facts[(index + 1).saturating_sub(160)..=index];
            for lang in [Lang::En, Lang::Zh] {
                let said = words(record, recent, &picture, lang);
                // A program prints what it likes.
                if !matches!(
                    record.fact,
                    Fact::Handlers(HandlersFact::LinePrinted { .. })
                ) {
                    check(&said, lang, &record.fact);
                }
                let what = plain(&said.what);
                assert!(
                    !what.to_lowercase().contains("handler handler"),
                    "{id}: {what}"
                );
                if lang == Lang::En {
                    writeln!(all, "{what} | {}", plain(&said.why)).unwrap();
                }
            }
            let listing = super::super::pseudo::listing(recent, &picture);
            let current = listing.lines.iter().filter(|line| line.current).count();
            assert_eq!(current, 1, "{id}: {record:?}");
        }
        all
    }

    #[test]
    fn a_kept_delete_says_why_it_was_kept() {
        let key = Key::from("default/web-1");
        let recent = [
            record(
                0,
                Actor::Reflector,
                Cause::Start,
                Fact::Queue(QueueFact::DeleteChecked {
                    key,
                    known: Some(Known::Yes("2".into())),
                    pending: false,
                }),
            ),
            record(
                1,
                Actor::Reflector,
                Cause::Fact(FactId(0)),
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type: DeltaType::Deleted,
                    object: object("default/web-1", "12"),
                    depth: 1,
                }),
            ),
        ];
        let said = words(&recent[1], &recent, &Picture::default(), Lang::En);
        assert_eq!(
            plain(&said.what),
            "web-1 was deleted on the server. The queue holds nothing for it, but the Indexer knows it, so a Deleted delta is kept."
        );
        assert_eq!(
            plain(&said.why),
            "known = yes (rv 2), pending = no → kept. Turn KnownObjects off and step again: the same Delete is dropped without a trace."
        );
        assert_eq!(said.what[0], Span::Name("web-1".into()));
        assert!(
            said.what
                .contains(&Span::Delta(DeltaType::Deleted, "Deleted".into()))
        );
        assert_eq!(
            said.why[0],
            Span::Code("known = yes (rv 2), pending = no → kept".into())
        );
    }

    #[test]
    fn the_cause_is_looked_up_by_its_number() {
        let recent = [
            record(
                7,
                Actor::Reflector,
                Cause::Start,
                Fact::Reflector(ReflectorFact::EventReceived {
                    event: EventType::Modified,
                    object: object("default/web-0", "9"),
                    ends_list: false,
                }),
            ),
            record(
                8,
                Actor::Reflector,
                Cause::Fact(FactId(7)),
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type: DeltaType::Updated,
                    object: object("default/web-0", "9"),
                    depth: 2,
                }),
            ),
        ];
        let with = words(&recent[1], &recent, &Picture::default(), Lang::En);
        assert!(plain(&with.why).starts_with("Cause: MODIFIED web-0 was received. "));
        // Out of sight, the cause is left out.
        let without = words(&recent[1], &recent[1..], &Picture::default(), Lang::En);
        assert!(!plain(&without.why).contains("Cause"));
    }

    #[test]
    fn the_condition_of_a_dropped_delete_is_the_one_that_was_asked() {
        let key = Key::from("default/pod1");
        let recent = [
            record(
                0,
                Actor::Program,
                Cause::Start,
                Fact::Queue(QueueFact::DeleteChecked {
                    key: key.clone(),
                    known: None,
                    pending: false,
                }),
            ),
            record(
                1,
                Actor::Program,
                Cause::Start,
                Fact::Queue(QueueFact::DeleteIgnored { key: key.clone() }),
            ),
        ];
        let mut picture = Picture::default();
        let dropped = words(&recent[1], &recent, &picture, Lang::En);
        assert!(
            plain(&dropped.why)
                .starts_with("known = (off), pending = no → dropped. Without KnownObjects")
        );
        picture.store.items.insert(key, object("default/pod1", "3"));
        let stale = words(&recent[1], &recent, &picture, Lang::En);
        assert!(plain(&stale.why).contains("The Indexer still holds pod1"));
    }

    #[test]
    fn what_is_passed_over_says_why() {
        let key = || Key::from("default/x");
        for (fact, en, zh) in [
            (
                Fact::Queue(QueueFact::ResyncSkipped { key: key() }),
                "`x is queued = yes → skip`: a [Sync] with the stored object would come after newer changes and take it back in time.",
                "`x 已在队列 = 是 → 跳过`：带着旧对象的 [Sync] 会排在更新的变更之后，让它倒退。",
            ),
            (
                Fact::Queue(QueueFact::AlreadyPresent { key: key() }),
                "`x is queued = yes → return`: what was popped before is dropped, not put in front.",
                "`x 已在队列 = 是 → return`：之前 Pop 出来的被丢弃，不会插到前面。",
            ),
        ] {
            let record = record(0, Actor::Resync, Cause::Start, fact);
            for (lang, expected) in [(Lang::En, en), (Lang::Zh, zh)] {
                let words = words(&record, &[], &Picture::default(), lang);
                let expected = expected.replace(['`', '[', ']'], "");
                assert_eq!(plain(&words.why), expected);
            }
        }
    }

    #[test]
    fn where_playing_stopped_the_breakpoint_is_named_first() {
        let stopped = |lang| {
            let said = before_start(&Picture::default(), lang);
            plain(&said.stopped_by("fact=KeyPopped", lang).why)
        };
        assert_eq!(
            stopped(Lang::En),
            "Stopped at the breakpoint fact=KeyPopped. Step on: the reflector starts with a list."
        );
        assert!(stopped(Lang::Zh).starts_with("停在断点 fact=KeyPopped。向前一步"));
    }

    #[test]
    fn what_is_filled_in_is_never_markup() {
        let odd = record(
            0,
            Actor::Program,
            Cause::Start,
            Fact::Handlers(HandlersFact::LinePrinted {
                handler: 0,
                line: "{line} `x` [Added]".into(),
            }),
        );
        let said = words(&odd, &[], &Picture::default(), Lang::En);
        assert_eq!(plain(&said.what), "The program printed: {line} `x` [Added]");
    }

    #[test]
    fn long_versions_show_their_tail() {
        assert_eq!(short_rv("12"), "12");
        assert_eq!(short_rv("123456"), "123456");
        assert_eq!(short_rv("8871474"), "…1474");
        assert_eq!(short_rv("版本版本版本版"), "…本版本版");
    }

    #[test]
    fn short_names_are_what_stands_after_the_namespace() {
        assert_eq!(short_name("default/web-1"), "web-1");
        assert_eq!(short_name("node-1"), "node-1");
        assert_eq!(short_name(""), "");
    }

    #[test]
    fn chinese_is_spaced_as_chinese() {
        let mut picture = Picture::default();
        picture.lock.waiting = vec![Actor::ProcessLoop];
        let taken = record(
            0,
            Actor::ProcessLoop,
            Cause::Start,
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by: Actor::ProcessLoop,
            }),
        );
        let said = words(&taken, &[], &picture, Lang::Zh);
        assert_eq!(plain(&said.what), "处理循环拿到了 DeltaFIFO 的锁。");
        assert_eq!(plain(&said.why), "处理循环还在等这把锁。");
    }

    /// A run that meets most of what can happen: held and free, a cut, a 410, a missed delete.
    fn run(known: bool, feed: &str) -> Vec<(FactRecord, Vec<FactRecord>, Picture)> {
        use deltascope_replay::timeline::Timeline;
        use deltascope_world::source::scenario::Scenario;

        let pod = |name: &str, app: &str| {
            serde_json::json!({
                "metadata": {"namespace": "default", "name": name, "labels": {"app": app}},
            })
        };
        let act =
            |at: u64, op: &str, object| serde_json::json!({"at": at, "op": op, "object": object});
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "settings": {
                "feed": feed,
                "store": true,
                "knownObjects": known,
                "processMs": 600,
                "emitDeltaTypeReplaced": true,
                "indices": ["namespace", "app"],
                "handlers": [
                    {"name": "first", "onAdd": ["OnAdd: {name}"], "onDelete": ["OnDelete: {name}"]},
                    {"name": "second", "latencyMs": 900},
                    {"name": "inside", "inline": true, "onUpdate": ["OnUpdate: {name}"]},
                ],
            },
            "initial": [pod("web-0", "web"), pod("web-1", "web")],
            "script": [
                act(1000, "create", pod("db", "db")),
                {"at": 1500, "op": "mode", "mode": "held"},
                act(1600, "update", pod("db", "web")),
                act(1700, "update", pod("db", "db")),
                act(1800, "delete", pod("web-1", "")),
                {"at": 1900, "op": "pop"},
                {"at": 2000, "op": "mode", "mode": "free"},
                {"at": 3000, "op": "cut"},
                act(3010, "delete", pod("web-0", "")),
                {"at": 3020, "op": "compact"},
                act(3030, "create", pod("db", "db")),
                {"at": 6000, "op": "knownObjects", "on": true},
            ],
        }))
        .unwrap();
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(500);
        let facts = timeline.all_facts().to_vec();
        (1..=facts.len())
            .map(|step| {
                (
                    facts[step - 1].clone(),
                    facts[step.saturating_sub(160)..step].to_vec(),
                    timeline.picture(step),
                )
            })
            .collect()
    }

    #[test]
    fn a_real_run_has_words_and_a_listing_at_every_step() {
        let mut met = BTreeSet::new();
        for (known, feed) in [(true, "server"), (false, "server"), (false, "program")] {
            for (record, recent, picture) in run(known, feed) {
                met.insert(record.fact.name());
                for lang in [Lang::En, Lang::Zh] {
                    let said = words(&record, &recent, &picture, lang);
                    check(&said, lang, &record.fact);
                }
                let listing = super::super::pseudo::listing(&recent, &picture);
                assert_eq!(
                    listing.lines.iter().filter(|line| line.current).count(),
                    1,
                    "{record:?}"
                );
            }
        }
        for kind in [
            "DeleteIgnored",
            "DeletionDetected",
            "WatchRefused",
            "Called",
            "LockAwaited",
        ] {
            assert!(met.contains(kind), "the runs do not meet {kind}: {met:?}");
        }
    }
}
