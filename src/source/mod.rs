//! Where list and watch come from.

pub mod pod;
pub mod workload;
