//! The inputs that commands put into the run at the cursor.

use std::ops::ControlFlow;

use deltascope_cache::fact::{Fact, ProcessMode, ReflectorFact, Request, ServerFact, Verb};
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_replay::branches::Made;
use deltascope_replay::picture::SourceKind;
use deltascope_replay::recording::RecordedInput;
use deltascope_replay::timeline::is_response;
use deltascope_replay::trace::MAX_INPUTS;
use deltascope_world::source::pod::{self, Write};
use deltascope_world::source::{self, Refusals};
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{HandlerSettings, Input};
use serde_json::Value;

use super::messages::{
    from_here, full, no_handler, no_history, no_object, no_watch, not_held, nothing_open,
    object_not_watched, refusal, too_many_inputs,
};
use super::{Change, Session, branches};
use crate::command::Fault;

/// The reflector notices a closed watch within this many facts.
const NOTICED: usize = 2_000;

impl Session {
    pub(super) fn write_object(&mut self, verb: Verb, object: &Value) -> Change {
        self.write(pod::to_write(object).map(|object| match verb {
            Verb::Create => Write::Create(object),
            Verb::Update => Write::Update(object),
            Verb::Delete => Write::delete(object),
        }))
    }

    pub(super) fn cut_watch(&mut self) -> Change {
        if !self.has_watch() {
            return self.say(no_watch());
        }
        self.insert(Input::Source(source::Command::Cut))
    }

    /// Makes the server forget its history.
    pub(super) fn compact(&mut self) -> Change {
        if self.picture().api.source != SourceKind::Server {
            return self.say(no_history());
        }
        // An open watch goes on; only the next watch is refused.
        let watching = self.picture().api.watch.is_some();
        let change = self.insert(Input::Source(source::Command::Compact));
        if watching {
            self.insert(Input::Source(source::Command::Cut))
        } else {
            change
        }
    }

    pub(super) fn pop_one(&mut self) -> Change {
        if self.picture().pop.mode != ProcessMode::Held {
            return self.say(not_held());
        }
        self.insert(Input::Pop)
    }

    pub(super) fn switch_known_objects(&mut self, on: bool) -> Change {
        if self.picture().queue.known_objects == on {
            return Change::None;
        }
        let change = self.insert(Input::KnownObjects(on));
        self.notice = self.error.is_none().then(|| from_here(on));
        change
    }

    pub(super) fn add_handler(&mut self) -> Change {
        let number = self.picture().handlers.len() + 1;
        self.insert(Input::AddHandler(late_handler(number)))
    }

    pub(super) fn remove_handler(&mut self, number: usize) -> Change {
        match number.try_into() {
            Ok(number)
                if (self.picture().handlers.get(usize::from(number)))
                    .is_some_and(|handler| !handler.removed && !handler.leaving) =>
            {
                self.insert(Input::RemoveHandler(number))
            }
            _ => self.say(no_handler()),
        }
    }

    /// Makes something fail between the server and the reflector.
    pub(super) fn inject_fault(&mut self, fault: Fault) -> Change {
        let (command, needs_watch) = fault_command(fault);
        if needs_watch && !self.has_watch() {
            return self.say(nothing_open());
        }
        self.insert(Input::Source(command))
    }

    /// Cancels a refusal that was armed.
    pub(super) fn disarm(&mut self, request: Request, kind: ApiErrorKind) -> Change {
        let refusals = Refusals {
            request,
            kind,
            times: 0,
        };
        self.insert(Input::Source(source::Command::Refuse(refusals)))
    }

    pub(super) fn write(&mut self, write: Result<Write, Text>) -> Change {
        // A run knows a cluster's objects only from the answers of the cluster.
        let is_cluster = self.timeline.scenario().settings.source == SourceKind::Cluster;
        if is_cluster && !self.is_live() && self.picture().api.watch.is_none() {
            return self.say(object_not_watched());
        }
        match write {
            Ok(write) => self.insert(Input::Source(source::Command::Write(write))),
            Err(reason) => self.say(no_object(&reason)),
        }
    }

    /// Inserts an input at the cursor. The future is computed anew from there.
    pub(super) fn insert(&mut self, input: Input<source::Command>) -> Change {
        if self.is_live() {
            return self.insert_live(input);
        }
        let at = self.playback.cursor();
        if at >= self.timeline.most() {
            return self.say(full(self.timeline.most()));
        }
        // Counted as a file counts them.
        let inputs = branches::own_inputs(&self.timeline);
        if inputs >= MAX_INPUTS {
            return self.say(too_many_inputs());
        }
        // The user's later inputs are not lost: they stay in a branch.
        let before = self.branch_name();
        let leaves = self.timeline.has_inputs_after(at);
        if leaves && !self.leave(Made::Acted, at) {
            return self.say(branches::no_room());
        }
        let shown = self.timeline.insert(at, input);
        if leaves {
            let left = (inputs + 1).saturating_sub(branches::own_inputs(&self.timeline));
            self.notice = self.left_behind(left, before);
        }
        self.cut(at);
        self.playback.seek(shown, self.timeline.len());
        self.marked();
        self.error = None;
        let new = self.timeline.facts(at..shown);
        if let Some(message) = new.iter().find_map(|record| refusal(&record.fact)) {
            return self.say(message);
        }
        if shown == at {
            return Change::Cut;
        }
        // The act's own facts are told and move: those before them in the same instant may be about something else. Time runs
        // on when everything is done.
        let own = |taken: &&RecordedInput| !is_response(&taken.input);
        let act = self.timeline.inputs().iter().rfind(own);
        let from = act.map_or(at, |act| act.after).min(shown - 1);
        self.landed = Some(from..shown);
        Change::Forward
    }

    /// Whether a watch is open, and the reflector is going to continue it.
    fn has_watch(&mut self) -> bool {
        self.picture().api.watch.is_some() && !self.watch_is_ending()
    }

    /// Whether the watch was closed and the reflector has not noticed yet.
    fn watch_is_ending(&self) -> bool {
        // The reflector notices after it has received the events on their way.
        let cursor = self.playback.cursor();
        let before = cursor.saturating_sub(NOTICED)..cursor;
        let closed = self.timeline.each_back(before, &mut |_, record| {
            let closed = matches!(record.fact, Fact::Server(ServerFact::WatchClosed { .. }));
            let noticed = matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::WatchEnded { .. })
                    | Fact::Server(ServerFact::WatchAccepted { .. })
            );
            if closed || noticed {
                ControlFlow::Break(closed)
            } else {
                ControlFlow::Continue(())
            }
        });
        closed.unwrap_or_default()
    }
}

/// One more handler, which prints its own name.
fn late_handler(number: usize) -> HandlerSettings {
    let line = |what: &str| vec![format!("{what}:late-{number} {{name}}")];
    HandlerSettings {
        name: format!("late-{number}").into(),
        latency_ms: 300,
        on_add: line("OnAdd"),
        on_update: line("OnUpdate"),
        on_delete: line("OnDelete"),
        ..HandlerSettings::default()
    }
}

/// The command for the source, and whether it needs an open watch.
fn fault_command(fault: Fault) -> (source::Command, bool) {
    match fault {
        Fault::Close => (source::Command::Close, true),
        Fault::Bookmark => (source::Command::Bookmark, true),
        Fault::Event(code) => (source::Command::ErrorEvent(code), true),
        Fault::List(kind) => {
            let refusals = Refusals {
                request: Request::List,
                kind,
                times: 1,
            };
            (source::Command::Refuse(refusals), false)
        }
    }
}
