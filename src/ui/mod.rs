//! The page. `view`, `command`, `caption`, `pseudo`, `rows` and `motion::plan` know neither leptos
//! nor web-sys, so that `cargo test` reaches them; the rest is behind the feature `ui`.

pub mod caption;
pub mod command;
pub mod i18n;
pub mod lanes;
pub mod pseudo;
pub mod view;
