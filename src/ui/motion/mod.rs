//! Tokens on their way: what moves is decided in [`plan`], pure; how it is drawn, in `stage`.

pub mod plan;
#[cfg(feature = "ui")]
pub mod stage;
