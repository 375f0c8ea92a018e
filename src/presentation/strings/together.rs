//! Words about several watched resources, and about owners.

use deltascope_world::in_lang;
use deltascope_world::text::{Lang, counted};

/// `Watch pods in another tab`
#[must_use]
pub fn beside(lang: Lang, resource: &str) -> String {
    in_lang!(
        lang,
        "Watch {resource} in another tab",
        "在新标签中观察 {resource}"
    )
}

/// `Watch pods instead`: of what the tab shows.
#[must_use]
pub fn instead(lang: Lang, resource: &str) -> String {
    in_lang!(lang, "Watch {resource} instead", "改为观察 {resource}")
}

/// `Owned by ReplicaSet web-7d4`
#[must_use]
pub(crate) fn owned_by(lang: Lang, kind: &str, name: &str) -> String {
    in_lang!(lang, "Owned by {kind} {name}", "属主：{kind} {name}")
}

/// `Owns 3 objects of kind Pod`
#[must_use]
pub fn owns(lang: Lang, count: usize, kind: &str) -> String {
    in_lang!(
        lang,
        (
            "Owns {} of kind {kind}",
            counted(count, "object", "objects")
        ),
        "拥有 {count} 个 {kind}"
    )
}

/// `, not in the tab pods · default at that moment`
#[must_use]
pub fn absent(lang: Lang, tab: &str) -> String {
    in_lang!(
        lang,
        ", not in the tab {tab} at that moment",
        "，当时不在标签 {tab} 中"
    )
}

/// `, and the tab pods · default does not have that moment`
#[must_use]
pub(crate) fn momentless(lang: Lang, tab: &str) -> String {
    in_lang!(
        lang,
        ", and the tab {tab} does not have that moment",
        "，标签 {tab} 没有那个时刻的记录"
    )
}

/// `12 objects, live`
#[must_use]
pub fn objects(lang: Lang, count: usize, state: &str) -> String {
    in_lang!(
        lang,
        ("{}, {state}", counted(count, "object", "objects")),
        "{count} 个对象，{state}"
    )
}
