//! Includes the page in the command line if `make dist` has packed one.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_page)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=embed/page");
    if Path::new("embed/page/page.bin").is_file() {
        println!("cargo::rustc-cfg=has_page");
    }
}
