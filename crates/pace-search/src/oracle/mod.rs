//! The oracle joint: how good a graph really is.
//!
//! An [`Oracle`] scores graphs; higher is better. [`Bic`] is the real one of BN, with its proven optimum ([`Optimum`]);
//! [`NaSurrogate`] stands in for the shared weights behind NA, which are lost. Where no data folder is at hand,
//! [`embedded_bn`] and [`embedded_na`] make a dataset out of nothing but a seed.
//!
//! ```
//! use pace_search::oracle::{Bic, Observations, Optimum, Oracle};
//! let rows = Observations::parse_csv("rain,wet\nno,no\nyes,yes\nno,no\nyes,yes\nno,yes\n", "mine.csv")?;
//! let bic = Bic::new(&rows)?;
//! let joined: pace_graph::Dag = "0 2 3 1 : 0>1 1>2 2>3".parse()?;
//! let apart: pace_graph::Dag = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
//! let scores = bic.evaluate(&[joined, apart])?;
//! assert!(scores[0] > scores[1]);
//! assert_eq!(Optimum::find(&bic).score, scores[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use pace_graph::Dag;

use crate::error::Error;

mod asia;
mod bic;
mod exact;
mod na;
mod observations;

pub use asia::{EmbeddedBn, embedded_bn, sample_asia};
pub use bic::{Bic, MAX_VARIABLES};
pub use exact::Optimum;
pub use na::{HeldOut, NaSurrogate, NaSurrogateConfig, embedded_na};
pub use observations::Observations;

/// What a search would pay for: the true score of a graph.
pub trait Oracle {
    /// One score per graph, in order; higher is better. The first graph outside the oracle's space is an error.
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error>;
}
