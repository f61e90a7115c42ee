//! The walk on the way forward.

use super::loops::{Hearing, Said, hear, open, score};
use super::{Kept, WalkView, share, task_rows};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, PLAIN, Panels};
use crate::kernel::walk_lists::{WalkLevel, WalkLists};

/// The states [R, D] of all rows, and what backward needs.
pub(super) fn walk(lists: &WalkLists, attends: bool, d: usize, inputs: WalkView<&[f32]>) -> (Vec<f32>, Kept) {
    let (n_rows, n_given, n_told) = (lists.n_rows(), lists.n_given(), lists.n_told());
    let n_tellers = n_given + n_told;
    let gated = if attends || inputs.told.is_none() { 0 } else { n_told };
    let mut kept = Kept {
        gates: Buffer::stale(n_rows * 4 * d),
        new: Buffer::stale(n_rows * d),
        messages: Buffer::stale(n_tellers * d),
        projected: Buffer::stale(n_tellers * 3 * d),
        weights: Buffer::stale(if attends { lists.heard().n_items() } else { 0 }),
        states: Buffer::stale(gated * d),
        gated: Buffer::stale(gated * 2 * d),
    };
    let mut y = vec![0.0; n_rows * d];
    // What is given has score 0.
    let mut scores = Buffer::zeros(if attends { n_tellers } else { 0 });
    let (hidden, weight) = rayon::join(
        || Panels::new(inputs.hidden, d),
        || inputs.told.filter(|_| gated > 0).map(|told| Panels::new(told.weight, d)),
    );
    if let Some(given) = inputs.given {
        kept.messages[..given.len()].copy_from_slice(given);
        let rows = task_rows(n_given, 3 * d * d);
        let tasks =
            kept.messages[..given.len()].chunks(rows * d).zip(kept.projected.chunks_mut(rows * 3 * d)).collect();
        share(tasks, |(messages, projected): (&[f32], &mut [f32])| hidden.product(messages, projected, 3 * d, PLAIN));
    }
    for &level in lists.levels() {
        listen(lists, level, d, &inputs, &mut kept, &scores, &mut y);
        let Some(told) = inputs.told.filter(|_| level.n_tellers > 0) else { continue };
        let tellers = level.first_teller..level.first_teller + level.n_tellers;
        let told_rows = tellers.start - n_given..tellers.end - n_given;
        let states = &y[level.first * d..][..level.n_tellers * d];
        let messages = &mut kept.messages[tellers.start * d..tellers.end * d];
        let projected = &mut kept.projected[tellers.start * 3 * d..tellers.end * 3 * d];
        let rows = task_rows(level.n_tellers, 4 * d * d);
        let outputs = messages.chunks_mut(rows * d).zip(projected.chunks_mut(rows * 3 * d));
        match &weight {
            None => {
                let scores = &mut scores[tellers.clone()];
                scores.copy_from_slice(&told.addend[told_rows]);
                let tasks = outputs.zip(states.chunks(rows * d)).zip(scores.chunks_mut(rows)).collect();
                share(tasks, |(((messages, projected), states), scores)| {
                    messages.copy_from_slice(states);
                    score(states, told.weight, scores);
                    hidden.product(messages, projected, 3 * d, PLAIN);
                });
            }
            Some(weight) => {
                kept.states[told_rows.start * d..told_rows.end * d].copy_from_slice(states);
                let gated = &mut kept.gated[told_rows.start * 2 * d..told_rows.end * 2 * d];
                gated.copy_from_slice(&told.addend[told_rows.start * 2 * d..told_rows.end * 2 * d]);
                let tasks = outputs.zip(states.chunks(rows * d)).zip(gated.chunks_mut(rows * 2 * d)).collect();
                share(tasks, |(((messages, projected), states), gated)| {
                    weight.product(states, gated, 2 * d, Finish { add: true, ..PLAIN });
                    open(gated, messages, d);
                    hidden.product(messages, projected, 3 * d, PLAIN);
                });
            }
        }
    }
    (y, kept)
}

/// The states of a level, from those before it.
fn listen(
    lists: &WalkLists,
    level: WalkLevel,
    d: usize,
    inputs: &WalkView<&[f32]>,
    kept: &mut Kept,
    scores: &[f32],
    y: &mut [f32],
) {
    let heard = lists.heard();
    let said = Said { messages: &kept.messages, projected: &kept.projected, scores };
    let rows = level.first..level.first + level.n_rows;
    let task = task_rows(level.n_rows, 64 * d);
    let mut weights = match scores.is_empty() {
        true => &mut [][..],
        false => &mut kept.weights[heard.range(rows.start).start..heard.range(rows.end - 1).end],
    };
    let parts = kept.gates[rows.start * 4 * d..rows.end * 4 * d]
        .chunks_mut(task * 4 * d)
        .zip(kept.new[rows.start * d..rows.end * d].chunks_mut(task * d))
        .zip(y[rows.start * d..rows.end * d].chunks_mut(task * d))
        .zip(inputs.a[rows.start * 3 * d..rows.end * 3 * d].chunks(task * 3 * d));
    let tasks = parts.enumerate().map(|(index, (((gates, new), states), a))| {
        let first = rows.start + index * task;
        let n_edges = match weights.is_empty() {
            true => 0,
            false => heard.range(first + states.len() / d - 1).end - heard.range(first).start,
        };
        let (own, others) = std::mem::take(&mut weights).split_at_mut(n_edges);
        weights = others;
        Hearing { first, heard, a, bias: inputs.bias, gates, new, states, weights: own }
    });
    share(tasks.collect(), |rows| hear(rows, said, d));
}
