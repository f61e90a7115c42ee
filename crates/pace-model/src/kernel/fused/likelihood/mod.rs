//! The likelihood of graphs under the heads of the decoder, as one operation: both classifiers, their cross-entropies and
//! all gradients, a few graphs at a time. Stock operations gather the pairs of nodes into tensors many times as large as their
//! nodes.

mod edges;
mod nodes;

use std::sync::Arc;

use burn::backend::TensorMetadata;

use self::edges::{EdgeGrads, EdgeHead, Edges, link, link_grad};
use self::nodes::cross_entropy;
use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::block::Chunk;
use super::block::cut::{Cut, map_groups};
use super::buffer::Buffer;
use super::named::{Named, named, with_parts};
use super::products::{Into, Panels, Way, add_weight_grad, input_grad, linear, linear_unbiased};
use super::rows;
use crate::kernel::dropout::{Dropout, Site};

/// Marks a position that predicts no node.
const NOBODY: u32 = u32::MAX;

named! {
    /// The inputs. Shapes: o [B*N, D]; of the node head w1 [D, F], b1 `[F]`, w2 [F, T], b2 `[T]`; of the edge head target and source
    /// [D, D], bias `[D]`, out [D, 1], out_bias `[1]`.
    LikelihoodView { o, w1, b1, w2, b2, target, bias, source, out, out_bias }
}

named! {
    /// The gradients of the parameters, those of target and source side by side in `halves` [D, 2D], their bias `[2D]`.
    HeadGrads { w1, b1, w2, b2, halves, halves_bias, out, out_bias }
}

/// [`graph_nll`](crate::kernel::graph_nll) as Burn sees it; output [B, 1].
#[derive(Clone, Debug)]
pub(crate) struct LikelihoodOp {
    /// [B, N].
    pub(crate) tokens: Arc<[u32]>,
    /// `[B]`.
    pub(crate) lengths: Arc<[usize]>,
    /// [B, N, N], target before source.
    pub(crate) edges: Primitive,
}

/// Sizes of a call: N positions, of which the first N - 1 are speakers, width D, T operations.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    n: usize,
    d: usize,
    n_ops: usize,
}

impl Sizes {
    /// How many positions of a graph are speakers: position i predicts node i + 1 and its edges.
    fn speakers(&self) -> usize {
        self.n - 1
    }

    /// Pairs j < i of them.
    fn pairs(&self) -> usize {
        self.speakers() * self.speakers().saturating_sub(1) / 2
    }
}

/// The parameters, with the first edge layer as one map to [target ; source].
struct Params<'a> {
    inputs: LikelihoodView<&'a [f32]>,
    /// [D, 2D].
    halves: Vec<f32>,
    /// `[2D]`, zeros in the source's part.
    halves_bias: Vec<f32>,
    maps: Maps,
}

/// The weights, laid out: as they are on the way forward, transposed on the way back.
struct Maps {
    w1: Panels,
    w2: Panels,
    halves: Panels,
}

impl<'a> Params<'a> {
    fn new(inputs: LikelihoodView<&'a Primitive>, d: usize, way: Way) -> Params<'a> {
        let inputs = inputs.map(values);
        let rows = inputs.target.chunks_exact(d).zip(inputs.source.chunks_exact(d));
        let halves: Vec<f32> = rows.flat_map(|(target, source)| target.iter().chain(source).copied()).collect();
        let halves_bias = inputs.bias.iter().copied().chain(std::iter::repeat_n(0.0, d)).collect();
        let maps = Maps {
            w1: way.panels(inputs.w1, d),
            w2: way.panels(inputs.w2, inputs.b1.len()),
            halves: way.panels(&halves, d),
        };
        Params { inputs, halves, halves_bias, maps }
    }

    /// Zeros to add gradients to.
    fn zero_grads(&self) -> HeadGrads<Buffer> {
        let LikelihoodView { w1, b1, w2, b2, out, out_bias, .. } = self.inputs;
        let (halves, halves_bias) = (&self.halves[..], &self.halves_bias[..]);
        let params = HeadGrads { w1, b1, w2, b2, halves, halves_bias, out, out_bias };
        params.map(|param| Buffer::zeros(param.len()))
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
    fn sizes(&self, inputs: &LikelihoodView<&Primitive>) -> Sizes {
        Sizes { n: self.edges.shape()[1], d: inputs.o.shape()[1], n_ops: inputs.b2.shape()[0] }
    }

    fn cut(&self, s: Sizes) -> Cut {
        Cut::new(self.lengths.len(), s.n, s.d)
    }

    /// The label of every speaker of a chunk, `[R]`.
    fn labels(&self, s: Sizes, chunk: Chunk) -> Vec<u32> {
        let graphs = chunk.first..chunk.first + chunk.graphs;
        let label = |graph: usize, i: usize| match i < self.lengths[graph] {
            true => self.tokens[graph * s.n + i],
            false => NOBODY,
        };
        graphs.flat_map(|graph| (1..s.n).map(move |i| label(graph, i))).collect()
    }
}

impl Op for LikelihoodOp {
    type Inputs<T> = LikelihoodView<T>;
    type Kept = Vec<Kept>;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> LikelihoodView<T> {
        LikelihoodView::take(list)
    }

    fn listed<T>(inputs: LikelihoodView<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: LikelihoodView<&Primitive>, _keep: bool) -> (Primitive, Vec<Kept>) {
        let s = self.sizes(&inputs);
        let (edges, params) = (values(&self.edges), Params::new(inputs, s.d, Way::Forward));
        let (p, maps) = (params.inputs, &params.maps);
        let groups = map_groups(self.lengths.len(), self.cut(s), |chunk| {
            let rows = chunk.graphs * s.speakers();
            let o = speakers(s, &p.o[chunk.first * s.n * s.d..][..chunk.graphs * s.n * s.d]);
            let mut nll = vec![0.0; chunk.graphs];
            let mut hidden = linear_unbiased(&o, rows, &maps.w1);
            rows::relu_dropped(&mut hidden, p.b1, no_dropout(), 0);
            let mut ops = linear(&hidden, rows, &maps.w2, p.b2);
            cross_entropy(s, &self.labels(s, chunk), &mut ops, &mut nll);
            let halves = linear(&o, rows, &maps.halves, &params.halves_bias);
            let mut slopes = Buffer::stale(chunk.graphs * s.pairs());
            let truth = Edges {
                lengths: &self.lengths[chunk.first..chunk.first + chunk.graphs],
                edges: &edges[chunk.first * s.n * s.n..][..chunk.graphs * s.n * s.n],
            };
            link(EdgeHead { s, halves: &halves, out: p.out }, p.out_bias[0], truth, &mut slopes, &mut nll);
            (nll, Kept { o, hidden, ops, halves, edges: slopes })
        });
        let (nll, kept): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        (primitive(nll.concat(), [self.lengths.len(), 1]), kept)
    }

    fn backward(&self, inputs: LikelihoodView<&Primitive>, kept: &Vec<Kept>, dy: &[f32]) -> LikelihoodView<Primitive> {
        let s = self.sizes(&inputs);
        let (cut, params) = (self.cut(s), Params::new(inputs, s.d, Way::Backward));
        let groups = map_groups(self.lengths.len(), cut, |chunk| {
            let dnll = &dy[chunk.first..chunk.first + chunk.graphs];
            let mut grads = params.zero_grads();
            let dx = group_grads(s, &params, &kept[chunk.first / cut.group], dnll, &mut grads);
            (dx, grads)
        });
        let (dx, grads): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let HeadGrads { w1, b1, w2, b2, halves, halves_bias, out, out_bias } = sum(&grads);
        let half = |from: usize| -> Vec<f32> {
            halves.chunks_exact(2 * s.d).flat_map(|row| row[from..from + s.d].iter().copied()).collect()
        };
        let (target, bias, source) = (half(0), halves_bias[..s.d].to_vec(), half(s.d));
        let grads = LikelihoodView { o: dx.concat(), w1, b1, w2, b2, target, bias, source, out, out_bias };
        grads.map(gradient)
    }
}

/// The gradients of one group: added to `grads`, and that of o, [graphs * N, D], returned.
fn group_grads(s: Sizes, params: &Params<'_>, kept: &Kept, dnll: &[f32], grads: &mut HeadGrads<Buffer>) -> Vec<f32> {
    let (rows, d) = (dnll.len() * s.speakers(), s.d);
    let mut dops = Buffer::copy_of(&kept.ops);
    for (dops, dnll) in dops.chunks_exact_mut(s.speakers() * s.n_ops).zip(dnll) {
        dops.iter_mut().for_each(|slope| *slope *= dnll);
    }
    add_weight_grad(&mut grads.w2, &kept.hidden, &dops, rows);
    rows::add_rows(&mut grads.b2, &dops);
    let mut dhidden = Buffer::stale(kept.hidden.len());
    input_grad(&mut dhidden, Into::Replace, &dops, &params.maps.w2);
    rows::relu_dropped_grad(&mut dhidden, &kept.hidden, no_dropout());
    add_weight_grad(&mut grads.w1, &kept.o, &dhidden, rows);
    rows::add_rows(&mut grads.b1, &dhidden);
    let mut o = Buffer::stale(kept.o.len());
    input_grad(&mut o, Into::Replace, &dhidden, &params.maps.w1);

    let mut dhalves = Buffer::zeros(kept.halves.len());
    let head = EdgeHead { s, halves: &kept.halves, out: params.inputs.out };
    let edge_grads = EdgeGrads { halves: &mut dhalves, out: &mut grads.out, bias: &mut grads.out_bias };
    link_grad(head, dnll, &kept.edges, edge_grads);
    add_weight_grad(&mut grads.halves, &kept.o, &dhalves, rows);
    rows::add_rows(&mut grads.halves_bias, &dhalves);
    input_grad(&mut o, Into::Add, &dhalves, &params.maps.halves);

    let mut dx = vec![0.0; dnll.len() * s.n * d];
    for (dx, o) in dx.chunks_exact_mut(s.n * d).zip(o.chunks_exact(s.speakers() * d)) {
        dx[..o.len()].copy_from_slice(o);
    }
    dx
}

/// The vectors of the speakers: all but the last of each graph. [graphs * N, D] -> [R, D].
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
fn sum(groups: &[HeadGrads<Buffer>]) -> HeadGrads<Vec<f32>> {
    let [first, others @ ..] = groups else { unreachable!("a batch has at least one group") };
    let mut total = first.each_ref().map(|grad| grad.to_vec());
    for (total, parts) in with_parts(total.each_mut().list(), others.iter().map(|part| part.each_ref().list())) {
        parts.iter().for_each(|part| rows::add(total, part));
    }
    total
}
