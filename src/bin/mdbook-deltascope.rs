//! The preprocessor for mdBook: runs the fenced blocks of a book, and shows them.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    deltascope_mdbook::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
