//! Integration tests of pace-model, one binary.

mod device;
mod golden;
#[cfg(feature = "flex")]
mod kernel;
#[cfg(feature = "flex")]
mod kernel_case;
#[cfg(feature = "flex")]
mod kernel_edge;
mod laws;
mod pace;
mod parity;
mod setting;
mod store;
