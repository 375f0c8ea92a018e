//! The names of the facts in words: Chinese ones, and English ones that follow from the facts' own.

/// Declares the Chinese names of an owner's facts, and the English ones that do not follow from a fact's own. A missing fact does not
/// compile.
macro_rules! names {
    ($(#[$doc:meta])* $facts:ident { $($fact:ident = $chinese:literal $(as $english:literal)?,)+ }) => {
        $(#[$doc])*
        pub(in crate::caption) const NAMES: &[(&str, &str, &str)] =
            &[$((stringify!($fact), concat!($($english)?), $chinese)),+];

        const _: fn(&$facts) -> &'static str = |fact| match fact {
            $($facts::$fact { .. } => $chinese,)+
        };
    };
}

use super::{handlers, queue, reflector, run, server, store, work};
use deltascope_cache::fact::{Fact, WorkFact, WorkPlace};
use deltascope_world::text::Lang;

const ALL: [&[(&str, &str, &str)]; 7] = [
    server::NAMES,
    reflector::NAMES,
    queue::NAMES,
    store::NAMES,
    handlers::NAMES,
    work::NAMES,
    run::NAMES,
];

/// The names of a fact, English and Chinese; empty if there is no such fact, or if the English one follows from it.
fn named(fact: &str) -> (&'static str, &'static str) {
    let mut all = ALL.into_iter().flatten();
    let found = all.find(|(name, ..)| *name == fact);
    found.map_or(("", ""), |(_, en, zh)| (en, zh))
}

/// The Chinese name of a fact; empty if there is no such fact.
#[must_use]
pub fn in_chinese(fact: &str) -> &'static str {
    named(fact).1
}

/// A fact in few words: `item stored`. A fact's name is in the past tense already.
#[must_use]
pub fn in_words(fact: &Fact, lang: Lang) -> String {
    let again = matches!(
        fact,
        Fact::Work(WorkFact::WorkAdded {
            place: WorkPlace::Duplicate,
            ..
        })
    );
    let (en, zh) = match named(fact.name()) {
        _ if again => ("already in the workqueue", "已在 workqueue 中"),
        ("", zh) => (&*spelled(fact.name()), zh),
        names => names,
    };
    lang.pick(en, zh).to_owned()
}

/// `ItemStored` → `item stored`.
fn spelled(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words.replace("fifo", "FIFO")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fact_has_a_chinese_name_of_its_own() {
        let words = ALL.into_iter().flatten().map(|(.., chinese)| *chinese);
        let different: BTreeSet<&str> = words.clone().collect();
        assert_eq!(different.len(), words.count());
    }

    #[test]
    fn a_fact_is_called_by_words() {
        let mut words = BTreeSet::new();
        let again = Fact::Work(WorkFact::WorkAdded {
            key: "default/web-0".into(),
            place: WorkPlace::Duplicate,
        });
        for fact in Fact::samples().into_iter().chain([again]) {
            let [en, zh] = [Lang::En, Lang::Zh].map(|lang| in_words(&fact, lang));
            assert!(
                !en.contains(char::is_uppercase)
                    || en.contains("FIFO")
                    || en.contains("KnownObjects"),
                "{en}"
            );
            words.insert((en, zh));
        }
        for (en, zh) in [
            ("item stored", "存储写入对象"),
            ("FIFO item set", "FIFO 存入对象"),
            ("worker done", "workqueue Done"),
            ("already in the workqueue", "已在 workqueue 中"),
        ] {
            assert!(words.contains(&(en.to_owned(), zh.to_owned())), "{words:?}");
        }
    }
}
