//! A story in front of a class: nothing but stage and panel on the screen, in large type.

use std::cell::RefCell;

use js_sys::{Function, Promise, Reflect};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, PointerEvent};

use super::later::later;
use super::parts::{shown, text};
use crate::animate::{Animation, Timing, animate};
use crate::later::Part;
use crate::memo::{Memo, effect, effect_after};
use crate::ui::Ui;
use deltascope_presentation::command::Export;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::qr;
use deltascope_replay::lessons;
use deltascope_world::text::Text;

/// The class of the page's root by which the styles know.
const CLASS: &str = "presenting";

/// Nobody types more characters than these.
const TYPED: usize = 90;

/// How long a ring is around a pointer that rests.
const RING_MS: u32 = 2_000;

/// What the presenter shows.
#[derive(Clone, Copy)]
pub(super) struct Presenter {
    pub(super) on: RwSignal<bool>,
    /// Whether the screen is blank.
    pub(super) blank: RwSignal<bool>,
    /// Whether the code of the link to this moment is shown.
    pub(super) code: RwSignal<bool>,
    /// Whether it begins with the next story that is shown.
    pub(super) next: RwSignal<bool>,
}

impl Presenter {
    /// Only a story on the project's own page has one, where several rooms fit on the screen; the shelf is for whoever
    /// chooses, not for the class.
    pub(super) fn new(ui: Ui, narrow: RwSignal<bool>) -> Self {
        let [on, blank, code, next] = [(); 4].map(|()| RwSignal::new(false));
        let all = Self {
            on,
            blank,
            code,
            next,
        };
        let host = ui.host();
        if !host.is_page() {
            return all;
        }
        let can = ui.memo(|view| view.story.as_ref().is_some_and(|story| !story.handout));
        effect(move || {
            let can = can.get() && !narrow.get() && !ui.shelved();
            if can && next.get_untracked() {
                next.set(false);
                on.set(true);
            } else if !can {
                on.set(false);
            }
        });
        effect_after(move |before: Option<bool>| {
            let now = on.get();
            if now != before.unwrap_or_default()
                && let Some(root) = ui.host().root()
            {
                // Fails only for a malformed name.
                let _ = root.class_list().toggle_with_force(CLASS, now);
                blank.set(false);
                code.set(false);
                fill_screen(now, on);
            }
            now
        });
        // The browser takes Escape to itself while the page fills the screen.
        host.listen("fullscreenchange", move |_: Event| {
            if document().fullscreen_element().is_none() {
                on.set(false);
            }
        });
        all
    }

    /// Begins or ends it.
    pub(super) fn toggle(self) {
        self.on.update(|on| *on = !*on);
    }

    /// Closes what is open: the blank screen, the code, and then the presenter. Returns whether there was anything.
    pub(super) fn close(self) -> bool {
        let open = [self.blank, self.code, self.on].into_iter();
        let mut open = open.filter(|one| one.get_untracked());
        open.next().map(|one| one.set(false)).is_some()
    }
}

/// Lets the page fill the screen, or not any more. Where that is not allowed, all else is the same.
fn fill_screen(fill: bool, on: RwSignal<bool>) {
    let root = document().document_element();
    let (of, name): (JsValue, _) = match fill {
        true => (root.into(), "requestFullscreen"),
        false if document().fullscreen_element().is_none() => return,
        false => (document().into(), "exitFullscreen"),
    };
    let call = Reflect::get(&of, &name.into()).ok();
    let call = call.and_then(|call| call.dyn_into::<Function>().ok());
    let done = call.and_then(|call| call.call0(&of).ok());
    if let Some(done) = done.and_then(|done| done.dyn_into::<Promise>().ok()) {
        spawn_local(async move {
            let _ = JsFuture::from(done).await;
            // It may have been ended before the screen was filled.
            if fill && !on.get_untracked() {
                fill_screen(false, on);
            }
        });
    }
}

/// What is over the screen: a ring that follows the pointer, the code, and nothing at all.
#[component]
pub(super) fn Over(presenter: Presenter) -> impl IntoView {
    let ui = Ui::get();
    let Presenter {
        on, blank, code, ..
    } = presenter;
    shown(
        move || on.get(),
        move || {
            let ring = NodeRef::<html::Div>::new();
            let fades = RefCell::new(None::<Animation>);
            ui.host().listen("pointermove", move |event: PointerEvent| {
                let at = [f64::from(event.client_x()), f64::from(event.client_y())];
                let style = decimals("translate:#px #px", &at);
                if let Some(ring) = ring.get_untracked() {
                    web_sys::HtmlElement::style(&ring).set_css_text(&style);
                    // A ring that rests would lie on words.
                    let shown = [("opacity", "1")];
                    let frames: [&[_]; 3] =
                        [&shown, &[shown[0], ("offset", "0.75")], &[("opacity", "0")]];
                    let timing = Timing {
                        at: 0,
                        ms: RING_MS,
                        fill: "none",
                    };
                    let before = fades.replace(Some(animate(&ring, &frames, timing)));
                    if let Some(before) = before {
                        before.cancel();
                    }
                }
            });
            view! {
                {shown(move || code.get(), move || view! {
                    {later(Part::Seldom, || true, move || big_code(ui, code))}
                })}
                {shown(move || blank.get(), move || view! {
                    <div class="blanked" data-testid="blanked" on:click=move |_| blank.set(false)>
                        <span class="heard" role="status">{ui.word(|words| words.present_blank)}</span>
                    </div>
                })}
                <div class="pointer" node_ref=ring aria-hidden="true" data-testid="pointer"></div>
            }
        },
    )
}

/// The code of the link to this moment, what it opens, and where it leads, for those who have a keyboard.
fn big_code(ui: Ui, code: RwSignal<bool>) -> AnyView {
    let link = Memo::new(move |_| {
        // Another moment has another link.
        ui.view.track();
        ui.export.run(Export::Link)
    });
    let opens = move || match (is_here_alone(), has_own_story(ui)) {
        (true, _) => ui.words().code_here,
        (false, true) => ui.words().code_run,
        (false, false) => ui.words().code_scan,
    };
    let typed = move || link.get().ok().filter(|link| link.len() <= TYPED);
    view! {
        <div class="big-code" role="dialog" aria-label=ui.word(|words| words.code) on:click=move |_| code.set(false)>
            {super::parts::part(move || drawn(ui, link.get()))}
            <p data-testid="code-opens">{text(opens)}</p>
            <p class="mono" translate="no" data-testid="code-link">{text(move || typed().unwrap_or_default())}</p>
        </div>
    }
    .into_any()
}

/// Whether the story that is shown is one's own, which no link carries.
pub(super) fn has_own_story(ui: Ui) -> bool {
    ui.view
        .with(|view| view.lesson.has_story && !lessons::is_known(&view.lesson.id))
}

/// Whether the page's address leads every other machine to itself.
pub(super) fn is_here_alone() -> bool {
    let name = window().location().hostname().unwrap_or_default();
    name == "[::1]" || name.starts_with("127.") || name.rsplit('.').next() == Some("localhost")
}

/// A link as a code, or why there is none.
pub(super) fn drawn(ui: Ui, link: Result<String, Text>) -> AnyView {
    let code = match link {
        Ok(link) => qr::code(&link),
        Err(reason) => {
            let reason = reason.get(ui.lang.get()).to_owned();
            return view! { <p class="share-note" data-testid="no-code">{reason}</p> }.into_any();
        }
    };
    let Some(code) = code else {
        return view! {
            <p class="share-note" data-testid="no-code">{ui.word(|words| words.code_long)}</p>
        }
        .into_any();
    };
    view! {
        <svg
            class="qr-code"
            role="img"
            aria-label=ui.word(|words| words.code)
            viewBox=format!("0 0 {0} {0}", code.side)
            shape-rendering="crispEdges"
            data-testid="code"
        >
            <path d=code.path></path>
        </svg>
    }
    .into_any()
}

/// The buttons that begin and end it, and that of the code.
pub(super) fn buttons(ui: Ui, presenter: Presenter) -> AnyView {
    let on = presenter.on;
    let word = move || {
        let words = ui.words();
        if on.get() {
            words.present_leave
        } else {
            words.present
        }
    };
    view! {
        <button
            class="btn present"
            data-testid="story-present"
            title=text(move || format!("{} (P)", word()))
            on:click=move |_| presenter.toggle()
        >
            {super::icons::drawn(super::icons::PRESENT)}
            <span>{text(word)}</span>
        </button>
        {shown(move || on.get(), move || view! {
            <button
                class="btn present"
                data-testid="story-code"
                title=text(move || format!("{} (Q)", ui.words().code))
                aria-label=ui.word(|words| words.code)
                aria-pressed=text(move || presenter.code.get().to_string())
                on:click=move |_| presenter.code.update(|code| *code = !*code)
            >
                {super::icons::drawn(super::icons::CODE)}
                <span>{ui.word(|words| words.code_short)}</span>
            </button>
        })}
    }
    .into_any()
}
