//! The HTTP exchange with a real API server: its requests, and the meaning of the answers.
//!
//! There is no I/O here. A page sends requests with fetch, a program through a socket. Both take the request
//! from [`exchange::Exchange::request`] and pass on the answer in chunks of any size; the exchange decodes
//! it. Data that must not be kept (of Secrets and ConfigMaps) is dropped here.

pub mod discovery;
pub mod exchange;
pub mod list;
pub mod request;
pub mod target;
