//! [`Steps`]: the decoder while it grows a batch of graphs, node by node and edge by edge.
//!
//! What a node tells is final as soon as its edges are decided, and is kept. The state of the new node is computed anew for those
//! graphs alone in which it got an edge.

use burn::tensor::{Device, Int, Tensor};
use pace_graph::Draft;

use super::{DvaeDecoder, GraphState};
use crate::batch::ints;
use crate::decoder::{DagDecoder, Edges, EdgesInTurn, NewNode, Stepper, Turns};
use crate::layers::{Segments, Told};

/// A batch of B graphs being decoded in step.
pub(super) struct Steps<'a> {
    decoder: &'a DvaeDecoder,
    /// H0, [B, D].
    start: Tensor<2>,
    /// For each layer, what the positions so far tell, [B, W] each; the start symbol's is H0.
    told: Vec<Vec<Told>>,
    /// The sources' part of the edge layer at the real nodes so far, [B, F] each.
    sources: Vec<Tensor<2>>,
    /// What the next operation is predicted from, [B, D].
    graph_state: Tensor<2>,
    /// The new nodes' part of the edge layer by operation, while they have no edge, [T, F].
    bare: Tensor<2>,
    /// The new nodes' part of the edge layer, [B, F], and how many sources it knows of each; `None` before the first question.
    target: Option<(Tensor<2>, Vec<usize>)>,
    batch: usize,
    device: Device,
}

impl<'a> Steps<'a> {
    /// Ready for the start symbol. Shapes: z [B, Z].
    pub fn new(decoder: &'a DvaeDecoder, z: Tensor<2>) -> Steps<'a> {
        let ([batch, _], device) = (z.dims(), z.device());
        let start = decoder.start(z);
        let told = decoder.recursion.layers().iter().map(|layer| vec![layer.give(start.clone())]).collect();
        let mut steps = Steps {
            graph_state: start.clone(),
            bare: start.clone(),
            start,
            told,
            sources: Vec::new(),
            target: None,
            batch,
            device,
            decoder,
        };
        let ops: Vec<u32> = (0..decoder.layout().spec.n_ops() as u32).collect();
        let alone: Vec<(usize, Vec<usize>)> = ops.iter().map(|_| (0, Vec::new())).collect();
        let states = steps.states(&ops, &alone).pop().expect("at least one layer");
        steps.bare = decoder.heads.target(states);
        steps
    }

    /// The states of nodes by their operations, graphs and sources (positions, in the order in which they are summed), by layer.
    /// Shapes: R nodes -> [R, D] for each layer.
    fn states(&self, ops: &[u32], nodes: &[(usize, Vec<usize>)]) -> Vec<Tensor<2>> {
        let targets =
            nodes.iter().enumerate().flat_map(|(row, (_, sources))| vec![row as u32; sources.len()]).collect();
        let segments = Segments::new(targets, nodes.len(), &self.device);
        let place = |(graph, sources): &(usize, Vec<usize>)| -> Vec<u32> {
            sources.iter().map(|&position| (position * self.batch + graph) as u32).collect()
        };
        let heard: Vec<u32> = nodes.iter().flat_map(place).collect();
        let mut states: Vec<Tensor<2>> = Vec::new();
        for (layer, told) in self.decoder.recursion.layers().iter().zip(&self.told) {
            let heard = (!heard.is_empty()).then(|| Tensor::cat(told.clone(), 0).select(0, self.indices(&heard)));
            states.push(layer.hear(layer.inputs(states.last(), ops), heard, &segments));
        }
        states
    }

    /// Takes in the newest node of every graph. Finished graphs get one without meaning.
    fn advance(&mut self, drafts: &[Draft]) {
        let t = self.told[0].len();
        let pad = self.decoder.layout().pad;
        let op = |draft: &Draft| u32::from(draft.ops().get(t).copied().unwrap_or(pad));
        let ops: Vec<u32> = drafts.iter().map(op).collect();
        let sources = |(graph, draft): (usize, &Draft)| match t < draft.len() {
            // Newest first, as in `Forced`.
            true => (graph, draft.predecessors(t).iter().rev().copied().collect()),
            false => (graph, vec![0]),
        };
        let nodes: Vec<(usize, Vec<usize>)> = drafts.iter().enumerate().map(sources).collect();
        let states = self.states(&ops, &nodes);
        for ((layer, told), state) in self.decoder.recursion.layers().iter().zip(&mut self.told).zip(&states) {
            told.push(layer.tell(state.clone(), &ops, t as u32));
        }
        let state = states.last().expect("at least one layer").clone();
        self.sources.push(self.decoder.heads.source(state.clone(), self.start.clone()));
        self.graph_state = match self.decoder.config.graph_state {
            GraphState::Sum if t > 1 => self.graph_state.clone() + state,
            GraphState::Latest | GraphState::Sum => state,
        };
    }

    /// The new nodes' part of the edge layer, with the sources they have now. Shapes: [B, F].
    fn target(&mut self, new: &[Option<NewNode>]) -> Tensor<2> {
        let op = |new: &Option<NewNode>| new.as_ref().map_or(0, |new| u32::from(new.op));
        let (target, known) = self.target.take().unwrap_or_else(|| {
            let ops: Vec<u32> = new.iter().map(op).collect();
            (self.bare.clone().select(0, self.indices(&ops)), vec![0; self.batch])
        });
        let count = |new: &Option<NewNode>| new.as_ref().map_or(0, |new| new.sources.len());
        let changed = |&graph: &usize| count(&new[graph]) > known[graph];
        let graphs: Vec<usize> = (0..self.batch).filter(changed).collect();
        let target = match graphs.is_empty() {
            true => target,
            false => {
                let ops: Vec<u32> = graphs.iter().map(|&graph| op(&new[graph])).collect();
                let positions = |&graph: &usize| {
                    let sources = new[graph].iter().flat_map(|new| &new.sources);
                    (graph, sources.map(|node| node + 1).collect())
                };
                let nodes: Vec<(usize, Vec<usize>)> = graphs.iter().map(positions).collect();
                let states = self.states(&ops, &nodes).pop().expect("at least one layer");
                let mut rows: Vec<u32> = (0..self.batch as u32).collect();
                graphs.iter().enumerate().for_each(|(row, &graph)| rows[graph] = (self.batch + row) as u32);
                Tensor::cat(vec![target, self.decoder.heads.target(states)], 0).select(0, self.indices(&rows))
            }
        };
        self.target = Some((target.clone(), new.iter().map(count).collect()));
        target
    }

    fn indices(&self, rows: &[u32]) -> Tensor<1, Int> {
        ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &self.device)
    }
}

impl Stepper for Steps<'_> {
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2> {
        // The start symbol is there from the beginning.
        if drafts.iter().map(Draft::len).max().unwrap_or(0) > self.told[0].len() {
            self.advance(drafts);
        }
        self.target = None;
        self.decoder.heads.op_logits(self.graph_state.clone())
    }

    fn edges(&mut self) -> Edges<'_> {
        Edges::InTurn(self)
    }
}

impl EdgesInTurn for Steps<'_> {
    fn turns(&self) -> Turns {
        Turns::NewestFirst
    }

    fn logits(&mut self, _drafts: &[Draft], new: &[Option<NewNode>], source: usize) -> Tensor<1> {
        let target = self.target(new);
        self.decoder.heads.edge_logits(target, self.sources[source].clone())
    }
}
