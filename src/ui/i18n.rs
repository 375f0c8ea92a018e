//! The two languages.

pub use crate::lessons::text::{Lang, Text};
