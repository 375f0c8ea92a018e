//! The two languages.

pub use deltascope_replay::lessons::text::{Lang, Text};
