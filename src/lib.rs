//! deltascope: how a Kubernetes informer really works.
//!
//! The facade of a workspace: client-go's `tools/cache` in Rust, usable as a library, and the page that shows it
//! at work, one fact at a time.
//!
//! Read the crates in this order: [`cache`] (plain data, and the threads that run it natively), [`world`] (the
//! same under virtual time, and the sources of list and watch), [`replay`] (recordings, lessons, and the picture
//! that the screen draws), [`presentation`] (everything between picture and screen). `deltascope-page`,
//! `deltascope-cli` and `deltascope-mdbook` are programs; `main.rs` starts them.

pub use deltascope_cache as cache;
pub use deltascope_presentation as presentation;
pub use deltascope_replay as replay;
pub use deltascope_world as world;

/// Compiles and runs the example in README.md with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The same for the Rust code in the book's chapters.
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
    #[doc = include_str!("../docs/en/src/library.md")]
    struct Library;
}
