//! Writes the files that other pages embed beside the page that trunk has built: `deltascope-pack DIST`.
//!
//! trunk calls it after a build, with the build's folder. `package` writes the files, which also make the folder an npm package. It
//! puts a release's program into several files (`split`, which asks `cut` what comes later), makes the element's styles of the
//! page's (`styles`), and takes out of the page what a strict policy forbids (`strict`); scripts lose their comments (`slim`).
//! `deltascope-pack DIST FILE` packs the folder into one file, for the command line (`bundle`).

mod bundle;
mod cut;
mod package;
mod slim;
mod split;
mod strict;
mod styles;

use std::path::Path;
use std::process::ExitCode;

/// What is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The program in one piece.
    Debug,
    /// For visitors.
    Release,
    /// A release whose main part counts which functions run.
    Counts,
}

#[allow(clippy::print_stderr, reason = "this is a program of the build")]
fn main() -> ExitCode {
    let dist = std::env::args().nth(1);
    #[allow(clippy::disallowed_methods, reason = "trunk says it there")]
    let dist = dist.or_else(|| std::env::var("TRUNK_STAGING_DIR").ok());
    #[allow(clippy::disallowed_methods, reason = "trunk says it there")]
    let release = std::env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "release");
    #[allow(clippy::disallowed_methods, reason = "`make starts` says it there")]
    let counts = std::env::var("DELTASCOPE_COUNTS").is_ok_and(|counts| counts == "1");
    let kind = match (release, counts) {
        (false, _) => Kind::Debug,
        (true, false) => Kind::Release,
        (true, true) => Kind::Counts,
    };
    let Some(dist) = dist else {
        eprintln!("usage: deltascope-pack DIST [FILE], where DIST is what trunk has built");
        return ExitCode::from(2);
    };
    let done = match std::env::args().nth(2) {
        Some(file) => bundle::write(Path::new(&dist), Path::new(&file)),
        None => package::write(Path::new("."), Path::new(&dist), kind),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("deltascope-pack: {message}");
            ExitCode::FAILURE
        }
    }
}
