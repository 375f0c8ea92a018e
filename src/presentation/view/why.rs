//! The chain of causes of a fact, as the page shows it.

use std::rc::Rc;

use deltascope_cache::fact::Cause;

use crate::caption::{Aside, Span};
use crate::stage::Panel;
use deltascope_world::text::Lang;

/// A chain of causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// From the fact in question back to the first cause, or as many as are shown.
    pub links: Vec<Rc<Link>>,
    /// The origin; `None` if there are more links than are shown.
    pub origin: Option<Origin>,
}

impl Why {
    pub(crate) fn without_links(origin: Origin) -> Self {
        Self {
            links: Vec::new(),
            origin: Some(origin),
        }
    }
}

/// One fact of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The number of facts up to it.
    pub at: usize,
    /// Its virtual time, in ms.
    pub time: u64,
    /// The name of the fact.
    pub fact: &'static str,
    /// The room in which it happened.
    pub room: Panel,
    /// Set if it does not cause the link before it, but explains it.
    pub aside: Option<Aside>,
    pub(crate) cause: Cause,
    pub(crate) words: [Vec<Span>; 2],
}

impl Link {
    /// The fact in words.
    #[must_use]
    pub fn words(&self, lang: Lang) -> &[Span] {
        lang.pick(&self.words[0], &self.words[1])
    }
}

/// The origin of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The initial settings.
    Start,
    /// The recording that is played.
    Recorded,
    /// The answers of a real cluster.
    Cluster,
    /// The seeded traffic: its n-th write, from 1.
    Traffic(u32),
    /// The script of the lesson: its n-th entry, from 1.
    Script(u32),
    /// The user: their n-th input, from 1.
    Input(u32),
    /// It happened longer ago than the search goes back.
    LongAgo,
}
