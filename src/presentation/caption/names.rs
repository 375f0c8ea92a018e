//! The Chinese names of the facts, for users who do not read English.

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;

    #[test]
    fn every_fact_has_a_chinese_name_of_its_own() {
        let words = ALL.into_iter().flatten().map(|(_, chinese)| *chinese);
        let different: BTreeSet<&str> = words.clone().collect();
        assert_eq!(different.len(), words.count());
    }
}
