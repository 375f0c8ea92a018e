//! Why something is so: the chain of causes from a fact back to its origin.

use std::rc::Rc;

use crate::caption::{self, Aside, Voice};
use crate::fact_queries;
use crate::rows::acting;
use crate::view::RECENT;
use deltascope_cache::fact::{
    Cause, Entry, Fact, FactId, NotificationRef, ObjectRef, QueueFact, ServerFact, Shape, StoreFact,
};
use deltascope_cache::key::Key;
use deltascope_world::text::Lang;
use deltascope_world::virtual_time::SourceKind;

use super::{Change, Session};
use crate::view::selection::{Followed, Found, Selection};
use crate::view::why::{Link, Origin, Why};

/// A chain shows at most this many facts; the user can ask about the last of them in turn.
const LINKS: usize = 24;
/// At most this many occurrences of an object are examined to explain a link.
const TRIES: usize = 512;

/// The question that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    open: bool,
    /// The item that is asked about; none: the fact at the cursor.
    pub(super) selection: Option<Rc<Selection>>,
    pub(super) followed: Option<Rc<Followed>>,
    /// The last answer: the next one shares most of its links.
    last: Option<Rc<Why>>,
}

impl Asked {
    /// Another run is shown.
    pub(super) fn forget(&mut self) {
        self.last = None;
        self.selection = None;
        self.count_anew();
    }

    /// The run has changed after its first `at` facts.
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
    /// Opens the chain of causes, or closes it.
    pub(super) fn ask(&mut self, open: bool) -> Change {
        self.asked.open = open;
        Change::None
    }

    /// The answer for the cursor, if the chain is open.
    pub(super) fn why(&mut self) -> Option<Rc<Why>> {
        if !self.asked.open {
            return None;
        }
        let cursor = self.playback.cursor();
        let shown = self.headline().map_or(cursor, |headline| headline.at);
        let found = match &self.asked.selection {
            Some(selection) => selection.found,
            None => Found::Fact(shown.checked_sub(1)?),
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
        // The key whose delete no event announced, and then the key that the list lacks.
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

    /// What explains a link apart from its cause. Where the list was found to lack an object: what was known of
    /// that object. Of the list's answer: what happened to the object on the server.
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
            // At this fact the list is compared with the store.
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

    /// The last fact before this place that put an object where it was known.
    fn known(&self, key: &Key, before: usize) -> Option<(Aside, usize)> {
        let places = self.marking.landmarks.passages().back(key, before);
        places.take(TRIES).find_map(|place| {
            let aside = put(&self.timeline.fact(place)?.fact, key)?;
            Some((aside, place))
        })
    }

    /// The fact that took an object out of the watched set: it was deleted, or no longer matched the selector.
    fn left(&self, key: &Key, before: usize) -> Option<usize> {
        let selector = self.timeline.scenario().settings.selector.as_ref();
        let mut left = None;
        for place in self
            .marking
            .landmarks
            .passages()
            .back(key, before)
            .take(TRIES)
        {
            let fact = self.timeline.fact(place)?.fact;
            let is_gone = if let Fact::Server(
                ServerFact::ObjectCreated { body, .. } | ServerFact::ObjectUpdated { body, .. },
            ) = &fact
            {
                selector.is_some_and(|selector| !selector.matches(&body.labels))
            } else if fact_queries::written(&fact).is_some() {
                // The object was deleted.
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
        // The words describe the link at its own time, with the picture of then.
        let recent = self
            .timeline
            .facts((place + 1).saturating_sub(RECENT)..place + 1);
        let picture = self.timeline.picture(place + 1);
        let naming = self.marking.landmarks.alike().naming();
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
            room: acting::room(&record),
            aside: aside.map(|(aside, _)| aside),
            cause: record.cause,
            words,
        })
    }
}

/// The place into which a fact put an object: the store or the queue.
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
    use super::*;
    use crate::command::Command;
    use crate::session::typed;

    #[test]
    fn every_fact_leads_back_to_its_origin() {
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
            // Links that were reused from the last answer are the same as new ones.
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
        session.obey(typed::inject("cut", serde_json::Value::Null));
        for branch in [1, 2, 1] {
            session.obey(Command::Branch(branch));
            session.obey(Command::Seek(400));
            let why = session.view().why.unwrap();
            session.asked.forget();
            assert_eq!(session.view().why.unwrap(), why, "{branch}");
        }
    }

    #[test]
    fn an_input_of_the_user_is_the_origin_of_its_facts() {
        let mut session = Session::new();
        session.obey(Command::AskWhy(true));
        session.obey(typed::inject(
            "create",
            serde_json::json!({ "metadata": { "name": "x" } }),
        ));
        let why = session.view().why.unwrap();
        assert_eq!(why.origin, Some(Origin::Input(1)));
        let last = why.links.last().unwrap();
        assert!(caption::plain(last.words(Lang::En)).starts_with("x was created"));
    }
}
