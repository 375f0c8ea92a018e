//! Every story can be told: its scenes come in order, the run decides its questions, its goal is reached by its
//! solution and by nothing else, and its words are short and introduce their terms.

use std::sync::Arc;

use serde_json::{Value, json};

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{FactRecord, Verb};
use deltascope::presentation::command::{Command, Export, Tell};
use deltascope::presentation::session::ask::{self, Found};
use deltascope::presentation::session::{Change, Session, typed};
use deltascope::presentation::stage::Panel;
use deltascope::presentation::story::words::{self, Piece};
use deltascope::presentation::story::{Answer, At, Condition, Kind, Story};
use deltascope::presentation::terms;
use deltascope::replay::beat::{self, beat};
use deltascope::replay::lessons::{self, Lesson};
use deltascope::replay::predicate::Predicate;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::pod::PodSpec;
use deltascope::world::text::{Lang, Text};

/// The facts of a lesson's own run that are computed; the run after a solution is as long again.
const MOST: usize = 3_000;
/// The most words of a scene in English, and characters in Chinese.
const LONGEST: [usize; 2] = [40, 90];
/// The same of why an answer is right.
const LONGEST_BECAUSE: [usize; 2] = [25, 60];

fn stories() -> Vec<(Lesson, Story)> {
    let lessons = lessons::menu().into_iter();
    let lessons = lessons.map(|(id, _)| lessons::load(&id).unwrap());
    let told = lessons.filter_map(|lesson| {
        let story = Story::read(lesson.story.as_ref()?).unwrap_or_else(|wrong| {
            let place = wrong.clone().place().join(".");
            unreachable!("{}: {place}: {}", lesson.id, wrong.message())
        });
        Some((lesson, story))
    });
    told.collect()
}

/// The lesson's run in a generation.
fn run(lesson: &Lesson, generation: Generation) -> Timeline {
    let mut run = Timeline::new(lesson.scenario.in_era(Some(generation))).unwrap();
    run.extend(MOST);
    run
}

fn place(lesson: &Lesson, run: &Timeline, at: &At) -> Option<usize> {
    match at {
        At::Start => Some(0),
        At::Marker(id) => {
            let rule = lesson.markers.iter().find(|rule| rule.id == *id);
            let rule = rule.unwrap_or_else(|| unreachable!("{}: no marker {id}", lesson.id));
            rule.find(run)
        }
    }
}

#[test]
fn the_scenes_come_in_order_and_the_run_decides_each_question() {
    for (lesson, story) in stories() {
        let own = lesson.scenario.settings.era;
        assert!(
            story.eras.contains(&own),
            "{} is told in its own era",
            lesson.id
        );
        assert!(!story.sources.is_empty(), "{}", lesson.id);
        for era in &story.eras {
            let (id, run) = (
                format!("{} in {}", lesson.id, era.version()),
                run(&lesson, *era),
            );
            let mut last = 0;
            for (number, scene) in story.scenes.iter().enumerate() {
                let id = format!("{id}, scene {}", number + 1);
                let at = place(&lesson, &run, &scene.at);
                let at = at.unwrap_or_else(|| unreachable!("{id} does not come"));
                assert!(at >= last, "{id} comes before the one before it");
                last = at;
                assert!(!scene.rooms.is_empty() && scene.ring.len() <= 2, "{id}");
                for anchor in &scene.ring {
                    let room = anchor.room();
                    assert!(scene.rooms.contains(&room), "{id}: {anchor} is in the dark");
                }
                let Some(asked) = &scene.ask else { continue };
                let until = story.until(number);
                let until = until.unwrap_or_else(|| unreachable!("{id}: nothing decides it"));
                let until = place(&lesson, &run, until);
                let until = until.unwrap_or_else(|| unreachable!("{id} is never decided"));
                assert!(until > at, "{id} is decided before it is asked");
                let right = ask::right(asked, &run, at..until);
                let right = right.unwrap_or_else(|| unreachable!("{id} has no right answer"));
                let answers = asked.kind.answers();
                match &asked.kind {
                    Kind::Choice(choices) => {
                        let picture = run.picture(until);
                        let holds = choices.iter();
                        let holds = holds.map(|one| ask::all(&one.when, &run, at..until, &picture));
                        assert_eq!(holds.filter(|holds| *holds).count(), 1, "{id}");
                        assert!((2..=4).contains(&choices.len()), "{id}");
                    }
                    Kind::Place { .. } => assert!(answers.contains(&right), "{id}"),
                    // The order in which they stand gives nothing away.
                    Kind::Order { .. } => assert!(!answers.contains(&right), "{id}"),
                    Kind::Number { .. } => {}
                }
                let wrong: Vec<_> = answers.iter().filter(|one| **one != right).collect();
                assert!(!wrong.is_empty(), "{id}");
                for one in wrong {
                    assert!(
                        asked.belief(one).is_some(),
                        "{id}: no belief behind {one:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_question_says_why_and_every_goal_what_to_take_from_it() {
    for (lesson, story) in stories() {
        let asked = story.scenes.iter().filter_map(|scene| scene.ask.as_ref());
        let asked = asked.map(|asked| (&asked.because, LONGEST_BECAUSE));
        let goal = story.goal.iter().map(|goal| {
            let done = goal.done.as_ref();
            let done = done.unwrap_or_else(|| unreachable!("{}: no `done`", lesson.id));
            (done, LONGEST)
        });
        for (text, longest) in asked.chain(goal) {
            for (lang, most) in [Lang::En, Lang::Zh].into_iter().zip(longest) {
                let said = words::plain(text.get(lang));
                let length = length(&said, lang);
                assert!(
                    (1..=most).contains(&length),
                    "{}: {said:?} has {length} words",
                    lesson.id
                );
            }
        }
    }
}

/// A wrong answer is told the belief and then why the right one is right: nothing twice.
#[test]
fn a_belief_does_not_say_why_the_right_answer_is_right() {
    /// As many words, or Han characters, are no accident.
    const ALIKE: [usize; 2] = [5, 8];
    for (lesson, story) in stories() {
        for asked in story.scenes.iter().filter_map(|scene| scene.ask.as_ref()) {
            for one in asked.kind.answers() {
                let Some(belief) = asked.belief(&one) else {
                    continue;
                };
                for (lang, alike) in [Lang::En, Lang::Zh].into_iter().zip(ALIKE) {
                    let parts = |text: &Text| -> Vec<String> {
                        let said = words::plain(text.get(lang)).to_lowercase();
                        match lang {
                            Lang::En => said.split_whitespace().map(str::to_owned).collect(),
                            Lang::Zh => {
                                let han = said.chars().filter(|c| !c.is_ascii());
                                han.map(String::from).collect()
                            }
                        }
                    };
                    let (belief, because) = (parts(&belief), parts(&asked.because));
                    let twice = belief
                        .windows(alike)
                        .find(|part| because.windows(alike).any(|other| other == *part));
                    assert_eq!(twice, None, "{}: {:?}", lesson.id, belief.join(" "));
                }
            }
        }
    }
}

#[test]
fn why_an_answer_is_right_is_said_of_the_storys_own_generations_alone() {
    for (era, says) in [
        ("1.32", true),
        ("1.34", true),
        ("1.35", false),
        ("1.36", false),
    ] {
        let mut session = Session::empty();
        session.obey(Command::OpenLink(
            format!("#v1;lesson=half-old-half-new;era={era}").into(),
        ));
        session.obey(Command::Tell(Tell::Scene(2)));
        let mut why = |tell| {
            session.obey(Command::Tell(tell));
            watch(&mut session);
            let asked = session.view().story.unwrap().asked.clone().unwrap();
            asked.verdict.map(|verdict| verdict.because.is_some())
        };
        assert_eq!(why(Tell::Scene(2)), None, "{era}: not answered yet");
        for answer in [None, Some(Answer::Choice(3)), Some(Answer::Choice(0))] {
            assert_eq!(
                why(Tell::Answer(answer.clone())),
                Some(says),
                "{era}: {answer:?}"
            );
        }
    }
}

/// Where the beats of a run end, from a place on.
fn beat_ends(run: &Timeline, from: usize) -> Vec<usize> {
    let (mut ends, mut at) = (Vec::new(), from);
    while let Some(beat) = beat(&run.facts(at..run.len().min(at + beat::MOST))) {
        at += beat.facts;
        ends.push(at);
    }
    ends
}

#[test]
fn a_goal_is_reached_by_its_solution_and_not_by_doing_nothing() {
    for (lesson, story) in stories() {
        let id = &lesson.id;
        let goal = story
            .goal
            .as_ref()
            .unwrap_or_else(|| unreachable!("{id} has no goal"));
        assert_eq!(goal.hints.len(), 3, "{id}");
        for era in &story.eras {
            let holds = |run: &Timeline, ends: Vec<usize>| {
                let all = |end| ask::all(&goal.when, run, 0..end, &run.picture(end));
                ends.into_iter().any(all)
            };
            let own = run(&lesson, *era);
            let last = &story.scenes.last().unwrap().at;
            let from = own.time_at(place(&lesson, &own, last).unwrap());
            assert!(
                !holds(&own, (0..=own.len()).collect()),
                "{id}: nothing must be done in {}",
                era.version()
            );
            let lit = &story.scenes.last().unwrap().rooms;
            for room in goal.tools() {
                let can = lit.contains(&room);
                assert!(can, "{id}: one has to act in {room:?}, which is dimmed");
            }
            let inputs = goal.solution.iter().cloned().map(|entry| {
                assert!(
                    entry.at >= from,
                    "{id}: the solution begins before the last scene"
                );
                RecordedInput {
                    // At its time, after however many facts.
                    after: usize::MAX,
                    at: entry.at,
                    input: entry.input,
                }
            });
            let recording = Recording {
                scenario: lesson.scenario.clone(),
                inputs: inputs.collect(),
            };
            let mut solved = recording.in_generation(*era).play().unwrap();
            solved.extend(MOST);
            // Where playback shows the run, which is where the page looks.
            let seen = beat_ends(&solved, place(&lesson, &solved, last).unwrap());
            assert!(
                holds(&solved, seen),
                "{id}: the solution fails in {}",
                era.version()
            );
        }
    }
}

#[test]
fn what_a_goal_asks_for_is_searched_once_and_again_only_where_the_run_has_changed() {
    for (lesson, story) in stories() {
        let id = &lesson.id;
        let own = run(&lesson, lesson.scenario.settings.era);
        let facts = own.all_facts();
        let empty = Timeline::empty();
        let mut conditions = story.goal.unwrap().when;
        for predicate in ["fact=DeltaAppended", "call=any", "fact=WatchClosed"] {
            let predicate: Predicate = predicate.parse().unwrap();
            let times = [None, Some(0), Some(2), Some(usize::MAX)];
            conditions.extend(times.map(|times| Condition::Fact(predicate.clone(), times)));
        }
        for condition in conditions {
            let Condition::Fact(predicate, times) = &condition else {
                continue;
            };
            let one = std::slice::from_ref(&condition);
            let holds = |end: usize| {
                let count = facts[..end].iter();
                let count = count.filter(|fact| predicate.holds(fact, false)).count();
                times.map_or(count > 0, |times| count == times)
            };
            let (mut found, end) = (Found::default(), facts.len().min(400));
            let mut all = |run: &Timeline, end| found.all(one, run, end, &own.picture(0));
            for end in [0, 1, 7, end / 2, 3, end] {
                assert_eq!(all(&own, end), holds(end), "{id}: {condition:?} in {end}");
            }
            for end in [end, 0, end / 2, end] {
                assert_eq!(all(&empty, end), holds(end), "{id}: {condition:?} in {end}");
            }
            // After a change nothing is known of what follows it.
            found.cut(end / 2);
            let mut all = |run: &Timeline, end| found.all(one, run, end, &own.picture(0));
            assert_eq!(all(&empty, end / 2), holds(end / 2), "{id}: {condition:?}");
            assert_eq!(all(&own, end), holds(end), "{id}: {condition:?}");
        }
    }
}

#[test]
fn a_goal_waits_for_the_last_call_that_it_asks_for_and_for_none_that_it_forbids() {
    let lesson = lessons::load("first-look").unwrap();
    let run = run(&lesson, lesson.scenario.settings.era);
    let facts = run.all_facts();
    let call: Predicate = "call=any".parse().unwrap();
    let places = |is: &dyn Fn(&FactRecord) -> bool| -> Vec<usize> {
        let all = facts.iter().enumerate();
        all.filter(|(_, record)| is(record))
            .map(|(place, _)| place)
            .collect()
    };
    let calls = places(&|record| call.holds(record, false));
    let returns = places(&|record| record.fact.name() == "NotificationHandled");
    assert!(calls.len() > 2, "{calls:?}");
    for times in [None, Some(0), Some(1), Some(2)] {
        let conditions = [Condition::Fact(call.clone(), times)];
        let mut found = Found::default();
        let mut reached = |end| {
            found.all(&conditions, &run, end, &run.picture(0))
                && found.are_over(&conditions, &run, end)
        };
        // The calls after a moment are known, too.
        reached(facts.len());
        for end in 0..=facts.len() {
            let count = calls.partition_point(|place| *place < end);
            let (holds, last) = match times {
                None => (count > 0, 1),
                Some(times) => (count == times, times),
            };
            let is_over =
                last == 0 || holds && returns.iter().any(|at| (calls[last - 1]..end).contains(at));
            assert_eq!(reached(end), holds && is_over, "{times:?} in {end}");
        }
    }
}

#[test]
fn a_goal_is_found_in_the_run_as_it_is_after_each_act() {
    let mut session = Session::empty();
    session.obey(Command::Load("first-look".into()));
    session.obey(Command::Tell(Tell::Scene(6)));
    let reached =
        |session: &mut Session| session.view().story.unwrap().goal.as_ref().unwrap().reached;
    session.obey(Command::CutWatch);
    let cut = session.view().step;
    // A long run without the goal is searched to its end.
    for name in ["a", "b", "c", "d", "e", "f"] {
        let name = json!({ "metadata": { "namespace": "default", "name": name } });
        session.obey(typed::inject("create", name));
    }
    session.obey(Command::Seek(usize::MAX));
    assert!(!reached(&mut session));
    let searched = session.view().step;
    session.obey(Command::Seek(cut));
    session.obey(typed::delete("default/web-1"));
    session.obey(Command::Compact);
    assert!(!reached(&mut session));
    session.obey(Command::Seek(usize::MAX));
    assert!(session.view().step < searched, "{searched}");
    assert!(reached(&mut session));
}

/// Terms that a story introduces before it uses them.
const TERMS: [&str; 16] = [
    "Reflector",
    "DeltaFIFO",
    "Delta",
    "Indexer",
    "Pop",
    "RealFIFO",
    "relist",
    "resync",
    "tombstone",
    "resourceVersion",
    "informer",
    "workqueue",
    "KnownObjects",
    "HasSynced",
    "bookmark",
    "lister",
];

#[test]
fn the_words_are_short_and_introduce_their_terms() {
    let mut ids = Vec::new();
    for (lesson, story) in stories() {
        ids.push(lesson.id.to_string());
        for (lang, most) in [Lang::En, Lang::Zh].into_iter().zip(LONGEST) {
            let mut known: Vec<String> = Vec::new();
            for (number, scene) in story.scenes.iter().enumerate() {
                let id = format!("{}, scene {} in {lang:?}", lesson.id, number + 1);
                let say = scene.say.get(lang);
                let length = length(&words::plain(say), lang);
                assert!(length <= most, "{id} has {length} words");
                let asked = scene.ask.iter().map(|asked| asked.text.get(lang));
                for text in std::iter::once(say).chain(asked) {
                    for piece in words::pieces(text) {
                        if let Piece::Term(term) = piece {
                            assert!(
                                terms::find(term).is_some(),
                                "{id}: {term:?} is in no glossary"
                            );
                            known.push(term.to_lowercase());
                            continue;
                        }
                        let text = piece.text().to_lowercase();
                        for term in TERMS.map(str::to_lowercase) {
                            assert!(
                                !uses(&text, &term) || known.iter().any(|one| uses(one, &term)),
                                "{id} uses {term:?} before a scene introduces it"
                            );
                        }
                    }
                }
            }
        }
        let [marked, plain] = texts(&lesson, &story);
        for lang in [Lang::En, Lang::Zh] {
            for text in &plain {
                let text = text.get(lang);
                assert_eq!(
                    words::plain(text),
                    text,
                    "{}: a button with marks",
                    lesson.id
                );
                assert!(!text.trim().is_empty(), "{}", lesson.id);
            }
            for text in &marked {
                // A right answer has no belief.
                let is_there = text.en.is_empty() || !text.get(lang).trim().is_empty();
                assert!(is_there, "{}: {text:?}", lesson.id);
            }
        }
    }
    assert!(ids.contains(&"first-look".to_owned()), "{ids:?}");
}

/// Whether a text has this word, also in the plural.
fn uses(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    text.match_indices(word).any(|(at, _)| {
        let rest = text[at + word.len()..]
            .trim_start_matches("es")
            .trim_start_matches('s');
        !text[..at].ends_with(is_letter) && !rest.starts_with(is_letter)
    })
}

fn length(text: &str, lang: Lang) -> usize {
    match lang {
        Lang::En => text.split_whitespace().count(),
        Lang::Zh => text.chars().count(),
    }
}

/// What is drawn with marks, and what stands on buttons, without.
fn texts<'a>(lesson: &'a Lesson, story: &'a Story) -> [Vec<&'a Text>; 2] {
    let (mut marked, mut plain) = (Vec::new(), vec![&lesson.title]);
    for scene in &story.scenes {
        marked.push(&scene.say);
        let Some(asked) = &scene.ask else { continue };
        marked.extend([&asked.text, &asked.because]);
        match &asked.kind {
            Kind::Choice(choices) => {
                plain.extend(choices.iter().map(|choice| &choice.say));
                marked.extend(choices.iter().map(|choice| &choice.belief));
            }
            Kind::Number { beliefs, .. } => marked.extend(beliefs.iter().map(|(_, say)| say)),
            Kind::Place { beliefs, .. } => marked.extend(beliefs.iter().map(|(_, say)| say)),
            Kind::Order { items, belief } => {
                plain.extend(items.iter().map(|(say, _)| say));
                marked.push(belief);
            }
        }
    }
    if let Some(goal) = &story.goal {
        marked.push(&goal.text);
        marked.extend(&goal.hints);
        marked.extend(&goal.done);
    }
    marked.extend(story.code.iter().map(|code| &code.say));
    [marked, plain]
}

/// Plays to the end of what plays; the number of beats.
fn watch(session: &mut Session) -> usize {
    let mut beats = 0;
    while session.playback().is_playing() && session.tick() == Change::Forward {
        beats += 1;
    }
    beats
}

#[test]
fn next_plays_to_each_scene_and_an_answer_to_what_decides_it() {
    let mut session = Session::empty();
    session.obey(Command::Load("first-look".into()));
    session.obey(Command::Tell(Tell::Show(true)));
    let story = |session: &mut Session| session.view().story.unwrap();
    let place = |session: &mut Session, id: &str| {
        let markers = session.view().markers;
        markers.iter().find(|one| &*one.id == id).unwrap().at
    };
    assert_eq!(session.view().step, place(&mut session, "watching"));
    for (index, id) in [(1, "sent"), (2, "queued"), (3, "piled")] {
        session.obey(Command::Tell(Tell::Next));
        let now = story(&mut session);
        assert!(now.plays && now.index == index, "{id}: {now:?}");
        // Its words would run ahead of the run, until its last motion is over.
        let to = place(&mut session, id);
        while session.view().step < to {
            assert_eq!(session.tick(), Change::Forward, "{id}");
            let now = story(&mut session);
            assert!(now.plays && now.comes && !now.elsewhere, "{id}: {now:?}");
        }
        assert_eq!(watch(&mut session), 0, "{id}");
        assert_eq!(session.view().step, place(&mut session, id), "{id}");
        assert!(
            !story(&mut session).plays && !story(&mut session).elsewhere,
            "{id}"
        );
        assert!(!story(&mut session).comes, "{id}");
    }
    // A wrong answer: it plays to what decides it, and only then says so.
    session.obey(Command::Tell(Tell::Answer(Some(Answer::Choice(0)))));
    assert!(story(&mut session).asked.clone().unwrap().verdict.is_none());
    assert!(!story(&mut session).comes);
    watch(&mut session);
    assert_eq!(session.view().step, place(&mut session, "called"));
    let verdict = story(&mut session).asked.clone().unwrap().verdict.unwrap();
    assert_eq!(
        (verdict.right, verdict.is_right),
        (Answer::Choice(2), Some(false))
    );
    assert!(verdict.belief.unwrap().en.contains("newest"));
    // Back to the question, and to the scene before.
    session.obey(Command::Tell(Tell::Back));
    assert_eq!(
        (story(&mut session).index, session.view().step),
        (3, place(&mut session, "piled"))
    );
    // It is asked again, also if one goes back while an answer plays.
    let is_open = |session: &mut Session| story(session).asked.clone().unwrap().given.is_none();
    assert!(is_open(&mut session));
    session.obey(Command::Tell(Tell::Answer(Some(Answer::Choice(1)))));
    session.tick();
    assert!(!is_open(&mut session));
    session.obey(Command::Tell(Tell::Back));
    assert!(is_open(&mut session) && story(&mut session).index == 3);
    assert_eq!(session.view().step, place(&mut session, "piled"));
    session.obey(Command::Tell(Tell::Answer(Some(Answer::Choice(2)))));
    watch(&mut session);
    let verdict = story(&mut session).asked.clone().unwrap().verdict.unwrap();
    assert_eq!(verdict.is_right, Some(true));
    session.obey(Command::Tell(Tell::Back));
    assert!(is_open(&mut session));
    session.obey(Command::Tell(Tell::Back));
    assert_eq!(
        (story(&mut session).index, session.view().step),
        (2, place(&mut session, "queued"))
    );
    // A second Next finishes the play.
    session.obey(Command::Tell(Tell::Next));
    session.obey(Command::Tell(Tell::Next));
    assert_eq!(
        (story(&mut session).index, session.view().step),
        (3, place(&mut session, "piled"))
    );
    // The microscope keeps the moment, and so does the way back.
    session.obey(Command::Tell(Tell::Show(false)));
    assert!(session.view().story.is_none());
    assert_eq!(session.view().step, place(&mut session, "piled"));
    session.obey(Command::Step(2));
    session.obey(Command::Tell(Tell::Show(true)));
    assert_eq!(session.view().step, place(&mut session, "piled") + 2);
    assert!(story(&mut session).elsewhere && story(&mut session).index == 3);
    // The link names the scene.
    session.obey(Command::Tell(Tell::Scene(4)));
    let link = session.export(Export::Link).unwrap();
    assert!(link.contains(";scene=5;"), "{link}");
    let mut other = Session::empty();
    other.obey(Command::OpenLink(link.into()));
    assert_eq!(story(&mut other).index, 4);
    assert_eq!(other.view().step, session.view().step);
}

#[test]
fn a_link_to_a_scene_keeps_the_run_that_is_shown() {
    for drops in [false, true] {
        let mut session = Session::empty();
        session.obey(Command::Load("tombstone".into()));
        session.obey(Command::Tell(Tell::Scene(0)));
        // Before the first scene.
        session.obey(Command::Seek(3));
        let view = session.view();
        session.obey(match view.events.last() {
            Some(event) if drops => Command::DropEvent(event.place),
            _ => typed::write(Verb::Create, PodSpec::of("mine").to_json()),
        });
        assert_eq!(session.view().branches.len(), 1 + usize::from(drops));
        let link = session.export(Export::Link).unwrap();
        assert!(link.contains(";scene=1;"), "{link}");
        let mut other = Session::empty();
        other.obey(Command::OpenLink(link.clone().into()));
        let (shown, opened) = (session.view(), other.view());
        let scene = opened.story.map(|story| story.index);
        assert_eq!((scene, opened.step), (Some(0), shown.step));
        assert_eq!(opened.picture, shown.picture, "{link}");
        let run = |session: &Session| format!("{:?}", session.timeline().recording());
        assert_eq!(run(&other), run(&session), "{link}");
    }
}

/// Opens the library's first story as somebody wrote it anew.
fn own_lesson(id: &str) -> Command {
    let file = include_str!("../../src/replay/lessons/first-look.json");
    let mut lesson: Value = serde_json::from_str(file).unwrap();
    lesson["id"] = id.into();
    Command::Open(vec![("mine.json".into(), lesson.to_string().into())])
}

#[test]
fn a_link_names_no_scene_of_ones_own_lesson_and_one_that_does_opens_the_run() {
    for id in ["", "first-look"] {
        let mut session = Session::empty();
        session.obey(own_lesson(id));
        session.obey(Command::Tell(Tell::Scene(3)));
        let shown = session.view();
        assert!(shown.error.is_none() && shown.story.is_some(), "{id}");
        let link = session.export(Export::Link).unwrap();
        assert!(!link.contains("scene=") && link.contains(";i="), "{link}");
        let mut other = Session::empty();
        let named = format!("{link};scene=4");
        other.obey(Command::OpenLink(named.into()));
        let opened = other.view();
        assert_eq!((opened.step, &opened.error), (shown.step, &None));
        assert!(opened.notice.unwrap().en.contains("as its file"));
        assert_eq!(opened.picture, shown.picture);
    }
}

#[test]
fn a_learner_reaches_the_goal_by_acting_and_next_scenes_begin_the_run_anew() {
    let mut session = Session::empty();
    session.obey(Command::Load("first-look".into()));
    session.obey(Command::Tell(Tell::Scene(6)));
    let goal = |session: &mut Session| session.view().story.unwrap().goal.clone().unwrap();
    assert!(!goal(&mut session).reached && goal(&mut session).hints.is_empty());
    // Where one acts is shown at once, where one room is shown at a time.
    assert_eq!(goal(&mut session).tools, [Panel::Api]);
    session.obey(Command::Tell(Tell::Hint));
    assert_eq!(goal(&mut session).hints.len(), 1);
    assert!(!goal(&mut session).acted, "nothing can be missed yet");
    session.obey(Command::CutWatch);
    assert!(goal(&mut session).acted);
    session.obey(typed::delete("default/web-1"));
    session.obey(Command::Compact);
    session.obey(Command::Seek(usize::MAX));
    assert!(goal(&mut session).reached);
    session.obey(Command::Tell(Tell::Back));
    let view = session.view();
    let story = view.story.unwrap();
    assert_eq!((story.index, view.picture.store.items.len()), (6, 1));
    assert!(session.timeline().recording().inputs.is_empty());
    // It stays reached, until one starts over to try again.
    assert!(goal(&mut session).reached);
    session.obey(Command::Tell(Tell::Scene(6)));
    assert!(!goal(&mut session).reached && goal(&mut session).hints.is_empty());
}

#[test]
fn a_story_that_cannot_be_told_says_why() {
    for (command, word) in [
        (Command::Load("sandbox".into()), "no story"),
        (
            Command::OpenLink("#v1;lesson=first-look;scene=0".into()),
            "scene=\"0\"",
        ),
        (
            Command::OpenLink("#v1;lesson=deltafifo;scene=x".into()),
            "scene=\"x\"",
        ),
    ] {
        let mut session = Session::new();
        let wrong = |session: &mut Session| {
            let error = session.view().error;
            error
                .map(|error| error.message.en.to_string())
                .unwrap_or_default()
        };
        session.obey(command);
        let mut said = wrong(&mut session);
        if said.is_empty() {
            session.obey(Command::Tell(Tell::Show(true)));
            said = wrong(&mut session);
        }
        assert!(said.contains(word), "{said}");
    }
    let with = |pointer: &str, value: Value| {
        let mut story = Value::clone(lessons::load("first-look").unwrap().story.as_ref().unwrap());
        *story.pointer_mut(pointer).unwrap() = value;
        story
    };
    for (story, words) in [
        (with("/eras", json!([])), "a story needs a version"),
        (
            with("/scenes/3/ask/choices", json!([])),
            "a question needs choices",
        ),
        (
            with("/sources/0/url", json!("javascript:alert(1)")),
            "does not begin with https://",
        ),
        (
            with("/scenes/3/ask/choices/1", json!({"say": "Three."})),
            "entry 4 of scenes, entry 2 of choices: a choice needs the field \"when\"",
        ),
        (
            with("/scenes/1/say", json!(3)),
            "entry 2 of scenes: a scene, field \"say\": a text cannot be 3; write \"…\", or {\"en\": \"…\", \"zh\": \"…\"}",
        ),
        (json!({}), "a story needs the field \"theme\""),
        (json!({"theme": "x"}), "none of first-look, queue"),
    ] {
        let wrong = Story::read(&story).unwrap_err();
        assert!(
            wrong.clone().message().contains(words),
            "{}",
            wrong.message()
        );
    }
    let plain = Story::read(&with("/scenes/1/say", json!("Once."))).unwrap();
    assert_eq!(plain.scenes[1].say, Text::new("Once.", "Once."));
    let mut lesson = lessons::load("first-look").unwrap();
    lesson.story = Some(Arc::new(with("/scenes/2/at", json!("quequed"))));
    let mut session = Session::empty();
    session.open(lesson);
    session.obey(Command::Tell(Tell::Show(true)));
    let said = session
        .view()
        .error
        .map(|error| error.message.en.to_string());
    assert_eq!(
        said.as_deref(),
        Some("The lesson's story cannot be read: \"quequed\" is no marker of the lesson.")
    );
}

#[test]
fn a_scene_looks_the_same_however_one_comes_to_it() {
    for (lesson, story) in stories() {
        let look = |session: &mut Session| {
            let view = session.view();
            let (facts, _) = view.narrated();
            (view.step, facts.last().cloned(), view.dropped.len())
        };
        let mut told = Session::empty();
        told.obey(Command::Load(lesson.id.clone()));
        told.obey(Command::Tell(Tell::Show(true)));
        for scene in 1..story.scenes.len() {
            // Played to its end, finished by a second press, and by a link.
            told.obey(Command::Tell(Tell::Next));
            watch(&mut told);
            let played = look(&mut told);
            let is_same = |other: &mut Session| {
                assert_eq!(look(other), played, "{}, scene {}", lesson.id, scene + 1);
            };
            let mut other = Session::empty();
            let link = format!("#v1;lesson={};scene={}", lesson.id, scene + 1);
            other.obey(Command::OpenLink(link.into()));
            is_same(&mut other);
            other.obey(Command::Tell(Tell::Scene(scene - 1)));
            other.obey(Command::Tell(Tell::Next));
            other.obey(Command::Tell(Tell::Next));
            is_same(&mut other);
            // And an answer.
            if story.scenes[scene].ask.is_some() {
                let answer = || Command::Tell(Tell::Answer(None));
                told.obey(answer());
                watch(&mut told);
                other.obey(answer());
                other.obey(Command::Tell(Tell::Next));
                assert_eq!(
                    look(&mut other),
                    look(&mut told),
                    "{}, the answer of scene {}",
                    lesson.id,
                    scene + 1
                );
            }
        }
    }
}
