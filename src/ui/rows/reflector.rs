//! The reflector's room.

use super::{Names, RvText, type_class};
use crate::cache::delta::DeltaType;
use crate::cache::fact::{EventType, Fact};
use crate::replay::picture::{Feed, ReflectorState};
use crate::ui::view::View;

/// What the room shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReflectorRows {
    /// There is a reflector.
    pub present: bool,
    /// Which of the four states is on.
    pub on: Option<StateName>,
    /// It has stopped for good.
    pub stopped: bool,
    /// A list comes after the wait.
    pub relist_next: bool,
    /// How long it waits, in ms, while it backs off.
    pub backoff_ms: u64,
    /// `LastSyncResourceVersion()`.
    pub last_sync: RvText,
    /// Events received.
    pub events: u64,
    /// Lists after the first.
    pub relists: u64,
    /// The event in its hand: wire name, class, object.
    pub in_hand: Option<(&'static str, &'static str, String)>,
}

/// The states as the room names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateName {
    /// The first list.
    List,
    /// The watch.
    Watch,
    /// The wait before the next try.
    Backoff,
    /// A list after the first.
    Relist,
}

impl StateName {
    /// All four, in the order of the room.
    pub const ALL: [Self; 4] = [Self::List, Self::Watch, Self::Backoff, Self::Relist];

    /// Its label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::List => "LIST",
            Self::Watch => "WATCH",
            Self::Backoff => "BACKOFF",
            Self::Relist => "RELIST",
        }
    }

    /// Its name in anchors.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Watch => "watch",
            Self::Backoff => "backoff",
            Self::Relist => "relist",
        }
    }
}

/// The room at this moment.
#[must_use]
pub fn rows(view: &View) -> ReflectorRows {
    let reflector = &view.picture.reflector;
    let again = lists_before(view) > 0;
    let on = match reflector.state {
        ReflectorState::List if again => Some(StateName::Relist),
        ReflectorState::List | ReflectorState::Stream => Some(StateName::List),
        ReflectorState::Watch => Some(StateName::Watch),
        ReflectorState::Backoff => Some(StateName::Backoff),
        ReflectorState::Idle | ReflectorState::Stopped => None,
    };
    let names = Names::of(view);
    ReflectorRows {
        present: view.picture.api.feed != Feed::Program,
        on,
        stopped: reflector.state == ReflectorState::Stopped,
        relist_next: reflector.relist && on == Some(StateName::Backoff),
        backoff_ms: reflector.backoff_ms,
        last_sync: RvText::of(&reflector.last_sync),
        events: reflector.events,
        relists: reflector.lists.saturating_sub(1),
        in_hand: reflector.in_hand.as_ref().map(|(event, object)| {
            let class = match event {
                EventType::Added => type_class(DeltaType::Added),
                EventType::Modified => type_class(DeltaType::Updated),
                EventType::Deleted | EventType::Error => type_class(DeltaType::Deleted),
                EventType::Bookmark => type_class(DeltaType::Bookmark),
            };
            (event.as_str(), class, names.get(&object.key))
        }),
    }
}

/// Lists before the one that is under way, if one is: a list counts as soon as it is received,
/// and is then still to be put into the queue.
fn lists_before(view: &View) -> u64 {
    let received = view
        .recent
        .iter()
        .rev()
        .find_map(|record| match record.fact {
            Fact::ListReceived { .. } => Some(true),
            Fact::ListRequested { .. } => Some(false),
            _ => None,
        })
        // So long ago that both are forgotten: it is being put into the queue.
        .unwrap_or(true);
    view.picture
        .reflector
        .lists
        .saturating_sub(u64::from(received))
}

#[cfg(test)]
mod tests {
    use super::super::testing::view;
    use super::*;
    use crate::replay::picture::Picture;

    fn requested() -> Fact {
        Fact::ListRequested {
            rv: "0".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        }
    }

    fn received() -> Fact {
        Fact::ListReceived {
            rv: "4".into(),
            count: 2,
        }
    }

    #[test]
    fn a_second_list_is_a_relist() {
        let mut picture = Picture::default();
        picture.reflector.state = ReflectorState::List;
        assert_eq!(
            rows(&view(picture.clone(), Vec::new())).on,
            Some(StateName::List)
        );
        picture.reflector.lists = 1;
        let first = vec![requested(), received()];
        let replacing = rows(&view(picture.clone(), first.clone()));
        assert_eq!(replacing.on, Some(StateName::List));
        let again = [first, vec![requested()]].concat();
        let again = rows(&view(picture.clone(), again));
        assert_eq!(again.on, Some(StateName::Relist));
        assert_eq!(again.relists, 0);
        picture.reflector.lists = 2;
        let both = vec![requested(), received(), requested(), received()];
        let replacing = rows(&view(picture, both));
        assert_eq!(replacing.on, Some(StateName::Relist));
    }

    #[test]
    fn a_program_has_none() {
        let mut picture = Picture::default();
        picture.api.feed = Feed::Program;
        assert!(!rows(&view(picture, Vec::new())).present);
    }
}
