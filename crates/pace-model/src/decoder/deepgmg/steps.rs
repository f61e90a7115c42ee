//! [`Steps`]: graphs that grow, all of a batch in step.

use burn::tensor::activation::{log_sigmoid, log_softmax};
use burn::tensor::{Device, Tensor};
use pace_graph::{Draft, Op};

use super::{DeepGmgDecoder, NEVER};
use crate::batch::{floats, ints};
use crate::decoder::{EdgePicker, Edges, NewNode, Stepper};
use crate::layers::{EdgeList, Segments};

/// B growing graphs.
pub(super) struct Steps<'a> {
    decoder: &'a DeepGmgDecoder,
    /// The states of all nodes, graph after graph, [B*n, D]. Those of finished graphs mean nothing.
    rows: Tensor<2>,
    /// Nodes of a graph, n.
    n_nodes: usize,
    n_graphs: usize,
    /// How often this round asked for edges.
    n_asked: usize,
    device: Device,
}

impl<'a> Steps<'a> {
    /// The start symbols. Shapes: z [B, Z].
    pub fn new(decoder: &'a DeepGmgDecoder, z: Tensor<2>) -> Steps<'a> {
        let ([n_graphs, _], device) = (z.dims(), z.device());
        Steps { decoder, rows: decoder.start(z), n_nodes: 1, n_graphs, n_asked: 0, device }
    }

    /// Which rows belong to which of some graphs.
    fn members(&self, n_graphs: usize) -> Segments {
        let members = (0..n_graphs as u32).flat_map(|graph| std::iter::repeat_n(graph, self.n_nodes));
        Segments::new(members.collect(), n_graphs, &self.device)
    }

    /// Adds a node to every graph.
    fn grow(&mut self, ops: impl Iterator<Item = Op>) {
        let (b, n, [_, d]) = (self.n_graphs, self.n_nodes, self.rows.dims());
        let ops = ints(ops.map(i32::from).collect(), [b], &self.device);
        let new = self.decoder.grow(self.rows.clone(), &self.members(b), ops).reshape([b, 1, d]);
        let rows = Tensor::cat(vec![self.rows.clone().reshape([b, n, d]), new], 1);
        self.n_nodes = n + 1;
        self.rows = rows.reshape([b * (n + 1), d]);
    }

    /// A propagation in A of the graphs. The others are left alone: it is not their turn. Shapes: the rows of those A [A*n, D], and
    /// their states [A, 2D].
    fn decide(&mut self, active: &[usize], drafts: &[Draft], new: &[Option<NewNode>]) -> (Tensor<2>, Tensor<2>) {
        let (a, b, n) = (active.len(), self.n_graphs, self.n_nodes);
        let (mut pairs, mut along) = (Vec::new(), vec![0; a * n]);
        let mut add = |place: usize, source: usize, target: usize| {
            let (from, to) = (place * n + source, place * n + target);
            pairs.extend([(from, to), (to, from)]);
            along[to] += 1;
        };
        for (place, &graph) in active.iter().enumerate() {
            let draft = &drafts[graph];
            for target in 1..draft.len() {
                draft.predecessors(target).iter().for_each(|&source| add(place, source, target));
            }
            // Real node k stands at position k + 1.
            let picked = new.get(graph).into_iter().flatten().flat_map(|new| &new.sources);
            picked.for_each(|&source| add(place, source + 1, n - 1));
        }
        let edges = EdgeList::new(pairs, a * n, &self.device);
        let of = |graph: usize| (graph * n..(graph + 1) * n).map(|row| row as i32);
        let own = ints(active.iter().flat_map(|&graph| of(graph)).collect(), [a * n], &self.device);
        let own = self.rows.clone().select(0, own);
        let (rows, states) = self.decoder.decide(own, &edges, &along, &self.members(a));
        let mut latest: Vec<usize> = (0..b).collect();
        active.iter().enumerate().for_each(|(place, &graph)| latest[graph] = b + place);
        let latest = ints(latest.into_iter().flat_map(of).collect(), [b * n], &self.device);
        self.rows = Tensor::cat(vec![self.rows.clone(), rows.clone()], 0).select(0, latest);
        (rows, states)
    }

    /// Answers about some graphs as answers about all; those about the others mean nothing. Shapes: [A, W] -> [B, W].
    fn spread(&self, active: &[usize], x: Tensor<2>) -> Tensor<2> {
        let mut places = vec![0; self.n_graphs];
        active.iter().enumerate().for_each(|(place, &graph)| places[graph] = place as i32);
        x.select(0, ints(places, [self.n_graphs], &self.device))
    }
}

impl Stepper for Steps<'_> {
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2> {
        let longest = drafts.iter().map(Draft::len).max().unwrap_or(1);
        // No edges were asked for, because there was nothing to read.
        if self.n_nodes < longest {
            self.grow(drafts.iter().map(|draft| draft.ops().last().copied().unwrap_or(0)));
        }
        let active: Vec<usize> = (0..drafts.len()).filter(|&graph| drafts[graph].len() == longest).collect();
        let (_, states) = self.decide(&active, drafts, &[]);
        self.n_asked = 0;
        self.spread(&active, self.decoder.op.forward(states))
    }

    fn edges(&mut self) -> Edges<'_> {
        Edges::Picked(self)
    }
}

impl EdgePicker for Steps<'_> {
    fn logits(&mut self, drafts: &[Draft], new: &[Option<NewNode>]) -> Tensor<2> {
        if self.n_asked == 0 {
            self.grow(new.iter().map(|new| new.as_ref().map_or(0, |new| new.op)));
        }
        // A graph that still picks got an edge each time it was asked.
        let sources = |graph: usize| new[graph].as_ref().map(|new| &new.sources[..]);
        let picks = |&graph: &usize| sources(graph).is_some_and(|sources| sources.len() == self.n_asked);
        let active: Vec<usize> = (0..new.len()).filter(picks).collect();
        self.n_asked += 1;
        let (rows, states) = self.decide(&active, drafts, new);
        let (a, n, [_, d]) = (active.len(), self.n_nodes, rows.dims());
        let (rows, t) = (rows.reshape([a, n, d]), n - 2);
        let node = rows.clone().slice([0..a, n - 1..n]).reshape([a, d]);
        let another = self.decoder.another(states, node).reshape([a, 1]);
        let barred = |&graph: &usize| -> Vec<f32> {
            let taken = |node: usize| sources(graph).is_some_and(|sources| sources.contains(&node));
            (0..t).map(|node| if taken(node) { NEVER } else { 0.0 }).collect()
        };
        let barred = floats(active.iter().flat_map(barred).collect(), [a, t], &self.device);
        let scores = self.decoder.source.forward(rows.slice([0..a, 1..n - 1]).reshape([a * t, d])).reshape([a, t]);
        let pick = log_sigmoid(another.clone()) + log_softmax(scores + barred, 1);
        self.spread(&active, Tensor::cat(vec![pick, log_sigmoid(another.neg())], 1))
    }
}
