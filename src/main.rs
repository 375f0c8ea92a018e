//! The program: on wasm32 it mounts the page, elsewhere it is the command line.

/// Wipes freed memory: the bodies of Secrets pass through buffers, and we cannot wipe those of the parser and of
/// HTTP otherwise.
#[cfg(any(feature = "ui", feature = "cli"))]
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<std::alloc::System> =
    zeroizing_alloc::ZeroAlloc(std::alloc::System);

/// The page as `make dist` packed it before this was compiled.
#[cfg(all(feature = "cli", has_page))]
const PAGE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/embed/page/page.bin"));
#[cfg(all(feature = "cli", not(has_page)))]
const PAGE: &[u8] = &[];

#[cfg(all(target_arch = "wasm32", feature = "ui"))]
fn main() {
    deltascope_page::app::publish_panics();
    deltascope_page::app::mount();
}

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
fn main() -> std::process::ExitCode {
    deltascope_cli::main(PAGE)
}

#[cfg(not(any(
    all(target_arch = "wasm32", feature = "ui"),
    all(feature = "cli", not(target_arch = "wasm32"))
)))]
#[allow(clippy::print_stdout, reason = "this is what the program is for")]
fn main() {
    println!(
        "deltascope is a page: `make serve` builds and serves it at http://127.0.0.1:8080/\n\
         The command line: cargo run --features cli -- --help"
    );
}
