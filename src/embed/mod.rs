//! What other pages and scripts can do with this one.

#[cfg(feature = "ui")]
pub mod api;
#[cfg(feature = "ui")]
pub mod element;
pub mod options;
