//! The oracle joint: how good a graph really is.
//!
//! An [`Oracle`] scores graphs; higher is better.
//!
//! - [`Bic`]: the score of Bayesian networks, with its proven optimum ([`Optimum`]).
//! - [`NaSurrogate`]: a learnt replacement for the shared weights of NA, which are lost.
//! - [`Table`]: scores that others have measured, such as NAS-Bench-101; [`Nas101Surrogate`] is learnt from it.
//! - [`Nas301`]: a port of a published network; [`Nas301Surrogate`] is learnt from it.
//! - [`Noisy`]: another oracle plus noise.
//!
//! Without a data folder, [`embedded_bn`], [`embedded_na`], [`embedded_nas101`] and [`embedded_nas301`] make a dataset from a
//! seed alone.
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

mod bic;
mod na;
mod nas101;
mod nas301;
mod noisy;
mod table;

pub use crate::perceptron::{Distilled, GraphFeatures, HeldOut, PerceptronConfig};
pub use bic::{Bic, EmbeddedBn, MAX_VARIABLES, Observations, Optimum, embedded_bn, sample_asia};
pub use na::{NaSurrogate, NaSurrogateConfig, embedded_na};
pub use nas101::{EmbeddedNas101, Nas101Features, Nas101Surrogate, Nas101SurrogateConfig, embedded_nas101};
pub use nas301::{
    AffineMap, Nas301, Nas301Features, Nas301Network, Nas301Surrogate, Nas301SurrogateConfig, embedded_nas301,
};
pub use noisy::Noisy;
pub use table::{NAS101_BEST_TEST, Nas101Protocol, Scores, Table};

/// The true score of a graph. Searches of several seeds may ask at the same time.
pub trait Oracle: Sync {
    /// One score per graph, in order; higher is better. A graph outside the oracle's space is an error.
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error>;
}

impl<O: Oracle + ?Sized> Oracle for &O {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        (**self).evaluate(dags)
    }
}

/// Scores graphs one by one; an error says which graph it is about.
pub(crate) fn score_each(
    dags: &[Dag],
    score: impl Fn(&Dag) -> Result<f64, pace_graph::Error>,
) -> Result<Vec<f64>, Error> {
    let scored = dags.iter().enumerate();
    scored.map(|(graph, dag)| score(dag).map_err(|reason| Error::Graph { graph, reason })).collect()
}
