//! libFuzzer with one surface: the one that `SURFACE` names. Without it the program prints the names of all, each with
//! its folders of inputs.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

#[path = "../surfaces.rs"]
mod surfaces;

use surfaces::{SURFACES, Surface};

static CHOSEN: OnceLock<&Surface> = OnceLock::new();

fuzz_target!(
    init: {
        let wanted = std::env::var("SURFACE").unwrap_or_default();
        let Some(found) = SURFACES.iter().find(|surface| surface.name == wanted) else {
            for surface in SURFACES {
                println!("{} tests/fuzz/corpus/{} {}", surface.name, surface.name, surface.more.join(" "));
            }
            std::process::exit(0);
        };
        CHOSEN.get_or_init(|| found);
    },
    |bytes: &[u8]| {
        if let Some(surface) = CHOSEN.get() {
            (surface.read)(bytes);
        }
    }
);
