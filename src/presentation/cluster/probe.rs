//! Finding the API: what answers at an address, what is missing if no API does, and which command helps.

use std::sync::Arc;

use serde_json::Value;

use deltascope_world::source::proxy::exchange::{Head, SERVE};
use deltascope_world::text;
use deltascope_world::text::{Lang, Text};

/// Where an API may be, seen from the page: behind a proxy, or at the page's own server.
pub const BASES: [&str; 2] = ["/k8s/", "/"];

/// What answers at an address where an API may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// An API server of this version.
    Api(Arc<str>),
    /// An API server that rejects the proxy's credentials.
    Unauthorized,
    /// kubectl proxy, which rejects the host name in the page's address.
    WrongHost,
    /// A proxy whose server does not answer: the status, and its message.
    NothingBehind(u16, Arc<str>),
    /// `deltascope serve`, which gets no answer from its server; its message says what to type.
    ServeAlone(Text),
    /// A web page.
    Page,
    /// Something else: the HTTP status.
    Other(u16),
    /// No answer while this many tabs of the browser are connected, which is its limit of connections to one
    /// server.
    Crowded(usize),
    /// No answer in time.
    Late,
    /// No server: the one that the page came from has stopped.
    Gone,
}

impl Probe {
    /// The meaning of an answer to `GET version`.
    #[must_use]
    pub fn of(head: &Head, body: &[u8]) -> Self {
        let status = head.status;
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let text = |name: &str| json.as_ref()?.get(name)?.as_str();
        match status {
            200 => match text("gitVersion") {
                Some(version) => Self::Api(version.into()),
                None if head.content_type.starts_with("text/html") => Self::Page,
                None => Self::Other(status),
            },
            401 => Self::Unauthorized,
            // The version is forbidden; other requests report their own errors.
            403 if text("kind") == Some("Status") => Self::Api("".into()),
            403 => Self::WrongHost,
            500..=599 if head.server == SERVE => Self::ServeAlone(message_of_serve(body)),
            500..=599 => Self::NothingBehind(status, first_line(body)),
            _ => Self::Other(status),
        }
    }

    /// How much it says about what is missing.
    fn weight(&self) -> u8 {
        match self {
            Self::Api(_) => 8,
            Self::Unauthorized => 7,
            Self::WrongHost => 6,
            Self::ServeAlone(_) => 5,
            Self::NothingBehind(..) => 4,
            Self::Crowded(_) | Self::Late => 3,
            Self::Gone => 2,
            Self::Page | Self::Other(_) => 1,
        }
    }

    /// A description of what answers at this address.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let words = match self {
            Self::Api(version) => return format!("Kubernetes {version}"),
            Self::Unauthorized => Text::new("401: credentials not accepted", "401：凭据不被接受"),
            Self::WrongHost => Text::new("403: host not accepted", "403：主机名不被接受"),
            Self::NothingBehind(status, said) => {
                text!("{status}: {said}", "{status}：{said}")
            }
            Self::ServeAlone(_) => Text::new(
                "deltascope serve, and nothing behind it",
                "deltascope serve，但它背后没有应答",
            ),
            Self::Page => Text::new("a web page", "一个网页"),
            Self::Other(status) => text!(
                "{status}: no Kubernetes API",
                "{status}：不是 Kubernetes API"
            ),
            Self::Crowded(_) => Text::new("no free connection", "没有空闲的连接"),
            Self::Late => Text::new("no answer", "没有应答"),
            Self::Gone => Text::new("no connection", "连不上"),
        };
        words.get(lang).to_owned()
    }
}

/// The message in a response of `deltascope serve` itself: one line per language.
fn message_of_serve(body: &[u8]) -> Text {
    let text = String::from_utf8_lossy(body);
    let mut lines = text.lines();
    let (en, zh) = (lines.next(), lines.next());
    Text::new(en.unwrap_or_default(), zh.or(en).unwrap_or_default())
}

/// The first line of a text, at most 200 characters of it.
fn first_line(body: &[u8]) -> Arc<str> {
    let text = String::from_utf8_lossy(body);
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(200).collect::<String>().into()
}

/// The result for one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The address, with which every request begins.
    pub base: Arc<str>,
    /// What answers there.
    pub found: Probe,
}

/// What is missing, and the command that helps, if one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The explanation.
    pub what: Text,
    /// The command to type.
    pub command: Option<&'static str>,
    /// Whether to show the ways to run the page; not if the explanation says what this way lacks.
    pub ways: bool,
}

/// What is missing, given the results for all addresses.
#[must_use]
pub fn missing(tried: &[Tried]) -> Missing {
    let best = tried.iter().max_by_key(|tried| tried.found.weight());
    if let Some(Probe::Crowded(tabs)) = best.map(|tried| &tried.found) {
        return Missing {
            what: text!(
                "{tabs} tabs (of this browser, or within a page) are connected through this server, and over HTTP/1.1 a browser opens no more than 6 connections to one: the requests of this tab wait. Disconnect or close one of the others, then look again.",
                "这个浏览器（包括页面内的标签）已有 {tabs} 个标签页通过这个服务器连接着，而浏览器用 HTTP/1.1 时对同一个服务器最多打开 6 个连接：本标签页的请求只能等待。请在其中一个断开或关闭它，然后再试。"
            ),
            command: None,
            ways: false,
        };
    }
    if let Some(Probe::ServeAlone(said)) = best.map(|tried| &tried.found) {
        return Missing {
            what: said.clone(),
            command: None,
            ways: false,
        };
    }
    let (what, command) = match best.map(|tried| (&*tried.base, &tried.found)) {
        Some((_, Probe::Unauthorized)) => (
            Text::new(
                "There is an API server, but it does not take the credentials that kubectl proxy sends (401). Log in again, see that this command works, then start kubectl proxy again.",
                "有 API server，但它不接受 kubectl proxy 发送的凭据（401）。请重新登录，确认下面的命令可用，再重启 kubectl proxy。",
            ),
            Some("kubectl get namespaces"),
        ),
        Some((_, Probe::WrongHost)) => (
            Text::new(
                "kubectl proxy is there, but answers only to localhost and 127.0.0.1 (403). Open this page under one of these names.",
                "kubectl proxy 在，但它只应答 localhost 和 127.0.0.1（403）。请用其中一个名字打开本页。",
            ),
            None,
        ),
        Some((base, Probe::NothingBehind(..))) => (
            text!(
                "{base} is passed on, but nothing answers there. Is kubectl proxy running, and the cluster behind it? In another terminal, type:",
                "{base} 会被转发，但那边没有应答。kubectl proxy 和它背后的集群在运行吗？请在另一个终端输入："
            ),
            Some("kubectl proxy --port=8001"),
        ),
        Some((base, Probe::Late)) => (
            text!(
                "{base} does not answer. Is the cluster behind kubectl proxy up? See whether this answers:",
                "{base} 没有应答。kubectl proxy 背后的集群在运行吗？看看下面的命令有没有应答："
            ),
            Some("kubectl get namespaces"),
        ),
        Some((_, Probe::Gone)) => (
            Text::new(
                "The server that this page came from is gone. Start it again, one of these ways:",
                "提供本页的服务器已经不在了。请用下面的方式之一重新启动：",
            ),
            None,
        ),
        _ => (
            Text::new(
                "A browser lets a page ask only the server that it came from, and no Kubernetes API is there. Run the page beside kubectl proxy on your own machine, one of these ways:",
                "浏览器只让网页访问提供它的服务器，而那里没有 Kubernetes API。请在自己的机器上让本页和 kubectl proxy 在一起，有这几种方式：",
            ),
            None,
        ),
    };
    Missing {
        what,
        command,
        ways: true,
    }
}

/// A way to serve the page and the API at one origin.
#[derive(Debug)]
pub struct Way {
    /// Its description in English.
    pub en: &'static str,
    /// Its description in Chinese.
    pub zh: &'static str,
    /// The commands to type; two commands need two terminals.
    pub commands: &'static [&'static str],
    /// The address of the page then.
    pub page: &'static str,
}

impl Way {
    /// Its description.
    #[must_use]
    pub fn words(&self, lang: Lang) -> &'static str {
        lang.pick(self.en, self.zh)
    }
}

/// The book lists them, too (docs, A real cluster); the browser tests try them all.
pub const WAYS: [Way; 4] = [
    Way {
        en: "kubectl serves the built page",
        zh: "由 kubectl 提供构建好的页面",
        commands: &["make dist && kubectl proxy --www=dist"],
        page: "http://127.0.0.1:8001/static/",
    },
    Way {
        en: "the page is built again on every change",
        zh: "每次改动都重新构建页面",
        commands: &[
            "kubectl proxy --port=8001",
            "make serve PROXY=http://127.0.0.1:8001",
        ],
        page: "http://127.0.0.1:8080/",
    },
    Way {
        en: "the same without make",
        zh: "同上，不用 make",
        commands: &[
            "kubectl proxy --port=8001",
            "trunk serve --proxy-backend=http://127.0.0.1:8001 --proxy-rewrite=/k8s/ --proxy-no-system-proxy",
        ],
        page: "http://127.0.0.1:8080/",
    },
    Way {
        en: "deltascope's own command serves the built page",
        zh: "由 deltascope 命令提供构建好的页面",
        commands: &[
            "kubectl proxy --port=8001",
            "deltascope serve --proxy http://127.0.0.1:8001",
        ],
        page: "http://127.0.0.1:8080/",
    },
];

/// The start of every request's address, from what the user typed: a path of this origin that ends in a slash.
///
/// # Errors
/// Fails if the address belongs to another origin, which no browser would let the page reach.
pub fn base_of(text: &str, origin: &str) -> Result<String, Text> {
    let text = text.trim();
    let path = text.strip_prefix(origin).unwrap_or(text);
    let is_path = path.is_empty() || (path.starts_with('/') && !path.starts_with("//"));
    if !is_path || path.contains(['?', '#', '\\']) {
        return Err(text!(
            "{text:?} is not a path of {origin}, and a browser lets a page ask only where it came from. Write a path, like /k8s/.",
            "{text:?} 不是 {origin} 的路径，而浏览器只让网页访问提供它的地方。请写一个路径，例如 /k8s/。"
        ));
    }
    Ok(format!("{}/", path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_shows_what_is_there() {
        let status = br#"{"kind":"Status","status":"Failure","code":403}"#;
        // (status, content type, server, body) → what answers
        for (code, kind, server, body, found) in [
            (
                200,
                "application/json",
                "",
                &br#"{"gitVersion":"v1.36.4"}"#[..],
                Probe::Api("v1.36.4".into()),
            ),
            (200, "text/html", "", b"<!doctype html>", Probe::Page),
            (200, "application/json", "", b"{}", Probe::Other(200)),
            (401, "application/json", "", b"{}", Probe::Unauthorized),
            (403, "application/json", "", status, Probe::Api("".into())),
            (403, "text/plain", "", b"Forbidden\n", Probe::WrongHost),
            (
                404,
                "text/plain",
                "",
                b"404 page not found",
                Probe::Other(404),
            ),
            (
                500,
                "text/plain",
                "",
                b"dial tcp: refused\nmore",
                Probe::NothingBehind(500, "dial tcp: refused".into()),
            ),
            (
                502,
                "text/plain",
                SERVE,
                "Nothing answers. Start it with: kubectl proxy\n没有应答。请启动：kubectl proxy\n"
                    .as_bytes(),
                Probe::ServeAlone(Text::new(
                    "Nothing answers. Start it with: kubectl proxy",
                    "没有应答。请启动：kubectl proxy",
                )),
            ),
            (
                502,
                "text/plain",
                "",
                b"Is kubectl proxy there?\nIs kubectl proxy there?",
                Probe::NothingBehind(502, "Is kubectl proxy there?".into()),
            ),
            (
                502,
                "",
                "",
                b"\xff",
                Probe::NothingBehind(502, "\u{fffd}".into()),
            ),
        ] {
            let head = Head {
                status: code,
                content_type: kind.to_owned(),
                server: server.to_owned(),
                ..Head::default()
            };
            assert_eq!(Probe::of(&head, body), found, "{code} {kind}");
        }
    }

    #[test]
    fn the_most_informative_address_says_what_is_missing() {
        let at = |base: &str, found| Tried {
            base: base.into(),
            found,
        };
        let behind = Probe::NothingBehind(502, "refused".into());
        let said = Text::new("Start kubectl proxy", "请启动 kubectl proxy");
        let alone = missing(&[
            at("/k8s/", Probe::ServeAlone(said.clone())),
            at("/", Probe::Page),
        ]);
        assert_eq!((alone.what, alone.command, alone.ways), (said, None, false));
        // (what answers) → the command
        for (tried, command) in [
            (
                vec![at("/k8s/", behind.clone()), at("/", Probe::Page)],
                Some("kubectl proxy --port=8001"),
            ),
            (
                vec![at("/k8s/", Probe::Other(404)), at("/", Probe::Unauthorized)],
                Some("kubectl get namespaces"),
            ),
            (vec![at("/k8s/", Probe::WrongHost), at("/", behind)], None),
            (
                vec![at("/k8s/", Probe::Other(404)), at("/", Probe::Page)],
                None,
            ),
            (vec![], None),
        ] {
            let missing = missing(&tried);
            assert_eq!(missing.command, command, "{tried:?}");
            assert!(!missing.what.en.is_empty() && !missing.what.zh.is_empty());
        }
    }

    #[test]
    fn a_base_is_a_path_of_this_origin() {
        let origin = "http://127.0.0.1:8080";
        for (typed, base) in [
            ("/k8s/", Some("/k8s/")),
            (" /k8s ", Some("/k8s/")),
            ("/", Some("/")),
            ("http://127.0.0.1:8080/k8s", Some("/k8s/")),
            ("http://127.0.0.1:8080", Some("/")),
            ("http://127.0.0.1:8001/", None),
            ("http://127.0.0.1:80800/", None),
            ("//elsewhere/", None),
            ("/\\elsewhere/", None),
            ("k8s", None),
            ("/k8s?x=", None),
        ] {
            assert_eq!(base_of(typed, origin).ok().as_deref(), base, "{typed}");
        }
    }
}
