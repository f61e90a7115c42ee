//! [`Bic`]: the Bayesian information criterion of a network, given discrete data.

use pace_graph::{Dag, DagSpec, Op, Validity};

use super::{Oracle, score_each};
use crate::error::Error;

mod asia;
mod counting;
mod observations;
mod optimum;

pub use asia::{EmbeddedBn, embedded_bn, sample_asia};
pub use observations::Observations;
pub use optimum::Optimum;

use counting::Counting;

/// The most variables that [`Bic`] and [`Optimum`] accept. Their tables have an entry per set of variables.
pub const MAX_VARIABLES: usize = 16;

/// Operations below this one are the virtual input and output.
const FIRST_VARIABLE: Op = 2;

/// The BIC of network structures over the variables of one table (Schwarz 1978), as bnlearn scores them.
///
/// ```text
/// BIC(G) = sum_v [ ll(v | P_v) - ln(n) / 2 * (r_v - 1) * prod_(p in P_v) r_p ]
/// ll(v | P) = sum_(levels i, configurations j) n_ij ln(n_ij / n_j) = h(P + v) - h(P),   h(S) = sum_c n_c ln n_c
/// ```
///
/// with n rows, r levels, and n_c rows that show configuration c of the variables S. Every local score is the difference of
/// two h. So a table of h over all 2^n sets of variables gives the scores of all n 2^(n-1) families, and the score of a
/// network takes n lookups. Building the table visits each set once: O(2^n * distinct rows).
///
/// Graphs are those of [`DagSpec::bn`]: operation = variable (column) + 2. Input and output are ignored.
#[derive(Clone, Debug)]
pub struct Bic {
    spec: DagSpec,
    n_levels: Vec<usize>,
    half_log_rows: f64,
    /// h of each set of variables, a bit per variable.
    entropy_terms: Vec<f64>,
    /// How many configurations each set can have.
    n_configurations: Vec<f64>,
}

impl Bic {
    /// Counts the configurations of all sets of variables.
    pub fn new(rows: &Observations) -> Result<Bic, Error> {
        let n_variables = rows.n_variables();
        if n_variables > MAX_VARIABLES {
            return Err(Error::TooManyVariables { n_variables, max: MAX_VARIABLES });
        }
        let n_levels: Vec<usize> = (0..n_variables).map(|variable| rows.n_levels(variable)).collect();
        let mut n_configurations = vec![1.0; 1 << n_variables];
        for set in 1..n_configurations.len() {
            n_configurations[set] = n_configurations[set & (set - 1)] * n_levels[set.trailing_zeros() as usize] as f64;
        }
        let names = ["input", "output"].into_iter().chain(rows.names().iter().map(String::as_str));
        let spec = DagSpec::new("bn", names, n_variables + usize::from(FIRST_VARIABLE));
        let spec = DagSpec { input: Some(0), output: Some(1), validity: Validity::EachOpOnce, ..spec };
        let half_log_rows = (rows.n_rows() as f64).ln() / 2.0;
        let entropy_terms = Counting::of(rows).entropy_terms();
        Ok(Bic { spec, n_levels, half_log_rows, entropy_terms, n_configurations })
    }

    /// The spec of the graphs; for Asia this is [`DagSpec::bn`].
    pub fn spec(&self) -> &DagSpec {
        &self.spec
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.n_levels.len()
    }

    /// The score of one family: `variable` and the parents whose bits are set.
    ///
    /// # Panics
    /// If there is no such variable or parent, or the variable is its own parent.
    pub fn local(&self, variable: usize, parents: u32) -> f64 {
        let (parents, child) = (parents as usize, 1 << variable);
        assert!(parents & child == 0, "variable {variable} is its own parent");
        let log_likelihood = self.entropy_terms[parents | child] - self.entropy_terms[parents];
        let n_parameters = (self.n_levels[variable] as f64 - 1.0) * self.n_configurations[parents];
        log_likelihood - self.half_log_rows * n_parameters
    }

    /// The score of a network, given the parents of each variable. It does not check for cycles.
    pub fn score(&self, parents: &[u32]) -> f64 {
        parents.iter().enumerate().map(|(variable, &parents)| self.local(variable, parents)).sum()
    }

    /// The parents of each variable, a bit per variable; an error if the graph is not a network over these variables.
    pub fn parents(&self, dag: &Dag) -> Result<Vec<u32>, pace_graph::Error> {
        self.spec.validate(dag)?;
        let variable = |node: usize| dag.op(node).checked_sub(FIRST_VARIABLE).map(usize::from);
        let mut parents = vec![0; self.n_variables()];
        for (from, to) in dag.edges() {
            if let (Some(parent), Some(child)) = (variable(from), variable(to)) {
                parents[child] |= 1 << parent;
            }
        }
        Ok(parents)
    }

    /// The network with the given parents as a graph: input 0, variable `v` at node `v + 1`, output last.
    pub fn network(&self, parents: &[u32]) -> Result<Dag, pace_graph::Error> {
        let ops = (0..parents.len() as Op).map(|variable| variable + FIRST_VARIABLE).collect();
        let families = parents.iter().enumerate();
        let edges = families.flat_map(|(child, &parents)| bits(parents).map(move |parent| (parent, child)));
        Ok(Dag::new(ops, edges)?.with_virtual_input(0).with_virtual_output(1))
    }
}

impl Oracle for Bic {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        score_each(dags, |dag| Ok(self.score(&self.parents(dag)?)))
    }
}

/// The variables of a set, ascending.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..u32::BITS as usize).filter(move |bit| set >> bit & 1 == 1)
}
