//! Why something is so: from a fact back to what began it, one cause after the other.

use std::rc::Rc;

use crate::caption::{self, Aside, Voice};
use crate::fact_queries;
use crate::i18n::Lang;
use crate::rows::live;
use crate::view::RECENT;
use deltascope_cache::fact::{
    Cause, Entry, Fact, FactId, NotificationRef, ObjectRef, QueueFact, ServerFact, Shape, StoreFact,
};
use deltascope_cache::key::Key;
use deltascope_world::virtual_time::SourceKind;

use super::{Change, Session};
use crate::view::selection::{Followed, Found, Selection};
use crate::view::why::{Link, Origin, Why};

/// A chain is shown up to so many facts; the last of them can be asked in turn.
const LINKS: usize = 24;
/// So many occurrences of an object are tried for what explains a link.
const TRIES: usize = 512;

/// What is asked at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    open: bool,
    /// What is asked about; nothing: the step at the cursor.
    pub(super) selection: Option<Rc<Selection>>,
    pub(super) followed: Option<Rc<Followed>>,
    /// The last answer: most of its links are those of the next.
    last: Option<Rc<Why>>,
}

impl Asked {
    /// The run is another one.
    pub(super) fn forget(&mut self) {
        self.last = None;
        self.selection = None;
        self.count_anew();
    }

    /// The run is another one after so many facts.
    pub(super) fn cut(&mut self, at: usize) {
        self.last = None;
        self.count_anew();
        if let Some(Found::Fact(place)) = self.selection.as_ref().map(|one| one.found)
            && place >= at
        {
            self.selection = None;
        }
    }

    fn count_anew(&mut self) {
        if let Some(followed) = &mut self.followed {
            Rc::make_mut(followed).count = 0;
        }
    }
}

impl Session {
    /// Whether somebody looks at the chain of causes.
    pub(super) fn ask(&mut self, open: bool) -> Change {
        self.asked.open = open;
        Change::None
    }

    /// The answer for the moment at the cursor, if it is asked for.
    pub(super) fn why(&mut self) -> Option<Rc<Why>> {
        if !self.asked.open {
            return None;
        }
        let found = match &self.asked.selection {
            Some(selection) => selection.found,
            None => Found::Fact(self.playback.cursor().checked_sub(1)?),
        };
        let why = match found {
            Found::Fact(place) => self.chain(place),
            Found::Start => Why::without_links(Origin::Start),
            Found::LongAgo => Why::without_links(Origin::LongAgo),
        };
        if self.asked.last.as_deref() != Some(&why) {
            self.asked.last = Some(Rc::new(why));
        }
        self.asked.last.clone()
    }

    fn chain(&self, place: usize) -> Why {
        let known = self.asked.last.as_deref();
        let known = known.map_or(&[][..], |why| why.links.as_slice());
        let mut links: Vec<Rc<Link>> = Vec::new();
        let mut place = place;
        // What was deleted without a word of it, and then what the list lacks.
        let mut deleted: Option<Key> = None;
        let mut lacked: Option<Key> = None;
        while links.len() < LINKS {
            let is_here = |link: &&Rc<Link>| link.at == place + 1 && link.aside.is_none();
            let before = known.iter().find(is_here);
            let Some(link) = before
                .cloned()
                .or_else(|| self.link(place, None).map(Rc::new))
            else {
                break;
            };
            let cause = link.cause;
            links.push(link);
            if let Some((key, found)) = self.aside(place, &mut deleted, &mut lacked)
                && links.len() < LINKS
            {
                links.extend(self.link(found.1, Some((found.0, &key))).map(Rc::new));
            }
            let origin = match cause {
                Cause::Fact(FactId(id)) => {
                    match self.timeline.place_of(FactId(id)) {
                        Some(before) => place = before,
                        None => {
                            return Why {
                                links,
                                origin: Some(Origin::LongAgo),
                            };
                        }
                    }
                    continue;
                }
                Cause::Start => Origin::Start,
                Cause::Script(n) => Origin::Script(n + 1),
                Cause::Input(_)
                    if self.timeline.scenario().settings.source == SourceKind::Cluster =>
                {
                    Origin::Cluster
                }
                Cause::Input(n) => Origin::Input(n + 1),
                Cause::Source(n) if self.timeline.scenario().traffic.is_some() => {
                    Origin::Traffic(n + 1)
                }
                Cause::Source(_) => Origin::Recorded,
            };
            return Why {
                links,
                origin: Some(origin),
            };
        }
        Why {
            links,
            origin: None,
        }
    }

    /// What explains a link beside its cause: of where a list was seen to lack an object, what was known
    /// of that; of the list's answer, what happened to it on the server.
    fn aside(
        &self,
        place: usize,
        deleted: &mut Option<Key>,
        lacked: &mut Option<Key>,
    ) -> Option<(Key, (Aside, usize))> {
        let record = self.timeline.fact(place)?;
        let is_unseen = |object: &ObjectRef| object.shape != Shape::Object;
        if let Some((_, NotificationRef::Delete { object })) =
            fact_queries::notification(&record.fact)
            && is_unseen(object)
        {
            *deleted = Some(object.key.clone());
            None
        } else if let Fact::Queue(QueueFact::DeletionDetected { key }) = &record.fact {
            *lacked = Some(key.clone());
            Some((key.clone(), self.known(key, place)?))
        } else if let Fact::Queue(QueueFact::ListOpened { .. }) = record.fact {
            // Here the list is held against the store.
            let key = deleted.take()?;
            *lacked = Some(key.clone());
            let known = self.known(&key, place)?;
            Some((key, known))
        } else if let Fact::Server(
            ServerFact::ListAnswered { .. }
            | ServerFact::EventSent {
                ends_list: true, ..
            },
        ) = record.fact
        {
            let key = lacked.take()?;
            let left = self.left(&key, place)?;
            Some((key, (Aside::Unseen, left)))
        } else {
            None
        }
    }

    /// What put an object where it was known before this place.
    fn known(&self, key: &Key, before: usize) -> Option<(Aside, usize)> {
        let places = self.landmarks.passages().back(key, before);
        places.take(TRIES).find_map(|place| {
            let aside = put(&self.timeline.fact(place)?.fact, key)?;
            Some((aside, place))
        })
    }

    /// What took an object from those that are asked for: it was deleted, or left the selector.
    fn left(&self, key: &Key, before: usize) -> Option<usize> {
        let selector = self.timeline.scenario().settings.selector.as_ref();
        let mut left = None;
        for place in self.landmarks.passages().back(key, before).take(TRIES) {
            let fact = self.timeline.fact(place)?.fact;
            let is_gone = if let Fact::Server(
                ServerFact::ObjectCreated { body, .. } | ServerFact::ObjectUpdated { body, .. },
            ) = &fact
            {
                selector.is_some_and(|selector| !selector.matches(&body.labels))
            } else if fact_queries::written(&fact).is_some() {
                // It was deleted.
                true
            } else {
                continue;
            };
            if !is_gone {
                break;
            }
            left = Some(place);
        }
        left
    }

    fn link(&self, place: usize, aside: Option<(Aside, &Key)>) -> Option<Link> {
        let record = self.timeline.fact(place)?;
        // The words are those of its own moment.
        let recent = self
            .timeline
            .facts((place + 1).saturating_sub(RECENT)..place + 1);
        let picture = self.timeline.picture(place + 1);
        let naming = self.landmarks.alike().naming();
        let words = [Lang::En, Lang::Zh].map(|lang| {
            let voice = Voice { lang, naming };
            let what = caption::words(&record, &recent, &picture, voice).what;
            let lead = aside.map(|(aside, key)| caption::lead(aside, key, voice));
            lead.into_iter().flatten().chain(what).collect()
        });
        Some(Link {
            at: place + 1,
            time: record.time,
            fact: record.fact.name(),
            room: live::room(&record),
            aside: aside.map(|(aside, _)| aside),
            cause: record.cause,
            words,
        })
    }
}

/// Where a fact put an object: into the store, or into the queue.
fn put(fact: &Fact, key: &Key) -> Option<Aside> {
    let is_it = |object: &ObjectRef| object.key == *key && object.shape == Shape::Object;
    if let Fact::Store(StoreFact::ItemStored { object, .. }) = fact {
        is_it(object).then_some(Aside::Stored)
    } else if let Fact::Store(StoreFact::StoreReplaced { items }) = fact {
        items.iter().any(is_it).then_some(Aside::Stored)
    } else if let Fact::Queue(
        QueueFact::DeltaAppended { object, .. }
        | QueueFact::EntryAppended {
            entry: Entry::Delta(_, object),
            ..
        },
    ) = fact
    {
        is_it(object).then_some(Aside::Queued)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::command::Command;

    #[test]
    fn every_fact_leads_back_to_what_began_it() {
        let mut session = Session::new();
        assert_eq!(session.view().why, None, "nobody asked");
        session.obey(Command::AskWhy(true));
        session.obey(Command::Seek(0));
        assert_eq!(session.view().why, None, "nothing has happened");
        for step in 1..600 {
            session.obey(Command::Seek(step));
            let why = session.view().why.unwrap();
            assert_eq!(why.links[0].at, step);
            let causes = why.links.iter().filter(|link| link.aside.is_none());
            assert!(causes.is_sorted_by(|one, next| one.at > next.at));
            assert_eq!(why.origin.is_none(), why.links.len() == LINKS, "{step}");
            // What was taken over from the last answer is as if it had been looked up.
            session.asked.forget();
            assert_eq!(session.view().why.unwrap(), why);
        }
    }

    #[test]
    fn another_branch_has_other_causes() {
        let mut session = Session::new();
        session.obey(Command::AskWhy(true));
        session.obey(Command::Seek(100));
        session.obey(Command::Fork);
        session.inject("cut", serde_json::Value::Null);
        for branch in [1, 2, 1] {
            session.obey(Command::Branch(branch));
            session.obey(Command::Seek(400));
            let why = session.view().why.unwrap();
            session.asked.forget();
            assert_eq!(session.view().why.unwrap(), why, "{branch}");
        }
    }

    #[test]
    fn what_a_visitor_does_is_said_to_be_theirs() {
        let mut session = Session::new();
        session.obey(Command::AskWhy(true));
        session.inject("create", serde_json::json!({ "metadata": { "name": "x" } }));
        let why = session.view().why.unwrap();
        assert_eq!(why.origin, Some(Origin::Input(1)));
        let last = why.links.last().unwrap();
        assert!(caption::plain(last.words(Lang::En)).starts_with("x was created"));
    }
}
