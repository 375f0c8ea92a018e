//! Plain HTTP/1.1 to `kubectl proxy`: a connection for each request, so that giving up a request closes its
//! connection, which is how a watch is ended.

use std::fmt::{self, Display};
use std::io;
use std::str::FromStr;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use deltascope_world::text::Text;

/// A proxy is near, mostly on the same machine: one that takes longer is not there.
const CONNECT: Duration = Duration::from_secs(5);

/// Where `kubectl proxy` listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    /// As the system connects to it.
    host: String,
    port: u16,
    /// As it stands in an address and in the Host header.
    authority: String,
    /// Begins and ends with a slash.
    path: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unreachable {
    /// There is no connection.
    Connect(io::Error),
    /// There is one, but what comes is no HTTP, or it ends before an answer.
    Http(hyper::Error),
}

impl Proxy {
    /// The address of what it has at a path (without its first slash), with a query.
    pub(super) fn uri(&self, path_and_query: &str) -> Result<Uri, hyper::http::Error> {
        Uri::builder()
            .scheme(Scheme::HTTP)
            .authority(self.authority.as_str())
            .path_and_query(format!("{}{path_and_query}", self.path))
            .build()
    }

    /// What to type to have one there.
    fn command(&self) -> String {
        let mut command = format!("kubectl proxy --port={}", self.port);
        if self.path != "/" {
            command.push_str(&format!(" --api-prefix={}", self.path));
        }
        command
    }

    /// That nobody answers, and what to do.
    pub(super) fn down(&self, error: &impl Display) -> Text {
        let command = self.command();
        Text::new(
            &format!(
                "Nothing that speaks HTTP answers at {self} ({error}). Start it with: {command}"
            ),
            &format!("{self} 没有 HTTP 应答（{error}）。请启动：{command}"),
        )
    }

    /// Sends a request to it; its address has been made by [`Proxy::uri`]. Dropping the body of the answer
    /// closes the connection.
    pub(super) async fn send<B>(
        &self,
        request: Request<B>,
    ) -> Result<Response<Incoming>, Unreachable>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let connected = timeout(CONNECT, TcpStream::connect((self.host.as_str(), self.port))).await;
        let stream = connected
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(Unreachable::Connect)?;
        // A watch is made of small pieces; that they leave a little later is no reason to fail.
        let _slow = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(Unreachable::Http)?;
        tokio::spawn(async move {
            // Whoever reads the answer is told as well.
            let _told = connection.await;
        });
        let (mut head, body) = request.into_parts();
        if let Ok(host) = HeaderValue::from_str(&self.authority) {
            head.headers.insert(HOST, host);
        }
        // A server wants the path alone.
        if let Some(path) = head.uri.path_and_query().cloned() {
            head.uri = Uri::from(path);
        }
        sender
            .send_request(Request::from_parts(head, body))
            .await
            .map_err(Unreachable::Http)
    }
}

impl Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

impl FromStr for Proxy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const SHAPE: &str =
            "it is the address where `kubectl proxy` listens, such as http://127.0.0.1:8001";
        let uri: Uri = text.parse().map_err(|_| SHAPE)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(
                    "only http is spoken: run `kubectl proxy`, which speaks TLS with the cluster and has \
                     your credentials, and name its address",
                );
            }
            _ => return Err(SHAPE),
        }
        let authority = uri.authority().ok_or(SHAPE)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(SHAPE);
        }
        let mut path = uri.path().to_owned();
        if !path.ends_with('/') {
            path.push('/');
        }
        let host = authority.host();
        Ok(Self {
            host: host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: authority.to_string(),
            path,
        })
    }
}

impl Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            // What lies behind says more.
            Self::Http(error) => match std::error::Error::source(error) {
                Some(source) => write!(f, "{error}: {source}"),
                None => error.fmt(f),
            },
        }
    }
}
