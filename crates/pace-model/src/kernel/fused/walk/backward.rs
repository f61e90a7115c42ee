//! The walk on the way back.

use super::loops::{Heard, Said, attend_grad, bias_grad, collect, open_grad, score_grad, slopes, table_grad};
use super::{Kept, ToldView, WalkOp, WalkView};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::gates::gates_grad;
use crate::kernel::fused::products::{Into, Panels, input_grad};
use crate::kernel::fused::tasks::{share, task_rows, weight_grad};
use crate::kernel::walk_lists::WalkLevel;

/// A walk that goes back.
pub(super) struct Back<'a> {
    pub op: &'a WalkOp,
    pub d: usize,
    pub inputs: WalkView<&'a [f32]>,
    pub kept: &'a Kept,
}

/// The weights, transposed and laid out: W_h and, of those that tell by gates, gate and map.
struct Maps {
    hidden: Panels,
    told: Option<Panels>,
}

/// The gradients on the way.
struct Grads {
    /// Of the states, [R, D].
    states: Buffer,
    /// Of what rows heard, [s | c], [R, 4D].
    heard: Buffer,
    /// Of a by row, [R, 3D].
    a: Buffer,
    /// Of the messages, [K, D], and their projections, [K, 3D].
    messages: Buffer,
    projected: Buffer,
    /// Of what is added to what is told, [K - G, 2D] or [K - G, 1].
    told: Buffer,
    /// Of the scores of edges, `[E]`; empty unless it attends.
    slopes: Buffer,
}

impl Back<'_> {
    /// The gradients of all inputs, given that of the states, [R, D].
    pub fn walk(&self, dy: &[f32]) -> WalkView<Vec<f32>> {
        let (d, lists, attends, kept) = (self.d, &*self.op.lists, self.op.attends, self.kept);
        let (n_rows, n_given) = (lists.n_rows(), lists.n_given());
        let n_tellers = n_given + lists.n_told();
        let mut grads = Grads {
            states: Buffer::copy_of(dy),
            heard: Buffer::stale(n_rows * 4 * d),
            a: Buffer::stale(n_rows * 3 * d),
            messages: Buffer::stale(n_tellers * d),
            projected: Buffer::stale(n_tellers * 3 * d),
            told: Buffer::stale(lists.n_told() * self.told_width()),
            slopes: Buffer::stale(kept.weights.len()),
        };
        let gates = self.inputs.told.filter(|_| !attends);
        let (hidden, told) = rayon::join(
            || Panels::transposed(self.inputs.hidden, d),
            || gates.map(|told| Panels::transposed(told.weight, d)),
        );
        let maps = Maps { hidden, told };
        for &level in lists.levels().iter().rev() {
            if let Some(told) = self.inputs.told.filter(|_| level.n_tellers > 0) {
                self.unsay(level, told, &maps, &mut grads);
            }
            self.unhear(level, &mut grads);
        }
        let given = self.inputs.given.map(|_| self.given(&maps, &mut grads));
        let mut bias = vec![0.0; 3 * d];
        bias_grad(&mut bias, &grads.heard);
        let hidden = weight_grad(&kept.messages, &grads.projected, d, 3 * d);
        let told = self.inputs.told.map(|told| {
            let weight = match attends {
                true => {
                    let mut weight = vec![0.0; told.weight.len()];
                    score_grad(&mut weight, &kept.messages[n_given * d..], &grads.told);
                    weight
                }
                false => weight_grad(&kept.states, &grads.told, d, 2 * d),
            };
            let mut addend = vec![0.0; told.addend.len()];
            table_grad(&mut addend, &grads.told, &self.op.told_rows, self.told_width());
            ToldView { weight, addend }
        });
        let a = match &self.op.rows {
            None => grads.a.to_vec(),
            Some(rows) => {
                let mut table = vec![0.0; self.inputs.a.len()];
                table_grad(&mut table, &grads.a, rows, 3 * d);
                table
            }
        };
        WalkView { a, hidden, bias, given, told }
    }

    /// Width of what is added to what a node tells.
    fn told_width(&self) -> usize {
        match (self.inputs.told.is_some(), self.op.attends) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2 * self.d,
        }
    }

    fn heard<'g>(&'g self, grads: &'g Buffer, slopes: &'g Buffer) -> Heard<'g> {
        Heard { grads, weights: &self.kept.weights, slopes }
    }

    /// From what later levels heard of a level to its states.
    fn unsay(&self, level: WalkLevel, told: ToldView<&[f32]>, maps: &Maps, grads: &mut Grads) {
        let (d, lists, attends) = (self.d, &*self.op.lists, self.op.attends);
        let tellers = level.first_teller..level.first_teller + level.n_tellers;
        let first_told = tellers.start - lists.n_given();
        let heard = self.heard(&grads.heard, &grads.slopes);
        let rows = task_rows(level.n_tellers, 4 * d * d);
        let width = self.told_width();
        let parts = grads.messages[tellers.start * d..tellers.end * d]
            .chunks_mut(rows * d)
            .zip(grads.projected[tellers.start * 3 * d..tellers.end * 3 * d].chunks_mut(rows * 3 * d))
            .zip(grads.told[first_told * width..][..level.n_tellers * width].chunks_mut(rows * width))
            .zip(grads.states[level.first * d..][..level.n_tellers * d].chunks_mut(rows * d));
        let tasks: Vec<_> = parts.enumerate().collect();
        share(tasks, |(index, (((dm, dc), dtold), dstates))| {
            let first = index * rows;
            let dscores = if attends { &mut *dtold } else { &mut [] };
            collect(lists.hearers(), tellers.start + first, heard, dm, dc, dscores, d);
            input_grad(dm, Into::Add, dc, &maps.hidden);
            match &maps.told {
                None => attend_grad(dstates, dm, dtold, told.weight),
                Some(map) => {
                    let gated = &self.kept.gated[(first_told + first) * width..][..dtold.len()];
                    open_grad(gated, dm, dtold, d);
                    input_grad(dstates, Into::Add, dtold, map);
                }
            }
        });
    }

    /// From the states of a level to what it heard.
    fn unhear(&self, level: WalkLevel, grads: &mut Grads) {
        let (d, heard, attends, kept) = (self.d, self.op.lists.heard(), self.op.attends, self.kept);
        let said = Said { messages: &kept.messages, projected: &kept.projected, scores: &[] };
        let rows = level.first..level.first + level.n_rows;
        let task = task_rows(level.n_rows, 64 * d);
        let edges = |first: usize, end: usize| match attends {
            true => heard.range(first).start..heard.range(end - 1).end,
            false => 0..0,
        };
        let mut rest = &mut grads.slopes[edges(rows.start, rows.end)];
        let parts = grads.heard[rows.start * 4 * d..rows.end * 4 * d]
            .chunks_mut(task * 4 * d)
            .zip(grads.a[rows.start * 3 * d..rows.end * 3 * d].chunks_mut(task * 3 * d));
        let tasks = parts.enumerate().map(|(index, (dheard, da))| {
            let first = rows.start + index * task;
            let own = first..first + da.len() / (3 * d);
            let edges = edges(own.start, own.end);
            let (slopes, others) = std::mem::take(&mut rest).split_at_mut(edges.len());
            rest = others;
            (own, dheard, da, edges, slopes)
        });
        let states = &grads.states;
        share(tasks.collect(), |(rows, dheard, da, edges, own)| {
            let (gates, new) =
                (&kept.gates[rows.start * 4 * d..rows.end * 4 * d], &kept.new[rows.start * d..rows.end * d]);
            gates_grad(gates, new, &states[rows.start * d..rows.end * d], dheard, da, d);
            if attends {
                slopes(heard, rows.start, said, dheard, &kept.weights[edges], own, d);
            }
        });
    }

    /// The gradient of what is given, [G, D].
    fn given(&self, maps: &Maps, grads: &mut Grads) -> Vec<f32> {
        let (d, lists) = (self.d, &*self.op.lists);
        let n_given = lists.n_given();
        let heard = self.heard(&grads.heard, &grads.slopes);
        let rows = task_rows(n_given, 3 * d * d);
        let mut given = vec![0.0; n_given * d];
        let parts = given.chunks_mut(rows * d).zip(grads.projected[..n_given * 3 * d].chunks_mut(rows * 3 * d));
        share(parts.enumerate().collect(), |(index, (dm, dc)): (usize, (&mut [f32], &mut [f32]))| {
            // What is given has no score to be trained.
            let mut scores = vec![0.0; dm.len() / d];
            collect(lists.hearers(), index * rows, heard, dm, dc, &mut scores, d);
            input_grad(dm, Into::Add, dc, &maps.hidden);
        });
        given
    }
}
