//! The program: mounts the page on wasm32. The command line comes later.

fn main() {}
