//! What every picture keeps to.
