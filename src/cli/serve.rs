//! `deltascope serve`: the built page at `/`, and `kubectl proxy` at `/k8s/`, on one port.

use deltascope_world::text;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Either, Empty, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, RETRY_AFTER, SERVER, USER_AGENT, VARY, WARNING, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use deltascope_terminal::Form;
use deltascope_world::in_lang;
use deltascope_world::source::proxy::exchange::SERVE;
use deltascope_world::text::{Lang, Text};

use super::args::{Choice, Serve};
use super::gate::{Gate, Refusal, at_proxy, no_change, plain_path, refusal, sandbox};
use super::http::{Proxy, Unreachable};
use super::listen::{self, Service, UNREAD};
use super::page::Page;
use super::seats::Arriving;
use super::{Failure, block_on, note, print, stopped};

/// The prefix of requests to the cluster.
const API: &str = "/k8s/";
/// Most open connections. A browser opens six; no page needs this many.
const CONNECTIONS: usize = 64;
/// How long a connection may stay without a complete request.
const UNASKED: Duration = Duration::from_secs(30);
/// Timeout of the first request to the proxy.
const FIRST_LOOK: Duration = Duration::from_secs(3);
/// How much of its response is read.
const FIRST_ANSWER: usize = 64 << 10;

/// The request headers that are passed on: none that names another user, carries a credential or changes the
/// protocol. `Accept-Encoding` is not passed on: without compression each line of a watch leaves at once.
const LET_THROUGH: [HeaderName; 5] = [
    ACCEPT,
    CONTENT_TYPE,
    IF_MODIFIED_SINCE,
    IF_NONE_MATCH,
    USER_AGENT,
];
/// The response headers that are passed on: how to read the body, and when to ask again. Other headers belong to
/// the connection, or make the browser act (`Location`, `Refresh`, `Set-Cookie`, `Clear-Site-Data`,
/// `WWW-Authenticate`, …).
const HANDED_ON: [HeaderName; 10] = [
    CACHE_CONTROL,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    DATE,
    ETAG,
    LAST_MODIFIED,
    RETRY_AFTER,
    VARY,
    WARNING,
];

type Answer = Response<Either<Full<Bytes>, Incoming>>;

/// Serves until Ctrl-C.
pub(super) fn run(options: &Serve, packed: &'static [u8], lang: Lang) -> Result<(), Failure> {
    let page = Page::open(options.dist.as_deref(), packed)?;
    block_on(serve(options, page, lang))
}

async fn serve(options: &Serve, page: Page, lang: Lang) -> Result<(), Failure> {
    let wanted = SocketAddr::new(options.address, options.port);
    let (listener, address) = listen::bind(wanted).await?;
    let server = Arc::new(Server {
        page,
        proxy: options.proxy.clone(),
        gate: Gate {
            port: address.port(),
            allow_writes: options.allow_writes,
        },
    });
    let url = format!("http://{address}/");
    let ends = lang.pick("Ctrl-C ends", "按 Ctrl-C 结束");
    print(
        Form::Words,
        &format!("{url}  ({} -> {API}; {ends})\n", server.proxy),
    )?;
    if options.open == Choice::Yes {
        open(&url, lang);
    }
    let first_look = Arc::clone(&server);
    tokio::spawn(async move { first_look.look(lang).await });
    let limits = listen::Limits {
        most: CONNECTIONS,
        unasked: UNASKED,
        unread: Some(listen::UNREAD),
    };
    listen::serve(listener, limits, server, stopped()).await;
    Ok(())
}

/// The parts of the server.
struct Server {
    page: Page,
    proxy: Proxy,
    gate: Gate,
}

impl Service for Server {
    type Body = Either<Full<Bytes>, Incoming>;

    async fn answer(&self, _connection: u64, request: Request<Incoming>) -> Answer {
        let mut answer = match self.try_answer(request).await {
            Ok(answer) => answer,
            Err(refusal) => refused(&refusal),
        };
        let headers = answer.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        );
        answer
    }
}

impl Server {
    async fn try_answer(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        self.gate.host(request.uri(), request.headers())?;
        let path = plain_path(request.uri().path())?.into_owned();
        if path.starts_with(API) {
            self.gate.origin(request.headers())?;
            self.gate.request(request.method(), request.uri().path())?;
            return self.pass_on(request).await;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                Text::new("The page is read with GET.", "页面只能用 GET 读取。"),
            ));
        }
        let found = self.page.find(&path)?;
        let policy = found.policy();
        let mut answer = Response::new(Either::Left(Full::new(found.bytes)));
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(found.media_type));
        // The page may be rebuilt at any time.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        Ok(answer)
    }

    /// Sends the request to the proxy, and passes the response on as it arrives.
    async fn pass_on(&self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let (head, body) = request.into_parts();
        let wanted = head.uri.path_and_query().map_or("", |path| path.as_str());
        // The path is passed on as it was written; only a percent-encoded prefix is refused.
        let Some(wanted) = wanted.strip_prefix(API) else {
            return Err(refusal(
                StatusCode::BAD_REQUEST,
                Text::new("Write the path as /k8s/….", "请将路径写作 /k8s/…。"),
            ));
        };
        let uri = at_proxy(&self.proxy, wanted)?;
        let reads = matches!(head.method, Method::GET | Method::HEAD);
        let mut asked = Request::new(match reads {
            true => Either::Left(Empty::<Bytes>::new()),
            false => Either::Right(Arriving::new(body, UNREAD)),
        });
        *asked.method_mut() = head.method;
        *asked.uri_mut() = uri;
        for name in &LET_THROUGH {
            for value in head.headers.get_all(name) {
                asked.headers_mut().append(name, value.clone());
            }
        }
        let answer = self
            .proxy
            .send(asked)
            .await
            .map_err(|error| down(&self.proxy, &error))?;
        let (mut head, body) = answer.into_parts();
        no_change(head.status)?;
        head.headers = handed_on(&head.headers);
        sandbox(&mut head.headers);
        Ok(Response::from_parts(head, Either::Right(body)))
    }

    /// Looks at the proxy once, to report a problem before a page meets it.
    async fn look(&self, lang: Lang) {
        let Ok(uri) = self.proxy.uri("version") else {
            return;
        };
        let mut asked = Request::new(Empty::<Bytes>::new());
        *asked.uri_mut() = uri;
        let look = async {
            let answer = self.proxy.send(asked).await.map_err(Some)?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), FIRST_ANSWER)
                .collect()
                .await;
            let text = body.map(|body| body.to_bytes()).map_err(|_| None)?;
            Ok::<_, Option<Unreachable>>((status, text))
        };
        let words = match timeout(FIRST_LOOK, look).await {
            Ok(Ok((status, _))) if status.is_success() => return,
            Ok(Ok((status, text))) => {
                let said = String::from_utf8_lossy(&text);
                let said = said.lines().next().unwrap_or_default();
                text!(
                    ("{} answers {status}: {said}", self.proxy),
                    ("{} 返回 {status}：{said}", self.proxy)
                )
            }
            Ok(Err(Some(error))) => down(&self.proxy, &error).text,
            Ok(Err(None)) | Err(_) => text!(
                ("{} does not answer yet.", self.proxy),
                ("{} 尚未应答。", self.proxy)
            ),
        };
        note(words.get(lang));
    }
}

fn handed_on(headers: &HeaderMap) -> HeaderMap {
    let pairs = HANDED_ON.iter().flat_map(|name| {
        let values = headers.get_all(name).iter();
        values.map(|value| (name.clone(), value.clone()))
    });
    let mut kept = HeaderMap::new();
    for (name, value) in pairs {
        kept.append(name, value);
    }
    kept
}

/// In both languages: a page, a person or a log may read it.
fn refused(refusal: &Refusal) -> Answer {
    let text = format!("{}\n{}\n", refusal.text.en, refusal.text.zh);
    let mut answer = Response::new(Either::Left(Full::new(Bytes::from(text))));
    *answer.status_mut() = refusal.status;
    let headers = answer.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(SERVER, HeaderValue::from_static(SERVE));
    if refusal.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    answer
}

fn down(proxy: &Proxy, error: &Unreachable) -> Refusal {
    Refusal {
        status: StatusCode::BAD_GATEWAY,
        text: proxy.down(error),
    }
}

/// Opens a URL in the system's browser.
fn open(url: &str, lang: Lang) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = std::process::Command::new(program)
        .args(args)
        .arg(url)
        .spawn();
    if let Err(error) = started {
        note(&in_lang!(
            lang,
            "Cannot start {program} ({error}). Open {url} yourself.",
            "无法启动 {program}（{error}）。请自行打开 {url}。"
        ));
    }
}
