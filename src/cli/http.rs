//! Plain HTTP/1.1 to `kubectl proxy`. Each request has a connection of its own, so that dropping the response
//! closes the connection; this is how a watch is ended.

use std::fmt::{self, Display};
use std::io;
#[cfg(unix)]
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, SERVER};
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::timeout;

use deltascope_terminal as terminal;
use deltascope_world::source::proxy::exchange::Head;
use deltascope_world::text;
use deltascope_world::text::Text;

/// The proxy is near, mostly on the same machine: one that takes longer is not running.
const CONNECT: Duration = Duration::from_secs(5);

/// The address of `kubectl proxy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    way: Way,
    /// As in a URL and in the Host header.
    authority: String,
    /// The prefix of all paths; begins and ends with a slash.
    path: String,
    /// Whether it is the tap's own, which only the tap can start.
    own: bool,
}

/// Where a proxy listens.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// At a port of a host, as the system resolves it.
    Port(String, u16),
    /// At a socket in the file system.
    #[cfg(unix)]
    Socket(PathBuf),
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum Unreachable {
    /// The connection cannot be opened.
    Connect(io::Error),
    /// The connection was opened, but it does not speak HTTP, or it ends before a response.
    Http(hyper::Error),
}

impl Proxy {
    /// This proxy, which the tap has started.
    pub(super) fn of_tap(self) -> Self {
        Self { own: true, ..self }
    }

    /// The proxy at a socket in the file system.
    #[cfg(unix)]
    pub(super) fn at_socket(path: PathBuf) -> Self {
        Self {
            way: Way::Socket(path),
            // It answers to this name.
            authority: "localhost".to_owned(),
            path: "/".to_owned(),
            own: false,
        }
    }

    /// Whether any user of this machine can reach it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.way, Way::Port(..))
    }

    /// The URL of a path (without its first slash) with a query.
    pub(super) fn uri(&self, path_and_query: &str) -> Result<Uri, hyper::http::Error> {
        Uri::builder()
            .scheme(Scheme::HTTP)
            .authority(self.authority.as_str())
            .path_and_query(format!("{}{path_and_query}", self.path))
            .build()
    }

    /// The command that starts a proxy at this address.
    fn command(&self) -> String {
        let mut command = match &self.way {
            Way::Port(_, port) => format!("kubectl proxy --port={port}"),
            #[cfg(unix)]
            Way::Socket(path) => {
                let path = path.display().to_string();
                format!("kubectl proxy --unix-socket={}", terminal::word(&path))
            }
        };
        if self.path != "/" {
            command.push_str(&format!(" --api-prefix={}", terminal::word(&self.path)));
        }
        command
    }

    /// The message that nothing answers, and what to do.
    pub(super) fn down(&self, error: &impl Display) -> Text {
        if self.own {
            return text!(
                "Nothing answers at {self} ({error}): the kubectl proxy that deltascope tap started has ended. Start the tap again.",
                "{self} 没有应答（{error}）：deltascope tap 启动的 kubectl proxy 已结束。请重新启动 tap。"
            );
        }
        let command = self.command();
        text!(
            "Nothing that speaks HTTP answers at {self} ({error}). Start it with: {command}",
            "{self} 没有 HTTP 应答（{error}）。请启动：{command}"
        )
    }

    /// The message that what answers is no API server, as these words say, and what to do.
    pub(super) fn has_no_api(&self, said: &Text) -> Text {
        let Text { en, zh } = said;
        text!(
            "No API server answers at {self}: {en} Is that kubectl proxy, and is its cluster up? --proxy names another address.",
            "{self} 没有 API server 应答：{zh}那里是 kubectl proxy 吗？它的集群可用吗？可用 --proxy 指定其他地址。"
        )
    }

    /// Sends a request, whose URL [`Proxy::uri`] has made. Dropping the response's body closes the connection.
    pub(super) async fn send<B>(
        &self,
        request: Request<B>,
    ) -> Result<Response<Incoming>, Unreachable>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut sender = match &self.way {
            Way::Port(host, port) => {
                let stream = within(TcpStream::connect((host.as_str(), *port))).await?;
                // The small pieces of a watch should leave at once; without the option they are only a little later.
                let _slow = stream.set_nodelay(true);
                speak(stream).await?
            }
            #[cfg(unix)]
            Way::Socket(path) => speak(within(UnixStream::connect(path)).await?).await?,
        };
        let (mut head, body) = request.into_parts();
        if let Ok(host) = HeaderValue::from_str(&self.authority) {
            head.headers.insert(HOST, host);
        }
        // A request to a server names only the path.
        if let Some(path) = head.uri.path_and_query().cloned() {
            head.uri = Uri::from(path);
        }
        sender
            .send_request(Request::from_parts(head, body))
            .await
            .map_err(Unreachable::Http)
    }
}

async fn within<T>(connecting: impl Future<Output = io::Result<T>>) -> Result<T, Unreachable> {
    let connected = timeout(CONNECT, connecting).await;
    connected
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(Unreachable::Connect)
}

/// Speaks HTTP over a connection.
async fn speak<S, B>(stream: S) -> Result<SendRequest<B>, Unreachable>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(Unreachable::Http)?;
    tokio::spawn(async move {
        // The reader of the response gets the error as well.
        let _ended = connection.await;
    });
    Ok(sender)
}

impl Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(unix)]
        if let Way::Socket(path) = &self.way {
            return path.display().fmt(f);
        }
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
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            way: Way::Port(host.to_owned(), authority.port_u16().unwrap_or(80)),
            authority: authority.to_string(),
            path,
            own: false,
        })
    }
}

/// The head of a response, as those who read it want it.
pub(super) fn head_of(status: u16, headers: &HeaderMap) -> Head {
    let text = |name: HeaderName| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    Head {
        status,
        content_type: text(CONTENT_TYPE),
        retry_after: text(RETRY_AFTER),
        server: text(SERVER),
    }
}

impl Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            // The source of the error says more.
            Self::Http(error) => match std::error::Error::source(error) {
                Some(source) => write!(f, "{error}: {source}"),
                None => error.fmt(f),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_started_a_proxy_starts_it_again() {
        let proxy: Proxy = "http://127.0.0.1:1".parse().unwrap();
        let said = |proxy: &Proxy| proxy.down(&"gone").en.to_string();
        assert!(said(&proxy).contains("kubectl proxy --port=1"));
        assert!(said(&proxy.of_tap()).contains("Start the tap again"));
    }
}
