//! [`Enas`]: the macro search space of NA.

use rand::{Rng, RngExt};

use super::Sampler;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;

/// Chains of layers with skip connections (Pham et al. 2018): operations and skips uniform and independent.
///
/// Node 0 is the input, `1..=n` the layers, `n + 1` the output. Layer `i + 1` always reads node `i` and, with
/// probability 1/2 each, the nodes `0..i`. The operation is one of 6. Every labelled graph is equally likely, and since
/// the chain fixes the topological order, so is every isomorphism class: `6^n 2^(n (n - 1) / 2)` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enas {
    /// Layers; 6 in NA.
    pub n_layers: usize,
}

impl Default for Enas {
    /// NA.
    fn default() -> Enas {
        Enas { n_layers: 6 }
    }
}

impl Sampler for Enas {
    fn spec(&self) -> DagSpec {
        match self.n_layers {
            6 => DagSpec::na(),
            n_layers => DagSpec::enas("enas", n_layers),
        }
    }

    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        const N_LAYER_OPS: Op = 6;
        let mut ops = vec![0];
        let mut edges = vec![(self.n_layers, self.n_layers + 1)];
        for layer in 1..=self.n_layers {
            ops.push(2 + rng.random_range(0..N_LAYER_OPS));
            edges.extend((0..layer - 1).filter(|_| rng.random()).map(|from| (from, layer)));
            edges.push((layer - 1, layer));
        }
        ops.push(1);
        Dag::new(ops, edges).expect("edges go up")
    }
}
