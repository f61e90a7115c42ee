//! [`Mlm`]: masked language modelling over the nodes of a DAG (section 4.1), and its published variant over pairs.

mod corruption;
mod pair;
mod pair_encoder;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{log_softmax, tanh};
use burn::tensor::{Device, Int, Tensor};
use pace_graph::{DagSpec, Op};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Loss, Objective};
use crate::batch::{DagBatch, Stream, ints};
use crate::encoder::{DagEncoder, EncodeParts, EncoderConfig, EncoderSettings, PaceConfig, Task};
use crate::layers::Init;

pub use corruption::{Corrupted, Corruption, MaskIds, Rest};
pub use pair::metric_pairs;
pub use pair_encoder::{PairConfig, PairEncoder};

/// What MLM does on top of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaskingConfig {
    /// What is hidden.
    pub corruption: Corruption,
    /// MASK and PAD are tokens of their own; else operations 1 and 0, as in the published code.
    pub own_tokens: bool,
    /// An encoder over pairs of graphs between encoder and head: the published code. Graphs 2i and 2i + 1 of a batch are a
    /// pair, see [`metric_pairs`].
    pub pair: Option<PairConfig>,
    /// Probability mass moved from the true operation to the others; 0.1 in the published code.
    pub smoothing: f64,
    /// Dropout inside the head.
    pub head_dropout: f64,
    /// The seed of the corruption in evaluation, so that validation losses are comparable.
    pub eval_seed: u64,
}

impl MaskingConfig {
    /// The paper's: single graphs, cross-entropy.
    pub fn paper() -> MaskingConfig {
        MaskingConfig {
            corruption: Corruption::PAPER,
            own_tokens: true,
            pair: None,
            smoothing: 0.0,
            head_dropout: 0.0,
            eval_seed: 0,
        }
    }

    /// The published code's: pairs, label smoothing, tokens that collide with operations.
    pub fn as_published() -> MaskingConfig {
        MaskingConfig {
            corruption: Corruption::PUBLISHED,
            own_tokens: false,
            pair: Some(PairConfig::as_published()),
            smoothing: 0.1,
            head_dropout: 0.1,
            eval_seed: 0,
        }
    }

    /// Puts a head on any encoder.
    ///
    /// # Panics
    /// If MASK and PAD are to be tokens of their own and the encoder's dictionary has none.
    pub fn init<E: DagEncoder>(&self, encoder: E, seed: u64, device: &Device) -> Mlm<E> {
        let mut init = Init::new(seed, device);
        let (layout, d) = (encoder.layout(), encoder.d_node());
        let ids = if self.own_tokens { MaskIds::own(layout) } else { MaskIds::colliding(layout) };
        Mlm {
            pair: self.pair.map(|pair| pair.init(d, &mut init)),
            hidden: init.linear(d, d, true),
            out: init.linear(d, ids.n_ops, true),
            encoder,
            config: *self,
            ids,
        }
    }
}

/// The configuration of masked language modelling over any encoder.
pub type AnyMlmConfig = MlmConfig<EncoderConfig>;

/// Configuration of masked language modelling: PACE-MLM, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlmConfig<E = PaceConfig> {
    /// Encoder.
    pub encoder: E,
    /// Everything else.
    pub masking: MaskingConfig,
}

impl MlmConfig {
    /// The paper's model.
    pub fn paper() -> MlmConfig {
        MlmConfig { encoder: PaceConfig::mlm(), masking: MaskingConfig::paper() }
    }

    /// The model of the authors' code on NAS-Bench-101 or 301.
    ///
    /// One deviation. The code keeps a layer norm per block of which only the last is used: 25 x 128 parameters that
    /// never train, left out here.
    pub fn as_published(task: Task) -> MlmConfig {
        MlmConfig { encoder: PaceConfig::as_published(task), masking: MaskingConfig::as_published() }
    }

    /// The same with an encoder to be chosen at run time.
    pub fn any(self) -> AnyMlmConfig {
        MlmConfig { encoder: EncoderConfig::Pace(self.encoder), masking: self.masking }
    }
}

impl<E: EncoderSettings> MlmConfig<E> {
    /// Initialises for graphs of `spec`.
    pub fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Mlm<E::Encoder> {
        let encoder = self.encoder.init(spec, seed, device);
        // Other draws than the encoder's.
        self.masking.init(encoder, seed ^ 0x5eed_0003, device)
    }
}

/// An encoder and a classifier of hidden operations. With S the selected positions and x_i the node vectors of the
/// corrupted batch:
///
/// ```text
/// p_i = softmax(W2 tanh(W1 x_i + b1) + b2)
/// loss = sum over i in S of  -log p_i[o_i]                         (smoothing 0)
/// loss = sum over i in S of  KL(t_i || p_i)                        (smoothing s)
/// t_i  = 1 - s at o_i, s / (T - 2) elsewhere, 0 for the operation that padding looks like
/// ```
#[derive(Module, Debug)]
pub struct Mlm<E: DagEncoder> {
    encoder: E,
    pair: Option<PairEncoder>,
    /// D to D.
    hidden: Linear,
    /// D to T.
    out: Linear,
    #[module(skip)]
    config: MaskingConfig,
    #[module(skip)]
    ids: MaskIds,
}

impl<E: DagEncoder> Mlm<E> {
    /// The encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// The embedding of each graph: the encoder's, of the uncorrupted graph, [B, G].
    pub fn embed(&self, batch: &DagBatch) -> Tensor<2> {
        self.encoder.encode_graphs(batch)
    }

    /// What this pass hides, and the graphs as they look afterwards: drawn from the pass's seed in training, always the same
    /// in evaluation.
    ///
    /// The canonical order is that of the graph with MASK for an operation. That of the whole graph sorts the nodes of one depth
    /// by operation, so the place of a hidden node would bound what it is.
    pub fn corrupt(&self, batch: &DagBatch) -> (DagBatch, Corrupted) {
        let fixed = || ChaCha8Rng::seed_from_u64(self.config.eval_seed);
        let mut rng = batch.pass.rng(Stream::Corruption).unwrap_or_else(fixed);
        let corrupted = self.config.corruption.apply(batch, self.ids, &mut rng);
        let (seen, moved) = batch.laid_out_anew(&corrupted.tokens, rng.next_u64());
        let mut places: Vec<(usize, Op)> =
            corrupted.selected.iter().map(|&index| moved[index]).zip(corrupted.labels).collect();
        places.sort_unstable();
        let (selected, labels) = places.into_iter().unzip();
        let corrupted = Corrupted { tokens: seen.host_tokens.clone(), selected, labels };
        (seen, corrupted)
    }

    /// Logits of the hidden operations, [S, T]. Only their rows pass the last block and the head.
    pub fn logits(&self, batch: &DagBatch, corrupted: &Corrupted) -> Tensor<2> {
        let visible = batch.with_tokens(corrupted.tokens.clone());
        let selected = &corrupted.selected;
        let picked = match &self.pair {
            Some(pair) => {
                let rows = selected.iter().map(|&index| index as i32).collect();
                let nodes = pair.forward(self.encoder.encode(&visible).nodes, &visible);
                nodes.select(0, ints(rows, [selected.len()], &batch.device()))
            }
            None => {
                let rows: Vec<u32> = selected.iter().map(|&index| index as u32).collect();
                self.encoder.encode_nodes(&visible, &rows)
            }
        };
        let dropout = batch.pass.dropout(self.config.head_dropout, Stream::Head);
        self.out.forward(dropout.apply(0, tanh(self.hidden.forward(picked))))
    }

    /// The loss of a batch under a given corruption.
    pub fn loss_on(&self, batch: &DagBatch, corrupted: &Corrupted) -> Loss {
        let count = corrupted.labels.len();
        let logits = self.logits(batch, corrupted);
        let labels = ints(corrupted.labels.iter().map(|&op| i32::from(op)).collect(), [count, 1], &batch.device());
        let correct = logits.clone().detach().argmax(1).cast(labels.dtype()).equal(labels.clone()).float().sum();
        let total = divergence(logits, labels, self.config.smoothing, self.ids.ignored);
        Loss { parts: vec![("correct", correct)], total, count }
    }
}

impl<E: DagEncoder> Objective for Mlm<E> {
    fn loss(&self, batch: &DagBatch) -> Loss {
        let (seen, corrupted) = self.corrupt(batch);
        self.loss_on(&seen, &corrupted)
    }
}

/// The sum of KL(t || softmax(logits)), t = 1 - s at the label and s spread evenly over the other operations but `ignored`.
///
/// Without smoothing that is the cross-entropy. Shapes: logits [S, T], labels [S, 1] -> [1].
fn divergence(logits: Tensor<2>, labels: Tensor<2, Int>, smoothing: f64, ignored: Option<Op>) -> Tensor<1> {
    let [rows, n_ops] = logits.dims();
    let log_p = log_softmax(logits, 1);
    let of_label = log_p.clone().gather(1, labels).sum();
    if smoothing == 0.0 {
        return of_label.neg();
    }
    let mut of_all = log_p.clone().sum();
    let mut n_others = n_ops - 1;
    if let Some(column) = ignored.map(usize::from) {
        of_all = of_all - log_p.slice([0..rows, column..column + 1]).sum();
        n_others -= 1;
    }
    assert!(n_others > 0, "{n_ops} operations leave none to smooth over");
    let each = smoothing / n_others as f64;
    let negative_entropy = (1.0 - smoothing) * (1.0 - smoothing).ln() + smoothing * each.ln();
    // sum of t (log t - log p); the label is one of all.
    (of_label * (1.0 - smoothing - each) + of_all * each).neg() + rows as f64 * negative_entropy
}
