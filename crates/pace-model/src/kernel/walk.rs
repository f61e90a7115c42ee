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

/// Rows of a table: row i is `table[rows[i]]`.
#[derive(Debug, Clone)]
pub struct Tabled {
    /// [T, W].
    pub table: Tensor<2>,
    /// Which row of the table each has.
    pub rows: Arc<[u32]>,
}

/// What the inputs of a walk contribute to the gates, a.
#[derive(Debug, Clone)]
pub enum WalkInputs {
    /// [R, 3D].
    Rows(Tensor<2>),
    /// R rows of width 3D: inputs that are one-hot.
    Tabled(Tabled),
}

/// What nodes tell those that hear them, and how these put it together.
#[derive(Debug, Clone)]
pub enum Telling {
    /// Messages `sigmoid(h G + t_g) * (h M + t_m)`, summed: D-VAE.
    Gated {
        /// G and M side by side, [D, 2D].
        weight: Tensor<2>,
        /// t_g and t_m side by side.
        addend: Tabled,
    },
    /// The states themselves, weighted by a softmax of the scores `h w + t` over all that a node hears: DAGNN. What is given has
    /// score 0.
    Attended {
        /// w, [D, 1].
        weight: Tensor<2>,
        /// t.
        addend: Tabled,
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
/// - a: [R, 3D], by the rows of `lists`
/// - addends: [K - G, 2D] or [K - G, 1], of the nodes that are heard
/// - given: [G, D], messages; `None` if there are none
/// - output: [R, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn walk(a: WalkInputs, given: Option<Tensor<2>>, lists: &Arc<WalkLists>, params: WalkParams) -> Tensor<2> {
    let [d, _] = params.hidden.dims();
    let (rows, width) = match &a {
        WalkInputs::Rows(rows) => (rows.dims()[0], rows.dims()[1]),
        WalkInputs::Tabled(tabled) => tabled.dims(),
    };
    let sizes = (rows, width, params.hidden.dims(), params.hidden_bias.dims());
    assert!(sizes == (lists.n_rows(), 3 * d, [d, 3 * d], [3 * d]), "{sizes:?} for {} rows", lists.n_rows());
    let n_given = given.as_ref().map_or(0, |given| given.dims()[0]);
    assert_eq!(n_given, lists.n_given(), "given messages");
    let n_told = lists.n_told();
    let expected = match &params.telling {
        Telling::Gated { .. } => ([d, 2 * d], (n_told, 2 * d)),
        Telling::Attended { .. } => ([d, 1], (n_told, 1)),
        Telling::Given => ([0, 0], (n_told, 0)),
    };
    assert_eq!(params.telling.sizes(), expected, "weight and addends of what is told");
    #[cfg(feature = "flex")]
    if autodiff::serves(&params.hidden) {
        let attends = matches!(params.telling, Telling::Attended { .. });
        let (a, rows) = match a {
            WalkInputs::Rows(a) => (a, None),
            WalkInputs::Tabled(Tabled { table, rows }) => (table, Some(rows)),
        };
        let (told, told_rows) = match params.telling {
            Telling::Gated { weight, addend } | Telling::Attended { weight, addend } => {
                let told = ToldView { weight: Input::new(weight), addend: Input::new(addend.table) };
                (Some(told), addend.rows)
            }
            Telling::Given => (None, Arc::default()),
        };
        let op = WalkOp { lists: lists.clone(), rows, told_rows, attends };
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

impl Tabled {
    /// How many rows, and how wide.
    ///
    /// # Panics
    /// If a row is not in the table.
    fn dims(&self) -> (usize, usize) {
        let [n_rows, width] = self.table.dims();
        assert!(self.rows.iter().all(|&row| (row as usize) < n_rows), "a row that is not in the table");
        (self.rows.len(), width)
    }
}

impl Telling {
    /// The shape of the weight, and number and width of the addends.
    fn sizes(&self) -> ([usize; 2], (usize, usize)) {
        match self {
            Telling::Gated { weight, addend } | Telling::Attended { weight, addend } => (weight.dims(), addend.dims()),
            Telling::Given => ([0, 0], (0, 0)),
        }
    }
}
