//! Generation: latent vectors to graphs, all graphs of a batch one node at a time. Written once, over any [`Stepper`].

mod chooser;
mod options;
mod policy;
mod stepper;
#[cfg(test)]
mod tests;

use burn::tensor::Tensor;
use pace_graph::{Dag, DagSpec, Draft, EdgeProgress, NextNode, Op};

use chooser::Chooser;
use policy::Policy;

pub use options::{Choice, DecodeOptions, Mode};
pub use stepper::{EdgePicker, Edges, EdgesInTurn, NewNode, Stepper, Turns};

/// Grows `count` graphs of `spec`, without its start symbol. See `DagDecoder::decode`.
///
/// A round asks the stepper about the next node of every graph, reads the logits back, and chooses on the host: tensors see
/// whole batches, and the graph rules see no tensors.
pub(crate) fn generate(stepper: &mut dyn Stepper, spec: &DagSpec, count: usize, options: &DecodeOptions) -> Vec<Dag> {
    if count == 0 {
        return Vec::new();
    }
    let graph =
        |graph: u64| Growing { chooser: Chooser::new(options.choice, options.first + graph), next: None, done: false };
    let mut batch = Batch {
        policy: Policy::new(spec, options.mode),
        drafts: vec![Draft::new(spec); count],
        graphs: (0..count as u64).map(graph).collect(),
        n_ops: spec.n_ops(),
    };
    // The policy ends every graph before its room does.
    while batch.graphs.iter().any(|graph| !graph.done) {
        let ops = stepper.ops(&batch.drafts);
        match stepper.edges() {
            Edges::AtOnce(edges) => batch.at_once(ops, edges),
            Edges::InTurn(edges) => batch.in_turn(ops, edges),
            Edges::Picked(edges) => batch.picked(ops, edges),
        }
    }
    batch.drafts.into_iter().map(Draft::into_dag).collect()
}

/// The graphs being generated.
struct Batch {
    policy: Policy,
    drafts: Vec<Draft>,
    /// One per draft.
    graphs: Vec<Growing>,
    n_ops: usize,
}

/// What is known about one graph besides its draft.
struct Growing {
    chooser: Chooser,
    /// The node of this round while its edges are decided.
    next: Option<Open>,
    /// No node follows.
    done: bool,
}

/// A node whose edges are being decided.
struct Open {
    progress: EdgeProgress,
    last: bool,
    /// Nothing is left to decide.
    closed: bool,
}

impl Growing {
    /// Chooses the operation of the next node.
    fn choose_op(&mut self, draft: &Draft, policy: &Policy, logits: &[f32]) -> (Op, NextNode) {
        let drawn = self.chooser.category(logits, |op| policy.allows(draft, op as Op)) as Op;
        policy.next(draft, drawn)
    }

    /// Adds a node that reads the given real nodes.
    fn push(&mut self, draft: &mut Draft, op: Op, mut sources: Vec<usize>, last: bool) {
        sources.sort_unstable();
        // Node k stands at position k + 1, after the start symbol.
        sources.iter_mut().for_each(|node| *node += 1);
        draft.push(op, &sources);
        self.done = last;
    }
}

impl Batch {
    /// One round with edges decided all at once. Shapes: ops [B, T], edges [B, t].
    fn at_once(&mut self, ops: Tensor<2>, edges: Option<Tensor<2>>) {
        // One tensor, so that there is one read back.
        let logits = Tensor::cat([Some(ops), edges].into_iter().flatten().collect(), 1);
        let [_, width] = logits.dims();
        let logits = to_host(logits);
        for ((draft, graph), logits) in self.drafts.iter_mut().zip(&mut self.graphs).zip(logits.chunks_exact(width)) {
            if graph.done {
                continue;
            }
            check_finite(logits);
            let (ops, edges) = logits.split_at(self.n_ops);
            let (op, next) = graph.choose_op(draft, &self.policy, ops);
            let sources = graph.chooser.edges(edges, &next.edges);
            graph.push(draft, op, sources, next.last);
        }
    }

    /// One round with edges decided one after the other. Shapes: ops [B, T].
    fn in_turn(&mut self, ops: Tensor<2>, edges: &mut dyn EdgesInTurn) {
        let mut new = self.open(ops);
        let t = self.n_nodes();
        let turn = |turn: usize| match edges.turns() {
            Turns::NewestFirst => t - 1 - turn,
            Turns::OldestFirst => turn,
        };
        for source in (0..t).map(turn).collect::<Vec<_>>() {
            let logits = to_host(edges.logits(&self.drafts, &new, source));
            for ((graph, new), logit) in self.graphs.iter_mut().zip(&mut new).zip(logits) {
                if let (Some(open), Some(new)) = (&mut graph.next, new) {
                    check_finite(&[logit]);
                    let progress = &mut open.progress;
                    let take = graph.chooser.yes(logit, progress.may_take(source), progress.may_leave(source));
                    progress.decide(source, take);
                    new.sources.extend(take.then_some(source));
                }
            }
        }
        self.close(new);
    }

    /// One round with edges picked until it is enough. Shapes: ops [B, T].
    fn picked(&mut self, ops: Tensor<2>, edges: &mut dyn EdgePicker) {
        let mut new = self.open(ops);
        let t = self.n_nodes();
        let is_open = |graph: &Growing| graph.next.as_ref().is_some_and(|open| !open.closed);
        while t > 0 && self.graphs.iter().any(is_open) {
            let logits = to_host(edges.logits(&self.drafts, &new));
            for ((graph, new), logits) in self.graphs.iter_mut().zip(&mut new).zip(logits.chunks_exact(t + 1)) {
                let (Some(open), Some(new)) = (graph.next.as_mut().filter(|open| !open.closed), new) else { continue };
                check_finite(logits);
                let progress = &mut open.progress;
                let allowed = |pick: usize| if pick == t { progress.may_stop() } else { progress.may_take(pick) };
                let pick = graph.chooser.category(logits, allowed);
                open.closed = pick == t;
                if !open.closed {
                    progress.decide(pick, true);
                    new.sources.push(pick);
                }
            }
        }
        self.close(new);
    }

    /// Chooses the operation of every new node, and starts to decide about its edges.
    fn open(&mut self, ops: Tensor<2>) -> Vec<Option<NewNode>> {
        let logits = to_host(ops);
        let graphs = self.drafts.iter().zip(&mut self.graphs).zip(logits.chunks_exact(self.n_ops));
        let open = |((draft, graph), logits): ((&Draft, &mut Growing), &[f32])| {
            if graph.done {
                return None;
            }
            check_finite(logits);
            let (op, next) = graph.choose_op(draft, &self.policy, logits);
            graph.next = Some(Open { progress: EdgeProgress::new(next.edges), last: next.last, closed: false });
            Some(NewNode { op, sources: Vec::new() })
        };
        graphs.map(open).collect()
    }

    /// Adds the new nodes.
    fn close(&mut self, new: Vec<Option<NewNode>>) {
        for ((draft, graph), new) in self.drafts.iter_mut().zip(&mut self.graphs).zip(new) {
            if let (Some(open), Some(new)) = (graph.next.take(), new) {
                graph.push(draft, new.op, new.sources, open.last);
            }
        }
    }

    /// Real nodes of the graphs that still grow.
    fn n_nodes(&self) -> usize {
        let growing = self.drafts.iter().zip(&self.graphs).find(|(_, graph)| !graph.done);
        growing.map_or(0, |(draft, _)| draft.n_nodes())
    }
}

fn to_host<const D: usize>(logits: Tensor<D>) -> Vec<f32> {
    logits.into_data().convert::<f32>().try_to_vec::<f32>().expect("converted to f32")
}

/// # Panics
/// If a logit is not finite: nothing sensible could be drawn.
fn check_finite(logits: &[f32]) {
    assert!(
        logits.iter().all(|logit| logit.is_finite()),
        "the decoder's logits are not finite: the weights have diverged, or the latent vector is not finite"
    );
}
