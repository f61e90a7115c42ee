//! Decoding: latent vectors to graphs, all graphs of a batch one node at a time.

use burn::tensor::Tensor;
use pace_graph::Dag;

use super::PaceDecoder;
use super::choice::Chooser;
use super::constraint::Constraint;
use super::draft::Draft;
use super::options::DecodeOptions;
use super::steps::Steps;
use crate::layers::NodeEmbedding;

/// Decodes each row of z [B, Z] into a graph without its start symbol. See `DagDecoder::decode`.
///
/// Round t computes the vector o_t of every graph, reads the logits of node t + 1 and its in-edges back once, and chooses
/// on the host: tensors see whole batches, and the graph rules see no tensors.
pub(super) fn generate(
    decoder: &PaceDecoder,
    z: Tensor<2>,
    shared: Option<&NodeEmbedding>,
    options: &DecodeOptions,
) -> Vec<Dag> {
    let ([b, _], spec) = (z.dims(), &decoder.layout().spec);
    if b == 0 {
        return Vec::new();
    }
    let constraint = Constraint::new(spec, options.mode);
    let mut choosers: Vec<_> = (0..b as u64).map(|graph| Chooser::new(options.choice, options.first + graph)).collect();
    let mut drafts = vec![start(decoder); b];
    let mut steps = Steps::new(decoder, z, shared);
    // The constraint ends every graph before its room does.
    while drafts.iter().any(|draft| !draft.done) {
        let o = steps.advance(&drafts);
        let logits = steps.logits(o);
        let [_, width] = logits.dims();
        let logits = logits.into_data().convert::<f32>().try_to_vec::<f32>().expect("converted to f32");
        for ((draft, chooser), logits) in drafts.iter_mut().zip(&mut choosers).zip(logits.chunks_exact(width)) {
            if !draft.done {
                extend(draft, chooser, &constraint, logits.split_at(spec.n_ops()));
            }
        }
    }
    drafts.into_iter().map(Draft::into_dag).collect()
}

/// Chooses the next node of one graph.
fn extend(draft: &mut Draft, chooser: &mut Chooser, constraint: &Constraint, (ops, edges): (&[f32], &[f32])) {
    assert!(
        ops.iter().chain(edges).all(|logit| logit.is_finite()),
        "the decoder's logits are not finite: the weights have diverged, or the latent vector is not finite"
    );
    let drawn = chooser.op(ops, |op| constraint.allows(draft, op));
    let step = constraint.step(draft, drawn);
    // Node k stands at position k + 1, after the start symbol.
    let sources: Vec<usize> = chooser.edges(edges, &step.edges).into_iter().map(|node| node + 1).collect();
    draft.push(step.op, &sources);
    draft.done = step.last;
}

/// The vectors o_i of given graphs by the steps of [`generate`]. See [`PaceDecoder::replay`].
pub(super) fn replay(
    decoder: &PaceDecoder,
    z: Tensor<2>,
    dags: &[Dag],
    shared: Option<&NodeEmbedding>,
) -> Vec<Tensor<2>> {
    let mut drafts = vec![start(decoder); dags.len()];
    let mut steps = Steps::new(decoder, z, shared);
    let longest = dags.iter().map(Dag::n_nodes).max().unwrap_or(0);
    let mut states = Vec::with_capacity(longest + 1);
    for node in 0..=longest {
        states.push(steps.advance(&drafts));
        for (draft, dag) in drafts.iter_mut().zip(dags).filter(|(_, dag)| node < dag.n_nodes()) {
            let sources: Vec<usize> = dag.predecessors(node).map(|source| source + 1).collect();
            draft.push(dag.op(node), &sources);
        }
    }
    states
}

fn start(decoder: &PaceDecoder) -> Draft {
    let spec = &decoder.layout().spec;
    Draft::new(spec.start.expect("checked when the decoder was made"), spec.max_nodes)
}
