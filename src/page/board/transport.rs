//! Playback: buttons, timeline and speed.

use leptos::html;
use leptos::prelude::*;

use super::drawer::Tools;
use super::later::later;
use super::layout::{Layout, size_of};
use super::parts::{Text, part, places, shown, text};
use super::{checks, icons, own};
use crate::later::Part;
use crate::memo::Memo;
use crate::ui::{Shape, Ui, remember};
use deltascope_presentation::command::Command;
use deltascope_presentation::decimal::{decimal, of_hundredths};
use deltascope_presentation::options::Controls;
use deltascope_presentation::rows::behind::{self, BehindRows};
use deltascope_presentation::rows::ticks::{self, TickRow};
use deltascope_presentation::rows::type_class;
use deltascope_presentation::strings::{self, Strings};
use deltascope_presentation::svg::PIECE;
use deltascope_presentation::view::View;
use deltascope_replay::invariants::Violation;
use deltascope_replay::playback::SPEEDS;
use deltascope_replay::step_size::StepSize;

/// The cursor, how many facts are known, whether more come without end, and the virtual time.
type Place = (usize, usize, bool, u64);

#[component]
pub(super) fn Transport() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let at = ui.memo(|view| (view.step, view.steps, view.endless, view.time));
    // Following a live run counts as playing.
    let playing =
        ui.memo(|view| view.playing || view.live.as_ref().is_some_and(|live| live.following));
    let is_live = ui.memo(|view| view.live.is_some());
    let at_start = Memo::new(move |_| at.get().0 == 0);
    let at_end = ui.memo(View::is_at_end);
    // A live run is followed to its edge, not played again.
    let is_over = Memo::new(move |_| at_end.get() && !is_live.get());
    let step_size = ui.memo(|view| view.walking.step_size);
    let back_title =
        text(move || [&*strings::back_over(ui.lang.get(), step_size.get()), " (←)"].concat());
    view! {
        <footer
            data-testid="transport"
            class="transport"
            part="transport"
            role=ui.within()
            class:minimal=move || ui.shape.with(|shape| shape.controls == Controls::Minimal)
            aria-label=ui.word(|words| words.transport)>
            <div
                class="play"
                role=ui.toolbar()
                aria-orientation=ui.upright()
                aria-label=ui.word(|words| words.transport)
            >
                {button(
                    ui, "btn-reset", |words| words.reset, keyed(ui, |words| words.reset_title, "R"),
                    icons::RESET, Memo::fixed(false), || Command::Reset,
                )}
                {button(
                    ui, "btn-back", |words| words.back, back_title,
                    icons::BACK, at_start, || Command::Walk { on: false, coarser: false },
                )}
                <button
                    class="go"
                    data-testid="btn-play"
                    aria-label=text(move || play_word(ui, playing.get(), is_over.get()))
                    title=text(move || {
                        format!("{} (␣)", play_word(ui, playing.get(), is_over.get()))
                    })
                    on:click=move |_| toggle_play(ui)
                >
                    {part(move || {
                        icons::filled(match (playing.get(), is_over.get()) {
                            (true, _) => icons::PAUSE,
                            (false, true) => icons::REPLAY,
                            (false, false) => icons::PLAY,
                        })
                    })}
                </button>
                {button(
                    ui, "btn-step", |words| words.step, keyed(ui, |words| words.step, "→"),
                    icons::STEP, at_end, || Command::Walk { on: true, coarser: false },
                )}
                {button(
                    ui, "btn-next-marker", |words| words.next_marker, keyed(ui, |words| words.next_marker, "]"),
                    icons::NEXT, at_end, || Command::NextMarker,
                )}
                {shown(move || layout.narrow.get(), move || view! {
                    <button
                        class="follows"
                        data-testid="toggle-follow"
                        aria-label=ui.word(|words| words.follow_rooms)
                        title=ui.word(|words| words.follow_rooms)
                        aria-pressed=text(move || layout.follows.get().to_string())
                        on:click=move |_| layout.toggle_follows()
                    >
                        {icons::drawn(icons::FOLLOW)}
                    </button>
                })}
            </div>
            <Timeline />
            {clock(ui, at, is_live, step_size)}
            {shown(move || ui.shape.with(Shape::is_full), Tools)}
        </footer>
    }
}

/// Where the run is, and how it plays.
fn clock(ui: Ui, at: Memo<Place>, is_live: Memo<bool>, step_size: Memo<StepSize>) -> AnyView {
    let thinned = ui.memo(|view| view.thinned);
    // The branch that is shown, if there are several.
    let branch = ui.memo(|view| {
        let shown = view.branches.iter().find(|branch| branch.current);
        shown
            .filter(|_| view.branches.len() > 1)
            .map(|branch| (branch.name.clone(), branch.made.clone()))
    });
    let wall = ui.memo(|view| view.lesson.wall(view.time));
    let position = text(move || {
        let (step, steps, endless, time) = at.get();
        strings::position(ui.lang.get(), step, steps, endless, time)
    });
    view! {
        <div class="clock mono">
            {later(Part::All, move || is_live.get(), own::edge)}
            {part(move || {
                let thinned = thinned.get();
                (thinned > 0)
                    .then(|| {
                        let title = strings::thinned(ui.lang.get(), thinned);
                        view! {
                            <span
                                class="thinned"
                                data-testid="thinned"
                                role="note"
                                title=title.clone()
                                aria-label=title
                            >
                                {ui.words().thinned}
                            </span>
                        }
                    })
            })}
            {part(move || {
                let lang = ui.lang.get();
                branch.get().map(|(name, made)| {
                    let (name, made) = (name.get(lang).to_owned(), made.get(lang));
                    let title = match name.ends_with(made) {
                        true => name.clone(),
                        false => [&*name, " · ", made].concat(),
                    };
                    view! {
                        <b class="on-branch" data-testid="on-branch" title=title>
                            {name}
                        </b>
                    }
                })
            })}
            <span class="position">{position}</span>
            {shown(move || wall.with(Option::is_some), move || view! {
                <span class="wall" data-testid="wall-clock" title=ui.word(|words| words.wall_clock)>
                    " · "
                    {text(move || wall.get().unwrap_or_default())}
                </span>
            })}
            <span aria-hidden="true">" · "</span>
            {step_sizes(ui, step_size)}
            {speeds(ui)}
        </div>
    }
    .into_any()
}

/// How large a step is.
fn step_sizes(ui: Ui, step_size: Memo<StepSize>) -> AnyView {
    view! {
        <select
            class="grain"
            data-testid="select-grain"
            aria-label=ui.word(|words| words.step_size)
            title=ui.word(|words| words.step_size)
            prop:value=move || step_size.get().id()
            on:change=move |event| {
                if let Some(step_size) = StepSize::named(&event_target_value(&event)) {
                    ui.send(Command::StepSize(step_size));
                    if ui.host().is_page() {
                        remember("step", step_size.id());
                    }
                }
            }
        >
            {StepSize::ALL
                .map(|one| {
                    view! {
                        <option value=one.id() selected=move || step_size.get() == one>
                            {text(move || strings::step_size(ui.lang.get(), one))}
                        </option>
                    }
                })
                .into_iter()
                .collect_view()}
        </select>
    }
    .into_any()
}

/// How fast playback is.
fn speeds(ui: Ui) -> AnyView {
    let speed = ui.memo(|view| view.speed);
    view! {
        <select
            data-testid="select-speed"
            aria-label=ui.word(|words| words.speed)
            prop:value=move || speed.get().to_string()
            on:change=move |event| {
                if let Ok(percent) = event_target_value(&event).parse() {
                    ui.send(Command::Speed(percent));
                }
            }
        >
            {SPEEDS
                .map(|percent| {
                    view! {
                        <option
                            value=percent.to_string()
                            selected=move || speed.get() == percent
                        >
                            {[&*of_hundredths(percent), "×"].concat()}
                        </option>
                    }
                })
                .into_iter()
                .collect_view()}
        </select>
    }
    .into_any()
}

/// Plays or pauses. At the end, plays from the start.
pub(super) fn toggle_play(ui: Ui) {
    let again = ui
        .view
        .with_untracked(|view| view.is_at_end() && view.live.is_none() && !view.playing);
    if again {
        ui.send(Command::Seek(0));
    }
    ui.send(Command::TogglePlay);
}

fn play_word(ui: Ui, playing: bool, at_end: bool) -> &'static str {
    match (playing, at_end) {
        (true, _) => ui.words().pause,
        (false, true) => ui.words().play_again,
        (false, false) => ui.words().play,
    }
}

/// A tooltip with the key that does the same.
fn keyed(ui: Ui, words: fn(&'static Strings) -> &'static str, key: &'static str) -> Text {
    text(move || format!("{} ({key})", words(ui.words())))
}

fn button(
    ui: Ui,
    id: &'static str,
    name: fn(&'static Strings) -> &'static str,
    title: Text,
    icon: &'static str,
    disabled: Memo<bool>,
    command: fn() -> Command,
) -> AnyView {
    view! {
        <button
            data-testid=id
            aria-label=ui.word(name)
            title=title
            disabled=move || disabled.get()
            on:click=move |_| ui.send(command())
        >
            {icons::filled(icon)}
        </button>
    }
    .into_any()
}

#[component]
fn Timeline() -> impl IntoView {
    let ui = Ui::get();
    let at = ui.memo(|view| (view.step, view.steps, view.endless, view.time));
    let markers = ui.memo(|view| view.markers.to_vec());
    let drawer = Layout::get().drawer;
    let track = NodeRef::<html::Div>::new();
    let size = size_of(track);
    let violations = ui.memo(|view| view.checks.violations.clone());
    // An endless run grows as it is viewed; its timeline grows by whole pieces.
    let steps = Memo::new(move |_| match at.get() {
        (_, steps, true, _) => (steps / PIECE + 1) * PIECE,
        (_, steps, false, _) => steps,
    });
    let place = move |step: usize| format!("--at:{}", decimal(share(step, steps.get())));
    let lines = Memo::new(move |_| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "px of a page"
        )]
        let px = size.get().0 as usize;
        ui.view.with(|view| ticks(view, steps.get(), px))
    });
    let paths = Memo::new(move |_| lines.with(|lines| lines.0.clone()));
    let line = Memo::new(move |_| {
        let steps = steps.get();
        ui.view.with(|view| behind::rows(view, steps))
    });
    view! {
        <div class="time" node_ref=track prop:style=move || place(at.get().0)>
            <div class="rail"></div>
            <div class="done"></div>
            <svg
                class="ticks"
                viewBox=text(move || format!("0 0 {} 25", steps.get().max(1)))
                preserveAspectRatio="none"
                aria-hidden="true"
            >
                {places(paths, |path| view! {
                    <path
                        class=text(move || path.with(|path| path.0.clone()))
                        d=text(move || path.with(|path| path.1.clone()))
                    ></path>
                })}
            </svg>
            {part(move || lines.get().1.into_iter().map(|row| {
                let class = format!("counted {}", row.delta_type.map_or("", type_class));
                let until = decimal(share(row.until, steps.get()));
                let style = format!("{};--until:{until}", place(row.at));
                view! { <i class=class aria-hidden="true" prop:style=style>{row.count.to_string()}</i> }
            }).collect_view())}
            {shown(move || line.with(Option::is_some), move || below(ui, line, steps))}
            <input
                type="range"
                data-testid="scrubber"
                aria-label=ui.word(|words| words.timeline)
                aria-valuetext=text(move || {
                    let (step, steps, endless, time) = at.get();
                    strings::position(ui.lang.get(), step, steps, endless, time)
                })
                min="0"
                max=text(move || steps.get().to_string())
                step="1"
                prop:value=move || at.get().0.to_string()
                on:input=move |event| {
                    if let Ok(step) = event_target_value(&event).parse() {
                        ui.send(Command::Seek(step));
                    }
                }
            />
            <div
                class="moments"
                role=ui.toolbar()
                aria-orientation=ui.upright()
                aria-label=ui.word(|words| words.timeline)
            >
                {part(move || {
                    let tick = |found: &Violation| checks::tick(ui, drawer, found, place(found.at));
                    violations.with(|all| all.iter().map(tick).collect_view())
                })}
                {part(move || {
                    markers
                        .get()
                        .into_iter()
                        .map(|marker| {
                            let title = marker.title.get(ui.lang.get()).to_owned();
                            let to = marker.at;
                            view! {
                                <button
                                    class="marker"
                                    aria-label=title.clone()
                                    title=title
                                    prop:style=place(to)
                                    on:click=move |_| ui.send(Command::Seek(to))
                                ></button>
                            }
                        })
                        .collect_view()
                })}
            </div>
        </div>
    }
}

/// The marks along the timeline: one path for each class, as four hundred elements would all be placed anew as a run grows; and
/// those that say how many they stand for.
fn ticks(view: &View, steps: usize, px: usize) -> (Vec<(String, String)>, Vec<TickRow>) {
    let mut lines: Vec<(String, String)> = Vec::new();
    let followed = view.followed.iter().flat_map(|one| one.ticks.iter());
    let followed = followed.map(|at| ("passage".to_owned(), format!("M{at} 19v6")));
    let (many, few): (Vec<_>, Vec<_>) = ticks::rows(&view.ticks, steps, px)
        .into_iter()
        .partition(|row| row.says);
    let few = few.iter().map(|row| {
        let class = format!("tick {}", row.delta_type.map_or("", type_class));
        let (at, until) = (row.at, row.until);
        (class, format!("M{at} 1.5H{until}V15.5H{at}z"))
    });
    for (class, mark) in followed.chain(few) {
        match lines.iter_mut().find(|(of, _)| *of == class) {
            Some((_, path)) => path.push_str(&mark),
            None => lines.push((class, mark)),
        }
    }
    (lines, many)
}

/// The line below the timeline. The input of the timeline lies over both, so that a pointer on the line seeks, too.
fn below(ui: Ui, line: Memo<Option<BehindRows>>, steps: Memo<usize>) -> AnyView {
    let of = move |of: fn(&BehindRows) -> u64| line.with(|line| line.as_ref().map_or(0, of));
    let unknown = Memo::new(move |_| {
        line.with(|line| line.as_ref().map(|line| line.unknown.clone()))
            .unwrap_or_default()
    });
    view! {
        <svg
            class="behind"
            data-testid="behind-line"
            viewBox=text(move || format!("0 0 {} {}", steps.get().max(1), of(|line| line.high)))
            preserveAspectRatio="none"
            role="img"
            aria-label=text(move || strings::behind::line(ui.lang.get(), of(|line| line.most)))
        >
            <path d=text(move || line.with(|line| {
                line.as_ref().map_or_else(String::new, |line| line.path.clone())
            }))></path>
        </svg>
        {places(unknown, move |part| {
            let style = move || {
                let (from, until) = part.get();
                let at = |step| decimal(share(step, steps.get()));
                format!("--at:{};--until:{}", at(from), at(until))
            };
            view! { <i class="unknown" prop:style=style></i> }
        })}
    }
    .into_any()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "percents of a line on the screen; a step more or less among 2^52 is not seen"
)]
fn share(step: usize, steps: usize) -> f64 {
    if steps == 0 {
        return 0.0;
    }
    (step as f64 * 100.0 / steps as f64).min(100.0)
}
