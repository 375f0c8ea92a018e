//! Phrases that the sentences of all owners share: actors, objects and reasons.

use deltascope_cache::fact::{Actor, ObjectRef, Reason};
use deltascope_cache::key::Key;
use deltascope_replay::picture::SourceKind;

use super::Writer;
use super::spans::{Span, mono, short_rv, text};
use crate::lanes::{HandlerName, actor_name, handler_name};
use deltascope_world::text::Lang;

impl Writer<'_> {
    pub(super) fn name(&self, key: &Key) -> Vec<Span> {
        vec![Span::Name(self.naming.of(key))]
    }

    /// `web-1 (rv 12)`; of a program `pod1 (1.1)`: what stands there is its own value.
    pub(super) fn object(&self, object: &ObjectRef) -> Vec<Span> {
        let mut spans = self.name(&object.key);
        if !object.rv.is_empty() {
            let (open, close) = self.parentheses();
            let rv = match self.picture.api.source {
                SourceKind::Program => "",
                _ => "rv ",
            };
            spans.push(Span::Text([open, rv].concat()));
            spans.push(Span::Code(short_rv(&object.rv)));
            spans.push(Span::Text(close.into()));
        }
        spans
    }

    pub(super) fn actor(&self, actor: Actor) -> Vec<Span> {
        let name = actor_name(actor, self.picture, self.lang);
        match (actor, self.lang) {
            (Actor::Listener(number), _) => match handler_name(number, self.picture) {
                HandlerName::Own(_) => vec![Span::Text("handler ".into()), Span::Name(name)],
                HandlerName::Noun(_) | HandlerName::Number => text(name),
            },
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

    pub(super) fn queue(&self) -> Vec<Span> {
        text(self.picture.queue.kind.id())
    }

    /// A text of the server, [`Reason::Text`], is not translated.
    pub(super) fn reason(&self, reason: &Reason) -> Vec<Span> {
        let chinese = match reason {
            Reason::StopRequested => "调用方要求停止",
            Reason::RecordingEnds => "录制到此结束",
            Reason::NoFurtherList => "录制里没有更多的 List",
            Reason::NothingToList => "程序没有可供 List 的内容",
            Reason::NothingToWatch => "程序没有可供 watch 的内容",
            Reason::WatchOver => "watch 已结束",
            Reason::ReadOnly => "录制不能写入",
            Reason::NoWatch => "没有打开的 watch",
            Reason::Text(words) => return mono(&**words),
        };
        text(self.lang.pick(reason.as_str(), chinese))
    }

    /// Whether the recording starts without a list, so that the version of the watch is unknown.
    pub(super) fn begins_in_mid_watch(&self, rv: &str) -> bool {
        let api = &self.picture.api;
        api.source == SourceKind::Recorded && !api.known_from_events && rv.is_empty()
    }

    pub(super) fn comma(&self) -> &'static str {
        self.lang.pick(", ", "、")
    }

    fn parentheses(&self) -> (&'static str, &'static str) {
        self.lang.pick((" (", ")"), ("（", "）"))
    }
}
