//! What the tap passes on: every request that knows its token, to `kubectl proxy`, and the response as it comes.

use http_body_util::{Either, Empty, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SERVER, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE, USER_AGENT,
};
use hyper::{Request, Response, StatusCode};
use serde_json::json;

use deltascope_replay::tap::call::{Call, accepting_json};
use deltascope_replay::tap::detect::Client;
use deltascope_replay::tap::follow::Over;
use deltascope_world::text::{Lang, Text};

use super::super::gate::{Gate, Refusal, at_proxy, no_change, refusal, sandbox};
use super::super::http::{Proxy, head_of};
use super::super::listen::{Service, UNREAD};
use super::super::seats::Arriving;
use super::seen::Seen;
use super::teller::Teller;
use super::window::Window;

/// The `Server` of the responses that the tap writes itself, in place of the API server.
const TAP: &str = "deltascope-tap";
/// The headers that belong to one connection, and not to the request.
const OF_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The code of the answer where none comes from the proxy.
const BAD_GATEWAY: u16 = StatusCode::BAD_GATEWAY.as_u16();

type Body = Either<Full<Bytes>, Seen<Incoming>>;

/// The way from the controller to the API server.
pub(super) struct Passage {
    proxy: Proxy,
    gate: Gate,
    /// The first segment of every path.
    token: String,
    teller: Teller,
    window: Window,
    lang: Lang,
}

impl Passage {
    pub(super) fn new(
        proxy: Proxy,
        gate: Gate,
        token: &str,
        teller: Teller,
        window: Window,
        lang: Lang,
    ) -> Self {
        Self {
            proxy,
            gate,
            token: token.to_owned(),
            teller,
            window,
            lang,
        }
    }

    async fn try_answer(
        &self,
        connection: u64,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Refusal> {
        self.gate.host(request.uri(), request.headers())?;
        self.gate.origin(request.headers())?;
        let (head, body) = request.into_parts();
        let wanted = head.uri.path_and_query().map_or("", |path| path.as_str());
        let wanted = self.behind_token(wanted).ok_or_else(unknown)?;
        if head.headers.contains_key(UPGRADE) {
            return Err(refusal(
                StatusCode::NOT_IMPLEMENTED,
                Text::new(
                    "deltascope tap does not pass on connections that change their protocol (exec, attach, port-forward, WebSocket). Use your own kubeconfig for them.",
                    "deltascope tap 不转发切换协议的连接（exec、attach、port-forward、WebSocket）。请对它们使用自己的 kubeconfig。",
                ),
            ));
        }
        if let Some(own) = self.window.answer(&head.method, wanted, &self.teller).await {
            return Ok(own?.map(|bytes| Either::Left(Full::new(bytes))));
        }
        let accept = text_of(&head.headers, &ACCEPT);
        let call = Call::asked(head.method.as_str(), wanted, accept);
        let agent = text_of(&head.headers, &USER_AGENT).into();
        let client = Client { agent, connection };
        let uri = at_proxy(&self.proxy, wanted)?;
        let mut asked = Request::new(match body.is_end_stream() {
            true => Either::Left(Empty::<Bytes>::new()),
            false => Either::Right(Arriving::new(body, UNREAD)),
        });
        *asked.method_mut() = head.method;
        *asked.uri_mut() = uri;
        *asked.headers_mut() = passed_on(head.headers);
        // Compressed, the lines of a watch could not be read one by one. The proxy itself asks for gzip.
        asked.headers_mut().remove(ACCEPT_ENCODING);
        // hyper answers it, on this side.
        asked.headers_mut().remove(EXPECT);
        asked.headers_mut().remove(HOST);
        in_json(asked.headers_mut());
        let mut telling = self.teller.asked(client.clone(), call.clone());
        let answer = match self.proxy.send(asked).await {
            Ok(answer) => answer,
            Err(error) => {
                match &mut telling {
                    Some(telling) => telling.over(Over::Broken(error.to_string())),
                    None => self.teller.other(client, call, BAD_GATEWAY),
                }
                return Err(Refusal {
                    status: StatusCode::BAD_GATEWAY,
                    text: self.proxy.down(&error),
                });
            }
        };
        let (mut head, body) = answer.into_parts();
        match &telling {
            Some(telling) => telling.head(head_of(head.status.as_u16(), &head.headers)),
            None => self.teller.other(client, call, head.status.as_u16()),
        }
        no_change(head.status)?;
        head.headers = passed_on(head.headers);
        sandbox(&mut head.headers);
        Ok(Response::from_parts(
            head,
            Either::Right(Seen::new(body, telling)),
        ))
    }

    /// The path behind the token, without its first slash. How long it takes says nothing of the token.
    fn behind_token<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (given, rest) = path.strip_prefix('/')?.split_once('/')?;
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        let differ = given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
        (given.len() == token.len() && differ == 0).then_some(rest)
    }

    /// As a Kubernetes client reads an error.
    fn refused(&self, refusal: &Refusal) -> Response<Body> {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": refusal.text.get(self.lang), "code": refusal.status.as_u16(),
        });
        let body = Bytes::from(status.to_string());
        let mut answer = Response::new(Either::Left(Full::new(body)));
        *answer.status_mut() = refusal.status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(SERVER, HeaderValue::from_static(TAP));
        answer
    }
}

impl Service for Passage {
    type Body = Body;

    async fn answer(&self, connection: u64, request: Request<Incoming>) -> Response<Body> {
        match self.try_answer(connection, request).await {
            Ok(answer) => answer,
            Err(refusal) => self.refused(&refusal),
        }
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

fn unknown() -> Refusal {
    refusal(
        StatusCode::NOT_FOUND,
        Text::new(
            "Nothing is served here. The address is in the kubeconfig of deltascope tap.",
            "此处没有内容。地址在 deltascope tap 的 kubeconfig 中。",
        ),
    )
}

/// The headers without those of the connection, and those that it names.
fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
    headers
}

/// Asks for JSON where the client prefers another encoding: it reads both, and the tap reads only this one.
fn in_json(headers: &mut HeaderMap) {
    let given: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let given = given.join(",");
    if let Some(accept) = accepting_json(&given)
        && let Ok(accept) = HeaderValue::from_str(&accept)
    {
        headers.insert(ACCEPT, accept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_stay() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, x-mine"),
            ("x-mine", "1"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer its-own"),
            ("user-agent", "manager"),
        ] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let left = passed_on(headers);
        let names: Vec<_> = left.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["authorization", "user-agent"]);
    }
}
