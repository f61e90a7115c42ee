//! [`walk`]: a gated recurrent unit that walks along the edges of graphs.

use std::sync::Arc;

use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    walk::{ToldView, WalkOp, WalkView},
};
use super::plain;
use super::walk_lists::WalkLists;

/// The parameters of a [`walk`] of width D.
#[derive(Debug, Clone)]
pub struct WalkParams {
    /// W_h, [D, 3D], gates r, z, n side by side.
    pub hidden: Tensor<2>,
    /// b_h, `[3D]`.
    pub hidden_bias: Tensor<1>,
    /// What a node tells.
    pub telling: Telling,
}

/// What nodes tell those that hear them, and how these put it together.
#[derive(Debug, Clone)]
pub enum Telling {
    /// Messages `sigmoid(h G + t_g) * (h M + t_m)`, summed: D-VAE.
    Gated {
        /// G and M side by side, [D, 2D].
        weight: Tensor<2>,
        /// t_g and t_m of each node that is heard, [K - G, 2D].
        addend: Tensor<2>,
    },
    /// The states themselves, weighted by a softmax of the scores `h w + t` over all that a node hears: DAGNN. What is given has
    /// score 0.
    Attended {
        /// w, [D, 1].
        weight: Tensor<2>,
        /// t of each node that is heard, [K - G, 1].
        addend: Tensor<2>,
    },
    /// Nothing: all that is heard is given, and summed.
    Given,
}

/// The states of all nodes of a walk, each a GRU step from the sum of what it hears:
///
/// ```text
/// s_v = sum over tellers u of w_uv m_u        c_v = s_v W_h + b_h
/// r = sigmoid(a_r + c_r)   z = sigmoid(a_z + c_z)   n = tanh(a_n + r c_n)   h_v = (1 - z) n + z s_v
/// ```
///
/// m_u and w_uv are as [`Telling`] says. The product by W_h is done once per teller and not once per node: `s W_h` is the sum of the
/// `m_u W_h`. So nodes that nobody hears cost no product at all, such as the states of a decoder between two edges.
///
/// # Shapes
///
/// - a: [R, 3D], what the inputs contribute to the gates, by the rows of `lists`
/// - given: [G, D], messages; `None` if there are none
/// - output: [R, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn walk(a: Tensor<2>, given: Option<Tensor<2>>, lists: &Arc<WalkLists>, params: WalkParams) -> Tensor<2> {
    let ([rows, width], [d, _]) = (a.dims(), params.hidden.dims());
    let sizes = (rows, width, params.hidden.dims(), params.hidden_bias.dims());
    assert!(sizes == (lists.n_rows(), 3 * d, [d, 3 * d], [3 * d]), "{sizes:?} for {} rows", lists.n_rows());
    let n_given = given.as_ref().map_or(0, |given| given.dims()[0]);
    assert_eq!(n_given, lists.n_given(), "given messages");
    let (told, n_told) = (params.telling.sizes(), lists.n_told());
    let expected = match &params.telling {
        Telling::Gated { .. } => ([d, 2 * d], [n_told, 2 * d]),
        Telling::Attended { .. } => ([d, 1], [n_told, 1]),
        Telling::Given => ([0, 0], [n_told, 0]),
    };
    assert_eq!(told, expected, "weight and addend of what is told");
    #[cfg(feature = "flex")]
    if autodiff::serves(&a) {
        let op = WalkOp { lists: lists.clone(), attends: matches!(params.telling, Telling::Attended { .. }) };
        let told = match params.telling {
            Telling::Gated { weight, addend } | Telling::Attended { weight, addend } => Some((weight, addend)),
            Telling::Given => None,
        };
        // Nobody is heard in graphs without edges: the parameters of telling still get a gradient, of zeros.
        let told = told.map(|(weight, addend)| ToldView { weight: Input::new(weight), addend: Input::new(addend) });
        let inputs = WalkView {
            a: Input::new(a),
            hidden: Input::new(params.hidden),
            bias: Input::new(params.hidden_bias),
            given: given.map(Input::new),
            told,
        };
        return match (inputs.given.is_some(), inputs.told.is_some()) {
            (false, false) => autodiff::run::<3, _>(op, inputs),
            (true, false) => autodiff::run::<4, _>(op, inputs),
            (false, true) => autodiff::run::<5, _>(op, inputs),
            (true, true) => autodiff::run::<6, _>(op, inputs),
        };
    }
    plain::walk(a, given, lists, params)
}

impl Telling {
    /// The shapes of weight and addend.
    fn sizes(&self) -> ([usize; 2], [usize; 2]) {
        match self {
            Telling::Gated { weight, addend } | Telling::Attended { weight, addend } => (weight.dims(), addend.dims()),
            Telling::Given => ([0, 0], [0, 0]),
        }
    }
}
