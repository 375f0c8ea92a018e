//! The shelf, in the place of the stage: courses, a search, a card for each story, and everything else.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use super::layout::Layout;
use super::links::{follow, lesson_link, link_to, open, read_to, scroller, story_in, story_link};
use super::parts::{Live, drawn, focus, shown, text};
use super::teach::{self, course_name};
use crate::memo::{Memo, effect, effect_after};
use crate::ui::{
    Browse, OFF, ON, PROGRESS, SHELF, Shelved, Taken, Ui, forget, remember, remembered,
};
use deltascope_cache::controller::Generation;
use deltascope_presentation::shelf::progress::{Progress, Told};
use deltascope_presentation::shelf::{self as library, Card, Course, Found, Other};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::story::Theme;
use deltascope_presentation::strings::story::client_go;
use deltascope_presentation::strings::{room, shelf as said};
use deltascope_replay::lessons::is_known;
use deltascope_world::text::Lang;

const CARDS: &str = ".shelf a.card, .shelf .other";
const NEXT: &str = ".shelf a.card.next";
const SEARCH: &str = ".shelf input[type=search]";

/// From now on it is remembered how far each lesson is told.
pub(super) fn keep_progress(ui: Ui) {
    let now = ui.memo(|view| {
        let story = view.story.as_ref()?;
        let told = Told {
            opened: true,
            ended: story.index + 1 == story.of && !story.plays,
            reached: story.goal.as_ref().is_some_and(|goal| goal.reached),
        };
        Some((Arc::clone(&view.lesson.id), told))
    });
    effect(move || {
        let Some((lesson, told)) = now.get() else {
            return;
        };
        let mut progress = ui.progress.get_untracked();
        if progress.add(&lesson, told) {
            // Another tab may have added to it.
            progress.merge(&Progress::read(&remembered(PROGRESS).unwrap_or_default()));
            ui.kept.set(remember(PROGRESS, &progress.write()));
            ui.progress.set(progress);
        }
    });
}

/// Shows the shelf, or the stage again.
pub(super) fn toggle(ui: Ui) {
    if untrack(|| ui.shows_lessons()) {
        return ui.show_stage();
    }
    let taken = ui.shelf.with_untracked(Shelved::taken);
    ui.show_shelf(Shelved::Lessons(Browse {
        taken: taken.map(|taken| Taken {
            teaches: false,
            ..taken
        }),
        ..Browse::default()
    }));
}

/// What to take after the lesson that is open.
pub(super) fn next(ui: Ui, lesson: &str) -> Option<Card> {
    let taken = ui.shelf.with_untracked(Shelved::taken);
    let ended = |id: &str| ui.progress.with_untracked(|told| told.of(id).ended);
    library::Shelf::library()
        .next(lesson, taken.map(|taken| taken.course), ended)
        .cloned()
}

/// A key while the shelf is shown.
pub(super) fn on_key(ui: Ui, event: &KeyboardEvent) {
    let host = ui.host();
    let active = host.active_element();
    let types = active.as_ref().is_some_and(|one| one.tag_name() == "INPUT");
    let key = event.key();
    let to = match &*key {
        "Escape" => {
            event.prevent_default();
            ui.show_stage();
            return focus(host.find(".to-shelf"));
        }
        "/" if !types => host.find(SEARCH),
        "ArrowLeft" | "ArrowRight" if types => None,
        "ArrowDown" | "ArrowUp" | "ArrowLeft" | "ArrowRight" => {
            let found = host.find_all(CARDS);
            let cards: Vec<HtmlElement> = found
                .into_iter()
                .flat_map(|found| (0..found.length()).filter_map(move |at| found.get(at)))
                .filter_map(|card| card.dyn_into().ok())
                .collect();
            let at = cards
                .iter()
                .position(|card| active.as_ref().is_some_and(|one| **card == *one));
            let to = match at {
                Some(at) => beside(&cards, at, &key),
                None => cards.first(),
            };
            to.map(|card| card.clone().into())
        }
        _ => return,
    };
    if to.is_some() {
        event.prevent_default();
        focus(to);
    }
}

/// The card to which an arrow key leads.
fn beside<'a>(cards: &'a [HtmlElement], at: usize, key: &str) -> Option<&'a HtmlElement> {
    let place = |card: &HtmlElement| {
        let rect = card.get_bounding_client_rect();
        (rect.x(), rect.y())
    };
    let (x, y) = place(cards.get(at)?);
    // In another row, the nearest row first, then the nearest card in it.
    let row = |is_there: fn(f64) -> bool| {
        let others = cards.iter().map(|card| (card, place(card)));
        let others = others.filter(|(_, (_, top))| is_there(top - y));
        others
            .min_by(|(_, one), (_, other)| {
                let far = |(left, top): &(f64, f64)| ((top - y).abs(), (left - x).abs());
                far(one)
                    .partial_cmp(&far(other))
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
            .map(|(card, _)| card)
    };
    match key {
        "ArrowRight" => cards.get(at + 1),
        "ArrowLeft" => cards.get(at.checked_sub(1)?),
        "ArrowDown" => row(|below| below > 1.0),
        _ => row(|below| below < -1.0),
    }
}

#[component]
pub(super) fn Shelf() -> impl IntoView {
    let ui = Ui::get();
    let all = Arc::new(library::Shelf::library());
    let taken = move || ui.shelf.with(Shelved::taken);
    let course = Memo::new(move |_| Some(taken()?.course));
    let teaches = Memo::new(move |_| taken().is_some_and(|taken| taken.teaches));
    let query = Memo::new(move |_| {
        ui.shelf.with(|shelf| {
            shelf
                .lessons()
                .map(|lessons| lessons.query.clone())
                .unwrap_or_default()
        })
    });
    let lesson = ui.memo(|view| Arc::clone(&view.lesson.id));
    // The lesson that is open has been told to its end.
    let next_one = Memo::new(move |_| {
        let lesson = lesson.get();
        let ended = ui.progress.with(|told| told.of(&lesson).ended);
        let next = if ended { next(ui, &lesson) } else { None };
        next.map(|card| card.id)
    });
    let narrow = Layout::get().narrow;
    effect_after(move |before: Option<()>| {
        course.track();
        teaches.track();
        // Effects run after the current task: the shelf is in the page.
        let Some(scroller) = scroller(ui) else {
            return;
        };
        // Where it was left, or what is pointed at; anything else begins at the top. Notes come later.
        let left = if teaches.get() { None } else { read_to(ui) };
        scroller.set_scroll_top(left.unwrap_or_default());
        if left.is_none() && before.is_none() {
            match narrow.get_untracked() {
                // Else title, search and courses would be above the screen.
                true => ui.host().focus_still(NEXT),
                false => focus(ui.host().find(NEXT)),
            }
        }
    });
    let (courses, cards) = (Arc::clone(&all), all);
    view! {
        <section
            class="shelf"
            data-testid="shelf"
            role="main"
            aria-label=ui.word(|words| words.shelf)
        >
            {shown(move || !teaches.get(), {
                let (courses, cards) = (Arc::clone(&courses), Arc::clone(&cards));
                move || view! {
                    <div class="shelf-head">
                        <h2>{ui.word(|words| words.shelf)}</h2>
                        <input
                            type="search"
                            data-testid="shelf-search"
                            aria-label=ui.word(|words| words.shelf_search)
                            placeholder=ui.word(|words| words.shelf_search)
                            prop:value=text(move || query.get())
                            on:input=move |event| {
                                let query = event_target_value(&event);
                                ui.change_lessons(|lessons| lessons.query = query);
                            }
                        />
                        <span class="found" role="status" data-testid="shelf-found">
                            {found_text(ui, query, Arc::clone(&cards))}
                        </span>
                        {link_to(ui)}
                    </div>
                    {course_row(ui, course, query, Arc::clone(&courses))}
                    {card_list(ui, course, query, next_one, Arc::clone(&cards))}
                    {foot(ui)}
                }
            })}
            {drawn(
                move || course.get().filter(|_| teaches.get()),
                move |course| course.map(|course| teach::notes(ui, course, &courses)),
            )}
        </section>
    }
}

fn found_text(ui: Ui, query: Memo<String>, all: Arc<library::Shelf>) -> super::parts::Text {
    text(move || {
        let query = query.get();
        if query.trim().is_empty() {
            return String::new();
        }
        let found = all.find(&query);
        said::found(ui.lang.get(), found.cards.len() + found.others.len())
    })
}

fn course_row(
    ui: Ui,
    course: Memo<Option<Course>>,
    query: Memo<String>,
    all: Arc<library::Shelf>,
) -> Live<AnyView> {
    drawn(
        move || {
            (
                course.get(),
                query.with(|query| query.trim().is_empty()),
                ui.lang.get(),
                ui.progress.get(),
            )
        },
        move |(course, is_empty, lang, told)| {
            if !is_empty {
                return ().into_any();
            }
            let rows = Course::ALL
                .into_iter()
                .filter(|one| course.is_none_or(|course| course == *one));
            let rows = rows.map(|one| course_card(ui, one, course.is_some(), &all, *lang, told));
            view! { <div class="courses" role="group" aria-label=ui.word(|words| words.shelf_courses)>{rows.collect_view()}</div> }
                .into_any()
        },
    )
}

fn course_card(
    ui: Ui,
    course: Course,
    is_shown: bool,
    all: &library::Shelf,
    lang: Lang,
    told: &Progress,
) -> AnyView {
    let cards = all.course(course);
    if cards.is_empty() {
        return ().into_any();
    }
    let is_done = |card: &&&Card| told.of(&card.id).ended;
    let done = cards.iter().filter(is_done).count();
    let length = cards.iter().map(|card| card.minutes).sum();
    let about = said::course(lang, cards.len(), length, done);
    let go_on = cards.iter().find(|card| !is_done(card)).or(cards.first());
    let go_on = go_on.map(|card| Arc::clone(&card.id));
    let take = move |taken| ui.change_lessons(|lessons| lessons.taken = taken);
    let [learn, teach] = [false, true].map(|teaches| Some(Taken { course, teaches }));
    let id = course.id();
    view! {
        <div class="course" class:shown=is_shown>
            <div class="what-it-is">
                <h3>
                    {if is_shown {
                        course_name(ui, course).into_any()
                    } else {
                        view! {
                            <button
                                class="name"
                                data-testid=format!("course-{id}")
                                on:click=move |_| take(learn)
                            >
                                {course_name(ui, course)}
                            </button>
                        }
                        .into_any()
                    }}
                </h3>
                <p>{about}</p>
            </div>
            {is_shown.then(|| view! {
                <button class="btn" data-testid="course-close" on:click=move |_| take(None)>
                    {ui.word(|words| words.shelf_all)}
                </button>
            })}
            <button
                class="for-teacher"
                data-testid=format!("teach-{id}")
                on:click=move |_| take(teach)
            >
                {ui.word(|words| words.teach)}
            </button>
            <button
                class="btn go"
                data-testid=format!("begin-{id}")
                on:click=move |_| {
                    if let Some(lesson) = &go_on {
                        take(learn);
                        open(ui, &story_link(Some(course), lesson, 1));
                    }
                }
            >
                {if done > 0 && done < cards.len() {
                    ui.word(|words| words.shelf_go_on)
                } else {
                    ui.word(|words| words.shelf_begin)
                }}
            </button>
        </div>
    }
    .into_any()
}

fn card_list(
    ui: Ui,
    course: Memo<Option<Course>>,
    query: Memo<String>,
    next: Memo<Option<Arc<str>>>,
    all: Arc<library::Shelf>,
) -> Live<AnyView> {
    drawn(
        move || {
            (
                (course.get(), query.get(), next.get()),
                (ui.lang.get(), ui.progress.get()),
            )
        },
        move |((course, query, next), (lang, told))| {
            let draw = |in_course: Option<(Course, usize)>, era: Option<Generation>, one: &Card| {
                let is_next = next.as_ref() == Some(&one.id);
                card(ui, one, in_course, era, is_next, *lang, told.of(&one.id))
            };
            let is_search = !query.trim().is_empty();
            if let (Some(course), false) = (course, is_search) {
                let cards = all.course(*course);
                let cards = cards
                    .into_iter()
                    .zip(1..)
                    .map(|(one, at)| draw(Some((*course, at)), None, one));
                return view! { <ol class="cards">{cards.collect_view()}</ol> }.into_any();
            }
            let Found {
                cards,
                others: rest,
                term,
                era,
            } = all.find(query);
            let term = term.map(|term| {
                let (name, says) = (term.name(*lang), term.says(*lang));
                view! { <p class="term-found" data-testid="shelf-term"><b>{name}</b>" "{says}</p> }
            });
            if is_search && cards.is_empty() && rest.is_empty() && term.is_none() {
                return view! { <p class="nothing">{ui.word(|words| words.shelf_none)}</p> }
                    .into_any();
            }
            let stories = if is_search {
                let cards = cards.iter().map(|one| draw(None, era, one));
                view! { {term}<ul class="cards">{cards.collect_view()}</ul> }.into_any()
            } else {
                let themes = Theme::ALL.into_iter().filter_map(|theme| {
                    let of = cards.iter().filter(|card| card.theme == theme);
                    let of: Vec<_> = of.map(|one| draw(None, None, one)).collect();
                    (!of.is_empty()).then(|| {
                        view! {
                            <section class="theme">
                                <h3>{theme.title(*lang)}</h3>
                                <ul class="cards">{of}</ul>
                            </section>
                        }
                    })
                });
                view! { <div class="themes">{themes.collect_view()}</div> }.into_any()
            };
            let rest = (!rest.is_empty()).then(|| others(ui, &rest, *lang));
            view! { {stories}{rest} }.into_any()
        },
    )
}

fn card(
    ui: Ui,
    card: &Card,
    in_course: Option<(Course, usize)>,
    era: Option<Generation>,
    is_next: bool,
    lang: Lang,
    told: Told,
) -> AnyView {
    let id = Arc::clone(&card.id);
    let course = in_course.map(|(course, _)| course);
    // The generation that was searched for.
    let asked = era.filter(|era| card.eras.contains(era));
    let other = asked.filter(|era| card.eras.first() != Some(era));
    let link = story_in(other, course, &id, 1);
    // Nearly all are of one: what each card says says nothing.
    let own = card.eras.first().copied();
    let era = asked.or(own.filter(|era| *era != Generation::Classic));
    let era = era.map(|era| view! { <span translate="no">{client_go(era)}</span> });
    let about: Vec<&str> = card.rooms.iter().map(|one| room(lang, *one)).collect();
    let mark = match (told.reached, told.ended, told.opened) {
        (true, ..) => Some(("✓✓", ui.words().told_reached)),
        (_, true, _) => Some(("✓", ui.words().told_ended)),
        (.., true) => Some((ui.words().told_opened, ui.words().told_opened)),
        _ => None,
    };
    let mark = mark.map(|(sign, words)| {
        view! {
            <span class="so-far" title=words>
                <span aria-hidden="true">{sign}</span>
                <span class="heard">{words}</span>
            </span>
        }
    });
    view! {
        <li>
            <a
                class="card"
                class:next=is_next
                class:done=told.ended
                data-testid=format!("card-{id}")
                href=link.clone()
                on:click=move |event| follow(ui, &event, &link)
            >
                {plan(&card.rooms)}
                <span class="lit-rooms" translate="no">{about.join(" · ")}</span>
                <b class="ask">
                    {in_course.map(|(_, number)| view! { <span class="number">{number.to_string()}</span> })}
                    {card.question.get(lang).to_owned()}
                </b>
                <span class="about">
                    {is_next.then(|| view! { <span class="up-next">{ui.word(|words| words.shelf_next)}</span> })}
                    <span>{said::minutes(lang, card.minutes)}</span>
                    {era}
                    {mark}
                </span>
            </a>
        </li>
    }
    .into_any()
}

fn others(ui: Ui, rest: &[Other], lang: Lang) -> AnyView {
    let rest = rest.iter().map(|other| {
        let id = Arc::clone(&other.id);
        let link = lesson_link(&id);
        view! {
            <li>
                <a
                    class="other"
                    data-testid=format!("card-{id}")
                    href=link.clone()
                    on:click=move |event| follow(ui, &event, &link)
                >
                    {other.title.get(lang).to_owned()}
                </a>
            </li>
        }
    });
    view! {
        <section class="rest">
            <h3>{ui.word(|words| words.shelf_others)}</h3>
            <ul>{rest.collect_view()}</ul>
        </section>
    }
    .into_any()
}

fn foot(ui: Ui) -> impl IntoView {
    let first = RwSignal::new(remembered(SHELF).as_deref() != Some(OFF));
    view! {
        <div class="shelf-foot">
            <label>
                <input
                    type="checkbox"
                    data-testid="shelf-first"
                    prop:checked=move || first.get()
                    on:change=move |event| {
                        let is_on = event_target_checked(&event);
                        first.set(is_on);
                        remember(SHELF, if is_on { ON } else { OFF });
                    }
                />
                {ui.word(|words| words.shelf_first)}
            </label>
            <span class="kept">{text(move || said::kept(ui.lang.get(), ui.kept.get()).to_owned())}</span>
            <button
                class="btn"
                data-testid="shelf-forget"
                disabled=move || ui.progress.with(Progress::is_empty)
                on:click=move |_| {
                    forget(PROGRESS);
                    ui.progress.set(Progress::default());
                }
            >
                {ui.word(|words| words.shelf_forget)}
            </button>
        </div>
    }
}

/// The link to a lesson in the course that is taken, if it is one of that.
fn link_of(ui: Ui, card: &Card) -> String {
    let taken = ui.shelf.with_untracked(Shelved::taken);
    let course = taken.map(|taken| taken.course);
    let course = course.filter(|course| course.lessons().contains(&&*card.id));
    story_link(course, &card.id, 1)
}

/// In front of a class, from the end of a story: the presentation goes on with the next one. Not from one's own, to which no
/// address leads back.
pub(super) fn next_lesson(ui: Ui, done: Memo<bool>) -> AnyView {
    let lesson = ui.memo(|view| Arc::clone(&view.lesson.id));
    drawn(
        move || {
            let lesson = lesson.get();
            let next = if is_known(&lesson) {
                next(ui, &lesson)
            } else {
                None
            };
            (next, ui.lang.get())
        },
        move |(card, lang)| {
            card.as_ref().map(|card| {
                let link = link_of(ui, card);
                view! {
                    <button
                        class="btn"
                        class:go=move || done.get()
                        data-testid="next-lesson"
                        title=said::next(*lang, card.question.get(*lang))
                        on:click=move |_| {
                            open(ui, &link);
                            ui.host().focus_still(".tale");
                        }
                    >
                        {ui.word(|words| words.next_lesson)}
                    </button>
                }
            })
        },
    )
    .into_any()
}

/// Where one goes from the end of a story.
pub(super) fn more(ui: Ui) -> AnyView {
    let lesson = ui.memo(|view| Arc::clone(&view.lesson.id));
    view! {
        {drawn(
            move || (next(ui, &lesson.get()), ui.lang.get()),
            move |(card, lang)| card.as_ref().map(|card| {
                let link = link_of(ui, card);
                view! {
                    <a
                        class="next"
                        data-testid="story-next-lesson"
                        href=link.clone()
                        on:click=move |event| follow(ui, &event, &link)
                    >
                        {said::next(*lang, card.question.get(*lang))}
                    </a>
                }
            }),
        )}
        <button class="quiet" data-testid="story-lessons" on:click=move |_| toggle(ui)>
            {ui.word(|words| words.shelf_more)}
        </button>
    }
    .into_any()
}

// --- the stage in small -------------------------------------------------------------------------

/// A room as a box of the stage in small: x, y, width, height, and the things in it.
type Small = (Panel, [u8; 4], &'static str);

const STAGE: [Small; Panel::ALL.len()] = [
    (
        Panel::Api,
        [1, 1, 40, 82],
        "M8 12h26M8 21h26M8 30h26M8 50h16M8 58h20M8 66h12",
    ),
    (
        Panel::Reflector,
        [49, 1, 26, 50],
        "M56 12h12M56 21h12M56 30h12",
    ),
    (
        Panel::Queue,
        [83, 1, 62, 50],
        "M91 42h12M109 42h12M127 42h12M109 34h12M127 34h12M127 26h12",
    ),
    (Panel::Pop, [153, 1, 24, 50], "M159 12h12M159 24h12v14h-12z"),
    (
        Panel::Indexer,
        [185, 1, 54, 50],
        "M192 12h16M192 21h16M192 30h16M216 12h16M220 21h12M220 30h12",
    ),
    (Panel::Now, [49, 59, 96, 24], "M57 67h44M63 75h56"),
    (
        Panel::Processor,
        [153, 59, 86, 24],
        "M161 67h26M161 75h40M214 67h18M214 75h12",
    ),
];

/// The stage in small, with the rooms lit that a lesson is about.
fn plan(lit: &[Panel]) -> AnyView {
    let rooms = STAGE.iter().map(|(room, [x, y, width, height], things)| {
        let class = if lit.contains(room) { "lit" } else { "" };
        view! {
            <g class=class>
                <rect
                    x=x.to_string()
                    y=y.to_string()
                    width=width.to_string()
                    height=height.to_string()
                    rx="4"
                ></rect>
                <path d=*things></path>
            </g>
        }
    });
    view! {
        <svg class="plan" viewBox="0 0 240 84" aria-hidden="true">
            <path class="pipes" d="M41 21h8M75 21h8M145 42h8M177 21h8M196 51v8"></path>
            {rooms.collect_view()}
        </svg>
    }
    .into_any()
}
