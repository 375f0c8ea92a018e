//! The shelf of the lessons that come with the page: its cards, its courses and their notes.

use deltascope::presentation::shelf::notes::Notes;
use deltascope::presentation::shelf::{Course, SANDBOX, Shelf};
use deltascope::presentation::story::Theme;
use deltascope::replay::lessons;
use deltascope::replay::link::{Link, ShelfLink};
use deltascope::world::text::Text;

/// A course's name promises about so many minutes.
fn minutes(course: Course) -> std::ops::RangeInclusive<u32> {
    match course {
        Course::Short => 8..=14,
        Course::Long => 35..=50,
    }
}

#[test]
fn every_story_has_its_card_and_everything_else_is_there_once() {
    let shelf = Shelf::library();
    let stories: Vec<_> = lessons::stories().into_iter().map(|(id, _)| id).collect();
    assert!(!stories.is_empty());
    for id in &stories {
        assert!(shelf.card(id).is_some(), "{id}");
    }
    assert_eq!(shelf.cards.len(), stories.len());
    let all = shelf.cards.len() + shelf.others.len();
    assert_eq!(all, lessons::menu().len());
    assert!(shelf.others.iter().any(|other| &*other.id == SANDBOX));
    let places = shelf.cards.iter().map(|card| {
        let themes = Theme::ALL.into_iter();
        themes.zip(0..).find(|(theme, _)| *theme == card.theme)
    });
    assert!(places.map(Option::unwrap).is_sorted_by_key(|(_, at)| at));
    for card in &shelf.cards {
        assert!(!card.rooms.is_empty(), "{} lights no room", card.id);
    }
}

#[test]
fn the_lessons_of_a_course_exist_and_take_as_long_as_it_says() {
    let shelf = Shelf::library();
    for course in Course::ALL {
        let lessons = course.lessons();
        for id in lessons {
            assert!(shelf.card(id).is_some(), "{}: {id}", course.id());
        }
        let sum = shelf.course(course).iter().map(|card| card.minutes).sum();
        assert!(minutes(course).contains(&sum), "{}: {sum}", course.id());
        assert_eq!(Course::named(course.id()), Some(course));
        // In a course the next lesson is the one after it.
        for pair in lessons.windows(2) {
            let next = shelf.next(pair[0], Some(course), |_| false).unwrap();
            assert_eq!(&*next.id, pair[1], "{}", course.id());
        }
    }
    assert_eq!(
        [Course::Short, Course::Long].map(|one| one.lessons().len()),
        [5, 13]
    );
    let long = Course::Long.lessons();
    for id in Course::Short.lessons() {
        assert!(long.contains(id), "the long course has {id}, too");
    }
}

#[test]
fn a_symptom_finds_its_lesson() {
    let shelf = Shelf::library();
    for (query, id) in [
        ("what is an informer", "first-look"),
        ("too old resource version", "gone-410"),
        ("DeletedFinalStateUnknown", "tombstone"),
        ("read your own writes", "stale-read"),
        ("resyncPeriod", "resync-is-not-relist"),
        ("入门", "first-look"),
    ] {
        let found = shelf.find(query);
        let first = found.cards.first().map(|card| &*card.id);
        assert_eq!(first, Some(id), "{query}");
    }
}

#[test]
fn the_notes_say_what_to_ask_what_is_right_and_what_is_usually_answered() {
    let shelf = Shelf::library();
    for card in &shelf.cards {
        let notes = Notes::of(card).unwrap();
        assert!(!notes.asked.is_empty(), "{}", card.id);
        for asked in &notes.asked {
            let id = format!("{}, scene {}", card.id, asked.scene);
            let right = asked.right.as_ref();
            let right = right.unwrap_or_else(|| unreachable!("{id} is not decided"));
            assert!(asked.because.is_some() && !asked.usual.is_empty(), "{id}");
            let usual: Vec<&Text> = asked.usual.iter().map(|(answer, _)| answer).collect();
            assert!(!usual.contains(&right), "{id}: {right:?}");
            let (scene, words) = asked.show.as_ref().unwrap();
            assert!(*scene > asked.scene && !words.en.is_empty(), "{id}");
        }
    }
    let first = Notes::of(shelf.card("first-look").unwrap()).unwrap();
    let [piled, unseen] = &*first.asked else {
        unreachable!("{:?}", first.asked)
    };
    assert_eq!(&*piled.right.as_ref().unwrap().en, "3 times");
    assert_eq!(piled.usual.len(), 2);
    assert_eq!(&*unseen.right.as_ref().unwrap().zh, "watch 恢复之后");
    assert_eq!(unseen.show.as_ref().unwrap().0, 7);
    assert!(first.goal.is_some_and(|(_, hints)| hints.len() == 3));
}

#[test]
fn a_link_opens_the_shelf_and_other_links_do_not() {
    let link = |query: &str, course: &str| ShelfLink {
        query: query.into(),
        course: course.into(),
        teach: false,
    };
    let notes = ShelfLink {
        teach: true,
        ..link("", "long")
    };
    for (text, expected) in [
        ("#v1;shelf", Some(link("", ""))),
        ("#v1;shelf;q=relist", Some(link("relist", ""))),
        ("#v1;q=a%20b;shelf;newer=1", Some(link("a b", ""))),
        ("#v1%3Bshelf%3Bcourse%3Dshort", Some(link("", "short"))),
        ("#v1;shelf;course=long;teach", Some(notes)),
        ("#v1;lesson=tombstone", None),
        ("#v1;lesson=tombstone;q=relist", None),
        ("#v1", None),
        ("#v2;shelf", None),
    ] {
        assert_eq!(ShelfLink::read(text), expected, "{text}");
        if let Some(link) = expected {
            assert_eq!(ShelfLink::read(&link.to_string()), Some(link), "{text}");
        }
    }
    for alone in ["#v1;q=relist", "#v1;teach"] {
        assert!(Link::read(alone).is_err(), "{alone} says nothing");
    }
    let odd = link("旧 & ;=%+", "");
    assert_eq!(ShelfLink::read(&odd.to_string()), Some(odd));
}
