//! Steps of a size, searches for a predicate, and breakpoints.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::command::{BreakCommand, Command};
use crate::strings;
use crate::view::walking::{Break, End, NotFound, Said, Walking};
use deltascope_replay::invariants::Invariants;
use deltascope_replay::picture::{Picture, ProcessMode};
use deltascope_replay::predicate::Predicate;
use deltascope_replay::step_size::{FARTHEST, StepSize};
use deltascope_replay::timeline::{SEGMENT, Timeline};
use deltascope_world::text;
use deltascope_world::text::Text;

use super::{Change, LEAP, Session};

/// At most this many breakpoints are kept.
const MOST_BREAKS: usize = 20;

/// Most steps of one command.
const MOST_STEPS: u64 = 100_000;

/// A copy of the run that is computed farther than the run itself: the part that a search has examined.
pub(super) struct Ahead {
    timeline: Timeline,
    invariants: Invariants,
}

impl Session {
    /// The step size, the last search and the breakpoints.
    pub(super) fn walking(&self) -> Rc<Walking> {
        Rc::clone(&self.walking)
    }

    /// Sets the size of later steps.
    pub(super) fn set_step_size(&mut self, step_size: StepSize) -> Change {
        if self.walking.step_size != step_size {
            Rc::make_mut(&mut self.walking).step_size = step_size;
        }
        Change::None
    }

    /// Makes a step of the chosen size, or of the next coarser one.
    pub(super) fn walk(&mut self, on: bool, coarser: bool) -> Change {
        let step_size = self.walking.step_size;
        match (coarser, step_size.coarser()) {
            (false, _) => self.walk_to(step_size, on),
            (true, Some(step_size)) => self.walk_to(step_size, on),
            // Only a marker is coarser than a Pop.
            (true, None) if on => self.obey(Command::NextMarker),
            (true, None) => self.obey(Command::PreviousMarker),
        }
    }

    /// Makes so many steps of a size, or back when negative.
    pub(super) fn walk_by(&mut self, step_size: StepSize, by: i64) -> Change {
        let mut change = Change::None;
        for _ in 0..by.unsigned_abs().min(MOST_STEPS) {
            match self.moves(|session| session.walk_to(step_size, by > 0)) {
                Change::None => break,
                one if change == Change::None => change = one,
                _ => change = Change::Cut,
            }
        }
        change
    }

    fn walk_to(&mut self, step_size: StepSize, on: bool) -> Change {
        self.playback.pause();
        let cursor = self.playback.cursor();
        let to = if step_size == StepSize::Micro {
            return self.move_by(if on { 1 } else { -1 });
        } else if on {
            self.look_ahead(cursor + 1);
            let mut found = step_size.next(&self.timeline, cursor);
            while found.is_none()
                && self.timeline.is_endless()
                && self.timeline.len() < cursor + FARTHEST
            {
                self.look_ahead(self.timeline.len() + 1);
                found = step_size.next(&self.timeline, cursor);
            }
            found.unwrap_or_else(|| self.timeline.len().min(cursor + FARTHEST))
        } else {
            step_size.previous(&self.timeline, cursor)
        };
        let change = self.go_to(to);
        if to > cursor {
            Change::Forward
        } else if to + 1 == cursor {
            Change::Back
        } else if to == cursor {
            Change::None
        } else {
            change
        }
    }

    /// Goes to the next fact that fulfils the predicate.
    pub(super) fn run_until(&mut self, predicate: Predicate) -> Change {
        self.search(predicate, self.playback.cursor())
    }

    /// Continues the last search where it ended.
    pub(super) fn look_on(&mut self) -> Change {
        match self.walking.said.clone() {
            Some(Said::NotFound(failed)) if failed.goes_on() => self.search(failed.what, failed.to),
            _ => Change::None,
        }
    }

    /// Plays until a fact fulfils the predicate.
    pub(super) fn play_until(&mut self, predicate: Predicate) -> Change {
        self.play();
        let walking = Rc::make_mut(&mut self.walking);
        walking.said = None;
        walking.playing_to = Some(predicate);
        Change::None
    }

    pub(super) fn breakpoint(&mut self, command: BreakCommand) -> Change {
        match command {
            BreakCommand::Add(predicate) => {
                let breaks = &self.walking.breaks;
                if breaks.iter().any(|one| one.predicate == predicate) {
                    return Change::None;
                }
                if breaks.len() >= MOST_BREAKS {
                    return self.say(too_many());
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

    /// Forgets the target of playback once the user has paused it.
    pub(super) fn forget_target(&mut self) {
        if self.walking.playing_to.is_some() && !self.playback.is_playing() {
            Rc::make_mut(&mut self.walking).playing_to = None;
        }
    }

    /// Forgets what was found: its places belong to another run.
    pub(super) fn forget_found(&mut self) {
        self.ahead = None;
        self.search = None;
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

    /// Pauses playback if its target or a breakpoint holds at a fact. Returns whether it did.
    pub(super) fn stop_at_breaks(&mut self, at: usize) -> bool {
        let walking = &self.walking;
        if walking.playing_to.is_none() && !walking.breaks.iter().any(|one| one.on) {
            return false;
        }
        let before = at.checked_sub(1);
        let Some(record) = before.and_then(|place| self.timeline.fact(place)) else {
            return false;
        };
        let violated = self.marking.invariants.are_violated(at);
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

    /// The number of facts up to the first in this range at which a breakpoint stops, or where playback is to end.
    pub(super) fn first_break(&self, facts: Range<usize>) -> Option<usize> {
        let breaks = self.walking.breaks.iter().filter(|one| one.on);
        let breaks = breaks.map(|one| &one.predicate);
        let breaks: Vec<&Predicate> = breaks.chain(&self.walking.playing_to).collect();
        if breaks.is_empty() {
            return None;
        }
        self.timeline.each(facts, &mut |place, record| {
            let violated = self.marking.invariants.are_violated(place + 1);
            if breaks.iter().any(|one| one.holds(record, violated)) {
                ControlFlow::Break(place + 1)
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Goes to the next fact that fulfils the predicate. If there is none, the run and the cursor stay.
    fn search(&mut self, predicate: Predicate, from: usize) -> Change {
        self.playback.pause();
        let mut search = self.begin_search(predicate, from);
        while self.search_on(&mut search) {}
        let said = match search.found {
            Some(at) => Said::Found(at),
            None => {
                if let Some(ahead) = &mut self.ahead {
                    ahead.timeline.rest();
                }
                let run = self
                    .ahead
                    .as_ref()
                    .map_or(&self.timeline, |it| &it.timeline);
                Said::NotFound(search.failed(run))
            }
        };
        Rc::make_mut(&mut self.walking).said = Some(said);
        let Some(at) = search.found else {
            return Change::None;
        };
        if let Some(ahead) = self.ahead.take().filter(|_| at > self.timeline.len()) {
            (self.timeline, self.marking.invariants) = (ahead.timeline, ahead.invariants);
            self.marked();
        }
        self.go_to(at)
    }

    /// Where the search of a command begins, if it is one.
    pub(super) fn searches(&self, command: &Command) -> Option<(Predicate, usize)> {
        match (command, &self.walking.said) {
            (Command::RunUntil(predicate), _) => Some((predicate.clone(), self.playback.cursor())),
            (Command::LookOn, Some(Said::NotFound(failed))) if failed.goes_on() => {
                Some((failed.what.clone(), failed.to))
            }
            _ => None,
        }
    }

    /// Searches a piece ahead, for a command. Returns how far it has come if more pieces are missing.
    pub(super) fn search_piece(&mut self, predicate: &Predicate, from: usize) -> Option<usize> {
        let mut search = self.begin_search(predicate.clone(), from);
        let goes_on = self.search_on(&mut search).then_some(search.place);
        self.search = Some(search);
        goes_on
    }

    /// The same search as before, as far as it has come, or a new one.
    fn begin_search(&mut self, predicate: Predicate, from: usize) -> Search {
        let same = |one: &Search| one.from == from && one.predicate == predicate;
        let before = self.search.take().filter(same);
        before.unwrap_or_else(|| Search::of(predicate, from))
    }

    /// Searches one more piece: the known facts first, for the result is often near. Returns whether more are missing.
    fn search_on(&mut self, search: &mut Search) -> bool {
        if search.found.is_some() || search.place >= search.end {
            return false;
        }
        let wanted = search.place.saturating_add(SEGMENT).min(search.end);
        let next = if search.place < self.timeline.len() {
            let next = wanted.min(self.timeline.len());
            search.through(&self.timeline, &self.marking.invariants, next);
            next
        } else if self.timeline.is_endless() {
            let ahead = self.ahead.get_or_insert_with(|| Ahead {
                timeline: self.timeline.clone(),
                invariants: self.marking.invariants.clone(),
            });
            ahead.timeline.extend(wanted);
            if search.predicate.violation {
                ahead.invariants.check_new(&ahead.timeline);
            }
            let next = ahead.timeline.len().min(search.end);
            if next > search.place {
                search.through(&ahead.timeline, &ahead.invariants, next);
            }
            next
        } else {
            return false;
        };
        let moves = next > search.place;
        search.place = search.place.max(next);
        moves
    }

    /// Obeys a command of a script, which gets the failure of a search as an error.
    pub fn obey_or_say(&mut self, command: Command) -> Change {
        let searches = matches!(command, Command::RunUntil(_));
        let change = self.obey(command);
        match self.failed_search().filter(|_| searches) {
            Some(message) => self.say(message),
            None => change,
        }
    }

    /// Why the last search failed, if it did.
    pub(super) fn failed_search(&self) -> Option<Text> {
        match &self.walking.said {
            Some(Said::NotFound(failed)) => Some(strings::not_found(failed)),
            _ => None,
        }
    }
}

/// A search for a predicate, which records the parts that have held by themselves.
pub(super) struct Search {
    predicate: Predicate,
    missing: Vec<Predicate>,
    from: usize,
    /// How many facts it has come past, or would have.
    place: usize,
    /// Where it ends at the latest.
    end: usize,
    /// The number of facts up to the first that fulfils it.
    found: Option<usize>,
}

impl Search {
    fn of(predicate: Predicate, from: usize) -> Self {
        Self {
            missing: predicate.parts(),
            predicate,
            from,
            place: from,
            end: from.saturating_add(LEAP),
            found: None,
        }
    }

    /// Looks at the facts up to `next`.
    fn through(&mut self, timeline: &Timeline, invariants: &Invariants, next: usize) {
        let Self {
            predicate, missing, ..
        } = self;
        self.found = timeline.each(self.place..next, &mut |place, record| {
            let violated = predicate.violation && invariants.are_violated(place + 1);
            if predicate.holds(record, violated) {
                return ControlFlow::Break(place + 1);
            }
            missing.retain(|part| !part.holds(record, violated));
            ControlFlow::Continue(())
        });
    }

    /// The failure of the search in this run.
    fn failed(&self, run: &Timeline) -> NotFound {
        let to = self.place;
        let picture = run.picture(to);
        NotFound {
            what: self.predicate.clone(),
            missing: self.missing.iter().cloned().reduce(Predicate::and),
            to,
            end: if run.is_live() {
                End::Live
            } else if to >= self.end && (run.len() > self.end || run.is_endless()) {
                End::Bound
            } else if run.is_full() {
                End::Full
            } else {
                End::Over
            },
            held: waiting(&picture),
        }
    }
}

/// How many keys or entries wait for a Pop by hand.
fn waiting(picture: &Picture) -> usize {
    match picture.pop.mode {
        ProcessMode::Held => picture.queue.keys.len() + picture.queue.entries.len(),
        _ => 0,
    }
}

fn too_many() -> Text {
    text!(
        "No more than {MOST_BREAKS} breakpoints are kept. Remove one first.",
        "最多保留 {MOST_BREAKS} 个断点。请先删除一个。"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::typed;
    use deltascope_cache::controller::Generation;
    use deltascope_cache::fact::{Fact, QueueFact};

    fn session(era: usize) -> Session {
        let mut session = Session::new();
        session.obey(Command::Generation(Generation::ALL[era]));
        session
    }

    fn until(text: &str) -> Command {
        typed::predicate(text, Command::RunUntil)
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
            for step_size in grains {
                let step_size = StepSize::ALL[step_size];
                session.walk_by(step_size, 1);
                let (at, there) = (session.playback.cursor(), session.picture());
                session.walk_by(step_size, 1);
                session.walk_by(step_size, -1);
                prop_assert_eq!(session.playback.cursor(), at);
                prop_assert_eq!(&*session.picture(), &*there);
                prop_assert_eq!(&*there, &session.timeline.picture(at));
                let end = session.timeline.fact(at - 1).unwrap();
                prop_assert!(step_size.ends_at(&session.timeline, at - 1, &end));
                session.walk_by(step_size, -1);
                let back = session.playback.cursor();
                prop_assert!(back < at);
                if back > 0 {
                    session.walk_by(step_size, 1);
                    prop_assert_eq!(session.playback.cursor(), at);
                }
            }
        }
    }

    #[test]
    fn a_run_has_fewer_coarse_steps_than_fine_ones() {
        for era in 0..4 {
            let mut session = session(era);
            session.obey(Command::Seek(900));
            let end = session.timeline.time_at(900);
            let counts = StepSize::ALL.map(|step_size| {
                session.obey(Command::Seek(0));
                let steps = std::iter::from_fn(|| {
                    session.walk_by(step_size, 1);
                    let now = session.timeline.time_at(session.playback.cursor());
                    (now < end).then_some(())
                });
                steps.count()
            });
            let [pop, event, lock, micro] = counts;
            let fewer = pop > 3 && pop < event && event <= lock && lock < micro;
            assert!(fewer, "{era}: {counts:?}");
            session.set_step_size(StepSize::Event);
            session.obey(Command::Seek(0));
            session.walk(true, true);
            let pop = session.playback.cursor();
            assert_eq!(Some(pop), StepSize::Pop.next(&session.timeline, 0));
        }
    }

    #[test]
    fn a_search_finds_its_predicate_or_says_that_it_never_holds() {
        let mut session = Session::new();
        session.obey(Command::Seek(0));
        session.obey(until("delta=Deleted key=default/web-0"));
        let view = session.view();
        assert_eq!(view.walking.said, Some(Said::Found(view.step)));
        let last = view.recent.last().unwrap();
        assert!(
            matches!(&last.fact, Fact::Queue(QueueFact::DeltaAppended { delta_type, .. }) if delta_type.as_str() == "Deleted")
        );
        // The next one is farther on.
        session.obey(until("delta=Deleted"));
        assert!(session.view().step > view.step);

        let failed = |session: &mut Session| match session.view().walking.said.clone() {
            Some(Said::NotFound(failed)) => failed,
            said => unreachable!("nobody is there: {said:?}"),
        };
        let before = session.view().step;
        session.obey(until("key=default/nobody"));
        let first = failed(&mut session);
        assert_eq!((first.to, first.end), (before + LEAP, End::Bound));
        session.look_on();
        assert_eq!(failed(&mut session).to, first.to + LEAP);

        session.obey(Command::Load("deltafifo".into()));
        session.obey(until("key=default/nobody"));
        let steps = session.view().steps;
        let over = failed(&mut session);
        assert_eq!(
            (over.to, over.end, over.goes_on()),
            (steps, End::Over, false)
        );
        session.obey(until("nonsense"));
        let view = session.view();
        assert!(view.error.is_some() && view.walking.said.is_none());
    }

    #[test]
    fn facts_found_farther_on_become_part_of_the_run() {
        let mut session = Session::new();
        let mut other = Session::new();
        // The result is in the second piece that is searched, and it is a delta that is not the first one.
        session.obey(until("delta=Deleted rv>=300"));
        let view = session.view();
        assert_eq!(view.walking.said, Some(Said::Found(view.step)));
        assert!(session.ahead.is_none() && view.step > SEGMENT);
        other.obey(Command::Seek(view.step));
        other.obey(Command::Seek(view.steps));
        other.obey(Command::Seek(view.step));
        let there = other.view();
        assert_eq!(
            (&view.picture, &view.checks),
            (&there.picture, &there.checks)
        );
        let until =
            |ticks: &[crate::view::Tick]| ticks.iter().filter(|one| one.at <= view.step).count();
        assert_eq!(until(&view.ticks), until(&there.ticks));
    }

    #[test]
    fn playing_stops_at_a_breakpoint_that_is_on() {
        let mut session = Session::new();
        session.obey(Command::Seek(0));
        let add = |text: &str| Command::Break(BreakCommand::Add(text.parse().unwrap()));
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
        let by = first.walking.stopped_by(first.step);
        assert_eq!(by.as_deref(), Some("fact=KeyPopped"));
        assert_eq!(first.walking.stopped_by(first.step + 1), None);
        assert_eq!(played(&mut session), "KeyPopped");
        assert!(session.view().step > first.step);
        session.obey(Command::Break(BreakCommand::Remove(breaks[0].id)));
        session.obey(typed::predicate("call=OnUpdate", Command::PlayUntil));
        assert!(session.playback.is_playing());
        session.obey(Command::Speed(800));
        while session.tick() == Change::Forward {}
        assert_eq!(session.current().unwrap().fact.name(), "NotificationTaken");
        let at = session.playback.cursor();
        assert_eq!(session.view().walking.said, Some(Said::Found(at)));
        // If the user pauses on the way, the target is forgotten.
        session.obey(typed::predicate("call=OnUpdate", Command::PlayUntil));
        session.obey(Command::TogglePlay);
        session.obey(Command::TogglePlay);
        for _ in 0..500 {
            assert_eq!(session.tick(), Change::Forward);
        }
    }
}
