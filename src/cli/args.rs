//! What can be typed.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use deltascope_cache::controller::Generation;
use deltascope_presentation::cluster;
use deltascope_world::source::wire::MAX_BYTES;
use deltascope_world::text::Lang;

use super::http::Proxy;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "deltascope",
    version,
    about = "How a Kubernetes informer really works: serve the page, record a cluster, replay a recording",
    after_help = EXAMPLES,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(super) struct Args {
    /// Language of what is said; otherwise the environment's (LC_ALL, LC_MESSAGES, LANG)
    #[arg(long, global = true, value_enum)]
    pub(super) lang: Option<Language>,
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  kubectl proxy --port=8001 &
  deltascope serve --proxy http://127.0.0.1:8001
  deltascope record --resource pods > trace.jsonl
  deltascope replay trace.jsonl | less

Exit codes:
  0  done; also after Ctrl-C, and when the output is no longer read
  1  something went wrong; what was written until then is good
  2  the command line cannot be understood
  3  nothing answers at the proxy, or no API server behind it
  4  replay --heard: the log differs from the run";

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the page, with a cluster behind it at /k8s/, to this machine alone
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Serve),
    /// Record what a cluster's API server sends an informer, as a trace on stdout
    #[command(after_help = RECORD_EXAMPLES)]
    Record(Record),
    /// Tell in words what an informer does with a recording
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(Replay),
    /// Stand between a controller and its API server, and say what its informers do
    #[command(after_help = TAP_EXAMPLES)]
    Tap(Tap),
    /// Say what informers cost and what is odd about them, from their recordings
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Draw the stage of a lesson or a recording at one moment, as SVG
    #[command(after_help = DRAW_EXAMPLES)]
    Draw(Draw),
    /// Print what makes a shell complete these commands
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const SERVE_EXAMPLES: &str = "\
Examples:
  kubectl proxy --port=8001 &
  deltascope serve
  deltascope serve --proxy http://127.0.0.1:9001 --port 3000 --open

The page only reads, so only GET and HEAD reach the cluster, and of these none that acts (exec, attach,
portforward and proxy, in any spelling, but as a namespace's name); --allow-writes lets everything through but
connections that change their protocol. Requests from pages of other sites are refused.

A program that was compiled after `make dist` has the page in it, and serves it from anywhere.";

const RECORD_EXAMPLES: &str = "\
Examples:
  kubectl proxy --port=8001 &
  deltascope record > trace.jsonl
  deltascope record --resource deployments.apps -n default -l app=web --for 30s -o trace.jsonl
  deltascope record -o pods.jsonl --rotate 16M --keep 5
  deltascope record --resource po --index node,.status.phase --era 1.32 | gzip > trace.jsonl.gz

The engine's own reflector asks, so --era is the client-go that is recorded. Each response is written as it
arrives, on a line of its own: a trace that is cut short opens as far as it goes. It opens in the page, and with `deltascope replay`.
The data of Secrets and ConfigMaps is never written, nor are managed fields.";

const REPLAY_EXAMPLES: &str = "\
Examples:
  deltascope replay trace.jsonl
  deltascope replay trace.jsonl --era 1.32 --until 'delta=Deleted key=default/web'
  kubectl get pods --watch --output-watch-events -o json | jq -c . > watch.jsonl
  kubectl get --raw '/api/v1/pods' > list.json && deltascope replay list.json watch.jsonl
  gunzip -c trace.jsonl.gz | deltascope replay - --until 12s
  deltascope replay trace.jsonl --key default/web --last 5m
  deltascope replay trace.jsonl --key default/web --last 5m --export web.jsonl
  deltascope replay trace.jsonl --until 'tombstone key=default/web' --smallest --export small.jsonl
  deltascope replay trace.jsonl --heard controller.log
  deltascope replay trace.jsonl --json | jq -r 'select(.fact == \"EventReceived\") | .wallTime + \" \" + .key'

A condition is made of delta=, key=, rv>=, tombstone, fact=, call= and violation, as in the page. Where a recording says when
it began, each line has the time of the clock on the wall (UTC) beside the virtual time. With --json a line has step, time (ms),
wallTime (where it is known), actor, fact, key (where it is about one object), cause ({step}, {input}, {script}, {source} or
null), what and why. With --heard the exit code is 4 where the log differs.";

const TAP_EXAMPLES: &str = "\
Examples:
  deltascope tap -- go run ./cmd/manager
  deltascope tap --out run --report run.html -- go run ./cmd/manager
  deltascope tap --log - -- go run ./cmd/manager                 # what its handlers log beside the calls they should get
  deltascope tap --kubeconfig-out tap.yaml &    # and elsewhere: KUBECONFIG=tap.yaml cargo run

The command gets a KUBECONFIG that leads through the tap, with the names of the current context and without
credentials: kubectl proxy has these. What it prints, its exit code and its signals are its own. Everything is passed on as
it comes, writes, too; but connections that change their protocol (exec, attach, port-forward) are not. Clients that
prefer protobuf or CBOR are answered in JSON. The page at the address that is printed shows the
informers, live. Only this machine reaches the tap, and only with the token of the kubeconfig and of that address.
kubectl proxy behind it listens at a socket that only you reach; on Windows, at a port of this machine, without a token.";

const REPORT_EXAMPLES: &str = "\
Examples:
  deltascope report run/*.jsonl
  deltascope report run/*.jsonl -o run.html

Recordings of `deltascope tap` have all that it says. Of other recordings it says what can be known: a recording of
`deltascope record`, or of the page, has neither the client nor sizes nor who writes.";

const DRAW_EXAMPLES: &str = "\
Examples:
  deltascope draw --lesson tombstone --at relist > relist.svg
  deltascope draw --lesson tombstone --at relist --panels api,queue,indexer -o poster.svg
  deltascope draw scenario.json --at end --theme dark --width 600 --lang zh -o end.svg
  deltascope draw trace.jsonl --at t:12000 > moment.svg

With --theme auto a picture is as its reader likes it; poster.svg#dark and poster.svg#light decide. A moment is a
marker of the lesson (also relist+3), input:N, t:MS, headline:FACT[:KEY][:N], step:N, start or end. Panels are api,
reflector, queue, pop, indexer, now and processor.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  deltascope completions bash > ~/.local/share/bash-completion/completions/deltascope
  deltascope completions zsh > ~/.zfunc/_deltascope
  deltascope completions fish > ~/.config/fish/completions/deltascope.fish";

/// `deltascope serve`
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Where `kubectl proxy` listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8001")]
    pub(super) proxy: Proxy,
    /// The folder of the built page [default: the page in this program, else dist]
    #[arg(long, value_name = "DIR")]
    pub(super) dist: Option<PathBuf>,
    /// The port to listen at; 0 takes any that is free
    #[arg(long, default_value_t = 8080)]
    pub(super) port: u16,
    /// The address to listen at: one of this machine's own
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = loopback)]
    pub(super) address: IpAddr,
    /// Open the page in a browser
    #[arg(long, value_enum, default_value_t = Choice::No, num_args = 0..=1, default_missing_value = "yes")]
    pub(super) open: Choice,
    /// Let requests through that change the cluster
    #[arg(long)]
    pub(super) allow_writes: bool,
}

/// `deltascope record`
#[derive(Debug, clap::Args)]
// What an error guesses of what was typed names options as if they were wanted.
#[command(override_usage = "deltascope record [OPTIONS]")]
pub(super) struct Record {
    /// Where `kubectl proxy` listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8001")]
    pub(super) proxy: Proxy,
    /// What to watch, as kubectl names it: pods, po, deployments.apps
    #[arg(long, short = 'r', default_value = "pods")]
    pub(super) resource: String,
    /// Of one namespace
    #[arg(long, short = 'n', conflicts_with = "all_namespaces")]
    pub(super) namespace: Option<String>,
    /// Of all namespaces, as without -n
    #[arg(long, short = 'A')]
    pub(super) all_namespaces: bool,
    /// Only objects with these labels, such as app=web,tier!=cache
    #[arg(long, short = 'l', default_value = "", hide_default_value = true)]
    pub(super) selector: String,
    /// Only objects with these fields, such as spec.nodeName=node-1
    #[arg(
        long,
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) field_selector: String,
    /// Metadata alone (PartialObjectMetadata); without this or --full: where there are more than 500 objects
    #[arg(long, conflicts_with = "full")]
    pub(super) metadata_only: bool,
    /// Whole objects, however many there are
    #[arg(long)]
    pub(super) full: bool,
    /// Indices of the store: namespace, node, a label, or a field's path with a dot in front [default: namespace]
    #[arg(long, value_name = "NAME,…", value_parser = index)]
    pub(super) index: Vec<String>,
    /// The client-go of this Kubernetes version, such as 1.32 [default: 1.36]
    #[arg(long, value_name = "VERSION", value_parser = generation)]
    pub(super) era: Option<Generation>,
    /// Let the informer resync so often
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) resync: Option<u64>,
    /// End after this time, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) r#for: Option<u64>,
    /// End after so many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_events: Option<u64>,
    /// Take names (of objects, namespaces, nodes) or labels out, so that it can be given away; then the trace is
    /// written at the end, when all names are known
    #[arg(long, value_name = "names,labels", value_enum, value_delimiter = ',')]
    pub(super) scramble: Vec<Part>,
    /// Write to a file; - is stdout
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Begin another file when one has this size (500K, 16M): FILE-1, FILE-2, …, each of which opens on its own
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "output", conflicts_with = "scramble")]
    pub(super) rotate: Option<usize>,
    /// Keep so many of these files, the newest, and remove older ones
    #[arg(long, value_name = "N", requires = "rotate", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keep: Option<u32>,
    /// Say on stderr how it goes, also where that is no terminal
    #[arg(long)]
    pub(super) progress: bool,
}

/// `deltascope replay`
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    /// A trace, a recorded list and a recorded watch, or what a controller logged; - is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// As the client-go of this Kubernetes version does it, such as 1.32
    #[arg(long, value_name = "VERSION", value_parser = generation)]
    pub(super) era: Option<Generation>,
    /// Stop at a time (1500ms, 12s, 2m) or at the first fact for which a condition holds
    #[arg(long, value_name = "TIME|CONDITION")]
    pub(super) until: Option<String>,
    /// Print only the facts about this object, given by its key: a namespace, a slash and a name
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub(super) key: Option<String>,
    /// Print only the last N facts, or those of the last seconds or minutes (30s, 5m)
    #[arg(long, value_name = "N|TIME", value_parser = last)]
    pub(super) last: Option<Last>,
    /// A JSON object for each fact, on a line of its own, in place of words
    #[arg(long)]
    pub(super) json: bool,
    /// Write what --key, --last and --until leave as a trace that opens by itself, in place of words; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(super) export: Option<PathBuf>,
    /// Cut the run down to the smallest one in which the condition of --until still holds, and say what is left; with
    /// --export as a trace. What a real API server sent gets made-up names
    #[arg(long, requires = "until", conflicts_with_all = ["key", "last", "json"])]
    pub(super) smallest: bool,
    /// With --smallest: leave the names as they are
    #[arg(long, requires = "smallest")]
    pub(super) real_names: bool,
    /// Compare with what a controller's handlers logged of this run, and say the first difference
    #[arg(long, value_name = "LOG", conflicts_with_all = ["key", "last", "json", "export", "smallest"])]
    pub(super) heard: Option<PathBuf>,
}

/// `deltascope tap`
#[derive(Debug, clap::Args)]
pub(super) struct Tap {
    /// Where `kubectl proxy` listens [default: one that is started, for the current context]
    #[arg(long, value_name = "URL")]
    pub(super) proxy: Option<Proxy>,
    /// Write the kubeconfig that leads through the tap to this file; it stays, and only such a file is overwritten
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig_out: Option<PathBuf>,
    /// Record each informer into a file of its own in this folder, which has no recordings yet
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Go on in another file when a recording has this size (500K, 16M; 32M at most): 01-pods-all.2.jsonl, each opens on its own
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) rotate: Option<usize>,
    /// Keep so many files of each recording, the newest; of shorter ones, more that are no larger together
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keep: u32,
    /// Read what the controller logs of its informers, as it comes: a file that grows, or - for what CMD prints
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Write at the end what `deltascope report` writes: to a file that ends in .html or .json
    #[arg(long, value_name = "FILE", value_parser = report_file)]
    pub(super) report: Option<PathBuf>,
    /// The folder of the built page [default: the page in this program, else dist]
    #[arg(long, value_name = "DIR")]
    pub(super) dist: Option<PathBuf>,
    /// The port to listen at; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    pub(super) port: u16,
    /// The controller, and what it is called with
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// `deltascope report`
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// Recordings, or folders of them
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Write to a file that ends in .html or .json; otherwise a table is printed
    #[arg(long, short = 'o', value_name = "FILE", value_parser = report_file)]
    pub(super) output: Option<PathBuf>,
}

/// `deltascope draw`
#[derive(Debug, clap::Args)]
pub(super) struct Draw {
    /// A scenario or a lesson as JSON, a trace, or another recording; - is stdin
    #[arg(value_name = "FILE", conflicts_with = "lesson")]
    pub(super) file: Option<PathBuf>,
    /// A lesson of the page
    #[arg(long, value_name = "ID")]
    pub(super) lesson: Option<String>,
    /// As the client-go of this Kubernetes version does it, such as 1.32
    #[arg(long, value_name = "VERSION")]
    pub(super) era: Option<String>,
    /// The moment; otherwise what is shown first
    #[arg(long, value_name = "MOMENT")]
    pub(super) at: Option<String>,
    /// The panels that are drawn; otherwise all
    #[arg(long, value_name = "ROOM,…")]
    pub(super) panels: Option<String>,
    /// light, dark or auto
    #[arg(long)]
    pub(super) theme: Option<String>,
    /// How wide it is, in CSS px [default: 1200 with all panels, 750 with some]
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(240..=4_000))]
    pub(super) width: Option<u32>,
    /// Without the words under the stage
    #[arg(long)]
    pub(super) no_strip: bool,
    /// Write to a file; - is stdout
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// What can be taken out of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Names become made-up ones of the same shape
    Names,
    /// Labels and annotations are removed
    Labels,
}

/// Yes or no, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// Yes
    Yes,
    /// No
    No,
}

/// A language, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Language {
    /// English
    En,
    /// 简体中文
    Zh,
}

impl From<Language> for Lang {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::En,
            Language::Zh => Self::Zh,
        }
    }
}

fn generation(text: &str) -> Result<Generation, String> {
    Generation::from_version(text).ok_or_else(|| {
        let versions = Generation::VERSIONS.join(", ");
        format!("it is a Kubernetes version, such as {versions}")
    })
}

/// Checks the names of indices, in the form of the page's dialog.
fn index(text: &str) -> Result<String, String> {
    for name in cluster::index_names(text) {
        cluster::check_index(&name).map_err(|wrong| wrong.en.to_string())?;
    }
    Ok(text.to_owned())
}

/// Parses `1500ms`, `12s`, `2m` or `1h`. Returns ms; none for any other text.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// The length of the part at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// A number of facts.
    Facts(usize),
    /// A time in ms.
    Ms(u64),
}

fn last(text: &str) -> Result<Last, &'static str> {
    let facts = text.parse().ok().map(Last::Facts);
    facts
        .or_else(|| duration_ms(text).map(Last::Ms))
        .ok_or("it is a number of facts, such as 100, or a time such as 30s or 5m")
}

/// Parses the size of a file, in bytes. A file of the greatest size can be opened; one of the least size has room
/// for a list of some objects.
fn size(text: &str) -> Result<usize, &'static str> {
    let last = text.len().saturating_sub(1);
    let (number, unit) = text.split_at_checked(last).unwrap_or_default();
    let unit = match unit {
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        _ => 0,
    };
    let size = number.parse::<usize>().ok();
    size.and_then(|number| number.checked_mul(unit))
        .filter(|size| (16 << 10..=MAX_BYTES / 2).contains(size))
        .ok_or("it is a size from 16K to 32M, such as 500K or 16M")
}

fn duration(text: &str) -> Result<u64, &'static str> {
    duration_ms(text).ok_or("it is a time such as 500ms, 30s, 5m or 1h")
}

/// Accepts a file whose ending says how a report is written.
fn report_file(text: &str) -> Result<PathBuf, &'static str> {
    let ends = |ending: &str| text.to_ascii_lowercase().ends_with(ending);
    if ends(".html") || ends(".json") {
        Ok(text.into())
    } else {
        Err("its name ends in .html or .json, which says how it is written")
    }
}

/// Accepts only loopback addresses: anyone who reaches the port can read what `kubectl` may read.
fn loopback(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .map_err(|_| "it is no IP address, such as 127.0.0.1".to_owned())?;
    if [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ]
    .contains(&address)
    {
        Ok(address)
    } else {
        Err(
            "only 127.0.0.1 and ::1 are served: who else reaches the port could read the cluster as you. \
             From another machine, use a tunnel: ssh -L 8080:127.0.0.1:8080 HOST"
                .to_owned(),
        )
    }
}
