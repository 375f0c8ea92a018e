//! What went wrong, and what to do: an error, too much data, the end of a watch.

use deltascope_cache::fact::WatchEnd;
use deltascope_cache::lister_watcher::ApiError;
use deltascope_world::source::live::{MAX_OBJECTS, ResponsePart};
use deltascope_world::source::proxy::list::{Excess, MAX_LIST};
use deltascope_world::source::proxy::target::Target;
use deltascope_world::source::wire::{MAX_LINE, RecordedEvent};
use deltascope_world::text::Text;
use deltascope_world::{Time, text};

/// The cause of an error, with the HTTP status if the message shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// No server has answered.
    NoConnection,
    /// The API server rejects the proxy's credentials.
    Unauthorized,
    /// kubectl proxy does not forward the request.
    RefusedByProxy,
    /// The API server forbids the request.
    Forbidden,
    /// The API server does not know the resource.
    NotFound,
    /// The API server asks to retry later.
    TooManyRequests,
    /// The API server rejects the request as invalid.
    Invalid(u16),
    /// A proxy gets no answer from its server.
    NothingBehind(u16),
    /// The API server fails, or something in front of it.
    ServerError(u16),
    /// The answer cannot be used.
    Unusable,
    /// Any other status.
    Other(u16),
}

impl Cause {
    /// The cause from the status; where one status has two meanings, from the message, too: kubectl proxy and other
    /// proxies answer in plain text.
    fn of(error: &ApiError) -> Self {
        let said = &error.message;
        match error.code {
            0 => Self::NoConnection,
            200 => Self::Unusable,
            code @ (400 | 422) => Self::Invalid(code),
            401 => Self::Unauthorized,
            // The proxy's own message; an API server names the user and the verb.
            403 if said.starts_with("Forbidden") => Self::RefusedByProxy,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            429 => Self::TooManyRequests,
            // The message of a proxy whose server does not answer.
            code @ 500.. if said.contains("refused") || said.contains("ECONNREFUSED") => {
                Self::NothingBehind(code)
            }
            code @ 500.. => Self::ServerError(code),
            code => Self::Other(code),
        }
    }
}

/// What is still wrong after this response: some end a trouble, most say nothing of one. The error that ended a watch
/// stays until the next request is open.
pub fn note(trouble: &mut Option<Text>, part: &ResponsePart, target: &Target) {
    let found = match part {
        ResponsePart::Page(_) | ResponsePart::Opened => {
            *trouble = None;
            return;
        }
        ResponsePart::Refused(error) => Some(self::trouble(error, target)),
        ResponsePart::Later { code, .. } => Some(later(*code)),
        ResponsePart::Ended(end) => ended(end),
        ResponsePart::Event(RecordedEvent::Error { code, message, .. }) => {
            Some(failed(*code, message))
        }
        ResponsePart::Event(_) => None,
    };
    if found.is_some() {
        *trouble = found;
    }
}

/// What an error means for the user, and what to do.
#[must_use]
pub fn trouble(error: &ApiError, target: &Target) -> Text {
    let said = &error.message;
    let name = target.resource.name();
    match Cause::of(error) {
        Cause::NoConnection => text!(
            "No connection: {said}. Are kubectl proxy and this page's server still running?",
            "没有连接：{said}。kubectl proxy 和提供本页的服务器还在运行吗？"
        ),
        Cause::Unauthorized => Text::new(
            "The API server does not take the proxy's credentials (401). Log in again and restart kubectl proxy.",
            "API server 不接受代理的凭据（401）。请重新登录并重启 kubectl proxy。",
        ),
        Cause::RefusedByProxy => Text::new(
            "kubectl proxy refuses this request (403). Open the page at localhost or 127.0.0.1.",
            "kubectl proxy 拒绝了这个请求（403）。请在 localhost 或 127.0.0.1 打开本页。",
        ),
        Cause::Forbidden => {
            let place = match &target.namespace {
                _ if !target.resource.namespaced => String::new(),
                None => " -A".to_owned(),
                Some(namespace) => format!(" -n {namespace}"),
            };
            let ask = format!("kubectl auth can-i list {name}{place}");
            text!(
                "Not allowed (403): {said}. See also: {ask}",
                "没有权限（403），API server 的原文：{said}。可以这样查询：{ask}"
            )
        }
        Cause::NotFound => text!(
            "The API server does not know {name} (404). Was its definition removed?",
            "API server 不认识 {name}（404）。它的定义被删除了吗？"
        ),
        Cause::TooManyRequests => later(error.code),
        Cause::Invalid(code) => {
            let (en, zh) = match (&*target.label_selector, &*target.field_selector) {
                ("", "") => ("", ""),
                (_, "") => (
                    ". Connect again with another label selector.",
                    "。请更改标签选择器后重新连接。",
                ),
                ("", _) => (
                    ". Connect again with another field selector.",
                    "。请更改字段选择器后重新连接。",
                ),
                _ => (
                    ". Connect again with other selectors.",
                    "。请更改选择器后重新连接。",
                ),
            };
            text!(
                "The API server does not take this request ({code}): {said}{en}",
                "API server 不接受这个请求（{code}），原文：{said}{zh}"
            )
        }
        Cause::NothingBehind(code) => text!(
            "Something passes requests on, but nothing answers there ({code}). Is kubectl proxy running, and the cluster behind it?",
            "请求被转发，但那边没有应答（{code}）。kubectl proxy 和它背后的集群在运行吗？"
        ),
        Cause::ServerError(code) => text!(
            "The API server, or something before it, fails ({code}): {said}",
            "API server 或它前面的某处出错（{code}），原文：{said}"
        ),
        Cause::Unusable => text!(
            "The answer cannot be used: {said}.",
            "应答无法使用：{said}。"
        ),
        Cause::Other(code) => text!(
            "The server answers {code}: {said}",
            "服务器返回 {code}，原文：{said}"
        ),
    }
}

/// There is more than can be kept: which limit it exceeds, what helps, and when the page retries. `count` is the
/// number of objects, if known; `every` the interval in ms.
#[must_use]
pub fn excess(excess: Excess, count: Option<u64>, every: Time, target: &Target) -> Text {
    let name = target.resource.name();
    let Text { en, zh } = match (excess, count) {
        (Excess::Objects, Some(count)) => text!(
            "There are {count} {name}, and at most {MAX_OBJECTS} objects are kept.",
            "共有 {count} 个 {name}，而最多保留 {MAX_OBJECTS} 个对象。"
        ),
        (Excess::Objects, None) => text!(
            "There are more than {MAX_OBJECTS} {name}, and no more objects are kept.",
            "{name} 超过 {MAX_OBJECTS} 个，而最多只保留这么多对象。"
        ),
        (Excess::Bytes, _) => text!(
            (
                "The list of {name} has more than {} MiB, and no more is read.",
                MAX_LIST >> 20
            ),
            (
                "{name} 的列表超过 {} MiB，而最多只读取这么多。",
                MAX_LIST >> 20
            )
        ),
        (Excess::Object, _) => text!(
            (
                "One of the {name} has more than {} MiB, and no larger object is read.",
                MAX_LINE >> 20
            ),
            (
                "有一个 {name} 对象超过 {} MiB，而不读取更大的对象。",
                MAX_LINE >> 20
            )
        ),
    };
    let mut helps = Vec::new();
    if excess != Excess::Objects && !target.metadata_only {
        helps.push(("metadata only", "只看元数据"));
    }
    if target.resource.namespaced && target.namespace.is_none() {
        helps.push(("one namespace", "一个命名空间"));
    }
    helps.push(
        match target.label_selector.is_empty() && target.field_selector.is_empty() {
            true => ("a selector", "选择器"),
            false => ("a narrower selector", "更窄的选择器"),
        },
    );
    let ways = |part: fn(&(&'static str, &'static str)) -> &'static str, or| {
        let parts: Vec<&str> = helps.iter().map(part).collect();
        parts.join(or)
    };
    let (with, zh_with) = (ways(|(en, _)| en, ", or "), ways(|(_, zh)| zh, "，或"));
    let seconds = every / 1_000;
    text!(
        "{en} Connect again with {with}. Until then it looks again every {seconds} s, and goes on by itself once they fit.",
        "{zh}请改用{zh_with}重新连接。否则每 {seconds} 秒再看一次，放得下时会自动继续。"
    )
}

/// The server asked to retry later.
fn later(code: u16) -> Text {
    text!(
        "The API server has too much to do ({code}) and asks to come again later.",
        "API server 太忙（{code}），要求稍后再来。"
    )
}

/// The meaning of a watch's end, if it is an unusual one.
fn ended(end: &WatchEnd) -> Option<Text> {
    let (en, zh) = match end {
        WatchEnd::Closed | WatchEnd::Failed(..) | WatchEnd::TooMuch(_) => return None,
        WatchEnd::Cut | WatchEnd::CutInLine(_) => (
            "The connection broke. The Reflector goes on from the last version it has seen.",
            "连接断了。Reflector 会从它见过的最后版本继续。",
        ),
        WatchEnd::Silent => (
            "Nothing came for too long: the connection is taken for dead, and the Reflector opens another one.",
            "太久没有任何消息：连接被当作已断开，Reflector 会另开一个。",
        ),
    };
    Some(Text::new(en, zh))
}

/// The meaning of an `ERROR` on the watch: from the API server, or because of a line that could not be read.
pub(super) fn failed(code: u16, said: &str) -> Text {
    if code == 410 {
        return Text::new(
            "The API server no longer has the version that the watch would go on from (410 Expired). The Reflector lists again after its back-off.",
            "API server 已没有 watch 要接着读的版本（410 Expired）。Reflector 在退避之后会重新 List。",
        );
    }
    text!(
        "The watch ended with an error ({code}): {said}. The Reflector starts again.",
        "watch 以错误结束（{code}），原文：{said}。Reflector 会重新开始。"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::probe::{Probe, Tried, missing};
    use crate::cluster::resources::tests::resource;

    #[test]
    fn an_error_has_one_cause() {
        let forbidden = "pods is forbidden: User \"a\" cannot list resource \"pods\"";
        for (code, said, cause) in [
            (0, "Failed to fetch", Cause::NoConnection),
            (200, "the answer is not a JSON list", Cause::Unusable),
            (400, "field label not supported", Cause::Invalid(400)),
            (401, "Unauthorized", Cause::Unauthorized),
            (403, "Forbidden (get pods)", Cause::RefusedByProxy),
            (403, forbidden, Cause::Forbidden),
            (404, "404 page not found", Cause::NotFound),
            (422, "unable to parse requirement", Cause::Invalid(422)),
            (429, "too many requests", Cause::TooManyRequests),
            (
                500,
                "connect: connection refused",
                Cause::NothingBehind(500),
            ),
            (
                502,
                "connect ECONNREFUSED 127.0.0.1:8001",
                Cause::NothingBehind(502),
            ),
            (503, "etcd is down", Cause::ServerError(503)),
            (418, "I'm a teapot", Cause::Other(418)),
        ] {
            let error = ApiError::from_status(code, "", said, []);
            assert_eq!(Cause::of(&error), cause, "{code} {said}");
        }
    }

    #[test]
    fn a_rejected_request_says_what_to_change() {
        let error =
            ApiError::from_status(400, "BadRequest", "field label not supported: spec.x", []);
        let said = |labels: &str, fields: &str| {
            let target = Target {
                label_selector: labels.to_owned(),
                field_selector: fields.to_owned(),
                ..Target::default()
            };
            trouble(&error, &target).en.to_string()
        };
        assert!(
            said("", "spec.x=1").ends_with("spec.x. Connect again with another field selector.")
        );
        assert!(said("a=b", "").contains("label selector"));
        assert!(said("a=b", "spec.x=1").contains("other selectors"));
        assert!(said("", "").ends_with("spec.x"));
    }

    #[test]
    fn excess_names_the_limit_and_what_helps() {
        let pods = Target {
            resource: resource("", "pods", &[]),
            ..Target::default()
        };
        let narrow = Target {
            namespace: Some("shop".to_owned()),
            label_selector: "app=web".to_owned(),
            metadata_only: true,
            ..pods.clone()
        };
        // (what there is too much of, the count, the target) → the limit, and what helps
        for (what, count, target, bound, helps) in [
            (
                Excess::Objects,
                None,
                &pods,
                "more than 100000 pods",
                "one namespace, or a selector",
            ),
            (
                Excess::Objects,
                Some(161_234),
                &pods,
                "There are 161234 pods",
                "one namespace, or a selector",
            ),
            (
                Excess::Objects,
                None,
                &narrow,
                "more than 100000 pods",
                "a narrower selector",
            ),
            (
                Excess::Bytes,
                None,
                &pods,
                "more than 512 MiB",
                "metadata only, or one namespace, or a selector",
            ),
            (
                Excess::Bytes,
                None,
                &narrow,
                "more than 512 MiB",
                "a narrower selector",
            ),
            (
                Excess::Object,
                None,
                &pods,
                "more than 8 MiB",
                "metadata only, or one namespace, or a selector",
            ),
        ] {
            let said = excess(what, count, 30_000, target);
            let helps = format!("again with {helps}. Until then it looks again every 30 s");
            assert!(
                said.en.contains(bound) && said.en.contains(&helps),
                "{}",
                said.en
            );
            assert!(said.zh.contains("每 30 秒"), "{}", said.zh);
        }
        let crowded = missing(&[Tried {
            base: "/k8s/".into(),
            found: Probe::Crowded(6),
        }]);
        assert!(crowded.what.en.starts_with("6 tabs") && crowded.what.zh.contains("6 个标签页"));
        let unread = ApiError::from_status(200, "", "the answer is not a JSON list", []);
        assert!(
            trouble(&unread, &pods)
                .en
                .starts_with("The answer cannot be used: the answer is not")
        );
        assert!(
            failed(410, "too old")
                .en
                .contains("lists again after its back-off")
        );
    }
}
