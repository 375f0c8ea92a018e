//! What can be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "mdbook-deltascope",
    version,
    about = "Shows informers at work in a book of mdBook, and fails the build when they do otherwise than it says",
    after_help = EXAMPLES,
    disable_help_subcommand = true
)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

const EXAMPLES: &str = "\
mdBook calls it without a command while it builds a book whose book.toml has [preprocessor.deltascope].

Examples:
  make dist && mdbook-deltascope install --from dist docs/en
  mdbook-deltascope check docs/en/src
  mdbook-deltascope check --verbose docs/en/src/queue.md

Exit codes:
  0  done
  1  a block does not hold, or something went wrong
  2  the command line cannot be understood";

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the blocks of Markdown files, without mdBook
    Check(Check),
    /// Put the element's files into a book, and this program into its book.toml
    Install(Install),
    /// Whether it has something for a renderer: it has for all
    Supports {
        /// The renderer
        renderer: String,
    },
}

/// `mdbook-deltascope install`
#[derive(Debug, clap::Args)]
pub(super) struct Install {
    /// The folder of the built element (`make dist`)
    #[arg(long, value_name = "DIST", default_value = "dist")]
    pub(super) from: PathBuf,
    /// The folder of book.toml
    #[arg(default_value = ".")]
    pub(super) book: PathBuf,
}

/// `mdbook-deltascope check`
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Markdown files, or folders with some
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(super) paths: Vec<PathBuf>,
    /// Say of each block whether it holds, and print what getState() is at its moment, as lines for [expect]
    #[arg(long, short)]
    pub(super) verbose: bool,
}
