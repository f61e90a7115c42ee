//! [`Visits`]: the nodes that a recursion computes, equal ones once.

use std::sync::Arc;

use pace_graph::Csr;

use crate::batch::DagBatch;
use crate::interner::Interner;
use crate::kernel::{WalkBuilder, WalkLists};

/// The nodes of a recursion: who hears whom, and what they are.
#[derive(Clone, Debug)]
pub(crate) struct Visits {
    /// Who hears whom.
    pub lists: Arc<WalkLists>,
    /// The operation of each row.
    pub tokens: Arc<[u32]>,
    /// The position of each row that is heard.
    pub told_ids: Arc<[u32]>,
}

impl Visits {
    /// Of nodes that are vectors and have no positions.
    pub fn of_vectors(lists: Arc<WalkLists>) -> Visits {
        let told_ids = vec![0; lists.n_told()].into();
        Visits { lists, tokens: Arc::default(), told_ids }
    }
}

/// Collects nodes, each after all that it hears. Nodes of one operation and position that hear the same are one.
#[derive(Debug)]
pub(crate) struct VisitsBuilder {
    known: Interner,
    nodes: WalkBuilder,
    n_given: usize,
    tokens: Vec<u32>,
    ids: Vec<u32>,
    key: Vec<u32>,
}

impl VisitsBuilder {
    /// Of at most `most` nodes, which may hear `n_given` given messages.
    pub fn new(n_given: usize, most: usize) -> VisitsBuilder {
        VisitsBuilder {
            known: Interner::new(most.max(1)),
            nodes: WalkBuilder::new(n_given),
            n_given,
            tokens: Vec::new(),
            ids: Vec::new(),
            key: Vec::new(),
        }
    }

    /// The number of a node; `sources` are numbers of other nodes or, below `n_given`, of given messages. They are summed in
    /// their order.
    pub fn visit(&mut self, token: u32, id: u32, sources: impl IntoIterator<Item = u32>) -> u32 {
        self.key.clear();
        self.key.extend([token, id]);
        self.key.extend(sources);
        let (count, known) = (self.known.len() as u32, self.known.intern(&self.key));
        if known == count {
            self.nodes.push(self.key[2..].iter().copied());
            self.tokens.push(token);
            self.ids.push(id);
        }
        known + self.n_given as u32
    }

    /// The visits, and the row of each number from `n_given` on.
    pub fn finish(self) -> (Visits, Vec<u32>) {
        let (lists, rows) = self.nodes.finish();
        let (mut tokens, mut ids) = (vec![0; rows.len()], vec![0; rows.len()]);
        for (node, &row) in rows.iter().enumerate() {
            tokens[row as usize] = self.tokens[node];
            ids[row as usize] = self.ids[node];
        }
        let told_ids = lists.told_rows().map(|row| ids[row]).collect();
        (Visits { lists, tokens: tokens.into(), told_ids }, rows)
    }
}

/// The rows of B*N that each row hears, ascending: its predecessors, or its successors on a walk against the edges.
pub(crate) fn predecessors(batch: &DagBatch, reversed: bool) -> Csr<u32> {
    let n_rows = batch.host_tokens.len();
    let turn = |(from, to)| if reversed { (to, from) } else { (from, to) };
    let mut edges: Vec<(usize, usize)> = batch.row_edges().map(turn).map(|(from, to)| (to, from)).collect();
    edges.sort_unstable();
    let mut lists = Csr::with_capacity(n_rows, edges.len());
    let mut rest = &edges[..];
    for row in 0..n_rows {
        let (own, others) = rest.split_at(rest.iter().take_while(|&&(target, _)| target == row).count());
        lists.push_row(own.iter().map(|&(_, source)| source as u32));
        rest = others;
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::VisitsBuilder;

    #[test]
    fn equal_nodes_are_one() {
        let mut builder = VisitsBuilder::new(1, 8);
        let first = builder.visit(5, 0, [0]);
        assert_eq!(builder.visit(5, 0, [0]), first);
        let others =
            [builder.visit(6, 0, [0]), builder.visit(5, 1, [0]), builder.visit(5, 0, []), builder.visit(5, 0, [first])];
        assert_eq!(builder.visit(5, 0, [first]), others[3]);
        let (visits, rows) = builder.finish();
        assert_eq!((visits.lists.n_rows(), visits.lists.n_told(), rows.len()), (5, 1, 5));
        let row = |number: u32| rows[number as usize - 1] as usize;
        assert_eq!(visits.tokens[row(others[0])], 6);
        assert_eq!(visits.lists.heard().row(row(others[3])), [1], "the teller after the given one");
        assert_eq!(*visits.told_ids, [0]);
    }
}
