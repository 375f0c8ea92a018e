//! What kubectl does for the tap: the way to the API server with the user's credentials, and the names of their
//! context.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use http_body_util::Empty;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use deltascope_terminal::{self as terminal, ChildOutput};
use deltascope_world::text::Lang;

use super::super::http::Proxy;
use super::super::{Exit, Failure, note};

/// Where a proxy is looked for before one is started.
const USUAL: &str = "http://127.0.0.1:8001";
/// How long to wait for kubectl, and for the proxy's first answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The `kubectl proxy` behind the tap.
pub(super) struct Kubectl {
    proxy: Proxy,
    /// The process, if the tap has started it.
    _started: Option<Started>,
}

impl Kubectl {
    /// The given proxy, or the one that answers at the usual place, or a new one.
    pub(super) async fn find(given: Option<&Proxy>, lang: Lang) -> Result<Self, Failure> {
        if let Some(proxy) = given {
            let proxy = proxy.clone();
            return match asked(&proxy).await {
                Ok(()) => Ok(Self {
                    proxy,
                    _started: None,
                }),
                Err(why) => Err(Failure {
                    exit: Exit::Unreachable,
                    text: proxy.down(&why),
                }),
            };
        }
        if let Ok(proxy) = USUAL.parse::<Proxy>()
            && asked(&proxy).await.is_ok()
        {
            return Ok(Self {
                proxy,
                _started: None,
            });
        }
        Self::start(lang).await
    }

    async fn start(lang: Lang) -> Result<Self, Failure> {
        let mut command = Command::new("kubectl");
        command.args(["proxy", "--port=0"]);
        // Ctrl-C ends it after the controller, not before.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let (child, out) =
            terminal::start_to_read(&mut command).map_err(|error| no_proxy(&error.to_string()))?;
        let mut started = Started { child, _out: None };
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
        let said = said.trim();
        // It says: Starting to serve on 127.0.0.1:43567
        let address = said
            .rsplit(' ')
            .next()
            .filter(|_| said.contains("serve on"));
        let proxy = address.and_then(|address| format!("http://{address}").parse().ok());
        let Some(proxy) = proxy else {
            return Err(no_proxy("it does not say where it listens"));
        };
        if let Err(why) = asked(&proxy).await {
            note(
                match lang {
                    Lang::En => {
                        format!("kubectl proxy is started, but no API server answers: {why}")
                    }
                    Lang::Zh => format!("kubectl proxy 已启动，但没有 API server 应答：{why}"),
                }
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
    match timeout(PATIENCE, proxy.send(request)).await {
        Ok(Ok(answer)) if answer.status().is_success() => Ok(()),
        Ok(Ok(answer)) => Err(answer.status().to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("nothing came for {} s", PATIENCE.as_secs())),
    }
}

fn no_proxy(why: &str) -> Failure {
    Failure {
        exit: Exit::Unreachable,
        ..Failure::new(
            &format!(
                "kubectl proxy cannot be started ({why}). Start it yourself (kubectl proxy --port=8001), or name one with --proxy."
            ),
            &format!(
                "无法启动 kubectl proxy（{why}）。请自行启动（kubectl proxy --port=8001），或用 --proxy 指定一个。"
            ),
        )
    }
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
        let (path, temporary) = match path {
            Some(path) => (path.to_owned(), false),
            None => {
                let name = format!("deltascope-tap-{}.kubeconfig", std::process::id());
                (std::env::temp_dir().join(name), true)
            }
        };
        let written = private(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| {
            let shown = path.display();
            Failure::new(
                &format!("Cannot write {shown}: {error}."),
                &format!("无法写入 {shown}：{error}。"),
            )
        })?;
        Ok(Self { path, temporary })
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

/// Creates a file that only its owner may read. A link of another user in its place is not followed.
fn private(path: &Path) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
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
        "clusters": [{ "name": "deltascope-tap", "cluster": { "server": server } }],
        "users": [{ "name": "deltascope-tap", "user": {} }],
        "contexts": [{ "name": context, "context": {
            "cluster": "deltascope-tap", "user": "deltascope-tap", "namespace": namespace } }],
    });
    format!("{config:#}\n")
}
