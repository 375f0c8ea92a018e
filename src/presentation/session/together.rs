//! A session among others, each of which watches another resource of a cluster.

use std::sync::Arc;

use kube_core::DynamicObject;

use crate::anchor::Anchor;
use crate::command::Command;
use deltascope_cache::key::Key;
use deltascope_world::Time;
use deltascope_world::source::any::AnySource;
use deltascope_world::text::Text;

use super::{Change, Session};

impl Session {
    /// A session beside this one, without a run. It steps as this one does.
    #[must_use]
    pub fn beside(&self) -> Self {
        let mut beside = Self::empty();
        beside.set_step_size(self.walking.step_size);
        beside.playback.set_speed(self.playback.speed());
        beside
    }

    /// The title of the run.
    #[must_use]
    pub fn title(&self) -> &Text {
        &self.lesson.title
    }

    /// How many objects the cluster has, as far as the run knows; `None` for a run of something else.
    #[must_use]
    pub fn objects_now(&self) -> Option<usize> {
        match self.timeline.source() {
            AnySource::Live(live) => Some(live.objects().count()),
            _ => None,
        }
    }

    /// How many facts there were, including the forgotten ones.
    #[must_use]
    pub fn facts_stated(&self) -> u64 {
        self.timeline.forgotten() + self.timeline.len() as u64
    }

    /// Keeps to its part of the memory among so many live runs.
    pub fn share(&mut self, among: usize) {
        if let Some(live) = &mut self.live {
            live.share(among);
        }
    }

    /// The wall-clock time of the cursor, in ms since 1970. `None` if it is unknown, or if the cursor follows the edge.
    #[must_use]
    pub fn wall(&self) -> Option<Time> {
        let follows = self.live.as_ref().is_some_and(|live| live.following);
        let start = self.head.start.filter(|_| !follows)?;
        Some(start.saturating_add(self.timeline.time_at(self.playback.cursor())))
    }

    /// The place in this run at a wall-clock time. Without a time, and after the end: its edge. `None` for a time before
    /// the run began, or one that it has forgotten.
    fn place_then(&self, wall: Option<Time>) -> Option<usize> {
        let Some(wall) = wall else {
            return Some(self.timeline.len());
        };
        let time = moment(self.head.start, self.timeline.time_at(0), wall)?;
        Some(self.timeline.count_until(time))
    }

    /// Shows this session again: if it follows the edge, as it is now.
    pub fn show_again(&mut self) -> Change {
        self.live_follow();
        Change::Cut
    }

    /// The cluster's objects at the cursor.
    #[must_use]
    pub fn objects_here(&self) -> Vec<Arc<DynamicObject>> {
        let follows = self.live.as_ref().is_some_and(|live| live.following);
        self.objects_at(match follows {
            true => self.timeline.len(),
            false => self.playback.cursor(),
        })
    }

    /// The cluster's objects at a wall-clock time. `None` if the run does not have that time.
    #[must_use]
    pub fn objects_then(&self, wall: Option<Time>) -> Option<Vec<Arc<DynamicObject>>> {
        Some(self.objects_at(self.place_then(wall)?))
    }

    fn objects_at(&self, place: usize) -> Vec<Arc<DynamicObject>> {
        let mut objects = Vec::new();
        let mut keep = |object: &Arc<DynamicObject>| objects.push(Arc::clone(object));
        self.timeline.each_object(place, &mut keep);
        objects
    }

    /// Goes to a wall-clock time, or to the edge if the run does not have that time; selects an object there, and asks
    /// why it is there.
    pub fn show_object(&mut self, key: Key, wall: Option<Time>) -> Change {
        let place = self.place_then(wall).unwrap_or(self.timeline.len());
        if place == self.timeline.len() && self.is_live() {
            self.obey(Command::GoLive);
        } else {
            self.obey(Command::Seek(place));
        }
        let is_stored = self.picture().store.items.contains_key(&key);
        let anchor = match is_stored {
            true => Anchor::Item(key),
            false => Anchor::Object(key),
        };
        self.obey(Command::Select(Some(anchor)));
        self.obey(Command::AskWhy(true));
        Change::Cut
    }
}

/// The virtual time of a wall-clock time, in a run that began at `start` and has what came since `first`.
fn moment(start: Option<Time>, first: Time, wall: Time) -> Option<Time> {
    let time = wall.checked_sub(start?)?;
    (time >= first).then_some(time)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::keep::Kept;
    use super::super::live::LiveRun;
    use super::*;
    use deltascope_cache::fact::EventType;
    use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::source::wire::RecordedEvent;

    #[test]
    fn a_run_has_the_wall_clock_times_from_its_start_on() {
        for (what, start, first, wall, time) in [
            ("before it began", Some(1_000), 0, 999, None),
            ("its start", Some(1_000), 0, 1_000, Some(0)),
            ("within", Some(1_000), 0, 1_050, Some(50)),
            ("forgotten", Some(1_000), 60, 1_050, None),
            ("an unknown start", None, 0, 1_050, None),
        ] {
            assert_eq!(moment(start, first, wall), time, "{what}");
        }
    }

    /// A live run that began at `start`; each name is an object that the cluster has from that moment on.
    fn run(start: Time, objects: &[(Time, &str)]) -> Session {
        let mut session = Session::new().beside();
        let settings = json!({ "feed": "cluster", "machinery": "shared" });
        session.connect(LiveRun {
            title: Text::new("pods", "pods"),
            scenario: Scenario {
                settings: serde_json::from_value(settings).unwrap(),
                ..Scenario::default()
            },
            start: Some(start),
        });
        session.live_tick(0);
        let respond = |session: &mut Session, now, part| {
            let request = session.live_wanted().unwrap().request;
            session.live_received(now, vec![ServerResponse { request, part }]);
            while session.live_due().is_some_and(|due| due <= now) {
                session.live_tick(now);
            }
        };
        respond(&mut session, 10, ResponsePart::Page(Page::default()));
        respond(&mut session, 20, ResponsePart::Opened);
        for (rv, (now, name)) in objects.iter().enumerate() {
            let object = json!({ "metadata": { "name": name, "uid": name } });
            let mut object = deltascope_world::source::pod::from_json(object).unwrap();
            object.metadata.resource_version = Some(rv.to_string());
            let event = RecordedEvent::Object {
                event: EventType::Added,
                object: Arc::new(object),
            };
            respond(&mut session, *now, ResponsePart::Event(event));
        }
        session
    }

    #[test]
    fn an_object_is_shown_at_the_moment_of_another_tab() {
        let mut here = run(5_000, &[(1_000, "pod"), (9_000, "other")]);
        let mut there = run(7_000, &[(100, "set"), (4_000, "late")]);
        while there.live_follow() != Change::None {}
        while here.live_follow() != Change::None {}
        assert_eq!((here.wall(), here.objects_now()), (None, Some(2)));
        assert_eq!(Session::new().objects_now(), None);
        // Both follow their edge.
        there.show_object(Key::from("late"), here.wall());
        assert!(there.live_view().unwrap().following);
        assert_eq!(there.objects_then(None).unwrap().len(), 2);
        assert_eq!(there.objects_then(Some(99_000)).unwrap().len(), 2);
        // 9.5 s by the clock on the wall: the second object is not there yet.
        let place = here.timeline.count_until(4_500);
        here.obey(Command::Seek(place));
        assert!(here.wall().is_some_and(|wall| wall < 9_500));
        let wall = Some(9_500);
        let names = |session: &Session, wall| -> Vec<String> {
            let objects = session.objects_then(wall).unwrap();
            objects
                .iter()
                .map(|one| one.metadata.name.clone().unwrap())
                .collect()
        };
        assert_eq!(names(&there, wall), ["set"]);
        there.show_object(Key::from("set"), wall);
        let view = there.view();
        assert!(
            !view.live.unwrap().following && view.time <= 2_500,
            "{}",
            view.time
        );
        let selected = view.selection.unwrap();
        assert_eq!(selected.anchor, Anchor::Item(Key::from("set")));
        assert!(view.why.is_some());
        // A time that it does not have: its edge.
        assert!(there.objects_then(Some(1_000)).is_none());
        there.show_object(Key::from("late"), Some(1_000));
        assert!(there.live_view().unwrap().following);
    }

    #[test]
    fn a_long_run_that_is_shown_again_has_a_copy_again() {
        let names: Vec<String> = (0..3_000).map(|n| format!("pod-{n}")).collect();
        let objects: Vec<_> = names.iter().map(|name| (30, &**name)).collect();
        let session = run(0, &objects);
        let mut kept = Kept::default();
        let mut copy = String::new();
        while let Some(copied) = session.copy(&mut kept) {
            assert!(copied.is_whole);
            copy.push_str(&copied.text);
        }
        assert!(copy.contains("pod-2999"));
    }

    #[test]
    fn together_live_runs_keep_no_more_than_one_alone() {
        let alone = run(0, &[]).live.unwrap().all_bounds();
        for tabs in 1..=crate::cluster::MOST_TABS {
            let mut session = run(0, &[]);
            session.share(tabs);
            let part = session.live.unwrap().all_bounds();
            for (part, alone) in part.into_iter().zip(alone) {
                assert_eq!(part, alone / tabs, "{tabs}");
            }
        }
    }
}
