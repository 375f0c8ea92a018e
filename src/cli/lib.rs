//! The command line: serves the page with a cluster behind it, records a cluster, and describes a recording in
//! words.
//!
//! All of its I/O is in this crate and in `terminal`; the libraries do the rest. It speaks plain HTTP (`kubectl proxy`
//! speaks no TLS).

mod args;
mod draw;
mod gate;
mod http;
mod listen;
mod page;
mod record;
mod replay;
mod report;
mod seats;
mod serve;
mod tap;

use deltascope_world::text;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::CommandFactory;

use deltascope_terminal::{self as terminal, Answered, Form};
use deltascope_world::Time;
use deltascope_world::source::visible;
use deltascope_world::text::{Lang, Text};

use args::{Args, Command};

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Done; also after Ctrl-C, and when the reader of the output closes it.
    Done = 0,
    /// Something failed; what was written until then is valid.
    Failed = 1,
    /// The command line cannot be parsed.
    Usage = 2,
    /// No API server answers.
    Unreachable = 3,
    /// A controller heard something else than it should have.
    Differs = 4,
}

/// Why a command failed.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    text: Text,
}

impl Failure {
    fn new(en: &str, zh: &str) -> Self {
        Self::of(Text::new(en, zh))
    }

    fn usage(text: Text) -> Self {
        Self::of(text).with(Exit::Usage)
    }

    fn of(text: Text) -> Self {
        Self {
            exit: Exit::Failed,
            text,
        }
    }

    fn with(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }
}

/// Runs the command line. `packed` is the page as `make dist` packs it, or empty.
#[must_use]
pub fn main(packed: &'static [u8]) -> ExitCode {
    let args: Args = match terminal::typed() {
        Ok(args) => args,
        Err(Answered::Help) => return code(Exit::Done),
        Err(Answered::Wrong) => return code(Exit::Usage),
    };
    let lang = args.lang.map_or_else(preferred, Into::into);
    let done = match args.command {
        Command::Serve(options) => serve::run(&options, packed, lang),
        Command::Record(options) => record::run(&options, lang),
        Command::Replay(options) => replay::run(&options, lang),
        Command::Report(options) => report::run(&options, lang),
        Command::Tap(options) => match tap::run(&options, packed, lang) {
            Ok(of_command) => return ExitCode::from(of_command),
            Err(failure) => Err(failure),
        },
        Command::Draw(options) => draw::run(&options, lang),
        Command::Completions { shell } => completions(shell),
    };
    code(match done {
        Ok(()) => Exit::Done,
        Err(failure) => {
            note(failure.text.get(lang));
            failure.exit
        }
    })
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "deltascope", &mut script);
    print(Form::Words, &String::from_utf8_lossy(&script))
}

fn print(form: Form, text: &str) -> Result<(), Failure> {
    terminal::print(form, text).map_err(|error| cannot_print(&error))
}

/// Writes into the file of `-o`, or to stdout: without one, or for `-`.
fn put(form: Form, path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path.filter(|path| path.as_os_str() != "-") {
        Some(path) => fs::write(path, text).map_err(|error| cannot_write(path, &error)),
        None => print(form, text),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    Failure::of(text!(
        "Cannot write {shown}: {error}.",
        "无法写入 {shown}：{error}。"
    ))
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    Failure::of(text!(
        "Cannot read {shown}: {error}.",
        "无法读取 {shown}：{error}。"
    ))
}

fn cannot_print(error: &io::Error) -> Failure {
    Failure::of(text!(
        "The output cannot be written: {error}.",
        "无法写入输出：{error}。"
    ))
}

/// Writes a note to stderr, in one line.
fn note(text: &str) {
    terminal::note(&format!("deltascope: {}", visible::line(text)));
}

/// The user's language, from the environment.
#[allow(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is asked"
)]
fn preferred() -> Lang {
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    match set {
        Some(value) if value.to_string_lossy().starts_with("zh") => Lang::Zh,
        _ => Lang::En,
    }
}

/// Runs a command that waits for the network or for Ctrl-C.
fn block_on<T>(run: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(run);
            // Do not wait for connections that are still open.
            runtime.shutdown_background();
            done
        }
        Err(error) => Err(Failure::of(text!(
            "The system gives no way to wait for the network: {error}.",
            "系统无法提供网络等待机制：{error}。"
        ))),
    }
}

/// Waits for Ctrl-C or SIGTERM.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut ended) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = ended.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler, Ctrl-C ends the process itself.
        std::future::pending().await
    }
}

/// Wall-clock time, in ms since 1970.
#[allow(
    clippy::disallowed_methods,
    reason = "a recording is laid beside logs by it; nothing that runs asks for it"
)]
fn wall() -> Option<Time> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Time::try_from(since.as_millis()).ok()
}
