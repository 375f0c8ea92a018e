//! Limits the connections. When a new one exceeds the limit, the one that has been idle or stuck for longest is
//! closed.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};

/// The seats of all connections.
#[derive(Debug)]
pub(super) struct Seats {
    most: usize,
    inside: Mutex<Inside>,
    /// Notified when a seat is released or its state changes.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    taken: Vec<Arc<State>>,
    /// A logical clock of state changes: it shows which connection has waited longest.
    turns: u64,
}

/// The state of one connection.
#[derive(Debug)]
struct State {
    waits: Mutex<Waits>,
    /// Notified when the connection must close.
    sent_away: Notify,
}

#[derive(Clone, Copy, Debug)]
struct Waits {
    /// A response is under way.
    busy: bool,
    /// The client does not read what was written.
    stuck: bool,
    /// The turn of the last state change.
    since: u64,
}

/// The seat of one connection.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    state: Arc<State>,
}

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            inside: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Waits for a seat. An idle or stuck connection loses its own.
    pub(super) async fn take(self: &Arc<Self>) -> Arc<Seat> {
        loop {
            let changed = self.changed.notified();
            if let Some(seat) = self.try_take() {
                return seat;
            }
            changed.await;
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let mut inside = locked(&self.inside);
        if inside.taken.len() >= self.most {
            let waiting = inside.taken.iter().enumerate();
            let (place, _) = waiting
                .filter_map(|(place, state)| {
                    let waits = *locked(&state.waits);
                    (!waits.busy || waits.stuck).then_some((place, waits.since))
                })
                .min_by_key(|(_, since)| *since)?;
            inside.taken.remove(place).sent_away.notify_one();
        }
        inside.turns += 1;
        let state = Arc::new(State {
            waits: Mutex::new(Waits {
                busy: false,
                stuck: false,
                since: inside.turns,
            }),
            sent_away: Notify::new(),
        });
        inside.taken.push(Arc::clone(&state));
        Some(Arc::new(Seat {
            seats: Arc::clone(self),
            state,
        }))
    }
}

impl Seat {
    /// Waits until the seat is taken away.
    pub(super) async fn sent_away(&self) {
        self.state.sent_away.notified().await;
    }

    fn set(&self, change: impl FnOnce(&mut Waits)) {
        let mut inside = locked(&self.seats.inside);
        inside.turns += 1;
        let mut waits = locked(&self.state.waits);
        waits.since = inside.turns;
        change(&mut waits);
        drop((waits, inside));
        self.seats.changed.notify_waiters();
    }

    /// Marks the seat as busy until the result is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.set(|waits| waits.busy = true);
        Busy(Arc::clone(self))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut inside = locked(&self.seats.inside);
        inside
            .taken
            .retain(|state| !Arc::ptr_eq(state, &self.state));
        drop(inside);
        self.seats.changed.notify_waiters();
    }
}

/// A response is under way while this exists.
#[derive(Debug)]
pub(super) struct Busy(Arc<Seat>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set(|waits| waits.busy = false);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The data is consistent after each statement, so a poisoned lock can be used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A response's body that keeps its connection busy.
pub(super) struct Answering<B> {
    body: B,
    _busy: Busy,
}

impl<B> Answering<B> {
    pub(super) fn new(body: B, busy: Busy) -> Self {
        Self { body, _busy: busy }
    }
}

impl<B: Body + Unpin> Body for Answering<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A request's body. It fails if the client sends nothing for too long.
pub(super) struct Arriving<B> {
    body: B,
    patience: Patience,
}

impl<B> Arriving<B> {
    pub(super) fn new(body: B, patience: Duration) -> Self {
        Self {
            body,
            patience: Patience::new(Some(patience)),
        }
    }
}

impl<B> Body for Arriving<B>
where
    B: Body<Data = Bytes, Error = hyper::Error> + Unpin,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let came = Pin::new(&mut self.body).poll_frame(cx);
        let came = ready!(self.patience.poll(cx, came))?;
        Poll::Ready(came.map(|frame| frame.map_err(io::Error::other)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that fails if the client does not read what was written.
pub(super) struct Wire<S> {
    stream: S,
    patience: Patience,
    seat: Option<Arc<Seat>>,
    stuck: bool,
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, patience: Option<Duration>, seat: Option<Arc<Seat>>) -> Self {
        Self {
            stream,
            patience: Patience::new(patience),
            seat,
            stuck: false,
        }
    }

    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.stuck != poll.is_pending() {
            self.stuck = poll.is_pending();
            if let Some(seat) = &self.seat {
                seat.set(|waits| waits.stuck = self.stuck);
            }
        }
        ready!(self.patience.poll(cx, poll))?.into()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.written(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.written(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.written(cx, poll)
    }
}

/// A limit on how long an operation may be pending; `None` for no limit.
struct Patience {
    most: Option<Duration>,
    end: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    fn new(most: Option<Duration>) -> Self {
        Self { most, end: None }
    }

    /// Passes on what is ready. Fails once the operation has been pending for too long.
    fn poll<T>(&mut self, cx: &mut Context<'_>, poll: Poll<T>) -> Poll<io::Result<T>> {
        match poll {
            Poll::Ready(value) => {
                self.end = None;
                Poll::Ready(Ok(value))
            }
            Poll::Pending => {
                let Some(most) = self.most else {
                    return Poll::Pending;
                };
                let end = self.end.get_or_insert_with(|| Box::pin(sleep(most)));
                ready!(end.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that is never ready.
    struct Never;

    impl AsyncWrite for Never {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl Body for Never {
        type Data = Bytes;
        type Error = hyper::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
            Poll::Pending
        }
    }

    fn block_on<T>(run: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        runtime.block_on(run)
    }

    #[test]
    fn a_client_that_does_not_read_or_send_is_dropped() {
        let patience = Duration::from_millis(1);
        block_on(async {
            let mut wire = Wire::new(Never, Some(patience), None);
            for write in [
                std::future::poll_fn(|cx| Pin::new(&mut wire).poll_write(cx, b"x"))
                    .await
                    .err(),
                std::future::poll_fn(|cx| Pin::new(&mut wire).poll_flush(cx))
                    .await
                    .err(),
            ] {
                assert_eq!(write.unwrap().kind(), io::ErrorKind::TimedOut);
            }
            let mut patient = Wire::new(Never, None, None);
            std::future::poll_fn(|cx| {
                assert!(Pin::new(&mut patient).poll_flush(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            assert!(patient.patience.end.is_none(), "it has no end");
            let mut body = Arriving::new(Never, patience);
            let came = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            assert_eq!(came.unwrap().err().unwrap().kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn the_connection_idle_for_longest_loses_its_seat() {
        block_on(async {
            let seats = Seats::new(3);
            let first = seats.take().await;
            let second = seats.take().await;
            let third = seats.take().await;
            // It became idle after the others.
            drop(first.busy());
            let fourth = seats.take().await;
            second.sent_away().await;
            let busy = [&first, &third, &fourth].map(Seat::busy);
            assert!(seats.try_take().is_none(), "each has an answer under way");
            third.set(|waits| waits.stuck = true);
            let fifth = seats.take().await;
            third.sent_away().await;
            // A released seat is free for the next connection.
            drop((third, busy, fifth));
            let _sixth = seats.try_take().unwrap();
        });
    }
}
