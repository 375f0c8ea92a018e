//! How many rooms fit on the screen: all at once, the lower two in tabs, or one at a time.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::Closure;
use web_sys::{MediaQueryList, ResizeObserver};

use super::parts::{along, focus, in_sight, maybe, part, shown, text};
use super::presenter::Presenter;
use super::tabs::DrawerState;
use crate::host::Host;
use crate::memo::{Memo, effect, effect_after};
use crate::ui::{OFF, ON, Ui, remember, remembered};
use deltascope_presentation::cluster::owners::Kind;
use deltascope_presentation::command::{Command, Tell};
use deltascope_presentation::rows::acting;
use deltascope_presentation::rows::current;
use deltascope_presentation::stage::{Panel, has_two_rows, least_width};
use deltascope_presentation::strings;
use deltascope_world::text::Text;

// The same limits as in style/stage.css. They are in em, so that larger text counts as less room.
const NARROW: &str = "(max-width: 56.24em)";
const SHORT: &str = "(max-height: 49.99em) or ((max-width: 74.99em) and (max-height: 59.99em))";

/// The remembered choice whether the room follows what happens.
const FOLLOWS: &str = "follow";

/// How far a finger moves at least to turn to another room, in px.
const SWIPE: i32 = 48;

/// How much room the components have, and which rooms are shown.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    ui: Ui,
    /// One room at a time is shown.
    pub(super) narrow: RwSignal<bool>,
    /// The lower two rooms share one place.
    pub(super) short: RwSignal<bool>,
    /// The room that is shown when only one is.
    pub(super) shown: Memo<Panel>,
    chosen: RwSignal<Chosen>,
    /// Whether the room that is shown follows what happens.
    pub(super) follows: RwSignal<bool>,
    /// Which of the lower two is shown when they share one place.
    lower: RwSignal<Panel>,
    /// The rooms that are chosen; empty: all. In front of a class those that the scene is about.
    pub(super) panels: Memo<Vec<Panel>>,
    pub(super) presenter: Presenter,
    pub(super) drawer: DrawerState,
    /// The error that a form says at its field.
    pub(super) at_field: RwSignal<Option<Text>>,
    /// Whether the dialog of the cluster is open.
    pub(super) cluster: RwSignal<bool>,
    /// What the dialog opens with.
    pub(super) wish: StoredValue<Option<Wish>>,
}

/// The room that was chosen by hand.
#[derive(Clone, Copy)]
struct Chosen {
    room: Panel,
    /// The step at which: the room is shown until the next one, and otherwise what follows is.
    step: Option<usize>,
    /// The scene in which, in a story.
    scene: Option<usize>,
}

/// What a story says of the rooms.
#[derive(Clone, PartialEq)]
struct Told {
    plays: bool,
    scene: usize,
    /// The room that is shown while it does not play …
    focus: Panel,
    /// … unless one of these is, in which the reader acts.
    tools: Vec<Panel>,
    /// Whether it is about the handlers.
    handlers: bool,
}

/// The kind that the dialog of the cluster chooses by itself, and the namespace.
pub(super) type Wish = (Kind, String);

impl Layout {
    /// Whether the presenter shows its rooms in two rows.
    pub(super) fn in_two(self) -> bool {
        self.presenter.on.get() && self.panels.with(|rooms| has_two_rows(rooms))
    }

    pub(super) fn new() -> Self {
        let ui = Ui::get();
        let (narrow, short) = if ui.host().is_page() {
            (media(NARROW), media(SHORT))
        } else {
            framed(ui)
        };
        let is_page = ui.host().is_page();
        let presenter = Presenter::new(ui, narrow);
        let lit = ui.memo(|view| view.story.as_ref().map(|story| story.lit.clone()));
        let panels = Memo::new(move |_| {
            let lit = presenter.on.get().then(|| lit.get()).flatten();
            lit.unwrap_or_else(|| ui.shape.with(|shape| shape.panels.clone()))
        });
        let follows = RwSignal::new(!is_page || remembered(FOLLOWS).as_deref() != Some(OFF));
        effect_after(move |before: Option<bool>| {
            let follows = follows.get();
            if before.is_some() && is_page {
                remember(FOLLOWS, if follows { ON } else { OFF });
            }
            follows
        });
        // On the page the room to begin with; in an element, the room where something happens at this step.
        let now = ui.memo(|view| {
            let acting = current(view).map(acting::room);
            (acting, view.step, acting::first(&view.picture))
        });
        let (_, at, mut first) = now.get_untracked();
        if !is_page {
            let rooms = panels.with_untracked(rooms);
            first = ui.view.with_untracked(|view| acting::shown(view, &rooms));
        }
        let chosen = RwSignal::new(Chosen {
            room: first,
            step: Some(at),
            scene: None,
        });
        let told = ui.memo(|view| {
            let story = view.story.as_ref()?;
            let handlers =
                story.lit.contains(&Panel::Processor) || !story.lit.contains(&Panel::Now);
            let acting = current(view).map(acting::room);
            let goal = story.goal.as_ref();
            let goal = goal.filter(|goal| !goal.reached && !story.comes && !view.playing);
            let tools = goal.map_or(Vec::new(), |goal| goal.tools.clone());
            let focus = tools.first().copied();
            let focus = focus.unwrap_or_else(|| story.focus(acting));
            Some(Told {
                plays: story.plays,
                scene: story.index,
                focus,
                tools,
                handlers,
            })
        });
        let shown = Memo::new(move |before: Option<&Panel>| {
            let chosen = chosen.get();
            let (acting, step, first) = now.get();
            let (room, is_new) = (chosen.room, chosen.step != Some(step));
            let told = told.get();
            if let Some(told) = &told {
                if !is_new && chosen.scene == Some(told.scene) {
                    return room;
                }
                if !told.plays {
                    let stays = before.copied().filter(|room| told.tools.contains(room));
                    return stays.unwrap_or(told.focus);
                }
            }
            let follows = told.is_some() || follows.get() && narrow.get() && is_new;
            let has = |room: &Panel| panels.with(|chosen| rooms(chosen).contains(room));
            let to = acting.unwrap_or(first);
            match Some(to).filter(|room| follows && has(room)) {
                Some(to) => to,
                None if follows => before.copied().unwrap_or(room),
                None => room,
            }
        });
        let lower = RwSignal::new(Panel::Now);
        effect(move || {
            if let Some(told) = told.get() {
                let shown = if told.handlers {
                    Panel::Processor
                } else {
                    Panel::Now
                };
                lower.set(shown);
            }
        });
        Self {
            ui,
            narrow,
            short,
            shown,
            chosen,
            follows,
            lower,
            panels,
            presenter,
            drawer: DrawerState::new(),
            at_field: RwSignal::new(None),
            cluster: RwSignal::new(false),
            wish: StoredValue::new(None),
        }
    }

    pub(super) fn get() -> Self {
        expect_context::<Self>()
    }

    /// Whether `room` is behind a tab now.
    pub(super) fn is_tabbed(self, room: Panel) -> bool {
        let all = self.panels.with(Vec::is_empty);
        self.narrow.get() || (all && room.is_below() && self.short.get())
    }

    /// Shows a room until the next step.
    fn choose(self, room: Panel) {
        let (step, scene) = self.ui.view.with_untracked(|view| {
            let scene = view.story.as_ref().map(|story| story.index);
            (view.step, scene)
        });
        self.chosen.set(Chosen {
            room,
            step: Some(step),
            scene,
        });
    }

    /// Follows what happens from now on, or stays with the room that is shown.
    pub(super) fn toggle_follows(self) {
        let room = self.shown.get_untracked();
        let follows = !self.follows.get_untracked();
        self.chosen.set(Chosen {
            room,
            step: None,
            scene: None,
        });
        self.follows.set(follows);
    }

    /// Shows the next room in the order of the data's path, or the previous one.
    pub(super) fn turn(self, on: bool) {
        // In a story, to another scene.
        if self.ui.view.with_untracked(|view| view.story.is_some()) {
            let tell = if on { Tell::Next } else { Tell::Back };
            return self.ui.send(Command::Tell(tell));
        }
        let rooms = self.panels.with_untracked(rooms);
        let shown = self.shown.get_untracked();
        let at = rooms.iter().position(|room| *room == shown);
        let to = match (at, on) {
            (Some(at), true) => rooms.get(at + 1),
            (Some(at), false) => at.checked_sub(1).and_then(|at| rooms.get(at)),
            (None, _) => rooms.first(),
        };
        if let Some(room) = to {
            self.choose(*room);
        }
    }

    pub(super) fn lower_is_processor(self) -> bool {
        self.lower.get() == Panel::Processor
    }
}

/// Turns to another room with a finger that moves sideways. Returns what is called as it goes down, and up again.
pub(super) fn swipe(
    layout: Layout,
) -> (
    impl Fn(web_sys::PointerEvent) + Copy,
    impl Fn(web_sys::PointerEvent) + Copy,
) {
    let from = StoredValue::new(None::<(i32, i32)>);
    let down = move |event: web_sys::PointerEvent| {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        // These move sideways themselves.
        let own = |target: &web_sys::Element| {
            let own = target.closest("input, select, .drawer, .cmp, .tabs");
            own.is_ok_and(|found| found.is_some())
        };
        let turns = layout.narrow.get_untracked()
            && event.pointer_type() == "touch"
            && event.is_primary()
            && target.is_some_and(|target| !own(&target));
        from.set_value(turns.then(|| (event.client_x(), event.client_y())));
    };
    let up = move |event: web_sys::PointerEvent| {
        let Some((x, y)) = from.try_update_value(Option::take).flatten() else {
            return;
        };
        let (dx, dy) = (event.client_x() - x, event.client_y() - y);
        if dx.abs() >= SWIPE && dx.abs() > 2 * dy.abs() {
            layout.turn(dx < 0);
        }
    };
    (down, up)
}

/// The tabs of all rooms, for when one is shown at a time.
#[component]
pub(super) fn RoomTabs() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let telling = ui.memo(|view| view.story.is_some());
    view! {
        {shown(move || layout.narrow.get() && !telling.get(), move || view! {
            <nav class="room-nav" aria-label=ui.word(|words| words.rooms)>
                {part(move || {
                    let rooms = layout.panels.with(rooms);
                    view! { <Tabs class="room-tabs" rooms=rooms lower=false /> }
                })}
            </nav>
        })}
    }
}

/// The rooms in the order of the data's path, for when a story shows one of them at a time: where one is, and what the
/// scene is about.
#[component]
pub(super) fn RoomMap() -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let lit = ui.memo(|view| view.story.as_ref().map(|story| story.lit.clone()));
    let source = ui.memo(|view| view.picture.api.source);
    let on_map = Memo::new(move |_| {
        // The code beside the path is on the map only when it is shown.
        let here = |room: &Panel| *room != Panel::Now || layout.shown.get() == Panel::Now;
        let rooms = layout.panels.with(rooms);
        rooms.into_iter().filter(here).collect::<Vec<_>>()
    });
    let is_lit = move |room| lit.with(|lit| lit.as_ref().is_some_and(|lit| lit.contains(&room)));
    let stop = move |room: Panel| {
        let name = text(move || match room {
            Panel::Api => strings::source(ui.lang.get(), source.get()),
            room => strings::room(ui.lang.get(), room),
        });
        view! {
            <li class:lit=move || is_lit(room)>
                <button
                    data-testid=format!("map-{}", room.id())
                    aria-current=maybe(move || (layout.shown.get() == room).then_some("location"))
                    on:click=move |_| layout.choose(room)
                >
                    {name}
                </button>
            </li>
        }
    };
    view! {
        {shown(move || {
            layout.narrow.get() && lit.with(Option::is_some) && on_map.with(|rooms| rooms.len() > 1)
        }, move || view! {
            <nav class="room-map" aria-label=ui.word(|words| words.rooms)>
                <ol>{part(move || on_map.get().into_iter().map(stop).collect_view())}</ol>
            </nav>
        })}
    }
}

/// The tabs of the lower two rooms, for when they share one place.
#[component]
pub(super) fn LowerTabs() -> impl IntoView {
    let layout = Layout::get();
    view! {
        {shown(move || {
            let all = layout.panels.with(Vec::is_empty);
            all && layout.short.get() && !layout.narrow.get()
        }, move || view! {
            <Tabs class="lower-tabs" rooms=Panel::ALL.into_iter().filter(|room| room.is_below()).collect() lower=true />
        })}
    }
}

/// The rooms that are shown.
fn rooms(chosen: &Vec<Panel>) -> Vec<Panel> {
    match &**chosen {
        [] => Panel::ALL.to_vec(),
        chosen => chosen.to_vec(),
    }
}

#[component]
fn Tabs(class: &'static str, rooms: Vec<Panel>, lower: bool) -> impl IntoView {
    let ui = Ui::get();
    let layout = Layout::get();
    let chosen = Memo::new(move |_| match lower {
        true => layout.lower.get(),
        false => layout.shown.get(),
    });
    let choose = move |room| match lower {
        true => layout.lower.set(room),
        false => layout.choose(room),
    };
    let live = ui.memo(|view| current(view).map(acting::room));
    let kind = ui.memo(|view| view.picture.queue.kind);
    let source = ui.memo(|view| view.picture.api.source);
    let list = NodeRef::<html::Div>::new();
    let go = move |room: Panel| {
        choose(room);
        focus(ui.host().find(&format!("#tab-{}", room.id())));
    };
    if !rooms.contains(&chosen.get_untracked())
        && let Some(first) = rooms.first()
    {
        choose(*first);
    }
    effect(move || in_sight(ui, list, &format!("tab-{}", chosen.get().id())));
    let all = rooms.clone();
    let on_key = move |event: web_sys::KeyboardEvent| {
        let rooms = &all;
        let at = rooms
            .iter()
            .position(|room| *room == chosen.get_untracked());
        if let Some(to) = along(&event, at, rooms.len()) {
            go(rooms[to]);
        }
    };
    view! {
        <div
            class=format!("tabs {class}")
            role="tablist"
            aria-label=ui.word(|words| words.rooms)
            node_ref=list
            on:keydown=on_key
        >
            {rooms
                .iter()
                .map(|room| {
                    let room = *room;
                    let on = move || chosen.get() == room;
                    let name = text(move || match room {
                        Panel::Queue => kind.get().id(),
                        Panel::Api => strings::source(ui.lang.get(), source.get()),
                        room => strings::room(ui.lang.get(), room),
                    });
                    view! {
                        <button
                            role="tab"
                            id=format!("tab-{}", room.id())
                            aria-controls=format!("room-{}", room.id())
                            aria-selected=text(move || on().to_string())
                            tabindex=text(move || if on() { "0" } else { "-1" })
                            class:acting=move || live.get() == Some(room)
                            on:click=move |_| go(room)
                        >
                            {name}
                        </button>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// The size of an element in the design's px (16 to the rem), updated as it changes.
pub(super) fn size_of(element: NodeRef<html::Div>) -> RwSignal<(f64, f64)> {
    measured(element, true)
}

/// The same in px.
pub(super) fn px_of(element: NodeRef<html::Div>) -> RwSignal<(f64, f64)> {
    measured(element, false)
}

/// A browser that is asked while the screen changes computes all styles for its answer, so it is asked only when the size changes.
fn measured(element: NodeRef<html::Div>, in_rem: bool) -> RwSignal<(f64, f64)> {
    let size = RwSignal::new((0.0, 0.0));
    let host = Ui::get().host();
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        let measured = element.clone();
        let host = host.clone();
        let on_resize = Closure::<dyn FnMut()>::new(move || {
            let scale = if in_rem { 16.0 / rem(&host) } else { 1.0 };
            let now = (
                f64::from(measured.client_width()) * scale,
                f64::from(measured.client_height()) * scale,
            );
            if size.get_untracked() != now {
                size.set(now);
            }
        });
        let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else {
            return;
        };
        observer.observe(&element);
        let kept = StoredValue::new_local((observer, on_resize));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    });
    size
}

/// How many boxes of `each` px with gaps of `gap` px fit into `length`; `unknown` before the first layout.
pub(super) fn fit(length: f64, each: f64, gap: f64, unknown: usize) -> usize {
    if length <= 0.0 {
        return unknown;
    }
    // Half a pixel of slack: sizes are rounded.
    let count = ((length + gap + 0.5) / (each + gap)).floor().max(0.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a cast saturates"
    )]
    let count = (count as usize).min(10_000);
    count
}

/// How many px one rem is.
fn rem(host: &Host) -> f64 {
    let style = host
        .measure()
        .and_then(|root| window().get_computed_style(&root).ok().flatten());
    style
        .and_then(|style| style.get_property_value("font-size").ok())
        // The browser's parser: Rust's would add ten KB to the download.
        .map(|size| js_sys::Number::parse_float(&size))
        .filter(|size| *size > 0.0)
        .unwrap_or(16.0)
}

/// Whether an element is too narrow or too short to show everything at once. The frame passes the first to the
/// styles as the class `narrow`.
fn framed(ui: Ui) -> (RwSignal<bool>, RwSignal<bool>) {
    let (narrow, short) = (RwSignal::new(false), RwSignal::new(false));
    let host = ui.host();
    let Some((frame, measured)) = host.frame().zip(host.measure()) else {
        return (narrow, short);
    };
    let width = RwSignal::new(0.0);
    let observed = frame.clone();
    let look = move || {
        let scale = 16.0 / rem(&host);
        let (wide, high) = (measured.client_width(), measured.client_height());
        let [wide, high] = [wide, high].map(|length| f64::from(length) * scale);
        set(width, wide);
        set(short, is_short(wide, high));
    };
    look();
    let on_resize = Closure::<dyn FnMut()>::new(look);
    if let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
        observer.observe(&observed);
        let kept = StoredValue::new_local((observer, on_resize));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    }
    let least = move || ui.shape.with(|shape| f64::from(least_width(&shape.panels)));
    let fits = Memo::new(move |_| width.get() >= least());
    let classes = StoredValue::new_local(frame);
    // Set at once, so that nothing is laid out twice.
    set(narrow, !fits.get_untracked());
    let mark = move |narrow: bool| {
        classes.with_value(|frame| {
            let _ = frame.class_list().toggle_with_force("narrow", narrow);
        });
    };
    mark(narrow.get_untracked());
    effect(move || {
        let is_narrow = !fits.get();
        mark(is_narrow);
        set(narrow, is_narrow);
    });
    (narrow, short)
}

fn set<T: PartialEq + Copy + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.get_untracked() != value {
        signal.set(value);
    }
}

/// The same as [`SHORT`], in the design's px.
fn is_short(wide: f64, high: f64) -> bool {
    high < 800.0 || wide < 1_200.0 && high < 960.0
}

fn media(query: &str) -> RwSignal<bool> {
    let matches = RwSignal::new(false);
    let Ok(Some(list)) = window().match_media(query) else {
        return matches;
    };
    matches.set(list.matches());
    let followed: MediaQueryList = list.clone();
    let on_change = Closure::<dyn FnMut()>::new(move || matches.set(followed.matches()));
    let _ = list.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
    let kept = StoredValue::new_local((list, on_change));
    on_cleanup(move || {
        kept.with_value(|(list, on_change)| {
            let _ = list
                .remove_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
        });
    });
    matches
}
