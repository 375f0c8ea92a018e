//! The panel of a story, below the stage: its words, its question or its goal, and the way on.

use leptos::html;
use leptos::prelude::*;

use super::chapter::to_chapter;
use super::later::later;
use super::layout::Layout;
use super::parts::{Live, Text, drawn, modal, shown, text};
use super::strip::spans;
use super::terms::words;
use super::{icons, own, presenter};
use crate::host::Host;
use crate::later::Part;
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_presentation::against::Against;
use deltascope_presentation::command::{Command, Tell};
use deltascope_presentation::rows::said as said_of;
use deltascope_presentation::story::{Answer, Form};
use deltascope_presentation::strings::story as said;
use deltascope_presentation::view::story::{Asked, GoalView, StoryView, Verdict};
use deltascope_world::text::Lang;

/// What stays in sight above a question that is scrolled to, in px.
const ABOVE_PX: i32 = 10;

#[component]
pub(super) fn Story() -> impl IntoView {
    let ui = Ui::get();
    let story = ui.memo(|view| view.story.as_deref().cloned());
    let is_last = of(story, |story| story.index + 1 == story.of && !story.plays);
    let plays = of(story, |story| story.plays);
    // What it says and asks comes with its moment.
    let comes = of(story, |story| story.comes);
    let more = RwSignal::new(false);
    let embedded = ui.shape.with_untracked(|shape| shape.embedded);
    let decided = of(story, |story| {
        let asked = story.asked.as_ref();
        asked.is_some_and(|asked| asked.verdict.is_some())
    });
    let host = ui.host();
    effect(move || {
        if decided.get() {
            let host = host.clone();
            request_animation_frame(move || show_question(&host));
        }
    });
    view! {
        <section
            class="tale"
            tabindex="-1"
            data-testid="story"
            part="story"
            role=ui.within()
            aria-label=ui.word(|words| words.story)
        >
            {say(ui, story, comes)}
            <div class="tale-ask" data-testid="story-asked">
                {drawn(
                    move || {
                        let asked = story.with(|one| one.as_ref().and_then(|one| one.asked.clone()));
                        let asked = asked.filter(|_| !comes.get());
                        (asked, plays.get(), ui.lang.get())
                    },
                    move |(asked, plays, lang)| asked.as_ref().map(|asked| question(ui, asked, *plays, *lang)),
                )}
                {drawn(
                    move || {
                        let goal = story.with(|one| one.as_ref().and_then(|one| one.goal.clone()));
                        let goal = goal.filter(|_| !comes.get());
                        (goal, ui.lang.get())
                    },
                    move |(goal, lang)| goal.as_ref().map(|goal| aim(ui, goal, *lang)),
                )}
            </div>
            {shown(move || is_last.get(), move || view! {
                <div class="onward">
                    {(!embedded).then(|| later(Part::Own, || true, move || own::more(ui)))}
                    {to_chapter(ui)}
                </div>
            })}
            {turn(ui, story, is_last, plays, more)}
            {more_of(ui, story, more)}
        </section>
    }
}

/// Whether a story is shown of which that holds.
fn of(story: Memo<Option<StoryView>>, pick: fn(&StoryView) -> bool) -> Memo<bool> {
    Memo::new(move |_| story.with(|story| story.as_ref().is_some_and(pick)))
}

/// Its words, which come with their moment.
fn say(ui: Ui, story: Memo<Option<StoryView>>, comes: Memo<bool>) -> AnyView {
    let number = Memo::new(move |_| {
        story.with(|story| {
            story
                .as_ref()
                .map_or((0, 0, false), |one| match one.question {
                    Some((at, of)) => (at, of, true),
                    None => (one.index + 1, one.of, false),
                })
        })
    });
    view! {
        <div class="tale-say">
            <p class="where">
                <b>{text(move || {
                    let lang = ui.lang.get();
                    ui.view.with(|view| view.lesson.title.get(lang).to_owned())
                })}</b>
                <span>
                    <span data-testid="scene-number">
                        {text(move || {
                            let (at, of, quiz) = number.get();
                            said::scene(ui.lang.get(), at, of, quiz)
                        })}
                    </span>
                    <small>{text(move || ui.view.with(|view| said::client_go(view.lesson.era)))}</small>
                </span>
            </p>
            <div class="words" data-testid="scene-words" aria-live="polite">
                {drawn(
                    move || {
                        let say = story.with(|one| one.as_ref().map(|one| one.say.clone()));
                        (say.filter(|_| !comes.get()), ui.lang.get())
                    },
                    |(say, lang)| say.as_ref().map(|say| words(say, *lang)),
                )}
            </div>
            {shown(move || comes.get(), move || meanwhile(ui))}
            {drawn(
                move || {
                    let lang = ui.lang.get();
                    story.with(|story| {
                        let story = story.as_ref()?;
                        said::aside(lang, story)
                    })
                },
                |aside| aside.clone().map(|aside| view! { <p class="aside" role="note">{aside}</p> }),
            )}
        </div>
    }
    .into_any()
}

/// The way on and back, and out of the story.
fn turn(
    ui: Ui,
    story: Memo<Option<StoryView>>,
    is_last: Memo<bool>,
    plays: Memo<bool>,
    more: RwSignal<bool>,
) -> AnyView {
    let is_first = of(story, |story| !story.has_before);
    let goes_on = of(story, |story| story.has_next || story.plays);
    let asks = of(story, |story| {
        let asked = story.asked.as_ref();
        !story.plays && asked.is_some_and(|asked| asked.given.is_none())
    });
    let onward = move || match (plays.get(), asks.get()) {
        (true, _) => ui.words().story_skip,
        (false, true) => ui.words().story_pass,
        (false, false) => ui.words().story_next,
    };
    let reached = of(story, |story| {
        story.goal.as_ref().is_some_and(|goal| goal.reached)
    });
    let playing = ui.memo(|view| view.playing);
    let at_end = ui.memo(|view| view.is_at_end());
    // Nothing that was not done can be missed.
    let idle = of(story, |story| {
        let goal = story.goal.as_ref();
        goal.is_some_and(|goal| !goal.acted && !goal.reached)
    });
    let layout = Layout::get();
    let is_page = ui.host().is_page();
    view! {
        <div
            class="turn"
            class:is-last=move || is_last.get()
            role=ui.toolbar()
            aria-orientation=ui.upright()
            aria-label=ui.word(|words| words.story_turn)
        >
            <button
                class="btn"
                data-testid="story-back"
                title=text(move || format!("{} (←)", ui.words().story_back))
                disabled=move || is_first.get() && !plays.get()
                on:click=move |_| ui.send(Command::Tell(Tell::Back))
            >
                {ui.word(|words| words.story_back)}
            </button>
            {shown(move || goes_on.get(), move || view! {
                <button
                    class="btn go"
                    class:pass=move || asks.get()
                    data-testid="story-next"
                    title=text(move || match asks.get() {
                        // The key shows the answer first.
                        true => onward().to_owned(),
                        false => format!("{} (→)", onward()),
                    })
                    on:click=move |_| ui.send(Command::Tell(Tell::Next))
                >
                    {text(onward)}
                </button>
            })}
            {shown(move || is_last.get(), move || view! {
                <button
                    class="btn go"
                    // What to do next is the next lesson.
                    class:pass=move || reached.get()
                    data-testid="story-run"
                    // Playing again from the start would tell it under the last scene's words.
                    disabled=move || (at_end.get() || idle.get()) && !playing.get()
                    on:click=move |_| ui.send(Command::TogglePlay)
                >
                    {text(move || match playing.get() {
                        true => ui.words().story_pause,
                        false => ui.words().story_run,
                    })}
                </button>
                {is_page.then(|| shown(move || layout.presenter.on.get(), move || {
                    later(Part::Own, || true, move || own::next_lesson(ui, reached))
                }))}
                <button class="btn" data-testid="story-more" aria-haspopup="dialog" on:click=move |_| more.set(true)>
                    {more_word(ui, story)}
                </button>
            })}
            <div class="also">
                {shown(move || is_page && !layout.narrow.get(), move || presenter::buttons(ui, layout.presenter))}
                <button
                    class="btn closer"
                    data-testid="story-closer"
                    title=text(move || format!("{} (M)", ui.words().story_closer))
                    on:click=move |_| ui.send(Command::Tell(Tell::Show(false)))
                >
                    {icons::drawn(icons::CLOSER)}
                    {ui.word(|words| words.story_closer)}
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Where the question is below the words, scrolls to it: what the run says to an answer would be out of sight.
fn show_question(host: &Host) {
    let (tale, question) = (host.find(".tale"), host.find(".tale .question"));
    if let Some((tale, question)) = tale.zip(question) {
        let (here, there) = (
            tale.get_bounding_client_rect(),
            question.get_bounding_client_rect(),
        );
        #[allow(clippy::cast_possible_truncation, reason = "px of a page")]
        let over = (there.top() - here.top()) as i32 - ABOVE_PX;
        tale.set_scroll_top(tale.scroll_top() + over);
    }
}

/// Sends what a button inside the panel asks for. The button is then disabled or drawn anew: the focus stays in the
/// panel, and so do the keys.
fn tell(ui: Ui, tell: Tell) {
    ui.send(Command::Tell(tell));
    ui.host().focus_still(".tale");
}

fn question(ui: Ui, asked: &Asked, plays: bool, lang: Lang) -> AnyView {
    let given = asked.given.clone().flatten();
    let right = asked.verdict.as_ref().map(|verdict| verdict.right.clone());
    // An answer among others: whether it was given, and whether it is the right one.
    let option = |answer: Answer| {
        let label = said::answer(lang, &asked.choices, &answer);
        let chosen = given.as_ref() == Some(&answer);
        let is_right = right.as_ref() == Some(&answer);
        let class = match (chosen, &right) {
            (_, Some(_)) if is_right => "btn answer right",
            (true, Some(_)) => "btn answer wrong",
            (true, None) => "btn answer chosen",
            _ => "btn answer",
        };
        let mark = match (chosen, &right) {
            (_, Some(_)) if is_right => "✓ ",
            (true, Some(_)) => "✗ ",
            _ => "",
        };
        view! {
            <button
                class=class
                data-testid="answer"
                disabled=plays
                aria-pressed=chosen.to_string()
                on:click=move |_| tell(ui, Tell::Answer(Some(answer.clone())))
            >
                {mark}
                {label}
            </button>
        }
        .into_any()
    };
    let answers = match asked.form {
        Form::Number => number(ui, asked, plays),
        Form::Order => order(ui, asked, plays, lang),
        Form::Choice | Form::Place => {
            let answers = asked.answers.iter().cloned().map(option);
            answers.collect_view().into_any()
        }
    };
    let is_open = asked.given.is_none();
    let is_order = asked.form == Form::Order;
    let verdict = asked
        .verdict
        .as_ref()
        .map(|verdict| outcome(asked, verdict, lang));
    view! {
        <div class="question" data-testid="question">
            {words(&asked.text, lang)}
            <div class="answers" class:ordered=is_order>
                {answers}
                {is_open.then(|| view! {
                    <button
                        class="quiet"
                        data-testid="show-me"
                        disabled=plays
                        on:click=move |_| tell(ui, Tell::Answer(None))
                    >
                        {ui.word(|words| words.story_show)}
                    </button>
                })}
            </div>
            // While it is open: what a key says that was about to pass it.
            {is_open.then(|| view! { <p class="led" role="status" data-testid="led"></p> })}
            {plays.then(|| meanwhile(ui))}
            {verdict}
        </div>
    }
    .into_any()
}

/// What happens, until words come with their moment.
fn meanwhile(ui: Ui) -> AnyView {
    view! {
        <p class="meanwhile" data-testid="meanwhile">
            {drawn(
                move || ui.view.with(|view| said_of(view, ui.lang.get()).what),
                |what| spans(what).into_any(),
            )}
        </p>
    }
    .into_any()
}

/// What the run says to an answer.
fn outcome(asked: &Asked, verdict: &Verdict, lang: Lang) -> AnyView {
    let class = match verdict.is_right {
        Some(true) => "verdict right",
        Some(false) => "verdict wrong",
        None => "verdict",
    };
    let said = said::verdict(lang, asked, verdict);
    let belief = verdict.belief.as_ref().map(|belief| words(belief, lang));
    let because = verdict.because.as_ref().map(|because| words(because, lang));
    let right_in = said::right_in(lang, &verdict.right_in);
    view! {
        <div class=class role="status" data-testid="verdict">
            <p><b>{said}</b></p>
            {belief}
            {because}
            {right_in.map(|text| view! { <p>{text}</p> })}
        </div>
    }
    .into_any()
}

fn number(ui: Ui, asked: &Asked, plays: bool) -> AnyView {
    let given = match asked.given.clone().flatten() {
        Some(Answer::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let input = NodeRef::<html::Input>::new();
    let send = move || {
        let number = input
            .get()
            .and_then(|input| input.value().trim().parse().ok());
        if let Some(number) = number {
            tell(ui, Tell::Answer(Some(Answer::Number(number))));
        }
    };
    view! {
        <form
            class="one-number"
            on:submit=move |event| {
                event.prevent_default();
                send();
            }
        >
            <input
                node_ref=input
                type="number"
                min="0"
                max="999"
                inputmode="numeric"
                required
                disabled=plays
                prop:value=given
                data-testid="answer-number"
                placeholder="?"
                aria-label=ui.word(|words| words.story_number)
            />
            <button class="btn" disabled=plays data-testid="answer-send">
                {ui.word(|words| words.story_answer)}
            </button>
        </form>
    }
    .into_any()
}

/// Items that are put into an order by choosing one after the other.
fn order(ui: Ui, asked: &Asked, plays: bool, lang: Lang) -> AnyView {
    let count = asked.choices.len();
    let first = match asked.given.clone().flatten() {
        Some(Answer::Order(items)) => items,
        _ => Vec::new(),
    };
    let chosen = RwSignal::new(first);
    let items = asked.choices.iter().enumerate().map(|(item, say)| {
        let say = say.get(lang).to_owned();
        let place = move || chosen.with(|chosen| chosen.iter().position(|one| *one == item));
        view! {
            <button
                class="btn answer"
                class:chosen=move || place().is_some()
                data-testid="answer"
                disabled=plays
                aria-pressed=text(move || place().is_some().to_string())
                on:click=move |_| {
                    let done = chosen.try_update(|chosen| {
                        // All again, or this one not yet.
                        if chosen.len() == count {
                            chosen.clear();
                        }
                        match chosen.iter().position(|one| *one == item) {
                            Some(at) => chosen.truncate(at),
                            None => chosen.push(item),
                        }
                        chosen.clone()
                    });
                    if let Some(done) = done.filter(|done| done.len() == count) {
                        tell(ui, Tell::Answer(Some(Answer::Order(done))));
                    }
                }
            >
                {text(move || place().map_or_else(String::new, |at| format!("{}. ", at + 1)))}
                {say}
            </button>
        }
        .into_any()
    });
    view! {
        {items.collect_view()}
        <p class="quiet">{ui.word(|words| words.story_order)}</p>
    }
    .into_any()
}

fn aim(ui: Ui, goal: &GoalView, lang: Lang) -> AnyView {
    let hints = goal.hints.iter().map(|hint| words(hint, lang));
    let reached = goal.reached;
    view! {
        <div class="goal" class:reached=reached class:past=goal.past data-testid="goal">
            {match reached {
                // What one was asked to do is done: why it came about needs the room.
                true => view! {
                    <p class="what-to-do" role="status" data-testid="goal-reached">
                        <span class="flag" aria-hidden="true">"✓"</span>
                        {ui.word(|words| words.story_reached)}
                    </p>
                    {goal.done.as_ref().map(|done| words(done, lang))}
                    {goal.also.as_ref().map(|also| view! { <div class="also">{words(also, lang)}</div> })}
                }
                .into_any(),
                false => view! {
                    <div class="what-to-do">
                        <span class="flag" aria-hidden="true">"◎"</span>
                        {words(&goal.text, lang)}
                    </div>
                    {goal.missed.as_ref().map(|missed| view! {
                        <div class="verdict wrong" role="status" data-testid="goal-missed">
                            <p><b>{ui.word(|words| words.story_missed)}</b></p>
                            {words(missed, lang)}
                        </div>
                    })}
                    <div class="hints">{hints.collect_view()}</div>
                }
                .into_any(),
            }}
            <div class="answers">
                {(goal.more_hints && !reached).then(|| view! {
                    <button
                        class="btn"
                        data-testid="hint"
                        on:click=move |_| tell(ui, Tell::Hint)
                    >
                        {ui.word(|words| words.story_hint)}
                    </button>
                })}
                <button
                    class="btn"
                    data-testid="goal-again"
                    on:click=move |_| {
                        let last = ui.view.with_untracked(|view| {
                            view.story.as_ref().map_or(0, |story| story.of - 1)
                        });
                        tell(ui, Tell::Scene(last));
                    }
                >
                    {ui.word(|words| words.story_again)}
                </button>
                {(reached && ui.view.with_untracked(|view| view.lesson.can_choose)).then(|| view! {
                    <button
                        class="btn"
                        data-testid="story-race"
                        on:click=move |_| ui.send(Command::Compare(Against::Race))
                    >
                        {ui.word(|words| words.story_race)}
                    </button>
                })}
            </div>
        </div>
    }
    .into_any()
}

fn more_word(ui: Ui, story: Memo<Option<StoryView>>) -> Text {
    text(move || {
        story.with(|story| {
            story
                .as_ref()
                .map_or("", |story| said::more(ui.lang.get(), story))
        })
    })
}

/// The dialog with what one must change in one's own code, and where client-go says so.
fn more_of(ui: Ui, story: Memo<Option<StoryView>>, open: RwSignal<bool>) -> AnyView {
    let inside: Live<AnyView> = drawn(
        move || {
            let kept = story.with(|one| {
                one.as_ref()
                    .map(|one| (one.code.clone(), one.sources.clone()))
            });
            (kept, ui.lang.get())
        },
        move |(kept, lang)| {
            let (code, sources) = kept.clone()?;
            let code = code.map(|code| {
                view! {
                    <h3 role=ui.heading()>{ui.word(|words| words.story_code)}</h3>
                    {words(&code.say, *lang)}
                    <figure class="snippet wrong">
                        <figcaption>{ui.word(|words| words.story_wrong)}</figcaption>
                        <pre tabindex="0" translate="no">{code.wrong.to_string()}</pre>
                    </figure>
                    <figure class="snippet right">
                        <figcaption>{ui.word(|words| words.story_right)}</figcaption>
                        <pre tabindex="0" translate="no">{code.right.to_string()}</pre>
                    </figure>
                }
            });
            let sources = sources.into_iter().map(|source| view! {
                <li>
                    <a href=source.url.to_string() target="_blank" rel="noopener" translate="no">
                        {source.title.to_string()}
                    </a>
                    <small translate="no">" " {source.place()}</small>
                </li>
            });
            Some(view! {
                {code}
                <h3 role=ui.heading()>{ui.word(|words| words.story_sources)}</h3>
                <ul class="sources">{sources.collect_view()}</ul>
            })
        },
    );
    let sheet = view! {
        <div class="sheet">
            <div class="head">
                <h2 id="more-title" role=ui.heading()>{more_word(ui, story)}</h2>
                {ui.host().is_page().then(|| view! {
                    <button
                        class="chip"
                        data-testid="story-handout"
                        on:click=move |_| {
                            open.set(false);
                            ui.send(Command::Tell(Tell::Handout(true)));
                        }
                    >
                        {ui.word(|words| words.handout)}
                    </button>
                })}
                <button class="chip" data-testid="more-close" on:click=move |_| open.set(false)>
                    {ui.word(|words| words.close)}
                </button>
            </div>
            {inside}
        </div>
    };
    modal(open, "help learn", "more-title", sheet.into_any())
}
