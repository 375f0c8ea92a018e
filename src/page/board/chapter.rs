//! The way from a lesson to its chapter of the book.

use leptos::prelude::*;

use super::parts::{Live, shown, text};
use crate::host::told;
use crate::ui::Ui;

/// A link to the chapter, where the books are beside the page. The site's page says so in its head; any other page is
/// served alone, and a link would lead to nothing.
pub(super) fn to_chapter(ui: Ui) -> Live<AnyView> {
    let chapter = ui.memo(|view| view.lesson.chapter.clone());
    let books = books(ui);
    let is_there = books.is_some();
    let books = StoredValue::new(books.unwrap_or_default());
    shown(
        move || is_there && chapter.with(Option::is_some),
        move || {
            let address = text(move || {
                let lang = ui.lang.get();
                let folder = lang.pick("en", "zh");
                let place = chapter.with(|chapter| Some(chapter.as_ref()?.address(lang)));
                let books = books.get_value();
                format!("{books}{folder}/{}", place.unwrap_or_default())
            });
            // Beside the run, which stays as it is.
            view! {
                <a class="to-chapter" data-testid="to-chapter" href=address target="deltascope-book">
                    {ui.word(|words| words.read_chapter)}
                </a>
            }
        },
    )
}

fn books(ui: Ui) -> Option<String> {
    if !ui.host().is_page() {
        return None;
    }
    told("book")
}
