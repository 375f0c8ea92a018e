//! The page. `view`, `command`, `caption`, `pseudo`, `lanes`, `strings`, `keys`, `rows` and
//! `motion::plan` know neither leptos nor web-sys, so that `cargo test` reaches them; the rest is
//! behind the feature `ui`.

pub mod caption;
pub mod command;
pub mod i18n;
pub mod keys;
pub mod lanes;
pub mod pseudo;
pub mod rows;
pub mod strings;
pub mod view;

#[cfg(feature = "ui")]
pub mod app;
#[cfg(feature = "ui")]
pub mod board;
#[cfg(feature = "ui")]
mod fixture;
