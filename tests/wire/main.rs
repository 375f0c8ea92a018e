//! What servers answer, and how it is read.

mod proxy;
mod wire;
