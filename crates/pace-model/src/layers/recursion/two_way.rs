//! [`TwoWay`]: recursions over the graphs of a batch, along the edges and, if wanted, against them.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use pace_graph::DagSpec;

use super::visits::{Visits, VisitsBuilder, predecessors};
use super::{Recursion, RecursionConfig};
use crate::batch::{DagBatch, Stream, floats, ints};
use crate::encoder::{Encoding, Shortcuts};
use crate::kernel::{LinearParams, linear};
use crate::layers::Segments;
use crate::layers::init::Init;

/// Which states make the vector of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Of the last node and, against the edges, of the first: those that have heard of all others if there is one source and
    /// one sink.
    Ends,
    /// Of all nodes but input, output and start symbol, summed.
    Inner,
}

/// Configuration of [`TwoWay`].
#[derive(Clone, Copy, Debug)]
pub struct TwoWayConfig {
    /// The recursion of each direction.
    pub recursion: RecursionConfig,
    /// Whether there is one against the edges.
    pub bidirectional: bool,
    /// What makes the vector of a graph.
    pub read: Read,
    /// On the states that are read.
    pub dropout: f64,
}

impl TwoWayConfig {
    /// Initialises for graphs of `spec`, with the start symbol if they have one, and `n_tokens` tokens.
    ///
    /// # Panics
    /// If dropout is not from 0 to below 1.
    pub fn init(&self, spec: &DagSpec, n_tokens: usize, init: &mut Init<'_>) -> TwoWay {
        assert!((0.0..1.0).contains(&self.dropout), "dropout {} is not from 0 to below 1", self.dropout);
        let mut recursion = || Recursion::new(&self.recursion, n_tokens, spec.max_nodes, init);
        let (forward, backward) = (recursion(), self.bidirectional.then(&mut recursion));
        let (d, n_states) = (self.recursion.d_hidden, self.n_states());
        let join = (n_states > 1).then(|| init.linear(n_states * d, d, true));
        TwoWay { forward, backward, join, config: *self, spec: spec.clone() }
    }

    /// How many states a node has.
    fn n_states(&self) -> usize {
        self.recursion.n_layers * if self.bidirectional { 2 } else { 1 }
    }
}

/// A vector of width D for each node, and for each graph, from the states of one or two recursions:
///
/// ```text
/// W [h_v^0 ; .. ; h_v^(L-1) ; g_v^0 ; .. ; g_v^(L-1)] + b
/// ```
///
/// h runs along the edges, g against them. If there is one state only, it is the vector.
///
/// The authors apply the map to the vector of the graph only; here it makes vectors of nodes as well.
#[derive(Module, Debug)]
pub struct TwoWay {
    forward: Recursion,
    backward: Option<Recursion>,
    /// D times the number of states to D.
    join: Option<Linear>,
    #[module(skip)]
    config: TwoWayConfig,
    #[module(skip)]
    spec: DagSpec,
}

impl TwoWay {
    /// Width of a vector, D.
    pub fn d(&self) -> usize {
        self.config.recursion.d_hidden
    }

    /// The vectors of all nodes and of the graphs. Shapes: batch [B, N] -> [B*N, D], [B, D].
    pub fn encode(&self, batch: &DagBatch) -> Encoding {
        let all: Vec<u32> = (0..batch.host_tokens.len() as u32).collect();
        let walked = self.walk(batch, [&all, &all]);
        Encoding { nodes: self.joined(walked.at([&all, &all]), 0, batch), graph: self.read(&walked, batch) }
    }

    /// The rows of B*N that make the vectors of the graphs, along and against the edges.
    fn reads(&self, batch: &DagBatch) -> [Vec<u32>; 2] {
        let [_, n] = batch.dims();
        let row = |graph: usize, position: usize| (graph * n + position) as u32;
        match self.config.read {
            Read::Ends => {
                // The authors' graphs begin with their input and have no start symbol.
                let first = usize::from(self.spec.start.is_some() && self.spec.input.is_some());
                let lengths = batch.lengths.iter().enumerate();
                lengths
                    .map(|(graph, &length)| (row(graph, length - 1), row(graph, first.min(length - 1))))
                    .unzip()
                    .into()
            }
            Read::Inner => {
                let first = usize::from(self.spec.start.is_some()) + usize::from(self.spec.input.is_some());
                let after = usize::from(self.spec.output.is_some());
                let inner = |(graph, &length): (usize, &usize)| {
                    (first..length.saturating_sub(after)).map(move |position| row(graph, position))
                };
                let rows: Vec<u32> = batch.lengths.iter().enumerate().flat_map(inner).collect();
                [rows.clone(), rows]
            }
        }
    }

    fn read(&self, walked: &Walked, batch: &DagBatch) -> Tensor<2> {
        let [along, against] = self.reads(batch);
        let [b, n] = batch.dims();
        let states = match self.config.read {
            Read::Ends => walked.at([&along, &against]),
            // Graphs of virtual nodes alone.
            Read::Inner if along.is_empty() => Tensor::zeros([b, self.config.n_states() * self.d()], &batch.device()),
            Read::Inner => {
                let graphs = along.iter().map(|&row| row / n as u32).collect();
                Segments::new(graphs, b, &batch.device()).sum(walked.at([&along, &against]))
            }
        };
        self.joined(states, 1, batch)
    }

    /// Drops out and maps. Dropout comes after the recursion, so that equal nodes of a batch are equal in training too and computed
    /// once. Shapes: [rows, states * D] -> [rows, D].
    fn joined(&self, states: Tensor<2>, site: usize, batch: &DagBatch) -> Tensor<2> {
        let states = batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding).apply(site, states);
        match &self.join {
            Some(join) => linear(states, None, LinearParams::of(join, false)),
            None => states,
        }
    }

    /// The states of some rows of B*N, along and against the edges, and of all that these hear of.
    fn walk(&self, batch: &DagBatch, wanted: [&[u32]; 2]) -> Walked {
        let recursions = [Some(&self.forward), self.backward.as_ref()];
        let ways = recursions.into_iter().zip(wanted).enumerate().filter_map(|(way, (recursion, wanted))| {
            let recursion = recursion?;
            let (visits, rows) = visit(batch, way == 1, recursion, wanted);
            let states = match visits.tokens.is_empty() {
                true => {
                    vec![Tensor::zeros([1, recursion.config().d_hidden], &batch.device()); recursion.layers().len()]
                }
                false => recursion.forward(&visits, None),
            };
            Some(Way { states, rows })
        });
        Walked { ways: ways.collect() }
    }
}

impl Shortcuts for TwoWay {
    fn graphs(&self, batch: &DagBatch) -> Option<Tensor<2>> {
        let [along, against] = self.reads(batch);
        Some(self.read(&self.walk(batch, [&along, &against]), batch))
    }

    fn some_nodes(&self, batch: &DagBatch, rows: &[u32]) -> Option<Tensor<2>> {
        Some(self.joined(self.walk(batch, [rows, rows]).at([rows, rows]), 0, batch))
    }
}

/// The states of one direction by layer, [R, D] each, and the row of each of B*N; `None` if it has no state.
struct Way {
    states: Vec<Tensor<2>>,
    rows: Vec<Option<u32>>,
}

struct Walked {
    ways: Vec<Way>,
}

impl Walked {
    /// The states of rows of B*N side by side, 0 for padding. Shapes: [rows, states * D].
    fn at(&self, wanted: [&[u32]; 2]) -> Tensor<2> {
        let parts = self.ways.iter().zip(wanted).flat_map(|(way, wanted)| {
            let device = way.states[0].device();
            let row = |&row: &u32| way.rows[row as usize];
            let picked: Vec<i32> = wanted.iter().map(|wanted| row(wanted).unwrap_or(0) as i32).collect();
            let real: Vec<f32> = wanted.iter().map(|wanted| if row(wanted).is_some() { 1.0 } else { 0.0 }).collect();
            let (count, padded) = (wanted.len(), real.contains(&0.0));
            let (picked, real) = (ints(picked, [count], &device), floats(real, [count, 1], &device));
            way.states.iter().map(move |states| {
                let picked = states.clone().select(0, picked.clone());
                if padded { picked * real.clone() } else { picked }
            })
        });
        let mut parts: Vec<Tensor<2>> = parts.collect();
        if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 1) }
    }
}

/// The nodes among `wanted`, rows of B*N, and all they hear of; and the row of the walk of each of B*N.
fn visit(batch: &DagBatch, reversed: bool, recursion: &Recursion, wanted: &[u32]) -> (Visits, Vec<Option<u32>>) {
    let ([_, n], n_rows) = (batch.dims(), batch.host_tokens.len());
    let heard = predecessors(batch, reversed);
    let n_given = recursion.n_ops();
    let from_ops = n_given > 0;
    let mut needed = vec![false; n_rows];
    for &row in wanted {
        needed[row as usize] = row as usize % n < batch.lengths[row as usize / n];
    }
    // Positions are a topological order.
    let in_order = |step: usize| if reversed { n_rows - 1 - step } else { step };
    if !from_ops {
        for row in (0..n_rows).rev().map(in_order) {
            if needed[row] {
                heard.row(row).iter().for_each(|&source| needed[source as usize] = true);
            }
        }
    }
    let mut visits = VisitsBuilder::new(n_given, n_rows);
    let (mut numbers, mut sources) = (vec![None; n_rows], Vec::new());
    for row in (0..n_rows).map(in_order).filter(|&row| needed[row]) {
        sources.clear();
        sources.extend(heard.row(row).iter().map(|&source| match from_ops {
            true => u32::from(batch.host_tokens[source as usize]),
            false => numbers[source as usize].expect("heard before"),
        }));
        // Whatever their order in the graph, the same nodes give the same sum.
        sources.sort_unstable();
        let id = if recursion.config().vertex_ids && !from_ops { (row % n) as u32 } else { 0 };
        let token = u32::from(batch.host_tokens[row]);
        numbers[row] = Some(visits.visit(token, id, sources.iter().copied()));
    }
    let (visits, rows) = visits.finish();
    (visits, numbers.into_iter().map(|number| number.map(|number: u32| rows[number as usize - n_given])).collect())
}
