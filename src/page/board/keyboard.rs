//! Listens to the keyboard. `keys` decides whether a key belongs to the stage or to the focused element; this
//! module finds out which element has the focus, and how it got it.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent};

use super::layout::Layout;
use super::parts::focus;
use super::{handout, own, transport};
use crate::host::Host;
use crate::later::{Part, has};
use crate::ui::Ui;
use deltascope_presentation::command::{Command, Tell};
use deltascope_presentation::keys::{Action, Focus, Press, Reached, Shown, action, is_typed};
use deltascope_presentation::view::View;

/// How the focused element got the focus.
#[derive(Default)]
struct Way {
    reached: Cell<Reached>,
    /// How an element would get the focus now.
    next: Cell<Reached>,
    /// Whether the last key is one that selects in a `<select>`.
    typed: Cell<bool>,
    /// Whether the stage took Space; then its keyup must not press a button.
    taken: Cell<bool>,
}

impl Way {
    fn done(&self) {
        self.reached.set(Reached::Done);
        self.next.set(Reached::Done);
        self.typed.set(false);
    }

    /// The stage has no use for this key.
    fn passed(&self, press: Press<'_>) {
        self.typed.set(is_typed(press.key));
        self.taken.set(false);
        let along = matches!(press.key, "Tab" | "Home" | "End") || press.key.starts_with("Arrow");
        self.next
            .set(if along { Reached::Tab } else { Reached::Key });
        // Moving along a list is using it again.
        if along && matches!(press.focus, Focus::List | Focus::Tab) {
            self.reached.set(Reached::Key);
        }
    }
}

/// The answers to choose from, or the field for one, while a question is open.
const ANSWERS: &str = ".question:has(> .led) :is(.answer, input):enabled";

/// What sends a number that is typed.
const TYPED: &str = ".question:has(> .led) .one-number:valid button";

/// The way on from the end of a story, in front of a class.
const NEXT_LESSON: &str = "[data-testid=next-lesson]";

/// Chooses the answer of this number, from 1. Returns whether the key is done with: a field takes the digit itself.
fn choose(host: &Host, at: u32) -> bool {
    let first = host.find(ANSWERS);
    if let Some(field) = first.filter(|one| one.tag_name() == "INPUT") {
        focus(Some(field));
        return false;
    }
    let answers = host.find_all(ANSWERS);
    if let Some(answer) = answers.and_then(|answers| answers.get(at - 1)) {
        answer.unchecked_into::<HtmlElement>().click();
    }
    true
}

/// From now on the keys control the stage.
pub(super) fn listen(ui: Ui, layout: Layout, help: RwSignal<bool>) {
    let host = ui.host();
    let way = Rc::new(Way::default());
    let seen = Rc::clone(&way);
    host.listen_first("pointerdown", move |_: Event| seen.done());
    let seen = Rc::clone(&way);
    host.listen_first("focusin", move |_: Event| seen.reached.set(seen.next.get()));
    let seen = Rc::clone(&way);
    host.listen("change", move |event: Event| {
        let chosen = target(&event).is_some_and(|element| element.tag_name() == "SELECT");
        // While the user types letters, further letters may choose another option.
        if chosen && !seen.typed.get() {
            seen.done();
        }
    });
    let seen = Rc::clone(&way);
    host.listen_first("keyup", move |event: KeyboardEvent| {
        if event.key() == " " && seen.taken.replace(false) {
            event.prevent_default();
        }
    });
    let here = host.clone();
    // First, before the focused element gets the key.
    host.listen_first("keydown", move |event: KeyboardEvent| {
        let key = event.key();
        let press = Press {
            key: &key,
            shift: event.shift_key(),
            modified: event.ctrl_key() || event.alt_key() || event.meta_key(),
            focus: focus_of(&event),
            reached: way.reached.get(),
        };
        let Some(action) = meant(ui, layout, &here, &event, press) else {
            way.passed(press);
            return;
        };
        way.typed.set(false);
        way.next.set(Reached::Key);
        way.taken.set(key == " ");
        if let Action::Choose(at) = action
            && !choose(&here, at)
        {
            return;
        }
        event.prevent_default();
        event.stop_propagation();
        // The next scene shows the answer: the way there leads past the question first, says so, and then shows what
        // happens, and why.
        let asks = (action == Action::Command(Command::Tell(Tell::Next)))
            .then(|| here.find(".led").zip(here.find(ANSWERS)))
            .flatten();
        if let Some((led, answer)) = asks {
            if let Some(send) = here.find(TYPED) {
                send.unchecked_into::<HtmlElement>().click();
                return;
            }
            if here.find(".led:empty").is_none() {
                ui.send(Command::Tell(Tell::Answer(None)));
                here.focus_still(".tale");
                return;
            }
            led.set_text_content(Some(ui.words().story_led));
            // There, space answers, unless it is the key that led there.
            if key != " " {
                way.next.set(Reached::Tab);
            }
            focus(Some(answer));
            return;
        }
        // At the end of a story, in front of a class: the first press leads to the next lesson, another one opens it.
        if action == Action::Command(Command::Tell(Tell::Next))
            && let Some(next) = here.find(NEXT_LESSON)
        {
            // While it plays, what the class has done is still to be seen.
            let plays = ui.view.with_untracked(|view| view.playing);
            if plays {
                return;
            }
            match next.matches(":focus").unwrap_or_default() {
                true => next.unchecked_into::<HtmlElement>().click(),
                false => focus(Some(next)),
            }
            return;
        }
        obey(ui, layout, help, action);
    });

    let here = host.clone();
    // Last: components that have something open close that first.
    host.listen("keydown", move |event: KeyboardEvent| {
        unused(ui, layout, &here, &event);
    });
}

/// The signals that open a dialog learn only later that the browser has closed it, so ask the document.
fn has_dialog(host: &Host) -> bool {
    host.find("dialog[open]").is_some()
}

/// What a key does to the stage, if anything.
fn meant(
    ui: Ui,
    layout: Layout,
    here: &Host,
    event: &KeyboardEvent,
    press: Press<'_>,
) -> Option<Action> {
    let (steps, tells, has_story) = ui
        .view
        .with_untracked(|view| (view.steps, view.story.is_some(), view.lesson.has_story));
    let presenter = layout.presenter;
    let shown = match (
        presenter.blank.get_untracked(),
        presenter.on.get_untracked(),
    ) {
        (true, _) => Shown::Blank,
        (_, true) => Shown::Presenter,
        (..) if tells => Shown::Story,
        (..) => Shown::Board,
    };
    let covered = has_dialog(here) || handout::covers(ui);
    // An input method's keys are its own.
    let action = if covered || event.default_prevented() || event.is_composing() {
        None
    } else {
        action(press, steps, shown)
    };
    let action = action.filter(|action| {
        let tell = matches!(action, Action::Command(Command::Tell(_)));
        let present = matches!(action, Action::Present);
        let watched = ui.shape.with_untracked(|shape| shape.watch);
        (!tell || has_story && (tells || !watched))
            && (!present || here.is_page() && !layout.narrow.get_untracked())
    });
    // The stage is not there.
    let shelved = untrack(|| ui.shelved());
    action.filter(|action| !shelved || *action == Action::Help)
}

fn obey(ui: Ui, layout: Layout, help: RwSignal<bool>, action: Action) {
    let presenter = layout.presenter;
    match action {
        Action::Command(Command::TogglePlay) => transport::toggle_play(ui),
        Action::Choose(_) => {}
        Action::Command(command) => ui.send(command),
        Action::Help => help.set(true),
        Action::Present => presenter.toggle(),
        Action::Blank => presenter.blank.update(|blank| *blank = !*blank),
        Action::Code => presenter.code.update(|code| *code = !*code),
    }
}

/// A key that nothing has taken: Escape closes what is on top.
fn unused(ui: Ui, layout: Layout, here: &Host, event: &KeyboardEvent) {
    let modified = event.ctrl_key() || event.alt_key() || event.meta_key();
    // The page around has shortcuts of its own; keys pressed in here must not trigger them.
    if !here.is_page() && !modified && event.key() != "Tab" {
        event.stop_propagation();
    }
    if has_dialog(here) || event.default_prevented() || event.is_composing() {
        return;
    }
    if untrack(|| ui.shelved()) {
        if !modified && has(Part::Own) {
            own::on_key(ui, event);
        } else if event.key() == "Escape" {
            ui.show_stage();
        }
        return;
    }
    if event.key() != "Escape" {
        return;
    }
    let is_over = |view: &Rc<View>| view.error.is_some() || view.opening.is_some();
    if ui.waits.get_untracked()
        || ui.missing.with_untracked(Option::is_some)
        || ui.view.with_untracked(is_over)
    {
        event.prevent_default();
        ui.send(Command::DismissError);
    } else if layout.presenter.close() {
        event.prevent_default();
    } else if handout::covers(ui) {
        event.prevent_default();
        ui.send(Command::Tell(Tell::Handout(false)));
    } else if layout.drawer.open.get_untracked().is_some() {
        event.prevent_default();
        layout.drawer.close();
    } else if ui.view.with_untracked(|view| view.beside.is_some()) {
        event.prevent_default();
        ui.send(Command::CloseCompare);
    } else if !here.is_page() {
        here.leave();
    }
}

fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

fn focus_of(event: &Event) -> Focus {
    let Some(element) = target(event) else {
        return Focus::Page;
    };
    let (role, kind) = (element.get_attribute("role"), element.get_attribute("type"));
    match (&*element.tag_name(), kind.as_deref(), role.as_deref()) {
        ("INPUT", Some("range"), _) => Focus::Slider,
        ("INPUT", Some("checkbox"), _) => Focus::Button,
        (_, _, Some("tab")) | ("INPUT", Some("radio"), _) => Focus::Tab,
        ("INPUT", Some("number"), _) if is_empty(&element) => Focus::Number,
        ("INPUT" | "TEXTAREA", ..) => Focus::Text,
        ("SELECT", ..) if element.matches(":open").unwrap_or_default() => Focus::Open,
        ("SELECT", ..) => Focus::Select,
        (_, _, Some("listbox")) => Focus::List,
        ("BUTTON" | "A" | "SUMMARY", ..) | (_, _, Some("button")) => Focus::Button,
        _ if element.has_attribute("data-anchor") => Focus::Button,
        _ if scrolls(&element) => Focus::Scroll,
        _ => Focus::Page,
    }
}

fn is_empty(field: &Element) -> bool {
    let field = field.dyn_ref::<HtmlInputElement>();
    field.is_some_and(|field| field.value().is_empty())
}

fn scrolls(element: &Element) -> bool {
    let element = element.dyn_ref::<HtmlElement>();
    element.is_some_and(|element| {
        element.tab_index() >= 0 && element.scroll_height() > element.client_height()
    })
}
