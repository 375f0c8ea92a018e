//! `deltascope tap`: stands between a controller and its API server, passes everything on, and says what the
//! controller's informers do.

mod child;
mod kube;
mod log;
mod names;
mod passage;
mod recordings;
mod said;
mod seen;
mod teller;
mod watcher;
mod window;

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::BuildHasher;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use deltascope_terminal as terminal;
use deltascope_world::text::{Lang, Text};
use deltascope_world::{in_lang, text};

use super::args::Tap;
use super::gate::Gate;
use super::page::Page;
use super::report::{self, Played};
use super::{Failure, block_on, cannot_write, listen, note, wall};

use child::Signals;
use kube::{Kubeconfig, Kubectl};
use log::Reading;
use passage::Passage;
use recordings::Recordings;
use teller::LogTeller;
use watcher::Watching;
use window::Window;

/// Most open connections. Each has a second one to the proxy; the usual limit of open files allows as many.
const CONNECTIONS: usize = 2_000;

/// Go's clients close a connection that they do not use after 90 s. It must be them, or a request that they send
/// at that moment is lost.
const UNASKED: Duration = Duration::from_secs(120);

/// Passes requests on until the command ends, or until Ctrl-C. Returns the exit code.
pub(super) fn run(options: &Tap, packed: &'static [u8], lang: Lang) -> Result<u8, Failure> {
    let page = match Page::open(options.dist.as_deref(), packed) {
        Ok(page) => Some(page),
        // Whoever names a page wants it.
        Err(failure) if options.dist.is_some() => return Err(failure),
        Err(_) => None,
    };
    block_on(tap(options, page, lang))
}

async fn tap(options: &Tap, page: Option<Page>, lang: Lang) -> Result<u8, Failure> {
    allow_files(CONNECTIONS as u64 * 2 + 100);
    // Before anything is started that has to be ended.
    let mut signals = Signals::new(!options.command.is_empty())?;
    let ready = tokio::select! {
        ready = Ready::new(options, page, lang) => ready?,
        sent = signals.next() => return Ok(sent.code()),
    };
    let Ready {
        kubectl,
        listener,
        kubeconfig,
        passage,
        watching,
        played,
        unkept,
        log,
    } = ready;
    let (prints, reading) = match log {
        Some(Log::Printed(teller)) => (Some(teller), None),
        Some(Log::File(reading)) => (None, Some(reading)),
        None => (None, None),
    };
    let mut code = Ok(0);
    let end = async {
        match options.command.split_first() {
            Some((program, args)) => {
                code = child::run(program, args, kubeconfig.path(), &mut signals, prints).await;
            }
            None => {
                signals.next().await;
            }
        }
    };
    let limits = listen::Limits {
        most: CONNECTIONS,
        unasked: UNASKED,
        // An informer may be slow: an API server bears it as well.
        unread: None,
    };
    listen::serve(listener, limits, passage, end).await;
    drop(kubectl);
    if let Some(reading) = reading {
        reading.end().await;
    }
    // The passage is gone, and with it who tells the watcher.
    let mut observed = watching.end().unwrap_or_default();
    let found = played.findings(&mut observed, true);
    terminal::note(&report::table(&observed, &found, lang));
    let is_recorded = observed.informers.iter().any(|one| !one.file().is_empty());
    if let Some(out) = options.out.as_ref().filter(|_| is_recorded) {
        let out = out.display().to_string();
        let out = terminal::word(&out);
        note(&in_lang!(
            lang,
            "The recordings are in {out}. See them with: deltascope report {out}",
            "录制在 {out} 中。查看：deltascope report {out}"
        ));
    }
    drop(unkept);
    let written = match &options.report {
        Some(path) => report::write(path, &observed, &found, lang),
        None => Ok(()),
    };
    match (code, written) {
        (Ok(0), written) => written.map(|()| 0),
        (code, Ok(())) => code,
        // How the command ended is what its caller asks for.
        (code, Err(failure)) => {
            note(failure.text.get(lang));
            code
        }
    }
}

/// All that is set up before the command starts.
struct Ready {
    kubectl: Kubectl,
    listener: TcpListener,
    kubeconfig: Kubeconfig,
    passage: Arc<Passage>,
    watching: Watching,
    played: Arc<Played>,
    unkept: Option<Folder>,
    log: Option<Log>,
}

/// What the controller logs.
enum Log {
    /// What the command prints.
    Printed(LogTeller),
    File(Reading),
}

impl Ready {
    async fn new(options: &Tap, page: Option<Page>, lang: Lang) -> Result<Self, Failure> {
        let records = options.out.is_some() || options.log.is_some() || page.is_some();
        check(options, records)?;
        let kubectl = Kubectl::find(options.proxy.as_ref(), lang).await?;
        let wanted = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), options.port);
        let (listener, address) = listen::bind(wanted).await?;
        let token = token();
        let server = format!("http://{address}/{token}");
        // The page shows an informer from its recording, and a log is compared with it.
        let unkept = match &options.out {
            None if records => {
                let folder = Folder::new();
                let failed = folder.as_ref().err();
                if let Some(error) = failed {
                    note(not_recorded(error).get(lang));
                }
                folder.ok()
            }
            _ => None,
        };
        let recordings = Recordings::default();
        let out = unkept.as_ref().map(|unkept| unkept.0.clone());
        let (teller, watching) = watcher::start(watcher::Options {
            out: options.out.clone().or(out),
            kept: unkept.is_none(),
            rotate: options.rotate.unwrap_or(usize::MAX),
            keep: options.keep as usize,
            recordings: recordings.clone(),
            logs: options.log.is_some(),
            start: wall(),
            lang,
        })?;
        let log = match &options.log {
            Some(_) if prints(options) => Some(Log::Printed(teller.log())),
            Some(path) => Some(Log::File(Reading::file(path, teller.log(), lang)?)),
            None => None,
        };
        let played = Arc::<Played>::default();
        let window = Window::new(page, recordings, Arc::clone(&played));
        let page = match window.path() {
            "" => format!("http://{address}/"),
            path => format!("{server}/{path}"),
        };
        let kubeconfig = Kubeconfig::write(options.kubeconfig_out.as_deref(), &server).await?;
        if let Some(path) = &options.report {
            // Before the command starts, as its run may be long, and after all else: a tap that does not start leaves none.
            let opened = OpenOptions::new().append(true).create(true).open(path);
            opened.map_err(|error| cannot_write(path, &error))?;
        }
        let passage = Passage::new(
            kubectl.proxy().clone(),
            Gate {
                port: address.port(),
                allow_writes: true,
            },
            &token,
            teller,
            window,
            lang,
        );
        let ready = Self {
            kubectl,
            listener,
            kubeconfig,
            passage: Arc::new(passage),
            watching,
            played,
            unkept,
            log,
        };
        ready.announce(options, &page, lang);
        Ok(ready)
    }

    /// Says where everything is.
    fn announce(&self, options: &Tap, page: &str, lang: Lang) {
        let path = self.kubeconfig.path().display().to_string();
        let path = terminal::word(&path);
        let (proxy, alone) = (self.kubectl.proxy(), options.command.is_empty());
        note(
            text!(
                (
                    "tap: {page} -> {proxy}, KUBECONFIG={path}{}",
                    if alone { " (Ctrl-C ends)" } else { "" }
                ),
                (
                    "tap：{page} -> {proxy}，KUBECONFIG={path}{}",
                    if alone { "（按 Ctrl-C 结束）" } else { "" }
                )
            )
            .get(lang),
        );
        if let (Some(Log::File(_)), Some(path)) = (&self.log, &options.log)
            && !path.exists()
        {
            let shown = path.display();
            note(&in_lang!(
                lang,
                "The log {shown} is not there yet. It is read once it is.",
                "日志 {shown} 还不存在，出现后即开始读取。"
            ));
        }
    }
}

/// Whether the log is what the command prints.
fn prints(options: &Tap) -> bool {
    let log = options.log.as_deref();
    log.is_some_and(|log| log.as_os_str() == "-")
}

/// Refuses options that do not go together.
fn check(options: &Tap, records: bool) -> Result<(), Failure> {
    if prints(options) && options.command.is_empty() {
        return Err(Failure::usage(Text::new(
            "--log - reads what the command prints: give one behind --, or name a file.",
            "--log - 读取命令的输出：请在 -- 之后给出命令，或指定日志文件。",
        )));
    }
    if options.rotate.is_some() && !records {
        return Err(Failure::usage(Text::new(
            "--rotate: nothing is recorded. --out names a folder for the recordings.",
            "--rotate：没有录制任何内容。请用 --out 指定录制的文件夹。",
        )));
    }
    Ok(())
}

/// Without its recordings, the page can only list the informers.
fn not_recorded(error: &io::Error) -> Text {
    let place = std::env::temp_dir().display().to_string();
    text!(
        "Informers are not recorded, so they are only listed: there can be no folder in {place} ({error}). --out names another place.",
        "informer 不会被录制，只能列出它们：无法在 {place} 中创建文件夹（{error}）。可用 --out 指定其他位置。"
    )
}

/// A secret that no other program of this machine can guess: whoever knows it has the rights of the user.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the standard library's only source of randomness, and here it is wanted"
)]
fn token() -> String {
    let [one, other] = [(), ()].map(|()| RandomState::new().hash_one(0));
    format!("{one:016x}{other:016x}")
}

/// A folder that only its owner may enter. It goes with this value.
struct Folder(PathBuf);

impl Folder {
    /// Makes one among the system's temporary folders.
    fn new() -> io::Result<Self> {
        // The path of a socket in it must be short.
        let name = format!("deltascope-{}", &token()[..16]);
        let path = std::path::absolute(std::env::temp_dir().join(name))?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map(|()| Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing in it is used any more.
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// Creates a file that only its owner may read; what is there already stays, and is an error.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Raises the limit of open files, as Go's programs do by themselves.
fn allow_files(wanted: u64) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        if limit.current.is_some_and(|current| current < wanted) {
            limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
            // With fewer, connections wait until others close.
            let _fewer = setrlimit(Resource::Nofile, limit);
        }
    }
    #[cfg(not(unix))]
    let _no_limit = wanted;
}
