//! Steps of a size, running until something happens, and breakpoints.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::replay::grain::{FARTHEST, Grain};
use crate::replay::predicate::Predicate;
use crate::ui::i18n::Text;

use super::{Change, LEAP, Session};

/// So many breakpoints are kept.
const MOST_BREAKS: usize = 20;

/// What is said of steps, of what is run to and of breakpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walking {
    /// How far a step goes.
    pub grain: Grain,
    /// The breakpoints, the oldest first.
    pub breaks: Vec<Break>,
    /// What came of the last search.
    pub said: Option<Said>,
    /// Playing stops at the next fact for which this holds.
    playing_to: Option<Predicate>,
    last_id: u32,
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its number.
    pub id: u32,
    /// Where it stops.
    pub predicate: Predicate,
    /// Whether it does.
    pub on: bool,
    /// It has stopped the playing, after so many facts.
    pub hit: Option<usize>,
}

/// What came of running until something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It happened: the number of facts up to it.
    Found(usize),
    /// It does not happen in the rest of the run.
    Never(Predicate),
    /// Not within what was looked through, up to so many facts; the run goes on.
    NotYet(Predicate, usize),
}

/// What can be asked of breakpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakCommand {
    /// Stop where this holds.
    Add(String),
    /// Turn one on or off.
    Turn(u32, bool),
    /// Take one away.
    Remove(u32),
}

impl Session {
    /// How far steps go, and the rest that belongs to it.
    pub(super) fn walking(&self) -> Rc<Walking> {
        Rc::clone(&self.walking)
    }

    /// From now on steps go so far.
    pub(super) fn set_grain(&mut self, grain: Grain) -> Change {
        if self.walking.grain != grain {
            Rc::make_mut(&mut self.walking).grain = grain;
        }
        Change::None
    }

    /// A step of the size that is chosen, or of the next coarser one.
    pub(super) fn walk(&mut self, on: bool, coarser: bool) -> Change {
        let grain = self.walking.grain;
        match (coarser, grain.coarser()) {
            (false, _) => self.walk_by(grain, on),
            (true, Some(grain)) => self.walk_by(grain, on),
            // Nothing but a marker is coarser than an event.
            (true, None) if on => self.obey(super::Command::NextMarker),
            (true, None) => self.obey(super::Command::PreviousMarker),
        }
    }

    /// A step of a size.
    pub fn walk_by(&mut self, grain: Grain, on: bool) -> Change {
        self.playback.pause();
        let cursor = self.playback.cursor();
        let to = if grain == Grain::Micro {
            return self.move_by(if on { 1 } else { -1 });
        } else if on {
            self.look_ahead(cursor + 1);
            let mut found = grain.next(&self.timeline, cursor);
            while found.is_none()
                && self.timeline.is_endless()
                && self.timeline.len() < cursor + FARTHEST
            {
                self.look_ahead(self.timeline.len() + 1);
                found = grain.next(&self.timeline, cursor);
            }
            found.unwrap_or_else(|| self.timeline.len().min(cursor + FARTHEST))
        } else {
            grain.previous(&self.timeline, cursor)
        };
        let change = self.go_to(to);
        match (cursor + 1 == to, to + 1 == cursor, to == cursor) {
            (true, ..) => Change::Forward,
            (_, true, _) => Change::Back,
            (.., true) => Change::None,
            _ => change,
        }
    }

    /// Goes to the next fact for which the text holds.
    pub(super) fn run_until(&mut self, text: &str) -> Change {
        match self.predicate(text) {
            Ok(predicate) => self.search(predicate, self.playback.cursor()),
            Err(change) => change,
        }
    }

    /// Looks on where the last search ended.
    pub(super) fn look_on(&mut self) -> Change {
        match self.walking.said.clone() {
            Some(Said::NotYet(predicate, from)) => self.search(predicate, from),
            _ => Change::None,
        }
    }

    /// Plays until the text holds.
    pub(super) fn play_until(&mut self, text: &str) -> Change {
        match self.predicate(text) {
            Ok(predicate) => {
                self.play();
                let walking = Rc::make_mut(&mut self.walking);
                walking.said = None;
                walking.playing_to = Some(predicate);
                Change::None
            }
            Err(change) => change,
        }
    }

    pub(super) fn breakpoint(&mut self, command: BreakCommand) -> Change {
        match command {
            BreakCommand::Add(text) => {
                let predicate = match self.predicate(&text) {
                    Ok(predicate) => predicate,
                    Err(change) => return change,
                };
                let breaks = &self.walking.breaks;
                if breaks.iter().any(|one| one.predicate == predicate) {
                    return Change::None;
                }
                if breaks.len() >= MOST_BREAKS {
                    return self.fail(too_many(), None);
                }
                let walking = Rc::make_mut(&mut self.walking);
                walking.last_id += 1;
                walking.breaks.push(Break {
                    id: walking.last_id,
                    predicate,
                    on: true,
                    hit: None,
                });
            }
            BreakCommand::Turn(id, on) => {
                let walking = Rc::make_mut(&mut self.walking);
                if let Some(one) = walking.breaks.iter_mut().find(|one| one.id == id) {
                    one.on = on;
                }
            }
            BreakCommand::Remove(id) => {
                let walking = Rc::make_mut(&mut self.walking);
                walking.breaks.retain(|one| one.id != id);
            }
        }
        Change::None
    }

    /// Once somebody has stopped the playing, what it was to stop at counts no more.
    pub(super) fn forget_target(&mut self) {
        if self.walking.playing_to.is_some() && !self.playback.is_playing() {
            Rc::make_mut(&mut self.walking).playing_to = None;
        }
    }

    /// What was found has its place in another run.
    pub(super) fn forget_found(&mut self) {
        let walking = &self.walking;
        if walking.said.is_none() && walking.breaks.iter().all(|one| one.hit.is_none()) {
            return;
        }
        let walking = Rc::make_mut(&mut self.walking);
        walking.said = None;
        for one in &mut walking.breaks {
            one.hit = None;
        }
    }

    /// Stops the playing where it was to stop; says whether it did.
    pub(super) fn stop_at_breaks(&mut self) -> bool {
        let walking = &self.walking;
        if walking.playing_to.is_none() && !walking.breaks.iter().any(|one| one.on) {
            return false;
        }
        let at = self.playback.cursor();
        let Some(record) = self.current() else {
            return false;
        };
        let violated = self.is_violated(at);
        let holds = |predicate: &Predicate| predicate.holds(&record, violated);
        let there = walking.playing_to.as_ref().is_some_and(holds);
        let hit = |one: &Break| one.on && holds(&one.predicate);
        if !there && !walking.breaks.iter().any(hit) {
            return false;
        }
        self.playback.pause();
        let walking = Rc::make_mut(&mut self.walking);
        for one in &mut walking.breaks {
            one.hit = (one.on && one.predicate.holds(&record, violated)).then_some(at);
        }
        if there {
            walking.playing_to = None;
            walking.said = Some(Said::Found(at));
        }
        true
    }

    /// After so many facts a breakpoint among these stops.
    pub(super) fn first_break(&self, facts: Range<usize>) -> Option<usize> {
        let breaks = self.walking.breaks.iter().filter(|one| one.on);
        let breaks: Vec<&Predicate> = breaks.map(|one| &one.predicate).collect();
        if breaks.is_empty() {
            return None;
        }
        self.timeline.each(facts, &mut |place, record| {
            let violated = self.is_violated(place + 1);
            if breaks.iter().any(|one| one.holds(record, violated)) {
                ControlFlow::Break(place + 1)
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Whether something that must always hold stops doing so with the last of so many facts.
    fn is_violated(&self, at: usize) -> bool {
        let mut violations = self.monitors.violations().iter();
        violations.any(|violation| violation.at == at)
    }

    fn predicate(&mut self, text: &str) -> Result<Predicate, Change> {
        text.parse().map_err(|error| {
            let error: crate::replay::predicate::PredicateError = error;
            let [en, zh] = error.words();
            // What was found before answers another question.
            self.forget_found();
            self.fail(Text::new(&en, &zh), None)
        })
    }

    fn search(&mut self, predicate: Predicate, from: usize) -> Change {
        self.playback.pause();
        let end = from.saturating_add(LEAP);
        // What is known is looked through first: often it is near.
        let mut found = self.find(&predicate, from..self.timeline.len().min(end));
        let known = self.timeline.len().clamp(from, end);
        if found.is_none() && known < end && self.timeline.is_endless() {
            self.look_ahead(end);
            found = self.find(&predicate, known..end);
        }
        let said = match found {
            Some(at) => Said::Found(at),
            None if self.timeline.len() > end || self.timeline.is_endless() => {
                Said::NotYet(predicate, end.min(self.timeline.len()))
            }
            None => Said::Never(predicate),
        };
        Rc::make_mut(&mut self.walking).said = Some(said);
        match found {
            Some(at) => self.go_to(at),
            None => Change::None,
        }
    }

    fn find(&self, predicate: &Predicate, range: std::ops::Range<usize>) -> Option<usize> {
        self.timeline.each(range, &mut |place, record| {
            let violated = predicate.violation && self.is_violated(place + 1);
            if predicate.holds(record, violated) {
                ControlFlow::Break(place + 1)
            } else {
                ControlFlow::Continue(())
            }
        })
    }
}

fn too_many() -> Text {
    Text::new(
        &format!("No more than {MOST_BREAKS} breakpoints are kept. Remove one first."),
        &format!("最多保留 {MOST_BREAKS} 个断点。请先删除一个。"),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;
    use crate::cache::controller::Generation;
    use crate::cache::fact::Fact;
    use crate::replay::predicate::FACTS;
    use crate::ui::command::Command;

    fn session(era: usize) -> Session {
        let mut session = Session::new();
        session.obey(Command::Era(Generation::ALL[era].era().into()));
        session
    }

    #[test]
    fn every_fact_has_its_name_on_the_list() {
        let mut names: Vec<&str> = crate::ui::caption::samples()
            .iter()
            .map(Fact::name)
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, FACTS);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn walking_back_and_forth_ends_in_the_identical_picture(
            era in 0..4usize,
            start in 0..900usize,
            grains in prop::collection::vec(0..4usize, 1..12),
        ) {
            let mut session = session(era);
            session.obey(Command::Seek(start));
            for grain in grains {
                let grain = Grain::ALL[grain];
                session.walk_by(grain, true);
                let (at, there) = (session.playback.cursor(), session.picture());
                session.walk_by(grain, true);
                session.walk_by(grain, false);
                prop_assert_eq!(session.playback.cursor(), at);
                prop_assert_eq!(&*session.picture(), &*there);
                prop_assert_eq!(&*there, &session.timeline.picture(at));
                let end = session.timeline.fact(at - 1).unwrap();
                prop_assert!(grain.ends_with(&end.fact));
                session.walk_by(grain, false);
                let back = session.playback.cursor();
                prop_assert!(back < at);
                if back > 0 {
                    session.walk_by(grain, true);
                    prop_assert_eq!(session.playback.cursor(), at);
                }
            }
        }
    }

    #[test]
    fn coarser_steps_are_fewer() {
        for era in 0..4 {
            let mut session = session(era);
            session.obey(Command::Seek(900));
            let end = session.timeline.time_at(900);
            let counts = Grain::ALL.map(|grain| {
                session.obey(Command::Seek(0));
                let steps = std::iter::from_fn(|| {
                    session.walk_by(grain, true);
                    let now = session.timeline.time_at(session.playback.cursor());
                    (now < end).then_some(())
                });
                steps.count()
            });
            // How events and Pops compare is up to the run.
            let [event, pop, lock, micro] = counts;
            let fewer = event > 3 && pop > 3 && event.max(pop) < lock && lock < micro;
            assert!(fewer, "{era}: {counts:?}");
            session.set_grain(Grain::Lock);
            session.obey(Command::Seek(0));
            session.walk(true, true);
            let pop = session.playback.cursor();
            assert_eq!(Some(pop), Grain::Pop.next(&session.timeline, 0));
        }
    }

    #[test]
    fn it_runs_until_and_says_so_when_it_never_comes() {
        let mut session = Session::new();
        session.obey(Command::Seek(0));
        session.run_until("delta=Deleted key=default/web-0");
        let view = session.view();
        assert_eq!(view.walking.said, Some(Said::Found(view.step)));
        let last = view.recent.last().unwrap();
        assert!(
            matches!(&last.fact, Fact::DeltaAppended { delta_type, .. } if delta_type.as_str() == "Deleted")
        );
        // Another one is farther on.
        session.run_until("delta=Deleted");
        assert!(session.view().step > view.step);

        let before = session.view().step;
        session.run_until("key=default/nobody");
        let said = session.view().walking.said.clone();
        let Some(Said::NotYet(_, to)) = said else {
            unreachable!("the sandbox has no end: {said:?}")
        };
        assert_eq!((session.view().step, to), (before, before + LEAP));
        session.look_on();
        let said = session.view().walking.said.clone();
        assert!(matches!(said, Some(Said::NotYet(_, on)) if on == to + LEAP));

        session.obey(Command::Load("deltafifo".into()));
        session.run_until("key=default/nobody");
        assert!(matches!(session.view().walking.said, Some(Said::Never(_))));
        session.run_until("nonsense");
        assert!(session.view().error.is_some());
    }

    #[test]
    fn playing_stops_at_a_breakpoint_that_is_on() {
        let mut session = Session::new();
        session.obey(Command::Seek(0));
        let add = |text: &str| Command::Break(BreakCommand::Add(text.to_owned()));
        session.obey(add("fact=KeyPopped"));
        session.obey(add("fact=KeyPopped"));
        session.obey(add("fact=ListReceived"));
        let breaks = session.view().walking.breaks.clone();
        assert_eq!(breaks.len(), 2, "none stands twice");
        session.obey(Command::Break(BreakCommand::Turn(breaks[1].id, false)));
        let played = |session: &mut Session| {
            session.play();
            while session.tick() == Change::Forward {}
            session.current().unwrap().fact.name()
        };
        assert_eq!(played(&mut session), "KeyPopped");
        let first = session.view();
        assert_eq!(first.walking.breaks[0].hit, Some(first.step));
        assert_eq!(played(&mut session), "KeyPopped");
        assert!(session.view().step > first.step);
        session.obey(Command::Break(BreakCommand::Remove(breaks[0].id)));
        session.obey(Command::PlayUntil("call=OnUpdate".into()));
        assert!(session.playback.is_playing());
        session.obey(Command::Speed(800));
        while session.tick() == Change::Forward {}
        assert_eq!(session.current().unwrap().fact.name(), "NotificationTaken");
        let at = session.playback.cursor();
        assert_eq!(session.view().walking.said, Some(Said::Found(at)));
        // Whoever stops it on the way has something else in mind.
        session.obey(Command::PlayUntil("call=OnUpdate".into()));
        session.obey(Command::TogglePlay);
        session.obey(Command::TogglePlay);
        for _ in 0..500 {
            assert_eq!(session.tick(), Change::Forward);
        }
    }
}
