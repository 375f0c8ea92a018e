//! Includes the page in the command line if `make dist` has packed one, and has the linker say where it has put what,
//! so that the page's program can be split.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=embed/page");
    if Path::new("embed/page/page.bin").is_file() {
        println!("cargo::rustc-cfg=has_page");
    }
    #[allow(clippy::disallowed_methods, reason = "cargo says it there")]
    let says = |name: &str| std::env::var(name).unwrap_or_default();
    if says("CARGO_CFG_TARGET_ARCH") == "wasm32" && says("PROFILE") == "release" {
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
        // Through it the program's files call each other.
        println!("cargo::rustc-link-arg-bins=--export-table");
    }
}
