//! deltascope: how a Kubernetes informer really works.
//!
//! Two things in one crate: a faithful re-implementation of client-go's `tools/cache`
//! ([`cache`]), usable as a library, and the page that shows it at work, one fact at a time.
//!
//! Read the modules in this order: [`cache`] (plain data, no lock, clock or thread), [`runtime`]
//! (what drives it), [`source`] (where list and watch come from), [`replay`] (recordings and the
//! picture that the screen draws), [`lessons`], then `ui` and `embed`, `cli`, the command line, and `mdbook`, the preprocessor for mdBook.

pub mod cache;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod cli;
pub mod embed;
pub mod lessons;
#[cfg(all(feature = "mdbook", not(target_arch = "wasm32")))]
pub mod mdbook;
pub mod replay;
pub mod runtime;
pub mod source;
#[cfg(all(any(feature = "cli", feature = "mdbook"), not(target_arch = "wasm32")))]
mod terminal;
pub mod ui;

/// README.md's example is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So is the Rust of the book's chapters.
#[cfg(doctest)]
#[allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "the other blocks are mdbook's"
)]
mod guide {
    #[doc = include_str!("../docs/en/src/store.md")]
    struct Store;
    #[doc = include_str!("../docs/en/src/indexer.md")]
    struct Indexer;
    #[doc = include_str!("../docs/en/src/threadsafemap.md")]
    struct ThreadSafeMap;
    #[doc = include_str!("../docs/en/src/queue.md")]
    struct Queue;
    #[doc = include_str!("../docs/en/src/fifo.md")]
    struct Fifo;
    #[doc = include_str!("../docs/en/src/pop.md")]
    struct Pop;
    #[doc = include_str!("../docs/en/src/factory.md")]
    struct Factory;
}
