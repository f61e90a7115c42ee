//! [`Row`]: one graph laid out as a sequence, in host memory.

use std::borrow::Cow;

use pace_graph::structure::{Direction, Mask, mask};
use pace_graph::{Dag, Op, canonical_order};

use super::found::Found;
use super::layout::{Attention, Label, Layout, Neighbours, Order};

/// One graph. Datasets have many, so everything but the mask, which is inside up to 16 nodes, is one piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    n_nodes: usize,
    /// Of n positions: operations [n], labels [n], clipped, ends [n] of the lists of neighbours, and these lists.
    numbers: Box<[u32]>,
    neighbours: Neighbours,
    /// Operations and predecessors of the first nodes, see [`Row::begins_like`].
    pub(crate) beginning: u64,
    /// Who may attend to whom; none where everybody may.
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
        let canonical =
            (layout.order == Order::Canonical || layout.label == Label::Canonical).then(|| canonical_order(dag));
        let in_order = |order: &[usize]| order.iter().enumerate().all(|(position, &node)| position == node);
        let ordered = match (&canonical, layout.order) {
            (Some(order), Order::Canonical) if !in_order(order) => Cow::Owned(dag.relabel(order)),
            _ => Cow::Borrowed(dag),
        };
        assert!(ordered.is_topologically_numbered(), "a stored order must be topological: {dag}");
        let mut numbers = Vec::with_capacity(3 * n_nodes + dag.n_edges());
        numbers.extend(ordered.ops().map(u32::from));
        match layout.label {
            Label::Position => numbers.extend(0..n_nodes as u32),
            Label::Op => numbers.extend_from_within(..n_nodes),
            Label::Canonical => {
                numbers.extend(canonical_index(canonical.as_deref().expect("computed above"), layout.order))
            }
        }
        let last = layout.n_labels as u32 - 1;
        numbers[n_nodes..].iter_mut().for_each(|label| *label = (*label).min(last));
        numbers.resize(3 * n_nodes, 0);
        for node in 0..n_nodes {
            match layout.neighbours {
                Neighbours::Predecessors => numbers.extend(ordered.predecessors(node).map(|other| other as u32)),
                Neighbours::Successors => numbers.extend(ordered.successors(node).map(|other| other as u32)),
            }
            numbers[2 * n_nodes + node] = (numbers.len() - 3 * n_nodes) as u32;
        }
        let mask = match layout.attention {
            Attention::Masked(rule) | Attention::Penalised(rule) => Some(mask(&ordered, rule)),
            Attention::Open => None,
        };
        let found = Found::new(&ordered, &layout.structure);
        let (numbers, neighbours) = (numbers.into_boxed_slice(), layout.neighbours);
        let mut row = Row { n_nodes, numbers, neighbours, beginning: 0, mask, found };
        row.beginning = row.first_nodes(layout);
        row
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

    /// From the highest bits down, for each position its operation and a bit for each neighbour before it, as many positions
    /// as there is room for: close for graphs that begin alike.
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

    /// How many positions at the beginning surely agree with another graph's in operation, label, neighbours and whom they look
    /// at; at most as many as [`Row::beginning`] holds, and none where a node's label or keys depend on later nodes.
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

/// Bits of a position in [`Row::beginning`].
fn code_bits(layout: &Layout, position: usize) -> u32 {
    layout.spec.n_ops().ilog2() + 1 + position as u32
}

/// The canonical index of the node at each position.
fn canonical_index(canonical: &[usize], order: Order) -> Vec<u32> {
    match order {
        Order::Canonical => (0..canonical.len() as u32).collect(),
        Order::Stored => {
            let mut index = vec![0; canonical.len()];
            canonical.iter().enumerate().for_each(|(position, &node)| index[node] = position as u32);
            index
        }
    }
}
