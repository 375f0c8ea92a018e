//! What can be typed.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::lessons::text::Lang;

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

Exit codes:
  0  done; also after Ctrl-C, and when nobody reads the output any more
  1  something went wrong; what was written until then is good
  2  the command line cannot be understood";

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the page, with a cluster behind it at /k8s/, to this machine alone
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Serve),
    /// Print what makes a shell complete these commands
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const SERVE_EXAMPLES: &str = "\
Examples:
  make dist && kubectl proxy --port=8001 &
  deltascope serve
  deltascope serve --proxy http://127.0.0.1:9001 --port 3000 --open

The page only reads, so only GET and HEAD reach the cluster, and of these none that acts (exec, attach,
portforward, and the proxies of pods, services and nodes); --allow-writes lets everything through but
connections that change their protocol. Requests from pages of other sites are refused.";

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
    /// The folder of the built page (`make dist`)
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub(super) dist: PathBuf,
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

/// Whether.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Choice {
    /// Do
    Yes,
    /// Do not
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

/// Whoever reaches the port has what `kubectl` may read.
fn loopback(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .map_err(|_| "it is no IP address, such as 127.0.0.1".to_owned())?;
    if address.is_loopback() {
        Ok(address)
    } else {
        Err(
            "only 127.0.0.1 and ::1 are served: who else reaches the port could read the cluster as you. \
             From another machine, use a tunnel: ssh -L 8080:127.0.0.1:8080 HOST"
                .to_owned(),
        )
    }
}
