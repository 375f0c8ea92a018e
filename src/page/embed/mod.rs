//! Interfaces for other pages and for scripts.

pub mod api;
pub mod element;
mod events;
