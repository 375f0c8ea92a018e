//! The names of the facts in words: Chinese ones, and English ones that follow from the facts' own.

/// Declares the Chinese names of an owner's facts. A missing fact does not compile.
macro_rules! names {
    ($(#[$doc:meta])* $facts:ident { $($fact:ident = $chinese:literal,)+ }) => {
        $(#[$doc])*
        pub(in crate::caption) const CHINESE: &[(&str, &str)] =
            &[$((stringify!($fact), $chinese)),+];

        const _: fn(&$facts) -> &'static str = |fact| match fact {
            $($facts::$fact { .. } => $chinese,)+
        };
    };
}

use super::{handlers, queue, reflector, run, server, store, work};
use crate::i18n::Lang;
use deltascope_cache::fact::{Fact, WorkFact, WorkPlace};

const ALL: [&[(&str, &str)]; 7] = [
    server::CHINESE,
    reflector::CHINESE,
    queue::CHINESE,
    store::CHINESE,
    handlers::CHINESE,
    work::CHINESE,
    run::CHINESE,
];

/// The Chinese name of a fact; empty if there is no such fact.
#[must_use]
pub fn in_chinese(fact: &str) -> &'static str {
    let mut all = ALL.into_iter().flatten();
    let found = all.find(|(name, _)| *name == fact);
    found.map_or("", |(_, chinese)| chinese)
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
    let spelled = spelled(fact.name());
    let en = match fact.name() {
        "AlreadyPresent" => "already queued",
        "WorkAdded" if again => "already in the workqueue",
        "WorkAdded" => "added to the workqueue",
        "WorkTaken" => "taken by a worker",
        "WorkDone" => "worker done",
        "WorkDelayed" => "retry delayed",
        "WorkForgotten" => "failures forgotten",
        "WorkShutDown" => "workqueue shut down",
        "BesideRequested" => "requested by the informer beside",
        "BesideStored" => "stored by the informer beside",
        "KnownObjectsSet" => "KnownObjects switched",
        _ => &spelled,
    };
    let zh = if again {
        "已在 workqueue 中"
    } else {
        in_chinese(fact.name())
    };
    match lang {
        Lang::En => en,
        Lang::Zh => zh,
    }
    .to_owned()
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
    use crate::caption::samples;

    #[test]
    fn every_fact_has_a_chinese_name_of_its_own() {
        let words = ALL.into_iter().flatten().map(|(_, chinese)| *chinese);
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
        for fact in samples().into_iter().chain([again]) {
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
