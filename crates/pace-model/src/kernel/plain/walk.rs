//! The walk along edges in stock operations, and its two halves for callers that walk by themselves.

use std::ops::Range;

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;

use super::gru_gates;
use crate::batch::ints;
use crate::kernel::walk::{Tabled, Telling, WalkInputs, WalkParams};
use crate::kernel::walk_lists::WalkLists;
use crate::layers::Segments;

/// Twin of [`walk`](crate::kernel::walk).
pub fn walk(a: WalkInputs, given: Option<Tensor<2>>, lists: &WalkLists, params: WalkParams) -> Tensor<2> {
    let a = match a {
        WalkInputs::Rows(a) => a,
        WalkInputs::Tabled(tabled) => looked_up(&tabled, 0..tabled.rows.len()),
    };
    let (device, [_, width]) = (a.device(), a.dims());
    let mut told: Vec<Tensor<2>> = given.map(|given| give(given, &params)).into_iter().collect();
    let mut states = Vec::with_capacity(lists.levels().len());
    for level in lists.levels() {
        let rows = level.first..level.first + level.n_rows;
        let heard: Vec<&[u32]> = rows.clone().map(|row| lists.heard().row(row)).collect();
        let targets = heard.iter().enumerate().flat_map(|(row, heard)| vec![row as u32; heard.len()]).collect();
        let segments = Segments::new(targets, level.n_rows, &device);
        let sources: Vec<i32> = heard.concat().into_iter().map(|teller| teller as i32).collect();
        let n_edges = sources.len();
        let heard = (n_edges > 0).then(|| Tensor::cat(told.clone(), 0).select(0, ints(sources, [n_edges], &device)));
        let state = hear(a.clone().slice([rows, 0..width]), heard, &segments, &params);
        if level.n_tellers > 0 {
            let [_, d] = state.dims();
            let first = level.first_teller - lists.n_given();
            told.push(tell(state.clone().slice([0..level.n_tellers, 0..d]), first, &params));
        }
        states.push(state);
    }
    Tensor::cat(states, 0)
}

/// Some rows of a table. Shapes: [rows, W].
fn looked_up(tabled: &Tabled, rows: Range<usize>) -> Tensor<2> {
    let (count, device) = (rows.len(), tabled.table.device());
    let rows = tabled.rows[rows].iter().map(|&row| row as i32).collect();
    tabled.table.clone().select(0, ints(rows, [count], &device))
}

/// What given messages are to those that hear them, as from [`tell`]. Shapes: [G, D] -> [G, W].
pub fn give(messages: Tensor<2>, params: &WalkParams) -> Tensor<2> {
    let ([n_given, _], device) = (messages.dims(), messages.device());
    let projected = messages.clone().matmul(params.hidden.clone());
    match params.telling {
        Telling::Attended { .. } => Tensor::cat(vec![messages, projected, Tensor::zeros([n_given, 1], &device)], 1),
        Telling::Gated { .. } | Telling::Given => Tensor::cat(vec![messages, projected], 1),
    }
}

/// What nodes tell, of which the addends are those from `first` on: messages, their products by W_h, and scores if there are any.
///
/// Shapes: [L, D] -> [L, W], W = 4D or 4D + 1.
pub fn tell(state: Tensor<2>, first: usize, params: &WalkParams) -> Tensor<2> {
    let [rows, d] = state.dims();
    let of_rows = |addend: &Tabled| looked_up(addend, first..first + rows);
    match &params.telling {
        Telling::Gated { weight, addend } => {
            let both = state.matmul(weight.clone()) + of_rows(addend);
            let (gate, map) = (both.clone().slice([0..rows, 0..d]), both.slice([0..rows, d..2 * d]));
            give(sigmoid(gate) * map, params)
        }
        Telling::Attended { weight, addend } => {
            let scores = state.clone().matmul(weight.clone()) + of_rows(addend);
            let projected = state.clone().matmul(params.hidden.clone());
            Tensor::cat(vec![state, projected, scores], 1)
        }
        Telling::Given => unreachable!("nobody hears a node if everything is given"),
    }
}

/// The states of nodes that hear `heard`, [E, W], by `segments`; `None` if they hear nothing. Shapes: a [L, 3D] -> [L, D].
pub fn hear(a: Tensor<2>, heard: Option<Tensor<2>>, segments: &Segments, params: &WalkParams) -> Tensor<2> {
    let ([rows, width], bias) = (a.dims(), params.hidden_bias.clone().unsqueeze());
    let d = width / 3;
    let Some(heard) = heard else {
        return gru_gates(a, bias.repeat_dim(0, rows), None);
    };
    let [n_edges, _] = heard.dims();
    let messages = heard.clone().slice([0..n_edges, 0..4 * d]);
    let sum = segments.sum(match params.telling {
        Telling::Attended { .. } => messages * segments.softmax(heard.slice([0..n_edges, 4 * d..4 * d + 1])),
        Telling::Gated { .. } | Telling::Given => messages,
    });
    let (sum, projected) = (sum.clone().slice([0..rows, 0..d]), sum.slice([0..rows, d..4 * d]));
    gru_gates(a, projected + bias, Some(sum))
}
