//! Shows what an embedding page asks for: a run, at a moment, in a generation.

use serde_json::Value;

use crate::command::{Command, Tell};
use crate::options::{Mode, Options, Place};
use deltascope_replay::lessons::{self, Lesson};
use deltascope_world::slices::{Slices, at_once, pause};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text::Text;

use super::messages::hand_made;
use super::opening::{inline, open, open_lesson};
use super::share::no_moment;
use super::{Change, LEAP, Session};

/// Where playback ends or pauses, however it was started, and in whatever the run has become.
#[derive(Clone, Debug, Default)]
pub(super) struct Stops {
    until: Option<Place>,
    /// The number of facts of the current run after which playback ends.
    at: Option<usize>,
    /// Whether playback pauses at each marker.
    markers: bool,
}

/// Why a run is not shown as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// A generation is requested, and the run has none.
    HandMade,
    /// For another reason.
    Because(Text),
}

impl From<Text> for Unshown {
    fn from(text: Text) -> Self {
        Self::Because(text)
    }
}

impl From<Unshown> for Text {
    fn from(unshown: Unshown) -> Self {
        match unshown {
            Unshown::HandMade => hand_made(),
            Unshown::Because(text) => text,
        }
    }
}

/// The requested lesson or scenario, if its file is at hand.
#[must_use]
pub fn lesson_at_hand(options: &Options, scenario: Option<Value>) -> Option<Result<Lesson, Text>> {
    match scenario {
        None => lessons::at_hand(options.lesson.as_deref().unwrap_or(lessons::FIRST)),
        Some(value) => Some(inline(value)),
    }
}

impl Session {
    /// Opens the page's own scenario, or else a lesson of the library.
    ///
    /// # Errors
    /// The error states what is wrong. What can be shown is shown.
    pub fn present(&mut self, options: &Options, scenario: Option<Value>) -> Result<(), Unshown> {
        let lesson = lesson_at_hand(options, scenario)
            .unwrap_or_else(|| lessons::load(options.lesson.as_deref().unwrap_or_default()))?;
        at_once(self.present_slowly(options, lesson, &Slices::whole()))
    }

    /// Opens a lesson, in the requested generation, in slices.
    ///
    /// # Errors
    /// The error states what is wrong. What can be shown is shown.
    pub async fn present_slowly(
        &mut self,
        options: &Options,
        mut lesson: Lesson,
        slices: &Slices,
    ) -> Result<(), Unshown> {
        lesson.scenario = lesson.scenario.in_era(options.era);
        pause().await;
        self.stops = Stops::default();
        self.show_opened(open_lesson(lesson, slices).await);
        self.said_wrong()?;
        pause().await;
        self.set_pace(options);
        let until = options.until.clone();
        let stops = self
            .set_stops(until, options.pause_at_markers, slices)
            .await;
        let moved = match &options.at {
            Some(place) => self.seek_slowly(place, slices).await,
            None => {
                self.show_opening();
                Ok(Change::Cut)
            }
        };
        if options.era.is_some() && !self.scenario().settings.is_informer() {
            return Err(Unshown::HandMade);
        }
        // Where nothing else is named, a story begins with its first scene.
        let first = options.scene.or(options.at.is_none().then_some(1));
        Ok(moved.and(stops).and(self.begin_mode(options, first))?)
    }

    /// Opens a trace, a recording or a controller's log.
    ///
    /// # Errors
    /// The error states what is wrong. What can be shown is shown.
    pub fn present_file(
        &mut self,
        options: &Options,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<(), Unshown> {
        let command = Command::Open(vec![(name.to_owned(), bytes)]);
        at_once(self.present_shared(options, &command, &Slices::whole()))
    }

    /// Opens a file or a link in slices, in a session that shows nothing yet. The other options are applied after it.
    ///
    /// # Errors
    /// The error states what is wrong. What can be shown is shown.
    pub async fn present_shared(
        &mut self,
        options: &Options,
        command: &Command,
        slices: &Slices,
    ) -> Result<(), Unshown> {
        self.show_opened(open(command, slices).await);
        let opened = self.said_wrong();
        if opened.is_err() && matches!(command, Command::OpenLink(_)) {
            return Ok(opened?);
        }
        let shown = self.present_shown(options, slices).await;
        opened?;
        shown
    }

    /// Applies the options to a run that is shown at a moment of its own.
    async fn present_shown(&mut self, options: &Options, slices: &Slices) -> Result<(), Unshown> {
        if let Some(generation) = options.era {
            self.obey(Command::Generation(generation));
            if !self.head.can_choose {
                return Err(Unshown::HandMade);
            }
            self.said_wrong()?;
            pause().await;
            // The user has not switched the generation.
            self.notice = None;
        }
        self.set_pace(options);
        let until = options.until.clone();
        let stops = self
            .set_stops(until, options.pause_at_markers, slices)
            .await;
        if let Some(place) = &options.at {
            self.seek_slowly(place, slices).await?;
        }
        Ok(stops.and(self.begin_mode(options, options.scene))?)
    }

    /// Shows the mode of a run that was just opened. A link may have begun its story already.
    fn begin_mode(&mut self, options: &Options, scene: Option<usize>) -> Result<(), Text> {
        if options.mode == Mode::Explore && options.scene.is_none() {
            return Ok(());
        }
        let at = options.at.is_some().then(|| self.playback.cursor());
        let begun = self.set_mode(options.mode, scene);
        // The scene that is named is told, at the moment that is named.
        if let Some(at) = at.filter(|_| begun.is_ok() && scene.is_some()) {
            self.obey(Command::Seek(at));
        }
        begun
    }

    /// Shows the stage, the story on it, from a scene, or the four generations in its place. Fails if the lesson has no such
    /// story, or the run no generations.
    pub(super) fn set_mode(&mut self, mode: Mode, scene: Option<usize>) -> Result<(), Text> {
        if mode == Mode::Race {
            self.begin_race();
            return self.said_wrong();
        }
        if self.race().is_some() {
            self.beside = None;
        }
        if mode.tells(scene) {
            return self.tell_as(mode == Mode::Quiz, scene);
        }
        if self.tells() {
            self.obey(Command::Tell(Tell::Show(false)));
        }
        Ok(())
    }

    fn set_pace(&mut self, options: &Options) {
        if let Some(percent) = options.speed {
            self.obey(Command::Speed(percent));
        }
        if let Some(step_size) = options.granularity {
            self.obey(Command::StepSize(step_size));
        }
    }

    /// Goes to the moment that an attribute names.
    ///
    /// # Errors
    /// Fails if the run does not come to the moment.
    pub fn seek_place(&mut self, place: &Place) -> Result<Change, Text> {
        at_once(self.seek_slowly(place, &Slices::whole()))
    }

    async fn seek_slowly(&mut self, place: &Place, slices: &Slices) -> Result<Change, Text> {
        let step = self.find_place(place, slices).await?;
        Ok(self.obey(Command::Seek(step)))
    }

    /// Changes where playback ends or pauses while a run is shown. Fails if the run does not come to that moment.
    pub(super) async fn set_stops(
        &mut self,
        until: Option<Place>,
        markers: bool,
        slices: &Slices,
    ) -> Result<(), Text> {
        self.stops = Stops {
            until,
            at: None,
            markers,
        };
        self.find_stop(slices).await
    }

    /// Finds the end of playback in the current run.
    async fn find_stop(&mut self, slices: &Slices) -> Result<(), Text> {
        self.stops.at = None;
        let Some(place) = self.stops.until.clone() else {
            return Ok(());
        };
        self.stops.at = Some(self.find_place(&place, slices).await?);
        Ok(())
    }

    /// Prepares for playback.
    pub(super) fn before_play(&mut self) {
        // If the run does not come to that moment, it plays to its end.
        let _ = at_once(self.find_stop(&Slices::whole()));
    }

    /// The number of facts up to a place.
    async fn find_place(&mut self, place: &Place, slices: &Slices) -> Result<usize, Text> {
        // As any command, it computes a bounded number of facts. If the place does not come, the run stays as it
        // is.
        let mut ahead = self.timeline.clone();
        let most = ahead.most();
        ahead.limit(most.min(ahead.len().saturating_add(LEAP)));
        let found = match place {
            Place::Start => Some(0),
            Place::Step(step) => {
                ahead.extend_slowly(*step, slices).await;
                Some((*step).min(ahead.len()))
            }
            Place::End => {
                ahead.extend_slowly(usize::MAX, slices).await;
                let over = ahead.is_over();
                over.then(|| ahead.len())
            }
            Place::Moment(moment) => {
                let markers = &self.lesson.markers;
                moment.find_slowly(&mut ahead, markers, slices).await
            }
        };
        if let Some(found) = found {
            ahead.limit(most);
            self.timeline = ahead;
            // More of the run may be known now.
            self.marked_slowly(slices).await;
            return Ok(found);
        }
        Err(match place {
            Place::Moment(moment) => no_moment(&self.lesson, moment, &ahead, LEAP),
            _ => Text::new(
                "This run never ends. Name another moment: a marker, input:N or t:MS.",
                "此运行没有终点。请写另一个时刻：标记、input:N 或 t:MS。",
            ),
        })
    }

    /// The next requested place at which playback pauses.
    pub(super) fn next_stop(&self, from: usize) -> Option<usize> {
        let markers = self.markers.iter().filter(|_| self.stops.markers);
        let places = markers.map(|one| one.at);
        let places = places.chain(self.stops.at).chain(self.scene_end());
        places.filter(|at| *at > from).min()
    }

    /// Pauses playback at a requested place after `since`. Returns whether it did.
    pub(super) fn stop_at_place(&mut self, since: usize) -> bool {
        if self
            .next_stop(since)
            .is_none_or(|at| at > self.playback.cursor())
        {
            return false;
        }
        // A play's last motion is part of it.
        if self.scene_end() != Some(self.playback.cursor()) {
            self.playback.pause();
        }
        true
    }

    /// The error of the last command.
    pub(super) fn said_wrong(&self) -> Result<(), Text> {
        match &self.error {
            Some(error) => Err(error.message.clone()),
            None => Ok(()),
        }
    }

    /// Whether a run is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.lesson.id.is_empty()
    }

    /// The scenario of the run.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        self.timeline.scenario()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::Attribute;
    use crate::session::typed;
    use deltascope_cache::controller::Generation;

    fn present_link(session: &mut Session, options: &Options, link: &str) -> Result<(), Unshown> {
        let command = Command::OpenLink(link.into());
        at_once(session.present_shared(options, &command, &Slices::whole()))
    }

    fn options(pairs: &[(&str, &str)]) -> Options {
        let mut options = Options::default();
        for (name, value) in pairs {
            options.set(Attribute::named(name).unwrap(), value).unwrap();
        }
        options
    }

    fn said(unshown: Unshown) -> String {
        Text::from(unshown).en.to_string()
    }

    #[test]
    fn a_page_is_shown_the_moment_it_asks_for() {
        for (pairs, step_of) in [
            (&[("lesson", "tombstone"), ("at", "relist")][..], "relist"),
            (
                &[("lesson", "tombstone"), ("at", "told"), ("era", "1.36")],
                "told",
            ),
        ] {
            let mut session = Session::new();
            session.present(&options(pairs), None).unwrap();
            let at = session
                .view()
                .markers
                .iter()
                .find(|m| &*m.id == step_of)
                .map(|m| m.at);
            assert_eq!(Some(session.view().step), at, "{pairs:?}");
        }
        let mut session = Session::new();
        let asked = options(&[("lesson", "deltafifo"), ("at", "end")]);
        session.present(&asked, None).unwrap();
        let view = session.view();
        assert_eq!((view.step, view.endless), (view.steps, false));
    }

    #[test]
    fn a_headline_is_a_moment_for_an_attribute_a_link_and_a_script() {
        let name = "headline:DeltaAppended:default/b:2";
        let mut session = Session::new();
        let asked = options(&[("lesson", "tombstone"), ("at", name)]);
        session.present(&asked, None).unwrap();
        let view = session.view();
        let shown = crate::rows::current(&view).unwrap();
        assert_eq!(shown.fact.name(), "DeltaAppended");
        let link = format!("#v1;lesson=tombstone;at={name}");
        session.obey(Command::Seek(0));
        present_link(&mut session, &Options::default(), &link).unwrap();
        assert_eq!(session.view().step, view.step);
        session.obey(Command::Seek(0));
        session.obey(typed::place(name));
        assert_eq!(session.view().step, view.step);
        for (name, word) in [
            ("headline:Appended", "there are ObjectCreated,"),
            (
                "headline:DeltaAppended:default/b:9",
                "DeltaAppended, about default/a, ",
            ),
        ] {
            session.obey(typed::place(name));
            let error = session.view().error.unwrap().message;
            assert!(error.en.contains(word) && !error.zh.is_empty(), "{error:?}");
            let link = format!("#v1;lesson=tombstone;at={name}");
            let error = present_link(&mut Session::new(), &Options::default(), &link);
            assert!(said(error.unwrap_err()).contains(word), "{name}");
        }
    }

    #[test]
    fn the_error_says_why_a_run_cannot_be_shown() {
        for (pairs, word) in [
            (&[("lesson", "nothing")][..], "no lesson"),
            (&[("lesson", "tombstone"), ("at", "nowhere")], "no marker"),
            (&[("lesson", "sandbox"), ("at", "end")], "never ends"),
            (&[("lesson", "deltafifo"), ("era", "1.36")], "by hand"),
        ] {
            let error = Session::new().present(&options(pairs), None).unwrap_err();
            let error = said(error);
            assert!(error.contains(word), "{pairs:?}: {error}");
        }
    }

    #[test]
    fn playback_ends_at_the_requested_marker() {
        let mut session = Session::new();
        let asked = options(&[("lesson", "tombstone"), ("at", "start"), ("until", "cut")]);
        session.present(&asked, None).unwrap();
        session.play();
        while session.playback().is_playing() {
            session.tick();
        }
        let view = session.view();
        let cut = view.markers.iter().find(|marker| &*marker.id == "cut");
        assert_eq!(Some(view.step), cut.map(|marker| marker.at));
    }

    #[test]
    fn a_link_opens_and_the_other_options_apply_after_it() {
        let link = "#v1;lesson=tombstone;era=1.36;at=relist;panels=api;later=1";
        for (pairs, era, marker) in [
            (&[][..], "1.36", "relist"),
            (&[("era", "1.32"), ("at", "told")], "1.32", "told"),
        ] {
            let mut session = Session::new();
            present_link(&mut session, &options(pairs), link).unwrap();
            let view = session.view();
            let at = view.markers.iter().find(|one| &*one.id == marker);
            assert_eq!(Some(view.step), at.map(|one| one.at), "{pairs:?}");
            assert_eq!(view.lesson.era.version(), era);
        }
        let wrong = present_link(
            &mut Session::new(),
            &Options::default(),
            "#v2;lesson=tombstone",
        );
        assert!(said(wrong.unwrap_err()).contains("newer"));
    }

    #[test]
    fn the_end_of_playback_is_found_anew_in_another_run() {
        let mut session = Session::new();
        let asked = options(&[("lesson", "tombstone"), ("at", "start"), ("until", "told")]);
        session.present(&asked, None).unwrap();
        for command in [
            Command::Reset,
            Command::Generation(Generation::Atomic),
            Command::Reset,
        ] {
            session.obey(command.clone());
            session.obey(Command::Seek(0));
            session.play();
            while session.playback().is_playing() {
                session.tick();
            }
            let view = session.view();
            let marker = view.markers.iter().find(|marker| &*marker.id == "told");
            assert_eq!(
                Some(view.step),
                marker.map(|marker| marker.at),
                "{command:?}"
            );
            assert!(view.step < view.steps, "{command:?}");
        }
    }

    #[test]
    fn a_scenario_of_the_page_may_be_bare() {
        let object = json!({"metadata": {"namespace": "default", "name": "a"}});
        let scenario = json!({
            "settings": {"machinery": "shared", "handlers": [{"name": "one", "onAdd": ["OnAdd: {name}"]}]},
            "initial": [object],
        });
        for value in [
            scenario.clone(),
            json!({"title": "Mine", "era": "1.36", "scenario": scenario}),
        ] {
            let mut session = Session::new();
            let asked = options(&[("at", "end")]);
            session.present(&asked, Some(value)).unwrap();
            assert_eq!(*session.view().picture.output[0].line, *"OnAdd: a");
        }
        let wrong = json!({"settings": {"machinery": "steam"}});
        let error = Session::new().present(&Options::default(), Some(wrong));
        assert!(said(error.unwrap_err()).contains("steam"));
    }
}
