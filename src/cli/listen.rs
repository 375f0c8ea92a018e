//! Listens at a port of this machine, and serves each connection that comes.

use deltascope_world::text;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Failure;
use super::seats::{Answering, Seat, Seats, Wire};

/// How long a client may leave a response unread, or a request's body unsent.
pub(super) const UNREAD: Duration = Duration::from_secs(60);
/// How long to wait when no connection can be accepted because too many files are open.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// What a connection may do.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// How many are open at a time.
    pub(super) most: usize,
    /// How long one may stay without a complete request.
    pub(super) unasked: Duration,
    /// How long its client may leave a response unread; `None` for as long as it likes.
    pub(super) unread: Option<Duration>,
}

/// What answers the requests of all connections.
pub(super) trait Service: Send + Sync + 'static {
    /// The body of its answers.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Unpin
        + 'static;

    /// Answers a request of the connection with this number.
    fn answer(
        &self,
        connection: u64,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// Listens at an address; port 0 is any that is free.
pub(super) async fn bind(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind(wanted)
        .await
        .map_err(|error| cannot_listen(wanted, &error))?;
    let address = listener.local_addr().unwrap_or(wanted);
    Ok((listener, address))
}

/// Serves connections until `end`; then those that are open are closed.
pub(super) async fn serve(
    listener: TcpListener,
    limits: Limits,
    service: Arc<impl Service>,
    end: impl Future<Output = ()>,
) {
    let mut open = JoinSet::new();
    let seats = Seats::new(limits.most);
    let accepting = async {
        for number in 0.. {
            let stream = loop {
                match listener.accept().await {
                    Ok((stream, _)) => break stream,
                    Err(_) => sleep(AFTER_REFUSAL).await,
                }
            };
            let seat = seats.take().await;
            let service = Arc::clone(&service);
            open.spawn(async move {
                tokio::select! {
                    () = connection(stream, &seat, number, limits, service) => {}
                    () = seat.sent_away() => {}
                }
            });
            while open.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        () = accepting => {}
        () = end => {}
    }
    open.shutdown().await;
}

async fn connection(
    stream: TcpStream,
    seat: &Arc<Seat>,
    number: u64,
    limits: Limits,
    service: Arc<impl Service>,
) {
    // The small pieces of a watch should leave at once; without the option they are only a little later.
    let _slow = stream.set_nodelay(true);
    let answering = service_fn(|request| {
        let service = Arc::clone(&service);
        let busy = seat.busy();
        async move {
            let answer = service.answer(number, request).await;
            Ok::<_, Infallible>(answer.map(|body| Answering::new(body, busy)))
        }
    });
    let wire = Wire::new(stream, limits.unread, Some(Arc::clone(seat)));
    // An error here means that the client hung up. The response under way is dropped, and with it the
    // connection to the proxy.
    let _ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.unasked)
        .serve_connection(TokioIo::new(wire), answering)
        .await;
}

fn cannot_listen(wanted: SocketAddr, error: &io::Error) -> Failure {
    let port = wanted.port();
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let next = port.checked_add(1).unwrap_or(0);
            Failure::of(text!(
                "Port {port} is taken. Take another one, such as --port {next}, or any free one with --port 0.",
                "端口 {port} 已被占用。请换一个，如 --port {next}，或用 --port 0 任取一个空闲端口。"
            ))
        }
        io::ErrorKind::PermissionDenied => Failure::of(text!(
            "The system does not let you listen at port {port}. Take one above 1023, such as --port 8080.",
            "系统不允许监听端口 {port}。请使用大于 1023 的端口，如 --port 8080。"
        )),
        _ => Failure::of(text!(
            "Cannot listen at {wanted}: {error}.",
            "无法监听 {wanted}：{error}。"
        )),
    }
}
