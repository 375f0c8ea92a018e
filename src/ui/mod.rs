//! The page. `anchor`, `view`, `command`, `caption`, `pseudo`, `lanes`, `landmarks`, `strings`, `keys`, `cluster`, `rows`, `session`,
//! `state`, `svg` and `motion::plan` know neither leptos nor web-sys, so that `cargo test` reaches them;
//! the rest is behind the feature `ui`.

pub mod anchor;
pub mod caption;
pub mod checks;
pub mod cluster;
pub mod command;
pub mod decimal;
pub mod fact_names;
pub mod i18n;
pub mod keys;
pub mod landmarks;
pub mod lanes;
pub mod motion;
pub mod pseudo;
pub mod rows;
pub mod session;
pub mod state;
pub mod strings;
pub mod svg;
pub mod view;

#[cfg(feature = "ui")]
pub mod app;
#[cfg(feature = "ui")]
pub mod board;
#[cfg(feature = "ui")]
pub mod driver;
#[cfg(feature = "ui")]
pub mod host;
#[cfg(feature = "ui")]
pub mod live;
#[cfg(feature = "ui")]
pub mod memo;
