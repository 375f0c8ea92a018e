//! A moment of a run under a stable name: fact numbers change between versions of this program.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use deltascope_cache::fact::{Cause, Fact, FactRecord};
use deltascope_cache::key::Key;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::text::Text;
use deltascope_world::{Time, text};

use super::lessons::MarkerRule;
use super::predicate::Predicate;
use super::timeline::Timeline;

/// A moment: a base and a number of facts after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The stable part of the name.
    pub base: Base,
    /// The number of facts after the base.
    pub plus: usize,
}

/// The base of a moment: what its name holds on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A marker of the lesson: `relist`.
    Marker(Arc<str>),
    /// The first fact caused by the n-th input, counted from 1 over script and user: `input:2`.
    Input(usize),
    /// The point before the first fact at this virtual time in ms: `t:16900`. `plus` counts at most the facts
    /// of that time.
    Time(Time),
    /// After the n-th fact of a name, counted from 1, or the n-th about one object: the strip's headline is this
    /// fact. `headline:ItemStored`, `headline:ItemStored:default/web:2`.
    Headline(Headline),
}

/// A fact, as the base of a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The name of the fact.
    pub fact: &'static str,
    /// The object that it is about; `None`: any.
    pub key: Option<Key>,
    /// Which of these facts, counted from 1.
    pub number: usize,
}

impl Headline {
    fn condition(&self) -> Predicate {
        Predicate {
            fact: Some(self.fact),
            key: self.key.clone(),
            ..Predicate::default()
        }
    }

    /// How many facts of this name a run has so far, and about which objects: the first ones.
    #[must_use]
    pub fn alike(&self, timeline: &Timeline) -> (usize, Vec<Key>) {
        const MOST: usize = 8;
        let (mut count, mut keys) = (0, Vec::<Key>::new());
        let mut seen = |_: usize, record: &FactRecord| {
            if record.fact.name() == self.fact {
                count += 1;
                let key = record.fact.key();
                if let Some(key) = key.filter(|key| keys.len() < MOST && !keys.contains(key)) {
                    keys.push(key.clone());
                }
            }
            ControlFlow::<()>::Continue(())
        };
        let slices = Slices::whole();
        let _none = at_once(timeline.search(0..timeline.len(), &slices, &mut seen));
        (count, keys)
    }
}

impl Moment {
    /// The moment after `step` facts.
    #[must_use]
    pub fn of(timeline: &Timeline, step: usize) -> Self {
        let time = timeline.time_at(step);
        Self {
            base: Base::Time(time),
            plus: step.saturating_sub(timeline.count_before(time)),
        }
    }

    /// The number of facts up to the moment, if the timeline can be that long; in slices.
    pub async fn find_slowly(
        &self,
        timeline: &mut Timeline,
        markers: &[MarkerRule],
        slices: &Slices,
    ) -> Option<usize> {
        let from = match &self.base {
            Base::Marker(id) => {
                let rule = markers.iter().find(|rule| rule.id == *id)?;
                let mut is = |record: &FactRecord| record.fact.name() == rule.fact;
                nth(timeline, rule.nth, MARKED, slices, &mut is).await?
            }
            Base::Input(number) => {
                let mut last = None;
                let mut begins = |record: &FactRecord| {
                    let is_input = matches!(record.cause, Cause::Script(_) | Cause::Input(_));
                    is_input && last.replace(record.cause) != Some(record.cause)
                };
                nth(timeline, *number, usize::MAX, slices, &mut begins).await?
            }
            Base::Headline(headline) => {
                let condition = headline.condition();
                let mut holds = |record: &FactRecord| condition.holds(record, false);
                nth(timeline, headline.number, usize::MAX, slices, &mut holds).await?
            }
            Base::Time(time) => {
                let end = timeline.extend_past_slowly(*time, slices).await;
                if timeline.is_full() && timeline.time_at(timeline.len()) <= *time {
                    return None;
                }
                let from = timeline.count_before(*time);
                return Some(from.saturating_add(self.plus).min(end));
            }
        };
        let step = from.saturating_add(self.plus);
        if step > timeline.most() && timeline.scenario().is_endless() {
            return None;
        }
        timeline.extend_slowly(step, slices).await;
        // If the run ends earlier, its end is the result.
        (timeline.len() >= step || !timeline.is_full()).then(|| step.min(timeline.len()))
    }
}

/// A marker of an endless run is looked for in this many facts: another generation may never come to it.
const MARKED: usize = 100_000;

/// The number of facts up to and including the n-th one that `is` holds for, if it is among the first `most` or so.
async fn nth(
    timeline: &mut Timeline,
    wanted: usize,
    most: usize,
    slices: &Slices,
    is: &mut dyn FnMut(&FactRecord) -> bool,
) -> Option<usize> {
    let (mut seen, mut from) = (0, 0);
    loop {
        let known = timeline.len();
        let mut look = |place: usize, record: &FactRecord| {
            let found = is(record);
            seen += usize::from(found);
            match found && seen == wanted {
                true => ControlFlow::Break(place + 1),
                false => ControlFlow::Continue(()),
            }
        };
        let found = timeline.search(from..known, slices, &mut look).await;
        if found.is_some() || !timeline.is_endless() || known >= most {
            return found;
        }
        from = known;
        let more = known + super::timeline::SEGMENT;
        timeline.extend_slowly(more, slices).await;
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Marker(id) => f.write_str(id)?,
            Base::Input(number) => write!(f, "input:{number}")?,
            Base::Time(time) => write!(f, "t:{time}")?,
            Base::Headline(Headline { fact, key, number }) => {
                write!(f, "headline:{fact}")?;
                let key = key.as_deref().unwrap_or_default();
                if !key.is_empty() {
                    write!(f, ":{key}")?;
                }
                // A key that ends like a number, or before one, is followed by one.
                if *number > 1 || counted(key).1.is_some() || key.ends_with(':') {
                    write!(f, ":{number}")?;
                }
            }
        }
        if self.plus > 0 {
            write!(f, "+{}", self.plus)?;
        }
        Ok(())
    }
}

/// Why a text names no moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MomentError {
    /// It has the form of none.
    Form,
    /// No fact has this name.
    NoFact(Arc<str>),
}

impl MomentError {
    /// What a moment may be, or which facts there are.
    #[must_use]
    pub fn words(&self) -> Text {
        match self {
            Self::Form => Text::new(
                "write a marker, input:2, t:16900 or headline:ItemStored, and +3 for three facts after it",
                "可写标记名、input:2、t:16900 或 headline:ItemStored，再加 +3 表示其后三个事实",
            ),
            Self::NoFact(name) => {
                let name: String = name.chars().take(40).collect();
                let names: Vec<&str> = Fact::names().collect();
                text!(
                    ("there is no fact {name:?}; there are {}", names.join(", ")),
                    ("没有名为 {name:?} 的事实；现有：{}", names.join("、"))
                )
            }
        }
    }
}

/// A number in decimal digits alone.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// A key and the number behind it.
fn counted(text: &str) -> (&str, Option<u64>) {
    let (key, number) = text.rsplit_once(':').unwrap_or(("", text));
    match whole(number) {
        Some(number) => (key, Some(number)),
        None => (text, None),
    }
}

fn headline(text: &str) -> Result<Base, MomentError> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let fact = Fact::names().find(|fact| *fact == name);
    let (key, number) = counted(rest);
    let number = usize::try_from(number.unwrap_or(1)).unwrap_or_default();
    if number == 0 || text.ends_with(':') {
        return Err(MomentError::Form);
    }
    Ok(Base::Headline(Headline {
        fact: fact.ok_or_else(|| MomentError::NoFact(name.into()))?,
        key: (!key.is_empty()).then(|| key.into()),
        number,
    }))
}

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        // A plus sign may have been decoded as a space.
        let (base, plus) = text.split_once(['+', ' ']).unwrap_or((text, "0"));
        let whole = |text: &str| whole(text).ok_or(MomentError::Form);
        let size = |number: u64| usize::try_from(number).map_err(|_| MomentError::Form);
        let plus = size(whole(plus)?)?;
        let base = match base.split_once(':') {
            Some(("t", time)) => Base::Time(whole(time)?),
            Some(("input", number)) => match whole(number)? {
                0 => return Err(MomentError::Form),
                number => Base::Input(size(number)?),
            },
            Some(("headline", text)) => headline(text)?,
            Some(_) => return Err(MomentError::Form),
            // A bare number would be a fact number, which is not stable.
            None if whole(base).is_ok() || base.is_empty() => return Err(MomentError::Form),
            None => Base::Marker(base.into()),
        };
        Ok(Self { base, plus })
    }
}

/// The error for a link or a trace header that names an unknown moment.
pub(super) fn no_moment(error: &MomentError, text: &str, en: &str, zh: &str) -> Text {
    let text: String = text.chars().take(20).collect();
    let words = error.words();
    text!(
        ("{en} names no moment with {text:?}: {}.", words.en),
        ("{zh}中的 {text:?} 不是时刻：{}。", words.zh)
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use deltascope_world::source::scenario::Scenario;

    fn base() -> impl Strategy<Value = Base> {
        let fact = prop::sample::select(Fact::names().collect::<Vec<_>>());
        let key = prop::option::of("[a-z]{1,4}(/[a-z0-9:.-]{0,7}[a-z0-9])?|[0-9]{1,3}|a:[0-9]|a:");
        let headline = (fact, key, 1..40_usize).prop_map(|(fact, key, number)| Headline {
            fact,
            key: key.map(|key| Key::from(key.as_str())),
            number,
        });
        prop_oneof![
            "[a-z][a-z-]{0,9}".prop_map(|id| Base::Marker(id.as_str().into())),
            (1..1000_usize).prop_map(Base::Input),
            any::<u64>().prop_map(Base::Time),
            headline.prop_map(Base::Headline),
        ]
    }

    proptest! {
        #[test]
        fn a_printed_moment_is_read_back(base in base(), plus in 0..9_usize) {
            let moment = Moment { base, plus };
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn a_headline_is_found_by_its_name_its_object_and_its_number() {
        let settings = serde_json::json!({ "knownObjects": true, "handlers": [{ "name": "h" }] });
        let scenario = Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            traffic: Some(7),
            ..Scenario::default()
        };
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(4_000);
        let facts = timeline.all_facts();
        let stored = |record: &&FactRecord| record.fact.name() == "ItemStored";
        let third = facts.iter().filter(stored).nth(2).unwrap();
        let key = third.fact.key().unwrap().clone();
        let of_key = |record: &&FactRecord| stored(record) && record.fact.key() == Some(&key);
        for (text, expected) in [
            ("headline:ItemStored".to_owned(), facts.iter().find(stored)),
            ("headline:ItemStored:3".to_owned(), Some(third)),
            (
                format!("headline:ItemStored:{key}"),
                facts.iter().find(of_key),
            ),
            (
                format!("headline:ItemStored:{key}:2"),
                facts.iter().filter(of_key).nth(1),
            ),
        ] {
            let moment: Moment = text.parse().unwrap();
            let step = at_once(moment.find_slowly(&mut timeline, &[], &Slices::whole())).unwrap();
            assert_eq!(
                timeline.fact(step - 1).map(|fact| fact.id),
                expected.map(|fact| fact.id),
                "{text}"
            );
        }
        let Base::Headline(headline) = "headline:ItemStored:a/b".parse::<Moment>().unwrap().base
        else {
            unreachable!("a headline");
        };
        let (count, keys) = headline.alike(&timeline);
        assert!(count >= facts.iter().filter(stored).count() && keys.contains(&key));
    }

    #[test]
    fn an_error_lists_the_facts_that_there_are() {
        let error = "headline:ItemStore".parse::<Moment>().unwrap_err();
        assert_eq!(error, MomentError::NoFact("ItemStore".into()));
        let Text { en, zh } = error.words();
        for words in [en, zh] {
            assert!(words.contains("ItemStore\"") && words.contains("ItemStored"));
        }
        for text in [
            "headline:ItemStored:0",
            "headline:ItemStored:",
            "headline:ItemStored:a/b:0",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(MomentError::Form), "{text}");
        }
    }
}
