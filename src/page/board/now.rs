//! What runs now: the pseudo-code, and the lanes.

use leptos::html;
use leptos::prelude::*;

use super::frame::Frame;
use super::parts::part;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::lanes::{self, Kind, Lane};
use deltascope_presentation::pseudo::{self, Listing};
use deltascope_presentation::stage::Panel;

#[component]
pub(super) fn Now() -> impl IntoView {
    let ui = Ui::get();
    let listing = ui.memo(|view| pseudo::listing(view.narrated().0, view.narrated().1));
    let rows = ui.memo(|view| lanes::lanes(&view.recent, &view.picture));
    let title = ui.word(|words| words.now_running);
    let side = move || {
        view! {
            <span class="where" translate="no">
                {part(move || {
                    listing.with(|listing| place(listing, true, false, true))
                })}
            </span>
        }
    };
    let code = NodeRef::<html::Pre>::new();
    Effect::new(move |_| {
        listing.track();
        if let Some(code) = code.get() {
            // Once the lines of this step are in place.
            request_animation_frame(move || show_current(&code));
        }
    });
    view! {
        <Frame room=Panel::Now title=title side=side>
            <div class="listing">
            <pre class="code" node_ref=code tabindex="0" translate="no">
                {part(move || {
                    listing
                        .with(|listing| {
                            if listing.lines.is_empty() {
                                return view! { <span class="empty">{ui.words().nothing_runs}</span> }
                                    .into_any();
                            }
                            listing
                                .lines
                                .iter()
                                .map(|line| {
                                    let text = line.text;
                                    let value = line
                                        .value
                                        .clone()
                                        .map(|value| view! { <i class="result">"→ " {value}</i> });
                                    if line.current {
                                        view! { <mark><span class="text">{text}</span> {value}</mark> }.into_any()
                                    } else {
                                        view! { <span class="line"><span class="text">{text}</span> {value}</span> }.into_any()
                                    }
                                })
                                .collect_view()
                                .into_any()
                        })
                })}
            </pre>
            </div>
            <Lanes rows=rows />
        </Frame>
    }
}

/// What runs, with a link into client-go if there is one. The short forms leave out the caller, or the version of
/// client-go, which the styles may leave out too. Where the link may be hidden, Tab has to skip it.
pub(super) fn place(
    listing: &Listing,
    whole_routine: bool,
    whole_link: bool,
    focusable: bool,
) -> impl IntoView + use<> {
    let title = listing.title();
    let routine = if whole_routine {
        title.clone()
    } else {
        listing.routine.clone()
    };
    let link = listing.link.clone().map(|link| {
        let title = link.to_string();
        let source =
            whole_link.then(|| view! { <span class="version">{link.source + " "}</span> });
        view! {
            <a tabindex=(!focusable).then_some("-1") href=link.url target="_blank" rel="noopener noreferrer" title=title>
                {source}
                {link.place}
            </a>
        }
    });
    let dot =
        (!routine.is_empty() && link.is_some()).then(|| view! { <span class="dot">"·"</span> });
    view! {
        <span class="n" title=title>
            {routine}
        </span>
        {dot}
        {link}
    }
}

fn show_current(code: &web_sys::HtmlElement) {
    use leptos::wasm_bindgen::JsCast;
    let Ok(Some(mark)) = code.query_selector("mark") else {
        return;
    };
    let Ok(mark) = mark.dyn_into::<web_sys::HtmlElement>() else {
        return;
    };
    let (top, height) = (mark.offset_top() - code.offset_top(), mark.offset_height());
    let (from, room) = (code.scroll_top(), code.client_height());
    // The first line is sticky: it stays on top of the others.
    if height == 0 {
        return;
    }
    // Scroll by whole lines, so that the first is not cut. A line's height is no whole number of pixels.
    let line = mark.get_bounding_client_rect().height();
    let lines = if top < from + height || top + height > from + room {
        let above = f64::from((room / height).max(2) / 2);
        (f64::from(top) / line).round() - above
    } else {
        // The previous listing may have left the scroll position between two lines.
        (f64::from(from) / line).floor()
    };
    // The lowest scroll position may come first, and it may not be at a whole line.
    let furthest = f64::from(code.scroll_height() - room) / line;
    let lines = lines.min(furthest.floor());
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a place in a listing of some ten lines"
    )]
    code.set_scroll_top((lines * line).round() as i32);
}

#[component]
fn Lanes(rows: Memo<Vec<Lane>>) -> impl IntoView {
    let ui = Ui::get();
    let name = move |actor| {
        let lang = ui.lang.get();
        ui.view
            .with(|view| lanes::actor_name(actor, &view.picture, lang))
    };
    view! {
        <div
            class="lanes"
            class:many=move || rows.with(|rows| rows.len() > 2)
            prop:style=move || format!("--rows:{}", rows.with(|rows| rows.len().div_ceil(2)))
            tabindex="0"
            role="group" aria-label=ui.word(|words| words.lanes)
        >
            {part(move || {
                let words = ui.words();
                rows
                    .get()
                    .into_iter()
                    .map(|lane| {
                        view! {
                            <div class="lane">
                                <span class="n">{name(lane.actor)}</span>
                                <span class="track">
                                    {lane
                                        .segments
                                        .iter()
                                        .map(|segment| {
                                            let (class, title) = match segment.kind {
                                                Kind::Runs => ("run", words.runs),
                                                Kind::HoldsLock => ("lk", words.holds_lock),
                                                Kind::HoldsBlock => ("lk bd", words.holds_lock),
                                                Kind::Waits => ("wt", words.waits),
                                                Kind::WaitsBlock => ("wt bd", words.waits),
                                            };
                                            let title = if class.ends_with("bd") {
                                                [title, " (blockDeltas)"].concat()
                                            } else {
                                                title.to_owned()
                                            };
                                            let width = (segment.to - segment.from).max(0.004);
                                            let style = decimals(
                                                "left:#%;width:#%",
                                                &[segment.from, width].map(|x| f64::from(x) * 100.0),
                                            );
                                            view! { <i class=class title=title prop:style=style></i> }
                                        })
                                        .collect_view()}
                                </span>
                            </div>
                        }
                    })
                    .collect_view()
            })}
        </div>
    }
}
