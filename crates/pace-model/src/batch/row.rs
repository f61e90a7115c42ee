//! [`Row`]: one graph laid out as a sequence, in host memory.

use pace_graph::structure::{Direction, Mask};
use pace_graph::{Csr, Dag, GOLDEN, Op, Sequence, canonical_order, seq2dag, split_mix};

use super::found::Found;
use super::layout::{Attention, Label, Layout, Neighbours, Order};

/// What the layout reads off the [`Sequence`] of one graph (dag2seq).
///
/// Encoding visits the rows of hundreds of thousands of graphs, and waits for memory at each. So everything but the mask, which
/// is inside the row up to 16 nodes, is one piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    n_nodes: usize,
    /// Of n positions: operations [n], labels [n], clipped, ends [n] of the lists of neighbours, and these lists.
    numbers: Box<[u32]>,
    neighbours: Neighbours,
    /// Operations and predecessors of the first nodes, see [`Row::begins_like`].
    pub(crate) beginning: u64,
    /// Which keys each position attends to; `None` if all.
    pub(crate) mask: Option<Mask>,
    /// Structure on request.
    pub(super) found: Option<Box<Found>>,
}

impl Row {
    pub(crate) fn new(dag: &Dag, layout: &Layout) -> Row {
        let with_start;
        let dag = if layout.has_start() {
            with_start = layout.spec.add_start_symbol(dag);
            &with_start
        } else {
            dag
        };
        let n_nodes = dag.n_nodes();
        assert!(
            n_nodes <= layout.spec.max_nodes,
            "{n_nodes} nodes, but '{}' allows {}",
            layout.spec.name,
            layout.spec.max_nodes
        );
        Row::ordered(dag, wants_canonical(layout).then(|| canonical_order(dag)), layout)
    }

    /// The row of a graph, its start symbol included, whose canonical order is known.
    fn ordered(dag: &Dag, canonical: Option<Vec<usize>>, layout: &Layout) -> Row {
        let sequence = match (&canonical, layout.order) {
            (Some(order), Order::Canonical) => Sequence::in_order(dag, order),
            _ => Sequence::as_stored(dag),
        };
        let mask = match layout.attention {
            Attention::Masked(rule) | Attention::Penalised(rule) => Some(sequence.mask(rule)),
            Attention::Open => None,
        };
        let mut row = Row {
            n_nodes: dag.n_nodes(),
            numbers: numbers(&sequence, canonical.as_deref(), layout),
            neighbours: layout.neighbours,
            beginning: 0,
            mask,
            found: Found::new(|| seq2dag(&sequence), &layout.structure),
        };
        row.beginning = row.first_nodes(layout);
        row
    }

    /// The same graph with other operations, laid out anew, and the position that each old position has in it.
    ///
    /// Equal nodes are put in an order that `seed` draws. The order of the nodes in this row must not decide: it knows the old
    /// operations.
    pub(super) fn with_ops(&self, ops: &[Op], layout: &Layout, seed: u64) -> (Row, Vec<usize>) {
        let dag =
            Dag::new(ops[..self.n_nodes].to_vec(), self.edges()).expect("the edges of a row are those of a graph");
        let canonical = wants_canonical(layout).then(|| {
            let mut drawn: Vec<usize> = (0..self.n_nodes).collect();
            drawn.sort_by_key(|&node| split_mix(seed.wrapping_add((node as u64).wrapping_mul(GOLDEN))));
            canonical_order(&dag.relabel(&drawn)).into_iter().map(|node| drawn[node]).collect::<Vec<usize>>()
        });
        let mut moved: Vec<usize> = (0..self.n_nodes).collect();
        if let (Some(order), Order::Canonical) = (&canonical, layout.order) {
            order.iter().enumerate().for_each(|(position, &node)| moved[node] = position);
        }
        (Row::ordered(&dag, canonical, layout), moved)
    }

    /// The same row, but for what was found out about its graph, which is found again for the graph with other operations.
    pub(super) fn in_place(&self, ops: &[Op], layout: &Layout) -> Row {
        let graph = || Dag::new(ops.to_vec(), self.edges()).expect("the edges of a row are those of a graph");
        Row { found: Found::new(graph, &layout.structure), ..self.clone() }
    }

    /// How many nodes.
    pub(crate) fn len(&self) -> usize {
        self.n_nodes
    }

    /// Operation by position.
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> {
        self.numbers[..self.n_nodes].iter().map(|&op| op as Op)
    }

    /// Label by position.
    pub(crate) fn labels(&self) -> &[u32] {
        &self.numbers[self.n_nodes..2 * self.n_nodes]
    }

    /// Positions of the neighbours that the positional encoding sums.
    pub(crate) fn neighbours(&self, position: usize) -> &[u32] {
        let (ends, lists) = self.numbers[2 * self.n_nodes..].split_at(self.n_nodes);
        let start = position.checked_sub(1).map_or(0, |last| ends[last] as usize);
        &lists[start..ends[position] as usize]
    }

    /// All edges as positions `(from, to)`.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.n_nodes).flat_map(move |position| {
            self.neighbours(position).iter().map(move |&other| match self.neighbours {
                Neighbours::Predecessors => (other as usize, position),
                Neighbours::Successors => (position, other as usize),
            })
        })
    }

    /// A number that is close for graphs that begin alike. From the highest bits down it holds, for as many positions as fit,
    /// the operation and a bit for each neighbour before it.
    fn first_nodes(&self, layout: &Layout) -> u64 {
        let (mut key, mut free) = (0, u64::BITS);
        for (position, op) in self.ops().enumerate() {
            let width = code_bits(layout, position);
            if width > free {
                break;
            }
            let before = self.neighbours(position).iter().filter(|&&other| (other as usize) < position);
            let edges = before.fold(0, |edges, &other| edges | 1 << other);
            free -= width;
            key |= (u64::from(op) << position | edges) << free;
        }
        key
    }

    /// How many positions at the beginning agree with another graph's in operation, label, neighbours and keys: at most as many
    /// as [`Row::beginning`] holds. 0 if labels or keys of a node depend on later nodes.
    pub(crate) fn begins_like(&self, other: &Row, layout: &Layout) -> usize {
        let looks_back = match layout.attention {
            Attention::Masked(rule) | Attention::Penalised(rule) => rule.direction == Direction::Ancestors,
            Attention::Open => false,
        };
        if !looks_back || layout.neighbours != Neighbours::Predecessors || layout.label == Label::Canonical {
            return 0;
        }
        let mut equal = (self.beginning ^ other.beginning).leading_zeros();
        let same = |&position: &usize| match equal.checked_sub(code_bits(layout, position)) {
            Some(rest) => {
                equal = rest;
                true
            }
            None => false,
        };
        (0..self.len().min(other.len())).take_while(same).count()
    }
}

/// Whether a layout needs the canonical order.
fn wants_canonical(layout: &Layout) -> bool {
    layout.order == Order::Canonical || layout.label == Label::Canonical
}

/// Operations, labels, ends and lists, see [`Row`].
fn numbers(sequence: &Sequence, canonical: Option<&[usize]>, layout: &Layout) -> Box<[u32]> {
    let n_nodes = sequence.len();
    let mut numbers = Vec::with_capacity(3 * n_nodes + sequence.n_edges());
    numbers.extend(sequence.ops().iter().map(|&op| u32::from(op)));
    match (layout.label, layout.order, canonical) {
        (Label::Op, ..) => numbers.extend_from_within(..n_nodes),
        (Label::Canonical, Order::Stored, Some(order)) => {
            numbers.resize(2 * n_nodes, 0);
            order.iter().enumerate().for_each(|(index, &node)| numbers[n_nodes + node] = index as u32);
        }
        _ => numbers.extend(0..n_nodes as u32),
    }
    let last = layout.n_labels as u32 - 1;
    numbers[n_nodes..].iter_mut().for_each(|label| *label = (*label).min(last));
    let mut add = |lists: &Csr<u32>| {
        numbers.extend_from_slice(&lists.offsets()[1..]);
        numbers.extend_from_slice(lists.items());
    };
    match layout.neighbours {
        Neighbours::Predecessors => add(sequence.predecessors()),
        Neighbours::Successors => add(&sequence.successors()),
    }
    numbers.into_boxed_slice()
}

/// Bits of a position in [`Row::beginning`].
fn code_bits(layout: &Layout, position: usize) -> u32 {
    layout.spec.n_ops().ilog2() + 1 + position as u32
}

#[cfg(test)]
mod tests {
    use pace_graph::DagSpec;
    use pace_graph::structure::Paths;

    use super::Row;
    use crate::batch::{Layout, Structure};

    #[test]
    fn nothing_is_computed_that_is_not_requested() {
        let spec = DagSpec::na();
        let dag = spec.parse("input conv3x3 max_pool3x3 output : 0>1 1>2 0>2 2>3").unwrap();
        let row = Row::new(&dag, &Layout::plain(&spec));
        assert!(row.mask.is_none() && row.found.is_none());
        assert!(Row::new(&dag, &Layout::new(&spec)).mask.is_some());
        let with = |structure: Structure| Row::new(&dag, &Layout { structure, ..Layout::plain(&spec) });
        assert!(with(Structure::NONE.edge_lists()).found.is_none(), "edges are in the sequence");
        let found = format!("{:?}", with(Structure::NONE.distances(Paths::Directed, 3)).found.unwrap());
        assert!(found.contains("degrees: []") && found.contains("levels: []") && found.contains("Some"), "{found}");
    }
}
