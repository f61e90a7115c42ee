//! One integration binary: link once, run everything.

mod corpus;
mod cpython;
mod deep;
mod errors;
mod folder;
mod function;
mod garbage;
mod newer;
mod real;
mod snippets;
mod vocabulary;
