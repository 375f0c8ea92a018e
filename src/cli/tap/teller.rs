//! What the watcher is told: each request, each piece of its response, and what the controller logs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::body::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use deltascope_replay::tap::call::Call;
use deltascope_replay::tap::detect::{Client, Id};
use deltascope_replay::tap::follow::Over;
use deltascope_terminal::Printed;
use deltascope_world::Time;
use deltascope_world::source::proxy::exchange::Head;

use super::super::report::Observed;

/// Most bytes of responses that wait to be read.
const ROOM: usize = 16 << 20;

/// What the passage tells the watcher.
pub(super) enum Word {
    /// A list or a watch begins.
    Asked {
        id: Id,
        at: Time,
        client: Client,
        call: Call,
    },
    /// The head of its response has come.
    Head { id: Id, at: Time, head: Head },
    /// A piece of it, with the room that it takes until it is read.
    Chunk {
        id: Id,
        at: Time,
        bytes: Bytes,
        _room: Option<OwnedSemaphorePermit>,
    },
    /// It is over.
    End { id: Id, at: Time, over: Over },
    /// Another request was answered.
    Other {
        at: Time,
        client: Client,
        call: Call,
        status: u16,
    },
    /// The controller has logged more.
    Logged {
        from: Printed,
        bytes: Bytes,
        _room: Option<OwnedSemaphorePermit>,
    },
    /// Its log begins anew, after so many lines that are passed over.
    LogBegins(u32),
    /// Somebody wants to know how it stands.
    Look(Time, oneshot::Sender<Observed>),
}

/// The room for what the watcher has not read yet.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    /// What a piece takes of it, at most all, once that is free.
    pub(super) fn take(
        &self,
        bytes: usize,
    ) -> impl Future<Output = Option<OwnedSemaphorePermit>> + Send + use<> {
        let wanted = u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.0).acquire_many_owned(wanted);
        async move { room.await.ok() }
    }
}

/// Tells the watcher.
pub(super) struct Teller {
    words: UnboundedSender<Word>,
    room: Room,
    began: Instant,
    next: AtomicU64,
}

/// Tells the watcher what the controller logs.
#[derive(Clone)]
pub(super) struct LogTeller {
    words: UnboundedSender<Word>,
    room: Room,
}

impl LogTeller {
    /// So many lines of the log are passed over.
    pub(super) fn skipped(&self, lines: u32) {
        // The watcher listens as long as there are tellers.
        let _gone = self.words.send(Word::LogBegins(lines));
    }

    /// More of it, maybe from its beginning, once there is room for it.
    pub(super) async fn say(&self, from: Printed, bytes: Bytes, anew: bool) {
        if anew {
            self.skipped(0);
        }
        let room = self.room.take(bytes.len()).await;
        let _gone = self.words.send(Word::Logged {
            from,
            bytes,
            _room: room,
        });
    }
}

/// Tells the watcher of one response.
pub(super) struct Telling {
    id: Id,
    words: UnboundedSender<Word>,
    room: Room,
    began: Instant,
    over: bool,
}

fn since(began: Instant) -> Time {
    Time::try_from(began.elapsed().as_millis()).unwrap_or(Time::MAX)
}

impl Teller {
    /// One, and what it tells.
    pub(super) fn new() -> (Self, UnboundedReceiver<Word>) {
        let (words, told) = unbounded_channel();
        let teller = Self {
            words,
            room: Room(Arc::new(Semaphore::new(ROOM))),
            began: Instant::now(),
            next: AtomicU64::new(0),
        };
        (teller, told)
    }

    /// A list or a watch begins; none for what is only counted.
    pub(super) fn asked(&self, client: Client, call: Call) -> Option<Telling> {
        call.want()?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let at = since(self.began);
        let telling = Telling {
            id,
            words: self.words.clone(),
            room: self.room.clone(),
            began: self.began,
            over: false,
        };
        telling.say(Word::Asked {
            id,
            at,
            client,
            call,
        });
        Some(telling)
    }

    /// Who tells of the controller's log.
    pub(super) fn log(&self) -> LogTeller {
        LogTeller {
            words: self.words.clone(),
            room: self.room.clone(),
        }
    }

    /// Another request was answered.
    pub(super) fn other(&self, client: Client, call: Call, status: u16) {
        let at = since(self.began);
        let _gone = self.words.send(Word::Other {
            at,
            client,
            call,
            status,
        });
    }

    /// How it stands.
    pub(super) async fn look(&self) -> Option<Observed> {
        let (answer, answered) = oneshot::channel();
        let now = since(self.began);
        self.words.send(Word::Look(now, answer)).ok()?;
        answered.await.ok()
    }
}

impl Telling {
    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    pub(super) fn head(&self, head: Head) {
        let (id, at) = (self.id, since(self.began));
        self.say(Word::Head { id, at, head });
    }

    pub(super) fn chunk(&self, bytes: Bytes, room: Option<OwnedSemaphorePermit>) {
        let (id, at) = (self.id, since(self.began));
        self.say(Word::Chunk {
            id,
            at,
            bytes,
            _room: room,
        });
    }

    pub(super) fn over(&mut self, over: Over) {
        if !std::mem::replace(&mut self.over, true) {
            let (id, at) = (self.id, since(self.began));
            self.say(Word::End { id, at, over });
        }
    }

    fn say(&self, word: Word) {
        // The watcher listens as long as there are requests.
        let _gone = self.words.send(word);
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.over(Over::HungUp);
    }
}
