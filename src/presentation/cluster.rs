//! A connection to a cluster: where its API is, what stands in the way and what to type then, what is
//! watched, and how it goes. Pure; the requests are made in `live`, the dialog is in `board/cluster`.

use std::sync::Arc;

use serde_json::Value;

use super::i18n::{Lang, Text};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::WatchEnd;
use deltascope_cache::lister_watcher::ApiError;
use deltascope_cache::selector::{Operator, Requirement};
use deltascope_world::Time;
use deltascope_world::fields::{Fields, LATEST_MS, moment};
use deltascope_world::source::proxy::exchange::Head;
use deltascope_world::source::proxy::list::{Excess, MAX_LIST, MAX_OBJECTS};
use deltascope_world::source::proxy::target::{Resource, Target};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::MAX_LINE;
use deltascope_world::virtual_time::{Era, HandlerSettings, InformerKind, Settings, SourceKind};

/// Where an API may be, as seen from the page: behind what passes it on, or beside the page.
pub const BASES: [&str; 2] = ["/k8s/", "/"];

/// More objects than this are watched as metadata alone, where nobody says otherwise: whole objects
/// have some 10 KB each, and a page holds many versions of them.
pub const MANY: u64 = 500;

/// Longer silence than this is worth a word, in ms: a watch is sent a bookmark about every minute.
pub const SILENCE_MS: u64 = 75_000;

// --- where the API is ----------------------------------------------------------------------------

/// What answers at a place where an API may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// An API server of this version.
    Api(Arc<str>),
    /// An API server that does not take the proxy's credentials.
    Unauthorized,
    /// kubectl proxy, which does not answer to the name that the page has in the address bar.
    WrongHost,
    /// Something that passes requests on and gets no answer: the status, and what it says.
    NothingBehind(u16, Arc<str>),
    /// `deltascope serve`, which gets no answer and says itself what to type.
    ServeAlone(Text),
    /// A web page.
    Page,
    /// Something else: the status.
    Other(u16),
    /// No answer, while so many tabs of this browser are connected: as many as it opens connections.
    Crowded(usize),
    /// No answer within the time.
    Late,
    /// Nobody: the server that the page came from is gone.
    Gone,
}

impl Probe {
    /// What an answer to `GET version` says.
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
            // It may not be asked for its version; for the rest, it says so itself.
            403 if text("kind") == Some("Status") => Self::Api("".into()),
            403 => Self::WrongHost,
            500..=599 => match serve_says(body) {
                Some(said) => Self::ServeAlone(said),
                None => Self::NothingBehind(status, first_line(body)),
            },
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

    /// What it is, in words, of this place.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let (en, zh) = match self {
            Self::Api(version) => (
                format!("Kubernetes {version}"),
                format!("Kubernetes {version}"),
            ),
            Self::Unauthorized => (
                "401: credentials not accepted".to_owned(),
                "401：凭据不被接受".to_owned(),
            ),
            Self::WrongHost => (
                "403: host not accepted".to_owned(),
                "403：主机名不被接受".to_owned(),
            ),
            Self::NothingBehind(status, said) => {
                (format!("{status}: {said}"), format!("{status}：{said}"))
            }
            Self::ServeAlone(_) => (
                "deltascope serve, and nothing behind it".to_owned(),
                "deltascope serve，但它背后没有应答".to_owned(),
            ),
            Self::Page => ("a web page".to_owned(), "一个网页".to_owned()),
            Self::Other(status) => (
                format!("{status}: no Kubernetes API"),
                format!("{status}：不是 Kubernetes API"),
            ),
            Self::Crowded(_) => ("no free connection".to_owned(), "没有空闲的连接".to_owned()),
            Self::Late => ("no answer".to_owned(), "没有应答".to_owned()),
            Self::Gone => ("no connection".to_owned(), "连不上".to_owned()),
        };
        match lang {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

/// What `deltascope serve` says when nobody answers it: a line of each language, each with the command.
fn serve_says(body: &[u8]) -> Option<Text> {
    let text = String::from_utf8_lossy(body);
    let mut lines = text.lines();
    let (en, zh) = (lines.next()?, lines.next()?);
    let named = [en, zh].iter().all(|line| line.contains("kubectl proxy"));
    named.then(|| Text::new(en, zh))
}

/// The first line of a text, as far as somebody wants to read it.
fn first_line(body: &[u8]) -> Arc<str> {
    let text = String::from_utf8_lossy(body);
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(200).collect::<String>().into()
}

/// What was found at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place, as it begins the address of a request.
    pub base: Arc<str>,
    /// What was found.
    pub found: Probe,
}

/// What is missing, and the one command that mends it where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// In words.
    pub what: Text,
    /// To be typed.
    pub command: Option<&'static str>,
    /// Whether the page could be run another way; not where it is said what this way lacks.
    pub ways: bool,
}

/// What is missing where no API was found.
#[must_use]
pub fn missing(tried: &[Tried]) -> Missing {
    let telling = tried.iter().max_by_key(|tried| tried.found.weight());
    if let Some(Probe::Crowded(tabs)) = telling.map(|tried| &tried.found) {
        return Missing {
            what: Text::new(
                &format!(
                    "{tabs} tabs of this browser are connected through this server, and over HTTP/1.1 a browser opens no more than 6 connections to one: the requests of this tab wait. Disconnect or close one of the others, then look again."
                ),
                &format!(
                    "这个浏览器已有 {tabs} 个标签页通过这个服务器连接着，而浏览器用 HTTP/1.1 时对同一个服务器最多打开 6 个连接：本标签页的请求只能等待。请在其中一个断开或关闭它，然后再试。"
                ),
            ),
            command: None,
            ways: false,
        };
    }
    if let Some(Probe::ServeAlone(said)) = telling.map(|tried| &tried.found) {
        return Missing {
            what: said.clone(),
            command: None,
            ways: false,
        };
    }
    let (en, zh, command) = match telling.map(|tried| (&*tried.base, &tried.found)) {
        Some((_, Probe::Unauthorized)) => (
            "There is an API server, but it does not take the credentials that kubectl proxy sends (401). Log in again, see that this command works, then start kubectl proxy anew.".to_owned(),
            "有 API server，但它不接受 kubectl proxy 发送的凭据（401）。请重新登录，确认下面的命令可用，再重启 kubectl proxy。".to_owned(),
            Some("kubectl get namespaces"),
        ),
        Some((_, Probe::WrongHost)) => (
            "kubectl proxy is there, but answers only to localhost and 127.0.0.1 (403). Open this page under one of these names.".to_owned(),
            "kubectl proxy 在，但它只应答 localhost 和 127.0.0.1（403）。请用其中一个名字打开本页。".to_owned(),
            None,
        ),
        Some((base, Probe::NothingBehind(..))) => (
            format!("{base} is passed on, but nobody answers there. Is kubectl proxy running, and the cluster behind it? In another terminal, type:"),
            format!("{base} 会被转发，但那边没有应答。kubectl proxy 和它背后的集群在运行吗？请在另一个终端输入："),
            Some("kubectl proxy --port=8001"),
        ),
        Some((base, Probe::Late)) => (
            format!("{base} does not answer. Is the cluster behind kubectl proxy up? See whether this answers:"),
            format!("{base} 没有应答。kubectl proxy 背后的集群在运行吗？看看下面的命令有没有应答："),
            Some("kubectl get namespaces"),
        ),
        Some((_, Probe::Gone)) => (
            "The server that this page came from is gone. Start it again, one of these ways:".to_owned(),
            "提供本页的服务器已经不在了。请用下面的方式之一重新启动：".to_owned(),
            None,
        ),
        _ => (
            "A browser lets a page ask only the server that it came from, and no Kubernetes API is there. Run the page beside kubectl proxy on your own machine, one of these ways:".to_owned(),
            "浏览器只让网页访问提供它的服务器，而那里没有 Kubernetes API。请在自己的机器上让本页和 kubectl proxy 在一起，有这几种方式：".to_owned(),
            None,
        ),
    };
    Missing {
        what: Text::new(&en, &zh),
        command,
        ways: true,
    }
}

/// A way to have the page and the API at one place.
#[derive(Debug)]
pub struct Way {
    /// English
    pub en: &'static str,
    /// 简体中文
    pub zh: &'static str,
    /// To be typed; each in a terminal of its own where there are two.
    pub commands: &'static [&'static str],
    /// Where the page is then.
    pub page: &'static str,
}

impl Way {
    /// What it is.
    #[must_use]
    pub fn words(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }
}

/// They are told here and in the book (docs, A real cluster); the browser tests go all of them.
pub const WAYS: [Way; 4] = [
    Way {
        en: "kubectl serves the built page",
        zh: "由 kubectl 提供构建好的页面",
        commands: &["make dist && kubectl proxy --www=dist"],
        page: "http://127.0.0.1:8001/static/",
    },
    Way {
        en: "the page is built anew on every change",
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

/// The start of every request's address, out of what somebody typed: a path of this origin that ends
/// in a slash.
///
/// # Errors
/// It is another origin's: no browser would let the page ask there.
pub fn base_of(text: &str, origin: &str) -> Result<String, Text> {
    let text = text.trim();
    let path = text.strip_prefix(origin).unwrap_or(text);
    let is_path = path.is_empty() || (path.starts_with('/') && !path.starts_with("//"));
    if !is_path || path.contains(['?', '#', '\\']) {
        return Err(Text::new(
            &format!(
                "{text:?} is not a path of {origin}, and a browser lets a page ask only where it came from. Write a path, like /k8s/."
            ),
            &format!(
                "{text:?} 不是 {origin} 的路径，而浏览器只让网页访问提供它的地方。请写一个路径，例如 /k8s/。"
            ),
        ));
    }
    Ok(format!("{}/", path.trim_end_matches('/')))
}

// --- what is watched -----------------------------------------------------------------------------

/// What to watch, and what with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where the API is; empty: where it is found.
    pub base: String,
    /// The resource, as kubectl names it: `pods`, `po`, `deployments.apps`.
    pub resource: String,
    /// The namespace; empty: all of them.
    pub namespace: String,
    /// Empty: all.
    pub label_selector: String,
    /// Empty: all.
    pub field_selector: String,
    /// Whether names, labels and the like are enough; nothing: for [`MANY`] objects they are.
    pub metadata_only: Option<bool>,
    /// `namespace`, `node`, a label, or a field's path with a dot in front.
    pub indices: Vec<Arc<str>>,
    /// The generation of client-go.
    pub era: Generation,
    /// How often the informer resyncs, in ms; 0: never.
    pub resync_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: String::new(),
            resource: "pods".to_owned(),
            namespace: String::new(),
            label_selector: String::new(),
            field_selector: String::new(),
            metadata_only: None,
            indices: vec!["namespace".into()],
            era: Generation::Atomic,
            resync_ms: 0,
        }
    }
}

impl Options {
    /// As scripts write them.
    ///
    /// # Errors
    /// Says which field cannot be read, or is not known.
    pub fn from_json(value: Value) -> Result<Self, Text> {
        let value = if value.is_null() {
            Value::Object(serde_json::Map::new())
        } else {
            value
        };
        let default = Self::default();
        let read = |value| -> Result<Self, String> {
            let mut fields = Fields::of("connect", value)?;
            let base = fields.get("api")?;
            let resource: Option<String> = fields.get("resource")?;
            let namespace = fields.get("namespace")?;
            let label_selector = fields.get("labelSelector")?;
            let field_selector = fields.get("fieldSelector")?;
            let metadata_only = fields.get("metadataOnly")?;
            let indices: Option<Vec<Arc<str>>> = fields.get("indices")?;
            let era: Option<String> = fields.get("era")?;
            let resync_ms = moment(fields.get("resyncMs")?)?;
            fields.done()?;
            let era = match era {
                None => default.era,
                Some(era) => Generation::from_era(&era)
                    .ok_or_else(|| format!("there is no generation {era:?}"))?,
            };
            Ok(Self {
                base,
                resource: resource.unwrap_or(default.resource),
                namespace,
                label_selector,
                field_selector,
                metadata_only,
                indices: indices.unwrap_or(default.indices),
                era,
                resync_ms,
            })
        };
        let options =
            read(value).map_err(|error| Text::new(&error, &format!("connect：{error}")))?;
        options.check()?;
        Ok(options)
    }

    /// Whether it can be built.
    ///
    /// # Errors
    /// Says which index cannot, and what to write instead.
    pub fn check(&self) -> Result<(), Text> {
        self.indices.iter().try_for_each(|name| check_index(name))
    }

    /// Whether metadata are enough where there are so many objects; nothing: nobody knows how many.
    #[must_use]
    pub fn is_metadata_only(&self, count: Option<u64>) -> bool {
        let by_default = count.is_some_and(|count| count > MANY);
        self.metadata_only.unwrap_or(by_default)
    }

    /// What is asked of the API server.
    #[must_use]
    pub fn target(&self, resource: &Resource) -> Target {
        let given = |text: &str| text.trim().to_owned();
        let namespace = given(&self.namespace);
        Target {
            base: self.base.clone(),
            resource: resource.clone(),
            namespace: (!namespace.is_empty()).then_some(namespace),
            label_selector: given(&self.label_selector),
            field_selector: given(&self.field_selector),
            metadata_only: self.is_metadata_only(None),
        }
    }
}

/// What is built to watch it: a shared informer with one handler. Its pauses and the timeouts of its watches
/// follow from the seed.
#[must_use]
pub fn scenario(target: &Target, options: &Options, seed: u32) -> Scenario {
    let line = |what: &str| vec![format!("{what}: {{name}}")];
    let handler = HandlerSettings {
        name: "printer".into(),
        on_add: line("OnAdd"),
        on_update: line("OnUpdate"),
        on_delete: line("OnDelete"),
        ..HandlerSettings::default()
    };
    let settings = Settings {
        feed: SourceKind::Cluster,
        machinery: InformerKind::Shared,
        jitter: Some(seed),
        era: Era(options.era),
        resync_ms: options.resync_ms,
        indices: (options.indices.iter())
            .filter(|name| !(target.metadata_only && lacks(name)))
            .cloned()
            .collect(),
        type_description: Some(type_of(target).into()),
        handlers: vec![handler],
        ..Settings::default()
    };
    Scenario {
        settings,
        ..Scenario::default()
    }
}

/// The type that a client of Go has for it.
fn type_of(target: &Target) -> String {
    let Resource {
        group,
        version,
        kind,
        ..
    } = &target.resource;
    if target.metadata_only {
        "*v1.PartialObjectMetadata".to_owned()
    } else if is_built_in(group) {
        format!("*{version}.{kind}")
    } else {
        format!("{group}/{version}, Kind={kind}")
    }
}

/// The groups that every API server has; the rest comes from custom resources and other servers.
const BUILT_IN: [&str; 22] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Whether every API server has this group.
#[must_use]
pub fn is_built_in(group: &str) -> bool {
    BUILT_IN.contains(&group) || group == "storagemigration.k8s.io"
}

/// Which resources are offered: those of a group that have this in one of their names, the core
/// group first, custom resources last.
#[must_use]
pub fn offered(resources: &[Resource], text: &str, group: Option<&str>) -> Vec<usize> {
    let text = text.trim().to_lowercase();
    let has = |name: &str| name.to_lowercase().contains(&text);
    let mut found: Vec<usize> = (0..resources.len())
        .filter(|place| {
            let one = &resources[*place];
            let of_group = match group {
                None => true,
                Some(CUSTOM) => !is_built_in(&one.group),
                Some(group) => one.group == group,
            };
            let short = one.short_names.iter().any(|name| has(name));
            of_group && (short || has(&one.name()) || has(&one.kind))
        })
        .collect();
    found.sort_by_cached_key(|place| {
        let one = &resources[*place];
        // Who types a whole name means it.
        let named = one.plural == text || one.short_names.contains(&text);
        let rank = (!named, !one.group.is_empty(), !is_built_in(&one.group));
        (rank, one.group.clone(), one.plural.clone())
    });
    found
}

/// What the menu of groups calls all that is not built in.
pub const CUSTOM: &str = "*";

/// The groups that there are, each with how many resources it has; custom ones are one.
#[must_use]
pub fn groups(resources: &[Resource]) -> Vec<(Arc<str>, usize)> {
    let mut found: Vec<(Arc<str>, usize)> = Vec::new();
    for one in resources {
        let group = if is_built_in(&one.group) {
            one.group.as_str()
        } else {
            CUSTOM
        };
        match found.iter_mut().find(|(other, _)| **other == *group) {
            Some((_, count)) => *count += 1,
            None => found.push((group.into(), 1)),
        }
    }
    // The star of the custom ones comes last.
    found.sort_by_cached_key(|(group, _)| (&**group == CUSTOM, group.clone()));
    found
}

/// The names of indices, as somebody types them: `app, .spec.nodeName`.
#[must_use]
pub fn index_names(text: &str) -> Vec<Arc<str>> {
    let names = text
        .split([',', ' ', '，', '、'])
        .filter(|name| !name.is_empty());
    let mut found: Vec<Arc<str>> = Vec::new();
    for name in names {
        if !found.iter().any(|other| **other == *name) {
            found.push(name.into());
        }
    }
    found
}

/// Whether an index can be called so: `namespace`, `node`, the key of a label, or the path of a field.
///
/// # Errors
/// Says what is wrong, and what to write.
pub fn check_index(name: &str) -> Result<(), Text> {
    let (en, zh) = match name.strip_prefix('.') {
        Some(path) => {
            let odd = |part: &str| part.is_empty() || part.contains(is_odd);
            if !path.split('.').any(odd) {
                return Ok(());
            }
            (
                "is no path of a field. Write names with one dot before each, like .spec.nodeName or .status.conditions.0.type.",
                "不是字段路径。请写名称，每个前面一个点，例如 .spec.nodeName 或 .status.conditions.0.type。",
            )
        }
        None if Requirement::new(name, Operator::Exists, Vec::new()).is_ok() => return Ok(()),
        None => (
            "is no key of a label. Write one like app or app.kubernetes.io/name, or the path of a field with a dot in front.",
            "不是标签的 key。请写 app 或 app.kubernetes.io/name 这样的 key，或以点开头的字段路径。",
        ),
    };
    Err(Text::new(
        &format!("The index {name:?} {en}"),
        &format!("索引 {name:?} {zh}"),
    ))
}

/// What no name of a field has; elements of an array are counted, not bracketed.
fn is_odd(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '[' | ']' | ',')
}

/// What to say of indices that objects without spec and status have no values for; nothing: there
/// are none.
#[must_use]
pub fn without_values<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Text> {
    let lacking: Vec<&str> = names.into_iter().filter(|name| lacks(name)).collect();
    (!lacking.is_empty()).then(|| {
        Text::new(
            &format!(
                "Metadata alone have no {}: nothing to index.",
                lacking.join(", ")
            ),
            &format!("只看元数据时没有 {}：无从索引。", lacking.join("、")),
        )
    })
}

/// Whether metadata alone have nothing to index under this name.
fn lacks(name: &str) -> bool {
    let first = name.strip_prefix('.').map(|path| path.split('.').next());
    name == "node" || first.is_some_and(|first| first != Some("metadata"))
}

/// What a run does not have of what was asked for: indices of which metadata alone have no values.
#[must_use]
pub fn left_out(target: &Target, options: &Options) -> Option<Text> {
    let names = options.indices.iter().map(|name| &**name);
    let said = without_values(names).filter(|_| target.metadata_only)?;
    Some(match options.metadata_only {
        Some(_) => said,
        None => Text::new(
            &format!(
                "{} There are more than {MANY} objects, so their metadata alone are watched; ask for whole objects to have these indices.",
                said.en
            ),
            &format!(
                "{}对象超过 {MANY} 个，所以只看元数据；要有这些索引，请要求完整对象。",
                said.zh
            ),
        ),
    })
}

/// How often to resync, in ms, out of what somebody typed in seconds; empty: never.
///
/// # Errors
/// Says what cannot be read, and what to write.
pub fn resync_ms(typed: &str) -> Result<Time, Text> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(0);
    }
    let most = LATEST_MS / 1000;
    match typed.parse::<u64>() {
        Ok(seconds) if seconds <= most => Ok(seconds * 1000),
        _ => Err(Text::new(
            &format!(
                "The resync {typed:?} is no whole number of seconds from 0 to {most}. Write one, or nothing for never."
            ),
            &format!(
                "resync 的 {typed:?} 不是 0 到 {most} 之间的整数秒。请写一个，或留空表示从不。"
            ),
        )),
    }
}

/// What is watched, in a line: `pods · default · app=web`.
#[must_use]
pub fn title(target: &Target) -> Text {
    let mut rest = String::new();
    for selector in [&target.label_selector, &target.field_selector] {
        if !selector.is_empty() {
            rest.push_str(" · ");
            rest.push_str(selector);
        }
    }
    let resource = target.resource.name();
    let (en, zh) = match &target.namespace {
        _ if !target.resource.namespaced => (String::new(), String::new()),
        None => (" · all namespaces".to_owned(), " · 全部命名空间".to_owned()),
        Some(namespace) => (format!(" · {namespace}"), format!(" · {namespace}")),
    };
    Text::new(
        &format!("{resource}{en}{rest}"),
        &format!("{resource}{zh}{rest}"),
    )
}

// --- how it goes ---------------------------------------------------------------------------------

/// How long a run has been going on, by a clock that somebody may set back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// What it showed last, in ms.
    read: f64,
    /// What went by until then, in ms.
    passed: f64,
}

impl Clock {
    /// From this reading on.
    #[must_use]
    pub fn new(read: f64) -> Self {
        Self { read, passed: 0.0 }
    }

    /// At this reading, in ms since the start: a clock that was set back goes on from there.
    pub fn at(&mut self, read: f64) -> Time {
        self.passed += (read - self.read).max(0.0);
        self.read = read;
        self.latest()
    }

    /// At the reading before.
    #[must_use]
    pub fn latest(&self) -> Time {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and a cast saturates"
        )]
        let passed = self.passed as Time;
        passed
    }
}

/// What the connection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// There is none.
    #[default]
    Off,
    /// A list was asked for.
    Listing,
    /// A watch was asked for.
    Opening,
    /// A watch is open.
    Watching,
    /// Nothing is asked for until so many seconds have passed.
    Waiting(u64),
}

/// How the connection is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it does.
    pub phase: Phase,
    /// For so long nothing was heard, in ms.
    pub silent_ms: u64,
    /// What went wrong last and has not been mended.
    pub trouble: Option<Text>,
}

impl Status {
    /// Whether there is a connection, or one is being sought.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.phase != Phase::Off
    }

    /// Whether it has been silent for longer than it should.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.phase == Phase::Watching && self.silent_ms > SILENCE_MS
    }

    /// Whether nothing is amiss: nobody waits, and what is heard is young.
    #[must_use]
    pub fn is_well(&self) -> bool {
        let waits = matches!(self.phase, Phase::Waiting(_));
        self.trouble.is_none() && !waits && !self.is_stale()
    }

    /// As scripts read it.
    #[must_use]
    pub fn to_json(&self, lang: Lang) -> [(String, Value); 3] {
        let phase = match self.phase {
            Phase::Off => "off",
            Phase::Listing => "listing",
            Phase::Opening => "opening",
            Phase::Watching => "watching",
            Phase::Waiting(_) => "waiting",
        };
        let trouble = self.trouble.as_ref().map(|trouble| trouble.get(lang));
        [
            ("phase".to_owned(), phase.into()),
            ("silentMs".to_owned(), self.silent_ms.into()),
            ("trouble".to_owned(), trouble.into()),
        ]
    }

    /// In as little room as can be: `3 s`.
    #[must_use]
    pub fn short(&self) -> String {
        match self.phase {
            Phase::Waiting(left) => format!("↻ {left} s"),
            _ => format!("{} s", self.silent_ms / 1000),
        }
    }

    /// In a few words: `heard 3 s ago`.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let seconds = self.silent_ms / 1000;
        let (en, zh) = match self.phase {
            Phase::Off => ("not connected".to_owned(), "未连接".to_owned()),
            Phase::Listing => (
                format!("listing, {seconds} s"),
                format!("正在 List，{seconds} 秒"),
            ),
            Phase::Opening => (
                format!("opening a watch, {seconds} s"),
                format!("正在打开 watch，{seconds} 秒"),
            ),
            Phase::Watching if self.is_stale() => (
                format!("silent for {seconds} s"),
                format!("{seconds} 秒没有消息"),
            ),
            Phase::Watching => (
                format!("heard {seconds} s ago"),
                format!("{seconds} 秒前有消息"),
            ),
            Phase::Waiting(left) => (
                format!("tries again in {left} s"),
                format!("{left} 秒后重试"),
            ),
        };
        match lang {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

/// What an error means for whoever looks at it, and what to do.
#[must_use]
pub fn trouble(error: &ApiError, target: &Target) -> Text {
    let said = &error.message;
    let name = target.resource.name();
    let (en, zh) = match error.code {
        0 => (
            format!("No connection: {said}. Are kubectl proxy and this page's server still running?"),
            format!("没有连接：{said}。kubectl proxy 和提供本页的服务器还在运行吗？"),
        ),
        401 => (
            "The API server does not take the proxy's credentials (401). Log in again and restart kubectl proxy.".to_owned(),
            "API server 不接受代理的凭据（401）。请重新登录并重启 kubectl proxy。".to_owned(),
        ),
        // The proxy's own word; an API server names who may not do what.
        403 if said.starts_with("Forbidden") => (
            "kubectl proxy refuses this request (403). Open the page at localhost or 127.0.0.1.".to_owned(),
            "kubectl proxy 拒绝了这个请求（403）。请在 localhost 或 127.0.0.1 打开本页。".to_owned(),
        ),
        403 => {
            let place = match &target.namespace {
                _ if !target.resource.namespaced => String::new(),
                None => " -A".to_owned(),
                Some(namespace) => format!(" -n {namespace}"),
            };
            let ask = format!("kubectl auth can-i list {name}{place}");
            (
                format!("Not allowed (403): {said}. See also: {ask}"),
                format!("没有权限（403）：{said}。可以这样查询：{ask}"),
            )
        }
        404 => (
            format!("The API server does not know {name} (404). Was its definition removed?"),
            format!("API server 不认识 {name}（404）。它的定义被删除了吗？"),
        ),
        429 => return later(429),
        code @ (400 | 422) => {
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
            (
                format!("The API server does not take this request ({code}): {said}{en}"),
                format!("API server 不接受这个请求（{code}）：{said}{zh}"),
            )
        }
        // What a proxy says when nobody answers it.
        code @ 500.. if said.contains("refused") || said.contains("ECONNREFUSED") => (
            format!("Something passes requests on, but nobody answers there ({code}). Is kubectl proxy running, and the cluster behind it?"),
            format!("请求被转发，但那边没有应答（{code}）。kubectl proxy 和它背后的集群在运行吗？"),
        ),
        code @ 500.. => (
            format!("The API server, or something before it, fails ({code}): {said}"),
            format!("API server 或它前面的某处出错（{code}）：{said}"),
        ),
        200 => (
            format!("The answer cannot be used: {said}."),
            format!("应答无法使用：{said}。"),
        ),
        code => (format!("{code}: {said}"), format!("{code}：{said}")),
    };
    Text::new(&en, &zh)
}

/// There is more than can be kept: which bound that is, what helps, and when it goes on by itself. How
/// many objects there are, where that is known; it looks again every so many ms.
#[must_use]
pub fn excess(excess: Excess, count: Option<u64>, every: Time, target: &Target) -> Text {
    let name = target.resource.name();
    let (en, zh) = match (excess, count) {
        (Excess::Objects, Some(count)) => (
            format!("There are {count} {name}, and at most {MAX_OBJECTS} objects are kept."),
            format!("共有 {count} 个 {name}，而最多保留 {MAX_OBJECTS} 个对象。"),
        ),
        (Excess::Objects, None) => (
            format!("There are more than {MAX_OBJECTS} {name}, and no more objects are kept."),
            format!("{name} 超过 {MAX_OBJECTS} 个，而最多只保留这么多对象。"),
        ),
        (Excess::Bytes, _) => (
            format!(
                "The list of {name} has more than {} MiB, and no more is read.",
                MAX_LIST >> 20
            ),
            format!(
                "{name} 的列表超过 {} MiB，而最多只读取这么多。",
                MAX_LIST >> 20
            ),
        ),
        (Excess::Object, _) => (
            format!(
                "One of the {name} has more than {} MiB, and no larger object is read.",
                MAX_LINE >> 20
            ),
            format!(
                "有一个 {name} 对象超过 {} MiB，而不读取更大的对象。",
                MAX_LINE >> 20
            ),
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
    Text::new(
        &format!(
            "{en} Connect again with {with}. Until then it looks again every {seconds} s, and goes on by itself once they fit."
        ),
        &format!("{zh}请改用{zh_with}重新连接。否则每 {seconds} 秒再看一次，放得下时会自动继续。"),
    )
}

/// A server asked to come again later.
#[must_use]
pub fn later(code: u16) -> Text {
    Text::new(
        &format!("The API server has too much to do ({code}) and asks to come again later."),
        &format!("API server 太忙（{code}），要求稍后再来。"),
    )
}

/// What the end of a watch means, where it is not the usual one.
#[must_use]
pub fn ended(end: &WatchEnd) -> Option<Text> {
    let (en, zh) = match end {
        WatchEnd::Closed | WatchEnd::Failed(..) | WatchEnd::TooMuch(_) => return None,
        WatchEnd::Cut | WatchEnd::CutInLine(_) => (
            "The connection broke. The reflector goes on from the last version it has seen.",
            "连接断了。Reflector 会从它见过的最后版本继续。",
        ),
        WatchEnd::Silent => (
            "Nothing came for too long: the connection is taken for dead, and the reflector opens another one.",
            "太久没有任何消息：连接被当作已断开，Reflector 会另开一个。",
        ),
    };
    Some(Text::new(en, zh))
}

/// What an `ERROR` on the watch means: of the API server, or of a line that could not be read.
#[must_use]
pub fn failed(code: u16, said: &str) -> Text {
    if code == 410 {
        return Text::new(
            "The API server no longer has the version that the watch would go on from (410 Expired). The reflector lists again after its back-off.",
            "API server 已没有 watch 要接着读的版本（410 Expired）。Reflector 在退避之后会重新 List。",
        );
    }
    Text::new(
        &format!("The watch ended with an error ({code}): {said}. The reflector begins anew."),
        &format!("watch 以错误结束（{code}）：{said}。Reflector 会重新开始。"),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_tells_what_is_there() {
        let status = br#"{"kind":"Status","status":"Failure","code":403}"#;
        // (status, content type, body) → what is there
        for (code, kind, body, found) in [
            (
                200,
                "application/json",
                &br#"{"gitVersion":"v1.36.4"}"#[..],
                Probe::Api("v1.36.4".into()),
            ),
            (200, "text/html", b"<!doctype html>", Probe::Page),
            (200, "application/json", b"{}", Probe::Other(200)),
            (401, "application/json", b"{}", Probe::Unauthorized),
            (403, "application/json", status, Probe::Api("".into())),
            (403, "text/plain", b"Forbidden\n", Probe::WrongHost),
            (404, "text/plain", b"404 page not found", Probe::Other(404)),
            (
                500,
                "text/plain",
                b"dial tcp: refused\nmore",
                Probe::NothingBehind(500, "dial tcp: refused".into()),
            ),
            (
                502,
                "text/plain",
                "Nothing answers. Start it with: kubectl proxy\n没有应答。请启动：kubectl proxy\n"
                    .as_bytes(),
                Probe::ServeAlone(Text::new(
                    "Nothing answers. Start it with: kubectl proxy",
                    "没有应答。请启动：kubectl proxy",
                )),
            ),
            (
                502,
                "",
                b"\xff",
                Probe::NothingBehind(502, "\u{fffd}".into()),
            ),
        ] {
            let head = Head {
                status: code,
                content_type: kind.to_owned(),
                ..Head::default()
            };
            assert_eq!(Probe::of(&head, body), found, "{code} {kind}");
        }
    }

    #[test]
    fn the_most_telling_place_says_what_is_missing() {
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
        // (what was found) → the command
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

    #[test]
    fn options_are_read_and_checked() {
        let options = Options::from_json(json!({
            "resource": "deployments.apps", "namespace": "kube-system", "metadataOnly": true,
            "indices": ["app", ".spec.nodeName"], "era": "1.32", "resyncMs": 30_000,
        }))
        .unwrap();
        assert_eq!(
            (&*options.resource, options.era),
            ("deployments.apps", Generation::Classic)
        );
        assert_eq!(options.indices.len(), 2);
        assert_eq!(Options::from_json(Value::Null).unwrap(), Options::default());
        for wrong in [
            json!({ "era": "0.1" }),
            json!({ "selector": "app" }),
            json!({ "resource": 1 }),
            json!({ "resyncMs": u64::MAX }),
            json!({ "indices": ["app", "..bad"] }),
            json!("pods"),
        ] {
            assert!(Options::from_json(wrong.clone()).is_err(), "{wrong}");
        }
    }

    fn resource(group: &str, plural: &str, short: &[&str]) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: plural.to_owned(),
            plural: plural.to_owned(),
            short_names: short.iter().map(|&name| name.to_owned()).collect(),
            namespaced: true,
            ..Resource::default()
        }
    }

    #[test]
    fn the_meant_resource_comes_first_and_custom_ones_last() {
        let all = [
            resource("example.com", "widgets", &["po"]),
            resource("apps", "deployments", &["deploy"]),
            resource("", "pods", &["po"]),
            resource("", "podtemplates", &[]),
        ];
        let names = |text, group| -> Vec<&str> {
            let found = offered(&all, text, group);
            found.iter().map(|place| &*all[*place].plural).collect()
        };
        assert_eq!(
            names("", None),
            ["pods", "podtemplates", "deployments", "widgets"]
        );
        assert_eq!(names("PO", None)[..2], ["pods", "widgets"]);
        assert_eq!(names("deploy", None), ["deployments"]);
        assert_eq!(names("ts.exam", None), ["widgets"]);
        assert_eq!(names("", Some(CUSTOM)), ["widgets"]);
        assert_eq!(names("", Some("apps")), ["deployments"]);
        let groups = groups(&all);
        let groups: Vec<(&str, usize)> = groups.iter().map(|(name, n)| (&**name, *n)).collect();
        assert_eq!(groups, [("", 2), ("apps", 1), (CUSTOM, 1)]);
    }

    #[test]
    fn a_type_is_called_as_in_go() {
        let name = |group, metadata_only| {
            type_of(&Target {
                resource: resource(group, "Pod", &[]),
                metadata_only,
                ..Target::default()
            })
        };
        assert_eq!(name("", false), "*v1.Pod");
        assert_eq!(name("", true), "*v1.PartialObjectMetadata");
        assert_eq!(name("example.com", false), "example.com/v1, Kind=Pod");
    }

    #[test]
    fn many_objects_are_watched_as_metadata() {
        let mut options = Options::default();
        let of = |options: &Options| {
            [None, Some(MANY), Some(MANY + 1)].map(|n| options.is_metadata_only(n))
        };
        assert_eq!(of(&options), [false, false, true]);
        options.metadata_only = Some(false);
        assert_eq!(of(&options), [false; 3]);
    }

    #[test]
    fn names_of_indices_come_once() {
        let names = index_names("app, tier  app，.spec.nodeName");
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        assert_eq!(names, ["app", "tier", ".spec.nodeName"]);
    }

    #[test]
    fn an_index_is_a_label_or_a_path() {
        for (name, good) in [
            ("namespace", true),
            ("node", true),
            ("app.kubernetes.io/name", true),
            (".spec.nodeName", true),
            (".metadata.labels.app.kubernetes.io/name", true),
            (".status.conditions.0.type", true),
            ("", false),
            (".", false),
            ("..bad", false),
            (".spec.", false),
            (".spec..nodeName", false),
            (".spec.node name", false),
            (".status.conditions[0].type", false),
            ("app tier", false),
            ("app=web", false),
            ("a/b/c", false),
        ] {
            assert_eq!(check_index(name).is_ok(), good, "{name:?}");
        }
    }

    #[test]
    fn metadata_have_no_spec() {
        let names = ["namespace", "app", ".metadata.labels.app"];
        assert_eq!(without_values(names), None);
        let said = without_values(["node", "app", ".spec.nodeName"]).unwrap();
        assert!(said.en.contains("node, .spec.nodeName:"), "{}", said.en);
        let mut options = Options {
            indices: vec!["namespace".into(), "node".into()],
            ..Options::default()
        };
        for (metadata_only, count) in [(false, 2), (true, 1)] {
            options.metadata_only = Some(metadata_only);
            let target = options.target(&resource("", "pods", &[]));
            assert_eq!(scenario(&target, &options, 1).settings.indices.len(), count);
        }
    }

    #[test]
    fn a_resync_is_seconds_or_nothing() {
        for (typed, ms) in [
            ("", Some(0)),
            (" 30 ", Some(30_000)),
            ("1000000000", Some(LATEST_MS)),
            ("1000000001", None),
            ("99999999999999999999999", None),
            ("abc", None),
            ("-3", None),
            ("1.5", None),
        ] {
            assert_eq!(resync_ms(typed).ok(), ms, "{typed:?}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let mut clock = Clock::new(1_000.0);
        let reads = [1_000.0, 1_500.0, 900.0, 1_000.0, 1_000.0, f64::NAN, 1_100.0];
        let seen = reads.map(|read| clock.at(read));
        assert_eq!(seen[..5], [0, 500, 500, 600, 600]);
        assert!(seen.is_sorted());
    }

    #[test]
    fn a_request_that_is_not_taken_says_what_to_change() {
        let error =
            ApiError::from_status(400, "BadRequest", "field label not supported: spec.x", []);
        let told = |labels: &str, fields: &str| {
            let target = Target {
                label_selector: labels.to_owned(),
                field_selector: fields.to_owned(),
                ..Target::default()
            };
            trouble(&error, &target).en.to_string()
        };
        assert!(
            told("", "spec.x=1").ends_with("spec.x. Connect again with another field selector.")
        );
        assert!(told("a=b", "").contains("label selector"));
        assert!(told("a=b", "spec.x=1").contains("other selectors"));
        assert!(told("", "").ends_with("spec.x"));
    }

    #[test]
    fn too_much_says_which_bound_and_what_helps() {
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
        // (what there is too much of, how many, of what) → the bound, and what helps
        for (what, count, target, bound, helps) in [
            (
                Excess::Objects,
                None,
                &pods,
                "more than 50000 pods",
                "one namespace, or a selector",
            ),
            (
                Excess::Objects,
                Some(61_234),
                &pods,
                "There are 61234 pods",
                "one namespace, or a selector",
            ),
            (
                Excess::Objects,
                None,
                &narrow,
                "more than 50000 pods",
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

    #[test]
    fn who_waits_is_not_well() {
        let status = |phase, trouble: Option<Text>| Status {
            phase,
            trouble,
            ..Status::default()
        };
        assert!(status(Phase::Watching, None).is_well());
        assert!(!status(Phase::Waiting(3), None).is_well());
        assert!(!status(Phase::Watching, Some(failed(500, "no"))).is_well());
    }

    #[test]
    fn silence_is_noticed() {
        let mut status = Status {
            phase: Phase::Watching,
            silent_ms: 3_400,
            trouble: None,
        };
        assert_eq!(status.words(Lang::En), "heard 3 s ago");
        status.silent_ms = SILENCE_MS + 1;
        assert_eq!(status.words(Lang::En), "silent for 75 s");
        assert!(status.is_stale());
    }
}
