//! A response's body on its way to the controller, of which the watcher gets a copy.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use deltascope_replay::tap::follow::Over;

use super::teller::Telling;

/// A body that is passed on as it comes. What the watcher reads, it gets as well: where it falls behind, the body waits.
pub(super) struct Seen<B> {
    body: B,
    telling: Option<Telling>,
    /// A piece for which the watcher has no room yet.
    waiting: Option<(Bytes, Waiting)>,
}

type Waiting = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

impl<B> Seen<B> {
    pub(super) fn new(body: B, mut telling: Option<Telling>) -> Self
    where
        B: Body,
    {
        if let Some(telling) = &mut telling
            && body.is_end_stream()
        {
            telling.over(Over::Complete);
        }
        Self {
            body,
            telling,
            waiting: None,
        }
    }
}

impl<B> Body for Seen<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        if this.waiting.is_none() {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            let Some(telling) = &mut this.telling else {
                return Poll::Ready(frame);
            };
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => {
                        let room = telling.room().take(bytes.len());
                        this.waiting = Some((bytes, Box::pin(room)));
                    }
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => {
                    telling.over(Over::Broken(error.to_string()));
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    telling.over(Over::Complete);
                    return Poll::Ready(None);
                }
            }
        }
        let Some((bytes, waiting)) = &mut this.waiting else {
            return Poll::Ready(None);
        };
        let room = ready!(waiting.as_mut().poll(cx));
        let bytes = std::mem::take(bytes);
        this.waiting = None;
        if let Some(telling) = &mut this.telling {
            telling.chunk(bytes.clone(), room);
            // Nobody asks a body of known length for more than that.
            if this.body.is_end_stream() {
                telling.over(Over::Complete);
            }
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        // The watcher hears of the end when it is read.
        self.telling.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
