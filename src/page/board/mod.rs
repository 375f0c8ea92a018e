//! The board: one file per room. Components hold markup only; `rows` computes what they show.

#![allow(
    unreachable_pub,
    reason = "leptos' component macro makes what it generates pub"
)]

mod api;
mod beside;
mod branches;
mod chapter;
mod checks;
mod cluster;
mod compare;
pub(crate) mod density;
mod drawer;
mod drops;
mod frame;
mod handout;
mod header;
mod help;
mod icons;
mod indexer;
mod informers;
mod keyboard;
mod later;
mod layout;
mod links;
mod logged;
mod now;
mod open;
pub(crate) mod own;
mod owners;
mod parts;
mod pop;
mod presenter;
mod processor;
mod queue;
mod race;
mod reflector;
mod share;
mod shelf;
mod stops;
mod story;
mod strip;
mod table;
mod tabs;
mod teach;
mod terms;
mod together;
mod token;
mod transport;
mod until;
mod why;

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

use crate::later::{Part, Stands, stands};
use crate::live::Link;
use crate::memo::{Memo, effect};
use crate::ui::{Shape, Ui};
use deltascope_presentation::cluster::{Status, Tab};
use deltascope_presentation::command::Command;
use deltascope_presentation::options::Controls;
use deltascope_presentation::stage::{Panel, Piece};
use deltascope_presentation::view::ErrorView;
use later::later;
use layout::Layout;
use parts::{Live, maybe, part, shown, text};

/// The board of an element, which is drawn piece by piece.
#[component]
pub fn Coming() -> impl IntoView {
    piece(
        Ui::get(),
        Piece::Board,
        || true,
        || view! { <Board /> }.into_any(),
    )
}

/// The whole page.
#[component]
pub fn Board() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::new();
    provide_context(layout);
    let help = RwSignal::new(false);
    let cluster = layout.cluster;
    let embedded = ui.shape.with_untracked(|shape| shape.embedded);
    let has_controls = move || ui.shape.with(|shape| shape.controls != Controls::None);
    let comparing = ui.memo(|view| view.beside.is_some());
    let racing = ui.memo(|view| view.race().is_some());
    let telling = ui.memo(|view| view.story.is_some());
    // The lesson whose story was told last.
    let told = StoredValue::new(None);
    effect(move || {
        let lesson = ui
            .view
            .with(|view| view.story.as_ref().map(|_| Arc::clone(&view.lesson.id)));
        if lesson.is_some() {
            told.set_value(lesson);
        }
    });
    // For whoever is new: without what the story has no words for.
    let plain = ui.memo(|view| view.story.as_ref().is_some_and(|story| story.plain));
    // Whether it asks for something to be done, and whether that was done.
    let aim = ui.memo(|view| {
        let story = view.story.as_ref();
        let story = story.filter(|story| !story.comes);
        story.and_then(|story| Some(story.goal.as_ref()?.reached))
    });
    let unused = ui.memo(|view| !view.picture.informer.has_queue());
    keyboard::listen(ui, layout, help);
    stops::listen(ui, layout);
    if !embedded {
        shelf::keep_progress(ui);
        links::keep_place(ui, layout);
    }
    let on_paper = ui.memo(|view| view.on_paper());
    let link = Link::get();
    let together = Memo::new(move |_| {
        link.tabs.with(|tabs| tabs.len() > 1)
            && !embedded
            && !telling.get()
            && !on_paper.get()
            && !layout.presenter.on.get()
            && !ui.shelved()
    });
    // The stage stays until what takes its place is there.
    let shelved = move || ui.shelved() && stands(Part::Own) == Stands::There;
    let shown_as = move || {
        [
            ("tells", telling.get()),
            ("aims", aim.get().is_some()),
            ("reached", aim.get() == Some(true)),
            ("shelved", !embedded && shelved()),
            ("on-paper", !embedded && on_paper.get()),
            ("races", racing.get()),
            ("compares", comparing.get()),
            ("in-two", layout.in_two()),
            ("together", together.get()),
        ]
    };
    say_at_root(ui, shown_as);
    let (down, up) = layout::swipe(layout);
    view! {
        {piece(ui, Piece::Header, move || ui.shape.with(Shape::is_full), move || {
            view! { <header::Header help=help cluster=cluster /> }.into_any()
        })}
        {shown(move || together.get(), || later(Part::All, || true, own::strip))}
        <layout::RoomTabs />
        <layout::RoomMap />
        // Whoever hears it, or goes along it with Tab, has the words first. For the eye the stage stands above them.
        {piece(ui, Piece::Strip, move || telling.get(), || story::Story().into_any())}
        <div
            // All in one: setting the attribute would drop a class that was toggled.
            class=text(move || {
                let comparing = if comparing.get() { " comparing" } else { "" };
                let racing = if racing.get() { " racing" } else { "" };
                format!("stage{comparing}{racing}")
            })
            part="stage"
            role=ui.within().unwrap_or("main")
            aria-label=ui.word(|words| words.stage)
            on:pointerdown=down
            on:pointerup=up
        >
            {piece(ui, Piece::Over, || true, move || view! { <Problem />{compare::compare(ui)} }.into_any())}
            <div
                id="watched"
                role=maybe(move || together.get().then_some("tabpanel"))
                aria-labelledby=maybe(move || together.get().then(|| together::tab_id(link.tabs.with(|tabs| Tab::shown(tabs)))))
                class=text(move || {
                    let mut classes = grid(ui, layout);
                    if layout.lower_is_processor() {
                        classes.push_str(" second-processor");
                    }
                    if unused.get() {
                        classes.push_str(" no-queue");
                    }
                    if telling.get() {
                        classes.push_str(" telling");
                    }
                    if plain.get() {
                        classes.push_str(" plain");
                    }
                    classes
                })
                on:click=move |event| why::on_click(ui, layout, &event)
            >
                <reflector::Pipe />
                <i class="link refl-queue"></i>
                <i class="link queue-pop"></i>
                <i class="link pop-idx"></i>
                {rooms(ui, layout, false)}
                <layout::LowerTabs />
                {rooms(ui, layout, true)}
                <div id="motion" aria-hidden="true"></div>
                {piece(ui, Piece::Over, || true, || view! { <why::Marked /><drawer::Drawer /> }.into_any())}
            </div>
        </div>
        {piece(ui, Piece::Strip, move || has_controls() && !racing.get() && !telling.get(), move || {
            view! { <strip::Strip told=told.get_value() /> }.into_any()
        })}
        {piece(ui, Piece::Transport, move || has_controls() && !telling.get(), || transport::Transport().into_any())}
        {piece(ui, Piece::Over, || true, move || {
            later(Part::Rest, move || help.get(), move || view! { <help::Help open=help /> }.into_any()).into_any()
        })}
        {(!embedded).then(|| view! {
            {shown(move || ui.shows_lessons(), || later(Part::Own, || true, own::shelf))}
            {shown(move || ui.shows_informers(), || later(Part::All, || true, own::informers))}
            {later(Part::Own, move || layout.presenter.on.get(), move || own::presenter(layout.presenter))}
            {later(Part::All, move || on_paper.get(), move || own::handout(ui))}
            {later(Part::All, move || cluster.get(), move || own::dialog(cluster))}
            <open::DropZone />
        })}
    }
}

/// Keeps these classes at the page's root, which lays out what stands side by side in the body. `:has()` would style the
/// whole page anew at every change of it.
fn say_at_root<const N: usize>(ui: Ui, classes: impl Fn() -> [(&'static str, bool); N] + 'static) {
    let Some(root) = ui.host().root().filter(|_| ui.host().is_page()) else {
        return;
    };
    effect(move || {
        for (class, is) in classes() {
            // Fails only for a malformed name.
            let _ = root.class_list().toggle_with_force(class, is);
        }
    });
}

/// The rooms of a row, each while it is shown.
fn rooms(ui: Ui, layout: Layout, below: bool) -> Vec<Live<AnyView>> {
    let row = Panel::ALL
        .into_iter()
        .filter(|room| room.is_below() == below);
    row.map(|room| {
        let is_shown = move |rooms: &Vec<Panel>| rooms.is_empty() || rooms.contains(&room);
        let when = move || layout.panels.with(is_shown);
        piece(ui, Piece::Panel(room), when, move || view_of(room))
    })
    .collect()
}

fn view_of(room: Panel) -> AnyView {
    match room {
        Panel::Api => api::Api().into_any(),
        Panel::Reflector => reflector::Reflector().into_any(),
        Panel::Queue => queue::Queue().into_any(),
        Panel::Pop => pop::Pop().into_any(),
        Panel::Indexer => indexer::Indexer().into_any(),
        Panel::Now => now::Now().into_any(),
        Panel::Processor => processor::Processor().into_any(),
    }
}

/// A piece of the board, once it is its turn and while `when` holds.
fn piece(
    ui: Ui,
    piece: Piece,
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> Live<AnyView> {
    shown(move || ui.has(piece) && when(), view)
}

/// The classes of the grid, which say what of it is shown.
fn grid(ui: Ui, layout: Layout) -> String {
    let mut classes = "grid".to_owned();
    layout.panels.with(|rooms| {
        if !rooms.is_empty() {
            classes.push_str(" chosen");
        }
        for room in rooms {
            classes.push_str(" with-");
            classes.push_str(room.id());
        }
    });
    if layout.in_two() {
        classes.push_str(" in-two");
    }
    if ui.shape.with(|shape| shape.watch) {
        classes.push_str(" watch");
    }
    classes
}

/// How long an error stays while the run plays: the longest is read by then.
const READ: Duration = Duration::from_secs(12);

/// The error message, until it is dismissed, the next command is obeyed, or, while the run plays, it was there to be read.
#[component]
fn Problem() -> impl IntoView {
    let ui = Ui::get();
    let at_field = Layout::get().at_field;
    let error = Memo::new(move |_| {
        let missing = ui.missing.get().map(ErrorView::from);
        missing.or_else(|| {
            let error = ui.view.with(|view| view.error.clone())?;
            at_field
                .with(|said| said.as_ref() != Some(&error.message))
                .then_some(error)
        })
    });
    let opening = ui.memo(|view| view.opening);
    let is_busy = move || ui.waits.get() || opening.get().is_some();
    let playing = ui.memo(|view| view.playing);
    // What was read is in the way while the run goes on; no command takes it away then.
    effect(move || {
        if error.with(Option::is_some) && playing.get() && !is_busy() {
            let read = set_timeout_with_handle(move || ui.send(Command::DismissError), READ);
            if let Ok(read) = read {
                on_cleanup(move || read.clear());
            }
        }
    });
    view! {
        <div class="problem">
            {shown(
                move || is_busy() || ui.fetches.get() > 0,
                move || {
                    let opens = move || opening.get().is_some();
                    view! {
                        <div class="problem-card" class:fetching=move || !opens() data-testid="opening">
                            <span role="status">
                                {text(move || match opens() {
                                    true => ui.words().opening,
                                    false => ui.words().fetching,
                                })}
                            </span>
                            {shown(opens, move || {
                                let done = move || opening.get().unwrap_or_default();
                                let said = move || ui.words().opening_steps.replace("{n}", &done().to_string());
                                view! { <span>{text(said)}</span> }
                            })}
                            {shown(is_busy, move || view! {
                                <button class="btn" on:click=move |_| ui.send(Command::DismissError)>
                                    {ui.word(|words| words.stop_opening)}
                                </button>
                            })}
                        </div>
                    }
                },
            )}
            {part(move || {
                error
                    .get()
                    .map(|error| {
                        let words = ui.words();
                        let message = error.message.get(ui.lang.get()).to_owned();
                        view! {
                            <div class="problem-card" role="alert" data-testid="error">
                                <b>{words.error}</b>
                                <span>{message}</span>
                                <button
                                    class="btn"
                                    on:click=move |_| ui.send(Command::DismissError)
                                >
                                    {words.dismiss}
                                </button>
                            </div>
                        }
                    })
            })}
            {later(Part::All, move || Link::get().status.with(Status::is_on), own::trouble)}
        </div>
    }
}
