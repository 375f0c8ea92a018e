//! A condition on facts, as text: playback runs until it holds.
//!
//! `delta=Deleted key=default/web rv>=12 tombstone call=OnAdd fact=ItemStored violation`: each part may occur
//! once, and all of them must hold.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Entry, Fact, FactRecord, HandlersFact, ObjectRef, QueueFact, ReflectorFact, RunFact,
    ServerFact, Shape, StoreFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::sorted;
use deltascope_world::text::Text;
use deltascope_world::{named, text};

/// A condition: all parts that are set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicate {
    /// The queue takes in a delta of this type.
    pub delta: Option<DeltaType>,
    /// The fact is about this object.
    pub key: Option<Key>,
    /// The fact names this version or a later one; only numeric versions match.
    pub rv: Option<u64>,
    /// The fact is about a tombstone (`DeletedFinalStateUnknown`).
    pub tombstone: bool,
    /// The fact has this name.
    pub fact: Option<&'static str>,
    /// A handler is called.
    pub call: Option<Call>,
    /// The fact violates an invariant.
    pub violation: bool,
}

/// The most facts that an error names.
const NEAR: usize = 3;

named! {
    /// The kind of a handler call.
    pub enum Call {
        /// `OnAdd`
        Add = "OnAdd",
        /// `OnUpdate`
        Update = "OnUpdate",
        /// `OnDelete`
        Delete = "OnDelete",
        /// Any of the three.
        Any = "any",
    }
}

/// Why a text is not a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PredicateError {
    /// The text has no part.
    Empty,
    /// Unknown part.
    Unknown(Arc<str>),
    /// Unknown delta type or call: the part, and its value.
    NoSuch(&'static str, Arc<str>),
    /// Unknown fact, and those that may be meant.
    NoFact(Arc<str>, Vec<&'static str>),
    /// The part says no object.
    NoKey,
    /// Not a number.
    NotANumber(Arc<str>),
    /// The part occurs twice.
    Twice(&'static str),
}

impl Predicate {
    /// The condition that names this fact: its name, its object, the delta's type and whether there is a tombstone.
    #[must_use]
    pub fn of(fact: &Fact) -> Self {
        Self {
            fact: Some(fact.name()),
            key: fact.key().cloned(),
            delta: fact.queued(),
            tombstone: has_tombstone(fact),
            ..Self::default()
        }
    }

    /// Whether the condition holds for a fact; `violated`: the fact violates an invariant.
    #[must_use]
    pub fn holds(&self, record: &FactRecord, violated: bool) -> bool {
        let fact = &record.fact;
        self.fact.is_none_or(|name| fact.name() == name)
            && self.key.as_ref().is_none_or(|key| is_about(fact, key))
            && self
                .delta
                .is_none_or(|delta_type| fact.queued() == Some(delta_type))
            && self.call.is_none_or(|call| is_call(fact, call))
            && (!self.tombstone || has_tombstone(fact))
            && self
                .rv
                .is_none_or(|least| version(fact).is_some_and(|rv| rv >= least))
            && (!self.violation || violated)
    }

    /// The parts, each as a condition of its own.
    #[must_use]
    pub fn parts(&self) -> Vec<Self> {
        let none = Self::default;
        let parts = [
            Self {
                delta: self.delta,
                ..none()
            },
            Self {
                key: self.key.clone(),
                ..none()
            },
            Self {
                rv: self.rv,
                ..none()
            },
            Self {
                tombstone: self.tombstone,
                ..none()
            },
            Self {
                call: self.call,
                ..none()
            },
            Self {
                fact: self.fact,
                ..none()
            },
            Self {
                violation: self.violation,
                ..none()
            },
        ];
        parts.into_iter().filter(|part| *part != none()).collect()
    }

    /// Both conditions combined; where both set a part, `self` wins.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            delta: self.delta.or(other.delta),
            key: self.key.or(other.key),
            rv: self.rv.or(other.rv),
            tombstone: self.tombstone || other.tombstone,
            fact: self.fact.or(other.fact),
            call: self.call.or(other.call),
            violation: self.violation || other.violation,
        }
    }
}

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let mut predicate = Self::default();
        for part in text.split_whitespace() {
            let (name, value) = match part.split_once(">=") {
                Some((name, value)) if !name.contains('=') => (name, value),
                _ => part.split_once('=').unwrap_or((part, "")),
            };
            let no_such = |what| PredicateError::NoSuch(what, value.into());
            match name {
                "delta" => {
                    let find = DeltaType::ALL
                        .into_iter()
                        .find(|delta| delta.as_str() == value);
                    let delta = find.ok_or_else(|| no_such("delta"))?;
                    once(&mut predicate.delta, delta, "delta")?;
                }
                "key" if value.is_empty() => return Err(PredicateError::NoKey),
                "key" => once(&mut predicate.key, Key::from(value), "key")?,
                "rv" => {
                    let number = value.parse();
                    let number = number.map_err(|_| PredicateError::NotANumber(value.into()))?;
                    once(&mut predicate.rv, number, "rv")?;
                }
                "fact" => {
                    let find = Fact::names().find(|fact| *fact == value);
                    let no_fact = || PredicateError::NoFact(value.into(), near(value));
                    let fact = find.ok_or_else(no_fact)?;
                    once(&mut predicate.fact, fact, "fact")?;
                }
                "call" => {
                    let call = Call::named(value).ok_or_else(|| no_such("call"))?;
                    once(&mut predicate.call, call, "call")?;
                }
                "tombstone" if part == name => predicate.tombstone = true,
                "violation" if part == name => predicate.violation = true,
                _ => return Err(PredicateError::Unknown(part.into())),
            }
        }
        if predicate == Self::default() {
            return Err(PredicateError::Empty);
        }
        Ok(predicate)
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let rv = self.rv.map(|rv| rv.to_string());
        for (name, value) in [
            ("delta=", self.delta.map(DeltaType::as_str)),
            ("key=", self.key.as_deref()),
            ("rv>=", rv.as_deref()),
            ("tombstone", self.tombstone.then_some("")),
            ("call=", self.call.map(Call::id)),
            ("fact=", self.fact),
            ("violation", self.violation.then_some("")),
        ] {
            if let Some(value) = value {
                let space = if text.is_empty() { "" } else { " " };
                text = [&text, space, name, value].concat();
            }
        }
        f.write_str(&text)
    }
}

impl PredicateError {
    /// The error and how to fix it.
    #[must_use]
    pub fn words(&self) -> Text {
        match self {
            Self::Empty => Text::new(
                "Say what to stop at, for example: delta=Deleted key=default/web",
                "请说明在哪里停下，例如：delta=Deleted key=default/web",
            ),
            Self::Unknown(part) => text!(
                "{part:?} is none of delta=, key=, rv>=, tombstone, call=, fact=, violation.",
                "{part:?} 不是 delta=、key=、rv>=、tombstone、call=、fact=、violation 之一。"
            ),
            Self::NoSuch(what, value) => {
                let known = match *what {
                    "delta" => DeltaType::ALL.map(DeltaType::as_str).join(", "),
                    _ => Call::ALL.map(Call::id).join(", "),
                };
                let listed = known.replace(", ", "、");
                text!(
                    "There is no {what} {value:?}. There are: {known}.",
                    "没有名为 {value:?} 的 {what}。可选：{listed}。"
                )
            }
            Self::NoFact(value, near) if near.is_empty() => text!(
                "There is no fact {value:?}. Choose one in the list of facts.",
                "没有名为 {value:?} 的 fact。请在 fact 列表中选择。"
            ),
            Self::NoFact(value, near) => {
                let (en, zh) = (near.join(" or "), near.join("、"));
                text!(
                    "There is no fact {value:?}. Did you mean {en}?",
                    "没有名为 {value:?} 的 fact。是不是 {zh}？"
                )
            }
            Self::NoKey => text!(
                "key= needs the key of an object, such as key=default/web.",
                "key= 后面要写对象的 key，例如 key=default/web。"
            ),
            Self::NotANumber(value) => text!(
                "rv>= takes a number, not {value:?}.",
                "rv>= 后面应是数字，而不是 {value:?}。"
            ),
            Self::Twice(what) => text!(
                "{what} stands twice; say it once.",
                "{what} 出现了两次；只能写一次。"
            ),
        }
    }
}

/// Facts whose words occur in this name, or begin with it, most of it first: `PodStored` may mean `ItemStored`.
fn near(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    let is_long = name.len() >= 3;
    let alike = |fact: &str| -> usize {
        let words = words(fact).into_iter();
        let words =
            words.filter(|word| name.contains(word.as_str()) || is_long && word.starts_with(&name));
        words.map(|word| word.len()).sum()
    };
    let mut near: Vec<&str> = Fact::names().filter(|fact| alike(fact) > 0).collect();
    sorted::sort(&mut near, |one, other| alike(other).cmp(&alike(one)));
    near.truncate(NEAR);
    near
}

/// The words of a fact's name in lower case: `item`, `stored`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut().filter(|_| !letter.is_uppercase()) {
            Some(word) => word.push(letter),
            None => words.push(letter.to_lowercase().collect()),
        }
    }
    words
}

fn once<T>(place: &mut Option<T>, value: T, name: &'static str) -> Result<(), PredicateError> {
    match place.replace(value) {
        Some(_) => Err(PredicateError::Twice(name)),
        None => Ok(()),
    }
}

fn is_about(fact: &Fact, key: &Key) -> bool {
    if let Fact::Store(StoreFact::StoreReplaced { items: objects })
    | Fact::Queue(QueueFact::EntryAppended {
        entry: Entry::ReplacedAll { objects, .. },
        ..
    }) = fact
    {
        objects.iter().any(|object| object.key == *key)
    } else {
        fact.key() == Some(key)
    }
}

fn is_call(fact: &Fact, call: Call) -> bool {
    let Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) = fact else {
        return false;
    };
    call == Call::Any || call.id() == notification.call()
}

fn object(fact: &Fact) -> Option<&ObjectRef> {
    if let Fact::Server(
        ServerFact::ObjectCreated { object, .. }
        | ServerFact::ObjectUpdated { object, .. }
        | ServerFact::ObjectDeleted { object, .. }
        | ServerFact::EventSent { object, .. },
    )
    | Fact::Reflector(
        ReflectorFact::EventReceived { object, .. }
        | ReflectorFact::InitialEventKept { object, .. },
    )
    | Fact::Run(RunFact::Called { object, .. })
    | Fact::Queue(
        QueueFact::DeltaAppended { object, .. }
        | QueueFact::FifoItemSet { object, .. }
        | QueueFact::DeltaTaken { object, .. }
        | QueueFact::EntryAppended {
            entry: Entry::Delta(_, object),
            ..
        },
    )
    | Fact::Store(StoreFact::ItemStored { object, .. }) = fact
    {
        Some(object)
    } else if let Fact::Handlers(
        HandlersFact::NotificationSent { notification, .. }
        | HandlersFact::NotificationQueued { notification, .. }
        | HandlersFact::NotificationTaken { notification, .. },
    ) = fact
    {
        Some(notification.object())
    } else {
        None
    }
}

fn has_tombstone(fact: &Fact) -> bool {
    object(fact)
        .is_some_and(|object| matches!(object.shape, Shape::Tombstone | Shape::EmptyTombstone))
}

fn version(fact: &Fact) -> Option<u64> {
    let rv = if let Fact::Server(ServerFact::ListAnswered { rv, .. })
    | Fact::Queue(QueueFact::EntryAppended {
        entry: Entry::ReplacedAll { rv, .. } | Entry::Bookmark { rv },
        ..
    })
    | Fact::Reflector(ReflectorFact::LastSyncMoved { to: rv, .. })
    | Fact::Store(StoreFact::StoreVersionMoved { to: rv, .. }) = fact
    {
        rv
    } else {
        &object(fact)?.rv
    };
    rv.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::Timeline;
    use deltascope_world::source::scenario::Scenario;

    fn predicate() -> impl Strategy<Value = Predicate> {
        use prop::option::of;
        (
            of(prop::sample::select(&DeltaType::ALL[..])),
            of("[a-z]{1,4}(/[a-z0-9=>.-]{1,8})?"),
            of(any::<u64>()),
            any::<bool>(),
            of(prop::sample::select(Fact::names().collect::<Vec<_>>())),
            of(prop::sample::select(&Call::ALL[..])),
            any::<bool>(),
        )
            .prop_map(
                |(delta, key, rv, tombstone, fact, call, violation)| Predicate {
                    delta,
                    key: key.map(|key| Key::from(key.as_str())),
                    rv,
                    tombstone,
                    fact,
                    call,
                    violation,
                },
            )
            .prop_filter("says something", |it| *it != Predicate::default())
    }

    proptest! {
        #[test]
        fn a_printed_condition_is_read_back(predicate in predicate()) {
            prop_assert_eq!(predicate.to_string().parse(), Ok(predicate));
        }
    }

    #[test]
    fn errors_name_the_invalid_part() {
        let error = |text: &str| text.parse::<Predicate>().unwrap_err();
        assert_eq!(error("  "), PredicateError::Empty);
        assert_eq!(
            error("dleta=Added"),
            PredicateError::Unknown("dleta=Added".into())
        );
        assert_eq!(
            error("tombstone=yes"),
            PredicateError::Unknown("tombstone=yes".into())
        );
        assert_eq!(
            error("delta=Gone"),
            PredicateError::NoSuch("delta", "Gone".into())
        );
        assert_eq!(error("key="), PredicateError::NoKey);
        for (fact, words) in [
            ("PodStored", "Did you mean ItemStored or "),
            ("itemstored", "Did you mean ItemStored or "),
            ("Enqueue", "Did you mean "),
            ("Xyz", "list of facts"),
        ] {
            let said = error(&format!("fact={fact}")).words();
            assert!(said.en.contains(words), "{}", said.en);
        }
        assert_eq!(error("rv>=x"), PredicateError::NotANumber("x".into()));
        assert_eq!(error("key=a key=b"), PredicateError::Twice("key"));
    }

    #[test]
    fn each_part_holds_for_some_facts_and_several_parts_for_fewer() {
        let settings = serde_json::json!({ "knownObjects": true, "handlers": [{ "name": "h" }] });
        let scenario = Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            traffic: Some(7),
            ..Scenario::default()
        };
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(6_000);
        let facts = timeline.all_facts();
        let count = |text: &str| {
            let predicate: Predicate = text.parse().unwrap();
            facts
                .iter()
                .filter(|record| predicate.holds(record, false))
                .count()
        };
        let deleted = count("delta=Deleted");
        assert!(deleted > 0 && deleted < count("fact=DeltaAppended"));
        let is_deleted = |record: &&FactRecord| record.fact.queued() == Some(DeltaType::Deleted);
        let key = facts.iter().find(is_deleted).unwrap().fact.key().unwrap();
        let both = count(&format!("delta=Deleted key={key}"));
        assert!(both > 0 && both < deleted);
        let late = count("rv>=12");
        assert!(late > 0 && late > count("rv>=30"));
        assert!(count("call=OnAdd") > 0 && count("call=any") > count("call=OnAdd"));
        assert_eq!(count("violation"), 0);
    }
}
