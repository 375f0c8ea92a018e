//! The two languages.

pub use deltascope_world::text::{Lang, Text};
