//! Speed of the fused kernels against their plain twins: `cargo bench -p pace-model --bench kernel`.
//!
//! Prints one JSON object per line: microseconds of a forward and backward pass (the best of several, because the machine may be
//! shared), its processor time, graphs per second, and the speed-ups by wall clock and by processor time. `RAYON_NUM_THREADS` sets
//! the threads. The first argument keeps the operations whose name:batch contains it. A second argument, whatever it is, leaves the
//! twins out, for a profiler.

mod products;

use std::time::{Duration, Instant};

use burn::tensor::{DType, Device, Distribution, Int, Tensor, TensorData};
use pace_model::internals::{
    self as kernel, AdamStep, BlockConfig, CrossAttentionParams, DecoderParams, Dropout, EmbeddingParams,
    EncoderParams, FeedForwardParams, HeadParams, Masks, NormParams, NormPlacement, PairLists, Pasts,
    SelfAttentionParams, Truth, plain,
};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time given to each measurement.
const BUDGET: Duration = Duration::from_millis(700);

/// (batch, nodes, width, heads, hidden units).
const SHAPES: [[usize; 5]; 4] = [[32, 9, 64, 8, 64], [256, 9, 64, 8, 64], [1024, 7, 64, 8, 64], [16, 128, 256, 8, 256]];

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let (only, fused_only) = (args.next(), args.next().is_some());
    products::run(only.as_deref());
    for shape in SHAPES {
        for (name, measure) in measures(shape) {
            if only.as_ref().is_some_and(|only| !format!("{name}:{}", shape[0]).contains(only.as_str())) {
                continue;
            }
            let [fused, stock] =
                [true, false].map(|fused| if fused || !fused_only { time(|| measure(fused)) } else { [f64::NAN; 2] });
            let micros = |seconds: f64| (seconds * 1e6).round();
            let graphs = shape[0] as f64;
            println!(
                "{}",
                json!({
                    "op": name, "shape": shape, "threads": rayon::current_num_threads(),
                    "fused_us": micros(fused[0]), "plain_us": micros(stock[0]),
                    "fused_cpu_us": micros(fused[1]), "plain_cpu_us": micros(stock[1]),
                    "fused_graphs_per_s": (graphs / fused[0]).round(), "plain_graphs_per_s": (graphs / stock[0]).round(),
                    "speed_up": (stock[0] / fused[0] * 100.0).round() / 100.0,
                    "cpu_speed_up": (stock[1] / fused[1] * 100.0).round() / 100.0,
                })
            );
        }
    }
}

/// The shortest time of `f`, and its mean processor time over all threads, in seconds.
fn time(f: impl Fn()) -> [f64; 2] {
    f();
    f();
    let (start, cpu, mut count, mut best) = (Instant::now(), cpu_seconds(), 0, f64::INFINITY);
    while start.elapsed() < BUDGET || count < 3 {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed().as_secs_f64());
        count += 1;
    }
    [best, (cpu_seconds() - cpu) / f64::from(count)]
}

/// Processor time of this process; NaN if the system does not count it.
fn cpu_seconds() -> f64 {
    pace_checkout::cpu_seconds().unwrap_or(f64::NAN)
}

type Measure = Box<dyn Fn(bool)>;

/// Every operation at one shape.
fn measures([batch, n, d, n_heads, hidden]: [usize; 5]) -> Vec<(&'static str, Measure)> {
    let device = Device::flex().autodiff();
    let tensors = Source { device: device.clone(), d, hidden };
    let [x, memory] = [0, 1].map(|_| tensors.leaf([batch * n, d]));
    let (qkv, bias) = (tensors.leaf([batch * n, 3 * d]), causal(batch, n, &device));
    let encoder: Vec<_> = (0..3).map(|_| tensors.encoder()).collect();
    let decoder = vec![tensors.decoder()];
    let config = move |p: f64| {
        let dropout = if p > 0.0 { Dropout::new(p, 7) } else { Dropout::NONE };
        BlockConfig { n_heads, epsilon: 1e-5, norm: NormPlacement::Post, dropout }
    };
    let stack = |layers: usize, p: f64| -> Measure {
        let (x, bias, params) = (x.clone(), bias.clone(), encoder[..layers].to_vec());
        Box::new(move |fused| {
            let f = if fused { kernel::encoder } else { plain::encoder };
            backward(f(x.clone(), bias.clone(), params.clone(), &config(p)));
        })
    };
    let (q, mask) = (qkv, bias.clone());
    let attention = move |fused: bool| {
        let f = if fused { kernel::attention } else { plain::attention };
        backward(f(q.clone(), Some(mask.clone()), batch, n_heads, Dropout::NONE));
    };
    let (residual, y, norm) = (x.clone(), memory.clone(), tensors.norm());
    let add_norm = move |fused: bool| {
        let f = if fused { kernel::add_norm } else { plain::add_norm };
        backward(f(residual.clone(), y.clone(), norm.clone(), 1e-5, Dropout::NONE));
    };
    let (target, memory, own) = (x.clone(), memory, bias.clone());
    let decoder_layer = move |fused: bool| {
        let masks = Masks { own: own.clone(), memory: Some(own.clone()) };
        let f = if fused { kernel::decoder } else { plain::decoder };
        backward(f(target.clone(), memory.clone(), masks, decoder.clone(), &config(0.0)));
    };
    let (input, mask, params) = (x.clone().inner(), bias.clone().inner(), tensors.inner(&encoder));
    let inference = move |fused: bool| {
        let f = if fused { kernel::encoder } else { plain::encoder };
        f(input.clone(), mask.clone(), params.clone(), &config(0.0)).into_data();
    };
    // The last row of every graph, in training and in inference.
    let last: Vec<u32> = (1..=batch).map(|graph| (graph * n) as u32 - 1).collect();
    let rows = |x: Tensor<2>, bias: Tensor<3>, params: Vec<EncoderParams>, last: Vec<u32>| {
        let places = last.iter().map(|&row| row as i32).collect::<Vec<_>>();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [batch]), &x.device());
        move |fused: bool| match fused {
            true => kernel::encoder_rows(x.clone(), bias.clone(), &last, params.clone(), &config(0.0)),
            false => plain::encoder(x.clone(), bias.clone(), params.clone(), &config(0.0)).select(0, places.clone()),
        }
    };
    let read_train = rows(x.clone(), bias.clone(), encoder.clone(), last.clone());
    let read = rows(x.clone().inner(), bias.clone().inner(), tensors.inner(&encoder), last);
    let (nodes, features, embedding) = tensors.embedding(batch, n);
    let embed = move |fused: bool| {
        let f = if fused { kernel::node_embedding } else { plain::node_embedding };
        backward(f(nodes.clone(), features.clone(), embedding.clone(), false, Dropout::NONE));
    };
    let params = tensors.inner(&encoder);
    // Six kinds of nodes, as in ENAS: shows what inference gains if graphs begin alike. The twin computes every row.
    let kinds: Vec<u32> = (0..batch * n).map(|row| (row / n * (row % n + 1) * 7 % 6) as u32).collect();
    let pasts = Pasts::new(&kinds, n, |row, keys| keys.extend(0..=(row % n) as u32)).expect("chains look back");
    let rows: Vec<i32> = kinds.iter().map(|&kind| kind as i32).collect();
    let rows = Tensor::from_data(TensorData::new(rows, [batch * n]), &device.clone().inner());
    let (distinct, mask) = (x.clone().inner().narrow(0, 0, 6), bias.clone().inner());
    let inference_shared = move |fused: bool| {
        let y = match fused {
            true => {
                pasts.expand(kernel::shared_encoder(distinct.clone(), &pasts, None, params.clone(), &config(0.0)), None)
            }
            false => {
                plain::encoder(distinct.clone().select(0, rows.clone()), mask.clone(), params.clone(), &config(0.0))
            }
        };
        drop(y.into_data());
    };
    // Packed rows. Each attends to itself and to the rows after it, up to a tenth of its graph: about the pairs of a tree.
    let ends = |row: usize| (row + 1 + (row * 7 % n) / 10).min((row / n + 1) * n);
    let offsets = (0..=batch * n).map(|row| (0..row).map(|row| ends(row) - row).sum::<usize>() as u32).collect();
    let keys = (0..batch * n).flat_map(|row| row as u32..ends(row) as u32).collect();
    let lists = PairLists::new(offsets, keys, &device.clone().inner());
    let (input, params) = (x.clone().inner(), tensors.inner(&encoder));
    let inference_sparse = move |fused: bool| {
        let f = if fused { kernel::sparse_encoder } else { plain::sparse_encoder };
        f(input.clone(), &lists, params.clone(), &config(0.0)).into_data();
    };
    let (o, heads, lengths) = (x.clone(), tensors.heads(), vec![n; batch]);
    let (tokens, edges) = (vec![1; batch * n], Tensor::ones([batch, n, n], &device));
    let graph_nll = move |fused: bool| {
        let truth = Truth { tokens: &tokens, lengths: &lengths, edges: &edges };
        let f = if fused { kernel::graph_nll } else { plain::graph_nll };
        backward(f(o.clone(), truth, heads.clone()).reshape([batch, 1]));
    };
    let [w, g, m, v] = [0; 4].map(|_| tensors.leaf([batch * n, 3 * d]).inner().abs());
    // Each step starts from the result of the one before, as in training, so that it can write in place.
    let state = std::cell::RefCell::new(Some((w, [m, v])));
    let adam = move |fused: bool| {
        let f = if fused { AdamStep::take } else { plain::adam };
        let step = AdamStep { lr: 1e-4, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay: 0.0, time: 7 };
        let (w, moments) = state.take().expect("put back by the call before");
        *state.borrow_mut() = Some(f(&step, w, g.clone(), moments));
    };
    vec![
        ("adam", Box::new(adam)),
        ("graph_nll", Box::new(graph_nll)),
        ("node_embedding", Box::new(embed)),
        ("attention", Box::new(attention)),
        ("add_norm", Box::new(add_norm)),
        ("encoder_layer", stack(1, 0.0)),
        ("decoder_layer", Box::new(decoder_layer)),
        ("encoder_3", stack(3, 0.0)),
        ("encoder_3_dropout", stack(3, 0.15)),
        ("encoder_3_rows", Box::new(move |fused| backward(read_train(fused)))),
        ("encoder_3_rows_inference", Box::new(move |fused| drop(read(fused).into_data()))),
        ("encoder_3_inference", Box::new(inference)),
        ("encoder_3_inference_shared", Box::new(inference_shared)),
        ("encoder_3_inference_sparse", Box::new(inference_sparse)),
    ]
}

fn backward(y: Tensor<2>) {
    drop(y.sum().backward());
}

/// Ancestors of a chain: what PACE attends to on NA.
fn causal(batch: usize, n: usize, device: &Device) -> Tensor<3> {
    let one: Vec<f32> = (0..n * n).map(|index| if index % n <= index / n { 0.0 } else { f32::NEG_INFINITY }).collect();
    Tensor::from_data(TensorData::new(one.repeat(batch), [batch, n, n]), device)
}

/// Makes the parameters.
struct Source {
    device: Device,
    d: usize,
    hidden: usize,
}

impl Source {
    fn leaf<const D: usize>(&self, shape: [usize; D]) -> Tensor<D> {
        Tensor::random(shape, Distribution::Uniform(-0.2, 0.2), &self.device).require_grad()
    }

    fn linear(&self, d_in: usize, d_out: usize) -> (Tensor<2>, Tensor<1>) {
        (self.leaf([d_in, d_out]), self.leaf([d_out]))
    }

    fn norm(&self) -> NormParams {
        NormParams { gamma: self.leaf([self.d]), beta: self.leaf([self.d]) }
    }

    fn attention(&self) -> SelfAttentionParams {
        let ((wqkv, bqkv), (wo, bo)) = (self.linear(self.d, 3 * self.d), self.linear(self.d, self.d));
        SelfAttentionParams { wqkv, bqkv, wo, bo }
    }

    fn feed_forward(&self) -> FeedForwardParams {
        let ((w1, b1), (w2, b2)) = (self.linear(self.d, self.hidden), self.linear(self.hidden, self.d));
        FeedForwardParams { w1, b1, w2, b2 }
    }

    fn encoder(&self) -> EncoderParams {
        EncoderParams {
            attention: self.attention(),
            norm_attention: self.norm(),
            feed_forward: self.feed_forward(),
            norm_feed_forward: self.norm(),
        }
    }

    fn decoder(&self) -> DecoderParams {
        let EncoderParams { attention, norm_attention, feed_forward, norm_feed_forward } = self.encoder();
        let ((wq, bq), (wkv, bkv)) = (self.linear(self.d, self.d), self.linear(self.d, 2 * self.d));
        let (wo, bo) = self.linear(self.d, self.d);
        let cross = CrossAttentionParams { wq, bq, wkv, bkv, wo, bo };
        DecoderParams { attention, norm_attention, cross, norm_cross: self.norm(), feed_forward, norm_feed_forward }
    }

    /// The nodes of chains with 9 operations, and the embedding of PACE-VAE.
    fn embedding(&self, batch: usize, n: usize) -> (Tensor<1, Int>, Tensor<2>, EmbeddingParams) {
        let (rows, half) = (batch * n, self.d / 2);
        let tokens: Vec<i32> = (0..rows).map(|row| (row * 7 % 9) as i32).collect();
        let mut features = vec![0.0; rows * 2 * n];
        for (row, features) in features.chunks_exact_mut(2 * n).enumerate() {
            features[row % n] = 1.0;
            (0..row % n)
                .filter(|before| (row / n + before).is_multiple_of(2))
                .for_each(|before| features[n + before] = 1.0);
        }
        let (weight, bias) = self.linear(9, half);
        let params =
            EmbeddingParams { weight, bias, first: self.leaf([2 * n, self.d]), second: self.leaf([self.d, half]) };
        let tokens = Tensor::from_data(TensorData::new(tokens, [rows]), (&self.device, DType::I32));
        (tokens, Tensor::from_data(TensorData::new(features, [rows, 2 * n]), &self.device), params)
    }

    /// The heads of PACE-VAE: 32 hidden units, 9 operations.
    fn heads(&self) -> HeadParams {
        let ((w1, b1), (w2, b2)) = (self.linear(self.d, 32), self.linear(32, 9));
        let ((target, bias), (out, out_bias)) = (self.linear(self.d, self.d), self.linear(self.d, 1));
        let source = self.leaf([self.d, self.d]);
        HeadParams { w1, b1: Some(b1), w2, b2: Some(b2), target, bias, source, out, out_bias }
    }

    /// The same parameters off the graph.
    fn inner(&self, layers: &[EncoderParams]) -> Vec<EncoderParams> {
        let norm = |p: &NormParams| NormParams { gamma: p.gamma.clone().inner(), beta: p.beta.clone().inner() };
        let map = |(w, b): (&Tensor<2>, &Tensor<1>)| (w.clone().inner(), b.clone().inner());
        let layer = |p: &EncoderParams| {
            let ((wqkv, bqkv), (wo, bo)) =
                (map((&p.attention.wqkv, &p.attention.bqkv)), map((&p.attention.wo, &p.attention.bo)));
            let ((w1, b1), (w2, b2)) =
                (map((&p.feed_forward.w1, &p.feed_forward.b1)), map((&p.feed_forward.w2, &p.feed_forward.b2)));
            EncoderParams {
                attention: SelfAttentionParams { wqkv, bqkv, wo, bo },
                norm_attention: norm(&p.norm_attention),
                feed_forward: FeedForwardParams { w1, b1, w2, b2 },
                norm_feed_forward: norm(&p.norm_feed_forward),
            }
        };
        layers.iter().map(layer).collect()
    }
}
