//! The walk on the way forward.

use super::loops::{Hearing, Said, hear, open, score};
use super::{Kept, ToldView, WalkOp, WalkView};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, PLAIN, Panels};
use crate::kernel::fused::tasks::{share, task_rows};
use crate::kernel::walk_lists::WalkLevel;

/// A walk that goes forward.
pub(super) struct Forward<'a> {
    pub op: &'a WalkOp,
    pub d: usize,
    pub inputs: WalkView<&'a [f32]>,
    /// Whether backward follows.
    pub keep: bool,
}

/// The weights, laid out: W_h and, of those that tell by gates, gate and map.
struct Maps {
    hidden: Panels,
    told: Option<Panels>,
}

impl Forward<'_> {
    /// The states [R, D] of all rows, and what backward needs.
    pub fn walk(&self) -> (Vec<f32>, Kept) {
        let (d, lists, attends) = (self.d, &*self.op.lists, self.op.attends);
        let (n_rows, n_given, n_told) = (lists.n_rows(), lists.n_given(), lists.n_told());
        let n_tellers = n_given + n_told;
        let if_kept = |count: usize| if self.keep { count } else { 0 };
        let gates = self.inputs.told.filter(|_| !attends);
        let n_gated = if_kept(if gates.is_some() { n_told } else { 0 });
        let mut kept = Kept {
            gates: Buffer::stale(if_kept(n_rows * 4 * d)),
            new: Buffer::stale(if_kept(n_rows * d)),
            messages: Buffer::stale(n_tellers * d),
            projected: Buffer::stale(n_tellers * 3 * d),
            weights: Buffer::stale(if attends { lists.heard().n_items() } else { 0 }),
            states: Buffer::stale(n_gated * d),
            gated: Buffer::stale(n_gated * 2 * d),
        };
        let mut y = vec![0.0; n_rows * d];
        // What is given has score 0.
        let mut scores = Buffer::zeros(if attends { n_tellers } else { 0 });
        let (hidden, told) =
            rayon::join(|| Panels::new(self.inputs.hidden, d), || gates.map(|told| Panels::new(told.weight, d)));
        let maps = Maps { hidden, told };
        if let Some(given) = self.inputs.given {
            kept.messages[..given.len()].copy_from_slice(given);
            let rows = task_rows(n_given, 3 * d * d);
            let parts = given.chunks(rows * d).zip(kept.projected.chunks_mut(rows * 3 * d));
            share(parts.collect(), |(messages, projected): (&[f32], &mut [f32])| {
                maps.hidden.product(messages, projected, 3 * d, PLAIN);
            });
        }
        for &level in lists.levels() {
            self.listen(level, &mut kept, &scores, &mut y);
            if let Some(told) = self.inputs.told.filter(|_| level.n_tellers > 0) {
                let states = &y[level.first * d..][..level.n_tellers * d];
                self.say(level, told, &maps, states, &mut kept, &mut scores);
            }
        }
        (y, kept)
    }

    /// The states of a level, from what those before it said.
    fn listen(&self, level: WalkLevel, kept: &mut Kept, scores: &[f32], y: &mut [f32]) {
        let (d, heard) = (self.d, self.op.lists.heard());
        let said = Said { messages: &kept.messages, projected: &kept.projected, scores };
        let rows = level.first..level.first + level.n_rows;
        let task = task_rows(level.n_rows, 64 * d);
        let edges = |first: usize, end: usize| match self.op.attends {
            true => heard.range(first).start..heard.range(end - 1).end,
            false => 0..0,
        };
        let mut weights = &mut kept.weights[edges(rows.start, rows.end)];
        let mut gates = kept.gates.get_mut(rows.start * 4 * d..rows.end * 4 * d).unwrap_or_default();
        let mut new = kept.new.get_mut(rows.start * d..rows.end * d).unwrap_or_default();
        let parts = y[rows.start * d..rows.end * d].chunks_mut(task * d);
        let tasks = parts.enumerate().map(|(index, states)| {
            let (first, count) = (rows.start + index * task, states.len() / d);
            let n_kept = if self.keep { count } else { 0 };
            Hearing {
                first,
                heard,
                a: self.inputs.a,
                a_rows: self.op.rows.as_deref(),
                bias: self.inputs.bias,
                gates: take(&mut gates, n_kept * 4 * d),
                new: take(&mut new, n_kept * d),
                states,
                weights: take(&mut weights, edges(first, first + count).len()),
            }
        });
        share(tasks.collect(), |rows| match self.keep {
            true => hear(rows, said, d),
            false => {
                let (mut gates, mut new) = (Buffer::stale(4 * d), Buffer::stale(d));
                hear(Hearing { gates: &mut gates, new: &mut new, ..rows }, said, d);
            }
        });
    }

    /// What the tellers of a level say, from their states.
    fn say(
        &self,
        level: WalkLevel,
        told: ToldView<&[f32]>,
        maps: &Maps,
        states: &[f32],
        kept: &mut Kept,
        scores: &mut [f32],
    ) {
        let d = self.d;
        let tellers = level.first_teller..level.first_teller + level.n_tellers;
        let n_given = self.op.lists.n_given();
        let told_rows = tellers.start - n_given..tellers.end - n_given;
        let addends = |width: usize| {
            let row = move |&row: &u32| &told.addend[row as usize * width..][..width];
            self.op.told_rows[told_rows.clone()].iter().map(row)
        };
        let rows = task_rows(level.n_tellers, 4 * d * d);
        let outputs = kept.messages[tellers.start * d..tellers.end * d]
            .chunks_mut(rows * d)
            .zip(kept.projected[tellers.start * 3 * d..tellers.end * 3 * d].chunks_mut(rows * 3 * d))
            .zip(states.chunks(rows * d));
        let Some(map) = &maps.told else {
            let scores = &mut scores[tellers];
            scores.iter_mut().zip(addends(1)).for_each(|(score, addend)| *score = addend[0]);
            share(outputs.zip(scores.chunks_mut(rows)).collect(), |(((messages, projected), states), scores)| {
                messages.copy_from_slice(states);
                score(states, told.weight, scores);
                maps.hidden.product(messages, projected, 3 * d, PLAIN);
            });
            return;
        };
        let mut unkept: Buffer;
        let gated = match self.keep {
            true => {
                kept.states[told_rows.start * d..told_rows.end * d].copy_from_slice(states);
                &mut kept.gated[told_rows.start * 2 * d..told_rows.end * 2 * d]
            }
            false => {
                unkept = Buffer::stale(level.n_tellers * 2 * d);
                &mut unkept[..]
            }
        };
        gated.chunks_exact_mut(2 * d).zip(addends(2 * d)).for_each(|(gated, addend)| gated.copy_from_slice(addend));
        share(outputs.zip(gated.chunks_mut(rows * 2 * d)).collect(), |(((messages, projected), states), gated)| {
            map.product(states, gated, 2 * d, Finish { add: true, ..PLAIN });
            open(gated, messages, d);
            maps.hidden.product(messages, projected, 3 * d, PLAIN);
        });
    }
}

/// The first numbers of a slice, which it loses.
fn take<'a>(rest: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    let (first, others) = std::mem::take(rest).split_at_mut(count);
    *rest = others;
    first
}
