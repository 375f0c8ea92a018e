//! The page and the custom element in a browser: leptos components, and the driver behind them.

pub mod animate;
pub mod app;
pub mod board;
pub mod driver;
pub mod embed;
pub mod host;
mod later;
pub mod live;
pub mod memo;
pub mod motion;
mod paced;
pub mod sight;
pub mod slides;
pub mod ui;
