//! The chain of causes of a fact, as it is shown.

use std::rc::Rc;

use deltascope_cache::fact::Cause;

use crate::caption::{Aside, Span};
use crate::i18n::Lang;
use crate::stage::Panel;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// From the fact that is asked about back to the first cause, or as many as are shown.
    pub links: Vec<Rc<Link>>,
    /// What began it; nothing where there are more links than are shown.
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
    /// It is shown after so many facts.
    pub at: usize,
    /// Its virtual time, in ms.
    pub time: u64,
    /// The name of the fact.
    pub fact: &'static str,
    /// Where it happened.
    pub room: Panel,
    /// It is no cause of the link before it, but explains that one.
    pub aside: Option<Aside>,
    pub(crate) cause: Cause,
    pub(crate) words: [Vec<Span>; 2],
}

impl Link {
    /// What happened.
    #[must_use]
    pub fn words(&self, lang: Lang) -> &[Span] {
        match lang {
            Lang::En => &self.words[0],
            Lang::Zh => &self.words[1],
        }
    }
}

/// What is behind all facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was set so from the start.
    Start,
    /// The recording that is played.
    Recorded,
    /// What a real cluster has told.
    Cluster,
    /// The seeded traffic: its n-th write, from 1.
    Traffic(u32),
    /// The script of the lesson: its n-th entry, from 1.
    Script(u32),
    /// The visitor: their n-th input, from 1.
    Input(u32),
    /// It happened longer ago than is looked for.
    LongAgo,
}
