//! The decoder of S-VAE (Bowman et al., 2016, as the baseline of D-VAE, Zhang et al., 2019): all rows of the string from the latent
//! vector alone.
//!
//! ```text
//! x = ReLU(W z + b)      o_s = GRU(x, o_{s-1}),  o_{-1} = 0
//! p(type of node s + 1) = softmax(MLP(o_s))      p(edge j + 1 -> s + 1) = sigmoid(MLP'(o_s)_j)
//! ```
//!
//! Nothing that was decided is fed back: no teacher forcing, and given z all decisions are independent. In "S-VAE (Transformer)"
//! of Table 5 a [`LatentTransformer`] over the indices of the steps takes the place of the unit.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::Draft;
use serde::{Deserialize, Serialize};

use super::{DagDecoder, DecoderSettings, Edges, Stepper};
use crate::batch::{DagBatch, Layout, Pass, Stream, ints};
use crate::encoder::PaceConfig;
use crate::layers::{
    GruCell, GruConfig, Init, LatentTransformer, NodeEmbedding, Perceptron, StringModel, edge_nll, op_nll, pairs,
};

/// Configuration of [`SvaeDecoder`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvaeDecoderConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// What makes the states.
    pub model: StringModel,
}

impl SvaeDecoderConfig {
    /// The authors' decoder.
    pub fn as_published() -> SvaeDecoderConfig {
        SvaeDecoderConfig { d_hidden: 501, ..SvaeDecoderConfig::preset() }
    }

    /// With a Transformer: blocks and width are those of PACE's decoder, since the paper gives none.
    pub fn transformer() -> SvaeDecoderConfig {
        SvaeDecoderConfig { model: StringModel::Transformer(PaceConfig::vae().blocks), ..SvaeDecoderConfig::preset() }
    }
}

impl DecoderSettings for SvaeDecoderConfig {
    type Decoder = SvaeDecoder;

    fn preset() -> SvaeDecoderConfig {
        SvaeDecoderConfig { d_hidden: 128, model: StringModel::Gru }
    }

    /// # Panics
    /// If the layout has no start symbol, which stands for the node that is given.
    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> SvaeDecoder {
        assert!(layout.has_start(), "the decoder starts from a start symbol, and the layout has none");
        let (mut init, d, n) = (Init::new(seed, device), self.d_hidden, layout.spec.max_nodes);
        let states = match self.model {
            StringModel::Gru => States::Gru(Unrolled {
                input: init.linear(d_latent, d, true),
                cell: GruConfig { d_input: d, d_hidden: d }.init(&mut init),
            }),
            StringModel::Transformer(blocks) => {
                States::Transformer(LatentTransformer::new(&blocks, d_latent, n, d, &mut init))
            }
        };
        SvaeDecoder {
            states,
            op: Perceptron::new(d, d, layout.spec.n_ops(), &mut init),
            edge: Perceptron::new(d, d, n - 1, &mut init),
            layout: layout.clone(),
        }
    }
}

/// A unit with the same input in every step.
#[derive(Module, Debug)]
pub struct Unrolled {
    input: Linear,
    cell: GruCell,
}

/// What makes the states.
#[derive(Module, Debug)]
pub enum States {
    /// A recurrent unit.
    Gru(Unrolled),
    /// A Transformer.
    Transformer(LatentTransformer),
}

/// The S-VAE decoder.
///
/// The authors' loss covers all bits of a row, also those of edges that cannot be, and rows of padding. Here only what generation
/// decides counts, as for every decoder.
#[derive(Module, Debug)]
pub struct SvaeDecoder {
    states: States,
    op: Perceptron,
    /// One output per real source.
    edge: Perceptron,
    #[module(skip)]
    layout: Layout,
}

impl SvaeDecoder {
    /// The states of the first S steps. Shapes: [B, Z] -> [B*S, D].
    fn states(&self, z: Tensor<2>, n_steps: usize, pass: Pass) -> Tensor<2> {
        match &self.states {
            States::Gru(Unrolled { input, cell }) => {
                let gates = cell.project(relu(input.forward(z)));
                let mut states: Vec<Tensor<2>> = Vec::with_capacity(n_steps);
                for _ in 0..n_steps {
                    states.push(cell.step(gates.clone(), states.last().cloned()));
                }
                let [b, d] = states[0].dims();
                Tensor::stack::<3>(states, 1).reshape([b * n_steps, d])
            }
            States::Transformer(model) => {
                model.forward(z, None, n_steps, pass.dropout(model.dropout(), Stream::DecoderBlocks))
            }
        }
    }
}

impl DagDecoder for SvaeDecoder {
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, _shared: Option<&NodeEmbedding>) -> Tensor<1> {
        let [b, n] = batch.dims();
        let o = self.states(z, n - 1, batch.pass);
        let ops = op_nll(self.op.forward(o.clone()), batch);
        let pairs = pairs(n);
        if pairs.is_empty() {
            return ops;
        }
        let logits = self.edge.forward(o);
        let [_, width] = logits.dims();
        let places = pairs.iter().map(|&(source, target)| ((target - 1) * width + source - 1) as i32).collect();
        let logits = logits.reshape([b, (n - 1) * width]).select(1, ints(places, [pairs.len()], &batch.device()));
        ops + edge_nll(logits, &pairs, batch)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn stepper<'a>(&'a self, z: Tensor<2>, _shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
        let ([b, _], n_steps) = (z.dims(), self.layout.spec.max_nodes - 1);
        let o = self.states(z, n_steps, Pass::Eval);
        let by_step = |logits: Tensor<2>| logits.reshape([b as i32, n_steps as i32, -1]);
        Box::new(Steps { ops: by_step(self.op.forward(o.clone())), edges: by_step(self.edge.forward(o)), t: 0 })
    }
}

/// The logits of all steps: nothing that is chosen changes them.
struct Steps {
    /// [B, S, T].
    ops: Tensor<3>,
    /// [B, S, N - 1].
    edges: Tensor<3>,
    /// Steps asked for so far.
    t: usize,
}

impl Stepper for Steps {
    fn ops(&mut self, _drafts: &[Draft]) -> Tensor<2> {
        let ([b, _, n_ops], t) = (self.ops.dims(), self.t);
        self.t += 1;
        self.ops.clone().slice([0..b, t..t + 1, 0..n_ops]).reshape([b, n_ops])
    }

    fn edges(&mut self) -> Edges<'_> {
        let ([b, _, _], t) = (self.edges.dims(), self.t - 1);
        Edges::AtOnce((t > 0).then(|| self.edges.clone().slice([0..b, t..t + 1, 0..t]).reshape([b, t])))
    }
}
