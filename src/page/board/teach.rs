//! The page for a teacher: what to ask in each lesson of a course, what is usually answered, what to show then. It
//! prints.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::layout::Layout;
use super::links::{follow, link_to, open, read_to, scroller, story_link};
use super::parts::{Text, part, shown, text};
use super::terms::words;
use crate::ui::{Taken, Ui};
use deltascope_presentation::shelf::notes::{AskedNote, Notes};
use deltascope_presentation::shelf::{Card, Course, Shelf};
use deltascope_presentation::strings::shelf as said;
use deltascope_world::text::{Lang, Text as Words};

/// The notes of a course.
pub(super) fn notes(ui: Ui, course: Course, shelf: &Shelf) -> AnyView {
    let cards: Vec<Card> = shelf.course(course).into_iter().cloned().collect();
    let length: u32 = cards.iter().map(|card| card.minutes).sum();
    let count = cards.len();
    let layout = Layout::get();
    let first = StoredValue::new(
        cards
            .first()
            .map(|card| story_link(Some(course), &card.id, 1)),
    );
    let known = RwSignal::new(Vec::new());
    spawn_local(async move {
        for card in cards {
            // Each lesson is played; the page stays alive in between.
            TimeoutFuture::new(0).await;
            let notes = Notes::of(&card);
            if known.try_update(|known| known.extend(notes)).is_none() {
                return;
            }
        }
        leptos::task::tick().await;
        // Whoever has begun to read is not moved.
        let scroller = scroller(ui).filter(|of| of.scroll_top() == 0);
        if let Some((top, scroller)) = read_to(ui).zip(scroller) {
            scroller.set_scroll_top(top);
        }
    });
    view! {
        <article class="notes" data-testid="notes">
            <div class="shelf-head">
                <h2>
                    {course_name(ui, course)}
                    " · "
                    {ui.word(|words| words.teach)}
                </h2>
                <button class="btn" data-testid="teach-back" on:click=move |_| ui.change_lessons(|lessons| {
                    lessons.taken = Some(Taken { course, teaches: false });
                })>
                    {ui.word(|words| words.teach_back)}
                </button>
                {shown(move || !layout.narrow.get(), move || view! {
                    <button
                        class="btn"
                        data-testid="teach-present"
                        on:click=move |_| {
                            if let Some(first) = first.get_value() {
                                layout.presenter.next.set(true);
                                open(ui, &first);
                            }
                        }
                    >
                        {ui.word(|words| words.present)}
                    </button>
                })}
                <button
                    class="btn go"
                    data-testid="teach-print"
                    on:click=move |_| {
                        let _ = window().print();
                    }
                >
                    {ui.word(|words| words.teach_print)}
                </button>
            </div>
            {link_to(ui)}
            <p class="course-about">
                {text(move || said::course(ui.lang.get(), count, length, 0))}
                <br/>
                {ui.word(|words| words.teach_about)}
            </p>
            {part(move || {
                let lang = ui.lang.get();
                let all = known.get();
                let all = all.iter().zip(1..).map(|(notes, number)| lesson(ui, course, notes, number, lang));
                all.collect_view()
            })}
        </article>
    }
    .into_any()
}

fn lesson(ui: Ui, course: Course, notes: &Notes, number: usize, lang: Lang) -> AnyView {
    let card = &notes.card;
    let first = story_link(Some(course), &card.id, 1);
    let to_first = first.clone();
    // What was to be shown last is said there.
    let shown = notes.asked.iter().map(|one| Some(one.show.as_ref()?.0));
    let shown = std::iter::once(None).chain(shown);
    let asked = notes.asked.iter().zip(shown).map(|(one, shown)| {
        let lead = (shown != Some(one.scene)).then_some(&one.say);
        question(ui, course, &card.id, one, lead, lang)
    });
    let goal = notes.goal.as_ref().map(|(goal, hints)| {
        let hints = hints
            .iter()
            .map(|hint| view! { <li>{words(hint, lang)}</li> });
        view! {
            <dl class="told-of">
                <dt>{ui.word(|words| words.teach_goal)}</dt>
                <dd>
                    {words(goal, lang)}
                    <ol class="hints">{hints.collect_view()}</ol>
                </dd>
            </dl>
        }
    });
    view! {
        <section class="notes-of">
            <h3>
                <span class="number">{number.to_string()}</span>
                <a href=first on:click=move |event| follow(ui, &event, &to_first)>{card.question.get(lang).to_owned()}</a>
                <span class="length">{said::minutes(lang, card.minutes)}</span>
            </h3>
            {asked.collect_view()}
            {goal}
        </section>
    }
    .into_any()
}

fn question(
    ui: Ui,
    course: Course,
    lesson: &str,
    note: &AskedNote,
    lead: Option<&Words>,
    lang: Lang,
) -> AnyView {
    let link = |scene: usize| {
        let link = story_link(Some(course), lesson, scene);
        let to = link.clone();
        view! {
            <a class="scene" href=link on:click=move |event| follow(ui, &event, &to)>
                {said::scene(lang, scene)}
            </a>
        }
    };
    let usual = note.usual.iter().map(|(answer, belief)| {
        view! {
            <li>
                <b>{answer.get(lang).to_owned()}</b>
                {words(belief, lang)}
            </li>
        }
    });
    view! {
        {lead.map(|lead| view! { <div class="situation">{words(lead, lang)}</div> })}
        <dl class="told-of">
            <dt>{ui.word(|words| words.teach_ask)}</dt>
            <dd class="ask">
                {words(&note.ask, lang)}
                {link(note.scene)}
            </dd>
            <dt>{ui.word(|words| words.teach_usual)}</dt>
            <dd>
                <ul>{usual.collect_view()}</ul>
            </dd>
            <dt>{ui.word(|words| words.teach_right)}</dt>
            <dd>
                <b>{note.right.as_ref().map(|right| right.get(lang).to_owned())}</b>
                {note.because.as_ref().map(|because| words(because, lang))}
            </dd>
            {note.show.as_ref().map(|(scene, say)| view! {
                <dt>{ui.word(|words| words.teach_show)}</dt>
                <dd>
                    {words(say, lang)}
                    {link(*scene)}
                </dd>
            })}
        </dl>
    }
    .into_any()
}

/// A course's name.
pub(super) fn course_name(ui: Ui, course: Course) -> Text {
    match course {
        Course::Short => ui.word(|words| words.shelf_short),
        Course::Long => ui.word(|words| words.shelf_long),
    }
}
