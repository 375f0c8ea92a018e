//! The effects of commands on the session.

use deltascope_world::slices::{Slices, at_once};
use deltascope_world::virtual_time::Input;

use super::{Change, Session};
use crate::command::Command;

impl Session {
    /// Executes a command, after it has cleared the messages of the last one.
    pub fn obey(&mut self, command: Command) -> Change {
        self.moves(|session| session.execute(command))
    }

    /// Notes which facts a move forward has passed.
    pub(super) fn moves(&mut self, go: impl FnOnce(&mut Self) -> Change) -> Change {
        let from = self.playback.cursor();
        let change = go(self);
        let cursor = self.playback.cursor();
        if cursor != from {
            self.moved = from.min(cursor)..cursor;
            self.played = None;
        }
        if let Some(beat) = self.landed.take().filter(|beat| beat.end == cursor) {
            self.played = Some(cursor);
            self.moved = beat;
        }
        change
    }

    fn execute(&mut self, command: Command) -> Change {
        self.error = None;
        self.notice = None;
        self.forget_target();
        if let Some(change) = self.before(&command) {
            return change;
        }
        if let Some(change) = self.obey_racing(&command) {
            return change;
        }
        self.act(command)
    }

    /// Stops time while a goal is tried: before one has done what a fault is for, it would be over.
    fn faulted(&mut self, change: Change) -> Change {
        if self.error.is_none() && self.aims() {
            self.playback.pause();
        }
        change
    }

    fn act(&mut self, command: Command) -> Change {
        match command {
            Command::TogglePlay if self.playback.is_playing() => self.paused(),
            Command::TogglePlay | Command::Play => {
                self.play();
                Change::None
            }
            Command::Pause => self.paused(),
            Command::Step(by) => {
                self.playback.pause();
                self.move_by(by)
            }
            Command::Seek(to) => {
                self.playback.pause();
                self.go_to(to)
            }
            Command::SeekTo(place) => {
                let went = self.seek_place(&place);
                self.or_say(went)
            }
            Command::NextMarker => self.next_marker(),
            Command::PreviousMarker => self.previous_marker(),
            Command::Speed(percent) => {
                self.playback.set_speed(percent);
                Change::None
            }
            Command::StepSize(step_size) => self.set_step_size(step_size),
            Command::Walk { on, coarser } => self.walk(on, coarser),
            Command::WalkBy(step_size, by) => self.walk_by(step_size, by),
            Command::Tell(tell) => self.tell(tell),
            Command::Answer(given) => self.answer_with(&given),
            Command::AskWhy(open) => self.ask(open),
            Command::Wrong(message) => {
                // What an earlier search found is no answer to this one.
                self.forget_found();
                self.say(message)
            }
            Command::DismissError => Change::None,
            Command::GoLive => self.go_live(),
            Command::Disconnect => self.disconnect(),
            Command::Reset => self.reset(),
            Command::Load(_) | Command::Open(_) | Command::OpenLink(_) | Command::Smallest(_) => {
                self.open_at_once(&command)
            }
            Command::Write(write) => self.write(*write),
            Command::CutWatch => {
                let change = self.cut_watch();
                self.faulted(change)
            }
            Command::Compact => {
                let change = self.compact();
                self.faulted(change)
            }
            Command::PopOne => self.pop_one(),
            Command::Mode(mode) => self.insert(Input::Mode(mode)),
            Command::KnownObjects(on) => self.switch_known_objects(on),
            Command::Generation(generation) => self.choose(generation),
            Command::AddHandler => self.add_handler(),
            Command::RemoveHandler(number) => self.remove_handler(number),
            Command::Fault(fault) => {
                let change = self.inject_fault(fault);
                self.faulted(change)
            }
            Command::Disarm(request, kind) => self.disarm(request, kind),
            Command::Fork => self.fork(),
            Command::Branch(id) => self.switch(id),
            Command::RenameBranch(id, name) => {
                self.branches.rename(id, &name);
                Change::None
            }
            Command::RemoveBranch(id) => self.remove_branch(id),
            Command::DropEvent(place) => self.drop_event(place),
            Command::MoveEvent(place, when) => self.move_event(place, when),
            Command::Set(setting) => self.set(setting),
            Command::RunUntil(predicate) => self.run_until(predicate),
            Command::LookOn => self.look_on(),
            Command::PlayUntil(predicate) => self.play_until(predicate),
            Command::Break(command) => self.breakpoint(command),
            Command::Stops(until, markers) => {
                let set = at_once(self.set_stops(until, markers, &Slices::whole()));
                self.or_say(set.map(|()| Change::None))
            }
            Command::Present(mode, scene) => {
                let shown = self.set_mode(mode, scene).map(|()| Change::Cut);
                self.or_say(shown)
            }
            Command::Compare(against) => self.compare_against(against),
            Command::CloseCompare => self.close_comparison(),
            Command::Select(anchor) => self.select(anchor),
            Command::Follow(key) => self.follow(key),
        }
    }

    fn paused(&mut self) -> Change {
        self.end_scene();
        self.playback.pause();
        Change::None
    }

    fn next_marker(&mut self) -> Change {
        self.playback.pause();
        let cursor = self.playback.cursor();
        let next = self.markers.iter().map(|marker| marker.at);
        let to = next.filter(|at| *at > cursor).min();
        self.go_to(to.unwrap_or(self.timeline.len()))
    }

    fn previous_marker(&mut self) -> Change {
        self.playback.pause();
        let cursor = self.playback.cursor();
        let before = self.markers.iter().map(|marker| marker.at);
        self.go_to(before.filter(|at| *at < cursor).max().unwrap_or(0))
    }
}
