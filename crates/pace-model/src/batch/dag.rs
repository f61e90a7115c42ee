//! [`DagBatch`]: the tensors of a batch of graphs.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Int, Tensor};
use pace_graph::{GOLDEN, Op, split_mix};
use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::distinct::Distinct;
use super::found::Spectrum;
use super::layout::{Attention, Layout, Padding};
use super::pass::Pass;
use super::row::Row;
use super::{GraphBatch, floats, ints};
use crate::layers::{EdgeList, Levels};

/// The cost of a pair in [`Attention::Penalised`], from the published code.
const PENALTY: f32 = -1e9;

/// A batch of B sequences of N positions, with P labels. Each tensor is made when it is first needed.
///
/// Position j of graph b has the flat index `b * N + j`: it is row b * N + j of every tensor of B*N rows.
#[derive(Clone, Debug)]
pub struct DagBatch {
    /// Nodes of each graph, start symbol included. Later positions are padding.
    pub lengths: Vec<usize>,
    /// Tokens in host memory, by flat index, `[B*N]`; see [`DagBatch::with_tokens`].
    pub host_tokens: Vec<Op>,
    /// What is to be predicted, `[B]`; of several numbers per graph those of a graph are neighbours.
    pub targets: Option<Tensor<1>>,
    /// Evaluation or training.
    pub pass: Pass,
    pub(super) rows: Arc<[Arc<Row>]>,
    pub(super) n: usize,
    pub(super) layout: Arc<Layout>,
    pub(super) device: Device,
    pub(super) tensors: Arc<Tensors>,
    pub(super) distinct: OnceLock<Option<Distinct>>,
}

/// What does not depend on the tokens.
#[derive(Debug, Default)]
pub(super) struct Tensors {
    dag2seq: OnceLock<Tensor<2>>,
    bias: OnceLock<Tensor<3>>,
    edges: OnceLock<Tensor<3>>,
    valid: OnceLock<Tensor<2>>,
    pub(super) degrees: OnceLock<[Tensor<1, Int>; 2]>,
    pub(super) distances: OnceLock<Tensor<3, Int>>,
    pub(super) spectrum: OnceLock<Spectrum>,
    pub(super) rooted: OnceLock<Tensor<2>>,
    pub(super) forward: OnceLock<EdgeList>,
    pub(super) backward: OnceLock<EdgeList>,
    pub(super) both: OnceLock<EdgeList>,
    pub(super) levels: OnceLock<Levels>,
    pub(super) levels_reversed: OnceLock<Levels>,
}

impl DagBatch {
    pub(crate) fn new(
        rows: Vec<Arc<Row>>,
        targets: Option<Vec<f32>>,
        layout: Arc<Layout>,
        device: &Device,
    ) -> DagBatch {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let n = match layout.padding {
            Padding::Full => layout.spec.max_nodes,
            Padding::Longest => longest,
        };
        let mut host_tokens = vec![layout.pad; rows.len() * n];
        for (row, tokens) in rows.iter().zip(host_tokens.chunks_exact_mut(n.max(1))) {
            tokens.iter_mut().zip(row.ops()).for_each(|(token, op)| *token = op);
        }
        DagBatch {
            lengths: rows.iter().map(|row| row.len()).collect(),
            host_tokens,
            targets: targets.map(|targets| {
                let n_targets = targets.len();
                floats(targets, [n_targets], device)
            }),
            pass: Pass::Eval,
            rows: rows.into(),
            n,
            layout,
            device: device.clone(),
            tensors: Arc::default(),
            distinct: OnceLock::new(),
        }
    }

    /// [B, N].
    pub fn dims(&self) -> [usize; 2] {
        [self.rows.len(), self.n]
    }

    /// The device of all tensors.
    pub fn device(&self) -> Device {
        self.device.clone()
    }

    /// Checks that the batch is laid out as `layout` says. It may carry more structure, e.g. for a decoder.
    ///
    /// # Panics
    /// If it is laid out in another way: its vectors would mean nothing.
    pub(crate) fn check(&self, layout: &Layout) {
        assert!(
            self.layout.serves(layout),
            "the batch is laid out for another encoder: {:?} instead of {layout:?}; make its table with this encoder's layout",
            self.layout
        );
    }

    /// The same batch as a training pass: dropout and noise from `seed`.
    pub fn train(mut self, seed: u64) -> DagBatch {
        self.pass = Pass::Train { seed };
        self
    }

    /// The same batch with other tokens, by flat index, e.g. with some masked.
    ///
    /// # Panics
    /// If there is not one token per position.
    pub fn with_tokens(&self, host_tokens: Vec<Op>) -> DagBatch {
        assert_eq!(host_tokens.len(), self.host_tokens.len(), "one token per position");
        let batch = DagBatch { distinct: OnceLock::new(), ..self.clone() };
        if self.layout.structure.rooted.is_none() {
            return DagBatch { host_tokens, ..batch };
        }
        // What is said about the surroundings of a node must not tell the operations that were replaced.
        let row = |(index, row): (usize, &Arc<Row>)| {
            Arc::new(row.in_place(&host_tokens[index * self.n..][..row.len()], &self.layout))
        };
        let rows: Vec<Arc<Row>> = self.rows.par_iter().enumerate().map(row).collect();
        DagBatch { rows: rows.into(), tensors: Arc::default(), host_tokens, ..batch }
    }

    /// The same graphs with other tokens, each laid out anew as a graph of these operations, and the flat index that each old
    /// one has in it.
    ///
    /// [`with_tokens`](Self::with_tokens) keeps the order of the nodes, and a canonical order depends on the operations: it
    /// tells a model something about those that were replaced. Here nothing of them is left. `seed` orders equal nodes.
    ///
    /// # Panics
    /// If there is not one token per position.
    pub fn laid_out_anew(&self, tokens: &[Op], seed: u64) -> (DagBatch, Vec<usize>) {
        assert_eq!(tokens.len(), self.host_tokens.len(), "one token per position");
        let n = self.n;
        let graph = |(index, row): (usize, &Arc<Row>)| {
            let seed = split_mix(seed.wrapping_add((index as u64).wrapping_mul(GOLDEN)));
            row.with_ops(&tokens[index * n..][..row.len()], &self.layout, seed)
        };
        let anew: Vec<(Row, Vec<usize>)> = self.rows.par_iter().enumerate().map(graph).collect();
        let mut moved: Vec<usize> = (0..tokens.len()).collect();
        let mut rows = Vec::with_capacity(anew.len());
        for (index, (row, places)) in anew.into_iter().enumerate() {
            places.into_iter().enumerate().for_each(|(old, new)| moved[index * n + old] = index * n + new);
            rows.push(Arc::new(row));
        }
        let mut host_tokens = tokens.to_vec();
        moved.iter().zip(tokens).for_each(|(&new, &token)| host_tokens[new] = token);
        let (rows, tensors) = (rows.into(), Arc::default());
        (DagBatch { host_tokens, rows, tensors, distinct: OnceLock::new(), ..self.clone() }, moved)
    }

    /// Tokens, `[B*N]`.
    pub fn tokens(&self) -> Tensor<1, Int> {
        let tokens: Vec<i32> = self.host_tokens.iter().map(|&token| i32::from(token)).collect();
        ints(tokens, [self.host_tokens.len()], &self.device)
    }

    /// What dag2seq reads (equations 1 and 2): `[onehot(label_j) ; sum over neighbours i of onehot(label_i)]`, [B*N, 2P].
    pub fn dag2seq_features(&self) -> Tensor<2> {
        let make = || self.dag2seq_features_of((0..self.host_tokens.len()).collect());
        self.tensors.dag2seq.get_or_init(make).clone()
    }

    /// What is added to attention scores, [B, N, N], query before key: 0 for an allowed pair, otherwise -inf or a penalty.
    pub fn bias(&self) -> Tensor<3> {
        let blocked = match self.layout.attention {
            Attention::Masked(_) | Attention::Open => f32::NEG_INFINITY,
            Attention::Penalised(_) => PENALTY,
        };
        let make = || self.matrices(blocked, |row, graph| self.allow(row, graph));
        self.tensors.bias.get_or_init(make).clone()
    }

    /// `[b, j, i] = 1` iff the edge i -> j exists, [B, N, N].
    pub fn edges(&self) -> Tensor<3> {
        let write = |row: &Row, graph: &mut [f32]| {
            row.edges().for_each(|(from, to)| graph[to * self.n + from] = 1.0);
        };
        self.tensors.edges.get_or_init(|| self.matrices(0.0, write)).clone()
    }

    /// 1 for nodes, 0 for padding, [B, N].
    pub fn valid(&self) -> Tensor<2> {
        let [b, n] = self.dims();
        let graph = |&length: &usize| (0..n).map(move |position| if position < length { 1.0 } else { 0.0 });
        let make = || floats(self.lengths.iter().flat_map(graph).collect(), [b, n], &self.device);
        self.tensors.valid.get_or_init(make).clone()
    }

    /// The graph and position of a flat index; `None` for padding.
    pub(super) fn node(&self, index: usize) -> Option<(&Row, usize)> {
        let (row, position) = (&self.rows[index / self.n], index % self.n);
        (position < row.len()).then_some((row, position))
    }

    /// The dag2seq features at some flat indices, [indices, 2P].
    pub(super) fn dag2seq_features_of(&self, indices: Vec<usize>) -> Tensor<2> {
        let p = self.layout.n_labels;
        let mut features = vec![0.0; indices.len() * 2 * p];
        for (&index, features) in indices.iter().zip(features.chunks_exact_mut(2 * p)) {
            let (own, sum) = features.split_at_mut(p);
            // All padding shares the last label, which no node of a shorter graph has.
            let Some((row, position)) = self.node(index) else {
                own[p - 1] = 1.0;
                continue;
            };
            let labels = row.labels();
            own[labels[position] as usize] = 1.0;
            row.neighbours(position).iter().for_each(|&other| sum[labels[other as usize] as usize] += 1.0);
        }
        floats(features, [indices.len(), 2 * p], &self.device)
    }

    /// A matrix [N, N] per graph.
    fn matrices(&self, value: f32, write: impl Fn(&Row, &mut [f32])) -> Tensor<3> {
        let [b, n] = self.dims();
        let mut values = vec![value; b * n * n];
        self.rows.iter().zip(values.chunks_exact_mut((n * n).max(1))).for_each(|(row, graph)| write(row, graph));
        floats(values, [b, n, n], &self.device)
    }

    /// Writes a 0 for each allowed pair of one graph, [N, N].
    fn allow(&self, row: &Row, graph: &mut [f32]) {
        for (position, bias) in graph.chunks_exact_mut(self.n).enumerate() {
            match (position < row.len(), &row.mask, self.layout.attention) {
                (true, Some(mask), _) => mask.keys(position).for_each(|key| bias[key] = 0.0),
                (true, None, _) => bias[..row.len()].fill(0.0),
                // A penalised row of padding stays uniform, as in the published code.
                (false, _, Attention::Penalised(_)) => {}
                (false, _, Attention::Masked(_) | Attention::Open) => bias[position] = 0.0,
            }
        }
    }
}

impl GraphBatch for DagBatch {
    fn n_graphs(&self) -> usize {
        self.lengths.len()
    }

    fn targets(&self) -> Option<&Tensor<1>> {
        self.targets.as_ref()
    }
}
