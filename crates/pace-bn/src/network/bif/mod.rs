//! Bayesian networks in the Bayesian Interchange Format, version 0.15, with their probabilities.
//!
//! ```text
//! network asia { }
//! variable smoke { type discrete [ 2 ] { yes, no }; }
//! variable lung { type discrete [ 2 ] { yes, no }; }
//! probability ( smoke ) { table 0.5, 0.5; }
//! probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
//! ```

mod lexer;
mod parser;
mod tables;
mod writer;

pub use parser::parse_bif;
pub use writer::write_bif;
