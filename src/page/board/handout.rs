//! The handout of a lesson: what stands on paper, over the board, with a button that prints it.

use leptos::prelude::*;

use super::parts::{Live, part, shown};
use crate::ui::Ui;
use deltascope_presentation::command::{Command, Export, Tell};
use deltascope_presentation::view::View;

/// Whether it covers the board, so that the board gets no keys.
pub(super) fn covers(ui: Ui) -> bool {
    let embedded = ui.shape.with_untracked(|shape| shape.embedded);
    !embedded && ui.view.with_untracked(|view| view.on_paper())
}

/// The handout, while it is shown.
pub(super) fn handout(ui: Ui) -> Live<AnyView> {
    let is_shown = ui.memo(View::on_paper);
    let lesson = ui.memo(|view| (view.lesson.id.clone(), view.lesson.era));
    shown(
        move || is_shown.get(),
        move || {
            view! {
                <div class="handout" data-testid="handout" role="main" aria-label=ui.word(|words| words.handout)>
                    <div class="handout-bar">
                        <button
                            class="btn go"
                            data-testid="handout-print"
                            on:click=move |_| {
                                // Fails where the page may not open dialogs.
                                let _ = window().print();
                            }
                        >
                            {ui.word(|words| words.handout_print)}
                        </button>
                        <button
                            class="btn"
                            data-testid="handout-close"
                            on:click=move |_| ui.send(Command::Tell(Tell::Handout(false)))
                        >
                            {ui.word(|words| words.close)}
                        </button>
                    </div>
                    {part(move || {
                        lesson.track();
                        match ui.export.run(Export::Handout(ui.lang.get())) {
                            Ok(html) => view! { <article class="paper" inner_html=html></article> }.into_any(),
                            Err(reason) => {
                                let reason = reason.get(ui.lang.get()).to_owned();
                                view! { <article class="paper">{reason}</article> }.into_any()
                            }
                        }
                    })}
                </div>
            }
        },
    )
}
