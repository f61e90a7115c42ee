//! [`Forced`]: the decisions that make given graphs, and the states they are made from.

use std::sync::Arc;

use crate::batch::DagBatch;
use crate::kernel::RowPairs;
use crate::layers::{Recursion, Visits, VisitsBuilder, predecessors};

/// What teacher forcing decides in a batch of B graphs, over R distinct states.
#[derive(Debug)]
pub(super) struct Forced {
    /// How the states are computed; the last B given messages are H0.
    pub visits: Visits,
    /// Every position that speaks for the operation after it.
    pub speakers: Vec<Speaker>,
    /// Positions of the batch, N.
    pub n: usize,
    /// How many graphs, B.
    pub n_graphs: usize,
    /// The states that edges are decided from, as rows of R.
    pub target_rows: Arc<[u32]>,
    /// The states that edges come from, as rows of R, each once.
    pub source_rows: Arc<[u32]>,
    /// The nodes that edges may come from: their graphs, and where their states stand in `source_rows`.
    pub sources: Vec<(u32, u32)>,
    /// A place in `target_rows` and one in `sources` for every edge that there may be.
    pub pairs: RowPairs,
    /// Of every pair, its graph and whether there is an edge.
    pub truth: Vec<(u32, bool)>,
}

/// A position and the operation after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speaker {
    pub graph: u32,
    pub position: u32,
    /// The row of its state; `None` for the start symbol.
    pub row: Option<u32>,
    pub next: u32,
}

impl Speaker {
    /// Its place among H0 of all B graphs and then all states.
    pub fn place(&self, n_graphs: usize) -> u32 {
        self.row.map_or(self.graph, |row| n_graphs as u32 + row)
    }
}

/// An edge that may be, by the numbers of its states.
struct Decision {
    state: u32,
    source: u32,
    graph: u32,
    taken: bool,
}

impl Forced {
    /// O(pairs of nodes), and the copies of their sources.
    pub fn new(batch: &DagBatch, recursion: &Recursion) -> Forced {
        let ([n_graphs, n], heard) = (batch.dims(), predecessors(batch, false));
        let (from_ops, vertex_ids) = (recursion.n_ops() > 0, recursion.config().vertex_ids);
        let first_root = recursion.n_ops();
        let n_given = first_root + n_graphs;
        // A node has a state for each beginning of its list of sources.
        let mut builder = VisitsBuilder::new(n_given, 2 * (batch.host_tokens.len() + heard.n_items()));
        let (mut finals, mut decisions) = (vec![0; batch.host_tokens.len()], Vec::new());
        let (mut taken, mut key, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for (graph, &length) in batch.lengths.iter().enumerate() {
            let row = |position: usize| graph * n + position;
            let token = |position: usize| u32::from(batch.host_tokens[row(position)]);
            let first_source = sources.len();
            for v in 1..length {
                // The start symbol is heard as H0, and only by nodes that hear nobody else.
                let preceding = heard.row(row(v)).iter().map(|&source| source as usize - row(0));
                let preceding: Vec<usize> = preceding.filter(|&source| source > 0).collect();
                let told = |u: usize| if from_ops { token(u) } else { finals[row(u)] };
                let id = if vertex_ids && !from_ops { v as u32 } else { 0 };
                taken.clear();
                taken.extend(preceding.iter().rev().map(|&u| told(u)));
                let mut state = |taken: &[u32], id: u32| {
                    key.clear();
                    key.extend_from_slice(taken);
                    if from_ops {
                        key.sort_unstable();
                    }
                    builder.visit(token(v), id, key.iter().copied())
                };
                let complete = match taken.is_empty() {
                    true => state(&[(first_root + graph) as u32], id),
                    false => state(&taken, id),
                };
                let (mut count, mut now) = (0, state(&[], 0));
                for u in (1..v).rev() {
                    let edge = preceding.binary_search(&u).is_ok();
                    let source = (first_source + u - 1) as u32;
                    decisions.push(Decision { state: now, source, graph: graph as u32, taken: edge });
                    // Nothing is decided after the first node.
                    if edge && u > 1 {
                        count += 1;
                        now = if count == taken.len() { complete } else { state(&taken[..count], 0) };
                    }
                }
                finals[row(v)] = complete;
                if v + 1 < length {
                    sources.push((graph as u32, complete));
                }
            }
        }
        let (visits, rows) = builder.finish();
        let row = |number: u32| rows[number as usize - n_given];

        let speaker = |(graph, position): (usize, usize)| Speaker {
            graph: graph as u32,
            position: position as u32,
            row: (position > 0).then(|| row(finals[graph * n + position])),
            next: u32::from(batch.host_tokens[graph * n + position + 1]),
        };
        let positions = |(graph, &length): (usize, &usize)| (0..length - 1).map(move |position| (graph, position));
        let speakers = batch.lengths.iter().enumerate().flat_map(positions).map(speaker).collect();

        let mut source_rows: Vec<u32> = sources.iter().map(|&(_, number)| row(number)).collect();
        source_rows.sort_unstable();
        source_rows.dedup();
        let place = |number: u32| source_rows.binary_search(&row(number)).expect("collected above") as u32;
        let sources = sources.into_iter().map(|(graph, number)| (graph, place(number))).collect();

        decisions.sort_by_key(|decision| row(decision.state));
        let mut target_rows: Vec<u32> = Vec::new();
        let pairs = decisions.iter().map(|decision| {
            let row = row(decision.state);
            if target_rows.last() != Some(&row) {
                target_rows.push(row);
            }
            (target_rows.len() as u32 - 1, decision.source)
        });
        let pairs = RowPairs::new(pairs.collect::<Vec<_>>());
        let truth = decisions.iter().map(|decision| (decision.graph, decision.taken)).collect();
        let (target_rows, source_rows) = (target_rows.into(), source_rows.into());
        Forced { visits, speakers, n, n_graphs, target_rows, source_rows, sources, pairs, truth }
    }
}
