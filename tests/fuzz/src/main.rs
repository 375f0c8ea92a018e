//! libFuzzer with one surface: the one that `SURFACE` names. Without it the program prints the names of all, each with
//! its longest input and its folders of inputs, and writes into the folder `KEPT` what libFuzzer begins with: the words
//! of each surface, as its dictionary, and the blocks of the chapters, one by one.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

#[path = "../surfaces.rs"]
mod surfaces;
#[path = "../words.rs"]
mod words;

use surfaces::{SURFACES, Surface};

static CHOSEN: OnceLock<&Surface> = OnceLock::new();

fuzz_target!(
    init: {
        let wanted = std::env::var("SURFACE").unwrap_or_default();
        let Some(found) = SURFACES.iter().find(|surface| surface.name == wanted) else {
            let kept = std::env::var("KEPT").unwrap_or_default();
            for surface in SURFACES {
                begin(Path::new(&kept), surface);
                let (name, longest) = (surface.name, surface.longest);
                println!("{name} {longest} tests/fuzz/corpus/{name} {}", surface.more.join(" "));
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

fn begin(kept: &Path, surface: &Surface) {
    let folder = kept.join(surface.name);
    fs::create_dir_all(&folder).expect("a folder");
    let words = words::words(Path::new(""), surface);
    let lines: String = words.iter().map(|word| format!("\"{word}\"\n")).collect();
    fs::write(kept.join(format!("{}.words", surface.name)), lines).expect("a dictionary");
    let chapters = surface
        .more
        .iter()
        .flat_map(|one| words::files(Path::new(one)));
    let chapters = chapters.filter(|(name, _)| name.ends_with(".md"));
    let blocks = chapters.flat_map(|(_, text)| words::blocks(&String::from_utf8_lossy(&text)));
    for (number, block) in blocks.enumerate() {
        fs::write(folder.join(format!("block-{number}")), block).expect("an input");
    }
}
