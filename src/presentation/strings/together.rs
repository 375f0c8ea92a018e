//! Words about several watched resources, and about owners.

use deltascope_world::text::{Lang, counted};

/// `Watch pods in another tab`
#[must_use]
pub fn beside(lang: Lang, resource: &str) -> String {
    match lang {
        Lang::En => format!("Watch {resource} in another tab"),
        Lang::Zh => format!("在新标签中观察 {resource}"),
    }
}

/// `Watch pods instead`: of what the tab shows.
#[must_use]
pub fn instead(lang: Lang, resource: &str) -> String {
    match lang {
        Lang::En => format!("Watch {resource} instead"),
        Lang::Zh => format!("改为观察 {resource}"),
    }
}

/// `Owned by ReplicaSet web-7d4`
#[must_use]
pub(crate) fn owned_by(lang: Lang, kind: &str, name: &str) -> String {
    match lang {
        Lang::En => format!("Owned by {kind} {name}"),
        Lang::Zh => format!("属主：{kind} {name}"),
    }
}

/// `Owns 3 objects of kind Pod`
#[must_use]
pub fn owns(lang: Lang, count: usize, kind: &str) -> String {
    match lang {
        Lang::En => format!(
            "Owns {} of kind {kind}",
            counted(count, "object", "objects")
        ),
        Lang::Zh => format!("拥有 {count} 个 {kind}"),
    }
}

/// `, not in the tab pods · default at that moment`
#[must_use]
pub fn absent(lang: Lang, tab: &str) -> String {
    match lang {
        Lang::En => format!(", not in the tab {tab} at that moment"),
        Lang::Zh => format!("，当时不在标签 {tab} 中"),
    }
}

/// `, and the tab pods · default does not have that moment`
#[must_use]
pub(crate) fn momentless(lang: Lang, tab: &str) -> String {
    match lang {
        Lang::En => format!(", and the tab {tab} does not have that moment"),
        Lang::Zh => format!("，标签 {tab} 没有那个时刻的记录"),
    }
}

/// `12 objects, live`
#[must_use]
pub fn objects(lang: Lang, count: usize, state: &str) -> String {
    match lang {
        Lang::En => format!("{}, {state}", counted(count, "object", "objects")),
        Lang::Zh => format!("{count} 个对象，{state}"),
    }
}
