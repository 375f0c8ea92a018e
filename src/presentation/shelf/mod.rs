//! The shelf: a card for each story, by theme; what a search finds; and courses.

pub mod notes;
pub mod progress;

use std::sync::Arc;

use crate::stage::Panel;
use crate::story::words::{Piece, pieces};
use crate::story::{Story, Theme};
use crate::terms::{self, Term};
use deltascope_cache::controller::Generation;
use deltascope_cache::sorted;
use deltascope_replay::lessons;
use deltascope_world::named;
use deltascope_world::text::{Lang, Text};
use serde_json::Value;

pub use deltascope_replay::lessons::FIRST as SANDBOX;

/// Everything that the page can open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// The stories, by theme.
    pub cards: Vec<Card>,
    /// What has no story: programs and recordings.
    pub others: Vec<Other>,
}

/// A story on the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The lesson's id.
    pub id: Arc<str>,
    /// Its title: the question that it answers.
    pub question: Text,
    /// Its theme.
    pub theme: Theme,
    /// How long it takes, in minutes.
    pub minutes: u32,
    /// The generations in which it is true as told, the lesson's own first.
    pub eras: Vec<Generation>,
    /// The rooms that it is about: those that are lit where its first question is decided.
    pub rooms: Vec<Panel>,
    /// The texts in which a search looks, those that say most about the lesson first.
    texts: [Vec<String>; 3],
}

/// Something without a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its id.
    pub id: Arc<str>,
    /// Its title.
    pub title: Text,
    /// In which a search looks: its id, its title and what its file says of it.
    text: String,
}

/// What a search found, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The stories.
    pub cards: Vec<Card>,
    /// The rest.
    pub others: Vec<Other>,
    /// The term that was searched for.
    pub term: Option<&'static Term>,
    /// The generation that was searched for.
    pub era: Option<Generation>,
}

named! {
    /// A course: lessons in an order in which each needs only those before it.
    pub enum Course {
        /// About ten minutes.
        Short = "short",
        /// About three quarters of an hour.
        Long = "long",
    }
}

impl Course {
    /// The ids of its lessons, in order.
    #[must_use]
    pub fn lessons(self) -> &'static [&'static str] {
        match self {
            Self::Short => &[
                "first-look",
                "deltafifo",
                "resync-is-not-relist",
                "stale-read",
                "workqueue-dedup",
            ],
            Self::Long => &[
                "first-look",
                "deltafifo",
                "dedup",
                "realfifo",
                "reflector",
                "gone-410",
                "tombstone",
                "stale-read",
                "resync-is-not-relist",
                "slow-handler",
                "late-handler",
                "workqueue-dedup",
                "half-old-half-new",
            ],
        }
    }
}

impl Shelf {
    /// The shelf of all that comes with the page. A story that cannot be read is not on it.
    #[must_use]
    pub fn library() -> Self {
        let titles = lessons::menu();
        let mut cards: Vec<Card> = lessons::stories()
            .into_iter()
            .filter_map(|(id, value)| {
                let story = Story::read(&value).ok()?;
                let title = titles.iter().find(|(other, _)| *other == id);
                let title = title.map(|(_, title)| title.clone());
                Some(Card::of(id, title?, &story))
            })
            .collect();
        let place = |theme: Theme| Theme::ALL.into_iter().position(|one| one == theme);
        sorted::sort(&mut cards, |one, other| {
            place(one.theme).cmp(&place(other.theme))
        });
        let notes = lessons::each_with(lessons::NOTE);
        let others = titles
            .into_iter()
            .filter(|(id, _)| !cards.iter().any(|card| card.id == *id))
            .map(|(id, title)| {
                let note = notes.iter().find(|(other, _)| *other == id);
                let note = note.and_then(|(_, note)| note.as_object());
                let note = note.into_iter().flat_map(|note| note.values());
                let note: Vec<&str> = note.filter_map(Value::as_str).collect();
                Other::of(id, title, &note.join(" "))
            })
            .collect();
        Self { cards, others }
    }

    /// The story of a lesson.
    #[must_use]
    pub fn card(&self, id: &str) -> Option<&Card> {
        self.cards.iter().find(|card| &*card.id == id)
    }

    /// The cards of a course, in its order.
    #[must_use]
    pub fn course(&self, course: Course) -> Vec<&Card> {
        let lessons = course.lessons().iter();
        lessons.filter_map(|id| self.card(id)).collect()
    }

    /// What has all words of a query, in any order and case; if nothing has, what has most of them. An empty query
    /// finds everything.
    #[must_use]
    pub fn find(&self, query: &str) -> Found {
        let (query, era) = with_generations(&query.to_ascii_lowercase());
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut cards: Vec<(u64, &Card)> = self
            .cards
            .iter()
            .filter_map(|card| Some((card.rank(&words)?, card)))
            .collect();
        // Of equals, the order of the shelf.
        sorted::sort(&mut cards, |(one, _), (other, _)| one.cmp(other));
        let has_all = |other: &&Other| words.iter().all(|word| other.text.contains(word));
        let mut found = Found {
            cards: cards.into_iter().map(|(_, card)| card.clone()).collect(),
            others: self.others.iter().filter(has_all).cloned().collect(),
            term: terms::find(query.trim()),
            era,
        };
        if found.cards.is_empty() && found.others.is_empty() {
            found.cards = self.find_most(&query);
        }
        found
    }

    /// The stories with most of the words, those with the rarest first: a word that all have says nothing.
    fn find_most(&self, query: &str) -> Vec<Card> {
        let mut said = vec![0; self.cards.len()];
        for word in parts(query) {
            let weights: Vec<usize> = self.cards.iter().map(|card| card.weight(&word)).collect();
            let count = weights.iter().filter(|weight| **weight > 0).count().max(1);
            for (said, weight) in said.iter_mut().zip(weights) {
                *said += weight * (self.cards.len() - count) / count;
            }
        }
        let least = said.iter().max().map_or(0, |most| most.div_ceil(2)).max(1);
        let mut cards: Vec<(usize, &Card)> = said.into_iter().zip(&self.cards).collect();
        cards.retain(|(said, _)| *said >= least);
        sorted::sort(&mut cards, |(one, _), (other, _)| other.cmp(one));
        cards.into_iter().map(|(_, card)| card.clone()).collect()
    }

    /// What to open after a lesson: the next one of the course, else of the lesson's theme, else of the shelf, that
    /// is not `done`.
    #[must_use]
    pub fn next(
        &self,
        after: &str,
        course: Option<Course>,
        done: impl Fn(&str) -> bool,
    ) -> Option<&Card> {
        let course = course.map_or_else(Vec::new, |course| self.course(course));
        let theme = self.card(after).map(|card| card.theme);
        let alike = self.cards.iter().filter(|card| Some(card.theme) == theme);
        let all = self.cards.iter();
        [course, alike.collect(), all.collect()]
            .into_iter()
            .find_map(|cards| {
                let at = cards.iter().position(|card| &*card.id == after);
                let from = at.map_or(0, |at| at + 1);
                // From the lesson on, then what was left out before it.
                let (before, behind) = cards.split_at(from);
                let mut order = behind.iter().chain(before);
                order
                    .find(|card| &*card.id != after && !done(&card.id))
                    .copied()
            })
    }
}

impl Other {
    fn of(id: Arc<str>, title: Text, note: &str) -> Self {
        let text = format!("{id}\n{}\n{}\n{note}", title.en, title.zh);
        Self {
            text: text.to_ascii_lowercase(),
            id,
            title,
        }
    }
}

impl Card {
    fn of(id: Arc<str>, question: Text, story: &Story) -> Self {
        let both = |text: &Text| [&text.en, &text.zh].map(|text| text.to_ascii_lowercase());
        let symptoms = story.search.iter().flatten();
        let mut symptoms: Vec<String> = symptoms.map(|text| text.to_ascii_lowercase()).collect();
        symptoms.push(id.to_ascii_lowercase());
        let themes = [Lang::En, Lang::Zh].map(|lang| story.theme.title(lang).to_ascii_lowercase());
        let eras = story.eras.iter();
        let eras = eras.flat_map(|era| {
            let names = [era.version(), era.as_str(), era.client_go(), "client-go"];
            names.map(str::to_ascii_lowercase)
        });
        // The names that a scene introduces or writes as code.
        let said = story.scenes.iter().flat_map(|scene| both_of(&scene.say));
        let names = said.flat_map(pieces).filter_map(|piece| match piece {
            Piece::Term(name) | Piece::Code(name) => Some(name.to_ascii_lowercase()),
            Piece::Plain(_) | Piece::Emphasis(_) => None,
        });
        Self {
            rooms: rooms(story),
            texts: [
                both(&question).to_vec(),
                symptoms,
                themes.into_iter().chain(eras).chain(names).collect(),
            ],
            id,
            question,
            theme: story.theme,
            minutes: story.minutes,
            eras: story.eras.clone(),
        }
    }

    /// How much a word says of a card that has a word beginning with it: most in the question, then in a symptom. Twelve
    /// times as much, since [`Shelf::find_most`] divides it by the number of such cards.
    fn weight(&self, word: &str) -> usize {
        let begins = |text: &String| {
            let mut found = text.match_indices(word);
            found.any(|(at, _)| !text[..at].ends_with(is_latin) || !word.starts_with(is_latin))
        };
        let place = self.texts.iter().position(|text| text.iter().any(begins));
        place.map_or(0, |place| (self.texts.len() - place) * 12)
    }

    /// How well the card fits the words, less being better; `None` if it lacks one of them. A symptom in just these
    /// words comes first, then what has them side by side, rather whole than as parts of others: that is what was meant.
    fn rank(&self, words: &[&str]) -> Option<u64> {
        let has = |text: &Vec<String>, word: &str| text.iter().any(|text| text.contains(word));
        let mut rank = 0;
        for word in words {
            rank += self.texts.iter().position(|text| has(text, word))?;
        }
        let whole = words.join(" ");
        let is = |how: fn(&str, &str) -> bool, texts: &[Vec<String>]| {
            texts.iter().flatten().any(|text| how(text, &whole))
        };
        let together = if is(|text, whole| text == whole, &self.texts[1..2]) {
            0
        } else if whole.is_empty() || is(has_whole, &self.texts) {
            1
        } else if is(|text, whole| text.contains(whole), &self.texts) {
            2
        } else {
            3
        };
        Some(together << 32 | rank as u64)
    }
}

/// A query with the versions that the cards name in place of others of the same generations, and the one generation that it
/// names: by a version of client-go or of Kubernetes, else by its queue.
fn with_generations(query: &str) -> (String, Option<Generation>) {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut known = String::new();
    let mut named = Vec::new();
    let mut rest = query;
    while let Some(at) = rest.find(is_number) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c| !is_number(c)).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let ends = number.ends_with('.') || !after.starts_with(is_latin);
        let is_of_go = matches!(before.split_whitespace().last(), Some("go" | "golang"));
        let version = version(number).filter(|_| ends && !is_of_go);
        known.extend([before, version.map_or(number, |(version, _)| version)]);
        named.extend(version.map(|(_, era)| era));
        rest = after;
    }
    known.push_str(rest);
    named.dedup();
    let era = match *named {
        [] => query.contains("realfifo").then_some(Generation::InOrder),
        [era] => Some(era),
        _ => None,
    };
    (known, era)
}

/// What the cards call this version of client-go or of Kubernetes, whichever patch it is. Other numbers, as durations, are
/// none.
fn version(number: &str) -> Option<(&'static str, Generation)> {
    let mut parts = number.split('.');
    let (major, minor) = (parts.next()?, parts.next()?);
    let is_minor = minor.len() == 2 && ("20"..="60").contains(&minor);
    let era = Generation::from_version(&format!("1.{minor}")).filter(|_| is_minor)?;
    match major {
        "0" => Some((era.client_go(), era)),
        "1" => Some((era.version(), era)),
        _ => None,
    }
}

/// Whether a text has these words, and not as parts of longer ones. Han characters have no spaces between words.
fn has_whole(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !before.ends_with(is_latin) && !after.starts_with(is_latin)
    })
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// The words of a query one by one, without the marks around them; Han characters in pairs.
fn parts(query: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for word in query.split(|c: char| c.is_ascii_whitespace() || !c.is_ascii()) {
        let word = word.trim_matches(|c: char| !is_latin(c));
        if !word.is_empty() {
            parts.push(word.to_owned());
        }
    }
    for han in query.split(|c: char| !c.is_alphabetic() || c.is_ascii()) {
        let han: Vec<char> = han.chars().collect();
        parts.extend(han.windows(2).map(String::from_iter));
    }
    parts
}

fn both_of(text: &Text) -> [&str; 2] {
    [&text.en, &text.zh]
}

fn rooms(story: &Story) -> Vec<Panel> {
    let asked = story.scenes.iter().position(|scene| scene.ask.is_some());
    let from = asked.unwrap_or(0);
    let scenes = story.scenes.iter().skip(from).take(2);
    let lit: Vec<Panel> = scenes.flat_map(|scene| scene.rooms.clone()).collect();
    let all = Panel::ALL.into_iter();
    all.filter(|room| lit.contains(room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Theme;

    fn ids(cards: &[Card]) -> Vec<&str> {
        cards.iter().map(|card| &*card.id).collect()
    }

    fn card(
        id: &str,
        theme: Theme,
        question: [&str; 2],
        symptoms: &[&str],
        names: &[&str],
    ) -> Card {
        let lower = |texts: &[&str]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        Card {
            id: id.into(),
            question: Text::new(question[0], question[1]),
            theme,
            minutes: 3,
            eras: vec![Generation::Classic],
            rooms: Vec::new(),
            texts: [lower(&question), lower(symptoms), lower(names)],
        }
    }

    fn shelf() -> Shelf {
        Shelf {
            cards: vec![
                card(
                    "a",
                    Theme::Queue,
                    ["What is a relist?", "什么是 relist？"],
                    &["queue grows"],
                    &["Pop"],
                ),
                card(
                    "b",
                    Theme::Faults,
                    ["My log says “too old”.", "日志提示“too old”。"],
                    &["relist", "too old resource version"],
                    &["resourceVersion"],
                ),
                card(
                    "c",
                    Theme::Faults,
                    ["Why is the object stale?", "对象为什么是旧的？"],
                    &["resource version is too old", "does not grow"],
                    &["relist"],
                ),
            ],
            others: vec![Other::of(
                "rec-1".into(),
                Text::new("Recorded: a relist", "录制：relist"),
                "It sleeps",
            )],
        }
    }

    #[test]
    fn a_search_takes_all_words_in_any_case_and_order_else_most_of_them_and_ranks_where_it_finds_them()
     {
        for (query, cards, others) in [
            ("", vec!["a", "b", "c"], 1),
            ("RELIST", vec!["b", "a", "c"], 1),
            ("  old   too ", vec!["b", "c"], 0),
            ("too old resource version", vec!["b", "c"], 0),
            ("grow", vec!["c", "a"], 0),
            ("旧", vec!["c"], 0),
            ("relist pop", vec!["a"], 0),
            ("recorded", vec![], 1),
            ("sleeps", vec![], 1),
            ("nothing", vec![], 0),
            ("what grows old?", vec!["a"], 0),
            ("grows nothing", vec!["a"], 0),
            ("是旧的吗", vec!["c"], 0),
            ("吗", vec![], 0),
        ] {
            let found = shelf().find(query);
            assert_eq!(ids(&found.cards), cards, "{query:?}");
            assert_eq!(found.others.len(), others, "{query:?}");
        }
    }

    #[test]
    fn a_search_finds_what_a_card_says_in_either_language() {
        let (_, story) = lessons::stories().remove(0);
        let question = Text::new("Ärger with a Relist", "Ärger：Relist");
        let shelf = Shelf {
            cards: vec![Card::of(
                "id".into(),
                question,
                &Story::read(&story).unwrap(),
            )],
            ..shelf()
        };
        for query in ["Ärger with", "Ärger：relist", "RELIST", "ID"] {
            assert_eq!(ids(&shelf.find(query).cards), ["id"], "{query:?}");
        }
    }

    #[test]
    fn who_asks_what_changed_in_client_go_finds_the_lesson_that_tells_it_first() {
        let shelf = Shelf::library();
        for query in [
            "1.36",
            "0.36",
            "client-go 1.36",
            "client-go 0.36",
            "1.32 1.36",
            "0.32 vs 0.36",
            "changed",
            "what changed",
            "What changed between client-go 1.32 and 1.36?",
            "what changed from 1.32 to 1.36",
            "versions",
            "difference between 0.32 and 0.36",
            "upgrade to 1.36",
            "区别",
            "变化",
            "版本",
            "client-go 1.32 和 1.36 的区别",
            "1.32和1.36有什么区别",
            "版本之间有什么变化",
        ] {
            let found = shelf.find(query);
            let first = ids(&found.cards).first().copied();
            assert_eq!(first, Some("half-old-half-new"), "{query:?}");
        }
        for (query, id) in [
            ("resync api server", "resync-is-not-relist"),
            ("too old resource version", "gone-410"),
        ] {
            assert_eq!(ids(&shelf.find(query).cards)[0], id, "{query:?}");
        }
    }

    #[test]
    fn a_word_of_the_glossary_or_of_client_go_leads_somewhere_and_says_what_it_is() {
        let shelf = Shelf::library();
        for term in &terms::TERMS {
            for lang in [Lang::En, Lang::Zh] {
                let found = shelf.find(&term.name(lang).to_uppercase());
                assert_eq!(found.term, Some(term));
                assert!(!found.cards.is_empty(), "{}", term.name(lang));
            }
        }
        for (query, id) in [
            ("RealFIFO", "realfifo"),
            ("1.34", "realfifo"),
            ("client-go 0.34", "realfifo"),
            ("哪种队列", "realfifo"),
            ("HasSynced", "late-handler"),
            ("WaitForCacheSync", "late-handler"),
            ("reconnect", "gone-410"),
            ("重连", "gone-410"),
        ] {
            assert_eq!(ids(&shelf.find(query).cards)[0], id, "{query:?}");
        }
        let others = shelf.find("WaitForCacheSync").others;
        assert_eq!(&*others[0].id, "sharedinformerfactory");
    }

    #[test]
    fn one_version_in_a_search_is_the_one_that_is_meant() {
        for (query, era) in [
            ("client-go 0.34", Some(Generation::InOrder)),
            ("client-go v0.33.2.", Some(Generation::InOrder)),
            ("RealFIFO", Some(Generation::InOrder)),
            ("RealFIFO 1.36", Some(Generation::Atomic)),
            ("RealFIFO 1.34 1.36", None),
            ("0.36 = 1.36", Some(Generation::Atomic)),
            ("1.32 and 1.36", None),
            ("2.36 of 10.36", None),
            ("0.34.x", Some(Generation::InOrder)),
            ("1.36版本", Some(Generation::Atomic)),
            ("go 1.22", None),
            ("client-go 0.34 with Go1.22", Some(Generation::InOrder)),
            ("0.5 s", None),
            ("1.36s", None),
            ("1.365 s", None),
            ("Waited for 1.049358s due to client-side throttling", None),
            ("relist", None),
        ] {
            assert_eq!(Shelf::library().find(query).era, era, "{query:?}");
        }
        let found = Shelf::library().find("client-go 0.34").cards;
        let runs = |card: &Card| card.eras.contains(&Generation::InOrder);
        assert!(found.len() > 3 && found.iter().all(runs));
        assert_eq!(Shelf::library().find("client-go 0.33.1").cards, found);
    }

    #[test]
    fn after_a_lesson_comes_the_next_of_its_course_or_theme_that_is_not_done() {
        let shelf = shelf();
        let next = |after: &str, done: &[&str]| {
            let card = shelf.next(after, None, |id| done.contains(&id));
            card.map(|card| card.id.to_string())
        };
        assert_eq!(next("b", &[]).as_deref(), Some("c"), "of its theme");
        assert_eq!(next("c", &[]).as_deref(), Some("b"), "left out before");
        assert_eq!(next("c", &["b"]).as_deref(), Some("a"), "of the shelf");
        assert_eq!(next("a", &["b", "c"]), None, "all are done");
        assert_eq!(next("sandbox", &["a"]).as_deref(), Some("b"));
    }
}
