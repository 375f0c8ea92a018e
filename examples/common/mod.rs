//! Shared by the examples: the command line, a cluster that plays a script, a real cluster behind `kubectl proxy`,
//! and a loop that drives a reflector.

#![allow(dead_code, reason = "no example needs all of it")]
#![allow(clippy::print_stderr, reason = "programs at the command line")]

mod cluster;
mod proxy;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deltascope::cache::error::Error;
use deltascope::cache::lister_watcher::{
    ApiError, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::reflector::{Need, Reflector, ReflectorError, ReflectorOptions, StoreCall};
use deltascope::cache::threads::{Clock, Latch, SharedIndexInformer};

pub(crate) use cluster::Cluster;
/// An object of any kind: the library caches everything that has metadata.
pub(crate) use kube_core::DynamicObject;
pub(crate) use proxy::Proxy;

/// The path of the pods that most examples list.
pub(crate) const PODS: &str = "api/v1/namespaces/default/pods";

/// The parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// `--proxy URL`: use a real cluster.
    pub(crate) proxy: Option<String>,
    /// `--listen ADDR`: serve HTTP at this address.
    pub(crate) listen: Option<String>,
}

/// The `main` of an example. `options` are those that it accepts.
pub(crate) fn main_with(
    options: &[&str],
    run: impl FnOnce(&Args) -> Result<(), String>,
) -> ExitCode {
    let args = match parse(options, std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(options: &[&str], mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let usage = || -> String {
        let known = options.iter().map(|option| match *option {
            "--proxy" => " [--proxy http://127.0.0.1:8001]  (a real cluster: run `kubectl proxy`)",
            _ => " [--listen 127.0.0.1:8080]",
        });
        let known: String = known.collect();
        format!("usage: cargo run --example NAME --{known}")
    };
    let mut args = Args::default();
    while let Some(word) = words.next() {
        if !options.contains(&&*word) {
            return Err(format!("{word:?} is not known\n{}", usage()));
        }
        let value = words.next();
        let value = value.ok_or_else(|| format!("{word} needs a value\n{}", usage()))?;
        match &*word {
            "--proxy" => args.proxy = Some(value),
            _ => args.listen = Some(value),
        }
    }
    Ok(args)
}

/// The source of the objects: a script, or a real cluster.
pub(crate) enum Source {
    Script(Cluster),
    Proxy(Proxy),
}

impl Source {
    /// The pods of a lesson, or those of a real cluster.
    pub(crate) fn of(args: &Args, lesson: &str) -> Result<Self, String> {
        Ok(match &args.proxy {
            Some(url) => Self::Proxy(Proxy::new(url, PODS)?),
            None => Self::Script(Cluster::of_lesson(lesson)?),
        })
    }

    /// Set at the end of the script; never for a real cluster.
    pub(crate) fn over(&self) -> Latch {
        match self {
            Self::Script(cluster) => cluster.over(),
            Self::Proxy(_) => Latch::new(),
        }
    }
}

impl ListerWatcher<DynamicObject> for Source {
    type Watch = Watch;

    fn list(&self, request: &ListRequest) -> Result<ListPage<DynamicObject>, ApiError> {
        match self {
            Self::Script(cluster) => cluster.list(request),
            Self::Proxy(proxy) => proxy.list(request),
        }
    }

    fn watch(&self, request: &WatchRequest) -> Result<Watch, ApiError> {
        Ok(match self {
            Self::Script(cluster) => Watch::Script(cluster.watch(request)?),
            Self::Proxy(proxy) => Watch::Proxy(proxy.watch(request)?),
        })
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        matches!(self, Self::Script(_))
    }
}

/// A watch of either source.
pub(crate) enum Watch {
    Script(cluster::Watch),
    Proxy(proxy::Watch),
}

impl Watcher<DynamicObject> for Watch {
    fn next(&mut self) -> WatchItem<DynamicObject> {
        match self {
            Self::Script(watch) => watch.next(),
            Self::Proxy(watch) => watch.next(),
        }
    }

    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        match self {
            Self::Script(watch) => watch.stopper(),
            Self::Proxy(watch) => watch.stopper(),
        }
    }
}

/// Lists and watches in this thread until `stop` is set. The reflector only says what it needs next; `store`
/// receives its calls to the store.
/// A reflector itself only says what it needs next.
pub(crate) fn reflect(
    source: &impl ListerWatcher<DynamicObject>,
    stop: &Latch,
    mut store: impl FnMut(StoreCall<DynamicObject>) -> Result<(), Error>,
) {
    let clock = Clock::real();
    let mut reflector = Reflector::new(ReflectorOptions::default());
    let mut watch = None;
    while !stop.is_set() {
        if let Some(error) = reflector.take_watch_error() {
            eprintln!("{error}");
        }
        let now = || clock.now();
        match reflector.need().clone() {
            Need::List(request) => {
                let page = source.list(&request);
                reflector.listed(now(), page, &mut ());
            }
            Need::Watch(request) => {
                let opened = source.watch(&request).map(|opened| watch = Some(opened));
                reflector.watched(now(), opened, &mut ());
            }
            Need::Event => {
                let item = watch
                    .as_mut()
                    .map_or(WatchItem::Closed, |watch| watch.next());
                if stop.is_set() {
                    return;
                }
                reflector.received(now(), item, &mut ());
            }
            Need::Store(_) | Need::Stored => {
                if let Some(call) = reflector.take_store_call() {
                    let outcome = store(call);
                    reflector.stored(now(), outcome, &mut ());
                }
            }
            Need::Wait(moment) => {
                pause(moment.saturating_sub(now()));
                reflector.waited(now(), &mut ());
            }
            Need::Stopped => return,
        }
    }
}

/// Prints why an informer's list or watch failed to standard error. The informer itself retries.
pub(crate) fn report_watch_errors(
    informer: &SharedIndexInformer<DynamicObject>,
) -> Result<(), String> {
    let handler = Arc::new(|error: &ReflectorError| eprintln!("{error}"));
    let set = informer.set_watch_error_handler(handler);
    set.map_err(|error| error.to_string())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the pause of a reflector that failed; there is nothing else to wait for"
)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Standard output. Clones share the counter.
#[derive(Clone)]
pub(crate) struct Lines {
    left: Arc<Mutex<usize>>,
    enough: Latch,
}

impl Lines {
    /// `enough` is set after `count` lines.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            left: Arc::new(Mutex::new(count)),
            enough: Latch::new(),
        }
    }

    /// Any number of lines.
    pub(crate) fn without_end() -> Self {
        Self::new(usize::MAX)
    }

    pub(crate) fn print(&self, line: impl Display) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let written = writeln!(std::io::stdout(), "{line}");
        *left = left.saturating_sub(1);
        // If the reader has closed standard output, that is enough as well.
        if *left == 0 || written.is_err() {
            self.enough.set();
        }
    }

    /// Set once enough lines were printed.
    pub(crate) fn enough(&self) -> Latch {
        self.enough.clone()
    }
}
