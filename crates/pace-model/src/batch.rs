//! [`DagBatch`]: the tensors of a batch of graphs. The only place where a graph becomes tensors.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use pace_graph::Op;

use crate::layout::{Attention, Layout, Padding};
use crate::pass::Pass;
use crate::table::Row;

/// The cost of a pair in [`Attention::Penalised`], from the published code.
const PENALTY: f32 = -1e9;

/// A batch of B sequences of N positions, P labels.
#[derive(Clone, Debug)]
pub struct DagBatch {
    /// Nodes of each graph, start symbol included; positions from there on are padding.
    pub lengths: Vec<usize>,
    /// Tokens, [B, N]; see [`DagBatch::with_tokens`].
    pub tokens: Tensor<2, Int>,
    /// The same in host memory, row after row.
    pub host_tokens: Vec<Op>,
    /// Labels of the positional encoding, [B, N].
    pub labels: Tensor<2, Int>,
    /// What equations (1) and (2) of the paper aggregate: `[onehot(label_j) ; sum over neighbours i of onehot(label_i)]`,
    /// [B*N, 2P].
    pub features: Tensor<2>,
    /// Added to attention scores: 0 where allowed, else -inf or a penalty, [B, N, N], query before key.
    pub bias: Tensor<3>,
    /// `[b, j, i] = 1` iff the positional encoding of j sums i, [B, N, N].
    pub neighbours: Tensor<3>,
    /// `[b, j, i] = 1` iff the edge i -> j exists, [B, N, N].
    pub edges: Tensor<3>,
    /// 1 for nodes, 0 for padding, [B, N].
    pub valid: Tensor<2>,
    /// What is to be predicted, [B].
    pub targets: Option<Tensor<1>>,
    /// Evaluation or training.
    pub pass: Pass,
}

impl DagBatch {
    pub(crate) fn new(rows: &[&Row], targets: Option<Vec<f32>>, layout: &Layout, device: &Device) -> DagBatch {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let n = match layout.padding {
            Padding::Full => layout.spec.max_nodes,
            Padding::Longest => longest,
        };
        let (b, p) = (rows.len(), layout.n_labels);
        let mut host = Host::new(b, n, p, layout);
        rows.iter().enumerate().for_each(|(graph, row)| host.write(graph, row, layout.attention));
        DagBatch {
            lengths: rows.iter().map(|row| row.len()).collect(),
            tokens: tokens(&host.tokens, [b, n], device),
            host_tokens: host.tokens,
            labels: ints(host.labels, [b, n], device),
            features: floats(host.features, [b * n, 2 * p], device),
            bias: floats(host.bias, [b, n, n], device),
            neighbours: floats(host.neighbours, [b, n, n], device),
            edges: floats(host.edges, [b, n, n], device),
            valid: floats(host.valid, [b, n], device),
            targets: targets.map(|targets| floats(targets, [b], device)),
            pass: Pass::Eval,
        }
    }

    /// [B, N].
    pub fn dims(&self) -> [usize; 2] {
        self.tokens.dims()
    }

    /// The device of all tensors.
    pub fn device(&self) -> Device {
        self.bias.device()
    }

    /// The same batch as a training pass: dropout and noise from `seed`.
    pub fn train(mut self, seed: u64) -> DagBatch {
        self.pass = Pass::Train { seed };
        self
    }

    /// The same batch with other tokens at its positions, row after row, e.g. with some masked.
    ///
    /// # Panics
    /// If there is not one token per position.
    pub fn with_tokens(&self, host_tokens: Vec<Op>) -> DagBatch {
        let tokens = tokens(&host_tokens, self.dims(), &self.device());
        DagBatch { tokens, host_tokens, ..self.clone() }
    }
}

/// What the batches of all encoders have: graphs with something to predict.
pub trait GraphBatch {
    /// How many graphs, B.
    fn n_graphs(&self) -> usize;

    /// A number to be predicted for every graph, [B].
    fn targets(&self) -> Option<&Tensor<1>>;

    /// Tokens to be predicted for every graph, [B, positions].
    fn token_targets(&self) -> Option<&Tensor<2, Int>> {
        None
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

/// The tensors in host memory while they are filled.
struct Host {
    n: usize,
    p: usize,
    tokens: Vec<Op>,
    labels: Vec<i32>,
    features: Vec<f32>,
    bias: Vec<f32>,
    neighbours: Vec<f32>,
    edges: Vec<f32>,
    valid: Vec<f32>,
}

impl Host {
    fn new(b: usize, n: usize, p: usize, layout: &Layout) -> Host {
        let blocked = match layout.attention {
            Attention::Masked(_) | Attention::Open => f32::NEG_INFINITY,
            Attention::Penalised(_) => PENALTY,
        };
        Host {
            n,
            p,
            tokens: vec![layout.pad; b * n],
            // All padding shares the last label, which no node of a shorter graph has.
            labels: vec![p as i32 - 1; b * n],
            features: vec![0.0; b * n * 2 * p],
            bias: vec![blocked; b * n * n],
            neighbours: vec![0.0; b * n * n],
            edges: vec![0.0; b * n * n],
            valid: vec![0.0; b * n],
        }
    }

    fn write(&mut self, graph: usize, row: &Row, attention: Attention) {
        let (n, p, length) = (self.n, self.p, row.len());
        let first = graph * n;
        for position in 0..n {
            let place = first + position;
            let feature = &mut self.features[place * 2 * p..(place + 1) * 2 * p];
            let bias = &mut self.bias[place * n..(place + 1) * n];
            if position >= length {
                feature[p - 1] = 1.0;
                match attention {
                    // A penalised row of padding stays uniform, as in the published code.
                    Attention::Penalised(_) => {}
                    Attention::Masked(_) | Attention::Open => bias[position] = 0.0,
                }
                continue;
            }
            self.tokens[place] = row.ops[position];
            self.labels[place] = row.labels[position] as i32;
            self.valid[place] = 1.0;
            feature[row.labels[position] as usize] = 1.0;
            for &other in row.neighbours(position) {
                feature[p + row.labels[other as usize] as usize] += 1.0;
                self.neighbours[place * n + other as usize] = 1.0;
            }
            match &row.mask {
                Some(mask) => mask.keys(position).for_each(|key| bias[key] = 0.0),
                None => bias[..length].fill(0.0),
            }
        }
        for &(from, to) in &row.edges {
            self.edges[(first + to as usize) * n + from as usize] = 1.0;
        }
    }
}

/// Index tensors have one integer type on every device; the devices' defaults differ.
pub(crate) fn ints<const D: usize>(values: Vec<i32>, shape: [usize; D], device: &Device) -> Tensor<D, Int> {
    Tensor::from_data(TensorData::new(values, shape), (device, DType::I32))
}

pub(crate) fn floats<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn tokens(values: &[Op], shape: [usize; 2], device: &Device) -> Tensor<2, Int> {
    ints(values.iter().map(|&token| i32::from(token)).collect(), shape, device)
}
