//! The likelihood of graphs in stock operations.

use burn::tensor::Tensor;
use burn::tensor::activation::{log_softmax, relu};

use crate::batch::{floats, ints};
use crate::kernel::likelihood::{HeadParams, Truth};

/// Twin of [`graph_nll`](crate::kernel::graph_nll).
pub fn graph_nll(o: Tensor<2>, truth: Truth<'_>, params: HeadParams) -> Tensor<1> {
    let ([b, n, _], [_, d], device) = (truth.edges.dims(), o.dims(), o.device());
    // The last position speaks for nobody.
    let o = o.reshape([b, n, d]).slice([0..b, 0..n - 1]).reshape([b * (n - 1), d]);
    let (mut next, mut real) = (Vec::new(), Vec::new());
    for (tokens, &length) in truth.tokens.chunks_exact(n).zip(truth.lengths) {
        next.extend(tokens[1..].iter().map(|&token| i32::from(token)));
        real.extend((1..n).map(|node| if node < length { 1.0 } else { 0.0 }));
    }
    let hidden = relu(add_bias(o.clone().matmul(params.w1), params.b1));
    let logits = add_bias(hidden.matmul(params.w2), params.b2);
    let log_p = log_softmax(logits, 1).gather(1, ints(next, [b * (n - 1), 1], &device)).reshape([b, n - 1]);
    let node_nll = (log_p * floats(real, [b, n - 1], &device)).sum_dim(1).neg().reshape([b]);

    // Every pair (j, i), j < i, of positions 0..n - 1, graph after graph; real where both nodes exist.
    let (mut target, mut source, mut edge, mut real) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (graph, &length) in truth.lengths.iter().enumerate() {
        for (i, j) in (1..n - 1).flat_map(|i| (0..i).map(move |j| (i, j))) {
            target.push((graph * (n - 1) + i) as i32);
            source.push((graph * (n - 1) + j) as i32);
            edge.push(((graph * n + i + 1) * n + j + 1) as i32);
            real.push(if i + 1 < length { 1.0 } else { 0.0 });
        }
    }
    let total = target.len();
    if total == 0 {
        return node_nll;
    }
    let picked = |half: Tensor<2>, rows| half.select(0, ints(rows, [total], &device));
    let targets = picked(add_bias(o.clone().matmul(params.target), Some(params.bias)), target);
    let pairs = relu(targets + picked(o.matmul(params.source), source));
    let logits = add_bias(pairs.matmul(params.out), Some(params.out_bias)).reshape([total]);
    let labels = truth.edges.clone().reshape([b * n * n]).select(0, ints(edge, [total], &device));
    let edge_nll = binary_cross_entropy(logits, labels) * floats(real, [total], &device);
    node_nll + edge_nll.reshape([b, total / b]).sum_dim(1).reshape([b])
}

fn add_bias(x: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<2> {
    match bias {
        Some(bias) => x + bias.unsqueeze(),
        None => x,
    }
}

/// -y log s(x) - (1 - y) log(1 - s(x)), without overflow: max(x, 0) - x y + log(1 + exp(-|x|)).
fn binary_cross_entropy(logits: Tensor<1>, labels: Tensor<1>) -> Tensor<1> {
    let soft = (logits.clone().abs().neg().exp() + 1.0).log();
    relu(logits.clone()) - logits * labels + soft
}
