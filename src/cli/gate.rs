//! Decides which requests may reach the cluster behind the page.
//!
//! Whatever reaches `kubectl proxy` has the rights of the user who started it, and any site that is open in the
//! same browser can send requests to this port. So a request must name this server as its host (a name that
//! another site has resolved to this address does not match), must come from this server's page or from no page,
//! and must only read.

use deltascope_world::text;
use std::borrow::Cow;

use hyper::header::{CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode, Uri};
use percent_encoding::{percent_decode, percent_decode_str};

use deltascope_world::text::Text;

use super::http::Proxy;

/// The header in which browsers say where a request comes from.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Subresources that act even on GET.
const ACTING: [&str; 4] = ["attach", "exec", "portforward", "proxy"];
/// How often a path is decoded: the servers behind the proxy may decode it again. A path that still changes is
/// refused.
const DECODED: usize = 8;

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// The body of the response, in both languages.
    pub(super) text: Text,
}

/// The server's port, and whether it only reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    /// The port that the server listens on.
    pub(super) port: u16,
    /// Whether requests may change the cluster.
    pub(super) allow_writes: bool,
}

impl Gate {
    /// Checks that the request names this server as its host.
    pub(super) fn host(self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let named = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().unwrap_or_default(),
            _ => "",
        };
        let also = uri
            .authority()
            .map_or(named, |authority| authority.as_str());
        if self.is_own(named) && self.is_own(also) {
            return Ok(());
        }
        let port = self.port;
        Err(refusal(
            StatusCode::FORBIDDEN,
            text!(
                "This server is http://127.0.0.1:{port}/ and goes by no other name. Open that address.",
                "本服务器的地址是 http://127.0.0.1:{port}/，不接受其他名称。请打开该地址。"
            ),
        ))
    }

    /// Checks that the request comes from this server's own page, or from no page.
    pub(super) fn origin(self, headers: &HeaderMap) -> Result<(), Refusal> {
        let own = headers
            .get(HOST)
            .and_then(|host| host.to_str().ok())
            .map(|host| format!("http://{host}"));
        let same = headers.get_all(ORIGIN).iter().all(|origin| {
            matches!((origin.to_str(), &own), (Ok(origin), Some(own)) if origin.eq_ignore_ascii_case(own))
        });
        let near = headers
            .get_all(SEC_FETCH_SITE)
            .iter()
            .all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
        if same && near {
            return Ok(());
        }
        Err(refusal(
            StatusCode::FORBIDDEN,
            Text::new(
                "The request comes from a page of another site, which may not ask the cluster.",
                "该请求来自其他网站的页面，不允许访问集群。",
            ),
        ))
    }

    /// Checks that the request only reads. `path` is still percent-encoded.
    pub(super) fn request(self, method: &Method, path: &str) -> Result<(), Refusal> {
        if self.allow_writes {
            return Ok(());
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                text!(
                    "Only GET and HEAD reach the cluster, not {method}: this server only reads. `deltascope serve --allow-writes` lets it through.",
                    "只有 GET 和 HEAD 能到达集群，{method} 不行：本服务器只读。用 `deltascope serve --allow-writes` 可以放行。"
                ),
            ));
        }
        if let Some(name) = acting(path)? {
            return Err(refusal(
                StatusCode::FORBIDDEN,
                text!(
                    "{name} acts although it is read: this server only reads. `deltascope serve --allow-writes` lets it through.",
                    "{name} 虽用 GET 读取，却会产生动作：本服务器只读。用 `deltascope serve --allow-writes` 可以放行。"
                ),
            ));
        }
        Ok(())
    }

    fn is_own(self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            // A colon inside the brackets of an IPv6 address does not precede a port.
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host, "80"),
        };
        let own = ["localhost", "127.0.0.1", "[::1]"];
        own.iter().any(|own| own.eq_ignore_ascii_case(name)) && port == self.port.to_string()
    }
}

/// The acting subresource that a path names, in any encoding. A namespace may have the same name.
fn acting(path: &str) -> Result<Option<&'static str>, Refusal> {
    let parts: Vec<&str> = path.split('/').collect();
    let namespace = match parts.as_slice() {
        ["", _, "api", _, "namespaces", _, ..] => Some(5),
        ["", _, "apis", _, _, "namespaces", _, ..] => Some(6),
        _ => None,
    };
    for (place, part) in parts.into_iter().enumerate() {
        if Some(place) == namespace && ACTING.contains(&part) {
            continue;
        }
        let mut bytes = part.as_bytes().to_vec();
        let mut decoded = 0;
        while let next @ Cow::Owned(_) = Cow::from(percent_decode(&bytes)) {
            decoded += 1;
            if decoded > DECODED {
                return Err(not_served());
            }
            bytes = next.into_owned();
        }
        let text = String::from_utf8_lossy(&bytes);
        if goes_up(&text) {
            return Err(not_served());
        }
        let inside = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let named = text.split(|letter| !inside(letter)).find_map(|word| {
            let same = |acting: &&&str| acting.eq_ignore_ascii_case(word);
            ACTING.iter().find(same).copied()
        });
        if named.is_some() {
            return Ok(named);
        }
    }
    Ok(None)
}

fn not_served() -> Refusal {
    refusal(
        StatusCode::BAD_REQUEST,
        Text::new(
            "The path of the address is none that is served.",
            "地址中的路径无法提供。",
        ),
    )
}

/// Decodes a path. Refuses one that goes up or is not UTF-8.
pub(super) fn plain_path(path: &str) -> Result<Cow<'_, str>, Refusal> {
    let decoded = percent_decode_str(path)
        .decode_utf8()
        .map_err(|_| not_served())?;
    if goes_up(&decoded) || decoded.contains('\0') {
        return Err(not_served());
    }
    Ok(decoded)
}

fn goes_up(path: &str) -> bool {
    path.split(['/', '\\'])
        .any(|part| matches!(part, "." | ".."))
}

/// The URL of a path at the proxy.
pub(super) fn at_proxy(proxy: &Proxy, path_and_query: &str) -> Result<Uri, Refusal> {
    proxy.uri(path_and_query).map_err(|error| {
        refusal(
            StatusCode::BAD_REQUEST,
            text!(
                "The address cannot be asked for: {error}.",
                "无法请求该地址：{error}。"
            ),
        )
    })
}

/// The proxy's answer to a change of the protocol, which is not handed on.
pub(super) fn no_change(status: StatusCode) -> Result<(), Refusal> {
    if status.is_informational() {
        return Err(refusal(
            StatusCode::BAD_GATEWAY,
            Text::new(
                "The cluster wants to change the protocol: that is not handed on.",
                "集群要求切换协议：不予转发。",
            ),
        ));
    }
    Ok(())
}

/// A response of the cluster must not run scripts in the name of this server's page.
pub(super) fn sandbox(headers: &mut HeaderMap) {
    let policy = HeaderValue::from_static("sandbox; default-src 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
}

/// A refusal by this server, not by the cluster.
pub(super) fn refusal(status: StatusCode, text: Text) -> Refusal {
    Refusal { status, text }
}
