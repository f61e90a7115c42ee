//! Random cases for the kernels: sizes, masks and parameters, and the comparison of two ways to compute the same thing.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use pace_graph::{GOLDEN, split_mix};
use pace_model::internals::{
    BlockConfig, CrossAttentionParams, DecoderParams, Dropout, EmbeddingParams, EncoderParams, FeedForwardParams,
    HeadParams, NormParams, NormPlacement, SelfAttentionParams,
};
use proptest::prelude::{ProptestConfig, Strategy, any};
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// The settings of a property test: the same cases in every run. Among random ones there is, every few thousand, a case whose
/// gradients cancel so far that the twin itself moves by more than the tolerance when its input moves by one rounding.
pub fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: count,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x9ACE),
        ..ProptestConfig::default()
    }
}

/// Sizes and seeds of one case.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub batch: usize,
    pub n: usize,
    /// Slots of the memory.
    pub m: usize,
    pub n_heads: usize,
    pub d: usize,
    pub hidden: usize,
    pub layers: usize,
    pub seed: u64,
    pub p: f64,
    pub pre_norm: bool,
}

impl Case {
    /// All cases of the property tests.
    pub fn any() -> impl Strategy<Value = Self> {
        let sizes =
            (1_usize..9, 1_usize..20, 1_usize..20, select(vec![1_usize, 2, 4, 8]), select(vec![4_usize, 8, 16]));
        let rest = (1_usize..40, 1_usize..3, any::<u64>(), select(vec![0.0, 0.3]), any::<bool>());
        (sizes, rest).prop_map(|((batch, n, m, n_heads, d_head), (hidden, layers, seed, p, pre_norm))| Self {
            batch,
            n,
            m,
            n_heads,
            d: n_heads * d_head,
            hidden,
            layers,
            seed,
            p,
            pre_norm,
        })
    }

    pub fn dropout(&self) -> Dropout {
        Dropout::new(self.p, self.seed ^ 0xD0)
    }

    /// With an epsilon that keeps the norm of a short row from blowing rounding up.
    pub fn config(&self) -> BlockConfig {
        let norm = if self.pre_norm { NormPlacement::Pre } else { NormPlacement::Post };
        BlockConfig { n_heads: self.n_heads, epsilon: 1e-3, norm, dropout: self.dropout() }
    }

    pub fn draw(&self) -> Draw {
        Draw { state: self.seed, device: Device::flex().autodiff(), leaves: Vec::new() }
    }
}

/// Reads the gradient of one leaf.
type Read = Box<dyn Fn(&burn::tensor::Gradients) -> Vec<f32>>;

/// A source of random tensors; the leaves it makes are remembered, to ask for their gradients.
pub struct Draw {
    state: u64,
    pub device: Device,
    leaves: Vec<(String, Read)>,
}

impl Draw {
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        split_mix(self.state)
    }

    /// In 0..count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// In [-1, 1).
    fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn constant<const D: usize>(&mut self, shape: [usize; D], scale: f32) -> Tensor<D> {
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| self.unit() * scale).collect();
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    /// A tensor whose gradient is compared; a constant on a device without autodiff.
    pub fn leaf<const D: usize>(&mut self, name: &str, shape: [usize; D], scale: f32) -> Tensor<D> {
        let leaf = self.constant(shape, scale);
        if !self.device.is_autodiff() {
            return leaf;
        }
        let leaf = leaf.require_grad();
        let kept = leaf.clone();
        let read = move |grads: &burn::tensor::Gradients| {
            let grad = kept.grad(grads).expect("every leaf has a gradient");
            assert_eq!(grad.dims(), shape);
            grad.into_data().try_to_vec::<f32>().unwrap()
        };
        self.leaves.push((name.to_owned(), Box::new(read)));
        leaf
    }

    /// A mask with about half of the pairs forbidden and now and then a whole row.
    pub fn bias(&mut self, [batch, n, m]: [usize; 3]) -> Tensor<3> {
        let mut values = Vec::with_capacity(batch * n * m);
        for _ in 0..batch * n {
            let closed = self.bits().is_multiple_of(8);
            for _ in 0..m {
                values.push(if closed || self.bits().is_multiple_of(2) { f32::NEG_INFINITY } else { 0.0 });
            }
        }
        Tensor::from_data(TensorData::new(values, [batch, n, m]), &self.device)
    }

    fn norm(&mut self, name: &str, d: usize) -> NormParams {
        let gamma = self.leaf(&format!("{name}.gamma"), [d], 1.5);
        NormParams { gamma, beta: self.leaf(&format!("{name}.beta"), [d], 0.5) }
    }

    fn linear(&mut self, name: &str, d_in: usize, d_out: usize) -> (Tensor<2>, Tensor<1>) {
        let weight = self.leaf(&format!("{name}.weight"), [d_in, d_out], (3.0 / d_in as f32).sqrt());
        (weight, self.leaf(&format!("{name}.bias"), [d_out], 0.3))
    }

    fn self_attention(&mut self, case: &Case) -> SelfAttentionParams {
        let (wqkv, bqkv) = self.linear("qkv", case.d, 3 * case.d);
        let (wo, bo) = self.linear("o", case.d, case.d);
        SelfAttentionParams { wqkv, bqkv, wo, bo }
    }

    fn feed_forward(&mut self, case: &Case) -> FeedForwardParams {
        let (w1, b1) = self.linear("ff1", case.d, case.hidden);
        let (w2, b2) = self.linear("ff2", case.hidden, case.d);
        FeedForwardParams { w1, b1, w2, b2 }
    }

    pub fn norm_params(&mut self, case: &Case) -> NormParams {
        self.norm("norm", case.d)
    }

    pub fn encoder_params(&mut self, case: &Case) -> Vec<EncoderParams> {
        let layer = |_| EncoderParams {
            attention: self.self_attention(case),
            norm_attention: self.norm("norm1", case.d),
            feed_forward: self.feed_forward(case),
            norm_feed_forward: self.norm("norm2", case.d),
        };
        (0..case.layers).map(layer).collect()
    }

    pub fn decoder_params(&mut self, case: &Case) -> Vec<DecoderParams> {
        let layer = |_| {
            let attention = self.self_attention(case);
            let (wq, bq) = self.linear("q", case.d, case.d);
            let (wkv, bkv) = self.linear("kv", case.d, 2 * case.d);
            let (wo, bo) = self.linear("cross.o", case.d, case.d);
            DecoderParams {
                attention,
                norm_attention: self.norm("norm1", case.d),
                cross: CrossAttentionParams { wq, bq, wkv, bkv, wo, bo },
                norm_cross: self.norm("norm2", case.d),
                feed_forward: self.feed_forward(case),
                norm_feed_forward: self.norm("norm3", case.d),
            }
        };
        (0..case.layers).map(layer).collect()
    }

    /// Operations, features and parameters of an embedding of `case.m` operations and n labels.
    pub fn embedding(&mut self, case: &Case) -> (Tensor<1, Int>, Tensor<2>, EmbeddingParams) {
        let (rows, labels) = (case.batch * case.n, 2 * case.n);
        let tokens: Vec<i32> = (0..rows).map(|_| (self.bits() % case.m as u64) as i32).collect();
        let mut features = vec![0.0; rows * labels];
        for (row, features) in features.chunks_exact_mut(labels).enumerate() {
            features[row % case.n] = 1.0;
            (0..row % 4).for_each(|_| features[case.n + (self.bits() % case.n as u64) as usize] += 1.0);
        }
        let weight = self.leaf("weight", [case.m, case.d], 1.0);
        let params = EmbeddingParams {
            weight,
            bias: self.leaf("bias", [case.d], 0.3),
            first: self.leaf("first", [labels, case.hidden], 1.0),
            second: self.leaf("second", [case.hidden, case.d], 1.0),
        };
        let tokens = Tensor::from_data(TensorData::new(tokens, [rows]), (&self.device, DType::I32));
        (tokens, Tensor::from_data(TensorData::new(features, [rows, labels]), &self.device), params)
    }

    /// Heads for `case.m` operations, every other time without biases in the node head.
    pub fn head_params(&mut self, case: &Case) -> HeadParams {
        let with_bias = case.seed.is_multiple_of(2);
        let mut node = |name: &str, d_in, d_out| match with_bias {
            true => {
                let (weight, bias) = self.linear(name, d_in, d_out);
                (weight, Some(bias))
            }
            false => (self.leaf(&format!("{name}.weight"), [d_in, d_out], (3.0 / d_in as f32).sqrt()), None),
        };
        let ((w1, b1), (w2, b2)) = (node("node1", case.d, case.hidden), node("node2", case.hidden, case.m));
        let (target, bias) = self.linear("target", case.d, case.d);
        let source = self.leaf("source", [case.d, case.d], (3.0 / case.d as f32).sqrt());
        let (out, out_bias) = self.linear("out", case.d, 1);
        HeadParams { w1, b1, w2, b2, target, bias, source, out, out_bias }
    }

    /// Operations [B, N], lengths `[B]` and edges [B, N, N] of graphs of up to n nodes.
    pub fn graphs(&mut self, case: &Case, n: usize) -> (Vec<u16>, Vec<usize>, Tensor<3>) {
        let tokens = (0..case.batch * n).map(|_| (self.bits() % case.m as u64) as u16).collect();
        let lengths = (0..case.batch).map(|_| 1 + (self.bits() % n as u64) as usize).collect();
        let edges: Vec<f32> = (0..case.batch * n * n).map(|_| (self.bits() % 2) as f32).collect();
        (tokens, lengths, Tensor::from_data(TensorData::new(edges, [case.batch, n, n]), &self.device))
    }
}

/// The output of a computation and the gradients of its leaves for a fixed random projection of it.
#[derive(Debug, PartialEq)]
pub struct Outcome(pub Vec<(String, Vec<f32>)>);

impl Outcome {
    /// Runs `build` on a fresh source and differentiates.
    pub fn of(case: &Case, build: impl FnOnce(&mut Draw) -> Tensor<2>) -> Self {
        let mut draw = case.draw();
        let output = build(&mut draw);
        let weights =
            Draw { state: !case.seed, device: draw.device.clone(), leaves: Vec::new() }.constant(output.dims(), 1.0);
        let grads = (output.clone() * weights).sum().backward();
        let mut entries = vec![("output".to_owned(), output.into_data().try_to_vec::<f32>().unwrap())];
        entries.extend(draw.leaves.iter().map(|(name, read)| (name.clone(), read(&grads))));
        Self(entries)
    }

    /// Every entry equal to 1e-4 of its largest value.
    pub fn assert_close(&self, expected: &Self) {
        crate::kernel_level::record(self.0.iter().flat_map(|(_, values)| values));
        assert_eq!(self.0.len(), expected.0.len());
        for ((name, got), (_, want)) in self.0.iter().zip(&expected.0) {
            assert_eq!(got.len(), want.len(), "{name}");
            let size = want.iter().fold(0.1_f32, |size, value| size.max(value.abs()));
            for (index, (got, want)) in got.iter().zip(want).enumerate() {
                let error = (got - want).abs();
                assert!(error <= 1e-4 * size, "{name}[{index}]: {got} instead of {want}, largest {size}");
            }
        }
    }
}
