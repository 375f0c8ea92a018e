//! Decoding of API servers' answers: over a connection and from files.

mod proxy;
mod wire;
