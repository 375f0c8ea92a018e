//! Finds the informers among the requests: a LIST and the WATCHes after it, of one client and one scope, are one,
//! across pages, relists, errors and reconnects.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
use deltascope_world::virtual_time::RequestKind;

use super::call::{Call, Scope};

/// Most tracks with lists and no watch. More are forgotten, the oldest first, …
const MOST_LISTED: usize = 256;
/// … and so are those of one client and one scope beyond this: they are polls.
const MOST_ALIKE: usize = 8;

/// The number of a request.
pub type Id = u64;

/// The number of an informer, or of what may become one.
pub type Track = usize;

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The `User-Agent`.
    pub agent: Arc<str>,
    /// The number of its connection.
    pub connection: u64,
}

/// What a track is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// This request is a list without an answer yet.
    Listing(Id),
    /// A page has come; the next one has this token.
    Paging(String),
    /// A whole list has come, of this version.
    Listed(String),
    /// This request is a watch, which has come to this version.
    Watching(Id, String),
    /// The watch has ended at this version, or a request has failed.
    Idle(String),
}

/// What is known of one informer.
#[derive(Clone, Debug)]
struct Known {
    agent: Arc<str>,
    scope: Scope,
    connection: u64,
    state: State,
    /// Whether a watch was seen.
    watches: bool,
}

/// All informers so far.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    known: BTreeMap<Track, Known>,
    next: Track,
}

/// Whose a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Began {
    /// The informer, or what may become one.
    pub track: Track,
    /// Whether it begins with this request.
    pub is_new: bool,
    /// Those that are forgotten for it.
    pub forgotten: Vec<Track>,
}

impl Detector {
    /// A list or a watch begins.
    pub fn began(&mut self, id: Id, client: &Client, call: &Call) -> Option<Began> {
        let (scope, found) = match call {
            Call::List(scope, list) => (scope, self.of_list(client, scope, list)),
            Call::Watch(scope, watch) => (scope, self.of_watch(client, scope, watch)),
            Call::Get(_) | Call::Write(..) | Call::Other => return None,
        };
        let is_new = found.is_none();
        let mut forgotten = Vec::new();
        let track = found.unwrap_or_else(|| {
            forgotten.extend(self.forget(MOST_ALIKE, |known| is_of(known, client, scope)));
            forgotten.extend(self.forget(MOST_LISTED, |_| true));
            self.next += 1;
            self.next - 1
        });
        let state = match call {
            Call::Watch(_, watch) => State::Watching(id, watch.resource_version.to_string()),
            _ => State::Listing(id),
        };
        let known = self.known.entry(track).or_insert_with(|| Known {
            agent: Arc::clone(&client.agent),
            scope: scope.clone(),
            connection: client.connection,
            state: State::Idle(String::new()),
            watches: false,
        });
        known.connection = client.connection;
        known.state = state;
        known.watches |= matches!(call, Call::Watch(..));
        Some(Began {
            track,
            is_new,
            forgotten,
        })
    }

    /// A page of a list has come. `token` is empty with the last one.
    pub fn page(&mut self, track: Track, id: Id, version: &str, token: &str) {
        if let Some(known) = self.at(track, id) {
            known.state = match token {
                "" => State::Listed(version.to_owned()),
                token => State::Paging(token.to_owned()),
            };
        }
    }

    /// An event or a bookmark of a watch has come.
    pub fn version(&mut self, track: Track, id: Id, version: &str) {
        if let Some(Known {
            state: State::Watching(_, at),
            ..
        }) = self.at(track, id)
        {
            version.clone_into(at);
        }
    }

    /// A request has ended, and has left no list.
    pub fn ended(&mut self, track: Track, id: Id) {
        if let Some(known) = self.at(track, id) {
            let version = match &known.state {
                State::Watching(_, version) => version.clone(),
                _ => String::new(),
            };
            known.state = State::Idle(version);
        }
    }

    /// Whether it is an informer: a watch was seen.
    #[must_use]
    pub fn is_informer(&self, track: Track) -> bool {
        self.known.get(&track).is_some_and(|known| known.watches)
    }

    /// The track, if this request is still its last one.
    fn at(&mut self, track: Track, id: Id) -> Option<&mut Known> {
        let known = self.known.get_mut(&track)?;
        let last = match known.state {
            State::Listing(last) | State::Watching(last, _) => last == id,
            _ => false,
        };
        last.then_some(known)
    }

    /// The best of those that are the client's and about these objects.
    fn best(
        &self,
        client: &Client,
        scope: &Scope,
        fits: impl Fn(&State) -> Option<u8>,
    ) -> Option<Track> {
        let known = self.known.iter();
        let own = known.filter(|(_, known)| is_of(known, client, scope));
        let ranked = own.filter_map(|(&track, known)| {
            let rank = fits(&known.state)?;
            Some((rank, known.connection == client.connection, track))
        });
        ranked.max().map(|(.., track)| track)
    }

    fn of_list(&self, client: &Client, scope: &Scope, list: &ListRequest) -> Option<Track> {
        if !list.continue_token.is_empty() {
            return self.best(client, scope, |state| match state {
                State::Paging(token) => Some(1 + u8::from(**token == *list.continue_token)),
                State::Idle(_) => Some(0),
                _ => None,
            });
        }
        // One whose watch is open, or comes next, lists for nobody: this is another informer of the same objects.
        self.best(client, scope, |state| match state {
            State::Idle(_) => Some(1),
            State::Paging(_) => Some(0),
            State::Listing(_) | State::Listed(_) | State::Watching(..) => None,
        })
    }

    fn of_watch(&self, client: &Client, scope: &Scope, watch: &WatchRequest) -> Option<Track> {
        let streams = RequestKind::of(watch) == RequestKind::Stream;
        let is_its = |version: &str| *version == *watch.resource_version;
        let best = self.best(client, scope, |state| match state {
            State::Listed(version) if streams => is_its(version).then_some(0),
            State::Listed(version) => Some(2 + u8::from(is_its(version))),
            State::Idle(version) => Some(1 + 3 * u8::from(is_its(version))),
            State::Listing(_) | State::Paging(_) | State::Watching(..) => None,
        })?;
        // Of lists of one version the first is watched first, whichever connection is free.
        let found = self.known.get(&best)?;
        let mut alike = self.known.iter().filter(|(_, known)| {
            matches!(found.state, State::Listed(_))
                && known.state == found.state
                && is_of(known, client, scope)
        });
        Some(alike.next().map_or(best, |(first, _)| *first))
    }

    /// Forgets the oldest of those that only list, so that there is room for one more. Returns which.
    fn forget(&mut self, most: usize, of: impl Fn(&Known) -> bool) -> Option<Track> {
        let known = self.known.iter();
        let mut listed = known.filter(|(_, known)| !known.watches && of(known));
        let oldest = *listed.next()?.0;
        (listed.count() + 1 >= most).then(|| {
            self.known.remove(&oldest);
            oldest
        })
    }
}

fn is_of(known: &Known, client: &Client, scope: &Scope) -> bool {
    known.agent == client.agent && known.scope == *scope
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays requests, one a line, and returns the tracks: `agent/connection list|watch scope [version] [token]`,
    /// then `page`, `at`, `end` for the request of the same number.
    fn tracks(script: &[&str]) -> Vec<Track> {
        let mut detector = Detector::default();
        let mut requests: Vec<Track> = Vec::new();
        for line in script {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: &str| word.parse::<usize>().unwrap();
            match words.as_slice() {
                ["page", of, version, rest @ ..] => {
                    let token = rest.first().copied().unwrap_or_default();
                    let of = number(of);
                    detector.page(requests[of], of as Id, version, token);
                }
                ["at", of, version] => {
                    detector.version(requests[number(of)], number(of) as Id, version);
                }
                ["end", of] => detector.ended(requests[number(of)], number(of) as Id),
                [who, verb, plural, rest @ ..] => {
                    let (agent, connection) = who.split_once('/').unwrap();
                    let client = Client {
                        agent: agent.into(),
                        connection: connection.parse().unwrap(),
                    };
                    let scope = Scope {
                        plural: (*plural).to_owned(),
                        ..Scope::default()
                    };
                    let resource_version = rest.first().copied().unwrap_or_default().into();
                    let last = rest.get(1).copied().unwrap_or_default();
                    let call = match *verb {
                        "list" => Call::List(
                            scope,
                            ListRequest {
                                resource_version,
                                continue_token: last.into(),
                                ..ListRequest::default()
                            },
                        ),
                        _ => Call::Watch(
                            scope,
                            WatchRequest {
                                resource_version,
                                send_initial_events: Some(last == "initial"),
                                ..WatchRequest::default()
                            },
                        ),
                    };
                    let id = requests.len() as Id;
                    requests.push(detector.began(id, &client, &call).unwrap().track);
                }
                _ => panic!("{line}"),
            }
        }
        requests
    }

    #[test]
    fn lists_and_watches_become_informers() {
        let table: &[(&str, &[&str], &[Track])] = &[
            (
                "a list and its watches",
                &[
                    "m/1 list pods 0",
                    "page 0 10",
                    "m/2 watch pods 10",
                    "at 1 12",
                    "end 1",
                    "m/1 watch pods 12",
                ],
                &[0, 0, 0],
            ),
            (
                "pages",
                &[
                    "m/1 list pods 0",
                    "page 0 10 abc",
                    "m/1 list pods  abc",
                    "page 1 10",
                    "m/1 watch pods 10",
                ],
                &[0, 0, 0],
            ),
            (
                "a relist after 410",
                &[
                    "m/1 list pods 0",
                    "page 0 10",
                    "m/1 watch pods 10",
                    "end 1",
                    "m/1 list pods",
                    "page 2 20",
                    "m/1 watch pods 20",
                ],
                &[0, 0, 0, 0],
            ),
            (
                "a list that fails",
                &[
                    "m/1 list pods 0",
                    "end 0",
                    "m/1 list pods 0",
                    "page 1 10",
                    "m/1 watch pods 10",
                ],
                &[0, 0, 0],
            ),
            (
                "a streaming list, and its relist",
                &[
                    "m/1 watch pods  initial",
                    "at 0 10",
                    "end 0",
                    "m/1 watch pods 10",
                    "end 1",
                    "m/1 watch pods 10 initial",
                ],
                &[0, 0, 0],
            ),
            (
                "a streaming list that the server does not know",
                &[
                    "m/1 watch pods  initial",
                    "end 0",
                    "m/1 list pods 0",
                    "page 1 10",
                    "m/1 watch pods 10",
                ],
                &[0, 0, 0],
            ),
            (
                "two of one thing, side by side",
                &[
                    "m/1 list pods 0",
                    "m/2 list pods 0",
                    "page 0 10",
                    "page 1 11",
                    "m/1 watch pods 11",
                    "m/2 watch pods 10",
                ],
                &[0, 1, 1, 0],
            ),
            (
                "two of one thing, and of one version",
                &[
                    "m/1 list pods 0",
                    "page 0 10",
                    "m/2 list pods 0",
                    "page 1 10",
                    "m/2 watch pods 10",
                    "m/1 watch pods 10",
                ],
                &[0, 1, 0, 1],
            ),
            (
                "a second one while the first watches",
                &[
                    "m/1 list pods 0",
                    "page 0 10",
                    "m/1 watch pods 10",
                    "m/1 list pods 0",
                    "page 2 12",
                    "m/1 watch pods 12",
                ],
                &[0, 0, 1, 1],
            ),
            (
                "two clients",
                &[
                    "m/1 list pods 0",
                    "page 0 10",
                    "n/2 watch pods 10",
                    "m/1 watch pods 10",
                ],
                &[0, 1, 0],
            ),
            (
                "two resources",
                &[
                    "m/1 list pods 0",
                    "m/1 list nodes 0",
                    "page 0 10",
                    "page 1 10",
                    "m/1 watch nodes 10",
                    "m/1 watch pods 10",
                ],
                &[0, 1, 1, 0],
            ),
            (
                "a poll",
                &[
                    "m/1 list pods",
                    "page 0 10",
                    "m/1 list pods",
                    "page 1 11",
                    "m/1 list pods",
                ],
                &[0, 1, 2],
            ),
            (
                "a poll before an informer",
                &[
                    "m/1 list pods",
                    "page 0 10",
                    "m/1 list pods",
                    "page 1 11",
                    "m/1 watch pods 11",
                ],
                &[0, 1, 1],
            ),
            (
                "a watch of one version goes on, not one of another",
                &[
                    "m/1 watch pods 5",
                    "m/1 watch pods 7",
                    "at 0 9",
                    "end 0",
                    "end 1",
                    "m/1 watch pods 7",
                    "m/1 watch pods 9",
                ],
                &[0, 1, 1, 0],
            ),
        ];
        for (name, script, wanted) in table {
            assert_eq!(tracks(script), *wanted, "{name}");
        }
    }

    #[test]
    fn what_only_lists_is_forgotten() {
        let mut detector = Detector::default();
        let client = Client {
            agent: "m".into(),
            connection: 0,
        };
        let mut began = |id: usize, plural: String| {
            let scope = Scope {
                plural,
                ..Scope::default()
            };
            let call = Call::List(scope, ListRequest::default());
            let began = detector.began(id as Id, &client, &call).unwrap();
            assert!(began.is_new);
            began.forgotten
        };
        for number in 0..MOST_LISTED {
            assert!(began(number, format!("p{number}")).is_empty(), "{number}");
        }
        assert_eq!(began(MOST_LISTED, "pods".to_owned()), [0]);
        for number in 1..MOST_ALIKE {
            assert_eq!(began(MOST_LISTED + number, "pods".to_owned()), [number]);
        }
        // Of polls only the last few are kept.
        assert_eq!(began(0, "pods".to_owned()), [MOST_LISTED]);
        assert_eq!(detector.known.len(), MOST_LISTED);
    }
}
