//! A lesson's story for paper: what stands on it, and its HTML.

use std::fmt::Write as _;
use std::rc::Rc;

use crate::story::words::{Piece, pieces};
use crate::story::{Answer, Goal, Kind, Question, Scene, Story};
use crate::strings::{self, story as said, strings};
use crate::svg::escape;
use deltascope_cache::controller::Generation;
use deltascope_world::text::{Lang, Text};

/// The width of a picture in px: that of the text on A4, with margins of 15 mm.
pub const WIDTH: u32 = 680;

/// A lesson's story for paper.
#[derive(Clone, Debug)]
pub struct Handout {
    /// The lesson's title.
    pub title: Text,
    /// The generation that the pictures show.
    pub generation: Generation,
    /// The story.
    pub story: Rc<Story>,
    /// What the run has for each scene.
    pub sheets: Vec<Sheet>,
}

/// What the run has for a scene.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Its lit rooms at its moment, as SVG; `None` if the run does not come to it.
    pub picture: Option<String>,
    /// The right answer to its question.
    pub right: Option<Answer>,
    /// Why it is right.
    pub because: Option<Text>,
}

/// What stands on paper. All texts in it are escaped.
#[must_use]
pub fn html(handout: &Handout, lang: Lang) -> String {
    let (words, story) = (strings(lang), &*handout.story);
    let mut out = Out(String::new());
    out.raw("<header>");
    let about = said::about(lang, story.theme, story.minutes, handout.generation);
    out.text("p", "about", &about);
    out.text("h1", "", handout.title.get(lang));
    out.raw("</header>");
    let scenes = story.scenes.iter().zip(&handout.sheets).enumerate();
    for (number, (scene, sheet)) in scenes.clone() {
        out.raw("<section class=\"scene\">");
        out.text("h2", "", &(number + 1).to_string());
        out.words("p", "words", scene.say.get(lang));
        if let Some(picture) = &sheet.picture {
            out.picture(picture, &rooms(scene, lang));
        }
        if let Some(asked) = &scene.ask {
            out.question(asked, lang);
        }
        out.raw("</section>");
    }
    if let Some(goal) = &story.goal {
        out.raw("<section class=\"aim\">");
        out.words("p", "", goal.text.get(lang));
        out.raw("</section>");
    }
    if let Some(code) = &story.code {
        out.raw("<section>");
        out.text("h2", "", words.story_code);
        out.words("p", "", code.say.get(lang));
        for (title, code) in [
            (words.story_wrong, &code.wrong),
            (words.story_right, &code.right),
        ] {
            out.raw("<figure>");
            out.text("figcaption", "", title);
            out.code(code);
            out.raw("</figure>");
        }
        out.raw("</section>");
    }
    if !story.sources.is_empty() {
        out.raw("<section class=\"from\">");
        out.text("h2", "", words.story_sources);
        for source in &story.sources {
            out.text("p", "", &source.title);
            out.text("p", "address", &source.url);
        }
        out.raw("</section>");
    }
    let answered =
        scenes.filter_map(|(number, (scene, sheet))| Some((number, scene.ask.as_ref()?, sheet)));
    let answered: Vec<_> = answered.collect();
    let goal = story.goal.as_ref().filter(|goal| !goal.hints.is_empty());
    if answered.is_empty() && goal.is_none() {
        return out.0;
    }
    out.raw("<section class=\"solved\">");
    out.text("h2", "", words.handout_answers);
    for (number, asked, sheet) in answered {
        out.answers(number, asked, sheet, lang);
    }
    if let Some(goal) = goal {
        out.way(goal, lang);
    }
    out.raw("</section>");
    out.0
}

fn rooms(scene: &Scene, lang: Lang) -> String {
    let names: Vec<&str> = scene
        .rooms
        .iter()
        .map(|one| strings::room(lang, *one))
        .collect();
    names.join(" · ")
}

/// HTML, as it is written.
struct Out(String);

impl Out {
    fn raw(&mut self, html: &str) {
        self.0.push_str(html);
    }

    fn open(&mut self, tag: &str, class: &str) {
        // A `String` takes all that is written.
        let _ = match class {
            "" => write!(self.0, "<{tag}>"),
            class => write!(self.0, "<{tag} class=\"{class}\">"),
        };
    }

    fn close(&mut self, tag: &str) {
        let _ = write!(self.0, "</{tag}>");
    }

    fn text(&mut self, tag: &str, class: &str, text: &str) {
        self.open(tag, class);
        escape(text, &mut self.0);
        self.close(tag);
    }

    /// A text with its marks.
    fn words(&mut self, tag: &str, class: &str, text: &str) {
        self.open(tag, class);
        for piece in pieces(text) {
            match piece {
                Piece::Plain(text) => escape(text, &mut self.0),
                Piece::Term(text) => self.text("b", "", text),
                Piece::Emphasis(text) => self.text("em", "", text),
                Piece::Code(text) => self.text("code", "", text),
            }
        }
        self.close(tag);
    }

    fn list(&mut self, items: impl Iterator<Item = String>) {
        self.raw("<ul>");
        for item in items {
            self.text("li", "", &item);
        }
        self.raw("</ul>");
    }

    fn code(&mut self, code: &str) {
        self.open("pre", "");
        for line in code.lines() {
            escape(&line.replace('\t', "    "), &mut self.0);
            self.0.push('\n');
        }
        self.close("pre");
    }

    /// A picture as an image: no page cuts it, and its styles stay in it.
    fn picture(&mut self, svg: &str, rooms: &str) {
        self.raw("<img alt=\"");
        escape(rooms, &mut self.0);
        self.raw("\" src=\"data:image/svg+xml,");
        for letter in svg.chars() {
            match letter {
                '%' => self.0.push_str("%25"),
                '#' => self.0.push_str("%23"),
                '"' => self.0.push('\''),
                '&' => self.0.push_str("%26"),
                '<' => self.0.push_str("%3C"),
                '>' => self.0.push_str("%3E"),
                '\'' => self.0.push_str("%27"),
                '\n' => self.0.push_str("%0A"),
                letter => self.0.push(letter),
            }
        }
        self.raw("\">");
    }

    /// A question, with room for the answer.
    fn question(&mut self, asked: &Question, lang: Lang) {
        self.raw("<div class=\"ask\">");
        self.words("h3", "", asked.text.get(lang));
        match &asked.kind {
            Kind::Number { .. } => self.raw("<p class=\"write\"></p>"),
            Kind::Choice(_) | Kind::Place { .. } => {
                let labels = asked.kind.labels();
                let answers = asked.kind.answers();
                self.list(answers.iter().map(|one| said::answer(lang, &labels, one)));
            }
            Kind::Order { .. } => {
                let labels = asked.kind.labels();
                self.list(labels.iter().map(|one| one.get(lang).to_owned()));
            }
        }
        self.raw("</div>");
    }

    /// The right answer and why it is right, and what is wrong with the others.
    fn answers(&mut self, number: usize, asked: &Question, sheet: &Sheet, lang: Lang) {
        let right = sheet.right.as_ref();
        self.raw("<div class=\"solution\">");
        let question = format!("{} · {}", number + 1, asked.text.get(lang));
        self.words("h3", "", &question);
        let labels = asked.kind.labels();
        let say = |answer: &Answer| said::answer(lang, &labels, answer);
        let right_one = right.map(say);
        let said = right_one.as_deref();
        self.text(
            "p",
            "right",
            said.unwrap_or(strings(lang).handout_undecided),
        );
        if let Some(because) = sheet.because.as_ref().filter(|_| right.is_some()) {
            self.words("p", "because", because.get(lang));
        }
        let answers = asked.kind.answers();
        for wrong in answers.iter().filter(|one| Some(*one) != right) {
            let Some(belief) = asked.belief(wrong) else {
                continue;
            };
            let belief = belief.get(lang);
            match wrong {
                // The same for any other order.
                Answer::Order(_) => self.words("p", "belief", belief),
                Answer::Choice(_) | Answer::Number(_) | Answer::Place(_) => {
                    let line = format!("*{}* – {belief}", say(wrong));
                    self.words("p", "belief", &line);
                }
            }
        }
        self.raw("</div>");
    }

    /// How a goal is reached, and what to take from it.
    fn way(&mut self, goal: &Goal, lang: Lang) {
        self.raw("<div class=\"solution\">");
        self.words("h3", "", goal.text.get(lang));
        for hint in &goal.hints {
            self.words("p", "", hint.get(lang));
        }
        if let Some(done) = &goal.done {
            self.words("p", "because", done.get(lang));
        }
        self.raw("</div>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, Export, Tell};
    use crate::session::Session;
    use deltascope_replay::lessons::{self, Lesson};
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// The handout of a lesson in which a session has done something already.
    fn of(lesson: Lesson, lang: Lang) -> String {
        let mut session = Session::empty();
        session.open(lesson);
        session.obey(Command::CutWatch);
        session.obey(Command::Step(5));
        let step = session.playback().cursor();
        let html = session.export(Export::Handout(lang)).unwrap();
        assert_eq!(
            session.playback().cursor(),
            step,
            "the run that is shown stays"
        );
        html
    }

    fn with(change: impl FnOnce(&mut Value)) -> Lesson {
        let mut lesson = lessons::load("first-look").unwrap();
        let mut story = Value::clone(lesson.story.as_ref().unwrap());
        change(&mut story);
        lesson.story = Some(Arc::new(story));
        lesson
    }

    fn place(html: &str, text: &str) -> usize {
        html.find(text)
            .unwrap_or_else(|| unreachable!("no {text:?} in {html}"))
    }

    #[test]
    fn every_story_stands_on_paper_with_its_answers_at_the_end() {
        let lessons = lessons::menu()
            .into_iter()
            .map(|(id, _)| lessons::load(&id).unwrap());
        let mut stories = 0;
        for lesson in lessons {
            let Some(value) = lesson.story.clone() else {
                continue;
            };
            let story = Story::read(&value).unwrap();
            stories += 1;
            for lang in [Lang::En, Lang::Zh] {
                let html = of(lesson.clone(), lang);
                let (before, after) = html.split_once("<section class=\"solved\">").unwrap();
                assert_eq!(
                    before.matches("<img ").count(),
                    story.scenes.len(),
                    "{}",
                    lesson.id
                );
                let asked = story.scenes.iter().filter_map(|scene| scene.ask.as_ref());
                assert_eq!(
                    before.matches("class=\"ask\"").count(),
                    asked.clone().count()
                );
                assert_eq!(after.matches("class=\"right\"").count(), asked.count());
                assert!(
                    !after.contains(strings(lang).handout_undecided),
                    "{}",
                    lesson.id
                );
                assert!(!before.contains("class=\"belief\""));
                for source in &story.sources {
                    assert!(before.contains(&*source.url), "{}", source.url);
                }
            }
        }
        assert!(stories > 0);
    }

    #[test]
    fn the_answers_are_those_of_the_run_with_the_beliefs_behind_the_others() {
        let html = of(with(|_| {}), Lang::En);
        let (before, after) = html.split_once("<section class=\"solved\">").unwrap();
        let asked = "How many times will your handler be called?";
        assert!(before.contains(asked));
        for choice in ["1 time", "2 times", "3 times"] {
            assert!(before.contains(&format!("<li>{choice}<")), "{choice}");
        }
        let right = place(after, "<p class=\"right\">3 times</p>");
        assert!(place(after, asked) < right);
        // The lesson's own words, so that a better sentence there is no failure here.
        let lesson = lessons::load("first-look").unwrap();
        let belief = &lesson.story.as_ref().unwrap()["scenes"][3]["ask"]["choices"][0]["belief"];
        let belief = format!(
            "<em>1 time</em> – You may think: “{}”",
            belief["en"].as_str().unwrap()
        );
        assert!(right < place(after, &belief));
        let because = &lesson.story.as_ref().unwrap()["scenes"][3]["ask"]["because"];
        let because = format!(
            "<p class=\"because\">{}</p>",
            because["en"].as_str().unwrap()
        );
        assert!(right < place(after, &because) && !before.contains(&because));
        assert!(!after.contains("<em>3 times</em>"));
        // The goal is before the answers, the way to it among them.
        let goal = "your handler receives something that is not a Pod";
        assert!(before.contains(goal) && after.contains(goal));
        assert!(!before.contains("forget its history") && after.contains("forget its history"));
    }

    #[test]
    fn each_kind_of_question_has_room_for_its_answer_and_each_text_is_escaped() {
        let text = |en: &str| json!({"en": en, "zh": en});
        let lesson = Lesson {
            title: Text::new("<b>Why & \"how\"?", ""),
            ..with(|story| {
                story["scenes"][3]["ask"] = json!({
                    "kind": "number", "text": text("How many?"),
                    "answer": {"fact": "call=any key=default/web-0"},
                    "beliefs": [{"is": 1, "say": text("Only one.")}],
                });
                story["scenes"][1]["ask"] = json!({
                    "kind": "place", "text": text("Where?"), "answer": {"fact": "fact=DeltaAppended"},
                    "until": "queued", "rooms": ["queue", "indexer"],
                    "beliefs": [{"room": "indexer", "say": text("Not yet.")}],
                });
                story["scenes"][2]["ask"] = json!({
                    "kind": "order", "text": text("In which order?"), "until": "called",
                    "items": [
                        {"say": text("called"), "fact": "call=OnAdd"},
                        {"say": text("stored"), "fact": "fact=ItemStored"},
                    ],
                    "belief": text("Too early."),
                });
                story["code"] =
                    json!({"say": text("Look."), "wrong": "if a < b {\n\tc()\n}", "right": "d()"});
            })
        };
        let html = of(lesson, Lang::En);
        place(&html, "&lt;b&gt;Why &amp; &quot;how&quot;?</h1>");
        place(&html, "How many?</h3><p class=\"write\"></p>");
        place(
            &html,
            "<p class=\"right\">3</p><p class=\"belief\"><em>1</em> – You may think: “Only one.”</p>",
        );
        place(&html, "<li>Indexer</li>");
        place(
            &html,
            "<p class=\"right\">Queue</p><p class=\"belief\"><em>Indexer</em> – You may think: “Not yet.”</p>",
        );
        place(
            &html,
            "<p class=\"right\">stored → called</p><p class=\"belief\">You may think: “Too early.”</p>",
        );
        place(&html, "<pre>if a &lt; b {\n    c()\n}\n</pre>");
    }

    #[test]
    fn a_link_opens_it_and_closing_it_leads_back_to_the_scene() {
        let mut session = Session::new();
        let shown = |session: &mut Session| {
            let story = session.view().story.unwrap();
            let link = session.export(Export::Link).unwrap();
            assert_eq!(link.ends_with(";handout"), story.handout, "{link}");
            (story.handout, story.index)
        };
        session.obey(Command::OpenLink("#v1;lesson=first-look;handout".into()));
        assert_eq!(shown(&mut session), (true, 0));
        session.obey(Command::OpenLink(
            "#v1;lesson=first-look;scene=3;handout".into(),
        ));
        assert_eq!(shown(&mut session), (true, 2));
        session.obey(Command::Tell(Tell::Handout(false)));
        assert_eq!(shown(&mut session), (false, 2));
        session.obey(Command::OpenLink("#v1;lesson=sandbox;handout".into()));
        let view = session.view();
        assert!(view.story.is_none() && view.notice.is_some());
    }

    #[test]
    fn a_lesson_without_a_story_says_so() {
        let mut session = Session::new();
        assert!(session.export(Export::Handout(Lang::En)).is_err());
    }
}
