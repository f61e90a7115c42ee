//! One integration binary: link once, run everything.

mod canon;
mod dag;
mod dag2seq;
mod enumerate;
mod graphs;
mod structure;
mod validity;
