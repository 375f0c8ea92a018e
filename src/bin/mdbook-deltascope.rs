//! The preprocessor for mdBook: runs the fenced blocks of a book, and replaces them by what they show.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    deltascope_mdbook::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
