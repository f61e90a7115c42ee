//! One integration binary: link once, run everything.

mod asia;
mod certificate;
mod counting;
mod csv;
mod laws;
mod networks;
mod pgmpy;
mod pruning;
mod real;
mod structures;
mod support;
