//! [`AstLabels`] and [`AstEmbedding`]: the nodes of an abstract syntax tree as vectors.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::init::Init;
use crate::ast::{AstBatch, AstLayout};
use crate::kernel::Dropout;

/// Standard normal rows of width 256 are of length 16. An attribute is seen a few times, and a step of Adam moves a number by about the
/// learning rate, so its row would stay where chance put it. The loss of a bag on 20,000 functions with such rows: 3.20 after four
/// passes at 0.0005, 3.21 after three at 0.004; with rows of length 0.8, 2.88 after four at 0.001.
fn table_std(d: usize) -> f32 {
    1.0 / (d as f32).sqrt()
}

/// What a node is by itself, the node encoder of the OGB baselines (Hu et al., 2020):
///
/// ```text
/// T[type_j] + A[attribute_j] + D[depth_j]
/// ```
#[derive(Module, Debug)]
pub struct AstLabels {
    /// [types, D].
    types: Param<Tensor<2>>,
    /// [attributes, D].
    attributes: Param<Tensor<2>>,
    /// [max_depth + 1, D].
    depths: Param<Tensor<2>>,
}

impl AstLabels {
    /// Labels of width `d`; the rows of tables have about length 1.
    pub fn new(layout: &AstLayout, d: usize, init: &mut Init<'_>) -> AstLabels {
        let std = table_std(d);
        AstLabels {
            types: init.normal_of([layout.n_types, d], std),
            attributes: init.normal_of([layout.n_attributes, d], std),
            depths: init.normal_of([layout.max_depth + 1, d], std),
        }
    }

    /// Shapes: batch of R rows -> [R, D].
    pub fn forward(&self, batch: &AstBatch) -> Tensor<2> {
        self.types.val().select(0, batch.types.clone())
            + self.attributes.val().select(0, batch.attributes.clone())
            + self.depths.val().select(0, batch.depths.clone())
    }
}

/// Label and position of a node:
///
/// ```text
/// x_j = Drop( label_j + ReLU(E1[j] + E2[parent_j]) W )
/// ```
///
/// The last term is the dag2seq encoding (equations 1 and 2) of a tree in DFS order: a one-hot vector times a matrix is a
/// row of it, and the sum over the predecessors has one term, the parent. The root has an extra row for "no parent".
/// The label is that of [`AstLabels`]. The paper's own node encoder for OGBG-CODE2 is "a GNN" and not published;
/// [`TreeMessages`](super::TreeMessages) between [`AstEmbedding::label`] and [`AstEmbedding::join`] is one.
#[derive(Module, Debug)]
pub struct AstEmbedding {
    labels: AstLabels,
    /// E1, [P, D].
    positions: Param<Tensor<2>>,
    /// E2, [P + 1, D].
    parents: Param<Tensor<2>>,
    /// W, [D, D].
    mix: Param<Tensor<2>>,
}

impl AstEmbedding {
    /// An embedding into width `d`; the rows of tables have about length 1.
    pub fn new(layout: &AstLayout, d: usize, init: &mut Init<'_>) -> AstEmbedding {
        AstEmbedding {
            labels: AstLabels::new(layout, d, init),
            positions: init.normal_of([layout.n_positions, d], table_std(d)),
            parents: init.normal_of([layout.n_positions + 1, d], table_std(d)),
            mix: init.uniform([d, d], 1.0 / (d as f64).sqrt()),
        }
    }

    /// Type, attribute and depth: what a node is by itself. Shapes: batch of R rows -> [R, D].
    pub fn label(&self, batch: &AstBatch) -> Tensor<2> {
        self.labels.forward(batch)
    }

    /// Adds the positions. Shapes: batch of R rows, labels [R, D] -> [R, D].
    pub fn join(&self, label: Tensor<2>, batch: &AstBatch, dropout: Dropout) -> Tensor<2> {
        let own = self.positions.val().select(0, batch.positions.clone());
        let parent = self.parents.val().select(0, batch.parents.clone());
        dropout.apply(0, label + relu(own + parent).matmul(self.mix.val()))
    }
}
