//! [`SpecSpace`]: random graphs of any spec.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};

use super::Sampler;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;
use crate::validity::{Draft, EdgeProgress, EdgeRule, Growth};

/// A search space that is known by its spec alone: graphs are drawn and edited by the rules of the spec.
///
/// A graph grows node by node, as [`Growth`] allows: operations with equal chances, edges so that a node has `mean_in_degree`
/// predecessors. Steps between graphs are those of [`Mutate`](super::Mutate).
///
/// ```
/// use pace_graph::DagSpec;
/// use pace_graph::enumerate::{Mutate, Sampler, SpecSpace};
/// use rand::SeedableRng;
/// let space = SpecSpace::new(DagSpec::nas101());
/// let cell = space.sample(&mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
/// assert!(space.neighbours(&cell).iter().all(|cell| space.spec().is_valid(cell)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SpecSpace {
    pub(super) spec: DagSpec,
    /// Numbers of nodes, ends included, one of which is drawn.
    sizes: Vec<usize>,
    mean_in_degree: f64,
}

/// Tries before a size that the rule does not allow is given up.
const TRIES: usize = 100;

impl SpecSpace {
    /// Graphs of all sizes, with 1.5 predecessors per node.
    ///
    /// # Panics
    /// If no graph can obey the spec.
    pub fn new(spec: DagSpec) -> SpecSpace {
        let (smallest, largest) = (1 + spec.added.count(), spec.max_nodes.min(64));
        Growth::new(&spec);
        SpecSpace { sizes: (smallest.min(largest)..=largest).collect(), mean_in_degree: 1.5, spec }
    }

    /// Graphs of the sizes and the density of these, each size as often as it occurs.
    ///
    /// # Panics
    /// If no graph can obey the spec.
    pub fn like<'a>(spec: DagSpec, dags: impl IntoIterator<Item = &'a Dag>) -> SpecSpace {
        let mut space = SpecSpace::new(spec);
        let (mut sizes, mut n_edges) = (Vec::new(), 0);
        for dag in dags {
            sizes.push(dag.n_nodes());
            n_edges += dag.n_edges();
        }
        if !sizes.is_empty() {
            space.mean_in_degree = n_edges as f64 / sizes.iter().sum::<usize>() as f64;
            sizes.sort_unstable();
            space.sizes = sizes;
        }
        space
    }

    /// One attempt at a graph of `n_nodes` nodes.
    fn grow(&self, n_nodes: usize, rng: &mut dyn Rng) -> Dag {
        let spec = self.spec.with_start_symbol();
        let (growth, mut draft) = (Growth::new(&spec), Draft::new(&spec));
        loop {
            let allowed: Vec<Op> = (0..spec.n_ops() as Op).filter(|&op| growth.allows(&draft, op)).collect();
            let is_output = |op: &Op| Some(*op) == spec.output;
            let ends = draft.n_nodes() + 1 >= n_nodes && allowed.iter().any(is_output);
            let wanted: Vec<Op> = allowed.iter().copied().filter(|op| is_output(op) == ends).collect();
            let op = *wanted.choose(rng).or_else(|| allowed.choose(rng)).expect("the rule allows some operation");
            let next = growth.next(&draft, op);
            draft.push(op, &self.predecessors(next.edges, rng));
            if next.last || (spec.output.is_none() && draft.n_nodes() >= n_nodes) {
                return draft.into_dag();
            }
        }
    }

    /// Positions in a draft that the new node reads.
    fn predecessors(&self, rule: EdgeRule, rng: &mut dyn Rng) -> Vec<usize> {
        let n = rule.picks.len();
        let (chance, mut progress) = ((self.mean_in_degree / n.max(1) as f64).min(1.0), EdgeProgress::new(rule));
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(rng);
        let mut taken = Vec::new();
        for node in order {
            let take = progress.may_take(node) && (!progress.may_leave(node) || rng.random_bool(chance));
            progress.decide(node, take);
            taken.extend(take.then_some(node + 1));
        }
        taken.sort_unstable();
        taken
    }
}

impl Sampler for SpecSpace {
    fn spec(&self) -> DagSpec {
        self.spec.clone()
    }

    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        let n_nodes = *self.sizes.choose(rng).expect("at least one size");
        let mut drawn = None;
        for _ in 0..TRIES {
            // A grown graph may treat virtual ends like other nodes; as part of the data they were not there.
            let grown = self.spec.strip_ends(&self.grow(n_nodes, rng));
            let Ok(whole) = grown.map(|bare| self.spec.add_ends(&bare)) else { continue };
            if self.spec.is_valid(&whole) {
                if whole.n_nodes() == n_nodes {
                    return whole;
                }
                drawn = Some(whole);
            }
        }
        drawn.unwrap_or_else(|| panic!("no graph of '{}' was found in {TRIES} tries", self.spec.name))
    }
}
