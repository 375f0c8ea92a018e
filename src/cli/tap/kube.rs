//! What kubectl does for the tap: the way to the API server with the user's credentials, and the names of their
//! context.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use deltascope_terminal::{self as terminal, ChildOutput};
use deltascope_world::text::{Lang, Text};
use deltascope_world::{in_lang, text};

use super::super::http::Proxy;
use super::super::{Exit, Failure, cannot_write, note};
use super::Folder;

/// The name of the cluster and the user in the tap's kubeconfig.
const NAME: &str = "deltascope-tap";
/// The longest file that is read to see whose it is, and the longest answer to the first question, in bytes.
const LONGEST: u64 = 64 << 10;
/// How long to wait for kubectl, and for the proxy's first answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest path of a socket that all systems take, in bytes.
const LONGEST_SOCKET: usize = 100;

/// The `kubectl proxy` behind the tap.
pub(super) struct Kubectl {
    proxy: Proxy,
    /// The process, if the tap has started it.
    _started: Option<Started>,
}

/// Where a proxy that the tap starts listens: at a socket that only the user reaches. At a port, which has no token, where there
/// can be none.
fn place(folder: Option<&Folder>) -> OsString {
    let socket = folder.map(|folder| folder.0.join("kubectl"));
    match socket.filter(|path| cfg!(unix) && path.as_os_str().len() <= LONGEST_SOCKET) {
        Some(path) => {
            let mut option = OsString::from("--unix-socket=");
            option.push(path);
            option
        }
        None => "--port=0".into(),
    }
}

/// The proxy that says so: `Starting to serve on 127.0.0.1:43567`, or the path of a socket.
fn serving(said: &str) -> Option<Proxy> {
    let (_, place) = said
        .trim_end_matches(['\r', '\n'])
        .split_once("serve on ")?;
    #[cfg(unix)]
    if place.starts_with('/') {
        return Some(Proxy::at_socket(place.into()));
    }
    format!("http://{place}").parse().ok()
}

impl Kubectl {
    /// The given proxy, or a new one: it leads to the cluster of the context that the kubeconfig names.
    pub(super) async fn find(given: Option<&Proxy>, lang: Lang) -> Result<Self, Failure> {
        if let Some(proxy) = given {
            let proxy = proxy.clone();
            return match asked(&proxy).await {
                Ok(()) => Ok(Self {
                    proxy,
                    _started: None,
                }),
                Err(why) => Err(Failure::of(proxy.down(&why)).with(Exit::Unreachable)),
            };
        }
        Self::start(lang).await
    }

    async fn start(lang: Lang) -> Result<Self, Failure> {
        let folder = Folder::new().ok();
        let mut command = Command::new("kubectl");
        command.arg("proxy").arg(place(folder.as_ref()));
        // Ctrl-C ends it after the controller, not before.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let (child, out) =
            terminal::start_to_read(&mut command).map_err(|error| no_proxy(&error.to_string()))?;
        let mut started = Started {
            child,
            _out: None,
            _folder: folder,
        };
        let first = spawn_blocking(move || {
            let (mut out, mut line) = (BufReader::new(out), String::new());
            let read = out.read_line(&mut line);
            read.map(|_| (out, line))
        });
        let said = match timeout(PATIENCE, first).await {
            Ok(Ok(Ok((out, line)))) => {
                started._out = Some(out);
                line
            }
            Ok(_) | Err(_) => String::new(),
        };
        let Some(proxy) = serving(&said) else {
            return Err(no_proxy("it does not say where it listens"));
        };
        let proxy = proxy.of_tap();
        if proxy.is_open() {
            note(at_a_port(&proxy).get(lang));
        }
        if let Err(why) = asked(&proxy).await {
            note(
                in_lang!(
                    lang,
                    "kubectl proxy is started, but no API server answers: {why}",
                    "kubectl proxy 已启动，但没有 API server 应答：{why}"
                )
                .as_str(),
            );
        }
        Ok(Self {
            proxy,
            _started: Some(started),
        })
    }

    pub(super) fn proxy(&self) -> &Proxy {
        &self.proxy
    }
}

/// A process that ends with this value.
struct Started {
    child: Child,
    /// What it prints has a reader until then.
    _out: Option<BufReader<ChildOutput>>,
    /// Its socket is in it.
    _folder: Option<Folder>,
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _code = self.child.wait();
    }
}

/// Asks the API server behind a proxy for its version.
async fn asked(proxy: &Proxy) -> Result<(), String> {
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = proxy.uri("version").map_err(|error| error.to_string())?;
    let answered = async {
        let answer = proxy
            .send(request)
            .await
            .map_err(|error| error.to_string())?;
        let status = answer.status();
        if !status.is_success() {
            return Err(status.to_string());
        }
        let most = usize::try_from(LONGEST).unwrap_or(usize::MAX);
        let body = Limited::new(answer.into_body(), most).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        let version: Value = serde_json::from_slice(&body).unwrap_or_default();
        match version["gitVersion"].is_string() {
            true => Ok(()),
            false => Err("its /version has no gitVersion: it is no API server".to_owned()),
        }
    };
    let came = timeout(PATIENCE, answered).await;
    came.unwrap_or_else(|_| Err(format!("nothing came for {} s", PATIENCE.as_secs())))
}

/// That the proxy has no socket of its own.
fn at_a_port(proxy: &Proxy) -> Text {
    let (en, zh) = match cfg!(unix) {
        true => (
            " A short TMPDIR that you may write to has room for a socket.",
            "TMPDIR 较短且可写时，可以改用 Unix socket。",
        ),
        false => ("", ""),
    };
    text!(
        "kubectl proxy listens at {proxy} without a token: anyone who finds this port on this machine has your rights while the tap runs.{en}",
        "kubectl proxy 在没有令牌的 {proxy} 上监听：tap 运行期间，在本机找到该端口的人拥有你的权限。{zh}"
    )
}

fn no_proxy(why: &str) -> Failure {
    Failure::of(text!(
        "kubectl proxy cannot be started ({why}). Start it yourself (kubectl proxy --port=8001), and name it: --proxy http://127.0.0.1:8001",
        "无法启动 kubectl proxy（{why}）。请自行启动（kubectl proxy --port=8001），并指定它：--proxy http://127.0.0.1:8001"
    ))
    .with(Exit::Unreachable)
}

/// A kubeconfig that leads to the tap. It has the names of the user's own and no credentials.
pub(super) struct Kubeconfig {
    path: PathBuf,
    /// Whether it goes with the tap.
    temporary: bool,
}

impl Kubeconfig {
    /// Writes it for a server at this address, to a file or to a temporary one.
    pub(super) async fn write(path: Option<&Path>, server: &str) -> Result<Self, Failure> {
        let (context, namespace) = current().await;
        let text = text(server, &context, &namespace);
        if let Some(path) = path {
            replace(path, &text)?;
            return Ok(Self {
                path: path.to_owned(),
                temporary: false,
            });
        }
        let name = format!("deltascope-tap-{}.kubeconfig", super::token());
        let path = std::env::temp_dir().join(name);
        create(&path, &text).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self {
            path,
            temporary: true,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        if self.temporary {
            // Its token opens nothing any more.
            let _left = fs::remove_file(&self.path);
        }
    }
}

/// Writes a file, in place of an earlier one of the tap at most.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: &io::Error| cannot_write(path, error);
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() && is_own(path).map_err(|error| failed(&error))? => {}
        Ok(_) => {
            let shown = path.display();
            return Err(Failure::of(text!(
                "{shown} exists and is not a kubeconfig of the tap: name another file.",
                "{shown} 已存在，且不是 tap 的 kubeconfig：请换一个文件名。"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(&error)),
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", super::token()));
    let new = path.with_file_name(name);
    let done = create(&new, text).and_then(|()| fs::rename(&new, path));
    done.map_err(|error| {
        // It may not be there.
        let _left = fs::remove_file(&new);
        failed(&error)
    })
}

/// Whether a file is a kubeconfig that the tap has written.
fn is_own(path: &Path) -> io::Result<bool> {
    let mut text = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
    let config: Value = serde_json::from_slice(&text).unwrap_or_default();
    let clusters = config["clusters"].as_array();
    Ok(clusters.is_some_and(|all| all.len() == 1 && all[0]["name"] == NAME))
}

/// Creates a file that only its owner may read.
fn create(path: &Path, text: &str) -> io::Result<()> {
    super::private(path)?.write_all(text.as_bytes())
}

/// The context that the user's kubeconfig chooses, and its namespace.
async fn current() -> (String, String) {
    let asked = spawn_blocking(|| {
        let args = ["config", "view", "--minify", "--output=json"];
        terminal::read_all(Command::new("kubectl").args(args))
    });
    let shown = match timeout(PATIENCE, asked).await {
        Ok(Ok(Ok(shown))) => serde_json::from_slice(&shown).unwrap_or_default(),
        Ok(_) | Err(_) => Value::Null,
    };
    let text = |pointer: &str, otherwise: &str| {
        let text = shown.pointer(pointer).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
            .unwrap_or(otherwise)
            .to_owned()
    };
    (
        text("/current-context", "deltascope"),
        text("/contexts/0/context/namespace", "default"),
    )
}

/// Every reader of YAML reads JSON.
fn text(server: &str, context: &str, namespace: &str) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{ "name": NAME, "cluster": { "server": server } }],
        "users": [{ "name": NAME, "user": {} }],
        "contexts": [{ "name": context, "context": {
            "cluster": NAME, "user": NAME, "namespace": namespace } }],
    });
    format!("{config:#}\n")
}
