//! Everything that must hold, in one binary.

mod enumerate;
mod structure;
