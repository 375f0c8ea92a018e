//! Where list and watch come from.

pub mod pod;
pub mod wire;
pub mod workload;
