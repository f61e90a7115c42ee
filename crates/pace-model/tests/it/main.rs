//! Integration tests of pace-model, one binary.

mod ast;
mod device;
mod fit;
mod kernel;
mod kernel_case;
mod kernel_edge;
mod objective;
