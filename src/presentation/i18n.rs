//! The two languages, under the name that this crate's users know: [`deltascope_world::text`] declares them.

pub use deltascope_world::text::{Lang, Text};
