//! The likelihood of graphs under the heads of the decoder, as one operation: both classifiers, their cross-entropies and
//! all gradients, a few graphs at a time. In stock operations the pairs of nodes are gathered into tensors many times the
//! size of what they are made of.

use std::sync::Arc;

use burn::backend::TensorMetadata;

use crate::kernel::dropout::{Dropout, Site};
use crate::kernel::fused::autodiff::{Op, Primitive, primitive, values};
use crate::kernel::fused::block::stack::{Cut, map_groups};
use crate::kernel::fused::block::sublayer::{Block, Way};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Into, Panels, add_weight_grad, input_grad, linear, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::fused::simd::{LANES, Simd, get, kernel, map, put, sum};

/// Marks a position that speaks for no node.
const NOBODY: u32 = u32::MAX;

/// Inputs o [B*N, D], then the parameters in the order of [`Params`]; output [B, 1].
#[derive(Clone, Debug)]
pub(crate) struct LikelihoodOp {
    /// [B, N].
    pub(crate) tokens: Arc<[u32]>,
    /// `[B]`.
    pub(crate) lengths: Arc<[usize]>,
    /// [B, N, N], target before source.
    pub(crate) edges: Primitive,
}

/// Sizes of a call: N positions, of which the first N - 1 speak, width D, T operations.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    n: usize,
    d: usize,
    n_ops: usize,
}

impl Sizes {
    /// Positions of a graph that speak for a node.
    fn speakers(&self) -> usize {
        self.n - 1
    }

    /// Pairs j < i of them.
    fn pairs(&self) -> usize {
        self.speakers() * self.speakers().saturating_sub(1) / 2
    }
}

/// The parameters, the first edge layer as one map to [target ; source].
struct Params<'a> {
    /// w1 [D, F], b1 `[F]`, w2 [F, T], b2 `[T]`.
    node: [&'a [f32]; 4],
    /// [D, 2D].
    halves: Vec<f32>,
    /// w1, w2 and the halves, laid out: as they are on the way forward, transposed on the way back.
    maps: [Panels; 3],
    /// `[2D]`, nothing in the source's part.
    halves_bias: Vec<f32>,
    /// `[D]`.
    out: &'a [f32],
    out_bias: f32,
}

impl<'a> Params<'a> {
    fn new(inputs: &'a [Primitive], d: usize, way: Way) -> Params<'a> {
        let [target, bias, source, out, out_bias] = [5, 6, 7, 8, 9].map(|index| values(&inputs[index]));
        let rows = target.chunks_exact(d).zip(source.chunks_exact(d));
        let halves: Vec<f32> = rows.flat_map(|(target, source)| target.iter().chain(source).copied()).collect();
        let halves_bias = bias.iter().copied().chain(std::iter::repeat_n(0.0, d)).collect();
        let node = [1, 2, 3, 4].map(|i| values(&inputs[i]));
        let lay_out = |weight: &[f32], d_in: usize| match way {
            Way::Forward => Panels::new(weight, d_in),
            Way::Backward => Panels::transposed(weight, d_in),
        };
        let maps = [lay_out(node[0], d), lay_out(node[2], node[1].len()), lay_out(&halves, d)];
        Params { node, halves, maps, halves_bias, out, out_bias: out_bias[0] }
    }

    /// Zeros in the shape of w1, b1, w2, b2, halves, their bias, out, and its bias.
    fn zero_grads(&self) -> Vec<Buffer> {
        let node = self.node.iter().map(|param| param.len());
        let edge = [self.halves.len(), self.halves_bias.len(), self.out.len(), 1];
        node.chain(edge).map(Buffer::zeros).collect()
    }
}

/// What forward keeps of a group of graphs; R rows of speakers.
pub(crate) struct Kept {
    /// [R, D].
    o: Buffer,
    /// [R, F], after ReLU.
    hidden: Buffer,
    /// dnll/dlogit of the operations, [R, T].
    ops: Buffer,
    /// [R, 2D].
    halves: Buffer,
    /// dnll/dlogit of the edges, [graphs, pairs].
    edges: Buffer,
}

impl LikelihoodOp {
    fn sizes(&self, inputs: &[Primitive]) -> Sizes {
        Sizes { n: self.edges.shape()[1], d: inputs[0].shape()[1], n_ops: inputs[4].shape()[0] }
    }

    fn cut(&self, s: Sizes) -> Cut {
        Cut::new(self.lengths.len(), s.n, s.d)
    }

    /// The label of every speaker of a block, [R].
    fn labels(&self, s: Sizes, block: Block) -> Vec<u32> {
        let graphs = block.first..block.first + block.graphs;
        let label = |graph: usize, i: usize| match i < self.lengths[graph] {
            true => self.tokens[graph * s.n + i],
            false => NOBODY,
        };
        graphs.flat_map(|graph| (1..s.n).map(move |i| label(graph, i))).collect()
    }
}

impl Op for LikelihoodOp {
    type Kept = Vec<Kept>;

    fn forward(&self, inputs: &[Primitive], _keep: bool) -> (Primitive, Vec<Kept>) {
        let s = self.sizes(inputs);
        let (x, edges, params) = (values(&inputs[0]), values(&self.edges), Params::new(inputs, s.d, Way::Forward));
        let groups = map_groups(self.lengths.len(), self.cut(s), |block| {
            let rows = block.graphs * s.speakers();
            let o = speakers(s, &x[block.first * s.n * s.d..][..block.graphs * s.n * s.d]);
            let mut nll = vec![0.0; block.graphs];
            let mut hidden = linear_unbiased(&o, rows, &params.maps[0]);
            rows::relu_dropped(&mut hidden, params.node[1], no_dropout(), 0);
            let mut ops = linear(&hidden, rows, &params.maps[1], params.node[3]);
            cross_entropy(s, &self.labels(s, block), &mut ops, &mut nll);
            let halves = linear(&o, rows, &params.maps[2], &params.halves_bias);
            let mut slopes = Buffer::stale(block.graphs * s.pairs());
            let edges = &edges[block.first * s.n * s.n..][..block.graphs * s.n * s.n];
            let lengths = &self.lengths[block.first..block.first + block.graphs];
            link(s, lengths, edges, &halves, params.out, params.out_bias, &mut slopes, &mut nll);
            (nll, Kept { o, hidden, ops, halves, edges: slopes })
        });
        let (nll, kept): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        (primitive(nll.concat(), [self.lengths.len(), 1]), kept)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Vec<Kept>, dy: Primitive) -> Vec<Primitive> {
        let (s, dnll) = (self.sizes(inputs), values(&dy));
        let (cut, params) = (self.cut(s), Params::new(inputs, s.d, Way::Backward));
        let groups = map_groups(self.lengths.len(), cut, |block| {
            let dnll = &dnll[block.first..block.first + block.graphs];
            let mut grads = params.zero_grads();
            let dx = group_grads(s, &params, &kept[block.first / cut.group], dnll, &mut grads);
            (dx, grads)
        });
        let (dx, grads): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let mut grads = sum(&grads);
        let (halves, bias) = (std::mem::take(&mut grads[4]), std::mem::take(&mut grads[5]));
        let half = |from: usize| -> Vec<f32> {
            halves.chunks_exact(2 * s.d).flat_map(|row| row[from..from + s.d].iter().copied()).collect()
        };
        let [w1, b1, w2, b2, _, _, out, out_bias] =
            <[Vec<f32>; 8]>::try_from(grads).expect("as many gradients as parameters");
        let all = [dx.concat(), w1, b1, w2, b2, half(0), bias[..s.d].to_vec(), half(s.d), out, out_bias];
        all.into_iter().zip(inputs).map(|(grad, input)| primitive(grad, input.shape())).collect()
    }
}

/// The gradients of one group: added to `grads`, and that of o, [graphs * N, D], returned.
fn group_grads(s: Sizes, params: &Params<'_>, kept: &Kept, dnll: &[f32], grads: &mut [Buffer]) -> Vec<f32> {
    let (rows, d) = (dnll.len() * s.speakers(), s.d);
    let [w1, b1, w2, b2, halves, halves_bias, out, out_bias] = grads else {
        unreachable!("as many gradients as parameters")
    };
    let mut dops = Buffer::copy_of(&kept.ops);
    for (dops, dnll) in dops.chunks_exact_mut(s.speakers() * s.n_ops).zip(dnll) {
        dops.iter_mut().for_each(|slope| *slope *= dnll);
    }
    add_weight_grad(w2, &kept.hidden, &dops, rows);
    rows::add_rows(b2, &dops);
    let mut dhidden = Buffer::stale(kept.hidden.len());
    input_grad(&mut dhidden, Into::Replace, &dops, &params.maps[1]);
    rows::relu_dropped_grad(&mut dhidden, &kept.hidden, no_dropout());
    add_weight_grad(w1, &kept.o, &dhidden, rows);
    rows::add_rows(b1, &dhidden);
    let mut o = Buffer::stale(kept.o.len());
    input_grad(&mut o, Into::Replace, &dhidden, &params.maps[0]);

    let mut dhalves = Buffer::zeros(kept.halves.len());
    link_grad(s, dnll, &kept.edges, &kept.halves, params.out, &mut dhalves, out, out_bias);
    add_weight_grad(halves, &kept.o, &dhalves, rows);
    rows::add_rows(halves_bias, &dhalves);
    input_grad(&mut o, Into::Add, &dhalves, &params.maps[2]);

    let mut dx = vec![0.0; dnll.len() * s.n * d];
    for (dx, o) in dx.chunks_exact_mut(s.n * d).zip(o.chunks_exact(s.speakers() * d)) {
        dx[..o.len()].copy_from_slice(o);
    }
    dx
}

/// The vectors that speak for a node: all but the last of each graph. [graphs * N, D] -> [R, D].
fn speakers(s: Sizes, x: &[f32]) -> Buffer {
    let mut o = Buffer::stale(x.len() / s.n * s.speakers());
    for (o, x) in o.chunks_exact_mut(s.speakers() * s.d).zip(x.chunks_exact(s.n * s.d)) {
        o.copy_from_slice(&x[..o.len()]);
    }
    o
}

fn no_dropout() -> Site {
    Dropout::NONE.site(0)
}

/// Adds the groups' gradients up in order.
fn sum(groups: &[Vec<Buffer>]) -> Vec<Vec<f32>> {
    let [first, others @ ..] = groups else { unreachable!("a batch has at least one group") };
    let mut total: Vec<Vec<f32>> = first.iter().map(|grad| grad.to_vec()).collect();
    for other in others {
        total.iter_mut().zip(other).for_each(|(total, other)| rows::add(total, other));
    }
    total
}

kernel! {
    /// Logits [R, T] become softmax(logits) - onehot(label), their slopes; -log p(label) is added to the graph's nll.
    fn cross_entropy(s: Sizes, labels: &[u32], logits: &mut [f32], nll: &mut [f32]) = cross_entropy_body
}

#[inline(always)]
fn cross_entropy_body<S: Simd>(simd: S, s: Sizes, labels: &[u32], logits: &mut [f32], nll: &mut [f32]) {
    for (index, (row, &label)) in logits.chunks_exact_mut(s.n_ops).zip(labels).enumerate() {
        if label == NOBODY {
            row.fill(0.0);
            continue;
        }
        // Not f32::max, which would let a NaN disappear.
        let top = row.iter().copied().fold(f32::NEG_INFINITY, |top, x| if x <= top { top } else { x });
        let own = row[label as usize] - top;
        let top = simd.splat(top);
        map!(simd, row, [], |_, x, []| simd.exp(simd.sub(x, top)));
        let total = sum!(simd, [row], |[x]| x);
        nll[index / (s.n - 1)] += total.ln() - own;
        let inverse = simd.splat(1.0 / total);
        map!(simd, row, [], |_, x, []| simd.mul(x, inverse));
        row[label as usize] -= 1.0;
    }
}

kernel! {
    /// The binary cross-entropy of every pair of nodes, added to the graph's nll, and its slope by the logit.
    ///
    /// The logit of edge j + 1 -> i + 1 is out . ReLU(target_i + source_j) + bias.
    fn link(
        s: Sizes,
        lengths: &[usize],
        edges: &[f32],
        halves: &[f32],
        out: &[f32],
        bias: f32,
        slopes: &mut [f32],
        nll: &mut [f32],
    ) = link_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn link_body<S: Simd>(
    simd: S,
    s: Sizes,
    lengths: &[usize],
    edges: &[f32],
    halves: &[f32],
    out: &[f32],
    bias: f32,
    slopes: &mut [f32],
    nll: &mut [f32],
) {
    let (n, d, width) = (s.n, s.d, s.speakers() * 2 * s.d);
    let mut rest = slopes;
    for (graph, (&length, nll)) in lengths.iter().zip(nll).enumerate() {
        let (halves, edges) = (&halves[graph * width..][..width], &edges[graph * n * n..][..n * n]);
        for i in 1..s.speakers() {
            let (slopes, others) = std::mem::take(&mut rest).split_at_mut(i);
            rest = others;
            if i + 1 >= length {
                slopes.fill(0.0);
                continue;
            }
            // First the logits of all sources, then everything else for sixteen of them at a time.
            let target = &halves[i * 2 * d..][..d];
            for (j, logit) in slopes.iter_mut().enumerate() {
                *logit = score(simd, target, &halves[(j * 2 + 1) * d..][..d], out) + bias;
            }
            let labels = &edges[(i + 1) * n + 1..][..i];
            let [zero, one] = [0.0, 1.0].map(|x| simd.splat(x));
            map!(simd, slopes, [labels], |at, logit, [label]| {
                let decay = simd.exp(simd.sub(zero, simd.abs(logit)));
                let positive = relu(simd, logit);
                let losses = simd.sub(positive, simd.mul(logit, label));
                let (mut parts, mut decays) = ([0.0; LANES], [0.0; LANES]);
                simd.store(losses, &mut parts);
                simd.store(decay, &mut decays);
                for (part, decay) in parts.iter().zip(&decays).take(i - at) {
                    *nll += part + decay.ln_1p();
                }
                let likely = simd.div(one, simd.add(one, decay));
                let likely = simd.select(simd.gt(zero, logit), simd.sub(one, likely), likely);
                simd.sub(likely, label)
            });
        }
    }
}

kernel! {
    /// The gradient of [`link`]: added to that of the halves [R, 2D], of out `[D]` and of its bias.
    fn link_grad(
        s: Sizes,
        dnll: &[f32],
        slopes: &[f32],
        halves: &[f32],
        out: &[f32],
        dhalves: &mut [f32],
        dout: &mut [f32],
        dbias: &mut [f32],
    ) = link_grad_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn link_grad_body<S: Simd>(
    simd: S,
    s: Sizes,
    dnll: &[f32],
    slopes: &[f32],
    halves: &[f32],
    out: &[f32],
    dhalves: &mut [f32],
    dout: &mut [f32],
    dbias: &mut [f32],
) {
    let (d, width) = (s.d, s.speakers() * 2 * s.d);
    let (out, dout) = (&out[..d], &mut dout[..d]);
    let mut slopes = slopes.iter();
    for (graph, &dnll) in dnll.iter().enumerate() {
        let halves = &halves[graph * width..][..width];
        let dhalves = &mut dhalves[graph * width..][..width];
        for i in 1..s.speakers() {
            let target = &halves[i * 2 * d..][..d];
            // Sources come before their target.
            let (before, from) = dhalves.split_at_mut(i * 2 * d);
            let dtarget = &mut from[..d];
            for (j, slope) in (0..i).zip(&mut slopes) {
                let slope = slope * dnll;
                dbias[0] += slope;
                let (source, dsource) = (&halves[(j * 2 + 1) * d..][..d], &mut before[(j * 2 + 1) * d..][..d]);
                let (slope, zero) = (simd.splat(slope), simd.zero());
                for k in 0..d.div_ceil(LANES) {
                    let sum = simd.add(get(simd, target, k), get(simd, source, k));
                    put(simd, simd.fma(slope, relu(simd, sum), get(simd, dout, k)), dout, k);
                    let back = simd.select(simd.gt(sum, zero), simd.mul(slope, get(simd, out, k)), zero);
                    put(simd, simd.add(get(simd, dtarget, k), back), dtarget, k);
                    put(simd, simd.add(get(simd, dsource, k), back), dsource, k);
                }
            }
        }
    }
}

/// out . ReLU(target + source).
#[inline(always)]
fn score<S: Simd>(simd: S, target: &[f32], source: &[f32], out: &[f32]) -> f32 {
    let mut total = simd.zero();
    for k in 0..out.len().div_ceil(LANES) {
        let sum = simd.add(get(simd, target, k), get(simd, source, k));
        total = simd.fma(relu(simd, sum), get(simd, out, k), total);
    }
    simd.total(total)
}

/// A NaN stays one, so that a training that diverged is noticed.
#[inline(always)]
fn relu<S: Simd>(simd: S, x: S::V) -> S::V {
    simd.select(simd.gt(simd.zero(), x), simd.zero(), x)
}
