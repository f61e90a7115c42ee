//! The commands: one file each, with its options and what it does.

pub mod answer;
pub mod bn;
pub mod completions;
pub mod convert;
pub mod encode;
pub mod generate;
pub mod inspect;
pub mod man;
pub mod predict;
pub mod report;
pub mod sample;
pub mod search;
pub mod similar;
pub mod train;
