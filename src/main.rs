//! The program: mounts the page on wasm32. The command line comes later.

#[cfg(all(target_arch = "wasm32", feature = "ui"))]
fn main() {
    deltascope::ui::app::mount();
}

#[cfg(not(all(target_arch = "wasm32", feature = "ui")))]
#[allow(clippy::print_stdout, reason = "this is what the program is for")]
fn main() {
    println!("deltascope is a page: `trunk serve` builds and serves it at http://127.0.0.1:8080/");
}
