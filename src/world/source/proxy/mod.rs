//! The wire to a real API server: what is asked of it, and what its answers mean.
//!
//! There is no I/O here. A page sends with fetch, a program through a socket; both are told what to
//! send ([`exchange::Exchange::request`]), hand over what comes, in pieces of any size, and are told
//! what it means. What must not be kept (the data of Secrets and ConfigMaps) is left behind here.

pub mod discovery;
pub mod exchange;
pub mod list;
pub mod request;
pub mod target;
