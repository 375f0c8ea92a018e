//! Captions: every fact in one plain sentence, and why it happened.
//!
//! A caption follows from the fact, the facts before it and the picture after it, so it cannot
//! contradict the stage. Each sentence has its two languages side by side.

#[macro_use]
mod names;
#[macro_use]
mod say;

pub(crate) mod amounts;
mod cause;
mod end;
mod handlers;
mod phrases;
mod queue;
mod reflector;
mod run;
mod server;
mod spans;
mod store;
mod work;

#[cfg(test)]
mod generations;
#[cfg(test)]
mod tests;

use deltascope_cache::fact::{Fact, FactRecord, ReflectorFact, RunFact};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Picture, SourceKind};

use deltascope_world::text::Lang;

use amounts::objects;
use say::say;
use spans::{event_type, mono, named, text, version};

pub use end::at_end;
pub use names::{in_chinese, in_words};
pub use spans::{Span, answer, plain, refusal};
pub(crate) use spans::{short_name, short_rv};

/// Why a chain of causes contains a fact that is not a cause: it explains why a list lacks an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// It stored the object in the Indexer, but the list lacks it.
    Stored,
    /// It queued the object, but the list lacks it.
    Queued,
    /// It deleted the object on the server or moved it out of the selector, and no event of it arrived.
    Unseen,
}

/// The caption of one fact, shown in the strip under the stage.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Words {
    /// What happened.
    pub what: Vec<Span>,
    /// Why it happened, and what did not happen; may be empty.
    pub why: Vec<Span>,
}

impl Words {
    /// Adds to the start of `why` that playing stopped at these breakpoints.
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

/// How captions name an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By its name without the namespace: all objects of the run are in one namespace.
    #[default]
    Short,
    /// By its key: the run has objects of several namespaces.
    Long,
}

impl Naming {
    fn of(self, key: &Key) -> String {
        match self {
            Self::Short => short_name(key).to_owned(),
            Self::Long => key.to_string(),
        }
    }
}

/// The language of a caption, and how it names objects.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// The language.
    pub lang: Lang,
    /// How objects are named.
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

/// The caption of `record`. `recent` holds the last facts up to and including it, oldest first;
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

/// The reason of `record` in few words: its condition with the values, or its error.
#[must_use]
pub fn reason(
    record: &FactRecord,
    recent: &[FactRecord],
    picture: &Picture,
    voice: impl Into<Voice>,
) -> String {
    let Voice { lang, naming } = voice.into();
    let writer = Writer {
        record,
        recent,
        picture,
        lang,
        naming,
    };
    let (what, why) = writer.sentences();
    let is_code = |span: &&Span| matches!(span, Span::Code(_));
    let code = why.iter().flatten().chain(&what).find(is_code);
    code.map_or_else(|| plain(&what), |span| span.as_str().to_owned())
}

/// Introduces the fact of an [`Aside`]: how it explains that a list lacks the object with this key.
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

/// The caption before the first fact.
#[must_use]
pub fn before_start(picture: &Picture, lang: Lang) -> Words {
    if !picture.informer.has_queue() {
        let what = say(
            lang,
            "Nothing has happened yet. A program will do all of it: no Reflector, no queue.",
            "还什么都没有发生。一切都由程序完成：没有 Reflector，也没有队列。",
            &[],
        );
        return Words {
            what,
            why: Vec::new(),
        };
    }
    let queue = picture.queue.kind.id();
    let (en, zh) = match picture.api.source {
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
    let why = match picture.api.source {
        SourceKind::Recorded if !picture.api.known_from_events => (
            "Step on: the recording begins in the middle of a watch, without a list.",
            "向前一步：录制从 watch 的中途开始，没有 List。",
        ),
        SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => (
            "Step on: the Reflector starts with a list.",
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
                ("objects", text(objects(lang, live))),
                ("queue", text(queue)),
            ],
        ),
        why: say(lang, why.0, why.1, &[]),
    }
}

/// Makes the sentences of one fact.
struct Writer<'a> {
    record: &'a FactRecord,
    recent: &'a [FactRecord],
    picture: &'a Picture,
    lang: Lang,
    naming: Naming,
}

/// What happened, and the sentences that state why.
type Sentences = (Vec<Span>, Vec<Vec<Span>>);

impl Writer<'_> {
    fn words(&self) -> Words {
        let (what, mut why) = self.sentences();
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

    fn sentences(&self) -> Sentences {
        if let Some(sentences) = self.program_sentences() {
            return sentences;
        }
        match &self.record.fact {
            Fact::Server(fact) => self.server_sentences(fact),
            Fact::Reflector(fact) => self.reflector_sentences(fact),
            Fact::Queue(fact) => self.queue_sentences(fact),
            Fact::Store(fact) => self.store_sentences(fact),
            Fact::Handlers(fact) => self.handlers_sentences(fact),
            Fact::Work(fact) => self.work_sentences(fact),
            Fact::Run(fact) => self.run_sentences(fact),
        }
    }

    /// The sentences for a program without a reflector and a queue; `None` where the common ones apply.
    fn program_sentences(&self) -> Option<Sentences> {
        if self.picture.informer.has_queue() {
            return None;
        }
        let fact = &self.record.fact;
        let what = if let Fact::Reflector(ReflectorFact::ListRequested { .. }) = fact {
            say!(
                self,
                "The program asked for a list.",
                "程序发出 List 请求。"
            )
        } else if let Fact::Reflector(ReflectorFact::ListReceived { rv, count }) = fact {
            say!(
                self,
                "The program got the list: {objects} at resourceVersion {rv}.",
                "程序收到列表：{objects}，resourceVersion 为 {rv}。",
                objects = text(objects(self.lang, *count as usize)),
                rv = version(rv),
            )
        } else if let Fact::Reflector(ReflectorFact::WatchRequested { .. }) = fact {
            say!(
                self,
                "The program asked for a watch.",
                "程序发出 watch 请求。"
            )
        } else if let Fact::Reflector(ReflectorFact::WatchEnded { .. }) = fact {
            say!(
                self,
                "The program's watch is over.",
                "程序的 watch 结束了。"
            )
        } else if let Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) = fact {
            say!(
                self,
                "The program took {event} {object} off the stream.",
                "程序从流中取下 {event} {object}。",
                event = event_type(*event),
                object = self.object(object),
            )
        } else if let Fact::Run(RunFact::Called { object, .. }) = fact {
            say!(
                self,
                "The program handed {object} to the Indexer.",
                "程序把 {object} 交给 Indexer。",
                object = self.object(object),
            )
        } else {
            return None;
        };
        Some((what, Vec::new()))
    }
}
