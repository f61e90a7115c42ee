//! One integration binary: link once, run everything.

mod dialects;
mod errors;
mod garbage;
mod memory;
mod options;
mod path;
mod python;
mod real;
mod round_trip;
mod source;
mod support;
mod vectors;
