//! Tokens on their way: what moves, and along which path. The page draws them.

pub mod merged;
pub mod pace;
pub mod plan;
pub mod route;
