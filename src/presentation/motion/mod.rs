//! Tokens on their way: what moves, and along which path. The page draws them.

pub mod geometry;
pub mod plan;
