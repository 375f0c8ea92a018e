//! What is odd about a controller's requests, each with its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::Request;
use deltascope_cache::lister_watcher::ApiError;
use deltascope_cache::sorted;
use deltascope_world::Time;

use crate::heard::Differs;
use crate::invariants::{Invariant, Invariants, Violation};
use crate::trace::Trace;

use super::call::Scope;
use super::ledger::{Because, CLIENT_GO, Hot, How, Ledger, List};

/// More objects than this should come from the server's cache, or in pages.
pub const MANY: usize = 5_000;
/// How often an object is read before that is a poll.
const POLLED: u64 = 10;
/// Managed fields are worth a word from this many bytes on, …
const MUCH: u64 = 1 << 20;
/// … and where they are this part of what comes: one in …
const PART: u64 = 4;
/// The most facts of a recording that are computed to look for known bugs.
const FACTS: usize = 200_000;

/// Something odd. Informers are named by their place.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The informer that it is about, or that of its client; `None` if there is none.
    pub informer: Option<usize>,
    /// The moment of its evidence in the informer's recording, in ms.
    pub at: Option<Time>,
    /// What is odd.
    pub odd: Odd,
}

/// What is odd, and its evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Odd {
    /// Two informers of one program watch the same objects at the same time.
    Twice {
        /// The other one.
        other: usize,
        /// Whether they are one process's, and not those of two with the same name.
        together: bool,
    },
    /// An informer has every Secret of the cluster, with its data.
    AllSecrets,
    /// This list of many objects was asked for of the newest version, and all at once.
    BigList(List),
    /// An informer has listed again.
    Relists {
        /// The lists, the first of them.
        lists: Vec<List>,
        /// How many there were.
        count: u64,
    },
    /// Watches ended at once, without an event: when, and how long they were open, in ms.
    ShortWatches(Vec<(Time, Time)>),
    /// An object changes ten times a second.
    HotObject {
        /// Its key.
        key: String,
        /// When, how often, and who writes it.
        hot: Hot,
    },
    /// Much of what comes are managed fields.
    ManagedFields,
    /// An object, or a list, is read again and again.
    Poll(Poll),
    /// The API server refuses what a client asks for, again and again.
    Refused(Refused),
    /// What happened meets a bug of this generation.
    KnownBug {
        /// The generation of client-go.
        generation: Generation,
        /// The invariant that it breaks, and when.
        violation: Violation,
    },
    /// What the controller logs is not what its handler should have heard; where the two part first.
    Log(Differs),
}

macro_rules! ids {
    ($($odd:ident $id:literal),*) => {
        impl Odd {
            /// The stable names of all kinds.
            pub const IDS: &[&str] = &[$($id),*];

            /// A stable name of its kind.
            #[must_use]
            pub fn id(&self) -> &'static str {
                match self {
                    $(Self::$odd { .. } => $id),*
                }
            }
        }
    };
}

ids! {
    Twice "twice", AllSecrets "all-secrets", BigList "big-list", Relists "relists",
    ShortWatches "short-watches", HotObject "hot-object", ManagedFields "managed-fields",
    Poll "poll", Refused "refused", KnownBug "known-bug", Log "log"
}

/// Something that a client reads again and again, without a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// The client's `User-Agent`.
    pub agent: Arc<str>,
    /// What it reads.
    pub scope: Scope,
    /// How often.
    pub count: u64,
    /// When first, in ms.
    pub first: Time,
    /// When last, in ms.
    pub last: Time,
}

/// A list or a watch that the API server refused the last time, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The client's `User-Agent`.
    pub agent: Arc<str>,
    /// What it asks for.
    pub scope: Scope,
    /// `Watch`: a watch behind a list. `List`: a list, or a streaming list, which is a watch elsewhere.
    pub request: Request,
    /// How often in a row.
    pub count: u64,
    /// The last answer.
    pub error: ApiError,
}

impl Finding {
    /// Of an informer.
    #[must_use]
    pub fn new(informer: usize, at: Option<Time>, odd: Odd) -> Self {
        Self {
            informer: Some(informer),
            at,
            odd,
        }
    }
}

/// The names, in order, that came over one connection, two and two: whose they are is one process.
pub type Shared = BTreeSet<[Arc<str>; 2]>;

/// All findings, the informers' in their order.
#[must_use]
pub fn findings(
    ledgers: &[&Ledger],
    polls: &[Poll],
    refused: &[Refused],
    shared: &Shared,
) -> Vec<Finding> {
    let processes = processes(ledgers);
    let mut found = Vec::new();
    // Of many alike, each is named beside the first one only.
    let mut named = vec![false; ledgers.len()];
    for (informer, &ledger) in ledgers.iter().enumerate() {
        for other in informer + 1..ledgers.len() {
            if named[other] || !watch_the_same(ledger, ledgers[other]) {
                continue;
            }
            let agents = [ledger, ledgers[other]].map(|ledger| &ledger.agent);
            let together = processes[informer] == processes[other] || are_in(shared, agents);
            if together || program(agents[0]) == program(agents[1]) {
                named[other] = true;
                found.push(Finding::new(informer, None, Odd::Twice { other, together }));
            }
        }
        of_one(informer, ledger, &mut found);
    }
    // A list that is refused reads nothing.
    let reads = |poll: &Poll| {
        let mut refused = refused.iter().filter(|one| one.request == Request::List);
        let refused = refused.find(|one| (&one.agent, &one.scope) == (&poll.agent, &poll.scope));
        let count = poll
            .count
            .saturating_sub(refused.map_or(0, |one| one.count));
        Poll {
            count,
            ..poll.clone()
        }
    };
    let polled = polls.iter().map(reads);
    let polled = polled.filter(|poll| poll.count >= POLLED && !is_lock(&poll.scope));
    found.extend(polled.map(|poll| Finding {
        informer: ledgers.iter().position(|ledger| has(ledger, &poll)),
        at: None,
        odd: Odd::Poll(poll),
    }));
    // A Reflector asks again; whoever asks once has been told.
    let again = refused.iter().filter(|one| one.count > 1);
    let asks = |ledger: &&Ledger, one: &Refused| {
        (&ledger.agent, &ledger.scope) == (&one.agent, &one.scope)
    };
    found.extend(again.map(|one| Finding {
        informer: ledgers.iter().position(|ledger| asks(ledger, one)),
        at: None,
        odd: Odd::Refused(one.clone()),
    }));
    found
}

/// Whether it is a lock: whoever is not the leader reads it again and again, and watches it in no library.
fn is_lock(scope: &Scope) -> bool {
    scope.group == "coordination.k8s.io" && scope.plural == "leases" && scope.name.is_some()
}

/// Whether an informer of the same client has what is read.
fn has(ledger: &Ledger, poll: &Poll) -> bool {
    let (all, one) = (&ledger.scope, &poll.scope);
    program(&ledger.agent) == program(&poll.agent)
        && (&all.group, &all.plural) == (&one.group, &one.plural)
        && (all.is_whole_cluster() || all.is_same_thing(one) || {
            let namespace = Scope {
                name: None,
                ..one.clone()
            };
            all.is_same_thing(&namespace)
        })
        && (one.metadata_only || !all.metadata_only)
}

fn of_one(informer: usize, ledger: &Ledger, found: &mut Vec<Finding>) {
    let scope = &ledger.scope;
    let mut find = |at, odd| found.push(Finding::new(informer, at, odd));
    let secrets = scope.group.is_empty() && scope.plural == "secrets";
    let is_all = scope.is_whole_cluster() && !ledger.is_guess;
    if secrets && is_all && !scope.metadata_only {
        find(None, Odd::AllSecrets);
    }
    let is_big = |list: &&List| list.how == How::Whole && list.objects > Some(MANY);
    if let Some(list) = ledger.lists.iter().find(is_big) {
        find(Some(list.at), Odd::BigList(list.clone()));
    }
    let again: Vec<List> = (ledger.lists.iter())
        .filter(|list| list.because.is_some())
        .cloned()
        .collect();
    if let Some(first) = again.first() {
        let count = ledger.list_count - 1;
        find(
            Some(first.at),
            Odd::Relists {
                lists: again,
                count,
            },
        );
    }
    if let Some((first, _)) = ledger.short.first() {
        find(Some(*first), Odd::ShortWatches(ledger.short.clone()));
    }
    for (key, hot) in &ledger.hot {
        let (key, hot) = (key.clone(), hot.clone());
        find(Some(hot.at), Odd::HotObject { key, hot });
    }
    if ledger.managed >= MUCH && ledger.managed * PART >= ledger.came {
        find(None, Odd::ManagedFields);
    }
}

/// Whether both are of the same objects, and watch at the same time. The times of each are its own.
fn watch_the_same(one: &Ledger, other: &Ledger) -> bool {
    let starts = [one.start, other.start].map(Option::unwrap_or_default);
    !(one.is_guess || other.is_guess)
        && one.scope.is_same_thing(&other.scope)
        && one.spans().any(|(from, to)| {
            let (from, to) = (from + starts[0], to + starts[0]);
            let mut others = other.spans();
            others.any(|(start, end)| start + starts[1] < to && from < end + starts[1])
        })
}

/// The process of each informer: those that have used one connection are one process's, and so are their chains.
fn processes(ledgers: &[&Ledger]) -> Vec<usize> {
    let mut processes: Vec<usize> = (0..ledgers.len()).collect();
    let mut first = BTreeMap::new();
    for (place, ledger) in ledgers.iter().enumerate() {
        for connection in &ledger.connections {
            let known = *first.entry(connection).or_insert(place);
            let (from, to) = (processes[place], processes[known]);
            let joined = processes.iter_mut().filter(|process| **process == from);
            joined.for_each(|process| *process = to);
        }
    }
    processes
}

/// The program that a `User-Agent` names. client-go's have one for each of their clients, with the same beginning:
/// `manager/v1 (linux/amd64) kubernetes/abc/leader-election`
fn program(agent: &str) -> &str {
    let begin = agent.find(CLIENT_GO).map(|at| at + CLIENT_GO.len());
    let end = begin.and_then(|begin| agent[begin..].find('/').map(|at| begin + at));
    &agent[..end.unwrap_or(agent.len())]
}

/// Whether both names came over one connection.
fn are_in(shared: &Shared, agents: [&Arc<str>; 2]) -> bool {
    let mut pair = agents.map(Arc::clone);
    sorted::sort(&mut pair, Ord::cmp);
    pair[0] != pair[1] && shared.contains(&pair)
}

/// The bugs of the recording's generation that what happened meets. Those that every run of the generation meets say nothing
/// of the controller.
#[must_use]
pub fn known_bugs(trace: &Trace) -> Vec<(Generation, Violation)> {
    let generation = trace.recording.scenario.settings.era;
    let Ok((timeline, _)) = trace.recording.play_within(FACTS) else {
        return Vec::new();
    };
    let invariants = Invariants::of(&timeline);
    let is_telling = |violation: &&Violation| {
        violation.known && matches!(violation.invariant, Invariant::Lost | Invariant::Order)
    };
    let telling = invariants.violations().iter().filter(is_telling);
    telling
        .map(|violation| (generation, violation.clone()))
        .collect()
}

/// What came before a relist, in the order of how telling it is.
#[must_use]
pub fn reasons(lists: &[List]) -> Vec<(&Because, usize)> {
    let mut reasons: Vec<(&Because, usize)> = Vec::new();
    for because in lists.iter().filter_map(|list| list.because.as_ref()) {
        match reasons.iter_mut().find(|(known, _)| *known == because) {
            Some((_, count)) => *count += 1,
            None => reasons.push((because, 1)),
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::note::{Connection, EventNote, Kind, Note, Weight, Why};
    use super::*;

    fn scope(plural: &str) -> Scope {
        Scope {
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            ..Scope::default()
        }
    }

    /// An informer that lists so many objects, each with this weight, and watches from 10 ms to 5 s.
    fn informer(
        scope: Scope,
        version: &str,
        limit: u32,
        objects: usize,
        weight: [u32; 2],
    ) -> Ledger {
        let [bytes, managed] = weight;
        let object = |number: usize| Weight {
            key: format!("a/{number}"),
            bytes,
            managed,
        };
        Ledger::of(&[
            Note::Informer {
                agent: "manager".into(),
                scope,
            },
            Note::List {
                at: 0,
                version: version.to_owned(),
                limit,
                continues: false,
            },
            Note::Page {
                at: 9,
                objects: (0..objects).map(object).collect(),
                more: false,
            },
            Note::Watch {
                at: 10,
                version: String::new(),
                initial: false,
            },
            Note::Opened { at: 10 },
            Note::Events {
                at: 5_000,
                events: vec![EventNote {
                    kind: Kind::Bookmark,
                    ..EventNote::default()
                }],
            },
        ])
    }

    fn ids(ledgers: &[Ledger]) -> Vec<&'static str> {
        let found = findings(&Vec::from_iter(ledgers), &[], &[], &Shared::new());
        found.iter().map(|one| one.odd.id()).collect()
    }

    #[test]
    fn what_is_odd_is_found_and_nothing_else() {
        let small = [1_000, 200];
        let of = |plural: &str| informer(scope(plural), "0", 500, 3, small);
        let in_namespace = Scope {
            namespace: Some("a".to_owned()),
            ..scope("secrets")
        };
        let metadata = Scope {
            metadata_only: true,
            ..scope("secrets")
        };
        let mut guess = of("secrets");
        guess.is_guess = true;
        let table: Vec<(&str, Ledger, &[&str])> = vec![
            ("a good one", of("pods"), &[]),
            ("every Secret", of("secrets"), &["all-secrets"]),
            ("maybe every Secret", guess, &[]),
            (
                "a namespace's Secrets",
                informer(in_namespace, "0", 0, 3, small),
                &[],
            ),
            (
                "the Secrets' metadata",
                informer(metadata, "0", 0, 3, small),
                &[],
            ),
            (
                "many at once",
                informer(scope("pods"), "", 0, 5_001, small),
                &["big-list"],
            ),
            (
                "not so many",
                informer(scope("pods"), "", 0, 5_000, small),
                &[],
            ),
            (
                "many in pages",
                informer(scope("pods"), "", 500, 5_001, small),
                &[],
            ),
            (
                "many from the cache",
                informer(scope("pods"), "0", 0, 5_001, small),
                &[],
            ),
            (
                "many managed fields",
                informer(scope("pods"), "0", 0, 200, [10_000, 6_000]),
                &["managed-fields"],
            ),
            (
                "a few",
                informer(scope("pods"), "0", 0, 200, [10_000, 2_000]),
                &[],
            ),
            (
                "of little",
                informer(scope("pods"), "0", 0, 20, [10_000, 6_000]),
                &[],
            ),
        ];
        for (name, ledger, wanted) in table {
            assert_eq!(ids(&[ledger]), wanted, "{name}");
        }
    }

    #[test]
    fn two_of_one_thing_watch_at_the_same_time() {
        let one = || informer(scope("pods"), "0", 0, 3, [1_000, 200]);
        let with = |change: &dyn Fn(&mut Ledger)| {
            let (mut first, mut second) = (one(), one());
            (first.start, second.start) = (Some(100_000), Some(100_000));
            change(&mut second);
            ids(&[first, second]) == ["twice"]
        };
        assert!(with(&|_| {}));
        assert!(with(&|other| other.scope.metadata_only = true));
        assert!(with(&|other| other.start = Some(104_000)));
        assert!(
            !with(&|other| other.start = Some(105_000)),
            "one after the other"
        );
        assert!(!with(&|other| other.agent = "other".into()));
        assert!(!with(&|other| other.is_guess = true));
        assert!(!with(&|other| other.scope.label_selector = "app".to_owned()));
    }

    #[test]
    fn of_many_alike_each_is_named_once() {
        let alike: Vec<_> = (0..300)
            .map(|_| informer(scope("pods"), "0", 0, 3, [1_000, 200]))
            .collect();
        assert_eq!(ids(&alike), ["twice"; 299]);
    }

    #[test]
    fn a_connection_is_one_processs() {
        let over = |connections: &[(Time, u64)], plural: &str| {
            let mut ledger = informer(scope(plural), "0", 0, 3, [1_000, 200]);
            for &(tap, number) in connections {
                let connection = Connection { tap, number };
                ledger.note(&Note::Connection { at: 0, connection });
            }
            ledger
        };
        // The connections of one informer, of the other one, and of a third of something else.
        type Connections<'a> = &'a [(Time, u64)];
        let table: [(Connections<'_>, Connections<'_>, Connections<'_>, bool); 6] = [
            (&[(1, 1), (1, 2)], &[(1, 3), (1, 2)], &[], true),
            (&[(1, 1)], &[(1, 2)], &[], false),
            (&[(1, 1)], &[(2, 1)], &[], false),
            (&[(1, 1)], &[(1, 2)], &[(1, 2), (1, 1)], true),
            (&[(1, 1)], &[(1, 2)], &[(1, 3)], false),
            (&[], &[], &[], false),
        ];
        for (one, other, third, wanted) in table {
            let ledgers = [over(one, "pods"), over(third, "nodes"), over(other, "pods")];
            let found = findings(&ledgers.each_ref(), &[], &[], &Shared::new());
            let (other, together) = (2, wanted);
            let twice = Finding::new(0, None, Odd::Twice { other, together });
            assert_eq!(found, [twice], "{one:?} {other:?} {third:?}");
        }
    }

    #[test]
    fn relists_and_short_watches_have_their_moments() {
        let mut ledger = informer(scope("pods"), "0", 0, 3, [1_000, 200]);
        for note in [
            Note::Ended {
                at: 6_000,
                why: Why::Expired,
            },
            Note::List {
                at: 6_100,
                version: String::new(),
                limit: 500,
                continues: false,
            },
            Note::Page {
                at: 6_200,
                objects: Vec::new(),
                more: false,
            },
            Note::Opened { at: 7_000 },
            Note::Ended {
                at: 7_010,
                why: Why::Closed,
            },
        ] {
            ledger.note(&note);
        }
        let found = findings(&[&ledger], &[], &[], &Shared::new());
        let said: Vec<_> = found.iter().map(|one| (one.odd.id(), one.at)).collect();
        assert_eq!(
            said,
            [("relists", Some(6_100)), ("short-watches", Some(7_000))]
        );
        let Odd::Relists { lists, .. } = &found[0].odd else {
            panic!("{found:?}");
        };
        assert_eq!(reasons(lists), [(&Because::Ended(Why::Expired), 1)]);
    }

    #[test]
    fn what_is_read_ten_times_is_a_poll() {
        for (count, found) in [(POLLED - 1, 0), (POLLED, 1)] {
            let poll = Poll {
                count,
                ..Poll::default()
            };
            let said = findings(&[], &[poll], &[], &Shared::new());
            assert_eq!(said.len(), found, "{count}");
        }
    }

    #[test]
    fn two_of_one_process_may_have_two_names() {
        let informer = |agent: &str, connection| {
            let mut ledger = informer(scope("pods"), "0", 0, 3, [1_000, 200]);
            ledger.agent = agent.into();
            let connection = Connection {
                tap: 1,
                number: connection,
            };
            ledger.note(&Note::Connection { at: 0, connection });
            ledger
        };
        let own = "manager/v0 (linux/amd64) kubernetes/abc";
        let part = format!("{own}/shared-informers");
        let shared = Shared::from([["a".into(), "b".into()]]);
        // Their names and connections, and what is found: whether it is sure that they are one process.
        for (one, other, found) in [
            (("a", 1), ("b", 2), Some(true)),
            (("b", 1), ("a", 2), Some(true)),
            (("a", 1), ("c", 2), None),
            (("a", 1), ("c", 1), Some(true)),
            ((own, 1), (&*part, 2), Some(false)),
            ((own, 1), (&*part, 1), Some(true)),
        ] {
            let ledgers = [one, other].map(|(agent, connection)| informer(agent, connection));
            let twice = |together| Finding::new(0, None, Odd::Twice { other: 1, together });
            let twice = found.map(twice);
            let said = findings(&ledgers.each_ref(), &[], &[], &shared);
            assert_eq!(said, Vec::from_iter(twice), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_program_has_clients_of_several_names() {
        let own = "manager/v0 (linux/amd64) kubernetes/$Format";
        for (agent, wanted) in [
            (own, own),
            (&*format!("{own}/leader-election"), own),
            ("mine/1.0/part", "mine/1.0/part"),
            ("", ""),
        ] {
            assert_eq!(program(agent), wanted);
        }
    }

    #[test]
    fn a_poll_of_what_an_informer_has_names_it() {
        let read = |plural: &str, namespace: Option<&str>, name: Option<&str>| Poll {
            agent: "manager".into(),
            scope: Scope {
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
                ..scope(plural)
            },
            count: POLLED,
            ..Poll::default()
        };
        let of = |change: &dyn Fn(&mut Ledger)| {
            let mut ledger = informer(scope("pods"), "0", 0, 3, [1_000, 200]);
            change(&mut ledger);
            ledger
        };
        let in_a = |ledger: &mut Ledger| ledger.scope.namespace = Some("a".to_owned());
        let chosen = |ledger: &mut Ledger| ledger.scope.label_selector = "app".to_owned();
        let metadata = |ledger: &mut Ledger| ledger.scope.metadata_only = true;
        let others = |ledger: &mut Ledger| ledger.agent = "other".into();
        let one = || read("pods", Some("a"), Some("x"));
        for (name, ledger, poll, has) in [
            ("all have it", of(&|_| {}), one(), true),
            ("its list", of(&|_| {}), read("pods", None, None), true),
            ("its namespace has it", of(&in_a), one(), true),
            (
                "another namespace",
                of(&in_a),
                read("pods", Some("b"), Some("x")),
                false,
            ),
            (
                "of all, a namespace",
                of(&in_a),
                read("pods", None, None),
                false,
            ),
            ("of some", of(&chosen), one(), false),
            ("metadata", of(&metadata), one(), false),
            ("another client's", of(&others), one(), false),
            ("others", of(&|_| {}), read("nodes", None, Some("x")), false),
        ] {
            let wanted = Finding {
                informer: has.then_some(0),
                at: None,
                odd: Odd::Poll(poll.clone()),
            };
            let found = findings(&[&ledger], &[poll], &[], &Shared::new());
            assert_eq!(found, [wanted], "{name}");
        }
    }

    #[test]
    fn who_waits_to_be_the_leader_polls_nothing() {
        let mut poll = Poll {
            count: 1_000,
            ..Poll::default()
        };
        poll.scope.group = "coordination.k8s.io".to_owned();
        poll.scope.plural = "leases".to_owned();
        // All of them are something else.
        let polls =
            |poll: &Poll| findings(&[], std::slice::from_ref(poll), &[], &Shared::new()).len();
        assert_eq!(polls(&poll), 1);
        poll.scope.name = Some("leader".to_owned());
        assert_eq!(polls(&poll), 0);
    }
}
