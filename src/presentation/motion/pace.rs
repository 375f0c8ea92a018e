//! How long playback shows a fact: until its motion is over, and until its sentence can have been read.

use crate::caption::{Span, plain};
use crate::rows::said;
use crate::view::View;
use deltascope_cache::fact::{Fact, QueueFact, StoreFact};
use deltascope_world::text::Lang;

/// What is read in a second, in halves of a Latin letter.
const A_SECOND: usize = 46;
/// A Han character takes as long as so many of them.
const HAN: usize = 5;
/// No sentence is shown for longer because it is long, in ms.
const MOST_MS: u32 = 4_000;
/// An event comes from the server into the index in six seconds. These are the shares of the three sentences.
const QUEUED_MS: u32 = 2_500;
const POPPED_MS: u32 = 1_900;
const STORED_MS: u32 = 1_600;
/// Retries are no news.
const WORK_MS: u32 = 1_000;

/// The time to read what is said of the view, in ms at normal speed. A story and a race have words and times of their
/// own.
#[must_use]
pub fn reading(view: &View, lang: Lang) -> u32 {
    match view.narrated().0.last() {
        Some(record) if view.story.is_none() && view.race().is_none() => {
            of_sentence(&record.fact, &said(view, lang).what)
        }
        _ => 0,
    }
}

/// The same for the sentence of a fact.
fn of_sentence(fact: &Fact, sentence: &[Span]) -> u32 {
    let halves: usize = plain(sentence)
        .chars()
        .map(|letter| match letter {
            '\u{3400}'..'\u{a000}' => HAN,
            _ => 2,
        })
        .sum();
    let ms = u32::try_from(halves * 1_000 / A_SECOND).unwrap_or(MOST_MS);
    ms.min(share(fact))
}

/// The most time that the sentence of a fact gets.
fn share(fact: &Fact) -> u32 {
    if let Fact::Queue(
        QueueFact::DeltaAppended { .. }
        | QueueFact::EntryAppended { .. }
        | QueueFact::FifoItemSet { .. },
    ) = fact
    {
        QUEUED_MS
    } else if let Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. }) = fact {
        POPPED_MS
    } else if let Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. }) = fact {
        STORED_MS
    } else if matches!(fact, Fact::Work(_)) {
        WORK_MS
    } else {
        MOST_MS
    }
}
