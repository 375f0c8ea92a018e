//! What the sentences about several owners have in common: how an actor, an object or a reason is called.

use deltascope_cache::fact::{Actor, ObjectRef};
use deltascope_cache::key::Key;
use deltascope_replay::picture::SourceKind;

use super::Writer;
use super::spans::{Span, mono, short_rv, text};
use crate::i18n::Lang;
use crate::lanes::actor_name;

impl Writer<'_> {
    pub(super) fn name(&self, key: &Key) -> Vec<Span> {
        vec![Span::Name(self.naming.of(key))]
    }

    /// `web-1 (rv 12)`
    pub(super) fn object(&self, object: &ObjectRef) -> Vec<Span> {
        let mut spans = self.name(&object.key);
        if !object.rv.is_empty() {
            let (open, close) = self.parentheses();
            spans.push(Span::Text(format!("{open}rv ")));
            spans.push(Span::Code(short_rv(&object.rv)));
            spans.push(Span::Text(close.into()));
        }
        spans
    }

    pub(super) fn actor(&self, actor: Actor) -> Vec<Span> {
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

    pub(super) fn queue(&self) -> Vec<Span> {
        text(self.picture.queue.kind.as_str())
    }

    /// The runtime's reasons are English.
    pub(super) fn reason(&self, reason: &str) -> Vec<Span> {
        match (self.lang, known_reason(reason)) {
            (Lang::Zh, Some(chinese)) => text(chinese),
            (Lang::En, Some(_)) => text(reason),
            (_, None) => mono(reason),
        }
    }

    /// Whether a recording starts without a list: then nobody knows at which version.
    pub(super) fn begins_in_mid_watch(&self, rv: &str) -> bool {
        let api = &self.picture.api;
        api.source == SourceKind::Recorded && !api.told_by_events && rv.is_empty()
    }

    pub(super) fn comma(&self) -> &'static str {
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

pub(super) fn known_reason(reason: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(english, _)| *english == reason)
        .map(|(_, chinese)| *chinese)
}
