//! What other pages and scripts can do with this one.

pub mod api;
pub mod element;
