//! Transformer blocks on a batch, forward and backward: what training runs.
//!
//! The case: all rows of all graphs, under a mask or along lists of keys, with dropout, in post-norm or pre-norm. The way through it:
//!
//! 1. [`encoder`] and [`decoder`] make a [`StackOp`](op::StackOp) of up to four blocks, which Burn records;
//! 2. [`Stack`](stack::Stack) cuts the batch into chunks of graphs (see [`cut`]) and takes each through all sublayers, so that its
//!    activations stay in cache; one graph too large for a chunk goes through [`large_graph`] instead;
//! 3. [`Sublayer`](sublayer::Sublayer) is attention, attention to a memory or feed-forward, with its residual, dropout and norm:
//!    [`forward`] and [`backward`] are its mathematics;
//! 4. these call the loops: [`attention`](super::attention), [`products`](super::products) and [`rows`](super::rows).
//!
//! Parameters and their gradients go by name through all of it, see [`params`].

mod backward;
pub(crate) mod cut;
mod forward;
mod frame;
mod large_graph;
mod op;
pub(crate) mod params;
mod stack;
mod sublayer;

pub(crate) use frame::Chunk;
pub(crate) use op::{OwnPairs, decoder, encoder};
