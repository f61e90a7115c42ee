//! Networks: a structure with its conditional probabilities; fitted to data, read from and written to BIF, sampled, drawn.

mod bif;
mod fit;
mod model;
mod random;
mod sample;

pub use bif::{parse_bif, write_bif};
pub use fit::fit;
pub use model::{Cpt, Network};
pub use random::RandomNetwork;
pub use sample::Sample;
