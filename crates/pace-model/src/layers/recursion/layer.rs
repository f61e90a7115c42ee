//! [`RecursionLayer`]: one recursion along the edges.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Int, Tensor};

use super::visits::Visits;
use super::{Hearing, RecursionConfig};
use crate::batch::ints;
use crate::kernel::plain::{give, hear, tell};
use crate::kernel::{Tabled, Telling, WalkInputs, WalkParams, walk};
use crate::layers::Segments;
use crate::layers::gru::{GruCell, GruConfig};
use crate::layers::init::Init;

/// A GRU and what its states tell.
#[derive(Module, Debug)]
pub(crate) struct RecursionLayer {
    cell: GruCell,
    /// Gate and map side by side, [D, 2D] or [T, 2D]; the scores' [D, 1] of attention.
    told: Param<Tensor<2>>,
    /// Of the gate, `[D]`.
    told_bias: Option<Param<Tensor<1>>>,
    /// The rows of `told` for vertex ids, [N, 2D] or [N, 1].
    told_ids: Option<Param<Tensor<2>>>,
    #[module(skip)]
    config: RecursionConfig,
}

/// What some rows tell, see `kernel::plain::tell`: [K, W].
pub(crate) type Told = Tensor<2>;

impl RecursionLayer {
    /// As PyTorch initialises the authors' layers: bounds are those of the whole maps, ids and queries included.
    pub(super) fn new(
        config: &RecursionConfig,
        d_input: usize,
        n_tokens: usize,
        n_positions: usize,
        init: &mut Init<'_>,
    ) -> RecursionLayer {
        let d = config.d_hidden;
        let cell = GruConfig { d_input, d_hidden: d }.init(init);
        let n_ids = if config.vertex_ids { n_positions } else { 0 };
        let (rows, width, fan_in) = match config.hearing {
            Hearing::GatedStates => (d, 2 * d, d + n_ids),
            Hearing::AttendedStates => (d, 1, d + n_ids + d_input),
            Hearing::GatedOps => (n_tokens, 2 * d, n_tokens),
        };
        let bound = 1.0 / (fan_in as f64).sqrt();
        let has_ids = n_ids > 0 && config.hearing != Hearing::GatedOps;
        RecursionLayer {
            cell,
            told: init.uniform([rows, width], bound),
            told_bias: (config.hearing != Hearing::AttendedStates).then(|| init.uniform([d], bound)),
            told_ids: has_ids.then(|| init.uniform([n_ids, width], bound)),
            config: *config,
        }
    }

    /// The states of all rows of a walk. Shapes: below [R, D], roots [B, D] -> [R, D].
    pub(super) fn forward(&self, below: Option<&Tensor<2>>, visits: &Visits, roots: Option<&Tensor<2>>) -> Tensor<2> {
        let a = match below {
            Some(below) => WalkInputs::Rows(self.cell.project(below.clone())),
            None => WalkInputs::Tabled(Tabled { table: self.cell.project_one_hot(), rows: visits.tokens.clone() }),
        };
        let given: Vec<Tensor<2>> = self.ops().into_iter().chain(roots.cloned()).collect();
        let given = (!given.is_empty()).then(|| Tensor::cat(given, 0));
        walk(a, given, &visits.lists, self.params(visits.told_ids.clone()))
    }

    /// What inputs contribute to the gates: operations in the first layer, states of the layer below in others.
    /// Shapes: R tokens or [R, D] -> [R, 3D].
    pub(crate) fn inputs(&self, below: Option<&Tensor<2>>, tokens: &[u32]) -> Tensor<2> {
        match below {
            Some(below) => self.cell.project(below.clone()),
            None => self.cell.project_one_hot().select(0, self.indices(tokens)),
        }
    }

    /// The states of nodes that hear `heard` by `segments`. Shapes: a [R, 3D], heard [E, W] -> [R, D].
    pub(crate) fn hear(&self, a: Tensor<2>, heard: Option<Told>, segments: &Segments) -> Tensor<2> {
        hear(a, heard, segments, &self.params(Arc::default()))
    }

    /// What messages tell, see [`Recursion::forward`](super::Recursion::forward). Shapes: [B, D] -> [B, W].
    pub(crate) fn give(&self, roots: Tensor<2>) -> Told {
        give(roots, &self.params(Arc::default()))
    }

    /// What nodes tell, by their states, operations and positions. Shapes: [B, D] -> [B, W].
    pub(crate) fn tell(&self, state: Tensor<2>, tokens: &[u32], position: u32) -> Told {
        match self.ops() {
            Some(ops) => self.give(ops.select(0, self.indices(tokens))),
            None => tell(state, 0, &self.params(vec![position; tokens.len()].into())),
        }
    }

    /// The messages of operations, [T, D], if it is these that are heard.
    fn ops(&self) -> Option<Tensor<2>> {
        (self.config.hearing == Hearing::GatedOps).then(|| {
            let ([n_tokens, _], d) = (self.told.dims(), self.config.d_hidden);
            let both = self.told.val();
            let gate = both.clone().slice([0..n_tokens, 0..d]) + self.gate_bias().unsqueeze();
            sigmoid(gate) * both.slice([0..n_tokens, d..2 * d])
        })
    }

    /// How many operations there are, if it is these that are heard, else 0.
    pub(super) fn n_ops(&self) -> usize {
        if self.config.hearing == Hearing::GatedOps { self.told.dims()[0] } else { 0 }
    }

    fn gate_bias(&self) -> Tensor<1> {
        self.told_bias.as_ref().expect("made with gates").val()
    }

    /// The parameters of a walk in which the nodes that are heard have these positions.
    fn params(&self, ids: Arc<[u32]>) -> WalkParams {
        let ((hidden, hidden_bias), weight) = (self.cell.hidden(), self.told.val());
        let device = weight.device();
        let by_id = self.told_ids.as_ref().map(Param::val);
        // Without ids, all nodes have the one row of the table.
        let rows = if by_id.is_some() { ids } else { vec![0; ids.len()].into() };
        let telling = match self.config.hearing {
            Hearing::GatedStates => {
                // The map has no bias.
                let no_bias = Tensor::zeros([self.config.d_hidden], &device);
                let bias = Tensor::cat(vec![self.gate_bias(), no_bias], 0).unsqueeze();
                let table = match by_id {
                    Some(table) => table + bias,
                    None => bias,
                };
                Telling::Gated { weight, addend: Tabled { table, rows } }
            }
            Hearing::AttendedStates => {
                let table = by_id.unwrap_or_else(|| Tensor::zeros([1, 1], &device));
                Telling::Attended { weight, addend: Tabled { table, rows } }
            }
            Hearing::GatedOps => Telling::Given,
        };
        WalkParams { hidden, hidden_bias, telling }
    }

    fn indices(&self, rows: &[u32]) -> Tensor<1, Int> {
        ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &self.told.val().device())
    }
}
