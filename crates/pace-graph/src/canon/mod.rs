//! Canonical order: one numbering per isomorphism class, and a topological one.
//!
//! The paper (section 3.1, appendix D) asks for a canonical form `C(G)` whose order is also topological. Plain nauty
//! labels of a coloured digraph are canonical but not topological, and breaking ties of a topological order by input index
//! is not canonical. Here nodes are coloured by `(depth, operation)`, depth being the longest path from a source. Every
//! edge goes from a lower to a higher depth, so directions can be dropped and restored, and any canonical labelling that
//! keeps the colours in order is topological.
//!
//! The cheapest sufficient method is taken. Which one that is depends on the isomorphism class only, so isomorphic graphs
//! always take the same path:
//!
//! | class of graph | method |
//! |---|---|
//! | forests (one predecessor at most, or one successor at most) | [`Method::Tree`]: AHU, canonical DFS pre-order |
//! | all `(depth, op)` distinct | [`Method::Distinct`]: sort |
//! | colour refinement (1-WL) tells all nodes apart | [`Method::Refinement`]: its order |
//! | else, at most 64 nodes | [`Method::Nauty`]: dense nauty |
//! | else | [`Method::Traces`]: Traces |
//!
//! nauty and Traces are McKay & Piperno (2014), "Practical graph isomorphism, II".

mod large;
mod nauty;
mod refine;
mod small;
mod tree;

use crate::dag::Dag;

/// Names the canonical forms of this version. Caches of canonical forms must carry it: another version, or another nauty,
/// may number the same class differently.
pub const CANON_ID: &str = "pace-canon-1/nauty-2.9.3";

/// How a canonical order was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A forest: AHU classes, canonical DFS pre-order.
    Tree,
    /// `(depth, op)` alone told all nodes apart.
    Distinct,
    /// 1-WL colour refinement told all nodes apart.
    Refinement,
    /// Dense nauty (at most 64 nodes).
    Nauty,
    /// Traces (more than 64 nodes).
    Traces,
}

/// The size of an automorphism group, `mantissa * 10^exponent`: it outgrows every integer type on large symmetric graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSize {
    /// The leading digits; exact below 10^10, as in nauty.
    pub mantissa: f64,
    /// The power of ten.
    pub exponent: i32,
}

impl GroupSize {
    /// The group of a graph without symmetry.
    pub const TRIVIAL: GroupSize = GroupSize { mantissa: 1.0, exponent: 0 };

    /// The size as a float; infinite beyond 10^308.
    pub fn to_f64(self) -> f64 {
        self.mantissa * 10f64.powi(self.exponent)
    }

    /// log10 of the size, finite for every graph.
    pub fn log10(self) -> f64 {
        self.mantissa.log10() + f64::from(self.exponent)
    }

    fn times(self, factor: f64) -> GroupSize {
        let mut product = GroupSize { mantissa: self.mantissa * factor, ..self };
        while product.mantissa >= 1e10 {
            product.mantissa /= 1e10;
            product.exponent += 10;
        }
        product
    }
}

/// A canonical order, with how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical {
    /// `order[i]` is the node at canonical index `i`: the paper's inverse permutation.
    pub order: Vec<usize>,
    /// How it was found.
    pub method: Method,
    /// Size of the automorphism group: how many numberings give this same canonical form.
    pub automorphisms: GroupSize,
}

/// The canonical order with its method and the automorphism group size.
///
/// Forests O(n log n); otherwise near-linear in practice (Traces), exponential only on adversarial graphs.
pub fn canonicalise(dag: &Dag) -> Canonical {
    canonicalise_coloured(dag, |node| u32::from(dag.op(node)))
}

/// The canonical topological order: `order[i]` is the node at canonical index `i`.
///
/// ```
/// use pace_graph::{Dag, canonical_order};
/// let dag: Dag = "1 0 : 1>0".parse()?;
/// assert_eq!(canonical_order(&dag), [1, 0]);
/// # Ok::<(), pace_graph::Error>(())
/// ```
pub fn canonical_order(dag: &Dag) -> Vec<usize> {
    canonicalise(dag).order
}

/// The canonical form C(G): equal for two graphs iff they are isomorphic, and topologically numbered.
pub fn canonical(dag: &Dag) -> Dag {
    dag.relabel(&canonical_order(dag))
}

/// [`canonicalise`] with any node colours instead of operations, e.g. with a marked root.
pub(crate) fn canonicalise_coloured(dag: &Dag, colour: impl Fn(usize) -> u32) -> Canonical {
    if let Some(found) = tree::canonicalise(dag, &colour) {
        return found;
    }
    if dag.n_nodes() <= small::MAX_NODES { small::canonicalise(dag, colour) } else { large::canonicalise(dag, colour) }
}
