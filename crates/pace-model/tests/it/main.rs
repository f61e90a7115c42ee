//! Integration tests of pace-model, one binary.

mod device;
mod generate;
mod kernel;
mod kernel_case;
mod kernel_edge;
