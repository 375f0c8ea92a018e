//! A moment of a run under a stable name: fact numbers change between versions of this program.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use deltascope_cache::fact::{Cause, FactRecord};
use deltascope_world::Time;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::text::Text;

use super::timeline::Timeline;

/// A moment: an anchor and a number of facts after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The stable part of the name.
    pub anchor: Anchor,
    /// The number of facts after the anchor.
    pub plus: usize,
}

/// The anchor of a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// A marker of the lesson: `relist`.
    Marker(Arc<str>),
    /// The first fact caused by the n-th input, counted from 1 over script and user: `input:2`.
    Input(usize),
    /// The point before the first fact at this virtual time in ms: `t:16900`. `plus` counts at most the facts
    /// of that time.
    Time(Time),
}

impl Moment {
    /// The moment after `step` facts.
    #[must_use]
    pub fn of(timeline: &Timeline, step: usize) -> Self {
        let time = timeline.time_at(step);
        Self {
            anchor: Anchor::Time(time),
            plus: step.saturating_sub(count_before(timeline, time)),
        }
    }

    /// The number of facts up to the moment, if the timeline can be that long; `marker` finds markers.
    pub fn find(
        &self,
        timeline: &mut Timeline,
        marker: &dyn Fn(&mut Timeline, &str) -> Option<usize>,
    ) -> Option<usize> {
        let marked = match &self.anchor {
            Anchor::Marker(id) => marker(timeline, id),
            Anchor::Input(_) | Anchor::Time(_) => None,
        };
        at_once(self.find_slowly(timeline, marked, &Slices::whole()))
    }

    /// Finds the moment in slices; `marked` is the position of the marker, if the anchor is one.
    pub async fn find_slowly(
        &self,
        timeline: &mut Timeline,
        marked: Option<usize>,
        slices: &Slices,
    ) -> Option<usize> {
        let from = match &self.anchor {
            Anchor::Marker(_) => marked?,
            Anchor::Input(number) => nth_input(timeline, *number, slices).await?,
            Anchor::Time(time) => {
                let end = timeline.extend_past_slowly(*time, slices).await;
                if timeline.is_full() && timeline.time_at(timeline.len()) <= *time {
                    return None;
                }
                let from = count_before(timeline, *time);
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

fn count_before(timeline: &Timeline, time: Time) -> usize {
    time.checked_sub(1)
        .map_or(0, |before| timeline.count_until(before))
}

/// The number of facts up to and including the first one that this input caused.
async fn nth_input(timeline: &mut Timeline, wanted: usize, slices: &Slices) -> Option<usize> {
    let (mut seen, mut last, mut from) = (0, None, 0);
    loop {
        let known = timeline.len();
        let mut seen_now = |place: usize, record: &FactRecord| {
            let (Cause::Script(_) | Cause::Input(_)) = record.cause else {
                return std::ops::ControlFlow::Continue(());
            };
            if last.replace(record.cause) != Some(record.cause) {
                seen += 1;
            }
            if seen == wanted {
                std::ops::ControlFlow::Break(place + 1)
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        let found = timeline.search(from..known, slices, &mut seen_now).await;
        if found.is_some() || !timeline.is_endless() {
            return found;
        }
        from = known;
        let more = known + super::timeline::SEGMENT;
        timeline.extend_slowly(more, slices).await;
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.anchor {
            Anchor::Marker(id) => f.write_str(id)?,
            Anchor::Input(number) => write!(f, "input:{number}")?,
            Anchor::Time(time) => write!(f, "t:{time}")?,
        }
        if self.plus > 0 {
            write!(f, "+{}", self.plus)?;
        }
        Ok(())
    }
}

impl FromStr for Moment {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // A plus sign may have been decoded as a space.
        let (anchor, plus) = text.split_once(['+', ' ']).unwrap_or((text, "0"));
        let whole = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits).ok_or(())
        };
        let plus: u64 = whole(plus)?;
        let anchor = match anchor.split_once(':') {
            Some(("t", time)) => Anchor::Time(whole(time)?),
            Some(("input", number)) => match whole(number)? {
                0 => return Err(()),
                number => Anchor::Input(usize::try_from(number).map_err(|_| ())?),
            },
            Some(_) => return Err(()),
            // A bare number would be a fact number, which is not stable.
            None if whole(anchor).is_ok() || anchor.is_empty() => return Err(()),
            None => Anchor::Marker(anchor.into()),
        };
        Ok(Self {
            anchor,
            plus: usize::try_from(plus).map_err(|_| ())?,
        })
    }
}

/// The error for a link or a trace header that names an unknown moment.
pub(super) fn no_moment(text: &str, en: &str, zh: &str) -> Text {
    let text: String = text.chars().take(20).collect();
    Text { en: format!(
            "{en} names no moment with {text:?}: write a marker, input:2 or t:16900, and +3 for three facts after it."
        ).into(), zh: format!(
            "{zh}中的 {text:?} 不是时刻：可写标记名、input:2 或 t:16900，再加 +3 表示其后三个事实。"
        ).into() }
}
